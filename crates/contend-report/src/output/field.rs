//! Names and units of results: one entry for each number or text of a run, a flow, a queue, a transmitter, the air, a
//! station, and of the time series.
//!
//! The rows of the CSV and the columns of the Parquet files are made from these entries. The keys of the JSON are held
//! against them by a test: where a name has a dot, the JSON nests (`rtt.p95` is `p95` in `rtt`). `contend reference`
//! writes them as a page.
//!
//! A name never has a unit in it, and every number is in the base unit: s, bps, B, p (packets), or 1 (counts and
//! shares). A name that is a metric of expressions has the unit and the meaning of that metric.

use Read::{Count, Counts, Each, Flag, List, NonZero, Number, Text};
use contend_core::cc::SSTHRESH_INFINITE;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::{
    Air, DataSample, Flow, FlowSample, Outcome, Queue, QueueSample, Roaming, Run, Transmitter, Ways, Word,
};
use contend_judge::measuring::metric::{Expr, metric_at};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// An entry: a number or a text of a `T`.
pub(super) struct Field<T> {
    /// The name, in all outputs.
    pub(super) name: &'static str,
    /// The dimension; `None` for a text.
    pub(super) unit: Option<Dimension>,
    /// The meaning, in a phrase; `None` if it is the metric's of this name.
    doc: Option<&'static str>,
    pub(super) read: Read<T>,
}

/// How an entry is read.
pub(super) enum Read<T> {
    /// A number; `None` if it does not exist.
    Number(fn(&T) -> Option<f64>),
    /// A whole number.
    Count(fn(&T) -> Option<u64>),
    /// A whole number that JSON and CSV leave out if it is 0.
    NonZero(fn(&T) -> u64),
    /// A word.
    Text(fn(&T) -> &str),
    /// True or false: 1 or 0 in the CSV.
    Flag(fn(&T) -> bool),
    /// Several numbers: a row for each in the CSV.
    List(fn(&T) -> &[f64]),
    /// A number for each word; the word follows the name after a dot.
    Each(fn(&T) -> &BTreeMap<Word, f64>),
    /// A whole number for each word, if there are any.
    Counts(fn(&T) -> Option<&BTreeMap<Word, u64>>),
}

impl<T> Field<T> {
    fn row(&self) -> Row {
        let doc = self.doc.or_else(|| metric_at(self.name).map(|m| m.doc)).unwrap_or_default();
        let each = matches!(self.read, Each(_) | Counts(_));
        let name = if each { format!("{}.NAME", self.name).into() } else { self.name.into() };
        Row { name, unit: self.unit.map(unit), doc }
    }
}

/// An entry that is a metric: it has the metric's meaning.
const fn metric<T>(name: &'static str, unit: Dimension, read: Read<T>) -> Field<T> {
    Field { name, unit: Some(unit), doc: None, read }
}

/// An entry that is no metric, or of which more can be said than of the metric.
const fn own<T>(name: &'static str, unit: Dimension, doc: &'static str, read: Read<T>) -> Field<T> {
    Field { name, unit: Some(unit), doc: Some(doc), read }
}

/// A text.
const fn text<T>(name: &'static str, doc: &'static str, read: fn(&T) -> &str) -> Field<T> {
    Field { name, unit: None, doc: Some(doc), read: Text(read) }
}

/// The name of a base unit in results: as in files, and `1` for counts and shares.
pub(super) fn unit(d: Dimension) -> &'static str {
    if d == Dimension::Number { "1" } else { d.base() }
}

const COUNT: Dimension = Dimension::Number;
const PACKETS: Dimension = Dimension::Packets;
const TIME: Dimension = Dimension::Time;
const RATE: Dimension = Dimension::Rate;
const BYTES: Dimension = Dimension::Bytes;

/// A run.
pub(super) const RUN: &[Field<Run>] = &[
    own("seed", COUNT, "the seed", Count(|r| Some(r.seed))),
    text("digest", "digest of all packet and frame events, 16 hexadecimal digits", |r| &r.digest),
    own("events", COUNT, "events of the simulator: wake-ups and deliveries", Count(|r| Some(r.events))),
    own("wall", TIME, "elapsed time of the computation", Number(|r| Some(r.wall_s))),
    own("duration", TIME, "simulated time with the warm-up", Number(|r| Some(r.sim_s))),
    own("warmup", TIME, "warm-up, which is not measured", Number(|r| Some(r.warmup_s))),
    own(
        "frames_missed",
        COUNT,
        "frames of the captured interval that did not fit into the capture",
        Count(|r| Some(r.frames_missed)),
    ),
];

