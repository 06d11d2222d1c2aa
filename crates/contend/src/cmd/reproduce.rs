//! `contend reproduce`: runs the papers' experiments and compares each claim with the measured value.

use super::common::{Common, Printed};
use super::emulate::controllers;
use super::job::{Job, Parents, command_line, say_moved, unwritable};
use super::run::{judged, load, stop_on_ctrl_c};
use super::{say, wrong};
use crate::Done;
use contend_emu::host;
use contend_emu::live::Emulate;
use contend_lab::echo::{SENTENCE, WORD, echo};
use contend_lab::execute::{Simulated, predict};
use contend_lab::experiment::results::{ClaimResult, Outcome};
use contend_lab::reading::file::{Experiment, Origin, Verdict};
use contend_lab::reproduce::{PaperExperiment, SHORT_SEEDS, experiments, folder, is_shortened, read_me};
use contend_lab::running::network::Engine;
use contend_lab::writing::folder::remove_journal;
use contend_lab::writing::output::{
    self, Chapter, Document, ReportContext, Tally, WIDTH, by_claim, claim_text, look_text, measured_text, tags, under,
    wrapped,
};
use contend_lab::writing::validation::markdown;
use miette::Result;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  contend reproduce                                    every paper, with the seeds of its files
  contend reproduce keceli-2008 --short                one paper, three seeds
  contend reproduce keceli-2008/m2-uploads             one experiment
  contend reproduce arai-2009 --emulated               with real TCP, in real time: its folder emulated/
  contend reproduce jersey-2005 --format json          {\"schema\": \"contend/reproduce/2\", \"experiments\": [...]}

Each experiment gets a folder in results/. A paper whose experiments are all run also gets one page
for all of them: results/keceli-2008/report.html. --resume continues a call that was killed or
stopped.

Verdicts: reproduced (inside the expected range), not reproduced (outside; the file gives the
reason), contradiction (the paper's own statements disagree), undecided (more seeds needed).
After Ctrl-C experiments with all of their runs are judged and counted; what is missing is named.
Exit status: 0 every verdict is the one its file records; 1 a verdict differs; 2, 3, 130 as for `run`.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A paper, or one of its experiments: keceli-2008 or keceli-2008/m2-uploads; without it, all
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    what: Option<String>,
    /// Folder of the papers (default: papers/ if it is here, else the papers inside contend)
    #[arg(long, value_name = "DIR")]
    papers: Option<PathBuf>,
    /// Run three seeds instead of all; a verdict that is undecided, now or in the file, is then not counted as a
    /// difference
    #[arg(long)]
    short: bool,
    /// Write the claims and their verdicts to this file as Markdown; docs/validation.md is made this way
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Continue an earlier call that was killed or stopped, or that found the disk full; its finished runs are kept
    #[arg(long, conflicts_with = "no_results")]
    resume: bool,
    /// Run the experiments of PAPER/emulated instead, with the TCP of this machine's kernel and in real time
    #[arg(long, conflicts_with_all = ["short", "resume"])]
    emulated: bool,
    /// With --emulated: make a run that is not faithful again, up to this number of times in all
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100),
        requires = "emulated")]
    attempts: u32,
    #[command(flatten)]
    common: Common,
}

/// Smallest predicted CPU time, in seconds, that is worth a message.
const WORTH_A_LINE: f64 = 10.0;

