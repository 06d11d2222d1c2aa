//! One experiment file on a page.

use contend_core::{Span, Time};
use contend_experiment::reading::command::command_line;
use contend_experiment::reading::error::Error;
use contend_experiment::reading::file::dial::Dial;
use contend_experiment::reading::file::keys::{keys, settable};
use contend_experiment::reading::file::{Experiment, FileError, Files, IN_ORDER, read_with};
use contend_experiment::results::{Executed, Outcome, Run};
use contend_experiment::size::CaptureWindow;
use contend_judge::judging::compare::{Comparison, differences, pairs};
use contend_report::folder;
use contend_report::output::{Compared, ReportContext, report_page, usual_metrics};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// Settings in the order in which they are applied: key paths with their values, as `--set` takes them.
pub type Settings = Vec<(String, String)>;

/// The timeline shows this much of the first run, from the end of the warm-up.
const TIMELINE: Span = Span::from_millis(250);
/// Most frames of the timeline.
const FRAMES: usize = 10_000;

/// An experiment file whose values a page changes.
pub struct Session {
    name: String,
    text: String,
    /// Settings of the call, before those of the page.
    sets: Settings,
    /// Reads the files that the experiment names.
    files: Files,
}

/// Makes the runs of an experiment, with series and these frames of the first run.
pub type Execute<'a> = &'a dyn Fn(&Experiment, CaptureWindow) -> Result<Executed, Error>;

/// What a page shows of some runs.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The page that `contend run` writes.
    pub html: String,
    /// What later comparisons need.
    pub numbers: Numbers,
    /// The number of runs.
    pub runs: usize,
    /// The digest of the first run.
    pub digest: String,
}

impl Report {
    fn of(html: String, numbers: Numbers) -> Report {
        let digest = numbers.runs.first().map_or_else(String::new, |run| run.digest.clone());
        Report { html, runs: numbers.runs.len(), numbers, digest }
    }

    /// The report of runs that were made before: those of `outcome`, of the experiment `e`.
    ///
    /// # Errors
    /// When their numbers cannot be copied, which is a defect.
    pub fn again(e: &Experiment, outcome: &Outcome) -> serde_json::Result<Report> {
        let runs = serde_json::from_str(&serde_json::to_string(&outcome.runs)?)?;
        let numbers = Numbers { runs, metrics: usual_metrics(outcome) };
        Ok(Report::of(report_page(outcome, &Session::context(e)), numbers))
    }
}

/// The numbers of a report.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// The runs, without series and frames.
    runs: Vec<Run>,
    /// The metrics that the table of the report shows.
    metrics: Vec<String>,
}

impl Numbers {
    /// What `now` has more or less than `self`, as `contend compare` would say it.
    ///
    /// # Errors
    /// When they have no sweep point in common.
    pub fn compare(&self, now: &Numbers) -> Result<Compared, Error> {
        let pairs = pairs(&self.runs, &now.runs).map_err(|_| {
            let remedy = Some("sweep the same values again, or pin this result".into());
            Error::Refused { what: "the pinned result has no sweep point in common with this one".into(), remedy }
        })?;
        let differences = differences(&self.runs, &now.runs, &pairs, &now.metrics, false);
        let (a, b) = ("pinned".into(), Some("now".into()));
        Ok(Compared::of(&Comparison { version: env!("CARGO_PKG_VERSION"), a, b, differences }))
    }
}

/// What the page shows of an error: what is wrong, with the place if it is in the file, and the remedy.
pub fn told(why: &Error) -> String {
    match why {
        Error::File(e) => e.render(false),
        Error::Refused { what, remedy: Some(remedy) } => format!("{what}\n  help: {remedy}"),
        Error::Refused { what, remedy: None } | Error::Machine(what) => what.clone(),
    }
}

impl Session {
    /// A session of the experiment `text`, called `name`, with these settings. `None` if `stop` was set before all
    /// points of its sweep were tried.
    ///
    /// # Errors
    /// When the text is no experiment.
    pub fn new(
        name: String,
        text: String,
        sets: Settings,
        files: Files,
        stop: &AtomicBool,
    ) -> Result<Option<Session>, FileError> {
        let session = Session::of(name, text, sets, files);
        Ok(session.read(&[])?.try_points(stop, IN_ORDER)?.then_some(session))
    }

