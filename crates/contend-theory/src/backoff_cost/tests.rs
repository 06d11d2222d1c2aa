//! Checks costs and optima against hand calculation, the specification's numbers, enumeration and search.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::backoff_density::{with_wait, without_wait};
use proptest::prelude::*;

fn near(got: f64, want: f64, within: f64) {
    assert!((got - want).abs() <= within, "{got} {want}");
}

/// p(t) of `slots` at t, interpolated between the middles of slots.
fn density(slots: &Slots, t: f64) -> f64 {
    let (p, c) = (slots.probabilities(), slots.probabilities().len() as f64);
    let at = (t * c - 0.5).clamp(0.0, c - 1.001);
    let (i, part) = (at as usize, at.fract());
    c * (p[i] + (p[i + 1] - p[i]) * part)
}

#[test]
fn optima_over_fine_slots_tend_to_the_continuous_ones() {
    for cost in [0.5, 4.0, 20.0] {
        let (plain, full) = (Costs::density_without_wait(4000, cost).unwrap(), Costs::density(4000, cost).unwrap());
        let (plain, full) = (plain.optimum(2).unwrap().slots, full.optimum(2).unwrap().slots);
        for k in 1..10 {
            let t = f64::from(k) / 10.0;
            near(density(&plain, t), without_wait(cost, t).unwrap().pdf, 2e-3);
            near(density(&full, t), with_wait(cost, t).unwrap().pdf, 2e-3);
        }
    }
}

#[test]
fn over_real_slots_the_optimum_tends_to_eq_8_19_with_the_cost_over_the_slots() {
    // Q(i+1) - 2 Q(i) + Q(i-1) = Q(i)/T for the tail of two stations: c'' = (c - 1) C^2/T.
    let (slots, cost) = (1000_u32, 3000.0);
    let got = Costs::slots(slots, cost).unwrap().optimum(2).unwrap().slots;
    for k in 1..10 {
        let t = f64::from(k) / 10.0;
        near(density(&got, t), without_wait(cost / f64::from(slots * slots), t).unwrap().pdf, 0.03 * density(&got, t));
    }
}

#[test]
fn two_slots_by_hand() {
    // N stations, A = i + T, B = i. u is the share beyond slot 0. The cost is T (1 - u^N - N (1-u) u^(N-1)) + (1 + T)
    // u^N, which is least at u = (N-1) T/(1 + N T).
    for (n, t) in [(2_u32, 4.0), (5, 50.0), (50, 1.0)] {
        let best = Costs::slots(2, t).unwrap().optimum(n).unwrap();
        let nf = f64::from(n);
        near(best.slots.probabilities()[1], (nf - 1.0) * t / (1.0 + nf * t), 1e-14);
    }
    // Two stations: p = (T + 1, T)/(2T + 1), ζ = T p0^2 + (T + 1) p1^2.
    near(Costs::slots(2, 4.0).unwrap().optimum(2).unwrap().wasted, (4.0 * 25.0 + 5.0 * 16.0) / 81.0, 1e-14);
    // A single station sends at once and wastes nothing.
    let one = Costs::slots(8, 10.0).unwrap().optimum(1).unwrap();
    assert_eq!((one.slots.from(1), one.wasted), (0.0, 0.0));
}

#[test]
fn the_least_of_collisions_alone_is_uniform_for_two_and_p_star_for_more() {
    // Starzetz 2006 §8.1.2 for two stations.
    let two = Costs::collisions(16).unwrap().optimum(2).unwrap();
    two.slots.probabilities().iter().for_each(|p| near(*p, 1.0 / 16.0, 1e-14));
    near(two.wasted, 1.0 / 16.0, 1e-14);
    // Tay, Jamieson, Balakrishnan 2004: f_1 = 0, f_s = ((N-1)/(N - f_(s-1)))^(N-1). Slot k of K takes the share (1 -
    // f_(K-k))/(N - f_(K-k)) of the remaining probability. The success probability is f_K.
    for n in [3_u32, 10, 50] {
        let nf = f64::from(n);
        let slots = 32;
        let mut f = vec![0.0];
        for s in 1..slots {
            f.push(((nf - 1.0) / (nf - f[s - 1])).powi(n as i32 - 1));
        }
        let best = Costs::collisions(slots as u32).unwrap().optimum(n).unwrap();
        let mut left = 1.0;
        for k in 1..slots {
            let p = (1.0 - f[slots - k - 1]) / (nf - f[slots - k - 1]) * left;
            near(best.slots.probabilities()[k - 1], p, 1e-13);
            left -= p;
        }
        near(best.wasted, 1.0 - f[slots - 1], 1e-12);
        let uniform = Costs::collisions(slots as u32)
            .unwrap()
            .wasted(&Slots::uniform(slots as u32).unwrap(), n, Sum::Expanded)
            .unwrap();
        assert!(best.wasted < uniform * 0.9, "{n}: {} {uniform}", best.wasted);
    }
}

