//! `contend report`: the page of a results folder, made anew.
//!
//! A folder's run.toml is enough to repeat its runs, bit by bit; so the page is made by repeating them, and the digests say whether
//! they are the same runs.

use super::run;
use super::wrong;
use crate::Done;
use contend_core::{Span, Time};
use contend_lab::execute::{Options, execute};
use contend_lab::file::{self, Experiment};
use contend_lab::output::{self, ReportContext};
use contend_lab::run::Capture;
use miette::Result;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A results folder, like results/hotspot
    folder: PathBuf,
    /// Runs at the same time (default: one on each core)
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    jobs: usize,
}

pub fn run(args: &Args) -> Result<Done> {
    let path = args.folder.join("run.toml");
    if !path.is_file() {
        return Err(wrong(format!("{} is no results folder: it has no run.toml", args.folder.display()), "name a folder that `contend run` has written"));
    }
    let e = file::load(&path, &settings(&std::fs::read_to_string(&path).unwrap_or_default()))?;
    let stop = run::stop_on_ctrl_c();
    let from = Time::ZERO + e.warmup;
    let options = Options {
        jobs: args.jobs,
        series: true,
        capture: Some(Capture { from, to: from + Span::from_secs(1), limit: 100_000 }),
        stop: &stop,
        progress: &|_, _| {},
    };
    let executed = execute(&e, &options)?;
    if executed.missing > 0 {
        return Err(wrong("stopped: the page is as it was", "call again to make it anew"));
    }
    let before = std::fs::read_to_string(args.folder.join("summary.json")).unwrap_or_default();
    let before: serde_json::Value = serde_json::from_str(&before).unwrap_or_default();
    let digests: Vec<&str> = before["runs"].as_array().into_iter().flatten().filter_map(|r| r["digest"].as_str()).collect();
    if !digests.is_empty() && digests != executed.outcome.runs.iter().map(|r| r.digest.as_str()).collect::<Vec<_>>() {
        eprintln!(
            "contend: these are not the runs of {}: contend {} made those, this is {}",
            args.folder.display(),
            before["version"],
            env!("CARGO_PKG_VERSION")
        );
    }
    let context = ReportContext { command: format!("contend report {}", args.folder.display()), ..run::context(&e) };
    output::write_report(&executed.outcome, &context, &args.folder.join("report.html")).map_err(|err| wrong(err, "make the folder writable"))?;
    println!("{}", args.folder.join("report.html").display());
    Ok(Done::Well)
}

/// What stands before a setting of the call in run.toml.
const SETTING: &str = "# --set ";

/// The text of `e` with everything that is needed to repeat it before it, as comments: version, command line, and the call's settings.
pub fn repeatable(e: &Experiment, context: &ReportContext) -> String {
    let settings: String = e.source.sets.iter().map(|s| format!("{SETTING}{s}\n")).collect();
    format!("# contend {}\n# {}\n# seeds {}\n{settings}\n{}", env!("CARGO_PKG_VERSION"), context.command, context.seeds, e.source.text)
}

/// The settings that [`repeatable`] wrote.
fn settings(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().take_while(|l| l.starts_with('#')).filter_map(|l| l.strip_prefix(SETTING));
    lines.filter_map(|l| l.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}
