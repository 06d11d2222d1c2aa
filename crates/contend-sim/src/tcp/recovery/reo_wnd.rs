//! The reordering window of RACK (RFC 8985 §6.2 step 4): how much later than the next segment a segment may arrive, in
//! quarters of the minimum round-trip time.
//!
//! A round trip with a D-SACK, which reports a spurious retransmission, widens the window by a quarter. 16 episodes
//! without a D-SACK reset it.

use super::Args;

/// Number of episodes without a D-SACK after which the window is reset.
const PERSIST: u32 = 16;

/// The reordering window.
#[derive(Clone, Copy, Debug)]
pub struct ReoWnd {
    /// The present and the initial window in quarters of the minimum round-trip time (`RACK.reo_wnd_mult`).
    mult: u64,
    first: u64,
    adaptive: bool,
    /// The next new byte when the window was last widened. Another D-SACK counts only after this byte is acknowledged
    /// (`RACK.dsack_round`).
    round: Option<u64>,
    /// Number of episodes until the window is reset (`RACK.reo_wnd_persist`).
    persist: u32,
}

/// What an acknowledgment says of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reports {
    /// It carried a D-SACK.
    pub dsack: bool,
    /// It ended an episode.
    pub ended: bool,
}

impl ReoWnd {
    /// The initial window, with the parameters `reo_wnd_mult` and `adaptive`.
    pub fn new(args: &Args) -> ReoWnd {
        let first = u64::try_from(args.integer("reo_wnd_mult")).unwrap_or(1);
        ReoWnd { mult: first, first, adaptive: args.flag("adaptive"), round: None, persist: PERSIST }
    }

    /// The window in quarters of the minimum round-trip time.
    pub fn quarters(&self) -> u64 {
        self.mult
    }

    /// Processes an acknowledgment. `una` is the oldest unacknowledged byte, `nxt` the next new one.
    pub fn adapt(&mut self, una: u64, nxt: u64, reports: Reports) {
        self.round = self.round.filter(|&end| una < end);
        if self.round.is_none() && reports.dsack && self.adaptive {
            self.round = Some(nxt);
            self.mult = self.mult.saturating_add(1);
            self.persist = PERSIST;
        } else if reports.ended {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = self.first;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Reports = Reports { dsack: false, ended: false };
    const DUPLICATE: Reports = Reports { dsack: true, ..NOTHING };
    const ENDED: Reports = Reports { ended: true, ..NOTHING };
    const BOTH: Reports = Reports { dsack: true, ended: true };
    const NARROW: ReoWnd = ReoWnd { mult: 1, first: 1, adaptive: true, round: None, persist: PERSIST };

    #[test]
    fn it_grows_once_a_round_trip() {
        let mut w = NARROW;
        // Another D-SACK does not count until the 10 segments sent before the first one are acknowledged.
        let seen = [(0, 10), (4, 12), (9, 19), (10, 20), (11, 21), (20, 30)].map(|(una, nxt)| {
            w.adapt(una, nxt, DUPLICATE);
            w.quarters()
        });
        assert_eq!(seen, [2, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn sixteen_episodes_without_a_duplicate_narrow_it_and_one_with_begins_the_count_anew() {
        let mut w = NARROW;
        w.adapt(0, 1, DUPLICATE);
        (0..15).for_each(|_| w.adapt(1, 2, ENDED));
        assert_eq!(w.quarters(), 2);
        w.adapt(2, 3, BOTH);
        (0..15).for_each(|_| w.adapt(3, 4, ENDED));
        // Acknowledgments that end no episode do not count.
        w.adapt(3, 4, NOTHING);
        assert_eq!(w.quarters(), 3);
        w.adapt(3, 4, ENDED);
        assert_eq!(w.quarters(), 1);
    }
}
