//! The warning about phase effects.

use super::lab::Call;
use contend_lab::experiment::results::Outcome;

/// Two flows of TCP over a wire of 10 Mb/s with a drop-tail queue of 20 packets.
const TWO: &str = r#"duration = "12s"
warmup = "2s"
seeds = "1..3"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "w"
from = "a"
to = "b"
rate = "10Mbps"
delay = "20ms"
queue = { kind = "fifo", limit = "20p" }
[[flow]]
count = 2
from = "a"
to = "b"
tcp = "newreno"
start = ["0s", "100ms"]
"#;

fn warnings(sets: &[(&str, &str)]) -> Vec<String> {
    of_phases(sets.iter().fold(Call::new(TWO), |call, (key, value)| call.set(key, value)).outcome())
}

fn of_phases(o: Outcome) -> Vec<String> {
    o.warnings.into_iter().filter(|w| !w.contains("intervals are wide")).collect()
}

#[test]
fn a_warning_says_that_seeds_agree_because_nothing_is_random() {
    let [warning] = &warnings(&[])[..] else { panic!() };
    assert!(warning.starts_with("All seeds gave the same result, and"), "{warning}");
    // 1500 B at 10 Mb/s.
    assert!(warning.contains("phase effects") && warning.contains("overhead = \"uniform(0s, 1200us)\""), "{warning}");
    // A constant overhead shifts the phase, but the phase stays constant.
    assert_eq!(warnings(&[("flow.0.overhead", "1ms")]).len(), 1);
    let [some] = &warnings(&[("sweep", "{ \"flow.0.overhead\" = [\"0s\", \"1ms\", \"uniform(0s, 1ms)\"] }")])[..]
    else {
        panic!()
    };
    assert!(some.starts_with("All seeds gave the same result at 2 of 3 points, and"), "{some}");
}

#[test]
fn no_warning_if_seeds_differ_or_no_drop_tail_queue_is_full() {
    let cases: [&[(&str, &str)]; 7] = [
        &[("flow.0.overhead", "uniform(0s, 1ms)")],
        &[("flow.0.start", "[\"0s\", \"uniform(0s, 1s)\"]")],
        &[("link.0.loss", "{ kind = \"bernoulli\", p = \"1%\" }")],
        &[("seeds", "1")],
        &[("flow.0.count", "1")],
        &[("flow.0.window", "10p")],
        &[("link.0.queue", "codel")],
    ];
    for sets in cases {
        assert_eq!(warnings(sets), Vec::<String>::new(), "{sets:?}");
    }
    let datagrams = TWO.replace("tcp = \"newreno\"", "udp = { rate = \"6Mbps\" }");
    assert_eq!(of_phases(Call::new(&datagrams).outcome()), Vec::<String>::new());
}
