//! Queue protection: packets of flows that build the L4S queue wait in the classic one instead.
//!
//! Briscoe, White: RFC 9957, the algorithm of DOCSIS 3.1. Each flow has a score: the bytes that it offered times the
//! probability of a native mark that they met, drained at the rate `aging`. It is kept as a time, that from now until
//! the score is 0. While the queue is longer than a critical delay, packets are diverted whose flow's score times the
//! delay is above a product.
//!
//! Flows share a fixed number of buckets. A flow takes the one of two that is its own or empty; if both belong to
//! others with a score, it shares one further bucket with all such flows.
//!
//! The delay is the age of the head of the L4S queue, or the time that the bytes in this queue take at the rate of an
//! exchange of the arriving packet (DOCSIS estimates it from length and rate), whichever is longer. A burst arrives
//! before the head grows old. Above aggregates an exchange of a single packet is slow, so the delay is overestimated.

use super::{Args, Native};
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::time::{Span, Time};
use alloc::vec::Vec;

/// Buckets that a flow may take.
const ATTEMPTS: u32 = 2;

/// The scores of all flows.
#[derive(Debug)]
pub(super) struct Protection {
    critical: Span,
    /// Delay times score above which packets are diverted, in square nanoseconds.
    product: u128,
    /// Bytes per second by which scores shrink.
    aging: f64,
    /// The last one is shared.
    buckets: Vec<Bucket>,
}

/// The score of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    flow: u32,
    /// When the score will be 0.
    empty: Time,
}

/// Spreads the numbers of flows over all bits (the finalizer of MurmurHash3).
fn hash(flow: u32) -> u32 {
    let h = (flow ^ flow >> 16).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

impl Protection {
    /// Queue protection with the settings of `dualpi2`; `None` without.
    pub(super) fn new(args: &Args) -> Option<Protection> {
        let critical = args.time("critical_delay");
        let square = |a: Span, b: Span| u128::from(a.as_nanos()) * u128::from(b.as_nanos());
        args.flag("protection").then(|| Protection {
            critical,
            product: square(critical, args.time("critical_score")),
            aging: args.rate("aging") as f64 / 8.0,
            buckets: alloc::vec![Bucket::default(); 1 + (1 << args.integer("bucket_bits"))],
        })
    }

    /// Counts an arrival for the L4S queue, which has this `delay` and holds `found`. Returns true if
    /// it is to wait in the classic queue.
    pub(super) fn diverts(&mut self, now: Time, p: &Packet, delay: Span, native: &Native, found: Backlog) -> bool {
        let bucket = self.bucket(now, p.flow.0);
        let score = native.probability(delay, found) * f64::from(p.size) / self.aging;
        let bucket = &mut self.buckets[bucket];
        bucket.empty = bucket.empty.max(now).saturating_add(Span::from_nanos((1e9 * score) as u64));
        let score = bucket.empty.since(now);
        delay > self.critical && u128::from(delay.as_nanos()) * u128::from(score.as_nanos()) > self.product
    }

    // RFC 9957 §5.2, pick_bucket.
    fn bucket(&mut self, now: Time, flow: u32) -> usize {
        let shared = self.buckets.len() - 1;
        let (bits, hash) = (shared.trailing_zeros(), hash(flow));
        let places = (0..ATTEMPTS).map(|n| hash.rotate_right(n * bits) as usize & (shared - 1));
        let own = places.clone().find(|i| self.buckets[*i].flow == flow && self.buckets[*i].empty > now);
        let free = || places.clone().find(|i| self.buckets[*i].empty <= now);
        let place = own.or_else(free).unwrap_or(shared);
        self.buckets[place].flow = flow;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::super::PARAMS;
    use super::*;
    use crate::qdisc::testbench::{args, packet};
    use crate::registry::Value;

    const NONE: Backlog = Backlog { packets: 0, bytes: 0 };

    fn protection(set: &[(&'static str, Value)]) -> (Protection, Native) {
        let args = args(PARAMS, &[set, &[("protection", Value::Bool(true))]].concat());
        (Protection::new(&args).unwrap(), Native::new(&args))
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// By hand: 1500 B at 2^19 B/s are 2861 us. With a delay of 1.5 ms the score has to be above 2667 us (4 ms x 1 ms /
    /// 1.5 ms), with 1.2 ms above 3333 us, which the second packet reaches, and the score shrinks by 1 us each us.
    #[test]
    fn a_packet_is_diverted_if_delay_and_score_are_large() {
        let diverts = |delays: &[(u64, u64)]| {
            let (mut q, native) = protection(&[]);
            let one = |(us, delay): &(u64, u64)| {
                q.diverts(at(*us), &packet(7, 1500), Span::from_micros(*delay), &native, NONE)
            };
            delays.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(diverts(&[(0, 1500)]), [true]);
        assert_eq!(diverts(&[(0, 1200), (100, 1200)]), [false, true]);
        // The score has shrunk to 461 us; at 3500 us it was 0.
        assert_eq!(diverts(&[(0, 1200), (2400, 1200), (2500, 1200)]), [false, false, true]);
        assert_eq!(diverts(&[(0, 1200), (3500, 1200)]), [false, false]);
        // No native mark, no score: below the step nothing counts, however much is sent.
        assert_eq!(diverts(&[(0, 1000); 50]), [false; 50]);
    }

    /// Both flows meet the same delay. By hand: 100 B are 191 us, and at 1.1 ms the limit is 3636 us.
    #[test]
    fn the_flow_that_sends_little_stays() {
        let (mut q, native) = protection(&[]);
        let (mut thick, mut thin) = (0, 0);
        for n in 0..100 {
            let (now, delay) = (at(1000 * n), Span::from_micros(1100));
            thick += u32::from(q.diverts(now, &packet(1, 1500), delay, &native, NONE));
            thin += u32::from(q.diverts(now, &packet(2, 100), delay, &native, NONE));
        }
        assert_eq!((thick, thin), (99, 0));
    }

    /// With one bucket beside the shared one the second of two flows has to share.
    #[test]
    fn flows_without_a_bucket_share_one() {
        let (mut q, native) = protection(&[("bucket_bits", Value::Integer(0))]);
        let mut diverts = |flow| q.diverts(at(0), &packet(flow, 1000), Span::from_micros(1200), &native, NONE);
        // 1907 us each; the limit is 3333 us.
        assert_eq!([1, 2, 3, 1].map(&mut diverts), [false, false, true, true]);
    }

    #[test]
    fn a_flow_keeps_its_bucket_while_it_has_a_score() {
        let (mut q, _) = protection(&[]);
        let taken: Vec<usize> = (0..20).map(|flow| q.bucket(at(0), flow)).collect();
        for (flow, &bucket) in (0..20).zip(&taken) {
            assert!(bucket < 32);
            (q.buckets[bucket].flow, q.buckets[bucket].empty) = (flow, at(10));
            assert_eq!(q.bucket(at(5), flow), bucket);
        }
    }
}
