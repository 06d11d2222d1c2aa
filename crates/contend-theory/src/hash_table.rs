//! H: N stations draw one slot each and forget it after the cycle, like keys that are inserted into a hash table.
//!
//! Starzetz 2006 §8.1.1, eqs. 8.1-8.4, in the closed form that follows from the terms of §8.1.2. The stations with the
//! lowest slot send: one station succeeds, several collide. Later slots have no effect.
//!
//! Differences from the source:
//! - A closed form replaces the simulation and holds for any distribution of slots.
//! - The source does not say how channel errors σ change the observed collisions. Here a frame counts as collided if
//!   there was a collision or an error, and both are independent ([`with_errors`]).

use crate::Invalid;
use crate::invalid::{invalid, probability};
use crate::numbers::power;
use crate::slots::Slots;
use std::ops::RangeInclusive;

/// Averages over contention cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Share of cycles in which one station alone sends.
    pub success: f64,
    /// p_c, share of cycles that end in a collision.
    pub collision: f64,
    /// W_T, mean number of empty slots before a success; `None` if no cycle succeeds.
    pub success_wait: Option<f64>,
    /// W_C, mean number of empty slots before a collision; `None` if no cycle collides.
    pub collision_wait: Option<f64>,
}

impl Contention {
    /// R, number of collisions per success.
    pub fn ratio(&self) -> f64 {
        // Starzetz 2006 §8.2: p_c = R/(R + 1).
        self.collision / self.success
    }
}

/// Contention among `stations` that draw from `slots`. Returns an error if there is no station.
pub fn contention(slots: &Slots, stations: u32) -> Result<Contention, Invalid> {
    let (mut success, mut collision, mut t, mut c) = (0.0, 0.0, 0.0, 0.0);
    for (i, (one, more)) in cycle_ends(slots, stations)?.enumerate() {
        success += one;
        collision += more;
        t += i as f64 * one;
        c += i as f64 * more;
    }
    let mean = |sum: f64, share: f64| (share > 0.0).then(|| sum / share);
    // Without rounding errors the sum of the two is 1.
    let all = success + collision;
    Ok(Contention {
        success: success / all,
        collision: collision / all,
        success_wait: mean(t, success),
        collision_wait: mean(c, collision),
    })
}

/// P_tx(i) and P_col(i) of each slot i: the probability that a cycle ends there in a success, and that it ends there in
/// a collision. Returns an error if there is no station.
pub fn cycle_ends(slots: &Slots, stations: u32) -> Result<impl Iterator<Item = (f64, f64)>, Invalid> {
    if stations == 0 {
        return Err(invalid("stations", 0, "at least one"));
    }
    Ok(slots.probabilities().iter().enumerate().map(move |(i, p)| {
        let here = slots.from(i);
        if here <= 0.0 {
            return (0.0, 0.0);
        }
        // `come`: no station sends before slot i. Each station then sends in slot i with probability p_i / (p_i + S_i).
        let come = power(here, stations);
        let (one, more) = senders(p / here, slots.from(i + 1) / here, stations);
        (come * one, come * more)
    }))
}

/// Probability that exactly one of n stations sends, and that more than one sends. Each sends with probability x = 1 -
/// s.
fn senders(x: f64, s: f64, n: u32) -> (f64, f64) {
    let nf = f64::from(n);
    let one = nf * x * power(s, n - 1);
    // Starzetz 2006 §8.1.2: sum over k >= 2 of binom(N, k) p^k S^(N-k) = (p+S)^N - S^N - N p S^(N-1). When collisions
    // are rare, the difference loses its significant digits; the sum is then used instead, which converges in a few
    // terms.
    if nf * x >= 1.0 {
        return (one, (1.0 - power(s, n) - one).max(0.0));
    }
    let (mut term, mut more) = (one, 0.0);
    for k in 2..=n {
        term *= f64::from(n - k + 1) / f64::from(k) * (x / s);
        more += term;
        if term <= more * 1e-18 {
            break;
        }
    }
    (one, more)
}

/// A row of the source's data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// N, stations.
    pub stations: u32,
    /// C, slots.
    pub slots: u32,
    /// Contention among these stations with these slots.
    pub contention: Contention,
}

