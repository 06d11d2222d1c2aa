//! TCP-Jersey: congestion warnings distinguish losses, and an achievable rate replaces halving.
//!
//! A marked loss, or a mark on an ACK, sets the window to ARE x RTTmin. An unmarked loss counts as an error of the
//! medium and does not change the window. The defaults are the final version (TS-ARE, differentiated timeouts).
//! Parameters select the other versions in the thesis:
//!
//! - `estimator`, `filter`, `count`: ARE of chapter 5 or TS-ARE of chapter 7, each with either filter.
//! - `reaction`: once per window of data (§9.1, RFC 3168), or to each marked ACK. In the second case a marked ACK also
//!   opens the window as usual (Fig. 5.8).
//! - `rate_control`: `clamp` never opens the window, not even at an unmarked timeout. `literal_ca` always sets the
//!   window in congestion avoidance (§5.5). `unconditional` always sets it (App. B). With the last two, a signal may
//!   open the window, as printed in the thesis.
//! - `timeout`: that of RFC 5681 (chapter 5) or that of App. B. In App. B the window becomes ARE x RTTmin after an
//!   unmarked ACK, and one segment after a marked ACK.
//! - App. B of the thesis does not set the threshold. Here the threshold becomes ARE x RTTmin too. The thesis has no
//!   minimum; here it is 2 segments (`floor`).
//! - A local drop is answered like a mark.

use super::slow_start::{ABC, limit};
use super::{Ack, CWND, Cause, Controller, Needs, Response, SSTHRESH, Signal, Window, reno};
use crate::Cx;
use crate::Refusal;
use crate::estimate::are::{Are, FILTER};
use crate::estimate::clock::{COUNT, Clock};
use crate::estimate::{self, Estimator as _};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §5.4-5.6, eq. 5.22, §7.3, §8.7, appendix B";
/// What it does.
pub const SUMMARY: &str = "Reno's growth, and a window from the achievable rate on marks; a mark or a marked loss sets \
    the window to the achievable rate times the minimum round-trip time. An unmarked loss does not change the window.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "estimator",
        &["ts_are", "are"],
        "times that the achievable rate is measured with. ts_are: arrival times of the data, from the receiver's \
            timestamps; are: arrival times of the ACKs",
    )
    .default("ts_are"),
    FILTER,
    COUNT,
    Param::word(
        "reaction",
        &["round", "every"],
        "which marked ACKs set the window. round: one in each window of data; every: all of them (Fig. 5.8)",
    )
    .default("round"),
    Param::word(
        "rate_control",
        &["clamp", "literal_ca", "unconditional"],
        "when a mark may also open the window. clamp: never; literal_ca: in congestion avoidance; unconditional: \
            always",
    )
    .default("clamp"),
    Param::word(
        "timeout",
        &["differentiated", "standard"],
        "window after a timeout. standard: one segment; differentiated: one segment if the last ACK was marked, \
            otherwise the window of the achievable rate",
    )
    .default("differentiated"),
    Param::integer("floor", "minimum window that the achievable rate may set, in segments")
        .default("2")
        .range(2.0, 1000.0),
    ABC,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("R", "ARE, the achievable rate of the estimator, in byte/s"),
    symbol("RTT_min", "minimum round-trip time of the connection"),
    symbol("seg", "size of a segment, in bytes"),
    symbol("W_o", "window of the achievable rate"),
    symbol("n", "segments that the ACK covers"),
    symbol("F", "what a loss halves in Reno: what is in flight or the window, in segments"),
    on("every ACK"),
    step("the estimator (`estimator`) gives `R`", "Xu 2005 eq. 5.9"),
    eq("W_o = max(floor, RTT_min · R / seg)", "eq. 5.22"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "§5.5, as Reno").when("`W < S`"),
    eq("W ← W + n / W", "").when("otherwise"),
    on("a mark on an ACK (`reaction`), or a loss after a marked ACK"),
    eq("S ← W_o", "§5.5, appendix B, algorithms 1 and 3"),
    eq("W ← min(W, W_o)", "").when("`rate_control = clamp`"),
    eq("W ← W_o", "").when("`rate_control = unconditional`, or `rate_control = literal_ca` and `W ≥ S`"),
    on("a loss after an ACK without a mark"),
    step("`W` and `S` stay: the medium lost the segment, which is sent again", "§5.5, appendix B, algorithm 1"),
    on("a timeout"),
    eq("S ← W_o", "appendix B, algorithm 2").when("`timeout = differentiated`"),
    eq("W ← 1", "").when("`timeout = differentiated`, after a marked ACK"),
    eq("W ← min(W, W_o)", "").when("`timeout = differentiated`, after an ACK without a mark"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4").when("`timeout = standard`, and it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1").when("`timeout = standard`"),
];