pub fn run(args: &Args) -> Result<Done> {
    let (json, talk) = match args.common.format {
        Printed::Table => (false, !args.common.quiet),
        Printed::As(format) if format.name == "json" => (true, false),
        Printed::As(format) => {
            return Err(wrong(
                format!("--format {} prints the numbers of one file", format.name),
                format!("write --format json, or take {} from the results folders", format.file),
            ));
        }
    };
    if args.common.no_claims {
        return Err(wrong(
            "`contend reproduce` judges the claims of the papers",
            "omit --no-claims, or call `contend run` with the name of an experiment",
        ));
    }
    let papers = folder(args.papers.as_deref());
    let files = experiments(papers.as_deref(), args.what.as_deref(), args.emulated)?;
    // Runs in real time follow one after the other.
    let jobs = if args.emulated { Some(1) } else { args.common.jobs };
    let common = Common { jobs, ..args.common.clone() };
    let engine: Box<dyn Engine> = if args.emulated {
        // Before any other thread: a process with threads cannot enter a user namespace.
        host::become_root().map_err(super::refused)?;
        Box::new(Emulate::new(vec![], None).with_attempts(args.attempts).with_controllers(controllers))
    } else {
        Box::new(Simulated)
    };
    files.iter().try_for_each(|file| super::results_name(&file.path).map(drop))?;
    let mut all = Vec::new();
    for PaperExperiment { name, path } in files {
        let mut e = load(&path, &args.common)?;
        if args.short && args.common.seeds.is_none() && is_shortened(&e) {
            e = load(&path, &Common { seeds: Some(SHORT_SEEDS.into()), ..args.common.clone() })?;
        }
        all.push((name, e));
    }
    let stop = stop_on_ctrl_c();
    let job = |name: &str, e| Job {
        folder: (!args.common.no_results).then(|| args.common.out.join(name)),
        // `--resume` reads the runs of finished experiments from the journal too.
        keep_journal: !args.emulated,
        engine: &*engine,
        ..Job::new(e, &common, &stop, name.to_owned())
    };
    let folders: Vec<PathBuf> = all.iter().map(|(name, _)| args.common.out.join(name)).collect();
    let _parents = Parents::missing(folders.iter().filter(|_| !args.common.no_results).map(PathBuf::as_path));
    // A folder that cannot be written is reported before the first run.
    all.iter().try_for_each(|(name, e)| job(name, e).prepare(false).map(drop))?;
    if talk && !args.resume && !args.emulated {
        foretell(&all, &stop)?;
    }
    let mut unwritten = None;
    let (mut done, mut outcomes, mut chapters) = (Done::Well, Vec::new(), Vec::new());
    for (name, e) in &all {
        if talk {
            super::print(&format!("{}: {}\n", echo(name, SENTENCE), echo(&e.title, SENTENCE)))?;
        }
        let job = job(name, e);
        let draft = if args.resume { job.resume()? } else { None };
        let mut performed = job.perform(draft)?;
        let executed = &mut performed.executed;
        let how = judged(executed, args.common.quiet);
        let is_complete = executed.outcome.interrupted.is_none();
        if !is_complete {
            // A verdict without some of its runs is none.
            executed.outcome.claims.clear();
        }
        if talk {
            let claims: String = by_claim(&executed.outcome.claims).map(claim).collect();
            super::print(&(claims + "\n"))?;
            let emulations = executed.outcome.runs.iter().filter_map(|run| run.emulation.as_ref());
            if let Some(e) = emulations.clone().find(|e| !e.late.is_empty()) {
                say(&format!("contend: {name}: not faithful to time, so its verdicts say nothing: {}", e.late));
                done = Done::Unmet;
            }
        }
        if !args.common.no_results
            && is_complete
            && let Some((paper, experiment)) = name.split_once('/')
        {
            chapters.push((paper, Chapter::new(experiment, &executed.outcome, &ReportContext::of(e, command_line()))));
        }
        // Only the results folder needs these details. They are dropped now to free memory before the next experiment.
        executed.outcome.runs.iter_mut().for_each(contend_lab::experiment::results::Run::drop_detail);
        outcomes.push(performed.executed.outcome);
        unwritten = performed.unwritten;
        if unwritten.is_some() {
            break;
        }
        match how {
            Done::Stopped => {
                done = Done::Stopped;
                break;
            }
            Done::Unmet => done = Done::Unmet,
            Done::Well | Done::Program(_) => {}
        }
    }
    // A page of a paper has all of its experiments.
    let is_whole = |paper: &str| {
        let own = all.iter().filter(|(name, _)| name.split_once('/').is_some_and(|(of, _)| of == paper)).count();
        chapters.iter().filter(|(of, _)| *of == paper).count() == own
    };
    let whole: BTreeSet<&str> = chapters.iter().map(|(paper, _)| *paper).filter(|paper| is_whole(paper)).collect();
    chapters.retain(|(paper, _)| whole.contains(paper));
    if unwritten.is_none() {
        unwritten = pages(args, papers.as_deref(), chapters).err();
    }
    if unwritten.is_none() && done != Done::Stopped && !args.common.no_results {
        unwritten = folders.iter().map(|f| remove_journal(f)).find_map(Result::err).map(unwritable);
    }
    // The numbers are printed before anything else that may fail.
    if json {
        super::print(&object(&outcomes))?;
    } else if talk {
        super::print(&tally(&outcomes))?;
    }
    if done == Done::Stopped {
        say(&format!("contend: {}", stopped(&all, &outcomes, args)));
    } else if let Some(path) = &args.markdown {
        let text = markdown(&command(args), &outcomes);
        output::atomically(path, |w| w.write_all(text.as_bytes()))
            .map_err(|e| wrong(e, "name a file that can be written"))?;
    }
    unwritten.map_or(Ok(done), Err)
}

/// Says how much CPU time the experiments will take, if it is worth a line.
fn foretell(all: &[(String, Experiment)], stop: &AtomicBool) -> Result<()> {
    let each = all.iter().map(|(_, e)| predict(e, stop)).collect::<Result<Vec<_>, _>>()?;
    let seconds = each.iter().map(Duration::as_secs_f64).sum::<f64>();
    // A call that was stopped has not looked at all of them.
    if seconds >= WORTH_A_LINE && !stop.load(Ordering::Relaxed) {
        let text = if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
        let mut papers: Vec<&str> = all.iter().filter_map(|(name, _)| name.split('/').next()).collect();
        papers.dedup();
        let one = if let [_] = papers.as_slice() {
            String::new()
        } else {
            format!("; a name runs one paper: {}", papers.join(", "))
        };
        say(&format!("contend: this call takes about {text} of CPU time{one}"));
    }
    Ok(())
}

