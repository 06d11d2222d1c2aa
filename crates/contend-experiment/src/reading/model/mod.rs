//! Closed forms: formulas that predict a number without a simulation.
//!
//! One table has an entry for each number: its name, unit, source and parameters, and how it is computed. `[model]` in
//! a file, `model("bianchi.throughput", n = 5, ...)` in an expression, `contend model`, `contend explain` and `contend
//! list models` read this table. A new closed form is one entry.
//!
//! Arguments and results are in base units: seconds, bits per second, bytes, packets. `contend-theory` counts some
//! durations in microseconds; the entries convert.

mod aiad;
mod ampdu;
mod barreto;
mod gaiad;
mod jersey;
mod l4s;
mod padhye;
mod starzetz;
mod wifi;

use crate::reading::expression::quantity::LONGEST;
use crate::reading::expression::{Dimension, Quantity};
use contend_core::Refusal;
use contend_theory::Invalid;

/// A closed form.
#[derive(Debug)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// What it predicts, in a phrase.
    pub doc: &'static str,
    /// The source: paper and equation.
    pub cite: &'static str,
    /// Its parameters, in the order of unnamed arguments.
    pub parameters: &'static [Parameter],
    /// The unit of the result.
    pub unit: Dimension,
    /// True if it simulates a system or computes an integral: it takes milliseconds, not microseconds.
    pub is_slow: bool,
    run: fn(&[f64]) -> Result<f64, Invalid>,
}

/// A parameter of a [`Model`].
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A description in a phrase, with the symbol of the source.
    pub doc: &'static str,
    /// Its unit.
    pub unit: Dimension,
    /// The default in base units; `None` if the parameter is mandatory.
    pub default: Option<f64>,
    /// Smallest and largest value allowed, in base units.
    pub range: (f64, f64),
    /// True if only whole numbers are allowed.
    pub is_whole: bool,
}

/// The closed forms of each file.
const TABLES: [&[Model]; 9] = [
    wifi::MODELS,
    ampdu::MODELS,
    padhye::MODELS,
    jersey::MODELS,
    aiad::MODELS,
    gaiad::MODELS,
    starzetz::MODELS,
    barreto::MODELS,
    l4s::MODELS,
];

/// Every closed form.
pub fn models() -> impl Iterator<Item = &'static Model> + Clone {
    TABLES.into_iter().flatten()
}

/// The closed form with the name `name`.
pub fn named(name: &str) -> Option<&'static Model> {
    models().find(|m| m.name == name)
}

const fn model(
    name: &'static str,
    unit: Dimension,
    doc: &'static str,
    cite: &'static str,
    parameters: &'static [Parameter],
    run: fn(&[f64]) -> Result<f64, Invalid>,
) -> Model {
    Model { name, doc, cite, parameters, unit, is_slow: false, run }
}

impl Model {
    const fn slow(self) -> Model {
        Model { is_slow: true, ..self }
    }

    /// The result for the arguments that `given` returns, in base units. Parameters without an argument have their
    /// defaults. The result may be infinite (collisions over successes, if no attempt ever succeeds); it is never NaN.
    ///
    /// # Errors
    /// With the name of the parameter, if a mandatory argument is missing, if an argument is outside its range, or if
    /// the arguments contradict each other.
    pub fn value_of(&self, given: impl Fn(&Parameter) -> Option<f64>) -> Result<f64, Refusal> {
        let argument = |p: &Parameter| {
            let missing = || Refusal::new(format!("needs {}", p.name), format!("give it a value like {}", p.example()));
            let x = given(p).or(p.default).ok_or_else(missing)?;
            p.check(x).map_err(|e| Refusal::new(format!("{} {}", p.name, e.what), e.remedy))?;
            Ok(x)
        };
        let arguments = self.parameters.iter().map(argument).collect::<Result<Vec<_>, Refusal>>()?;
        let remedy = || format!("change an argument; `contend explain {}` explains them", self.name);
        (self.run)(&arguments).map_err(|e| Refusal::new(e.to_string(), remedy()))
    }
}

/// Two models are the same if they have the same name.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.name == other.name
    }
}

/// The smallest share of packets for formulas in which a share of 0 gives an infinite rate.
const RAREST: f64 = 1e-12;

impl Parameter {
    const fn new(name: &'static str, unit: Dimension, least: f64, most: f64, doc: &'static str) -> Parameter {
        Parameter { name, doc, unit, default: None, range: (least, most), is_whole: false }
    }
    /// A plain number.
    const fn number(name: &'static str, least: f64, most: f64, doc: &'static str) -> Parameter {
        Parameter::new(name, Dimension::Number, least, most, doc)
    }
    /// A whole number.
    const fn whole(name: &'static str, least: f64, most: f64, doc: &'static str) -> Parameter {
        Parameter { is_whole: true, ..Parameter::number(name, least, most, doc) }
    }
    /// A share of 1.
    const fn share(name: &'static str, doc: &'static str) -> Parameter {
        Parameter::number(name, 0.0, 1.0, doc)
    }
    /// A duration of at least 1 ns.
    const fn time(name: &'static str, doc: &'static str) -> Parameter {
        Parameter::new(name, Dimension::Time, 1e-9, LONGEST, doc)
    }
    /// A number of packets.
    const fn packets(name: &'static str, doc: &'static str) -> Parameter {
        Parameter::new(name, Dimension::Packets, 0.0, 1e9, doc)
    }
    /// 0 or 1, with a default.
    const fn switch(name: &'static str, default: f64, doc: &'static str) -> Parameter {
        Parameter::whole(name, 0.0, 1.0, doc).default(default)
    }
    /// The same with a default.
    const fn default(self, value: f64) -> Parameter {
        Parameter { default: Some(value), ..self }
    }

