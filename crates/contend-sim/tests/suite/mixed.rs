//! Stations of several standards in one cell: each link has the limits of both its ends.

use crate::common::*;
use contend_core::Time;
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::phy::*;
use contend_sim::wifi::{Frame, FrameKind, More};
use std::collections::BTreeMap;

/// The limits of 802.11ax.
const AX: Aggregation = Aggregation { bytes: 6_500_631, mpdus: 256, window: 256, msdu: 7_935, ..AGGREGATION };

/// Access point and first station of 802.11ax at 80 MHz, a station of 802.11n at 40 MHz with four streams, and one of
/// 802.11a. Datagrams go to each of them, or come from each of them, faster than the air carries them.
fn cell_of_three(protection: Protection, up: bool, seed: u64) -> Scenario {
    let mut phy = Phy::new(Standard::Ax, Preamble::Long);
    (phy.protection, phy.protection_rate) = (protection, 6_000_000);
    let ax = DataRate::Mcs(Mode::new(Family::He, 80, 2, 11).unwrap());
    let mut s = aggregating(with_rate(down_up(3, 0, newreno(), phy_g(), MAC, seed), (phy, ax)), AX);
    for (k, f) in s.flows.iter_mut().enumerate() {
        let (from, to) = if up { (f.to, f.from) } else { (f.from, f.to) };
        *f = cbr(format!("flow.{k}"), from, to, 600_000_000);
        s.links[k].forward.rate = WireRate::Constant(1_000_000_000);
    }
    let cell = s.cell.as_mut().unwrap();
    cell.aps[0].station.queue = choose(contend_core::qdisc::REGISTRY, "airtime", &[]);
    let n = DataRate::Mcs(Mode::new(Family::Ht, 40, 4, 7).unwrap());
    (cell.stations[1].rate, cell.stations[1].aggregation) = (n, Some(Aggregation { hw_queue: 2, ..AGGREGATION }));
    (cell.stations[2].rate, cell.stations[2].aggregation) = (54_000_000.into(), None);
    s
}

fn run(s: &Scenario, seconds: f64) -> (Net, Vec<Frame>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    let frames = net.frames().unwrap().frames().to_vec();
    (net, frames)
}

/// The largest PSDU, the most packets of a frame, and the bytes of block acknowledgments, by station.
fn limits(net: &Net, frames: &[Frame]) -> BTreeMap<u32, (u32, u32, u32)> {
    let mut all = BTreeMap::new();
    for f in frames {
        let (psdu, packets, answer) = all.entry(f.from.max(f.to)).or_insert((0, 0, 0));
        let held = if let More::Packets(a, b) = f.more { b - a } else { 1 };
        match f.kind {
            FrameKind::Data => (*psdu, *packets) = ((*psdu).max(f.bytes), (*packets).max(held)),
            FrameKind::BlockAck => *answer = (*answer).max(f.bytes),
            _ => {}
        }
    }
    assert!(net.received(0).packets > 0);
    all
}

/// IEEE 802.11-2020: at most 65,535 B and 64 MPDUs to or from a station of 802.11n, whose block acknowledgment has
/// 24 + 8 B; 802.11ax has 256 MPDUs and 24 + 32 B. 802.11a has one packet (1,536 B) in each frame, and ACKs only.
#[test]
fn each_link_has_the_limits_of_both_ends() {
    for up in [false, true] {
        let (net, frames) = run(&cell_of_three(Protection::None, up, 1), 1.0);
        let all = limits(&net, &frames);
        let (psdu, packets, answer) = all[&1];
        assert!(psdu > 65_535 && packets > 64 && answer == 56, "ax, up {up}: {psdu} B, {packets}, {answer} B");
        let (psdu, packets, answer) = all[&2];
        assert!((60_000..=65_535).contains(&psdu) && packets == 42 && answer == 32, "n, up {up}: {psdu} B, {packets}");
        assert_eq!(all[&3], (1_538, 1, 0), "a, up {up}");
    }
}

/// Small packets: the window ends the aggregate, not its bytes.
#[test]
fn the_window_of_an_older_station_is_that_of_its_standard() {
    let mut s = cell_of_three(Protection::None, false, 1);
    s.cell.as_mut().unwrap().aps[0].station.aggregation = Some(Aggregation { msdu: 0, ..AX });
    s.flows.iter_mut().for_each(|f| f.ends.packet = 200);
    let (net, frames) = run(&s, 1.0);
    let all = limits(&net, &frames);
    assert_eq!([all[&1].1, all[&2].1, all[&3].1], [256, 64, 1]);
}

/// A station that takes no A-MSDU gets none, although the access point sends them to others.
#[test]
fn msdus_share_an_mpdu_only_if_both_ends_can() {
    let (net, frames) = run(&cell_of_three(Protection::None, false, 1), 1.0);
    let log = net.frames().unwrap();
    let mut shared = BTreeMap::new();
    for f in frames.iter().filter(|f| f.kind == FrameKind::Data) {
        let More::Packets(a, b) = f.more else { continue };
        let mut numbers: Vec<u16> = log.packets()[a as usize..b as usize].iter().map(|p| p.sequence).collect();
        let packets = numbers.len();
        numbers.dedup();
        *shared.entry(f.to).or_insert(0) += packets - numbers.len();
    }
    assert!(shared[&1] > 100 && shared[&2] == 0, "{shared:?}");
}

/// Protection precedes what a legacy station cannot decode: each frame with MCS, and no other.
#[test]
fn frames_with_mcs_are_protected_beside_legacy_stations() {
    for (protection, first) in [(Protection::CtsToSelf, FrameKind::Cts), (Protection::RtsCts, FrameKind::Rts)] {
        let (_, frames) = run(&cell_of_three(protection, false, 1), 0.5);
        let mut before = None;
        for f in &frames {
            if f.kind == FrameKind::Data {
                let protector = [Some(FrameKind::Cts), Some(FrameKind::Rts)].contains(&before);
                assert_eq!(protector, f.to != 3, "{first:?} to {}", f.to);
            }
            before = Some(f.kind);
        }
        assert!(frames.iter().any(|f| f.kind == first) && frames.iter().any(|f| f.to == 3));
    }
}

/// Packets are conserved, each nanosecond of air is booked once, and the same seed gives the same bits: up and down,
/// TCP and datagrams, with each protection, with losses.
#[test]
fn the_laws_hold_in_mixed_cells() {
    for seed in 0..12u64 {
        let protection = [Protection::None, Protection::CtsToSelf, Protection::RtsCts][seed as usize % 3];
        let mut s = cell_of_three(protection, seed % 2 == 0, seed);
        let p = contend_core::registry::Value::Number(0.1);
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().for_each(|one| one.loss = loss("bernoulli", &[("p", p.clone())]));
        if seed % 4 < 2 {
            let tcp = down_up(3, 3, newreno(), phy_g(), MAC, seed);
            s.flows = tcp.flows.into_iter().enumerate().map(|(k, f)| to_station(f, k % 3)).collect();
            (s.nodes, s.links) = (tcp.nodes, tcp.links);
        }
        assert!(law::all_hold(&s, &[at(0.1), at(1.2), at(1.5)]) > 0, "seed {seed}");
    }
}

/// The flow with this station at its end on the air.
fn to_station(mut f: FlowSpec, station: usize) -> FlowSpec {
    for end in [&mut f.from, &mut f.to] {
        if matches!(end, Place::Station(_)) {
            *end = Place::Station(station);
        }
    }
    f
}
