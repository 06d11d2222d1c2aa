//! Cells of 802.11n and later, without aggregation.

use crate::common::*;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::wifi::phy::*;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome};

fn mode(family: Family, width: u16, streams: u8, mcs: u8) -> DataRate {
    DataRate::Mcs(Mode::new(family, width, streams, mcs).unwrap())
}

/// The network of `saturated` with these rates, the access point's first.
fn cell_of(phy: Phy, rates: &[DataRate]) -> Net {
    let mut scenario = saturated(phy, MAC, rates.len() - 1, 0, 1);
    let cell = scenario.cell.as_mut().unwrap();
    let members = cell.aps.iter_mut().map(|ap| &mut ap.station).chain(&mut cell.stations);
    members.zip(rates).for_each(|(s, rate)| s.rate = *rate);
    Net::new(&scenario).unwrap()
}

/// By hand: DIFS, 7.5 slots, data, SIFS and ACK. An IP packet of 1500 B is an MPDU of 1538 B and, from VHT on, a PSDU
/// of 1542 B.
#[test]
fn one_saturated_station_takes_its_hand_cycle_for_each_packet() {
    let five = |standard| Phy::new(standard, Preamble::Long);
    let cases = [
        // 36 + 4 x ceil(12326 / 26) us; ACK at 6 Mb/s 44 us.
        (five(Standard::N), mode(Family::Ht, 20, 1, 0), 36.0 + 475.0 * 4.0, 16.0 + 44.0 + 34.0),
        // 44 + 4 x ceil(12358 / 2106) us; ACK at 24 Mb/s 28 us.
        (five(Standard::Ac), mode(Family::Vht, 80, 2, 7), 44.0 + 6.0 * 4.0, 16.0 + 28.0 + 34.0),
        // 43.2 + 13.6 x ceil(12352 / 8166) us.
        (five(Standard::Ax), mode(Family::He, 80, 1, 11), 43.2 + 2.0 * 13.6, 16.0 + 28.0 + 34.0),
        // At 2.4 GHz: SIFS 10 us, and 6 us of signal extension after data and ACK.
        (
            Phy::in_band(Standard::Ax, Band::Ghz2, Preamble::Long),
            mode(Family::He, 20, 1, 7),
            43.2 + 11.0 * 13.6 + 6.0,
            10.0 + 34.0 + 28.0,
        ),
    ];
    for (phy, rate, data, rest) in cases {
        let mut net = cell_of(phy, &[rate, rate]);
        let (warm_up, seconds) = (0.5, 4.0);
        net.run_until(at(warm_up));
        let before = net.station(1).acked;
        net.run_until(at(warm_up + seconds));
        let measured = (net.station(1).acked - before) as f64 / seconds;
        let expected = 1e6 / (7.5 * 9.0 + data + rest);
        assert!((measured / expected - 1.0).abs() < 0.01, "{rate:?}: {measured} {expected}");
    }
}

/// An 802.11a station and one of 802.11ax. Only the frames that the first cannot decode are protected.
#[test]
fn protection_precedes_only_frames_that_older_stations_cannot_decode() {
    let mut phy = Phy::new(Standard::Ax, Preamble::Long);
    phy.protection = Protection::CtsToSelf;
    let he = mode(Family::He, 80, 2, 9);
    let mut net = cell_of(phy, &[he, DataRate::Legacy(54_000_000), he]);
    net.keep_frames(Time::ZERO, at(0.3), 10_000);
    net.run_until(at(0.3));
    let received = net.frames().unwrap().frames().iter().filter(|f| f.outcome == FrameOutcome::Received);
    let frames: Vec<Frame> = received.copied().collect();
    let of = |from: u32, kind| frames.iter().filter(move |f: &&Frame| f.from == from && f.kind == kind).count();
    assert!(of(1, FrameKind::Data) > 100 && of(2, FrameKind::Data) > 100);
    assert_eq!(of(1, FrameKind::Cts), 0);
    for pair in frames.windows(2).filter(|p| p[1].kind == FrameKind::Data && p[1].from == 2) {
        assert_eq!((pair[0].kind, pair[0].rate), (FrameKind::Cts, 24_000_000));
        assert_eq!(pair[1].start - pair[0].end, Span::from_micros(16));
    }
    let data = frames.iter().find(|f| f.kind == FrameKind::Data && f.from == 2).unwrap();
    assert_eq!((data.mode.map(DataRate::Mcs), data.bytes), (Some(he), 1538));
}
