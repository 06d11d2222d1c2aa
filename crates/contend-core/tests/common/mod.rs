//! Disciplines made from texts, and a transmitter and packets for them.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contend_core::qdisc::{Build, Link, Qdisc, Site};
use contend_core::registry::{Amount, Args, Entry, Param, Unit, Value};
use contend_core::{Body, Ecn, Flags, FlowId, Packet, Segment, Span, Time};

/// A transmitter with a neighbour for each flow that takes a microsecond for each byte.
pub struct Wire;

impl Link for Wire {
    fn neighbour(&self, p: &Packet) -> u32 {
        p.flow.0
    }
    fn exchange(&self, _: u32, bytes: u32) -> Span {
        Span::from_micros(u64::from(bytes))
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::ZERO
    }
}

/// All defaults of an entry.
pub fn defaults<B>(entry: &Entry<B>) -> Args {
    let mut args = Args::default();
    for p in entry.params {
        if let Some(text) = p.default {
            args.set(p.name, value(p, text));
        }
    }
    args
}

/// A discipline on its own.
pub fn make(entry: &Entry<Build>, args: &Args) -> Result<Box<dyn Qdisc>, String> {
    (entry.build)(args, &Site::ALONE)
}

/// The value that a file's text means.
pub fn value(p: &Param, text: &str) -> Value {
    let cut = text.find(|c: char| c.is_alphabetic() || c == '%').unwrap_or(text.len());
    let (number, unit) = text.split_at(cut);
    let x = || number.parse::<f64>().unwrap_or_else(|_| panic!("{}: {text}", p.name));
    let scale = |units: &[(&str, f64)]| units.iter().find(|(u, _)| *u == unit).unwrap_or_else(|| panic!("{}: unit of {text}", p.name)).1;
    match p.unit {
        Unit::Number => Value::Number(x()),
        Unit::Fraction => Value::Number(x() * scale(&[("", 1.0), ("%", 0.01)])),
        Unit::Integer => Value::Integer(x() as i64),
        Unit::Time => Value::Time(time(text)),
        Unit::Rate => Value::Rate((x() * scale(&[("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)])) as u64),
        Unit::Amount => Value::Amount(amount(text)),
        Unit::Bool => Value::Bool(text == "true"),
        Unit::Word(words) => {
            assert!(words.contains(&text), "{}: {text}", p.name);
            Value::Word(text.into())
        }
        Unit::Schedule | Unit::Intervals | Unit::Drops => panic!("{}: not in a vector", p.name),
        Unit::Weights => Value::Weights(vec![]),
    }
}

/// An amount of packets or bytes in a file.
pub fn amount(text: &str) -> Amount {
    let cut = text.find(char::is_alphabetic).unwrap_or(text.len());
    let n = |scale: f64| (text[..cut].parse::<f64>().unwrap_or_else(|_| panic!("{text}")) * scale) as u64;
    match &text[cut..] {
        "p" => Amount::Packets(n(1.0)),
        "B" => Amount::Bytes(n(1.0)),
        "kB" => Amount::Bytes(n(1e3)),
        "MB" => Amount::Bytes(n(1e6)),
        unit => panic!("{text}: unit {unit:?}"),
    }
}

/// A duration in a file.
pub fn time(text: &str) -> Span {
    let cut = text.find(char::is_alphabetic).unwrap_or(text.len());
    let ns = match &text[cut..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        unit => panic!("{text}: unit {unit:?}"),
    };
    Span::from_nanos((text[..cut].parse::<f64>().unwrap_or_else(|_| panic!("{text}: no number")) * ns).round() as u64)
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Data,
    Ack,
    Syn,
    Udp,
}

/// Packet `n` of `flow`, offered at `now`.
pub fn packet(flow: u32, n: u64, what: What, size: u32, ecn: Ecn, now: Time) -> Packet {
    let tcp = |len, flags| Body::Tcp(Segment { seq: n, ack: n, len, flags, ..Segment::default() });
    let body = match what {
        What::Data => tcp(size.saturating_sub(40).max(1), Flags::ACK),
        What::Ack => tcp(0, Flags::ACK),
        What::Syn => tcp(0, Flags::SYN),
        What::Udp => Body::Udp { seq: n },
    };
    Packet { flow: FlowId(flow), size, reverse: what == What::Ack, ecn, sent: now, queued: now, body }
}

/// Which packet of its flow it is.
pub fn number(p: &Packet) -> u64 {
    match &p.body {
        Body::Tcp(s) | Body::Sealed(s) => s.seq,
        Body::Udp { seq } => *seq,
    }
}
