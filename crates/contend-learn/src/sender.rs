//! Agents at senders: the window, or the pacing rate.

use crate::post::Post;
use contend_core::cc::{Ack, Build, Controller, Needs, Response, Signal, Window};
use contend_core::registry::{Args, Entry};
use contend_core::{Cx, Refusal};
use std::sync::Arc;

/// The windows of a sender that is paced: enough that the rate decides.
const PACED: u32 = 10_000;

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
        entry("agent_window", "A window that a program outside sets", build_window as Build),
        entry("agent_rate", "A pacing rate that a program outside sets", build_rate),
    ]
}

fn build_window(_: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Sender { post: Post::new(10.0), paced: false }))
}

fn build_rate(_: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Sender { post: Post::new(1e6), paced: true }))
}

#[derive(Debug)]
struct Sender {
    post: Arc<Post>,
    paced: bool,
}

impl Sender {
    /// Sets window and rate as the program wants.
    fn set(&self, w: &mut Window) {
        let action = self.post.action();
        if self.paced {
            w.cwnd = PACED;
            w.pacing_rate = (action / 8.0).clamp(1.0, 1e11) as u64;
        } else {
            w.cwnd = (action.round()).clamp(1.0, 1e6) as u32;
        }
        w.ssthresh = w.cwnd;
        // A paced sender has a window without meaning; what is under way says how full the path is.
        self.post.seen().level = f64::from(if self.paced { w.inflight } else { w.cwnd });
    }
}

impl Controller for Sender {
    fn on_start(&mut self, w: &mut Window) {
        self.set(w);
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, _: &Ack) {
        self.set(w);
    }

    fn on_every_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        let mut seen = self.post.seen();
        seen.came += u64::from(ack.delivered);
        seen.bytes += u64::from(ack.delivered) * u64::from(w.mss);
        seen.lost += u64::from(ack.lost);
        seen.marked += u64::from(ack.ce);
        if let Some(us) = ack.rtt_us {
            seen.sample(f64::from(us) / 1e6);
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, _: Signal) -> Response {
        // The program decides, after a timeout too.
        Response::keep(w)
    }

    fn needs(&self) -> Needs {
        Needs { full_control: true, grow_when_unlimited: true, ..Needs::default() }
    }
}
