//! Compares runs with runs: differences of metrics, paired by sweep point and seed.
//!
//! Two runs with the same seed draw the same random numbers for the same flows and stations. Their difference therefore
//! varies less from seed to seed than the runs do. The mean difference has a 95 % Student interval over the pairs.
//!
//! On lossy channels most of what is left is luck: how many packets the channel took beyond its probabilities. That
//! number has the mean 0, so it can be a control variate.

use crate::measuring::metric::{Expr, Unmeasured};
use contend_core::Refusal;
use contend_experiment::results::{PointKey, Run, distinct};
use contend_experiment::stats::{self, Estimate, Range, Reading};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is compared, and the differences.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of contend.
    pub version: &'static str,
    /// The first side: a file, a results folder, or a sweep point.
    pub a: String,
    /// The second side; `null` if points of one sweep are compared with the first of them.
    pub b: Option<String>,
    /// One entry for each pair of points and each metric.
    pub differences: Vec<Difference>,
}

/// The difference of one metric between two points.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The point of the second side.
    pub point: PointKey,
    /// The metric.
    pub metric: String,
    /// Number of pairs: seeds for which both sides have a value.
    pub n: usize,
    /// Number of seeds for which only one side has a value; they are left out. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpaired: usize,
    /// Mean of the first side over the pairs, in base units; `null` without pairs.
    pub a: Option<f64>,
    /// Mean of the second side over the pairs.
    pub b: Option<f64>,
    /// Mean of second minus first.
    pub difference: Option<f64>,
    /// Half width of the 95 % interval of the difference; `null` with fewer than two pairs.
    pub ci95: Option<f64>,
    /// The difference as a share of the first side; `null` if the first side is 0.
    pub relative: Option<f64>,
    /// With control variates: how many times as many pairs would be needed without them for this interval. Absent
    /// without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
    /// Why there is no pair; `null` if there is one.
    pub missing: Option<String>,
    /// True if the runs of each pair have the same digest: what differs between A and B had no effect in any of them.
    /// Absent if not.
    #[serde(skip_serializing_if = "is_false")]
    pub no_effect: bool,
}

fn is_false(b: &bool) -> bool {
    !b
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Difference {
    /// The interval of the difference; `None` with fewer than two pairs.
    pub fn estimate(&self) -> Option<Estimate> {
        let mean = self.difference?;
        let interval = self.ci95.map(|half| (mean - half, mean + half));
        Some(Estimate { n: self.n, mean, ci95: self.ci95, interval, by_resolution: false })
    }

    /// What the interval says.
    pub fn answer(&self) -> &'static str {
        match (self.difference, self.ci95) {
            _ if self.no_effect => "the same runs",
            (None, _) => "no pair",
            (Some(_), None) => "one pair: no interval",
            (Some(d), Some(half)) if d - half > 0.0 => "more",
            (Some(d), Some(half)) if d + half < 0.0 => "less",
            _ => "no difference shown",
        }
    }
}

/// The pairs of points of two sets of runs: the points that both have, or the only points of both.
///
/// # Errors
/// When the two have several points and none in common.
pub fn pairs<'a>(a: &'a [Run], b: &'a [Run]) -> Result<Vec<[&'a PointKey; 2]>, Refusal> {
    let (of_a, of_b) = (points(a), points(b));
    let common: Vec<[&PointKey; 2]> = of_b.iter().filter_map(|q| Some([*of_a.iter().find(|p| *p == q)?, *q])).collect();
    match (common.is_empty(), of_a.as_slice(), of_b.as_slice()) {
        (false, ..) => Ok(common),
        (true, [p], [q]) => Ok(vec![[*p, *q]]),
        _ => Err(Refusal::new("the two have no sweep point in common", "compare results with the same [sweep]")),
    }
}

/// The sweep points of `runs`, in the order of the runs.
pub fn points(runs: &[Run]) -> Vec<&PointKey> {
    distinct(runs.iter().map(|r| &r.point))
}

/// The metric that is the control variate of both sides.
pub const CONTROL: &str = "excess_losses";

/// The differences of `metrics` between the points of `pairs`: runs of `b` minus runs of `a`, by seed. With `control`,
/// [`CONTROL`] of both sides explains a part of their deviations.
pub fn differences(
    a: &[Run],
    b: &[Run],
    pairs: &[[&PointKey; 2]],
    metrics: &[String],
    control: bool,
) -> Vec<Difference> {
    let one = |[p, q]: &[&PointKey; 2], metric: &String| difference((a, p), (b, q), metric, control);
    pairs.iter().flat_map(|pair| metrics.iter().map(move |metric| one(pair, metric))).collect()
}

