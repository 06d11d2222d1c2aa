//! FQ-CoDel: a queue for each of many flows, each under CoDel, served by deficit round robin, new flows first.
//!
//! Differences from RFC 8290:
//! - flows are told apart by flow and direction, which is what the 5-tuple says, and by a hash of this simulator's own;
//! - the perturbation is drawn once, with the first packet, from the discipline's random stream;
//! - the CoDel of a flow looks at the bytes behind the packet in its own queue (RFC 8289), in Linux at those in all queues;
//! - a queue has to wait for its turn when its credits are used up exactly, too ("at least a quantum", §4.2; as in Linux);
//! - `memory` counts bytes of IP packets, not of kernel buffers.

use super::codel::{Codel, INTERVAL, Law, MTU, TARGET};
use super::lane::Lane;
use super::{Args, Backlog, Drop, Link, Qdisc, Sink, Site, bytes};
use crate::Cx;
use crate::packet::Packet;
use crate::registry::{Amount, Param, Unit};
use crate::time::Span;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: The Flow Queue CoDel Packet Scheduler and AQM Algorithm, RFC 8290";
/// What it does.
pub const SUMMARY: &str = "A CoDel queue for each flow, by hash; deficit round robin in which flows that begin go first; drops from the longest when full.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param { name: "limit", doc: "most that may wait in all queues, in packets or bytes", unit: Unit::Amount, default: Some("10240p"), range: (1.0, 1e9) },
    Param { name: "memory", doc: "most bytes that may wait in all queues", unit: Unit::Amount, default: Some("32MB"), range: (1.0, 1e12) },
    Param { name: "flows", doc: "number of queues", unit: Unit::Integer, default: Some("1024"), range: (1.0, 65536.0) },
    Param { name: "quantum", doc: "bytes a queue may send in a round", unit: Unit::Amount, default: Some("1514B"), range: (64.0, 1e9) },
    Param { name: "drop_batch", doc: "most packets dropped at once when full", unit: Unit::Integer, default: Some("64"), range: (1.0, 1e6) },
    TARGET,
    INTERVAL,
    MTU,
    Param { name: "ecn", doc: "mark packets that understand ECN instead of dropping them", unit: Unit::Bool, default: Some("true"), range: (0.0, 1.0) },
    Param {
        name: "ce_threshold",
        doc: "mark every packet that understands ECN and has waited longer, whatever CoDel says; by default longer than any run",
        unit: Unit::Time,
        default: Some("1000000s"),
        range: (0.0, 1e6),
    },
];

/// Makes one.
///
/// # Errors
/// `memory`, `quantum` or `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, String> {
    let flows = args.integer("flows").clamp(1, 65_536) as usize;
    Ok(Box::new(FqCodel {
        law: Law::new(args)?,
        limit: args.amount("limit"),
        memory: bytes(args, "memory")?,
        quantum: bytes(args, "quantum")? as i64,
        batch: args.integer("drop_batch").max(1) as u64,
        ce_threshold: args.time("ce_threshold"),
        perturbation: None,
        total: Backlog::default(),
        queues: (0..flows).map(|_| Queue { packets: Lane::default(), codel: Codel::default(), credits: 0, listed: false }).collect(),
        new: VecDeque::with_capacity(flows),
        old: VecDeque::with_capacity(flows),
    }))
}

/// One flow's queue, or that of flows whose hashes are equal.
#[derive(Debug)]
struct Queue {
    packets: Lane,
    codel: Codel,
    /// Bytes it may still send in this round.
    credits: i64,
    /// Whether it is in the list of new or of old queues.
    listed: bool,
}

/// Queues, and in which order they have their turn.
#[derive(Debug)]
struct FqCodel {
    law: Law,
    limit: Amount,
    /// Bytes.
    memory: u64,
    /// Bytes.
    quantum: i64,
    batch: u64,
    ce_threshold: Span,
    perturbation: Option<u64>,
    total: Backlog,
    queues: Vec<Queue>,
    /// Queues that have become active and not yet used a quantum, by number.
    new: VecDeque<usize>,
    /// The other active queues.
    old: VecDeque<usize>,
}

impl FqCodel {
    // RFC 8290 §4.1: which queue, by a hash with a random perturbation, here the mixing function of SplitMix64 (Steele, Lea, Flood 2014).
    fn classify(&mut self, cx: &mut Cx, p: &Packet) -> usize {
        let perturbation = *self.perturbation.get_or_insert_with(|| cx.rng.random());
        let mut z = (u64::from(p.flow.0) << 1 | u64::from(p.reverse)) ^ perturbation;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * self.queues.len() as u128) >> 64) as usize
    }

    fn is_over(&self) -> bool {
        let limit = match self.limit {
            Amount::Packets(n) => self.total.packets > n,
            Amount::Bytes(n) => self.total.bytes > n,
        };
        limit || self.total.bytes > self.memory
    }

    // RFC 8290 §4.1: from the head of the queue with most bytes, half of its packets, `drop_batch` at most. The only search, and only when full.
    fn shorten_longest(&mut self, sink: &mut Sink) {
        let Some(longest) = self.queues.iter_mut().max_by_key(|q| (q.packets.backlog().bytes, q.packets.backlog().packets)) else { return };
        let half = longest.packets.backlog().packets.div_ceil(2);
        for _ in 0..half.min(self.batch) {
            if let Some(p) = longest.packets.pop() {
                self.total.remove(&p);
                sink.drop(p, Drop::Full);
            }
        }
    }
}

impl Qdisc for FqCodel {
    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        let i = self.classify(cx, &p);
        let queue = &mut self.queues[i];
        self.total.add(&p);
        queue.packets.push(p);
        // RFC 8290 §4.1: a queue that was not active is new and has a quantum of credits.
        if !queue.listed {
            queue.listed = true;
            queue.credits = self.quantum;
            self.new.push_back(i);
        }
        while self.is_over() {
            self.shorten_longest(sink);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        // RFC 8290 §4.2.
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let i = *list.front()?;
            let queue = &mut self.queues[i];
            if queue.credits <= 0 {
                queue.credits += self.quantum;
                list.pop_front();
                self.old.push_back(i);
                continue;
            }
            let before = queue.packets.backlog();
            let packet = queue.codel.dequeue(&self.law, cx.now, &mut queue.packets, sink);
            let after = queue.packets.backlog();
            self.total = self.total.changed(before, after);
            if let Some(mut p) = packet {
                // RFC 8290 §5.2.7.
                if cx.now.since(p.queued) > self.ce_threshold {
                    sink.mark(&mut p);
                }
                queue.credits -= i64::from(p.size);
                return Some(p);
            }
            // An empty new queue passes the old ones once, or a flow could have the first turn again and again (§4.2).
            list.pop_front();
            if is_new {
                self.old.push_back(i);
            } else {
                queue.listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
}
