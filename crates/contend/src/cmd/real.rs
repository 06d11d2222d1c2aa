//! What the commands on real networks share: how they read their options, how Ctrl-C stops them, what they print.

use super::{print, refused, say, wrong};
use contend_core::Refusal;
use contend_lab::reading::expression::quantity;
use contend_tools::Stop;
use miette::{Report, Result};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

/// What a command prints at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table
    Table,
    /// One JSON object
    Json,
}

impl Format {
    /// Prints a result: `table`, or the object.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print(self, table: impl FnOnce() -> String, object: impl FnOnce() -> Value) -> Result<()> {
        match self {
            Format::Table => print(&table()),
            Format::Json => print(&format!("{}\n", object())),
        }
    }
}

/// The version that results carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Reads the duration of an option.
pub fn duration(text: &str) -> Result<Duration, Refusal> {
    quantity::span(text).map(|s| Duration::from_nanos(s.as_nanos()))
}

/// Reads a duration above 0.
pub fn some_time(text: &str) -> Result<Duration, Refusal> {
    let read = duration(text)?;
    if read.is_zero() { Err(Refusal::new("the duration is 0", "write one above it")) } else { Ok(read) }
}

/// Reads a rate above 0, in bits per second.
pub fn rate(text: &str) -> Result<u64, Refusal> {
    let read = quantity::rate(text)?;
    if read == 0 { Err(Refusal::new("the rate is 0", "write one above it")) } else { Ok(read) }
}

/// Reads a number of bytes from 1 B to 1 GB.
pub fn bytes(text: &str) -> Result<usize, Refusal> {
    let read = quantity::bytes(text, 1_000_000_000)?;
    if read == 0 { Err(Refusal::new("0 B is not enough", "write 1 B or more")) } else { Ok(read as usize) }
}

/// A request to stop that Ctrl-C makes. The second Ctrl-C asks to end at once; a third one ends the program.
///
/// # Errors
/// When the process has no file descriptor left.
pub fn stop_on_ctrl_c() -> Result<Stop> {
    let stop = Stop::new().map_err(refused)?;
    let asked = stop.clone();
    // Without a handler, Ctrl-C ends the program at once, as it ends any other program.
    let _ = ctrlc::set_handler(move || {
        if asked.at_once() {
            std::process::exit(130);
        }
        // Ctrl-C leaves the terminal in the middle of a line.
        say("");
        asked.stop();
    });
    Ok(stop)
}

/// Creates the file at `path`, which is then written line by line.
///
/// # Errors
/// When it cannot be created.
pub fn trace_file(path: Option<&Path>) -> Result<Option<BufWriter<File>>> {
    let made = path.map(|p| File::create(p).map(BufWriter::new).map_err(|e| unwritable(p, &e)));
    made.transpose()
}

/// Flushes and closes such a file; `unwritten` is the error of an earlier line.
///
/// # Errors
/// When a line could not be written.
pub fn close(file: Option<BufWriter<File>>, unwritten: Option<io::Error>, path: Option<&Path>) -> Result<()> {
    let (Some(mut file), Some(path)) = (file, path) else { return Ok(()) };
    match unwritten.map_or_else(|| file.flush(), Err) {
        Ok(()) => Ok(()),
        Err(e) => Err(unwritable(path, &e)),
    }
}

fn unwritable(path: &Path, e: &io::Error) -> Report {
    wrong(format!("{} cannot be written: {e}", path.display()), "name a file in a folder with free space")
}
