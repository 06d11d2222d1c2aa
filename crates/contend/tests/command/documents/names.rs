//! The names that documents put in backticks, and the names of what documents say does not exist.

use super::{documents, file_of, is_there, workspace};
use std::collections::BTreeSet;
use std::path::Path;

/// The pages in which every name in backticks must exist.
const PAGES: [&str; 3] = ["README.md", "docs/coverage.md", "docs/model/limits.md"];

/// What is not of contend: functions and variables of Linux and ns-2, quantities of papers, pip, and what is built.
const ELSEWHERE: [&str; 11] = [
    "tcp_small_queue_check",
    "tx_sk_pacing_shift",
    "ieee80211_txq_airtime_check",
    "ieee80211_calc_expected_tx_airtime",
    "lt_bw",
    "overhead_",
    "CT_AP",
    "BS_AP/n",
    "pip install .",
    "target/release/contend",
    "target/book/index.html",
];

/// How documents say that something does not exist.
const DENIALS: [&str; 9] = [
    "planned",
    "not modelled",
    "not** model",
    "does not model",
    "not begun",
    "is missing",
    "are missing",
    "will miss",
    "reserved for",
];

/// Plain words by which a document can deny what exists, and the name that proves that it exists.
const SUBJECTS: [(&str, &str); 13] = [
    ("fading", "rayleigh"),
    ("shadowing", "shadowing"),
    ("rate control", "minstrel_ht"),
    ("aggregation", "ampdu"),
    ("hidden station", "field"),
    ("positions", "position"),
    ("routing", "aodv"),
    ("802.11n", "802.11n"),
    ("802.11ac", "802.11ac"),
    ("802.11ax", "802.11ax"),
    ("802.11be", "802.11be"),
    ("emulation", "contend emulate"),
    ("python package", "crates/contend-py"),
];

/// A sentence, or a part of one up to a semicolon.
struct Clause {
    place: String,
    text: String,
    /// A heading says that what follows does not exist.
    denied_above: bool,
}

impl Clause {
    fn denies(&self) -> bool {
        let text = self.text.to_lowercase();
        self.denied_above || DENIALS.iter().any(|d| text.contains(d))
    }
}

/// The names in backticks.
fn in_backticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_denial(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    DENIALS.iter().any(|d| heading.contains(d))
}

/// The clauses of a page outside of its blocks of code.
fn clauses(page: &Path) -> Vec<Clause> {
    let text = std::fs::read_to_string(page).unwrap();
    let name = page.strip_prefix(workspace()).unwrap().display().to_string();
    let (mut all, mut open) = (Vec::new(), (0, String::new()));
    let (mut is_code, mut section_denies, mut columns) = (false, false, Vec::new());
    let mut close = |(number, text): &mut (usize, String), denied_above: bool| {
        for text in std::mem::take(text).replace("; ", "\u{1}").replace(". ", "\u{1}").split('\u{1}') {
            all.push(Clause { place: format!("{name}:{number}"), text: text.to_owned(), denied_above });
        }
    };
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().starts_with("```");
        let starts = fence || line.is_empty() || line.starts_with(['#', '|']) || line.trim_start().starts_with("- ");
        if starts {
            close(&mut open, section_denies);
        }
        is_code ^= fence;
        if is_code || fence {
            continue;
        }
        if line.starts_with("## ") {
            section_denies = is_denial(line);
        }
        if line.starts_with('|') {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            if columns.is_empty() {
                columns = cells.iter().map(|c| is_denial(c)).collect();
            }
            for (column, cell) in cells.iter().enumerate() {
                let denies = section_denies || columns.get(column).copied().unwrap_or(false);
                close(&mut (number, (*cell).to_owned()), denies);
            }
        } else {
            columns.clear();
            if open.1.is_empty() {
                open.0 = number;
            }
            open.1 = open.1 + " " + line.trim();
        }
    }
    close(&mut open, section_denies);
    all
}

/// What contend knows by name.
struct Names {
    /// The pages of the reference, which another test compares with the program.
    reference: String,
    /// Entries, keys, parameters, words, metrics, functions, closed forms and results.
    entries: BTreeSet<String>,
    /// What the sources define.
    items: BTreeSet<String>,
}

