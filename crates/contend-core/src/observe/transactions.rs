//! Follows the exchanges around a node: who reserved the medium, and which data were acknowledged.
//!
//! One exchange of the node itself, one addressed to it and one overheard are followed at a time. A later exchange that
//! the node overhears replaces an earlier one.

use super::{BROADCAST, ExchangeOutcome, HeardFrame, Kind, Note, OwnExchange, Radio};
use crate::time::{Span, Time};

/// The part of a node in an exchange (Barreto 2012 §4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It sends the data.
    Sender,
    /// It receives the data.
    Receiver,
    /// Neither.
    Onlooker,
}

/// An RTS or CTS reserved the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub role: Role,
    /// The Duration field.
    pub nav: Span,
    /// True if the reservation is that of an RTS.
    pub by_rts: bool,
    /// When the frame began.
    pub start: Time,
    /// End of the reservation.
    pub until: Time,
}

/// Data that were acknowledged. For a receiver, its own ACK is still to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub role: Role,
    /// S, bytes of the IP packets.
    pub bytes: u32,
    /// When the sender began to contend. For data of others: a DIFS and a mean backoff before the first frame that was
    /// heard.
    pub began: Time,
    /// T_RTS: end of the RTS, if there was one.
    pub rts: Option<Time>,
    /// T_CTS: end of the CTS, if there was one.
    pub cts: Option<Time>,
    /// Start and end of the data frame.
    pub data: (Time, Time),
    /// T_ACK: end of the ACK.
    pub ack: Time,
    /// What the ACK carried.
    pub note: Option<Note>,
}

/// An exchange that is not complete.
#[derive(Clone, Copy, Debug, Default)]
struct Underway {
    /// The sender of its data; `None` if nothing is under way.
    from: Option<u32>,
    /// Start and end of the RTS.
    rts: Option<(Time, Time)>,
    /// End of the CTS.
    cts: Option<Time>,
    /// Bytes, start and end of the data.
    data: Option<(u32, Time, Time)>,
    /// When the last frame must have begun.
    until: Time,
}

impl Underway {
    /// True if a frame that began at `start` belongs to it, for the sender `from`.
    fn has(&self, from: u32, start: Time) -> bool {
        self.from == Some(from) && start <= self.until
    }
}

/// The exchanges around a node.
#[derive(Debug)]
pub(super) struct Transactions {
    radio: Radio,
    /// When the node began to contend for its own data.
    began: Time,
    /// End of the CTS that the node received.
    cts: Option<Time>,
    /// The note in the ACK that the node received.
    note: Option<Note>,
    incoming: Underway,
    overheard: Underway,
}

impl Transactions {
    pub(super) fn new(radio: Radio) -> Transactions {
        let none = Underway::default();
        Transactions { radio, began: Time::ZERO, cts: None, note: None, incoming: none, overheard: none }
    }

    /// Takes a decoded frame. Returns what it reserved, and the data that it completed.
    pub(super) fn heard(&mut self, f: &HeardFrame<'_>) -> (Option<Reserved>, Option<Transfer>) {
        let to_me = f.to == f.me;
        let until = f.end.saturating_add(f.duration);
        let reserved = |role, by_rts| Reserved { role, nav: f.duration, by_rts, start: f.start, until };
        match f.kind {
            Kind::Rts => {
                let u = Underway { from: Some(f.from), rts: Some((f.start, f.end)), until, ..Underway::default() };
                if to_me {
                    self.incoming = u;
                    (Some(reserved(Role::Receiver, true)), None)
                } else {
                    self.overheard = u;
                    (Some(reserved(Role::Onlooker, true)), None)
                }
            }
            Kind::Cts if to_me => {
                self.cts = Some(f.end);
                (Some(reserved(Role::Sender, false)), None)
            }
            Kind::Cts => {
                let rts_heard = self.overheard.rts.is_some() && self.overheard.has(f.to, f.start);
                if rts_heard {
                    self.overheard.cts = Some(f.end);
                    return (None, None);
                }
                // Barreto 2012 eq. 4.9: the sender is hidden.
                self.overheard = Underway { from: Some(f.to), cts: Some(f.end), until, ..Underway::default() };
                (Some(reserved(Role::Onlooker, false)), None)
            }
            Kind::Data if f.to == BROADCAST => (None, None),
            Kind::Data => {
                let of = if to_me { &mut self.incoming } else { &mut self.overheard };
                if !of.has(f.from, f.start) {
                    *of = Underway { from: Some(f.from), ..Underway::default() };
                }
                of.data = Some((f.bytes, f.start, f.end));
                of.until = until;
                let done = to_me.then(|| core::mem::take(of));
                (None, done.and_then(|u| self.transfer(Role::Receiver, &u, f.end + self.radio.sifs + self.radio.ack)))
            }
            Kind::Ack if to_me => {
                self.note = f.note;
                (None, None)
            }
            Kind::Ack => {
                let complete = self.overheard.has(f.to, f.start);
                let u = core::mem::take(&mut self.overheard);
                (None, self.transfer(Role::Onlooker, &u, f.end).filter(|_| complete))
            }
        }
    }

    /// Takes an exchange of the node. Returns the data that it completed.
    pub(super) fn sent(&mut self, x: &OwnExchange) -> Option<Transfer> {
        if x.attempt <= 1 {
            // Later attempts belong to the same packet: collisions lengthen its cycle.
            self.began = x.began;
        }
        let (cts, note) = (self.cts.take(), self.note.take());
        (x.outcome == ExchangeOutcome::Acked).then_some(Transfer {
            role: Role::Sender,
            bytes: x.bytes,
            began: self.began,
            rts: None,
            cts,
            data: (x.data, x.data + x.data_time),
            ack: x.end,
            note,
        })
    }

    fn transfer(&self, role: Role, u: &Underway, ack: Time) -> Option<Transfer> {
        let (bytes, start, end) = u.data?;
        let first = u.rts.map_or(start, |rts| rts.0);
        let before = self.radio.difs + self.radio.mean_backoff;
        let began = Time::from_nanos(first.as_nanos().saturating_sub(before.as_nanos()));
        Some(Transfer { role, bytes, began, rts: u.rts.map(|r| r.1), cts: u.cts, data: (start, end), ack, note: None })
    }
}
