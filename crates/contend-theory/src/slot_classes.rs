//! Classes of stations that share one contention window. Each class has its own distribution of slots.
//!
//! Starzetz 2006 §8.3: the distributions determine the quality of service, the window size determines the collision
//! rate.
//!
//! Differences from the source: the source proposes the method but computes no result. Here each station has one class.
//! Contention between classes inside one station is left out.

use crate::Invalid;
use crate::invalid::invalid;
use crate::numbers::power;
use crate::slots::Slots;

/// Stations with the same distribution of slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Number of stations.
    pub stations: u32,
    /// Their distribution of slots.
    pub slots: Slots,
}

/// Averages over contention cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// Share of cycles in which one station of a class sends alone, class by class.
    pub success: Vec<f64>,
    /// Share of cycles that end in a collision, within one class or between classes.
    pub collision: f64,
    /// Mean number of empty slots per cycle.
    pub wait: f64,
}

/// Contention of all `classes` together. Returns an error if there is no station.
pub fn shares(classes: &[Class]) -> Result<Shares, Invalid> {
    if classes.iter().all(|c| c.stations == 0) {
        return Err(invalid("stations", 0, "at least one in all classes together"));
    }
    let longest = classes.iter().map(|c| c.slots.probabilities().len()).max().unwrap_or(0);
    let mut all = Shares { success: vec![0.0; classes.len()], collision: 0.0, wait: 0.0 };
    let mut come = 1.0;
    for i in 0..longest {
        // `come`: the probability that no station sends before slot i. `beyond`: the probability that no station sends
        // up to and including slot i.
        let beyond: f64 = classes.iter().map(|c| power(c.slots.from(i + 1), c.stations)).product();
        let mut alone = 0.0;
        for (k, (c, success)) in classes.iter().zip(&mut all.success).enumerate() {
            let Some(fellows) = c.stations.checked_sub(1) else { continue };
            let others: f64 = classes
                .iter()
                .enumerate()
                .filter(|(l, _)| *l != k)
                .map(|(_, o)| power(o.slots.from(i + 1), o.stations))
                .product();
            let p = c.slots.probabilities().get(i).copied().unwrap_or(0.0);
            let one = f64::from(c.stations) * p * power(c.slots.from(i + 1), fellows) * others;
            *success += one;
            alone += one;
        }
        all.collision += (come - beyond - alone).max(0.0);
        all.wait += beyond;
        come = beyond;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::hash_table::contention;
    use proptest::prelude::*;

    fn class(stations: u32, weights: &[f64]) -> Class {
        Class { stations, slots: Slots::of(weights).unwrap() }
    }

    #[test]
    fn two_stations_by_hand() {
        // Station 1 sends in slot 0 or 1 with equal probability. Station 2 sends in slot 1 with 3/4 and in slot 0 with
        // 1/4. Alone: 1/2 x 3/4 and 1/2 x 1/4. The remaining probability is a collision. The cycle ends in slot 1 if
        // neither station draws 0.
        let got = shares(&[class(1, &[1.0, 1.0]), class(1, &[1.0, 3.0])]).unwrap();
        assert_eq!(got, Shares { success: vec![0.375, 0.125], collision: 0.5, wait: 0.375 });
        // A class always wins if its window ends before the window of the other class begins.
        let got = shares(&[class(1, &[1.0, 1.0]), class(3, &[0.0, 0.0, 1.0])]).unwrap();
        assert_eq!((got.success, got.collision), (vec![1.0, 0.0], 0.0));
    }

    #[test]
    fn one_class_in_two_parts_is_h() {
        for (a, b) in [(1_u32, 1_u32), (2, 5), (10, 0), (100, 28)] {
            let slots = Slots::hash1(64).unwrap();
            let got =
                shares(&[Class { stations: a, slots: slots.clone() }, Class { stations: b, slots: slots.clone() }])
                    .unwrap();
            let want = contention(&slots, a + b).unwrap();
            let part = f64::from(a) / f64::from(a + b);
            assert!(
                (got.success[0] - want.success * part).abs() < 1e-12
                    && (got.success[1] - want.success * (1.0 - part)).abs() < 1e-12
            );
            assert!((got.collision - want.collision).abs() < 1e-12);
            let wait = want.success * want.success_wait.unwrap() + want.collision * want.collision_wait.unwrap();
            assert!((got.wait - wait).abs() < 1e-10);
        }
    }

    #[test]
    fn no_station_is_an_error() {
        assert_eq!(shares(&[]).unwrap_err().what, "stations");
        assert_eq!(shares(&[class(0, &[1.0])]).unwrap_err().what, "stations");
    }

    proptest! {
        #[test]
        fn all_draws_one_by_one_give_the_shares(
            a in prop::collection::vec(0.01..1.0f64, 1..5), b in prop::collection::vec(0.01..1.0f64, 1..5),
            n in 1..4u32, m in 1..4u32,
        ) {
            let classes = [class(n, &a), class(m, &b)];
            let got = shares(&classes).unwrap();
            let of = |i: usize| usize::from(i >= n as usize);
            let size = |i: usize| if of(i) == 0 { a.len() } else { b.len() };
            let (mut success, mut collision) = ([0.0, 0.0], 0.0);
            let all = (n + m) as usize;
            for code in 0..(0..all).map(size).product::<usize>() {
                let draws: Vec<usize> = (0..all).scan(code, |k, i| Some((*k % size(i), *k /= size(i)).0)).collect();
                let weight: f64 = draws.iter().enumerate().map(|(
                    i, d,
                )| classes[of(i)].slots.probabilities()[*d]).product();
                let least = draws.iter().min().unwrap();
                let senders: Vec<usize> = (0..all).filter(|i| draws[*i] == *least).collect();
                if senders.len() == 1 { success[of(senders[0])] += weight } else { collision += weight }
            }
            let near = |a: f64, b: f64| (a - b).abs() < 1e-10;
            prop_assert!(near(got.success[0], success[0]) && near(got.success[1], success[1]));
            prop_assert!(near(got.collision, collision));
        }
    }
}
