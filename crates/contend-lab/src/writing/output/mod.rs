//! What a user gets to see of an [outcome](crate::experiment::results::Outcome): the table on the terminal, the
//! [formats](FORMATS), Parquet, captures and the report page.
//!
//! Every writer takes the outcome and, where the outcome alone does not say how it came about, a [`ReportContext`].
//! Files appear whole or not at all: see [`atomically`].

pub mod csv;
pub mod format;
pub mod html;
pub mod json;
pub mod parquet;
pub mod pcapng;
pub mod table;

mod flow_bytes;
mod shape;
#[cfg(test)]
mod toy;

pub use csv::write_csv;
pub use format::{FORMATS, Format};
pub use html::{Chapter, write_paper, write_report};
pub use json::write_json;
pub use parquet::{write_flows, write_series};
pub use pcapng::{Band, CaptureFormat, write_pcapng};
pub use table::{WIDTH, claim_text, measured_text, summary_table, wrapped};

use crate::experiment::results::PointKey;
use crate::reading::file::{self, Along, Experiment};
use crate::writing::disk;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// How an outcome came about: what the file and the call said that the outcome does not repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportContext {
    /// The command line, as typed: `contend run experiments/hotspot.toml --seeds 1..5`.
    pub command: String,
    /// Where the experiment comes from; may be empty.
    pub cite: String,
    /// Notes of the file; may be empty.
    pub notes: String,
    /// The seeds, as the file or the call writes them: `1..5`.
    pub seeds: String,
    /// Seconds at the start of each run that are not measured.
    pub warmup_s: f64,
    /// Simulated seconds of each run, warm-up included.
    pub duration_s: f64,
    /// What the file's `[[figure]]` tables ask for, besides the figures that are always drawn.
    pub figures: Vec<FigureSpec>,
    /// Digest of the resolved experiment, for joining files; may be empty.
    pub experiment_hash: String,
}

impl ReportContext {
    /// Of the experiment `e`, run by `command`.
    pub fn of(e: &Experiment, command: String) -> ReportContext {
        let seeds = match (e.seeds.first(), e.seeds.last()) {
            (Some(a), Some(b)) if a < b && b - a + 1 == e.seeds.len() as u64 => format!("{a}..{b}"),
            _ => e.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
        };
        ReportContext {
            command,
            cite: e.cite.clone(),
            notes: e.notes.clone(),
            seeds,
            warmup_s: e.warmup.as_secs_f64(),
            duration_s: e.duration.as_secs_f64(),
            figures: e.figures.iter().map(|f| figure(e, f)).collect(),
            experiment_hash: String::new(),
        }
    }
}

fn figure(e: &Experiment, f: &file::Figure) -> FigureSpec {
    let shown = |p: &&PointKey| f.when.iter().all(|(key, values)| p.get(key).is_none_or(|v| values.contains(v)));
    let points = e.points.iter().filter(shown).cloned().collect();
    FigureSpec { title: f.title.clone(), along: f.x.clone(), by: f.by.clone(), metrics: f.y.clone(), points }
}

/// One `[[figure]]` at the points it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// What stands above it; may be empty.
    pub title: String,
    /// What is on its horizontal axis.
    pub along: Along,
    /// The swept key with a curve for each value; every combination of the other keys then has a figure of its own.
    pub by: Option<String>,
    /// The expressions it shows; those of another unit have a figure of their own.
    pub metrics: Vec<String>,
    /// The points it shows.
    pub points: Vec<PointKey>,
}

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file that was to appear.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The Parquet library refused.
    #[error("cannot write {}: {source}", path.display())]
    Parquet {
        /// The file that was to appear.
        path: PathBuf,
        /// What the library said.
        source: ::parquet::errors::ParquetError,
    },
}

impl Error {
    /// What the file system said about `path`.
    pub(crate) fn of(path: &Path) -> impl Fn(io::Error) -> Error {
        move |source| Error::Io { path: path.to_path_buf(), source }
    }
}

/// Writes the file at `path` whole or not at all: into a temporary file beside it, which takes the name when all is
/// written. An existing file is replaced; missing folders are made.
pub fn atomically(path: &Path, write: impl FnOnce(&mut BufWriter<disk::File>) -> io::Result<()>) -> Result<(), Error> {
    whole(path, |w| write(w).map_err(Error::of(path)))
}

/// [`atomically`], but an existing file is moved aside, `report.html` to `report.1.html`; returns where it went.
fn beside_earlier(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<disk::File>) -> io::Result<()>,
) -> Result<Option<PathBuf>, Error> {
    disk::whole_beside_earlier(path, Error::of(path), |w| write(w).map_err(Error::of(path)))
}

/// [`atomically`] for writers with errors of their own.
fn whole(path: &Path, write: impl FnOnce(&mut BufWriter<disk::File>) -> Result<(), Error>) -> Result<(), Error> {
    disk::whole(path, Error::of(path), write)
}
