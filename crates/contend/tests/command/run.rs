//! `contend run` and `reproduce`: tables, JSON, CSV, exit statuses.

use super::{Bench, FAILS, HOLDS, SMALL};
use serde_json::Value;

#[test]
fn run_prints_a_table_of_means_with_intervals() {
    let bench = Bench::with("f.toml", &format!("{SMALL}{HOLDS}"));
    let ended = bench.contend(&["run", "f.toml"]).with(0);
    for text in [
        "Three flows",
        "A paper, Fig. 1",
        "goodput.up",
        "goodput.down",
        " ± ",
        "95 %",
        "C1",
        "reproduced",
        "more than nothing",
    ] {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    // Off a terminal: no colours, no progress bar.
    assert!(!ended.out.contains('\x1b') && !ended.err.contains('\x1b'), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("results/f/report.html"), "{}", ended.err);
}

#[test]
fn the_table_is_as_narrow_as_the_terminal() {
    let words = "the paper says this at great length ".repeat(9);
    let bench = Bench::with("papers/p/f.toml", &format!("{SMALL}{}", HOLDS.replace("more than nothing", &words)));
    let widest = |columns: Option<&str>, args: &[&str]| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("contend"));
        command
            .args(args)
            .arg("--no-results")
            .current_dir(bench.path(""))
            .env_remove("COLUMNS")
            .envs(columns.map(|c| ("COLUMNS", c)));
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(out.split_whitespace().collect::<Vec<_>>().join(" ").contains(words.trim()), "{out}");
        out.lines().map(|l| l.chars().count()).max().unwrap()
    };
    for call in [&["run", "papers/p/f.toml"][..], &["reproduce"]] {
        assert!((80..=100).contains(&widest(None, call)), "a file, and nothing is known");
        assert!((40..=60).contains(&widest(Some("60"), call)));
        assert!(widest(Some("much"), call) <= 100);
    }
}

/// A type of JSON.
type Kind = fn(&Value) -> bool;

/// Asserts that `v` has each of these keys with a value of this type.
#[track_caller]
fn has(v: &Value, what: &str, keys: &[(&str, Kind)]) {
    for (key, right) in keys {
        let value = v.get(key).unwrap_or_else(|| panic!("{what} has no `{key}`: {v}"));
        assert!(right(value), "{what}.{key} is {value}");
    }
}

const TEXT: Kind = Value::is_string;
const NUMBER: Kind = Value::is_number;
const COUNT: Kind = Value::is_u64;
const LIST: Kind = Value::is_array;
const TABLE: Kind = Value::is_object;

