//! The results folder, and `contend report`, which rebuilds its page.

use super::{Bench, HOLDS, SMALL, results_files};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_folder_holds_everything_and_is_enough_to_repeat_the_runs() {
    let bench = Bench::with("f.toml", &format!("{SMALL}{HOLDS}"));
    let call = ["run", "f.toml", "--seeds", "3..4", "--set", "ap.queue.limit=20p", "--set", "flow.0.delay== 5ms*k"];
    let first = bench.contend(&[&call[..], &["--format", "json"]].concat()).with(0).object();
    let names: BTreeSet<String> = std::fs::read_dir(bench.path("results/f"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, results_files());

    let run = bench.read("results/f/run.toml");
    let head = format!(
        "# contend {}\n# contend run f.toml --seeds 3..4 --set ap.queue.limit=20p --set 'flow.0.delay== 5ms*k' \
            --format json\n# seeds 3..4\n\
         # --set ap.queue.limit=20p\n# --set flow.0.delay== 5ms*k\n# --set seeds=3..4\n\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(run, format!("{head}{SMALL}{HOLDS}"));
    let summary = bench.json("results/f/summary.json");
    assert_eq!(summary, first, "summary.json is what --format json prints");
    for parquet in ["flows.parquet", "series.parquet"] {
        let bytes = std::fs::read(bench.path("results/f").join(parquet)).unwrap();
        assert!(bytes.len() > 1000 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{parquet}");
    }
    let page = bench.read("results/f/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("Three flows") && page.contains("C1"));

    // The same runs once more, from the folder alone.
    let again = bench.contend(&["run", "results/f/run.toml", "--format", "json"]).with(0).object();
    let digests = |o: &Value| {
        o["runs"].as_array().unwrap().iter().map(|r| (r["seed"].clone(), r["digest"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(digests(&again), digests(&first));
}

#[test]
fn the_papers_are_inside_the_program() {
    let bench = Bench::with("f.toml", SMALL);
    let call = ["reproduce", "starzetz-2006/e11-effective-window", "--short", "--no-results"];
    let reproduced = bench.contend(&call).with(0);
    assert!(reproduced.out.contains("0 differ from what their files record"), "{}", reproduced.out);
    let text = bench.contend(&["new", "starzetz-2006/e11-effective-window"]).with(0).out;
    assert!(text.contains("[[claim]]"), "{text}");
    assert!(bench.contend(&["list", "experiments"]).with(0).out.contains("starzetz-2006/e11-effective-window"));
    let near = bench.contend(&["new", "starzetz-2006/e11-effective-windw"]).with(2).err;
    assert!(near.contains("did you mean `starzetz-2006/e11-effective-window`"), "{near}");
    // A folder that is named or here goes before.
    let named = bench.contend(&["reproduce", "--papers", "nosuch"]).with(2).err;
    assert!(named.contains("no experiment in nosuch") && named.contains("help: name the folder"), "{named}");
    std::fs::create_dir(bench.path("papers")).unwrap();
    bench.contend(&["reproduce", "starzetz-2006"]).with(2);
}

#[test]
fn an_existing_folder_is_renamed_and_never_overwritten() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("results/f/mine.txt", "keep this");
    bench.contend(&["run", "f.toml"]).with(0).says(&["earlier results are now in results/f.1"]);
    bench.contend(&["run", "f.toml", "--seeds", "9"]).with(0).says(&["results/f.2"]);
    assert_eq!(bench.read("results/f.1/mine.txt"), "keep this");
    assert_eq!(bench.json("results/f.2/summary.json")["runs"].as_array().unwrap().len(), 2);
    assert_eq!(bench.json("results/f/summary.json")["runs"][0]["seed"], 9);
}

#[test]
fn a_bad_file_leaves_earlier_results_where_they_are() {
    let bench = Bench::with("f.toml", &SMALL.replace("newreno", "newrneo"));
    bench.file("results/f/mine.txt", "keep this");
    bench.contend(&["run", "f.toml"]).with(2);
    assert_eq!(bench.read("results/f/mine.txt"), "keep this");
    assert!(!bench.path("results/f.1").exists());
}

#[test]
fn out_names_another_place_and_no_results_none() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml", "--no-results"]).with(0);
    assert!(!bench.path("results").exists());
    bench.contend(&["run", "f.toml", "--out", "deep/down"]).with(0);
    assert!(bench.path("deep/down/f/report.html").exists() && !bench.path("results").exists());
}

#[test]
fn a_capture_is_written_when_it_is_asked_for() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml", "--capture", "1s..1.2s"]).with(0);
    let capture = std::fs::read(bench.path("results/f/air.pcapng")).unwrap();
    // The section header block of pcapng, and frames for a fifth of a second.
    assert!(capture.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) && capture.len() > 20_000, "{} bytes", capture.len());
}

#[test]
fn the_call_says_that_a_capture_lacks_frames() {
    let bench = Bench::with("f.toml", SMALL);
    let call = ["run", "f.toml", "--seeds", "1", "--set", "duration=40s", "--capture", "0s..40s"];
    let ended = bench.contend(&call).with(0).says(&["air.pcapng holds the first 100000 of "]);
    let missed = bench.json("results/f/summary.json")["runs"][0]["frames_missed"].as_u64().unwrap();
    let all = format!(" of {} frames", 100_000 + missed);
    assert!(
        missed > 0 && ended.err.contains(&all) && bench.read("results/f/report.html").contains(&all),
        "{}",
        ended.err
    );
}

#[test]
fn report_makes_the_page_again_from_the_folder() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml", "--set", "ap.queue.limit=30p"]).with(0);
    std::fs::remove_file(bench.path("results/f/report.html")).unwrap();
    std::fs::remove_file(bench.path("f.toml")).unwrap();
    let ended = bench.contend(&["report", "results/f"]).with(0);
    assert_eq!(ended.out.trim(), "results/f/report.html");
    let page = bench.read("results/f/report.html");
    assert!(page.contains("Three flows") && page.contains("Congestion window"));
    assert!(bench.contend(&["report", "results/f", "--quiet"]).with(0).out.is_empty());
}

#[test]
fn report_says_that_the_call_of_the_folder_was_interrupted() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml"]).with(0);
    let mut summary = bench.json("results/f/summary.json");
    assert!(summary["interrupted"].is_null());
    summary["runs"].as_array_mut().unwrap().truncate(1);
    summary["interrupted"] = serde_json::json!({"finished": 1, "missing": 1});
    bench.file("results/f/summary.json", summary.to_string());
    bench.contend(&["report", "results/f"]).with(0).says(&["stopped early", "1 of 2 runs"]);
    assert!(!bench.read("results/f/report.html").contains("stopped early"), "the page has all runs");
}

#[test]
fn report_keeps_the_page_if_a_digest_differs() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml"]).with(0);
    let summary = bench.read("results/f/summary.json");
    let digest = bench.json("results/f/summary.json")["runs"][1]["digest"].as_str().unwrap().to_owned();
    bench.file("results/f/summary.json", summary.replace(&digest, "0123456789abcdef"));
    bench.file("results/f/report.html", "the page");
    let ended = bench.contend(&["report", "results/f"]).with(2).says(&[
        "seed 2",
        "another digest",
        "contend run results/f/run.toml",
    ]);
    assert!(ended.out.is_empty());
    assert_eq!(bench.read("results/f/report.html"), "the page");
    bench.file("results/f/summary.json", "{");
    bench.contend(&["report", "results/f"]).with(2).says(&["results/f/summary.json"]);
}

#[test]
fn report_notices_changes_that_leave_the_digests_equal() {
    let bench = Bench::with("f.toml", &SMALL.replace("\"1..2\"", "\"1\""));
    bench.contend(&["run", "f.toml", "--capture", "1s..1.1s"]).with(0);
    let (head, summary) = (bench.read("results/f/run.toml"), bench.read("results/f/summary.json"));
    bench.file("results/f/report.html", "the page");
    let report = |run: String, summary: &str, texts: &[&str]| {
        bench.file("results/f/run.toml", run);
        bench.file("results/f/summary.json", summary);
        let ended = bench.contend(&["report", "results/f"]).with(2).says(texts);
        assert!(ended.out.is_empty() && ended.err.contains("contend run results/f/run.toml --out DIR"));
        assert_eq!(bench.read("results/f/report.html"), "the page");
    };
    let warmup = head.replace("warmup   = \"1s\"", "warmup   = \"1.5s\"");
    report(warmup, &summary, &["the run with seed 1 has ", ", but summary.json has "]);
    let title = head.replace("Three flows", "Four flows");
    report(title, &summary, &["title = \"Four flows\", but summary.json has \"Three flows\""]);
    let seeds = head.replace("seeds    = \"1\"", "seeds    = \"1..2\"");
    report(seeds, &summary, &["run.toml makes 2 runs, but summary.json has 1"]);
    let claim = format!("{head}{}", HOLDS);
    report(claim, &summary, &["claims = [", "summary.json has []"]);
    let (units, runs) = summary.split_once("\"runs\": ").unwrap();
    let number = format!("{units}\"runs\": {}", runs.replacen("\"goodput\": ", "\"goodput\": 7", 1));
    report(head.clone(), &number, &["has flows.0.goodput = ", ", but summary.json has 7"]);
    bench.file("results/f/summary.json", summary);
    bench.contend(&["report", "results/f"]).with(0);
}

#[test]
fn results_of_an_older_form_are_refused_with_the_remedy() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml"]).with(0);
    let old = bench.read("results/f/summary.json").replace("contend/run/2", "contend/run/1");
    bench.file("results/f/summary.json", old);
    let texts = ["contend/run/1", "this version reads contend/run/2", "contend run results/f/run.toml"];
    bench.contend(&["report", "results/f"]).with(2).says(&texts);
    bench.contend(&["compare", "results/f", "results/f"]).with(2).says(&texts);
}

