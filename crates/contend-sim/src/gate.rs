//! The gate: the node through which packets of hosts outside the world enter and leave it, with the meters of their
//! flows.
//!
//! The ends of such a flow are not simulated. What a simulated end would know is read from the packets that pass: a
//! round trip is the time from the entry of new data to the exit of their acknowledgment, and bytes are delivered when
//! the receiver acknowledges them.

use crate::link::FarEnd;
use crate::peer::Port;
use crate::stats::{Durations, ReceiverCounters, SenderCounters, count};
use crate::tcp::{SenderState, UDP_HEADERS};
use crate::trace::Event;
use crate::world::{Input, Node, Out};
use contend_core::packet::{Flags, PacketKind};
use contend_core::{FlowId, Packet, Time};

/// The port at which packets arrive that leave the world.
pub const INSIDE: Port = 0;
/// The port at which packets from outside are handed in.
pub const OUTSIDE: Port = 1;

/// Where packets enter and leave the world.
#[derive(Debug)]
pub struct Gate {
    /// For each address, where its packets go first; `None` if it is not outside.
    uplinks: Vec<Option<FarEnd>>,
    /// By flow.
    meters: Vec<Meter>,
    left: Vec<(Time, Packet)>,
}

/// What the packets of a flow tell of it.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// From the lower address to the higher one (the data of a flow of the scenario), and back.
    ways: [Way; 2],
    /// Packets that entered, of every kind.
    pub entered: u64,
    /// Packets that left, of every kind.
    pub arrived: u64,
    /// The state of the sender of the first way, if something outside reads it.
    pub state: Option<SenderState>,
    /// Expiries of this sender's retransmission timer, likewise.
    pub timeouts: Option<u64>,
    /// Segments that acknowledgments reported to it as marked, likewise.
    pub delivered_ce: Option<u64>,
}

/// Data in one direction, and the acknowledgments against it.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// The sender. What only the sender itself knows (timeouts, causes) is not counted.
    pub sent: SenderCounters,
    /// The receiver.
    pub received: ReceiverCounters,
    /// Round trips.
    pub rtt: Durations,
    /// One-way delays of data packets.
    pub delay: Durations,
    /// The byte after the last one that entered.
    next: u64,
    /// The next byte that the receiver expects, as the sender knows it.
    una: u64,
    /// The byte whose acknowledgment ends a round trip, and when that began.
    timed: Option<(u64, Time)>,
}

impl Gate {
    /// A gate for the addresses that have an uplink.
    pub fn new(uplinks: Vec<Option<FarEnd>>) -> Gate {
        Gate { uplinks, meters: Vec::new(), left: Vec::new() }
    }

    /// What is known of `flow`.
    pub fn meter(&self, flow: FlowId) -> Option<&Meter> {
        self.meters.get(flow.0 as usize)
    }

    /// The meter of `flow`, which is new if nothing was known of the flow.
    pub fn meter_mut(&mut self, flow: FlowId) -> &mut Meter {
        let i = flow.0 as usize;
        if i >= self.meters.len() {
            self.meters.resize_with(i + 1, Meter::default);
        }
        &mut self.meters[i]
    }

    /// Clears the histograms of all flows.
    pub fn clear_histograms(&mut self) {
        for way in self.meters.iter_mut().flat_map(|m| &mut m.ways) {
            way.rtt.clear();
            way.delay.clear();
        }
    }

    /// The packets that have left since the last call, with the time of their exit, in order. `into` is emptied first.
    pub fn take_left(&mut self, into: &mut Vec<(Time, Packet)>) {
        into.clear();
        std::mem::swap(&mut self.left, into);
    }
}

impl Meter {
    /// What the data from the lower address to the higher one did: for a flow of the scenario, its data.
    pub fn there(&self) -> &Way {
        &self.ways[0]
    }

    /// What the data in the other direction did.
    pub fn back(&self) -> &Way {
        &self.ways[1]
    }

    /// `p` enters.
    fn enters(&mut self, now: Time, p: &Packet) {
        count(&mut self.entered);
        let [with, against] = self.both(p);
        with.data_enter(now, p);
        if let Some(s) = p.segment().filter(|s| s.flags.has(Flags::ACK)) {
            if s.len == 0 && p.kind() == PacketKind::Ack {
                count(&mut against.received.acks);
            }
            // The SYN has number 0, and the first byte number 1.
            against.received.delivered_bytes = against.received.delivered_bytes.max(s.ack.saturating_sub(1));
        }
    }

    /// `p` leaves.
    fn leaves(&mut self, now: Time, p: &Packet) {
        count(&mut self.arrived);
        let [with, against] = self.both(p);
        with.data_leave(now, p);
        if let Some(s) = p.segment().filter(|s| s.flags.has(Flags::ACK)) {
            against.acknowledged(now, s.ack);
        }
    }

    /// The way of the data of `p`, and the other way.
    fn both(&mut self, p: &Packet) -> [&mut Way; 2] {
        let [there, back] = &mut self.ways;
        if p.src <= p.dst { [there, back] } else { [back, there] }
    }
}

impl Way {
    fn data_enter(&mut self, now: Time, p: &Packet) {
        let Some(s) = p.segment() else {
            count(&mut self.sent.packets);
            self.sent.bytes += u64::from(p.size);
            return;
        };
        if s.len == 0 {
            return;
        }
        count(&mut self.sent.packets);
        self.sent.bytes += u64::from(p.size);
        let end = s.seq + u64::from(s.len);
        if end <= self.next {
            count(&mut self.sent.retransmitted);
            // RFC 6298 §3: no round trip is measured with a retransmitted segment.
            self.timed = None;
        } else {
            self.next = end;
            self.timed.get_or_insert((end, now));
        }
    }

    fn data_leave(&mut self, now: Time, p: &Packet) {
        match p.segment() {
            None => self.received.delivered_bytes += u64::from(p.size.saturating_sub(UDP_HEADERS)),
            Some(s) if s.len == 0 => return,
            Some(s) if s.seq + u64::from(s.len) <= self.received.delivered_bytes + 1 => {
                count(&mut self.received.duplicates);
            }
            Some(_) => {}
        }
        self.received.arrived(p);
        self.delay.record(now.since(p.sent));
    }

    /// The sender of the data learns that the receiver expects byte `ack`.
    fn acknowledged(&mut self, now: Time, ack: u64) {
        count(&mut self.sent.acks);
        if ack <= self.una {
            return;
        }
        self.una = ack;
        self.sent.acked_bytes = ack.saturating_sub(1);
        if let Some((_, since)) = self.timed.take_if(|(end, _)| *end <= ack) {
            self.rtt.record(now.since(since));
        }
    }
}

impl Node for Gate {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        match input {
            Input::Packet(OUTSIDE, p) => {
                let first = self.uplinks.get(p.src.0 as usize).and_then(|up| up.as_ref()?.of(p));
                match first {
                    Some(first) => {
                        self.meter_mut(p.flow).enters(now, p);
                        out.trace.packet(now, Event::Sent, p);
                        out.send(first, p);
                    }
                    None => out.trace.packet(now, Event::Dropped, p),
                }
            }
            Input::Packet(_, p) => {
                out.trace.packet(now, Event::Delivered, p);
                self.meter_mut(p.flow).leaves(now, p);
                self.left.push((now, *p));
            }
            Input::Wake | Input::Rejected | Input::Left(_) => {}
        }
        Time::NEVER
    }
}
