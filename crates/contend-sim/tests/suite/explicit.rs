//! Explicit congestion control of whole flows: datagrams, probes, feedback, and the forms of XCP-Winf and RCP-Winf.

use crate::common::law::packets_are_conserved;
use crate::common::*;
use contend_core::registry::{Amount, Value};
use contend_core::{Span, Time, cc, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::tcp::recovery;

/// `flows` from one host to another over 100 Mb/s and 5 ms, then `rate` and 15 ms with this discipline.
fn path(rate: u64, queue: &str, with: &[(&'static str, Value)], mut flows: Vec<FlowSpec>) -> Scenario {
    let nodes = ["a", "router", "b"].map(|name| NodeSpec { name: name.into(), router: name == "router" }).into();
    let bottleneck = WireSpec {
        rate: WireRate::Constant(rate),
        queue: choose(qdisc::REGISTRY, queue, with),
        ..wire(Span::from_millis(15))
    };
    let link = |name: &str, from, to, forward: WireSpec| LinkSpec {
        name: name.into(),
        from: Place::Node(from),
        to: Place::Node(to),
        reverse: WireSpec { queue: fifo(10_000), ..forward.clone() },
        forward,
    };
    let links = vec![link("first", 0, 1, wire(Span::from_millis(5))), link("bottleneck", 1, 2, bottleneck)];
    for (i, f) in flows.iter_mut().enumerate() {
        (f.name, f.from, f.to) = (format!("f.{i}"), Place::Node(0), Place::Node(2));
    }
    Scenario { seed: 1, cell: None, nodes, links, flows }
}

/// Datagrams of 1500 B whose application writes `rate`.
fn datagrams(rate: u64, cc: &str, ack: u32, average: f64) -> FlowSpec {
    let control = UdpControl { cc: choose(cc::REGISTRY, cc, &[]), ack, ack_delay: Span::from_millis(30), average };
    let flow = cbr(String::new(), Place::Node(0), Place::Node(0), rate);
    let udp = UdpSpec { control: Some(Box::new(control)), ..UdpSpec::default() };
    FlowSpec { ends: EndsSpec { transport: Transport::Udp(udp), ..flow.ends }, ..flow }
}

/// Unlimited TCP data.
fn connection(cc: &str) -> FlowSpec {
    let tcp = TcpSpec {
        cc: choose(cc::REGISTRY, cc, &[]),
        recovery: choose(recovery::REGISTRY, "sack", &[]),
        sack: true,
        handshake: Handshake::Tcp,
        window: Amount::Packets(10_000),
        rto: RtoSpec { granularity: Span::from_micros(1), ..newreno().rto },
        ..newreno()
    };
    bulk(String::new(), Place::Node(0), Place::Node(0), tcp, Start::At(Time::ZERO))
}

/// IP bytes per second of each flow from 20 to 40 s, as a share of `rate` bits per second.
fn shares(s: &Scenario, rate: u64) -> Vec<f64> {
    let mut net = Net::new(s).unwrap();
    let bytes = |net: &Net| (0..s.flows.len()).map(|i| net.received(i).bytes).collect::<Vec<_>>();
    net.run_until(at(20.0));
    let before = bytes(&net);
    net.run_until(at(40.0));
    bytes(&net).iter().zip(before).map(|(b, a)| (b - a) as f64 * 8.0 / 20.0 / rate as f64).collect()
}

/// No packet disappears, and the same run gives the same digest.
fn all_hold(s: &Scenario, stops: &[Time]) {
    let run = || {
        let mut net = Net::new(s).unwrap();
        for stop in stops {
            net.run_until(*stop);
            packets_are_conserved(&mut net);
        }
        assert!(net.received(0).packets > 0);
        net.world.trace.digest()
    };
    assert_eq!(run(), run());
}

fn near(a: f64, b: f64, within: f64) -> bool {
    (a / b - 1.0).abs() <= within
}

#[test]
fn datagrams_share_a_link_as_rcp_allows_and_nothing_is_dropped() {
    for (ack, average) in [(1, 1.0), (4, 0.1), (1000, 0.1)] {
        let flows = vec![datagrams(10_000_000, "rcp", ack, average), datagrams(8_000_000, "rcp", ack, average)];
        let s = path(5_000_000, "rcp", &[], flows);
        let got = shares(&s, 5_000_000);
        assert!(got.iter().all(|&x| near(x, 0.475, 0.03)), "{ack}, {average}: {got:?}");
        all_hold(&s, &[at(0.5), at(5.0)]);
    }
}

#[test]
fn datagrams_share_a_link_as_xcp_allows() {
    let flows = vec![datagrams(10_000_000, "xcp", 1, 1.0), datagrams(8_000_000, "xcp", 1, 1.0)];
    let s = path(5_000_000, "xcp", &[], flows);
    let got = shares(&s, 5_000_000);
    assert!(got.iter().all(|&x| near(x, 0.5, 0.05)), "{got:?}");
    all_hold(&s, &[at(0.5), at(5.0)]);
}

/// The sender sends at the smaller of the application's rate and the allowed rate; what one flow does not use, the
/// other gets (RCP).
#[test]
fn an_application_below_the_allowed_rate_keeps_its_rate() {
    let s = path(5_000_000, "rcp", &[], vec![datagrams(1_000_000, "rcp", 1, 1.0), datagrams(9_000_000, "rcp", 1, 1.0)]);
    let got = shares(&s, 5_000_000);
    // 1 Mb/s of payload, and 40 B of headers for each 1460 B.
    assert!(near(got[0], 0.2 * 1500.0 / 1460.0, 0.01), "{got:?}");
    assert!(near(got[0] + got[1], 0.95, 0.03), "{got:?}");
}

/// 100 kb/s for one packet of 1500 B in 126 ms, with a round trip of 41 ms.
#[test]
fn a_sender_that_waits_longer_than_a_round_trip_asks_for_its_rate() {
    let s = path(100_000, "rcp", &[], vec![connection("rcp")]);
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(60.0));
    let (sent, r) = (net.sent(0), net.received(0));
    // Data, acknowledgments, handshake; the others are probes and the answers to them.
    let probes = net.entered(0) - sent.packets - r.acks;
    assert!(probes > sent.packets, "{probes} probes, {} packets", sent.packets);
    assert_eq!(sent.retransmitted, 0, "answers to probes are no duplicates");
    all_hold(&s, &[at(0.5), at(5.0)]);
}

#[test]
fn without_feedback_datagrams_leave_once_in_a_timeout() {
    let mut s = path(5_000_000, "rcp", &[], vec![datagrams(5_000_000, "rcp", 1, 1.0)]);
    s.links[0].reverse.loss = loss("bernoulli", &[("p", Value::Number(1.0))]);
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(100.0));
    // The timeout doubles from 1 s to 60 s.
    assert!((5..12).contains(&net.sent(0).packets), "{}", net.sent(0).packets);
}

/// U2: as printed, feedback grows with the load, and the flows keep a queue. No packet gets more than the available
/// bandwidth, which keeps the queue from growing to its limit.
#[test]
fn xcp_winf_as_printed_keeps_a_queue_and_as_repaired_it_does_not() {
    let run = |load: &str| {
        let s = path(
            5_000_000,
            "xcp_winf",
            &[("load", Value::Word(load.into()))],
            vec![connection("xcp"), connection("xcp")],
        );
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(40.0));
        let i = net.queues().position(|q| q == "bottleneck").unwrap();
        let waiting = net.meter(i).unwrap().read(at(40.0)).packet_ns as f64 / 40e9;
        (shares(&s, 5_000_000), waiting)
    };
    let literal = run("literal").1;
    for load in ["available", "used"] {
        let (got, waiting) = run(load);
        assert!(got.iter().all(|&x| near(x, 0.5, 0.05)), "{load}: {got:?}");
        assert!(waiting < literal / 3.0, "{load}: {waiting}, as printed {literal}");
    }
}

