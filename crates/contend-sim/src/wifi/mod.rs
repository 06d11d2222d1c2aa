//! IEEE 802.11: the timing tables, the access rules, and a cell in which all stations hear each other.

pub mod access;
mod agents;
mod air;
mod air_link;
mod aql;
mod around;
pub mod bridge;
pub mod bss;
mod cell;
pub mod client;
pub mod contention;
pub mod counters;
pub mod error_model;
mod exchange;
pub mod fading;
mod field;
mod forwarding;
mod frame_log;
pub mod ledger;
mod mac;
mod map;
mod nav;
mod observers;
pub mod phy;
pub mod ppdu;
pub mod propagation;
mod queues;
mod rates;
mod reception;
mod saturated;
pub mod spec;
mod stations;
mod store;
mod successes;
mod timing;

pub use agents::{MessageFault, StationMessage, is_message};
pub use frame_log::FrameLog;
pub use map::{Map, MapLink};
pub use observers::Truth;
pub use rates::Mpdus;
pub use saturated::{ContenderSpec, Saturated, SaturatedSpec, Tally};
pub use successes::Success;

use self::access::Category;
use self::phy::Mode;
use crate::mobility::Point;
use contend_core::{Packet, Span, Time};

/// The number of a station on its channel: first the access points, then the stations of the file. In a cell 0 is the
/// access point, and station i of the file is i + 1.
pub type StationId = u32;

/// The number of a contender in its cell. A number below the number of stations is the station itself (best effort, if
/// the station has categories). The numbers above are the other categories.
pub type Contender = u32;

/// The number of the access point of a cell.
pub const AP: StationId = 0;

/// The receiver of a frame that is for all.
pub const BROADCAST: StationId = StationId::MAX;

/// The speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;

/// The largest IP packet that a data frame carries, in bytes (aMSDUMaxLength 2304 minus LLC/SNAP).
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
    /// Kind of the frame.
    pub kind: FrameKind,
    /// The category of the data of its exchange; best effort if the sender has no categories.
    pub category: Category,
    /// Fate of the frame.
    pub outcome: FrameOutcome,
    /// Rate of its payload in bits per second.
    pub rate: u64,
    /// Its mode, if its format has MCS.
    pub mode: Option<Mode>,
    /// The number of the attempt: 0 is the first.
    pub retry: u8,
    /// Sequence number of the MAC (12 bits), the same for all attempts of a packet.
    pub sequence: u16,
    /// The Duration field: time from the end of this frame to the end of the exchange.
    pub duration: Span,
    /// Size of the MPDU in bytes, including the FCS.
    pub bytes: u32,
    /// The packet a data frame carries; of several the first.
    pub packet: Option<Packet>,
    /// What else a [`FrameLog`] has of it, if it has several packets or a bitmap.
    pub more: More,
    /// Where its transmitter was when it began; `None` in a cell.
    pub origin: Option<Point>,
}

/// What a [`FrameLog`] has of a frame besides the [`Frame`]: the places of the first entry and of the one after the
/// last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum More {
    /// Nothing.
    #[default]
    Nothing,
    /// Data with several packets: entries of [`FrameLog::packets`].
    Packets(u32, u32),
    /// A block acknowledgment: bytes of [`FrameLog::bitmaps`].
    Bitmap(u32, u32),
}

/// A packet of a frame with several packets. Packets in a row with the same sequence number share an MPDU.
#[derive(Clone, Copy, Debug)]
pub struct InFrame {
    /// Sequence number of its MPDU (12 bits).
    pub sequence: u16,
    /// The number of the attempt of its MPDU: 0 is the first.
    pub retry: u8,
    /// Size of its MPDU in bytes, including the FCS.
    pub bytes: u32,
    /// True if the receiver decoded its MPDU.
    pub received: bool,
    /// The packet.
    pub packet: Packet,
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
    /// A clear to send, as the answer to an RTS or as CTS-to-self protection.
    Cts,
    /// A block acknowledgment.
    BlockAck,
    /// A request for a block acknowledgment.
    Request,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    /// The receiver decoded it.
    Received,
    /// It overlapped another.
    Collided,
    /// The channel spoiled it.
    Errored,
}
