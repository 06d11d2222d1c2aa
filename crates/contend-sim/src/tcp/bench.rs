//! A bench for tests. The packets of all flows go through one pipe. The pipe delays, drops and marks packets by a
//! script, and records them.

use super::end::End;
use super::rtt::RtoSpec;
use super::spec::{EcnEcho, EndsSpec, Handshake, Start, TcpSpec, Transport};
use super::{Socket, recovery};
use crate::peer::{NodeId, Peer};
use crate::traffic::{self, AppWrite, Source};
use crate::world::{Input, Node, Out, World};
use contend_core::registry::{Amount, Args, Choice, Entry, Param, Unit, Value, find};
use contend_core::{Address, Body, Cx, Ecn, FlowId, Packet, Rng, Segment, Span, Time, cc};
use rand::RngExt as _;
use std::collections::VecDeque;

pub(super) const FLOW: FlowId = FlowId(0);

/// Payload of a full segment on this bench, in bytes, so that segment n begins at byte 1000 n.
pub(super) const MSS: u32 = 1000;

pub(super) fn ms(n: u64) -> Span {
    Span::from_millis(n)
}
pub(super) fn at(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

/// The script of the pipe. The delay is the same in both directions; transmission takes no time.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub delay: Span,
    /// Data to drop: (segment, copy).
    pub drop: Vec<(u64, u8)>,
    /// SYNs and SYN-ACKs to drop: (reverse, copy).
    pub drop_syn: Vec<(bool, u8)>,
    /// Segments to mark.
    pub mark: Vec<u64>,
    /// Data that arrive late: (segment, copy, delay).
    pub late: Vec<(u64, u8, Span)>,
    /// Each data packet is late by a random time of up to this value, which reorders packets.
    pub jitter: Option<(Span, Rng)>,
    /// Independent loss: data, acknowledgments.
    pub loss: Option<(f64, f64, Rng)>,
    /// Data that arrive at the receiver of the first flow independent of its sender: (ms, first byte, one past the
    /// last).
    pub feed: Vec<(u64, u64, u64)>,
    /// From, until: acknowledgments sent in this interval advertise a closed window.
    pub closed: Option<(Time, Time)>,
    /// Number of nodes that forward each data packet.
    pub hops: u8,
}

#[derive(Debug)]
pub(super) struct Pipe {
    script: Script,
    flying: VecDeque<(Time, Packet)>,
    /// Every packet that entered the pipe, with its time.
    pub log: Vec<(Time, Packet)>,
    pub keep_log: bool,
}

impl Pipe {
    fn drops(&mut self, p: &Packet) -> bool {
        let Some(s) = p.tcp() else { return false };
        if s.flags.has(contend_core::Flags::SYN) {
            return self.script.drop_syn.contains(&(p.is_reverse(), s.copy));
        }
        let random = self
            .script
            .loss
            .as_mut()
            .is_some_and(|(data, ack, rng)| rng.random::<f64>() < if p.is_reverse() { *ack } else { *data });
        random || (s.len > 0 && self.script.drop.contains(&(s.seq / u64::from(MSS), s.copy)))
    }
}

impl Pipe {
    /// The additional delay of `p`.
    fn late(&mut self, p: &Packet) -> Span {
        let Some(s) = p.tcp().filter(|s| s.len > 0) else { return Span::ZERO };
        let named = self
            .script
            .late
            .iter()
            .find(|l| (l.0, l.1) == (s.seq / u64::from(MSS), s.copy))
            .map_or(Span::ZERO, |l| l.2);
        let drawn = self.script.jitter.as_mut().map_or(0, |(most, rng)| rng.random_range(0..=most.as_nanos()));
        named + Span::from_nanos(drawn)
    }
}

impl Node for Pipe {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        match input {
            Input::Packet(_, p) => {
                let mut p = *p;
                if self.keep_log {
                    self.log.push((now, p));
                }
                if !p.is_reverse() {
                    p.hops = self.script.hops;
                }
                if !self.drops(&p) {
                    let marks = |s: &Segment| self.script.mark.contains(&(s.seq / u64::from(MSS)));
                    if p.ecn() != Ecn::NotEct && p.tcp().is_some_and(marks) {
                        p.set_ecn(Ecn::Ce);
                    }
                    let closes = p.is_reverse() && self.script.closed.is_some_and(|(from, to)| now >= from && now < to);
                    if closes && let Some(s) = p.tcp_mut() {
                        s.window = 0;
                    }
                    let due = now + self.script.delay + self.late(&p);
                    let place = self.flying.partition_point(|f| f.0 <= due);
                    self.flying.insert(place, (due, p));
                }
            }
            _ => {
                while let Some(&(due, p)) = self.flying.front()
                    && due <= now
                {
                    self.flying.pop_front();
                    out.send(Peer::Node(NodeId(p.dst.0), 0), &p);
                }
            }
        }
        self.flying.front().map_or(Time::NEVER, |f| f.0)
    }
}

