//! Round-trip time and retransmission timeout (RFC 6298).

use contend_core::{Span, Time};

/// Parameters of the retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoSpec {
    /// Lower bound.
    pub min: Span,
    /// Upper bound.
    pub max: Span,
    /// Value before the first round-trip sample.
    pub initial: Span,
    /// Clock tick G. Samples and the timer are rounded up to a multiple of G.
    pub granularity: Span,
    /// Number of the expiry from which the timer doubles (1: the timer doubles at the first expiry).
    pub backoff_after: u32,
    /// True if one segment is timed at a time, about one in a round trip.
    pub one_sample: bool,
    /// True if the backoff lasts until data are acknowledged that were first sent after the last expiry; false if the
    /// next sample ends it.
    pub keeps_backoff: bool,
}

impl RtoSpec {
    /// RFC 6298 §2: initial value and minimum 1 s, maximum 60 s.
    pub const RFC_6298: RtoSpec = RtoSpec {
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_millis(1),
        backoff_after: 1,
        one_sample: false,
        keeps_backoff: false,
    };
}

/// Smoothed round-trip time, its mean deviation, and the retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    spec: RtoSpec,
    /// SRTT and RTTVAR in nanoseconds; `None` before the first sample.
    smoothed: Option<(u64, u64)>,
    /// SRTT and RTTVAR of the exact samples, not rounded to the clock tick.
    fine: Option<(u64, u64)>,
    min: Option<Span>,
    /// The last rounded sample and the last rounded timeout. The next value is often the same, which saves a division.
    rounded: (Span, Span),
    /// The timeout in force, including its backoff.
    rto: Span,
    /// Expiries since the last sample.
    expiries: u32,
    /// When the last sample was taken.
    sampled: Time,
}

impl RttEstimator {
    /// An estimator without samples.
    pub fn new(spec: RtoSpec) -> RttEstimator {
        RttEstimator {
            spec,
            smoothed: None,
            fine: None,
            min: None,
            rounded: (Span::ZERO, Span::ZERO),
            rto: spec.initial.min(spec.max),
            expiries: 0,
            sampled: Time::ZERO,
        }
    }

    /// True if a segment that was sent `age` before `now` gives a sample now. With [`RtoSpec::one_sample`] it must have
    /// been sent since the last sample.
    #[inline]
    pub fn takes(&mut self, now: Time, age: Span) -> bool {
        let takes = !self.spec.one_sample || now.since(self.sampled) >= age;
        if takes {
            self.sampled = now;
        }
        takes
    }

    /// Takes a sample `r` of a segment that was sent once (Karn). `exact` is the sample before rounding to the clock
    /// tick; it is used for the minimum. `fresh` is true if data first sent after the last expiry are acknowledged.
    #[inline]
    pub fn sample(&mut self, r: Span, exact: Span, fresh: bool) {
        let (srtt, rttvar) = smooth(self.smoothed, round_up(r, self.spec.granularity, &mut self.rounded.0).as_nanos());
        self.smoothed = Some((srtt, rttvar));
        self.fine = Some(smooth(self.fine, exact.as_nanos()));
        self.min = Some(self.min.map_or(exact, |m| m.min(exact)));
        // RFC 6298 §2.3: RTO = SRTT + max(G, K RTTVAR), K = 4. §2.4 and §2.5: lower and upper bound.
        let rto = srtt.saturating_add(rttvar.saturating_mul(4).max(self.spec.granularity.as_nanos()));
        let rto = round_up(Span::from_nanos(rto), self.spec.granularity, &mut self.rounded.1).max(self.spec.min);
        if self.spec.keeps_backoff && !fresh {
            self.rto = self.backed_off(rto).min(self.spec.max);
        } else {
            // RFC 6298 §5: a new sample ends the backoff.
            self.expiries = 0;
            self.rto = rto.min(self.spec.max);
        }
    }

    /// `rto`, doubled for each expiry that counts; at most six times, as in ns-2.
    #[cold]
    fn backed_off(&self, rto: Span) -> Span {
        let doublings = (self.expiries + 1).saturating_sub(self.spec.backoff_after).min(6);
        Span::from_nanos(rto.as_nanos().saturating_mul(1 << doublings))
    }

    /// The timer expired: doubles the timeout (RFC 6298 §5.5), from expiry number `backoff_after` on.
    pub fn back_off(&mut self) {
        self.expiries = self.expiries.saturating_add(1);
        if self.expiries >= self.spec.backoff_after {
            self.rto = Span::from_nanos(self.rto.as_nanos().saturating_mul(2)).min(self.spec.max);
        }
    }

    /// Restarts with a timeout of at least `rto` if there is no sample (RFC 6298 §5.7).
    pub fn restart(&mut self, rto: Span) {
        if self.smoothed.is_none() {
            self.rto = self.spec.initial.max(rto).min(self.spec.max);
            self.expiries = 0;
        }
    }

    /// The timeout in force.
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// SRTT in microseconds, 0 before the first sample.
    pub fn srtt_us(&self) -> u32 {
        self.smoothed.map_or(0, |(s, _)| micros(Span::from_nanos(s)))
    }

    /// RTTVAR in microseconds, 0 before the first sample.
    pub fn rttvar_us(&self) -> u32 {
        self.smoothed.map_or(0, |(_, v)| micros(Span::from_nanos(v)))
    }

