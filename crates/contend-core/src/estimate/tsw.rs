//! TSW, the time sliding window rate estimator, from which ARE was derived. The window has constant length.
//!
//! - The estimator was designed for packets at a router. Here its input is the data that ACKs report.
//! - The window is about one round-trip time (RFC 2859). The default is our choice.

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
pub const CITE: &str = "Clark and Fang 1998; RFC 2859; Xu 2005 eq. 5.8";
/// What it does.
pub const SUMMARY: &str = "Time sliding window of constant length, over the data that ACKs report.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::time("window", "length of the window").symbol("T_w").default("100ms").range(0.001, 8.0)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("R", "the estimate, in byte/s"),
    symbol("L", "data that the ACK shows to have arrived, in bytes"),
    symbol("Δ", "time since the last ACK; 0 at the first one"),
    on("every ACK that answers data, duplicates too"),
    eq("R ← (T_w · R + L) / (Δ + T_w)", "Xu 2005 eq. 5.8; RFC 2859"),
];

#[derive(Debug)]
struct Tsw {
    filter: Filter,
    clock: Clock,
    window_us: u64,
}

/// Builds the estimator.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Tsw { filter: Filter::default(), clock: Clock::ARRIVALS, window_us: args.time("window").as_micros() }))
}

impl Estimator for Tsw {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        if let Some(bytes) = Count::Westwood.bytes(w, ack) {
            let delta = self.clock.interval_us(now, w, ack).unwrap_or(0);
            self.filter.sliding_window(bytes, delta, self.window_us);
        }
    }

    fn rate(&self, _: Time) -> u64 {
        self.filter.rate()
    }
}
