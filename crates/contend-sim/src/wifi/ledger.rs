//! The air's ledger: every nanosecond of a channel is booked to exactly one account.
//!
//! Idle, inter-frame spaces, backoff and collisions belong to the cell; preamble, header, payload, MAC ACK, RTS/CTS and
//! errored frames belong to the station that transmits them. The accounts sum to the time that has passed, at every
//! instant at which the medium is idle.

use super::StationId;
use contend_core::{Span, Time};

/// Accounts that belong to the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellAccounts {
    /// Nobody has anything to send.
    pub idle: Span,
    /// Inter-frame spaces, and waiting for an answer that does not come.
    pub ifs: Span,
    /// Somebody counts backoff slots.
    pub backoff: Span,
    /// Two or more transmit.
    pub collision: Span,
}

/// Accounts that belong to one station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationAccounts {
    /// PLCP preamble and header of its received data frames.
    pub preamble: Span,
    /// MAC header, LLC/SNAP, FCS, padding and signal extension of the same.
    pub header: Span,
    /// IP packets in them.
    pub payload: Span,
    /// Acknowledgments it sends.
    pub ack: Span,
    /// RTS and CTS it sends.
    pub rts_cts: Span,
    /// Data frames of its own that the channel spoilt.
    pub errored: Span,
    /// Not part of the sum: time of its own frames inside collisions.
    pub collided: Span,
}

impl StationAccounts {
    /// Its share of the sum.
    pub fn total(&self) -> Span {
        self.preamble + self.header + self.payload + self.ack + self.rts_cts + self.errored
    }
}

/// Where a frame is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Data: preamble, header and payload, or errored.
    Data {
        /// PLCP preamble and header.
        preamble: Span,
        /// Bits of the IP packet alone.
        payload: Span,
    },
    /// Acknowledgments.
    Ack,
    /// RTS and CTS.
    RtsCts,
}

/// The books of one channel.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The cell's accounts.
    pub cell: CellAccounts,
    /// Each station's accounts.
    pub stations: Vec<StationAccounts>,
    /// Everything before this instant is booked.
    booked: Time,
}

impl Ledger {
    /// Empty books for `stations` stations, from time zero.
    pub fn new(stations: usize) -> Ledger {
        Ledger {
            cell: CellAccounts::default(),
            stations: vec![StationAccounts::default(); stations],
            booked: Time::ZERO,
        }
    }

    /// Everything before this instant is booked.
    pub fn booked(&self) -> Time {
        self.booked
    }

    /// Books silence up to `now`: inter-frame space until `resume`, then backoff when somebody `waits`, idle when
    /// nobody does.
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

    /// Books inter-frame space of `span`.
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

    /// Books a frame of `airtime` that `who` transmitted; `errored` says that the channel spoilt it.
    #[inline]
    pub fn frame(&mut self, who: StationId, account: Account, airtime: Span, errored: bool) {
        let own = &mut self.stations[who as usize];
        match account {
            Account::Data { .. } if errored => own.errored += airtime,
            Account::Data { preamble, payload } => {
                own.preamble += preamble;
                own.payload += payload;
                own.header += airtime - preamble - payload;
            }
            Account::Ack => own.ack += airtime,
            Account::RtsCts => own.rts_cts += airtime,
        }
        self.booked += airtime;
    }

    /// Notes, beside the accounts, that a frame of `who` took `span` of a collision.
    pub fn collided(&mut self, who: StationId, span: Span) {
        self.stations[who as usize].collided += span;
    }

    /// All accounts together: the time that is booked.
    pub fn sum(&self) -> Span {
        let cell = self.cell.idle + self.cell.ifs + self.cell.backoff + self.cell.collision;
        self.stations.iter().fold(cell, |sum, own| sum + own.total())
    }
}
