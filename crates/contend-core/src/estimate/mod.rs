//! Estimators of the rate at which a flow's data arrive. Their input is the acknowledgments that the sender receives.
//! They use integer arithmetic.
//!
//! Rates are bytes of payload per second. Times are whole microseconds, from the arrivals of acknowledgments or from
//! the receiver's timestamps. A controller holds one estimator by value. A flow may also have estimators that only
//! observe. Two files are not estimators: [`filter`] is their common arithmetic, and [`clock`] defines intervals and
//! counted data.
#![deny(clippy::float_arithmetic)]

use crate::Refusal;
use crate::registry::Args;
use crate::time::Time;
use crate::window::{Ack, Window};
use alloc::boxed::Box;
use core::fmt::Debug;

pub mod clock;
pub mod filter;

/// Builds an estimator from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Estimator>, Refusal>;

crate::registry!(Build; are, ts_are, westwood, westwood_nr, westwood_plus, tsw, csfq);

/// Estimates the rate at which data arrive.
pub trait Estimator: Debug + Send {
    /// Called for every acknowledgment, duplicates included.
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack);
    /// The estimate at `now` in bytes per second, 0 before the first acknowledgment.
    fn rate(&self, now: Time) -> u64;
    /// True if the estimator reads the receiver's timestamps.
    fn reads_timestamps(&self) -> bool {
        false
    }
}

/// The window in segments that gives the rate `rate` with the round-trip time `rtt_us`: eq. 5.22 of Xu 2005, eq. 5.3
/// for Westwood.
pub fn window(rate: u64, rtt_us: u32, mss: u32) -> u32 {
    let bytes = rate.saturating_mul(u64::from(rtt_us)) / 1_000_000;
    u32::try_from(bytes / u64::from(mss.max(1))).unwrap_or(u32::MAX)
}
