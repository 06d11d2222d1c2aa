//! XCP-Winf: XCP whose capacity and load come from the node's estimate of its air.
//!
//! - In a field the first observer of the node gives capacity and available bandwidth. Elsewhere the capacity is that
//!   of the link, and the available bandwidth is the capacity minus the arrivals of the last interval.
//! - `load` and `throughput` choose the printed or a repaired form of eq. 5.5 and of eq. 5.2, 5.3, 5.8 (U2, U3). With
//!   `used` and `own` this is XCP.
//! - No packet gets more feedback than the available bandwidth, except with `used`.

use super::capacity::{Capacity, OBSERVED_CAPACITY};
use super::xcp::{self, Aggregate, Rules, Xcp};
use super::{Args, Qdisc, Site};
use crate::Refusal;
use crate::explicit::winf::{Flows, Load};
use crate::formulas::Line;
use crate::registry::Param;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Barreto 2012 §5.3.1, §5.6, eq. 5.1 to 5.11, 5.22";
/// What it does.
pub const SUMMARY: &str = "XCP with the capacity and the available bandwidth that the node knows.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    OBSERVED_CAPACITY,
    Param::word(
        "load",
        Load::WORDS,
        "load in eq. 5.5. literal: the available bandwidth, as printed (feedback grows with the load); available: what \
            is not available; used: what arrived",
    )
    .default("available"),
    Param::word(
        "throughput",
        &["capacity", "own"],
        "throughput in eq. 5.2, 5.3 and 5.8. capacity: C_winf, as printed (shares do not become equal); own: that of \
            the sender",
    )
    .default("own"),
    TCP_AWARE,
    xcp::ALPHA,
    xcp::BETA,
    xcp::GAMMA,
    xcp::FIRST_INTERVAL,
    xcp::MAX_INTERVAL.default("500ms"),
    xcp::MIN_INTERVAL,
    xcp::MIN_QUEUE_INTERVAL,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// The parameter `tcp_aware`.
pub(super) const TCP_AWARE: Param = Param::flag(
    "tcp_aware",
    "true if the capacity is only the share of the flows with explicit headers among all flows of the last 2 s (eq. \
        5.22)",
)
.default("false");

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let rules = Rules {
        aggregate: Aggregate::Load(Load::new(args.word("load"))),
        own_throughput: args.word("throughput") == "own",
        flows: args.flag("tcp_aware").then(Flows::default),
    };
    Ok(Box::new(Xcp::new(args, Capacity::new(args, true), rules)))
}
