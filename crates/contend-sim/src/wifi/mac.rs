//! What sends: a queue, the packet in service, and the rule that says when it may try.

use super::access::Access;
use super::bridge::Host;
use super::counters::StationCounters;
use super::{Contender, StationId};
use crate::loss::Loss;
use crate::stats::QueueMeter;
use contend_core::qdisc::Qdisc;
use contend_core::{Packet, Rng, Span};

/// A station, or a further category of one: its queue and what takes packets from it. What belongs to the station as a
/// whole (losses, host) is used in its own entry only.
#[derive(Debug)]
pub(super) struct Station {
    /// The station it is or belongs to.
    pub(super) owner: StationId,
    /// Who contends for what is in this queue.
    pub(super) mac: Contender,
    /// Its entries by category, when it is a station that has some.
    pub(super) categories: Option<[Contender; 4]>,
    pub(super) queue: Box<dyn Qdisc>,
    /// [`Qdisc::can_bypass`].
    pub(super) bypass: bool,
    /// [`Qdisc::hears_air`].
    pub(super) hears_air: bool,
    pub(super) meter: QueueMeter,
    pub(super) access: Box<dyn Access>,
    /// [`Access::txop`].
    pub(super) txop: Span,
    pub(super) backoff: Rng,
    pub(super) queue_rng: Rng,
    pub(super) loss: Option<(Box<dyn Loss>, Rng)>,
    pub(super) host: Host,
    /// The frame in service.
    pub(super) job: Option<Job>,
    pub(super) sequence: u16,
    pub(super) counters: StationCounters,
}

/// A packet that the MAC is serving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) packet: Packet,
    pub(super) to: StationId,
    pub(super) sequence: u16,
    pub(super) attempt: u8,
    /// Failures counted against the short limit, and against the long one.
    pub(super) short: u32,
    pub(super) long: u32,
    /// Whether its receiver has it, though the sender may not know.
    pub(super) delivered: bool,
}
