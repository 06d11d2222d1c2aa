//! Packet traces of recoveries that use times. The round-trip time is 100 ms; segment n begins at byte 1000 n.

use super::bench::{Bench, PAUSE, Script, flow, flow_with, ms, with};
use super::spec::{EcnEcho, EndsSpec};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::cc::{self, Ack, Controller, Response, Signal, Window};
use contend_core::registry::{Amount, Args, Choice, Entry, Value};

fn losing(drop: &[(u64, u8)]) -> Script {
    Script { delay: ms(50), drop: drop.to_vec(), ..Script::default() }
}
/// A window and threshold of `n` segments: congestion avoidance from the start.
fn window(n: u32, spec: EndsSpec) -> EndsSpec {
    with(spec, |t| {
        t.initial_window = n;
        t.initial_ssthresh = Some(n);
    })
}
/// The retransmissions of the recovery `name` in `until` ms, and the numbers of timeouts and of episodes.
fn again(name: &str, n: u32, size: Option<u64>, script: Script, until: u64) -> (Vec<(u64, u64)>, u64, u64) {
    let mut spec = with(window(n, flow(name)), |t| t.rto.min = ms(1_000));
    spec.size = size;
    let b = Bench::new(&spec, script).run(until);
    let s = b.sender().sent().unwrap();
    (b.again(), s.timeouts, s.fast_retransmits)
}

#[test]
fn vegas_sends_an_old_segment_again_at_the_first_duplicate() {
    // Two segments in flight, both sent at the start of each round trip. 10 is lost, 11 comes 20 ms late: a single
    // duplicate at 620 ms. After ten samples of 100 ms RTTVAR is 50 x 0.75^9 = 3.75, and the fine timeout (100 + 7.5)
    // 17/16 = 114 ms < 120 ms.
    let run = |recovery: &str| {
        let spec = with(window(2, flow(recovery)), |t| t.window = Amount::Packets(2));
        let b = Bench::new(&spec, Script { late: vec![(11, 0, ms(20))], ..losing(&[(10, 0)]) }).run(900);
        (b.again(), b.sender().sent().unwrap().timeouts)
    };
    assert_eq!(run("vegas"), (vec![(620, 10)], 0));
    // Reno waits for two more duplicates that cannot come, until 200 ms after the last ACK of new data.
    assert_eq!(run("reno"), (vec![(700, 10)], 1));
}

#[test]
fn vegas_sends_a_young_segment_again_at_the_third_duplicate() {
    // Three samples: (100 + 2 x 28.1) 17/16 = 166 ms; the duplicates come after 100.
    let b = Bench::new(&window(10, flow("vegas")), losing(&[(3, 0)])).run(190);
    // ns-2 halves the window, which is 10 here.
    assert_eq!((b.again(), b.cwnd()), (vec![(100, 3)], 5));
}

#[test]
fn vegas_looks_at_two_acks_after_a_retransmission_and_reduces_once() {
    // 5 and 8 are 200 and 300 ms old when the retransmission before them is acknowledged; the fine timeout is 166 x 9/8
    // = 187 ms.
    let (again, timeouts, reductions) = again("vegas", 10, None, losing(&[(3, 0), (5, 0), (8, 0)]), 390);
    assert_eq!((again, timeouts, reductions), (vec![(100, 3), (200, 5), (300, 8)], 0, 1));
}

#[test]
fn vegas_as_in_ns_2_doubles_the_timeout_with_an_early_retransmission() {
    // The first three of ten are acknowledged at 100 ms. 3 is lost twice, and so is everything after its retransmission
    // at 100 ms: only the timer of 1 s can repair this.
    let lost: Vec<(u64, u8)> = (10..20).map(|n| (n, 0)).chain([(3, 0), (3, 1)]).collect();
    let run = |backs_off: bool| {
        let spec = window(10, flow_with("vegas", "vegas", &[("backs_off", Value::Bool(backs_off))]));
        Bench::new(&with(spec, |t| t.rto.min = ms(1_000)), losing(&lost)).run(2_150).again()[..2].to_vec()
    };
    assert_eq!(run(false), [(100, 3), (1_100, 3)]);
    assert_eq!(run(true), [(100, 3), (2_100, 3)]);
}

