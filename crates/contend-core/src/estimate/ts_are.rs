//! TS-ARE: ARE over the receiver's timestamps, the times at which the data arrived, instead of those at which their
//! ACKs came back.
//!
//! - What the way back does to the acknowledgments (compression behind other traffic) is not seen; what it loses is,
//!   unless `count` makes it up.
//! - A timestamp older than the last one is an interval of no length.
//! - The receiver stamps an acknowledgment when it sends it: with delayed acknowledgments that is not the arrival of
//!   the data.
//! - The clock's tick decides (`timestamps` of the flow): at a coarse one all data of a tick arrive at once. Without
//!   timestamps it is ARE (§7.3).

use super::Estimator;
use super::are::{Are, FILTER};
use super::clock::{COUNT, Clock};
use crate::registry::{Args, Param};
use alloc::boxed::Box;
use alloc::string::String;

/// Where it comes from.
pub const CITE: &str = "Xu 2005 §7.3, eq. 7.1; RFC 7323 §3";
/// What it does.
pub const SUMMARY: &str = "ARE over the receiver's timestamps: the rate at which data arrive, whatever happens to \
    their ACKs; never above the capacity of the way there.";
/// Its parameters.
pub const PARAMS: &[Param] = &[FILTER, COUNT];

/// Makes one.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, String> {
    Ok(Box::new(Are::new(args, Clock::STAMPS)))
}
