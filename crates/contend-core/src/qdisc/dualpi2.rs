//! DualPI2: two queues on one link, coupled. L4S packets wait briefly in the L queue and are only marked. All others
//! wait in the C queue, where a PI controller holds the delay at a target. Flows of both queues get about equal rates.
//!
//! The controller gives one probability p′. C signals with its square, because the rate of a classic flow falls with
//! the square root of its signals. L marks with k · p′, because the rate of a scalable flow falls in proportion to its
//! marks. L also marks by itself (`native`), as soon as its own delay is above a low threshold. L is served first,
//! except for a share that protects C (`scheduler`).
//!
//! De Schepper, Briscoe, White: RFC 9332; its Appendix A has the pseudocode. The defaults are those of Linux 6.18
//! (`sch_dualpi2.c`): gains 41/256 and 819/256, `t_update` 16 ms, weight 10 %, a step of 1 ms. RFC 9332 differs: gains
//! 0.15 and 3, 15 ms, a ramp from 0.8 to 1.2 ms (`native = "ramp"`), time-shifted FIFO (`scheduler = "shift"`), the age
//! of the C head alone (`input = "classic"`), evenly spaced signals (`recur`).
//!
//! Differences from the sources:
//! - There is no timer. Missed updates are made up in order before each packet, each with the age that the heads had at
//!   that tick. The result is that of a timer at the multiples of `t_update`.
//! - p′ is a number in double precision. Linux has 32-bit integers, and gains that are about 0.05 % smaller.
//! - Coupled and native marks of L are one decision with the larger probability (RFC 9332). Linux decides twice; with a
//!   step, which is 0 or 1, the result is the same. With `drop_at = "enqueue"` the native decision is a second one,
//!   because it needs the delay.
//! - C signals with one die of p′² (Linux: two dice of p′).
//! - With `recur`, there is always a signal at probability 1 (RFC 9332: from the second packet on).
//! - Linux can classify packets into L that do not support ECN, and drops them there. Here all packets of L support
//!   ECN.
//! - The credit of the scheduler begins anew when the last packet leaves. Linux does this when the link asks in vain,
//!   which is at once, unless the driver's ring is full.
//! - Packets that bypass the marking of L by a filter are left out.
//!
//! A flow whose packets differ in their ECN field is in both queues and can be reordered: a sender of ECT(1) that
//! retransmits without ECN (RFC 3168 §6.1.5), or ECT(0) packets of which an earlier queue has marked some. So can a
//! flow of which queue protection diverts packets.

mod protection;

use self::protection::Protection;
use super::lane::Lane;
use super::marking::{count, length};
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site, bytes, happens};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{Ecn, Packet};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Source of the algorithm.
pub const CITE: &str = "De Schepper, Briscoe, White: Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, \
    Low Loss, and Scalable Throughput (L4S), RFC 9332; Linux, net/sched/sch_dualpi2.c";