#[test]
fn vegas_as_in_ns_2_takes_the_wait_for_a_repair_as_a_round_trip() {
    // As above, 3 and 5 are lost. The ACK at 200 ms covers 3 and 4, and 4 was sent at 0: a sample of 200 ms after three
    // of 100 ms. SRTT is 112.5, RTTVAR 28.1 x 0.75 + 25 = 46.1, and the fine timeout (112.5 + 92.2) 17/16 = 217 ms. 5
    // is then 200 ms old.
    let run = |samples: &str| {
        let spec = window(10, flow_with("vegas", "vegas", &[("samples", Value::Word(samples.into()))]));
        Bench::new(&with(spec, |t| t.rto.min = ms(1_000)), losing(&[(3, 0), (5, 0)])).run(210).again()
    };
    assert_eq!(run("karn"), [(100, 3), (200, 5)]);
    assert_eq!(run("last"), [(100, 3)]);
}

#[test]
fn vegas_as_in_ns_2_keeps_an_inflated_window() {
    // The first of n is lost, and n - 1 duplicates come at 100 ms. With four, the third inflates the window of 3 to 6;
    // the repair is acknowledged at 200 ms. With five, a fourth duplicate follows, and the window is 5 - 1.
    let run = |n: u32, stays: bool| {
        let spec = window(n, flow_with("vegas", "vegas", &[("stays_inflated", Value::Bool(stays))]));
        Bench::new(&with(spec, |t| t.limited_transmit = false), losing(&[(0, 0)])).run(205).cwnd()
    };
    assert_eq!((run(4, false), run(4, true)), (3, 6));
    assert_eq!((run(5, false), run(5, true)), (4, 4));
}

#[test]
fn rack_finds_a_lost_retransmission_without_the_timer() {
    // 4 to 6 show at 100 ms that 3 is lost. Its retransmission is lost too. The new segment that 8 permits is sent
    // after it and shows this loss at 200 ms.
    let script = || losing(&[(3, 0), (3, 1)]);
    assert_eq!(again("rack", 10, None, script(), 900), (vec![(100, 3), (200, 3)], 0, 1));
    // Without proportional rate reduction, no segment is sent after it until 11 makes room at 200 ms.
    let silent = window(10, flow_with("reno", "rack", &[("prr", Value::Bool(false))]));
    assert_eq!(Bench::new(&silent, script()).run(390).again(), [(100, 3), (300, 3)]);
    assert_eq!(again("sack", 10, None, script(), 1_900).1, 1);
}

#[test]
fn sack_repeats_a_retransmission_that_brings_nothing() {
    // 4 to 9 show at 100 ms that 3 is lost; nothing else comes, because the retransmission is lost too. One and a half
    // round trips later it is repeated, and again, until its ACK at 500 ms.
    let lost = || losing(&[(3, 0), (3, 1), (3, 2)]);
    let run = |repeat: f64| {
        let mut spec =
            window(10, flow_with("reno", "sack", &[("repeat", Value::Number(repeat)), ("rescue", Value::Bool(false))]));
        spec.size = Some(10_000);
        let b = Bench::new(&with(spec, |t| t.rto.min = ms(1_000)), lost()).run(900);
        (b.again(), b.sender().sent().unwrap().timeouts)
    };
    assert_eq!(run(1.5), (vec![(100, 3), (250, 3), (400, 3)], 0));
    assert_eq!(run(0.0), (vec![(100, 3)], 0));
}

