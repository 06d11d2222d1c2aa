//! A results folder that is being written: private, beside the place where it will be, until it is complete.
//!
//! `results/hotspot` is written as `results/hotspot.unfinished-1` (or the next free number) and takes its name by one
//! rename, so two calls with the same `--out` never see each other's files. The private folder has the journal: what a
//! call that was killed leaves there, `--resume` goes on with.

use super::head;
use crate::experiment::size::CaptureWindow;
use crate::reading::file::Experiment;
use crate::writing::disk;
use crate::writing::journal::{self, Header, Journal};
use crate::writing::output::Error;
use std::path::{Path, PathBuf};

/// A results folder that is being written. Dropped before [`Draft::put_in_place`], it stays for `--resume` if a run is
/// in its journal, and disappears if none is.
#[derive(Debug)]
pub struct Draft {
    target: PathBuf,
    path: PathBuf,
    header: Header,
    journal: Journal,
    keep_journal: bool,
    in_place: bool,
}

/// Why the runs of an earlier call cannot be continued.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ResumeError {
    /// The file system refused.
    #[error(transparent)]
    Output(#[from] Error),
    /// They belong to something else.
    #[error("{} has {runs} finished runs, but {what} is not the same as in this call", folder.display())]
    #[diagnostic(help(
        "call as it was called before (the first line of its {} tells), or without --resume to make all runs",
        journal::NAME
    ))]
    Differs {
        /// Where they are.
        folder: PathBuf,
        /// How many there are.
        runs: usize,
        /// What differs.
        what: &'static str,
    },
}

/// What the journal of `e` begins with, when `command` runs it and the first run keeps these frames.
pub fn header(e: &Experiment, command: String, frames: Option<CaptureWindow>) -> Header {
    Header {
        schema: journal::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        experiment: head::bare(&e.source.text).to_owned(),
        settings: e.source.sets.clone(),
        frames_ns: frames.map(|c| (c.from.as_nanos(), c.to.as_nanos())),
    }
}

impl Draft {
    /// Begins a new one for the results folder `target`.
    ///
    /// # Errors
    /// When no folder can be written beside `target`.
    pub fn begin(target: &Path, header: Header) -> Result<Draft, Error> {
        let path = free(target)?;
        let journal = Journal::create(&path, &header).map_err(|err| {
            let _ = std::fs::remove_dir_all(&path);
            Error::of(&path)(err)
        })?;
        Ok(Draft { target: target.to_path_buf(), path, header, journal, keep_journal: false, in_place: false })
    }

    /// Goes on with what an earlier call left for `target`: of all that fit, the one with the most runs. `None` if
    /// there is nothing to go on with.
    ///
    /// # Errors
    /// When what was left does not fit, or cannot be read and written.
    pub fn resume(target: &Path, header: &Header) -> Result<Option<Draft>, ResumeError> {
        let found = earlier(target);
        let Some((folder, header, _)) = best(&found, header) else {
            let unfit = found.into_iter().filter(|f| f.2 > 0).find_map(|(folder, theirs, runs)| {
                Some(ResumeError::Differs { folder, runs, what: header.differs(&theirs)? })
            });
            return unfit.map_or(Ok(None), Err);
        };
        let path = if folder == target {
            // The folder of a call that was stopped is complete and stays as it is.
            let path = free(target)?;
            std::fs::copy(folder.join(journal::NAME), path.join(journal::NAME)).map_err(Error::of(&path))?;
            path
        } else {
            folder.clone()
        };
        let Some(journal) = Journal::resume(&path).map_err(Error::of(&path))? else { return Ok(None) };
        // What else the earlier call had written may be torn, and all of it is written again.
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            if entry.file_name() != journal::NAME {
                disk::remove_file(&entry.path()).map_err(Error::of(&path))?;
            }
        }
        let (target, header) = (target.to_path_buf(), header.clone());
        Ok(Some(Draft { target, path, header, journal, keep_journal: false, in_place: false }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command line of the call that began it.
    pub fn command(&self) -> &str {
        &self.header.command
    }

    /// Its journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Keeps the journal in the complete folder, until [`remove_journal`]: without it the folder loses its journal,
    /// because the other files have all that it tells.
    pub fn keep_journal(&mut self) {
        self.keep_journal = true;
    }

    /// Gives the folder its place, complete: earlier results are moved aside; returns where they went.
    ///
    /// # Errors
    /// When the file system refuses; nothing is moved aside then.
    pub fn put_in_place(mut self) -> Result<Option<PathBuf>, Error> {
        if !self.keep_journal {
            // Before the folder is public: after that it may be another's that has the name.
            disk::remove_file(&self.path.join(journal::NAME)).map_err(Error::of(&self.path))?;
        }
        let aside = disk::put_in_place(&self.path, &self.target).map_err(Error::of(&self.target))?;
        self.in_place = true;
        Ok(aside)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.in_place && self.journal.runs() == 0 {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the journal that [`Draft::keep_journal`] has kept in the complete folder `target`, if there is one.
///
/// # Errors
/// When the file system refuses.
pub fn remove_journal(target: &Path) -> Result<(), Error> {
    match disk::remove_file(&target.join(journal::NAME)) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(Error::of(target)(err)),
        _ => Ok(()),
    }
}

/// What an earlier call with this header left for `target`: the folder and the number of its finished runs.
pub fn unfinished(target: &Path, header: &Header) -> Option<(PathBuf, usize)> {
    let found: Vec<_> = earlier(target).into_iter().filter(|f| f.0 != target && f.2 > 0).collect();
    best(&found, header).map(|(folder, _, runs)| (folder.clone(), *runs))
}

/// A folder with a journal, what the journal begins with, and the number of its runs.
type Earlier = (PathBuf, Header, usize);

/// What earlier calls left for `target` and no process is at work on, by name.
fn earlier(target: &Path) -> Vec<Earlier> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = disk::with_suffix(target, UNFINISHED);
    let prefix = prefix.file_name().unwrap_or_default().as_encoded_bytes();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = entries.filter(|name| name.as_encoded_bytes().starts_with(prefix)).collect();
    names.sort();
    std::iter::once(target.to_path_buf())
        .chain(names.into_iter().map(|name| target.with_file_name(name)))
        .filter_map(|folder| Journal::look(&folder).map(|(header, runs)| (folder, header, runs)))
        .collect()
}

/// Of those that fit, the first with the most runs.
fn best<'a>(all: &'a [Earlier], header: &Header) -> Option<&'a Earlier> {
    all.iter().filter(|f| header.differs(&f.1).is_none()).rev().max_by_key(|f| f.2)
}

/// What stands behind the name of a folder that is not complete, before its number.
const UNFINISHED: &str = ".unfinished-";

/// A new folder beside `target`.
fn free(target: &Path) -> Result<PathBuf, Error> {
    let failed = Error::of(target);
    if let Some(folder) = target.parent() {
        disk::create_dir_all(folder).map_err(&failed)?;
    }
    disk::numbered(|i| {
        let path = disk::with_suffix(target, &format!("{UNFINISHED}{i}"));
        disk::create_dir(&path).map(|()| path)
    })
    .map_err(failed)
}
