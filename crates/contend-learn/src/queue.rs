//! Agents in queues: the limit, or the probability of a mark.

use crate::post::Post;
use contend_core::packet::Packet;
use contend_core::qdisc::lane::Lane;
use contend_core::qdisc::{Backlog, Build, DropReason, Link, Qdisc, Sink, Site};
use contend_core::registry::{Args, Entry};
use contend_core::{Cx, Refusal};
use rand::RngExt as _;
use std::sync::Arc;

/// The limit of the queue that marks, in packets.
const LONGEST: u64 = 1000;

pub(crate) fn entries() -> [Entry<Build>; 2] {
    let entry = |name, summary, build| Entry {
        name,
        cite: "contend.gym",
        summary,
        params: &[],
        formulas: &[],
        facts: &[],
        build,
    };
    [
        entry("agent_queue", "A FIFO whose limit a program outside sets", build_limit as Build),
        entry("agent_mark", "A FIFO that marks or drops with a probability that a program outside sets", build_mark),
    ]
}

fn build_limit(_: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Queue { post: Post::new(100.0), marks: false, waiting: Lane::default() }))
}

fn build_mark(_: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Queue { post: Post::new(0.0), marks: true, waiting: Lane::default() }))
}

#[derive(Debug)]
struct Queue {
    post: Arc<Post>,
    marks: bool,
    waiting: Lane,
}

impl Qdisc for Queue {
    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, mut p: Packet, sink: &mut Sink) {
        let (action, mut seen) = (self.post.action(), self.post.seen());
        seen.came += 1;
        let limit = if self.marks { LONGEST } else { action.round().clamp(1.0, 1e6) as u64 };
        if self.waiting.backlog().packets >= limit {
            seen.lost += 1;
            sink.drop(p, DropReason::Full);
            return;
        }
        if self.marks && cx.rng.random::<f64>() < action {
            if !sink.mark(&mut p) {
                seen.lost += 1;
                sink.drop(p, DropReason::Early);
                return;
            }
            seen.marked += 1;
        }
        self.waiting.push(p);
        seen.level = self.waiting.backlog().packets as f64;
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let p = self.waiting.pop()?;
        let mut seen = self.post.seen();
        seen.bytes += u64::from(p.size);
        seen.sample((cx.now - p.queued).as_secs_f64());
        seen.level = self.waiting.backlog().packets as f64;
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}
