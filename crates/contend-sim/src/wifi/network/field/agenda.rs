//! What happens in a field, in order of time.
//!
//! Few events are to come at once, and most new ones are among the next, so that a short sorted list is faster than a
//! heap. Only what does not fit in the list waits in a heap.

use super::FlightId;
use contend_core::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The events that are to come.
#[derive(Debug)]
pub(super) struct Agenda {
    /// The next events, the first of all at the end. None of them comes after one in `later`.
    near: Vec<Event>,
    later: BinaryHeap<Event>,
    /// The time of the next event; [`Time::NEVER`] if there is none.
    next: Time,
    /// Number of events so far; it orders those of one instant.
    sequence: u64,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    at: Time,
    /// Its kind, then its number: the order of events in one instant.
    order: u64,
    /// The flight, or the station that answers.
    pub(super) flight: FlightId,
    /// The first of the stations that hear the flight at which it happens.
    pub(super) next: u32,
}

/// Most events in the sorted list.
const NEAR: usize = 32;

/// The bits of the number in the order.
const NUMBER: u32 = 56;

/// Kinds of event, in their order in one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A transmitter has sent the last bit of a flight.
    Sent,
    /// The last bit of a flight arrives.
    Ends,
    /// The station `flight` sends the answer that it owes.
    Answers,
    /// The first bit of a flight arrives.
    Begins,
}

impl Event {
    #[inline]
    pub(super) fn is(&self, what: What) -> bool {
        self.order >> NUMBER == what as u64
    }

    /// The order of events. Two halves of one number are compared at once, without a branch that no predictor can
    /// guess.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at.as_nanos()) << 64 | u128::from(self.order)
    }

    #[inline]
    fn comes_after(&self, other: &Event) -> bool {
        self.key() > other.key()
    }

    /// True if it is of a kind before `what`, or of this kind.
    fn is_up_to(&self, what: What) -> bool {
        self.order >> NUMBER <= what as u64
    }
}

/// The earliest event is the greatest, because a heap gives the greatest first.
impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Event) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda { near: Vec::with_capacity(NEAR), later: BinaryHeap::new(), next: Time::NEVER, sequence: 0 }
    }
}

impl Agenda {
    /// Adds an event.
    #[inline]
    pub(super) fn put(&mut self, at: Time, what: What, flight: FlightId, next: u32) {
        self.sequence += 1;
        self.next = self.next.min(at);
        let event = Event { at, order: (what as u64) << NUMBER | self.sequence, flight, next };
        if self.later.peek().is_some_and(|first| event.comes_after(first)) {
            self.later.push(event);
            return;
        }
        if self.near.len() == NEAR {
            self.later.extend(self.near.drain(..NEAR / 2));
            if self.later.peek().is_some_and(|first| event.comes_after(first)) {
                self.later.push(event);
                return;
            }
        }
        let mut place = self.near.len();
        self.near.push(event);
        while place > 0 && event.comes_after(&self.near[place - 1]) {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = event;
    }

    /// Takes the next event if it is due at `now` and not of a kind after `last`.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Time, last: What) -> Option<Event> {
        // Most calls end here.
        if self.next > now { None } else { self.take_due(last) }
    }

    /// Takes the next event, which is due, if it is not of a kind after `last`.
    #[inline]
    fn take_due(&mut self, last: What) -> Option<Event> {
        let event = *self.near.last()?;
        if !event.is_up_to(last) {
            return None;
        }
        self.near.pop();
        if self.near.is_empty() && !self.later.is_empty() {
            self.refill();
        }
        self.next = self.near.last().map_or(Time::NEVER, |event| event.at);
        Some(event)
    }

    /// The time of the next event.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// The list is empty: the first of the later events move into it.
    fn refill(&mut self) {
        let few = NEAR / 2;
        self.near.extend(std::iter::from_fn(|| self.later.pop()).take(few));
        self.near.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched whole; with few events and with more than the sorted list holds.
        #[test]
        fn events_come_in_order_of_time_then_kind_then_number(
            steps in prop::collection::vec((0u64..3, 0u64..200, 0usize..4), 1..400),
        ) {
            let kinds = [What::Sent, What::Ends, What::Answers, What::Begins];
            let (mut agenda, mut flat, mut now) = (Agenda::default(), Vec::new(), 0);
            for (number, (step, after, kind)) in (0u32..).zip(steps) {
                agenda.put(Time::from_nanos(now + after), kinds[kind], number, 0);
                flat.push((now + after, kind, number));
                now += step;
                for (last, &up_to) in kinds.iter().enumerate() {
                    while let Some(event) = agenda.take(Time::from_nanos(now), up_to) {
                        let first = flat.iter().min().copied();
                        prop_assert_eq!(first.map(|(_, _, n)| n), Some(event.flight));
                        flat.retain(|e| Some(*e) != first);
                    }
                    let due = flat.iter().min().filter(|(at, kind, _)| *at <= now && *kind <= last);
                    prop_assert_eq!(due, None);
                }
                let next = flat.iter().map(|(at, ..)| *at).min();
                prop_assert_eq!(agenda.next(), next.map_or(Time::NEVER, Time::from_nanos));
            }
        }
    }
}
