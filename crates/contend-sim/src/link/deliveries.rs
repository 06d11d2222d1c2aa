//! A trace of deliveries: at given milliseconds, up to 1500 bytes may leave.
//!
//! Source: mahimahi (Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015), `mm-link`.
//! The trace repeats from its last entry on. Packets share the bytes of an entry; a larger packet takes several
//! entries. Bytes for which no packet waits are lost.
//!
//! Differences from mahimahi:
//! * The packet that waits for the next entry is being sent: it is outside the queue and its limit.
//! * Sizes are those of IP packets; mahimahi adds 4 bytes to each and 4 to the bytes of an entry.

use super::bad_entry::BadEntry;
use contend_core::Time;
use std::sync::Arc;

/// Bytes that may leave at each entry.
const BYTES: u64 = 1500;
const MILLISECOND: u64 = 1_000_000;

/// The milliseconds of all entries, in order. There is at least one above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deliveries {
    at_ms: Vec<u32>,
    /// The last entry: when the trace repeats, in nanoseconds.
    period: u64,
}

impl Deliveries {
    /// The trace with entries at these milliseconds.
    ///
    /// # Errors
    /// If an entry is earlier than the one before it, or if none is later than 0.
    pub fn new(at_ms: Vec<u32>) -> Result<Deliveries, BadEntry> {
        if let Some(i) = at_ms.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(BadEntry::at(i + 1, "is earlier than the entry before it", "write the milliseconds in order"));
        }
        match at_ms.last() {
            Some(&last) if last > 0 => Ok(Deliveries { at_ms, period: u64::from(last) * MILLISECOND }),
            _ => Err(BadEntry::at(
                at_ms.len().saturating_sub(1),
                "is the last entry and not later than 0: the trace would take no time",
                "end with a later millisecond: there the trace repeats",
            )),
        }
    }

    /// Number of entries before the trace repeats; at least 1.
    fn count(&self) -> u64 {
        self.at_ms.len() as u64
    }

    /// When entry `number` is, counted from 0 over all repetitions.
    fn time(&self, number: u64) -> Time {
        let at = self.at_ms.get((number % self.count()) as usize).map_or(0, |ms| u64::from(*ms) * MILLISECOND);
        Time::from_nanos((number / self.count()).saturating_mul(self.period).saturating_add(at))
    }

    /// The number of the first entry after `t`.
    fn first_after(&self, t: Time) -> u64 {
        let (rounds, within) = (t.as_nanos() / self.period, t.as_nanos() % self.period);
        let passed = self.at_ms.partition_point(|ms| u64::from(*ms) * MILLISECOND <= within);
        rounds.saturating_mul(self.count()).saturating_add(passed as u64)
    }
}

/// A trace, and how much of it has been used.
#[derive(Debug)]
pub(super) struct Cursor {
    trace: Arc<Deliveries>,
    /// The number of the last entry that was used, and its time.
    entry: u64,
    at: Time,
    /// Its bytes that are left.
    left: u64,
}

impl Cursor {
    pub(super) fn new(trace: Arc<Deliveries>) -> Cursor {
        Cursor { trace, entry: 0, at: Time::NEVER, left: 0 }
    }

    /// Mean rate in bits per second, at least 1.
    pub(super) fn mean(&self) -> u64 {
        let bits = u128::from(8 * BYTES) * u128::from(self.trace.count());
        u64::try_from(bits * 1_000_000_000 / u128::from(self.trace.period)).unwrap_or(u64::MAX).max(1)
    }

