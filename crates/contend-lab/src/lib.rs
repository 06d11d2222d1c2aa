//! From an experiment file to runs, statistics, claims and reports.
//!
//! The folders are layers; each depends only on those before it: [`experiment`] (plain types), [`reading`],
//! [`running`], [`measuring`], [`judging`], [`writing`]. [`opening`], [`execute`] and [`reproduce`] may use all of
//! them.
//! `ci/layers.py` checks the order.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod echo;
mod names;
pub mod stats;

pub mod execute;
pub mod experiment;
pub mod judging;
pub mod measuring;
pub mod opening;
pub mod reading;
pub mod reproduce;
pub mod running;
pub mod writing;

pub use names::nearest;
