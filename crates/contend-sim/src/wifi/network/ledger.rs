//! The ledger of a channel: every nanosecond is booked to exactly one account.
//!
//! In a field each station has accounts of its own ([`RadioAccounts`]), because several stations transmit at a time. In
//! a cell idle time, inter-frame spaces, backoff and collisions belong to the cell. Preamble, header, payload, ACK,
//! RTS/CTS, beacons and errored frames belong to the station that transmits them. At every instant at which the medium
//! is idle, the sum of the accounts is the elapsed time. The same frames, except beacons, are counted a second time for
//! the station to which they are sent: the sums over all stations of what they send and of what is sent to them are
//! equal.

use crate::wifi::frame::Account;
use crate::wifi::ids::StationId;
use contend_core::{Span, Time};

/// Accounts that belong to the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellAccounts {
    /// No station has anything to send.
    pub idle: Span,
    /// Inter-frame spaces, and the wait for a answer that does not come.
    pub ifs: Span,
    /// At least one station counts backoff slots.
    pub backoff: Span,
    /// Two or more stations transmit.
    pub collision: Span,
}

/// Accounts that belong to one station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationAccounts {
    /// PLCP preamble and header of the station's received data frames.
    pub preamble: Span,
    /// MAC header, LLC/SNAP, FCS, padding and signal extension of the same frames.
    pub header: Span,
    /// IP packets in the same frames.
    pub payload: Span,
    /// ACKs that the station sends.
    pub ack: Span,
    /// RTS, CTS and CF-End that the station sends.
    pub rts_cts: Span,
    /// Beacons that the station sends. They are for all: no station has them in `sent_to`.
    pub beacon: Span,
    /// The station's data frames that the medium corrupted.
    pub errored: Span,
    /// Frames that another station sends to this station, of every kind; not part of the sum.
    pub sent_to: Span,
    /// Time of the station's own frames inside collisions; not part of the sum.
    pub collided: Span,
}

impl StationAccounts {
    /// The station's part of the sum.
    pub fn total(&self) -> Span {
        self.preamble + self.header + self.payload + self.ack + self.rts_cts + self.beacon + self.errored
    }
}

/// What the radio of one station of a field does. At every instant the sum of the accounts is the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioAccounts {
    /// It transmits.
    pub sends: Span,
    /// A frame for its station, or for all, arrives, and nothing has corrupted it so far.
    pub receives: Span,
    /// It senses other frames, corrupted ones among them.
    pub hears: Span,
    /// It senses nothing, but its station must not send: inter-frame spaces, the wait for an answer, reservations.
    pub blocked: Span,
    /// The medium around it is free. Backoff slots count.
    pub idle: Span,
}

impl RadioAccounts {
    /// The elapsed time.
    pub fn total(&self) -> Span {
        self.sends + self.receives + self.hears + self.blocked + self.idle
    }
}

/// The ledger of one channel.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The cell's accounts; zero in a field.
    pub cell: CellAccounts,
    /// The frames of each station.
    pub stations: Vec<StationAccounts>,
    /// In a field, what each station does; empty in a cell.
    pub radios: Vec<RadioAccounts>,
    /// Everything before this instant is booked.
    booked: Time,
}

impl Ledger {
    /// An empty ledger for `stations` stations, from time zero.
    pub fn new(stations: usize) -> Ledger {
        Ledger {
            cell: CellAccounts::default(),
            stations: vec![StationAccounts::default(); stations],
            radios: vec![],
            booked: Time::ZERO,
        }
    }

    /// Everything before this instant is booked.
    pub fn booked(&self) -> Time {
        self.booked
    }

    /// The ledger of a field at `now`, whose stations did this.
    pub(super) fn of_field(&self, now: Time, radios: Vec<RadioAccounts>) -> Ledger {
        Ledger { booked: now, radios, ..self.clone() }
    }

    /// Books idle medium up to `now`: inter-frame space until `resume`, then backoff if a station `waits`, otherwise
    /// idle.
    #[inline]
    pub fn quiet(&mut self, now: Time, resume: Time, waits: bool) {
        let edge = resume.clamp(self.booked, now.max(self.booked));
        self.cell.ifs += edge - self.booked;
        let rest = now.since(edge);
        if waits {
            self.cell.backoff += rest;
        } else {
            self.cell.idle += rest;
        }
        self.booked = self.booked.max(now);
    }

    /// Books an inter-frame space of `span`.
    #[inline]
    pub fn ifs(&mut self, span: Span) {
        self.cell.ifs += span;
        self.booked += span;
    }

    /// Books a collision of `span`.
    pub fn collision(&mut self, span: Span) {
        self.cell.collision += span;
        self.booked += span;
    }

    /// Books a frame of `airtime` that `from` transmitted in an exchange with `to`; `errored` is true if the medium
    /// corrupted the frame.
    #[inline]
    pub fn frame(&mut self, from: StationId, to: StationId, account: Account, airtime: Span, errored: bool) {
        if account == Account::Beacon {
            self.stations[from as usize].beacon += airtime;
            self.booked += airtime;
            return;
        }
        self.stations[to as usize].sent_to += airtime;
        let own = &mut self.stations[from as usize];
        match account {
            Account::Data { .. } if errored => own.errored += airtime,
            Account::Data { preamble, payload } => {
                own.preamble += preamble;
                own.payload += payload;
                own.header += airtime - preamble - payload;
            }
            Account::Ack => own.ack += airtime,
            Account::RtsCts => own.rts_cts += airtime,
            Account::Beacon => {}
        }
        self.booked += airtime;
    }

    /// Notes that a frame of `who` took `span` of a collision; not part of the sum.
    pub fn collided(&mut self, who: StationId, span: Span) {
        self.stations[who as usize].collided += span;
    }

    /// Sum of all accounts of a cell: the time that is booked.
    pub fn sum(&self) -> Span {
        let cell = self.cell.idle + self.cell.ifs + self.cell.backoff + self.cell.collision;
        self.stations.iter().fold(cell, |sum, own| sum + own.total())
    }
}
