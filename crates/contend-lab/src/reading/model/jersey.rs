//! The closed forms of Jersey 2005 for expressions: chapter 8 (fluids and differentiators), chapter 6 (AIAD) and
//! chapter 9 (GAIAD).

use super::{Model, Parameter, model, optional, required, said, whole};
use crate::reading::expression::Dimension;
use contend_theory::aiad::{self, Aiad, Motion};
use contend_theory::differentiator::{self, Accuracy, Losses};
use contend_theory::fluid::{self, Path};
use contend_theory::gaiad::{self, Form, Gaiad};
use contend_theory::marking::Marking;

pub(super) const MODELS: &[Model] = &[
    model(
        "jersey.reno_rate",
        Dimension::Number,
        "packets per second at which Reno as a fluid rests",
        "Jersey 2005 eq. 8.21",
        &RENO_RATE,
        reno_rate,
    ),
    model(
        "jersey.rate",
        Dimension::Number,
        "packets per second at which TCP-Jersey as a fluid rests",
        "Jersey 2005 eq. 8.22",
        &RATE,
        rate,
    ),
    model(
        "jersey.answered",
        Dimension::Number,
        "share of packets that a source with this differentiator answers as congestion",
        "Jersey 2005 eq. 8.26",
        &RENO_GAIN,
        |a| {
            let (losses, accuracy) = losses(a);
            said(accuracy.answered(&losses))
        },
    ),
    model(
        "jersey.reno_window",
        Dimension::Packets,
        "window at which Reno as a fluid rests",
        "Jersey 2005 eq. 8.21",
        &RENO_RATE,
        |a| Ok(said(fluid::reno(a[0], &Path { rtt_s: a[1], delay_s: a[1] }))?.window),
    ),
    model(
        "jersey.window",
        Dimension::Packets,
        "window at which TCP-Jersey as a fluid rests",
        "Jersey 2005 eq. 8.22",
        &RATE,
        |a| Ok(said(fluid::jersey(a[0], &Path { rtt_s: a[1], delay_s: a[2] }))?.window),
    ),
    model(
        "jersey.ratio",
        Dimension::Number,
        "rate of Reno over that of TCP-Jersey, both as fluids at rest",
        "Jersey 2005 eq. 8.23",
        &RATIO,
        ratio,
    ),
    model(
        "jersey.reno_gain",
        Dimension::Number,
        "what Reno gains from telling losses of the link from those of congestion, as a share",
        "Jersey 2005 eq. 8.27",
        &RENO_GAIN,
        reno_gain,
    ),
    model(
        "jersey.gain",
        Dimension::Number,
        "what TCP-Jersey gains from telling losses of the link from those of congestion, as a share",
        "Jersey 2005 eq. 8.28",
        &GAIN,
        gain,
    ),
    model(
        "jersey.advantage",
        Dimension::Number,
        "by what share TCP-Jersey is faster than Reno, both with the same differentiator",
        "Jersey 2005 eq. 8.29",
        &GAIN,
        advantage,
    ),
    model(
        "jersey.advantage_over_plain",
        Dimension::Number,
        "by what share TCP-Jersey with a differentiator is faster than Reno without",
        "Jersey 2005 Fig. 8.8",
        &GAIN,
        advantage_over_plain,
    ),
    model(
        "aiad.load",
        Dimension::Number,
        "load at which n AIAD sources rest, over the capacity",
        "Jersey 2005 eq. 6.11",
        &AIAD,
        load,
    ),
    model(
        "aiad.queue_bound",
        Dimension::Time,
        "queueing delay below which AIAD certainly settles",
        "Jersey 2005 eqs. 6.14, 6.16 at the real rest",
        &AIAD_BOUND,
        queue_bound,
    ),
    model(
        "aiad.alpha_eta",
        Dimension::Number,
        "alpha d/(d + dq), to be below aiad.alpha_eta_bound",
        "Jersey 2005 eq. 6.15",
        &AIAD,
        alpha_eta,
    ),
    model(
        "aiad.alpha_eta_bound",
        Dimension::Number,
        "what alpha d/(d + dq) must be below",
        "Jersey 2005 eq. 6.15 at the real rest",
        &AIAD_BOUND,
        alpha_eta_bound,
    ),
    model(
        "aiad.bounded",
        Dimension::Number,
        "1 when both conditions for settling hold at the real rest, else 0",
        "Jersey 2005 eqs. 6.15, 6.16",
        &AIAD_BOUND,
        bounded,
    ),
    model(
        "aiad.growth",
        Dimension::Number,
        "exponent by which a small departure grows in each round trip, below 0 when AIAD settles",
        "Jersey 2005 eq. 6.13",
        &AIAD,
        growth,
    ),
    model(
        "aiad.settles",
        Dimension::Number,
        "1 when the integrated AIAD system settles from a small departure, else 0",
        "Jersey 2005 eq. 6.11",
        &AIAD,
        settles,
    )
    .slow(),
    model(
        "gaiad.rate",
        Dimension::Number,
        "packets per step at which each of n GAIAD sources rests",
        "Jersey 2005 eq. 9.17",
        &GAIAD,
        gaiad_rate,
    ),
    model(
        "gaiad.share",
        Dimension::Number,
        "share of packets marked where n GAIAD sources rest",
        "Jersey 2005 eq. 9.17",
        &GAIAD,
        gaiad_share,
    ),
    model(
        "gaiad.eigenvalue",
        Dimension::Number,
        "eigenvalue of the larger size, between -1 and 1 when GAIAD settles",
        "Jersey 2005 eqs. 9.24-9.27 with the true derivatives",
        &GAIAD,
        eigenvalue,
    ),
    model(
        "gaiad.eigenvalue_as_printed",
        Dimension::Number,
        "the eigenvalue of the larger size with the derivatives as printed",
        "Jersey 2005 eqs. 9.21, 9.22",
        &GAIAD,
        eigenvalue_as_printed,
    ),
    model(
        "gaiad.eigenvalue_apart",
        Dimension::Number,
        "eigenvalue of the motion of GAIAD sources against each other",
        "Jersey 2005 eqs. 9.24-9.27",
        &GAIAD,
        |a| {
            let (case, rest) = gaiad(a)?;
            Ok(case.eigenvalues(&rest, case.bend(&rest))[0])
        },
    ),
    model(
        "gaiad.eigenvalue_together",
        Dimension::Number,
        "eigenvalue of the motion of all GAIAD sources together",
        "Jersey 2005 eqs. 9.24-9.27 with the true derivatives",
        &GAIAD,
        |a| {
            let (case, rest) = gaiad(a)?;
            Ok(case.eigenvalues(&rest, case.bend(&rest))[1])
        },
    ),
    model(
        "gaiad.eigenvalue_together_as_printed",
        Dimension::Number,
        "the eigenvalue of the motion together with the derivatives as printed",
        "Jersey 2005 eqs. 9.21, 9.22",
        &GAIAD,
        |a| {
            let (case, rest) = gaiad(a)?;
            Ok(case.eigenvalues(&rest, case.bend_as_printed(&rest))[1])
        },
    ),
    model(
        "gaiad.stable",
        Dimension::Number,
        "1 when theorem 9.3 calls GAIAD stable, else 0",
        "Jersey 2005 eq. 9.27 with the true derivatives",
        &GAIAD,
        stable,
    ),
    model(
        "gaiad.stable_as_printed",
        Dimension::Number,
        "what theorem 9.3 says with the derivatives as printed, 1 or 0",
        "Jersey 2005 eqs. 9.21, 9.22, 9.27",
        &GAIAD,
        stable_as_printed,
    ),
    model(
        "gaiad.settles",
        Dimension::Number,
        "1 when simulated GAIAD sources with unequal or equal delays settle, else 0",
        "Jersey 2005 eq. 9.12",
        &GAIAD_COURSE,
        gaiad_settles,
    )
    .slow(),
];

