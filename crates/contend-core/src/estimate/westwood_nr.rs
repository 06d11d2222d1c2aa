//! The bandwidth estimate of the later Westwood on NewReno: Westwood's low-pass with constant weights. It smooths over
//! a number of acknowledgments, not over a time.
//!
//! - The thesis gives no weights, only that they smooth more than those of the first release. The authors' ns-2 code of
//!   2002 offers 19/21 (its default, 10 samples) and 29/31 (15 samples). The default here is the smoother one.
//! - The authors' code counts at most two segments for an ACK. Here [`Count`] decides.
//! - A silence gives no zero samples, because the weights do not depend on time.

use super::Estimator;
use super::clock::{COUNT, Clock, Count};
use super::filter::Filter;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use crate::window::{Ack, Window};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §7.3; weights: ns-2 code of Valla and others, 2002, filter types 1 and 2";
/// What it does.
pub const SUMMARY: &str =
    "Bandwidth estimate of Westwood on NewReno, with constant weights; acknowledged data over the times between ACKs.";
/// Parameters.
pub const PARAMS: &[Param] = &[SAMPLES, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("BWE", "the estimate, in byte/s"),
    symbol(
        "L",
        "data that the ACK counts, in bytes: with `count = westwood` what it shows to have arrived, with `count = \
            literal` one segment",
    ),
    symbol("Δ", "time since the last ACK"),
    symbol("b", "sample, in byte/s"),
    symbol("b′", "the sample before"),
    symbol("SRTT", "smoothed round-trip time"),
    on("the first ACK that answers data"),
    eq("BWE ← L / SRTT", "our choice"),
    eq("b′ ← BWE", ""),
    on("every other ACK that answers data, duplicates too"),
    step("`L` is added to that of the next sample, and nothing else happens", "our choice").when("`Δ = 0`"),
    eq("b = L / Δ", "Xu 2005 eq. 5.1"),
    eq("BWE ← ((2 · samples − 1) · BWE + b + b′) / (2 · samples + 1)", "ns-2 code of Valla and others, 2002"),
    eq("b′ ← b", ""),
];

/// The `samples` parameter.
pub const SAMPLES: Param = Param::integer(
    "samples",
    "time constant n of the low-pass with constant weights, in samples: the past weighs (2n - 1)/(2n + 1). 10: 19/21; \
        15: 29/31",
)
.default("15")
.range(1.0, 1000.0);

/// The estimator. The clock decides between arrival times and timestamps.
#[derive(Clone, Debug)]
pub struct WestwoodNr {
    filter: Filter,
    clock: Clock,
    count: Count,
    /// Time constant in samples.
    samples: u32,
}

/// Builds the estimator with arrival times.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(WestwoodNr::new(args, Clock::ARRIVALS)))
}

impl WestwoodNr {
    /// Builds the estimator from the parameters `samples` and `count`.
    pub fn new(args: &Args, clock: Clock) -> WestwoodNr {
        let samples = u32::try_from(args.integer("samples")).unwrap_or(1);
        WestwoodNr { filter: Filter::default(), clock, count: Count::from_args(args), samples }
    }
}

impl Estimator for WestwoodNr {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        let Some(bytes) = self.count.bytes(w, ack) else { return };
        match self.clock.interval_us(now, w, ack) {
            None => self.filter.start(bytes, ack.srtt_us),
            Some(delta) => self.filter.constant(bytes, delta, self.samples),
        }
    }

    fn rate(&self, _: Time) -> u64 {
        self.filter.rate()
    }

    fn reads_timestamps(&self) -> bool {
        self.clock.reads_stamps()
    }
}
