//! A results folder under construction: a private folder beside its target, until it is complete.
//!
//! `results/hotspot` is written as `results/hotspot.unfinished-1` (or the next free number) and renamed once at the
//! end. Two calls with the same `--out` therefore never see each other's files. The private folder holds the journal.
//! If a call is killed, `--resume` continues from this journal.

use super::head;
use crate::disk;
use crate::journal::{self, Header, Journal};
use crate::output::Error;
use contend_experiment::reading::file::Experiment;
use contend_experiment::size::CaptureWindow;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// A results folder under construction. If it is dropped before [`Draft::put_in_place`], the folder stays for
/// `--resume` when its journal holds a run, and is removed when its journal holds none.
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
    /// A file operation failed.
    #[error(transparent)]
    Output(#[from] Error),
    /// The folder is no shard, or a process writes to it.
    #[error("{} has no runs, or a call is still making them", folder.display())]
    #[diagnostic(help("name the folders that `contend run FILE --shard 1/4` and so on have made"))]
    NoRuns {
        /// The folder.
        folder: PathBuf,
    },
    /// The runs belong to another experiment, version or call.
    #[error("{} has {runs} finished runs, but {what} differs in this call", folder.display())]
    #[diagnostic(help(
        "repeat the earlier command line (the first line of its {} shows it), or omit --resume to make all runs again",
        journal::NAME
    ))]
    Differs {
        /// The folder with these runs.
        folder: PathBuf,
        /// The number of finished runs.
        runs: usize,
        /// The part that differs.
        what: &'static str,
    },
}

/// The journal's header for a call that runs `e` with the command line `command` and keeps `frames` of the first run.
pub fn header(e: &Experiment, command: String, frames: Option<CaptureWindow>) -> Header {
    Header {
        schema: journal::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        experiment: head::bare(&e.source.text).to_owned(),
        settings: e.source.sets.clone(),
        traces: e.traces.read().into_iter().map(|(path, text)| (path, journal::check(text.as_bytes()))).collect(),
        frames_ns: frames.map(|c| (c.from.as_nanos(), c.to.as_nanos())),
    }
}

impl Draft {
    /// Creates a private folder and a journal for the results folder `target`.
    ///
    /// # Errors
    /// When no folder can be written beside `target`, or when a trace has the name of one of the folder's files.
    pub fn begin(target: &Path, header: Header) -> Result<Draft, Error> {
        // A trace is copied to its path: `./summary.json` would be replaced, and `run.toml/a.tcl` needs a folder.
        let own = |path: &str| {
            let first = Path::new(path).components().find(|c| matches!(c, Component::Normal(_)));
            first.is_some_and(|c| super::files().iter().any(|name| c.as_os_str() == OsStr::new(name)))
        };
        if let Some((path, _)) = header.traces.iter().find(|(path, _)| own(path)) {
            let both =
                "the results have a file of this name, and so has a trace, which is copied there; rename the trace";
            return Err(Error::of(&target.join(path))(io::Error::other(both)));
        }
        let (path, journal) = free(target, |path| Journal::create(path, &header))?;
        Ok(Draft { target: target.to_path_buf(), path, header, journal, keep_journal: false, in_place: false })
    }

