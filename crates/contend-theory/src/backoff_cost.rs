//! The channel time that a distribution of backoffs wastes, and the distribution that wastes the least.
//!
//! Starzetz 2006 §8.1.2, eqs. 8.5-8.20. A contention cycle that ends in slot i costs A(i) after a collision and B(i)
//! after a success: ζ = sum of A(i) P_col(i) + B(i) P_tx(i). The source solves the case of two stations in continuous
//! time ([`crate::backoff_density`]). It does not solve the case of N stations.
//!
//! Differences from the source:
//! - The optimum of N stations over C slots is exact. The stations are memoryless, so the minimum cost of all slots
//!   after slot i is one number W_i, and the share of probability beyond slot i has a closed form ([`Costs::optimum`]).
//!   For A = 1, B = 0 the optimum is the distribution p* of Tay, Jamieson and Balakrishnan 2004 (CSMA/p*).
//! - ζ is the waste per cycle. [`Costs::optimum_per_success`] minimises the waste per success; this waste includes the
//!   collisions before the success.
//! - In eq. 8.15 a collision has the density p(t)^2, as if two stations could draw the same instant. Over slots, the
//!   probability of a collision is p(t)^2/C. Cost 8.15 is therefore the cost of C slots when a collision costs C times
//!   the stated value ([`Costs::density`]). [`Costs::slots`] is eqs. 8.9 and 8.10 over slots.
//! - The compact sum of eq. 8.20 has binom(N, i+1) where its expansion has binom(N, i): [`Sum::Printed`].

use crate::Invalid;
use crate::hash_table::cycle_ends;
use crate::invalid::{invalid, not_negative, positive};
use crate::numbers::power;
use crate::slots::{MOST_SLOTS, Slots};

/// The cost of a cycle, by the slot in which the cycle ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// A(i), the cost of a collision.
    collision: Vec<f64>,
    /// B(i), the cost of a success.
    success: Vec<f64>,
}

/// The sum of eq. 8.20 that gives the probability of a collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// The expansion, with binom(N, i). The result is a probability.
    Expanded,
    /// The compact form, with binom(N, i+1). The first and the last terms have other weights.
    Printed,
}

/// The distribution with the least waste.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The distribution.
    pub slots: Slots,
    /// ζ of the distribution.
    pub wasted: f64,
}

impl Costs {
    /// Costs by slot. Returns an error if the two vectors differ in length or if a cost is negative.
    pub fn of(collision: Vec<f64>, success: Vec<f64>) -> Result<Costs, Invalid> {
        if collision.len() != success.len() || collision.is_empty() || collision.len() > MOST_SLOTS as usize {
            return Err(invalid(
                "costs",
                format!("{} and {}", collision.len(), success.len()),
                "as many of collisions as of successes, 1 to 1048576",
            ));
        }
        collision.iter().chain(&success).try_for_each(|c| not_negative("cost", *c).map(drop))?;
        Ok(Costs { collision, success })
    }

    fn by_slot(slots: u32, collision: impl Fn(f64) -> f64, success: impl Fn(f64) -> f64) -> Result<Costs, Invalid> {
        if !(1..=MOST_SLOTS).contains(&slots) {
            return Err(invalid("slots", slots, "between 1 and 1048576"));
        }
        let each = |f: &dyn Fn(f64) -> f64| (0..slots).map(|i| f(f64::from(i))).collect();
        Costs::of(each(&collision), each(&success))
    }

    /// The cost is the number of empty slots before the frame. A collision costs T = `collision` slots more.
    pub fn slots(slots: u32, collision: f64) -> Result<Costs, Invalid> {
        positive("collision", collision)?;
        // Starzetz 2006 eqs. 8.9, 8.10.
        Costs::by_slot(slots, |i| i + collision, |i| i)
    }

    /// Eq. 8.15 over slots. The unit of time is a window of C slots, T = `collision` windows, and the probability of a
    /// collision is its density p(t)^2.
    pub fn density(slots: u32, collision: f64) -> Result<Costs, Invalid> {
        positive("collision", collision)?;
        let c = f64::from(slots);
        Costs::by_slot(slots, |i| (i / c + collision) * c, |i| i / c)
    }

    /// Eq. 8.18 over slots: like [`Costs::density`], but waiting before a collision costs nothing.
    pub fn density_without_wait(slots: u32, collision: f64) -> Result<Costs, Invalid> {
        positive("collision", collision)?;
        let c = f64::from(slots);
        Costs::by_slot(slots, |_| collision * c, |i| i / c)
    }

    /// A collision costs 1, a success 0.
    pub fn collisions(slots: u32) -> Result<Costs, Invalid> {
        Costs::by_slot(slots, |_| 1.0, |_| 0.0)
    }

