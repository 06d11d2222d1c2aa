//! `[test]`: what the file is as a test of a suite, and the settings that put a subject into it.

use super::error::{FileError, Source, Spot};
use super::reader::{ReadContext, Val};
use super::tree::{self, Entry, Node, NodeKind, VALUES, at_key};
use std::sync::Arc;

/// The label of the value that stands for the thing under test, and the key of the setting that replaces it:
/// `--set subject=bbr3`.
pub const SUBJECT: &str = "subject";

/// `[test]` of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// When the test runs.
    pub tier: Tier,
    /// How close the test is to the text that it cites.
    pub fidelity: Fidelity,
    /// What a subject must have; without it the test is not applicable.
    pub needs: Vec<Feature>,
    /// Why the test cannot be simulated; `None` if it can.
    pub missing: Option<String>,
}

/// When a test of a suite runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// In every evaluation.
    #[default]
    Default,
    /// With `--full` only.
    Full,
}

/// How close a test is to the text that it cites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// As the text has it.
    #[default]
    AsWritten,
    /// With other rates, times or traffic.
    Adapted,
    /// With something else in the place of a part.
    StandIn,
}

/// What a subject may have, beside all that a network needs to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// It marks packets in place of drops.
    Ecn,
}

impl Tier {
    /// All tiers with their names in files and results.
    pub const ALL: [(&str, Tier); 2] = [("default", Tier::Default), ("full", Tier::Full)];

    /// The name in files and results.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, t)| *t == self).map_or("", |(name, _)| name)
    }
}

impl Fidelity {
    /// All of them with their names in files and results.
    pub const ALL: [(&str, Fidelity); 3] =
        [("as written", Fidelity::AsWritten), ("adapted", Fidelity::Adapted), ("stand-in", Fidelity::StandIn)];

    /// The name in files and results.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }
}

impl Feature {
    /// All features with their names in files.
    pub const ALL: [(&str, Feature); 1] = [("ecn", Feature::Ecn)];
}

impl Test {
    pub(super) fn read(v: &Val) -> Result<Test, FileError> {
        let mut f = v.table()?;
        let tier = f.read_or("tier", Tier::default(), |v| v.word(&Tier::ALL))?;
        let fidelity = f.read_or("fidelity", Fidelity::default(), |v| v.word(&Fidelity::ALL))?;
        let needs = f.read_or("needs", vec![], |v| {
            v.list("the list of what a subject must have, [\"ecn\"]")?.map(|v| v.word(&Feature::ALL)).collect()
        })?;
        let missing = f.read("missing", |v| match v.text()?.trim() {
            "" => Err(v.error("is empty", "say why the test cannot be simulated")),
            why => Ok(why.to_owned()),
        })?;
        f.finish()?;
        Ok(Test { tier, fidelity, needs, missing })
    }
}

/// What a file says about itself, whether or not it can be simulated.
#[derive(Clone, Debug)]
pub struct Head {
    /// Title on one line; empty without one.
    pub title: String,
    /// The text and section that the file repeats; may be empty.
    pub cite: String,
    /// The author's notes; may be empty.
    pub notes: String,
    /// `[test]`; the default without one.
    pub test: Test,
    /// The swept keys with a value labelled [`SUBJECT`], each with this value.
    pub subjects: Vec<(String, serde_json::Value)>,
    /// True if a check is about the subject.
    pub judges_subject: bool,
}

/// Reads the head of the text `text` of the file `name`. Nothing else of the file is checked.
///
/// # Errors
/// When the text is no TOML, or when one of these keys is invalid.
pub fn head(name: &str, text: &str) -> Result<Head, FileError> {
    let source = Arc::new(Source { path: name.into(), text: text.into(), sets: vec![] });
    let tree = tree::read(&source)?;
    let cx = ReadContext::new(&source, &[]);
    let mut f = Val { cx, path: String::new(), node: &tree }.table()?;
    let mut text = |key| Ok(f.read_or(key, "", |v| v.text())?.to_owned());
    let (title, cite, notes) = (text("title")?, text("cite")?, text("notes")?);
    let test = f.read_or("test", Test::default(), |v| Test::read(&v))?;
    let subjects = subjects(&tree).into_iter().map(|p| (p.path.join("."), p.value.to_json())).collect();
    let judges_subject = names_subject(&tree);
    Ok(Head { title, cite, notes, test, subjects, judges_subject })
}

/// True if `when` of a check names the subject.
fn names_subject(tree: &Node) -> bool {
    let is_word = |node: &Node| matches!(&node.kind, NodeKind::Text(text) if text == SUBJECT);
    let is_named = |node: &Node| match &node.kind {
        NodeKind::List(all) => all.iter().any(is_word),
        _ => is_word(node),
    };
    let Some(NodeKind::List(checks)) = tree.get("check").map(|n| &n.kind) else { return false };
    let whens = checks.iter().filter_map(|c| c.get("when")?.entries());
    whens.flat_map(|when| tree::flatten(when, true)).any(|(_, _, node)| is_named(node))
}

