//! Makes a running [`World`] from a [`Scenario`], and reads results from it.
//!
//! `paths` finds the path of each flow, `build` makes the nodes and wires, `readings` returns counters and states.

mod build;
mod paths;
mod readings;

pub use self::paths::{QueueAt, queues_passed};
pub use self::readings::queue_count;

use self::build::Builder;
use crate::peer::NodeId;
use crate::scenario::Scenario;
use crate::tcp::end::End;
use crate::wifi::StationId;
use crate::wifi::bss::Bss;
use crate::world::World;
use contend_core::Time;

/// A running network.
#[derive(Debug)]
pub struct Net {
    /// The event loop with all nodes.
    pub world: World,
    flows: usize,
    /// The first end of the first flow.
    ends: NodeId,
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
    pub fn new(scenario: &Scenario) -> Result<Net, String> {
        Builder::new(scenario)?.build()
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
        for i in 0..2 * self.flows as u32 {
            if let Some(end) = self.world.node_mut::<End>(NodeId(self.ends.0 + i)) {
                end.clear_histograms();
            }
        }
        for i in 0..self.queues().count() {
            if let Some(m) = self.meter(i) {
                m.delay.clear();
            }
        }
    }
}
