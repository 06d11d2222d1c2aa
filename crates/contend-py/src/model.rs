//! The closed forms, from the table that `contend model` reads.

use crate::error;
use contend::Kind;
use contend_lab::nearest;
use contend_lab::reading::expression::Quantity;
use contend_lab::reading::expression::quantity::NotAQuantity;
use contend_lab::reading::model::{Model, Parameter, models as table, named};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A parameter: name, meaning, unit, default, least and largest value.
type About = (&'static str, &'static str, &'static str, Option<f64>, f64, f64);

/// Every closed form: name, meaning, source, unit of the value, parameters.
#[pyfunction]
pub(crate) fn models() -> Vec<(&'static str, &'static str, &'static str, &'static str, Vec<About>)> {
    let parameter = |p: &Parameter| (p.name, p.doc, p.unit.base(), p.default, p.range.0, p.range.1);
    let of = |m: &'static Model| (m.name, m.doc, m.cite, m.unit.base(), m.parameters.iter().map(parameter).collect());
    table().map(of).collect()
}

/// A number in base units, or a text with its unit.
#[derive(FromPyObject)]
pub(crate) enum Argument {
    Number(f64),
    Text(String),
}

/// The value of the closed form `name` in its base unit.
#[pyfunction]
pub(crate) fn model(name: &str, arguments: BTreeMap<String, Argument>) -> PyResult<f64> {
    let unknown = || {
        let near = nearest(name, table().map(|m| m.name));
        error::plain(&format!("there is no model `{name}`"), near.map(|n| format!("did you mean `{n}`?")).as_deref())
    };
    let m = named(name).ok_or_else(unknown)?;
    let wrong = |message: &str, help: &str| error::plain(&format!("{name}: {message}"), Some(help));
    let mut given = BTreeMap::new();
    for (word, argument) in &arguments {
        let Some(p) = m.parameters.iter().find(|p| p.name == word) else {
            let names: Vec<&str> = m.parameters.iter().map(|p| p.name).collect();
            return Err(wrong(&format!("there is no parameter `{word}`"), &format!("use {}", names.join(", "))));
        };
        let value = match argument {
            Argument::Number(x) => *x,
            Argument::Text(text) => {
                let q = match Quantity::parse(text) {
                    Ok(q) => q,
                    Err(NotAQuantity::NoUnit(x)) => Quantity::number(x),
                    Err(_) => {
                        let help = format!("write a number in {} or a text like \"{}\"", base(p), p.example());
                        return Err(wrong(&format!("{word}: `{text}` is not a quantity"), &help));
                    }
                };
                p.check_quantity(q).map_err(|e| wrong(&format!("{word} {}", e.what), &e.remedy))?
            }
        };
        given.insert(p.name, value);
    }
    m.value_of(|p| given.get(p.name).copied()).map_err(|e| wrong(&e.what, &e.remedy))
}

/// An option of a calculator: name, meaning, default, whether it takes a text, and whether several.
type Choice = (String, String, Option<String>, bool, bool);

/// Every calculator of `contend model`: name, meaning, options.
#[pyfunction]
pub(crate) fn calculators() -> Vec<(String, String, Vec<Choice>)> {
    let option = |s: contend::Setting| (s.name, s.doc, s.default, s.kind != Kind::Flag, s.kind == Kind::Texts);
    let of = |c: contend::Described| (c.name, c.doc, c.settings.into_iter().map(option).collect());
    contend::described().into_iter().map(of).collect()
}

/// The rows of the calculator `name` with these options, as JSON.
#[pyfunction]
pub(crate) fn calculate(name: &str, options: Vec<String>) -> PyResult<String> {
    let rows = contend::calculate(name, &options);
    let rows = rows.map_err(|e| error::plain(&format!("{name}: {}", e.what), Some(&e.remedy)))?;
    Ok(serde_json::Value::Array(rows).to_string())
}

/// The base unit in words.
fn base(p: &Parameter) -> &'static str {
    if p.unit.base().is_empty() { "plain numbers" } else { p.unit.base() }
}
