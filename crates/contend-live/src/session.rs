//! One experiment file on a page.

use contend_core::{Span, Time};
use contend_lab::execute::{Error, Options, execute};
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::opening::command_line;
use contend_lab::reading::file::dial::Dial;
use contend_lab::reading::file::keys::{keys, settable};
use contend_lab::reading::file::{Experiment, FileError, IN_ORDER, read};
use contend_lab::writing::folder;
use contend_lab::writing::output::{ReportContext, report_page};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Settings in the order in which they are applied: key paths with their values, as `--set` takes them.
pub type Settings = Vec<(String, String)>;

/// The timeline shows this much of the first run, from the end of the warm-up.
const TIMELINE: Span = Span::from_millis(250);
/// Most frames of the timeline.
const FRAMES: usize = 10_000;
/// Reports that are kept. The page loads the last one; those before it may still be on their way.
const KEPT: usize = 3;

/// An experiment file, and the runs that a page asks for.
pub struct Session {
    name: String,
    text: String,
    /// Settings of the call, before those of the page.
    sets: Settings,
    jobs: usize,
    /// Ends the runs in progress.
    running: Mutex<Arc<AtomicBool>>,
    /// Held while runs are in progress.
    turn: Mutex<()>,
    reports: Mutex<VecDeque<(u64, String)>>,
    done: AtomicUsize,
    planned: AtomicUsize,
}

/// What a run came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
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
    /// A later request came first.
    Overtaken,
    /// What is wrong with the settings, and the remedy.
    Wrong(String),
}

/// How far the runs are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    done: usize,
    planned: usize,
}

/// What the page shows of an error: what is wrong, with the place if it is in the file, and the remedy.
pub(crate) fn told(why: &Error) -> String {
    match why {
        Error::File(e) => e.render(false),
        Error::Refused { what, remedy: Some(remedy) } => format!("{what}\n  help: {remedy}"),
        Error::Refused { what, remedy: None } | Error::Machine(what) => what.clone(),
    }
}

/// What was written by a thread that panicked is as good as before: each value is replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session of the experiment `text`, called `name`, with these settings. `jobs` is the number of runs at the same
    /// time; 0 for one on each core. `None` if `stop` was set before all points of its sweep were tried.
    ///
    /// # Errors
    /// When the text is no experiment.
    pub fn new(
        name: String,
        text: String,
        sets: Settings,
        jobs: usize,
        stop: &AtomicBool,
    ) -> Result<Option<Session>, FileError> {
        if !read(&name, &text, &sets)?.try_points(stop, IN_ORDER)? {
            return Ok(None);
        }
        Ok(Some(Session {
            name,
            text,
            sets,
            jobs,
            running: Mutex::default(),
            turn: Mutex::default(),
            reports: Mutex::default(),
            done: AtomicUsize::new(0),
            planned: AtomicUsize::new(0),
        }))
    }

    /// The experiment with the settings of the call and of the page. No point is tried.
    fn read(&self, settings: &Settings) -> Result<Experiment, FileError> {
        let all: Settings = self.sets.iter().chain(settings).cloned().collect();
        read(&self.name, &self.text, &all)
    }

    /// Like [`Session::read`]. Only the first point is tried: all points of a large sweep take long.
    fn experiment(&self, settings: &Settings) -> Result<Experiment, FileError> {
        let e = self.read(settings)?;
        e.try_first()?;
        Ok(e)
    }

    /// What the page shows first: title, file, dials of parameters and swept keys, and all keys.
    pub(crate) fn first(&self) -> Result<First, Error> {
        let e = self.experiment(&vec![])?;
        let keys = keys().into_iter().filter(|(.., key)| key.has_values()).map(|(path, ..)| settable(&path));
        let dials = e.dials();
        let swept = dials.iter().filter(|d| d.value.is_none()).map(|d| d.key.clone()).collect();
        Ok(First { title: e.title.clone(), file: self.name.clone(), dials, swept, keys: keys.collect() })
    }

    /// Runs with `settings` and keeps the report. Claims are not judged.
    pub fn run(&self, settings: &Settings) -> Answer {
        let stop = Arc::new(AtomicBool::new(false));
        std::mem::replace(&mut *lock(&self.running), Arc::clone(&stop)).store(true, Ordering::Relaxed);
        self.report_of(settings, &stop).unwrap_or_else(|why| Answer::Wrong(told(&why)))
    }

    #[allow(clippy::disallowed_methods, reason = "the wall clock is only reported, never used")]
    fn report_of(&self, settings: &Settings, stop: &AtomicBool) -> Result<Answer, Error> {
        let begun = Instant::now();
        let mut e = self.read(settings)?;
        e.without_claims();
        // Before the turn: a wrong value is told while the runs of an earlier request still end.
        if !e.try_points(stop, IN_ORDER)? {
            return Ok(Answer::Overtaken);
        }
        let _turn = lock(&self.turn);
        if stop.load(Ordering::Relaxed) {
            return Ok(Answer::Overtaken);
        }
        let warm = Time::ZERO + e.warmup;
        let options = Options {
            jobs: self.jobs,
            series: true,
            capture: Some(CaptureWindow { from: warm, to: warm + TIMELINE, limit: FRAMES }),
            stop,
            progress: &|done, planned| {
                self.done.store(done, Ordering::Relaxed);
                self.planned.store(planned, Ordering::Relaxed);
            },
            ..Options::default()
        };
        let outcome = execute(&e, &options)?.outcome;
        if outcome.interrupted.is_some() {
            return Ok(Answer::Overtaken);
        }
        let page = report_page(&outcome, &Self::context(&e));
        let mut reports = lock(&self.reports);
        let report = reports.back().map_or(1, |(number, _)| number + 1);
        reports.push_back((report, page));
        if reports.len() > KEPT {
            reports.pop_front();
        }
        let digest = outcome.runs.first().map_or_else(String::new, |r| r.digest.clone());
        Ok(Answer::Done { report, runs: outcome.runs.len(), seconds: begun.elapsed().as_secs_f64(), digest })
    }

    /// The report names the command that makes the same runs.
    fn context(e: &Experiment) -> ReportContext {
        ReportContext::of(e, command_line(e))
    }

    /// Ends the runs in progress.
    pub fn stop(&self) {
        lock(&self.running).store(true, Ordering::Relaxed);
    }

    /// How far the runs in progress are.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done.load(Ordering::Relaxed), planned: self.planned.load(Ordering::Relaxed) }
    }

    /// A report that is still kept.
    pub fn report(&self, number: u64) -> Option<String> {
        lock(&self.reports).iter().find(|(n, _)| *n == number).map(|(_, page)| page.clone())
    }

    /// The dial of `key`.
    ///
    /// # Errors
    /// When the file has no such key, or refuses the settings.
    pub fn dial(&self, key: &str, settings: &Settings) -> Result<Dial, Error> {
        Ok(self.experiment(settings)?.dial(key)?)
    }

    /// The experiment file with `settings`, as `contend run` takes it.
    ///
    /// # Errors
    /// When the file refuses the settings.
    pub fn file(&self, settings: &Settings) -> Result<String, Error> {
        let e = self.experiment(settings)?;
        let context = Self::context(&e);
        Ok(folder::repeatable(&e, &context, &context.seeds, 0))
    }
}

/// What the page shows first.
#[derive(Debug, Serialize)]
pub(crate) struct First {
    pub(crate) title: String,
    file: String,
    dials: Vec<Dial>,
    /// The keys that the file sweeps.
    swept: Vec<String>,
    /// Every key, as `--set` takes it.
    keys: Vec<String>,
}
