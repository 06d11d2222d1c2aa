//! From measured values to answers: verdicts on claims, answers to checks, and thresholds found by search.

pub(crate) mod bottleneck;
pub mod check;
pub mod claim;
pub mod compare;
pub(crate) mod few_seeds;
pub(crate) mod fit;
pub(crate) mod no_effect;
pub mod note;
pub(crate) mod phase;
pub mod search;
pub mod stopping;
pub(crate) mod unfinished;
