//! From a [`Scenario`] to a running [`World`], and back from the world to readings.

use crate::link::{FarEnd, Wire};
use crate::scenario::{FlowSpec, Place, Scenario, Transport};
use crate::stats::{Durations, QueueMeter, ReceiverCounters, SenderCounters};
use crate::tcp::end::End;
use crate::tcp::{self, SenderState, Socket};
use crate::trace::Trace;
use crate::wifi::bridge::{Exit, Route, Routes};
use crate::wifi::bss::Bss;
use crate::wifi::client::Client;
use crate::wifi::counters::StationCounters;
use crate::wifi::ledger::Ledger;
use crate::wifi::{AP, MAX_PACKET, StationId};
use crate::world::{NodeId, Peer, WireId, World};
use contend_core::ap::FlowFacts;
use contend_core::qdisc::Site;
use contend_core::registry::Amount;
use contend_core::{Address, FlowId, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A running network.
#[derive(Debug)]
pub struct Net {
    /// The event loop with all nodes.
    pub world: World,
    flows: usize,
    /// The first end of the first flow.
    ends: NodeId,
    cell: Option<NodeId>,
    /// Names of the cell's stations by [`StationId`].
    stations: Vec<String>,
    /// Names of the queues of categories other than best effort.
    category_queue_names: Vec<String>,
    /// Whether the access point has control blocks.
    controlled: bool,
    /// Names of the directions of links, in the order of their numbers.
    wires: Vec<String>,
}

/// The addresses of the sender and the receiver of a flow. Ends are nodes in the order of their addresses.
fn addresses(flow: usize) -> [Address; 2] {
    [Address(2 * flow as u32), Address(2 * flow as u32 + 1)]
}

/// The cable that brings packets to the host of the network card `card`.
fn cable_down(card: WireId) -> WireId {
    WireId(card.0 + 1)
}

/// The cell, when there is one, is the first node.
const CELL: NodeId = NodeId(0);

impl Net {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// When something does not fit together (no path for a flow, a packet too large for the air, an algorithm that
    /// refuses its parameters): the text names the flow, station or link and says what to change.
    pub fn new(scenario: &Scenario, trace: Trace) -> Result<Net, String> {
        Builder::new(scenario)?.build(trace)
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        self.world.run_until(end);
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

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.flows
    }

    /// What the sending end of `flow` did.
    pub fn sent(&self, flow: usize) -> SenderCounters {
        self.sender_of(flow).and_then(End::sent).unwrap_or_default()
    }

    /// What the receiving end of `flow` did.
    pub fn received(&self, flow: usize) -> ReceiverCounters {
        self.receiver_of(flow).and_then(End::received).unwrap_or_default()
    }

    /// The state of the sending end of `flow`; `None` for UDP.
    pub fn sender(&self, flow: usize) -> Option<SenderState> {
        self.sender_of(flow).and_then(End::sender_state)
    }

    /// What the estimators of `flow` say now, in bytes per second.
    pub fn estimates(&self, flow: usize) -> Vec<u64> {
        self.sender_of(flow).map_or_else(Vec::new, |s| s.estimates(self.world.now()))
    }

    /// Round-trip samples of `flow`.
    pub fn rtt(&self, flow: usize) -> Option<&Durations> {
        self.sender_of(flow).and_then(End::rtt)
    }

    /// One-way delays of `flow`'s data.
    pub fn delay(&self, flow: usize) -> Option<&Durations> {
        self.receiver_of(flow).and_then(End::one_way_delay)
    }

    /// When each finished transfer of `flow` was complete, and how long it took.
    pub fn transfers(&self, flow: usize) -> &[(Time, Span)] {
        self.sender_of(flow).map_or(&[], End::transfers)
    }

    /// How long `flow` took from its start until all it had to send was acknowledged; `None` while it has not, or has
    /// no end.
    pub fn completed(&self, flow: usize) -> Option<Span> {
        self.sender_of(flow).and_then(End::completed)
    }

    /// The access point and its stations, when there are any.
    pub fn bss(&self) -> Option<&Bss> {
        self.cell.and_then(|id| self.world.node(id))
    }

    /// Keeps who succeeds on the air from now on, see [`Bss::successes`].
    pub fn keep_successes(&mut self) {
        if let Some(cell) = self.cell.and_then(|id| self.world.node_mut::<Bss>(id)) {
            cell.keep_successes();
        }
    }

    /// Names of the cell's stations by [`StationId`]; empty without a cell.
    pub fn stations(&self) -> &[String] {
        &self.stations
    }

    /// The air's books as of now.
    pub fn ledger(&self) -> Option<Ledger> {
        self.bss().map(|c| c.ledger(self.world.now()))
    }

    /// What station `who` did.
    pub fn station(&self, who: StationId) -> StationCounters {
        self.bss().and_then(|c| c.counters(who)).unwrap_or_default()
    }

    /// Names of all queues, in the order of their numbers: access point, stations, directions of links, and the control
    /// blocks of the access point (when there are any), which count as one queue in which waits what they hold; then,
    /// of a station that has categories, those beside best effort, whose queue bears the station's name.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        let queues = self.stations.iter().map(String::as_str).chain(self.wires.iter().map(String::as_str));
        queues
            .chain(self.controlled.then_some("ap.control"))
            .chain(self.category_queue_names.iter().map(String::as_str))
    }

    /// The meter of queue number `i` as of now.
    pub fn meter(&mut self, i: usize) -> Option<&mut QueueMeter> {
        let now = self.world.now();
        match i.checked_sub(self.stations.len()) {
            None => self.world.node_mut::<Bss>(self.cell?)?.meter(i),
            Some(w) if w < self.wires.len() => Some(self.world.wire_mut(WireId(w as u32))?.meter(now)),
            Some(w) if w == self.wires.len() && self.controlled => {
                self.world.node_mut::<Bss>(self.cell?)?.control_meter()
            }
            Some(w) => {
                let others = w - self.wires.len() - usize::from(self.controlled);
                self.world.node_mut::<Bss>(self.cell?)?.meter(self.stations.len() + others)
            }
        }
    }

    /// Packets that the channel behind queue number `i` lost, by kind; a cell's queue loses none.
    pub fn lost(&self, i: usize) -> [u64; 4] {
        let wire = i.checked_sub(self.stations.len()).and_then(|w| self.world.wires().get(w));
        wire.map_or([0; 4], |w| *w.lost())
    }

    /// Every direction of every link.
    pub fn wires(&self) -> impl Iterator<Item = &Wire> {
        self.world.wires().iter()
    }

    /// The wire called `name` (`<link>` or `<link>.reverse`).
    pub fn wire(&self, name: &str) -> Option<&Wire> {
        self.wires.iter().zip(self.world.wires()).find(|(n, _)| *n == name).map(|(_, w)| w)
    }

    fn sender_of(&self, flow: usize) -> Option<&End> {
        self.world.node(NodeId(self.ends.0 + 2 * flow as u32))
    }

    fn receiver_of(&self, flow: usize) -> Option<&End> {
        self.world.node(NodeId(self.ends.0 + 2 * flow as u32 + 1))
    }
}

