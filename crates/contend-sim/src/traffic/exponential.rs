//! On/off source: exponential times, and a constant rate while on.

use super::on_off::{Law, OnOff};
use super::{AppWrite, Source, gap, packet};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Time};

/// Source.
pub const CITE: &str = "ns-2's Application/Traffic/Exponential (its defaults: on 500 ms, off 500 ms), periods not \
    rounded to whole packets";
/// What it does.
pub const SUMMARY: &str = "On/off source with exponential times; it sends at a constant rate while on, and starts on.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "payload bits per second while on").range(100.0, 1e12),
    Param::time("on", "mean time on").default("500ms").range(1e-3, 1e6),
    Param::time("off", "mean time off").default("500ms").range(0.0, 1e6),
    super::PACKET,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `packet` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let law = |name| Law::Exponential(args.time(name).as_secs_f64());
    Ok(Box::new(Periods::new(law("on"), law("off"), args.rate("rate"), packet(args)?)))
}

/// The on/off source of one flow.
#[derive(Debug)]
pub(super) struct Periods {
    on: Law,
    off: Law,
    rate: u64,
    bytes: u64,
    running: Option<OnOff>,
}

impl Periods {
    /// Packets of `bytes` payload (0: full) at `rate` bits per second while on.
    pub(super) fn new(on: Law, off: Law, rate: u64, bytes: u64) -> Periods {
        Periods { on, off, rate, bytes, running: None }
    }
}

impl Source for Periods {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        let s = match &mut self.running {
            Some(s) => s,
            none => none.insert(OnOff::new(cx, self.on, self.off)),
        };
        let at = s.advance(cx, gap(self.bytes, full, self.rate));
        (at < Time::NEVER).then_some(AppWrite::new(at, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, writes};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::{Amount, Value};

    #[test]
    fn the_mean_rate_is_rate_times_on_over_the_cycle() {
        for (on, off) in [(500, 500), (600, 400), (5, 45)] {
            let t = |ms| Value::Time(Span::from_millis(ms));
            let a = args(
                PARAMS,
                &[
                    ("rate", Value::Rate(800_000)),
                    ("on", t(on)),
                    ("off", t(off)),
                    ("packet", Value::Amount(Amount::Bytes(0))),
                ],
            );
            let over = Span::from_millis(20_000 * (on + off));
            let got = rate(&writes(&mut *build(&a).unwrap(), 1, Time::ZERO, Time::ZERO + over), over);
            let want = 800e3 * on as f64 / (on + off) as f64;
            // 20,000 cycles: below 1 % for three standard deviations.
            assert!((got / want - 1.0).abs() < 0.03, "{on}/{off}: {got} against {want}");
        }
    }
}
