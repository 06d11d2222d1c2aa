//! `contend._contend`: what the Python package takes from contend-lab. The sources in `python/contend/` give it the
//! form that Python users expect; `python/contend/_contend.pyi` has its types.

mod compare;
mod error;
mod evaluate;
mod experiment;
mod learn;
mod model;
mod own;
mod results;
mod table;

use contend_lab::reading::examples as built_in;
use contend_lab::{opening, reproduce};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The text of the experiment file at `path`, or of the example with this name.
#[pyfunction]
fn read(path: PathBuf) -> PyResult<String> {
    opening::text(&path).map_err(|err| error::plain(&err.what, Some(&err.remedy)))
}

/// Names and titles of the examples, the experiment files inside the package.
#[pyfunction]
fn examples() -> Vec<(&'static str, String)> {
    built_in::ALL.iter().map(|s| (s.name, s.title())).collect()
}

/// Names and paths of the papers' experiments; `what` is a paper, an experiment, or None for all. `papers` is their
/// folder; None: the folder `papers` if it is here, else those inside the package, with their names for paths.
#[pyfunction]
#[pyo3(signature = (papers=None, what=None))]
fn experiments(papers: Option<PathBuf>, what: Option<&str>) -> PyResult<Vec<(String, PathBuf)>> {
    use reproduce::NothingFound::{NoPapers, TooLarge, Unknown};
    let folder = reproduce::folder(papers.as_deref());
    let all = reproduce::experiments(folder.as_deref(), what, false).map_err(|err| {
        let remedy = match &err {
            TooLarge(_) | NoPapers(_) => {
                "name the folder of the papers: reproduce(papers=...); without it, those inside contend run"
            }
            Unknown(why) => &why.remedy,
        };
        error::plain(&err.to_string(), Some(remedy))
    })?;
    Ok(all.into_iter().map(|e| (e.name, e.path)).collect())
}

/// Runs the command `contend` with these arguments, of which the first is the name of the program; its exit status.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| contend::command(arguments))
}

/// What `contend explain` prints about `name`.
#[pyfunction]
fn explain(name: &str) -> PyResult<String> {
    contend::explained(name).map_err(|err| error::plain(&err.what, Some(&err.remedy)))
}

/// The names of each family, with a phrase for each.
#[pyfunction]
fn catalogue() -> Vec<(&'static str, Vec<(String, String)>)> {
    contend::listed()
}

/// What the Python sources use.
#[pymodule]
fn _contend(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("SHORT_SEEDS", reproduce::SHORT_SEEDS)?;
    m.add("Error", m.py().get_type::<error::Error>())?;
    m.add_class::<experiment::Experiment>()?;
    m.add_class::<results::Results>()?;
    m.add_class::<table::Table>()?;
    m.add_class::<compare::Comparison>()?;
    m.add_class::<evaluate::Scorecard>()?;
    m.add_function(wrap_pyfunction!(evaluate::evaluate, m)?)?;
    m.add_function(wrap_pyfunction!(read, m)?)?;
    m.add_function(wrap_pyfunction!(examples, m)?)?;
    m.add_function(wrap_pyfunction!(experiments, m)?)?;
    m.add_function(wrap_pyfunction!(compare::compare, m)?)?;
    m.add_function(wrap_pyfunction!(model::models, m)?)?;
    m.add_function(wrap_pyfunction!(model::model, m)?)?;
    m.add_function(wrap_pyfunction!(model::calculators, m)?)?;
    m.add_function(wrap_pyfunction!(model::calculate, m)?)?;
    own::register(m)?;
    m.add_class::<learn::PyEpisodes>()?;
    m.add_function(wrap_pyfunction!(learn::agents, m)?)?;
    m.add_function(wrap_pyfunction!(learn::span, m)?)?;
    m.add_function(wrap_pyfunction!(command, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue, m)?)
}
