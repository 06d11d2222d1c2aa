//! A machine on which flows end: it hands packets to the endpoint they belong to and wakes the endpoint whose deadline has come.

use super::receiver::Receiver;
use super::sender::Sender;
use super::udp::{UdpReceiver, UdpSender};
use super::{Io, SenderState};
use crate::scenario::{FlowSpec, Transport};
use crate::stats::{Durations, Received, Sent};
use crate::trace::Event;
use crate::world::{Deadlines, Input, Node, NodeId, Out, Peer};
use contend_core::{FlowId, Packet, Span, Time};

/// A machine on which flows end.
///
/// Endpoints are kept sorted by (flow, role); one heap holds their deadlines as lower bounds, so a timer that moves later costs nothing.
#[derive(Debug)]
pub struct Host {
    seed: u64,
    uplink: Peer,
    keys: Vec<(FlowId, Role)>,
    ends: Vec<End>,
    deadlines: Deadlines,
}

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Sender,
    Receiver,
}

/// One end of one flow.
#[derive(Debug)]
enum End {
    TcpSender(Box<Sender>),
    TcpReceiver(Box<Receiver>),
    UdpSender(Box<UdpSender>),
    UdpReceiver(Box<UdpReceiver>),
}

impl Host {
    /// A host without flows whose packets go to `uplink`. `seed` is the run's.
    pub fn new(seed: u64, uplink: Peer) -> Host {
        Host { seed, uplink, keys: Vec::new(), ends: Vec::new(), deadlines: Deadlines::default() }
    }

    /// Sends the data of `flow` from here. The error says what in `spec` does not fit. Before [`Host::start`] only.
    pub fn add_sender(&mut self, flow: FlowId, spec: &FlowSpec) -> Result<(), String> {
        let end = match &spec.transport {
            Transport::Tcp(tcp) => End::TcpSender(Box::new(Sender::new(self.seed, flow, spec, tcp)?)),
            Transport::Udp => End::UdpSender(Box::new(UdpSender::new(self.seed, flow, spec)?)),
        };
        self.add(flow, Role::Sender, end)
    }

    /// Receives the data of `flow` here. The error says what in `spec` does not fit. Before [`Host::start`] only.
    pub fn add_receiver(&mut self, flow: FlowId, spec: &FlowSpec) -> Result<(), String> {
        let end = match &spec.transport {
            Transport::Tcp(tcp) => End::TcpReceiver(Box::new(Receiver::new(flow, spec, tcp)?)),
            Transport::Udp => End::UdpReceiver(Box::new(UdpReceiver::new())),
        };
        self.add(flow, Role::Receiver, end)
    }

    /// The first instant the host wants to be woken at; call it once, after the last flow was added.
    pub fn start(&mut self) -> Time {
        self.deadlines = Deadlines::default();
        for end in &self.ends {
            self.deadlines.push(end.deadline());
        }
        self.first()
    }

    /// What the sending end of `flow` counted; `None` when it is not here.
    pub fn sent(&self, flow: FlowId) -> Option<Sent> {
        match self.end(flow, Role::Sender)? {
            End::TcpSender(s) => Some(s.sent()),
            End::UdpSender(s) => Some(s.sent()),
            _ => None,
        }
    }

    /// What the receiving end of `flow` counted; `None` when it is not here.
    pub fn received(&self, flow: FlowId) -> Option<Received> {
        match self.end(flow, Role::Receiver)? {
            End::TcpReceiver(r) => Some(r.received()),
            End::UdpReceiver(r) => Some(r.received()),
            _ => None,
        }
    }

    /// Round-trip samples of the TCP sender of `flow`.
    pub fn rtt(&self, flow: FlowId) -> Option<&Durations> {
        self.tcp_sender(flow).map(Sender::rtt_samples)
    }

    /// One-way delays from first transmission to first arrival of the data packets of `flow`, at its receiver.
    pub fn one_way_delay(&self, flow: FlowId) -> Option<&Durations> {
        match self.end(flow, Role::Receiver)? {
            End::TcpReceiver(r) => Some(r.delays()),
            End::UdpReceiver(r) => Some(r.delays()),
            _ => None,
        }
    }

    /// Empties all histograms, as at the end of a warm-up.
    pub fn clear_histograms(&mut self) {
        for end in &mut self.ends {
            match end {
                End::TcpSender(s) => s.clear_histograms(),
                End::TcpReceiver(r) => r.clear_histograms(),
                End::UdpSender(_) => {}
                End::UdpReceiver(r) => r.clear_histograms(),
            }
        }
    }

