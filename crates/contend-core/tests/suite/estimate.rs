//! Runs every estimator over the vectors in `vectors/estimate/<name>/` (format: `vectors/estimate/README.md`), and
//! compares the integers with the real-valued formulas.

use crate::common::{ack, defaults, each_line, each_vector, time};
use contend_core::cc::{Ack, Window};
use contend_core::estimate::filter::Filter;
use contend_core::estimate::{Build, Estimator, REGISTRY};
use contend_core::registry::{Entry, Value, find};
use contend_core::{Span, Time};
use proptest::prelude::*;

#[test]
fn every_estimator_follows_its_vectors() {
    each_vector("estimate", REGISTRY, run);
}

fn run(entry: &Entry<Build>, text: &str, file: &str) {
    let mut w = Window::default();
    let mut made = None;
    each_line(entry, text, file, |place, args, words, want| match words {
        ["start", "tick", tick] => w.tick_ns = time(tick).as_nanos() as u32,
        [at, step @ ..] => {
            let estimator = made.get_or_insert_with(|| (entry.build)(args).unwrap());
            let now = Time::ZERO + time(at);
            match step {
                ["quiet"] => {}
                ["ack" | "dup", ..] => estimator.on_ack(now, &w, &ack(step).unwrap()),
                _ => panic!("{place}: cannot be read"),
            }
            assert_eq!(estimator.rate(now), want.parse::<u64>().unwrap(), "{place}");
        }
        [] => {}
    });
}

/// A random acknowledgment: microseconds since the last one, segments delivered, smoothed round-trip time and deviation
/// in microseconds.
type Step = (u64, u32, u32, u32);

fn stream() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![2 => Just(0u64), 6 => 50u64..20_000, 1 => 50u64..3_000_000];
    prop::collection::vec((gap, 0u32..4, 1_000u32..2_000_000, 0u32..500_000), 2..300)
}

