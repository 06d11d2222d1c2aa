//! The network layer of stations that route: their agents, address resolution, and the bytes of routing messages.

use super::{BROADCAST, StationId};
use crate::deadlines::Deadlines;
use crate::routing::arp::{self, Arp, ArpAction, ArpMessage};
use crate::routing::{Action, Actions, Routed, Routing, RoutingDrop};
use crate::stats::QueueMeter;
use crate::trace::{Event, Trace};
use contend_core::qdisc::{DropReason, Sink};
use contend_core::{Body, Cx, FlowId, Packet, Rng, Time};

/// The flow of routing messages.
const MESSAGES: FlowId = FlowId(u32::MAX);
/// The flow of address resolution.
const RESOLUTION: FlowId = FlowId(u32::MAX - 1);

/// True if `p` is a message of stations to each other and belongs to no flow.
#[inline]
pub(super) fn is_message(p: &Packet) -> bool {
    p.flow == MESSAGES || p.flow == RESOLUTION
}

/// True if `p` is a message that was for all and has arrived: one of many copies.
#[inline]
pub(super) fn is_copy(p: &Packet) -> bool {
    is_message(p) && p.hops > 0
}

/// True if `p` is a routing message, which an interface queue may prefer.
#[inline]
pub(super) fn is_urgent(p: &Packet) -> bool {
    p.flow == MESSAGES
}

/// The routing agents of all stations.
#[derive(Debug)]
pub(super) struct Agents {
    /// By station.
    each: Vec<Agent>,
    /// When each agent must be woken.
    deadlines: Deadlines,
    acts: Actions,
    resolved: Vec<ArpAction<Packet>>,
    messages: Messages,
    /// Packets that go into the interface queue of a station, to [`Packet::next_hop`].
    ready: Vec<(StationId, Packet)>,
    /// Packets for which address resolution got no answer, and their next hops. Routing gets them back.
    unanswered: Vec<(StationId, StationId, Packet)>,
    /// Next hops whose packets must be taken out of the interface queue of a station.
    purges: Vec<(StationId, StationId)>,
    /// What agents hold, and what went through them.
    meter: QueueMeter,
    sink: Sink,
    drops: [u64; RoutingDrop::ALL.len()],
    /// Messages that could not be read.
    malformed: u64,
}

#[derive(Debug)]
struct Agent {
    routing: Box<dyn Routing>,
    rng: Rng,
    arp: Option<Arp<Packet>>,
}

impl Agents {
    /// The agents of all stations, each with its random stream. `arp`: stations ask for the addresses of neighbours.
    pub(super) fn new(agents: Vec<(Box<dyn Routing>, Rng)>, arp: bool) -> Agents {
        let mut deadlines = Deadlines::default();
        (0..).zip(&agents).for_each(|(i, (routing, _))| deadlines.push(i, routing.deadline()));
        let agent = |(me, (routing, rng))| Agent { routing, rng, arp: arp.then(|| Arp::new(me)) };
        Agents {
            each: (0..).zip(agents).map(agent).collect(),
            deadlines,
            acts: Actions::default(),
            resolved: Vec::new(),
            messages: Messages::default(),
            ready: Vec::new(),
            unanswered: Vec::new(),
            purges: Vec::new(),
            meter: QueueMeter::default(),
            sink: Sink::default(),
            drops: [0; RoutingDrop::ALL.len()],
            malformed: 0,
        }
    }

    /// The meter of the packets that agents and address resolution hold, and their number.
    pub(super) fn reading(&mut self) -> (&mut QueueMeter, u64) {
        let held = |a: &Agent| a.routing.held() + a.arp.as_ref().map_or(0, Arp::held);
        let held = self.each.iter().map(held).sum::<usize>() + self.unanswered.len();
        (&mut self.meter, held as u64)
    }

    /// Packets dropped, by [`RoutingDrop`].
    pub(super) fn drops(&self) -> &[u64] {
        &self.drops
    }

    /// Messages that were overwritten before they were read, or could not be read: a fault of the simulator.
    pub(super) fn faults(&self) -> u64 {
        self.messages.overwritten + self.malformed
    }

