//! Two sets of results, paired by sweep point and seed, or two sets of points of the same results.

use crate::error;
use crate::results::Results;
use crate::table::{Compared, Source, Table};
use contend_lab::experiment::results::{PointKey, Run};
use contend_lab::judging::compare as judged;
use contend_lab::judging::compare::{differences, pairs};
use contend_lab::writing::output::{WIDTH, comparison_table, usual_metrics, write_comparison, write_comparison_page};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// The differences between two results.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Comparison {
    of: Arc<Compared>,
    command: String,
}

/// Points of a sweep to compare: the points of both sides, each as the number of a run, and the names of the sides.
/// Without a name the second side is each of its points.
type Sides = (Vec<(usize, usize)>, String, Option<String>);

/// The differences of `b` minus `a`, paired by sweep point and seed, or of the points in `sides`. Without `metrics`,
/// those that the table of `a` shows. `control`: with the control variate of lossy channels.
#[pyfunction]
#[pyo3(signature = (a, b, metrics=None, sides=None, control=false))]
pub(crate) fn compare(
    a: &Results,
    b: &Results,
    metrics: Option<Vec<String>>,
    sides: Option<Sides>,
    control: bool,
) -> PyResult<Comparison> {
    let (first, second) = (a.outcome(), b.outcome());
    let (pairs, a_name, b_name) = match sides {
        None => {
            let remedy = "compare results with the same sweep=, or fix the keys with set=";
            let pairs = pairs(&first.runs, &second.runs).map_err(|err| error::plain(&err.what, Some(remedy)))?;
            (pairs, a.command(), Some(b.command()))
        }
        Some((pairs, of_a, of_b)) => {
            let pairs: PyResult<Vec<_>> =
                pairs.into_iter().map(|(i, j)| Ok([point(&first.runs, i)?, point(&second.runs, j)?])).collect();
            let named = |r: &Results, name: &str| format!("{}, {name}", r.command());
            (pairs?, named(a, &of_a), of_b.map(|name| named(b, &name)))
        }
    };
    let metrics = metrics.unwrap_or_else(|| usual_metrics(first));
    let found = differences(&first.runs, &second.runs, &pairs, &metrics, control);
    if let Some(why) = found.iter().map(|d| d.missing.as_ref()).collect::<Option<Vec<_>>>() {
        let why = why.first().map_or_else(String::new, |why| format!(": {why}"));
        return Err(error::plain(
            &format!("there is nothing to compare{why}"),
            Some("choose metrics that both sides have, and seeds that both sides have"),
        ));
    }
    let command = format!("contend.compare({a_name}, {})", b_name.as_deref().unwrap_or("each other point"));
    let c = judged::Comparison { version: env!("CARGO_PKG_VERSION"), a: a_name, b: b_name, differences: found };
    Ok(Comparison { of: Arc::new(Compared { c, second: b.executed() }), command })
}

/// The point of the run number `i`, from 0.
fn point(runs: &[Run], i: usize) -> PyResult<&PointKey> {
    runs.get(i).map(|r| &r.point).ok_or_else(|| PyIndexError::new_err(format!("there is no run {i}")))
}

#[pymethods]
impl Comparison {
    /// One row for each pair of points and each metric.
    #[getter]
    fn differences(&self) -> Table {
        Table::new(Source::Comparison(Arc::clone(&self.of)), self.command.clone())
    }

    /// The table that the command prints, at most `width` columns wide.
    #[pyo3(signature = (width=WIDTH))]
    fn text(&self, width: usize) -> String {
        comparison_table(&self.of.c, false, width)
    }

    /// What `contend compare --format json` prints.
    fn json(&self) -> PyResult<String> {
        let mut out = Vec::new();
        write_comparison(&self.of.c, &mut out).map_err(|err| error::plain(&err.to_string(), None))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Writes the comparison as one page to `path`. An existing page is renamed; its new path is returned.
    fn report(&self, path: PathBuf) -> PyResult<Option<PathBuf>> {
        write_comparison_page(&self.of.c, &self.command, &path)
            .map_err(|err| error::plain(&err.to_string(), Some("name a file in a folder that can be written")))
    }
}
