//! What the radio of one station of a field does, over time.

use super::super::ledger::RadioAccounts;
use contend_core::{Span, Time};

/// What a radio does now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// It transmits.
    Sends,
    /// A frame for its station arrives, and nothing has corrupted it so far.
    Receives,
    /// It senses something else.
    Hears,
    /// It senses nothing.
    #[default]
    Quiet,
}

/// The accounts of one radio, and since when it does what it does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Book {
    /// The time for each [`Doing`].
    spans: [Span; 4],
    /// The time in which it was quiet and its station not blocked.
    idle: Span,
    doing: Doing,
    since: Time,
    /// While it is quiet: until when its station is blocked.
    blocked_until: Time,
}

impl Book {
    /// From `now` on the radio does this. While it is quiet, its station is blocked until `blocked_until`.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, doing: Doing, blocked_until: Time) {
        if doing != self.doing || blocked_until != self.blocked_until {
            self.close(now);
            (self.doing, self.since, self.blocked_until) = (doing, now, blocked_until);
        }
    }

    /// The accounts at `now`.
    pub(super) fn at(&self, now: Time) -> RadioAccounts {
        let mut book = *self;
        book.close(now);
        let [sends, receives, hears, quiet] = book.spans;
        RadioAccounts { sends, receives, hears, blocked: quiet - book.idle, idle: book.idle }
    }

    /// Books the time until `now`.
    #[inline(always)]
    fn close(&mut self, now: Time) {
        self.spans[self.doing as usize] += now - self.since;
        if self.doing == Doing::Quiet {
            self.idle += now.since(self.blocked_until.max(self.since));
        }
    }
}
