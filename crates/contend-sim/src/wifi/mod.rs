//! IEEE 802.11: the timing tables, the access rules, and a cell in which all hear all.

pub mod access;
mod air;
mod air_link;
pub mod bridge;
pub mod bss;
mod cell;
pub mod client;
pub mod contention;
pub mod counters;
mod exchange;
mod frame_log;
pub mod ledger;
mod mac;
pub mod phy;
pub mod ppdu;
mod saturated;
pub mod spec;
mod stations;
mod successes;
mod timing;

pub use frame_log::FrameLog;
pub use saturated::{ContenderSpec, Saturated, SaturatedSpec, Tally};
pub use successes::Success;

use contend_core::{Packet, Span, Time};

/// A station of a cell by number: 0 is the access point, station i of the file is i + 1.
pub type StationId = u32;

/// A contender of a cell by number: those below the number of stations are the stations themselves (where they have
/// categories, best effort), those above the further categories.
pub type Contender = u32;

/// The access point's number.
pub const AP: StationId = 0;

/// Largest IP packet a data frame carries, in bytes (aMSDUMaxLength 2304 less LLC/SNAP).
pub const MAX_PACKET: u32 = 2296;

/// One frame that was on the air, as captures and the report's timeline show it.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// First nanosecond of its preamble.
    pub start: Time,
    /// End of its last symbol, signal extension included.
    pub end: Time,
    /// Transmitter.
    pub from: StationId,
    /// Receiver.
    pub to: StationId,
    /// What it is.
    pub kind: FrameKind,
    /// What became of it.
    pub outcome: FrameOutcome,
    /// Rate of its payload in bits per second.
    pub rate: u64,
    /// Which attempt it is: 0 the first.
    pub retry: u8,
    /// Sequence number of the MAC (12 bits), the same for all attempts of a packet.
    pub sequence: u16,
    /// What the Duration field says: how long the exchange goes on after this frame.
    pub duration: Span,
    /// MPDU in bytes, FCS included.
    pub bytes: u32,
    /// The packet a data frame carries.
    pub packet: Option<Packet>,
}

/// Kinds of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A data frame.
    Data,
    /// An ACK.
    Ack,
    /// A request to send.
    Rts,
    /// A clear to send (as an answer, or to oneself as protection).
    Cts,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    /// Its receiver got it.
    Received,
    /// It overlapped another.
    Collided,
    /// The channel spoilt it.
    Errored,
}
