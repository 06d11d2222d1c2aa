//! What every name means that an experiment file can have: algorithms, TCP variants, metrics, functions, closed forms,
//! tables, keys, values and parameters; and words that users type and no file has.
//!
//! | module | what |
//! | --- | --- |
//! | [`words`] | words of the field |
//! | [`models`] | closed forms |
//! | [`formulas`] | the formulas of an algorithm |
//! | [`markdown`] | texts in Markdown |
//!
//! [`key_at`] finds the name to explain at a place in the text of a file.
//!
//! No thread, no clock and no file: who calls brings what else can be explained, as [`Item`]s.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod cursor;
pub mod formulas;
mod keys;
pub mod markdown;
pub mod models;
pub mod words;

pub use cursor::key_at;

use contend_core::Refusal;
use contend_core::registry::{Param, Unit};
use contend_experiment::reading::expression;
use contend_experiment::reading::file::keys::{Algorithm, Family, keys as file_keys};
use contend_experiment::reading::model::models as closed_forms;
use contend_judge::measuring::metric::{self, MetricEntry};
use contend_report::output::{WIDTH, wrapped};
use std::collections::BTreeSet;

/// A name with its explanation.
#[derive(Clone, Debug)]
pub struct Item {
    /// The name.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// The full explanation.
    pub text: String,
}

/// Every algorithm of every family.
pub fn everything() -> Vec<Algorithm> {
    Family::ALL.into_iter().flat_map(Family::algorithms).collect()
}

/// Every name that [`explained`] knows besides [words](words::WORDS).
pub fn names(more: &[Item]) -> BTreeSet<String> {
    let algorithms = everything();
    let names = algorithms
        .iter()
        .map(|a| a.name)
        .chain(metric::metrics().map(|m| m.name))
        .chain(functions().map(|f| f.name))
        .chain(keys::names(&algorithms))
        .map(str::to_owned);
    let items = more.iter().map(|i| i.name.clone()).chain(closed_forms().map(|m| m.name.to_owned()));
    names.chain(items).chain(file_keys().into_iter().map(|k| k.0)).collect()
}

/// What `contend explain NAME` prints: all that has this name in experiment files or in `more`, after what the word
/// means to users.
///
/// # Errors
/// When nothing has this name.
pub fn explained(asked: &str, more: &[Item]) -> Result<String, Refusal> {
    let mut found: Vec<String> = words::explained(asked).into_iter().collect();
    found.extend(named(asked, more));
    if found.is_empty() {
        let names = names(more);
        let folded = words::folded(asked);
        // Papers write TCP before the names of controllers.
        for wanted in [Some(folded.as_str()), folded.strip_prefix("tcp")].into_iter().flatten() {
            let same = |n: &&String| words::folded(n) == wanted;
            if found.is_empty() {
                found.extend(names.iter().filter(same).flat_map(|name| named(name, more)));
            }
        }
        if found.is_empty() {
            return Err(unknown(asked, &names));
        }
    }
    Ok(found.join("\n"))
}

/// An explanation for a page, which breaks lines itself: lines that were broken to fit a terminal are one again.
pub fn flowing(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for line in text.lines() {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        let word = rest.split(' ').next().unwrap_or_default().chars().count();
        // The first word would have fitted on the line before, if that had not ended.
        let goes_on = !indent.is_empty() && !rest.is_empty() && column > 0 && column + 1 + word > WIDTH;
        if goes_on {
            out.push(' ');
            out += rest;
        } else {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out += line;
        }
        column = line.chars().count();
    }
    out
}

/// True if something in an experiment file has exactly this name.
fn knows(name: &str) -> bool {
    !named(name, &[]).is_empty()
}

/// Most names that a refusal lists.
const MOST_NAMES: usize = 8;

/// Nothing has the name `asked`.
fn unknown(asked: &str, names: &BTreeSet<String>) -> Refusal {
    let part = words::folded(asked);
    let with: Vec<&str> = names.iter().map(String::as_str).filter(|n| words::folded(n).contains(&part)).collect();
    let remedy = if part.len() > 2 && !with.is_empty() {
        let more = if with.len() > MOST_NAMES { ", ..." } else { "" };
        let shown: Vec<&str> = with.into_iter().take(MOST_NAMES).collect();
        format!("these names have it: {}{more}; `contend list` shows all names", shown.join(", "))
    } else if let Some(n) = contend_experiment::nearest(asked, names.iter().map(String::as_str)) {
        format!("did you mean `{n}`? `contend list` shows all names")
    } else {
        "`contend list` shows all names".to_owned()
    };
    Refusal::new(format!("the name `{asked}` is unknown"), remedy)
}

