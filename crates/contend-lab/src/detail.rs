//! How much of a sweep stays in memory: the plan of all runs, and which of them keep their time series and histograms.
//!
//! The numbers of every run stay until the end, about half a kilobyte a flow or queue. Series and histograms are what
//! is heavy; they stay where
//!
//! 1. a claim, a figure or a search cannot be evaluated without them (who succeeded on the air is kept for no other
//!    reason): in all runs, or the experiment is refused before it starts;
//! 2. the results folder shows them: the first seed of every point, then the second, and so on, as far as
//!    [`MOST_DETAIL`] goes; a note says where that was.
//!
//! What is estimated is the most it can be, from the network alone, so the choice is the same on every machine and for
//! every number of cores.

use crate::claim::Need;
use crate::execute::Error;
use crate::metric::{Sampling, fingerprint};
use crate::results::{Flow, FlowSample, Queue, QueueSample, Run, Series};
use crate::run::{self, Capture, Measure};
use contend_core::{Span, Time};
use contend_sim::scenario::{CellSpec, Scenario, StationSpec};
use contend_sim::stats::Durations;
use contend_sim::wifi::Success;
use contend_sim::wifi::phy::{ACK_BYTES, Format, Phy};

/// Most bytes that the series and histograms of all runs take together.
pub const MOST_DETAIL: u64 = 1 << 30;
/// Most bytes that the numbers of all runs take together.
pub const MOST_NUMBERS: u64 = 4 << 30;
/// Most frames that a run looks at when metrics need them; they are let go when it ends.
const MOST_FRAMES: usize = 2_000_000;
/// Most runs of an experiment.
pub const MOST_RUNS: u64 = 1_000_000;

/// Step of the time series when the file names none.
const SAMPLE: Span = Span::from_secs(1);
/// Bytes of a histogram of [`Durations`] with something in it: 1600 counters and their sum.
const HISTOGRAM: u64 = 6_500;
/// Bytes of a run's named metrics, its point and its air.
const METRICS: u64 = 8_192;

/// What is kept of a run beside its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// What claims, figures and the search are evaluated from; mostly nothing.
    Needed,
    /// Everything that a results folder shows.
    All,
}

/// One run of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Which need it serves.
    pub need: usize,
    /// Its seed.
    pub seed: u64,
    /// What is kept of it.
    pub keep: Keep,
}

/// How much detail an experiment asks for.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    /// What is measured of a run that keeps everything.
    all: Measure,
    /// What is measured of a run that keeps what is needed.
    needed: Measure,
    /// Whether histograms are needed.
    histograms: bool,
    /// Whether every run's frames are looked at.
    frames: bool,
    /// Whether a results folder is to be written.
    shown: bool,
}

impl Detail {
    /// Of runs of `duration`, of which `warmup` is cut, with a series every `sample` when there is one.
    pub fn new(sampling: Sampling, duration: Span, warmup: Span, sample: Option<Span>, shown: bool) -> Detail {
        let seconds = || (0..=duration.div_floor(SAMPLE)).map(|s| Time::ZERO + SAMPLE * s);
        let step = sample.unwrap_or(SAMPLE);
        let mut instants = sampling.instants;
        if sampling.every_second {
            instants.extend(seconds());
        }
        let needed = Measure {
            duration,
            warmup,
            sample: (sampling.series || sampling.every_second).then_some(step),
            instants,
            capture: None,
            successes: sampling.successes,
        };
        let mut all = Measure { sample: Some(step), ..needed.clone() };
        // The report's fairness by the second needs a sample at every whole one; in very long runs it goes without.
        if !sampling.every_second && duration.div_floor(SAMPLE) <= 100_000 {
            all.instants.extend(seconds());
        }
        Detail { all, needed, histograms: sampling.histograms, frames: sampling.frames, shown }
    }

    /// What is measured of a run of which this is kept.
    pub fn measure(&self, keep: Keep) -> &Measure {
        if keep == Keep::All { &self.all } else { &self.needed }
    }

    /// What a run captures while it lasts, when `shown` is asked for.
    pub fn captured(&self, shown: Option<Capture>) -> Option<Capture> {
        let end = Time::ZERO + self.needed.duration;
        if self.frames { Some(Capture { from: Time::ZERO, to: end, limit: MOST_FRAMES }) } else { shown }
    }

