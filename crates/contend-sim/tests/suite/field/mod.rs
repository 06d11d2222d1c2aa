//! The field against the cell, and against values by hand.

mod access_points;
mod adjacent;
mod cell;
mod reach;

use crate::common::every;
use crate::common::*;
use contend_core::registry::{Choice, Value};
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::wifi::ledger::RadioAccounts;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use contend_sim::wifi::{Frame, FrameKind, access, propagation};
use proptest::prelude::*;

/// The same network with all stations within range of each other in a field.
fn in_a_field(s: &Scenario) -> Scenario {
    let mut s = s.clone();
    let cell = s.cell.as_mut().unwrap();
    let n = cell.members().count();
    cell.field = Some(field((0..n).map(|i| Point { x: i as f64, y: 0.0 }).collect()));
    s
}

/// Disciplines keep lists by neighbour; a broadcast has none.
#[test]
fn every_queue_takes_the_broadcasts_of_routing_protocols() {
    for queue in every::disciplines() {
        let mut s = chain(3, 11_000_000, 1500);
        let cell = s.cell.as_mut().unwrap();
        cell.field.as_mut().unwrap().routing = Some(choose(routing::REGISTRY, "aodv", &[]));
        cell.stations.iter_mut().for_each(|station| station.queue = queue.clone());
        assert_eq!(law::all_hold(&s, &[at(1.0)]), 1, "{}", queue.entry.name);
    }
}

/// A chain of `hops` hops of 200 m with 802.11b at `rate` bits per second, and one datagram of `ip` bytes over it.
fn chain(hops: usize, rate: u64, ip: u32) -> Scenario {
    let mut flow = cbr("over".into(), Place::Station(0), Place::Station(hops), 100_000);
    flow.ends.packet = ip;
    flow.ends.start = Start::At(at(0.1));
    flow.ends.size = Some(u64::from(ip - 28));
    let mut cell = cell(Phy::new(Standard::B, Preamble::Long), MAC, hops + 1, rate);
    cell.aps.clear();
    cell.phy.basic = vec![1_000_000];
    let positions = (0..=hops).map(|i| Point { x: 200.0 * i as f64, y: 0.0 }).collect();
    cell.field = Some(FieldSpec {
        propagation_delay: true,
        routing: Some(choose(routing::REGISTRY, "static", &[])),
        ..field(positions)
    });
    Scenario { seed: 1, cell: Some(cell), nodes: vec![], links: vec![], flows: vec![flow] }
}

/// By the standard's timing: the first station sends at once. Each other station sends its ACK a SIFS after the data
/// and then, after DIFS, the packet. 1500 B at 2 Mb/s: 192 + 8 x 1536 / 2 = 6336 us; at 11 Mb/s 192 + 1117.1, rounded
/// up: 1310 us. ACK 304 us, SIFS 10 us, DIFS 50 us. 200 m take 667 ns.
#[test]
fn one_packet_over_idle_hops_takes_its_frames_the_answers_and_the_way() {
    let delay = |hops, rate| {
        let mut s = chain(hops, rate, 1500);
        // A packet that arrives before the ACK is sent draws a backoff; here always of no slot.
        s.cell.as_mut().unwrap().phy.cw_min = 0;
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(1.0));
        (net.received(0).packets, net.delay(0).unwrap().mean_ms())
    };
    for hops in 1..=8 {
        for (rate, frame) in [(2_000_000, 6336), (11_000_000, 1310)] {
            let h = hops as u64;
            let ns = (h * frame + (h - 1) * (10 + 304 + 50)) * 1000 + h * 667;
            assert_eq!(delay(hops, rate), (1, ns as f64 / 1e6), "{hops} hops at {rate}");
        }
    }
}

