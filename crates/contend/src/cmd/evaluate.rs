//! `contend evaluate`: a congestion controller or an access point in the tests of the field.

use super::common::{Common, jobs};
use super::job::{Job, Parents, Performed, command_line, progress_bar, unwritable};
use super::run::stop_on_ctrl_c;
use super::{complete, say, wrong};
use crate::Done;
use contend_lab::evaluate::{Evaluation, How, Subject};
use contend_lab::opening;
use contend_lab::reading::file::keys::Family;
use contend_lab::reading::file::test::Tier;
use contend_lab::suites::{self, Suite, TestFile};
use contend_lab::writing::folder::remove_journal;
use contend_lab::writing::output::scorecard::Scorecard;
use contend_lab::writing::output::{self, WIDTH, wrapped};
use miette::Result;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};

/// The usual folder of the suites.
const HERE: &str = "suites";

const EXAMPLES: &str = "Examples:
  contend evaluate --cc bbr3                        suite cc-1: a congestion controller
  contend evaluate --cc 'cubic { beta_1024 = 600 }' with parameters, as in a file
  contend evaluate --ap fq_codel                    suite ap-1: a queue at the access point
  contend evaluate --ap-file my-ap.toml             suite ap-1: the table [ap] of a file
  contend evaluate --cc bbr3 standard               one test; `contend run cc-1/standard` runs its file
  contend evaluate --list                           tests, sources and what is not simulated; runs nothing

A suite is a folder of experiment files; docs/evaluate.md tells what each test is and how to read the
scorecard. There is no total and no grade.

Verdicts of a test: pass (every check that counts is met, or one of its alternatives), fail, not
decided (more seeds are needed), shown (nothing counts), not applicable, not simulated.
Exit status: 0 nothing fails and all is decided; 1 a test fails or is not decided; 2, 3, 130 as for `run`.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("subject").args(["cc", "ap", "ap_file", "list"]).required(true))]
pub struct Args {
    /// One test, or a suite: standard, cc-1/standard or cc-1; without it, all tests of the newest suite
    #[arg(value_name = "TEST", add = complete::tests())]
    what: Option<String>,
    /// The congestion controller or variant under test, perhaps with parameters: 'cubic { beta_1024 = 600 }'
    #[arg(long, value_name = "NAME", add = complete::named_variants())]
    cc: Option<String>,
    /// The queue discipline under test, perhaps with parameters: 'red { ecn = true }'
    #[arg(long, value_name = "NAME", add = complete::family(Family::Qdiscs))]
    ap: Option<String>,
    /// The access point under test: the table [ap] of this file, and access, ampdu, amsdu, mac_queue and rate_control
    /// of its [wifi], which hold for the baseline too
    #[arg(long, value_name = "FILE")]
    ap_file: Option<PathBuf>,
    /// Show the tests with their sources, and run nothing
    #[arg(long, conflicts_with_all = ["full", "strict", "seeds", "decide", "html", "markdown", "resume", "bibtex"])]
    list: bool,
    /// Run the tests of every tier, with up to 100 seeds
    #[arg(long)]
    full: bool,
    /// Judge all checks together with 95 %: each by an interval of 1 - 5 %/m for m checks
    #[arg(long)]
    strict: bool,
    /// Folder of the suites (default: suites/ if it is here, else the suites inside contend)
    #[arg(long, value_name = "DIR")]
    suites: Option<PathBuf>,
    /// Seeds that replace those of the tests, like 101..105
    #[arg(long)]
    seeds: Option<String>,
    /// Run more seeds for checks that are not decided, up to N at each point (default: as the tests say)
    #[arg(long, value_name = "N")]
    decide: Option<String>,
    /// Runs at the same time, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<u16>,
    /// Folder in which each test gets a results folder of its own, below SUITE/SUBJECT
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// What to print on standard output
    #[arg(long, value_name = "FORMAT", value_parser = ["table", "json"], default_value = "table")]
    format: String,
    /// Write the scorecard as one page that opens from disk
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the scorecard to this file as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print the citation for BibTeX behind the table
    #[arg(long)]
    bibtex: bool,
    /// Print what fails or is not decided, and the counts
    #[arg(long)]
    quiet: bool,
    /// Write no results folders
    #[arg(long)]
    no_results: bool,
    /// Continue an earlier call that was killed or stopped; its finished runs are kept
    #[arg(long, conflicts_with = "no_results")]
    resume: bool,
}

