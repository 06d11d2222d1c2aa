//! `contend reproduce`: the papers' experiments, each claim beside what is measured.

use super::run::{Common, Format, go, load, stop_on_ctrl_c, well};
use super::{files_below, wrong};
use crate::Done;
use contend_lab::results::{ClaimResult, Outcome};
use miette::Result;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A paper, or one of its experiments: keceli-2008 or keceli-2008/m3-downloads-against-uploads; without it, all
    what: Option<String>,
    /// Folder of the papers
    #[arg(long, default_value = "papers")]
    papers: PathBuf,
    /// Three seeds and what CI has time for, instead of the full number
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    common: Common,
}

/// Seeds of the short form.
const SHORT_SEEDS: &str = "1..3";

pub fn run(args: &Args) -> Result<Done> {
    let files = files(args)?;
    let stop = stop_on_ctrl_c();
    let mut done = Done::Well;
    let mut outcomes = Vec::new();
    let quiet = Common { quiet: true, format: Format::Table, ..args.common.clone() };
    for path in &files {
        let mut e = load(path, &quiet)?;
        if args.short && args.common.seeds.is_none() && e.seeds.len() > 3 {
            e = load(path, &Common { seeds: Some(SHORT_SEEDS.into()), ..quiet.clone() })?;
        }
        let name = name(&args.papers, path);
        let folder = args.common.out.join(&name);
        let shown = Common { quiet: args.common.quiet || args.common.format == Format::Json, format: Format::Table, ..args.common.clone() };
        if !shown.quiet {
            println!("{name}: {}", e.title);
        }
        let executed = go(&e, &quiet, &stop, None, &name, (!args.common.no_results).then_some(&folder))?;
        if !well(&executed, true) {
            done = Done::ClaimDiffers;
        }
        if !shown.quiet {
            executed.outcome.claims.iter().for_each(claim);
            println!();
        }
        outcomes.push(executed.outcome);
        if executed.missing > 0 {
            break;
        }
    }
    match args.common.format {
        Format::Json => println!("{}", json(&outcomes)),
        _ if !args.common.quiet => tally(&outcomes),
        _ => {}
    }
    Ok(done)
}

fn files(args: &Args) -> Result<Vec<PathBuf>> {
    let all = files_below(&args.papers);
    if all.is_empty() {
        return Err(wrong(format!("there are no papers in {}", args.papers.display()), "call contend in its own folder, or name the folder with --papers"));
    }
    let Some(what) = &args.what else { return Ok(all) };
    let chosen: Vec<PathBuf> =
        all.iter().filter(|p| name(&args.papers, p) == *what || name(&args.papers, p).starts_with(&format!("{what}/"))).cloned().collect();
    if chosen.is_empty() {
        let names: Vec<String> = all.iter().map(|p| name(&args.papers, p)).collect();
        let folders = names.iter().filter_map(|n| n.split_once('/').map(|(f, _)| f));
        let nearest = contend_lab::nearest(what, names.iter().map(String::as_str).chain(folders));
        let remedy = nearest.map_or("`contend list experiments` shows what there is".to_owned(), |n| format!("did you mean `{n}`?"));
        return Err(wrong(format!("no paper or experiment is called `{what}`"), remedy));
    }
    Ok(chosen)
}

/// `keceli-2008/m1-downloads` of `papers/keceli-2008/m1-downloads.toml`.
fn name(papers: &Path, file: &Path) -> String {
    file.strip_prefix(papers).unwrap_or(file).with_extension("").display().to_string()
}

fn claim(c: &ClaimResult) {
    let measured = c.measured.map_or("-".into(), |m| number(m));
    let ci = c.ci95.map_or(String::new(), |ci| format!(" ± {}", number(ci)));
    let reading = c.reading.as_ref().map_or(String::new(), |r| format!(" ({r})"));
    let differs = if c.as_recorded { "" } else { "   <- the file records another verdict" };
    println!("  {:<16} {}{reading}\n  {:<16} expected {}, measured {measured}{ci}: {}{differs}", c.id, c.paper, "", c.expected, c.verdict);
    if !c.reason.is_empty() {
        println!("  {:<16} {}", "", c.reason);
    }
}

fn number(x: f64) -> String {
    if x.abs() >= 1e5 { format!("{:.3}M", x / 1e6) } else { format!("{x:.4}") }
}

fn tally(outcomes: &[Outcome]) {
    let claims: Vec<&ClaimResult> = outcomes.iter().flat_map(|o| &o.claims).collect();
    let count = |v: &str| claims.iter().filter(|c| c.verdict == v).count();
    println!(
        "{} experiments, {} claims: {} reproduced, {} not reproduced, {} contradictions, {} undecided; {} differ from what their files record",
        outcomes.len(),
        claims.len(),
        count("reproduced"),
        count("not reproduced"),
        count("contradiction"),
        count("undecided"),
        claims.iter().filter(|c| !c.as_recorded).count()
    );
}

fn json(outcomes: &[Outcome]) -> String {
    serde_json::to_string_pretty(&serde_json::json!({"schema": "contend/reproduce/1", "experiments": outcomes})).unwrap_or_default()
}
