//! RCP-Winf: RCP whose capacity comes from the node's estimate of its air.
//!
//! - `input` and `stamp` choose the printed or a repaired form of eq. 5.15 and 5.18 (U4). With `measured` and `rate`
//!   this is RCP.
//! - In a field the first observer of the node gives capacity and available bandwidth. Elsewhere the capacity is that
//!   of the link, and the available bandwidth is the capacity minus the arrivals of the last interval.

use super::rcp::{self, Rcp, Rules};
use super::xcp_winf::TCP_AWARE;
use super::{Args, Qdisc, Site};
use crate::Refusal;
use crate::explicit::winf::{Flows, Input, Stamp};
use crate::formulas::Line;
use crate::registry::Param;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Barreto 2012 §5.3.2, §5.6, eq. 5.12 to 5.18, 5.22";
/// What it does.
pub const SUMMARY: &str = "RCP with the capacity that the node knows.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    super::capacity::OBSERVED_CAPACITY,
    Param::word(
        "input",
        Input::WORDS,
        "input in eq. 5.15. literal: the capacity, as printed (the rate decays to its least value); measured: what \
            arrived; airtime: what is not available",
    )
    .default("measured"),
    Param::word(
        "stamp",
        Stamp::WORDS,
        "what is written into headers. rate: the smaller of the header's rate and the queue's; both: first eq. 5.18, \
            which gives the capacity to a request above it; capacity: eq. 5.18 alone",
    )
    .default("rate"),
    TCP_AWARE,
    rcp::ALPHA,
    rcp::BETA,
    rcp::ETA,
    rcp::INTERVAL,
    rcp::FIRST_RTT,
    rcp::RTT_GAIN,
    rcp::FIRST_RATE,
    rcp::LEAST,
    rcp::MTU,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the discipline.
///
/// # Errors
/// If `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let rules = Rules {
        input: Input::new(args.word("input")),
        stamp: Stamp::new(args.word("stamp")),
        flows: args.flag("tcp_aware").then(Flows::default),
        observed: true,
    };
    Ok(Box::new(Rcp::new(args, rules)?))
}