    /// SRTT and RTTVAR of the exact samples; `None` before the first sample.
    pub fn fine(&self) -> Option<(Span, Span)> {
        self.fine.map(|(s, v)| (Span::from_nanos(s), Span::from_nanos(v)))
    }

    /// Minimum sample; zero before the first sample.
    pub fn min(&self) -> Span {
        self.min.unwrap_or(Span::ZERO)
    }

    /// Minimum sample in microseconds; 0 before the first sample.
    pub fn min_us(&self) -> u32 {
        self.min.map_or(0, micros)
    }
}

/// `d` rounded up to a whole number of ticks. `last` caches the last result.
fn round_up(d: Span, tick: Span, last: &mut Span) -> Span {
    let g = tick.as_nanos();
    if g <= 1 {
        return d;
    }
    if d > *last || *last - d >= tick {
        *last = Span::from_nanos(d.as_nanos().div_ceil(g).saturating_mul(g));
    }
    *last
}

/// SRTT and RTTVAR after the sample `r`, in nanoseconds.
pub(super) fn smooth(before: Option<(u64, u64)>, r: u64) -> (u64, u64) {
    match before {
        // RFC 6298 §2.2.
        None => (r, r / 2),
        // RFC 6298 §2.3: beta = 1/4 with the old SRTT, then alpha = 1/8.
        Some((srtt, rttvar)) => (srtt - srtt / 8 + r / 8, rttvar - rttvar / 4 + srtt.abs_diff(r) / 4),
    }
}

/// Whole microseconds, at most the largest 32-bit number.
pub(super) fn micros(d: Span) -> u32 {
    u32::try_from(d.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }
    fn spec(min: u64, granularity: u64) -> RtoSpec {
        RtoSpec { min: ms(min), max: ms(60_000), initial: ms(1_000), granularity: ms(granularity), ..RtoSpec::RFC_6298 }
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        // RFC 6298 §2.2: SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2.
        let mut e = RttEstimator::new(spec(0, 0));
        assert_eq!(e.rto(), ms(1_000));
        e.sample(ms(100), ms(100), true);
        assert_eq!((e.rto(), e.srtt_us(), e.rttvar_us()), (ms(300), 100_000, 50_000));
        // §2.3 by hand: RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5, SRTT = 7/8 100 + 1/8 180 = 110, RTO = 110 + 230.
        e.sample(ms(180), ms(180), true);
        assert_eq!((e.rto(), e.srtt_us(), e.rttvar_us()), (ms(340), 110_000, 57_500));
    }

    #[test]
    fn one_segment_is_timed_at_a_time() {
        // Ten segments are sent at 0 and acknowledged from 100 ms on, one each 10 ms. Each acknowledgment releases
        // another segment; the second that is timed leaves at 100 ms.
        let taken = |one_sample| {
            let mut e = RttEstimator::new(RtoSpec { one_sample, ..spec(0, 0) });
            let sent = (0..10).map(|_| 0).chain((0..10).map(|n| 100 + 10 * n));
            let acked = (0..20).map(|n| 100 + 10 * n);
            let at = |t| Time::ZERO + ms(t);
            acked
                .zip(sent)
                .filter(|(now, sent)| e.takes(at(*now), ms(now - sent)))
                .map(|(now, _)| now)
                .collect::<Vec<_>>()
        };
        assert_eq!(taken(true), [100, 200]);
        assert_eq!(taken(false).len(), 20);
    }

    #[test]
    fn a_coarse_clock_rounds_samples_and_the_timer_up() {
        let mut e = RttEstimator::new(spec(0, 100));
        e.sample(ms(101), ms(101), true);
        // 200 + 4 x 100.
        assert_eq!((e.rto(), e.min_us()), (ms(600), 101_000));
    }

    #[test]
    fn the_timeout_doubles_until_a_sample_comes() {
        let mut e = RttEstimator::new(spec(200, 0));
        e.sample(ms(10), ms(10), true);
        assert_eq!(e.rto(), ms(200));
        e.back_off();
        e.back_off();
        assert_eq!(e.rto(), ms(800));
        for _ in 0..20 {
            e.back_off();
        }
        assert_eq!(e.rto(), ms(60_000));
        e.sample(ms(10), ms(10), true);
        assert_eq!(e.rto(), ms(200));
    }

    #[test]
    fn the_backoff_may_outlast_samples_of_old_data() {
        let mut e = RttEstimator::new(RtoSpec { keeps_backoff: true, ..spec(200, 0) });
        e.sample(ms(10), ms(10), true);
        e.back_off();
        e.back_off();
        e.sample(ms(10), ms(10), false);
        assert_eq!(e.rto(), ms(800));
        for _ in 0..20 {
            e.back_off();
        }
        e.sample(ms(10), ms(10), false);
        assert_eq!(e.rto(), ms(64 * 200));
        e.sample(ms(10), ms(10), true);
        assert_eq!(e.rto(), ms(200));
    }

    #[test]
    fn doubling_may_begin_later() {
        let mut e = RttEstimator::new(RtoSpec { backoff_after: 3, ..spec(0, 0) });
        let seen: Vec<Span> = (0..4)
            .map(|_| {
                e.back_off();
                e.rto()
            })
            .collect();
        assert_eq!(seen, [ms(1_000), ms(1_000), ms(2_000), ms(4_000)]);
    }
}