#[test]
fn for_each_success_many_stations_in_a_long_window_send_as_idle_sense_wants() {
    // Heusse et al. 2005 (Idle Sense): ζ, the mean number of attempts of all stations in a slot, satisfies 1 - ζ = (1 -
    // T_slot/T_c) e^-ζ. ζ is 0.1622 for T_c/T_slot = 68.
    let (n, cost) = (2000_u32, 68.0);
    let best = Costs::slots(500, cost).unwrap().optimum_per_success(n).unwrap();
    let attempts = best.slots.probabilities()[0] * f64::from(n);
    near(attempts, 0.1622, 3e-4);
    near(1.0 - attempts, (1.0 - 1.0 / cost) * libm::exp(-attempts), 1e-4);
    // The optimum per cycle has slightly more attempts, because its cost does not include the cycle after a collision.
    let cycle = Costs::slots(500, cost).unwrap().optimum(n).unwrap();
    assert!(cycle.slots.probabilities()[0] > best.slots.probabilities()[0]);
}

/// The cost, by enumeration of all draws.
fn enumerated(costs: &Costs, p: &[f64], n: u32) -> f64 {
    let c = p.len();
    (0..c.pow(n))
        .map(|code| {
            let draws: Vec<usize> = (0..n).scan(code, |k, _| Some((*k % c, *k /= c).0)).collect();
            let least = draws.iter().copied().min().unwrap();
            let alone = draws.iter().filter(|d| **d == least).count() == 1;
            draws.iter().map(|d| p[*d]).product::<f64>()
                * if alone { costs.success[least] } else { costs.collision[least] }
        })
        .sum()
}

#[test]
fn no_distribution_on_a_fine_grid_wastes_less() {
    for n in [2_u32, 3, 8] {
        let costs = Costs::slots(4, 7.0).unwrap();
        let best = costs.optimum(n).unwrap();
        let steps = 60;
        let mut least = f64::INFINITY;
        for a in 0..=steps {
            for b in 0..=steps - a {
                for c in 0..=steps - a - b {
                    let weights = [a, b, c, steps - a - b - c].map(f64::from);
                    least = least.min(costs.wasted(&Slots::of(&weights).unwrap(), n, Sum::Expanded).unwrap());
                }
            }
        }
        assert!(best.wasted <= least && least < best.wasted * 1.005, "{n}: {} {least}", best.wasted);
    }
}

/// A generic search: it moves one coordinate at a time by shrinking steps while the cost falls. A coordinate is the
/// logit of a conditional probability: that a station sends in this slot if it has not sent in an earlier slot.
fn searched(costs: &Costs, n: u32) -> f64 {
    let mut logits = vec![0.0; costs.collision.len() - 1];
    let cost = |logits: &[f64]| {
        let mut left = 1.0;
        let send = |x: &f64| {
            let here = left / (1.0 + libm::exp(-x));
            left -= here;
            here
        };
        let mut p: Vec<f64> = logits.iter().map(send).collect();
        p.push(left);
        costs.wasted(&Slots::of(&p).unwrap(), n, Sum::Expanded).unwrap()
    };
    let (mut best, mut step) = (cost(&logits), 1.0);
    while step > 1e-5 {
        let mut moved = false;
        for i in 0..logits.len() {
            for d in [step, -step] {
                let was = logits[i];
                logits[i] += d;
                let now = cost(&logits);
                if now < best {
                    (best, moved) = (now, true);
                    break;
                }
                logits[i] = was;
            }
        }
        if !moved {
            step /= 2.0;
        }
    }
    best
}

#[test]
fn a_search_that_knows_nothing_of_the_problem_finds_the_same_cost() {
    for (n, slots, t) in [(2_u32, 16_u32, 30.0), (5, 16, 30.0), (20, 24, 60.0), (50, 12, 68.0)] {
        let costs = Costs::slots(slots, t).unwrap();
        let (best, found) = (costs.optimum(n).unwrap(), searched(&costs, n));
        assert!(best.wasted <= found + 1e-9 && found < best.wasted * (1.0 + 1e-5), "{n}: {} {found}", best.wasted);
        near(costs.wasted(&best.slots, n, Sum::Expanded).unwrap(), best.wasted, 1e-10 * best.wasted);
    }
}

