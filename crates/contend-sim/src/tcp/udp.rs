//! UDP: one datagram per write, and a counting receiver.

use super::app::{App, Does};
use super::spec::EndsSpec;
use super::{Io, UDP_HEADERS};
use crate::stats::{Durations, ReceiverCounters, SenderCounters};
use contend_core::{Body, FlowId, Packet, Span, Time};

/// Maximum payload of a datagram in bytes: 65,535 minus the headers (RFC 768, RFC 791 §3.1).
const LARGEST: u64 = 65_507;

/// The sending end of a UDP flow.
#[derive(Debug)]
pub struct UdpSender {
    flow: FlowId,
    app: App,
    next: u64,
    sent: SenderCounters,
    completed: Option<Span>,
}

impl UdpSender {
    /// A sender for `flow`. The error says what in `spec` is wrong.
    pub fn new(seed: u64, name: &str, flow: FlowId, spec: &EndsSpec) -> Result<UdpSender, String> {
        if spec.packet <= UDP_HEADERS {
            return Err(format!(
                "a packet of {} B has no room for payload after {UDP_HEADERS} B of headers; write at least {} B",
                spec.packet,
                UDP_HEADERS + 1
            ));
        }
        let app = App::new(seed, name, spec, spec.packet - UDP_HEADERS)?;
        Ok(UdpSender { flow, app, next: 0, sent: SenderCounters::default(), completed: None })
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
        self.app.deadline()
    }

    /// Sends the datagrams that are due. Returns the next deadline.
    pub fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        while let Some(does) = self.app.poll(io.now) {
            if let Does::Write(bytes) = does {
                let size = bytes.min(LARGEST) as u32 + UDP_HEADERS;
                let body = Body::Udp { seq: self.next };
                self.next += 1;
                self.sent.packets += 1;
                self.sent.bytes += u64::from(size);
                io.emit(&mut Packet::new(self.flow, size, io.now, body));
            }
        }
        if self.app.ended() && self.completed.is_none() {
            self.completed = Some(io.now.since(self.app.start()));
        }
        self.app.deadline()
    }
}

/// The receiving end of a UDP flow.
#[derive(Debug, Default)]
pub struct UdpReceiver {
    received: ReceiverCounters,
    delays: Durations,
}

impl UdpReceiver {
    /// A receiver that has received nothing.
    pub fn new() -> UdpReceiver {
        UdpReceiver::default()
    }

    /// The receiver's counters. Every datagram is delivered when it arrives.
    pub fn received(&self) -> ReceiverCounters {
        self.received
    }

    /// One-way delays of the datagrams.
    pub fn delays(&self) -> &Durations {
        &self.delays
    }

    /// Clears the histogram of delays.
    pub fn clear_histograms(&mut self) {
        self.delays.clear();
    }

    /// Takes a datagram.
    pub fn packet(&mut self, now: Time, p: &Packet) -> Time {
        self.received.arrived(p);
        self.received.delivered_bytes += u64::from(p.size.saturating_sub(UDP_HEADERS));
        self.delays.record(now.since(p.sent));
        Time::NEVER
    }
}
