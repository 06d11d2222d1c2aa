//! Reads `tcp = ...` of a flow: the name of a variant, or a table that starts from a variant.

use super::choice::{default_choice, named, named_list, objection, written};
use super::error::FileError;
use super::family::in_linux;
use super::reader::{Fields, ReadContext, Stack, Val};
use super::tree::NodeKind;
use crate::names::suggest;
use crate::reading::expression::{Dimension, Quantity};
use crate::reading::roster::CONTROLLERS;
use contend_core::cc;
use contend_core::estimate;
use contend_core::registry::{Amount, Choice, Value};
use contend_core::{Ecn, Refusal, Span};
use contend_sim::scenario::{CellSpec, EcnEcho, Handshake, Place, RtoSpec, Scenario, SmallQueue, TcpSpec, Transport};
use contend_sim::tcp::accecn::{AccurateEcn, MarkAcks, Wrap};
use contend_sim::tcp::{SegmentFormat, recovery};
use contend_sim::wifi::client::Client;

/// A TCP variant: a controller and a loss recovery under one name.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    cc: &'static str,
    /// Parameters of the controller that belong to the variant.
    set: &'static [(&'static str, &'static str)],
    recovery: &'static str,
    /// Default tick of the timestamps' clock.
    timestamps: Option<Span>,
    /// Default ECN echo.
    echo: EcnEcho,
    /// Default ECN field of data.
    ect: Ecn,
    /// Default initial window in segments.
    initial_window: u32,
    /// Default of `backoff_after`: the timeout doubles from this expiry on.
    backoff_after: u32,
}

impl Variant {
    /// A variant with a controller and a recovery and nothing else.
    const fn pair(name: &'static str, cc: &'static str, recovery: &'static str) -> Variant {
        let (timestamps, echo, ect, initial_window) = (None, EcnEcho::Off, Ecn::Ect, INITIAL_WINDOW);
        Variant { name, cc, set: &[], recovery, timestamps, echo, ect, initial_window, backoff_after: 1 }
    }

    /// Sets the variant's parameters in `cc`, except those that the file gives.
    fn apply(&self, cc: &mut Choice<cc::Build>, given: &dyn Fn(&str) -> bool) {
        if cc.entry.name == self.cc {
            self.set
                .iter()
                .filter(|(name, _)| !given(name))
                .for_each(|(name, word)| cc.args.set(name, Value::Word((*word).into())));
        }
    }

    /// Its retransmission timeout, if the file gives none.
    fn rto(&self, stack: Stack) -> RtoSpec {
        let usual = match stack {
            Stack::Rfc => RtoSpec::RFC_6298,
            // TCP_RTO_MIN, TCP_RTO_MAX, TCP_TIMEOUT_INIT.
            Stack::Linux => RtoSpec { min: Span::from_millis(200), max: Span::from_secs(120), ..RtoSpec::RFC_6298 },
        };
        RtoSpec { backoff_after: self.backoff_after, ..usual }
    }

    /// The variant as `stack` has it: Linux recovers by SACK, RACK and tail loss probes, and its segments carry
    /// timestamps. Variants that are named after another recovery, or need one of their own, keep it.
    fn of(self, stack: Stack) -> Variant {
        const OWN: [&str; 5] = ["tahoe", "newreno", "sack", "vegas", "tcp_av"];
        if stack == Stack::Rfc {
            return self;
        }
        let recovery = if OWN.contains(&self.name) { self.recovery } else { "rack" };
        Variant { recovery, timestamps: self.timestamps.or(Some(TICK)), ..self }
    }

    /// True if this pair is the variant.
    fn is(&self, cc: &Choice<cc::Build>, recovery: &Choice<recovery::Build>) -> bool {
        self.cc == cc.entry.name
            && self.recovery == recovery.entry.name
            && self.set.iter().all(|(name, word)| cc.args.word(name) == *word)
    }
}

