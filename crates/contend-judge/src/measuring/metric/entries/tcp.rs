//! Metrics of TCP senders.

use super::flow::{flow, kept};
use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period};
use crate::measuring::metric::reading::SampleRange;
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::cc::SSTHRESH_INFINITE;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::{Columns, FlowSample, FlowSeries, Kept, Losses};
use contend_experiment::stats;

pub(super) const METRICS: &[MetricEntry] = &[
    flow("retransmitted", Dimension::Packets, "retransmitted data packets", |a| {
        a.flow_count(|f| f.retransmitted, |s| s.retrans)
    })
    .over(Period::RunOrWindow)
    .reported(&["retransmitted"]),
    flow("arrived_ce", Dimension::Packets, "data packets that arrived with a mark (CE)", |a| {
        Ok(a.flows().map(|f| f.arrived_ce as f64).sum())
    })
    .reported(&["arrived_ce"]),
    flow(
        "delivered_ce",
        Dimension::Packets,
        "segments that acknowledgments reported as marked, as in Linux's `tcp_info`; without accurate ECN each \
            acknowledgment with ECE reports all that it delivers",
        |a| Ok(a.of_senders(|f| f.delivered_ce)?.iter().sum::<u64>() as f64),
    )
    .note("With accurate ECN it equals `arrived_ce`, but for what is on its way and acknowledgments that were lost.")
    .reported(&["delivered_ce"]),
    flow(
        "first_retransmission",
        Dimension::Time,
        "time in the run of the first retransmission, to the step of the series; one of the warm-up does not count",
        |a| {
            let range = a.series()?;
            let starts = a.members.iter().map(|i| Ok(first_growth(a.samples(*i)?, range)));
            let first = starts.collect::<Result<Vec<_>, Unmeasured>>()?.into_iter().flatten().min();
            let time = first.and_then(|i| a.run.detail.series.time_s.get(i));
            time.copied().ok_or_else(|| a.undefined("nothing was retransmitted"))
        },
    )
    .over(Period::Series),
    flow("timeouts", Dimension::Number, "expiries of the retransmission timer", |a| {
        Ok(a.of_senders(|f| f.timeouts)?.iter().sum::<u64>() as f64)
    })
    .reported(&["timeouts"]),
    flow(
        "losses",
        Dimension::Number,
        "losses detected without a timeout; by their true cause: `losses.congestion` (dropped by a queue), `.error` \
            (an error of the medium), `.nothing` (not lost)",
        |a| {
            let losses = Found::of(a)?;
            Ok(match cause(a) {
                "" => losses.were("congestion") + losses.were("error") + losses.were("nothing"),
                cause => losses.were(cause),
            })
        },
    )
    .aspects(Aspects::Optional(&["congestion", "error", "nothing"])),
    flow(
        "taken_for",
        Dimension::Number,
        "losses by the cause that controllers assumed: `taken_for.congestion`, `taken_for.error`",
        |a| {
            let losses = Found::of(a)?;
            Ok(match cause(a) {
                "error" => losses.sum(|l| l.congestion.error + l.error.error + l.nothing.error),
                _ => losses.sum(|l| l.congestion.congestion + l.error.congestion + l.nothing.congestion),
            })
        },
    )
    .aspects(Aspects::Required(&["congestion", "error"])),
    flow(
        "recognised",
        Dimension::Number,
        "losses of one cause for which controllers assumed this cause: `recognised.congestion`, `recognised.error`",
        |a| Ok(Found::of(a)?.recognised(cause(a))),
    )
    .aspects(Aspects::Required(&["congestion", "error"])),
    flow(
        "accuracy",
        Dimension::Number,
        "share of the losses of one cause for which controllers assumed this cause: `accuracy.congestion` (A_c), \
            `accuracy.error` (A_w)",
        |a| {
            let (losses, cause) = (Found::of(a)?, cause(a));
            match losses.were(cause) {
                0.0 => Err(a.undefined("there is no such loss")),
                all => Ok(losses.recognised(cause) / all),
            }
        },
    )
    .aspects(Aspects::Required(&["congestion", "error"]))
    .share(),
    flow("rtt", Dimension::Time, "round-trip time as the sender measures it", |a| {
        a.durations(a.flows().map(|f| &f.rtt))
    })
    .note(
        "With receive offload (`gro`, on with Linux's stack) the packets of an aggregate are acknowledged together: \
            one sample of `rtt` stands for all of them, while `delay` has a sample of each packet. Percentiles of the \
            two therefore weigh packets differently, and `rtt.p95` may be below `delay.p95`.",
    )
    .aspects(Aspects::Samples)
    .needs(|m, s| s.histograms |= m.is_of_distribution())
    .reported(&["rtt.mean", "rtt.p50", "rtt.p95", "rtt.p99"]),
    flow("cwnd", Dimension::Packets, "mean congestion window over time", |a| {
        over_time(a, |s| Ok(f64::from(s.snd_cwnd)))
    })
    .over(Period::Series)
    .level(),
    flow("ssthresh", Dimension::Packets, "mean slow-start threshold over time", |a| {
        over_time(a, |s| match s.snd_ssthresh {
            SSTHRESH_INFINITE => Err("the threshold is infinite until the first congestion signal"),
            finite => Ok(f64::from(finite)),
        })
    })
    .over(Period::Series)
    .level(),
    flow("srtt", Dimension::Time, "mean smoothed round-trip time over time", |a| {
        over_time(a, |s| Ok(f64::from(s.srtt_us) / 1e6))
    })
    .over(Period::Series)
    .level(),
    flow("rttvar", Dimension::Time, "mean variation of the round-trip time (RFC 6298's RTTVAR) over time", |a| {
        over_time(a, |s| Ok(f64::from(s.rttvar_us) / 1e6))
    })
    .over(Period::Series)
    .level(),
    flow("alpha", Dimension::Number, "mean share of marked segments that the controller keeps (DCTCP, Prague)", |a| {
        kept(a, Kept::Alpha)
    })
    .over(Period::Series)
    .level(),
    flow(
        "score",
        Dimension::Number,
        "mean score of the queue, from 0 (L4S) to 17 (classic), that Prague's detector keeps (`fallback`)",
        |a| kept(a, Kept::Score),
    )
    .over(Period::Series)
    .level(),
    flow("acked", Dimension::Bytes, "bytes acknowledged in the window", acked)
        .over(Period::Window)
        .example("acked[up][10s..15s]"),
    flow("stall", Dimension::Time, "longest time without a byte acknowledged, with the step of the series", |a| {
        let range = a.series()?;
        let longest = |i: &usize| Ok(stall(&a.run.detail.series.time_s, a.samples(*i)?, range));
        a.members.iter().map(longest).try_fold(0.0, |m: f64, x| Ok(m.max(x?)))
    })
    .over(Period::Series),
];

