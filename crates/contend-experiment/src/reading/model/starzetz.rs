//! The closed forms of Starzetz 2006 for expressions: chapter 8 (table H, effective windows, fairness, the cost of
//! backoffs) and eq. 9.3.

use super::{Model, Parameter, model, whole};
use crate::reading::expression::Dimension;
use contend_core::qdisc::vfq::contention_fit;
use contend_theory::Invalid;
use contend_theory::backoff_cost::{Costs, Optimum, Sum};
use contend_theory::backoff_density;
use contend_theory::effective_window::{Measured, Standing, beside, reference, window_of};
use contend_theory::hash_table::{self, Contention};
use contend_theory::permutation;
use contend_theory::self_correlation;
use contend_theory::slots::{Family, MOST_SLOTS, Slots};
use contend_theory::window_fairness::{self, MOST_STATIONS, MOST_SUCCESSES};

pub(super) const MODELS: &[Model] = &[
    model(
        "hash.collision",
        Dimension::Number,
        "share of cycles of n stations in a table of slots that end in a collision",
        "Starzetz 2006 §8.1.1",
        &TABLE,
        collision,
    ),
    model(
        "hash.ratio",
        Dimension::Number,
        "collisions per success of n stations in a table of slots",
        "Starzetz 2006 §8.1.1",
        &TABLE,
        ratio,
    ),
    model(
        "hash.success_wait",
        Dimension::Number,
        "mean empty slots before a success of n stations in a table of slots",
        "Starzetz 2006 §8.1.1",
        &TABLE,
        success_wait,
    ),
    model(
        "hash.collision_wait",
        Dimension::Number,
        "mean empty slots before a collision of n stations in a table of slots",
        "Starzetz 2006 §8.1.1",
        &TABLE,
        collision_wait,
    ),
    model(
        "hash.window",
        Dimension::Number,
        "number of slots with which n stations collide in this share of cycles: the effective contention window",
        "Starzetz 2006 §8.1.1",
        &WINDOW,
        window,
    ),
    model(
        "hash.equal_success_wait",
        Dimension::Number,
        "mean empty slots before a success of method H (uniform slots) with this share of collisions",
        "Starzetz 2006 §8.1.1",
        &EQUAL,
        equal_success_wait,
    ),
    model(
        "hash.equal_collision_wait",
        Dimension::Number,
        "mean empty slots before a collision of method H (uniform slots) with this share of collisions",
        "Starzetz 2006 §8.1.1",
        &EQUAL,
        equal_collision_wait,
    ),
    model(
        "hash.standing",
        Dimension::Number,
        "measured waits compared with method H (uniform slots) at this share of collisions: 0 same, 1 better (both \
            shorter), 2 worse (both longer), 3 mixed",
        "Starzetz 2006 §8.1.1",
        &STANDING,
        standing,
    ),
    model(
        "hash.observed",
        Dimension::Number,
        "share of cycles that look like collisions, with channel errors",
        "Starzetz 2006 §11.1, a reading",
        &OBSERVED,
        observed,
    ),
    model(
        "hash.self_correlation",
        Dimension::Number,
        "probability that a station without memory sends again within the next j successes",
        "Starzetz 2006 §8.2",
        &AHEAD,
        memoryless,
    ),
    model(
        "hash.jain",
        Dimension::Number,
        "mean of Jain's index of n stations without memory over w successes",
        "Starzetz 2006 §8.2",
        &JAIN,
        jain,
    )
    .slow(),
    model(
        "tcf.self_correlation",
        Dimension::Number,
        "probability that a station that takes turns sends again within the next j successes",
        "Starzetz 2006 §8.2",
        &AHEAD,
        tcf,
    ),
    model(
        "contention_fit",
        Dimension::Number,
        "mean empty slots before a frame of n stations of 802.11b",
        "Starzetz 2006 eq. 9.3",
        &FIT,
        fit,
    ),
    model(
        "permutation.unequal",
        Dimension::Number,
        "probability that one of two stations gets at least this share of the cycles, if their orders never collide",
        "Starzetz 2006 §8.1.2",
        &UNEQUAL,
        unequal,
    ),
    model(
        "backoff_cost.density",
        Dimension::Number,
        "density at t of the cheapest backoff of two stations",
        "Starzetz 2006 eq. 8.17",
        &DENSITY,
        with_wait,
    ),
    model(
        "backoff_cost.density_without_wait",
        Dimension::Number,
        "density at t of the cheapest backoff of two stations if waiting before a collision costs nothing",
        "Starzetz 2006 eq. 8.19",
        &DENSITY,
        without_wait,
    ),
    model(
        "backoff_cost.optimal_density",
        Dimension::Number,
        "density at t of the cheapest backoff of n stations over slots",
        "Starzetz 2006 eqs. 8.9, 8.10, 8.15, 8.18",
        &OPTIMAL,
        optimal_density,
    )
    .slow(),
    model(
        "backoff_cost.optimal_collision",
        Dimension::Number,
        "share of cycles of the cheapest backoff of n stations over slots that end in a collision",
        "Starzetz 2006 eqs. 8.9, 8.10, 8.15, 8.18",
        &OPTIMAL_COLLISION,
        optimal_collision,
    )
    .slow(),
    model(
        "backoff_cost.least",
        Dimension::Number,
        "wasted time per cycle with the cheapest backoff of n stations over slots",
        "Starzetz 2006 eqs. 8.9, 8.20",
        &WASTED,
        least,
    ),
    model(
        "backoff_cost.least_per_success",
        Dimension::Number,
        "least wasted time per success, including the collisions before the success",
        "Starzetz 2006 §8.1.2, for a success instead of a cycle",
        &LEAST_PER_SUCCESS,
        least_per_success,
    )
    .slow(),
    model(
        "backoff_cost.uniform",
        Dimension::Number,
        "wasted time per cycle with equally likely slots",
        "Starzetz 2006 eqs. 8.9, 8.20",
        &WASTED,
        uniform,
    ),
    model(
        "backoff_cost.hash1",
        Dimension::Number,
        "wasted time per cycle with HASH1's ramp",
        "Starzetz 2006 eqs. 8.9, 8.20",
        &WASTED,
        hash1,
    ),
];