/// Numbers of all nodes before any of them exists, so that each can be told its peers.
struct Builder<'a> {
    spec: &'a Scenario,
    /// The first end of the first flow.
    ends: NodeId,
    /// The network card of each station behind a cable; the cable the other way is the next wire. Before them come the
    /// links, each with its reverse.
    cards: BTreeMap<usize, WireId>,
    /// Path of each flow, from its source to its destination, as the links and places on the way.
    paths: Vec<[Vec<Hop>; 2]>,
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

/// A queue that packets wait in on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueAt {
    /// The access point's.
    Ap,
    /// The station's with this number in [`CellSpec::stations`](crate::scenario::CellSpec::stations).
    Station(usize),
    /// That of one direction of a link, which has this number in [`Scenario::links`].
    Link {
        /// The link.
        link: usize,
        /// True for the direction of the link's own `from` and `to`.
        forward: bool,
    },
}

/// The queues on the way of each flow's data, and on the way back.
///
/// # Errors
/// As [`Net::new`], when a flow has no path.
pub fn queues_passed(scenario: &Scenario) -> Result<Vec<[Vec<QueueAt>; 2]>, String> {
    let queue = |h: &Hop| match (h.link, h.from) {
        (Some((link, forward)), _) => Some(QueueAt::Link { link, forward }),
        (None, Place::Station(i)) => Some(QueueAt::Station(i)),
        (None, Place::Ap) => Some(QueueAt::Ap),
        (None, Place::Node(_)) => None,
    };
    let paths = Builder::new(scenario)?.paths;
    Ok(paths.iter().map(|both| both.each_ref().map(|path| path.iter().filter_map(queue).collect())).collect())
}

