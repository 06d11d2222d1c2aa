//! The packets: 24 bytes, then padding.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..4 | `cbr1` |
//! | 4 | 0 data, 1 a ping, 2 the answer to a ping |
//! | 8..16 | number of the packet, from 0 |
//! | 16..24 | the sender's clock in nanoseconds |
//! | 24..32 | in an answer: the rate at which the sink receives, in bits per second |

/// The smallest payload: 24 B.
pub const LEAST: usize = 24;
/// The largest payload.
pub const LARGEST: usize = crate::udp::MOST_PAYLOAD;
/// Bytes of an answer.
pub(super) const ANSWER: usize = 32;

const MAGIC: &[u8; 4] = b"cbr1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Ping,
    Answer,
}

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub kind: Kind,
    pub number: u64,
    /// The sender's clock, in nanoseconds.
    pub stamp: u64,
    /// The sink's rate in bits per second; 0 unless the packet is an answer.
    pub rate_bps: u64,
}

impl Packet {
    /// Writes the packet at the start of `into`, which has room for its kind.
    pub fn write(self, into: &mut [u8]) {
        into[..4].copy_from_slice(MAGIC);
        into[4..8].copy_from_slice(&[self.kind as u8, 0, 0, 0]);
        into[8..16].copy_from_slice(&self.number.to_be_bytes());
        into[16..24].copy_from_slice(&self.stamp.to_be_bytes());
        if self.kind == Kind::Answer {
            into[24..32].copy_from_slice(&self.rate_bps.to_be_bytes());
        }
    }

    /// Reads a packet; `None` if it is none of ours.
    pub fn read(bytes: &[u8]) -> Option<Packet> {
        let number = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if bytes.get(..4)? != MAGIC {
            return None;
        }
        let kind = [Kind::Data, Kind::Ping, Kind::Answer].into_iter().find(|k| Some(&(*k as u8)) == bytes.get(4))?;
        let rate_bps = if kind == Kind::Answer { number(24)? } else { 0 };
        Some(Packet { kind, number: number(8)?, stamp: number(16)?, rate_bps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (kind, rate_bps) in [(Kind::Data, 0), (Kind::Ping, 0), (Kind::Answer, 77)] {
            let p = Packet { kind, number: 1 << 40, stamp: u64::MAX, rate_bps };
            let mut bytes = [0; 64];
            p.write(&mut bytes);
            assert_eq!(Packet::read(&bytes), Some(p));
        }
    }

    #[test]
    fn other_packets_are_none_of_ours() {
        let mut bytes = [0; 40];
        Packet { kind: Kind::Answer, number: 1, stamp: 2, rate_bps: 3 }.write(&mut bytes);
        (0..ANSWER).for_each(|n| assert_eq!(Packet::read(&bytes[..n]), None, "{n} bytes"));
        bytes[4] = 3;
        assert_eq!(Packet::read(&bytes), None);
        assert_eq!(Packet::read(b"cbr2 and some more bytes than it needs"), None);
    }
}
