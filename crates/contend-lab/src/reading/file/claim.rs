//! What a file says must hold, what the report draws, and what is searched for: plain data; expressions stay text.

use super::error::Site;
use super::tree::Overlay;
use crate::reading::expression::Quantity;
use std::collections::BTreeMap;

/// Which points something is about: sweep key -> the values meant, exactly as they stand in
/// [`crate::experiment::results::PointKey`]. Keys not named: every point.
pub type When = BTreeMap<String, Vec<serde_json::Value>>;

/// One `[[claim]]`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name in tables, unique in the file.
    pub id: String,
    /// What the paper says; empty for a claim of one's own.
    pub paper: String,
    /// Expression over a run's metrics.
    pub metric: String,
    /// Where `metric` stands in the file, for errors about it.
    pub metric_site: Site,
    /// The metric is divided by the same metric at the same point with this overlay, paired by seed.
    pub over: Option<Overlay>,
    /// The same metric with this overlay is taken from it, paired by seed. A claim has one of the two, or neither.
    pub less: Option<Overlay>,
    /// The points it is about.
    pub when: When,
    /// How many of the points must fulfil it.
    pub each: Each,
    /// What is expected.
    pub expect: Expect,
    /// The verdict on record.
    pub verdict: Verdict,
    /// Why it is not reproduced; empty when it is.
    pub reason: String,
    /// Readings of the paper, by name in the file's order, each judged with its overlay; empty when there is only one.
    pub reading: Vec<(String, Overlay)>,
}

impl Claim {
    /// What the metric is compared with, by `over` or by `less`.
    pub fn other(&self) -> Option<&Overlay> {
        self.over.as_ref().or(self.less.as_ref())
    }
}

/// How many of the points must fulfil a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Each {
    /// All of them.
    #[default]
    Every,
    /// Their mean.
    Mean,
    /// At least one.
    Any,
}

/// What a claim expects of its metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// In this closed interval.
    Between(Quantity, Quantity),
    /// Not less.
    AtLeast(Quantity),
    /// Not more.
    AtMost(Quantity),
    /// Within a distance of a value: a share of it (`within = "5%"`, given here as a plain number with `relative` set),
    /// or an amount in its own unit.
    Near {
        /// The value.
        value: Quantity,
        /// The distance allowed.
        within: Quantity,
        /// Whether `within` is a share of `value`.
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
    /// The metric falls from each of these values of a sweep key to the next: the largest is named first.
    Order {
        /// Values of the key, as they stand in [`crate::experiment::results::PointKey`].
        values: Vec<serde_json::Value>,
        /// The sweep key.
        along: String,
    },
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Measured inside the expected range.
    #[default]
    Reproduced,
    /// Measured outside.
    NotReproduced,
    /// The paper's own statements disagree.
    Contradiction,
    /// The interval crosses the bound: more seeds.
    Undecided,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 4] =
        [Verdict::Reproduced, Verdict::NotReproduced, Verdict::Contradiction, Verdict::Undecided];

    /// Its name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Contradiction => "contradiction",
            Verdict::Undecided => "undecided",
        }
    }
}

/// What is on the horizontal axis of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Along {
    /// The values of a swept key.
    Key(String),
    /// Values of the figure's own, which `y` has as `point("NAME")`: the name and the values. Nothing is run again for
    /// them.
    Own(String, Vec<serde_json::Value>),
    /// The flows, a bar for each.
    Flow,
    /// The time since the start of the run.
    Time,
}

/// One `[[figure]]`: curves or bars over the points of the sweep, the flows or the time.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What stands above it.
    pub title: String,
    /// What is on the horizontal axis.
    pub x: Along,
    /// Expressions on the vertical axis, one curve each; against time or flows, a list is a curve or a bar for each
    /// member.
    pub y: Vec<String>,
    /// Where each of `y` stands in the file, for errors about it.
    pub y_sites: Vec<Site>,
    /// A swept key with one curve for each of its values; then every combination of the other keys has a figure of its
    /// own.
    pub by: Option<String>,
    /// The points it shows.
    pub when: When,
}

/// `[search]`: the value of a key at which a condition begins to hold.
#[derive(Clone, Debug)]
pub struct Search {
    /// The key path that is varied.
    pub key: String,
    /// Its first value.
    pub from: Quantity,
    /// Its last value, in the same unit.
    pub to: Quantity,
    /// The condition: an expression, a comparison, an expression.
    pub until: String,
    /// Where `until` stands in the file, for errors about it.
    pub until_site: Site,
}

impl Search {
    /// The overlay that tries `x` (in the bounds' base unit; whole numbers are written as such).
    pub fn overlay(&self, x: f64) -> Overlay {
        Overlay::of([(self.key.clone(), Quantity { value: x, unit: self.from.unit }.to_json())])
    }
}
