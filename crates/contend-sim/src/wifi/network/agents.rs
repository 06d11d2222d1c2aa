//! The network layer of stations that route: their agents, address resolution, and the bytes of routing messages.

use crate::deadlines::Deadlines;
use crate::payloads::Payloads;
use crate::routing::arp::{self, Arp, ArpAction, ArpMessage};
use crate::routing::{Action, Actions, Routed, Routing, RoutingDrop};
use crate::stats::QueueMeter;
use crate::trace::{Event, Trace};
use crate::wifi::ids::{BROADCAST, StationId};
use contend_core::Refusal;
use contend_core::qdisc::{DropReason, Sink};
use contend_core::{Body, Cx, FlowId, Packet, Rng, Time};
use std::collections::BTreeMap;

/// True if `p` is a message that was for all and has arrived: one of many copies.
#[inline]
pub(super) fn is_copy(p: &Packet) -> bool {
    p.is_message() && p.hops > 0
}

/// True if `p` is a routing message, which an interface queue may prefer.
#[inline]
pub(super) fn is_urgent(p: &Packet) -> bool {
    p.flow == FlowId::MESSAGES
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
    /// Why the bytes of a message could not be read, if that has happened.
    fault: Option<MessageFault>,
}

/// A message of a station to others, of routing or address resolution, as captures show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationMessage {
    /// The kind: `rreq`, `update`, `arp`, ...
    pub kind: &'static str,
    /// The bytes that the stations read.
    pub bytes: Vec<u8>,
}

/// Why the bytes of a message could not be read. The results of such a run are worthless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFault {
    /// Too many messages were under way: a later one took its place.
    Overwritten,
    /// They are no message of the protocol.
    Malformed,
}

