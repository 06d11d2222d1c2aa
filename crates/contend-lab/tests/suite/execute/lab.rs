//! Experiments as texts, and calls of the lab with them.

use contend_core::Time;
use contend_lab::execute::{self, Options};
use contend_lab::experiment::results::Executed;
use contend_lab::experiment::results::{Outcome, Run};
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::reading::expression::quantity;
use contend_lab::reading::file::{self, Experiment};
use std::sync::atomic::{AtomicBool, Ordering};

/// Two downloads and an upload in a cell, for three seconds.
pub(crate) const SMALL: &str = include_str!("../../small.toml");

/// One wire called `w`, and no flow.
pub(crate) const WIRE: &str = r#"duration = "20s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "w"
from = "a"
to = "b"
rate = "100Mbps"
delay = "1ms"
queue = { kind = "fifo", limit = "100p" }
"#;

/// [`WIRE`] with a flow of these keys, keys above it, and tables below it.
pub(crate) fn wire(top: &str, flow: &str, tables: &str) -> String {
    format!("{top}\n{WIRE}[[flow]]\nfrom = \"a\"\nto = \"b\"\n{flow}\n{tables}")
}

/// An experiment to execute, and how.
pub(crate) struct Call {
    text: String,
    sets: Vec<(String, String)>,
    jobs: usize,
    detail: bool,
    capture: Option<CaptureWindow>,
    stop_after: usize,
}

impl Call {
    pub(crate) fn new(text: &str) -> Call {
        Call { text: text.into(), sets: vec![], jobs: 2, detail: false, capture: None, stop_after: usize::MAX }
    }
    pub(crate) fn set(mut self, key: &str, value: &str) -> Call {
        self.sets.push((key.into(), value.into()));
        self
    }
    pub(crate) fn jobs(self, jobs: usize) -> Call {
        Call { jobs, ..self }
    }
    /// Keeps the details that a results folder needs.
    pub(crate) fn detail(self) -> Call {
        Call { detail: true, ..self }
    }
    pub(crate) fn capture(self, from: &str, to: &str) -> Call {
        let at = |t| Time::ZERO + quantity::span(t).unwrap();
        Call { capture: Some(CaptureWindow { from: at(from), to: at(to), limit: 100_000 }), ..self }
    }
    /// Captures at most this many frames.
    pub(crate) fn frames(mut self, limit: usize) -> Call {
        self.capture.iter_mut().for_each(|c| c.limit = limit);
        self
    }
    /// Stops when this many runs are finished.
    pub(crate) fn stop_after(self, runs: usize) -> Call {
        Call { stop_after: runs, ..self }
    }
    pub(crate) fn experiment(&self) -> Experiment {
        file::parse("t.toml", &self.text, &self.sets).unwrap_or_else(|e| panic!("{}", e.render(false)))
    }
    pub(crate) fn execute(&self) -> Executed {
        let stop = AtomicBool::new(false);
        let progress = |done: usize, _| {
            if done >= self.stop_after {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let options = Options {
            jobs: self.jobs,
            series: self.detail,
            capture: self.capture,
            stop: &stop,
            progress: &progress,
            ..Options::default()
        };
        execute::execute(&self.experiment(), &options).unwrap_or_else(|e| panic!("{e}"))
    }
    /// The outcome of all runs.
    pub(crate) fn outcome(&self) -> Outcome {
        let executed = self.execute();
        assert_eq!((executed.outcome.interrupted, executed.notes), (None, vec![]));
        executed.outcome
    }
}

/// The outcome of `text`. Only the details that a claim needs are kept.
pub(crate) fn execute(text: &str) -> Outcome {
    Call::new(text).outcome()
}

pub(crate) fn digests(o: &Outcome) -> Vec<&str> {
    o.runs.iter().map(|r| r.digest.as_str()).collect()
}

/// A named metric of a run.
pub(crate) fn mean(r: &Run, metric: &str) -> f64 {
    r.metrics[metric]
}
