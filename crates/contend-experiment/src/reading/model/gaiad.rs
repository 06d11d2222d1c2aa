//! Closed forms of GAIAD sources (Jersey 2005 chapter 9).

use super::{Model, Parameter, model, whole, yes};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::gaiad::{self, Form, Gaiad};
use contend_theory::marking::{EXPONENT_LIMIT, Marking};

pub(super) const MODELS: &[Model] = &[
    model(
        "gaiad.rate",
        Dimension::Number,
        "equilibrium rate of each of n GAIAD sources, packets per step",
        "Jersey 2005 eq. 9.17",
        &GAIAD,
        |a| Ok(gaiad(a)?.1.rate),
    ),
    model(
        "gaiad.share",
        Dimension::Number,
        "share of packets marked at the equilibrium of n GAIAD sources",
        "Jersey 2005 eq. 9.17",
        &GAIAD,
        |a| Ok(gaiad(a)?.1.share),
    ),
    model(
        "gaiad.eigenvalue",
        Dimension::Number,
        "eigenvalue with the larger magnitude, between -1 and 1 if GAIAD settles",
        "Jersey 2005 eqs. 9.24-9.27 with the true derivatives",
        &GAIAD,
        |a| eigenvalues(a, Gaiad::bend).map(largest),
    ),
    model(
        "gaiad.eigenvalue_as_printed",
        Dimension::Number,
        "eigenvalue with the larger magnitude, with the derivatives as printed",
        "Jersey 2005 eqs. 9.21, 9.22",
        &GAIAD,
        |a| eigenvalues(a, Gaiad::bend_as_printed).map(largest),
    ),
    model(
        "gaiad.eigenvalue_apart",
        Dimension::Number,
        "eigenvalue of the motion of GAIAD sources against each other",
        "Jersey 2005 eqs. 9.24-9.27",
        &GAIAD,
        |a| Ok(eigenvalues(a, Gaiad::bend)?[0]),
    ),
    model(
        "gaiad.eigenvalue_together",
        Dimension::Number,
        "eigenvalue of the motion of all GAIAD sources together",
        "Jersey 2005 eqs. 9.24-9.27 with the true derivatives",
        &GAIAD,
        |a| Ok(eigenvalues(a, Gaiad::bend)?[1]),
    ),
    model(
        "gaiad.eigenvalue_together_as_printed",
        Dimension::Number,
        "eigenvalue of the motion of all sources together, with the derivatives as printed",
        "Jersey 2005 eqs. 9.21, 9.22",
        &GAIAD,
        |a| Ok(eigenvalues(a, Gaiad::bend_as_printed)?[1]),
    ),
    model(
        "gaiad.stable",
        Dimension::Number,
        "1 if GAIAD is stable by theorem 9.3, otherwise 0",
        "Jersey 2005 eq. 9.27 with the true derivatives",
        &GAIAD,
        |a| stable(a, Gaiad::bend),
    ),
    model(
        "gaiad.stable_as_printed",
        Dimension::Number,
        "1 if GAIAD is stable by theorem 9.3 with the derivatives as printed, otherwise 0",
        "Jersey 2005 eqs. 9.21, 9.22, 9.27",
        &GAIAD,
        |a| stable(a, Gaiad::bend_as_printed),
    ),
    model(
        "gaiad.settles",
        Dimension::Number,
        "1 if simulated GAIAD sources settle, with equal or unequal delays, otherwise 0",
        "Jersey 2005 eq. 9.12",
        &COURSE,
        settles,
    )
    .slow(),
];

const GAIAD: [Parameter; 6] = sources(1e6);
const COURSE: [Parameter; 8] = {
    let [n, alpha, beta, capacity, exponent, printed] = sources(100.0);
    [
        n,
        alpha,
        beta,
        capacity,
        exponent,
        printed,
        Parameter::whole("steps", 1.0, 100.0, "largest delay each way, steps").default(1.0),
        Parameter::switch("unequal", 1.0, "0 for equal delays, 1 for unequal ones"),
    ]
};

/// The parameters of all entries. Rates are in packets per step.
const fn sources(most: f64) -> [Parameter; 6] {
    [
        Parameter::whole("n", 1.0, most, "number of sources"),
        Parameter::number("alpha", 1e-6, 1e6, "packets that a source adds in each step"),
        Parameter::number("beta", 1e-6, 1.0, "decrease, above 0 and at most 1"),
        Parameter::number("capacity", 1e-3, 1e9, "C, capacity of the link, packets per step"),
        Parameter::whole(
            "exponent",
            0.0,
            EXPONENT_LIMIT as f64,
            "k: marking probability (y/C)^k at the total rate y; 0: only the rate above C is marked",
        )
        .default(4.0),
        Parameter::switch("printed", 0.0, "1 for the sign of eq. 9.12 as printed"),
    ]
}

/// The sources, and their equilibrium.
fn gaiad(a: &[f64]) -> Result<(Gaiad, gaiad::Rest), Invalid> {
    let form = if a[5] == 0.0 { Form::Corrected } else { Form::Printed };
    let marking = Marking::of(whole(a[4]))?;
    let case = Gaiad { n: whole(a[0]), alpha: a[1], beta: a[2], capacity: a[3], marking, form };
    let rest = case.rest()?;
    Ok((case, rest))
}

/// The influence of a source's rate on the rate of another: [`Gaiad::bend`], or as printed.
type Bend = fn(&Gaiad, &gaiad::Rest) -> f64;

/// The eigenvalues of two motions: of the sources against each other, and of all sources together.
fn eigenvalues(a: &[f64], bend: Bend) -> Result<[f64; 2], Invalid> {
    let (case, rest) = gaiad(a)?;
    Ok(case.eigenvalues(&rest, bend(&case, &rest)))
}

/// The eigenvalue with the larger magnitude.
fn largest(of: [f64; 2]) -> f64 {
    if of[0].abs() > of[1].abs() { of[0] } else { of[1] }
}

fn stable(a: &[f64], bend: Bend) -> Result<f64, Invalid> {
    let (case, rest) = gaiad(a)?;
    Ok(yes(case.stable(&rest, bend(&case, &rest))))
}

fn settles(a: &[f64]) -> Result<f64, Invalid> {
    let (case, _) = gaiad(a)?;
    let steps = whole(a[6]);
    let delays = if a[7] == 0.0 {
        vec![gaiad::Delays { forward: steps, backward: steps - 1 }; case.n as usize]
    } else {
        gaiad::unequal(case.n, steps)
    };
    Ok(yes(case.settles(&delays, 1e-6)?))
}
