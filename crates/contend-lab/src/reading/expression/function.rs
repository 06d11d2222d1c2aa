//! Functions of plain numbers, for a file's quantities and for metrics.

use super::Dimension;
use crate::stats::{self, Range};

/// A function of one list, or of several values.
#[derive(Debug)]
pub struct NumberFunction {
    /// Its name.
    pub name: &'static str,
    /// What it yields, in a phrase.
    pub doc: &'static str,
    /// What the result measures.
    pub yields: Yields,
    /// How many values it takes; `None` for a list, or two values or more.
    pub values: Option<usize>,
    /// Its value; `None` when there are too few numbers.
    pub of: fn(&[f64]) -> Option<f64>,
    /// The values that the result can have, when the arguments have values in this range.
    pub range: fn(Range) -> Range,
}

/// What the result of a function measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// What its first argument measures.
    SameUnit,
    /// A plain number.
    Number,
    /// A plain number from 0 to 1 that tells of fairness.
    Index,
    /// Only the run can tell.
    Unknown,
}

impl Yields {
    /// The unit of the result, when that of the first argument is `first`.
    pub fn unit(self, first: Option<Dimension>) -> Option<Dimension> {
        match self {
            Yields::SameUnit => first,
            Yields::Number | Yields::Index => Some(Dimension::Number),
            Yields::Unknown => None,
        }
    }

    /// The same in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Yields::SameUnit => "in the unit of its first argument",
            Yields::Number => "a plain number",
            Yields::Index => "a plain number from 0 to 1",
            Yields::Unknown => "a number of any unit",
        }
    }
}

/// Every function of plain numbers.
pub const FUNCTIONS: &[NumberFunction] = &[
    several("mean", "arithmetic mean", Yields::SameUnit, stats::mean, |r| r),
    several("min", "the smallest", Yields::SameUnit, |x| x.iter().copied().reduce(f64::min), |r| r),
    several("max", "the largest", Yields::SameUnit, |x| x.iter().copied().reduce(f64::max), |r| r),
    several("std", "sample standard deviation", Yields::SameUnit, stats::deviation, |_| Range::FROM_ZERO),
    several("sum", "the sum; 0 of nothing", Yields::SameUnit, |x| Some(x.iter().sum()), Range::of_sums),
    several("jain", "Jain's index of fairness, 1 when all are equal", Yields::Index, stats::jain, |_| Range::SHARE),
    NumberFunction {
        name: "floor",
        doc: "the largest whole number that is not above a plain number",
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
