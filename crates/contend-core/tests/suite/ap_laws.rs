//! Laws of every control block: packets are conserved, data keep their order, and time never runs backwards.

use crate::common::{self, amount, defaults};
use contend_core::ap::{Build, Control, Facts, FlowFacts, Pass, REGISTRY, Side};
use contend_core::qdisc::{AirReport, DropReason};
use contend_core::registry::{Args, Entry, Value};
use contend_core::{Body, Cx, Flags, FlowId, Packet, Rng, Segment, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng as _;
use std::collections::BTreeMap;

/// One packet: microseconds since the previous one, flow, true for data, increase of the flow's number (in 500 bytes),
/// SACK or flag, window, scale.
type Step = (u64, u32, bool, u64, u8, u32, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![4 => 0u64..3_000, 1 => 0u64..2_000_000];
    let step = (gap, 0u32..6, any::<bool>(), 0u64..5, 0u8..12, 0u32..2_000_000, 0u8..16);
    prop::collection::vec(step, 1..300)
}

fn build(entry: &Entry<Build>, with: &[(&'static str, &str)]) -> Result<Box<dyn Control>, contend_core::Refusal> {
    let mut args: Args = defaults(entry);
    for (name, text) in with {
        let p = entry
            .params
            .iter()
            .find(|p| p.name == *name)
            .unwrap_or_else(|| panic!("{} has no parameter {name}", entry.name));
        args.set(p.name, common::value(p, text));
    }
    let flows: Vec<FlowFacts> = (0..6)
        .map(|i| FlowFacts {
            flow: FlowId(i),
            up: Some(i % 2 == 0),
            delay: Span::from_millis(10 + u64::from(i)),
            ack: 1 + i % 2,
            mss: 500,
        })
        .collect();
    let cycle = |_, _, _| Span::from_micros(800);
    (entry.build)(&args, &Facts { buffer: Some(20), flows: &flows, cycle_time: &cycle })
}

/// Even flows are uploads: their data come from the air, and their acknowledgments come from the wire.
fn packet(s: &Step, numbers: &mut BTreeMap<(u32, bool), u64>, nth: u64) -> (Side, Packet) {
    let (_, flow, data, moves, extra, window, window_scale) = *s;
    let side = if (flow % 2 == 0) == data { Side::Air } else { Side::Wire };
    let number = numbers.entry((flow, data)).or_insert(0);
    let at = *number;
    *number += 500 * moves;
    let mut t = Segment { flags: Flags::ACK, window, window_scale, ..Segment::default() };
    match extra {
        0 => t.flags = t.flags.with(Flags::ECE),
        1 => t.flags = t.flags.with(Flags::SYN),
        2 => assert!(t.sack.push(500, 1000)),
        _ => {}
    }
    if data {
        (t.seq, t.len) = (at, 500);
    } else {
        t.ack = *number;
    }
    // The last flow sends datagrams.
    let body = if flow == 5 && data { Body::Udp { seq: at } } else { Body::Tcp(t) };
    // `sent` identifies the packet.
    let p = Packet::new(FlowId(flow), 40 + 500 * u32::from(data), Time::from_nanos(nth), body).queued_at(Time::ZERO);
    (side, if data { p } else { p.reversed() })
}

fn follow(entry: &Entry<Build>, with: &[(&'static str, &str)], steps: &[Step]) {
    let mut block = build(entry, with).unwrap();
    let (mut rng, mut out) = (Rng::seed_from_u64(1), Pass::default());
    let (mut now, mut given, mut came) = (Time::ZERO, 0u64, 0u64);
    let mut numbers = BTreeMap::new();
    let mut last: BTreeMap<(FlowId, bool), Time> = BTreeMap::new();
    let mut look = |block: &dyn Control, out: &mut Pass, given: u64| {
        came += out.packets.len() as u64 + out.sink.dropped.len() as u64;
        assert_eq!(given + out.sink.made, came + block.held(), "{}: packets are lost or made up", entry.name);
        for (p, why) in out.sink.dropped.drain(..) {
            assert!(
                why != DropReason::Filtered || p.pure_ack_beside(Flags::ACE).is_some(),
                "{}: filtered {p:?}",
                entry.name
            );
        }
        for (_, p) in out.packets.drain(..).filter(|(_, p)| !p.is_reverse()) {
            let before = last.insert((p.flow, p.is_reverse()), p.sent);
            assert!(before.is_none_or(|b| b < p.sent), "{}: data out of order", entry.name);
        }
    };
    for (n, s) in steps.iter().enumerate() {
        let then = now + Span::from_micros(s.0);
        while block.next_deadline() <= then {
            let due = block.next_deadline();
            assert!(due >= now, "{}: a deadline in the past", entry.name);
            now = due;
            block.on_wake(&mut Cx { now, rng: &mut rng }, &mut out);
            look(block.as_ref(), &mut out, given);
            assert!(block.next_deadline() > now, "{}: the same deadline again", entry.name);
        }
        now = then;
        let (side, p) = packet(s, &mut numbers, n as u64);
        given += 1;
        let window = p.tcp().map(|s| s.window);
        block.on_packet(&mut Cx { now, rng: &mut rng }, side, p, &mut out);
        if let (Some((_, after)), Some(window)) = (out.packets.iter().find(|(_, q)| q.sent == p.sent), window) {
            assert!(after.tcp().is_some_and(|s| s.window <= window), "{}: a window was raised", entry.name);
        }
        if block.hears_air() {
            let airtime = Span::from_micros(300);
            block.on_air(&AirReport {
                now,
                station: 1 + s.1,
                up: s.2,
                airtime,
                success: s.4 > 0,
                bytes: p.size,
                waiting: s.3,
            });
        }
        assert!(block.next_deadline() >= now, "{}: a deadline in the past", entry.name);
        look(block.as_ref(), &mut out, given);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_block_conserves_packets_and_keeps_data_in_order(steps in steps()) {
        for entry in REGISTRY {
            follow(entry, &[], &steps);
            // Every word of every parameter, one at a time.
            for p in entry.params {
                if let contend_core::registry::Unit::Word(words) = p.unit {
                    words.iter().for_each(|w| follow(entry, &[(p.name, w)], &steps));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn sealed_segments_pass_every_block_at_once_and_unchanged(steps in steps()) {
        for entry in REGISTRY {
            let mut block = build(entry, &[]).unwrap();
            let (mut rng, mut out, mut now) = (Rng::seed_from_u64(1), Pass::default(), Time::ZERO);
            let mut numbers = BTreeMap::new();
            for (n, s) in steps.iter().enumerate() {
                now += Span::from_micros(s.0);
                if block.next_deadline() <= now {
                    block.on_wake(&mut Cx { now, rng: &mut rng }, &mut out);
                }
                let (side, p) = packet(s, &mut numbers, n as u64);
                let p = p.sealed();
                block.on_packet(&mut Cx { now, rng: &mut rng }, side, p, &mut out);
                prop_assert_eq!(core::mem::take(&mut out.packets), vec![(side, p)], "{}", entry.name);
                prop_assert!(out.sink.is_empty() && block.held() == 0, "{}", entry.name);
            }
        }
    }
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let entry = |name| REGISTRY.iter().find(|e| e.name == name).unwrap();
    for (name, param, text, why) in [
        ("accf", "alpha", "1", "alpha = 1 is too small; write a number above 1"),
        ("accf", "beta", "0.5", "beta = 0.5 is too small; write a number above 1"),
        ("accf", "gamma_min", "0", "gamma_min = 0 is out of range; write a number above 0 and at most 1"),
        ("accf", "weight", "0", "weight = 0 is out of range; write a number above 0 and at most 1"),
        ("accf", "num_thresh", "1", "num_thresh = 1 is too small; write 2 or more"),
        ("fcwa", "margin", "0", "margin = 0 is out of range; write a number above 0 and at most 1"),
        ("fcwa", "margin", "1.01", "margin = 1.01 is out of range; write a number above 0 and at most 1"),
        ("fcwa", "data_size", "1500p", "data_size counts bytes; write data_size = \"1500B\""),
        ("fcwa", "buffer", "150000B", "buffer counts packets; write buffer = \"100p\""),
    ] {
        assert_eq!(build(entry(name), &[(param, text)]).unwrap_err().to_string(), why);
    }
}

#[test]
fn a_queue_without_a_limit_in_packets_needs_a_buffer() {
    let cycle = |_, _, _| Span::from_micros(800);
    let facts = Facts { buffer: None, flows: &[], cycle_time: &cycle };
    for name in ["fcwa", "pilosof"] {
        let entry = REGISTRY.iter().find(|e| e.name == name).unwrap();
        let mut args = defaults(entry);
        let why = "the queue of the access point has no limit in packets; write the buffer, like buffer = \"100p\"";
        assert_eq!((entry.build)(&args, &facts).unwrap_err().to_string(), why);
        args.set("buffer", Value::Amount(amount("100p")));
        assert!((entry.build)(&args, &facts).is_ok());
    }
}

/// Many short flows, one per second, alternately up and down. The state of a block, as shown by `Debug`, is not larger
/// after 4000 flows than after 1000.
#[test]
fn short_flows_leave_nothing_behind() {
    for entry in REGISTRY {
        let (mut block, mut rng, mut out) = (build(entry, &[]).unwrap(), Rng::seed_from_u64(7), Pass::default());
        let (mut numbers, mut kept) = (BTreeMap::new(), vec![]);
        for flow in 0..4000 {
            let start = Time::ZERO + Span::from_secs(u64::from(flow));
            for n in 0..6 {
                let mut cx = Cx { now: start + Span::from_millis(n), rng: &mut rng };
                // The sixth flow of `packet` sends datagrams.
                let (side, p) = packet(&(0, flow + 6, n % 2 == 0, 1, 9, 60_000, 0), &mut numbers, n);
                block.on_packet(&mut cx, side, p, &mut out);
            }
            while block.next_deadline() < start + Span::from_secs(1) {
                let now = block.next_deadline();
                block.on_wake(&mut Cx { now, rng: &mut rng }, &mut out);
            }
            out = Pass::default();
            if flow % 1000 == 999 {
                kept.push(format!("{block:?}").len());
            }
        }
        // Larger numbers have more digits.
        assert!(kept[3] * 10 < kept[0] * 11, "{}: {kept:?}", entry.name);
    }
}
