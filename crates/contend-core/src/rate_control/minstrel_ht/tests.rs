use super::super::testbench::{Bench, rates};
use super::*;
use crate::rate_control::{Rate, RateId};
use crate::registry::Value;

fn args() -> Args {
    let mut args = Args::default();
    let us = |us| Value::Time(Span::from_micros(us));
    for (name, time) in [("window", 50_000), ("sampling", 20_000), ("overhead", 108), ("segment", 6_000), ("slot", 9)] {
        args.set(name, us(time));
    }
    for (name, n) in [("period", 16), ("chain", 3), ("attempts", 7), ("cwmin", 15), ("cwmax", 1023)] {
        args.set(name, Value::Integer(n));
    }
    for (name, x) in [("least", 0.1), ("most", 0.9), ("sure", 0.75), ("known", 0.95)] {
        args.set(name, Value::Number(x));
    }
    args
}

fn minstrel(rates: &[Rate]) -> Box<dyn RateControl> {
    build(&args(), &Setting { rates, given: 0, per: &|_, _| 0.0, goodput: &|_, _| 0.0 }).unwrap()
}

/// minstrel_ht.h has 0x1499 and -0x092e for the two outputs.
#[test]
fn the_filter_has_the_weights_of_the_kernel() {
    assert_eq!(Filter::of_period(16.0).weights, [4096 - 0x1499 + 0x092e, 0x1499, -0x092e]);
}

/// By hand: from 4096 with the input 0 (taken as 1): (1173 + 5273 * 4096 - 2350 * 4096) >> 12 = 2923, then (1173 + 5273
/// * 2923 - 2350 * 4096) >> 12 = 1413.
#[test]
fn the_filter_follows_by_hand() {
    let f = Filter::of_period(16.0);
    assert_eq!(f.next(0, 0, 3000), (3000, 3000));
    assert_eq!(f.next(4096, 4096, 0), (2923, 4096));
    assert_eq!(f.next(2923, 4096, 0), (1413, 2923));
    assert_eq!(f.next(4096, 4096, 4096), (4096, 4096));
}

/// By hand, with backoffs of 67.5, 139.5, 283.5, 571.5, 1147.5, 2299.5, 4603.5 us: exchanges of 308 us take 1.4 ms for
/// three, 2.3 for four, 3.7 for five and 6.4 for six; exchanges of 2 ms take 6.5 ms for three.
#[test]
fn attempts_fill_six_milliseconds() {
    let windows = (15, 1023);
    let retry = Retry { segment: Span::from_millis(6), attempts: 7, slot: Span::from_micros(9), windows };
    assert_eq!(retry.attempts(Span::from_micros(308)), 5);
    assert_eq!(retry.attempts(Span::from_millis(2)), 2);
    assert_eq!(Retry { segment: Span::from_secs(1), ..retry }.attempts(Span::from_micros(308)), 7);
}

/// Rates 0 to 4 of 8 (10 to 50 Mb/s) always work, the others never. The chain has the best, the second best (40 Mb/s),
/// and the robust rate: the fastest one that takes more than 19/16 of the time of the second best, 30 Mb/s.
#[test]
fn the_chain_has_the_best_the_second_best_and_the_robust_rate() {
    let (mut control, mut bench) = (minstrel(&rates(8, 1)), Bench::new());
    for _ in 0..20_000 {
        bench.exchange(&mut *control, 16, Span::from_micros(500), |rate| if rate <= 4 { 16 } else { 0 });
    }
    // The trial of this interval is taken, so the next chain is the usual one.
    bench.choose(&mut *control);
    let chain = bench.choose(&mut *control);
    assert!(!chain.trial);
    let mut used: Vec<RateId> = (0..20).map(|k| chain.rate(k)).collect();
    used.dedup();
    assert_eq!(used, [4, 3, 2]);
}

/// The share of arrivals passes the filter, so a dead rate takes some windows.
#[test]
fn a_rate_that_dies_is_left_within_a_few_windows() {
    let (mut control, mut bench) = (minstrel(&rates(8, 1)), Bench::new());
    let lasts = Span::from_micros(500);
    for _ in 0..10_000 {
        bench.exchange(&mut *control, 16, lasts, |_| 16);
    }
    let start = bench.now;
    while bench.exchange(&mut *control, 16, lasts, |rate| if rate < 6 { 16 } else { 0 }) != 5 {}
    let took = bench.now - start;
    assert!(took < Span::from_millis(400), "{took}");
}

/// The first group up to 50 Mb/s works, of the second nothing.
#[test]
fn all_faster_rates_of_all_groups_are_tried_again_and_again() {
    let (mut control, mut bench) = (minstrel(&rates(10, 2)), Bench::new());
    let mut trials = Vec::new();
    for _ in 0..200_000 {
        let chain = bench.choose(&mut *control);
        let rate = chain.rate(0);
        let mpdus = if chain.trial { 1 } else { 16 };
        if chain.trial {
            trials.push(rate);
        }
        bench.now += Span::from_micros(100);
        let acked = if rate <= 4 { mpdus } else { 0 };
        bench.sent(&mut *control, Report { rate, mpdus, acked, dropped: 0, snr: None });
    }
    // At least 20 ms lie between two trials of a window of 50 ms, which begins with one: at most three a window.
    assert!((500..=1200).contains(&trials.len()), "{}", trials.len());
    // The second group has 20, 40, 60 Mb/s and more.
    for rate in (5..10).chain(12..20) {
        let n = trials.iter().filter(|t| **t == rate).count();
        assert!(n >= 10, "rate {rate}: {n}");
    }
}

/// The robust rate has two streams, which stop working: one of one stream replaces it before the window ends.
#[test]
fn a_robust_rate_of_two_streams_that_dies_falls_to_one_stream() {
    let (mut control, mut bench) = (minstrel(&rates(8, 2)), Bench::new());
    for _ in 0..20_000 {
        bench.exchange(&mut *control, 16, Span::from_micros(500), |_| 16);
    }
    bench.choose(&mut *control);
    let robust = bench.choose(&mut *control).rate(40);
    assert!(robust >= 8, "{robust}");
    bench.sent(&mut *control, Report { rate: robust, mpdus: 32, acked: 0, dropped: 0, snr: None });
    assert!(bench.choose(&mut *control).rate(40) < 8);
}
