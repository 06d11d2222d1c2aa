//! Tests of the command: its output, its files and its exit status.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod analyse;
mod catalogue;
mod compare;
mod documents;
#[cfg(target_os = "linux")]
mod emulate;
mod evaluate;
mod examples;
mod folder;
#[cfg(unix)]
mod interrupt;
mod labels;
mod model;
#[path = "../../../../ci/needs.rs"]
mod needs;
mod page;
mod plot;
#[cfg(target_os = "linux")]
mod proxy;
mod resume;
mod run;
#[path = "../../../../ci/sample.rs"]
mod sample;
mod sender;
#[cfg(target_os = "linux")]
mod tools;
#[cfg(unix)]
mod tutorial;
mod wrong;

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Two downloads and an upload in a cell, for three seconds; the lab's tests run the same.
pub(crate) const SMALL: &str = include_str!("../../../contend-lab/tests/small.toml");

/// A claim whose bound is far below what a cell carries.
pub(crate) const HOLDS: &str = "\n[[claim]]\nid = \"C1\"\npaper = \"more than nothing\"\nmetric = \"goodput.total\"\n\
    expect = { at_least = \"1Mbps\" }\n";
/// A claim whose bound is far above it.
pub(crate) const FAILS: &str = "\n[[claim]]\nid = \"C2\"\npaper = \"a gigabit\"\nmetric = \"goodput.total\"\nexpect = \
    { at_least = \"1000Mbps\" }\n";

/// The files of a complete results folder.
pub(crate) fn results_files() -> BTreeSet<String> {
    let formats = contend_lab::writing::output::FORMATS.iter().map(|f| f.file);
    ["flows.parquet", "report.html", "run.toml", "series.parquet"]
        .into_iter()
        .chain(formats)
        .map(String::from)
        .collect()
}

/// A folder of its own for one test, with files in it.
pub(crate) struct Bench(TempDir);

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }
    pub(crate) fn with(name: &str, text: &str) -> Bench {
        let bench = Bench::new();
        bench.file(name, text);
        bench
    }
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
    /// Calls contend in this folder.
    pub(crate) fn contend(&self, args: &[&str]) -> Ended {
        call(self.0.path(), args)
    }
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Ended {
        assert_eq!(self.status, Some(status), "{}\n{}", self.out, self.err);
        self
    }
    /// Asserts that standard error has all of these.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Ended {
        texts.iter().for_each(|t| assert!(self.err.contains(t), "no `{t}` in: {}", self.err));
        self
    }
    /// Standard output, which must be one JSON object.
    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}

pub(crate) fn call(folder: &Path, args: &[&str]) -> Ended {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(args)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Sends a signal, like `-INT`, to a process that a test started. By the shell's own `kill`: no package is needed.
#[cfg(unix)]
pub(crate) fn signal(signal: &str, process: u32) {
    let sent = std::process::Command::new("sh").args(["-c", &format!("kill {signal} {process}")]).status();
    assert!(sent.unwrap().success());
}

/// The folder of the workspace, where `experiments` and `papers` are.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
