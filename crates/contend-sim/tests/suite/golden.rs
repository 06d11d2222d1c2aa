//! Golden values: the results of a run when `vectors/golden/` was written, compared with the results of today.
//!
//! Every golden file is text with one value per line, so a change is a diff that a person can read. A test makes the
//! same text and calls [`compare`]. With `CONTEND_BLESS=1` in the environment the file is written instead.

#[path = "../../../../ci/sample.rs"]
pub mod sample;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// FNV-1a with 64 bits: a hash whose definition is fixed (offset basis 0xcbf29ce484222325, prime 0x100000001b3).
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// True if golden files are written anew.
pub fn blessed() -> bool {
    std::env::var_os("CONTEND_BLESS").is_some()
}

/// The text of `vectors/golden/<file>`; empty if it is to be written.
///
/// # Panics
/// When it cannot be read.
pub fn read(file: &str) -> String {
    let path = root().join("vectors/golden").join(file);
    match std::fs::read_to_string(&path) {
        Err(_) if blessed() => String::new(),
        text => text.unwrap_or_else(|e| panic!("{}: {e}", path.display())),
    }
}

/// Adds a line to `vectors/golden/<file>`.
///
/// # Panics
/// When it cannot be written.
#[allow(dead_code, reason = "only the lab uses it")]
pub fn append(file: &str, line: &str) {
    use std::io::Write as _;
    let mut open = std::fs::OpenOptions::new();
    let mut file = open.create(true).append(true).open(root().join("vectors/golden").join(file)).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Compares `lines` with `vectors/golden/<file>`: both must have the same lines. Of a sample each line must be in it.
///
/// # Panics
/// When a line differs, or the file cannot be read.
pub fn compare(file: &str, lines: &[String]) {
    if blessed() {
        assert_eq!(sample::step(), 1, "a sample does not make all lines of {file}: bless without CONTEND_SAMPLE");
        std::fs::write(root().join("vectors/golden").join(file), lines.join("\n") + "\n").unwrap();
        return;
    }
    let text = read(file);
    let golden: BTreeSet<&str> = text.lines().collect();
    let now: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    let changed: Vec<&&str> = now.difference(&golden).collect();
    let missing: Vec<&&str> = golden.difference(&now).filter(|_| sample::step() == 1).collect();
    if changed.is_empty() && missing.is_empty() {
        return;
    }
    let show = |lines: &[&&str], sign: &str| {
        lines.iter().take(20).map(|line| format!("  {sign} {line}\n")).collect::<String>()
    };
    panic!(
        "{} lines differ from vectors/golden/{file} (at most 20 are shown):\n{}{}A change that is meant: write the \
         file anew as vectors/golden/README.md says, and give the reason in the commit.",
        changed.len().max(missing.len()),
        show(&missing, "-"),
        show(&changed, "+"),
    );
}
