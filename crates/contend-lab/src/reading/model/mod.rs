//! Closed forms: what expressions hold a run against (`model("bianchi.throughput", n = 5, ...)`), and what `[model]`
//! names.
//!
//! In a file about a `[model]` its name alone is the same with the arguments of that table, and `jersey.gain(aw = 0)`
//! with all but one of them.
//!
//! Arguments and results are in this language's base units; `contend-theory` counts in microseconds.

mod jersey;
mod padhye;
mod starzetz;
mod wifi;

use crate::reading::expression::Dimension;
use contend_theory::Invalid;

/// A closed form by name.
#[derive(Debug)]
pub struct Model {
    /// Its name in expressions.
    pub name: &'static str,
    /// What it predicts, in a sentence.
    pub doc: &'static str,
    /// Where it comes from.
    pub cite: &'static str,
    /// What it takes, in the order in which unnamed arguments are counted.
    pub parameters: &'static [Parameter],
    /// What it yields.
    pub unit: Dimension,
    /// True if a system is simulated for it, or an integral taken, which takes milliseconds and not microseconds.
    pub is_slow: bool,
    run: fn(&[f64]) -> Result<f64, String>,
}

/// One argument of a [`Model`].
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a phrase.
    pub doc: &'static str,
    /// What it measures.
    pub unit: Dimension,
    /// Its value when it is not given; without one it must be.
    pub default: Option<f64>,
}

/// The closed forms of each file.
const TABLES: [&[Model]; 4] = [wifi::MODELS, padhye::MODELS, jersey::MODELS, starzetz::MODELS];

/// Every closed form. `[model]` and expressions read this table, and so do the calculators of `contend model` for the
/// columns that are closed forms with a name.
pub fn models() -> impl Iterator<Item = &'static Model> + Clone {
    TABLES.into_iter().flatten()
}

/// The closed form called `name`.
pub fn named(name: &str) -> Option<&'static Model> {
    models().find(|m| m.name == name)
}

const fn model(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    cite: &'static str,
    parameters: &'static [Parameter],
    run: fn(&[f64]) -> Result<f64, String>,
) -> Model {
    Model { name, doc, cite, parameters, unit, is_slow: false, run }
}

const fn required(name: &'static str, unit: Dimension, doc: &'static str) -> Parameter {
    Parameter { name, doc, unit, default: None }
}

const fn optional(name: &'static str, unit: Dimension, value: f64, doc: &'static str) -> Parameter {
    Parameter { name, doc, unit, default: Some(value) }
}

impl Model {
    const fn slow(self) -> Model {
        Model { is_slow: true, ..self }
    }

    /// Its value when `given` says the arguments, in base units; those it does not know have their defaults.
    ///
    /// # Errors
    /// When an argument without a default is missing, or one makes no sense, with its name.
    pub fn value_of(&self, given: impl Fn(&Parameter) -> Option<f64>) -> Result<f64, String> {
        let argument = |p: &Parameter| given(p).or(p.default).ok_or_else(|| format!("needs {}", p.name));
        (self.run)(&self.parameters.iter().map(argument).collect::<Result<Vec<_>, _>>()?)
    }
}

/// Two models are the same when they have the same name.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.name == other.name
    }
}

fn said<T>(result: Result<T, Invalid>) -> Result<T, String> {
    result.map_err(|e| e.to_string())
}

fn whole(name: &str, x: f64) -> Result<u32, String> {
    if x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x) {
        Ok(x as u32)
    } else {
        Err(format!("{name}: is {x}, must be a whole number"))
    }
}
