//! Several access points in a field.

use super::in_a_field;
use crate::common::every;
use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access::{Reads, Setting};
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use contend_sim::wifi::{FrameKind, propagation};
use proptest::prelude::*;

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

/// Both networks give what each gives alone: out of range of each other on one channel, or side by side on two.
fn as_alone(what: &str, change: &dyn Fn(&mut CellSpec)) {
    let changed = |mut s: Scenario| {
        change(s.cell.as_mut().unwrap());
        s
    };
    let (one, other) = (changed(network("one", 100)), changed(network("other", 20)));
    for (metres, channels) in [(10_000.0, vec![]), (100.0, vec![1, 6])] {
        let mut both = beside(&one, &other, metres);
        both.cell.as_mut().unwrap().field.as_mut().unwrap().channels = channels;
        assert!(outcome_of("one", &one) == outcome_of("one", &both), "{what} at {metres} m");
        assert!(outcome_of("other", &other) == outcome_of("other", &both), "{what} at {metres} m");
    }
}

#[test]
fn access_points_out_of_range_or_on_other_channels_give_what_each_gives_alone() {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The laws with access points and their stations at random places, each pair of access points joined by a wire,
    /// control blocks, and flows between stations, and between stations and the wires.
    #[test]
    fn the_laws_hold_with_several_access_points(
        aps in prop::collection::vec((200.0..1100.0f64, 200.0..1100.0f64), 1..4),
        clients in prop::collection::vec((0usize..4, -180.0..180.0f64, -180.0..180.0f64), 2..12),
        ends in prop::collection::vec((0usize..16, 0usize..16), 1..8),
        block in prop::sample::select(every::controls()),
        channels in prop::sample::select(vec![vec![], vec![1, 6, 6], vec![1, 6, 11]]),
        rts in any::<bool>(),
        leak in prop::option::of(0.0..20.0f64),
        seed in 0u64..1000,
    ) {
        let (n, of) = (clients.len(), |i: usize| clients[i].0 % aps.len());
        let mut cell = cell(Phy::new(Standard::B, Preamble::Short), MAC, n, 11_000_000);
        cell.mac.rts_threshold = if rts { 500 } else { u32::MAX };
        let ap = |i: usize| ApSpec {
            station: station(format!("ap{i}"), 11_000_000),
            beacon: None,
            control: vec![block.clone()],
        };
        cell.aps = (0..aps.len()).map(ap).collect();
        let near = |i: usize| Point { x: aps[of(i)].0 + clients[i].1, y: aps[of(i)].1 + clients[i].2 };
        let positions = aps.iter().map(|&(x, y)| Point { x, y }).chain((0..n).map(near)).collect();
        cell.field = Some(FieldSpec {
            association: (0..n).map(of).collect(),
            channels: channels.into_iter().take(aps.len()).collect(),
            ..field(positions)
        });
        if let (Some(leak), Some(field)) = (leak, &mut cell.field) {
            let exponent = [("exponent", Value::Number(3.0))];
            field.propagation = choose(propagation::REGISTRY, "log_distance", &exponent);
            field.capture = Capture { ratio: 10.0, later: rts, adds_up: !rts };
            field.adjacent = Some(Adjacent { overlaps: vec![([1, 6], leak), ([6, 11], leak)], energy: -110.0 });
        }
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