#[test]
fn rack_probes_the_tail_of_a_flight() {
    // 8 and 9 of ten are lost. Two round trips after the last ACK the last segment is retransmitted, and its arrival
    // shows that 8 is lost.
    let script = || losing(&[(8, 0), (9, 0)]);
    assert_eq!(again("rack", 10, Some(10_000), script(), 2_000), (vec![(300, 9), (400, 8)], 0, 1));
    assert_eq!(again("sack", 10, Some(10_000), script(), 2_000).1, 1);
    // A single segment in flight may wait for a delayed ACK: 200 ms more.
    assert_eq!(again("rack", 10, Some(10_000), losing(&[(9, 0)]), 2_000), (vec![(500, 9)], 0, 0));
}

#[test]
fn rack_probes_no_later_than_the_timer() {
    let mut spec = window(10, flow("rack"));
    spec.size = Some(10_000);
    // The minimum timeout of 200 ms comes before the probe's 400 ms.
    let b = Bench::new(&spec, losing(&[(9, 0)])).run(2_000);
    assert_eq!((b.again(), b.sender().sent().unwrap().timeouts), (vec![(300, 9)], 0));
    let mut spec = window(10, flow_with("reno", "rack", &[("tlp", Value::Bool(false))]));
    spec.size = Some(10_000);
    assert_eq!(Bench::new(&spec, losing(&[(9, 0)])).run(2_000).sender().sent().unwrap().timeouts, 1);
}

#[test]
fn rack_answers_a_loss_that_its_probe_repaired_and_not_a_probe_that_was_not_needed() {
    let reductions = |script| {
        let mut spec = with(window(10, flow("rack")), |t| t.rto.min = ms(1_000));
        spec.traffic = Choice { entry: &PAUSE, args: Args::default() };
        let b = Bench::new(&spec, script).run(3_000);
        (b.again(), b.sender().sent().unwrap().fast_retransmits)
    };
    // The probe of 9 at 500 ms. The ACK of 10, sent at 2 s, shows that 9 did not arrive twice.
    assert_eq!(reductions(losing(&[(9, 0)])), (vec![(500, 9)], 1));
    // 9 is only late: it arrives at 500 ms, and the probe at 550 ms causes a duplicate ACK.
    assert_eq!(reductions(Script { late: vec![(9, 0, ms(450))], ..losing(&[]) }), (vec![(500, 9)], 0));
}

#[test]
fn rack_waits_a_quarter_of_a_round_trip_for_what_may_be_late() {
    // Only 4 is above the hole, too few to count: 3 is lost 25 ms after its round trip.
    assert_eq!(again("rack", 5, Some(5_000), losing(&[(3, 0)]), 2_000), (vec![(125, 3)], 0, 1));
}

#[test]
fn rack_tolerates_reordering_once_it_has_seen_some() {
    // 3 comes 20 ms late, after two later segments: this is reordering. 7 comes late after three, which SACK would take
    // as lost.
    let script = || Script { late: vec![(3, 0, ms(20)), (7, 0, ms(20))], ..losing(&[]) };
    assert_eq!(again("rack", 6, None, script(), 500), (vec![], 0, 0));
    assert_eq!(again("sack", 6, None, script(), 500), (vec![(200, 7)], 0, 1));
    // Without a reordering window it is lost when the first later segment arrives.
    let spec = window(6, flow_with("reno", "rack", &[("reo_wnd_mult", Value::Integer(0))]));
    assert_eq!(Bench::new(&spec, script()).run(110).again(), [(100, 3)]);
}

