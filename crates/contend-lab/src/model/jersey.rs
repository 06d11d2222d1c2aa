//! The closed forms of Jersey 2005 for expressions: chapter 8 (fluids and differentiators), chapter 6 (AIAD) and
//! chapter 9 (GAIAD).

use super::{Parameter, optional, required, said, whole};
use crate::expression::Dimension;
use contend_theory::aiad::{self, Aiad, Motion};
use contend_theory::differentiator::{self, Accuracy, Losses};
use contend_theory::fluid::{self, Path};
use contend_theory::gaiad::{self, Form, Gaiad};
use contend_theory::marking::Marking;

const Q: Parameter = required("q", Dimension::Number, "share of packets that tell of congestion");
const RTT: Parameter = required("rtt", Dimension::Time, "round-trip time");
const D: Parameter = required("d", Dimension::Time, "round-trip time without queues");
const PC: Parameter = required("pc", Dimension::Number, "p_c, share of packets that congestion loses");
const PW: Parameter = required("pw", Dimension::Number, "p_w, share of packets that the link loses");
const AW: Parameter =
    required("aw", Dimension::Number, "A_w, share of the link's losses that are told from congestion");
const AC: Parameter = optional("ac", Dimension::Number, 1.0, "A_c, share of the congestion losses that are recognised");

pub(super) const RENO_RATE: [Parameter; 2] = [Q, RTT];
pub(super) const RATE: [Parameter; 3] = [Q, RTT, D];
pub(super) const RATIO: [Parameter; 2] = [Q, required("eta", Dimension::Number, "d over the round-trip time")];
pub(super) const RENO_GAIN: [Parameter; 4] = [PC, PW, AW, AC];
pub(super) const GAIN: [Parameter; 6] = [PC, PW, AW, RTT, D, AC];

pub(super) fn reno_rate(a: &[f64]) -> Result<f64, String> {
    Ok(said(fluid::reno(a[0], &Path { rtt_s: a[1], delay_s: a[1] }))?.rate_pps)
}

pub(super) fn rate(a: &[f64]) -> Result<f64, String> {
    Ok(said(fluid::jersey(a[0], &Path { rtt_s: a[1], delay_s: a[2] }))?.rate_pps)
}

pub(super) fn ratio(a: &[f64]) -> Result<f64, String> {
    said(fluid::ratio(a[0], a[1]))
}

/// pc, pw, aw are the first three arguments wherever they occur; ac the last.
fn losses(a: &[f64]) -> (Losses, Accuracy) {
    (
        Losses { congestion: a[0], wireless: a[1] },
        Accuracy { wireless: a[2], congestion: a.last().copied().unwrap_or(1.0) },
    )
}

pub(super) fn reno_gain(a: &[f64]) -> Result<f64, String> {
    // Reno's gain is the same on every path.
    let (losses, accuracy) = losses(a);
    said(differentiator::reno_gain(&losses, &accuracy, &Path { rtt_s: 1.0, delay_s: 1.0 }))
}

pub(super) fn gain(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::jersey_gain(&losses, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] }))
}

pub(super) fn advantage(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::advantage(&losses, &accuracy, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] }))
}

pub(super) fn advantage_over_plain(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::advantage(&losses, &accuracy, &Accuracy::NONE, &Path { rtt_s: a[3], delay_s: a[4] }))
}

/// Capacity is in packets/s; `exponent` = 0 is the loss of a fluid.
pub(super) const AIAD: [Parameter; 6] = [
    required("n", Dimension::Number, "number of sources"),
    required("capacity", Dimension::Number, "C, capacity of the bottleneck, packets per second"),
    D,
    required("dq", Dimension::Time, "round-trip queueing delay"),
    optional("alpha", Dimension::Number, 1.0, "1 for receiving rates, gamma/rho for rates of ACKs"),
    optional(
        "exponent",
        Dimension::Number,
        0.0,
        "losses answer the load as (y/C)^k with this k; 0: what exceeds the capacity is lost",
    ),
];
/// Whether the slope of the losses is that of all sources together (1) or of one alone (0, as printed).
pub(super) const AIAD_BOUND: [Parameter; 7] = {
    let [n, c, d, dq, alpha, exponent] = AIAD;
    [
        n,
        c,
        d,
        dq,
        alpha,
        exponent,
        optional(
            "together",
            Dimension::Number,
            1.0,
            "1 for the slope of the losses that all sources make together, 0 for that of one, as printed",
        ),
    ]
};

fn aiad(a: &[f64]) -> Result<(Aiad, Marking), String> {
    let case = Aiad { n: whole("n", a[0])?, capacity_pps: a[1], delay_s: a[2], queue_s: a[3], alpha: a[4] };
    Ok((case, said(Marking::of(whole("exponent", a[5])?))?))
}

/// The system as it is at its rest, and the losses there, with the slope that `together` asks for.
fn at_rest(a: &[f64]) -> Result<(Aiad, aiad::Losses), String> {
    let (case, marking) = aiad(a)?;
    let rest = said(case.rest(&marking))?;
    let feel = if a.get(6).is_some_and(|x| *x != 0.0) { f64::from(case.n) } else { 1.0 };
    Ok((said(case.at(&rest))?, aiad::Losses { slope: rest.losses.slope * feel, ..rest.losses }))
}

