//! From an experiment to answers: its runs ([`running`]), what is measured of them ([`measuring`]), the verdicts on its
//! claims ([`judging`]), and all three for a whole experiment ([`execute`]).
//!
//! No thread, no clock and no file: [`execute::Workshop`] has what a machine gives.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod execute;
pub mod judging;
pub mod measuring;
pub mod running;
