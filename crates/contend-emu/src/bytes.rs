//! Real IPv4 packets: reading their headers, and writing back what the network changed.
//!
//! Every byte comes from outside and is untrusted: what cannot be read is refused with a reason and counted.

use contend_core::packet::{Ecn, Flags};
use std::net::Ipv4Addr;

/// The largest IP packet that a host may send, in bytes: the MTU of its TUN device.
pub const MTU: usize = 1500;
/// So many bytes hold every header that is read: IPv4 and TCP, both with all options.
pub const HEADERS: usize = 120;

/// Why a packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not IPv4.
    NotIpv4,
    /// A header is cut off, or a length or an option contradicts another.
    Malformed,
    /// It is a fragment.
    Fragment,
    /// It is longer than [`MTU`].
    TooLong,
    /// It goes to an address that no host has, or comes from one that is not the sender's.
    Address,
    /// Too many flows are open.
    Flows,
}

impl Refused {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Refused; 6] =
        [Refused::NotIpv4, Refused::Malformed, Refused::Fragment, Refused::TooLong, Refused::Address, Refused::Flows];

    /// What results call it.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::NotIpv4 => "not IPv4",
            Refused::Malformed => "malformed",
            Refused::Fragment => "fragments",
            Refused::TooLong => "too long",
            Refused::Address => "unknown address",
            Refused::Flows => "too many flows",
        }
    }
}

/// The headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Sender.
    pub src: Ipv4Addr,
    /// Receiver.
    pub dst: Ipv4Addr,
    /// Size of the whole IP packet in bytes.
    pub size: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// The Differentiated Services code point (RFC 2474).
    pub dscp: u8,
    /// Protocol number: 6 TCP, 17 UDP, 1 ICMP.
    pub protocol: u8,
    /// Source and destination port; of an ICMP echo its identifier, twice; otherwise 0.
    pub ports: [u16; 2],
    /// The TCP header, if it is one.
    pub tcp: Option<Tcp>,
}

/// A TCP header as it is in the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// The window field, not scaled.
    pub window: u16,
    /// Bytes of payload.
    pub len: u32,
    /// Timestamps: value and echo (RFC 7323 §3).
    pub timestamps: Option<[u32; 2]>,
    /// Shift of the window scale option (RFC 7323 §2), at most 14.
    pub window_scale: Option<u8>,
    /// SACK blocks (RFC 2018 §3), the first `blocks`.
    pub sack: [[u32; 2]; 4],
    /// Number of SACK blocks.
    pub blocks: u8,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;

fn u16_at(b: &[u8], i: usize) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(i..i + 2)?.try_into().ok()?))
}

fn u32_at(b: &[u8], i: usize) -> Option<u32> {
    Some(u32::from_be_bytes(b.get(i..i + 4)?.try_into().ok()?))
}

/// The length of the IPv4 header.
fn ip_header(b: &[u8]) -> usize {
    4 * usize::from(b.first().copied().unwrap_or_default() & 15)
}

/// Reads the headers at the beginning of a packet of `whole` bytes. `b` may end after [`HEADERS`] bytes.
///
/// # Errors
/// Why it is refused.
pub fn read(b: &[u8], whole: usize) -> Result<Headers, Refused> {
    // RFC 791 §3.1.
    if b.first().is_none_or(|v| v >> 4 != 4) {
        return Err(Refused::NotIpv4);
    }
    let read = || {
        let (header, size) = (ip_header(b), usize::from(u16_at(b, 2)?));
        if header < 20 || size < header || size != whole {
            return None;
        }
        let fragment = u16_at(b, 6)? & 0x3fff != 0;
        Some((header, size, fragment, *b.get(9)?, u32_at(b, 12)?, u32_at(b, 16)?))
    };
    let (header, size, fragment, protocol, src, dst) = read().ok_or(Refused::Malformed)?;
    if size > MTU {
        return Err(Refused::TooLong);
    }
    if fragment {
        return Err(Refused::Fragment);
    }
    let ecn = Ecn::of(b[1]);
    let body = b.get(header..).ok_or(Refused::Malformed)?;
    let length = size - header;
    let rest = || {
        Some(match protocol {
            TCP => {
                let tcp = read_tcp(body, length)?;
                ([u16_at(body, 0)?, u16_at(body, 2)?], Some(tcp))
            }
            UDP => {
                let said = usize::from(u16_at(body, 4)?);
                if said < 8 || said > length {
                    return None;
                }
                ([u16_at(body, 0)?, u16_at(body, 2)?], None)
            }
            // RFC 792: echo and echo reply have an identifier.
            ICMP => {
                let echo = matches!(body.first()?, 0 | 8);
                let id = u16_at(body, 4)?;
                ([if echo { id } else { 0 }; 2], None)
            }
            _ => ([0; 2], None),
        })
    };
    let (ports, tcp) = rest().ok_or(Refused::Malformed)?;
    Ok(Headers { src: src.into(), dst: dst.into(), size: size as u32, ecn, dscp: b[1] >> 2, protocol, ports, tcp })
}

