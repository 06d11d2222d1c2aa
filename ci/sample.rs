//! Of long tests `./ci.sh quick` runs a sample. The tests of several crates take in this file by `#[path]`.
#![allow(dead_code, reason = "each program of tests uses a part")]

/// Of how many cases one is tried: `CONTEND_SAMPLE` in the environment, otherwise 1.
pub fn step() -> usize {
    std::env::var("CONTEND_SAMPLE").map_or(1, |n| n.parse().unwrap_or_else(|e| panic!("CONTEND_SAMPLE={n}: {e}")))
}

/// True if `file`, by its path from the root of the repository, was changed: then it is part of each sample.
pub fn is_changed(file: &str) -> bool {
    std::env::var("CONTEND_CHANGED").is_ok_and(|all| all.split_whitespace().any(|changed| changed == file))
}
