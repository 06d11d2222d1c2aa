//! Golden values: the results of a run when `vectors/golden/` was written, compared with the results of today.
//!
//! Every golden file is text with one value per line, so a change is a diff that a person can read. A test makes the
//! same text and calls [`compare`]. With `CONTEND_BLESS=1` in the environment the file is written instead.

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

/// Compares `lines` with `vectors/golden/<file>`: both must have the same lines. If `whole` is false, `lines` are a
/// part of the golden file, and each must be in it.
///
/// # Panics
/// When a line differs, or the file cannot be read.
pub fn compare(file: &str, lines: &[String], whole: bool) {
    let path = root().join("vectors/golden").join(file);
    if std::env::var_os("CONTEND_BLESS").is_some() {
        assert!(whole, "only a build with optimisation makes all lines of {file}: bless with --profile ci");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let golden: BTreeSet<&str> = text.lines().collect();
    let now: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    let changed: Vec<&&str> = now.difference(&golden).collect();
    let missing: Vec<&&str> = if whole { golden.difference(&now).collect() } else { vec![] };
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
