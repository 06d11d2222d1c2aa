//! A FIFO that drops the packet that has waited longest.

use super::{Backlog, DropReason, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::packet::Packet;
use crate::registry::{Amount, Args, Param};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;

/// Source.
pub const CITE: &str = "where it comes from";
/// What it does.
pub const SUMMARY: &str = "What it does, in a sentence.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::integer("limit", "packets that may wait").default("100").range(1.0, 1e6)];

/// Makes one.
///
/// # Errors
/// None: every value in range is good.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, String> {
    let limit = args.integer("limit").max(1) as usize;
    Ok(Box::new(HeadDrop { limit, bytes: 0, queue: VecDeque::new() }))
}

#[derive(Debug)]
struct HeadDrop {
    /// Packets that may wait.
    limit: usize,
    /// Bytes that wait.
    bytes: u64,
    queue: VecDeque<Packet>,
}

impl Qdisc for HeadDrop {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        if self.queue.len() >= self.limit
            && let Some(oldest) = self.dequeue(cx, link, sink)
        {
            sink.drop(oldest, DropReason::Full);
        }
        self.bytes += u64::from(p.size);
        self.queue.push_back(p);
    }
    fn dequeue(&mut self, _: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        self.bytes -= u64::from(p.size);
        Some(p)
    }
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.queue.len() as u64, bytes: self.bytes }
    }
    fn limit(&self) -> Option<Amount> {
        Some(Amount::Packets(self.limit as u64))
    }
}
