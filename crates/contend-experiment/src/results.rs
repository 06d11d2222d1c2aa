//! The results of a run: the objects of the JSON output, and the series and histograms behind the report.
//!
//! Serialized, they are the schema `contend/run/2`: keys are the names of `writing/output/field.rs`, and numbers are in
//! base units. Fields of the structs here have the unit in their name (`wall_s`), keys of the JSON have not (`wall`).

use contend_core::packet::PacketKind;
use contend_sim::routing::RoutingDrop;
use contend_sim::stats::Durations;
use contend_sim::trace::Trace;
use contend_sim::wifi::{Frame, InFrame, More, StationId, StationMessage, Success};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

pub use super::judged::{CheckResult, ClaimResult, Look, Measured, PointSeeds, Summary};
pub use super::map::MapSeries;
pub use super::swept::{Labels, PointKey, SweptValue, distinct, point_text};

/// All results of one call of `contend run` for one file.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Version of contend.
    pub version: &'static str,
    /// Title of the experiment.
    pub title: String,
    /// Path of the file.
    pub file: String,
    /// The runs that an interruption left out; `null` when every run was made.
    pub interrupted: Option<Interrupted>,
    /// Reasons to doubt the results as a whole.
    pub warnings: Vec<String>,
    /// The metrics that tables show; empty for the usual ones.
    pub show: Vec<String>,
    /// The labels that the file gives to swept values.
    pub labels: Labels,
    /// The number of seeds of each point; empty when all points have the same seeds by the file.
    pub seeds: Vec<PointSeeds>,
    /// Every run, by point and seed.
    pub runs: Vec<Run>,
    /// Mean and 95 % interval of every metric at every point.
    pub summary: Vec<Summary>,
    /// Claims and their verdicts.
    pub claims: Vec<ClaimResult>,
    /// Checks and their answers.
    pub checks: Vec<CheckResult>,
    /// Thresholds found by `[search]`, one for each point; empty without a search.
    pub search: Vec<SearchResult>,
}

/// The results of an experiment.
#[derive(Debug)]
pub struct Executed {
    /// Runs, statistics and verdicts.
    pub outcome: Outcome,
    /// Values that could not be measured or kept, with the reason.
    pub notes: Vec<String>,
}

/// The progress of an interrupted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Interrupted {
    /// Runs that were finished. Runs that only a claim needed are included; runs of a search are not.
    pub finished: usize,
    /// Runs that were planned and not made. For a search: those of the current step.
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
    /// First value at which the condition holds, in base units; `null` when it holds at none.
    pub first_with: Option<f64>,
    /// Last value at which the condition does not hold; `null` when it holds at all values.
    pub last_without: Option<f64>,
}

/// One run: one point, one seed. Rates and counts are for the measured interval (after the warm-up).
#[derive(Debug, Serialize, Deserialize)]
pub struct Run {
    /// The sweep point.
    pub point: PointKey,
    /// The seed.
    pub seed: u64,
    /// Digest of all packet and frame events, 16 hex digits.
    pub digest: String,
    /// Events of the simulator: wake-ups and deliveries.
    pub events: u64,
    /// Elapsed time of the computation in seconds.
    #[serde(rename = "wall")]
    pub wall_s: f64,
    /// Simulated time in seconds, including the warm-up.
    #[serde(rename = "duration")]
    pub sim_s: f64,
    /// Length of the warm-up in seconds, which is not measured.
    #[serde(rename = "warmup")]
    pub warmup_s: f64,
    /// Flows, in the file's order.
    pub flows: Vec<Flow>,
    /// Queues: `ap`, stations, wires.
    pub queues: Vec<Queue>,
    /// Transmitters: `ap`, stations, wires.
    pub transmitters: Vec<Transmitter>,
    /// The air; `null` without a cell.
    pub air: Option<Air>,
    /// Frames in the captured interval beyond the limit.
    pub frames_missed: u64,
    /// Metrics by name: `goodput.up`, `jain`, ...
    #[serde(deserialize_with = "floats")]
    pub metrics: BTreeMap<String, f64>,
    /// Time series; empty without sampling.
    #[serde(skip)]
    pub series: Series,
    /// Captured frames; empty without a capture.
    #[serde(skip)]
    pub frames: Vec<Frame>,
    /// The successes on the air; absent unless a metric needs them.
    #[serde(skip)]
    pub successes: Option<Successes>,
    /// Names of access points and stations by [`StationId`], for captures.
    #[serde(skip)]
    pub stations: Vec<String>,
    /// For each of `stations` its access point; an access point has itself. Empty if stations forward packets for each
    /// other.
    #[serde(skip)]
    pub bss: Vec<StationId>,
    /// What captures show beside frames and names.
    #[serde(skip)]
    pub channel: Channel,
    /// Number of contending stations in a `[contention]` run.
    #[serde(skip)]
    pub contending: Option<u32>,
    /// Arguments of the file's `[model]` at this point by name, in base units; empty for a network.
    #[serde(skip)]
    pub arguments: BTreeMap<String, f64>,
    /// How true the run is to time, if it is an emulation; absent in a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<Emulation>,
}

