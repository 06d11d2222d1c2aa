//! AODV: what RFC 3561 requires, and what ns-2.35 does where contention does not matter.

use super::network::{Network, chain, compare, grid};
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::routing::RoutingDrop;
use std::collections::BTreeMap;

const PROBE: Span = Span::from_millis(100);

fn at(s: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(s)
}

/// Messages sent, by kind.
fn counts(net: &Network) -> BTreeMap<&'static str, usize> {
    net.messages.iter().fold(BTreeMap::new(), |mut all, m| {
        *all.entry(m.2).or_default() += 1;
        all
    })
}

/// When station 0 sent requests, in seconds.
fn requests(net: &Network) -> Vec<f64> {
    let own = net.messages.iter().filter(|m| m.1 == 0 && m.2 == "rreq");
    own.map(|m| (m.0.as_secs_f64() * 1e3).round() / 1e3).collect()
}

/// ns-2.35, one packet over an idle chain: h requests and h replies in each of 10 seeds and at each of 1 to 8 hops; a
/// request has 48 B and a reply 44 B.
#[test]
fn a_discovery_over_h_hops_takes_h_requests_and_h_replies() {
    for hops in 1..=8 {
        for seed in 1..=10 {
            let mut net = Network::new("aodv", &[], &chain(hops + 1), seed);
            net.run(at(20.0));
            net.offer(0, hops);
            net.run(at(25.0));
            assert_eq!(counts(&net), BTreeMap::from([("rreq", hops as usize), ("rrep", hops as usize)]));
            assert!(net.messages.iter().all(|m| m.3 == if m.2 == "rreq" { 48 } else { 44 }));
            // h frames each for request, reply and packet; h - 1 times a station waits up to 10 ms with the request.
            let took = (net.arrived[0].0 - at(20.0)).as_millis_f64();
            let least = 3.0 * f64::from(hops);
            assert!((least..=least + 10.0 * f64::from(hops - 1)).contains(&took), "{took}");
            assert_eq!(u32::from(net.arrived[0].2), hops);
        }
    }
}

/// ns-2.35: 0 messages in 100 s of a grid without data.
#[test]
fn without_data_there_are_no_messages() {
    let mut net = Network::new("aodv", &[], &grid(4), 1);
    net.run(at(100.0));
    assert!(net.messages.is_empty());
}

#[test]
fn a_flood_passes_every_station_once_and_teaches_the_destination_the_way_back() {
    for seed in 1..=10 {
        let mut net = Network::new("aodv", &[], &grid(5), seed);
        net.offer(0, 24);
        net.run(at(3.0));
        // All but the destination send the request once.
        assert_eq!((counts(&net)["rreq"], net.arrived.len()), (24, 1));
        net.offer(24, 0);
        net.run(at(4.0));
        assert_eq!((counts(&net)["rreq"], net.arrived.len()), (24, 2));
    }
}

/// ns-2.35, one packet each 2.93 s to a station out of reach: requests 1.8, 3.6, 5.4 and 7.2 s apart at the least, then
/// drops and 10 s of silence. Here packets come so often that a request is sent at each tick that allows one.
#[test]
fn a_search_without_answer_is_repeated_more_and_more_slowly_and_given_up() {
    let mut net = Network::new("aodv", &[], &[vec![], vec![]], 1);
    net.probe(0, 1, PROBE, at(35.0));
    // 0, 1.8, 5.4, 10.8 s; at 18 s the packets are dropped, and the next search begins at 28 s.
    assert_eq!(requests(&net), [0.0, 1.8, 5.4, 10.8, 28.0, 29.8, 33.4]);
    assert!(net.drops[&RoutingDrop::NoRoute] == 64 && net.drops[&RoutingDrop::BufferFull] > 100, "{:?}", net.drops);
}

