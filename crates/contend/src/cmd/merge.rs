//! `contend merge`: the runs of shards become one results folder.

use super::common::Common;
use super::job::{Job, Performed, command_line};
use super::run::{self, SHARD, judged, load, stop_on_ctrl_c};
use super::wrong;
use crate::Done;
use contend_lab::execute::Shard;
use contend_lab::reading::file::Experiment;
use contend_lab::writing::folder::Draft;
use contend_lab::writing::output::ReportContext;
use miette::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  contend run sweep.toml --shard 1/4       ... and 2/4, 3/4, 4/4, on machines that share no memory
  contend merge results/sweep.shard-*      the folder results/sweep, as one call would have made it

A call with --shard that was killed continues with --resume. Runs that are missing are named with their
shards; with --complete they are made here. Further seeds of `decide` and `seeds.at_most`, and searches,
are made here too, since they depend on all runs. docs/clusters.md has scripts for schedulers.

Exit status: as for `contend run`.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folders of all shards of one file
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// Make the missing runs here
    #[arg(long)]
    complete: bool,
    #[command(flatten)]
    common: Common,
}

/// Shards that are named when runs are missing.
const NAMED: usize = 10;

pub fn run(args: &Args) -> Result<Done> {
    if args.common.no_results {
        return Err(wrong("`contend merge` writes a results folder", "omit --no-results"));
    }
    let given = [
        ("--seeds", args.common.seeds.is_some()),
        ("--set", !args.common.set.is_empty()),
        ("--sweep", !args.common.sweep.is_empty()),
        ("--decide", args.common.decide.is_some()),
        ("--no-claims", args.common.no_claims),
    ];
    if let Some((option, _)) = given.iter().find(|g| g.1) {
        return Err(wrong(
            format!("{option} would change the runs, which are made"),
            "give it to `contend run --shard`",
        ));
    }
    let Some(first) = args.shards.first() else { return Ok(Done::Well) };
    let e = load(&first.join("run.toml"), &args.common)?;
    let stop = stop_on_ctrl_c();
    let (name, parts) = of(first);
    let job = Job { folder: Some(args.common.out.join(&name)), ..Job::new(&e, &args.common, &stop, name) };
    let draft = Draft::merged(&args.common.out.join(&job.name), job.header(), &args.shards)?;
    let missing = missing(&e, &draft, parts);
    if !missing.is_empty() && !args.complete {
        // The shards keep their runs.
        draft.discard();
        let (all, planned) = (missing.values().sum::<usize>(), e.needs.len() * e.seeds.len());
        let named: Vec<String> = missing.keys().take(NAMED).map(|k| format!("{k}/{parts}")).collect();
        let more = if missing.len() > NAMED { " and others" } else { "" };
        return Err(wrong(
            format!("{all} of {planned} runs are missing: those of --shard {}{more}", named.join(", ")),
            "make them by `contend run FILE --shard K/N` (with --resume if the call was killed), and name their \
                folders too; or add --complete to make them here",
        ));
    }
    let Performed { executed, unwritten } = job.perform(Some(draft))?;
    run::print(&executed, &ReportContext::of(&e, command_line()), &args.common)?;
    let how = judged(&executed, args.common.quiet);
    unwritten.map_or(Ok(how), Err)
}

/// The name of the results of a shard's folder, and the number of shards.
fn of(folder: &Path) -> (String, u32) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parts = name.rsplit_once(SHARD).and_then(|(name, part)| {
        let (_, of) = part.split_once("-of-")?;
        Some((name.to_owned(), of.parse().ok()?))
    });
    parts.unwrap_or((format!("{name}.merged"), 1))
}

/// The number of missing runs by shard, of `of` shards.
fn missing(e: &Experiment, draft: &Draft, of: u32) -> BTreeMap<u32, usize> {
    let mut all = BTreeMap::new();
    for (i, (need, _)) in e.needs.iter().enumerate() {
        for (rank, seed) in e.seeds.iter().enumerate() {
            if !draft.journal().has(&need.point, need.overlay.settings(), *seed) {
                *all.entry(Shard::with(e, of, i, rank).number).or_default() += 1;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_shard_tells_the_name_of_the_results_and_how_many_there_are() {
        assert_eq!(of(Path::new("results/hot.shard-3-of-100")), ("hot".into(), 100));
        assert_eq!(of(Path::new("hot.shard-1.shard-3-of-4/")), ("hot.shard-1".into(), 4));
        assert_eq!(of(Path::new("other")), ("other.merged".into(), 1));
    }
}