impl<'a> Builder<'a> {
    fn new(spec: &'a Scenario) -> Result<Builder<'a>, String> {
        let ends = NodeId(u32::from(spec.cell.is_some()));
        let stations = spec.cell.iter().flat_map(|c| &c.stations).enumerate();
        let behind = stations.filter(|(_, s)| matches!(s.client, Some(Client::Converter(_)))).map(|(i, _)| i);
        let cards = behind.zip((2 * spec.links.len() as u32..).step_by(2)).map(|(i, id)| (i, WireId(id))).collect();
        let mut b = Builder { spec, ends, cards, paths: Vec::new() };
        let neighbours = b.neighbours();
        let mut known = BTreeMap::new();
        for f in &spec.flows {
            let path = b.path(&neighbours, &mut known, f)?;
            let back = path.iter().rev().map(|h| h.back()).collect();
            if path.iter().any(|h| h.link.is_none()) && f.packet > MAX_PACKET {
                return Err(format!(
                    "flow {}: packet = {} B is too large for an 802.11 frame; write {MAX_PACKET} B or less",
                    f.name, f.packet
                ));
            }
            b.paths.push([path, back]);
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
        let stations: BTreeSet<Place> =
            self.spec.flows.iter().flat_map(|f| [f.from, f.to]).filter(|p| matches!(p, Place::Station(_))).collect();
        for p in stations {
            add(Hop { from: p, to: Place::Ap, link: None });
            add(Hop { from: Place::Ap, to: p, link: None });
        }
        n
    }

    /// The path of `f`. An end with one way out takes it, so that only the paths between the places behind are
    /// searched, each once.
    fn path(
        &self,
        neighbours: &BTreeMap<Place, Vec<Hop>>,
        known: &mut BTreeMap<(Place, Place), Option<Vec<Hop>>>,
        f: &FlowSpec,
    ) -> Result<Vec<Hop>, String> {
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
                "flow {}: there is no path between its ends; add the missing [[link]] (only routers and the access \
                    point pass packets on)",
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
            Some((l, forward)) => Some(Peer::Wire(WireId(2 * l as u32 + u32::from(!forward)))),
            None => {
                let station = if let Place::Station(i) = h.from { i } else { return None };
                if let Some(&card) = self.cards.get(&station) {
                    return Some(Peer::Wire(card));
                }
                Some(Peer::Node(CELL, Bss::port(station as StationId + 1)))
            }
        }
    }

    fn build(self, trace: Trace) -> Result<Net, String> {
        let spec = self.spec;
        let mut world = World::new(trace);
        let named = |name: &str| spec.flows.iter().position(|f| f.name == name).map(|i| FlowId(i as u32));
        let (mut stations, mut category_queue_names, mut controlled) = (Vec::new(), Vec::new(), false);
        if let Some(cell) = &spec.cell {
            let node = Bss::new(spec.seed, cell, self.routes(), &self.facts(), &named)?;
            category_queue_names = node.category_queue_names().to_vec();
            world.add(Box::new(node), Time::NEVER);
            controlled = !cell.control.is_empty();
            stations = std::iter::once(&cell.ap).chain(&cell.stations).map(|s| s.name.clone()).collect();
        }
        debug_assert_eq!(self.ends, world.next_id());
        for ((i, f), path) in spec.flows.iter().enumerate().zip(&self.paths) {
            let id = FlowId(i as u32);
            let [sender, receiver] = addresses(i);
            let socket = |local, remote, path: &Vec<Hop>| {
                let uplink = path.first().and_then(|h| self.peer(h));
                uplink.map(|uplink| Socket { local, remote, uplink }).ok_or("its path has no first hop".to_owned())
            };
            let there = socket(sender, receiver, &path[0]).and_then(|s| End::sender(spec.seed, id, f, s));
            let back = socket(receiver, sender, &path[1]).and_then(|s| End::receiver(id, f, s));
            for end in [there, back] {
                let end = end.map_err(|e| format!("flow {}: {e}", f.name))?;
                let first = end.deadline();
                world.add(Box::new(end), first);
            }
        }
        let far_ends = self.far_ends();
        let hosts = FarEnd::Lookup((0..2 * spec.flows.len()).map(|a| Some(self.end(Address(a as u32)))).collect());
        let far_end = |place| far_ends.get(&place).unwrap_or(&hosts).clone();
        let mut wires = Vec::new();
        for l in &spec.links {
            for (name, wire, to) in
                [(l.name.clone(), &l.forward, l.to), (format!("{}.reverse", l.name), &l.reverse, l.from)]
            {
                world.wire(
                    Wire::new(spec.seed, &name, wire, far_end(to), &named).map_err(|e| format!("link {name}: {e}"))?,
                );
                wires.push(name);
            }
        }
        for (first, second) in self.in_a_row() {
            world.join(first, second);
        }
        for (&i, &card) in &self.cards {
            let Some(s) = spec.cell.as_ref().and_then(|c| c.stations.get(i)) else { continue };
            let Some(Client::Converter(c)) = s.client else { continue };
            let (who, name) = (i as StationId + 1, format!("{}.cable", s.name));
            let back = format!("{name}.reverse");
            let cell = FarEnd::Peer(Peer::Node(CELL, Bss::port(who)));
            let up = world.wire(Wire::card(spec.seed, &name, c.rate, c.latency, c.nic, cell));
            let down = world.wire(Wire::card(spec.seed, &back, c.rate, c.latency, c.nic, hosts.clone()));
            debug_assert_eq!((up, down), (card, cable_down(card)));
            wires.extend([name, back]);
            let limit = (s.queue.entry.build)(&s.queue.args, &Site::ALONE)?.limit();
            let pause = match (c.pause, limit.and_then(Amount::packets)) {
                (None, _) => None,
                (Some((high, low)), Some(n)) => Some(((high * n as f64).max(1.0) as u64, (low * n as f64) as u64)),
                _ => {
                    return Err(format!(
                        "station {}: client: mode = \"pause\" needs a queue with a limit in packets",
                        s.name
                    ));
                }
            };
            if let Some(bss) = world.node_mut::<Bss>(CELL) {
                bss.convert(who, card, pause);
            }
        }
        Ok(Net {
            world,
            flows: spec.flows.len(),
            ends: self.ends,
            cell: spec.cell.is_some().then_some(CELL),
            stations,
            category_queue_names,
            controlled,
            wires,
        })
    }

    /// What wires do at the access point and at routers; everywhere else flows end.
    fn far_ends(&self) -> BTreeMap<Place, FarEnd> {
        let routers = self.spec.nodes.iter().enumerate().filter(|(_, n)| n.router).map(|(i, _)| Place::Node(i));
        let mut ends: BTreeMap<Place, FarEnd> = routers
            .map(|place| {
                let hop = |path: &Vec<Hop>| path.iter().find(|h| h.from == place).and_then(|h| self.peer(h));
                (place, FarEnd::Lookup(self.by_address(hop).collect()))
            })
            .collect();
        ends.insert(Place::Ap, FarEnd::Peer(Peer::Node(CELL, AP)));
        ends
    }

    /// Pairs of wires of which the second takes all that the first carries, and nothing else.
    fn in_a_row(&self) -> Vec<(WireId, WireId)> {
        // The one neighbour of a wire on all paths; `None` where there are several, or where packets come from or go to
        // no wire.
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        let note = |known: &mut BTreeMap<WireId, Option<WireId>>, wire, neighbour| {
            known.entry(wire).and_modify(|n| *n = n.filter(|&n| Some(n) == neighbour)).or_insert(neighbour);
        };
        for path in self.paths.iter().flatten() {
            let wires: Vec<Option<WireId>> =
                path.iter().map(|h| h.link.map(|(l, forward)| WireId(2 * l as u32 + u32::from(!forward)))).collect();
            for (i, wire) in wires.iter().enumerate() {
                if let Some(wire) = *wire {
                    note(&mut before, wire, i.checked_sub(1).and_then(|i| wires[i]));
                    note(&mut after, wire, wires.get(i + 1).copied().flatten());
                }
            }
        }
        let follows = |(first, second): (WireId, Option<WireId>)| {
            second.filter(|s| before.get(s) == Some(&Some(first))).map(|s| (first, s))
        };
        after.into_iter().filter_map(follows).collect()
    }

    /// What control blocks may be told of each flow.
    fn facts(&self) -> Vec<FlowFacts> {
        let one = |(i, (f, [there, _])): (usize, (&FlowSpec, &[Vec<Hop>; 2]))| {
            let on_air = |p: Place| matches!(p, Place::Station(_));
            let up = match (on_air(f.from), on_air(f.to)) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            };
            // Half of what a packet and its answer take together.
            let links = there.iter().filter_map(|h| h.link).filter_map(|(l, _)| self.spec.links.get(l));
            let both = links
                .flat_map(|l| [l.forward.delay, l.reverse.delay])
                .fold(0, |sum: u64, d| sum.saturating_add(d.as_nanos()));
            let delay = Span::from_nanos(both / 2);
            let (ack, mss) = match &f.transport {
                Transport::Tcp(tcp) => {
                    (tcp.ack.max(1), tcp::SegmentFormat::new(f.packet, tcp).map_or(f.packet, |w| w.mss))
                }
                Transport::Udp => (1, f.packet),
            };
            FlowFacts { flow: FlowId(i as u32), up, delay, ack, mss }
        };
        self.spec.flows.iter().zip(&self.paths).enumerate().map(one).collect()
    }

