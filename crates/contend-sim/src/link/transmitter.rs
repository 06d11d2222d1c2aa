//! What happens to a packet after the queue: transmission, propagation, loss.

use super::ring::InFlight;
use crate::loss::Loss;
use contend_core::qdisc::Link;
use contend_core::{Cx, Packet, Rng, Span, Time};

/// Rate, delay and losses of a wire.
#[derive(Debug)]
pub(super) struct Transmitter {
    /// Bits per second; 0: transmission takes no time.
    rate: u64,
    delay: Span,
    loss: Option<Box<(Box<dyn Loss>, Rng)>>,
    /// The last packet size and its transmission time. Most packets of a direction have the same size, and the division
    /// is the most expensive step.
    last: (u32, Span),
}

impl Transmitter {
    pub(super) fn new(rate: u64, delay: Span, loss: Option<Box<(Box<dyn Loss>, Rng)>>) -> Transmitter {
        Transmitter { rate, delay, loss, last: (0, Span::ZERO) }
    }

    pub(super) fn loses_nothing(&self) -> bool {
        self.loss.is_none()
    }

    pub(super) fn sending_time(&mut self, size: u32) -> Span {
        if self.last.0 != size {
            self.last = (size, self.exchange(0, size));
        }
        self.last.1
    }

    /// When the last bit of `s` reaches the far end.
    #[inline]
    pub(super) fn arrives(&self, s: &InFlight) -> Time {
        s.ends.saturating_add(self.delay)
    }

    /// True if `s` was lost. To be called when `s` has arrived, not earlier: a backlog may last far beyond the end of
    /// the run.
    pub(super) fn loses(&mut self, s: &InFlight) -> bool {
        match &mut self.loss {
            Some(loss) => loss.0.lost(&mut Cx { now: s.ends, rng: &mut loss.1 }, s.packet.size, Some(&s.packet)),
            None => false,
        }
    }
}

impl Link for Transmitter {
    fn neighbour(&self, _: &Packet) -> u32 {
        0
    }
    fn exchange(&self, _: u32, bytes: u32) -> Span {
        if self.rate == 0 { Span::ZERO } else { Span::of_bits(8 * u64::from(bytes), self.rate) }
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::ZERO
    }
}
