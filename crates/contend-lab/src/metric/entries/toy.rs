//! A metric that only the tests have: what is written here is all that a new metric needs.

use super::flow::flow;
use crate::expression::Dimension;
use crate::metric::entry::MetricEntry;

pub(super) const METRICS: &[MetricEntry] = &[flow("toy", Dimension::Packets, "packets that were sent once", |a| {
    Ok(a.flows().map(|f| f.sent.saturating_sub(f.retransmitted) as f64).sum())
})
.reported(&[("toy.uploads", "toy.up")])];
