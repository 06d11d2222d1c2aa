//! AIAD: stability of sources at a shared bottleneck. A source adds one packet per round trip to its window and falls
//! back to its achievable rate.
//!
//! Jersey 2005 chapter 6, eqs. 6.10-6.16, and appendix A. Rates are in packets/s.
//!
//! Differences from the source:
//! - One estimator covers both estimators of the source: α = 1 for φ, the receiving rate, and α = γ/ρ for κ, the rate
//!   of acknowledgments. γ is the capacity of the return path divided by C, and ρ is the size of an ACK divided by the
//!   size of a packet.
//! - Condition 1 has the factor τ that is missing in A.16.
//! - The source takes ∂p/∂x of one source while the other sources do not move. If all sources move together, the link
//!   sees N times this derivative. [`Motion`] distinguishes the two cases. [`Aiad::rest`] is the exact equilibrium,
//!   which is slightly off C/N.
//!   off C/N.

use crate::Invalid;
use crate::delayed::{Grid, integrate};
use crate::hayes::Hayes;
use crate::invalid::{invalid, positive};
use crate::marking::Marking;
use std::f64::consts::PI;

/// N equal sources at one bottleneck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aiad {
    /// N, number of sources.
    pub n: u32,
    /// C, capacity of the bottleneck, packets/s.
    pub capacity_pps: f64,
    /// d, round-trip propagation delay, s.
    pub delay_s: f64,
    /// d_q, round-trip queueing delay, s.
    pub queue_s: f64,
    /// α: 1 for φ, γ/ρ for κ.
    pub alpha: f64,
}

/// Loss share and its slope at one operating point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// p0, the share of packets lost.
    pub share: f64,
    /// p0' = ∂p/∂x, derivative of the share with respect to the rate of one source, s/packet.
    pub slope: f64,
}

/// The equilibrium of the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// x0, rate of each source, packets/s.
    pub rate_pps: f64,
    /// Losses at the equilibrium. The slope is that of the link, dp/dy.
    pub losses: Losses,
}

/// The kind of departure from the equilibrium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// One source moves while the others do not: the source's linearisation.
    Alone,
    /// All sources move alike: their shares stay constant, and the link sees the sum of all movements.
    Together,
    /// The sources move against each other: the load stays constant.
    Apart,
}

impl Aiad {
    /// τ, s. Returns an error for a parameter that is not above 0.
    pub fn rtt_s(&self) -> Result<f64, Invalid> {
        if self.n == 0 {
            return Err(invalid("n", 0, "at least one source"));
        }
        positive("capacity_pps", self.capacity_pps)?;
        positive("alpha", self.alpha)?;
        Ok(positive("delay_s", self.delay_s)? + positive("queue_s", self.queue_s)?)
    }

    /// η = d/τ.
    pub fn eta(&self) -> Result<f64, Invalid> {
        Ok(self.delay_s / self.rtt_s()?)
    }

    /// C/N, packets/s: the equilibrium rate of each source in the source's analysis.
    pub fn fair_pps(&self) -> Result<f64, Invalid> {
        self.rtt_s()?;
        Ok(self.capacity_pps / f64::from(self.n))
    }

    /// p0 for an equilibrium of each source at C/N. Returns an error if α η is 1 or more: the estimate then exceeds
    /// C/N, and there is no equilibrium at C/N.
    pub fn fair_share_lost(&self) -> Result<f64, Invalid> {
        let (x, tau) = (self.fair_pps()?, self.rtt_s()?);
        let back = self.alpha * self.eta()?;
        if back >= 1.0 {
            return Err(invalid("alpha x eta", back, "below 1, or there is no rest at C/N"));
        }
        // Eq. 6.11 with x' = 0: p0 = 1/(τ^2 (1 - αη) x0^2).
        Ok(1.0 / (tau * tau * (1.0 - back) * x * x))
    }

