//! XCP-b (XCP blind): XCP on a link of unknown capacity, such as a shared medium.
//!
//! - The change of the queue's length replaces the spare capacity (`explicit/xcp_b.rs`). Everything else is as in XCP,
//!   including the senders: `cc = "xcp"`.
//! - Without a capacity, the smallest queue is taken in max(2 ms, d / 2).
//! - The thesis prints no equation and no parameter. The control law is the one that the specification attributes to
//!   Abrantes and Ricardo 2006. `kappa`, `patience`, `mtu` and `queue` are our choice; chi must stay below 1 / (5 -
//!   alpha - beta), here 0.228, so that one flow never overflows the buffer.
//! - The thesis also names the number of link-layer retransmissions. No known equation of XCP-b contains it.

use super::capacity::Capacity;
use super::xcp::{self, Aggregate, Rules, Xcp};
use super::{Args, Qdisc, Site};
use crate::Refusal;
use crate::explicit::xcp_b::Blind;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Amount, Param};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Abrantes, Ricardo 2006, as Barreto 2012 §2.3.3.1 uses it";
/// What it does.
pub const SUMMARY: &str = "XCP without a known capacity: spare capacity from the motion of the queue.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    xcp::ALPHA,
    xcp::BETA,
    xcp::GAMMA,
    Param::number("chi", "feedback while the queue is empty, as a share of the buffer for each mean round-trip time")
        .default("0.2")
        .range(0.0, 1.0)
        .symbol("χ"),
    Param::amount("kappa", "queue that is aimed at (above-zero stabilisation)")
        .default("5p")
        .range(0.0, 1e9)
        .symbol("κ"),
    Param::integer("patience", "control intervals before an empty queue counts as an idle link (late reaction)")
        .default("3")
        .range(0.0, 1000.0),
    Param::amount("mtu", "packet size for a limit or kappa in packets").default("1500B").range(1.0, 65_535.0),
    Param::word(
        "queue",
        &["persistent", "present"],
        "queue whose motion counts. persistent: the smallest of the last queue interval, as in XCP; present: what \
            waits when the control interval ends",
    )
    .default("persistent"),
    xcp::FIRST_INTERVAL,
    xcp::MAX_INTERVAL.default("1s"),
    xcp::MIN_INTERVAL,
    xcp::MIN_QUEUE_INTERVAL,
    xcp::APART,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("q", "queue, in bytes: the persistent queue of xcp, or what waits now (`queue`)"),
    symbol("q_old", "`q` at the end of the interval before"),
    symbol("n", "control intervals in a row in which the queue was empty"),
    symbol("Q_max", "size of the buffer: `limit`, in bytes"),
    symbol("d", "mean round-trip time, as in xcp"),
    symbol("y", "input, as in xcp"),
    symbol("F", "change of the aggregate, in byte/s"),
    symbol("h", "traffic that is shuffled between flows, in byte/s"),
    on("the end of a control interval"),
    eq("n ← n + 1", "Abrantes, Ricardo 2006, late reaction").when("`q = 0` and `q_old = 0`"),
    eq("n ← 0", "").when("otherwise"),
    eq("F = χ · Q_max / d", "Abrantes, Ricardo 2006").when("`n > patience`"),
    eq("F = −(α · (q − q_old) + β · (q − κ)) / d", "").when("otherwise"),
    eq("q_old ← q", ""),
    eq("h = max(0, γ · y − |F|)", "Katabi et al. 2002"),
    step("`F` and `h` are given out as in xcp", "Barreto 2012 §2.3.3.1"),
    on("all else"),
    step("as in xcp, with the capacity ∞: a queue interval lasts `max(min_queue_interval, d / 2)`", ""),
];

/// Builds the discipline.
///
/// # Errors
/// If `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let mtu = super::bytes(args, "mtu")? as f64;
    let bytes = |name| match args.amount(name) {
        Amount::Bytes(n) => n as f64,
        Amount::Packets(n) => n as f64 * mtu,
    };
    let law = Blind {
        chi: args.number("chi"),
        buffer: bytes("limit"),
        target: bytes("kappa"),
        patience: args.integer("patience").clamp(0, 1000) as u32,
        before: 0.0,
        empty: 0,
    };
    let aggregate = Aggregate::Queue { law, persistent: args.word("queue") == "persistent" };
    Ok(Box::new(Xcp::new(args, Capacity::UNKNOWN, Rules { aggregate, own_throughput: true, flows: None })))
}
