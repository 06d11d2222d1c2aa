//! `contend run`: files become tables and results folders.

use super::common::{Common, Printed};
use super::job::{Job, Parents, Performed, command_line};
use super::{complete, refused, say, wrong};
use crate::Done;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use contend_core::{Refusal, Time};
use contend_lab::execute::{Shard, Simulated};
use contend_lab::experiment::results::Executed;
use contend_lab::experiment::results::unmet;
use contend_lab::reading::file::{self, Experiment};
use contend_lab::running::network::Engine;
use contend_lab::writing::folder;
use contend_lab::writing::output::{self, Export, ReportContext, WIDTH, checked_text, measured_text, wrapped};
use contend_lab::{opening, pictures};
use miette::Result;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The text after the options of `contend run --help`.
fn after_help() -> String {
    let files: Vec<&str> = output::FORMATS.iter().map(|f| f.file).collect();
    let folder = format!(
        "Each file gets a folder in results/: run.toml (repeats the runs), report.html, {}, flows.parquet, \
            series.parquet, with --capture air.pcapng. An existing folder is first renamed (hotspot.1, hotspot.2, \
            ...).",
        files.join(", ")
    );
    format!("{EXAMPLES}\n\n{}\n\n{RESUME}", wrapped(&folder, WIDTH, 0))
}

const EXAMPLES: &str = "\
Examples:
  contend run hotspot                                            an example; `contend new` lists them
  contend run experiments/hotspot.toml
  contend run experiments/hotspot.toml --seeds 1..30 --set ap.queue.limit=400p
  contend run experiments/saturation.toml --sweep flow.0.count=5,50 --format csv > points.csv
  contend run experiments/hotspot.toml --sweep ap.queue=fifo,fq_codel --sweep flow.1.count=1..3
  contend run hotspot --sweep flow.1.count=1..3 --no-claims      another network: its claims are not judged
  contend run experiments/hotspot.toml --decide                  more seeds for what is undecided
  contend run experiments/hotspot.toml --capture 10s..10.5s      frames for Wireshark
  contend run experiments/hotspot.toml --set sample=200ms --export flent,iperf3
  contend run results/hotspot/run.toml                           the same runs again
  contend run experiments/hotspot.toml --resume                  continue a call that was killed
  contend run sweep.toml --shard 3/100                           a part of the runs; `contend merge` joins all";

const RESUME: &str = "\
Until all files are written, the folder is called hotspot.unfinished-1. Each finished run is saved
there at once. A call that is killed loses only the runs in progress; the same call with --resume
makes the missing runs.

Exit status: 0 done; 1 a claim has another verdict than its file records, or a check is not met or not
decided; 2 the file or the call is wrong, or the results cannot be written (the numbers are printed
nevertheless); 3 internal error; 130 stopped by Ctrl-C: finished runs are printed and kept. A second
Ctrl-C ends the call at once and prints nothing. With fewer seeds than those of the file, an
undecided claim does not count as another verdict. --no-claims judges neither claims nor checks.";

#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Experiment files, or names of examples; `contend list experiments` shows those of this folder, `contend new` the
    /// examples
    #[arg(required_unless_present = "replay", value_name = "FILE", add = complete::files())]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    /// Write the frames of the first run in this interval, like 10s..10.5s, to air.pcapng
    #[arg(long, value_name = "FROM..TO", value_parser = pictures::interval, conflicts_with = "no_results")]
    capture: Option<(Time, Time)>,
    /// Write results in the formats of other tools too, into folders of these names in the results folder
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = exported())]
    #[arg(conflicts_with = "no_results")]
    export: Vec<&'static Export>,
    /// Continue an earlier call of the same file that was killed or stopped, or that found the disk full
    #[arg(long, conflicts_with = "no_results")]
    resume: bool,
    /// Make one of N parts of the runs only, like 3/100, for `contend merge`: into a folder NAME.shard-3-of-100.
    /// Nothing is judged
    #[arg(long, value_name = "K/N", value_parser = shard)]
    #[arg(conflicts_with_all = ["no_results", "capture", "export", "replay"])]
    shard: Option<Shard>,
    /// Repeat the runs of a results folder of `contend emulate`, from what its hosts sent, without hosts: the digests
    /// are the same. Claims are not judged
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["files", "seeds", "set", "sweep", "decide", "no_claims", "resume"])]
    replay: Option<PathBuf>,
}

impl Args {
    /// The call `contend run FILE` with these options.
    pub fn of(file: PathBuf, common: Common) -> Args {
        Args { files: vec![file], common, capture: None, export: vec![], resume: false, shard: None, replay: None }
    }
}

/// The words of `--export`, each with its meaning.
pub fn exports() -> impl Iterator<Item = (&'static str, &'static str)> {
    output::EXPORTS.iter().map(|x| (x.name, x.summary))
}

/// Reads a word of `--export`.
fn exported() -> impl TypedValueParser<Value = &'static Export> {
    PossibleValuesParser::new(exports().map(|(name, meaning)| PossibleValue::new(name).help(meaning)))
        .try_map(|word| output::EXPORTS.iter().find(|x| x.name == word).ok_or(format!("{word} is no export")))
}