/// A flow. Rates and counts are of the measured interval, as everywhere.
pub(super) const FLOW: &[Field<Flow>] = &[
    text("name", "name of the flow: `down.3`", |f| &f.name),
    text("group", "name of its `[[flow]]` table: `down`", |f| &f.group),
    text("direction", "`up`, `down`, `local` (station to station) or `wired`", |f| f.direction),
    text("tcp", "TCP variant, or `udp`", |f| &f.tcp),
    own(
        "greedy",
        COUNT,
        "true if the source always has something to send; `jain` is of these flows",
        Flag(|f| f.greedy),
    ),
    metric("goodput", RATE, Number(|f| Some(f.goodput_bps))),
    metric("throughput", RATE, Number(|f| Some(f.throughput_bps))),
    metric("sent", PACKETS, Count(|f| Some(f.sent))),
    metric("retransmitted", PACKETS, Count(|f| Some(f.retransmitted))),
    metric("timeouts", COUNT, Count(|f| f.timeouts)),
    own("entered", PACKETS, "packets of every kind that both ends handed to the network", Count(|f| Some(f.entered))),
    own("arrived", PACKETS, "packets of every kind that arrived at both ends", Count(|f| Some(f.arrived))),
    metric("arrived_ce", PACKETS, Count(|f| Some(f.arrived_ce))),
    metric("delivered_ce", PACKETS, Count(|f| f.delivered_ce)),
    own("losses.congestion.congestion", COUNT, LOSSES, Count(|f| Some(f.losses?.congestion.congestion))),
    own("losses.congestion.error", COUNT, LOSSES, Count(|f| Some(f.losses?.congestion.error))),
    own("losses.error.congestion", COUNT, LOSSES, Count(|f| Some(f.losses?.error.congestion))),
    own("losses.error.error", COUNT, LOSSES, Count(|f| Some(f.losses?.error.error))),
    own("losses.nothing.congestion", COUNT, LOSSES, Count(|f| Some(f.losses?.nothing.congestion))),
    own("losses.nothing.error", COUNT, LOSSES, Count(|f| Some(f.losses?.nothing.error))),
    metric("rtt.mean", TIME, Number(|f| f.rtt_s.mean)),
    metric("rtt.p50", TIME, Number(|f| f.rtt_s.p50)),
    metric("rtt.p95", TIME, Number(|f| f.rtt_s.p95)),
    metric("rtt.p99", TIME, Number(|f| f.rtt_s.p99)),
    metric("delay.mean", TIME, Number(|f| f.delay_s.mean)),
    metric("delay.p50", TIME, Number(|f| f.delay_s.p50)),
    metric("delay.p95", TIME, Number(|f| f.delay_s.p95)),
    metric("delay.p99", TIME, Number(|f| f.delay_s.p99)),
    own(
        "completion",
        TIME,
        "time from the flow's start until its whole `size` was acknowledged; null if it was not",
        Number(|f| f.completion_s),
    ),
    metric("completed", COUNT, Count(|f| Some(f.completions_s.len() as u64))),
    metric("unfinished", COUNT, NonZero(|f| f.unfinished)),
    metric("fct", TIME, List(|f| &f.completions_s)),
];

const LOSSES: &str = "losses detected without a timeout: the first word is the true cause, the second is what the \
    controller took it for";

