//! The capacity of a link for disciplines that compute rates: from a parameter, from the node's observer of the air, or
//! from the link.

use super::Link;
use crate::explicit::winf::Air;
use crate::observe::Local;
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

/// The parameter `capacity` of a discipline that reads the observer of its node.
pub(super) const OBSERVED_CAPACITY: Param = Param::rate(
    "capacity",
    "capacity of the link; 0bps: what the first observer of the node says, and without observer IP size of the last \
        data packet / its transmission time (on the air: / its exchange without backoff)",
)
.default("0bps")
.range(0.0, 1e12);

/// The capacity of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// Bytes per second; 0: computed from the link.
    given: f64,
    /// True if an observer of the node is asked before the link.
    observed: bool,
    /// Receiver and size in bytes of the last data packet.
    last: Option<(u32, u32)>,
}

impl Capacity {
    /// An unknown capacity counts as infinite.
    pub(super) const UNKNOWN: Capacity = Capacity { given: f64::INFINITY, observed: false, last: None };

    /// Reads the parameter `capacity`. `observed`: an observer of the node is asked before the link.
    pub(super) fn new(args: &Args, observed: bool) -> Capacity {
        Capacity { given: args.rate("capacity") as f64 / 8.0, observed, last: None }
    }

    /// A data packet arrived.
    pub(super) fn arrived(&mut self, link: &dyn Link, p: &Packet) {
        if self.given == 0.0 {
            self.last = Some((link.neighbour(p), p.size));
        }
    }

    /// Bytes per second; infinite if packets take no time, and before the first packet.
    pub(super) fn of(&self, link: &dyn Link) -> f64 {
        if self.given > 0.0 {
            return self.given;
        }
        match (self.local(link).and_then(|l| l.capacity), self.last) {
            (Some(capacity), _) => capacity.max(1) as f64,
            (None, None) => f64::INFINITY,
            (None, Some((neighbour, bytes))) => f64::from(bytes) / link.exchange(neighbour, bytes).as_secs_f64(),
        }
    }

    /// The node's estimate of its air, with `capacity` as the capacity for this discipline. Without an observer, the
    /// available bandwidth is `capacity` minus `input`.
    pub(super) fn air(&self, link: &dyn Link, capacity: f64, input: f64) -> Air {
        let observed = self.local(link).and_then(|l| l.available).map(|rate| rate as f64);
        Air { capacity, available: observed.unwrap_or((capacity - input).max(0.0)) }
    }

    fn local(&self, link: &dyn Link) -> Option<Local> {
        if self.observed { link.local() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Stations, args, packet};
    use super::*;
    use crate::registry::Value;
    use crate::time::Span;

    /// A transmitter whose node knows its air.
    struct Observed(Local);

    impl Link for Observed {
        fn neighbour(&self, p: &Packet) -> u32 {
            Stations.neighbour(p)
        }
        fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
            Stations.exchange(neighbour, bytes)
        }
        fn contention(&self, _: u32) -> Span {
            Span::ZERO
        }
        fn slot(&self) -> Span {
            Span::ZERO
        }
        fn local(&self) -> Option<Local> {
            Some(self.0)
        }
    }

    fn capacity(given: u64, observed: bool) -> Capacity {
        Capacity::new(&args(&[OBSERVED_CAPACITY], &[("capacity", Value::Rate(given))]), observed)
    }

    #[test]
    fn the_parameter_goes_before_the_observer_and_the_observer_before_the_link() {
        let link = Observed(Local { capacity: Some(400_000), available: Some(90_000), ..Local::default() });
        // Station 2 needs 2 us for each byte.
        let p = packet(2, 1000);
        for (given, observed, want) in [(8000, true, 1000.0), (0, true, 400_000.0), (0, false, 500_000.0)] {
            let mut c = capacity(given, observed);
            c.arrived(&link, &p);
            assert_eq!(c.of(&link), want);
        }
        let air = capacity(0, true).air(&link, 400_000.0, 50_000.0);
        assert_eq!((air.capacity, air.available), (400_000.0, 90_000.0));
        let air = capacity(0, true).air(&Stations, 400_000.0, 50_000.0);
        assert_eq!((air.capacity, air.available), (400_000.0, 350_000.0));
    }
}
