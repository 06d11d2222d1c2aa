//! What holds for every routing protocol.

use super::network::{Network, chain, grid};
use contend_core::registry::{Entry, Value};
use contend_core::{Span, Time};
use contend_sim::routing::{REGISTRY, RoutingDrop};
use proptest::prelude::*;

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

#[test]
fn every_protocol_delivers_over_a_grid_once_it_has_routes() {
    for e in REGISTRY {
        let mut net = Network::new(e.name, &[], &grid(4), 1);
        net.run(at(150));
        for from in 0..16 {
            for to in (0..16).filter(|to| *to != from) {
                net.offer(from, to);
                net.run(net.now + Span::from_millis(500));
            }
        }
        net.run(net.now + Span::from_secs(20));
        assert_eq!((net.arrived.len(), net.drops.len()), (240, 0), "{}", e.name);
        let most = net.arrived.iter().map(|a| a.2).max();
        assert!(most >= Some(6) && most <= Some(12), "{}: {most:?} hops", e.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_messages() {
    for e in REGISTRY {
        let run = |seed| {
            let mut net = Network::new(e.name, &[], &grid(3), seed);
            net.run(at(60));
            net.probe(0, 8, Span::from_millis(300), at(90));
            (net.messages, net.arrived)
        };
        assert_eq!(run(3), run(3), "{}", e.name);
    }
}

/// ns-2 gives a packet a TTL of 32 with DSDV and of 30 with AODV.
#[test]
fn a_packet_that_has_gone_too_far_is_dropped() {
    let values = [("period", Value::Time(Span::from_secs(2))), ("settling", Value::Time(Span::ZERO))];
    for (to, arrived) in [(32, 1), (33, 0)] {
        let mut net = Network::new("dsdv", &values, &chain(36), 1);
        net.run(at(200));
        net.offer(0, to);
        net.run(at(201));
        assert_eq!((net.arrived.len(), net.drops.contains_key(&RoutingDrop::Ttl)), (arrived, arrived == 0));
    }
    for (to, arrived) in [(30, 1), (31, 0)] {
        let mut net = Network::new("aodv", &[], &chain(36), 1);
        net.offer(0, to);
        net.run(at(60));
        assert_eq!((net.arrived.len(), net.drops.contains_key(&RoutingDrop::NoRoute)), (arrived, arrived == 0));
    }
}

#[test]
fn a_packet_that_comes_back_to_its_source_is_dropped() {
    for name in ["dsdv", "aodv"] {
        let mut net = Network::new(name, &[], &chain(3), 1);
        net.run(at(60));
        net.returns(0, 2);
        assert_eq!(net.drops.keys().collect::<Vec<_>>(), [&RoutingDrop::Loop], "{name}");
    }
}

#[test]
fn a_source_adds_the_header_of_ns_2_once() {
    use contend_core::registry::Amount;
    for name in ["dsdv", "aodv"] {
        let values = [("ip_header", Value::Amount(Amount::Bytes(20)))];
        let mut net = Network::new(name, &values, &chain(4), 1);
        net.run(at(100));
        net.offer(0, 3);
        net.run(at(103));
        assert_eq!(net.sizes, [1020], "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Bytes are a message or malformed; either way the agents go on, and packets are conserved.
    #[test]
    fn no_bytes_stop_an_agent(
        messages in proptest::collection::vec((0u32..4, 0u32..4, any_bytes()), 1..40),
        protocol in 0..REGISTRY.len(),
    ) {
        let mut net = Network::new(REGISTRY[protocol].name, &[], &chain(4), 1);
        for (to, from, bytes) in messages {
            net.inject(to, from, &bytes);
            net.offer(to, from);
            net.run(net.now + Span::from_millis(700));
        }
        net.run(net.now + Span::from_secs(30));
    }

    /// Links that come and go: packets are conserved, which `run` checks, and the numbers keep routes free of loops.
    #[test]
    fn packets_are_conserved_and_routes_have_no_loop_while_links_change(
        changes in proptest::collection::vec((0u32..6, 0u32..6, any::<bool>()), 1..60),
        protocol in 0..REGISTRY.len(),
        feedback in any::<bool>(),
    ) {
        let Entry { name, params, .. } = &REGISTRY[protocol];
        let values = [("feedback", Value::Bool(feedback))];
        let values = if params.iter().any(|p| p.name == "feedback") { &values[..] } else { &[] };
        let mut net = Network::new(name, values, &grid(3), 1);
        for (a, b, up) in changes {
            for (a, b) in [(a as usize, b), (b as usize, a)] {
                net.links[a].retain(|s| *s != b);
                if up && a as u32 != b {
                    net.links[a].push(b);
                }
            }
            net.probe(a, 8 - b, Span::from_millis(210), net.now + Span::from_secs(3));
            for to in 0..9 {
                prop_assert!((0..9).all(|from| !is_loop(&net, from, to)), "{}: a loop to {}", name, to);
            }
        }
        net.run(net.now + Span::from_secs(60));
    }
}

/// True if a packet from `from` to `to` would go around for ever.
fn is_loop(net: &Network, from: u32, to: u32) -> bool {
    let mut at = from;
    for _ in 0..9 {
        match net.agent(at).next_hop(to) {
            Some(next) if next != to => at = next,
            _ => return false,
        }
    }
    true
}

/// Random bytes, and messages with some fields wrong.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![Just(0u32), 0u32..6, Just(u32::MAX), any::<u32>()];
    let aodv = (any::<u8>(), 0u8..5, any::<u8>(), 0u8..4, proptest::collection::vec(word.clone(), 0..6)).prop_map(
        |(ttl, kind, flags, last, words)| {
            let head = [ttl, kind, flags, 0, last];
            head.into_iter().chain(words.iter().flat_map(|w| w.to_be_bytes())).collect()
        },
    );
    let dsdv =
        (0u16..4, proptest::collection::vec((word.clone(), any::<u8>(), word), 0..4)).prop_map(|(n, entries)| {
            let entry =
                |(to, hops, number): &(u32, u8, u32)| [&to.to_be_bytes()[..], &[*hops], &number.to_be_bytes()].concat();
            n.to_be_bytes().into_iter().chain(entries.iter().flat_map(entry)).collect()
        });
    prop_oneof![proptest::collection::vec(any::<u8>(), 0..80), aodv, dsdv]
}
