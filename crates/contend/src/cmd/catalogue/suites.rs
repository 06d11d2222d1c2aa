//! The suites of `contend evaluate` as a page of the reference.

use contend_explain::markdown::{cell, prose};
use contend_lab::experiment::results::SweptValue;
use contend_lab::judging::claim::expected;
use contend_lab::opening;
use contend_lab::reading::file::test::Tier;
use contend_lab::reading::file::{Check, Each};
use contend_lab::suites::{self, Suite, TestFile};

/// Every test of every suite inside the program: set-up, source and bounds, and what cannot be simulated.
pub fn suites_page() -> String {
    let mut out = "The tests of `contend evaluate`. Each is an experiment file: `contend run cc-1/standard --set \
                   subject=bbr3` runs one, `contend new cc-1/standard` prints it. Checks with one name are \
                   alternatives: one that is met is enough. *Shown* checks do not count. [How to read a \
                   scorecard](../evaluate.md).\n"
        .to_owned();
    for name in suites::names(None) {
        // The suites inside the program were read by the tests of this crate.
        let Ok(suite) = Suite::read(None, &name) else { continue };
        let (missing, there): (Vec<&TestFile>, Vec<&TestFile>) =
            suite.tests.iter().partition(|t| t.head.test.missing.is_some());
        out += &format!("\n## Suite {name}\n\nSHA-256 `{}`.\n", suite.digest);
        there.into_iter().for_each(|t| out += &test(&name, t));
        out +=
            &format!("\n### Not simulated in {name}\n\n| test | what | source | reason |\n| --- | --- | --- | --- |\n");
        for t in missing {
            let why = t.head.test.missing.as_deref().unwrap_or_default();
            out += &format!("| {} | {} | {} | {} |\n", t.id, cell(&t.head.title), cell(&t.head.cite), cell(why));
        }
    }
    out
}

fn test(suite: &str, t: &TestFile) -> String {
    let head = &t.head;
    let tier = if head.test.tier == Tier::Full { "; with `--full` only" } else { "" };
    let mut out = format!(
        "\n### {suite}/{}\n\n{}. {}; {}{tier}.\n\n",
        t.id,
        prose(head.title.trim_end_matches('.')),
        prose(&head.cite),
        head.test.fidelity.name()
    );
    let notes = head.notes.split_whitespace().collect::<Vec<_>>().join(" ");
    if !notes.is_empty() {
        out += &format!("{}\n\n", prose(&notes));
    }
    let Ok(e) = opening::experiment(&t.path.display().to_string(), &t.text, &[]) else { return out };
    out += "| check | what | metric | bound | origin |\n| --- | --- | --- | --- | --- |\n";
    for c in &e.checks {
        let shown = if c.informative { " (shown)" } else { "" };
        let why = if c.why.is_empty() { String::new() } else { format!(": {}", c.why) };
        let origin = format!("{}{why}", c.bound.map_or("", |b| b.name()));
        out += &format!(
            "| {}{shown} | {} | {} | {} | {} |\n",
            cell(c.id.as_deref().unwrap_or_default()),
            cell(&c.what),
            metric(c),
            cell(&expected(&c.requirement)),
            cell(&origin)
        );
    }
    out
}

/// The metric of a check, what it is compared with, and where it must hold.
fn metric(c: &Check) -> String {
    let r = &c.requirement;
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let with = |word: &str, overlay: &contend_lab::reading::file::Overlay| {
        let to: Vec<String> = overlay.settings().values().map(SweptValue::text).collect();
        format!(" {word} that with {}", cell(&to.join(", ")))
    };
    let over = r.over.as_ref().map(|o| with("over", o)).or_else(|| r.less.as_ref().map(|o| with("less", o)));
    let each = match r.each {
        Each::Every => "",
        Each::Mean => "; mean over the points",
        Each::Any => "; at one point at least",
    };
    let pool = if r.pool { "; pooled over the seeds" } else { "" };
    format!("{}{}{each}{pool}", code(&r.metric), over.unwrap_or_default())
}
