//! TCP-Perfect: Reno with an oracle. The oracle tells which losses are errors of the medium; for these the sender does
//! not halve the window.
//!
//! TCP-Perfect is a reference, not for deployment: no sender can know the cause of a loss. In the thesis the oracle is
//! a report from the link for each corrupted packet. Here the oracle is the simulator, without delay. Timeouts are
//! Reno's. TCP-Perfect is an upper bound for senders that halve on congestion. A sender with another answer to
//! congestion may exceed it.

use super::reno::COUNT;
use super::slow_start::ABC;
use super::{Ack, CWND, Cause, Controller, HALVED, Response, SSTHRESH, Signal, Window, reno};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §8.7";
/// What it does.
pub const SUMMARY: &str = "Reno with an oracle that knows which losses are errors of the medium; these do not reduce \
    the window. A reference, not for deployment.";
/// Parameters.
pub const PARAMS: &[Param] = &[ABC, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers; beyond slow start 1 with `count = acks`"),
    HALVED,
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 5681 eq. 2; RFC 3465 §2.2").when("`W < S`"),
    eq("W ← W + n / W", "RFC 5681 eq. 3; RFC 3465 §2.1").when("otherwise"),
    on("a loss without a timeout that is an error of the medium, as the oracle knows"),
    step("`W` and `S` stay", "Xu 2005 §8.7"),
    on("any other loss without a timeout, or a mark"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4; RFC 3168 §6.1.2"),
    eq("W ← min(W, S)", "RFC 5681 §3.2 step 2"),
    on("a timeout, whatever its cause"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

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
