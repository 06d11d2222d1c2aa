//! From an experiment file to runs, statistics, claims and reports.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod analyse;
pub mod claim;
mod contention;
pub mod detail;
pub mod disk;
pub mod echo;
mod error;
pub mod execute;
pub mod expression;
pub mod file;
pub mod folder;
pub mod journal;
pub mod metric;
pub mod model;
mod names;
pub mod output;
pub mod results;
pub mod run;
pub mod search;
mod size;
pub mod stats;

pub use names::nearest;
