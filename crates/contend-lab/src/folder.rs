//! Folders of experiment files.

use std::path::{Path, PathBuf};

/// Maximum number of files and folders that a search for experiment files visits.
const MOST_ENTRIES: usize = 10_000;

/// A folder with too many files and folders to be a folder of experiments.
#[derive(Debug, thiserror::Error)]
#[error("{} holds more than {MOST_ENTRIES} files and folders", .0.display())]
pub struct TooLarge(pub PathBuf);

/// The TOML files in `folder` and all folders below it, sorted by name.
///
/// # Errors
/// When there are more than 10,000 files and folders.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>, TooLarge> {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    let mut seen = 0;
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return Err(TooLarge(folder.to_path_buf()));
            }
            let path = entry.path();
            // Follow real folders only: a link may lead back to a parent folder.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
