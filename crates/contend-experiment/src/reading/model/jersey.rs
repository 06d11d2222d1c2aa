//! Closed forms of Jersey 2005 chapter 8: fluid models and differentiators.

use super::{Model, Parameter, RAREST, model};
use crate::reading::expression::Dimension;
use contend_theory::Invalid;
use contend_theory::differentiator::{self, Accuracy, Losses};
use contend_theory::fluid::{self, Path};

pub(super) const MODELS: &[Model] = &[
    model(
        "jersey.reno_rate",
        Dimension::Number,
        "equilibrium rate of the fluid model of Reno, packets per second",
        "Jersey 2005 eq. 8.21",
        &RENO_RATE,
        reno_rate,
    ),
    model(
        "jersey.rate",
        Dimension::Number,
        "equilibrium rate of the fluid model of TCP-Jersey, packets per second",
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
            accuracy.answered(&losses)
        },
    ),
    model(
        "jersey.reno_window",
        Dimension::Packets,
        "equilibrium window of the fluid model of Reno",
        "Jersey 2005 eq. 8.21",
        &RENO_RATE,
        |a| Ok(fluid::reno(a[0], &Path { rtt_s: a[1], delay_s: a[1] })?.window),
    ),
    model(
        "jersey.window",
        Dimension::Packets,
        "equilibrium window of the fluid model of TCP-Jersey",
        "Jersey 2005 eq. 8.22",
        &RATE,
        |a| Ok(fluid::jersey(a[0], &Path { rtt_s: a[1], delay_s: a[2] })?.window),
    ),
    model(
        "jersey.ratio",
        Dimension::Number,
        "equilibrium rate of Reno divided by the rate of TCP-Jersey, both as fluid models",
        "Jersey 2005 eq. 8.23",
        &RATIO,
        ratio,
    ),
    model(
        "jersey.reno_gain",
        Dimension::Number,
        "relative gain of Reno with a differentiator over Reno without one",
        "Jersey 2005 eq. 8.27",
        &RENO_GAIN,
        reno_gain,
    ),
    model(
        "jersey.gain",
        Dimension::Number,
        "relative gain of TCP-Jersey with a differentiator over TCP-Jersey without one",
        "Jersey 2005 eq. 8.28",
        &GAIN,
        gain,
    ),
    model(
        "jersey.advantage",
        Dimension::Number,
        "relative gain of TCP-Jersey over Reno, both with the same differentiator",
        "Jersey 2005 eq. 8.29",
        &GAIN,
        advantage,
    ),
    model(
        "jersey.advantage_over_plain",
        Dimension::Number,
        "relative gain of TCP-Jersey with a differentiator over Reno without one",
        "Jersey 2005 Fig. 8.8",
        &GAIN,
        advantage_over_plain,
    ),
];

const Q: Parameter = Parameter::number("q", RAREST, 1.0, "share of packets that signal congestion");
const RTT: Parameter = Parameter::time("rtt", "round-trip time");
const D: Parameter = Parameter::time("d", "round-trip time without queues");
const PC: Parameter = Parameter::share("pc", "p_c, share of packets lost to congestion");
const PW: Parameter = Parameter::share("pw", "p_w, share of packets lost on the link");
const AW: Parameter = Parameter::share("aw", "A_w, share of the link losses that the differentiator recognises");
const AC: Parameter =
    Parameter::share("ac", "A_c, share of the congestion losses that the differentiator recognises").default(1.0);

const RENO_RATE: [Parameter; 2] = [Q, RTT];
const RATE: [Parameter; 3] = [Q, RTT, D];
const RATIO: [Parameter; 2] = [Q, Parameter::share("eta", "d divided by the round-trip time")];
const RENO_GAIN: [Parameter; 4] = [PC, PW, AW, AC];
const GAIN: [Parameter; 6] = [PC, PW, AW, RTT, D, AC];

fn reno_rate(a: &[f64]) -> Result<f64, Invalid> {
    Ok(fluid::reno(a[0], &Path { rtt_s: a[1], delay_s: a[1] })?.rate_pps)
}

fn rate(a: &[f64]) -> Result<f64, Invalid> {
    Ok(fluid::jersey(a[0], &Path { rtt_s: a[1], delay_s: a[2] })?.rate_pps)
}

fn ratio(a: &[f64]) -> Result<f64, Invalid> {
    fluid::ratio(a[0], a[1])
}

/// pc, pw, aw are the first three arguments wherever they occur; ac the last.
fn losses(a: &[f64]) -> (Losses, Accuracy) {
    (
        Losses { congestion: a[0], wireless: a[1] },
        Accuracy { wireless: a[2], congestion: a.last().copied().unwrap_or(1.0) },
    )
}

fn reno_gain(a: &[f64]) -> Result<f64, Invalid> {
    // Reno's gain is the same on every path.
    let (losses, accuracy) = losses(a);
    differentiator::reno_gain(&losses, &accuracy, &Path { rtt_s: 1.0, delay_s: 1.0 })
}

fn gain(a: &[f64]) -> Result<f64, Invalid> {
    let (losses, accuracy) = losses(a);
    differentiator::jersey_gain(&losses, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] })
}

fn advantage(a: &[f64]) -> Result<f64, Invalid> {
    let (losses, accuracy) = losses(a);
    differentiator::advantage(&losses, &accuracy, &accuracy, &Path { rtt_s: a[3], delay_s: a[4] })
}

fn advantage_over_plain(a: &[f64]) -> Result<f64, Invalid> {
    let (losses, accuracy) = losses(a);
    differentiator::advantage(&losses, &accuracy, &Accuracy::NONE, &Path { rtt_s: a[3], delay_s: a[4] })
}
