//! An agent of medium access: the contention window.

use crate::post::Post;
use contend_core::registry::{Args, Entry};
use contend_core::{Cx, Refusal};
use contend_sim::wifi::access::{Access, Build, Channel, Draw, Reads, Seen, Setting};
use rand::RngExt as _;
use std::sync::Arc;

pub(crate) fn entry() -> Entry<Build> {
    let summary = "A contention window that a program outside sets";
    Entry { name: "agent_access", cite: "contend.gym", summary, params: &[], formulas: &[], facts: &[], build }
}

fn build(_: &Args, cell: Setting) -> Result<Box<dyn Access>, Refusal> {
    Ok(Box::new(Rule { post: Post::new(cell.cw_min.into()), next: 0 }))
}

#[derive(Debug)]
struct Rule {
    post: Arc<Post>,
    /// The first busy period that was not counted.
    next: u64,
}

impl Access for Rule {
    fn draw(&mut self, cx: &mut Cx, why: Draw, seen: &Seen) -> u32 {
        let cw = self.post.action().round().clamp(0.0, 1e6) as u32;
        let mut mine = self.post.seen();
        mine.level = cw.into();
        if !matches!(why, Draw::Arrival | Draw::Cycle(_)) {
            mine.came += 1;
            mine.lost += u64::from(why != Draw::Success);
        }
        let busy = seen.channel.busy();
        for k in self.next.max(busy.saturating_sub(Channel::MEMORY))..busy {
            mine.sample(seen.channel.idle(k).into());
        }
        self.next = busy;
        cx.rng.random_range(0..=cw)
    }

    fn reads(&self) -> Reads {
        Reads::Channel
    }
}
