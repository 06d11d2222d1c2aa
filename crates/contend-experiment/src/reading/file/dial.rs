//! Dials: the keys of a file that `contend live` can change, with their bounds.

use super::keys::{self, Key, Kind, keys};
use super::tree::{Node, NodeKind, read_setting, split_path};
use super::{About, Experiment};
use crate::names::suggest;
use crate::reading::expression::{Quantity, WrittenUnit};
use crate::results::SweptValue;
use contend_core::Refusal;
use contend_core::registry::{Param, Unit};
use serde::Serialize;

/// A key that the user of the page can change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dial {
    /// The key path, as `--set` takes it.
    pub key: String,
    /// The value in the file, as `--set` takes it; `None`: all values of a swept key, or the default of a missing key.
    pub value: Option<String>,
    /// What the key means.
    pub doc: String,
    /// The kind of control.
    pub turn: Turn,
}

/// The kind of control that changes a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Turn {
    /// A number with a unit, between two bounds.
    Range {
        /// The smallest number.
        low: f64,
        /// The largest number.
        high: f64,
        /// The present number.
        at: f64,
        /// The unit that follows the number; may be empty.
        unit: &'static str,
        /// True if only whole numbers are values.
        whole: bool,
        /// True if the scale of the slider is logarithmic; otherwise it is linear.
        log: bool,
    },
    /// One of some values: their texts, and what `--set` takes.
    Choice {
        /// The values.
        options: Vec<Named>,
    },
    /// Any value, as it is written in a file.
    Text,
}

/// A value with the text that stands for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// The text.
    pub text: String,
    /// The value, as `--set` takes it.
    pub value: String,
}

impl From<SweptValue> for Named {
    fn from(value: SweptValue) -> Named {
        Named { text: value.text(), value: value.setting() }
    }
}

/// A slider goes from the value divided by this factor to the value multiplied by it.
const REACH: f64 = 10.0;

impl Experiment {
    /// The dials of the parameters and the swept keys, in the order of the file, of the duration and of the seeds.
    pub fn dials(&self) -> Vec<Dial> {
        let params = self.network.get("param").and_then(Node::entries).unwrap_or_default();
        let swept: Vec<_> = self.sweep.of_file().collect();
        let mut dials: Vec<Dial> = params
            .iter()
            .map(|e| (format!("param.{}", e.key), &e.value))
            .filter(|(key, _)| swept.iter().all(|(path, _)| path != key))
            .map(|(key, node)| {
                let value = SweptValue::from(node.to_json());
                let turn = range(&value, &[]).unwrap_or(Turn::Text);
                Dial { key, value: Some(value.setting()), doc: "A parameter of the file.".into(), turn }
            })
            .collect();
        dials.extend(swept.into_iter().map(|(path, values)| {
            let doc = self.meaning(path).map_or_else(|_| "A key that the file sweeps.".into(), |m| m.doc().to_owned());
            let options = values.into_iter().map(Named::from).collect();
            Dial { key: path.to_owned(), value: None, doc, turn: Turn::Choice { options } }
        }));
        let others: &[&str] = match self.about() {
            About::Network => &["duration", "seeds"],
            About::Contention => &["seeds"],
            About::Model => &[],
        };
        dials.extend(others.iter().filter_map(|key| self.dial_of(key).ok()));
        dials
    }

    /// The dial of any key; `path` is as `--set` takes it.
    ///
    /// # Errors
    /// When `path` is no key of this file.
    pub fn dial(&self, path: &str) -> Result<Dial, Refusal> {
        let path = path.trim();
        if let Some(dial) = self.dials().into_iter().find(|d| d.key == path) {
            return Ok(dial);
        }
        self.dial_of(path)
    }

    fn dial_of(&self, path: &str) -> Result<Dial, Refusal> {
        let meaning = self.meaning(path)?;
        let set = match path {
            "duration" => Some(self.duration.to_string().into()),
            "warmup" => Some(self.warmup.to_string().into()),
            "seeds" => Some(read_setting(0, 0, &self.seeds_text()).to_json().into()),
            _ => self.value(path).map(|node| SweptValue::from(node.to_json())),
        };
        let value = set.clone().or_else(|| meaning.usual().map(SweptValue::from));
        let mut options: Vec<Named> = meaning.names().into_iter().map(|n| Named::from(SweptValue::from(n))).collect();
        let number = value.as_ref().filter(|_| path != "seeds").and_then(|v| range(v, meaning.kinds()));
        let turn = match number {
            Some(range) => range,
            None if options.is_empty() => Turn::Text,
            None => {
                let now = set.clone().map(Named::from);
                let new = now.filter(|now| options.iter().all(|o| o.value != now.value));
                options.splice(0..0, new);
                Turn::Choice { options }
            }
        };
        Ok(Dial { key: path.to_owned(), value: set.map(|v| v.setting()), doc: meaning.doc().to_owned(), turn })
    }

