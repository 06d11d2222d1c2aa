//! The estimated memory of results is an upper bound of their measured memory, and writing them takes little more.
//!
//! Each shape is measured in a process of its own. Not in `suite`: such a process runs this whole program, and its
//! memory must be that of this test alone.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../ci/needs.rs"]
mod needs;
#[path = "../../../ci/sample.rs"]
mod sample;

use contend_lab::execute::{Options, execute, memory};
use contend_lab::experiment::results::Outcome;
use contend_lab::reading::file;
use contend_lab::writing::output::{self, ReportContext};

/// Ten downloads and two uploads for five seconds.
const CELL: &str = r#"
duration = "5s"
seeds    = "1..3"
[wifi]
standard = "802.11g"
[[flow]]
count = 10
from  = "server"
to    = "station"
tcp   = "cubic"
start = "uniform(0s, 100ms)"
[[flow]]
count = 2
from  = "station"
to    = "server"
tcp   = "newreno"
"#;
/// A link with flows that have estimators.
const WATCHED: &str = r#"
duration = "20s"
seeds    = "1..2"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
from = "a"
to   = "b"
rate = "2Mbps"
[[flow]]
count    = 8
from     = "a"
to       = "b"
tcp      = { kind = "cubic", timestamps = "1us" }
estimate = ["are", "ts_are", "westwood", "tsw", "csfq"]
"#;

/// Bytes that the line `name` of this process's status says; `None` where there is no such file.
fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let kb: u64 = text.lines().find_map(|l| l.strip_prefix(name)?.trim().strip_suffix("kB")?.trim().parse().ok())?;
    Some(1024 * kb)
}

/// The memory of one shape, in bytes.
#[derive(Clone, Copy)]
struct Taken {
    /// The estimated size of the results.
    estimated: u64,
    /// Growth of the process until the results are complete.
    results: u64,
    /// Largest growth of the process until all files of a results folder are written.
    peak: u64,
}

/// Makes and writes the results of `text`, with `series` and histograms or without; `None` where memory cannot be
/// measured.
fn taken(text: &str, sets: &[(&str, &str)], series: bool) -> Option<Taken> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let e = file::parse("t.toml", text, &sets).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let options = Options { jobs: 1, series, ..Options::default() };
    let before = status("VmRSS:")?;
    let done = execute(&e, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((done.outcome.interrupted, done.notes), (None, vec![]));
    let results = status("VmRSS:")?.saturating_sub(before);
    write(&done.outcome, &ReportContext::of(&e, "contend run t.toml".into()));
    let peak = status("VmHWM:")?.saturating_sub(before);
    Some(Taken { estimated: memory(&e, series).unwrap_or_else(|e| panic!("{e}")), results, peak })
}

/// Writes the files of a results folder for `o`.
fn write(o: &Outcome, context: &ReportContext) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    output::atomically(&path("summary.json"), |w| output::write_json(o, w)).unwrap();
    output::write_flows(o, context, &path("flows.parquet")).unwrap();
    output::write_series(o, context, &path("series.parquet")).unwrap();
    output::atomically(&path("results.csv"), |w| output::write_csv(o, w)).unwrap();
    output::write_report(o, context, &path("report.html")).unwrap();
}

/// A shape: its description, its text, the settings applied to it, and true if it keeps series and histograms.
type Shape = (&'static str, String, Vec<(&'static str, &'static str)>, bool);

fn shapes() -> Vec<Shape> {
    let claim = "\n[[claim]]\nid = \"c\"\npaper = \"p\"\nmetric = \"jain(successes[down], 50)\"\nexpect = { at_least \
        = 0 }\n";
    let cables = "\n[[station]]\nname = \"sta\"\ncount = 20\nclient = \"converter\"\n[[flow]]\ncount = 20\nfrom = \
        \"sta\"\nto = \"server\"\ntcp = \"newreno\"\n";
    let short = |seeds| vec![("sample", "100ms"), ("duration", "300ms"), ("seeds", seeds)];
    let tenths = vec![("sample", "100us"), ("duration", "1500ms"), ("warmup", "0s"), ("seeds", "1..2")];
    let with = |key, value| vec![("sample", "1ms"), (key, value)];
    vec![
        ("series of a cell", CELL.into(), vec![("sample", "1ms")], true),
        ("series of a cell, ten samples a millisecond", CELL.into(), tenths, true),
        ("series of a cell with categories", CELL.into(), with("wifi.access", "edca"), true),
        ("series of a cell with classes", CELL.into(), with("wifi.access", "classes"), true),
        ("series of a cell with control blocks", CELL.into(), with("ap.control", "fcwa"), true),
        ("series of cables", format!("{CELL}{cables}"), vec![("sample", "2ms")], true),
        ("series of estimators", WATCHED.into(), vec![("sample", "1ms")], true),
        ("histograms of many runs", CELL.into(), short("1..120"), true),
        ("numbers of very many runs", CELL.into(), short("1..1000"), false),
        ("series and successes", format!("{CELL}{claim}"), vec![("sample", "2ms"), ("duration", "10s")], true),
    ]
}

/// Names the shape that a separate process measures. Each shape needs its own process, because freed memory stays with
/// the process.
const SHAPE: &str = "CONTEND_MEMORY_SHAPE";

#[test]
fn results_take_at_most_the_estimated_memory() {
    let shapes = shapes();
    if let Ok(shape) = std::env::var(SHAPE) {
        let (_, text, sets, series) = &shapes[shape.parse::<usize>().unwrap()];
        if let Some(Taken { estimated, results, peak }) = taken(text, sets, *series) {
            println!("\nbytes {estimated} {results} {peak}");
        }
        return;
    }
    let program = std::env::current_exe().unwrap();
    let measure =
        |i: usize| std::process::Command::new(&program).arg("--nocapture").env(SHAPE, i.to_string()).output().unwrap();
    // Two at a time: a core each.
    let numbers: Vec<usize> = (0..shapes.len()).step_by(sample::step()).collect();
    let all: Vec<std::process::Output> = numbers
        .chunks(2)
        .flat_map(|pair| {
            std::thread::scope(|s| {
                let started: Vec<_> = pair.iter().map(|i| s.spawn(|| measure(*i))).collect();
                started.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
            })
        })
        .collect();
    for (i, done) in numbers.into_iter().zip(all) {
        let what = shapes[i].0;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&done.stderr));
        let Some(line) = said.lines().find_map(|l| l.strip_prefix("bytes ")) else {
            needs::skip("the peak of memory in /proc/self/status", "estimates of memory");
            return;
        };
        let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        let [estimated, results, peak] = numbers[..] else { panic!("{line}") };
        let kb = |bytes: u64| bytes / 1024;
        println!("{what}: estimated {} kB, results {} kB, peak {} kB", kb(estimated), kb(results), kb(peak));
        assert!(results <= estimated + OVERHEAD, "{what}: estimated {estimated} B, measured {results} B");
        assert!(peak <= estimated + OVERHEAD + WRITING, "{what}: estimated {estimated} B, at most {peak} B");
        assert!(estimated > 20_000_000, "{what}: too small to be measured: {estimated} B");
        assert!(estimated < 4 * results, "{what}: far too large, {estimated} B, measured {results} B");
    }
}

/// Bytes of the program and of a network, which do not depend on the number of results.
const OVERHEAD: u64 = 8_000_000;
/// Additional bytes for writing: a column of a row group of a Parquet file, buffers, and the report.
const WRITING: u64 = 16_000_000;
