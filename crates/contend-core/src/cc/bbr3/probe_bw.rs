//! ProbeBW: down to drain the queue, cruise, refill the pipe, up for more (draft-ietf-ccwg-bbr-06 §5.3.3).

use super::{Acks, Bbr3, INIT_CWND, Mode, NONE};
use crate::Cx;
use crate::cc::path::{self, UNIT};
use crate::cc::{Ack, Window};
use crate::time::{Span, Time};
use rand::RngExt as _;

impl Bbr3 {
    // §5.3.3.9.
    pub(super) fn update_cycle(&mut self, cx: &mut Cx, w: &Window, ack: &Ack, bw: u32) {
        if !self.full || self.adapt_long_term(cx, w, ack) {
            return;
        }
        let mode = self.mode;
        if mode == Mode::Down
            && !self.time_to_probe(cx.now, w)
            && w.inflight <= self.with_headroom().min(self.inflight_of_max(w))
        {
            self.mode = Mode::Cruise;
        } else if mode == Mode::Cruise {
            self.time_to_probe(cx.now, w);
        } else if mode == Mode::Refill && self.round_start {
            self.probe_sample = true;
            self.start_up(w, bw);
        } else if mode == Mode::Up && self.time_to_go_down(w, bw) {
            self.probe_too_high = false;
            self.start_down(cx, w);
        }
    }

    /// The volume of the path at the maximum bandwidth, without the short-term bound.
    fn inflight_of_max(&self, w: &Window) -> u32 {
        self.budget(
            w,
            if self.min_rtt_us == NONE { INIT_CWND } else { path::volume(self.max_bw_q24(), self.min_rtt_us, UNIT) },
        )
    }

    fn time_to_probe(&mut self, now: Time, w: &Window) -> bool {
        let waited = now > self.cycle_at.saturating_add(Span::from_micros(u64::from(self.probe_wait_us)));
        // §5.3.3.8.2: probe as often as Reno would lose a packet, at least every 63 rounds.
        let due = waited || self.rounds_since_probe >= self.target_inflight(w).min(63);
        if due {
            self.start_refill(w);
        }
        due
    }

    fn time_to_go_down(&mut self, w: &Window, bw: u32) -> bool {
        if self.probe_too_high && w.inflight >= self.inflight_hi {
            self.precautionary = true;
            return true;
        }
        if w.limited && w.cwnd >= self.inflight_hi {
            self.reset_full(bw);
            return false;
        }
        self.full_now
    }

    pub(super) fn start_down(&mut self, cx: &mut Cx, w: &Window) {
        self.loss_in_round = false;
        self.ecn.clear();
        self.bw_latest_q24 = 0;
        self.inflight_latest = 0;
        self.up_per = NONE;
        // PickProbeWait.
        self.rounds_since_probe = cx.rng.random_range(0..=1u32);
        self.probe_wait_us = 2_000_000 + cx.rng.random_range(0..=1_000_000u32);
        self.cycle_at = cx.now;
        self.acks = Acks::ProbeStopping;
        self.start_round(w);
        self.mode = Mode::Down;
    }

    pub(super) fn start_up(&mut self, w: &Window, bw: u32) {
        self.acks = Acks::ProbeStarting;
        self.start_round(w);
        self.reset_full(bw);
        self.mode = Mode::Up;
        self.steepen(w);
    }

    pub(super) fn start_refill(&mut self, w: &Window) {
        self.bw_lo_q24 = NONE;
        self.inflight_lo = NONE;
        self.up_rounds = 0;
        self.up_acked = 0;
        self.precautionary = false;
        self.acks = Acks::Refilling;
        self.start_round(w);
        self.mode = Mode::Refill;
    }
}