/// What it does.
pub const SUMMARY: &str = "Two coupled queues for L4S and classic flows: a PI controller signals classic packets with \
    the square of its probability, and marks L4S packets in proportion to it or above a delay of 1 ms.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::amount("limit", "maximum backlog of both queues, in packets or bytes; the packet in service is not counted")
        .default("10000p")
        .range(1.0, 1e9)
        .limits_queue(),
    Param::time("target", "target delay of the classic queue").default("15ms").range(0.0, 1e6),
    Param::time("t_update", "time between two updates of the probability, Tupdate").default("16ms").range(1e-3, 1e3),
    Param::number("alpha", "change of the probability in an update, per second of delay above the target")
        .default("0.16015625")
        .range(0.0, 1e6)
        .symbol("α"),
    Param::number(
        "beta",
        "change of the probability in an update, per second by which the delay has grown since the last update",
    )
    .default("3.19921875")
    .range(0.0, 1e6)
    .symbol("β"),
    Param::number("k", "coupling factor: L4S packets are marked with k times the probability")
        .default("2")
        .range(0.0, 1e3),
    Param::word(
        "input",
        &["max", "classic"],
        "delay that the controller sees. max: age of the older of both heads; classic: age of the classic head",
    )
    .default("max"),
    Param::word(
        "native",
        &["step", "ramp", "off"],
        "marking of the L4S queue by its own delay. step: above a threshold; ramp: with a probability that rises with \
            the delay; off: only coupled marks",
    )
    .default("step"),
    Param::time("step", "with native = step: L4S packets that have waited longer are marked")
        .default("1ms")
        .range(0.0, 1e6),
    Param::amount(
        "step_queue",
        "with native = step: packets are marked while more than this waits behind them in the L4S queue, instead of \
            `step`. 0p: `step` counts",
    )
    .default("0p")
    .range(0.0, 1e9),
    Param::time("min_th", "with native = ramp: delay up to which nothing is marked, minTh")
        .default("800us")
        .range(0.0, 1e6),
    Param::time("range", "with native = ramp: delay above min_th from which everything is marked")
        .default("400us")
        .range(0.0, 1e6),
    Param::amount(
        "min_step_queue",
        "`native` ignores packets that find less than this in the L4S queue when they arrive",
    )
    .default("0p")
    .range(0.0, 1e9),
    Param::word(
        "scheduler",
        &["wrr", "shift"],
        "which queue is served. wrr: weighted round robin, in bytes; shift: the older head, when L4S heads count as \
            older by `shift`",
    )
    .default("wrr"),
    Param::fraction("classic_weight", "with wrr: share of the link for the classic queue while both wait")
        .default("10%")
        .range(0.0, 1.0),
    Param::time("shift", "with shift: time by which L4S packets are preferred, tshift").default("50ms").range(0.0, 1e6),
    Param::word(
        "overload",
        &["drop", "overflow"],
        "what happens when L4S packets would be marked with a probability above 1. drop: all packets are dropped as \
            classic ones, without marks; overflow: the probability stays, and only the limit drops",
    )
    .default("drop"),
    Param::word(
        "drop_at",
        &["dequeue", "enqueue"],
        "when the controller's signals are given. dequeue: to packets that leave; enqueue: to arrivals",
    )
    .default("dequeue"),
    Param::word(
        "l4s",
        &["ect1", "any_ect"],
        "packets of the L4S queue. ect1: ECT(1) and CE; any_ect: all that support ECN",
    )
    .default("ect1"),
    Param::flag("recur", "true if signals are evenly spaced, by adding up probabilities; false: at random")
        .default("false"),
    Param::flag(
        "protection",
        "true if packets of flows that build the L4S queue wait in the classic one (queue protection, RFC 9957)",
    )
    .default("false"),
    Param::time(
        "critical_delay",
        "with protection: delay of the L4S queue up to which no packet is diverted, CRITICALqL",
    )
    .default("1ms")
    .range(0.0, 1e3),
    Param::time(
        "critical_score",
        "with protection: score of a flow above which its packets are diverted while the delay is critical_delay; \
            with a longer delay a smaller score suffices (CRITICALqLSCORE)",
    )
    .default("4ms")
    .range(0.0, 1e3),
    Param::rate("aging", "with protection: rate at which the scores shrink, AGING")
        .default("4194304bps")
        .range(1.0, 1e12),
    Param::integer("bucket_bits", "with protection: there are two to this power buckets for flows, BI_SIZE")
        .default("5")
        .range(0.0, 16.0),
    Param::amount("mtu", "largest packet; the controller signals nothing while less than two wait")
        .default("1514B")
        .range(1.0, 65536.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("p′", "base probability; 0 at first"),
    symbol("q", "age of the older head of both queues, with `input = classic` of the classic head; 0 without a head"),
    symbol("q_old", "`q` at the last update"),
    symbol("d", "time that the packet has waited"),
    symbol("p_L", "probability of a mark for an L4S packet"),
    symbol("p_N", "its native part"),
    symbol("p_C", "probability of a signal for a classic packet"),
    symbol("w", "`classic_weight`"),
    symbol("c", "credit of the classic queue, in bytes"),
    symbol("B", "size of the packet, in bytes"),
    symbol("s", "score of its flow, a time; it shrinks as time passes"),
    symbol("D", "age of the L4S head, or what the L4S queue takes at the rate of this packet, whichever is longer"),
    on("an update, every `t_update`"),
    eq("p′ ← p′ + α · (q − target) + β · (q − q_old)", "RFC 9332, Appendix A.1"),
    eq("p′ ← min(1, max(0, p′))", ""),
    eq("p′ ← min(p′, 1 / k)", "sch_dualpi2.c, calculate_probability").when("`overload = overflow`"),
    eq("q_old ← q", "RFC 9332, Appendix A.1"),
    on("an arrival"),
    step("the packet is dropped", "").when("`limit` has no room for it"),
    step("it gets its coupled signal now", "sch_dualpi2.c, dualpi2_qdisc_enqueue").when("`drop_at = enqueue`"),
    eq("s ← s + p_N · B / aging", "RFC 9957 §4").when("`protection`, and it has ECT(1) or CE; `p_N` is that of D"),
    step("it goes to the classic queue", "RFC 9957 §4")
        .when("`protection`, `D > critical_delay`, and `D · s > critical_delay · critical_score`"),
    step("it goes to the L4S queue", "RFC 9332 §2.4").when("it has ECT(1) or CE, with `l4s = any_ect` also ECT(0)"),
    step("it goes to the classic queue", "").when("otherwise"),
    on("the transmitter is free"),
    eq("c ← mtu · (w − (1 − w))", "sch_dualpi2.c, dequeue_packet").when("both queues are empty"),
    step("an L4S packet leaves", "").when("the classic queue is empty, or `scheduler = wrr` and `c ≤ 0`"),
    step("an L4S packet leaves", "RFC 9332, Appendix A.1")
        .when("`scheduler = shift`, and the age of its head + `shift` is above that of the classic head"),
    step("a classic packet leaves", "").when("otherwise, or the L4S queue is empty"),
    eq("c ← c + w · B", "sch_dualpi2.c, dequeue_packet").when("an L4S packet has left, and a classic one waits"),
    eq("c ← c − (1 − w) · B", "").when("a classic packet has left, and an L4S one waits"),
    on("an L4S packet leaves"),
    eq("p_N = 1", "sch_dualpi2.c, do_step_aqm").when("`native = step` and `d > step`; otherwise 0"),
    eq("p_N = min(1, max(0, (d − min_th) / range))", "RFC 9332, Appendix A.1").when("`native = ramp`"),
    eq("p_L = max(p_N, k · p′)", "").when("at least `2 · mtu` wait in both queues"),
    eq("p_L = p_N", "sch_dualpi2.c, must_drop").when("otherwise"),
    step("the packet is dropped with probability `p′ · p′`, otherwise marked", "dualpi2_scalable_marking")
        .when("`k · p′ > 1`, `overload = drop` and at least `2 · mtu` wait"),
    step("it is marked with probability `p_L`", "").when("otherwise"),
    on("a classic packet leaves"),
    eq("p_C = p′ · p′", "RFC 9332 §2.1").when("at least `2 · mtu` wait in both queues; otherwise 0"),
    step("with probability `p_C` it is marked, or dropped if it does not support marks", "dualpi2_classic_marking"),
    step("it is dropped instead of marked", "").when("`k · p′ > 1` and `overload = drop`"),
    on("a decision with `recur`"),
    step(
        "the probabilities of a queue add up; above 1 there is a signal and the sum falls by 1; at probability 1 there \
            is a signal, and the sum stays",
        "RFC 9332, Appendix A.1",
    ),
];

