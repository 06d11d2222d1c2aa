//! Two wires in a row, of which only the second is woken.

use super::{Wire, WireQueue};
use crate::peer::WireId;
use crate::trace::Trace;
use contend_core::Time;

/// How a wire is joined to another wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Joined {
    No,
    /// It is the first. The wire with this number takes every packet that arrives.
    To(WireId),
    /// It is the second. It takes every packet that arrives at the wire with this number, and no other packet.
    FedBy(WireId),
}

impl Wire {
    /// Joins this wire, `first`, to `second`, if the join changes only the number of wake-ups: packets of this wire
    /// arrive at known times, the limit of the second queue is in packets, and neither wire is joined already. All
    /// packets of this wire go to `second`, and `second` gets no others. True if they are joined.
    pub fn join(&mut self, to: &mut Wire, first: WireId, second: WireId) -> bool {
        let known = matches!(self.queue, WireQueue::DropTail(_))
            && self.transmitter.loses_nothing()
            && matches!((&self.joined, &to.joined), (Joined::No, Joined::No));
        let joins = known && matches!(&to.queue, WireQueue::DropTail(q) if q.limit.packets().is_some());
        if joins {
            (self.joined, to.joined) = (Joined::To(second), Joined::FedBy(first));
        }
        joins
    }

    /// The wire that takes the packets that arrive here, without an event.
    pub fn joined_to(&self) -> Option<WireId> {
        if let Joined::To(w) = self.joined { Some(w) } else { None }
    }

    /// The wire in front, from which this wire takes all packets that arrive.
    #[inline]
    pub fn fed_by(&self) -> Option<WireId> {
        if let Joined::FedBy(w) = self.joined { Some(w) } else { None }
    }

    /// Takes the packets that have arrived at `first`, the wire in front, by `now`, each at its own time.
    #[inline(always)]
    pub fn pull(&mut self, first: &mut Wire, now: Time, trace: &mut Trace) {
        while let Some(s) = first.ring.front()
            && first.transmitter.arrives(s) <= now
        {
            let at = first.transmitter.arrives(s);
            self.offer(at, &s.packet, trace);
            first.handed_over(at);
        }
        if let WireQueue::DropTail(q) = &mut self.queue {
            q.settle(now, &self.ring, &mut self.meter);
        }
    }

    /// [`Wire::deadline`] of a wire that has just pulled from `first`: its next arrival, or earlier the first time at
    /// which its queue may overflow, so that packets are dropped in time.
    pub fn announce_behind(&mut self, first: &Wire) -> Time {
        let decides = first.ring.get(self.decides()).map_or(Time::NEVER, |s| first.transmitter.arrives(s));
        self.announced = self.ring.front().map_or(decides, |s| self.transmitter.arrives(s).min(decides));
        self.announced
    }

    /// True if the packet that `first`, the wire in front, was offered at `now` cannot change the announced deadline:
    /// another packet decides the deadline, and nothing is due now. The last pull may be some time ago. The queue then
    /// seems fuller than it is, and the deadline is too early, which does no harm.
    #[inline]
    pub fn can_wait(&self, first: &Wire, now: Time) -> bool {
        self.announced > now && first.ring.len() != self.decides() + 1
    }

    /// The index of the packet of the wire in front that decides the deadline: the packet that may find this queue
    /// full, or the first packet if this wire is empty.
    fn decides(&self) -> usize {
        match &self.queue {
            WireQueue::DropTail(q) if !self.ring.is_empty() => {
                q.limit.packets().unwrap_or(0).saturating_sub(q.waiting.packets) as usize
            }
            _ => 0,
        }
    }
}
