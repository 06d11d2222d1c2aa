//! Experiment files, and the files that they name, from the disk.

pub use contend_experiment::reading::file::*;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads the file at `path` and applies the `--set` settings of the command line.
///
/// # Errors
/// When the file cannot be read or is invalid.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&name, &text, overrides),
        Err(e) => {
            let source = Source { path: name, text: String::new(), sets: vec![] };
            Err(FileError::new(
                &source,
                &Site::None,
                format!("the file cannot be read: {e}"),
                "give the path of an experiment file; `contend list experiments` shows those that come with contend",
            ))
        }
    }
}

/// Like [`load`], for a text in memory; `name` is its name in errors.
///
/// # Errors
/// When the text is invalid, or a file that it names cannot be read.
pub fn parse(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Experiment, FileError> {
    parse_with(name, text, overrides, from_disk)
}

/// The text of the file at `path`, as [`Files`] says.
fn from_disk(path: &str, longest: u64) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!("it is longer than {} MB", longest >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not a text"))
}
