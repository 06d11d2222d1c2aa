//! The event loop: nodes and wires with one next deadline each, and the packets that pass between them.
//!
//! There is no queue of events. Each [`Node`] says when it next wants to be called, and [`Deadlines`] has one entry for
//! each node; wires have [`Deadlines`] of their own. An entry is a lower bound. It changes at once when the deadline
//! becomes earlier. When the deadline becomes later, the entry stays: the node is woken too early and then says the
//! true deadline. A retransmission timer that every ACK moves back therefore costs nothing.
//!
//! The node that is woken most often may go on to its own next deadline while everything else comes later
//! ([`Out::alone_until`]). In a field each frame reaches each hearer at a time of its own, so this saves most of the
//! wake-ups.
//!
//! A [`Wire`] is not a node. A wire never reacts in the same instant, so it is called directly and woken only for its
//! next arrival at the far end, and, with another queue than drop-tail, at the end of a transmission. Of two wires in a
//! row only the second is woken, if every packet of the first arrives at a known time ([`World::join`]).
//!
//! The order of events is total: by time, then by number, nodes before wires. The packets that nodes are sent in one
//! instant pass through one FIFO, which is emptied before the next wake-up.

use crate::deadlines::Deadlines;
use crate::link::Wire;
use crate::peer::{NodeId, Peer, Port, WireId};
use crate::stats::count;
use crate::trace::Trace;
use contend_core::observe::Local;
use contend_core::{Address, Packet, Span, Time};
use std::any::Any;
use std::fmt::Debug;

/// What a node is called for.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The time that it asked for has come. It may also be woken earlier; it then says the time again.
    Wake,
    /// A packet has arrived at a port.
    Packet(Port, &'a Packet),
    /// The next queue dropped a packet that this node sent (local congestion).
    Rejected,
    /// Packets of so many bytes that this node sent have left its station: they were sent, dropped or given up.
    Left(u32),
}

/// A part of the world with its own deadline.
pub trait Node: Any + Debug + Send {
    /// Takes `input` at `now`, hands packets to `out`, and returns the next instant it wants to be woken at
    /// ([`Time::NEVER`] for none).
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time;
}

/// What a node may do to the rest of the world.
#[derive(Debug)]
pub struct Out<'a> {
    now: Time,
    between: &'a mut Between,
    inbox: &'a mut Inbox,
    more: bool,
    /// Before this instant the node that is woken may go on by itself; see [`Out::alone_until`].
    alone: Time,
    /// Wake-ups of nodes that went on.
    more_events: u64,
    /// The run's record of packet and frame events.
    pub trace: &'a mut Trace,
}

/// What lies between the nodes.
#[derive(Debug, Default)]
struct Between {
    wires: Vec<Wire>,
    /// When each node wants to be woken.
    node_deadlines: Deadlines,
    /// When each wire has to be woken.
    wire_deadlines: Deadlines,
    /// The wires that are joined behind another wire.
    joined: Vec<WireId>,
    /// What the node at each address was last told of its air.
    told: Vec<Option<Local>>,
}

/// What is woken.
#[derive(Clone, Copy, Debug)]
enum Member {
    Node(NodeId),
    Wire(WireId),
}

/// The packets that nodes are sent in this instant, in the order in which they were sent.
#[derive(Debug, Default)]
struct Inbox {
    /// The first `len` are used. The others are kept, so that a new letter is written in place and its packet is copied
    /// only once.
    letters: Vec<Letter>,
    len: usize,
}

/// What one node is sent.
#[derive(Clone, Copy, Debug)]
struct Letter {
    to: NodeId,
    what: What,
    packet: Packet,
}

/// What a letter says.
#[derive(Clone, Copy, Debug)]
enum What {
    /// The packet comes in at this port.
    Arrived(Port),
    /// See [`Input::Rejected`].
    Rejected,
    /// See [`Input::Left`].
    Left(u32),
}

