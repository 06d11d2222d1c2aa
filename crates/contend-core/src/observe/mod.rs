//! Observers estimate the link of a node by listening to the air.
//!
//! An observer gets a report of each frame that its node receives or senses, and of each exchange that its node starts.
//! From them it estimates the capacity and the available bandwidth of the node's link. Disciplines, controllers and
//! control blocks of the node read the result, [`Local`]. An observer uses integers, allocates nothing and sends
//! nothing; the ACKs of its node may carry its [note](Observer::note).
//!
//! The medium reports in order of time. For an exchange that the node itself starts, the answers come first
//! ([`Observer::heard`]), then the exchange as a whole ([`Observer::sent`]). For data that the node receives,
//! [`Observer::heard`] comes before [`Observer::note`], which the ACK then carries.
#![cfg_attr(not(test), deny(clippy::float_arithmetic))]

mod busy;
mod effort;
mod local;
mod transactions;

pub use local::{Correction, Local};

use crate::Refusal;
use crate::packet::Packet;
use crate::registry::Args;
use crate::time::{Span, Time};
use alloc::boxed::Box;
use core::fmt::Debug;

/// Builds an observer from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args, &Radio) -> Result<Box<dyn Observer>, Refusal>;

crate::registry!(Build; rt_winf, idle_gap, adhoc_probe);

/// Estimates the link of one node from what the node hears and sends.
pub trait Observer: Debug + Send {
    /// The node received or sensed a frame, which has just ended.
    fn heard(&mut self, f: &HeardFrame<'_>);
    /// An exchange that the node started has ended.
    fn sent(&mut self, x: &OwnExchange);
    /// What the node's ACK carries that begins at `now`; `None` if it carries nothing.
    fn note(&self, _now: Time) -> Option<Note> {
        None
    }
    /// The estimate at `now`.
    fn local(&self, now: Time) -> Local;
}

/// What an ACK carries for the observer of its receiver, in 4 bytes for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Capacity in bit/s.
    pub capacity: u32,
    /// Available bandwidth in bit/s; `None` if it is not carried.
    pub available: Option<u32>,
}

/// The constants of the node's PHY and MAC, which an observer gets when it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radio {
    /// Rate of the node's data frames in bytes per second.
    pub rate: u64,
    /// SIFS.
    pub sifs: Span,
    /// DIFS.
    pub difs: Span,
    /// Mean backoff of a first attempt: CWmin / 2 slots.
    pub mean_backoff: Span,
    /// Duration of an RTS.
    pub rts: Span,
    /// Duration of a CTS.
    pub cts: Span,
    /// Duration of an ACK.
    pub ack: Span,
}

/// The receiver number of a broadcast frame.
pub const BROADCAST: u32 = u32::MAX;

/// Kinds of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A data frame.
    Data,
    /// The answer to a data frame.
    Ack,
}

/// A frame that a node received or sensed.
#[derive(Clone, Copy, Debug)]
pub struct HeardFrame<'a> {
    /// Its kind. If the frame was not decoded, this field and the next two have no meaning.
    pub kind: Kind,
    /// Number of the sender. A CTS or ACK does not carry it: an observer may use it only for RTS and data.
    pub from: u32,
    /// Number of the receiver, or [`BROADCAST`].
    pub to: u32,
    /// Number of the node that hears the frame.
    pub me: u32,
    /// When it began; if the node was sending then, when the node stopped.
    pub start: Time,
    /// When it ended: now.
    pub end: Time,
    /// Its Duration field: for how long after its end the medium is reserved.
    pub duration: Span,
    /// Bytes of the IP packets in a data frame.
    pub bytes: u32,
    /// True if the node received it without error; false if the node only sensed energy.
    pub decoded: bool,
    /// What an ACK carries for observers.
    pub note: Option<Note>,
    /// The packet of a data frame that this node has decoded.
    pub packet: Option<&'a Packet>,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// The ACK arrived.
    Acked,
    /// No CTS answered the RTS.
    NoCts,
    /// No ACK answered the data.
    NoAck,
    /// The data were for all: nobody answers.
    Broadcast,
}

/// An exchange that the node itself started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnExchange {
    /// Bytes of the IP packets in the data frame.
    pub bytes: u32,
    /// Number of the attempt to send this data frame, from 1.
    pub attempt: u32,
    /// True if an RTS came before the data.
    pub protected: bool,
    /// Its outcome.
    pub outcome: ExchangeOutcome,
    /// When the node began to contend for this attempt: the start of the inter-frame space before its backoff.
    pub began: Time,
    /// The backoff of this attempt: its idle slots.
    pub backoff: Span,
    /// When the data frame began; without a CTS, when it would have begun.
    pub data: Time,
    /// Duration of the data frame.
    pub data_time: Span,
    /// When the ACK ended, or when the node gave up waiting.
    pub end: Time,
}

#[cfg(test)]
mod testbench;