#[test]
fn a_sweep_of_the_call_is_repeated_by_the_folder() {
    let bench = Bench::with("f.toml", SMALL);
    let call = [
        "run",
        "f.toml",
        "--seeds",
        "1",
        "--sweep",
        "ap.queue=fifo,fq_codel",
        "--sweep",
        "flow.0.count=1..2",
        "--format",
        "json",
    ];
    let first = bench.contend(&call).with(0).object();
    let points: Vec<String> = first["runs"].as_array().unwrap().iter().map(|run| run["point"].to_string()).collect();
    assert_eq!(
        points,
        [
            r#"{"ap.queue":"fifo","flow.0.count":1}"#,
            r#"{"ap.queue":"fifo","flow.0.count":2}"#,
            r#"{"ap.queue":"fq_codel","flow.0.count":1}"#,
            r#"{"ap.queue":"fq_codel","flow.0.count":2}"#
        ]
    );
    let repeated = bench.contend(&["run", "results/f/run.toml", "--format", "json"]).with(0).object();
    let digests = |o: &Value| -> Vec<String> {
        o["runs"].as_array().unwrap().iter().map(|run| run["digest"].to_string()).collect()
    };
    assert_eq!(digests(&first), digests(&repeated));
    // An option of the call wins over the folder's.
    let fixed = ["run", "results/f/run.toml", "--sweep", "flow.0.count=2", "--no-results", "--format", "json"];
    assert_eq!(
        digests(&bench.contend(&fixed).with(0).object()),
        [&digests(&first)[1..2], &digests(&first)[3..4]].concat()
    );
    bench
        .contend(&["run", "f.toml", "--sweep", "ap.queue"])
        .with(2)
        .says(&["there is no `=`", "--sweep flow.0.count=1,2,4"]);
    bench.contend(&["run", "f.toml", "--sweep", "x=1"]).with(2).says(&["--sweep:1:1: there is no key `x` (at x = 1)"]);
}

