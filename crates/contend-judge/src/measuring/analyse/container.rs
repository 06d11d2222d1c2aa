//! Container formats of captures: classic pcap (microseconds and nanoseconds, both byte orders) and pcapng. Files are
//! read record by record.
//!
//! Formats: draft-ietf-opsawg-pcap §4 and §5, draft-ietf-opsawg-pcapng §3 and §4. docs/decisions/0030 says why no crate
//! is used.

use contend_core::Refusal;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

/// Maximum length of a record or block in bytes. Far above the largest snap length of capture programs (256 KiB).
const LONGEST: u32 = 16 << 20;
/// Maximum number of interfaces in a section.
const MOST_INTERFACES: usize = 65_536;

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Time in nanoseconds since the file's epoch.
    pub at_ns: u64,
    /// Link type (LINKTYPE_ value) of the interface.
    pub link: u16,
    /// Number of the interface in its section; 0 in classic pcap.
    pub interface: u32,
    /// Length on the medium in bytes.
    pub original: u32,
    /// The stored bytes.
    pub bytes: &'a [u8],
}

/// Names of IPv4 addresses, from the name resolution blocks of pcapng.
pub(super) type Names = BTreeMap<[u8; 4], String>;

/// Reads a capture and calls `each` with every packet in the order of the file. Returns the names of addresses.
pub(super) fn read(r: impl Read, each: &mut dyn FnMut(Record<'_>) -> Result<(), Refusal>) -> Result<Names, Refusal> {
    let mut r = Input { r, buffer: Vec::new() };
    let magic = match r.array::<4>()? {
        Some(magic) => magic,
        None => {
            return Err(Refusal::new(
                "the file is empty or shorter than four bytes",
                "use a capture written by tcpdump, Wireshark or `contend run --capture`",
            ));
        }
    };
    // draft-ietf-opsawg-pcap §4: the magic number defines byte order and time resolution.
    match magic {
        [0xd4, 0xc3, 0xb2, 0xa1] => classic(&mut r, Order::Little, 1_000, each),
        [0x4d, 0x3c, 0xb2, 0xa1] => classic(&mut r, Order::Little, 1, each),
        [0xa1, 0xb2, 0xc3, 0xd4] => classic(&mut r, Order::Big, 1_000, each),
        [0xa1, 0xb2, 0x3c, 0x4d] => classic(&mut r, Order::Big, 1, each),
        SECTION => return blocks(&mut r, each),
        [0x1f, 0x8b, ..] => return Err(Refusal::new("the file is compressed", "decompress it first: gunzip FILE")),
        _ => {
            return Err(Refusal::new(
                "the file is not a capture",
                "use a pcap or pcapng file written by tcpdump, Wireshark or `contend run --capture`",
            ));
        }
    }?;
    Ok(Names::new())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u32(self, b: [u8; 4]) -> u32 {
        if self == Order::Little { u32::from_le_bytes(b) } else { u32::from_be_bytes(b) }
    }
    fn u16(self, b: [u8; 2]) -> u16 {
        if self == Order::Little { u16::from_le_bytes(b) } else { u16::from_be_bytes(b) }
    }
    /// The number at offset `at` of `bytes`; `None` beyond the end.
    fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(bytes.get(at..at + 4)?.try_into().ok()?))
    }
    fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(bytes.get(at..at + 2)?.try_into().ok()?))
    }
}

/// A reader that distinguishes the end of the file from a truncated item.
struct Input<R> {
    r: R,
    buffer: Vec<u8>,
}

fn truncated() -> Refusal {
    Refusal::new(
        "the file ends in the middle of a packet: it is truncated",
        "copy the file again, or remove the last packet: editcap FILE WHOLE",
    )
}

impl<R: Read> Input<R> {
    /// The next `N` bytes; `None` at the end of the file.
    fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Refusal> {
        let mut bytes = [0; N];
        let mut have = 0;
        while let Some(rest) = bytes.get_mut(have..).filter(|b| !b.is_empty()) {
            match self.r.read(rest) {
                Ok(0) if have == 0 => return Ok(None),
                Ok(0) => return Err(truncated()),
                Ok(n) => have += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Refusal::new(format!("the file cannot be read: {e}"), "use a readable file")),
            }
        }
        Ok(Some(bytes))
    }

    fn sure<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        self.array()?.ok_or_else(truncated)
    }

    /// The next `n` bytes.
    fn bytes(&mut self, n: u32) -> Result<&[u8], Refusal> {
        if n > LONGEST {
            return Err(Refusal::new(
                format!("a packet or block of {n} bytes is too long: the file is damaged"),
                "make the capture again",
            ));
        }
        self.buffer.clear();
        // Length fields are untrusted: read incrementally, so that a wrong length takes no memory.
        match self.r.by_ref().take(u64::from(n)).read_to_end(&mut self.buffer) {
            Ok(have) if have == n as usize => Ok(&self.buffer),
            Ok(_) => Err(truncated()),
            Err(e) => Err(Refusal::new(format!("the file cannot be read: {e}"), "use a readable file")),
        }
    }
}

