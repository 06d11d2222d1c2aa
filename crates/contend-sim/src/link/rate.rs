//! How fast a wire sends: at a constant rate, by a table of times and rates, or by a trace of deliveries.

use super::deliveries::{Cursor, Deliveries};
use super::steps::RateSteps;
use contend_core::{Span, Time};
use std::sync::Arc;

/// How fast a wire sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireRate {
    /// Bits per second; 0 means no sending time at all (infinitely fast).
    Constant(u64),
    /// A rate that changes at given times.
    Steps(Arc<RateSteps>),
    /// Bytes that may leave at given times.
    Deliveries(Arc<Deliveries>),
}

impl WireRate {
    /// Bits per second of a constant rate above zero.
    pub fn constant(&self) -> Option<u64> {
        if let WireRate::Constant(bps) = self { Some(*bps).filter(|bps| *bps > 0) } else { None }
    }
}

/// The rate of a wire while it runs.
#[derive(Debug)]
pub(super) enum Pace {
    /// Bits per second; 0: transmission takes no time.
    Constant(u64),
    Steps(Arc<RateSteps>),
    Deliveries(Box<Cursor>),
}

impl Pace {
    pub(super) fn new(rate: &WireRate) -> Pace {
        match rate {
            WireRate::Constant(bps) => Pace::Constant(*bps),
            WireRate::Steps(steps) => Pace::Steps(Arc::clone(steps)),
            WireRate::Deliveries(trace) => Pace::Deliveries(Box::new(Cursor::new(Arc::clone(trace)))),
        }
    }

    /// The time to send `bytes`; at a rate that changes, the time at its mean.
    pub(super) fn sending_time(&self, bytes: u32) -> Span {
        let bps = match self {
            Pace::Constant(0) => return Span::ZERO,
            Pace::Constant(bps) => *bps,
            Pace::Steps(steps) => steps.mean(),
            Pace::Deliveries(cursor) => cursor.mean(),
        };
        Span::of_bits(8 * u64::from(bytes), bps)
    }

    /// When the last bit of a packet of `bytes` leaves that entered the queue at `queued` and begins to be sent at
    /// `starts`. Packets are asked for in the order in which they are sent.
    pub(super) fn ends(&mut self, starts: Time, queued: Time, bytes: u32) -> Time {
        match self {
            Pace::Constant(_) => starts.saturating_add(self.sending_time(bytes)),
            Pace::Steps(steps) => steps.ends(starts, bytes),
            Pace::Deliveries(cursor) => cursor.ends(starts, queued, bytes),
        }
    }
}
