//! Evaluates an expression in one run.

use super::{Callee, Expr, reading};
use contend_core::Refusal;
use contend_experiment::reading::expression::{Operator, literal};
use contend_experiment::reading::model::Model;
use contend_experiment::results::Run;
use std::collections::BTreeMap;
use std::fmt;

/// Why an expression has no value in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// The expression does not fit the run: an unknown flow, lists of different lengths, no sample at an instant.
    Wrong(Refusal),
    /// The number does not exist: a mean of no values, a division by zero.
    Undefined(String),
}

impl Unmeasured {
    /// The expression does not fit the run.
    pub fn wrong(why: impl Into<Refusal>) -> Unmeasured {
        Unmeasured::Wrong(why.into())
    }
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasured::Wrong(why) => why.fmt(f),
            Unmeasured::Undefined(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unmeasured {}

/// One number, or a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    One(f64),
    Many(Vec<f64>),
}

impl Values {
    pub(super) fn into_list(self) -> Vec<f64> {
        match self {
            Values::One(x) => vec![x],
            Values::Many(list) => list,
        }
    }

    fn map(self, f: impl Fn(f64) -> Result<f64, Unmeasured>) -> Result<Values, Unmeasured> {
        Ok(match self {
            Values::One(x) => Values::One(f(x)?),
            Values::Many(list) => Values::Many(list.into_iter().map(f).collect::<Result<_, _>>()?),
        })
    }
}

/// The value of `e`, which must be one number or a list with one member.
pub(super) fn number(e: &Expr, run: &Run) -> Result<f64, Unmeasured> {
    let x = match value(e, run)? {
        Values::One(x) => x,
        Values::Many(list) => match list.as_slice() {
            [x] => *x,
            _ => return Err(Unmeasured::wrong(not_one(e, list.len()))),
        },
    };
    // In Rust the sum of no numbers is -0.0; adding 0.0 makes it 0.0.
    if x.is_finite() { Ok(x + 0.0) } else { Err(Unmeasured::Undefined(format!("`{e}` is not a finite number"))) }
}

/// The members of `e`.
pub(super) fn list(e: &Expr, run: &Run) -> Result<Vec<f64>, Unmeasured> {
    value(e, run).map(Values::into_list)
}

fn value(e: &Expr, run: &Run) -> Result<Values, Unmeasured> {
    match e {
        Expr::Number(n) => Ok(Values::One(n.value)),
        Expr::Metric(m) => reading::value(m, run),
        Expr::Minus(x) => value(x, run)?.map(|x| Ok(-x)),
        Expr::Binary(operator, x, y) => pairs(x, y, run, |a, b| {
            if *operator == Operator::Divide && b == 0.0 {
                return Err(Unmeasured::Undefined(format!("`{y}` is a divisor, but its value is 0")));
            }
            Ok(operator.apply(a, b))
        }),
        Expr::Call(Callee::Numbers(function), arguments) => {
            let mut members = vec![];
            for x in arguments {
                members.append(&mut value(x, run)?.into_list());
            }
            let few = if members.is_empty() { "nothing" } else { "fewer than two numbers" };
            let result = (function.of)(&members).map(Values::One);
            result.ok_or_else(|| Unmeasured::Undefined(format!("`{e}` is the {} of {few}", function.name)))
        }
        Expr::Call(Callee::Run(function), arguments) => (function.value)(e, arguments, run),
        Expr::Call(Callee::Model(model), arguments) => closed_form(model, arguments, run).map(Values::One),
        Expr::Comparison(_) | Expr::Text(_) | Expr::Absent => {
            Err(Unmeasured::wrong(format!("`{e}` is not a value by itself")))
        }
    }
}

/// The value of `model` with these arguments, the arguments of the file's `[model]`, and its defaults.
fn closed_form(model: &Model, arguments: &[Expr], run: &Run) -> Result<f64, Unmeasured> {
    // If all arguments come from the file's [model], the run already has the value.
    if let (Some(x), true) = (run.metrics.get(model.name), arguments.iter().all(|x| *x == Expr::Absent)) {
        return Ok(*x);
    }
    let mut given = BTreeMap::new();
    for (p, x) in model.parameters.iter().zip(arguments).filter(|(_, x)| **x != Expr::Absent) {
        given.insert(p.name, number(x, run)?);
    }
    let value = model.value_of(|p| given.get(p.name).or_else(|| run.arguments.get(p.name)).copied());
    value.map_err(|e| Unmeasured::Undefined(format!("`{}`: {e}", model.name)))
}

/// Applies `f` to each pair of members of `left` and `right`. A single number is paired with every member of the other
/// side.
pub(super) fn pairs(
    left: &Expr,
    right: &Expr,
    run: &Run,
    f: impl Fn(f64, f64) -> Result<f64, Unmeasured>,
) -> Result<Values, Unmeasured> {
    let (x, y) = (value(left, run)?, value(right, run)?);
    let single = |v: Values| match v {
        Values::Many(list) => match list.as_slice() {
            [x] => (Values::One(*x), true),
            _ => (Values::Many(list), false),
        },
        one => (one, false),
    };
    let ((x, one_x), (y, one_y)) = (single(x), single(y));
    Ok(match (x, y) {
        // A list with one member stays a list.
        (Values::One(a), Values::One(b)) if one_x || one_y => Values::Many(vec![f(a, b)?]),
        (Values::One(a), Values::One(b)) => Values::One(f(a, b)?),
        (Values::One(a), list) => list.map(|b| f(a, b))?,
        (list, Values::One(b)) => list.map(|a| f(a, b))?,
        (Values::Many(a), Values::Many(b)) if a.len() == b.len() => {
            Values::Many(a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect::<Result<_, _>>()?)
        }
        (Values::Many(a), Values::Many(b)) => {
            return Err(Unmeasured::wrong(unequal(left, right, a.len(), b.len())));
        }
    })
}

/// The number that the sweep assigns to `key` in this run.
pub(super) fn point(key: &str, run: &Run) -> Result<f64, Unmeasured> {
    let Some(value) = run.point.get(key) else {
        let remedy = match run.point.is_empty() {
            true => format!("add [sweep] with \"{key}\", or write a number instead of point(...)"),
            false => contend_experiment::names::remedy(key, run.point.keys().map(String::as_str)),
        };
        return Err(Unmeasured::wrong(Refusal::new(format!("the sweep has no key `{key}`"), remedy)));
    };
    let number = value.as_f64().or_else(|| literal(value.as_str()?).map(|n| n.value));
    number.ok_or_else(|| Unmeasured::wrong(format!("`{key}` is {value}, not a number")))
}

/// The refusal of a list of `n` numbers where one is needed.
fn not_one(e: &Expr, n: usize) -> Refusal {
    Refusal::new(
        format!("`{e}` is a list of {n} numbers"),
        "make it one: mean(...), sum(...), min(...), max(...), jain(...)",
    )
}

/// The refusal of two lists of different lengths.
fn unequal(left: &Expr, right: &Expr, a: usize, b: usize) -> Refusal {
    Refusal::new(
        format!("`{left}` and `{right}` are lists of {a} and {b} numbers"),
        "make each one number: mean(...), sum(...)",
    )
}

/// Why no run of a network has a value of an expression, whatever happens in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It names what the network does not have.
    Unknown(Refusal),
    /// It is a list where one number is needed, or compares lists of different lengths.
    List(Refusal),
}

