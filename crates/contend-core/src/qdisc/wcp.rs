//! WCP: a FIFO that marks the packets of all flows in a congested neighbourhood.
//!
//! A queue is congested while the moving average of its length is above a threshold. The node writes into each packet
//! that leaves whether a congested link begins or ends at it, and whether one is near. Neighbours overhear this in its
//! data frames. So a node knows if it, or the next hop of a packet, is at most one hop from an end of a congested link;
//! then it marks the packet.
//!
//! - All links of a node share its queue, so they are congested together. WCP's authors keep a queue for each link.
//! - The threshold, the weight of the average, and for how long an overheard notice counts are not in the thesis.
//! - The average is taken whenever a packet comes or goes.
//! - The control interval of a neighbourhood is the longest round-trip time of the flows that cross the node or a
//!   neighbour of it.
//! - `sharing = "oracle"`: neighbours know of a notice at once. `"none"`: a node knows only itself, as on a wire.

use super::fifo::Fifo;
use super::{Args, Backlog, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::explicit::WCP;
use crate::explicit::wcp::{self, Longest, Notice};
use crate::observe::{HeardFrame, Kind};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Rangwala, Jindal, Jang, Psounis, Govindan 2008, as Barreto 2012 §2.3.2, §3.3.6 has it";
/// What it does.
pub const SUMMARY: &str = "A FIFO that marks WCP headers while a link in its neighbourhood is congested.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    Param::fraction("threshold", "average length above which the queue is congested, as a share of its limit")
        .default("50%")
        .range(0.0, 1.0),
    Param::fraction("weight", "weight of the present length in the average").default("2%").range(1e-6, 1.0),
    Param::word(
        "sharing",
        &["overheard", "oracle", "none"],
        "how neighbours learn of congestion. overheard: from data frames; oracle: at once; none: not at all",
    )
    .default("overheard"),
    Param::time("memory", "for how long the notice of a neighbour counts").default("1s").range(0.001, 1000.0),
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, String> {
    let (limit, memory) = (args.amount("limit"), args.time("memory"));
    Ok(Box::new(Wcp {
        queue: Fifo::new(limit),
        limit,
        threshold: args.number("threshold"),
        weight: args.number("weight"),
        listens: args.word("sharing") == "overheard",
        memory,
        average: 0.0,
        rtt: Longest::new(memory),
        receives_until: Time::ZERO,
        neighbours: Vec::new(),
    }))
}

#[derive(Debug)]
struct Wcp {
    queue: Fifo,
    limit: Amount,
    /// A share of the limit, as `average` is.
    threshold: f64,
    weight: f64,
    /// True if it learns from overheard frames.
    listens: bool,
    memory: Span,
    average: f64,
    /// Round-trip times of the flows that cross the node, in microseconds.
    rtt: Longest,
    /// Until then a congested link ends at this node.
    receives_until: Time,
    /// The last notice of each neighbour and when it ceases to count.
    neighbours: Vec<(u32, Notice, Time)>,
}

impl Wcp {
    fn measure(&mut self) {
        let waiting = self.queue.backlog();
        let length = match self.limit {
            Amount::Packets(n) => waiting.packets as f64 / n as f64,
            Amount::Bytes(n) => waiting.bytes as f64 / n as f64,
        };
        self.average += self.weight * (length - self.average);
    }

    /// The notices that count at `now`, with the numbers of their nodes.
    fn notices(&self, now: Time) -> impl Iterator<Item = (u32, &Notice)> {
        self.neighbours.iter().filter(move |(.., until)| now < *until).map(|(node, notice, _)| (*node, notice))
    }

    /// What this node tells its neighbours.
    fn own(&mut self, now: Time) -> Notice {
        let source = self.average > self.threshold;
        let end = source || now < self.receives_until;
        let near = end || self.notices(now).any(|(_, n)| n.end);
        Notice { source, end, near, interval_us: self.rtt.at(now) }
    }
}

impl Qdisc for Wcp {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        if p.explicit_kind() == WCP && !p.is_reverse() {
            self.rtt.see(cx.now, p.explicit.rtt_us);
        }
        self.queue.enqueue(cx, link, p, sink);
        self.measure();
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        let mut p = self.queue.pop()?;
        self.measure();
        if p.explicit_kind() != WCP {
            return Some(p);
        }
        let own = self.own(cx.now);
        let mut h = own.written(p.explicit);
        if !p.is_reverse() {
            let next = link.neighbour(&p);
            let near = own.near || self.notices(cx.now).any(|(node, n)| node == next && n.near);
            if near {
                sink.marked += u64::from(!wcp::is_marked(&h));
                h = wcp::marked(h);
            }
            let intervals = self.notices(cx.now).map(|(_, n)| n.interval_us);
            h.throughput = intervals.fold(h.throughput.max(own.interval_us), u32::max);
        }
        p.set_explicit(WCP, h);
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn listens(&self) -> bool {
        self.listens
    }

    fn heard(&mut self, f: &HeardFrame<'_>) {
        let Some(p) = f.packet.filter(|p| f.decoded && f.kind == Kind::Data && p.explicit_kind() == WCP) else { return };
        let (notice, until) = (Notice::of(&p.explicit), f.end + self.memory);
        if notice.source && f.to == f.me {
            self.receives_until = until;
        }
        match self.neighbours.iter_mut().find(|(node, ..)| *node == f.from) {
            Some(known) => *known = (f.from, notice, until),
            None => {
                self.neighbours.retain(|(.., until)| f.end < *until);
                self.neighbours.push((f.from, notice, until));
            }
        }
    }
}
