//! The output of a sender: which segment is sent next, and the packets that carry segments.

use super::super::accecn;
use super::super::pacing;
use super::super::rate::Transmission;
use super::super::recovery::Phase;
use super::super::scoreboard::SentSegment;
use super::super::small_queue::Rate;
use super::super::spec::{EcnEcho, Handshake};
use super::super::{Io, ticks};
use super::{Connection, Sender};
use crate::stats::count;
use contend_core::cc::Ack;
use contend_core::{Body, Ecn, Flags, Packet, Segment, Time};

/// The window in bytes that the sender advertises. The sender receives no data.
const OWN_WINDOW: u32 = 65_535;

impl Sender {
    /// Sends what the windows permit: first lost segments, then new data, then segments that the recovery selects (RFC
    /// 6675 §4 NextSeg).
    pub(super) fn transmit(&mut self, io: &mut Io<'_, '_>) {
        if self.connection != Connection::Established {
            return;
        }
        // RFC 3042: without limited transmit, segments that left the network before recovery do not permit new ones.
        let held = if self.limited_transmit || !matches!(self.phase, Phase::Open | Phase::Disorder) {
            0
        } else {
            self.board.sacked()
        };
        loop {
            let flight = self.board.in_flight() + held;
            let room = flight < self.limit();
            let lost = self.board.next_lost();
            let fresh = self.fresh();
            if !room {
                if lost.is_some() || fresh > 0 {
                    self.limited_to = self.board.nxt();
                }
                break;
            }
            if (lost.is_some() || fresh > 0 || self.phase == Phase::Fast) && self.held_by_pacer(io) {
                return self.arm_timer(io);
            }
            if self.below.is_some() && self.held_by_queue(lost.is_some() || fresh == 0) {
                break;
            }
            if let Some(i) = lost {
                self.resend(i, io);
            } else if fresh > 0 {
                self.send(fresh, io);
            } else if let Some(i) = self.spare(io.now) {
                self.resend(i, io);
            } else {
                break;
            }
        }
        self.pacer.idle();
        self.arm_timer(io);
    }

    /// True if so much of the connection is below the sender that it must wait.
    #[cold]
    fn held_by_queue(&mut self, retransmission: bool) -> bool {
        let rate = match self.w.pacing_rate {
            0 => Rate::Estimated(pacing::rate(&self.w, self.board.in_flight(), self.rtt.srtt_us())),
            rate => Rate::Paced(rate),
        };
        // Linux: with at most one packet that is not acknowledged, the sender may always send.
        let may_always = self.board.outstanding() <= 1;
        let Some(below) = &mut self.below else { return false };
        let packet = self.format.mss + self.format.headers;
        below.holds(packet, rate, retransmission) && !may_always
    }

    fn arm_timer(&mut self, io: &Io<'_, '_>) {
        let paced = self.pacer.deadline() < Time::NEVER;
        let closed = self.written > self.board.nxt() && !paced;
        if self.timer == Time::NEVER && (self.board.outstanding() > 0 || closed) {
            // RFC 6298 §5.1. If nothing is outstanding and the pacer holds no segment, the receiver's window is closed,
            // and this is the persist timer.
            self.timer = io.now.saturating_add(self.rtt.rto());
        }
        if self.options.times {
            let view = self.view(io.now, &Ack::default(), false);
            self.recovery.on_sent(&view, &self.board);
        }
    }

    /// Payload of the next new segment; 0 if there is none, or if the receiver's window has no room for it.
    pub(super) fn fresh(&self) -> u32 {
        let unsent = self.written - self.board.nxt();
        if unsent == 0 {
            return 0;
        }
        // RFC 9293 §3.8.6.2.1: no short segment just because the window ends, except if the window is below one
        // segment.
        let len = unsent.min(u64::from(self.format.mss.min(self.rwnd)));
        let edge = self.board.una() + u64::from(self.rwnd);
        if self.board.nxt() + len <= edge { len as u32 } else { 0 }
    }

