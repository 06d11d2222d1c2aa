//! TCP Westwood: Reno, but a loss sets the window to the estimated bandwidth times the minimum round-trip time.
//!
//! - `filter` selects the bandwidth estimate: the original one (§5.1 of Xu 2005), that of the NewReno release, or that
//!   of Westwood+.
//! - `form = "paper"`: a loss never opens the window ("if cwnd > ssthresh" in the original).
//! - `form = "linux"`: as in Linux's net/ipv4/tcp_westwood.c a loss halves the window, and the end of the recovery sets
//!   it to the estimate, also above the window before the loss. Linux before proportional rate reduction kept the
//!   window of a recovery at least at the estimate (`min_cwnd`); that is not modelled.
//! - A timeout sets the threshold in the same way, and the window restarts at one segment. The threshold is kept if the
//!   same segment times out again. In Linux's form the minimum round-trip time is then measured anew; a timeout in a
//!   recovery is answered like any other (Linux's tcp_enter_loss then keeps the threshold of the recovery).
//! - A mark or a local drop is answered like a loss. The authors do not define this case; Linux does the same.

use super::slow_start::{ABC, limit};
use super::{Ack, CWND, Controller, Response, SSTHRESH, Signal, Window, reno};
use crate::Cx;
use crate::Refusal;
use crate::estimate::clock::{COUNT, Clock};
use crate::estimate::westwood::{M, TAU};
use crate::estimate::westwood_nr::SAMPLES;
use crate::estimate::westwood_plus::SHORTEST;
use crate::estimate::{self, Estimator};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Mascolo, Casetti, Gerla, Sanadidi and Wang 2001; Xu 2005 §5.1, eq. 5.1-5.3; Grieco and Mascolo \
    2004 for `plus`; Linux net/ipv4/tcp_westwood.c for `form`";
/// What it does.
pub const SUMMARY: &str = "Reno's growth, and a window from the bandwidth estimate on a loss; a loss sets the window \
    to the estimated bandwidth times the minimum round-trip time, instead of half the window.";
/// Parameters.
pub const PARAMS: &[Param] = &[FILTER, FORM, TAU, M, SAMPLES, SHORTEST, COUNT, ABC];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers"),
    symbol("BWE", "bandwidth estimate, in byte/s"),
    symbol("RTT_min", "minimum round-trip time of the connection; with `form = linux` since the last timeout"),
    symbol("seg_size", "size of a segment, in bytes"),
    symbol("W_o", "window that the estimate would fill, in segments"),
    on("every ACK"),
    step("the estimator westwood, westwood_nr or westwood_plus (`filter`) gives `BWE`", "Xu 2005 eq. 5.1, 5.2"),
    eq("W_o = ⌊BWE · RTT_min / seg_size⌋", "Xu 2005 eq. 5.3"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "Xu 2005 §5.1, as Reno").when("`W < S`"),
    eq("W ← W + n / W", "").when("otherwise"),
    on("a loss without a timeout, a mark, or a drop by the sender's own queue"),
    eq("S ← max(2, W_o)", "Xu 2005 eq. 5.3").when("`form = paper`"),
    eq("S ← max(2, W / 2)", "Linux tcp_westwood.c").when("`form = linux`"),
    eq("W ← min(W, S)", "Xu 2005 §5.1"),
    on("the end of this reduction: all data sent before it are acknowledged"),
    eq("S ← max(2, W_o)", "Linux tcp_westwood.c").when("`form = linux`"),
    eq("W ← S", "").when("`form = linux`"),
    on("a timeout"),
    eq("S ← max(2, W_o)", "Mascolo et al. 2001; Linux tcp_westwood.c").when("it is the first of this segment"),
    step("`RTT_min` is measured anew", "Linux tcp_westwood.c")
        .when("`form = linux`, and it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// The `filter` parameter.
pub(super) const FILTER: Param = Param::word(
    "filter",
    &["westwood", "nr", "plus"],
    "bandwidth estimate. westwood: the original low-pass filter, with tau and m; nr: constant weights, with \
        samples; plus: one sample per round trip, with shortest",
)
.default("westwood");

/// The `form` parameter.
const FORM: Param = Param::word(
    "form",
    &["paper", "linux"],
    "when the estimate sets the window. paper: at a loss, which never opens the window; linux: at the end of the \
        recovery, also upwards, after a loss that halves the window. Linux's module also has filter = \"plus\"",
)
.default("paper");

/// Westwood's state.
#[derive(Debug)]
pub struct Westwood {
    bandwidth: Bandwidth,
    abc: u32,
    /// True for the form of Linux.
    linux: bool,
    /// Last round-trip sample in microseconds; only for the form of Linux.
    rtt_us: u32,
    /// RTTmin in microseconds; 0 before the first sample, and if it is to be measured anew.
    min_rtt_us: u32,
}

/// The bandwidth estimate.
#[derive(Debug)]
enum Bandwidth {
    Original(estimate::westwood::Westwood),
    Constant(estimate::westwood_nr::WestwoodNr),
    PerRound(estimate::westwood_plus::WestwoodPlus),
}

/// Builds the controller with arrival times.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let linux = args.word("form") == "linux";
    Ok(Box::new(Westwood { linux, ..Westwood::new(args, Clock::ARRIVALS) }))
}

