//! Backoffs as permutations: each station repeats its own order of the slots, and draws a new order after collisions.
//!
//! Starzetz 2006 §8.1.2, a sketch with a negative result: orders without collisions can be very unfair.
//!
//! Differences from the source: the source gives one example, [1 2 3 4] against [2 3 4 1]. Here the probability of such
//! an outcome is counted, for two stations that draw both orders again until no cycle collides.

use crate::Invalid;
use crate::invalid::{invalid, probability};

/// The largest number of slots per order. Above it, the counts of orders exceed the range of floating-point numbers.
pub const MOST_SLOTS: u32 = 150;

/// The result of one turn: each station goes through its order once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Cycles that each station wins.
    pub wins: Vec<u32>,
    /// Cycles that end in a collision.
    pub collisions: u32,
}

/// One turn of `orders`. `orders[i]` has the slot of station i in each cycle. Returns an error unless all orders have
/// the same length.
pub fn turn(orders: &[Vec<u32>]) -> Result<Turn, Invalid> {
    let long = orders.first().map_or(0, Vec::len);
    if long == 0 || orders.iter().any(|o| o.len() != long) {
        return Err(invalid("orders", orders.len(), "at least one, and all of the same length"));
    }
    let mut turn = Turn { wins: vec![0; orders.len()], collisions: 0 };
    for cycle in 0..long {
        let slot = |o: &Vec<u32>| o.get(cycle).copied();
        let least = orders.iter().filter_map(slot).min();
        let mut first = (0..).zip(orders).filter(|(_, o)| slot(o) == least).map(|(i, _): (usize, _)| i);
        match (first.next(), first.next()) {
            (Some(winner), None) => turn.wins.iter_mut().skip(winner).take(1).for_each(|w| *w += 1),
            _ => turn.collisions += 1,
        }
    }
    Ok(turn)
}

/// Probability that one of two stations gets at least the share `share` of the cycles, if their orders of `slots` slots
/// do not collide. Returns an error unless there are 2 to [`MOST_SLOTS`] slots and `share` is a probability.
pub fn unequal(slots: u32, share: f64) -> Result<f64, Invalid> {
    if !(2..=MOST_SLOTS).contains(&slots) {
        return Err(invalid("slots", slots, "between 2 and 150"));
    }
    let share = probability("share", share)?;
    let all = excedances(slots as usize);
    let most = |wins: usize| wins.max(slots as usize - wins) as f64 / f64::from(slots);
    let far: f64 = all.iter().enumerate().filter(|(wins, _)| most(*wins) >= share - 1e-12).map(|(_, n)| n).sum();
    Ok(far / all.iter().sum::<f64>())
}

/// Entry k is the number of permutations of n without a fixed point that have k excedances. If the second station has
/// the permuted order, an excedance is a cycle that the first station wins.
fn excedances(n: usize) -> Vec<f64> {
    // D(n, k) = k D(n-1, k) + (n-k) D(n-1, k-1) + (n-1) D(n-2, k-1): element n joins a cycle of a smaller permutation,
    // or makes a pair with another element.
    let (mut before, mut last) = (vec![1.0], vec![0.0, 0.0]);
    for m in 2..=n {
        let at = |row: &[f64], k: usize| row.get(k).copied().unwrap_or(0.0);
        let next = (0..=m)
            .map(|k| {
                let fewer = |row: &[f64]| k.checked_sub(1).map_or(0.0, |j| at(row, j));
                k as f64 * at(&last, k) + (m - k) as f64 * fewer(&last) + (m - 1) as f64 * fewer(&before)
            })
            .collect();
        before = std::mem::replace(&mut last, next);
    }
    last
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// All orders of 0..n.
    fn orders(n: u32) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![vec![]];
        }
        let longer = |o: Vec<u32>| {
            (0..=o.len()).map(move |i| {
                let mut o = o.clone();
                o.insert(i, n - 1);
                o
            })
        };
        orders(n - 1).into_iter().flat_map(longer).collect()
    }

    #[test]
    fn the_example_of_the_source_gives_three_quarters_to_the_first() {
        // Starzetz 2006 §8.1.2: node 1 wins 75 % of cycles, node 2 25 %.
        assert_eq!(turn(&[vec![1, 2, 3, 4], vec![2, 3, 4, 1]]).unwrap(), Turn { wins: vec![3, 1], collisions: 0 });
        assert_eq!(turn(&[vec![1, 2], vec![1, 2], vec![2, 1]]).unwrap(), Turn { wins: vec![0, 0, 1], collisions: 1 });
    }

    #[test]
    fn all_pairs_of_orders_one_by_one_give_the_counts() {
        for n in 2..=7 {
            let first: Vec<u32> = (0..n).collect();
            let mut counts = vec![0.0; n as usize + 1];
            for second in orders(n) {
                let turn = turn(&[first.clone(), second]).unwrap();
                if turn.collisions == 0 {
                    counts[turn.wins[0] as usize] += 1.0;
                }
            }
            assert_eq!(excedances(n as usize), counts, "{n}");
        }
    }

    #[test]
    fn of_nine_ends_with_four_slots_two_are_three_to_one() {
        // Of the permutations of four without a fixed point, 1 has one excedance, 7 have two, and 1 has three.
        assert!((unequal(4, 0.75).unwrap() - 2.0 / 9.0).abs() < 1e-15);
        assert_eq!((unequal(4, 0.5).unwrap(), unequal(4, 0.8).unwrap(), unequal(2, 0.5).unwrap()), (1.0, 0.0, 1.0));
        assert!(unequal(MOST_SLOTS, 0.75).unwrap() < 1e-9);
    }

    #[test]
    fn orders_that_are_none_are_errors() {
        assert_eq!(turn(&[]).unwrap_err().what, "orders");
        assert_eq!(turn(&[vec![1, 2], vec![1]]).unwrap_err().what, "orders");
        assert_eq!(unequal(1, 0.5).unwrap_err().what, "slots");
        assert_eq!(unequal(200, 0.5).unwrap_err().what, "slots");
        assert_eq!(unequal(4, 1.5).unwrap_err().what, "share");
    }
}