pub fn run(args: &Args) -> Result<Done> {
    let folder = args.suites.clone().or_else(|| Some(PathBuf::from(HERE)).filter(|here| here.is_dir()));
    let folder = folder.as_deref();
    if args.list {
        return list(args, folder);
    }
    let how = How { full: args.full, strict: args.strict, seeds: args.seeds.clone(), decide: args.decide.clone() };
    let evaluation = Evaluation::of(subject(args)?, args.what.as_deref(), folder, &how)?;
    [&args.html, &args.markdown].into_iter().flatten().try_for_each(|f| output::can_write(f)).map_err(unwritable)?;
    let results = args.out.join(evaluation.suite()).join(folder_name(evaluation.subject()));
    let common = common(args);
    let stop = stop_on_ctrl_c();
    let job = |i: usize, e| Job {
        folder: (!args.no_results).then(|| results.join(evaluation.id(i))),
        // `--resume` reads the runs of finished tests from the journal too.
        keep_journal: true,
        ..Job::new(e, &common, &stop, format!("{}/{}", evaluation.suite(), evaluation.id(i)))
    };
    let folders: Vec<PathBuf> = evaluation.to_run.iter().map(|(i, _)| results.join(evaluation.id(*i))).collect();
    let _parents = Parents::missing(folders.iter().filter(|_| !args.no_results).map(PathBuf::as_path));
    // A folder that cannot be written is reported before the first run.
    evaluation.to_run.iter().try_for_each(|(i, e)| job(*i, e).prepare(false).map(drop))?;
    let bar = progress_bar(args.quiet, evaluation.suite(), "tests");
    bar.set_length(evaluation.to_run.len() as u64);
    let mut cards = vec![];
    for (done, (i, e)) in evaluation.to_run.iter().enumerate() {
        bar.set_message(evaluation.id(*i).to_owned());
        bar.set_position(done as u64);
        let job = job(*i, e);
        let draft = if args.resume { job.resume()? } else { None };
        let Performed { executed, unwritten } = job.perform(draft)?;
        if executed.outcome.interrupted.is_some() {
            bar.finish_and_clear();
            say(&stopped(&evaluation, done, args));
            return Ok(Done::Stopped);
        }
        unwritten.map_or(Ok(()), Err)?;
        cards.extend(evaluation.card(*i, e, executed));
    }
    bar.finish_and_clear();
    let (confidence, left, is_single) = (evaluation.confidence, evaluation.left, evaluation.is_single());
    let scorecard = evaluation.scorecard(cards, command_line());
    let date = date();
    if args.format == "json" {
        super::print(&(serde_json::to_string_pretty(&scorecard.json()).unwrap_or_default() + "\n"))?;
    } else {
        super::print(&scorecard.table(std::io::stdout().is_terminal(), super::width(), args.quiet))?;
        if !args.quiet {
            super::print(&below(&scorecard, &date, confidence, left))?;
        }
        if args.bibtex {
            super::print(&format!("\n{}", scorecard.bibtex(&date)))?;
        }
    }
    let write =
        |path: &Path, text: String| output::atomically(path, |w| w.write_all(text.as_bytes())).map_err(unwritable);
    if let Some(path) = &args.html {
        write(path, output::scorecard_page(&scorecard, &date, confidence))?;
    }
    if let Some(path) = &args.markdown {
        write(path, scorecard.markdown(confidence))?;
    }
    if !args.no_results {
        folders.iter().try_for_each(|f| remove_journal(f)).map_err(unwritable)?;
        // A single test must not replace the scorecard of all.
        if !is_single {
            let page = results.join("scorecard.html");
            write(&page, output::scorecard_page(&scorecard, &date, confidence))?;
            if !args.quiet {
                say(&format!("contend: {}", page.display()));
            }
        }
    }
    Ok(if scorecard.is_clean() { Done::Well } else { Done::Unmet })
}

/// The thing under test.
fn subject(args: &Args) -> Result<Subject> {
    match (&args.cc, &args.ap, &args.ap_file) {
        (Some(cc), ..) => Subject::controller(cc).map_err(super::refused),
        (_, Some(ap), _) => Subject::queue(ap).map_err(super::refused),
        (.., Some(path)) => {
            let text = opening::text(path).map_err(super::refused)?;
            let subject = Subject::access_point(&path.display().to_string(), &text)?;
            if !args.quiet && !subject.ignored.is_empty() {
                let ignored = subject.ignored.join(", ");
                say(&format!("contend: {}: no part of an access point, so ignored: {ignored}", path.display()));
            }
            Ok(subject)
        }
        _ => Err(wrong("there is nothing to evaluate", "write --cc NAME, --ap NAME or --ap-file FILE")),
    }
}

/// The options of the runs.
fn common(args: &Args) -> Common {
    Common { out: args.out.clone(), no_results: args.no_results, ..Common::plain(args.jobs, true) }
}

