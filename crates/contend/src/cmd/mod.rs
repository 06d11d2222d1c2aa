//! One subcommand a file.

pub mod catalogue;
pub mod doctor;
pub mod folder;
pub mod model;
pub mod report;
pub mod reproduce;
pub mod run;

use miette::{Report, Result, miette};
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
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(wrong(format!("standard output cannot be written: {e}"), "write to a place with room")),
        _ => Ok(()),
    }
}

/// Writes a line to standard error; when nobody can read it, nobody is told.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The TOML files below `folder`, in order of name; folders are descended into.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
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
    files
}

/// `text` in lines of at most `width` columns, each after the first indented by `indent`.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let (mut out, mut column) = (String::new(), indent);
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if column > indent && column + 1 + long > width {
            out += &format!("\n{}", " ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += long;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_only() {
        assert_eq!(wrapped("one two three", 9, 2), "one two\n  three");
        assert_eq!(wrapped("incomprehensibilities a", 9, 2), "incomprehensibilities\n  a");
        assert_eq!(wrapped("", 9, 2), "");
    }
}
