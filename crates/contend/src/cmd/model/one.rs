//! `contend model NAME` for a closed form: its value for every combination of the arguments.

use super::numbers::Numbers;
use super::{Answer, MOST, list as counts};
use crate::cmd::wrong;
use clap::{Arg, ArgMatches};
use contend_core::Refusal;
use contend_lab::reading::expression::Quantity;
use contend_lab::reading::expression::quantity::NotAQuantity;
use contend_lab::reading::model::{Model, Parameter};
use miette::Result;
use serde_json::{Map, Value};

/// A call of one closed form.
#[derive(Debug)]
pub(super) struct One {
    model: &'static Model,
    /// The values of each parameter, in the order of the parameters.
    lists: Vec<Vec<f64>>,
}

/// The subcommand of `model`: one option for each parameter. The help of `contend model` does not list it.
pub(super) fn command(model: &'static Model) -> clap::Command {
    let options = model.parameters.iter().map(|p| {
        let default = p.default.map(|x| Quantity { value: x, unit: p.unit }.to_string());
        let shown = default.map_or("must be given".to_owned(), |d| format!("default {d}"));
        Arg::new(p.name)
            .long(p.name)
            .value_name("LIST")
            .required(p.default.is_none())
            .help(format!("{}: {} .. {}, {shown}", p.doc, quantity(p, p.range.0), quantity(p, p.range.1)))
            .value_parser(move |text: &str| list(p, text))
    });
    let command = clap::Command::new(model.name).args(options);
    let usage = format!("contend model {} [--PARAMETER LIST]... [OPTIONS]", model.name);
    command.about(format!("{} ({})", model.doc, model.cite)).override_usage(usage).hide(true)
}

impl One {
    pub(super) fn read(model: &'static Model, matches: &ArgMatches) -> One {
        let given = |p: &Parameter| matches.get_one::<Numbers>(p.name).map(|n| n.0.clone());
        // A parameter without a default is required, so it was given.
        let lists = model.parameters.iter().map(|p| given(p).unwrap_or_else(|| p.default.into_iter().collect()));
        One { model, lists: lists.collect() }
    }
}

pub(super) fn answer(one: &One) -> Result<Answer> {
    let (model, lists) = (one.model, &one.lists);
    let count = lists.iter().fold(1_usize, |n, list| n.saturating_mul(list.len()));
    if count > MOST as usize {
        return Err(wrong(
            format!("the lists for {} make {count} rows", model.name),
            format!("write shorter lists: at most {MOST} rows are computed"),
        ));
    }
    let columns: Vec<usize> = (0..lists.len()).filter(|i| lists.get(*i).is_some_and(|l| l.len() > 1)).collect();
    let name = |i: usize| model.parameters.get(i).map_or("", |p| p.name);
    let fixed = model.parameters.iter().zip(lists).filter(|(_, list)| list.len() == 1);
    let fixed: Vec<String> =
        fixed.map(|(p, list)| format!("{} {}", p.name, quantity(p, list.first().copied().unwrap_or(0.0)))).collect();
    let mut table = format!("{}: {}\n", model.name, model.doc);
    if !fixed.is_empty() {
        table += &format!("{}\n", fixed.join(", "));
    }
    let unit = model.unit.base();
    let heading = if unit.is_empty() { "value".to_owned() } else { format!("value ({unit})") };
    let line = |cells: &[String], last: &str| {
        let cells: String = cells.iter().map(|c| format!("{c:>12} ")).collect();
        format!("{cells}{last:>14}\n")
    };
    table += &line(&columns.iter().map(|i| name(*i).to_owned()).collect::<Vec<_>>(), &heading);
    let mut rows = vec![];
    for row in 0..count {
        let at = combination(lists, row);
        let given = |p: &Parameter| model.parameters.iter().position(|q| q.name == p.name).and_then(|i| at.get(i));
        let value = model.value_of(|p| given(p).copied());
        let value = value.map_err(|e| wrong(format!("{}: {}", model.name, e.what), "change the argument"))?;
        let cells: Vec<String> = columns.iter().map(|i| at.get(*i).map_or(String::new(), f64::to_string)).collect();
        table += &line(&cells, &digits(value));
        let mut object: Map<String, Value> =
            model.parameters.iter().zip(&at).map(|(p, x)| (p.name.to_owned(), Value::from(*x))).collect();
        object.insert("value".to_owned(), Value::from(value));
        rows.push(Value::Object(object));
    }
    Ok(Answer::new(model.name, table, rows))
}

/// One value from each list. The last list varies fastest.
fn combination(lists: &[Vec<f64>], row: usize) -> Vec<f64> {
    let mut rest = row;
    let mut at: Vec<f64> = lists
        .iter()
        .rev()
        .map(|list| {
            let x = list.get(rest % list.len().max(1)).copied().unwrap_or(0.0);
            rest /= list.len().max(1);
            x
        })
        .collect();
    at.reverse();
    at
}

/// The values of an option: quantities with commas between them, or a range of whole numbers like 1..10.
fn list(p: &Parameter, text: &str) -> Result<Numbers, Refusal> {
    let quantities: Vec<Quantity> = match text.split_once("..") {
        Some(_) => counts(text, 0, p.name)?.0.into_iter().map(|n| Quantity::number(n.into())).collect(),
        None => text.split(',').map(any).collect::<Result<_, _>>()?,
    };
    let checked: Result<Vec<f64>, Refusal> = quantities.into_iter().map(|q| p.check_quantity(q)).collect();
    checked.map(Numbers)
}

/// A number or a quantity.
fn any(text: &str) -> Result<Quantity, Refusal> {
    let what = match Quantity::parse(text) {
        Ok(q) => return Ok(q),
        Err(NotAQuantity::NoUnit(x)) => return Ok(Quantity::number(x)),
        Err(NotAQuantity::NoSuchUnit(unit)) => format!("there is no unit `{unit}`"),
        Err(NotAQuantity::NoNumber) => format!("`{text}` is not a number"),
    };
    Err(Refusal::new(what, "write a list like 0.1%,1% or 20us,9us"))
}

/// Six significant digits.
fn digits(x: f64) -> String {
    let size = if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log10().floor() as i32 };
    if x.fract() == 0.0 && x.abs() < 1e9 {
        format!("{x}")
    } else if (-4..9).contains(&size) {
        format!("{x:.*}", usize::try_from(5 - size).unwrap_or(0))
    } else {
        format!("{x:.5e}")
    }
}

fn quantity(p: &Parameter, value: f64) -> String {
    Quantity { value, unit: p.unit }.to_string()
}