/// Two stations that do not hear each other send to the one between them. Without RTS nearly every frame is lost; RTS
/// frames are short and collide seldom.
#[test]
fn hidden_stations_lose_their_frames_and_rts_helps() {
    let goodput = |rts_threshold| {
        let mut s = chain(2, 2_000_000, 1500);
        let cell = s.cell.as_mut().unwrap();
        cell.mac.rts_threshold = rts_threshold;
        cell.field.as_mut().unwrap().sense = 250.0;
        s.flows = vec![
            cbr("a".into(), Place::Station(0), Place::Station(1), 1_900_000),
            cbr("b".into(), Place::Station(2), Place::Station(1), 1_900_000),
        ];
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(20.0));
        (0..2).map(|i| net.received(i).delivered_bytes as f64 * 8.0 / 20.0).sum::<f64>()
    };
    let (without, with) = (goodput(u32::MAX), goodput(500));
    assert!(without < 0.4e6 && with > 1.3e6, "{without} and {with}");
}

/// A station sends to its neighbour. Of its 8 ms the exchange takes 6336 + 10 + 304 us; its CF-End of 20 bytes
/// at 1 Mb/s lasts from 6660 to 7012 us. Packets of others arrive in the gap before it.
#[test]
fn a_cf_end_frees_those_that_decode_it() {
    let starts = |from: usize, txop_protection| {
        let mut s = chain(3, 2_000_000, 1500);
        let second = FlowSpec { from: Place::Station(from), to: Place::Station(from + 1), ..s.flows[0].clone() };
        let at_us = |us| Start::At(Time::ZERO + Span::from_micros(us));
        s.flows[0].to = Place::Station(1);
        s.flows.push(FlowSpec { ends: EndsSpec { start: at_us(106_655), ..second.ends.clone() }, ..second });
        let cell = s.cell.as_mut().unwrap();
        (cell.phy.cw_min, cell.mac.txop_protection) = (0, txop_protection);
        let spec = cell.field.as_mut().unwrap();
        (spec.sense, spec.propagation_delay) = (250.0, false);
        let rule = choose(access::REGISTRY, "dcf", &[("txop", Value::Time(Span::from_millis(8)))]);
        cell.stations.iter_mut().for_each(|station| station.access = rule.clone());
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(1.0), 100);
        net.run_until(at(1.0));
        let frames = net.frames().unwrap().frames();
        let first = frames.iter().find(|f| f.packet.is_some_and(|p| p.flow.0 == 1));
        (first.unwrap().start.as_micros() - 100_000, frames.iter().filter(|f| f.kind == FrameKind::CfEnd).count())
    };
    // DIFS is 50 us. The receiver hears the CF-End. The station behind it has heard only the ACK, and waits for 8 ms.
    assert_eq!(starts(1, TxopProtection::Multiple), (7062, 2));
    assert_eq!(starts(2, TxopProtection::Multiple), (8050, 2));
    assert_eq!([1, 2].map(|from| starts(from, TxopProtection::Single)), [(6700, 0); 2]);
}

/// The rules that do not need to hear the whole cell.
fn rules_of_a_field() -> Vec<Choice<access::Build>> {
    every::access_rules().into_iter().filter(|rule| !["tcf", "hash1"].contains(&rule.entry.name)).collect()
}

/// What each station does is booked by the standard's timing. The data frame takes 6336 us, its way 667 ns, SIFS 10 us,
/// the ACK 304 us, DIFS 50 us. The third station, 400 m away, senses the data frame and waits EIFS (SIFS + ACK + DIFS);
/// the ACK, which it decodes, begins before that and ends the wait.
#[test]
fn each_station_books_what_it_does() {
    let mut s = chain(2, 2_000_000, 1500);
    (s.flows[0].to, s.cell.as_mut().unwrap().phy.cw_min) = (Place::Station(1), 0);
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(1.0));
    let us = |n: f64| Span::from_nanos((n * 1e3).round() as u64);
    let accounts = |sends, receives, hears, blocked| {
        let mut a = RadioAccounts { sends: us(sends), receives: us(receives), hears: us(hears), ..Default::default() };
        (a.blocked, a.idle) = (us(blocked), Span::ZERO);
        a.idle = Span::from_secs(1) - a.total();
        a
    };
    let way = 0.667;
    let expected = [
        accounts(6336.0, 304.0, 0.0, 2.0 * way + 10.0 + 50.0),
        accounts(304.0, 6336.0, 0.0, 10.0 + 50.0),
        // The data frame arrives after 400 m, the ACK after 200 m and the SIFS of the station between.
        accounts(0.0, 0.0, 6336.0 + 304.0, 10.0 + 50.0),
    ];
    assert_eq!(net.ledger().unwrap().radios, expected);
}

