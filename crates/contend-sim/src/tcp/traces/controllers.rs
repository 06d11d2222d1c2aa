//! Packet traces that show what controllers and estimators are told, and what they do.

use super::{losing, pipe, ten};
use crate::tcp::bench::{Bench, MSS, Script, at, flow, flow_with, ms, with};
use crate::tcp::spec::{EcnEcho, TcpSpec};
use contend_core::cc::{self, Ack, Controller, Needs, Response, Signal, Window};
use contend_core::registry::{Args, Choice, Entry, Value};
use contend_core::{Cx, estimate};

/// A controller whose window shows what an acknowledgment reports about round-trip times.
#[derive(Debug)]
struct Mirror;

impl Controller for Mirror {
    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        w.cwnd = (ack.srtt_us + ack.rttvar_us + ack.min_rtt_us) / 1000;
    }
    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::keep(w)
    }
}

static MIRROR: Entry<cc::Build> = Entry {
    name: "mirror",
    cite: "",
    summary: "",
    params: &[],
    formulas: &[],
    facts: &[],
    build: |_| Ok(Box::new(Mirror)),
};

#[test]
fn a_controller_is_told_smoothed_deviation_and_least_round_trip() {
    let spec = with(flow("newreno"), |t| t.cc = Choice { entry: &MIRROR, args: Args::default() });
    // RFC 6298 §2.2: the first sample of 100 ms gives SRTT 100 and RTTVAR 50; the minimum is 100.
    assert_eq!(Bench::new(&spec, pipe()).run(150).cwnd(), 250);
}

#[test]
fn an_unmarked_loss_leaves_jerseys_window_as_it_is() {
    let jersey = |t: &mut TcpSpec| {
        t.timestamps = Some(ms(1));
        t.ecn = EcnEcho::Latch;
    };
    let b = Bench::new(&with(ten(flow_with("jersey", "newreno", &[])), jersey), losing(&[(3, 0)])).run(290);
    let s = b.sender().sent().unwrap();
    // Reno's window would be 5. The 3 ACKs before the duplicates have not opened the window; the ACKs of the next round
    // trip come later.
    assert_eq!((b.cwnd(), s.fast_retransmits, s.timeouts, s.retransmitted), (10, 1, 0, 1));
    // Segment 20 is sent and marked in the second round trip. ARE x RTTmin is at most the 10 segments of a round trip.
    let b = Bench::new(&with(ten(flow_with("jersey", "newreno", &[])), jersey), Script { mark: vec![20], ..pipe() })
        .run(2_000);
    let s = b.sender().sent().unwrap();
    assert_eq!((s.ecn_reductions, s.retransmitted), (1, 0));
}

#[test]
fn a_window_that_an_error_makes_smaller_begins_without_credit() {
    let b = Bench::new(&ten(flow_with("veno", "newreno", &[])), losing(&[(9, 0)])).run(390);
    // Nine ACKs before the duplicates earn nine tenths of a segment. The loss leaves 8 of 10 segments, and seven ACKs
    // follow the recovery: seven eighths of a segment.
    assert_eq!((b.cwnd(), b.sender().sent().unwrap().fast_retransmits), (8, 1));
}

#[test]
fn a_reaction_to_every_mark_does_not_stop_growth() {
    // Every packet is marked, and the threshold is high. Once per round trip, the ACK that reduces the window does not
    // let it grow: 9 of 10 ACKs count.
    let run = |reaction: &str| {
        let mut spec = with(flow_with("jersey", "newreno", &[]), |t| {
            t.initial_window = 10;
            t.ecn = EcnEcho::PerPacket;
            t.timestamps = Some(ms(1));
            t.cc.args.set("reaction", Value::Word(reaction.to_owned()));
            t.cc.args.set("floor", Value::Integer(100));
        });
        spec.packet = MSS + 52;
        Bench::new(&spec, Script { mark: (0..1000).collect(), ..pipe() }).run(150)
    };
    let (every, round) = (run("every"), run("round"));
    assert_eq!((every.cwnd(), every.sender().sent().unwrap().ecn_reductions), (20, 10));
    assert_eq!((round.cwnd(), round.sender().sent().unwrap().ecn_reductions), (19, 1));
}

