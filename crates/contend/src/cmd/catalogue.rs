//! `contend list` and `contend explain` print the registries.

mod models;
mod words;

use super::run::formats;
use super::{print, wrong};
use crate::Done;
use contend_core::registry::{Entry, Param, Unit};
use contend_core::{ap, cc, estimate, qdisc};
use contend_lab::echo::{SENTENCE, echo};
use contend_lab::measuring::metric::{self, MetricEntry, metrics};
use contend_lab::reading::expression;
use contend_lab::reading::folder::files_below;
use contend_lab::writing::output::{WIDTH, wrapped};
use contend_sim::tcp::recovery;
use contend_sim::wifi::{access, client};
use contend_sim::{loss, traffic};
use miette::Result;
use std::path::Path;

const LIST: &str = "\
Examples:
  contend list                  everything
  contend list controllers      one family
  contend list variants         the values of `tcp` in a flow
  contend list metrics          quantities for claims, figures and searches
  contend list words            keys and words of an experiment file; plain `contend list` omits them
  contend list models           closed forms: calculators, and values for expressions";

#[derive(Debug, clap::Args)]
#[command(after_help = LIST)]
pub struct ListArgs {
    /// What to list; without it, everything
    #[arg(value_parser = ["controllers", "estimators", "recoveries", "qdiscs", "controls", "access", "clients",
        "traffic", "loss", "variants", "metrics", "functions", "models", "formats", "words", "experiments"])]
    what: Option<String>,
}

const EXPLAIN: &str = "\
Examples:
  contend explain cubic
  contend explain reno          two families have this name: both are shown
  contend explain goodput       a metric
  contend explain westwood+     a TCP variant
  contend explain slot          a key of an experiment file
  contend explain quantile      a function
  contend explain padhye.rate   a closed form

docs/glossary.md defines the terms of documents and reports: exchange, success, verdict, ...";

#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN)]
pub struct ExplainArgs {
    /// A word of an experiment file (an algorithm, a TCP variant, a metric, a function, a model, a key, a parameter),
    /// or an output format
    name: String,
}

/// One algorithm of any family.
struct Item {
    family: &'static str,
    /// How an experiment file selects the algorithm.
    usage: &'static str,
    name: &'static str,
    cite: &'static str,
    summary: &'static str,
    params: &'static [Param],
}

fn items<B>(family: &'static str, usage: &'static str, entries: &'static [Entry<B>]) -> impl Iterator<Item = Item> {
    entries.iter().map(move |e| Item {
        family,
        usage,
        name: e.name,
        cite: e.cite,
        summary: e.summary,
        params: e.params,
    })
}

fn everything() -> Vec<Item> {
    items("controllers", "tcp = { cc = { kind = \"NAME\" } } in a [[flow]]", cc::REGISTRY)
        .chain(items("estimators", "estimate = [\"NAME\"] in a [[flow]]", estimate::REGISTRY))
        .chain(items("recoveries", "tcp = { recovery = { kind = \"NAME\" } } in a [[flow]]", recovery::REGISTRY))
        .chain(items("qdiscs", "queue = { kind = \"NAME\" } in [ap], [[station]], [wire] or [[link]]", qdisc::REGISTRY))
        .chain(items("controls", "control = { kind = \"NAME\" }, or a list of them, in [ap]", ap::REGISTRY))
        .chain(items("access", "access = { kind = \"NAME\" } in [wifi], [ap] or [[station]]", access::REGISTRY))
        .chain(items("clients", "client = { kind = \"NAME\" } in a [[station]]", client::REGISTRY))
        .chain(items("traffic", "traffic = { kind = \"NAME\" } in a [[flow]]", traffic::REGISTRY))
        .chain(items("loss", "loss = { kind = \"NAME\" } in [wifi], [[station]], [wire] or [[link]]", loss::REGISTRY))
        .collect()
}

pub fn list(args: &ListArgs) -> Result<Done> {
    let all = everything();
    let mut out = String::new();
    let wanted = |family: &str| args.what.as_deref().is_none_or(|w| w == family);
    let mut last = "";
    for i in all.iter().filter(|i| wanted(i.family)) {
        if i.family != last {
            out += &heading(&out, i.family);
            last = i.family;
        }
        out += &format!("  {:<18} {}\n", i.name, in_short(i.summary));
    }
    if wanted("variants") {
        out += &heading(&out, "variants");
        out += &words::list_of_variants();
    }
    if wanted("metrics") {
        out += &heading(&out, "metrics");
        metrics().for_each(|m| out += &format!("  {:<22} {}\n", m.name, in_short(m.doc)));
    }
    if wanted("functions") {
        out += &heading(&out, "functions");
        let mut told = vec![];
        // Several functions may share a name: the list shows the first.
        for f in functions() {
            if !told.contains(&f.name) {
                out += &format!("  {:<22} {}\n", f.name, in_short(f.doc));
                told.push(f.name);
            }
        }
    }
    if wanted("models") {
        out += &heading(&out, "models");
        models::items().iter().for_each(|m| out += &format!("  {:<33} {}\n", m.name, in_short(&m.summary)));
    }
    if wanted("formats") {
        out += &heading(&out, "formats");
        formats().for_each(|(name, meaning)| out += &format!("  {name:<18} {}\n", in_short(&meaning)));
    }
    if args.what.as_deref() == Some("words") {
        out += &heading(&out, "words");
        out += &words::list_of_words();
    }
    if wanted("experiments") {
        out += &heading(&out, "experiments");
        let mut files = Vec::new();
        for folder in ["experiments", "papers"].map(Path::new) {
            match files_below(folder) {
                Ok(below) => files.extend(below),
                Err(too_large) => out += &format!("  {too_large}: name one of its files to run it\n"),
            }
        }
        for file in &files {
            let title = contend_lab::reading::file::load(file, &[])
                .map_or_else(|_| "(cannot be read: `contend run` shows the error)".into(), |e| e.title);
            let (file, title) = (echo(&file.display().to_string(), SENTENCE), echo(&title, SENTENCE));
            out += &format!("  {file}\n      {title}\n");
        }
        if files.is_empty() {
            out += "  none: ./experiments and ./papers hold no experiment file\n";
        }
    }
    print(&out)?;
    Ok(Done::Well)
}

