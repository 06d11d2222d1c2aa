//! Explicit congestion control of datagrams: the rate at the sender, and the feedback of the receiver (Barreto 2012
//! §5.2, §5.5).
//!
//! - The sender sends at the smaller of the application's rate and the allowed rate. One datagram may wait. A datagram
//!   that is written while another waits is never sent: the application adapts, and nothing is retransmitted.
//! - A controller with a window allows window / round-trip time. Its window does not grow while the application limits
//!   the rate.
//! - Before the first feedback there is one datagram for each timeout.
//! - The receiver returns one packet for each `ack` datagrams, and at the latest after `ack_delay`: with a large `ack`,
//!   periodically. It says for how long the newest header waited, so that the sender measures the path alone.
//! - Losses of datagrams are not signals. Without feedback for a timeout (RFC 6298) the controller gets a timeout.

use super::rtt::{RttEstimator, micros};
use super::spec::UdpControl;
use super::{Io, RtoSpec};
use crate::rng;
use contend_core::Refusal;
use contend_core::cc::{Ack, Controller, SSTHRESH_INFINITE, Signal, Window};
use contend_core::explicit::{Echo, HeaderFormat, RCP};
use contend_core::observe::Local;
use contend_core::packet::Explicit;
use contend_core::{Body, Cx, FlowId, Packet, Rng, Span, Time};
use std::collections::VecDeque;

/// The longest time between two probes for the rate (SYN_DELAY).
const PROBE: Span = Span::from_millis(500);
/// Number of datagrams without feedback whose times are kept.
const KEPT: usize = 65_536;

/// What the network allows the sender.
#[derive(Debug)]
pub struct Allowed {
    cc: Box<dyn Controller>,
    format: HeaderFormat,
    w: Window,
    rng: Rng,
    rtt: RttEstimator,
    /// Number and time of the datagrams without feedback.
    outstanding: VecDeque<(u64, Time)>,
    /// When feedback is overdue.
    timer: Time,
    /// Successive expiries of the timer.
    expiries: u32,
    /// Payload of the datagram that waits.
    waiting: Option<u32>,
    /// True if a datagram had to wait since the last feedback.
    limited: bool,
    /// When the last datagram left, and its payload; `None` before the first.
    last: Option<(Time, u32)>,
    /// When the last header left, with data or as a probe.
    asked: Time,
}

impl Allowed {
    /// The rate of the flow `name`, whose full datagrams have `full` bytes of payload and `headers` bytes of headers.
    pub fn new(seed: u64, name: &str, spec: &UdpControl, full: u32, headers: u32) -> Result<Allowed, Refusal> {
        let window = Window { mss: full, headers, ssthresh: SSTHRESH_INFINITE, ..Window::default() };
        Ok(Allowed {
            cc: (spec.cc.entry.build)(&spec.cc.args)?,
            format: spec.header()?,
            w: window,
            rng: rng::stream(seed, name, "cc"),
            rtt: RttEstimator::new(RtoSpec::RFC_6298),
            outstanding: VecDeque::new(),
            timer: Time::NEVER,
            expiries: 0,
            waiting: None,
            limited: false,
            last: None,
            asked: Time::ZERO,
        })
    }

    /// The application writes a datagram of `len` bytes.
    pub fn offer(&mut self, len: u32) {
        self.limited |= self.waiting.is_some();
        self.waiting.get_or_insert(len);
    }

    /// The application withdraws what waits.
    pub fn take_back(&mut self) {
        self.waiting = None;
    }

    /// The allowed rate in bytes of payload per second; 0 before the first feedback.
    fn rate(&self) -> u64 {
        match (self.w.pacing_rate, self.rtt.srtt_us()) {
            (0, 0) => 0,
            (0, srtt) => u64::from(self.w.cwnd) * u64::from(self.w.mss) * 1_000_000 / u64::from(srtt),
            (rate, _) => rate,
        }
    }

    /// When the next datagram may leave.
    fn next(&self) -> Time {
        let Some((at, len)) = self.last else { return Time::ZERO };
        let gap = match self.rate() {
            0 => self.rtt.rto(),
            rate => Span::from_nanos(u64::from(len).saturating_mul(1_000_000_000) / rate),
        };
        at.saturating_add(gap)
    }

    /// When to ask for the rate, because the next datagram has to wait for longer than a round trip. RCP only.
    fn next_probe(&self) -> Time {
        if self.format.kind != RCP || self.rate() == 0 {
            return Time::NEVER;
        }
        self.asked.saturating_add(self.rtt.min().min(PROBE))
    }

    /// The next deadline.
    pub fn deadline(&self) -> Time {
        if self.waiting.is_some() { self.timer.min(self.next()).min(self.next_probe()) } else { self.timer }
    }

    /// The payload of the datagram that leaves now.
    pub fn release(&mut self, now: Time) -> Option<u32> {
        self.waiting.filter(|_| self.next() <= now)?;
        self.waiting.take()
    }

    /// The header of a probe that leaves now.
    pub fn probe(&mut self, now: Time) -> Option<Explicit> {
        (self.waiting.is_some() && self.next_probe() <= now).then(|| {
            self.asked = now;
            self.cc.header(&self.w, self.rtt.srtt_us())
        })
    }

