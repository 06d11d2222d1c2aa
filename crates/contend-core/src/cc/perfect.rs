//! TCP-Perfect: Reno with an oracle. The oracle tells which losses are errors of the medium; for these the sender does
//! not halve the window.
//!
//! TCP-Perfect is a reference, not for deployment: no sender can know the cause of a loss. In the thesis the oracle is
//! a report from the link for each corrupted packet. Here the oracle is the simulator, without delay. Timeouts are
//! Reno's. TCP-Perfect is an upper bound for senders that halve on congestion. A sender with another answer to
//! congestion may exceed it.

use super::{Ack, Cause, Controller, Response, Signal, Window, reno};
use crate::Cx;
use crate::Refusal;
use crate::formulas::Line;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §8.7";
/// What it does.
pub const SUMMARY: &str = "Reno with an oracle that knows which losses are errors of the medium; these do not reduce \
    the window. A reference, not for deployment.";
/// Parameters.
pub const PARAMS: &[Param] = reno::PARAMS;
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

#[derive(Debug)]
struct Perfect {
    reno: reno::Reno,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
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
