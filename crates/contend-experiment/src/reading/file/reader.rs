//! Reads the values of a table with their units. It records which keys were read, and reports all other keys as
//! unknown.

use super::error::{FileError, Source, Spot};
use super::quoted::part;
use super::tree::{Entry, Node, NodeKind};
use crate::names::suggest;
use crate::reading::expression::quantity::{FASTEST, LONGEST, NotAQuantity, nearest_unit};
use crate::reading::expression::{Dimension, ParseError, Quantity, evaluate};
use contend_core::registry::Amount;
use contend_core::{Span, Time};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Maximum number of bytes or packets.
const MOST: f64 = 1e15;

/// What a value may refer to: the texts for errors, the named numbers, and the member of a group.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    pub source: &'a Source,
    /// The numbers of `[param]` by name.
    pub params: &'a [(String, Quantity)],
    /// Member k of n, if a value may differ between members.
    pub member: Option<(usize, usize)>,
    /// The TCP that is meant where the file says nothing.
    pub stack: Stack,
}

/// Whose TCP a file means where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stack {
    /// That of the RFCs, and of ns-2.
    Rfc,
    /// That of a Linux of today.
    #[default]
    Linux,
}

impl<'a> ReadContext<'a> {
    /// The context of a value that stands alone, with the default stack.
    pub fn new(source: &'a Source, params: &'a [(String, Quantity)]) -> ReadContext<'a> {
        ReadContext { source, params, member: None, stack: Stack::default() }
    }

    fn lookup(&self, name: &str) -> Option<Quantity> {
        let param = self.params.iter().find(|p| p.0 == name).map(|p| p.1);
        param.or_else(|| match (name, self.member) {
            ("k", Some((k, _))) => Some(Quantity::number(k as f64)),
            ("n", Some((_, n))) => Some(Quantity::number(n as f64)),
            _ => None,
        })
    }

    /// The value of an expression.
    pub fn evaluate(&self, text: &str) -> Result<Quantity, ParseError> {
        evaluate(text, &|name| self.lookup(name))
    }

    fn names(&self) -> String {
        let own = if self.member.is_some() { vec!["k", "n"] } else { vec![] };
        let names: Vec<&str> = own.into_iter().chain(self.params.iter().map(|p| p.0.as_str())).collect();
        if names.is_empty() {
            "an expression may use numbers with units, + - * / min max floor, and names from [param]".into()
        } else {
            format!("allowed names: {}", names.join(", "))
        }
    }
}

/// A value with its key path and its context.
#[derive(Clone)]
pub(crate) struct Val<'a> {
    pub cx: ReadContext<'a>,
    pub path: String,
    pub node: &'a Node,
}

/// The expected kind of a value, in words.
struct Want {
    noun: &'static str,
    example: &'static str,
    accepts: &'static [Dimension],
    /// True if the reader accepts negative values. The range of a plain number is checked elsewhere.
    negative: bool,
}

const TIME: Want = Want { noun: "a duration", example: "\"15ms\"", accepts: &[Dimension::Time], negative: false };
const RATE: Want = Want { noun: "a rate", example: "\"54Mbps\"", accepts: &[Dimension::Rate], negative: false };
const AMOUNT: Want = Want {
    noun: "an amount of packets or bytes",
    example: "\"100p\" or \"150kB\"",
    accepts: &[Dimension::Packets, Dimension::Bytes],
    negative: false,
};
const LENGTH: Want = Want { noun: "a length", example: "\"200m\"", accepts: &[Dimension::Length], negative: true };
const BYTES: Want =
    Want { noun: "a number of bytes", example: "\"1500B\"", accepts: &[Dimension::Bytes], negative: false };
const SHARE: Want =
    Want { noun: "a probability or share", example: "\"1%\" or 0.01", accepts: &[Dimension::Number], negative: true };
const NUMBER: Want = Want { noun: "a plain number", example: "1.5", accepts: &[Dimension::Number], negative: true };
const WHOLE: Want = Want { noun: "a whole number", example: "5", accepts: &[Dimension::Number], negative: true };
const COUNT: Want = Want {
    noun: "a number of segments",
    example: "\"10p\"",
    accepts: &[Dimension::Packets, Dimension::Number],
    negative: false,
};
const ANY: Want =
    Want { noun: "a number or a quantity", example: "0.95 or \"15ms\"", accepts: &Dimension::ALL, negative: true };

