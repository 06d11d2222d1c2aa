//! A packet: plain data, copied by value, exactly 128 bytes.
//!
//! A packet has the content of an IP packet with a TCP or UDP header, with two differences. Sequence numbers are 64
//! bits wide and start at 0; capture writers add an initial sequence number and keep 32 bits. Two time stamps are
//! included, only for measurement.

use crate::time::Time;

/// The flow of a packet: an index into the flows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// That of routing messages, which belong to no flow of the run.
    pub const MESSAGES: FlowId = FlowId(u32::MAX);
    /// That of address resolution, which belongs to no flow of the run either.
    pub const RESOLUTION: FlowId = FlowId(u32::MAX - 1);
}

/// One end of a flow. It corresponds to an IP address and a port together.
///
/// The addresses of a run are 0, 1, 2, ... without gaps, so that a forwarding table is an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

/// The ECN field of the IP header (RFC 3168 §5); the value is its two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: to signal congestion, a queue must drop the packet.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport whose sender answers each mark a little, ECT(1) (L4S, RFC 9331 §4.1).
    Ect1 = 0b01,
    /// ECN-capable transport, ECT(0).
    Ect = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The ECN field whose two bits are the low bits of `bits`.
    #[inline]
    pub const fn of(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect,
            0b11 => Ecn::Ce,
            _ => Ecn::NotEct,
        }
    }
    /// True if a queue for L4S takes the packet: ECT(1) and CE (RFC 9331 §5.1). A packet of a classic sender that was
    /// marked before is among them; nothing tells it apart.
    #[inline]
    pub const fn is_l4s(self) -> bool {
        self as u8 & 1 == 1
    }
}

/// TCP header flags (RFC 9293 §3.1), as bits of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// The acknowledgment field is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The highest bit of the counter of accurate ECN (RFC 9768 §3.2). On the air it is the lowest bit of the byte
    /// before the other flags; here it is in the place of URG, which no sender sets.
    pub const AE: Flags = Flags(0x20);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(0x80);

    /// AE, CWR and ECE, which accurate ECN uses as one number.
    pub const ACE: Flags = Flags(Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);

    /// True if every flag of `f` is set.
    pub const fn has(self, f: Flags) -> bool {
        self.0 & f.0 == f.0
    }
    /// The union of both sets of flags.
    pub const fn with(self, f: Flags) -> Flags {
        Flags(self.0 | f.0)
    }
    /// The flags AE, CWR and ECE as a number: the counter of accurate ECN (RFC 9768 §3.2.1).
    pub const fn ace(self) -> u8 {
        (self.has(Flags::AE) as u8) << 2 | (self.has(Flags::CWR) as u8) << 1 | self.has(Flags::ECE) as u8
    }
    /// These flags with `ace`, modulo 8, in AE, CWR and ECE.
    #[must_use]
    pub const fn with_ace(self, ace: u8) -> Flags {
        Flags(self.0 & !Flags::ACE.0 | (ace >> 2 & 1) << 5 | (ace & 0b11) << 6)
    }
}