/// How true an emulation is to time, and what it had to refuse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Why the run is not faithful; empty if it is.
    pub late: String,
    /// How late packets left, against the time that the model gives them.
    pub lateness_s: Lateness,
    /// How late the emulator woke up.
    pub wake_s: Lateness,
    /// Time between two looks at the hosts' devices: so long a packet may have waited before it entered.
    pub gap_s: Lateness,
    /// Packets that entered.
    pub entered: u64,
    /// Packets that left.
    pub left: u64,
    /// Packets that were refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Packets whose bytes were overwritten before they left.
    pub overwritten: u64,
    /// Flows, beside those of the file, that hosts had open at the same time.
    pub flows: u64,
    /// What these flows were for.
    #[serde(default)]
    pub opened: Vec<Opened>,
    /// True if the emulator had real-time priority.
    pub real_time: bool,
}

/// All flows that one host opened to one service of another: what programs did beside the flows of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// `tcp`, `udp`, `icmp`, or `protocol` and its number.
    pub protocol: String,
    /// The host that opened them.
    pub from: String,
    /// The other host.
    pub to: String,
    /// The port of the service; 0 if the protocol has none, and for all services beyond the first 256.
    pub port: u16,
    /// Number of flows.
    pub connections: u64,
    /// What `from` sent.
    pub there: Carried,
    /// What `to` sent.
    pub back: Carried,
}

/// What was carried in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Payload bytes delivered.
    pub bytes: u64,
    /// One-way delay of packets with data, from the end of the warm-up.
    #[serde(rename = "delay")]
    pub delay_s: Percentiles,
}

/// A distribution of lateness in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99 % are at most so late.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Run {
    /// True if `station` is an access point.
    pub fn is_ap(&self, station: StationId) -> bool {
        self.bss.get(station as usize) == Some(&station)
    }

    /// The names of the access points.
    pub fn access_points(&self) -> impl Iterator<Item = &str> {
        (0..).zip(&self.stations).filter(|(i, _)| self.is_ap(*i)).map(|(_, name)| name.as_str())
    }

    /// Of these flows, by index, those that compete for the capacity: the greedy ones. All of them if none is greedy.
    pub fn competing(&self, flows: &[usize]) -> Vec<usize> {
        let greedy = |i: &usize| self.flows.get(*i).is_some_and(|f| f.greedy);
        if flows.iter().any(greedy) { flows.iter().copied().filter(greedy).collect() } else { flows.to_vec() }
    }

    /// Drops the time series, the histograms and the frames; keeps every number.
    pub fn drop_detail(&mut self) {
        self.series = Series::default();
        self.frames = Vec::new();
        self.successes = None;
        self.drop_histograms();
    }

    /// Drops the histograms; keeps every number.
    pub fn drop_histograms(&mut self) {
        for flow in &mut self.flows {
            (flow.rtt, flow.delay) = (Durations::new(), Durations::new());
        }
        for queue in &mut self.queues {
            queue.delay = Durations::new();
        }
    }

    /// The run of a closed form. Nothing is simulated, so it has no time, flows or events.
    pub fn of_model(point: &PointKey, metrics: BTreeMap<String, f64>, arguments: BTreeMap<String, f64>) -> Run {
        Run {
            point: point.clone(),
            seed: 1,
            // The digest of a run without events.
            digest: format!("{:016x}", Trace::new().digest()),
            events: 0,
            wall_s: 0.0,
            sim_s: 0.0,
            warmup_s: 0.0,
            flows: vec![],
            queues: vec![],
            transmitters: vec![],
            air: None,
            frames_missed: 0,
            metrics,
            series: Series::default(),
            frames: vec![],
            successes: None,
            stations: vec![],
            bss: vec![],
            channel: Channel::default(),
            contending: None,
            arguments,
            emulation: None,
        }
    }
}

