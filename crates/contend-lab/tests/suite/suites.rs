//! The files of `suites/`: the rules that a test must keep, and the digests that a released suite keeps.

use contend_lab::evaluate::{Evaluation, How, Subject};
use contend_lab::reading::file::test::{SUBJECT, tables};
use contend_lab::suites::{Suite, TestFile, names, newest};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Words that metrics understand otherwise: `goodput.up` is that of all uploads.
const TAKEN: [&str; 6] = ["up", "down", "local", "wired", "all", "total"];
/// Starts of flows that differ from seed to seed.
const RANDOM: [&str; 3] = ["uniform(", "exponential(", "stagger("];

fn all_tests() -> Vec<(String, TestFile)> {
    let suite = |name: String| {
        let suite = Suite::read(None, &name).unwrap();
        suite.tests.into_iter().map(move |test| (format!("{name}/{}", test.id), test)).collect::<Vec<_>>()
    };
    names(None).into_iter().flat_map(suite).collect()
}

/// What is wrong with a test by the rules of `docs/evaluate.md`.
fn faults(test: &TestFile) -> Vec<String> {
    let mut all = vec![];
    let mut must = |holds: bool, what: &str| all.extend((!holds).then(|| what.to_owned()));
    let file = tables(&test.id, &test.text).unwrap();
    let text = |v: &Value, key: &str| v[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| match &file[key] {
        Value::Array(list) => list.clone(),
        Value::Null => vec![],
        other => vec![other.clone()],
    };
    let (title, cite) = (text(&file, "title"), text(&file, "cite"));
    must(!title.is_empty() && !cite.is_empty(), "it needs `title` and `cite`");
    if test.head.test.missing.is_some() {
        let others = file.as_object().unwrap().keys().filter(|k| !["title", "cite", "test"].contains(&k.as_str()));
        must(others.count() == 0, "a test that is missing has `title`, `cite` and [test] only");
        return all;
    }
    must(cite.contains(|c: char| c.is_ascii_digit()), "`cite` names a section");
    must(!text(&file, "notes").is_empty(), "it needs `notes`");
    must(file["seeds"] == "1..5", "seeds = \"1..5\"");
    let most = if text(&file["test"], "tier") == "full" { 100 } else { 20 };
    must(file["decide"] == most, "decide = 20, and 100 in the tier `full`");
    let subjects = &test.head.subjects;
    must(!subjects.is_empty(), "a value of the sweep is labelled `subject`");
    let kind = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    must(subjects.iter().all(|s| kind(&s.0) == kind(&subjects[0].0)), "all subjects are values of one kind of key");
    let is_random = |flow: &Value| {
        let start = flow["start"].to_string();
        let overhead = flow["overhead"].to_string();
        RANDOM.iter().any(|draw| start.contains(draw) || overhead.contains(draw)) || !flow["stagger"].is_null()
    };
    must(list("flow").iter().any(is_random), "a flow starts at random");
    let named: Vec<String> =
        ["flow", "node", "link", "station"].iter().flat_map(|k| list(k)).map(|t| text(&t, "name")).collect();
    must(named.iter().all(|n| !TAKEN.contains(&n.as_str())), "no name is that of a direction");
    must(!test.text.contains(".toml") && !test.text.contains("trace ="), "it names no other file");
    let checks = list("check");
    must(checks.iter().all(|c| c["id"].is_string() && c["bound"].is_string()), "each check has `id` and `bound`");
    let on_subject = |c: &Value| c["when"].as_object().is_some_and(|w| w.values().any(|v| v == SUBJECT));
    must(checks.iter().any(on_subject), "a check has `when` on the subject");
    all
}

#[test]
fn every_test_keeps_the_rules() {
    let wrong: Vec<String> = all_tests()
        .iter()
        .flat_map(|(name, test)| faults(test).into_iter().map(move |fault| format!("{name}: {fault}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_test_that_breaks_a_rule_is_found() {
    let (_, good) = all_tests().into_iter().find(|(name, _)| name == "cc-1/standard").unwrap();
    let broken = |from: &str, to: &str| {
        assert!(good.text.contains(from), "{from}");
        faults(&TestFile { text: good.text.replace(from, to), ..good.clone() })
    };
    assert_eq!(faults(&good), Vec::<String>::new());
    assert_eq!(broken("uniform(", "constant("), ["a flow starts at random"]);
    assert_eq!(broken("seeds    = \"1..5\"", "seeds = 1"), ["seeds = \"1..5\""]);
    assert!(broken("bound  = ", "# ").contains(&"each check has `id` and `bound`".to_owned()));
}

/// The digests of the suites, as `suites/DIGESTS` has them.
fn digests() -> String {
    let line = |name: String| format!("{}  {name}\n", Suite::read(None, &name).unwrap().digest);
    names(None).into_iter().map(line).collect()
}

#[test]
fn a_suite_never_changes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/DIGESTS");
    if std::env::var_os("CONTEND_BLESS").is_some() {
        std::fs::write(&path, digests()).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        digests(),
        recorded,
        "a suite that was released never changes: put the change into a new one, as cc-2. Before its release, \
         CONTEND_BLESS=1 records it"
    );
}

#[test]
fn comments_change_no_digest_and_a_bound_does() {
    let of = |text: &str| contend_lab::suites::digest([("a", text)].into_iter());
    let text = "title = \"t\"\n\nexpect = { at_least = 1 }\n";
    assert_eq!(of(text), of("# why\ntitle = \"t\"\n  # and\nexpect = { at_least = 1 }"));
    assert_ne!(of(text), of(&text.replace('1', "2")));
}

#[test]
fn each_kind_of_subject_has_its_suite() {
    assert_eq!((newest(None, "cc").as_deref(), newest(None, "ap").as_deref()), (Some("cc-1"), Some("ap-1")));
    let how = How::default();
    let of = |what: &str| Evaluation::of(Subject::controller("cubic").unwrap(), Some(what), None, &how);
    assert_eq!(of("cc-1/standard").unwrap().to_run.len(), 1);
    let refused = |what: &str| of(what).unwrap_err().to_string();
    assert_eq!(refused("ap-1"), "suite ap-1 is not for a congestion controller");
    assert_eq!(refused("cc-1/standart"), "suite cc-1 has no test `standart`");
    assert_eq!(refused("cc-7/standard"), "there is no suite `cc-7`");
}

/// An evaluation of the access point in a file.
fn of_access_point(text: &str, test: &str) -> Evaluation {
    let subject = Subject::access_point("mine.toml", text).unwrap();
    Evaluation::of(subject, Some(test), None, &How::default()).unwrap()
}

#[test]
fn an_access_point_brings_its_table_and_its_part_of_wifi() {
    let mine = "[ap]\nqueue = { kind = \"codel\", target = \"10ms\" }\naql = {}\n[wifi]\nstandard = \"802.11b\"\n\
                ampdu = { mpdus = 8 }\n";
    let wifi = of_access_point(mine, "latency");
    let e = &wifi.to_run[0].1;
    let sets: Vec<String> = e.source.sets.clone();
    assert!(sets.iter().any(|s| s.starts_with("subject=") && s.contains("10ms") && s.contains("aql")), "{sets:?}");
    assert!(sets.iter().any(|s| s == "wifi.ampdu={ mpdus = 8 }"), "{sets:?}");
    assert!(sets.iter().all(|s| !s.contains("802.11b")), "{sets:?}");
    // On a wire only its queue counts.
    let wired = of_access_point(mine, "7928-8.2");
    assert!(wired.to_run[0].1.source.sets.iter().all(|s| !s.contains("ampdu")));
    // Without a queue it has nothing for a wire.
    assert_eq!(of_access_point("[ap]\naql = {}\n", "7928-8.2").to_run.len(), 0);
    let wrong = Subject::access_point("mine.toml", &mine.replace("mpdus", "max")).unwrap_err().to_string();
    assert_eq!(wrong, "mine.toml: there is no key `wifi.ampdu.max`");
    let none = Subject::access_point("mine.toml", "[wifi]\nstandard = \"802.11b\"\n").unwrap_err().to_string();
    assert_eq!(none, "mine.toml has no table [ap]");
}

#[test]
fn suites_are_read_from_a_folder_too() {
    let folder = tempfile::tempdir().unwrap();
    let own: PathBuf = folder.path().join("cc-mine");
    std::fs::create_dir(&own).unwrap();
    let (_, standard) = all_tests().into_iter().find(|(name, _)| name == "cc-1/standard").unwrap();
    std::fs::write(own.join("mine.toml"), &standard.text).unwrap();
    let subject = || Subject::controller("vegas").unwrap();
    let of = |what| Evaluation::of(subject(), what, Some(folder.path()), &How::default());
    assert_eq!(of(Some("cc-mine")).unwrap().to_run.len(), 1);
    // `newest` counts numbers; this one has none.
    assert_eq!(of(None).unwrap_err().to_string().split(" in ").next(), Some("there is no suite `cc-1`"));
}
