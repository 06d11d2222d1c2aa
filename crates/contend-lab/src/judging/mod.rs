//! From measured values to answers: verdicts on claims, and thresholds found by search.

pub mod claim;
pub mod compare;
pub(crate) mod phase;
pub mod search;
