//! One subcommand a file.

pub mod analyse;
pub mod catalogue;
pub mod doctor;
pub mod model;
pub mod report;
pub mod reproduce;
pub mod run;

use contend_lab::echo::{SENTENCE, echo};
use contend_lab::writing::output::WIDTH;
use miette::{Report, Result, miette};
use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// An error in the call: what is wrong, and what to write instead.
pub fn wrong(what: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Report {
    let remedy = remedy.to_string();
    miette!(help = remedy, "{what}")
}

/// Writes to standard output. A reader that has seen enough, like `head`, is no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(wrong(format!("standard output cannot be written: {e}"), "write to a place with room"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; when nobody can read it, nobody is told.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", echo(line, SENTENCE));
}

/// Files and folders that a search for experiment files looks at.
const MOST_ENTRIES: usize = 10_000;

/// The TOML files below `folder`, in order of name; folders are descended into. `None` when there are more than
/// [`MOST_ENTRIES`] files and folders: then `folder` is not one of experiments.
pub fn files_below(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    let mut seen = 0;
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let path = entry.path();
            // A link to a folder may lead back up: only true folders are descended into.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    Some(files)
}

/// That a folder is too large to be searched for experiment files.
pub fn too_large(folder: &Path) -> String {
    format!("{} holds more than {MOST_ENTRIES} files and folders", folder.display())
}

/// The name of the results folder of the experiment file at `path`: the file's, without `.toml`.
///
/// # Errors
/// When that would not be a folder inside the one for results.
pub fn results_name(path: &Path) -> Result<&OsStr> {
    match path.file_stem() {
        Some(stem) if stem != "." && stem != ".." => Ok(stem),
        _ => Err(wrong(
            format!("{} cannot give its results folder a name", path.display()),
            "rename the file, to my-network.toml for example",
        )),
    }
}

/// Narrowest width that is respected: less does not hold a name beside a number or a verdict.
const NARROWEST: usize = 60;

/// Columns for what is printed: `COLUMNS` when it is set, else those of the terminal, else [`WIDTH`].
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}
