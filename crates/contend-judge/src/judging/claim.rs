//! Claims: which runs each claim needs, and its verdict.
//!
//! A claim is judged at each point that its `when` selects. Each run at a point gives one number: the metric. With
//! `over` the number is the ratio to the same metric of the run with the same seed at the overlaid point; with `less`
//! it is the difference. The mean over seeds and its 95 % Student interval are compared with the expected range:
//! inside, outside, or across a bound. A single seed has no interval; then the value alone decides. The interval of a
//! percentile is at least as wide as the histogram bucket of the percentile, that of a trimmed mean at least as wide as
//! its resolution. `each` says how the results of several points are combined.
//!
//! - `between`, `at_least`, `at_most`, `near`: holds when the interval is inside the range, fails when it is outside.
//!   Measured: the point with the least margin; with `any` the point with the largest.
//! - `increasing`, `decreasing`: holds when the last value differs from the first in the right direction, and every
//!   step is in the right direction or flat. Fails when one of these is certainly wrong. Measured: last minus first.
//! - `order`: holds when every step falls, fails when one step certainly does not. Measured: the smallest step.
//!
//! A step is the difference between neighbouring points, paired by seed. A step is flat when its whole interval is
//! within [`FLAT`] of the range that the means cover: a curve that has reached its minimum still counts as decreasing.
//! If a claim neither holds nor fails, the verdict is `undecided`: more seeds are needed. With [`judge_again`] a claim
//! is judged by intervals of a higher confidence ([`super::stopping`]); the reported interval is that of 95 %.
//!
//! A claim that neither holds nor fails because the value lies on a bound gets no answer from more seeds. If the whole
//! interval is within 2 % of that bound, the verdict is `tie`: with the bound 1 neither side is ahead, with another the
//! value equals the bound. The bound must be a ratio (`over`) or lie around a number that is `near` within a share of
//! itself; elsewhere 2 % has no meaning, as for a share close to 1. In a sequence a step is a tie if its interval
//! contains 0 and is within 2 % of the two values, which must be ratios or amounts without an upper end.
//!
//! With `pool` the number at a point is Σa / Σb over the seeds, where the metric is a / b, or a with `over` that leads
//! to b: a quotient of means, not a mean of quotients. A metric a / b with `over` is pooled here and there, and the two
//! are divided. Each seed then stands for
//! the value R + (a - R b) / mean(b), with R = Σa / Σb: the mean of these values is R, and their variance is that of
//! the ratio estimator (Cochran, "Sampling Techniques", 3rd edition, 1977, section 2.11).

mod sequence;
#[cfg(test)]
mod tests;
mod validity;

use super::note::Note;
use crate::measuring::metric::{Expr, Unmeasured};
use contend_core::Refusal;
use contend_experiment::reading::expression::{Dimension, Operator, Quantity, WrittenUnit};
use contend_experiment::reading::file::need::{meant, readings, same_value};
use contend_experiment::reading::file::{
    Claim, Each, Expect, Experiment, FileError, Overlay, Requirement, Source, Verdict,
};
use contend_experiment::results::{ClaimResult, Look, Measured, PointKey, Run, Summary, SweptValue, point_text};
use contend_experiment::stats::{CONFIDENCE, Estimate, Range, Reading};
use std::collections::BTreeMap;

pub use contend_experiment::reading::file::{Need, needs};
pub use sequence::FLAT;
pub use validity::validate;

/// A judged claim.
#[derive(Clone, Debug)]
pub struct Judged {
    /// One result. If the claim has readings: one result for each reading, in the file's order.
    pub results: Vec<ClaimResult>,
    /// What could not be measured, with place and reason.
    pub notes: Vec<Note>,
}

impl Judged {
    /// True if one of the first `readings` readings is undecided although every run has a value: more seeds may decide
    /// it.
    pub fn needs_seeds(&self, readings: usize) -> bool {
        self.notes.is_empty() && self.open(readings).next().is_some()
    }

    /// True if this reading is one of the first `readings` and undecided.
    pub fn is_open(&self, reading: Option<&str>, readings: usize) -> bool {
        self.open(readings).any(|r| r.reading.as_deref() == reading)
    }