const N: Parameter = Parameter::whole("n", 1.0, 1e6, "number of stations");
/// The number of stations for a share of collisions: one station alone never collides.
const SEVERAL: Parameter = Parameter::whole("n", 2.0, 1e6, "number of stations");
const SLOTS: Parameter = Parameter::whole("slots", 1.0, MOST_SLOTS as f64, "slots of the table, or of the backoff");
const RAMP: Parameter = Parameter::switch("ramp", 0.0, "0 for the same probability in every slot, 1 for HASH1's ramp");
const RATE: Parameter = Parameter::share("collision", "share of cycles that end in a collision");

const TABLE: [Parameter; 3] = [N, SLOTS, RAMP];
const EQUAL: [Parameter; 2] = [SEVERAL, RATE];
const WINDOW: [Parameter; 3] = [SEVERAL, RATE, RAMP];
const OBSERVED: [Parameter; 2] = [RATE, Parameter::share("corrupted", "share of frames lost to channel errors")];
const STANDING: [Parameter; 5] = [
    SEVERAL,
    RATE,
    Parameter::number("success_wait", 0.0, 1e9, "measured mean of empty slots before a success"),
    Parameter::number("collision_wait", 0.0, 1e9, "measured mean of empty slots before a collision"),
    Parameter::number("within", 0.0, 1e9, "waits that differ by at most this many slots count as equal").default(0.0),
];
const AHEAD: [Parameter; 2] = [N, Parameter::whole("j", 0.0, 1e9, "successes looked ahead")];
const JAIN: [Parameter; 2] = [
    Parameter::whole("n", 1.0, MOST_STATIONS as f64, "number of stations"),
    Parameter::whole("w", 1.0, MOST_SUCCESSES as f64, "successes in a window"),
];
const FIT: [Parameter; 1] = [N];
const UNEQUAL: [Parameter; 2] = [
    Parameter::whole("slots", 2.0, permutation::MOST_SLOTS as f64, "slots of each order"),
    Parameter::share("share", "smallest share of the cycles that one of the two gets"),
];

fn family(ramp: f64) -> Family {
    if ramp == 0.0 { Family::Uniform } else { Family::Hash1 }
}

fn table(a: &[f64]) -> Result<Contention, Invalid> {
    hash_table::contention(&family(a[2]).slots(whole(a[1]))?, whole(a[0]))
}

fn collision(a: &[f64]) -> Result<f64, Invalid> {
    Ok(table(a)?.collision)
}

fn ratio(a: &[f64]) -> Result<f64, Invalid> {
    Ok(table(a)?.ratio())
}

/// The wait is 0 if no such cycle exists.
fn success_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(table(a)?.success_wait.unwrap_or(0.0))
}

fn collision_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(table(a)?.collision_wait.unwrap_or(0.0))
}

fn window(a: &[f64]) -> Result<f64, Invalid> {
    window_of(family(a[2]), whole(a[0]), a[1])
}

fn equal(a: &[f64]) -> Result<Contention, Invalid> {
    let n = whole(a[0]);
    reference(n, window_of(Family::Uniform, n, a[1])?)
}

fn equal_success_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(equal(a)?.success_wait.unwrap_or(0.0))
}

fn equal_collision_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(equal(a)?.collision_wait.unwrap_or(0.0))
}

fn observed(a: &[f64]) -> Result<f64, Invalid> {
    hash_table::with_errors(a[0], a[1])
}

fn memoryless(a: &[f64]) -> Result<f64, Invalid> {
    self_correlation::memoryless(whole(a[0]), whole(a[1]))
}