/// A word of the schema: a direction, an account of the ledger.
pub type Word = &'static str;

/// Every word that a [`Run`] may contain, beside the reasons of [`RoutingDrop`].
const WORDS: [Word; 18] = [
    "up",
    "down",
    "local",
    "wired",
    "ack",
    "idle",
    "ifs",
    "backoff",
    "collision",
    "preamble",
    "header",
    "payload",
    "rts_cts",
    "errored",
    "sends",
    "receives",
    "hears",
    "blocked",
];

/// Reads a word of the schema.
fn word<'de, D: Deserializer<'de>>(d: D) -> Result<Word, D::Error> {
    known(&String::deserialize(d)?)
}

/// Reads a map whose keys are words of the schema.
fn words<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<BTreeMap<Word, T>, D::Error> {
    all_known(BTreeMap::deserialize(d)?)
}

/// As [`words`]; `null` is no map.
fn optional_words<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<Option<BTreeMap<Word, T>>, D::Error> {
    Option::deserialize(d)?.map(all_known).transpose()
}

fn all_known<T, E: serde::de::Error>(map: BTreeMap<String, T>) -> Result<BTreeMap<Word, T>, E> {
    map.into_iter().map(|(w, value)| Ok((known(&w)?, value))).collect()
}

fn known<E: serde::de::Error>(text: &str) -> Result<Word, E> {
    let found = WORDS.into_iter().chain(RoutingDrop::ALL.map(RoutingDrop::name)).find(|w| *w == text);
    found.ok_or_else(|| E::custom(format_args!("`{text}` is not a word of the schema")))
}

/// Reads a map of numbers; `null` means undefined (NaN).
fn floats<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let read = BTreeMap::<String, Option<f64>>::deserialize(d)?;
    Ok(read.into_iter().map(|(name, x)| (name, x.unwrap_or(f64::NAN))).collect())
}

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
    /// IP packets that arrived, including duplicates, in bits per second.
    #[serde(rename = "throughput")]
    pub throughput_bps: f64,
    /// Data packets sent, including retransmissions.
    pub sent: u64,
    /// Retransmitted data packets.
    pub retransmitted: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Packets of every kind that both ends handed to the network.
    pub entered: u64,
    /// Packets of every kind that arrived at both ends.
    pub arrived: u64,
    /// Losses detected without a timeout.
    pub losses: Losses,
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
    /// Distribution of the round-trip times.
    #[serde(skip)]
    pub rtt: Durations,
    /// One-way delays.
    #[serde(skip)]
    pub delay: Durations,
}

/// Losses that a sender detected without a timeout. They are grouped by the true fate of the first segment that the
/// sender considered lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// A queue dropped the segment.
    pub congestion: Taken,
    /// The medium spoilt the segment.
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

/// One queue of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queue {
    /// Name: `ap`, or the name of a station or a link.
    pub name: String,
    /// Packets offered.
    pub offered: u64,
    /// Packets that the transmitter took; of control blocks, packets that passed them.
    pub taken: u64,
    /// Packets that wait.
    pub waiting: Held,
    /// Packets dropped.
    pub drops: Drops,
    /// Packets marked.
    pub marked: u64,
    /// Acknowledgments removed because a later one says the same; not counted as drops.
    pub filtered: u64,
    /// Packets that the discipline created.
    pub made: u64,
    /// Packets lost on the link after the queue.
    pub lost: u64,
    /// How long the queue was, in packets and in time.
    pub queue: Backlog,
    /// Distribution of the time in the queue.
    #[serde(skip)]
    pub delay: Durations,
}

/// Packets that a queue dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// Packets of all kinds.
    pub total: u64,
    /// TCP data.
    pub data: u64,
    /// Acknowledgments.
    pub ack: u64,
    /// Handshakes.
    pub syn: u64,
    /// Datagrams.
    pub datagram: u64,
}

impl Drops {
    /// From the number of each kind, in the order of [`PacketKind::ALL`].
    pub fn from_kinds(by_kind: [u64; PacketKind::ALL.len()]) -> Drops {
        let n = |kind: PacketKind| by_kind[kind as usize];
        Drops {
            total: by_kind.iter().sum(),
            data: n(PacketKind::Data),
            ack: n(PacketKind::Ack),
            syn: n(PacketKind::Syn),
            datagram: n(PacketKind::Datagram),
        }
    }