/// The tables and keys of a text as JSON, without any check.
///
/// # Errors
/// When the text is no TOML.
pub fn tables(name: &str, text: &str) -> Result<serde_json::Value, FileError> {
    tree::read(&Source { path: name.into(), text: text.into(), sets: vec![] }).map(|tree| tree.to_json())
}

/// A value as `--set` reads it: TOML, or a text without quotes.
pub fn value(text: &str) -> serde_json::Value {
    tree::read_setting(0, 0, text).to_json()
}

/// The values of the sweep that are labelled [`SUBJECT`].
fn subjects(tree: &Node) -> Vec<Place<'_>> {
    fn add<'n>(node: &'n Node, path: &[String], all: &mut Vec<Place<'n>>) {
        let text = |node: &Node| if let NodeKind::Text(text) = &node.kind { Some(text.clone()) } else { None };
        if let (Some(NodeKind::List(values)), Some(NodeKind::List(labels))) =
            (node.get(VALUES).map(|n| &n.kind), node.get("labels").map(|n| &n.kind))
        {
            let place = labels.iter().position(|label| text(label).as_deref() == Some(SUBJECT));
            all.extend(place.and_then(|i| Some(Place { path: path.to_vec(), number: i, value: values.get(i)? })));
            return;
        }
        for entry in node.entries().unwrap_or_default() {
            add(&entry.value, &[path, std::slice::from_ref(&entry.key)].concat(), all);
        }
    }
    let mut all = vec![];
    tree.get("sweep").into_iter().for_each(|sweep| add(sweep, &[], &mut all));
    all
}

/// A value of the sweep.
struct Place<'n> {
    /// The keys of tables that lead to it from `[sweep]`.
    path: Vec<String>,
    /// Its number among the values of its key.
    number: usize,
    value: &'n Node,
}

/// Replaces each value of the sweep that is labelled [`SUBJECT`] by `value`, for the setting at `site`. Of a table
/// `tcp` the keys stay that are no part of a variant, as `initial_window`.
///
/// # Errors
/// When there is none.
pub(super) fn put(tree: &mut Node, value: &Node, source: &Source, site: &Spot) -> Result<(), FileError> {
    let part = |text: &str| text.to_owned();
    let of = |p: Place| {
        let is_tcp = p.path.last().is_some_and(|key| key == "tcp" || key.ends_with(".tcp"));
        let value = if is_tcp { beside(value, p.value) } else { value.clone() };
        ([vec![part("sweep")], p.path, vec![part(VALUES), p.number.to_string()]].concat(), value)
    };
    let all: Vec<(Vec<String>, Node)> = subjects(tree).into_iter().map(of).collect();
    if all.is_empty() {
        return Err(FileError::new(
            source,
            site,
            "no value of the sweep is labelled `subject`",
            "write \"flow.0.tcp\" = { values = [\"cubic\", \"bbr3\"], labels = [\"cubic\", \"subject\"] } in [sweep]",
        ));
    }
    let mut set = |(path, value): (Vec<String>, Node)| tree.set(&path, site, value);
    all.into_iter().try_for_each(&mut set).map_err(|no| at_key(source, site, SUBJECT, no))
}

/// The variant `new` with the keys of the table `old` that belong to no variant and that `new` lacks.
fn beside(new: &Node, old: &Node) -> Node {
    let of_variant = ["kind", "cc", "recovery"];
    let is_left = |e: &&Entry| !of_variant.contains(&e.key.as_str()) && new.get(&e.key).is_none();
    let left: Vec<Entry> = old.entries().unwrap_or_default().iter().filter(is_left).cloned().collect();
    if left.is_empty() {
        return new.clone();
    }
    let own = match new.entries() {
        Some(entries) => entries.to_vec(),
        None => vec![Entry { key: "kind".into(), site: new.site.clone(), value: new.clone() }],
    };
    Node { site: new.site.clone(), kind: NodeKind::Table([own, left].concat()) }
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, parse};
    use super::*;
    use serde_json::json;

    const TEXT: &str = r#"duration = "1s"
