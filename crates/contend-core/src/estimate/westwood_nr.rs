//! The bandwidth estimate of the later Westwood on NewReno: Westwood's low-pass with constant weights. It smooths over
//! a number of acknowledgments, not over a time.
//!
//! - The weights are those of Delta = tau/10 (19/21 and 1/21). They are an assumption, because the thesis gives none.
//! - A silence gives no zero samples, because the weights do not depend on time.

use super::Estimator;
use super::clock::{COUNT, Clock, Count};
use super::filter::Filter;
use crate::registry::{Args, Param};
use crate::time::Time;
use crate::window::{Ack, Window};
use alloc::boxed::Box;
use alloc::string::String;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §7.3 (its weights are an assumption: eq. 5.2 with Delta = tau/10)";
/// What it does.
pub const SUMMARY: &str =
    "Bandwidth estimate of Westwood on NewReno, with constant weights; acknowledged data over the times between ACKs.";
/// Parameters.
pub const PARAMS: &[Param] = &[COUNT];

/// The estimator. The clock decides between arrival times and timestamps.
#[derive(Clone, Debug)]
pub struct WestwoodNr {
    filter: Filter,
    clock: Clock,
    count: Count,
}

/// Builds the estimator with arrival times.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, String> {
    Ok(Box::new(WestwoodNr::new(args, Clock::ARRIVALS)))
}

impl WestwoodNr {
    /// Builds the estimator from the parameter `count`.
    pub fn new(args: &Args, clock: Clock) -> WestwoodNr {
        WestwoodNr { filter: Filter::default(), clock, count: Count::from_args(args) }
    }
}

impl Estimator for WestwoodNr {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        let Some(bytes) = self.count.bytes(w, ack) else { return };
        match self.clock.interval_us(now, w, ack) {
            None => self.filter.start(bytes, ack.srtt_us),
            Some(delta) => self.filter.constant(bytes, delta),
        }
    }

    fn rate(&self, _: Time) -> u64 {
        self.filter.rate()
    }

    fn reads_timestamps(&self) -> bool {
        self.clock.reads_stamps()
    }
}
