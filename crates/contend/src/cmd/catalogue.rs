//! `contend list` and `contend explain` print the registries.

mod list;
mod own;
mod reference;
mod suites;

pub use list::{ListArgs, list, listed};
pub use reference::{ReferenceArgs, reference};

use super::{print, refused};
use crate::Done;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use contend_core::Refusal;
use contend_explain::words::WORDS;
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

/// Every name that [`explain`] knows, for a shell.
fn candidates() -> Vec<CompletionCandidate> {
    let words = WORDS.iter().flat_map(|w| w.names).map(|name| (*name).to_owned());
    let names = contend_explain::names(&own::items());
    names.into_iter().chain(words).collect::<BTreeSet<_>>().into_iter().map(CompletionCandidate::new).collect()
}

pub fn explain(args: &ExplainArgs) -> Result<Done> {
    print(&explained(&args.name).map_err(refused)?)?;
    Ok(Done::Well)
}

/// What `contend explain NAME` prints: all that has this name, after what the word means to users.
///
/// # Errors
/// When nothing has this name.
pub fn explained(asked: &str) -> Result<String, Refusal> {
    contend_explain::explained(asked, &own::items())
}
