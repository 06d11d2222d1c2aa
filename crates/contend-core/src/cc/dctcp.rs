//! DCTCP (RFC 8257): a mark reduces the window in proportion to the share of marked segments, not always by half.
//!
//! - DCTCP needs an echo of each mark (`echo = "per_packet"`) and a queue that marks at a low threshold.
//! - Segments are counted instead of the RFC's bytes; all full segments have the same size.
//! - A loss, a timeout and a local drop are answered as in Reno (RFC 8257 §3.5). Slow start and growth are Reno's.
//! - `alpha` is kept in 2^-20. It stays within a few units of the real-valued form after any number of windows (test
//!   below).

use super::slow_start::{ABC, limit, slow_start};
use super::{Ack, CWND, Controller, HALVED, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "RFC 8257";
/// What it does.
pub const SUMMARY: &str = "Reno's growth, and a reduction in proportion to the marks; the window shrinks by half the \
    smoothed share of marked segments.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer(
        "g_1024",
        "weight g of the last window in the share of marked segments, in 1024ths (RFC 8257 §4.2: 1/16)",
    )
    .default("64")
    .range(1.0, 1024.0),
    Param::integer("alpha_1024", "initial share of marked segments, in 1024ths (RFC 8257 §3.3 step 1: 1)")
        .default("1024")
        .range(0.0, 1024.0),
    ABC,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers"),
    HALVED,
    symbol("A", "segments acknowledged in this window of data: DCTCP.BytesAcked"),
    symbol("E", "those of them whose ACK carried ECE: DCTCP.BytesMarked"),
    symbol("M", "share of marked segments in the window of data"),
    symbol("α", "DCTCP.Alpha, the smoothed share of marked segments; `alpha_1024 / 1024` at the start"),
    symbol("g", "`g_1024 / 1024`: weight of the last window of data"),
    on("every ACK"),
    eq("A ← A + n", "RFC 8257 §3.3 step 2"),
    eq("E ← E + n", "RFC 8257 §3.3 step 3").when("the ACK carries ECE"),
    on("the ACK that ends a window of data"),
    eq("M = E / A", "RFC 8257 §3.3 step 5"),
    eq("α ← α · (1 − g) + g · M", "RFC 8257 §3.3 step 6"),
    step("`A` and `E` become 0", "RFC 8257 §3.3 step 8"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 8257 §3.5; RFC 5681 eq. 2").when("`W < S`"),
    eq("W ← W + n / W", "RFC 5681 eq. 3").when("otherwise"),
    on("a mark, once in a window of data"),
    eq("S ← max(2, W − ⌊W · α / 2⌋)", "RFC 8257 §3.3 step 9"),
    eq("W ← min(W, S)", ""),
    on("a loss without a timeout, or a drop by the sender's own queue"),
    eq("S ← max(2, F / 2)", "RFC 8257 §3.5; RFC 5681 eq. 4"),
    eq("W ← min(W, S)", ""),
    on("a timeout"),
    eq("S ← max(2, F / 2)", "").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// A share of 1.
const ONE_Q20: u64 = 1 << 20;

/// DCTCP's parameters and state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct Dctcp {
    abc: u32,
    g_1024: u32,
    /// `DCTCP.Alpha`.
    alpha_q20: u64,
    /// Segments delivered in the current window of data, and (`marked`) those of them that are reported as marked.
    delivered: u64,
    marked: u64,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Dctcp {
        abc: limit(args.integer("abc")),
        g_1024: args.integer("g_1024").clamp(1, 1024) as u32,
        alpha_q20: args.integer("alpha_1024").clamp(0, 1024) as u64 * (ONE_Q20 / 1024),
        delivered: 0,
        marked: 0,
    }))
}

impl Controller for Dctcp {
    fn alpha_q24(&self) -> Option<u32> {
        Some((self.alpha_q20 << 4) as u32)
    }

    fn on_every_ack(&mut self, _: &mut Cx, _: &mut Window, ack: &Ack) {
        // RFC 8257 §3.3 steps 2 to 4.
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.ce.min(ack.delivered));
        if ack.round_start && self.delivered > 0 {
            self.window_over();
        }
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = slow_start(w, ack.acked, self.abc);
        if acked > 0 {
            w.additive_increase(w.cwnd, acked);
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        let half = w.reduce_from / 2;
        match why {
            // RFC 8257 §3.3 step 9: cwnd (1 - alpha / 2), at most once per window of data.
            Signal::Ecn => {
                let less = u64::from(w.cwnd) * self.alpha_q20 / (2 * ONE_Q20);
                Response::clamp(w.cwnd - u32::try_from(less).unwrap_or(w.cwnd), w)
            }
            Signal::Loss { .. } | Signal::Local => Response::clamp(half, w),
            Signal::Timeout { nth: 0 | 1, .. } => Response::restart(half),
            // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
            Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
        }
    }
}

impl Dctcp {
    /// RFC 8257 §3.3 steps 5 to 8: M is the share of marked segments in the window. The new alpha is alpha (1 - g) + g
    /// M.
    fn window_over(&mut self) {
        // 2^43 is more segments than a flow sends in a window, and the product fits 64 bits.
        let m_q20 = self.marked.min(1 << 43) * ONE_Q20 / self.delivered;
        let g = u64::from(self.g_1024);
        self.alpha_q20 = (self.alpha_q20 * (1024 - g) + m_q20 * g) / 1024;
        (self.delivered, self.marked) = (0, 0);
    }
}

#[cfg(test)]
#[allow(clippy::float_arithmetic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Dctcp>() <= 104, "{}", size_of::<Dctcp>());
    }

    proptest! {
        /// In each window, rounding removes less than 1 from M, weighted by g, and less than 1 from alpha. An error
        /// keeps the weight 1 - g. The total error is never more than (g + 1) / g in 2^-20.
        #[test]
        fn alpha_stays_by_the_real_valued_form(
            g_1024 in 1u32..=1024, windows in prop::collection::vec((1u64..100_000, 0.0..=1.0f64), 1..300),
        ) {
            let mut d = Dctcp { abc: 1, g_1024, alpha_q20: ONE_Q20, delivered: 0, marked: 0 };
            let (g, mut alpha) = (f64::from(g_1024) / 1024.0, 1.0);
            for (acked, share) in windows {
                let marked = (acked as f64 * share) as u64;
                (d.delivered, d.marked) = (acked, marked);
                d.window_over();
                alpha = alpha * (1.0 - g) + marked as f64 / acked as f64 * g;
                let off = alpha * ONE_Q20 as f64 - d.alpha_q20 as f64;
                prop_assert!((-1e-6..=(g + 1.0) / g).contains(&off), "{off}");
            }
        }
    }
}
