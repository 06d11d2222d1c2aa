//! CWAQ: congestion warning by the average queue. Every arrival is marked while the average queue is above a threshold.
//!
//! - The average is updated at each arrival with the backlog before the arrival. The packet in service is outside the
//!   queue.
//! - The thesis uses RED's code with equal thresholds. RED would drop above its upper threshold, so the step function
//!   is written out here.

use super::marking::{DROP, Law, Marked, count, length};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Xu: TCP Performance Enhancement in Wireless Networks, NJIT 2005, §5.3, eq. 8.30";
/// What it does.
pub const SUMMARY: &str = "Marks all arrivals while a fast average of the queue is above a threshold; the threshold is \
    a share of the limit.";
/// Parameters.
pub const PARAMS: &[Param] = &[super::fifo::LIMIT, THRESHOLD, W_Q, DROP.default("false")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("b", "backlog that the packet finds, in the unit of `limit`"),
    symbol("b_avg", "average backlog, in the same unit"),
    symbol("p", "probability of a mark"),
    on("an arrival"),
    eq("b_avg ← b_avg + w_q · (b − b_avg)", "Xu 2005 eq. 8.30"),
    eq("p = 1", "§5.3, Fig. 5.5").when("`b_avg > threshold · limit`"),
    eq("p = 0", "").when("otherwise"),
    super::marking::SIGNAL,
];

/// The threshold of congestion warning.
pub(super) const THRESHOLD: Param = Param::fraction(
    "threshold",
    "share of the limit above which arrivals are marked: a third in the thesis' chapter 5, a half in its chapter 8",
)
.default("0.3333333333333333")
.range(0.0, 1.0);

const W_Q: Param = Param::number(
    "w_q",
    "weight of a new sample in the average queue; RED's usual 0.002 is too slow to tell the causes of losses apart",
)
.default("0.2")
.range(1e-9, 1.0);

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let limit = args.amount("limit");
    let law =
        Cwaq { limit, threshold: args.number("threshold") * count(limit), weight: args.number("w_q"), average: 0.0 };
    Ok(Box::new(Marked::new(law, args)))
}

#[derive(Debug)]
struct Cwaq {
    limit: Amount,
    /// Threshold, in the limit's unit.
    threshold: f64,
    weight: f64,
    /// Average queue, in the limit's unit.
    average: f64,
}

impl Law for Cwaq {
    fn arrives(&mut self, _: Time, _: u32, _: Span, waiting: Backlog) -> f64 {
        // Eq. 8.30 with 1 - a = w_q.
        self.average += self.weight * (length(waiting, self.limit) - self.average);
        f64::from(u8::from(self.average > self.threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Xu 2005, Fig. 5.6. The queue rises and falls by one packet at every fourth arrival, between 0 and 50. Returns
    /// the mean error of the average.
    fn off(weight: f64) -> f64 {
        let mut law = Cwaq { limit: Amount::Packets(50), threshold: 25.0, weight, average: 0.0 };
        let queue = |k: u64| if k / 4 % 100 < 50 { k / 4 % 100 } else { 100 - k / 4 % 100 };
        let mut squares = 0.0;
        for k in 0..10_000 {
            let waiting = Backlog { packets: queue(k), bytes: 0 };
            law.arrives(Time::ZERO, 1000, Span::ZERO, waiting);
            squares += (law.average - waiting.packets as f64) * (law.average - waiting.packets as f64);
        }
        libm::sqrt(squares / 1e4)
    }

    #[test]
    fn a_weight_of_a_fifth_follows_the_queue_and_red_s_does_not() {
        // The average follows a ramp with a lag of (1 - w) / w = 4 arrivals, here one packet. An average that stays at
        // 25 has an error of 50 / sqrt 12 = 14.4. C42: five times.
        let (quick, slow) = (off(0.2), off(0.002));
        assert!((quick - 1.0).abs() < 0.2, "{quick}");
        assert!(slow > 5.0 * quick && slow > 10.0, "{slow}");
    }
}
