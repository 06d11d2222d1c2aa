//! `[[flow]]`: reads one member at a time; its ends are still names.

use super::choice::{choice, default_choice, objection};
use super::error::FileError;
use super::reader::{Fields, ReadContext, Val};
use super::tcp;
use super::tree::{Node, NodeKind};
use crate::reading::roster::CONTROLLERS;
use contend_core::Refusal;
use contend_core::registry::{Amount, Choice, Fact, Value};
use contend_core::{Ecn, Span, Time};
use contend_sim::scenario::{Start, Transport, UdpControl, UdpSpec, UniformSpan};
use contend_sim::tcp::{UDP_HEADERS, udp};
use contend_sim::traffic;
use contend_sim::wifi::access::Category;

/// Default size of an IP packet.
const PACKET: u32 = 1500;

/// One member of a flow, without its ends.
pub(crate) struct Draft<'a> {
    pub from: Val<'a>,
    pub to: Val<'a>,
    /// One-way delay of the flow's own wire.
    pub delay: Option<Val<'a>>,
    pub packet: u32,
    /// Place of the packet size.
    pub packet_at: Option<Val<'a>>,
    /// Place of the traffic, and IP bytes of the largest datagram that the traffic writes; `None` for TCP.
    pub datagram: Option<(Val<'a>, u64)>,
    pub transport: Transport,
    /// True with `tcp.tsq`.
    pub asks_small_queue: bool,
    pub category: Category,
    pub traffic: Choice<traffic::Build>,
    pub start: Start,
    pub stop: Option<Time>,
    pub size: Option<u64>,
    pub overhead: Option<UniformSpan>,
    /// True if an emulation leaves the ends to real hosts.
    pub kernel: bool,
}

impl<'a> Draft<'a> {
    /// Reads the member `f.cx.member` of `f`, in a run of `duration`.
    pub fn read(mut f: Fields<'a>, duration: Span) -> Result<Draft<'a>, FileError> {
        let (_, _) = (f.get("name"), f.get("count"));
        f.later(&["off"])?;
        let from = f.need("from", "\"server\" or \"station\"")?;
        let to = f.need("to", "\"station\" or \"server\"")?;
        let delay = f.get("delay");
        let (mut udp, udp_at) = match f.get("udp") {
            Some(v) => (v.table()?, Some(v)),
            None => (f.absent("udp"), None),
        };
        let packet_at = match (f.get("packet"), udp.get("packet")) {
            (Some(_), Some(v)) => {
                return Err(v.error("is given twice, in the flow and in udp", "remove one of the two"));
            }
            (a, b) => a.or(b),
        };
        let packet =
            packet_at.as_ref().map_or(Ok(PACKET), |v| Ok(v.bytes(u64::from(UDP_HEADERS) + 1..=65_535)? as u32))?;

        let (transport, payload) = transport(&mut f, &mut udp, udp_at.as_ref(), packet, packet_at.as_ref())?;
        let tcp_at = f.get("tcp").map(|v| v.pick()).transpose()?;
        let asks_small_queue = tcp_at.is_some_and(|v| v.node.get("tsq").is_some());
        let traffic_at = f.get("traffic");
        let traffic = traffic(&f, &mut udp, udp_at.as_ref(), traffic_at.as_ref())?;
        if udp_at.is_some() {
            udp.finish()?;
        }
        let datagram = traffic_at.filter(|_| udp_at.is_some()).map(|at| {
            // Packets of one size, or a whole file in one datagram.
            let size = ["packet", "size"].iter().find_map(|name| match traffic.args.get(name)? {
                Value::Amount(Amount::Packets(n)) => Some(n.saturating_mul(u64::from(payload))),
                Value::Amount(Amount::Bytes(n)) => Some(*n),
                _ => None,
            });
            (at, size.unwrap_or(0).saturating_add(u64::from(UDP_HEADERS)))
        });

        let kernel = f.read_or("emulate", false, |v| v.word(&[("kernel", true)]))?;
        let category = f.read_or("ac", Category::Be, |v| v.word(&Category::ALL.map(|c| (c.name(), c))))?;
        let overhead = f.read("overhead", |v| overhead(&v))?.filter(|o| !o.high.is_zero());
        let start_at = f.get("start");
        let start = start_at.as_ref().map_or(Ok(Start::At(Time::ZERO)), |v| start(v, duration))?;
        let latest = match start {
            Start::At(t) | Start::Uniform(_, t) => t,
        };
        let stop = f.read("stop", |v| match v.time()? {
            t if t <= latest => Err(v.error("is not after the flow's start", "write a later time")),
            t => Ok(t),
        })?;
        let size = f.read("size", |v| size(&v, payload))?;
        f.finish()?;
        Ok(Draft {
            from,
            to,
            delay,
            packet,
            packet_at,
            datagram,
            transport,
            asks_small_queue,
            category,
            traffic,
            start,
            stop,
            size,
            overhead,
            kernel,
        })
    }
}

/// Reads the transport of the flow. Returns it with the payload of a packet in bytes.
fn transport<'a>(
    f: &mut Fields<'a>,
    udp: &mut Fields<'a>,
    udp_at: Option<&Val<'a>>,
    packet: u32,
    packet_at: Option<&Val<'a>>,
) -> Result<(Transport, u32), FileError> {
    match (f.get("tcp"), udp_at) {
        (Some(_), Some(udp)) => {
            Err(udp.error("cannot be used with tcp: a flow uses one of the two", "remove one of the two"))
        }
        (None, None) => Err(["tcp", "udp"].iter().find_map(|key| f.misspelt(key)).unwrap_or_else(|| {
            f.error("has no transport protocol", "write tcp = \"newreno\" or udp = { rate = \"1Mbps\" }")
        })),
        (Some(v), None) => {
            let (spec, payload) = tcp::read(&v, f, packet)?;
            Ok((Transport::Tcp(Box::new(spec)), payload))
        }
        (None, Some(_)) => {
            if let Some(v) = ["window", "encrypted", "estimate"].into_iter().find_map(|key| f.get(key)) {
                return Err(v.error("has no meaning for udp", "remove it, or write tcp instead of udp"));
            }
            let control = udp_control(udp, f)?;
            let headers = udp::headers(packet, control.as_ref()).map_err(|Refusal { what, remedy }| match packet_at
                .or(udp_at)
            {
                Some(v) => v.error(format!("is invalid: {what}"), remedy),
                None => f.error(format!("cannot be sent: {what}"), remedy),
            })?;
            let ecn = udp.read_or("ect", Ecn::NotEct, |v| v.word(&tcp::ECT))?;
            Ok((Transport::Udp(UdpSpec { ecn, control: control.map(Box::new) }), packet - headers))
        }
    }
}