impl Out<'_> {
    /// True while a node takes a packet and another one comes to it in this instant: both were in one aggregate.
    pub fn more(&self) -> bool {
        self.more
    }
    /// The current time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }
    /// A node that is woken and next wants to be woken before this instant may act then at once, because nothing else
    /// happens before. Results stay the same; only the cost of a wake-up changes.
    #[inline]
    pub fn alone_until(&self) -> Time {
        if self.alone == Time::ZERO || self.inbox.len > 0 {
            return Time::ZERO;
        }
        self.alone.min(self.between.first_not_apart())
    }
    /// The node acts at `at`, which comes before [`Out::alone_until`]: moves the clock there and counts the wake-up.
    #[inline]
    pub fn go_on(&mut self, at: Time) {
        self.now = at;
        count(&mut self.more_events);
    }
    /// Hands `p` to `to` in this instant.
    #[inline(always)]
    pub fn send(&mut self, to: Peer, p: &Packet) {
        match to {
            Peer::Wire(wire) => self.offer(wire, p),
            Peer::Node(node, port) => self.inbox.put(node, What::Arrived(port), p),
        }
    }
    /// Tells `sender`, which sent `p`, that the next queue dropped `p`.
    pub fn reject(&mut self, sender: NodeId, p: &Packet) {
        self.inbox.put(sender, What::Rejected, p);
    }
    /// Tells `sender` that packets of so many bytes that it sent have left its station. `p` is one of them.
    pub fn left(&mut self, sender: NodeId, bytes: u32, p: &Packet) {
        self.inbox.put(sender, What::Left(bytes), p);
    }
    /// Tells the node at `address` what its host knows of the air.
    pub fn tell(&mut self, address: Address, local: Local) {
        let i = address.0 as usize;
        if i >= self.between.told.len() {
            self.between.told.resize(i + 1, None);
        }
        self.between.told[i] = Some(local);
    }
    /// What the node at `address` was last told of its air.
    pub fn told(&self, address: Address) -> Option<Local> {
        *self.between.told.get(address.0 as usize)?
    }
    /// Pauses the transmitter of `wire` after its current packet (true), or lets it continue (false).
    pub fn pause(&mut self, wire: WireId, pause: bool) {
        self.between.wires[wire.0 as usize].pause(self.now, pause, self.trace);
        self.pass_on(wire);
    }
    #[inline(always)]
    fn offer(&mut self, wire: WireId, p: &Packet) {
        let w = &mut self.between.wires[wire.0 as usize];
        w.offer(self.now, p, self.trace);
        match w.joined_to() {
            None if w.has_earlier(self.now) => {}
            None => self.pass_on(wire),
            Some(second) if self.between.can_wait(wire, second, self.now) => {}
            Some(second) => self.pass_on(second),
        }
    }
    /// Hands over the packets that have arrived at the far end of `wire`, and updates the deadline of `wire`.
    fn pass_on(&mut self, wire: WireId) {
        self.between.pull(wire, self.now, self.trace);
        let mut next = self.between.next(wire);
        if next <= self.now {
            next = self.arrivals(wire);
        }
        self.between.wire_deadlines.lower(wire.0, next);
    }
    /// Hands over the packets that have arrived at the far end of `wire`. Returns the next deadline of `wire`.
    #[inline(always)]
    fn arrivals(&mut self, wire: WireId) -> Time {
        self.between.pull(wire, self.now, self.trace);
        let i = wire.0 as usize;
        loop {
            match self.between.wires[i].arrival(self.now, self.trace) {
                None => return self.between.next(wire),
                Some((Peer::Node(node, port), p)) => {
                    self.inbox.put(node, What::Arrived(port), p);
                    let next = self.between.next(wire);
                    if next > self.now {
                        return next;
                    }
                }
                Some((Peer::Wire(next), p)) => {
                    let p = *p;
                    self.offer(next, &p);
                }
            }
        }
    }
}