/// U3: with the capacity in place of the sender's throughput, unequal shares stay unequal.
#[test]
fn xcp_winf_is_fair_only_with_the_throughput_of_the_sender() {
    let jain = |throughput: &str| {
        let mut flows = vec![connection("xcp"), connection("xcp")];
        flows[1].ends.start = Start::At(at(5.0));
        let s = path(5_000_000, "xcp_winf", &[("throughput", Value::Word(throughput.into()))], flows);
        let got = shares(&s, 5_000_000);
        (got[0] + got[1]).powi(2) / (2.0 * (got[0].powi(2) + got[1].powi(2)))
    };
    let (own, capacity) = (jain("own"), jain("capacity"));
    assert!(own > 0.99 && capacity < 0.95, "{own}, {capacity}");
}

/// U4: as printed the rate decays to its floor, and eq. 5.18 alone gives every flow the capacity.
#[test]
fn rcp_winf_rests_at_the_share_except_as_printed() {
    let run = |input: &str, stamp: &str| {
        let with = [("input", Value::Word(input.into())), ("stamp", Value::Word(stamp.into()))];
        let s = path(5_000_000, "rcp_winf", &with, vec![connection("rcp"), connection("rcp")]);
        shares(&s, 5_000_000).iter().sum::<f64>()
    };
    assert!(near(run("measured", "rate"), 0.95, 0.03), "{}", run("measured", "rate"));
    assert!(run("literal", "both") < 0.05, "{}", run("literal", "both"));
    assert!(run("literal", "capacity") > 0.98, "{}", run("literal", "capacity"));
}