impl MessageFault {
    /// What is wrong, and the remedy.
    pub fn refusal(self) -> Refusal {
        match self {
            MessageFault::Overwritten => Refusal::new(
                format!(
                    "a message waited in a queue while {ROUTING_RING} of routing or {ARP_RING} of address resolution \
                        were made after it"
                ),
                "use fewer \
                    stations, a longer period of routing messages, or shorter queues",
            ),
            MessageFault::Malformed => Refusal::new(
                "a station could not read a routing message that another station wrote: this \
                is a fault of contend",
                "please report it with the file",
            ),
        }
    }
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
            messages: Messages::new(),
            ready: Vec::new(),
            unanswered: Vec::new(),
            purges: Vec::new(),
            meter: QueueMeter::default(),
            sink: Sink::default(),
            drops: [0; RoutingDrop::ALL.len()],
            fault: None,
        }
    }

    /// The meter of the packets that agents and address resolution hold, and their number.
    pub(super) fn reading(&mut self) -> (&mut QueueMeter, u64) {
        let held = |a: &Agent| a.routing.held() + a.arp.as_ref().map_or(0, Arp::held);
        let held = self.each.iter().map(held).sum::<usize>() + self.unanswered.len();
        (&mut self.meter, held as u64)
    }

    /// Packets dropped, by [`RoutingDrop`].
    pub(super) fn drops(&self) -> [u64; RoutingDrop::ALL.len()] {
        self.drops
    }

    /// Why the bytes of a message could not be read, if that has happened.
    pub(super) fn fault(&self) -> Option<MessageFault> {
        self.fault
    }

    /// When an agent must be woken.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadlines.next()
    }

    /// From now on keeps the bytes of all messages that are made before `to`.
    pub(super) fn keep_messages(&mut self, to: Time) {
        self.messages.kept = Some((to, BTreeMap::new()));
    }

    /// Message `number`, if it is kept.
    pub(super) fn message_kept(&self, number: u32) -> Option<&StationMessage> {
        self.messages.kept.as_ref()?.1.get(&number)
    }

    /// The next hop of packets at `station` for `destination`.
    pub(super) fn next_hop(&self, station: StationId, destination: StationId) -> Option<StationId> {
        self.each.get(station as usize)?.routing.next_hop(destination)
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
        if p.flow == FlowId::RESOLUTION {
            let arp = &mut self.each[station as usize].arp;
            let (Some(m), Some(arp)) = (self.messages.read_arp(p.payload), arp) else {
                self.fault = Some(MessageFault::Overwritten);
                return;
            };
            arp.message(m, &mut self.resolved);
            self.resolve(now, station, trace);
            return;
        }
        let Some(bytes) = self.messages.read(p.payload) else {
            self.fault = Some(MessageFault::Overwritten);
            return;
        };
        let mut malformed = false;
        self.call(now, station, trace, |agent, cx, acts| {
            malformed = agent.message(cx, neighbour, &bytes, acts).is_err();
        });
        if malformed {
            self.fault = Some(MessageFault::Malformed);
        }
        self.messages.give_back(bytes);
    }

    /// The message `p` goes no further.
    pub(super) fn message_lost(&mut self, now: Time, p: &Packet) {
        self.meter.dropped(now, &p.queued_at(now), DropReason::Full);
    }

    /// Wakes the agents that are due.
    pub(super) fn wake(&mut self, now: Time, trace: &mut Trace) {
        loop {
            let (at, station) = self.deadlines.first();
            if at > now {
                break;
            }
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
                    let payload = self.messages.put(now, m.kind, self.acts.bytes(&m));
                    let mut p = Packet::new(FlowId::MESSAGES, m.size, now, Body::Udp { seq: 0 });
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
                    let mut p = Packet::new(FlowId::RESOLUTION, arp::SIZE as u32, now, Body::Udp { seq: 0 });
                    p.payload = self.messages.put_arp(now, message);
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

/// The messages of stations. Their numbers are even for routing and odd for address resolution.
#[derive(Debug)]
struct Messages {
    routing: Payloads<Vec<u8>>,
    arp: Payloads<ArpMessage>,
    /// The buffer of the message that is being read.
    spare: Vec<u8>,
    /// Messages made before an instant, with their kinds by number, if they are kept for a capture.
    kept: Option<(Time, BTreeMap<u32, StationMessage>)>,
}

/// Routing messages that can be made while one is under way. A starved station holds one for a minute and more.
const ROUTING_RING: u32 = 1 << 16;
/// Messages of address resolution that can be made while one is under way: small and many, since stations that lose
/// each other ask again with each packet.
const ARP_RING: u32 = 1 << 20;

impl Messages {
    fn new() -> Messages {
        let (routing, arp) = (Payloads::new(ROUTING_RING), Payloads::new(ARP_RING));
        Messages { routing, arp, spare: Vec::new(), kept: None }
    }

    /// Stores the `bytes` of a message that is made at `now`, and returns its number.
    fn put(&mut self, now: Time, kind: &'static str, bytes: &[u8]) -> u32 {
        let number = self.routing.put(|slot| {
            slot.clear();
            slot.extend_from_slice(bytes);
        });
        self.keep(now, number << 1, kind, bytes)
    }

    /// Stores a message of address resolution that is made at `now`, and returns its number.
    fn put_arp(&mut self, now: Time, message: ArpMessage) -> u32 {
        let number = self.arp.put(|slot| *slot = message);
        self.keep(now, number << 1 | 1, "arp", &message.write())
    }

    /// Keeps message `number` for a capture, if asked to.
    fn keep(&mut self, now: Time, number: u32, kind: &'static str, bytes: &[u8]) -> u32 {
        if let Some((_, kept)) = self.kept.as_mut().filter(|(to, _)| now < *to) {
            kept.insert(number, StationMessage { kind, bytes: bytes.to_vec() });
        }
        number
    }

    /// The message of address resolution with this number; `None` if it was overwritten.
    fn read_arp(&self, number: u32) -> Option<ArpMessage> {
        self.arp.get(number >> 1).copied()
    }

    /// A copy of message `number`, in a buffer that the caller gives back; `None` if it was overwritten.
    fn read(&mut self, number: u32) -> Option<Vec<u8>> {
        let bytes = self.routing.get(number >> 1)?;
        let mut copy = std::mem::take(&mut self.spare);
        copy.clear();
        copy.extend_from_slice(bytes);
        Some(copy)
    }

    fn give_back(&mut self, buffer: Vec<u8>) {
        self.spare = buffer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{REGISTRY, Setting};
    use crate::{rng, testing};
    use contend_core::registry::{Amount, Value};

    /// Two stations with AODV.
    fn agents() -> Agents {
        let aodv = contend_core::registry::find(REGISTRY, "aodv").unwrap();
        let agent = |me| {
            let setting = Setting { me, stations: 2, shortest: None };
            let bytes = |name| (name, Value::Amount(Amount::Bytes(0)));
            let routing = (aodv.build)(&testing::args(aodv.params, &[bytes("ip_header")]), &setting).unwrap();
            (routing, rng::stream(1, &format!("sta{me}"), "routing"))
        };
        Agents::new((0..2).map(agent).collect(), false)
    }

    /// The fault after station 1 has received message number `number`, and `bytes` were message 1.
    fn fault(bytes: &[u8], later: u32, number: u32) -> Option<MessageFault> {
        let (mut all, mut trace) = (agents(), Trace::new());
        all.messages.put(Time::ZERO, "rerr", bytes);
        for _ in 0..later {
            all.messages.put(Time::ZERO, "rerr", &[]);
        }
        let mut p = Packet::new(FlowId::MESSAGES, 48, Time::ZERO, Body::Udp { seq: 0 });
        p.payload = number;
        all.message(Time::ZERO, 1, 0, &p, false, &mut trace);
        all.fault()
    }

    #[test]
    fn a_question_outlives_the_routing_messages_made_after_it() {
        let (mut all, question) = (Messages::new(), ArpMessage { is_question: true, sender: 3, target: 5 });
        let number = all.put_arp(Time::ZERO, question);
        for _ in 0..=ROUTING_RING {
            all.put(Time::ZERO, "rreq", &[1]);
        }
        assert_eq!((all.read_arp(number), all.read(2)), (Some(question), None));
    }

    #[test]
    fn a_message_that_cannot_be_read_is_a_fault() {
        // A TTL, then RFC 3561 §5.3: a RERR of one destination, station 0, that station 1 has no route to.
        let error = [&[1][..], &[3, 0, 0, 1], &[0, 0, 0, 0], &[0, 0, 0, 1]].concat();
        assert_eq!(fault(&error, 0, 2), None);
        assert_eq!(fault(&error, ROUTING_RING - 1, 2), None);
        assert_eq!(fault(&error, ROUTING_RING, 2), Some(MessageFault::Overwritten));
        assert_eq!(fault(&[99], 0, 2), Some(MessageFault::Malformed));
    }
}
