//! Delay differential equations, solved by Heun's method on a grid that contains all delays.
//!
//! Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", 2nd ed., §II.1 (Heun) and §II.17 (method of
//! steps).
//!
//! Differences from the source:
//! - The step is fixed, and every delay is rounded to a whole number of steps. No interpolation is needed. The error is
//!   of second order in the step, and a delay is wrong by at most half a step.
//! - The history before time 0 is constant.

use crate::Invalid;
use crate::invalid::{invalid, positive};

/// The instants 0, h, 2h, ... at which a course is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// h, the step, s.
    pub step_s: f64,
    /// Number of steps after the instant 0.
    pub steps: usize,
}

/// The largest number of values that a course may contain.
pub const NUMBERS_LIMIT: usize = 20_000_000;

/// The state of the system at one instant, for use by the right-hand side.
pub struct Instant<'a> {
    now: &'a [f64],
    past: &'a [Vec<f64>],
    /// Index of this instant on the grid.
    at: usize,
    lags: &'a [usize],
}

impl Instant<'_> {
    /// Component `i` at this instant; NaN if there is no such component.
    pub fn now(&self, i: usize) -> f64 {
        self.now.get(i).copied().unwrap_or(f64::NAN)
    }

    /// Component `i` before the `lag`-th delay; NaN if there is no such delay or component.
    pub fn ago(&self, lag: usize, i: usize) -> f64 {
        let then = self.lags.get(lag).and_then(|l| self.past.get(self.at.saturating_sub(*l)));
        then.and_then(|s| s.get(i)).copied().unwrap_or(f64::NAN)
    }
}

/// The states at every instant of `grid`. Before time 0 the state was constant at `start`. `slope` writes the
/// derivative of each component, per second.
///
/// Returns an error if the step is not above 0, if a delay rounds to zero steps, or if the course has more than
/// [`NUMBERS_LIMIT`] numbers.
pub fn integrate(
    start: &[f64],
    lags_s: &[f64],
    grid: &Grid,
    slope: impl Fn(&Instant<'_>, &mut [f64]),
) -> Result<Vec<Vec<f64>>, Invalid> {
    let h = positive("step_s", grid.step_s)?;
    if grid.steps.saturating_add(1).saturating_mul(start.len()) > NUMBERS_LIMIT {
        return Err(invalid("steps", grid.steps, "fewer: a course has at most 20 million numbers"));
    }
    let mut lags = Vec::with_capacity(lags_s.len());
    for &lag in lags_s {
        let steps = (positive("delay", lag)? / h).round();
        if !(1.0..=1e9).contains(&steps) {
            return Err(invalid("step_s", h, "at most each delay, and more than a billionth of it"));
        }
        lags.push(steps as usize);
    }
    let mut past = Vec::with_capacity(grid.steps + 1);
    past.push(start.to_vec());
    let (mut first, mut second) = (vec![0.0; start.len()], vec![0.0; start.len()]);
    for at in 0..grid.steps {
        let now = past[at].clone();
        slope(&Instant { now: &now, past: &past, at, lags: &lags }, &mut first);
        let ahead: Vec<f64> = now.iter().zip(&first).map(|(x, dx)| x + h * dx).collect();
        slope(&Instant { now: &ahead, past: &past, at: at + 1, lags: &lags }, &mut second);
        past.push(now.iter().zip(first.iter().zip(&second)).map(|(x, (a, b))| x + h * (a + b) / 2.0).collect());
    }
    Ok(past)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn without_a_past_it_is_an_exponential_to_second_order() {
        let error = |n: usize| {
            let s =
                integrate(&[1.0], &[], &Grid { step_s: 1.0 / n as f64, steps: n }, |at, d| d[0] = -at.now(0)).unwrap();
            (s[n][0] - 1.0 / std::f64::consts::E).abs()
        };
        assert!(error(100) < 1e-5);
        let order = error(100) / error(200);
        assert!((order - 4.0).abs() < 0.1, "{order}");
    }

    #[test]
    fn the_method_of_steps_gives_the_polynomials_of_the_first_delays() {
        // x' = -x(t-1) with x = 1 before 0. The solution is 1-t until t = 1, then 1-t+(t-1)^2/2 until t = 2.
        let s = integrate(&[1.0], &[1.0], &Grid { step_s: 0.01, steps: 200 }, |at, d| d[0] = -at.ago(0, 0)).unwrap();
        for (i, x) in s.iter().enumerate() {
            let t = i as f64 / 100.0;
            let want = 1.0 - t + if t > 1.0 { (t - 1.0) * (t - 1.0) / 2.0 } else { 0.0 };
            assert!((x[0] - want).abs() < 1e-4, "t = {t}: {} {want}", x[0]);
        }
    }

    #[test]
    fn what_cannot_be_integrated_is_an_error() {
        let go =
            |lag: f64, step_s: f64, steps: usize| integrate(&[1.0], &[lag], &Grid { step_s, steps }, |_, d| d[0] = 0.0);
        assert_eq!(go(0.1, 0.0, 5).unwrap_err().what, "step_s");
        assert_eq!(go(0.1, 1.0, 5).unwrap_err().what, "step_s");
        assert_eq!(go(-0.1, 1.0, 5).unwrap_err().what, "delay");
        assert_eq!(go(1.0, 1.0, usize::MAX).unwrap_err().what, "steps");
    }
}
