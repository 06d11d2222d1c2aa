//! Common parts of the tests over a registry: vector files, algorithms from texts, random parameters, a transmitter and
//! packets.

pub mod contributing;
pub mod controller;

use contend_core::cc::Ack;
use contend_core::explicit::wcp;
use contend_core::packet::Explicit;
use contend_core::qdisc::{Build, Link, Qdisc, Site};
use contend_core::registry::{Amount, Args, Entry, Param, Unit, Value};
use contend_core::{Body, Ecn, Flags, FlowId, Packet, Segment, Span, Time};
use std::path::Path;

/// A transmitter with one neighbour per flow. A byte takes one microsecond.
pub struct PlainLink;

impl Link for PlainLink {
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

/// Calls `run` with each vector file of each family member, from `vectors/<family>/<name>/`. The arguments are the
/// member, the text and the path. Every member must have a vector.
pub fn each_vector<B>(family: &str, registry: &[Entry<B>], run: impl Fn(&Entry<B>, &str, &str)) {
    for entry in registry {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(family).join(entry.name);
        let files: Vec<_> = std::fs::read_dir(&dir)
            .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
            .map(|f| f.unwrap().path())
            .collect();
        assert!(!files.is_empty(), "{} has no vectors in {}", entry.name, dir.display());
        for file in files {
            run(entry, &std::fs::read_to_string(&file).unwrap(), &file.display().to_string());
        }
    }
}

/// Calls `run` with each line of a vector for `entry`: its place and text, the parameters, the words of the input, and
/// what must follow. Lines `set NAME VALUE` change the parameters.
pub fn each_line<B>(entry: &Entry<B>, text: &str, file: &str, mut run: impl FnMut(&str, &Args, &[&str], &str)) {
    let mut args = defaults(entry);
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap().trim();
        let place = format!("{file}:{}: {line}", n + 1);
        let (input, want) = line.split_once("->").unwrap_or((line, ""));
        match input.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => {}
            ["set", name, v] => {
                let p = entry.params.iter().find(|p| p.name == *name);
                let p = p.unwrap_or_else(|| panic!("{place}: no parameter {name}"));
                args.set(p.name, value(p, v));
            }
            words => run(&place, &args, words, want.trim()),
        }
    }
}

/// The word after the word `name`.
pub fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|&x| x == name).and_then(|i| words.get(i + 1)).copied()
}

/// The acknowledgment that a step describes, `ack N ...` or `dup ...`. For another step, the values of
/// an acknowledgment that it contains.
pub fn ack(words: &[&str]) -> Option<Ack> {
    let us = |name| option(words, name).map(|t| time(t).as_micros() as u32);
    let (is_ack, dup) = (words.first() == Some(&"ack"), words.first() == Some(&"dup"));
    let acked = if is_ack { words.get(1)?.parse().ok()? } else { 0 };
    let delivered = option(words, "delivered").map_or(u32::from(is_ack || dup) * acked.max(1), |n| n.parse().unwrap());
    Some(Ack {
        acked,
        delivered,
        dup,
        rtt_us: us("rtt"),
        srtt_us: us("srtt").or(us("rtt")).unwrap_or(0),
        rttvar_us: us("rttvar").unwrap_or(0),
        min_rtt_us: us("min").or(us("rtt")).unwrap_or(0),
        ece: words.contains(&"marked"),
        ce: option(words, "marks").map_or(u32::from(words.contains(&"marked")) * delivered, |n| n.parse().unwrap()),
        tsval: option(words, "tsval").map(|n| n.parse().unwrap()),
        round_start: words.contains(&"round"),
        explicit: explicit(words),
        hops: option(words, "hops").map_or(0, |n| n.parse().unwrap()),
        ..Ack::default()
    })
}

