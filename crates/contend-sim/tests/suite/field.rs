//! The field against the cell, and against values by hand.

use crate::common::every;
use crate::common::*;
use contend_core::registry::{Choice, Value};
use contend_core::{Span, Time};
use contend_sim::loss;
use contend_sim::mobility;
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::wifi::access::{Category, Reads, Setting};
use contend_sim::wifi::ledger::RadioAccounts;
use contend_sim::wifi::phy::{Family, Phy, Preamble, Standard};
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, access, propagation};
use proptest::prelude::*;

/// The same network with all stations within range of each other in a field.
fn in_a_field(s: &Scenario) -> Scenario {
    let mut s = s.clone();
    let cell = s.cell.as_mut().unwrap();
    let n = cell.members().count();
    cell.field = Some(field((0..n).map(|i| Point { x: i as f64, y: 0.0 }).collect()));
    s
}

/// The frames of a run by start, sender and kind, and what each flow received.
fn outcome(s: &Scenario, seconds: f64) -> (Vec<String>, Vec<String>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    println!("digest {:016x}", net.world.trace.digest());
    let mut frames: Vec<Frame> = net.frames().unwrap().frames().to_vec();
    frames.retain(|f| f.end < at(seconds - 0.01));
    frames.sort_by_key(|f| (f.start, f.from, f.kind as u8));
    let text = |f: &Frame| {
        let (start, end) = (f.start.as_nanos(), f.end.as_nanos());
        let (kind, outcome, nav) = (f.kind, f.outcome, f.duration.as_nanos());
        format!("{start}..{end} {}->{} {kind:?} {outcome:?} {nav} seq {} try {}", f.from, f.to, f.sequence, f.retry)
    };
    let flows = (0..net.flows()).map(|i| format!("{:?} {:?}", net.sent(i), net.received(i))).collect();
    (frames.iter().map(text).collect(), flows)
}

fn same(what: &str, s: &Scenario, seconds: f64) {
    let (cell, field) = (outcome(s, seconds), outcome(&in_a_field(s), seconds));
    let first = cell.0.iter().zip(&field.0).position(|(a, b)| a != b);
    if let Some(i) = first {
        let from = i.saturating_sub(8);
        panic!("{what}: frame {i}:\ncell  {:#?}\nfield {:#?}", &cell.0[from..i + 3], &field.0[from..i + 3]);
    }
    assert_eq!(cell.0.len(), field.0.len(), "{what}: number of frames");
    assert_eq!(cell.1, field.1, "{what}");
}

#[test]
fn a_field_in_which_all_hear_all_is_a_cell() {
    same("one station", &saturated(phy_g(), MAC, 1, 54_000_000, 1), 0.2);
    same("two stations", &saturated(phy_g(), MAC, 2, 54_000_000, 1), 0.5);
    same("twenty stations", &saturated(phy_g(), MAC, 20, 54_000_000, 1), 0.5);
    let rts = MacSpec { rts_threshold: 500, ..MAC };
    same("RTS", &saturated(phy_g(), rts, 20, 54_000_000, 1), 0.5);
    same("down and up", &down_up(3, 3, newreno(), phy_g(), MAC, 1), 3.0);
    same("down and up with RTS", &down_up(3, 3, newreno(), phy_g(), rts, 1), 3.0);
}

/// Two downloads and two uploads with a change.
fn with(name: &str, change: &dyn Fn(&mut Scenario)) {
    let mut s = down_up(2, 2, newreno(), phy_g(), MAC, 1);
    change(&mut s);
    same(name, &s, 3.0);
}

#[test]
fn every_access_rule_sends_the_same_frames_in_a_field() {
    for rule in every::access_rules() {
        with(rule.entry.name, &|s| {
            for (i, f) in s.flows.iter_mut().enumerate() {
                f.category = Category::ALL[i];
            }
            let cell = s.cell.as_mut().unwrap();
            cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        });
    }
}

#[test]
fn every_queue_sends_the_same_frames_in_a_field() {
    for queue in every::disciplines() {
        with(queue.entry.name, &|s| s.cell.as_mut().unwrap().aps[0].station.queue = queue.clone());
    }
}