/// Builds the discipline.
///
/// # Errors
/// If `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(DualPi2::new(args)?))
}

/// The two queues.
#[derive(Debug)]
struct DualPi2 {
    limit: Amount,
    pi: Controller,
    /// Coupling factor.
    k: f64,
    native: Native,
    /// Length of L at arrival from which `native` applies.
    min_step_queue: Amount,
    scheduler: Scheduler,
    drops_on_overload: bool,
    /// True if the controller's signals are given to arrivals.
    at_arrival: bool,
    /// True if L takes every packet that supports ECN.
    any_ect: bool,
    /// True if the controller sees the older of both heads, false if it sees that of C.
    sees_both: bool,
    mtu: u64,
    low: Lane,
    /// For each packet of `low`: true if `native` applies to it.
    applies: VecDeque<bool>,
    classic: Lane,
    low_signals: Signals,
    classic_signals: Signals,
    protection: Option<Protection>,
}

/// The controller of the base probability.
#[derive(Debug)]
struct Controller {
    target: Span,
    t_update: Span,
    alpha: f64,
    beta: f64,
    /// Largest p′.
    most: f64,
    /// p′: base probability.
    p: f64,
    /// The delay at the last update.
    delay: Span,
    next_update: Time,
}

impl Controller {
    /// Makes all updates that are due at `now`. Since the last call, the head that counts was queued at `head`.
    fn catch_up(&mut self, now: Time, head: Option<Time>) {
        while self.next_update <= now {
            let before = self.p;
            self.update(head.map_or(Span::ZERO, |queued| self.next_update.since(queued)));
            let due = now.since(self.next_update).div_floor(self.t_update);
            let idle = if self.p == before { self.idle_updates(head.is_some()).min(due) } else { 0 };
            if idle > 0 && head.is_some() {
                self.delay = Span::from_nanos(self.delay.as_nanos().saturating_add((self.t_update * idle).as_nanos()));
            }
            self.next_update = self.next_update.saturating_add(self.t_update * (idle + 1));
        }
    }

