//! Results on disk and on the terminal: tables, files, reports, the results folder, and the journal.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod disk;
pub mod folder;
pub mod formula;
pub mod journal;
pub mod output;
pub mod validation;

#[cfg(test)]
#[allow(dead_code, reason = "the tests of this crate use a part")]
#[path = "../../contend-judge/src/measuring/metric/synthetic.rs"]
mod synthetic;
