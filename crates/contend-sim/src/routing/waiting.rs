//! Packets that wait for a route.

use super::{Actions, Routed, RoutingDrop, Station};
use contend_core::{Span, Time};
use std::collections::VecDeque;

/// Packets that wait for a route, oldest first.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Each with the time until which it may wait.
    queue: VecDeque<(Time, Routed)>,
    /// Most packets, of a destination or in all.
    limit: usize,
    /// True if the limit holds for each destination by itself.
    each_destination: bool,
    patience: Span,
}

impl Waiting {
    pub(super) fn new(limit: usize, each_destination: bool, patience: Span) -> Waiting {
        Waiting { queue: VecDeque::new(), limit, each_destination, patience }
    }

    /// Adds a packet. When the limit is exceeded, the oldest packet to which the limit applies is dropped.
    pub(super) fn push(&mut self, now: Time, p: &Routed, acts: &mut Actions) {
        self.expire(now, acts);
        self.queue.push_back((now.saturating_add(self.patience), *p));
        let (each, to) = (self.each_destination, p.destination);
        let counts = |(_, q): &(Time, Routed)| !each || q.destination == to;
        if self.queue.iter().filter(|q| counts(q)).count() > self.limit
            && let Some(oldest) = self.queue.iter().position(counts)
        {
            self.remove(oldest, RoutingDrop::BufferFull, acts);
        }
    }

    /// Drops packets that have waited too long.
    pub(super) fn expire(&mut self, now: Time, acts: &mut Actions) {
        while self.queue.front().is_some_and(|(until, _)| *until <= now) {
            self.remove(0, RoutingDrop::BufferTimeout, acts);
        }
    }

    /// Drops all packets to `destination`.
    pub(super) fn give_up(&mut self, destination: Station, acts: &mut Actions) {
        while let Some(p) = self.pop(destination) {
            acts.drop(p.packet, RoutingDrop::NoRoute);
        }
    }

    /// The oldest packet to `destination`.
    pub(super) fn pop(&mut self, destination: Station) -> Option<Routed> {
        let place = self.queue.iter().position(|(_, p)| p.destination == destination)?;
        self.queue.remove(place).map(|(_, p)| p)
    }

    pub(super) fn has(&self, destination: Station) -> bool {
        self.queue.iter().any(|(_, p)| p.destination == destination)
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, place: usize, reason: RoutingDrop, acts: &mut Actions) {
        if let Some((_, p)) = self.queue.remove(place) {
            acts.drop(p.packet, reason);
        }
    }
}