    /// K1 and K2 in 1/s at C/N, as in the source's analysis.
    pub fn gains(&self, at: &Losses) -> Result<(f64, f64), Invalid> {
        let (n, c, back) = (f64::from(self.n), self.capacity_pps, self.alpha * self.eta()?);
        // Jersey 2005 A.14, A.15.
        let k1 = ((n - 1.0) / (n * n) * back - 1.0 / n) * c * at.share;
        let k2 = (back - 1.0) / n * c * (at.share + c / n * at.slope);
        Ok((k1, k2))
    }

    /// The bound on d_q in s: below this bound the source's sufficient condition holds.
    pub fn queue_bound_s(&self, at: &Losses) -> Result<f64, Invalid> {
        let (n, c) = (f64::from(self.n), self.fair_pps()? * f64::from(self.n));
        // Jersey 2005 eq. 6.16, which is 6.14 for α = 1.
        Ok(PI * n / (2.0 * c * (at.share + c / n * at.slope)) + (self.alpha - 1.0) * self.delay_s)
    }

    /// The bound on α η: below this bound condition 2 holds. The bound itself is always above 1.
    pub fn alpha_eta_bound(&self, at: &Losses) -> Result<f64, Invalid> {
        let both =
            2.0 * f64::from(self.n) + at.slope / positive("p0", at.share)? * self.fair_pps()? * f64::from(self.n);
        // Jersey 2005 eq. 6.15.
        Ok(both / (both - 1.0))
    }

    /// The exact equilibrium of sources with the loss function `marking`, all at the same rate.
    pub fn rest(&self, marking: &Marking) -> Result<Rest, Invalid> {
        let (tau, x) = (self.rtt_s()?, self.fair_pps()?);
        let back = self.alpha * self.eta()?;
        // Eq. 6.11 with x' = 0, in loads u = x N / C: (u - αη) u p(u) = (N / (C τ))^2. The left-hand side grows with u
        // above αη.
        let want = 1.0 / (tau * x * tau * x);
        let least = back.max(if *marking == Marking::Fluid { 1.0 } else { 0.0 });
        let (mut low, mut high) = (least, least + 2.0 + 2.0 * want.sqrt());
        while high < 1e12 && (high - back) * high * marking.at(high) < want {
            high *= 2.0;
        }
        for _ in 0..200 {
            let u = low + (high - low) / 2.0;
            if (u - back) * u * marking.at(u) < want {
                low = u;
            } else {
                high = u;
            }
        }
        let load = low + (high - low) / 2.0;
        Ok(Rest {
            rate_pps: load * x,
            losses: Losses { share: marking.at(load), slope: marking.slope(load)? / self.capacity_pps },
        })
    }

    /// The same system with the load at `rest` as its capacity and with α changed so that the estimates stay equal. For
    /// this system the source's formulas, which require x0 = C/N, hold exactly. Errors: see [`Aiad::rtt_s`].
    pub fn at(&self, rest: &Rest) -> Result<Aiad, Invalid> {
        let load = positive("rate_pps", rest.rate_pps)? / self.fair_pps()?;
        Ok(Aiad { capacity_pps: self.capacity_pps * load, alpha: self.alpha / load, ..*self })
    }

    /// K1 and K2 in 1/s at `rest` for a departure of the kind `motion`.
    pub fn gains_at(&self, rest: &Rest, motion: Motion) -> Result<(f64, f64), Invalid> {
        let (eta, n, x) = (self.eta()?, f64::from(self.n), positive("rate_pps", rest.rate_pps)?);
        let estimate = self.alpha * self.fair_pps()?;
        // r_i = α C x_i / y. ∂r_i/∂x_i is r0/x0 (N-1)/N if the other sources do not move, 0 if all move alike, and
        // r0/x0 if y stays constant.
        let (bend, feel) = match motion {
            Motion::Alone => (estimate / x * (n - 1.0) / n, 1.0),
            Motion::Together => (0.0, n),
            Motion::Apart => (estimate / x, 0.0),
        };
        // Jersey 2005 A.1-A.8, with x0 instead of C/N.
        let k1 = -x * rest.losses.share * (1.0 - eta * bend);
        let k2 = -(rest.losses.share + x * feel * rest.losses.slope) * (x - eta * estimate);
        Ok((k1, k2))
    }

