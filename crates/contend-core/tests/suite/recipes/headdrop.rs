//! A FIFO that drops the packet that has waited longest.

use super::{Backlog, DropReason, Link, Qdisc, Sink, Site};
use crate::formulas::{Line, on, step};
use crate::packet::Packet;
use crate::registry::{Amount, Args, Param};
use crate::{Cx, Refusal};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in one sentence.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::amount("limit", "maximum backlog").default("100p").range(1.0, 1e9).limits_queue()];
/// Its formulas, which `contend explain` prints.
pub const FORMULAS: &[Line] = &[
    on("a packet that arrives at a full queue"),
    step("the packet that has waited longest is dropped", "where it stands"),
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(HeadDrop { limit: args.amount("limit"), waiting: Backlog::default(), queue: VecDeque::new() }))
}

#[derive(Debug)]
struct HeadDrop {
    limit: Amount,
    waiting: Backlog,
    queue: VecDeque<Packet>,
}

impl Qdisc for HeadDrop {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        while !self.waiting.has_room(self.limit, &p) {
            match self.dequeue(cx, link, sink) {
                Some(oldest) => sink.drop(oldest, DropReason::Full),
                None => return sink.drop(p, DropReason::Full),
            }
        }
        self.waiting.add(&p);
        self.queue.push_back(p);
    }
    fn dequeue(&mut self, _: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        self.waiting.remove(&p);
        Some(p)
    }
    fn backlog(&self) -> Backlog {
        self.waiting
    }
}
