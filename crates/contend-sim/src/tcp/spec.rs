//! The specification of the two ends of a flow: transport, data to send, and times.

use super::accecn::AccurateEcn;
use super::recovery;
use super::rtt::RtoSpec;
use crate::traffic;
use contend_core::Refusal;
use contend_core::explicit::HeaderFormat;
use contend_core::registry::{Amount, Choice};
use contend_core::{Ecn, Span, Time, cc, estimate};

/// The two ends of a flow.
#[derive(Clone, Debug)]
pub struct EndsSpec {
    /// IP packet size in bytes of a full data packet, headers and options included.
    pub packet: u32,
    /// How the flow is carried.
    pub transport: Transport,
    /// What it has to send.
    pub traffic: Choice<traffic::Build>,
    /// When it begins.
    pub start: Start,
    /// When its source stops.
    pub stop: Option<Time>,
    /// The number of bytes that it sends in all; `None` for no limit.
    pub size: Option<u64>,
    /// Time that the sending host needs for each packet before the packet enters the network; `None` for no time.
    pub overhead: Option<UniformSpan>,
}

/// A duration drawn uniformly from `low..=high`; constant if the two are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformSpan {
    /// The minimum.
    pub low: Span,
    /// The maximum, not below `low`.
    pub high: Span,
}

/// When a flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this instant.
    At(Time),
    /// At an instant drawn uniformly from this interval, with the flow's own random stream.
    Uniform(Time, Time),
}

/// How a flow is carried.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Datagrams of the flow's packet size.
    Udp(UdpSpec),
    /// A TCP connection.
    Tcp(Box<TcpSpec>),
}

/// Datagrams.
#[derive(Clone, Debug, Default)]
pub struct UdpSpec {
    /// Their ECN field; a queue may mark them, and nobody answers the marks.
    pub ecn: Ecn,
    /// Explicit congestion control; `None`: the application alone decides the rate.
    pub control: Option<Box<UdpControl>>,
}

/// Explicit congestion control of a UDP flow.
#[derive(Clone, Debug)]
pub struct UdpControl {
    /// Congestion control; it must have an explicit header.
    pub cc: Choice<cc::Build>,
    /// Datagrams for each feedback packet.
    pub ack: u32,
    /// The longest delay of feedback.
    pub ack_delay: Span,
    /// Weight of a new rate in the receiver's exponential average; 1: no average.
    pub average: f64,
}

impl UdpControl {
    /// The explicit header of the datagrams. The error says that the controller has none.
    pub fn header(&self) -> Result<HeaderFormat, Refusal> {
        let none = || {
            let name = self.cc.entry.name;
            Refusal::new(
                format!("datagrams need a controller with an explicit header, and {name} has none"),
                "write cc = \"rcp\"",
            )
        };
        (self.cc.entry.build)(&self.cc.args)?.needs().explicit.ok_or_else(none)
    }
}

/// Both ends of a TCP connection.
#[derive(Clone, Debug)]
pub struct TcpSpec {
    /// The variant's name in results, `newreno`.
    pub name: String,
    /// Congestion control.
    pub cc: Choice<cc::Build>,
    /// Loss recovery.
    pub recovery: Choice<recovery::Build>,
    /// The largest window that the receiver advertises, in packets (full segments) or payload bytes.
    pub window: Amount,
    /// Full data segments per acknowledgment (RFC 5681 §4.2): 1 or 2, larger allowed.
    pub ack: u32,
    /// The longest delay of an acknowledgment.
    pub ack_delay: Span,
    /// Segments at the start of the connection and after a duplicate that are each acknowledged at once: Linux's quick
    /// acknowledgments.
    pub quick_acks: u32,
    /// True if data of one aggregate is acknowledged together: Linux's generic receive offload.
    pub gro: bool,
    /// True if the receiver opens its window step by step, up to `window`: Linux's autotuning of receive buffers.
    pub autotuning: bool,
    /// How the connection opens.
    pub handshake: Handshake,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; `None` for infinite.
    pub initial_ssthresh: Option<u32>,
    /// Selective acknowledgment (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323) with this clock tick; `None` for off.
    pub timestamps: Option<Span>,
    /// `Some` if the segments are encrypted and no node on the path can read them: the bytes that encryption adds to
    /// each packet.
    pub encrypted: Option<u32>,
    /// Window scaling (RFC 7323 §2). Without it the advertised window is at most 65,535 bytes.
    pub window_scaling: bool,
    /// Explicit congestion notification.
    pub ecn: EcnEcho,
    /// The ECN field of data packets, if ECN is in use.
    pub ect: Ecn,
    /// True if retransmissions are ECN-capable, too. RFC 3168 §6.1.5 forbids it.
    pub ect_all: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// True if segments are paced at a rate that follows the window (Linux's rule). A controller that sets its own rate
    /// always paces.
    pub pacing: bool,
    /// How much a sender at a station may have in the station's own queue; `None`: as much as its window permits.
    pub tsq: Option<SmallQueue>,
    /// Retransmission timer.
    pub rto: RtoSpec,
    /// Estimators that only observe, by name. They change nothing.
    pub estimates: Vec<(String, Choice<estimate::Build>)>,
}

/// TCP Small Queues of Linux: how much of a connection may be below its sender, in the queue of its own station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallQueue {
    /// The limit is what the pacing rate sends in 2^-`shift` s.
    pub shift: u32,
    /// The largest limit of a sender that does not pace, in bytes.
    pub most: u64,
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// It is open from the start.
    None,
    /// By SYN, SYN-ACK and ACK (RFC 9293 §3.5).
    Tcp,
    /// By a first segment without data, as in ns-2: it is lost and repeated like data, its acknowledgment is not
    /// repeated, and data answer that.
    Segment,
}

/// How the receiver echoes ECN marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnEcho {
    /// Packets are not ECN-capable.
    Off,
    /// ECE is set from the first mark until CWR (RFC 3168 §6.1.3).
    Latch,
    /// ECE is set if the acknowledged packet was marked.
    PerPacket,
    /// Both ends count marks.
    Accurate(AccurateEcn),
}

impl EcnEcho {
    /// How two ends use accurate ECN; `None` if they do not.
    pub fn accurate(self) -> Option<AccurateEcn> {
        match self {
            EcnEcho::Accurate(how) => Some(how),
            EcnEcho::Off | EcnEcho::Latch | EcnEcho::PerPacket => None,
        }
    }
}