#[test]
fn the_folder_repeats_the_seeds_that_the_results_decided() {
    let claim = "\n[[claim]]\nid = \"close\"\nmetric = \"goodput.up / goodput.down\"\nexpect = { at_least = BOUND }\n";
    // A bound at the mean of two seeds: their interval crosses it.
    let bench = Bench::with("f.toml", &format!("{SMALL}{}", claim.replace("BOUND", "0")));
    let first = bench.contend(&["run", "f.toml", "--no-results", "--format", "json"]).with(0).object();
    let mean = first["claims"][0]["measured"].as_f64().unwrap();
    bench.file("f.toml", format!("{SMALL}{}", claim.replace("BOUND", &format!("{mean:.6}"))));
    let ended = bench.contend(&["run", "f.toml", "--decide=9"]);
    for text in ["n = ", "look ", " of 4: ", "seeds, judged by the 98.33 % interval"] {
        assert!(ended.out.contains(text), "no `{text}` in: {}", ended.out);
    }
    let o = bench.json("results/f/summary.json");
    let n = o["seeds"][0]["n"].as_u64().unwrap();
    assert!([4, 8, 9].contains(&n), "{}", o["seeds"]);
    assert_eq!(
        (o["runs"].as_array().unwrap().len() as u64, &o["claims"][0]["look"]["seeds"]),
        (n, &o["seeds"][0]["n"])
    );
    let head = bench.read("results/f/run.toml");
    assert!(head.contains(&format!("# seeds 1..{n}\n# --set decide=9\n")), "{head}");
    assert!(bench.read("results/f/report.html").contains(&format!("{n} seeds</p>")));
    let again = bench.contend(&["run", "results/f/run.toml", "--no-results", "--format", "json"]).out;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again["seeds"], &again["claims"]), (&o["seeds"], &o["claims"]));
}

