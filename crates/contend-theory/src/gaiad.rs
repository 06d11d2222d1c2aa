//! GAIAD: additive increase and adaptive decrease for sources that set a rate instead of a window, in discrete time
//! steps.
//!
//! Jersey 2005 chapter 9, eqs. 9.6-9.27. The theorem on delays comes from Zhang, Kang, Loguinov, "Delay-Independent
//! Stability and Performance of Distributed Congestion Control", 2004. Rates are in packets per step.
//!
//! Differences from the source:
//! - Eqs. 9.7 (second line), 9.12 and 9.14 print -βqr, but the first line of 9.7 gives +βqr. [`Form::Printed`] keeps
//!   the printed sign; it has its own stationary point (9.17).
//! - Eqs. 9.21 and 9.22 print a derivative that is correct for neither form. [`Gaiad::bend_as_printed`] keeps it.
//! - All sources share one link.
//! - Theorem 9.3 holds in one direction for a given set of delays: a system that is stable without delay is stable with
//!   any delays. A system that is unstable without delay is also unstable with equal delays, but unequal delays can
//!   make it stable.

use crate::Invalid;
use crate::invalid::{invalid, positive, probability};
use crate::marking::Marking;

/// The sign of the estimate in the control law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As derived: the rate moves towards the estimate.
    Corrected,
    /// As printed: the rate moves away from the estimate.
    Printed,
}

/// N sources that share one link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaiad {
    /// N, number of sources.
    pub n: u32,
    /// α, added in each step, packets per step.
    pub alpha: f64,
    /// β, 0 < β <= 1: by what share of the distance to the estimate a congestion indication moves the rate.
    pub beta: f64,
    /// C, capacity of the link, packets per step.
    pub capacity: f64,
    /// The marking function of the link.
    pub marking: Marking,
    /// Sign of the estimate.
    pub form: Form,
}

/// The equilibrium of the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// x*, rate of each source, packets per step.
    pub rate: f64,
    /// p*, share of packets marked.
    pub share: f64,
    /// ∂p/∂x, derivative of the marked share with respect to the rate of one source.
    pub slope: f64,
}

/// Delays of a source in steps: from the source to the link, and from the link back to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// τ^f.
    pub forward: u32,
    /// τ^b.
    pub backward: u32,
}

/// Longest round trip accepted, steps.
pub const DELAY_LIMIT: u32 = 10_000;
/// The largest number of values that a course may contain.
pub const NUMBERS_LIMIT: usize = 20_000_000;

impl Gaiad {
    fn check(&self) -> Result<(), Invalid> {
        if self.n == 0 {
            return Err(invalid("n", 0, "at least one source"));
        }
        positive("alpha", self.alpha)?;
        positive("capacity", self.capacity)?;
        if self.beta > 0.0 && self.beta <= 1.0 {
            Ok(())
        } else {
            Err(invalid("beta", self.beta, "above 0 and at most 1"))
        }
    }

    /// The sign of the term β q r.
    fn sign(&self) -> f64 {
        if self.form == Form::Corrected { 1.0 } else { -1.0 }
    }

    /// x(n), packets per step, computed from the rate `x` one round trip earlier and the share `q` of packets marked.
    pub fn next(&self, x: f64, q: f64) -> f64 {
        // Jersey 2005 eq. 9.8.
        let estimate = x * (1.0 - q);
        // Jersey 2005 eq. 9.12.
        (x + self.alpha * (1.0 - q) + self.sign() * self.beta * q * estimate) / (1.0 + self.beta * q)
    }

    /// x*, packets per step: the rate of a source in equilibrium under a constant marked share 0 < `p` <= 1.
    pub fn held_at(&self, p: f64) -> Result<f64, Invalid> {
        self.check()?;
        if probability("p", p)? == 0.0 {
            return Err(invalid("p", p, "above 0"));
        }
        // Jersey 2005 eq. 9.17. In the corrected form, 2 - p becomes p.
        let left = if self.form == Form::Corrected { p } else { 2.0 - p };
        Ok(self.alpha * (1.0 - p) / (self.beta * p * left))
    }

