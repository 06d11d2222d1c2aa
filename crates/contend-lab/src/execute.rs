//! All runs of an experiment on the cores of this machine.

use contend_experiment::results::{Executed, Interrupted, PointKey, Run};
use contend_experiment::size::CaptureWindow;
use contend_judge::execute as judge;
use contend_judge::execute::Bench;
use contend_judge::running::network::Engine;
use contend_report::journal::Journal;
use cpu_time::ThreadTime;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use contend_experiment::reading::error::Error;
pub use contend_judge::execute::{Shard, Workshop, memory};
pub use contend_judge::running::network::Simulated;

use crate::reading::file::Experiment;

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
    /// What makes the networks and lets their time pass.
    pub engine: &'a dyn Engine,
    /// The caller sets it to stop early; finished runs are kept.
    pub stop: &'a AtomicBool,
    /// Called after each run with the number of finished runs and the number of planned runs.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Called on each thread that makes runs, with its work. What it does before and after lasts as long as the thread.
    pub thread: &'a (dyn Fn(&mut (dyn FnMut() + Send)) + Sync),
}

impl Default for Options<'_> {
    /// Simulated on each core until all is done; nothing is kept but the outcome.
    fn default() -> Self {
        let judge::Options { series, capture, engine, stop, progress, .. } = judge::Options::default();
        Options { jobs: 0, series, capture, journal: None, engine, stop, progress, thread: &|work| work() }
    }
}

/// The cores of this machine, and what keeps the runs.
struct Cores<'a> {
    began: Instant,
    keeper: &'a dyn Workshop,
}

impl<'a> Cores<'a> {
    fn with(keeper: &'a dyn Workshop) -> Self {
        #[allow(clippy::disallowed_methods, reason = "the wall clock is only reported, never used")]
        let began = Instant::now();
        Cores { began, keeper }
    }
}

impl Workshop for Cores<'_> {
    fn each(&self, n: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..n).into_par_iter().for_each(job);
    }

    fn wall_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn cpu_s(&self) -> f64 {
        ThreadTime::try_now().map_or(0.0, |t| t.as_duration().as_secs_f64())
    }

    fn earlier(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        self.keeper.earlier(point, overlay, seed)
    }

    fn keep(&self, point: &PointKey, overlay: &PointKey, run: &Run) {
        self.keeper.keep(point, overlay, run);
    }

    fn is_full(&self) -> bool {
        self.keeper.is_full()
    }
}

/// Runs `e` with all its seeds and judges its claims.
///
/// # Errors
/// As [`contend_judge::execute::execute`], and when no threads can be had.
pub fn execute(e: &Experiment, options: &Options<'_>) -> Result<Executed, Error> {
    on_cores(options, |options| judge::execute(e, options))
}

/// Makes the runs of one shard of `e`, into the journal. Nothing is judged.
///
/// # Errors
/// As [`execute`].
pub fn shard(e: &Experiment, shard: Shard, options: &Options<'_>) -> Result<Interrupted, Error> {
    on_cores(options, |options| judge::shard(e, shard, options))
}

fn on_cores<T: Send>(
    options: &Options<'_>,
    call: impl FnOnce(&judge::Options<'_>) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let &Options { jobs, series, capture, journal, engine, stop, progress, thread } = options;
    let workshop = Cores::with(journal.map_or(&Bench as &dyn Workshop, |j| j));
    let options = judge::Options { workshop: &workshop, series, capture, engine, stop, progress };
    let worker = |worker: rayon::ThreadBuilder| {
        let mut worker = Some(worker);
        thread(&mut || worker.take().into_iter().for_each(rayon::ThreadBuilder::run));
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build_scoped(worker, |pool| pool.install(|| call(&options)))
        .map_err(|err| Error::Machine(format!("no worker threads: {err}")))?
}

/// The CPU time that `e` will take with its first seeds, about.
///
/// # Errors
/// As [`contend_judge::execute::predict`].
pub fn predict(e: &Experiment, stop: &AtomicBool) -> Result<Duration, Error> {
    judge::predict(e, &Cores::with(&Bench), stop)
}
