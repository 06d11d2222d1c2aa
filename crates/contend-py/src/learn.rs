//! Networks that Python steps.

use crate::error;
use crate::experiment::all_settings;
use contend_core::Span;
use contend_lab::experiment::point::Resolved;
use contend_lab::opening;
use contend_lab::reading::expression::quantity;
use contend_lab::reading::file::Overlay;
use contend_learn::{AGENTS, Agent, Episodes, Stepped, install};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// A kind of agent: name, algorithm, key, what the action is with its unit and usual range, what the agent sees.
type About = (
    &'static str,
    &'static str,
    &'static str,
    (&'static str, &'static str, f64, f64),
    Vec<(&'static str, &'static str)>,
);

/// All kinds of agent. From then on files of this process can name their algorithms.
#[pyfunction]
pub(crate) fn agents() -> PyResult<Vec<About>> {
    install().map_err(|e| error::plain(&e.what, Some(&e.remedy)))?;
    Ok(AGENTS.iter().map(|a| (a.name, a.algorithm, a.key, a.action, a.sees.to_vec())).collect())
}

/// The nanoseconds of a text like "100ms".
#[pyfunction]
pub(crate) fn span(text: &str) -> PyResult<u64> {
    quantity::span(text)
        .map(Span::as_nanos)
        .map_err(|e| error::plain(&e.what, Some("write it like \"100ms\" or \"10s\"")))
}

/// Arrays of f64: what agents see, goodput and delay of each flow, time; each network by network.
type Arrays<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Several networks of one experiment, stepped together.
#[pyclass(name = "Episodes", module = "contend._contend", frozen)]
pub(crate) struct PyEpisodes(Mutex<Episodes>);

#[pymethods]
impl PyEpisodes {
    #[new]
    fn new(
        py: Python<'_>,
        experiment: (String, String, Vec<(String, String)>),
        agent: &str,
        step_ns: u64,
        count: usize,
        jobs: usize,
    ) -> PyResult<PyEpisodes> {
        let kind: Option<&'static Agent> = AGENTS.iter().find(|a| a.name == agent);
        let Some(kind) = kind else {
            let names: Vec<&str> = AGENTS.iter().map(|a| a.name).collect();
            let remedy = format!("use one of {}", names.join(", "));
            return Err(error::plain(&format!("there is no agent {agent:?}"), Some(&remedy)));
        };
        let (name, text, settings) = experiment;
        let settings = all_settings(&text, settings);
        let e = opening::experiment(&name, &text, &settings).map_err(|err| error::in_file(&err))?;
        let [point] = &e.points[..] else {
            let what = format!("the experiment has {} points", e.points.len());
            return Err(error::plain(&what, Some("give `set` for the swept keys, so that one network is left")));
        };
        let resolved: Resolved = e.scenario(point, &Overlay::default()).map_err(|err| error::in_file(&err))?;
        let made = py.detach(|| Episodes::new(kind, resolved, Span::from_nanos(step_ns), count, jobs));
        made.map(|e| PyEpisodes(Mutex::new(e))).map_err(|e| error::plain(&e.what, Some(&e.remedy)))
    }

    /// Number of agents in each network.
    #[getter]
    fn agents(&self) -> usize {
        self.lock().agents()
    }

    /// Names of the flows.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.lock().flows().into_iter().map(str::to_owned).collect()
    }

    /// Begins network `i` anew.
    fn reset<'py>(&self, py: Python<'py>, i: usize, seed: u64, warmup_ns: u64) -> PyResult<Arrays<'py>> {
        let stepped = py.detach(|| self.lock().reset(i, seed, Span::from_nanos(warmup_ns)));
        arrays(py, stepped.map_err(|e| error::plain(&e.what, Some(&e.remedy)))?)
    }

    /// Steps all networks. `actions`: f64 in the machine's order, one for each agent of each network.
    fn step<'py>(&self, py: Python<'py>, actions: &[u8]) -> PyResult<Arrays<'py>> {
        let (eights, _) = actions.as_chunks::<8>();
        let actions: Vec<f64> = eights.iter().map(|b| f64::from_ne_bytes(*b)).collect();
        let stepped = py.detach(|| self.lock().step(&actions));
        arrays(py, stepped.map_err(|e| error::plain(&e.what, Some(&e.remedy)))?)
    }

    /// The digest of network `i` up to now; None if it was not begun.
    fn digest(&self, i: usize) -> Option<String> {
        self.lock().digest(i).map(|d| format!("{d:016x}"))
    }
}

impl PyEpisodes {
    fn lock(&self) -> std::sync::MutexGuard<'_, Episodes> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The arrays as bytes, which numpy takes as they are.
fn arrays<'py>(py: Python<'py>, s: Stepped) -> PyResult<Arrays<'py>> {
    let bytes = |values: &[f64]| {
        PyBytes::new_with(py, values.len() * 8, |to| {
            let (eights, _) = to.as_chunks_mut::<8>();
            eights.iter_mut().zip(values).for_each(|(to, x)| *to = x.to_ne_bytes());
            Ok(())
        })
    };
    Ok((bytes(&s.seen)?, bytes(&s.goodput)?, bytes(&s.delay)?, bytes(&s.time)?))
}
