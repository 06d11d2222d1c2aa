//! What a routing agent has decided to do a little later.

use contend_core::Time;
use std::collections::VecDeque;

/// Things with their times, in order of time; equal times keep the order in which they were added.
#[derive(Debug)]
pub(super) struct Outbox<T> {
    queue: VecDeque<(Time, T)>,
}

impl<T> Outbox<T> {
    pub(super) fn new() -> Outbox<T> {
        Outbox { queue: VecDeque::new() }
    }
    pub(super) fn put(&mut self, at: Time, thing: T) {
        let place = self.queue.partition_point(|(t, _)| *t <= at);
        self.queue.insert(place, (at, thing));
    }
    /// The earliest time.
    pub(super) fn first(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |(t, _)| *t)
    }
    /// The first thing whose time has come.
    pub(super) fn due(&mut self, now: Time) -> Option<T> {
        if self.first() > now {
            return None;
        }
        self.queue.pop_front().map(|(_, thing)| thing)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.queue.iter().map(|(_, thing)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_in_order_of_time_and_equal_times_in_the_order_in_which_they_were_put() {
        let mut outbox = Outbox::new();
        let at = Time::from_nanos;
        for (time, thing) in [(3, 'c'), (1, 'a'), (3, 'd'), (2, 'b')] {
            outbox.put(at(time), thing);
        }
        assert_eq!((outbox.first(), outbox.due(at(0))), (at(1), None));
        assert_eq!(std::iter::from_fn(|| outbox.due(at(3))).collect::<String>(), "abcd");
        assert_eq!(outbox.first(), Time::NEVER);
    }
}
