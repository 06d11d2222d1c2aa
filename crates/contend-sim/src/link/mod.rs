//! Wires: one direction of a link, and the table of the host or router at its end.
//!
//! A packet that is offered to a [`Wire`] waits in its queue, is sent for `8 size / rate` and propagates for `delay`.
//! When its last bit arrives, the packet is handed over or found to be lost. The rate is constant, or it follows a
//! table or a trace ([`WireRate`]). Three rules hold for every discipline:
//!
//! * In one instant, the end of a transmission comes before arrivals. Which packet finds the queue full therefore does
//!   not depend on the numbers of nodes.
//! * The packet that is being sent is not in the queue and does not count against the limit (as in ns-2).
//! * The loss process is asked once for each packet, in order, with the time at which its last bit left. A lost packet
//!   uses its transmission time, and counts as propagating until its last bit would have arrived.
//!
//! A drop-tail queue needs no event at the end of a transmission, because the departure of a packet is known when the
//! packet arrives. Waiting, sent and propagating packets are in one ring with one deadline. Every other discipline
//! needs one more wake-up for each packet.

mod bad_entry;
mod deliveries;
mod disciplined;
mod drop_tail;
mod joined;
mod line;
mod rate;
mod ring;
mod steps;
#[cfg(test)]
mod tests;
mod transmitter;

pub use self::bad_entry::BadEntry;
pub use self::deliveries::Deliveries;
pub use self::rate::WireRate;
pub use self::steps::RateSteps;

use self::disciplined::Disciplined;
use self::drop_tail::DropTail;
use self::joined::Joined;
use self::line::Line;
use self::rate::Pace;
use self::ring::Ring;
use self::transmitter::Transmitter;
use crate::forwarding::ForwardingTable;
use crate::loss::{self, Losses};
use crate::peer::Peer;
use crate::rng::stream;
use crate::stats::{QueueMeter, TransmitterCounters, count};
use crate::trace::{Event, Trace};
use contend_core::Refusal;
use contend_core::packet::PacketKind;
use contend_core::qdisc::fifo::Fifo;
use contend_core::qdisc::{self, Site};
use contend_core::registry::{Amount, Choice, Fact};
use contend_core::{FlowId, Packet, Span, Time};

/// The properties of a wire.
#[derive(Clone, Debug)]
pub struct WireSpec {
    /// How fast it sends.
    pub rate: WireRate,
    /// One-way propagation delay.
    pub delay: Span,
    /// Queue discipline of the packets that wait for the wire.
    pub queue: Choice<qdisc::Build>,
    /// Loss process behind the queue: a lost packet has used its sending time.
    pub loss: Option<Choice<loss::Build>>,
}

/// One direction of a link.
///
/// The fields that every packet needs stand together: with thousands of wires, the time for a packet is the time to
/// load the cache lines that it touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Wire {
    queue: WireQueue,
    /// Packets that are sent, or will be sent at a known time (drop-tail), in the order of arrival at the far end.
    ring: Ring,
    transmitter: Transmitter,
    to: FarEnd,
    joined: Joined,
    /// The last deadline that was announced to the world, if a wire is joined in front.
    announced: Time,
    delivered: u64,
    /// Bytes of the packets that were delivered or lost.
    bytes: u64,
    meter: QueueMeter,
    lost: [u64; 4],
}

/// Where the far end of a wire hands packets over.
#[derive(Clone, Debug)]
pub enum FarEnd {
    /// At this peer.
    Peer(Peer),
    /// At the next hop to its destination, by the table of the host or router at the far end. A packet without a next
    /// hop is dropped and counts as lost on the wire.
    Lookup(ForwardingTable),
}

impl FarEnd {
    /// Where `p` is handed over; `None` if there is no next hop to its destination.
    pub fn of(&self, p: &Packet) -> Option<Peer> {
        match self {
            FarEnd::Peer(to) => Some(*to),
            FarEnd::Lookup(table) => table.next_hop(p.dst),
        }
    }
}

/// The queue of a wire.
#[derive(Debug)]
enum WireQueue {
    DropTail(DropTail),
    Disciplined(Box<Disciplined>),
}

