//! All runs of an experiment, in a [`Workshop`]: each need with its seeds. A need is a sweep point, with or without the
//! settings of a claim as an overlay.
//!
//! All needs have the same first seeds. Further seeds are added in batches, until a precision is reached or claims are
//! decided ([`crate::judging::stopping`]). What a batch runs depends on the results before it, not on their timing. So
//! a resumed call makes the same batches, with the runs of the journal.
//!
//! Runs share no state, and results are collected in the order of the plan. So the workshop changes only the elapsed
//! time. Memory for details of runs is bounded: see [`crate::measuring::detail`].

use crate::judging::check::{self, Checked};
use crate::judging::claim::{self, Judged, Need};
use crate::judging::stopping::{self, Looks};
use crate::judging::{bottleneck, few_seeds, fit, no_effect, note, phase, search, unfinished};
use crate::measuring::detail::{Detail, MOST_DETAIL, Planned};
use crate::measuring::metric::{self, Expr, Unmeasured};
use crate::running::contention;
pub use crate::running::network::Simulated;
use crate::running::network::{self, Engine};
use contend_core::Refusal;
use contend_core::{Span, Time};
pub use contend_experiment::reading::error::Error;
use contend_experiment::reading::file::need::{of_check, of_readings};
use contend_experiment::reading::file::{About, Decide, Experiment, FileError, Until, misread};
use contend_experiment::results::{Executed, Interrupted, Labels, Outcome, PointKey, PointSeeds, Run, SearchResult};
use contend_experiment::size::{CaptureWindow, Measure, Size};
use contend_experiment::stats::CONFIDENCE;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Share of the CPU time that a prediction of this time may take.
const PILOT: f64 = 0.02;

/// Where runs are made: what a machine has, and a browser may not.
pub trait Workshop: Sync {
    /// Calls `job` with each number below `n` and returns when all are done. The order is free, and so is how many are
    /// done at the same time.
    fn each(&self, n: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..n).for_each(job);
    }

    /// Seconds since some instant, for the time that a run takes; 0 without a clock.
    fn wall_s(&self) -> f64 {
        0.0
    }

    /// CPU seconds of this thread since some instant, for [`predict`]; 0 without a clock.
    fn cpu_s(&self) -> f64 {
        0.0
    }

    /// The run that an earlier call has made.
    fn earlier(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        let _ = (point, overlay, seed);
        None
    }

    /// Keeps a finished run for later calls.
    fn keep(&self, point: &PointKey, overlay: &PointKey, run: &Run) {
        let _ = (point, overlay, run);
    }

    /// True if no further run can be kept; then none is begun.
    fn is_full(&self) -> bool {
        false
    }
}

/// The plainest workshop: one run after another, without a clock; no run is kept.
#[derive(Clone, Copy, Debug)]
pub struct Bench;

impl Workshop for Bench {}

/// Options of one call.
pub struct Options<'a> {
    /// Where the runs are made.
    pub workshop: &'a dyn Workshop,
    /// True if time series and delay distributions are kept for a results folder even if no claim needs them.
    pub series: bool,
    /// The frames to capture in the first run.
    pub capture: Option<CaptureWindow>,
    /// What makes the networks and lets their time pass.
    pub engine: &'a dyn Engine,
    /// The caller sets it to stop early; finished runs are kept.
    pub stop: &'a AtomicBool,
    /// Called after each run with the number of finished runs and the number of planned runs.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Default for Options<'_> {
    /// Simulated on the [`Bench`] until all is done; nothing is kept but the outcome.
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Options {
            workshop: &Bench,
            series: false,
            capture: None,
            engine: &Simulated,
            stop: &NEVER,
            progress: &|_, _| {},
        }
    }
}

