//! ARE, the achievable rate estimator of TCP-Jersey: a filter whose time constant is the round-trip time plus its
//! deviation.
//!
//! - `filter = 1` is the thesis' filter, a time sliding window of adaptive length. `filter = 2` is Westwood's low-pass
//!   with the same time constant.
//! - The thesis does not define the estimate at the first acknowledgment. Here it is one segment per round-trip time,
//!   and the clock starts.
//! - `count` decides how much data an acknowledgment counts. The thesis counts one segment (`literal`), which is
//!   correct only if each segment has its own ACK.
//! - Filter 2 adds the data of an interval of length zero to the next interval. Filter 1 accepts such an interval.

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
pub const CITE: &str = "Xu 2005 §5.2, eq. 5.9, 5.10, 5.19-5.21";
/// What it does.
pub const SUMMARY: &str = "TCP-Jersey's achievable rate (ARE), from the arrival times of ACKs; acknowledged data over \
    the times between ACKs, smoothed over a round-trip time and its deviation.";
/// Parameters.
pub const PARAMS: &[Param] = &[FILTER, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("R", "ARE, in byte/s"),
    symbol(
        "L",
        "data that the ACK counts, in bytes: with `count = westwood` what it shows to have arrived, with `count = \
            literal` one segment",
    ),
    symbol("Δ", "time since the last ACK"),
    symbol("τ", "the time constant"),
    symbol("SRTT", "smoothed round-trip time"),
    symbol("RTTVAR", "mean deviation of the round-trip time"),
    symbol("b", "sample, in byte/s"),
    symbol("b′", "the sample before; with `filter = 2`"),
    on("the first ACK that answers data"),
    eq("R ← L / SRTT", "our choice"),
    eq("b′ ← R", ""),
    on("every other ACK that answers data, duplicates too"),
    eq("τ = SRTT + RTTVAR", "Xu 2005 eq. 5.10"),
    eq("R ← (τ · R + L) / (Δ + τ)", "Xu 2005 eq. 5.9").when("`filter = 1`"),
    step("`L` is added to that of the next ACK, and nothing else happens", "our choice")
        .when("`filter = 2` and `Δ = 0`"),
    eq("b = L / Δ", "Xu 2005 eq. 5.21").when("`filter = 2`"),
    eq("R ← max(0, ((2 · τ − Δ) · R + Δ · (b + b′)) / (2 · τ + Δ))", "Xu 2005 eq. 5.19").when("`filter = 2`"),
    eq("b′ ← b", "").when("`filter = 2`"),
];

/// The `filter` parameter.
pub const FILTER: Param = Param::integer(
    "filter",
    "1: time sliding window (eq. 5.9); 2: Westwood's low-pass filter with the adaptive constant (eq. 5.19)",
)
.default("1")
.range(1.0, 2.0);

/// The estimator. The clock decides between ARE and TS-ARE.
#[derive(Clone, Debug)]
pub struct Are {
    filter: Filter,
    clock: Clock,
    count: Count,
    second: bool,
}

/// Builds ARE.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Are::new(args, Clock::ARRIVALS)))
}

impl Are {
    /// Builds the estimator from the parameters `filter` and `count`.
    pub fn new(args: &Args, clock: Clock) -> Are {
        Are { filter: Filter::default(), clock, count: Count::from_args(args), second: args.integer("filter") == 2 }
    }
}

impl Estimator for Are {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        let Some(bytes) = self.count.bytes(w, ack) else { return };
        // Xu 2005 eq. 5.10: the deviation counts once, not four times as in the retransmission timeout.
        let tau = u64::from(ack.srtt_us) + u64::from(ack.rttvar_us);
        match self.clock.interval_us(now, w, ack) {
            None => self.filter.start(bytes, ack.srtt_us),
            Some(delta) if self.second => self.filter.bilinear(bytes, delta, tau),
            Some(delta) => self.filter.sliding_window(bytes, delta, tau),
        }
    }

    fn rate(&self, _: Time) -> u64 {
        self.filter.rate()
    }

    fn reads_timestamps(&self) -> bool {
        self.clock.reads_stamps()
    }
}
