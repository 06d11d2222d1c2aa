//! Who is heard: stations that move or are off, links that are given, and shadowing.

use super::chain;
use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::mobility;
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, propagation};

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
        cell.aps = vec![ApSpec { station: station("ap".into(), 11_000_000), beacon: None, control: vec![] }];
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

/// The power falls with the cube of the distance, so that a wall of 30 log10(2) = 9.03 dB costs what twice the distance
/// costs: frames are decoded up to half the range of 250 m, and sensed up to half of 550 m. Two walls cost twice as
/// much, and a wall beside the way nothing.
#[test]
fn a_wall_costs_what_its_loss_costs_in_distance() {
    let wall = |x: f64, loss| Wall { from: Point { x, y: -5.0 }, to: Point { x, y: 5.0 }, loss };
    let decoded = |metres: f64, walls: &[Wall]| {
        let times = decoded([0.0, metres], |f| {
            f.propagation = choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]);
            f.walls = walls.to_vec();
        });
        assert!(times.is_empty() || times.len() > 1900);
        !times.is_empty()
    };
    let twice = 30.0 * libm::log10(2.0);
    let beside = Wall { from: Point { x: 9.0, y: 1.0 }, to: Point { x: 9.0, y: 5.0 }, loss: 100.0 };
    for (walls, reach) in [
        (vec![], 250.0),
        (vec![beside], 250.0),
        (vec![wall(10.0, 0.0)], 250.0),
        (vec![wall(10.0, twice), beside], 125.0),
        (vec![wall(10.0, twice), wall(20.0, twice)], 62.5),
        (vec![wall(10.0, twice), wall(260.0, 50.0)], 125.0),
    ] {
        assert_eq!((decoded(reach - 0.1, &walls), decoded(reach + 0.1, &walls)), (true, false), "{walls:?}");
    }
}

/// A station that passes behind a wall at 50 m/s: it leaves at 5 s from (100 m, 0 m) to the north, and the wall covers
/// it from y = 100 m to y = 200 m, from 7 to 9 s.
#[test]
fn a_station_that_moves_is_not_heard_behind_a_wall() {
    let moves = "$node_(0) set X_ 100\n$node_(0) set Y_ 0\n$ns_ at 5.0 \"$node_(0) setdest 100 1000 50\"\n\
        $ns_ at 9.5 \"$node_(0) setdest 100 0 0.1\"\n";
    let movement = std::sync::Arc::new(mobility::Movement::parse(moves).unwrap());
    let times = decoded([0.0, 100.0], |f| {
        f.sites[1].position = None;
        f.sites[1].mobility = choose(mobility::REGISTRY, "trace", &[]);
        f.sites[1].movement = Some((movement, 0));
        f.propagation = choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]);
        // The wall stands at half the way.
        f.walls = vec![Wall { from: Point { x: 50.0, y: 50.0 }, to: Point { x: 50.0, y: 100.0 }, loss: 100.0 }];
    });
    let [first, leaves, back, last] = gap(&times);
    assert!(first < 0.1 && last > 19.9, "{first} {last}");
    assert!((6.97..=7.0).contains(&leaves) && (9.0..9.05).contains(&back), "{leaves} {back}");
}
