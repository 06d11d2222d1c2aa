//! `contend run`: files become tables and results folders.

use super::wrong;
use crate::Done;
use contend_core::{Span, Time};
use contend_lab::execute::{Executed, Options, execute};
use contend_lab::file::{self, Experiment, quantity};
use contend_lab::output::{self, FigureSpec, ReportContext};
use contend_lab::results::PointKey;
use contend_lab::run::Capture;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result};
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Experiment files; `contend list experiments` shows those that come along
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    /// Keep the frames of this interval of the first run and write them to air.pcapng, like 10s..10.5s
    #[arg(long, value_name = "FROM..TO", value_parser = interval)]
    capture: Option<(Time, Time)>,
}

/// Options of everything that runs experiments.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Seeds instead of the file's, like 1..30 or 7
    #[arg(long)]
    pub seeds: Option<String>,
    /// Set a key of the file, like wifi.slot=20us or flow.1.count=4; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Runs at the same time (default: one on each core)
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub jobs: usize,
    /// Folder in which each file gets a results folder of its own
    #[arg(long, default_value = "results")]
    pub out: PathBuf,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Print nothing but errors and claims that do not hold as recorded
    #[arg(long)]
    pub quiet: bool,
    /// Write no results folder and keep no time series: for measuring speed, or when the printed numbers are enough
    #[arg(long)]
    pub no_results: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table with means and 95 % intervals
    Table,
    /// One JSON object for each file and nothing else
    Json,
    /// Every number of every run, tidy
    Csv,
}

fn interval(text: &str) -> Result<(Time, Time), String> {
    let remedy = "write an interval like 10s..10.5s";
    let (a, b) = text.split_once("..").ok_or(remedy)?;
    let at = |t: &str| quantity::span(t).map(|s| Time::ZERO + s).map_err(|e| format!("{e}; {remedy}"));
    let (from, to) = (at(a)?, at(b)?);
    if from < to { Ok((from, to)) } else { Err(format!("the interval is empty; {remedy}")) }
}

/// Frames of the first run that the report's timeline shows when no capture is asked for: a second from the end of the warm-up.
const TIMELINE: Span = Span::from_secs(1);
/// Most frames kept.
const FRAMES: usize = 100_000;

pub fn run(args: &Args) -> Result<Done> {
    let stop = stop_on_ctrl_c();
    let mut done = Done::Well;
    for path in &args.files {
        let e = load(path, &args.common)?;
        let folder = args.common.out.join(path.file_stem().unwrap_or_default());
        let executed = go(&e, &args.common, &stop, args.capture, &e.source.path, (!args.common.no_results).then_some(&folder))?;
        if !well(&executed, args.common.quiet) {
            done = Done::ClaimDiffers;
        }
    }
    Ok(done)
}

/// A flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
pub fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program as it would any other.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\ncontend: stopping; finished runs are kept");
    });
    stop
}

/// Reads a file with the call's settings.
pub fn load(path: &Path, common: &Common) -> Result<Experiment> {
    let mut sets = Vec::new();
    for s in &common.set {
        let Some((key, value)) = s.split_once('=') else { return Err(wrong(format!("--set {s}: there is no `=`"), "write --set wifi.slot=20us")) };
        sets.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(seeds) = &common.seeds {
        sets.push(("seeds".into(), seeds.clone()));
    }
    Ok(file::load(path, &sets)?)
}

/// Runs `e`, prints what the call asks for, and writes the results folder.
pub fn go(e: &Experiment, common: &Common, stop: &AtomicBool, capture: Option<(Time, Time)>, name: &str, folder: Option<&PathBuf>) -> Result<Executed> {
    let bar = progress_bar(common.quiet, name);
    let (from, to) = capture.unwrap_or_else(|| (Time::ZERO + e.warmup, Time::ZERO + e.warmup + TIMELINE));
    let options = Options {
        jobs: common.jobs,
        series: folder.is_some(),
        capture: folder.map(|_| Capture { from, to, limit: FRAMES }),
        stop,
        progress: &|done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        },
    };
    let executed = execute(e, &options);
    bar.finish_and_clear();
    let executed = executed?;
    let context = context(e);
    if let Some(folder) = folder {
        write_results(e, &executed, &context, folder, capture.is_some(), common.quiet)?;
    }
    print(&executed, &context, common)?;
    for note in &executed.notes {
        eprintln!("contend: {note}");
    }
    if executed.missing > 0 {
        eprintln!("contend: stopped early: {} runs are missing; what is shown are the finished ones", executed.missing);
    }
    Ok(executed)
}

