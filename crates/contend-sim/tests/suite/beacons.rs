//! Beacons of access points.

use crate::common::*;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access;
use contend_sim::wifi::{BROADCAST, Frame, FrameKind, FrameOutcome};

const EVERY_102_4_MS: BeaconSpec = BeaconSpec { interval: Span::from_micros(102_400), bytes: 200, offset: None };

/// The same network, whose access points send beacons.
fn with_beacons(mut s: Scenario, beacon: BeaconSpec) -> Scenario {
    s.cell.as_mut().unwrap().aps.iter_mut().for_each(|ap| ap.beacon = Some(beacon));
    s
}

/// The beacons on the air in the first `seconds`.
fn beacons(s: &Scenario, seconds: f64) -> (Net, Vec<Frame>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    let frames = net.frames().unwrap().frames().iter().filter(|f| f.kind == FrameKind::Beacon).copied().collect();
    (net, frames)
}

/// Two access points 100 m apart with a station each, which send datagrams to it.
fn two_cells() -> Scenario {
    let mut s = saturated(phy_g(), MAC, 2, 54_000_000, 1);
    let cell = s.cell.as_mut().unwrap();
    cell.aps.push(ApSpec { station: station("other".into(), 54_000_000), beacon: None, control: vec![] });
    let positions = [0.0, 100.0, 10.0, 110.0].map(|x| Point { x, y: 0.0 });
    cell.field = Some(FieldSpec { association: vec![0, 1], ..field(positions.to_vec()) });
    s.links[1].to = Place::Ap(1);
    s.flows.iter_mut().for_each(|f| (f.from, f.to) = (f.to, f.from));
    s
}

/// 200 B at 6 Mb/s: 20 us of preamble and header, 16 + 1600 + 6 bits in 68 symbols of 4 us, and 6 us of signal
/// extension. On a free medium a beacon starts when it is due; in a cell nothing else is on the air.
#[test]
fn beacons_of_a_quiet_cell_are_on_time() {
    let mut s = saturated(phy_g(), MAC, 1, 54_000_000, 1);
    s.flows.clear();
    let offset = Some(Span::from_millis(10));
    let s = with_beacons(s, BeaconSpec { offset, ..EVERY_102_4_MS });
    law::all_hold(&s, &[at(0.05), at(1.0)]);
    let (net, frames) = beacons(&s, 1.0);
    let starts: Vec<u64> = frames.iter().map(|f| f.start.as_micros()).collect();
    assert_eq!(starts, (0..10).map(|k| 10_000 + 102_400 * k).collect::<Vec<_>>());
    for (f, sequence) in frames.iter().zip(1..) {
        assert_eq!(f.end.since(f.start), Span::from_micros(298));
        assert_eq!((f.from, f.to, f.bytes, f.rate, f.sequence), (0, BROADCAST, 200, 6_000_000, sequence));
        assert_eq!((f.duration, f.retry, f.outcome), (Span::ZERO, 0, FrameOutcome::Received));
    }
    let books = net.ledger().unwrap();
    assert_eq!(books.stations[0].beacon, Span::from_micros(2_980));
    assert_eq!(books.stations[0].beacon, books.stations[0].total());
}

/// In a saturated cell a beacon waits for the medium, collides like any frame, and is never repeated: 98 are due in
/// 10 s, and each is sent once.
#[test]
fn beacons_of_a_full_cell_are_sent_once() {
    let s = saturated(phy_g(), MAC, 10, 54_000_000, 1);
    let with = with_beacons(s.clone(), EVERY_102_4_MS);
    law::all_hold(&with, &[at(0.05), at(1.234_567), at(3.0)]);
    let (net, frames) = beacons(&with, 10.0);
    assert!((97..=98).contains(&frames.len()), "{}", frames.len());
    assert!(frames.windows(2).all(|two| two[1].sequence == two[0].sequence + 1));
    let collided = frames.iter().filter(|f| f.outcome == FrameOutcome::Collided).count();
    assert!(collided > 0, "of {}", frames.len());
    let received = Span::from_micros(298) * (frames.len() - collided) as u64;
    assert_eq!(net.ledger().unwrap().stations[0].beacon, received);
}

/// The laws hold with beacons that come faster than they can be sent, for each kind of sender: single packets,
/// aggregates, categories, transmission opportunities that reserve the medium, late sensing, and every access rule.
#[test]
fn the_laws_hold_with_beacons() {
    let often = BeaconSpec { interval: Span::from_micros(700), ..EVERY_102_4_MS };
    let stops = [at(0.05), at(0.123_457), at(0.5)];
    let down_up = |mac| down_up(2, 2, newreno(), phy_g(), mac, 3);
    let started = |mut s: Scenario| {
        s.flows.iter_mut().for_each(|f| f.ends.start = Start::At(at(0.01)));
        with_beacons(s, often)
    };
    let plain = started(down_up(MAC));
    law::all_hold(&plain, &stops);
    law::all_hold(&started(down_up(MacSpec { rts_threshold: 500, ..MAC })), &stops);
    law::all_hold(&started(down_up(MacSpec { preamble_detection: Span::from_micros(4), ..MAC })), &stops);
    let modern = with_rate(down_up(MAC), modern(contend_sim::wifi::phy::Family::Ht, 40, 2, 7));
    law::all_hold(&started(aggregating(modern, AGGREGATION)), &stops);
    for rule in every::access_rules() {
        for txop_protection in [TxopProtection::Single, TxopProtection::Multiple] {
            let mut s = started(down_up(MacSpec { txop_protection, ..MAC }));
            let cell = s.cell.as_mut().unwrap();
            cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
            law::all_hold(&s, &stops);
        }
    }
    let mut lossy = plain;
    lossy.cell.as_mut().unwrap().stations.iter_mut().for_each(|s| {
        s.loss = loss("bernoulli", &[("p", contend_core::registry::Value::Number(0.3))]);
    });
    law::all_hold(&lossy, &stops);
}

/// Both access points of a field send beacons, at times of their own, and the laws hold.
#[test]
fn each_access_point_of_a_field_sends_beacons() {
    let s = with_beacons(two_cells(), EVERY_102_4_MS);
    law::all_hold(&s, &[at(0.05), at(0.123_457), at(2.0)]);
    let (net, frames) = beacons(&s, 2.0);
    for ap in [0, 1] {
        let own: Vec<&Frame> = frames.iter().filter(|f| f.from == ap).collect();
        assert!((19..=20).contains(&own.len()), "{} of {ap}", own.len());
        assert_eq!(net.ledger().unwrap().stations[ap as usize].beacon, Span::from_micros(298) * own.len() as u64);
    }
    let edca = choose(access::REGISTRY, "edca", &[]);
    let mut s = s;
    let cell = s.cell.as_mut().unwrap();
    let stations = cell.stations.iter_mut().chain(cell.aps.iter_mut().map(|ap| &mut ap.station));
    stations.for_each(|one| one.access = edca.clone());
    law::all_hold(&s, &[at(0.05), at(1.0)]);
}
