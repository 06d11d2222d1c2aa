//! Reading and running any text as an experiment file gives numbers or an error with a message. No text causes a panic
//! or a run without end.
//!
//! The texts are generated networks with lines dropped, doubled, spliced in from other networks, and given other
//! values. A case depends on its number only. `CONTEND_FUZZ_CASES=100000 cargo test --release --test suite run_fuzz`
//! runs more cases than CI does; `CONTEND_FUZZ_FIRST=5000` begins at another number. The text of a single case is
//! printed.

#[allow(dead_code)]
#[path = "../golden/generate/mod.rs"]
mod generate;
#[path = "../../../../ci/sample.rs"]
mod sample;

use contend_core::Span;
use contend_lab::execute::{Error, Options, execute};
use contend_lab::experiment::results::Outcome;
use contend_lab::reading::file::{self, Experiment, FileError};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Cases in CI.
const CASES: u64 = 12_000;
/// A case that would last longer in simulated time is read, but not run.
const LONGEST_RUN: Span = Span::from_secs(1);
/// A case with more runs is read, but not run.
const MOST_RUNS: usize = 4;
/// A case that takes longer than this many seconds is stopped as by Ctrl-C. One that then goes on for as long again is
/// a run without end.
const PATIENCE: u32 = 120;
/// When the process has more memory than this in bytes, the cases in work are stopped.
const MOST_MEMORY: u64 = 3 << 30;
// A case that is stopped is no fault: 255 flows of 11 Mb/s in packets of 1 B over a wire of 100 ms have a hundred
// million packets in flight, and three flows of 1 Gb/s send as many in 300 ms. Their numbers are printed.

/// Values at the ends of the ranges of keys, by the unit of the value.
const EDGES: &[(&str, &[&str])] = &[
    ("bps", &["1bps", "1kbps", "1Mbps", "11Mbps", "54Mbps", "1Gbps", "0bps"]),
    ("s", &["0s", "1ns", "1us", "99us", "1ms", "37ms", "300ms"]),
    ("B", &["0B", "1B", "29B", "41B", "600B", "2268B", "2296B", "65535B"]),
    ("p", &["0p", "1p", "2p", "7p", "1000000p"]),
    ("%", &["0%", "1%", "50%", "100%"]),
];
/// Numbers without a unit.
const NUMBERS: &[&str] = &["0", "1", "2", "3", "7", "255", "-1", "0.5", "1e-9"];
/// Values of other kinds, for any key.
const WILD: &[&str] = &["true", "[]", "{}", "\"none\"", "\"station\"", "\"= k\"", "\"infinite\"", "\"\"", "1979-05-27"];