    /// When an agent must be woken.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |(at, _)| at)
    }

    /// The packets that are ready. The caller gives the vector back.
    pub(super) fn take_ready(&mut self) -> Vec<(StationId, Packet)> {
        std::mem::take(&mut self.ready)
    }

    /// Takes back the emptied vector.
    pub(super) fn reuse(&mut self, ready: Vec<(StationId, Packet)>) {
        if self.ready.is_empty() {
            self.ready = ready;
        }
    }

    /// The next purge.
    pub(super) fn take_purge(&mut self) -> Option<(StationId, StationId)> {
        self.purges.pop()
    }

    /// The next packet for which address resolution got no answer: its station, its next hop, the packet.
    pub(super) fn take_unanswered(&mut self) -> Option<(StationId, StationId, Packet)> {
        self.unanswered.pop()
    }

    /// True if something is left to carry out.
    pub(super) fn has_work(&self) -> bool {
        !self.ready.is_empty() || !self.unanswered.is_empty() || !self.purges.is_empty()
    }

    /// `p` is at `station` and must go on.
    pub(super) fn forward(&mut self, now: Time, station: StationId, p: &Routed, trace: &mut Trace) {
        self.meter.offered(now);
        self.call(now, station, trace, |agent, cx, acts| agent.forward(cx, &stamped(p, now), acts));
    }

    /// `p`, or a message, comes back from below the network layer.
    pub(super) fn comes_back(&mut self, now: Time) {
        self.meter.offered(now);
    }

    /// `next` could not be reached from `station`. `p` is the packet that was for it, which routing has again; `None`
    /// if it was a message.
    pub(super) fn failed(
        &mut self,
        now: Time,
        station: StationId,
        next: StationId,
        p: Option<&Routed>,
        trace: &mut Trace,
    ) {
        let p = p.map(|p| stamped(p, now));
        self.call(now, station, trace, |agent, cx, acts| agent.failed(cx, next, p.as_ref(), acts));
    }

    /// The message `p` of `neighbour` has arrived at `station`. `is_own`: it was sent to this station alone, and has
    /// come to its end.
    pub(super) fn message(
        &mut self,
        now: Time,
        station: StationId,
        neighbour: StationId,
        p: &Packet,
        is_own: bool,
        trace: &mut Trace,
    ) {
        if is_own {
            self.meter.offered(now);
            self.sink.drop(p.queued_at(now), DropReason::Filtered);
            for (p, why) in self.sink.dropped.drain(..) {
                self.meter.dropped(now, &p, why);
            }
        }
        let stations = self.each.len() as u32;
        let Some(bytes) = self.messages.read(p.payload) else { return };
        if p.flow == RESOLUTION {
            match (ArpMessage::read(&bytes, stations), &mut self.each[station as usize].arp) {
                (Ok(m), Some(arp)) => arp.message(m, &mut self.resolved),
                _ => self.malformed += 1,
            }
            self.resolve(now, station, trace);
        } else {
            let mut malformed = false;
            self.call(now, station, trace, |agent, cx, acts| {
                malformed = agent.message(cx, neighbour, &bytes, acts).is_err();
            });
            self.malformed += u64::from(malformed);
        }
        self.messages.give_back(bytes);
    }

    /// The message `p` goes no further.
    pub(super) fn message_lost(&mut self, now: Time, p: &Packet) {
        self.meter.dropped(now, &p.queued_at(now), DropReason::Full);
    }

    /// Wakes the agents that are due.
    pub(super) fn wake(&mut self, now: Time, trace: &mut Trace) {
        while let Some((at, station)) = self.deadlines.first()
            && at <= now
        {
            self.call(now, station, trace, |agent, cx, acts| agent.wake(cx, acts));
        }
    }

    /// Calls the agent of `station` and carries out what it wants.
    fn call(
        &mut self,
        now: Time,
        station: StationId,
        trace: &mut Trace,
        f: impl FnOnce(&mut dyn Routing, &mut Cx<'_>, &mut Actions),
    ) {
        let Agent { routing, rng, .. } = &mut self.each[station as usize];
        f(&mut **routing, &mut Cx { now, rng }, &mut self.acts);
        while let Some(action) = self.acts.take() {
            match action {
                Action::Send { packet, next } => self.pass(now, station, packet, next, trace),
                Action::Message(m) => {
                    let payload = self.messages.put(self.acts.bytes(&m));
                    let mut p = Packet::new(MESSAGES, m.size, now, Body::Udp { seq: 0 });
                    p.payload = payload;
                    self.made(now, trace);
                    match m.next {
                        Some(next) => self.pass(now, station, p, next, trace),
                        None => self.hand_over(now, station, &p, BROADCAST),
                    }
                }
                Action::Drop { packet, reason } => self.dropped(now, &packet, reason, trace),
                Action::Purge { next } => self.purges.push((station, next)),
            }
        }
        let deadline = self.each[station as usize].routing.deadline();
        self.deadlines.set(station, deadline);
    }

    /// `packet` goes to `next`, whose address must be known.
    fn pass(&mut self, now: Time, station: StationId, packet: Packet, next: StationId, trace: &mut Trace) {
        match &mut self.each[station as usize].arp {
            None => self.hand_over(now, station, &packet, next),
            Some(arp) => {
                arp.send(next, packet, &mut self.resolved);
                self.resolve(now, station, trace);
            }
        }
    }

    /// Carries out what address resolution wants.
    fn resolve(&mut self, now: Time, station: StationId, trace: &mut Trace) {
        let mut resolved = std::mem::take(&mut self.resolved);
        for action in resolved.drain(..) {
            match action {
                ArpAction::Send { packet, next } => self.hand_over(now, station, &packet, next),
                ArpAction::Tell { message, next } => {
                    let mut p = Packet::new(RESOLUTION, arp::SIZE as u32, now, Body::Udp { seq: 0 });
                    p.payload = self.messages.put(&message.write());
                    self.made(now, trace);
                    self.hand_over(now, station, &p, next.unwrap_or(BROADCAST));
                }
                ArpAction::Drop { packet } => self.dropped(now, &packet, RoutingDrop::Unresolved, trace),
                ArpAction::Failed { packet, next } => self.unanswered.push((station, next, packet)),
            }
        }
        if self.resolved.is_empty() {
            self.resolved = resolved;
        }
    }

    /// A message was made.
    fn made(&mut self, now: Time, trace: &mut Trace) {
        self.sink.made = 1;
        self.meter.settle(now, &mut self.sink, trace);
    }

    /// `packet` leaves the network layer for the interface queue.
    fn hand_over(&mut self, now: Time, station: StationId, packet: &Packet, next: StationId) {
        self.meter.taken(now, packet);
        self.ready.push((station, packet.toward(next)));
    }

    fn dropped(&mut self, now: Time, packet: &Packet, reason: RoutingDrop, trace: &mut Trace) {
        self.drops[reason as usize] += 1;
        self.meter.dropped(now, packet, DropReason::Full);
        trace.packet(now, Event::Dropped, packet);
    }
}

