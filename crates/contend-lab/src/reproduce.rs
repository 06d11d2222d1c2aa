//! The experiments of the papers, their short form, and the report on all of them.

use crate::folder::{TooLarge, files_below};
use crate::nearest;
use crate::reading::file::Experiment;
use contend_core::Refusal;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An experiment of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperExperiment {
    /// `keceli-2008/m1-downloads`: the paper is the folder.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
}

/// Why no experiment was found.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum NothingFound {
    /// The folder has too many files to be the papers' folder.
    #[error(transparent)]
    #[diagnostic(help("name the folder of the papers with --papers"))]
    TooLarge(#[from] TooLarge),
    /// The folder has no experiment.
    #[error("there is no experiment in {}", .0.display())]
    #[diagnostic(help("call contend in its own folder, or name the folder with --papers"))]
    NoPapers(PathBuf),
    /// No paper or experiment has this name.
    #[error("{}", .0.what)]
    #[diagnostic(help("{}", .0.remedy))]
    Unknown(Refusal),
}

/// The folder in a paper's folder with the experiments that run with the TCP of a kernel.
pub const EMULATED: &str = "emulated";

/// The experiments below the folder `papers`, sorted by name: those that are simulated, or those in [`EMULATED`].
/// `None` selects all; otherwise `what` is a paper (`keceli-2008`) or an experiment (`keceli-2008/m1-downloads`).
///
/// # Errors
/// When no experiment matches.
pub fn experiments(papers: &Path, what: Option<&str>, emulated: bool) -> Result<Vec<PaperExperiment>, NothingFound> {
    let name = |path: &Path| path.strip_prefix(papers).unwrap_or(path).with_extension("").display().to_string();
    let files = files_below(papers)?.into_iter().map(|path| PaperExperiment { name: name(&path), path });
    let is_emulated = |e: &PaperExperiment| e.name.split('/').any(|part| part == EMULATED);
    let (all, others): (Vec<_>, Vec<_>) = files.partition(|e| is_emulated(e) == emulated);
    if all.is_empty() {
        return Err(NothingFound::NoPapers(papers.to_path_buf()));
    }
    let Some(what) = what else { return Ok(all) };
    let asked_for = |e: &&PaperExperiment| e.name == what || e.name.starts_with(&format!("{what}/"));
    let chosen: Vec<_> = all.iter().filter(asked_for).cloned().collect();
    if chosen.is_empty() && others.iter().any(|e| asked_for(&e)) {
        let with: BTreeSet<&str> = all.iter().filter_map(|e| e.name.split('/').next()).collect();
        let with = with.into_iter().collect::<Vec<_>>().join(", ");
        return Err(NothingFound::Unknown(if emulated {
            Refusal::new(
                format!("`{what}` has no experiment in a folder `{EMULATED}`"),
                format!("omit --emulated to simulate it; {with} can be emulated"),
            )
        } else {
            Refusal::new(format!("`{what}` runs in real time only"), "add --emulated")
        }));
    }
    if chosen.is_empty() {
        let folders = all.iter().filter_map(|e| e.name.split_once('/').map(|(folder, _)| folder));
        let remedy = nearest(what, all.iter().map(|e| e.name.as_str()).chain(folders))
            .map_or("`contend list experiments` shows what there is".to_owned(), |n| format!("did you mean `{n}`?"));
        let what = format!("no paper or experiment is called `{what}`");
        return Err(NothingFound::Unknown(Refusal::new(what, remedy)));
    }
    Ok(chosen)
}

/// The seeds of the short form; used if the file has more.
pub const SHORT_SEEDS: &str = "1..3";

/// True if the short form of `e` has fewer seeds than its file.
pub fn is_shortened(e: &Experiment) -> bool {
    e.seeds.len() > 3
}
