//! No result is lost when calls share a folder, are killed, or find the disk full.

use super::{Bench, Ended, SMALL, results_files, sample};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

/// The content of a results folder, without the wall-clock time of the runs.
fn said(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let text = |name: &str| bench.read(&format!("{folder}/{name}"));
    let mut summary = bench.json(&format!("{folder}/summary.json"));
    for run in summary["runs"].as_array_mut().unwrap() {
        run["wall"] = Value::Null;
    }
    let csv: String = text("results.csv").lines().filter(|l| !l.contains(",wall,")).collect();
    let page = text("report.html");
    let (before, rest) = page.split_once(" s of computing").unwrap();
    let page = format!("{}{rest}", before.rsplit_once(' ').unwrap().0);
    let binary = |name: &str| std::fs::read(bench.path(folder).join(name)).unwrap();
    vec![
        ("summary.json".into(), summary.to_string().into_bytes()),
        ("results.csv".into(), csv.into_bytes()),
        ("report.html".into(), page.into_bytes()),
        ("run.toml".into(), text("run.toml").into_bytes()),
        ("flows.parquet".into(), binary("flows.parquet")),
        ("series.parquet".into(), binary("series.parquet")),
    ]
}

#[track_caller]
fn assert_same(a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]) {
    for ((name, a), (_, b)) in a.iter().zip(b) {
        assert!(a == b, "{name} differs");
    }
}