    /// Looks at the frames of a finished run, where metrics need that, and keeps those that were asked for.
    pub fn look(&self, run: &mut Run, phy: Option<&Phy>, shown: Option<Capture>) {
        let Some(phy) = phy.filter(|_| self.frames) else { return };
        fingerprint::note(run, phy);
        let Some(c) = shown else {
            (run.frames, run.frames_missed) = (Vec::new(), 0);
            return;
        };
        run.frames.retain(|f| f.start >= c.from && f.start < c.to);
        run.frames_missed += run.frames.len().saturating_sub(c.limit) as u64;
        run.frames.truncate(c.limit);
        run.frames.shrink_to_fit();
    }

    /// Most bytes of the numbers, series and histograms of a run of this size of which this is kept.
    pub fn memory(&self, keep: Keep, size: &Size) -> u64 {
        size.numbers().saturating_add(size.detail(self.measure(keep), keep == Keep::All || self.histograms))
    }

    /// Lets go of what is not kept.
    pub fn thin(&self, keep: Keep, run: &mut Run) {
        if keep == Keep::Needed && !self.histograms {
            run.drop_histograms();
        }
    }

    /// The runs of `needs` with `seeds`, need by need. With a note when not all can be shown.
    ///
    /// # Errors
    /// When there are too many, or what their claims need does not fit; with the remedy.
    pub fn plan(
        &self,
        needs: &[(Need, Size)],
        seeds: &[u64],
        limit: u64,
    ) -> Result<(Vec<Planned>, Option<String>), Error> {
        let count = needs.len() as u64 * seeds.len() as u64;
        if count > MOST_RUNS {
            return Err(too_large(
                format!(
                    "{} points with {} seeds are {count} runs, and at most {MOST_RUNS} are made at a time",
                    needs.len(),
                    seeds.len()
                ),
                "take fewer values or seeds, or split the sweep with --set",
            ));
        }
        let each = seeds.len() as u64;
        let sum = |of: &dyn Fn(&Size) -> u64| {
            needs.iter().fold(0u64, |sum, (_, s)| sum.saturating_add(of(s).saturating_mul(each)))
        };
        let numbers = sum(&Size::numbers);
        if numbers > MOST_NUMBERS {
            return Err(too_large(
                format!(
                    "the results of {count} runs may take {}, and at most {} are kept",
                    bytes(numbers),
                    bytes(MOST_NUMBERS)
                ),
                "take fewer values or seeds, or split the sweep with --set",
            ));
        }
        let needed = sum(&|s| s.detail(&self.needed, self.histograms));
        if needed > limit {
            return Err(too_large(
                format!(
                    "the time series, delays and successes that the claims of this file need may take {} in {count} \
                        runs, and at most {} are kept",
                    bytes(needed),
                    bytes(limit)
                ),
                "make `sample` longer, `duration` shorter, take fewer values or seeds, or split the sweep with --set",
            ));
        }
        let runs = (0..needs.len())
            .flat_map(|need| seeds.iter().map(move |seed| Planned { need, seed: *seed, keep: Keep::Needed }));
        let mut runs: Vec<Planned> = runs.collect();
        let mut left = limit - needed;
        let more = |s: &Size| s.detail(&self.all, true).saturating_sub(s.detail(&self.needed, self.histograms));
        let (mut kept, mut wanted) = (0, 0);
        for rank in 0..seeds.len() {
            for (i, (_, size)) in needs.iter().enumerate().filter(|(_, (n, _))| self.shown && n.overlay.is_empty()) {
                wanted += 1;
                // The first that does not fit ends it: what is kept is a simple rule, not a puzzle.
                if kept + 1 == wanted && more(size) <= left {
                    (left, kept) = (left - more(size), kept + 1);
                    if let Some(run) = runs.get_mut(i * seeds.len() + rank) {
                        run.keep = Keep::All;
                    }
                }
            }
        }
        let note = (kept < wanted).then(|| {
            format!(
                "time series and delay distributions are kept of {kept} of {wanted} runs, the first seeds of each \
                    point first (at most {}); make `sample` longer or take fewer seeds for all",
                bytes(limit)
            )
        });
        Ok((runs, note))
    }
}

/// How large a network's results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    flows: u64,
    queues: u64,
    /// What estimators that watch the flows say.
    estimates: u64,
    /// The shortest exchange of the cell; zero without one.
    exchange: Span,
    /// Successes of a run of nothing but contention.
    successes: u64,
}

