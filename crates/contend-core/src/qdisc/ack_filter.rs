//! A FIFO in which a new acknowledgment replaces the waiting one of its flow, as in routers on slow uplinks.
//!
//! ACK Filtering of RFC 3449 §5.2.1, with CAKE's care for acknowledgments that carry more than a number.
//!
//! - The new acknowledgment takes the place of the old one. A flow with a steady stream of acknowledgments therefore
//!   still reaches the front. All flows share one queue.
//! - Duplicates and acknowledgments with SACK blocks or flags are kept. No acknowledgment is replaced across such a
//!   packet, so the order within a flow is kept.

use super::fifo::LIMIT;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::packet::Packet;
use crate::recent::Recent;
use crate::registry::{Amount, Param};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Source of the algorithm.
pub const CITE: &str =
    "RFC 3449 §5.2.1, ACK Filtering; Høiland-Jørgensen, Täht, Morton, \"Piece of CAKE\", LANMAN 2018";
/// What it does.
pub const SUMMARY: &str = "FIFO that filters acknowledgments: a cumulative acknowledgment replaces the older one of \
    its flow that still waits.";
/// Parameters.
pub const PARAMS: &[Param] = &[LIMIT];

/// Builds the discipline.
///
/// # Errors
/// Never: every limit in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(AckFilter {
        limit: args.amount("limit"),
        waiting: Backlog::default(),
        queue: VecDeque::new(),
        gone: 0,
        flows: Recent::default(),
    }))
}

/// The queue.
#[derive(Debug)]
pub struct AckFilter {
    limit: Amount,
    waiting: Backlog,
    queue: VecDeque<Packet>,
    /// Number of packets that have left at the front, which is the number of the first waiting packet.
    gone: u64,
    flows: Recent<Flow>,
}

/// State of one flow.
#[derive(Debug, Default)]
struct Flow {
    /// The highest acknowledgment seen.
    highest: u64,
    /// Number of the packet that may be replaced.
    waiting: Option<u64>,
}

impl Qdisc for AckFilter {
    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        let fits = self.waiting.has_room(self.limit, &p);
        if let Some(seg) = p.tcp().filter(|_| p.is_reverse()) {
            while self.flows.forget(cx.now, |f| f.waiting.is_some()).is_some() {}
            let f = self.flows.see(cx.now, p.flow, Flow::default);
            let new = seg.ack > f.highest && p.pure_ack().is_some();
            f.highest = f.highest.max(seg.ack);
            // RFC 3449 §5.2.1: a cumulative acknowledgment makes an older one redundant.
            if new && let Some(old) = f.waiting.and_then(|n| self.queue.get_mut((n - self.gone) as usize)) {
                let old = core::mem::replace(old, p);
                self.waiting.add(&p);
                self.waiting.remove(&old);
                return sink.drop(old, DropReason::Filtered);
            }
            if fits {
                f.waiting = new.then_some(self.gone + self.queue.len() as u64);
            }
        }
        if !fits {
            return sink.drop(p, DropReason::Full);
        }
        self.waiting.add(&p);
        self.queue.push_back(p);
    }

    fn dequeue(&mut self, _: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        if let Some(f) = self.flows.get_mut(p.flow) {
            f.waiting = f.waiting.filter(|n| *n != self.gone);
        }
        self.gone += 1;
        self.waiting.remove(&p);
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Flags, FlowId, Segment};
    use crate::registry::Value;
    use crate::time::{Span, Time};
    use alloc::vec::Vec;
    use rand::SeedableRng as _;

    struct PlainLink;
    impl Link for PlainLink {
        fn neighbour(&self, _: &Packet) -> u32 {
            0
        }
        fn exchange(&self, _: u32, _: u32) -> Span {
            Span::ZERO
        }
        fn contention(&self, _: u32) -> Span {
            Span::ZERO
        }
        fn slot(&self) -> Span {
            Span::ZERO
        }
    }

    fn tcp(flow: u32, reverse: bool, s: Segment) -> Packet {
        let p = Packet::new(FlowId(flow), 40 + s.len, Time::ZERO, Body::Tcp(s));
        if reverse { p.reversed() } else { p }
    }
    fn ack(flow: u32, ack: u64) -> Packet {
        tcp(flow, true, Segment { ack, flags: Flags::ACK, ..Segment::default() })
    }
    fn data(flow: u32, seq: u64) -> Packet {
        tcp(flow, false, Segment { seq, len: 1000, flags: Flags::ACK, ..Segment::default() })
    }
    fn sack(flow: u32, at: u64) -> Packet {
        let mut s = Segment { ack: at, flags: Flags::ACK, ..Segment::default() };
        assert!(s.sack.push(1, 2));
        tcp(flow, true, s)
    }

    type Gone = Vec<(u64, DropReason)>;
    type Left = Vec<(u32, u64)>;

    /// Offers `packets` (flow and number) to a queue of `limit`. Returns the packets filtered or dropped, and the
    /// packets that wait.
    fn offer(limit: Amount, packets: &[Packet]) -> (Gone, Left) {
        let mut args = Args::default();
        args.set("limit", Value::Amount(limit));
        let mut q = build(&args, &Site::ALONE).unwrap();
        let (mut rng, mut sink) = (crate::Rng::seed_from_u64(1), Sink::default());
        let cx = &mut Cx { now: Time::ZERO, rng: &mut rng };
        let number = |p: &Packet| p.tcp().map_or(0, |s| if p.is_reverse() { s.ack } else { s.seq });
        packets.iter().for_each(|p| q.enqueue(cx, &PlainLink, *p, &mut sink));
        let mut left = Vec::new();
        while let Some(p) = q.dequeue(cx, &PlainLink, &mut sink) {
            left.push((p.flow.0, number(&p)));
        }
        assert_eq!(q.backlog(), Backlog::default());
        (sink.dropped.iter().map(|(p, why)| (number(p), *why)).collect(), left)
    }

    #[test]
    fn a_new_acknowledgment_takes_the_place_of_its_flows_older_one() {
        let (gone, left) = offer(Amount::Packets(100), &[ack(0, 10), data(2, 0), ack(1, 7), ack(0, 20), ack(0, 30)]);
        assert_eq!(gone, [(10, DropReason::Filtered), (20, DropReason::Filtered)]);
        assert_eq!(left, [(0, 30), (2, 0), (1, 7)]);
    }

    #[test]
    fn duplicates_and_selective_acknowledgments_are_kept_in_order() {
        let (gone, left) = offer(
            Amount::Packets(100),
            &[ack(0, 10), ack(0, 10), ack(0, 20), sack(0, 20), sack(0, 20), ack(0, 30), ack(0, 40)],
        );
        assert_eq!(gone, [(30, DropReason::Filtered)]);
        assert_eq!(left, [(0, 10), (0, 10), (0, 20), (0, 20), (0, 20), (0, 40)]);
    }

    #[test]
    fn a_full_queue_has_room_for_a_replacement_only() {
        let (gone, left) = offer(Amount::Packets(2), &[data(1, 0), ack(0, 10), ack(0, 20), ack(2, 5), data(1, 1000)]);
        assert_eq!(gone, [(10, DropReason::Filtered), (5, DropReason::Full), (1000, DropReason::Full)]);
        assert_eq!(left, [(1, 0), (0, 20)]);
        let (gone, left) = offer(Amount::Bytes(100), &[ack(0, 10), ack(1, 10), ack(0, 20), ack(2, 10)]);
        assert_eq!(gone, [(10, DropReason::Filtered), (10, DropReason::Full)]);
        assert_eq!(left, [(0, 20), (1, 10)]);
    }
}
