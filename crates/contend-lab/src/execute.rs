//! All runs of an experiment: every need (a sweep point, perhaps with a claim's settings laid over it) with every seed, on all cores.
//!
//! Runs share nothing, and their results are put together in the order of the plan, so the number of cores changes nothing but the time it takes.

use crate::claim::{self, Need};
use crate::file::{Experiment, FileError, Resolved};
use crate::metric;
use crate::results::{Outcome, Run, SearchResult};
use crate::run::{self, Capture, Measure};
use crate::search;
use contend_core::{Span, Time};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Step of the time series when the file names none.
const SAMPLE: Span = Span::from_secs(1);

/// How an experiment is run.
pub struct Options<'a> {
    /// Runs at the same time; 0 for one on each core.
    pub jobs: usize,
    /// Whether time series are kept although no claim needs them.
    pub series: bool,
    /// Which frames of the first run are kept.
    pub capture: Option<Capture>,
    /// Set from outside to end early and keep the runs that are finished.
    pub stop: &'a AtomicBool,
    /// Called after each run with the number finished and the number planned.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What an experiment yielded.
#[derive(Debug)]
pub struct Executed {
    /// Runs, statistics and verdicts.
    pub outcome: Outcome,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
    /// Runs that were planned and not made, because of an interruption.
    pub missing: usize,
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The file says something that cannot be run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
    /// The network of a point does not fit together.
    #[error("{0}")]
    Network(String),
    /// The machine does not give what is needed.
    #[error("{0}")]
    Machine(String),
}

impl From<FileError> for Error {
    fn from(e: FileError) -> Error {
        Error::File(Box::new(e))
    }
}

/// Runs `e` with all its seeds and judges its claims.
///
/// # Errors
/// When the file or one of its points makes no network.
pub fn execute(e: &Experiment, options: &Options<'_>) -> Result<Executed, Error> {
    let sampling = claim::check(e)?;
    let series = options.series || sampling.series || sampling.every_second;
    let mut instants = sampling.instants;
    if series {
        // Fairness by the second needs a sample at every whole one.
        instants.extend((0..=e.duration.div_floor(SAMPLE).min(100_000)).map(|s| Time::ZERO + SAMPLE * s));
    }
    let sample = series.then(|| e.sample.unwrap_or(SAMPLE));
    let measure = Measure { duration: e.duration, warmup: e.warmup, sample, instants, capture: None };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().map_err(|err| Error::Machine(format!("no worker threads: {err}")))?;
    pool.install(|| {
        let needs = claim::needs(e);
        let (runs, missing) = run_all(e, &needs, &measure, options)?;
        let searches = match &e.search {
            Some(s) if missing == 0 => find(e, s, &measure, options)?,
            _ => Vec::new(),
        };
        Ok(judge(e, &needs, runs, missing, searches)?)
    })
}

/// The runs of every need, by need in the plan's order and by seed, and how many are missing.
fn run_all(e: &Experiment, needs: &[Need], measure: &Measure, options: &Options<'_>) -> Result<(Vec<Vec<Run>>, usize), Error> {
    let resolved: Vec<Resolved> = needs.iter().map(|n| e.scenario(&n.point, &n.overlay)).collect::<Result<_, _>>()?;
    let plan: Vec<(usize, u64)> = (0..needs.len()).flat_map(|n| e.seeds.iter().map(move |s| (n, *s))).collect();
    let done = AtomicUsize::new(0);
    let total = plan.len();
    let made: Vec<Option<Run>> = plan
        .par_iter()
        .enumerate()
        .map(|(i, (n, seed))| {
            if options.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            // The frames shown are those of the first run.
            let measure = Measure { capture: options.capture.filter(|_| i == 0), ..measure.clone() };
            let run = run::run(&resolved[*n], &needs[*n].point, *seed, &measure, options.stop).map_err(Error::Network)?;
            (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(run)
        })
        .collect::<Result<_, Error>>()?;
    let mut by_need: Vec<Vec<Run>> = needs.iter().map(|_| Vec::new()).collect();
    let mut missing = 0;
    for ((n, _), run) in plan.iter().zip(made) {
        match run {
            Some(run) => by_need[*n].push(run),
            None => missing += 1,
        }
    }
    Ok((by_need, missing))
}

fn find(e: &Experiment, s: &crate::file::Search, measure: &Measure, options: &Options<'_>) -> Result<Vec<SearchResult>, Error> {
    let quiet = Options { progress: &|_, _| {}, capture: None, ..*options };
    let mut all = Vec::new();
    for point in &e.points {
        let found = search::find(s, search::Step::Bisect, |overlay| {
            let need = Need { point: point.clone(), overlay: overlay.clone() };
            run_all(e, &[need], measure, &quiet).map(|(mut runs, _)| runs.pop().unwrap_or_default())
        });
        let found = found.map_err(|err| match err {
            search::SearchError::Run(err) => err,
            other => Error::Network(format!("search: {other}")),
        })?;
        all.push(SearchResult {
            point: point.clone(),
            key: s.key.clone(),
            until: s.until.clone(),
            first_with: found.first_with,
            last_without: found.last_without,
        });
    }
    Ok(all)
}

fn judge(e: &Experiment, needs: &[Need], runs: Vec<Vec<Run>>, missing: usize, searches: Vec<SearchResult>) -> Result<Executed, FileError> {
    let at: BTreeMap<String, usize> = needs.iter().enumerate().map(|(i, n)| (n.key(), i)).collect();
    let look = |n: &Need| at.get(&n.key()).map_or(Vec::new(), |i| runs[*i].iter().collect());
    let (mut claims, mut notes) = (Vec::new(), Vec::new());
    for c in &e.claims {
        let judged = claim::judge(e, c, &look)?;
        claims.extend(judged.results);
        notes.extend(judged.notes);
    }
    // The runs of the file's own points are what is shown; those that only a claim needed have served.
    let shown: Vec<Run> = runs.into_iter().zip(needs).filter(|(_, n)| n.overlay.settings().is_empty()).flat_map(|(r, _)| r).collect();
    let outcome = Outcome {
        schema: "contend/run/1",
        version: env!("CARGO_PKG_VERSION"),
        title: e.title.clone(),
        file: e.source.path.clone(),
        summary: metric::summarise(&shown),
        runs: shown,
        claims,
        search: searches,
    };
    Ok(Executed { outcome, notes, missing })
}