/// The variants that are pairs. The name of any other controller means this controller with NewReno's recovery.
const VARIANTS: &[Variant] = &[
    Variant::pair("tahoe", "reno", "tahoe"),
    Variant::pair("reno", "reno", "reno"),
    Variant::pair("newreno", "reno", "newreno"),
    Variant::pair("sack", "reno", "sack"),
    Variant { timestamps: Some(TICK), ..Variant::pair("cubic", "cubic", "sack") },
    Variant { set: &[("filter", "westwood")], ..Variant::pair("westwood", "westwood", "reno") },
    Variant { set: &[("filter", "nr")], ..Variant::pair("westwood-nr", "westwood", "newreno") },
    Variant { set: &[("filter", "plus")], ..Variant::pair("westwood+", "westwood", "newreno") },
    Variant { set: &[("estimator", "kappa")], ..Variant::pair("aiad-kappa", "aiad", "reno") },
    Variant { set: &[("estimator", "phi")], timestamps: Some(FINE), ..Variant::pair("aiad-phi", "aiad", "reno") },
    // Xu 2005: §8.7 and appendix B, chapter 5, chapter 7.
    Variant { set: &[("estimator", "ts_are"), ("timeout", "differentiated")], timestamps: Some(FINE), ..JERSEY },
    Variant { name: "jersey-orig", set: &[("estimator", "are"), ("timeout", "standard")], recovery: "reno", ..JERSEY },
    Variant {
        name: "jersey-enh",
        set: &[("estimator", "ts_are"), ("timeout", "standard")],
        timestamps: Some(FINE),
        ..JERSEY
    },
    Variant::pair("vegas", "vegas", "vegas"),
    // Starzetz 2006 §10.2.
    Variant { initial_window: 2, ..Variant::pair("tcp_d", "tcp_d", "reno") },
    // Arai et al. 2008.
    Variant { backoff_after: 3, ..Variant::pair("tcp_av", "tcp_av", "tcp_av") },
    Variant { timestamps: Some(TICK), echo: EcnEcho::PerPacket, ..Variant::pair("dctcp", "dctcp", "sack") },
    Variant {
        timestamps: Some(TICK),
        echo: EcnEcho::Accurate(AccurateEcn::USUAL),
        ect: Ecn::Ect1,
        ..Variant::pair("prague", "prague", "rack")
    },
    Variant { timestamps: Some(TICK), ..Variant::pair("bbr", "bbr", "rack") },
    Variant { timestamps: Some(TICK), ..Variant::pair("bbr3", "bbr3", "rack") },
    Variant::pair("xcp", "xcp", "sack"),
    Variant::pair("xcp_winf", "xcp_winf", "sack"),
    Variant::pair("rcp", "rcp", "sack"),
    Variant::pair("rcp_winf", "rcp_winf", "sack"),
    Variant::pair("wcp", "wcp", "sack"),
    // Barreto 2012 §6.3.1, §6.3.2.
    Variant {
        set: &[("bandwidth", "air"), ("path_factor", "off")],
        ..Variant::pair("tcp-ap-winf", "tcp_ap", "newreno")
    },
    Variant {
        set: &[("bandwidth", "air"), ("path_factor", "hops")],
        ..Variant::pair("we-tcp-ap", "tcp_ap", "newreno")
    },
];

/// The words of `ect`, of TCP and of datagrams.
pub(super) const ECT: [(&str, Ecn); 2] = [("ect0", Ecn::Ect), ("ect1", Ecn::Ect1)];

/// The common part of the versions of TCP-Jersey.
const JERSEY: Variant = Variant { echo: EcnEcho::Latch, ..Variant::pair("jersey", "jersey", "newreno") };

/// RFC 6928 §2: segments.
const INITIAL_WINDOW: u32 = 10;
/// Default tick of the timestamps' clock.
const TICK: Span = Span::from_millis(1);
/// Default tick for algorithms that measure rates by timestamps.
const FINE: Span = Span::from_micros(1);

