//! Packet traces of handshakes.

use super::pipe;
use crate::tcp::accecn::AccurateEcn;
use crate::tcp::bench::{Bench, Script, flow, ms, with};
use crate::tcp::spec::{EcnEcho, Handshake};
use contend_core::{Ecn, Flags};

#[test]
fn a_lost_syn_is_repeated_and_leaves_a_window_of_one() {
    let spec = with(flow("newreno"), |t| {
        t.handshake = Handshake::Tcp;
        t.initial_window = 4;
    });
    let opening = |script| {
        let b = Bench::new(&spec, script).run(3_500);
        let syns: Vec<u64> = b.packets(false).iter().filter(|(_, _, s)| s.flags.has(Flags::SYN)).map(|p| p.0).collect();
        let first = b.packets(false).iter().find(|(_, _, s)| s.len > 0).map(|(t, _, s)| (*t, s.seq));
        (syns, first, first.map(|f| b.new_at(f.0).len()))
    };
    assert_eq!(opening(pipe()), (vec![0], Some((100, 1)), Some(4)));
    assert_eq!(opening(Script { drop_syn: vec![(false, 0)], ..pipe() }), (vec![0, 1_000], Some((1_100, 1)), Some(1)));
    // Both ends repeat after a lost SYN-ACK.
    assert_eq!(opening(Script { drop_syn: vec![(true, 0)], ..pipe() }), (vec![0, 1_000], Some((1_100, 1)), Some(1)));
}

/// As in ns-2: no third segment, and a lost one does to the window and the timer what lost data do.
#[test]
fn a_first_segment_without_data_is_repeated_like_data() {
    let spec = with(flow("newreno"), |t| {
        t.handshake = Handshake::Segment;
        t.initial_window = 4;
    });
    let opening = |script, until| {
        let b = Bench::new(&spec, script).run(until);
        let sent: Vec<_> = b.packets(false).iter().map(|(t, _, s)| (*t, s.seq)).take(4).collect();
        let answers: Vec<_> = b.packets(true).iter().filter(|(_, _, s)| s.flags.has(Flags::SYN)).map(|p| p.0).collect();
        (sent, answers.len(), b.cwnd())
    };
    assert_eq!(opening(pipe(), 150), (vec![(0, 0), (100, 1), (100, 1_001), (100, 2_001)], 1, 4));
    // Only the sender repeats. The window is one segment, and grows by one in a round trip.
    let lost = |drop| Script { drop_syn: vec![(true, 0)], drop, ..pipe() };
    let sent = vec![(0, 0), (1_000, 0), (1_100, 1), (1_200, 1_001)];
    assert_eq!(opening(lost(vec![]), 1_350), (sent, 2, 3));
    // The first data are repeated after the doubled timeout.
    let (sent, _, _) = opening(lost(vec![(0, 0)]), 3_150);
    assert_eq!(sent, [(0, 0), (1_000, 0), (1_100, 1), (3_100, 1)]);
    // The first of four is lost: the others give three duplicates.
    let b = Bench::new(&spec, Script { drop: vec![(0, 0)], ..pipe() }).run(250);
    assert!(b.packets(false).iter().any(|(t, _, s)| (*t, s.seq) == (200, 1)), "{:?}", b.packets(false));
}

#[test]
fn a_handshake_syn_counts_one_and_its_options_are_sized() {
    let spec = with(flow("sack"), |t| {
        t.handshake = Handshake::Tcp;
        t.timestamps = Some(ms(1));
    });
    let b = Bench::new(&spec, pipe()).run(160);
    let got: Vec<(u32, u64, u64, u32)> =
        b.packets(false).iter().map(|(_, p, s)| (p.size, s.seq, s.ack, s.len)).collect();
    // Maximum segment size 4, timestamps with SACK-permitted 12, window scale 4.
    assert_eq!(got, [(60, 0, 0, 0), (52, 1, 1, 0), (1_040, 1, 1, 988)]);
    assert_eq!(b.packets(true)[0].1.size, 60);
}

/// The receiver offers 1000 segments; 16 bits without a scale hold 65 535 bytes.
#[test]
fn the_window_of_a_syn_ack_has_16_bits() {
    for handshake in [Handshake::Tcp, Handshake::Segment] {
        let b = Bench::new(&with(flow("newreno"), |t| t.handshake = handshake), pipe()).run(450);
        let windows: Vec<u32> = b.packets(true).iter().map(|p| p.2.window).collect();
        assert_eq!(windows[..2], [65_535, 1_000_000], "{handshake:?}");
    }
}

#[test]
fn the_handshake_agrees_on_ecn() {
    let ends = |wanted: bool| {
        with(flow("newreno"), |t| {
            t.handshake = Handshake::Tcp;
            t.ecn = if wanted { EcnEcho::Latch } else { EcnEcho::Off };
        })
    };
    let flags = |sender: bool, receiver: bool| {
        let b =
            Bench::pairs(1, &[(&ends(sender), &ends(receiver))], Script { mark: (0..9).collect(), ..pipe() }).run(290);
        let first = |reverse| b.packets(reverse)[0].2.flags;
        let (_, data, _) = b.packets(false)[2];
        (
            first(false),
            first(true),
            data.ecn() == Ecn::Ect,
            b.packets(true)[1].2.flags.has(Flags::ECE),
            b.sender().sent().unwrap().ecn_reductions,
        )
    };
    let (syn, syn_ack) = (Flags::SYN, Flags::SYN.with(Flags::ACK));
    let setup = syn.with(Flags::ECE).with(Flags::CWR);
    assert_eq!(flags(true, true), (setup, syn_ack.with(Flags::ECE), true, true, 1));
    assert_eq!(flags(true, false), (setup, syn_ack, false, false, 0));
    assert_eq!(flags(false, true), (syn, syn_ack, false, false, 0));
}

/// RFC 9768 §3.1.2, table 2: two ends with accurate ECN, one of them with classic ECN, one without ECN.
#[test]
fn the_handshake_agrees_on_accurate_ecn() {
    let ends = |ecn| {
        with(flow("newreno"), |t| {
            t.handshake = Handshake::Tcp;
            (t.ecn, t.ect) = (ecn, Ecn::Ect1);
        })
    };
    let run = |sender, receiver| {
        let b = Bench::pairs(1, &[(&ends(sender), &ends(receiver))], Script { mark: vec![2], ..pipe() }).run(390);
        let flags = |reverse| b.packets(reverse)[0].2.flags.ace();
        let data = b.packets(false)[2].1.ecn();
        let marked = b.packets(true).iter().filter(|(_, _, s)| s.flags.has(Flags::CWR.with(Flags::ECE))).count();
        (flags(false), flags(true), data, b.sender().sent().unwrap().ecn_reductions, marked > 0)
    };
    let accurate = EcnEcho::Accurate(AccurateEcn::USUAL);
    // The SYN was not ECN-capable. After a mark the count is 6: AE and CWR.
    assert_eq!(run(accurate, accurate), (0b111, 0b010, Ecn::Ect1, 1, false));
    assert_eq!(run(accurate, EcnEcho::Latch), (0b111, 0b001, Ecn::NotEct, 0, false));
    assert_eq!(run(EcnEcho::Latch, accurate), (0b011, 0b001, Ecn::Ect1, 1, false));
    assert_eq!(run(accurate, EcnEcho::Off), (0b111, 0, Ecn::NotEct, 0, false));
}
