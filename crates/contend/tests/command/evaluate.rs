//! `contend evaluate`: a subject in small suites of its own folder, and in those inside the program.

use super::resume::killed;
use super::{Bench, Ended};
use serde_json::{Value, json};
use std::time::Duration;

/// Two flows of the subject share a neck, beside NewReno and CUBIC in their place.
const SHARE: &str = r#"
title    = "Two flows on one neck"
cite     = "RFC 9743 (2025), section 5.1.4"
duration = "6s"
warmup   = "2s"
seeds    = "1..5"
decide   = 20
stack    = "rfc"
notes    = "A small test."
node = [{ name = "a" }, { name = "left", kind = "router" }, { name = "b" }]
link = [
    { from = "a", to = "left", rate = "100Mbps", delay = "1ms" },
    { name = "neck", from = "left", to = "b", rate = "5Mbps", delay = "9ms", queue = { kind = "fifo", limit = "20p" } },
]

[test]
fidelity = "adapted"

[[flow]]
name  = "subject"
count = 2
from  = "a"
to    = "b"
tcp   = "newreno"
start = "uniform(0s, 500ms)"

[sweep]
"flow.subject.tcp" = { values = ["newreno", "cubic", "bbr3"], labels = ["newreno", "cubic", "subject"] }

[[check]]
id     = "goodput"
what   = "goodput against NewReno"
metric = "goodput.total"
when   = { "flow.subject.tcp" = "subject" }
over   = { "flow.subject.tcp" = "newreno" }
expect = { at_least = 0.9 }
bound  = "ours"
why    = "a tenth less is a step back"

[[check]]
id     = "goodput"
what   = "goodput against CUBIC"
metric = "goodput.total"
when   = { "flow.subject.tcp" = "subject" }
over   = { "flow.subject.tcp" = "cubic" }
expect = { at_least = 0.9 }
bound  = "ours"
why    = "a tenth less is a step back"

[[figure]]
x = "flow.subject.tcp"
y = ["goodput.total"]
"#;
const MISSING: &str = "title = \"Paths that change\"\ncite = \"RFC 9743 (2025), section 7.3\"\n[test]\nmissing = \
                       \"contend has no route that changes\"\n";
/// A window of one packet.
const ONE: &str = "hop_limit { reuse = 255 }";

fn bench() -> Bench {
    let bench = Bench::with("suites/cc-1/share.toml", SHARE);
    bench.file("suites/cc-1/route.toml", MISSING);
    bench
}

/// Asserts that standard output has all of these.
#[track_caller]
fn prints(ended: &Ended, texts: &[&str]) {
    texts.iter().for_each(|t| assert!(ended.out.contains(t), "no `{t}` in: {}", ended.out));
}

/// The scorecard as JSON.
fn card(bench: &Bench, words: &[&str], status: i32) -> Value {
    let call = [&["evaluate", "--no-results", "--format", "json"], words].concat();
    bench.contend(&call).with(status).object()
}

#[test]
fn what_is_good_passes_and_what_is_bad_fails_and_the_status_says_so() {
    let bench = bench();
    for good in ["newreno", "cubic"] {
        let card = card(&bench, &["--cc", good], 0);
        assert_eq!((&card["counts"]["pass"], &card["counts"]["not simulated"]), (&json!(1), &json!(1)), "{good}");
    }
    let bad = card(&bench, &["--cc", ONE], 1);
    assert_eq!((&bad["tests"][0]["id"], &bad["tests"][0]["verdict"]), (&json!("share"), &json!("fail")));
    assert_eq!(bad["subject"]["resolved"], json!({"tcp": {"cc": {"kind": "hop_limit", "reuse": 255}}}));
    // NewReno is one of the baselines, so it has its point.
    let same = card(&bench, &["--cc", "newreno"], 0);
    assert_eq!(same["tests"][0]["checks"][0]["alternatives"][0]["measured"], json!(1.0));
}

#[test]
fn the_table_tells_what_fails_and_why_and_how_to_cite_it() {
    let bench = bench();
    let ended = bench.contend(&["evaluate", "--cc", ONE, "--no-results", "--bibtex"]).with(1);
    let told = [
        "share  goodput  ✗ fail",
        "RFC 9743 (2025), section 5.1.4",
        "Bound: a tenth less",
        "0 pass, 1 fail",
        "route: contend has no route",
        "Cite: contend ",
        "@misc{",
        "1 check counts",
    ];
    prints(&ended, &told);
    let quiet = bench.contend(&["evaluate", "--cc", "cubic", "--no-results", "--quiet"]).with(0);
    assert_eq!(quiet.out, "1 pass, 0 fail, 1 not simulated\n");
}

#[test]
fn results_page_and_markdown_are_written_where_the_call_says() {
    let bench = bench();
    let call = ["evaluate", "--cc", "cubic { beta_1024 = 700 }", "--html", "card.html", "--markdown", "card.md"];
    bench.contend(&call).with(0).says(&["results/cc-1/cubic_beta_1024_700/scorecard.html"]);
    let folder = "results/cc-1/cubic_beta_1024_700";
    assert!(bench.path(&format!("{folder}/share/report.html")).exists());
    assert!(!bench.path(&format!("{folder}/share/journal.jsonl")).exists());
    for page in [bench.read("card.html"), bench.read(&format!("{folder}/scorecard.html"))] {
        assert!(
            page.contains("data-verdict=\"pass\"") && page.contains("<svg") && page.contains("contend has no route")
        );
    }
    assert!(bench.read("card.md").contains("| share | goodput | pass |"));
    // The results of a test can be repeated, as those of every run.
    bench.contend(&["run", &format!("{folder}/share/run.toml"), "--no-results"]).with(0);
    // One test has no scorecard of all.
    std::fs::remove_file(bench.path(&format!("{folder}/scorecard.html"))).unwrap();
    bench.contend(&["evaluate", "--cc", "cubic { beta_1024 = 700 }", "share"]).with(0);
    assert!(!bench.path(&format!("{folder}/scorecard.html")).exists());
}

