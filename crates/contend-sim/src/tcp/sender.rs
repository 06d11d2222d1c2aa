//! The sending end of a TCP connection: what may be sent, and the retransmission timer.
//!
//! The [`Scoreboard`] knows the segments in flight, the recovery decides what to retransmit, and the congestion
//! controller sets the window. This file calls them in order and builds the packets. Nagle's algorithm is off. A
//! segment is full, or the last one that the application has written so far. A retransmission has the same size as the
//! original.

mod control;
mod handshake;
mod output;
mod readings;
mod recovering;

use super::accecn::{Decoder, Report};
use super::app::{App, Does, Transfers};
use super::pacing::Pacer;
use super::rate::DeliveryRate;
use super::recovery::prr::Prr;
use super::recovery::{Enter, HalveFrom, Options, Phase, Recovery, SenderView, Verdict};
use super::rtt::{RttEstimator, micros};
use super::scoreboard::{Covered, Scoreboard};
use super::small_queue::Below;
use super::spec::{EcnEcho, EndsSpec, Handshake, TcpSpec};
use super::{Io, SegmentFormat, ticks};
use crate::rng;
use crate::stats::{ActualCause, Durations, SenderCounters, count};
use contend_core::Refusal;
use contend_core::cc::{Ack, CaState, Cause, Controller, Needs, Response, SSTHRESH_INFINITE, Signal, Window};
use contend_core::estimate::Estimator;
use contend_core::explicit::{ACCECN, RCP_PROBE};
use contend_core::{Cx, Ecn, Flags, FlowId, Packet, Rng, Segment, Span, Time};

/// The sending end of a TCP connection.
#[derive(Debug)]
pub struct Sender {
    flow: FlowId,
    format: SegmentFormat,
    ecn: EcnEcho,
    /// The ECN field of data, if ECN is in use, and whether retransmissions have it, too.
    ect: (Ecn, bool),
    /// The count of marks, with accurate ECN.
    accurate: Option<Decoder>,
    limited_transmit: bool,
    tick: Option<Span>,
    handshake: Handshake,

    app: App,
    connection: Connection,
    /// One past the last byte written.
    written: u64,
    transfers: Transfers,

    board: Scoreboard,
    w: Window,
    cc: Box<dyn Controller>,
    /// Estimators that only observe.
    watch: Vec<Box<dyn Estimator>>,
    rng: Rng,
    needs: Needs,
    recovery: Box<dyn Recovery>,
    options: Options,
    phase: Phase,
    /// The limit of the present fast recovery, if proportional rate reduction is on.
    prr: Option<Prr>,
    /// True if `prr` is the limit after a mark, not of a fast recovery.
    cwr: bool,
    /// Window and threshold before the reduction of the last episode; `None` if a later signal reduced the window.
    before: Option<(u32, u32)>,

    /// The rate sampler; `None` if the controller needs no samples.
    rate: Option<Box<DeliveryRate>>,
    /// True if the pacing rate follows the window by Linux's rule.
    pace: bool,
    pacer: Pacer,
    /// What is below the sender; `None` if that is not limited.
    below: Option<Below>,

    rtt: RttEstimator,
    /// The retransmission, persist or SYN timer. Only one of them is needed at a time.
    timer: Time,
    /// Successive expiries of the timer.
    expiries: u32,
    /// The end of the data that had been sent when the timer last expired; 0 before.
    expired_at: u64,
    /// Number of the last byte that was sent while the congestion window was the limit.
    limited_to: u64,
    /// Segments of limited transmit in the present flight.
    limited_sent: u32,
    /// Duplicate ACKs that counted as delivered segments; a later cumulative acknowledgment covers these segments.
    credit: u32,
    /// The byte with which the present round trip ends.
    round_end: u64,
    /// The next new byte when the window was last reduced.
    reduced_at: u64,
    /// True from a reduction without a timeout until the controller is told that it is complete.
    reducing: bool,
    /// True if the next new segment carries CWR.
    tell_cwr: bool,
    last_ece: bool,
    last_sent: Time,
    /// The last timestamp of the other end.
    ts_recent: u32,
    /// The latest time at which the segment with the last echoed timestamp can have been sent. Kept only for a recovery
    /// that uses times.
    echoed: Option<Time>,
    /// Segments that a timer of the recovery took as lost, and that the controller has not been told of.
    lost: u32,
    /// The receiver's window in bytes.
    rwnd: u32,