/// Selective acknowledgment blocks (RFC 2018 §3), newest first, at most four.
///
/// A block is stored as its distance from the cumulative acknowledgment, modulo 2^32 like sequence numbers; a window
/// fits in half of this range. The first block may report a duplicate (RFC 2883), which may lie below the
/// acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Sack {
    /// No block.
    pub const NONE: Sack = Sack { blocks: [(0, 0); 4], len: 0 };

    /// Adds the block `start..end` (bytes after the cumulative acknowledgment). If there are already four blocks, adds
    /// nothing and returns false.
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
    /// The blocks as byte ranges relative to the cumulative acknowledgment, including the block of a duplicate.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
    /// The reported duplicate as a byte range relative to the cumulative acknowledgment: the first block, if it begins
    /// below the acknowledgment or lies inside the second block (RFC 2883 §4, D-SACK).
    pub fn duplicate(&self) -> Option<(i32, i32)> {
        let &(start, end) = self.blocks().first()?;
        let inside = self.blocks().get(1).is_some_and(|&(s, e)| s <= start && end <= e);
        (start as i32 <= -1 || inside).then_some((start as i32, end as i32))
    }
    /// The blocks of data received beyond the cumulative acknowledgment.
    pub fn ahead(&self) -> &[(u32, u32)] {
        &self.blocks()[usize::from(self.duplicate().is_some())..]
    }
    /// True if there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP header and the length of its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte of the payload (a SYN or FIN takes one number, as in RFC 9293).
    pub seq: u64,
    /// Next byte expected from the peer; valid if the ACK flag is set.
    pub ack: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Advertised window in bytes, already scaled.
    pub window: u32,
    /// Timestamp value in ticks of the sender's clock (RFC 7323 §3); 0 if the option is absent.
    pub tsval: u32,
    /// Timestamp echo reply.
    pub tsecr: u32,
    /// Selective acknowledgment.
    pub sack: Sack,
    /// Flags.
    pub flags: Flags,
    /// Window scale of the header field (RFC 7323 §2), needed only to write the packet as bytes.
    pub window_scale: u8,
    /// True if the timestamps option is present.
    pub timestamps: bool,
    /// Transmission number of these bytes: 0 is the first transmission, 1 the first retransmission, and so on. For
    /// traces and scripted loss; no algorithm sees it.
    pub copy: u8,
}

/// The transport content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// TCP. Algorithms on the path read it with [`Packet::tcp`], which returns `None` for a sealed packet.
    Tcp(Segment),
    /// UDP: the number of this datagram in its flow.
    Udp {
        /// Counts from 0.
        seq: u64,
    },
}

/// The header of explicit congestion control (XCP, RCP, WCP, ...), which routers on the path read and change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explicit {
    /// Round-trip time of the sender in microseconds.
    pub rtt_us: u32,
    /// Throughput of the sender in bytes per second.
    pub throughput: u32,
    /// On data: the change of rate or window that the sender requests. On ACKs: the feedback of the network. The kind
    /// of header defines the unit.
    pub change: i32,
}

/// One IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The address of the sender.
    pub src: Address,
    /// The address of the receiver. Forwarding nodes look up the next hop by this address.
    pub dst: Address,
    /// The flow of the packet.
    pub flow: FlowId,
    /// Size of the IP packet in bytes, headers included.
    pub size: u32,
    /// When the first copy left the application or transport; used for the one-way delay.
    pub sent: Time,
    /// When the packet entered its current queue; used for the queueing delay.
    pub queued: Time,
    /// The explicit header. It is valid if [`Packet::explicit_kind`] is not 0.
    pub explicit: Explicit,
    /// Number of the buffer with the bytes of this packet (routing messages, real packets); 0: none.
    pub payload: u32,
    /// Number of nodes that have forwarded the packet.
    pub hops: u8,
    /// On an ACK: [`Packet::hops`] of the acknowledged data packet, in nodes.
    pub hops_echo: u8,
    /// Number of the neighbour to which the packet is sent next; set where it enters the queue of a station on the air.
    pub next_hop: u32,
    /// The Differentiated Services code point of a real packet (RFC 2474); 0: that of its flow.
    pub dscp: u8,
    /// Bits 0 and 1: [`Ecn`]; then [`REVERSE`] and [`SEALED`]; bits 4 to 7: kind of explicit header.
    flags: u8,
    /// Transport header.
    pub body: Body,
}

const ECN: u8 = 0b11;
const REVERSE: u8 = 1 << 2;
const SEALED: u8 = 1 << 3;
const EXPLICIT_SHIFT: u32 = 4;

// Every queue and the event loop copy packets, so a larger packet slows down every run. The size is two cache lines.
const _: () = assert!(size_of::<Packet>() == 128 && size_of::<Option<Packet>>() == 128);

