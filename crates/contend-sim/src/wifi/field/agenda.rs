//! What happens in a field, in order of time.

use super::FlightId;
use contend_core::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The events that are to come.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Event>,
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

    /// True if it is of a kind before `what`, or of this kind.
    fn is_up_to(&self, what: What) -> bool {
        self.order >> NUMBER <= what as u64
    }
}

/// The earliest event is the greatest, because a heap gives the greatest first. Two halves of one number are compared
/// at once, without a branch that no predictor can guess.
impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Event) -> Ordering {
        let key = |e: &Event| u128::from(e.at.as_nanos()) << 64 | u128::from(e.order);
        key(other).cmp(&key(self))
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

impl Agenda {
    /// Adds an event.
    pub(super) fn put(&mut self, at: Time, what: What, flight: FlightId, next: u32) {
        self.sequence += 1;
        self.events.push(Event { at, order: (what as u64) << NUMBER | self.sequence, flight, next });
    }

    /// Takes the next event if it is due at `now` and not of a kind after `last`.
    pub(super) fn take(&mut self, now: Time, last: What) -> Option<Event> {
        let event = self.events.peek()?;
        if event.at <= now && event.is_up_to(last) { self.events.pop() } else { None }
    }

    /// The time of the next event.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.events.peek().map_or(Time::NEVER, |event| event.at)
    }
}
