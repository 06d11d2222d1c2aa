//! AARF: one rate up after a number of successes, one down after two failures in a row.
//!
//! The first attempt at a higher rate is a probe. If it fails, the rate falls back at once, and the next probe
//! needs twice as many successes. An aggregate succeeds if at least the share `success` of its MPDUs is acknowledged;
//! the source knows no aggregates.

use super::{Chain, RateControl, RateId, Report, Setting, ladder};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Lacage, Manshaei, Turletti 2004, IEEE 802.11 Rate Adaptation: A Practical Approach";
/// What it does.
pub const SUMMARY: &str = "Counts consecutive successes and failures: up after 10 successes, down after 2 failures. A \
    probe that fails doubles the successes that the next one needs.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("up", "consecutive successes after which the next rate is tried").default("10").range(1.0, 1e6),
    Param::integer("most", "bound of these successes as they double").default("50").range(1.0, 1e6),
    Param::integer("timer", "attempts after which the next rate is tried even without them")
        .default("15")
        .range(1.0, 1e6),
    Param::integer("factor", "factor of both numbers when a probe fails").default("2").range(1.0, 100.0),
    Param::integer("down", "consecutive failures after which the rate falls").default("2").range(1.0, 1e6),
    Param::fraction("success", "share of an aggregate's MPDUs that must arrive for a success")
        .default("50%")
        .range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("k", "place of the rate among the rates from slow to fast"),
    symbol("s", "successes in a row"),
    symbol("f", "failures in a row"),
    symbol("a", "attempts since the rate changed"),
    symbol("N_s", "successes in a row after which the next rate is tried; `up` at the start"),
    symbol("N_a", "attempts after which it is tried; `timer` at the start"),
    on("an attempt of which at least one MPDU, and at least the share `success`, is acknowledged"),
    eq("a ← a + 1", "Lacage et al. 2004"),
    eq("s ← s + 1", ""),
    eq("f ← 0", ""),
    eq("k ← k + 1", "").when(
        "`s ≥ N_s` or `a ≥ N_a`, unless it is the fastest; then `s`, `f` and `a` become 0, and the next attempt \
                  is a probe",
    ),
    on("any other attempt"),
    eq("a ← a + 1", ""),
    eq("f ← f + 1", ""),
    eq("s ← 0", ""),
    eq("N_s ← min(most, factor · N_s)", "").when("it is a probe"),
    eq("N_a ← factor · N_a", "").when("it is a probe"),
    eq("N_s ← up", "").when("it is no probe, and `f ≥ down`"),
    eq("N_a ← timer", "").when("it is no probe, and `f ≥ down`"),
    eq("k ← max(0, k − 1)", "").when("it is a probe, or `f ≥ down`; then `s`, `f` and `a` become 0"),
    on("a burst"),
    step(
        "rate `k` for the failures that are left until it falls, then each slower rate for `down` attempts",
        "Lacage et al. 2004",
    ),
];

/// Builds the rate control.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let count = |name| u32::try_from(args.integer(name)).unwrap_or(u32::MAX).max(1);
    let (up, timer) = (count("up"), count("timer"));
    Ok(Box::new(Aarf {
        up,
        most: count("most").max(up),
        timer,
        factor: count("factor"),
        down: count("down"),
        success: args.number("success"),
        ladder: ladder(setting.rates),
        at: 0,
        needed: up,
        timeout: timer,
        successes: 0,
        failures: 0,
        attempts: 0,
        probing: false,
    }))
}

#[derive(Debug)]
struct Aarf {
    up: u32,
    most: u32,
    timer: u32,
    factor: u32,
    down: u32,
    success: f64,
    /// The rates from slow to fast, and the place of the present one.
    ladder: Vec<RateId>,
    at: usize,
    /// Successes, or attempts, after which the next rate is tried.
    needed: u32,
    timeout: u32,
    /// Consecutive successes and failures, and attempts since the rate changed.
    successes: u32,
    failures: u32,
    attempts: u32,
    /// True before the first result at a rate that has just been raised.
    probing: bool,
}

impl RateControl for Aarf {
    /// Each later attempt of the chain has the rate that would follow if all earlier attempts failed.
    fn choose(&mut self, _: &mut Cx) -> Chain {
        let left = if self.probing { 1 } else { self.down - self.failures };
        let below = |n: usize| (self.ladder[self.at.saturating_sub(n)], attempts(self.down));
        Chain::new([(self.ladder[self.at], attempts(left)), below(1), below(2), below(3)])
    }

