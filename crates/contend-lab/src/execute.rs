//! All runs of an experiment, on all cores: each need with each seed. A need is a sweep point, with or without the
//! settings of a claim as an overlay.
//!
//! Runs share no state, and results are collected in the order of the plan. So the number of cores changes only the
//! elapsed time. Memory for details of runs is bounded: see [`crate::measuring::detail`].

use crate::experiment::results::{Executed, Interrupted, Outcome, Run, SearchResult};
use crate::experiment::size::{CaptureWindow, Measure, Size};
use crate::judging::claim::{self, Need};
use crate::judging::{check, phase, search};
use crate::measuring::detail::{Detail, MOST_DETAIL, Planned};
use crate::measuring::metric;
pub use crate::reading::error::Error;
use crate::reading::file::{About, Experiment, FileError};
use crate::running::{contention, network};
use crate::writing::journal::Journal;
use contend_core::Time;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Options of one call.
pub struct Options<'a> {
    /// Number of runs at the same time; 0 for one on each core.
    pub jobs: usize,
    /// True if time series and delay distributions are kept for a results folder even if no claim needs them.
    pub series: bool,
    /// The frames to capture in the first run.
    pub capture: Option<CaptureWindow>,
    /// Each finished run is appended here. Runs of an earlier call are taken from here.
    pub journal: Option<&'a Journal>,
    /// The caller sets it to stop early; finished runs are kept.
    pub stop: &'a AtomicBool,
    /// Called after each run with the number of finished runs and the number of planned runs.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// Runs `e` with all its seeds and judges its claims.
///
/// # Errors
/// When the file or one of its points is invalid, or when the experiment exceeds the bounds of
/// [`crate::measuring::detail`].
pub fn execute(e: &Experiment, options: &Options<'_>) -> Result<Executed, Error> {
    let detail = Detail::new(claim::validate(e)?, e.duration, e.warmup, e.sample, options.series);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|err| Error::Machine(format!("no worker threads: {err}")))?;
    pool.install(|| {
        let seeds = vec![e.seeds.clone(); e.needs.len()];
        let made = run_all(e, &e.needs, &seeds, &detail, options)?;
        let (mut missing, mut searches) = (made.missing, Vec::new());
        if let Some(s) = e.search.as_ref().filter(|_| missing == 0) {
            missing = find(e, s, &detail, options, &mut searches)?;
        }
        let finished = made.runs.iter().map(Vec::len).sum();
        let mut executed = judge(e, made.runs, searches)?;
        executed.outcome.interrupted = (missing > 0).then_some(Interrupted { finished, missing });
        executed.notes.extend(made.notes);
        Ok(executed)
    })
}

/// An upper bound on the memory for the results of `e` in bytes: the numbers of all runs, and the series and histograms
/// that are kept. `series` as in [`Options`]. A network needs additional memory while it runs.
///
/// # Errors
/// As [`execute`], before the first run.
pub fn memory(e: &Experiment, series: bool) -> Result<u64, Error> {
    let detail = Detail::new(claim::validate(e)?, e.duration, e.warmup, e.sample, series);
    let (plan, _) = detail.plan(&e.needs, &vec![e.seeds.clone(); e.needs.len()], MOST_DETAIL)?;
    Ok(plan.iter().filter_map(|p| Some(detail.memory(p.keep, &e.needs.get(p.need)?.1))).sum())
}

/// The finished runs.
struct Made {
    /// By need in the plan's order, then by seed.
    runs: Vec<Vec<Run>>,
    /// Number of planned runs that were not made.
    missing: usize,
    /// Details of the runs that could not be kept.
    notes: Vec<String>,
}

