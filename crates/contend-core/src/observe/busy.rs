//! The share of time that is busy: since the beginning, or in a sliding window.
//!
//! The window is cut into parts of equal length. It holds the current part and the [`PARTS`] - 1 before it, so it is at
//! most one part shorter than asked for.

use super::local::ONE;
use crate::time::{Span, Time};

/// Parts of a window.
const PARTS: u64 = 16;

/// Busy time of a node.
#[derive(Debug)]
pub(super) struct Busy {
    /// Length of a part; zero for a window that never ends.
    part: Span,
    /// Busy time of each part, by its number modulo [`PARTS`]; without a window, all in the first.
    busy: [Span; PARTS as usize],
    /// Number of the current part.
    current: u64,
    /// When the observation began; `None` before the first booking.
    began: Option<Time>,
    /// End of the last booked time.
    until: Time,
}

impl Busy {
    /// Nothing observed. A `window` of zero never ends.
    pub(super) fn new(window: Span) -> Busy {
        // A window shorter than its parts' resolution has parts of 1 ns.
        let part = if window.is_zero() { Span::ZERO } else { (window / PARTS).max(Span::from_nanos(1)) };
        Busy { part, busy: [Span::ZERO; PARTS as usize], current: 0, began: None, until: Time::ZERO }
    }

    /// Books `busy` in the transaction from `start` to `until`.
    pub(super) fn book(&mut self, busy: Span, start: Time, until: Time) {
        let began = *self.began.get_or_insert(start);
        self.until = self.until.max(until);
        let number = until.since(began).div_floor(self.part);
        for n in self.current.saturating_add(1)..=number.min(self.current.saturating_add(PARTS)) {
            self.busy[(n % PARTS) as usize] = Span::ZERO;
        }
        self.current = self.current.max(number);
        if self.current - number < PARTS {
            self.busy[(number % PARTS) as usize] += busy;
        }
    }

    /// The free share at `now`, in 2^-20. Without a window, time ends with the last transaction (Barreto 2012 Table
    /// 4.1: the last captured ACK).
    pub(super) fn free_q20(&self, now: Time) -> u64 {
        let Some(began) = self.began else { return ONE };
        let end = if self.part.is_zero() { self.until } else { self.until.max(now) };
        // Parts that ended since the last booking have no busy time.
        let last = end.since(began).div_floor(self.part).max(self.current);
        let first = (last + 1).saturating_sub(PARTS);
        let busy = (first..=self.current).fold(Span::ZERO, |sum, n| sum + self.busy[(n % PARTS) as usize]);
        let length = end.since(began).saturating_sub(self.part * first).as_nanos();
        let busy_q20 = (u128::from(busy.as_nanos()) << 20).checked_div(u128::from(length)).unwrap_or(0);
        ONE.saturating_sub(u64::try_from(busy_q20).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }
    fn at(n: u64) -> Time {
        Time::ZERO + ms(n)
    }
    fn percent(b: &Busy, now: u64) -> u64 {
        (b.free_q20(at(now)) * 100 + ONE / 2) / ONE
    }

    #[test]
    fn nothing_heard_is_free() {
        assert_eq!(percent(&Busy::new(Span::ZERO), 0), 100);
        assert_eq!(percent(&Busy::new(ms(1000)), 5000), 100);
    }

    #[test]
    fn without_a_window_time_ends_with_the_last_transaction() {
        let mut b = Busy::new(Span::ZERO);
        b.book(ms(30), at(1000), at(1040));
        b.book(ms(30), at(1060), at(1100));
        assert_eq!((percent(&b, 1100), percent(&b, 9000)), (40, 40));
    }

    #[test]
    fn a_window_forgets_and_counts_idle_time() {
        let mut b = Busy::new(ms(1600));
        for i in 0..100 {
            b.book(ms(50), at(100 * i), at(100 * i + 90));
        }
        // 10 s of half load, then silence: 1500 to 1600 ms are in the window.
        assert_eq!(percent(&b, 9999), 50);
        assert!((70..=80).contains(&percent(&b, 10_800)), "{}", percent(&b, 10_800));
        assert_eq!(percent(&b, 11_700), 100);
        assert_eq!(percent(&b, 99_000), 100);
        // Load after a long silence counts alone.
        b.book(ms(80), at(200_000), at(200_080));
        assert!((94..=96).contains(&percent(&b, 200_080)), "{}", percent(&b, 200_080));
    }

    #[test]
    fn more_busy_time_than_time_leaves_nothing() {
        let mut b = Busy::new(Span::ZERO);
        b.book(ms(30), at(0), at(10));
        assert_eq!(percent(&b, 10), 0);
    }
}
