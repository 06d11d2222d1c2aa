//! How many packets the queue in front of a bottleneck holds, for example the access point's (Arai et al. 2008 §III.A).
//!
//! The source sends numbered packets as fast as its interface takes them; the sink finds the first missing number N1.
//! While the burst comes in at the rate r_in, the queue is served at the rate r_out, so N1 packets fit into a queue of
//! N1 (1 - r_out / r_in) packets. The document gives N1 and no such correction; both are reported.
//!
//! Repair of T5 in the specification: its other correction, by clocks at both ends, is left out (it is less exact).

mod estimate;
mod sink;
mod source;

pub use estimate::{Estimate, Report, Trial};
pub use sink::{Listening, receive};
pub use source::{Burst, Settings, send};

/// The smallest payload: what a packet says.
pub const LEAST: usize = LENGTH;
/// The default payload: with its headers 1500 bytes of IP.
pub const PAYLOAD: usize = 1472;
/// Packets in a burst.
pub const PACKETS: u32 = 3000;
/// Trials.
pub const TRIALS: u32 = 10;

const MAGIC: &[u8; 4] = b"apb1";

/// What a packet says: its burst, its number in the burst, how many the burst has, and when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    /// Identifies the call of the source.
    call: u32,
    trial: u32,
    number: u32,
    packets: u32,
    /// The source's clock, in nanoseconds.
    stamp: u64,
}

/// Bytes of a packet that are not padding.
const LENGTH: usize = 28;

impl Packet {
    fn write(self, into: &mut [u8]) {
        into[..4].copy_from_slice(MAGIC);
        for (i, n) in [self.call, self.trial, self.number, self.packets].into_iter().enumerate() {
            into[4 + 4 * i..8 + 4 * i].copy_from_slice(&n.to_be_bytes());
        }
        into[20..LENGTH].copy_from_slice(&self.stamp.to_be_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Packet> {
        let four = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        if bytes.get(..4)? != MAGIC {
            return None;
        }
        let stamp = u64::from_be_bytes(bytes.get(20..LENGTH)?.try_into().ok()?);
        Some(Packet { call: four(4)?, trial: four(8)?, number: four(12)?, packets: four(16)?, stamp })
    }
}
