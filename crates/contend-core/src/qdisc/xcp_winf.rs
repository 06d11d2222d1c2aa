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
use crate::formulas::{Line, eq, on, step, symbol};
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
    xcp::APART,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("C_winf", "capacity that the node knows, in byte/s"),
    symbol("AB", "available bandwidth that the node knows, in byte/s"),
    symbol("N_w", "flows with explicit headers of the last 2 s"),
    symbol("N_t", "other flows of the last 2 s"),
    symbol("C", "capacity for XCP, in byte/s"),
    symbol("y", "input, as in xcp"),
    symbol("d", "mean round-trip time, as in xcp"),
    symbol("q", "persistent queue, as in xcp"),
    symbol("S", "spare capacity, in byte/s"),
    symbol("U", "traffic of which a share is shuffled, in byte/s"),
    symbol("F", "change of the aggregate, in byte/s"),
    symbol("h", "C_phi: traffic that is shuffled between flows, in byte/s"),
    symbol("X", "what xcp has as the throughput of the sender of a packet, in byte/s"),
    symbol("f_h", "change of throughput in the header of a packet, in byte/s"),
    on("the end of a control interval"),
    eq("C = C_winf · N_w / (N_w + N_t)", "Barreto 2012 eq. 5.22").when("`tcp_aware` and `N_w > 0`"),
    eq("C = C_winf", "").when("otherwise"),
    eq("AB = max(0, C − y)", "").when("the node has no observer"),
    step("`S = C − y`, `U = y`", "eq. 2.20").when("`load = used`"),
    step("`S = C − AB`, `U = AB`", "eq. 5.5").when("`load = literal`"),
    step("`S = AB`, `U = max(0, C − AB)`", "").when("`load = available`"),
    eq("F = α · S − β · q / d", "eq. 5.5"),
    eq("h = max(0, γ · U − |F|)", "Table 5.1"),
    step("`F` and `h` are given out as in xcp", "eq. 5.6 to 5.10"),
    on("a packet with a header arrives or leaves"),
    step("`X` is what the header says", "").when("`throughput = own`"),
    eq("X = C", "eq. 5.2, 5.3, 5.8").when("`throughput = capacity`; `C` is that of the last interval"),
    eq("f_h ← min(f_h, AB)", "§5.3.1").when("it leaves, and `load = literal` or `load = available`"),
    step("all else is as in xcp", ""),
];

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