/// A queue.
pub(super) const QUEUE: &[Field<Queue>] = &[
    text("name", "`ap`, `ap.control` (what control blocks hold), a station or a link", |q| &q.name),
    metric("offered", PACKETS, Count(|q| Some(q.offered))),
    own("taken", PACKETS, "packets that the transmitter took", Count(|q| Some(q.taken))),
    own("waiting.start", PACKETS, "packets that wait at the end of the warm-up", Count(|q| Some(q.waiting.start))),
    own("waiting.end", PACKETS, "packets that wait at the end of the run", Count(|q| Some(q.waiting.end))),
    metric("drops.total", PACKETS, Count(|q| Some(q.drops.total))),
    metric("drops.data", PACKETS, Count(|q| Some(q.drops.data))),
    metric("drops.ack", PACKETS, Count(|q| Some(q.drops.ack))),
    metric("drops.syn", PACKETS, Count(|q| Some(q.drops.syn))),
    metric("drops.datagram", PACKETS, Count(|q| Some(q.drops.datagram))),
    metric("marked", PACKETS, Count(|q| Some(q.marked))),
    metric("marked_l4s", PACKETS, Count(|q| Some(q.marked_l4s))),
    metric("marked_classic", PACKETS, Count(|q| Some(q.marked_classic))),
    metric("filtered", PACKETS, Count(|q| Some(q.filtered))),
    metric("made", PACKETS, Count(|q| Some(q.made))),
    metric("lost", PACKETS, Count(|q| Some(q.lost))),
    metric("excess_losses", PACKETS, Number(|q| Some(q.excess_losses))),
    metric("queue.length", PACKETS, Number(|q| Some(q.queue.length))),
    metric("queue.delay.mean", TIME, Number(|q| q.queue.delay_s.mean)),
    metric("queue.delay.p50", TIME, Number(|q| q.queue.delay_s.p50)),
    metric("queue.delay.p95", TIME, Number(|q| q.queue.delay_s.p95)),
    metric("queue.delay.p99", TIME, Number(|q| q.queue.delay_s.p99)),
];

/// A transmitter: a station with all its queues, or a wire.
pub(super) const TRANSMITTER: &[Field<Transmitter>] = &[
    text(
        "name",
        "`ap`, a station or a wire; in a field also `routing`: what is between the network layers of stations and \
            their queues",
        |t| &t.name,
    ),
    own("taken", PACKETS, "packets that the transmitter took from its queues", Number(|t| Some(t.taken as f64))),
    own("delivered", PACKETS, "packets that reached the other end, each counted once", Count(|t| Some(t.delivered))),
    own("lost", PACKETS, "packets that did not: corrupted on a wire, or given up", Count(|t| Some(t.lost))),
    own(
        "carrying.start",
        PACKETS,
        "packets in service or on their way at the end of the warm-up",
        Count(|t| Some(t.carrying.start)),
    ),
    own(
        "carrying.end",
        PACKETS,
        "packets in service or on their way at the end of the run",
        Count(|t| Some(t.carrying.end)),
    ),
];

/// The air of the cell.
pub(super) const AIR: &[Field<Air>] = &[
    metric("frames", COUNT, Count(|a| Some(a.frames))),
    metric("successes", COUNT, Count(|a| Some(a.successes))),
    metric("collisions", COUNT, Count(|a| Some(a.collisions))),
    metric("collision_probability", COUNT, Number(|a| Some(a.collision_probability))),
    metric("retry_drops", COUNT, Count(|a| Some(a.retry_drops))),
    metric("rivals", COUNT, Number(|a| Some(a.rivals))),
    metric("wait.success", COUNT, Number(|a| Some(a.wait.success))),
    metric("wait.collision", COUNT, Number(|a| Some(a.wait.collision))),
    metric("busy", COUNT, Number(|a| Some(a.busy))),
    metric("ledger", COUNT, Each(|a| &a.ledger)),
    metric("routing_drops", PACKETS, Counts(|a| a.routing_drops.as_ref())),
];

/// A station's part of the air.
pub(super) struct Station {
    pub(super) name: String,
    from: f64,
    to: Option<f64>,
}

impl Station {
    /// The stations of a cell, with the access point.
    pub(super) fn all(air: &Air) -> impl Iterator<Item = Station> {
        let of = |(name, from): (&String, &f64)| Station {
            name: name.clone(),
            from: *from,
            to: air.airtime.to.get(name).copied(),
        };
        air.airtime.from.iter().map(of)
    }
}

/// The columns of a station.
pub(super) const STATION: &[Field<Station>] = &[
    text("name", "`ap` or a station", |s| &s.name),
    own(
        "airtime.from",
        COUNT,
        "share of time of the frames that the station sends, with ACK, RTS and CTS",
        Number(|s| Some(s.from)),
    ),
    own("airtime.to", COUNT, "share of time of the frames sent to the station", Number(|s| s.to)),
];