#[test]
fn every_control_block_sends_the_same_frames_in_a_field() {
    for block in every::controls() {
        with(block.entry.name, &|s| s.cell.as_mut().unwrap().aps[0].control = vec![block.clone()]);
    }
}

/// Every access rule and every queue over a channel that loses frames, with and without aggregates and RTS.
#[test]
fn lossy_cells_send_the_same_frames_in_a_field() {
    let spec = Aggregation { bytes: 20_000, attempts: Some(5), ..AGGREGATION };
    let (rules, queues) = (every::access_rules(), every::disciplines());
    let most = rules.len().max(queues.len());
    for (i, rts) in (0..most).flat_map(|i| [(i, false), (i, true)]) {
        let (rule, queue) = (&rules[i % rules.len()], &queues[i % queues.len()]);
        let hw_queue = i as u32 / 2 % 4;
        let aggregation = Aggregation { asks: i % 3 == 0, limit: [200, 20][i % 2], hw_queue, ..spec };
        let mac = MacSpec {
            rts_threshold: if rts { 500 } else { u32::MAX },
            idle_access: if i % 7 == 3 { IdleAccess::Draw } else { IdleAccess::Immediate },
            ..MAC
        };
        let s = down_up(2, 2, newreno(), phy_g(), mac, i as u64);
        let mut s = aggregating(s, (i % 5 != 1).then_some(aggregation));
        for (k, f) in s.flows.iter_mut().enumerate() {
            f.category = Category::ALL[k];
        }
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        cell.aps[0].station.queue = queue.clone();
        let p = Value::Number([0.05, 0.2, 0.4, 0.6][i % 4]);
        cell.stations.iter_mut().for_each(|one| one.loss = Some(choose(loss::REGISTRY, "per", &[("p", p.clone())])));
        same(&format!("{} and {}, {i}, RTS {rts}", rule.entry.name, queue.entry.name), &s, 2.0);
    }
}

/// Transmission opportunities of several frames, each with its RTS. Packets also arrive in the gap between two frames.
#[test]
fn opportunities_of_several_frames_are_the_same_in_a_field() {
    let txop = Value::Time(Span::from_millis(3));
    let rules = [choose(access::REGISTRY, "edca", &[]), choose(access::REGISTRY, "dcf", &[("txop", txop)])];
    for (rule, (down, up), seed) in
        rules.iter().flat_map(|rule| [((1, 0), 510), ((2, 2), 1)].map(|(flows, seed)| (rule, flows, seed)))
    {
        let mut s = down_up(down, up, newreno(), phy_g(), MacSpec { rts_threshold: 500, ..MAC }, seed);
        s.flows.iter_mut().for_each(|f| f.category = Category::Vo);
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        same(&format!("{} {down}+{up}", rule.entry.name), &s, 3.0);
    }
}

