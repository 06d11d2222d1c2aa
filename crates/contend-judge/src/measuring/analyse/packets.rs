//! IP packets of a capture, each once: Ethernet, Linux cooked (v1 and v2), raw IP, loopback, 802.11 with or without
//! radiotap. The file is read packet by packet.
//!
//! Link types: draft-ietf-opsawg-pcaplinktype; LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2 of tcpdump.org.
//!
//! On the air a packet may appear several times. A MAC retry of a frame that was used, and a packet that an access
//! point relays for one of its stations, are left out.

use super::container::{self, Record};
use super::dissect::radiotap;
use contend_core::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// An IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Time since the first record of the file, in nanoseconds.
    pub at_ns: u64,
    /// Where it was captured: interface and direction, or the transmitter of a network without access points. A packet
    /// that is seen at two places is one packet.
    pub place: u64,
    /// The stored bytes, from the IP header on.
    pub bytes: &'a [u8],
    /// Bytes on the medium from the IP header on; a short frame has padding behind the packet.
    pub length: u32,
    /// True if the FCS of its frame was wrong: any of its bytes may be.
    pub damaged: bool,
}

/// Receives each packet with the time of the first record, in nanoseconds since the file's epoch, and says whether it
/// used the packet.
pub type Each<'e> = dyn FnMut(u64, IpPacket<'_>) -> Result<bool, Refusal> + 'e;

/// Reads a capture.
///
/// # Errors
/// When the file is not a capture, is damaged, has no packet or an unsupported link type, or when `each` fails.
pub fn read(r: impl Read, each: &mut Each<'_>) -> Result<(), Refusal> {
    let (mut first, mut foreign, mut known) = (None, None, false);
    let mut air = Air::default();
    container::read(r, &mut |record| {
        let began_ns = *first.get_or_insert(record.at_ns);
        let mut pass = |place: u64, bytes: &[u8], damaged: bool| {
            // The bytes reach to the end of the record.
            let before = record.bytes.len().saturating_sub(bytes.len());
            let length = record.original.saturating_sub(before as u32);
            each(began_ns, IpPacket { at_ns: record.at_ns.saturating_sub(began_ns), place, bytes, length, damaged })
        };
        let interface = u64::from(record.interface) << 48;
        let found = match record.link {
            105 => return air.frame(record.bytes, interface, false, &mut pass).map(|()| known = true),
            127 => {
                known = true;
                let Some((radio, frame)) = radiotap(record.bytes) else { return Ok(()) };
                return air.frame(frame, interface, radio.corrupted, &mut pass);
            }
            _ => packet(&record),
        };
        match found {
            Ok(None) => known = true,
            Ok(Some((place, bytes))) => {
                known = true;
                pass(interface | place, bytes, false)?;
            }
            Err(link) => foreign = Some(link),
        }
        Ok(())
    })?;
    match foreign {
        _ if first.is_none() => Err(Refusal::new("the file has no packets", "capture for longer")),
        Some(link) if !known => Err(Refusal::new(
            format!(
                "the link type is {link}; supported: Ethernet (1), Linux cooked (113, 276), raw IP (101), loopback (0, \
                108), 802.11 (105), radiotap (127)"
            ),
            "capture on the network interface of the sending host: tcpdump -i eth0 -w FILE tcp",
        )),
        _ => Ok(()),
    }
}

