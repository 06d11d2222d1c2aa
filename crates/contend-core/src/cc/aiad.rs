//! AIAD: additive increase, adaptive decrease to an estimated rate times the round-trip propagation delay. There are
//! two estimates of the rate.
//!
//! - `kappa`, the rate of the acknowledgments, gives TCP Westwood. Its bound is the capacity of the return path in
//!   ACKs, up to 25 times the capacity of the forward path.
//! - `phi`, the rate at which data arrive, is Westwood with sample times from the receiver's timestamps. It is at most
//!   the capacity. Without timestamps `phi` is `kappa`.
//! - Everything else is `westwood.rs`. Losses are not distinguished.

use super::slow_start::ABC;
use super::{CWND, Controller, SSTHRESH, westwood};
use crate::Refusal;
use crate::estimate::clock::{COUNT, Clock};
use crate::estimate::westwood::{M, TAU};
use crate::estimate::westwood_nr::SAMPLES;
use crate::estimate::westwood_plus::SHORTEST;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu 2005 §6.1-6.3, eq. 6.1, 6.8, 6.9";
/// What it does.
pub const SUMMARY: &str = "Additive increase, and a window from a measured rate on a loss; the rate of the ACKs \
    (kappa) or of the arriving data (phi), times the minimum round-trip time.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "estimator",
        &["kappa", "phi"],
        "times that the rate is measured with. kappa: arrival times of the ACKs; phi: arrival times of the data, from \
            the receiver's timestamps",
    )
    .default("phi"),
    westwood::FILTER,
    TAU,
    M,
    SAMPLES,
    SHORTEST,
    COUNT,
    ABC,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers"),
    symbol("r", "the estimated rate, in byte/s: κ or φ"),
    symbol("d", "minimum round-trip time of the connection, for the propagation delay"),
    symbol("seg_size", "size of a segment, in bytes"),
    symbol("W_o", "window of the estimated rate, in segments"),
    on("every ACK"),
    step(
        "`filter` gives `r`, from the arrival times of the ACKs (`kappa`) or the receiver's timestamps (`phi`)",
        "Xu 2005 eq. 6.8, 6.9",
    ),
    eq("W_o = ⌊r · d / seg_size⌋", "Xu 2005 eq. 6.1"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 5681 eq. 2").when("`W < S`"),
    eq("W ← W + n / W", "Xu 2005 eq. 6.1").when("otherwise"),
    on("a loss without a timeout, a mark, or a drop by the sender's own queue"),
    eq("S ← max(2, W_o)", "Xu 2005 eq. 6.1"),
    eq("W ← min(W, S)", "Xu 2005 §5.1"),
    on("a timeout"),
    eq("S ← max(2, W_o)", "as Westwood").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let clock = if args.word("estimator") == "kappa" { Clock::ARRIVALS } else { Clock::STAMPS };
    Ok(Box::new(westwood::Westwood::new(args, clock)))
}
