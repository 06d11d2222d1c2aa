//! TS-ARE: ARE over the receiver's timestamps. A timestamp tells when the data arrived; an arrival tells when their ACK
//! came back.
//!
//! - Queueing on the return path (for example ACK compression by other traffic) has no effect. Lost acknowledgments do
//!   have an effect, unless `count` compensates for them.
//! - A timestamp older than the last one gives an interval of length zero.
//! - The receiver sets the timestamp when it sends the acknowledgment. With delayed acknowledgments this is not the
//!   arrival time of the data.
//! - The resolution is the clock's tick (`timestamps` of the flow): with a coarse tick, all data of one tick seem to
//!   arrive at once. Without timestamps TS-ARE is ARE (§7.3).

use super::Estimator;
use super::are::{Are, FILTER};
use super::clock::{COUNT, Clock};
use crate::Refusal;
use crate::formulas::Line;
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §7.3, eq. 7.1; RFC 7323 §3";
/// What it does.
pub const SUMMARY: &str = "ARE from the receiver's timestamps: the rate at which data arrive, whatever happens to \
    their ACKs. It never exceeds the capacity of the data's path.";
/// Parameters.
pub const PARAMS: &[Param] = &[FILTER, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds TS-ARE.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Are::new(args, Clock::STAMPS)))
}
