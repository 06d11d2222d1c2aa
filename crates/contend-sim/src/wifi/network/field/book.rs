//! What the radio of one station of a field does, over time.

use super::super::ledger::RadioAccounts;
use contend_core::Time;

/// What a radio does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It transmits.
    Sends,
    /// A frame for its station arrives, and nothing has corrupted it so far.
    Receives,
    /// It senses something else.
    Hears,
    /// It senses nothing. Its station is blocked until this instant.
    Quiet(Time),
}

/// The accounts of one radio, and since when it does what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Book {
    accounts: RadioAccounts,
    doing: Doing,
    since: Time,
}

impl Default for Book {
    fn default() -> Book {
        Book { accounts: RadioAccounts::default(), doing: Doing::Quiet(Time::ZERO), since: Time::ZERO }
    }
}

impl Book {
    /// From `now` on the radio does this.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, doing: Doing) {
        if doing != self.doing {
            self.close(now);
            (self.doing, self.since) = (doing, now);
        }
    }

    /// The accounts at `now`.
    pub(super) fn at(&self, now: Time) -> RadioAccounts {
        let mut book = *self;
        book.close(now);
        book.accounts
    }

    /// Books the time until `now`.
    #[inline]
    fn close(&mut self, now: Time) {
        let (accounts, span) = (&mut self.accounts, now - self.since);
        match self.doing {
            Doing::Sends => accounts.sends += span,
            Doing::Receives => accounts.receives += span,
            Doing::Hears => accounts.hears += span,
            Doing::Quiet(until) => {
                let edge = until.clamp(self.since, now);
                accounts.blocked += edge - self.since;
                accounts.idle += now - edge;
            }
        }
    }
}
