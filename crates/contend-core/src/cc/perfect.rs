//! TCP-Perfect: Reno that an oracle tells which losses are errors of the medium; it does not halve for those.
//!
//! A yardstick, not for deployment: no sender can know. The thesis' oracle is a report from the link for each spoilt
//! packet; here it is the simulator, without delay. Timeouts are Reno's. What it bounds is halving with perfect
//! knowledge; a sender with another answer to congestion may exceed it.

use super::{Ack, Cause, Controller, Response, Signal, Window, reno};
use crate::Cx;
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::string::String;

/// Where it comes from.
pub const CITE: &str = "Xu 2005 §8.7";
/// What it does.
pub const SUMMARY: &str =
    "Reno that knows which losses are errors of the medium and does not halve for them: a yardstick.";
/// Its parameters.
pub const PARAMS: &[Param] = reno::PARAMS;

#[derive(Debug)]
struct Perfect {
    reno: reno::Reno,
}

/// Makes one.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, String> {
    Ok(Box::new(Perfect { reno: reno::Reno::new(args) }))
}

impl Controller for Perfect {
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.reno.on_ack(cx, w, ack);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        match why {
            Signal::Loss { truth: Some(Cause::Error), .. } => Response { cause: Cause::Error, ..Response::keep(w) },
            _ => self.reno.on_congestion(cx, w, ack, why),
        }
    }
}
