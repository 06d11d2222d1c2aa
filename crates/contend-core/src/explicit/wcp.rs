//! WCP's header: a mark for the sender, and the notice of the node that sends the frame to the nodes that hear it.
//!
//! All of it fits into [`Explicit`]: `rtt_us` is the sender's round-trip time, `throughput` the control interval of the
//! path in microseconds (the longest round-trip time in the neighbourhoods that it crosses), and `change` holds the
//! mark and the notice. A node writes its notice into every packet that leaves it.

use crate::packet::Explicit;
use crate::time::{Span, Time};

/// Bits of `change`.
const MARK: i32 = 1;
const SOURCE: i32 = 1 << 1;
const END: i32 = 1 << 2;
const NEAR: i32 = 1 << 3;
/// The rest is the interval of the notice, in units of 16 us: up to half an hour.
const INTERVAL_SHIFT: u32 = 4;
const UNIT_US: u32 = 16;

/// The notice of a node to its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// True if its queue, and so each of its links, is congested.
    pub source: bool,
    /// True if a congested link begins or ends at it.
    pub end: bool,
    /// True if it, or one of its neighbours, is an end of a congested link.
    pub near: bool,
    /// The longest round-trip time of the flows that cross it, in microseconds, in steps of 16.
    pub interval_us: u32,
}

/// True if a node on the path has marked the packet.
pub fn is_marked(h: &Explicit) -> bool {
    h.change & MARK != 0
}

/// The header with the mark.
#[must_use]
pub fn marked(h: Explicit) -> Explicit {
    Explicit { change: h.change | MARK, ..h }
}

/// The header that returns both `newer` and `older`: marked if one of them is, with the longer interval.
#[must_use]
pub fn joined(newer: Explicit, older: Explicit) -> Explicit {
    let throughput = newer.throughput.max(older.throughput);
    Explicit { throughput, change: newer.change | older.change & MARK, ..newer }
}

impl Notice {
    /// The notice of the node that sent a packet with this header.
    pub fn of(h: &Explicit) -> Notice {
        Notice {
            source: h.change & SOURCE != 0,
            end: h.change & END != 0,
            near: h.change & NEAR != 0,
            interval_us: (h.change as u32 >> INTERVAL_SHIFT) * UNIT_US,
        }
    }

    /// `h` with this notice.
    #[must_use]
    pub fn written(&self, h: Explicit) -> Explicit {
        let flag = |set: bool, bit| if set { bit } else { 0 };
        let flags = flag(self.source, SOURCE) | flag(self.end, END) | flag(self.near, NEAR);
        let units = self.interval_us.div_ceil(UNIT_US).min(i32::MAX as u32 >> INTERVAL_SHIFT);
        Explicit { change: h.change & MARK | flags | (units << INTERVAL_SHIFT) as i32, ..h }
    }
}

/// The longest of the last values.
#[derive(Clone, Copy, Debug)]
pub struct Longest {
    /// A value counts for this time to twice this time.
    memory: Span,
    /// When the present period ends.
    ends: Time,
    present: u32,
    before: u32,
}

impl Longest {
    /// No value yet; each will count for `memory` to twice `memory`.
    pub fn new(memory: Span) -> Longest {
        Longest { memory, ends: Time::ZERO, present: 0, before: 0 }
    }

    fn turn(&mut self, now: Time) {
        if now >= self.ends {
            self.before = if now < self.ends + self.memory { self.present } else { 0 };
            (self.present, self.ends) = (0, now + self.memory);
        }
    }

    /// A value at `now`.
    pub fn see(&mut self, now: Time, value: u32) {
        self.turn(now);
        self.present = self.present.max(value);
    }

    /// The longest value at `now`; 0 if there is none.
    pub fn at(&mut self, now: Time) -> u32 {
        self.turn(now);
        self.present.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_and_notice_do_not_touch_each_other() {
        let plain = Explicit { rtt_us: 1, throughput: 2, change: 0 };
        for bits in 0..8 {
            let notice =
                Notice { source: bits & 1 != 0, end: bits & 2 != 0, near: bits & 4 != 0, interval_us: 160 * bits };
            let h = notice.written(plain);
            assert_eq!((Notice::of(&h), is_marked(&h)), (notice, false));
            let h = marked(h);
            assert_eq!((Notice::of(&h), is_marked(&h)), (notice, true));
            // The next node writes its own notice, and the mark stays.
            let h = Notice::default().written(h);
            assert_eq!((Notice::of(&h), is_marked(&h)), (Notice::default(), true));
            assert_eq!((h.rtt_us, h.throughput), (1, 2));
        }
        let long = Notice { interval_us: u32::MAX, ..Notice::default() }.written(plain);
        assert!(!is_marked(&long) && Notice::of(&long).interval_us > 1_000_000_000);
    }

    #[test]
    fn joined_headers_keep_the_mark_and_the_longer_interval() {
        let (short, long) =
            (Explicit { throughput: 5, ..Explicit::default() }, Explicit { throughput: 9, ..Explicit::default() });
        for (newer, older) in [(marked(short), long), (short, marked(long)), (marked(long), short)] {
            let h = joined(newer, older);
            assert!(is_marked(&h) && h.throughput == 9);
        }
        assert!(!is_marked(&joined(short, long)));
    }

    #[test]
    fn a_value_counts_for_one_to_two_periods() {
        let ms = |n| Time::ZERO + Span::from_millis(n);
        let mut longest = Longest::new(Span::from_millis(100));
        longest.see(ms(10), 50);
        longest.see(ms(20), 30);
        assert_eq!((longest.at(ms(100)), longest.at(ms(150))), (50, 50));
        longest.see(ms(160), 20);
        assert_eq!((longest.at(ms(200)), longest.at(ms(260))), (50, 20));
        assert_eq!(longest.at(ms(1000)), 0);
    }
}