/// draft-ietf-opsawg-pcap §4 and §5; `unit` is the time resolution in nanoseconds.
fn classic<R: Read>(
    r: &mut Input<R>,
    order: Order,
    unit: u64,
    each: &mut dyn FnMut(Record<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let header: [u8; 20] = r.sure()?;
    // The upper bits of this field say whether an FCS follows.
    let link = order.u32_at(&header, 16).unwrap_or(0) as u16;
    while let Some(head) = r.array::<16>()? {
        let word = |at| u64::from(order.u32_at(&head, at).unwrap_or(0));
        let at_ns = word(0) * 1_000_000_000 + word(4) * unit;
        let (stored, original) = (word(8) as u32, word(12) as u32);
        each(Record { at_ns, link, interface: 0, original, bytes: r.bytes(stored)? })?;
    }
    Ok(())
}

/// The type of a section header block, the same in both byte orders.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// One interface of a pcapng section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    /// Time units per second: 10^n or 2^n.
    per_second: u64,
    /// Seconds to add to each time.
    offset_s: i64,
}

impl Interface {
    /// Converts a time from this interface's units to nanoseconds.
    fn nanoseconds(&self, units: u64) -> u64 {
        let ns =
            i128::from(units) * 1_000_000_000 / i128::from(self.per_second) + i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

/// draft-ietf-opsawg-pcapng §3.1: each block has its type, its length, its body, and its length again. The caller has
/// read the type of the first block.
fn blocks<R: Read>(
    r: &mut Input<R>,
    each: &mut dyn FnMut(Record<'_>) -> Result<(), Refusal>,
) -> Result<Names, Refusal> {
    let damaged = || Refusal::new("a block has a wrong length: the file is damaged", "make the capture again");
    let mut names = Names::new();
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut order = Order::Little;
    let mut kind = Some(SECTION);
    while let Some(k) = kind {
        let mut length: [u8; 4] = r.sure()?;
        let mut behind = 8;
        if k == SECTION {
            // §4.1: the byte-order magic comes before every field that depends on the byte order.
            order = match r.sure::<4>()? {
                [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
                [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
                _ => {
                    return Err(Refusal::new(
                        "a section has no byte order: the file is damaged or not a capture",
                        "make the capture again",
                    ));
                }
            };
            interfaces.clear();
            behind = 12;
        }
        let length_of = |b| order.u32(b);
        let whole = length_of(length);
        if whole % 4 != 0 || whole < behind + 4 {
            return Err(damaged());
        }
        let body = r.bytes(whole - behind - 4)?;
        match order.u32(k) {
            1 => {
                if interfaces.len() == MOST_INTERFACES {
                    return Err(Refusal::new(
                        "the file has too many interfaces: it is damaged",
                        "make the capture again",
                    ));
                }
                interfaces.push(interface(body, order).ok_or_else(damaged)?);
            }
            2 | 6 => each(packet(body, order, order.u32(k), &interfaces).ok_or_else(damaged)?)?,
            3 => {
                return Err(Refusal::new(
                    "the packets have no times (simple packet blocks)",
                    "capture with times: tcpdump -w FILE",
                ));
            }
            4 => resolve(body, order, &mut names),
            _ => {}
        }
        length = r.sure()?;
        if length_of(length) != whole {
            return Err(damaged());
        }
        kind = r.array()?;
    }
    Ok(names)
}

/// §4.2: an interface description. Times need the options if_tsresol (9) and if_tsoffset (14).
fn interface(body: &[u8], order: Order) -> Option<Interface> {
    let mut found = Interface { link: order.u16_at(body, 0)?, per_second: 1_000_000, offset_s: 0 };
    for (code, value) in options(body.get(8..)?, order) {
        match (code, value) {
            // The highest bit selects powers of two or of ten. Exponents are limited so that the unit fits into 64
            // bits.
            (9, [r, ..]) if r & 0x80 != 0 => found.per_second = 1 << (r & 0x7f).min(63),
            (9, [r, ..]) => found.per_second = 10_u64.pow(u32::from(*r).min(19)),
            (14, v) if v.len() >= 8 => {
                let (a, b) = (order.u32_at(v, 0)?, order.u32_at(v, 4)?);
                let (low, high) = if order == Order::Little { (a, b) } else { (b, a) };
                found.offset_s = (u64::from(high) << 32 | u64::from(low)) as i64;
            }
            _ => {}
        }
    }
    Some(found)
}

/// The options in `bytes`, up to the end-of-options mark or the first invalid option.
fn options(bytes: &[u8], order: Order) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (code, length) = (order.u16_at(rest, 0)?, usize::from(order.u16_at(rest, 2)?));
        let value = rest.get(4..4 + length)?;
        rest = rest.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
        (code != 0).then_some((code, value))
    })
}

/// §4.3: an enhanced packet block; or the obsolete packet block, in which the interface has 16 bits.
fn packet<'a>(body: &'a [u8], order: Order, kind: u32, interfaces: &[Interface]) -> Option<Record<'a>> {
    let number = if kind == 2 { u32::from(order.u16_at(body, 0)?) } else { order.u32_at(body, 0)? };
    let on = interfaces.get(number as usize)?;
    let word = |at| order.u32_at(body, at);
    let units = u64::from(word(4)?) << 32 | u64::from(word(8)?);
    let stored = word(12)? as usize;
    Some(Record {
        at_ns: on.nanoseconds(units),
        link: on.link,
        interface: number,
        original: word(16)?,
        bytes: body.get(20..20_usize.checked_add(stored)?)?,
    })
}

/// §4.5: the records of a name resolution block have the form of options. Type 1 is an IPv4 address and its names; a
/// zero byte ends each name.
fn resolve(body: &[u8], order: Order, names: &mut Names) {
    for (kind, value) in options(body, order) {
        if let (1, Some((ip, text))) = (kind, value.split_first_chunk::<4>()) {
            let name = text.split(|b| *b == 0).next().unwrap_or_default();
            names.insert(*ip, String::from_utf8_lossy(name).into_owned());
        }
    }
}