/// Runs each need with its seeds.
fn run_all(
    e: &Experiment,
    needs: &[(Need, Size)],
    seeds: &[Vec<u64>],
    detail: &Detail,
    options: &Options<'_>,
) -> Result<Made, Error> {
    let (plan, notes) = detail.plan(needs, seeds, MOST_DETAIL)?;
    let done = AtomicUsize::new(0);
    let total = plan.len();
    let made: Vec<Option<Run>> = plan
        .par_iter()
        .enumerate()
        .map(|(i, planned)| {
            // After a failed append, a new run could be lost: start no more runs. `--resume` makes them later.
            if options.stop.load(Ordering::Relaxed) || options.journal.is_some_and(Journal::has_failed) {
                return Ok(None);
            }
            let need = &needs[planned.need].0;
            // Frames are captured in the first run only.
            let shown = options.capture.filter(|_| i == 0);
            let earlier = options.journal.and_then(|j| j.take(&need.point, need.overlay.settings(), planned.seed));
            let run = match earlier {
                Some(run) => with_frames(e, run, need, shown, options)?,
                None => {
                    let run = make(e, need, *planned, detail, shown, options)?;
                    if let (Some(run), Some(journal)) = (&run, options.journal) {
                        journal.append(&need.point, need.overlay.settings(), run);
                    }
                    run
                }
            };
            if run.is_some() {
                (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
            Ok(run)
        })
        .collect::<Result<_, Error>>()?;
    let mut runs: Vec<Vec<Run>> = needs.iter().map(|_| Vec::new()).collect();
    let mut missing = 0;
    for (planned, run) in plan.iter().zip(made) {
        match run {
            Some(run) => runs[planned.need].push(run),
            None => missing += 1,
        }
    }
    Ok(Made { runs, missing, notes })
}

/// Makes one run; `None` if it was stopped. The network is resolved only now: all networks of a large sweep would not
/// fit into memory at once.
fn make(
    e: &Experiment,
    need: &Need,
    planned: Planned,
    detail: &Detail,
    shown: Option<CaptureWindow>,
    options: &Options<'_>,
) -> Result<Option<Run>, Error> {
    let measure = Measure { capture: detail.captured(shown), ..detail.measure(planned.keep).clone() };
    let mut run = match e.about() {
        About::Network => {
            let resolved = e.scenario(&need.point, &need.overlay)?;
            let mut run =
                network::run(&resolved, &need.point, planned.seed, &measure, options.stop).map_err(Error::Network)?;
            let phy = resolved.scenario.cell.as_ref().map(|c| &c.phy);
            if let Some(run) = &mut run {
                run.metrics = metric::standard(run);
                detail.look(run, phy, shown);
            }
            run
        }
        About::Contention => {
            let contended = e.contended(&need.point, &need.overlay)?;
            let mut run = contention::run(&contended, &need.point, planned.seed, measure.successes, options.stop)
                .map_err(Error::Network)?;
            run.iter_mut().for_each(|run| run.metrics = metric::standard(run));
            run
        }
        About::Model => {
            let modelled = e.modelled(&need.point, &need.overlay)?;
            Some(Run::of_model(&need.point, modelled.values().map_err(Error::Network)?, modelled.arguments))
        }
    };
    if let Some(run) = &mut run {
        let shown = e.show.iter().filter_map(|s| Some((s.metric.clone(), metric::shown_in(s, run).ok()?)));
        run.metrics.extend(shown.collect::<Vec<_>>());
        detail.thin(planned.keep, run);
    }
    Ok(run)
}

/// Adds captured frames to a run from the journal. The run is simulated again, up to the last of these frames.
fn with_frames(
    e: &Experiment,
    mut run: Run,
    need: &Need,
    shown: Option<CaptureWindow>,
    options: &Options<'_>,
) -> Result<Option<Run>, Error> {
    if let (Some(shown), About::Network) = (shown, e.about()) {
        let resolved = e.scenario(&need.point, &need.overlay)?;
        let end = shown.to.min(Time::ZERO + e.duration);
        let Some(frames) = network::frames(&resolved, run.seed, shown, end, options.stop).map_err(Error::Network)?
        else {
            return Ok(None);
        };
        run.frames = frames;
    }
    Ok(Some(run))
}

/// Why a search ends without a result.
enum Halt {
    /// `stop` was set; this many runs were not made.
    Stopped(usize),
    Failed(Error),
}

impl std::fmt::Display for Halt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Halt::Stopped(_) => f.write_str("stopped"),
            Halt::Failed(err) => err.fmt(f),
        }
    }
}

