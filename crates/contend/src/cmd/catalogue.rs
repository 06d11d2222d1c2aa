//! `contend list` and `contend explain`: the registries as a user reads them.

use super::{files_below, wrong};
use crate::Done;
use contend_core::registry::{Entry, Param, Unit};
use contend_core::{cc, qdisc};
use contend_sim::tcp::recovery;
use contend_sim::wifi::access;
use contend_sim::{loss, traffic};
use miette::Result;
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// What to list; without it, everything
    #[arg(value_parser = ["controllers", "recoveries", "qdiscs", "access", "traffic", "loss", "experiments"])]
    what: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Name of an algorithm, as `contend list` shows it
    name: String,
}

/// One algorithm, whatever its family.
struct Item {
    family: &'static str,
    /// How a file chooses it.
    usage: &'static str,
    name: &'static str,
    cite: &'static str,
    summary: &'static str,
    params: &'static [Param],
}

fn items<B>(family: &'static str, usage: &'static str, entries: &'static [Entry<B>]) -> impl Iterator<Item = Item> {
    entries.iter().map(move |e| Item { family, usage, name: e.name, cite: e.cite, summary: e.summary, params: e.params })
}

fn everything() -> Vec<Item> {
    items("controllers", "tcp = { cc = { kind = \"NAME\" } } in a [[flow]]", cc::REGISTRY)
        .chain(items("recoveries", "tcp = { recovery = { kind = \"NAME\" } } in a [[flow]]", recovery::REGISTRY))
        .chain(items("qdiscs", "queue = { kind = \"NAME\" } in [ap], [[station]], [wire] or [[link]]", qdisc::REGISTRY))
        .chain(items("access", "access = { kind = \"NAME\" } in [wifi], [ap] or [[station]]", access::REGISTRY))
        .chain(items("traffic", "traffic = { kind = \"NAME\" } in a [[flow]]", traffic::REGISTRY))
        .chain(items("loss", "loss = { kind = \"NAME\" } in [wifi], [[station]], [wire] or [[link]]", loss::REGISTRY))
        .collect()
}

pub fn list(args: &ListArgs) -> Result<Done> {
    let all = everything();
    let mut last = "";
    for i in all.iter().filter(|i| args.what.as_deref().is_none_or(|w| w == i.family)) {
        if i.family != last {
            println!("{}{}", if last.is_empty() { "" } else { "\n" }, i.family);
            last = i.family;
        }
        println!("  {:<18} {}", i.name, first_sentence(i.summary));
    }
    if args.what.as_deref().is_none_or(|w| w == "experiments") {
        println!("{}experiments", if last.is_empty() { "" } else { "\n" });
        for file in files_below(Path::new("experiments")).into_iter().chain(files_below(Path::new("papers"))) {
            let title = contend_lab::file::load(&file, &[]).map_or_else(|_| "(cannot be read)".into(), |e| e.title);
            println!("  {:<48} {title}", file.display());
        }
    }
    Ok(Done::Well)
}

pub fn explain(args: &ExplainArgs) -> Result<Done> {
    let all = everything();
    let found: Vec<&Item> = all.iter().filter(|i| i.name == args.name).collect();
    if found.is_empty() {
        let nearest = contend_lab::nearest(&args.name, all.iter().map(|i| i.name));
        let remedy = nearest.map_or("`contend list` shows every name".to_owned(), |n| format!("did you mean `{n}`? `contend list` shows every name"));
        return Err(wrong(format!("nothing is called `{}`", args.name), remedy));
    }
    for (k, i) in found.iter().enumerate() {
        if k > 0 {
            println!();
        }
        println!("{} ({})\n\n  {}\n\n  Source: {}\n  Use:    {}", i.name, i.family, i.summary, i.cite, i.usage.replace("NAME", i.name));
        if i.params.is_empty() {
            println!("\n  No parameters.");
            continue;
        }
        println!("\n  Parameters:");
        for p in i.params {
            let default = p.default.map_or("must be given".to_owned(), |d| format!("default {d}"));
            println!("    {:<14} {}\n    {:<14} {}, {default}", p.name, p.doc, "", unit(p));
        }
    }
    Ok(Done::Well)
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
        Unit::Drops => "list like [{ flow = \"f\", segment = 20, copy = 0 }]".into(),
    }
}

fn first_sentence(s: &str) -> &str {
    s.split_once(": ").map_or(s, |(a, _)| a).split_once(". ").map_or(s, |(a, _)| a)
}