impl<'a> Val<'a> {
    /// An error about this value.
    pub fn error(&self, message: impl Display, help: impl Into<String>) -> FileError {
        FileError::new(self.cx.source, &self.node.site, format!("`{}` {message}", self.path), help)
    }

    /// The value of the current member, if a list gives one value for each member.
    pub fn pick(&self) -> Result<Val<'a>, FileError> {
        let NodeKind::List(list) = &self.node.kind else { return Ok(self.clone()) };
        let Some((k, _)) = self.cx.member else {
            let several = match self.node.site {
                Spot::Set(..) => "to try several, give them with --sweep",
                _ => "to try several, put the list under [sweep]",
            };
            return Err(self.error(
                "takes one value, not a list",
                format!("a list gives one value to each member of a [[flow]] or [[station]]; {several}"),
            ));
        };
        match list.get((k - 1) % list.len().max(1)) {
            Some(node) if !matches!(node.kind, NodeKind::List(_)) => Ok(Val { node, ..self.clone() }),
            Some(_) => Err(self.error("is a list of lists", "write a list of values, one for each member")),
            None => Err(self.error("is an empty list", "write at least one value")),
        }
    }

    /// Reads a string.
    pub fn text(&self) -> Result<&'a str, FileError> {
        let v = self.pick()?;
        match &v.node.kind {
            NodeKind::Text(s) => Ok(s),
            _ => Err(v.error(format!("must be a string, not {}", v.node.kind_name()), "write it in double quotes")),
        }
    }

    /// Reads one of these words; returns the value that belongs to it.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, FileError> {
        #[cfg(test)]
        asked::words(&self.path, words.iter().map(|w| w.0));
        let text = self.text()?;
        let found = words.iter().find(|w| w.0 == text).map(|w| w.1);
        found.ok_or_else(|| self.error(format!("cannot be \"{text}\""), suggest(text, words.iter().map(|w| w.0))))
    }

    /// `true` or `false`.
    pub fn flag(&self) -> Result<bool, FileError> {
        let v = self.pick()?;
        match v.node.kind {
            NodeKind::Bool(b) => Ok(b),
            _ => Err(v.error(
                format!("must be true or false, not {}", v.node.kind_name()),
                "write true or false, without quotes",
            )),
        }
    }

    fn quantity(&self, want: &Want) -> Result<Quantity, FileError> {
        let v = self.pick()?;
        let help = || {
            let units: Vec<String> =
                want.accepts.iter().map(|d| d.units()).filter(|u| !u.is_empty() && want.accepts.len() < 3).collect();
            let units = if units.is_empty() || want.accepts == [Dimension::Number] {
                String::new()
            } else {
                format!(" (units: {})", units.join(", "))
            };
            format!("write {} like {}{units}", want.noun, want.example)
        };
        let quantity = match &v.node.kind {
            NodeKind::Integer(i) => Quantity::number(*i as f64),
            NodeKind::Float(x) if x.is_finite() => Quantity::number(*x),
            NodeKind::Float(_) => return Err(v.error("is not a finite number", help())),
            NodeKind::Text(s) => match s.trim_start().strip_prefix('=') {
                Some(expression) => self.cx.evaluate(expression).map_err(|e| {
                    let remedy = if e.help.is_empty() { self.cx.names() } else { e.help };
                    let before = s.len() - expression.len();
                    let wrong = part(v.cx.source, &v.node.site, s, before + e.span.start..before + e.span.end);
                    let message = format!("`{}` cannot be computed: {}", v.path, e.message);
                    FileError::new(v.cx.source, &wrong, message, remedy)
                })?,
                None => match Quantity::parse(s) {
                    Ok(q) => q,
                    // A number of the command line that exceeds TOML's integers.
                    Err(NotAQuantity::NoUnit(x)) if matches!(v.node.site, Spot::Set(..)) && x.abs() > 1e18 => {
                        Quantity::number(x)
                    }
                    Err(NotAQuantity::NoUnit(_)) if want.accepts == [Dimension::Number] => {
                        return Err(v.error("is a number in quotes", "remove the quotes"));
                    }
                    Err(NotAQuantity::NoUnit(x)) => return Err(v.error(format!("has no unit: {x}"), help())),
                    Err(NotAQuantity::NoSuchUnit(unit)) => {
                        let hint = nearest_unit(&unit, want.accepts)
                            .map_or(String::new(), |u| format!("; did you mean `{u}`?"));
                        return Err(v.error(format!("has an unknown unit: `{unit}`"), help() + &hint));
                    }
                    Err(NotAQuantity::NoNumber) => {
                        return Err(v.error(format!("must be {}, not \"{s}\"", want.noun), help()));
                    }
                },
            },
            _ => return Err(v.error(format!("must be {}, not {}", want.noun, v.node.kind_name()), help())),
        };
        if !want.accepts.contains(&quantity.unit) {
            if quantity.unit == Dimension::Number {
                return Err(v.error(format!("has no unit: {}", quantity.value), help()));
            }
            return Err(v.error(format!("must be {}, but {quantity} is {}", want.noun, quantity.unit.noun()), help()));
        }
        if quantity.value < 0.0 && !want.negative {
            return Err(v.error(format!("is negative: {quantity}"), help()));
        }
        Ok(quantity)
    }

    fn at_most(&self, q: Quantity, most: f64) -> Result<Quantity, FileError> {
        let limit = Quantity { value: most, ..q };
        if q.value <= most {
            Ok(q)
        } else {
            Err(self.error(format!("is too large: {q}"), format!("write at most {limit}")))
        }
    }

    /// Reads any number or quantity.
    pub fn any(&self) -> Result<Quantity, FileError> {
        self.quantity(&ANY)
    }

    /// Reads a duration.
    pub fn span(&self) -> Result<Span, FileError> {
        let q = self.quantity(&TIME)?;
        Ok(Span::from_secs_f64(self.at_most(q, LONGEST)?.value))
    }

    /// Reads a duration above zero.
    pub fn positive_span(&self) -> Result<Span, FileError> {
        match self.span()? {
            Span::ZERO => Err(self.error("is zero", "write a duration of at least 1ns")),
            span => Ok(span),
        }
    }

    /// Reads an instant of the run.
    pub fn time(&self) -> Result<Time, FileError> {
        Ok(Time::ZERO + self.span()?)
    }

    /// Reads a rate in bits per second.
    pub fn rate(&self) -> Result<u64, FileError> {
        let q = self.quantity(&RATE)?;
        Ok(self.at_most(q, FASTEST)?.value.round() as u64)
    }

    /// Reads packets or bytes.
    pub fn amount(&self) -> Result<Amount, FileError> {
        let q = self.quantity(&AMOUNT)?;
        let value = self.whole(self.at_most(q, MOST)?)?;
        Ok(if q.unit == Dimension::Packets { Amount::Packets(value) } else { Amount::Bytes(value) })
    }

    /// Reads a length in metres, at most `farthest` in each direction.
    pub fn length(&self, farthest: f64) -> Result<f64, FileError> {
        let q = self.quantity(&LENGTH)?;
        let most = self.at_most(Quantity { value: q.value.abs(), ..q }, farthest)?;
        Ok(most.value.copysign(q.value))
    }

    /// Reads bytes.
    pub fn bytes(&self, range: RangeInclusive<u64>) -> Result<u64, FileError> {
        let q = self.quantity(&BYTES)?;
        self.within(self.whole(q)?, range, "B")
    }

    /// Reads a share or probability; the caller checks its range.
    pub fn share(&self) -> Result<f64, FileError> {
        Ok(self.quantity(&SHARE)?.value)
    }

    /// Reads a plain number.
    pub fn number(&self) -> Result<f64, FileError> {
        Ok(self.quantity(&NUMBER)?.value)
    }

    /// Reads a whole number.
    pub fn integer(&self, range: RangeInclusive<u64>) -> Result<u64, FileError> {
        let q = self.quantity(&WHOLE)?;
        self.within(self.whole(q)?, range, "")
    }

    /// Reads segments: `"2p"` or `2`.
    pub fn segments(&self, range: RangeInclusive<u64>) -> Result<u32, FileError> {
        let q = self.quantity(&COUNT)?;
        Ok(self.within(self.whole(q)?, range, "p")? as u32)
    }

    fn whole(&self, q: Quantity) -> Result<u64, FileError> {
        let rounded = q.value.round();
        if q.value < 0.0 {
            return Err(self.error(format!("is negative: {q}"), "write 0 or more"));
        }
        // An expression may miss a whole number by a rounding error.
        if (q.value - rounded).abs() > 1e-9 * rounded.max(1.0) {
            return Err(self.error(format!("is not a whole number: {q}"), "round it, in an expression with floor(...)"));
        }
        Ok(rounded as u64)
    }

    fn within(&self, value: u64, range: RangeInclusive<u64>, unit: &str) -> Result<u64, FileError> {
        if range.contains(&value) {
            return Ok(value);
        }
        let how = if value > *range.end() { "too large" } else { "too small" };
        Err(self.error(
            format!("is {how}: {value}{unit}"),
            format!("write a value from {}{unit} to {}{unit}", range.start(), range.end()),
        ))
    }

    /// The items of a list.
    pub fn list(&self, of: &str) -> Result<impl Iterator<Item = Val<'a>> + use<'a>, FileError> {
        let NodeKind::List(list) = &self.node.kind else {
            return Err(self.error(format!("must be a list, not {}", self.node.kind_name()), format!("write {of}")));
        };
        let (cx, path) = (self.cx, self.path.clone());
        Ok(list.iter().enumerate().map(move |(i, node)| Val { cx, path: format!("{path}.{i}"), node }))
    }

    /// The keys of a table.
    pub fn table(&self) -> Result<Fields<'a>, FileError> {
        let v = self.pick()?;
        match v.node.entries() {
            Some(entries) => Ok(Fields { cx: v.cx, site: &v.node.site, path: v.path, entries, asked: vec![] }),
            None => {
                let help = match v.path.rsplit_once('.') {
                    None => format!("write [{0}] or {0} = {{ ... }}", v.path),
                    Some((_, key)) if key.parse::<usize>().is_ok() => "write { ... }".to_owned(),
                    Some((_, key)) => format!("write {key} = {{ ... }}"),
                };
                Err(v.error(format!("must be a table, not {}", v.node.kind_name()), help))
            }
        }
    }

    /// The keys of a table that describes an algorithm. `example` is the name of an algorithm, for the remedy.
    pub fn described(&self, example: &str) -> Result<Fields<'a>, FileError> {
        let v = self.pick()?;
        if v.node.entries().is_some() {
            return v.table();
        }
        Err(v.error(
            format!("must be a name or a table, not {}", v.node.kind_name()),
            format!("write \"{example}\" or {{ kind = \"{example}\", ... }}"),
        ))
    }
}

