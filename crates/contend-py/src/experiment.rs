//! An experiment that can be run.

use crate::results::{Looks, Results, wish};
use crate::{error, own};
use contend_core::Refusal;
use contend_lab::execute::{Error, Options, Shard, Simulated, execute, shard};
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::reading::file::{self, FileError};
use contend_lab::reproduce::is_shortened;
use contend_lab::writing::folder;
use contend_lab::writing::journal::{self, Header, Journal};
use contend_lab::{opening, pictures};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How often a call looks for Ctrl-C and reports its progress.
const LOOK: Duration = Duration::from_millis(100);

/// An experiment: a text with the settings of a call.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Experiment {
    e: Arc<file::Experiment>,
    /// The algorithms in Python that it uses.
    own: Vec<&'static str>,
}

#[pymethods]
impl Experiment {
    #[new]
    fn new(name: &str, text: &str, settings: Vec<(String, String)>) -> PyResult<Experiment> {
        let settings = all_settings(text, settings);
        Experiment::of(|| opening::experiment(name, text, &settings))
    }

    /// The experiment with every `of`th point from point `number` on, without claims. No other network is built.
    #[staticmethod]
    fn part(name: &str, text: &str, settings: Vec<(String, String)>, number: usize, of: usize) -> PyResult<Experiment> {
        let settings = all_settings(text, settings);
        Experiment::of(|| opening::part(name, text, &settings, number, of))
    }

    /// The number of sweep points. No network is built.
    #[staticmethod]
    fn count(name: &str, text: &str, settings: Vec<(String, String)>) -> PyResult<usize> {
        let settings = all_settings(text, settings);
        opening::points(name, text, &settings).map_err(|err| error::in_file(&err))
    }

    /// The title.
    #[getter]
    fn title(&self) -> &str {
        &self.e.title
    }

    /// The source; may be empty.
    #[getter]
    fn cite(&self) -> &str {
        &self.e.cite
    }

    /// The author's notes; may be empty.
    #[getter]
    fn notes(&self) -> &str {
        &self.e.notes
    }