/// The CPU time that `e` will take with its first seeds, about. Each of its networks is simulated for a moment, which
/// takes at most 2 % of that time. Closed forms and contention without TCP count as nothing.
///
/// # Errors
/// As [`execute`].
pub fn predict(e: &Experiment, workshop: &dyn Workshop, stop: &AtomicBool) -> Result<Duration, Error> {
    let (About::Network, Some(seed)) = (e.about(), e.seed(0)) else { return Ok(Duration::ZERO) };
    let runs = e.seeds.len() as f64;
    let whole = e.duration.as_secs_f64();
    let part = Span::from_secs_f64(whole * (PILOT * runs).min(1.0)).max(Span::from_millis(1));
    let one = |(need, _): &(Need, Size)| {
        let resolved = e.scenario(&need.point, &need.overlay)?;
        network::cost(&resolved, seed, part, &|| workshop.cpu_s(), stop).map_err(Error::from)
    };
    let all: Vec<f64> = each(workshop, &e.needs, |_, need| one(need))?;
    Ok(Duration::try_from_secs_f64(all.iter().sum::<f64>() * whole * runs).unwrap_or(Duration::MAX))
}

/// Runs `e` with all its seeds and judges its claims.
///
/// # Errors
/// When the file or one of its points is invalid, or when the experiment exceeds the bounds of
/// [`crate::measuring::detail`].
pub fn execute(e: &Experiment, options: &Options<'_>) -> Result<Executed, Error> {
    let detail = Detail::new(claim::validate(e)?, e.duration, e.warmup, e.sample, options.series);
    fit::validate(e, options.stop)?;
    let mut call = Call { e, detail: &detail, options, runs: vec![], missing: 0, shown: 0, notes: vec![] };
    call.runs.resize_with(e.needs.len(), Vec::new);
    call.first()?;
    if let Some(until) = &e.until {
        call.until_precise(until)?;
    }
    let mut judged = call.judged()?;
    if let Some(decide) = e.decide {
        call.decide(decide, &mut judged)?;
    }
    let mut searches = Vec::new();
    if let Some(s) = e.search.as_ref().filter(|_| call.missing == 0) {
        call.missing = find(e, s, &detail, options, &mut searches)?;
    }
    call.executed(judged, searches)
}

/// A part of an experiment's runs: of `of` parts, the one with this number, from 1 on. A run belongs to a part by its
/// place among all runs with the first seeds, so the seeds of a point are spread over the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
}

impl Shard {
    /// The part of `of` that makes the runs of need number `need` with seed number `rank`.
    pub fn with(e: &Experiment, of: u32, need: usize, rank: usize) -> Shard {
        let place = need as u64 * e.seeds.len() as u64 + rank as u64;
        Shard { number: (place % u64::from(of.max(1))) as u32 + 1, of }
    }
}

/// Makes the runs of `shard` with the first seeds, and keeps them in the workshop only. Runs that it has already are
/// not made again. Nothing is judged; further seeds (`decide`, `seeds.at_most`) and a search need all shards together.
///
/// # Errors
/// As [`execute`].
pub fn shard(e: &Experiment, shard: Shard, options: &Options<'_>) -> Result<Interrupted, Error> {
    let detail = Detail::new(claim::validate(e)?, e.duration, e.warmup, e.sample, options.series);
    fit::validate(e, options.stop)?;
    let seeds = vec![e.seeds.clone(); e.needs.len()];
    let (plan, _) = detail.plan(&e.needs, &seeds, limit(e))?;
    let ranks: BTreeMap<u64, usize> = e.seeds.iter().enumerate().map(|(rank, seed)| (*seed, rank)).collect();
    let is_own = |p: &&Planned| ranks.get(&p.seed).is_some_and(|rank| Shard::with(e, shard.of, p.need, *rank) == shard);
    let own: Vec<Planned> = plan.iter().filter(is_own).copied().collect();
    let done = AtomicUsize::new(0);
    each(options.workshop, &own, |_, planned| {
        if options.stop.load(Ordering::Relaxed) || options.workshop.is_full() {
            return Ok(());
        }
        let need = &e.needs[planned.need].0;
        let settings = need.overlay.settings();
        if options.workshop.earlier(&need.point, settings, planned.seed).is_none() {
            let Some(run) = make(e, need, *planned, &detail, None, options)? else { return Ok(()) };
            options.workshop.keep(&need.point, settings, &run);
        }
        (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, own.len());
        Ok(())
    })?;
    let finished = done.into_inner();
    Ok(Interrupted { finished, missing: own.len() - finished })
}

