//! CAKE (common applications kept enhanced): a shaper, tins by DSCP, and in each tin fair flow queues under COBALT that
//! also share fairly among hosts.
//!
//! Written after Linux, `net/sched/sch_cake.c`, whose names are in the comments. A host is a station or a node. The
//! other end of a flow from or to `server` has a host of its own, so `triple` shares among the stations of an access
//! point.
//!
//! Differences:
//! - Lengths are those of IP packets. Linux, without the keyword `overhead`, counts the Ethernet header: here
//!   `overhead = 14`. `memory` counts bytes of packets, not of kernel buffers.
//! - Flows are told apart by addresses, number and direction; in Linux both directions of a flow have the same hash.
//!   Hash and perturbation are those of `fq_codel`.
//! - The reciprocal square root of COBALT is exact. Linux starts the state of a queue with the root 0: a queue that was
//!   never used gives its first signal with the second packet above target. Here an interval passes before, as in a
//!   queue that was used, and as the kernel's comment says.
//! - The quantum of a host with many flows is rounded at random with the exact mean. Linux multiplies by a 16-bit
//!   reciprocal, which is up to a byte less.
//! - `autorate_ingress` sets the rate at most every 250 ms. Linux means to, but never notes when it did.
//! - When the memory is full, the longest of all active queues is searched; Linux keeps a heap. Among equals another
//!   may be chosen.
//! - The filter of acknowledgments is the stage `ack_filter` of any queue: it replaces an acknowledgment in its place,
//!   but only the last of a flow, and none with SACK blocks. CAKE removes an older acknowledgment anywhere in the
//!   flow's queue if a newer one covers it, SACK blocks included; `ack-filter` without `-aggressive` keeps one of two.
//!   With `ingress`, CAKE counts filtered acknowledgments for the shaper, the stage does not.
//! - There is nothing for `split-gso` to split and for `nat` to translate; packets have no firewall mark for `fwmark`,
//!   and no classifier of `tc filter` chooses queues. `wash` has no effect on anything that is simulated.
//! - A routing agent that lost a next hop takes back only the packets that the shaper lets go. The others fail later,
//!   one by one, and the agent hears of each.

mod cobalt;
mod flows;
mod shaper;
mod tin;

use self::flows::{Hashes, Isolation};
use self::shaper::{Autorate, Clock, Framing};
use self::tin::{Diffserv, MTU, Tin};
use super::flow_queues::FlowHash;
use super::{Args, Backlog, DropReason, End, Link, Qdisc, Sink, Site, bytes};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{Address, Packet};
use crate::registry::Param;
use crate::time::{Span, Time};
use crate::{Cx, Refusal};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Høiland-Jørgensen, Täht, Morton: Piece of CAKE: A Comprehensive Queue Management Solution for \
    Home Gateways, LANMAN 2018; Linux, net/sched/sch_cake.c";
