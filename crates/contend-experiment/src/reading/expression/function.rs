//! Functions of plain numbers, for quantities in files and for metrics.

use super::Dimension;
use crate::stats::{self, Range};

/// A function of one list, or of several values.
#[derive(Debug)]
pub struct NumberFunction {
    /// Name.
    pub name: &'static str,
    /// The result, as a phrase.
    pub doc: &'static str,
    /// Unit of the result.
    pub yields: Yields,
    /// Number of values; `None` for a list, or two or more values.
    pub values: Option<usize>,
    /// Computes the result; `None` when there are too few numbers.
    pub of: fn(&[f64]) -> Option<f64>,
    /// The range of the result, if the arguments have this range.
    pub range: fn(Range) -> Range,
}

/// Unit of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// The unit of its first argument.
    SameUnit,
    /// A plain number.
    Number,
    /// A plain number from 0 to 1: an index of fairness.
    Index,
    /// A duration.
    Time,
    /// Known only after the run.
    Unknown,
}

impl Yields {
    /// The unit of the result; `first` is the unit of the first argument.
    pub fn unit(self, first: Option<Dimension>) -> Option<Dimension> {
        match self {
            Yields::SameUnit => first,
            Yields::Number | Yields::Index => Some(Dimension::Number),
            Yields::Time => Some(Dimension::Time),
            Yields::Unknown => None,
        }
    }

    /// The unit of the result in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Yields::SameUnit => "in the unit of its first argument",
            Yields::Number => "a plain number",
            Yields::Index => "a plain number from 0 to 1",
            Yields::Time => "a time",
            Yields::Unknown => "a number of any unit",
        }
    }
}

/// All functions of plain numbers.
pub const FUNCTIONS: &[NumberFunction] = &[
    several("mean", "arithmetic mean", Yields::SameUnit, stats::mean, |r| r),
    several("min", "the smallest", Yields::SameUnit, |x| x.iter().copied().reduce(f64::min), |r| r),
    several("max", "the largest", Yields::SameUnit, |x| x.iter().copied().reduce(f64::max), |r| r),
    several("std", "sample standard deviation", Yields::SameUnit, stats::deviation, |_| Range::FROM_ZERO),
    several("sum", "the sum; 0 for an empty list", Yields::SameUnit, |x| Some(x.iter().sum()), Range::of_sums),
    several("jain", "Jain's index of fairness, 1 when all are equal", Yields::Index, stats::jain, |_| Range::SHARE),
    NumberFunction {
        name: "floor",
        doc: "the largest whole number not above a plain number",
        yields: Yields::Number,
        values: Some(1),
        of: |x| x.first().map(|x| x.floor()),
        range: |r| Range { low: r.low.floor(), high: r.high.floor() },
    },
];

const fn several(
    name: &'static str,
    doc: &'static str,
    yields: Yields,
    of: fn(&[f64]) -> Option<f64>,
    range: fn(Range) -> Range,
) -> NumberFunction {
    NumberFunction { name, doc, yields, values: None, of, range }
}

impl NumberFunction {
    /// The function called `name`.
    pub fn named(name: &str) -> Option<&'static NumberFunction> {
        FUNCTIONS.iter().find(|f| f.name == name)
    }
}

/// Functions are the same when they have the same name.
impl PartialEq for NumberFunction {
    fn eq(&self, other: &NumberFunction) -> bool {
        self.name == other.name
    }
}