/// The same packet, stamped as it enters the network layer.
fn stamped(p: &Routed, now: Time) -> Routed {
    Routed { packet: p.packet.queued_at(now), ..*p }
}

/// The bytes of messages, in a ring. The number in a packet names them.
#[derive(Debug, Default)]
struct Messages {
    /// By number modulo the length.
    slots: Vec<(u32, Vec<u8>)>,
    /// The last number given.
    last: u32,
    /// Messages that were overwritten before they were read.
    overwritten: u64,
    /// The buffer of the message that is being read.
    spare: Vec<u8>,
}

/// Messages that can be under way.
const RING: u32 = 1 << 16;

impl Messages {
    /// Stores `bytes` and returns their number, from 1.
    fn put(&mut self, bytes: &[u8]) -> u32 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let place = (self.last % RING) as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, Default::default);
        }
        let (number, slot) = &mut self.slots[place];
        *number = self.last;
        slot.clear();
        slot.extend_from_slice(bytes);
        self.last
    }

    /// A copy of message `number`, in a buffer that the caller gives back; `None` if it was overwritten.
    fn read(&mut self, number: u32) -> Option<Vec<u8>> {
        match self.slots.get((number % RING) as usize) {
            Some((n, bytes)) if *n == number => {
                let mut copy = std::mem::take(&mut self.spare);
                copy.clear();
                copy.extend_from_slice(bytes);
                Some(copy)
            }
            _ => {
                self.overwritten += 1;
                None
            }
        }
    }

    fn give_back(&mut self, buffer: Vec<u8>) {
        self.spare = buffer;
    }
}
