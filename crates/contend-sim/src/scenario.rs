//! One run, as plain data: what the network is and what flows over it. Everything is resolved: no expressions, no
//! sweeps, no defaults left open.
//!
//! The lab makes a scenario from a point of an experiment file; [`crate::net`] makes a world from a scenario. Wires,
//! the cell and the ends of flows each specify themselves; their specifications are exported here too.

pub use crate::link::WireSpec;
pub use crate::tcp::rtt::RtoSpec;
pub use crate::tcp::spec::{EcnEcho, EndsSpec, Start, TcpSpec, Transport, UniformSpan};
pub use crate::wifi::access::BusySlot;
pub use crate::wifi::spec::{AfterCollision, CellSpec, IdleAccess, MacSpec, StationSpec};

use crate::wifi::access::Category;

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

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Its name: streams and results use it.
    pub name: String,
    /// Where its data come from.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// Which category its packets take in stations that have some, its acknowledgments too.
    pub category: Category,
    /// What its two ends are told.
    pub ends: EndsSpec,
}
