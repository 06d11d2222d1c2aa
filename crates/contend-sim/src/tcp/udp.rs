//! UDP: one datagram per write, and a counting receiver. With explicit congestion control the sender paces at the rate
//! that the network allows ([`UdpControl`]).

use super::app::{App, Does};
use super::datagram_rate::{Allowed, Feedback};
use super::spec::{EndsSpec, UdpControl, UdpSpec};
use super::{Io, UDP_HEADERS};
use crate::stats::{Durations, ReceiverCounters, SenderCounters};
use contend_core::Refusal;
use contend_core::explicit::RCP_PROBE;
use contend_core::{Body, Ecn, FlowId, Packet, Span, Time};

/// Maximum payload of a datagram in bytes: 65,535 minus the headers (RFC 768, RFC 791 §3.1).
const LARGEST: u64 = 65_507;

/// IP, UDP and explicit header of the datagrams of a flow in bytes. The error says which value is wrong.
pub fn headers(packet: u32, control: Option<&UdpControl>) -> Result<u32, Refusal> {
    let explicit = control.map_or(Ok(0), |c| c.header().map(|h| h.bytes))?;
    let headers = UDP_HEADERS + explicit;
    if packet <= headers {
        return Err(Refusal::new(
            format!("a packet of {packet} B has no room for payload after {headers} B of headers"),
            format!("write at least {} B", headers + 1),
        ));
    }
    Ok(headers)
}

/// The sending end of a UDP flow.
#[derive(Debug)]
pub struct UdpSender {
    flow: FlowId,
    app: App,
    next: u64,
    headers: u32,
    ecn: Ecn,
    /// The rate that the network allows; `None` without explicit congestion control.
    allowed: Option<Box<Allowed>>,
    sent: SenderCounters,
    completed: Option<Span>,
}

impl UdpSender {
    /// A sender for `flow`. The error says what in `spec` is wrong.
    pub fn new(seed: u64, name: &str, flow: FlowId, spec: &EndsSpec, udp: &UdpSpec) -> Result<UdpSender, Refusal> {
        let control = udp.control.as_deref();
        let headers = headers(spec.packet, control)?;
        let full = spec.packet - headers;
        let app = App::new(seed, name, spec, full)?;
        let allowed = control.map(|c| Allowed::new(seed, name, c, full, headers).map(Box::new)).transpose()?;
        let (ecn, sent) = (udp.ecn, SenderCounters::default());
        Ok(UdpSender { flow, app, next: 0, headers, ecn, allowed, sent, completed: None })
    }

    /// The sender's counters.
    pub fn sent(&self) -> SenderCounters {
        self.sent
    }

    /// Time from the start of the flow to its last datagram; `None` until the last datagram is sent.
    pub fn completed(&self) -> Option<Span> {
        self.completed
    }

    /// The next deadline.
    pub fn deadline(&self) -> Time {
        self.app.deadline().min(self.allowed.as_ref().map_or(Time::NEVER, |a| a.deadline()))
    }

    /// Sends the datagrams that are due. Returns the next deadline.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        while let Some(does) = self.app.poll(io.now) {
            match (does, &mut self.allowed) {
                (Does::Write(bytes), Some(allowed)) => allowed.offer(bytes.min(LARGEST) as u32),
                (Does::Write(bytes), None) => self.send(bytes.min(LARGEST) as u32, io),
                (Does::TakeBack, allowed) => allowed.iter_mut().for_each(|a| a.take_back()),
            }
        }
        if self.allowed.is_some() {
            self.release(io);
        }
        if self.app.ended() && self.completed.is_none() {
            self.completed = Some(io.now.since(self.app.start()));
        }
        self.deadline()
    }

    /// Takes a packet from the receiver: feedback. Returns the next deadline.
    pub fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        if let Some(allowed) = &mut self.allowed {
            allowed.feedback(p, io.out.told(io.socket.local), io.now);
            self.release(io);
        }
        self.deadline()
    }

    /// Sends what the allowed rate permits.
    #[inline(never)]
    fn release(&mut self, io: &mut Io<'_, '_>) {
        let Some(allowed) = &mut self.allowed else { return };
        allowed.check(io.now);
        if let Some(len) = allowed.release(io.now) {
            self.send(len, io);
        } else if let Some(probe) = allowed.probe(io.now) {
            let mut p = Packet::new(self.flow, self.headers, io.now, Body::Udp { seq: self.next });
            p.set_explicit(RCP_PROBE, probe);
            self.next += 1;
            io.emit(&mut p);
        }
    }

    #[inline(always)]
    fn send(&mut self, len: u32, io: &mut Io<'_, '_>) {
        let size = len + self.headers;
        let mut p = Packet::new(self.flow, size, io.now, Body::Udp { seq: self.next });
        p.set_ecn(self.ecn);
        if let Some(allowed) = &mut self.allowed {
            allowed.sent(self.next, len, io.now, &mut p);
        }
        self.next += 1;
        self.sent.packets += 1;
        self.sent.bytes += u64::from(size);
        io.emit(&mut p);
    }
}

/// The receiving end of a UDP flow.
#[derive(Debug)]
pub struct UdpReceiver {
    headers: u32,
    /// What it returns to the sender; `None` without explicit congestion control.
    feedback: Option<Box<Feedback>>,
    received: ReceiverCounters,
    delays: Durations,
}

impl UdpReceiver {
    /// A receiver for `flow` that has received nothing. The error says what in `spec` is wrong.
    pub fn new(flow: FlowId, spec: &EndsSpec, control: Option<&UdpControl>) -> Result<UdpReceiver, Refusal> {
        let headers = headers(spec.packet, control)?;
        let feedback = control.map(|c| Box::new(Feedback::new(flow, c, headers)));
        Ok(UdpReceiver { headers, feedback, received: ReceiverCounters::default(), delays: Durations::new() })
    }

    /// The receiver's counters. Every datagram is delivered when it arrives; feedback packets count as
    /// acknowledgments.
    pub fn received(&self) -> ReceiverCounters {
        ReceiverCounters { acks: self.feedback.as_ref().map_or(0, |f| f.sent()), ..self.received }
    }

    /// One-way delays of the datagrams.
    pub fn delays(&self) -> &Durations {
        &self.delays
    }

    /// Clears the histogram of delays.
    pub fn clear_histograms(&mut self) {
        self.delays.clear();
    }

    /// The next deadline.
    pub fn deadline(&self) -> Time {
        self.feedback.as_ref().map_or(Time::NEVER, |f| f.deadline())
    }

    /// Sends the feedback that is due. Returns the next deadline.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        if let Some(feedback) = &mut self.feedback {
            feedback.wake(io);
        }
        self.deadline()
    }

    /// Takes a datagram. Returns the next deadline.
    pub fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        if p.explicit_kind() != RCP_PROBE {
            self.received.arrived(p);
            self.received.delivered_bytes += u64::from(p.size.saturating_sub(self.headers));
            self.delays.record(io.now.since(p.sent));
        }
        if let Some(feedback) = &mut self.feedback {
            feedback.arrived(p, io);
        }
        self.deadline()
    }
}
