//! Packet traces of connections. The round-trip time is 100 ms unless another is given; segment n begins at byte 1000
//! n.

mod controllers;
mod handshake;

use super::SegmentFormat;
use super::Socket;
use super::accecn::AccurateEcn;
use super::bench::{Bench, DRIBBLE, FLOW, MSS, Script, at, flow, flow_with, ms, with};
use super::end::End;
use super::spec::{EcnEcho, EndsSpec, Start, Transport};
use crate::peer::{NodeId, Peer};
use crate::traffic;
use contend_core::cc::CaState;
use contend_core::registry::{Amount, Args, Choice, Value};
use contend_core::{Address, Ecn, Flags, Time};

fn pipe() -> Script {
    Script { delay: ms(50), ..Script::default() }
}
fn losing(drop: &[(u64, u8)]) -> Script {
    Script { drop: drop.to_vec(), ..pipe() }
}
/// A window and threshold of ten segments: congestion avoidance from the start.
fn ten(spec: EndsSpec) -> EndsSpec {
    with(spec, |t| {
        t.initial_window = 10;
        t.initial_ssthresh = Some(10);
    })
}

#[test]
fn slow_start_doubles_the_flight_each_round_trip() {
    let b = Bench::new(&flow("newreno"), pipe()).run(450);
    let rounds: Vec<usize> = (0..5).map(|r| b.new_at(100 * r).len()).collect();
    assert_eq!(rounds, [1, 2, 4, 8, 16]);
}

#[test]
fn congestion_avoidance_adds_one_segment_a_round_trip() {
    let b = Bench::new(&ten(flow("newreno")), pipe()).run(450);
    let rounds: Vec<usize> = (0..5).map(|r| b.new_at(100 * r).len()).collect();
    assert_eq!(rounds, [10, 11, 12, 13, 14]);
}

#[test]
fn the_third_duplicate_sends_the_missing_segment_again_and_halves() {
    let b = Bench::new(&ten(flow("newreno")), losing(&[(3, 0)])).run(290);
    // ACKs 1 to 3 permit 10 to 12. The first two duplicates permit 13 and 14 (RFC 3042). The third sends 3 again.
    assert_eq!(b.data()[10..16], [(100, 10, 0), (100, 11, 0), (100, 12, 0), (100, 13, 0), (100, 14, 0), (100, 3, 1)]);
    // A flight of 12 minus 2 of limited transmit gives 5. 11 duplicates inflate the window to 5 + 11 = 16 = 12
    // outstanding + 4. Then the window is 5: 15 to 19.
    assert_eq!(b.new_at(200), [15, 16, 17, 18, 19]);
    let s = b.sender().sent().unwrap();
    assert_eq!((b.cwnd(), s.fast_retransmits, s.timeouts, s.retransmitted), (5, 1, 0, 1));
}

#[test]
fn newreno_sends_one_hole_again_for_each_partial_ack() {
    let b = Bench::new(&ten(flow("newreno")), losing(&[(3, 0), (5, 0), (8, 0)])).run(1000);
    assert_eq!(b.again(), [(100, 3), (200, 5), (300, 8)]);
    let s = b.sender().sent().unwrap();
    assert_eq!((s.fast_retransmits, s.timeouts), (1, 0));
}

#[test]
fn impatient_newreno_lets_the_timer_run_from_the_first_partial_ack() {
    let drop: Vec<(u64, u8)> = (1..12).map(|s| (s, 0)).collect();
    let run = |variant: &str| {
        let spec = flow_with("reno", "newreno", &[("variant", Value::Word(variant.to_owned()))]);
        let spec = with(spec, |t| {
            t.initial_window = 20;
            t.initial_ssthresh = Some(20);
        });
        Bench::new(&spec, losing(&drop)).run(3000).sender().sent().unwrap().timeouts
    };
    assert_eq!((run("impatient"), run("slow-but-steady")), (1, 0));
}

