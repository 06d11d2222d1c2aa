//! Runs the text of an experiment file.

use super::balance;
use contend_core::Time;
use contend_lab::execute::{Options, execute};
use contend_lab::experiment::results::Outcome;
use contend_lab::experiment::size::CaptureWindow;
use contend_lab::reading::file;

/// What comes of `text` with `sets` laid over it, `jobs` runs at the same time; 0 for one on each core.
pub(crate) fn outcome(name: &str, text: &str, sets: &[(String, String)], jobs: usize) -> Outcome {
    execute_with(name, text, sets, jobs, None)
}

/// What comes of `text`, whose one run keeps its frames.
pub(crate) fn with_frames(name: &str, text: &str) -> Outcome {
    let all = CaptureWindow { from: Time::ZERO, to: Time::NEVER, limit: 1_000_000 };
    let outcome = execute_with(name, text, &[], 1, Some(all));
    assert!(outcome.runs.iter().all(|r| r.frames_missed == 0), "{name} has more frames");
    outcome
}

fn execute_with(
    name: &str,
    text: &str,
    sets: &[(String, String)],
    jobs: usize,
    capture: Option<CaptureWindow>,
) -> Outcome {
    let e = file::parse(name, text, sets).unwrap_or_else(|e| panic!("{name}: {}\n{text}", e.render(false)));
    let options = Options { jobs, capture, ..Options::default() };
    let executed = execute(&e, &options).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    assert_eq!(executed.outcome.interrupted, None, "{name}");
    balance::holds(name, &executed.outcome);
    executed.outcome
}