/// A packet with the bytes `from..to` of the first flow.
fn data(from: u64, to: u64) -> Packet {
    let s = Segment { seq: from, len: (to - from) as u32, flags: contend_core::Flags::ACK, ..Segment::default() };
    Packet::new(FLOW, s.len + 40, Time::ZERO, Body::Tcp(s)).between(Address(0), Address(1))
}

/// The bench: sender, pipe, receiver.
pub(super) struct Bench {
    pub world: World,
}

impl Bench {
    pub fn new(spec: &EndsSpec, script: Script) -> Bench {
        Bench::seeded(1, spec, script)
    }

    pub fn seeded(seed: u64, spec: &EndsSpec, script: Script) -> Bench {
        Bench::of(seed, std::slice::from_ref(spec), script)
    }

    /// Several flows at once.
    pub fn of(seed: u64, specs: &[EndsSpec], script: Script) -> Bench {
        let pairs: Vec<_> = specs.iter().map(|s| (s, s)).collect();
        Bench::pairs(seed, &pairs, script)
    }

    /// One flow whose two ends have different specifications.
    pub fn pairs(seed: u64, specs: &[(&EndsSpec, &EndsSpec)], script: Script) -> Bench {
        let mut world = World::new();
        let pipe = NodeId(2 * specs.len() as u32);
        for (i, (from, to)) in specs.iter().enumerate() {
            // Node n has address n.
            let (flow, first, second) = (FlowId(i as u32), Address(2 * i as u32), Address(2 * i as u32 + 1));
            let socket = |local, remote| Socket { local, remote, uplink: Peer::Node(pipe, 0) };
            let sender = End::sender(seed, "f", flow, from, socket(first, second)).unwrap();
            for end in [sender, End::receiver(flow, to, socket(second, first)).unwrap()] {
                let first = end.deadline();
                world.add(Box::new(end), first);
            }
        }
        let flying: VecDeque<_> = script.feed.iter().map(|&(t, from, to)| (at(t), data(from, to))).collect();
        let first = flying.front().map_or(Time::NEVER, |f| f.0);
        world.add(Box::new(Pipe { script, flying, log: Vec::new(), keep_log: true }), first);
        Bench { world }
    }

    pub fn without_log(mut self) -> Bench {
        self.world.node_mut::<Pipe>(NodeId(2)).unwrap().keep_log = false;
        self
    }
    pub fn run(mut self, until_ms: u64) -> Bench {
        self.world.run_until(at(until_ms));
        self
    }
    pub fn sender(&self) -> &End {
        self.world.node(NodeId(0)).unwrap()
    }
    pub fn receiver(&self) -> &End {
        self.world.node(NodeId(1)).unwrap()
    }
    pub fn cwnd(&self) -> u32 {
        self.sender().sender_state().unwrap().snd_cwnd
    }
    pub fn log(&self) -> &[(Time, Packet)] {
        &self.world.node::<Pipe>(NodeId(2)).unwrap().log
    }
    fn tcp(&self, reverse: bool) -> impl Iterator<Item = (u64, &Packet, &Segment)> {
        self.log()
            .iter()
            .filter(move |(_, p)| p.is_reverse() == reverse)
            .filter_map(|(t, p)| p.tcp().map(|s| (t.as_micros() / 1000, p, s)))
    }
    /// Data sent, in order: (ms, segment, copy).
    pub fn data(&self) -> Vec<(u64, u64, u8)> {
        self.tcp(false).filter(|(_, _, s)| s.len > 0).map(|(t, _, s)| (t, s.seq / u64::from(MSS), s.copy)).collect()
    }
    /// Retransmissions, in order: (ms, segment).
    pub fn again(&self) -> Vec<(u64, u64)> {
        self.data().into_iter().filter(|d| d.2 > 0).map(|(t, s, _)| (t, s)).collect()
    }
    /// New segments sent at an instant.
    pub fn new_at(&self, t: u64) -> Vec<u64> {
        self.data().into_iter().filter(|d| d.0 == t && d.2 == 0).map(|d| d.1).collect()
    }
    /// Acknowledgments sent, in order: (ms, segment next expected).
    pub fn acks(&self) -> Vec<(u64, u64)> {
        self.tcp(true).map(|(t, _, s)| (t, s.ack / u64::from(MSS))).collect()
    }
    pub fn packets(&self, reverse: bool) -> Vec<(u64, Packet, Segment)> {
        self.tcp(reverse).map(|(t, p, s)| (t, *p, *s)).collect()
    }
}

/// A flow with 1000 bytes of payload per packet and unlimited data from time 0: no handshake, an ACK per segment, no
/// timestamps, an initial window of one segment, Reno, `recovery` with its defaults, a minimum timeout of 200 ms.
pub(super) fn flow(recovery: &str) -> EndsSpec {
    flow_with("reno", recovery, &[])
}