fn tcf(a: &[f64]) -> Result<f64, Invalid> {
    self_correlation::tcf(whole(a[0]), whole(a[1]))
}

fn jain(a: &[f64]) -> Result<f64, Invalid> {
    window_fairness::jain(whole(a[0]), whole(a[1]))
}

/// Compares the waits of a method with those of the method H at the same share of collisions.
fn standing(a: &[f64]) -> Result<f64, Invalid> {
    let measured = Measured { collision: a[1], success_wait: a[2], collision_wait: a[3] };
    Ok(match beside(whole(a[0]), &measured, a[4])?.standing {
        Standing::Same => 0.0,
        Standing::Better => 1.0,
        Standing::Worse => 2.0,
        Standing::Mixed => 3.0,
    })
}

fn fit(a: &[f64]) -> Result<f64, Invalid> {
    Ok(contention_fit(whole(a[0])))
}

fn unequal(a: &[f64]) -> Result<f64, Invalid> {
    permutation::unequal(whole(a[0]), a[1])
}

const COST: Parameter =
    Parameter::number("cost", 1e-6, 1e6, "cost of a collision: in windows for forms 1 and 2, in slots for form 0");
const T: Parameter = Parameter::share("t", "place in the window, from 0 to 1");
const FORM: Parameter = Parameter::whole(
    "form",
    0.0,
    3.0,
    "0: eqs. 8.9, 8.10 over slots; 1: eq. 8.15; 2: eq. 8.18; 3: each collision costs 1, `cost` is ignored",
)
.default(0.0);
const PRINTED: Parameter = Parameter::switch("printed", 0.0, "1 for the compact sum of eq. 8.20 as printed");
const PER_SUCCESS: Parameter =
    Parameter::switch("per_success", 0.0, "0: least waste per cycle, 1: least waste per success");

const DENSITY: [Parameter; 2] = [COST, T];
const WASTED: [Parameter; 5] = [N, SLOTS, COST, FORM, PRINTED];
const LEAST_PER_SUCCESS: [Parameter; 4] = [N, SLOTS, COST, FORM];
const OPTIMAL: [Parameter; 6] = [N, SLOTS, COST, T, FORM, PER_SUCCESS];
const OPTIMAL_COLLISION: [Parameter; 5] = [N, SLOTS, COST, FORM, PER_SUCCESS];

fn with_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(backoff_density::with_wait(a[0], a[1])?.pdf)
}

fn without_wait(a: &[f64]) -> Result<f64, Invalid> {
    Ok(backoff_density::without_wait(a[0], a[1])?.pdf)
}

fn costs(slots: f64, cost: f64, form: f64) -> Result<Costs, Invalid> {
    let slots = whole(slots);
    match whole(form) {
        0 => Costs::slots(slots, cost),
        1 => Costs::density(slots, cost),
        2 => Costs::density_without_wait(slots, cost),
        _ => Costs::collisions(slots),
    }
}

/// The cheapest backoff of `n` stations with these costs.
fn cheapest(n: f64, costs: &Costs, per_success: f64) -> Result<Optimum, Invalid> {
    let n = whole(n);
    if per_success == 0.0 { costs.optimum(n) } else { costs.optimum_per_success(n) }
}

fn wasted(a: &[f64], slots: &Slots) -> Result<f64, Invalid> {
    let sum = if a[4] == 0.0 { Sum::Expanded } else { Sum::Printed };
    costs(a[1], a[2], a[3])?.wasted(slots, whole(a[0]), sum)
}

fn least(a: &[f64]) -> Result<f64, Invalid> {
    let best = cheapest(a[0], &costs(a[1], a[2], a[3])?, 0.0)?;
    if a[4] == 0.0 { Ok(best.wasted) } else { wasted(a, &best.slots) }
}

fn least_per_success(a: &[f64]) -> Result<f64, Invalid> {
    Ok(cheapest(a[0], &costs(a[1], a[2], a[3])?, 1.0)?.wasted)
}

fn optimal_collision(a: &[f64]) -> Result<f64, Invalid> {
    let best = cheapest(a[0], &costs(a[1], a[2], a[3])?, a[4])?;
    Ok(hash_table::contention(&best.slots, whole(a[0]))?.collision)
}

fn uniform(a: &[f64]) -> Result<f64, Invalid> {
    wasted(a, &Slots::uniform(whole(a[1]))?)
}

fn hash1(a: &[f64]) -> Result<f64, Invalid> {
    wasted(a, &Slots::hash1(whole(a[1]))?)
}

/// The density in the slot in which t lies.
fn optimal_density(a: &[f64]) -> Result<f64, Invalid> {
    let best = cheapest(a[0], &costs(a[1], a[2], a[4])?, a[5])?.slots;
    let p = best.probabilities();
    let at = ((a[3] * p.len() as f64) as usize).min(p.len().saturating_sub(1));
    Ok(p.get(at).copied().unwrap_or(0.0) * p.len() as f64)
}