/// The data of a station: those that it sent, or those that were sent to it.
pub(super) struct StationData {
    pub(super) name: String,
    /// MPDUs, and means over them.
    mpdus: Option<f64>,
    loss: Option<f64>,
    rate: Option<f64>,
    mcs: Option<f64>,
}

impl StationData {
    /// The data that each station sent, and those sent to it.
    pub(super) fn all(air: &Air) -> [impl Iterator<Item = StationData>; 2] {
        type Of = fn(&Ways) -> &BTreeMap<String, f64>;
        let ways: [Of; 2] = [|w| &w.from, |w| &w.to];
        ways.map(|way| {
            let of = move |ways: &Option<Ways>, name: &str| way(ways.as_ref()?).get(name).copied();
            let names = air.mpdus.iter().flat_map(move |mpdus| way(mpdus).keys());
            names.map(move |name| StationData {
                name: name.clone(),
                mpdus: of(&air.mpdus, name),
                loss: of(&air.mpdu_loss, name),
                rate: of(&air.mean_rate, name),
                mcs: of(&air.mean_mcs, name),
            })
        })
    }
}

/// The columns of the data that a station sent, and of those sent to it.
pub(super) const DATA: [&[Field<StationData>]; 2] = [
    &[
        text("name", "`ap` or a station", |s| &s.name),
        metric("mpdus.from", COUNT, Number(|s| s.mpdus)),
        metric("mpdu_loss.from", COUNT, Number(|s| s.loss)),
        metric("mean_rate.from", RATE, Number(|s| s.rate)),
        metric("mean_mcs.from", COUNT, Number(|s| s.mcs)),
    ],
    &[
        text("name", "`ap` or a station", |s| &s.name),
        metric("mpdus.to", COUNT, Number(|s| s.mpdus)),
        metric("mpdu_loss.to", COUNT, Number(|s| s.loss)),
        metric("mean_rate.to", RATE, Number(|s| s.rate)),
        metric("mean_mcs.to", COUNT, Number(|s| s.mcs)),
    ],
];

/// What the radio of one station of a field does.
pub(super) struct StationRadio {
    pub(super) name: String,
    /// Shares in the order of [`Radio`](contend_experiment::results::Radio)'s accounts.
    shares: [f64; 5],
}

impl StationRadio {
    /// The stations of a field; none in a cell.
    pub(super) fn all(air: &Air) -> impl Iterator<Item = StationRadio> {
        air.radio.iter().flat_map(|radio| {
            let shares = |name| radio.accounts().map(|(_, of)| of.get(name).copied().unwrap_or_default());
            radio.sends.keys().map(move |name| StationRadio { name: name.clone(), shares: shares(name) })
        })
    }
}

/// The columns of a station of a field.
pub(super) const RADIO: &[Field<StationRadio>] = &[
    text("name", "a station or an access point of a field", |s| &s.name),
    own("radio.sends", COUNT, "share of time in which it transmits", Number(|s| Some(s.shares[0]))),
    own(
        "radio.receives",
        COUNT,
        "share of time in which a frame for it, or for all, arrives that nothing has corrupted so far",
        Number(|s| Some(s.shares[1])),
    ),
    own("radio.hears", COUNT, "share of time in which it senses something else", Number(|s| Some(s.shares[2]))),
    own(
        "radio.blocked",
        COUNT,
        "share of time in which it senses nothing but must not send: inter-frame spaces, reservations (NAV), the wait \
            for an answer",
        Number(|s| Some(s.shares[3])),
    ),
    own("radio.idle", COUNT, "the rest: the medium around it is free", Number(|s| Some(s.shares[4]))),
];

/// How one station changed its access point.
pub(super) struct StationRoams {
    pub(super) name: String,
    roams: u64,
    away_s: f64,
}

impl StationRoams {
    /// The stations that may change their access points.
    pub(super) fn all(air: &Air) -> impl Iterator<Item = StationRoams> {
        let of = |(name, r): (&String, &Roaming)| StationRoams { name: name.clone(), roams: r.roams, away_s: r.away_s };
        air.roaming.iter().flatten().map(of)
    }
}