    /// When the last byte of a packet of `bytes` leaves that entered the queue at `queued` and is first from `starts`
    /// on. It may use what the packet before it left of an entry, if it waited before the time of the entry.
    pub(super) fn ends(&mut self, starts: Time, queued: Time, bytes: u32) -> Time {
        if starts != self.at || queued >= starts {
            self.entry = self.trace.first_after(starts);
            self.left = BYTES;
        }
        let bytes = u64::from(bytes);
        if let Some(missing) = bytes.checked_sub(self.left).filter(|missing| *missing > 0) {
            let entries = missing.div_ceil(BYTES);
            self.entry = self.entry.saturating_add(entries);
            self.left = entries * BYTES - missing;
        } else {
            self.left -= bytes;
        }
        self.at = self.trace.time(self.entry);
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(n: u64) -> Time {
        Time::from_nanos(n * MILLISECOND)
    }

    fn cursor(at_ms: &[u32]) -> Cursor {
        Cursor::new(Arc::new(Deliveries::new(at_ms.to_vec()).unwrap()))
    }

    /// Entries at 2, 5, 5 and 10 ms, then at 12, 15, 15 and 20 ms.
    #[test]
    fn packets_share_entries_and_use_several() {
        let mut c = cursor(&[2, 5, 5, 10]);
        // All wait from time zero on.
        assert_eq!(c.ends(ms(0), ms(0), 1000), ms(2));
        assert_eq!(c.ends(ms(2), ms(0), 500), ms(2));
        assert_eq!(c.ends(ms(2), ms(0), 1600), ms(5));
        assert_eq!(c.ends(ms(5), ms(0), 1400), ms(5));
        assert_eq!(c.ends(ms(5), ms(0), 4000), ms(15));
        assert_eq!(c.ends(ms(15), ms(0), 500), ms(15));
        assert_eq!(c.ends(ms(15), ms(0), 1500), ms(15));
        assert_eq!(c.ends(ms(15), ms(0), 1), ms(20));
        // 4 entries of 12,000 bits in 10 ms.
        assert_eq!(c.mean(), 4_800_000);
    }

    #[test]
    fn bytes_for_which_no_packet_waits_are_lost() {
        let mut c = cursor(&[2, 5, 5, 10]);
        assert_eq!(c.ends(ms(0), ms(0), 100), ms(2));
        // It comes at the time of the entry, so it is too late for the 1400 B that are left.
        assert_eq!(c.ends(ms(2), ms(2), 100), ms(5));
        assert_eq!(c.ends(ms(7), ms(7), 100), ms(10));
        // The last entry is the end of the trace, from which it repeats.
        assert_eq!(c.ends(ms(10), ms(10), 1500), ms(12));
        assert_eq!(c.ends(ms(1_000_000), ms(1_000_000), 1500), ms(1_000_002));
    }

    #[test]
    fn entries_at_zero_repeat_with_the_last_entry() {
        let mut c = cursor(&[0, 4]);
        assert_eq!(c.ends(ms(0), ms(0), 1500), ms(4));
        assert_eq!(c.ends(ms(4), ms(0), 1500), ms(4));
        assert_eq!(c.ends(ms(4), ms(0), 1500), ms(8));
    }

    #[test]
    fn a_trace_out_of_order_or_without_an_end_is_refused() {
        let index = |at: &[u32]| Deliveries::new(at.to_vec()).unwrap_err().index;
        assert_eq!(index(&[1, 3, 2]), 2);
        assert_eq!(index(&[0, 0]), 1);
        assert_eq!(index(&[]), 0);
    }

    proptest! {
        #[test]
        fn a_backlog_leaves_as_entries_taken_one_by_one_allow(
            gaps in prop::collection::vec(0u32..5, 1..10), sizes in prop::collection::vec(1u32..5000, 1..100),
        ) {
            let at: Vec<u32> = gaps.iter().scan(1, |at, gap| { *at += gap; Some(*at) }).collect();
            let period = at[at.len() - 1];
            let mut entries = (0..).flat_map(|round| at.iter().map(move |ms| round * period + ms));
            let (mut entry, mut left) = (0, 0);
            let (mut c, mut starts) = (cursor(&at), ms(0));
            for size in sizes {
                let mut missing = size;
                while missing > left {
                    missing -= left;
                    (entry, left) = (entries.next().unwrap(), 1500);
                }
                left -= missing;
                starts = c.ends(starts, ms(0), size);
                prop_assert_eq!(starts, ms(u64::from(entry)));
            }
        }
    }
}
