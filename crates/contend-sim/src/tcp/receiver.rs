//! The receiving end of a TCP connection: reassembly, and the time and content of acknowledgments.
//!
//! The application reads data immediately, so the advertised window never becomes narrower. The receiver sends D-SACK
//! if the recovery of the sender uses it.

use super::accecn::{AccurateEcn, Counters};
use super::receive_window::ReceiveWindow;
use super::spec::{EcnEcho, EndsSpec, Handshake, TcpSpec};
use super::{Io, SegmentFormat, rtt, ticks};
use crate::stats::{Durations, ReceiverCounters, count};
use contend_core::Refusal;
use contend_core::explicit::Echo;
use contend_core::{Body, Ecn, Flags, FlowId, Packet, Sack, Segment, Span, Time};
use std::collections::VecDeque;

/// Retransmissions of the SYN-ACK without a response, after which the receiver waits for the sender to send its SYN
/// again.
const SYN_ACKS: u32 = 5;

/// The receiving end of a TCP connection.
#[derive(Debug)]
pub struct Receiver {
    flow: FlowId,
    format: SegmentFormat,
    window: ReceiveWindow,
    opening: Option<Opening>,
    /// Next byte expected.
    nxt: u64,
    /// The sequence number of this end: 1 after a handshake, because this end sends no data.
    seq: u64,
    /// Data that arrived beyond `nxt`: disjoint byte ranges in order, with holes between them.
    ahead: VecDeque<(u64, u64)>,
    /// The ranges of `ahead` that changed last, newest first (RFC 2018 §4).
    recent: [(u64, u64); 4],
    recent_len: usize,
    /// Segments that arrived in order and are not acknowledged.
    pending: u32,
    /// Deadline of a delayed acknowledgment, or of the next SYN-ACK.
    deadline: Time,
    ack_every: u32,
    ack_delay: Span,
    /// The most segments in a row that are acknowledged at once, and how many are left.
    quick_acks: [u32; 2],
    /// True if what arrives in one instant is acknowledged together.
    gro: bool,
    blocks: usize,
    /// True if the receiver must send D-SACK.
    dsack: bool,
    /// The duplicate range that the next acknowledgment reports.
    duplicate: Option<(u64, u64)>,
    tick: Option<Span>,
    /// The timestamp to echo (RFC 7323 §4.3, TS.Recent).
    ts_recent: u32,
    /// Acknowledgment field of the last ACK (RFC 7323 §4.3, Last.ACK.sent).
    last_ack: u64,
    ecn: EcnEcho,
    /// True if acknowledgments carry ECE.
    echo: bool,
    /// The counters of accurate ECN.
    accurate: Option<Counters>,
    /// Number of nodes that forwarded the latest data packet; acknowledgments report it.
    hops: u8,
    /// The explicit headers to return.
    explicit: Echo,
    received: ReceiverCounters,
    delays: Durations,
}

/// How many of `wanted` quick acknowledgments a receiver sends: Linux's tcp_incr_quickack takes at most the packets of
/// half the window, but two at least.
fn quick_acks(wanted: u32, window: u32, mss: u32) -> u32 {
    wanted.min((window / (2 * mss.max(1))).max(2))
}

/// The state of a connection that is not yet established.
#[derive(Debug)]
struct Opening {
    timeout: rtt::RttEstimator,
    /// True if the SYN-ACK is repeated.
    repeats: bool,
    syn_acks: u32,
    /// The ECN field of the SYN.
    ecn: Ecn,
}