/// Maximum memory for series and histograms of the first seeds. If more seeds may be needed, they leave room for them:
/// further seeds have what the results folder does not show of the first.
fn limit(e: &Experiment) -> u64 {
    if e.until.is_some() || e.decide.is_some() { MOST_DETAIL / 2 } else { MOST_DETAIL }
}

/// The judged claims and checks of an experiment, in the order of the file.
struct Verdicts {
    claims: Vec<Judged>,
    checks: Vec<Checked>,
}

/// The runs of a call.
struct Call<'a> {
    e: &'a Experiment,
    detail: &'a Detail,
    options: &'a Options<'a>,
    /// The finished runs, by need in the plan's order, then by seed.
    runs: Vec<Vec<Run>>,
    /// Number of planned runs that were not made.
    missing: usize,
    /// Memory for what only the results folder shows of the first seeds, in bytes.
    shown: u64,
    notes: Vec<String>,
}

impl Call<'_> {
    fn finished(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Runs each need with the first seeds.
    fn first(&mut self) -> Result<(), Error> {
        let seeds = vec![self.e.seeds.clone(); self.e.needs.len()];
        let (plan, notes) = self.detail.plan(&self.e.needs, &seeds, limit(self.e))?;
        self.shown = self.detail.shown(&self.e.needs, &plan);
        let made = run_all(self.e, &self.e.needs, &plan, self.detail, self.options)?;
        (self.runs, self.missing) = (made.runs, made.missing);
        self.notes.extend(notes);
        Ok(())
    }

    /// Runs each need with further seeds, so that it has as many as `totals` says. False if there are no more runs: all
    /// needs have their seeds, the call was stopped, or the results would not fit into memory.
    fn extend(&mut self, totals: &[usize]) -> Result<bool, Error> {
        let from_to = |from: usize, to: usize| (from..to).filter_map(|rank| self.e.seed(rank)).collect::<Vec<_>>();
        let more: Vec<Vec<u64>> =
            self.runs.iter().zip(totals).map(|(runs, total)| from_to(runs.len(), *total)).collect();
        if self.missing > 0 || more.iter().all(Vec::is_empty) {
            return Ok(false);
        }
        let all: Vec<Vec<u64>> =
            self.runs.iter().zip(totals).map(|(runs, total)| from_to(0, runs.len().max(*total))).collect();
        if let Err(err) = self.detail.plan(&self.e.needs, &all, MOST_DETAIL - self.shown) {
            self.notes.push(format!("no more seeds are run: {err}"));
            return Ok(false);
        }
        // A results folder shows series and histograms of the first seeds.
        let (plan, _) = self.detail.unshown().plan(&self.e.needs, &more, u64::MAX)?;
        let before = self.finished();
        let progress = |done: usize, total: usize| (self.options.progress)(before + done, before + total);
        let options = Options { progress: &progress, capture: None, ..*self.options };
        let made = run_all(self.e, &self.e.needs, &plan, self.detail, &options)?;
        self.runs.iter_mut().zip(made.runs).for_each(|(runs, more)| runs.extend(more));
        self.missing = made.missing;
        Ok(self.missing == 0)
    }

    /// Adds seeds to each need until its interval is narrow enough.
    fn until_precise(&mut self, until: &Until) -> Result<(), Error> {
        loop {
            let mut totals = vec![];
            for runs in &self.runs {
                let enough = self.half_width(until, runs)?.is_none_or(|half| half <= until.share);
                let n = runs.len();
                totals.push(if enough { n } else { stopping::next(n, until.at_most as usize) });
            }
            if !self.extend(&totals)? {
                return Ok(());
            }
        }
    }

    /// Half width of the interval that `until` reads, as a share of the mean; `None` if a run has no value.
    fn half_width(&self, until: &Until, runs: &[Run]) -> Result<Option<f64>, FileError> {
        let source = &self.e.source;
        let metric = Expr::parse(&until.of).map_err(|err| misread(source, &until.of_site, &until.of, &err))?;
        let mut samples = vec![];
        for run in runs {
            match metric.reading(run) {
                Ok(x) => samples.push(x),
                Err(Unmeasured::Undefined(_)) => return Ok(None),
                Err(Unmeasured::Wrong(Refusal { what, remedy })) => {
                    return Err(FileError::new(source, &until.of_site, format!("`seeds.of`: {what}"), remedy));
                }
            }
        }
        Ok(stopping::relative_half_width(&samples, metric.range()))
    }

    /// The runs of a need; empty if there are none.
    fn runs_of<'r>(&'r self) -> impl Fn(&Need) -> Vec<&'r Run> {
        let at: BTreeMap<String, usize> = self.e.needs.iter().enumerate().map(|(i, (n, _))| (n.key(), i)).collect();
        move |n: &Need| {
            at.get(&self.e.key_of(n)).and_then(|i| self.runs.get(*i)).map_or(Vec::new(), |runs| runs.iter().collect())
        }
    }

    /// Judges all claims and checks.
    fn judged(&self) -> Result<Verdicts, FileError> {
        let (e, runs) = (self.e, self.runs_of());
        // Without a confidence of its own, the first look is that of every call and is not told.
        let look = (e.check_confidence != CONFIDENCE).then(|| self.looks(e.check_confidence).look(1));
        let claims = e.claims.iter().map(|c| claim::judge(e, c, &runs)).collect::<Result<_, _>>()?;
        let checks =
            e.checks.iter().map(|c| check::judge(&e.source, &e.points, c, &runs, look)).collect::<Result<_, _>>()?;
        Ok(Verdicts { claims, checks })
    }

    /// The looks with the seeds that were run as the first.
    fn looks(&self, confidence: f64) -> Looks {
        let first = self.runs.iter().map(|runs| runs.len() as u64).max().unwrap_or(0);
        Looks { first, most: self.e.decide.map_or(first, |d| d.seeds), confidence }
    }

    /// Adds seeds to the needs of undecided readings of claims and of undecided checks, and judges these again.
    fn decide(&mut self, decide: Decide, judged: &mut Verdicts) -> Result<(), Error> {
        let e = self.e;
        let looks = self.looks(CONFIDENCE);
        let of_checks = Looks { confidence: e.check_confidence, ..looks };
        let readings = if decide.first_reading_only { 1 } else { usize::MAX };
        for number in 2..=looks.count() {
            let look = looks.look(number);
            let claims = e.claims.iter().zip(&judged.claims).filter(|(_, j)| j.needs_seeds(readings));
            let open = check::open(&judged.checks);
            let checks = e.checks.iter().zip(&open).filter(|(_, is_open)| **is_open);
            let wanted: BTreeSet<String> = claims
                .flat_map(|(c, j)| of_readings(&e.points, c, |reading| j.is_open(reading, readings)))
                .chain(checks.flat_map(|(c, _)| of_check(&e.points, c)))
                .map(|need| e.key_of(&need))
                .collect();
            let total = |((need, _), runs): (&(Need, Size), &Vec<Run>)| {
                if wanted.contains(&need.key()) { look.seeds as usize } else { runs.len() }
            };
            let totals: Vec<usize> = e.needs.iter().zip(&self.runs).map(total).collect();
            if !self.extend(&totals)? {
                break;
            }
            let runs = self.runs_of();
            for (c, judged) in e.claims.iter().zip(&mut judged.claims).filter(|(_, j)| j.needs_seeds(readings)) {
                *judged = claim::judge_again(e, c, &runs, look, judged, readings)?;
            }
            for ((c, judged), _) in e.checks.iter().zip(&mut judged.checks).zip(open).filter(|(_, is_open)| *is_open) {
                *judged = check::judge(&e.source, &e.points, c, &runs, Some(of_checks.look(number)))?;
            }
        }
        Ok(())
    }

    /// The number of seeds of each point, if the results decided it, and a warning if a precision was not reached.
    fn seeds(&self) -> Result<(Vec<PointSeeds>, Option<String>), FileError> {
        if self.e.until.is_none() && self.e.decide.is_none() {
            return Ok((vec![], None));
        }
        let mut all = vec![];
        for (runs, (need, _)) in self.runs.iter().zip(&self.e.needs).filter(|(_, (n, _))| n.overlay.is_empty()) {
            let half_width = self.e.until.as_ref().map_or(Ok(None), |until| self.half_width(until, runs))?;
            // JSON has no infinity.
            let half_width = half_width.filter(|half| half.is_finite());
            all.push(PointSeeds { point: need.point.clone(), n: runs.len(), half_width });
        }
        let wide = |until: &&Until| all.iter().filter(|p| p.half_width.is_none_or(|half| half > until.share)).count();
        let warning = self.e.until.as_ref().filter(|until| wide(until) > 0).map(|until| {
            format!(
                "the interval of {} is not within ±{} % at {} of {} points; more seeds (at_most) make it narrower",
                until.of,
                until.share * 100.0,
                wide(&until),
                all.len()
            )
        });
        Ok((all, warning))
    }

    fn executed(self, judged: Verdicts, search: Vec<SearchResult>) -> Result<Executed, Error> {
        let e = self.e;
        let (finished, missing, (seeds, wide)) = (self.finished(), self.missing, self.seeds()?);
        let (mut claims, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for judged in judged.claims {
            claims.extend(judged.results);
            notes.extend(judged.notes);
        }
        for judged in judged.checks {
            checks.push(judged.result);
            notes.extend(judged.notes);
        }
        let mut notes = note::together(notes);
        notes.extend(few_seeds::accept_undecided(e, &mut claims));
        let kept = self.notes;
        // The outcome has the runs of the file's own points. Runs that only a claim needed are dropped now.
        let shown: Vec<Run> = self
            .runs
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
        notes.extend(kept);
        let outcome = Outcome {
            version: env!("CARGO_PKG_VERSION"),
            title: e.title.clone(),
            file: e.source.path.clone(),
            summary,
            interrupted: (missing > 0).then_some(Interrupted { finished, missing }),
            warnings: phase::warning(e, &shown)
                .into_iter()
                .chain(few_seeds::warning(&shown))
                .chain(wide)
                .chain(bottleneck::warning(&shown))
                .chain(no_effect::warning(&shown))
                .chain(unfinished::warning(e, &shown))
                .chain(late(&shown))
                .collect(),
            show: e.show.iter().map(|s| s.metric.clone()).collect(),
            keys: e.swept().map(str::to_owned).collect(),
            labels: Labels::of(&e.points),
            seeds,
            runs: shown,
            claims,
            checks,
            search,
        };
        Ok(Executed { outcome, notes })
    }
}

