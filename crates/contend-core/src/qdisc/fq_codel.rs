//! FQ-CoDel: many flow queues, each under CoDel, served by deficit round robin, new flows first.
//!
//! Differences from RFC 8290:
//! - Flows are distinguished by addresses and number, which is equivalent to the 5-tuple. The hash function is our own.
//! - The perturbation is drawn once, at the first packet, from the random stream of the discipline; the number of the
//!   network is added, so that other seeds collide in another network.
//! - A queue must also wait for its next turn when its credits are exactly used up ("at least a quantum", §4.2; as in
//!   Linux).
//! - `memory` counts bytes of IP packets, not of kernel buffers.

use super::codel::{INTERVAL, Law, MTU, TARGET};
use super::flow_queues::FlowQueues;
use super::marking::ECN;
use super::shallow::{BurstMarks, CE_BEHIND, CE_FROM, CE_SELECT, CE_THRESHOLD, CLASSIC_FOR_ECT1, MARK_AT};
use super::{Args, Backlog, Link, Qdisc, Sink, Site, bytes};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: The Flow Queue CoDel Packet Scheduler \
    and AQM Algorithm, RFC 8290";
/// What it does.
pub const SUMMARY: &str = "A CoDel queue for each flow, chosen by hash; deficit round robin serves new flows first. \
    When the limit is exceeded, packets of the longest queue are dropped.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::amount("limit", "maximum backlog of all queues, in packets or bytes")
        .default("10240p")
        .range(1.0, 1e9)
        .limits_queue(),
    Param::amount("memory", "maximum backlog of all queues, in bytes").default("32MB").range(1.0, 1e12),
    Param::integer("flows", "number of queues").default("1024").range(1.0, 65536.0),
    Param::amount("quantum", "bytes that a queue may send per round").default("1514B").range(64.0, 1e9),
    Param::integer("drop_batch", "maximum number of packets dropped at once when the limit is exceeded")
        .default("64")
        .range(1.0, 1e6),
    TARGET,
    INTERVAL,
    MTU,
    ECN.default("true"),
    CE_THRESHOLD,
    CE_SELECT,
    CE_FROM,
    CE_BEHIND,
    MARK_AT,
    CLASSIC_FOR_ECT1,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("c", "credits of a queue, in bytes"),
    symbol("B", "size of a packet, in bytes"),
    symbol("N", "packets in the queue with the most bytes"),
    on("an arrival"),
    step("the packet goes to the end of the queue that the hash of its flow selects, one of `flows`", "RFC 8290 §4.1"),
    step("the queue goes to the end of the list of new queues", "").when("it is in no list"),
    eq("c ← quantum", "").when("it was in no list"),
    step(
        "the first `min(drop_batch, ⌈N / 2⌉)` packets of the queue with the most bytes are dropped, until all fit",
        "",
    )
    .when("more than `limit` or `memory` waits"),
    on("the transmitter is free"),
    step("the turn is that of the first new queue; without one, of the first old queue", "§4.2"),
    eq("c ← c + quantum", "").when("`c ≤ 0`"),
    step("the queue goes to the end of the old queues, and the next one has the turn", "").when("`c ≤ 0` before"),
    step("its CoDel takes a packet from its head, as in codel; the bytes of all queues wait behind the packet", ""),
    eq("c ← c − B", "").when("there was a packet"),
    step("a new queue goes to the end of the old ones, an old one leaves its list; the next one has the turn", "")
        .when("there was none"),
    super::shallow::SPARES,
    super::shallow::MARKS,
    super::shallow::BURST,
    super::shallow::COUNTS,
];

/// Builds the discipline.
///
/// # Errors
/// If `memory`, `quantum`, `mtu` or `ce_behind` is not in bytes, or if nothing would signal ECT(1).
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(FqCodel {
        law: Law::new(args, true)?,
        limit: args.amount("limit"),
        memory: bytes(args, "memory")?,
        batch: args.integer("drop_batch").max(1) as u64,
        flows: FlowQueues::new(args.integer("flows").clamp(1, 65_536) as usize, bytes(args, "quantum")?, site.network),
    }))
}

/// Flow queues in one group.
#[derive(Debug)]
struct FqCodel {
    law: Law,
    limit: Amount,
    /// Limit in bytes.
    memory: u64,
    batch: u64,
    flows: FlowQueues,
}

const ALL: usize = 0;

impl FqCodel {
    fn is_over(&self) -> bool {
        let total = self.flows.total();
        let limit = match self.limit {
            Amount::Packets(n) => total.packets > n,
            Amount::Bytes(n) => total.bytes > n,
        };
        limit || total.bytes > self.memory
    }
}

impl Qdisc for FqCodel {
    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        self.flows.push(cx, ALL, p);
        // RFC 8290 §4.1, §5.2.3: drop half of the packets, at most `drop_batch`, from the head of the queue with the
        // most bytes. This is the only search, and it happens only when the queues are full.
        while self.is_over() {
            self.flows.shorten_longest(self.batch, sink);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        self.flows.pop(ALL, cx.now, Some(&self.law), false, sink)
    }

    fn backlog(&self) -> Backlog {
        self.flows.total()
    }

    fn marks_below(&mut self) -> Option<BurstMarks> {
        self.law.shallow.marks_below()
    }
}
