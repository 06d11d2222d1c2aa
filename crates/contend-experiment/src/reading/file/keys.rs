//! All keys of an experiment file: meaning, kind of value, default and example, table by table.
//!
//! `contend explain`, the reference and the JSON schema for editors show these tables. Tests compare them with the
//! reader: it asks for these keys and no others, refuses what lies outside their ranges, accepts every example, and
//! every default that is written here changes nothing.

mod aggregation;
mod common;
mod flow;
mod judging;
mod network;
mod wire;

pub use super::family::{Algorithm, Family};
pub use super::tcp::{NamedVariant, variants};
pub use network::FILE;

/// A table of an experiment file.
#[derive(Debug)]
pub struct Table {
    /// The heading, as in a file: `[wifi]`, `[[flow]]`, `tcp of a [[flow]]`.
    pub heading: &'static str,
    /// What the table describes, in one or two sentences.
    pub doc: &'static str,
    /// True if a value may be a list with one value for each member.
    pub has_members: bool,
    /// The keys, in the order of the explanation.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// The name.
    pub name: &'static str,
    /// The kinds of value that it takes; one of them.
    pub kinds: &'static [Kind],
    /// The default.
    pub default: Default,
    /// A value as in a file.
    pub example: &'static str,
    /// The meaning, in one or two sentences.
    pub doc: &'static str,
}

