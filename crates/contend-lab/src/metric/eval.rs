//! The value of an expression in one run.

use super::entries::success;
use super::lex::quantity;
use super::{Condition, Expr, Function, Number, Operator, reading};
use crate::results::Run;
use crate::stats;
use std::collections::BTreeMap;
use std::fmt;

/// Why an expression has no value in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// The expression does not fit the run: no such flow, lists of different lengths, no sample at an instant. What it
    /// says names the remedy.
    Wrong(String),
    /// The number does not exist: a mean of nothing, a division by zero.
    Undefined(String),
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasured::Wrong(s) | Unmeasured::Undefined(s) => f.write_str(s),
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
    fn into_list(self) -> Vec<f64> {
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

/// The value of `e`, which must be one number (or a list of one).
pub(super) fn number(e: &Expr, run: &Run) -> Result<f64, Unmeasured> {
    let x = match value(e, run)? {
        Values::One(x) => x,
        Values::Many(list) => match list.as_slice() {
            [x] => *x,
            _ => {
                return Err(Unmeasured::Wrong(format!(
                    "`{e}` is a list of {} numbers; make it one: mean(...), sum(...), min(...), max(...), jain(...)",
                    list.len()
                )));
            }
        },
    };
    // The sum of nothing is -0.0 in Rust; nobody wants to read it.
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
        Expr::Binary(op, x, y) => {
            let apply = |a: f64, b: f64| match op {
                Operator::Add => Ok(a + b),
                Operator::Subtract => Ok(a - b),
                Operator::Multiply => Ok(a * b),
                Operator::Divide if b == 0.0 => {
                    Err(Unmeasured::Undefined(format!("`{y}` is 0, and something is divided by it")))
                }
                Operator::Divide => Ok(a / b),
            };
            pairs(value(x, run)?, value(y, run)?, || format!("`{x}` and `{y}`"), apply)
        }
        Expr::Call(function, list) => {
            let mut members = vec![];
            for x in list {
                members.append(&mut value(x, run)?.into_list());
            }
            let result = function.of(&members);
            let few = if *function == Function::Std { "fewer than two numbers" } else { "nothing" };
            result
                .map(Values::One)
                .ok_or_else(|| Unmeasured::Undefined(format!("`{e}` is the {} of {few}", function.name())))
        }
        Expr::Quantile(x, q) => {
            let members = value(x, run)?.into_list();
            let q = number(q, run)?;
            stats::quantile(&members, q)
                .map(Values::One)
                .ok_or_else(|| Unmeasured::Undefined(format!("`{e}` is a quantile of nothing")))
        }
        Expr::Sliding(what, x, w) => match x.as_ref() {
            Expr::Metric(m) => success::sliding(*what, m, number(w, run)?, run).map(Values::One),
            _ => Err(Unmeasured::Wrong(format!("`{x}` has no windows of successes"))),
        },
        Expr::Length(x) => Ok(Values::One(value(x, run)?.into_list().len() as f64)),
        Expr::Count(c) => {
            let Condition { left, relation, right } = c.as_ref();
            let holds = pairs(
                value(left, run)?,
                value(right, run)?,
                || format!("`{left}` and `{right}`"),
                |a, b| Ok(f64::from(u8::from(relation.holds(a, b)))),
            )?;
            Ok(Values::One(holds.into_list().iter().sum()))
        }
        Expr::Share(c, section) => {
            let held = sections(e, section, run, |from, to| {
                let side = |x: &Expr| number(&x.between(from, to), run);
                Ok(f64::from(u8::from(c.relation.holds(side(&c.left)?, side(&c.right)?))))
            })?;
            stats::mean(&held).map(Values::One).ok_or_else(|| Unmeasured::Undefined(format!("`{e}` has no section")))
        }
        Expr::Every(x, section) => {
            sections(e, section, run, |from, to| number(&x.between(from, to), run)).map(Values::Many)
        }
        Expr::Point(key) => point(key, run).map(Values::One),
        Expr::Model(model, list) => {
            // With the arguments of the file's [model] alone, it has been worked out.
            if let (Some(x), true) = (run.metrics.get(model.name), list.iter().all(Option::is_none)) {
                return Ok(Values::One(*x));
            }
            let mut given = BTreeMap::new();
            for (p, x) in model.parameters.iter().zip(list) {
                if let Some(x) = x {
                    given.insert(p.name, number(x, run)?);
                }
            }
            // What is not given is that of the file's [model], or else the default.
            let value = model.value_of(|p| given.get(p.name).or_else(|| run.arguments.get(p.name)).copied());
            value.map(Values::One).map_err(|e| Unmeasured::Undefined(format!("`{}`: {e}", model.name)))
        }
    }
}

/// `f` of the beginning and end of each section of the measured interval.
fn sections(
    e: &Expr,
    section: &Number,
    run: &Run,
    f: impl Fn(f64, f64) -> Result<f64, Unmeasured>,
) -> Result<Vec<f64>, Unmeasured> {
    let (mut all, mut from) = (vec![], run.warmup_s);
    // The last section may end a rounding error after the run.
    while from + section.value <= run.sim_s + 1e-9 {
        all.push(f(from, from + section.value)?);
        from += section.value;
    }
    if all.is_empty() { Err(Unmeasured::Undefined(format!("`{e}`: the run has no whole section"))) } else { Ok(all) }
}

/// `f` for each pair of members; a single number goes with every member of the other side.
fn pairs(
    x: Values,
    y: Values,
    names: impl Fn() -> String,
    f: impl Fn(f64, f64) -> Result<f64, Unmeasured>,
) -> Result<Values, Unmeasured> {
    let single = |v: Values| match v {
        Values::Many(list) => match list.as_slice() {
            [x] => (Values::One(*x), true),
            _ => (Values::Many(list), false),
        },
        one => (one, false),
    };
    let ((x, one_x), (y, one_y)) = (single(x), single(y));
    Ok(match (x, y) {
        // A list of one stays a list.
        (Values::One(a), Values::One(b)) if one_x || one_y => Values::Many(vec![f(a, b)?]),
        (Values::One(a), Values::One(b)) => Values::One(f(a, b)?),
        (Values::One(a), list) => list.map(|b| f(a, b))?,
        (list, Values::One(b)) => list.map(|a| f(a, b))?,
        (Values::Many(a), Values::Many(b)) if a.len() == b.len() => {
            Values::Many(a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect::<Result<_, _>>()?)
        }
        (Values::Many(a), Values::Many(b)) => {
            return Err(Unmeasured::Wrong(format!(
                "{} are lists of {} and {} numbers; make each one number first: mean(...), sum(...)",
                names(),
                a.len(),
                b.len()
            )));
        }
    })
}

/// The number that the sweep gives `key` in this run.
fn point(key: &str, run: &Run) -> Result<f64, Unmeasured> {
    let Some(value) = run.point.get(key) else {
        return Err(Unmeasured::Wrong(format!(
            "the sweep has no key `{key}`; {}",
            crate::names::remedy(key, run.point.keys().map(String::as_str))
        )));
    };
    let number = value.as_f64().or_else(|| quantity(value.as_str()?).map(|n| n.value));
    number.ok_or_else(|| Unmeasured::Wrong(format!("`{key}` is {value}, which is no number")))
}