impl Between {
    /// Who is woken next, and when: [`Time::NEVER`] if nobody wants to be.
    #[inline(always)]
    fn first(&self) -> (Time, Member) {
        let (node_at, node) = self.node_deadlines.first();
        let (wire_at, wire) = self.wire_deadlines.first();
        if wire_at < node_at { (wire_at, Member::Wire(WireId(wire))) } else { (node_at, Member::Node(NodeId(node))) }
    }
    /// When somebody is woken next, besides the node that is kept apart.
    #[inline]
    fn first_not_apart(&self) -> Time {
        self.node_deadlines.first_in_tree().min(self.wire_deadlines.next())
    }
    /// If a wire is joined in front of `wire`: moves the packets that have arrived by `now` from there into `wire`,
    /// each at its own time.
    #[inline]
    fn pull(&mut self, wire: WireId, now: Time, trace: &mut Trace) {
        if let Some((first, second)) = self.joined(wire) {
            second.pull(first, now, trace);
        }
    }
    /// The next deadline of `wire`.
    #[inline(always)]
    fn next(&mut self, wire: WireId) -> Time {
        match self.joined(wire) {
            Some((first, second)) => second.announce_behind(first),
            None => self.wires[wire.0 as usize].deadline(),
        }
    }
    /// The wire that is joined in front of `wire`, if there is one, and `wire`.
    #[inline(always)]
    fn joined(&mut self, wire: WireId) -> Option<(&mut Wire, &mut Wire)> {
        let first = self.wires[wire.0 as usize].fed_by()?;
        let [first, second] = self.wires.get_disjoint_mut([first.0 as usize, wire.0 as usize]).ok()?;
        Some((first, second))
    }
    /// True if the packet that `first` was offered now cannot change the deadline of `second`, which is joined behind
    /// `first`.
    fn can_wait(&self, first: WireId, second: WireId, now: Time) -> bool {
        self.wires[second.0 as usize].can_wait(&self.wires[first.0 as usize], now)
    }
}

impl Inbox {
    #[inline]
    fn put(&mut self, to: NodeId, what: What, p: &Packet) {
        match self.letters.get_mut(self.len) {
            Some(letter) => {
                letter.to = to;
                letter.what = what;
                letter.packet = *p;
            }
            None => self.letters.push(Letter { to, what, packet: *p }),
        }
        self.len += 1;
    }
}

/// All nodes and wires, and their deadlines.
#[derive(Debug, Default)]
pub struct World {
    now: Time,
    nodes: Vec<Box<dyn Node>>,
    between: Between,
    /// The packets to be delivered next, and those that are being delivered. Both are empty when a node or wire is
    /// woken.
    inboxes: [Inbox; 2],
    /// The run's record of packet and frame events.
    pub trace: Trace,
    /// Wake-ups and deliveries so far.
    events: u64,
}

impl World {
    /// An empty world at time zero.
    pub fn new() -> World {
        World::default()
    }

    /// Adds a node that is first woken at `first` ([`Time::NEVER`]: only when a packet comes).
    pub fn add(&mut self, node: Box<dyn Node>, first: Time) -> NodeId {
        let id = self.next_id();
        self.nodes.push(node);
        self.between.node_deadlines.push(id.0, first);
        id
    }

    /// Says that the node `id` is the one that is woken most often. Results stay the same; only the cost of a wake-up
    /// changes.
    pub fn is_busiest(&mut self, id: NodeId) {
        self.between.node_deadlines.keep_apart(id.0);
    }

    /// Adds a wire.
    pub fn wire(&mut self, wire: Wire) -> WireId {
        let id = WireId(self.between.wires.len() as u32);
        self.between.wires.push(wire);
        self.between.wire_deadlines.push(id.0, Time::NEVER);
        id
    }

    /// Declares that every packet of `first` goes on to `second`, and that no other packet enters `second`. If the time
    /// at which each packet leaves `first` is known when it enters, no event is needed between the two wires. Results
    /// stay the same; only the number of wake-ups changes.
    pub fn join(&mut self, first: WireId, second: WireId) {
        if let Ok([a, b]) = self.between.wires.get_disjoint_mut([first.0 as usize, second.0 as usize])
            && a.join(b, first, second)
        {
            self.between.joined.push(second);
        }
    }

