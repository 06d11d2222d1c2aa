//! The capacity of a link for disciplines that compute rates: a parameter, or what the link says.

use super::Link;
use crate::packet::Packet;
use crate::registry::{Args, Param};

/// The parameter `capacity`.
pub(super) const CAPACITY: Param = Param::rate(
    "capacity",
    "capacity of the link; 0bps: IP size of the last data packet / its transmission time (on the air: / its exchange \
        without backoff)",
)
.default("0bps")
.range(0.0, 1e12);

/// The capacity of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// Bytes per second; 0: as the link says.
    given: f64,
    /// Receiver and size in bytes of the last data packet.
    last: Option<(u32, u32)>,
}

impl Capacity {
    /// Reads the parameter `capacity`.
    pub(super) fn new(args: &Args) -> Capacity {
        Capacity { given: args.rate("capacity") as f64 / 8.0, last: None }
    }

    /// A data packet arrived.
    pub(super) fn arrived(&mut self, link: &dyn Link, p: &Packet) {
        if self.given == 0.0 {
            self.last = Some((link.neighbour(p), p.size));
        }
    }

    /// Bytes per second; infinite if packets take no time, and before the first packet.
    pub(super) fn of(&self, link: &dyn Link) -> f64 {
        match self.last {
            None if self.given > 0.0 => self.given,
            None => f64::INFINITY,
            Some((neighbour, bytes)) => f64::from(bytes) / link.exchange(neighbour, bytes).as_secs_f64(),
        }
    }
}
