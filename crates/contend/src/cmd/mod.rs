//! The subcommands, one in each file.

pub mod analyse;
pub mod catalogue;
pub mod common;
pub mod compare;
pub mod complete;
pub mod deploy;
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod evaluate;
pub mod job;
pub mod live;
pub mod merge;
pub mod model;
pub mod new;
pub mod notices;
pub mod page;
pub mod plot;
#[cfg(target_os = "linux")]
pub mod proxy;
#[cfg(target_os = "linux")]
pub mod real;
pub mod report;
pub mod reproduce;
pub mod run;
mod summary;
#[cfg(target_os = "linux")]
pub mod tool;
pub mod watch;

use contend_core::Refusal;
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

/// A refusal as an error of the command.
pub fn refused(why: Refusal) -> Report {
    let Refusal { what, remedy } = why;
    if remedy.is_empty() { miette!("{what}") } else { wrong(what, remedy) }
}

/// Writes to standard output. A reader that closes the pipe early, like `head`, is not an error.
pub fn print(text: &str) -> Result<()> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// Lets `write` write to standard output. Unlike [`print()`], this needs no memory for the whole text.
pub fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(wrong(format!("contend cannot write to standard output: {e}"), "write to a place with free space"))
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
/// When a folder of that name would lie outside the folder for results.
pub fn results_name(path: &Path) -> Result<&OsStr> {
    match path.file_stem() {
        Some(stem) if stem != "." && stem != ".." => Ok(stem),
        _ => Err(wrong(
            format!("{}: no results folder can have the name of this file", path.display()),
            "rename the file, for example to my-network.toml",
        )),
    }
}

/// The smallest width used. A narrower line cannot hold a name and a number or a verdict.
const NARROWEST: usize = 60;

/// The width of printed text, in columns: `COLUMNS` if it is set, else the width of the terminal, else [`WIDTH`].
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}
