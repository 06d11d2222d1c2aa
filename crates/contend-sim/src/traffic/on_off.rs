//! The common part of the on/off sources: alternating periods with given distributions, and packets at a constant rate
//! during the on-periods.

use crate::rng::exponential;
use contend_core::{Cx, Rng, Span, Time};
use rand::RngExt as _;

/// The distribution of the length of a period.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    /// Exponential with this mean in seconds.
    Exponential(f64),
    /// Pareto: never shorter than `least` seconds, P(longer than x) = (least / x)^shape.
    Pareto {
        /// Seconds.
        least: f64,
        /// Tail exponent; the mean is finite above 1.
        shape: f64,
    },
}

impl Law {
    /// The Pareto law of this shape with a mean of `mean` seconds.
    pub(super) fn pareto(mean: f64, shape: f64) -> Law {
        // mean = shape least / (shape - 1)
        Law::Pareto { least: mean * (shape - 1.0) / shape, shape }
    }

    pub(super) fn draw(self, rng: &mut Rng) -> Span {
        match self {
            Law::Exponential(mean) => exponential(rng, mean),
            Law::Pareto { least, shape } => {
                Span::from_secs_f64(least * libm::pow(1.0 - rng.random::<f64>(), -1.0 / shape))
            }
        }
    }
}

/// The instants at which packets are complete.
///
/// During an on-period payload accrues at the rate of the source, and a packet leaves when it is full. The remainder at
/// the end of a period is carried into the next period. The mean rate is therefore exactly rate x on / (on + off) for
/// every gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnOff {
    on: Law,
    off: Law,
    /// The present on-period ends.
    until: Time,
    /// The last packet, or where accrual went on after a pause.
    at: Time,
    /// On-time already accrued towards the next packet, before `at`.
    accrued: Span,
}

impl OnOff {
    /// A source that starts at `cx.now` with an on-period.
    pub(super) fn new(cx: &mut Cx, on: Law, off: Law) -> OnOff {
        OnOff { on, off, until: cx.now.saturating_add(on.draw(cx.rng)), at: cx.now, accrued: Span::ZERO }
    }

    /// A source that starts at `cx.now` with a pause.
    pub(super) fn pausing(cx: &mut Cx, on: Law, off: Law) -> OnOff {
        let mut s = OnOff { on, off, until: cx.now, at: cx.now, accrued: Span::ZERO };
        s.pause(cx.rng);
        s
    }

    /// When the next packet is complete, at one packet per `gap` of on-time; [`Time::NEVER`] when time has run out.
    pub(super) fn advance(&mut self, cx: &mut Cx, gap: Span) -> Time {
        while self.until < Time::NEVER {
            let due = self.at.saturating_add(gap.saturating_sub(self.accrued));
            if due < self.until {
                (self.at, self.accrued) = (due, Span::ZERO);
                return due;
            }
            self.accrued += self.until - self.at;
            self.pause(cx.rng);
        }
        Time::NEVER
    }

    /// Draws the pause that follows the present on-period, and the on-period after it.
    fn pause(&mut self, rng: &mut Rng) {
        self.at = self.until.saturating_add(self.off.draw(rng));
        self.until = self.at.saturating_add(self.on.draw(rng));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_pareto_law_has_its_least_value_its_tail_and_its_mean() {
        let mut rng = crate::rng::stream(1, "flow0", "arrivals");
        // shape 2.5 has a finite variance, so that a mean can be tested: sd = mean / sqrt(shape (shape - 2)) = 0.89
        // mean.
        let law = Law::pareto(0.6, 2.5);
        let x: Vec<f64> = (0..200_000).map(|_| law.draw(&mut rng).as_secs_f64()).collect();
        let least = 0.6 * 1.5 / 2.5;
        assert!(x.iter().all(|&x| x >= least - 1e-9));
        assert!((x.iter().sum::<f64>() / 2e5 - 0.6).abs() < 3.0 * 0.54 / 2e5f64.sqrt());
        for k in [2.0f64, 4.0, 8.0] {
            let tail = x.iter().filter(|&&x| x > k * least).count() as f64 / 2e5;
            let want = libm::pow(k, -2.5);
            assert!((tail - want).abs() < 3.0 * (want / 2e5).sqrt(), "{k}: {tail} against {want}");
        }
    }

    proptest! {
        /// With N packets complete the source has been on for N gaps, to within what the last period carries over.
        #[test]
        fn no_payload_is_made_or_lost_between_periods(
            seed: u64, gap_us in 1u64..20_000, on_ms in 1u64..50, off_ms in 0u64..50,
        ) {
            let mut rng = crate::rng::stream(seed, "flow0", "arrivals");
            let mut cx = Cx { now: Time::ZERO, rng: &mut rng };
            let law = |ms: u64| Law::Exponential(ms as f64 / 1e3);
            let (on, off, gap) = (law(on_ms), law(off_ms), Span::from_micros(gap_us));
            // The same stream tells the periods: on, off, on, off, ...
            let mut periods = crate::rng::stream(seed, "flow0", "arrivals");
            let mut s = OnOff::new(&mut cx, on, off);
            let (mut from, mut to, mut before) = (Time::ZERO, Time::ZERO + on.draw(&mut periods), Span::ZERO);
            for n in 1..100u64 {
                let at = s.advance(&mut cx, gap);
                while to <= at {
                    before += to - from;
                    from = to + off.draw(&mut periods);
                    to = from + on.draw(&mut periods);
                }
                prop_assert!(at >= from, "a packet leaves while the source is on");
                prop_assert_eq!(before + (at - from), gap * n);
            }
        }
    }
}
