//! TCP Small Queues: how much of a connection may wait in the queue of its own station.
//!
//! Linux, `tcp_small_queue_check` and `tcp_wfree` (Dumazet 2012). The sender counts the bytes below it: what it has
//! handed to its station and what the station has not yet sent, dropped or given up. While they exceed the limit,
//! nothing is sent; the station tells the sender when a packet leaves.
//!
//! Differences from Linux: there is no segmentation offload, so that two packets are two segments; a packet counts with
//! its IP bytes, not with the memory that it takes.

use super::spec::SmallQueue;

/// How fast a sender sends, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub enum Rate {
    /// It keeps to this pacing rate.
    Paced(u64),
    /// It does not pace; this is what it would keep to, and 0 means that it is not known yet.
    Estimated(u64),
}

/// The bytes of one sender that are below it.
#[derive(Debug)]
pub struct Below {
    spec: SmallQueue,
    bytes: u64,
    /// True if the sender waits until a packet leaves.
    throttled: bool,
}

impl Below {
    /// Nothing is below the sender.
    pub fn new(spec: SmallQueue) -> Below {
        Below { spec, bytes: 0, throttled: false }
    }

    /// A packet of so many bytes is handed to the station.
    pub fn enters(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// Packets of so many bytes have left the station. True if the sender waited for it.
    pub fn leaves(&mut self, bytes: u32) -> bool {
        self.bytes = self.bytes.saturating_sub(bytes.into());
        std::mem::take(&mut self.throttled)
    }

    /// True if the sender must wait before it sends a packet of `packet` bytes.
    pub fn holds(&mut self, packet: u32, rate: Rate, retransmission: bool) -> bool {
        let (rate, most) = match rate {
            Rate::Paced(rate) => (rate, u64::MAX),
            Rate::Estimated(0) => (u64::MAX, self.spec.most),
            Rate::Estimated(rate) => (rate, self.spec.most),
        };
        let limit = (2 * u64::from(packet)).max(rate.checked_shr(self.spec.shift).unwrap_or(0)).min(most);
        self.throttled = self.bytes > limit.saturating_mul(1 + u64::from(retransmission));
        self.throttled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(bytes: u32) -> Below {
        let mut below = Below::new(SmallQueue { shift: 10, most: 40_000 });
        below.enters(bytes);
        below
    }

    /// 20 MB/s for 1/1024 s are 19,531 B.
    #[test]
    fn the_limit_follows_the_rate_but_is_at_least_two_packets() {
        let holds = |bytes, rate| below(bytes).holds(1500, Rate::Estimated(rate), false);
        assert_eq!([19_531, 19_532].map(|b| holds(b, 20_000_000)), [false, true]);
        assert_eq!([3000, 3001].map(|b| holds(b, 1_000_000)), [false, true]);
    }

    #[test]
    fn without_pacing_there_is_a_largest_limit_which_holds_before_the_first_sample_too() {
        assert_eq!([40_000, 40_001].map(|b| below(b).holds(1500, Rate::Estimated(0), false)), [false, true]);
        assert_eq!([40_000, 40_001].map(|b| below(b).holds(1500, Rate::Estimated(1 << 40), false)), [false, true]);
        assert!(!below(40_001).holds(1500, Rate::Paced(1 << 40), false));
    }

    #[test]
    fn a_retransmission_may_have_twice_as_much_before_it() {
        assert_eq!([6000, 6001].map(|b| below(b).holds(1500, Rate::Estimated(1_000_000), true)), [false, true]);
    }

    #[test]
    fn only_a_sender_that_waits_is_woken() {
        let mut b = below(9000);
        assert!(b.holds(1500, Rate::Estimated(1_000_000), false) && b.leaves(4000));
        assert!(b.holds(1500, Rate::Estimated(1_000_000), false) && b.leaves(2000) && !b.leaves(1500));
        assert!(!b.holds(1500, Rate::Estimated(1_000_000), false) && !b.leaves(1500));
    }
}
