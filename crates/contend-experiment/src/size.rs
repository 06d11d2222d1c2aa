//! What is measured in a run, and an upper bound on its memory. The bound depends on the network only, so it is the
//! same on every machine.

use crate::map::MapSeries;
use crate::results::{DataSample, Flow, FlowSample, Queue, QueueSample, Transmitter, Word};
use contend_core::{Span, Time};
use contend_sim::net;
use contend_sim::scenario::{CellSpec, FlowSpec, Scenario, Transport};
use contend_sim::wifi::Success;
use contend_sim::wifi::phy::{ACK_BYTES, Format};

/// Memory of one non-empty histogram of durations in bytes: 1600 counters and their sum.
pub const HISTOGRAM: u64 = 6_500;
/// Memory for the named metrics, the point and the air of a run in bytes.
const METRICS: u64 = 8_192;

/// What is measured in a run; the same for all runs of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Measure {
    /// Simulated time, including the warm-up.
    pub duration: Span,
    /// Length of the warm-up, which is not measured.
    pub warmup: Span,
    /// Step of the time series.
    pub sample: Option<Span>,
    /// True if the map of a field is kept with the time series.
    pub map: bool,
    /// Additional sampling instants: the ends of the time windows in claims.
    pub instants: Vec<Time>,
    /// Frames kept for a capture or the report's timeline.
    pub capture: Option<CaptureWindow>,
    /// True if the run records who succeeds on the air.
    pub successes: bool,
}

/// Which frames are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureWindow {
    /// First instant.
    pub from: Time,
    /// End of the interval.
    pub to: Time,
    /// Maximum number of frames.
    pub limit: usize,
}

/// The report's timeline shows this much of the first run, from the end of the warm-up.
const TIMELINE: Span = Span::from_secs(1);
/// Maximum number of frames that a results folder or a report keeps.
const FRAMES: usize = 100_000;

impl CaptureWindow {
    /// The frames from `from` to `to`.
    pub fn new(from: Time, to: Time) -> CaptureWindow {
        CaptureWindow { from, to, limit: FRAMES }
    }

    /// The frames of the report's timeline.
    pub fn timeline(warmup: Span) -> CaptureWindow {
        let warm = Time::ZERO + warmup;
        CaptureWindow::new(warm, warm + TIMELINE)
    }
}

/// Maximum number of samples of flows, estimators and observers (their number times the number of instants) in one run.
/// Above it the step is lengthened.
pub const MAX_SAMPLES: u64 = 2_000_000;
/// Maximum number of samples of queues (their number times the number of instants) in one run, and of the data of
/// stations. Above it the step is lengthened.
pub const MAX_QUEUE_SAMPLES: u64 = 4_000_000;

/// How many objects are sampled at each instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Flows.
    pub flows: u64,
    /// Estimators, summed over the flows.
    pub estimates: u64,
    /// Queues.
    pub queues: u64,
    /// Numbers of the observers of all stations, and of what really happened at these stations.
    pub observed: u64,
    /// Series of the data of stations: two for each station of a cell with a rate control.
    pub data: u64,
}

impl Sampled {
    /// Counts the objects of a network.
    pub fn of(s: &Scenario) -> Sampled {
        Sampled {
            flows: s.flows.len() as u64,
            estimates: s.flows.iter().map(|f| estimators(f).count() as u64).sum(),
            queues: net::queue_count(s) as u64,
            observed: s.cell.iter().flat_map(|c| c.members()).map(|s| observed(s.observe.len() as u64)).sum(),
            data: s.cell.as_ref().map_or(0, data),
        }
    }

    /// The factor by which the step of a series is lengthened.
    pub fn lengthened(&self, duration: Span, step: Span) -> u64 {
        let steps = duration.div_floor(step);
        let beyond = |members: u64, most: u64| steps.saturating_mul(members).div_ceil(most);
        beyond(self.flows + self.estimates + self.observed, MAX_SAMPLES)
            .max(beyond(self.queues, MAX_QUEUE_SAMPLES))
            .max(beyond(self.data, MAX_QUEUE_SAMPLES))
            .max(1)
    }

    /// The maximum number of instants at which a run is sampled.
    pub fn instants(&self, m: &Measure) -> u64 {
        let steps = |step: Span| m.duration.div_floor(step) / self.lengthened(m.duration, step) + 3;
        m.sample.filter(|s| !s.is_zero()).map_or(0, steps) + m.instants.len() as u64
    }
}

/// Numbers that are sampled at a station with so many observers: two of each, and three of what really happened.
fn observed(observers: u64) -> u64 {
    if observers == 0 { 0 } else { 2 * observers + 3 }
}

/// The series of the data of stations: one for each station and direction, if a rate control chooses rates.
fn data(cell: &CellSpec) -> u64 {
    if cell.members().any(|s| s.channel.rate_control.is_some()) { 2 * cell.members().count() as u64 } else { 0 }
}

/// The names of the estimators that watch a flow.
pub fn estimators(f: &FlowSpec) -> impl Iterator<Item = &String> {
    let list = if let Transport::Tcp(t) = &f.ends.transport { t.estimates.as_slice() } else { &[] };
    list.iter().map(|(name, _)| name)
}

