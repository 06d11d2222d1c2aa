//! An engine in real time makes runs again that are not faithful.

use super::lab::{SMALL, digests, execute as simulate};
use contend_core::{Refusal, Time};
use contend_lab::execute::{self, Options};
use contend_lab::experiment::results::{Emulation, Outcome};
use contend_lab::reading::file;
use contend_lab::running::network::{Advanced, Beginning, Driver, Engine, Simulated};
use contend_sim::net::Net;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The simulator, which says that the first runs were late.
struct Late {
    runs: AtomicU32,
    late: u32,
    attempts: u32,
}

impl Engine for Late {
    fn begin(&self, run: &Beginning<'_>) -> Result<(Net, Box<dyn Driver>), Refusal> {
        let (net, inner) = Simulated.begin(run)?;
        let is_late = self.runs.fetch_add(1, Ordering::Relaxed) < self.late;
        Ok((net, Box::new(Said { inner, late: if is_late { "late".to_owned() } else { String::new() } })))
    }
    fn attempts(&self) -> u32 {
        self.attempts
    }
}

struct Said {
    inner: Box<dyn Driver>,
    late: String,
}

impl Driver for Said {
    fn advance(&mut self, net: &mut Net, to: Time, stop: &AtomicBool) -> Result<Advanced, Refusal> {
        self.inner.advance(net, to, stop)
    }
    fn finish(&mut self, _: &mut Net) -> Result<Option<Emulation>, Refusal> {
        Ok(Some(Emulation { late: self.late.clone(), ..Emulation::default() }))
    }
}

/// The two seeds of [`SMALL`]; how often networks were made.
fn outcome(late: u32, attempts: u32) -> (Outcome, u32) {
    let engine = Late { runs: AtomicU32::new(0), late, attempts };
    let e = file::parse("t.toml", SMALL, &[]).unwrap();
    let done = execute::execute(&e, &Options { jobs: 1, engine: &engine, ..Options::default() }).unwrap();
    (done.outcome, engine.runs.into_inner())
}

fn said(outcome: &Outcome) -> Vec<(u32, &str)> {
    let emulations = outcome.runs.iter().filter_map(|run| run.emulation.as_ref());
    emulations.map(|e| (e.attempts, e.late.as_str())).collect()
}

#[test]
fn a_run_that_is_late_is_made_again_until_it_is_faithful() {
    let (outcome, made) = outcome(2, 3);
    assert_eq!((said(&outcome), made), (vec![(3, ""), (1, "")], 4));
    assert_eq!(digests(&outcome), digests(&simulate(SMALL)));
}

#[test]
fn the_last_attempt_counts_although_it_is_late() {
    let (outcome, made) = outcome(4, 3);
    assert_eq!((said(&outcome), made), (vec![(3, "late"), (2, "")], 5));
}

#[test]
fn without_attempts_a_late_run_stays() {
    let (outcome, made) = outcome(1, 1);
    assert_eq!((said(&outcome), made), (vec![(1, "late"), (1, "")], 2));
}
