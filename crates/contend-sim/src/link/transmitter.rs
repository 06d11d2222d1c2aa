//! What happens to a packet after the queue: transmission, propagation, loss.

use super::rate::Pace;
use super::ring::InFlight;
use crate::loss::Losses;
use contend_core::qdisc::Link;
use contend_core::{Packet, Span, Time};

/// Rate, delay and losses of a wire.
#[derive(Debug)]
pub(super) struct Transmitter {
    pace: Pace,
    delay: Span,
    losses: Option<Box<Losses>>,
    /// The last packet size and its transmission time, at a constant rate. Most packets of a direction have the same
    /// size, and the division is the most expensive step.
    last: (u32, Span),
}

impl Transmitter {
    /// The rate in bits per second, if it is constant and finite.
    pub(super) fn rate(&self) -> Option<u64> {
        if let Pace::Constant(bps) = self.pace { Some(bps).filter(|bps| *bps > 0) } else { None }
    }

    pub(super) fn new(pace: Pace, delay: Span, losses: Option<Box<Losses>>) -> Transmitter {
        Transmitter { pace, delay, losses, last: (0, Span::ZERO) }
    }

    pub(super) fn loses_nothing(&self) -> bool {
        self.losses.is_none()
    }

    /// When the last bit of a packet of `size` leaves that entered the queue at `queued` and begins to be sent at
    /// `starts`. Packets are asked for in the order in which they are sent.
    #[inline]
    pub(super) fn ends(&mut self, starts: Time, queued: Time, size: u32) -> Time {
        if self.last.0 == size {
            return starts.saturating_add(self.last.1);
        }
        self.ends_of_other_size(starts, queued, size)
    }

    #[inline(never)]
    fn ends_of_other_size(&mut self, starts: Time, queued: Time, size: u32) -> Time {
        if let Pace::Constant(_) = self.pace {
            self.last = (size, self.pace.sending_time(size));
        }
        self.pace.ends(starts, queued, size)
    }

    /// When the last bit of `s` reaches the far end.
    #[inline]
    pub(super) fn arrives(&self, s: &InFlight) -> Time {
        s.ends.saturating_add(self.delay)
    }

    /// True if `s` was lost. To be called when `s` has arrived, not earlier: a backlog may last far beyond the end of
    /// the run.
    #[inline]
    pub(super) fn loses(&mut self, s: &InFlight) -> bool {
        match &mut self.losses {
            Some(losses) => losses.lost(s.ends, s.packet.size, Some(&s.packet)),
            None => false,
        }
    }

    /// See [`Losses::excess`].
    pub(super) fn excess_losses(&self) -> f64 {
        self.losses.as_ref().map_or(0.0, |losses| losses.excess())
    }
}

impl Link for Transmitter {
    fn neighbour(&self, _: &Packet) -> u32 {
        0
    }
    /// At a rate that changes, disciplines see its mean.
    fn exchange(&self, _: u32, bytes: u32) -> Span {
        self.pace.sending_time(bytes)
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::ZERO
    }
}
