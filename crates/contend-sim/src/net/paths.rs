//! The path of each flow, hop by hop.

use crate::peer::WireId;
use crate::scenario::{FlowSpec, Place, Scenario};
use crate::wifi::MAX_PACKET;
use contend_core::Refusal;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One step of a path: leave `from` for `to` over link `link` (`None`: over the air) in this direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) link: Option<(usize, bool)>,
}

impl Hop {
    /// The same step in the other direction.
    fn back(self) -> Hop {
        Hop { from: self.to, to: self.from, link: self.link.map(|(l, forward)| (l, !forward)) }
    }

    /// Its wire; `None` over the air. Each link has two successive wires: forward and reverse.
    pub(super) fn wire(&self) -> Option<WireId> {
        self.link.map(|(l, forward)| WireId(2 * l as u32 + u32::from(!forward)))
    }
}

/// A queue on the path of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueAt {
    /// The queue of the access point with this number in [`CellSpec::aps`](crate::scenario::CellSpec::aps).
    Ap(usize),
    /// The queue of the station with this number in [`CellSpec::stations`](crate::scenario::CellSpec::stations).
    Station(usize),
    /// The queue of one direction of the link with this number in [`Scenario::links`].
    Link {
        /// The link.
        link: usize,
        /// True for the direction of the link's own `from` and `to`.
        forward: bool,
    },
}

/// For each flow, the queues on the path of its data and on the path back.
///
/// # Errors
/// As [`Net::new`](super::Net::new), when a flow has no path.
pub fn queues_passed(scenario: &Scenario) -> Result<Vec<[Vec<QueueAt>; 2]>, Refusal> {
    let queue = |h: &Hop| match (h.link, h.from) {
        (Some((link, forward)), _) => Some(QueueAt::Link { link, forward }),
        (None, Place::Station(i)) => Some(QueueAt::Station(i)),
        (None, Place::Ap(i)) => Some(QueueAt::Ap(i)),
        (None, Place::Node(_)) => None,
    };
    let paths = of_flows(&mut Map::new(scenario, &[]))?;
    Ok(paths.iter().map(|both| both.each_ref().map(|path| path.iter().filter_map(queue).collect())).collect())
}

/// The hops of a network, and the paths that are already known.
pub(super) struct Map<'a> {
    spec: &'a Scenario,
    neighbours: BTreeMap<Place, Vec<Hop>>,
    known: BTreeMap<(Place, Place), Option<Vec<Hop>>>,
}

/// The path of each flow, from its source to its destination and back.
///
/// # Errors
/// If a flow has no path, both its ends are the same place, or its packets are too large for the air. The text names
/// the flow.
pub(super) fn of_flows(map: &mut Map<'_>) -> Result<Vec<[Vec<Hop>; 2]>, Refusal> {
    let spec = map.spec;
    let both = |f: &FlowSpec| {
        if f.from == f.to {
            return Err(Refusal::new(
                format!("flow {}: both ends are the same place", f.name),
                "write different places for `from` and `to`",
            ));
        }
        let path = map.path(f.from, f.to).ok_or_else(|| {
            Refusal::new(
                format!("flow {}: there is no path between its ends", f.name),
                "add the missing [[link]] (only routers and the access \
                    point forward packets)",
            )
        })?;
        if path.iter().any(|h| h.link.is_none()) && f.ends.packet > MAX_PACKET {
            return Err(Refusal::new(
                format!("flow {}: packet = {} B is too large for an 802.11 frame", f.name, f.ends.packet),
                format!("write {MAX_PACKET} B or less"),
            ));
        }
        let back = path.iter().rev().map(|h| h.back()).collect();
        Ok([path, back])
    };
    spec.flows.iter().map(both).collect()
}

/// For each of `hosts`, the paths to it from all the others that reach it.
pub(super) fn to_hosts(map: &mut Map<'_>, hosts: &[Place]) -> Vec<Vec<Vec<Hop>>> {
    let mut to = |host: Place| hosts.iter().filter(|h| **h != host).filter_map(|h| map.path(*h, host)).collect();
    hosts.iter().map(|host| to(*host)).collect()
}

