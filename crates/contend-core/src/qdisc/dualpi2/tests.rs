//! What vectors cannot say: the probability itself, chance, and laws.

use super::super::testbench::{Bench, args, made, packet, refused, word};
use super::*;
use crate::Rng;
use crate::registry::Value;
use proptest::prelude::*;
use rand::SeedableRng as _;

fn dualpi2(set: &[(&'static str, Value)]) -> DualPi2 {
    // 0.16015625 and 3.19921875 are 41/256 and 819/256.
    DualPi2::new(&args(PARAMS, set)).unwrap()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 5e-10, "{a} is not {b}");
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A packet of 1500 bytes with this ECN field, queued at `now`.
fn queued(flow: u32, ecn: Ecn, now: Time) -> Packet {
    let mut p = packet(flow, 1500).with_ecn(ecn);
    p.queued = now;
    p
}

/// By hand: 41/256 x (q - 15 ms) + 819/256 x (q - q_old). An empty queue would give
/// 0.048468750 - 0.002402344 - 0.047988281 < 0.
#[test]
fn the_probability_follows_the_delay_and_its_change() {
    let mut q = dualpi2(&[]);
    for (ms, p) in [(5, 0.014394531), (20, 0.063183594), (20, 0.063984375), (18, 0.058066406), (15, 0.048468750)] {
        q.pi.update(Span::from_millis(ms));
        near(q.pi.p, p);
    }
    near(q.k * q.pi.p, 0.096937500);
    q.pi.update(Span::ZERO);
    assert_eq!(q.pi.p, 0.0);
    q.pi.delay = Span::ZERO;
    q.pi.update(Span::from_millis(20));
    near(q.pi.p, 0.064785156);
}

#[test]
fn the_gains_of_the_rfc_give_its_steps() {
    let mut q = dualpi2(&[("alpha", Value::Number(0.15)), ("beta", Value::Number(3.0))]);
    for (ms, p) in [(5, 0.0135), (20, 0.05925), (20, 0.06)] {
        q.pi.update(Span::from_millis(ms));
        near(q.pi.p, p);
    }
}

/// Ticks at 16 and 32 ms, made up at 40 ms: the head of 4 ms was 12 and 28 ms old, not 36 ms twice. By hand: 41/256 x
/// (12 - 15 + 28 - 15) ms + 819/256 x 28 ms.
#[test]
fn a_missed_update_sees_the_age_of_its_own_tick() {
    let mut q = dualpi2(&[]);
    let mut bench = Bench::default();
    bench.now = at(4);
    bench.push(&mut q, queued(1, Ecn::NotEct, at(4)));
    bench.now = at(40);
    bench.push(&mut q, queued(1, Ecn::NotEct, at(40)));
    assert_eq!((q.pi.delay, q.pi.next_update), (Span::from_millis(28), at(48)));
    near(q.pi.p, 0.091179688);
}

/// The older head counts, or that of C.
#[test]
fn the_controller_sees_both_heads_or_one() {
    for (input, want) in [("max", 14), ("classic", 6)] {
        let mut q = dualpi2(&[("input", word(input))]);
        let mut bench = Bench::default();
        for (ms, ecn) in [(2, Ecn::Ect1), (10, Ecn::NotEct)] {
            bench.now = at(ms);
            bench.push(&mut q, queued(1, ecn, at(ms)));
        }
        q.catch_up(at(16));
        assert_eq!(q.pi.delay, Span::from_millis(want), "{input}");
    }
}

/// Updates after a pause give the same result as a timer, whether packets wait or not, and pauses of years end.
#[test]
fn missed_updates_are_made_up_for() {
    let gains = [(0.16, 3.2), (0.0, 3.2), (0.16, 0.0), (0.0, 0.0), (1e-3, 1e-3)];
    for ((alpha, beta), target) in gains.into_iter().flat_map(|g| [(g, 15), (g, 40_000)]) {
        for head in [None, Some(at(4))] {
            let set = [
                ("alpha", Value::Number(alpha)),
                ("beta", Value::Number(beta)),
                ("target", Value::Time(Span::from_millis(target))),
            ];
            let (mut lazy, mut timer) = (dualpi2(&set).pi, dualpi2(&set).pi);
            for pi in [&mut lazy, &mut timer] {
                (pi.p, pi.delay) = (0.3, Span::from_millis(40));
            }
            lazy.catch_up(at(16 * 10_000 + 15), head);
            (1..=10_000).for_each(|n| timer.update(head.map_or(Span::ZERO, |t| at(16 * n) - t)));
            assert_eq!((lazy.p, lazy.delay), (timer.p, timer.delay), "{alpha} {beta} {target} {head:?}");
            assert_eq!(lazy.next_update, at(16 * 10_001));
        }
    }
    let year = Span::from_secs(365 * 86_400);
    let mut pi = dualpi2(&[]).pi;
    pi.catch_up(Time::ZERO + year, Some(Time::ZERO));
    assert_eq!((pi.p, pi.delay), (1.0, year));
    // Nothing waits for three years: p' falls to 0 within 417 updates.
    pi.catch_up(Time::ZERO + year * 4, None);
    assert_eq!((pi.p, pi.delay), (0.0, Span::ZERO));
}

#[test]
fn overflow_ends_the_probability_at_the_whole_of_the_coupled_one() {
    for (overload, most) in [("drop", 1.0), ("overflow", 0.5)] {
        let mut q = dualpi2(&[("overload", word(overload))]);
        q.pi.update(Span::from_secs(10));
        assert_eq!(q.pi.p, most);
    }
}

/// Shares of signals of 20,000 packets with p' = 0.2, within five standard deviations at random, and within one signal
/// if evenly spaced. L: 0.4. C: 0.04.
#[test]
fn signals_come_with_the_probability_of_their_queue() {
    for recur in [false, true] {
        let mut q = dualpi2(&[("recur", Value::Bool(recur)), ("native", word("off"))]);
        let (mut rng, mut sink) = (Rng::seed_from_u64(5), Sink::default());
        (0..3).for_each(|_| q.classic.push(queued(1, Ecn::NotEct, Time::ZERO)));
        for (low, share) in [(true, 0.4), (false, 0.04)] {
            let mut hits = |ecn| {
                let decide = |_: &u32| {
                    let mut p = queued(1, ecn, Time::ZERO);
                    let before = sink.marked;
                    let drops = q.signals(&mut p, low, 0.2, 0.0, &mut rng, &mut sink);
                    assert!(!(drops && ecn != Ecn::NotEct), "dropped below overload");
                    drops || sink.marked > before
                };
                (0..20_000).filter(decide).count() as f64
            };
            let ecn: &[Ecn] = if low { &[Ecn::Ect1] } else { &[Ecn::Ect, Ecn::NotEct] };
            for ecn in ecn {
                let (got, mean): (f64, f64) = (hits(*ecn), 20_000.0 * share);
                let most = if recur { 1.0 } else { 5.0 * (mean * (1.0 - share)).sqrt() };
                assert!((got - mean).abs() <= most, "{recur} {low} {ecn:?}: {got}");
            }
        }
    }
}

#[test]
fn a_ramp_without_range_is_a_step() {
    let q = dualpi2(&[("native", word("ramp")), ("range", Value::Time(Span::ZERO))]);
    let marks = |us| q.native.probability(Span::from_micros(us), Backlog::default());
    assert_eq!([marks(800), marks(801)], [0.0, 1.0]);
}

#[test]
fn the_largest_packet_is_in_bytes() {
    let said = refused(build, PARAMS, &[("mtu", Value::Amount(Amount::Packets(2)))]);
    assert_eq!(said, "mtu = \"2p\" counts packets; write it in bytes, like \"1500B\"");
}

proptest! {
    /// Packets are conserved. Below overload and limit no packet of L is dropped, and none that supports ECN.
    #[test]
    fn what_supports_ecn_is_dropped_only_in_overload_or_at_the_limit(
        steps in prop::collection::vec(prop::option::weighted(0.55, (0u32..4, 40u32..1500)), 1..600),
        overflow in any::<bool>(), enqueue in any::<bool>(), recur in any::<bool>(), shift in any::<bool>(),
        ramp in any::<bool>(), limit in prop::option::of(1u64..50), gap in 1u64..20,
    ) {
        let pick = |yes, a: &str, b: &str| word(if yes { a } else { b });
        let limit = limit.unwrap_or(10_000);
        let mut q = dualpi2(&[
            ("overload", pick(overflow, "overflow", "drop")), ("drop_at", pick(enqueue, "enqueue", "dequeue")),
            ("recur", Value::Bool(recur)), ("scheduler", pick(shift, "shift", "wrr")),
            ("native", pick(ramp, "ramp", "step")), ("limit", Value::Amount(Amount::Packets(limit))),
        ]);
        let mut bench = Bench::default();
        let (mut offered, mut left) = (0, 0);
        let mut last = [None; 4];
        for step in steps {
            bench.now += Span::from_millis(gap);
            let before = q.backlog().packets;
            match step {
                // The flow has the ECN field of its number, in two bits.
                Some((flow, size)) => {
                    let mut p = packet(flow, size).with_ecn(Ecn::of(flow as u8));
                    (p.queued, p.sent) = (bench.now, Time::from_nanos(offered));
                    offered += 1;
                    bench.push(&mut q, p);
                }
                None => {
                    let got = bench.pop(&mut q);
                    if let Some(p) = got {
                        left += 1;
                        let row = &mut last[p.flow.0 as usize];
                        prop_assert!(*row < Some(p.sent), "order");
                        *row = Some(p.sent);
                        prop_assert!(p.flow.0 != 0 || p.ecn() == Ecn::NotEct);
                    }
                    prop_assert!(got.is_some() || q.backlog().packets == 0);
                }
            }
            for (p, why) in bench.sink.dropped.drain(..) {
                left += 1;
                match why {
                    DropReason::Full => prop_assert!(before == limit),
                    _ => prop_assert!(p.flow.0 == 0 || q.pi.p > 0.5, "{:?} at {}", p.ecn(), q.pi.p),
                }
            }
            prop_assert_eq!(offered, left + q.backlog().packets);
            prop_assert_eq!(q.low.backlog().packets as usize, q.applies.len());
        }
    }
}

/// A discipline from the registry is this one.
#[test]
fn the_discipline_is_built() {
    assert!(!made(build, PARAMS, &[]).can_bypass());
}
