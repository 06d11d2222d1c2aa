//! Control blocks of an access point: what sees every packet once, from either side, before the queue it is bound for.

use crate::Cx;
use crate::packet::{FlowId, Packet};
use crate::qdisc::{AirReport, Sink};
use crate::registry::Args;
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Makes a block from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args, &Facts) -> Result<Box<dyn Control>, String>;

mod path;
mod window;

crate::registry!(Build; accf, ack_thinning, fcwa, pilosof, rate_limiter);

/// Which side of the access point a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The wired side: bound for a station.
    Wire,
    /// The air: bound for the wire, or for another station.
    Air,
}

/// One control block. Several stand in a row: what one passes on, the next sees.
///
/// Every packet given to it is passed on, held, or handed to [`Pass::sink`] with the reason; nothing vanishes.
pub trait Control: Debug + Send {
    /// Takes `p`, changed or not, now or later, into `out`.
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass);
    /// The time it asked for has come, or less.
    fn on_wake(&mut self, _cx: &mut Cx, _out: &mut Pass) {}
    /// When it wants to be woken.
    fn next_deadline(&self) -> Time {
        Time::NEVER
    }
    /// An attempt on the air has ended. Called only when it [wants to](Control::hears_air).
    fn on_air(&mut self, _report: &AirReport) {}
    /// Whether [`Control::on_air`] is to be called.
    fn hears_air(&self) -> bool {
        false
    }
    /// Packets it holds.
    fn held(&self) -> u64 {
        0
    }
}

/// Where a block puts packets. Kept by the caller and used again.
#[derive(Debug, Default)]
pub struct Pass {
    /// What goes on, with the side it came from, in order.
    pub packets: Vec<(Side, Packet)>,
    /// What does not.
    pub sink: Sink,
}

/// What a block may know of its access point from the start. A deployed one is told by its configuration.
pub struct Facts<'a> {
    /// How many packets may wait at the access point; `None` when its queue has no limit in packets.
    pub buffer: Option<u64>,
    /// The flows of the run by number: the truth, for blocks that are told delays instead of measuring them.
    pub flows: &'a [FlowFacts],
    /// Mean time in which the access point and one station, both with a packet always waiting, succeed once each: by
    /// model, for IP packets of so many bytes from the access point and from the station.
    pub cycle_time: &'a dyn Fn(CycleModel, u32, u32) -> Span,
}

/// What is true of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// The flow.
    pub flow: FlowId,
    /// Whether its data come from the air; `None` when it does not pass between air and wire.
    pub up: Option<bool>,
    /// Mean one-way delay of its wired part, without queues.
    pub delay: Span,
    /// Data packets per acknowledgment.
    pub ack: u32,
    /// Payload of a full segment in bytes.
    pub mss: u32,
}

/// How a cycle time is computed (Keceli 2008, eqs. M1 and M2 of the renewal and the cycle form).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleModel {
    /// Bianchi's renewal form: counters tick during busy periods.
    M1,
    /// The cycle form: counters freeze.
    M2,
}