    /// The seeds of each point, with which the runs begin.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.e.seeds.clone()
    }

    /// Number of sweep points.
    #[getter]
    fn points(&self) -> usize {
        self.e.points.len()
    }

    /// True if the short form of a reproduction has fewer seeds.
    #[getter]
    fn is_shortened(&self) -> bool {
        is_shortened(&self.e)
    }

    /// The command that makes the same runs.
    #[getter]
    fn command(&self) -> String {
        opening::command_line(&self.e)
    }

    /// Runs the experiment. `jobs`: runs at the same time, 0 for one on each core. `progress` is called with the number
    /// of finished runs and of all runs. Other Python threads run meanwhile; Ctrl-C stops the runs.
    #[pyo3(signature = (jobs=0, progress=None))]
    fn run(&self, py: Python<'_>, jobs: u16, progress: Option<Py<PyAny>>) -> PyResult<Results> {
        let capture = Some(CaptureWindow::timeline(self.e.warmup));
        let (calls, seconds) = own::price();
        let mut executed = self.perform(py, jobs, progress, None, capture, |options| execute(&self.e, options))?;
        if !self.own.is_empty() {
            let (calls, seconds) = (own::price().0 - calls, own::price().1 - seconds);
            let names = self.own.join(", ");
            executed.outcome.warnings.push(format!(
                "algorithms in Python made these runs ({names}): only a program with the same classes can repeat them"
            ));
            executed.notes.push(format!(
                "Python was called {calls} times, {:.1} us each, {seconds:.1} s in all; runs with it are made one at a \
                    time",
                seconds / calls.max(1) as f64 * 1e6
            ));
        }
        Ok(Results::new(Arc::clone(&self.e), executed))
    }

    /// The frames on the air in `interval` of the first run, as the text of an SVG file. The run is made again, because
    /// results keep the frames of another interval.
    fn air(&self, py: Python<'_>, interval: &str, paper: Looks) -> PyResult<String> {
        let wrong = |err: &Refusal| error::plain(&format!("interval {interval:?}: {}", err.what), Some(&err.remedy));
        let (from, to) = pictures::interval(interval).map_err(|err| wrong(&err))?;
        let mut e = (*self.e).clone();
        pictures::first_run_only(&mut e);
        let frames = pictures::air_frames(&e, from, to).map_err(|err| wrong(&err))?;
        let executed = self.perform(py, 1, None, None, Some(frames), |options| execute(&e, options))?;
        let chart = pictures::air(&e, &executed.outcome, from, to).map_err(|err| wrong(&err))?;
        Ok(chart.svg(&wish(paper)))
    }

    /// Part `number` of `of` parts of the runs, as a journal for `merge`. Nothing is judged.
    #[pyo3(signature = (number, of, jobs=0))]
    fn shard<'py>(&self, py: Python<'py>, number: u32, of: u32, jobs: u16) -> PyResult<Bound<'py, PyBytes>> {
        if !(1..=of).contains(&number) {
            return Err(PyValueError::new_err(format!("there is no part {number} of {of}")));
        }
        let failed = |err: std::io::Error| error::plain(&format!("the runs cannot be kept: {err}"), None);
        let folder = tempfile::tempdir().map_err(failed)?;
        let journal = Journal::create(folder.path(), &self.header()).map_err(failed)?;
        let made = |options: &Options<'_>| shard(&self.e, Shard { number, of }, options);
        self.perform(py, jobs, None, Some(&journal), None, made)?;
        if let Some(why) = journal.failure() {
            return Err(failed(std::io::Error::other(why)));
        }
        Ok(PyBytes::new(py, &std::fs::read(folder.path().join(journal::NAME)).map_err(failed)?))
    }

    /// What makes the runs of a journal others than those of this experiment, in a sentence; None if nothing does. The
    /// first line of the journal is enough.
    fn unlike(&self, journal: Vec<u8>) -> PyResult<Option<String>> {
        let failed = |err: std::io::Error| error::plain(&format!("the runs cannot be read: {err}"), None);
        let folder = tempfile::tempdir().map_err(failed)?;
        std::fs::write(folder.path().join(journal::NAME), journal).map_err(failed)?;
        let Some((theirs, _)) = Journal::look(folder.path()) else {
            return Ok(Some("it is damaged, or no part of an experiment".to_owned()));
        };
        let ours = self.header();
        let Some(what) = ours.differs(&theirs) else { return Ok(None) };
        let only = |a: &Header, b: &Header| -> String {
            let of: Vec<&str> = a.settings.iter().filter(|s| !b.settings.contains(s)).map(String::as_str).collect();
            if of.is_empty() { "the values of the file".to_owned() } else { of.join(", ") }
        };
        if theirs.version != ours.version {
            return Ok(Some(format!("contend {} made it, and this is contend {}", theirs.version, ours.version)));
        }
        if theirs.experiment == ours.experiment && theirs.settings != ours.settings {
            let (there, here) = (only(&theirs, &ours), only(&ours, &theirs));
            return Ok(Some(if there == here {
                "its settings have another order".to_owned()
            } else {
                format!("it has {there}, and this call has {here}")
            }));
        }
        Ok(Some(format!("{what} differs")))
    }

    /// Results from the runs in journals, as `shard` and `Results.journal` return them. Runs that they lack are made.
    #[pyo3(signature = (journals, jobs=0, progress=None))]
    fn merge(
        &self,
        py: Python<'_>,
        journals: Vec<Vec<u8>>,
        jobs: u16,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Results> {
        let failed = |err: std::io::Error| error::plain(&format!("the runs cannot be read: {err}"), None);
        let (folder, part) = (tempfile::tempdir().map_err(failed)?, tempfile::tempdir().map_err(failed)?);
        let header = self.header();
        let journal = Journal::create(folder.path(), &header).map_err(failed)?;
        for bytes in journals {
            std::fs::write(part.path().join(journal::NAME), bytes).map_err(failed)?;
            match Journal::look(part.path()).map(|(theirs, _)| header.differs(&theirs)) {
                Some(None) => journal.take_in(part.path()).map_err(failed)?,
                Some(Some(what)) => {
                    let other = format!("these runs are of another experiment: {what} differs");
                    return Err(error::plain(&other, Some("make them again")));
                }
                None => return Err(error::plain("these bytes hold no runs", Some("give what `shard` returned"))),
            }
        }
        let executed = self.perform(py, jobs, progress, Some(&journal), None, |options| execute(&self.e, options))?;
        Ok(Results::new(Arc::clone(&self.e), executed))
    }
}

