//! First in, first out, with a limit in packets or bytes; a packet that does not fit is dropped (drop-tail).
//!
//! A wire with this queue does the same without events of its own: `drop_tail.rs` in contend-sim.

use super::lane::Lane;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, on, step};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "drop-tail FIFO, as in every access point's default and in ns-2's Queue/DropTail";
/// What it does.
pub const SUMMARY: &str = "One queue, first in first out; a packet that arrives at a full queue is dropped.";
/// Parameters.
pub const PARAMS: &[Param] = &[LIMIT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    on("an arrival"),
    step("the packet waits behind the others", "ns-2, Queue/DropTail").when("it fits within `limit`"),
    step("it is dropped", "").when("otherwise"),
    on("the transmitter is free"),
    step("the packet that arrived first leaves", ""),
];

/// Limit of the queue.
pub(super) const LIMIT: Param =
    Param::amount("limit", "maximum backlog, in packets or bytes; the packet in service is not counted")
        .default("100p")
        .range(1.0, 1e9)
        .limits_queue();

/// Builds the discipline.
///
/// # Errors
/// Never: every limit in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Fifo::new(args.amount("limit"))))
}

/// A drop-tail queue.
#[derive(Debug)]
pub struct Fifo {
    limit: Amount,
    queue: Lane,
}

impl Fifo {
    /// An empty queue that holds at most `limit`.
    pub fn new(limit: Amount) -> Fifo {
        Fifo { limit, queue: Lane::default() }
    }

    /// True if `p` fits within the limit.
    pub(super) fn fits(&self, p: &Packet) -> bool {
        self.queue.backlog().has_room(self.limit, p)
    }
    /// Appends `p` regardless of the limit.
    pub(super) fn push(&mut self, p: Packet) {
        self.queue.push(p);
    }
    /// Removes the oldest packet.
    pub(super) fn pop(&mut self) -> Option<Packet> {
        self.queue.pop()
    }
    /// The queue without its limit.
    pub(super) fn lane(&mut self) -> &mut Lane {
        &mut self.queue
    }
}

impl Qdisc for Fifo {
    fn enqueue(&mut self, _: &mut Cx, _: &dyn Link, p: Packet, sink: &mut Sink) {
        if self.fits(&p) {
            self.push(p);
        } else {
            sink.drop(p, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.pop()
    }

    fn can_bypass(&self) -> bool {
        // A limit in packets always has room for one packet. A limit in bytes may not.
        matches!(self.limit, Amount::Packets(_))
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}