impl Receiver {
    /// A receiver for `flow`. The error says what in `spec` is wrong.
    pub fn new(flow: FlowId, spec: &EndsSpec, tcp: &TcpSpec) -> Result<Receiver, Refusal> {
        let format = SegmentFormat::new(spec.packet, tcp)?;
        // RFC 2018 §3: 40 bytes of options hold four blocks, or three with timestamps.
        let blocks = match (tcp.sack, tcp.timestamps, tcp.ecn) {
            (false, ..) => 0,
            (true, times, EcnEcho::Accurate(how)) => how.most_blocks(times.is_some()),
            (true, None, _) => 4,
            (true, Some(_), _) => 3,
        };
        let window = ReceiveWindow::new(&format, tcp.autotuning);
        Ok(Receiver {
            flow,
            format,
            window,
            opening: (tcp.handshake != Handshake::None).then(|| Opening {
                timeout: rtt::RttEstimator::new(tcp.rto),
                repeats: tcp.handshake == Handshake::Tcp,
                syn_acks: 0,
                ecn: Ecn::NotEct,
            }),
            nxt: 0,
            seq: 0,
            ahead: VecDeque::with_capacity(16),
            recent: [(0, 0); 4],
            recent_len: 0,
            pending: 0,
            deadline: Time::NEVER,
            ack_every: tcp.ack.max(1),
            ack_delay: tcp.ack_delay,
            quick_acks: [quick_acks(tcp.quick_acks, window.bytes(), format.mss); 2],
            gro: tcp.gro,
            blocks,
            dsack: blocks > 0 && (tcp.recovery.entry.build)(&tcp.recovery.args)?.options().dsack,
            duplicate: None,
            tick: tcp.timestamps,
            ts_recent: 0,
            last_ack: 0,
            ecn: tcp.ecn,
            echo: false,
            accurate: tcp.ecn.accurate().map(Counters::new),
            hops: 0,
            explicit: Echo::default(),
            received: ReceiverCounters::default(),
            delays: Durations::new(),
        })
    }

    /// The receiver's counters.
    pub fn received(&self) -> ReceiverCounters {
        let held_bytes = self.ahead.iter().map(|(start, end)| end - start).sum();
        ReceiverCounters { held_bytes, ..self.received }
    }

    /// One-way delays, from first transmission to first arrival.
    pub fn delays(&self) -> &Durations {
        &self.delays
    }

    /// Clears the histogram of delays.
    pub fn clear_histograms(&mut self) {
        self.delays.clear();
    }