/// The shape of an expression in the runs of one network.
#[derive(Clone, Copy)]
enum Shape {
    One,
    Many(usize),
    /// Only what happens in the run tells.
    Open,
}

/// Refuses `e` if no run with the members of `names` has a value of it; with `one`, also if it is a list.
pub(super) fn fits(e: &Expr, names: &Run, one: bool) -> Result<(), Misfit> {
    if one { single(e, names) } else { shape(e, names).map(|_| ()) }
}

/// Refuses `e` unless it is one number, or a list with one member.
fn single(e: &Expr, names: &Run) -> Result<(), Misfit> {
    match shape(e, names)? {
        Shape::Many(n) if n != 1 => Err(Misfit::List(not_one(e, n))),
        _ => Ok(()),
    }
}

fn shape(e: &Expr, names: &Run) -> Result<Shape, Misfit> {
    match e {
        Expr::Number(_) => Ok(Shape::One),
        Expr::Metric(m) => match reading::selection(m, names) {
            Ok(Some(n)) => Ok(Shape::Many(n)),
            Ok(None) => Ok(Shape::One),
            Err(Unmeasured::Wrong(why)) => Err(Misfit::Unknown(why)),
            Err(Unmeasured::Undefined(_)) => Ok(Shape::Open),
        },
        Expr::Minus(x) => shape(x, names),
        Expr::Binary(_, x, y) => paired(x, y, names),
        Expr::Comparison(c) => paired(&c.left, &c.right, names),
        Expr::Call(Callee::Numbers(_), arguments) => {
            arguments.iter().try_for_each(|x| shape(x, names).map(|_| ()))?;
            Ok(Shape::One)
        }
        Expr::Call(Callee::Run(f), arguments) => {
            arguments.iter().try_for_each(|x| shape(x, names).map(|_| ()))?;
            Ok(if f.is_list { Shape::Open } else { Shape::One })
        }
        Expr::Call(Callee::Model(_), arguments) => {
            arguments.iter().try_for_each(|x| single(x, names))?;
            Ok(Shape::One)
        }
        Expr::Text(_) | Expr::Absent => Ok(Shape::Open),
    }
}

/// The shape of `left` and `right` member by member, as in [`pairs`].
fn paired(left: &Expr, right: &Expr, names: &Run) -> Result<Shape, Misfit> {
    Ok(match (shape(left, names)?, shape(right, names)?) {
        (Shape::Open, _) | (_, Shape::Open) => Shape::Open,
        (Shape::One, other) | (Shape::Many(1), other) | (other, Shape::One | Shape::Many(1)) => other,
        (Shape::Many(a), Shape::Many(b)) if a == b => Shape::Many(a),
        (Shape::Many(a), Shape::Many(b)) => return Err(Misfit::List(unequal(left, right, a, b))),
    })
}