impl<'a> Map<'a> {
    /// The map of `spec`. Beside its flows, the `hosts` send packets to each other.
    pub(super) fn new(spec: &'a Scenario, hosts: &[Place]) -> Map<'a> {
        Map { spec, neighbours: neighbours(spec, hosts), known: BTreeMap::new() }
    }

    /// The path between two places. At an end with one neighbour that hop is taken as it is; the search runs between
    /// the neighbours, once for each pair of them.
    fn path(&mut self, start: Place, end: Place) -> Option<Vec<Hop>> {
        let only_way = |p: Place| match self.neighbours.get(&p).map(Vec::as_slice) {
            Some([h]) => Some(*h),
            _ => None,
        };
        let first = only_way(start);
        let from = first.map_or(start, |h| h.to);
        let last = only_way(end).filter(|_| from != end);
        let to = last.map_or(end, |h| h.to);
        let between = self.known.entry((from, to)).or_insert_with(|| shortest(self.spec, &self.neighbours, from, to));
        Some(first.into_iter().chain(between.as_ref()?.iter().copied()).chain(last.map(Hop::back)).collect())
    }
}

/// For each place, the hops that leave it.
fn neighbours(spec: &Scenario, hosts: &[Place]) -> BTreeMap<Place, Vec<Hop>> {
    let mut n: BTreeMap<Place, Vec<Hop>> = BTreeMap::new();
    let mut add = |h: Hop| n.entry(h.from).or_default().push(h);
    for (i, l) in spec.links.iter().enumerate() {
        add(Hop { from: l.from, to: l.to, link: Some((i, true)) });
        add(Hop { from: l.to, to: l.from, link: Some((i, false)) });
    }
    let ends = spec.flows.iter().flat_map(|f| [f.from, f.to]).chain(hosts.iter().copied());
    let stations: BTreeSet<Place> = ends.filter(|p| matches!(p, Place::Station(_))).collect();
    for &p in &stations {
        if let (Place::Station(i), Some(cell)) = (p, spec.cell.as_ref().filter(|c| !c.aps.is_empty())) {
            let ap = Place::Ap(cell.ap_of(i));
            add(Hop { from: p, to: ap, link: None });
            add(Hop { from: ap, to: p, link: None });
        }
    }
    // Where stations forward packets, the air between any two of them is one step.
    if spec.cell.as_ref().and_then(|c| c.field.as_ref()).is_some_and(|f| f.routing.is_some()) {
        let between = spec.flows.iter().map(|f| (f.from, f.to));
        let outside = hosts.iter().enumerate().flat_map(|(i, a)| hosts[..i].iter().map(|b| (*a, *b)));
        for (a, b) in between.chain(outside) {
            if stations.contains(&a) && stations.contains(&b) {
                add(Hop { from: a, to: b, link: None });
                add(Hop { from: b, to: a, link: None });
            }
        }
    }
    n
}

/// The path with the fewest hops from `from` to `to`. Only access points and routers forward packets.
fn shortest(spec: &Scenario, neighbours: &BTreeMap<Place, Vec<Hop>>, from: Place, to: Place) -> Option<Vec<Hop>> {
    let passes = |p: Place| match p {
        Place::Ap(_) => true,
        Place::Station(_) => false,
        Place::Node(i) => spec.nodes.get(i).is_some_and(|n| n.router),
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

/// Pairs of wires: the second takes every packet of the first, and no other packet.
pub(super) fn in_a_row<'a>(paths: impl Iterator<Item = &'a Vec<Hop>>) -> Vec<(WireId, WireId)> {
    // The only neighbour of a wire on all paths; `None` if there are several, or if the neighbour is not a wire.
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    let note = |known: &mut BTreeMap<WireId, Option<WireId>>, wire, neighbour| {
        known.entry(wire).and_modify(|n| *n = n.filter(|&n| Some(n) == neighbour)).or_insert(neighbour);
    };
    for path in paths {
        let wires: Vec<Option<WireId>> = path.iter().map(Hop::wire).collect();
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
