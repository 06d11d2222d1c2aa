//! BBR's optional answer to marks, as in Linux's `v3` branch. The draft does not define an answer.
//!
//! The path is expected to mark early, as for DCTCP. The smoothed share of marked segments (`alpha`) determines the cut
//! of the short-term bound. Probing ends when more than half of a sample is marked. Startup ends after two rounds in
//! which half of the segments were marked.
//!
//! - The marked segments are those whose acknowledgment carries ECE: the flow needs `echo = "per_packet"`.
//! - The branch's early probe, after a cycle with marks and without losses, is not implemented.

use super::{Bbr3, NONE};
use crate::cc::path::UNIT;
use crate::cc::{Ack, RateSample};
use crate::registry::Args;

/// Weight of the last round in the smoothed share, in 256ths (`ecn_alpha_gain`).
const GAIN: u32 = UNIT / 16;
/// The factor between the share and the cut of the short-term bound, in 256ths (`ecn_factor`).
const FACTOR: u32 = UNIT / 3;
/// A larger share of marked segments is too high, in 256ths (`ecn_thresh`).
const THRESH: u32 = UNIT / 2;
/// Number of rounds at or above this share that ends Startup (`full_ecn_cnt`).
const FULL_ROUNDS: u8 = 2;

/// ECN parameters and state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ecn {
    /// The largest minimum round-trip time at which marks are answered, in microseconds; 0: no limit.
    max_rtt_us: u32,
    /// Delivered and marked segments in the current round.
    delivered: u32,
    marked: u32,
    /// Smoothed share of marked segments, in 256ths (`ecn_alpha`).
    alpha: u16,
    startup_rounds: u8,
    on: bool,
    /// True if the path is short enough (`ecn_eligible`).
    eligible: bool,
    in_round: bool,
}

impl Ecn {
    /// Builds the state from the parameters `ecn` and `ecn_max_rtt`. `alpha` starts at its maximum, so that the first
    /// marks have the full effect.
    pub(super) fn new(args: &Args) -> Ecn {
        let max_rtt_us = u32::try_from(args.time("ecn_max_rtt").as_micros()).unwrap_or(u32::MAX);
        Ecn {
            max_rtt_us,
            delivered: 0,
            marked: 0,
            alpha: UNIT as u16,
            startup_rounds: 0,
            on: args.flag("ecn"),
            eligible: false,
            in_round: false,
        }
    }

    /// True if more than half of the sample was marked.
    pub(super) fn too_high(&self, rs: &RateSample) -> bool {
        self.eligible && rs.ce > 0 && u64::from(rs.ce) > u64::from(rs.delivered) * u64::from(THRESH) / u64::from(UNIT)
    }

    /// Ends a round or a probe: marks are counted anew.
    pub(super) fn clear(&mut self) {
        self.in_round = false;
    }

    /// Returns the reduced bound if there were marks in the round, otherwise `None`. `inflight` is the current bound.
    pub(super) fn cut(&self, inflight: u32) -> Option<u32> {
        let kept = UNIT - ((u32::from(self.alpha) * FACTOR) >> 8);
        self.in_round.then(|| ((u64::from(inflight) * u64::from(kept)) >> 8) as u32)
    }

    /// Ends a round and smooths the share of marks. Returns the share of this round in 256ths.
    fn end_round(&mut self) -> Option<u32> {
        if self.delivered == 0 {
            return None;
        }
        let share = (u64::from(self.marked) * u64::from(UNIT) / u64::from(self.delivered)) as u32;
        let alpha = (((UNIT - GAIN) * u32::from(self.alpha)) >> 8) + ((GAIN * share) >> 8);
        self.alpha = alpha.min(UNIT) as u16;
        (self.delivered, self.marked) = (0, 0);
        Some(share)
    }
}

impl Bbr3 {
    /// Counts the marks of an acknowledgment. At the start of a round, adapts `alpha` and ends Startup after too many
    /// marked rounds.
    pub(super) fn note_marks(&mut self, ack: &Ack) {
        if !self.ecn.on {
            return;
        }
        self.ecn.delivered = self.ecn.delivered.saturating_add(ack.delivered);
        self.ecn.marked = self.ecn.marked.saturating_add(ack.ce.min(ack.delivered));
        if self.round_start {
            self.ecn.eligible |=
                self.ecn.max_rtt_us == 0 || (self.min_rtt_us != NONE && self.min_rtt_us <= self.ecn.max_rtt_us);
            if self.ecn.eligible
                && let Some(share) = self.ecn.end_round()
                && !self.full
            {
                self.ecn.startup_rounds = if share >= THRESH { self.ecn.startup_rounds + 1 } else { 0 };
                if self.ecn.startup_rounds >= FULL_ROUNDS {
                    self.end_startup();
                }
            }
        }
        self.ecn.in_round |= self.ecn.eligible && ack.ece;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Ecn = Ecn {
        max_rtt_us: 0,
        delivered: 0,
        marked: 0,
        alpha: 256,
        startup_rounds: 0,
        on: true,
        eligible: true,
        in_round: true,
    };

    #[test]
    fn the_share_is_smoothed_by_a_sixteenth() {
        // 256 x 15/16 = 240, + 0; then 240 x 15/16 = 225, + 16 x 128/256 = 8.
        let mut e = Ecn { delivered: 10, ..FRESH };
        assert_eq!((e.end_round(), e.alpha), (Some(0), 240));
        (e.delivered, e.marked) = (10, 5);
        assert_eq!((e.end_round(), e.alpha), (Some(128), 233));
        // A round without arrivals changes nothing.
        assert_eq!((e.end_round(), e.alpha), (None, 233));
    }

    #[test]
    fn the_cut_is_a_third_of_the_share() {
        // If all segments were marked, 256 - 85 = 171 of 256 are kept: 66 of 100. If alpha is half: 256 - 42 = 214: 83
        // of 100.
        assert_eq!(
            (FRESH.cut(100), Ecn { alpha: 128, ..FRESH }.cut(100), Ecn { in_round: false, ..FRESH }.cut(100)),
            (Some(66), Some(83), None)
        );
    }

    #[test]
    fn half_is_not_too_much_and_one_more_is() {
        let rs = |ce, delivered| RateSample { ce, delivered, ..RateSample::default() };
        assert_eq!(
            (
                FRESH.too_high(&rs(5, 10)),
                FRESH.too_high(&rs(6, 10)),
                Ecn { eligible: false, ..FRESH }.too_high(&rs(9, 10))
            ),
            (false, true, false)
        );
    }
}
