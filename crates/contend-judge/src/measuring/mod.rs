//! From runs to measured values: metrics, the analysis of captures and traces, and which details of each run are kept.

pub mod analyse;
pub mod detail;
pub mod metric;
