//! The retransmissions of TCP-AV: those of [`sack`], and a hole whose retransmission seems lost is retransmitted.
//!
//! This is our reading of a mechanism that prevents a fall of the rate while losses come in bursts; the paper prints no
//! rule. The variant `tcp_av` also leaves the timer as it is at the first two timeouts (`rto.backoff_after`).

use super::{DUPTHRESH, HALVE_FROM, Recovery, sack};
use contend_core::Refusal;
use contend_core::formulas::{Line, on, step, symbol};
use contend_core::registry::{Args, Param};

/// Where it comes from.
pub const CITE: &str = "our reading of Arai et al. 2008 §II.D";
/// What it does.
pub const SUMMARY: &str = "`sack`, and a retransmission is repeated without waiting for the timer when nothing new is \
    acknowledged for one and a half round trips.";
/// Its parameters.
pub const PARAMS: &[Param] = &[DUPTHRESH, HALVE_FROM, sack::RESCUE, sack::repeat("1.5")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("SRTT", "smoothed round-trip time"),
    on("every event"),
    step("as in sack", "RFC 6675"),
    on("no new acknowledgment in an episode for `repeat · SRTT`"),
    step("the first segment is sent once more", "Arai et al. 2008 §II.D, our reading"),
];

/// Builds the recovery.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    sack::build(args)
}