pub(super) fn queue_bound(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    said(case.queue_bound_s(&at))
}

pub(super) fn alpha_eta(a: &[f64]) -> Result<f64, String> {
    let (case, _) = aiad(a)?;
    Ok(case.alpha * said(case.eta())?)
}

pub(super) fn alpha_eta_bound(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    said(case.alpha_eta_bound(&at))
}

/// Whether both sufficient conditions hold.
pub(super) fn bounded(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    let back = case.alpha * said(case.eta())?;
    Ok(f64::from(u8::from(case.queue_s < said(case.queue_bound_s(&at))? && back < said(case.alpha_eta_bound(&at))?)))
}

pub(super) fn load(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    Ok(said(case.rest(&marking))?.rate_pps / said(case.fair_pps())?)
}

/// Of the motion that grows fastest.
pub(super) fn growth(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    let rest = said(case.rest(&marking))?;
    let of = |motion| Ok::<f64, String>(said(case.hayes(&rest, motion))?.growth());
    Ok(if case.n > 1 { of(Motion::Together)?.max(of(Motion::Apart)?) } else { of(Motion::Together)? })
}

/// Most sources that the system is integrated for.
const MOST_INTEGRATED: u32 = 100;

pub(super) fn settles(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    if case.n > MOST_INTEGRATED {
        return Err(format!("n: is {}, and at most {MOST_INTEGRATED} sources are integrated", case.n));
    }
    let settled = |motion| said(case.settles(&marking, motion, 1e-4, 120));
    Ok(f64::from(u8::from(settled(Motion::Together)? && (case.n == 1 || settled(Motion::Apart)?))))
}

/// Rates are in packets per step.
pub(super) const GAIAD: [Parameter; 6] = [
    required("n", Dimension::Number, "number of sources"),
    required("alpha", Dimension::Number, "what a source adds in each step, packets"),
    required("beta", Dimension::Number, "decrease, above 0 and at most 1"),
    required("capacity", Dimension::Number, "C, capacity of the link, packets per step"),
    optional(
        "exponent",
        Dimension::Number,
        4.0,
        "losses answer the load as (y/C)^k with this k; 0: what exceeds the capacity is lost",
    ),
    optional("printed", Dimension::Number, 0.0, "1 for the sign of eq. 9.12 as printed"),
];
/// The largest delay each way in steps, and how delays are spread: 0 all alike, 1 unequal.
pub(super) const GAIAD_COURSE: [Parameter; 8] = {
    let [n, alpha, beta, capacity, exponent, printed] = GAIAD;
    [
        n,
        alpha,
        beta,
        capacity,
        exponent,
        printed,
        optional("steps", Dimension::Number, 1.0, "largest delay each way, steps"),
        optional("unequal", Dimension::Number, 1.0, "0 for equal delays, 1 for unequal ones"),
    ]
};

fn gaiad(a: &[f64]) -> Result<(Gaiad, gaiad::Rest), String> {
    let form = if a[5] == 0.0 { Form::Corrected } else { Form::Printed };
    let marking = said(Marking::of(whole("exponent", a[4])?))?;
    let case = Gaiad { n: whole("n", a[0])?, alpha: a[1], beta: a[2], capacity: a[3], marking, form };
    let rest = said(case.rest())?;
    Ok((case, rest))
}

pub(super) fn gaiad_rate(a: &[f64]) -> Result<f64, String> {
    Ok(gaiad(a)?.1.rate)
}

pub(super) fn gaiad_share(a: &[f64]) -> Result<f64, String> {
    Ok(gaiad(a)?.1.share)
}

/// Of the two, the one with the larger size.
fn largest(of: [f64; 2]) -> f64 {
    if of[0].abs() > of[1].abs() { of[0] } else { of[1] }
}

pub(super) fn eigenvalue(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(largest(case.eigenvalues(&rest, case.bend(&rest))))
}

pub(super) fn eigenvalue_as_printed(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(largest(case.eigenvalues(&rest, case.bend_as_printed(&rest))))
}

pub(super) fn stable(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(f64::from(u8::from(case.stable(&rest, case.bend(&rest)))))
}

pub(super) fn stable_as_printed(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(f64::from(u8::from(case.stable(&rest, case.bend_as_printed(&rest)))))
}

/// Most sources, and longest delay in steps, that a course is computed for.
const MOST_STEPS: u32 = 100;

pub(super) fn gaiad_settles(a: &[f64]) -> Result<f64, String> {
    let (case, _) = gaiad(a)?;
    let steps = whole("steps", a[6])?;
    if case.n > MOST_STEPS || !(1..=MOST_STEPS).contains(&steps) {
        return Err(format!(
            "n and steps: are {} and {steps}, must be at most {MOST_STEPS} and steps at least 1",
            case.n
        ));
    }
    let delays = if a[7] == 0.0 {
        vec![gaiad::Delays { forward: steps, backward: steps - 1 }; case.n as usize]
    } else {
        gaiad::unequal(case.n, steps)
    };
    Ok(f64::from(u8::from(said(case.settles(&delays, 1e-6))?)))
}