/// What it does.
pub const SUMMARY: &str = "A shaper, tins by DSCP, and in each tin fair flow queues under COBALT (CoDel and BLUE) that \
    also share fairly among hosts. Marks packets that support ECN.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("bandwidth", "rate of the shaper; 0bps: unlimited, without a shaper").default("0bps").range(0.0, 1e12),
    Param::flag("autorate_ingress", "true if the shaper follows 15/16 of the estimated rate of arrivals")
        .default("false"),
    Param::flag("ingress", "true if dropped packets count for the shaper: it stands behind the bottleneck")
        .default("false"),
    Param::integer("overhead", "bytes that the link adds to each IP packet; 14 for Ethernet")
        .default("0")
        .range(-64.0, 256.0),
    Param::integer("mpu", "least bytes of a packet on the link, with the overhead").default("0").range(0.0, 256.0),
    Param::word(
        "atm",
        Framing::WORDS,
        "how the link frames packets. none: as they are; atm: cells of 53 bytes with 48 of payload; ptm: one byte more \
            for each 64",
    )
    .default("none"),
    Param::word(
        "diffserv",
        Diffserv::WORDS,
        "tins by DSCP. besteffort: one tin; precedence: eight, by its first three bits; diffserv3, \
            diffserv4, diffserv8: three, four or eight. The DSCP is that of the flow's `ac` (RFC 8325): CS1 of bk, DF \
            of be, AF41 of vi, EF of vo",
    )
    .default("diffserv3"),
    Param::word(
        "flow_mode",
        Isolation::WORDS,
        "what is isolated. flowblind: nothing; srchost, dsthost, hosts: a queue for each source, destination or pair; \
            flows: a queue for each flow; dual_srchost, dual_dsthost, triple: the same, and flows of a source, of a \
            destination, or of both share what a host gets",
    )
    .default("triple"),
    Param::time("rtt", "usual round-trip time, COBALT's interval; its target is a twentieth")
        .default("100ms")
        .range(1e-6, 1e6),
    Param::amount(
        "memory",
        "maximum backlog, in bytes; 0B: four times what the shaper sends in `rtt`, at least 4194304 B and at most \
            15503360 B, which is the limit without a shaper",
    )
    .default("0B")
    .range(0.0, 1e12),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("t", "now"),
    symbol("r", "rate of the shaper, in bit/s: `bandwidth` at first"),
    symbol(
        "r_i",
        "rate of tin `i`: with diffserv3 `r`, `r / 16` and `r / 4`; diffserv4 `r`, `r / 16`, `r / 2` and `r / 4`; \
        precedence and diffserv8 7/8 of the one before",
    ),
    symbol("w_i", "weight of the tin without shaper: 1024 in proportion to `r_i`, with eight tins 256"),
    symbol("i", "a tin; the DSCP of the packet selects it"),
    symbol("B", "bytes of the IP packet"),
    symbol("L", "bytes that it takes on the link"),
    symbol("t_next", "when the shaper lets the next packet go"),
    symbol("t_safe", "the same at 2/3 of the rate, without what was dropped"),
    symbol("t_i", "until when the tin is above its rate"),
    symbol("D_i", "deficit of the tin, in bytes"),
    symbol("D", "deficit of the queue of a flow, in bytes"),
    symbol("Q", "quantum of the tin: `min(1514, max(300, r_i / 32768))`, 1514 without shaper"),
    symbol("f", "bulk flows of the busier of the hosts that share (`flow_mode`), at least 1"),
    symbol("T", "target: the larger of `rtt / 20` and 1.5 times the time of 1514 bytes at `r_i`"),
    symbol("I", "interval: `max(rtt + T − rtt / 20, 2 · T)`"),
    symbol("d", "time that the packet has waited"),
    symbol("n", "signals of CoDel"),
    symbol("t_drop", "time of its next signal"),
    symbol("p", "probability of BLUE"),
    symbol("M", "`memory`; if 0, `4 · r · rtt / 8` between 4194304 and 15503360, without shaper the latter"),
    symbol("R_a", "peak of the rate of arrivals, in byte/s; `r / 8` at first"),
    symbol("R_s", "rate of the arrivals since the last sample"),
    on("an arrival"),
    step("`t_next ← t`, `t_safe ← t`", "sch_cake.c, cake_enqueue").when("nothing waits, and `t_next < t`"),
    eq("t_i ← max(t_i, t)", "").when("nothing waits in the tin"),
    step(
        "the queue is one of 8 of 1024 that the hash of the flow allows; a new one is sparse, with `D ← Q / f`",
        "cake_hash",
    ),
    eq("R_a ← R_a + (R_s − R_a) / 4", "cake_enqueue")
        .when("a pause is longer than the average pause, and `R_s > R_a`; otherwise 1/256 in place of 1/4"),
    eq("r ← 15 / 16 · 8 · R_a", "").when("`autorate_ingress`, at most every 250 ms"),
    step("the head of the longest queue is dropped, until all fits", "cake_drop").when("more than `M` waits"),
    eq("p ← min(1, p + 1 / 256)", "cobalt_queue_full").when("its queue has not changed `p` for `T`"),
    step("`t_drop ← t`, `n ← max(1, n)` for its queue", ""),
    on("the transmitter is free"),
    step("nothing leaves", "cake_dequeue").when("`t < min(t_next, t_safe)`"),
    step("the active tin with the smallest `max(0, t_i − t)` has the turn, of equal ones the last", "").when("`r > 0`"),
    step("the tins have turns by deficit round robin: who has `D_i < 0` gets `w_i` and waits a round", "")
        .when("`r = 0`"),
    step("in the tin, the first sparse queue has the turn, without one the first bulk queue", ""),
    eq("D ← D + Q / f", "cake_get_flow_quantum")
        .when("`D ≤ 0`; the rest of the division is given at random; the queue is bulk and the next one has the turn"),
    step("COBALT drops or passes its first packet (below), but never its last", "cake_dequeue"),
    on("COBALT, for the first packet of a queue"),
    step("the packet is late", "cobalt_should_drop").when(
        "`d > T`, and above the time of 4 packets of 1514 bytes at `r_i`, with `ingress` of 2 for each bulk flow",
    ),
    eq("t_drop ← t + I / √(max(1, n))", "").when("it is late and the one before was not"),
    step("it is marked, or dropped if it does not support marks", "")
        .when("it is late, and `n > 0` and `t ≥ t_drop` before"),
    step("`n ← n + 1`, `t_drop ← t_drop + I / √(n)`", "")
        .when("so it was; a late packet without signal makes `n ← max(1, n)`"),
    step("`n ← n − 1`, `t_drop ← t_drop + I / √(max(1, n))`", "")
        .when("it is not late, as long as `n > 0` and `t ≥ t_drop`"),
    step("it is dropped with probability `p`", ""),
    eq("t_drop ← t + I", "").when("`n = 0`"),
    eq("t_drop ← t", "").when("`n > 0`, it passes, and `t > t_drop` after the last step of `n`, without one at first"),
    eq("p ← max(0, p − 1 / 4096)", "cobalt_queue_empty")
        .when("the queue has a turn and is empty, and has not changed `p` for `T`; `n` then falls by one as above"),
    on("a packet leaves; with `ingress` also if it is dropped"),
    eq("L = max(0, mpu, B + overhead)", "cake_calc_overhead"),
    eq("L ← 53 · ⌈L / 48⌉", "").when("`atm = atm`"),
    eq("L ← L + ⌈L / 64⌉", "").when("`atm = ptm`"),
    step("`D ← D − L`, `D_i ← D_i − L`", "cake_dequeue"),
    eq("t_i ← t_i + 8 · L / r_i", "cake_advance_shaper").when("`t_i < t`"),
    eq("t_i ← max(t_i, t + 8 · L / r_i)", "").when("otherwise"),
    eq("t_next ← t_next + 8 · L / r", ""),
    eq("t_safe ← t_safe + 3 / 2 · 8 · L / r", "").when("it was not dropped"),
];