/// Reads the TCP connection of a flow. `packet` is the size of a full IP packet. `val` is the flow's `tcp`; some keys
/// of `flow` belong to it, too. Returns the connection and the payload of a full packet.
pub(crate) fn read(val: &Val, flow: &mut Fields, packet: u32) -> Result<(TcpSpec, u32), FileError> {
    let val = &val.pick()?;
    let stack = val.cx.stack;
    let (variant, mut f) = match &val.node.kind {
        NodeKind::Text(name) => (variant(val, name)?, Fields::empty(val)),
        _ => {
            let mut f = val.described("cubic")?;
            (base(val, &mut f)?, f)
        }
    };
    let cx = ReadContext { member: None, ..val.cx };
    let variant = variant.of(stack);

    let at = f.get("cc").map(|v| v.pick()).transpose()?;
    let mut cc = match &at {
        Some(v) => named(v, CONTROLLERS.all(), "congestion controller", Some(variant.cc), &[])?.0,
        None => default_choice(cx, CONTROLLERS.all(), variant.cc, &[])?,
    };
    let given = |name: &str| at.as_ref().is_some_and(|v| v.node.get(name).is_some());
    variant.apply(&mut cc, &given);
    apply_stack(val, &mut cc, &given)?;
    if let Some(v) = &at {
        objection(v, cc.entry.name, (cc.entry.build)(&cc.args))?;
    }
    let at = f.get("recovery").map(|v| v.pick()).transpose()?;
    let mut recovery = match &at {
        Some(v) => named(v, recovery::REGISTRY, "loss recovery", Some(variant.recovery), &[])?.0,
        None => default_choice(cx, recovery::REGISTRY, variant.recovery, &[])?,
    };
    apply_stack(val, &mut recovery, &|name| at.as_ref().is_some_and(|v| v.node.get(name).is_some()))?;
    if let Some(v) = &at {
        objection(v, recovery.entry.name, (recovery.entry.build)(&recovery.args))?;
    }
    let reads_sack = (recovery.entry.build)(&recovery.args).is_ok_and(|r| r.options().sack);
    let sack = f.read_or("sack", reads_sack, |v| match v.flag()? {
        false if reads_sack => Err(v.error(
            format!("is false, but the recovery \"{}\" needs it", recovery.entry.name),
            "write recovery = \"newreno\", or remove sack",
        )),
        on => Ok(on),
    })?;
    let timestamps = f.read_or("timestamps", variant.timestamps, |v| match v.pick()?.node.kind {
        NodeKind::Bool(on) => Ok(on.then_some(variant.timestamps.unwrap_or(TICK))),
        _ => v.positive_span().map(Some),
    })?;
    let window_scaling = f.read_or("window_scaling", true, |v| v.flag())?;
    let name = name(variant, &cc, &recovery);
    let (large, ack, ack_delay, quick_acks) = match stack {
        Stack::Rfc => (Amount::Packets(1000), 1, Span::from_millis(100), 0),
        // Half of tcp_rmem's 6 MiB is window, half is for what the kernel needs beside the payload. TCP_DELACK_MIN,
        // TCP_MAX_QUICKACKS.
        Stack::Linux => (Amount::Bytes(3 << 20), 2, Span::from_millis(40), 16),
    };
    let spec = TcpSpec {
        name,
        cc,
        recovery,
        window: flow.read_or("window", if window_scaling { large } else { Amount::Bytes(65_535) }, |v| window(&v))?,
        ack: flow.read_or("ack", ack, |v| v.segments(1..=1000))?,
        ack_delay: flow.read_or("ack_delay", ack_delay, |v| v.positive_span())?,
        quick_acks: flow.read_or("quick_acks", quick_acks, |v| v.segments(0..=1000))?,
        gro: flow.read_or("gro", stack == Stack::Linux, |v| v.flag())?,
        autotuning: flow.read_or("autotuning", stack == Stack::Linux, |v| v.flag())?,
        handshake: f.read_or("handshake", Handshake::Tcp, |v| handshake(&v))?,
        initial_window: f.read_or("initial_window", variant.initial_window, |v| v.segments(1..=100_000))?,
        initial_ssthresh: f.read("initial_ssthresh", |v| v.segments(1..=1_000_000_000))?,
        sack,
        timestamps,
        encrypted: flow.read("encrypted", |v| encrypted(&v))?.flatten(),
        window_scaling,
        ecn: echo(&mut f, variant.echo)?,
        ect: f.read_or("ect", variant.ect, |v| v.word(&ECT))?,
        ect_all: f.read_or("ect_all", variant.ect == Ecn::Ect1, |v| v.flag())?,
        limited_transmit: f.read_or("limited_transmit", true, |v| v.flag())?,
        pacing: f.read_or("pacing", false, |v| v.flag())?,
        tsq: f.read_or("tsq", (stack == Stack::Linux).then_some(SMALL_QUEUE), |v| small_queue(&v))?,
        rto: f.get("rto").map_or(Ok(variant.rto(stack)), |v| rto(&v, variant.rto(stack)))?,
        estimates: flow.get("estimate").map_or(Ok(vec![]), |v| estimates(&v, timestamps.is_some()))?,
    };
    f.finish()?;
    let explicit = (spec.cc.entry.build)(&spec.cc.args).is_ok_and(|cc| cc.needs().explicit.is_some());
    if explicit && spec.ecn.accurate().is_some_and(|how| how.option) {
        let message =
            format!("has echo = \"accurate\" with its option, but {} has a header of its own", spec.cc.entry.name);
        return Err(val.error(message, "write accecn = { option = false }"));
    }
    // RFC 7323 §2: without scaling the window must fit its field; with scaling it is at most 2^30.
    let most = if window_scaling { 1 << 30 } else { 65_535 };
    let wire = SegmentFormat::new(packet, &spec).map_err(|Refusal { what, remedy }| {
        flow.get("packet").as_ref().unwrap_or(val).error(format!("is invalid: {what}"), remedy)
    })?;
    let bytes = match spec.window {
        Amount::Packets(n) => n.saturating_mul(u64::from(wire.mss)),
        Amount::Bytes(n) => n,
    };
    match flow.get("window") {
        Some(v) if bytes > most && window_scaling => {
            Err(v.error(format!("is too large: {bytes}B"), "a TCP window is at most 1073741824B"))
        }
        Some(v) if bytes > most => Err(v.error(
            format!("is too large without window scaling: {bytes}B"),
            "write at most 65535B, or window_scaling = true in tcp",
        )),
        _ => Ok((spec, wire.mss)),
    }
}