    /// What the key `path` means.
    fn meaning(&self, path: &str) -> Result<Meaning, Refusal> {
        let numbered = self.parts(path)?;
        let plain: Vec<&str> = match numbered.as_slice() {
            [table, number, rest @ ..] if number.parse::<usize>().is_ok() => {
                std::iter::once(table).chain(rest).map(String::as_str).collect()
            }
            all => all.iter().map(String::as_str).collect(),
        };
        let all = keys();
        let find = |plain: &[&str]| all.iter().find(|(path, ..)| *path == plain.join(".")).map(|found| found.2);
        if let Some(key) = find(&plain).filter(|key| key.has_values()) {
            return Ok(Meaning::Key(key));
        }
        // A parameter of the algorithm that the key before it has.
        let (of, [name]) = plain.split_at(plain.len().saturating_sub(1)) else { return Err(unknown(path)) };
        let family = find(of).and_then(Key::family).ok_or_else(|| unknown(path))?;
        let chosen =
            self.value(&numbered[..numbered.len() - 1].join(".")).and_then(kind).ok_or_else(|| unknown(path))?;
        let algorithm = family.algorithms().into_iter().find(|a| a.name == chosen).ok_or_else(|| unknown(path))?;
        let found = algorithm.params.iter().find(|p| p.name == *name);
        found.map(Meaning::Param).ok_or_else(|| {
            let help = suggest(name, algorithm.params.iter().map(|p| p.name));
            Refusal::new(format!("{chosen} has no parameter `{name}`"), help)
        })
    }

    /// The parts of a key path, with the number of each table.
    fn parts(&self, path: &str) -> Result<Vec<String>, Refusal> {
        let parts = split_path(path).filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| Refusal::new(format!("`{path}` is not a key path"), FORM))?;
        self.sweep.names().numbered(&parts)
    }

    /// The value that the file gives to a key.
    fn value(&self, path: &str) -> Option<&Node> {
        self.network.at(&self.parts(path).ok()?)
    }
}

const FORM: &str = "write it like flow.0.count or wifi.slot";

fn unknown(path: &str) -> Refusal {
    let all: Vec<String> = keys().iter().map(|(path, ..)| keys::settable(path)).collect();
    let near = crate::nearest(path, all.iter().map(String::as_str));
    let help = near.map_or_else(|| FORM.to_owned(), |near| format!("did you mean `{near}`?"));
    Refusal::new(format!("there is no key `{path}`"), help)
}

/// The name of the algorithm that `node` chooses.
fn kind(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Text(name) => Some(name),
        _ => node.get("kind").and_then(kind),
    }
}

/// What a key path refers to.
enum Meaning {
    /// A key of a table.
    Key(&'static Key),
    /// A parameter of an algorithm.
    Param(&'static Param),
}

impl Meaning {
    fn doc(&self) -> &'static str {
        match self {
            Meaning::Key(key) => key.doc,
            Meaning::Param(param) => param.doc,
        }
    }

    /// A value to begin with if the file has none: the default, or an example.
    fn usual(&self) -> Option<serde_json::Value> {
        let text = match self {
            Meaning::Key(Key { default: keys::Default::Value(text), .. }) => *text,
            Meaning::Key(key) => key.example,
            Meaning::Param(param) => return Some(param.default?.into()),
        };
        Some(read_setting(0, 0, text).to_json())
    }

    fn names(&self) -> Vec<&'static str> {
        match self {
            Meaning::Key(key) => key.names(),
            Meaning::Param(Param { unit: Unit::Word(words), .. }) => words.to_vec(),
            Meaning::Param(Param { unit: Unit::Bool, .. }) => vec!["true", "false"],
            Meaning::Param(_) => vec![],
        }
    }

    fn kinds(&self) -> &'static [Kind] {
        match self {
            Meaning::Key(key) => key.kinds,
            Meaning::Param(Param { unit: Unit::Fraction, .. }) => &[Kind::Share],
            Meaning::Param(Param { unit: Unit::Integer, .. }) => &[Kind::Whole(0, u64::MAX)],
            Meaning::Param(_) => &[],
        }
    }
}

/// The range around a number or quantity; `None` for anything else.
fn range(value: &SweptValue, kinds: &[Kind]) -> Option<Turn> {
    let text = value.setting();
    let (at, unit) = match text.parse::<f64>() {
        Ok(number) => (number, WrittenUnit::PLAIN),
        Err(_) => {
            let unit = WrittenUnit::of(&text)?;
            (unit.count(Quantity::parse(&text).ok()?.value), unit)
        }
    };
    let bounds = kinds.iter().find_map(|kind| match kind {
        Kind::Whole(low, high) | Kind::Segments(low, high) => Some((*low as f64, *high as f64)),
        _ => None,
    });
    let is_share = unit.name == "%" || kinds.iter().any(|kind| matches!(kind, Kind::Share));
    let whole = bounds.is_some() || ["p", "B"].contains(&unit.name) || value.is_i64();
    let (mut low, mut high) = match at {
        _ if !at.is_finite() => return None,
        0.0 => (0.0, if is_share { unit.count(0.1) } else { REACH }),
        _ if at < 0.0 => (at * REACH, at / REACH),
        _ => (at / REACH, at * REACH),
    };
    if is_share {
        high = high.min(unit.count(1.0));
    }
    if whole {
        (low, high) = (low.floor().max(if at > 0.0 { 1.0 } else { low }), high.ceil());
    }
    if let Some((least, most)) = bounds {
        (low, high) = (low.max(least), high.min(most));
    }
    Some(Turn::Range { low, high, at, unit: unit.name, whole, log: low > 0.0 })
}
