//! The rate estimator of core-stateless fair queueing: exponential averaging with a weight that depends on the time
//! between packets.
//!
//! - The estimator was designed for packets at a router. Here its input is the data that ACKs report.
//! - The exponential function is computed as a series in units of 2^-32, with an error below 2^-28.

use super::Estimator;
use super::clock::{Clock, Count};
use super::filter::Filter;
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use crate::window::{Ack, Window};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Stoica, Shenker and Zhang 1998; Xu 2005 eq. 8.38";
/// What it does.
pub const SUMMARY: &str =
    "Exponential average of core-stateless fair queueing; acknowledged data, with a constant time constant.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::time("omega", "time constant of the average (K of Stoica et al.)")
    .symbol("ω")
    .default("100ms")
    .range(0.001, 8.0)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("R", "the estimate, in byte/s"),
    symbol("L", "data that the ACK shows to have arrived, in bytes"),
    symbol("Δ", "time since the last ACK; 0 at the first one"),
    on("every ACK that answers data, duplicates too"),
    eq("R ← (1 − exp(−Δ / ω)) · L / Δ + exp(−Δ / ω) · R", "Xu 2005 eq. 8.38").when("`Δ > 0`"),
    eq("R ← L / ω + R", "the limit of eq. 8.38").when("otherwise"),
];

#[derive(Debug)]
struct Csfq {
    filter: Filter,
    clock: Clock,
    omega_us: u64,
}

/// Builds the estimator.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Csfq { filter: Filter::default(), clock: Clock::ARRIVALS, omega_us: args.time("omega").as_micros() }))
}

impl Estimator for Csfq {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        if let Some(bytes) = Count::Westwood.bytes(w, ack) {
            let delta = self.clock.interval_us(now, w, ack).unwrap_or(0);
            self.filter.exponential(bytes, delta, self.omega_us);
        }
    }

    fn rate(&self, _: Time) -> u64 {
        self.filter.rate()
    }
}