#[test]
fn reno_needs_the_timer_for_a_second_loss_in_a_small_window() {
    let spec = |r: &str| {
        with(flow(r), |t| {
            t.initial_window = 6;
            t.initial_ssthresh = Some(6);
            t.limited_transmit = false;
        })
    };
    let timeouts =
        |r: &str| Bench::new(&spec(r), losing(&[(0, 0), (1, 0)])).run(2000).sender().sent().unwrap().timeouts;
    assert_eq!((timeouts("reno"), timeouts("newreno")), (1, 0));
}

#[test]
fn reno_halves_twice_for_two_losses_unless_guarded() {
    let run = |guard: &str| {
        let spec = with(flow_with("reno", "reno", &[("guard", Value::Word(guard.to_owned()))]), |t| {
            t.initial_window = 20;
            t.initial_ssthresh = Some(20);
        });
        let s = Bench::new(&spec, losing(&[(0, 0), (2, 0)])).run(2000).sender().sent().unwrap();
        (s.fast_retransmits, s.timeouts)
    };
    assert_eq!((run("timeout"), run("always")), ((2, 0), (1, 1)));
}

#[test]
fn tahoe_restarts_with_one_segment() {
    let b = Bench::new(&ten(flow("tahoe")), losing(&[(3, 0)])).run(290);
    assert_eq!(b.again(), [(100, 3)]);
    // The ACK at 200 ms covers everything up to 14: two segments in slow start.
    assert_eq!(b.new_at(200), [15, 16]);
    let b = b.run(390);
    assert_eq!((b.new_at(300).len(), b.cwnd()), (4, 4));
    assert_eq!(b.sender().sender_state().unwrap().snd_ssthresh, 5);
}

#[test]
fn sack_repairs_three_losses_in_one_round_trip() {
    let b = Bench::new(&ten(flow("sack")), losing(&[(1, 0), (3, 0), (5, 0)])).run(250);
    assert_eq!(b.again(), [(100, 1), (100, 3), (200, 5)]);
    let b = Bench::new(&with(ten(flow("sack")), |t| t.initial_window = 20), losing(&[(1, 0), (3, 0), (5, 0)])).run(290);
    assert_eq!(b.again(), [(100, 1), (100, 3), (100, 5)]);
    let s = b.sender().sent().unwrap();
    assert_eq!(
        (s.fast_retransmits, s.timeouts, b.acks().iter().rfind(|a| a.0 == 150).map(|a| a.1 > 20)),
        (1, 0, Some(true))
    );
}

#[test]
fn sack_rescues_the_last_segment_without_the_timer() {
    let run = |rescue: bool| {
        let mut spec = ten(flow_with("reno", "sack", &[("rescue", Value::Bool(rescue))]));
        spec.size = Some(10_000);
        Bench::new(&spec, losing(&[(3, 0), (9, 0)])).run(3000).sender().sent().unwrap().timeouts
    };
    assert_eq!((run(true), run(false)), (0, 1));
}

#[test]
fn sack_is_refused_without_its_option() {
    let spec = with(flow("sack"), |t| t.sack = false);
    let socket = Socket { local: Address(0), remote: Address(1), uplink: Peer::Node(NodeId(2), 0) };
    let e = End::sender(1, "f", FLOW, &spec, socket).unwrap_err();
    assert!(e.to_string().contains("sack = true"), "{e}");
}

#[test]
fn the_timeout_doubles_and_retransmissions_give_no_sample() {
    let b = Bench::new(&flow("newreno"), losing(&[(0, 0), (0, 1), (0, 2)])).run(7_140);
    assert_eq!(b.data(), [(0, 0, 0), (1_000, 0, 1), (3_000, 0, 2), (7_000, 0, 3), (7_100, 1, 0), (7_100, 2, 0)]);
    let s = b.sender().sender_state().unwrap();
    // Karn: the ACK at 7.1 s may belong to any copy, so the backed-off timeout is kept.
    assert_eq!((s.srtt_us, s.rto_us, s.ca_state), (0, 8_000_000, CaState::Open));
    let s = b.run(7_210).sender().sender_state().unwrap();
    assert_eq!((s.srtt_us, s.rto_us), (100_000, 250_000));
}

