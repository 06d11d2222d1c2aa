//! Packet traces of D-SACK: how a receiver reports duplicates, and how a sender responds. The round-trip time is 100
//! ms; segment n begins at byte 1000 n.

use super::bench::{Bench, PAUSE, Script, flow, flow_with, ms, with};
use super::spec::{EndsSpec, Start};
use contend_core::registry::{Args, Choice, Value};
use contend_core::{Span, Time};

/// The acknowledgments of a receiver to which the bytes `arrivals` come, one packet per millisecond: the cumulative
/// acknowledgment and the blocks of each.
fn acks(recovery: &str, arrivals: &[(u64, u64)]) -> Vec<(u64, Vec<(u64, u64)>)> {
    let mut spec = flow(recovery);
    spec.start = Start::At(Time::NEVER);
    let feed = arrivals.iter().enumerate().map(|(i, &(from, to))| (i as u64, from, to)).collect();
    let b = Bench::new(&spec, Script { delay: ms(50), feed, ..Script::default() }).run(100);
    let block = |ack: u64, (start, end): (u32, u32)| {
        (ack.wrapping_add_signed(i64::from(start as i32)), ack.wrapping_add_signed(i64::from(end as i32)))
    };
    b.packets(true)
        .iter()
        .map(|(_, _, s)| (s.ack, s.sack.blocks().iter().map(|&r| block(s.ack, r)).collect()))
        .collect()
}

/// What arrives before each example of RFC 2883: everything up to byte 3000.
const BEFORE: (u64, u64) = (0, 3000);

#[test]
fn a_duplicate_segment_is_reported() {
    // RFC 2883 §4.1.1.
    let got = acks("rack", &[BEFORE, (3000, 3500), (3500, 4000), (3000, 3500)]);
    assert_eq!(got.last(), Some(&(4000, vec![(3000, 3500)])));
}

#[test]
fn a_duplicate_is_reported_before_what_is_out_of_order() {
    // RFC 2883 §4.1.2: 4000-4499 is lost.
    let got = acks("rack", &[BEFORE, (3000, 3500), (3500, 4000), (4500, 5000), (3000, 3500)]);
    assert_eq!(got[3..], [(4000, vec![(4500, 5000)]), (4000, vec![(3000, 3500), (4500, 5000)])]);
}

#[test]
fn a_duplicate_of_an_out_of_order_segment_is_followed_by_the_block_that_holds_it() {
    // RFC 2883 §4.1.3: 4000-4499 is lost, and the last packet arrives twice.
    let got = acks("rack", &[BEFORE, (3000, 3500), (3500, 4000), (4500, 5000), (5000, 5500), (5000, 5500)]);
    assert_eq!(got[4..], [(4000, vec![(4500, 5500)]), (4000, vec![(5000, 5500), (4500, 5500)])]);
}

#[test]
fn a_part_that_came_before_is_reported_as_far_as_it_goes() {
    // RFC 2883 §4.2: a segment is new in part; the first part that is not new is reported.
    assert_eq!(acks("rack", &[BEFORE, (2500, 3500)]).last(), Some(&(3500, vec![(2500, 3000)])));
    assert_eq!(
        acks("rack", &[BEFORE, (4000, 4500), (3500, 5000)]).last(),
        Some(&(3000, vec![(4000, 4500), (3500, 5000)]))
    );
}

#[test]
fn a_duplicate_is_reported_once_and_only_to_those_who_read_it() {
    let twice = [BEFORE, (1000, 2000), (3000, 4000), (2000, 3000)];
    let got: Vec<usize> = acks("rack", &twice).iter().map(|a| a.1.len()).collect();
    assert_eq!(got, [0, 1, 0, 1]);
    assert!(acks("sack", &twice).iter().all(|a| a.1.is_empty()));
}

/// A window and threshold of `n` segments: congestion avoidance from the start.
fn window(n: u32, spec: EndsSpec) -> EndsSpec {
    with(spec, |t| {
        t.initial_window = n;
        t.initial_ssthresh = Some(n);
        t.rto.min = ms(1_000);
    })
}

/// The retransmissions until 900 ms if each segment of `late` arrives late by its time. RACK has the parameters `set`;
/// the window is 6 segments.
fn again(late: &[(u64, u64)], set: &[(&'static str, Value)]) -> Vec<(u64, u64)> {
    let late: Vec<(u64, u8, Span)> = late.iter().map(|&(s, by)| (s, 0, ms(by))).collect();
    let spec = window(6, flow_with("reno", "rack", set));
    Bench::new(&spec, Script { delay: ms(50), late, ..Script::default() }).run(2_000).again()
}

#[test]
fn a_duplicate_widens_the_reordering_window() {
    // 3 arrives 20 ms late: this is reordering, and within a quarter of 100 ms. 9 arrives 40 ms late: it is
    // retransmitted 25 ms after the next segment arrived (at 225 ms), which is too soon. The D-SACK at 325 ms widens
    // the window to two quarters, so that 40 ms are tolerated from then on: 28, sent at 520 ms, is not retransmitted.
    let late = [(3, 20), (9, 40), (28, 40)];
    let halved = ("undo", Value::Bool(false));
    assert_eq!(again(&late, std::slice::from_ref(&halved)), [(225, 9)]);
    assert_eq!(again(&late, &[halved, ("adaptive", Value::Bool(false))]), [(225, 9), (645, 28)]);
}

#[test]
fn a_reduction_for_a_segment_that_was_only_late_is_taken_back_and_one_for_a_lost_one_is_not() {
    // 9 as above: a window of six segments, seven after the first flight, half of seven from 225 ms on, and seven again
    // when the D-SACK comes at 325 ms.
    let window_at = |script: &dyn Fn() -> Script, undo: bool, t: u64| {
        let spec = window(6, flow_with("reno", "rack", &[("undo", Value::Bool(undo))]));
        Bench::new(&spec, script()).run(t).cwnd()
    };
    let late = || Script { delay: ms(50), late: vec![(3, 0, ms(20)), (9, 0, ms(40))], ..Script::default() };
    assert_eq!([224, 226, 324, 326].map(|t| window_at(&late, true, t)), [7, 3, 3, 7]);
    assert_eq!(window_at(&late, false, 326), 3);
    let lost = || Script { delay: ms(50), late: vec![(3, 0, ms(20))], drop: vec![(9, 0)], ..Script::default() };
    assert_eq!([224, 226, 326].map(|t| window_at(&lost, true, t)), [7, 3, 3]);
}

#[test]
fn a_probe_reported_as_a_duplicate_is_no_loss_though_newer_data_are_acknowledged_with_it() {
    // 9 arrives 650 ms late, after its probe was sent. The probe arrives when 10, sent at 2 s, has arrived and is not
    // yet acknowledged (every other segment is acknowledged). One acknowledgment covers both; only its D-SACK shows
    // that the probe repaired no loss.
    let reductions = |receiver: &str| {
        let from = EndsSpec { traffic: Choice { entry: &PAUSE, args: Args::default() }, ..window(10, flow("rack")) };
        let to = with(flow(receiver), |t| t.ack = 2);
        let script = Script { delay: ms(50), late: vec![(9, 0, ms(650)), (9, 1, ms(1_425))], ..Script::default() };
        let b = Bench::pairs(1, &[(&from, &to)], script).run(3_000);
        (b.again().len(), b.sender().sent().unwrap().fast_retransmits, b.receiver().received().unwrap().duplicates)
    };
    assert_eq!(reductions("rack"), (1, 0, 1));
    assert_eq!(reductions("sack"), (1, 1, 1));
}