impl Size {
    /// Of this network.
    pub fn of(s: &Scenario) -> Size {
        let queues = |s: &StationSpec| if s.access.entry.name == "edca" { 4 } else { 1 };
        let on_air = s.cell.as_ref().map_or(0, |c| c.stations.iter().chain([&c.ap]).map(queues).sum());
        let exchange = s.cell.as_ref().map_or(Span::ZERO, shortest_exchange);
        let flows = s.flows.len() as u64;
        Size {
            flows,
            queues: on_air + 2 * s.links.len() as u64,
            estimates: run::watched(s) - flows,
            exchange,
            successes: 0,
        }
    }

    /// Of the results of a closed form.
    pub const MODEL: Size = Size { flows: 0, queues: 0, estimates: 0, exchange: Span::ZERO, successes: 0 };

    /// Of the results of nothing but contention.
    pub fn of_successes(successes: u64) -> Size {
        Size { successes, ..Size::MODEL }
    }

    /// Bytes of the numbers of one run.
    fn numbers(&self) -> u64 {
        const NAME: u64 = 64;
        METRICS + self.flows * (size_of::<Flow>() as u64 + NAME) + self.queues * (size_of::<Queue>() as u64 + NAME)
    }

    /// Bytes of the series that `m` asks for and, with `histograms`, of those.
    fn detail(&self, m: &Measure, histograms: bool) -> u64 {
        let members = self.flows * size_of::<FlowSample>() as u64
            + self.queues * size_of::<QueueSample>() as u64
            + self.estimates * 8;
        let series = run::samples(m, self.flows + self.estimates).saturating_mul(8 + members);
        let on_air = if self.exchange.is_zero() { 0 } else { m.duration.div_floor(self.exchange) };
        let successes = if m.successes { (on_air + self.successes) * size_of::<Success>() as u64 } else { 0 };
        series.saturating_add(successes).saturating_add(if histograms {
            (2 * self.flows + self.queues) * HISTOGRAM
        } else {
            0
        })
    }
}

/// An empty packet at the highest rate with its ACK, a SIFS before each: no two successes are closer.
fn shortest_exchange(cell: &CellSpec) -> Span {
    let phy = &cell.phy;
    let fastest = cell.stations.iter().chain([&cell.ap]).filter_map(|s| phy.rate(s.rate)).max_by_key(|r| r.bps);
    let of = |rate: Format| {
        rate.airtime(phy.mpdu(0)).total + phy.response_rate(rate).airtime(ACK_BYTES).total + phy.sifs * 2
    };
    fastest.map_or(Span::ZERO, of)
}

fn too_large(what: String, remedy: &str) -> Error {
    Error::TooLarge { what, remedy: remedy.to_owned() }
}

fn bytes(n: u64) -> String {
    if n >= 1 << 30 {
        format!("{:.1} GB", n as f64 / f64::from(1 << 30))
    } else {
        format!("{:.1} MB", n as f64 / f64::from(1 << 20))
    }
}

impl Run {
    /// Lets go of the time series, the histograms and the frames; every number stays.
    pub fn drop_detail(&mut self) {
        self.series = Series::default();
        self.frames = Vec::new();
        self.successes = None;
        self.drop_histograms();
    }

