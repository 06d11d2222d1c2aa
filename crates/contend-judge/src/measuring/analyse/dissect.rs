//! Decodes a record: sender, time and length of a frame. Radiotap and 802.11, Ethernet, raw IP.

use super::container::Record;
use super::{Address, Seen};

/// The decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A contending frame, and its time by the receiver's own clock (TSFT) in nanoseconds.
    Frame(Seen, Option<u64>),
    /// An answer or another control frame: part of an exchange.
    Control,
    /// Cannot be decoded: too short, or an unknown version.
    Unreadable,
    /// An unsupported link type.
    Foreign(u16),
}

/// Decodes a record.
pub(super) fn dissect(r: &Record<'_>) -> What {
    // Numbers from draft-ietf-opsawg-pcaplinktype; some systems write 12 and 14 for raw IP.
    match r.link {
        127 => radiotap(r.bytes).map_or(What::Unreadable, |(radio, frame)| {
            let header = r.bytes.len().saturating_sub(frame.len());
            dot11(frame, r.original.saturating_sub(header as u32), radio, r.at_ns)
        }),
        105 => dot11(r.bytes, r.original, Radio::default(), r.at_ns),
        1 => ethernet(r).unwrap_or(What::Unreadable),
        12 | 14 | 101 | 228 | 229 => ip(r).unwrap_or(What::Unreadable),
        other => What::Foreign(other),
    }
}

/// The radiotap fields of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Radio {
    tsft_ns: Option<u64>,
    /// True if the four bytes of the FCS are stored.
    fcs: bool,
    /// True if the FCS is wrong.
    pub corrupted: bool,
    rate_bps: Option<u64>,
}

/// radiotap.org: version, length, bit masks of the present fields, and the fields in the order of their bits. Each
/// field is aligned to its size. The 802.11 frame follows; `None` if the header is cut off or unknown.
pub(super) fn radiotap(b: &[u8]) -> Option<(Radio, &[u8])> {
    let length = usize::from(u16::from_le_bytes(b.get(2..4)?.try_into().ok()?));
    let (header, frame) = (b.get(..length)?, b.get(length..)?);
    if header.first() != Some(&0) {
        return None;
    }
    let word = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let present = word(4)?;
    let mut at = 8;
    let (mut more, mut last) = (present, 4);
    while more & 1 << 31 != 0 {
        last += 4;
        more = word(last)?;
        at = last + 4;
    }
    let mut radio = Radio::default();
    if present & 1 != 0 {
        at = at.next_multiple_of(8);
        let us = u64::from_le_bytes(header.get(at..at + 8)?.try_into().ok()?);
        radio.tsft_ns = us.checked_mul(1_000);
        at += 8;
    }
    if present & 2 != 0 {
        let flags = *header.get(at)?;
        (radio.fcs, radio.corrupted) = (flags & 0x10 != 0, flags & 0x40 != 0);
        at += 1;
    }
    if present & 4 != 0 {
        radio.rate_bps = Some(u64::from(*header.get(at)?) * 500_000).filter(|r| *r > 0);
    }
    Some((radio, frame))
}

/// IEEE 802.11-2016 §9.2.4: frame control, duration, addresses, sequence control.
fn dot11(frame: &[u8], original: u32, radio: Radio, at_ns: u64) -> What {
    let bytes = original.saturating_add(if radio.fcs { 0 } else { 4 });
    let seen = Seen {
        at_ns,
        from: None,
        bytes,
        packet: None,
        rate_bps: radio.rate_bps,
        retry: false,
        sequence: None,
        corrupted: radio.corrupted,
        data: false,
        ip: None,
        down: false,
    };
    let Some(&[first, second]) = frame.first_chunk::<2>() else { return What::Unreadable };
    if first & 3 != 0 {
        return What::Unreadable;
    }
    let (kind, subtype) = (first >> 2 & 3, first >> 4);
    if kind == 1 {
        // The type of a corrupted frame is unreliable.
        return if radio.corrupted { What::Frame(seen, radio.tsft_ns) } else { What::Control };
    }
    let (Some(mac), Some(control)) = (frame.get(10..16), frame.get(22..24)) else { return What::Unreadable };
    let sequence = control.iter().rev().fold(0, |n, b| n << 8 | u16::from(*b));
    // Data (0) and QoS data (8) carry a packet; null frames do not.
    let data = kind == 2 && subtype & 0b0111 == 0;
    let (to_ds, from_ds, protected) = (second & 1 != 0, second & 2 != 0, second & 0x40 != 0);
    let header = 24 + if to_ds && from_ds { 6 } else { 0 } + if subtype & 8 != 0 { 2 } else { 0 };
    // LLC and SNAP (RFC 1042) come before IPv4; encrypted frames are not decoded further.
    let inside = frame
        .get(header..)
        .filter(|_| data && !protected)
        .and_then(|b| b.strip_prefix(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]));
    let (packet, ip) = inside.and_then(v4).map_or((None, None), |(length, source)| (Some(length), Some(source)));
    let from = mac.try_into().ok().map(Address::Mac);
    What::Frame(
        Seen {
            from,
            packet,
            retry: second & 8 != 0,
            sequence: Some(sequence >> 4),
            data,
            ip,
            down: from_ds && !to_ds,
            ..seen
        },
        radio.tsft_ns,
    )
}

/// Length and source address of an IPv4 packet.
fn v4(b: &[u8]) -> Option<(u32, [u8; 4])> {
    let length = u32::from(u16::from_be_bytes(b.get(2..4)?.try_into().ok()?));
    Some((length, b.get(12..16)?.try_into().ok()?)).filter(|_| b.first().is_some_and(|v| v >> 4 == 4))
}

/// A frame without an 802.11 header: only its time, sender and packet are known.
fn plain(at_ns: u64, from: Address, packet: u32, ip: Option<[u8; 4]>) -> What {
    // On the air, LLC/SNAP, MAC header and FCS are added (802.11-2016 §9.3.2.1, RFC 1042).
    let bytes = packet.saturating_add(contend_sim::wifi::phy::LLC_SNAP + contend_sim::wifi::phy::MAC_OVERHEAD);
    let seen = Seen {
        at_ns,
        from: Some(from),
        bytes,
        packet: Some(packet),
        rate_bps: None,
        retry: false,
        sequence: None,
        corrupted: false,
        data: true,
        ip,
        down: false,
    };
    What::Frame(seen, None)
}

/// IEEE 802.3 §3.2: destination, source, EtherType.
fn ethernet(r: &Record<'_>) -> Option<What> {
    let source = Address::Mac(r.bytes.get(6..12)?.try_into().ok()?);
    let inside = r.bytes.get(14..)?;
    let v4 = if r.bytes.get(12..14)? == [8, 0] { v4(inside) } else { None };
    // Short frames are padded: take the packet's length from the IPv4 header.
    Some(plain(r.at_ns, source, v4.map_or(r.original.saturating_sub(14), |p| p.0), v4.map(|p| p.1)))
}

/// An IP packet without a link layer.
fn ip(r: &Record<'_>) -> Option<What> {
    if let Some((length, source)) = v4(r.bytes) {
        return Some(plain(r.at_ns, Address::Ip4(source), length, Some(source)));
    }
    let v6 = r.bytes.first().is_some_and(|v| v >> 4 == 6);
    let source: [u8; 16] = r.bytes.get(8..24)?.try_into().ok()?;
    v6.then(|| plain(r.at_ns, Address::Ip6(source), r.original, None))
}
