//! The bytes of an update: the number of entries, then destination, hops and sequence number of each.
//!
//! ns-2 writes these fields and counts 12 bytes for each entry and 20 for the IP header. So does [`size`].

use super::super::{Malformed, Station};

/// Hops of a broken route.
pub(super) const UNREACHABLE: u8 = 250;

/// Bytes of the count, and of an entry.
const HEAD: usize = 2;
const ENTRY: usize = 9;
/// Bytes on the air: the IP header, and an entry.
const IP: usize = 20;
const ON_AIR: usize = 12;

/// One destination of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Advertised {
    pub(super) to: Station,
    pub(super) hops: u8,
    pub(super) number: u32,
}

/// Most entries of an IP packet of `largest` bytes; at least 1.
pub(super) fn most(largest: usize) -> usize {
    (largest.saturating_sub(IP) / ON_AIR).clamp(1, usize::from(u16::MAX))
}

/// The bytes of an update with at most 65,535 entries.
pub(super) fn write(entries: &[Advertised]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + ENTRY * entries.len());
    bytes.extend((entries.len() as u16).to_be_bytes());
    for a in entries {
        bytes.extend(a.to.to_be_bytes());
        bytes.push(a.hops);
        bytes.extend(a.number.to_be_bytes());
    }
    bytes
}

/// Size of the IP packet of an update in bytes.
pub(super) fn size(bytes: &[u8]) -> u32 {
    (IP + ON_AIR * (bytes.len().saturating_sub(HEAD) / ENTRY)) as u32
}

/// The entries of an update, if it is one, in a network of `stations`.
pub(super) fn read(bytes: &[u8], stations: u32) -> Result<Vec<Advertised>, Malformed> {
    let (head, entries) = bytes.split_first_chunk::<HEAD>().ok_or(Malformed)?;
    if entries.len() != ENTRY * usize::from(u16::from_be_bytes(*head)) {
        return Err(Malformed);
    }
    let entry = |e: &[u8]| match *e {
        [a, b, c, d, hops, w, x, y, z] => {
            let (to, number) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([w, x, y, z]));
            (to < stations && hops <= UNREACHABLE).then_some(Advertised { to, hops, number }).ok_or(Malformed)
        }
        _ => Err(Malformed),
    };
    entries.chunks_exact(ENTRY).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_update_has_two_bytes_and_nine_for_each_entry_and_counts_as_in_ns_2() {
        let entries = [Advertised { to: 258, hops: 3, number: 4 }, Advertised { to: 1, hops: 250, number: 7 }];
        let bytes = write(&entries);
        assert_eq!(bytes, [0, 2, 0, 0, 1, 2, 3, 0, 0, 0, 4, 0, 0, 0, 1, 250, 0, 0, 0, 7]);
        assert_eq!((size(&bytes), read(&bytes, 259)), (20 + 2 * 12, Ok(entries.to_vec())));
        assert_eq!(read(&bytes, 258), Err(Malformed), "a station too many");
        assert_eq!((most(43), most(44), most(0)), (1, 2, 1));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_update_or_malformed(bytes in proptest::collection::vec(0u8..12, 0..40)) {
            if let Ok(entries) = read(&bytes, 1000) {
                prop_assert_eq!(write(&entries), bytes);
            }
        }
    }
}