/// Pseudorandom numbers that are the same in every test run.
fn dice(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// A short experiment with everything a journal holds: a sweep, a claim that needs series, histograms and successes. It
/// also has what a journal does not hold: labels of values and rows, and an order of keys that is not that of names.
fn experiment() -> String {
    let claim = |id: &str, metric: &str| {
        format!("\n[[claim]]\nid = \"{id}\"\npaper = \"p\"\nmetric = \"{metric}\"\nexpect = {{ at_least = 0 }}\n")
    };
    SMALL.replace("\"3s\"", "\"2s\"").replace("100ms", "50ms").replace("1..2", "1..12")
        + "\n[sweep]\n\"wifi.slot\" = [\"9us\", \"20us\"]\n\"flow.0.count\" = [1, 2]\n\
            \"ap.queue.limit\" = { values = [\"50p\"], labels = [\"some\"] }\n\
            zip = [{ keys = [\"wifi.slot\", \"flow.0.count\"], name = \"home\", labels = [\"old\", \"new\"] }]\n"
        + &claim("A", "goodput.total[1s..1500ms] / 1Mbps")
        + &claim("B", "rtt.p95[down.1] / 1s")
        + &claim("C", "jain(successes[up], 10)")
}

#[test]
fn a_hundred_calls_at_the_same_time_leave_a_hundred_complete_folders() {
    let bench = Bench::with("f.toml", SMALL);
    let call = |seed: usize| {
        Command::new(assert_cmd::cargo::cargo_bin!("contend"))
            .args(["run", "f.toml", "--quiet", "--jobs", "1", "--set", "duration=1500ms", "--seeds", &seed.to_string()])
            .current_dir(bench.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for child in (1..=100).map(call).collect::<Vec<_>>() {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let folders = names(&bench.path("results"));
    let want: BTreeSet<String> = std::iter::once("f".into()).chain((1..100).map(|i| format!("f.{i}"))).collect();
    assert_eq!(folders, want);
    let mut seeds = BTreeSet::new();
    for folder in &folders {
        let path = bench.path("results").join(folder);
        assert_eq!(names(&path), results_files(), "{folder}");
        let runs = bench.json(&format!("results/{folder}/summary.json"))["runs"].clone();
        let seed = runs[0]["seed"].as_u64().unwrap();
        assert_eq!(runs.as_array().unwrap().len(), 1);
        for file in ["run.toml", "report.html"] {
            assert!(bench.read(&format!("results/{folder}/{file}")).contains(&format!("--seeds {seed}")), "{folder}");
        }
        let flows = std::fs::read(path.join("flows.parquet")).unwrap();
        let command = format!("--seeds {seed}");
        assert!(flows.windows(command.len()).any(|w| w == command.as_bytes()), "{folder}");
        seeds.insert(seed);
    }
    assert_eq!(seeds, (1..=100).collect());
}

#[test]
fn what_a_killed_call_left_without_a_run_is_taken_by_the_next_call() {
    let bench = Bench::with("f.toml", SMALL);
    let run = |folders: &[&str]| {
        bench.contend(&["run", "f.toml", "--seeds", "1", "--quiet"]).with(0);
        assert_eq!(names(&bench.path("results")), folders.iter().map(ToString::to_string).collect());
    };
    let journal = "results/f.unfinished-1/journal.jsonl";
    std::fs::create_dir_all(bench.path("results/f.unfinished-1")).unwrap();
    run(&["f"]);
    bench.file(journal, "");
    run(&["f", "f.1"]);
    bench.file(journal, "[{\"schema\": \"cut");
    run(&["f", "f.1", "f.2"]);
    bench.file(journal, "[{},2,\"header\"]\n[{\"point\": \"cut");
    run(&["f", "f.1", "f.2", "f.3"]);
    // A journal with a run stays, and so does a folder with anything else.
    let two = "[{},2,\"header\"]\n[{},2,\"run\"]\n";
    bench.file(journal, two);
    bench.file("results/f.unfinished-2/mine.txt", "mine");
    run(&["f", "f.1", "f.2", "f.3", "f.4", "f.unfinished-1", "f.unfinished-2"]);
    assert_eq!((bench.read(journal).as_str(), bench.read("results/f.unfinished-2/mine.txt").as_str()), (two, "mine"));
}

/// Calls contend and kills it after this time. Returns the exit status if contend ended earlier.
pub(crate) fn killed(bench: &Bench, args: &[&str], after: Duration) -> Option<i32> {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(args)
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap().code()
}

#[test]
fn a_call_killed_a_hundred_times_has_the_results_of_an_undisturbed_call() {
    let bench = Bench::with("f.toml", &experiment());
    bench.file("calm/f.toml", experiment());
    super::call(&bench.path("calm"), &["run", "f.toml", "--jobs", "1"]).with(0);
    let calm = said(&bench, "calm/results/f");
    let (mut state, mut kills, mut rounds) = (1, 0, 0);
    while kills < (100 / sample::step()).max(10) {
        // The time grows from call to call, so that a slow machine also finishes.
        for most in 100.. {
            let after = Duration::from_micros(dice(&mut state) % (1000 * most));
            match killed(&bench, &["run", "f.toml", "--jobs", "1", "--resume"], after) {
                None => kills += 1,
                Some(status) => {
                    assert_eq!(status, 0);
                    break;
                }
            }
        }
        rounds += 1;
        assert_eq!(names(&bench.path("results/f")), results_files());
        let mut resumed = said(&bench, "results/f");
        // The files of the results contain the command line of the first call.
        for (_, bytes) in &mut resumed {
            if let Ok(text) = std::str::from_utf8(bytes) {
                *bytes = text.replace(" --resume", "").into_bytes();
            }
        }
        assert_same(&resumed[..4], &calm[..4]);
        std::fs::remove_dir_all(bench.path("results")).unwrap();
    }
    assert!(rounds < kills, "{rounds} rounds, {kills} kills: every second call was killed at least");
}

/// What the numbers of a results folder are, whatever the file was called.
fn numbers(bench: &Bench, folder: &str) -> Value {
    let mut summary = bench.json(&format!("{folder}/summary.json"));
    summary["file"] = Value::Null;
    for run in summary["runs"].as_array_mut().unwrap() {
        run["wall"] = Value::Null;
    }
    summary
}

#[test]
fn shards_give_the_results_of_one_call_also_after_a_kill() {
    let bench = Bench::with("f.toml", &experiment());
    bench.contend(&["run", "f.toml", "--out", "calm"]).with(0);
    // The first shard is killed again and again. The time grows until a call is through.
    let first = ["run", "f.toml", "--shard", "1/3", "--jobs", "1", "--resume"];
    let kills = (0..).take_while(|i| killed(&bench, &first, Duration::from_millis(10 * i)).is_none()).count();
    assert!(kills > 1, "{kills}");
    bench.contend(&["run", "f.toml", "--shard", "2/3"]).with(0).says(&["8 runs, part 2 of 3"]);
    // What is complete stays as it is.
    bench.contend(&["run", "f.toml", "--shard", "2/3", "--resume"]).with(0);
    // A call that was killed before its journal began leaves a folder with nothing in it.
    let begun = |folder: &String| {
        let mut files = std::fs::read_dir(bench.path("results").join(folder)).unwrap();
        files.any(|file| file.unwrap().metadata().unwrap().len() > 0)
    };
    assert_eq!(names(&bench.path("results")).iter().filter(|folder| begun(folder)).count(), 2);
    let merge = |more: &[&str]| {
        let shards = ["results/f.shard-1-of-3", "results/f.shard-2-of-3", "results/f.shard-3-of-3"];
        let there = shards.into_iter().filter(|s| bench.path(s).exists());
        bench.contend(&["merge"].into_iter().chain(there).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    merge(&[]).with(2).says(&["8 of 24 runs are missing: those of --shard 3/3", "--complete"]);
    assert!(!bench.path("results/f").exists());
    merge(&["--complete"]).with(0);
    assert_eq!(numbers(&bench, "results/f"), numbers(&bench, "calm/f"));
    bench.contend(&["run", "f.toml", "--shard", "3/3"]).with(0);
    merge(&["--out", "all"]).with(0);
    assert_eq!(numbers(&bench, "all/f"), numbers(&bench, "calm/f"));
    // Columns and labels of rows too, also where the shards were resumed.
    let csv = |folder: &str| said(&bench, folder).swap_remove(1);
    assert_same(&[csv("results/f"), csv("all/f")], &[csv("calm/f"), csv("calm/f")]);
    let head = bench.read("calm/f/results.csv").lines().find(|l| l.contains("wifi.slot")).map(str::to_owned);
    assert!(head.is_some_and(|l| l.find("wifi.slot") < l.find("ap.queue.limit")), "the order of the file");
    let page = |folder: &str| bench.read(&format!("{folder}/report.html")).matches("home = new").count();
    assert!(page("calm/f") > 0 && [page("results/f"), page("all/f")] == [page("calm/f"); 2]);
    // A shard of another call does not fit, and what is no shard is named.
    bench.contend(&["run", "f.toml", "--shard", "1/3", "--seeds", "1..4", "--out", "other"]).with(0);
    merge(&["other/f.shard-1-of-3"]).with(2).says(&["--set, --sweep, --seeds or --decide differs"]);
    merge(&["calm/f"]).with(2).says(&["calm/f has no runs"]);
}

/// A claim that the first seeds leave undecided: one, two and three stations carry nearly the same.
const NEAR: &str = r#"
title = "Near"
duration = "2s"
warmup = "500ms"
seeds = "1..5"
decide = 40
[wifi]
standard = "802.11g"
rate = "54Mbps"
basic = "6Mbps"
[[flow]]
name = "page"
from = "server"
to = "station"
tcp = "reno"
delay = "10ms"
[sweep]
"flow.0.count" = [1, 2, 3]
[[claim]]
id = "c"
paper = "p"
metric = "goodput.page"
over = { "flow.0.count" = 1 }
expect = { at_least = 1 }
"#;

#[test]
fn more_seeds_for_what_is_undecided_come_with_the_merge() {
    let bench = Bench::with("f.toml", NEAR);
    bench.contend(&["run", "f.toml", "--out", "calm"]);
    bench.contend(&["run", "f.toml", "--shard", "1/2"]).with(0);
    bench.contend(&["run", "f.toml", "--shard", "2/2"]).with(0);
    bench.contend(&["merge", "results/f.shard-1-of-2", "results/f.shard-2-of-2"]);
    let (calm, merged) = (numbers(&bench, "calm/f"), numbers(&bench, "results/f"));
    assert!(calm["runs"].as_array().unwrap().len() > 15, "the claim is decided with the first seeds");
    assert_eq!(merged, calm);
}

#[test]
fn reproduce_resumes_after_a_kill_without_repeating_finished_runs() {
    let bench = Bench::with("papers/p/a.toml", &experiment());
    bench.file("papers/p/b.toml", experiment().replace("1..12", "1..100"));
    let in_b = || bench.path("results/p/a/journal.jsonl").exists() && !bench.path("results/p/b").exists();
    // The time grows until the kill comes during the second experiment.
    let after = (1..).map(|i| Duration::from_millis(20 * i));
    for after in after {
        if bench.path("results").exists() {
            std::fs::remove_dir_all(bench.path("results")).unwrap();
        }
        let ended = killed(&bench, &["reproduce", "--jobs", "1"], after);
        assert_eq!(ended, None, "the call was through before the kill");
        if in_b() {
            break;
        }
    }
    let before = bench.json("results/p/a/summary.json");
    bench.contend(&["reproduce", "--jobs", "1", "--resume"]).with(0);
    // The wall-clock time of each run is that of the earlier call: the run was not repeated.
    assert_eq!(bench.json("results/p/a/summary.json")["runs"], before["runs"]);
    for folder in ["results/p/a", "results/p/b"] {
        assert_eq!(names(&bench.path(folder)), results_files(), "{folder}");
    }
    assert_eq!(bench.json("results/p/b/summary.json")["runs"].as_array().unwrap().len(), 200);
}

#[test]
fn only_the_same_call_resumes_the_runs_of_a_killed_call() {
    let bench = Bench::with("f.toml", &experiment());
    bench.contend(&["run", "f.toml", "--jobs", "1"]).with(0);
    let calm = said(&bench, "results/f");
    std::fs::remove_dir_all(bench.path("results")).unwrap();
    let left = bench.path("results/f.unfinished-1");
    for after in (0..).map(|i| Duration::from_millis(20 * i)) {
        match killed(&bench, &["run", "f.toml", "--jobs", "1"], after) {
            None if left.join("journal.jsonl").metadata().is_ok_and(|m| m.len() > 200_000) => break,
            status => assert!(status.is_none_or(|s| s == 0), "{status:?}"),
        }
        let _ = std::fs::remove_dir_all(bench.path("results"));
    }
    // A torn line at its end is dropped.
    let journal = std::fs::read(left.join("journal.jsonl")).unwrap();
    std::fs::write(left.join("journal.jsonl"), &journal[..journal.len() - 9]).unwrap();

    for other in [&["--seeds", "1..3"][..], &["--set", "wifi.slot=20us"], &["--capture", "1s..1.1s"]] {
        let ended = bench.contend(&[&["run", "f.toml", "--resume"], other].concat()).with(2);
        ended.says(&["f.unfinished-1 has", "differs in this call", other[0], "help: "]);
    }
    let plain = bench.contend(&["run", "f.toml", "--seeds", "1", "--no-results"]).with(0);
    assert!(!plain.err.contains("--resume"), "{}", plain.err);
    bench.file("results/f/mine.txt", "kept");
    bench.contend(&["run", "f.toml", "--jobs", "1", "--resume"]).with(0).says(&["results/f.1"]);
    assert_eq!(names(&bench.path("results")), ["f", "f.1"].map(String::from).into());
    assert_same(&said(&bench, "results/f"), &calm);
    bench.contend(&["run", "f.toml", "--seeds", "1", "--resume"]).with(0).says(&["nothing to resume"]);
}

#[test]
fn a_call_that_was_stopped_is_resumed_too() {
    let bench = Bench::with("f.toml", &experiment().replace("1..12", "1..200"));
    let mut waits = (1..100).map(|i| Duration::from_millis(50 * i));
    while !bench.path("results/f/journal.jsonl").exists() {
        let _ = std::fs::remove_dir_all(bench.path("results"));
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
            .args(["run", "f.toml"])
            .current_dir(bench.path(""))
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(waits.next().expect("a call that is stopped while it runs"));
        super::signal("-INT", child.id());
        child.wait().unwrap();
    }
    let done = bench.json("results/f/summary.json")["interrupted"]["finished"].as_u64().unwrap();
    assert!(done > 0);
    let calls = |b: &Bench| b.contend(&["run", "f.toml", "--resume"]).with(0).says(&["results/f.1"]);
    calls(&bench);
    let summary = bench.json("results/f/summary.json");
    assert_eq!((summary["runs"].as_array().unwrap().len(), &summary["interrupted"]), (400, &Value::Null));
    assert_eq!(names(&bench.path("results/f")), results_files());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_the_first_run_and_nothing_moves() {
    let bench = Bench::with("f.toml", SMALL);
    bench.file("results", "a file");
    let ended = bench.contend(&["run", "f.toml", "--set", "duration=100000s"]).with(2).says(&["help: ", "--out"]);
    assert!(ended.out.is_empty());
    assert_eq!(bench.read("results"), "a file");
    // If one of several files is refused, none is run.
    bench.file("ok/g.toml", SMALL);
    bench.file("out/g/mine.txt", "kept");
    let long = "x".repeat(300);
    bench.file(&format!("{}.toml", &long[..200]), SMALL);
    let ended = bench.contend(&["run", "ok/g.toml", "f.toml", "--out", &format!("out/{long}")]).with(2);
    assert!(ended.out.is_empty(), "{}", ended.out);
    assert_eq!(names(&bench.path("out")), ["g"].map(String::from).into());
}

#[cfg(target_os = "linux")]
const FULL: &str = "what a full disk leaves";

/// Runs `script` in a mount namespace of its own with a small file system at `full`; `None` where that is not allowed.
#[cfg(target_os = "linux")]
fn on_small_disk(bench: &Bench, size: &str, script: &str) -> Option<Ended> {
    if super::needs::without(&["unshare", "mount"], FULL) {
        return None;
    }
    std::fs::create_dir_all(bench.path("full")).unwrap();
    let script = format!("mount -t tmpfs -o size={size} none full || exit 99\n{script}");
    let contend = assert_cmd::cargo::cargo_bin!("contend");
    let ended = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-c", &script])
        .env("CONTEND", contend)
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ended = Ended { status: ended.status.code(), out: text(&ended.stdout), err: text(&ended.stderr) };
    if ended.status == Some(99) || ended.err.starts_with("unshare:") {
        super::needs::skip(&format!("a mount namespace ({})", ended.err.trim()), FULL);
        return None;
    }
    Some(ended)
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_the_numbers_are_printed_and_the_runs_are_resumed_when_there_is_room() {
    let bench = Bench::with("f.toml", &experiment());
    bench.contend(&["run", "f.toml", "--jobs", "1"]).with(0);
    let calm = said(&bench, "results/f");
    let runs = |out: &str| serde_json::from_str::<Value>(out).unwrap()["runs"].as_array().unwrap().len();
    // The file system has room for a few runs at first, and at last for all runs but not for the results.
    for (size, all) in [("64k", false), ("300k", false), ("600k", false)] {
        let script = "mkdir full/f; echo kept > full/f/mine.txt
            $CONTEND run f.toml --jobs 1 --out full --format json; s=$?
            test -f full/f/mine.txt || exit 98
            test ! -e full/f.1 || exit 97
            mount -o remount,size=100m full
            $CONTEND run f.toml --jobs 1 --out full --resume --quiet > second || exit 96
            test $(ls full | wc -l) = 2 || exit 95
            test -f full/f.1/mine.txt || exit 94
            cp -r full/f resumed
            exit $s";
        let Some(ended) = on_small_disk(&bench, size, script) else { return };
        let ended = ended.with(2).says(&["finished runs are kept in full/f.unfinished-1", "--resume"]);
        let printed = runs(&ended.out);
        assert!(printed > 0 && (printed == 24) >= all, "{size}: {printed} runs");
        let out = |files: Vec<(String, Vec<u8>)>| {
            let plain = |(name, bytes): (String, Vec<u8>)| {
                let text = String::from_utf8_lossy(&bytes).replace(" --out full --format json", "");
                (name, text.into_bytes())
            };
            files.into_iter().take(4).map(plain).collect::<Vec<_>>()
        };
        assert_same(&out(said(&bench, "resumed")), &calm[..4]);
        std::fs::remove_dir_all(bench.path("resumed")).unwrap();
    }
}
