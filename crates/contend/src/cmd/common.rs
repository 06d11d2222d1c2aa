//! The options of all commands that run experiments.

use super::complete;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use contend_core::Refusal;
use contend_lab::writing::output::{self, Format};
use std::path::PathBuf;

/// Options of all commands that run experiments.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Seeds that replace those of the file, like 1..30 or 7
    #[arg(long)]
    pub seeds: Option<String>,
    /// Run more seeds for undecided claims and checks, up to N at each point (default: 200);
    /// docs/points-and-seeds.md tells how
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "200")]
    pub decide: Option<String>,
    /// Set a key of the file, like wifi.slot=20us, flow.1.count=4 or flow.call.count=4; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", add = complete::settings())]
    pub set: Vec<String>,
    /// Metrics that the table shows, like 'delay.p99.call, goodput.up'; they replace those of the file
    #[arg(long, value_name = "METRICS", add = complete::metric_names())]
    pub show: Option<String>,
    /// Try several values of a key, like ap.queue=fifo,fq_codel or flow.0.count=1..5; several keys give all
    /// combinations. A key that the file sweeps gets these values
    #[arg(long = "sweep", value_name = "KEY=VALUE,...", add = complete::settings())]
    pub sweep: Vec<String>,
    /// Judge no claims and no checks of the file: they are about its network, which --set and --sweep change
    #[arg(long, conflicts_with = "decide")]
    pub no_claims: bool,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<u16>,
    /// Folder in which each file gets a results folder of its own
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// What to print on standard output
    #[arg(long, value_name = "FORMAT", value_parser = printed(), default_value = "table")]
    pub format: Printed,
    /// Print only errors, claims with another verdict than recorded, checks that are not met, and the output of a
    /// --format other than table
    #[arg(long)]
    pub quiet: bool,
    /// Write no results folder and keep no time series: for measuring speed, or when the printed numbers are enough
    #[arg(long)]
    pub no_results: bool,
}

impl Common {
    /// The options of a call that writes no results of its own.
    pub fn plain(jobs: Option<u16>, quiet: bool) -> Common {
        Common {
            seeds: None,
            set: vec![],
            show: None,
            sweep: vec![],
            decide: None,
            no_claims: false,
            jobs,
            out: PathBuf::new(),
            format: Printed::Table,
            quiet,
            no_results: true,
        }
    }
}

/// What is printed on standard output.
#[derive(Clone, Copy, Debug)]
pub enum Printed {
    /// A table with means and 95 % intervals.
    Table,
    /// The outcome, for another program.
    As(&'static Format),
}

/// The words of `--format`, each with its meaning.
pub fn formats() -> impl Iterator<Item = (&'static str, String)> {
    let meaning = |f: &Format| format!("{}{}", f.summary, if f.can_follow { "" } else { "; for one file at a time" });
    let table = ("table", "a table with means and 95 % intervals".to_owned());
    std::iter::once(table).chain(output::FORMATS.iter().map(move |f| (f.name, meaning(f))))
}

/// Reads the number of `--jobs`.
pub fn jobs(text: &str) -> Result<u16, Refusal> {
    let number = text.trim().parse().ok().filter(|n| (1..=1024).contains(n));
    number.ok_or_else(|| "write a whole number from 1 to 1024, the number of runs at the same time".into())
}

/// Reads a word of `--format`.
fn printed() -> impl TypedValueParser<Value = Printed> {
    PossibleValuesParser::new(formats().map(|(name, meaning)| PossibleValue::new(name).help(meaning)))
        .map(|word| output::FORMATS.iter().find(|f| f.name == word).map_or(Printed::Table, Printed::As))
}