/// Cells of 802.11n and later with aggregates: categories, transmission opportunities, losses, windows and limits.
#[test]
fn aggregates_of_every_format_are_the_same_in_a_field() {
    let modes = [(Family::Ht, 20, 1, 7), (Family::Vht, 80, 1, 9), (Family::He, 20, 1, 5), (Family::Eht, 80, 2, 13)];
    let txop = ("txop", Value::Time(Span::from_millis(2)));
    let rules = [
        choose(access::REGISTRY, "edca", &[]),
        choose(access::REGISTRY, "dcf", &[txop]),
        choose(access::REGISTRY, "edca", &[("table", Value::Word("802.11-2016".into()))]),
    ];
    let specs = [
        AGGREGATION,
        Aggregation { window: 8, limit: 20, attempts: Some(3), asks: false, ..AGGREGATION },
        Aggregation { mpdus: 1, lifetime: Span::from_millis(20), ..AGGREGATION },
    ];
    for (i, mode) in (0..24).map(|i| (i, modes[i % modes.len()])) {
        let (rts, p) = [(false, 0.0), (false, 0.2), (true, 0.2)][i / 2 % 3];
        let spec = Aggregation { hw_queue: [1, 2, 3, 0][i / 6], ..specs[i % specs.len()] };
        let mac = MacSpec { rts_threshold: if rts { 500 } else { u32::MAX }, ..MAC };
        let (family, width, streams, mcs) = mode;
        let s = with_rate(down_up(2, 2, newreno(), phy_g(), mac, i as u64), modern(family, width, streams, mcs));
        let mut s = aggregating(s, spec);
        s.flows.iter_mut().enumerate().for_each(|(k, f)| f.category = Category::ALL[(k + i) % 4]);
        let cell = s.cell.as_mut().unwrap();
        let rule = &rules[i % rules.len()];
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        let per = choose(loss::REGISTRY, "per", &[("p", Value::Number(p))]);
        cell.stations.iter_mut().for_each(|one| one.loss = Some(per.clone()));
        same(&format!("{mode:?}, {i}"), &s, 2.2);
    }
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

/// Rules and queues together, in 48 networks of which some lose frames. (A station of EDCA that draws a backoff for
/// each arrival, `idle_access = "draw"`, may draw one more or less after a collision than in a cell.)
#[test]
fn mixed_cells_send_the_same_frames_in_a_field() {
    let (rules, queues) = (every::access_rules(), every::disciplines());
    let after = [AfterCollision::Eifs, AfterCollision::EifsAll, AfterCollision::Difs];
    for i in 0..48 {
        let mac = MacSpec {
            rts_threshold: if i % 2 == 0 { 500 } else { u32::MAX },
            busy_slot: if i % 5 == 0 { BusySlot::Counted } else { BusySlot::Frozen },
            after_collision: after[i % 3],
            idle_access: if i % 7 < 3 { IdleAccess::Draw } else { IdleAccess::Immediate },
            ..MAC
        };
        let (down, up) = (1 + i % 3, i % 4);
        let mut s = down_up(down, up, newreno(), phy_g(), mac, i as u64);
        for (k, f) in s.flows.iter_mut().enumerate() {
            f.category = Category::ALL[k % 4];
        }
        let cell = s.cell.as_mut().unwrap();
        let lossy = loss("per", &[("p", Value::Number([0.0, 0.1, 0.3][i / 2 % 3]))]);
        cell.stations.iter_mut().for_each(|station| station.loss = lossy.clone());
        let mut names = vec![];
        for (k, station) in [&mut cell.aps[0].station].into_iter().chain(&mut cell.stations).enumerate() {
            let (rule, queue) = (&rules[(i + 7 * k) % rules.len()], &queues[(3 * i + k) % queues.len()]);
            (station.access, station.queue) = (rule.clone(), queue.clone());
            names.push((rule.entry.name, queue.entry.name));
        }
        same(&format!("network {i}: {names:?} {down}+{up} {mac:?}"), &s, 2.0);
    }
}

#[test]
fn options_and_rates_act_in_a_field_as_in_a_cell() {
    let mac = |name: &str, change: &dyn Fn(&mut MacSpec)| with(name, &|s| change(&mut s.cell.as_mut().unwrap().mac));
    mac("idle_access", &|m| m.idle_access = IdleAccess::Draw);
    mac("busy_slot", &|m| m.busy_slot = BusySlot::Counted);
    mac("eifs_all", &|m| m.after_collision = AfterCollision::EifsAll);
    mac("difs", &|m| m.after_collision = AfterCollision::Difs);
    with("rates", &|s| s.cell.as_mut().unwrap().stations[0].rate = 6_000_000.into());
    let b = || Phy::new(Standard::B, Preamble::Long);
    same("802.11b", &saturated(b(), MAC, 5, 11_000_000, 1), 1.0);
    let short = MacSpec { retry_short: 2, retry_long: 1, rts_threshold: 500, ..MAC };
    same("few attempts", &saturated(b(), short, 10, 2_000_000, 1), 1.0);
}

#[test]
fn losses_act_in_a_field_as_in_a_cell() {
    for rts_threshold in [u32::MAX, 500] {
        let mut s = saturated(phy_g(), MacSpec { rts_threshold, ..MAC }, 5, 54_000_000, 1);
        let lossy = loss("per", &[("p", Value::Number(0.1))]);
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.loss = lossy.clone());
        same(&format!("losses, RTS above {rts_threshold}"), &s, 1.0);
    }
}