    /// Datagram number `seq` leaves in `p`.
    pub fn sent(&mut self, seq: u64, len: u32, now: Time, p: &mut Packet) {
        (self.last, self.asked) = (Some((now, len)), now);
        if self.outstanding.len() == KEPT {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((seq, now));
        if self.timer == Time::NEVER {
            self.timer = now.saturating_add(self.rtt.rto());
        }
        p.set_explicit(self.format.kind, self.cc.header(&self.w, self.rtt.srtt_us()));
    }

    /// Tells the controller if feedback is overdue.
    pub fn check(&mut self, now: Time) {
        if now < self.timer {
            return;
        }
        self.expiries += 1;
        self.rtt.back_off();
        self.timer = now.saturating_add(self.rtt.rto());
        self.w.reduce_from = self.w.cwnd;
        let why = Signal::Timeout { nth: self.expiries, marked: false, truth: None };
        let r = self.cc.on_congestion(&mut Cx { now, rng: &mut self.rng }, &self.w, None, why);
        (self.w.cwnd, self.w.ssthresh) = (r.cwnd.max(1), r.ssthresh);
    }

    /// Feedback `p` arrived at a node that knows `local` of its air.
    pub fn feedback(&mut self, p: &Packet, local: Option<Local>, now: Time) {
        self.w.local = local;
        let Body::Udp { seq } = p.body else { return };
        if p.explicit_kind() == 0 {
            return;
        }
        let mut sent = None;
        while let Some(&(n, at)) = self.outstanding.front()
            && n <= seq
        {
            sent = Some((n, at));
            self.outstanding.pop_front();
        }
        let waited = Span::from_micros(p.explicit.rtt_us.into());
        let sample = sent.filter(|&(n, _)| n == seq).map(|(_, at)| now.since(at).saturating_sub(waited));
        if let Some(rtt) = sample {
            self.rtt.sample(rtt, rtt, true);
        }
        self.expiries = 0;
        self.timer = if self.outstanding.is_empty() { Time::NEVER } else { now.saturating_add(self.rtt.rto()) };
        let ack = Ack {
            acked: u32::from(sent.is_some()),
            rtt_us: sample.map(micros),
            srtt_us: self.rtt.srtt_us(),
            min_rtt_us: self.rtt.min_us(),
            explicit: Some(p.explicit),
            ..Ack::default()
        };
        let before = self.w.cwnd;
        self.cc.on_every_ack(&mut Cx { now, rng: &mut self.rng }, &mut self.w, &ack);
        if !self.limited {
            self.w.cwnd = self.w.cwnd.min(before);
        }
        self.limited = false;
    }
}

/// The feedback of the receiver.
#[derive(Debug)]
pub struct Feedback {
    flow: FlowId,
    headers: u32,
    every: u32,
    delay: Span,
    /// Weight of a new rate in the average.
    weight: f64,
    echo: Echo,
    /// Average of RCP's rate in bytes per second; `None` before the first datagram.
    average: Option<f64>,
    /// Number and time of the newest datagram.
    newest: (u64, Time),
    /// Datagrams since the last feedback.
    pending: u32,
    deadline: Time,
    sent: u64,
}

impl Feedback {
    /// Feedback for `flow`, in packets of `headers` bytes.
    pub fn new(flow: FlowId, spec: &UdpControl, headers: u32) -> Feedback {
        Feedback {
            flow,
            headers,
            every: spec.ack.max(1),
            delay: spec.ack_delay,
            weight: spec.average,
            echo: Echo::default(),
            average: None,
            newest: (0, Time::ZERO),
            pending: 0,
            deadline: Time::NEVER,
            sent: 0,
        }
    }

    /// Number of feedback packets sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// When feedback is due.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// A datagram arrived.
    pub fn arrived(&mut self, p: &Packet, io: &mut Io<'_, '_>) {
        let Body::Udp { seq } = p.body else { return };
        // A datagram that others have overtaken says nothing new.
        if self.average.is_some() && seq < self.newest.0 {
            return;
        }
        let rate = f64::from(p.explicit.throughput);
        self.average = Some(self.average.map_or(rate, |a| a + self.weight * (rate - a)));
        self.newest = (seq, io.now);
        self.echo.arrived(p);
        self.pending += 1;
        if self.pending >= self.every {
            self.answer(io);
        } else if self.deadline == Time::NEVER {
            self.deadline = io.now.saturating_add(self.delay);
        }
    }

    /// Sends the feedback that is due.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) {
        if io.now >= self.deadline {
            self.answer(io);
        }
    }

    fn answer(&mut self, io: &mut Io<'_, '_>) {
        (self.pending, self.deadline) = (0, Time::NEVER);
        self.sent += 1;
        let mut p = Packet::new(self.flow, self.headers, io.now, Body::Udp { seq: self.newest.0 }).reversed();
        self.echo.answer(&mut p);
        p.explicit.rtt_us = micros(io.now.since(self.newest.1));
        if p.explicit_kind() == RCP {
            p.explicit.throughput = self.average.unwrap_or(0.0).clamp(1.0, f64::from(u32::MAX)) as u32;
        }
        io.emit(&mut p);
    }
}