    /// The characteristic equation at `rest` for a departure of the kind `motion`.
    pub fn hayes(&self, rest: &Rest, motion: Motion) -> Result<Hayes, Invalid> {
        Hayes::of(self.gains_at(rest, motion)?, self.rtt_s()?)
    }

    /// Rates in packets/s of every source at the instants of `grid`. Before time 0 the rates were constant at `start`.
    pub fn course(&self, marking: &Marking, start: &[f64], grid: &Grid) -> Result<Vec<Vec<f64>>, Invalid> {
        let (tau, eta, c) = (self.rtt_s()?, self.eta()?, self.capacity_pps);
        if start.len() != self.n as usize {
            return Err(invalid("start", start.len(), "one rate for each source"));
        }
        start.iter().try_for_each(|x| positive("start", *x).map(drop))?;
        let (n, least) = (start.len(), self.fair_pps()? * 1e-6);
        integrate(start, &[tau], grid, |at, rate| {
            let load: f64 = (0..n).map(|i| at.now(i)).sum();
            let lost = marking.at((0..n).map(|i| at.ago(0, i)).sum::<f64>() / c);
            for (i, rate) in rate.iter_mut().enumerate() {
                let x = at.now(i);
                // Jersey 2005 eqs. 6.4-6.9: the bottleneck is busy, so each source receives its share of α C.
                let estimate = self.alpha * c * x / load;
                // Jersey 2005 eq. 6.11.
                *rate = 1.0 / (tau * tau) - (x - eta * estimate) * at.ago(0, i) * lost;
                // A rate cannot be negative, but far from the equilibrium the equation can yield a negative rate.
                if x <= least {
                    *rate = rate.max(0.0);
                }
            }
        })
    }

    /// True if a departure of the kind `motion` decays within `round_trips`. `apart` is the relative departure at the
    /// start: for [`Motion::Apart`] sources start alternately above and below the equilibrium rate, for
    /// [`Motion::Together`] all start above, for [`Motion::Alone`] only the first does. The largest departure in the
    /// last quarter of the course must be smaller than in the second quarter and below ten times `apart`.
    pub fn settles(&self, marking: &Marking, motion: Motion, apart: f64, round_trips: u32) -> Result<bool, Invalid> {
        const STEPS: usize = 100;
        let (rest, tau) = (self.rest(marking)?, self.rtt_s()?);
        let side = |i: u32| match motion {
            Motion::Together => 1.0,
            Motion::Apart => {
                if i.is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                }
            }
            Motion::Alone => {
                if i == 0 {
                    1.0
                } else {
                    0.0
                }
            }
        };
        let start: Vec<f64> = (0..self.n).map(|i| rest.rate_pps * (1.0 + apart * side(i))).collect();
        let grid = Grid { step_s: tau / STEPS as f64, steps: STEPS * round_trips as usize };
        let course = self.course(marking, &start, &grid)?;
        let largest = |from: usize| {
            let part = course.iter().skip(from).take(grid.steps / 4);
            part.flatten().map(|x| (x / rest.rate_pps - 1.0).abs()).fold(0.0, f64::max)
        };
        let (early, late) = (largest(grid.steps / 4), largest(grid.steps - grid.steps / 4));
        // A departure may become a large oscillation before the second quarter and then stop growing. The limit of ten
        // times `apart` excludes this case.
        Ok(late < early && late < 10.0 * apart || late < 1e-9)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// 1000 packets/s, d = 40 ms (spec section 6.3).
    fn phi(n: u32, queue_s: f64) -> Aiad {
        Aiad { n, capacity_pps: 1000.0, delay_s: 0.04, queue_s, alpha: 1.0 }
    }

