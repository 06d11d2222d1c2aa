//! The bandwidth estimate of TCP Westwood: samples of data per time between ACKs, smoothed by a low-pass with a fixed
//! time constant.
//!
//! - Each tau/m of silence is a sample of zero. The next sample starts at the end of the last zero sample.
//! - At the first acknowledgment the estimate is one segment per round-trip time, as in `are`.
//! - The authors give values neither for tau nor for m. The defaults are our choice.
//! - With timestamps, a silence is known only when it is over.

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
pub const CITE: &str = "Mascolo, Casetti, Gerla, Sanadidi and Wang 2001 §2.2; Xu 2005 eq. 5.1, 5.2";
/// What it does.
pub const SUMMARY: &str = "TCP Westwood's bandwidth estimate, with a constant time constant; acknowledged data over \
    the times between ACKs, through a low-pass filter that takes samples of zero in a silence.";
/// Parameters.
pub const PARAMS: &[Param] = &[TAU, M, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("BWE", "the estimate, in byte/s"),
    symbol(
        "L",
        "data that the ACK counts, in bytes: with `count = westwood` what it shows to have arrived, with `count = \
            literal` one segment",
    ),
    symbol("Δ", "time since the last sample; for a sample of a silence `τ / m`"),
    symbol("b", "sample, in byte/s"),
    symbol("b′", "the sample before"),
    symbol("SRTT", "smoothed round-trip time"),
    on("the first ACK that answers data"),
    eq("BWE ← L / SRTT", "our choice"),
    eq("b′ ← BWE", ""),
    on("each `τ / m` of silence"),
    step("`b = 0`, or the data that ACKs with `Δ = 0` have left, over `Δ`", "Mascolo et al. 2001 §2.2"),
    eq("BWE ← ((2 · τ − Δ) · BWE + Δ · (b + b′)) / (2 · τ + Δ)", "Xu 2005 eq. 5.2"),
    eq("b′ ← b", ""),
    on("every other ACK that answers data, duplicates too"),
    step("`L` is added to that of the next sample, and nothing else happens", "our choice").when("`Δ = 0`"),
    eq("b = L / Δ", "Xu 2005 eq. 5.1"),
    eq("BWE ← ((2 · τ − Δ) · BWE + Δ · (b + b′)) / (2 · τ + Δ)", "Xu 2005 eq. 5.2"),
    eq("b′ ← b", ""),
];

/// The `tau` parameter.
pub const TAU: Param =
    Param::time("tau", "time constant of the low-pass filter").symbol("τ").default("500ms").range(0.001, 8.0);
/// The `m` parameter.
pub const M: Param = Param::integer(
    "m",
    "a silence of tau/m gives a sample of zero; above 2, so that no interval is too long for the filter",
)
.default("4")
.range(2.0, 100.0);

/// The estimator. The clock decides between arrival times and timestamps.
#[derive(Clone, Debug)]
pub struct Westwood {
    filter: Filter,
    clock: Clock,
    count: Count,
    tau_us: u32,
    /// tau/m, the longest interval of a sample.
    longest_us: u32,
}

/// Builds the estimator with arrival times.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Westwood::new(args, Clock::ARRIVALS)))
}

impl Westwood {
    /// Builds the estimator from the parameters `tau`, `m` and `count`.
    pub fn new(args: &Args, clock: Clock) -> Westwood {
        let tau_us = u32::try_from(args.time("tau").as_micros()).unwrap_or(u32::MAX).max(1);
        let m = u32::try_from(args.integer("m")).unwrap_or(2).max(2);
        Westwood {
            filter: Filter::default(),
            clock,
            count: Count::from_args(args),
            tau_us,
            longest_us: (tau_us / m).max(1),
        }
    }

    /// Adds the zero samples of a silence of `us`. Returns the rest of the silence, which belongs to the next sample.
    fn quiet(&mut self, us: u64) -> u64 {
        let longest = u64::from(self.longest_us);
        let mut zeros = us.saturating_sub(1) / longest;
        let left = us - zeros * longest;
        while zeros > 0 && !self.filter.is_empty() {
            self.filter.bilinear(0, longest, u64::from(self.tau_us));
            zeros -= 1;
        }
        left
    }
}

impl Estimator for Westwood {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        let Some(bytes) = self.count.bytes(w, ack) else { return };
        match self.clock.interval_us(now, w, ack) {
            None => self.filter.start(bytes, ack.srtt_us),
            Some(delta) => {
                let left = self.quiet(delta);
                self.filter.bilinear(bytes, left, u64::from(self.tau_us));
            }
        }
    }

    fn rate(&self, now: Time) -> u64 {
        let mut here = self.clone();
        here.quiet(self.clock.silence_us(now));
        here.filter.rate()
    }

    fn reads_timestamps(&self) -> bool {
        self.clock.reads_stamps()
    }
}
