//! What the runs of an experiment say together: means with intervals, and the results of claims and checks.

use super::swept::PointKey;
use crate::stats::Estimate;
use serde::Serialize;

/// Mean and interval of one metric at one point.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The sweep point.
    pub point: PointKey,
    /// The metric's name.
    pub metric: String,
    /// Number of seeds.
    pub n: usize,
    /// Mean over seeds.
    pub mean: f64,
    /// Half width of the 95 % Student interval; of a percentile or a trimmed mean no less than its resolution; `null`
    /// with one seed.
    pub ci95: Option<f64>,
    /// Where the interval begins and ends: a share ends at 1, nothing that is counted begins below 0.
    pub interval: Option<(f64, f64)>,
    /// True if `ci95` is the resolution of a percentile or a trimmed mean, because Student's interval is smaller.
    #[serde(skip)]
    pub by_resolution: bool,
}

impl Summary {
    /// The estimate of `metric` at `point`.
    pub fn new(point: PointKey, metric: String, e: Estimate) -> Summary {
        let Estimate { n, mean, ci95, interval, by_resolution } = e;
        Summary { point, metric, n, mean, ci95, interval, by_resolution }
    }
}

/// One of several looks at a claim or check, each with more seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Look {
    /// Number of the look; the look with the first seeds is 1.
    pub number: u32,
    /// Number of looks that were planned.
    pub of: u32,
    /// Seeds of each point of the claim or check.
    pub seeds: u64,
    /// Confidence of the interval that decides, as a share of 1.
    pub confidence: f64,
}

/// The seeds of one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointSeeds {
    /// The sweep point.
    pub point: PointKey,
    /// Number of seeds.
    pub n: usize,
    /// Half width of the 95 % interval of the metric that decides, as a share of its mean. `null` when the number of
    /// seeds does not depend on a metric, or when the metric has no value.
    pub half_width: Option<f64>,
}

/// What was measured for a claim or a check. In the JSON its fields stand beside those of the claim or check.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The expectation as text.
    pub expected: String,
    /// The value that `near` names; `null` for another expectation.
    pub stated: Option<f64>,
    /// The measured value; `null` when it could not be measured.
    #[serde(rename = "measured")]
    pub value: Option<f64>,
    /// Half width of the 95 % interval of the value.
    pub ci95: Option<f64>,
    /// Where the interval begins and ends.
    pub interval: Option<(f64, f64)>,
    /// The unit in which value and interval are shown, as in files; empty for a plain number.
    #[serde(skip)]
    pub unit: &'static str,
    /// The look that decided; `null` unless the first seeds did not decide and there were more.
    pub look: Option<Look>,
    /// The value at each judged point.
    pub points: Vec<Summary>,
}

/// A judged claim.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimResult {
    /// The claim's id.
    pub id: String,
    /// The paper's statement.
    pub paper: String,
    /// Whose claim it is: `paper`, `specification` or `beyond`.
    pub source: &'static str,
    /// `reproduced`, `not reproduced`, `contradiction`, `tie` or `undecided`.
    pub verdict: String,
    /// The verdict recorded in the file.
    pub recorded: String,
    /// True if the verdict is the recorded one.
    pub as_recorded: bool,
    /// The reason that the file gives when the claim is not reproduced; empty otherwise.
    pub reason: String,
    /// Name of the reading; `null` unless the claim has several.
    pub reading: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
}

/// The answer of a check that holds.
pub const MET: &str = "met";
/// The answer of a check that does not hold.
pub const NOT_MET: &str = "not met";
/// The answer of a check for which the seeds are too few, or which could not be measured.
pub const NOT_DECIDED: &str = "not decided";

/// A judged check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckResult {
    /// The target in words.
    pub what: String,
    /// The name that alternatives share; `null` without one.
    pub id: Option<String>,
    /// Where the bound comes from: `source`, `practice`, `derived` or `ours`; `null` if the file does not say.
    pub bound: Option<&'static str>,
    /// Why the bound is what it is; may be empty.
    pub why: String,
    /// True if the answer is shown and never counted.
    pub informative: bool,
    /// `met`, `not met` or `not decided`.
    pub answer: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
}

impl CheckResult {
    /// True if this check keeps its file from success: it counts, is not met, and none of `all`, the checks of the
    /// file, is an alternative that is met.
    pub fn is_unmet<'a>(&self, mut all: impl Iterator<Item = &'a CheckResult>) -> bool {
        let is_met = |c: &CheckResult| c.answer == MET && !c.informative;
        let mut has_alternative = || all.any(|other| self.id.is_some() && other.id == self.id && is_met(other));
        !self.informative && self.answer != MET && !has_alternative()
    }
}

/// Those of the checks of a file that are unmet ([`CheckResult::is_unmet`]).
pub fn unmet(checks: &[CheckResult]) -> impl Iterator<Item = &CheckResult> {
    checks.iter().filter(|c| c.is_unmet(checks.iter()))
}
