//! Common parts of the tests of disciplines: a link, packets, and a run with checks.

use super::{Args, Build, DropReason, Link, Qdisc, Sink, Site};
use crate::packet::{Body, Flags, FlowId, Packet, Segment};
use crate::registry::{Amount, Param, Unit, Value};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;
use rand::SeedableRng;

/// Flow k goes to station k. Station k needs k microseconds per byte.
#[derive(Debug)]
pub struct Stations;

impl Link for Stations {
    fn neighbour(&self, p: &Packet) -> u32 {
        p.flow.0
    }
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
        Span::from_micros(u64::from(neighbour) * u64::from(bytes))
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::from_micros(20)
    }
}

/// The names are `sta.1` to `sta.9`.
pub fn named(name: &str) -> Option<u32> {
    name.strip_prefix("sta.")?.parse().ok().filter(|n| (1..10).contains(n))
}

/// Default arguments, some of them replaced.
pub fn args(params: &[Param], with: &[(&'static str, Value)]) -> Args {
    let mut args = Args::default();
    for p in params {
        let text = p.default.unwrap();
        let number = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%').parse::<f64>();
        let value = match p.unit {
            Unit::Number => Value::Number(number.unwrap()),
            Unit::Fraction => Value::Number(number.unwrap() * if text.ends_with('%') { 0.01 } else { 1.0 }),
            Unit::Integer => Value::Integer(number.unwrap() as i64),
            Unit::Time if text.ends_with("us") => Value::Time(Span::from_micros(number.unwrap() as u64)),
            Unit::Time if text.ends_with("ms") => Value::Time(Span::from_millis(number.unwrap() as u64)),
            Unit::Time => Value::Time(Span::from_secs(number.unwrap() as u64)),
            Unit::Amount if text.ends_with('B') => Value::Amount(Amount::Bytes(number.unwrap() as u64)),
            Unit::Amount => Value::Amount(Amount::Packets(number.unwrap() as u64)),
            Unit::Rate => Value::Rate(number.unwrap() as u64),
            Unit::Bool => Value::Bool(text == "true"),
            Unit::Word(_) => word(text),
            Unit::Weights => weights(&[]),
            Unit::Numbers => Value::Numbers(Vec::new()),
            Unit::Group(_) => Value::Group(Args::default()),
            other => panic!("{}: no default for {other:?}", p.name),
        };
        args.set(p.name, value);
    }
    for (name, value) in with {
        assert!(params.iter().any(|p| p.name == *name), "no parameter {name}");
        args.set(name, value.clone());
    }
    args
}

/// A discipline with default arguments, some of them replaced.
pub fn made(build: Build, params: &[Param], with: &[(&'static str, Value)]) -> Box<dyn Qdisc> {
    build(&args(params, with), &Site { neighbour: &named, ..Site::ALONE }).unwrap()
}

/// The error of a discipline that is refused.
pub fn refused(build: Build, params: &[Param], with: &[(&'static str, Value)]) -> String {
    build(&args(params, with), &Site { neighbour: &named, ..Site::ALONE }).unwrap_err().to_string()
}

/// A word.
pub fn word(w: &str) -> Value {
    Value::Word(w.to_string())
}
/// An amount in bytes.
pub fn bytes(n: u64) -> Value {
    Value::Amount(Amount::Bytes(n))
}
/// Weights.
pub fn weights(w: &[(&str, f64)]) -> Value {
    Value::Weights(w.iter().map(|(n, w)| (n.to_string(), *w)).collect())
}

/// A data packet of `size` bytes of flow `to`.
pub fn packet(to: u32, size: u32) -> Packet {
    let body =
        Body::Tcp(Segment { len: size.saturating_sub(40), flags: Flags::ACK, window: 65_535, ..Segment::default() });
    Packet::new(FlowId(to), size, Time::ZERO, body)
}

/// An acknowledgment of flow `to`'s bytes up to `ack`.
pub fn ack(to: u32, ack: u64) -> Packet {
    let body = Body::Tcp(Segment { ack, flags: Flags::ACK, window: 65_535, ..Segment::default() });
    Packet::new(FlowId(to), 40, Time::ZERO, body).reversed()
}

/// Runs a discipline.
#[derive(Debug)]
pub struct Bench {
    /// The time.
    pub now: Time,
    /// Dropped and created packets.
    pub sink: Sink,
    rng: Rng,
}

impl Default for Bench {
    fn default() -> Bench {
        Bench { now: Time::ZERO, sink: Sink::default(), rng: Rng::seed_from_u64(1) }
    }
}

impl Bench {
    /// Offers a packet.
    pub fn push(&mut self, q: &mut dyn Qdisc, p: Packet) {
        q.enqueue(&mut Cx { now: self.now, rng: &mut self.rng }, &Stations, p, &mut self.sink);
    }
    /// Removes a packet.
    pub fn pop(&mut self, q: &mut dyn Qdisc) -> Option<Packet> {
        q.dequeue(&mut Cx { now: self.now, rng: &mut self.rng }, &Stations, &mut self.sink)
    }
}

/// A sequence of steps: a packet arrives (flow, direction, size), or (`None`) a packet leaves.
pub fn steps() -> impl Strategy<Value = Vec<Option<(u32, bool, u32)>>> {
    prop::collection::vec(prop::option::weighted(0.6, (1u32..6, any::<bool>(), 40u32..1500)), 1..400)
}

/// Runs the steps. Checks that no packet disappears, that the discipline sends as long as packets wait, and that flows
/// keep their order.
pub fn conserves(q: &mut dyn Qdisc, steps: &[Option<(u32, bool, u32)>]) -> Result<(), TestCaseError> {
    let mut bench = Bench::default();
    let mut order: Vec<VecDeque<u64>> = Vec::new();
    order.resize(12, VecDeque::new());
    let (mut offered, mut taken, mut dropped) = (0u64, 0, 0);
    for step in steps {
        bench.now += Span::from_millis(1);
        let got = match *step {
            Some((flow, reverse, size)) => {
                // Each packet carries its number.
                let mut p = packet(flow, size);
                if reverse {
                    p = p.reversed();
                }
                p.sent = Time::from_nanos(offered);
                order[2 * flow as usize + usize::from(reverse)].push_back(offered);
                offered += 1;
                bench.push(q, p);
                None
            }
            None => {
                let waits = q.backlog().packets > 0;
                let got = bench.pop(q);
                prop_assert_eq!(got.is_some(), waits);
                got
            }
        };
        // The packets dropped by this dequeue were in front of the packet that leaves.
        for (p, why) in bench.sink.dropped.drain(..) {
            prop_assert!(why != DropReason::Filtered);
            dropped += 1;
            order[2 * p.flow.0 as usize + usize::from(p.is_reverse())].retain(|&n| n != p.sent.as_nanos());
        }
        if let Some(p) = got {
            taken += 1;
            prop_assert_eq!(
                order[2 * p.flow.0 as usize + usize::from(p.is_reverse())].pop_front(),
                Some(p.sent.as_nanos())
            );
        }
        prop_assert_eq!(offered + bench.sink.made, taken + dropped + q.backlog().packets);
        prop_assert_eq!(q.backlog().packets == 0, q.backlog().bytes == 0);
    }
    Ok(())
}
