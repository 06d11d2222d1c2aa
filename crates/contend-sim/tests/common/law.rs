//! Laws that hold in every network, with any algorithm.

use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::{Scenario, Transport};
use contend_sim::wifi::access::Category;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome, StationId};
use std::collections::BTreeMap;

/// Every packet sent was delivered, dropped or lost, or is still in the network.
pub fn packets_are_conserved(net: &mut Net) {
    let now = net.world.now();
    let flows = net.flows();
    let sent: u64 = (0..flows).map(|i| net.sent(i).packets + net.received(i).acks).sum();
    let arrived: u64 = (0..flows).map(|i| net.received(i).packets + net.sent(i).acks).sum();
    let stations = net.stations().len();
    let (mut elsewhere, mut made) = (0, 0);
    let names: Vec<String> = net.queues().map(str::to_owned).collect();
    for (i, name) in names.iter().enumerate() {
        let c = net.meter(i).unwrap().read(now);
        elsewhere += c.drops() + c.filtered + net.lost(i).iter().sum::<u64>();
        made += c.made;
        // The queues of other categories follow all other queues.
        let on_air = i < stations || Category::ALL.iter().any(|c| name.ends_with(&format!(".{}", c.name())));
        if on_air || name == "ap.control" {
            elsewhere += net.meter(i).unwrap().waiting();
        }
        if i < stations {
            let station = net.station(i as StationId);
            elsewhere += station.retry_drops - station.dropped_after_delivery;
            elsewhere += net.bss().unwrap().in_service(i as StationId);
        }
    }
    elsewhere += net.wires().map(|w| w.in_flight()).sum::<u64>();
    elsewhere += (0..flows).map(|i| net.held(i)).sum::<u64>();
    assert_eq!(sent + made, arrived + elsewhere, "sent and made, against arrived, dropped and under way, at {now}");
}

/// Every nanosecond of air is in exactly one account of the ledger.
pub fn air_is_booked_once(net: &Net) {
    let Some(books) = net.ledger() else { return };
    assert_eq!(books.sum(), books.booked() - Time::ZERO);
    // An exchange is booked when it starts. The ledger is therefore never late, and at most one exchange early.
    let now = net.world.now();
    assert!(books.booked() >= now && books.booked() <= now + LONGEST_EXCHANGE, "{} at {now}", books.booked());
}

/// Maximum duration of an exchange in these networks.
const LONGEST_EXCHANGE: Span = Span::from_millis(5);

/// Each transmitter sends the data of a flow in the order in which they entered its queue.
pub fn data_keep_their_order(frames: &[Frame]) {
    let mut last: BTreeMap<(StationId, u32), Time> = BTreeMap::new();
    for f in frames.iter().filter(|f| f.kind == FrameKind::Data && f.outcome == FrameOutcome::Received) {
        let Some(p) = f.packet.filter(|p| !p.is_reverse()) else { continue };
        let before = last.insert((f.from, p.flow.0), p.queued).unwrap_or(Time::ZERO);
        assert!(before <= p.queued, "station {}, flow {}: {before} before {}", f.from, p.flow.0, p.queued);
    }
}

/// Runs `s` until the last of `stops` and checks the laws at each stop. A second run without stops must give the same
/// digest and the same number of events. Returns the number of packets that arrived.
pub fn all_hold(s: &Scenario, stops: &[Time]) -> u64 {
    let end = *stops.last().unwrap();
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, end, 1_000_000);
    // The ends count data, datagrams and acknowledgments, but not the packets of a handshake.
    let counted = s.flows.iter().all(|f| !matches!(&f.ends.transport, Transport::Tcp(t) if t.handshake));
    for stop in stops {
        net.run_until(*stop);
        if counted {
            packets_are_conserved(&mut net);
        }
        air_is_booked_once(&net);
    }
    data_keep_their_order(net.frames().unwrap().frames());
    let mut again = Net::new(s).unwrap();
    again.run_until(end);
    assert_eq!((again.world.trace.digest(), again.world.events()), (net.world.trace.digest(), net.world.events()));
    (0..net.flows()).map(|i| net.received(i).packets).sum()
}