const Q: Parameter = required("q", Dimension::Number, "share of packets that tell of congestion");
const RTT: Parameter = required("rtt", Dimension::Time, "round-trip time");
const D: Parameter = required("d", Dimension::Time, "round-trip time without queues");
const PC: Parameter = required("pc", Dimension::Number, "p_c, share of packets that congestion loses");
const PW: Parameter = required("pw", Dimension::Number, "p_w, share of packets that the link loses");
const AW: Parameter =
    required("aw", Dimension::Number, "A_w, share of the link's losses that are told from congestion");
const AC: Parameter = optional("ac", Dimension::Number, 1.0, "A_c, share of the congestion losses that are recognised");

const RENO_RATE: [Parameter; 2] = [Q, RTT];
const RATE: [Parameter; 3] = [Q, RTT, D];
const RATIO: [Parameter; 2] = [Q, required("eta", Dimension::Number, "d over the round-trip time")];
const RENO_GAIN: [Parameter; 4] = [PC, PW, AW, AC];
const GAIN: [Parameter; 6] = [PC, PW, AW, RTT, D, AC];

fn reno_rate(a: &[f64]) -> Result<f64, String> {
    Ok(said(fluid::reno(a[0], &Path { rtt_s: a[1], delay_s: a[1] }))?.rate_pps)
}

