//! A packet: plain data, copied by value, at most 128 bytes.
//!
//! What it says is what an IP packet with a TCP or UDP header says, with two liberties: sequence numbers are 64 bits
//! wide and start at 0 (writers of captures add an initial sequence number and cut to 32 bits), and two time stamps
//! travel along for measurement only.

use crate::time::Time;

/// Which flow a packet belongs to: an index into the flows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// The two ECN bits of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: a queue that wants to signal must drop.
    #[default]
    NotEct,
    /// ECN-capable transport, ECT(0).
    Ect,
    /// Congestion experienced.
    Ce,
}

/// TCP header flags (RFC 9293 §3.1), as bits of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// The acknowledgment field is meaningful.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(0x80);

    /// Whether every flag of `f` is set.
    pub const fn has(self, f: Flags) -> bool {
        self.0 & f.0 == f.0
    }
    /// Both sets of flags together.
    pub const fn with(self, f: Flags) -> Flags {
        Flags(self.0 | f.0)
    }
}

/// Selective acknowledgment blocks (RFC 2018 §3), newest first, at most four.
///
/// A block is kept as its distance from the cumulative acknowledgment, modulo 2^32 as sequence numbers are: a window
/// fits half of that. The first may report a duplicate (RFC 2883), which may lie below the acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Sack {
    /// No block.
    pub const NONE: Sack = Sack { blocks: [(0, 0); 4], len: 0 };

    /// Adds the block `start..end` (bytes after the cumulative acknowledgment); returns false, and adds nothing, when
    /// four are there.
    pub fn push(&mut self, start: u32, end: u32) -> bool {
        match self.blocks.get_mut(usize::from(self.len)) {
            Some(b) => {
                *b = (start, end);
                self.len += 1;
                true
            }
            None => false,
        }
    }
    /// The blocks as byte ranges relative to the cumulative acknowledgment, that of a duplicate included.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
    /// What had arrived before, as a byte range relative to the cumulative acknowledgment: the first block, when it
    /// begins below that or lies inside the second (RFC 2883 §4, D-SACK).
    pub fn duplicate(&self) -> Option<(i32, i32)> {
        let &(start, end) = self.blocks().first()?;
        let inside = self.blocks().get(1).is_some_and(|&(s, e)| s <= start && end <= e);
        (start as i32 <= -1 || inside).then_some((start as i32, end as i32))
    }
    /// The blocks of what waits beyond the cumulative acknowledgment.
    pub fn ahead(&self) -> &[(u32, u32)] {
        &self.blocks()[usize::from(self.duplicate().is_some())..]
    }
    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP header and the length of its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte of the payload (a SYN or FIN takes one number, as in RFC 9293).
    pub seq: u64,
    /// Next byte expected from the other side; meaningful when the ACK flag is set.
    pub ack: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Advertised window in bytes, already scaled.
    pub window: u32,
    /// Timestamp value in ticks of the sender's clock (RFC 7323 §3), 0 when the option is absent.
    pub tsval: u32,
    /// Timestamp echo reply.
    pub tsecr: u32,
    /// Selective acknowledgment.
    pub sack: Sack,
    /// Flags.
    pub flags: Flags,
    /// Shift of the advertised window that the header field carries (RFC 7323 §2), needed only to write the packet as
    /// bytes.
    pub window_scale: u8,
    /// Whether the timestamps option is present.
    pub timestamps: bool,
    /// Which transmission of these bytes this is: 0 the first, 1 the first retransmission, ... For traces and scripted
    /// loss, not seen by any algorithm.
    pub copy: u8,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// TCP.
    Tcp(Segment),
    /// TCP inside encryption (IPsec, WireGuard, any VPN): on the way nobody can read the segment, so whoever matches
    /// [`Body::Tcp`] takes it for a datagram.
    Sealed(Segment),
    /// UDP: the number of this datagram in its flow.
    Udp {
        /// Counts from 0.
        seq: u64,
    },
}

/// One IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Size of the IP packet in bytes, headers included.
    pub size: u32,
    /// Whether it travels from the receiver of the flow's data back to the sender (an acknowledgment's way).
    pub reverse: bool,
    /// ECN bits.
    pub ecn: Ecn,
    /// When its first copy left the application or transport, for one-way delay.
    pub sent: Time,
    /// When it entered the queue it is in, for queueing delay.
    pub queued: Time,
    /// Transport header.
    pub body: Body,
}

impl Packet {
    /// The TCP segment, when it is one and can be read on the way: what disciplines and control blocks may look at.
    pub fn tcp(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(s) => Some(s),
            Body::Sealed(_) | Body::Udp { .. } => None,
        }
    }
    /// The TCP segment, sealed or not: for its ends and for counting.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(s) | Body::Sealed(s) => Some(s),
            Body::Udp { .. } => None,
        }
    }
    /// The segment, when it can be read and all that it says is how far data have arrived: on its way back to their
    /// sender, no payload, no flag but ACK, no SACK block.
    pub fn pure_ack(&self) -> Option<&Segment> {
        self.tcp().filter(|s| self.reverse && s.len == 0 && s.flags == Flags::ACK && s.sack.is_empty())
    }
    /// What kind of packet it is, for counting: not what can be seen of it on the way.
    pub fn kind(&self) -> Kind {
        match self.segment() {
            None => Kind::Datagram,
            Some(s) if s.flags.has(Flags::SYN) => Kind::Syn,
            Some(s) if s.len > 0 || s.flags.has(Flags::FIN) => Kind::Data,
            Some(_) => Kind::Ack,
        }
    }
}

/// Kinds of packet that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A TCP segment with payload.
    Data,
    /// A TCP segment without payload.
    Ack,
    /// A connection's first packets.
    Syn,
    /// A UDP datagram.
    Datagram,
}

impl Kind {
    /// Every kind, in the order of its index `kind as usize`.
    pub const ALL: [Kind; 4] = [Kind::Data, Kind::Ack, Kind::Syn, Kind::Datagram];

    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Data => "data",
            Kind::Ack => "ack",
            Kind::Syn => "syn",
            Kind::Datagram => "datagram",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_at_most_128_bytes() {
        assert!(size_of::<Packet>() <= 128, "{}", size_of::<Packet>());
    }

    #[test]
    fn a_fifth_sack_block_is_refused() {
        let mut s = Sack::NONE;
        for i in 0..4 {
            assert!(s.push(i, i + 1));
        }
        assert!(!s.push(9, 10));
        assert_eq!(s.blocks().len(), 4);
    }
}
