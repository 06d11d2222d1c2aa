//! The scorecard of an evaluation: which tests of a suite a subject passes, as a table, JSON, Markdown and a page.
//!
//! There is no total and no grade. RFC 9743 sets no thresholds and leaves the weighing to people; a sum over unequal
//! tests would be ours alone.

use super::grid::{Grid, Paint, WIDTH, wrapped};
use super::{Document, checked_text};
use contend_experiment::results::{CheckResult, MET, NOT_MET, Outcome, SweptValue};
use serde_json::{Value, json};

/// The schema of the JSON object.
pub const SCHEMA: &str = "contend/evaluate/1";

/// What a suite says about a subject.
#[derive(Debug)]
pub struct Scorecard {
    /// Name of the suite: `cc-1`.
    pub suite: String,
    /// SHA-256 of the suite, 64 hex digits.
    pub digest: String,
    /// The thing under test.
    pub subject: Subject,
    /// The command line of the call.
    pub command: String,
    /// The tests, those that fail first.
    pub tests: Vec<TestCard>,
}

/// The thing under test.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The option that names it: `cc`, `ap` or `ap-file`.
    pub kind: &'static str,
    /// Its name as typed.
    pub name: String,
    /// The value that tests set, as in a file.
    pub resolved: Value,
}

impl Subject {
    /// What tests set, in TOML: `tcp = "bbr3"`.
    pub fn text(&self) -> String {
        let one = |(key, value): (&String, &Value)| {
            let text = SweptValue::from(value.clone()).setting();
            if value.is_string() { format!("{key} = \"{text}\"") } else { format!("{key} = {text}") }
        };
        self.resolved.as_object().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The verdict of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestVerdict {
    /// A check that counts is not met, and neither are its alternatives.
    Fail,
    /// The seeds do not decide all checks, and none fails.
    NotDecided,
    /// All checks that count are met.
    Pass,
    /// It has values to look at and no check that counts.
    Shown,
    /// The subject lacks what the test needs.
    NotApplicable,
    /// contend lacks what the test needs.
    NotSimulated,
}

impl TestVerdict {
    /// All verdicts, in the order of the table.
    pub const ALL: [TestVerdict; 6] = [
        TestVerdict::Fail,
        TestVerdict::NotDecided,
        TestVerdict::Pass,
        TestVerdict::Shown,
        TestVerdict::NotApplicable,
        TestVerdict::NotSimulated,
    ];

    /// The name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            TestVerdict::Fail => "fail",
            TestVerdict::NotDecided => "not decided",
            TestVerdict::Pass => "pass",
            TestVerdict::Shown => "shown",
            TestVerdict::NotApplicable => "not applicable",
            TestVerdict::NotSimulated => "not simulated",
        }
    }

    /// The verdict of a test with these checks.
    pub fn of(checks: &[CheckResult]) -> TestVerdict {
        let groups = groups(checks).into_iter().filter(|g| g.counts()).map(|g| g.verdict());
        groups.min().unwrap_or(TestVerdict::Shown)
    }
}

/// One test of the suite.
#[derive(Debug)]
pub struct TestCard {
    /// Its name in the suite: `standard`.
    pub id: String,
    /// Title on one line.
    pub title: String,
    /// The text and section that it repeats.
    pub cite: String,
    /// The author's notes; may be empty.
    pub notes: String,
    /// How close it is to the cited text.
    pub fidelity: &'static str,
    /// When it runs.
    pub tier: &'static str,
    /// The verdict.
    pub verdict: TestVerdict,
    /// Why it was not run; empty if it was.
    pub reason: String,
    /// The command that runs it alone; empty if it was not run.
    pub command: String,
    /// The results without runs; `None` if it was not run.
    pub outcome: Option<Outcome>,
    /// Events of its runs.
    pub events: u64,
    /// Its figures on the page, as HTML: the runs behind them are dropped.
    pub figures: String,
}

impl TestCard {
    /// The judged checks.
    pub fn checks(&self) -> &[CheckResult] {
        self.outcome.as_ref().map_or(&[], |o| &o.checks)
    }
}

/// A check with its alternatives.
struct Group<'a>(Vec<&'a CheckResult>);

