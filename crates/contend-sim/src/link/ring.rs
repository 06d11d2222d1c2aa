//! The packets that have left a queue, or will leave it at a known time, in the order of arrival at the far end.

use contend_core::{Packet, Time};

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) packet: Packet,
    /// When its last bit leaves the transmitter.
    pub(super) ends: Time,
}

/// A FIFO. Unlike a `VecDeque` it is written in place, so that each packet is copied once.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Their number is a power of two, or 0. Slots that are not in use hold old packets.
    slots: Vec<InFlight>,
    /// Place of the first packet.
    head: usize,
    len: usize,
}

impl Ring {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&InFlight> {
        self.get(0)
    }

    /// The packet behind `i` others.
    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<&InFlight> {
        if i < self.len { self.slots.get(self.place(i)) } else { None }
    }

    /// Adds `p`, which entered the queue at `queued` and whose last bit leaves the transmitter at `ends`.
    #[inline]
    pub(super) fn push(&mut self, p: &Packet, queued: Time, ends: Time) {
        if self.len == self.slots.len() {
            self.grow(p);
        }
        let place = self.place(self.len);
        let slot = &mut self.slots[place];
        slot.packet = *p;
        slot.packet.queued = queued;
        slot.ends = ends;
        self.len += 1;
    }

    /// Removes the first packet, if there is one. It can be read until another is added.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<&InFlight> {
        if self.len == 0 {
            return None;
        }
        let first = self.head;
        self.len -= 1;
        // An empty ring starts again at the first slot, which is most likely in the cache.
        self.head = if self.len == 0 { 0 } else { self.place(1) };
        self.slots.get(first)
    }

    /// Where the packet behind `i` others is. Wraps: there are slots, and far fewer of them than a `usize` can count.
    #[inline]
    fn place(&self, i: usize) -> usize {
        self.head.wrapping_add(i) & self.slots.len().wrapping_sub(1)
    }

    /// Doubles the number of slots; new slots are filled with `p`.
    #[cold]
    fn grow(&mut self, p: &Packet) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        self.slots.resize((2 * self.slots.len()).max(1), InFlight { packet: *p, ends: Time::NEVER });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{Body, FlowId};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec(any::<bool>(), 0..300)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for (n, push) in steps.into_iter().enumerate() {
                if push {
                    let at = Time::from_nanos(n as u64);
                    ring.push(&Packet::new(FlowId(0), n as u32, Time::ZERO, Body::Udp { seq: 0 }), at, at);
                    queue.push_back((n as u32, at, at));
                } else {
                    ring.pop();
                    queue.pop_front();
                }
                let held: Vec<_> = (0..).map_while(|i| ring.get(i)).map(|s| (
                    s.packet.size, s.packet.queued, s.ends,
                )).collect();
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(held, Vec::from(queue.clone()));
            }
        }
    }
}