/// The same with controller `cc` and some parameters of the recovery.
pub(super) fn flow_with(cc: &str, recovery: &str, set: &[(&'static str, Value)]) -> EndsSpec {
    let cc = find(cc::REGISTRY, cc).unwrap();
    let recovery = find(recovery::REGISTRY, recovery).unwrap();
    let mut args = defaults(recovery.params);
    set.iter().for_each(|(k, v)| args.set(k, v.clone()));
    let controller = (cc.build)(&defaults(cc.params)).unwrap();
    let header = controller.needs().explicit.map_or(0, |h| h.bytes);
    let tcp = TcpSpec {
        name: recovery.name.to_owned(),
        cc: Choice { entry: cc, args: defaults(cc.params) },
        sack: (recovery.build)(&args).unwrap().options().sack,
        recovery: Choice { entry: recovery, args },
        window: Amount::Packets(1000),
        ack: 1,
        ack_delay: ms(100),
        quick_acks: 0,
        gro: false,
        autotuning: false,
        handshake: Handshake::None,
        initial_window: 1,
        initial_ssthresh: None,
        timestamps: None,
        encrypted: None,
        window_scaling: true,
        ecn: EcnEcho::Off,
        ect: Ecn::Ect,
        ect_all: false,
        limited_transmit: true,
        pacing: false,
        tsq: None,
        rto: RtoSpec { min: ms(200), max: ms(60_000), initial: ms(1000), granularity: Span::ZERO, ..RtoSpec::RFC_6298 },
        estimates: vec![],
    };
    EndsSpec {
        packet: MSS + 40 + header,
        transport: Transport::Tcp(Box::new(tcp)),
        traffic: Choice { entry: &BULK, args: Args::default() },
        start: Start::At(Time::ZERO),
        stop: None,
        size: None,
        overhead: None,
    }
}

/// `spec` with its TCP part changed.
pub(super) fn with(mut spec: EndsSpec, change: impl FnOnce(&mut TcpSpec)) -> EndsSpec {
    if let Transport::Tcp(t) = &mut spec.transport {
        change(t);
    }
    spec
}

fn defaults(params: &[Param]) -> Args {
    let mut args = Args::default();
    for p in params {
        let text = p.default.unwrap();
        let value = match p.unit {
            Unit::Integer => Value::Integer(text.parse().unwrap()),
            Unit::Number | Unit::Fraction => Value::Number(text.parse().unwrap()),
            Unit::Bool => Value::Bool(text == "true"),
            Unit::Time => Value::Time(match text.strip_suffix("ms") {
                Some(n) => ms(n.parse().unwrap()),
                None => Span::from_secs(text.strip_suffix('s').unwrap().parse().unwrap()),
            }),
            Unit::Word(_) => Value::Word(text.to_owned()),
            Unit::Amount => Value::Amount(Amount::Bytes(text.strip_suffix('B').unwrap().parse().unwrap())),
            Unit::Rate => Value::Rate(rate(text)),
            _ => panic!("{} has a unit no recovery or controller uses", p.name),
        };
        args.set(p.name, value);
    }
    args
}

fn rate(text: &str) -> u64 {
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap());
    let unit = match unit {
        "Gbps" => 1_000_000_000,
        "Mbps" => 1_000_000,
        "kbps" => 1_000,
        _ => 1,
    };
    number.parse::<u64>().unwrap() * unit
}

/// A source with the writes `WRITES`.
#[derive(Debug)]
struct List(VecDeque<AppWrite>);

impl Source for List {
    fn next(&mut self, _: &mut Cx, _: u32) -> Option<AppWrite> {
        self.0.pop_front()
    }
}

fn bulk(_: &Args) -> Result<Box<dyn Source>, contend_core::Refusal> {
    Ok(Box::new(List(VecDeque::from([AppWrite::new(Time::ZERO, u64::MAX)]))))
}
fn dribble(_: &Args) -> Result<Box<dyn Source>, contend_core::Refusal> {
    let write = |t, bytes| AppWrite::new(at(t), bytes);
    Ok(Box::new(List(VecDeque::from([write(0, 300), write(10, 2_500), write(500, 0)]))))
}

fn pause(_: &Args) -> Result<Box<dyn Source>, contend_core::Refusal> {
    Ok(Box::new(List(VecDeque::from([(0, 10_000), (2_000, 1_000)].map(|(t, bytes)| AppWrite::new(at(t), bytes))))))
}

static BULK: Entry<traffic::Build> =
    Entry { name: "bulk", cite: "", summary: "", params: &[], formulas: &[], facts: &[], build: bulk };
/// 300 bytes at 0, 2,500 at 10 ms, a full packet at 500 ms.
pub(super) static DRIBBLE: Entry<traffic::Build> =
    Entry { name: "dribble", cite: "", summary: "", params: &[], formulas: &[], facts: &[], build: dribble };
/// Ten segments at 0, one at 2 s.
pub(super) static PAUSE: Entry<traffic::Build> =
    Entry { name: "pause", cite: "", summary: "", params: &[], formulas: &[], facts: &[], build: pause };
