//! The backoff density of two stations that wastes the least channel time, in continuous time.
//!
//! Starzetz 2006 §8.1.2, eqs. 8.15-8.19, Fig. 8.1. The window has length 1; a collision costs T windows.
//!
//! Differences from the source: the source gives no solution of eq. 8.17 and calls it complicated. Here eq. 8.17 is
//! solved with real Bessel functions.

use crate::Invalid;
use crate::bessel::{scaled_i, scaled_k};
use crate::invalid::{invalid, positive, probability};

/// c(t) and p(t) of the backoff at time t, in windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    /// c, the cumulative distribution: the probability of a backoff of at most t.
    pub cdf: f64,
    /// p, the density of the backoff at t.
    pub pdf: f64,
}

/// The optimum of two stations when waiting before a collision costs nothing, for T = `collision` windows. Returns an
/// error unless T is above 0 and t is in 0..=1.
pub fn without_wait(collision: f64, t: f64) -> Result<At, Invalid> {
    let (root, t) = (cost(collision)?.sqrt(), probability("t", t)?);
    // Starzetz 2006 eq. 8.19 in the form c = 1 - sinh((1-t)/sqrt T)/sinh(1/sqrt T).
    let (rest, all) = ((1.0 - t) / root, 1.0 / root);
    // sinh and cosh, each divided by the sinh of a larger argument, without overflow.
    let fall = libm::exp(rest - all);
    let below = -libm::expm1(-2.0 * all);
    let (less, more) = (-libm::expm1(-2.0 * rest), 1.0 + libm::exp(-2.0 * rest));
    Ok(At { cdf: 1.0 - fall * less / below, pdf: fall * more / below / root })
}

/// The optimum of two stations under all terms of eq. 8.15, for T = `collision` windows. Errors: see [`without_wait`].
pub fn with_wait(collision: f64, t: f64) -> Result<At, Invalid> {
    let (cost, t) = (cost(collision)?, probability("t", t)?);
    // Starzetz 2006 eq. 8.17 has the real solution 1 - c = a I0(z) + b K0(z) with z = 2 sqrt(t + T). The conditions
    // c(0) = 0 and c(1) = 1 determine a and b.
    let z = |t: f64| 2.0 * (t + cost).sqrt();
    let (first, last, here) = (z(0.0), z(1.0), z(t));
    let ((i_last, _), (k_last, _)) = (scaled_i(last), scaled_k(last));
    // K0(last) I0(x) - I0(last) K0(x), and its derivative. The exponents of the scale factors differ by at most 2.
    let both = |x: f64| {
        let ((i0, i1), (k0, k1)) = (scaled_i(x), scaled_k(x));
        let (up, down) = (libm::exp(x - last), libm::exp(last - x));
        (k_last * i0 * up - i_last * k0 * down, k_last * i1 * up + i_last * k1 * down)
    };
    let ((value, slope), (norm, _)) = (both(here), both(first));
    // dz/dt = 2/z.
    Ok(At { cdf: 1.0 - value / norm, pdf: -slope / norm * 2.0 / here })
}

fn cost(collision: f64) -> Result<f64, Invalid> {
    positive("collision", collision)?;
    // Above this range both solutions are uniform to six digits, and differences lose their precision.
    if (1e-6..=1e6).contains(&collision) {
        Ok(collision)
    } else {
        Err(invalid("collision", collision, "between 1e-6 and 1e6 windows"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn near(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within, "{got} {want}");
    }

    #[test]
    fn the_density_without_wait_has_the_values_of_the_spec() {
        // Spec S4, T = 4: p at t = 0, 0.2 ... 1.
        for (k, want) in [1.0820, 1.0373, 1.0030, 0.9788, 0.9643, 0.9595].into_iter().enumerate() {
            near(without_wait(4.0, k as f64 / 5.0).unwrap().pdf, want, 0.000_051);
        }
        // Eq. 8.19 as printed.
        for (cost, t) in [(4.0_f64, 0.3_f64), (0.2, 0.9), (40.0, 0.01)] {
            let r = cost.sqrt();
            let c = 1.0 + (1.0 / r).cosh() * (t / r).sinh() / (1.0 / r).sinh() - (t / r).cosh();
            near(without_wait(cost, t).unwrap().cdf, c, 1e-12);
        }
    }

    #[test]
    fn the_density_with_wait_has_the_values_of_the_spec() {
        // Spec S4, T = 4.
        for (k, want) in [1.1979, 1.0988, 1.0187, 0.9544, 0.9035, 0.8638].into_iter().enumerate() {
            near(with_wait(4.0, k as f64 / 5.0).unwrap().pdf, want, 0.000_051);
        }
    }

    #[test]
    fn both_densities_solve_their_equations() {
        let h = 1e-4;
        for cost in [0.05, 1.0, 4.0, 300.0] {
            for f in [without_wait, with_wait] {
                near(f(cost, 0.0).unwrap().cdf, 0.0, 1e-12);
                near(f(cost, 1.0).unwrap().cdf, 1.0, 1e-12);
            }
            for t in [0.1, 0.5, 0.9] {
                let around = |f: fn(f64, f64) -> Result<At, Invalid>| {
                    let (a, b, c) = (f(cost, t - h).unwrap(), f(cost, t).unwrap(), f(cost, t + h).unwrap());
                    near((c.cdf - a.cdf) / (2.0 * h), b.pdf, 1e-5);
                    (b.cdf, b.pdf, (c.pdf - a.pdf) / (2.0 * h))
                };
                // Eq. 8.18: -T c'' + c - 1 = 0; eq. 8.17: -2c' - 2t c'' - 2T c'' - 2 + 2c = 0.
                let (c, _, second) = around(without_wait);
                near(-cost * second + c - 1.0, 0.0, 1e-5 * (1.0 + cost));
                let (c, first, second) = around(with_wait);
                near(-first - (t + cost) * second - 1.0 + c, 0.0, 1e-5 * (1.0 + cost));
            }
        }
    }

    #[test]
    fn impossible_costs_and_times_are_errors() {
        assert_eq!(with_wait(0.0, 0.5).unwrap_err().what, "collision");
        assert_eq!(with_wait(1e9, 0.5).unwrap_err().what, "collision");
        assert_eq!(without_wait(4.0, 1.5).unwrap_err().what, "t");
    }
}