#[test]
fn rack_finds_a_flight_lost_whole_by_a_new_segment_before_the_timer() {
    // All ten are lost, and no round-trip time is known: a probe after 1 s. The probe is a new segment; its arrival
    // shows the loss of all earlier ones.
    let drop: Vec<(u64, u8)> = (0..10).map(|s| (s, 0)).collect();
    let b = Bench::new(&window(10, flow("rack")), losing(&drop)).run(1_490);
    // 11 are outstanding, and half of them may be in the network. Proportional rate reduction sends one segment for the
    // one that has arrived, and two for each later acknowledgment that advances, until there are five: 7 and 8 after
    // that of 3; only 9 after that of 4, because 5 and 6 are still in the network.
    let whole = |at: [u64; 10]| at.into_iter().zip(0..).collect::<Vec<(u64, u64)>>();
    assert_eq!(b.again(), whole([1_100, 1_200, 1_200, 1_300, 1_300, 1_300, 1_300, 1_400, 1_400, 1_400]));
    // Without it: five at once, and five when these are acknowledged.
    let bursts = window(10, flow_with("reno", "rack", &[("prr", Value::Bool(false))]));
    assert_eq!(
        Bench::new(&bursts, losing(&drop)).run(1_290).again(),
        whole([1_100, 1_100, 1_100, 1_100, 1_100, 1_200, 1_200, 1_200, 1_200, 1_200])
    );
    assert_eq!((b.new_at(1_000), b.sender().sent().unwrap().timeouts), (vec![10], 0));
    // Without probes the timer takes everything as lost, as in the other recoveries.
    let b =
        Bench::new(&window(10, flow_with("reno", "rack", &[("tlp", Value::Bool(false))])), losing(&drop)).run(1_390);
    assert_eq!(
        b.again(),
        [
            (1_000, 0),
            (1_100, 1),
            (1_100, 2),
            (1_200, 3),
            (1_200, 4),
            (1_200, 5),
            (1_200, 6),
            (1_300, 7),
            (1_300, 8),
            (1_300, 9)
        ]
    );
}

/// Sets the window to 1000 plus the number of acknowledgments up to and including the first that reports a loss.
#[derive(Debug, Default)]
struct Hears(u32);

impl Controller for Hears {
    fn on_every_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        self.0 += 1;
        if ack.lost > 0 && w.cwnd < 1_000 {
            w.cwnd = 1_000 + self.0;
        }
    }
    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}
    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::keep(w)
    }
}

fn hears(_: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Hears::default()))
}
static HEARS: Entry<cc::Build> =
    Entry { name: "hears", cite: "", summary: "", params: &[], formulas: &[], facts: &[], build: hears };

#[test]
fn the_controller_hears_of_a_loss_with_the_acknowledgment_that_shows_it() {
    // 0, 1, 2, and the third of those above 3: the sixth.
    for recovery in ["sack", "rack"] {
        let spec = with(window(10, flow(recovery)), |t| t.cc = Choice { entry: &HEARS, args: Args::default() });
        assert_eq!(Bench::new(&spec, losing(&[(3, 0)])).run(120).cwnd(), 1_006, "{recovery}");
    }
}

/// A window of ten segments that a completed reduction opens by 100.
#[derive(Debug)]
struct Completes;

impl Controller for Completes {
    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}
    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::to(w.cwnd)
    }
    fn on_recovered(&mut self, _: &mut Cx, w: &mut Window) {
        w.cwnd += 100;
    }
}

static COMPLETES: Entry<cc::Build> = Entry {
    name: "completes",
    cite: "",
    summary: "",
    params: &[],
    formulas: &[],
    facts: &[],
    build: |_| Ok(Box::new(Completes)),
};

#[test]
fn the_controller_hears_once_that_a_recovery_is_complete() {
    let window_at = |recovery: &str, script: Script, until: u64| {
        let spec = with(window(10, flow(recovery)), |t| {
            t.cc = Choice { entry: &COMPLETES, args: Args::default() };
            t.ecn = EcnEcho::Latch;
        });
        Bench::new(&spec, script).run(until).cwnd()
    };
    for recovery in ["reno", "newreno", "sack", "rack"] {
        // 3 is lost, and sent again at 100 ms, or a quarter of a round trip later; its acknowledgment covers everything
        // that was sent before. What follows is no recovery.
        assert_eq!(window_at(recovery, losing(&[(3, 0)]), 190), 10, "{recovery}");
        assert_eq!(window_at(recovery, losing(&[(3, 0)]), 240), 110, "{recovery}");
        assert_eq!(window_at(recovery, losing(&[(3, 0)]), 900), 110, "{recovery}");
        // The mark of 3 reduces the window at 100 ms, with 3 to 12 outstanding; they are acknowledged at 200 ms.
        let marked = || Script { mark: vec![3], ..losing(&[]) };
        assert_eq!(window_at(recovery, marked(), 190), 10, "{recovery}");
        assert_eq!(window_at(recovery, marked(), 240), 110, "{recovery}");
    }
    // Tahoe restarts. So does a timeout: the first flight is lost whole.
    assert_eq!(window_at("tahoe", losing(&[(3, 0)]), 900), 1);
    let whole: Vec<(u64, u8)> = (0..10).map(|s| (s, 0)).collect();
    for recovery in ["reno", "newreno", "sack"] {
        assert!(window_at(recovery, losing(&whole), 5_000) < 100, "{recovery}");
    }
}

