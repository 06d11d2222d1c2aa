//! Claims: which runs they need, and what the runs say about them.
//!
//! A claim is judged at each point that its `when` names. Every run there yields one number: the metric, or with `over`
//! its ratio to (with `less` its difference from) the same metric of the run with the same seed at the overlaid point.
//! The mean over seeds and its 95 % Student interval then stand inside the expected range, outside it, or across its
//! bound; with a single seed there is no interval and the value alone decides. The interval of a percentile is no
//! narrower than the histogram's bucket that it was read from. `each` says how the points are taken together.
//!
//! | expected | holds when | fails when | measured |
//! | --- | --- | --- | --- |
//! | `between`, `at_least`, `at_most`, `near` | the interval is inside | the interval is outside | the point nearest to failing (with `any`: to holding) |
//! | `increasing`, `decreasing` | the last value differs from the first the right way, and every step goes the right way or is flat | one does not | last minus first |
//! | `order` | every step falls | one does not | the smallest lead |
//!
//! Steps are differences paired by seed. A step is flat when its whole interval is within [`FLAT`] of the range that
//! the means cover: a curve that has reached its floor still counts as falling. Where neither column is certain the
//! verdict is `undecided`: more seeds.

mod check;
mod sequence;
#[cfg(test)]
mod tests;

use crate::experiment::results::{ClaimResult, PointKey, Run, Summary};
use crate::measuring::metric::{Expr, Unmeasured};
use crate::reading::expression::{Dimension, Quantity};
use crate::reading::file::need::{meant, readings, same_value};
use crate::reading::file::{Claim, Each, Expect, Experiment, FileError, Overlay, Source, Verdict};
use crate::stats::{Estimate, Range, Reading};
use serde_json::Value;
use std::collections::BTreeMap;

pub use crate::reading::file::{Need, needs};
pub use check::check;
pub use sequence::FLAT;

/// A claim, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// One result; with readings one for each of them, in the file's order.
    pub results: Vec<ClaimResult>,
    /// What could not be measured, where and why.
    pub notes: Vec<String>,
}

/// Judges one claim of `e` by its runs: `runs` gives those of a need, of every seed, in any order; an empty list when
/// there are none.
///
/// # Errors
/// When the metric does not fit the runs, for example names a flow that is not there.
pub fn judge<'a>(e: &Experiment, claim: &Claim, runs: &dyn Fn(&Need) -> Vec<&'a Run>) -> Result<Judged, FileError> {
    judged(&e.source, &e.points, claim, runs)
}

fn judged<'a>(
    source: &Source,
    points: &[PointKey],
    claim: &Claim,
    runs: &dyn Fn(&Need) -> Vec<&'a Run>,
) -> Result<Judged, FileError> {
    let metric = check::sound(source, claim)?;
    if let Err(no) = check::applies(points, claim) {
        return match source.sets.is_empty() {
            true => {
                Err(FileError::new(source, &claim.metric_site, format!("claim {}: {}", claim.id, no.message), no.help))
            }
            // The settings of the command line took its points away.
            false => Ok(Judged { results: vec![], notes: vec![format!("{} is not judged: {}", claim.id, no.message)] }),
        };
    }
    let mut notes = vec![];
    let mut results = vec![];
    for (name, reading) in readings(claim) {
        let mut court = Court { source, points, claim, metric: &metric, reading: &reading, runs, notes: vec![] };
        let (standing, measured, points) = court.hear()?;
        notes.extend(court.notes.into_iter().map(|n| format!("{}: {n}", claim.id)));
        results.push(ClaimResult {
            id: claim.id.clone(),
            paper: claim.paper.clone(),
            expected: expected(claim),
            measured: measured.map(|m| m.mean),
            ci95: measured.and_then(|m| m.ci95),
            interval: measured.and_then(|m| m.interval),
            verdict: standing.verdict().name().to_owned(),
            recorded: claim.verdict.name().to_owned(),
            as_recorded: standing.verdict() == claim.verdict,
            reason: claim.reason.clone(),
            reading: name,
            points,
        });
    }
    settle(claim, &mut results);
    Ok(Judged { results, notes })
}

/// Where the readings disagree and the file says that the paper does, the verdict of each is that there is a
/// contradiction.
fn settle(claim: &Claim, results: &mut [ClaimResult]) {
    let reproduced = |r: &ClaimResult| r.verdict == Verdict::Reproduced.name();
    let failed = |r: &ClaimResult| r.verdict == Verdict::NotReproduced.name();
    if claim.verdict == Verdict::Contradiction
        && results.iter().any(reproduced)
        && results.iter().any(failed)
        && results.iter().all(|r| reproduced(r) || failed(r))
    {
        for r in results {
            Verdict::Contradiction.name().clone_into(&mut r.verdict);
            r.as_recorded = true;
        }
    }
}