/// The columns of a station that may change its access point.
pub(super) const ROAMS: &[Field<StationRoams>] = &[
    text("name", "a station with `roam`", |s| &s.name),
    metric("roams", COUNT, Count(|s| Some(s.roams))),
    metric("away", TIME, Number(|s| Some(s.away_s))),
];

/// A flow at one instant of its series.
pub(super) struct Instant {
    pub(super) now: FlowSample,
    /// The sample before, and how many seconds ago it was; `None` at the first instant.
    pub(super) before: Option<(FlowSample, f64)>,
}

impl Instant {
    /// Bits per second since the sample before, from a counter of bytes.
    fn rate(&self, of: fn(&FlowSample) -> u64) -> Option<f64> {
        let (before, seconds) = self.before.filter(|b| b.1 > 0.0)?;
        Some(of(&self.now).saturating_sub(of(&before)) as f64 * 8.0 / seconds)
    }
}

/// A flow at an instant of the time series.
pub(super) const FLOW_AT: &[Field<Instant>] = &[
    own(
        "goodput",
        RATE,
        "payload delivered in order since the instant before, per second",
        Number(|i| i.rate(|s| s.delivered_bytes)),
    ),
    own(
        "throughput",
        RATE,
        "IP bytes that arrived since the instant before, per second",
        Number(|i| i.rate(|s| s.received_bytes)),
    ),
    own(
        "goodput.bytes",
        BYTES,
        "payload delivered in order since the start of the run",
        Count(|i| Some(i.now.delivered_bytes)),
    ),
    own(
        "throughput.bytes",
        BYTES,
        "IP bytes that arrived since the start of the run",
        Count(|i| Some(i.now.received_bytes)),
    ),
    own("cwnd", PACKETS, "congestion window (Linux: `snd_cwnd`)", Count(|i| positive(i.now.snd_cwnd))),
    own(
        "ssthresh",
        PACKETS,
        "slow-start threshold (Linux: `snd_ssthresh`); null while it is infinite",
        Count(|i| positive(i.now.snd_ssthresh).filter(|t| *t < u64::from(SSTHRESH_INFINITE))),
    ),
    own("srtt", TIME, "smoothed round-trip time (Linux: `srtt_us`)", Number(|i| seconds(i.now.srtt_us))),
    own(
        "rttvar",
        TIME,
        "mean deviation of the round-trip time (Linux: `rttvar_us`)",
        Number(|i| seconds(i.now.rttvar_us)),
    ),
    own(
        "sent",
        PACKETS,
        "data packets sent since the start of the run, including retransmissions",
        Count(|i| Some(i.now.sent)),
    ),
    own(
        "retransmitted",
        PACKETS,
        "retransmitted data packets since the start of the run",
        Count(|i| Some(i.now.retrans)),
    ),
    own("acked", BYTES, "payload acknowledged since the start of the run", Count(|i| Some(i.now.snd_una_bytes))),
];

/// A count that a TCP sender has; UDP has none, which is 0.
fn positive(n: u32) -> Option<u64> {
    Some(u64::from(n)).filter(|n| *n > 0)
}

/// Microseconds in seconds; `None` before the first measurement.
fn seconds(us: u32) -> Option<f64> {
    positive(us).map(|us| us as f64 / 1e6)
}

/// A queue at an instant of the time series.
pub(super) const QUEUE_AT: &[Field<QueueSample>] = &[
    own("queue.length", PACKETS, "packets that wait", Count(|q| Some(q.packets))),
    own("offered", PACKETS, "packets offered since the start of the run", Count(|q| Some(q.offered))),
    own("marked", PACKETS, "packets marked since the start of the run", Count(|q| Some(q.marked))),
    own("drops.total", PACKETS, "packets dropped since the start of the run", Count(|q| Some(q.dropped))),
];

/// The data of a station between an instant of the time series and the one before: from it, and to it.
pub(super) struct DataInstant {
    pub(super) now: [DataSample; 2],
    /// The samples before; `None` at the first instant.
    pub(super) before: Option<[DataSample; 2]>,
}

impl DataInstant {
    /// A mean since the instant before.
    fn mean(&self, way: usize, of: fn(&DataSample, &DataSample) -> Option<f64>) -> Option<f64> {
        of(&self.now[way], &self.before.as_ref()?[way])
    }
}

