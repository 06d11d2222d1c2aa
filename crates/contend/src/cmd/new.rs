//! `contend new`: prints a starter, an experiment file that comes with contend.

use super::print;
use crate::Done;
use clap::builder::PossibleValuesParser;
use contend_lab::reading::starter::{STARTERS, Starter};
use contend_lab::writing::output::{WIDTH, wrapped};
use miette::Result;

const EXAMPLES: &str = "\
Examples:
  contend new                        the starters
  contend new hotspot > my.toml      a copy to change; then: contend run my.toml
  contend run hotspot                run a starter as it is";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The starter to print; without it, the names and titles of all
    #[arg(value_parser = PossibleValuesParser::new(STARTERS.iter().map(|s| s.name)))]
    name: Option<String>,
}

pub fn run(args: &Args) -> Result<Done> {
    match args.name.as_deref().and_then(Starter::named) {
        Some(starter) => print(starter.text)?,
        None => print(&format!("starters\n{}", list()))?,
    }
    Ok(Done::Well)
}

/// Names and titles of the starters, and what to do with them.
pub fn list() -> String {
    let widest = STARTERS.iter().map(|s| s.name.len()).max().unwrap_or_default();
    let line = |s: &Starter| format!("  {:<widest$}  {}\n", s.name, wrapped(&s.title(), WIDTH, widest + 4));
    let lines: String = STARTERS.iter().map(line).collect();
    let name = STARTERS[0].name;
    format!("{lines}\n`contend run {name}` runs one; `contend new {name} > my.toml` makes a copy to change.\n")
}