    /// The state of the TCP sender of `flow`, for time series.
    pub fn sender_state(&self, flow: FlowId) -> Option<SenderState> {
        self.tcp_sender(flow).map(Sender::state)
    }

    /// Transfers of `flow` that finished: when each was offered, and how long until its last byte was acknowledged (in order of offer, the first 10,000).
    pub fn transfers(&self, flow: FlowId) -> &[(Time, Span)] {
        self.tcp_sender(flow).map_or(&[], Sender::transfers)
    }

    /// How long `flow` took as a whole, from its start until its last byte was acknowledged (TCP) or its last datagram sent (UDP).
    /// `None` while it goes on, when it has no end of its own, or when it does not start here.
    pub fn completed(&self, flow: FlowId) -> Option<Span> {
        match self.end(flow, Role::Sender)? {
            End::TcpSender(s) => s.completed(),
            End::UdpSender(s) => s.completed(),
            _ => None,
        }
    }

    fn tcp_sender(&self, flow: FlowId) -> Option<&Sender> {
        match self.end(flow, Role::Sender)? {
            End::TcpSender(s) => Some(s),
            _ => None,
        }
    }

    fn add(&mut self, flow: FlowId, role: Role, end: End) -> Result<(), String> {
        match self.keys.binary_search(&(flow, role)) {
            Ok(_) => Err(format!("flow {} has this end here already", flow.0)),
            Err(i) => {
                self.keys.insert(i, (flow, role));
                self.ends.insert(i, end);
                self.deadlines.push(Time::NEVER);
                Ok(())
            }
        }
    }

    fn place(&self, flow: FlowId, role: Role) -> Option<usize> {
        match self.keys.as_slice() {
            [only] => (*only == (flow, role)).then_some(0),
            keys => keys.binary_search(&(flow, role)).ok(),
        }
    }

    fn end(&self, flow: FlowId, role: Role) -> Option<&End> {
        self.place(flow, role).map(|i| &self.ends[i])
    }

    fn first(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |(at, _)| at)
    }

    /// Notes that endpoint `i` wants to be woken at `at` and returns the host's own deadline.
    fn lower(&mut self, i: usize, at: Time) -> Time {
        if self.ends.len() == 1 {
            return at;
        }
        self.deadlines.lower(NodeId(i as u32), at);
        self.first()
    }

    fn wake(&mut self, now: Time, out: &mut Out<'_>) -> Time {
        if let [only] = self.ends.as_mut_slice() {
            return only.wake(&mut Io { now, uplink: self.uplink, out });
        }
        while let Some((at, id)) = self.deadlines.first() {
            if at > now {
                return at;
            }
            let next = self.ends[id.0 as usize].wake(&mut Io { now, uplink: self.uplink, out });
            self.deadlines.set(id, next);
        }
        Time::NEVER
    }
}

impl Node for Host {
    fn handle(&mut self, now: Time, input: Input, out: &mut Out<'_>) -> Time {
        match &input {
            Input::Wake => self.wake(now, out),
            Input::Packet(_, p) => {
                let role = if p.reverse { Role::Sender } else { Role::Receiver };
                let Some(i) = self.place(p.flow, role) else { return self.first() };
                out.trace.packet(now, Event::Delivered, p);
                let next = self.ends[i].packet(p, &mut Io { now, uplink: self.uplink, out });
                self.lower(i, next)
            }
            Input::Rejected(flow) => {
                let Some(i) = self.place(*flow, Role::Sender) else { return self.first() };
                let next = self.ends[i].rejected(now);
                self.lower(i, next)
            }
        }
    }
}

impl End {
    fn deadline(&self) -> Time {
        match self {
            End::TcpSender(s) => s.deadline(),
            End::TcpReceiver(r) => r.deadline(),
            End::UdpSender(s) => s.deadline(),
            End::UdpReceiver(_) => Time::NEVER,
        }
    }

    fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        match self {
            End::TcpSender(s) => s.wake(io),
            End::TcpReceiver(r) => r.wake(io),
            End::UdpSender(s) => s.wake(io),
            End::UdpReceiver(_) => Time::NEVER,
        }
    }

    fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        match self {
            End::TcpSender(s) => s.packet(p, io),
            End::TcpReceiver(r) => r.packet(p, io),
            End::UdpSender(s) => s.deadline(),
            End::UdpReceiver(r) => r.packet(io.now, p),
        }
    }

    fn rejected(&mut self, now: Time) -> Time {
        if let End::TcpSender(s) = self {
            s.rejected(now);
        }
        self.deadline()
    }
}
