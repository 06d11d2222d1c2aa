//! Wires: one direction of a link, and the router's table at its end.
//!
//! A packet offered to a [`Wire`] waits in its queue, is sent for `8 size / rate`, propagates for `delay`, and is
//! handed over, or is found broken, when its last bit arrives. Three things hold for every discipline:
//!
//! * At one instant an end of sending comes before arrivals, so that the packet which finds the queue full does not
//!   depend on node numbers.
//! * The packet being sent is no longer in the queue and outside its limit (as in ns-2).
//! * The loss process is asked once per packet, in order, about the instant its last bit left; a lost packet has used
//!   its sending time and counts as propagating until its last bit would have arrived.
//!
//! A drop-tail queue needs no event at the end of sending: the departure of a packet is known when it arrives, so
//! waiting, sent and propagating packets stand in one ring with one deadline. Every other discipline takes the general
//! path, one more wake per packet.

use crate::forwarding::ForwardingTable;
use crate::loss::Loss;
use crate::rng::stream;
use crate::scenario::WireSpec;
use crate::stats::QueueMeter;
use crate::trace::{Event, Trace};
use crate::world::{Peer, WireId};
use contend_core::packet::Kind;
use contend_core::qdisc::fifo::Fifo;
use contend_core::qdisc::{Backlog, Drop, Link, Qdisc, Sink, Site};
use contend_core::registry::Amount;
use contend_core::{Cx, FlowId, Packet, Rng, Span, Time};
use std::collections::VecDeque;

/// One direction of a link.
#[derive(Debug)]
pub struct Wire {
    sender: Sender,
    /// Sent, or certain to be sent at a known time (drop-tail); by arrival at the far end.
    ring: VecDeque<Sent>,
    queue: Queue,
    meter: QueueMeter,
    to: FarEnd,
    joined: Joined,
    delivered: u64,
    lost: [u64; 4],
}

/// Where the far end of a wire hands packets over.
#[derive(Clone, Debug)]
pub enum FarEnd {
    /// Here.
    Peer(Peer),
    /// At the next hop to its destination, by the table of the host or router there. A packet without a next hop is
    /// dropped and counts as lost on the wire.
    Lookup(ForwardingTable),
}

impl FarEnd {
    fn of(&self, p: &Packet) -> Option<Peer> {
        match self {
            FarEnd::Peer(to) => Some(*to),
            FarEnd::Lookup(table) => table.next_hop(p.dst),
        }
    }
}

/// Whether a wire is one of two in a row, of which only the second is woken.
#[derive(Clone, Copy, Debug)]
enum Joined {
    No,
    /// The first: all that arrives is taken by this one.
    To(WireId),
    /// The second: takes all that arrives at this one, and nothing else.
    FedBy(WireId),
}

/// What a wire queues with.
#[derive(Debug)]
enum Queue {
    DropTail(DropTail),
    Any(Box<Any>),
}

/// The waiting end of the ring.
#[derive(Debug)]
struct DropTail {
    limit: Amount,
    /// What at the back of the ring has not begun to be sent, as of the last call.
    waiting: Backlog,
    /// When the first of them begins.
    begins: Time,
    /// When the last packet of the ring has been sent.
    free: Time,
}

/// A discipline behind its trait, and the packet that is being sent.
#[derive(Debug)]
struct Any {
    /// Told by the far end to begin no other packet.
    paused: bool,
    qdisc: Box<dyn Qdisc>,
    rng: Rng,
    sink: Sink,
    /// The packet being sent, and when its first and last bits leave.
    sending: Option<(Packet, Time, Time)>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    packet: Packet,
    /// First bit leaves the transmitter.
    starts: Time,
    /// Last bit leaves it.
    ends: Time,
}

