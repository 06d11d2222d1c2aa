//! The interface of the sender to its recovery: what the recovery is told, and what it sends.

use super::Sender;
use crate::tcp::Io;
use crate::tcp::recovery::prr::Prr;
use crate::tcp::recovery::{Forced, Phase, SenderView, Spare, Verdict};
use contend_core::cc::{Ack, CaState};
use contend_core::{Cx, Time};

impl Sender {
    /// What the recovery is told at `now` about `ack`. `advanced` is true if the cumulative acknowledgment moved. An
    /// empty `ack` describes the connection when a timer is due.
    pub(super) fn view(&self, now: Time, ack: &Ack, advanced: bool) -> SenderView {
        SenderView {
            now,
            una: self.board.una(),
            nxt: self.board.nxt(),
            acked: ack.acked,
            advanced,
            dup: ack.dup,
            sacked: ack.sacked,
            dsack: None,
            last_sent: None,
            limited_transmit: self.limited_transmit,
            rtt: self.rtt.fine(),
            min_rtt: self.rtt.min(),
            timeout_at: self.timer,
            echoed: self.echoed,
        }
    }

    /// The recovery's own timer is due.
    pub(super) fn recover(&mut self, io: &mut Io<'_, '_>) {
        self.note_limits();
        let view = self.view(io.now, &Ack::default(), false);
        let fresh = self.fresh() > 0;
        let verdict = self.recovery.on_timer(&view, fresh, &mut self.board);
        if matches!(verdict.send, Some(Forced::Fresh | Forced::Last)) {
            // RFC 8985 §7.3: after a probe, the timer starts again with a full timeout.
            self.timer = io.now.saturating_add(self.rtt.rto());
        }
        self.lost += verdict.lost;
        // The loss counts as marked if the last acknowledgment was marked. A timer does not respond to marks.
        self.obey(verdict, &Ack { ece: self.last_ece && verdict.enter.is_some(), ..Ack::default() }, io);
        self.tell_losses(io.now);
        self.board.forget_changes();
    }

    /// Undoes the reduction of the last episode (Linux: `tcp_undo_cwnd_reduction`). A controller in full control does
    /// this itself.
    pub(super) fn undo(&mut self) {
        let Some((cwnd, ssthresh)) = self.before.take() else { return };
        if !self.needs.full_control {
            self.w.cwnd = self.w.cwnd.max(cwnd);
            self.w.ssthresh = self.w.ssthresh.max(ssthresh);
        }
        self.cc.on_undo(&mut self.w);
    }

    /// Tells the controller when a reduction without a timeout is complete (Linux: `tcp_end_cwnd_reduction`).
    pub(super) fn complete(&mut self, now: Time) {
        self.show_window();
        match self.w.state {
            CaState::Recovery | CaState::Cwr => return,
            // A recovery that restarts like a timeout.
            CaState::Loss => {}
            CaState::Open | CaState::Disorder => {
                self.cc.on_recovered(&mut Cx { now, rng: &mut self.rng }, &mut self.w);
            }
        }
        self.reducing = false;
    }

    /// RFC 9937: how much a fast recovery with proportional rate reduction, or an answer to a mark, may send after this
    /// acknowledgment, by which the window was `reduced` or not.
    pub(super) fn proportion(&mut self, v: &Verdict, reduced: bool, ack: &Ack) {
        // Linux (tcp_fastretrans_alert): the answer to a mark ends above the data that were sent before it.
        self.cwr &= matches!(self.phase, Phase::Open | Phase::Disorder) && self.board.una() <= self.reduced_at;
        if self.phase != Phase::Fast && !self.cwr {
            self.prr = None;
        } else if self.options.prr && !self.needs.full_control {
            let in_flight = self.board.in_flight();
            if v.enter.is_some() || (self.cwr && reduced) {
                // RFC 9937 §6.1: the data whose arrival is not yet known, and those that this acknowledgment reports.
                self.prr = Some(Prr::new(self.board.outstanding() - self.board.sacked() + ack.delivered, in_flight));
            }
            if let Some(prr) = &mut self.prr {
                prr.on_ack(ack.delivered, ack.acked > 0 && v.lost == 0, in_flight, self.w.cwnd);
            }
        }
    }

    /// Segments that may be in the network.
    pub(super) fn limit(&self) -> u32 {
        self.prr.map_or(self.w.cwnd.saturating_add(self.w.extra), |p| p.window())
    }

    /// Sends a segment independent of the window. If the controller is in full control, lost segments wait for its
    /// window and pace; a probe does not.
    pub(super) fn forced(&mut self, what: Option<Forced>, io: &mut Io<'_, '_>) {
        let again = match what {
            None => None,
            Some(Forced::Head) => self.board.lose_head(),
            Some(Forced::Lost) => self.board.next_lost(),
            Some(Forced::Last) => self.board.last(),
            Some(Forced::Fresh) => {
                let len = self.fresh();
                if len > 0 {
                    self.send(len, io);
                }
                None
            }
        };
        if let Some(i) = again
            && !(self.needs.full_control && matches!(what, Some(Forced::Head | Forced::Lost)))
        {
            self.resend(i, io);
        }
    }

    /// What to retransmit if there is room, but no lost segment and no new one.
    pub(super) fn spare(&mut self, now: Time) -> Option<u64> {
        if self.phase != Phase::Fast {
            return None;
        }
        let hole = self.board.next_hole();
        match self.recovery.spare(&self.view(now, &Ack::default(), false), hole.is_some()) {
            Spare::Nothing => None,
            Spare::Hole => hole,
            Spare::Last => self.board.last_hole(),
        }
    }
}
