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
use crate::formulas::{Line, eq, on, step, symbol};
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
pub const FORMULAS: &[Line] = &[
    symbol("R", "TS-ARE, in byte/s"),
    symbol(
        "L",
        "data that the ACK counts, in bytes: with `count = westwood` what it shows to have arrived, with `count = \
            literal` one segment",
    ),
    symbol("t", "the receiver's timestamp in the ACK; without timestamps the arrival time of the ACK"),
    symbol("t′", "the latest timestamp before"),
    symbol("Δ", "time between the two; 0 if this one is older"),
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
    eq("Δ = max(0, t − t′)", "Xu 2005 §7.3; RFC 7323 §5.2"),
    eq("R ← (τ · R + L) / (Δ + τ)", "Xu 2005 eq. 7.1").when("`filter = 1`"),
    step("`L` is added to that of the next ACK, and nothing else happens", "our choice")
        .when("`filter = 2` and `Δ = 0`"),
    eq("b = L / Δ", "Xu 2005 eq. 5.21").when("`filter = 2`"),
    eq("R ← max(0, ((2 · τ − Δ) · R + Δ · (b + b′)) / (2 · τ + Δ))", "Xu 2005 eq. 5.19").when("`filter = 2`"),
    eq("b′ ← b", "").when("`filter = 2`"),
];

/// Builds TS-ARE.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(Are::new(args, Clock::STAMPS)))
}
