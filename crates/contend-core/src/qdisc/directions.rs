//! Two FIFO queues at an access point, one for data and one for TCP's acknowledgments. Neither kind of packet can fill
//! the queue of the other: many acknowledgments of uploads do not displace data of downloads, and data do not displace
//! acknowledgments.
//!
//! The original paper is known only through its citation in Keceli 2008. The order of service is therefore a parameter.

use super::fifo::Fifo;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{Packet, PacketKind};
use crate::registry::Param;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "per-direction queueing at the access point, as cited in Keceli, Inan, Ayanoglu 2008, §II [16]";
/// What it does.
pub const SUMMARY: &str = "Two FIFOs, one for data and one for acknowledgments; each has its limit. They are served by \
    weights, or one before the other.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::amount("data_limit", "maximum backlog of data, in packets or bytes")
        .default("100p")
        .range(1.0, 1e9)
        .limits_queue(),
    Param::amount("ack_limit", "maximum backlog of acknowledgments, in packets or bytes")
        .default("100p")
        .range(1.0, 1e9)
        .limits_queue(),
    Param::word(
        "acks",
        &["pure", "reverse"],
        "which packets the second queue holds. pure: TCP segments without payload, except SYN and FIN; reverse: all \
            TCP packets from receiver to sender",
    )
    .default("pure"),
    Param::word(
        "order",
        &["weights", "data_first", "acks_first"],
        "which queue is served. weights: the two in turn, each for its number of packets; data_first, acks_first: the \
            named one whenever it has a packet",
    )
    .default("weights"),
    Param::integer("data_weight", "data packets per turn").default("1").range(1.0, 1e6),
    Param::integer("ack_weight", "acknowledgments per turn").default("1").range(1.0, 1e6),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("k", "packets left in the turn"),
    on("an arrival"),
    step("the packet belongs to the acknowledgments", "Keceli, Inan, Ayanoglu 2008 §II [16]").when(
        "it is a TCP segment without payload, SYN and FIN (`acks = pure`), or from a receiver (`acks = reverse`)",
    ),
    step("it belongs to the data", "").when("otherwise"),
    step("it goes to the end of its queue, or is dropped if `data_limit` or `ack_limit` has no room", ""),
    on("the transmitter is free"),
    step("the named queue sends, and the other only if the first is empty", "")
        .when("`order = data_first` or `order = acks_first`"),
    step("the turn goes to the other queue, with `k ← data_weight` or `k ← ack_weight`", "").when(
        "`order = weights`, and `k = 0` or the queue that has the turn is empty; if the other is empty, it goes back",
    ),
    eq("k ← k − 1", "").when("`order = weights`"),
    step("the queue that has the turn sends its first packet", "").when("`order = weights`"),
];

/// Builds the discipline.
///
/// # Errors
/// If weights are given with an order that does not use weights.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let weights = [args.integer("data_weight"), args.integer("ack_weight")];
    let first = match args.word("order") {
        "data_first" => Some(DATA),
        "acks_first" => Some(ACKS),
        _ => None,
    };
    if first.is_some() && weights != [1, 1] {
        return Err(Refusal::new(
            "weights have no meaning when one queue is always served first",
            "remove them, or write order = \
            \"weights\"",
        ));
    }
    Ok(Box::new(Directions {
        queues: [Fifo::new(args.amount("data_limit")), Fifo::new(args.amount("ack_limit"))],
        reverse: args.word("acks") == "reverse",
        first,
        weights,
        turn: DATA,
        left: weights[DATA],
    }))
}

const DATA: usize = 0;
const ACKS: usize = 1;

/// A queue for data and one for acknowledgments.
#[derive(Debug)]
struct Directions {
    /// Indexed by [`DATA`] and [`ACKS`].
    queues: [Fifo; 2],
    /// True if all packets in the reverse direction count as acknowledgments.
    reverse: bool,
    /// The queue with strict priority, if there is one.
    first: Option<usize>,
    /// Packets per turn.
    weights: [i64; 2],
    /// The queue that has its turn.
    turn: usize,
    /// Packets left in the turn.
    left: i64,
}

impl Directions {
    /// The queue to serve next.
    fn choose(&mut self) -> usize {
        let waits = |i: usize| self.queues[i].backlog().packets > 0;
        if let Some(first) = self.first {
            return if waits(first) { first } else { 1 - first };
        }
        // A turn ends when its packets are used up or when its queue is empty.
        if self.left == 0 || !waits(self.turn) {
            self.turn = 1 - self.turn;
            self.left = self.weights[self.turn];
        }
        if !waits(self.turn) {
            self.turn = 1 - self.turn;
            self.left = self.weights[self.turn];
        }
        self.left -= 1;
        self.turn
    }
}

impl Qdisc for Directions {
    fn enqueue(&mut self, _: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        // If the header cannot be read, the packet counts as data.
        let is_ack = p.tcp().is_some() && if self.reverse { p.is_reverse() } else { p.kind() == PacketKind::Ack };
        let queue = &mut self.queues[if is_ack { ACKS } else { DATA }];
        if queue.fits(&p) {
            queue.push(p);
        } else {
            sink.drop(p, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        if self.backlog().packets == 0 {
            return None;
        }
        let i = self.choose();
        self.queues[i].pop()
    }

    fn backlog(&self) -> Backlog {
        self.queues[DATA].backlog() + self.queues[ACKS].backlog()
    }
}