#[test]
fn a_wrong_call_is_refused_before_any_run() {
    let bench = bench();
    bench.file("mine.toml", "[ap]\nquue = \"fifo\"\n");
    let cases: [(&[&str], &str); 8] = [
        (&["--cc", "cubik"], "did you mean `cubic`?"),
        (&["--cc", "cubic { beta = 1 }"], "beta_1024"),
        (&["--ap", "fq_codl"], "did you mean `fq_codel`?"),
        (&["--cc", "cubic", "--ap", "fifo"], "cannot be used with"),
        (&["--cc", "cubic", "shape"], "did you mean `share`?"),
        (&["--ap", "fifo"], "there is no suite `ap-1` in suites"),
        (&["--ap-file", "mine.toml"], "queue"),
        (&["--cc", "cubic", "--seeds", "x"], "seeds"),
    ];
    for (words, told) in cases {
        let call = [&["evaluate"], words].concat();
        let ended = bench.contend(&call).with(2).says(&[told]);
        assert!(ended.out.is_empty() && !bench.path("results").exists(), "{words:?}: {}", ended.out);
    }
    bench.contend(&["evaluate"]).with(2).says(&["--cc"]);
    // Of the suites inside the program.
    let inside = Bench::new().contend(&["evaluate", "--cc", "cubic", "ap-1"]).with(2);
    inside.says(&["suite ap-1 is not for a congestion controller"]);
}

#[test]
fn a_network_that_does_not_suit_the_subject_is_no_failure() {
    let bench = bench();
    // A sender that reads the air of its station.
    let card = card(&bench, &["--cc", "we-tcp-ap"], 0);
    let test = card["tests"].as_array().unwrap().iter().find(|t| t["id"] == "share").unwrap();
    assert_eq!(test["verdict"], "not applicable");
    assert!(!test["reason"].as_str().unwrap().is_empty());
}

#[test]
fn all_checks_together_are_judged_more_strictly() {
    let bench = bench();
    bench.file("suites/cc-1/second.toml", SHARE);
    let confidence = |words: &[&str]| {
        let card = card(&bench, words, 0);
        card["tests"][0]["checks"][0]["alternatives"][0]["look"]["confidence"].as_f64()
    };
    assert_eq!(confidence(&["--cc", "newreno"]), None);
    assert_eq!(confidence(&["--cc", "newreno", "--strict"]), Some(0.975));
}

#[test]
fn the_verdicts_do_not_depend_on_the_number_of_cores() {
    let bench = bench();
    let tests = |jobs: &str| card(&bench, &["--cc", "vegas", "--jobs", jobs], 0)["tests"].take();
    assert_eq!(tests("1"), tests("3"));
}

#[test]
fn a_call_that_was_killed_is_continued() {
    let bench = bench();
    bench.file("suites/cc-1/long.toml", SHARE.replace("duration = \"6s\"", "duration = \"200s\""));
    let call = ["evaluate", "--cc", "vegas", "--jobs", "1"];
    let calm = card(&bench, &["--cc", "vegas", "--jobs", "1"], 0);
    for after in (1..).map(|i| Duration::from_millis(50 * i)) {
        let ended = killed(&bench, &call, after);
        assert_eq!(ended, None, "the call was through before the kill");
        if bench.path("results/cc-1/vegas/long.unfinished-1/journal.jsonl").exists() {
            break;
        }
        let _ = std::fs::remove_dir_all(bench.path("results"));
    }
    let resumed = bench.contend(&[&call[..], &["--resume", "--format", "json"]].concat()).with(0).object();
    assert_eq!(resumed["counts"], calm["counts"]);
    assert_eq!(resumed["events"], calm["events"]);
}

#[test]
fn the_list_names_every_test_with_its_source() {
    let bench = Bench::new();
    let all = bench.contend(&["evaluate", "--list"]).with(0);
    prints(
        &all,
        &[
            "suite cc-1, sha256 ",
            "suite ap-1, sha256 ",
            "RFC 9743 (2025), section 5.2.1",
            "not simulated: ",
            "with --full",
        ],
    );
    let one = bench.contend(&["evaluate", "--list", "ap-1", "--format", "json"]).with(0).object();
    let tests = one["suites"][0]["tests"].as_array().unwrap();
    assert!(tests.iter().any(|t| t["id"] == "airtime" && t["missing"].is_null()));
    assert!(tests.iter().any(|t| t["id"] == "tr-398-peak" && t["missing"].is_string()));
    assert!(tests.iter().all(|t| !t["cite"].as_str().unwrap().is_empty()));
}

#[test]
fn a_test_of_a_suite_runs_like_every_file() {
    let bench = Bench::new();
    let call = ["run", "cc-1/outage", "--set", "subject=cubic", "--seeds", "1", "--no-results", "--no-claims"];
    prints(&bench.contend(&call).with(0), &["Outage", "subject"]);
    bench.contend(&["run", "cc-1/9743-multipath"]).with(2).says(&["cannot be simulated: contend has no multipath"]);
    prints(&bench.contend(&["new", "cc-1/outage"]).with(0), &["[test]", "subject"]);
}
