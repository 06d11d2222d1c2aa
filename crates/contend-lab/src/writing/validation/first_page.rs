//! The first page of docs/validation.md: verdicts counted for each paper, then what is not reproduced and why.

use crate::experiment::results::Outcome;
use std::path::Path;

/// Every verdict, in the order of the columns.
const VERDICTS: [&str; 4] = ["reproduced", "not reproduced", "contradiction", "undecided"];

/// Section of a paper's README.md that the page repeats.
const NOT_REPRODUCED: &str = "## What is not reproduced, and why\n";

/// The page as Markdown, without a title. The files in one folder belong to one paper.
pub(super) fn first_page(outcomes: &[Outcome]) -> String {
    let mut papers: Vec<&Path> = Vec::new();
    for o in outcomes {
        let folder = folder(o);
        if !papers.contains(&folder) {
            papers.push(folder);
        }
    }
    let mut text = format!(
        "\n## In one page\n\n| paper | experiments | claims | {} |\n{}\n",
        VERDICTS.join(" | "),
        "| --- ".repeat(3 + VERDICTS.len()) + "|"
    );
    for paper in &papers {
        text += &row(&name(paper), outcomes.iter().filter(|o| folder(o) == *paper));
    }
    if papers.len() > 1 {
        text += &row("all", outcomes.iter());
    }
    text += "\nA claim is *reproduced* if the measured value lies in a range that was chosen from the paper before the \
        run. It is a\n*contradiction* if the paper's own statements disagree, and *undecided* if the 95 % interval \
        includes a bound of the range.\n";
    for paper in papers {
        // A paper without README.md, or without this section, adds nothing.
        let about = std::fs::read_to_string(paper.join("README.md")).unwrap_or_default();
        if let Some((_, section)) = about.split_once(NOT_REPRODUCED) {
            let section = section.split("\n## ").next().unwrap_or_default();
            text += &format!("\n### What is not reproduced of {}, and why\n\n{}\n", name(paper), section.trim());
        }
    }
    text
}

/// Folder of the file that was run.
fn folder(o: &Outcome) -> &Path {
    Path::new(&o.file).parent().unwrap_or(Path::new(""))
}

/// Last part of the folder's path: `keceli-2008`.
fn name(folder: &Path) -> String {
    folder.file_name().map_or_else(|| ".".into(), |n| n.to_string_lossy().into_owned())
}

/// A row of the table: number of experiments, number of claims, and number of claims with each verdict.
fn row<'a>(name: &str, outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> String {
    let claims = || outcomes.clone().flat_map(|o| &o.claims);
    let verdicts = VERDICTS.map(|v| claims().filter(|c| c.verdict == v).count().to_string());
    format!("| {name} | {} | {} | {} |\n", outcomes.clone().count(), claims().count(), verdicts.join(" | "))
}
