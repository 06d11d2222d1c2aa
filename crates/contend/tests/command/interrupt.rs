//! After Ctrl-C the command ends soon, keeps the finished runs, and has exit status 130.

use super::{Bench, FAILS, HOLDS, SMALL};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Calls contend in the bench's folder, waits until it runs, and interrupts it. Returns its status and output, and the
/// time from the interrupt to the end.
fn interrupted(bench: &Bench, args: &[&str], after: Duration) -> (super::Ended, Duration) {
    let child: Child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(args)
        .current_dir(bench.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    super::signal("-INT", child.id());
    #[allow(clippy::disallowed_methods, reason = "how long a user waits")]
    let start = std::time::Instant::now();
    let output = child.wait_with_output().unwrap();
    let text = |b: &[u8]| String::from_utf8(b.to_vec()).unwrap();
    (
        super::Ended { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) },
        start.elapsed(),
    )
}

#[test]
fn finished_runs_are_printed_and_kept() {
    // Each run takes some milliseconds; all of them would take minutes.
    let bench = Bench::with("many.toml", SMALL);
    bench.file("next.toml", SMALL);
    let args = [
        "run",
        "many.toml",
        "next.toml",
        "--seeds",
        "1..60000",
        "--jobs",
        "1",
        "--format",
        "json",
        "--set",
        "sample=1s",
    ];
    let (ended, took) = interrupted(&bench, &args, Duration::from_secs(2));
    let ended = ended.with(130).says(&["stopping", "stopped early", "runs are missing"]);
    assert!(took < Duration::from_secs(60), "{took:?}");
    // One object: the second file was not begun.
    let o = ended.object();
    let seeds: Vec<u64> = o["runs"].as_array().unwrap().iter().map(|r| r["seed"].as_u64().unwrap()).collect();
    assert!(!seeds.is_empty() && seeds.len() < 60_000, "{} runs", seeds.len());
    let kept: Value = bench.json("results/many/summary.json");
    assert_eq!(kept["runs"].as_array().unwrap().len(), seeds.len());
    let (finished, missing) =
        (kept["interrupted"]["finished"].as_u64().unwrap(), kept["interrupted"]["missing"].as_u64().unwrap());
    assert_eq!((finished, finished + missing, &o["interrupted"]), (seeds.len() as u64, 60_000, &kept["interrupted"]));
    assert!(bench.read("results/many/report.html").contains(&format!("stopped early: {finished} of 60000 runs")));
    assert!(!bench.path("results/next").exists());
    assert!(bench.read("results/many/run.toml").contains("# stopped early: "));
}

#[test]
fn a_single_long_run_ends_soon_and_earlier_results_stay() {
    let bench = Bench::with("long.toml", SMALL);
    bench.file("results/long/mine.txt", "keep this");
    let (ended, took) =
        interrupted(&bench, &["run", "long.toml", "--seeds", "1", "--set", "duration=900000s"], Duration::from_secs(1));
    let ended = ended.with(130).says(&["no results are written"]);
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(ended.out.contains("no run finished"), "{}", ended.out);
    assert_eq!(bench.read("results/long/mine.txt"), "keep this");
    assert!(!bench.path("results/long.1").exists());
}

#[test]
fn the_networks_of_a_large_sweep_are_built_no_further() {
    let bench = Bench::with("wide.toml", SMALL);
    // All points together have millions of flows.
    let args = ["run", "wide.toml", "--seeds", "1", "--sweep", "flow.0.count=1..3000"];
    let (ended, took) = interrupted(&bench, &args, Duration::from_secs(1));
    ended.with(130).says(&["stopped before the first run"]);
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(!bench.path("results").exists());
}

