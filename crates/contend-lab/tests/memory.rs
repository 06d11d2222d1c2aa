//! The estimate of the memory that results take is an upper bound of what they are measured to take.
//!
//! Each shape is measured in a program of its own.
#![allow(clippy::unwrap_used, clippy::panic)]

use contend_lab::execute::{Options, execute, memory};
use contend_lab::reading::file;
use std::sync::atomic::AtomicBool;

/// Ten downloads and two uploads for five seconds.
const CELL: &str = r#"
duration = "5s"
seeds    = "1..6"
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
/// A link with flows that are watched by estimators.
const WATCHED: &str = r#"
duration = "20s"
seeds    = "1..4"
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

/// Kilobytes that the line `name` of this process's status says; `None` where there is no such file.
fn status_kb(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|l| l.strip_prefix(name)?.trim().strip_suffix("kB")?.trim().parse().ok())
}

/// Bytes that the results of `text` are estimated to take, and those by which the process has grown while they are
/// there.
fn estimated_and_measured(text: &str, sets: &[(&str, &str)]) -> Option<(u64, u64)> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let e = file::parse("t.toml", text, &sets).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let stop = AtomicBool::new(false);
    let options = Options { jobs: 1, series: true, capture: None, journal: None, stop: &stop, progress: &|_, _| {} };
    let before = status_kb("VmRSS:")?;
    let done = execute(&e, &options).unwrap_or_else(|e| panic!("{e}"));
    let after = status_kb("VmRSS:")?;
    assert_eq!((done.outcome.interrupted, done.notes), (None, vec![]));
    Some((memory(&e, true).unwrap_or_else(|e| panic!("{e}")), 1024 * after.saturating_sub(before)))
}

/// What a shape is, its text, and what is laid over it.
type Shape = (&'static str, String, Vec<(&'static str, &'static str)>);

fn shapes() -> Vec<Shape> {
    let claim = "\n[[claim]]\nid = \"c\"\npaper = \"p\"\nmetric = \"jain(successes[down], 50)\"\nexpect = { at_least \
        = 0 }\n";
    let many = vec![("sample", "100ms"), ("duration", "300ms"), ("seeds", "1..300")];
    vec![
        ("series of a cell", CELL.into(), vec![("sample", "1ms")]),
        ("series of a cell with categories", CELL.into(), vec![("sample", "1ms"), ("wifi.access", "edca")]),
        ("series of estimators", WATCHED.into(), vec![("sample", "1ms")]),
        ("histograms of many runs", CELL.into(), many),
        ("series and successes", format!("{CELL}{claim}"), vec![("sample", "2ms"), ("duration", "10s")]),
    ]
}

/// Says in a program of its own which shape it measures: memory that was let go stays with the program.
const SHAPE: &str = "CONTEND_MEMORY_SHAPE";

#[test]
fn results_take_no_more_memory_than_is_estimated() {
    let shapes = shapes();
    if let Ok(shape) = std::env::var(SHAPE) {
        let (_, text, sets) = &shapes[shape.parse::<usize>().unwrap()];
        if let Some((estimated, measured)) = estimated_and_measured(text, sets) {
            println!("\nbytes {estimated} {measured}");
        }
        return;
    }
    for (i, (what, ..)) in shapes.iter().enumerate() {
        let program = std::env::current_exe().unwrap();
        let done = std::process::Command::new(program).arg("--nocapture").env(SHAPE, i.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&done.stderr));
        let Some(line) = said.lines().find_map(|l| l.strip_prefix("bytes ")) else {
            eprintln!("memory cannot be measured here");
            return;
        };
        let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        let [estimated, measured] = numbers[..] else { panic!("{line}") };
        println!("{what}: estimated {} kB, measured {} kB", estimated / 1024, measured / 1024);
        assert!(measured <= estimated + OVERHEAD, "{what}: estimated {estimated} B, measured {measured} B");
        assert!(estimated > 20_000_000, "{what}: too small to be measured: {estimated} B");
        assert!(estimated < 4 * measured, "{what}: far too large, {estimated} B, measured {measured} B");
    }
}

/// Bytes that a network and the program take once, however many results there are.
const OVERHEAD: u64 = 8_000_000;