/// Builds the discipline.
///
/// # Errors
/// If `memory` is not in bytes.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let (diffserv, rate) = (Diffserv::new(args.word("diffserv")), args.rate("bandwidth"));
    let mut cake = Cake {
        diffserv,
        tins: diffserv.tins(Isolation::new(args.word("flow_mode"))),
        tin: 0,
        clock: Clock::default(),
        held: Time::NEVER,
        framing: Framing::new(args),
        autorate: args.flag("autorate_ingress").then(|| Autorate::new(rate)),
        ingress: args.flag("ingress"),
        rtt: args.time("rtt"),
        given: bytes(args, "memory")?,
        memory: 0,
        hash: FlowHash::new(site.network),
        ends: site.ends.cloned(),
        waiting: Backlog::default(),
    };
    cake.set_rate(rate);
    Ok(Box::new(cake))
}

/// The discipline (`struct cake_sched_data`).
#[derive(Debug)]
struct Cake {
    diffserv: Diffserv,
    tins: Vec<Tin>,
    /// `cur_tin`.
    tin: usize,
    clock: Clock,
    /// When to ask again, after the shaper has held a packet back.
    held: Time,
    framing: Framing,
    autorate: Option<Autorate>,
    ingress: bool,
    rtt: Span,
    /// The parameter `memory`, in bytes.
    given: u64,
    /// `buffer_limit`, in bytes.
    memory: u64,
    hash: FlowHash,
    ends: Option<Arc<[End]>>,
    waiting: Backlog,
}

impl Cake {
    // cake_reconfigure.
    fn set_rate(&mut self, bps: u64) {
        self.clock.rate = bps;
        self.diffserv.set_rate(&mut self.tins, bps, self.rtt);
        let most = 10_240 * MTU;
        let shaped = (4.0 * bps as f64 / 8.0 * self.rtt.as_secs_f64()) as u64;
        self.memory = match (self.given, bps) {
            (0, 0) => most,
            (0, _) => shaped.clamp(4 << 20, most),
            (given, _) => given,
        };
    }

    /// The end with this address; without a table, each is a host of its own.
    fn end(&self, a: Address) -> End {
        self.ends.as_ref().and_then(|ends| ends.get(a.0 as usize)).copied().unwrap_or(End { host: a.0, dscp: 0 })
    }

    fn hashes(&mut self, cx: &mut Cx, p: &Packet) -> Hashes {
        let key = self.hash.key(cx);
        let hosts = [p.src, p.dst].map(|a| FlowHash::of_host(key, self.end(a).host));
        Hashes { flow: FlowHash::of_flow(key, p), hosts }
    }