#[test]
fn a_stopped_reproduction_counts_what_is_complete_and_names_the_rest() {
    let bench = Bench::with("papers/p/a.toml", &format!("{SMALL}{HOLDS}"));
    // The runs of the second would take minutes, and those of the others are never begun.
    let long = SMALL.replace("seeds    = \"1..2\"", "seeds    = \"1..60000\"");
    bench.file("papers/p/b.toml", format!("{long}{FAILS}"));
    bench.file("papers/p/c.toml", format!("{SMALL}{FAILS}"));
    bench.file("papers/q/d.toml", format!("{SMALL}{FAILS}"));
    let args = ["reproduce", "--jobs", "1", "--markdown", "verdicts.md"];
    let (ended, _) = interrupted(&bench, &args, Duration::from_secs(3));
    let ended = ended.with(130).says(&[
        "stopped early: 3 of 4 experiments are not judged: p/b (",
        "of 60000 runs are finished), p/c, q/d; --resume makes what is missing; verdicts.md is not written",
    ]);
    assert!(ended.out.contains("1 experiment, 1 statements of the paper; 1 reproduced; 0 differ"), "{}", ended.out);
    assert!(!ended.out.contains("C2"), "{}", ended.out);
    let there = ["p/a/report.html", "p/b/report.html", "p/report.html", "p/c", "q"];
    assert_eq!(there.map(|name| bench.path("results").join(name).exists()), [true, true, false, false, false]);
    assert!(!bench.path("verdicts.md").exists());

    // Stopped before the first run, it leaves nothing.
    let long = SMALL.replace("\"3s\"", "\"900000s\"");
    let bench = Bench::with("papers/p/a.toml", &format!("{long}{HOLDS}"));
    let (ended, _) = interrupted(&bench, &["reproduce"], Duration::from_secs(1));
    ended.with(130).says(&["1 of 1 experiments are not judged: p/a;"]);
    assert!(!bench.path("results").exists());
}

#[test]
fn a_search_keeps_the_runs_before_it() {
    let search = "\n[search]\nkey = \"wifi.cwmin\"\nfrom = \"1\"\nto = \"1000\"\nuntil = \"goodput.total > 500Mbps\"\n";
    let search = search.replace("\"1\"", "1").replace("\"1000\"", "1000");
    let text =
        SMALL.replace("seeds    = \"1..2\"", "seeds    = \"1\"").replace("duration = \"3s\"", "duration = \"3000s\"");
    let bench = Bench::with("s.toml", &format!("{text}{search}"));
    let (ended, _) = interrupted(
        &bench,
        &["run", "s.toml", "--jobs", "1", "--format", "json", "--no-results"],
        Duration::from_secs(1),
    );
    // It depends on the machine whether the plain run was finished by then. In both cases the results have the finished
    // runs only.
    let o = ended.with(130).object();
    assert!(o["search"].as_array().unwrap().is_empty() && o["runs"].as_array().unwrap().len() <= 1);
}

#[test]
fn a_watched_file_is_run_again_when_it_is_saved_until_ctrl_c() {
    use std::io::{BufRead, BufReader};
    let bench = Bench::with("f.toml", SMALL);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(["watch", "f.toml", "--seeds", "1"])
        .current_dir(bench.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    // The next line that has this text; the program ends if it never comes, and so does the test.
    let mut until = |text: &str| said.find(|line| line.contains(text)).unwrap_or_else(|| panic!("no `{text}`"));
    until("waiting for f.toml to be saved");
    // As editors do: in one step.
    let save = |text: String| {
        bench.file("new", text);
        std::fs::rename(bench.path("new"), bench.path("f.toml")).unwrap();
    };
    save(SMALL.replace("seeds", "sedes"));
    until("there is no key `sedes`");
    until("waiting for f.toml to be saved");
    save(format!("{SMALL}# saved\n"));
    until("waiting for f.toml to be saved");
    super::signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    let tables = String::from_utf8(output.stdout).unwrap().matches("goodput.down").count();
    assert_eq!((output.status.code(), tables), (Some(0), 2));
    assert!(!bench.path("results").exists());
}