#[test]
fn after_a_timeout_all_outstanding_data_go_again_in_slow_start() {
    // All ten are lost; only the timer detects this.
    let drop: Vec<(u64, u8)> = (0..10).map(|s| (s, 0)).collect();
    let b = Bench::new(&ten(flow("newreno")), losing(&drop)).run(1_390);
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
    // Slow start to the threshold of 5 with 7 to 11 outstanding, then congestion avoidance.
    assert_eq!((b.new_at(1_300), b.sender().sender_state().unwrap().snd_ssthresh), (vec![10, 11], 5));
}

#[test]
fn duplicates_of_what_a_timeout_sent_again_start_no_recovery() {
    // All ACKs of 0 to 9 arrive late: nothing is lost, and everything is sent twice.
    let spec = with(ten(flow("newreno")), |t| t.rto.initial = ms(60));
    let b = Bench::new(&spec, pipe()).run(1_000);
    assert_eq!((b.sender().sent().unwrap().timeouts, b.sender().sent().unwrap().fast_retransmits), (1, 0));
    assert!(b.receiver().received().unwrap().duplicates >= 1);
}

#[test]
fn limited_transmit_saves_a_small_window_from_the_timer() {
    let run = |on| {
        let spec = with(flow("newreno"), |t| {
            t.initial_window = 3;
            t.initial_ssthresh = Some(3);
            t.limited_transmit = on;
        });
        Bench::new(&spec, losing(&[(0, 0)])).run(900)
    };
    let (on, off) = (run(true), run(false));
    assert_eq!(on.data()[..6], [(0, 0, 0), (0, 1, 0), (0, 2, 0), (100, 3, 0), (100, 4, 0), (200, 0, 1)]);
    assert_eq!((on.sender().sent().unwrap().fast_retransmits, off.data().len()), (1, 3));
}

#[test]
fn limited_transmit_off_holds_sack_back_too() {
    let spec = with(flow("sack"), |t| {
        t.initial_window = 3;
        t.initial_ssthresh = Some(3);
        t.limited_transmit = false;
    });
    assert_eq!(Bench::new(&spec, losing(&[(0, 0)])).run(900).data().len(), 3);
}

#[test]
fn a_reduction_may_start_from_the_window_instead_of_the_flight() {
    // The receiver's window is 6, the congestion window 10.
    let run = |from: &str| {
        let spec = ten(flow_with("reno", "newreno", &[("halve_from", Value::Word(from.to_owned()))]));
        let b = Bench::new(&with(spec, |t| t.window = Amount::Packets(6)), losing(&[(1, 0)])).run(150);
        b.sender().sender_state().unwrap().snd_ssthresh
    };
    assert_eq!((run("flight"), run("cwnd"), run("min(cwnd, rwnd)")), (3, 5, 3));
}

#[test]
fn a_delayed_ack_waits_for_the_second_segment_or_its_time() {
    let spec = with(flow("newreno"), |t| t.ack = 2);
    let b = Bench::new(&spec, pipe()).run(390);
    // Segment 0 arrives alone at 50 ms and is acknowledged 100 ms later; 1 and 2 arrive together.
    assert_eq!(
        (b.acks()[..2].to_vec(), b.new_at(200), b.new_at(300)),
        (vec![(150, 1), (250, 3)], vec![1, 2], vec![3, 4, 5])
    );
}