impl Wire {
    /// The wire called `name`, which hands its packets to `to`. `flow` turns a flow's name into its number, for
    /// scripted losses.
    ///
    /// # Errors
    /// What the queue's or the loss process's maker says about a parameter.
    pub fn new(
        seed: u64,
        name: &str,
        spec: &WireSpec,
        to: FarEnd,
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Wire, String> {
        let queue = if spec.queue.entry.name == "fifo" {
            Queue::DropTail(DropTail {
                limit: spec.queue.args.amount("limit"),
                waiting: Backlog::default(),
                begins: Time::NEVER,
                free: Time::ZERO,
            })
        } else {
            general((spec.queue.entry.build)(&spec.queue.args, &Site::ALONE)?, stream(seed, name, "queue"))
        };
        let loss = match &spec.loss {
            Some(l) => Some((l.entry.build)(&l.args, flow)?)
                .filter(|l| !l.never())
                .map(|l| Box::new((l, stream(seed, name, "loss")))),
            None => None,
        };
        let sender = Sender { rate: spec.rate, delay: spec.delay, loss, known: (0, Span::ZERO) };
        Ok(Wire {
            sender,
            ring: VecDeque::new(),
            queue,
            meter: QueueMeter::default(),
            to,
            joined: Joined::No,
            delivered: 0,
            lost: [0; 4],
        })
    }

    /// A network card: drop-tail with `limit`, which sends by a cable of `rate` and can be told to pause.
    pub fn card(seed: u64, name: &str, rate: u64, delay: Span, limit: Amount, to: FarEnd) -> Wire {
        let sender = Sender { rate, delay, loss: None, known: (0, Span::ZERO) };
        let queue = general(Box::new(Fifo::new(limit)), stream(seed, name, "queue"));
        Wire {
            sender,
            ring: VecDeque::new(),
            queue,
            meter: QueueMeter::default(),
            to,
            joined: Joined::No,
            delivered: 0,
            lost: [0; 4],
        }
    }

    /// The queue's meter as of `now`, which is not before the last event. A packet is taken when its first bit leaves.
    pub fn meter(&mut self, now: Time) -> &mut QueueMeter {
        if let Queue::DropTail(q) = &mut self.queue {
            q.settle(now, &self.ring, &mut self.meter);
        }
        &mut self.meter
    }

    /// Packets lost on the wire (not in its queue) so far, by [`Kind`].
    pub fn lost(&self) -> &[u64; Kind::ALL.len()] {
        &self.lost
    }

    /// Packets handed over at the far end so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets that wait, are being sent, or propagate. Always: offered = delivered + dropped + lost + in flight.
    pub fn in_flight(&self) -> u64 {
        let before = match &self.queue {
            Queue::DropTail(_) => 0,
            Queue::Any(a) => a.qdisc.backlog().packets + u64::from(a.sending.is_some()),
        };
        self.ring.len() as u64 + before
    }

    /// Takes `p` at its near end at `now`. What has arrived at the far end is asked for next.
    pub fn offer(&mut self, now: Time, p: &Packet, trace: &mut Trace) {
        match &mut self.queue {
            Queue::DropTail(q) => q.offer(now, p, &mut self.sender, &mut self.ring, &mut self.meter, trace),
            Queue::Any(a) => {
                a.wake(now, &mut self.sender, &mut self.ring, &mut self.meter, trace);
                a.offer(now, p, &self.sender, &mut self.meter, trace);
                a.send(now, &mut self.sender, &mut self.ring, &mut self.meter, trace);
            }
        }
    }

    /// Does what is due by `now` at its near end.
    pub fn wake(&mut self, now: Time, trace: &mut Trace) {
        if let Queue::Any(a) = &mut self.queue {
            a.wake(now, &mut self.sender, &mut self.ring, &mut self.meter, trace);
        }
    }

    /// Begins to send no other packet from `now` on (true), or goes on (false). Only what was made by [`Wire::card`]
    /// can be told to.
    pub fn pause(&mut self, now: Time, pause: bool, trace: &mut Trace) {
        if let Queue::Any(a) = &mut self.queue {
            a.wake(now, &mut self.sender, &mut self.ring, &mut self.meter, trace);
            a.paused = pause;
            a.send(now, &mut self.sender, &mut self.ring, &mut self.meter, trace);
        }
    }

    /// The next packet that has arrived at the far end by `now`, and where it is handed over; [`Wire::handed_over`]
    /// follows. Those lost on the way are passed by.
    pub fn arrival(&mut self, now: Time, trace: &mut Trace) -> Option<(Peer, &Packet)> {
        while let Some(s) = self.ring.front()
            && self.sender.arrives(s) <= now
        {
            let gone = if self.sender.loses(s) {
                Event::Lost
            } else if let Some(to) = self.to.of(&s.packet) {
                // The borrow of `s` would end with a return from the loop.
                return self.ring.front().map(|s| (to, &s.packet));
            } else {
                Event::Dropped
            };
            self.lose(now, gone, trace);
        }
        None
    }

    /// The packet that has arrived is not handed over.
    #[cold]
    fn lose(&mut self, now: Time, gone: Event, trace: &mut Trace) {
        if let Some(s) = self.ring.front() {
            self.lost[s.packet.kind() as usize] += 1;
            trace.packet(now, gone, &s.packet);
        }
        self.pop(now);
    }

    /// What [`Wire::arrival`] gave at `now` was handed over.
    pub fn handed_over(&mut self, now: Time) {
        self.delivered += 1;
        self.pop(now);
    }

    /// Joins this wire, `first`, to `second`, the only one that it feeds and that is fed by nobody else, when that
    /// changes nothing but the number of wake-ups: what it carries arrives at a known time, and the second's queue can
    /// only overflow when so many more have come.
    pub fn join(&mut self, to: &mut Wire, first: WireId, second: WireId) {
        let known = matches!(self.queue, Queue::DropTail(_)) && self.sender.loss.is_none();
        // A wire is in one pair at most: of three in a row the last two are joined, or the first two.
        let alone = matches!((self.joined, to.joined), (Joined::No, Joined::No));
        if known && alone && matches!(&to.queue, Queue::DropTail(q) if q.limit.packets().is_some()) {
            (self.joined, to.joined) = (Joined::To(second), Joined::FedBy(first));
        }
    }

    /// The wire that takes what arrives here, without an event.
    pub fn joined_to(&self) -> Option<WireId> {
        if let Joined::To(w) = self.joined { Some(w) } else { None }
    }

    /// The wire from which this one takes what arrives.
    pub fn fed_by(&self) -> Option<WireId> {
        if let Joined::FedBy(w) = self.joined { Some(w) } else { None }
    }

    /// Takes from `first`, which it is joined to, what has arrived there by `now`, each packet at its own time.
    pub fn pull(&mut self, first: &mut Wire, now: Time, trace: &mut Trace) {
        while let Some(s) = first.ring.front()
            && first.sender.arrives(s) <= now
        {
            let at = first.sender.arrives(s);
            self.offer(at, &s.packet, trace);
            first.handed_over(at);
        }
        if let Queue::DropTail(q) = &mut self.queue {
            q.settle(now, &self.ring, &mut self.meter);
        }
    }

    /// [`Wire::deadline`] of one that has just pulled from `first`: its next arrival, and before that whenever its
    /// queue might overflow, so that what is dropped is dropped in time.
    pub fn deadline_behind(&self, first: &Wire) -> Time {
        let decides = first.ring.get(self.decides()).map_or(Time::NEVER, |s| first.sender.arrives(s));
        self.ring.front().map_or(decides, |s| self.sender.arrives(s).min(decides))
    }

    /// Whether it need not look at what `first`, which it is joined to, was offered at `now`: its deadline was told
    /// when the packet that decides it came, that was another one, and nothing is due in this very instant. It may not
    /// have pulled for a while; the fuller its queue seems, the earlier its deadline.
    pub fn can_wait(&self, first: &Wire, now: Time) -> bool {
        let i = self.decides();
        let told = first.ring.get(i).is_none_or(|s| i + 1 < first.ring.len() && first.sender.arrives(s) > now);
        told && self.ring.front().is_none_or(|s| self.sender.arrives(s) > now)
    }

    /// Which of the packets on the wire before this one may decide when it is woken: the one that may find its queue
    /// full, or the first when it carries nothing.
    fn decides(&self) -> usize {
        match &self.queue {
            Queue::DropTail(q) if !self.ring.is_empty() => {
                q.limit.packets().unwrap_or(0).saturating_sub(q.waiting.packets) as usize
            }
            _ => 0,
        }
    }

    fn pop(&mut self, now: Time) {
        if let Queue::DropTail(q) = &mut self.queue {
            // A packet that has arrived has begun.
            q.settle(now, &self.ring, &mut self.meter);
        }
        self.ring.pop_front();
        if self.ring.is_empty() {
            // Begins again at the first place, which is in the cache if any is.
            self.ring.clear();
        }
    }

    /// When it next has something to do.
    pub fn deadline(&self) -> Time {
        let arrival = self.ring.front().map_or(Time::NEVER, |s| self.sender.arrives(s));
        match &self.queue {
            Queue::Any(a) => a.sending.map_or(a.qdisc.next_deadline(), |(_, _, ends)| ends).min(arrival),
            Queue::DropTail(_) => arrival,
        }
    }
}

impl DropTail {
    /// Tells the meter which packets have begun to be sent by `now`.
    fn settle(&mut self, now: Time, ring: &VecDeque<Sent>, meter: &mut QueueMeter) {
        while self.begins <= now {
            self.begin(ring, meter);
        }
    }