/// Searches at every point. Returns the number of runs that were not made because `stop` was set.
fn find(
    e: &Experiment,
    s: &crate::reading::file::Search,
    detail: &Detail,
    options: &Options<'_>,
    all: &mut Vec<SearchResult>,
) -> Result<usize, Error> {
    let quiet = Options { progress: &|_, _| {}, capture: None, ..*options };
    for point in &e.points {
        let found = search::find(s, search::Step::Bisect, |overlay| {
            let need = Need { point: point.clone(), overlay: overlay.clone() };
            let size = e.size(point, overlay).map_err(|err| Halt::Failed(err.into()))?;
            let mut made =
                run_all(e, &[(need, size)], std::slice::from_ref(&e.seeds), detail, &quiet).map_err(Halt::Failed)?;
            if made.missing > 0 { Err(Halt::Stopped(made.missing)) } else { Ok(made.runs.pop().unwrap_or_default()) }
        });
        let found = match found {
            Ok(found) => found,
            Err(search::SearchError::Run(Halt::Stopped(missing))) => return Ok(missing),
            Err(search::SearchError::Run(Halt::Failed(err))) => return Err(err),
            Err(other) => return Err(Error::Network(format!("search: {other}"))),
        };
        all.push(SearchResult {
            point: point.clone(),
            key: s.key.clone(),
            until: s.until.clone(),
            first_with: found.first_with,
            last_without: found.last_without,
        });
    }
    Ok(0)
}

fn judge(e: &Experiment, runs: Vec<Vec<Run>>, searches: Vec<SearchResult>) -> Result<Executed, FileError> {
    let at: BTreeMap<String, usize> = e.needs.iter().enumerate().map(|(i, (n, _))| (n.key(), i)).collect();
    let look = |n: &Need| at.get(&n.key()).map_or(Vec::new(), |i| runs[*i].iter().collect());
    let (mut claims, mut notes) = (Vec::new(), Vec::new());
    for c in &e.claims {
        let judged = claim::judge(e, c, &look)?;
        claims.extend(judged.results);
        notes.extend(judged.notes);
    }
    let mut checks = Vec::new();
    for c in &e.checks {
        let (result, unmeasured) = check::judge(&e.source, &e.points, c, &look)?;
        checks.push(result);
        notes.extend(unmeasured);
    }
    // The outcome has the runs of the file's own points. Runs that only a claim needed are dropped now.
    let shown: Vec<Run> = runs
        .into_iter()
        .zip(&e.needs)
        .filter(|(_, (n, _))| n.overlay.settings().is_empty())
        .flat_map(|(r, _)| r)
        .collect();
    let summary = metric::summarise(&shown);
    for unknown in e.show.iter().filter(|s| summary.iter().all(|known| known.metric != s.metric)) {
        let why = shown.first().and_then(|run| metric::shown_in(unknown, run).err());
        let why = why.map_or_else(|| "no run has a value".to_owned(), |why| why.to_string());
        notes.push(format!("show: {}: {why}", unknown.metric));
    }
    let outcome = Outcome {
        schema: "contend/run/1",
        version: env!("CARGO_PKG_VERSION"),
        title: e.title.clone(),
        file: e.source.path.clone(),
        summary,
        interrupted: None,
        warnings: phase::warning(e, &shown).into_iter().collect(),
        show: e.show.iter().map(|s| s.metric.clone()).collect(),
        runs: shown,
        claims,
        checks,
        search: searches,
    };
    Ok(Executed { outcome, notes })
}
