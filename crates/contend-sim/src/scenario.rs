//! One run, as plain data: what the network is and what flows over it. Everything is resolved: no expressions, no
//! sweeps, no defaults left open.
//!
//! The lab makes a scenario from a point of an experiment file; [`crate::net`] makes a world from a scenario.

use crate::loss;
use crate::tcp::recovery;
use crate::traffic;
use crate::wifi::access::Category;
use crate::wifi::client::Client;
use crate::wifi::phy::Phy;
use contend_core::registry::{Amount, Choice};
use contend_core::{Span, Time, ap, cc, estimate, qdisc};

/// A network and its flows.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seed of every random stream.
    pub seed: u64,
    /// The 802.11 cell, when there is one.
    pub cell: Option<CellSpec>,
    /// Wired hosts and routers.
    pub nodes: Vec<NodeSpec>,
    /// Wired links.
    pub links: Vec<LinkSpec>,
    /// Flows; a packet's [`contend_core::FlowId`] is an index into this list.
    pub flows: Vec<FlowSpec>,
}

/// Somewhere a link or a flow may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The access point (as a bridge; no flow ends in it).
    Ap,
    /// Station number i of the cell, from 0 (the access point is not counted).
    Station(usize),
    /// Wired node number i.
    Node(usize),
}

/// A wired node.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Its name in the file.
    pub name: String,
    /// A host may end flows; a router only forwards. Both forward packets that are not theirs by static shortest path.
    pub router: bool,
}

/// A wired link, both directions.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name in the file: streams and results use it (`<name>` forward, `<name>.reverse` back).
    pub name: String,
    /// One end.
    pub from: Place,
    /// The other end.
    pub to: Place,
    /// The direction from `from` to `to`.
    pub forward: WireSpec,
    /// The direction from `to` to `from`.
    pub reverse: WireSpec,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct WireSpec {
    /// Bits per second; 0 means no sending time at all (infinitely fast).
    pub rate: u64,
    /// One-way propagation delay.
    pub delay: Span,
    /// What waits for it.
    pub queue: Choice<qdisc::Build>,
    /// What it loses, after the queue: a lost packet has used its sending time.
    pub loss: Option<Choice<loss::Build>>,
}

/// A cell in which all hear all.
#[derive(Clone, Debug)]
pub struct CellSpec {
    /// Timing and rates.
    pub phy: Phy,
    /// Medium-access options and limits.
    pub mac: MacSpec,
    /// The access point.
    pub ap: StationSpec,
    /// What sees every packet at the access point before its queue, in this order.
    pub control: Vec<Choice<ap::Build>>,
    /// The stations.
    pub stations: Vec<StationSpec>,
}

/// Medium-access options that hold for the whole cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacSpec {
    /// Attempts of a frame not longer than the RTS threshold, and of an RTS (dot11ShortRetryLimit).
    pub retry_short: u32,
    /// Attempts of a frame longer than the RTS threshold, counted once its RTS was answered (dot11LongRetryLimit).
    pub retry_long: u32,
    /// An MPDU longer than this many bytes is preceded by RTS/CTS; `u32::MAX` for never.
    pub rts_threshold: u32,
    /// Whether a slot in which the medium turns busy counts as one slot of backoff.
    pub busy_slot: BusySlot,
    /// What a station does with a frame that finds the medium idle for long enough.
    pub idle_access: IdleAccess,
    /// What stations wait after a collision.
    pub after_collision: AfterCollision,
}

/// Whether a busy slot counts as backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusySlot {
    /// No: the counter is frozen (DCF).
    Frozen,
    /// Yes: it goes down by one (EDCA; Bianchi's model).
    Counted,
}

/// What a station does with a frame that finds the medium idle for long enough and no backoff pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleAccess {
    /// It sends at once (the standard).
    Immediate,
    /// It waits the inter-frame space and a backoff all the same (ns-2).
    Draw,
}