impl Westwood {
    /// The paper's form, from the parameters that `aiad` has too. `clock` gives the times of the samples.
    pub fn new(args: &Args, clock: Clock) -> Westwood {
        let bandwidth = match args.word("filter") {
            "nr" => Bandwidth::Constant(estimate::westwood_nr::WestwoodNr::new(args, clock)),
            "plus" => Bandwidth::PerRound(estimate::westwood_plus::WestwoodPlus::new(args, clock)),
            _ => Bandwidth::Original(estimate::westwood::Westwood::new(args, clock)),
        };
        Westwood { bandwidth, abc: limit(args.integer("abc")), linux: false, rtt_us: 0, min_rtt_us: 0 }
    }

    fn estimator(&mut self) -> &mut dyn Estimator {
        match &mut self.bandwidth {
            Bandwidth::Original(e) => e,
            Bandwidth::Constant(e) => e,
            Bandwidth::PerRound(e) => e,
        }
    }

    /// The window that the estimate would fill.
    fn carried(&mut self, now: Time, w: &Window) -> u32 {
        // Xu 2005 eq. 5.3: BWE RTTmin / seg_size.
        estimate::window(self.estimator().rate(now), self.min_rtt_us, w.mss)
    }
}

impl Controller for Westwood {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        if self.linux {
            // Linux (update_rtt_min): an acknowledgment without a sample has the last one.
            self.rtt_us = ack.rtt_us.unwrap_or(self.rtt_us);
            self.min_rtt_us = if self.min_rtt_us == 0 { self.rtt_us } else { self.min_rtt_us.min(self.rtt_us) };
        } else {
            self.min_rtt_us = ack.min_rtt_us;
        }
        self.estimator().on_ack(cx.now, w, ack);
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        reno::grow(w, ack.acked, self.abc);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        match why {
            // Linux (tcp_reno_ssthresh).
            Signal::Loss { .. } | Signal::Ecn | Signal::Local if self.linux => Response::clamp(w.cwnd / 2, w),
            Signal::Loss { .. } | Signal::Ecn | Signal::Local => Response::clamp(self.carried(cx.now, w), w),
            Signal::Timeout { nth: 0 | 1, .. } => {
                let carried = self.carried(cx.now, w);
                if self.linux {
                    // Linux (CA_EVENT_LOSS): the path may have changed.
                    self.min_rtt_us = 0;
                }
                Response::restart(carried)
            }
            // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
            Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
        }
    }

    fn on_recovered(&mut self, cx: &mut Cx, w: &mut Window) {
        if self.linux {
            w.ssthresh = self.carried(cx.now, w).max(2);
            w.cwnd = w.ssthresh;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Westwood>() <= 104, "{}", size_of::<Westwood>());
    }
}
