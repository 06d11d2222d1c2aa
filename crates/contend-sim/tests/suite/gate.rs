//! Packets from outside: they take the way of a simulated flow's packets, and are counted where they enter and leave.

use crate::common::*;
use contend_core::packet::Flags;
use contend_core::{Address, Body, FlowId, Packet, Segment, Span, Time};
use contend_sim::net::{Net, addresses};
use contend_sim::scenario::{Outside, Place, Scenario};

/// One upload and one download through a cell of two stations, both outside, and the hosts at their ends.
fn net() -> (Scenario, Net) {
    let s = down_up(1, 1, newreno(), phy_g(), MAC, 1);
    let hosts = s.flows.iter().flat_map(|f| [f.from, f.to]).collect();
    let net = Net::with_outside(&s, &Outside { flows: vec![true; s.flows.len()], hosts }).unwrap();
    (s, net)
}

fn segment(seq: u64, ack: u64, len: u32) -> Body {
    Body::Tcp(Segment { seq, ack, len, window: 65_535, flags: Flags::ACK, ..Segment::default() })
}

/// Hands in a packet of `flow` and returns what has left a second later.
fn through(net: &mut Net, p: Packet) -> Vec<(Time, Packet)> {
    let mut left = vec![];
    net.hand_in(p.sent, &p);
    net.world.advance(p.sent + Span::from_secs(1));
    net.take_left(&mut left);
    left
}

#[test]
fn a_packet_leaves_at_its_destination_after_the_wire_and_the_air() {
    let (_, mut net) = net();
    let [from, to] = addresses(0);
    let at = Time::ZERO + Span::from_millis(5);
    let mut data = Packet::new(FlowId(0), 1500, at, segment(1, 1, 1460)).between(from, to);
    data.payload = 7;
    let left = through(&mut net, data);
    let [(exit, p)] = left[..] else { panic!("{left:?}") };
    assert_eq!((p.payload, p.dst, p.segment().map(|s| s.len)), (7, to, Some(1460)));
    let took = exit - at;
    // At least the delay of the wire; at most a few milliseconds on the idle air in addition.
    assert!(took >= Span::from_millis(1) && took < Span::from_millis(3), "{took}");

    let back = net.world.now();
    let ack = Packet::new(FlowId(0), 40, back, segment(1, 1461, 0)).between(to, from).reversed();
    let left = through(&mut net, ack);
    assert_eq!(left.len(), 1);
    let (sent, received) = (net.sent(0), net.received(0));
    assert_eq!((sent.packets, sent.bytes, sent.acked_bytes, sent.retransmitted), (1, 1500, 1460, 0));
    assert_eq!((received.packets, received.delivered_bytes, received.acks), (1, 1460, 1));
    assert_eq!((net.entered(0), net.arrived(0)), (2, 2));
    let rtt = net.rtt(0).unwrap();
    assert_eq!(rtt.len(), 1);
    assert!((rtt.mean_ms() - (left[0].0 - at).as_millis_f64()).abs() < 1e-3);
}

#[test]
fn hosts_reach_each_other_on_flows_that_the_scenario_does_not_have() {
    let (s, mut net) = net();
    for (i, a) in s.flows.iter().flat_map(|f| [f.from, f.to]).enumerate() {
        for (j, b) in s.flows.iter().flat_map(|f| [f.from, f.to]).enumerate().filter(|(j, _)| *j != i) {
            let (from, to) = (net.host_address(i), net.host_address(j));
            let p = Packet::new(FlowId(900), 100, net.world.now(), Body::Udp { seq: 0 }).between(from, to);
            let left = through(&mut net, p);
            assert_eq!(left.iter().map(|(_, p)| p.dst).collect::<Vec<_>>(), [to], "{a:?} to {b:?}");
        }
    }
    let meter = net.gate().unwrap().meter(FlowId(900)).unwrap();
    assert_eq!((meter.entered, meter.arrived), (12, 12));
    assert_eq!(meter.there().received.packets + meter.back().received.packets, 12);
}

#[test]
fn a_packet_from_nowhere_is_dropped() {
    let (_, mut net) = net();
    let p = Packet::new(FlowId(0), 100, Time::ZERO, Body::Udp { seq: 0 }).between(Address(999), Address(0));
    assert!(through(&mut net, p).is_empty());
}

#[test]
fn how_often_the_world_is_asked_to_advance_does_not_change_what_happens() {
    let s = down_up(1, 1, newreno(), phy_g(), MAC, 1);
    let end = Time::ZERO + Span::from_secs(3);
    let digest = |step: Span| {
        let mut net = Net::new(&s).unwrap();
        while net.world.now() < end {
            let next = if step.is_zero() { net.world.next_deadline() } else { net.world.now() + step };
            net.world.advance(next.min(end));
        }
        net.run_until(end);
        (net.world.trace.digest(), net.received(0), net.received(1))
    };
    let mut whole = Net::new(&s).unwrap();
    whole.run_until(end);
    let whole = (whole.world.trace.digest(), whole.received(0), whole.received(1));
    assert!(whole.1.packets > 100 && whole.2.packets > 100);
    for step in [0, 17, 1_000, 333_333].map(Span::from_micros) {
        assert_eq!(digest(step), whole, "{step}");
    }
}

#[test]
fn simulated_flows_and_flows_from_outside_share_the_air() {
    let s = down_up(1, 1, newreno(), phy_g(), MAC, 1);
    let mut net = Net::with_outside(&s, &Outside { flows: vec![false, true], hosts: vec![] }).unwrap();
    let [from, to] = addresses(1);
    net.world.advance(Time::ZERO + Span::from_secs(4));
    let p = Packet::new(FlowId(1), 1500, net.world.now(), segment(1, 1, 1460)).between(from, to);
    assert_eq!(through(&mut net, p).len(), 1);
    assert!(net.received(0).packets > 1000);
    assert!(matches!(s.flows[1].from, Place::Station(_) | Place::Node(_)));
}
