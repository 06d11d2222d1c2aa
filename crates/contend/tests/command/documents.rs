//! The documents: the page that `contend reproduce --markdown` writes, and the paths and names that documents have.

mod names;

use super::{Bench, FAILS, HOLDS, SMALL, needs, sample, workspace};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every Markdown file below these, without what is built.
fn documents() -> Vec<PathBuf> {
    let mut todo = vec![workspace()];
    let mut files = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if name != "target" && name != "results" && !name.starts_with('.') {
                    todo.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "md") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let mut wrong = Vec::new();
    for file in documents() {
        // A link may be broken over two lines.
        let text = std::fs::read_to_string(&file).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        for (_, rest) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
            let target = rest.split([')', '#', ' ']).next().unwrap();
            let elsewhere = target.is_empty() || target.starts_with("http");
            if !elsewhere && !file.parent().unwrap().join(target).exists() {
                wrong.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nothing:\n{}", wrong.join("\n"));
}

#[test]
fn explain_and_the_report_name_the_glossary_which_has_at_most_eighty_terms() {
    let glossary = std::fs::read_to_string(workspace().join("docs/glossary.md")).unwrap();
    let rows =
        glossary.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| term |") && !l.starts_with("| ---"));
    let terms: Vec<&str> = rows.map(|l| l.split('|').nth(1).unwrap().trim()).collect();
    assert!((20..=80).contains(&terms.len()), "{} terms", terms.len());
    assert_eq!(terms.iter().collect::<BTreeSet<_>>().len(), terms.len(), "a term twice: {terms:?}");
    let bench = Bench::with("f.toml", SMALL);
    assert!(bench.contend(&["explain", "--help"]).with(0).out.contains("docs/glossary.md"));
    bench.contend(&["run", "f.toml", "--quiet"]).with(0);
    assert!(bench.read("results/f/report.html").contains("docs/glossary.md"));
}

/// The file that a page means by a path with the short name of a crate, or from the root of the repository.
fn file_of(name: &str) -> PathBuf {
    let short = ["sim", "core", "theory", "experiment", "judge", "report", "lab", "tools", "emu"];
    match name.split_once('/') {
        Some((first, rest)) if short.contains(&first) => {
            workspace().join(format!("crates/contend-{first}/src")).join(rest)
        }
        _ => workspace().join(name),
    }
}

/// True if there is such a file; `*` in its name stands for anything.
fn is_there(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_str().unwrap();
    let Some((begin, end)) = name.split_once('*') else { return file.exists() };
    let Ok(mut beside) = std::fs::read_dir(file.parent().unwrap()) else { return false };
    beside.any(|entry| entry.unwrap().file_name().to_str().is_some_and(|n| n.starts_with(begin) && n.ends_with(end)))
}

/// The papers of the coverage: heading and folder.
const PAPERS: [(&str, &str); 5] = [
    ("## Keceli", "papers/keceli-2008"),
    ("## Starzetz", "papers/starzetz-2006"),
    ("## Xu", "papers/jersey-2005"),
    ("## Barreto", "papers/barreto-2012"),
    ("## Arai", "papers/arai-2009"),
];

/// A row of the coverage names a file by its path, or without a folder if it is beside an earlier one of the row or in
/// the folder of the row's paper.
#[test]
fn every_path_of_the_coverage_exists() {
    let text = std::fs::read_to_string(workspace().join("docs/coverage.md")).unwrap();
    let ends = [".rs", ".toml", ".md", ".py", ".txt", ".vec", "/"];
    let (mut found, mut paper, mut missing) = (0, "", Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("## ") {
            paper = PAPERS.iter().find(|(heading, _)| line.starts_with(heading)).map_or("", |(_, folder)| folder);
        }
        let mut folders = vec![workspace().join(paper)];
        let names = line.split('`').skip(1).step_by(2);
        for name in names.filter(|n| ends.iter().any(|e| n.ends_with(e)) && !n.contains([' ', '<'])) {
            found += 1;
            let whole = file_of(name);
            match is_there(&whole) && name.contains('/') {
                true => folders.extend(whole.ancestors().take(2).map(Path::to_path_buf)),
                false if folders.iter().any(|folder| folder.join(name).exists()) => {}
                false => missing.push(format!("docs/coverage.md:{number}: {name}")),
            }
        }
    }
    assert!(found > 300, "only {found} paths were found");
    assert!(missing.is_empty(), "named, but not there:\n{}", missing.join("\n"));
}

/// The ids of a text: `C4 to C6, H1` are C4, C5, C6 and H1.
fn ids_of(text: &str) -> BTreeSet<String> {
    let (mut all, mut last, mut is_range) = (BTreeSet::new(), None, false);
    for word in text.split([' ', ',', ':', '(']).filter(|w| !w.is_empty()) {
        let (letter, number) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        match number.parse::<u32>() {
            Ok(n) if letter.chars().all(|c| c.is_ascii_uppercase()) => {
                let first = last.filter(|_| is_range).unwrap_or(n);
                all.extend((first..=n).map(|i| format!("{letter}{i}")));
                (last, is_range) = (Some(n), false);
            }
            _ => is_range = word == "to",
        }
    }
    all
}

/// A file that the coverage names for a claim of a paper has a claim with its id.
#[test]
fn the_files_of_the_coverage_have_the_claims_for_which_it_names_them() {
    let text = std::fs::read_to_string(workspace().join("docs/coverage.md")).unwrap();
    let (mut paper, mut section, mut found, mut wrong) = ("", "", 0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("## ") {
            paper = PAPERS.iter().find(|(heading, _)| line.starts_with(heading)).map_or("", |(_, folder)| folder);
        }
        if line.starts_with('#') {
            section = line;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let row = cells.first().map_or_else(BTreeSet::new, |first| ids_of(first.split(" (").next().unwrap()));
        if section != "### Claims" || paper.is_empty() || row.is_empty() {
            continue;
        }
        for part in cells.last().unwrap().split(';') {
            // `H12: FILE; H13: FILE`.
            let own = part.split_once(": ").map_or_else(BTreeSet::new, |(ids, _)| ids_of(ids));
            let ids = if own.is_empty() { &row } else { &own };
            for name in part.split('`').skip(1).step_by(2).filter(|n| n.ends_with(".toml")) {
                let path = if name.contains('/') { name.to_owned() } else { format!("{paper}/{name}") };
                let file = std::fs::read_to_string(workspace().join(&path)).unwrap();
                // Only claims have an `id`.
                let there = file.lines().filter(|l| l.starts_with("id ")).filter_map(|l| l.split('"').nth(1));
                let there: BTreeSet<String> = there.flat_map(|id| ids_of(id.split(", ").next().unwrap())).collect();
                found += 1;
                if there.is_disjoint(ids) {
                    wrong.push(format!("docs/coverage.md:{number}: {path} has none of {ids:?}"));
                }
            }
        }
    }
    assert!(found > 100, "only {found} files were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_counts_the_statements_of_each_paper_as_the_page_of_verdicts_does() {
    let of = |name: &str| std::fs::read_to_string(workspace().join(name)).unwrap();
    let (page, readme) = (of("docs/validation.md"), of("README.md"));
    // | paper | experiments | statements of the paper | reproduced | ...
    let table = page.lines().skip_while(|l| !l.starts_with("| paper |")).skip(2);
    let rows: Vec<Vec<&str>> =
        table.take_while(|l| l.starts_with('|')).map(|l| l.split('|').map(str::trim).collect()).collect();
    assert!(rows.len() > 5, "{rows:?}");
    for cells in rows.iter().filter(|cells| cells[1] != "all") {
        let (paper, counted) = (format!("(papers/{}/", cells[1]), format!("| {} of {} |", cells[4], cells[3]));
        let is_there = |l: &str| l.starts_with("| [") && l.contains(&paper) && l.contains(&counted);
        assert!(readme.lines().any(is_there), "README.md does not say `{counted}` of {}", cells[1]);
    }
}

/// One file of eight: it takes a few seconds. When it differs, all of them are made anew.
#[test]
fn the_tables_of_the_guide_are_those_that_its_script_prints() {
    let (page, script) = ("docs/guide-access-point.md", "experiments/guide/tables.py");
    let is_left_out = sample::step() > 1 && ![page, script].iter().any(|file| sample::is_changed(file));
    if is_left_out || needs::without(&["python3"], "tables of the guide for access points") {
        return;
    }
    let run = std::process::Command::new("python3")
        .args([script, &assert_cmd::cargo::cargo_bin!("contend").display().to_string()])
        .arg("experiments/guide/slow-station.toml")
        .current_dir(workspace())
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(printed.starts_with("### ") && run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let shown = std::fs::read_to_string(workspace().join(page)).unwrap();
    for line in printed.lines() {
        assert!(shown.lines().any(|l| l == line), "{page} does not have `{line}`, which {script} prints");
    }
}

#[test]
fn the_page_opens_with_verdicts_counted_and_with_what_each_paper_says_of_the_rest() {
    let bench = Bench::with("papers/smith-2001/a.toml", &format!("{SMALL}{HOLDS}{FAILS}"));
    bench.file("papers/smith-2001/b.toml", format!("{SMALL}{HOLDS}"));
    bench.file("papers/jones-2002/c.toml", format!("{SMALL}{HOLDS}"));
    bench.file(
        "papers/smith-2001/verdict.md",
        "# The verdict\n\n## What is not reproduced\n\n- **A gigabit** (C2): too fast ([a table](ns2.md), see [the \
            paper](https://example.org)).\n\n## Readings\n\nNone.\n",
    );
    bench.file(
        "papers/jones-2002/d.toml",
        format!("{SMALL}{HOLDS}source = \"specification\"\n").replace("at_least = 1", "near = 1"),
    );
    bench.contend(&["reproduce", "--no-results", "--quiet", "--markdown", "v.md"]).with(1);
    let page = bench.read("v.md");
    let first = page.split("\n## Three flows").next().unwrap();
    for line in [
        "| paper | experiments | statements of the paper | reproduced | not reproduced | contradiction | tie | \
            undecided | counted apart |",
        "| jones-2002 | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 1 of 1 statements of our specification reproduced |",
        "| smith-2001 | 2 | 2 | 1 | 1 | 0 | 0 | 0 |  |",
        "| all | 4 | 3 | 2 | 1 | 0 | 0 | 0 | 1 of 1 statements of our specification reproduced |",
        "## The verdict on smith-2001",
        "### What is not reproduced",
        "- **A gigabit** (C2): too fast (`papers/smith-2001/ns2.md`, see [the paper](https://example.org)).",
        "### Readings",
    ] {
        assert!(first.lines().any(|l| l == line), "no `{line}` in: {first}");
    }
    // The tables of the experiments follow.
    assert!(page.find("| claim | says |").unwrap() > page.find("too fast").unwrap());
}