/// The keys of one table.
pub(crate) struct Fields<'a> {
    pub cx: ReadContext<'a>,
    pub path: String,
    site: &'a Spot,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// An empty table; used if `val` is a single word.
    pub fn empty(val: &Val<'a>) -> Fields<'a> {
        Fields { cx: val.cx, path: val.path.clone(), site: &val.node.site, entries: &[], asked: vec![] }
    }

    /// An empty table in place of the missing table `key`.
    pub fn absent(&self, key: &str) -> Fields<'a> {
        Fields { cx: self.cx, path: self.path_of(key), site: self.site, entries: &[], asked: vec![] }
    }

    /// The value of `key`, if the table has it.
    pub fn get(&mut self, key: &'static str) -> Option<Val<'a>> {
        #[cfg(test)]
        asked::key(&self.path_of(key));
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        let entry = self.entries.iter().find(|e| e.key == key)?;
        Some(Val { cx: self.cx, path: self.path_of(key), node: &entry.value })
    }

    /// The value of `key`; `example` is the remedy if it is missing.
    pub fn need(&mut self, key: &'static str, example: &str) -> Result<Val<'a>, FileError> {
        if let Some(v) = self.get(key) {
            return Ok(v);
        }
        Err(self
            .misspelt(key)
            .unwrap_or_else(|| self.error(format!("needs `{key}`"), format!("write {key} = {example}"))))
    }

    /// The error about a key that is probably a misspelling of the missing `key`; `None` if no key is similar.
    pub fn misspelt(&self, key: &str) -> Option<FileError> {
        let slips = if key.len() < 6 { 1 } else { 2 };
        let similar =
            |e: &&Entry| !self.asked.contains(&e.key.as_str()) && strsim::damerau_levenshtein(&e.key, key) <= slips;
        let e = self.entries.iter().find(similar)?;
        let message = format!("there is no key `{}`", self.path_of(&e.key));
        Some(FileError::with_label(self.cx.source, &e.site, message, "unknown", format!("did you mean `{key}`?")))
    }

    /// Applies `read` to the value of `key`, if the table has it.
    pub fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Val<'a>) -> Result<T, FileError>,
    ) -> Result<Option<T>, FileError> {
        self.get(key).map(read).transpose()
    }

    /// Like [`Fields::read`], with a default if the key is missing.
    pub fn read_or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Val<'a>) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        self.get(key).map_or(Ok(default), read)
    }

    /// Refuses keys that are reserved for later.
    pub fn later(&mut self, keys: &[&'static str]) -> Result<(), FileError> {
        let found = keys.iter().find_map(|&key| self.get(key));
        self.asked.retain(|key| !keys.contains(key));
        match found {
            Some(v) => Err(v.error("is reserved for a later version of contend", "remove it")),
            None => Ok(()),
        }
    }

    /// All entries, for tables with names as keys.
    pub fn all(&self) -> impl Iterator<Item = (&'a Entry, Val<'a>)> + use<'a> {
        let (cx, path, entries) = (self.cx, self.path.clone(), self.entries);
        entries.iter().map(move |e| (e, Val { cx, path: format!("{path}.{}", e.key), node: &e.value }))
    }

    /// The key path of `key` in this table.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// An error about the whole table.
    pub fn error(&self, message: impl Display, help: impl Into<String>) -> FileError {
        let what = if self.path.is_empty() { "the file".into() } else { format!("`{}`", self.path) };
        FileError::new(self.cx.source, self.site, format!("{what} {message}"), help)
    }

    /// Reports the keys that were not read.
    pub fn finish(self) -> Result<(), FileError> {
        self.finish_or(|_| None)
    }

    /// Like [`Fields::finish`]; `elsewhere` may know where the first unknown key belongs.
    pub fn finish_or(self, elsewhere: impl FnOnce(&str) -> Option<String>) -> Result<(), FileError> {
        let mut unknown = self.entries.iter().filter(|e| !self.asked.contains(&e.key.as_str()));
        let Some(first) = unknown.next() else { return Ok(()) };
        let message = format!("there is no key `{}`", self.path_of(&first.key));
        let error = FileError::with_label(
            self.cx.source,
            &first.site,
            message,
            "unknown",
            elsewhere(&first.key).unwrap_or_else(|| suggest(&first.key, self.asked.iter().copied())),
        );
        Err(unknown.fold(error, |error, e| error.and(&e.site, "unknown too")))
    }
}

/// The keys and words that were asked for, for the tests of [`keys`](super::keys).
#[cfg(test)]
pub(crate) mod asked {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        static KEYS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
        static WORDS: RefCell<BTreeSet<(String, String)>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// A key path without the numbers of tables and items.
    fn plain(path: &str) -> String {
        path.split('.').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join(".")
    }

    pub(crate) fn key(path: &str) {
        KEYS.with_borrow_mut(|all| all.insert(plain(path)));
    }

    pub(crate) fn words<'w>(path: &str, words: impl IntoIterator<Item = &'w str>) {
        let path = plain(path);
        WORDS.with_borrow_mut(|all| all.extend(words.into_iter().map(|w| (path.clone(), w.to_owned()))));
    }

    /// The key paths that this thread has asked for.
    pub(crate) fn all_keys() -> BTreeSet<String> {
        KEYS.with_borrow(Clone::clone)
    }

    /// The key paths with each word that they accept.
    pub(crate) fn all_words() -> BTreeSet<(String, String)> {
        WORDS.with_borrow(Clone::clone)
    }
}