impl Packet {
    /// A packet of `flow` with `size` bytes that leaves at `now`, in the direction of the data, not ECN-capable, not
    /// sealed, without explicit header. Both addresses are 0 until the sender sets them.
    #[inline]
    pub const fn new(flow: FlowId, size: u32, now: Time, body: Body) -> Packet {
        Packet {
            src: Address(0),
            dst: Address(0),
            flow,
            size,
            sent: now,
            queued: now,
            explicit: Explicit { rtt_us: 0, throughput: 0, change: 0 },
            payload: 0,
            hops: 0,
            hops_echo: 0,
            next_hop: 0,
            dscp: 0,
            flags: 0,
            body,
        }
    }
    /// The same packet from `src` to `dst`.
    #[must_use]
    pub const fn between(mut self, src: Address, dst: Address) -> Packet {
        (self.src, self.dst) = (src, dst);
        self
    }
    /// The same packet in the reverse direction, from the receiver of the flow's data to the sender.
    #[inline]
    #[must_use]
    pub const fn reversed(mut self) -> Packet {
        self.set_reverse();
        self
    }
    /// Turns the packet to the reverse direction, see [`Packet::reversed`].
    #[inline]
    pub const fn set_reverse(&mut self) {
        self.flags |= REVERSE;
    }
    /// The same packet encrypted, see [`Packet::set_sealed`].
    #[must_use]
    pub const fn sealed(mut self) -> Packet {
        self.set_sealed(true);
        self
    }
    /// The same packet with this ECN field.
    #[must_use]
    pub const fn with_ecn(mut self, ecn: Ecn) -> Packet {
        self.set_ecn(ecn);
        self
    }
    /// The same packet with another transport header.
    #[must_use]
    pub const fn with_body(mut self, body: Body) -> Packet {
        self.body = body;
        self
    }
    /// The same packet with a Differentiated Services code point of its own.
    #[must_use]
    pub const fn with_dscp(mut self, dscp: u8) -> Packet {
        self.dscp = dscp;
        self
    }
    /// The same packet on its way to the neighbour `next_hop`.
    #[inline]
    #[must_use]
    pub const fn toward(mut self, next_hop: u32) -> Packet {
        self.next_hop = next_hop;
        self
    }
    /// The same packet, stamped as it enters a queue at `now`.
    #[inline]
    #[must_use]
    pub const fn queued_at(mut self, now: Time) -> Packet {
        self.queued = now;
        self
    }

    /// True for a message of stations to each other, which belongs to no flow.
    #[inline]
    pub fn is_message(&self) -> bool {
        self.flow >= FlowId::RESOLUTION
    }

    /// True if the packet travels from the receiver of the flow's data to the sender (the direction of
    /// acknowledgments).
    #[inline]
    pub const fn is_reverse(&self) -> bool {
        self.flags & REVERSE != 0
    }
    /// True if nobody on the path can read the segment: [`Packet::tcp`] then returns `None`.
    #[inline]
    pub const fn is_sealed(&self) -> bool {
        self.flags & SEALED != 0
    }
    /// Encrypts the packet (IPsec, WireGuard, any VPN), so that nobody on the path can read its segment, or decrypts
    /// it.
    #[inline]
    pub const fn set_sealed(&mut self, sealed: bool) {
        self.flags = self.flags & !SEALED | if sealed { SEALED } else { 0 };
    }
    /// The ECN field.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        Ecn::of(self.flags & ECN)
    }
    /// Sets the ECN field.
    #[inline]
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.flags = self.flags & !ECN | ecn as u8;
    }
    /// Kind of the explicit header, 1 to 15; 0: none.
    #[inline]
    pub const fn explicit_kind(&self) -> u8 {
        self.flags >> EXPLICIT_SHIFT
    }
    /// Sets the explicit header with `kind` 1 to 15; 0 removes it. Only the four low bits of `kind` count.
    pub const fn set_explicit(&mut self, kind: u8, header: Explicit) {
        self.flags = self.flags & ((1 << EXPLICIT_SHIFT) - 1) | kind << EXPLICIT_SHIFT;
        self.explicit = header;
    }

    /// The TCP segment if it is readable on the path. Disciplines and control blocks may use only this method.
    #[inline]
    pub fn tcp(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(s) if !self.is_sealed() => Some(s),
            _ => None,
        }
    }
    /// The mutable form of [`Packet::tcp`].
    #[inline]
    pub fn tcp_mut(&mut self) -> Option<&mut Segment> {
        let sealed = self.is_sealed();
        match &mut self.body {
            Body::Tcp(s) if !sealed => Some(s),
            _ => None,
        }
    }
    /// The TCP segment, sealed or not. For the ends of the flow and for counting.
    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(s) => Some(s),
            Body::Udp { .. } => None,
        }
    }
    /// The segment, if it is readable and its only content is a cumulative acknowledgment: reverse direction, no
    /// payload, no flag but ACK, no SACK block.
    pub fn pure_ack(&self) -> Option<&Segment> {
        self.pure_ack_beside(Flags::default())
    }
    /// As [`Packet::pure_ack`], whether the flags `beside` are set or not.
    pub fn pure_ack_beside(&self, beside: Flags) -> Option<&Segment> {
        let pure = |s: &&Segment| s.len == 0 && s.flags.0 & !beside.0 == Flags::ACK.0 && s.sack.is_empty();
        self.tcp().filter(|s| self.is_reverse() && pure(s))
    }
    /// The kind of the packet, for counting. It also covers sealed packets.
    pub fn kind(&self) -> PacketKind {
        match self.segment() {
            None => PacketKind::Datagram,
            Some(s) if s.flags.has(Flags::SYN) => PacketKind::Syn,
            Some(s) if s.len > 0 || s.flags.has(Flags::FIN) => PacketKind::Data,
            Some(_) => PacketKind::Ack,
        }
    }
}