/// Reads `echo`, and `accecn` beside it.
fn echo(f: &mut Fields, usual: EcnEcho) -> Result<EcnEcho, FileError> {
    let accurate = EcnEcho::Accurate(usual.accurate().unwrap_or(AccurateEcn::USUAL));
    let echo = f.read_or("echo", usual, |v| {
        v.word(&[
            ("off", EcnEcho::Off),
            ("latch", EcnEcho::Latch),
            ("per_packet", EcnEcho::PerPacket),
            ("accurate", accurate),
        ])
    })?;
    match (f.get("accecn"), echo) {
        (Some(v), EcnEcho::Accurate(usual)) => {
            let mut f = v.table()?;
            let how = AccurateEcn {
                option: f.read_or("option", usual.option, |v| v.flag())?,
                acks: f
                    .read_or("acks", usual.acks, |v| v.word(&[("rfc", MarkAcks::Rfc), ("linux", MarkAcks::Linux)]))?,
                wrap: f.read_or("wrap", usual.wrap, |v| v.word(&[("safe", Wrap::Safe), ("thinned", Wrap::Thinned)]))?,
            };
            f.finish()?;
            Ok(EcnEcho::Accurate(how))
        }
        (Some(v), _) => Err(v.error("has no meaning: marks are not counted", "write echo = \"accurate\"")),
        (None, echo) => Ok(echo),
    }
}

/// Sets the parameters in which the file's stack differs, except those that the file gives.
fn apply_stack<B>(val: &Val, choice: &mut Choice<B>, given: &dyn Fn(&str) -> bool) -> Result<(), FileError> {
    if val.cx.stack == Stack::Rfc {
        return Ok(());
    }
    for p in choice.entry.params.iter().filter(|p| !given(p.name)) {
        if let Some(text) = in_linux(choice.entry.name, p.name) {
            choice.args.set(p.name, written(val, p, text)?);
        }
    }
    Ok(())
}

/// TCP Small Queues as mac80211 sets them (`ieee80211_hw::tx_sk_pacing_shift`), with tcp_limit_output_bytes.
const SMALL_QUEUE: SmallQueue = SmallQueue { shift: 7, most: 1 << 20 };

