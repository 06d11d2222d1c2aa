//! Control blocks of an access point. A control block sees every packet once, from the wires or from the air, before
//! the packet is queued.

use crate::Cx;
use crate::Refusal;
use crate::packet::{FlowId, Packet};
use crate::qdisc::{AirReport, Sink};
use crate::registry::Args;
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Builds a block from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args, &Facts) -> Result<Box<dyn Control>, Refusal>;

mod path;
mod window;

crate::registry!(Build; accf, ack_thinning, fcwa, pilosof, rate_limiter);

/// The side of the access point from which a packet comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The wired side. The packet goes to a station.
    Wire,
    /// The air. The packet goes to the wire or to another station.
    Air,
}

/// One control block. Several blocks form a chain: each block sees the packets that the previous block passes on.
///
/// A block passes every packet on, holds it, or puts it into [`Pass::sink`] with the reason. No packet disappears.
pub trait Control: Debug + Send {
    /// Handles `p`. The block passes `p` on in `out`, changed or not, now or later.
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass);
    /// Called at the announced deadline or earlier.
    fn on_wake(&mut self, _cx: &mut Cx, _out: &mut Pass) {}
    /// The time at which the block wants to be woken; [`Time::NEVER`] if it does not.
    fn next_deadline(&self) -> Time {
        Time::NEVER
    }
    /// Called when an attempt on the air has ended, but only if [`Control::hears_air`] is true.
    fn on_air(&mut self, _report: &AirReport) {}
    /// True if the block needs [`Control::on_air`].
    fn hears_air(&self) -> bool {
        false
    }
    /// Number of packets that the block holds.
    fn held(&self) -> u64 {
        0
    }
}

/// The output of a block. The caller keeps it and uses it again.
#[derive(Debug, Default)]
pub struct Pass {
    /// Packets that are passed on, in order, with the side from which they came.
    pub packets: Vec<(Side, Packet)>,
    /// Packets that are not passed on.
    pub sink: Sink,
}

/// What a block may know about its access point at the start. A deployed block learns this from its configuration.
pub struct Facts<'a> {
    /// Queue limit of the access point in packets; `None` if the queue has no limit in packets.
    pub buffer: Option<u64>,
    /// The true properties of the flows of the run, by flow number, for blocks that do not measure delays.
    pub flows: &'a [FlowFacts],
    /// Mean time in which the access point and one station, both saturated, have one success each. The arguments are
    /// the model and the sizes in bytes of the IP packets of the access point and of the station.
    pub cycle_time: &'a dyn Fn(CycleModel, u32, u32) -> Span,
}

/// The true properties of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// The flow.
    pub flow: FlowId,
    /// True if the flow is an upload, false if it is a download; `None` if it does not pass between air and wire.
    pub up: Option<bool>,
    /// Mean one-way delay of the wired part, without queues.
    pub delay: Span,
    /// Data packets per acknowledgment.
    pub ack: u32,
    /// Payload of a full segment in bytes.
    pub mss: u32,
}

/// The model for the cycle time (Keceli 2008, eqs. M1 and M2 of the renewal and the cycle form).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleModel {
    /// Bianchi's renewal form: busy slots count.
    M1,
    /// The cycle form: backoffs are frozen while the medium is busy.
    M2,
}