/// Kinds of packet with separate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// A TCP segment with payload.
    Data,
    /// A TCP segment without payload.
    Ack,
    /// A packet of the connection's handshake.
    Syn,
    /// A UDP datagram.
    Datagram,
}

impl PacketKind {
    /// Every kind, in the order of its index `kind as usize`.
    pub const ALL: [PacketKind; 4] = [PacketKind::Data, PacketKind::Ack, PacketKind::Syn, PacketKind::Datagram];

    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            PacketKind::Data => "data",
            PacketKind::Ack => "ack",
            PacketKind::Syn => "syn",
            PacketKind::Datagram => "datagram",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_direction_seal_and_explicit_header_do_not_touch_each_other() {
        let plain = Packet::new(FlowId(0), 40, Time::ZERO, Body::Tcp(Segment::default()));
        let read = |p: &Packet| (p.ecn(), p.is_reverse(), p.is_sealed(), p.explicit_kind());
        assert_eq!(read(&plain), (Ecn::NotEct, false, false, 0));
        let mut all = plain.with_ecn(Ecn::Ect).reversed().sealed();
        all.set_explicit(15, Explicit { rtt_us: 1, throughput: 2, change: -3 });
        assert_eq!(read(&all), (Ecn::Ect, true, true, 15));
        assert_eq!((all.tcp(), all.segment()), (None, Some(&Segment::default())));
        assert_eq!(all.tcp_mut(), None);
        all.set_ecn(Ecn::Ce);
        assert_eq!(read(&all), (Ecn::Ce, true, true, 15));
        all.set_explicit(0, Explicit::default());
        assert_eq!(read(&all.with_ecn(Ecn::NotEct)), (Ecn::NotEct, true, true, 0));
    }

    #[test]
    fn the_counter_of_accurate_ecn_is_three_flags() {
        let all = Flags::SYN.with(Flags::ACK);
        for ace in 0..16 {
            let flags = all.with(Flags::ACE).with_ace(ace);
            assert_eq!((flags.ace(), flags.0 & !Flags::ACE.0), (ace & 7, all.0));
        }
        // RFC 9768 §3.1: AE is the highest bit, ECE the lowest.
        assert_eq!([Flags::AE, Flags::CWR, Flags::ECE].map(Flags::ace), [4, 2, 1]);
    }

    #[test]
    fn every_ecn_field_is_its_two_bits() {
        for bits in 0..4u8 {
            let ecn = Ecn::of(bits);
            let p = Packet::new(FlowId(0), 40, Time::ZERO, Body::Udp { seq: 0 }).with_ecn(ecn);
            assert_eq!((ecn as u8, p.ecn(), ecn.is_l4s()), (bits, ecn, bits & 1 == 1));
        }
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