    /// The undecided ones of the first `readings` results.
    fn open(&self, readings: usize) -> impl Iterator<Item = &ClaimResult> {
        self.results.iter().take(readings).filter(|r| r.verdict == Verdict::Undecided.name())
    }
}

/// Judges one claim of `e`. `runs` returns the runs of a need with all seeds, in any order; an empty list when there
/// are none.
///
/// # Errors
/// When the metric does not fit the runs; for example, it names a flow that does not exist.
pub fn judge<'a>(e: &Experiment, claim: &Claim, runs: &dyn Fn(&Need) -> Vec<&'a Run>) -> Result<Judged, FileError> {
    judged(&e.source, &e.points, claim, runs, None)
}

/// Judges the first `readings` readings of an undecided claim of `e` again, with more seeds. The others, and those that
/// are decided, keep their verdict.
///
/// # Errors
/// As [`judge`].
pub fn judge_again<'a>(
    e: &Experiment,
    claim: &Claim,
    runs: &dyn Fn(&Need) -> Vec<&'a Run>,
    look: Look,
    earlier: &Judged,
    readings: usize,
) -> Result<Judged, FileError> {
    judged(&e.source, &e.points, claim, runs, Some((look, earlier, readings)))
}

fn judged<'a>(
    source: &Source,
    points: &[PointKey],
    claim: &Claim,
    runs: &dyn Fn(&Need) -> Vec<&'a Run>,
    again: Option<(Look, &Judged, usize)>,
) -> Result<Judged, FileError> {
    validity::recorded(source, claim)?;
    let evidence = Evidence { source, points, runs, owner: format!("claim {}", claim.id) };
    let mut notes = vec![];
    let mut results = vec![];
    for (i, ((name, reading), recorded)) in readings(claim).into_iter().zip(claim.verdicts()).enumerate() {
        let look = again.map(|(look, ..)| look);
        if let Some((_, earlier, of)) = again
            && let Some(result) = earlier.results.get(i)
            && !earlier.is_open(name.as_deref(), of)
        {
            results.push(result.clone());
            continue;
        }
        let Finding { position, measured, notes: of_reading } = evidence.judge(&claim.requirement, &reading, look)?;
        notes.extend(of_reading);
        let Some(position) = position else { break };
        results.push(ClaimResult {
            id: claim.id.clone(),
            paper: claim.paper.clone(),
            verdict: position.verdict().name().to_owned(),
            recorded: recorded.name().to_owned(),
            source: claim.source.name(),
            as_recorded: position.verdict() == recorded,
            reason: claim.reason.clone(),
            reading: name,
            measured,
        });
    }
    mark_contradiction(claim, &mut results);
    Ok(Judged { results, notes })
}

/// If the recorded verdict is a contradiction, and some readings are reproduced and the others are not, the verdict of
/// every reading becomes `contradiction`.
fn mark_contradiction(claim: &Claim, results: &mut [ClaimResult]) {
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

/// A value that differs from a bound, or from its neighbour in a sequence, by less than this share equals it as far as
/// it matters.
const TIE: f64 = 0.02;

/// Where the measured interval lies, compared with the expected range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Inside,
    Outside,
    /// The value equals a bound, as far as it matters.
    Tie,
    /// The interval crosses the bound, or there is no measurement.
    Unclear,
}

impl Position {
    fn verdict(self) -> Verdict {
        match self {
            Position::Inside => Verdict::Reproduced,
            Position::Outside => Verdict::NotReproduced,
            Position::Tie => Verdict::Tie,
            Position::Unclear => Verdict::Undecided,
        }
    }

    /// Combines several points: with [`Each::Any`] one must be inside, otherwise all must be.
    fn combined(each: Each, all: &[Position]) -> Position {
        let (settles, otherwise) = match each {
            Each::Any => (Position::Inside, Position::Outside),
            _ => (Position::Outside, Position::Inside),
        };
        if all.is_empty() {
            Position::Unclear
        } else if all.contains(&settles) {
            settles
        } else if let Some(open) = [Position::Unclear, Position::Tie].into_iter().find(|open| all.contains(open)) {
            open
        } else {
            otherwise
        }
    }
}

/// One number for each seed.
type Samples = BTreeMap<u64, Reading>;

