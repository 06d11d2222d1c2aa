//! Packets of one size with exponential gaps.

use super::{AppWrite, Source, gap, packet};
use crate::rng::exponential;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str =
    "Keceli 2008 (spec S13): telnet flows of 150 to 550 kb/s, here each flow's rate drawn evenly, exponential gaps";
/// What it does.
pub const SUMMARY: &str = "A Poisson stream of packets (\"telnet\"); with rate_max, the flow draws its mean rate once, \
    uniformly from rate to rate_max.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "mean payload bits per second").range(1.0, 1e12),
    Param::rate("rate_max", "largest mean rate that the flow may draw; 0bps: the mean rate is rate")
        .default("0bps")
        .range(0.0, 1e12),
    super::PACKET,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `rate_max` is below `rate`.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let (low, high) = (args.rate("rate"), args.rate("rate_max"));
    if high != 0 && high < low {
        return Err(Refusal::new("rate_max is below rate", "write the larger one as rate_max"));
    }
    Ok(Box::new(Poisson { rates: (low.max(1), high.max(low).max(1)), bytes: packet(args)?, running: None }))
}

/// A Poisson stream.
#[derive(Debug)]
struct Poisson {
    /// Minimum and maximum of the mean rate.
    rates: (u64, u64),
    bytes: u64,
    /// The last packet (or the start) and the mean gap in seconds.
    running: Option<(Time, f64)>,
}

impl Source for Poisson {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        let (last, mean) = match self.running {
            Some(r) => r,
            None => {
                let (low, high) = self.rates;
                let bps = if low < high { cx.rng.random_range(low..=high) } else { low };
                (cx.now, gap(self.bytes, full, bps).as_secs_f64())
            }
        };
        let at = last.saturating_add(exponential(cx.rng, mean));
        self.running = Some((at, mean));
        (at < Time::NEVER).then_some(AppWrite::new(at, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, rate, writes};
    use super::*;
    use contend_core::Span;
    use contend_core::registry::{Amount, Value};

    fn made(low: u64, high: u64) -> Box<dyn Source> {
        build(&args(
            PARAMS,
            &[("rate", Value::Rate(low)), ("rate_max", Value::Rate(high)), ("packet", Value::Amount(Amount::Bytes(0)))],
        ))
        .unwrap()
    }

    #[test]
    fn the_mean_rate_is_the_one_asked_for_and_the_gaps_are_exponential() {
        let over = Span::from_secs(1000);
        let w = writes(&mut *made(800_000, 0), 1, Time::ZERO, Time::ZERO + over);
        // 100,000 packets: one standard deviation is 0.32 %.
        assert!((rate(&w, over) / 800e3 - 1.0).abs() < 0.0095, "{}", rate(&w, over));
        // P(gap > k means) = e^-k.
        for k in [1u64, 2, 3] {
            let longer =
                w.windows(2).filter(|p| p[1].at - p[0].at > Span::from_millis(10 * k)).count() as f64 / w.len() as f64;
            assert!((longer - libm::exp(-(k as f64))).abs() < 0.005, "{k}: {longer}");
        }
    }

    #[test]
    fn a_range_of_rates_is_used_evenly_one_rate_per_flow() {
        let over = Span::from_secs(100);
        let mut r: Vec<f64> = (0..400)
            .map(|seed| rate(&writes(&mut *made(150_000, 550_000), seed, Time::ZERO, Time::ZERO + over), over))
            .collect();
        r.sort_by(f64::total_cmp);
        // A uniform distribution has mean 350 and quartiles 250 and 450 kb/s; for 400 flows the standard error of the
        // mean is 6 kb/s.
        let mean = r.iter().sum::<f64>() / 400.0;
        assert!(
            (mean - 350e3).abs() < 18e3 && (r[100] - 250e3).abs() < 30e3 && (r[300] - 450e3).abs() < 30e3,
            "{mean} {} {}",
            r[100],
            r[300]
        );
    }

    #[test]
    fn a_range_the_wrong_way_round_is_refused() {
        assert!(build(&args(PARAMS, &[("rate", Value::Rate(2)), ("rate_max", Value::Rate(1))])).is_err());
    }
}
