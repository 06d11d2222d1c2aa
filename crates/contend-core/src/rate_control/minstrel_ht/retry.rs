//! How often a rate is tried in a chain.

use crate::time::Span;

/// How the attempts at a rate are counted.
#[derive(Debug)]
pub(super) struct Retry {
    /// Time for the attempts at one rate, and their largest number.
    pub(super) segment: Span,
    pub(super) attempts: u32,
    pub(super) slot: Span,
    /// Smallest and largest contention window.
    pub(super) windows: (u32, u32),
}

impl Retry {
    /// The attempts that fit into the segment, at least two; `exchange` is the time of one attempt without backoff.
    pub(super) fn attempts(&self, exchange: Span) -> u8 {
        let (mut window, mut time, mut n) = (self.windows.0, Span::ZERO, 0);
        loop {
            time += exchange + self.slot * u64::from(window) / 2;
            window = (window * 2 + 1).min(self.windows.1);
            if (n >= 2 && time >= self.segment) || n >= self.attempts {
                return n.min(255) as u8;
            }
            n += 1;
        }
    }
}