#[test]
fn acknowledgments_report_the_hops_of_the_data() {
    let b = Bench::new(&ten(flow("newreno")), Script { hops: 6, ..pipe() }).run(1_000);
    let echoed = |reverse| b.packets(reverse).iter().map(|(_, p, _)| p.hops_echo).max();
    assert_eq!((echoed(false), echoed(true)), (Some(0), Some(6)));
}

#[test]
fn tcp_ap_paces_by_the_delay_over_four_of_the_hops_that_acknowledgments_report() {
    let spec = with(flow_with("tcp_ap", "newreno", &[]), |t| t.initial_window = 4);
    let b = Bench::new(&spec, Script { hops: 9, ..pipe() }).run(2_000);
    let sent: Vec<u64> = b.data().iter().map(|d| d.0).collect();
    // The first gaps are 50 ms. The round trip is 100 ms on 10 links: 2 (10 ms + 1000 B / 2 Mb/s) = 28 ms.
    assert_eq!(sent[..3], [0, 50, 100]);
    let late = &sent[sent.len() - 20..];
    assert!(late.windows(2).all(|w| (27..=29).contains(&(w[1] - w[0]))), "{late:?}");
}

#[test]
fn estimators_watch_and_change_nothing() {
    let plain = Bench::new(&ten(flow("newreno")), losing(&[(3, 0), (40, 0)])).run(2_000);
    let watched = with(ten(flow("newreno")), |t| {
        t.estimates = estimate::REGISTRY
            .iter()
            .map(|entry| (entry.name.to_owned(), Choice { entry, args: watching() }))
            .collect();
    });
    let watched = Bench::new(&watched, losing(&[(3, 0), (40, 0)])).run(2_000);
    assert_eq!(plain.log(), watched.log());
    assert!(plain.sender().estimates(at(2_000)).is_empty());
    // About 12 segments of 1000 B in a round trip of 100 ms arrive at once. Directly after them ARE is up to twice the
    // rate, because R = R / 2 + 12 L / tau.
    let rates = watched.sender().estimates(at(2_000));
    assert!(
        rates.len() == estimate::REGISTRY.len() && rates.iter().all(|&r| (60_000..300_000).contains(&r)),
        "{rates:?}"
    );
}

/// Parameters of every estimator.
fn watching() -> Args {
    let mut args = Args::default();
    let times = [("tau", 500), ("shortest", 50), ("window", 1_000), ("omega", 1_000)];
    times.into_iter().for_each(|(name, t)| args.set(name, Value::Time(ms(t))));
    [("filter", 1), ("m", 4)].into_iter().for_each(|(name, n)| args.set(name, Value::Integer(n)));
    args.set("count", Value::Word("westwood".to_owned()));
    args
}

/// A controller that lets a segment leave every 500 ms.
#[derive(Debug)]
struct Slow;

impl Controller for Slow {
    fn needs(&self) -> Needs {
        Needs { full_gaps: true, ..Needs::default() }
    }
    fn on_start(&mut self, w: &mut Window) {
        w.pacing_rate = u64::from(2 * MSS);
    }
    fn on_ack(&mut self, _: &mut Cx, _: &mut Window, _: &Ack) {}
    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        Response::keep(w)
    }
}

static SLOW: Entry<cc::Build> = Entry {
    name: "slow",
    cite: "",
    summary: "",
    params: &[],
    formulas: &[],
    facts: &[],
    build: |_| Ok(Box::new(Slow)),
};

#[test]
fn a_sender_that_waits_for_its_pacer_probes_no_window_and_runs_no_timer() {
    let spec = with(ten(flow("newreno")), |t| t.cc = Choice { entry: &SLOW, args: Args::default() });
    // The first sample of 100 ms gives a timeout of 300 ms, which is shorter than the gap.
    let b = Bench::new(&spec, pipe()).run(1_700);
    let sent: Vec<(u64, u32)> = b.packets(false).iter().map(|(at, _, s)| (*at, s.len)).collect();
    assert_eq!(sent, [(0, MSS), (500, MSS), (1_000, MSS), (1_500, MSS)]);
    assert_eq!((b.sender().sent().unwrap().probes, b.sender().sent().unwrap().timeouts), (0, 0));
    // The timer of segment 1 begins when it is sent, and not when segment 0 is acknowledged.
    assert_eq!(Bench::new(&spec, losing(&[(1, 0)])).run(900).again(), [(800, 1)]);
}