fn has_the_fields_of_a_run(r: &Value) {
    has(
        r,
        "run",
        &[
            ("point", TABLE),
            ("seed", COUNT),
            ("digest", TEXT),
            ("events", COUNT),
            ("wall", NUMBER),
            ("duration", NUMBER),
            ("flows", LIST),
            ("queues", LIST),
            ("air", TABLE),
            ("metrics", TABLE),
        ],
    );
    let digest = r["digest"].as_str().unwrap();
    assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{digest}");
    assert_eq!(r["duration"], 3.0);
    for f in r["flows"].as_array().unwrap() {
        has(
            f,
            "flow",
            &[
                ("name", TEXT),
                ("direction", TEXT),
                ("tcp", TEXT),
                ("goodput", NUMBER),
                ("throughput", NUMBER),
                ("sent", COUNT),
                ("retransmitted", COUNT),
                ("timeouts", COUNT),
                ("entered", COUNT),
                ("arrived", COUNT),
                ("rtt", TABLE),
                ("completion", Value::is_null),
            ],
        );
        has(&f["rtt"], "rtt", &[("mean", NUMBER), ("p50", NUMBER), ("p95", NUMBER), ("p99", NUMBER)]);
    }
    for q in r["queues"].as_array().unwrap() {
        has(
            q,
            "queue",
            &[
                ("name", TEXT),
                ("offered", COUNT),
                ("taken", COUNT),
                ("waiting", TABLE),
                ("drops", TABLE),
                ("marked", COUNT),
                ("queue", TABLE),
            ],
        );
    }
    assert!(r["queues"].as_array().unwrap().iter().any(|q| q["name"] == "ap"));
    for t in r["transmitters"].as_array().unwrap() {
        let counts = ["taken", "delivered", "lost"].map(|n| (n, COUNT));
        has(t, "transmitter", &counts);
        has(&t["carrying"], "carrying", &[("start", COUNT), ("end", COUNT)]);
    }
    assert!(r["transmitters"].as_array().unwrap().iter().any(|t| t["name"] == "ap"));
    has(&r["air"], "air", &[("frames", COUNT), ("collisions", COUNT), ("busy", NUMBER), ("airtime", TABLE)]);
    has(&r["air"]["airtime"]["from"], "airtime", &[("ap", NUMBER)]);
    let ledger: f64 = r["air"]["ledger"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum();
    assert!((ledger - 1.0).abs() < 1e-9, "the ledger's shares sum to {ledger}");
    let names = ["goodput.up", "goodput.down", "goodput.total", "jain", "jain.down"];
    has(&r["metrics"], "metrics", &names.map(|n| (n, NUMBER)));
}

#[test]
fn json_is_one_object_with_every_field_of_the_schema() {
    let sweep = "\n[sweep]\n\"flow.1.count\" = [0, 1]\n";
    let bench = Bench::with("f.toml", &format!("{SMALL}{sweep}{HOLDS}"));
    let o = bench.contend(&["run", "f.toml", "--format", "json"]).with(0).object();
    has(
        &o,
        "outcome",
        &[
            ("schema", TEXT),
            ("version", TEXT),
            ("title", TEXT),
            ("file", TEXT),
            ("runs", LIST),
            ("summary", LIST),
            ("claims", LIST),
        ],
    );
    assert_eq!(
        (o["schema"].as_str(), o["title"].as_str(), o["file"].as_str()),
        (Some("contend/run/2"), Some("Three flows"), Some("f.toml"))
    );

    let runs = o["runs"].as_array().unwrap();
    let order: Vec<(u64, u64)> =
        runs.iter().map(|r| (r["point"]["flow.1.count"].as_u64().unwrap(), r["seed"].as_u64().unwrap())).collect();
    assert_eq!(order, [(0, 1), (0, 2), (1, 1), (1, 2)]);
    runs.iter().for_each(has_the_fields_of_a_run);
    let last = &runs[3];
    let names: Vec<&str> = last["flows"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["down.1", "down.2", "up.1"]);
    assert!(last["metrics"]["jain.up"].is_number());

    for s in o["summary"].as_array().unwrap() {
        has(s, "summary", &[("point", TABLE), ("metric", TEXT), ("n", COUNT), ("mean", NUMBER), ("ci95", NUMBER)]);
        assert_eq!(s["n"], 2);
    }
    let of = |point: u64, metric: &str| {
        let found = o["summary"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["point"]["flow.1.count"] == point && s["metric"] == metric);
        found.unwrap_or_else(|| panic!("no summary of {metric} at {point}"))["mean"].as_f64().unwrap()
    };
    let mean = runs[2..].iter().map(|r| r["metrics"]["goodput.total"].as_f64().unwrap()).sum::<f64>() / 2.0;
    assert!((of(1, "goodput.total") - mean).abs() < 1e-3 && of(0, "goodput.up") == 0.0);

    let c = &o["claims"][0];
    has(
        c,
        "claim",
        &[("id", TEXT), ("paper", TEXT), ("expected", TEXT), ("measured", NUMBER), ("ci95", NUMBER), ("verdict", TEXT)],
    );
    assert_eq!(
        (c["id"].as_str(), c["verdict"].as_str(), c["expected"].as_str()),
        (Some("C1"), Some("reproduced"), Some(">= 1Mbps"))
    );
}

#[test]
fn an_outcome_without_a_cell_has_no_air() {
    let wired = "duration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \
        \"b\"\nrate = \"10Mbps\"\n\
                 [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\nsize = \"20p\"\n";
    let o =
        Bench::with("f.toml", wired).contend(&["run", "f.toml", "--format", "json", "--no-results"]).with(0).object();
    let run = &o["runs"][0];
    assert!(run["air"].is_null() && run["flows"][0]["completion"].as_f64().unwrap() > 0.0, "{run}");
    assert_eq!(o["title"], "f");
    assert!(o["summary"].as_array().unwrap().iter().all(|s| s["ci95"].is_null()));
}

#[test]
fn csv_has_one_number_per_line_and_a_column_for_each_swept_key() {
    let bench = Bench::with("f.toml", &format!("{SMALL}\n[sweep]\n\"flow.1.count\" = [0, 1]\n"));
    let ended = bench.contend(&["run", "f.toml", "--format", "csv"]).with(0);
    let mut lines = ended.out.lines();
    assert_eq!(lines.next(), Some("flow.1.count,seed,scope,name,metric,value,unit"));
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert!(rows.iter().all(|r| r.len() == 7), "{rows:?}");
    assert_eq!(rows.iter().filter(|r| r[3] == "up.1" && r[4] == "goodput").count(), 2);
    assert_eq!(bench.read("results/f/results.csv"), ended.out);
}

#[test]
fn a_claim_that_fails_is_exit_status_1_unless_the_file_records_it() {
    let bench = Bench::with("f.toml", &format!("{SMALL}{HOLDS}{FAILS}"));
    let ended = bench.contend(&["run", "f.toml", "--no-results"]).with(1).says(&[
        "claim C2",
        "not reproduced",
        "the file records reproduced",
    ]);
    assert!(!ended.err.contains("C1"), "{}", ended.err);
    assert!(ended.out.contains("recorded: reproduced"), "{}", ended.out);
    bench.file("g.toml", format!("{SMALL}{FAILS}verdict = \"not reproduced\"\nreason = \"802.11g has 54 Mb/s\"\n"));
    let ended = bench.contend(&["run", "g.toml", "--no-results"]).with(0);
    assert!(ended.out.contains("802.11g has 54 Mb/s") && ended.err.is_empty(), "{}{}", ended.out, ended.err);
    // A claim that holds, but is recorded as not reproduced, also counts as a difference.
    bench.file("h.toml", format!("{SMALL}{HOLDS}verdict = \"not reproduced\"\nreason = \"so it was\"\n"));
    bench.contend(&["run", "h.toml", "--no-results"]).with(1).says(&["C1", "the file records not reproduced"]);
}

#[test]
fn an_undecided_claim_is_no_difference_if_fewer_seeds_ran_than_the_file_asks_for() {
    // The bound is the mean of two seeds, so their interval crosses it.
    let claim = |bound: &str| {
        format!(
            "{SMALL}\n[[claim]]\nid = \"close\"\nmetric = \"goodput.up / goodput.down\"\n\
                expect = {{ at_least = {bound} }}\n"
        )
        .replace("\"1..2\"", "\"1..6\"")
    };
    let bench = Bench::with("f.toml", &claim("0"));
    let two = ["run", "f.toml", "--no-results", "--seeds", "1..2"];
    let mean =
        bench.contend(&[&two[..], &["--format", "json"]].concat()).with(0).object()["claims"][0]["measured"].clone();
    bench.file("f.toml", claim(&format!("{:.6}", mean.as_f64().unwrap())));
    bench.contend(&two).with(0).says(&["undecided with fewer seeds than the 6 of the file", "record: close"]);
    // The same seeds, written in the file.
    bench.file("g.toml", bench.read("f.toml").replace("\"1..6\"", "\"1..2\""));
    bench.contend(&["run", "g.toml", "--no-results"]).with(1).says(&["undecided, but the file records reproduced"]);
    // A claim that is decided differently.
    bench.file("h.toml", claim("1e6"));
    bench.contend(&["run", "h.toml", "--no-results", "--seeds", "1..2"]).with(1).says(&["not reproduced, but"]);
}

#[test]
fn few_seeds_give_one_warning_that_quiet_silences() {
    let bench = Bench::with("f.toml", SMALL);
    let csv =
        |more: &[&str]| bench.contend(&[&["run", "f.toml", "--no-results", "--format", "csv"], more].concat()).with(0);
    csv(&[]).says(&["contend: warning: with 2 seeds the 95 % intervals are wide", "--seeds 1..10"]);
    assert_eq!(csv(&["--quiet"]).err, "");
    assert!(!csv(&["--seeds", "1"]).err.contains("intervals"));
    let table = bench.contend(&["run", "f.toml", "--no-results"]).with(0);
    assert_eq!((table.out.matches("intervals are wide").count(), table.err.contains("wide")), (1, false));
    assert!(bench.contend(&["run", "f.toml", "--no-results", "--seeds", "1"]).out.contains("1 seed: no interval"));
}

/// A check of the goodput in Mb/s; the cell of `SMALL` carries between 10 and 40 Mb/s.
fn check(what: &str, at_least: &str) -> String {
    format!("[[check]]\nwhat = \"{what}\"\nmetric = \"goodput.total\"\nexpect = {{ at_least = \"{at_least}\" }}\n")
}

#[test]
fn a_check_that_is_not_met_is_exit_status_1_and_all_formats_tell() {
    let bench = Bench::with("f.toml", &format!("{SMALL}{}", check("enough", "0.5Mbps")));
    let ended = bench.contend(&["run", "f.toml"]).with(0);
    assert!(ended.out.contains("enough") && ended.out.contains("✓ met") && ended.err.contains("report"), "{ended:?}");
    let report = bench.read("results/f/report.html");
    assert!(report.contains("<h2>Checks</h2>") && report.contains("<b>✓</b> met"));

    bench.file("g.toml", format!("{SMALL}{}{}", check("enough", "500kbps"), check("a gigabit", "1000Mbps")));
    let ended = bench.contend(&["run", "g.toml", "--no-results"]).with(1).says(&["check a gigabit", "not met"]);
    assert!(ended.out.contains("✗ not met") && ended.out.contains(">= 1000Mbps"), "{}", ended.out);
    assert!(ended.out.contains(" kb/s") && ended.out.contains(" Mb/s"), "each in the unit of its bound: {}", ended.out);
    let quiet =
        bench.contend(&["run", "g.toml", "--no-results", "--quiet"]).with(1).says(&["a gigabit", "Mb/s: not met"]);
    assert!(quiet.out.is_empty() && !quiet.err.contains("enough"), "{quiet:?}");

    let o = bench.contend(&["run", "g.toml", "--no-results", "--format", "json"]).with(1).object();
    let answers: Vec<&str> = o["checks"].as_array().unwrap().iter().map(|c| c["answer"].as_str().unwrap()).collect();
    assert_eq!(answers, ["met", "not met"]);
    assert!(o["checks"][0]["measured"].as_f64().unwrap() > 1e6, "base units: {}", o["checks"][0]);
    let none =
        bench.contend(&["run", "g.toml", "--set", "check=[]", "--no-results", "--format", "json"]).with(0).object();
    assert!(none["checks"].as_array().unwrap().is_empty());
    // With several points, the one that decides is named.
    let swept = ["run", "g.toml", "--no-results", "--sweep", "flow.0.count=1,2"];
    let ended = bench.contend(&swept).with(1);
    assert!(ended.out.contains("measured at flow.0.count = "), "{}", ended.out);
}

#[test]
fn a_check_that_is_not_decided_fails_and_asks_for_more_seeds() {
    // The bound is the mean of two seeds, which differ.
    let bench = Bench::with("f.toml", SMALL);
    let o = bench.contend(&["run", "f.toml", "--seeds", "1..2", "--no-results", "--format", "json"]).with(0).object();
    let mean = |s: &&Value| s["metric"] == "goodput.total";
    let bps = o["summary"].as_array().unwrap().iter().find(mean).unwrap()["mean"].as_f64().unwrap();
    bench.file("g.toml", format!("{SMALL}{}", check("just so", &format!("{bps}bps"))));
    let call = ["run", "g.toml", "--seeds", "1..2", "--no-results"];
    let ended = bench.contend(&call).with(1).says(&["just so", "not decided"]);
    assert!(ended.out.contains("? not decided") && ended.out.contains("--seeds 1..8"), "{}", ended.out);
    bench.contend(&[&call[..], &["--quiet"]].concat()).with(1).says(&["not decided", "--seeds 1..8"]);
}

#[test]
fn quiet_prints_nothing_but_what_is_amiss() {
    let bench = Bench::with("f.toml", SMALL);
    let ended = bench.contend(&["run", "f.toml", "--quiet"]).with(0);
    assert!(ended.out.is_empty() && ended.err.is_empty(), "{ended:?}");
    assert!(bench.path("results/f/report.html").exists());
    bench.file("g.toml", format!("{SMALL}{FAILS}"));
    let ended = bench.contend(&["run", "g.toml", "--quiet", "--no-results"]).with(1).says(&["C2"]);
    assert!(ended.out.is_empty());
    bench.contend(&["run", "f.toml", "--quiet", "--format", "json"]).with(0).object();
}

#[test]
fn several_files_are_run_in_turn_and_one_bad_claim_counts() {
    let bench = Bench::with("a.toml", &format!("{SMALL}{FAILS}"));
    bench.file("sub/b.toml", SMALL);
    let ended = bench.contend(&["run", "a.toml", "sub/b.toml", "--format", "json", "--seeds", "1"]).with(1);
    let objects: Vec<Value> = serde_json::Deserializer::from_str(&ended.out).into_iter().map(Result::unwrap).collect();
    let files: Vec<&str> = objects.iter().map(|o| o["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.toml", "sub/b.toml"]);
    assert!(bench.path("results/a/run.toml").exists() && bench.path("results/b/run.toml").exists());
}

#[test]
fn a_bad_file_is_found_before_the_first_one_runs() {
    let bench = Bench::with("a.toml", SMALL);
    bench.file("b.toml", SMALL.replace("newreno", "newrneo"));
    let ended = bench.contend(&["run", "a.toml", "b.toml"]).with(2).says(&["b.toml:", "newrneo", "help: "]);
    assert!(ended.out.is_empty() && !bench.path("results").exists(), "{}", ended.out);
}

#[test]
fn seeds_and_settings_replace_those_of_the_file() {
    let bench = Bench::with("f.toml", SMALL);
    let base = ["run", "f.toml", "--format", "json", "--no-results"];
    let with = |more: &[&str]| bench.contend(&[&base, more].concat()).with(0).object();
    let seeds =
        |o: &Value| o["runs"].as_array().unwrap().iter().map(|r| r["seed"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(seeds(&with(&["--seeds", "7"])), [7]);
    assert_eq!(seeds(&with(&["--seeds", "4..6"])), [4, 5, 6]);
    let more = with(&["--seeds", "1", "--set", "flow.1.count=3", "--set", "duration=2s"]);
    assert_eq!(
        (more["runs"][0]["flows"].as_array().unwrap().len(), &more["runs"][0]["duration"]),
        (5, &Value::from(2.0))
    );
}

#[test]
fn show_chooses_the_metrics_of_table_and_json() {
    let bench = Bench::with("f.toml", SMALL);
    let show = "quantile(goodput[all], 0.5), goodput[down], rtt.p99.local";
    let base = ["run", "f.toml", "--no-results", "--seeds", "1..2", "--show", show];
    let ended = bench.contend(&base).with(0).says(&["show: rtt.p99.local", "no sample"]);
    let head = ended.out.lines().find(|l| l.contains("goodput[down]")).unwrap();
    assert!(head.starts_with("quantile(goodput[all], 0.5)") && !head.contains("jain"), "{head}");
    let o = bench.contend(&[&base[..], &["--format", "json"]].concat()).with(0).object();
    assert_eq!(o["show"].as_array().unwrap().len(), 3);
    let of = |metric: &str| &o["runs"][0]["metrics"][metric];
    let flows = o["runs"][0]["flows"].as_array().unwrap();
    let down: Vec<f64> =
        flows.iter().filter(|f| f["direction"] == "down").map(|f| f["goodput"].as_f64().unwrap()).collect();
    let mean = down.iter().sum::<f64>() / down.len() as f64;
    assert!((of("goodput[down]").as_f64().unwrap() / mean - 1.0).abs() < 1e-9, "a list stands for its mean");
    assert!(of("rtt.p99.local").is_null());
    // The command line replaces what the file shows.
    bench.file("g.toml", format!("show = \"sent\"\n{SMALL}"));
    let out = bench.contend(&["run", "g.toml", "--no-results"]).with(0).out;
    assert!(out.lines().any(|l| l.trim() == "sent"), "{out}");
    let out = bench.contend(&["run", "g.toml", "--no-results", "--show", "jain.up"]).with(0).out;
    assert!(out.lines().any(|l| l.trim() == "jain.up") && !out.contains("sent"), "{out}");
    bench
        .contend(&["run", "g.toml", "--no-results", "--show", "goodput[up"])
        .with(2)
        .says(&["this bracket is not closed", "help: "]);
}

#[test]
fn the_number_of_jobs_and_the_results_folder_change_no_digest() {
    let bench = Bench::with("f.toml", SMALL);
    let digests = |more: &[&str]| {
        let o = bench.contend(&[&["run", "f.toml", "--format", "json"], more].concat()).with(0).object();
        o["runs"].as_array().unwrap().iter().map(|r| r["digest"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let one = digests(&["--jobs", "1"]);
    assert_eq!(one, digests(&["--jobs", "7"]));
    assert_eq!(one, digests(&["--no-results"]));
    assert_eq!(one, digests(&["--capture", "1s..2s"]));
}

#[test]
fn reproduce_prints_each_claim_and_counts_the_verdicts() {
    let bench = Bench::with("papers/smith-2001/a.toml", &format!("{SMALL}{HOLDS}"));
    bench.file(
        "papers/smith-2001/b.toml",
        format!("{SMALL}{FAILS}verdict = \"not reproduced\"\nreason = \"802.11g has 54 Mb/s\"\n"),
    );
    bench.file("papers/jones-2002/c.toml", format!("{SMALL}{FAILS}"));
    let ended = bench.contend(&["reproduce", "smith-2001"]).with(0);
    for text in [
        "smith-2001/a",
        "C1",
        "more than nothing",
        "802.11g has 54 Mb/s",
        "2 experiments, 2 statements of the paper; 1 reproduced, 1 not reproduced",
    ] {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    assert!(ended.out.lines().all(|l| l.chars().count() <= 100), "{}", ended.out);
    assert!(bench.path("results/smith-2001/a/report.html").exists());
    assert!(ended.err.contains("contend: results/smith-2001/report.html"), "{}", ended.err);
    let page = bench.read("results/smith-2001/report.html");
    for text in [
        "<h1>smith-2001</h1>",
        "href=\"a/report.html\"",
        "href=\"b/report.html\"",
        "href=\"#b\"",
        "802.11g has 54 Mb/s",
        "contend reproduce smith-2001",
    ] {
        assert!(page.contains(text), "no `{text}`");
    }
    // Repeating one experiment keeps the page of the paper. Repeating the whole paper moves the page aside.
    bench.contend(&["reproduce", "smith-2001/a"]).with(0);
    assert_eq!(bench.read("results/smith-2001/report.html"), page);
    bench
        .contend(&["reproduce", "smith-2001", "--short"])
        .with(0)
        .says(&["earlier results are now in results/smith-2001/report.1.html"]);
    assert_eq!(bench.read("results/smith-2001/report.1.html"), page);
    assert!(!bench.path("results/jones-2002").exists());
    bench.contend(&["reproduce", "--no-results", "--quiet"]).with(1).says(&["jones-2002", "C2"]);
    let one = bench.contend(&["reproduce", "jones-2002/c", "--no-results"]).with(1);
    let words = one.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Mb/s: not reproduced <- the file records: reproduced"), "{words}");
}

#[test]
fn reproduce_as_json_is_one_object_with_an_object_for_each_file() {
    let bench = Bench::with("papers/smith-2001/a.toml", &format!("{SMALL}{HOLDS}").replace("1..2", "1..5"));
    bench.file("papers/smith-2001/b.toml", SMALL);
    let o = bench.contend(&["reproduce", "smith-2001", "--format", "json", "--short"]).with(0).object();
    assert_eq!(o["schema"], "contend/reproduce/2");
    let all = o["experiments"].as_array().unwrap();
    let runs: Vec<usize> = all.iter().map(|e| e["runs"].as_array().unwrap().len()).collect();
    assert_eq!((all.len(), runs), (2, vec![3, 2]), "the short form takes three seeds, where there are more");
    assert!(all.iter().all(|e| e["schema"] == "contend/run/2") && all[0]["claims"][0]["verdict"] == "reproduced");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    if super::needs::without(&["bash"], "pipes that are closed early") {
        return;
    }
    let bench = Bench::with("f.toml", SMALL);
    let contend = assert_cmd::cargo::cargo_bin!("contend");
    for call in [
        "list",
        "model bianchi --stations 1..5000",
        "run f.toml --format csv --no-results --quiet",
        "completions bash",
        "explain cubic",
    ] {
        let script = format!("set -o pipefail; '{}' {call} | true", contend.display());
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(bench.path("")).output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{call}: {} {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_claim_about_a_flow_that_a_setting_leaves_out_is_not_judged() {
    let claim = "\n[[claim]]\nid = \"C1\"\npaper = \"p\"\nmetric = \"goodput[up]\"\nexpect = { at_least = \"1bps\" }\n";
    let bench = Bench::with("f.toml", &format!("{SMALL}{}", claim.replace("goodput[up]", "goodput[other.1]")));
    let call = ["run", "f.toml", "--no-results", "--seeds", "1"];
    bench.contend(&call).with(2).says(&["there is no flow"]);
    let set = [&call[..], &["--set", "wifi.slot=20us"]].concat();
    bench.contend(&set).with(0).says(&["claim C1 is not judged: `goodput[other.1]`: there is no flow"]);
}

#[test]
fn claims_about_a_network_that_the_call_changes_can_be_left_out() {
    let check = "\n[[check]]\nwhat = \"a gigabit\"\nmetric = \"goodput.total\"\nexpect = { at_least = \"1000Mbps\" }\n";
    let bench = Bench::with("f.toml", &format!("{SMALL}{FAILS}{check}"));
    let run = |more: &[&str]| bench.contend(&[&["run", "f.toml", "--seeds", "1..2"], more].concat());
    let hint = "--no-claims judges none";
    // The file's own network, and another one.
    assert!(!run(&["--no-results"]).with(1).err.contains(hint));
    run(&["--no-results", "--sweep", "flow.0.count=1,2"]).with(1).says(&[hint]);
    assert!(!run(&["--no-results", "--set", "wifi.slot=20us", "--quiet"]).with(1).err.contains(hint));
    let ended = run(&["--set", "wifi.slot=20us", "--no-claims"]).with(0);
    assert!(!ended.err.contains(hint) && !ended.out.contains("C2"), "{}\n{}", ended.out, ended.err);
    // The same runs again.
    bench.contend(&["run", "results/f/run.toml"]).with(0);
    run(&["--no-results", "--no-claims", "--decide=3"]).with(2).says(&["cannot be used with"]);
    // A check alone has the status 1, too.
    bench.file("checked.toml", format!("{SMALL}{check}"));
    let set = ["run", "checked.toml", "--no-results", "--seeds", "1..2", "--set", "wifi.slot=20us"];
    bench.contend(&set).with(1).says(&[hint]);
    let of_paper = ["reproduce", "keceli-2008/m1-downloads", "--no-claims"];
    bench.contend(&of_paper).with(2).says(&["omit --no-claims"]);
}

#[test]
fn what_no_run_can_have_is_refused_before_the_first_run() {
    // A run of this length would not end within the test.
    let long = SMALL.replace("duration = \"3s\"", "duration = \"300000s\"");
    let figure = |y: &str| format!("{long}\n[[figure]]\ntitle = \"f\"\nx = \"flow\"\ny = {y:?}\n");
    let bench = Bench::with("f.toml", &long);
    let run = |more: &[&str]| bench.contend(&[&["run", "f.toml", "--no-results", "--seeds", "1"], more].concat());
    for (show, says) in [
        ("goodput[nobody]", ["--show:1:1", "there is no flow, group of flows or direction `nobody`"]),
        ("mean(goodput[nobody])", ["--show:1:1", "there is no flow, group of flows or direction `nobody`"]),
        ("drops[nowhere]", ["--show:1:1", "there is no queue `nowhere`"]),
        ("sum(goodput[up] - airtime[nobody])", ["--show:1", "nobody"]),
    ] {
        run(&["--show", show]).with(2).says(&says);
        // What a setting leaves out is not meant by its own call.
        run(&["--show", show, "--set", "wifi.slot=20us"]).with(2).says(&says);
    }
    std::fs::write(bench.path("f.toml"), figure("goodput[nobody]")).unwrap();
    run(&[]).with(2).says(&["f.toml:", "there is no flow, group of flows or direction `nobody`", "help: write one of"]);
}