/// The heading of a family after `before`.
fn heading(before: &str, family: &str) -> String {
    format!("{}{family}\n", if before.is_empty() { "" } else { "\n" })
}

pub fn explain(args: &ExplainArgs) -> Result<Done> {
    let all = everything();
    // A name may be written with hyphens, as in a file.
    let name = args.name.replace('-', "_");
    let algorithms = all.iter().filter(|i| i.name == name).map(algorithm);
    let metrics = metric::metric(&args.name).into_iter().map(metric_text);
    let calls = functions().filter(|f| f.name == args.name).map(|f| f.text());
    let models = models::items();
    let closed_forms = models.iter().filter(|m| m.name == args.name).map(|m| m.text.clone());
    let words = words::explained(&args.name, &all);
    let found: Vec<String> = algorithms.chain(metrics).chain(calls).chain(closed_forms).chain(words).collect();
    if found.is_empty() {
        let names = all
            .iter()
            .map(|i| i.name)
            .chain(metric::metrics().map(|m| m.name))
            .chain(functions().map(|f| f.name))
            .chain(models.iter().map(|m| m.name.as_str()))
            .chain(words::names(&all));
        let nearest = contend_lab::nearest(&args.name, names);
        let remedy = nearest.map_or("`contend list` shows all names".to_owned(), |n| {
            format!("did you mean `{n}`? `contend list` shows all names")
        });
        return Err(wrong(format!("the name `{}` is unknown", args.name), remedy));
    }
    print(&found.join("\n"))?;
    Ok(Done::Well)
}

fn algorithm(i: &Item) -> String {
    let mut out = format!("{} ({})\n\n  {}\n\n", i.name, i.family, wrapped(i.summary, WIDTH, 2));
    out += &format!("  Source: {}\n  Use:    {}\n", wrapped(i.cite, WIDTH, 10), i.usage.replace("NAME", i.name));
    if i.params.is_empty() {
        return out + "\n  No parameters.\n";
    }
    out += "\n  Parameters:\n";
    let mut told: Option<&[Param]> = None;
    for p in i.params {
        let default = p.default.map_or("must be given".to_owned(), |d| format!("default {d}"));
        out += &format!("    {:<16} {}\n    {:<16} {}, {default}\n", p.name, wrapped(p.doc, WIDTH, 21), "", unit(p));
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
    let noun = if m.unit.base().is_empty() {
        "a plain number".to_owned()
    } else {
        format!("{} ({})", m.unit.noun(), m.unit.base())
    };
    let mut out = format!(
        "{} (metrics)\n\n  {}\n\n  Use:    {}\n  Value:  {noun}\n  Over:   {}\n",
        m.name,
        wrapped(m.doc, WIDTH, 2),
        wrapped(&m.usage(), WIDTH, 10),
        m.period_in_words()
    );
    if let Some(also) = m.aspects_in_words() {
        out += &format!("  Also:   {}\n", wrapped(&also, WIDTH, 10));
    }
    out
}

fn unit(p: &Param) -> String {
    let range = |scale: f64, u: &str| format!("{} .. {} {u}", p.range.0 / scale, p.range.1 / scale);
    match p.unit {
        Unit::Number => range(1.0, "(number)"),
        Unit::Integer => range(1.0, "(whole number)"),
        Unit::Time => range(1.0, "s, written like \"15ms\""),
        Unit::Rate => range(1.0, "bit/s, written like \"54Mbps\""),
        Unit::Amount => "packets or bytes, written like \"100p\" or \"150kB\"".into(),
        Unit::Fraction => range(1.0, "(share, written like \"1%\" or 0.01)"),
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

/// The text up to its first colon, semicolon or full stop. A result longer than [`SHORT`] ends at its first comma.
fn in_short(s: &str) -> &str {
    let first = |s, end| str::split_once(s, end).map_or(s, |(a, _)| a);
    let sentence = [": ", "; ", ". "].into_iter().fold(s, first).trim_end_matches('.');
    if sentence.len() > SHORT { first(sentence, ", ") } else { sentence }
}

/// The longest text after a name in a list, in bytes.
const SHORT: usize = 78;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_short_line_for_each_name() {
        assert_eq!(in_short("A rule: it does much; and more. Really."), "A rule");
        assert_eq!(in_short("All there is, here."), "All there is, here");
        let models = models::items();
        let words =
            metrics().map(|m| (m.name, m.doc)).chain(models.iter().map(|m| (m.name.as_str(), m.summary.as_str())));
        for (name, summary) in everything().iter().map(|i| (i.name, i.summary)).chain(words) {
            assert!(in_short(summary).chars().count() <= WIDTH, "{name}");
        }
    }
}
