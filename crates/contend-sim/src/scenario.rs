//! One run as plain data: the network and its flows. All values are resolved; there are no expressions, sweeps or
//! missing defaults.
//!
//! `contend-experiment` makes a scenario from a point of an experiment file (`reading/file/network.rs`); [`crate::net`]
//! makes a world from a scenario. The modules of wires, of the cell and of the ends of flows define their own
//! specifications, which are also exported here.

pub use crate::link::{BadEntry, Deliveries, RateSteps, WireRate, WireSpec};
pub use crate::mobility::{Area, Point};
pub use crate::tcp::rtt::RtoSpec;
pub use crate::tcp::spec::{
    EcnEcho, EndsSpec, Handshake, SmallQueue, Start, TcpSpec, Transport, UdpControl, UdpSpec, UniformSpan,
};
pub use crate::wifi::access::BusySlot;
pub use crate::wifi::spec::{
    Adjacent, AfterCollision, Aggregation, AirtimeLimit, ApSpec, BeaconSpec, Capture, CellSpec, ChannelSpec, CtsRule,
    ErrorModelSpec, FieldLink, FieldSpec, IdleAccess, MacSpec, RoamSpec, Shadowing, Site, StationSpec, TxopProtection,
};
pub use crate::wifi::walls::Wall;

use crate::rng;
use crate::wifi::access::Category;
use rand::RngExt as _;
use std::sync::Arc;

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

impl Scenario {
    /// A number of the network: it follows from stations, wires and flows, and neither from the seed nor from what is
    /// compared in a network, which are algorithms, queues and rates.
    pub fn fingerprint(&self) -> u64 {
        let mut all = rng::Fnv::default();
        if let Some(cell) = &self.cell {
            all.text(cell.phy.standard.name());
            cell.members().for_each(|s| all.text(&s.name));
        }
        self.nodes.iter().for_each(|n| all.text(&n.name));
        for l in &self.links {
            all.text(&l.name);
            [&l.forward, &l.reverse].into_iter().for_each(|w| all.number(w.delay.as_nanos()));
        }
        for f in &self.flows {
            all.text(&f.name);
            let (Start::At(start) | Start::Uniform(start, _)) = f.ends.start;
            all.number(u64::from(f.ends.packet) << 48 ^ start.as_nanos());
        }
        all.hash()
    }

    /// The same network with this seed, which also draws the ends of flows that are random.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut drawn = Scenario { seed, ..self.clone() };
        for flow in &mut drawn.flows {
            let [from, to] = std::mem::take(&mut flow.random);
            let draw = |among: &[Place], not: Option<Place>, purpose| {
                let others: Vec<Place> = among.iter().copied().filter(|p| Some(*p) != not).collect();
                others.get(rng::stream(seed, &flow.name, purpose).random_range(0..others.len().max(1))).copied()
            };
            let fixed = Some(flow.to).filter(|_| to.is_none());
            let from = from.and_then(|among| draw(&among, fixed, "source")).unwrap_or(flow.from);
            let to = to.and_then(|among| draw(&among, Some(from), "destination")).unwrap_or(flow.to);
            (flow.from, flow.to) = (from, to);
        }
        drawn
    }
}

/// What of a scenario is not simulated but outside: in an emulation, the hosts with their transport.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// For each flow, true if both its ends are outside; flows beyond the end of the list are simulated.
    pub flows: Vec<bool>,
    /// The hosts that may also open flows which the scenario does not have, with each other.
    pub hosts: Vec<Place>,
}

/// A place where a link or a flow may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Access point number i, from 0 (as a bridge; no flow ends in it).
    Ap(usize),
    /// Station number i, from 0 (access points are not counted).
    Station(usize),
    /// Wired node number i.
    Node(usize),
}

/// A wired node.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Its name in the file.
    pub name: String,
    /// True for a router, which only forwards; false for a host, where flows may end. Paths are static and shortest.
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
    /// The stations of which each run draws one instead of `from`, and instead of `to`, for
    /// [`Scenario::with_seed`]. The two ends are never the same.
    pub random: [Option<Arc<[Place]>>; 2],
    /// The category of its packets and acknowledgments, in stations with categories.
    pub category: Category,
    /// The specification of its two ends.
    pub ends: EndsSpec,
}

impl FlowSpec {
    /// The places of which each run takes one: where its data may come from, and where they may go.
    pub fn candidates(&self) -> [Vec<Place>; 2] {
        let [from, to] = self.random.each_ref().map(|among| among.as_ref().map(|places| places.to_vec()));
        [from.unwrap_or_else(|| vec![self.from]), to.unwrap_or_else(|| vec![self.to])]
    }
}