impl Names {
    fn read() -> Names {
        let mut names = Names { reference: String::new(), entries: BTreeSet::new(), items: BTreeSet::new() };
        for file in documents().iter().filter(|f| f.parent().unwrap() == workspace().join("docs/reference")) {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().for_each(|line| names.define(&line.replace('\\', "")));
            names.entries.insert(file.file_stem().unwrap().to_str().unwrap().to_owned());
            names.reference += &text;
        }
        let mut todo = vec![workspace().join("crates")];
        while let Some(folder) = todo.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    todo.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    names.define_items(&std::fs::read_to_string(path).unwrap());
                }
            }
        }
        names
    }

    /// The names that a line of the reference defines: a heading, the first cell of a row with the words of its value,
    /// an item of a list of words, the forms of a metric, or a command of a command.
    fn define(&mut self, line: &str) {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.split(' ').next().unwrap();
            self.entries.insert(name.trim_matches(['[', ']']).to_owned());
        } else if let Some(row) = line.strip_prefix("| ") {
            let cells: Vec<&str> = row.split(" | ").collect();
            let name = cells[0].trim_matches('`').trim_start_matches('[').split(']').next().unwrap();
            self.entries.insert(name.to_owned());
            let words = cells.iter().skip(1).flat_map(|cell| cell.split('"').skip(1).step_by(2));
            self.entries.extend(words.map(str::to_owned));
        } else if line.starts_with("- `") {
            self.entries.insert(in_backticks(line).next().unwrap().to_owned());
        } else if line.starts_with("- Use:") {
            self.entries.extend(in_backticks(line).map(str::to_owned));
        } else if let Some(command) = line.strip_prefix("  ").and_then(|l| l.split_once("  ")) {
            self.entries.insert(command.0.to_owned());
        }
        if let Some((_, words)) = line.split_once("one of ") {
            self.entries.extend(words.split(" |").next().unwrap().split(", ").map(str::to_owned));
        }
    }

    fn define_items(&mut self, source: &str) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        for keyword in ["fn ", "struct ", "enum ", "trait "] {
            for (at, _) in source.match_indices(keyword) {
                let rest = &source[at + keyword.len()..];
                self.items.insert(rest.chars().take_while(|&c| is_word(c)).collect());
            }
        }
    }

    /// True for an entry, and for a path of entries, where a placeholder or a number stands for anything.
    fn has(&self, name: &str) -> bool {
        let open = |part: &str| part.chars().all(|c| c.is_uppercase() || c == '_' || c.is_numeric());
        let numbered = |part: &str, prefix: &str| part.strip_prefix(prefix).is_some_and(|n| n.parse::<u8>().is_ok());
        let of_samples = |part: &str| numbered(part, "p") || numbered(part, "trim");
        self.entries.contains(name)
            || name.contains('.')
                && name.split('.').all(|part| self.entries.contains(part) || open(part) || of_samples(part))
    }

    /// True if the call can be made: its command, its options, and its first argument.
    fn has_call(&self, call: &str) -> bool {
        let mut words = call.split(' ').skip(1);
        let Some(command) = words.next() else { return true };
        let Some(at) = self.reference.find(&format!("## contend {command}\n")) else { return false };
        let section = self.reference[at..].split("\n## ").next().unwrap();
        let argument = words.clone().next().unwrap_or("-");
        let is_argument = argument.starts_with('-')
            || argument.chars().all(char::is_uppercase)
            || section.lines().any(|l| l.trim_start().split(' ').next() == Some(argument) && l.starts_with("  "))
            || self.has(argument)
            || ["", "experiments", "papers"].iter().any(|folder| {
                let path = workspace().join(folder).join(argument);
                path.exists() || path.with_extension("toml").exists()
            });
        let mut options = words.filter(|w| w.len() > 2 && w.starts_with("--"));
        is_argument && options.all(|option| self.reference.contains(option))
    }

    /// What in the name of a document does not exist.
    fn unknown<'a>(&self, name: &'a str, page: &str) -> Vec<&'a str> {
        if ELSEWHERE.contains(&name) || name == "contend" {
            return vec![];
        }
        if name.starts_with("contend ") {
            return if self.has_call(name) { vec![] } else { vec![name] };
        }
        if is_path(name) {
            let here = Path::new(page).parent().unwrap().join(name);
            let found = is_there(&file_of(name)) || workspace().join(here).exists() || self.has(name);
            // Another test finds the files of the coverage that are named without their folder.
            return if found || !name.contains('/') { vec![] } else { vec![name] };
        }
        let separates = |c: char| !c.is_alphanumeric() && !"_.+-:".contains(c);
        let is_value = |t: &&str| {
            t.chars().all(|c| !c.is_lowercase()) || t.starts_with(char::is_numeric) || ["true", "false"].contains(t)
        };
        let exists = |t: &&str| {
            let t = t.trim_end_matches(['.', ':', '-']);
            self.has(t)
                || self.items.contains(t)
                || t.split_once("::").is_some_and(|(a, _)| self.items.contains(a))
                || workspace().join(format!("crates/contend-{t}")).exists()
        };
        name.split(separates).filter(|t| !is_value(t) && !exists(t)).collect()
    }

    /// The names in the clause that exist, although the clause denies it.
    fn denied<'a>(&self, clause: &'a Clause) -> Vec<&'a str> {
        let exists = |name: &&str| match name.strip_prefix("contend ") {
            Some(_) => self.has_call(name),
            None if is_path(name) => file_of(name).exists(),
            None => {
                let key = name.split([' ', '(']).next().unwrap();
                self.has(key.trim_matches(['"', '[', ']']))
            }
        };
        let text = clause.text.to_lowercase();
        let plain: String = text.split('`').step_by(2).collect();
        let subjects = SUBJECTS.iter().filter(|(words, _)| plain.contains(words)).map(|(words, _)| *words);
        in_backticks(&clause.text).filter(exists).chain(subjects).collect()
    }
}

