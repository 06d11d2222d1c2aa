//! Veno: Reno that uses Vegas' backlog to distinguish losses of a full queue from losses of the medium. For losses of
//! the medium the window shrinks less.
//!
//! - The backlog uses the last round-trip sample, as in Linux. The source does not say how round-trip times are
//!   averaged.
//! - "A segment every other ACK" on a full path is implemented as one segment per two windows of acknowledged data.
//! - A loss before the first sample counts as congestion. Timeouts, marks and slow start are Reno's.
//! - Jersey's thesis (§3.2.2) gives the second rule in place of the first. This file follows Fu and Liew: the slow
//!   growth applies on a full path, not after a random loss.

use super::slow_start::{ABC, limit, slow_start};
use super::vegas::backlog;
use super::{Ack, CWND, Cause, Controller, HALVED, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Fu and Liew 2003; Xu 2005 §3.2.2";
/// What it does.
pub const SUMMARY: &str = "Reno that keeps four fifths of the window after a random loss; a loss is taken for a random \
    one while fewer than beta segments are queued on the path.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("beta", "queued segments from which the path counts as congested")
        .symbol("β")
        .default("3")
        .range(1.0, 10_000.0),
    Param::integer("random_percent", "part of the window that remains after a random loss, in percent")
        .default("80")
        .range(1.0, 100.0),
    ABC,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("W_r", "the receiver's window, in segments"),
    symbol("n", "segments that the ACK covers"),
    HALVED,
    symbol("RTT", "the last round-trip sample"),
    symbol("BaseRTT", "the smallest round-trip sample of the connection"),
    symbol("N", "backlog, the segments that wait on the path; ∞ before the first sample"),
    on("every ACK with a round-trip sample"),
    eq("BaseRTT ← min(BaseRTT, RTT)", "Fu and Liew 2003 §II"),
    on("an ACK of new data"),
    eq("N = min(W, W_r) · (RTT − BaseRTT) / RTT", "Fu and Liew 2003 §II"),
    eq("W ← W + min(n, abc)", "RFC 5681 eq. 2").when("`W < S`"),
    eq("W ← W + n / W", "Fu and Liew 2003 §III-A").when("`W ≥ S` and `N < β`"),
    eq("W ← W + n / (2 · W)", "").when("`W ≥ S` and `N ≥ β`"),
    on("a loss without a timeout"),
    eq("S ← max(2, F · random_percent / 100)", "Fu and Liew 2003 §III-B").when("`N < β`: the loss counts as random"),
    eq("S ← max(2, F / 2)", "").when("otherwise"),
    eq("W ← min(W, S)", "RFC 5681 §3.2 step 2"),
    on("a mark, or a drop by the sender's own queue"),
    eq("S ← max(2, F / 2)", "RFC 3168 §6.1.2"),
    eq("W ← min(W, S)", ""),
    on("a timeout"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// Veno's parameters and state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct Veno {
    abc: u32,
    beta: u32,
    random_percent: u32,
    /// Minimum and last round-trip time in microseconds; 0 before the first sample.
    base_us: u32,
    rtt_us: u32,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Veno {
        abc: limit(args.integer("abc")),
        beta: u32::try_from(args.integer("beta")).unwrap_or(3).max(1),
        random_percent: args.integer("random_percent").clamp(1, 100) as u32,
        base_us: 0,
        rtt_us: 0,
    }))
}

impl Veno {
    /// True if at least `beta` segments of a window wait on the path.
    fn full(&self, w: &Window) -> bool {
        self.rtt_us == 0 || !backlog(w.cwnd.min(w.rwnd), self.rtt_us, self.base_us).below(self.beta)
    }
}

impl Controller for Veno {
    fn on_every_ack(&mut self, _: &mut Cx, _: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt_us {
            self.rtt_us = rtt.max(1);
            self.base_us = if self.base_us == 0 { self.rtt_us } else { self.base_us.min(self.rtt_us) };
        }
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = slow_start(w, ack.acked, self.abc);
        if acked > 0 {
            // Fu and Liew 2003 §III-A: one segment per window, on a full path one per two windows.
            let per = if self.full(w) { w.cwnd.saturating_mul(2) } else { w.cwnd };
            w.additive_increase(per, acked);
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        let half = w.reduce_from / 2;
        match why {
            // Fu and Liew 2003 §III-B.
            Signal::Loss { .. } if !self.full(w) => {
                let left = u64::from(w.reduce_from) * u64::from(self.random_percent) / 100;
                Response { cause: Cause::Error, ..Response::clamp(left as u32, w) }
            }
            Signal::Loss { .. } | Signal::Ecn | Signal::Local => Response::clamp(half, w),
            Signal::Timeout { nth: 0 | 1, .. } => Response::restart(half),
            // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
            Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Veno>() <= 104, "{}", size_of::<Veno>());
    }
}