    /// Tells the meter that the first packet that waits has begun to be sent.
    #[inline(never)]
    fn begin(&mut self, ring: &VecDeque<Sent>, meter: &mut QueueMeter) {
        let first = ring.len() - self.waiting.packets as usize;
        if let Some(s) = ring.get(first) {
            meter.taken(s.starts, &s.packet);
            self.waiting.remove(&s.packet);
        }
        self.begins = ring.get(first + 1).map_or(Time::NEVER, |s| s.starts);
    }

    fn offer(
        &mut self,
        now: Time,
        p: &Packet,
        sender: &mut Sender,
        ring: &mut VecDeque<Sent>,
        meter: &mut QueueMeter,
        trace: &mut Trace,
    ) {
        self.settle(now, ring, meter);
        if !self.waiting.has_room(self.limit, p) {
            return full(now, p, meter, trace);
        }
        let starts = self.free.max(now);
        if starts == now {
            meter.passed(now);
        } else {
            meter.offered(now);
            self.waiting.add(p);
            self.begins = self.begins.min(starts);
        }
        self.free = starts.saturating_add(sender.sending_time(p.size));
        ring.push_back(Sent { packet: p.queued_at(now), starts, ends: self.free });
    }
}

/// `p` is dropped at the door.
#[cold]
fn full(now: Time, p: &Packet, meter: &mut QueueMeter, trace: &mut Trace) {
    meter.offered(now);
    meter.dropped(now, p, Drop::Full);
    trace.packet(now, Event::Dropped, p);
}

fn general(qdisc: Box<dyn Qdisc>, rng: Rng) -> Queue {
    Queue::Any(Box::new(Any { paused: false, qdisc, rng, sink: Sink::default(), sending: None }))
}

impl Any {
    /// Does what is due by `now`.
    fn wake(
        &mut self,
        now: Time,
        sender: &mut Sender,
        ring: &mut VecDeque<Sent>,
        meter: &mut QueueMeter,
        trace: &mut Trace,
    ) {
        // An idle wire has nothing waiting, or nothing that may go: its discipline is not asked in vain.
        if self.sending.is_some() || self.qdisc.next_deadline() <= now {
            self.send(now, sender, ring, meter, trace);
        }
    }