    /// Like [`Session::new`], for a text that may be wrong: then every question says so.
    pub fn of(name: String, text: String, sets: Settings, files: Files) -> Session {
        Session { name, text, sets, files }
    }

    /// The experiment with the settings of the call and of the page. No point is tried.
    fn read(&self, settings: &[(String, String)]) -> Result<Experiment, FileError> {
        let all: Settings = self.sets.iter().chain(settings).cloned().collect();
        read_with(&self.name, &self.text, &all, self.files)
    }

    /// Like [`Session::read`]. Only the first point is tried: all points of a large sweep take long.
    fn experiment(&self, settings: &[(String, String)]) -> Result<Experiment, FileError> {
        let e = self.read(settings)?;
        e.try_first()?;
        Ok(e)
    }

    /// What the page shows first: title, file, its dials, and all keys.
    ///
    /// # Errors
    /// When the file is wrong.
    pub fn first(&self) -> Result<First, Error> {
        let e = self.experiment(&[])?;
        let keys = keys().into_iter().filter(|(.., key)| key.has_values()).map(|(path, ..)| settable(&path));
        let dials = e.dials();
        let swept = dials.iter().filter(|d| e.points.iter().any(|p| p.contains_key(&d.key)));
        let swept = swept.filter(|d| d.value.is_none()).map(|d| d.key.clone()).collect();
        Ok(First { title: e.title.clone(), file: self.name.clone(), dials, swept, keys: keys.collect() })
    }

    /// The experiment with `settings`, ready to run; `None` if `stop` was set before all its points were tried. Its
    /// claims are left out: they are about the values of the file.
    ///
    /// # Errors
    /// When the file refuses the settings.
    pub fn ready(&self, settings: &[(String, String)], stop: &AtomicBool) -> Result<Option<Experiment>, FileError> {
        let mut e = self.read(settings)?;
        e.without_claims();
        Ok(e.try_points(stop, IN_ORDER)?.then_some(e))
    }

    /// The report of an experiment that is [`Session::ready`]; `None` if `execute` was stopped before all runs were
    /// made.
    ///
    /// # Errors
    /// When the runs cannot be made.
    pub fn report(e: &Experiment, execute: Execute<'_>) -> Result<Option<Report>, Error> {
        let warm = Time::ZERO + e.warmup;
        let mut outcome = execute(e, CaptureWindow { from: warm, to: warm + TIMELINE, limit: FRAMES })?.outcome;
        if outcome.interrupted.is_some() {
            return Ok(None);
        }
        let html = report_page(&outcome, &Self::context(e));
        let metrics = usual_metrics(&outcome);
        outcome.runs.iter_mut().for_each(Run::drop_detail);
        Ok(Some(Report::of(html, Numbers { runs: outcome.runs, metrics })))
    }

    /// The report names the command that makes the same runs.
    fn context(e: &Experiment) -> ReportContext {
        ReportContext::of(e, command_line(e))
    }

    /// The dial of `key`.
    ///
    /// # Errors
    /// When the file has no such key, or refuses the settings.
    pub fn dial(&self, key: &str, settings: &[(String, String)]) -> Result<Dial, Error> {
        Ok(self.experiment(settings)?.dial(key)?)
    }

    /// The experiment file with `settings`, as `contend run` takes it.
    ///
    /// # Errors
    /// When the file refuses the settings.
    pub fn file(&self, settings: &[(String, String)]) -> Result<String, Error> {
        let e = self.experiment(settings)?;
        let context = Self::context(&e);
        Ok(folder::repeatable(&e, &context, &context.seeds, 0))
    }
}

/// What the page shows first.
#[derive(Debug, Serialize)]
pub struct First {
    /// The title of the experiment.
    pub title: String,
    file: String,
    dials: Vec<Dial>,
    /// The keys that the file sweeps.
    swept: Vec<String>,
    /// Every key, as `--set` takes it.
    keys: Vec<String>,
}
