//! One experiment file on a page.

use contend_core::{Span, Time};
use contend_lab::execute::{Error, Options, execute};
use contend_lab::experiment::results::Run;
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::judging::compare::{Comparison, differences, pairs};
use contend_lab::opening::command_line;
use contend_lab::reading::file::dial::Dial;
use contend_lab::reading::file::keys::{keys, settable};
use contend_lab::reading::file::{Experiment, FileError, IN_ORDER, read};
use contend_lab::writing::folder;
use contend_lab::writing::output::{Compared, ReportContext, report_page, usual_metrics};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
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
/// Pinned results that are kept: each window of the page has one.
const PINNED: usize = 8;

/// An experiment file, and the runs that a page asks for.
pub struct Session {
    name: String,
    text: String,
    /// Settings of the call, before those of the page.
    sets: Settings,
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

/// The last reports, and what the page has pinned.
#[derive(Default)]
struct Kept {
    reports: VecDeque<(Arc<Numbers>, String)>,
    pinned: VecDeque<Arc<Numbers>>,
}

/// The numbers of a report.
struct Numbers {
    /// The number of the report.
    report: u64,
    /// The runs, without series and frames.
    runs: Vec<Run>,
    /// The metrics that the table of the report shows.
    metrics: Vec<String>,
}

impl Kept {
    /// The numbers of a report that is kept or pinned.
    fn numbers(&self, report: u64) -> Option<&Arc<Numbers>> {
        let all = self.reports.iter().map(|(numbers, _)| numbers).chain(&self.pinned);
        all.into_iter().find(|numbers| numbers.report == report)
    }
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
    /// A later request ended the runs, or [`Session::stop`] did.
    Overtaken,
    /// What is wrong with the settings, and the remedy.
    Wrong(String),
}

/// How far the runs are.
#[derive(Clone, Copy, Debug, Default, Serialize)]
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
            kept: Mutex::default(),
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

    /// What the page shows first: title, file, its dials, and all keys.
    pub(crate) fn first(&self) -> Result<First, Error> {
        let e = self.experiment(&vec![])?;
        let keys = keys().into_iter().filter(|(.., key)| key.has_values()).map(|(path, ..)| settable(&path));
        let dials = e.dials();
        let swept = dials.iter().filter(|d| e.points.iter().any(|p| p.contains_key(&d.key)));
        let swept = swept.filter(|d| d.value.is_none()).map(|d| d.key.clone()).collect();
        Ok(First { title: e.title.clone(), file: self.name.clone(), dials, swept, keys: keys.collect() })
    }

    /// Runs with `settings` and keeps the report. Claims are not judged.
    pub fn run(&self, settings: &Settings) -> Answer {
        let stop = Arc::new(AtomicBool::new(false));
        let new = Running { stop: Arc::clone(&stop), progress: Progress::default() };
        std::mem::replace(&mut *lock(&self.running), new).stop.store(true, Ordering::Relaxed);
        self.report_of(settings, &stop).unwrap_or_else(|why| Answer::Wrong(told(&why)))
    }

    #[allow(clippy::disallowed_methods, reason = "the wall clock is only reported, never used")]
    fn report_of(&self, settings: &Settings, stop: &Arc<AtomicBool>) -> Result<Answer, Error> {
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
                // Runs that a later request has ended may still report.
                let mut running = lock(&self.running);
                if Arc::ptr_eq(&running.stop, stop) {
                    running.progress = Progress { done, planned };
                }
            },
            ..Options::default()
        };
        let mut outcome = execute(&e, &options)?.outcome;
        if outcome.interrupted.is_some() {
            return Ok(Answer::Overtaken);
        }
        let page = report_page(&outcome, &Self::context(&e));
        let digest = outcome.runs.first().map_or_else(String::new, |r| r.digest.clone());
        let runs = outcome.runs.len();
        let metrics = usual_metrics(&outcome);
        outcome.runs.iter_mut().for_each(Run::drop_detail);
        let mut kept = lock(&self.kept);
        let report = kept.reports.back().map_or(1, |(last, _)| last.report + 1);
        kept.reports.push_back((Arc::new(Numbers { report, runs: outcome.runs, metrics }), page));
        if kept.reports.len() > KEPT {
            kept.reports.pop_front();
        }
        Ok(Answer::Done { report, runs, seconds: begun.elapsed().as_secs_f64(), digest })
    }

    /// The report names the command that makes the same runs.
    fn context(e: &Experiment) -> ReportContext {
        ReportContext::of(e, command_line(e))
    }

    /// Ends the runs in progress.
    pub fn stop(&self) {
        lock(&self.running).stop.store(true, Ordering::Relaxed);
    }

    /// How far the runs of the last request are; nothing is planned before the first of them.
    pub fn progress(&self) -> Progress {
        lock(&self.running).progress
    }

    /// Keeps the numbers of a report for later comparisons. False if the report is not kept any more.
    pub fn pin(&self, report: u64) -> bool {
        let mut kept = lock(&self.kept);
        let Some(numbers) = kept.numbers(report).cloned() else { return false };
        // The latest pin is the last to go.
        kept.pinned.retain(|pinned| pinned.report != report);
        kept.pinned.push_back(numbers);
        if kept.pinned.len() > PINNED {
            kept.pinned.pop_front();
        }
        true
    }

    /// What the report `now` has more or less than the report `pinned`, as `contend compare` would say it.
    ///
    /// # Errors
    /// When one of them is not kept any more, or they have no sweep point in common.
    pub fn compare(&self, pinned: u64, now: u64) -> Result<Compared, Error> {
        let find = |report| lock(&self.kept).numbers(report).cloned();
        let (Some(a), Some(b)) = (find(pinned), find(now)) else {
            let remedy = Some("pin a result again".into());
            return Err(Error::Refused { what: "the pinned result is not kept any more".into(), remedy });
        };
        let pairs = pairs(&a.runs, &b.runs).map_err(|_| {
            let remedy = Some("sweep the same values again, or pin this result".into());
            Error::Refused { what: "the pinned result has no sweep point in common with this one".into(), remedy }
        })?;
        let differences = differences(&a.runs, &b.runs, &pairs, &b.metrics, false);
        let (a, b) = ("pinned".into(), Some("now".into()));
        Ok(Compared::of(&Comparison { version: env!("CARGO_PKG_VERSION"), a, b, differences }))
    }

    /// A report that is still kept.
    pub fn report(&self, number: u64) -> Option<String> {
        lock(&self.kept).reports.iter().find(|(n, _)| n.report == number).map(|(_, page)| page.clone())
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
