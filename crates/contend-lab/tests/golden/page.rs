//! `docs/validation.md` says of each claim what its file says. A full run makes the page; a file that is changed by
//! hand later needs its section again.

use super::files::{all, path};
use super::golden;
use contend_experiment::reading::file::{self, Claim, Origin};

#[test]
fn the_page_of_verdicts_has_the_words_the_verdict_and_the_reason_of_every_claim() {
    let page = std::fs::read_to_string(golden::root().join("docs/validation.md")).unwrap();
    let sections: Vec<&str> = page.split("\n## ").collect();
    let (mut found, mut wrong) = (0, vec![]);
    for name in all().into_iter().filter(|name| name.starts_with("papers/")) {
        let text = std::fs::read_to_string(golden::root().join(&name)).unwrap();
        let claims = file::parse(&path(&name), &text, &[]).unwrap().claims;
        let here = |section: &&&str| section.lines().nth(2).is_some_and(|line| line.starts_with(&format!("`{name}`")));
        let Some(section) = sections.iter().find(here) else {
            wrong.push(format!("{name} has no section"));
            continue;
        };
        let paragraphs: Vec<String> = section.split("\n\n").map(words).collect();
        for claim in &claims {
            found += 1;
            let lacks = rows(claim).into_iter().find(|(begin, end)| {
                !section.lines().any(|line| line.starts_with(begin.as_str()) && line.ends_with(end.as_str()))
            });
            if let Some((begin, end)) = lacks {
                wrong.push(format!("{name}: no row `{begin} ...{end}`"));
            }
            let (start, reason) = (format!("{}: ", claim.id), words(&claim.reason));
            if !reason.is_empty() && !paragraphs.iter().any(|p| p.starts_with(&start) && p.ends_with(&reason)) {
                wrong.push(format!("{name}: {start}another reason"));
            }
        }
    }
    assert!(found > 700, "only {found} claims were found");
    let remedy = "`contend reproduce PAPER/EXPERIMENT --markdown FILE` makes a section";
    assert!(wrong.is_empty(), "docs/validation.md differs from the files; {remedy}:\n{}", wrong.join("\n"));
}

/// How the row of each reading of a claim begins and ends.
fn rows(claim: &Claim) -> Vec<(String, String)> {
    let source = match claim.source {
        Origin::Paper => String::new(),
        other => format!(" *{}*", other.name()),
    };
    let row = |(i, verdict): (usize, file::Verdict)| {
        let reading = claim.readings.get(i).map_or_else(String::new, |r| format!(" ({})", r.name));
        let says = if i > 0 { "as above" } else { &claim.paper };
        let escaped = |text: &str| text.replace('|', "\\|");
        let begin = format!("| {} | {} |", escaped(&format!("{}{reading}{source}", claim.id)), escaped(says));
        (begin, format!("| {} |", verdict.name()))
    };
    claim.verdicts().enumerate().map(row).collect()
}

/// A text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
