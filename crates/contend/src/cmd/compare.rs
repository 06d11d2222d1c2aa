//! `contend compare`: two files, two results folders, or the points of one sweep, paired by seed.

use super::common::Common;
use super::job::{Job, Performed, command_line, say_moved};
use super::run::{load, parts, stop_on_ctrl_c};
use super::{complete, print, print_by, say, width, wrong};
use crate::Done;
use contend_lab::experiment::results::{PointKey, Run};
use contend_lab::judging::compare::{Comparison, Difference, differences, pairs, points};
use contend_lab::writing::folder::{Kept, kept};
use contend_lab::writing::output::{
    comparison_table, point_text, usual_metrics, write_comparison, write_comparison_page,
};
use miette::Result;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  contend compare results/fifo results/fcwa                  two results folders
  contend compare office --b ap.control=fcwa                 a file, and the same file with a setting
  contend compare office --a ap.queue.kind=ack_filter --b ap.control=fcwa --metric jain
  contend compare bufferbloat --metric 'delay.p99[probe]'    the points of a sweep against the first
  contend compare lossy-last-hop --control                   the same intervals with fewer seeds
  contend compare hotspot --b ap.queue=fq_codel --html compare.html        also as a page

A positive difference: B has more. Runs are paired by sweep point and seed: with the same seed, flows and
stations draw the same random numbers, so the difference is more exact than either side.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// An experiment file, which is run, or a results folder
    #[arg(value_name = "A", add = complete::files())]
    first: PathBuf,
    /// Another one; without it, and without --a and --b, the points of A are compared with the first of them
    #[arg(value_name = "B", add = complete::files())]
    second: Option<PathBuf>,
    /// Metrics to compare, like 'goodput.up, jain'; without it, those that the table of A shows
    #[arg(long, value_name = "METRICS", add = complete::metric_names())]
    metric: Option<String>,
    /// Set a key of the file A; may be given several times
    #[arg(long = "a", value_name = "KEY=VALUE", add = complete::settings())]
    of_first: Vec<String>,
    /// Set a key of the file B, which is A if there is no B; may be given several times
    #[arg(long = "b", value_name = "KEY=VALUE", add = complete::settings())]
    of_second: Vec<String>,
    /// Set a key of both files; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", add = complete::settings())]
    set: Vec<String>,
    /// Seeds that replace those of both files, like 1..30
    #[arg(long)]
    seeds: Option<String>,
    /// Removes what the luck of lossy channels explains (the metric excess_losses, whose mean is 0): shorter intervals
    /// with the same seeds
    #[arg(long)]
    control: bool,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = super::common::jobs)]
    jobs: Option<u16>,
    /// What to print on standard output
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    format: Shape,
    /// Also write the comparison as one page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shape {
    /// A table
    Table,
    /// One JSON object
    Json,
}

/// One side of a comparison.
struct Side {
    name: String,
    runs: Vec<Run>,
    /// The metrics that its table shows.
    shows: Vec<String>,
    /// True if Ctrl-C stopped its runs.
    stopped: bool,
}