fn is_path(name: &str) -> bool {
    let ends = [".rs", ".toml", ".md", ".py", ".sh", ".html", ".parquet", ".txt", ".vec", "/"];
    !name.contains(' ') && (name.contains('/') || ends.iter().any(|e| name.ends_with(e)))
}

#[test]
fn what_pages_put_in_backticks_exists() {
    let names = Names::read();
    let (mut found, mut wrong) = (0, Vec::new());
    for page in PAGES {
        for clause in clauses(&workspace().join(page)) {
            for name in in_backticks(&clause.text) {
                found += 1;
                let unknown = names.unknown(name, page);
                if !unknown.is_empty() {
                    wrong.push(format!("{}: `{name}`: {unknown:?}", clause.place));
                }
            }
        }
    }
    assert!(found > 500, "only {found} names were found");
    assert!(wrong.is_empty(), "these names do not exist:\n{}", wrong.join("\n"));
}

#[test]
fn no_page_denies_what_exists() {
    let names = Names::read();
    for (words, name) in SUBJECTS {
        let exists = names.has(name) || names.has_call(name) || workspace().join(name).exists();
        assert!(exists, "\"{words}\" may be denied: `{name}` does not exist");
    }
    // Decisions, progress and changes are of their day, and the reference and the verdicts are written by contend.
    let of_their_day = ["docs/decisions", "docs/progress.md", "docs/reference", "docs/validation.md", "CHANGELOG.md"];
    let pages = documents();
    let pages = pages.iter().map(|p| p.strip_prefix(workspace()).unwrap());
    let pages = pages.filter(|p| p.starts_with("docs") || *p == Path::new("README.md"));
    let (mut denials, mut wrong) = (0, Vec::new());
    for page in pages.filter(|p| !of_their_day.iter().any(|d| p.starts_with(d))) {
        for clause in clauses(&workspace().join(page)).iter().filter(|c| c.denies()) {
            denials += 1;
            let denied = names.denied(clause);
            if !denied.is_empty() {
                wrong.push(format!("{}: {denied:?} in \"{}\"", clause.place, clause.text.trim()));
            }
        }
    }
    assert!(denials > 60, "only {denials} clauses say that something does not exist");
    assert!(wrong.is_empty(), "these clauses deny what exists:\n{}", wrong.join("\n"));
}

/// The parts of the work that the coverage calls planned are those that its head explains.
#[test]
fn the_coverage_explains_each_part_that_is_planned() {
    let text = std::fs::read_to_string(workspace().join("docs/coverage.md")).unwrap();
    let (head, rows) = text.split_once("\n## ").unwrap();
    let part = |line: &str| Some(line.strip_prefix("  - *")?.split_once("*: ")?.0.to_lowercase());
    let explained: BTreeSet<String> = head.lines().filter_map(part).collect();
    let rows = rows.to_lowercase();
    let mut used = BTreeSet::new();
    for (at, _) in rows.match_indices("planned") {
        let (before, rest) = rows.split_at(at);
        if !before.ends_with("not ") {
            let part = rest.strip_prefix("planned (").and_then(|r| r.split(')').next());
            let line = before.lines().last().unwrap();
            used.insert(part.unwrap_or_else(|| panic!("planned, but in which part of the work? {line}")).to_owned());
        }
    }
    assert_eq!(explained, used);
}

/// The pages that tell a reader which standards there are name all of them, as the key `standard` does.
#[test]
fn the_pages_for_readers_name_every_standard() {
    let reference = std::fs::read_to_string(workspace().join("docs/reference/file.md")).unwrap();
    let row = reference.lines().find(|l| l.starts_with("| `standard` |")).unwrap();
    let value = row.split(" | ").nth(1).unwrap();
    let standards: Vec<&str> = value.split('"').skip(1).step_by(2).collect();
    assert!(standards.len() > 7, "{standards:?}");
    for (page, line) in [("README.md", "| Wi-Fi |"), ("docs/model/README.md", "| Wi-Fi |")] {
        let text = std::fs::read_to_string(workspace().join(page)).unwrap();
        let row = text.lines().find(|l| l.starts_with(line)).unwrap();
        let words: BTreeSet<&str> = row.split(|c: char| !c.is_alphanumeric() && c != '.').collect();
        for standard in &standards {
            let short = standard.strip_prefix("802.11").unwrap();
            assert!(words.contains(standard) || words.contains(short), "{page}, {line}: {standard} is not named");
        }
    }
    let coming = std::fs::read_to_string(workspace().join("docs/coming-from.md")).unwrap();
    for standard in &standards {
        assert!(coming.contains(&format!("\"{standard}\"")), "docs/coming-from.md: {standard} has no row");
    }
}
