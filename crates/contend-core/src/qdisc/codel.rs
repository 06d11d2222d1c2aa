//! CoDel (controlled delay): drops at the head once every packet has waited longer than `target` for an `interval`. The
//! drops then come more and more often, in proportion to the square root of their number, until a packet has waited
//! less than `target`.
//!
//! The state machine ([`Codel`]) serves one queue and does not know where packets are stored. `fq_codel` has one state
//! machine per flow.
//!
//! Differences from RFC 8289:
//! - The pseudocode of the RFC only drops. With `ecn`, a packet that would be dropped is marked instead, is sent, and
//!   counts as one drop, as in Linux.
//! - The queue has a limit. A packet that does not fit is dropped on arrival; the control law does not see it.

use super::fifo::Fifo;
use super::lane::Lane;
use super::marking::ECN;
use super::shallow::{BurstMarks, CE_BEHIND, CE_SELECT, CE_THRESHOLD, CLASSIC_FOR_ECT1, MARK_AT, Shallow, Turns};
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site, bytes};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::Param;
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Nichols, Jacobson, McGregor, Iyengar: Controlled Delay Active Queue Management, RFC 8289, §5";
/// What it does.
pub const SUMMARY: &str = "Drops at the head after the waiting time was above a target for an interval; further drops \
    follow at shorter and shorter distances, until the waiting time is below the target.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[LIMIT, TARGET, INTERVAL, MTU, ECN, CE_THRESHOLD, CE_SELECT, CE_BEHIND, MARK_AT, CLASSIC_FOR_ECT1];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("t", "now"),
    symbol("d", "time that the packet has waited"),
    symbol("B", "bytes that wait behind the packet"),
    symbol("t_above", "first_above_time_: when the waiting time will have been above target for an interval"),
    symbol("t_next", "drop_next_: time of the next drop"),
    symbol("n", "count_: drops of the dropping state; 0 at first"),
    symbol("n_last", "lastcount_: `n` when the dropping state was last entered"),
    on("each packet taken from the head"),
    step("`t_above` is forgotten", "RFC 8289 §5.6, dodequeue").when("`d < target` or `B ≤ mtu`"),
    eq("t_above ← t + interval", "").when("`d ≥ target` and `B > mtu`, and there is no `t_above`"),
    step("the packet may be dropped", "").when("`d ≥ target` and `B > mtu`, and `t ≥ t_above`"),
    on("a departure in the dropping state"),
    step("the dropping state ends and the packet leaves", "§5.5, deque").when("the packet may not be dropped"),
    step("it is dropped and the next one is taken; with `ecn` one that supports marks is marked instead", "")
        .when("`t ≥ t_next`"),
    eq("n ← n + 1", "").when("one was dropped or marked"),
    eq("t_next ← t_next + interval / √(n)", "§5.6, control_law")
        .when("one was dropped or marked, and the packet taken last may be dropped"),
    step("this repeats", "").when("a packet was dropped; a marked one leaves"),
    on("a departure outside the dropping state, of a packet that may be dropped"),
    step("it is dropped or marked in the same way; the dropping state begins", "§5.5, deque"),
    eq("n ← n − n_last", "").when("`n − n_last > 1` and `t − t_next < 16 · interval`"),
    eq("n ← 1", "").when("otherwise"),
    eq("t_next ← t + interval / √(n)", "§5.6, control_law"),
    eq("n_last ← n", "§5.5, deque"),
    on("a packet is about to be signalled or to leave"),
    super::shallow::SPARES,
    super::shallow::MARKS,
    super::shallow::BURST,
    on("an arrival"),
    step("the packet is dropped", "").when("`limit` has no room for it"),
];

/// Limit of a queue that is kept short by other means.
pub(super) const LIMIT: Param =
    Param::amount("limit", "maximum backlog, in packets or bytes; the packet in service is not counted")
        .default("1000p")
        .range(1.0, 1e9)
        .limits_queue();

/// RFC 8289 §4.3.
pub(super) const TARGET: Param =
    Param::time("target", "acceptable waiting time, TARGET").default("5ms").range(0.0, 1e6);
/// RFC 8289 §4.2.
pub(super) const INTERVAL: Param = Param::time(
    "interval",
    "time for which the target may be exceeded, about the longest usual round-trip time, INTERVAL",
)
.default("100ms")
.range(1e-6, 1e6);
/// RFC 8289 §4.1, §5.3.
pub(super) const MTU: Param =
    Param::amount("mtu", "backlog behind the leaving packet up to which nothing is dropped, MAXPACKET")
        .default("1500B")
        .range(0.0, 1e9);

/// Builds the discipline.
///
/// # Errors
/// If `mtu` or `ce_behind` is not in bytes, or if nothing would signal ECT(1).
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Single {
        queue: Fifo::new(args.amount("limit")),
        law: Law::new(args, false)?,
        codel: Codel::default(),
    }))
}

/// The settings of a [`Codel`].
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub(super) target: Span,
    pub(super) interval: Span,
    /// MTU allowance in bytes.
    pub(super) mtu: u64,
    pub(super) ecn: bool,
    /// Marks above a threshold, whatever CoDel decides.
    pub(super) shallow: Shallow,
}

