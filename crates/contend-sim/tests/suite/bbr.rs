//! BBR on one bottleneck: goodput, queue, how often the queue is emptied, and fairness. The references are the rate of
//! the link, the product of rate and round-trip time, and the constants of the drafts.

use crate::common::*;
use contend_core::registry::{Amount, Value};
use contend_core::{Span, Time, cc, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::tcp::recovery;

/// A connection with controller `cc` and Linux's options: RACK, selective acknowledgments, timestamps, an initial
/// window of ten segments.
fn linux(cc: &str) -> TcpSpec {
    TcpSpec {
        name: cc.into(),
        cc: choose(cc::REGISTRY, cc, &[]),
        recovery: choose(recovery::REGISTRY, "rack", &[]),
        window: Amount::Packets(10_000),
        initial_window: 10,
        sack: true,
        timestamps: Some(Span::from_millis(1)),
        limited_transmit: true,
        ..newreno()
    }
}

/// Flows over a bottleneck of `rate` with a one-way delay of `delay`, a queue of `limit` packets, and a loss
/// probability `p` of data behind it.
fn dumbbell(tcp: &[TcpSpec], rate: u64, delay: u64, limit: u64, p: f64) -> Scenario {
    let n = tcp.len();
    let node = |name: String, router| NodeSpec { name, router };
    let nodes = (0..n)
        .map(|i| node(format!("host{i}"), false))
        .chain([node("router".into(), true), node("sink".into(), false)])
        .collect();
    let wire = |rate, delay, limit, loss| WireSpec {
        rate: WireRate::Constant(rate),
        delay: Span::from_millis(delay),
        queue: fifo(limit),
        loss,
    };
    let access = |i| LinkSpec {
        name: format!("access{i}"),
        from: Place::Node(i),
        to: Place::Node(n),
        forward: wire(1_000_000_000, 0, 10_000, None),
        reverse: wire(1_000_000_000, 0, 10_000, None),
    };
    let bottleneck = LinkSpec {
        name: "bottleneck".into(),
        from: Place::Node(n),
        to: Place::Node(n + 1),
        forward: wire(rate, delay, limit, if p > 0.0 { loss("bernoulli", &[("p", Value::Number(p))]) } else { None }),
        reverse: wire(rate, delay, 10_000, None),
    };
    let flow = |(i, t): (usize, &TcpSpec)| {
        let start = Start::At(Time::ZERO + Span::from_millis(500 * i as u64));
        bulk(format!("f.{i}"), Place::Node(i), Place::Node(n + 1), t.clone(), start)
    };
    Scenario {
        seed: 1,
        cell: None,
        nodes,
        links: (0..n).map(access).chain([bottleneck]).collect(),
        flows: tcp.iter().enumerate().map(flow).collect(),
    }
}

struct Seen {
    /// Goodput of each flow in bits per second.
    goodput: Vec<f64>,
    /// Mean packets in the bottleneck's queue.
    queue: f64,
    /// The times at which the first flow's window fell to at most `low` segments.
    dips: Vec<f64>,
}

/// Runs `s` and measures from `from` to `to` seconds.
fn run(s: &Scenario, from: u32, to: u32, low: u32) -> Seen {
    let mut net = Net::new(s).unwrap();
    let queue = net.queues().position(|n| n == "bottleneck").unwrap();
    let read = |net: &mut Net, t: f64| {
        net.run_until(at(t));
        let bytes: Vec<u64> = (0..net.flows()).map(|i| net.sent(i).acked_bytes).collect();
        (bytes, net.meter(queue).unwrap().read(at(t)).packet_ns)
    };
    let (bytes, waited) = read(&mut net, f64::from(from));
    let (mut dips, mut is_low) = (Vec::new(), false);
    for tick in from * 100..to * 100 {
        net.run_until(at(f64::from(tick) / 100.0));
        let now = net.sender(0).unwrap().snd_cwnd <= low;
        if now && !is_low {
            dips.push(f64::from(tick) / 100.0);
        }
        is_low = now;
    }
    let (end, left) = read(&mut net, f64::from(to));
    let time = f64::from(to - from);
    let goodput = end.iter().zip(&bytes).map(|(e, b)| (e - b) as f64 * 8.0 / time).collect();
    Seen { goodput, queue: (left - waited) as f64 / 1e9 / time, dips }
}

/// Payload rate of `rate` with packets of 1500 B that have 52 B of headers.
fn payload(rate: u64) -> f64 {
    rate as f64 * 1448.0 / 1500.0
}

#[test]
fn a_flow_alone_carries_the_link_with_little_in_the_queue() {
    // 10 Mb/s and 40 ms hold 33 packets. Linux paces at 99 % and loses 200 ms in 10 s: at least 97 %, minus the
    // draining phase of a cycle.
    for cc in ["bbr", "bbr3"] {
        let seen = run(&dumbbell(&[linux(cc)], 10_000_000, 20, 1000, 0.0), 5, 45, 4);
        let share = seen.goodput[0] / payload(10_000_000);
        println!("{cc}: {share} {} {:?}", seen.queue, seen.dips);
        assert!((0.94..=1.0).contains(&share), "{cc}: {share}");
        assert!(seen.queue < 1.25 * 33.3, "{cc}: {}", seen.queue);
    }
}

#[test]
fn bbr_visits_an_empty_queue_every_ten_seconds() {
    let seen = run(&dumbbell(&[linux("bbr")], 10_000_000, 20, 1000, 0.0), 1, 61, 4);
    // Ten seconds after the minimum round-trip time was last seen. This is at most one cycle of 8 round trips of 42 ms
    // after a visit; a visit takes 200 ms and two round trips.
    assert!((5..=6).contains(&seen.dips.len()), "{:?}", seen.dips);
    for pair in seen.dips.windows(2) {
        let gap = pair[1] - pair[0];
        assert!((10.0..=10.62).contains(&gap), "{:?}", seen.dips);
    }
}

#[test]
fn bbr3_visits_half_a_pipe_every_five_seconds() {
    // 833 packets per second and 41.3 ms (including 1.2 ms for the transmission of a packet) hold 34.4 packets. Half of
    // them, rounded up, is 18. The next visit is due five seconds after the last one or after a smaller round-trip
    // time; a visit takes 200 ms and one or two round trips of 42 ms.
    let seen = run(&dumbbell(&[linux("bbr3")], 10_000_000, 20, 1000, 0.0), 1, 61, 18);
    assert!((10..=12).contains(&seen.dips.len()), "{:?}", seen.dips);
    for pair in seen.dips.windows(2) {
        let gap = pair[1] - pair[0];
        assert!((5.0..=5.62).contains(&gap), "{:?}", seen.dips);
    }
}

#[test]
fn bbr3_loses_less_than_bbr_in_a_shallow_queue() {
    // 100 Mb/s and 40 ms hold 333 packets; the queue holds a quarter of this. Version 3 probes every 63 rounds, and
    // stops one round after more than 2 % of the data in flight are lost. A round at gain 1.25 sends a quarter too
    // much: 0.25 / 63 = 0.4 %. Version 1 keeps twice the path's volume in flight, even with losses.
    let lost = |cc: &str| {
        let mut net = Net::new(&dumbbell(&[linux(cc)], 100_000_000, 20, 83, 0.0)).unwrap();
        let mut count = |t: f64| {
            net.run_until(at(t));
            (net.sent(0).retransmitted as f64, net.sent(0).packets as f64)
        };
        // Startup is over.
        let (from, to) = (count(10.0), count(70.0));
        println!("{cc}: {from:?} {to:?}");
        (to.0 - from.0) / (to.1 - from.1)
    };
    let (v1, v3) = (lost("bbr"), lost("bbr3"));
    println!("lost: {v1} {v3}");
    assert!(v3 < 0.02 && v3 < v1, "{v1} {v3}");
}

#[test]
fn bbr3_carries_on_with_one_percent_of_losses() {
    // §5.3.3.8.3: a round with 1 % loss lowers the rate by 1 % until the next probe, here after 34 rounds (the path's
    // volume). The mean of 0.99^k is 0.85; the headroom may take another 15 %.
    let share =
        |p: f64| run(&dumbbell(&[linux("bbr3")], 10_000_000, 20, 1000, p), 5, 65, 4).goodput[0] / payload(10_000_000);
    println!("1 %: {} 5 %: {}", share(0.01), share(0.05));
    assert!(share(0.01) > 0.72);
}

#[test]
fn two_flows_share() {
    for cc in ["bbr", "bbr3"] {
        let seen = run(&dumbbell(&[linux(cc), linux(cc)], 10_000_000, 20, 1000, 0.0), 20, 80, 4);
        let (a, b) = (seen.goodput[0], seen.goodput[1]);
        println!("{cc}: {a} {b} queue {}", seen.queue);
        assert!((a + b) / payload(10_000_000) > 0.9, "{cc}: {a} {b}");
        assert!(a.max(b) / a.min(b) < 3.0, "{cc}: {a} {b}");
    }
}

#[test]
fn losses_that_mean_nothing_do_not_slow_bbr_down() {
    // 5 % random loss. By the square-root law Reno gets 1.22 / sqrt(0.05) = 5.5 segments per round trip of 100 ms, a
    // third of the link.
    let goodput =
        |tcp: TcpSpec| run(&dumbbell(&[tcp], 2_000_000, 50, 1000, 0.05), 5, 65, 4).goodput[0] / payload(2_000_000);
    let bbr = goodput(linux("bbr"));
    let reno = goodput(TcpSpec { cc: choose(cc::REGISTRY, "reno", &[]), ..linux("reno") });
    println!("bbr {bbr} reno {reno} bbr3 {}", goodput(linux("bbr3")));
    assert!(bbr > 0.8, "{bbr}");
    assert!(reno < 0.35, "{reno}");
}

#[test]
fn pacing_by_linuxs_rule_loses_no_throughput_and_halves_the_bursts() {
    // Slow start in a path without loss whose queue never overflows. At a pace of two windows per round trip, segments
    // arrive at the rate of the link.
    let longest = |pacing: bool| {
        let s =
            dumbbell(&[TcpSpec { pacing, initial_ssthresh: Some(64), ..linux("reno") }], 10_000_000, 50, 10_000, 0.0);
        let mut net = Net::new(&s).unwrap();
        let queue = net.queues().position(|n| n == "bottleneck").unwrap();
        let mut most = 0;
        for ms in 1..1_500 {
            net.run_until(at(f64::from(ms) / 1000.0));
            most = most.max(net.meter(queue).unwrap().waiting());
        }
        (most, net.sent(0).acked_bytes)
    };
    let (burst, paced) = (longest(false), longest(true));
    println!("{burst:?} {paced:?}");
    assert!(paced.0 * 2 <= burst.0, "{burst:?} {paced:?}");
    assert!(paced.1 as f64 > 0.85 * burst.1 as f64, "{burst:?} {paced:?}");
}

#[test]
fn bbr3_that_listens_to_marks_keeps_a_queue_near_its_threshold() {
    // Four flows over 100 Mb/s and 4 ms (33 packets), and a queue that marks from 12 packets on, as for DCTCP. Each
    // flow takes the other flows' queue for a part of the path. Flows that react to marks stop their probes at the
    // threshold; the test allows half as much again for the delay of the reaction.
    let queue = |ecn: bool| {
        let mut tcp = linux("bbr3");
        tcp.cc = choose(cc::REGISTRY, "bbr3", &[("ecn", Value::Bool(ecn))]);
        tcp.ecn = EcnEcho::PerPacket;
        let mut s = dumbbell(&[tcp.clone(), tcp.clone(), tcp.clone(), tcp], 100_000_000, 2, 400, 0.0);
        if let Some(l) = s.links.last_mut() {
            let step =
                [("limit", Amount::Packets(400)), ("min_th", Amount::Packets(12)), ("max_th", Amount::Packets(13))]
                    .map(|(k, v)| (k, Value::Amount(v)));
            let rest = [
                ("w_q", Value::Number(1.0)),
                ("max_p", Value::Number(1.0)),
                ("ecn", Value::Bool(true)),
                ("ecn_above", Value::Word("mark".into())),
            ];
            l.forward.queue = choose(qdisc::REGISTRY, "red", &[&step[..], &rest[..]].concat());
        }
        let seen = run(&s, 5, 25, 4);
        println!("ecn {ecn}: {:?} {}", seen.goodput, seen.queue);
        assert!(seen.goodput.iter().sum::<f64>() > 0.9 * payload(100_000_000));
        seen.queue
    };
    let (deaf, listens) = (queue(false), queue(true));
    assert!(listens < 18.0 && listens < deaf, "{deaf} {listens}");
}
