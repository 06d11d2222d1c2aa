//! One end of one flow, as a node.
//!
//! Each end is a separate node. There is no host node with many ends, so that the world finds the end of a packet in
//! one step.

use super::overhead::Overhead;
use super::receiver::Receiver;
use super::sender::Sender;
use super::spec::{EndsSpec, Transport};
use super::udp::{UdpReceiver, UdpSender};
use super::{Io, SenderState, Socket};
use crate::peer::Peer;
use crate::stats::{Durations, ReceiverCounters, SenderCounters, count};
use crate::trace::Event;
use crate::world::{Input, Node, Out};
use contend_core::Refusal;
use contend_core::{FlowId, Packet, Span, Time};

/// One end of one flow.
///
/// With thousands of flows, the time for a packet is the time to load the cache lines that it touches. The small fields
/// therefore stand before the role, in the same line as its beginning.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct End {
    socket: Socket,
    /// Stage that the sender's packets pass before they enter the network; `None` if the stage takes no time.
    overhead: Option<Box<Overhead>>,
    /// [`End::entered`].
    entered: u64,
    /// [`End::arrived`].
    arrived: u64,
    role: Role,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would be one more cache line for every packet")]
enum Role {
    TcpSender(Sender),
    TcpReceiver(Receiver),
    UdpSender(UdpSender),
    UdpReceiver(UdpReceiver),
}

impl End {
    /// The end of `flow`, named `name`, that sends the flow's data. It is attached at `socket`; `seed` is the run's.
    /// The error says what in `spec` is wrong.
    pub fn sender(seed: u64, name: &str, flow: FlowId, spec: &EndsSpec, socket: Socket) -> Result<End, Refusal> {
        let role = match &spec.transport {
            Transport::Tcp(tcp) if tcp.tsq.is_some() && matches!(socket.uplink, Peer::Wire(_)) => {
                return Err("tsq needs a sender whose own station is on the air".into());
            }
            Transport::Tcp(tcp) => Role::TcpSender(Sender::new(seed, name, flow, spec, tcp)?),
            Transport::Udp(udp) => Role::UdpSender(UdpSender::new(seed, name, flow, spec, udp)?),
        };
        let overhead = spec.overhead.map(|law| Box::new(Overhead::new(seed, name, law)));
        Ok(End { socket, role, overhead, entered: 0, arrived: 0 })
    }

    /// The end of `flow` that receives the flow's data. It is attached at `socket`. The error says what in `spec` is
    /// wrong.
    pub fn receiver(flow: FlowId, spec: &EndsSpec, socket: Socket) -> Result<End, Refusal> {
        let role = match &spec.transport {
            Transport::Tcp(tcp) => Role::TcpReceiver(Receiver::new(flow, spec, tcp)?),
            Transport::Udp(udp) => Role::UdpReceiver(UdpReceiver::new(flow, spec, udp.control.as_deref())?),
        };
        Ok(End { socket, role, overhead: None, entered: 0, arrived: 0 })
    }

    /// The next deadline of this end.
    pub fn deadline(&self) -> Time {
        self.role.deadline().min(self.overhead.as_ref().map_or(Time::NEVER, |o| o.deadline()))
    }

    /// Number of packets that the transport has sent and that have not yet entered the network.
    pub fn held(&self) -> u64 {
        self.overhead.as_ref().map_or(0, |o| o.held())
    }

    /// Packets that this end handed to the network: data, acknowledgments, handshake and probes.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// Packets that arrived here, of every kind.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// The counters of a sender.
    pub fn sent(&self) -> Option<SenderCounters> {
        match &self.role {
            Role::TcpSender(s) => Some(s.sent()),
            Role::UdpSender(s) => Some(s.sent()),
            _ => None,
        }
    }

    /// The counters of a receiver.
    pub fn received(&self) -> Option<ReceiverCounters> {
        match &self.role {
            Role::TcpReceiver(r) => Some(r.received()),
            Role::UdpReceiver(r) => Some(r.received()),
            _ => None,
        }
    }

    /// Round-trip samples of a TCP sender.
    pub fn rtt(&self) -> Option<&Durations> {
        self.tcp_sender().map(Sender::rtt_samples)
    }