/// The estimate of a number that has values in `range`, with an interval of this confidence.
fn estimate(s: &Samples, confidence: f64, range: Range) -> Option<Estimate> {
    Estimate::with_confidence(confidence, &s.values().copied().collect::<Vec<_>>(), range)
}

/// The mean of several samples, seed by seed. Seeds that one of them lacks are left out.
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

/// The runs by which a claim or a check is judged.
pub(super) struct Evidence<'c, 'a> {
    pub(super) source: &'c Source,
    pub(super) points: &'c [PointKey],
    /// The runs of a need with all seeds.
    pub(super) runs: &'c dyn Fn(&Need) -> Vec<&'a Run>,
    /// The claim or check, for messages.
    pub(super) owner: String,
}

/// What the runs say about a requirement.
pub(super) struct Finding {
    /// `None` if settings of the command line removed all points.
    pub(super) position: Option<Position>,
    /// The value that decides.
    pub(super) measured: Measured,
    /// What could not be measured, and why.
    pub(super) notes: Vec<Note>,
}

impl Evidence<'_, '_> {
    /// Judges a requirement by the runs with the settings of `reading`. The 95 % interval is reported. It also decides,
    /// unless this is a later `look`: then the interval of that look decides.
    pub(super) fn judge(
        &self,
        requirement: &Requirement,
        reading: &Overlay,
        look: Option<Look>,
    ) -> Result<Finding, FileError> {
        let metric = validity::sound(self.source, requirement, &self.owner)?;
        let of = |value: Option<Estimate>, unit: WrittenUnit, points| Measured {
            expected: expected(requirement),
            stated: match requirement.expect {
                Expect::Near { value, .. } => Some(value.value),
                _ => None,
            },
            value: value.map(|m| m.mean),
            ci95: value.and_then(|m| m.ci95),
            interval: value.and_then(|m| m.interval),
            unit: unit.name,
            look,
            points,
        };
        let not_judged = |reason| {
            let notes = vec![Note::NotJudged { what: self.owner.clone(), reason }];
            Finding { position: None, measured: of(None, WrittenUnit::PLAIN, vec![]), notes }
        };
        if let Err(no) = validity::applies(self.points, requirement) {
            if self.source.sets.is_empty() {
                return Err(no.of(self.source, requirement, &self.owner));
            }
            return Ok(not_judged(no.message));
        }
        let evaluation = |confidence| Evaluation {
            evidence: self,
            requirement,
            metric: &metric,
            reading,
            confidence,
            notes: vec![],
        };
        let mut reported = evaluation(CONFIDENCE);
        let (mut position, measured, points) = match reported.run() {
            // A setting may leave out the flow or station that the metric names.
            Err(wrong) if self.source.has_changes() => {
                let text = wrong.to_string();
                return Ok(not_judged(text.strip_prefix(&format!("{}: ", self.owner)).unwrap_or(&text).to_owned()));
            }
            found => found?,
        };
        if let Some(look) = look {
            position = evaluation(look.confidence).run()?.0;
        }
        let notes = reported.notes.into_iter().map(|n| Note::Said(format!("{}: {n}", self.owner))).collect();
        // A ratio is a plain number.
        let dimension = metric.dimension().filter(|_| requirement.over.is_none()).unwrap_or(Dimension::Number);
        let fitting = || WrittenUnit::fitting(dimension, measured.map_or(0.0, |m| m.mean));
        let unit = requirement.unit.unwrap_or_else(fitting);
        Ok(Finding { position: Some(position), measured: of(measured, unit, points), notes })
    }
}

/// The evaluation of a requirement under one reading.
struct Evaluation<'c, 'a> {
    evidence: &'c Evidence<'c, 'a>,
    requirement: &'c Requirement,
    metric: &'c Expr,
    reading: &'c Overlay,
    /// Confidence of the intervals.
    confidence: f64,
    notes: Vec<String>,
}

