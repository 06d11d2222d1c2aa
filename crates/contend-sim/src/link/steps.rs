//! A rate that changes at given times: a table of times and rates.
//!
//! Each rate holds until the next time, the last one to the end of the run. A packet that is being sent when the rate
//! changes goes on at the new rate. At a rate of zero the wire waits; nothing is lost.

use super::bad_entry::BadEntry;
use contend_core::{Span, Time};

/// Nanoseconds of a second: the unit of work is a bit, times this.
const SECOND: u128 = 1_000_000_000;

/// Times and rates. There is at least one; the first holds from time zero on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSteps {
    /// When each rate begins, and bits per second.
    steps: Vec<(Time, u64)>,
    /// Mean from time zero to the last step, in bits per second; never 0.
    mean: u64,
}

impl RateSteps {
    /// The table with these times and rates in bits per second.
    ///
    /// # Errors
    /// If the first time is not zero, if a time is not later than the one before it, or if all rates are zero.
    pub fn new(steps: Vec<(Time, u64)>) -> Result<RateSteps, BadEntry> {
        if steps.first().is_none_or(|first| first.0 > Time::ZERO) {
            return Err(BadEntry::at(0, "is not at time 0", "begin with the rate at 0s; times count from there"));
        }
        if let Some(i) = steps.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            return Err(BadEntry::at(i + 1, "is not later than the entry before it", "write the times in order"));
        }
        if steps.iter().all(|step| step.1 == 0) {
            return Err(BadEntry::at(0, "begins a table without a rate above zero", "write a rate above zero"));
        }
        let work: u128 = steps.windows(2).map(|pair| work(pair[0].1, pair[1].0.since(pair[0].0))).sum();
        let (whole, last) = steps.last().map_or((0, 1), |last| (u128::from(last.0.as_nanos()), last.1));
        let mean = work.checked_div(whole).map_or(last, |mean| mean as u64);
        Ok(RateSteps { steps, mean: mean.max(1) })
    }

    /// Mean rate from time zero to the last step, in bits per second, and at least 1.
    pub(super) fn mean(&self) -> u64 {
        self.mean
    }

    /// When the last bit of `bytes` leaves whose first bit leaves at `starts`.
    pub(super) fn ends(&self, starts: Time, bytes: u32) -> Time {
        let mut at = starts;
        let mut left = 8 * u128::from(bytes) * SECOND;
        let first = self.steps.partition_point(|step| step.0 <= starts).saturating_sub(1);
        for (i, &(_, bps)) in self.steps.iter().enumerate().skip(first) {
            match self.steps.get(i + 1) {
                Some(next) if work(bps, next.0.since(at)) < left => {
                    left -= work(bps, next.0.since(at));
                    at = next.0;
                }
                // Rounded to the nearest nanosecond, like `Span::of_bits`.
                _ => {
                    let ns = (left + u128::from(bps) / 2).checked_div(u128::from(bps)).unwrap_or(u128::MAX);
                    return at.saturating_add(Span::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)));
                }
            }
        }
        Time::NEVER
    }
}

/// Bits that `bps` sends in `span`, times [`SECOND`].
fn work(bps: u64, span: Span) -> u128 {
    u128::from(bps) * u128::from(span.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    /// 1000 B are 8 ms at 1 Mb/s and 1 ms at 8 Mb/s.
    #[test]
    fn a_packet_goes_on_at_the_new_rate() {
        let steps = RateSteps::new(vec![(ms(0), 1_000_000), (ms(10), 8_000_000), (ms(20), 0), (ms(30), 1_000_000)]);
        let steps = steps.unwrap();
        assert_eq!(steps.ends(ms(0), 1000), ms(8));
        // 4 ms at 1 Mb/s are half of it, the other half takes 0.5 ms.
        assert_eq!(steps.ends(ms(6), 1000), Time::from_nanos(10_500_000));
        assert_eq!(steps.ends(ms(12), 1000), ms(13));
        // Sent exactly when the rate becomes zero, and one nanosecond later not before it is above zero again.
        assert_eq!(steps.ends(ms(19), 1000), ms(20));
        assert_eq!(steps.ends(Time::from_nanos(19_000_125), 1000), Time::from_nanos(30_001_000));
        assert_eq!(steps.ends(ms(25), 1000), ms(38));
        // (10 + 80 + 0) kbit in 30 ms.
        assert_eq!(steps.mean(), 3_000_000);
    }

    #[test]
    fn after_a_last_rate_of_zero_nothing_leaves() {
        let steps = RateSteps::new(vec![(ms(0), 1_000_000), (ms(4), 0)]).unwrap();
        assert_eq!(steps.ends(ms(0), 500), ms(4));
        assert_eq!(steps.ends(ms(0), 501), Time::NEVER);
        assert_eq!(steps.ends(ms(5), 1), Time::NEVER);
    }

    #[test]
    fn a_table_out_of_order_is_refused() {
        let index = |steps: &[(Time, u64)]| RateSteps::new(steps.to_vec()).unwrap_err().index;
        assert_eq!(index(&[]), 0);
        assert_eq!(index(&[(ms(1), 5)]), 0);
        assert_eq!(index(&[(ms(0), 5), (ms(2), 6), (ms(2), 7)]), 2);
        assert_eq!(index(&[(ms(0), 0), (ms(2), 0)]), 0);
    }

    proptest! {
        #[test]
        fn one_rate_in_many_steps_is_a_constant_rate(
            bps in 1u64..10_000_000_000, at in prop::collection::btree_set(1u64..1_000_000_000, 0..20),
            starts in 0u64..1_000_000_000, bytes: u32,
        ) {
            let steps = std::iter::once(0).chain(at).map(|ns| (Time::from_nanos(ns), bps)).collect();
            let (steps, starts) = (RateSteps::new(steps).unwrap(), Time::from_nanos(starts));
            let constant = starts.saturating_add(Span::of_bits(8 * u64::from(bytes), bps));
            prop_assert_eq!(steps.ends(starts, bytes), constant);
            prop_assert_eq!(steps.mean(), bps);
        }
    }
}
