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
use std::path::Path;

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
