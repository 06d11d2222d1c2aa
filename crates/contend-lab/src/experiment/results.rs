//! What a run yields: the objects of the JSON output, and the series and histograms behind the report.
//!
//! Field names are the schema `contend/run/1`; units are in the names, as in `docs/units.md`.

use crate::stats::Estimate;
use contend_sim::stats::Durations;
use contend_sim::trace::Trace;
use contend_sim::wifi::{Frame, Success};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// A sweep point: key path -> value, as the file writes them.
pub type PointKey = BTreeMap<String, serde_json::Value>;

/// Everything one call of `contend run` found out about one file.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// `contend/run/1`.
    pub schema: &'static str,
    /// Version of contend.
    pub version: &'static str,
    /// Title of the experiment.
    pub title: String,
    /// Path of the file.
    pub file: String,
    /// What an interruption left out; absent when everything was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interrupted>,
    /// What is doubtful about the results as a whole; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Every run, by point and seed.
    pub runs: Vec<Run>,
    /// Mean and 95 % interval of every metric at every point.
    pub summary: Vec<Summary>,
    /// Claims and their verdicts.
    pub claims: Vec<ClaimResult>,
    /// Thresholds found, one for each point, when the file searches for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchResult>,
}

/// What an experiment yielded.
#[derive(Debug)]
pub struct Executed {
    /// Runs, statistics and verdicts.
    pub outcome: Outcome,
    /// What could not be measured or kept, and why.
    pub notes: Vec<String>,
}

/// What there is of a call that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Interrupted {
    /// Runs that were finished; those that only a claim needed are among them, those of a search are not.
    pub finished: usize,
    /// Runs that were planned and not made; of a search those of the step it was at.
    pub missing: usize,
}

/// A threshold that `[search]` found.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResult {
    /// The sweep point.
    pub point: PointKey,
    /// The key that was varied.
    pub key: String,
    /// The condition.
    pub until: String,
    /// First value at which the condition holds, in base units; `null` when it never does.
    pub first_with: Option<f64>,
    /// Last value at which it does not; `null` when it always holds.
    pub last_without: Option<f64>,
}

/// One run: one point, one seed. Rates and counts are of the measured interval (after the warm-up).
#[derive(Debug, Serialize, Deserialize)]
pub struct Run {
    /// The sweep point.
    pub point: PointKey,
    /// Its seed.
    pub seed: u64,
    /// Digest of all packet and frame events, 16 hex digits.
    pub digest: String,
    /// Events of the simulator: wake-ups and deliveries.
    pub events: u64,
    /// Seconds it took.
    pub wall_s: f64,
    /// Simulated seconds, warm-up included.
    pub sim_s: f64,
    /// Simulated seconds at the beginning that are not measured.
    pub warmup_s: f64,
    /// Flows, in the file's order.
    pub flows: Vec<Flow>,
    /// Queues: `ap`, stations, wires.
    pub queues: Vec<Queue>,
    /// The air; absent without a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub air: Option<Air>,
    /// Frames inside the captured interval that did not fit; absent when all did, or none were to be captured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub frames_missed: u64,
    /// Named numbers: `goodput.up`, `jain`, ...
    #[serde(deserialize_with = "floats")]
    pub metrics: BTreeMap<String, f64>,
    /// Time series, when sampled.
    #[serde(skip)]
    pub series: Series,
    /// Captured frames, when asked for.
    #[serde(skip)]
    pub frames: Vec<Frame>,
    /// Who succeeded on the air, when a metric needs it.
    #[serde(skip)]
    pub successes: Option<Successes>,
    /// Names of the cell's stations by [`contend_sim::wifi::StationId`] (0 is the access point), for captures.
    #[serde(skip)]
    pub stations: Vec<String>,
    /// How many stations contend, in a run of nothing but contention (`[contention]`).
    #[serde(skip)]
    pub contending: Option<u32>,
    /// Arguments of the file's `[model]` at this point, by name in base units; empty for a network.
    #[serde(skip)]
    pub arguments: BTreeMap<String, f64>,
}