/// The explicit header that an acknowledgment returns: a change or an allowed rate in bytes per second, or a control
/// interval of WCP and perhaps its mark.
fn explicit(words: &[&str]) -> Option<Explicit> {
    if let Some(interval) = option(words, "interval") {
        let h = Explicit { throughput: time(interval).as_micros() as u32, ..Explicit::default() };
        return Some(if words.contains(&"congested") { wcp::marked(h) } else { h });
    }
    let number = |name| option(words, name).map(|n| n.parse::<i64>().unwrap());
    let (change, throughput) = (number("change"), number("allowed"));
    let given = change.is_some() || throughput.is_some();
    let (change, throughput) = (change.unwrap_or(0) as i32, throughput.unwrap_or(0) as u32);
    given.then_some(Explicit { rtt_us: 0, throughput, change })
}

/// How far parameters may be from their defaults.
pub struct Reach {
    /// Largest factor for a number.
    pub number: f64,
    /// Largest factor for a duration.
    pub time: f64,
    /// The largest value of a whole number with the given default.
    pub integer: fn(i64) -> f64,
}

/// The defaults of `entry`, changed where `some` has a value: arbitrary words and switches, shares anywhere in their
/// range, and all other values within `reach`.
pub fn varied<B>(entry: &Entry<B>, some: Vec<Option<f64>>, reach: &Reach) -> Args {
    let mut args = defaults(entry);
    for (p, x) in entry.params.iter().zip(some) {
        let Some(x) = x else { continue };
        let within = |v: f64| v.clamp(p.range.0, p.range.1);
        match (p.unit, args.get(p.name)) {
            (Unit::Bool, _) => args.set(p.name, Value::Bool(x < 0.5)),
            (Unit::Word(w), _) => args.set(p.name, Value::Word(w[(x * w.len() as f64) as usize].into())),
            (Unit::Integer, Some(&Value::Integer(v))) => {
                args.set(p.name, Value::Integer(within(x * (reach.integer)(v)) as i64))
            }
            (Unit::Time, Some(Value::Time(t))) => {
                args.set(p.name, Value::Time(Span::from_secs_f64(within(t.as_secs_f64() * reach.time * x))))
            }
            (Unit::Fraction, _) => args.set(p.name, Value::Number(within(x))),
            (Unit::Number, Some(&Value::Number(v))) => args.set(p.name, Value::Number(within(v * reach.number * x))),
            _ => {}
        }
    }
    args
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

/// Builds a discipline without named neighbours.
pub fn make(entry: &Entry<Build>, args: &Args) -> Result<Box<dyn Qdisc>, contend_core::Refusal> {
    (entry.build)(args, &Site::ALONE)
}

/// The value of a text in a file.
pub fn value(p: &Param, text: &str) -> Value {
    let cut = text.find(|c: char| c.is_alphabetic() || c == '%').unwrap_or(text.len());
    let (number, unit) = text.split_at(cut);
    let x = || number.parse::<f64>().unwrap_or_else(|_| panic!("{}: {text}", p.name));
    let scale = |units: &[(&str, f64)]| {
        units.iter().find(|(u, _)| *u == unit).unwrap_or_else(|| panic!("{}: unit of {text}", p.name)).1
    };
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
        Unit::Schedule if text == "[]" => Value::Schedule(vec![]),
        Unit::Schedule | Unit::Intervals | Unit::Drops => panic!("{}: not in a vector", p.name),
        Unit::Weights => Value::Weights(vec![]),
        Unit::Numbers => Value::Numbers(vec![]),
        Unit::Group(_) => Value::Group(Args::default()),
    }
}

/// The amount of packets or bytes of a text in a file.
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

/// The duration of a text in a file.
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

/// The kind of a packet.
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
    let p = Packet::new(FlowId(flow), size, now, body).with_ecn(ecn);
    if what == What::Ack { p.reversed() } else { p }
}

/// The number of the packet in its flow.
pub fn number(p: &Packet) -> u64 {
    match &p.body {
        Body::Tcp(s) => s.seq,
        Body::Udp { seq } => *seq,
    }
}