// ---- a field of its own ----

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

// ---- several access points ----

/// Two downloads and two uploads of an access point and its stations in a field. All names begin with `name`.
fn network(name: &str, queue: u64) -> Scenario {
    let mut s = in_a_field(&down_up(2, 2, newreno(), phy_g(), MAC, 1));
    let named = |old: &mut String| *old = format!("{name}.{old}");
    let cell = s.cell.as_mut().unwrap();
    cell.aps[0].station.queue = fifo(queue);
    cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| named(&mut one.name));
    s.nodes.iter_mut().for_each(|node| named(&mut node.name));
    s.links.iter_mut().for_each(|link| named(&mut link.name));
    s.flows.iter_mut().for_each(|flow| named(&mut flow.name));
    s
}

/// Two networks on one channel, the second `metres` to the north.
fn beside(one: &Scenario, other: &Scenario, metres: f64) -> Scenario {
    let mut s = one.clone();
    let (cell, more) = (s.cell.as_mut().unwrap(), other.cell.clone().unwrap());
    let (field, more_field) = (cell.field.as_mut().unwrap(), more.field.unwrap());
    let (aps, stations, nodes) = (cell.aps.len(), cell.stations.len(), s.nodes.len());
    let moved = |place: Place| match place {
        Place::Ap(i) => Place::Ap(aps + i),
        Place::Station(i) => Place::Station(stations + i),
        Place::Node(i) => Place::Node(nodes + i),
    };
    let mut north = more_field.sites;
    north.iter_mut().filter_map(|site| site.position.as_mut()).for_each(|p| p.y += metres);
    let clients = north.split_off(more.aps.len());
    field.sites.splice(aps..aps, north);
    field.sites.extend(clients);
    field.association = [vec![0; stations], vec![aps; more.stations.len()]].concat();
    cell.aps.extend(more.aps);
    cell.stations.extend(more.stations);
    s.nodes.extend(other.nodes.clone());
    s.links.extend(other.links.iter().map(|l| LinkSpec { from: moved(l.from), to: moved(l.to), ..l.clone() }));
    s.flows.extend(other.flows.iter().map(|f| FlowSpec { from: moved(f.from), to: moved(f.to), ..f.clone() }));
    s
}

/// The frames of the stations whose names begin with `name`, and what the flows with such names sent and received.
fn outcome_of(name: &str, s: &Scenario) -> Vec<String> {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(4.0), 1_000_000);
    net.run_until(at(4.0));
    let station = |i: u32| net.stations()[i as usize].as_str();
    let mut all: Vec<String> = net
        .frames()
        .unwrap()
        .frames()
        .iter()
        .filter(|f| station(f.from).starts_with(name))
        .map(|f| format!("{:?} {} -> {} {:?} {:?}", f.start, station(f.from), station(f.to), f.kind, f.outcome))
        .collect();
    assert!(all.len() > 1000);
    all.sort();
    let flows = s.flows.iter().enumerate().filter(|(_, f)| f.name.starts_with(name));
    all.extend(flows.map(|(i, f)| format!("{} {:?} {:?}", f.name, net.sent(i), net.received(i))));
    all
}

/// Both networks, out of range of each other on one channel, give what each gives alone.
fn as_alone(what: &str, change: &dyn Fn(&mut CellSpec)) {
    let changed = |mut s: Scenario| {
        change(s.cell.as_mut().unwrap());
        s
    };
    let (one, other) = (changed(network("one", 100)), changed(network("other", 20)));
    let both = beside(&one, &other, 10_000.0);
    assert!(outcome_of("one", &one) == outcome_of("one", &both), "{what}");
    assert!(outcome_of("other", &other) == outcome_of("other", &both), "{what}");
}