#[test]
fn rack_spreads_a_halving_over_the_round_trip() {
    // One segment per millisecond and 20 in flight. 19 is lost, sent at 100 ms. Its 19 successors are acknowledged from
    // 201 to 218 ms, the last two together. Limited transmit sends two new segments, the third acknowledgment shows the
    // loss, and the window is half of the 20.
    let sent = |prr: bool| {
        let late = (1..19).map(|s| (s, 0, ms(s))).collect();
        let spec = window(19, flow_with("reno", "rack", &[("prr", Value::Bool(prr))]));
        let b = Bench::new(&spec, Script { late, ..losing(&[(19, 0)]) }).run(299);
        (b.data().iter().filter(|d| d.0 > 200).map(|d| d.0).collect::<Vec<_>>(), b.again(), b.cwnd())
    };
    // One segment for every two acknowledgments (RFC 9937): of 20 in flight, 10 shall remain.
    assert_eq!(sent(true), (vec![201, 202, 203, 205, 207, 209, 211, 213, 215, 217], vec![(203, 19)], 10));
    // Without it, nothing is sent until fewer than 10 are in the network, after the thirteenth: 20 + 2 + the
    // retransmission - the lost one - 13 (RFC 6675).
    assert_eq!(sent(false), (vec![201, 202, 203, 213, 214, 215, 216, 217, 218, 218], vec![(203, 19)], 10));
}

#[test]
fn rack_spreads_the_answer_to_a_mark_too_and_does_not_grow_in_it() {
    // One segment per millisecond and 20 in flight. 19 is marked, sent at 100 ms; its acknowledgment and those of its
    // 19 successors arrive from 200 to 218 ms. The window is half of the 19 that are then outstanding.
    let sent = |cwr: bool| {
        let late = (1..19).map(|s| (s, 0, ms(s))).collect();
        let keys = [("prr_cwr", Value::Bool(cwr))];
        let spec = with(window(19, flow_with("reno", "rack", &keys)), |t| t.ecn = EcnEcho::PerPacket);
        let b = Bench::new(&spec, Script { late, mark: vec![19], ..losing(&[]) }).run(330);
        let between = |from, to| b.data().iter().map(|d| d.0).filter(|t| (from..to).contains(t)).collect::<Vec<_>>();
        (between(200, 300), between(300, 400).len(), b.cwnd())
    };
    // Nine segments over the round trip, and ten in the next.
    assert_eq!(sent(true), (vec![200, 202, 204, 206, 208, 211, 213, 215, 217], 10, 10));
    // Without it, nothing is sent until fewer than nine are outstanding. The 20 acknowledgments open the window by two.
    assert_eq!(sent(false), (vec![210, 211, 212, 213, 214, 215, 216, 217, 218, 218, 218], 12, 12));
}

#[test]
fn a_controller_in_full_control_is_not_held_by_the_recovery() {
    let run = |prr: bool| {
        let spec = window(20, flow_with("bbr", "rack", &[("prr", Value::Bool(prr))]));
        Bench::new(&spec, losing(&[(5, 0), (40, 0), (41, 0), (90, 0)])).run(5_000).data()
    };
    assert_eq!(run(true), run(false));
}