/// Eq. 5.22: one flow of RCP and one of NewReno on a link.
#[test]
fn a_tcp_aware_queue_leaves_the_share_of_tcp() {
    let run = |aware: bool| {
        let with = [("tcp_aware", Value::Bool(aware))];
        let s = path(5_000_000, "rcp_winf", &with, vec![connection("rcp"), connection("reno")]);
        shares(&s, 5_000_000)
    };
    let (with, without) = (run(true), run(false));
    assert!(with[0] < 0.5, "{with:?}");
    assert!(with.iter().all(|x| x.is_finite()) && without.iter().all(|x| x.is_finite()), "{with:?} {without:?}");
}

/// Without an observer of the air, the senders of XCP-Winf and RCP-Winf are those of XCP and RCP.
#[test]
fn without_an_observer_the_winf_senders_do_what_their_bases_do() {
    for (base, winf) in [("xcp", "xcp_winf"), ("rcp", "rcp_winf")] {
        let digest = |cc: &str| {
            let mut net = Net::new(&path(5_000_000, winf, &[], vec![connection(cc), connection(cc)])).unwrap();
            net.run_until(at(10.0));
            net.world.trace.digest()
        };
        assert_eq!(digest(base), digest(winf));
    }
}

/// Mean packets waiting at the bottleneck from 20 to 40 s.
fn waiting(s: &Scenario) -> f64 {
    let mut net = Net::new(s).unwrap();
    let i = net.queues().position(|q| q == "bottleneck").unwrap();
    let [before, after] = [20.0, 40.0].map(|t| {
        net.run_until(at(t));
        net.meter(i).unwrap().read(at(t)).packet_ns as f64
    });
    (after - before) / 20e9
}

/// XCP-b does not know the capacity. Its queue comes to rest above zero, near kappa, and the link is full.
#[test]
fn xcp_b_fills_a_link_of_unknown_capacity_and_shares_it() {
    for kappa in [5, 20] {
        let with = [("kappa", Value::Amount(Amount::Packets(kappa)))];
        let mut flows = vec![connection("xcp"), connection("xcp")];
        flows[1].ends.start = Start::At(at(5.0));
        let s = path(5_000_000, "xcp_b", &with, flows);
        let (got, queue) = (shares(&s, 5_000_000), waiting(&s));
        assert!(near(got.iter().sum(), 1.0, 0.02), "{kappa}: {got:?}");
        assert!(got.iter().all(|&x| near(x, 0.5, 0.1)), "{kappa}: {got:?}");
        assert!(queue < 2.0 * kappa as f64 + 5.0 && queue > 0.5 * kappa as f64, "{kappa}: {queue} packets wait");
        all_hold(&s, &[at(0.5), at(6.0)]);
    }
}

/// Additive increase and multiplicative decrease make the rates of two flows equal, whenever they begin. Both are
/// halved when the queue is congested, so the load is between one half and all of the link, on average at least three
/// quarters.
#[test]
fn wcp_shares_a_link_and_keeps_its_queue_from_overflowing() {
    let mut flows = vec![connection("wcp"), connection("wcp")];
    flows[1].ends.start = Start::At(at(5.0));
    let s = path(5_000_000, "wcp", &[], flows);
    let got = shares(&s, 5_000_000);
    assert!(got.iter().sum::<f64>() > 0.75, "{got:?}");
    assert!(near(got[0], got[1], 0.1), "{got:?}");
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(40.0));
    assert_eq!((net.sent(0).retransmitted, net.sent(1).retransmitted), (0, 0));
    all_hold(&s, &[at(0.5), at(6.0)]);
}

#[test]
fn every_source_that_datagrams_can_carry_obeys_the_laws_under_control() {
    for (source, _) in every::sources().into_iter().filter(|(_, carried)| *carried) {
        for cc in ["xcp", "rcp", "wcp"] {
            let mut flow = datagrams(1, cc, 2, 0.5);
            flow.ends.traffic = source.clone();
            all_hold(&path(500_000, cc, &[], vec![flow]), &[at(0.3), at(3.0)]);
        }
    }
}