/// Reads the part of `--shard`.
fn shard(text: &str) -> Result<Shard, Refusal> {
    let parts = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
    let shard = parts.map(|(number, of)| Shard { number, of });
    shard.filter(|s| (1..=s.of).contains(&s.number)).ok_or("write a part like 3/100, from 1/100 to 100/100".into())
}

pub fn run(args: &Args) -> Result<Done> {
    runs(args, &stop_on_ctrl_c())
}

/// Runs all files until `stop` is set.
pub fn runs(args: &Args, stop: &AtomicBool) -> Result<Done> {
    if let Printed::As(f) = args.common.format
        && !f.can_follow
        && args.files.len() > 1
    {
        return Err(wrong(
            format!("--format {} prints the numbers of one file, but {} files are given", f.name, args.files.len()),
            format!("call contend once for each file, or use {} of the results folders", f.file),
        ));
    }
    // All files are read before the first one runs: an error in the last file is reported now, not in an hour.
    let files = args.replay.as_ref().map_or_else(|| args.files.clone(), |folder| vec![folder.join("run.toml")]);
    let all = files.iter().map(|path| load_until(path, &args.common, stop)).collect::<Result<Option<Vec<_>>>>()?;
    let Some(mut all) = all else {
        say("contend: stopped before the first run");
        return Ok(Done::Stopped);
    };
    let replay = args.replay.as_deref().map(replaying).transpose()?;
    if replay.is_some() {
        all.iter_mut().for_each(Experiment::without_claims);
    }
    for (path, e) in files.iter().zip(&all) {
        if let Some(x) = args.export.iter().find(|x| x.sampled && e.sample.is_none()) {
            return Err(wrong(
                format!("--export {} needs a time series, but {} does not sample its runs", x.name, path.display()),
                "write sample = \"100ms\" into the file, or give --set sample=100ms",
            ));
        }
    }
    let names = files.iter().map(|path| super::results_name(path)).collect::<Result<Vec<_>>>()?;
    let job = |((path, e), name): ((&PathBuf, _), _)| Job {
        capture: args.capture,
        exports: &args.export,
        folder: (!args.common.no_results).then(|| args.common.out.join(sharded(name, args.shard))),
        engine: replay.as_deref().unwrap_or(&Simulated),
        ..Job::new(e, &args.common, stop, path.display().to_string())
    };
    let mut jobs: Vec<Job> = files.iter().zip(&all).zip(names).map(job).collect();
    if args.shard.is_some() && args.resume {
        // A scheduler may start a shard again that is complete.
        jobs.retain(|job| !job.has_shard());
    }
    let _parents = Parents::missing(jobs.iter().filter_map(|job| job.folder.as_deref()));
    // All results folders are probed too: a folder that cannot be written is reported before the first run.
    let drafts = jobs.iter().map(|job| job.prepare(args.resume)).collect::<Result<Vec<_>>>()?;
    jobs.iter().filter(|_| !args.resume).for_each(Job::say_unfinished);
    if let Some(shard) = args.shard {
        for (job, draft) in jobs.iter().zip(drafts) {
            if !job.shard(shard, draft)? {
                return Ok(Done::Stopped);
            }
        }
        return Ok(Done::Well);
    }
    let mut done = Done::Well;
    for (job, draft) in jobs.iter().zip(drafts) {
        let Performed { executed, unwritten } = job.perform(draft)?;
        print(&executed, &ReportContext::of(job.e, command_line()), &args.common)?;
        let how = judged(&executed, args.common.quiet);
        say_changed(job.e, &executed, args.common.quiet);
        if let Some(err) = unwritten {
            return Err(err);
        }
        match how {
            Done::Stopped => return Ok(Done::Stopped),
            Done::Unmet => done = Done::Unmet,
            Done::Well | Done::Program(_) => {}
        }
        if let Some(folder) = &args.replay
            && !super::summary::same_digests(folder, &executed.outcome, args.common.quiet)?
        {
            done = Done::Unmet;
        }
    }
    Ok(done)
}

/// The name of the folder for the results called `name`, or for a part of their runs.
fn sharded(name: &OsStr, shard: Option<Shard>) -> OsString {
    let mut folder = name.to_owned();
    shard.iter().for_each(|s| folder.push(format!("{SHARD}{}-of-{}", s.number, s.of)));
    folder
}

/// What follows the name of the results in the name of a shard's folder; its number and the number of shards follow.
pub const SHARD: &str = ".shard-";

/// The engine that repeats the runs of an emulation.
#[cfg(target_os = "linux")]
fn replaying(folder: &Path) -> Result<Box<dyn Engine>> {
    Ok(Box::new(contend_emu::replay::Replay::of(folder.to_path_buf())))
}

#[cfg(not(target_os = "linux"))]
fn replaying(_: &Path) -> Result<Box<dyn Engine>> {
    Err(wrong("--replay needs Linux", "replay the folder on Linux"))
}

