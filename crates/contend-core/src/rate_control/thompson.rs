//! Thompson sampling: draws how well each rate may work, and uses the rate that is best by this draw.
//!
//! The share of MPDUs that arrive at a rate has a Beta distribution: one more than the MPDUs that arrived, one more
//! than those that did not. Old MPDUs count less: both numbers decay with the time constant `memory`. For each burst a
//! share is drawn for each rate, from the fastest on, until no slower rate can have a higher throughput. A rate that
//! failed often is drawn low, one that was rarely tried is sometimes drawn high. If the first attempt fails, the
//! others use the rate with the highest expected throughput.

use super::{Chain, Rate, RateControl, RateId, Report, Setting};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::vec::Vec;
use rand::RngExt as _;

/// Source of the algorithm.
pub const CITE: &str = "Thompson 1933; Gupta, Ganesan, Sadhu 2018; discount: Raj, Kalyani 2017";
/// What it does.
pub const SUMMARY: &str = "Draws the share of arrivals of each rate from what it has seen, and uses the rate with the \
    highest throughput of the draw.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("memory", "time constant with which old bursts are forgotten").default("1s").range(1e-3, 1e4),
    Param::time("overhead", "time of a burst beside its data").default("100us").range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("i", "number of a rate"),
    symbol("a_i", "MPDUs that arrived at rate `i`, weighted, plus 1"),
    symbol("l_i", "MPDUs that were lost at rate `i`, weighted, plus 1"),
    symbol("t_i", "time that an MPDU of 1200 B adds to a burst at rate `i`"),
    symbol("m", "mean MPDUs of an attempt; 1 at the start"),
    symbol("n", "MPDUs of the attempt"),
    symbol("n_a", "those of them that were acknowledged"),
    symbol("θ_i", "share of arrivals of rate `i`, drawn"),
    on("the result of an attempt at rate `i`"),
    eq("m ← m + (n − m) / 16", "our choice"),
    eq("a_i ← a_i + n_a", "Thompson 1933"),
    eq("l_i ← l_i + n − n_a", ""),
    on("each hundredth of `memory`, for every `i`"),
    eq("a_i ← 1 + (a_i − 1) · exp(−1 / 100)", "Raj and Kalyani 2017"),
    eq("l_i ← 1 + (l_i − 1) · exp(−1 / 100)", ""),
    on("a burst"),
    step("`θ_i` is drawn from the Beta distribution with the parameters `a_i` and `l_i`", "Thompson 1933"),
    step("the first attempt has the rate with the largest `θ_i / (overhead / m + t_i)`", "Gupta et al. 2018"),
    step("the others have the rate with the largest `a_i / (a_i + l_i) / (overhead / m + t_i)`", "our choice"),
];

/// Transmissions are forgotten in steps of this part of `memory`.
const STEPS: u64 = 100;

/// Builds the rate control.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let step = args.time("memory") / STEPS;
    let arm = |(id, rate): (RateId, &Rate)| Arm { id, airtime: rate.airtime().as_secs_f64(), arrived: 1.0, lost: 1.0 };
    let mut arms: Vec<Arm> = (0..).zip(setting.rates).map(arm).collect();
    arms.sort_by(|a, b| a.airtime.total_cmp(&b.airtime));
    Ok(Box::new(Thompson {
        step,
        kept: libm::exp(-1.0 / STEPS as f64),
        overhead: args.time("overhead").as_secs_f64(),
        arms,
        mean_mpdus: 1.0,
        next_step: Time::ZERO + step,
    }))
}

/// A rate.
#[derive(Debug)]
struct Arm {
    id: RateId,
    /// Seconds that an MPDU adds to a burst.
    airtime: f64,
    /// The parameters of the Beta distribution: one more than the weighted numbers of MPDUs that arrived and that were
    /// lost.
    arrived: f64,
    lost: f64,
}

#[derive(Debug)]
struct Thompson {
    /// Time after which the numbers are multiplied with `kept`.
    step: Span,
    kept: f64,
    /// Seconds.
    overhead: f64,
    /// The rates from fast to slow.
    arms: Vec<Arm>,
    /// Mean number of MPDUs in an attempt.
    mean_mpdus: f64,
    next_step: Time,
}

impl RateControl for Thompson {
    fn choose(&mut self, cx: &mut Cx) -> Chain {
        let drawn = self.best(|arm| beta(cx.rng, arm.arrived, arm.lost));
        let expected = self.best(|arm| arm.arrived / (arm.arrived + arm.lost));
        Chain::new([(drawn, 1), (expected, 1)])
    }