    fn sent(&mut self, _: &mut Cx, sent: &Report) {
        self.attempts += 1;
        if sent.acked > 0 && f64::from(sent.acked) >= self.success * f64::from(sent.mpdus) {
            self.successes += 1;
            self.failures = 0;
            self.probing = false;
            if (self.successes >= self.needed || self.attempts >= self.timeout) && self.at + 1 < self.ladder.len() {
                self.to(self.at + 1);
                self.probing = true;
            }
        } else {
            self.failures += 1;
            self.successes = 0;
            if self.probing {
                self.needed = self.needed.saturating_mul(self.factor).min(self.most);
                self.timeout = self.timeout.saturating_mul(self.factor);
                self.to(self.at.saturating_sub(1));
            } else if self.failures >= self.down {
                self.needed = self.up;
                self.timeout = self.timer;
                self.to(self.at.saturating_sub(1));
            }
        }
    }
}

/// A number of attempts in a chain.
fn attempts(n: u32) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

impl Aarf {
    fn to(&mut self, at: usize) {
        self.at = at;
        (self.successes, self.failures, self.attempts) = (0, 0, 0);
        self.probing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, rates};
    use super::*;
    use crate::registry::Value;
    use crate::time::Span;

    fn aarf() -> Box<dyn RateControl> {
        let mut args = Args::default();
        for (name, value) in [("up", 10), ("most", 50), ("timer", 15), ("factor", 2), ("down", 2)] {
            args.set(name, Value::Integer(value));
        }
        args.set("success", Value::Number(0.5));
        build(&args, &Setting { rates: &rates(4, 1), given: 0, per: &|_, _| 0.0, goodput: &|_, _| 0.0 }).unwrap()
    }

    /// The rates of the attempts for this pattern: `+` all MPDUs arrive, `-` none.
    fn trace(results: &str) -> Vec<RateId> {
        let (mut control, mut bench) = (aarf(), Bench::new());
        let attempt = |c: char| {
            let arrives = u16::from(c == '+') * 8;
            bench.exchange(&mut *control, 8, Span::from_millis(1), |_| arrives)
        };
        results.chars().map(attempt).collect()
    }

    fn repeated(parts: &[(RateId, usize)]) -> Vec<RateId> {
        parts.iter().flat_map(|(rate, n)| core::iter::repeat_n(*rate, *n)).collect()
    }

    /// By hand: ten successes, a probe that fails; 20 successes, a probe that fails; 40, then 50 (the bound).
    #[test]
    fn failed_probes_double_the_successes_that_are_needed() {
        let pattern = [10, 20, 40, 50, 50].map(|n| "+".repeat(n) + "-").concat();
        let want = repeated(&[10, 20, 40, 50, 50].map(|n| [(0, n), (1, 1)]).concat());
        // The timer of 15, 30, 60, 120 attempts never comes first here.
        assert_eq!(trace(&pattern), want);
    }

    /// By hand: two levels up, single failures change nothing, two in a row fall and reset the number to ten.
    #[test]
    fn two_failures_in_a_row_fall_back() {
        let up = "+".repeat(10);
        let pattern = [&up, "-", &"+".repeat(20), "+-+--", &up, "+"].concat();
        let want = repeated(&[(0, 10), (1, 1), (0, 20), (1, 5), (0, 10), (1, 1)]);
        assert_eq!(trace(&pattern), want);
    }

    /// By hand: success, failure, ... never has ten in a row; the fifteenth attempt is a success and raises the rate.
    #[test]
    fn the_timer_raises_a_rate_that_never_has_enough_successes() {
        assert_eq!(trace(&"+-".repeat(8)), repeated(&[(0, 15), (1, 1)]));
    }

    /// The rates of a burst that fails again and again are those that single attempts would have.
    #[test]
    fn a_chain_follows_the_failures() {
        for successes in [0, 10, 25] {
            let (mut control, mut bench) = (aarf(), Bench::new());
            for _ in 0..successes {
                bench.exchange(&mut *control, 8, Span::from_millis(1), |_| 8);
            }
            let chain = bench.choose(&mut *control);
            for k in 0..7 {
                assert_eq!(chain.rate(k), bench.exchange(&mut *control, 8, Span::from_millis(1), |_| 0));
            }
        }
    }

    #[test]
    fn half_an_aggregate_is_a_success() {
        let (mut control, mut bench) = (aarf(), Bench::new());
        let mut send = |acked: u16| bench.exchange(&mut *control, 8, Span::from_millis(1), |_| acked);
        (0..10).for_each(|_| assert_eq!(send(4), 0));
        assert_eq!([send(3), send(8)], [1, 0]);
    }
}