/// `"off"`, or the limits of TCP Small Queues.
fn small_queue(v: &Val) -> Result<Option<SmallQueue>, FileError> {
    if matches!(&v.pick()?.node.kind, NodeKind::Text(t) if t == "off") {
        return Ok(None);
    }
    let mut f = v.table()?;
    let queue = SmallQueue {
        shift: f.read_or("shift", SMALL_QUEUE.shift, |v| Ok(v.integer(0..=20)? as u32))?,
        most: f.read_or("most", SMALL_QUEUE.most, |v| v.bytes(1..=1 << 30))?,
    };
    f.finish()?;
    Ok(Some(queue))
}

/// Checks that senders with a small queue are told when packets leave their station. Where they are not, a small queue
/// that the file does not ask for is left out. `from` has the place of each flow's `from`; `asked` is true for flows
/// with `tcp.tsq`.
pub(crate) fn small_queues(s: &mut Scenario, from: &[Val], asked: &[bool]) -> Result<(), FileError> {
    let cell = s.cell.as_ref();
    for ((flow, at), asked) in s.flows.iter_mut().zip(from).zip(asked) {
        let message = match (&flow.ends.transport, flow.from) {
            (Transport::Tcp(tcp), _) if tcp.tsq.is_none() => continue,
            (Transport::Udp(_), _) => continue,
            _ if cell.is_some_and(CellSpec::has_agents) => {
                "has tcp.tsq, but routing agents hold packets of which the sender is not told"
            }
            (_, Place::Station(i)) => match cell.and_then(|c| c.stations.get(i)?.client.as_ref()) {
                Some(Client::Converter(_)) => "has tcp.tsq, but its host is behind an Ethernet converter",
                _ => continue,
            },
            _ => "has tcp.tsq, which limits what a sender has in the queue of its own station, but is not on the air",
        };
        match &mut flow.ends.transport {
            Transport::Tcp(tcp) if !asked => tcp.tsq = None,
            _ => return Err(at.error(message, "write tsq = \"off\"")),
        }
    }
    Ok(())
}

/// `true`, `false` or `"segment"`.
fn handshake(v: &Val) -> Result<Handshake, FileError> {
    match v.pick()?.node.kind {
        NodeKind::Text(_) => v.word(&[("segment", Handshake::Segment)]),
        _ => Ok(if v.flag()? { Handshake::Tcp } else { Handshake::None }),
    }
}

/// The variant that a table starts from: its `kind`, or the variant with the name of its controller, or that of the
/// stack: CUBIC in Linux, else NewReno.
fn base(val: &Val, f: &mut Fields) -> Result<Variant, FileError> {
    if let Some(kind) = f.get("kind") {
        return variant(&kind, kind.text()?);
    }
    let cc = f.get("cc").map(|v| v.pick()).transpose()?;
    let name = cc.and_then(|cc| match &cc.node.kind {
        NodeKind::Text(name) => Some(name.as_str()),
        _ => cc
            .node
            .get("kind")
            .and_then(|k| if let NodeKind::Text(name) = &k.kind { Some(name.as_str()) } else { None }),
    });
    // An unknown controller is reported when the controller is read.
    let usual = if val.cx.stack == Stack::Linux { "cubic" } else { "newreno" };
    name.and_then(|name| variant(val, name).ok()).map_or_else(|| variant(val, usual), Ok)
}

fn rto(val: &Val, usual: RtoSpec) -> Result<RtoSpec, FileError> {
    let mut f = val.table()?;
    let rto = RtoSpec {
        min: f.read_or("min", usual.min, |v| v.positive_span())?,
        max: f.read_or("max", usual.max, |v| v.positive_span())?,
        initial: f.read_or("initial", usual.initial, |v| v.positive_span())?,
        granularity: f.read_or("granularity", usual.granularity, |v| v.positive_span())?,
        backoff_after: f.read_or("backoff_after", usual.backoff_after, |v| v.integer(1..=1000).map(|n| n as u32))?,
        one_sample: f.read_or("samples", usual.one_sample, |v| v.word(&[("each", false), ("one", true)]))?,
        keeps_backoff: f
            .read_or("backoff_until", usual.keeps_backoff, |v| v.word(&[("sample", false), ("new", true)]))?,
    };
    if rto.min > rto.max {
        return Err(
            val.error(format!("has min {} above max {}", rto.min, rto.max), "write a smaller min or a larger max")
        );
    }
    if rto.initial > rto.max {
        return Err(val.error(
            format!("has initial {} above max {}", rto.initial, rto.max),
            "write a smaller initial or a larger max",
        ));
    }
    f.finish()?;
    Ok(rto)
}

