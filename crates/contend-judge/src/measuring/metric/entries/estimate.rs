//! Metrics of the estimators that watch a flow.

use super::flow::flow;
use crate::measuring::metric::entry::{Asked, Aspects, MetricEntry, Period};
use crate::measuring::metric::{Aspect, Unmeasured};
use contend_core::Refusal;
use contend_experiment::reading::expression::{Dimension, NumberFunction};
use contend_experiment::stats;

pub(super) const METRICS: &[MetricEntry] = &[flow(
    "estimate",
    Dimension::Rate,
    "rate that an estimator of the flow reports, by the estimator's name: `estimate.are`, mean over time; with `.min`, \
        `.max` or `.std`: of its samples",
    estimate,
)
.over(Period::Series)
.aspects(Aspects::NamedSeries("an estimator"))
.example("estimate.are[f]` or `estimate.are.max[f][14s..16s]")
.level()];

/// The estimate of each flow in the window. For several flows it is the mean; with `.min` or `.max` it is the smallest
/// or largest.
fn estimate(a: &Asked<'_>) -> Result<f64, Unmeasured> {
    let Aspect::Named(name, made) = &a.metric.aspect else {
        return Err(Unmeasured::wrong(format!("`{}` needs the name of an estimator", a.metric)));
    };
    let (m, run) = (a.metric, a.run);
    let range = a.series()?;
    let mut values = vec![];
    for i in a.members {
        let of_flow = || run.detail.series.estimates.iter().filter(|e| e.flow == *i);
        let Some(e) = of_flow().find(|e| e.name == *name) else {
            let flow = run.flows.get(*i).map_or("", |f| f.name.as_str());
            let others: Vec<&str> = of_flow().map(|e| e.name.as_str()).collect();
            let instead = match others.as_slice() {
                [] => String::new(),
                others => format!(", or name one of its estimators: {}", others.join(", ")),
            };
            return Err(Unmeasured::wrong(Refusal::new(
                format!("`{m}`: flow `{flow}` has no estimator `{name}`"),
                format!("write estimate = [\"{name}\"] in its [[flow]]{instead}"),
            )));
        };
        let of = |k: usize| e.rate_bps.get(k).map(|r| *r as f64);
        let samples = || (range.first..=range.last).map(of).collect::<Option<Vec<f64>>>();
        let value = match made {
            None => range.mean(&run.detail.series.time_s, of),
            Some(made) => samples().and_then(|s| (made.of)(&s)),
        };
        values.push(value.ok_or_else(|| a.unsampled())?);
    }
    together(*made, &values).ok_or_else(|| a.undefined("there is no such flow"))
}

/// One value of several members: the smallest or largest with `.min` or `.max`, otherwise the mean.
pub(super) fn together(made: Option<&NumberFunction>, values: &[f64]) -> Option<f64> {
    match made {
        Some(made) if ["min", "max"].contains(&made.name) => (made.of)(values),
        _ => stats::mean(values),
    }
}
