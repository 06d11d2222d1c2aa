//! Stability of a linear equation with one delay: x'(t) = K1 x(t) + K2 x(t-τ), with b = τ K1 and c = τ K2.
//!
//! Hayes 1950; Johari and Tan, "End-to-End Congestion Control for the Internet: Delays and Stability", 2001, lemma 2;
//! printed as lemma 6.1 of Jersey 2005. The root with the largest real part comes from Lambert's function W: Corless
//! and others, "On the Lambert W Function", 1996, §4.
//!
//! Differences from the sources: none.

use crate::Invalid;
use crate::invalid::invalid;
use std::f64::consts::{E, FRAC_PI_2, PI};

/// λ = b + c e^-λ, the characteristic equation in units of the delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hayes {
    /// b = τ K1.
    pub b: f64,
    /// c = τ K2.
    pub c: f64,
}

impl Hayes {
    /// The equation with the gains `k1`, `k2` in 1/s and the delay `tau_s`. All must be finite.
    pub fn of((k1, k2): (f64, f64), tau_s: f64) -> Result<Hayes, Invalid> {
        let (b, c) = (tau_s * k1, tau_s * k2);
        match [b, c].iter().find(|x| !x.is_finite()) {
            Some(x) => Err(invalid("gain x delay", x, "finite")),
            None => Ok(Hayes { b, c }),
        }
    }

    /// a1, the root of a = b tan a in (0, π); π/2 for b = 0. `None` for b >= 1: there is no root.
    pub fn a1(&self) -> Option<f64> {
        if self.b == 0.0 {
            return Some(FRAC_PI_2);
        }
        // a cos a - b sin a has slope 1 - b at 0 and value -π at π.
        (self.b < 1.0).then(|| root(0.0, PI, |a| a * libm::cos(a) - self.b * libm::sin(a) < 0.0))
    }

    /// The three conditions of lemma 6.1. All roots have negative real parts exactly if all three hold. The third
    /// condition holds only if the first holds.
    pub fn conditions(&self) -> [bool; 3] {
        let (b, c) = (self.b, self.c);
        [b < 1.0, b < -c, self.a1().is_some_and(|a1| -c < (a1 * a1 + b * b).sqrt())]
    }

    /// True if every small departure from the equilibrium dies away.
    pub fn stable(&self) -> bool {
        self.conditions() == [true; 3]
    }

    /// Re λ of the root with the largest real part. A departure grows by the factor e^Re λ in each delay.
    pub fn growth(&self) -> f64 {
        if self.c == 0.0 {
            return self.b;
        }
        // λ - b = W(z), z = c e^-b, on the principal branch.
        let z = self.c * libm::exp(-self.b);
        if z.is_infinite() || z.abs() < f64::MIN_POSITIVE {
            // z overflows or underflows. On overflow, e^-b dominates and the root comes from `large`. On underflow, the
            // delayed part is negligible and the root lies at b.
            return if z.is_infinite() { self.b + large(self.b, self.c) } else { self.b };
        }
        if z >= -1.0 / E {
            // The root is real: u e^u = z.
            return self.b + root(-1.0, z.max(1.0), |u| u * libm::exp(u) > z);
        }
        // The roots are a pair u ± iω: u = -ω cot ω and -z = ω e^u / sin ω. The right-hand side grows from 1/e to
        // infinity over (0, π).
        let cot = |w: f64| libm::cos(w) / libm::sin(w);
        let w = root(0.0, PI, |w| w / libm::sin(w) * libm::exp(-w * cot(w)) > -z);
        self.b - w * cot(w)
    }
}

/// Re W(c e^-b) for an argument too large for a floating-point number. W(z) = ln z - ln ln z + ... is computed by
/// iterating u = ln|c| - b - ln|u|.
fn large(b: f64, c: f64) -> f64 {
    let log = libm::log(c.abs()) - b;
    (0..60).fold(log, |u, _| log - libm::log(u.abs().max(1.0)))
}

/// The point between `low` and `high` from which on `above` holds.
fn root(low: f64, high: f64, above: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::delayed::{Grid, integrate};

    #[test]
    fn without_an_undelayed_part_the_bound_is_half_pi() {
        assert!(Hayes { b: 0.0, c: -1.57 }.stable());
        assert!(!Hayes { b: 0.0, c: -1.571 }.stable());
        assert!(!Hayes { b: 0.0, c: 0.1 }.stable());
        assert!(Hayes { b: 0.0, c: -FRAC_PI_2 }.growth().abs() < 1e-12);
    }

    #[test]
    fn a1_solves_its_equation() {
        for b in [-50.0, -3.0, -0.1, 0.1, 0.5, 0.99] {
            let a = Hayes { b, c: 0.0 }.a1().unwrap();
            assert!((a - b * a.tan()).abs() < 1e-9 * a.tan().abs().max(1.0) && a > 0.0 && a < PI, "{b} {a}");
        }
        assert_eq!(Hayes { b: 1.0, c: 0.0 }.a1(), None);
    }

    #[test]
    fn the_three_conditions_and_the_sign_of_lamberts_root_say_the_same() {
        for i in 0..=80 {
            for j in 0..=160 {
                let h = Hayes { b: f64::from(i) * 0.1 - 6.013, c: f64::from(j) * 0.1 - 8.027 };
                assert_eq!(h.stable(), h.growth() < 0.0, "{h:?} {:?} {}", h.conditions(), h.growth());
            }
        }
    }

    #[test]
    fn the_root_solves_the_characteristic_equation() {
        // The root is real if c is above -e^(b-1).
        for (b, c) in [(0.5, 1.0), (-2.0, 0.7), (-1.0, -0.1), (-30.0, 3.0)] {
            let x = Hayes { b, c }.growth();
            assert!((x - b - c * libm::exp(-x)).abs() < 1e-9, "{b} {c} {x}");
        }
        // First case: no delayed part. Second case: e^-b overflows, and |λ - b| = |c| e^-Re λ.
        assert_eq!(Hayes { b: -3.0, c: 0.0 }.growth(), -3.0);
        let x = Hayes { b: -800.0, c: -1.0 }.growth();
        assert!(x < 0.0 && x > -10.0, "{x}");
    }

    #[test]
    fn a_simulated_departure_grows_as_the_root_says() {
        for (b, c) in [(-0.5, -1.2), (-0.5, -2.5), (0.2, -0.9), (-2.0, 1.5), (-1.0, 1.2)] {
            let n = 400;
            let grid = Grid { step_s: 1.0 / n as f64, steps: 40 * n };
            let s = integrate(&[1.0], &[1.0], &grid, |at, d| d[0] = b * at.now(0) + c * at.ago(0, 0)).unwrap();
            // The largest departure in each of two spans of ten delays, twenty delays apart.
            let peak = |from: usize| s[from * n..(from + 10) * n].iter().map(|x| x[0].abs()).fold(0.0, f64::max);
            let rate = libm::log(peak(30) / peak(10)) / 20.0;
            assert!((rate - Hayes { b, c }.growth()).abs() < 0.02, "{b} {c}: {rate} {}", Hayes { b, c }.growth());
        }
    }

    #[test]
    fn numbers_that_are_none_are_errors() {
        assert_eq!(Hayes::of((f64::NAN, 1.0), 1.0).unwrap_err().what, "gain x delay");
        assert_eq!(Hayes::of((1.0, 2.0), 0.5).unwrap(), Hayes { b: 0.5, c: 1.0 });
    }
}
