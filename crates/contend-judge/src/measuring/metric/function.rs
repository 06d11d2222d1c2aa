//! Functions that read a run and have their own parameters. Functions of plain numbers (`mean`, `max`) are in
//! [`contend_experiment::reading::expression::FUNCTIONS`].

use super::entries::success;
use super::{Expr, Unmeasured, Values, eval};
use contend_experiment::reading::expression::{Argument, Part, Syntax, Yields};
use contend_experiment::reading::model;
use contend_experiment::results::Run;
use contend_experiment::stats::{self, Range};

/// A function: an entry of the table that the parser, the evaluation and `contend explain` read.
#[derive(Debug)]
pub struct Function {
    /// Name. If several functions have this name, the first one with suitable arguments is used.
    pub name: &'static str,
    /// An example of a call.
    pub usage: &'static str,
    /// The result, in a sentence.
    pub doc: &'static str,
    /// The kinds of arguments.
    pub takes: &'static [Takes],
    /// Unit of the result.
    pub yields: Yields,
    /// The range of the result, if the first argument has this range.
    pub range: fn(Range) -> Range,
    /// True if the result is a list.
    pub is_list: bool,
    /// True if the first argument is read in each section of the run.
    pub(super) in_sections: bool,
    /// True if these arguments suit this function; decides between functions of the same name.
    pub(super) suits: fn(&[Argument<'_>]) -> bool,
    /// The value of a call with these arguments in a run.
    pub(super) value: fn(&Expr, &[Expr], &Run) -> Result<Values, Unmeasured>,
}

/// The kind of argument that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A list.
    List,
    /// A comparison of a list with a number or a list.
    ListComparison,
    /// A comparison of numbers that have a value in every section of the run.
    ComparisonInSections,
    /// A number that has a value in every section of the run.
    InSections,
    /// The length of a section in whole seconds.
    Section,
    /// A number from 0 to 1.
    Share,
    /// The successes of stations.
    Successes,
    /// A number of successes.
    Count,
    /// A string in quotes.
    Text,
}

impl Takes {
    /// The name in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Takes::List => "a list",
            Takes::ListComparison | Takes::ComparisonInSections => "a comparison",
            Takes::InSections => "a number",
            Takes::Section => "the length of a section",
            Takes::Share => "a number from 0 to 1",
            Takes::Successes => "the successes of stations (a list)",
            Takes::Count => "a number of successes",
            Takes::Text => "a string in quotes",
        }
    }
}

/// All functions that read a run.
pub const FUNCTIONS: &[Function] = &[
    Function {
        value: |e, x, run| {
            let members = eval::list(argument(x, 0), run)?;
            let value = stats::quantile(&members, eval::number(argument(x, 1), run)?);
            value
                .map(Values::One)
                .ok_or_else(|| Unmeasured::Undefined(format!("`{e}` is the quantile of an empty list")))
        },
        range: |r| r,
        ..function(
            "quantile",
            "quantile(goodput[up], 0.1)",
            "the quantile of a list: this share of the members is below it",
            &[Takes::List, Takes::Share],
            Yields::SameUnit,
        )
    },
    Function {
        suits: |a| a.first().is_some_and(|a| matches!(a.value.part, Part::Comparison { .. })),
        value: |_, x, run| {
            let Expr::Comparison(c) = argument(x, 0) else { return Ok(Values::One(0.0)) };
            let holds = |a: f64, b: f64| Ok(f64::from(u8::from(c.relation.holds(a, b))));
            let holds = eval::pairs(&c.left, &c.right, run, holds)?;
            Ok(Values::One(holds.into_list().iter().sum()))
        },
        range: |_| Range::FROM_ZERO,
        ..function(
            "count",
            "count(goodput[up] < 0.3Mbps)",
            "the number of list members for which a comparison holds",
            &[Takes::ListComparison],
            Yields::Number,
        )
    },
    Function {
        value: |_, x, run| Ok(Values::One(eval::list(argument(x, 0), run)?.len() as f64)),
        range: |_| Range::FROM_ZERO,
        ..function("count", "count(goodput[up])", "the number of members of a list", &[Takes::List], Yields::Number)
    },
    Function {
        in_sections: true,
        value: |e, x, run| {
            let share = stats::mean(&where_it_holds(e, x, run, |holds, _| f64::from(u8::from(holds)))?);
            share.map(Values::One).ok_or_else(|| Unmeasured::Undefined(format!("`{e}` has no section")))
        },
        range: |_| Range::SHARE,
        ..function(
            "share",
            "share(goodput[up.1] >= 10Mbps, 5s)",
            "the share of time in which a comparison holds: of the sections of this length after the warm-up",
            &[Takes::ComparisonInSections, Takes::Section],
            Yields::Number,
        )
    },
    Function {
        in_sections: true,
        value: |e, x, run| {
            let starts = where_it_holds(e, x, run, |holds, from| if holds { from } else { run.sim_s })?;
            Ok(Values::One(starts.into_iter().fold(run.sim_s, f64::min) - run.warmup_s))
        },
        range: |_| Range::FROM_ZERO,
        ..function(
            "until",
            "until(goodput[up.1] >= 10Mbps, 5s)",
            "the time from the end of the warm-up to the first section of this length in which a comparison holds; the \
             whole measured time if it holds in none",
            &[Takes::ComparisonInSections, Takes::Section],
            Yields::Time,
        )
    },
    Function {
        in_sections: true,
        is_list: true,
        value: |e, x, run| {
            let of = argument(x, 0);
            sections(e, argument(x, 1), run, |from, to| eval::number(&of.between(from, to), run)).map(Values::Many)
        },
        range: |r| r,
        ..function(
            "every",
            "every(goodput.up, 5s)",
            "a list with the value in each section of this length, after the warm-up",
            &[Takes::InSections, Takes::Section],
            Yields::SameUnit,
        )
    },
    Function {
        // A length follows; it is not a measurement.
        suits: |a| match a {
            [of, length] => starts_with(&of.value, "successes") && !names_a_metric(&length.value),
            _ => false,
        },
        value: |_, x, run| success::sliding(argument(x, 0), argument(x, 1), run, success::jain_over_windows),
        range: |_| Range::SHARE,
        ..function(
            "jain",
            "jain(successes[up], 100)",
            "Jain's index of the stations' successes in a window of this many successes, averaged over all windows",
            &[Takes::Successes, Takes::Count],
            Yields::Index,
        )
    },
    Function {
        value: |_, x, run| success::sliding(argument(x, 0), argument(x, 1), run, success::returns_within),
        range: |_| Range::SHARE,
        ..function(
            "self_correlation",
            "self_correlation(successes[up], 100)",
            "probability that a station succeeds again within this many successes, p_s of Starzetz 2006 §8.2",
            &[Takes::Successes, Takes::Count],
            Yields::Index,
        )
    },
    Function {
        value: |_, x, run| match argument(x, 0) {
            Expr::Text(key) => eval::point(key, run).map(Values::One),
            e => Err(Unmeasured::wrong(format!("`{e}` is not a key of the sweep"))),
        },
        ..function(
            "point",
            "point(\"flow.1.count\")",
            "the value of a swept key, or of a name that only a figure has",
            &[Takes::Text],
            Yields::Unknown,
        )
    },
];