fn difference((a, p): (&[Run], &PointKey), (b, q): (&[Run], &PointKey), metric: &str, control: bool) -> Difference {
    let (first, why_a) = values(a, p, metric);
    let (second, why_b) = values(b, q, metric);
    let seeds: Vec<u64> = second.keys().filter(|seed| first.contains_key(seed)).copied().collect();
    let pairs: Vec<(Reading, Reading)> = seeds.iter().map(|seed| (first[seed], second[seed])).collect();
    let all = |of: fn(&(Reading, Reading)) -> f64| stats::mean(&pairs.iter().map(of).collect::<Vec<_>>());
    let minus: Vec<Reading> = pairs.iter().map(|(x, y)| y.minus(*x)).collect();
    let controls: Vec<Vec<f64>> = if control {
        [(a, p), (b, q)].iter().filter_map(|(runs, at)| excess(runs, at, &seeds)).collect()
    } else {
        vec![]
    };
    let controlled = stats::controlled(&minus, &controls);
    let estimate = controlled.map(|c| c.estimate).or_else(|| Estimate::of_readings(&minus, Range::ALL));
    let mean_a = all(|(x, _)| x.value);
    let missing = || why_a.or(why_b).unwrap_or_else(|| "no seed is on both sides".to_owned());
    Difference {
        point: q.clone(),
        metric: metric.to_owned(),
        n: pairs.len(),
        unpaired: first.len() + second.len() - 2 * pairs.len(),
        a: mean_a,
        b: all(|(_, y)| y.value),
        difference: estimate.map(|e| e.mean),
        ci95: estimate.and_then(|e| e.ci95),
        relative: estimate.zip(mean_a).filter(|(_, a)| *a != 0.0).map(|(e, a)| e.mean / a.abs()),
        worth: controlled.map(|c| c.worth),
        missing: pairs.is_empty().then(missing),
        no_effect: same_runs((a, p), (b, q)),
    }
}

/// [`CONTROL`] of the runs with these seeds; `None` if one has none.
fn excess(runs: &[Run], point: &PointKey, seeds: &[u64]) -> Option<Vec<f64>> {
    let (all, _) = values(runs, point, CONTROL);
    seeds.iter().map(|seed| all.get(seed).map(|r| r.value)).collect()
}

/// True if both points have runs with the same seeds, and each pair has the same digest.
fn same_runs((a, p): (&[Run], &PointKey), (b, q): (&[Run], &PointKey)) -> bool {
    let digests = |runs: &[Run], point: &PointKey| -> BTreeMap<u64, String> {
        runs.iter().filter(|r| r.point == *point && r.events > 0).map(|r| (r.seed, r.digest.clone())).collect()
    };
    let (first, second) = (digests(a, p), digests(b, q));
    let mut pairs = second.iter().filter_map(|(seed, digest)| Some(first.get(seed)? == digest)).peekable();
    pairs.peek().is_some() && pairs.all(|same| same)
}

/// The values of `metric` at `point` by seed, and why one is missing. Numbers that runs report are taken as they are:
/// results that were read from a folder have no series and no histograms.
fn values(runs: &[Run], point: &PointKey, metric: &str) -> (BTreeMap<u64, Reading>, Option<String>) {
    let (mut all, mut missing) = (BTreeMap::new(), None);
    for run in runs.iter().filter(|r| r.point == *point) {
        let read = |e: Expr| e.reading(run);
        let value = match run.metrics.get(metric) {
            Some(x) => Ok(Expr::parse_any(metric).unwrap_or(Expr::Absent).noted(*x)),
            None => Expr::of_show(metric).map_err(|e| Unmeasured::wrong(e.message)).and_then(read),
        };
        match value {
            Ok(x) => {
                all.insert(run.seed, x);
            }
            Err(why) => missing = Some(why.to_string()),
        }
    }
    (all, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: u32, seed: u64, jain: f64) -> Run {
        let point = PointKey::from([("k".to_owned(), at.into())]);
        Run { seed, ..Run::of_model(&point, [("jain".to_owned(), jain)].into(), BTreeMap::new()) }
    }

    #[test]
    fn differences_are_of_pairs_with_the_same_seed() {
        // The seeds differ by much, the sides by little: unpaired, the interval would be 40 times as wide.
        let a: Vec<Run> = [(1, 0.2), (2, 0.5), (3, 0.8), (9, 0.1)].map(|(s, x)| run(1, s, x)).into();
        let b: Vec<Run> = [(1, 0.21), (2, 0.52), (3, 0.83), (7, 0.9)].map(|(s, x)| run(1, s, x)).into();
        let pairs = pairs(&a, &b).unwrap();
        let all = differences(&a, &b, &pairs, &["jain".to_owned(), "jain.up".to_owned()], false);
        let d = &all[0];
        assert_eq!((d.n, d.unpaired, d.answer()), (3, 2, "no difference shown"));
        assert!((d.difference.unwrap() - 0.02).abs() < 1e-12 && (d.relative.unwrap() - 0.04).abs() < 1e-12);
        // s = 0.01, t(0.975, 2) = 4.3027, over sqrt(3).
        assert!((d.ci95.unwrap() - 0.01 * 4.3027 / 3.0_f64.sqrt()).abs() < 1e-5);
        assert_eq!((all[1].n, all[1].answer(), all[1].missing.is_some()), (0, "no pair", true));
    }

    #[test]
    fn points_are_paired_by_their_values_or_because_they_are_alone() {
        let (a, b) = ([run(1, 1, 0.5), run(2, 1, 0.5)], [run(2, 1, 0.6), run(3, 1, 0.6)]);
        let of = |p: &PointKey| p["k"].as_u64().unwrap();
        let paired = |a: &[Run], b: &[Run]| {
            pairs(a, b).map(|all| all.into_iter().map(|[p, q]| (of(p), of(q))).collect::<Vec<_>>())
        };
        assert_eq!(paired(&a, &b), Ok(vec![(2, 2)]));
        assert_eq!(paired(&a[..1], &b[..1]), Ok(vec![(1, 2)]));
        assert!(paired(&a, &b[1..]).is_err());
    }
}
