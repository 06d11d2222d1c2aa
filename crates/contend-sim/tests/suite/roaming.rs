//! Stations that change their access points.

use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::mobility::{self, Movement};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::{StationId, propagation};
use std::sync::Arc;

const ROAM: RoamSpec = RoamSpec {
    threshold: -70.0,
    hysteresis: 8.0,
    interval: Span::from_millis(100),
    scan: Span::from_millis(60),
    retry: Span::from_secs(30),
    gap: Span::from_millis(50),
    forwards: false,
};

/// The first station, after the access points.
const WALKER: StationId = 2;

/// Access points at 0 m and at `far`, on two channels. The only station walks from 10 m to 2 m before the second one,
/// from 1 s on with 5 m/s, and back. Its power is 20 - 46.6777 - 30 log10(d) dBm.
fn walk(far: f64, flows: [usize; 2], roam: RoamSpec) -> Scenario {
    let mut s = down_up(flows[0], flows[1], newreno(), phy_g(), MAC, 1);
    s.flows.iter_mut().for_each(|f| {
        f.ends.start = Start::At(at(0.1));
        for end in [&mut f.from, &mut f.to] {
            if let Place::Station(i) = end {
                *i = 0;
            }
        }
    });
    let cell = s.cell.as_mut().unwrap();
    cell.stations.truncate(1);
    cell.aps.push(ApSpec { station: station("other".into(), 54_000_000), beacon: None, control: vec![] });
    let turn = far - 2.0;
    let back = 1.0 + (turn - 10.0) / 5.0 + 2.0;
    let moves = format!(
        "$node_(0) set X_ 10\n$node_(0) set Y_ 0\n$ns_ at 1.0 \"$node_(0) setdest {turn} 0 5\"\n\
            $ns_ at {back} \"$node_(0) setdest 2 0 5\"\n"
    );
    let mut f = field([0.0, far, 10.0].map(|x| Point { x, y: 0.0 }).to_vec());
    f.propagation = choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]);
    (f.tx_power, f.association, f.channels) = (20.0, vec![0], vec![1, 6]);
    f.sites[2] = Site {
        position: None,
        mobility: choose(mobility::REGISTRY, "trace", &[]),
        movement: Some((Arc::new(Movement::parse(&moves).unwrap()), 0)),
        off: vec![],
        roam: Some(roam),
    };
    cell.field = Some(f);
    s
}

fn course(s: &Scenario, seconds: f64) -> (Net, Vec<(u64, StationId)>) {
    let mut net = Net::new(s).unwrap();
    net.run_until(at(seconds));
    let course = net.roams(WALKER).unwrap().course;
    (net, course.into_iter().map(|(t, ap)| (t.as_micros(), ap)).collect())
}

/// At -70 dBm it is 27.802 m away, at 4.5604 s. It looks at 4.6 s, where the other access point, 40 m from the first,
/// is stronger by 30 log10(28 / 12) = 11.04 dB. It has it after 60 ms and 50 ms.
#[test]
fn it_changes_where_the_threshold_is_crossed() {
    let mut s = walk(40.0, [1, 0], ROAM);
    s.flows[0].ends.start = Start::At(at(1000.0));
    let (net, course) = course(&s, 7.0);
    assert_eq!(course, [(0, 0), (4_710_000, 1)]);
    assert_eq!((net.roams(WALKER).unwrap().changes, net.roams(0)), (1, None));
    assert_eq!(net.roams(WALKER).unwrap().away, Span::from_millis(110));
}

/// 60 m apart, both are -77.6 dBm half-way. The other one is stronger by 8 dB from 60 / (1 + 10^(-8/30)) = 38.931 m on,
/// at 6.7862 s. A fruitless scan is followed by the next look after 100 ms: the scan that sees it ends within 160 ms.
#[test]
fn it_changes_where_the_hysteresis_is_reached() {
    let mut s = walk(60.0, [1, 0], RoamSpec { retry: Span::from_millis(100), ..ROAM });
    s.flows[0].ends.start = Start::At(at(1000.0));
    let (_, course) = course(&s, 9.0);
    let [_, (changed, 1)] = course[..] else { panic!("{course:?}") };
    assert!((6_836_200..=6_996_200).contains(&changed), "{changed}");
    // Without waiting for anything: half-way, at 5 s, and it is back there at 17.2 s.
    let millisecond = Span::from_millis(1);
    let at_once = RoamSpec {
        threshold: 0.0,
        hysteresis: 0.0,
        interval: millisecond,
        scan: Span::ZERO,
        retry: millisecond,
        gap: Span::ZERO,
        ..ROAM
    };
    let mut s = walk(60.0, [1, 0], at_once);
    s.flows[0].ends.start = Start::At(at(1000.0));
    let (_, course) = self::course(&s, 20.0);
    let [_, (there, 1), (back, 0)] = course[..] else { panic!("{course:?}") };
    assert!((5_000_000..=5_002_000).contains(&there) && (18_200_000..=18_202_000).contains(&back), "{course:?}");
}

