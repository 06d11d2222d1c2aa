//! Exports: files of the results folder in the formats of other tools, written on request (`--export`).
//!
//! docs/interchange.md says which number of contend each of their names holds.

mod flent;
mod iperf3;
mod perfetto;

use super::shape::value_text;
use super::{Error, atomically};
use contend_experiment::reading::file::Experiment;
use contend_experiment::results::{Outcome, Run};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// A format of another tool: a word of `--export`, and a folder in the results folder.
#[derive(Debug)]
pub struct Export {
    /// The word that `--export` takes; also the name of the folder.
    pub name: &'static str,
    /// The content, in a phrase.
    pub summary: &'static str,
    /// True if the runs must be sampled: `sample` of the file.
    pub sampled: bool,
    /// Hands each file to the [`Sink`]: its path in the folder, and its content.
    write: fn(&Experiment, &Outcome, Sink) -> Result<(), Error>,
}

/// Takes the path of a file, relative to the folder of the export, and its content.
type Sink<'a> = &'a mut dyn FnMut(&str, &[u8]) -> Result<(), Error>;

/// All exports.
pub const EXPORTS: &[Export] = &[flent::EXPORT, iperf3::EXPORT, perfetto::EXPORT];

/// Writes the files of `export` below the results folder `folder`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_export(export: &Export, e: &Experiment, o: &Outcome, folder: &Path) -> Result<(), Error> {
    let folder = folder.join(export.name);
    (export.write)(e, o, &mut |path, content| atomically(&folder.join(path), |w| w.write_all(content)))
}

/// Every run with a name for its files: swept values and seed, `flow.1.count=2,seed=1`.
fn named(o: &Outcome) -> Vec<(String, &Run)> {
    let mut taken = BTreeSet::new();
    let unique = |run| (file_name(&run_text(run), &mut taken), run);
    o.runs.iter().map(unique).collect()
}

/// Swept values and seed of a run.
fn run_text(run: &Run) -> String {
    let point = run.point.iter().map(|(key, value)| format!("{key}={},", value_text(value)));
    point.chain([format!("seed={}", run.seed)]).collect()
}

/// Longest name of a file, without a number and an ending, in bytes.
const LONGEST: usize = 150;

/// `text` as the name of a file: only letters, digits and `.,=_-`, and none of the names that are `taken`.
fn file_name(text: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".,=_-".contains(c) { c } else { '_' };
    let name: String = text.chars().map(plain).take(LONGEST).collect();
    let numbered = (2..).map(|i| format!("{name}_{i}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken.contains(n)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// One sampling step of a run: the numbers of two successive samples, and their times in seconds.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Number of the sample at the end; the one at the beginning is before it, or the start of the run.
    end: usize,
    /// Time of the beginning and of the end, from the start of the run.
    time: (f64, f64),
}

impl Step {
    /// All steps of `run`.
    fn all(run: &Run) -> Vec<Step> {
        let times = &run.detail.series.time_s;
        let begins = std::iter::once(0.0).chain(times.iter().copied());
        // A sample at the start of the run ends no step.
        let steps = times.iter().zip(begins).enumerate().map(|(end, (&to, from))| Step { end, time: (from, to) });
        steps.filter(|s| s.time.1 > s.time.0).collect()
    }

    /// Length in seconds.
    fn seconds(self) -> f64 {
        self.time.1 - self.time.0
    }

    /// The increase of a counter in this step.
    fn increase(self, samples: &[u64]) -> u64 {
        let at = |k: Option<usize>| k.and_then(|k| samples.get(k)).copied().unwrap_or(0);
        at(Some(self.end)).saturating_sub(at(self.end.checked_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_differ() {
        let mut taken = BTreeSet::new();
        let mut name = |text: &str| file_name(text, &mut taken);
        assert_eq!(name("ap.queue=fifo 1000p,seed=1"), "ap.queue=fifo_1000p,seed=1");
        assert_eq!(name("ap.queue=fifo/1000p,seed=1"), "ap.queue=fifo_1000p,seed=1_2");
        assert_eq!(name(&"é".repeat(400)).len(), LONGEST);
    }
}