    /// One-way delays of data packets, from first transmission to first arrival, at the receiver.
    pub fn one_way_delay(&self) -> Option<&Durations> {
        match &self.role {
            Role::TcpReceiver(r) => Some(r.delays()),
            Role::UdpReceiver(r) => Some(r.delays()),
            _ => None,
        }
    }

    /// Clears all histograms at the end of the warm-up.
    pub fn clear_histograms(&mut self) {
        match &mut self.role {
            Role::TcpSender(s) => s.clear_histograms(),
            Role::TcpReceiver(r) => r.clear_histograms(),
            Role::UdpSender(_) => {}
            Role::UdpReceiver(r) => r.clear_histograms(),
        }
    }

    /// The state of a TCP sender, for time series.
    pub fn sender_state(&self) -> Option<SenderState> {
        self.tcp_sender().map(Sender::state)
    }

    /// The share of marks and the score of the queue that a TCP sender's controller keeps.
    pub fn marks(&self) -> [Option<f64>; 2] {
        self.tcp_sender().map_or([None; 2], Sender::marks)
    }

    /// The values of a TCP sender's estimators at `now`, in bytes per second.
    pub fn estimates(&self, now: Time) -> Vec<u64> {
        self.tcp_sender().map_or_else(Vec::new, |s| s.estimates(now).collect())
    }

    /// The completed transfers in order of offer, at most 10,000: when each was offered, and the time until its last
    /// byte was acknowledged.
    pub fn transfers(&self) -> &[(Time, Span)] {
        self.tcp_sender().map_or(&[], Sender::transfers)
    }

    /// The number of transfers that were offered and are not complete; 0 at other ends.
    pub fn unfinished(&self) -> u64 {
        self.tcp_sender().map_or(0, Sender::unfinished)
    }

    /// Completion time of the whole flow, from its start until its last byte was acknowledged (TCP) or its last
    /// datagram was sent (UDP). `None` while the flow is not complete, if it has no end, and at the receiver.
    pub fn completed(&self) -> Option<Span> {
        match &self.role {
            Role::TcpSender(s) => s.completed(),
            Role::UdpSender(s) => s.completed(),
            _ => None,
        }
    }

    fn tcp_sender(&self) -> Option<&Sender> {
        if let Role::TcpSender(s) = &self.role { Some(s) } else { None }
    }
}

impl Role {
    fn deadline(&self) -> Time {
        match self {
            Role::TcpSender(s) => s.deadline(),
            Role::TcpReceiver(r) => r.deadline(),
            Role::UdpSender(s) => s.deadline(),
            Role::UdpReceiver(r) => r.deadline(),
        }
    }

    fn wake(&mut self, io: &mut Io<'_, '_>) -> Time {
        match self {
            Role::TcpSender(s) => s.wake(io),
            Role::TcpReceiver(r) => r.wake(io),
            Role::UdpSender(s) => s.wake(io),
            Role::UdpReceiver(r) => r.wake(io),
        }
    }

    fn packet(&mut self, p: &Packet, io: &mut Io<'_, '_>) -> Time {
        match self {
            Role::TcpSender(s) => s.packet(p, io),
            Role::TcpReceiver(r) => r.packet(p, io),
            Role::UdpSender(s) => s.packet(p, io),
            Role::UdpReceiver(r) => r.packet(p, io),
        }
    }
}

impl Node for End {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        let End { socket, role, overhead, entered, arrived } = self;
        let mut io = Io { now, socket, out, overhead: overhead.as_deref_mut(), entered };
        if io.overhead.is_some() {
            io.release();
        }
        let next = match input {
            Input::Wake => role.wake(&mut io),
            Input::Packet(_, p) => {
                count(arrived);
                io.out.trace.packet(now, Event::Delivered, p);
                role.packet(p, &mut io)
            }
            Input::Left(bytes) => match role {
                Role::TcpSender(s) => s.left(bytes, &mut io),
                _ => role.deadline(),
            },
            Input::Rejected => {
                if let Role::TcpSender(s) = role {
                    s.rejected(now);
                }
                role.deadline()
            }
        };
        next.min(io.overhead.map_or(Time::NEVER, |o| o.deadline()))
    }
}
