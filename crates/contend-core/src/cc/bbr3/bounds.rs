//! BBR's bounds on rate and volume. Short-term bounds come from losses while cruising, the long-term bound from losses
//! while probing.

use super::{Acks, Bbr3, MIN_CWND, Mode, NONE};
use crate::Cx;
use crate::cc::{Ack, RateSample, Window};

/// True if more than 2 % of the segments in flight were lost (LossThresh; IsInflightTooHigh).
pub(super) fn too_high(lost: u32, in_flight: u32) -> bool {
    u64::from(lost) * 50 > u64::from(in_flight)
}

/// Seven tenths of `n` (Beta), rounded down.
fn beta(n: u32) -> u32 {
    (u64::from(n) * 7 / 10) as u32
}

/// Mode and bounds at the start of a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    bw_lo_q24: u32,
    inflight_lo: u32,
    inflight_hi: u32,
    mode: Mode,
}

impl Bbr3 {
    // §5.5.11 SaveStateUponLoss.
    pub(super) fn save_bounds(&mut self) {
        self.undo = Undo {
            bw_lo_q24: self.bw_lo_q24,
            inflight_lo: self.inflight_lo,
            inflight_hi: self.inflight_hi,
            mode: self.mode,
        };
    }

    // §5.5.11 HandleSpuriousLossDetection.
    pub(super) fn restore_bounds(&mut self, w: &Window) {
        let Undo { bw_lo_q24, inflight_lo, inflight_hi, mode } = self.undo;
        self.loss_in_round = false;
        self.reset_full(0);
        self.bw_lo_q24 = self.bw_lo_q24.max(bw_lo_q24);
        self.inflight_lo = self.inflight_lo.max(inflight_lo);
        self.inflight_hi = self.inflight_hi.max(inflight_hi);
        match mode {
            _ if self.mode == Mode::ProbeRtt || self.mode == mode => {}
            Mode::Startup => self.mode = Mode::Startup,
            Mode::Up => self.start_up(w, 0),
            _ => {}
        }
    }

    // §5.5.10.2 HandleLostPacket.
    pub(super) fn note_loss(&mut self, cx: &mut Cx, w: &Window, lost: &RateSample) {
        if !self.loss_in_round {
            self.loss_round_end = w.delivered;
        }
        self.loss_in_round = true;
        if self.probe_sample && too_high(lost.lost, lost.tx_in_flight) {
            // InflightAtLoss for a packet of one segment. Before this packet was sent, `tx_in_flight - 1` segments were
            // in flight and `lost - 1` were lost, still below the threshold. lost_prefix = (0.02 inflight_prev -
            // lost_prev) / 0.98 is less than one.
            let at_loss = RateSample { tx_in_flight: lost.tx_in_flight.saturating_sub(1), ..*lost };
            self.handle_too_high(cx, w, &at_loss);
        }
    }

    // §5.5.10.3 UpdateLatestDeliverySignals.
    pub(super) fn update_latest(&mut self, w: &Window, ack: &Ack, bw: u32) {
        self.loss_round_start = false;
        self.bw_latest_q24 = self.bw_latest_q24.max(bw);
        self.inflight_latest = self.inflight_latest.max(ack.rate.delivered);
        if ack.rate.delivered > 0 && ack.rate.prior_delivered.wrapping_sub(self.loss_round_end) as i32 >= 0 {
            self.loss_round_end = w.delivered;
            self.loss_round_start = true;
        }
    }