/// The warning about emulated runs that were late.
fn late(runs: &[Run]) -> Option<String> {
    let late = |run: &Run| Some(run.emulation.as_ref()?.late.clone()).filter(|why| !why.is_empty());
    let all: Vec<String> = runs.iter().filter_map(late).collect();
    let first = all.first()?;
    let of = if runs.len() > 1 { format!(" ({} of {} runs)", all.len(), runs.len()) } else { String::new() };
    Some(format!("LATE{of}: {first}"))
}

/// An upper bound on the memory for the results of the first seeds of `e` in bytes: the numbers of all runs, and the
/// series and histograms that are kept. `series` as in [`Options`]. A network needs additional memory while it runs.
///
/// # Errors
/// As [`execute`], before the first run.
pub fn memory(e: &Experiment, series: bool) -> Result<u64, Error> {
    let detail = Detail::new(claim::validate(e)?, e.duration, e.warmup, e.sample, series);
    let seeds = vec![e.seeds.clone(); e.needs.len()];
    let (plan, _) = detail.plan(&e.needs, &seeds, MOST_DETAIL)?;
    Ok(plan.iter().filter_map(|p| Some(detail.memory(p.keep, &e.needs.get(p.need)?.1))).sum())
}

/// The finished runs.
struct Made {
    /// By need in the plan's order, then by seed.
    runs: Vec<Vec<Run>>,
    /// Number of planned runs that were not made.
    missing: usize,
}

