//! What the versions of BBR share: bandwidth in fixed point, the volume that fills a path, what bunches of
//! acknowledgments show beyond it, a windowed maximum.

use crate::Time;

/// Binary digits behind the point of a bandwidth (`_q24`): segments per microsecond, up to 256 of them (Linux:
/// `BW_SCALE`).
const BW_SCALE: u32 = 24;
/// A gain of one in 256ths (Linux: `BBR_UNIT`).
pub(super) const UNIT: u32 = 256;
/// Part of the bandwidth at which a segment is paced, in percent: one less than all of it, against standing queues.
const PACED_PERCENT: u64 = 99;

/// The bandwidth that delivers `segments` in `us` microseconds, which are not 0: at least one segment in 17 s, the
/// least that the scale can say, unless there are none.
pub(super) fn bandwidth_q24(segments: u32, us: u32) -> u32 {
    u32::try_from((u64::from(segments) << BW_SCALE) / u64::from(us.max(1))).unwrap_or(u32::MAX).max(segments.min(1))
}

/// Pacing rate in bytes per second for segments of `mss` bytes, at least 1: none at all would mean no pacing.
pub(super) fn pacing_rate(bw_q24: u32, mss: u32, gain_256: u32) -> u64 {
    let rate = u128::from(bw_q24) * u128::from(mss) * u128::from(gain_256) / u128::from(UNIT);
    u64::try_from((rate * u128::from(1_000_000 / 100 * PACED_PERCENT)) >> BW_SCALE).unwrap_or(u64::MAX).max(1)
}

/// Segments that `us` microseconds of the bandwidth hold, times a gain, rounded up so that a small path is not
/// estimated down to nothing.
pub(super) fn volume(bw_q24: u32, us: u32, gain_256: u32) -> u32 {
    let volume = u128::from(bw_q24) * u128::from(us) * u128::from(gain_256) / u128::from(UNIT);
    u32::try_from((volume + (1 << BW_SCALE) - 1) >> BW_SCALE).unwrap_or(u32::MAX)
}

/// Segments delivered beyond the bandwidth in the present bunch of acknowledgments, which began at `at` and has shown
/// `acked`, with `delivered` more at `now`. A bunch that the bandwidth has caught up with, or a very large one, is
/// followed by a new one (Linux: `bbr_update_ack_aggregation`).
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

/// The largest of the numbers of a window of time, by the three best candidates for when the larger ones grow old (K.
/// Nichols; Linux: `win_minmax`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter([(u32, u32); 3]);

impl MaxFilter {
    /// The largest.
    pub(super) fn get(&self) -> u32 {
        self.0[0].1
    }

    /// Enters `value` at time `now` for a window of length `window`, in any unit; time is modulo 2^32.
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
            // The largest has left the window; perhaps the next too.
            if age(second) > window { [third, new, new] } else { [second, third, new] }
        } else if second.0 == first.0 && age(first) > window / 4 {
            // A quarter, or half, of the window without a candidate of its own: take one from what there is.
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
        // 1000 segments of 1000 B a second; in 100 ms 100 of them; paced at 99 %.
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
        fn the_largest_is_one_of_the_window_and_not_below_the_newest(steps in prop::collection::vec((0u32..4, 0u32..1000), 1..200), window in 1u32..20) {
            let (mut f, mut now, mut seen) = (MaxFilter::default(), 100u32, vec![(0u32, 0u32)]);
            for (step, value) in steps {
                now += step;
                f.update(window, now, value);
                seen.push((now, value));
                let inside = seen.iter().filter(|s| now - s.0 <= window).map(|s| s.1);
                prop_assert!(inside.clone().any(|v| v == f.get()));
                prop_assert!(f.get() >= value);
                // Exact whenever the largest of the window is its newest largest candidate: never above the true
                // maximum.
                prop_assert!(f.get() <= inside.max().unwrap_or(0));
            }
        }
    }
}
