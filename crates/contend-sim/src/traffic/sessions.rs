//! Bulk transfers of exponential duration on one connection, with exponential silences between them.

use super::on_off::Law;
use super::{AppWrite, Source};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Time};

/// Source.
pub const CITE: &str = "Xu 2005 §7.4.2: short-lived FTP sessions, on for 10 s and off for 1 s on average; ns-2's \
    Application/FTP, started and stopped";
/// What it does.
pub const SUMMARY: &str = "Bulk transfers that alternate with silence on one connection; both last for exponential \
    times. The flow starts with a transfer.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("on", "mean duration of a transfer").default("10s").range(1e-3, 1e6),
    Param::time("off", "mean duration of a silence").default("1s").range(0.0, 1e6),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let law = |name| Law::Exponential(args.time(name).as_secs_f64());
    Ok(Box::new(Sessions { on: law("on"), off: law("off"), last: None }))
}

/// Alternating transfers and silences.
#[derive(Debug)]
struct Sessions {
    on: Law,
    off: Law,
    /// End of the last transfer.
    last: Option<Time>,
}

impl Source for Sessions {
    fn next(&mut self, cx: &mut Cx, _: u32) -> Option<AppWrite> {
        let at = match self.last {
            None => cx.now,
            Some(end) => end.saturating_add(self.off.draw(cx.rng)),
        };
        let until = at.saturating_add(self.on.draw(cx.rng));
        self.last = Some(until);
        (at < Time::NEVER).then_some(AppWrite { at, bytes: u64::MAX, until })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, writes};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::Value;

    #[test]
    fn sessions_take_ten_elevenths_of_the_time() {
        let t = |s| Value::Time(Span::from_secs(s));
        let all = writes(
            &mut *build(&args(PARAMS, &[("on", t(10)), ("off", t(1))])).unwrap(),
            1,
            Time::ZERO,
            Time::ZERO + Span::from_secs(200_000),
        );
        let on: f64 = all.iter().map(|w| w.until.since(w.at).as_secs_f64()).sum();
        // 18,000 cycles with a standard deviation of sqrt(10^2 + 1) seconds.
        assert!((on / 2e5 - 10.0 / 11.0).abs() < 0.01, "{on}");
        assert!(all.windows(2).all(|w| w[0].until <= w[1].at), "the next begins after the last has ended");
    }
}
