//! A stage in front of a queue in which a new acknowledgment replaces the waiting one of its flow, as in routers on
//! slow uplinks. With `ack_filter = true` it stands in front of any discipline; as a discipline of its own it has a
//! FIFO.
//!
//! ACK Filtering of RFC 3449 §5.2.1, with CAKE's care for acknowledgments that carry more than a number.
//!
//! - The new acknowledgment takes the place of the old one. A flow with a steady stream of acknowledgments therefore
//!   still reaches the front. The discipline sees the place: limits, delays and drops are those of the old one.
//! - Duplicates and acknowledgments with SACK blocks or flags are kept. No acknowledgment is replaced across such a
//!   packet, so the order within a flow is kept.

use super::fifo::{self, LIMIT};
use super::{AirReport, Args, Backlog, Below, ByReceiver, DropReason, Hearing, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::filtered::{ACCECN, Filtered, Left};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::observe::HeardFrame;
use crate::packet::{Explicit, Packet};
use crate::recent::Recent;
use crate::registry::Param;
use crate::time::Time;
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Source of the algorithm.
pub const CITE: &str =
    "RFC 3449 §5.2.1, ACK Filtering; Høiland-Jørgensen, Täht, Morton, \"Piece of CAKE\", LANMAN 2018";
/// What it does.
pub const SUMMARY: &str = "FIFO that filters acknowledgments: a cumulative acknowledgment replaces the older one of \
    its flow that still waits. With ack_filter = true any other discipline does this too.";
/// Parameters.
pub const PARAMS: &[Param] = &[LIMIT, ACCECN];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("a", "number of the acknowledgment"),
    symbol("H", "highest number of an acknowledgment of this flow so far"),
    on("an acknowledgment arrives"),
    step("it is new: it has no data, no SACK blocks, and no flag but ACK and what `accecn` allows", "RFC 3449 §5.2.1")
        .when("`a > H`"),
    eq("H ← max(H, a)", ""),
    step("it takes the place of the last new acknowledgment of its flow, which is dropped", "").when(
        "it is new, the other still waits and has the same size, and no acknowledgment of the flow that was not new \
            came in between",
    ),
    step("it goes to the end of the queue, as fifo has it", "").when("otherwise"),
    on("another packet arrives"),
    step("it goes to the end of the queue, as fifo has it", ""),
];

/// Builds the discipline.
///
/// # Errors
/// Never: every limit in range is valid.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(AckFilter { accecn: Filtered::new(args), ..AckFilter::new(fifo::build(args, site)?) }))
}

/// A discipline behind the stage.
#[derive(Debug)]
pub struct AckFilter {
    inner: Box<dyn Qdisc>,
    flows: Flows,
    accecn: Filtered,
}

#[derive(Debug, Default)]
struct Flows(Recent<Flow>);

/// State of one flow.
#[derive(Debug, Default)]
struct Flow {
    /// The highest acknowledgment seen.
    highest: u64,
    /// Its acknowledgments in the discipline that were replaced, the oldest first; the last one may be one that was not
    /// yet.
    waiting: VecDeque<Waiting>,
    /// True if the last one may be replaced: nothing of the flow has come since that must stay behind it.
    open: bool,
    /// The newest acknowledgment, and the one before the last that waits.
    newest: Left,
    before: Left,
}

impl Flow {
    /// From now on no waiting acknowledgment may be replaced.
    fn close(&mut self) {
        self.open = false;
        if self.waiting.back().is_some_and(|w| w.newest.is_none()) {
            self.waiting.pop_back();
        }
    }
}

/// An acknowledgment in the discipline.
#[derive(Debug)]
struct Waiting {
    /// The one that the discipline holds.
    place: Packet,
    /// The one that leaves instead.
    newest: Option<Packet>,
}

impl Waiting {
    fn is_at(&self, p: &Packet) -> bool {
        let number = |p: &Packet| p.tcp().map(|s| s.ack);
        p.queued == self.place.queued && number(p) == number(&self.place)
    }
}

impl Flows {
    /// What leaves, or is dropped, in the place of `p`.
    fn leave(&mut self, p: Packet) -> Packet {
        let Some(f) = self.0.get_mut(p.flow).filter(|_| p.is_reverse()) else { return p };
        let Some(i) = f.waiting.iter().position(|w| w.is_at(&p)) else { return p };
        f.open &= i + 1 < f.waiting.len();
        f.waiting.remove(i).and_then(|w| w.newest).unwrap_or(p)
    }

    /// The same for what the discipline has dropped since `sink` had so many packets.
    fn drop_since(&mut self, before: usize, sink: &mut Sink) {
        for (p, _) in sink.dropped.iter_mut().skip(before) {
            *p = self.leave(*p);
        }
    }
}

