//! Channels that overlap.

use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::propagation;

/// Frames lose 46.6777 dB in the first metre, and 30 dB with each ten times farther. All transmit 16 dBm.
const FIRST_METRE: f64 = 16.0 - 46.6777;

/// A place so many metres to the east and to the north of the first access point.
fn place(x: f64, y: f64) -> Point {
    Point { x: 10.0 + x, y: 10.0 + y }
}

/// Two access points on channels 1 and 2, and a station of each, on a line at these metres. Each station gets 60 Mb/s
/// offered, more than 54 Mb/s can carry. A frame of the other channel loses so many decibels.
fn two_cells(loss: Option<f64>, metres: [f64; 4]) -> Scenario {
    let mut cell = cell(phy_g(), MAC, 2, 54_000_000);
    let second = ApSpec { station: station("ap2".into(), 54_000_000), beacon: None, control: vec![] };
    cell.aps.push(second);
    cell.field = Some(FieldSpec {
        association: vec![0, 1],
        channels: vec![1, 2],
        adjacent: loss.map(|loss| Adjacent { overlaps: vec![([1, 2], loss)], energy: -62.0 }),
        propagation: choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]),
        capture: Capture { ratio: 10.0, later: false, adds_up: false },
        ..field(metres.map(|x| place(x, 0.0)).to_vec())
    });
    let nodes = (0..2).map(|i| NodeSpec { name: format!("host{i}"), router: false }).collect();
    let link = |i| LinkSpec {
        name: format!("wire{i}"),
        from: Place::Node(i),
        to: Place::Ap(i),
        forward: wire(Span::ZERO),
        reverse: wire(Span::ZERO),
    };
    let flow = |i| cbr(format!("f{i}"), Place::Node(i), Place::Station(i), 60_000_000);
    let (links, flows) = ((0..2).map(link).collect(), (0..2).map(flow).collect());
    Scenario { seed: 1, cell: Some(cell), nodes, links, flows }
}

/// Packets that each station received in two seconds, frames lost to others, and the share of the time in which the
/// access points sensed something. The laws hold.
fn outcome(s: &Scenario) -> ([u64; 2], u64, f64) {
    law::all_hold(s, &[at(0.123_457), at(0.5)]);
    let mut net = Net::new(s).unwrap();
    net.run_until(at(2.0));
    let ledger = net.ledger().unwrap();
    let hears: f64 = ledger.radios[..2].iter().map(|r| r.hears.as_secs_f64() / 2.0).sum();
    ([0, 1].map(|flow| net.received(flow).packets), net.bss().unwrap().collisions(), hears / 2.0)
}

/// The access points are 5 m apart, and nearer to each other than any other pair of two channels. At 5 m a frame
/// arrives with -30.68 - 20.97 = -51.65 dBm: after 10.3 dB with -61.95 dBm, which is sensed at -62 dBm, and after 10.4
/// dB with -62.05 dBm, which is not. Then, and if no frame of the other channel arrives, each cell gives what it gives
/// alone.
#[test]
fn a_frame_of_another_channel_is_sensed_from_the_threshold_on() {
    let at_five = FIRST_METRE - 30.0 * libm::log10(5.0);
    assert!(at_five - 10.3 > -62.0 && at_five - 10.4 < -62.0);
    let on_a_line = [0.0, 5.0, -2.0, 7.0];
    let (alone, _, nothing) = outcome(&two_cells(None, on_a_line));
    assert_eq!(nothing, 0.0);
    assert_eq!(outcome(&two_cells(Some(10.4), on_a_line)), (alone, 0, 0.0));
    let (shared, _, sensed) = outcome(&two_cells(Some(10.3), on_a_line));
    assert!(sensed > 0.3, "{sensed}");
    for (shared, alone) in shared.into_iter().zip(alone) {
        let share = shared as f64 / alone as f64;
        assert!((0.4..0.65).contains(&share), "{share}");
    }
    // On one channel the same stations share the medium in the same way, but what they begin together is lost: with two
    // stations and a window of 16 slots, about every ninth frame. Here both arrive, 26 dB stronger than the other.
    let mut one = two_cells(None, on_a_line);
    one.cell.as_mut().unwrap().field.as_mut().unwrap().channels = vec![];
    let (one, ..) = outcome(&one);
    let [one, shared] = [one, shared].map(|packets| packets.iter().sum::<u64>() as f64);
    assert!((1.05..1.2).contains(&(shared / one)), "{shared} {one}");
}