fn rate(a: &[f64]) -> Result<f64, String> {
    Ok(said(fluid::jersey(a[0], &Path { rtt_s: a[1], delay_s: a[2] }))?.rate_pps)
}

fn ratio(a: &[f64]) -> Result<f64, String> {
    said(fluid::ratio(a[0], a[1]))
}

/// pc, pw, aw are the first three arguments wherever they occur; ac the last.
fn losses(a: &[f64]) -> (Losses, Accuracy) {
    (
        Losses { congestion: a[0], wireless: a[1] },
        Accuracy { wireless: a[2], congestion: a.last().copied().unwrap_or(1.0) },
    )
}

fn reno_gain(a: &[f64]) -> Result<f64, String> {
    // Reno's gain is the same on every path.
    let (losses, accuracy) = losses(a);
    said(differentiator::reno_gain(&losses, &accuracy, &Path { rtt_s: 1.0, delay_s: 1.0 }))
}

fn gain(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::jersey_gain(&losses, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] }))
}

fn advantage(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::advantage(&losses, &accuracy, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] }))
}

fn advantage_over_plain(a: &[f64]) -> Result<f64, String> {
    let (losses, accuracy) = losses(a);
    said(differentiator::advantage(&losses, &accuracy, &Accuracy::NONE, &Path { rtt_s: a[3], delay_s: a[4] }))
}

/// Capacity is in packets/s; `exponent` = 0 is the loss of a fluid.
const AIAD: [Parameter; 6] = [
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
const AIAD_BOUND: [Parameter; 7] = {
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

fn queue_bound(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    said(case.queue_bound_s(&at))
}

fn alpha_eta(a: &[f64]) -> Result<f64, String> {
    let (case, _) = aiad(a)?;
    Ok(case.alpha * said(case.eta())?)
}

fn alpha_eta_bound(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    said(case.alpha_eta_bound(&at))
}

/// Whether both sufficient conditions hold.
fn bounded(a: &[f64]) -> Result<f64, String> {
    let (case, at) = at_rest(a)?;
    let back = case.alpha * said(case.eta())?;
    Ok(f64::from(u8::from(case.queue_s < said(case.queue_bound_s(&at))? && back < said(case.alpha_eta_bound(&at))?)))
}

fn load(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    Ok(said(case.rest(&marking))?.rate_pps / said(case.fair_pps())?)
}

/// Of the motion that grows fastest.
fn growth(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    let rest = said(case.rest(&marking))?;
    let of = |motion| Ok::<f64, String>(said(case.hayes(&rest, motion))?.growth());
    Ok(if case.n > 1 { of(Motion::Together)?.max(of(Motion::Apart)?) } else { of(Motion::Together)? })
}

/// Most sources that the system is integrated for.
const MOST_INTEGRATED: u32 = 100;

fn settles(a: &[f64]) -> Result<f64, String> {
    let (case, marking) = aiad(a)?;
    if case.n > MOST_INTEGRATED {
        return Err(format!("n: is {}, and at most {MOST_INTEGRATED} sources are integrated", case.n));
    }
    let settled = |motion| said(case.settles(&marking, motion, 1e-4, 120));
    Ok(f64::from(u8::from(settled(Motion::Together)? && (case.n == 1 || settled(Motion::Apart)?))))
}

/// Rates are in packets per step.
const GAIAD: [Parameter; 6] = [
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
const GAIAD_COURSE: [Parameter; 8] = {
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

fn gaiad_rate(a: &[f64]) -> Result<f64, String> {
    Ok(gaiad(a)?.1.rate)
}

fn gaiad_share(a: &[f64]) -> Result<f64, String> {
    Ok(gaiad(a)?.1.share)
}

/// Of the two, the one with the larger size.
fn largest(of: [f64; 2]) -> f64 {
    if of[0].abs() > of[1].abs() { of[0] } else { of[1] }
}

fn eigenvalue(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(largest(case.eigenvalues(&rest, case.bend(&rest))))
}

fn eigenvalue_as_printed(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(largest(case.eigenvalues(&rest, case.bend_as_printed(&rest))))
}

fn stable(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(f64::from(u8::from(case.stable(&rest, case.bend(&rest)))))
}

fn stable_as_printed(a: &[f64]) -> Result<f64, String> {
    let (case, rest) = gaiad(a)?;
    Ok(f64::from(u8::from(case.stable(&rest, case.bend_as_printed(&rest)))))
}

/// Most sources, and longest delay in steps, that a course is computed for.
const MOST_STEPS: u32 = 100;

fn gaiad_settles(a: &[f64]) -> Result<f64, String> {
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
