//! CWPQ: congestion warning by the persistent queue. Every arrival is marked while what has waited through all of the
//! last interval is above a threshold.
//!
//! - The least queue is noted at departures, as in the thesis' pseudocode; its text says arrivals.

use super::cwaq::THRESHOLD;
use super::marking::{Clock, DROP, INTERVAL, Law, Marked, count, length};
use super::{Args, Backlog, Qdisc, Site};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;

/// Source.
pub const CITE: &str = "Xu: TCP Performance Enhancement in Wireless Networks, NJIT 2005, §8.5.1, Fig. 8.9";
/// What it does.
pub const SUMMARY: &str =
    "One queue; every arrival is marked while the least queue of the last interval is above a share of the limit.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    THRESHOLD,
    Param {
        doc: "how long a queue must stand to be persistent: about a round trip",
        default: Some("100ms"),
        ..INTERVAL
    },
    Param { default: Some("false"), ..DROP },
];

/// Makes one.
///
/// # Errors
/// None: every value in range is good.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, String> {
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
    /// In the limit's unit, as the queues below.
    threshold: f64,
    clock: Clock,
    /// Least queue of this interval so far, min_queue.
    least: f64,
    /// Least queue of the last whole interval, persistent_queue.
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
            // Nothing came or went in the last of several intervals.
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
