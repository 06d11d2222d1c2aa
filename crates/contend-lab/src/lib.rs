//! From an experiment file to runs, statistics, claims and reports.
//!
//! The front door: what the command, Python, the live page and the emulator use. It opens files ([`opening`]) and
//! spreads runs over cores ([`execute`]). The rooms behind it are crates: [`experiment`] with [`reading`]; [`running`],
//! [`measuring`], [`judging`]; [`writing`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod built;
pub mod evaluate;
pub mod execute;
pub mod folder;
pub mod opening;

pub mod pictures;
pub mod reading;
pub mod reproduce;
pub mod suites;

pub use contend_experiment as experiment;
pub use contend_experiment::{echo, nearest, stats};
pub use contend_judge::{judging, measuring, running};
pub use contend_report as writing;