/// The checks of a test, alternatives together, in the order of the file.
fn groups(checks: &[CheckResult]) -> Vec<Group<'_>> {
    let mut all: Vec<Group> = vec![];
    for c in checks {
        let known = all.iter_mut().find(|g| c.id.is_some() && g.0[0].id == c.id && g.0[0].informative == c.informative);
        match known {
            Some(group) => group.0.push(c),
            None => all.push(Group(vec![c])),
        }
    }
    all
}

impl<'a> Group<'a> {
    fn counts(&self) -> bool {
        !self.0[0].informative
    }

    fn verdict(&self) -> TestVerdict {
        let answers = || self.0.iter().map(|c| c.answer);
        if answers().any(|a| a == MET) {
            TestVerdict::Pass
        } else if answers().all(|a| a == NOT_MET) {
            TestVerdict::Fail
        } else {
            TestVerdict::NotDecided
        }
    }

    /// The check that decides: one that is met, else one that is not decided, else the first.
    fn decisive(&self) -> &'a CheckResult {
        let with = |answer: &str| self.0.iter().find(|c| c.answer == answer);
        let open = || self.0.iter().find(|c| ![MET, NOT_MET].contains(&c.answer));
        with(MET).or_else(open).unwrap_or(&self.0[0])
    }

    fn name(&self) -> String {
        let c = self.decisive();
        c.id.clone().unwrap_or_else(|| c.what.clone())
    }

    /// The word in the column of verdicts.
    fn word(&self) -> String {
        if self.counts() { self.verdict().name().to_owned() } else { format!("shown: {}", self.decisive().answer) }
    }
}

impl Scorecard {
    /// The number of tests with `verdict`.
    pub fn count(&self, verdict: TestVerdict) -> usize {
        self.tests.iter().filter(|t| t.verdict == verdict).count()
    }

    /// True if no test fails and none is not decided.
    pub fn is_clean(&self) -> bool {
        self.count(TestVerdict::Fail) + self.count(TestVerdict::NotDecided) == 0
    }

    /// Events of all runs. Their number is the same on every machine, unlike the time that they take.
    pub fn events(&self) -> u64 {
        self.tests.iter().map(|t| t.events).sum()
    }

    /// The number of checks that count, alternatives together.
    pub fn judged(&self) -> usize {
        self.tests.iter().flat_map(|t| groups(t.checks())).filter(Group::counts).count()
    }

    /// The names of the checks with `verdict`: `standard/share`.
    fn named(&self, verdict: TestVerdict) -> Vec<String> {
        let of = |t: &TestCard| -> Vec<String> {
            let all = groups(t.checks()).into_iter().filter(|g| g.counts() && g.verdict() == verdict);
            all.map(|g| format!("{}/{}", t.id, g.name())).collect()
        };
        self.tests.iter().flat_map(of).collect()
    }

    /// How many tests have each verdict: `18 pass, 2 fail, 1 not decided, 12 not simulated`.
    pub fn counts(&self) -> String {
        use TestVerdict::{Fail, NotApplicable, NotDecided, NotSimulated, Pass, Shown};
        let always = |v| matches!(v, Pass | Fail);
        let all = [Pass, Fail, NotDecided, Shown, NotApplicable, NotSimulated].into_iter();
        let told = all.map(|v| (v, self.count(v))).filter(|(v, n)| *n > 0 || always(*v));
        told.map(|(v, n)| format!("{n} {}", v.name())).collect::<Vec<_>>().join(", ")
    }

    /// How to cite the scorecard, on one line; `date` is that of the call.
    pub fn citation(&self, date: &str) -> String {
        let named = |v, what| match self.named(v) {
            none if none.is_empty() => String::new(),
            all => format!("; {what}: {}", all.join(", ")),
        };
        format!(
            "contend {}, suite {} (sha256 {}), subject {}, {date}: {}{}{}",
            env!("CARGO_PKG_VERSION"),
            self.suite,
            &self.digest[..8.min(self.digest.len())],
            self.subject.name,
            self.counts(),
            named(TestVerdict::Fail, "fail"),
            named(TestVerdict::NotDecided, "not decided"),
        )
    }

    /// The citation for BibTeX.
    pub fn bibtex(&self, date: &str) -> String {
        let year = date.split('-').next().unwrap_or_default();
        let plain = |text: &str| text.replace(['{', '}', '\\'], "");
        format!(
            "@misc{{contend-{},\n  title = {{Scorecard of {} under suite {}}},\n  note = {{{}}},\n  year = \
             {{{year}}},\n}}\n",
            self.suite,
            plain(&self.subject.name),
            self.suite,
            plain(&self.citation(date)),
        )
    }

