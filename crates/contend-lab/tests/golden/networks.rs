//! The generated networks, and the rare cases that must occur among them.

use super::generate::values;
use super::{canon, generate, golden, run};
use contend_core::Time;
use contend_lab::experiment::results::{Outcome, Run};
use contend_lab::reading::file::{self, Overlay};
use contend_sim::net::Net;
use contend_sim::scenario::Scenario;
use contend_sim::wifi::counters::StationCounters;
use contend_sim::wifi::{FrameKind, FrameOutcome as Heard, StationId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often each rare case occurred, by its name.
type Rare = BTreeMap<&'static str, u64>;

#[test]
fn generated_networks_give_what_they_gave() {
    // Who looks for the cause of a change finds the text of each network here, to run it with `contend run`.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let next = AtomicU64::new(0);
    let made = Mutex::new((vec![], Rare::new()));
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            s.spawn(|| {
                loop {
                    let number = next.fetch_add(golden::sample::step() as u64, Ordering::Relaxed);
                    if number >= generate::NETWORKS {
                        return;
                    }
                    let text = generate::network(number);
                    std::fs::write(folder.join(format!("{number:04}.toml")), &text).unwrap();
                    let outcome = run::with_frames(&format!("network {number}"), &text);
                    let line = format!("{number:04} {}", canon::line(&outcome));
                    let mut made = made.lock().unwrap();
                    made.0.push(line);
                    count(number, &text, &outcome, &mut made.1);
                }
            });
        }
    });
    let (mut lines, rare) = made.into_inner().unwrap();
    lines.sort();
    golden::compare("networks.txt", &lines);
    if golden::sample::step() > 1 {
        return;
    }
    assert_eq!(rare.len(), CASES.len());
    let never: Vec<_> = rare.iter().filter(|(_, n)| **n < 10).collect();
    assert!(never.is_empty(), "the generator makes too few of {never:?}");
}

/// Of every so many-th network three seeds are run one after the other, and all at once.
const PARALLEL_STEP: usize = 16;

#[test]
fn serial_and_parallel_runs_of_generated_networks_give_the_same() {
    for number in (0..generate::NETWORKS).step_by(PARALLEL_STEP * golden::sample::step()) {
        let (name, text) = (format!("network {number}"), generate::network(number));
        let seeds = [("seeds".to_owned(), "1..3".to_owned())];
        let [serial, parallel] = [1, 3].map(|jobs| canon::line(&run::outcome(&name, &text, &seeds, jobs)));
        assert_eq!(serial, parallel, "{name}");
    }
}

#[test]
fn every_word_of_the_generator_occurs_in_its_networks() {
    let all: String = (0..generate::NETWORKS).map(generate::network).collect();
    let variants: Vec<String> = values::VARIANTS.iter().map(|v| format!("kind = \"{v}\"")).collect();
    let lists = [
        values::ACCESS,
        values::EDCA,
        values::QUEUES,
        values::CAKES,
        values::OPENINGS,
        values::CONTROLS,
        values::LOSSES,
        values::CLIENTS,
        values::RECOVERIES,
        values::TRAFFIC,
        values::TCP_TRAFFIC,
        values::PROPAGATIONS,
        values::CAPTURES,
        values::ROUTINGS,
        values::AMPDU,
        values::NARROW,
        values::SHALLOW,
        values::PROTECTED,
        values::SCALABLE,
        values::ACK_CONTROLS,
    ];
    for word in lists.concat().into_iter().chain(variants.iter().map(String::as_str)) {
        assert!(all.matches(word).count() >= 5, "{word}");
    }
}

/// The rare cases.
const CASES: &[&str] = &[
    "RTS lost",
    "CTS lost",
    "data lost on the air",
    "ACK lost on the air",
    "collision",
    "internal collision",
    "packet dropped after its last retry",
    "packet dropped by its sender after its receiver had it",
    "network card paused",
    "packets of two flows sent in the same nanosecond",
    "queue drop",
    "ECN mark",
    "acknowledgment filtered",
    "packet lost on a wire",
    "timeout",
    "fast retransmission",
    "transfer completed",
];

fn count(number: u64, text: &str, o: &Outcome, rare: &mut Rare) {
    let run = &o.runs[0];
    let mut add = |case: &'static str, n: u64| {
        assert!(CASES.contains(&case), "{case}");
        *rare.entry(case).or_default() += n;
    };
    let heard =
        |kind, outcome| run.detail.frames.iter().filter(|f| f.kind == kind && f.outcome == outcome).count() as u64;
    add("RTS lost", heard(FrameKind::Rts, Heard::Errored));
    add("CTS lost", heard(FrameKind::Cts, Heard::Errored));
    add("data lost on the air", heard(FrameKind::Data, Heard::Errored));
    add("ACK lost on the air", heard(FrameKind::Ack, Heard::Errored));
    let air = run.air.as_ref();
    add("collision", air.map_or(0, |a| a.collisions));
    add("packet dropped after its last retry", air.map_or(0, |a| a.retry_drops));
    let counters = if number.is_multiple_of(4) { counters(number, text) } else { vec![] };
    add("internal collision", counters.iter().map(|c| c.internal).sum());
    add(
        "packet dropped by its sender after its receiver had it",
        counters.iter().map(|c| c.dropped_after_delivery).sum(),
    );
    let paused = |q: &&contend_lab::experiment::results::Queue| {
        q.name.ends_with(".cable") && q.queue.delay_s.mean.is_some_and(|s| s > 0.005)
    };
    let pauses = text.contains("mode = \"pause\"");
    add("network card paused", if pauses { run.queues.iter().filter(paused).count() as u64 } else { 0 });
    add("packets of two flows sent in the same nanosecond", ties(run));
    let queues = |of: fn(&contend_lab::experiment::results::Queue) -> u64| run.queues.iter().map(of).sum::<u64>();
    add("queue drop", queues(|q| q.drops.total));
    add("ECN mark", queues(|q| q.marked));
    add("acknowledgment filtered", queues(|q| q.filtered));
    add("packet lost on a wire", queues(|q| q.lost));
    add("timeout", run.flows.iter().filter_map(|f| f.timeouts).sum());
    add(
        "fast retransmission",
        run.flows.iter().map(|f| f.retransmitted - f.retransmitted.min(f.timeouts.unwrap_or(0))).sum(),
    );
    add("transfer completed", run.flows.iter().map(|f| f.completions_s.len() as u64).sum());
}

/// What the stations of the cell counted that is not in the outcome.
fn counters(number: u64, text: &str) -> Vec<StationCounters> {
    let e = file::parse("network", text, &[]).unwrap();
    let scenario = e.scenario(&e.points[0], &Overlay::default()).unwrap().scenario;
    let mut net = Net::new(&Scenario { seed: number, ..scenario }).unwrap();
    net.run_until(Time::ZERO + e.duration);
    (0..net.stations().len()).map(|i| net.station(i as StationId)).collect()
}

/// Packets on the air that were handed to the network in the same nanosecond as one of another flow.
fn ties(run: &Run) -> u64 {
    let mut flows: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for f in run.detail.frames.iter().filter_map(|f| f.packet) {
        flows.entry(f.sent.as_nanos()).or_default().insert(f.flow.0);
    }
    flows.values().filter(|f| f.len() > 1).count() as u64
}
