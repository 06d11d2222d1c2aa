//! The files that an experiment names: rates of wires, movements of stations, and tables of losses.

use super::error::FileError;
use super::reader::Val;
use contend_core::Refusal;
use contend_sim::mobility::Movement;
use contend_sim::scenario::WireRate;
use contend_sim::wifi::error_model::PerTable;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};

/// Longest trace, in bytes.
const LONGEST_TRACE: u64 = 16 << 20;

/// Reads the text of a file that an experiment names. The arguments are its path, which begins with the folder of the
/// experiment file, and the largest size in bytes. A longer file and a file that is not text are errors.
pub type Files = fn(path: &str, longest: u64) -> io::Result<String>;

/// The traces of an experiment by their paths as written in the file. Each is read once, so that all runs have the
/// same.
#[derive(Debug)]
pub struct Traces {
    files: Files,
    read: Mutex<BTreeMap<String, Trace>>,
}

/// A trace that was read.
#[derive(Clone, Debug)]
struct Trace {
    /// Its path, from the folder of the program.
    file: String,
    text: Arc<str>,
    /// Its parsed content, after the first use.
    rate: Option<WireRate>,
    movement: Option<Arc<Movement>>,
    losses: Option<Arc<PerTable>>,
}

impl Traces {
    /// No trace has been read yet; `files` reads them.
    pub(super) fn of(files: Files) -> Traces {
        Traces { files, read: Mutex::default() }
    }

    /// The path, relative to the experiment file, and the text of each trace that the experiment needed so far.
    pub fn read(&self) -> Vec<(String, Arc<str>)> {
        let all = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(path, trace)| (path.clone(), Arc::clone(&trace.text))).collect()
    }

    /// The rate of the trace whose path is the value `v`. `parse` makes it from the path and the text of the trace.
    pub(super) fn rate(
        &self,
        v: &Val,
        parse: impl FnOnce(&str, &str) -> Result<WireRate, FileError>,
    ) -> Result<WireRate, FileError> {
        self.with(v, |trace| match &trace.rate {
            Some(rate) => Ok(rate.clone()),
            None => Ok(trace.rate.insert(parse(&trace.file, &trace.text)?).clone()),
        })
    }

    /// The movement file whose path is the value `v`.
    pub(super) fn movement(&self, v: &Val) -> Result<Arc<Movement>, FileError> {
        let parse = |trace: &Trace| {
            Movement::parse(&trace.text).map(Arc::new).map_err(|Refusal { what, remedy }| {
                v.error(format!("names {}, which is wrong: {what}", trace.file), remedy)
            })
        };
        self.with(v, |trace| match &trace.movement {
            Some(movement) => Ok(Arc::clone(movement)),
            None => Ok(Arc::clone(trace.movement.insert(parse(trace)?))),
        })
    }

    /// The table of losses whose path is the value `v`.
    pub(super) fn losses(&self, v: &Val) -> Result<Arc<PerTable>, FileError> {
        let parse = |trace: &Trace| {
            PerTable::parse(&trace.text).map(Arc::new).map_err(|Refusal { what, remedy }| {
                v.error(format!("names {}, which is wrong: {what}", trace.file), remedy)
            })
        };
        self.with(v, |trace| match &trace.losses {
            Some(losses) => Ok(Arc::clone(losses)),
            None => Ok(Arc::clone(trace.losses.insert(parse(trace)?))),
        })
    }

    /// Reads the trace whose path is the value `v`, if that has not been done, and calls `f` with it.
    fn with<T>(&self, v: &Val, f: impl FnOnce(&mut Trace) -> Result<T, FileError>) -> Result<T, FileError> {
        let path = v.text()?;
        let mut all = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = all.get_mut(path) {
            return f(trace);
        }
        let file = within(v, path)?;
        let text = (self.files)(&file, LONGEST_TRACE).map_err(|e| unread(v, &file, &e))?.into();
        let mut trace = Trace { file, text, rate: None, movement: None, losses: None };
        let result = f(&mut trace)?;
        all.insert(path.to_owned(), trace);
        Ok(result)
    }
}

/// The path of a trace. It lies in the folder of the experiment file or below, so that the results folder can hold it
/// at the same place.
fn within(v: &Val, path: &str) -> Result<String, FileError> {
    let inside = |c: Component| matches!(c, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(inside) {
        return Err(v.error(
            format!("must be a path in the folder of the experiment file, not \"{path}\""),
            "put the trace, or a link to it, into that folder and write its name",
        ));
    }
    let folder = Path::new(&v.cx.source.path).parent().unwrap_or(Path::new(""));
    Ok(folder.join(path).display().to_string())
}

/// The error about the trace `file`, which cannot be read.
fn unread(v: &Val, file: &str, e: &io::Error) -> FileError {
    v.error(
        format!("names a trace that cannot be read: {file}: {e}"),
        "write the path of a trace, relative to the experiment file",
    )
}
