//! The time that a sending host needs for each packet, between its transport and the network.
//!
//! Floyd, Jacobson 1992, "On traffic phase effects in packet-switched gateways": if each packet follows its
//! acknowledgment at once, the packets of a flow keep their phase at a drop-tail queue, and the same flow meets the
//! full queue each time. A random time of up to one transmission time of the bottleneck removes this.
//!
//! Differences from ns-2's `overhead_`:
//! - Each packet has its own time. ns-2 draws one time for all packets that the window allows at that moment.
//! - Retransmissions have a time too.
//! - Round-trip samples include this time, as Linux's include the time in the host's queues.

use super::spec::UniformSpan;
use crate::rng;
use contend_core::{Packet, Rng, Time};
use rand::RngExt as _;
use std::collections::VecDeque;

/// The packets of one sender that the host still processes. They leave in the order in which they came.
#[derive(Debug)]
pub struct Overhead {
    law: UniformSpan,
    rng: Rng,
    /// When the last packet leaves or left; no packet leaves before an earlier one.
    last: Time,
    /// Each packet that has not left, and when it leaves.
    held: VecDeque<(Time, Packet)>,
}

impl Overhead {
    /// The stage of the flow `name`: the time of each packet is drawn from `law`. `seed` is the run's.
    pub fn new(seed: u64, name: &str, law: UniformSpan) -> Overhead {
        Overhead { law, rng: rng::stream(seed, name, "overhead"), last: Time::ZERO, held: VecDeque::new() }
    }

    /// Takes `p` from the transport at `now`.
    pub fn take(&mut self, now: Time, p: &Packet) {
        let UniformSpan { low, high } = self.law;
        let takes = if low < high { self.rng.random_range(low.as_nanos()..=high.as_nanos()) } else { low.as_nanos() };
        self.last = self.last.max(Time::from_nanos(now.as_nanos().saturating_add(takes)));
        self.held.push_back((self.last, *p));
    }

    /// Removes the next packet that leaves by `now`.
    pub fn give(&mut self, now: Time) -> Option<Packet> {
        self.held.pop_front_if(|(at, _)| *at <= now).map(|(_, p)| p)
    }

    /// When the next packet leaves.
    pub fn deadline(&self) -> Time {
        self.held.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Number of packets that have not left.
    pub fn held(&self) -> u64 {
        self.held.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{Body, FlowId, Span};

    fn packet(seq: u64) -> Packet {
        Packet::new(FlowId(0), 1500, Time::ZERO, Body::Udp { seq })
    }

    fn us(n: u64) -> Time {
        Time::from_nanos(1000 * n)
    }

    /// The departure times and the numbers of 1000 packets that come 10 us apart.
    fn departures(seed: u64, low: u64, high: u64) -> Vec<(Time, u64)> {
        let law = UniformSpan { low: Span::from_micros(low), high: Span::from_micros(high) };
        let mut o = Overhead::new(seed, "f", law);
        (0..1000).for_each(|i| o.take(us(10 * i), &packet(i)));
        assert_eq!((o.held(), o.give(Time::ZERO)), (1000, None));
        let mut left = Vec::new();
        while o.deadline() < Time::NEVER {
            let now = o.deadline();
            while let Some(p) = o.give(now) {
                let Body::Udp { seq } = p.body else { panic!() };
                left.push((now, seq));
            }
        }
        assert_eq!(o.held(), 0);
        left
    }

    #[test]
    fn packets_leave_in_order_after_a_time_within_the_bounds() {
        let left = departures(1, 20, 500);
        assert!(left.iter().map(|l| l.1).eq(0..1000));
        assert!(left.windows(2).all(|w| w[0].0 <= w[1].0));
        assert!(left.iter().all(|(at, i)| (us(10 * i + 20)..=us(10 * i + 500)).contains(at)));
        // Each packet draws its own time, also while other packets wait.
        let alone = departures(1, 0, 9);
        assert!(alone.iter().any(|(at, i)| *at < us(10 * i + 2)) && alone.iter().any(|(at, i)| *at > us(10 * i + 7)));
        assert_ne!(departures(2, 20, 500), left);
    }

    #[test]
    fn a_constant_time_draws_nothing() {
        assert!(departures(1, 100, 100).iter().all(|(at, i)| *at == us(10 * i + 100)));
        assert_eq!(departures(1, 100, 100), departures(2, 100, 100));
    }
}