    #[inline(always)]
    pub(super) fn send(&mut self, len: u32, io: &mut Io<'_, '_>) {
        if self.board.outstanding() == 0 {
            let idle = io.now.since(self.last_sent);
            if idle > self.rtt.rto() || self.needs.full_control {
                self.cc.on_restart(&mut self.w, io.now, idle);
            }
        } else if self.phase == Phase::Disorder && self.board.outstanding() >= self.w.cwnd {
            self.limited_sent += 1;
        }
        let i = self.board.next();
        let sent = if self.board.outstanding() == 0 { Transmission::AfterIdle } else { Transmission::New };
        let copy = self.board.push(len, io.now);
        self.mark(i, sent, io.now);
        let cwr = std::mem::take(&mut self.tell_cwr);
        // RFC 3168 §6.1.5: new data are ECN-capable, retransmissions are not.
        let ecn = if self.ecn == EcnEcho::Off { Ecn::NotEct } else { self.ect.0 };
        let flags = self.ack_flags();
        self.data(copy, ecn, if cwr { flags.with(Flags::CWR) } else { flags }, io);
    }

    pub(super) fn resend(&mut self, i: u64, io: &mut Io<'_, '_>) {
        if let Some(copy) = self.board.resend(i, io.now) {
            self.sent.retransmitted += 1;
            if self.options.times && copy.seq == self.board.una() {
                // Each retransmission of the first segment gets a full timeout (Linux).
                self.timer = io.now.saturating_add(self.rtt.rto());
            }
            self.mark(i, Transmission::Retransmission, io.now);
            let ecn = if self.ect.1 && self.ecn != EcnEcho::Off { self.ect.0 } else { Ecn::NotEct };
            self.data(copy, ecn, self.ack_flags(), io);
        }
    }

    /// Stores the state at a transmission, for the sample of its acknowledgment.
    fn mark(&mut self, i: u64, sent: Transmission, now: Time) {
        if let Some(rate) = &mut self.rate {
            rate.sent(i, now, sent, self.board.in_flight(), &self.w);
        }
    }

    fn data(&mut self, c: SentSegment, ecn: Ecn, flags: Flags, io: &mut Io<'_, '_>) {
        let size = c.len + self.format.headers;
        count(&mut self.sent.packets);
        if let Some(prr) = &mut self.prr {
            prr.sent();
        }
        self.sent.bytes += u64::from(size);
        self.last_sent = io.now;
        self.pacer.sent(io.now, c.len, self.w.pacing_rate);
        let s = Segment { seq: c.seq, len: c.len, flags, copy: c.copies, ..self.header(io.now) };
        self.emit(size, c.first, ecn, s, io);
    }

    /// The flags of a segment. With accurate ECN it reports the marks of what came, which this end never counts: it
    /// gets no data, and acknowledgments are not ECN-capable.
    #[inline]
    fn ack_flags(&self) -> Flags {
        if self.accurate.is_some() { Flags::ACK.with_ace(accecn::FIRST) } else { Flags::ACK }
    }

    /// Sends a segment without data: the last one of the handshake, or a window probe.
    pub(super) fn control(&mut self, seq: u64, io: &mut Io<'_, '_>) {
        let s = Segment { seq, flags: self.ack_flags(), ..self.header(io.now) };
        self.emit(self.format.headers, io.now, Ecn::NotEct, s, io);
    }

    pub(super) fn header(&self, now: Time) -> Segment {
        Segment {
            ack: u64::from(self.handshake != Handshake::None && self.connection == Connection::Established),
            window: OWN_WINDOW,
            tsval: ticks(now, self.tick),
            tsecr: self.ts_recent,
            timestamps: self.tick.is_some(),
            ..Segment::default()
        }
    }

    pub(super) fn emit(&mut self, size: u32, first: Time, ecn: Ecn, s: Segment, io: &mut Io<'_, '_>) {
        let mut p = Packet::new(self.flow, size, first, Body::Tcp(s));
        p.queued = io.now;
        p.set_ecn(ecn);
        p.set_sealed(self.format.sealed);
        if self.needs.explicit.is_some() {
            self.stamp(&mut p);
        }
        self.hand_over(&mut p, io);
    }

    /// Hands `p` to the host, and counts what is below the sender.
    #[inline]
    pub(super) fn hand_over(&mut self, p: &mut Packet, io: &mut Io<'_, '_>) {
        if let Some(below) = &mut self.below {
            below.enters(p.size);
        }
        io.emit(p);
    }
}
