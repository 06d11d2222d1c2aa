//! A TCP segment of a capture: IPv4 or IPv6 and TCP headers. Every byte is untrusted, and the end may be cut off.

use std::net::{IpAddr, SocketAddr};

/// Flags of the TCP header (RFC 9293 §3.1, RFC 3168 §6.1).
pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;
pub(super) const ECE: u8 = 64;
pub(super) const CWR: u8 = 128;

/// What is read of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    /// Bytes of the IP packet.
    pub packet: u32,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// The flag AE of Accurate ECN (RFC 9768).
    pub ae: bool,
    pub window: u16,
    /// Bytes of payload, also if the capture has none of them.
    pub bytes: u32,
    /// Bytes of TCP options.
    pub options: u32,
    /// The option "maximum segment size".
    pub mss: Option<u16>,
    /// SACK blocks (RFC 2018 §3), the first `blocks`.
    pub sack: [(u32, u32); 4],
    pub blocks: usize,
    /// True if the checksum of an IPv4 header is right.
    pub intact: bool,
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

const TCP: u8 = 6;

impl Segment {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The stored SACK blocks.
    pub fn sack(&self) -> &[(u32, u32)] {
        self.sack.get(..self.blocks).unwrap_or(&[])
    }

    /// Reads the segment in an IP packet of at most `most` bytes. `b` has the first of them, and may end early. `None`
    /// if there is no TCP header.
    pub fn read(b: &[u8], most: u32) -> Option<Segment> {
        let (src, dst, header, packet) = match b.first()? >> 4 {
            4 => v4(b, most)?,
            6 => v6(b, most)?,
            _ => return None,
        };
        let t = b.get(header..)?;
        // RFC 9293 §3.1.
        let (offset, flags) = (*t.get(12)?, *t.get(13)?);
        let tcp = 4 * usize::from(offset >> 4);
        if tcp < 20 {
            return None;
        }
        let mut s = Segment {
            from: SocketAddr::new(src, u16_at(t, 0)?),
            to: SocketAddr::new(dst, u16_at(t, 2)?),
            packet,
            seq: u32_at(t, 4)?,
            ack: u32_at(t, 8)?,
            flags,
            ae: offset & 1 != 0,
            window: u16_at(t, 14)?,
            bytes: packet.checked_sub((header + tcp) as u32)?,
            options: tcp as u32 - 20,
            mss: None,
            sack: [(0, 0); 4],
            blocks: 0,
            intact: b.first()? >> 4 == 4 && sum(b.get(..4 * usize::from(b.first()? & 15))?) == 0xffff,
        };
        s.read_options(t.get(20..tcp.min(t.len())).unwrap_or(&[]));
        Some(s)
    }

    fn read_options(&mut self, mut rest: &[u8]) {
        while let Some(&kind) = rest.first() {
            let size = match kind {
                0 => return,
                1 => 1,
                _ => usize::from(rest.get(1).copied().unwrap_or(0)).max(2),
            };
            let Some(option) = rest.get(..size) else { return };
            match (kind, size) {
                (2, 4) => self.mss = u16_at(option, 2),
                (5, _) => {
                    for block in option[2..].chunks_exact(8).take(4) {
                        if let (Some(left), Some(right), Some(to)) =
                            (u32_at(block, 0), u32_at(block, 4), self.sack.get_mut(self.blocks))
                        {
                            *to = (left, right);
                            self.blocks += 1;
                        }
                    }
                }
                _ => {}
            }
            rest = rest.get(size..).unwrap_or(&[]);
        }
    }
}

/// Source, destination, length of the header, length of the packet (RFC 791 §3.1).
fn v4(b: &[u8], most: u32) -> Option<(IpAddr, IpAddr, usize, u32)> {
    let header = 4 * usize::from(b.first()? & 15);
    // Behind the first fragment there is no TCP header.
    if header < 20 || u16_at(b, 6)? & 0x1fff != 0 || *b.get(9)? != TCP {
        return None;
    }
    let address = |at: usize| Some(IpAddr::from(<[u8; 4]>::try_from(b.get(at..at + 4)?).ok()?));
    // A super-segment that the network card will split may have no length.
    let said = u32::from(u16_at(b, 2)?);
    Some((address(12)?, address(16)?, header, if said == 0 { most } else { said }))
}