/// The default of a key that a table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// The key is mandatory.
    Required,
    /// The same as with this value, written as in a file.
    Value(&'static str),
    /// Something that no value expresses, or that depends on other keys.
    Words(&'static str),
}

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A plain number.
    Number,
    /// A probability or share: `"1%"` or `0.01`.
    Share,
    /// A whole number between two limits.
    Whole(u64, u64),
    /// Segments between two limits: `"10p"` or `10`.
    Segments(u64, u64),
    /// A duration.
    Time,
    /// A duration above zero.
    PositiveTime,
    /// Bits per second.
    Rate,
    /// Metres.
    Length,
    /// Packets or bytes.
    Amount,
    /// Bytes between two limits.
    Bytes(u64, u64),
    /// Any number or quantity.
    Quantity,
    /// One of these words.
    Word(&'static [Word]),
    /// A text of this form: `uniform(0s, 2s)`.
    Form(&'static str, &'static str),
    /// An expression over the results of a run.
    Expression,
    /// A key path of the network.
    KeyPath,
    /// The name of a TCP variant.
    Variant,
    /// The name of a closed form.
    Model,
    /// An algorithm: its name, or a table of `kind` and its parameters.
    Algorithm(Family),
    /// An algorithm like [`Kind::Algorithm`], whose `kind` may be missing.
    Usual(Family),
    /// A list of values of a kind.
    List(&'static Kind),
    /// A table.
    Table(&'static Table),
    /// A list of tables: `[[flow]]`.
    Tables(&'static Table),
    /// A table of names or key paths, each with values of these kinds.
    Map(&'static str, &'static [Kind]),
}

/// A word that is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// The meaning, in a phrase or sentence.
    pub doc: &'static str,
}

/// A name that expressions of a file know besides those of `[param]`.
pub const NAMES: &[Word] = &[
    word("k", "The number of a member of a [[flow]] or [[station]], from 1."),
    word("n", "The number of members of a [[flow]] or [[station]]."),
    word("floor", "The largest whole number that is at most x: floor(x)."),
    word("min", "The smallest of several values: min(x, y)."),
    word("max", "The largest of several values: max(x, y)."),
];

const fn word(name: &'static str, doc: &'static str) -> Word {
    Word { name, doc }
}

const fn key(
    name: &'static str,
    kinds: &'static [Kind],
    default: Default,
    example: &'static str,
    doc: &'static str,
) -> Key {
    Key { name, kinds, default, example, doc }
}

/// Every table, each before the tables that it holds.
pub fn tables() -> Vec<&'static Table> {
    fn add(table: &'static Table, all: &mut Vec<&'static Table>) {
        if all.iter().all(|t| t.heading != table.heading) {
            all.push(table);
            table.keys.iter().filter_map(Key::table).for_each(|inner| add(inner, all));
        }
    }
    let mut all = vec![];
    add(&FILE, &mut all);
    all
}

/// Every key with its table and its key path without numbers of tables: `flow.tcp.rto.min`.
pub fn keys() -> Vec<(String, &'static Table, &'static Key)> {
    fn add(table: &'static Table, path: &str, all: &mut Vec<(String, &'static Table, &'static Key)>) {
        for key in table.keys {
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            all.push((path.clone(), table, key));
            if let Some(inner) = key.table() {
                add(inner, &path, all);
            }
        }
    }
    let mut all = vec![];
    add(&FILE, "", &mut all);
    all
}

/// A key path of [`keys`] as `--set` takes it: a table of a list has a number.
pub fn settable(path: &str) -> String {
    match path.split_once('.') {
        Some((head, key)) if tables().iter().any(|t| t.heading == format!("[[{head}]]")) => format!("{head}.0.{key}"),
        _ => path.to_owned(),
    }
}

/// Keys that are reserved for later versions of contend.
pub const RESERVED: &[&str] = &["flow.off"];

impl Kind {
    /// What a value of this kind is, in a phrase.
    pub fn in_words(&self) -> String {
        let between = |noun: &str, low: &u64, high: &u64, unit: &str| match (low, high) {
            (0, &u64::MAX) => noun.to_owned(),
            (low, &u64::MAX) => format!("{noun} of at least {low}{unit}"),
            _ => format!("{noun} from {low}{unit} to {high}{unit}"),
        };
        match self {
            Kind::Text => "a text".into(),
            Kind::Flag => "true or false".into(),
            Kind::Number => "a plain number".into(),
            Kind::Share => "a share, like \"1%\" or 0.01".into(),
            Kind::Whole(low, high) => between("a whole number", low, high, ""),
            Kind::Segments(low, high) => between("segments, like \"10p\" or 10,", low, high, "p"),
            Kind::Time => "a duration, like \"15ms\"".into(),
            Kind::PositiveTime => "a duration above zero, like \"15ms\"".into(),
            Kind::Rate => "a rate, like \"54Mbps\"".into(),
            Kind::Length => "a length, like \"200m\"".into(),
            Kind::Amount => "packets or bytes, like \"100p\" or \"150kB\"".into(),
            Kind::Bytes(low, high) => between("bytes, like \"1500B\",", low, high, "B"),
            Kind::Quantity => "a number, or a quantity with its unit".into(),
            Kind::Word(words) => {
                let names: Vec<String> = words.iter().map(|w| format!("\"{}\"", w.name)).collect();
                names.join(" or ")
            }
            Kind::Form(form, doc) => format!("\"{form}\" ({doc})"),
            Kind::Expression => "an expression over results; see `contend list metrics`".into(),
            Kind::KeyPath => "a key path, like \"flow.0.count\" or \"wifi.slot\"".into(),
            Kind::Variant => "a TCP variant; see `contend list variants`".into(),
            Kind::Model => "a closed form; see `contend list models`".into(),
            Kind::Algorithm(family) | Kind::Usual(family) => format!(
                "{}: its name, or {{ kind = NAME, ... }} with parameters; see `contend list {}`",
                family.noun(),
                family.name()
            ),
            Kind::List(of) => format!("a list, each item {}", of.in_words()),
            Kind::Table(table) => {
                let keys: Vec<&str> = table.keys.iter().map(|k| k.name).collect();
                format!("a table of {}", keys.join(", "))
            }
            Kind::Tables(table) => format!("tables [[{}]]", table.heading.trim_matches(['[', ']'])),
            Kind::Map(form, _) => format!("a table {form}"),
        }
    }
}

impl Key {
    /// The table that is a value of the key.
    pub fn table(&self) -> Option<&'static Table> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Table(table) | Kind::Tables(table) => Some(*table),
            _ => None,
        })
    }

    /// True if the key has other values than tables.
    pub fn has_values(&self) -> bool {
        self.kinds.iter().any(|kind| !matches!(kind, Kind::Table(_) | Kind::Tables(_) | Kind::Map(..)))
    }

    /// The family of algorithms that are values of the key.
    pub fn family(&self) -> Option<Family> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Algorithm(family) | Kind::Usual(family) | Kind::List(Kind::Algorithm(family)) => Some(*family),
            _ => None,
        })
    }

    /// What a value is, in a sentence without a full stop.
    pub fn value_in_words(&self) -> String {
        self.kinds.iter().map(Kind::in_words).collect::<Vec<_>>().join("; or ")
    }

    /// The default, in words.
    pub fn default_in_words(&self) -> &'static str {
        match self.default {
            Default::Required => "must be given",
            Default::Value(text) | Default::Words(text) => text,
        }
    }

    /// The names that are values of the key: words, algorithms, variants, `true` and `false`.
    pub fn names(&self) -> Vec<&'static str> {
        let has = |wanted: fn(&Kind) -> bool| self.kinds.iter().any(wanted);
        let mut all: Vec<&str> = self.words().map(|w| w.name).collect();
        all.extend(self.family().into_iter().flat_map(Family::algorithms).map(|a| a.name));
        if has(|kind| matches!(kind, Kind::Variant)) {
            all.extend(variants().iter().map(|v| v.name));
        }
        if has(|kind| matches!(kind, Kind::Flag)) {
            all.extend(["true", "false"]);
        }
        all
    }

    /// The words that are values of the key, also those of lists.
    pub fn words(&self) -> impl Iterator<Item = &'static Word> {
        self.kinds.iter().flat_map(|kind| match kind {
            Kind::Word(words) | Kind::List(Kind::Word(words)) => *words,
            _ => &[],
        })
    }
}

#[cfg(test)]
mod tests;
