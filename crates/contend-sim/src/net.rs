//! From a [`Scenario`] to a running [`World`], and back from the world to readings.

use crate::link::{Router, Wire};
use crate::scenario::{FlowSpec, Place, Scenario};
use crate::stats::{Durations, QueueMeter, Received, Sent};
use crate::tcp::SenderState;
use crate::tcp::host::Host;
use crate::trace::Trace;
use crate::wifi::cell::{Bridge, Cell, Exit, MAX_PACKET, StationCounters};
use crate::wifi::ledger::Ledger;
use crate::wifi::{AP, StationId};
use crate::world::{NodeId, Peer, World};
use contend_core::{FlowId, Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A running network.
#[derive(Debug)]
pub struct Net {
    /// The event loop with all nodes.
    pub world: World,
    flows: Vec<Ends>,
    cell: Option<NodeId>,
    /// Names of the cell's stations by [`StationId`].
    stations: Vec<String>,
    /// Directions of links, by name.
    wires: Vec<(String, NodeId)>,
}

/// The hosts of a flow.
#[derive(Clone, Copy, Debug)]
struct Ends {
    from: NodeId,
    to: NodeId,
}

impl Net {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// When something does not fit together (no path for a flow, a packet too large for the air, an algorithm that refuses its parameters): the
    /// text names the flow, station or link and says what to change.
    pub fn new(scenario: &Scenario, trace: Trace) -> Result<Net, String> {
        Builder::new(scenario)?.build(trace)
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        self.world.run_until(end);
    }

    /// Forgets all histograms: the warm-up is over.
    pub fn clear_histograms(&mut self) {
        for i in 0..self.flows.len() {
            for id in [self.flows[i].from, self.flows[i].to] {
                if let Some(h) = self.world.node_mut::<Host>(id) {
                    h.clear_histograms();
                }
            }
        }
        for i in 0..self.stations.len() + self.wires.len() {
            if let Some(m) = self.meter(i) {
                m.delay.clear();
            }
        }
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// What the sending end of `flow` did.
    pub fn sent(&self, flow: usize) -> Sent {
        self.end(flow, |e| e.from).and_then(|h| h.sent(FlowId(flow as u32))).unwrap_or_default()
    }

    /// What the receiving end of `flow` did.
    pub fn received(&self, flow: usize) -> Received {
        self.end(flow, |e| e.to).and_then(|h| h.received(FlowId(flow as u32))).unwrap_or_default()
    }

    /// The state of the sending end of `flow`; `None` for UDP.
    pub fn sender(&self, flow: usize) -> Option<SenderState> {
        self.end(flow, |e| e.from).and_then(|h| h.sender_state(FlowId(flow as u32)))
    }

    /// Round-trip samples of `flow`.
    pub fn rtt(&self, flow: usize) -> Option<&Durations> {
        self.end(flow, |e| e.from).and_then(|h| h.rtt(FlowId(flow as u32)))
    }

    /// One-way delays of `flow`'s data.
    pub fn delay(&self, flow: usize) -> Option<&Durations> {
        self.end(flow, |e| e.to).and_then(|h| h.one_way_delay(FlowId(flow as u32)))
    }

    /// When each finished transfer of `flow` was complete, and how long it took.
    pub fn transfers(&self, flow: usize) -> &[(Time, Span)] {
        self.end(flow, |e| e.from).map_or(&[], |h| h.transfers(FlowId(flow as u32)))
    }

    /// How long `flow` took from its start until all it had to send was acknowledged; `None` while it has not, or has no end.
    pub fn completed(&self, flow: usize) -> Option<Span> {
        self.end(flow, |e| e.from).and_then(|h| h.completed(FlowId(flow as u32)))
    }

    /// The cell, when there is one.
    pub fn cell(&self) -> Option<&Cell> {
        self.cell.and_then(|id| self.world.node(id))
    }

    /// Names of the cell's stations by [`StationId`]; empty without a cell.
    pub fn stations(&self) -> &[String] {
        &self.stations
    }

    /// The air's books as of now.
    pub fn ledger(&self) -> Option<Ledger> {
        self.cell().map(|c| c.ledger(self.world.now()))
    }

    /// What station `who` did.
    pub fn station(&self, who: StationId) -> StationCounters {
        self.cell().and_then(|c| c.counters(who)).unwrap_or_default()
    }

    /// Names of all queues, in the order of their numbers: access point, stations, directions of links.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        self.stations.iter().map(String::as_str).chain(self.wires.iter().map(|(n, _)| n.as_str()))
    }

    /// The meter of queue number `i` as of now.
    pub fn meter(&mut self, i: usize) -> Option<&mut QueueMeter> {
        let now = self.world.now();
        match i.checked_sub(self.stations.len()) {
            None => self.world.node_mut::<Cell>(self.cell?)?.meter(i as StationId),
            Some(w) => Some(self.world.node_mut::<Wire>(self.wires.get(w)?.1)?.meter(now)),
        }
    }

    /// Packets that the channel behind queue number `i` lost, by kind; a cell's queue loses none.
    pub fn lost(&self, i: usize) -> [u64; 4] {
        let wire = i.checked_sub(self.stations.len()).and_then(|w| self.world.node::<Wire>(self.wires.get(w)?.1));
        wire.map_or([0; 4], |w| *w.lost())
    }

    /// Every direction of every link.
    pub fn wires(&self) -> impl Iterator<Item = &Wire> {
        self.wires.iter().filter_map(|(_, id)| self.world.node(*id))
    }

    /// The wire called `name` (`<link>` or `<link>.reverse`).
    pub fn wire(&self, name: &str) -> Option<&Wire> {
        self.wires.iter().find(|(n, _)| n == name).and_then(|(_, id)| self.world.node(*id))
    }

    fn end(&self, flow: usize, which: impl Fn(&Ends) -> NodeId) -> Option<&Host> {
        self.flows.get(flow).and_then(|e| self.world.node(which(e)))
    }
}

/// Numbers of all nodes before any of them exists, so that each can be told its peers.
struct Builder<'a> {
    spec: &'a Scenario,
    /// Node of each place at which packets end or are forwarded.
    at: BTreeMap<Place, NodeId>,
    /// A host with several links sends through a router of its own.
    front: BTreeMap<Place, NodeId>,
    /// Node of the forward direction of each link; the reverse one is the next.
    first_wire: u32,
    /// Path of each flow, from its source to its destination, as the links and places on the way.
    paths: Vec<[Vec<Hop>; 2]>,
    /// A hop by which packets leave each place.
    leaves: BTreeMap<Place, Hop>,
    /// The flows that end at each place.
    ends: BTreeMap<Place, Vec<usize>>,
}