/// What bystanders wait after a frame they could not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCollision {
    /// Bystanders wait EIFS. A station whose frame collided and ended before the longest one waits DIFS: it has missed
    /// the beginning of the other frame, so that it receives no frame with an error (the standard).
    Eifs,
    /// Bystanders wait EIFS, and so does a station whose frame collided and whose timeout passed before the longest frame
    /// ended (ns-2).
    EifsAll,
    /// All wait DIFS (ns-3 when all transmissions start together).
    Difs,
}

/// A station or the access point.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// Its name: streams and results use it.
    pub name: String,
    /// Data rate in bits per second of frames it sends, and of frames the access point sends to it.
    pub rate: u64,
    /// What waits for its MAC.
    pub queue: Choice<qdisc::Build>,
    /// What its frames (in both directions) lose to a bad channel.
    pub loss: Option<Choice<loss::Build>>,
    /// When it may try.
    pub access: Choice<crate::wifi::access::Build>,
    /// What lies between its host and its MAC, when that is more than its queue.
    pub client: Option<Client>,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Its name: streams and results use it.
    pub name: String,
    /// Where its data come from.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// IP packet size in bytes of a full data packet, headers and options included.
    pub packet: u32,
    /// How it is carried.
    pub transport: Transport,
    /// Which category its packets take in stations that have some, its acknowledgments too.
    pub category: Category,
    /// What it has to send.
    pub traffic: Choice<traffic::Build>,
    /// When it begins.
    pub start: Start,
    /// When its source falls silent.
    pub stop: Option<Time>,
    /// How many bytes it has to send in all.
    pub size: Option<u64>,
}

/// When a flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this instant.
    At(Time),
    /// At an instant drawn evenly from this interval, by the flow's own stream.
    Uniform(Time, Time),
}

/// How a flow is carried.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Datagrams of the flow's packet size.
    Udp,
    /// A TCP connection.
    Tcp(Box<TcpSpec>),
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
    /// Most that the receiver advertises: packets (full segments) or payload bytes.
    pub window: Amount,
    /// Full data segments per acknowledgment (RFC 5681 §4.2): 1 or 2, larger allowed.
    pub ack: u32,
    /// How long an acknowledgment may be held back.
    pub ack_delay: Span,
    /// Whether the connection is opened by a handshake; without one both ends know each other at the start.
    pub handshake: bool,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; `None` for infinite.
    pub initial_ssthresh: Option<u32>,
    /// Selective acknowledgment (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323) with this clock tick; `None` for off.
    pub timestamps: Option<Span>,
    /// Whether nobody on the way can read the segments, and how many bytes that adds to each packet.
    pub encrypted: Option<u32>,
    /// Window scaling (RFC 7323 §2); without it the advertised window stops at 65,535 bytes.
    pub window_scaling: bool,
    /// Explicit congestion notification.
    pub ecn: EcnEcho,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Whether segments are paced at a rate that follows the window (Linux's rule); a controller that sets its own rate
    /// paces in any case.
    pub pacing: bool,
    /// Retransmission timer.
    pub rto: RtoSpec,
    /// Estimators that only watch, by name; they change nothing.
    pub estimates: Vec<(String, Choice<estimate::Build>)>,
}

/// How ECN marks come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnEcho {
    /// Packets are not ECN-capable.
    Off,
    /// ECE is set from the first mark until CWR (RFC 3168 §6.1.3).
    Latch,
    /// ECE says whether the packet acknowledged was marked.
    PerPacket,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoSpec {
    /// Lower bound.
    pub min: Span,
    /// Upper bound.
    pub max: Span,
    /// Value before the first round-trip sample.
    pub initial: Span,
    /// Clock tick G: samples and the timer are rounded up to it.
    pub granularity: Span,
    /// How many expiries pass before the timer starts to double (1: it doubles from the first).
    pub backoff_after: u32,
}