    /// What chance may do to the verdicts, in a sentence; `confidence` is that of each interval.
    pub fn chance(&self, confidence: f64) -> String {
        let m = self.judged();
        if m == 0 {
            return "No check counts.".to_owned();
        }
        let wrong = m as f64 * (1.0 - confidence) / 2.0;
        let width = 100.0 * confidence;
        format!(
            "{m} check{} Each is judged by an interval of {} %: if every true value lay on its bound, {} of them would \
             be judged wrongly by chance.",
            if m == 1 { " counts." } else { "s count." },
            (width * 1000.0).round() / 1000.0,
            (wrong * 100.0).round() / 100.0
        )
    }

    /// The table for a terminal of this width. With `quiet` it has what fails or is not decided only.
    pub fn table(&self, colour: bool, width: usize, quiet: bool) -> String {
        let paint = Paint(colour);
        let mut grid = Grid::new(["test", "check", "verdict", "measured", "bound"].map(String::from).to_vec());
        for t in &self.tests {
            for g in groups(t.checks()) {
                let (c, verdict) = (g.decisive(), g.verdict());
                let is_news = g.counts() && verdict != TestVerdict::Pass;
                if quiet && !is_news {
                    continue;
                }
                let answer = if g.counts() { c.answer } else { "" };
                let word = paint.answer(answer, &format!("{} {}", sign(&g), g.word()));
                let origin = c.bound.map_or_else(String::new, |origin| format!(" ({origin})"));
                let bound = format!("{}{origin}", c.measured.expected);
                grid.rows.push(vec![t.id.clone(), g.name(), word, checked_text(c), bound]);
                let why = if c.why.is_empty() { String::new() } else { format!("Bound: {}", c.why) };
                let others = g.0.iter().filter(|other| !std::ptr::eq(**other, c)).map(|other| alternative(other));
                let first = [format!("{}. {}.", c.what, t.cite), why];
                grid.under.push(if is_news { first.into_iter().chain(others).collect() } else { vec![] });
            }
        }
        grid.left = vec![0, 1, 2, 4];
        grid.names = 2;
        let mut out = if grid.rows.is_empty() { String::new() } else { grid.render(paint, width) + "\n" };
        for verdict in [TestVerdict::NotApplicable, TestVerdict::NotSimulated] {
            let all: Vec<&TestCard> = self.tests.iter().filter(|t| t.verdict == verdict).collect();
            if all.is_empty() || quiet {
                continue;
            }
            out += &paint.bold(&format!("{}\n", verdict.name()));
            for t in all {
                out += &format!("  {}\n", wrapped(&format!("{}: {}", t.id, t.reason), width.min(WIDTH), 4));
            }
            out.push('\n');
        }
        out + &format!("{}\n", self.counts())
    }

    /// The JSON object, schema `contend/evaluate/1`.
    pub fn json(&self) -> Value {
        let test = |t: &TestCard| {
            let group = |g: &Group| {
                let all: Vec<Value> = g.0.iter().map(|c| json!(c)).collect();
                json!({
                    "id": g.name(), "verdict": g.verdict().name(), "informative": !g.counts(), "alternatives": all,
                })
            };
            let groups: Vec<Value> = groups(t.checks()).iter().map(group).collect();
            json!({
                "id": t.id, "title": t.title, "cite": t.cite, "notes": t.notes, "fidelity": t.fidelity,
                "tier": t.tier, "verdict": t.verdict.name(), "reason": t.reason, "command": t.command,
                "checks": groups, "experiment": t.outcome.as_ref().map(Document::of),
            })
        };
        let counts: serde_json::Map<String, Value> =
            TestVerdict::ALL.iter().map(|v| (v.name().to_owned(), self.count(*v).into())).collect();
        json!({
            "schema": SCHEMA, "version": env!("CARGO_PKG_VERSION"), "suite": self.suite, "suite_digest": self.digest,
            "subject": {"kind": self.subject.kind, "name": self.subject.name, "resolved": self.subject.resolved},
            "command": self.command, "events": self.events(), "counts": counts,
            "tests": self.tests.iter().map(test).collect::<Vec<_>>(),
        })
    }

