//! Laws that hold in every network, with any algorithm.

use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::{Handshake, Scenario, StationSpec, Transport};
use contend_sim::wifi::ledger::StationAccounts;
use contend_sim::wifi::{AP, Frame, FrameKind, FrameOutcome, StationId};
use std::collections::BTreeMap;

/// Every packet that entered the network or was made in it arrived, was dropped, filtered or lost, or is still in it.
pub fn packets_are_conserved(net: &mut Net) {
    let now = net.world.now();
    let flows = net.flows();
    let entered: u64 = (0..flows).map(|i| net.entered(i)).sum();
    let arrived: u64 = (0..flows).map(|i| net.arrived(i)).sum();
    let (mut made, mut elsewhere) = (0, 0);
    for i in 0..net.queues().count() {
        let waiting = net.waiting(i);
        let meter = net.meter(i).unwrap();
        assert_eq!(meter.waiting(), waiting, "queue {i} and its meter, at {now}");
        let c = meter.read(now);
        made += c.made;
        elsewhere += c.drops() + c.filtered + waiting;
    }
    for i in 0..net.transmitters().count() {
        let t = net.transmitter(i);
        assert_eq!(t.taken, t.delivered + t.lost + t.carrying, "transmitter {i}, at {now}");
        elsewhere += t.lost + t.carrying;
    }
    assert_eq!(entered + made, arrived + elsewhere, "entered and made, against arrived, gone and under way, at {now}");
}

/// Every packet that a flow counts as sent has entered the network, or its host still works on it. For flows without a
/// handshake, whose packets are not counted as sent.
pub fn what_is_sent_enters(net: &Net) {
    for i in 0..net.flows() {
        let sent = net.sent(i).packets + net.sent(i).probes + net.received(i).acks;
        assert_eq!(sent, net.entered(i) + net.held(i), "flow {i}, at {}", net.world.now());
    }
}

/// Every nanosecond of air is in exactly one account of the ledger; in a field, of each station's ledger.
pub fn air_is_booked_once(net: &Net) {
    let Some(books) = net.ledger() else { return };
    if net.is_field() {
        let elapsed = net.world.now() - Time::ZERO;
        assert_eq!(books.radios.len(), net.stations().len());
        books.radios.iter().for_each(|r| assert_eq!(r.total(), elapsed, "{r:?}"));
        return;
    }
    assert_eq!(books.sum(), books.booked() - Time::ZERO);
    // Each frame has one transmitter and one receiver, and the access point is one of them.
    let sum = |of: fn(&StationAccounts) -> Span| books.stations.iter().fold(Span::ZERO, |sum, s| sum + of(s));
    let beacons = sum(|s| s.beacon);
    assert_eq!(sum(|s| s.sent_to) + beacons, sum(StationAccounts::total));
    let ap = &books.stations[AP as usize];
    assert_eq!(sum(StationAccounts::total), ap.total() + ap.sent_to);
    let cell = books.cell.idle + books.cell.ifs + books.cell.backoff + books.cell.collision;
    assert_eq!(cell + ap.total() + ap.sent_to, books.booked() - Time::ZERO);
    // An exchange is booked when it is sensed, up to its end. The ledger is therefore at most one exchange early, and
    // late only by the time in which a preamble is not yet sensed.
    let now = net.world.now();
    let in_time = books.booked() + LATEST_SENSED >= now && books.booked() <= now + LONGEST_EXCHANGE;
    assert!(in_time, "{} at {now}", books.booked());
}

/// The largest `preamble_detection` of these networks.
const LATEST_SENSED: Span = Span::from_micros(4);
/// Maximum duration of an exchange in these networks.
const LONGEST_EXCHANGE: Span = Span::from_millis(6);

/// Each transmitter sends the data of a flow to a neighbour in the order in which they entered its queue. When a route
/// changes, packets to the new next hop may overtake those to the old one, because disciplines like `wf2q` keep a list
/// for each. Routing messages belong to no flow and may overtake each other.
///
/// A retry goes behind batches that were made before: the receiver then waits for it, and the frames are not in order.
/// DualPI2 has two queues: a packet that an earlier one has marked overtakes others of its flow (RFC 9331 §5.1).
pub fn data_keep_their_order(s: &Scenario, frames: &[Frame]) {
    let fixed_ahead = |s: &StationSpec| s.aggregation.is_some_and(|a| a.hw_queue > 1);
    let overtakes = |s: &StationSpec| s.queue.entry.name == "dualpi2";
    if s.cell.as_ref().is_some_and(|cell| cell.members().any(|s| fixed_ahead(s) || overtakes(s))) {
        return;
    }
    let mut last: BTreeMap<(StationId, StationId, u32), Time> = BTreeMap::new();
    for f in frames.iter().filter(|f| f.kind == FrameKind::Data && f.outcome == FrameOutcome::Received) {
        let Some(p) = f.packet.filter(|p| !p.is_reverse() && p.flow.0 < u32::MAX - 1) else { continue };
        let before = last.insert((f.from, f.to, p.flow.0), p.queued).unwrap_or(Time::ZERO);
        assert!(before <= p.queued, "{} to {}, flow {}: {before} before {}", f.from, f.to, p.flow.0, p.queued);
    }
}

/// Runs `s` until the last of `stops` and checks the laws at each stop. A second run without stops must give the same
/// digest and the same number of events. Returns the number of packets that arrived.
pub fn all_hold(s: &Scenario, stops: &[Time]) -> u64 {
    let end = *stops.last().unwrap();
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, end, 1_000_000);
    let opens = |t: &Transport| matches!(t, Transport::Tcp(t) if t.handshake != Handshake::None);
    let counted = !s.flows.iter().any(|f| opens(&f.ends.transport));
    for stop in stops {
        net.run_until(*stop);
        packets_are_conserved(&mut net);
        if counted {
            what_is_sent_enters(&net);
        }
        air_is_booked_once(&net);
    }
    data_keep_their_order(s, net.frames().unwrap().frames());
    let mut again = Net::new(s).unwrap();
    again.run_until(end);
    assert_eq!((again.world.trace.digest(), again.world.events()), (net.world.trace.digest(), net.world.events()));
    // `./ci.sh debug` compares these lines of two builds.
    println!("digest {:016x}", net.world.trace.digest());
    (0..net.flows()).map(|i| net.received(i).packets).sum()
}