/// The chain of 200 m: a station decodes its neighbours, senses the next ones, and routes packets to its neighbours.
#[test]
fn the_map_has_positions_links_and_routes() {
    let s = chain(3, 2_000_000, 1500);
    let map = Net::new(&s).unwrap().map().unwrap();
    assert_eq!(map.positions.iter().map(|p| p.x).collect::<Vec<_>>(), [0.0, 200.0, 400.0, 600.0]);
    let of = |from| map.links.iter().filter(|l| l.from == from).map(|l| (l.to, l.decodes)).collect::<Vec<_>>();
    assert_eq!((of(0), of(1)), (vec![(1, true), (2, false)], vec![(0, true), (2, true), (3, false)]));
    assert_eq!(map.routes, [[0, 1, 2, 3]]);
    // Agents know no route before the first packet. With a route the map shows it.
    let mut s = s;
    s.cell.as_mut().unwrap().field.as_mut().unwrap().routing = Some(choose(routing::REGISTRY, "aodv", &[]));
    let mut net = Net::new(&s).unwrap();
    assert_eq!(net.map().unwrap().routes, [[0]]);
    net.run_until(at(1.0));
    assert_eq!((net.received(0).packets, net.map().unwrap().routes), (1, vec![vec![0, 1, 2, 3]]));
}

/// A second computation of what a way loses in walls: by the share of the way and of the wall at which they meet.
fn lost(walls: &[Wall], a: Point, b: Point) -> f64 {
    let meets = |w: &&Wall| {
        let (way, wall, gap) =
            ((b.x - a.x, b.y - a.y), (w.to.x - w.from.x, w.to.y - w.from.y), (w.from.x - a.x, w.from.y - a.y));
        let cross = |u: (f64, f64), v: (f64, f64)| u.0 * v.1 - u.1 * v.0;
        let shares = [cross(gap, wall) / cross(way, wall), cross(gap, way) / cross(way, wall)];
        shares.iter().all(|share| (0.0..=1.0).contains(share))
    };
    walls.iter().filter(meets).map(|w| w.loss).sum()
}

