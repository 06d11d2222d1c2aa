//! The results folder holds the results of one call, and everything needed to repeat the call.
//!
//! `run.toml` is the text of the experiment after a head of comments: version, command line, seeds and settings of the
//! call. contend applies the settings in the head when it reads such a file. So `contend run results/hotspot/run.toml`
//! repeats the runs bit by bit. Traces that rates of wires follow are copied; their paths are relative to the
//! experiment file, and the copies have the same paths relative to `run.toml`.

mod draft;
mod head;

pub use draft::{Draft, ResumeError, header, remove_journal, unfinished};
pub use head::{repeatable, settings};

use crate::journal;
use crate::output::{self, CaptureFormat, Error, Export, ReportContext, atomically};
use contend_core::Refusal;
use contend_experiment::reading::file::{Experiment, Overlay};
use contend_experiment::results::{Executed, Labels, Run};
use serde::Deserialize;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What a results folder holds only on request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// True for `air.pcapng`.
    pub capture: bool,
    /// Files in the formats of other tools.
    pub exports: &'a [&'static Export],
}

/// Writes all results of `executed` into `draft`, then renames `draft` to its target. Returns the path to which earlier
/// results were moved.
///
/// # Errors
/// When the folder cannot be written. Earlier results are then not moved, and the journal keeps its runs.
pub fn write(
    e: &Experiment,
    executed: &Executed,
    context: &ReportContext,
    mut draft: Draft,
    extra: Extra,
) -> Result<Option<PathBuf>, Error> {
    let folder = draft.path();
    let o = &executed.outcome;
    let text = |name: &str, text: &str| atomically(&folder.join(name), |w| w.write_all(text.as_bytes()));
    text("run.toml", &repeatable(e, context, &output::seeds_text(o), o.interrupted.map_or(0, |i| i.missing)))?;
    for (path, trace) in e.traces.read() {
        text(&path, &trace)?;
    }
    for format in output::FORMATS {
        atomically(&folder.join(format.file), |w| (format.write)(o, w))?;
    }
    output::write_flows(o, context, &folder.join("flows.parquet"))?;
    output::write_series(o, context, &folder.join("series.parquet"))?;
    if extra.capture
        && let Some(run) = o.runs.first()
    {
        atomically(&folder.join("air.pcapng"), |w| output::write_pcapng(run, capture(e), w))?;
    }
    for export in extra.exports {
        output::export::write_export(export, e, o, folder)?;
    }
    output::write_report(o, context, &folder.join("report.html"))?;
    if o.interrupted.is_some() {
        draft.keep_journal();
    }
    draft.put_in_place()
}

/// Writes what a shard's folder holds beside its journal, which stays: `run.toml` and traces. Then renames `draft` to
/// its target. Returns the path to which earlier results were moved.
///
/// # Errors
/// As [`write()`].
pub fn write_shard(e: &Experiment, context: &ReportContext, mut draft: Draft) -> Result<Option<PathBuf>, Error> {
    let text = |name: &str, text: &str| atomically(&draft.path().join(name), |w| w.write_all(text.as_bytes()));
    text("run.toml", &repeatable(e, context, "", 0))?;
    for (path, trace) in e.traces.read() {
        text(&path, &trace)?;
    }
    draft.keep_journal();
    draft.put_in_place()
}

/// The names of all files that a results folder may hold, besides traces.
fn files() -> Vec<&'static str> {
    let others = ["run.toml", "flows.parquet", "series.parquet", "air.pcapng", "report.html", journal::NAME];
    output::FORMATS.iter().map(|f| f.file).chain(others).collect()
}

/// The runs that a summary.json holds, without series and histograms.
#[derive(Debug, Deserialize)]
pub struct Kept {
    /// Every run.
    pub runs: Vec<Run>,
    /// The metrics that its tables show; empty for the usual ones.
    #[serde(default)]
    pub show: Vec<String>,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    labels: Labels,
}

/// Reads the summary.json at `path`.
///
/// # Errors
/// When it cannot be read, or when it has the form of another version of contend.
pub fn kept(path: &Path) -> io::Result<Kept> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let text = std::fs::read(path)?;
    let Head { schema } = serde_json::from_slice(&text)?;
    readable(&schema).map_err(|e| io::Error::other(e.what))?;
    let mut kept: Kept = serde_json::from_slice(&text)?;
    let Kept { runs, keys, labels, .. } = &mut kept;
    for run in runs {
        labels.give(&mut run.point);
        for (key, value) in &mut run.point {
            let place = keys.iter().position(|k| k == key).unwrap_or(keys.len());
            *value = std::mem::take(value).at(place);
        }
    }
    Ok(kept)
}

/// Refuses a summary.json of another form than this version of contend writes.
///
/// # Errors
/// When `schema` is another one; the text names both.
pub fn readable(schema: &str) -> Result<(), Refusal> {
    let ours = output::SCHEMA;
    if schema == ours {
        return Ok(());
    }
    Err(Refusal::new(
        format!("the results have the form {schema} of another version of contend; this version reads {ours}"),
        "make the results again",
    ))
}

/// A capture without payload, with the band and the headers of the experiment's cell.
fn capture(e: &Experiment) -> CaptureFormat {
    let cell = e.points.first().and_then(|p| e.scenario(p, &Overlay::default()).ok()).and_then(|r| r.scenario.cell);
    let default = CaptureFormat::default();
    cell.map_or(default, |c| CaptureFormat { band: c.phy.band, qos: c.phy.has_qos(), ..default })
}

#[cfg(test)]
mod tests;