/// How a measurement stands to what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Inside,
    Outside,
    /// The interval crosses the bound, or there is no measurement.
    Unclear,
}

impl Standing {
    fn verdict(self) -> Verdict {
        match self {
            Standing::Inside => Verdict::Reproduced,
            Standing::Outside => Verdict::NotReproduced,
            Standing::Unclear => Verdict::Undecided,
        }
    }

    /// Of several, which must all hold or of which one must.
    fn together(each: Each, all: &[Standing]) -> Standing {
        let (settles, otherwise) = match each {
            Each::Any => (Standing::Inside, Standing::Outside),
            _ => (Standing::Outside, Standing::Inside),
        };
        if all.is_empty() {
            Standing::Unclear
        } else if all.contains(&settles) {
            settles
        } else if all.contains(&Standing::Unclear) {
            Standing::Unclear
        } else {
            otherwise
        }
    }
}

/// One number for each seed.
type Samples = BTreeMap<u64, Reading>;

/// The estimate of a number that has values in `range`.
fn estimate(s: &Samples, range: Range) -> Option<Estimate> {
    Estimate::of_readings(&s.values().copied().collect::<Vec<_>>(), range)
}

/// Seed by seed, the mean of several; only seeds that all have.
fn mean_of(all: &[&Samples]) -> Samples {
    let Some((first, others)) = all.split_first() else { return Samples::new() };
    let of = |seed: &u64| {
        let mut values = vec![*first.get(seed)?];
        for s in others {
            values.push(*s.get(seed)?);
        }
        Some((*seed, Reading::mean(&values)?))
    };
    first.keys().filter_map(of).collect()
}

/// One reading of a claim and its evidence.
struct Court<'c, 'a> {
    source: &'c Source,
    points: &'c [PointKey],
    claim: &'c Claim,
    metric: &'c Expr,
    reading: &'c Overlay,
    runs: &'c dyn Fn(&Need) -> Vec<&'a Run>,
    notes: Vec<String>,
}

type Finding = (Standing, Option<Estimate>, Vec<Summary>);

impl Court<'_, '_> {
    fn hear(&mut self) -> Result<Finding, FileError> {
        let mut evidence = vec![];
        for point in meant(self.claim, self.points) {
            evidence.push((point, self.samples(point)?));
        }
        let name = match self.claim.other() {
            Some(other) => {
                let word = if self.claim.over.is_some() { "over" } else { "less" };
                let settings =
                    other.settings().iter().map(|(k, v)| format!("{k} = {v}")).collect::<Vec<_>>().join(", ");
                format!("{} {word} {settings}", self.claim.metric)
            }
            None => self.claim.metric.clone(),
        };
        let range = self.range();
        let summaries = evidence
            .iter()
            .filter_map(|(point, s)| Some(Summary::new((*point).clone(), name.clone(), estimate(s, range)?)));
        let summaries = summaries.collect();
        let (standing, measured) = match bounds(&self.claim.expect) {
            Some(range) => self.within(range, &evidence),
            None => sequence::judge(self.claim, &evidence),
        };
        Ok((standing, measured, summaries))
    }

    /// The values that the claim's number can have.
    fn range(&self) -> Range {
        let of_one = self.metric.range();
        match self.claim.other() {
            None => of_one,
            Some(_) if self.claim.less.is_some() => of_one.minus(of_one),
            Some(_) => of_one.over(of_one),
        }
    }

    /// The claim's number at `point` for each seed; empty, with a note, when it cannot be measured in one of the runs.
    fn samples(&mut self, point: &PointKey) -> Result<Samples, FileError> {
        let above = self.values(point, self.reading)?;
        let Some(other) = self.claim.other() else { return Ok(above) };
        let below = self.values(point, &self.reading.then(other))?;
        if self.claim.less.is_some() {
            return Ok(above.iter().filter_map(|(seed, x)| Some((*seed, x.minus(*below.get(seed)?)))).collect());
        }
        let mut ratios = Samples::new();
        for (seed, x) in &above {
            let Some(y) = below.get(seed) else { continue };
            let Some(ratio) = x.over(*y) else {
                self.notes.push(format!("the divisor is 0 at {}, seed {seed}", place(point)));
                return Ok(Samples::new());
            };
            ratios.insert(*seed, ratio);
        }
        Ok(ratios)
    }