/// The text of a case.
fn case(number: u64) -> String {
    let d = &mut generate::Draws(number.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(3));
    let network = |d: &mut generate::Draws| generate::network(d.below(generate::NETWORKS as usize) as u64);
    let text = network(d);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + d.below(6) {
        let at = d.below(lines.len());
        match d.below(20) {
            0..11 => lines[at] = other_value(d, &lines[at]),
            11..16 => {
                // The line of the same key in another network.
                let donor = network(d);
                let key = lines[at].split_inclusive(" = ").next().unwrap_or_default();
                let line = donor.lines().find(|l| l.starts_with(key)).map(str::to_owned);
                lines[at] = line.unwrap_or_else(|| lines[at].clone());
            }
            16 | 17 => {
                if !lines[at].starts_with('[') {
                    lines.remove(at);
                }
            }
            18 => lines.insert(at, lines[d.below(lines.len())].clone()),
            _ => {
                if let Some((key, _)) = lines[at].split_once(" = ") {
                    lines[at] = format!("{key} = {}", d.pick(WILD));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

/// `line` with another value of the same kind in place of one of its values.
fn other_value(d: &mut generate::Draws, line: &str) -> String {
    let Some((key, value)) = line.split_once(" = ") else { return line.to_owned() };
    // Every second part of what the quotes divide is a string; numbers stand in the others, between spaces or brackets.
    let mut parts: Vec<String> = value.split('"').map(str::to_owned).collect();
    let at = d.below(parts.len());
    if at % 2 == 1 {
        let digit = parts[at].starts_with(|c: char| c.is_ascii_digit());
        if let Some((_, values)) = EDGES.iter().find(|(unit, _)| digit && parts[at].ends_with(unit)) {
            parts[at] = d.pick(values).to_owned();
        }
    } else {
        let words: Vec<String> = parts[at]
            .split_inclusive([' ', '[', ',', ']'])
            .map(|word| {
                let bare = word.trim_end_matches([' ', '[', ',', ']']);
                match bare.parse::<f64>() {
                    Ok(_) => word.replace(bare, d.pick(NUMBERS)),
                    Err(_) => word.to_owned(),
                }
            })
            .collect();
        parts[at] = words.concat();
    }
    format!("{key} = {}", parts.join("\""))
}

/// Returns true if the text was valid and was run. `stop` ends the run.
fn survives(text: &str, stop: &AtomicBool) -> bool {
    let is_short = |e: &Experiment| e.duration <= LONGEST_RUN && e.points.len() * e.seeds.len() <= MOST_RUNS;
    read(text).filter(is_short).and_then(|e| outcome(&e, stop)).is_some()
}

/// The experiment of a text; `None` if it is refused. Checks that the error has a message.
pub(super) fn read(text: &str) -> Option<Experiment> {
    let refused = |e: FileError| assert!(!e.render(false).is_empty() && !e.render(true).is_empty());
    file::parse("case.toml", text, &[("sample".into(), "10ms".into())]).map_err(refused).ok()
}

/// What an experiment gives; `None` if it cannot be run, or has a run without a digest. Checks that an error has a
/// message. `stop` ends the run.
pub(super) fn outcome(e: &Experiment, stop: &AtomicBool) -> Option<Outcome> {
    let refused = |e: Error| assert!(!e.to_string().is_empty());
    let done = execute(e, &Options { jobs: 1, series: true, stop, ..Options::default() }).map_err(refused).ok()?;
    Some(done.outcome).filter(|o| o.runs.iter().all(|r| r.digest.len() == 16))
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |n| n.parse().unwrap_or_else(|e| panic!("{variable}: {e}")))
}

/// The memory of this process in bytes, where Linux tells.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|s| s.split(' ').nth(1)?.parse().ok());
    pages.unwrap_or(0) * 4096
}

/// A thread that works on cases.
#[derive(Default)]
struct Worker {
    /// The number of its case.
    at: AtomicU64,
    /// Set to stop its case.
    stop: AtomicBool,
}

#[test]
fn mutated_networks_are_refused_or_run() {
    let (first, cases) = (number("CONTEND_FUZZ_FIRST", 0), number("CONTEND_FUZZ_CASES", CASES / sample::step() as u64));
    let (next, ran, stopped) = (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let workers: Vec<Worker> = (0..cores).map(|_| Worker::default()).collect();
    let working = AtomicUsize::new(cores);
    std::thread::scope(|s| {
        for worker in &workers {
            let (next, ran, stopped, working) = (&next, &ran, &stopped, &working);
            s.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    worker.at.store(number, Ordering::Relaxed);
                    worker.stop.store(false, Ordering::Relaxed);
                    if number >= first + cases {
                        break;
                    }
                    let text = case(number);
                    if cases == 1 {
                        eprintln!("{text}");
                    }
                    match catch_unwind(|| survives(&text, &worker.stop)) {
                        Ok(_) if worker.stop.load(Ordering::Relaxed) => {
                            eprintln!("case {number} was stopped");
                            stopped.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(good) => drop(ran.fetch_add(u64::from(good), Ordering::Relaxed)),
                        Err(_) => {
                            working.fetch_sub(1, Ordering::Relaxed);
                            panic!("case {number}:\n{text}");
                        }
                    }
                }
                working.fetch_sub(1, Ordering::Relaxed);
            });
        }
        // A thread that works on the same case for so long is in a run without end.
        let mut seen: Vec<(u64, u32)> = vec![(u64::MAX, 0); cores];
        while working.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(100));
            if resident() > MOST_MEMORY {
                workers.iter().for_each(|w| w.stop.store(true, Ordering::Relaxed));
            }
            for (seen, worker) in seen.iter_mut().zip(&workers) {
                let number = worker.at.load(Ordering::Relaxed);
                *seen = if seen.0 == number { (number, seen.1 + 1) } else { (number, 0) };
                if number < first + cases && seen.1 > 10 * PATIENCE {
                    worker.stop.store(true, Ordering::Relaxed);
                }
                if number < first + cases && seen.1 > 20 * PATIENCE {
                    eprintln!("case {number} has no end:\n{}", case(number));
                    std::process::abort();
                }
            }
        }
    });
    // A large share of the mutated files is still valid.
    let (ran, stopped) = (ran.into_inner(), stopped.into_inner());
    assert!(ran > cases / 5, "only {ran} of {cases} cases were run");
    assert!(stopped <= cases / 1000 + 1, "{stopped} of {cases} cases were stopped");
    println!("{ran} of {cases} cases were run, {stopped} stopped");
}