    // RFC 9332, Appendix A.1: one update, every Tupdate.
    fn update(&mut self, delay: Span) {
        let step = self.step(delay.as_secs_f64(), delay.as_secs_f64() - self.delay.as_secs_f64());
        self.p = (self.p + step).clamp(0.0, self.most);
        self.delay = delay;
    }

    fn step(&self, delay: f64, growth: f64) -> f64 {
        self.alpha * (delay - self.target.as_secs_f64()) + self.beta * growth
    }

    /// The number of further updates that will change nothing but the delay, at least, after one that has not changed
    /// p′. Without them a pause of days would take as long as its ticks. `waits`: a head grows older.
    fn idle_updates(&self, waits: bool) -> u64 {
        let (delay, t) = (self.delay.as_secs_f64(), self.t_update.as_secs_f64());
        if !waits {
            // The delay is 0 from now on, so every step is that of the next update.
            let next = self.step(0.0, -delay);
            let steady = next == self.step(0.0, 0.0) && (self.p + next).clamp(0.0, self.most) == self.p;
            return if steady { u64::MAX } else { 0 };
        }
        // From now on the delay grows by `t` in each update, so steps never decrease.
        let next = self.step(delay + t, t);
        if (self.p == self.most && next >= 0.0) || (self.alpha == 0.0 && self.p + next == self.p) {
            return u64::MAX;
        }
        if self.p > 0.0 || self.alpha == 0.0 {
            return 0;
        }
        // p′ stays 0 as long as steps are negative. Two updates less make the result safe from rounding.
        let until = (self.target.as_secs_f64() - self.beta * t / self.alpha - delay) / t - 2.0;
        if until > 0.0 { until as u64 } else { 0 }
    }
}

/// Marking of L by its own delay or length.
#[derive(Debug)]
enum Native {
    Off,
    /// Marks above a delay.
    Step(Span),
    /// Marks above a length.
    Queue(Amount),
    /// Probability from 0 to 1 between `min` and `min + range`.
    Ramp {
        min: Span,
        range: Span,
    },
}

impl Native {
    fn new(args: &Args) -> Native {
        match (args.word("native"), args.amount("step_queue")) {
            ("off", _) => Native::Off,
            ("ramp", _) => Native::Ramp { min: args.time("min_th"), range: args.time("range") },
            (_, limit) if count(limit) > 0.0 => Native::Queue(limit),
            _ => Native::Step(args.time("step")),
        }
    }