    /// Ends the sending that is over by `now` and begins the next; without a sending time, until nothing waits.
    fn send(
        &mut self,
        now: Time,
        sender: &mut Sender,
        ring: &mut VecDeque<Sent>,
        meter: &mut QueueMeter,
        trace: &mut Trace,
    ) {
        loop {
            if let Some((p, starts, ends)) = self.sending {
                if ends > now {
                    return;
                }
                ring.push_back(Sent { packet: p, starts, ends });
            }
            self.sending = None;
            if self.paused {
                return;
            }
            let next = self.qdisc.dequeue(&mut Cx { now, rng: &mut self.rng }, sender, &mut self.sink);
            meter.settle(now, &mut self.sink, trace);
            self.sending = next.map(|p| {
                meter.taken(now, &p);
                (p, now, now.saturating_add(sender.sending_time(p.size)))
            });
            if self.sending.is_none() {
                return;
            }
        }
    }

    fn offer(&mut self, now: Time, p: &Packet, sender: &Sender, meter: &mut QueueMeter, trace: &mut Trace) {
        let p = p.queued_at(now);
        meter.offered(now);
        self.qdisc.enqueue(&mut Cx { now, rng: &mut self.rng }, sender, p, &mut self.sink);
        meter.settle(now, &mut self.sink, trace);
    }
}

/// The transmitter: what happens to a packet once it has left the queue.
#[derive(Debug)]
struct Sender {
    /// Bits per second; 0 for no sending time.
    rate: u64,
    delay: Span,
    loss: Option<Box<(Box<dyn Loss>, Rng)>>,
    /// The last packet size and its sending time: most packets of a direction have one size, and the division is the
    /// dearest step.
    known: (u32, Span),
}

impl Sender {
    fn sending_time(&mut self, size: u32) -> Span {
        if self.rate == 0 {
            return Span::ZERO;
        }
        if self.known.0 != size {
            self.known = (size, Span::of_bits(8 * u64::from(size), self.rate));
        }
        self.known.1
    }

    fn arrives(&self, s: &Sent) -> Time {
        s.ends.saturating_add(self.delay)
    }