/// The laws hold for each kind of sender while a station comes and goes, also if it leaves before all is sent.
#[test]
fn the_laws_hold_while_stations_roam() {
    let often = RoamSpec {
        threshold: -50.0,
        hysteresis: 1.0,
        interval: Span::from_millis(30),
        retry: Span::from_millis(40),
        ..ROAM
    };
    let stops = [at(0.5), at(1.234_567), at(4.65), at(4.72), at(6.0), at(14.0)];
    for forwards in [false, true] {
        let roam = RoamSpec { forwards, ..often };
        let plain = walk(60.0, [2, 2], roam);
        law::all_hold(&plain, &stops);
        let modern = with_rate(plain.clone(), modern(contend_sim::wifi::phy::Family::Ht, 40, 2, 7));
        law::all_hold(&aggregating(modern.clone(), AGGREGATION), &stops);
        let reorder = Span::from_millis(100);
        law::all_hold(&aggregating(modern.clone(), Aggregation { reorder, hw_queue: 2, ..AGGREGATION }), &stops);
        for rule in every::access_rules() {
            let mut s = plain.clone();
            let cell = s.cell.as_mut().unwrap();
            let aps = cell.aps.iter_mut().map(|ap| &mut ap.station);
            cell.stations.iter_mut().chain(aps).for_each(|one| one.access = rule.clone());
            law::all_hold(&s, &stops[..3]);
        }
        // Out of range of both half-way: nothing is answered, and what is below the queues stays there.
        let mut s = aggregating(modern, AGGREGATION);
        let f = s.cell.as_mut().unwrap().field.as_mut().unwrap();
        (f.range, f.sense) = (22.0, 25.0);
        law::all_hold(&s, &stops);
        let (net, course) = course(&s, 14.0);
        assert!(course.len() > 1, "{course:?}");
        assert!(net.received(0).packets > 0);
    }
}

/// A download goes on after the change: without a change of access point it ends where the range does.
#[test]
fn a_download_goes_on_at_the_new_access_point() {
    for forwards in [false, true] {
        let mut s = walk(60.0, [1, 0], RoamSpec { retry: Span::from_millis(100), forwards, ..ROAM });
        s.cell.as_mut().unwrap().field.as_mut().unwrap().range = 45.0;
        let mut net = Net::new(&s).unwrap();
        let mut goodput = |from: f64, to: f64| {
            net.run_until(at(from));
            let before = net.received(0).bytes;
            net.run_until(at(to));
            (net.received(0).bytes - before) as f64 * 8.0 / (to - from)
        };
        let (before, after) = (goodput(2.0, 4.0), goodput(8.5, 10.5));
        assert!(before > 15e6, "{before}");
        assert!((0.95..=1.05).contains(&(after / before)), "{after} after {before}");
        assert_eq!(net.roams(WALKER).unwrap().changes, 1);
        let held = net.transmitters().position(|t| t == "routing").unwrap();
        let lost = net.transmitter(held).lost;
        assert_eq!(lost == 0, forwards, "{lost}");
        s.cell.as_mut().unwrap().field.as_mut().unwrap().sites[2].roam = None;
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(8.5));
        let before = net.received(0).bytes;
        net.run_until(at(10.5));
        assert_eq!(net.received(0).bytes, before);
    }
}

/// A station that never falls below the threshold changes nothing.
#[test]
fn a_strong_signal_changes_nothing() {
    let (mut s, end) = (walk(60.0, [1, 1], RoamSpec { threshold: -150.0, ..ROAM }), Time::from_nanos(4_000_000_000));
    let roaming = law::all_hold(&s, &[end]);
    s.cell.as_mut().unwrap().field.as_mut().unwrap().sites[2].roam = None;
    assert_eq!(law::all_hold(&s, &[end]), roaming);
}
