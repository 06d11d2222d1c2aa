//! The summary.json of a results folder: what an earlier call computed, beside what is computed now.

use super::{say, wrong};
use contend_lab::echo::{WORD, echo};
use contend_lab::experiment::results::Outcome;
use contend_lab::writing::folder::readable;
use miette::{IntoDiagnostic as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// True if the runs of `outcome` have the digests that the summary.json of `folder` has for them. Says so, and names
/// the first run that has another.
pub fn same_digests(folder: &Path, outcome: &Outcome, quiet: bool) -> Result<bool> {
    let before = Before::read(folder)?;
    for run in &outcome.runs {
        let point = serde_json::to_value(&run.point).into_diagnostic()?;
        let of_run = |r: &&Value| r["seed"] == run.seed && r["point"] == point;
        let then = before.0["runs"].as_array().and_then(|all| all.iter().find(of_run));
        let then = then.map_or("(none)", |r| r["digest"].as_str().unwrap_or("(none)"));
        if then != run.digest {
            say(&format!(
                "contend: the run with seed {} has the digest {}, and {then} in {}: not the same run",
                run.seed,
                run.digest,
                folder.join("summary.json").display()
            ));
            return Ok(false);
        }
    }
    if !quiet {
        say(&format!("contend: the same digests as in {}", folder.join("summary.json").display()));
    }
    Ok(true)
}

/// The summary.json of the folder: the results of the earlier call.
pub struct Before(Value);

/// Keys of a run in summary.json that are not results: its wall-clock time, and the number of frames left out of the
/// capture.
const NOT_RESULTS: [&str; 2] = ["wall", "frames_missed"];

impl Before {
    /// Reads the summary.json of `folder`.
    pub fn read(folder: &Path) -> Result<Before> {
        let path = folder.join("summary.json");
        let remedy = format!("make the results again: contend run {}", folder.join("run.toml").display());
        let remedy = remedy.as_str();
        let text = std::fs::read_to_string(&path)
            .map_err(|err| wrong(format!("{} cannot be read: {err}", path.display()), remedy))?;
        let summary: Value =
            serde_json::from_str(&text).map_err(|err| wrong(format!("{}: {err}", path.display()), remedy))?;
        readable(summary["schema"].as_str().unwrap_or("(none)"))
            .map_err(|why| wrong(format!("{}: {}", path.display(), why.what), remedy))?;
        match summary["runs"].as_array() {
            Some(runs) if runs.iter().all(|r| r["digest"].is_string() && r["seed"].is_u64()) => Ok(Before(summary)),
            _ => Err(wrong(format!("{}: a run has no seed or no digest", path.display()), remedy)),
        }
    }

    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or("(unknown)")
    }

    /// The numbers of finished and of missing runs; `None` if the call was not interrupted.
    pub fn interrupted(&self) -> Option<(u64, u64)> {
        let stopped = &self.0["interrupted"];
        stopped["finished"].as_u64().zip(stopped["missing"].as_u64())
    }

    /// The first difference between the recorded results and the repeated results `now`. After an interrupted call,
    /// only the finished runs are compared.
    pub fn differs(&self, now: &Value) -> Option<String> {
        let runs = |summary: &Value| summary["runs"].as_array().cloned().unwrap_or_default();
        let (then, now_runs) = (runs(&self.0), runs(now));
        for run in &then {
            let at = if run["point"] == json!({}) { String::new() } else { format!(" at {}", run["point"]) };
            let name = format!("the run with seed {}{at}", run["seed"]);
            let same = |r: &&Value| r["seed"] == run["seed"] && r["point"] == run["point"];
            let Some(repeated) = now_runs.iter().find(same) else {
                return Some(format!("{name} is in summary.json, but not in run.toml"));
            };
            if repeated["digest"] != run["digest"] {
                return Some(format!("{name} has another digest than in summary.json"));
            }
            if let Some(difference) = difference("", run, repeated) {
                return Some(format!("{name} has {difference}"));
            }
        }
        if self.interrupted().is_some() {
            return None;
        }
        if now_runs.len() != then.len() {
            return Some(format!("run.toml makes {} runs, but summary.json has {}", now_runs.len(), then.len()));
        }
        let whole = ["title", "summary", "claims", "checks", "search"].into_iter();
        whole
            .filter_map(|key| difference(key, &self.0[key], &now[key]))
            .map(|d| format!("the repeated call has {d}"))
            .next()
    }
}

/// The first place at or below `path` where the two differ, with both values.
fn difference(path: &str, then: &Value, now: &Value) -> Option<String> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (then, now) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().filter(|key| !NOT_RESULTS.contains(&key.as_str())).find_map(|key| {
                difference(&below(key), then.get(key).unwrap_or(&Value::Null), now.get(key).unwrap_or(&Value::Null))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(&below(&i.to_string()), a, b))
        }
        _ if then == now => None,
        _ => {
            let (then, now) = (echo(&then.to_string(), WORD), echo(&now.to_string(), WORD));
            Some(format!("{path} = {now}, but summary.json has {then}"))
        }
    }
}
