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
use crate::formulas::{Line, eq, on, symbol};
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
pub const FORMULAS: &[Line] = &[
    symbol("C_winf", "capacity that the node knows, in byte/s"),
    symbol("AB", "available bandwidth that the node knows, in byte/s"),
    symbol("N_w", "flows with explicit headers of the last 2 s"),
    symbol("N_t", "other flows of the last 2 s"),
    symbol("C", "capacity for RCP, in byte/s"),
    symbol("y_m", "what has arrived since the last update, in byte/s"),
    symbol("y", "input, in byte/s"),
    symbol("R", "rate of every flow, in byte/s"),
    symbol("R_p", "rate in the header of the packet; unlimited at the sender"),
    symbol("q", "bytes that wait"),
    symbol("d", "moving average of the round-trip times; `first_rtt` at first"),
    symbol("d_s", "mean of the round-trip times in the headers since the last update"),
    symbol("T", "time since the last update: `min(interval, d)`, at least 1 µs"),
    on("the first packet"),
    eq("R ← first_rate · C", "RCP's code for ns-2"),
    on("an update, after each `T`"),
    eq("d ← d + rtt_gain · (d_s − d)", "").when("a header with a round-trip time came"),
    eq("C = C_winf · N_w / (N_w + N_t)", "Barreto 2012 eq. 5.22").when("`tcp_aware` and `N_w > 0`"),
    eq("C = C_winf", "").when("otherwise"),
    eq("AB = max(0, C − y_m)", "").when("the node has no observer"),
    eq("y = y_m", "eq. 2.22").when("`input = measured`"),
    eq("y = C", "eq. 5.15").when("`input = literal`"),
    eq("y = max(0, C − AB)", "").when("`input = airtime`"),
    eq("R ← R · (1 + T / d · (α · (η · C − y) − β · q / d) / (η · C))", "eq. 5.15"),
    eq("R ← max(least · mtu / d, min(R, η · C))", "eq. 5.16, 5.17"),
    on("a data packet with a header leaves"),
    eq("R_p ← min(R_p, C)", "eq. 5.18").when("`stamp = capacity` or `stamp = both`"),
    eq("R_p ← min(R_p, R)", "§5.3.2").when("`stamp = rate` or `stamp = both`"),
];

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
