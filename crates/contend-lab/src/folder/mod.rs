//! The results folder: what a call found out, and enough to repeat it.
//!
//! `run.toml` is the experiment's text under a head of comments: version, command line, seeds, and the settings of the
//! call. A file with such a head is read with those settings, so `contend run results/hotspot/run.toml` makes the same
//! runs, bit by bit.

mod head;

pub use head::settings;

use crate::execute::Executed;
use crate::file::{Experiment, Overlay};
use crate::output::{self, Band, Error, ReportContext, atomically};
use contend_sim::wifi::phy::Standard;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes everything about `executed` into `folder`; what was there before is moved aside, to the path returned.
///
/// # Errors
/// When the folder cannot be written.
pub fn write(
    e: &Experiment,
    executed: &Executed,
    context: &ReportContext,
    folder: &Path,
    capture: bool,
) -> Result<Option<PathBuf>, Error> {
    let aside = move_aside(folder)?;
    let o = &executed.outcome;
    let text = |name: &str, text: &str| atomically(&folder.join(name), |w| w.write_all(text.as_bytes()));
    text("run.toml", &head::repeatable(e, context, o.interrupted.map_or(0, |i| i.missing)))?;
    text("summary.json", &(output::to_json(o) + "\n"))?;
    output::write_flows(o, context, &folder.join("flows.parquet"))?;
    output::write_series(o, context, &folder.join("series.parquet"))?;
    atomically(&folder.join("results.csv"), |w| output::write_csv(o, w))?;
    if capture && let Some(run) = o.runs.first() {
        atomically(&folder.join("air.pcapng"), |w| {
            output::write_pcapng(run, output::Capture { band: band(e), ..output::Capture::default() }, w)
        })?;
    }
    output::write_report(o, context, &folder.join("report.html"))?;
    Ok(aside)
}

/// The band of the experiment's cell, for the channel that a capture names.
fn band(e: &Experiment) -> Band {
    let cell = e.points.first().and_then(|p| e.scenario(p, &Overlay::default()).ok()).and_then(|r| r.scenario.cell);
    if cell.is_some_and(|c| c.phy.standard == Standard::A) { Band::Ghz5 } else { Band::Ghz2 }
}

/// Gives what is at `path` another name, when there is something; returns the name.
///
/// # Errors
/// When the system refuses.
pub fn move_aside(path: &Path) -> Result<Option<PathBuf>, Error> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let aside = aside(path);
    std::fs::rename(path, &aside).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    Ok(Some(aside))
}

/// The first of `folder.1`, `folder.2`, ... that is not there yet; of a page, `report.1.html`.
fn aside(path: &Path) -> PathBuf {
    let page = path.extension().is_some_and(|e| e == "html");
    let numbered = |i: u64| {
        if page {
            return path.with_extension(format!("{i}.html"));
        }
        let mut name = path.as_os_str().to_os_string();
        name.push(format!(".{i}"));
        PathBuf::from(name)
    };
    (1..).map(numbered).find(|p| p.symlink_metadata().is_err()).unwrap_or_else(|| numbered(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_aside_keeps_its_whole_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("v1.2");
        assert_eq!(aside(&folder), dir.path().join("v1.2.1"));
        std::fs::create_dir(dir.path().join("v1.2.1")).unwrap();
        assert_eq!(aside(&folder), dir.path().join("v1.2.2"));
    }
}