impl Run {
    /// The run of closed forms: nothing is simulated, so it has no time, flows or events.
    pub(crate) fn of_model(point: &PointKey, metrics: BTreeMap<String, f64>, arguments: BTreeMap<String, f64>) -> Run {
        Run {
            point: point.clone(),
            seed: 1,
            // Of no events.
            digest: format!("{:016x}", Trace::new().digest()),
            events: 0,
            wall_s: 0.0,
            sim_s: 0.0,
            warmup_s: 0.0,
            flows: vec![],
            queues: vec![],
            air: None,
            frames_missed: 0,
            metrics,
            series: Series::default(),
            frames: vec![],
            successes: None,
            stations: vec![],
            contending: None,
            arguments,
        }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A word of the schema: a direction, a kind of packet, an account of the ledger.
pub type Word = &'static str;

/// Every word that a [`Run`] may contain.
const WORDS: [Word; 17] = [
    "up",
    "down",
    "local",
    "wired",
    "data",
    "ack",
    "syn",
    "datagram",
    "idle",
    "ifs",
    "backoff",
    "collision",
    "preamble",
    "header",
    "payload",
    "rts_cts",
    "errored",
];

/// Reads one of [`WORDS`].
fn word<'de, D: Deserializer<'de>>(d: D) -> Result<Word, D::Error> {
    known(&String::deserialize(d)?)
}

/// Reads a map whose keys are [`WORDS`].
fn words<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<BTreeMap<Word, T>, D::Error> {
    BTreeMap::<String, T>::deserialize(d)?.into_iter().map(|(w, value)| Ok((known(&w)?, value))).collect()
}

fn known<E: serde::de::Error>(text: &str) -> Result<Word, E> {
    let found = WORDS.iter().find(|w| **w == text);
    found.copied().ok_or_else(|| E::custom(format_args!("`{text}` is no word of a run")))
}

/// Reads named numbers; `null` is one that is undefined.
fn floats<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let read = BTreeMap::<String, Option<f64>>::deserialize(d)?;
    Ok(read.into_iter().map(|(name, x)| (name, x.unwrap_or(f64::NAN))).collect())
}

/// One flow of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Its name, `down.3`.
    pub name: String,
    /// Seen from the cell: `up`, `down`, `wired` or `local` (station to station).
    #[serde(deserialize_with = "word")]
    pub direction: Word,
    /// TCP variant, or `udp`.
    pub tcp: String,
    /// Payload delivered in order, each byte once.
    pub goodput_bps: f64,
    /// IP bytes that arrived, duplicates included.
    pub throughput_bps: f64,
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmitted data packets.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Losses found without a timeout; absent when there were none.
    #[serde(default, skip_serializing_if = "Losses::is_empty")]
    pub losses: Losses,
    /// Round-trip time samples.
    pub rtt_ms: Percentiles,
    /// From leaving the sender to reaching the receiver, data direction.
    pub delay_ms: Percentiles,
    /// When the whole transfer was acknowledged, in seconds from the flow's start; `null` when it was not, or has no
    /// end.
    pub completed_s: Option<f64>,
    /// Completion times of every finished transfer of the flow.
    pub completions_s: Vec<f64>,
    /// Round-trip samples.
    #[serde(skip)]
    pub rtt: Durations,
    /// One-way delays.
    #[serde(skip)]
    pub delay: Durations,
}

/// Losses that a sender found without a timeout, by what an oracle knows of the first segment it took as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// A queue had dropped it.
    pub congestion: Taken,
    /// The medium had spoilt it.
    pub error: Taken,
    /// It had arrived, or was on its way.
    pub nothing: Taken,
}

/// What a congestion controller took losses for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// So many for congestion.
    pub congestion: u64,
    /// So many for errors of the medium.
    pub error: u64,
}