/// URG, which a packet keeps: [`Flags`] have AE in its place.
const URG: u8 = 0x20;
/// From AE in its byte to its place in [`Flags`].
const AE_SHIFT: u32 = 5;

/// Reads the TCP header at the beginning of the `length` bytes behind the IP header; `None` if it is malformed.
fn read_tcp(b: &[u8], length: usize) -> Option<Tcp> {
    // RFC 9293 §3.1.
    let header = 4 * usize::from(b.get(12)? >> 4);
    if header < 20 || header > length {
        return None;
    }
    let mut tcp = Tcp {
        seq: u32_at(b, 4)?,
        ack: u32_at(b, 8)?,
        flags: Flags(*b.get(13)? & !URG | (*b.get(12)? & 1) << AE_SHIFT),
        window: u16_at(b, 14)?,
        len: (length - header) as u32,
        ..Tcp::default()
    };
    let mut options = b.get(20..header)?;
    while let Some(&kind) = options.first() {
        let size = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(*options.get(1)?).max(2),
        };
        let option = options.get(..size)?;
        match (kind, size) {
            (3, 3) => tcp.window_scale = Some(option[2].min(14)),
            (8, 10) => tcp.timestamps = Some([u32_at(option, 2)?, u32_at(option, 6)?]),
            (5, _) => {
                for block in option[2..].chunks_exact(8).take(4) {
                    tcp.sack[usize::from(tcp.blocks)] = [u32_at(block, 0)?, u32_at(block, 4)?];
                    tcp.blocks += 1;
                }
            }
            _ => {}
        }
        options = &options[size..];
    }
    Some(tcp)
}

/// What the network may change in a packet; `None`: it stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// ECN field.
    pub ecn: Option<Ecn>,
    /// Acknowledgment number.
    pub ack: Option<u32>,
    /// The window field.
    pub window: Option<u16>,
    /// Flags.
    pub flags: Option<Flags>,
}

/// Writes `changes` into a packet that [`read`] has read, and adjusts its checksums.
pub fn write_back(b: &mut [u8], changes: &Changes) {
    let header = ip_header(b);
    if let Some(ecn) = changes.ecn {
        put(b, 0, 10, &[b[0], b[1] & !3 | ecn as u8]);
    }
    // The TCP checksum is at byte 16 of its header.
    let sum = header + 16;
    if let Some(ack) = changes.ack {
        let [high, low] = [ack >> 16, ack & 0xffff].map(|half| (half as u16).to_be_bytes());
        put(b, header + 8, sum, &high);
        put(b, header + 10, sum, &low);
    }
    if let Some(flags) = changes.flags
        && let Some(&offset) = b.get(header + 12)
    {
        let urg = b.get(header + 13).map_or(0, |old| old & URG);
        let ae = (flags.0 & Flags::AE.0) >> AE_SHIFT;
        put(b, header + 12, sum, &[offset & !1 | ae, flags.0 & !URG | urg]);
    }
    if let Some(window) = changes.window {
        put(b, header + 14, sum, &window.to_be_bytes());
    }
}

