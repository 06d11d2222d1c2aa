//! The minimum round-trip time, and ProbeRTT, which empties the queue to measure it (draft-ietf-ccwg-bbr-06 §5.3.4).

use super::{Acks, Bbr3, MIN_CWND, Mode, NONE};
use crate::Cx;
use crate::cc::path::UNIT;
use crate::cc::{Ack, Window};
use crate::time::{Span, Time};

const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_EVERY: Span = Span::from_secs(5);
const PROBE_RTT_TIME: Span = Span::from_millis(200);

impl Bbr3 {
    // §5.3.4.3.
    pub(super) fn update_min_rtt(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.probe_rtt_expired = cx.now > self.probe_rtt_at.saturating_add(PROBE_RTT_EVERY);
        if let Some(rtt) = ack.rtt_us
            && (rtt < self.probe_rtt_us || self.probe_rtt_expired)
        {
            self.probe_rtt_us = rtt;
            self.probe_rtt_at = cx.now;
        }
        if self.probe_rtt_us < self.min_rtt_us || cx.now > self.min_rtt_at.saturating_add(MIN_RTT_WINDOW) {
            self.min_rtt_us = self.probe_rtt_us;
            self.min_rtt_at = self.probe_rtt_at;
        }
        if self.mode != Mode::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save(w);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = Time::NEVER;
            self.acks = Acks::ProbeStopping;
            self.start_round(w);
        }
        if self.mode == Mode::ProbeRtt {
            self.stay_in_probe_rtt(cx, w);
        }
        self.idle_restart &= ack.rate.delivered == 0;
    }

    fn stay_in_probe_rtt(&mut self, cx: &mut Cx, w: &mut Window) {
        // MarkConnectionAppLimited: with so few segments in flight, rate samples are not a measure of the bandwidth.
        w.app_limited = w.delivered.wrapping_add(w.inflight).max(1);
        if self.probe_rtt_done == Time::NEVER {
            if w.inflight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done = cx.now.saturating_add(PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.start_round(w);
            }
            return;
        }
        self.probe_rtt_round |= self.round_start;
        if self.probe_rtt_round && cx.now > self.probe_rtt_done {
            self.probe_rtt_at = cx.now;
            w.cwnd = w.cwnd.max(self.prior_cwnd);
            // §5.3.4.4.
            self.bw_lo_q24 = NONE;
            self.inflight_lo = NONE;
            self.mode = Mode::Startup;
            if self.full {
                self.start_down(cx, w);
                self.mode = Mode::Cruise;
            }
        }
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.volume(UNIT / 2).max(MIN_CWND)
    }
}
