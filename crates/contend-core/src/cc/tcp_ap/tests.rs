//! The delays of the closed form, by hand: 1500 B and 112 B of headers; RTT/h = 4.3 ms.

use super::*;
use crate::observe::Local;
use crate::registry::{Value, find};
use crate::{Rng, Time};
use rand::SeedableRng as _;

fn controller(set: &[(&'static str, Value)]) -> Box<dyn Controller> {
    let entry = find(super::super::REGISTRY, "tcp_ap").unwrap();
    let mut args = Args::default();
    for p in entry.params {
        let text = p.default.unwrap();
        let value = match p.name {
            "rate_interval" => Value::Time(crate::Span::from_millis(50)),
            "delaybound" => Value::Time(crate::Span::from_millis(500)),
            "ll_bandwidth" => Value::Rate(2_000_000),
            _ => text.parse().map_or_else(|_| Value::Word(text.into()), Value::Integer),
        };
        args.set(p.name, value);
    }
    set.iter().for_each(|(name, value)| args.set(name, value.clone()));
    (entry.build)(&args.strict()).unwrap()
}

fn word(w: &str) -> Value {
    Value::Word(w.into())
}

fn window() -> Window {
    Window { mss: 1500, ..Window::default() }
}

/// The gap in microseconds after acknowledgments with these round-trip times on a path of `hops` links.
fn gap(cc: &mut dyn Controller, w: &mut Window, hops: u8, rtts_us: &[u32]) -> u64 {
    let mut rng = Rng::seed_from_u64(1);
    for &rtt in rtts_us {
        let ack = Ack { acked: 1, rtt_us: Some(rtt), hops: hops - 1, ..Ack::default() };
        cc.on_every_ack(&mut Cx { now: Time::ZERO, rng: &mut rng }, w, &ack);
    }
    1_500_000_000 / w.pacing_rate
}

#[test]
fn the_gap_is_the_delay_over_four_hops() {
    // 2 (RTT/h + (S_data - S_ACK)/b) = 2 (4.3 ms + 6 ms), at 11 Mb/s 2 (4.3 ms + 1.091 ms).
    for (bps, want) in [(2_000_000, 20_600), (11_000_000, 10_782)] {
        let mut cc = controller(&[("ll_bandwidth", Value::Rate(bps))]);
        let got = gap(&mut *cc, &mut window(), 8, &[34_400]);
        assert!(got.abs_diff(want) <= 6, "{got} {want}");
    }
    // The printed sign adds 4 S_ACK/b = 4 x 448 us.
    let mut cc = controller(&[("sign", word("printed"))]);
    let got = gap(&mut *cc, &mut window(), 8, &[34_400]);
    assert!(got.abs_diff(20_600 + 1_792 / 2 * 2) <= 6, "{got}");
}

#[test]
fn a_short_path_is_paced_by_one_hop() {
    let at = |short| gap(&mut *controller(&[("short_path", word(short))]), &mut window(), 3, &[12_900]);
    assert!(at("four").abs_diff(20_600) <= 6 && at("one").abs_diff(5_150) <= 2);
}

#[test]
fn the_first_gap_is_the_interval_and_a_duplicate_stops_pacing() {
    let (mut cc, mut w) = (controller(&[]), window());
    cc.on_start(&mut w);
    // 1500 B in 50 ms.
    assert_eq!(w.pacing_rate, 30_000);
    let mut rng = Rng::seed_from_u64(1);
    let dup = Ack { dup: true, ..Ack::default() };
    cc.on_every_ack(&mut Cx { now: Time::ZERO, rng: &mut rng }, &mut w, &dup);
    assert_eq!(w.pacing_rate, 0);
    let new = Ack { acked: 1, ..Ack::default() };
    cc.on_every_ack(&mut Cx { now: Time::ZERO, rng: &mut rng }, &mut w, &new);
    assert_eq!(w.pacing_rate, 30_000);
    assert!(cc.needs().full_gaps && !cc.needs().air);
}

#[test]
fn samples_are_smoothed_and_their_deviation_lengthens_the_gap() {
    // Delays 2 (4.3 + 6) = 20.6 and 2 (8.6 + 6) = 29.2 ms: average 0.7 x 20.6 + 0.3 x 29.2 = 23.18 ms; mean 24.9, mean
    // absolute deviation 4.3, so d = 0.1727; standard deviation with N - 1: 6.081, d = 0.2442.
    for (coefficient, want) in [("adev", 23_180.0 * (1.0 + 2.0 * 0.1727)), ("cov", 23_180.0 * (1.0 + 2.0 * 0.2442))] {
        let mut cc = controller(&[("coefficient", word(coefficient))]);
        let got = gap(&mut *cc, &mut window(), 8, &[34_400, 68_800]) as f64;
        assert!((got / want - 1.0).abs() < 0.003, "{coefficient}: {got} {want}");
    }
}

#[test]
fn old_samples_leave_the_history() {
    let mut cc = controller(&[("history", Value::Integer(2)), ("alpha_1024", Value::Integer(0))]);
    let got = gap(&mut *cc, &mut window(), 8, &[100_000, 34_400, 34_400]);
    assert!(got.abs_diff(20_600) <= 6, "{got}");
}

#[test]
fn a_delay_beyond_the_bound_is_no_sample() {
    // t_q of 1 s is replaced by its average, 0 at first: 4 x 6.448 ms. The bound of 20 ms then refuses the delay.
    let got = gap(&mut *controller(&[]), &mut window(), 8, &[16_000_000]);
    assert!(got.abs_diff(25_792) <= 6, "{got}");
    let mut cc = controller(&[("delaybound", Value::Time(crate::Span::from_millis(20)))]);
    assert_eq!(gap(&mut *cc, &mut window(), 8, &[16_000_000]), 50_000);
}

#[test]
fn the_air_gives_capacity_and_available_bandwidth() {
    // Eq. 6.2 with C = 4 Mb/s and AB = 1 Mb/s: t_q = (4.3 - 13792 b / 4 Mb/s) / 2 = 0.426 ms, FHD = 4 (0.426 + 12.896).
    let local = Local { capacity: Some(500_000), available: Some(125_000), overhead_q20: 1 << 18, ..Local::default() };
    let mut w = Window { local: Some(local), ..window() };
    let mut cc = controller(&[("bandwidth", word("air"))]);
    assert!(cc.needs().air);
    let got = gap(&mut *cc, &mut w, 8, &[34_400]);
    assert!(got.abs_diff(53_288) <= 20, "{got}");
    // A quarter of the available bandwidth goes to DIFS and backoff: 4 (0.426 + 17.195).
    let mut cc = controller(&[("bandwidth", word("air")), ("correction", word("overhead"))]);
    let got = gap(&mut *cc, &mut w, 8, &[34_400]);
    assert!(got.abs_diff(70_484) <= 30, "{got}");
    // Nothing is available: the delay is beyond the bound, so the gap stays.
    let mut full = Window { local: Some(Local { available: Some(0), ..local }), ..window() };
    assert_eq!(gap(&mut *controller(&[("bandwidth", word("air"))]), &mut full, 8, &[34_400]), 50_000);
}

#[test]
fn the_path_factor_acts_above_five_nodes() {
    let at = |factor, hops: u8| {
        let mut cc = controller(&[("path_factor", word(factor))]);
        gap(&mut *cc, &mut window(), hops, &[4_300 * u32::from(hops)]) as f64 / 20_600.0
    };
    for (factor, hops, want) in
        [("hops", 4, 1.0), ("hops", 5, 7.0 / 6.0), ("hops", 15, 1.0625), ("inner", 6, 1.0), ("inner", 7, 7.0 / 6.0)]
    {
        assert!((at(factor, hops) - want).abs() < 0.001, "{factor} {hops}: {}", at(factor, hops));
    }
}
