//! Runs every queue discipline over the vectors in `vectors/qdisc/<name>/` (format: `vectors/qdisc/README.md`).

use crate::common::{self, PlainLink, What, contributing, each_line, each_vector, make, number, packet, time};
use contend_core::explicit::wcp::{self, Notice};
use contend_core::explicit::{RCP, UNLIMITED, WCP, XCP};
use contend_core::observe::{HeardFrame, Kind};
use contend_core::packet::Explicit;
use contend_core::qdisc::{Build, Qdisc, REGISTRY, Sink};
use contend_core::registry::Entry;
use contend_core::{Cx, Ecn, Packet, Rng, Span, Time};
use rand::SeedableRng as _;
use std::collections::BTreeMap;

#[test]
fn every_discipline_follows_its_vectors() {
    each_vector("qdisc", REGISTRY, run);
}

/// A running discipline, and the number of packets offered per flow.
struct Bench {
    qdisc: Box<dyn Qdisc>,
    rng: Rng,
    sink: Sink,
    offered: BTreeMap<String, u64>,
}

/// The queue discipline of a recipe in `CONTRIBUTING.md`, in its own registry.
#[path = "recipes"]
mod recipes {
    pub(crate) use contend_core::qdisc::*;
    contend_core::registry!(Build; headdrop);
}

#[test]
fn the_recipe_for_a_queue_discipline_compiles_and_follows_its_vector() {
    let others = contributing::shows("A queue discipline", include_str!("recipes/headdrop.rs"));
    assert_eq!(others.len(), 1, "a vector");
    run(&recipes::REGISTRY[0], &others[0], "CONTRIBUTING.md");
}

fn run(entry: &Entry<Build>, text: &str, file: &str) {
    let mut bench = None;
    each_line(entry, text, file, |place, args, words, want| {
        let [at, step @ ..] = words else { return };
        let want = expand(want);
        let bench = bench.get_or_insert_with(|| Bench {
            qdisc: make(entry, args).unwrap_or_else(|e| panic!("{place}: {e}")),
            rng: Rng::seed_from_u64(1),
            sink: Sink::default(),
            offered: BTreeMap::new(),
        });
        let all = bench.step(Time::ZERO + time(at), step).unwrap_or_else(|| panic!("{place}: cannot be read"));
        for got in all {
            assert_eq!(got, want, "{place}");
        }
    });
}

