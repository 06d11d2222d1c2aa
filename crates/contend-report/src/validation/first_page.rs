//! The first pages of docs/validation.md: verdicts counted for each paper, then a page for each paper.

use crate::output::Tally;
use contend_experiment::reading::file::{Origin, Verdict};
use contend_experiment::results::Outcome;
use std::path::Path;

/// The file in a paper's folder that says what the verdicts mean for the paper.
const VERDICT: &str = "verdict.md";

/// The page as Markdown, without a title. The files in one folder belong to one paper.
pub(super) fn first_page(outcomes: &[Outcome]) -> String {
    let mut papers: Vec<&Path> = Vec::new();
    for o in outcomes {
        let folder = folder(o);
        if !papers.contains(&folder) {
            papers.push(folder);
        }
    }
    let columns = Verdict::ALL.map(Verdict::name);
    let mut text = format!(
        "\n## In one table\n\n| paper | experiments | statements of the paper | {} | counted apart |\n{}\n",
        columns.join(" | "),
        "| --- ".repeat(4 + columns.len()) + "|"
    );
    for paper in &papers {
        text += &row(&name(paper), outcomes.iter().filter(|o| folder(o) == *paper));
    }
    if papers.len() > 1 {
        text += &row("all", outcomes.iter());
    }
    text += "\nA claim is *reproduced* if the 95 % interval of the measured value lies in a range that was chosen from \
        the text of\nthe paper. It is a *contradiction* if the paper's own statements disagree, a *tie* if the value \
        is on a bound of\nthe range within 2 %, as where neither side of a comparison is ahead, and *undecided* if the \
        interval includes\na bound and is wider. A statement is one sentence of the paper. It counts once, and is \
        reproduced if all claims\nthat judge a part of it are. Where a sentence can be read in several ways, the first \
        reading counts, which was\nchosen by the text; the others stand beside it. Counted apart are claims with \
        *specification*, which follow from\nhow contend reads the paper, and with *beyond*, which go beyond the paper: \
        an ablation, another network, a\nhypothesis.\n";
    for paper in papers {
        // A paper without this file adds nothing.
        let verdict = std::fs::read_to_string(paper.join(VERDICT)).unwrap_or_default();
        if let Some((_, page)) = verdict.split_once('\n') {
            let page = page.trim().replace("\n## ", "\n### ");
            let page = page.strip_prefix("## ").map_or(page.clone(), |page| format!("### {page}"));
            text += &format!("\n## The verdict on {}\n\n{}\n", name(paper), unlinked(&page, paper));
        }
    }
    text
}

/// A page of `folder` as text for another folder: a link to a file becomes the path of the file.
fn unlinked(page: &str, folder: &Path) -> String {
    let (mut out, mut rest) = (String::new(), page);
    while let Some((before, link)) = rest.split_once('[') {
        out += before;
        match link.split_once("](").and_then(|(text, after)| Some((text, after.split_once(')')?))) {
            Some((text, (target, after))) if !text.contains('[') && !target.contains("://") => {
                out += &format!("`{}`", folder.join(target).display());
                rest = after;
            }
            _ => {
                out.push('[');
                rest = link;
            }
        }
    }
    out + rest
}

/// Folder of the file that was run.
fn folder(o: &Outcome) -> &Path {
    Path::new(&o.file).parent().unwrap_or(Path::new(""))
}

/// Last part of the folder's path: `keceli-2008`.
fn name(folder: &Path) -> String {
    folder.file_name().map_or_else(|| ".".into(), |n| n.to_string_lossy().into_owned())
}

/// A row of the table: number of experiments, number of the paper's statements, their number with each verdict,
/// and the statements of other sources.
fn row<'a>(name: &str, outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> String {
    let all = Tally::of(outcomes.clone());
    let verdicts = all.verdicts(Origin::Paper).map(|n| n.to_string()).join(" | ");
    format!("| {name} | {} | {} | {verdicts} | {} |\n", outcomes.count(), all.statements(Origin::Paper), all.beside())
}