    fn values(&mut self, point: &PointKey, overlay: &Overlay) -> Result<Samples, FileError> {
        let need = Need::of(self.points, point, overlay);
        let runs = (self.runs)(&need);
        if runs.is_empty() {
            self.notes.push(format!("there is no run at {}", place(point)));
        }
        let mut all = Samples::new();
        for run in runs {
            match self.metric.reading(run) {
                Ok(x) => {
                    all.insert(run.seed, x);
                }
                Err(Unmeasured::Undefined(why)) => {
                    self.notes.push(format!("{why}, at {}, seed {}", place(point), run.seed));
                    return Ok(Samples::new());
                }
                Err(Unmeasured::Wrong(why)) => {
                    return Err(FileError::new(
                        self.source,
                        &self.claim.metric_site,
                        format!("claim {}: {why}", self.claim.id),
                        format!("this is so at {}, seed {}", place(point), run.seed),
                    ));
                }
            }
        }
        Ok(all)
    }

    fn within(&self, (low, high): (f64, f64), evidence: &[(&PointKey, Samples)]) -> (Standing, Option<Estimate>) {
        let stand = |m: &Option<Estimate>| match m {
            None => Standing::Unclear,
            Some(m) => {
                let (a, b) = m.ends();
                if a >= low && b <= high {
                    Standing::Inside
                } else if b < low || a > high {
                    Standing::Outside
                } else {
                    Standing::Unclear
                }
            }
        };
        if self.claim.each == Each::Mean {
            let all: Vec<&Samples> = evidence.iter().map(|(_, s)| s).collect();
            let m = estimate(&mean_of(&all), self.range());
            return (stand(&m), m);
        }
        let estimates: Vec<Option<Estimate>> = evidence.iter().map(|(_, s)| estimate(s, self.range())).collect();
        let standing = Standing::together(self.claim.each, &estimates.iter().map(stand).collect::<Vec<_>>());
        // The distance to the nearest bound, negative outside; the point that decides has the least, or with `any` the
        // most.
        let margin = |m: &Estimate| (m.mean - low).min(high - m.mean);
        let sign = if self.claim.each == Each::Any { -1.0 } else { 1.0 };
        let measured = estimates.into_iter().flatten().min_by(|a, b| (sign * margin(a)).total_cmp(&(sign * margin(b))));
        (standing, measured)
    }
}

/// The closed interval expected; `None` for an expectation about a sequence.
fn bounds(expect: &Expect) -> Option<(f64, f64)> {
    match expect {
        Expect::Between(a, b) => Some((a.value, b.value)),
        Expect::AtLeast(a) => Some((a.value, f64::INFINITY)),
        Expect::AtMost(b) => Some((f64::NEG_INFINITY, b.value)),
        Expect::Near { value, within, relative } => {
            let d = if *relative { within.value * value.value.abs() } else { within.value };
            Some((value.value - d, value.value + d))
        }
        Expect::Increasing { .. } | Expect::Decreasing { .. } | Expect::Order { .. } => None,
    }
}

/// What is expected, as text: `1.2..2.2`, `>= 0.99`, `increasing along flow.1.count`.
pub fn expected(claim: &Claim) -> String {
    let text = match &claim.expect {
        Expect::Between(a, b) => format!("{}..{}", readable(*a), readable(*b)),
        Expect::AtLeast(a) => format!(">= {}", readable(*a)),
        Expect::AtMost(b) => format!("<= {}", readable(*b)),
        Expect::Near { value, within, relative: true } => {
            format!("{} ± {} %", readable(*value), round(within.value * 100.0))
        }
        Expect::Near { value, within, relative: false } => format!("{} ± {}", readable(*value), readable(*within)),
        Expect::Increasing { along } => format!("increasing along {along}"),
        Expect::Decreasing { along } => format!("decreasing along {along}"),
        Expect::Order { values, along } => {
            format!("{} along {along}", values.iter().map(plain).collect::<Vec<_>>().join(" > "))
        }
    };
    match claim.each {
        Each::Every => text,
        Each::Mean => format!("{text} (mean)"),
        Each::Any => format!("{text} (any)"),
    }
}

/// A quantity with the largest unit that leaves at least 1 before the point.
fn readable(q: Quantity) -> String {
    let scales: &[(f64, &str)] = match q.unit {
        Dimension::Rate => &[(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")],
        Dimension::Time => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")],
        Dimension::Bytes => &[(1e6, "MB"), (1e3, "kB")],
        _ => &[],
    };
    match scales.iter().find(|(scale, _)| q.value.abs() >= *scale) {
        Some((scale, unit)) => format!("{}{unit}", round(q.value / scale)),
        None => q.to_string(),
    }
}

/// Without the noise of binary fractions: twelve significant digits at most.
fn round(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// A value of a sweep as text, without quotes.
fn plain(v: &Value) -> String {
    v.as_str().map_or_else(|| v.to_string(), str::to_owned)
}

fn place(point: &PointKey) -> String {
    if point.is_empty() {
        return "the only point".to_owned();
    }
    point.iter().map(|(k, v)| format!("{k} = {}", plain(v))).collect::<Vec<_>>().join(", ")
}