    /// The equilibrium in which all sources have the same rate.
    pub fn rest(&self) -> Result<Rest, Invalid> {
        self.check()?;
        let n = f64::from(self.n);
        // A higher load raises the marked share, and a higher marked share lowers the equilibrium rate: there is one
        // crossing.
        let above = |load: f64| match self.marking.at(load) {
            0.0 => false,
            p => self.held_at(p).is_ok_and(|x| n * x < load * self.capacity),
        };
        let (mut low, mut high) = (0.0, 1.0);
        while high < 1e12 && !above(high) {
            high *= 2.0;
        }
        for _ in 0..200 {
            let load = low + (high - low) / 2.0;
            if above(load) {
                high = load;
            } else {
                low = load;
            }
        }
        let load = low + (high - low) / 2.0;
        Ok(Rest {
            rate: load * self.capacity / n,
            share: self.marking.at(load),
            slope: self.marking.slope(load)? / self.capacity,
        })
    }

    /// g = ∂x(n)/∂x(n-τ) at a constant marked share: the eigenvalue of departures that leave the load unchanged.
    pub fn keep(&self, p: f64) -> f64 {
        // Jersey 2005 eqs. 9.14, 9.21.
        (1.0 + self.sign() * self.beta * p * (1.0 - p)) / (1.0 + self.beta * p)
    }

    /// b = ∂x_i(n)/∂x_j at `rest`: how the rate of one source changes when the rate of another changes.
    pub fn bend(&self, rest: &Rest) -> f64 {
        let (x, p, alpha, beta) = (rest.rate, rest.share, self.alpha, self.beta);
        let d2 = (1.0 + beta * p) * (1.0 + beta * p);
        rest.slope
            * match self.form {
                Form::Corrected => -(x * (d2 - 1.0) + alpha * (1.0 + beta)) / d2,
                Form::Printed => x - (x * (1.0 + 2.0 * beta) + alpha * (1.0 + beta)) / d2,
            }
    }

    /// b as printed in eqs. 9.21, 9.22 and 9.27.
    pub fn bend_as_printed(&self, rest: &Rest) -> f64 {
        let (x, p, alpha, beta) = (rest.rate, rest.share, self.alpha, self.beta);
        let d = 1.0 + beta * p;
        // Jersey 2005 eq. 9.22.
        rest.slope * (x - (x * (1.0 - 2.0 * beta) - alpha * (1.0 + beta)) / (d * d))
    }

    /// The two eigenvalues of the system without delay for b = `bend`. The first belongs to departures that leave the
    /// load unchanged, the second to departures of all sources together.
    pub fn eigenvalues(&self, rest: &Rest, bend: f64) -> [f64; 2] {
        // Jersey 2005 eq. 9.24: a - b and a + (N-1) b with a = g + b.
        let g = self.keep(rest.share);
        [g, g + f64::from(self.n) * bend]
    }

    /// Theorem 9.3: true if the system with b = `bend` is stable at `rest` for any delays.
    pub fn stable(&self, rest: &Rest, bend: f64) -> bool {
        // Jersey 2005 eqs. 9.25-9.27.
        self.eigenvalues(rest, bend).iter().all(|e| e.abs() < 1.0)
    }

    /// Rates of all sources in each of `steps` steps. Before step 0 the rates were constant at `start`.
    ///
    /// Returns an error if `start` or `delays` does not have one entry for each source, if a round trip is shorter than
    /// one step or longer than [`DELAY_LIMIT`], or if the course has more than [`NUMBERS_LIMIT`] numbers.
    pub fn course(&self, delays: &[Delays], start: &[f64], steps: usize) -> Result<Vec<Vec<f64>>, Invalid> {
        self.check()?;
        let n = self.n as usize;
        if delays.len() != n || start.len() != n {
            return Err(invalid(
                "start",
                start.len().min(delays.len()),
                "one rate and one pair of delays for each source",
            ));
        }
        if steps.saturating_add(DELAY_LIMIT as usize).saturating_mul(n) > NUMBERS_LIMIT {
            return Err(invalid("steps", steps, "fewer: a course has at most 20 million numbers"));
        }
        let trips = delays.iter().map(|d| d.forward.saturating_add(d.backward));
        if let Some(trip) = trips.clone().find(|t| !(1..=DELAY_LIMIT).contains(t)) {
            return Err(invalid("delay", trip, "between 1 and 10000 steps for a round trip"));
        }
        // The history before step 0 is as long as the longest round trip.
        let before = trips.max().unwrap_or(1) as usize;
        let mut past: Vec<Vec<f64>> = vec![start.to_vec(); before];
        for now in before..before + steps {
            let next = delays.iter().enumerate().map(|(i, d)| {
                let (back, trip) = (d.backward as usize, (d.forward + d.backward) as usize);
                // Jersey 2005 eqs. 9.10, 9.11, 9.13: the load at the link at the time when the feedback left the link.
                let load: f64 = delays
                    .iter()
                    .enumerate()
                    .map(|(j, e)| past[(now - back).saturating_sub(e.forward as usize).min(now - 1)][j])
                    .sum();
                self.next(past[now - trip][i], self.marking.at(load / self.capacity))
            });
            let next: Vec<f64> = next.collect();
            past.push(next);
        }
        past.drain(..before);
        Ok(past)
    }