/// Place and bytes of the IP packet in a record that is not 802.11; an error is the unsupported link type.
fn packet<'a>(r: &Record<'a>) -> Result<Option<(u64, &'a [u8])>, u16> {
    let b = r.bytes;
    let of = |kind: Option<u16>, at: usize| kind.and_then(|k| above(k, b.get(at..)?));
    Ok(match r.link {
        1 => of(u16_at(b, 12), 14).map(|p| (0, p)),
        // The type of a cooked packet says whether it arrived (0) or was sent (4); on loopback it does both.
        113 => of(u16_at(b, 14), 16).map(|p| (u64::from(u16_at(b, 0).unwrap_or(0)), p)),
        276 => {
            let index = b.get(4..8).and_then(|i| i.try_into().ok()).map_or(0, u32::from_be_bytes);
            let kind = b.get(10).copied().unwrap_or(0);
            of(u16_at(b, 0), 20).map(|p| (u64::from(index) << 8 | u64::from(kind), p))
        }
        0 | 108 => b.get(4..).map(|p| (0, p)),
        12 | 14 | 101 | 228 | 229 => Some((0, b)),
        other => return Err(other),
    })
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// The IP packet in `bytes`, which follow an EtherType. VLAN tags (IEEE 802.1Q §9.6) are skipped.
fn above(mut kind: u16, mut bytes: &[u8]) -> Option<&[u8]> {
    while matches!(kind, 0x8100 | 0x88a8 | 0x9100) {
        kind = u16_at(bytes, 2)?;
        bytes = bytes.get(4..)?;
    }
    matches!(kind, 0x0800 | 0x86dd).then_some(bytes)
}

/// Transmitter, receiver, traffic identifier (16: none) of frames that are numbered together.
type Link = ([u8; 6], [u8; 6], u8);

/// Transmitters and pairs of stations that are remembered.
const MOST_STATIONS: usize = 65_536;

/// Takes the place of a packet, its bytes, and whether they may be damaged; returns whether it was used.
type Pass<'p> = dyn FnMut(u64, &[u8], bool) -> Result<bool, Refusal> + 'p;

/// What was seen on the air.
#[derive(Debug, Default)]
struct Air {
    numbers: BTreeMap<Link, Numbers>,
    transmitters: BTreeSet<[u8; 6]>,
}

impl Air {
    /// Passes on the packets of an 802.11 frame (IEEE 802.11-2016 §9.2.4).
    fn frame(&mut self, frame: &[u8], interface: u64, damaged: bool, pass: &mut Pass<'_>) -> Result<(), Refusal> {
        let Some(h) = Header::read(frame) else { return Ok(()) };
        // A packet that comes from a station of the same cell was seen when that station sent it.
        if h.relayed_for.is_some_and(|source| self.transmitters.contains(&source)) {
            return Ok(());
        }
        let link = (h.transmitter, h.receiver, h.tid);
        if self.numbers.get(&link).is_some_and(|n| n.repeats(h.number, h.retry)) {
            return Ok(());
        }
        let own = h.transmitter.iter().fold(0, |n, b| n << 8 | u64::from(*b));
        let place = interface ^ if h.infrastructure { 0 } else { own };
        let mut used = false;
        for packet in h.packets() {
            used |= pass(place, packet, damaged)?;
        }
        if used {
            if self.numbers.len() >= MOST_STATIONS {
                self.numbers.clear();
            }
            if self.transmitters.len() >= MOST_STATIONS {
                self.transmitters.clear();
            }
            self.numbers.entry(link).or_default().add(h.number);
            self.transmitters.insert(h.transmitter);
        }
        Ok(())
    }
}

/// The MAC header of a data frame that is not encrypted.
#[derive(Debug)]
struct Header<'a> {
    transmitter: [u8; 6],
    receiver: [u8; 6],
    tid: u8,
    number: u16,
    retry: bool,
    /// True if the frame goes to or comes from an access point.
    infrastructure: bool,
    /// The source, if it is not the transmitter.
    relayed_for: Option<[u8; 6]>,
    /// True if several packets share the frame (A-MSDU).
    shared: bool,
    body: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(b: &'a [u8]) -> Option<Header<'a>> {
        let (first, second) = (*b.first()?, *b.get(1)?);
        let (kind, subtype) = (first & 0x0f, first >> 4);
        // Version 0, data; null frames and encrypted ones have no packet that can be read.
        if kind != 8 || subtype & 0b0111 != 0 || second & 0x40 != 0 {
            return None;
        }
        let address = |at: usize| -> Option<[u8; 6]> { b.get(at..at + 6)?.try_into().ok() };
        let (to_ds, from_ds) = (second & 1 != 0, second & 2 != 0);
        let mut at = if to_ds && from_ds { 30 } else { 24 };
        let (mut tid, mut shared) = (16, false);
        if subtype & 8 != 0 {
            let qos = *b.get(at)?;
            (tid, shared) = (qos & 0x0f, qos & 0x80 != 0);
            // With the order bit an HT Control field follows (§9.2.4.6).
            at += if second & 0x80 != 0 { 6 } else { 2 };
        }
        Some(Header {
            receiver: address(4)?,
            transmitter: address(10)?,
            tid,
            number: u16::from_le_bytes(b.get(22..24)?.try_into().ok()?) >> 4,
            retry: second & 8 != 0,
            infrastructure: to_ds != from_ds,
            relayed_for: if from_ds && !to_ds && !shared { address(16) } else { None },
            shared,
            body: b.get(at..)?,
        })
    }

    /// The IP packets in the frame, each behind LLC and SNAP (RFC 1042).
    fn packets(&self) -> Vec<&'a [u8]> {
        let ip = |b: &'a [u8]| {
            let inside = b.strip_prefix(&[0xaa, 0xaa, 3, 0, 0, 0])?;
            above(u16_at(inside, 0)?, inside.get(2..)?)
        };
        if !self.shared {
            return ip(self.body).into_iter().collect();
        }
        // §9.3.2.2.2: destination, source, length; all but the last are padded to four bytes.
        let (mut rest, mut found) = (self.body, Vec::new());
        while let Some((length, inside)) = u16_at(rest, 12).zip(rest.get(14..)) {
            found.extend(ip(inside));
            rest = rest.get((14 + usize::from(length)).next_multiple_of(4)..).unwrap_or(&[]);
        }
        found
    }
}