    /// ACKs of 40 bytes for packets of 1000 bytes; equal capacity in both directions.
    fn kappa(n: u32, queue_s: f64) -> Aiad {
        Aiad { alpha: 25.0, ..phi(n, queue_s) }
    }

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want.abs().max(1e-9), "{got} {want}");
    }

    #[test]
    fn gains_of_phi_and_kappa_are_those_of_appendix_a() {
        let at = Losses { share: 0.02, slope: 0.001 };
        // N = 4, C = 1000, τ = 0.1, η = 0.4. φ: k1 = (3/16 0.4 - 1/4) 1000 0.02; k2 = (0.4 - 1)/4 1000 (0.02 + 250
        // 0.001).
        let (k1, k2) = phi(4, 0.06).gains(&at).unwrap();
        near(k1, -3.5);
        near(k2, -40.5);
        // κ, αη = 10: k1 = (3/16 10 - 1/4) 20; k2 = 9/4 1000 0.27.
        let (k1, k2) = kappa(4, 0.06).gains(&at).unwrap();
        near(k1, 32.5);
        near(k2, 607.5);
    }

    #[test]
    fn the_general_form_is_that_of_the_source_where_the_load_is_the_capacity() {
        for case in [phi(4, 0.06), phi(1, 0.01), kappa(7, 2.0)] {
            let rest = case.rest(&Marking::Fluid).unwrap();
            let (a, b) =
                (case.at(&rest).unwrap().gains(&rest.losses).unwrap(), case.gains_at(&rest, Motion::Alone).unwrap());
            near(a.0, b.0);
            near(a.1, b.1);
            let losses = Losses { share: case.fair_share_lost().unwrap(), slope: 0.001 };
            let rest = Rest { rate_pps: case.fair_pps().unwrap(), losses };
            let (a, b) = (case.gains(&losses).unwrap(), case.gains_at(&rest, Motion::Alone).unwrap());
            near(a.0, b.0);
            near(a.1, b.1);
        }
    }

    #[test]
    fn the_linearisation_is_the_derivative_of_the_right_hand_side() {
        let (case, marking) = (phi(5, 0.03), Marking::Fluid);
        let rest = case.rest(&marking).unwrap();
        let (eta, tau, n) = (case.eta().unwrap(), case.rtt_s().unwrap(), 5usize);
        // x_0' for the rates now and the rates one round trip ago.
        let slope = |now: &[f64], then: &[f64]| {
            let y: f64 = now.iter().sum();
            let p = marking.at(then.iter().sum::<f64>() / 1000.0);
            1.0 / (tau * tau) - (now[0] - eta * 1000.0 * now[0] / y) * then[0] * p
        };
        let base = vec![rest.rate_pps; n];
        assert!(slope(&base, &base).abs() < 1e-6);
        for motion in [Motion::Alone, Motion::Together, Motion::Apart] {
            let moved = |h: f64| -> Vec<f64> {
                let one = |i: usize| match motion {
                    Motion::Alone => f64::from(u8::from(i == 0)),
                    Motion::Together => 1.0,
                    // The first source moves up by 1, each other source down by a quarter.
                    Motion::Apart => {
                        if i == 0 {
                            1.0
                        } else {
                            -0.25
                        }
                    }
                };
                (0..n).map(|i| base[i] + h * one(i)).collect()
            };
            let h = 1e-4;
            let k1 = (slope(&moved(h), &base) - slope(&moved(-h), &base)) / (2.0 * h);
            let k2 = (slope(&base, &moved(h)) - slope(&base, &moved(-h))) / (2.0 * h);
            let (a, b) = case.gains_at(&rest, motion).unwrap();
            assert!(
                (k1 - a).abs() < 1e-5 * a.abs() + 1e-6 && (k2 - b).abs() < 1e-5 * b.abs() + 1e-6,
                "{motion:?} {k1} {a} {k2} {b}"
            );
        }
    }

    #[test]
    fn phi_always_meets_the_first_two_conditions() {
        for n in [1, 5, 200] {
            for queue_s in [0.001, 0.04, 1.0, 20.0] {
                let case = phi(n, queue_s);
                for slope in [0.0, 1e-3, 1.0] {
                    let at = Losses { share: case.fair_share_lost().unwrap(), slope };
                    let h = Hayes::of(case.gains(&at).unwrap(), case.rtt_s().unwrap()).unwrap();
                    assert_eq!(h.conditions()[..2], [true, true], "{case:?} {at:?}");
                    // 6.14 is sufficient for the third condition.
                    if queue_s < case.queue_bound_s(&at).unwrap() {
                        assert!(h.stable(), "{case:?} {at:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn kappas_thresholds_are_its_second_condition_and_sufficient_for_its_third() {
        let mut violated = 0;
        for n in [2, 5, 50] {
            for queue_s in [0.01, 0.5, 0.9, 0.95, 0.97, 1.0, 3.0] {
                let case = kappa(n, queue_s);
                for at in [Losses { share: 0.01, slope: 1e-3 }, Losses { share: 0.2, slope: 1e-5 }] {
                    let h = Hayes::of(case.gains(&at).unwrap(), case.rtt_s().unwrap()).unwrap();
                    let back = case.alpha * case.eta().unwrap();
                    assert_eq!(h.conditions()[1], back < case.alpha_eta_bound(&at).unwrap(), "{case:?} {at:?}");
                    violated += u32::from(!h.conditions()[1]);
                    if h.conditions()[1] && h.conditions()[0] && queue_s < case.queue_bound_s(&at).unwrap() {
                        assert!(h.conditions()[2], "{case:?} {at:?}");
                    }
                }
            }
        }
        assert!(violated > 10);
    }

    #[test]
    fn with_many_sources_kappa_needs_a_queue_of_24_paths() {
        // γ = 1, ρ = 0.04: αη < 1 is d_q > 24 d, Q > 24 C d.
        let at = |queue_s| kappa(1_000_000, queue_s).alpha_eta_bound(&Losses { share: 0.01, slope: 0.0 }).unwrap();
        assert!((at(1.0) - 1.0).abs() < 1e-6);
        assert!(kappa(10, 24.001 * 0.04).fair_share_lost().is_ok());
        assert_eq!(kappa(10, 23.999 * 0.04).fair_share_lost().unwrap_err().what, "alpha x eta");
    }

    #[test]
    fn the_rest_is_near_a_fair_share_and_stands_still() {
        for (case, marking) in [
            (phi(5, 0.03), Marking::Fluid),
            (phi(20, 0.2), Marking::Fluid),
            (phi(3, 0.1), Marking::Power(20)),
            (kappa(5, 1.2), Marking::Fluid),
        ] {
            let rest = case.rest(&marking).unwrap();
            let off = rest.rate_pps / case.fair_pps().unwrap() - 1.0;
            assert!((-0.3..0.2).contains(&off), "{case:?}: {off}");
            let start = vec![rest.rate_pps; case.n as usize];
            let grid = Grid { step_s: case.rtt_s().unwrap() / 50.0, steps: 100 };
            for x in case.course(&marking, &start, &grid).unwrap().iter().flatten() {
                assert!((x / rest.rate_pps - 1.0).abs() < 1e-6, "{case:?}");
            }
        }
    }

    #[test]
    fn the_integrated_system_settles_where_the_conditions_say_so() {
        // Cases near the boundary are skipped: 120 round trips cannot resolve a growth of less than 3 % per round trip.
        let (mut stable, mut unstable) = (0, 0);
        for marking in [Marking::Fluid, Marking::Power(10), Marking::Power(60)] {
            for n in [1, 2, 6] {
                for queue_s in [0.001, 0.002, 0.005, 0.01, 0.03, 0.1, 0.4] {
                    let case = phi(n, queue_s);
                    let rest = case.rest(&marking).unwrap();
                    for motion in [Motion::Together, Motion::Apart] {
                        let growth = case.hayes(&rest, motion).unwrap().growth();
                        // Where the common motion is unstable, rounding errors start it.
                        let woken = motion == Motion::Apart && !case.hayes(&rest, Motion::Together).unwrap().stable();
                        if growth.abs() < 0.03 || woken || (n == 1 && motion == Motion::Apart) {
                            continue;
                        }
                        let settles = case.settles(&marking, motion, 1e-4, 120).unwrap();
                        assert_eq!(settles, growth < 0.0, "{case:?} {marking:?} {motion:?}: {growth}");
                        *(if settles { &mut stable } else { &mut unstable }) += 1;
                    }
                }
            }
        }
        assert!(stable > 20 && unstable > 10, "{stable} {unstable}");
    }

    #[test]
    fn no_queue_below_the_bound_oscillates_when_the_slope_is_that_of_all_sources_together() {
        // C24: 6.14 is sufficient. p0' is read as the change of the losses when every source moves by one.
        let mut inside = 0;
        for marking in [Marking::Fluid, Marking::Power(10), Marking::Power(60)] {
            for n in [1, 2, 6, 20] {
                for queue_s in [0.001, 0.002, 0.004, 0.007, 0.01, 0.015, 0.03, 0.1] {
                    let case = phi(n, queue_s);
                    let rest = case.rest(&marking).unwrap();
                    let at = Losses { slope: rest.losses.slope * f64::from(n), ..rest.losses };
                    // The bound at the exact equilibrium rate of the sources.
                    let real = case.at(&rest).unwrap();
                    if queue_s < real.queue_bound_s(&at).unwrap() {
                        inside += 1;
                        let both = [Motion::Together, Motion::Apart];
                        assert!(both.iter().all(|m| case.hayes(&rest, *m).unwrap().stable()), "{case:?} {marking:?}");
                    }
                }
            }
        }
        assert!(inside > 15, "{inside}");
    }

    #[test]
    fn with_the_slope_of_one_source_alone_the_bound_calls_oscillating_sources_stable() {
        // As printed: ∂p/∂x with the other sources not moving. Ten sources under fluid loss, d_q = 60 ms.
        let (case, marking) = (phi(10, 0.06), Marking::Fluid);
        let rest = case.rest(&marking).unwrap();
        assert!(case.queue_s < case.queue_bound_s(&rest.losses).unwrap());
        assert!(case.hayes(&rest, Motion::Alone).unwrap().stable());
        assert!(!case.hayes(&rest, Motion::Together).unwrap().stable());
        assert!(!case.settles(&marking, Motion::Together, 1e-4, 60).unwrap());
    }

    #[test]
    fn kappa_leaves_the_fair_share_when_its_second_condition_is_violated() {
        // C25: αη = 25 0.04/0.5 = 2, for every slope.
        let case = kappa(5, 0.46);
        let at = Losses { share: 0.01, slope: 1e-3 };
        assert!(case.alpha * case.eta().unwrap() > case.alpha_eta_bound(&at).unwrap());
        let h = Hayes::of(case.gains(&at).unwrap(), case.rtt_s().unwrap()).unwrap();
        assert!(h.growth() > 0.0);
        // The whole system: a loss raises the rate, and the rate never returns to C/N.
        let fair = case.fair_pps().unwrap();
        let grid = Grid { step_s: 0.005, steps: 20_000 };
        let end = case.course(&Marking::Fluid, &[fair * 1.001; 5], &grid).unwrap().pop().unwrap();
        assert!(end.iter().all(|x| *x > 1.9 * fair), "{end:?} {fair}");
        // With a queue above 24 C d, the rate stays near C/N.
        let calm = kappa(5, 1.2);
        let grid = Grid { step_s: 0.0124, steps: 20_000 };
        let end = calm.course(&Marking::Fluid, &[fair * 1.001; 5], &grid).unwrap().pop().unwrap();
        assert!(end.iter().all(|x| (x / fair - 1.0).abs() < 0.1), "{end:?} {fair}");
    }

    #[test]
    fn impossible_systems_are_errors() {
        assert_eq!(phi(0, 0.1).eta().unwrap_err().what, "n");
        assert_eq!(phi(1, 0.0).eta().unwrap_err().what, "queue_s");
        assert_eq!(Aiad { alpha: -1.0, ..phi(1, 0.1) }.rest(&Marking::Fluid).unwrap_err().what, "alpha");
        let grid = Grid { step_s: 0.01, steps: 10 };
        assert_eq!(phi(2, 0.1).course(&Marking::Fluid, &[1.0], &grid).unwrap_err().what, "start");
        assert_eq!(phi(2, 0.1).alpha_eta_bound(&Losses { share: 0.0, slope: 0.0 }).unwrap_err().what, "p0");
    }
}
