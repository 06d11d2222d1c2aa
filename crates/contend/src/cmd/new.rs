//! `contend new`: prints an example, an experiment file that comes with contend.

use super::print;
use crate::Done;
use clap::builder::PossibleValuesParser;
use contend_lab::reading::examples::{self, Example};
use contend_lab::writing::output::{WIDTH, wrapped};
use miette::Result;

const EXAMPLES: &str = "\
Examples:
  contend new                        the examples
  contend new hotspot > my.toml      a copy to change; then: contend run my.toml
  contend run hotspot                run an example as it is";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The example to print; without it, the names and titles of all
    #[arg(value_parser = PossibleValuesParser::new(examples::ALL.iter().map(|s| s.name)))]
    name: Option<String>,
}

pub fn run(args: &Args) -> Result<Done> {
    match args.name.as_deref().and_then(Example::named) {
        Some(example) => print(example.text)?,
        None => print(&format!("examples\n{}", list()))?,
    }
    Ok(Done::Well)
}

/// Names and titles of the examples, and what to do with them.
pub fn list() -> String {
    let widest = examples::ALL.iter().map(|s| s.name.len()).max().unwrap_or_default();
    let line = |s: &Example| format!("  {:<widest$}  {}\n", s.name, wrapped(&s.title(), WIDTH, widest + 4));
    let lines: String = examples::ALL.iter().map(line).collect();
    let name = examples::ALL[0].name;
    format!("{lines}\n`contend run {name}` runs one; `contend new {name} > my.toml` makes a copy to change.\n")
}
