//! The sender's support for controllers that measure the delivery rate or pace.

use super::super::Io;
use super::super::pacing;
use super::Sender;
use contend_core::cc::Ack;
use contend_core::{Cx, Time};

impl Sender {
    /// Checks whether the application leaves the window unused (draft-ietf-ccwg-bbr §4.1.2.4
    /// CheckIfApplicationLimited). To be called before an acknowledgment, a write or a timer changes anything.
    pub(super) fn note_limits(&mut self) {
        let Some(rate) = &mut self.rate else { return };
        let in_flight = self.board.in_flight();
        rate.begin(in_flight);
        // Linux (tcp_rate_check_app_limited): less than a full segment waits to be sent.
        if self.written - self.board.nxt() < u64::from(self.format.mss)
            && in_flight < self.w.cwnd
            && self.board.next_lost().is_none()
        {
            self.w.app_limited = self.w.delivered.wrapping_add(in_flight).max(1);
        }
    }

    /// Tells the controller of each segment newly taken as lost.
    #[inline]
    pub(super) fn tell_losses(&mut self, now: Time) {
        if self.rate.is_some() {
            self.tell_each_loss(now);
        }
    }

    fn tell_each_loss(&mut self, now: Time) {
        self.show_window();
        if let (Some(rate), Some(changes)) = (&mut self.rate, self.board.changes()) {
            for &i in &changes.lost {
                let lost = rate.lose(i);
                self.cc.on_lost(&mut Cx { now, rng: &mut self.rng }, &mut self.w, &lost);
            }
        }
    }

    /// Gives the acknowledgment its rate sample, and clears the changes of the scoreboard.
    pub(super) fn sample_rate(&mut self, ack: &mut Ack, now: Time) {
        if let (Some(rate), Some(changes)) = (&mut self.rate, self.board.changes()) {
            ack.rate = rate.sample(ack, changes, self.board.first(), now, ack.min_rtt_us, &mut self.w);
        }
        self.board.forget_changes();
    }

    /// Sets the pacing rate by Linux's rule, if the file asks for it and the controller does not set a rate.
    pub(super) fn set_pacing(&mut self) {
        if self.pace {
            self.w.pacing_rate = pacing::rate(&self.w, self.board.outstanding(), self.rtt.srtt_us());
        }
    }

    /// True if the next segment must wait for the pacer although the window has room for it.
    pub(super) fn held_by_pacer(&mut self, io: &Io<'_, '_>) -> bool {
        if !self.pacer.holds(io.now, self.w.pacing_rate) {
            return false;
        }
        // Linux (tcp_is_cwnd_limited): in slow start the window is the limit when more than half of it is in use,
        // because pacing spreads the segments.
        if self.pace && self.w.in_slow_start() && self.board.in_flight() > self.w.cwnd / 2 {
            self.limited_to = self.board.nxt();
        }
        true
    }
}