    /// Decides what became of a packet that has now arrived. Asked no earlier, because a backlog may reach far beyond
    /// the end of the run.
    fn loses(&mut self, s: &Sent) -> bool {
        match &mut self.loss {
            Some(loss) => loss.0.lost(&mut Cx { now: s.ends, rng: &mut loss.1 }, s.packet.size, Some(&s.packet)),
            None => false,
        }
    }
}

impl Link for Sender {
    fn neighbour(&self, _: &Packet) -> u32 {
        0
    }
    fn exchange(&self, _: u32, bytes: u32) -> Span {
        if self.rate == 0 { Span::ZERO } else { Span::of_bits(8 * u64::from(bytes), self.rate) }
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Input, Node, NodeId, Out, WireId, World};
    use contend_core::registry::{Args, Choice, DropRule, Value, find};
    use contend_core::{Address, Body};
    use proptest::prelude::*;

    /// Sends packets of these sizes at these instants, numbered, to the first wire.
    #[derive(Debug)]
    struct Feeder(VecDeque<(Time, Packet)>);
    impl Node for Feeder {
        fn handle(&mut self, now: Time, _: Input<'_>, out: &mut Out<'_>) -> Time {
            while let Some(&(at, p)) = self.0.front().filter(|(at, _)| *at <= now) {
                assert_eq!(at, now);
                out.send(Peer::Wire(WireId(0)), &p);
                self.0.pop_front();
            }
            self.0.front().map_or(Time::NEVER, |(at, _)| *at)
        }
    }

    /// Notes when which packet came.
    #[derive(Debug, Default)]
    struct Catcher(Vec<(u64, u64)>);
    impl Node for Catcher {
        fn handle(&mut self, now: Time, input: Input<'_>, _: &mut Out<'_>) -> Time {
            if let Input::Packet(_, Packet { body: Body::Udp { seq }, .. }) = input {
                self.0.push((now.as_nanos(), *seq));
            }
            Time::NEVER
        }
    }

    fn packet(seq: u64, size: u32) -> Packet {
        Packet::new(FlowId(0), size, Time::ZERO, Body::Udp { seq })
    }

    fn spec(rate: u64, delay: Span, limit: Amount) -> WireSpec {
        let mut args = Args::default();
        args.set("limit", Value::Amount(limit));
        WireSpec {
            rate,
            delay,
            queue: Choice { entry: find(contend_core::qdisc::REGISTRY, "fifo").unwrap(), args },
            loss: None,
        }
    }