    /// The number that the next node will have.
    pub fn next_id(&self) -> NodeId {
        NodeId(self.nodes.len() as u32)
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: wake-ups, and deliveries to nodes.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The node `id`, if it is a `T`.
    pub fn node<T: Node>(&self, id: NodeId) -> Option<&T> {
        let n: &dyn Any = self.nodes.get(id.0 as usize)?.as_ref();
        n.downcast_ref()
    }

    /// The node `id`, mutable, if it is a `T`.
    pub fn node_mut<T: Node>(&mut self, id: NodeId) -> Option<&mut T> {
        let n: &mut dyn Any = self.nodes.get_mut(id.0 as usize)?.as_mut();
        n.downcast_mut()
    }

    /// All wires, in the order of their numbers.
    pub fn wires(&self) -> &[Wire] {
        &self.between.wires
    }

    /// The wire `id`, mutable.
    pub fn wire_mut(&mut self, id: WireId) -> Option<&mut Wire> {
        self.between.wires.get_mut(id.0 as usize)
    }

    /// Runs all events up to and including `end`. The clock then shows `end`, and all wires can be read.
    pub fn run_until(&mut self, end: Time) {
        self.advance(end);
        // Readings after the run refer to this time.
        for i in 0..self.between.joined.len() {
            self.between.pull(self.between.joined[i], self.now, &mut self.trace);
        }
    }

    /// Runs all events up to and including `to`. The clock then shows `to`. Unlike [`World::run_until`], joined wires
    /// may not yet show what has happened: between readings, the time that this takes grows with the events only.
    pub fn advance(&mut self, to: Time) {
        let [inbox, mut batch] = self.inboxes.each_mut();
        let World { between, trace, .. } = self;
        let mut out = Out { now: self.now, between, inbox, more: false, alone: Time::ZERO, more_events: 0, trace };
        loop {
            let (at, member) = out.between.first();
            if at > to || at == Time::NEVER {
                break;
            }
            debug_assert!(at >= out.now, "time never runs back");
            out.now = at;
            count(&mut self.events);
            match member {
                Member::Node(id) => {
                    let is_apart = out.between.node_deadlines.is_apart(id.0);
                    out.alone = if is_apart { to.saturating_add(Span::from_nanos(1)) } else { Time::ZERO };
                    let next = self.nodes[id.0 as usize].handle(at, Input::Wake, &mut out);
                    out.between.node_deadlines.set(id.0, next);
                }
                Member::Wire(id) => {
                    out.between.wires[id.0 as usize].wake(at, out.trace);
                    let next = out.arrivals(id);
                    out.between.wire_deadlines.set_woken(id.0, next);
                }
            }
            deliver(&mut self.nodes, &mut out, &mut batch, &mut self.events);
        }
        self.events += out.more_events;
        self.now = self.now.max(to);
    }

    /// Runs all events up to and including `at`, then hands `p` to `port` of `node`: a packet from outside the world.
    /// If the clock is already past `at`, the packet comes in now.
    pub fn hand_in(&mut self, at: Time, node: NodeId, port: Port, p: &Packet) {
        self.advance(at);
        let [inbox, mut batch] = self.inboxes.each_mut();
        let World { between, trace, .. } = self;
        let mut out = Out { now: self.now, between, inbox, more: false, alone: Time::ZERO, more_events: 0, trace };
        out.inbox.put(node, What::Arrived(port), p);
        deliver(&mut self.nodes, &mut out, &mut batch, &mut self.events);
    }

    /// When the world must run next at the latest; it may be earlier than the next event. [`Time::NEVER`]: when a
    /// packet is handed in.
    pub fn next_deadline(&self) -> Time {
        self.between.first().0
    }
}

/// Delivers the letters of this instant until there are none. Letters that are sent while a batch is delivered form the
/// next batch. So the order is first in, first out, and no packet is copied again.
#[inline(always)]
fn deliver<'a>(nodes: &mut [Box<dyn Node>], out: &mut Out<'a>, batch: &mut &'a mut Inbox, events: &mut u64) {
    while out.inbox.len > 0 {
        out.alone = Time::ZERO;
        std::mem::swap(&mut out.inbox, batch);
        let len = std::mem::take(&mut batch.len);
        let mut rest = &batch.letters[..len];
        if let [letter] = rest {
            // As most often: it is alone in its instant.
            hand_over(nodes, out, letter, events);
            continue;
        }
        while let [letter, after @ ..] = rest {
            rest = after;
            out.more = rest.iter().any(|l| l.to == letter.to && matches!(l.what, What::Arrived(_)));
            hand_over(nodes, out, letter, events);
        }
        out.more = false;
    }
}