impl Evaluation<'_, '_> {
    fn run(&mut self) -> Result<(Position, Option<Estimate>, Vec<Summary>), FileError> {
        let mut evidence = vec![];
        for point in meant(self.requirement, self.evidence.points) {
            evidence.push((point, self.samples(point)?));
        }
        let name = match self.requirement.other() {
            Some(other) => {
                let word = if self.requirement.over.is_some() { "over" } else { "less" };
                let swept = |k: &str, v: &SweptValue| {
                    let mut values = self.evidence.points.iter().filter_map(|p| p.get(k));
                    values.find(|w| *w == v).and_then(SweptValue::label)
                };
                let shown = |k: &str, v: &SweptValue| swept(k, v).map_or_else(|| v.to_string(), str::to_owned);
                let settings: Vec<String> =
                    other.settings().iter().map(|(k, v)| format!("{k} = {}", shown(k, v))).collect();
                let settings = settings.join(", ");
                format!("{} {word} {settings}", self.requirement.metric)
            }
            None => self.requirement.metric.clone(),
        };
        let range = self.range();
        let summaries = evidence.iter().filter_map(|(point, s)| {
            Some(Summary::new((*point).clone(), name.clone(), estimate(s, self.confidence, range)?))
        });
        let summaries = summaries.collect();
        let (position, measured) = match bounds(&self.requirement.expect) {
            Some(range) => self.within(range, &evidence),
            None => sequence::judge(self.requirement, self.confidence, self.steps_tie(), &evidence),
        };
        Ok((position, measured, summaries))
    }

    /// The range of possible values of the number that is judged.
    fn range(&self) -> Range {
        let of_one = self.metric.range();
        match self.requirement.other() {
            None => of_one,
            Some(_) if self.requirement.less.is_some() => of_one.minus(of_one),
            Some(_) => of_one.over(of_one),
        }
    }

    /// The number at `point` for each seed. Empty, with a note, when one of the runs has no value.
    fn samples(&mut self, point: &PointKey) -> Result<Samples, FileError> {
        let above = self.values_here(point, self.reading)?;
        let Some(other) = self.requirement.other().map(|o| self.reading.then(o)) else { return Ok(above) };
        let below = self.values_here(point, &other)?;
        if self.requirement.pool {
            return Ok(self.pooled(point, &above, &below, "the divisor"));
        }
        if self.requirement.less.is_some() {
            return Ok(above.iter().filter_map(|(seed, x)| Some((*seed, x.minus(*below.get(seed)?)))).collect());
        }
        let mut ratios = Samples::new();
        for (seed, x) in &above {
            let Some(y) = below.get(seed) else { continue };
            let Some(ratio) = x.over(*y) else {
                self.notes.push(format!("the divisor is 0 (at {}, seed {seed})", place(point)));
                return Ok(Samples::new());
            };
            ratios.insert(*seed, ratio);
        }
        Ok(ratios)
    }

    /// The value of the requirement's metric for each seed at `point` with `overlay`; pooled if it is a quotient.
    fn values_here(&mut self, point: &PointKey, overlay: &Overlay) -> Result<Samples, FileError> {
        match self.metric {
            Expr::Binary(Operator::Divide, above, below) if self.requirement.pool => {
                let (dividend, divisor) = (self.values(above, point, overlay)?, self.values(below, point, overlay)?);
                Ok(self.pooled(point, &dividend, &divisor, &format!("`{below}`")))
            }
            metric => self.values(metric, point, overlay),
        }
    }

    /// The quotient of the sums over the seeds, as one number for each seed (see the module's documentation). Empty,
    /// with a note that names the divisor, when the divisor is 0 in all runs.
    fn pooled(&mut self, point: &PointKey, above: &Samples, below: &Samples, divisor: &str) -> Samples {
        let of_both = |all: &Samples, other: &Samples| {
            let values: Vec<Reading> =
                all.iter().filter(|(seed, _)| other.contains_key(seed)).map(|(_, x)| *x).collect();
            Reading::mean(&values)
        };
        let means = of_both(above, below).zip(of_both(below, above));
        let Some((above_mean, below_mean)) = means else { return Samples::new() };
        let Some(ratio) = above_mean.over(below_mean) else {
            self.notes.push(format!("{divisor} is 0 in all runs (at {})", place(point)));
            return Samples::new();
        };
        let of_one = |seed: &u64, a: &Reading| {
            let b = below.get(seed)?;
            let value = ratio.value + (a.value - ratio.value * b.value) / below_mean.value;
            Some((*seed, Reading { value, resolution: ratio.resolution }))
        };
        above.iter().filter_map(|(seed, a)| of_one(seed, a)).collect()
    }

