//! What the radio of one station of a field does, over time.

use super::super::ledger::RadioAccounts;
use contend_core::Time;

/// What a radio does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It transmits.
    Sends,
    /// A frame for its station arrives, and nothing has spoiled it so far.
    Receives,
    /// It senses something else.
    Hears,
    /// It senses nothing. Its station is blocked until this instant.
    Quiet(Time),
}

/// The accounts of one radio, and since when it does what it does.
#[derive(Debug)]
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
            self.accounts = self.at(now);
            (self.doing, self.since) = (doing, now);
        }
    }

    /// The accounts at `now`.
    pub(super) fn at(&self, now: Time) -> RadioAccounts {
        let mut a = self.accounts;
        let span = now - self.since;
        match self.doing {
            Doing::Sends => a.sends += span,
            Doing::Receives => a.receives += span,
            Doing::Hears => a.hears += span,
            Doing::Quiet(until) => {
                let edge = until.clamp(self.since, now);
                a.blocked += edge - self.since;
                a.idle += now - edge;
            }
        }
        a
    }
}