    fn drop_histograms(&mut self) {
        for flow in &mut self.flows {
            (flow.rtt, flow.delay) = (Durations::new(), Durations::new());
        }
        for queue in &mut self.queues {
            queue.delay = Durations::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Overlay;
    use crate::results::PointKey;

    const SMALL: Size = Size { flows: 10, queues: 21, estimates: 0, exchange: Span::from_micros(100), successes: 0 };
    /// At most 124 samples (two lists of whole seconds and both ends) of 10 flows and 21 queues are 144 kB; 41
    /// histograms are 267 kB.
    const RUN: u64 = 124 * (8 + 480 + 672) + 41 * HISTOGRAM;

    fn needs(points: usize, overlaid: usize) -> Vec<(Need, Size)> {
        let point = |i: usize| PointKey::from([("flow.0.count".to_owned(), i.into())]);
        let over = Overlay::of([("ap.queue".to_owned(), "fifo".into())]);
        let plain = (0..points).map(|i| Need { point: point(i), overlay: Overlay::default() });
        plain
            .chain((0..overlaid).map(|i| Need { point: point(i), overlay: over.clone() }))
            .map(|n| (n, SMALL))
            .collect()
    }

    fn detail(sampling: Sampling, shown: bool) -> Detail {
        Detail::new(sampling, Span::from_secs(60), Span::ZERO, None, shown)
    }

    fn kept(d: &Detail, needs: &[(Need, Size)], seeds: &[u64], limit: u64) -> (Vec<(usize, u64)>, Option<String>) {
        let (runs, note) = d.plan(needs, seeds, limit).unwrap();
        assert_eq!(runs.len(), needs.len() * seeds.len());
        (runs.iter().filter(|r| r.keep == Keep::All).map(|r| (r.need, r.seed)).collect(), note)
    }

    #[test]
    fn every_point_keeps_its_first_seed_before_any_keeps_its_second() {
        let d = detail(Sampling::default(), true);
        let (all, none) = kept(&d, &needs(3, 1), &[7, 8], 6 * RUN);
        assert_eq!((all.len(), none), (6, None));
        let (some, note) = kept(&d, &needs(3, 1), &[7, 8], 5 * RUN - 1);
        assert_eq!(some, [(0, 7), (0, 8), (1, 7), (2, 7)]);
        assert!(note.unwrap().contains("4 of 6 runs"));
    }

    #[test]
    fn without_a_results_folder_nothing_is_kept_that_no_claim_needs() {
        let (none, note) = kept(&detail(Sampling::default(), false), &needs(3, 1), &[1, 2], u64::MAX);
        assert_eq!((none.len(), note), (0, None));
    }

    #[test]
    fn what_claims_need_comes_first_and_must_fit() {
        let d = detail(Sampling { histograms: true, ..Sampling::default() }, true);
        let hists = 41 * HISTOGRAM;
        // All eight runs need histograms; a series is then 144 kB more.
        let (some, _) = kept(&d, &needs(3, 1), &[1, 2], 8 * hists + (RUN - hists));
        assert_eq!(some, [(0, 1)]);
        let Err(Error::TooLarge { what, remedy }) = d.plan(&needs(3, 1), &[1, 2], 8 * hists - 1) else { panic!() };
        assert!(what.contains("8 runs") && remedy.contains("sample"), "{what}; {remedy}");
    }

    #[test]
    fn estimates_count_as_samples_and_must_fit() {
        let d = detail(Sampling { series: true, ..Sampling::default() }, false);
        // 60 steps and both ends, and what comes between, of 20 estimates: 8 B each.
        let watched = |estimates| vec![(needs(1, 0)[0].0.clone(), Size { estimates, ..SMALL })];
        let series = 63 * (8 + 480 + 672);
        assert!(d.plan(&watched(0), &[1], series).is_ok());
        assert!(d.plan(&watched(20), &[1], series + 63 * 160).is_ok());
        let Err(Error::TooLarge { what, remedy }) = d.plan(&watched(20), &[1], series + 63 * 160 - 1) else { panic!() };
        assert_eq!(
            what,
            "the time series, delays and successes that the claims of this file need may take 0.1 MB in 1 runs, and \
                at most 0.1 MB are kept"
        );
        assert!(remedy.contains("make `sample` longer"), "{remedy}");
    }

    #[test]
    fn who_succeeded_takes_four_bytes_an_exchange_and_must_fit() {
        let d = detail(Sampling { successes: true, ..Sampling::default() }, false);
        // 60 s are at most 600,000 exchanges of 100 us.
        assert!(d.plan(&needs(1, 0), &[1, 2], 2 * 2_400_000).is_ok());
        let Err(Error::TooLarge { what, .. }) = d.plan(&needs(1, 0), &[1, 2], 2 * 2_400_000 - 1) else { panic!() };
        assert!(what.contains("successes"), "{what}");
        assert!(detail(Sampling::default(), false).plan(&needs(1, 0), &[1, 2], 0).is_ok());
    }

    #[test]
    fn too_many_runs_are_refused_before_the_first() {
        let d = detail(Sampling::default(), false);
        let seeds: Vec<u64> = (0..100_000).collect();
        let needs = |points, size| needs(points, 0).into_iter().map(|(n, _)| (n, size)).collect::<Vec<_>>();
        let (small, large) = (Size { flows: 1, queues: 3, ..SMALL }, Size { flows: 5_000, queues: 15_001, ..SMALL });
        assert!(matches!(d.plan(&needs(11, small), &seeds, u64::MAX), Err(Error::TooLarge { what, .. })
                if what.contains("1100000 runs")));
        assert!(matches!(d.plan(&needs(10, large), &seeds[..100], u64::MAX), Err(Error::TooLarge { what, .. })
                if what.contains("GB")));
        assert!(d.plan(&needs(10, small), &seeds[..100], u64::MAX).is_ok());
    }
}