/// Makes the runs of `plan`.
fn run_all(
    e: &Experiment,
    needs: &[(Need, Size)],
    plan: &[Planned],
    detail: &Detail,
    options: &Options<'_>,
) -> Result<Made, Error> {
    let done = AtomicUsize::new(0);
    let total = plan.len();
    let workshop = options.workshop;
    let made: Vec<Option<Run>> = each(workshop, plan, |i, planned| {
        // After a failed append, a new run could be lost: start no more runs. `--resume` makes them later.
        if options.stop.load(Ordering::Relaxed) || workshop.is_full() {
            return Ok(None);
        }
        let need = &needs[planned.need].0;
        // Frames are captured in the first run only.
        let shown = options.capture.filter(|_| i == 0);
        let run = match workshop.earlier(&need.point, need.overlay.settings(), planned.seed) {
            // JSON has no labels of points.
            Some(run) => with_frames(e, Run { point: need.point.clone(), ..run }, need, shown, options)?,
            None => {
                let run = make(e, need, *planned, detail, shown, options)?;
                run.iter().for_each(|run| workshop.keep(&need.point, need.overlay.settings(), run));
                run
            }
        };
        if run.is_some() {
            (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
        Ok(run)
    })?;
    let mut runs: Vec<Vec<Run>> = needs.iter().map(|_| Vec::new()).collect();
    let mut missing = 0;
    for (planned, run) in plan.iter().zip(made) {
        match run {
            Some(run) => runs[planned.need].push(run),
            None => missing += 1,
        }
    }
    Ok(Made { runs, missing })
}

/// What `job` makes of each of `all`, in their order. After the first error no job is begun.
fn each<T: Sync, R: Send + Sync>(
    workshop: &dyn Workshop,
    all: &[T],
    job: impl Fn(usize, &T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let made: Vec<OnceLock<R>> = all.iter().map(|_| OnceLock::new()).collect();
    let failed: OnceLock<Error> = OnceLock::new();
    workshop.each(all.len(), &|i| {
        if failed.get().is_none() {
            match job(i, &all[i]) {
                Ok(x) => drop(made[i].set(x)),
                Err(err) => drop(failed.set(err)),
            }
        }
    });
    match failed.into_inner() {
        Some(err) => Err(err),
        None => Ok(made.into_iter().filter_map(OnceLock::into_inner).collect()),
    }
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
    let began = options.workshop.wall_s();
    let timed = |run: Option<Run>| run.map(|run| Run { wall_s: options.workshop.wall_s() - began, ..run });
    let mut run = match e.about() {
        About::Network => {
            let resolved = e.scenario(&need.point, &need.overlay)?;
            let mut run = network::run(&resolved, &need.point, planned.seed, &measure, options.engine, options.stop)
                .map(timed)
                .map_err(Error::from)?;
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
                .map(timed)
                .map_err(Error::from)?;
            run.iter_mut().for_each(|run| run.metrics = metric::standard(run));
            run
        }
        About::Model => {
            let modelled = e.modelled(&need.point, &need.overlay)?;
            Some(Run::of_model(&need.point, modelled.values()?, modelled.arguments))
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
        let captured = network::frames(&resolved, run.seed, shown, end, options.stop).map_err(Error::from)?;
        let Some((frames, channel)) = captured else { return Ok(None) };
        (run.detail.frames, run.detail.channel) = (frames, channel);
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
    s: &contend_experiment::reading::file::Search,
    detail: &Detail,
    options: &Options<'_>,
    all: &mut Vec<SearchResult>,
) -> Result<usize, Error> {
    let quiet = Options { progress: &|_, _| {}, capture: None, ..*options };
    for point in &e.points {
        let found = search::find(s, search::Step::Bisect, |overlay| {
            let need = Need { point: point.clone(), overlay: overlay.clone() };
            let size = e.size(point, overlay).map_err(|err| Halt::Failed(err.into()))?;
            let needs = [(need, size)];
            let (plan, _) = detail.plan(&needs, std::slice::from_ref(&e.seeds), MOST_DETAIL).map_err(Halt::Failed)?;
            let mut made = run_all(e, &needs, &plan, detail, &quiet).map_err(Halt::Failed)?;
            if made.missing > 0 { Err(Halt::Stopped(made.missing)) } else { Ok(made.runs.pop().unwrap_or_default()) }
        });
        let found = match found {
            Ok(found) => found,
            Err(search::SearchError::Run(Halt::Stopped(missing))) => return Ok(missing),
            Err(search::SearchError::Run(Halt::Failed(err))) => return Err(err),
            Err(other) => return Err(Refusal::from(format!("search: {other}")).into()),
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
