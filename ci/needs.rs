//! What a check needs of the machine beside Rust. A check that lacks it says that it is skipped, and adds a line to the
//! file that `CONTEND_SKIPPED` names: `./ci.sh` lists them at its end, since what a test prints is not shown.
//!
//! The tests of all crates take in this file by `#[path]`. `ci/needs.py` is the same for scripts.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::io::Write as _;

/// Records that `check` is skipped for lack of `need`. Use the words of the table in `ci.sh` if it has the need.
pub fn skip(need: &str, check: &str) {
    println!("SKIPPED: {check}: {need} is missing");
    let Some(path) = std::env::var_os("CONTEND_SKIPPED") else { return };
    // One write: tests of several programs append at the same time.
    let line = format!("{}\t{check}\n", need.replace(['\n', '\t'], " "));
    let added =
        std::fs::File::options().append(true).create(true).open(&path).map(|mut f| f.write_all(line.as_bytes()));
    assert!(matches!(added, Ok(Ok(()))), "{}: {added:?}", path.display());
}

/// True if this machine lacks one of these programs; then `check` is skipped.
pub fn without(programs: &[&str], check: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = |program: &&&str| !std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let missing: Vec<_> = programs.iter().filter(missing).collect();
    missing.iter().for_each(|program| skip(program, check));
    !missing.is_empty()
}