/// The numbers that determine the memory of a run's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// What is sampled.
    pub sampled: Sampled,
    /// Stations on the air, access points included.
    pub stations: u64,
    /// Duration of the shortest exchange in the cell; zero without a cell.
    pub exchange: Span,
    /// Successes of a `[contention]` run.
    pub successes: u64,
    /// Memory for the map of a field in bytes.
    pub map: u64,
}

impl Size {
    /// The size of a network's results.
    pub fn of(s: &Scenario) -> Size {
        Size {
            sampled: Sampled::of(s),
            stations: s.cell.as_ref().map_or(0, |c| c.members().count() as u64),
            exchange: s.cell.as_ref().map_or(Span::ZERO, shortest_exchange),
            successes: 0,
            map: s
                .cell
                .as_ref()
                .filter(|c| c.field.is_some())
                .map_or(0, |c| MapSeries::memory(c.members().count() as u64, s.flows.len() as u64)),
        }
    }

    /// The size of a closed form's results.
    pub const MODEL: Size = Size {
        sampled: Sampled { flows: 0, estimates: 0, queues: 0, observed: 0, data: 0 },
        stations: 0,
        exchange: Span::ZERO,
        successes: 0,
        map: 0,
    };

    /// The size of a `[contention]` run's results.
    pub fn of_successes(successes: u64) -> Size {
        Size { successes, ..Size::MODEL }
    }

    /// Memory for the numbers of one run, in bytes.
    pub fn numbers(&self) -> u64 {
        const NAME: u64 = 64;
        // A node of a map has room for eleven entries, even if there is only one.
        const DROPS_BY_KIND: u64 = 11 * (size_of::<Word>() + size_of::<u64>()) as u64 + 32;
        // A station's name is stored eight times: seven times as the key of what it does.
        METRICS
            + self.sampled.flows * (size_of::<Flow>() as u64 + NAME)
            + self.sampled.queues * (size_of::<Queue>() as u64 + NAME + DROPS_BY_KIND)
            // Each transmitter has at least one queue.
            + self.sampled.queues * (size_of::<Transmitter>() as u64 + NAME)
            + self.stations * 8 * NAME
    }

    /// Memory in bytes for the series that `m` asks for and, with `histograms`, for the histograms.
    pub fn detail(&self, m: &Measure, histograms: bool) -> u64 {
        let Sampled { flows, estimates, queues, observed, data } = self.sampled;
        let members = flows * size_of::<FlowSample>() as u64
            + queues * size_of::<QueueSample>() as u64
            + estimates * 8
            + observed * 16
            + data * size_of::<DataSample>() as u64;
        let instant = 8 + if m.successes { size_of::<usize>() as u64 } else { 0 };
        let series = self.sampled.instants(m).saturating_mul(instant + members);
        let on_air = if self.exchange.is_zero() { 0 } else { m.duration.div_floor(self.exchange) };
        let successes = if m.successes { (on_air + self.successes) * size_of::<Success>() as u64 } else { 0 };
        let series = series.saturating_add(if m.map && m.sample.is_some() { self.map } else { 0 });
        series.saturating_add(successes).saturating_add(if histograms { (2 * flows + queues) * HISTOGRAM } else { 0 })
    }
}

/// No two successes are closer: an empty packet at the highest rate and its ACK, with a SIFS before each.
fn shortest_exchange(cell: &CellSpec) -> Span {
    let phy = &cell.phy;
    let fastest = cell.members().filter_map(|s| phy.format(s.rate)).max_by_key(|r| r.bps);
    let of = |rate: Format| {
        rate.airtime(phy.mpdu(0)).total + phy.response_rate(rate).airtime(ACK_BYTES).total + phy.sifs * 2
    };
    fastest.map_or(Span::ZERO, of)
}

#[cfg(test)]
mod tests {
    use crate::reading::file::{self, Overlay};
    use contend_sim::net::{self, Net};
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, all: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                files(&path, all);
            } else if path.extension().is_some_and(|e| e == "toml") {
                all.push(path);
            }
        }
    }

    #[test]
    fn the_queues_of_every_network_are_counted_before_it_is_made() {
        let mut all = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        ["experiments", "papers"].iter().for_each(|folder| files(&root.join(folder), &mut all));
        let (mut networks, mut special) = (0, [0; 3]);
        for path in all {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.display().to_string();
            let e = file::parse_with(&name, &text, &[], |path, _| std::fs::read_to_string(path)).unwrap();
            for point in [e.points.first(), e.points.last()].into_iter().flatten() {
                let Ok(resolved) = e.scenario(point, &Overlay::default()) else { continue };
                let scenario = resolved.scenario.with_seed(1);
                let net = Net::new(&scenario).unwrap();
                let names: Vec<&str> = net.queues().collect();
                assert_eq!(net::queue_count(&scenario), names.len(), "{}: {names:?}", path.display());
                networks += 1;
                for (count, part) in special.iter_mut().zip([".vo", ".cable", "ap.control"]) {
                    *count += usize::from(names.iter().any(|n| n.ends_with(part)));
                }
            }
        }
        assert!(networks > 50 && special.iter().all(|n| *n > 0), "{networks} networks, {special:?}");
    }
}
