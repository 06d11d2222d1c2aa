//! From a [`Scenario`] to a running [`World`], and back from the world to readings.
//!
//! `paths` finds the way of each flow, `build` makes the nodes and wires, `readings` is what a run can be asked.

mod build;
mod paths;
mod readings;

pub use self::paths::{QueueAt, queues_passed};
pub use self::readings::queue_count;

use self::build::Builder;
use crate::peer::NodeId;
use crate::scenario::Scenario;
use crate::tcp::end::End;
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
    /// Whether the access point has control blocks.
    controlled: bool,
    /// Names of the directions of links, in the order of their numbers.
    wires: Vec<String>,
}

/// The cell, when there is one, is the first node.
const CELL: NodeId = NodeId(0);

impl Net {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// When something does not fit together (no path for a flow, a packet too large for the air, an algorithm that
    /// refuses its parameters): the text names the flow, station or link and says what to change.
    pub fn new(scenario: &Scenario) -> Result<Net, String> {
        Builder::new(scenario)?.build()
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        self.world.run_until(end);
    }

    /// Keeps who succeeds on the air from now on, see [`Bss::successes`].
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

    /// Forgets all histograms: the warm-up is over.
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