    fn sent(&mut self, cx: &mut Cx, sent: &Report) {
        self.mean_mpdus += (f64::from(sent.mpdus) - self.mean_mpdus) / 16.0;
        self.forget(cx.now);
        if let Some(arm) = self.arms.iter_mut().find(|a| a.id == sent.rate) {
            arm.arrived += f64::from(sent.acked);
            arm.lost += f64::from(sent.mpdus - sent.acked);
        }
    }
}

impl Thompson {
    /// The rate with the highest throughput, where `share` returns the share of an arm's MPDUs that arrive. It is
    /// called only for rates that can still have the highest throughput.
    fn best(&self, mut share: impl FnMut(&Arm) -> f64) -> RateId {
        let mut best = (0.0, 0);
        for arm in &self.arms {
            let highest = 1.0 / (self.overhead / self.mean_mpdus + arm.airtime);
            if highest <= best.0 {
                break;
            }
            let throughput = share(arm) * highest;
            if throughput > best.0 {
                best = (throughput, arm.id);
            }
        }
        best.1
    }

    /// Lets the weights decay up to `now`.
    fn forget(&mut self, now: Time) {
        if now < self.next_step {
            return;
        }
        let steps = 1 + (now - self.next_step).div_floor(self.step);
        self.next_step += self.step * steps;
        let kept = libm::pow(self.kept, steps as f64);
        for arm in &mut self.arms {
            arm.arrived = 1.0 + (arm.arrived - 1.0) * kept;
            arm.lost = 1.0 + (arm.lost - 1.0) * kept;
        }
    }
}

/// A draw from the Beta distribution; `a` and `b` are at least 1.
fn beta(rng: &mut Rng, a: f64, b: f64) -> f64 {
    let (x, y) = (gamma(rng, a), gamma(rng, b));
    x / (x + y)
}

/// A draw from the Gamma distribution with scale 1 and a shape of at least 1 (Marsaglia, Tsang 2000).
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = 1.0 + c * x;
        let v = v * v * v;
        let u = 1.0 - rng.random::<f64>();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// A draw from the standard normal distribution (Box, Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(2.0 * core::f64::consts::PI * angle)
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, rates};
    use super::*;
    use crate::registry::Value;
    use rand::SeedableRng as _;

    /// Mean a / (a + b) and variance ab / ((a + b)^2 (a + b + 1)), each within four standard deviations of 100,000
    /// draws.
    #[test]
    fn draws_have_the_moments_of_the_beta_distribution() {
        let mut rng = Rng::seed_from_u64(5);
        for (a, b) in [(1.0, 1.0), (1.0, 8.5), (30.0, 2.0), (500.0, 500.0)] {
            let draws: Vec<f64> = (0..100_000).map(|_| beta(&mut rng, a, b)).collect();
            let mean = draws.iter().sum::<f64>() / 1e5;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5;
            let (m, v) = (a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)));
            assert!((mean - m).abs() < 4.0 * libm::sqrt(v / 1e5), "Beta({a}, {b}): mean {mean}, not {m}");
            assert!((variance / v - 1.0).abs() < 0.04, "Beta({a}, {b}): variance {variance}, not {v}");
        }
    }

    fn thompson() -> Box<dyn RateControl> {
        let mut args = Args::default();
        args.set("memory", Value::Time(Span::from_secs(1)));
        args.set("overhead", Value::Time(Span::from_micros(100)));
        build(&args, &Setting { rates: &rates(8, 1), given: 0, per: &|_, _| 0.0, goodput: &|_, _| 0.0 }).unwrap()
    }

    /// Rates 0 to 4 always work, the faster ones never: 4 is used for nearly all bursts. When 6 is the limit
    /// then, it is found.
    #[test]
    fn it_finds_the_fastest_rate_that_works_and_notices_a_change() {
        let (mut control, mut bench) = (thompson(), Bench::new());
        let mut used = |works: RateId, n: usize| {
            let lasts = Span::from_micros(300);
            let sent = |_| bench.exchange(&mut *control, 1, lasts, |rate| u16::from(rate <= works));
            (0..n).map(sent).filter(|rate| *rate == works).count()
        };
        used(4, 1_000);
        let share = used(4, 20_000);
        assert!(share > 19_000, "{share}");
        used(6, 10_000);
        let share = used(6, 20_000);
        assert!(share > 19_000, "{share}");
    }
}
