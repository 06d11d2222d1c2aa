//! An experiment that can be run.

use crate::error;
use crate::results::Results;
use contend_lab::execute::{Options, Simulated, execute};
use contend_lab::experiment::results::Executed;
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::opening;
use contend_lab::reading::file;
use contend_lab::reproduce::is_shortened;
use contend_lab::writing::folder;
use contend_lab::writing::journal::{self, Journal};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How often a call looks for Ctrl-C and reports its progress.
const LOOK: Duration = Duration::from_millis(100);

/// An experiment: a text with the settings of a call.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Experiment(Arc<file::Experiment>);

#[pymethods]
impl Experiment {
    #[new]
    fn new(name: &str, text: &str, settings: Vec<(String, String)>) -> PyResult<Experiment> {
        let settings: Vec<(String, String)> = folder::settings(text).into_iter().chain(settings).collect();
        let e = opening::experiment(name, text, &settings).map_err(|err| error::in_file(&err))?;
        Ok(Experiment(Arc::new(e)))
    }

    /// The title.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// The source; may be empty.
    #[getter]
    fn cite(&self) -> &str {
        &self.0.cite
    }

    /// The author's notes; may be empty.
    #[getter]
    fn notes(&self) -> &str {
        &self.0.notes
    }

    /// The seeds of each point, with which the runs begin.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds.clone()
    }

    /// Number of sweep points.
    #[getter]
    fn points(&self) -> usize {
        self.0.points.len()
    }

    /// True if the short form of a reproduction has fewer seeds.
    #[getter]
    fn is_shortened(&self) -> bool {
        is_shortened(&self.0)
    }

    /// The command that makes the same runs.
    #[getter]
    fn command(&self) -> String {
        opening::command_line(&self.0)
    }

    /// Runs the experiment. `jobs`: runs at the same time, 0 for one on each core. `progress` is called with the number
    /// of finished runs and of all runs. Other Python threads run meanwhile; Ctrl-C stops the runs.
    #[pyo3(signature = (jobs=0, progress=None))]
    fn run(&self, py: Python<'_>, jobs: u16, progress: Option<Py<PyAny>>) -> PyResult<Results> {
        self.perform(py, jobs, progress, None, Some(CaptureWindow::timeline(self.0.warmup)))
    }

    /// Results from the runs in a journal, as `Results.journal` returns it. Runs that it lacks are made.
    fn resume(&self, py: Python<'_>, runs: &[u8]) -> PyResult<Results> {
        let failed = |err: std::io::Error| error::plain(&format!("the results cannot be unpickled: {err}"), None);
        let folder = tempfile::tempdir().map_err(failed)?;
        std::fs::write(folder.path().join(journal::NAME), runs).map_err(failed)?;
        let journal = Journal::resume(folder.path()).map_err(failed)?;
        self.perform(py, 0, None, journal.as_ref(), None)
    }
}

impl Experiment {
    /// Runs the experiment on threads of its own. This thread waits, and looks for Ctrl-C.
    fn perform(
        &self,
        py: Python<'_>,
        jobs: u16,
        progress: Option<Py<PyAny>>,
        journal: Option<&Journal>,
        capture: Option<CaptureWindow>,
    ) -> PyResult<Results> {
        let e = &self.0;
        let (stop, done, total) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |d: usize, of: usize| {
            // Calls of several threads may come in another order.
            done.fetch_max(d, Ordering::Relaxed);
            total.fetch_max(of, Ordering::Relaxed);
        };
        let options = Options {
            jobs: usize::from(jobs),
            series: true,
            capture,
            journal,
            engine: &Simulated,
            stop: &stop,
            progress: &count,
        };
        let look = || {
            Python::attach(|py| {
                py.check_signals()?;
                let counts = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
                progress.as_ref().map_or(Ok(()), |call| call.call1(py, counts).map(drop))
            })
        };
        let (executed, interrupt) = py.detach(|| waited(|| execute(e, &options), &look, &stop));
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let Some(executed) = executed else {
            return Err(PyRuntimeError::new_err(
                "this is a defect of contend, not an error in your file; please report it with the file and the \
                 message above",
            ));
        };
        Ok(Results::new(Arc::clone(e), executed.map_err(|err| error::of_run(&err))?))
    }
}

type Ran = Result<Executed, contend_lab::execute::Error>;

/// Runs `work` on another thread, and calls `look` now and then. An error of `look` sets `stop`. Returns what `work`
/// returned, `None` if it panicked, and the first error of `look`.
fn waited(
    work: impl FnOnce() -> Ran + Send,
    look: &dyn Fn() -> PyResult<()>,
    stop: &AtomicBool,
) -> (Option<Ran>, Option<PyErr>) {
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