impl Wire {
    /// The wire called `name` at `site`, which hands its packets to `to`.
    /// `flow` turns a flow's name into its number, for scripted losses.
    ///
    /// # Errors
    /// If the discipline or the loss process refuses a parameter; the text is theirs.
    pub fn new(
        seed: u64,
        name: &str,
        spec: &WireSpec,
        to: FarEnd,
        site: &Site<'_>,
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Wire, Refusal> {
        let drop_tail = spec.queue.entry.has(Fact::DropTail) && !qdisc::filters_acks(&spec.queue);
        let queue = match spec.queue.limit().filter(|_| drop_tail) {
            Some(limit) => WireQueue::DropTail(DropTail::new(limit)),
            None => {
                let qdisc = qdisc::queue(&spec.queue, site)?;
                WireQueue::Disciplined(Box::new(Disciplined::new(qdisc, stream(seed, name, "queue"))))
            }
        };
        let losses = match &spec.loss {
            Some(l) => Some((l.entry.build)(&l.args, flow)?)
                .filter(|l| !l.never())
                .map(|l| Box::new(Losses::new(l, stream(seed, name, "loss")))),
            None => None,
        };
        Ok(Wire::of(Transmitter::new(Pace::new(&spec.rate), spec.delay, losses), queue, to))
    }

    /// A network card: a drop-tail queue with `limit` and a cable of `rate`. It can be paused.
    pub fn card(seed: u64, name: &str, rate: u64, delay: Span, limit: Amount, to: FarEnd) -> Wire {
        let queue = Disciplined::new(Box::new(Fifo::new(limit)), stream(seed, name, "queue"));
        Wire::of(Transmitter::new(Pace::Constant(rate), delay, None), WireQueue::Disciplined(Box::new(queue)), to)
    }

    fn of(transmitter: Transmitter, queue: WireQueue, to: FarEnd) -> Wire {
        Wire {
            transmitter,
            ring: Ring::default(),
            queue,
            meter: QueueMeter::default(),
            to,
            joined: Joined::No,
            announced: Time::NEVER,
            delivered: 0,
            bytes: 0,
            lost: [0; 4],
        }
    }

    /// The meter of the queue at `now`, the time of the last event or later. A packet counts as taken when its first
    /// bit leaves.
    pub fn meter(&mut self, now: Time) -> &mut QueueMeter {
        if let WireQueue::DropTail(q) = &mut self.queue {
            q.settle(now, &self.ring, &mut self.meter);
        }
        &mut self.meter
    }

    /// Packets lost on the wire (not in its queue) so far, by [`PacketKind`].
    pub fn lost(&self) -> &[u64; PacketKind::ALL.len()] {
        &self.lost
    }

    /// How many more packets its loss process took so far than its probabilities say. Its mean is 0.
    pub fn excess_losses(&self) -> f64 {
        self.transmitter.excess_losses()
    }

    /// Packets handed over at the far end so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets that wait, are being sent, or propagate. At any time offered = delivered + dropped + lost + in flight.
    pub fn in_flight(&self) -> u64 {
        let before = match &self.queue {
            WireQueue::DropTail(_) => 0,
            WireQueue::Disciplined(q) => q.waiting() + q.sending(),
        };
        self.ring.len() as u64 + before
    }

    /// The meter of the queue at `now`, see [`Wire::meter`], and the packets that wait in the queue.
    pub fn queue(&mut self, now: Time) -> (&mut QueueMeter, u64) {
        self.meter(now);
        let waiting = self.waiting();
        (&mut self.meter, waiting)
    }

    /// The probability of its discipline's law.
    pub fn probability(&self) -> Option<f64> {
        match &self.queue {
            WireQueue::DropTail(_) => None,
            WireQueue::Disciplined(q) => q.probability(),
        }
    }

    /// Counts of the packets that left the queue until `now`, by their fate.
    pub fn transmitter(&mut self, now: Time) -> TransmitterCounters {
        let taken = self.meter(now).read(now).taken;
        let (delivered, lost) = (self.delivered, self.lost.iter().sum());
        TransmitterCounters { taken, delivered, lost, carrying: self.in_flight() - self.waiting(), bytes: self.bytes }
    }

    /// Packets in the queue, as of the last call of [`Wire::meter`].
    fn waiting(&self) -> u64 {
        match &self.queue {
            WireQueue::DropTail(q) => q.waiting.packets,
            WireQueue::Disciplined(q) => q.waiting(),
        }
    }

    #[inline(always)]
    fn line<'a>(&'a mut self, trace: &'a mut Trace) -> (&'a mut WireQueue, Line<'a>) {
        let Wire { queue, transmitter, ring, meter, .. } = self;
        (queue, Line { transmitter, ring, meter, trace })
    }