/// The same of IPv6 (RFC 8200 §3, §4); the header includes the extensions.
fn v6(b: &[u8], most: u32) -> Option<(IpAddr, IpAddr, usize, u32)> {
    let address = |at: usize| Some(IpAddr::from(<[u8; 16]>::try_from(b.get(at..at + 16)?).ok()?));
    let (mut next, mut at) = (*b.get(6)?, 40);
    for _ in 0..8 {
        if next == TCP {
            // Length 0: a jumbogram (RFC 2675), such as a super-segment of more than 64 KiB.
            let said = u32::from(u16_at(b, 4)?);
            return Some((address(8)?, address(24)?, at, if said == 0 { most } else { said + 40 }));
        }
        let (following, length) = (*b.get(at)?, usize::from(*b.get(at + 1)?));
        at += match next {
            0 | 43 | 60 => 8 * (length + 1),
            44 if u16_at(b, at + 2)? & 0xfff8 == 0 => 8,
            51 => 4 * (length + 2),
            _ => return None,
        };
        next = following;
    }
    None
}

/// The sum of the Internet checksum (RFC 1071): 0xffff if the header is right.
fn sum(header: &[u8]) -> u32 {
    let all: u32 = header.chunks_exact(2).map(|p| u32::from(p[0]) << 8 | u32::from(p[1])).sum();
    let once = (all & 0xffff) + (all >> 16);
    (once & 0xffff) + (once >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP from port 1000 to port 2000: sequence number 7, acknowledgment 9, two options, ten bytes.
    fn tcp() -> Vec<u8> {
        let mut t = vec![3, 0xe8, 7, 0xd0, 0, 0, 0, 7, 0, 0, 0, 9, 0xa0, ACK, 1, 0, 0, 0, 0, 0];
        t.extend([1, 1, 5, 10, 0, 0, 0, 20, 0, 0, 0, 30, 2, 4, 5, 0xb4, 0, 0, 0, 0]);
        t
    }

    fn ip6(next: u8, extensions: &[u8]) -> Vec<u8> {
        let length = (extensions.len() + 50) as u16;
        let mut b = [&[0x60, 0, 0, 0][..], &length.to_be_bytes(), &[next, 64]].concat();
        b.extend([[0x20; 16], [0x30; 16]].concat());
        b.extend_from_slice(extensions);
        b.extend(tcp());
        b
    }

    #[test]
    fn headers_of_ipv4() {
        let mut b = vec![0x45, 0, 0, 70, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        b.extend(tcp());
        let s = Segment::read(&b, 9999).unwrap();
        assert_eq!((s.from.to_string(), s.to.to_string()), ("10.0.0.1:1000".into(), "10.0.0.2:2000".into()));
        assert_eq!((s.seq, s.ack, s.bytes, s.options, s.mss), (7, 9, 10, 20, Some(1460)));
        assert_eq!((s.sack(), s.window, s.intact), (&[(20, 30)][..], 256, false));
        // RFC 1071: the complement of the sum of the other bytes.
        let [high, low] = (!(sum(&b[..20]) as u16)).to_be_bytes();
        (b[10], b[11]) = (high, low);
        assert!(Segment::read(&b, 0).unwrap().intact);
        b[3] = 0;
        assert_eq!(Segment::read(&b, 9060).unwrap().bytes, 9000, "a super-segment without a length");
        b[7] = 1;
        assert_eq!(Segment::read(&b, 70), None, "a later fragment");
    }

    #[test]
    fn headers_of_ipv6_with_extensions() {
        assert_eq!(Segment::read(&ip6(6, &[]), 0).unwrap().bytes, 10);
        let hop_and_fragment = [44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 0];
        let s = Segment::read(&ip6(0, &hop_and_fragment), 0).unwrap();
        assert_eq!((s.bytes, s.from.port(), s.intact), (10, 1000, false));
        assert_eq!(Segment::read(&ip6(17, &[]), 0), None);
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        let whole = ip6(6, &[]);
        for n in 0..whole.len() {
            let s = Segment::read(&whole[..n], 0);
            assert_eq!(s.is_some(), n >= 40 + 16, "{n}");
            assert!(s.is_none_or(|s| s.bytes == 10));
        }
    }
}
