//! An agent in the access point's control block: FCWA's margin.

use crate::post::Post;
use contend_core::ap::fcwa::{self, Fcwa};
use contend_core::ap::{Build, Control, Facts, Pass, Side};
use contend_core::packet::Packet;
use contend_core::registry::{Args, Entry};
use contend_core::{Cx, Refusal, Time};
use std::sync::Arc;

pub(crate) fn entry() -> Entry<Build> {
    let summary = "FCWA with a margin that a program outside sets";
    Entry {
        name: "agent_fcwa",
        cite: "contend.gym",
        summary,
        params: fcwa::PARAMS,
        formulas: fcwa::FORMULAS,
        facts: &[],
        build,
    }
}

fn build(args: &Args, facts: &Facts) -> Result<Box<dyn Control>, Refusal> {
    let inner = Fcwa::new(args, facts)?;
    Ok(Box::new(Margin { post: Post::new(args.number("margin")), inner }))
}

#[derive(Debug)]
struct Margin {
    post: Arc<Post>,
    inner: Fcwa,
}

impl Control for Margin {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass) {
        let margin = self.post.action().clamp(0.01, 1.0);
        self.inner.set_margin(margin);
        let mut seen = self.post.seen();
        (seen.level, seen.came) = (margin, seen.came + 1);
        seen.bytes += u64::from(p.size);
        self.inner.on_packet(cx, from, p, out);
    }

    fn on_wake(&mut self, cx: &mut Cx, out: &mut Pass) {
        self.inner.on_wake(cx, out);
    }

    fn next_deadline(&self) -> Time {
        self.inner.next_deadline()
    }

    fn held(&self) -> u64 {
        self.inner.held()
    }
}
