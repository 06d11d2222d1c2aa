//! The event loop: nodes, one next deadline each, and the packets that pass between them.
//!
//! There is no queue of events. Each [`Node`] says when it next wants to be called; an indexed heap holds one entry per node. The entry
//! is a lower bound: it moves when a deadline becomes earlier, but a deadline that becomes later costs nothing until the node is woken too
//! early and tells the true one. A retransmission timer that every ACK pushes back is therefore free.
//!
//! Order is total: by time, then by node number; what a node sends in an instant is delivered in the order it was sent, through one FIFO
//! that is drained before the next wake-up.

use crate::trace::Trace;
use contend_core::{FlowId, Packet, Time};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Index of a node in its [`World`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Which of a node's attachments a packet comes in at; what the numbers mean is the node's affair.
pub type Port = u32;

/// Where a packet is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// At this port of this node.
    Node(NodeId, Port),
    /// Where its flow ends: at the sender when it travels in reverse, at the receiver otherwise.
    End,
}

/// What a node is called for.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// The time it asked for has come, or less: a node may be woken early and then says again when.
    Wake,
    /// A packet has arrived at a port.
    Packet(Port, Packet),
    /// The next queue refused a packet of this end of a flow (local congestion).
    Rejected,
    /// The far end asks to send nothing more (true), or to go on (false).
    Pause(bool),
}

/// Anything with a clock.
pub trait Node: Any + Debug + Send {
    /// Takes `input` at `now`, hands packets to `out`, and returns the next instant it wants to be woken at ([`Time::NEVER`] for none).
    fn handle(&mut self, now: Time, input: Input, out: &mut Out<'_>) -> Time;
}

/// What a node may do to the rest of the world.
#[derive(Debug)]
pub struct Out<'a> {
    fifo: &'a mut VecDeque<(NodeId, Input)>,
    ends: u32,
    /// The run's record of packet and frame events.
    pub trace: &'a mut Trace,
}

impl Out<'_> {
    /// Hands `p` to `to` in this very instant.
    pub fn send(&mut self, to: Peer, p: Packet) {
        let (node, port) = match to {
            Peer::Node(node, port) => (node, port),
            Peer::End => (self.end(p.flow, !p.reverse), 0),
        };
        self.fifo.push_back((node, Input::Packet(port, p)));
    }
    /// Tells the end of a flow that sent `p` that the next queue refused it.
    pub fn reject(&mut self, p: &Packet) {
        self.fifo.push_back((self.end(p.flow, p.reverse), Input::Rejected));
    }
    /// Asks `node` to send nothing more, or to go on.
    pub fn pause(&mut self, node: NodeId, pause: bool) {
        self.fifo.push_back((node, Input::Pause(pause)));
    }
    fn end(&self, flow: FlowId, receiver: bool) -> NodeId {
        NodeId(self.ends + 2 * flow.0 + u32::from(receiver))
    }
}

/// All nodes and their deadlines.
#[derive(Debug)]
pub struct World {
    now: Time,
    nodes: Vec<Box<dyn Node>>,
    deadlines: Deadlines,
    fifo: VecDeque<(NodeId, Input)>,
    ends: NodeId,
    /// The run's record of packet and frame events.
    pub trace: Trace,
    wakes: u64,
    deliveries: u64,
}

impl World {
    /// An empty world at time zero. Of flow f, node `ends` + 2 f sends the data and the next one receives them ([`Peer::End`]).
    pub fn new(trace: Trace, ends: NodeId) -> World {
        World { now: Time::ZERO, nodes: Vec::new(), deadlines: Deadlines::default(), fifo: VecDeque::new(), ends, trace, wakes: 0, deliveries: 0 }
    }

    /// Adds a node that is first woken at `first` ([`Time::NEVER`]: only when a packet comes).
    pub fn add(&mut self, node: Box<dyn Node>, first: Time) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.deadlines.push(first);
        id
    }

    /// The number the next added node will get.
    pub fn next_id(&self) -> NodeId {
        NodeId(self.nodes.len() as u32)
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: wake-ups and deliveries.
    pub fn events(&self) -> u64 {
        self.wakes + self.deliveries
    }

    /// The node `id`, when it is a `T`.
    pub fn node<T: Node>(&self, id: NodeId) -> Option<&T> {
        let n: &dyn Any = self.nodes.get(id.0 as usize)?.as_ref();
        n.downcast_ref()
    }

    /// The node `id` to change, when it is a `T`.
    pub fn node_mut<T: Node>(&mut self, id: NodeId) -> Option<&mut T> {
        let n: &mut dyn Any = self.nodes.get_mut(id.0 as usize)?.as_mut();
        n.downcast_mut()
    }

    /// Runs until every event at or before `end` has happened, and leaves the clock at `end`.
    pub fn run_until(&mut self, end: Time) {
        while let Some((at, id)) = self.deadlines.first() {
            if at > end {
                break;
            }
            debug_assert!(at >= self.now, "time never runs back");
            self.now = at;
            self.wakes += 1;
            let next = self.call(id, Input::Wake);
            self.deadlines.set(id, next);
            while let Some((to, input)) = self.fifo.pop_front() {
                self.deliveries += 1;
                let next = self.call(to, input);
                self.deadlines.lower(to, next);
            }
        }
        self.now = self.now.max(end);
    }

    fn call(&mut self, id: NodeId, input: Input) -> Time {
        let mut out = Out { fifo: &mut self.fifo, ends: self.ends.0, trace: &mut self.trace };
        self.nodes[id.0 as usize].handle(self.now, input, &mut out)
    }
}