    /// The value of `metric` for each seed at `point` with `overlay`.
    fn values(&mut self, metric: &Expr, point: &PointKey, overlay: &Overlay) -> Result<Samples, FileError> {
        let need = Need::of(self.evidence.points, point, overlay);
        let runs = (self.evidence.runs)(&need);
        if runs.is_empty() {
            self.notes.push(format!("there is no run at {}", place(point)));
        }
        let mut all = Samples::new();
        for run in runs {
            match metric.reading(run) {
                Ok(x) => {
                    all.insert(run.seed, x);
                }
                Err(Unmeasured::Undefined(why)) => {
                    self.notes.push(format!("{why} (at {}, seed {})", place(point), run.seed));
                    return Ok(Samples::new());
                }
                Err(Unmeasured::Wrong(Refusal { what, remedy })) => {
                    return Err(FileError::new(
                        self.evidence.source,
                        &self.requirement.metric_site,
                        format!("{}: {what} (at {}, seed {})", self.evidence.owner, place(point), run.seed),
                        remedy,
                    ));
                }
            }
        }
        Ok(all)
    }

    /// True if an interval from `a` to `b` that crosses a bound of the range is within [`TIE`] of that bound.
    fn ties(&self, (low, high): (f64, f64), (a, b): (f64, f64)) -> bool {
        self.requirement.may_tie()
            && [low, high].iter().any(|bound| *bound > 0.0 && a >= bound * (1.0 - TIE) && b <= bound * (1.0 + TIE))
    }

    /// True if 2 % of the number that is judged have a meaning: of a ratio, or of an amount without an upper end.
    fn steps_tie(&self) -> bool {
        self.requirement.less.is_none() && self.range().high == f64::INFINITY
    }

    fn within(&self, (low, high): (f64, f64), evidence: &[(&PointKey, Samples)]) -> (Position, Option<Estimate>) {
        let position_of = |m: &Option<Estimate>| match m {
            None => Position::Unclear,
            Some(m) => {
                let (a, b) = m.ends();
                if a >= low && b <= high {
                    Position::Inside
                } else if b < low || a > high {
                    Position::Outside
                } else if self.ties((low, high), (a, b)) {
                    Position::Tie
                } else {
                    Position::Unclear
                }
            }
        };
        if self.requirement.each == Each::Mean {
            let all: Vec<&Samples> = evidence.iter().map(|(_, s)| s).collect();
            let m = estimate(&mean_of(&all), self.confidence, self.range());
            return (position_of(&m), m);
        }
        let estimates: Vec<Option<Estimate>> =
            evidence.iter().map(|(_, s)| estimate(s, self.confidence, self.range())).collect();
        let position =
            Position::combined(self.requirement.each, &estimates.iter().map(position_of).collect::<Vec<_>>());
        // Distance from the mean to the nearest bound, negative outside. The deciding point has the smallest margin, or
        // with `any` the largest.
        let margin = |m: &Estimate| (m.mean - low).min(high - m.mean);
        let sign = if self.requirement.each == Each::Any { -1.0 } else { 1.0 };
        let measured = estimates.into_iter().flatten().min_by(|a, b| (sign * margin(a)).total_cmp(&(sign * margin(b))));
        (position, measured)
    }
}

/// The expected closed interval; `None` when a sequence is expected.
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

/// The expectation as text: `1.2..2.2`, `>= 0.99`, `increasing along flow.1.count`.
pub fn expected(requirement: &Requirement) -> String {
    let readable = |q: Quantity| {
        let unit = requirement.unit.unwrap_or_else(|| WrittenUnit::fitting(q.unit, q.value));
        format!("{}{}", round(unit.count(q.value)), unit.name)
    };
    let text = match &requirement.expect {
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
            format!("{} along {along}", values.iter().map(SweptValue::text).collect::<Vec<_>>().join(" > "))
        }
    };
    match requirement.each {
        Each::Every => text,
        Each::Mean => format!("{text} (mean)"),
        Each::Any => format!("{text} (any)"),
    }
}

/// Rounds to twelve significant digits, to hide binary rounding errors.
fn round(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

fn place(point: &PointKey) -> String {
    if point.is_empty() {
        return "the only point".to_owned();
    }
    point_text(point)
}