/// The data of a station at an instant of the time series.
pub(super) const DATA_AT: &[Field<DataInstant>] = &[
    own(
        "mean_rate.from",
        RATE,
        "mean rate of the MPDUs that the station sent since the instant before; null if there is none",
        Number(|i| i.mean(0, DataSample::mean_rate)),
    ),
    own("mean_mcs.from", COUNT, "mean MCS of these MPDUs", Number(|i| i.mean(0, DataSample::mean_mcs))),
    own(
        "mean_rate.to",
        RATE,
        "mean rate of the MPDUs that were sent to the station since the instant before; null if there is none",
        Number(|i| i.mean(1, DataSample::mean_rate)),
    ),
    own("mean_mcs.to", COUNT, "mean MCS of these MPDUs", Number(|i| i.mean(1, DataSample::mean_mcs))),
];

/// What says whose instant it is.
const INSTANT: [Row; 3] = [
    Row { name: Cow::Borrowed("scope"), unit: None, doc: "`flow` or `queue`" },
    Row { name: Cow::Borrowed("name"), unit: None, doc: "name of the flow or queue" },
    Row { name: Cow::Borrowed("time"), unit: Some("s"), doc: "time since the start of the run" },
];

/// The rate that an estimator reports for a flow, in the time series: its name follows after a dot.
pub(super) const ESTIMATE: &str = "estimate";

/// A table of names: what it is about, and its rows.
#[derive(Clone, Debug)]
pub struct Names {
    /// The object that has the names.
    pub of: &'static str,
    /// Where they are in each output, in sentences.
    pub place: &'static str,
    /// The names, in the order of the columns.
    pub rows: Vec<Row>,
}

/// A name of the results.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name.
    pub name: Cow<'static, str>,
    /// The base unit; `None` for a text.
    pub unit: Option<&'static str>,
    /// The meaning, in a phrase.
    pub doc: &'static str,
}

/// All names of results with unit and meaning, by object.
pub fn names() -> Vec<Names> {
    fn of<T>(of: &'static str, place: &'static str, fields: &[Field<T>]) -> Names {
        Names { of, place, rows: fields.iter().map(Field::row).collect() }
    }
    vec![
        of(
            "run",
            "JSON: an object of `runs`, which also has `point`, `flows`, `queues`, `transmitters`, `air` (null without \
                a cell) and `metrics`, the numbers that every run reports with those of `show`. CSV: scope `run`; \
                `seed` is a column.",
            RUN,
        ),
        of(
            "flow",
            "JSON: `flows` of a run; `completed` is the length of `fct` there; `arrived_ce`, `delivered_ce` and \
                `unfinished` are left out if they are 0. CSV: scope `flow`. Parquet: the columns of `flows.parquet` \
                without `fct`; with the swept keys, `seed` and `digest`.",
            FLOW,
        ),
        of("queue", "JSON: `queues` of a run. CSV: scope `queue`.", QUEUE),
        of(
            "transmitter",
            "A station with all its queues, or a wire. JSON: `transmitters` of a run. CSV: scope `transmitter`.",
            TRANSMITTER,
        ),
        of(
            "air",
            "JSON: `air` of a run. CSV: scope `air`. The accounts of the ledger are `idle`, `ifs`, `backoff`, \
                `collision`, `preamble`, `header`, `payload`, `ack`, `rts_cts`, `errored`, with \
                beacons also `beacon`; they sum to 1. In a field \
                they are those of `radio`, as means over stations. `routing_drops` is for fields.",
            AIR,
        ),
        of("station", "JSON: by name in `air` of a run, `.air.airtime.from.sta1`. CSV: scope `station`.", STATION),
        of(
            "station of a field",
            "What its radio does; the shares of a station sum to 1. JSON: by name in `air` of a run, \
                `.air.radio.sends.sta1`. CSV: scope `station`.",
            RADIO,
        ),
        of(
            "station that roams",
            "JSON: by name in `air` of a run, `.air.roaming.sta1.roams`; `access_points` there are those of the whole \
                run, each with the second since when. CSV: scope `station`.",
            ROAMS,
        ),
        of(
            "data of a station",
            "What it sent; JSON: by name in `air` of a run, `.air.mpdus.from.sta1`. CSV: scope `station`.",
            DATA[0],
        ),
        of(
            "data to a station",
            "What was sent to it; JSON: by name in `air` of a run, `.air.mpdus.to.sta1`. CSV: scope `station`.",
            DATA[1],
        ),
        Names {
            of: "instant",
            place: "Parquet: `series.parquet`, with the swept keys and `seed`.",
            rows: INSTANT.to_vec(),
        },
        of(
            "flow at an instant",
            "Parquet: `series.parquet`; null for queues. With estimators also `estimate.NAME` in bps; with \
                controllers that keep them `alpha`, the smoothed share of marked segments, and `score`, that of \
                Prague's detector.",
            FLOW_AT,
        ),
        of(
            "queue at an instant",
            "Parquet: `series.parquet`; null for flows. With `dualpi2` or `pie` also `probability`, that of their law.",
            QUEUE_AT,
        ),
        of(
            "data at an instant",
            "Parquet: `series.parquet`, in the rows of the station's queue; only of networks with a rate control.",
            DATA_AT,
        ),
    ]
}