    /// True if sources that start at a relative distance `apart` from the equilibrium are closer to it after 800 of the
    /// longest round trips. Errors: see [`Gaiad::course`].
    pub fn settles(&self, delays: &[Delays], apart: f64) -> Result<bool, Invalid> {
        let rest = self.rest()?;
        let start = vec![rest.rate * (1.0 + apart); self.n as usize];
        let longest =
            delays.iter().map(|d| d.forward.saturating_add(d.backward)).max().unwrap_or(1).min(DELAY_LIMIT) as usize;
        let course = self.course(delays, &start, 800 * longest)?;
        let largest = |from: usize| {
            course
                .iter()
                .skip(from * longest)
                .take(20 * longest)
                .flatten()
                .map(|x| (x / rest.rate - 1.0).abs())
                .fold(0.0, f64::max)
        };
        Ok(largest(780) < 0.5 * largest(0))
    }
}

/// Different delays for the sources, up to `most` steps in each direction. `most` = 1: the only delay is the step
/// itself.
pub fn unequal(n: u32, most: u32) -> Vec<Delays> {
    let most = most.clamp(1, DELAY_LIMIT / 2);
    (0..n).map(|i| Delays { forward: 1 + (5 * (i % most)) % most, backward: (3 * (i % most) + 2) % most }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CALM: Gaiad =
        Gaiad { n: 4, alpha: 1.0, beta: 0.5, capacity: 100.0, marking: Marking::Power(4), form: Form::Corrected };

    fn near(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within * want.abs().max(1e-9), "{got} {want}");
    }

    fn settles(case: &Gaiad, delays: &[Delays]) -> bool {
        case.settles(delays, 1e-6).unwrap()
    }

    #[test]
    fn the_derivative_of_the_printed_system_is_not_the_one_printed() {
        // Spec U10: p = 0.13, α = 2, β = 0.6, x* = 7. The correct value is -9.0057; the printed equation gives +10.958.
        let case = Gaiad { alpha: 2.0, beta: 0.6, form: Form::Printed, ..CALM };
        let rest = Rest { rate: 7.0, share: 0.13, slope: 1.0 };
        assert!((case.bend(&rest) + 9.0057).abs() < 5e-5, "{}", case.bend(&rest));
        assert!((case.bend_as_printed(&rest) - 10.958).abs() < 5e-4);
    }

    #[test]
    fn derivatives_are_differences() {
        for form in [Form::Corrected, Form::Printed] {
            for (x, p) in [(7.0, 0.13), (40.0, 0.02), (1.5, 0.6)] {
                let case = Gaiad { alpha: 2.0, beta: 0.6, form, ..CALM };
                let h = 1e-6;
                let by_mark = (case.next(x, p + h) - case.next(x, p - h)) / (2.0 * h);
                near(case.bend(&Rest { rate: x, share: p, slope: 1.0 }), by_mark, 1e-7);
                near(case.keep(p), (case.next(x + h, p) - case.next(x - h, p)) / (2.0 * h), 1e-7);
            }
        }
    }

    #[test]
    fn a_source_stays_at_its_stationary_point() {
        for form in [Form::Corrected, Form::Printed] {
            let case = Gaiad { form, ..CALM };
            for p in [0.01, 0.2, 0.9] {
                let x = case.held_at(p).unwrap();
                near(case.next(x, p), x, 1e-12);
            }
            let rest = case.rest().unwrap();
            near(case.next(rest.rate, rest.share), rest.rate, 1e-9);
            near(case.marking.share(4.0 * rest.rate / 100.0).unwrap(), rest.share, 1e-9);
        }
    }

    /// Systems on both sides of the stability boundary, each at least 5 % away from it. The flag is true if theorem 9.3
    /// calls the system stable.
    fn systems() -> Vec<(Gaiad, bool)> {
        let mut all = vec![];
        for form in [Form::Corrected, Form::Printed] {
            for k in [1, 4, 20, 60] {
                for n in [1, 2, 4, 10] {
                    for (alpha, beta) in [(1.0, 0.5), (1.0, 1.0), (5.0, 0.2), (20.0, 1.0)] {
                        let case = Gaiad { n, alpha, beta, marking: Marking::Power(k), form, ..CALM };
                        let rest = case.rest().unwrap();
                        let together = case.eigenvalues(&rest, case.bend(&rest))[1];
                        if !(0.95..1.05).contains(&together.abs()) {
                            all.push((case, case.stable(&rest, case.bend(&rest))));
                        }
                    }
                }
            }
        }
        all
    }

    #[test]
    fn what_settles_without_delay_settles_with_any_delays() {
        // C28: stability does not depend on the delays.
        let calm: Vec<Gaiad> = systems().into_iter().filter(|(_, stable)| *stable).map(|(case, _)| case).collect();
        assert!(calm.len() > 20);
        for case in calm {
            let equal = |forward, backward| vec![Delays { forward, backward }; case.n as usize];
            for d in [equal(1, 0), equal(2, 3), unequal(case.n, 2), unequal(case.n, 7), unequal(case.n, 13)] {
                assert!(settles(&case, &d), "{case:?} {d:?}");
            }
        }
    }

    #[test]
    fn what_does_not_settle_without_delay_does_not_with_equal_ones() {
        let wild: Vec<Gaiad> = systems().into_iter().filter(|(_, stable)| !stable).map(|(case, _)| case).collect();
        assert!(wild.len() > 20);
        for case in wild {
            for (forward, backward) in [(1, 0), (0, 1), (2, 3), (7, 4)] {
                assert!(!settles(&case, &vec![Delays { forward, backward }; case.n as usize]), "{case:?}");
            }
        }
    }

    #[test]
    fn unequal_delays_can_calm_what_does_not_settle_without_delay() {
        // The "only if" of the theorem is about all sets of delays together, not about each set.
        let case = Gaiad { n: 10, alpha: 20.0, beta: 1.0, marking: Marking::Power(1), ..CALM };
        let rest = case.rest().unwrap();
        near(case.eigenvalues(&rest, case.bend(&rest))[1], -1.136_147, 1e-6);
        assert!(settles(&case, &unequal(10, 7)));
    }

    #[test]
    fn sources_that_start_apart_meet() {
        let course = CALM.course(&unequal(4, 7), &[1.0, 10.0, 30.0, 60.0], 200_000).unwrap();
        let rest = CALM.rest().unwrap();
        for x in course.last().unwrap() {
            near(*x, rest.rate, 1e-6);
        }
    }

    #[test]
    fn the_condition_as_printed_calls_settled_systems_unstable() {
        let case = Gaiad { form: Form::Printed, ..CALM };
        let rest = case.rest().unwrap();
        assert!(case.stable(&rest, case.bend(&rest)) && settles(&case, &unequal(4, 7)));
        assert!(!case.stable(&rest, case.bend_as_printed(&rest)));
    }

    #[test]
    fn impossible_systems_are_errors() {
        assert_eq!(Gaiad { n: 0, ..CALM }.rest().unwrap_err().what, "n");
        assert_eq!(Gaiad { beta: 1.5, ..CALM }.rest().unwrap_err().what, "beta");
        assert_eq!(CALM.held_at(0.0).unwrap_err().what, "p");
        assert_eq!(CALM.course(&unequal(3, 2), &[1.0; 4], 5).unwrap_err().what, "start");
        assert_eq!(CALM.course(&[Delays { forward: 0, backward: 0 }; 4], &[1.0; 4], 5).unwrap_err().what, "delay");
        assert_eq!(CALM.course(&unequal(4, 2), &[1.0; 4], usize::MAX).unwrap_err().what, "steps");
    }
}