/// H for each number of stations N in `stations`, each with C = N..=N + `beyond` slots. The source uses N = 1..=256 and
/// `beyond` = 256. Errors: see [`contention`].
pub fn data_set(stations: RangeInclusive<u32>, beyond: u32) -> impl Iterator<Item = Result<Row, Invalid>> {
    stations.flat_map(move |n| {
        (n..=n.saturating_add(beyond))
            .map(move |c| Ok(Row { stations: n, slots: c, contention: contention(&Slots::uniform(c)?, n)? }))
    })
}

/// Share of cycles that look like collisions, when a share `collision` are collisions and every frame has an error with
/// probability `corrupted` (operator M over a noisy channel). Returns an error unless both are probabilities.
pub fn with_errors(collision: f64, corrupted: f64) -> Result<f64, Invalid> {
    // Starzetz 2006 §11.1 does not say how errors combine with collisions. This reading: m' = m or σ.
    let (c, s) = (probability("collision", collision)?, probability("corrupted", corrupted)?);
    Ok(c + s - c * s)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn h(c: u32, n: u32) -> Contention {
        contention(&Slots::uniform(c).unwrap(), n).unwrap()
    }

    /// Contention by enumeration of all draws of all stations.
    fn enumerated(p: &[f64], n: u32) -> Contention {
        let c = p.len();
        let (mut success, mut collision, mut t, mut w) = (0.0, 0.0, 0.0, 0.0);
        for code in 0..c.pow(n) {
            let draws: Vec<usize> = (0..n).scan(code, |k, _| Some((*k % c, *k /= c).0)).collect();
            let weight: f64 = draws.iter().map(|d| p[*d]).product();
            let least = draws.iter().min().unwrap();
            if draws.iter().filter(|d| *d == least).count() == 1 {
                success += weight;
                t += weight * *least as f64;
            } else {
                collision += weight;
                w += weight * *least as f64;
            }
        }
        let mean = |sum: f64, share: f64| (share > 0.0).then(|| sum / share);
        Contention { success, collision, success_wait: mean(t, success), collision_wait: mean(w, collision) }
    }

    fn alike(a: &Contention, b: &Contention, within: f64) -> bool {
        let near = |x: f64, y: f64| (x - y).abs() <= within * y.abs().max(1e-3);
        let waits = |x: Option<f64>, y: Option<f64>| match (x, y) {
            (Some(x), Some(y)) => near(x, y),
            (x, y) => x == y,
        };
        near(a.success, b.success)
            && near(a.collision, b.collision)
            && waits(a.success_wait, b.success_wait)
            && waits(a.collision_wait, b.collision_wait)
    }

    #[test]
    fn two_stations_collide_in_one_cycle_of_c() {
        // By hand: p_c is 1/C. The slot of a collision is uniform, mean (C-1)/2. The slot of a success is the lesser of
        // two different slots, mean (C-2)/3.
        for c in [2, 3, 32, 1024, 16_384] {
            let (got, c) = (h(c, 2), f64::from(c));
            assert!((got.collision * c - 1.0).abs() < 1e-12, "{c}: {}", got.collision);
            assert!((got.collision_wait.unwrap() / ((c - 1.0) / 2.0) - 1.0).abs() < 1e-12);
            assert!((got.success_wait.unwrap() - (c - 2.0) / 3.0).abs() < 1e-10 * c);
        }
    }

    #[test]
    fn all_draws_one_by_one_give_the_closed_form() {
        for (n, c) in [(1, 1), (1, 7), (2, 1), (2, 9), (3, 4), (4, 6), (5, 5), (7, 3), (10, 2)] {
            let uniform = vec![1.0 / f64::from(c); c as usize];
            assert!(alike(&h(c, n), &enumerated(&uniform, n), 1e-12), "{n} {c}");
            let ramp = Slots::hash1(c).unwrap();
            assert!(alike(&contention(&ramp, n).unwrap(), &enumerated(ramp.probabilities(), n), 1e-12), "{n} {c}");
        }
    }

    #[test]
    fn h_has_the_waits_of_the_spec_at_equal_collision_rates() {
        // Spec E13 and E14: W_T and W_C of the H that is equivalent to 802.11, with the windows of E11.
        for (n, window, t, w) in [
            (2, 33.1_f64, 10.37, 16.1),
            (3, 26.4, 5.97, 8.24),
            (4, 25.1, 4.43, 5.74),
            (5, 25.06, 3.61, 4.49),
            (10, 29.2, 2.14, 2.43),
        ] {
            let low = h(window as u32, n);
            let high = h(window as u32 + 1, n);
            let part = window - window.floor();
            let between =
                |f: fn(&Contention) -> Option<f64>| f(&low).unwrap() * (1.0 - part) + f(&high).unwrap() * part;
            // The windows and waits were rounded to two or three digits.
            assert!((between(|c| c.success_wait) - t).abs() < 0.02, "{n}");
            assert!((between(|c| c.collision_wait) - w).abs() < 0.06, "{n}");
        }
    }

    #[test]
    fn large_tables_keep_their_precision() {
        for n in [3_u32, 17, 256] {
            let c = 16_384_u32;
            let (nf, cf) = (f64::from(n), f64::from(c));
            // p_c = 1 - N/C sum (i/C)^(N-1), by Euler and Maclaurin: N/(2C) - N (N-1)/(12 C^2) + N (N-1)(N-2)(N-3)/(720
            // C^4) - ...
            let (b2, b4) = (
                nf * (nf - 1.0) / (12.0 * cf * cf),
                nf * (nf - 1.0) * (nf - 2.0) * (nf - 3.0) / (720.0 * cf * cf * cf * cf),
            );
            let got = h(c, n).collision;
            assert!((got / (nf / (2.0 * cf) - b2 + b4) - 1.0).abs() < 1e-11, "{n}: {got}");
        }
        let worst = h(2, 256);
        assert!(worst.collision <= 1.0 && worst.success > 0.0 && worst.ratio().is_finite());
    }

    #[test]
    fn the_data_set_has_257_tables_for_each_number_of_stations() {
        let rows: Vec<Row> = data_set(1..=4, 256).map(Result::unwrap).collect();
        assert_eq!(rows.len(), 4 * 257);
        assert_eq!(
            rows.first().map(|r| (r.stations, r.slots, r.contention.collision, r.contention.collision_wait)),
            Some((1, 1, 0.0, None))
        );
        assert_eq!(rows.last().map(|r| (r.stations, r.slots)), Some((4, 260)));
    }

    #[test]
    fn noise_adds_to_collisions() {
        // By hand: 1 - 0.9 x 0.8.
        assert!((with_errors(0.1, 0.2).unwrap() - 0.28).abs() < 1e-15);
        assert_eq!((with_errors(0.1, 0.0).unwrap(), with_errors(0.1, 1.0).unwrap()), (0.1, 1.0));
        assert_eq!(with_errors(1.1, 0.0).unwrap_err().what, "collision");
        assert_eq!(with_errors(0.1, -0.1).unwrap_err().what, "corrupted");
    }

    #[test]
    fn no_station_is_an_error() {
        assert_eq!(contention(&Slots::uniform(3).unwrap(), 0).unwrap_err().what, "stations");
    }

    proptest! {
        #[test]
        fn any_distribution_is_as_its_draws_one_by_one(
            weights in prop::collection::vec(0.0..1.0f64, 1..6), n in 1..6u32,
        ) {
            prop_assume!(weights.iter().sum::<f64>() > 1e-6);
            let s = Slots::of(&weights).unwrap();
            prop_assert!(alike(&contention(&s, n).unwrap(), &enumerated(s.probabilities(), n), 1e-9));
        }

        #[test]
        fn every_cycle_ends(weights in prop::collection::vec(0.0..1.0f64, 1..300), n in 1..=256u32) {
            prop_assume!(weights.iter().sum::<f64>() > 1e-6);
            let s = Slots::of(&weights).unwrap();
            let sum: f64 = cycle_ends(&s, n).unwrap().map(|(a, b)| a + b).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{}", sum);
        }

        #[test]
        fn more_slots_collide_less_and_more_stations_collide_more(c in 1..400u32, n in 2..=256u32) {
            prop_assert!(h(c + 1, n).collision <= h(c, n).collision);
            prop_assert!(h(c, n + 1).collision >= h(c, n).collision - 1e-15);
        }
    }
}