#[test]
fn exports_are_folders_and_those_of_time_series_need_samples() {
    let bench = Bench::with("f.toml", SMALL);
    bench.contend(&["run", "f.toml", "--export", "flent,iperf3,perfetto"]).with(0);
    let files = |folder: &str| std::fs::read_dir(bench.path("results/f").join(folder)).unwrap().count();
    let runs = bench.json("results/f/summary.json")["runs"].as_array().unwrap().len();
    assert_eq!((files("flent"), files("iperf3"), files("perfetto")), (runs, runs, 1));
    // An export adds folders and changes nothing else.
    let digest = bench.json("results/f/summary.json")["runs"][0]["digest"].clone();
    bench.contend(&["run", "f.toml", "--export", "perfetto"]).with(0);
    assert_eq!(bench.json("results/f/summary.json")["runs"][0]["digest"], digest);
    bench.file("once.toml", SMALL.replace("sample   = \"100ms\"\n", ""));
    let needs = "--export iperf3 needs a time series, but once.toml does not sample its runs";
    bench.contend(&["run", "once.toml", "--export", "perfetto,iperf3"]).with(2).says(&[needs, "--set sample=100ms"]);
    bench.contend(&["run", "f.toml", "--export", "flnet"]).with(2).says(&["flnet", "'flent'"]);
    bench.contend(&["run", "f.toml", "--export", "flent", "--no-results"]).with(2).says(&["--no-results"]);
    let list = bench.contend(&["list", "formats"]).with(0).out;
    assert!(["flent", "iperf3", "perfetto"].iter().all(|x| list.contains(x)), "{list}");
    let flent = bench.contend(&["explain", "flent"]).with(0).out;
    assert!(flent.contains("contend run FILE --export flent"), "{flent}");
}