/// Writes one page for each paper, unless the call names a single experiment.
fn pages(args: &Args, papers: Option<&Path>, mut chapters: Vec<(&str, Chapter)>) -> Result<()> {
    // A single experiment has its own page, which must not replace the page of the paper.
    if args.what.as_ref().is_some_and(|w| w.contains('/')) {
        return Ok(());
    }
    while let Some(paper) = chapters.first().map(|c| c.0) {
        let (own, others) = chapters.into_iter().partition(|c| c.0 == paper);
        chapters = others;
        let own: Vec<Chapter> = own.into_iter().map(|c: (&str, Chapter)| c.1).collect();
        let page = args.common.out.join(paper).join("report.html");
        // A paper without README.md has its folder's name as title.
        let about = read_me(papers, paper);
        let aside = output::write_paper(paper, &about, &command_line(), &own, &page).map_err(unwritable)?;
        if !args.common.quiet {
            say_moved(aside.as_deref());
            say(&format!("contend: {}", page.display()));
        }
    }
    Ok(())
}

/// The command line that writes the same Markdown text.
fn command(args: &Args) -> String {
    let what = args.what.as_ref().map_or(String::new(), |w| format!(" {w}"));
    let papers = args.papers.as_ref().map_or(String::new(), |p| format!(" --papers {}", p.display()));
    format!("contend reproduce{what}{papers} --markdown FILE")
}

/// A claim with all its readings in lines that fit a terminal: the paper's words, the expected and measured values, and
/// the verdict.
fn claim(readings: &[ClaimResult]) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        if !text.is_empty() {
            out += &format!("      {}\n", wrapped(text, super::width().min(WIDTH), 6));
        }
    };
    let first = &readings[0];
    line(&first.paper);
    for c in readings {
        let differs = if c.as_recorded { String::new() } else { format!("   <- the file records: {}", c.recorded) };
        let name = c.reading.as_ref().map_or_else(String::new, |r| format!("{}: ", echo(r, WORD)));
        let (expected, measured) = (&c.measured.expected, measured_text(c));
        line(&format!("{name}expected {expected}, measured {measured}: {}{differs}", c.verdict));
        line(&look_text(c.measured.look));
    }
    line(&under(readings));
    line(&first.reason);
    format!("  {}\n{out}", claim_text(first))
}

/// Which experiments a call that was stopped has not judged, and what to do about it.
fn stopped(all: &[(String, Experiment)], outcomes: &[Outcome], args: &Args) -> String {
    let complete = outcomes.iter().filter(|o| o.interrupted.is_none()).count();
    // They follow one another, so that only the last one can have a part of its runs.
    let part = |i: usize| outcomes.get(i).and_then(|o| o.interrupted).filter(|part| part.finished > 0);
    let missing = all.iter().enumerate().skip(complete).map(|(i, (name, _))| match part(i) {
        Some(part) => format!("{name} ({} of {} runs are finished)", part.finished, part.finished + part.missing),
        None => name.clone(),
    });
    let (count, named) = (all.len() - complete, missing.take(NAMED).collect::<Vec<_>>().join(", "));
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    let kept = if args.common.no_results || args.emulated { "" } else { "; --resume makes what is missing" };
    let unwritten = match &args.markdown {
        Some(path) => format!("; {} is not written, as it would have some of the verdicts only", path.display()),
        None => String::new(),
    };
    format!("stopped early: {count} of {} experiments are not judged: {named}{more}{kept}{unwritten}", all.len())
}

/// Experiments that are named when they are missing.
const NAMED: usize = 10;

/// What was judged. Experiments without some of their runs are not counted.
fn tally(outcomes: &[Outcome]) -> String {
    let outcomes: Vec<&Outcome> = outcomes.iter().filter(|o| o.interrupted.is_none()).collect();
    let claims = || outcomes.iter().flat_map(|o| &o.claims);
    let all = Tally::of(outcomes.iter().copied());
    let verdicts = Verdict::ALL.map(Verdict::name).into_iter().zip(all.verdicts(Origin::Paper));
    let verdicts: Vec<String> = verdicts.filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    let experiments = if let [_] = outcomes[..] { "experiment" } else { "experiments" };
    let statements = all.statements(Origin::Paper);
    let mut text = format!("{} {experiments}, {statements} statements of the paper", outcomes.len());
    for part in [verdicts.join(", "), all.beside()].into_iter().filter(|part| !part.is_empty()) {
        text += &format!("; {part}");
    }
    text += &format!("; {} differ from what their files record", claims().filter(|c| !c.as_recorded).count());
    let width = super::width().min(WIDTH);
    let tags = tags(claims());
    let tags = if tags.is_empty() { tags } else { wrapped(&tags, width, 0) + "\n" };
    format!("{}\n{tags}", wrapped(&text, width, 0))
}

fn object(outcomes: &[Outcome]) -> String {
    let documents: Vec<Document<'_>> = outcomes.iter().map(Document::of).collect();
    let all = serde_json::json!({"schema": "contend/reproduce/2", "experiments": documents});
    // All keys are strings, so this cannot fail.
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}
