//! The effects of a sender's overhead, and the properties that it does not change.

use crate::common::*;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access::Category;

/// Two NewReno flows over one drop-tail queue of 30 packets at 10 Mb/s. Without queueing their round trips take 40 ms
/// and `long`.
fn dumbbell(long: Span, overhead: Option<UniformSpan>, seed: u64) -> Scenario {
    let nodes = ["a", "b", "router", "d"].map(|name| NodeSpec { name: name.into(), router: name == "router" }).into();
    let link = |name: &str, from, to, forward: WireSpec| {
        let reverse = WireSpec { queue: fifo(10_000), ..forward.clone() };
        LinkSpec { name: name.into(), from: Place::Node(from), to: Place::Node(to), forward, reverse }
    };
    let bottleneck = WireSpec { rate: WireRate::Constant(10_000_000), queue: fifo(30), ..wire(Span::from_millis(15)) };
    let links = vec![
        link("a", 0, 2, wire(Span::from_millis(5))),
        link("b", 1, 2, wire(Span::from_nanos(long.as_nanos() / 2 - 15_000_000))),
        link("bottleneck", 2, 3, bottleneck),
    ];
    let flow = |(i, name): (usize, &str)| {
        let tcp = TcpSpec { window: contend_core::registry::Amount::Packets(1000), ..newreno() };
        let start = Start::At(Time::ZERO + Span::from_millis(100 * i as u64));
        with(overhead, bulk(name.into(), Place::Node(i), Place::Node(3), tcp, start))
    };
    Scenario { seed, cell: None, nodes, links, flows: ["short", "long"].into_iter().enumerate().map(flow).collect() }
}

fn with(overhead: Option<UniformSpan>, f: FlowSpec) -> FlowSpec {
    FlowSpec { ends: EndsSpec { overhead, ..f.ends }, ..f }
}

/// Ratio of the goodput of the flow with the shorter round trip to that of the other flow, from 20 to 120 s.
fn ratio(s: &Scenario) -> f64 {
    let mut net = Net::new(s).unwrap();
    let delivered = |net: &Net| [0, 1].map(|i| net.received(i).delivered_bytes as f64);
    net.run_until(at(20.0));
    let before = delivered(&net);
    net.run_until(at(120.0));
    let after = delivered(&net);
    (after[0] - before[0]) / (after[1] - before[1])
}

/// Round trips from 80 to 81.2 ms: the transmission time of a packet at the bottleneck is 1.2 ms.
fn round_trips() -> impl Iterator<Item = Span> {
    (0..7).map(|i| Span::from_micros(80_000 + 200 * i))
}

/// Floyd and Jacobson 1992: one millisecond of the longer round trip changes the phase, and the shares jump.
#[test]
fn without_overhead_the_shares_of_two_flows_jump_with_the_phase() {
    let ratios: Vec<f64> = round_trips().map(|long| ratio(&dumbbell(long, None, 1))).collect();
    let (least, most) = ratios.iter().fold((f64::MAX, 0f64), |(a, b), r| (a.min(*r), b.max(*r)));
    assert!(most > 2.0 * least, "{ratios:?}");
    // No random stream is used: the seed changes nothing.
    assert_eq!(ratio(&dumbbell(Span::from_millis(80), None, 2)), ratios[0]);
}

/// The goodput falls with a power of the round trip between 1 (both flows lose the same share of their packets) and 2
/// (both lose at the same time; Lakshman and Madhow 1997). The round trips are 40 and 80 ms with an empty queue, 76 and
/// 116 ms with a full one: the ratio is between 116/76 and (80/40)^2.
#[test]
fn with_overhead_the_shares_follow_the_round_trips_at_every_phase() {
    for (i, long) in round_trips().enumerate() {
        let r = ratio(&dumbbell(long, Some(between(0, 1200)), i as u64));
        assert!((116.0 / 76.0..4.0).contains(&r), "{long}: {r}");
    }
}

#[test]
fn overhead_of_one_flow_leaves_the_random_streams_of_others_alone() {
    // Poisson arrivals far below the capacity of the air: the times of writing show the stream of the arrivals.
    let sent = |overhead| {
        let mut s = saturated(phy_g(), MAC, 2, 54_000_000, 5);
        for f in &mut s.flows {
            let rate = contend_core::registry::Value::Rate(200_000);
            f.ends.traffic = choose(contend_sim::traffic::REGISTRY, "poisson", &[("rate", rate)]);
            f.category = Category::Be;
        }
        s.flows[0].ends.overhead = overhead;
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(5.0), 100_000);
        net.run_until(at(5.0));
        let frames = net.frames().unwrap().frames();
        let of = |flow| {
            let packets = frames.iter().filter_map(|f| f.packet).filter(|p| p.flow.0 == flow);
            packets.map(|p| p.sent).collect::<Vec<Time>>()
        };
        (of(0), of(1), net.world.trace.digest())
    };
    let (without, with) = (sent(None), sent(Some(between(0, 5000))));
    assert!(without.1.len() > 50);
    assert_eq!((&without.0, &without.1), (&with.0, &with.1), "when the transports send");
    assert_ne!(without.2, with.2);
}

/// A sender is delayed by its overhead and its packets keep their order; a datagram's one-way delay shows it.
#[test]
fn overhead_delays_each_packet_of_its_sender_once() {
    let mean_ms = |overhead| {
        let mut s = dumbbell(Span::from_millis(80), None, 1);
        s.flows = vec![with(overhead, cbr("udp".into(), Place::Node(0), Place::Node(3), 1_000_000))];
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(10.0));
        law::packets_are_conserved(&mut net);
        net.delay(0).unwrap().mean_ms()
    };
    let without = mean_ms(None);
    assert!((mean_ms(Some(between(700, 700))) - without - 0.7).abs() < 0.02);
    // One datagram every 12 ms: each has left before the next one comes.
    assert!((mean_ms(Some(between(0, 4000))) - without - 2.0).abs() < 0.2);
}
