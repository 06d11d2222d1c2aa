//! `contend new`: prints an experiment file that comes with contend: an example, or a paper's.

use super::{complete, print, wrong};
use crate::Done;
use contend_lab::reading::examples::{self, Example};
use contend_lab::writing::output::{WIDTH, wrapped};
use contend_lab::{built, nearest, opening};
use miette::Result;

const EXAMPLES: &str = "\
Examples:
  contend new                        the examples
  contend new hotspot > my.toml      a copy to change; then: contend run my.toml
  contend run hotspot                run an example as it is
  contend new keceli-2008/m1-downloads    an experiment of a paper; `contend list experiments` has all";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The example, PAPER/EXPERIMENT or SUITE/TEST to print; without it, the names and titles of all examples
    #[arg(add = complete::inside())]
    name: Option<String>,
}

pub fn run(args: &Args) -> Result<Done> {
    let Some(name) = &args.name else {
        print(&format!("examples\n{}", list()))?;
        return Ok(Done::Well);
    };
    let Some(text) = opening::inside(name) else {
        let names =
            examples::ALL.iter().map(|s| s.name).chain(built::experiments().chain(built::tests()).map(|f| f.name));
        let near = nearest(name, names).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let examples: Vec<&str> = examples::ALL.iter().map(|s| s.name).collect();
        let remedy = format!("{near}the examples are {}", examples.join(", "));
        return Err(wrong(format!("no example or paper's experiment is called `{name}`"), remedy));
    };
    print(text)?;
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
