//! One subcommand a file.

pub mod catalogue;
pub mod doctor;
pub mod model;
pub mod report;
pub mod reproduce;
pub mod run;

use miette::{Report, miette};
use std::path::{Path, PathBuf};

/// An error in the call: what is wrong, and what to write instead.
pub fn wrong(what: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Report {
    let remedy = remedy.to_string();
    miette!(help = remedy, "{what}")
}

/// The TOML files below `folder`, in order of name; folders are descended into.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
