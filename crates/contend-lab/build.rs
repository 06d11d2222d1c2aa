//! Puts the papers' experiments and the suites into the program, so that it runs them outside the repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    ["papers", "suites"].into_iter().try_for_each(put)
}

/// Writes the table of the files below the folder `name`.
fn put(name: &str) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name).canonicalize()?;
    let mut files = Vec::new();
    find(&folder, &mut files)?;
    files.sort_by_key(|file| file.with_extension(""));
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap_or(file).with_extension("");
        let is_read_me = file.ends_with("README.md");
        let _ =
            writeln!(table, "Built {{ name: {:?}, is_read_me: {is_read_me}, text: include_str!({file:?}) }},", name);
    }
    table += "]\n";
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}.rs")), table)
}

/// Experiment files and READMEs below `folder`. Cargo builds anew when one is added or changed.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "toml") || path.ends_with("README.md") {
            files.push(path);
        }
    }
    Ok(())
}