    /// The probability of a mark after a wait of `delay`, with `behind` left in L.
    fn probability(&self, delay: Span, behind: Backlog) -> f64 {
        let above = match *self {
            Native::Off => false,
            Native::Step(step) => delay > step,
            Native::Queue(limit) => length(behind, limit) > count(limit),
            Native::Ramp { min, range } if range.is_zero() => delay > min,
            Native::Ramp { min, range } => {
                return (delay.saturating_sub(min).as_nanos() as f64 / range.as_nanos() as f64).min(1.0);
            }
        };
        f64::from(u8::from(above))
    }
}

/// Which queue is served.
#[derive(Debug)]
enum Scheduler {
    /// Weights of C and L in percent, and the credit of C in bytes times percent. C is served while it has credit.
    Wrr { c: f64, l: f64, credit: f64 },
    /// Time by which L is preferred.
    Shift(Span),
}

/// The random or evenly spaced signals of one queue.
#[derive(Debug)]
struct Signals {
    recur: bool,
    /// Sum of the probabilities since the last signal.
    sum: f64,
}

impl Signals {
    // RFC 9332, Appendix A.1, recur(): a signal each time that the probabilities have summed to more than 1.
    fn hits(&mut self, p: f64, rng: &mut Rng) -> bool {
        if !self.recur || p >= 1.0 {
            return happens(p, rng);
        }
        self.sum += p;
        let hits = self.sum > 1.0;
        self.sum -= f64::from(u8::from(hits));
        hits
    }
}

impl DualPi2 {
    fn new(args: &Args) -> Result<DualPi2, Refusal> {
        let (k, drops_on_overload) = (args.number("k"), args.word("overload") == "drop");
        let signals = || Signals { recur: args.flag("recur"), sum: 0.0 };
        let c = 100.0 * args.number("classic_weight");
        let mut q = DualPi2 {
            limit: args.amount("limit"),
            pi: Controller {
                target: args.time("target"),
                t_update: args.time("t_update"),
                alpha: args.number("alpha"),
                beta: args.number("beta"),
                // Linux, calculate_probability: with a larger p′, classic flows would yield to marks that cannot come.
                most: if drops_on_overload { 1.0 } else { (1.0 / k).min(1.0) },
                p: 0.0,
                delay: Span::ZERO,
                next_update: Time::ZERO + args.time("t_update"),
            },
            k,
            native: Native::new(args),
            min_step_queue: args.amount("min_step_queue"),
            scheduler: match args.word("scheduler") {
                "shift" => Scheduler::Shift(args.time("shift")),
                _ => Scheduler::Wrr { c, l: 100.0 - c, credit: 0.0 },
            },
            drops_on_overload,
            at_arrival: args.word("drop_at") == "enqueue",
            any_ect: args.word("l4s") == "any_ect",
            sees_both: args.word("input") == "max",
            mtu: bytes(args, "mtu")?,
            low: Lane::default(),
            applies: VecDeque::new(),
            classic: Lane::default(),
            low_signals: signals(),
            classic_signals: signals(),
            protection: Protection::new(args),
        };
        q.reset();
        Ok(q)
    }

    // Linux, dualpi2_calculate_c_protection: the credit with which C begins.
    fn reset(&mut self) {
        if let Scheduler::Wrr { c, l, credit } = &mut self.scheduler {
            *credit = self.mtu as f64 * (*c - *l);
        }
    }

    /// Makes the updates of the controller that are due at `now`.
    fn catch_up(&mut self, now: Time) {
        let head = |lane: &Lane| lane.front().map(|p| p.queued);
        let (classic, low) = (head(&self.classic), head(&self.low).filter(|_| self.sees_both));
        self.pi.catch_up(now, classic.into_iter().chain(low).min());
    }

