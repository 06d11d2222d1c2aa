//! The sender's support for controllers that measure the delivery rate or pace.

use super::super::Io;
use super::super::pacing;
use super::Sender;
use contend_core::cc::Ack;
use contend_core::explicit::{RCP, RCP_PROBE};
use contend_core::{Body, Cx, Flags, Packet, Segment, Span, Time};

/// The longest time between two probes for the rate (SYN_DELAY).
const PROBE: Span = Span::from_millis(500);

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
    pub(super) fn held_by_pacer(&mut self, io: &mut Io<'_, '_>) -> bool {
        if !self.pacer.holds(io.now, self.w.pacing_rate) {
            return false;
        }
        // Linux (tcp_is_cwnd_limited): in slow start the window is the limit when more than half of it is in use,
        // because pacing spreads the segments.
        if self.pace && self.w.in_slow_start() && self.board.in_flight() > self.w.cwnd / 2 {
            self.limited_to = self.board.nxt();
        }
        if self.needs.explicit.is_some_and(|h| h.kind == RCP) {
            self.probe(io);
        }
        true
    }

    /// Gives the controller the explicit header of the SYN-ACK.
    #[cold]
    pub(super) fn allowed(&mut self, p: &Packet, now: Time) {
        self.show_window();
        let (srtt_us, rttvar_us, min_rtt_us) = (self.rtt.srtt_us(), self.rtt.rttvar_us(), self.rtt.min_us());
        let ack = Ack { explicit: Some(p.explicit), srtt_us, rttvar_us, min_rtt_us, ..Ack::default() };
        self.cc.on_every_ack(&mut Cx { now, rng: &mut self.rng }, &mut self.w, &ack);
    }

    /// Writes the explicit header of `p` if `p` has data or is a SYN.
    #[cold]
    pub(super) fn stamp(&self, p: &mut Packet) {
        let carries = p.segment().is_some_and(|s| s.len > 0 || s.flags.has(Flags::SYN));
        if let (Some(h), true) = (self.needs.explicit, carries) {
            p.set_explicit(h.kind, self.cc.header(&self.w, self.rtt.srtt_us()));
        }
    }

    /// RCP (Barreto 2012 C3): while the next segment waits longer than a round trip, a packet without data asks for the
    /// rate once in a round trip, and at least every 0.5 s.
    #[cold]
    fn probe(&mut self, io: &mut Io<'_, '_>) {
        let min = self.rtt.min();
        let every = if min.is_zero() { PROBE } else { min.min(PROBE) };
        if self.last_sent.saturating_add(every) <= io.now {
            self.last_sent = io.now;
            let s = Segment { seq: self.board.una().saturating_sub(1), flags: Flags::ACK, ..self.header(io.now) };
            let mut p = Packet::new(self.flow, self.format.headers, io.now, Body::Tcp(s));
            p.set_sealed(self.format.sealed);
            p.set_explicit(RCP_PROBE, self.cc.header(&self.w, self.rtt.srtt_us()));
            self.hand_over(&mut p, io);
        }
        self.pacer.wake_at(self.last_sent.saturating_add(every));
    }
}