    /// The number of one kind.
    pub fn of(&self, kind: PacketKind) -> u64 {
        match kind {
            PacketKind::Data => self.data,
            PacketKind::Ack => self.ack,
            PacketKind::Syn => self.syn,
            PacketKind::Datagram => self.datagram,
        }
    }
}

/// How long a queue was.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Backlog {
    /// Time average of the number of waiting packets.
    pub length: f64,
    /// Time in the queue of the packets that left it.
    #[serde(rename = "delay")]
    pub delay_s: Percentiles,
}

/// How many packets are somewhere when the measured interval starts and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// At the end of the warm-up.
    pub start: u64,
    /// At the end of the run.
    pub end: u64,
}

/// A transmitter of a run: a station with all its queues, or a wire.
#[derive(Debug, Serialize, Deserialize)]
pub struct Transmitter {
    /// `ap`, a station's name, or a wire's.
    pub name: String,
    /// Packets taken from its queues, less those given back to routing; 0 if only packets that it had at the start were
    /// given back.
    pub taken: u64,
    /// Packets that reached the receiver, each counted once.
    pub delivered: u64,
    /// Packets that did not reach the receiver: spoilt on a wire, or given up after the last retry.
    pub lost: u64,
    /// Packets in service, being sent, or propagating.
    pub carrying: Held,
}

/// The air of a run's cell.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Air {
    /// Data frames sent (attempts).
    pub frames: u64,
    /// Data frames that were acknowledged.
    pub successes: u64,
    /// Collisions; each has two or more stations.
    pub collisions: u64,
    /// Share of attempts that collided.
    pub collision_probability: f64,
    /// Packets dropped after the last retry.
    pub retry_drops: u64,
    /// Mean number of stations with a frame at the start of a transmission, while the access point has a frame too.
    pub rivals: f64,
    /// Mean number of idle slots before a transmission.
    pub wait: Wait,
    /// Share of time with at least one transmission on the air; in a field, around a station, on average.
    pub busy: f64,
    /// Share of time of the frames that each station sent or got, while they were on the air alone: data, MAC ACKs, RTS
    /// and CTS, errored frames.
    pub airtime: Ways,
    /// MPDUs with data. This and the next three are there with aggregates, rate controls or error models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpdus: Option<Ways>,
    /// Share of these MPDUs that were not acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpdu_loss: Option<Ways>,
    /// Their mean rate in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rate: Option<Ways>,
    /// Their mean MCS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_mcs: Option<Ways>,
    /// The ledger: each account's share of time; the shares sum to 1. In a field, the mean over stations.
    #[serde(deserialize_with = "words")]
    pub ledger: BTreeMap<Word, f64>,
    /// In a field, the ledger of each station; not there in a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// In a field, the packets that stations could not forward, by reason; not there in a cell.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    pub routing_drops: Option<BTreeMap<Word, u64>>,
}

/// What the radio of each station of a field does: shares of time, by station. Those of a station sum to 1.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Radio {
    /// It transmits.
    pub sends: BTreeMap<String, f64>,
    /// A frame for its station, or for all, arrives, and nothing has spoiled it so far.
    pub receives: BTreeMap<String, f64>,
    /// It senses other frames, spoiled ones among them.
    pub hears: BTreeMap<String, f64>,
    /// It senses nothing, but its station must not send.
    pub blocked: BTreeMap<String, f64>,
    /// The medium around it is free.
    pub idle: BTreeMap<String, f64>,
}

impl Radio {
    /// The accounts and their names.
    pub fn accounts(&self) -> [(Word, &BTreeMap<String, f64>); 5] {
        [
            ("sends", &self.sends),
            ("receives", &self.receives),
            ("hears", &self.hears),
            ("blocked", &self.blocked),
            ("idle", &self.idle),
        ]
    }
}

/// Mean number of idle slots before a transmission.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Wait {
    /// Before a transmission of one station.
    pub success: f64,
    /// Before a collision.
    pub collision: f64,
}

/// A number for the frames of each station.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ways {
    /// The frames that the station sent.
    #[serde(deserialize_with = "floats")]
    pub from: BTreeMap<String, f64>,
    /// The frames that were sent to it.
    #[serde(deserialize_with = "floats")]
    pub to: BTreeMap<String, f64>,
}