/// `name` as the name of a folder.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_+.".contains(c) { c } else { ' ' };
    let words: String = name.chars().map(plain).collect();
    let parts = words.split_whitespace().map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    let stem = parts.collect::<Vec<_>>().join("_");
    if stem.is_empty() { "subject".to_owned() } else { stem }
}

/// The text below the table.
fn below(card: &Scorecard, date: &str, confidence: f64, left: usize) -> String {
    let width = super::width().min(WIDTH);
    let more = match left {
        0 => String::new(),
        1 => " One more test runs with --full.".to_owned(),
        n => format!(" {n} more tests run with --full."),
    };
    let chance = wrapped(
        &format!("{}{more} {:.0} million events.", card.chance(confidence), card.events() as f64 / 1e6),
        width,
        0,
    );
    format!("{chance}\n\nCite: {}\n", wrapped(&card.citation(date), width, 6))
}

/// The date of this call: `2026-11-27`.
#[allow(clippy::disallowed_methods, reason = "the date of the call is printed, and nothing depends on it")]
fn date() -> String {
    chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).date_naive().to_string()
}

/// What a call that was stopped after `done` tests has not run, and what to do about it.
fn stopped(evaluation: &Evaluation, done: usize, args: &Args) -> String {
    let missing: Vec<&str> = evaluation.to_run[done..].iter().map(|(i, _)| evaluation.id(*i)).collect();
    let remedy = if args.no_results { "" } else { "; the same call with --resume makes what is missing" };
    format!("contend: stopped early, so there is no scorecard; missing: {}{remedy}", missing.join(", "))
}

/// Shows the tests of the suites.
fn list(args: &Args, folder: Option<&Path>) -> Result<Done> {
    let all: Vec<Suite> = match &args.what {
        Some(what) => {
            let kind = what.split('-').next().unwrap_or_default();
            vec![Suite::named(Some(what), folder, if kind == "ap" { "ap" } else { "cc" })?]
        }
        None => suites::names(folder).iter().map(|name| Suite::read(folder, name)).collect::<Result<_, _>>()?,
    };
    if args.format == "json" {
        let test = |t: &TestFile| {
            let head = &t.head;
            serde_json::json!({
                "id": t.id, "title": head.title, "cite": head.cite, "fidelity": head.test.fidelity.name(),
                "tier": head.test.tier.name(), "missing": head.test.missing,
            })
        };
        let suite = |s: &Suite| {
            let tests: Vec<_> = s.tests.iter().map(test).collect();
            serde_json::json!({ "suite": s.name, "suite_digest": s.digest, "tests": tests })
        };
        let all = serde_json::json!({ "suites": all.iter().map(suite).collect::<Vec<_>>() });
        super::print(&(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"))?;
        return Ok(Done::Well);
    }
    let width = super::width().min(WIDTH);
    for suite in &all {
        super::print(&format!("suite {}, sha256 {}\n\n", suite.name, suite.digest))?;
        for t in &suite.tests {
            let head = &t.head;
            let mut facts = vec![head.cite.clone()];
            match &head.test.missing {
                Some(why) => facts.push(format!("not simulated: {why}")),
                None => {
                    facts.push(head.test.fidelity.name().to_owned());
                    facts.extend((head.test.tier == Tier::Full).then(|| "with --full only".to_owned()));
                    facts.extend(origins(t, args.quiet));
                }
            }
            let text = wrapped(&format!("{}: {}", t.id, head.title), width, 4);
            super::print(&format!("{text}\n    {}\n", wrapped(&facts.join("; "), width, 4)))?;
        }
        super::print("\n")?;
    }
    Ok(Done::Well)
}

/// The bounds of a test: each check with its expectation and the origin of its bound.
fn origins(test: &TestFile, quiet: bool) -> Option<String> {
    let name = test.path.display().to_string();
    let e = opening::experiment(&name, &test.text, &[]).ok().filter(|_| !quiet)?;
    let of = |c: &contend_lab::reading::file::Check| {
        let id = c.id.clone().unwrap_or_else(|| c.what.clone());
        let bound = c.bound.map_or_else(String::new, |b| format!(" ({})", b.name()));
        let shown = if c.informative { ", shown" } else { "" };
        format!("{id} {}{bound}{shown}", contend_lab::judging::claim::expected(&c.requirement))
    };
    Some(e.checks.iter().map(of).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_names_a_folder() {
        assert_eq!(folder_name("cubic { beta_1024 = 600 }"), "cubic_beta_1024_600");
        assert_eq!((folder_name("../my-ap.toml").as_str(), folder_name("{ }").as_str()), ("my-ap.toml", "subject"));
    }
}