    fn losing(mut spec: WireSpec, name: &str, values: &[(&'static str, Value)]) -> WireSpec {
        let mut args = Args::default();
        for (n, v) in values {
            args.set(n, v.clone());
        }
        spec.loss = Some(Choice { entry: find(crate::loss::REGISTRY, name).unwrap(), args });
        spec
    }

    /// Which of the two paths through the code is taken.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Path {
        Ring,
        General,
    }
    const BOTH: [Path; 2] = [Path::Ring, Path::General];

    /// A feeder of (nanoseconds, size), a wire, a catcher.
    fn world(spec: &WireSpec, path: Path, feed: &[(u64, u32)]) -> World {
        let mut w = World::new(Trace::new());
        let feed: VecDeque<_> =
            feed.iter().enumerate().map(|(i, &(at, size))| (Time::from_nanos(at), packet(i as u64, size))).collect();
        let first = feed.front().map_or(Time::NEVER, |f| f.0);
        w.add(Box::new(Feeder(feed)), first);
        w.add(Box::new(Catcher::default()), Time::NEVER);
        let to = FarEnd::Peer(Peer::Node(NodeId(1), 0));
        let mut wire = Wire::new(1, "link.a", spec, to, &|n| (n == "f").then_some(FlowId(0))).unwrap();
        if path == Path::General {
            wire.queue = general(Box::new(Fifo::new(spec.queue.args.amount("limit"))), stream(1, "link.a", "queue"));
        }
        w.wire(wire);
        w
    }

    fn wire(w: &mut World) -> &mut Wire {
        w.wire_mut(WireId(0)).unwrap()
    }

    fn caught(w: &World) -> &[(u64, u64)] {
        &w.node::<Catcher>(NodeId(1)).unwrap().0
    }

    const SECOND: Time = Time::from_nanos(1_000_000_000);

    /// 1000 B at 8 Mb/s are 1 ms, 40 B are 40 us.
    #[test]
    fn packets_arrive_when_a_hand_says() {
        for path in BOTH {
            let feed = [(0, 1000), (100_000, 40), (200_000, 1000), (5_000_000, 40)];
            let mut w = world(&spec(8_000_000, Span::from_millis(10), Amount::Packets(100)), path, &feed);
            w.run_until(SECOND);
            assert_eq!(caught(&w), [(11_000_000, 0), (11_040_000, 1), (12_040_000, 2), (15_040_000, 3)], "{path:?}");
        }
    }

    #[test]
    fn the_queue_is_full_at_exactly_its_limit_and_the_packet_being_sent_is_outside() {
        for path in BOTH {
            // One is being sent, three wait, the fifth is dropped; at 1 ms, as the first is through, there is room for
            // one.
            let feed = [
                (0, 1000),
                (0, 1000),
                (0, 1000),
                (0, 1000),
                (0, 1000),
                (999_999, 1000),
                (1_000_000, 1000),
                (1_000_000, 1000),
            ];
            for limit in [Amount::Packets(3), Amount::Bytes(3000), Amount::Bytes(3999)] {
                let mut w = world(&spec(8_000_000, Span::ZERO, limit), path, &feed);
                w.run_until(SECOND);
                let got: Vec<u64> = caught(&w).iter().map(|c| c.1).collect();
                assert_eq!(got, [0, 1, 2, 3, 6], "{path:?} {limit:?}");
                assert_eq!(wire(&mut w).meter(SECOND).read(SECOND).dropped, [0, 0, 0, 3]);
            }
            // A byte limit lets in what fits, even after a larger packet did not.
            let mut w = world(
                &spec(8_000_000, Span::ZERO, Amount::Bytes(2000)),
                path,
                &[(0, 1000), (0, 1500), (0, 501), (0, 500), (0, 1)],
            );
            w.run_until(SECOND);
            assert_eq!(caught(&w).iter().map(|c| c.1).collect::<Vec<_>>(), [0, 1, 3], "{path:?}");
        }
    }

    #[test]
    fn a_wire_without_a_rate_hands_over_after_the_delay_in_order_and_never_fills() {
        for path in BOTH {
            let feed: Vec<_> = (0..50).map(|i| (i / 10, 1500)).collect();
            let mut w = world(&spec(0, Span::from_nanos(5), Amount::Packets(1)), path, &feed);
            w.run_until(SECOND);
            let want: Vec<_> = (0..50).map(|i| (i / 10 + 5, i)).collect();
            assert_eq!(caught(&w), want, "{path:?}");
        }
    }

    /// Three packets at 0, 1 ms each: they wait 0, 1 and 2 ms; the mean number over 4 ms is 3/4.
    #[test]
    fn the_meter_shows_waiting_up_to_the_first_bit_even_between_events() {
        for path in BOTH {
            let mut w = world(
                &spec(8_000_000, Span::from_millis(50), Amount::Packets(9)),
                path,
                &[(0, 1000), (0, 1000), (0, 1000)],
            );
            let t = Time::from_nanos(1_500_000);
            w.run_until(t);
            let m = wire(&mut w).meter(t);
            assert_eq!((m.waiting(), m.read(t).packet_ns), (1, 2_500_000), "{path:?}");
            let t = Time::from_nanos(4_000_000);
            w.run_until(t);
            let m = wire(&mut w).meter(t);
            let c = m.read(t);
            assert_eq!((c.offered, c.taken, c.packet_ns), (3, 3, 3_000_000), "{path:?}");
            assert!((m.delay.mean_ms() - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn a_lost_packet_has_used_its_sending_time() {
        for path in BOTH {
            let rule = DropRule { flow: "f".into(), segment: 1, copy: 0 };
            let s = losing(
                spec(8_000_000, Span::from_millis(10), Amount::Packets(9)),
                "script",
                &[("drop", Value::Drops(vec![rule]))],
            );
            let mut w = world(&s, path, &[(0, 1000), (0, 1000), (0, 1000)]);
            w.run_until(SECOND);
            assert_eq!(caught(&w), [(11_000_000, 0), (13_000_000, 2)], "{path:?}");
            assert_eq!(wire(&mut w).lost(), &[0, 0, 0, 1]);
        }
    }

    /// Down from 2 ms to 4 ms: lost is what sends its last bit in that time, however long it propagates.
    #[test]
    fn an_outage_takes_what_is_sent_while_it_lasts() {
        let ms = |n| Time::ZERO + Span::from_millis(n);
        for path in BOTH {
            let s = losing(
                spec(8_000_000, Span::from_millis(100), Amount::Packets(9)),
                "script",
                &[("outage", Value::Intervals(vec![(ms(2), ms(4))]))],
            );
            let mut w = world(&s, path, &[(0, 1000); 6]);
            w.run_until(SECOND);
            assert_eq!(caught(&w).iter().map(|c| c.1).collect::<Vec<_>>(), [0, 3, 4, 5], "{path:?}");
        }
    }

    #[test]
    fn the_slowest_wire_with_the_deepest_queue_neither_stops_nor_overflows() {
        let s = losing(
            spec(1, Span::MAX, Amount::Packets(1_000_000_000)),
            "gilbert_elliott",
            &[("good", Value::Time(Span::from_millis(1))), ("bad", Value::Time(Span::from_millis(1)))],
        );
        for path in BOTH {
            let mut w = world(&s, path, &[(0, u32::MAX); 3000]);
            w.run_until(SECOND);
            assert_eq!(wire(&mut w).in_flight(), 3000);
        }
    }

    fn feeds() -> impl Strategy<Value = Vec<(u64, u32)>> {
        // Gaps and sizes from few values, so that arrivals meet ends of sending exactly.
        prop::collection::vec(
            (
                prop::sample::select(vec![0u64, 0, 1, 40_000, 500_000, 1_000_000, 3_000_000]),
                prop::sample::select(vec![40u32, 500, 1000, 1500]),
            ),
            1..200,
        )
        .prop_map(|v| {
            let mut at = 0;
            v.into_iter()
                .map(|(gap, size)| {
                    at += gap;
                    (at, size)
                })
                .collect()
        })
    }

    fn limits() -> impl Strategy<Value = Amount> {
        prop_oneof![(1u64..12).prop_map(Amount::Packets), (40u64..9000).prop_map(Amount::Bytes)]
    }

    proptest! {
        #[test]
        fn ring_and_general_path_are_the_same_to_the_bit(feed in feeds(), limit in limits(), fast: bool, delay in 0u64..3_000_000, p in 0.0f64..0.5, cut in 0u64..100_000_000) {
            let s = spec(if fast { 0 } else { 8_000_000 }, Span::from_nanos(delay), limit);
            let s = losing(s, "bernoulli", &[("p", Value::Number(p)), ("on", Value::Word("all".into()))]);
            let (mut a, mut b) = (world(&s, Path::Ring, &feed), world(&s, Path::General, &feed));
            for end in [Time::from_nanos(cut), SECOND] {
                a.run_until(end);
                b.run_until(end);
                prop_assert_eq!(caught(&a), caught(&b));
                prop_assert_eq!(a.trace.digest(), b.trace.digest());
                let (x, y) = (wire(&mut a).meter(end).clone(), wire(&mut b).meter(end).clone());
                prop_assert_eq!(x.read(end), y.read(end));
                prop_assert_eq!(x.delay.buckets().collect::<Vec<_>>(), y.delay.buckets().collect::<Vec<_>>());
                prop_assert_eq!((wire(&mut a).lost, wire(&mut a).in_flight()), (wire(&mut b).lost, wire(&mut b).in_flight()));
            }
            prop_assert!(a.events() <= b.events());
        }

        #[test]
        fn two_wires_in_a_row_are_the_same_joined_and_apart_to_the_bit(
            feed in feeds(), limits in (limits(), 0u64..12), fast in (any::<bool>(), any::<bool>()), delays in (0u64..3_000_000, 0u64..3_000_000), p in 0.0f64..0.5,
            cut in 0u64..100_000_000,
        ) {
            let rate = |fast, slow| if fast { 0 } else { slow };
            let first = spec(rate(fast.0, 16_000_000), Span::from_nanos(delays.0), limits.0);
            let second = spec(rate(fast.1, 8_000_000), Span::from_nanos(delays.1), Amount::Packets(limits.1));
            let second = losing(second, "bernoulli", &[("p", Value::Number(p)), ("on", Value::Word("all".into()))]);
            let [mut a, mut b] = [true, false].map(|joined| {
                let mut w = world(&second, Path::Ring, &feed);
                // The feeder sends into the first wire that there is.
                let before = Wire::new(1, "link.b", &first, FarEnd::Peer(Peer::Wire(WireId(1))), &|_| None).unwrap();
                let after = std::mem::replace(wire(&mut w), before);
                w.wire(after);
                if joined {
                    w.join(WireId(0), WireId(1));
                }
                w
            });
            for end in [Time::from_nanos(cut), SECOND] {
                a.run_until(end);
                b.run_until(end);
                prop_assert_eq!(caught(&a), caught(&b));
                prop_assert_eq!(a.trace.digest(), b.trace.digest());
                for i in [0, 1].map(WireId) {
                    let (x, y) = (a.wire_mut(i).unwrap(), b.wire_mut(i).unwrap());
                    prop_assert_eq!(x.meter(end).read(end), y.meter(end).read(end));
                    prop_assert_eq!(x.meter(end).delay.buckets().collect::<Vec<_>>(), y.meter(end).delay.buckets().collect::<Vec<_>>());
                    prop_assert_eq!((x.lost, x.delivered, x.in_flight()), (y.lost, y.delivered, y.in_flight()));
                }
            }
            prop_assert!(a.events() <= b.events());
            prop_assert!(a.wires()[1].fed_by().is_some());
        }

        #[test]
        fn every_packet_offered_is_somewhere(feed in feeds(), limit in limits(), cut in 0u64..100_000_000, p in 0.0f64..0.5) {
            for path in BOTH {
                let s = losing(spec(8_000_000, Span::from_millis(5), limit), "bernoulli", &[("p", Value::Number(p)), ("on", Value::Word("all".into()))]);
                let mut w = world(&s, path, &feed);
                let end = Time::from_nanos(cut);
                w.run_until(end);
                let delivered = caught(&w).len() as u64;
                let x = wire(&mut w);
                let c = x.meter(end).read(end);
                prop_assert_eq!(x.delivered(), delivered);
                prop_assert_eq!(c.offered, feed.iter().filter(|f| f.0 <= cut).count() as u64);
                prop_assert_eq!(c.offered, delivered + c.drops() + x.lost().iter().sum::<u64>() + x.in_flight());
                prop_assert!(caught(&w).windows(2).all(|c| c[0].1 < c[1].1), "in order");
            }
        }
    }

    /// First in, first out, but a packet is dropped whenever a second one is asked for.
    #[derive(Debug)]
    struct Halving(Fifo, bool);
    impl Qdisc for Halving {
        fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
            self.0.enqueue(cx, link, p, sink);
        }
        fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
            self.1 = !self.1;
            if !self.1 {
                let p = self.0.dequeue(cx, link, sink).unwrap();
                sink.drop(p, Drop::Full);
            }
            self.0.dequeue(cx, link, sink)
        }
        fn backlog(&self) -> Backlog {
            self.0.backlog()
        }
        fn limit(&self) -> Option<Amount> {
            self.0.limit()
        }
    }

    #[test]
    fn what_a_discipline_drops_when_it_is_asked_for_the_next_packet_is_counted() {
        let mut w = world(&spec(8_000_000, Span::ZERO, Amount::Packets(9)), Path::General, &[(0, 1000); 6]);
        wire(&mut w).queue =
            general(Box::new(Halving(Fifo::new(Amount::Packets(9)), false)), stream(1, "link.a", "queue"));
        w.run_until(SECOND);
        assert_eq!(caught(&w), [(1_000_000, 0), (2_000_000, 2), (3_000_000, 3), (4_000_000, 5)]);
        assert_eq!((wire(&mut w).meter(SECOND).read(SECOND).drops(), wire(&mut w).in_flight()), (2, 0));
    }

    #[test]
    fn a_router_follows_its_table_and_what_has_no_route_is_lost() {
        let mut w = World::new(Trace::new());
        let data = |seq, dst| (Time::from_nanos(seq), packet(seq, 100).between(Address(9), Address(dst)));
        let feed = [data(0, 0), data(1, 1), data(2, 2), data(3, 3), data(4, 4)];
        w.add(Box::new(Feeder(feed.into())), Time::ZERO);
        w.add(Box::new(Catcher::default()), Time::NEVER);
        w.add(Box::new(Catcher::default()), Time::NEVER);
        let to = |n| Some(Peer::Node(NodeId(n), 0));
        let routes = FarEnd::Lookup([to(1), to(2), to(2), None].into_iter().collect());
        w.wire(Wire::new(1, "link.a", &spec(0, Span::ZERO, Amount::Packets(9)), routes, &|_| None).unwrap());
        w.run_until(SECOND);
        assert_eq!(caught(&w), [(0, 0)]);
        assert_eq!(w.node::<Catcher>(NodeId(2)).unwrap().0, [(1, 1), (2, 2)]);
        assert_eq!((wire(&mut w).delivered(), wire(&mut w).lost().iter().sum::<u64>()), (3, 2));
    }
}
