//! Files about contention only: `[contention]` in place of a network.

use contend_lab::execute::{Options, execute};
use contend_lab::experiment::results::Outcome;
use contend_lab::judging::claim;
use contend_lab::reading::file::parse;

const GOOD: &str = r#"seeds = "1..4"
[contention]
stations  = 5
rule      = "dcf"
successes = 20000
warmup    = 1000
busy_slot = "counted"
[sweep]
"contention.rule" = ["dcf", { kind = "hash", slots = 25 }, "tcf"]
[[claim]]
id     = "comes back"
metric = "self_correlation(successes[up], 5)"
when   = { "contention.rule" = "tcf" }
expect = { near = 1, within = "0.1%" }
[[claim]]
id     = "window"
metric = "effective_window"
when   = { "contention.rule" = { kind = "hash", slots = 25 } }
expect = { near = 25, within = "10%" }
"#;

fn outcome(text: &str, jobs: usize) -> Outcome {
    let e = parse("t.toml", text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
    execute(&e, &Options { jobs, ..Options::default() }).unwrap().outcome
}

#[test]
fn every_rule_reports_its_collisions_waits_and_windows() {
    let o = outcome(GOOD, 1);
    assert_eq!(o.runs.len(), 12);
    let (dcf, tcf) = (&o.runs[0], &o.runs[8]);
    assert!(
        (dcf.metrics["collision_rate"] - 0.108).abs() < 0.01 && (dcf.metrics["wait.success"] - 3.58).abs() < 0.1,
        "{:?}",
        dcf.metrics
    );
    assert_eq!((dcf.metrics["successes"], dcf.sim_s, dcf.flows.len()), (20_000.0, 0.0, 0));
    // There are no collisions, so no table of slots has an equal share of collisions.
    assert_eq!((tcf.metrics["collisions"], tcf.metrics.get("effective_window")), (0.0, None));
    assert!(o.claims.iter().all(|c| c.verdict == "reproduced"), "{:?}", o.claims);
}

#[test]
fn the_number_of_cores_changes_nothing() {
    let digests = |jobs| outcome(GOOD, jobs).runs.into_iter().map(|r| r.digest).collect::<Vec<_>>();
    assert_eq!(digests(1), digests(2));
}

#[test]
fn a_list_of_rules_goes_round_the_stations() {
    let mixed =
        GOOD.replace("rule      = \"dcf\"", "rule = [{ kind = \"hash\", slots = 1 }, { kind = \"hash\", slots = 2 }]");
    let mixed = mixed.replace("stations  = 5", "stations = 2");
    let mixed: String = mixed.lines().take_while(|l| !l.starts_with("[sweep]")).map(|l| format!("{l}\n")).collect();
    let o = outcome(&mixed, 1);
    // The first always sends in the first slot; the other joins it half of the time, and never wins.
    let r = &o.runs[0];
    assert!((r.metrics["collision_rate"] - 1.0).abs() < 0.05 && r.metrics["wait.success"] == 0.0, "{:?}", r.metrics);
}

#[test]
fn categories_of_a_station_contend_by_themselves() {
    let text: String = GOOD.lines().take_while(|l| !l.starts_with("[sweep]")).map(|l| format!("{l}\n")).collect();
    let text = text
        .replace("rule      = \"dcf\"", "rule = \"edca\"\ncategories = [\"be\", \"vo\"]")
        .replace("stations  = 5", "stations = 1");
    let text =
        text + "[[claim]]\nid = \"voice\"\nmetric = \"successes.vo / successes.be\"\nexpect = { at_least = 2 }\n";
    let o = outcome(&text, 1);
    // One station collides with nobody, and its voice has a quarter of the window and no longer space.
    assert!(
        o.runs[0].metrics["collisions"] == 0.0 && o.claims[0].verdict == "reproduced",
        "{:?} {:?}",
        o.runs[0].metrics,
        o.claims
    );
}

/// (replace, by, message).
const BAD: &[(&str, &str, &str)] = &[
    (
        "stations  = 5",
        "stations = 0",
        "t.toml:3:12: `contention.stations` is too small: 0\n  help: write a value from 1 to 65535",
    ),
    (
        "\"dcf\", { kind",
        "\"dfc\", { kind",
        "t.toml:9:22: `contention.rule` names an unknown access rule: \"dfc\"\n  help: did you mean `dcf`?",
    ),
    (
        "seeds = \"1..4\"",
        "duration = \"10s\"",
        "t.toml:1:12: `duration` is for networks, but this file is about [contention], which ends after its \
            `successes`\n  help: remove it",
    ),
    (
        "[sweep]",
        "[wifi]\nstandard = \"802.11g\"\n[sweep]",
        "t.toml:8:1: `wifi` belongs to a network, but this file is about [contention]\n  help: remove one of the two",
    ),
    (
        "effective_window",
        "goodput.up / 1bps",
        "t.toml:17:11: `goodput.up` is a metric of networks, but this file is about [contention]\n  help: use one of \
            frames, collisions, collision_rate, collision_probability, wait, effective_window, successes",
    ),
    (
        "self_correlation(successes[up], ",
        "self_correlation(successes.up, ",
        "t.toml:12:28: `successes.up` is one number, but windows need the successes of each station\n  help: write \
            `self_correlation(successes[up], 100)`",
    ),
    (
        "self_correlation(successes[up], ",
        "self_correlation(goodput[up], ",
        "t.toml:12:28: self_correlation(...) takes the successes of stations and the number of successes in a window\
            \n  help: \
            write `self_correlation(successes[up], 100)`",
    ),
    (
        "rule      = \"dcf\"",
        "rule = \"dcf\"\ncategories = [\"vo\"]",
        "t.toml:5:14: `contention.categories` needs a rule with categories that contend separately, and dcf has none\
            \n  help: write rule = \"edca\", or remove it",
    ),
    (
        "\"effective_window\"",
        "\"wait\"",
        "t.toml:17:11: `wait` must be followed by one of its words\
            \n  help: write `wait.success`; the words are success, \
            collision",
    ),
    (
        "\"dcf\", { kind = \"hash\", slots = 25 }",
        "{ kind = \"tcf\", stations = 3 }, { kind = \"hash\", slots = 25 }",
        "t.toml:9:22: `contention.rule` cannot use tcf: stations = 3 leaves some of the 5 stations without a place\
            \n  help: write 5 or more",
    ),
    (
        "\"dcf\", { kind = \"hash\", slots = 25 }",
        "{ kind = \"pdf\", weights = [0, 0] }, { kind = \"hash\", slots = 25 }",
        "t.toml:9:22: `contention.rule` cannot use pdf: all weights are 0\
            \n  help: write a positive weight for at least one part of the window",
    ),
];

#[test]
fn every_bad_file_has_its_message() {
    let mut wrong = String::new();
    for (from, to, expected) in BAD {
        assert!(GOOD.contains(from), "{from}");
        let read = parse("t.toml", &GOOD.replacen(from, to, 1), &[]).and_then(|e| claim::validate(&e));
        let got = read.map_or_else(|e| e.render(false), |_| "(no error)".into());
        if !got.trim_end().starts_with(expected) {
            wrong += &format!("    ({from:?}, {to:?}, {:?}),\n", got.trim_end());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