/// Reads the traffic source of the flow: `traffic`, or the rate of `udp`.
fn traffic<'a>(
    f: &Fields<'a>,
    udp: &mut Fields<'a>,
    udp_at: Option<&Val<'a>>,
    traffic_at: Option<&Val<'a>>,
) -> Result<Choice<traffic::Build>, FileError> {
    let traffic = match (traffic_at, udp.get("rate")) {
        (Some(_), Some(rate)) => {
            return Err(rate.error("contradicts the flow's traffic", "remove one of the two"));
        }
        (None, Some(rate)) => cbr(&rate)?,
        (Some(v), None) => {
            let traffic = choice(v, traffic::REGISTRY, "traffic source")?;
            objection(v, traffic.entry.name, (traffic.entry.build)(&traffic.args))?;
            traffic
        }
        (None, None) if udp_at.is_some() => {
            return Err(udp.error(
                "has no rate and no traffic",
                "write udp = { rate = \"1Mbps\" }, or a traffic source in the flow",
            ));
        }
        (None, None) => default_choice(ReadContext { member: None, ..f.cx }, traffic::REGISTRY, "bulk", &[])?,
    };
    let why = match &traffic.entry {
        e if e.has(Fact::Greedy) => "a sender of datagrams needs a rate",
        e if e.has(Fact::Closed) => "its next page waits for an acknowledgment",
        _ => return Ok(traffic),
    };
    match udp_at {
        Some(udp_at) => Err(udp_at.error(
            format!("cannot carry \"{}\": {why}", traffic.entry.name),
            "write udp = { rate = \"1Mbps\" }, or another traffic source",
        )),
        None => Ok(traffic),
    }
}

/// Reads the congestion control of a UDP flow, if it has one.
fn udp_control(udp: &mut Fields, flow: &mut Fields) -> Result<Option<UdpControl>, FileError> {
    let Some(v) = udp.get("cc") else {
        let alone = ["ack", "ack_delay"].into_iter().find_map(|key| flow.get(key)).or_else(|| udp.get("average"));
        return match alone {
            Some(v) => Err(v.error(
                "has no meaning for udp without congestion control",
                "remove it, or write udp = { cc = \"rcp\", ... }",
            )),
            None => Ok(None),
        };
    };
    let cc = choice(&v, CONTROLLERS.all(), "congestion controller")?;
    let control = UdpControl {
        cc,
        ack: flow.read_or("ack", 1, |v| v.segments(1..=1000))?,
        ack_delay: flow.read_or("ack_delay", Span::from_millis(100), |v| v.positive_span())?,
        average: udp.read_or("average", 1.0, |v| weight(&v))?,
    };
    objection(&v, control.cc.entry.name, control.header())?;
    Ok(Some(control))
}

/// Reads a weight: a share above zero.
fn weight(v: &Val) -> Result<f64, FileError> {
    match v.share()? {
        0.0 => Err(v.error("is zero: the average would never change", "write a share above 0, or 1 for no average")),
        share => Ok(share),
    }
}

