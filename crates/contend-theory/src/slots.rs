//! Distributions of the slot of the contention window in which a station sends, for methods that draw a new backoff in
//! every cycle.
//!
//! Starzetz 2006 §8.1.1 and §8.2 (eq. 8.21). The number of a slot is the number of empty slots before it: a station
//! with slot 0 sends at once.

use crate::Invalid;
use crate::invalid::{invalid, not_negative};

/// The largest number of slots in a window.
pub const MOST_SLOTS: u32 = 1 << 20;

/// A distribution over the slots 0..C-1.
#[derive(Debug, Clone, PartialEq)]
pub struct Slots {
    /// p_i, the probability of slot i.
    p: Vec<f64>,
    /// p_i + S_i, the probability of slot i or a later one. The vector has one entry more than there are slots; the
    /// last entry is 0.
    from: Vec<f64>,
}

impl Slots {
    /// A distribution with probabilities proportional to `weights`. Returns an error if `weights` is empty, too long,
    /// contains a negative number, or is all zeros.
    pub fn of(weights: &[f64]) -> Result<Slots, Invalid> {
        count(weights.len())?;
        weights.iter().try_for_each(|w| not_negative("weight", *w).map(drop))?;
        let sum: f64 = weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(invalid("sum of the weights", sum, "finite and above 0"));
        }
        let p: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        // The sum starts at the far end, where the terms may be small: every tail keeps its relative precision.
        let mut from = vec![0.0; p.len() + 1];
        for i in (0..p.len()).rev() {
            from[i] = from[i + 1] + p[i];
        }
        Ok(Slots { p, from })
    }

    /// The uniform distribution over C = `slots` slots, used by H.
    pub fn uniform(slots: u32) -> Result<Slots, Invalid> {
        Slots::of(&vec![1.0; count(slots as usize)?])
    }

    /// HASH1's decreasing distribution over `cw` slots: floor(t CW) with t of density 2 (1 - t).
    pub fn hash1(cw: u32) -> Result<Slots, Invalid> {
        count(cw as usize)?;
        // Starzetz 2006 eq. 8.21: p_i = (1 - i/CW)^2 - (1 - (i+1)/CW)^2 = (2 (CW - i) - 1)/CW^2.
        Slots::of(&(0..cw).map(|i| 2.0 * f64::from(cw - i) - 1.0).collect::<Vec<_>>())
    }

    /// p_i of every slot.
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// Probability of slot i or a later one, for i in 0..=C.
    pub fn from(&self, i: usize) -> f64 {
        self.from.get(i).copied().unwrap_or(0.0)
    }

    /// Mean slot.
    pub fn mean(&self) -> f64 {
        self.from.iter().skip(1).sum()
    }
}

/// Returns `slots` if it is a valid window size, otherwise an error.
fn count(slots: usize) -> Result<usize, Invalid> {
    if (1..=MOST_SLOTS as usize).contains(&slots) {
        Ok(slots)
    } else {
        Err(invalid("slots", slots, "between 1 and 1048576"))
    }
}

/// Families of distributions with the window size as their only parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The same probability in every slot.
    Uniform,
    /// HASH1's decreasing distribution.
    Hash1,
}

impl Family {
    /// All families with their names.
    pub const ALL: [(&'static str, Family); 2] = [("uniform", Family::Uniform), ("hash1", Family::Hash1)];

    /// The distribution for a window of `cw` slots. Returns an error if `cw` is 0 or too large.
    pub fn slots(self, cw: u32) -> Result<Slots, Invalid> {
        match self {
            Family::Uniform => Slots::uniform(cw),
            Family::Hash1 => Slots::hash1(cw),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ramp_of_four_slots_is_7_5_3_1_sixteenths() {
        // (1 - i/4)^2 - (1 - (i+1)/4)^2 by hand.
        assert_eq!(Slots::hash1(4).unwrap().probabilities(), [7.0 / 16.0, 5.0 / 16.0, 3.0 / 16.0, 1.0 / 16.0]);
        assert_eq!(Slots::hash1(4).unwrap().mean(), 0.875);
        assert_eq!(Slots::uniform(4).unwrap().mean(), 1.5);
    }

    #[test]
    fn the_ramp_is_what_floor_of_t_times_cw_gives_by_inversion() {
        // t = 1 - sqrt(1 - u) on a fine grid of u.
        let (cw, grid) = (37_u32, 1_000_000_u32);
        let mut seen = vec![0.0; cw as usize];
        for k in 0..grid {
            let u = (f64::from(k) + 0.5) / f64::from(grid);
            seen[((1.0 - (1.0 - u).sqrt()) * f64::from(cw)) as usize] += 1.0 / f64::from(grid);
        }
        for (got, want) in Slots::hash1(cw).unwrap().probabilities().iter().zip(seen) {
            assert!((got - want).abs() < 2e-6, "{got} {want}");
        }
    }

    proptest! {
        #[test]
        fn probabilities_sum_to_1_and_tails_fall(
            weights in prop::collection::vec(0.0..1.0f64, 1..200), scale in 1e-6..1e6f64,
        ) {
            prop_assume!(weights.iter().sum::<f64>() > 0.0);
            let s = Slots::of(&weights.iter().map(|w| w * scale).collect::<Vec<_>>()).unwrap();
            prop_assert!((s.from(0) - 1.0).abs() < 1e-12);
            prop_assert!((0..weights.len()).all(|i| s.from(i) >= s.from(i + 1)));
            prop_assert_eq!(s.from(weights.len()), 0.0);
        }
    }

    #[test]
    fn impossible_windows_are_errors() {
        assert_eq!(Slots::uniform(0).unwrap_err().what, "slots");
        assert_eq!(Slots::hash1(MOST_SLOTS + 1).unwrap_err().what, "slots");
        assert_eq!(Slots::of(&[1.0, -1.0]).unwrap_err().what, "weight");
        assert_eq!(Slots::of(&[1.0, f64::NAN]).unwrap_err().what, "weight");
        assert_eq!(Slots::of(&[0.0, 0.0]).unwrap_err().what, "sum of the weights");
        assert_eq!(Slots::of(&[f64::MAX, f64::MAX]).unwrap_err().what, "sum of the weights");
    }
}