/// Whether every claim has its recorded verdict; says on standard error which has not.
pub fn well(executed: &Executed, quiet: bool) -> bool {
    let mut well = executed.missing == 0;
    for c in executed.outcome.claims.iter().filter(|c| !c.as_recorded) {
        well = false;
        if quiet || !std::io::stdout().is_terminal() {
            let measured = c.measured.map_or("nothing".into(), |m| format!("{m:.4}"));
            eprintln!(
                "contend: {}: claim {}: expected {}, measured {measured}: {}, but the file records {}",
                executed.outcome.file, c.id, c.expected, c.verdict, c.recorded
            );
        }
    }
    well
}

/// How the outcome of `e` came about, for reports.
pub fn context(e: &Experiment) -> ReportContext {
    let seeds = match (e.seeds.first(), e.seeds.last()) {
        (Some(a), Some(b)) if a != b && b - a + 1 == e.seeds.len() as u64 => format!("{a}..{b}"),
        _ => e.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    };
    ReportContext {
        command: std::env::args().enumerate().map(|(i, a)| if i == 0 { "contend".into() } else { a }).collect::<Vec<_>>().join(" "),
        cite: e.cite.clone(),
        notes: e.notes.clone(),
        seeds,
        warmup_s: e.warmup.as_secs_f64(),
        duration_s: e.duration.as_secs_f64(),
        figures: e.figures.iter().map(|f| figure(e, f)).collect(),
        experiment_hash: String::new(),
    }
}

fn figure(e: &Experiment, f: &file::Figure) -> FigureSpec {
    let shown = |p: &&PointKey| f.when.iter().all(|(key, values)| p.get(key).is_none_or(|v| values.contains(v)));
    FigureSpec { title: f.title.clone(), along: f.x.clone(), metrics: f.y.clone(), points: e.points.iter().filter(shown).cloned().collect() }
}

fn progress_bar(quiet: bool, name: &str) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(1);
    // The template is a constant that the library accepts; should it not, its own default serves.
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

fn print(executed: &Executed, context: &ReportContext, common: &Common) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let text = match common.format {
        _ if common.quiet && common.format == Format::Table => return Ok(()),
        Format::Table => output::summary_table(&executed.outcome, context, std::io::stdout().is_terminal()),
        Format::Json => output::to_json(&executed.outcome) + "\n",
        Format::Csv => {
            let mut bytes = Vec::new();
            output::write_csv(&executed.outcome, &mut bytes).into_diagnostic()?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    // A reader that has seen enough (head) is no error.
    match out.write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).into_diagnostic(),
        _ => Ok(()),
    }
}

/// Writes everything about `executed` into `folder`; what was there before is moved aside.
pub fn write_results(e: &Experiment, executed: &Executed, context: &ReportContext, folder: &Path, capture: bool, quiet: bool) -> Result<()> {
    if folder.exists() {
        let aside = (1..).map(|i| folder.with_extension(i.to_string())).find(|p| !p.exists()).unwrap_or_else(|| folder.with_extension("old"));
        std::fs::rename(folder, &aside).map_err(|err| wrong(format!("{} cannot be moved aside: {err}", folder.display()), "give another folder with --out"))?;
        if !quiet {
            eprintln!("contend: earlier results are now in {}", aside.display());
        }
    }
    let o = &executed.outcome;
    let text = |name: &str, text: &str| output::atomically(&folder.join(name), |w| w.write_all(text.as_bytes()));
    let all = || -> Result<(), output::Error> {
        text("run.toml", &super::report::repeatable(e, context))?;
        text("summary.json", &output::to_json(o))?;
        output::write_flows(o, context, &folder.join("flows.parquet"))?;
        output::write_series(o, context, &folder.join("series.parquet"))?;
        output::atomically(&folder.join("results.csv"), |w| output::write_csv(o, w))?;
        if capture && let Some(run) = o.runs.first() {
            output::atomically(&folder.join("air.pcapng"), |w| output::write_pcapng(run, output::Capture::default(), w))?;
        }
        output::write_report(o, context, &folder.join("report.html"))
    };
    all().map_err(|err| wrong(err, "give a folder that can be written with --out, or --no-results"))?;
    if !quiet {
        eprintln!("contend: {}", folder.join("report.html").display());
    }
    Ok(())
}
