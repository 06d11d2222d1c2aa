//! Evaluates an expression in a file, such as `10ms + 2ms*(k-1)`.

use super::syntax::{Syntax, parse};
use super::{Dimension, NumberFunction, Operator, ParseError, Part, Quantity, error};
use std::ops::Range;

/// The value of `text`: an expression of numbers with units, functions of numbers, and the names that `lookup` knows.
///
/// # Errors
/// When the text is not an expression, has an unknown name, or mixes units. The error contains the place. Its remedy is
/// empty if the caller should list the names that `lookup` knows.
pub fn evaluate(text: &str, lookup: &dyn Fn(&str) -> Option<Quantity>) -> Result<Quantity, ParseError> {
    let e = parse(text, "a number with its unit or a name")?;
    let value = quantity(&e, lookup)?;
    if value.value.is_finite() {
        Ok(value)
    } else {
        Err(error(e.span, "the result is not a number (a division by zero?)", ""))
    }
}

fn quantity(e: &Syntax<'_>, lookup: &dyn Fn(&str) -> Option<Quantity>) -> Result<Quantity, ParseError> {
    let wrong = |message: String| Err(error(e.span.clone(), message, ""));
    match &e.part {
        Part::Number(n) => Ok(Quantity { value: n.value, unit: n.unit }),
        Part::Name { path, brackets } if brackets.is_empty() => {
            lookup(path).map_or_else(|| wrong(format!("there is no `{path}`")), Ok)
        }
        Part::Name { .. } => wrong("brackets are for metrics, but this is a quantity".into()),
        Part::Minus(x) => quantity(x, lookup).map(|q| Quantity { value: -q.value, ..q }),
        Part::Binary(operator, x, y) => {
            let (a, b) = (quantity(x, lookup)?, quantity(y, lookup)?);
            let unit = unit_of(*operator, (x, a.unit), (y, b.unit));
            let unit = unit.ok_or_else(|| misfit(&e.span, *operator, a.unit, b.unit))?;
            Ok(Quantity { value: operator.apply(a.value, b.value), unit })
        }
        Part::Call { name, name_span, arguments, .. } => {
            let mut given = vec![];
            for a in arguments {
                given.push((quantity(&a.value, lookup)?, a.value.is_zero()));
            }
            call(name, name_span, &e.span, &given)
        }
        Part::Comparison { .. } => wrong("a comparison is not a quantity".into()),
        Part::Text(_) => wrong("a string is not a quantity".into()),
    }
}

/// The unit of `x operator y`. A zero can be added to any unit.
fn unit_of(operator: Operator, x: (&Syntax<'_>, Dimension), y: (&Syntax<'_>, Dimension)) -> Option<Dimension> {
    match operator {
        Operator::Add | Operator::Subtract if x.0.is_zero() => Some(y.1),
        Operator::Add | Operator::Subtract if y.0.is_zero() => Some(x.1),
        _ => operator.unit(x.1, y.1),
    }
}

/// The error about an operation on values whose units do not permit it.
fn misfit(span: &Range<usize>, operator: Operator, a: Dimension, b: Dimension) -> ParseError {
    let (a, b) = (a.noun(), b.noun());
    let (message, help) = match operator {
        Operator::Add | Operator::Subtract => {
            (format!("{a} and {b} have different units"), "give both the same unit, as in `10ms + 2ms*(k-1)`")
        }
        Operator::Multiply => (format!("{a} times {b} has no unit that a file can use"), "multiply by a plain number"),
        Operator::Divide => (
            format!("{a} divided by {b} has no unit that a file can use"),
            "divide by a plain number, or by a value with the same unit",
        ),
    };
    error(span.clone(), message, help)
}

