//! The detector of classic queues, those that mark late (RFC 3168): of version 0.6 of Linux's module.
//!
//! Prague alone in a classic queue with ECN starves classic flows, because it answers their rare marks by little. A
//! queue for L4S keeps the round-trip time short and steady; a classic one does not. The score rises with the deviation
//! of the round-trip time above 750 us and with the queue above 2 ms, by half of the binary logarithm of each ratio for
//! each period. Up to 8 the queue counts as one for L4S, from 9 as a classic one.
//!
//! - It is off by default. The published tests found it unreliable, and version 0.7 of the module has none.
//! - Version 0.6 adapts the gains to the threshold of slow start. Here they are fixed: 2^-8 and 2^-9.
//! - The logarithm has a fraction. Version 0.6 takes a whole one and carries the rest to the next period.

/// What follows from the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    Off,
    Detect,
    Act,
}

/// The smallest and the largest score of a transition from L4S to classic, and the largest score of all.
const L4S_Q20: i64 = 8 << 20;
const CLASSIC_Q20: i64 = 9 << 20;
const MOST_Q20: i64 = 17 << 20;
/// Gains of the round-trip time and its deviation, as shifts.
const SRTT_SHIFT: u32 = 8;
const MDEV_SHIFT: u32 = 9;
/// The longest round-trip time in microseconds, so that the smoothed values fit 32 bits.
const LONGEST_US: u32 = 1 << 22;
/// The deviation and the queue at which the score stands still.
const MDEV_US: u32 = 750;
const DEPTH_US: u32 = 2000;

/// The score and its inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Detector {
    /// Smoothed round-trip time in 2^-8 microseconds; 0 before the first sample.
    srtt_q8: u32,
    /// Mean deviation of it in 2^-9 microseconds.
    mdev_q9: u32,
    score_q20: i32,
}

/// The binary logarithm of `x` in 2^-20, cut off; `x` must not be 0.
const fn log2_q20(x: u32) -> i64 {
    let whole = x.ilog2();
    // The mantissa in 2^-31, from 1 to 2. Each squaring doubles its logarithm and so gives one bit.
    let mut mantissa = (x as u64) << (31 - whole);
    let mut bits = whole as i64;
    let mut i = 0;
    while i < 20 {
        mantissa = (mantissa * mantissa) >> 31;
        let bit = mantissa >> 32;
        mantissa >>= bit;
        bits = bits << 1 | bit as i64;
        i += 1;
    }
    bits
}

impl Detector {
    /// Takes a sample of the round-trip time.
    pub(super) fn sample(&mut self, rtt_us: Option<u32>) {
        let Some(rtt) = rtt_us else { return };
        let rtt = rtt.clamp(1, LONGEST_US);
        if self.srtt_q8 == 0 {
            (self.srtt_q8, self.mdev_q9) = (rtt << SRTT_SHIFT, 1 << MDEV_SHIFT);
            return;
        }
        let smooth = self.srtt_q8 >> SRTT_SHIFT;
        self.srtt_q8 = (self.srtt_q8 - smooth + rtt).max(1);
        self.mdev_q9 = self.mdev_q9 - (self.mdev_q9 >> MDEV_SHIFT) + rtt.abs_diff(smooth);
    }

    /// Updates the score at the end of a period; `min_us` is the smallest round-trip time, 0 if there is none.
    pub(super) fn end_period(&mut self, min_us: u32) {
        if self.srtt_q8 == 0 || min_us == 0 {
            return;
        }
        const MDEV: i64 = log2_q20(MDEV_US << MDEV_SHIFT);
        const DEPTH: i64 = log2_q20(DEPTH_US);
        let unsteady = log2_q20(self.mdev_q9.max(1)) - MDEV;
        let depth_us = (self.srtt_q8 >> SRTT_SHIFT).saturating_sub(min_us).max(DEPTH_US);
        let score = i64::from(self.score_q20) + unsteady / 2 + (log2_q20(depth_us) - DEPTH) / 2;
        self.score_q20 = score.clamp(0, MOST_Q20) as i32;
    }

    /// The score in 2^-20, which is never negative.
    pub(super) fn score_q20(&self) -> u32 {
        self.score_q20.max(0) as u32
    }

    /// The smallest alpha that the score permits, in 2^-24: 5/8 if the queue is surely classic, so that a reduction
    /// takes 31 %, about as much as CUBIC's.
    pub(super) fn least_alpha_q24(&self) -> u64 {
        let over = i64::from(self.score_q20).clamp(L4S_Q20, CLASSIC_Q20) - L4S_Q20;
        ((over as u64) << 4) / 8 * 5
    }
}

#[cfg(test)]
#[allow(clippy::float_arithmetic)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_a_real_number() {
        for x in [1, 2, 3, 750, 2000, 384_000, 1 << 22, u32::MAX] {
            let real = f64::from(x).log2() * f64::from(1 << 20);
            let off = real - log2_q20(x) as f64;
            assert!((-0.01..1.01).contains(&off), "{x}: {off}");
        }
    }

    /// A detector after these smoothed values, in microseconds, and periods.
    fn after(srtt: u32, mdev: u32, min: u32, periods: u32) -> Detector {
        let mut d = Detector { srtt_q8: srtt << SRTT_SHIFT, mdev_q9: mdev << MDEV_SHIFT, score_q20: 0 };
        (0..periods).for_each(|_| d.end_period(min));
        d
    }

    #[test]
    fn a_steady_queue_stays_l4s_and_an_unsteady_one_becomes_classic() {
        // A deviation of 3 ms is 4 x 750 us: half of two binary orders, 1 for each period. A queue of 8 ms adds 1.
        assert_eq!(after(20_000, 3000, 20_000, 3).score_q20, 3 << 20);
        assert_eq!(after(28_000, 3000, 20_000, 3).score_q20, 6 << 20);
        assert_eq!(after(28_000, 3000, 20_000, 30).score_q20, 17 << 20);
        // A queue below 2 ms does not lower the score; a deviation below 750 us does.
        assert_eq!(after(20_500, 3000, 20_000, 3).score_q20, 3 << 20);
        assert_eq!(after(28_000, 187, 20_000, 30).score_q20, 0);
        // Without a smallest round-trip time nothing is known.
        assert_eq!(after(28_000, 3000, 0, 30).score_q20, 0);
    }

    #[test]
    fn a_classic_queue_takes_five_eighths_of_half_the_window() {
        let of = |score_q20| Detector { score_q20, ..Detector::default() }.least_alpha_q24();
        let one = 1 << 24;
        assert_eq!(
            (of(0), of(8 << 20), of(17 << 19), of(9 << 20), of(17 << 20)),
            (0, 0, one * 5 / 16, one * 5 / 8, one * 5 / 8)
        );
    }

    #[test]
    fn the_smoothed_values_follow_the_samples() {
        let mut d = Detector::default();
        d.sample(None);
        d.sample(Some(10_000));
        assert_eq!((d.srtt_q8, d.mdev_q9), (10_000 << 8, 1 << 9));
        // 10 000 + 256 / 256 = 10 001; 1 + (256 - 1) / 512.
        d.sample(Some(10_256));
        assert_eq!((d.srtt_q8, d.mdev_q9), (10_001 << 8, 512 - 1 + 256));
        (0..10_000).for_each(|_| d.sample(Some(u32::MAX)));
        assert!(d.srtt_q8 >> 8 >= LONGEST_US - 256, "{}", d.srtt_q8 >> 8);
    }
}
