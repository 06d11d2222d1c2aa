//! The subcommands, one in each file.

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
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

/// The error about a wrong call: what is wrong, and what to write instead.
pub fn wrong(what: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Report {
    let remedy = remedy.to_string();
    miette!(help = remedy, "{what}")
}

/// Writes to standard output. A reader that closes the pipe early, like `head`, is not an error.
pub fn print(text: &str) -> Result<()> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// Lets `write` write to standard output, as [`print`] does, without the whole text in memory.
pub fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(wrong(format!("standard output cannot be written: {e}"), "write to a place with room"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. An error of this write is ignored.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", echo(line, SENTENCE));
}

/// The name of the results folder of the experiment file at `path`: the file's, without `.toml`.
///
/// # Errors
/// When the name would lead out of the folder for results.
pub fn results_name(path: &Path) -> Result<&OsStr> {
    match path.file_stem() {
        Some(stem) if stem != "." && stem != ".." => Ok(stem),
        _ => Err(wrong(
            format!("{} cannot give its results folder a name", path.display()),
            "rename the file, to my-network.toml for example",
        )),
    }
}

/// The smallest width used: a narrower line has no room for a name beside a number or a verdict.
const NARROWEST: usize = 60;

/// The width of what is printed, in columns: `COLUMNS` if it is set, else that of the terminal, else [`WIDTH`].
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}
