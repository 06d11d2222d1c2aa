//! Makes a running [`World`] from a [`Scenario`], and reads results from it.
//!
//! `paths` finds the path of each flow, `build` makes the nodes and wires, `readings` returns counters and states.

mod build;
mod paths;
mod readings;

pub use self::build::addresses;
pub use self::paths::{QueueAt, queues_passed};
pub use self::readings::queue_count;

use self::build::Builder;
use crate::gate::{self, Gate};
use crate::peer::NodeId;
use crate::scenario::{Outside, Scenario};
use crate::tcp::end::End;
use crate::wifi::StationId;
use crate::wifi::bss::Bss;
use crate::world::World;
use contend_core::Refusal;
use contend_core::{Address, Packet, Time};

/// A running network.
#[derive(Debug)]
pub struct Net {
    /// The event loop with all nodes.
    pub world: World,
    /// The node of each end of a flow, by address: an [`End`], or the gate.
    ends: Vec<NodeId>,
    /// Where packets enter and leave, if something is outside.
    gate: Option<NodeId>,
    cell: Option<NodeId>,
    /// Names of the cell's stations by [`StationId`](crate::wifi::StationId).
    stations: Vec<String>,
    /// Names of the queues of categories other than best effort.
    category_queue_names: Vec<String>,
    /// The access points with control blocks, and the names of their queues.
    controlled: Vec<(StationId, String)>,
    /// True if stations have routing agents.
    routed: bool,
    /// Names of the directions of links, in the order of their numbers.
    wires: Vec<String>,
}

/// The cell, if there is one, is the first node.
const CELL: NodeId = NodeId(0);

impl Net {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// If a flow has no path, a packet is too large for the air, or an algorithm refuses its parameters. The text names
    /// the flow, station or link and says what to change.
    pub fn new(scenario: &Scenario) -> Result<Net, Refusal> {
        Net::with_outside(scenario, &Outside::default())
    }

    /// Builds the network of `scenario`, of which a part is outside: see [`Net::hand_in`] and [`Net::take_left`].
    ///
    /// # Errors
    /// As [`Net::new`].
    pub fn with_outside(scenario: &Scenario, outside: &Outside) -> Result<Net, Refusal> {
        Builder::new(scenario, outside)?.build()
    }

    /// The address of host number `i` of [`Outside::hosts`].
    pub fn host_address(&self, i: usize) -> Address {
        Address((self.ends.len() + i) as u32)
    }

    /// Runs all events up to and including `at`; then `p` enters from outside. Its addresses are those of a flow that
    /// is outside ([`addresses`]), or of two hosts ([`Net::host_address`]).
    pub fn hand_in(&mut self, at: Time, p: &Packet) {
        if let Some(gate) = self.gate {
            self.world.hand_in(at, gate, gate::OUTSIDE, p);
        }
    }

    /// The packets that have left since the last call, with the time of their exit, in order. `into` is emptied first.
    pub fn take_left(&mut self, into: &mut Vec<(Time, Packet)>) {
        match self.gate.and_then(|id| self.world.node_mut::<Gate>(id)) {
            Some(gate) => gate.take_left(into),
            None => into.clear(),
        }
    }

    /// The gate, if something is outside.
    pub fn gate(&mut self) -> Option<&mut Gate> {
        self.world.node_mut(self.gate?)
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        self.world.run_until(end);
    }

    /// Keeps the successes on the air from now on, see [`Bss::successes`].
    pub fn keep_successes(&mut self) {
        if let Some(cell) = self.cell.and_then(|id| self.world.node_mut::<Bss>(id)) {
            cell.keep_successes();
        }
    }

    /// Keeps up to `limit` frames that start in `from..to`, see [`Bss::frames`].
    pub fn keep_frames(&mut self, from: Time, to: Time, limit: usize) {
        if let Some(cell) = self.cell.and_then(|id| self.world.node_mut::<Bss>(id)) {
            cell.keep_frames(from, to, limit);
        }
    }

    /// Clears all histograms, at the end of the warm-up.
    pub fn clear_histograms(&mut self) {
        for id in &self.ends {
            if let Some(end) = self.world.node_mut::<End>(*id) {
                end.clear_histograms();
            }
        }
        if let Some(gate) = self.gate() {
            gate.clear_histograms();
        }
        for i in 0..self.queues().count() {
            if let Some(m) = self.meter(i) {
                m.delay.clear();
            }
        }
    }
}