impl Experiment {
    /// An experiment that was read, with the algorithms in Python that it uses.
    pub(crate) fn made_of(e: file::Experiment, own: Vec<&'static str>) -> Experiment {
        Experiment { e: Arc::new(e), own }
    }

    /// What `read` gives, with the algorithms in Python that it uses.
    fn of(read: impl FnOnce() -> Result<file::Experiment, FileError>) -> PyResult<Experiment> {
        own::begin();
        let e = read();
        if let Some(err) = own::exception() {
            return Err(err);
        }
        let e = e.map_err(|err| error::in_file(&err))?;
        Ok(Experiment { e: Arc::new(e), own: own::made() })
    }

    /// The header of journals of this experiment.
    fn header(&self) -> Header {
        folder::header(&self.e, opening::command_line(&self.e), None)
    }

    /// Calls `work` on a thread of its own, which has more for the runs. This thread waits, and looks for Ctrl-C.
    pub(crate) fn perform<T: Send>(
        &self,
        py: Python<'_>,
        jobs: u16,
        progress: Option<Py<PyAny>>,
        journal: Option<&Journal>,
        capture: Option<CaptureWindow>,
        work: impl FnOnce(&Options<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let (stop, done, total) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |d: usize, of: usize| {
            // Calls of several threads may come in another order.
            done.fetch_max(d, Ordering::Relaxed);
            total.fetch_max(of, Ordering::Relaxed);
        };
        // Python's lock lets one run at a time go on, so more would only wait.
        let python = !self.own.is_empty();
        let jobs = if python { 1 } else { usize::from(jobs) };
        let options = Options {
            jobs,
            series: true,
            capture,
            journal,
            engine: &Simulated,
            stop: &stop,
            progress: &count,
            // The thread stays known to Python between calls, which makes them cheaper.
            thread: if python { &|work| Python::attach(|py| py.detach(work)) } else { &|work| work() },
        };
        let look = || {
            if python && let Some(err) = own::exception() {
                return Err(err);
            }
            Python::attach(|py| {
                py.check_signals()?;
                let counts = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
                progress.as_ref().map_or(Ok(()), |call| call.call1(py, counts).map(drop))
            })
        };
        let (executed, interrupt) = py.detach(|| {
            let turn = python.then(own::turn);
            if turn.is_some() {
                own::begin();
            }
            waited(|| work(&options), &look, &stop)
        });
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let Some(executed) = executed else {
            return Err(PyRuntimeError::new_err(
                "this is a defect of contend, not an error in your file; please report it with the file and the \
                 message above",
            ));
        };
        executed.map_err(|err| error::of_run(&err))
    }
}

/// The settings in the head of a text, as a results folder's run.toml has them, and those of the call.
pub(crate) fn all_settings(text: &str, call: Vec<(String, String)>) -> Vec<(String, String)> {
    folder::settings(text).into_iter().chain(call).collect()
}

/// Runs `work` on another thread, and calls `look` now and then. An error of `look` sets `stop`. Returns what `work`
/// returned, `None` if it panicked, and the first error of `look`.
fn waited<T: Send>(
    work: impl FnOnce() -> T + Send,
    look: &dyn Fn() -> PyResult<()>,
    stop: &AtomicBool,
) -> (Option<T>, Option<PyErr>) {
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // Dropped when the work ends, also if it panics.
            let _end = end;
            work()
        });
        let mut interrupt = None;
        loop {
            let wait = ended.recv_timeout(LOOK);
            if interrupt.is_none()
                && let Err(err) = look()
            {
                stop.store(true, Ordering::Relaxed);
                interrupt = Some(err);
            }
            if wait != Err(mpsc::RecvTimeoutError::Timeout) {
                break;
            }
        }
        (worker.join().ok(), interrupt)
    })
}