/// The sequence numbers that a transmitter has used lately, of 4096.
#[derive(Clone, Debug)]
struct Numbers {
    used: [u64; 64],
    last: u16,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { used: [0; 64], last: 0 }
    }
}

impl Numbers {
    /// True if the frame with this number was used. Not every capture has the retry bit; without it, only a number
    /// within the block acknowledgment window (64) is a repetition.
    fn repeats(&self, n: u16, retry: bool) -> bool {
        let used = self.used[usize::from(n / 64 % 64)] >> (n % 64) & 1 != 0;
        used && (retry || self.last.wrapping_sub(n) % 4096 < 64)
    }

    fn add(&mut self, n: u16) {
        self.used[usize::from(n / 64 % 64)] |= 1 << (n % 64);
        // Numbers half a circle ahead are of the time before: forget them as the last number moves on.
        let step = n.wrapping_sub(self.last) % 4096;
        if step < 2048 {
            for k in 1..=step {
                let old = self.last.wrapping_add(2047 + k) % 4096;
                self.used[usize::from(old / 64)] &= !(1 << (old % 64));
            }
            self.last = n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_remembered_for_half_a_circle() {
        let mut n = Numbers::default();
        n.add(5);
        assert!(n.repeats(5, true) && n.repeats(5, false) && !n.repeats(6, true));
        for k in 6..2000 {
            n.add(k);
        }
        assert!(n.repeats(5, true), "a retry may come late");
        assert!(!n.repeats(5, false), "the transmitter counts from the beginning");
        for k in 2000..4096 + 5 {
            n.add(k % 4096);
        }
        assert!(!n.repeats(5, true), "a new frame has this number again");
    }

    #[test]
    fn tags_of_virtual_networks_are_skipped() {
        let tagged = [0, 5, 0x81, 0, 0, 7, 8, 0, 0x45];
        assert_eq!(above(0x88a8, &tagged), Some(&[0x45][..]));
        assert_eq!(above(0x0806, &tagged), None, "ARP");
        assert_eq!(above(0x8100, &[0]), None);
    }
}