/// Reads `true`, or the number of bytes that encryption adds to each packet.
fn encrypted(v: &Val) -> Result<Option<u32>, FileError> {
    match v.pick()?.node.kind {
        NodeKind::Bool(on) => Ok(on.then_some(0)),
        _ => Ok(Some(v.bytes(0..=1000)? as u32)),
    }
}

/// Reads the estimators of a flow.
fn estimates(v: &Val, timestamps: bool) -> Result<Vec<(String, Choice<estimate::Build>)>, FileError> {
    const SHAPE: &str = "[\"are\", { kind = \"are\", filter = 2, name = \"are2\" }]";
    named_list(v, estimate::REGISTRY, "estimator", SHAPE, &|item, choice| {
        let built = (choice.entry.build)(&choice.args);
        let reads = built.as_ref().is_ok_and(|e| e.reads_timestamps());
        objection(item, choice.entry.name, built)?;
        if reads && !timestamps {
            return Err(item
                .error("needs timestamps, but this connection has none", "write tcp = { ..., timestamps = \"1us\" }"));
        }
        Ok(())
    })
}

fn window(v: &Val) -> Result<Amount, FileError> {
    let v = v.pick()?;
    if let NodeKind::Text(text) = &v.node.kind
        && Quantity::parse(text).is_ok_and(|q| q.unit == Dimension::Time)
    {
        return Err(v.error(
            format!("is a time, {text}, but a window is in packets or bytes"),
            "write how much may be under way, like \"42p\" or \"64kB\"; a time belongs to `delay`",
        ));
    }
    match v.amount()? {
        Amount::Packets(0) | Amount::Bytes(0) => {
            Err(v.error("is zero: nothing could be sent", "write at least \"1p\""))
        }
        amount => Ok(amount),
    }
}

/// The variants of [`VARIANTS`], then all other controllers.
fn all_variants() -> Vec<Variant> {
    let others = CONTROLLERS.all().iter().filter(|e| VARIANTS.iter().all(|v| v.name != e.name));
    let others = others.map(|e| Variant::pair(e.name, e.name, "newreno"));
    VARIANTS.iter().copied().chain(others).collect()
}

/// A TCP variant as `contend explain` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedVariant {
    /// The name in `tcp = "..."`.
    pub name: &'static str,
    /// Controller, recovery and other settings, in a sentence.
    pub doc: String,
}

/// All variants in words. Variants with the plain name of a controller come last.
pub fn variants() -> Vec<NamedVariant> {
    let told = |v: &Variant| {
        let set: String = v.set.iter().map(|(key, word)| format!(", {key} = \"{word}\"")).collect();
        let mut doc = format!("Controller {}{set}, recovery {}.", v.cc, v.recovery);
        if let Some(tick) = v.timestamps {
            doc += &format!(" Timestamps with a tick of {tick}.");
        }
        if v.echo != EcnEcho::Off {
            doc += " It uses ECN.";
        }
        if v.initial_window != INITIAL_WINDOW {
            doc += &format!(" It starts with {} packets.", v.initial_window);
        }
        NamedVariant { name: v.name, doc }
    };
    all_variants().iter().map(told).collect()
}

fn variant(val: &Val, name: &str) -> Result<Variant, FileError> {
    let all = all_variants();
    let found = all.iter().find(|v| v.name == name).copied();
    found.ok_or_else(|| {
        val.error(format!("names an unknown TCP variant: \"{name}\""), suggest(name, all.iter().map(|v| v.name)))
    })
}

/// The name in results: the variant with this pair, or the two names.
fn name(variant: Variant, cc: &Choice<cc::Build>, recovery: &Choice<recovery::Build>) -> String {
    let mut names = [variant].into_iter().chain(VARIANTS.iter().copied());
    let pair = names.find(|v| v.is(cc, recovery));
    pair.map_or_else(|| format!("{}+{}", cc.entry.name, recovery.entry.name), |v| v.name.into())
}