/// An indexed heap of one deadline per member, ordered by (time, member). Four children per entry: they fill one cache line, and the heap is
/// half as deep.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// Heap order, four siblings to a line: the root is the last of the first line, whose other places stay empty, and the children of the
    /// entry at `i` are line `i - 2`.
    heap: Vec<Siblings>,
    /// Where each member stands in `heap`.
    place: Vec<u32>,
}

/// A cache line of entries.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Siblings([Key; CHILDREN]);

/// A deadline in nanoseconds above the number of its member: one comparison orders both.
type Key = u128;

/// Children of an entry.
const CHILDREN: usize = 4;
/// Where the root stands.
const ROOT: usize = CHILDREN - 1;
/// An empty place; after every deadline.
const EMPTY: Key = Key::MAX;

fn key(at: Time, id: u32) -> Key {
    Key::from(at.as_nanos()) << 32 | Key::from(id)
}

fn at(k: Key) -> Time {
    Time::from_nanos((k >> 32) as u64)
}

impl Deadlines {
    /// Adds the next member with deadline `at`.
    pub fn push(&mut self, at: Time) {
        let id = self.place.len() as u32;
        let i = ROOT + self.place.len();
        if i / CHILDREN == self.heap.len() {
            self.heap.push(Siblings([EMPTY; CHILDREN]));
        }
        self.place.push(i as u32);
        self.up(i, key(at, id));
    }

    /// The earliest deadline and its member; `None` when nobody wants to be woken.
    pub fn first(&self) -> Option<(Time, NodeId)> {
        let first = self.heap.first()?.0[ROOT];
        let at = at(first);
        (at < Time::NEVER).then_some((at, NodeId(first as u32)))
    }

    /// Sets the deadline of `id`.
    pub fn set(&mut self, id: NodeId, at: Time) {
        let i = self.place[id.0 as usize] as usize;
        let new = key(at, id.0);
        if new < self.get(i) {
            self.up(i, new);
        } else {
            self.down(i, new);
        }
    }

    /// Sets the deadline of `id` when `at` is earlier than what stands there.
    pub fn lower(&mut self, id: NodeId, at: Time) {
        let i = self.place[id.0 as usize] as usize;
        let new = key(at, id.0);
        if new < self.get(i) {
            self.up(i, new);
        }
    }

    /// Puts `k`, which belongs at `i` or nearer to the root, into its place.
    fn up(&mut self, mut i: usize, k: Key) {
        while i > ROOT {
            let parent = i / CHILDREN + 2;
            let p = self.get(parent);
            if p <= k {
                break;
            }
            self.put(i, p);
            i = parent;
        }
        self.put(i, k);
    }

    /// Puts `k`, which belongs at `i` or farther from the root, into its place.
    fn down(&mut self, mut i: usize, k: Key) {
        while let Some(Siblings(s)) = self.heap.get(i - 2) {
            // Which child is the least follows no pattern, so it is found without a branch.
            let (a, x) = if s[1] < s[0] { (s[1], 1) } else { (s[0], 0) };
            let (b, y) = if s[3] < s[2] { (s[3], 3) } else { (s[2], 2) };
            let (least, child) = if b < a { (b, y) } else { (a, x) };
            if k < least {
                break;
            }
            self.put(i, least);
            i = (i - 2) * CHILDREN + child;
        }
        self.put(i, k);
    }

    fn get(&self, i: usize) -> Key {
        self.heap[i / CHILDREN].0[i % CHILDREN]
    }

    fn put(&mut self, i: usize, k: Key) {
        self.heap[i / CHILDREN].0[i % CHILDREN] = k;
        self.place[k as u32 as usize] = i as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::Span;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_deadline_is_the_smallest(start in prop::collection::vec(0u64..50, 1..40), sets in prop::collection::vec((0usize..40, 0u64..50, any::<bool>()), 0..200)) {
            let mut d = Deadlines::default();
            let mut flat = start.clone();
            for &t in &start {
                d.push(Time::from_nanos(t));
            }
            for (i, t, lower) in sets {
                let i = i % flat.len();
                if lower {
                    d.lower(NodeId(i as u32), Time::from_nanos(t));
                    flat[i] = flat[i].min(t);
                } else {
                    d.set(NodeId(i as u32), Time::from_nanos(t));
                    flat[i] = t;
                }
                let want = flat.iter().enumerate().map(|(i, &t)| (t, i as u32)).min();
                prop_assert_eq!(d.first().map(|(t, n)| (t.as_nanos(), n.0)), want);
            }
        }
    }

    /// Sends a packet to itself a number of times in the same instant, then never wakes.
    #[derive(Debug)]
    struct Echo {
        left: u32,
        seen: Vec<(Time, u32)>,
    }
    impl Node for Echo {
        fn handle(&mut self, now: Time, input: Input, _: &mut Out<'_>) -> Time {
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
        let mut w = World::new(Trace::new(), NodeId(0));
        let id = w.add(Box::new(Echo { left: 3, seen: vec![] }), Time::from_nanos(5));
        w.run_until(Time::from_nanos(13));
        assert_eq!(w.node::<Echo>(id).map(|e| e.seen.clone()), Some(vec![(Time::from_nanos(5), 3), (Time::from_nanos(12), 2)]));
        assert_eq!(w.now(), Time::from_nanos(13));
        w.run_until(Time::from_nanos(1000));
        assert_eq!(w.node::<Echo>(id).map(|e| e.seen.len()), Some(4));
    }
}