impl Losses {
    /// What happened between two readings of a sender's counter.
    pub fn between(now: [[u64; 2]; 3], before: [[u64; 2]; 3]) -> Losses {
        let taken = |i: usize| Taken { congestion: now[i][0] - before[i][0], error: now[i][1] - before[i][1] };
        Losses { congestion: taken(0), error: taken(1), nothing: taken(2) }
    }
    fn is_empty(&self) -> bool {
        *self == Losses::default()
    }
}

/// Mean and quantiles of a duration in milliseconds; all `null` when nothing was measured.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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
        let quantile = |q: f64| (!d.is_empty()).then(|| d.quantile_ms(q));
        Percentiles {
            mean: (!d.is_empty()).then(|| d.mean_ms()),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}

/// One queue of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queue {
    /// `ap`, a station's name, or a link's.
    pub name: String,
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Of them: data, ACKs, SYNs, datagrams.
    #[serde(deserialize_with = "words")]
    pub dropped_by_kind: BTreeMap<Word, u64>,
    /// Packets marked.
    pub marked: u64,
    /// Acknowledgments taken out because a later one says the same; not among the dropped.
    pub filtered: u64,
    /// Packets made by the discipline itself.
    pub made: u64,
    /// Packets lost by the link after the queue.
    pub lost: u64,
    /// Time average of the number waiting.
    pub mean_packets: f64,
    /// Mean time from entering to leaving, of those that left; `null` when none did.
    pub mean_delay_ms: Option<f64>,
    /// Percentiles of the same.
    pub delay_ms: Percentiles,
    /// The same, whole.
    #[serde(skip)]
    pub delay: Durations,
}

/// The air of a run's cell.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Air {
    /// Data frames sent (attempts).
    pub frames: u64,
    /// Data frames that were acknowledged.
    pub successes: u64,
    /// Events in which two or more stations sent at once.
    pub collisions: u64,
    /// Share of attempts that met another.
    pub collision_probability: f64,
    /// Packets given up after the last retry.
    pub retry_drops: u64,
    /// Stations that had a frame when a transmission started while the access point had one, on average.
    pub rivals: f64,
    /// Idle slots before a transmission of one station, on average.
    pub success_wait: f64,
    /// Idle slots before a transmission of several stations, on average.
    pub collision_wait: f64,
    /// Share of time with at least one transmission on the air.
    pub busy: f64,
    /// Share of time that each transmitter was on the air alone: data, MAC ACKs, RTS and CTS, errored frames.
    #[serde(deserialize_with = "floats")]
    pub airtime: BTreeMap<String, f64>,
    /// The ledger: every account's share of time; they sum to 1.
    #[serde(deserialize_with = "words")]
    pub ledger: BTreeMap<Word, f64>,
}

/// The exchanges that ended with an ACK, from the start of the run on.
#[derive(Debug, Default)]
pub struct Successes {
    /// All, in the order of their ends.
    pub sequence: Vec<Success>,
    /// How many of them belong to the warm-up.
    pub warmup: usize,
}

/// Samples of a run, one per instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Instants in seconds.
    pub time_s: Vec<f64>,
    /// Per flow (same order as [`Run::flows`]), one sample per instant.
    pub flows: Vec<FlowSeries>,
    /// Per queue (same order as [`Run::queues`]), one sample per instant.
    pub queues: Vec<QueueSeries>,
    /// Of [`Run::successes`], how many there were at each instant; empty when they are not kept.
    pub successes: Vec<usize>,
    /// Per flow and estimator that watches it, one sample per instant.
    pub estimates: Vec<EstimateSeries>,
}

/// What one estimator says of one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EstimateSeries {
    /// The flow, by its place in [`Run::flows`].
    pub flow: usize,
    /// The estimate's name in the file, `are`.
    pub name: String,
    /// Bits of payload per second at each instant.
    pub rate_bps: Vec<u64>,
}