/// Delivers `letter`.
#[inline(always)]
fn hand_over(nodes: &mut [Box<dyn Node>], out: &mut Out<'_>, letter: &Letter, events: &mut u64) {
    count(events);
    let input = match letter.what {
        What::Arrived(port) => Input::Packet(port, &letter.packet),
        What::Rejected => Input::Rejected,
        What::Left(bytes) => Input::Left(bytes),
    };
    let next = nodes[letter.to.0 as usize].handle(out.now, input, out);
    if next < Time::NEVER {
        out.between.node_deadlines.lower(letter.to.0, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a packet to itself a number of times in the same instant, then never wakes.
    #[derive(Debug)]
    struct Echo {
        left: u32,
        seen: Vec<(Time, u32)>,
    }
    impl Node for Echo {
        fn handle(&mut self, now: Time, input: Input<'_>, _: &mut Out<'_>) -> Time {
            if let Input::Wake = input {
                self.seen.push((now, self.left));
                if self.left > 0 {
                    self.left -= 1;
                    return now + Span::from_nanos(7);
                }
            }
            Time::NEVER
        }
    }

    #[test]
    fn a_node_is_woken_when_it_asked_and_not_after_the_end() {
        let mut w = World::new();
        let id = w.add(Box::new(Echo { left: 3, seen: vec![] }), Time::from_nanos(5));
        w.run_until(Time::from_nanos(13));
        assert_eq!(
            w.node::<Echo>(id).map(|e| e.seen.clone()),
            Some(vec![(Time::from_nanos(5), 3), (Time::from_nanos(12), 2)])
        );
        assert_eq!(w.now(), Time::from_nanos(13));
        w.run_until(Time::from_nanos(1000));
        assert_eq!(w.node::<Echo>(id).map(|e| e.seen.len()), Some(4));
    }

    /// Acts every so many nanoseconds, and goes on by itself while it may. Notes when it was woken and when it acted.
    #[derive(Debug)]
    struct Runner {
        step: u64,
        woken: u64,
        acted: Vec<Time>,
    }
    impl Node for Runner {
        fn handle(&mut self, _: Time, _: Input<'_>, out: &mut Out<'_>) -> Time {
            self.woken += 1;
            loop {
                self.acted.push(out.now());
                let next = out.now() + Span::from_nanos(self.step);
                if next >= out.alone_until() {
                    return next;
                }
                out.go_on(next);
            }
        }
    }

    #[test]
    fn a_node_goes_on_only_while_nothing_else_happens() {
        let runs = |apart: bool| {
            let mut w = World::new();
            let [slow, fast] = [70, 10].map(|step| {
                let runner = Runner { step, woken: 0, acted: vec![] };
                w.add(Box::new(runner), Time::from_nanos(step))
            });
            if apart {
                w.is_busiest(fast);
            }
            w.advance(Time::from_nanos(95));
            w.advance(Time::from_nanos(205));
            let seen = [slow, fast].map(|id| w.node::<Runner>(id).map(|r| (r.woken, r.acted.clone())).unwrap());
            (seen, w.events())
        };
        let ([slow, fast], events) = runs(true);
        let every = |step: u64| (1..=205 / step).map(|i| Time::from_nanos(i * step)).collect::<Vec<_>>();
        assert_eq!((&slow.1, &fast.1), (&every(70), &every(10)));
        // At 10 until 60; at 70, where the other acts too, until 90, the end of the first part; at 100 until 130; at
        // 140 until 200.
        assert_eq!((slow.0, fast.0), (2, 4));
        let ([slow, fast], plain) = runs(false);
        assert_eq!((slow.0, fast.0, plain), (2, 20, events), "the same events without going on");
    }
}