#[test]
fn quick_acknowledgments_come_at_the_start_and_after_a_duplicate() {
    let spec = with(ten(flow("newreno")), |t| (t.ack, t.quick_acks) = (2, 3));
    let b = Bench::new(&spec, pipe()).run(60);
    // Of ten segments at once three are acknowledged alone, then every second one.
    assert_eq!(b.acks().iter().map(|a| a.1).collect::<Vec<_>>(), [1, 2, 3, 5, 7, 9]);
    // A window of four packets allows two.
    let spec = with(ten(flow("newreno")), |t| (t.ack, t.quick_acks, t.window) = (2, 16, Amount::Packets(4)));
    assert_eq!(Bench::new(&spec, pipe()).run(60).acks().iter().map(|a| a.1).collect::<Vec<_>>(), [1, 2, 4]);
}

/// The window opens from 65,535 B to 81,920 B by 2000 B with each of nine segments; two quick acknowledgments are left
/// after the last of them.
#[test]
fn each_segment_that_opens_the_window_is_acknowledged_at_once() {
    let spec = with(flow("newreno"), |t| {
        (t.initial_window, t.ack, t.quick_acks) = (14, 2, 2);
        (t.autotuning, t.window) = (true, Amount::Bytes(1 << 20));
    });
    let b = Bench::new(&spec, pipe()).run(60);
    assert_eq!(b.acks().iter().map(|a| a.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]);
    let windows: Vec<u32> = b.packets(true).iter().map(|(_, _, s)| s.window).collect();
    assert_eq!(windows[..3], [67_535, 69_535, 71_535]);
    assert_eq!(windows[7..], [81_535, 81_920, 81_920, 81_920, 81_920]);
}

#[test]
fn segments_out_of_order_and_hole_fillers_are_acknowledged_at_once() {
    let spec = with(ten(flow("newreno")), |t| t.ack = 2);
    let b = Bench::new(&spec, losing(&[(3, 0)])).run(160);
    // 0 and 1 together; 2 waits; 4 causes ACK 3 at once; five more follow.
    assert_eq!(b.acks()[..7], [(50, 2), (50, 3), (50, 3), (50, 3), (50, 3), (50, 3), (50, 3)]);
    assert_eq!(b.acks()[7..].iter().filter(|a| a.1 > 3).count(), 1);
}

