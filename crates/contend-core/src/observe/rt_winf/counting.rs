//! What counts as busy time for rt-Winf, by role or for all roles together.

use super::super::busy::Busy;
use super::super::transactions::{Reserved, Role, Transfer};
use super::super::{HeardFrame, Kind, OwnExchange, Radio};
use crate::time::{Span, Time};

/// What counts as busy time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Duration fields.
    Nav,
    /// Duration fields, and the DIFS, mean backoff and frames that precede them.
    NavIfs,
    /// Frames that the node sensed or sent.
    Carrier,
}

/// How the busy time of a reserved medium is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Book {
    /// By the durations of the reservations.
    Reservations,
    /// By transfers: there are no reservations, because probes precede transmissions.
    Transfers,
}

/// For whom busy time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// For each role.
    Role,
    /// For all roles together.
    All,
}

/// Busy time of each role.
#[derive(Debug)]
pub(super) struct Counting {
    radio: Radio,
    count: Count,
    book: Book,
    scope: Scope,
    /// Busy time of each role; with [`Scope::All`] only the first is used.
    busy: [Busy; 3],
    /// Until when sensed frames are booked.
    covered: Time,
}

impl Counting {
    pub(super) fn new(radio: Radio, count: Count, book: Book, scope: Scope, window: Span) -> Counting {
        let busy = [Busy::new(window), Busy::new(window), Busy::new(window)];
        Counting { radio, count, book, scope, busy, covered: Time::ZERO }
    }

    /// The free share of time at `now`, as `role` sees it.
    pub(super) fn free_q20(&self, role: Role, now: Time) -> u64 {
        self.busy[self.place(role)].free_q20(now)
    }

    /// An RTS or CTS reserved the medium.
    pub(super) fn reserved(&mut self, r: &Reserved) {
        if self.book == Book::Transfers || self.count == Count::Carrier {
            return;
        }
        let before = match (self.count, r.by_rts) {
            (Count::Nav, _) => Span::ZERO,
            (_, true) => self.contention() + self.radio.rts,
            (_, false) => self.contention() + self.radio.rts + self.radio.sifs + self.radio.cts,
        };
        self.book(r.role, r.nav + before, r.start, r.until);
    }

    /// Data were acknowledged (eq. 4.15).
    pub(super) fn transferred(&mut self, t: &Transfer) {
        if self.book == Book::Transfers && self.count != Count::Carrier {
            let before = if self.count == Count::Nav { Span::ZERO } else { self.contention() };
            self.book(t.role, t.ack.since(t.data.0) + before, t.data.0, t.ack);
        }
    }

    /// The node sensed a frame. Books it without the time that is booked already.
    pub(super) fn sensed(&mut self, f: &HeardFrame<'_>) {
        if self.count != Count::Carrier {
            return;
        }
        let (mut role, mut own) = (Role::Onlooker, Span::ZERO);
        if f.decoded && f.to == f.me {
            role = if f.kind == Kind::Cts || f.kind == Kind::Ack { Role::Sender } else { Role::Receiver };
            if f.kind == Kind::Data {
                // The node answers.
                own = self.radio.ack
                    + match self.book {
                        Book::Transfers => Span::ZERO,
                        Book::Reservations => self.radio.cts,
                    };
            }
        }
        let heard = f.end.since(f.start.max(self.covered));
        self.covered = self.covered.max(f.end);
        self.book(role, heard + own, f.start, f.end);
    }

    /// The node ended an exchange of its own. Its CTS and ACK were booked before, as sensed frames.
    pub(super) fn sent(&mut self, x: &OwnExchange) {
        if self.count == Count::Carrier {
            let rts = if x.protected { self.radio.rts } else { Span::ZERO };
            let data = if x.data < x.end { x.data_time } else { Span::ZERO };
            self.book(Role::Sender, rts + data, x.began, x.end);
        }
    }

    /// DIFS and a mean backoff.
    fn contention(&self) -> Span {
        self.radio.difs + self.radio.mean_backoff
    }

    fn place(&self, role: Role) -> usize {
        match self.scope {
            Scope::Role => role as usize,
            Scope::All => 0,
        }
    }

    fn book(&mut self, role: Role, busy: Span, start: Time, until: Time) {
        let place = self.place(role);
        self.busy[place].book(busy, start, until);
    }
}
