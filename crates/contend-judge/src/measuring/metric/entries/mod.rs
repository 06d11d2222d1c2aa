//! All metrics: one file for each subject, one entry for each metric.

mod air;
mod estimate;
pub(crate) mod fingerprint;
mod flow;
mod observed;
pub(super) mod queue;
pub(super) mod success;
mod tcp;
#[cfg(test)]
mod toy;

use super::entry::MetricEntry;

pub(super) use flow::FLOWS;

/// The metrics of each file.
pub(super) const ALL: &[&[MetricEntry]] = &[
    flow::METRICS,
    tcp::METRICS,
    estimate::METRICS,
    queue::METRICS,
    air::METRICS,
    observed::METRICS,
    success::METRICS,
    fingerprint::METRICS,
    #[cfg(test)]
    toy::METRICS,
];

/// All metrics, grouped by subject.
pub fn metrics() -> impl Iterator<Item = &'static MetricEntry> + Clone {
    ALL.iter().copied().flatten()
}

/// The metric with the name `name`.
pub fn metric(name: &str) -> Option<&'static MetricEntry> {
    metrics().find(|m| m.name == name)
}