    /// Takes `p` at the near end at `now`. The caller then asks for [arrivals](Wire::arrival).
    #[inline(always)]
    pub fn offer(&mut self, now: Time, p: &Packet, trace: &mut Trace) {
        let (queue, mut line) = self.line(trace);
        match queue {
            WireQueue::DropTail(q) => q.offer(now, p, &mut line),
            WireQueue::Disciplined(q) => q.offer(now, p, &mut line),
        }
    }

    /// True if the packet that was offered last, at `now`, changes no deadline: another one arrives first, after `now`.
    #[inline(always)]
    pub fn has_earlier(&self, now: Time) -> bool {
        matches!(self.queue, WireQueue::DropTail(_)) && self.ring.len() > 1 && self.deadline() > now
    }

    /// Handles the deadlines at the near end up to `now`.
    #[inline]
    pub fn wake(&mut self, now: Time, trace: &mut Trace) {
        if let (WireQueue::Disciplined(q), mut line) = self.line(trace) {
            q.wake(now, &mut line);
        }
    }

    /// With `pause`, the wire begins no further packet from `now` on; without, it continues. Only a wire made by
    /// [`Wire::card`] can pause.
    pub fn pause(&mut self, now: Time, pause: bool, trace: &mut Trace) {
        if let (WireQueue::Disciplined(q), mut line) = self.line(trace) {
            q.pause(now, pause, &mut line);
        }
    }

    /// Takes the next packet that has arrived at the far end by `now`. The caller hands it over to the peer. Lost
    /// packets are skipped.
    #[inline(always)]
    pub fn arrival(&mut self, now: Time, trace: &mut Trace) -> Option<(Peer, &Packet)> {
        loop {
            let s = self.ring.front().filter(|s| self.transmitter.arrives(s) <= now)?;
            let gone = if self.transmitter.loses(s) {
                Event::Lost
            } else if let Some(to) = self.to.of(&s.packet) {
                return self.handed_over(now).map(|p| (to, p));
            } else {
                Event::Dropped
            };
            self.lose(now, gone, trace);
        }
    }

    /// Counts the arrived packet as lost.
    #[cold]
    fn lose(&mut self, now: Time, gone: Event, trace: &mut Trace) {
        if let Some(s) = self.ring.front() {
            self.lost[s.packet.kind() as usize] += 1;
            trace.packet(now, gone, &s.packet);
        }
        self.pop(now);
    }

    /// Counts the packet that has arrived at `now` as handed over, and returns it.
    #[inline]
    fn handed_over(&mut self, now: Time) -> Option<&Packet> {
        count(&mut self.delivered);
        self.pop(now)
    }

    #[inline]
    fn pop(&mut self, now: Time) -> Option<&Packet> {
        if let WireQueue::DropTail(q) = &mut self.queue {
            // A packet that has arrived is no longer in the queue.
            q.settle(now, &self.ring, &mut self.meter);
        }
        let s = self.ring.pop()?;
        self.bytes += u64::from(s.packet.size);
        Some(&s.packet)
    }

    /// Its rate in bits per second, if that is constant and finite.
    pub fn rate(&self) -> Option<u64> {
        self.transmitter.rate()
    }

    /// The next deadline.
    #[inline]
    pub fn deadline(&self) -> Time {
        let arrival = self.ring.front().map_or(Time::NEVER, |s| self.transmitter.arrives(s));
        match &self.queue {
            WireQueue::Disciplined(q) => q.deadline().min(arrival),
            WireQueue::DropTail(_) => arrival,
        }
    }
}
