//! PI: a proportional-integral controller keeps the queue at a reference.
//!
//! - At fixed instants the probability changes according to the queue now and the queue at the previous instant. It is
//!   limited to 0..=1.
//! - The paper's gains are for its example: a 15 Mb/s link with 60 flows and packets of 500 B. Other links need other
//!   gains (its §III).

use super::fifo::LIMIT;
use super::marking::{Clock, DROP, Law, Marked, length, walk};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Hollot, Misra, Towsley, Gong: On Designing Improved Controllers for AQM Routers Supporting \
    TCP Flows, INFOCOM 2001; Xu 2005 eq. 8.3";
/// What it does.
pub const SUMMARY: &str = "Holds the queue at a reference with a PI controller; the probability follows the queue's \
    distance from the reference and the sum of past distances.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    REFERENCE,
    Param::number("a", "gain of the present distance, per packet or byte").default("1.822e-5").range(0.0, 1e3),
    Param::number("b", "gain of the previous distance; smaller than a").default("1.816e-5").range(0.0, 1e3),
    Param::number("frequency", "updates per second").default("170").range(1e-3, 1e6),
    DROP,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("q", "backlog, in the unit of `limit`"),
    symbol("q_old", "backlog at the last update"),
    symbol("p", "probability of a signal"),
    on("an update, `frequency` times per second"),
    eq("p ← p + a · (q − q_ref) − b · (q_old − q_ref)", "Hollot et al. 2001; Xu 2005 eq. 8.3"),
    eq("p ← min(1, max(0, p))", ""),
    eq("q_old ← q", ""),
    on("an arrival"),
    super::marking::SIGNAL,
];

/// The target queue.
pub(super) const REFERENCE: Param = Param::amount("reference", "target of the queue, in the unit of the limit")
    .default("50p")
    .range(0.0, 1e9)
    .symbol("q_ref");

/// Builds the discipline.
///
/// # Errors
/// If the reference is not in the limit's unit, or if a is below b.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let (a, b) = (args.number("a"), args.number("b"));
    if a < b {
        return Err(Refusal::new(
            "a is below b, so the probability would move away from the reference",
            "write a larger a",
        ));
    }
    let clock = Clock::new(Span::from_secs_f64(1.0 / args.number("frequency")));
    let law = Pi { limit: args.amount("limit"), reference: reference(args)?, a, b, clock, before: 0.0, p: 0.0 };
    Ok(Box::new(Marked::new(law, args)))
}

/// The reference in the limit's unit.
pub(super) fn reference(args: &Args) -> Result<f64, Refusal> {
    match (args.amount("limit"), args.amount("reference")) {
        (Amount::Packets(_), Amount::Packets(n)) | (Amount::Bytes(_), Amount::Bytes(n)) => Ok(n as f64),
        _ => Err(Refusal::new("reference and limit have different units", "write both in packets or both in bytes")),
    }
}

#[derive(Debug)]
struct Pi {
    limit: Amount,
    /// b_ref, the target queue.
    reference: f64,
    a: f64,
    b: f64,
    clock: Clock,
    /// Queue at the last computation.
    before: f64,
    /// Marking probability.
    p: f64,
}

impl Law for Pi {
    fn pass(&mut self, now: Time, waiting: Backlog) {
        let n = self.clock.strikes(now);
        if n > 0 {
            let queue = length(waiting, self.limit);
            // Eq. 8.3. From the second instant on, the previous queue equals the current queue.
            self.p = walk(self.p, self.a * (queue - self.reference) - self.b * (self.before - self.reference), 1);
            self.p = walk(self.p, (self.a - self.b) * (queue - self.reference), n - 1);
            self.before = queue;
        }
    }

    fn arrives(&mut self, _: Time, _: u32, _: Span, _: Backlog) -> f64 {
        self.p
    }
}
