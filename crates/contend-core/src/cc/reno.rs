//! Reno: slow start and congestion avoidance of RFC 5681. This file has only the window arithmetic.
//!
//! - The window is counted in whole segments, not bytes. The fraction is `cwnd_cnt`.
//! - A local drop is answered like a mark, as in Linux.

use super::slow_start::{ABC, HYSTART, HyStart, limit, slow_start};
use super::{Ack, CWND, Controller, HALVED, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "RFC 5681 §3.1; RFC 3465 §2.1 for `count`, §2.2 for `abc`";
/// What it does.
pub const SUMMARY: &str =
    "The window grows by one segment per round trip and is halved on a loss; slow start below the threshold.";
/// Parameters.
pub const PARAMS: &[Param] = &[ABC, COUNT, HYSTART];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers; beyond slow start 1 with `count = acks`"),
    HALVED,
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 5681 eq. 2; RFC 3465 §2.2").when("`W < S`"),
    eq("W ← W + n / W", "RFC 5681 eq. 3; RFC 3465 §2.1").when("otherwise"),
    on("a loss without a timeout, or a mark"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4; RFC 3168 §6.1.2"),
    eq("W ← min(W, S)", "RFC 5681 §3.2 step 2"),
    on("a timeout"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// The `count` parameter, for every controller that contains Reno.
pub(super) const COUNT: Param = Param::word(
    "count",
    &["segments", "acks"],
    "what congestion avoidance counts. segments: the segments that an ACK covers (RFC 3465, Linux); acks: ACKs, so \
        that lost and delayed ACKs slow the growth (RFC 5681 eq. 3, ns-2)",
)
.default("segments");

/// Reno's parameters. The only state is the window, and that of HyStart.
#[derive(Debug)]
pub struct Reno {
    /// Maximum number of segments per ACK that count in slow start.
    abc: u32,
    /// True if an ACK counts as one segment in congestion avoidance, however many segments it covers.
    acks: bool,
    hystart: HyStart,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Reno { hystart: HyStart::new(args), ..Reno::new(args) }))
}

impl Reno {
    /// Builds the controller from the parameters `abc` and `count`, without HyStart.
    pub fn new(args: &Args) -> Reno {
        Reno { abc: limit(args.integer("abc")), acks: args.word("count") == "acks", hystart: HyStart::OFF }
    }
}

/// Reno's growth for `acked` segments: slow start, in which at most `abc` segments count, then one segment per window
/// of acknowledged data (RFC 5681 §3.1).
pub(super) fn grow(w: &mut Window, acked: u32, abc: u32) {
    let acked = slow_start(w, acked, abc);
    if acked > 0 {
        w.additive_increase(w.cwnd, acked);
    }
}

/// Reno's answer to a congestion signal.
#[inline]
pub(super) fn answer(w: &Window, why: Signal) -> Response {
    // RFC 5681 §3.1 eq. 4.
    let half = w.reduce_from / 2;
    match why {
        // RFC 5681 §3.2 step 2, RFC 3168 §6.1.2. A reduction never opens the window. Linux (tcp_enter_cwr) answers a
        // drop by the sender's own queue like a mark.
        Signal::Loss { .. } | Signal::Ecn | Signal::Local => Response::clamp(half, w),
        Signal::Timeout { nth: 0 | 1, .. } => Response::restart(half),
        // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
        Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = self.hystart.slow_start(cx.now, w, ack, self.abc);
        if acked > 0 {
            // RFC 5681 §3.1: one segment per window of acknowledged data.
            w.additive_increase(w.cwnd, if self.acks { 1 } else { acked });
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        if let Signal::Timeout { .. } = why {
            self.hystart.on_timeout();
        }
        answer(w, why)
    }
}