/// The first station is 10 m from its own access point and from the other one, 20 m away from which its own is: a frame
/// arrives there after 9.9 dB with -30.68 - 39.03 - 9.9 = -79.6 dBm, which is not sensed. So what the station receives
/// is 9.9 dB stronger than the frames of the other channel, too little for a ratio of 10 dB: it loses what they
/// overlap. The other cell, 1 m wide, loses nothing. At 10.1 dB the first one loses nothing, either, although its
/// frames begin while others are on the air: a radio does not lock on a frame of another channel.
#[test]
fn a_frame_of_another_channel_corrupts_by_the_ratio_of_capture() {
    let on_a_line = [0.0, 20.0, 10.0, 21.0];
    let (alone, ..) = outcome(&two_cells(None, on_a_line));
    assert_eq!(outcome(&two_cells(Some(10.1), on_a_line)), (alone, 0, 0.0));
    let ([hit, other], collisions, sensed) = outcome(&two_cells(Some(9.9), on_a_line));
    assert_eq!((other, sensed), (alone[1], 0.0));
    assert!(hit * 10 < alone[0] && collisions > 100, "{hit} of {}, {collisions}", alone[0]);
    // One frame alone has the same power if powers add up.
    let mut sum = two_cells(Some(10.1), on_a_line);
    sum.cell.as_mut().unwrap().field.as_mut().unwrap().capture.adds_up = true;
    assert_eq!(outcome(&sum).0, alone);
}

/// Two access points on channel 2 at 6 m from the one on channel 1: each arrives with -30.68 - 23.34 = -54.02 dBm less
/// the loss. After 9.5 dB that is -63.5 dBm, which is not sensed; both together are 3.01 dB more, which is.
#[test]
fn the_powers_of_other_channels_add_up_for_carrier_sense() {
    let heard = |aps: usize| {
        let mut s = two_cells(Some(9.5), [0.0, 6.0, -2.0, 8.0]);
        let cell = s.cell.as_mut().unwrap();
        let f = cell.field.as_mut().unwrap();
        if aps == 2 {
            // On the other side, and as far from the first one; behind a wall from the second one.
            cell.aps.push(ApSpec { station: station("ap3".into(), 54_000_000), beacon: None, control: vec![] });
            cell.stations.push(station("sta3".into(), 54_000_000));
            let [north, client] = <[Site; 2]>::try_from(field(vec![place(0.0, 6.0), place(0.0, 8.0)]).sites).unwrap();
            f.sites.insert(2, north);
            f.sites.push(client);
            f.walls.push(Wall { from: place(0.5, 0.5), to: place(9.0, 9.0), loss: 100.0 });
            (f.association, f.channels) = (vec![0, 1, 2], vec![1, 2, 2]);
            s.nodes.push(NodeSpec { name: "host2".into(), router: false });
            let more = LinkSpec { name: "wire2".into(), from: Place::Node(2), to: Place::Ap(2), ..s.links[0].clone() };
            s.links.push(more);
            s.flows.push(cbr("f2".into(), Place::Node(2), Place::Station(2), 60_000_000));
        }
        law::all_hold(&s, &[at(0.2)]);
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(1.0));
        net.ledger().unwrap().radios[0].hears
    };
    assert_eq!(heard(1), Span::ZERO);
    assert!(heard(2) > Span::from_millis(100), "{:?}", heard(2));
}

/// A pair that is in no list of overlaps costs nothing: the digest is that without the key.
#[test]
fn channels_without_overlap_give_the_same_digest() {
    let digest = |s: &Scenario| {
        let mut net = Net::new(s).unwrap();
        net.run_until(Time::ZERO + Span::from_secs(1));
        net.world.trace.digest()
    };
    let without = two_cells(None, [0.0, 5.0, -2.0, 7.0]);
    let mut other = without.clone();
    let overlaps = vec![([2, 3], 1.0)];
    other.cell.as_mut().unwrap().field.as_mut().unwrap().adjacent = Some(Adjacent { overlaps, energy: -62.0 });
    assert_eq!(digest(&without), digest(&other));
}