/// All that has exactly this name; hyphens count as underscores.
fn named(asked: &str, more: &[Item]) -> Vec<String> {
    let all = everything();
    // A name may be written with hyphens, as in a file.
    let name = asked.replace('-', "_");
    let algorithms: Vec<String> = all.iter().filter(|i| i.name == name).map(algorithm).collect();
    let metrics: Vec<String> = metric::metric(asked).into_iter().map(metric_text).collect();
    let calls = functions().filter(|f| f.name == asked).map(|f| f.text());
    let items = more.iter().filter(|i| i.name == asked).map(|i| i.text.clone());
    let items = items.chain(closed_forms().filter(|m| m.name == asked).map(models::text));
    // Who asks about an algorithm or a metric does not ask about a parameter of another one that has its name.
    let is_brief = !algorithms.is_empty() || !metrics.is_empty();
    let keys = keys::explained(asked, &all, is_brief);
    algorithms.into_iter().chain(metrics).chain(calls).chain(items).chain(keys).collect()
}

/// An explanation: what it is, and lines with their labels.
pub fn entry(name: &str, family: &str, doc: &str, lines: &[(&str, &str)]) -> String {
    let mut out = format!("{name} ({family})\n\n  {}\n", wrapped(doc, WIDTH, 2));
    if !lines.is_empty() {
        out.push('\n');
    }
    for (what, text) in lines {
        out += &format!("  {:<9}{}\n", format!("{what}:"), wrapped(text, WIDTH, 11));
    }
    out
}

fn algorithm(i: &Algorithm) -> String {
    let mut out = format!("{} ({})\n\n  {}\n\n", i.name, i.family.name(), wrapped(i.summary, WIDTH, 2));
    out += &format!("  Source: {}\n  Use:    {}\n", wrapped(i.cite, WIDTH, 10), i.usage());
    for (label, what) in [("Needs", i.needs()), ("Gives", i.gives())] {
        if !what.is_empty() {
            out += &format!("  {label}:  {}\n", wrapped(&what, WIDTH, 10));
        }
    }
    out += &formulas::text(i);
    if i.params.is_empty() {
        return out + "\n  No parameters.\n";
    }
    out += "\n  Parameters:\n";
    let mut told: Option<&[Param]> = None;
    for p in i.params {
        let default = default(i, p);
        let value = wrapped(&format!("{}, {default}", unit(p)), WIDTH, 21);
        out += &format!("    {:<16} {}\n    {:<16} {value}\n", p.name, wrapped(&meaning(p), WIDTH, 21), "");
        // Several parameters in a row may be tables of the same kind. The kind is explained once.
        let Unit::Group(of) = p.unit else {
            told = None;
            continue;
        };
        if told.replace(of) != Some(of) {
            for q in of {
                let name = format!("{}.{}", p.name, q.name);
                out += &format!("    {:<16} {}\n    {:<16} {}\n", name, wrapped(q.doc, WIDTH, 21), "", unit(q));
            }
        }
    }
    out
}

/// A function of expressions.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name.
    pub name: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// How it is written.
    pub usage: String,
    /// What its arguments are.
    pub takes: String,
    /// What its value is.
    pub yields: &'static str,
}

/// All functions. Functions of plain numbers come first.
pub fn functions() -> impl Iterator<Item = Call> {
    let numbers = expression::FUNCTIONS.iter().map(|f| Call {
        name: f.name,
        doc: f.doc,
        usage: if f.values.is_some() { format!("{}(x)", f.name) } else { format!("{0}(list), {0}(x, y, ...)", f.name) },
        takes: if f.values.is_some() { "a plain number" } else { "a list, or two values or more" }.to_owned(),
        yields: f.yields.in_words(),
    });
    let of_runs = metric::FUNCTIONS.iter().map(|f| Call {
        name: f.name,
        doc: f.doc,
        usage: f.usage.to_owned(),
        takes: f.takes.iter().map(|t| t.noun()).collect::<Vec<_>>().join("; "),
        yields: if f.is_list { "a list" } else { f.yields.in_words() },
    });
    numbers.chain(of_runs)
}