#[test]
fn sack_blocks_come_newest_first_and_merge() {
    let b = Bench::new(&ten(flow("sack")), losing(&[(1, 0), (3, 0), (5, 0), (7, 0)])).run(60);
    let blocks: Vec<Vec<(u32, u32)>> = b
        .packets(true)
        .iter()
        .map(|(_, _, s)| s.sack.blocks().iter().map(|&(a, b)| (a / MSS + 1, b / MSS + 1)).collect())
        .collect();
    assert_eq!(blocks[1], [(2, 3)]);
    assert_eq!(blocks[2], [(4, 5), (2, 3)]);
    assert_eq!(blocks[4], [(8, 9), (6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks[5], [(8, 10), (6, 7), (4, 5), (2, 3)]);
    // 40 bytes of headers, and 4 + 8 n bytes of options.
    assert_eq!(b.packets(true)[5].1.size, 40 + 4 + 32);
    let spec = with(ten(flow("sack")), |t| t.timestamps = Some(ms(1)));
    let b = Bench::new(&spec, losing(&[(1, 0), (3, 0), (5, 0), (7, 0)])).run(60);
    let last = b.packets(true).last().map(|(_, p, s)| (p.size, s.sack.blocks().len()));
    assert_eq!(last, Some((40 + 12 + 4 + 24, 3)));
}

#[test]
fn the_mark_is_echoed_until_cwr_and_answered_once_a_window() {
    let spec = with(ten(flow("newreno")), |t| t.ecn = EcnEcho::Latch);
    let b = Bench::new(&spec, Script { mark: vec![2, 4], ..pipe() }).run(490);
    let sent = b.packets(false);
    assert!(sent.iter().all(|(_, p, _)| p.ecn() == Ecn::Ect));
    // ACKs 3 to 10 carry ECE, and so do those of the second flight until the segment with CWR arrives.
    let ece: Vec<u64> =
        b.packets(true).iter().filter(|(_, _, s)| s.flags.has(Flags::ECE)).map(|(_, _, s)| s.ack / 1000).collect();
    assert_eq!(ece, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let cwr: Vec<u64> = sent.iter().filter(|(_, _, s)| s.flags.has(Flags::CWR)).map(|(_, _, s)| s.seq / 1000).collect();
    assert_eq!((cwr, b.sender().sent().unwrap().ecn_reductions), (vec![12], 1));
    // From a flight of 9, when ACK 3 arrives.
    assert_eq!(b.sender().sender_state().unwrap().snd_ssthresh, 4);
}

#[test]
fn a_mark_may_be_echoed_packet_by_packet() {
    let spec = with(ten(flow("newreno")), |t| {
        t.ecn = EcnEcho::PerPacket;
        t.ack = 2;
    });
    let b = Bench::new(&spec, Script { mark: vec![3], ..pipe() }).run(60);
    let acks: Vec<(u64, bool)> =
        b.packets(true).iter().map(|(_, _, s)| (s.ack / 1000, s.flags.has(Flags::ECE))).collect();
    // 2 is acknowledged before 3, because 3 is marked; 3 is acknowledged before 4.
    assert_eq!(acks, [(2, false), (3, false), (4, true), (6, false), (8, false), (10, false)]);
}

#[test]
fn accurate_ecn_counts_marks_and_acknowledges_the_first_at_once() {
    let spec = |option| {
        with(ten(flow("newreno")), |t| {
            t.ecn = EcnEcho::Accurate(AccurateEcn { option, ..AccurateEcn::USUAL });
            (t.ect, t.ack) = (Ecn::Ect1, 2);
        })
    };
    let run = |option| Bench::new(&spec(option), Script { mark: vec![2, 5, 6, 7], ..pipe() }).run(60);
    let b = run(true);
    let acks: Vec<(u64, u8)> = b.packets(true).iter().map(|(_, _, s)| (s.ack / 1000, s.flags.ace())).collect();
    // 2 and 5 are the first after unmarked ones. 5 + 4 marks are 1 modulo 8.
    assert_eq!(acks, [(2, 5), (3, 6), (5, 6), (6, 7), (8, 1), (10, 1)]);
    let sent = b.packets(false);
    assert!(sent.iter().all(|(_, p, s)| p.ecn() == Ecn::Ect1 && s.flags.ace() == 5), "no CWR");
    let later = Bench::new(&spec(true), Script { mark: vec![2, 5, 6, 7], ..pipe() }).run(290);
    assert_eq!(later.sender().sent().unwrap().ecn_reductions, 1);
    let size = |b: &Bench| (b.packets(true)[0].1.size, b.packets(true)[4].1.explicit.throughput);
    // 40 bytes of headers, and 11 bytes of the option in 12; 4 kB have arrived with CE.
    assert_eq!((size(&b), size(&run(false))), ((52, 4000), (40, 0)));
}

#[test]
fn two_sack_blocks_go_before_the_counters() {
    let spec = with(ten(flow("sack")), |t| {
        t.ecn = EcnEcho::Accurate(AccurateEcn::USUAL);
        t.timestamps = Some(ms(1));
    });
    let b = Bench::new(&spec, losing(&[(1, 0), (3, 0), (5, 0), (7, 0)])).run(60);
    let last = b.packets(true).last().map(|(_, p, s)| (p.size, s.sack.blocks().len()));
    // Timestamps, two blocks and two counters take all 40 bytes of options.
    assert_eq!(last, Some((40 + 12 + 4 + 16 + 8, 2)));
}

#[test]
fn retransmissions_are_not_ecn_capable() {
    let spec = with(ten(flow("newreno")), |t| t.ecn = EcnEcho::Latch);
    let b = Bench::new(&spec, losing(&[(3, 0)])).run(290);
    let capable: Vec<(u8, Ecn)> =
        b.packets(false).iter().filter(|(_, _, s)| s.seq == 3_000).map(|(_, p, s)| (s.copy, p.ecn())).collect();
    assert_eq!(capable, [(0, Ecn::Ect), (1, Ecn::NotEct)]);
    let spec = with(spec, |t| t.ect_all = true);
    let b = Bench::new(&spec, losing(&[(3, 0)])).run(290);
    let capable = b.packets(false).iter().all(|(_, p, _)| p.ecn() == Ecn::Ect);
    assert!(capable, "unless the file asks for it");
}

#[test]
fn a_closed_window_is_probed_at_growing_intervals() {
    let script = Script { closed: Some((at(40), at(2_000))), ..pipe() };
    let b = Bench::new(&with(flow("newreno"), |t| t.initial_window = 2), script).run(2_900);
    // First sample 100 ms: RTO 300 ms; after the second sample 250 ms. Both ACKs close the window, so it does not grow.
    // A probe doubles the timer, and its acknowledgment restarts the timer.
    let probes: Vec<u64> = b.packets(false).iter().filter(|(_, _, s)| s.len == 0).map(|p| p.0).collect();
    assert_eq!(probes, [350, 950, 2_050]);
    assert_eq!((b.new_at(2_150), b.sender().sent().unwrap().timeouts), (vec![2, 3], 0));
}

#[test]
fn the_receivers_window_is_kept_to_the_byte() {
    let outstanding = |window, scaling| {
        let spec = with(flow("newreno"), |t| {
            t.initial_window = 100;
            t.window = window;
            t.window_scaling = scaling;
        });
        let b = Bench::new(&spec, pipe()).run(90);
        b.packets(false).iter().map(|(_, _, s)| s.len).sum::<u32>()
    };
    assert_eq!(outstanding(Amount::Bytes(5_000), true), 5_000);
    assert_eq!(outstanding(Amount::Bytes(4_999), true), 4_000);
    assert_eq!(outstanding(Amount::Packets(42), true), 42_000);
    assert_eq!(outstanding(Amount::Packets(100), true), 100_000);
    assert_eq!(outstanding(Amount::Packets(100), false), 65_000);
    // If the window is below one segment, a short segment is sent.
    assert_eq!(outstanding(Amount::Bytes(700), true), 700);
}

#[test]
fn the_window_does_not_grow_beyond_what_is_used() {
    let b = Bench::new(&with(flow("newreno"), |t| t.window = Amount::Packets(8)), pipe()).run(20_000);
    assert!((8..=9).contains(&b.cwnd()), "{}", b.cwnd());
}

#[test]
fn timestamps_measure_retransmissions_too() {
    let spec = with(ten(flow("newreno")), |t| t.timestamps = Some(ms(1)));
    let b = Bench::new(&spec, losing(&[(0, 0), (0, 1), (0, 2)])).run(3_250);
    let s = b.sender().sender_state().unwrap();
    assert_eq!((s.srtt_us / 1000, b.sender().rtt().unwrap().quantile_ms(1.0) < 120.0), (100, true));
}

#[test]
fn a_timed_retransmission_ends_the_backoff_or_not() {
    // With the option a segment has 988 B, so two segments begin in the first 1000 B. These arrive; all others are
    // lost. RTTVAR is 37.5 ms, so the timer expires at 100 + 250 ms. The timestamp of the first retransmission gives
    // 100 ms again: 100 + 4 x 28.1 ms, or twice that. The next two, sent at 450 ms, are lost again.
    let lost: Vec<(u64, u8)> = (1..12).map(|n| (n, 0)).chain([(2, 1), (3, 1)]).collect();
    let again = |keeps_backoff| {
        let spec = with(ten(flow("newreno")), |t| {
            t.timestamps = Some(ms(1));
            t.rto.keeps_backoff = keeps_backoff;
        });
        Bench::new(&spec, losing(&lost)).run(1_000).again()[..4].to_vec()
    };
    assert_eq!(again(false), [(350, 1), (450, 2), (450, 3), (662, 2)]);
    assert_eq!(again(true), [(350, 1), (450, 2), (450, 3), (875, 2)]);
}

#[test]
fn a_coarse_timestamp_clock_never_measures_nothing() {
    let spec = with(flow("newreno"), |t| t.timestamps = Some(ms(500)));
    let s = Bench::new(&spec, pipe()).run(350).sender().sender_state().unwrap();
    assert_eq!(s.srtt_us, 500_000);
}

#[test]
fn writes_become_segments_as_they_come() {
    let mut spec = flow("newreno");
    spec.traffic = Choice { entry: &DRIBBLE, args: Args::default() };
    let spec = with(spec, |t| t.initial_window = 10);
    let b = Bench::new(&spec, pipe()).run(1_000);
    let got: Vec<(u64, u64, u32)> = b.packets(false).iter().map(|(t, _, s)| (*t, s.seq, s.len)).collect();
    assert_eq!(got, [(0, 0, 300), (10, 300, 1000), (10, 1300, 1000), (10, 2300, 500), (500, 2800, 1000)]);
    assert_eq!(b.sender().transfers(), [(at(0), ms(100)), (at(10), ms(100)), (at(500), ms(100))]);
    assert_eq!(b.sender().completed(), Some(ms(600)));
}

/// A flow of pages of 5 kB (10 segments may be sent at once) with a fixed think time of 250 ms.
fn pages(count: i64) -> EndsSpec {
    let mut spec = flow("newreno");
    let entry = traffic::REGISTRY.iter().find(|e| e.name == "web").unwrap();
    let mut choice = Choice { entry, args: crate::testing::args(entry.params, &[]) };
    choice.args.set("size", Value::Amount(Amount::Bytes(5_000)));
    choice.args.set("think", Value::Time(ms(250)));
    choice.args.set("law", Value::Word("fixed".into()));
    choice.args.set("count", Value::Integer(count));
    spec.traffic = choice;
    with(spec, |t| t.initial_window = 10)
}

#[test]
fn the_next_page_begins_a_think_time_after_the_last_is_acknowledged() {
    let b = Bench::new(&pages(3), pipe()).run(2_000);
    assert_eq!(b.sender().transfers(), [(at(0), ms(100)), (at(350), ms(100)), (at(700), ms(100))]);
    assert_eq!((b.sender().completed(), b.sender().unfinished()), (Some(ms(800)), 0));
    // The last segment of the first page is lost: the think time begins when it is repaired.
    let b = Bench::new(&pages(2), losing(&[(4, 0)])).run(5_000);
    let [(first, took), (second, _)] = b.sender().transfers() else { panic!("two pages") };
    assert_eq!((*took > ms(300), *second), (true, *first + *took + ms(250)));
}

#[test]
fn a_user_who_stops_gets_no_further_page() {
    for stop in [50, 200, 349] {
        let mut spec = pages(0);
        spec.stop = Some(at(stop));
        let b = Bench::new(&spec, pipe()).run(2_000);
        assert_eq!(b.sender().transfers(), [(at(0), ms(100))], "{stop}");
    }
    // Or whose flow has its size: the second page is cut short.
    let mut spec = pages(0);
    spec.size = Some(6_000);
    let b = Bench::new(&spec, pipe()).run(2_000);
    assert_eq!(b.sender().completed(), Some(ms(450)));
}

#[test]
fn a_flow_ends_after_its_size_and_tells_how_long_it_took() {
    let mut spec = flow("newreno");
    spec.size = Some(7_001);
    spec.start = Start::At(at(30));
    let b = Bench::new(&spec, pipe()).run(1_000);
    // 1, 2 and 4 segments, and one byte: four round trips.
    assert_eq!((b.sender().completed(), b.receiver().received().unwrap().delivered_bytes), (Some(ms(400)), 7_001));
    assert_eq!(b.data().last().map(|d| d.1), Some(7));
}

#[test]
fn a_stopped_flow_sends_nothing_new_but_repairs_what_it_sent() {
    let mut spec = ten(flow("newreno"));
    spec.stop = Some(at(150));
    let b = Bench::new(&spec, losing(&[(18, 0)])).run(3_000);
    assert_eq!(b.data().iter().filter(|d| d.2 == 0).map(|d| d.0).max(), Some(100));
    assert_eq!((b.receiver().received().unwrap().delivered_bytes, b.sender().completed()), (21_000, None));
}

#[test]
fn start_times_are_drawn_inside_their_interval() {
    let mut spec = flow("newreno");
    spec.start = Start::Uniform(at(20), at(40));
    let first = |seed| Bench::seeded(seed, &spec, pipe()).run(100).log()[0].0;
    let times: Vec<Time> = (0..8).map(first).collect();
    assert!(times.iter().all(|&t| t >= at(20) && t < at(40)) && times.iter().any(|&t| t != times[0]));
}

#[test]
fn udp_sends_each_write_as_a_datagram() {
    let mut spec = flow("newreno");
    spec.transport = Transport::Udp(super::spec::UdpSpec::default());
    spec.traffic = Choice { entry: &DRIBBLE, args: Args::default() };
    let b = Bench::new(&spec, pipe()).run(1_000);
    let sizes: Vec<u32> = b.log().iter().map(|(_, p)| p.size).collect();
    assert_eq!(sizes, [328, 2_528, 1_040]);
    let r = b.receiver().received().unwrap();
    assert_eq!((r.packets, r.delivered_bytes, b.sender().completed()), (3, 300 + 2_500 + 1_012, Some(ms(500))));
    assert_eq!(b.receiver().one_way_delay().unwrap().len(), 3);
}

#[test]
fn one_way_delay_counts_from_the_first_transmission() {
    let b = Bench::new(&ten(flow("newreno")), losing(&[(3, 0)])).run(390);
    // Sent at 0, arrived at 150 as a retransmission; all other segments take 50 ms.
    let h = b.receiver().one_way_delay().unwrap();
    let late: u64 = h.buckets().filter(|&((_, to), _)| to > 51_001).map(|(_, n)| n).sum();
    assert!(h.len() > 15 && late == 1 && (h.quantile_ms(1.0) - 150.0).abs() < 2.0, "{h:?}");
}

#[test]
fn many_flows_do_not_disturb_each_other() {
    let specs = [2, 5, 9].map(|ms| {
        let mut spec = flow("newreno");
        spec.start = Start::At(at(ms));
        spec
    });
    let b = Bench::of(1, &specs, pipe()).run(455);
    // Arrivals at 52, 152, ... 452 ms and at 55, ... 455 ms: 1 + 2 + 4 + 8 + 16. The last of the third series would
    // arrive at 459 ms.
    let end = |i| b.world.node::<End>(NodeId(i)).unwrap();
    assert_eq!([1, 3, 5].map(|i| end(i).received().unwrap().packets), [31, 31, 15]);
    assert_eq!((end(1).sent(), end(0).received(), end(1).transfers().len()), (None, None, 0));
}

#[test]
fn sizes_that_cannot_be_are_errors() {
    let Transport::Tcp(t) = flow("newreno").transport else { panic!() };
    assert!(SegmentFormat::new(40, &t).unwrap_err().to_string().contains("at least 41 B"));
    let mut none = t.clone();
    none.window = Amount::Bytes(0);
    assert!(SegmentFormat::new(1500, &none).is_err());
    assert_eq!(SegmentFormat::new(1500, &t).unwrap().window_scale, 5);
}