#[test]
fn access_points_out_of_range_of_each_other_give_what_each_gives_alone() {
    for rule in every::access_rules() {
        let built = (rule.entry.build)(&rule.args, Setting::of(&phy_g())).unwrap();
        if built.whole_cell() {
            continue;
        }
        as_alone(rule.entry.name, &|cell| {
            cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
            // Stations that all hear each other share one history. With one out of range, each has its own.
            if built.reads() == Reads::Channel {
                cell.stations.push(station("far".into(), 54_000_000));
                let [far] = <[Site; 1]>::try_from(field(vec![Point { x: 1e5, y: 1e5 }]).sites).unwrap();
                cell.field.as_mut().unwrap().sites.push(far);
            }
        });
    }
    for block in every::controls() {
        as_alone(block.entry.name, &|cell| cell.aps[0].control = vec![block.clone()]);
    }
    let near = beside(&network("one", 100), &network("other", 20), 100.0);
    assert_ne!(outcome_of("one", &near), outcome_of("one", &network("one", 100)));
}

/// A station of each of two access points; a wire joins the two. What one station sends to the other passes both access
/// points: a frame of the sender, the wire, and a frame of the other access point.
#[test]
fn stations_of_two_access_points_talk_over_their_wire() {
    let mut s = beside(&network("one", 100), &network("other", 20), 10_000.0);
    let wire = wire(Span::from_millis(3));
    let (forward, reverse) = (wire.clone(), wire);
    s.links.push(LinkSpec { name: "between".into(), from: Place::Ap(0), to: Place::Ap(1), forward, reverse });
    s.flows = vec![bulk("across".into(), Place::Station(0), Place::Station(5), newreno(), Start::At(at(0.1)))];
    law::all_hold(&s, &[at(0.05), at(0.2), at(1.0)]);
    let mut net = Net::new(&s).unwrap();
    net.keep_frames(Time::ZERO, at(1.0), 1_000_000);
    net.run_until(at(1.0));
    let sent = |from: u32, to: u32| {
        let frames = net.frames().unwrap().frames();
        frames.iter().filter(|f| f.from == from && f.to == to && f.kind == FrameKind::Data).count() as u64
    };
    // The access points have the numbers 0 and 1, their stations 2 to 5 and 6 to 9.
    let (up, down) = (sent(2, 0), sent(1, 7));
    assert!(net.received(0).packets > 100 && up >= net.received(0).packets && down >= net.received(0).packets);
    // The wire takes 3 ms, and all frames and queues less than 10 ms.
    let delay = net.delay(0).unwrap().mean_ms();
    assert!((3.0..13.0).contains(&delay), "{delay}");
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

/// A second computation of what stations send and sense: from the list of frames and the distances alone.
fn sent_and_sensed(frames: &[Frame], field: &FieldSpec, station: usize, end: Time) -> (Span, Span) {
    let own = frames.iter().filter(|f| f.from as usize == station);
    let sent = own.clone().fold(Span::ZERO, |sum, f| sum + f.end.min(end).since(f.start));
    let here = field.sites[station].position.unwrap();
    let arrives = |f: &&Frame| {
        let d = here.distance(f.origin.unwrap());
        let delay = if field.propagation_delay { (d / 299_792_458.0 * 1e9).round() as u64 } else { 0 };
        (d <= field.sense).then(|| (f.start + Span::from_nanos(delay), f.end + Span::from_nanos(delay)))
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
        pairs in prop::collection::vec((0usize..24, 0usize..24), 1..8),
        [rts, ns2, delay, later, sum] in any::<[bool; 5]>(),
        protocol in prop::sample::select(vec!["static", "aodv", "dsdv"]),
        rules in prop::collection::vec(prop::sample::select(rules_of_a_field()), 1..4),
        queues in prop::collection::vec(prop_oneof![Just(fifo(5)), prop::sample::select(every::disciplines())], 1..4),
        arp in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let n = places.len();
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

    /// The laws with access points and their stations at random places, each pair of access points joined by a wire,
    /// control blocks, and flows between stations, and between stations and the wires.
    #[test]
    fn the_laws_hold_with_several_access_points(
        aps in prop::collection::vec((200.0..1100.0f64, 200.0..1100.0f64), 1..4),
        clients in prop::collection::vec((0usize..4, -180.0..180.0f64, -180.0..180.0f64), 2..12),
        ends in prop::collection::vec((0usize..16, 0usize..16), 1..8),
        block in prop::sample::select(every::controls()),
        rts in any::<bool>(),
        seed in 0u64..1000,
    ) {
        let (n, of) = (clients.len(), |i: usize| clients[i].0 % aps.len());
        let mut cell = cell(Phy::new(Standard::B, Preamble::Short), MAC, n, 11_000_000);
        cell.mac.rts_threshold = if rts { 500 } else { u32::MAX };
        let ap = |i: usize| ApSpec { station: station(format!("ap{i}"), 11_000_000), control: vec![block.clone()] };
        cell.aps = (0..aps.len()).map(ap).collect();
        let near = |i: usize| Point { x: aps[of(i)].0 + clients[i].1, y: aps[of(i)].1 + clients[i].2 };
        let positions = aps.iter().map(|&(x, y)| Point { x, y }).chain((0..n).map(near)).collect();
        cell.field = Some(FieldSpec { association: (0..n).map(of).collect(), ..field(positions) });
        let (mut nodes, mut links, mut flows) = (vec![], vec![], vec![]);
        let mut link = |name: String, from, to| {
            links.push(LinkSpec { name, from, to, forward: wire(Span::ZERO), reverse: wire(Span::from_millis(1)) });
        };
        for i in 0..aps.len() {
            (0..i).for_each(|j| link(format!("between{i}-{j}"), Place::Ap(i), Place::Ap(j)));
        }
        for (i, &(a, b)) in ends.iter().enumerate().filter(|(_, (a, b))| a % n != b % n) {
            let (name, from) = (format!("f{i}"), Place::Station(a % n));
            let to = match i % 3 {
                0 => Place::Station(b % n),
                _ => {
                    nodes.push(NodeSpec { name: format!("host{i}"), router: false });
                    link(format!("wire{i}"), Place::Node(nodes.len() - 1), Place::Ap(of(a % n)));
                    Place::Node(nodes.len() - 1)
                }
            };
            flows.push(match i % 3 {
                2 => cbr(name, to, from, 1_000_000),
                _ => bulk(name, from, to, newreno(), Start::At(at(0.1))),
            });
        }
        let s = Scenario { seed, cell: Some(cell), nodes, links, flows };
        law::all_hold(&s, &[at(0.05), at(0.123_457), at(1.6)]);
    }
}

// ---- stations that move, or are off, and links that are given ----

/// Two stations at these positions of which the first sends a datagram each 10 ms, in a field that `set` changes; the
/// start of each data frame that the other decoded, in seconds.
fn decoded(positions: [f64; 2], set: impl FnOnce(&mut FieldSpec)) -> Vec<f64> {
    let mut s = chain(1, 11_000_000, 1500);
    let cell = s.cell.as_mut().unwrap();
    let mut spec = field(positions.map(|x| Point { x, y: 0.0 }).to_vec());
    spec.routing = Some(choose(routing::REGISTRY, "static", &[]));
    set(&mut spec);
    cell.field = Some(spec);
    s.flows = vec![cbr("f".into(), Place::Station(0), Place::Station(1), 1_200_000)];
    let mut net = Net::new(&s).unwrap();
    net.keep_frames(Time::ZERO, at(20.0), 1_000_000);
    net.run_until(at(20.0));
    let frames = net.frames().unwrap().frames();
    let good = |f: &&Frame| f.kind == FrameKind::Data && f.outcome == FrameOutcome::Received;
    frames.iter().filter(good).map(|f| f.start.as_secs_f64()).collect()
}

/// The first and last of these, and the ends of the longest gap.
fn gap(times: &[f64]) -> [f64; 4] {
    let longest = times.windows(2).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))).unwrap();
    [times[0], longest[0], longest[1], *times.last().unwrap()]
}

