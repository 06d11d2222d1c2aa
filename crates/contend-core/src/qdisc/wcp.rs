//! WCP: a FIFO that marks the packets of all flows in a congested neighbourhood.
//!
//! A queue is congested while the moving average of its length is above a threshold. The node writes into each packet
//! that leaves whether a congested link begins or ends at the node, and whether the node is near one. Neighbours
//! overhear this notice in its data frames. So a node knows if it, or the next hop of a packet, is at most one hop from
//! an end of a congested link; if so, it marks the packet.
//!
//! - All links of a node share its queue, so they are congested together. WCP's authors keep a queue for each link.
//! - The threshold, the weight of the average, and for how long an overheard notice counts are not in the thesis.
//! - The average is updated whenever a packet arrives or leaves.
//! - The control interval of a neighbourhood is the longest round-trip time of the flows that cross the node or a
//!   neighbour of it.
//! - `sharing = "oracle"`: neighbours get a notice at once. `"none"`: a node uses only its own notice, as on a wire.

use super::fifo::Fifo;
use super::{Args, Backlog, Hearing, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::explicit::WCP;
use crate::explicit::wcp::{self, Longest, Notice};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::observe::{HeardFrame, Kind};
use crate::packet::{Explicit, Packet};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
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
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("Q", "average length of the queue, as a share of `limit`"),
    symbol("q", "present length, as a share of `limit`"),
    symbol("T_own", "longest round-trip time in the headers that came in the last one to two times `memory`"),
    symbol("T_h", "control interval in the header of the packet"),
    symbol("T_n", "the same time as `T_own`, in the notice of a neighbour that still counts"),
    on("an arrival or a departure"),
    eq("Q ← Q + weight · (q − Q)", "Barreto 2012 §2.3.2, §3.3.6"),
    on("a packet with a header leaves"),
    step("the links of the node are congested", "").when("`Q > threshold`"),
    step("the node is an end of a congested link", "").when(
        "its links are congested, or a neighbour has said that its own are, and sent to the node in the last `memory`",
    ),
    step("the node is near one", "").when("it or a neighbour is an end"),
    step("the node writes these three and `T_own` into the header, as a notice to those that hear the frame", ""),
    step("the packet is marked", "").when("it carries data, and the node or the next hop of the packet is near"),
    eq("T_h ← max(T_h, T_own, T_n)", "").when("it carries data"),
    on("a notice of a neighbour"),
    step("it counts for `memory`", "").when("`sharing = overheard`; a data frame brings it"),
    step("it counts until the next one", "").when("`sharing = oracle`; it comes at once"),
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let (limit, memory) = (args.amount("limit"), args.time("memory"));
    Ok(Box::new(Wcp {
        queue: Fifo::new(limit),
        limit,
        threshold: args.number("threshold"),
        weight: args.number("weight"),
        hearing: match args.word("sharing") {
            "oracle" => Hearing::AtOnce,
            "none" => Hearing::Nothing,
            _ => Hearing::Frames,
        },
        memory,
        average: 0.0,
        rtt: Longest::new(memory),
        neighbours: Vec::new(),
        told: Notice::default(),
    }))
}

#[derive(Debug)]
struct Wcp {
    queue: Fifo,
    limit: Amount,
    /// A share of the limit, as `average` is.
    threshold: f64,
    weight: f64,
    hearing: Hearing,
    memory: Span,
    average: f64,
    /// Round-trip times of the flows that cross the node, in microseconds.
    rtt: Longest,
    neighbours: Vec<Neighbour>,
    /// The last notice that the neighbours were told at once.
    told: Notice,
}

