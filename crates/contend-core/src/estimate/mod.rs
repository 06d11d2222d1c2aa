//! Estimators: at which rate a flow's data get through, as its sender sees it in the acknowledgments, in integers.
//!
//! Rates are bytes of payload per second, times whole microseconds (of the acknowledgments' arrival, or of the
//! receiver's timestamps). A controller holds one by value; a flow may also carry some that only watch. Files that are
//! no estimator: [`filter`], the arithmetic they share, and [`clock`], what counts as an interval and as data.
#![deny(clippy::float_arithmetic)]

use crate::cc::{Ack, Window};
use crate::registry::Args;
use crate::time::Time;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Debug;

pub mod clock;
pub mod filter;

/// Makes an estimator from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args) -> Result<Box<dyn Estimator>, String>;

crate::registry!(Build; are, ts_are, westwood, westwood_nr, westwood_plus, tsw, csfq);

/// An estimate of the rate at which data get through.
pub trait Estimator: Debug + Send {
    /// Every acknowledgment, duplicates too.
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack);
    /// The estimate at `now` in bytes per second, 0 before the first acknowledgment.
    fn rate(&self, now: Time) -> u64;
    /// Whether it reads the receiver's timestamps.
    fn reads_timestamps(&self) -> bool {
        false
    }
}

/// The window in segments that carries `rate` over `rtt_us`: eq. 5.22 of Xu 2005, eq. 5.3 for Westwood.
pub fn window(rate: u64, rtt_us: u32, mss: u32) -> u32 {
    let bytes = rate.saturating_mul(u64::from(rtt_us)) / 1_000_000;
    u32::try_from(bytes / u64::from(mss.max(1))).unwrap_or(u32::MAX)
}