/// The base unit of each number of the JSON of `o`, by its name. Metrics whose unit is unknown are left out.
pub(super) fn units(o: &Outcome) -> BTreeMap<String, &'static str> {
    let accounts = o.runs.iter().find_map(|r| r.air.as_ref()).into_iter().flat_map(|a| a.ledger.keys());
    let accounts = accounts.map(|account| (format!("ledger.{account}"), unit(COUNT)));
    let of = |table: &str| names().into_iter().find(|n| n.of == table).map_or(vec![], |n| n.rows);
    let drops = o
        .runs
        .iter()
        .find_map(|r| r.air.as_ref())
        .into_iter()
        .flat_map(|a| a.routing_drops.iter().flat_map(BTreeMap::keys));
    let drops = drops.map(|reason| (format!("routing_drops.{reason}"), unit(PACKETS)));
    let json = [
        "run",
        "flow",
        "queue",
        "transmitter",
        "air",
        "station",
        "station of a field",
        "station that roams",
        "data of a station",
        "data to a station",
    ];
    let fixed = json.into_iter().flat_map(of).filter(|r| !r.name.ends_with(".NAME"));
    let fixed = fixed.filter_map(|r| Some((r.name.into_owned(), r.unit?)));
    let judged = o.claims.iter().map(|c| &c.measured).chain(o.checks.iter().map(|c| &c.measured));
    let judged = judged.flat_map(|m| &m.points).map(|p| &p.metric);
    let metrics: BTreeSet<_> = o.runs.iter().flat_map(|r| r.metrics.keys()).chain(&o.show).chain(judged).collect();
    let metrics = metrics.into_iter().filter_map(|m| Some((m.clone(), metric_unit(m)?)));
    fixed.chain(accounts).chain(drops).chain(metrics).collect()
}

/// The base unit of an expression; `None` if it is unknown.
pub(super) fn metric_unit(text: &str) -> Option<&'static str> {
    Expr::parse_any(text).ok()?.dimension().map(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(check: &mut dyn FnMut(&'static str, Option<Dimension>, Option<&'static str>)) {
        fn of<T>(fields: &[Field<T>], check: &mut dyn FnMut(&'static str, Option<Dimension>, Option<&'static str>)) {
            fields.iter().for_each(|f| check(f.name, f.unit, f.doc));
        }
        of(RUN, check);
        of(FLOW, check);
        of(QUEUE, check);
        of(TRANSMITTER, check);
        of(AIR, check);
        of(STATION, check);
        DATA.iter().for_each(|fields| of(fields, check));
        of(RADIO, check);
        of(ROAMS, check);
        of(FLOW_AT, check);
        of(QUEUE_AT, check);
    }

    #[test]
    fn an_entry_of_a_metric_has_the_metric_s_unit() {
        each(&mut |name, unit, doc| {
            if doc.is_none() {
                assert_eq!(metric_at(name).map(|m| m.unit), unit, "{name}");
            }
        });
    }

    #[test]
    fn a_name_has_one_unit_and_none_in_itself() {
        let mut units = BTreeMap::new();
        each(&mut |name, unit, _| {
            assert_eq!(*units.entry(name).or_insert(unit), unit, "{name}");
            assert!(!["_s", "_ms", "_us", "_bps", "_bytes"].iter().any(|suffix| name.ends_with(suffix)), "{name}");
        });
    }
}