/// A node that this one hears.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    node: u32,
    notice: Notice,
    /// When the notice ceases to count.
    until: Time,
    /// Until this time the neighbour counts as a sender to this node.
    sends_until: Time,
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

    /// The neighbours whose notices count at `now`.
    fn known(&self, now: Time) -> impl Iterator<Item = &Neighbour> {
        self.neighbours.iter().filter(move |n| now < n.until)
    }

    fn neighbour(&mut self, now: Time, node: u32) -> &mut Neighbour {
        let place = self.neighbours.iter().position(|n| n.node == node).unwrap_or_else(|| {
            self.neighbours.retain(|n| now < n.until || now < n.sends_until);
            let (notice, never) = (Notice::default(), Time::ZERO);
            self.neighbours.push(Neighbour { node, notice, until: never, sends_until: never });
            self.neighbours.len() - 1
        });
        &mut self.neighbours[place]
    }

    /// The notice of this node to its neighbours.
    fn own(&mut self, now: Time) -> Notice {
        let source = self.average > self.threshold;
        let end = source || self.known(now).any(|n| n.notice.source && now < n.sends_until);
        let near = end || self.known(now).any(|n| n.notice.end);
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
            let near = own.near || self.known(cx.now).any(|n| n.node == next && n.notice.near);
            if near {
                sink.marked += u64::from(!wcp::is_marked(&h));
                h = wcp::marked(h);
            }
            let intervals = self.known(cx.now).map(|n| n.notice.interval_us);
            h.throughput = intervals.fold(h.throughput.max(own.interval_us), u32::max);
        }
        p.set_explicit(WCP, h);
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn hearing(&self) -> Hearing {
        self.hearing
    }

    fn heard(&mut self, f: &HeardFrame<'_>) {
        let Some(p) = f.packet.filter(|p| f.decoded && f.kind == Kind::Data && p.explicit_kind() == WCP) else {
            return;
        };
        let (until, frames) = (f.end + self.memory, self.hearing == Hearing::Frames);
        let neighbour = self.neighbour(f.end, f.from);
        if f.to == f.me {
            neighbour.sends_until = until;
        }
        if frames {
            (neighbour.notice, neighbour.until) = (Notice::of(&p.explicit), until);
        }
    }

    fn notice(&mut self, now: Time) -> Option<Explicit> {
        let own = self.own(now);
        let is_new = own != core::mem::replace(&mut self.told, own);
        is_new.then(|| own.written(Explicit::default()))
    }

    fn told(&mut self, from: u32, notice: &Explicit) {
        let neighbour = self.neighbour(Time::ZERO, from);
        (neighbour.notice, neighbour.until) = (Notice::of(notice), Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, conserves, made, packet, steps, word};
    use super::*;
    use crate::registry::{Amount, Value};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packets_are_conserved(steps in steps()) {
            conserves(&mut *made(build, PARAMS, &[]), &steps)?;
        }
    }

    /// With the oracle, a neighbour is told what has changed, and only then. What it is told does not expire.
    #[test]
    fn an_oracle_tells_what_has_changed() {
        let oracle = || {
            let limit = ("limit", Value::Amount(Amount::Packets(2)));
            made(build, PARAMS, &[limit, ("weight", Value::Number(1.0)), ("sharing", word("oracle"))])
        };
        let data = || {
            let mut p = packet(1, 1000);
            p.set_explicit(WCP, Explicit { rtt_us: 1600, ..Explicit::default() });
            p
        };
        let (mut one, mut two, mut bench) = (oracle(), oracle(), Bench::default());
        assert_eq!(one.notice(bench.now), None);
        bench.push(&mut *one, data());
        bench.push(&mut *one, data());
        let notice = one.notice(bench.now).unwrap();
        let want = Notice { source: true, end: true, near: true, interval_us: 1600 };
        assert_eq!(Notice::of(&notice), want);
        assert_eq!(one.notice(bench.now), None);
        two.told(7, &notice);
        bench.now += Span::from_secs(100);
        bench.push(&mut *two, data());
        assert!(wcp::is_marked(&bench.pop(&mut *two).unwrap().explicit));
        let near = two.notice(bench.now).unwrap();
        assert_eq!(Notice::of(&near), Notice { source: false, end: false, ..want });
        // The queue empties.
        bench.pop(&mut *one);
        bench.pop(&mut *one);
        two.told(7, &one.notice(bench.now).unwrap());
        bench.push(&mut *two, data());
        assert!(!wcp::is_marked(&bench.pop(&mut *two).unwrap().explicit));
    }
}