/// The payload bytes of a transfer.
fn size(v: &Val, payload: u32) -> Result<u64, FileError> {
    match v.amount()? {
        Amount::Packets(0) | Amount::Bytes(0) => {
            Err(v.error("is zero", "write at least \"1p\"; count = 0 switches the flow off"))
        }
        Amount::Packets(n) => {
            n.checked_mul(u64::from(payload)).ok_or_else(|| v.error("is too large", "write fewer packets"))
        }
        Amount::Bytes(n) => Ok(n),
    }
}

fn cbr(rate: &Val) -> Result<Choice<traffic::Build>, FileError> {
    let bps = rate.rate()?;
    if bps == 0 {
        return Err(rate.error("is zero", "write a rate like \"1Mbps\"; count = 0 switches the flow off"));
    }
    default_choice(ReadContext { member: None, ..rate.cx }, traffic::REGISTRY, "cbr", &[("rate", Value::Rate(bps))])
}

/// Reads `"5s"`, `"uniform(0s, 2s)"` or `"stagger(0s, 10s)"`.
fn start(v: &Val, duration: Span) -> Result<Start, FileError> {
    const SHAPE: &str = "write \"5s\", \"uniform(0s, 2s)\" (an instant drawn between the two) or \
        \"stagger(0s, 10s)\" (the first member's, and the step to the next)";
    let v = v.pick()?;
    let start = match call(&v, &["uniform", "stagger"], SHAPE)? {
        None => Start::At(v.time()?),
        Some(("uniform", args)) => {
            let UniformSpan { low, high } = uniform(&v, &args, SHAPE)?;
            Start::Uniform(Time::ZERO + low, Time::ZERO + high)
        }
        Some((_, args)) => {
            let [first, step] = two(&v, &args, SHAPE)?;
            let k = v.cx.member.map_or(0, |(k, _)| k as u64 - 1);
            let later = step.as_nanos().checked_mul(k).and_then(|ns| ns.checked_add(first.as_nanos()));
            Start::At(later.map_or(Time::NEVER, Time::from_nanos))
        }
    };
    let latest = match start {
        Start::At(t) | Start::Uniform(_, t) => t,
    };
    if latest >= Time::ZERO + duration {
        let k = v.cx.member.map_or(1, |(k, _)| k);
        return Err(v.error(
            format!("is too late for member {k}: the run ends at {duration}"),
            "write an earlier start, or a longer duration",
        ));
    }
    Ok(start)
}

/// Reads `"100us"` or `"uniform(0s, 1ms)"`.
fn overhead(v: &Val) -> Result<UniformSpan, FileError> {
    const SHAPE: &str = "write \"100us\" or \"uniform(0s, 1ms)\" (a time drawn between the two for each packet)";
    let v = v.pick()?;
    match call(&v, &["uniform"], SHAPE)? {
        None => v.span().map(|span| UniformSpan { low: span, high: span }),
        Some((_, args)) => uniform(&v, &args, SHAPE),
    }
}

/// Reads a text like `uniform(0s, 2s)`: the name before the parenthesis, which is one of `names`, and the durations in
/// it. `None` for any other value.
fn call<'a>(v: &Val<'a>, names: &[&str], shape: &str) -> Result<Option<(&'a str, Vec<Span>)>, FileError> {
    let NodeKind::Text(text) = &v.node.kind else { return Ok(None) };
    let call = text.trim().strip_suffix(')').and_then(|t| t.split_once('('));
    let Some((name, args)) = call.filter(|(name, _)| !name.starts_with('=')) else { return Ok(None) };
    let name = name.trim();
    if !names.contains(&name) {
        return Err(v.error(format!("cannot be \"{name}\""), shape));
    }
    let args = args.split(',').map(|arg| argument(v, arg)).collect::<Result<_, _>>()?;
    Ok(Some((name, args)))
}

/// Reads the arguments of `uniform`.
fn uniform(v: &Val, args: &[Span], shape: &str) -> Result<UniformSpan, FileError> {
    match two(v, args, shape)? {
        [low, high] if low > high => Err(v.error("begins after it ends", "write the earlier time first")),
        [low, high] => Ok(UniformSpan { low, high }),
    }
}

/// Reads the arguments of a call with two arguments.
fn two(v: &Val, args: &[Span], shape: &str) -> Result<[Span; 2], FileError> {
    <[Span; 2]>::try_from(args).map_err(|_| v.error("takes two times", shape))
}

/// Reads one argument of a call: a duration.
fn argument(v: &Val, text: &str) -> Result<Span, FileError> {
    let node = Node { site: v.node.site.clone(), kind: NodeKind::Text(format!("= {}", text.trim())) };
    Val { node: &node, ..v.clone() }.span()
}