/// One step of a path: leave `from` for `to` over link `link` (`None`: over the air) in this direction.
#[derive(Clone, Copy, Debug)]
struct Hop {
    from: Place,
    to: Place,
    link: Option<(usize, bool)>,
}

impl Hop {
    /// The same step the other way.
    fn back(self) -> Hop {
        Hop { from: self.to, to: self.from, link: self.link.map(|(l, forward)| (l, !forward)) }
    }
}

impl<'a> Builder<'a> {
    fn new(spec: &'a Scenario) -> Result<Builder<'a>, String> {
        let mut b =
            Builder { spec, at: BTreeMap::new(), front: BTreeMap::new(), first_wire: 0, paths: Vec::new(), leaves: BTreeMap::new(), ends: BTreeMap::new() };
        let mut next = 0;
        let mut id = || {
            next += 1;
            NodeId(next - 1)
        };
        if spec.cell.is_some() {
            b.at.insert(Place::Ap, id());
        }
        for f in &spec.flows {
            for p in [f.from, f.to] {
                if matches!(p, Place::Station(_)) {
                    b.at.entry(p).or_insert_with(&mut id);
                }
            }
        }
        for i in 0..spec.nodes.len() {
            b.at.insert(Place::Node(i), id());
        }
        let mut links: BTreeMap<Place, usize> = BTreeMap::new();
        for l in &spec.links {
            *links.entry(l.from).or_default() += 1;
            *links.entry(l.to).or_default() += 1;
        }
        for (i, n) in spec.nodes.iter().enumerate() {
            let place = Place::Node(i);
            if !n.router && links.get(&place).is_some_and(|n| *n > 1) {
                b.front.insert(place, id());
            }
        }
        b.first_wire = id().0;
        let neighbours = b.neighbours();
        let mut known = BTreeMap::new();
        for f in &spec.flows {
            let path = b.path(&neighbours, &mut known, f)?;
            let back = path.iter().rev().map(|h| h.back()).collect();
            if path.iter().any(|h| h.link.is_none()) && f.packet > MAX_PACKET {
                return Err(format!("flow {}: packet = {} B is too large for an 802.11 frame; write {MAX_PACKET} B or less", f.name, f.packet));
            }
            b.paths.push([path, back]);
        }
        for (i, f) in spec.flows.iter().enumerate() {
            b.ends.entry(f.from).or_default().push(i);
            b.ends.entry(f.to).or_default().push(i);
        }
        for h in b.paths.iter().flatten().flatten() {
            b.leaves.entry(h.from).or_insert(*h);
        }
        Ok(b)
    }

    /// Every place with the hops that leave it.
    fn neighbours(&self) -> BTreeMap<Place, Vec<Hop>> {
        let mut n: BTreeMap<Place, Vec<Hop>> = BTreeMap::new();
        let mut add = |h: Hop| n.entry(h.from).or_default().push(h);
        for (i, l) in self.spec.links.iter().enumerate() {
            add(Hop { from: l.from, to: l.to, link: Some((i, true)) });
            add(Hop { from: l.to, to: l.from, link: Some((i, false)) });
        }
        for &p in self.at.keys() {
            if matches!(p, Place::Station(_)) {
                add(Hop { from: p, to: Place::Ap, link: None });
                add(Hop { from: Place::Ap, to: p, link: None });
            }
        }
        n
    }

    /// The path of `f`. An end with one way out takes it, so that only the paths between the places behind are searched, each once.
    fn path(&self, neighbours: &BTreeMap<Place, Vec<Hop>>, known: &mut BTreeMap<(Place, Place), Option<Vec<Hop>>>, f: &FlowSpec) -> Result<Vec<Hop>, String> {
        if f.from == f.to {
            return Err(format!("flow {}: both ends are the same; give `from` and `to` different places", f.name));
        }
        let only_way = |p: Place| match neighbours.get(&p).map(Vec::as_slice) {
            Some([h]) => Some(*h),
            _ => None,
        };
        let first = only_way(f.from);
        let from = first.map_or(f.from, |h| h.to);
        let last = only_way(f.to).filter(|_| from != f.to);
        let to = last.map_or(f.to, |h| h.to);
        let between = known.entry((from, to)).or_insert_with(|| self.shortest(neighbours, from, to));
        let Some(between) = between else {
            return Err(format!(
                "flow {}: there is no path between its ends; add the missing [[link]] (only routers and the access point pass packets on)",
                f.name
            ));
        };
        Ok(first.into_iter().chain(between.iter().copied()).chain(last.map(Hop::back)).collect())
    }

    /// The path with the fewest hops from `from` to `to`, on which only the access point and routers pass packets on.
    fn shortest(&self, neighbours: &BTreeMap<Place, Vec<Hop>>, from: Place, to: Place) -> Option<Vec<Hop>> {
        let passes = |p: Place| match p {
            Place::Ap => true,
            Place::Station(_) => false,
            Place::Node(i) => self.spec.nodes.get(i).is_some_and(|n| n.router),
        };
        let mut came: BTreeMap<Place, Hop> = BTreeMap::new();
        let mut todo = VecDeque::from([from]);
        while let Some(p) = todo.pop_front() {
            if p == to {
                let mut path = Vec::new();
                let mut here = to;
                while here != from {
                    let h = came.get(&here)?;
                    path.push(*h);
                    here = h.from;
                }
                path.reverse();
                return Some(path);
            }
            for h in neighbours.get(&p).map_or(&[][..], Vec::as_slice) {
                if h.to != from && (h.to == to || passes(h.to)) && !came.contains_key(&h.to) {
                    came.insert(h.to, *h);
                    todo.push_back(h.to);
                }
            }
        }
        None
    }

    /// Where a packet that leaves over `h` is handed over.
    fn peer(&self, h: &Hop) -> Option<Peer> {
        match h.link {
            Some((l, forward)) => Some(Peer { node: NodeId(self.first_wire + 2 * l as u32 + u32::from(!forward)), port: 0 }),
            None => {
                let station = if let Place::Station(i) = h.from { i } else { return None };
                Some(Peer { node: *self.at.get(&Place::Ap)?, port: Cell::port(station as StationId + 1) })
            }
        }
    }

    /// What `place` does with each flow's packets, by direction.
    fn table(&self, place: Place) -> Vec<[Option<Peer>; 2]> {
        let hop = |path: &Vec<Hop>| path.iter().find(|h| h.from == place).and_then(|h| self.peer(h));
        self.paths.iter().map(|[there, back]| [hop(there), hop(back)]).collect()
    }

    /// Where the host at `place` hands its packets over.
    fn uplink(&self, place: Place) -> Peer {
        if let Some(&node) = self.front.get(&place) {
            return Peer { node, port: 0 };
        }
        // A host that never sends is given itself.
        self.leaves.get(&place).and_then(|h| self.peer(h)).unwrap_or(Peer { node: self.at.get(&place).copied().unwrap_or(NodeId(0)), port: 0 })
    }

    fn host(&self, place: Place) -> Result<Host, String> {
        let mut host = Host::new(self.spec.seed, self.uplink(place));
        for &i in self.ends.get(&place).map_or(&[][..], Vec::as_slice) {
            let (id, f) = (FlowId(i as u32), &self.spec.flows[i]);
            if f.from == place {
                host.add_sender(id, f).map_err(|e| format!("flow {}: {e}", f.name))?;
            }
            if f.to == place {
                host.add_receiver(id, f).map_err(|e| format!("flow {}: {e}", f.name))?;
            }
        }
        Ok(host)
    }

    fn build(self, trace: Trace) -> Result<Net, String> {
        let spec = self.spec;
        let mut world = World::new(trace);
        let named = |name: &str| spec.flows.iter().position(|f| f.name == name).map(|i| FlowId(i as u32));
        let mut stations = Vec::new();
        if let Some(cell) = &spec.cell {
            let at = self.at.get(&Place::Ap).copied().unwrap_or(NodeId(0));
            let host = |i| Peer { node: self.at.get(&Place::Station(i)).copied().unwrap_or(at), port: 0 };
            let hosts: Vec<Peer> = (0..cell.stations.len()).map(host).collect();
            world.add(Box::new(Cell::new(spec.seed, cell, &hosts, self.bridge(), &named)?), Time::NEVER);
            stations = std::iter::once(&cell.ap).chain(&cell.stations).map(|s| s.name.clone()).collect();
        }
        let mut places: Vec<(NodeId, Place)> = self.at.iter().filter(|(p, _)| **p != Place::Ap).map(|(p, id)| (*id, *p)).collect();
        places.sort();
        for (id, place) in places {
            debug_assert_eq!(id, world.next_id());
            match place {
                Place::Node(i) if spec.nodes[i].router => world.add(Box::new(Router::new(self.table(place))), Time::NEVER),
                _ => {
                    let mut host = self.host(place)?;
                    let first = host.start();
                    world.add(Box::new(host), first)
                }
            };
        }
        for &place in self.front.keys() {
            world.add(Box::new(Router::new(self.table(place))), Time::NEVER);
        }
        // The number that marked where wires begin was taken from the same count.
        debug_assert_eq!(self.first_wire, world.next_id().0);
        let mut wires = Vec::new();
        for l in &spec.links {
            for (name, wire, to) in [(l.name.clone(), &l.forward, l.to), (format!("{}.reverse", l.name), &l.reverse, l.from)] {
                let to = Peer { node: *self.at.get(&to).ok_or_else(|| format!("link {}: one end does not exist", l.name))?, port: AP };
                let w = Wire::new(spec.seed, &name, wire, to, &named).map_err(|e| format!("link {name}: {e}"))?;
                wires.push((name, world.add(Box::new(w), Time::NEVER)));
            }
        }
        let id = |p: Place| self.at.get(&p).copied().ok_or("a flow ends nowhere");
        let flows = spec.flows.iter().map(|f| Ok(Ends { from: id(f.from)?, to: id(f.to)? })).collect::<Result<_, &str>>()?;
        Ok(Net { world, flows, cell: self.at.get(&Place::Ap).copied(), stations, wires })
    }

    /// What the access point does with each flow's packets.
    fn bridge(&self) -> Bridge {
        let exit = |path: &Vec<Hop>| {
            let h = path.iter().find(|h| h.from == Place::Ap)?;
            match h.to {
                Place::Station(i) => Some(Exit::Air(i as StationId + 1)),
                _ => self.peer(h).map(Exit::Wire),
            }
        };
        self.paths.iter().map(|[there, back]| [exit(there), exit(back)]).collect()
    }
}