impl Law {
    /// Reads `target`, `interval`, `mtu`, `ecn` and the parameters of [`Shallow`]. `has_turns`: one of them is
    /// `ce_from`.
    ///
    /// # Errors
    /// If `mtu` or `ce_behind` is not in bytes, or if nothing would signal ECT(1).
    pub fn new(args: &Args, has_turns: bool) -> Result<Law, Refusal> {
        Ok(Law {
            target: args.time("target"),
            interval: args.time("interval"),
            mtu: bytes(args, "mtu")?,
            ecn: args.flag("ecn"),
            shallow: Shallow::new(args, has_turns)?,
        })
    }
    // RFC 8289 §5.6, control_law: t + INTERVAL / sqrt(count), rounded down to a nanosecond.
    fn next(&self, t: Time, count: u32) -> Time {
        t.saturating_add(Span::from_nanos((self.interval.as_nanos() as f64 / libm::sqrt(f64::from(count))) as u64))
    }
}

/// The state of CoDel for one queue (RFC 8289 §5.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Codel {
    /// `first_above_time_`: the time at which the waiting time will have been above target for an interval; `None`
    /// while it is below.
    first_above: Option<Time>,
    /// `dropping_`: true in the dropping state.
    dropping: bool,
    /// `drop_next_`: time of the next drop in the dropping state.
    drop_next: Time,
    /// `count_`: number of drops since the dropping state was entered.
    count: u32,
    /// `lastcount_`: `count` when the dropping state was last entered.
    last_count: u32,
}

/// The packet taken from the head, and whether it may be dropped.
struct Head {
    packet: Option<Packet>,
    ok_to_drop: bool,
    /// True if CoDel does not act on the packet, and its state does not depend on it ([`Shallow::spares`]).
    spared: bool,
}

/// What a decision depends on beside the queue.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Now.
    pub now: Time,
    /// Backlog of the other queues for the same link, in bytes.
    pub others: u64,
    /// The turns that the queue had.
    pub turns: &'a Turns,
}

impl Codel {
    /// The packet to send from `queue`. Dropped packets go into `sink`.
    pub fn dequeue(&mut self, law: &Law, at: At<'_>, queue: &mut Lane, sink: &mut Sink) -> Option<Packet> {
        let mut p = self.next(law, at, queue, sink)?;
        // RFC 8290 §5.2.7.
        if law.shallow.marks(&p, law.shallow.age(at.now, &p, at.turns), queue.backlog().bytes) {
            sink.mark(&mut p);
        }
        Some(p)
    }

    // RFC 8289 §5.5, deque.
    fn next(&mut self, law: &Law, at: At<'_>, queue: &mut Lane, sink: &mut Sink) -> Option<Packet> {
        let mut head = self.take(law, at, queue);
        if head.spared {
            return head.packet;
        }
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && at.now >= self.drop_next {
                let marked = self.signal(law, at, queue, &mut head, sink);
                self.count += 1;
                self.dropping = head.ok_to_drop || head.spared;
                if self.dropping {
                    self.drop_next = law.next(self.drop_next, self.count);
                }
                if marked || head.spared {
                    break;
                }
            }
        } else if head.ok_to_drop {
            self.signal(law, at, queue, &mut head, sink);
            self.dropping = true;
            // If the last dropping state ended a short time ago, start with its final rate.
            let delta = self.count - self.last_count;
            self.count = if delta > 1 && at.now.since(self.drop_next) < law.interval * 16 { delta } else { 1 };
            self.drop_next = law.next(at.now, self.count);
            self.last_count = self.count;
        }
        head.packet
    }

    // RFC 8289 §5.6, dodequeue. §4.4: with many queues, the total backlog counts.
    fn take(&mut self, law: &Law, at: At<'_>, queue: &mut Lane) -> Head {
        let packet = queue.pop();
        if packet.as_ref().is_some_and(|p| law.shallow.spares(p, || law.shallow.age(at.now, p, at.turns))) {
            return Head { packet, ok_to_drop: false, spared: true };
        }
        let above = packet
            .as_ref()
            .is_some_and(|p| at.now.since(p.queued) >= law.target && queue.backlog().bytes + at.others > law.mtu);
        let ok_to_drop = match self.first_above {
            _ if !above => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(at.now.saturating_add(law.interval));
                false
            }
            Some(t) => at.now >= t,
        };
        Head { packet, ok_to_drop, spared: false }
    }

    /// Marks the head, or drops it and takes the next packet. Returns true if the head was marked.
    fn signal(&mut self, law: &Law, at: At<'_>, queue: &mut Lane, head: &mut Head, sink: &mut Sink) -> bool {
        if let Some(mut p) = head.packet.take() {
            if law.ecn && !law.shallow.only_drops(&p) && sink.mark(&mut p) {
                head.packet = Some(p);
                return true;
            }
            sink.drop(p, DropReason::Early);
        }
        *head = self.take(law, at, queue);
        false
    }
}

/// One queue under CoDel.
#[derive(Debug)]
struct Single {
    queue: Fifo,
    law: Law,
    codel: Codel,
}

impl Qdisc for Single {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        self.queue.enqueue(cx, link, p, sink);
    }
    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let at = At { now: cx.now, others: 0, turns: &Turns::default() };
        self.codel.dequeue(&self.law, at, self.queue.lane(), sink)
    }
    fn marks_below(&mut self) -> Option<BurstMarks> {
        self.law.shallow.marks_below()
    }
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
    fn can_bypass(&self) -> bool {
        // A packet that leaves an empty queue is below target. The packet that emptied the queue was also below target,
        // so the state is the initial one.
        self.queue.can_bypass()
    }
}