/// A function that suits all arguments and has no evaluation yet.
const fn function(
    name: &'static str,
    usage: &'static str,
    doc: &'static str,
    takes: &'static [Takes],
    yields: Yields,
) -> Function {
    Function {
        name,
        usage,
        doc,
        takes,
        yields,
        range: |_| Range::ALL,
        is_list: false,
        in_sections: false,
        suits: |_| true,
        value: |e, _, _| Err(Unmeasured::wrong(format!("`{e}` cannot be evaluated"))),
    }
}

/// Functions are equal if their usage is equal.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.usage == other.usage
    }
}

/// The argument at index `i`; the parser has checked that it exists.
fn argument(arguments: &[Expr], i: usize) -> &Expr {
    arguments.get(i).unwrap_or(&Expr::Absent)
}

/// True if `e` is a name that starts with `name`.
fn starts_with(e: &Syntax<'_>, name: &str) -> bool {
    matches!(&e.part, Part::Name { path, .. } if path.split('.').next() == Some(name))
}

/// True if `e` contains the name of a metric, not only names of closed forms.
fn names_a_metric(e: &Syntax<'_>) -> bool {
    match &e.part {
        Part::Name { path, .. } => model::named(path).is_none(),
        Part::Minus(x) => names_a_metric(x),
        Part::Binary(_, x, y) | Part::Comparison { left: x, right: y, .. } => names_a_metric(x) || names_a_metric(y),
        Part::Call { arguments, .. } => arguments.iter().any(|a| names_a_metric(&a.value)),
        Part::Number(_) | Part::Text(_) => false,
    }
}

/// Applies `f` to whether the comparison `x[0]` holds in each section of length `x[1]`, and to the section's start.
fn where_it_holds(e: &Expr, x: &[Expr], run: &Run, f: impl Fn(bool, f64) -> f64) -> Result<Vec<f64>, Unmeasured> {
    let Expr::Comparison(c) = argument(x, 0) else { return Ok(vec![0.0]) };
    sections(e, argument(x, 1), run, |from, to| {
        let side = |x: &Expr| eval::number(&x.between(from, to), run);
        Ok(f(c.relation.holds(side(&c.left)?, side(&c.right)?), from))
    })
}

/// Applies `f` to the start and end of each section of the measured interval.
fn sections(
    e: &Expr,
    section: &Expr,
    run: &Run,
    f: impl Fn(f64, f64) -> Result<f64, Unmeasured>,
) -> Result<Vec<f64>, Unmeasured> {
    let length = eval::number(section, run)?;
    let (mut all, mut from) = (vec![], run.warmup_s);
    // By rounding, the last section may end slightly after the run.
    while from + length <= run.sim_s + 1e-9 {
        all.push(f(from, from + length)?);
        from += length;
    }
    if all.is_empty() { Err(Unmeasured::Undefined(format!("`{e}`: the run has no whole section"))) } else { Ok(all) }
}