    sent: SenderCounters,
    samples: Durations,
    completed: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Closed,
    /// Waits for the SYN-ACK. The number counts the SYNs sent.
    SynSent(u8),
    Established,
}

impl Sender {
    /// A sender for `flow`. The error says what in `spec` is wrong.
    pub fn new(seed: u64, name: &str, flow: FlowId, spec: &EndsSpec, tcp: &TcpSpec) -> Result<Sender, Refusal> {
        let format = SegmentFormat::new(spec.packet, tcp)?;
        let recovery = (tcp.recovery.entry.build)(&tcp.recovery.args)?;
        let options = recovery.options();
        if options.sack && !tcp.sack {
            return Err(Refusal::new(
                format!("recovery \"{}\" needs selective acknowledgments", tcp.recovery.entry.name),
                "write sack = true",
            ));
        }
        if tcp.timestamps.is_some_and(Span::is_zero) {
            return Err(Refusal::new("the timestamp clock has a tick of zero", "write a longer tick, like \"1ms\""));
        }
        let mut cc = (tcp.cc.entry.build)(&tcp.cc.args)?;
        let needs = cc.needs();
        let first = u64::from(tcp.handshake != Handshake::None);
        let mut w = Window {
            cwnd: tcp.initial_window.max(1),
            ssthresh: tcp.initial_ssthresh.unwrap_or(SSTHRESH_INFINITE),
            rwnd: format.window / format.mss,
            mss: format.mss,
            headers: format.headers,
            snd_una: first,
            snd_nxt: first,
            limited: false,
            tick_ns: tcp.timestamps.map_or(0, |t| u32::try_from(t.as_nanos()).unwrap_or(u32::MAX)),
            ..Window::default()
        };
        cc.on_start(&mut w);
        let mut board = Scoreboard::new(first, format.mss, options.dupthresh);
        if needs.rate || options.times {
            board.keep_changes();
        }
        Ok(Sender {
            flow,
            format,
            ecn: tcp.ecn,
            ect: (tcp.ect, tcp.ect_all),
            accurate: tcp.ecn.accurate().map(Decoder::new),
            limited_transmit: tcp.limited_transmit,
            tick: tcp.timestamps,
            handshake: tcp.handshake,
            app: App::new(seed, name, spec, format.mss)?,
            connection: Connection::Closed,
            written: first,
            transfers: Transfers::default(),
            board,
            w,
            needs,
            watch: tcp.estimates.iter().map(|(_, e)| (e.entry.build)(&e.args)).collect::<Result<_, _>>()?,
            cc,
            rng: rng::stream(seed, name, "cc"),
            recovery,
            options,
            phase: Phase::Open,
            prr: None,
            cwr: false,
            before: None,
            rate: needs.rate.then(Box::default),
            pace: tcp.pacing && !needs.full_control,
            pacer: if needs.full_gaps { Pacer::with_full_gaps() } else { Pacer::default() },
            below: tcp.tsq.map(Below::new),
            rtt: RttEstimator::new(tcp.rto),
            timer: Time::NEVER,
            expiries: 0,
            expired_at: 0,
            limited_to: 0,
            limited_sent: 0,
            credit: 0,
            round_end: 0,
            reduced_at: 0,
            reducing: false,
            tell_cwr: false,
            last_ece: false,
            last_sent: Time::ZERO,
            ts_recent: 0,
            echoed: None,
            lost: 0,
            rwnd: format.window,
            sent: SenderCounters::default(),
            samples: Durations::new(),
            completed: None,
        })
    }

    fn ca_state(&self) -> CaState {
        match self.phase {
            Phase::Fast => CaState::Recovery,
            Phase::Loss => CaState::Loss,
            _ if self.board.una() < self.reduced_at => CaState::Cwr,
            Phase::Disorder => CaState::Disorder,
            Phase::Open => CaState::Open,
        }
    }

    /// The next deadline.
    pub fn deadline(&self) -> Time {
        self.timer.min(self.app.deadline()).min(self.recovery.next_deadline()).min(self.pacer.deadline())
    }