    /// The next deadline.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Sends the delayed acknowledgment or the SYN-ACK that is due. Returns the next deadline.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        if io.now >= self.deadline {
            match &mut self.opening {
                Some(o) if o.syn_acks > SYN_ACKS => self.deadline = Time::NEVER,
                Some(o) => {
                    o.timeout.back_off();
                    self.syn_ack(io);
                }
                None => self.acknowledge(io),
            }
        }
        self.deadline
    }

    /// Takes a packet from the sender. Returns the next deadline.
    pub fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        if let Some(s) = p.segment() {
            if p.explicit_kind() != 0 {
                self.explicit.arrived(p);
            }
            if s.flags.has(Flags::SYN) {
                self.syn(p, s, io);
            } else {
                self.segment(p, s, io);
            }
        }
        self.deadline
    }

    fn syn(&mut self, p: &Packet, s: &Segment, io: &mut Io<'_, '_>) {
        self.ts_recent = s.tsval;
        if let Some(opening) = &mut self.opening {
            opening.ecn = p.ecn();
            self.nxt = 1;
            self.seq = 1;
            // RFC 9768 §3.1.2, table 2.
            match (self.ecn, s.flags.ace()) {
                (EcnEcho::Accurate(_), 0b111) => {}
                (EcnEcho::Accurate(_), 0b011) => (self.ecn, self.accurate) = (EcnEcho::Latch, None),
                (_, 0b011 | 0b111) => {}
                _ => (self.ecn, self.accurate) = (EcnEcho::Off, None),
            }
            self.syn_ack(io);
        } else {
            self.acknowledge(io);
        }
    }

    fn segment(&mut self, p: &Packet, s: &Segment, io: &mut Io<'_, '_>) {
        if self.opening.take().is_some() {
            self.deadline = Time::NEVER;
        }
        // RFC 7323 §4.3 (2): the timestamp of the earliest segment that the next ACK acknowledges is echoed.
        if s.timestamps && s.seq <= self.last_ack && s.tsval.wrapping_sub(self.ts_recent) < 1 << 31 {
            self.ts_recent = s.tsval;
        }
        if let Some(counters) = &mut self.accurate {
            counters.arrived(p.ecn(), s.len);
        }
        if s.len == 0 {
            // RFC 9293 §3.10.7.4: a segment with an old sequence number (a window probe) is acknowledged; an expected
            // ACK is not.
            if s.seq < self.nxt {
                self.acknowledge(io);
            }
            return;
        }
        self.received.arrived(p);
        self.hops = p.hops;
        self.mark(p, s, io);

        let end = s.seq + u64::from(s.len);
        let in_order = s.seq <= self.nxt;
        let before = self.nxt;
        if self.dsack {
            self.duplicate = self.had(s.seq, end).or(self.duplicate);
        }
        let new = if in_order {
            end > before && self.append(end)
        } else {
            end <= before + u64::from(self.window.bytes()) && self.keep(s.seq, end)
        };
        if new {
            self.delays.record(io.now.since(p.sent));
        } else {
            self.received.duplicates += 1;
        }
        self.received.delivered_bytes += self.nxt - before;

        // RFC 5681 §4.2: acknowledges at once if the segment is out of order or fills a hole. Otherwise acknowledges
        // every n-th segment, and at the latest after the maximum delay.
        self.pending += 1;
        let filled = self.nxt > end || !self.ahead.is_empty();
        let [most, quick] = &mut self.quick_acks;
        if !new {
            // What was sent twice shows that an acknowledgment is missed.
            *quick = *most;
        }
        if self.window.grows() {
            if let (true, Some(tick)) = (s.timestamps && s.len >= self.format.mss, self.tick) {
                self.window.echo(s.tsecr, io.now, tick);
            }
            self.window.measure(self.nxt, io.now);
            // Linux does so without SACK in order only, because an opened window makes a duplicate none.
            if new && (in_order || self.blocks > 0) && self.window.opens(s.len) {
                *quick |= 1;
            }
            let ahead = self.ahead.back().map_or(0, |&(_, last)| last - self.nxt);
            self.window.reads(self.nxt, ahead, io.now);
        }
        // The packets of an aggregate pass Linux's stack before the program reads; the reading acknowledges them all.
        let waits = self.gro && io.out.more();
        let marks = self.accurate.as_ref().is_some_and(Counters::is_due);
        if !new || !in_order || filled || (!waits && (marks || *quick > 0 || self.pending >= self.ack_every)) {
            *quick = quick.saturating_sub(1);
            self.acknowledge(io);
        } else if self.deadline == Time::NEVER {
            self.deadline = io.now + self.ack_delay;
        }
    }

    /// Notes the ECN bits of a packet.
    fn mark(&mut self, p: &Packet, s: &Segment, io: &mut Io<'_, '_>) {
        let ce = p.ecn() == Ecn::Ce;
        match self.ecn {
            EcnEcho::Off | EcnEcho::Accurate(_) => {}
            // RFC 3168 §6.1.3: sets ECE from the first mark until CWR. A packet that carries both CWR and a mark sets
            // it again.
            EcnEcho::Latch => self.echo = ce || (self.echo && !s.flags.has(Flags::CWR)),
            EcnEcho::PerPacket => {
                // RFC 8257 §3.2: one ACK covers only marked or only unmarked packets.
                if ce != self.echo && self.pending > 0 {
                    self.acknowledge(io);
                }
                self.echo = ce;
            }
        }
    }

    /// The first part of `start..end` that has arrived before (RFC 2883 §4).
    fn had(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if start < self.nxt {
            return Some((start, end.min(self.nxt)));
        }
        let &(s, e) = self.ahead.get(self.ahead.partition_point(|r| r.1 <= start))?;
        (s < end).then_some((start.max(s), end.min(e)))
    }

    /// Takes in-order data up to `end`, and the ranges that follow without a hole.
    fn append(&mut self, end: u64) -> bool {
        self.nxt = end;
        while let Some(&(start, end)) = self.ahead.front()
            && start <= self.nxt
        {
            self.nxt = self.nxt.max(end);
            self.ahead.pop_front();
        }
        self.forget(|&(start, _), nxt| start <= nxt);
        true
    }

    /// Stores `start..end` until the hole before it is filled. Returns false if the range contains nothing new.
    fn keep(&mut self, mut start: u64, mut end: u64) -> bool {
        // From the first range that reaches `start` to the last that begins by `end`, all ranges merge into one.
        let from = match self.ahead.back() {
            Some(&(_, last)) if last < start => self.ahead.len(),
            Some(&(_, last)) if last == start => self.ahead.len() - 1,
            _ => self.ahead.partition_point(|&(_, e)| e < start),
        };
        let mut to = from;
        while let Some(&(s, e)) = self.ahead.get(to)
            && s <= end
        {
            if s <= start && e >= end {
                self.report(s, e);
                return false;
            }
            (start, end) = (start.min(s), end.max(e));
            to += 1;
        }
        if to > from {
            self.ahead[from] = (start, end);
            self.ahead.drain(from + 1..to);
        } else {
            self.ahead.insert(from, (start, end));
        }
        self.report(start, end);
        true
    }

    /// Puts the range `start..end` first in the list of reported ranges, and removes ranges inside it.
    fn report(&mut self, start: u64, end: u64) {
        self.forget(|&(s, _), _| s >= start && s < end);
        self.recent.copy_within(0..3, 1);
        self.recent[0] = (start, end);
        self.recent_len = (self.recent_len + 1).min(4);
    }

    fn forget(&mut self, gone: impl Fn(&(u64, u64), u64) -> bool) {
        let mut kept = 0;
        for i in 0..self.recent_len {
            if !gone(&self.recent[i], self.nxt) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_len = kept;
    }

    /// Sends an acknowledgment of all in-order data.
    fn acknowledge(&mut self, io: &mut Io<'_, '_>) {
        let mut sack = Sack::NONE;
        // RFC 2883 §4: a duplicate is reported in the first block, and in one acknowledgment only.
        let duplicate = self.duplicate.take();
        for &(start, end) in duplicate.iter().chain(&self.recent[..self.recent_len]).take(self.blocks) {
            sack.push(start.wrapping_sub(self.nxt) as u32, end.wrapping_sub(self.nxt) as u32);
        }
        // RFC 2018 §3: 2 bytes and 8 bytes per block, padded to a multiple of 4.
        let option = if sack.is_empty() { 0 } else { 4 + 8 * sack.blocks().len() as u32 };
        let (flags, counters) = match (&mut self.accurate, self.ecn) {
            (Some(counters), EcnEcho::Accurate(how)) => {
                (counters.leaves(Flags::ACK), how.bytes(self.tick.is_some(), sack.blocks().len()))
            }
            _ => (if self.echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK }, 0),
        };
        self.pending = 0;
        self.deadline = Time::NEVER;
        self.last_ack = self.nxt;
        count(&mut self.received.acks);
        self.emit(self.format.headers + option + counters, flags, &sack, 0, io);
    }

    fn syn_ack(&mut self, io: &mut Io<'_, '_>) {
        let Some(o) = &mut self.opening else { return };
        let copy = o.syn_acks.min(255) as u8;
        o.syn_acks += 1;
        self.deadline = if o.repeats { io.now.saturating_add(o.timeout.rto()) } else { Time::NEVER };
        self.last_ack = 1;
        // RFC 3168 §6.1.1: an ECN-setup SYN-ACK answers an ECN-setup SYN.
        let ecn = match self.ecn {
            EcnEcho::Off => Flags::default(),
            EcnEcho::Latch | EcnEcho::PerPacket => Flags::ECE,
            EcnEcho::Accurate(_) => Flags::default().with_ace(AccurateEcn::answer(o.ecn)),
        };
        self.emit(self.format.syn, Flags::SYN.with(Flags::ACK).with(ecn), &Sack::NONE, copy, io);
    }

    fn emit(&mut self, size: u32, flags: Flags, sack: &Sack, copy: u8, io: &mut Io<'_, '_>) {
        let syn = flags.has(Flags::SYN);
        let s = Segment {
            seq: if syn { 0 } else { self.seq },
            ack: self.nxt,
            len: 0,
            // RFC 7323 §2.2: the window of a SYN is not scaled, so 16 bits hold it.
            window: if syn { self.window.bytes().min(65_535) } else { self.window.bytes() },
            tsval: ticks(io.now, self.tick),
            tsecr: self.ts_recent,
            window_scale: self.format.window_scale,
            timestamps: self.tick.is_some(),
            sack: *sack,
            flags,
            copy,
        };
        let mut p = Packet::new(self.flow, size, io.now, Body::Tcp(s));
        p.set_reverse();
        p.hops_echo = self.hops;
        p.set_sealed(self.format.sealed);
        self.explicit.answer(&mut p);
        if let (Some(counters), false) = (&self.accurate, syn) {
            counters.write(&mut p);
        }
        io.emit(&mut p);
    }
}
