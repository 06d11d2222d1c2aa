//! Closed forms of AIAD sources at a bottleneck (Jersey 2005 chapter 6).

use super::{Model, Parameter, model, whole, yes};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::aiad::{self, Aiad, Motion};
use contend_theory::hayes::Hayes;
use contend_theory::marking::{EXPONENT_LIMIT, Marking};

pub(super) const MODELS: &[Model] = &[
    model(
        "aiad.load",
        Dimension::Number,
        "equilibrium load of n AIAD sources, divided by the capacity",
        "Jersey 2005 eq. 6.11",
        &AIAD,
        load,
    ),
    model(
        "aiad.loss",
        Dimension::Number,
        "p0, share of packets lost at the equilibrium of n AIAD sources",
        "Jersey 2005 eq. 6.11",
        &AIAD,
        |a| Ok(rest(a)?.share),
    ),
    model(
        "aiad.loss_slope",
        Dimension::Number,
        "slope of the losses at the equilibrium of n AIAD sources, per packet per second",
        "Jersey 2005 eq. 6.11",
        &AIAD,
        |a| Ok(rest(a)?.slope),
    ),
    model(
        "aiad.queue_bound",
        Dimension::Time,
        "queueing delay below which AIAD certainly settles",
        "Jersey 2005 eqs. 6.14, 6.16 at the real equilibrium",
        &AIAD_BOUND,
        queue_bound,
    ),
    model(
        "aiad.alpha_eta",
        Dimension::Number,
        "alpha d/(d + dq), which must be below aiad.alpha_eta_bound",
        "Jersey 2005 eq. 6.15",
        &AIAD,
        alpha_eta,
    ),
    model(
        "aiad.alpha_eta_at_rest",
        Dimension::Number,
        "alpha d/(d + dq) divided by the load, which must be below aiad.alpha_eta_bound",
        "Jersey 2005 eq. 6.15 at the real equilibrium",
        &AIAD,
        |a| {
            let (case, _) = at_rest(a)?;
            Ok(case.alpha * case.eta()?)
        },
    ),
    model(
        "aiad.alpha_eta_bound",
        Dimension::Number,
        "upper bound of alpha d/(d + dq)",
        "Jersey 2005 eq. 6.15 at the real equilibrium",
        &AIAD_BOUND,
        alpha_eta_bound,
    ),
    model(
        "aiad.bounded",
        Dimension::Number,
        "1 if both conditions for settling hold at the real equilibrium, otherwise 0",
        "Jersey 2005 eqs. 6.15, 6.16",
        &AIAD_BOUND,
        bounded,
    ),
    model(
        "aiad.growth",
        Dimension::Number,
        "exponent by which a small deviation grows in each round trip, below 0 if AIAD settles",
        "Jersey 2005 eq. 6.13",
        &AIAD,
        growth,
    ),
    model(
        "aiad.condition",
        Dimension::Number,
        "1 if this condition of lemma 6.1 holds for every motion of the sources, otherwise 0",
        "Jersey 2005 lemma 6.1",
        &CONDITION,
        condition,
    ),
    model(
        "aiad.settles",
        Dimension::Number,
        "1 if the numerically integrated AIAD system settles after a small deviation, otherwise 0",
        "Jersey 2005 eq. 6.11",
        &SETTLING,
        settles,
    )
    .slow(),
];

/// The number of sources in a closed form.
const N: Parameter = Parameter::whole("n", 1.0, 1e6, "number of sources");
/// The number of sources in a system that is integrated numerically.
const INTEGRATED: Parameter = Parameter::whole("n", 1.0, 100.0, "number of sources");

const AIAD: [Parameter; 6] = sources(N);
const SETTLING: [Parameter; 6] = sources(INTEGRATED);
const AIAD_BOUND: [Parameter; 7] = with_one_more(Parameter::switch(
    "together",
    1.0,
    "1: loss slope of all sources together; 0: loss slope of one source, as printed",
));
const CONDITION: [Parameter; 7] = with_one_more(Parameter::whole("which", 1.0, 3.0, "number of the condition"));

