//! `contend report`: rebuilds the page of a results folder.
//!
//! The folder's run.toml is enough to repeat its runs bit by bit, so the page is made from repeated runs. The digests
//! must be the same, and the results must be those of summary.json (a changed `warmup` changes no digest). Otherwise
//! the page is not replaced, because it would not match the numbers beside it.

use super::common::Common;
use super::job::Job;
use super::run;
use super::summary::Before;
use super::{say, wrong};
use crate::Done;
use contend_lab::writing::output::{self, ReportContext};
use miette::{IntoDiagnostic as _, Result};
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  contend report results/hotspot

The command repeats the runs of run.toml. Their digests must be those of summary.json. With another
version of contend the digests may differ; then the page stays unchanged (exit status 2).";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A results folder, like results/hotspot
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = super::common::jobs)]
    jobs: Option<u16>,
    /// Print only errors
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<Done> {
    let folder = args.folder.display();
    let path = args.folder.join("run.toml");
    if !path.is_file() {
        return Err(wrong(
            format!("{folder} is not a results folder: it has no run.toml"),
            "name a folder that `contend run` has written",
        ));
    }
    // The page shows the series, which a call without results does not keep.
    let common = Common { no_results: false, ..Common::plain(args.jobs, args.quiet) };
    let e = run::load(&path, &common)?;
    let before = Before::read(&args.folder)?;
    let stop = run::stop_on_ctrl_c();
    let job = Job::new(&e, &common, &stop, folder.to_string());
    let executed = job.repeat()?;
    if executed.outcome.interrupted.is_some() {
        say("contend: the page is unchanged");
        return Ok(Done::Stopped);
    }
    let mut now = Vec::new();
    output::write_json(&executed.outcome, &mut now).into_diagnostic()?;
    let now = reread(&now);
    if let Some(what) = before.differs(&now) {
        return Err(wrong(
            format!(
                "{what}: run.toml or summary.json in {folder} was changed, or contend {} computes other results than \
                    contend {}; the page is unchanged",
                env!("CARGO_PKG_VERSION"),
                before.text("version")
            ),
            format!("make new results in another folder: contend run {} --out DIR", path.display()),
        ));
    }
    if let Some((finished, missing)) = before.interrupted().filter(|_| !args.quiet) {
        say(&format!(
            "contend: the call that made this folder was stopped early: the other files hold {finished} of {} runs; \
                the page now shows all of them",
            finished + missing
        ));
    }
    let context = ReportContext::of(&e, format!("contend report {folder}"));
    let page = args.folder.join("report.html");
    output::write_report(&executed.outcome, &context, &page).map_err(|err| wrong(err, "make the folder writable"))?;
    if !args.quiet {
        super::print(&format!("{}\n", page.display()))?;
    }
    Ok(Done::Well)
}

/// The value after it was written as JSON and read again.
fn reread(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_default()
}
