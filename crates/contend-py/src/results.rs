//! The results of an experiment.

use crate::error;
use crate::table::{Make, Source, Table};
use contend_lab::execute::Workshop as _;
use contend_lab::experiment::results::{Executed, Outcome, PointKey};
use contend_lab::judging::compare::points;
use contend_lab::opening;
use contend_lab::reading::file::Experiment;
use contend_lab::writing::folder;
use contend_lab::writing::journal::{self, Journal};
use contend_lab::writing::output::{
    self, Chart, Paper, ReportContext, Wish, all_charts, columns, map_file, usual_metrics, write_json, write_report,
    write_table,
};
use contend_page::alone::{self, Given};
use contend_page::session::Report;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Width and height, size and name of the letters, and true for grey.
pub(crate) type Looks = (Option<f64>, Option<f64>, f64, String, bool);

/// How a figure of these looks is drawn.
pub(crate) fn wish((width_pt, height_pt, size_pt, font, grey): Looks) -> Wish {
    Wish { paper: Paper { width_pt, height_pt, size_pt, font, grey }, ..Wish::default() }
}

/// The results of an experiment.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Results {
    e: Arc<Experiment>,
    executed: Arc<Executed>,
}

impl Results {
    pub(crate) fn new(e: Arc<Experiment>, executed: Executed) -> Results {
        Results { e, executed: Arc::new(executed) }
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.executed.outcome
    }

    pub(crate) fn executed(&self) -> Arc<Executed> {
        Arc::clone(&self.executed)
    }

    pub(crate) fn command(&self) -> String {
        opening::command_line(&self.e)
    }

    fn context(&self) -> ReportContext {
        ReportContext::of(&self.e, self.command())
    }

    fn table(&self, make: Make) -> Table {
        Table::new(Source::Results(Arc::clone(&self.executed), make), self.command())
    }
}

#[pymethods]
impl Results {
    /// The table called `name` as a Parquet file; None if it has no rows.
    fn parquet<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let o = self.outcome();
        let table = match name {
            "summary" => columns::summary(o),
            "runs" => columns::runs(o),
            "flows" => columns::flows(o),
            "queues" => columns::queues(o),
            "air" => columns::air(o),
            "series" => columns::series(o),
            _ => return Err(error::plain(&format!("there is no table `{name}`"), None)),
        };
        if table.rows() == 0 {
            return Ok(None);
        }
        let failed = |why: String| error::plain(&format!("the table cannot be written: {why}"), None);
        let folder = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
        let path = folder.path().join("table.parquet");
        write_table(o, &self.context(), &table, &path).map_err(|e| failed(e.to_string()))?;
        Ok(Some(PyBytes::new(py, &std::fs::read(path).map_err(|e| failed(e.to_string()))?)))
    }

    /// Mean and 95 % interval of each metric at each sweep point.
    #[getter]
    fn summary(&self) -> Table {
        self.table(columns::summary)
    }

    /// One row for each run, with all its metrics.
    #[getter]
    fn runs(&self) -> Table {
        self.table(columns::runs)
    }

    /// One row for each run and flow.
    #[getter]
    fn flows(&self) -> Table {
        self.table(columns::flows)
    }

    /// One row for each run and queue.
    #[getter]
    fn queues(&self) -> Table {
        self.table(columns::queues)
    }

    /// One row for each run: the air and its ledger.
    #[getter]
    fn air(&self) -> Table {
        self.table(columns::air)
    }

    /// One row for each run, each flow or queue, and each instant.
    #[getter]
    fn series(&self) -> Table {
        self.table(columns::series)
    }

    /// For each sweep point the number of its first run, from 0, and the point as JSON: its keys with the values of
    /// the file.
    #[getter]
    fn points(&self) -> PyResult<Vec<(usize, String)>> {
        let runs = &self.outcome().runs;
        let first = |p: &PointKey| runs.iter().position(|r| r.point == *p).unwrap_or_default();
        let failed = |err: serde_json::Error| error::plain(&err.to_string(), None);
        points(runs).into_iter().map(|p| Ok((first(p), serde_json::to_string(p).map_err(failed)?))).collect()
    }

    /// The metrics that tables show.
    #[getter]
    fn shown(&self) -> Vec<String> {
        usual_metrics(self.outcome())
    }

    /// Reasons to doubt the results, and values that could not be measured or kept.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.outcome().warnings.iter().chain(&self.executed.notes).cloned().collect()
    }

    /// Everything but series, as the command prints it with `--format json`.
    fn json(&self) -> PyResult<String> {
        let mut out = Vec::new();
        write_json(self.outcome(), &mut out).map_err(|err| error::plain(&err.to_string(), None))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// The table that the command prints, at most `width` columns wide.
    #[pyo3(signature = (width=output::WIDTH))]
    fn text(&self, width: usize) -> String {
        output::summary_table(self.outcome(), &self.context(), false, width)
    }

    /// Writes the report page to `path`.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| write_report(self.outcome(), &self.context(), &path));
        written.map_err(|err| error::plain(&err.to_string(), Some("name a file in a folder that can be written")))
    }

    /// Writes a page to `path` that has the report, the experiment and contend in it.
    fn page(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let failed = |why: String| error::plain(&why, Some("name a file in a folder that can be written"));
        let missing = || error::plain("this package was built without the module that runs in pages", None);
        let module = alone::MODULE.ok_or_else(missing)?;
        let written = || -> Result<(), String> {
            let report = Report::again(&self.e, self.outcome()).map_err(|e| e.to_string())?;
            let page = alone::page(&[Given::of(&self.e, Some(report))], module).text;
            output::atomically(&path, |w| w.write_all(page.as_bytes())).map_err(|e| e.to_string())
        };
        py.detach(written).map_err(failed)
    }

    /// The titles of the report's figures.
    fn figures(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| all_charts(self.outcome(), &self.context()).iter().map(Chart::title).collect())
    }

    /// Figure `number` of the report, counted from 1, as the text of an SVG file; `None` if there is no such figure.
    fn figure(&self, py: Python<'_>, number: usize, paper: Looks) -> Option<String> {
        let wish = wish(paper);
        let svg = || Some(all_charts(self.outcome(), &self.context()).get(number.checked_sub(1)?)?.svg(&wish));
        py.detach(svg)
    }

    /// The map of the first run at its start, as the text of an SVG file; `None` if there is no map.
    fn map(&self, py: Python<'_>, paper: Looks) -> Option<String> {
        let wish = wish(paper);
        py.detach(|| map_file(self.outcome().runs.first()?, &wish))
    }

    /// The finished runs, for `Experiment.merge`.
    fn journal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let failed = |err: std::io::Error| error::plain(&format!("the results cannot be pickled: {err}"), None);
        let written = || {
            let folder = tempfile::tempdir()?;
            let journal = Journal::create(folder.path(), &folder::header(&self.e, self.command(), None))?;
            for run in &self.outcome().runs {
                journal.keep(&run.point, &PointKey::default(), run);
            }
            match journal.failure() {
                Some(why) => Err(std::io::Error::other(why)),
                None => std::fs::read(folder.path().join(journal::NAME)),
            }
        };
        Ok(PyBytes::new(py, &py.detach(written).map_err(failed)?))
    }
}