/// What captures show of a channel beside frames and names; empty without a capture.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// For each flow, the stations where its data enter the air and leave it; `None` if they are never on the air.
    pub ends: Vec<Option<[StationId; 2]>>,
    /// The messages of stations to each other in the captured frames, by [`contend_core::Packet::payload`].
    pub messages: BTreeMap<u32, StationMessage>,
    /// The packets of frames with several packets ([`More::Packets`]).
    pub packets: Vec<InFrame>,
    /// The bitmaps of block acknowledgments ([`More::Bitmap`]).
    pub bitmaps: Vec<u8>,
}

impl Channel {
    /// The packets of `f`, if it has several.
    pub fn packets(&self, f: &Frame) -> &[InFrame] {
        match f.more {
            More::Packets(from, to) => self.packets.get(from as usize..to as usize).unwrap_or_default(),
            More::Bitmap(..) | More::Nothing => &[],
        }
    }

    /// The bitmap of `f`, if it is a block acknowledgment.
    pub fn bitmap(&self, f: &Frame) -> &[u8] {
        match f.more {
            More::Bitmap(from, to) => self.bitmaps.get(from as usize..to as usize).unwrap_or_default(),
            More::Packets(..) | More::Nothing => &[],
        }
    }
}

/// The exchanges that ended with an ACK, since the start of the run.
#[derive(Debug, Default)]
pub struct Successes {
    /// All successes, in the order in which they end.
    pub sequence: Vec<Success>,
    /// Number of successes in the warm-up.
    pub warmup: usize,
}

/// Samples of a run, one at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Instants in seconds.
    pub time_s: Vec<f64>,
    /// One entry for each flow (same order as [`Run::flows`]).
    pub flows: Vec<FlowSeries>,
    /// One entry for each queue (same order as [`Run::queues`]).
    pub queues: Vec<QueueSeries>,
    /// Number of [`Run::successes`] up to each instant; empty when successes are not kept.
    pub successes: Vec<usize>,
    /// One entry for each flow and each of its estimators.
    pub estimates: Vec<EstimateSeries>,
    /// One entry for each station with observers of the air.
    pub observed: Vec<ObservedStation>,
    /// The map, if stations have positions.
    pub map: Option<MapSeries>,
}

/// The rate that one estimator reports for one flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EstimateSeries {
    /// Index of the flow in [`Run::flows`].
    pub flow: usize,
    /// Name of the estimate in the file, for example `are`.
    pub name: String,
    /// Estimated rate of payload in bits per second, at each instant.
    pub rate_bps: Vec<u64>,
}

/// What the observers of a station report, and what really happened there since the start of the run, at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ObservedStation {
    /// Index of the station in [`Run::stations`].
    pub station: usize,
    /// Its observers, in the order of the file.
    pub observers: Vec<ObserverSeries>,
    /// Bytes of its own IP packets that were acknowledged.
    pub acked_bytes: Vec<u64>,
    /// The time of its attempts in nanoseconds, from the start of contention to the ACK or to the end of the wait.
    pub contended_ns: Vec<u64>,
    /// The time in nanoseconds in which it neither sent nor sensed a frame.
    pub idle_ns: Vec<u64>,
}

/// What one observer of a station reports, at each instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ObserverSeries {
    /// Name of the observer in the file, for example `rt_winf`.
    pub name: String,
    /// Capacity of the link in bits of IP packets per second; `None` without an estimate.
    pub capacity_bps: Vec<Option<u64>>,
    /// The part of the capacity that is not in use.
    pub available_bps: Vec<Option<u64>>,
}

/// Declares two types: the sample of something at one instant, and columns of such samples.
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
            /// Empty columns with room for `many` samples.
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

/// Samples of something, with one column for each number.
pub trait Columns {
    /// All numbers of one instant.
    type Sample;
    /// Sample number `k`, or `None` after the last one.
    fn get(&self, k: usize) -> Option<Self::Sample>;
    /// All samples in the order of time.
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
        /// Number of waiting packets.
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
        /// Mean deviation of the round-trip time in microseconds.
        rttvar_us: u32,
        /// Data packets retransmitted since the start of the run.
        retrans: u64,
        /// Highest byte acknowledged.
        snd_una_bytes: u64,
    }
}
