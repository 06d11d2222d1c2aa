//! Completion in a shell: names of algorithms, keys with their values, metrics, examples and experiment files.
//!
//! The shell calls the program for each completion, so names are never older than the program.

use clap::builder::PossibleValuesParser;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{EnvCompleter, Shells};
use contend_lab::built;
use contend_lab::measuring::metric::metrics;
use contend_lab::reading::examples::{self, Example};
use contend_lab::reading::file::keys::{Algorithm, Family, Key, keys, settable, variants};
use std::ffi::{OsStr, OsString};

/// The variable with which a shell asks for completions.
const VARIABLE: &str = "CONTEND_COMPLETE";

/// Answers a shell that asks for completions, and returns the exit status; `None` if no shell asks.
pub fn answer(contend: fn() -> clap::Command, call: &[OsString]) -> Option<u8> {
    let here = std::env::current_dir().ok();
    match clap_complete::CompleteEnv::with_factory(contend).var(VARIABLE).try_complete(call, here.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(0),
        Err(e) => {
            let _ = e.print();
            Some(2)
        }
    }
}

/// The shells for which there is a script.
pub fn shells() -> PossibleValuesParser {
    PossibleValuesParser::new(Shells::builtins().names())
}

/// The script of a shell, which calls the program `contend`; empty for an unknown shell.
pub fn script(shell: &str) -> Vec<u8> {
    let mut script = Vec::new();
    let known = Shells::builtins();
    if let Some(shell) = known.completer(shell) {
        // Writing to memory does not fail.
        let _ = EnvCompleter::write_registration(shell, VARIABLE, "contend", "contend", "contend", &mut script);
    }
    script
}

/// The examples, the papers' experiments and the tests of suites inside the program.
pub fn inside() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let example = |s: &Example| CompletionCandidate::new(s.name).help(Some(s.title().into()));
        let papers = built::experiments().chain(built::tests()).map(|f| CompletionCandidate::new(f.name));
        examples::ALL.iter().map(example).chain(papers).collect()
    })
}

/// Experiment files, folders, and the examples.
pub fn files() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut all = PathCompleter::any()
            .filter(|path| path.extension().is_some_and(|e| e == "toml") || path.is_dir())
            .complete(current);
        let begins = |name: &str| current.to_str().is_some_and(|text| name.starts_with(text));
        let examples = examples::ALL.iter().filter(|s| begins(s.name));
        all.extend(examples.map(|s| CompletionCandidate::new(s.name).help(Some(s.title().into()))));
        all
    })
}

/// The names of an algorithm family.
pub fn family(family: Family) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let one = |a: Algorithm| CompletionCandidate::new(a.name).help(Some(a.summary.into()));
        family.algorithms().into_iter().map(one).collect()
    })
}

/// The TCP variants, which are named after controllers and recoveries.
pub fn named_variants() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        variants().into_iter().map(|v| CompletionCandidate::new(v.name).help(Some(v.doc.into()))).collect()
    })
}

/// The tests of the suites inside the program.
pub fn tests() -> ArgValueCandidates {
    ArgValueCandidates::new(|| built::tests().map(|f| CompletionCandidate::new(f.name)).collect())
}

/// `KEY=VALUE`: key paths, and the names that are values of the key.
pub fn settings() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(text) = current.to_str() else { return vec![] };
        let all = keys();
        let Some((path, value)) = text.split_once('=') else {
            let begins = all.iter().map(|k| (settable(&k.0), k.2)).filter(|(path, _)| path.starts_with(text));
            let candidate =
                |(path, key): (String, &Key)| CompletionCandidate::new(format!("{path}=")).help(Some(key.doc.into()));
            return begins.map(candidate).collect();
        };
        // In a sweep, the last of several values.
        let (before, last) = value.rsplit_once(',').map_or((String::new(), value), |(b, last)| (format!("{b},"), last));
        let plain: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
        let found = all.iter().find(|k| k.0 == plain.join(".")).map(|k| k.2.names()).unwrap_or_default();
        let fitting = found.into_iter().filter(|v| v.starts_with(last));
        fitting.map(|v| CompletionCandidate::new(format!("{path}={before}{v}"))).collect()
    })
}

/// Metrics with commas between them.
pub fn metric_names() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(text) = current.to_str() else { return vec![] };
        let (before, last) = text.rsplit_once(',').map_or((String::new(), text), |(b, last)| (format!("{b},"), last));
        let begins = metrics().filter(|m| m.name.starts_with(last.trim_start()));
        begins.map(|m| CompletionCandidate::new(format!("{before}{}", m.name)).help(Some(m.doc.into()))).collect()
    })
}
