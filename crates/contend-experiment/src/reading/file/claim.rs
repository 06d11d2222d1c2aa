//! Claims, checks, figures, the search and the precision of a file as plain data; expressions stay text.

use super::error::Spot;
use super::tree::Overlay;
use crate::reading::expression::{Quantity, WrittenUnit};
use crate::results::{PointKey, SweptValue};
use std::collections::BTreeMap;

/// A selection of points: swept key -> selected values, written exactly as in [`crate::results::PointKey`].
/// A missing key selects all its values.
pub type When = BTreeMap<String, Vec<SweptValue>>;

/// One `[[claim]]`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Name of the claim, unique in the file.
    pub id: String,
    /// The paper's statement; empty if the claim is not from a paper.
    pub paper: String,
    /// Who makes the claim: the paper, or we.
    pub source: Origin,
    /// What must hold.
    pub requirement: Requirement,
    /// The recorded verdict; with readings, that of the first.
    pub verdict: Verdict,
    /// Why the claim is not reproduced; empty if it is reproduced.
    pub reason: String,
    /// Readings of the paper, in the file's order. Each is judged; the first is the one that counts. Empty if there is
    /// only one.
    pub readings: Vec<Reading>,
}

impl Claim {
    /// The recorded verdict of each reading, in the file's order; without readings the only one.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let only = self.readings.is_empty().then_some(self.verdict);
        self.readings.iter().map(|r| r.verdict).chain(only)
    }
}

/// A way to read the paper.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The name in results.
    pub name: String,
    /// What the reading sets.
    pub settings: Overlay,
    /// The recorded verdict.
    pub verdict: Verdict,
}

/// A metric, the points at which it is read, and the expectation.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Expression of a run's metrics.
    pub metric: String,
    /// Place of `metric`, for errors.
    pub metric_site: Spot,
    /// The metric is divided by the same metric at the same point with this overlay, paired by seed.
    pub over: Option<Overlay>,
    /// The same metric with this overlay is subtracted from the metric, paired by seed. At most one of `over` and
    /// `less` is given.
    pub less: Option<Overlay>,
    /// The selected points.
    pub when: When,
    /// How many of the points must satisfy the expectation.
    pub each: Each,
    /// The metric is a quotient; dividend and divisor are summed over the seeds, and then divided.
    pub pool: bool,
    /// The expectation.
    pub expect: Expect,
    /// The unit in which the bound is written; the measured value is shown in it. `None` without a bound with a unit.
    pub unit: Option<WrittenUnit>,
}

/// One `[[check]]`: a target of the user's.
#[derive(Clone, Debug)]
pub struct Check {
    /// The target in words.
    pub what: String,
    /// Checks with the same name are alternatives: one of them is enough.
    pub id: Option<String>,
    /// Where the bound comes from; `None` if the file does not say.
    pub bound: Option<Bound>,
    /// Why the bound is what it is; may be empty.
    pub why: String,
    /// True if the answer is shown and never counted.
    pub informative: bool,
    /// What must hold.
    pub requirement: Requirement,
}

/// The origin of the bound of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The cited text states it.
    Source,
    /// An implementation or a vendor has it.
    Practice,
    /// It follows from a law.
    Derived,
    /// The author of the file chose it.
    Ours,
}

impl Bound {
    /// All origins.
    pub const ALL: [Bound; 4] = [Bound::Source, Bound::Practice, Bound::Derived, Bound::Ours];

    /// The name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Source => "source",
            Bound::Practice => "practice",
            Bound::Derived => "derived",
            Bound::Ours => "ours",
        }
    }

    /// What the name says, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Bound::Source => "The cited text states it.",
            Bound::Practice => "An implementation or a vendor has it.",
            Bound::Derived => "It follows from a law, which `why` names.",
            Bound::Ours => "The author of the file chose it, for the reason in `why`.",
        }
    }
}

impl Requirement {
    /// The overlay of `over` or `less`.
    pub fn other(&self) -> Option<&Overlay> {
        self.over.as_ref().or(self.less.as_ref())
    }

    /// True if a share of a bound has a meaning: of a ratio, or around a number that is near within a share of itself;
    /// and for a sequence, whose steps are compared with its values.
    pub fn may_tie(&self) -> bool {
        self.over.is_some()
            || matches!(self.expect, Expect::Near { relative: true, .. })
            || matches!(self.expect, Expect::Increasing { .. } | Expect::Decreasing { .. } | Expect::Order { .. })
    }
}

/// How many of the points must satisfy an expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Each {
    /// All points.
    #[default]
    Every,
    /// The mean over the points.
    Mean,
    /// At least one point.
    Any,
}