/// RFC 3561 §6.3 with its constants: NET_TRAVERSAL_TIME 2.8 s, then doubled.
#[test]
fn binary_back_off_doubles_the_wait() {
    let values = [
        ("back_off", Value::Word("binary".into())),
        ("traversal", Value::Time(Span::from_millis(40))),
        ("diameter", Value::Integer(35)),
        ("give_up", Value::Time(Span::from_secs(100))),
        ("retries", Value::Integer(2)),
        ("tick", Value::Time(Span::from_millis(100))),
    ];
    let mut net = Network::new("aodv", &values, &[vec![], vec![]], 1);
    net.offer(0, 1);
    net.run(at(30.0));
    assert_eq!(requests(&net), [0.0, 2.8, 8.4]);
    assert_eq!(net.drops, BTreeMap::from([(RoutingDrop::NoRoute, 1)]), "after 19.6 s");
}

/// RFC 3561 §6.4, with TTL 5, 7 and then 30: a destination at 6 hops is found by the second request.
#[test]
fn an_expanding_ring_stops_near_the_destination() {
    let values = [("ring", Value::Word("always".into()))];
    let mut net = Network::new("aodv", &values, &chain(12), 1);
    net.offer(0, 6);
    net.run(at(0.29));
    assert_eq!(counts(&net), BTreeMap::from([("rreq", 5)]), "5 hops, the source included");
    net.run(at(3.0));
    // The second: 6 stations before the destination.
    assert_eq!(counts(&net), BTreeMap::from([("rreq", 11), ("rrep", 6)]));
    assert_eq!(net.arrived.len(), 1);
}

#[test]
fn a_station_with_a_fresh_route_answers_for_the_destination() {
    for (intermediate, requests) in [(true, 1), (false, 3)] {
        let mut net = Network::new("aodv", &[("intermediate", Value::Bool(intermediate))], &chain(4), 1);
        net.offer(1, 3);
        net.run(at(1.0));
        let before = counts(&net)["rreq"];
        net.offer(0, 3);
        net.run(at(2.0));
        assert_eq!((counts(&net)["rreq"] - before, net.arrived.len()), (requests, 2));
    }
}

#[test]
fn a_route_that_nobody_uses_expires_and_one_in_use_does_not() {
    let mut net = Network::new("aodv", &[], &chain(3), 1);
    net.probe(0, 2, Span::from_secs(9), at(45.0));
    assert_eq!((counts(&net)["rreq"], net.arrived.len()), (2, 5));
    net.run(at(44.9 + 10.6));
    assert_eq!(net.agent(0).next_hop(2), None);
    net.offer(0, 2);
    net.run(at(60.0));
    assert_eq!((counts(&net)["rreq"], net.arrived.len()), (4, 6));
    // With no route left that could expire, nothing wakes the agents.
    net.run(at(90.0));
    assert!((0..3).all(|i| net.agent(i).deadline() == Time::NEVER));
}

#[test]
fn a_packet_that_waits_too_long_is_dropped() {
    let mut net = Network::new("aodv", &[("patience", Value::Time(Span::from_secs(3)))], &[vec![], vec![]], 1);
    net.offer(0, 1);
    net.run(at(2.9));
    assert_eq!((net.agent(0).held(), net.drops.len()), (1, 0));
    net.run(at(3.6));
    assert_eq!((net.agent(0).held(), &net.drops), (0, &BTreeMap::from([(RoutingDrop::BufferTimeout, 1)])));
}

/// RFC 3561 §6.2: a packet also refreshes the route to its source. In ns-2 the way back expires under it.
#[test]
fn a_packet_refreshes_the_way_back_only_if_told_so() {
    for (word, known) in [("forward", false), ("both", true)] {
        let mut net = Network::new("aodv", &[("refresh", Value::Word(word.into()))], &chain(3), 1);
        net.probe(0, 2, PROBE, at(20.0));
        assert_eq!((net.agent(1).next_hop(0).is_some(), net.agent(1).next_hop(2)), (known, Some(2)), "{word}");
    }
}

fn bytes(head: [u8; 5], words: [u32; 5]) -> Vec<u8> {
    head.into_iter().chain(words.into_iter().flat_map(u32::to_be_bytes)).collect()
}

