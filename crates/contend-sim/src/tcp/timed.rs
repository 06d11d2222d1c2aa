//! What recoveries that go by times do, as packet traces. Round trip 100 ms; segment n begins at byte 1000 n.

use super::bench::{Bench, Script, flow, ms, with};
use crate::scenario::FlowSpec;
use contend_core::registry::Amount;

fn losing(drop: &[(u64, u8)]) -> Script {
    Script { delay: ms(50), drop: drop.to_vec(), ..Script::default() }
}
/// `n` segments of window, threshold too: congestion avoidance from the start.
fn window(n: u32, spec: FlowSpec) -> FlowSpec {
    with(spec, |t| {
        t.initial_window = n;
        t.initial_ssthresh = Some(n);
    })
}
/// What the recovery `name` sends again in `until` ms, and how often its timer expires and it begins an episode.
fn again(name: &str, n: u32, size: Option<u64>, script: Script, until: u64) -> (Vec<(u64, u64)>, u64, u64) {
    let mut spec = with(window(n, flow(name)), |t| t.rto.min = ms(1_000));
    spec.size = size;
    let b = Bench::new(&spec, script).run(until);
    let s = b.sender().sent().unwrap();
    (b.again(), s.timeouts, s.fast_retransmits)
}

#[test]
fn vegas_sends_an_old_segment_again_at_the_first_duplicate() {
    // Two segments in flight, each round trip at once. 10 is lost, 11 comes 20 ms late: a single duplicate at 620 ms.
    // After ten samples of 100 ms RTTVAR is 50 x 0.75^9 = 3.75, the fine timeout (100 + 7.5) 17/16 = 114 ms < 120 ms.
    let run = |recovery: &str| {
        let spec = with(window(2, flow(recovery)), |t| t.window = Amount::Packets(2));
        let b = Bench::new(&spec, Script { late: vec![(11, 0, ms(20))], ..losing(&[(10, 0)]) }).run(900);
        (b.again(), b.sender().sent().unwrap().timeouts)
    };
    assert_eq!(run("vegas"), (vec![(620, 10)], 0));
    // Reno waits for two more that cannot come, until 200 ms after the last ACK of new data.
    assert_eq!(run("reno"), (vec![(700, 10)], 1));
}

#[test]
fn vegas_sends_a_young_segment_again_at_the_third_duplicate() {
    // Three samples: (100 + 2 x 28.1) 17/16 = 166 ms; the duplicates come after 100.
    let b = Bench::new(&window(10, flow("vegas")), losing(&[(3, 0)])).run(190);
    // ns-2 halves from the window, here 10.
    assert_eq!((b.again(), b.cwnd()), (vec![(100, 3)], 5));
}

#[test]
fn vegas_looks_at_two_acks_after_a_retransmission_and_reduces_once() {
    // 5 and 8 are 200 and 300 ms old when the retransmission before them is acknowledged; the fine timeout is 166 x 9/8 = 187 ms.
    let (again, timeouts, reductions) = again("vegas", 10, None, losing(&[(3, 0), (5, 0), (8, 0)]), 390);
    assert_eq!((again, timeouts, reductions), (vec![(100, 3), (200, 5), (300, 8)], 0, 1));
}