/// The second station leaves at 5 s with 50 m/s: from 100 m it passes the range of 250 m at 8 s. It turns back at
/// 500 m, at 13 s, and is in range again at 18 s.
#[test]
fn a_station_that_moves_is_heard_while_it_is_in_range() {
    let moves = "$node_(0) set X_ 100\n$node_(0) set Y_ 0\n$ns_ at 5.0 \"$node_(0) setdest 500 0 50\"\n\
        $ns_ at 13.0 \"$node_(0) setdest 0 0 50\"\n";
    let movement = std::sync::Arc::new(mobility::Movement::parse(moves).unwrap());
    let times = decoded([0.0, 100.0], |f| {
        f.sites[1].position = None;
        f.sites[1].mobility = choose(mobility::REGISTRY, "trace", &[]);
        f.sites[1].movement = Some((movement, 0));
    });
    let [first, leaves, back, last] = gap(&times);
    assert!(first < 0.1 && last > 19.9, "{first} {last}");
    assert!((7.97..=8.0).contains(&leaves) && (18.0..18.05).contains(&back), "{leaves} {back}");
}

#[test]
fn a_station_that_is_off_is_not_heard() {
    for station in [0, 1] {
        let times = decoded([0.0, 100.0], |f| f.sites[station].off = vec![(at(5.0), at(8.0))]);
        let [first, leaves, back, last] = gap(&times);
        assert!(first < 0.1 && last > 19.9, "{first} {last}");
        assert!((4.97..=5.0).contains(&leaves) && (8.0..8.05).contains(&back), "{leaves} {back}");
    }
}

