//! A flow of a run.

use super::Word;
use super::words::word;
use contend_sim::stats::Durations;
use serde::{Deserialize, Serialize};

/// One flow of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Name, for example `down.3`.
    pub name: String,
    /// Name of its `[[flow]]` table, for example `down`.
    pub group: String,
    /// Direction seen from the cell: `up`, `down`, `wired` or `local` (station to station).
    #[serde(deserialize_with = "word")]
    pub direction: Word,
    /// TCP variant, or `udp`.
    pub tcp: String,
    /// True if the network alone decides the flow's rate: the source always has something to send.
    pub greedy: bool,
    /// Payload delivered in order, each byte once, in bits per second.
    #[serde(rename = "goodput")]
    pub goodput_bps: f64,
    /// IP packets that arrived, including duplicates, in bits per second, with payload that waited out of order when
    /// the warm-up ended.
    #[serde(rename = "throughput")]
    pub throughput_bps: f64,
    /// Data packets sent, including retransmissions.
    pub sent: u64,
    /// Retransmitted data packets.
    pub retransmitted: u64,
    /// Number of expiries of the retransmission timer. `null` for a real sender whose kernel
    /// does not count them (before Linux 6.7).
    pub timeouts: Option<u64>,
    /// Packets of every kind that both ends handed to the network.
    pub entered: u64,
    /// Packets of every kind that arrived at both ends.
    pub arrived: u64,
    /// Data packets that arrived with a mark.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrived_ce: u64,
    /// Segments that acknowledgments reported as marked: `tcpi_delivered_ce` of Linux. `null` for a real sender whose
    /// kernel was not asked. 0 where the results do not name it.
    #[serde(default = "none_marked", skip_serializing_if = "is_none_marked")]
    pub delivered_ce: Option<u64>,
    /// Losses detected without a timeout. `null` for a sender that is not simulated.
    pub losses: Option<Losses>,
    /// Round-trip time samples.
    #[serde(rename = "rtt")]
    pub rtt_s: Percentiles,
    /// Time from leaving the sender to reaching the receiver, for data packets.
    #[serde(rename = "delay")]
    pub delay_s: Percentiles,
    /// Time at which the whole transfer was acknowledged, in seconds from the flow's start. `null` when the transfer is
    /// unfinished or unlimited.
    #[serde(rename = "completion")]
    pub completion_s: Option<f64>,
    /// Completion times of the transfers of the flow that were finished after the warm-up, in seconds.
    #[serde(rename = "fct")]
    pub completions_s: Vec<f64>,
    /// Transfers that had begun and were not complete when the run ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// Distribution of the round-trip times.
    #[serde(skip)]
    pub rtt: Durations,
    /// One-way delays.
    #[serde(skip)]
    pub delay: Durations,
}

/// True for 0. Serde passes a reference.
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Known, and 0.
#[allow(clippy::unnecessary_wraps)]
fn none_marked() -> Option<u64> {
    Some(0)
}

/// True for [`none_marked`].
fn is_none_marked(n: &Option<u64>) -> bool {
    *n == none_marked()
}

/// Losses that a sender detected without a timeout. They are grouped by the true fate of the first segment that the
/// sender considered lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// A queue dropped the segment.
    pub congestion: Taken,
    /// The medium corrupted the segment.
    pub error: Taken,
    /// The segment was not lost: it had arrived or was on its way.
    pub nothing: Taken,
}

/// The cause to which the congestion controller attributed these losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Number attributed to congestion.
    pub congestion: u64,
    /// Number attributed to errors of the medium.
    pub error: u64,
}

/// The share of the packets of `flows` that entered the network and did not arrive; `None` if none entered. Packets
/// that are on their way when the warm-up ends arrive after it, so the share is never below 0.
pub fn packet_loss<'a>(flows: impl Iterator<Item = &'a Flow>) -> Option<f64> {
    let (entered, arrived) = flows.fold((0u64, 0u64), |(e, a), f| (e + f.entered, a + f.arrived));
    (entered > 0).then(|| entered.saturating_sub(arrived) as f64 / entered as f64)
}

impl Losses {
    /// The increase between two readings of a sender's counters.
    pub fn between(now: [[u64; 2]; 3], before: [[u64; 2]; 3]) -> Losses {
        let taken = |i: usize| Taken { congestion: now[i][0] - before[i][0], error: now[i][1] - before[i][1] };
        Losses { congestion: taken(0), error: taken(1), nothing: taken(2) }
    }
}

/// Mean and percentiles of a duration in seconds; all `null` when nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
}

impl From<&Durations> for Percentiles {
    fn from(d: &Durations) -> Self {
        let quantile = |q: f64| (!d.is_empty()).then(|| d.quantile_ms(q) / 1e3);
        Percentiles {
            mean: (!d.is_empty()).then(|| d.mean_ms() / 1e3),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}
