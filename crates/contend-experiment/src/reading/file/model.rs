//! `[model]`: one or several closed forms with their arguments, instead of a network.

use super::alone;
use super::error::{FileError, Source};
use super::network::params;
use super::reader::{ReadContext, Val};
use super::tree::{Node, NodeKind};
use crate::names::suggest;
use crate::reading::expression::Dimension;
use crate::reading::model::{Model, Parameter, models, named as model_named};
use contend_core::Refusal;
use std::collections::BTreeMap;

/// The closed forms at one point of a file.
#[derive(Clone, Debug)]
pub struct Modelled {
    /// The named models, in the file's order.
    pub models: Vec<&'static Model>,
    /// Their arguments by name, in base units. Arguments with a default may be missing.
    pub arguments: BTreeMap<String, f64>,
}

impl Modelled {
    /// The value of each model.
    ///
    /// # Errors
    /// When a model has no value for these arguments; with its name and the reason.
    pub fn values(&self) -> Result<BTreeMap<String, f64>, Refusal> {
        self.values_of(|_| true)
    }

    fn values_of(&self, wanted: impl Fn(&Model) -> bool) -> Result<BTreeMap<String, f64>, Refusal> {
        let value = |m: &Model| match m.value_of(|p| self.arguments.get(p.name).copied()) {
            Ok(x) if x.is_finite() => Ok((m.name.to_owned(), x)),
            Ok(x) => Err(Refusal::new(format!("`{}` is {x} here", m.name), "change an argument in [model]")),
            Err(why) => Err(why.of(format_args!("`{}`", m.name))),
        };
        self.models.iter().filter(|m| wanted(m)).map(|m| value(m)).collect()
    }
}

/// Reads `[model]` in `tree`. Returns an error if a fast model has no value.
pub(crate) fn resolve(source: &Source, tree: &Node) -> Result<Modelled, FileError> {
    let params = params(source, tree)?;
    let cx = ReadContext::new(source, &params);
    let table = alone(cx, tree, "model", "a [model]", "{ name = \"jersey.gain\", ... }")?;
    let mut f = table.table()?;
    let name = f.need("name", "\"jersey.gain\"")?;
    let models = match name.node.kind {
        NodeKind::List(_) => name.list("the names of models")?.map(|v| named(&v)).collect::<Result<Vec<_>, _>>()?,
        _ => vec![named(&name)?],
    };
    if models.is_empty() {
        return Err(name.error("is an empty list", "name at least one model"));
    }
    let mut parameters: BTreeMap<&'static str, (&Parameter, &Model)> = BTreeMap::new();
    for m in &models {
        for p in m.parameters {
            let (first, of) = parameters.entry(p.name).or_insert((p, m));
            if !p.unit.adds_to(first.unit) {
                let message = format!(
                    "has `{}` and `{}`, which take `{}` as {} and as {}",
                    of.name,
                    m.name,
                    p.name,
                    first.unit.noun(),
                    p.unit.noun()
                );
                return Err(name.error(message, "put them into separate files"));
            }
        }
    }
    let given: Vec<Option<Val>> = parameters.keys().map(|name| f.get(name)).collect();
    let mut arguments = BTreeMap::new();
    for ((p, _), v) in parameters.values().zip(given) {
        let required = models.iter().any(|m| m.parameters.iter().any(|q| q.name == p.name && q.default.is_none()));
        if let Some(v) = if required { Some(f.need(p.name, &example(p))?) } else { v } {
            arguments.insert(p.name.to_owned(), argument(&v, p.name, &models)?);
        }
    }
    f.finish()?;
    let modelled = Modelled { models, arguments };
    // Slow models are computed when the file runs.
    match modelled.values_of(|m| !m.is_slow) {
        Ok(_) => Ok(modelled),
        Err(why) => Err(table.error(format!("has no value: {}", why.what), "change this argument")),
    }
}

fn named(v: &Val) -> Result<&'static Model, FileError> {
    let name = v.text()?;
    let remedy = || suggest(name, models().map(|m| m.name));
    model_named(name).ok_or_else(|| v.error(format!("names an unknown model: \"{name}\""), remedy()))
}

/// The argument `name` of all `models` that have a parameter of this name.
fn argument(v: &Val, name: &str, models: &[&Model]) -> Result<f64, FileError> {
    let q = v.any()?;
    for p in models.iter().flat_map(|m| m.parameters).filter(|p| p.name == name) {
        p.check_quantity(q).map_err(|e| v.error(e.what, e.remedy))?;
    }
    Ok(q.value)
}

/// A value as written in a file.
fn example(p: &Parameter) -> String {
    if p.unit == Dimension::Number { p.example().to_owned() } else { format!("\"{}\"", p.example()) }
}
