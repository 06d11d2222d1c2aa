//! The experiments of the papers, their short form, and the report on all of them.

use crate::built;
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
    /// Its file, or its name if it is inside the program.
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
    #[diagnostic(help("name the folder of the papers with --papers; without it, those inside contend run"))]
    NoPapers(PathBuf),
    /// No paper or experiment has this name.
    #[error("{}", .0.what)]
    #[diagnostic(help("{}", .0.remedy))]
    Unknown(Refusal),
}

/// The folder in a paper's folder with the experiments that run with the TCP of a kernel.
pub const EMULATED: &str = "emulated";

/// The usual folder of the papers.
const HERE: &str = "papers";

/// The folder of the papers: `given`, or `papers` if it is here; `None`: the papers inside the program.
pub fn folder(given: Option<&Path>) -> Option<PathBuf> {
    given.map(Path::to_path_buf).or_else(|| Some(PathBuf::from(HERE)).filter(|here| here.is_dir()))
}

/// The experiments of the papers in this [`folder()`], sorted by name: those that are simulated, or those in
/// [`EMULATED`]. `what` is a paper (`keceli-2008`) or an experiment (`keceli-2008/m1-downloads`); `None` selects all.
///
/// # Errors
/// When no experiment matches.
pub fn experiments(
    papers: Option<&Path>,
    what: Option<&str>,
    emulated: bool,
) -> Result<Vec<PaperExperiment>, NothingFound> {
    let files: Vec<PaperExperiment> = match papers {
        Some(papers) => {
            let name = |path: &Path| path.strip_prefix(papers).unwrap_or(path).with_extension("").display().to_string();
            files_below(papers)?.into_iter().map(|path| PaperExperiment { name: name(&path), path }).collect()
        }
        None => built::experiments().map(|f| PaperExperiment { name: f.name.into(), path: f.name.into() }).collect(),
    };
    let is_emulated = |e: &PaperExperiment| e.name.split('/').any(|part| part == EMULATED);
    let (all, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|e| is_emulated(e) == emulated);
    if all.is_empty() {
        return Err(NothingFound::NoPapers(papers.unwrap_or(Path::new(HERE)).to_path_buf()));
    }
    let Some(what) = what else { return Ok(all) };
    // With `emulated`, an experiment may be named without the folder.
    let short = |name: &str| name.replace(&format!("/{EMULATED}/"), "/");
    let asked_for = |e: &&PaperExperiment| {
        e.name == what || e.name.starts_with(&format!("{what}/")) || (emulated && short(&e.name) == what)
    };
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

/// What README.md of `paper` in this [`folder()`] says; nothing if it has none.
pub fn read_me(papers: Option<&Path>, paper: &str) -> String {
    match papers {
        Some(papers) => std::fs::read_to_string(papers.join(paper).join("README.md")).unwrap_or_default(),
        None => built::read_me(paper).to_owned(),
    }
}

/// The seeds of the short form; used if the file has more.
pub const SHORT_SEEDS: &str = "1..3";

/// True if the short form of `e` has fewer seeds than its file.
pub fn is_shortened(e: &Experiment) -> bool {
    e.seeds.len() > 3
}
