//! `contend watch`: runs a file, and again whenever it is saved.

use super::common::Common;
use super::run::{Args as RunArgs, runs, stop_on_ctrl_c};
use super::{complete, say};
use crate::{Done, message};
use miette::Result;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

const EXAMPLES: &str = "\
Examples:
  contend watch my.toml                      the table again after each save
  contend watch my.toml --seeds 1            quicker, while you try things

Nothing is written: `contend run my.toml` writes the results folder and the report.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The experiment file
    #[arg(value_name = "FILE", add = complete::files())]
    file: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// Time between two looks at the file.
const STEP: Duration = Duration::from_millis(200);

pub fn run(args: Args) -> Result<Done> {
    let ended = stop_on_ctrl_c();
    let file = args.file.clone();
    let call = RunArgs::of(args.file, Common { no_results: true, ..args.common });
    loop {
        let seen = state(&file);
        let stop = AtomicBool::new(false);
        let over = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            // A save stops the runs of the earlier text.
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if ended.load(Ordering::Relaxed) || state(&file) != seen {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(STEP);
                }
            });
            let done = runs(&call, &stop);
            over.store(true, Ordering::Relaxed);
            done
        });
        // A mistake in the file is no reason to end: the next save may mend it.
        if let Err(e) = done {
            let mut err = std::io::stderr();
            let _ = writeln!(err, "{}", message(&e, err.is_terminal()).trim_end());
        }
        if !ended.load(Ordering::Relaxed) && state(&file) == seen {
            say(&format!("contend: waiting for {} to be saved; Ctrl-C ends", file.display()));
        }
        while state(&file) == seen {
            if ended.load(Ordering::Relaxed) {
                return Ok(Done::Well);
            }
            std::thread::sleep(STEP);
        }
        // An editor may write in several steps: the file is read when it rests.
        let mut earlier = None;
        while earlier != Some(state(&file)) {
            earlier = Some(state(&file));
            std::thread::sleep(STEP);
        }
    }
}

/// Time and size of a file, which change when it is saved; `None` while the file is missing, as it is for a moment when
/// some editors save.
fn state(file: &Path) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}