/// A request of station 0 that has gone `hops` hops, for station 1, whose number it does not know (flag U).
fn request(id: u32, hops: u8, number: u32) -> Vec<u8> {
    bytes([30, 1, 8, 0, hops], [id, 1, 0, 0, number])
}

/// A request that is older than the break of the way back: there is nowhere to send the answer.
#[test]
fn an_old_request_over_a_broken_way_is_not_answered() {
    let mut net = Network::new("aodv", &[], &chain(2), 1);
    net.inject(1, 0, &request(1, 0, 10));
    assert_eq!((counts(&net), net.malformed), (BTreeMap::from([("rrep", 1)]), 0));
    net.isolate(1);
    net.offer(1, 0);
    net.run(at(0.01));
    assert_eq!(net.drops, BTreeMap::from([(RoutingDrop::LinkFailed, 1)]));
    net.inject(1, 0, &request(2, 0, 5));
    assert_eq!(counts(&net)["rrep"], 1);
    net.inject(1, 0, &request(3, 0, 11));
    assert_eq!(counts(&net)["rrep"], 2);
}

/// RFC 3561 §6.2.
#[test]
fn of_routes_with_one_number_the_first_stays_until_a_shorter_one_comes() {
    let mut net = Network::new("aodv", &[], &vec![vec![]; 6], 1);
    for (id, neighbour, hops, number, next) in
        [(1, 2, 3, 10, 2), (2, 3, 3, 10, 2), (3, 4, 2, 10, 4), (4, 5, 1, 9, 4), (5, 3, 7, 11, 3), (6, 2, 0, 11, 2)]
    {
        net.inject(5, neighbour, &request(id, hops, number));
        assert_eq!(net.agent(5).next_hop(0), Some(next), "request {id}");
    }
}

/// RFC 3561 §6.11 (iii).
#[test]
fn an_error_counts_only_from_the_next_hop_and_with_a_number_that_is_not_older() {
    let mut net = Network::new("aodv", &[], &vec![vec![]; 6], 1);
    net.inject(5, 2, &request(1, 3, 10));
    for (neighbour, number, left) in [(3, 10, true), (2, 9, true), (2, 10, false)] {
        net.inject(5, neighbour, &bytes([1, 3, 0, 0, 1], [0, number, 0, 0, 0])[..13]);
        assert_eq!(net.agent(5).next_hop(0).is_some(), left);
    }
    assert_eq!(net.malformed, 0);
}

/// RFC 3561 §6.7: the way back of a reply lives as long as the route.
#[test]
fn a_reply_prolongs_the_way_back() {
    let mut net = Network::new("aodv", &[], &chain(3), 1);
    net.offer(0, 2);
    for (time, known) in [(9.4, true), (11.0, false)] {
        net.run(at(time));
        assert_eq!(net.agent(1).next_hop(0).is_some(), known, "at {time} s");
    }
}

#[test]
fn packets_that_waited_leave_ten_milliseconds_apart() {
    let mut net = Network::new("aodv", &[], &chain(2), 1);
    for _ in 0..4 {
        net.offer(0, 1);
    }
    net.run(at(1.0));
    let gaps: Vec<Span> = net.arrived.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert_eq!(gaps, [Span::from_millis(10); 3]);
}

#[test]
fn the_buffer_is_for_all_destinations_together() {
    let mut net = Network::new("aodv", &[("buffer", Value::Integer(2))], &vec![vec![]; 4], 1);
    for to in 1..4 {
        net.offer(0, to);
    }
    assert_eq!((net.agent(0).held(), net.drops.get(&RoutingDrop::BufferFull)), (2, Some(&1)));
}