impl AckFilter {
    /// The stage in front of `inner`.
    pub fn new(inner: Box<dyn Qdisc>) -> AckFilter {
        AckFilter { inner, flows: Flows::default(), accecn: Filtered::Pass }
    }
}

impl Qdisc for AckFilter {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        let before = sink.dropped.len();
        let Some(seg) = p.tcp().filter(|_| p.is_reverse()) else {
            self.inner.enqueue(cx, link, p, sink);
            return self.flows.drop_since(before, sink);
        };
        let flows = &mut self.flows.0;
        while flows.forget(cx.now, |f| !f.waiting.is_empty()).is_some() {}
        let f = flows.see(cx.now, p.flow, Flow::default);
        let new = seg.ack > f.highest && self.accecn.pure_ack(&p).is_some();
        f.highest = f.highest.max(seg.ack);
        let newest = f.newest;
        f.newest = newest.then(seg);
        // RFC 3449 §5.2.1: a cumulative acknowledgment makes an older one redundant.
        if new
            && f.open
            && self.accecn.may_replace(f.before, seg)
            && let Some(w) = f.waiting.back_mut().filter(|w| w.place.size == p.size)
        {
            let old = w.newest.replace(p).unwrap_or(w.place);
            return sink.drop(old, DropReason::Filtered);
        }
        f.before = newest;
        self.inner.enqueue(cx, link, p, sink);
        let placed = Waiting { place: p, newest: None };
        let refused = sink.dropped.iter().skip(before).any(|(gone, _)| gone.flow == p.flow && placed.is_at(gone));
        self.flows.drop_since(before, sink);
        if let Some(f) = self.flows.0.get_mut(p.flow).filter(|_| !refused) {
            f.close();
            if new {
                f.open = true;
                f.waiting.push_back(placed);
            }
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let before = sink.dropped.len();
        let p = self.inner.dequeue(cx, link, sink);
        self.flows.drop_since(before, sink);
        p.map(|p| self.flows.leave(p))
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn probability(&self) -> Option<f64> {
        self.inner.probability()
    }
    fn next_deadline(&self) -> Time {
        self.inner.next_deadline()
    }
    fn on_air(&mut self, report: &AirReport) {
        self.inner.on_air(report);
    }
    fn hears_air(&self) -> bool {
        self.inner.hears_air()
    }
    fn hearing(&self) -> Hearing {
        self.inner.hearing()
    }
    fn heard(&mut self, frame: &HeardFrame<'_>) {
        self.inner.heard(frame);
    }
    fn notice(&mut self, now: Time) -> Option<Explicit> {
        self.inner.notice(now)
    }
    fn told(&mut self, from: u32, notice: &Explicit) {
        self.inner.told(from, notice);
    }
    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        self.inner.by_receiver().is_some().then_some(self)
    }
}

impl ByReceiver for AckFilter {
    fn serve(&mut self, cx: &mut Cx, link: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        let before = sink.dropped.len();
        let mut below = Leaving { below, flows: &mut self.flows };
        let served = self.inner.by_receiver()?.serve(cx, link, &mut below, sink);
        self.flows.drop_since(before, sink);
        served
    }

    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        if let Some(inner) = self.inner.by_receiver() {
            inner.hold(link, p);
        }
    }

    fn join(&mut self, cx: &mut Cx, link: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink) {
        let before = sink.dropped.len();
        let mut below = Leaving { below, flows: &mut self.flows };
        if let Some(inner) = self.inner.by_receiver() {
            inner.join(cx, link, receiver, &mut below, sink);
        }
        self.flows.drop_since(before, sink);
    }
}

/// What is below the discipline, with the stage between.
struct Leaving<'a> {
    below: &'a mut dyn Below,
    flows: &'a mut Flows,
}

impl Below for Leaving<'_> {
    fn holds(&self, receiver: u32) -> bool {
        self.below.holds(receiver)
    }
    fn has_room(&self, receiver: u32) -> bool {
        self.below.has_room(receiver)
    }
    fn put(&mut self, p: Packet, sink: &mut Sink) {
        self.below.put(self.flows.leave(p), sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Flags, FlowId, Segment};
    use crate::registry::{Amount, Value};
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
    fn what_was_replaced_stays_so_when_a_duplicate_closes_its_place() {
        let (gone, left) = offer(Amount::Packets(100), &[ack(0, 10), ack(0, 20), ack(0, 20), ack(0, 30), ack(0, 40)]);
        assert_eq!(gone, [(10, DropReason::Filtered), (30, DropReason::Filtered)]);
        assert_eq!(left, [(0, 20), (0, 20), (0, 40)]);
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