/// A second computation of what stations send and sense: from the list of frames, the distances and the walls alone.
fn sent_and_sensed(frames: &[Frame], field: &FieldSpec, station: usize, end: Time) -> (Span, Span) {
    let own = frames.iter().filter(|f| f.from as usize == station);
    let sent = own.clone().fold(Span::ZERO, |sum, f| sum + f.end.min(end).since(f.start));
    let here = field.sites[station].position.unwrap();
    let model = (field.propagation.entry.build)(&field.propagation.args).unwrap();
    let arrives = |f: &&Frame| {
        let d = here.distance(f.origin.unwrap());
        let delay = if field.propagation_delay { (d / 299_792_458.0 * 1e9).round() as u64 } else { 0 };
        let lost = lost(&field.walls, here, f.origin.unwrap());
        let weaker = libm::pow(10.0, -lost / 10.0);
        let sensed = if lost > 0.0 { model.gain(d) * weaker >= model.gain(field.sense) } else { d <= field.sense };
        sensed.then(|| (f.start + Span::from_nanos(delay), f.end + Span::from_nanos(delay)))
    };
    let mut busy: Vec<(Time, Time)> =
        frames.iter().filter(|f| f.from as usize != station).filter_map(|f| arrives(&f)).collect();
    busy.extend(own.map(|f| (f.start, f.end)));
    busy.sort();
    let (mut union, mut until) = (Span::ZERO, Time::ZERO);
    for (from, to) in busy {
        union += to.min(end).since(from.max(until));
        until = until.max(to);
    }
    (sent, union - sent)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The laws in random fields, with flows over several hops, any access rule and queue, losses, and every option.
    #[test]
    fn the_laws_hold_in_random_fields(
        places in prop::collection::vec((0.0..900.0f64, 0.0..900.0f64), 2..24),
        walls in prop::collection::vec([0.0..900.0f64, 0.0..900.0, 0.0..900.0, 0.0..900.0, 0.0..20.0], 0..4),
        pairs in prop::collection::vec((0usize..24, 0usize..24), 1..8),
        [rts, ns2, delay, later, sum] in any::<[bool; 5]>(),
        protocol in prop::sample::select(vec!["static", "aodv", "dsdv"]),
        rules in prop::collection::vec(prop::sample::select(rules_of_a_field()), 1..4),
        queues in prop::collection::vec(prop_oneof![Just(fifo(5)), prop::sample::select(every::disciplines())], 1..4),
        arp in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let n = places.len();
        let wall = |(x, y), (u, v), loss| Wall { from: Point { x, y }, to: Point { x: u, y: v }, loss };
        let mut cell = cell(Phy::new(Standard::B, Preamble::Short), MAC, n, 11_000_000);
        cell.aps.clear();
        if rts {
            cell.mac.rts_threshold = 500;
        }
        if ns2 {
            (cell.mac.idle_access, cell.mac.after_collision) = (IdleAccess::Draw, AfterCollision::EifsNav);
        }
        for (i, station) in cell.stations.iter_mut().enumerate() {
            (station.access, station.queue) = (rules[i % rules.len()].clone(), queues[i % queues.len()].clone());
            station.loss = loss("per", &[("p", Value::Number(if i % 2 == 0 { 0.1 } else { 0.0 }))]);
        }
        cell.field = Some(FieldSpec {
            propagation: choose(propagation::REGISTRY, "two_ray", &[]),
            walls: walls.iter().map(|&[x, y, u, v, loss]| wall((x, y), (u, v), loss)).collect(),
            capture: Capture { ratio: 10.0, later, adds_up: sum },
            propagation_delay: delay,
            nav_reset: !ns2,
            cts: if ns2 { CtsRule::Idle } else { CtsRule::Nav },
            routing: Some(choose(routing::REGISTRY, protocol, &[])),
            arp,
            routing_priority: ns2,
            link_delay: Span::from_micros(if ns2 { 25 } else { 0 }),
            ..field(places.iter().map(|&(x, y)| Point { x, y }).collect())
        });
        let ends = pairs.iter().map(|&(a, b)| (a % n, b % n)).filter(|(a, b)| a != b);
        let flow = |(i, (a, b)): (usize, (usize, usize))| {
            let (name, from, to) = (format!("f{i}"), Place::Station(a), Place::Station(b));
            match i % 2 {
                0 => cbr(name, from, to, 1_000_000),
                _ => bulk(name, from, to, newreno(), Start::At(at(0.1))),
            }
        };
        let flows: Vec<FlowSpec> = ends.enumerate().map(flow).collect();
        let s = Scenario { seed, cell: Some(cell), nodes: vec![], links: vec![], flows };
        law::all_hold(&s, &[at(0.05), at(0.123_457), at(1.6), at(2.5)]);

        let (mut net, stop) = (Net::new(&s).unwrap(), at(1.234_567));
        net.keep_frames(Time::ZERO, stop, 1_000_000);
        net.run_until(stop);
        let radios = net.ledger().unwrap().radios;
        // Frames on the air at that instant are recorded when they end.
        net.run_until(stop + Span::from_secs(1));
        let (frames, field) = (net.frames().unwrap().frames(), s.cell.as_ref().unwrap().field.as_ref().unwrap());
        for (i, r) in radios.iter().enumerate() {
            prop_assert_eq!((r.sends, r.receives + r.hears), sent_and_sensed(frames, field, i, stop), "station {}", i);
        }
    }
}
