//! On/off source: Pareto times, and a constant rate while on. The sum of many such sources is self-similar traffic.

use super::exponential::Periods;
use super::on_off::Law;
use super::{Source, packet};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "ns-2's Application/Traffic/Pareto (burst and idle both Pareto); Jersey thesis 2005: burst 0.6 \
    s, idle 0.4 s, shape 1.5, 0.8 Mb/s";
/// What it does.
pub const SUMMARY: &str = "On/off source with Pareto times; it sends at a constant rate while on, and starts on.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "payload bits per second while on").range(100.0, 1e12),
    Param::time("on", "mean time on").default("500ms").range(1e-3, 1e6),
    Param::time("off", "mean time off").default("500ms").range(0.0, 1e6),
    Param::number("shape", "tail exponent of both times; below 2 the variance is infinite, so means converge slowly")
        .default("1.5")
        .range(1.01, 100.0),
    super::PACKET,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `packet` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let law = |name| Law::pareto(args.time(name).as_secs_f64(), args.number("shape"));
    Ok(Box::new(Periods::new(law("on"), law("off"), args.rate("rate"), packet(args)?)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, writes};
    use super::*;
    use contend_core::registry::{Amount, Value};
    use contend_core::{Span, Time};

    fn run(shape: f64, cycles: u64, seed: u64) -> f64 {
        let t = |ms| Value::Time(Span::from_millis(ms));
        let v = [
            ("rate", Value::Rate(800_000)),
            ("on", t(600)),
            ("off", t(400)),
            ("shape", Value::Number(shape)),
            ("packet", Value::Amount(Amount::Bytes(0))),
        ];
        let over = Span::from_secs(cycles);
        rate(&writes(&mut *build(&args(PARAMS, &v)).unwrap(), seed, Time::ZERO, Time::ZERO + over), over)
    }

    #[test]
    fn the_mean_rate_is_rate_times_on_over_the_cycle() {
        let got = run(2.5, 20_000, 1);
        assert!((got / 480e3 - 1.0).abs() < 0.02, "{got}");
    }

    /// Jersey's 0.6 s on, 0.4 s off, shape 1.5: the variance is infinite, so the test checks the median of many long
    /// runs, with a wide tolerance.
    #[test]
    fn with_the_thesis_shape_most_long_runs_come_near_the_mean() {
        let mut r: Vec<f64> = (0..21).map(|seed| run(1.5, 3000, seed)).collect();
        r.sort_by(f64::total_cmp);
        assert!((r[10] / 480e3 - 1.0).abs() < 0.06, "{}", r[10]);
    }
}
