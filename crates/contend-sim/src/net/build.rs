//! Makes a world from a [`Scenario`]: nodes, wires and forwarding tables.

use super::paths::{self, Hop, Map};
use super::{CELL, Net};
use crate::gate::{self, Gate};
use crate::link::{FarEnd, Wire};
use crate::peer::{NodeId, Peer, WireId};
use crate::scenario::{ApSpec, CellSpec, FlowSpec, Outside, Place, Scenario, Transport};
use crate::tcp::end::End;
use crate::tcp::{SegmentFormat, Socket};
use crate::wifi::StationId;
use crate::wifi::bridge::{Exit, Home, Routes};
use crate::wifi::bss::Bss;
use crate::wifi::client::Client;
use crate::world::World;
use contend_core::Refusal;
use contend_core::ap::FlowFacts;
use contend_core::qdisc::{self, Site};
use contend_core::registry::Amount;
use contend_core::{Address, FlowId, Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The numbers of all nodes and wires, before they exist, so that each can be told its peers.
pub(super) struct Builder<'a> {
    spec: &'a Scenario,
    outside: &'a Outside,
    /// The node of each end of a flow, by address; the gate if the flow is outside.
    ends: Vec<NodeId>,
    /// Where packets enter and leave that come from outside: the last node.
    gate: NodeId,
    /// The network card of each station behind a cable; the next wire is the cable in the other direction. The wires of
    /// links have the numbers before.
    cards: BTreeMap<usize, WireId>,
    /// Path of each flow, in both directions.
    paths: Vec<[Vec<Hop>; 2]>,
    /// For each host outside, the paths to it.
    to_hosts: Vec<Vec<Vec<Hop>>>,
}

/// The addresses of the sender and the receiver of a flow. Ends are nodes in the order of their addresses.
pub fn addresses(flow: usize) -> [Address; 2] {
    [Address(2 * flow as u32), Address(2 * flow as u32 + 1)]
}

/// The cable that brings packets to the host of the network card `card`.
fn cable_down(card: WireId) -> WireId {
    WireId(card.0 + 1)
}

