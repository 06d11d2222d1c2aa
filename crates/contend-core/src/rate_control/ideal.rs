//! The fastest rate that the SNR allows.
//!
//! When it is built, it computes for each rate the smallest SNR at which the losses are within the bound. It then takes
//! the fastest rate that the SNR of the latest answer allows. Before the first answer it uses the slowest rate. If two
//! attempts get no answer, the SNR may be old: the next two attempts use the next slower rate, all later ones the
//! slowest rate.

use super::{Chain, Rate, RateControl, RateId, Report, Setting};
use crate::Cx;
use crate::Refusal;
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Holland, Vaidya, Bahl 2001 (receiver-based rates); ns-3 IdealWifiManager";
/// What it does.
pub const SUMMARY: &str = "The fastest rate whose losses are within a bound at the SNR of the latest answer: a \
    receiver that tells the sender how well it hears.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::fraction(
    "per",
    "largest share of MPDUs of 1500 B that may be lost; ns-3's bit error rate of 1e-6 is 1.2%",
)
.default("10%")
.range(1e-9, 0.999)];

/// The bounds in dB of the search for the smallest SNR.
const SEARCHED: (f64, f64) = (-30.0, 90.0);

/// Builds the rate control.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let bound = args.number("per");
    let step =
        |(id, rate): (RateId, &Rate)| Step { id, bps: rate.bps, snr: smallest_snr(bound, |x| (setting.per)(id, x)) };
    let mut steps: Vec<Step> = (0..).zip(setting.rates).map(step).collect();
    steps.sort_by(|a, b| a.bps.cmp(&b.bps).then(b.snr.total_cmp(&a.snr)));
    Ok(Box::new(Ideal { steps, at: 0, snr: f64::NEG_INFINITY }))
}

/// The smallest SNR in dB at which `per` is at most `bound`, to a millionth of a dB; infinite if there is none.
fn smallest_snr(bound: f64, per: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = SEARCHED;
    if per(high) > bound {
        return f64::INFINITY;
    }
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        if per(middle) > bound { low = middle } else { high = middle }
    }
    high
}

/// A rate and the smallest SNR in dB at which its losses are within the bound.
#[derive(Debug)]
struct Step {
    id: RateId,
    bps: u64,
    snr: f64,
}

#[derive(Debug)]
struct Ideal {
    /// The rates from slow to fast; of equal rates, the one that needs the least SNR comes last.
    steps: Vec<Step>,
    /// The place of the present rate.
    at: usize,
    /// SNR of the latest answer in dB.
    snr: f64,
}

impl RateControl for Ideal {
    fn choose(&mut self, _: &mut Cx) -> Chain {
        let rate = |at: usize| self.steps[at].id;
        Chain::new([(rate(self.at), 2), (rate(self.at.saturating_sub(1)), 2), (rate(0), 1)])
    }
    fn sent(&mut self, _: &mut Cx, sent: &Report) {
        let Some(snr) = sent.snr.filter(|snr| *snr != self.snr) else { return };
        self.snr = snr;
        self.at = self.steps.iter().rposition(|s| s.snr <= snr).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, rates};
    use super::*;
    use crate::registry::Value;

    /// Losses halve with each dB above 5 dB for each number of a rate: 10 % is 3.32 dB above.
    #[test]
    fn the_fastest_rate_within_the_bound_is_used() {
        let rates = rates(8, 1);
        let per = |id: RateId, snr: f64| libm::exp2(5.0 * f64::from(id) - snr).min(1.0);
        let mut args = Args::default();
        args.set("per", Value::Number(0.1));
        let mut control = build(&args, &Setting { rates: &rates, given: 7, per: &per }).unwrap();
        let mut bench = Bench::new();
        assert_eq!(bench.choose(&mut *control).rate(0), 0);
        for (snr, want) in [(40.0, 7_u16), (18.4, 3), (18.3, 2), (3.33, 0), (-5.0, 0), (38.33, 7)] {
            bench.sent(&mut *control, Report { rate: 0, mpdus: 1, acked: 1, dropped: 0, snr: Some(snr) });
            // No answer: no news.
            bench.sent(&mut *control, Report { rate: 0, mpdus: 1, acked: 0, dropped: 0, snr: None });
            let chain = bench.choose(&mut *control);
            let below: RateId = want.saturating_sub(1);
            assert_eq!([0, 1, 2, 3, 4, 9].map(|k| chain.rate(k)), [want, want, below, below, 0, 0], "{snr} dB");
        }
    }
}