    /// Does what is due. Returns the next deadline.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        if io.now >= self.deadline() {
            if io.now >= self.app.deadline() {
                self.application(io);
            }
            if io.now >= self.recovery.next_deadline() {
                self.recover(io);
            }
            if io.now >= self.timer {
                self.expired(io);
            }
            self.transmit(io);
        }
        self.deadline()
    }

    /// Processes a packet from the receiver. Returns the next deadline.
    pub fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        if self.needs.air {
            self.w.local = io.out.told(io.socket.local);
        }
        if let Some(s) = p.segment() {
            if s.timestamps {
                self.ts_recent = s.tsval;
            }
            match self.connection {
                Connection::Closed => {}
                Connection::SynSent(copies) => {
                    if s.flags.has(Flags::SYN) && s.ack == 1 {
                        self.established(copies, p, s, io);
                    }
                }
                // The other end has not received the ACK of its SYN-ACK.
                Connection::Established if s.flags.has(Flags::SYN) => self.control(self.board.nxt(), io),
                Connection::Established => self.acknowledgment(p, s, io),
            }
        }
        self.deadline()
    }

    /// Packets of so many bytes have left its station: they were sent and acknowledged there, dropped or given up.
    /// Returns the next deadline.
    pub fn left(&mut self, bytes: u32, io: &mut Io<'_, '_>) -> Time {
        if self.below.as_mut().is_some_and(|below| below.leaves(bytes)) {
            self.transmit(io);
        }
        self.deadline()
    }

    /// The next queue dropped one of the sender's packets.
    pub fn rejected(&mut self, now: Time) {
        // At most one reduction per window of data, as for a mark.
        if self.board.una() >= self.reduced_at {
            let r = self.ask(now, None, Signal::Local);
            if r != Response::keep(&self.w) {
                self.reduce(r);
            }
        }
    }

    fn application(&mut self, io: &mut Io<'_, '_>) {
        self.note_limits();
        while let Some(does) = self.app.poll(io.now) {
            match does {
                Does::Write(bytes) => {
                    self.written = self.written.saturating_add(bytes);
                    if bytes < u64::MAX {
                        self.transfers.offer(self.written, io.now);
                    }
                }
                Does::TakeBack => {
                    self.written = self.board.nxt();
                    self.transfers.cut(self.written);
                }
            }
        }
        if self.connection == Connection::Closed && io.now >= self.app.start() {
            if self.handshake == Handshake::None {
                self.connection = Connection::Established;
            } else {
                self.syn(0, io);
            }
        }
    }

    /// Processes an acknowledgment: asks the recovery, reports the acknowledgment to the controller, carries out the
    /// recovery's verdict or the ECN rule, and lets the controller open the window.
    fn acknowledgment(&mut self, p: &Packet, s: &Segment, io: &mut Io<'_, '_>) {
        count(&mut self.sent.acks);
        let before = self.board.una();
        // RFC 9293 §3.10.7.4: old acknowledgments, and those of data that were never sent, are ignored.
        if s.ack < before || s.ack > self.board.nxt() {
            return;
        }
        self.note_limits();
        let advanced = s.ack > before;
        // RFC 5681 §2: a duplicate ACK has no data, does not advance, has the same window, and data are outstanding.
        let mut dup = !advanced
            && self.board.outstanding() > 0
            && s.window == self.rwnd
            && s.len == 0
            && p.explicit_kind() != RCP_PROBE;
        self.advertised(s.window);
        let covered = if advanced { self.board.acknowledge(s.ack) } else { Covered::default() };
        let mut ack = Ack {
            acked: covered.segments,
            ece: s.flags.has(Flags::ECE),
            tsval: s.timestamps.then_some(s.tsval),
            hops: p.hops_echo,
            explicit: (!matches!(p.explicit_kind(), 0 | ACCECN)).then_some(p.explicit),
            ..Ack::default()
        };
        if self.options.sack && !s.sack.is_empty() {
            for &(start, end) in s.sack.ahead() {
                ack.sacked += self.board.sack(s.ack + u64::from(start), s.ack + u64::from(end));
            }
            if self.options.by_count {
                ack.lost = self.board.lose_holes();
            }
        }
        if let (true, true, Some(tick)) = (self.options.times, s.timestamps, self.tick) {
            // The segment was sent before the tick that follows the echoed tick.
            self.echoed = Some(Time::ZERO + tick * (u64::from(s.tsecr) + 1));
        }
        if self.options.sack {
            // RFC 6675 §2: a duplicate is an ACK that selectively acknowledges something new.
            dup = !advanced && ack.sacked > 0;
        }
        ack.dup = dup;
        ack.delivered = self.delivered(&covered, dup, ack.sacked);
        self.read_marks(p, s, &mut ack);
        self.w.delivered = self.w.delivered.wrapping_add(ack.delivered);
        if advanced {
            self.advanced(before, &covered, &mut ack, s, io);
        }
        (ack.srtt_us, ack.rttvar_us, ack.min_rtt_us) = (self.rtt.srtt_us(), self.rtt.rttvar_us(), self.rtt.min_us());
        if self.needs.fine_rtt
            && let Some((srtt, rttvar)) = self.rtt.fine()
        {
            (ack.srtt_us, ack.rttvar_us) = (micros(srtt), micros(rttvar));
        }
        self.last_ece = ack.ece;
        let dsack = s
            .sack
            .duplicate()
            .map(|(start, end)| (s.ack.saturating_add_signed(start.into()), s.ack.saturating_add_signed(end.into())));
        let view = SenderView { dsack, last_sent: covered.last, ..self.view(io.now, &ack, advanced) };
        let verdict = self.recovery.on_ack(&view, &mut self.board);
        ack.lost += verdict.lost + std::mem::take(&mut self.lost);
        self.show_window();
        self.cc.on_every_ack(&mut Cx { now: io.now, rng: &mut self.rng }, &mut self.w, &ack);
        self.watch.iter_mut().for_each(|e| e.on_ack(io.now, &self.w, &ack));

        let reduced = self.obey(verdict, &ack, io);
        if self.reducing {
            self.complete(io.now);
        }
        // RFC 6298 §5.2, §5.3.
        if self.board.outstanding() == 0 {
            self.timer = Time::NEVER;
        } else if advanced && !verdict.keep_timer {
            self.timer = io.now.saturating_add(self.rtt.rto());
        }
        self.tell_losses(io.now);
        self.sample_rate(&mut ack, io.now);
        let grows = !reduced || (self.needs.grow_when_marked && verdict.enter.is_none());
        let grow = verdict.grow && advanced && grows && !self.cwr && (self.w.limited || self.needs.grow_when_unlimited);
        if grow || self.needs.full_control {
            self.show_window();
            self.cc.on_ack(&mut Cx { now: io.now, rng: &mut self.rng }, &mut self.w, &ack);
        }
        self.set_pacing();
        self.transmit(io);
    }

    /// Reads how many segments `ack`, the segment `s` in `p`, reports as marked.
    #[inline]
    fn read_marks(&mut self, p: &Packet, s: &Segment, ack: &mut Ack) {
        if let Some(decoder) = &mut self.accurate {
            ack.ce = decoder.marks(&Report {
                ace: s.flags.ace(),
                ce_bytes: (p.explicit_kind() == ACCECN).then_some(p.explicit.throughput),
                delivered: ack.delivered,
                mss: self.format.mss,
                sack: self.options.sack,
            });
            ack.ece = ack.ce > 0;
        } else {
            ack.ce = if ack.ece { ack.delivered } else { 0 };
        }
        self.sent.delivered_ce += u64::from(ack.ce);
    }

    /// Stores the receiver's window.
    fn advertised(&mut self, window: u32) {
        if window != self.rwnd {
            (self.rwnd, self.w.rwnd) = (window, window / self.format.mss);
        }
    }

    /// Updates the connection after a cumulative acknowledgment.
    fn advanced(&mut self, before: u64, covered: &Covered, ack: &mut Ack, s: &Segment, io: &Io<'_, '_>) {
        self.sent.acked_bytes += s.ack - before;
        self.expiries = 0;
        self.limited_sent = 0;
        // In the spirit of RFC 7661 §4.3: the acknowledged data were sent while the congestion window was the limit,
        // and the receiver's window is not smaller.
        self.w.limited =
            before < self.limited_to && u64::from(self.w.cwnd) * u64::from(self.format.mss) <= u64::from(self.rwnd);
        if let (Some(oldest), Some(newest), false) = (covered.oldest, covered.newest, covered.ambiguous) {
            ack.rtt_us = Some(micros(io.now.since(newest)));
            self.sample(io.now.since(oldest), io.now, s);
        } else if self.tick.is_some() && s.timestamps {
            self.sample(Span::MAX, io.now, s);
        }
        ack.round_start = s.ack > self.round_end;
        if ack.round_start {
            self.round_end = self.board.nxt();
        }
        if self.transfers.acknowledged(s.ack, io.now) {
            self.app.completed(io.now);
        }
        if s.ack == self.written && self.app.ended() && self.completed.is_none() {
            self.completed = Some(io.now.since(self.app.start()));
        }
    }

    /// Number of segments that are first shown to have arrived by this acknowledgment.
    fn delivered(&mut self, covered: &Covered, dup: bool, sacked: u32) -> u32 {
        if self.options.sack {
            return covered.unsacked + sacked;
        }
        if dup {
            let fresh = self.credit + 1 < self.board.outstanding();
            self.credit += u32::from(fresh);
            return u32::from(fresh);
        }
        let counted = self.credit.min(covered.segments.saturating_sub(1));
        self.credit = if self.board.outstanding() == 0 { 0 } else { self.credit - counted };
        covered.segments - counted
    }

    /// Takes a round-trip sample: the echoed timestamp if the option is on, otherwise `exact` from the scoreboard
    /// ([`Span::MAX`] if the scoreboard has none).
    #[inline]
    fn sample(&mut self, exact: Span, now: Time, s: &Segment) {
        let coarse = match self.tick {
            // RFC 7323 §4.1.
            Some(tick) if s.timestamps => tick * u64::from(ticks(now, self.tick).wrapping_sub(s.tsecr).max(1)),
            _ => exact,
        };
        let exact = exact.min(coarse);
        self.samples.record(exact);
        if self.rtt.takes(now, exact) {
            self.rtt.sample(coarse, exact, self.expired_at == 0 || s.ack > self.expired_at);
        }
    }

    /// Carries out the recovery's verdict and the ECN rule. True if the window was reduced.
    #[inline]
    fn obey(&mut self, v: Verdict, ack: &Ack, io: &mut Io<'_, '_>) -> bool {
        let una = self.board.una();
        if v.undo {
            self.undo();
        }
        let reduced = if let Some(enter) = v.enter {
            self.sent.fast_retransmits += 1;
            let before = (self.w.cwnd, self.w.ssthresh);
            let truth = self.truth(io);
            let r = self.ask(io.now, Some(ack), Signal::Loss { seq: una, marked: ack.ece, truth });
            let was = match truth {
                Some(Cause::Congestion) => ActualCause::Congestion,
                Some(Cause::Error) => ActualCause::Error,
                None => ActualCause::Nothing,
            };
            self.sent.judged[was as usize][usize::from(r.cause == Cause::Error)] += 1;
            self.reduce(r);
            self.before = Some(before);
            if enter == Enter::Restart {
                self.w.cwnd = 1;
                self.board.lose_all();
            }
            true
        // RFC 3168 §6.1.2: once per window of data.
        } else if ack.ece
            && self.ecn != EcnEcho::Off
            && if self.needs.every_mark { ack.acked > 0 } else { una > self.reduced_at }
        {
            self.sent.ecn_reductions += 1;
            let r = self.ask(io.now, Some(ack), Signal::Ecn);
            // A controller that answers otherwise than by this reduction may still take back that of a loss.
            let before = self.before.filter(|_| r == Response::keep(&self.w));
            self.reduce(r);
            self.before = before;
            self.cwr = self.options.prr_cwr && !self.needs.every_mark;
            true
        } else {
            false
        };
        if v.keep_extra {
            self.w.cwnd = self.w.cwnd.saturating_add(self.w.extra);
        }
        self.w.extra = v.extra;
        self.phase = self.recovery.phase();
        if v.enter.is_some() {
            self.limited_sent = 0;
        }
        if v.back_off {
            self.rtt.back_off();
        }
        if v.enter.is_some() || v.back_off {
            // The retransmission gets a full timeout, as in ns-2 and Linux.
            self.timer = io.now.saturating_add(self.rtt.rto());
        }
        self.proportion(&v, reduced, ack);
        self.forced(v.send, io);
        reduced
    }

    /// Asks the controller for a reduction.
    fn ask(&mut self, now: Time, ack: Option<&Ack>, why: Signal) -> Response {
        self.show_window();
        // RFC 5681 §3.1 eq. 4: FlightSize, without the segments of limited transmit (RFC 3042 §2). After a timeout: the
        // segments sent since.
        let sent = match self.phase {
            Phase::Loss => self.board.in_flight() + self.board.sacked(),
            // The segments sent before this reduction are still outstanding. They must not raise the threshold above
            // the window.
            Phase::Fast => self.board.outstanding().min(self.w.cwnd),
            Phase::Open | Phase::Disorder => self.board.outstanding(),
        };
        self.w.reduce_from = match self.options.halve_from {
            HalveFrom::Flight => sent.saturating_sub(self.limited_sent),
            HalveFrom::Cwnd => self.w.cwnd,
            HalveFrom::MinCwndRwnd => self.w.cwnd.min(self.w.rwnd),
        };
        self.cc.on_congestion(&mut Cx { now, rng: &mut self.rng }, &self.w, ack, why)
    }

    /// The actual cause of the loss of the first unacknowledged segment's last transmission; only the simulator knows
    /// it.
    fn truth(&self, io: &mut Io<'_, '_>) -> Option<Cause> {
        let head = self.board.head()?;
        io.out.trace.fate(self.flow, self.board.una(), head.seq, head.copies)
    }

    fn reduce(&mut self, r: Response) {
        self.before = None;
        let kept = self.needs.grow_when_marked && r.cwnd == self.w.cwnd;
        if r.cwnd < self.w.cwnd {
            // Linux (tcp_init_cwnd_reduction): a smaller window begins without the credit of the larger one, also if
            // the loss was taken for an error.
            self.w.cwnd_cnt = 0;
        }
        self.w.ssthresh = r.ssthresh;
        self.w.cwnd = r.cwnd.max(1);
        if r.cause == Cause::Error {
            // The controller took the loss for an error, not for congestion. A mark in this window of data may still
            // reduce the window.
            return;
        }
        if !kept {
            self.w.cwnd_cnt = 0;
        }
        self.reduced_at = self.board.nxt();
        self.reducing = true;
        // RFC 3168 §6.1.2: CWR reports every reduction, for any reason.
        self.tell_cwr = matches!(self.ecn, EcnEcho::Latch | EcnEcho::PerPacket);
    }

    /// The timer expired.
    fn expired(&mut self, io: &mut Io<'_, '_>) {
        self.rtt.back_off();
        if let Connection::SynSent(copy) = self.connection {
            return self.syn(copy.saturating_add(1), io);
        }
        self.note_limits();
        self.timer = io.now.saturating_add(self.rtt.rto());
        if self.board.outstanding() == 0 {
            count(&mut self.sent.probes);
            // RFC 9293 §3.8.6.1: a probe of the closed window. It has an old sequence number and no new byte; the
            // receiver acknowledges it.
            return self.control(self.board.una().saturating_sub(1), io);
        }
        self.sent.timeouts += 1;
        self.expiries += 1;
        self.expired_at = self.board.nxt();
        let truth = self.truth(io);
        let r = self.ask(io.now, None, Signal::Timeout { nth: self.expiries, marked: self.last_ece, truth });
        self.reduce(r);
        self.reducing = false;
        self.w.extra = 0;
        self.limited_sent = 0;
        let view = self.view(io.now, &Ack::default(), false);
        self.recovery.on_timeout(&view, &mut self.board);
        self.phase = self.recovery.phase();
        (self.prr, self.cwr) = (None, false);
        self.tell_losses(io.now);
        self.board.forget_changes();
        // The first lost segment is sent at once, whatever is still in the network.
        if let Some(i) = self.board.next_lost() {
            self.resend(i, io);
        }
    }

    /// Updates the window that the controller sees.
    #[inline]
    fn show_window(&mut self) {
        self.w.inflight = self.board.in_flight();
        self.w.snd_una = self.board.una();
        self.w.snd_nxt = self.board.nxt();
        // The lower half of the count: the controller's count is modulo 2^32.
        self.w.sent = self.sent.packets as u32;
        self.w.state = self.ca_state();
    }
}