/// Writes the 16 bits `new` at byte `at`, which is even in its header, and adjusts the checksum at byte `sum`.
fn put(b: &mut [u8], at: usize, sum: usize, new: &[u8; 2]) {
    let (Some(old), Some(checksum)) = (u16_at(b, at), u16_at(b, sum)) else { return };
    // RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
    let mut s = u32::from(!checksum) + u32::from(!old) + u32::from(u16::from_be_bytes(*new));
    while s >> 16 != 0 {
        s = (s & 0xffff) + (s >> 16);
    }
    b[at..at + 2].copy_from_slice(new);
    b[sum..sum + 2].copy_from_slice(&(!(s as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The Internet checksum (RFC 1071) of `parts` in a row, each of even length.
    fn checksum(parts: &[&[u8]]) -> u16 {
        let words =
            parts.iter().flat_map(|p| p.chunks(2)).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
        let mut s: u64 = words.map(u64::from).sum();
        while s >> 16 != 0 {
            s = (s & 0xffff) + (s >> 16);
        }
        !(s as u16)
    }

    /// A TCP segment with these options and payload, with correct checksums.
    fn segment(options: &[u8], payload: &[u8], window: u16) -> Vec<u8> {
        let size = (40 + options.len() + payload.len()) as u16;
        let mut b = vec![0x45, 46 << 2 | 0b10];
        b.extend(size.to_be_bytes());
        b.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        b.extend([0x13, 0x88, 0x00, 0x50]);
        b.extend(1000u32.to_be_bytes());
        b.extend(0xffff_fff0_u32.to_be_bytes());
        b.extend([(5 + options.len() as u8 / 4) << 4, 0x10]);
        b.extend(window.to_be_bytes());
        b.extend([0; 4]);
        b.extend(options);
        b.extend(payload);
        let ip = checksum(&[&b[..20]]);
        b[10..12].copy_from_slice(&ip.to_be_bytes());
        let sum = tcp_sum(&b);
        b[36..38].copy_from_slice(&sum.to_be_bytes());
        b
    }

    /// The TCP checksum of a packet whose field for it is 0; 0 if the field is right.
    fn tcp_sum(b: &[u8]) -> u16 {
        let pseudo = [&b[12..20], &[0, 6], &((b.len() - 20) as u16).to_be_bytes()[..]].concat();
        checksum(&[&pseudo, &b[20..]])
    }

    #[test]
    fn a_segment_is_read_with_its_options() {
        let options = [
            &[2, 4, 5, 0xb4, 1, 3, 3, 7][..],
            &[8, 10, 0, 0, 0, 9, 0, 0, 0, 8, 1, 1],
            &[1, 1, 5, 10, 0, 0, 0, 5, 0, 0, 0, 6],
        ]
        .concat();
        let b = segment(&options, b"hello!", 502);
        let h = read(&b, b.len()).unwrap();
        assert_eq!((h.src, h.dst, h.ports, h.ecn), ([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), [5000, 80], Ecn::Ect));
        assert_eq!(h.dscp, 46);
        let t = h.tcp.unwrap();
        assert_eq!((t.seq, t.ack, t.flags, t.window, t.len), (1000, 0xffff_fff0, Flags::ACK, 502, 6));
        assert_eq!((t.timestamps, t.window_scale, t.blocks, t.sack[0]), (Some([9, 8]), Some(7), 1, [5, 6]));
        // The headers are enough.
        assert_eq!(read(&b[..72], b.len()), Ok(h));
    }

    #[test]
    fn what_is_refused_has_its_reason() {
        let good = segment(&[], b"hello!", 502);
        let with = |at: usize, value: u8| {
            let mut b = good.clone();
            b[at] = value;
            read(&b, b.len()).unwrap_err()
        };
        assert_eq!(with(0, 0x65), Refused::NotIpv4);
        assert_eq!(read(&[], 0), Err(Refused::NotIpv4));
        assert_eq!([with(0, 0x44), with(3, 19), with(3, 200), with(32, 0x40), with(32, 0xf0)], [Refused::Malformed; 5]);
        assert_eq!([with(6, 0x20), with(7, 1)], [Refused::Fragment; 2]);
        let long = segment(&[], &[0; 1462], 1);
        assert_eq!(read(&long, long.len()), Err(Refused::TooLong));
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_panic(
            mut b in prop::collection::vec(any::<u8>(), 0..200), four: bool, protocol in 0u8..20,
        ) {
            if four && b.len() >= 20 {
                (b[0], b[6], b[7], b[9]) = (0x40 | b[0] & 15, 0, 0, protocol);
                let size = (b.len() as u16).to_be_bytes();
                b[2..4].copy_from_slice(&size);
            }
            if read(&b, b.len()).is_ok() {
                let all = Changes { ecn: Some(Ecn::Ce), ack: Some(7), window: Some(1), flags: Some(Flags::ACK) };
                write_back(&mut b, &all);
            }
        }

        #[test]
        fn checksums_are_right_after_every_change(
            ecn in 0u8..4, ack: Option<u32>, window: Option<u16>, flags: Option<u8>,
            payload in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut b = segment(&[1, 1, 1, 1], &payload, 65_535);
            let changes = Changes { ecn: (ecn != 2).then_some(Ecn::of(ecn)), ack, window, flags: flags.map(Flags) };
            write_back(&mut b, &changes);
            // Both forms of zero are right (RFC 1624 §3).
            prop_assert!([0, 0xffff].contains(&checksum(&[&b[..20]])) && [0, 0xffff].contains(&tcp_sum(&b)));
            let h = read(&b, b.len()).unwrap();
            let t = h.tcp.unwrap();
            prop_assert_eq!(h.ecn, Ecn::of(ecn));
            prop_assert_eq!((t.ack, t.window), (ack.unwrap_or(0xffff_fff0), window.unwrap_or(65_535)));
            prop_assert_eq!(t.flags.0, flags.unwrap_or(0x10));
            // AE is in a byte of its own, and URG stays.
            prop_assert_eq!(b[32] & 1, u8::from(t.flags.has(Flags::AE)));
            prop_assert_eq!(b[33] & URG, 0);
        }
    }
}