/// RFC 3561 §6.11, with `errors = "precursors"`: who used a route hears of its end, and nobody else does.
#[test]
fn an_error_reaches_those_who_use_the_route_through_a_station() {
    let values = [("errors", Value::Word("precursors".into())), ("repair", Value::Bool(false))];
    let errors = |net: &Network| net.messages.iter().filter(|m| m.2 == "rerr").map(|m| m.1).collect::<Vec<u32>>();
    // Station 1 answers 0 for 3, and so becomes responsible for telling it.
    let mut net = Network::new("aodv", &values, &chain(4), 1);
    net.offer(1, 3);
    net.run(at(1.0));
    net.offer(0, 3);
    net.run(at(2.0));
    net.isolate(3);
    net.offer(0, 3);
    net.run(at(2.1));
    assert_eq!(errors(&net), [2, 1]);
    // Station 1 has lost 0, the only user of its route to 2.
    let mut net = Network::new("aodv", &values, &chain(3), 1);
    net.offer(0, 2);
    net.run(at(1.0));
    net.isolate(0);
    net.offer(2, 0);
    net.run(at(1.1));
    net.isolate(2);
    net.offer(1, 2);
    net.run(at(1.2));
    assert!(errors(&net).is_empty());
}

/// RFC 3561 §5, with an IP and a UDP header.
#[test]
fn messages_have_the_sizes_of_the_rfc_on_request() {
    let mut net = Network::new("aodv", &[("sizes", Value::Word("rfc".into()))], &chain(3), 1);
    net.offer(0, 2);
    net.run(at(1.0));
    net.isolate(2);
    net.offer(0, 2);
    net.run(at(2.0));
    let sizes: BTreeMap<&str, u32> = net.messages.iter().map(|m| (m.2, m.3)).collect();
    assert_eq!(sizes, BTreeMap::from([("rreq", 52), ("rrep", 48), ("rerr", 40)]));
}

