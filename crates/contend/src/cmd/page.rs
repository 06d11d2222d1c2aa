//! `contend page`: an experiment as a page that opens from disk, with contend in it.

use super::common::Common;
use super::run::{settings_of, stop_on_ctrl_c};
use super::{common, complete, refused, say, wrong};
use crate::Done;
use contend_lab::execute;
use contend_lab::opening;
use contend_lab::reading::examples;
use contend_lab::reading::file::from_disk;
use contend_lab::writing::output::{atomically, can_write};
use contend_page::alone::{self, Given};
use contend_page::session::Session;
use miette::Result;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const EXAMPLES: &str = "\
Examples:
  contend page hotspot                          writes hotspot.html
  contend page my.toml -o lecture.html          dials, report, timeline and map of my.toml
  contend page my.toml --seeds 1..3             each change of a value runs three seeds
  contend page -o play.html                     all examples to choose from, one seed each

The page needs no network and no contend: its readers open it in a browser, turn its dials and edit its
file. Runs have the digests of `contend run`. It has the file's text, and the texts of the files that it
names; who gets the page can read them.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The experiment file, or the name of an example; without it, the page has all examples
    #[arg(value_name = "FILE", add = complete::files())]
    file: Option<PathBuf>,
    /// The page [default: FILE's name with .html, or contend.html]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Seeds of each run, like 1..5 (default: those of the file; with all examples, one)
    #[arg(long)]
    seeds: Option<String>,
    /// Set a key of the file, like wifi.slot=20us; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "file", add = complete::settings())]
    set: Vec<String>,
    /// Try several values of a key, like ap.queue=fifo,fq_codel
    #[arg(long = "sweep", value_name = "KEY=VALUE,...", requires = "file", add = complete::settings())]
    sweep: Vec<String>,
    /// Runs at the same time while the page is made, up to 1024 (default: one on each core)
    #[arg(long, value_name = "N", value_parser = common::jobs)]
    jobs: Option<u16>,
    /// Print only errors
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<Done> {
    let output = args.output.clone().unwrap_or_else(|| usual_name(args.file.as_deref()));
    if output.is_dir() {
        return Err(wrong(format!("{} is a folder", output.display()), "name the file of the page with --output"));
    }
    let Some(module) = alone::MODULE else {
        return Err(wrong(
            "this program was built without the module that runs in pages",
            "build it with the feature `pages`, which is a default of `cargo build`",
        ));
    };
    can_write(&output).map_err(unwritable)?;
    let stop = stop_on_ctrl_c();
    let jobs = args.jobs.map_or(0, usize::from);
    let (text, name, sets) = match &args.file {
        Some(file) => {
            let text = opening::text(file).map_err(refused)?;
            let common = Common {
                seeds: args.seeds.clone(),
                set: args.set.clone(),
                sweep: args.sweep.clone(),
                ..Common::plain(args.jobs, args.quiet)
            };
            let sets = settings_of(&text, &common)?;
            (text, file.display().to_string(), sets)
        }
        None => (examples::ALL[0].text.to_owned(), examples::ALL[0].name.to_owned(), one_seed(args)),
    };
    let Some(first) = given(Session::of(name, text, sets, from_disk), jobs, &stop)? else { return Ok(Done::Stopped) };
    let mut experiments = vec![first];
    if args.file.is_none() {
        for example in &examples::ALL[1..] {
            let e = opening::experiment(example.name, example.text, &one_seed(args))?;
            experiments.push(Given::of(&e, None));
        }
    }
    let page = alone::page(&experiments, module).text;
    atomically(&output, |w| w.write_all(page.as_bytes())).map_err(unwritable)?;
    if !args.quiet {
        say(&format!("contend: {} ({:.1} MB); open it in a browser", output.display(), page.len() as f64 / 1e6));
    }
    Ok(Done::Well)
}

fn unwritable(err: impl std::fmt::Display) -> miette::Report {
    wrong(err, "name a file in a folder that can be written: -o PATH")
}

/// The name of the page of `file`, in this folder.
fn usual_name(file: Option<&Path>) -> PathBuf {
    Path::new(file.and_then(Path::file_stem).unwrap_or("contend".as_ref())).with_extension("html")
}

/// The seeds of a page with all examples.
fn one_seed(args: &Args) -> Vec<(String, String)> {
    vec![("seeds".to_owned(), args.seeds.clone().unwrap_or_else(|| "1".into()))]
}

/// The experiment of a session with its report; `None` if `stop` was set before the end.
fn given(session: Session, jobs: usize, stop: &AtomicBool) -> Result<Option<Given>> {
    let Some(e) = session.ready(&[], stop)? else { return Ok(None) };
    let report = Session::report(&e, &|e, capture| {
        let options =
            execute::Options { jobs, series: true, capture: Some(capture), stop, ..execute::Options::default() };
        execute::execute(e, &options)
    });
    Ok(report?.map(|report| Given::of(&e, Some(report))))
}