    /// Drops the first packet of the longest queue (`cake_drop`). False if nothing waits.
    fn shorten_longest(&mut self, now: Time, sink: &mut Sink) -> bool {
        let longest = self.tins.iter().enumerate().filter_map(|(t, tin)| Some((tin.flows.longest()?, t))).max();
        let Some(((_, i), t)) = longest else { return false };
        let Some(p) = self.tins.get_mut(t).and_then(|tin| tin.flows.pop(i)) else { return false };
        if let Some(tin) = self.tins.get_mut(t) {
            let law = tin.law;
            if let Some(flow) = tin.flows.get_mut(i) {
                flow.cobalt.is_full(&law, now);
            }
        }
        self.waiting.remove(&p);
        if self.ingress {
            self.charge(t, self.framing.length(p.size), now, true);
        }
        sink.drop(p, DropReason::Full);
        true
    }

    // cake_advance_shaper.
    fn charge(&mut self, tin: usize, bytes: u64, now: Time, dropped: bool) {
        if let Some(tin) = self.tins.get_mut(tin).filter(|_| self.clock.rate > 0) {
            tin.charge(bytes, now);
            self.clock.charge(bytes, dropped);
        }
    }

    /// The tin that sends next.
    fn choose(&mut self, now: Time) -> usize {
        if self.clock.rate > 0 {
            // The last tin, which has the highest priority, below its rate; otherwise the one that will be first.
            let waits = |t: &Tin| t.next.since(now);
            let active = self.tins.iter().enumerate().filter(|(_, t)| t.flows.are_active());
            return active.min_by_key(|(i, t)| (waits(t), usize::MAX - i)).map_or(0, |(i, _)| i);
        }
        // Deficit round robin over the tins.
        let mut t = self.tin;
        while let Some(tin) = self.tins.get_mut(t).filter(|tin| tin.deficit < 0 || !tin.flows.are_active()) {
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            t = (t + 1) % self.tins.len();
        }
        t
    }
}

impl Qdisc for Cake {
    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        let (now, hashes) = (cx.now, self.hashes(cx, &p));
        let dscp = if p.dscp == 0 { self.end(p.dst).dscp } else { p.dscp };
        let t = self.diffserv.tin(dscp);
        if self.waiting.packets == 0 {
            self.clock.start(now);
        }
        let Some(tin) = self.tins.get_mut(t) else { return sink.drop(p, DropReason::Full) };
        if tin.flows.waiting().packets == 0 {
            tin.next = tin.next.max(now);
        }
        self.waiting.add(&p);
        tin.flows.push(p, hashes, cx.rng);
        if let Some(rate) = self.autorate.as_mut().and_then(|a| a.arrive(now, u64::from(p.size))) {
            self.set_rate(rate);
        }
        while self.waiting.bytes > self.memory && self.shorten_longest(now, sink) {}
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let (now, mut decaying) = (cx.now, true);
        self.held = Time::NEVER;
        while self.waiting.packets > 0 {
            if let Some(until) = self.clock.holds_until(now) {
                self.held = until;
                return None;
            }
            self.tin = self.choose(now);
            // After a drop that counts, another queue of the same tin may have its turn.
            loop {
                let tin = self.tins.get_mut(self.tin)?;
                let i = tin.flows.next(&mut decaying, cx.rng)?;
                let bulk = if self.ingress { tin.flows.bulk() } else { 0 };
                let law = tin.law;
                let Some(mut p) = tin.flows.pop(i) else {
                    tin.flows.get_mut(i)?.cobalt.is_empty(&law, now);
                    tin.flows.retire(i, now);
                    break;
                };
                self.waiting.remove(&p);
                let flow = tin.flows.get_mut(i)?;
                let drops = flow.cobalt.drops(&law, cx, &mut p, bulk, sink);
                // The last packet of a queue is never dropped.
                let drops = drops && flow.packets.backlog().packets > 0;
                if !drops || self.ingress {
                    let bytes = self.framing.length(p.size);
                    flow.deficit -= bytes as i64;
                    tin.deficit -= bytes as i64;
                    self.charge(self.tin, bytes, now, drops);
                }
                if !drops {
                    return Some(p);
                }
                sink.drop(p, DropReason::Early);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.waiting
    }

    fn next_deadline(&self) -> Time {
        if self.waiting.packets == 0 { Time::NEVER } else { self.held }
    }
}

#[cfg(test)]
mod tests;