/// A flag that Ctrl-C and SIGTERM set. A second one ends the program at once.
pub fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Without a handler, Ctrl-C ends the program at once, as it ends any other program.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        // Ctrl-C leaves the terminal in the middle of a line.
        say("");
        say("contend: stopping; finished runs are kept");
    });
    stop
}

/// Reads a file with the settings of the call. The run.toml of a results folder has settings in its head; the settings
/// of the call are applied after them.
///
/// # Errors
/// When the file cannot be read, or when it describes no valid experiment.
pub fn load(path: &Path, common: &Common) -> Result<Experiment> {
    let text = opening::text(path).map_err(refused)?;
    Ok(opening::experiment(&path.display().to_string(), &text, &settings_of(&text, common)?)?)
}

/// Like [`load`]; `None` if `stop` was set before all points were tried.
///
/// # Errors
/// As [`load`].
fn load_until(path: &Path, common: &Common, stop: &AtomicBool) -> Result<Option<Experiment>> {
    let text = opening::text(path).map_err(refused)?;
    Ok(opening::experiment_until(&path.display().to_string(), &text, &settings_of(&text, common)?, stop)?)
}

/// The settings in the head of `text`, and those of the call.
///
/// # Errors
/// When an option has no value.
pub fn settings_of(text: &str, common: &Common) -> Result<Vec<(String, String)>> {
    let mut sets = folder::settings(text);
    for s in &common.sweep {
        let (key, values) = setting("--sweep", s, "flow.0.count=1,2,4")?;
        sets.push((format!("sweep.{key}"), values));
    }
    for s in &common.set {
        sets.push(setting("--set", s, "wifi.slot=20us")?);
    }
    if let Some(seeds) = &common.seeds {
        sets.push(("seeds".into(), seeds.clone()));
    }
    if let Some(show) = &common.show {
        let all: Vec<String> = parts(show).iter().map(|m| format!("{m:?}")).collect();
        sets.push(("show".into(), format!("[{}]", all.join(", "))));
    }
    if let Some(most) = &common.decide {
        sets.push(("decide".into(), most.clone()));
    }
    if common.no_claims {
        // As settings they are in run.toml, so that a repetition of the runs judges none either.
        sets.extend(["claim", "check"].map(|key| (key.to_owned(), "[]".to_owned())));
    }
    Ok(sets)
}

/// The expressions of a list: commas within brackets and quotes do not separate.
pub fn parts(list: &str) -> Vec<&str> {
    file::pieces(list).into_iter().filter_map(|piece| list.get(piece)).map(str::trim).collect()
}

/// Splits `KEY=VALUE` of `option`.
fn setting(option: &str, text: &str, example: &str) -> Result<(String, String)> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(wrong(format!("{option} {text}: there is no `=`"), format!("write {option} {example}")));
    };
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// The status of a call with this outcome. Claims with another verdict than recorded, and checks that are not met, are
/// named on standard error.
pub fn judged(executed: &Executed, quiet: bool) -> Done {
    if executed.outcome.interrupted.is_some() {
        return Done::Stopped;
    }
    let mut done = Done::Well;
    for c in executed.outcome.claims.iter().filter(|c| !c.as_recorded) {
        done = Done::Unmet;
        if quiet || !std::io::stdout().is_terminal() {
            let reading = c.reading.as_ref().map_or_else(String::new, |r| format!(" ({r})"));
            say(&format!(
                "contend: {}: claim {}{reading}: expected {}, measured {}: {}, but the file records {}",
                executed.outcome.file,
                c.id,
                c.measured.expected,
                measured_text(c),
                c.verdict,
                c.recorded
            ));
        }
    }
    for c in unmet(&executed.outcome.checks) {
        done = Done::Unmet;
        if quiet || !std::io::stdout().is_terminal() {
            say(&format!(
                "contend: {}: check {}: expected {}, measured {}: {}",
                executed.outcome.file,
                c.what,
                c.measured.expected,
                checked_text(c),
                c.answer
            ));
        }
    }
    if quiet && let Some(advice) = output::advice(&executed.outcome) {
        say(&format!("contend: {advice}"));
    }
    done
}

/// Says how to do without the claims and checks of a file that the call changes, if one of them makes the status 1.
pub fn say_changed(e: &Experiment, executed: &Executed, quiet: bool) {
    let o = &executed.outcome;
    let differs = || o.claims.iter().any(|c| !c.as_recorded) || unmet(&o.checks).next().is_some();
    if !quiet && o.interrupted.is_none() && e.source.has_changes() && differs() {
        say(
            "contend: claims and checks are about the network of the file, which --set or --sweep changes; --no-claims \
                judges none",
        );
    }
}

pub fn print(executed: &Executed, context: &ReportContext, common: &Common) -> Result<()> {
    let o = &executed.outcome;
    match common.format {
        Printed::Table if common.quiet => Ok(()),
        Printed::Table => {
            super::print(&output::summary_table(o, context, std::io::stdout().is_terminal(), super::width()))
        }
        Printed::As(format) => {
            // The table shows the warnings itself.
            o.warnings.iter().filter(|_| !common.quiet).for_each(|w| say(&format!("contend: warning: {w}")));
            super::print_by(|out| (format.write)(o, out))
        }
    }
}