impl<'a> Builder<'a> {
    pub(super) fn new(spec: &'a Scenario, outside: &'a Outside) -> Result<Builder<'a>, Refusal> {
        let first = u32::from(spec.cell.is_some());
        let is_outside = |flow: usize| outside.flows.get(flow) == Some(&true);
        let gate = NodeId(first + 2 * (0..spec.flows.len()).filter(|flow| !is_outside(*flow)).count() as u32);
        let mut simulated = (first..).map(NodeId);
        let flows = (0..spec.flows.len()).flat_map(|flow| [flow; 2]);
        let ends = flows.map(|flow| if is_outside(flow) { gate } else { simulated.next().unwrap_or(gate) }).collect();
        let stations = spec.cell.iter().flat_map(|c| &c.stations).enumerate();
        let behind = stations.filter(|(_, s)| matches!(s.client, Some(Client::Converter(_)))).map(|(i, _)| i);
        let cards = behind.zip((2 * spec.links.len() as u32..).step_by(2)).map(|(i, id)| (i, WireId(id))).collect();
        let mut map = Map::new(spec, &outside.hosts);
        let paths = paths::of_flows(&mut map)?;
        let to_hosts = paths::to_hosts(&mut map, &outside.hosts);
        Ok(Builder { spec, outside, ends, gate, cards, paths, to_hosts })
    }

    pub(super) fn build(self) -> Result<Net, Refusal> {
        let spec = self.spec;
        let mut world = World::new();
        let known = self.known();
        let site = Site { network: spec.fingerprint(), ends: Some(&known), ..Site::ALONE };
        let named = |name: &str| spec.flows.iter().position(|f| f.name == name).map(|i| FlowId(i as u32));
        let (mut stations, mut category_queue_names, mut controlled) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(cell) = &spec.cell {
            let facts: Vec<Vec<FlowFacts>> = (0..cell.aps.len()).map(|ap| self.facts(Place::Ap(ap))).collect();
            let mut node = Bss::new(spec.seed, &site, cell, self.routes(), &facts, &named)?;
            let counts = |f: &FlowSpec| matches!(&f.ends.transport, Transport::Tcp(tcp) if tcp.tsq.is_some());
            if spec.flows.iter().any(counts) {
                node.tell_sources();
            }
            category_queue_names = node.category_queue_names().to_vec();
            let first = node.first_deadline();
            let bss = world.add(Box::new(node), first);
            world.is_busiest(bss);
            let control = |(ap, spec): (StationId, &ApSpec)| {
                (!spec.control.is_empty()).then(|| (ap, format!("{}.control", spec.station.name)))
            };
            controlled = (0..).zip(&cell.aps).filter_map(control).collect();
            stations = cell.members().map(|s| s.name.clone()).collect();
        }
        for ((i, f), path) in spec.flows.iter().enumerate().zip(&self.paths) {
            let id = FlowId(i as u32);
            let [sender, receiver] = addresses(i);
            if self.ends[2 * i] == self.gate {
                continue;
            }
            let socket = |local, remote, path: &Vec<Hop>| {
                let uplink = path.first().and_then(|h| self.peer(h));
                uplink
                    .map(|uplink| Socket { local, remote, uplink })
                    .ok_or_else(|| Refusal::from("its path has no first hop"))
            };
            let there =
                socket(sender, receiver, &path[0]).and_then(|s| End::sender(spec.seed, &f.name, id, &f.ends, s));
            let back = socket(receiver, sender, &path[1]).and_then(|s| End::receiver(id, &f.ends, s));
            for end in [there, back] {
                let end = end.map_err(|e| e.of(format_args!("flow {}", f.name)))?;
                let first = end.deadline();
                world.add(Box::new(end), first);
            }
        }
        debug_assert_eq!(self.gate, world.next_id());
        let gate = (self.ends.contains(&self.gate) || !self.to_hosts.is_empty())
            .then(|| world.add(Box::new(Gate::new(self.uplinks().collect())), Time::NEVER));
        let far_ends = self.far_ends();
        let addresses = (0..self.ends.len() + self.to_hosts.len()).map(|a| Address(a as u32));
        let hosts = FarEnd::Lookup(addresses.map(|a| Some(self.end(a))).collect());
        let far_end = |place| far_ends.get(&place).unwrap_or(&hosts).clone();
        let mut wires = Vec::new();
        for l in &spec.links {
            for (name, wire, to) in
                [(l.name.clone(), &l.forward, l.to), (format!("{}.reverse", l.name), &l.reverse, l.from)]
            {
                world.wire(
                    Wire::new(spec.seed, &name, wire, far_end(to), &site, &named)
                        .map_err(|e| e.of(format_args!("link {name}")))?,
                );
                wires.push(name);
            }
        }
        let every_path = self.paths.iter().flatten().chain(self.to_hosts.iter().flatten());
        for (first, second) in paths::in_a_row(every_path) {
            world.join(first, second);
        }
        self.cables(&mut world, &hosts, &mut wires)?;
        Ok(Net {
            world,
            ends: self.ends,
            gate,
            cell: spec.cell.is_some().then_some(CELL),
            stations,
            category_queue_names,
            controlled,
            routed: spec.cell.as_ref().is_some_and(CellSpec::has_agents),
            wires,
        })
    }

    /// Adds the cables between converters and their hosts, and their names to `wires`.
    fn cables(&self, world: &mut World, hosts: &FarEnd, wires: &mut Vec<String>) -> Result<(), Refusal> {
        let spec = self.spec;
        for (&i, &card) in &self.cards {
            let Some(s) = spec.cell.as_ref().and_then(|c| c.stations.get(i)) else { continue };
            let Some(Client::Converter(c)) = s.client else { continue };
            let (who, name) = (self.number(Place::Station(i)), format!("{}.cable", s.name));
            let back = format!("{name}.reverse");
            let cell = FarEnd::Peer(Peer::Node(CELL, Bss::port(who)));
            let up = world.wire(Wire::card(spec.seed, &name, c.rate, c.latency, c.nic, cell));
            let down = world.wire(Wire::card(spec.seed, &back, c.rate, c.latency, c.nic, hosts.clone()));
            debug_assert_eq!((up, down), (card, cable_down(card)));
            wires.extend([name, back]);
            let pause = match (c.pause, s.queue.limit().and_then(Amount::packets)) {
                (None, _) => None,
                (Some((high, low)), Some(n)) => Some(((high * n as f64).max(1.0) as u64, (low * n as f64) as u64)),
                _ => {
                    return Err(Refusal::new(
                        format!("station {}: client: mode = \"pause\" needs a queue whose limit is in packets", s.name),
                        "write one, like \"100p\"",
                    ));
                }
            };
            if let Some(bss) = world.node_mut::<Bss>(CELL) {
                bss.convert(who, card, pause);
            }
        }
        Ok(())
    }

    /// The far ends of wires at access points and at routers. At all other places flows end.
    fn far_ends(&self) -> BTreeMap<Place, FarEnd> {
        let routers = self.spec.nodes.iter().enumerate().filter(|(_, n)| n.router).map(|(i, _)| Place::Node(i));
        let mut ends: BTreeMap<Place, FarEnd> = routers
            .map(|place| {
                let hop = |path: &Vec<Hop>| path.iter().find(|h| h.from == place).and_then(|h| self.peer(h));
                (place, FarEnd::Lookup(self.by_address(hop).collect()))
            })
            .collect();
        for ap in (0..self.access_points()).map(Place::Ap) {
            ends.insert(ap, FarEnd::Peer(Peer::Node(CELL, Bss::port(self.number(ap)))));
        }
        ends
    }

    /// Number of access points.
    fn access_points(&self) -> usize {
        self.spec.cell.as_ref().map_or(0, |c| c.aps.len())
    }

    /// The number of the station or access point at `place`.
    fn number(&self, place: Place) -> StationId {
        match place {
            Place::Station(i) => (self.access_points() + i) as StationId,
            Place::Ap(i) | Place::Node(i) => i as StationId,
        }
    }

    /// The routes of packets to each address.
    fn routes(&self) -> Routes {
        let exit_at = |ap: Place| {
            let exit = |path: &Vec<Hop>| {
                let hop = path.iter().find(|h| h.from == ap)?;
                Some(hop.wire().map_or_else(|| Exit::Air(self.number(hop.to)), |wire| Exit::Wire(Peer::Wire(wire))))
            };
            self.by_address(exit).collect()
        };
        let last_on_air = |path: &Vec<Hop>| {
            let i = path.iter().rposition(|h| h.link.is_none())?;
            Some((path[i].to, path.get(i + 1).and_then(Hop::wire)))
        };
        let home = |(a, last): (usize, Option<(Place, Option<WireId>)>)| {
            let (place, wire) = last?;
            let cable = if let Place::Station(i) = place { self.cards.get(&i) } else { None };
            let wire = wire.or(cable.map(|&card| cable_down(card)));
            Some(Home { station: self.number(place), to: wire.map_or_else(|| self.end(Address(a as u32)), Peer::Wire) })
        };
        Routes {
            exits: (0..self.access_points()).map(Place::Ap).map(exit_at).collect(),
            homes: self.by_address(last_on_air).enumerate().map(home).collect(),
            categories: self.spec.flows.iter().flat_map(|f| [f.category; 2]).collect(),
        }
    }

    /// What disciplines may know of each end: its station or node, and the DSCP of its flow.
    fn known(&self) -> Arc<[qdisc::End]> {
        let stations = self.spec.cell.as_ref().map_or(0, |c| c.stations.len());
        let host = |place: Place| match place {
            Place::Node(i) => (self.access_points() + stations + i) as u32,
            Place::Ap(_) | Place::Station(_) => self.number(place),
        };
        let place = self.by_address(|path| path.last().map(|h| h.to));
        let dscp = self.spec.flows.iter().flat_map(|f| [f.category.dscp(); 2]).chain(std::iter::repeat(0));
        let end = |(place, dscp): (Option<Place>, u8)| qdisc::End { host: place.map_or(u32::MAX, host), dscp };
        place.zip(dscp).map(end).collect()
    }

    /// The facts about each flow for control blocks of the access point `ap`.
    fn facts(&self, ap: Place) -> Vec<FlowFacts> {
        let one = |(i, (f, [there, _])): (usize, (&FlowSpec, &[Vec<Hop>; 2]))| {
            let on_air = |hop: Option<&Hop>| hop.is_some_and(|h| h.link.is_none());
            let (from, to) = (there.iter().find(|h| h.to == ap), there.iter().find(|h| h.from == ap));
            let up = match (on_air(from), on_air(to)) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            };
            // Half of the round trip: the delays of both directions.
            let links = there.iter().filter_map(|h| h.link).filter_map(|(l, _)| self.spec.links.get(l));
            let both = links
                .flat_map(|l| [l.forward.delay, l.reverse.delay])
                .fold(0, |sum: u64, d| sum.saturating_add(d.as_nanos()));
            let delay = Span::from_nanos(both / 2);
            let (ack, mss) = match &f.ends.transport {
                Transport::Tcp(tcp) => {
                    (tcp.ack.max(1), SegmentFormat::new(f.ends.packet, tcp).map_or(f.ends.packet, |w| w.mss))
                }
                Transport::Udp(_) => (1, f.ends.packet),
            };
            FlowFacts { flow: FlowId(i as u32), up, delay, ack, mss }
        };
        self.spec.flows.iter().zip(&self.paths).enumerate().map(one).collect()
    }

    /// Where a packet that takes hop `h` is handed over.
    fn peer(&self, h: &Hop) -> Option<Peer> {
        match h.wire() {
            Some(wire) => Some(Peer::Wire(wire)),
            None => {
                let station = if let Place::Station(i) = h.from { i } else { return None };
                if let Some(&card) = self.cards.get(&station) {
                    return Some(Peer::Wire(card));
                }
                Some(Peer::Node(CELL, Bss::port(self.number(Place::Station(station)))))
            }
        }
    }

    /// The value of `of` for the path to each address, in the order of addresses.
    fn by_address<T>(&self, of: impl Fn(&Vec<Hop>) -> Option<T> + Copy) -> impl Iterator<Item = Option<T>> {
        // Address 2i is the sender of flow i: the path to it is that of the acknowledgments. Address 2i + 1 is the
        // receiver. The addresses of hosts outside follow.
        let flows = self.paths.iter().flat_map(move |[there, back]| [of(back), of(there)]);
        flows.chain(self.to_hosts.iter().map(move |paths| paths.iter().find_map(of)))
    }

    /// For each address outside, where its packets go first.
    fn uplinks(&self) -> impl Iterator<Item = Option<FarEnd>> {
        let flow = |i: usize, path: &Vec<Hop>| {
            let is_outside = self.ends.get(2 * i) == Some(&self.gate);
            path.first().filter(|_| is_outside).and_then(|h| self.peer(h)).map(FarEnd::Peer)
        };
        let flows = self.paths.iter().enumerate().flat_map(move |(i, both)| both.each_ref().map(|path| flow(i, path)));
        let host = |place: &Place| {
            let place = *place;
            let hop = |path: &Vec<Hop>| path.first().filter(|h| h.from == place).and_then(|h| self.peer(h));
            // Of each path to a host, only the one that begins here tells the first hop.
            let table = self.to_hosts.iter().map(|paths| paths.iter().find_map(hop));
            Some(FarEnd::Lookup(std::iter::repeat_n(None, self.ends.len()).chain(table).collect()))
        };
        flows.chain(self.outside.hosts.iter().map(host))
    }

    /// The end with this address.
    fn end(&self, a: Address) -> Peer {
        Peer::Node(self.ends.get(a.0 as usize).copied().unwrap_or(self.gate), gate::INSIDE)
    }
}
