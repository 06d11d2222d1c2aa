//! CWPQ: congestion warning by the persistent queue, the minimum queue of the last interval. Every arrival is marked
//! while the persistent queue is above a threshold.
//!
//! - The minimum queue is updated at departures, as in the thesis' pseudocode. The text of the thesis says arrivals.

use super::cwaq::THRESHOLD;
use super::marking::{Clock, DROP, INTERVAL, Law, Marked, count, length};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu: TCP Performance Enhancement in Wireless Networks, NJIT 2005, §8.5.1, Fig. 8.9";
/// What it does.
pub const SUMMARY: &str = "Marks all arrivals while a persistent queue is above a threshold; the persistent queue is \
    the minimum of the last interval, the threshold a share of the limit.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    THRESHOLD,
    Param { doc: "time over which the minimum is taken: about a round-trip time", default: Some("100ms"), ..INTERVAL },
    DROP.default("false"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("b", "present backlog, in the unit of `limit`"),
    symbol("b_min", "min_queue: smallest backlog of this interval so far"),
    symbol("b_p", "persistent_queue: smallest backlog of the last interval"),
    symbol("p", "probability of a mark"),
    on("the end of each `interval`"),
    eq("b_p ← b_min", "Xu 2005 Fig. 8.9"),
    eq("b_min ← b", ""),
    on("an arrival"),
    eq("p = 1", "").when("`b_p > threshold · limit`"),
    eq("p = 0", "").when("otherwise"),
    super::marking::SIGNAL,
    on("a departure"),
    eq("b_min ← min(b_min, b)", ""),
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let limit = args.amount("limit");
    let law = Cwpq {
        limit,
        threshold: args.number("threshold") * count(limit),
        clock: Clock::new(args.time("interval")),
        least: 0.0,
        persistent: 0.0,
    };
    Ok(Box::new(Marked::new(law, args)))
}

#[derive(Debug)]
struct Cwpq {
    limit: Amount,
    /// Threshold, in the limit's unit. The queues below have the same unit.
    threshold: f64,
    clock: Clock,
    /// min_queue: minimum queue of this interval so far.
    least: f64,
    /// persistent_queue: minimum queue of the last whole interval.
    persistent: f64,
}

impl Law for Cwpq {
    fn pass(&mut self, now: Time, waiting: Backlog) {
        match self.clock.strikes(now) {
            0 => {}
            1 => {
                self.persistent = self.least;
                self.least = length(waiting, self.limit);
            }
            // Several intervals have passed. No packet came or went in the last one.
            _ => {
                self.least = length(waiting, self.limit);
                self.persistent = self.least;
            }
        }
    }

    fn arrives(&mut self, _: Time, _: u32, _: Span, _: Backlog) -> f64 {
        f64::from(u8::from(self.persistent > self.threshold))
    }

    fn left(&mut self, waiting: Backlog) {
        self.least = self.least.min(length(waiting, self.limit));
    }
}