    /// True if queue protection diverts `p` from L to C.
    fn diverts(&mut self, now: Time, link: &dyn Link, p: &Packet) -> bool {
        let Some(protection) = &mut self.protection else { return false };
        let found = self.low.backlog();
        let age = self.low.front().map_or(Span::ZERO, |head| now.since(head.queued));
        let exchange = link.exchange(link.neighbour(p), p.size).as_nanos();
        let wait = exchange.saturating_mul(found.bytes) / u64::from(p.size.max(1));
        protection.diverts(now, p, age.max(Span::from_nanos(wait)), &self.native, found)
    }

    /// True if the next packet to leave is of L, and how much credit C gains when it leaves. `None` if nothing waits.
    fn choose(&self, now: Time) -> Option<(bool, f64)> {
        let (low, classic) = match (self.low.front(), self.classic.front()) {
            (Some(low), Some(classic)) => (low, classic),
            (low, classic) => return low.or(classic).map(|_| (low.is_some(), 0.0)),
        };
        Some(match self.scheduler {
            // Linux, dequeue_packet.
            Scheduler::Wrr { c, credit, .. } if credit <= 0.0 => (true, c * f64::from(low.size)),
            Scheduler::Wrr { l, .. } => (false, -l * f64::from(classic.size)),
            Scheduler::Shift(shift) => {
                let age = |p: &Packet| now.since(p.queued).as_nanos();
                (age(low).saturating_add(shift.as_nanos()) > age(classic), 0.0)
            }
        })
    }

    /// Signals to a packet of L (`low`) or C, with the base probability `p` and the `native` probability of a mark.
    /// Returns true if the packet must be dropped.
    fn signals(&mut self, packet: &mut Packet, low: bool, p: f64, native: f64, rng: &mut Rng, sink: &mut Sink) -> bool {
        // Linux, must_drop: a queue of less than two packets is not worth a signal.
        let p = if self.backlog().bytes < 2 * self.mtu { 0.0 } else { p };
        let overload = self.drops_on_overload && self.k * p > 1.0;
        if !low {
            return self.classic_signals.hits(p * p, rng) && (overload || !sink.mark(packet));
        }
        if overload && self.low_signals.hits(p * p, rng) {
            return true;
        }
        // Every packet of L supports ECN.
        if overload || self.low_signals.hits(native.max(self.k * p), rng) {
            sink.mark(packet);
        }
        false
    }
}

impl Qdisc for DualPi2 {
    fn probability(&self) -> Option<f64> {
        Some(self.pi.p)
    }

    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, mut p: Packet, sink: &mut Sink) {
        self.catch_up(cx.now);
        if !self.backlog().has_room(self.limit, &p) {
            return sink.drop(p, DropReason::Full);
        }
        // A mark does not change the queue.
        let low = (p.ecn().is_l4s() || (self.any_ect && p.ecn() != Ecn::NotEct)) && !self.diverts(cx.now, link, &p);
        if self.at_arrival && self.signals(&mut p, low, self.pi.p, 0.0, cx.rng, sink) {
            sink.drop(p, DropReason::Early);
        } else if low {
            let (found, least) = (self.low.backlog(), self.min_step_queue);
            self.applies.push_back(length(found, least) >= count(least));
            self.low.push(p);
        } else {
            self.classic.push(p);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        self.catch_up(cx.now);
        while let Some((low, change)) = self.choose(cx.now) {
            let mut p = if low { self.low.pop()? } else { self.classic.pop()? };
            let native = match low && self.applies.pop_front() == Some(true) {
                true => self.native.probability(cx.now.since(p.queued), self.low.backlog()),
                false => 0.0,
            };
            let base = if self.at_arrival { 0.0 } else { self.pi.p };
            let drops = self.signals(&mut p, low, base, native, cx.rng, sink);
            if let Scheduler::Wrr { credit, .. } = &mut self.scheduler {
                *credit += if drops { 0.0 } else { change };
            }
            if self.backlog().packets == 0 {
                self.reset();
            }
            if !drops {
                return Some(p);
            }
            sink.drop(p, DropReason::Early);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.low.backlog() + self.classic.backlog()
    }
}

#[cfg(test)]
mod tests;