/// A chain 0 - 1 - 2 - 3 whose last link breaks under a flow from 0 to 3, with a way 2 - 4 - 3 beside it.
fn broken(values: &[(&'static str, Value)], detour: bool) -> Network {
    let mut links = chain(4);
    links.push(vec![]);
    if detour {
        for (a, b) in [(2, 4), (4, 3)] {
            links[a as usize].push(b);
            links[b as usize].push(a);
        }
    }
    let mut net = Network::new("aodv", values, &links, 1);
    net.probe(0, 3, PROBE, at(5.0));
    assert_eq!(net.arrived.len(), 50);
    net.links[2].retain(|s| *s != 3);
    net.links[3].retain(|s| *s != 2);
    net.probe(0, 3, PROBE, at(10.0));
    net
}

#[test]
fn a_break_near_the_destination_is_repaired_where_it_is() {
    let net = broken(&[], true);
    // 2 hops came, 1 to go: station 2 repairs. No packet is lost, and no error is sent. The first request came from all
    // but station 3 (and 3 replies), the second, of station 2, too (and 2 replies).
    assert_eq!((net.arrived.len(), net.drops.len()), (100, 0));
    assert_eq!(counts(&net), BTreeMap::from([("rreq", 4 + 4), ("rrep", 3 + 2)]));
    assert_eq!(net.arrived[99].2, 4);
}

#[test]
fn without_repair_an_error_goes_to_the_source_and_it_searches_again() {
    let net = broken(&[("repair", Value::Bool(false))], true);
    assert_eq!((requests(&net).len(), net.arrived.len()), (2, 99));
    assert_eq!(net.drops, BTreeMap::from([(RoutingDrop::LinkFailed, 1)]));
    // Station 2 reports; 1 passes it on, because 0 is its precursor; 0 has none.
    let errors: Vec<u32> = net.messages.iter().filter(|m| m.2 == "rerr").map(|m| m.1).collect();
    assert_eq!(errors, [2, 1]);
    assert!(net.messages.iter().filter(|m| m.2 == "rerr").all(|m| m.3 == 20 + 4 + 8));
}

#[test]
fn a_repair_that_fails_is_reported() {
    let net = broken(&[], false);
    let errors: Vec<u32> = net.messages.iter().filter(|m| m.2 == "rerr").map(|m| m.1).collect();
    assert_eq!(errors[..2], [2, 1]);
    assert_eq!(net.arrived.len(), 50);
    assert!(requests(&net).len() > 1);
}

/// ns-2.35, 8 runs of a chain of 4 hops whose fourth station vanishes at 30 s, seen until 60 s: 4 replies, 2 errors and
/// 1 packet that the MAC gives up in each run; the other figures vary. A frame takes 2 ms here: a discovery then lasts
/// as long as in ns-2, 7.5 ms for each hop, which decides how soon requests are repeated.
#[test]
fn a_source_that_is_cut_off_asks_and_drops_as_in_ns_2() {
    let run = |seed| {
        let mut net = Network::new("aodv", &[], &chain(5), seed);
        net.frame = Span::from_millis(2);
        net.run(at(10.0));
        net.probe(0, 4, PROBE, at(30.0));
        net.isolate(3);
        net.probe(0, 4, PROBE, at(60.0));
        let sent = counts(&net);
        assert_eq!((sent["rrep"], sent["rerr"], net.drops[&RoutingDrop::LinkFailed]), (4, 2, 1), "{sent:?}");
        [sent["rreq"] as u64, net.drops[&RoutingDrop::NoRoute], net.drops[&RoutingDrop::BufferFull]].map(|x| x as f64)
    };
    let runs: Vec<[f64; 3]> = (1..=40).map(run).collect();
    let of = |i: usize| runs.iter().map(|r| r[i]).collect::<Vec<f64>>();
    compare("requests", &of(0), (35.875, 2.2321), 8);
    compare("packets dropped when a search ends", &of(1), (117.875, 6.4462), 8);
    compare("packets dropped for newer ones", &of(2), (116.5, 9.6362), 8);
}

#[test]
fn without_feedback_a_break_goes_unnoticed_while_the_route_is_used() {
    let net = broken(&[("feedback", Value::Bool(false))], true);
    assert_eq!((net.arrived.len(), net.drops), (50, BTreeMap::from([(RoutingDrop::LinkFailed, 50)])));
}

#[test]
fn with_hello_a_silent_neighbour_is_lost_after_four_and_a_half_intervals() {
    let values = [("feedback", Value::Bool(false)), ("hello", Value::Time(Span::from_secs(1)))];
    let net = broken(&values, true);
    // 1 HELLO a second each, over 10 s and 5 stations.
    assert!((45..=55).contains(&counts(&net)["hello"]), "{:?}", counts(&net));
    // Between 3.25 s (the last HELLO came 1.25 s before the break) and 5 s (the tick) without a route.
    let lost = net.drops[&RoutingDrop::LinkFailed];
    assert!((32..50).contains(&lost) && net.arrived.len() > 50, "{lost}");
}

/// RFC 3561 §6.11: an error goes only to precursors. A source that is the first station has none.
#[test]
fn errors_to_precursors_only_are_not_sent_by_a_source() {
    for (word, errors) in [("always", 1), ("precursors", 0)] {
        let mut net = Network::new("aodv", &[("errors", Value::Word(word.into()))], &chain(2), 1);
        net.offer(0, 1);
        net.run(at(1.0));
        net.isolate(1);
        net.offer(0, 1);
        net.run(at(1.5));
        assert_eq!(counts(&net).get("rerr").copied().unwrap_or(0), errors);
    }
}

/// The station before the break has frames for the lost neighbour in its queue: they fail with the first.
#[test]
fn packets_queued_for_a_lost_neighbour_are_purged() {
    let mut net = Network::new("aodv", &[], &chain(2), 1);
    net.offer(0, 1);
    net.run(at(1.0));
    net.isolate(1);
    for _ in 0..5 {
        net.offer(0, 1);
    }
    // When the first fails, the second is on the air already.
    net.run(at(1.0) + Span::from_millis(2));
    assert_eq!(net.drops, BTreeMap::from([(RoutingDrop::LinkFailed, 5)]));
    assert_eq!(counts(&net)["rerr"], 1);
}