#[test]
fn the_compact_sum_is_another_number() {
    // Spec U3: binom(N, i+1) instead of binom(N, i). For N = 2 each slot has 2 p^2 instead of p^2.
    let slots = Slots::of(&[0.2, 0.5, 0.3]).unwrap();
    let costs = Costs::collisions(3).unwrap();
    near(costs.wasted(&slots, 2, Sum::Printed).unwrap(), 2.0 * (0.04 + 0.25 + 0.09), 1e-14);
    // N = 4: 4 p^4 + 6 p^3 S + 4 p^2 S^2, with (p, S) = (0.2, 0.8), (0.5, 0.3), (0.3, 0).
    let of = |p: f64, s: f64| 4.0 * p * p * p * p + 6.0 * p * p * p * s + 4.0 * p * p * s * s;
    near(costs.wasted(&slots, 4, Sum::Printed).unwrap(), of(0.2, 0.8) + of(0.5, 0.3) + of(0.3, 0.0), 1e-14);
    // The expansion is a probability.
    near(costs.wasted(&slots, 4, Sum::Expanded).unwrap(), enumerated(&costs, slots.probabilities(), 4), 1e-14);
}

proptest! {
    #[test]
    fn nothing_wastes_less_for_each_success(
        weights in prop::collection::vec(0.001..1.0f64, 2..40), n in 1..60u32, t in 0.1..200.0f64,
        nearness in 0.0..1.0f64,
    ) {
        let costs = Costs::slots(weights.len() as u32, t).unwrap();
        let best = costs.optimum_per_success(n).unwrap();
        let other: Vec<f64> = best.slots.probabilities().iter().zip(&weights).map(|(
            p, w,
        )| p * nearness + w / 20.0 * (1.0 - nearness)).collect();
        let ratio = |s: &Slots| {
            let collision: f64 = cycle_ends(s, n).unwrap().map(|(_, c)| c).sum();
            costs.wasted(s, n, Sum::Expanded).unwrap() / (1.0 - collision)
        };
        prop_assert!((ratio(&best.slots) - best.wasted).abs() <= 1e-9 * (1.0 + best.wasted));
        prop_assert!(best.wasted <= ratio(&Slots::of(&other).unwrap()) * (1.0 + 1e-9));
    }

    #[test]
    fn costs_are_those_of_all_draws(
        weights in prop::collection::vec(0.01..1.0f64, 1..6), n in 1..5u32, t in 0.1..50.0f64,
    ) {
        let s = Slots::of(&weights).unwrap();
        let costs = Costs::slots(weights.len() as u32, t).unwrap();
        let want = enumerated(&costs, s.probabilities(), n);
        prop_assert!((costs.wasted(&s, n, Sum::Expanded).unwrap() - want).abs() < 1e-10 * (1.0 + want));
    }

    #[test]
    fn nothing_wastes_less_than_the_optimum(
        a in prop::collection::vec(0.0..50.0f64, 40), b in prop::collection::vec(0.0..50.0f64, 40),
        weights in prop::collection::vec(0.001..1.0f64, 40), slots in 1..40usize, n in 1..60u32,
        nearness in 0.0..1.0f64,
    ) {
        // Arbitrary costs: a success may cost more than a collision.
        let costs = Costs::of(a[..slots].to_vec(), b[..slots].to_vec()).unwrap();
        let best = costs.optimum(n).unwrap();
        let other: Vec<f64> = best.slots.probabilities().iter().zip(&weights).map(|(
            p, w,
        )| p * nearness + w / 20.0 * (1.0 - nearness)).collect();
        let other = costs.wasted(&Slots::of(&other).unwrap(), n, Sum::Expanded).unwrap();
        let own = costs.wasted(&best.slots, n, Sum::Expanded).unwrap();
        prop_assert!((own - best.wasted).abs() <= 1e-9 * (1.0 + own), "{} {}", own, best.wasted);
        prop_assert!(own <= other + 1e-9, "{} {}", own, other);
    }

    #[test]
    fn the_optimum_falls_from_slot_to_slot_for_two_and_wastes_less_than_uniform(slots in 2..200u32, t in 0.1..1e4f64) {
        let costs = Costs::slots(slots, t).unwrap();
        let best = costs.optimum(2).unwrap();
        prop_assert!(best.slots.probabilities().windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)));
        let uniform = costs.wasted(&Slots::uniform(slots).unwrap(), 2, Sum::Expanded).unwrap();
        prop_assert!(best.wasted <= uniform);
    }
}

#[test]
fn impossible_costs_are_errors() {
    assert_eq!(Costs::slots(0, 1.0).unwrap_err().what, "slots");
    assert_eq!(Costs::slots(4, 0.0).unwrap_err().what, "collision");
    assert_eq!(Costs::of(vec![1.0], vec![]).unwrap_err().what, "costs");
    assert_eq!(Costs::of(vec![-1.0], vec![0.0]).unwrap_err().what, "cost");
    // With one slot, two stations never succeed.
    assert_eq!(Costs::slots(1, 1.0).unwrap().optimum_per_success(2).unwrap_err().what, "slots");
    assert_eq!(Costs::slots(4, 1.0).unwrap().optimum(0).unwrap_err().what, "stations");
    assert_eq!(
        Costs::slots(4, 1.0).unwrap().wasted(&Slots::uniform(5).unwrap(), 2, Sum::Expanded).unwrap_err().what,
        "slots"
    );
}