impl Bench {
    /// The results of a step: one result per offered packet, one for all requested packets.
    fn step(&mut self, now: Time, step: &[&str]) -> Option<Vec<String>> {
        match step {
            ["in", flow, kind, size, options @ ..] => {
                let times =
                    options.iter().position(|o| *o == "times").map_or(Some(1), |i| options.get(i + 1)?.parse().ok())?;
                let words = [("ect", Ecn::Ect), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];
                let ecn = words.iter().find(|(word, _)| options.contains(word)).map_or(Ecn::NotEct, |(_, ecn)| *ecn);
                let reverse = options.contains(&"reverse");
                let what = match *kind {
                    "data" => What::Data,
                    "ack" => What::Ack,
                    "syn" => What::Syn,
                    "udp" => What::Udp,
                    _ => return None,
                };
                let letter = u32::from(flow.bytes().next()?.checked_sub(b'a')?);
                let mut results = Vec::new();
                for _ in 0..times {
                    let n = self.offered.entry((*flow).to_owned()).or_default();
                    *n += 1;
                    let mut p = packet(letter, *n, what, size.parse().ok()?, ecn, now);
                    if let Some(i) = options.iter().position(|o| *o == "xcp") {
                        let (rtt, throughput) = (time(options.get(i + 1)?), options.get(i + 2)?.parse().ok()?);
                        let change = i32::MAX;
                        p.set_explicit(XCP, Explicit { rtt_us: rtt.as_micros() as u32, throughput, change });
                    }
                    if let Some(i) = options.iter().position(|o| *o == "rcp") {
                        let rtt_us = time(options.get(i + 1)?).as_micros() as u32;
                        p.set_explicit(RCP, Explicit { rtt_us, throughput: UNLIMITED, change: 0 });
                    }
                    if let Some(i) = options.iter().position(|o| *o == "wcp") {
                        let rtt_us = time(options.get(i + 1)?).as_micros() as u32;
                        p.set_explicit(WCP, Explicit { rtt_us, throughput: rtt_us, change: 0 });
                    }
                    if reverse {
                        p = p.reversed();
                    }
                    self.qdisc.enqueue(&mut Cx { now, rng: &mut self.rng }, &PlainLink, p, &mut self.sink);
                    let own = self.sink.dropped.iter().position(|(d, _)| name(d) == name(&p));
                    if let Some(i) = own {
                        self.sink.dropped.remove(i);
                    }
                    results.push(self.result(if own.is_some() { "dropped" } else { "queued" }.into()));
                }
                Some(results)
            }
            ["out", count @ ..] => {
                let count = count.first().map_or(Some(1), |n| n.parse().ok())?;
                let given: Vec<String> = (0..count)
                    .filter_map(|_| self.qdisc.dequeue(&mut Cx { now, rng: &mut self.rng }, &PlainLink, &mut self.sink))
                    .map(|p| match p.explicit_kind() {
                        XCP => format!("{} change {}", name(&p), p.explicit.change),
                        RCP => format!("{} rate {}", name(&p), p.explicit.throughput),
                        WCP => format!("{}{}", name(&p), wcp_header(&p.explicit)),
                        _ => name(&p),
                    })
                    .collect();
                Some(vec![self.result(if given.is_empty() { "none".into() } else { given.join(" ") })])
            }
            ["hears", from, to, options @ ..] => {
                let notice = Notice {
                    source: options.contains(&"source"),
                    end: options.contains(&"end"),
                    near: options.contains(&"near"),
                    interval_us: common::option(options, "interval").map_or(0, |t| time(t).as_micros() as u32),
                };
                let mut p = packet(0, 0, What::Data, 1000, Ecn::NotEct, now);
                p.set_explicit(WCP, notice.written(Explicit::default()));
                self.qdisc.heard(&HeardFrame {
                    kind: Kind::Data,
                    from: from.parse().ok()?,
                    to: to.parse().ok()?,
                    me: ME,
                    start: now,
                    end: now,
                    duration: Span::ZERO,
                    bytes: p.size,
                    decoded: !options.contains(&"garbled"),
                    note: None,
                    packet: Some(&p),
                });
                Some(vec![self.result("heard".into())])
            }
            _ => None,
        }
    }

    /// Appends the content of the sink to `what`, and empties the sink.
    fn result(&mut self, mut what: String) -> String {
        if std::mem::take(&mut self.sink.marked) > 0 {
            what += " marked";
        }
        for (i, (p, _)) in self.sink.dropped.drain(..).enumerate() {
            what += if i == 0 { " drops " } else { " " };
            what += &name(&p);
        }
        what
    }
}

/// The number of the node whose discipline runs.
const ME: u32 = 9;

/// What a node has written into a header of WCP.
fn wcp_header(h: &Explicit) -> String {
    let notice = Notice::of(h);
    let mut text = format!(" interval {}us", h.throughput);
    for (is, word) in [(notice.source, "source"), (notice.end, "end"), (notice.near, "near")] {
        if is {
            text = text + " " + word;
        }
    }
    if wcp::is_marked(h) { text + " congested" } else { text }
}

/// `a1`, `a2`, ...
fn name(p: &Packet) -> String {
    format!("{}{}", char::from(b'a' + p.flow.0 as u8), number(p))
}

/// Expands `a1..a3`.
fn expand(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        match word.split_once("..") {
            Some((a, b)) => words
                .extend((a[1..].parse::<u64>().unwrap()..=b[1..].parse().unwrap()).map(|n| format!("{}{n}", &a[..1]))),
            None => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}