/// Jersey's parameters and state.
#[derive(Debug)]
struct Jersey {
    are: Are,
    abc: u32,
    /// D, the minimum round-trip time in microseconds; 0 before the first sample.
    min_rtt_us: u32,
    floor: u32,
    control: Control,
    every: bool,
    differentiated: bool,
}

#[derive(Clone, Copy, Debug)]
enum Control {
    Clamp,
    LiteralCa,
    Unconditional,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let clock = if args.word("estimator") == "are" { Clock::ARRIVALS } else { Clock::STAMPS };
    let control = match args.word("rate_control") {
        "literal_ca" => Control::LiteralCa,
        "unconditional" => Control::Unconditional,
        _ => Control::Clamp,
    };
    Ok(Box::new(Jersey {
        are: Are::new(args, clock),
        abc: limit(args.integer("abc")),
        min_rtt_us: 0,
        floor: u32::try_from(args.integer("floor")).unwrap_or(2).max(2),
        control,
        every: args.word("reaction") == "every",
        differentiated: args.word("timeout") != "standard",
    }))
}

impl Jersey {
    /// The window for the achievable rate, eq. 5.22: RTTmin ARE / seg_size.
    fn optimum(&self, cx: &Cx, w: &Window) -> u32 {
        estimate::window(self.are.rate(cx.now), self.min_rtt_us, w.mss).max(self.floor)
    }

    /// Rate control (§5.5, App. B algorithms 1 and 3).
    fn rate_control(&self, cx: &Cx, w: &Window) -> Response {
        let optimum = self.optimum(cx, w);
        let cwnd = match self.control {
            Control::Clamp => optimum.min(w.cwnd),
            Control::LiteralCa if w.in_slow_start() => w.cwnd,
            Control::LiteralCa | Control::Unconditional => optimum,
        };
        Response { ssthresh: optimum, cwnd, cause: Cause::Congestion }
    }
}

impl Controller for Jersey {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.min_rtt_us = ack.min_rtt_us;
        self.are.on_ack(cx.now, w, ack);
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        reno::grow(w, ack.acked, self.abc);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        match why {
            Signal::Ecn | Signal::Local | Signal::Loss { marked: true, .. } => self.rate_control(cx, w),
            // §5.5, App. B algorithm 1: explicit retransmit. Window and threshold do not change.
            Signal::Loss { marked: false, .. } => Response { cause: Cause::Error, ..Response::keep(w) },
            // App. B algorithm 2.
            Signal::Timeout { marked, .. } if self.differentiated => {
                let optimum = self.optimum(cx, w);
                if marked {
                    Response { ssthresh: optimum, cwnd: 1, cause: Cause::Congestion }
                } else {
                    let cwnd = if let Control::Clamp = self.control { optimum.min(w.cwnd) } else { optimum };
                    Response { ssthresh: optimum, cwnd, cause: Cause::Error }
                }
            }
            // RFC 5681 §3.1: half the flight size. The threshold is kept if the same segment times out again.
            Signal::Timeout { nth: 0 | 1, .. } => Response::restart(w.reduce_from / 2),
            Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
        }
    }

    fn needs(&self) -> Needs {
        Needs { every_mark: self.every, grow_when_marked: self.every, ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Jersey>() <= 104, "{}", size_of::<Jersey>());
    }
}
