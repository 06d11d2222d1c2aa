//! `contend report`: the page of a results folder, made anew.
//!
//! A folder's run.toml is enough to repeat its runs, bit by bit; so the page is made by repeating them, and the digests
//! say whether they are the same runs. When they are not, the page stays as it is: a page that does not belong to the
//! numbers beside it would deceive.

use super::run::{self, Common, Format, Job};
use super::{say, wrong};
use crate::Done;
use contend_lab::output::{self, ReportContext};
use contend_lab::results::Run;
use miette::Result;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  contend report results/hotspot

The page is made by repeating the runs of run.toml: their digests must be those of summary.json.
With another version of contend they may differ; then the page stays as it is (exit status 2).";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A results folder, like results/hotspot
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<Done> {
    let folder = args.folder.display();
    let path = args.folder.join("run.toml");
    if !path.is_file() {
        return Err(wrong(
            format!("{folder} is no results folder: it has no run.toml"),
            "name a folder that `contend run` has written",
        ));
    }
    let common = Common {
        seeds: None,
        set: vec![],
        jobs: args.jobs,
        out: PathBuf::new(),
        format: Format::Table,
        quiet: args.quiet,
        no_results: false,
    };
    let e = run::load(&path, &common)?;
    let before = before(&args.folder)?;
    let stop = run::stop_on_ctrl_c();
    let job = Job { e: &e, common: &common, stop: &stop, capture: None, name: folder.to_string(), folder: None };
    let executed = job.repeat()?;
    if executed.outcome.interrupted.is_some() {
        say("contend: the page is as it was");
        return Ok(Done::Stopped);
    }
    let runs = &executed.outcome.runs;
    if let Some(other) = before.runs.iter().find(|b| !runs.iter().any(|r| b.is(r))) {
        return Err(wrong(
            format!(
                "the run with seed {}{} has another digest than in {folder}/summary.json: contend {} made that one, \
                    this is {}; the page is as it was",
                other.seed,
                if other.point.is_empty() {
                    String::new()
                } else {
                    format!(" at {}", Value::from(other.point.clone()))
                },
                before.version,
                env!("CARGO_PKG_VERSION")
            ),
            format!("make new results beside the old ones: contend run {} --out elsewhere", path.display()),
        ));
    }
    if let Some((finished, missing)) = before.interrupted.filter(|_| !args.quiet) {
        say(&format!(
            "contend: the call that made this folder was stopped early: the other files hold {finished} of {} runs, \
                the page now shows all",
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

/// What summary.json tells of the call that wrote it.
struct Before {
    version: String,
    runs: Vec<RunBefore>,
    /// Runs finished and missing, when it was interrupted.
    interrupted: Option<(u64, u64)>,
}

/// A run as summary.json tells it.
struct RunBefore {
    point: serde_json::Map<String, Value>,
    seed: u64,
    digest: String,
}

impl RunBefore {
    fn is(&self, r: &Run) -> bool {
        self.seed == r.seed && self.digest == r.digest && self.point.iter().eq(r.point.iter())
    }
}

/// What the folder's summary.json tells.
fn before(folder: &std::path::Path) -> Result<Before> {
    let path = folder.join("summary.json");
    let remedy = "make the results anew: contend run FILE";
    let text = std::fs::read_to_string(&path)
        .map_err(|err| wrong(format!("{} cannot be read: {err}", path.display()), remedy))?;
    let summary: Value =
        serde_json::from_str(&text).map_err(|err| wrong(format!("{}: {err}", path.display()), remedy))?;
    let version = summary["version"].as_str().unwrap_or("(unknown)").to_owned();
    let runs = summary["runs"].as_array().into_iter().flatten().map(|r| {
        let digest = r["digest"].as_str()?.to_owned();
        Some(RunBefore {
            point: r["point"].as_object().cloned().unwrap_or_default(),
            seed: r["seed"].as_u64()?,
            digest,
        })
    });
    let runs = runs
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| wrong(format!("{}: a run has no seed or no digest", path.display()), remedy))?;
    let stopped = &summary["interrupted"];
    Ok(Before { version, runs, interrupted: stopped["finished"].as_u64().zip(stopped["missing"].as_u64()) })
}
