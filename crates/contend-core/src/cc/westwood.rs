//! TCP Westwood: Reno, but a loss sets the window to the estimated bandwidth times the minimum round-trip time.
//!
//! - `filter` selects the bandwidth estimate: the original one (§5.1 of Xu 2005), that of the NewReno release, or that
//!   of Westwood+.
//! - A loss never opens the window: "if cwnd > ssthresh" in the original.
//! - A timeout sets the threshold in the same way, and the window restarts at one segment. The threshold is kept if the
//!   same segment times out again.
//! - A mark or a local drop is answered like a loss. The authors do not define this case.

use super::slow_start::{ABC, limit};
use super::{Ack, Controller, Response, Signal, Window, reno};
use crate::Cx;
use crate::Refusal;
use crate::estimate::clock::{COUNT, Clock};
use crate::estimate::westwood::{M, TAU};
use crate::estimate::westwood_nr::SAMPLES;
use crate::estimate::westwood_plus::SHORTEST;
use crate::estimate::{self, Estimator};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str =
    "Mascolo, Casetti, Gerla, Sanadidi and Wang 2001; Xu 2005 §5.1, eq. 5.1-5.3; Grieco and Mascolo 2004 for `plus`";
/// What it does.
pub const SUMMARY: &str = "Reno's growth, and a window from the bandwidth estimate on a loss; a loss sets the window \
    to the estimated bandwidth times the minimum round-trip time, instead of half the window.";
/// Parameters.
pub const PARAMS: &[Param] = &[FILTER, TAU, M, SAMPLES, SHORTEST, COUNT, ABC];

/// The `filter` parameter.
pub(super) const FILTER: Param = Param::word(
    "filter",
    &["westwood", "nr", "plus"],
    "bandwidth estimate. westwood: the original low-pass filter, with tau and m; nr: constant weights, with \
        samples; plus: one sample per round trip, with shortest",
)
.default("westwood");

/// Westwood's state.
#[derive(Debug)]
pub struct Westwood {
    bandwidth: Bandwidth,
    abc: u32,
    /// RTTmin in microseconds; 0 before the first sample.
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
    Ok(Box::new(Westwood::new(args, Clock::ARRIVALS)))
}

impl Westwood {
    /// Builds the controller from its parameters. `clock` gives the times of the samples.
    pub fn new(args: &Args, clock: Clock) -> Westwood {
        let bandwidth = match args.word("filter") {
            "nr" => Bandwidth::Constant(estimate::westwood_nr::WestwoodNr::new(args, clock)),
            "plus" => Bandwidth::PerRound(estimate::westwood_plus::WestwoodPlus::new(args, clock)),
            _ => Bandwidth::Original(estimate::westwood::Westwood::new(args, clock)),
        };
        Westwood { bandwidth, abc: limit(args.integer("abc")), min_rtt_us: 0 }
    }

    fn estimator(&mut self) -> &mut dyn Estimator {
        match &mut self.bandwidth {
            Bandwidth::Original(e) => e,
            Bandwidth::Constant(e) => e,
            Bandwidth::PerRound(e) => e,
        }
    }
}

impl Controller for Westwood {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.min_rtt_us = ack.min_rtt_us;
        self.estimator().on_ack(cx.now, w, ack);
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        reno::grow(w, ack.acked, self.abc);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        // Xu 2005 eq. 5.3: BWE RTTmin / seg_size.
        let carried = estimate::window(self.estimator().rate(cx.now), self.min_rtt_us, w.mss);
        match why {
            Signal::Loss { .. } | Signal::Ecn | Signal::Local => Response::clamp(carried, w),
            Signal::Timeout { nth: 0 | 1, .. } => Response::restart(carried),
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
        assert!(size_of::<Westwood>() <= 104, "{}", size_of::<Westwood>());
    }
}