    /// The scorecard as Markdown.
    pub fn markdown(&self, confidence: f64) -> String {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let mut out = format!(
            "# `{}` under suite {}\n\nMade by `{}`, contend {}; suite sha256 `{}`. {}\n\n| test | check | verdict | \
             measured | bound | origin | source |\n| --- | --- | --- | --- | --- | --- | --- |\n",
            cell(&self.subject.name),
            self.suite,
            self.command,
            env!("CARGO_PKG_VERSION"),
            self.digest,
            self.counts()
        );
        for t in &self.tests {
            for g in groups(t.checks()) {
                let c = g.decisive();
                let cells = [
                    t.id.clone(),
                    g.name(),
                    g.word(),
                    checked_text(c),
                    c.measured.expected.clone(),
                    c.bound.unwrap_or_default().to_owned(),
                    t.cite.clone(),
                ];
                out += &format!("| {} |\n", cells.map(|text| cell(&text)).join(" | "));
            }
        }
        out += &format!("\n{}\n", wrapped(&self.chance(confidence), 120, 0));
        let idle = |v: TestVerdict| self.tests.iter().filter(move |t| t.verdict == v);
        for verdict in [TestVerdict::NotApplicable, TestVerdict::NotSimulated] {
            if self.count(verdict) > 0 {
                out +=
                    &format!("\n## {}\n\n| test | source | reason |\n| --- | --- | --- |\n", capital(verdict.name()));
            }
            for t in idle(verdict) {
                out += &format!("| {} | {} | {} |\n", t.id, cell(&t.cite), cell(&t.reason));
            }
        }
        out
    }
}

/// An alternative that does not decide.
pub(super) fn alternative(c: &CheckResult) -> String {
    format!("Alternative: {}: {}, {}", c.what, checked_text(c), c.answer)
}

/// `text` with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// A symbol for the verdict of a group, readable without colour.
fn sign(g: &Group) -> &'static str {
    match g.verdict() {
        _ if !g.counts() => "·",
        TestVerdict::Pass => "✓",
        TestVerdict::Fail => "✗",
        _ => "?",
    }
}

/// A row of the page's table: a check with its alternatives.
pub(super) struct Row<'a> {
    pub test: &'a TestCard,
    pub name: String,
    pub word: String,
    /// `pass`, `fail`, `not decided` or `shown`.
    pub verdict: TestVerdict,
    pub check: &'a CheckResult,
    /// The other alternatives.
    pub others: Vec<&'a CheckResult>,
}