const fn sources(n: Parameter) -> [Parameter; 6] {
    [
        n,
        Parameter::number("capacity", 1e-3, 1e9, "C, capacity of the bottleneck, packets per second"),
        Parameter::time("d", "round-trip time without queues"),
        Parameter::time("dq", "round-trip queueing delay"),
        Parameter::number("alpha", 1e-6, 1e6, "1 for receiving rates, gamma/rho for rates of ACKs").default(1.0),
        Parameter::whole(
            "exponent",
            0.0,
            EXPONENT_LIMIT as f64,
            "k: loss probability (y/C)^k at the total rate y; 0: only the rate above C is lost",
        )
        .default(0.0),
    ]
}

const fn with_one_more(last: Parameter) -> [Parameter; 7] {
    let [n, capacity, d, dq, alpha, exponent] = AIAD;
    [n, capacity, d, dq, alpha, exponent, last]
}

fn aiad(a: &[f64]) -> Result<(Aiad, Marking), Invalid> {
    let case = Aiad { n: whole(a[0]), capacity_pps: a[1], delay_s: a[2], queue_s: a[3], alpha: a[4] };
    Ok((case, Marking::of(whole(a[5]))?))
}

/// The losses at the equilibrium. Their slope is that of the link.
fn rest(a: &[f64]) -> Result<aiad::Losses, Invalid> {
    let (case, marking) = aiad(a)?;
    Ok(case.rest(&marking)?.losses)
}

/// The system at its equilibrium and the losses there. Argument `together` selects the slope of the losses: of all
/// sources together, or of one source.
fn at_rest(a: &[f64]) -> Result<(Aiad, aiad::Losses), Invalid> {
    let (case, marking) = aiad(a)?;
    let rest = case.rest(&marking)?;
    let sources = if a.get(6).is_some_and(|x| *x != 0.0) { f64::from(case.n) } else { 1.0 };
    Ok((case.at(&rest)?, aiad::Losses { slope: rest.losses.slope * sources, ..rest.losses }))
}

fn queue_bound(a: &[f64]) -> Result<f64, Invalid> {
    let (case, at) = at_rest(a)?;
    case.queue_bound_s(&at)
}

fn alpha_eta(a: &[f64]) -> Result<f64, Invalid> {
    let (case, _) = aiad(a)?;
    Ok(case.alpha * case.eta()?)
}

fn alpha_eta_bound(a: &[f64]) -> Result<f64, Invalid> {
    let (case, at) = at_rest(a)?;
    case.alpha_eta_bound(&at)
}

/// True if both sufficient conditions hold.
fn bounded(a: &[f64]) -> Result<f64, Invalid> {
    let (case, at) = at_rest(a)?;
    let back = case.alpha * case.eta()?;
    Ok(yes(case.queue_s < case.queue_bound_s(&at)? && back < case.alpha_eta_bound(&at)?))
}

fn load(a: &[f64]) -> Result<f64, Invalid> {
    let (case, marking) = aiad(a)?;
    Ok(case.rest(&marking)?.rate_pps / case.fair_pps()?)
}

/// The characteristic equation of each motion of the sources.
fn motions(a: &[f64]) -> Result<Vec<Hayes>, Invalid> {
    let (case, marking) = aiad(a)?;
    let rest = case.rest(&marking)?;
    let all: &[Motion] = if case.n > 1 { &[Motion::Together, Motion::Apart] } else { &[Motion::Together] };
    all.iter().map(|motion| case.hayes(&rest, *motion)).collect()
}

/// The growth of the fastest growing motion.
fn growth(a: &[f64]) -> Result<f64, Invalid> {
    Ok(motions(a)?.iter().map(Hayes::growth).fold(f64::NEG_INFINITY, f64::max))
}

fn condition(a: &[f64]) -> Result<f64, Invalid> {
    let which = whole(a[6]) as usize - 1;
    Ok(yes(motions(a)?.iter().all(|h| h.conditions().get(which) == Some(&true))))
}

fn settles(a: &[f64]) -> Result<f64, Invalid> {
    let (case, marking) = aiad(a)?;
    let settled = |motion| case.settles(&marking, motion, 1e-4, 120);
    Ok(yes(settled(Motion::Together)? && (case.n == 1 || settled(Motion::Apart)?)))
}