    /// Updates the round count and the maximum bandwidth; once per round, answers losses (UpdateCongestionSignals).
    pub(super) fn update_congestion(&mut self, w: &Window, ack: &Ack, bw: u32) {
        // §5.5.1 UpdateRound.
        self.round_start = ack.rate.delivered > 0 && ack.rate.prior_delivered.wrapping_sub(self.round_end) as i32 >= 0;
        if self.round_start {
            self.start_round(w);
            self.rounds = self.rounds.wrapping_add(1);
            self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
        }
        self.note_marks(ack);
        // §5.5.5 UpdateMaxBw.
        if bw > 0 && (!ack.rate.app_limited || bw >= self.max_bw_q24()) {
            self.max_bw_q24[1] = self.max_bw_q24[1].max(bw);
        }
        if !self.loss_round_start {
            return;
        }
        // AdaptLowerBoundsFromCongestion.
        if !matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up) {
            let inflight_lo = if self.inflight_lo == NONE { w.cwnd } else { self.inflight_lo };
            if self.loss_in_round {
                let bw_lo = if self.bw_lo_q24 == NONE { self.max_bw_q24() } else { self.bw_lo_q24 };
                self.bw_lo_q24 = self.bw_latest_q24.max(beta(bw_lo));
                self.inflight_lo = self.inflight_latest.max(beta(inflight_lo));
            }
            if let Some(cut) = self.ecn.cut(inflight_lo) {
                self.inflight_lo = self.inflight_lo.min(cut);
            }
        }
        self.loss_in_round = false;
        self.ecn.clear();
    }

    /// The long-term bound minus 15 % headroom for other flows (InflightWithHeadroom).
    pub(super) fn with_headroom(&self) -> u32 {
        if self.inflight_hi == NONE {
            return NONE;
        }
        let headroom = (u64::from(self.inflight_hi) * 15 / 100).max(1) as u32;
        self.inflight_hi.saturating_sub(headroom).max(MIN_CWND)
    }

    /// Doubles the growth of the long-term bound (RaiseInflightLongtermSlope).
    pub(super) fn steepen(&mut self, w: &Window) {
        self.up_per = (w.cwnd >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(30);
    }

    /// Updates the long-term model. Returns true if the model chose the next phase (AdaptLongTermModel).
    pub(super) fn adapt_long_term(&mut self, cx: &mut Cx, w: &Window, ack: &Ack) -> bool {
        if self.acks == Acks::ProbeStarting && self.round_start {
            self.acks = Acks::ProbeFeedback;
        }
        if self.acks == Acks::ProbeStopping && self.round_start {
            self.probe_sample = false;
            self.acks = Acks::Nothing;
            if self.in_probe_bw() && !ack.rate.app_limited {
                // §5.5.6: a cycle is over.
                self.max_bw_q24 = [self.max_bw_q24[1], 0];
            }
            if self.in_probe_bw() && self.precautionary && !self.probe_too_high {
                self.start_refill(w);
                return true;
            }
        }
        if self.ecn.too_high(&ack.rate) {
            if self.probe_sample {
                self.handle_too_high(cx, w, &ack.rate);
            }
        } else if self.inflight_hi != NONE && !too_high(ack.rate.lost, ack.rate.tx_in_flight) {
            self.inflight_hi = self.inflight_hi.max(ack.rate.tx_in_flight);
            if self.mode == Mode::Up {
                self.raise_bound(w, ack);
            }
        }
        false
    }

    // ProbeInflightLongtermUpward.
    pub(super) fn raise_bound(&mut self, w: &Window, ack: &Ack) {
        if !w.limited || w.cwnd < self.inflight_hi {
            return;
        }
        self.up_acked = self.up_acked.saturating_add(ack.delivered);
        let steps = self.up_acked / self.up_per.max(1);
        self.up_acked -= steps * self.up_per.max(1);
        self.inflight_hi = self.inflight_hi.saturating_add(steps).min(NONE - 1);
        if self.round_start {
            self.steepen(w);
        }
    }

    // HandleInflightTooHigh.
    pub(super) fn handle_too_high(&mut self, cx: &mut Cx, w: &Window, rs: &RateSample) {
        self.probe_too_high = true;
        self.probe_sample = false;
        if !rs.app_limited {
            self.inflight_hi = rs.tx_in_flight.max(beta(self.target_inflight(w)));
        }
        if self.mode == Mode::Up {
            self.start_down(cx, w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_are_not_too_many_and_one_more_is() {
        assert_eq!((too_high(2, 100), too_high(3, 100), too_high(1, 49), too_high(0, 0)), (false, true, true, false));
    }
}
