//! The results of a run: the objects of the JSON output, and the series and histograms behind the report.
//!
//! Serialized, they are the schema `contend/run/2`: keys are the names of `writing/output/field.rs`, and numbers are in
//! base units. Fields of the structs here have the unit in their name (`wall_s`), keys of the JSON have not (`wall`).

use contend_sim::trace::Trace;
use contend_sim::wifi::StationId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use words::floats;

mod air;
mod detail;
mod emulation;
mod flow;
mod queue;
mod series;
mod words;

pub use super::judged::{CheckResult, ClaimResult, Look, Measured, PointSeeds, Summary};
pub use super::judged::{MET, NOT_DECIDED, NOT_MET, unmet};
pub use super::map::MapSeries;
pub use super::swept::{Labels, PointKey, SweptValue, by_point, columns, distinct, point_text};
pub use air::{Air, Radio, Roaming, Wait, Ways};
pub use detail::{Channel, Detail, Successes};
pub use emulation::{Carried, Emulation, Lateness, Opened};
pub use flow::{Flow, Losses, Percentiles, Taken, packet_loss};
pub use queue::{Backlog, Drops, Held, Queue, Transmitter};
pub use series::{
    Columns, DataSample, DataSeries, EstimateSeries, FlowSample, FlowSeries, Kept, KeptSeries, ObservedStation,
    ObserverSeries, QueueSample, QueueSeries, Series,
};
pub use words::Word;

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
    /// The swept keys in the order of the file.
    pub keys: Vec<String>,
    /// The labels that the file gives to swept values, and to the rows of a `zip`.
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
    /// Names of access points and stations by [`StationId`], for captures.
    #[serde(skip)]
    pub stations: Vec<String>,
    /// For each of `stations` its access point; an access point has itself. Empty if stations forward packets for each
    /// other.
    #[serde(skip)]
    pub bss: Vec<StationId>,
    /// Number of contending stations in a `[contention]` run.
    #[serde(skip)]
    pub contending: Option<u32>,
    /// Arguments of the file's `[model]` at this point by name, in base units; empty for a network.
    #[serde(skip)]
    pub arguments: BTreeMap<String, f64>,
    /// What the run has beside its numbers.
    #[serde(skip)]
    pub detail: Detail,
    /// How true the run is to time, if it is an emulation; absent in a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<Emulation>,
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
        self.detail = Detail::default();
        self.drop_histograms();
    }

    /// Drops the buckets of the histograms; keeps every number, and the number and sum of what they hold.
    pub fn drop_histograms(&mut self) {
        for flow in &mut self.flows {
            flow.rtt.drop_buckets();
            flow.delay.drop_buckets();
        }
        for queue in &mut self.queues {
            queue.delay.drop_buckets();
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
            stations: vec![],
            bss: vec![],
            contending: None,
            arguments,
            detail: Detail::default(),
            emulation: None,
        }
    }
}
