//! What a key path refers to: a key of a table, or a parameter of the algorithm that the file has chosen.

use super::error::Spot;
use super::keys::{self, Key, Kind, keys};
use super::table_names::TableNames;
use super::tree::{Node, NodeKind, read_setting, split_path};
use crate::names::suggest;
use crate::results::SweptValue;
use contend_core::Refusal;
use contend_core::registry::{Param, Unit};
use serde::Serialize;

/// The key paths of a file.
#[derive(Clone, Copy)]
pub(crate) struct Paths<'a> {
    /// The tables of the network, or the whole file.
    pub network: &'a Node,
    /// The names that key paths may use.
    pub names: &'a TableNames,
}

impl<'a> Paths<'a> {
    /// What the key `path` means.
    pub fn meaning(&self, path: &str) -> Result<Meaning, Refusal> {
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

    /// Refuses a key path that `--set` would refuse.
    pub fn check(&self, path: &str) -> Result<(), Refusal> {
        let parts = self.parts(path)?;
        // A parameter of the file has no entry in the table of keys.
        let value = match parts.as_slice() {
            [table, _] if table == "param" => None,
            _ => self.meaning(path)?.usual(),
        };
        let value = Node::from_json(&value.unwrap_or_default());
        self.network.clone().lay(&parts, &Spot::None, value)
    }

    /// The parts of a key path, with the number of each table.
    fn parts(&self, path: &str) -> Result<Vec<String>, Refusal> {
        let parts = split_path(path).filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| Refusal::new(format!("`{path}` is not a key path"), FORM))?;
        self.names.numbered(&parts)
    }

    /// The value that the file gives to a key.
    pub fn value(&self, path: &str) -> Option<&'a Node> {
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

/// What holds if the file does not have a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// The same as with this value, as `--set` takes it.
    Value(String),
    /// Something that no value expresses, or that depends on other keys.
    Words(&'static str),
}

/// What a key path refers to.
pub(crate) enum Meaning {
    /// A key of a table.
    Key(&'static Key),
    /// A parameter of an algorithm.
    Param(&'static Param),
}

impl Meaning {
    pub fn doc(&self) -> &'static str {
        match self {
            Meaning::Key(key) => key.doc,
            Meaning::Param(param) => param.doc,
        }
    }

    /// A value to begin with if the file has none: the default, or an example.
    pub fn usual(&self) -> Option<serde_json::Value> {
        let text = match self {
            Meaning::Key(Key { default: keys::Default::Value(text), .. }) => *text,
            Meaning::Key(key) => key.example,
            Meaning::Param(param) => return Some(param.default?.into()),
        };
        Some(read_setting(0, 0, text).to_json())
    }

    /// What holds if the file does not have the key; `None` if it must.
    pub fn absent(&self) -> Option<Absent> {
        let value = |text: &str| Absent::Value(SweptValue::from(read_setting(0, 0, text).to_json()).setting());
        match self {
            Meaning::Key(Key { default: keys::Default::Value(text), .. }) => Some(value(text)),
            Meaning::Key(Key { default: keys::Default::Words(text), .. }) => Some(Absent::Words(text)),
            Meaning::Key(Key { default: keys::Default::Required, .. }) => None,
            Meaning::Param(param) => param.default.map(value),
        }
    }

    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Meaning::Key(key) => key.names(),
            Meaning::Param(Param { unit: Unit::Word(words), .. }) => words.to_vec(),
            Meaning::Param(Param { unit: Unit::Bool, .. }) => vec!["true", "false"],
            Meaning::Param(_) => vec![],
        }
    }

    pub fn kinds(&self) -> &'static [Kind] {
        match self {
            Meaning::Key(key) => key.kinds,
            Meaning::Param(Param { unit: Unit::Fraction, .. }) => &[Kind::Share],
            Meaning::Param(Param { unit: Unit::Integer, .. }) => &[Kind::Whole(0, u64::MAX)],
            Meaning::Param(_) => &[],
        }
    }
}
