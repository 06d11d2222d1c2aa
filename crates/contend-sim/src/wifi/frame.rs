//! A frame that was on the air: what it was, what became of it, what it carried.

use super::ids::{Category, StationId};
use super::medium::phy::{ADDBA_BYTES, ADDBA_EXTENSION_BYTES, Mode};
use crate::mobility::Point;
use contend_core::{Packet, Span, Time};

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
    /// The Duration field: time from the end of this frame to the end of the exchange, or with multiple protection of
    /// the transmission opportunity.
    pub duration: Span,
    /// Size of the MPDU in bytes, including the FCS.
    pub bytes: u32,
    /// The packet a data frame carries; of several the first.
    pub packet: Option<Packet>,
    /// What else a [`FrameLog`](super::FrameLog) has of it, if it has several packets or a bitmap.
    pub more: More,
    /// Where its transmitter was when it began; `None` in a cell.
    pub origin: Option<Point>,
}

/// What a [`FrameLog`](super::FrameLog) has of a frame besides the [`Frame`]: the places of the first entry and of the
/// one after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum More {
    /// Nothing.
    #[default]
    Nothing,
    /// Data with several packets: entries of [`FrameLog::packets`](super::FrameLog::packets).
    Packets(u32, u32),
    /// A block acknowledgment: bytes of [`FrameLog::bitmaps`](super::FrameLog::bitmaps).
    Bitmap(u32, u32),
    /// An action frame.
    Addba(Addba),
}

/// An ADDBA request or response: the handshake before the first A-MPDU to a receiver (IEEE 802.11-2020 §10.25.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addba {
    /// True for the response, which always accepts.
    pub is_response: bool,
    /// True if an MPDU may have several packets.
    pub amsdu: bool,
    /// MPDUs of the window.
    pub window: u16,
    /// The sequence number of the first MPDU under the agreement (12 bits).
    pub first: u16,
}

impl Addba {
    /// Bytes of the frame, with header and FCS.
    pub fn bytes(self) -> u32 {
        ADDBA_BYTES + if self.window > 1023 { ADDBA_EXTENSION_BYTES } else { 0 }
    }
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
    /// The end of a transmission opportunity, for all stations.
    CfEnd,
    /// A beacon of an access point, for all stations.
    Beacon,
    /// An ADDBA request or response, see [`More::Addba`].
    Action,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    /// The receiver decoded it.
    Received,
    /// It overlapped another.
    Collided,
    /// The channel corrupted it.
    Errored,
}

/// The account of a frame, of those of its transmitter ([`StationAccounts`](super::ledger::StationAccounts)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Data: preamble, header and payload, or errored.
    Data {
        /// Duration of PLCP preamble and header.
        preamble: Span,
        /// Duration of the bits of the IP packet alone.
        payload: Span,
    },
    /// ACKs.
    Ack,
    /// RTS, CTS and CF-End: what reserves the medium, and what ends a reservation.
    RtsCts,
    /// Beacons.
    Beacon,
}
