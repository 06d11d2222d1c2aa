//! A drop-tail queue without events of its own: the departure of a packet is known when the packet arrives.

use super::line::Line;
use super::ring::Ring;
use crate::stats::QueueMeter;
use crate::trace::Event;
use contend_core::qdisc::{Backlog, DropReason};
use contend_core::registry::Amount;
use contend_core::{Packet, Time};

/// The part of the ring that waits.
#[derive(Debug)]
pub(super) struct DropTail {
    pub(super) limit: Amount,
    /// Packets at the back of the ring that have not begun to be sent, as of the last call.
    pub(super) waiting: Backlog,
    /// When the first of them begins; the next begins when it ends.
    begins: Time,
    /// When the last packet of the ring has been sent.
    free: Time,
}

impl DropTail {
    pub(super) fn new(limit: Amount) -> DropTail {
        DropTail { limit, waiting: Backlog::default(), begins: Time::NEVER, free: Time::ZERO }
    }

    /// Tells the meter which packets have left the queue by `now`.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, ring: &Ring, meter: &mut QueueMeter) {
        while self.begins <= now {
            self.begin(ring, meter);
        }
    }

    /// Tells the meter that the first waiting packet has left the queue.
    #[inline(never)]
    fn begin(&mut self, ring: &Ring, meter: &mut QueueMeter) {
        let first = ring.len() - self.waiting.packets as usize;
        let mut next = Time::NEVER;
        if let Some(s) = ring.get(first) {
            meter.taken(self.begins, &s.packet);
            self.waiting.remove(&s.packet);
            if self.waiting.packets > 0 {
                next = s.ends;
            }
        }
        self.begins = next;
    }

    #[inline(always)]
    pub(super) fn offer(&mut self, now: Time, p: &Packet, line: &mut Line<'_>) {
        self.settle(now, line.ring, line.meter);
        if !self.waiting.has_room(self.limit, p) {
            return full(now, p, line);
        }
        let starts = self.free.max(now);
        if starts == now {
            line.meter.passed();
        } else {
            line.meter.offered(now);
            self.waiting.add(p);
            self.begins = self.begins.min(starts);
        }
        self.free = line.transmitter.ends(starts, now, p.size);
        line.ring.push(p, now, self.free);
    }
}

/// Drops `p`, which finds the queue full.
#[cold]
fn full(now: Time, p: &Packet, line: &mut Line<'_>) {
    line.meter.offered(now);
    line.meter.dropped(now, p, DropReason::Full);
    line.trace.packet(now, Event::Dropped, p);
}
