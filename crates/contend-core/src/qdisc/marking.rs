//! Common parts of the marking disciplines: one FIFO queue, and a law that gives the probability of a congestion signal
//! for an arrival.
//!
//! A law with a clock needs no timer. The queue does not change between packets, so missed clock ticks are processed
//! when the next packet arrives or leaves ([`Law::pass`], [`Clock`]).

use super::fifo::Fifo;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, happens};
use crate::Cx;
use crate::formulas::{Line, step};
use crate::packet::Packet;
use crate::registry::{Amount, Fact, Need, Param};
use crate::time::{Span, Time};
use core::fmt::Debug;

/// Whether a discipline marks packets instead of dropping them.
pub(super) const ECN: Param = Param::flag("ecn", "true if packets that support ECN are marked instead of dropped")
    .default("false")
    .makes(Fact::Gives(Need::Marks));

/// What happens to packets whose transport does not support marks.
pub(super) const DROP: Param = Param::flag(
    "drop",
    "true if packets that do not support ECN are dropped where others are marked; false: they pass",
)
.default("true")
.range(0.0, 1.0);

/// The capacity of the link.
pub(super) const CAPACITY: Param = Param::rate(
    "capacity",
    "capacity of the link; 0bps: what the link itself reports (on the air: from the duration of an exchange without \
        contention)",
)
.default("0bps")
.range(0.0, 1e12);

/// The time between two computations of a law with a clock.
pub(super) const INTERVAL: Param =
    Param::time("interval", "time between two updates").default("20ms").range(1e-6, 100.0);

/// What happens to an arrival with the probability `p` that a law gives.
pub(super) const SIGNAL: Line = step(
    "a packet for which `limit` has no room is dropped; another is marked with probability `p`, and if its transport \
        does not support marks, it is dropped with `drop` and waits without",
    "",
);

/// Gives the probability that an arrival gets a congestion signal.
pub(super) trait Law: Debug + Send {
    /// Time has passed up to `now`. Since the last call the backlog was `waiting`.
    fn pass(&mut self, _now: Time, _waiting: Backlog) {}
    /// A packet of `bytes` arrives while `waiting` wait; the link needs `service` to send it. Returns the probability
    /// of a congestion signal.
    fn arrives(&mut self, now: Time, bytes: u32, service: Span, waiting: Backlog) -> f64;
    /// A packet has left; `waiting` remain.
    fn left(&mut self, _waiting: Backlog) {}
}

/// A queue under a law.
#[derive(Debug)]
pub(super) struct Marked<L> {
    law: L,
    queue: Fifo,
    drop: bool,
    /// Capacity in bits per second; 0: the capacity of the link.
    capacity: u64,
}

impl<L: Law> Marked<L> {
    /// A queue with `limit` and `drop` from `args`. The capacity is that of the link.
    pub(super) fn new(law: L, args: &Args) -> Marked<L> {
        Marked { law, queue: Fifo::new(args.amount("limit")), drop: args.flag("drop"), capacity: 0 }
    }

    /// A queue with `limit`, `drop` and [`CAPACITY`] from `args`.
    pub(super) fn with_capacity(law: L, args: &Args) -> Marked<L> {
        Marked { capacity: args.rate("capacity"), ..Marked::new(law, args) }
    }
}

impl<L: Law> Qdisc for Marked<L> {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, mut p: Packet, sink: &mut Sink) {
        let waiting = self.queue.backlog();
        self.law.pass(cx.now, waiting);
        let service = match self.capacity {
            0 => link.exchange(link.neighbour(&p), p.size),
            bps => Span::of_bits(8 * u64::from(p.size), bps),
        };
        let probability = self.law.arrives(cx.now, p.size, service, waiting);
        if !self.queue.fits(&p) {
            sink.drop(p, DropReason::Full);
        } else if happens(probability, cx.rng) && !sink.mark(&mut p) && self.drop {
            sink.drop(p, DropReason::Early);
        } else {
            self.queue.push(p);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.law.pass(cx.now, self.queue.backlog());
        let p = self.queue.pop()?;
        self.law.left(self.queue.backlog());
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

/// Ticks at equal intervals.
#[derive(Debug)]
pub(super) struct Clock {
    interval: Span,
    next: Time,
}

impl Clock {
    /// A clock with a tick every `interval`. The first tick is one interval after time zero.
    pub(super) fn new(interval: Span) -> Clock {
        let interval = interval.max(Span::from_nanos(1));
        Clock { interval, next: Time::ZERO + interval }
    }

    /// Number of ticks since the last call, up to `now`.
    pub(super) fn strikes(&mut self, now: Time) -> u64 {
        if now < self.next {
            return 0;
        }
        let n = (now - self.next).div_floor(self.interval) + 1;
        self.next = self.next.saturating_add(self.interval * n);
        n
    }

    /// Time between two ticks in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.interval.as_secs_f64()
    }
}

/// The backlog `waiting` in the unit of `limit`, for comparison with a threshold or reference.
pub(super) fn length(waiting: Backlog, limit: Amount) -> f64 {
    match limit {
        Amount::Packets(_) => waiting.packets as f64,
        Amount::Bytes(_) => waiting.bytes as f64,
    }
}

/// The number of an amount, in the unit of the amount.
pub(super) fn count(amount: Amount) -> f64 {
    match amount {
        Amount::Packets(n) | Amount::Bytes(n) => n as f64,
    }
}

/// `p` after `n` steps of `step`, limited to 0..=1.
pub(super) fn walk(p: f64, step: f64, n: u64) -> f64 {
    (p + step * n as f64).clamp(0.0, 1.0)
}
