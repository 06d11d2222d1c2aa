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
pub const PARAMS: &[Param] = &[LIMIT, TARGET, INTERVAL, MTU, ECN];
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
/// If `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Single { queue: Fifo::new(args.amount("limit")), law: Law::new(args)?, codel: Codel::default() }))
}

/// The settings of a [`Codel`].
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub(super) target: Span,
    pub(super) interval: Span,
    /// MTU allowance in bytes.
    pub(super) mtu: u64,
    pub(super) ecn: bool,
}

impl Law {
    /// Reads `target`, `interval`, `mtu` and `ecn`.
    ///
    /// # Errors
    /// If `mtu` is not in bytes.
    pub fn new(args: &Args) -> Result<Law, Refusal> {
        Ok(Law {
            target: args.time("target"),
            interval: args.time("interval"),
            mtu: bytes(args, "mtu")?,
            ecn: args.flag("ecn"),
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
}

impl Codel {
    /// The packet to send from `queue` at `now`. Dropped packets go into `sink`. `others` is the backlog of the other
    /// queues for the same link, in bytes.
    pub fn dequeue(&mut self, law: &Law, now: Time, queue: &mut Lane, others: u64, sink: &mut Sink) -> Option<Packet> {
        // RFC 8289 §5.5, deque.
        let mut head = self.take(law, now, queue, others);
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && now >= self.drop_next {
                let marked = self.signal(law, now, queue, others, &mut head, sink);
                self.count += 1;
                self.dropping = head.ok_to_drop;
                if self.dropping {
                    self.drop_next = law.next(self.drop_next, self.count);
                }
                if marked {
                    break;
                }
            }
        } else if head.ok_to_drop {
            self.signal(law, now, queue, others, &mut head, sink);
            self.dropping = true;
            // If the last dropping state ended a short time ago, start with its final rate.
            let delta = self.count - self.last_count;
            self.count = if delta > 1 && now.since(self.drop_next) < law.interval * 16 { delta } else { 1 };
            self.drop_next = law.next(now, self.count);
            self.last_count = self.count;
        }
        head.packet
    }

    // RFC 8289 §5.6, dodequeue. §4.4: with many queues, the total backlog counts.
    fn take(&mut self, law: &Law, now: Time, queue: &mut Lane, others: u64) -> Head {
        let packet = queue.pop();
        let above = packet
            .as_ref()
            .is_some_and(|p| now.since(p.queued) >= law.target && queue.backlog().bytes + others > law.mtu);
        let ok_to_drop = match self.first_above {
            _ if !above => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now.saturating_add(law.interval));
                false
            }
            Some(t) => now >= t,
        };
        Head { packet, ok_to_drop }
    }

    /// Marks the head, or drops it and takes the next packet. Returns true if the head was marked.
    fn signal(
        &mut self,
        law: &Law,
        now: Time,
        queue: &mut Lane,
        others: u64,
        head: &mut Head,
        sink: &mut Sink,
    ) -> bool {
        if let Some(mut p) = head.packet.take() {
            if law.ecn && sink.mark(&mut p) {
                head.packet = Some(p);
                return true;
            }
            sink.drop(p, DropReason::Early);
        }
        *head = self.take(law, now, queue, others);
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
        self.codel.dequeue(&self.law, cx.now, self.queue.lane(), 0, sink)
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