/// What is expected of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// In this closed interval.
    Between(Quantity, Quantity),
    /// At least this value.
    AtLeast(Quantity),
    /// At most this value.
    AtMost(Quantity),
    /// Within a distance of a value. The distance is a share of the value (`within = "5%"`, stored as a plain number
    /// with `relative` set) or an amount.
    Near {
        /// The value.
        value: Quantity,
        /// The maximum distance.
        within: Quantity,
        /// True if `within` is a share of `value`.
        relative: bool,
    },
    /// The metric rises from each value of a sweep key to the next one.
    Increasing {
        /// The sweep key.
        along: String,
    },
    /// The metric falls from each value of a sweep key to the next one.
    Decreasing {
        /// The sweep key.
        along: String,
    },
    /// The metric falls from each of these values of a swept key to the next: the value with the largest metric comes
    /// first.
    Order {
        /// Values of the key, written as in [`crate::results::PointKey`].
        values: Vec<SweptValue>,
        /// The sweep key.
        along: String,
    },
}

/// The origin of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The paper states it.
    #[default]
    Paper,
    /// It follows from how contend reads the paper: a formula, a model, a part of an algorithm.
    Specification,
    /// It goes beyond the paper: an ablation, another network, a hypothesis of ours.
    Beyond,
}

impl Origin {
    /// All origins.
    pub const ALL: [Origin; 3] = [Origin::Paper, Origin::Specification, Origin::Beyond];

    /// The name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Paper => "paper",
            Origin::Specification => "specification",
            Origin::Beyond => "beyond",
        }
    }

    /// What the name says, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Origin::Paper => "The paper states it.",
            Origin::Specification => "It follows from how contend reads the paper.",
            Origin::Beyond => "It goes beyond the paper: an ablation, another network, a hypothesis.",
        }
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The measured value is inside the expected range.
    #[default]
    Reproduced,
    /// The measured value is outside.
    NotReproduced,
    /// The paper's own statements disagree.
    Contradiction,
    /// A comparison whose sides differ by so little that neither is ahead.
    Tie,
    /// The interval crosses a bound: more seeds are needed.
    Undecided,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 5] =
        [Verdict::Reproduced, Verdict::NotReproduced, Verdict::Contradiction, Verdict::Tie, Verdict::Undecided];

    /// The name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Contradiction => "contradiction",
            Verdict::Tie => "tie",
            Verdict::Undecided => "undecided",
        }
    }
}

/// The horizontal axis of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Along {
    /// The values of a swept key.
    Key(String),
    /// A name and values that only this figure has; `y` uses them as `point("NAME")`. They need no additional runs.
    Own(String, Vec<serde_json::Value>),
    /// The flows, with one bar for each.
    Flow,
    /// The time since the start of the run.
    Time,
    /// An expression with one value at each point, against which `y` is drawn.
    Metric(String),
}

/// The logarithmic axes of a figure; the others are linear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The horizontal axis.
    pub x: bool,
    /// The vertical axis.
    pub y: bool,
}

/// One `[[figure]]`: curves or bars over the points of the sweep, the flows or the time.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Title above the figure.
    pub title: String,
    /// The horizontal axis.
    pub x: Along,
    /// Place of `x`, for errors.
    pub x_site: Spot,
    /// The logarithmic axes.
    pub log: Log,
    /// Expressions on the vertical axis, with one curve for each. Over time or flows, a list has a curve or a bar for
    /// each member.
    pub y: Vec<String>,
    /// Place of each expression in `y`, for errors.
    pub y_sites: Vec<Spot>,
    /// A swept key with one curve for each value. Each combination of the other keys then has its own figure.
    pub by: Option<String>,
    /// A second key of `by`: a panel for each of its values, with equal axes.
    pub panels: Option<String>,
    /// The selected points.
    pub when: When,
}

impl Figure {
    /// True if the figure shows this point.
    pub fn shows(&self, point: &PointKey) -> bool {
        self.when.iter().all(|(key, values)| point.get(key).is_none_or(|v| values.contains(v)))
    }
}

/// A metric of `show`.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The expression; a list stands for the mean of its members.
    pub metric: String,
    /// Its place, for errors.
    pub site: Spot,
}

/// `seeds = { until = ..., of = ... }`: a point has enough seeds when the 95 % interval of a metric is narrow.
#[derive(Clone, Debug)]
pub struct Until {
    /// Largest half width of the interval, as a share of the mean.
    pub share: f64,
    /// Expression of a run's metrics.
    pub of: String,
    /// Place of `of`, for errors.
    pub of_site: Spot,
    /// Maximum number of seeds of a point.
    pub at_most: u64,
}

/// `decide`: undecided claims and checks get more seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decide {
    /// Up to this number at each point.
    pub seeds: u64,
    /// True if of a claim with readings only the first reading, which counts, gets more.
    pub first_reading_only: bool,
}

/// `[search]`: the value of a key at which a condition begins to hold.
#[derive(Clone, Debug)]
pub struct Search {
    /// The key path to vary.
    pub key: String,
    /// The first value.
    pub from: Quantity,
    /// The last value, in the same unit.
    pub to: Quantity,
    /// The condition: two expressions with a comparison between them.
    pub until: String,
    /// Place of `until`, for errors.
    pub until_site: Spot,
}

impl Search {
    /// The overlay that sets the key to `x`, in the base unit of the bounds. A whole number is written as an integer.
    pub fn overlay(&self, x: f64) -> Overlay {
        Overlay::of([(self.key.clone(), Quantity { value: x, unit: self.from.unit }.to_json())])
    }
}
