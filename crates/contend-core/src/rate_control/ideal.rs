//! The best rate for the SNR of the latest answer.
//!
//! When it is built, it divides the SNRs into intervals with one rate each. By losses, the rate is the fastest whose
//! losses are within the bound. By goodput, it is the one of which most packets arrive in a second. Before the first
//! answer it uses the slowest rate. If two attempts get no answer, the SNR may be old: the next two attempts use the
//! next slower rate, all later ones the slowest rate.

use super::{Chain, Rate, RateControl, RateId, Report, Setting};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Holland, Vaidya, Bahl 2001 (receiver-based rates); ns-3 IdealWifiManager";
/// What it does.
pub const SUMMARY: &str = "The fastest rate whose losses are within a bound at the SNR of the latest answer: a \
    receiver that tells the sender how well it hears.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::fraction("per", "largest share of MPDUs of 1500 B that may be lost; ns-3's bit error rate of 1e-6 is 1.2%")
        .default("10%")
        .range(1e-9, 0.999),
    Param::word(
        "by",
        &["losses", "goodput"],
        "`losses`: the fastest rate within `per`; `goodput`: the rate of which most packets arrive in a second, which \
            is an upper bound while the SNR stays",
    )
    .default("losses"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("k", "number of a rate, from 0 for the slowest"),
    symbol("SNR", "SNR of the latest answer, in dB"),
    symbol("SNR_k", "smallest SNR at which rate `k` is within the bound, in dB"),
    symbol("PER_k(SNR)", "probability that an MPDU of 1500 B is lost at rate `k`"),
    symbol(
        "G_k(SNR)",
        "packets of 1500 B in a second that arrive at rate `k` if the station sends its largest bursts and no other \
            station sends",
    ),
    on("the start"),
    eq("PER_k(SNR_k) = per", "Holland et al. 2001").when("`by = losses`"),
    eq("k = 0", "ns-3 IdealWifiManager"),
    on("an answer that tells an SNR"),
    step("`k` becomes the largest with `SNR_k ≤ SNR`, or 0", "ns-3 IdealWifiManager").when("`by = losses`"),
    step("`k` becomes the one with the largest `G_k(SNR)`; of equal ones the slowest", "our choice")
        .when("`by = goodput`"),
    on("a burst"),
    step("attempts 1 and 2 have rate `k`, 3 and 4 rate `max(0, k − 1)`, all others rate 0", "our choice"),
];

/// The bounds in dB of the search for the smallest SNR.
const SEARCHED: (f64, f64) = (-30.0, 90.0);
/// The SNRs in dB at which the rates with the highest goodput are compared first, and the precision of the SNRs at
/// which the best rate changes.
const GRID: f64 = 0.5;
const PRECISION: f64 = 1e-3;

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
    let limits = match args.word("by") {
        "goodput" => by_goodput(&steps, setting.goodput),
        _ => by_losses(&steps),
    };
    Ok(Box::new(Ideal { steps, limits, at: 0, snr: f64::NEG_INFINITY }))
}

/// From which SNR in dB on which step is used; a later entry counts more.
type Limits = Vec<(f64, usize)>;

/// Each step from its smallest SNR on.
fn by_losses(steps: &[Step]) -> Limits {
    steps.iter().enumerate().map(|(i, s)| (s.snr, i)).collect()
}

/// At each SNR the step with the highest goodput; of equal ones the slowest.
fn by_goodput(steps: &[Step], goodput: impl Fn(RateId, f64) -> f64) -> Limits {
    let best = |snr: f64| {
        let of = |i: usize| goodput(steps[i].id, snr);
        (0..steps.len()).fold((0, 0.0), |best, i| if of(i) > best.1 { (i, of(i)) } else { best }).0
    };
    let mut limits = Limits::new();
    let mut low = (SEARCHED.0, best(SEARCHED.0));
    while low.0 < SEARCHED.1 {
        let snr = low.0 + GRID;
        let high = (snr, best(snr));
        changes(&best, low, high, &mut limits);
        low = high;
    }
    limits
}

/// Adds each SNR between `low` and `high` at which the best step changes.
fn changes(best: &impl Fn(f64) -> usize, low: (f64, usize), high: (f64, usize), limits: &mut Limits) {
    if low.1 == high.1 {
        return;
    }
    if high.0 - low.0 < PRECISION {
        limits.push(high);
        return;
    }
    let snr = (low.0 + high.0) / 2.0;
    let middle = (snr, best(snr));
    changes(best, low, middle, limits);
    changes(best, middle, high, limits);
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
    limits: Limits,
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
        self.at = self.limits.iter().rfind(|(least, _)| *least <= snr).map_or(0, |(_, at)| *at);
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
        args.set("by", Value::Word("losses".into()));
        let mut control = build(&args, &Setting { rates: &rates, given: 7, per: &per, goodput: &|_, _| 0.0 }).unwrap();
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

    /// Rate i has (i + 1) (1 - PER) packets in a second, and losses that halve with each dB above 5 i dB. So with x =
    /// 2^-SNR, rate 1 is better than rate 0 from 1 - x = 2 (1 - 32 x) on, which is at 5.98 dB; rate 2 from 11.55 dB
    /// on, and rate 3 from 16.97 dB on.
    #[test]
    fn the_rate_with_the_highest_goodput_is_used() {
        let rates = rates(4, 1);
        let per = |id: RateId, snr: f64| libm::exp2(5.0 * f64::from(id) - snr).min(1.0);
        let goodput = |id: RateId, snr: f64| f64::from(id + 1) * (1.0 - per(id, snr));
        let mut args = Args::default();
        args.set("per", Value::Number(0.1));
        args.set("by", Value::Word("goodput".into()));
        let mut control = build(&args, &Setting { rates: &rates, given: 0, per: &per, goodput: &goodput }).unwrap();
        let mut bench = Bench::new();
        for (snr, want) in [(-5.0, 0), (3.0, 0), (5.9, 0), (6.1, 1), (11.5, 1), (11.7, 2), (16.9, 2), (17.1, 3)] {
            bench.sent(&mut *control, Report { rate: 0, mpdus: 1, acked: 1, dropped: 0, snr: Some(snr) });
            assert_eq!(bench.choose(&mut *control).rate(0), want, "{snr} dB");
        }
    }
}
