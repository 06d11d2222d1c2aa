//! The runs that the pages of a session ask for, and the reports that they may still want.

use contend_lab::execute::{self, Error};
use contend_lab::writing::output::Compared;
use contend_page::session::{Numbers, Report, Session, Settings, told};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Reports that are kept. The page loads the last one; those before it may still be on their way.
const KEPT: usize = 3;
/// Pinned results that are kept: each window of the page has one.
const PINNED: usize = 8;

/// A session with its runs.
pub(crate) struct Desk {
    pub(crate) session: Session,
    /// The number of runs at the same time; 0 for one on each core.
    jobs: usize,
    running: Mutex<Running>,
    /// Held while runs are in progress.
    turn: Mutex<()>,
    kept: Mutex<Kept>,
}

/// The runs of the last request.
#[derive(Default)]
struct Running {
    /// Ends them.
    stop: Arc<AtomicBool>,
    progress: Progress,
}

/// The last reports, and what the page has pinned, with their numbers.
#[derive(Default)]
struct Kept {
    reports: VecDeque<(u64, Arc<Numbers>, String)>,
    pinned: VecDeque<(u64, Arc<Numbers>)>,
}

impl Kept {
    /// The numbers of a report that is kept or pinned.
    fn numbers(&self, report: u64) -> Option<&Arc<Numbers>> {
        let kept = self.reports.iter().map(|(number, numbers, _)| (number, numbers));
        let mut all = kept.chain(self.pinned.iter().map(|(number, numbers)| (number, numbers)));
        all.find(|(number, _)| **number == report).map(|(_, numbers)| numbers)
    }
}

/// What a run came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// A report.
    Done {
        /// Its number.
        report: u64,
        /// The runs of the report.
        runs: usize,
        /// The time that it took, in seconds.
        seconds: f64,
        /// The digest of the first run.
        digest: String,
    },
    /// A later request ended the runs, or [`Desk::stop`] did.
    Overtaken,
    /// What is wrong with the settings, and the remedy.
    Wrong(String),
}

/// How far the runs are.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Progress {
    done: usize,
    planned: usize,
}

/// What was written by a thread that panicked is as good as before: each value is replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    pub(crate) fn new(session: Session, jobs: usize) -> Desk {
        Desk { session, jobs, running: Mutex::default(), turn: Mutex::default(), kept: Mutex::default() }
    }

    /// Runs with `settings` and keeps the report.
    pub(crate) fn run(&self, settings: &Settings) -> Answer {
        let stop = Arc::new(AtomicBool::new(false));
        let new = Running { stop: Arc::clone(&stop), progress: Progress::default() };
        std::mem::replace(&mut *lock(&self.running), new).stop.store(true, Ordering::Relaxed);
        self.report_of(settings, &stop).unwrap_or_else(|why| Answer::Wrong(told(&why)))
    }

    #[allow(clippy::disallowed_methods, reason = "the wall clock is only reported, never used")]
    fn report_of(&self, settings: &Settings, stop: &Arc<AtomicBool>) -> Result<Answer, Error> {
        let begun = Instant::now();
        // Before the turn: a wrong value is told while the runs of an earlier request still end.
        let Some(e) = self.session.ready(settings, stop)? else { return Ok(Answer::Overtaken) };
        let _turn = lock(&self.turn);
        if stop.load(Ordering::Relaxed) {
            return Ok(Answer::Overtaken);
        }
        let progress = |done, planned| {
            // Runs that a later request has ended may still report.
            let mut running = lock(&self.running);
            if Arc::ptr_eq(&running.stop, stop) {
                running.progress = Progress { done, planned };
            }
        };
        let report = Session::report(&e, &|e, capture| {
            let options = execute::Options {
                jobs: self.jobs,
                series: true,
                capture: Some(capture),
                stop,
                progress: &progress,
                ..execute::Options::default()
            };
            execute::execute(e, &options)
        })?;
        let Some(Report { html, numbers, runs, digest }) = report else { return Ok(Answer::Overtaken) };
        let mut kept = lock(&self.kept);
        let report = kept.reports.back().map_or(1, |(last, ..)| last + 1);
        kept.reports.push_back((report, Arc::new(numbers), html));
        if kept.reports.len() > KEPT {
            kept.reports.pop_front();
        }
        Ok(Answer::Done { report, runs, seconds: begun.elapsed().as_secs_f64(), digest })
    }

    /// Ends the runs in progress.
    pub(crate) fn stop(&self) {
        lock(&self.running).stop.store(true, Ordering::Relaxed);
    }

    /// How far the runs of the last request are; nothing is planned before the first of them.
    pub(crate) fn progress(&self) -> Progress {
        lock(&self.running).progress
    }

    /// Keeps the numbers of a report for later comparisons. False if the report is not kept any more.
    pub(crate) fn pin(&self, report: u64) -> bool {
        let mut kept = lock(&self.kept);
        let Some(numbers) = kept.numbers(report).cloned() else { return false };
        // The latest pin is the last to go.
        kept.pinned.retain(|(number, _)| *number != report);
        kept.pinned.push_back((report, numbers));
        if kept.pinned.len() > PINNED {
            kept.pinned.pop_front();
        }
        true
    }

    /// What the report `now` has more or less than the report `pinned`.
    ///
    /// # Errors
    /// When one of them is not kept any more, or they have no sweep point in common.
    pub(crate) fn compare(&self, pinned: u64, now: u64) -> Result<Compared, Error> {
        let find = |report| lock(&self.kept).numbers(report).cloned();
        let (Some(pinned), Some(now)) = (find(pinned), find(now)) else {
            let remedy = Some("pin a result again".into());
            return Err(Error::Refused { what: "the pinned result is not kept any more".into(), remedy });
        };
        pinned.compare(&now)
    }

    /// A report that is still kept.
    pub(crate) fn report(&self, number: u64) -> Option<String> {
        lock(&self.kept).reports.iter().find(|(n, ..)| *n == number).map(|(.., page)| page.clone())
    }
}