/// The rows of the page's table.
pub(super) fn rows(card: &Scorecard) -> Vec<Row<'_>> {
    let mut all = vec![];
    for test in &card.tests {
        for g in groups(test.checks()) {
            let check = g.decisive();
            let verdict = if g.counts() { g.verdict() } else { TestVerdict::Shown };
            let others = g.0.iter().copied().filter(|c| !std::ptr::eq(*c, check)).collect();
            all.push(Row { test, name: g.name(), word: g.word(), verdict, check, others });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::results::{Labels, Measured, NOT_DECIDED};

    fn check(id: &str, answer: &'static str, informative: bool) -> CheckResult {
        let measured = Measured {
            expected: ">= 0.9".into(),
            stated: None,
            value: Some(0.95),
            ci95: Some(0.01),
            interval: Some((0.94, 0.96)),
            unit: "",
            look: None,
            points: vec![],
        };
        let (id, what) = (Some(id.to_owned()), format!("{id} is {answer}"));
        CheckResult { what, id, bound: Some("ours"), why: "half".into(), informative, answer, measured }
    }

    fn outcome(checks: Vec<CheckResult>) -> Outcome {
        Outcome {
            version: "0",
            title: "Test".into(),
            file: "test.toml".into(),
            interrupted: None,
            warnings: vec![],
            show: vec![],
            keys: vec![],
            labels: Labels::default(),
            seeds: vec![],
            runs: vec![],
            summary: vec![],
            claims: vec![],
            checks,
            search: vec![],
        }
    }

    fn card(id: &str, checks: Vec<CheckResult>) -> TestCard {
        TestCard {
            id: id.into(),
            title: format!("Test {id}"),
            cite: "RFC 9743, section 5".into(),
            notes: String::new(),
            fidelity: "adapted",
            tier: "default",
            verdict: TestVerdict::of(&checks),
            reason: String::new(),
            command: format!("contend run cc-1/{id}"),
            events: 1_000,
            outcome: Some(outcome(checks)),
            figures: String::new(),
        }
    }

    fn scorecard() -> Scorecard {
        let missing = TestCard {
            verdict: TestVerdict::NotSimulated,
            reason: "no <association>".into(),
            outcome: None,
            ..card("roam", vec![])
        };
        Scorecard {
            suite: "cc-1".into(),
            digest: "0123456789abcdef".into(),
            subject: Subject { kind: "cc", name: "bbr3".into(), resolved: json!({"tcp": "bbr3"}) },
            command: "contend evaluate --cc bbr3".into(),
            tests: vec![
                card("bad", vec![check("share", NOT_MET, false), check("delay", MET, false)]),
                card("good", vec![check("share", NOT_MET, false), check("share", MET, false)]),
                missing,
            ],
        }
    }

    #[test]
    fn one_alternative_is_enough_and_the_worst_check_decides() {
        use TestVerdict::{Fail, NotDecided, Pass, Shown};
        let of = |all: &[(&str, &'static str)]| {
            TestVerdict::of(&all.iter().map(|(id, answer)| check(id, answer, false)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("a", NOT_MET), ("a", MET)]), Pass);
        assert_eq!(of(&[("a", NOT_MET), ("b", MET)]), Fail);
        assert_eq!(of(&[("a", NOT_MET), ("a", NOT_DECIDED), ("b", MET)]), NotDecided);
        assert_eq!(of(&[("a", NOT_DECIDED), ("b", NOT_MET)]), Fail);
        assert_eq!(TestVerdict::of(&[check("a", NOT_MET, true)]), Shown);
        // What is shown is no alternative of what counts.
        assert_eq!(TestVerdict::of(&[check("a", NOT_MET, false), check("a", MET, true)]), Fail);
    }

    #[test]
    fn the_counts_have_no_total() {
        let card = scorecard();
        assert_eq!((card.events(), card.subject.text().as_str()), (3_000, "tcp = \"bbr3\""));
        assert_eq!(card.counts(), "1 pass, 1 fail, 1 not simulated");
        assert!(!card.is_clean());
        assert_eq!(card.judged(), 3);
        assert_eq!(
            card.citation("2026-11-27"),
            format!(
                "contend {}, suite cc-1 (sha256 01234567), subject bbr3, 2026-11-27: 1 pass, 1 fail, 1 not simulated; \
                 fail: bad/share",
                env!("CARGO_PKG_VERSION")
            )
        );
        assert!(card.bibtex("2026-11-27").contains("year = {2026}"));
        // 3 checks, each wrong by chance with 2.5 % on one side.
        assert!(card.chance(0.95).contains("3 checks count") && card.chance(0.95).contains("0.08 of them"));
    }

    #[test]
    fn the_table_tells_failures_with_their_source_and_bound() {
        let card = scorecard();
        let whole = card.table(false, 100, false);
        for text in [
            "bad   share  ✗ fail",
            "share is not met. RFC 9743, section 5.",
            "Bound: half",
            ">= 0.9 (ours)",
            "roam: no <assoc",
        ] {
            assert!(whole.contains(text), "{text}\n{whole}");
        }
        let quiet = card.table(false, 100, true);
        assert!(!quiet.contains("good") && quiet.contains("bad") && quiet.ends_with("1 not simulated\n"), "{quiet}");
    }

    #[test]
    fn json_markdown_and_page_have_every_test() {
        let card = scorecard();
        let json = card.json();
        assert_eq!((&json["schema"], &json["counts"]["fail"]), (&json!(SCHEMA), &json!(1)));
        let good = &json["tests"][1];
        assert_eq!((&good["verdict"], &good["checks"][0]["verdict"]), (&json!("pass"), &json!("pass")));
        assert_eq!(good["checks"][0]["alternatives"].as_array().unwrap().len(), 2);
        assert_eq!(
            (&json["tests"][2]["experiment"], &json["tests"][2]["reason"]),
            (&Value::Null, &json!("no <association>"))
        );
        let text = card.markdown(0.95);
        assert!(text.contains("| bad | share | fail |") && text.contains("| roam | RFC 9743, section 5 |"), "{text}");
        let page = crate::output::scorecard_page(&card, "2026-11-27", 0.95);
        for text in ["no &lt;association&gt;", "data-verdict=\"fail\"", "Alternative: share is not met", "@misc{"] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("no <association>"));
    }
}
