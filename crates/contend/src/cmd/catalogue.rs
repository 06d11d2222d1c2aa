//! `contend list` and `contend explain` print the registries.

mod formulas;
mod keys;
mod list;
mod markdown;
mod models;
mod reference;
mod words;

pub use list::{ListArgs, list, listed};
pub use reference::{ReferenceArgs, reference};

use super::common::formats;
use super::run::exports;
use super::{print, refused};
use crate::Done;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use contend_core::Refusal;
use contend_core::registry::{Param, Unit};
use contend_lab::measuring::metric::{self, MetricEntry};
use contend_lab::reading::expression;
use contend_lab::reading::file::keys::{Algorithm, Family};
use contend_lab::writing::output::{WIDTH, wrapped};
use miette::Result;
use std::collections::BTreeSet;

const EXPLAIN: &str = "\
Examples:
  contend explain cubic
  contend explain reno          two families have this name: both are shown
  contend explain goodput       a metric
  contend explain westwood+     a TCP variant
  contend explain ap.queue      a key of an experiment file: value, default, example
  contend explain window        every key with this name
  contend explain [[flow]]      a table with all its keys
  contend explain quantile      a function
  contend explain padhye.rate   a closed form

docs/glossary.md defines the terms of documents and reports: exchange, success, verdict, ...";

#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN)]
pub struct ExplainArgs {
    /// A name of an experiment file (an algorithm, a TCP variant, a metric, a function, a model, a key or its path, a
    /// table, a parameter), or an output format
    #[arg(add = ArgValueCandidates::new(candidates))]
    name: String,
}

/// Every algorithm of every family.
fn everything() -> Vec<Algorithm> {
    Family::ALL.into_iter().flat_map(Family::algorithms).collect()
}

/// Every name that [`explain`] knows, for a shell.
fn candidates() -> Vec<CompletionCandidate> {
    let words = words::WORDS.iter().flat_map(|w| w.names).map(|name| (*name).to_owned());
    all_names().into_iter().chain(words).collect::<BTreeSet<_>>().into_iter().map(CompletionCandidate::new).collect()
}

/// Every name that [`explain`] knows.
fn all_names() -> BTreeSet<String> {
    let algorithms = everything();
    let names = algorithms
        .iter()
        .map(|a| a.name)
        .chain(metric::metrics().map(|m| m.name))
        .chain(functions().map(|f| f.name))
        .chain(keys::names(&algorithms))
        .map(str::to_owned);
    let models = models::items().into_iter().map(|m| m.name);
    names.chain(models).chain(contend_lab::reading::file::keys::keys().into_iter().map(|k| k.0)).collect()
}

pub fn explain(args: &ExplainArgs) -> Result<Done> {
    print(&explained(&args.name).map_err(refused)?)?;
    Ok(Done::Well)
}

/// What `contend explain NAME` prints: all that has this name in experiment files, after what the word means to users.
///
/// # Errors
/// When nothing has this name.
pub fn explained(asked: &str) -> Result<String, Refusal> {
    let mut found: Vec<String> = words::explained(asked).into_iter().collect();
    found.extend(named(asked));
    if found.is_empty() {
        let names = all_names();
        let folded = words::folded(asked);
        // Papers write TCP before the names of controllers.
        for wanted in [Some(folded.as_str()), folded.strip_prefix("tcp")].into_iter().flatten() {
            let same = |n: &&String| words::folded(n) == wanted;
            if found.is_empty() {
                found.extend(names.iter().filter(same).flat_map(|name| named(name)));
            }
        }
        if found.is_empty() {
            return Err(unknown(asked, &names));
        }
    }
    Ok(found.join("\n"))
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
    } else if let Some(n) = contend_lab::nearest(asked, names.iter().map(String::as_str)) {
        format!("did you mean `{n}`? `contend list` shows all names")
    } else {
        "`contend list` shows all names".to_owned()
    };
    Refusal::new(format!("the name `{asked}` is unknown"), remedy)
}

/// All that has exactly this name; hyphens count as underscores.
fn named(asked: &str) -> Vec<String> {
    let all = everything();
    // A name may be written with hyphens, as in a file.
    let name = asked.replace('-', "_");
    let algorithms: Vec<String> = all.iter().filter(|i| i.name == name).map(algorithm).collect();
    let metrics: Vec<String> = metric::metric(asked).into_iter().map(metric_text).collect();
    let calls = functions().filter(|f| f.name == asked).map(|f| f.text());
    let models = models::items();
    let closed_forms = models.iter().filter(|m| m.name == asked).map(|m| m.text.clone());
    // Who asks about an algorithm or a metric does not ask about a parameter of another one that has its name.
    let is_brief = !algorithms.is_empty() || !metrics.is_empty();
    let keys = keys::explained(asked, &all, is_brief);
    algorithms.into_iter().chain(metrics).chain(calls).chain(closed_forms).chain(keys).collect()
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
struct Call {
    name: &'static str,
    doc: &'static str,
    usage: String,
    takes: String,
    yields: &'static str,
}

/// All functions. Functions of plain numbers come first.
fn functions() -> impl Iterator<Item = Call> {
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
fn meaning(p: &Param) -> String {
    if p.symbol.is_empty() { p.doc.to_owned() } else { format!("{}: {}", p.symbol, p.doc) }
}

fn unit(p: &Param) -> String {
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
