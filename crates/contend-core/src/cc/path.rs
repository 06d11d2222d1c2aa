//! Common parts of the BBR versions: bandwidth in fixed point, the volume that fills a path, ACK aggregation, and a
//! windowed maximum.

use crate::Time;

/// Number of fractional bits of a bandwidth (`_q24`) in segments per microsecond, at most 256 of them (Linux:
/// `BW_SCALE`).
const BW_SCALE: u32 = 24;
/// A gain of 1, in 256ths (Linux: `BBR_UNIT`).
pub(super) const UNIT: u32 = 256;
/// Percentage of the bandwidth used for pacing. The missing percent prevents standing queues.
const PACED_PERCENT: u64 = 99;

/// The bandwidth of `segments` in `us` microseconds; `us` must not be 0. If `segments` is above 0, the result is at
/// least the smallest value of the scale, one segment in 17 s.
pub(super) fn bandwidth_q24(segments: u32, us: u32) -> u32 {
    u32::try_from((u64::from(segments) << BW_SCALE) / u64::from(us.max(1))).unwrap_or(u32::MAX).max(segments.min(1))
}

/// Pacing rate in bytes per second for segments of `mss` bytes. At least 1, because 0 would mean no pacing.
pub(super) fn pacing_rate(bw_q24: u32, mss: u32, gain_256: u32) -> u64 {
    let rate = u128::from(bw_q24) * u128::from(mss) * u128::from(gain_256) / u128::from(UNIT);
    u64::try_from((rate * u128::from(1_000_000 / 100 * PACED_PERCENT)) >> BW_SCALE).unwrap_or(u64::MAX).max(1)
}

/// The segments that the bandwidth delivers in `us` microseconds, times a gain. Rounded up, so that the estimate of a
/// small path never falls to zero.
pub(super) fn volume(bw_q24: u32, us: u32, gain_256: u32) -> u32 {
    let volume = u128::from(bw_q24) * u128::from(us) * u128::from(gain_256) / u128::from(UNIT);
    u32::try_from((volume + (1 << BW_SCALE) - 1) >> BW_SCALE).unwrap_or(u32::MAX)
}

/// The segments by which a burst of acknowledgments exceeds the bandwidth (Linux: `bbr_update_ack_aggregation`). The
/// burst began at `at` and has delivered `acked` segments so far; `delivered` more arrive at `now`. A new burst begins
/// when the bandwidth has caught up with the old one or the old one is very large.
pub(super) fn excess(bw_q24: u32, now: Time, delivered: u32, at: &mut Time, acked: &mut u32) -> u128 {
    let mut due = (u128::from(bw_q24) * u128::from(now.since(*at).as_micros())) >> BW_SCALE;
    if u128::from(*acked) <= due || *acked >= 1 << 20 {
        *acked = 0;
        *at = now;
        due = 0;
    }
    *acked = acked.saturating_add(delivered);
    u128::from(*acked).saturating_sub(due)
}

/// The maximum of the values in a time window. Keeps the three best candidates, for the time when larger values leave
/// the window (K. Nichols; Linux: `win_minmax`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter([(u32, u32); 3]);

impl MaxFilter {
    /// The maximum.
    pub(super) fn get(&self) -> u32 {
        self.0[0].1
    }

    /// Adds `value` at time `now` for a window of length `window`. Any unit of time is possible; time is modulo 2^32.
    pub(super) fn update(&mut self, window: u32, now: u32, value: u32) {
        let new = (now, value);
        let age = |c: (u32, u32)| now.wrapping_sub(c.0);
        let [first, second, third] = self.0;
        if value >= first.1 || age(third) > window {
            self.0 = [new; 3];
            return;
        }
        let [first, second, third] = match value {
            v if v >= second.1 => [first, new, new],
            v if v >= third.1 => [first, second, new],
            _ => [first, second, third],
        };
        self.0 = if age(first) > window {
            // The maximum has left the window. The second candidate may have left it too.
            if age(second) > window { [third, new, new] } else { [second, third, new] }
        } else if second.0 == first.0 && age(first) > window / 4 {
            // A quarter (below: half) of the window has passed without a separate candidate. The new value becomes the
            // candidate.
            [first, new, new]
        } else if third.0 == second.0 && age(first) > window / 2 {
            [first, second, new]
        } else {
            [first, second, third]
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn a_megabyte_a_second_for_a_tenth_of_one() {
        // 1000 segments of 1000 bytes per second, so 100 segments in 100 ms; the pacing rate is 99 %.
        let bw = bandwidth_q24(100, 100_000);
        assert_eq!(bw, 16_777); // 2^24 / 1000, cut off
        assert_eq!(volume(bw, 100_000, UNIT), 100);
        assert_eq!(volume(bw, 100_000, 2 * UNIT), 200);
        let rate = pacing_rate(bw, 1000, UNIT);
        assert!((989_950..=990_000).contains(&rate), "{rate}");
    }

    #[test]
    fn the_ends_of_the_scale_do_not_overflow() {
        assert_eq!(bandwidth_q24(u32::MAX, 1), u32::MAX);
        assert_eq!(volume(u32::MAX, u32::MAX, 740), u32::MAX);
        assert!(pacing_rate(u32::MAX, u32::MAX, 740) > 1 << 40);
        assert_eq!(
            (bandwidth_q24(1, u32::MAX), bandwidth_q24(0, 1), volume(0, 1, UNIT), pacing_rate(0, 1460, UNIT)),
            (1, 0, 0, 1)
        );
    }

    proptest! {
        #[test]
        fn the_largest_is_one_of_the_window_and_not_below_the_newest(
            steps in prop::collection::vec((0u32..4, 0u32..1000), 1..200), window in 1u32..20,
        ) {
            let (mut f, mut now, mut seen) = (MaxFilter::default(), 100u32, vec![(0u32, 0u32)]);
            for (step, value) in steps {
                now += step;
                f.update(window, now, value);
                seen.push((now, value));
                let inside = seen.iter().filter(|s| now - s.0 <= window).map(|s| s.1);
                prop_assert!(inside.clone().any(|v| v == f.get()));
                prop_assert!(f.get() >= value);
                // The filter is exact if the maximum of the window is also its newest maximum candidate. The filter
                // never exceeds the true maximum.
                prop_assert!(f.get() <= inside.max().unwrap_or(0));
            }
        }
    }
}