/// The value of a call with these arguments; each argument comes with true if it is a zero, which fits any unit.
fn call(
    name: &str,
    name_span: &Range<usize>,
    span: &Range<usize>,
    given: &[(Quantity, bool)],
) -> Result<Quantity, ParseError> {
    let wrong = |message: String| error(span.clone(), message, "");
    let Some(function) = NumberFunction::named(name) else {
        let help = crate::names::remedy(name, super::FUNCTIONS.iter().map(|f| f.name));
        return Err(error(name_span.clone(), format!("there is no function `{name}`"), help));
    };
    match (function.values, given) {
        (None, [] | [_]) => return Err(wrong(format!("`{name}` takes two values or more"))),
        (Some(1), [(q, _)]) if q.unit == Dimension::Number => {}
        (Some(_), _) => return Err(wrong(format!("`{name}` takes one plain number"))),
        (None, _) => {}
    }
    let mut unit = None;
    for (q, _) in given.iter().filter(|(_, is_zero)| !is_zero) {
        let both = unit.map_or(Some(q.unit), |u: Dimension| u.plus(q.unit));
        unit = Some(both.ok_or_else(|| misfit(span, Operator::Add, unit.unwrap_or(q.unit), q.unit))?);
    }
    let unit = unit.unwrap_or(Dimension::Number);
    let values: Vec<f64> = given.iter().map(|(q, _)| q.value).collect();
    let value = (function.of)(&values).ok_or_else(|| wrong(format!("`{name}` has no value for these arguments")))?;
    Ok(Quantity { value, unit: function.yields.unit(Some(unit)).unwrap_or(unit) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<String, String> {
        let k = |name: &str| (name == "k").then_some(Quantity::number(3.0));
        evaluate(text, &k).map(|q| q.to_string()).map_err(|e| e.message)
    }

    #[test]
    fn expressions_keep_their_units() {
        assert_eq!(eval("10ms + 2ms*(k-1)").as_deref(), Ok("0.014s"));
        assert_eq!(eval("max(1, k, 2) / 2").as_deref(), Ok("1.5"));
        assert_eq!(eval("floor(10ms / 3ms)").as_deref(), Ok("3"));
        assert_eq!(eval("-k*2p - -8p").as_deref(), Ok("2p"));
        assert_eq!(eval("max(0, 5ms - k*1ms)").as_deref(), Ok("0.002s"));
        assert_eq!(eval("mean(1ms, k*1ms)").as_deref(), Ok("0.002s"));
        assert_eq!(eval("10ms + 2"), Err("a duration and a plain number have different units".into()));
        assert_eq!(eval("1s * 1s"), Err("a duration times a duration has no unit that a file can use".into()));
        assert_eq!(eval("1/0"), Err("the result is not a number (a division by zero?)".into()));
        assert_eq!(eval("j"), Err("there is no `j`".into()));
        assert_eq!(eval("1 2"), Err("an operator is missing before this".into()));
        assert_eq!(eval("min(1)"), Err("`min` takes two values or more".into()));
        assert_eq!(eval("floor(1s)"), Err("`floor` takes one plain number".into()));
        assert_eq!(eval("k[up]"), Err("brackets are for metrics, but this is a quantity".into()));
        assert_eq!(eval("\"k\""), Err("a string is not a value".into()));
        assert_eq!(eval("min(1 < 2, 3)"), Err("a comparison is not a quantity".into()));
        let deep = "the expression is nested deeper than 48 levels";
        assert_eq!(eval(&"(".repeat(400)), Err(deep.into()));
        assert_eq!(eval(&"-".repeat(400)), Err(deep.into()));
        assert_eq!(eval(&"(".repeat(100_000)), Err("the expression is longer than 4096 bytes".into()));
    }

    #[test]
    fn an_error_knows_its_place_in_the_text() {
        let at = |text: &str| {
            let e = evaluate(text, &|_| None).unwrap_err();
            (text[e.span.clone()].to_owned(), e.help)
        };
        assert_eq!(at("2 * (1s + j)").0, "j");
        assert_eq!(at("2 * (1s + 3)").0, "(1s + 3)");
        assert_eq!(at("2 * mni(1, 3)"), ("mni".into(), "did you mean `min`?".into()));
        assert_eq!(at("1 + 3 Mbps"), ("3 Mbps".into(), "write `3Mbps`".into()));
    }
}