    /// What the access point does with the packets to each address.
    fn routes(&self) -> Routes {
        let exit = |path: &Vec<Hop>| path.iter().find(|h| h.from == Place::Ap).copied();
        let exits = self.by_address(exit).enumerate().map(|(a, hop)| {
            let hop = hop?;
            let Place::Station(i) = hop.to else { return self.peer(&hop).map(Exit::Wire) };
            let cable = self.cards.get(&i).map(|&card| Peer::Wire(cable_down(card)));
            let host = cable.unwrap_or_else(|| self.end(Address(a as u32)));
            Some(Exit::Air { station: i as StationId + 1, host })
        });
        let categories = self.spec.flows.iter().flat_map(|f| [f.category; 2]);
        exits.zip(categories).map(|(exit, category)| Route { exit, category }).collect()
    }

    /// What `of` says of the path to each address, in the order of addresses.
    fn by_address<T>(&self, of: impl Fn(&Vec<Hop>) -> Option<T>) -> impl Iterator<Item = Option<T>> {
        // Data go to the receiver, whose address follows that of the sender.
        self.paths.iter().flat_map(move |[there, back]| [of(back), of(there)])
    }

    /// The end with this address.
    fn end(&self, a: Address) -> Peer {
        Peer::Node(NodeId(self.ends.0 + a.0), 0)
    }
}