impl Call {
    fn text(&self) -> String {
        format!(
            "{} (functions)\n\n  {}\n\n  Use:    {}\n  Takes:  {}\n  Value:  {}\n",
            self.name,
            wrapped(self.doc, WIDTH, 2),
            wrapped(&self.usage, WIDTH, 10),
            wrapped(&self.takes, WIDTH, 10),
            self.yields
        )
    }
}

fn metric_text(m: &MetricEntry) -> String {
    let note = if m.note.is_empty() {
        String::new()
    } else {
        format!("\n\n  {}", wrapped(&m.note.replace('`', ""), WIDTH, 2))
    };
    let mut out = format!(
        "{} (metrics)\n\n  {}{note}\n\n  Use:    {}\n  Value:  {}\n  Over:   {}\n",
        m.name,
        wrapped(m.doc, WIDTH, 2),
        wrapped(&m.usage(), WIDTH, 10),
        models::measure(m.unit),
        m.period_in_words()
    );
    if let Some(also) = m.aspects_in_words() {
        out += &format!("  Also:   {}\n", wrapped(&also, WIDTH, 10));
    }
    out
}

/// What a parameter means, after its symbol.
pub fn meaning(p: &Param) -> String {
    if p.symbol.is_empty() { p.doc.to_owned() } else { format!("{}: {}", p.symbol, p.doc) }
}

/// The unit and range of a parameter.
pub fn unit(p: &Param) -> String {
    // An algorithm in Python may leave a bound out.
    let (low, high) = p.range;
    let range = |unit: &str| match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{low} .. {high} {unit}"),
        (true, false) => format!("{low} or more {unit}"),
        (false, true) => format!("{high} or less {unit}"),
        (false, false) => format!("any value {unit}"),
    };
    match p.unit {
        Unit::Number => range("(number)"),
        Unit::Integer => range("(whole number)"),
        Unit::Time => range("s, written like \"15ms\""),
        Unit::Rate => range("bit/s, written like \"54Mbps\""),
        Unit::Amount => "packets or bytes, written like \"100p\" or \"150kB\"".into(),
        Unit::Fraction => range("(share, written like \"1%\" or 0.01)"),
        Unit::Bool => "true or false".into(),
        Unit::Word(words) => format!("one of {}", words.join(", ")),
        Unit::Schedule => "list like [[\"50s\", \"100s\", \"2Mbps\"]]".into(),
        Unit::Intervals => "list like [[\"400ms\", \"410ms\"]]".into(),
        Unit::Weights => "list like [[\"down.1.sta\", 2]]".into(),
        Unit::Numbers => "list of numbers".into(),
        Unit::Group(of) => format!("table of {}", of.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")),
        Unit::Drops => "list like [{ flow = \"f\", segment = 20, copy = 0 }]".into(),
    }
}

/// The default of the parameter `p` of `a` in words.
fn default(a: &Algorithm, p: &Param) -> String {
    match a.default_of(p) {
        None => "must be given".to_owned(),
        Some((usual, None)) => format!("default {usual}"),
        Some((usual, Some(rfc))) => format!("default {usual} ({rfc} with stack = \"rfc\")"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flowing_text_has_its_paragraphs_and_lists_but_no_broken_lines() {
        let text = explained("ap.queue", &[]).unwrap();
        let flowing = flowing(&text);
        assert!(text.lines().count() > flowing.lines().count(), "{flowing}");
        assert!(flowing.contains("replaces the waiting one of its flow"), "{flowing}");
        let labels = ["Value:", "Default:", "Example:", "Use:"];
        assert!(labels.iter().all(|label| flowing.lines().any(|l| l.trim_start().starts_with(label))), "{flowing}");
        // No word is lost, of any name.
        for name in names(&[]) {
            let text = explained(&name, &[]).unwrap();
            let words = |of: &str| of.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&super::flowing(&text)), words(&text), "{name}");
        }
    }
}
