//! The backoff of one contender in a field.
//!
//! It is not counted slot by slot: it is the instant from which slots count, and their number. When the medium turns
//! busy, the whole slots that have passed are taken off.

use crate::wifi::access::{BackoffRules, Busy};
use contend_core::{Span, Time};

/// The backoff of one contender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Countdown {
    pub(super) rules: BackoffRules,
    /// Slots that a busy period counts.
    busy_counts: u64,
    /// Slots that remain.
    slots: u64,
    /// When slots begin to count; [`Time::NEVER`] while the medium is busy.
    resume: Time,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has nothing to send. Its backoff counts down all the same.
    Silent,
    /// It has a burst to send.
    Waits,
    /// Its burst is on the air, or the outcome is being decided.
    Sending,
}

/// The medium as a station senses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sensed {
    Free,
    /// Free, but reserved by a NAV.
    Reserved,
    Busy,
}

/// What happens to a burst that arrives at a contender without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A backoff is pending: the contender sends when it ends.
    Waits,
    /// No backoff is pending and the medium has been idle for the inter-frame space: the contender sends now.
    Free,
    /// No backoff is pending and the medium is busy: a backoff is drawn.
    Busy,
}

impl Countdown {
    /// A contender without a burst, on a medium that has been idle since time zero. `busy_counts`: a busy slot counts.
    pub(super) fn new(rules: BackoffRules, busy_counts: bool) -> Countdown {
        let resume = Time::ZERO + rules.ifs;
        Countdown { rules, busy_counts: u64::from(busy_counts), slots: 0, resume, state: State::Silent }
    }

    /// True if a busy slot counts as one slot of its backoff.
    pub(super) fn busy_counts(&self) -> bool {
        self.busy_counts > 0
    }

    /// True if it has a burst that waits for the medium.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.state == State::Waits
    }

    /// When it starts if the medium stays as it is.
    #[inline]
    pub(super) fn due(&self, slot: Span) -> Time {
        if self.waits() && self.resume < Time::NEVER { self.resume + slot * self.slots } else { Time::NEVER }
    }

    /// When its slots begin to count; [`Time::NEVER`] while the medium is busy.
    #[inline]
    pub(super) fn resume_at(&self) -> Time {
        self.resume
    }

    /// The medium turns busy at `now`; `is_new` is false if this continues the last busy period. Returns the slots that
    /// counted; `None` if no slots were to count. `whole` counts the slots between two instants.
    #[inline]
    pub(super) fn freeze(&mut self, now: Time, whole: impl FnOnce(Time, Time) -> u64, is_new: bool) -> Option<u64> {
        if self.resume == Time::NEVER || self.state == State::Sending {
            return None;
        }
        let from = std::mem::replace(&mut self.resume, Time::NEVER);
        if self.slots == 0 && self.state == State::Silent {
            return None;
        }
        let boundary = self.rules.busy != Busy::Boundary || now >= from;
        let counted = whole(from, now) + if is_new && boundary { self.busy_counts } else { 0 };
        self.slots = self.slots.saturating_sub(counted);
        Some(counted)
    }

    /// The medium is idle; the inter-frame space begins at `at`. Nothing happens if its slots count already.
    #[inline]
    pub(super) fn resume(&mut self, at: Time) {
        if self.resume == Time::NEVER && self.state != State::Sending {
            self.resume = at + self.rules.ifs;
        }
    }

    /// Its burst goes on the air.
    pub(super) fn start(&mut self) {
        (self.state, self.resume) = (State::Sending, Time::NEVER);
    }

    /// It gets a new backoff of `slots`. `waits` is true if it has a burst.
    pub(super) fn back_off(&mut self, slots: u64, waits: bool) {
        self.slots = slots;
        self.state = if waits { State::Waits } else { State::Silent };
    }

    /// It has a burst and a backoff of `slots` that counts from `resume` on.
    pub(super) fn back_off_from(&mut self, resume: Time, slots: u64) {
        (self.slots, self.resume, self.state) = (slots, resume, State::Waits);
    }

    /// True if a backoff is running or pending at `now`.
    pub(super) fn is_pending(&self, now: Time, slot: Span) -> bool {
        match self.state {
            State::Silent => self.slots > 0 && (self.resume == Time::NEVER || now < self.resume + slot * self.slots),
            State::Waits => true,
            State::Sending => false,
        }
    }

    /// A burst arrives at `now`.
    pub(super) fn arrive(&mut self, now: Time, slot: Span, sensed: Sensed) -> Arrival {
        if self.state != State::Silent {
            return Arrival::Waits;
        }
        if self.slots == 0 && sensed != Sensed::Free {
            return Arrival::Busy;
        }
        if sensed != Sensed::Busy && self.resume < Time::NEVER && now >= self.resume + slot * self.slots {
            return Arrival::Free;
        }
        self.state = State::Waits;
        Arrival::Waits
    }
}
