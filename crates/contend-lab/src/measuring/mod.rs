//! From runs to figures: metrics, the analysis of captures and traces, and how much of each run is kept for them.

pub mod analyse;
pub mod detail;
pub mod metric;