cite = "RFC 9743, section 5.2.1"
[test]
fidelity = "adapted"
needs = ["ecn"]
[wifi]
standard = "802.11g"
[[flow]]
name = "old"
from = "server"
to = "station"
tcp = "newreno"
[[flow]]
name = "new"
from = "server"
to = "station"
tcp = "newreno"
[sweep]
"flow.new.tcp" = { values = ["newreno", "cubic", "bbr3"], labels = ["newreno", "cubic", "subject"] }
[[check]]
id = "share"
what = "it has its share"
metric = "goodput.new"
when = { "flow.new.tcp" = "subject" }
over = { "flow.new.tcp" = "newreno" }
expect = { at_least = 0.5 }
bound = "ours"
why = "half of what the standard has"
"#;

    fn with(text: &str, sets: &[(&str, &str)]) -> Result<Experiment, String> {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        parse("t.toml", text, &sets).map_err(|e| e.render(false))
    }

    /// The values at the points, and those that the check selects.
    fn values(e: &Experiment, key: &str) -> (Vec<String>, Vec<String>) {
        let text = |v: &crate::results::SweptValue| v.to_string();
        let all = e.points.iter().map(|p| text(&p[key])).collect();
        (all, e.checks[0].requirement.when[key].iter().map(text).collect())
    }

    #[test]
    fn a_setting_replaces_the_value_that_is_labelled_subject() {
        let key = "flow.new.tcp";
        let three = |last: &str| ["\"newreno\"", "\"cubic\"", last].map(str::to_owned).to_vec();
        let own = with(TEXT, &[]).unwrap();
        assert_eq!(values(&own, key), (three("\"bbr3\""), vec!["\"bbr3\"".to_owned()]));
        let vegas = with(TEXT, &[(SUBJECT, "vegas")]).unwrap();
        assert_eq!(values(&vegas, key), (three("\"vegas\""), vec!["\"vegas\"".to_owned()]));
        assert_eq!(vegas.points[2][key].label(), Some(SUBJECT));
        let table = with(TEXT, &[(SUBJECT, "{ cc = { kind = \"cubic\", beta_1024 = 600 } }")]).unwrap();
        assert_eq!(table.points[2][key], json!({"cc": {"kind": "cubic", "beta_1024": 600}}));
        // What belongs to no variant stays.
        let held = TEXT.replace("\"bbr3\"]", "{ kind = \"bbr3\", initial_window = \"3p\", recovery = \"sack\" }]");
        let with_window = |subject: &str| with(&held, &[(SUBJECT, subject)]).unwrap().points[2][key].to_string();
        assert_eq!(with_window("vegas"), json!({"kind": "vegas", "initial_window": "3p"}).to_string());
        let own = with_window("{ cc = \"cubic\", initial_window = \"9p\" }");
        assert_eq!(own, json!({"cc": "cubic", "initial_window": "9p"}).to_string());
        let no = with(TEXT, &[(SUBJECT, "nosuch")]).unwrap_err();
        assert!(no.contains("nosuch") && no.contains("--set"), "{no}");
        let none = with(
            &TEXT.replace("\"subject\"]", "\"mine\"]").replace("= \"subject\"", "= \"mine\""),
            &[(SUBJECT, "vegas")],
        );
        assert!(none.unwrap_err().contains("no value of the sweep is labelled `subject`"));
    }

    #[test]
    fn a_subject_that_equals_a_baseline_shares_its_point() {
        let e = with(TEXT, &[(SUBJECT, "cubic")]).unwrap();
        let two = ["\"newreno\"", "\"cubic\""].map(str::to_owned).to_vec();
        assert_eq!(values(&e, "flow.new.tcp"), (two, vec!["\"cubic\"".to_owned()]));
        assert_eq!(e.points[1]["flow.new.tcp"].label(), Some("cubic"));
        // Rows of a `zip` are joined if all their values are equal.
        let zipped = TEXT.replace(
            "[[check]]",
            "\"flow.old.tcp\" = { values = [\"newreno\", \"cubic\", \"bbr3\"], labels = [\"newreno\", \"cubic\", \
             \"subject\"] }\nzip = [[\"flow.new.tcp\", \"flow.old.tcp\"]]\n[[check]]",
        );
        let points = |subject: &str| with(&zipped, &[(SUBJECT, subject)]).unwrap().points.len();
        assert_eq!((points("cubic"), points("vegas")), (2, 3));
        // Other labels must tell their values apart.
        let no = with(&TEXT.replace("[\"newreno\", \"cubic\", \"bbr3\"]", "[\"cubic\", \"cubic\", \"bbr3\"]"), &[]);
        assert!(no.unwrap_err().contains("does not tell the values apart"));
    }

    #[test]
    fn the_head_of_a_file_is_read_without_its_network() {
        let head = |text: &str| head("t.toml", text).map_err(|e| e.render(false));
        let h = head(TEXT).unwrap();
        assert_eq!((h.cite.as_str(), h.test.fidelity), ("RFC 9743, section 5.2.1", Fidelity::Adapted));
        assert_eq!((h.test.needs, h.test.tier, h.test.missing), (vec![Feature::Ecn], Tier::Default, None));
        assert_eq!(h.subjects, [("flow.new.tcp".to_owned(), json!("bbr3"))]);
        assert!(h.judges_subject && !head(&TEXT.replace("when =", "# when =")).unwrap().judges_subject);
        let missing = "title = \"Handover\"\ncite = \"TR-398, 6.6.1\"\n[test]\nmissing = \"no association\"\n";
        assert_eq!(head(missing).unwrap().test.missing.as_deref(), Some("no association"));
        assert!(with(missing, &[]).unwrap_err().contains("cannot be simulated: no association"));
        assert!(head(&missing.replace("missing", "tier")).unwrap_err().contains("t.toml:4"));
    }

    #[test]
    fn a_bound_of_ours_needs_a_reason() {
        let no = with(&TEXT.replace("why = \"half of what the standard has\"\n", ""), &[]).unwrap_err();
        assert!(no.contains("has bound = \"ours\" without `why`"), "{no}");
        assert!(with(&TEXT.replace("\"ours\"", "\"nobody\""), &[]).unwrap_err().contains("nobody"));
    }
}