/// Declares what is sampled of something at one instant, and the columns of many such samples.
macro_rules! sampled {
    ($(#[$of_sample:meta])* $sample:ident, $(#[$of_columns:meta])* $columns:ident,
     { $($(#[$of_field:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$of_sample])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $sample {
            $($(#[$of_field])* pub $field: $type,)*
        }

        $(#[$of_columns])*
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub struct $columns {
            $($(#[$of_field])* pub $field: Vec<$type>,)*
        }

        impl $columns {
            /// Columns with room for this many samples.
            pub fn with_capacity(many: usize) -> $columns {
                $columns { $($field: Vec::with_capacity(many),)* }
            }
            /// Adds a sample.
            pub fn push(&mut self, sample: $sample) {
                $(self.$field.push(sample.$field);)*
            }
        }

        impl Columns for $columns {
            type Sample = $sample;
            fn get(&self, k: usize) -> Option<$sample> {
                Some($sample { $($field: *self.$field.get(k)?,)* })
            }
        }

        impl FromIterator<$sample> for $columns {
            fn from_iter<I: IntoIterator<Item = $sample>>(samples: I) -> $columns {
                let mut all = $columns::default();
                samples.into_iter().for_each(|s| all.push(s));
                all
            }
        }
    };
}

/// Samples of something, a column for each number.
pub trait Columns {
    /// All numbers at one instant.
    type Sample;
    /// Sample number `k`, if there are so many.
    fn get(&self, k: usize) -> Option<Self::Sample>;
    /// All samples, in the order of time.
    fn iter(&self) -> impl Iterator<Item = Self::Sample> {
        (0..).map_while(|k| self.get(k))
    }
}

sampled! {
    /// One queue at one instant.
    QueueSample,
    /// One queue over time.
    QueueSeries,
    {
        /// Packets waiting.
        packets: u64,
        /// Packets offered since the start of the run.
        offered: u64,
        /// Packets marked since the start of the run.
        marked: u64,
        /// Packets dropped since the start of the run.
        dropped: u64,
    }
}

sampled! {
    /// One flow at one instant.
    FlowSample,
    /// One flow over time.
    FlowSeries,
    {
        /// Payload bytes delivered in order since the start of the run.
        delivered_bytes: u64,
        /// IP bytes that arrived since the start of the run.
        received_bytes: u64,
        /// Congestion window in segments.
        snd_cwnd: u32,
        /// Slow-start threshold in segments.
        snd_ssthresh: u32,
        /// Smoothed round-trip time in microseconds.
        srtt_us: u32,
        /// Its mean deviation in microseconds.
        rttvar_us: u32,
        /// Data packets retransmitted since the start of the run.
        retrans: u64,
        /// Highest byte acknowledged.
        snd_una_bytes: u64,
    }
}

/// Mean and interval of one metric at one point.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The sweep point.
    pub point: PointKey,
    /// The metric's name.
    pub metric: String,
    /// Number of seeds.
    pub n: usize,
    /// Mean over seeds.
    pub mean: f64,
    /// Half width of the 95 % Student interval; of a percentile no less than its resolution; `null` with one seed.
    pub ci95: Option<f64>,
    /// Where the interval begins and ends: a share ends at 1, nothing that is counted begins below 0.
    pub interval: Option<(f64, f64)>,
}

impl Summary {
    /// That `metric` was estimated so at `point`.
    pub fn new(point: PointKey, metric: String, e: Estimate) -> Summary {
        Summary { point, metric, n: e.n, mean: e.mean, ci95: e.ci95, interval: e.interval }
    }
}

/// One claim, judged.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimResult {
    /// The claim's id.
    pub id: String,
    /// What the paper says.
    pub paper: String,
    /// The range expected, as text.
    pub expected: String,
    /// What was measured; `null` when it could not be.
    pub measured: Option<f64>,
    /// Half width of its 95 % interval.
    pub ci95: Option<f64>,
    /// Where the interval begins and ends.
    pub interval: Option<(f64, f64)>,
    /// `reproduced`, `not reproduced`, `contradiction` or `undecided`.
    pub verdict: String,
    /// What the file records.
    pub recorded: String,
    /// Whether the verdict is the recorded one.
    pub as_recorded: bool,
    /// Why, when it is not reproduced; from the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Which reading this is, when the claim has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// Each point that was judged, with its value.
    pub points: Vec<Summary>,
}