/// The cause after the metric's name; empty without one.
fn cause(a: &Asked<'_>) -> &'static str {
    if let Aspect::Word(cause) = a.metric.aspect { cause } else { "" }
}

/// Losses that the senders detected.
struct Found(Vec<Losses>);

impl Found {
    fn of(a: &Asked<'_>) -> Result<Found, Unmeasured> {
        a.of_senders(|f| f.losses).map(Found)
    }

    fn sum(&self, f: fn(&Losses) -> u64) -> f64 {
        self.0.iter().map(f).sum::<u64>() as f64
    }

    /// Number of losses with this true cause.
    fn were(&self, cause: &str) -> f64 {
        match cause {
            "congestion" => self.sum(|l| l.congestion.congestion + l.congestion.error),
            "error" => self.sum(|l| l.error.congestion + l.error.error),
            _ => self.sum(|l| l.nothing.congestion + l.nothing.error),
        }
    }

    /// Number of losses with this true cause that were taken for it.
    fn recognised(&self, cause: &str) -> f64 {
        match cause {
            "error" => self.sum(|l| l.error.error),
            _ => self.sum(|l| l.congestion.congestion),
        }
    }
}

/// The first sample of `range` that counts more retransmissions than the one before it.
fn first_growth(samples: &FlowSeries, range: SampleRange) -> Option<usize> {
    let count = |i: usize| samples.get(i).map(|s| s.retrans);
    (range.first + 1..=range.last).find(|i| count(*i) > count(i - 1))
}

fn acked(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    match a.window()? {
        Some(range) => a.grown(range, |s| s.snd_una_bytes).sum(),
        None => Err(Unmeasured::wrong(format!("`{}` needs a time window", a.metric))),
    }
}

/// Mean of a sampled value over time, then over flows.
fn over_time(a: &Asked<'_>, of: fn(&FlowSample) -> Result<f64, &'static str>) -> Result<f64, Unmeasured> {
    let range = a.series()?;
    let mut means = vec![];
    for i in a.members {
        let samples = a.samples(*i)?;
        let each = (range.first..range.last).filter_map(|k| samples.get(k));
        if let Some(why) = each.clone().find_map(|s| of(&s).err()) {
            return Err(a.undefined(why));
        }
        let mean = range.mean(&a.run.detail.series.time_s, |k| of(&samples.get(k)?).ok());
        means.push(mean.ok_or_else(|| a.unsampled())?);
    }
    stats::mean(&means).ok_or_else(|| a.undefined("there is no such flow"))
}

/// The longest time in `range` between samples with the same highest acknowledged byte.
fn stall(times: &[f64], samples: &FlowSeries, range: SampleRange) -> f64 {
    let (mut longest, mut since) = (0.0_f64, range.from);
    let mut before = None;
    for (t, una) in times.iter().zip(&samples.snd_una_bytes).take(range.last + 1).skip(range.first) {
        if before != Some(una) {
            (since, before) = (*t, Some(una));
        }
        longest = longest.max(t - since);
    }
    longest
}
