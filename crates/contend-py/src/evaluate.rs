//! A subject in the tests of a suite.

use crate::error;
use crate::experiment::Experiment;
use crate::own;
use contend_lab::evaluate::{Evaluation, How, Subject};
use contend_lab::execute::execute;
use contend_lab::opening;
use contend_lab::writing::output::scorecard;
use contend_lab::writing::output::{atomically, scorecard_page};
use pyo3::prelude::*;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A scorecard.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Scorecard {
    card: scorecard::Scorecard,
    confidence: f64,
}

#[pymethods]
impl Scorecard {
    /// The scorecard as a JSON text.
    fn json(&self) -> String {
        self.card.json().to_string()
    }

    /// The table as on a terminal of this width.
    fn table(&self, width: usize) -> String {
        self.card.table(false, width, false)
    }

    /// The scorecard as Markdown.
    fn markdown(&self) -> String {
        self.card.markdown(self.confidence)
    }

    /// The page; `date` is that of the call.
    fn html(&self, date: &str) -> String {
        scorecard_page(&self.card, date, self.confidence)
    }

    /// Writes the page to `path`.
    fn page(&self, path: PathBuf, date: &str) -> PyResult<()> {
        let page = self.html(date);
        let written = atomically(&path, |w| w.write_all(page.as_bytes()));
        written.map_err(|err| error::plain(&err.to_string(), Some("name a file that can be written")))
    }

    /// How to cite it, on one line.
    fn citation(&self, date: &str) -> String {
        self.card.citation(date)
    }

    /// How to cite it, for BibTeX.
    fn bibtex(&self, date: &str) -> String {
        self.card.bibtex(date)
    }

    /// True if no test fails and none is not decided.
    #[getter]
    fn is_clean(&self) -> bool {
        self.card.is_clean()
    }
}

/// Runs the tests of a suite with a subject: `kind` is `cc`, `ap` or `ap-file`, the option of the command. `progress`
/// is called with the number of finished tests and of all tests.
#[pyfunction]
#[pyo3(signature = (kind, name, what, suites, full, strict, seeds, decide, jobs, progress))]
#[allow(clippy::too_many_arguments, reason = "the Python function beside it names them")]
pub(crate) fn evaluate(
    py: Python<'_>,
    kind: &str,
    name: &str,
    what: Option<&str>,
    suites: Option<PathBuf>,
    full: bool,
    strict: bool,
    seeds: Option<String>,
    decide: Option<String>,
    jobs: u16,
    progress: Py<PyAny>,
) -> PyResult<Scorecard> {
    let refused = |err: contend_core::Refusal| error::plain(&err.what, Some(&err.remedy));
    let how = How { full, strict, seeds, decide };
    own::begin();
    let read = || {
        let subject = match kind {
            "cc" => Subject::controller(name).map_err(refused)?,
            "ap" => Subject::queue(name).map_err(refused)?,
            _ => {
                let text = opening::text(Path::new(name)).map_err(refused)?;
                Subject::access_point(name, &text).map_err(|err| error::of_run(&err))?
            }
        };
        Evaluation::of(subject, what, suites.as_deref(), &how).map_err(|err| error::of_run(&err))
    };
    let evaluation = read();
    if let Some(err) = own::exception() {
        return Err(err);
    }
    let (evaluation, own) = (evaluation?, own::made());
    let (mut cards, all) = (vec![], evaluation.to_run.len());
    for (done, (i, e)) in evaluation.to_run.iter().enumerate() {
        progress.call1(py, (done, all))?;
        let experiment = Experiment::made_of(e.clone(), own.clone());
        let executed = experiment.perform(py, jobs, None, None, None, |options| execute(e, options))?;
        cards.extend(evaluation.card(*i, e, executed));
    }
    progress.call1(py, (all, all))?;
    let confidence = evaluation.confidence;
    let command = format!("contend evaluate --{kind} {}", opening::quoted(name));
    Ok(Scorecard { card: evaluation.scorecard(cards, command), confidence })
}
