//! What an experiment is, how much is measured of it, what it yields ([`results`]), and how it is read ([`reading`]).
//!
//! No thread, no clock and no file: who calls brings texts and the files that they name.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod echo;
pub mod judged;
pub mod map;
pub mod names;
pub mod point;
pub mod reading;
pub mod results;
pub mod size;
pub mod stats;
pub mod swept;

pub use names::nearest;