    /// ζ of `stations` that draw from `slots`. Returns an error if there is no station or if `slots` has another length
    /// than the costs.
    pub fn wasted(&self, slots: &Slots, stations: u32, sum: Sum) -> Result<f64, Invalid> {
        if slots.probabilities().len() != self.collision.len() {
            return Err(invalid("slots", slots.probabilities().len(), "as many as have a cost"));
        }
        let costs = self.collision.iter().zip(&self.success);
        // Starzetz 2006 eqs. 8.8 and 8.20.
        Ok(cycle_ends(slots, stations)?
            .zip(costs)
            .enumerate()
            .map(|(i, ((success, collision), (a, b)))| {
                let collision = match sum {
                    Sum::Expanded => collision,
                    Sum::Printed => printed(slots, stations, i),
                };
                a * collision + b * success
            })
            .sum())
    }

    /// The distribution with the least waste per cycle for this number of `stations`. Returns an error if there is no
    /// station.
    pub fn optimum(&self, stations: u32) -> Result<Optimum, Invalid> {
        if stations == 0 {
            return Err(invalid("stations", 0, "at least one"));
        }
        let n = f64::from(stations);
        // In the last slot, all remaining stations send.
        let mut wasted =
            if stations == 1 { self.success.last() } else { self.collision.last() }.copied().unwrap_or(0.0);
        let mut go_on = vec![0.0; self.collision.len()];
        for (i, (a, b)) in self.collision.iter().zip(&self.success).enumerate().rev().skip(1) {
            // u is the share of probability that goes on past slot i. Its cost is f(u) = A - N (A-B) u^(N-1) + (W - A +
            // N (A-B)) u^N, where W is the minimum cost of the later slots.
            let more = n * (a - b);
            let all = wasted - a + more;
            let cost = |u: f64| a - more * power(u, stations - 1) + all * power(u, stations);
            // f' = 0 at u = (N-1)(A-B) / (W - A + N (A-B)), the only such point between 0 and 1.
            let bend = (n - 1.0) * (a - b) / all;
            let mut best = (cost(0.0), 0.0);
            for u in [1.0, bend] {
                if (0.0..=1.0).contains(&u) && cost(u) < best.0 {
                    best = (cost(u), u);
                }
            }
            (wasted, go_on[i]) = best;
        }
        let mut left = 1.0;
        let p: Vec<f64> = go_on
            .iter()
            .map(|u| {
                let here = left * (1.0 - u);
                left *= u;
                here
            })
            .collect();
        Ok(Optimum { slots: Slots::of(&p)?, wasted })
    }
}

impl Costs {
    /// The distribution with the least waste per success, when cycles follow each other until one succeeds. Errors: see
    /// [`Costs::optimum`]; also an error if the waste has no minimum.
    ///
    /// ζ is the waste of one cycle: ζ ignores that another cycle follows a collision.
    pub fn optimum_per_success(&self, stations: u32) -> Result<Optimum, Invalid> {
        // Dinkelbach 1967: the minimum of the ratio ζ/P is the λ for which the minimum of ζ - λ P is 0. Because P = 1 -
        // P_col, this minimum is the minimum cost with λ added to every collision, minus λ.
        let mut lambda = 0.0;
        for _ in 0..100 {
            let with =
                Costs { collision: self.collision.iter().map(|a| a + lambda).collect(), success: self.success.clone() };
            let best = with.optimum(stations)?;
            let collision: f64 = cycle_ends(&best.slots, stations)?.map(|(_, collision)| collision).sum();
            let next = self.wasted(&best.slots, stations, Sum::Expanded)? / (1.0 - collision);
            if !next.is_finite() {
                break;
            }
            // λ falls from the second step on, until the precision of the sums is reached.
            if (next - lambda).abs() <= 1e-10 * (1.0 + next) {
                return Ok(Optimum { slots: best.slots, wasted: next });
            }
            lambda = next;
        }
        Err(invalid("slots", self.collision.len(), "enough for successes"))
    }
}

/// P_col(i) with the compact sum of eq. 8.20: the sum over i in 0..=N-2 of binom(N, i+1) p^(N-i) S^i.
fn printed(slots: &Slots, stations: u32, slot: usize) -> f64 {
    let here = slots.from(slot);
    if here <= 0.0 || stations < 2 {
        return 0.0;
    }
    // With x = p/(p+S) and s = S/(p+S), the sum is (x/s) (1 - s^N - x^N), and N x^N if s is 0.
    let (x, s) = (1.0 - slots.from(slot + 1) / here, slots.from(slot + 1) / here);
    let n = f64::from(stations);
    let sum = if s <= 0.0 {
        n
    } else {
        let lesser = x.min(s);
        let rest = -libm::expm1(n * libm::log1p(-lesser)) - power(lesser, stations);
        x / s * rest
    };
    power(here, stations) * sum
}

#[cfg(test)]
mod tests;
