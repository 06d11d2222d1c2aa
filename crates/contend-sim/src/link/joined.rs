//! Two wires in a row, of which only the second is woken.

use super::{Wire, WireQueue};
use crate::peer::WireId;
use crate::trace::Trace;
use contend_core::Time;

/// What a wire has to do with the one before or behind it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Joined {
    No,
    /// It is the first: all that arrives is taken by this one.
    To(WireId),
    /// It is the second: it takes all that arrives at this one, and nothing else.
    FedBy(WireId),
}

impl Wire {
    /// Joins this wire, `first`, to `second`, the only one that it feeds and that is fed by nobody else, when that
    /// changes nothing but the number of wake-ups: what it carries arrives at a known time, the second's queue can only
    /// overflow when so many more have come, and neither wire is one of another pair.
    pub fn join(&mut self, to: &mut Wire, first: WireId, second: WireId) {
        let known = matches!(self.queue, WireQueue::DropTail(_))
            && self.transmitter.loses_nothing()
            && matches!((&self.joined, &to.joined), (Joined::No, Joined::No));
        if known && matches!(&to.queue, WireQueue::DropTail(q) if q.limit.packets().is_some()) {
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

    /// [`Wire::deadline`] of one that has just pulled from `first`: its next arrival, and before that whenever its
    /// queue might overflow, so that what is dropped is dropped in time.
    pub fn deadline_behind(&self, first: &Wire) -> Time {
        let decides = first.ring.get(self.decides()).map_or(Time::NEVER, |s| first.transmitter.arrives(s));
        self.ring.front().map_or(decides, |s| self.transmitter.arrives(s).min(decides))
    }

    /// True if a packet that `first`, which it is joined to, was offered at `now` cannot change the deadline already
    /// told: the packet that decides the deadline came earlier, and nothing is due in this very instant. It may not
    /// have pulled for a while; the fuller its queue seems, the earlier its deadline.
    pub fn can_wait(&self, first: &Wire, now: Time) -> bool {
        let i = self.decides();
        let arrives = |s| first.transmitter.arrives(s);
        let told = first.ring.get(i).is_none_or(|s| i + 1 < first.ring.len() && arrives(s) > now);
        told && self.ring.front().is_none_or(|s| self.transmitter.arrives(s) > now)
    }

    /// Which of the packets on the wire before this one may decide when it is woken: the one that may find its queue
    /// full, or the first when it carries nothing.
    fn decides(&self) -> usize {
        match &self.queue {
            WireQueue::DropTail(q) if !self.ring.is_empty() => {
                q.limit.packets().unwrap_or(0).saturating_sub(q.waiting.packets) as usize
            }
            _ => 0,
        }
    }
}