/// Stations at one place, of which links say who hears whom. What is only sensed is never decoded.
#[test]
fn given_links_replace_distances() {
    let link = |from, to, decodes| FieldLink { from, to, decodes, gain: 1.0, delay: Span::ZERO };
    let both = |decodes| Some(vec![link(0, 1, decodes), link(1, 0, decodes)]);
    assert!(decoded([0.0, 0.0], |f| f.links = both(true)).len() > 1900);
    assert!(decoded([0.0, 0.0], |f| f.links = both(false)).is_empty());
    assert!(decoded([0.0, 0.0], |f| f.links = Some(vec![])).is_empty());
}

/// With a standard deviation of 8 dB and an exponent of 3, a frame at twice the range loses 9.03 dB more than at the
/// range. It is decoded with probability Q(9.03 / 8) = 12.95 % (12.81 % where draws are cut at 3 deviations), and its
/// ACK likewise. For a link that is drawn once, all frames share one fate.
#[test]
fn shadowing_decides_each_frame_or_each_link() {
    let shadowed = |each_frame, seed| {
        let mut s = chain(1, 11_000_000, 1500);
        s.seed = seed;
        let cell = s.cell.as_mut().unwrap();
        let mut spec = field(vec![Point::default(), Point { x: 500.0, y: 0.0 }]);
        // Infrastructure of two stations: the access point is the receiver of all frames.
        spec.propagation = choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]);
        spec.shadowing = Some(Shadowing { deviation: 8.0, each_frame });
        cell.aps = vec![ApSpec { station: station("ap".into(), 11_000_000), control: vec![] }];
        cell.stations.truncate(1);
        cell.field = Some(spec);
        let (nodes, links) = hosts(1, Span::ZERO);
        (s.nodes, s.links) = (nodes, links);
        s.flows = vec![cbr("f".into(), Place::Station(0), Place::Node(0), 1_200_000)];
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(20.0), 1_000_000);
        net.run_until(at(20.0));
        let frames = net.frames().unwrap().frames();
        let data = frames.iter().filter(|f| f.kind == FrameKind::Data);
        let good = data.clone().filter(|f| f.outcome == FrameOutcome::Received).count();
        (good as f64, data.count() as f64)
    };
    let (good, all) = shadowed(true, 1);
    assert!((good / all - 0.1281).abs() < 3.0 * (0.13 * 0.87 / all).sqrt(), "{good} of {all}");
    let fates: Vec<f64> = (1..=100).map(|seed| shadowed(false, seed)).map(|(good, all)| good / all).collect();
    assert!(fates.iter().all(|share| *share == 0.0 || *share == 1.0), "{fates:?}");
    let share = fates.iter().sum::<f64>() / 100.0;
    assert!((share - 0.1281).abs() < 3.0 * (0.13f64 * 0.87 / 100.0).sqrt(), "{share}");
}
