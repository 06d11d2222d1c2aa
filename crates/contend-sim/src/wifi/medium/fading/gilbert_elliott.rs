//! Two states of the SNR: a person walks through the line of sight, a microwave oven turns on.

use super::Fading;
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Rng, Time};
use rand::{RngExt as _, SeedableRng as _};

/// Source.
pub const CITE: &str = "Gilbert 1960, Elliott 1963: two states, here of the SNR";
/// What it does.
pub const SUMMARY: &str = "Two states of the SNR, good and bad, whose times are exponential: in the bad state it is \
    `fade` dB lower.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("good", "mean time in the good state").default("1s").range(SHORTEST, 1e6),
    Param::time("bad", "mean time in the bad state").default("100ms").range(SHORTEST, 1e6),
    Param::number("fade", "how far the SNR falls in the bad state, in dB").default("10").range(0.0, 200.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Shortest mean time in a state, in seconds: a run of a minute then needs less than a million draws.
const SHORTEST: f64 = 1e-4;

/// Builds the process.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Fading>, Refusal> {
    let mean = ["good", "bad"].map(|state| args.time(state).as_secs_f64().max(SHORTEST));
    Ok(Box::new(GilbertElliott { mean, fade: args.number("fade"), channel: None, bad: false, until: Time::ZERO }))
}

#[derive(Debug)]
struct GilbertElliott {
    /// Mean seconds in the good and in the bad state.
    mean: [f64; 2],
    /// Loss in the bad state, in dB.
    fade: f64,
    /// The generator of the times; `None` before the first frame.
    channel: Option<Rng>,
    bad: bool,
    /// When the present state ends.
    until: Time,
}

impl Fading for GilbertElliott {
    fn gain(&mut self, cx: &mut Cx) -> f64 {
        let first = self.channel.is_none();
        let rng = self.channel.get_or_insert_with(|| Rng::from_rng(cx.rng));
        if first {
            self.bad = rng.random::<f64>() < self.mean[1] / (self.mean[0] + self.mean[1]);
            self.until = Time::ZERO.saturating_add(exponential(rng, self.mean[usize::from(self.bad)]));
        }
        while self.until <= cx.now {
            self.bad = !self.bad;
            self.until = self.until.saturating_add(exponential(rng, self.mean[usize::from(self.bad)]));
        }
        if self.bad { -self.fade } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, gains};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::Value;

    fn process() -> Box<dyn Fading> {
        let time = |ms| Value::Time(Span::from_millis(ms));
        build(&args(PARAMS, &[("good", time(300)), ("bad", time(100)), ("fade", Value::Number(12.0))])).unwrap()
    }

    /// 100 / (300 + 100) of the time is bad. A bad time, sampled every `h`, ends between two samples with probability
    /// 3/4 (1 - exp(-(1/300 + 1/100) h)).
    #[test]
    fn a_quarter_of_the_time_is_bad_in_times_of_the_right_mean() {
        let g = gains(&mut *process(), 1, 400_000, Span::from_millis(10));
        let bad = g.iter().filter(|&&x| x == -12.0).count();
        let entries = g.windows(2).filter(|w| w[0] == 0.0 && w[1] == -12.0).count();
        assert!((bad as f64 / 400_000.0 - 0.25).abs() < 0.01, "{bad}");
        let leave = 0.75 * (1.0 - libm::exp(-0.4 / 3.0));
        assert!((bad as f64 / entries as f64 * leave - 1.0).abs() < 0.03, "{bad} in {entries}");
    }

    #[test]
    fn the_states_are_the_same_however_often_frames_start() {
        let dense = gains(&mut *process(), 3, 9_000, Span::from_millis(3));
        let sparse = gains(&mut *process(), 3, 300, Span::from_millis(90));
        assert!(sparse.iter().enumerate().all(|(i, x)| *x == dense[30 * i]));
    }
}