pub fn run(args: &Args) -> Result<Done> {
    let first = side(args, &args.first, &args.of_first)?;
    if first.stopped {
        return Ok(Done::Stopped);
    }
    let metrics = |side: &Side| match &args.metric {
        Some(list) => parts(list).into_iter().map(str::to_owned).collect(),
        None => side.shows.clone(),
    };
    let two = args.second.is_some() || !args.of_first.is_empty() || !args.of_second.is_empty();
    let (a, b, found) = if two {
        let second = side(args, args.second.as_ref().unwrap_or(&args.first), &args.of_second)?;
        if second.stopped {
            return Ok(Done::Stopped);
        }
        let remedy = "compare files with the same [sweep], or fix the keys with --set, --a and --b";
        let pairs = pairs(&first.runs, &second.runs).map_err(|err| wrong(err.what, remedy))?;
        let found = differences(&first.runs, &second.runs, &pairs, &metrics(&first), args.control);
        (first.name, Some(second.name), found)
    } else {
        let points = points(&first.runs);
        let Some((base, others)) = points.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Err(wrong(
                format!("{} has one sweep point, so there is nothing to compare it with", first.name),
                "give another file or folder, or a setting: --b ap.queue=fq_codel",
            ));
        };
        let pairs: Vec<[&PointKey; 2]> = others.iter().map(|p| [*base, *p]).collect();
        let found = differences(&first.runs, &first.runs, &pairs, &metrics(&first), args.control);
        (format!("{}, {}", first.name, point_text(base)), None, found)
    };
    told(&found)?;
    if args.control && found.iter().all(|d| d.worth.is_none()) {
        say("contend: --control changes nothing: no channel of the runs loses at random, a results folder was made \
                without --show excess_losses, or there are too few seeds");
    }
    let a_folder = std::iter::once(&args.first).chain(&args.second).any(|path| is_results(path));
    if a_folder && found.iter().any(|d| d.missing.is_some()) {
        say("contend: a results folder keeps no histograms and no series for this; compare the files, or make the \
                results again with --show");
    }
    let c = Comparison { version: env!("CARGO_PKG_VERSION"), a, b, differences: found };
    if let Some(path) = &args.html {
        let aside = write_comparison_page(&c, &command_line(), path)
            .map_err(|err| wrong(err, "name a file in a folder that can be written"))?;
        say_moved(aside.as_deref());
        say(&format!("contend: {}", path.display()));
    }
    match args.format {
        Shape::Table => print(&comparison_table(&c, std::io::stdout().is_terminal(), width()))?,
        Shape::Json => print_by(|out| write_comparison(&c, out))?,
    }
    Ok(Done::Well)
}

/// Refuses a comparison in which no metric has a pair.
fn told(all: &[Difference]) -> Result<()> {
    match all.iter().map(|d| d.missing.as_ref().map(|why| (&d.metric, why))).collect::<Option<Vec<_>>>() {
        Some(none) => {
            let why = none.first().map_or_else(String::new, |(metric, why)| format!(": {metric}: {why}"));
            Err(wrong(
                format!("there is nothing to compare{why}"),
                "choose metrics that both sides have; a results folder has those of its summary.json (--show adds one)",
            ))
        }
        None => Ok(()),
    }
}

/// The file of a results folder that has its runs.
const SUMMARY: &str = "summary.json";

/// True if `path` is a results folder.
fn is_results(path: &Path) -> bool {
    path.join(SUMMARY).is_file()
}

/// Runs the file at `path`, or reads the results folder there.
fn side(args: &Args, path: &Path, own: &[String]) -> Result<Side> {
    let settings: Vec<String> = args.set.iter().chain(own).cloned().collect();
    let with = if own.is_empty() { String::new() } else { format!(" with {}", own.join(", ")) };
    let name = format!("{}{with}", path.display());
    if is_results(path) {
        if !settings.is_empty() || args.seeds.is_some() {
            return Err(wrong(
                format!("{} is a results folder: its runs are made, and settings change nothing", path.display()),
                format!("give the file instead, or {} for the same runs", path.join("run.toml").display()),
            ));
        }
        return folder(path, name);
    }
    let common = Common {
        set: settings,
        seeds: args.seeds.clone(),
        show: args.metric.clone(),
        ..Common::plain(args.jobs, false)
    };
    let e = load(path, &common)?;
    let stop = stop_on_ctrl_c();
    let job = Job::new(&e, &common, &stop, path.display().to_string());
    let Performed { executed, .. } = job.perform(None)?;
    let o = executed.outcome;
    let shows = usual_metrics(&o);
    Ok(Side { name, shows, stopped: o.interrupted.is_some(), runs: o.runs })
}

/// The results in the folder at `path`.
fn folder(path: &Path, name: String) -> Result<Side> {
    let file = path.join(SUMMARY);
    let remedy = format!("make the results again: contend run {}", path.join("run.toml").display());
    let Kept { runs, show, .. } = kept(&file).map_err(|err| wrong(format!("{}: {err}", file.display()), &remedy))?;
    let known = runs.first().map(|r| r.metrics.keys().cloned().collect()).unwrap_or_default();
    Ok(Side { name, shows: if show.is_empty() { known } else { show }, stopped: false, runs })
}