    /// Continues an earlier call for `target`. If several unfinished folders fit, the one with the most runs is taken.
    /// `None` if no earlier call left a run.
    ///
    /// # Errors
    /// When the earlier runs belong to another experiment or call, or cannot be read or written.
    pub fn resume(target: &Path, header: &Header) -> Result<Option<Draft>, ResumeError> {
        let found = earlier(target);
        let Some((folder, header, _)) = best(&found, header) else {
            let unfit = found.into_iter().filter(|f| f.2 > 0).find_map(|(folder, theirs, runs)| {
                Some(ResumeError::Differs { folder, runs, what: header.differs(&theirs)? })
            });
            return unfit.map_or(Ok(None), Err);
        };
        let path = if folder == target {
            // An interrupted call left a complete folder in place. Copy its journal and leave the folder unchanged.
            free(target, |path| Journal::copy(folder, path))?.0
        } else {
            folder.clone()
        };
        let Some(journal) = Journal::resume(&path).map_err(Error::of(&path))? else { return Ok(None) };
        // Other files of the earlier call may be incomplete. Remove them; all of them are written again.
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                // Copies of traces.
                std::fs::remove_dir_all(entry.path()).map_err(Error::of(&path))?;
            } else if entry.file_name() != journal::NAME {
                disk::remove_file(&entry.path()).map_err(Error::of(&path))?;
            }
        }
        let (target, header) = (target.to_path_buf(), header.clone());
        Ok(Some(Draft { target, path, header, journal, keep_journal: false, in_place: false }))
    }

    /// Begins the results folder `target` with the runs of the journals in `folders`, whose headers fit `header`.
    ///
    /// # Errors
    /// As [`Draft::resume`], and when a folder has no journal or another process writes to it.
    pub fn merged(target: &Path, header: Header, folders: &[PathBuf]) -> Result<Draft, ResumeError> {
        for folder in folders {
            let Some((theirs, runs)) = Journal::look(folder) else {
                return Err(ResumeError::NoRuns { folder: folder.clone() });
            };
            if let Some(what) = header.differs(&theirs) {
                return Err(ResumeError::Differs { folder: folder.clone(), runs, what });
            }
        }
        let draft = Draft::begin(target, header)?;
        for folder in folders {
            draft.journal.take_in(folder).map_err(Error::of(&draft.path))?;
        }
        Ok(draft)
    }

    /// Path of the private folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command line of the call that began the journal.
    pub fn command(&self) -> &str {
        &self.header.command
    }

    /// The journal of the finished runs.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Keeps the journal in the complete folder, until [`remove_journal`]. By default the journal is deleted: the other
    /// files hold the same results.
    pub fn keep_journal(&mut self) {
        self.keep_journal = true;
    }

    /// Removes the folder with all runs in it.
    pub fn discard(mut self) {
        remove(&self.path);
        self.in_place = true;
    }

    /// Renames the complete folder to its target. Earlier results there are moved aside; returns their new path.
    ///
    /// # Errors
    /// When a file operation fails. Earlier results are then not moved.
    pub fn put_in_place(mut self) -> Result<Option<PathBuf>, Error> {
        if !self.keep_journal {
            // Remove the journal before the rename: afterwards the target may belong to another process.
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
            remove(&self.path);
        }
    }
}

/// Removes the private folder at `path`. Its journal is the last file that goes: as soon as the folder is empty,
/// another call may take it, and a file of that call must stay.
fn remove(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            let _ = std::fs::remove_dir_all(entry.path());
        } else if entry.file_name() != journal::NAME {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_file(path.join(journal::NAME));
    let _ = std::fs::remove_dir(path);
}

/// Removes the journal that [`Draft::keep_journal`] left in the complete folder `target`, if there is one.
///
/// # Errors
/// When the file cannot be removed.
pub fn remove_journal(target: &Path) -> Result<(), Error> {
    match disk::remove_file(&target.join(journal::NAME)) {
        Err(err) if err.kind() != ErrorKind::NotFound => Err(Error::of(target)(err)),
        _ => Ok(()),
    }
}

/// The folder that an interrupted call with this header left for `target`, and the number of its finished runs.
pub fn unfinished(target: &Path, header: &Header) -> Option<(PathBuf, usize)> {
    let found: Vec<_> = earlier(target).into_iter().filter(|f| f.0 != target && f.2 > 0).collect();
    best(&found, header).map(|(folder, _, runs)| (folder.clone(), *runs))
}

/// A folder with a journal, the journal's header, and the number of its runs.
type Earlier = (PathBuf, Header, usize);

/// The unfinished folders of earlier calls for `target`, sorted by name. Folders that a running process uses are left
/// out.
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

/// The first folder with the most runs, among those with an equal header.
fn best<'a>(all: &'a [Earlier], header: &Header) -> Option<&'a Earlier> {
    all.iter().filter(|f| header.differs(&f.1).is_none()).rev().max_by_key(|f| f.2)
}

/// Suffix of an unfinished folder's name; a number follows.
const UNFINISHED: &str = ".unfinished-";

/// Creates a new folder beside `target`, with the file that `make` creates in it. The folder of a call that was killed
/// before its first run was finished is taken again.
fn free<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> Result<(PathBuf, T), Error> {
    if let Some(folder) = target.parent() {
        disk::create_dir_all(folder).map_err(Error::of(target))?;
    }
    let mut at = target.to_path_buf();
    disk::numbered(|i| {
        at = target.to_path_buf();
        let path = disk::with_suffix(target, &format!("{UNFINISHED}{i}"));
        match disk::create_dir(&path) {
            Err(err) if err.kind() == ErrorKind::AlreadyExists && is_abandoned(&path) => {}
            done => done?,
        }
        at.clone_from(&path);
        match make(&path) {
            // Another call was faster: it has the folder, or has already given it its final name.
            Err(err) if matches!(err.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                Err(ErrorKind::AlreadyExists.into())
            }
            Err(err) => {
                remove(&path);
                Err(err)
            }
            Ok(made) => Ok((path, made)),
        }
    })
    .map_err(|err| Error::of(&at)(err))
}

/// True if the folder at `path` is empty: its call was killed before its journal began. A journal without runs is
/// removed if its call has ended.
fn is_abandoned(path: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) else { return false };
    match files.as_slice() {
        [] => true,
        [file] => file.file_name() == journal::NAME && Journal::remove_empty(path),
        _ => false,
    }
}
