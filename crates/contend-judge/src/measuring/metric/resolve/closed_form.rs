//! Calls of closed forms: `model("name", ...)` and `name(...)`.

use super::{dimension, located, one, unit_help, zero};
use crate::measuring::metric::{Callee, Expr};
use contend_experiment::names::remedy;
use contend_experiment::reading::expression::{Argument, ParseError, Part, error};
use contend_experiment::reading::model::{self, Model, models};
use std::ops::Range;

/// Resolves `model("name", ...)`; every argument without a default must be given.
pub(super) fn named_model(arguments: &[Argument<'_>], close: &Range<usize>) -> Result<Expr, ParseError> {
    let Some((first, arguments)) = arguments.split_first() else {
        return Err(no_model_name(close.clone()));
    };
    let span = first.value.span.clone();
    let Part::Text(name) = first.value.part else { return Err(no_model_name(span)) };
    let Some(model) = model::named(name) else {
        let help = remedy(name, models().map(|m| m.name));
        return Err(error(span, format!("there is no model `{name}`"), help));
    };
    let given = model_arguments(model, arguments)?;
    let lacking = |(p, x): &(&model::Parameter, &Expr)| p.default.is_none() && **x == Expr::Absent;
    let missing: Vec<&str> = model.parameters.iter().zip(&given).filter(lacking).map(|(p, _)| p.name).collect();
    if missing.is_empty() {
        return Ok(Expr::Call(Callee::Model(model), given));
    }
    let help = missing.iter().map(|p| format!("`{p} = ...`")).collect::<Vec<_>>().join(", ");
    Err(error(span, format!("`{name}` lacks the arguments {}", missing.join(", ")), format!("write {help}")))
}

fn no_model_name(span: Range<usize>) -> ParseError {
    let help = "write the model's name in quotes: `model(\"bianchi.throughput\", n = 5, ...)`";
    error(span, "a string is missing here", help)
}

/// The arguments of `model`, in the order of its parameters.
pub(super) fn model_arguments(model: &'static Model, arguments: &[Argument<'_>]) -> Result<Vec<Expr>, ParseError> {
    let name = model.name;
    let mut given = vec![Expr::Absent; model.parameters.len()];
    let mut position = 0;
    for a in arguments {
        let span = a.name.as_ref().map_or_else(|| a.value.span.clone(), |(_, span)| span.clone());
        let found = match &a.name {
            Some((name, _)) => model.parameters.iter().position(|p| p.name == *name),
            None => Some(position),
        };
        let Some((i, p)) = found.and_then(|i| Some((i, model.parameters.get(i)?))) else {
            let list: Vec<_> = model.parameters.iter().map(|p| p.name).collect();
            let message = match &a.name {
                Some((n, _)) => format!("`{name}` has no parameter `{n}`"),
                None => format!("`{name}` has {} parameters", list.len()),
            };
            return Err(error(span, message, format!("its parameters are {}", list.join(", "))));
        };
        position = i + 1;
        let x = located(&a.value)?;
        one(&x)?;
        if let Some(unit) = dimension(&x.expr).filter(|u| !u.adds_to(p.unit) && !zero(&x.expr)) {
            let message = format!("{} is {}, not {}", p.name, p.unit.noun(), unit.noun());
            return Err(error(x.span, message, unit_help(p.unit)));
        }
        if let Some(Err(refused)) = constant(&x.expr).map(|value| p.check(value)) {
            return Err(error(x.span, format!("{} {}", p.name, refused.what), refused.remedy));
        }
        if given.get_mut(i).is_some_and(|g| std::mem::replace(g, x.expr) != Expr::Absent) {
            return Err(error(span, format!("{} is given twice", p.name), "remove one"));
        }
    }
    Ok(given)
}

/// The value of an expression that contains numbers only.
fn constant(e: &Expr) -> Option<f64> {
    match e {
        Expr::Number(n) => Some(n.value),
        Expr::Minus(x) => constant(x).map(|x| -x),
        Expr::Binary(operator, x, y) => Some(operator.apply(constant(x)?, constant(y)?)),
        _ => None,
    }
}