    /// Checks that the argument `x` is in the range, and whole if it must be.
    ///
    /// # Errors
    /// What is wrong, without the name of the parameter (`is out of range: 2`), and the range. A caller adds the name
    /// as its user writes it.
    pub fn check(&self, x: f64) -> Result<(), Refusal> {
        let show = |value| Quantity { value, unit: self.unit };
        let (least, most) = self.range;
        let kind = if self.is_whole { "whole number" } else { "value" };
        let remedy = || format!("write a {kind} from {} to {}", show(least), show(most));
        if !(least..=most).contains(&x) {
            Err(Refusal::new(format!("is out of range: {}", show(x)), remedy()))
        } else if self.is_whole && x.fract() != 0.0 {
            Err(Refusal::new(format!("is not a whole number: {x}"), remedy()))
        } else {
            Ok(())
        }
    }

    /// Checks the unit of `q`, then as [`Parameter::check`]. A zero has every unit.
    ///
    /// # Errors
    /// As [`Parameter::check`].
    pub fn check_quantity(&self, q: Quantity) -> Result<f64, Refusal> {
        if !q.unit.adds_to(self.unit) && q.value != 0.0 {
            let what = format!("must be {}, but {q} is {}", self.unit.noun(), q.unit.noun());
            return Err(Refusal::new(what, format!("write {} like {}", self.unit.noun(), self.example())));
        }
        self.check(q.value).map(|()| q.value)
    }

    /// A value with its unit.
    pub const fn example(&self) -> &'static str {
        match self.unit {
            Dimension::Number if self.is_whole => "5",
            unit => unit.example(),
        }
    }
}

/// Converts an argument that [`Parameter::check`] found to be a whole number.
fn whole(x: f64) -> u32 {
    x as u32
}

/// 1 for true, 0 for false.
fn yes(x: bool) -> f64 {
    f64::from(u8::from(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest count at a corner: the time of some closed forms grows with a number of slots, sources or steps.
    const COUNT: f64 = 64.0;
    /// Largest count at a corner of a slow model.
    const SLOW_COUNT: f64 = 20.0;

    /// A point inside the ranges, and their corners. For a slow model, or one with many parameters, the corners are two
    /// opposite ones and those that differ from one of them in one or two parameters.
    fn corners(m: &Model) -> Vec<Vec<f64>> {
        let n = m.parameters.len() as u32;
        let largest = if m.is_slow { SLOW_COUNT } else { COUNT };
        let most = |p: &Parameter| if p.is_whole { p.range.1.min(largest.max(p.range.0)) } else { p.range.1 };
        let corner = |bits: u32| {
            let side = |(i, p): (usize, &Parameter)| if bits >> i & 1 == 0 { p.range.0 } else { most(p) };
            m.parameters.iter().enumerate().map(side).collect()
        };
        let apart = if m.is_slow { 1 } else { 2 };
        let near = |bits: &u32| bits.count_ones().min(n - bits.count_ones()) <= apart;
        let wanted = |bits: &u32| near(bits) || (n <= 8 && !m.is_slow);
        let inside = m.parameters.iter().map(|p| {
            let x = p.range.0 + (most(p) - p.range.0) / 4.0;
            if p.is_whole { x.round() } else { x }
        });
        std::iter::once(inside.collect()).chain((0..1 << n).filter(wanted).map(corner)).collect()
    }

    #[test]
    fn no_closed_form_is_nan_at_the_corners_of_its_ranges() {
        for m in models() {
            let mut values = 0;
            for at in corners(m) {
                let given = |p: &Parameter| m.parameters.iter().position(|q| q.name == p.name).map(|i| at[i]);
                match m.value_of(given) {
                    Ok(x) => {
                        assert!(!x.is_nan(), "{} at {at:?}", m.name);
                        values += 1;
                    }
                    Err(Refusal { what, remedy }) => {
                        assert!(what.contains(" must be ") || what.contains("; use "), "{} at {at:?}: {what}", m.name);
                        assert!(remedy.contains(m.name), "{remedy}");
                    }
                }
            }
            assert!(values > 0, "{} refuses every point", m.name);
        }
    }

    #[test]
    fn defaults_are_inside_the_ranges_and_values_outside_are_refused() {
        for (m, p) in models().flat_map(|m| m.parameters.iter().map(move |p| (m, p))) {
            let (least, most) = p.range;
            assert!(least < most && p.default.is_none_or(|x| p.check(x).is_ok()), "{} of {}", p.name, m.name);
            for x in [least - 1.0, most * 2.0 + 1.0, f64::NAN, f64::INFINITY] {
                let refused = p.check(x).unwrap_err();
                assert!(refused.remedy.contains(&Quantity { value: most, unit: p.unit }.to_string()), "{refused:?}");
            }
            assert_eq!(p.check(least + (most - least) / 8.0 + 0.001).is_err(), p.is_whole, "{} of {}", p.name, m.name);
        }
    }
}
