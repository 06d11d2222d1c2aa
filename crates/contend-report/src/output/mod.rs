//! Output formats of an [outcome](contend_experiment::results::Outcome): the table on the terminal, the
//! [formats](FORMATS), Parquet, captures, [exports](EXPORTS), and the report page.
//!
//! Every writer takes the outcome. A writer that also shows the command, the source or the seeds takes a
//! [`ReportContext`]. Files are written completely or not at all: see [`atomically`].

pub mod columns;
pub mod compare;
pub mod csv;
pub mod export;
pub mod format;
pub mod html;
#[cfg(feature = "images")]
pub mod image;
pub mod json;
pub mod parquet;
pub mod pcapng;
pub mod scorecard;
pub mod table;

mod field;
mod flow_bytes;
mod grid;
mod message_bytes;
mod shape;
mod tally;
#[cfg(test)]
mod toy;

pub use compare::{Compared, comparison_table, write_comparison};
pub use csv::write_csv;
pub use export::{EXPORTS, Export};
pub use field::{Names, Row, names};
pub use format::{FORMATS, Format};
pub use grid::{WIDTH, wrapped};
pub use html::{
    Chapter, Chart, LEAD, NoAir, Paper, Wish, air_chart, all_charts, by_unit, charts_of, map_csv, map_file, panels,
    report_page, report_sources, scorecard_page, source, test_figures, write_comparison_page, write_paper,
    write_report,
};
pub use json::{Document, SCHEMA, write_json};
pub use parquet::{write_flows, write_series, write_table};
pub use pcapng::{CaptureFormat, write_pcapng};
pub use shape::point_text;
pub(crate) use shape::seeds_text;
pub(crate) use table::not_the_papers;
pub use table::{advice, by_claim, checked_text, claim_text, look_text, measured_text, summary_table, under};
pub use tally::{Tally, tags, whose};

use crate::disk;
use contend_experiment::reading::file::{self, Along, Experiment, Log};
use contend_experiment::results::{Outcome, PointKey};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// The origin of an outcome: parts of the file and the call that the outcome itself does not hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportContext {
    /// The command line as typed: `contend run experiments/hotspot.toml --seeds 1..5`.
    pub command: String,
    /// Source of the experiment; may be empty.
    pub cite: String,
    /// Notes in the file; may be empty.
    pub notes: String,
    /// The seeds as written in the file or the call: `1..5`. Empty if the results decide how many there are.
    pub seeds: String,
    /// Length of the warm-up of each run in seconds.
    pub warmup_s: f64,
    /// Simulated seconds of each run, including the warm-up.
    pub duration_s: f64,
    /// The `[[figure]]` tables of the file; some figures are drawn without being asked for.
    pub figures: Vec<FigureSpec>,
}

/// The metrics that the table of `o` shows.
pub fn usual_metrics(o: &Outcome) -> Vec<String> {
    shape::main_metrics(o).into_iter().map(str::to_owned).collect()
}

impl ReportContext {
    /// The context of the experiment `e` when `command` runs it.
    pub fn of(e: &Experiment, command: String) -> ReportContext {
        let seeds = if e.until.is_some() || e.decide.is_some() { String::new() } else { e.seeds_text() };
        ReportContext {
            command,
            cite: e.cite.clone(),
            notes: e.notes.clone(),
            seeds,
            warmup_s: e.warmup.as_secs_f64(),
            duration_s: e.duration.as_secs_f64(),
            figures: e.figures.iter().map(|f| figure(e, f)).collect(),
        }
    }
}

fn figure(e: &Experiment, f: &file::Figure) -> FigureSpec {
    let points = e.points.iter().filter(|p| f.shows(p)).cloned().collect();
    FigureSpec {
        title: f.title.clone(),
        along: f.x.clone(),
        log: f.log,
        by: f.by.clone(),
        panels: f.panels.clone(),
        metrics: f.y.clone(),
        points,
    }
}

/// One `[[figure]]`, with the points it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// Title above the figure; may be empty.
    pub title: String,
    /// Quantity on the horizontal axis.
    pub along: Along,
    /// The logarithmic axes.
    pub log: Log,
    /// The swept key with one curve for each value. Each combination of the other keys then has its own figure.
    pub by: Option<String>,
    /// The swept key with one panel for each value; panels have equal axes.
    pub panels: Option<String>,
    /// The expressions to show. Expressions with different units get separate figures.
    pub metrics: Vec<String>,
    /// The points to show.
    pub points: Vec<PointKey>,
}

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file operation failed.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file to write.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The Parquet library failed.
    #[error("cannot write {}: {source}", path.display())]
    Parquet {
        /// The file to write.
        path: PathBuf,
        /// The error of the library.
        source: ::parquet::errors::ParquetError,
    },
}

impl Error {
    /// Adds `path` to an error of the file system.
    pub(crate) fn of(path: &Path) -> impl Fn(io::Error) -> Error {
        move |source| Error::Io { path: path.to_path_buf(), source }
    }
}

/// Writes the file at `path` completely or not at all: a temporary file beside it is renamed when everything is
/// written. An existing file is replaced. Missing folders are created.
pub fn atomically(path: &Path, write: impl FnOnce(&mut BufWriter<disk::File>) -> io::Result<()>) -> Result<(), Error> {
    whole(path, |w| write(w).map_err(Error::of(path)))
}

/// Checks that [`atomically`] can write the file at `path`, by creating a temporary file beside it. Missing folders are
/// created.
pub fn can_write(path: &Path) -> Result<(), Error> {
    disk::can_write(path).map_err(Error::of(path))
}

/// Like [`atomically`], but an existing `report.html` is moved aside to `report.1.html`. Returns the path to which it
/// was moved.
fn beside_earlier(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<disk::File>) -> io::Result<()>,
) -> Result<Option<PathBuf>, Error> {
    disk::whole_beside_earlier(path, Error::of(path), |w| write(w).map_err(Error::of(path)))
}

/// Like [`atomically`], for writers with their own errors.
fn whole(path: &Path, write: impl FnOnce(&mut BufWriter<disk::File>) -> Result<(), Error>) -> Result<(), Error> {
    disk::whole(path, Error::of(path), write)
}