fn estimator(name: &str, set: &[(&'static str, Value)]) -> Box<dyn Estimator> {
    let entry = find(REGISTRY, name).unwrap();
    let mut args = defaults(entry);
    set.iter().for_each(|(k, v)| args.set(k, v.clone()));
    (entry.build)(&args).unwrap()
}

/// The estimates after each step, with arrival times and with timestamps of 1 us.
fn outcome(mut e: Box<dyn Estimator>, steps: &[Step]) -> Vec<f64> {
    let w = Window { mss: 1000, tick_ns: 1000, ..Window::default() };
    let mut t = 5_000_000;
    let rate = |&(gap, delivered, srtt_us, rttvar_us): &Step| {
        t += gap;
        let now = Time::ZERO + Span::from_micros(t);
        let ack = Ack {
            acked: 1,
            delivered,
            srtt_us,
            rttvar_us,
            rtt_us: Some(srtt_us),
            tsval: Some(t as u32),
            ..Ack::default()
        };
        e.on_ack(now, &w, &ack);
        e.rate(now) as f64
    };
    steps.iter().map(rate).collect()
}

/// The real-valued recursions R -> R' from (R, b', Delta, L, tau) in seconds and bytes. Recursions that divide by Delta
/// wait for a Delta above zero.
fn real(steps: &[Step], waits: bool, next: impl Fn(f64, f64, f64, f64, f64) -> f64) -> Vec<f64> {
    let (mut r, mut sample, mut held) = (0.0, 0.0, 0.0);
    let mut out = Vec::new();
    for (i, &(gap, delivered, srtt, rttvar)) in steps.iter().enumerate() {
        let (delta, bytes, tau) =
            (gap as f64 / 1e6, f64::from(delivered) * 1e3 + held, (f64::from(srtt) + f64::from(rttvar)) / 1e6);
        if i == 0 {
            sample = bytes / f64::from(srtt) * 1e6;
            r = sample;
        } else if gap == 0 && waits {
            held = bytes;
        } else {
            r = next(r, sample, delta, bytes, tau).max(0.0);
            (sample, held) = (bytes / delta, 0.0);
        }
        out.push(r);
    }
    out
}

/// Each step may round down by 1/256 B/s, and by twice that in the low-passes. The filter remembers the rounding of
/// `gain` steps. The final rounding is 1 B/s.
fn close(name: &str, integer: &[f64], real: &[f64], gain: f64) -> Result<(), TestCaseError> {
    let top = real.iter().fold(0.0f64, |a, &b| a.max(b));
    for (i, (a, b)) in integer.iter().zip(real).enumerate() {
        prop_assert!(*a <= b + 1e-9 * top + 1e-6, "{}: step {}: {} is above {}", name, i, a, b);
        prop_assert!(b - a <= 1.0 + gain * 2.0 / 256.0 + 1e-9 * top, "{}: step {}: {} for {}", name, i, a, b);
    }
    Ok(())
}

fn type_1(r: f64, _: f64, delta: f64, bytes: f64, tau: f64) -> f64 {
    (tau * r + bytes) / (delta + tau)
}
fn type_2(r: f64, last: f64, delta: f64, bytes: f64, tau: f64) -> f64 {
    let c = 2.0 * tau / delta;
    ((c - 1.0) * r + bytes / delta + last) / (c + 1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_integers_are_the_real_filters_but_for_their_rounding(steps in stream()) {
        let n = steps.len() as f64;
        for name in ["are", "ts_are"] {
            close(name, &outcome(estimator(name, &[]), &steps), &real(&steps, false, type_1), n)?;
        }
        for (samples, past) in [(10, 19.0), (15, 29.0)] {
            let constant =
                real(&steps, true, |r, last, delta, bytes, _| (past * r + bytes / delta + last) / (past + 2.0));
            let nr = estimator("westwood_nr", &[("samples", Value::Integer(samples))]);
            // 19/21 remembers 10.5 steps, 29/31 15.5.
            close("westwood_nr", &outcome(nr, &steps), &constant, past / 2.0 + 1.0)?;
        }
        let window = real(&steps, false, |r, _, delta, bytes, _| type_1(r, 0.0, delta, bytes, 0.1));
        let tsw = &outcome(estimator("tsw", &[]), &steps);
        // The start value is one window, not one round trip. The difference decays like everything else.
        let decay = |i: usize| steps[1..=i].iter().map(|s| 0.1 / (0.1 + s.0 as f64 / 1e6)).product::<f64>();
        let first = f64::from(steps[0].1) * (1e4 - 1e9 / f64::from(steps[0].2));
        let window: Vec<f64> = window.iter().enumerate().map(|(i, r)| r + first * decay(i)).collect();
        close("tsw", tsw, &window, n)?;
    }

    #[test]
    fn the_second_filter_rounds_twice_and_stops_at_nothing(steps in stream()) {
        let n = steps.len() as f64;
        for name in ["are", "ts_are"] {
            let second = outcome(estimator(name, &[("filter", Value::Integer(2))]), &steps);
            let real = real(&steps, true, type_2);
            let top = real.iter().fold(0.0f64, |a, &b| a.max(b));
            for (a, b) in second.iter().zip(&real) {
                // If the weight of the past is negative, rounding the past down raises the estimate.
                prop_assert!((a - b).abs() <= 1.0 + 2.0 * n / 256.0 + 1e-9 * top, "{}: {} for {}", name, a, b);
            }
        }
    }

    #[test]
    fn the_series_of_the_exponential_is_the_exponential(steps in stream()) {
        let real = real(&steps, false, |r, _, delta, bytes, _| {
            let x = delta / 0.1;
            let g = if x == 0.0 { 1.0 } else { -libm::expm1(-x) / x };
            bytes / 0.1 * g + libm::exp(-x) * r
        });
        let first = f64::from(steps[0].1) * (1e4 - 1e9 / f64::from(steps[0].2));
        let decay = |i: usize| libm::exp(-(steps[1..=i].iter().map(|s| s.0).sum::<u64>() as f64) / 1e5);
        let real: Vec<f64> = real.iter().enumerate().map(|(i, r)| r + first * decay(i)).collect();
        let top = real.iter().fold(0.0f64, |a, &b| a.max(b));
        for (a, b) in outcome(estimator("csfq", &[]), &steps).iter().zip(&real) {
            prop_assert!((a - b).abs() <= 1.0 + 2.0 * real.len() as f64 / 256.0 + 1e-6 * top, "{a} for {b}");
        }
    }

    #[test]
    fn over_timestamps_the_estimate_is_never_above_the_links_rate(
        arrivals in prop::collection::vec((0u64..50_000, any::<bool>()), 2..300),
        capacity in 10_000u64..10_000_000,
        (srtt, rttvar_us) in (1u32..2_000_000, 0u32..500_000),
        literal in any::<bool>(),
    ) {
        // Segments of 1000 B leave a link of `capacity` bytes per second, at least one segment time apart. Some of
        // their ACKs are lost.
        let segment = 1_000_000_000u64.div_ceil(capacity);
        let count = if literal { "literal" } else { "westwood" };
        let mut e = estimator("ts_are", &[("count", Value::Word(count.into()))]);
        let w = Window { mss: 1000, tick_ns: 1000, ..Window::default() };
        let (mut t, mut covered) = (0u64, 0);
        for (i, (gap, lost)) in arrivals.into_iter().enumerate() {
            t += segment + gap;
            covered += 1;
            if i > 0 && lost {
                continue;
            }
            let ack = Ack {
                acked: covered, delivered: covered, srtt_us: srtt.max(segment as u32), rttvar_us,
                tsval: Some(t as u32), ..Ack::default()
            };
            e.on_ack(Time::ZERO, &w, &ack);
            covered = 0;
            // Xu 2005 eq. 6.8: the receiving rate is at most the capacity of the forward path.
            prop_assert!(e.rate(Time::ZERO) <= capacity, "{} over {}", e.rate(Time::ZERO), capacity);
        }
    }
}

/// C5: T_f = Delta / (ln(Delta + tau) - ln tau), with the values of the specification for tau = 0.1 s.
#[test]
fn the_time_constant_of_the_sliding_window_grows_with_both_times() {
    let constant = |delta: f64, tau: f64| delta / (libm::log(delta + tau) - libm::log(tau));
    for (delta_ms, t_f) in [(1u64, 0.10050), (10, 0.10492), (50, 0.12332), (100, 0.14427), (500, 0.27906)] {
        let (delta, tau) = (delta_ms as f64 / 1e3, 0.1);
        assert!((constant(delta, tau) - t_f).abs() < 5e-6, "{delta}");
        // Starting at 1 GB/s, n steps without arrivals: R = R0 e^(-n Delta / T_f).
        let mut f = Filter::default();
        f.start(1_000_000_000, 1_000_000);
        let (mut real, n) = (1e9, 8);
        for _ in 0..n {
            f.sliding_window(0, delta_ms * 1000, 100_000);
            real = type_1(real, 0.0, delta, 0.0, tau);
        }
        let of = |r: f64| f64::from(n) * delta / (libm::log(1e9) - libm::log(r));
        assert!((of(real) / constant(delta, tau) - 1.0).abs() < 1e-6, "{delta}: {}", of(real));
        // The integer form has lost at most n/256 + 1 B/s of the rest.
        let bound = (1.0 + f64::from(n) / 256.0) / real;
        assert!(
            (of(f.rate() as f64) / constant(delta, tau) - 1.0).abs() < 1e-6 + bound,
            "{delta}: {}",
            of(f.rate() as f64)
        );
    }
    for (a, b) in [((0.01, 0.1), (0.02, 0.1)), ((0.01, 0.1), (0.01, 0.2))] {
        assert!(constant(a.0, a.1) < constant(b.0, b.1));
    }
}

#[test]
fn an_estimator_fits_beside_a_controllers_own_state() {
    use contend_core::estimate::{are::Are, westwood::Westwood, westwood_nr::WestwoodNr, westwood_plus::WestwoodPlus};
    let sizes = [size_of::<Are>(), size_of::<Westwood>(), size_of::<WestwoodNr>(), size_of::<WestwoodPlus>()];
    assert!(sizes.iter().all(|&n| n <= 64), "{sizes:?}");
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    for entry in REGISTRY {
        let mut e = (entry.build)(&defaults(entry)).unwrap();
        let w = Window { mss: 65_535, tick_ns: u32::MAX, ..Window::default() };
        for (i, at) in [0u64, 0, 1, 1_000, u64::MAX - 1, u64::MAX].into_iter().enumerate() {
            let ack = Ack {
                acked: u32::MAX,
                delivered: u32::MAX,
                srtt_us: u32::MAX,
                rttvar_us: u32::MAX,
                rtt_us: Some(1),
                tsval: Some((i as u32).wrapping_mul(1_000_000_007)),
                ..Ack::default()
            };
            for _ in 0..3 {
                e.on_ack(Time::from_nanos(at), &w, &ack);
                assert!(e.rate(Time::NEVER) <= 1 << 31, "{}", entry.name);
            }
        }
    }
}
