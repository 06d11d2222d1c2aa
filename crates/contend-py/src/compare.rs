//! Two sets of results, paired by sweep point and seed.

use crate::error;
use crate::results::Results;
use contend_lab::judging::compare as judged;
use contend_lab::judging::compare::{differences, pairs};
use contend_lab::writing::output::{WIDTH, comparison_table, usual_metrics, write_comparison, write_comparison_page};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The differences between two results.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Comparison {
    c: judged::Comparison,
    command: String,
}

/// The differences of `b` minus `a`, paired by sweep point and seed. Without `metrics`, those that the table of `a`
/// shows.
#[pyfunction]
#[pyo3(signature = (a, b, metrics=None))]
pub(crate) fn compare(a: &Results, b: &Results, metrics: Option<Vec<String>>) -> PyResult<Comparison> {
    let (first, second) = (a.outcome(), b.outcome());
    let remedy = "compare results with the same [sweep], or fix the keys with set=";
    let pairs = pairs(&first.runs, &second.runs).map_err(|err| error::plain(&err.what, Some(remedy)))?;
    let metrics = metrics.unwrap_or_else(|| usual_metrics(first));
    let found = differences(&first.runs, &second.runs, &pairs, &metrics, false);
    if let Some(why) = found.iter().map(|d| d.missing.as_ref()).collect::<Option<Vec<_>>>() {
        let why = why.first().map_or_else(String::new, |why| format!(": {why}"));
        return Err(error::plain(
            &format!("there is nothing to compare{why}"),
            Some("choose metrics that both sides have, and seeds that both sides have"),
        ));
    }
    let c = judged::Comparison {
        version: env!("CARGO_PKG_VERSION"),
        a: a.command(),
        b: Some(b.command()),
        differences: found,
    };
    Ok(Comparison { c, command: format!("contend.compare({}, {})", a.command(), b.command()) })
}

#[pymethods]
impl Comparison {
    /// The table that the command prints, at most `width` columns wide.
    #[pyo3(signature = (width=WIDTH))]
    fn text(&self, width: usize) -> String {
        comparison_table(&self.c, false, width)
    }

    /// What `contend compare --format json` prints.
    fn json(&self) -> PyResult<String> {
        let mut out = Vec::new();
        write_comparison(&self.c, &mut out).map_err(|err| error::plain(&err.to_string(), None))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Writes the comparison as one page to `path`. An existing page is renamed; its new path is returned.
    fn report(&self, path: PathBuf) -> PyResult<Option<PathBuf>> {
        write_comparison_page(&self.c, &self.command, &path)
            .map_err(|err| error::plain(&err.to_string(), Some("name a file in a folder that can be written")))
    }
}
