//! From figures to answers: verdicts on claims, and thresholds found by search.

pub mod claim;
pub mod search;
