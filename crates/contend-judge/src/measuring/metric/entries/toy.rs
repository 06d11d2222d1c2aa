//! Metrics that only the tests have: what is written here is all that a new metric needs. The second is that of the
//! recipe in CONTRIBUTING.md.

use super::flow::flow;
use super::queue::queue;
use crate::measuring::metric::entry::MetricEntry;
use contend_experiment::reading::expression::Dimension;

pub(super) const METRICS: &[MetricEntry] = &[
    flow("toy", Dimension::Packets, "packets that were sent once", |a| {
        Ok(a.flows().map(|f| f.sent.saturating_sub(f.retransmitted) as f64).sum())
    })
    .reported(&["toy.up"]),
    queue("undropped", Dimension::Packets, "packets offered that were not dropped", |a| {
        Ok(a.queue_total(|q| q.offered) - a.queue_total(|q| q.drops.total))
    }),
];
