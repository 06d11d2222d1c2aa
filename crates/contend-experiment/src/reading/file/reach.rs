//! Checks a field before the run: no two stations have the same position, every flow has a route, and all stations hear
//! each other if an access rule requires it.

use super::choice::objection;
use super::error::FileError;
use super::reader::Val;
use contend_core::registry::{Choice, Fact};
use contend_sim::mobility::Squares;
use contend_sim::routing;
use contend_sim::scenario::{CellSpec, FieldLink, FieldSpec, FlowSpec, Place, Point};
use contend_sim::wifi::propagation::{Propagation, arrives};
use contend_sim::wifi::{access, walls};
use std::collections::BTreeMap;

/// The number of a station in the field; access points have the first numbers.
type Number = usize;

/// A field before its first run.
pub(crate) struct Reach<'r, 'a> {
    cell: &'r CellSpec,
    field: &'r FieldSpec,
    /// `[field]` in the file.
    at: &'r Val<'a>,
    /// The place of each station's site in the file.
    sites: &'r [Val<'a>],
    /// How the power falls with the distance.
    model: Box<dyn Propagation>,
}

impl<'r, 'a> Reach<'r, 'a> {
    /// The field of `cell`, which `at` and `sites` describe in the file.
    pub fn new(
        cell: &'r CellSpec,
        field: &'r FieldSpec,
        at: &'r Val<'a>,
        sites: &'r [Val<'a>],
    ) -> Result<Reach<'r, 'a>, FileError> {
        let Choice { entry, args } = &field.propagation;
        let model = objection(at, entry.name, (entry.build)(args))?;
        Ok(Reach { cell, field, at, sites, model })
    }

    /// Checks the field for these flows. `from` is the place of each flow's start in the file.
    pub fn check(&self, flows: &[FlowSpec], from: &[Val]) -> Result<(), FileError> {
        self.one_spot()?;
        self.whole_cell()?;
        self.static_routes()?;
        self.aggregates()?;
        if !self.is_known() {
            return Ok(());
        }
        let parts = self.field.routing.as_ref().map(|_| self.parts());
        for (flow, at) in flows.iter().zip(from) {
            let [from, to] = flow.candidates();
            let Some(parts) = &parts else {
                from.iter().chain(&to).try_for_each(|place| self.has_access_point(at, *place))?;
                continue;
            };
            let (Some(&first), Some(&last)) = (from.first(), to.first()) else { continue };
            // Routes go both ways: if one end reaches all, all reach each other.
            for (a, b) in to.iter().map(|to| (first, *to)).chain(from.iter().map(|from| (*from, last))) {
                if let (Some(a), Some(b)) = (self.on_air(a, b), self.on_air(b, a)) {
                    self.has_route(at, parts, a, b)?;
                }
            }
        }
        Ok(())
    }

    /// True if the file tells who hears whom, and nothing changes it.
    fn is_known(&self) -> bool {
        self.field.links.is_some() && self.field.sites.iter().all(|s| s.off.is_empty())
            || self.field.shadowing.is_none() && self.field.sites.iter().all(|s| s.fixed().is_some())
    }

    /// Refuses two stations at the same place.
    fn one_spot(&self) -> Result<(), FileError> {
        if self.field.links.is_some() {
            return Ok(());
        }
        let mut seen = BTreeMap::new();
        for ((station, site), at) in self.field.sites.iter().enumerate().zip(self.sites) {
            let Some(p) = site.fixed() else { continue };
            if let Some(other) = seen.insert((p.x.to_bits(), p.y.to_bits()), station) {
                let (here, there) = (self.name(station), self.name(other));
                return Err(at.error(
                    format!("puts \"{here}\" at ({}m, {}m), where \"{there}\" is", p.x, p.y),
                    "move one of them; a metre is enough",
                ));
            }
        }
        Ok(())
    }

    /// Refuses routes that never change for stations that move.
    fn static_routes(&self) -> Result<(), FileError> {
        let moves = self.field.sites.iter().zip(self.sites).find(|(s, _)| !s.mobility.entry.has(Fact::Constant));
        match (&self.field.routing, moves) {
            (Some(routing), Some((_, at))) if routing.entry.has(Fact::Constant) => Err(at.error(
                format!(
                    "moves a station, but field.routing = \"{}\" keeps the routes of the start",
                    routing.entry.name
                ),
                "write field.routing = \"aodv\" or \"dsdv\"",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses aggregates in a network with broadcasts, because broadcasts get no block acknowledgment.
    fn aggregates(&self) -> Result<(), FileError> {
        let messages = |r: &Choice<routing::Build>| !r.entry.has(Fact::Constant);
        let broadcasts = self.field.arp || self.field.routing.as_ref().is_some_and(messages);
        if broadcasts && self.cell.members().any(|s| s.aggregation.is_some()) {
            return Err(self.at.error(
                "has routing messages or ARP, but senders with wifi.ampdu or wifi.amsdu do not send broadcasts yet",
                "write \"off\" for both, or field.routing = \"static\" without arp",
            ));
        }
        Ok(())
    }

    /// Refuses access rules that count what happens in the whole cell, unless each station hears all others.
    fn whole_cell(&self) -> Result<(), FileError> {
        let setting = access::Setting::of(&self.cell.phy);
        let needs =
            |rule: &Choice<access::Build>| (rule.entry.build)(&rule.args, setting).is_ok_and(|r| r.whole_cell());
        let Some(rule) = self.cell.members().map(|s| &s.access).find(|rule| needs(rule)) else { return Ok(()) };
        let all = 0..self.field.sites.len();
        let apart = all.clone().find_map(|i| {
            let far = all.clone().find(|&j| j != i && !self.decodes(i, j))?;
            Some((self.name(i), self.name(far)))
        });
        match apart {
            None if !self.is_known() => Err(self.at.error(
                format!("has links that change, but `{}` needs a cell", rule.entry.name),
                "use another access rule like \"dcf\"",
            )),
            None => Ok(()),
            Some((a, b)) if !self.field.channels.is_empty() => Err(self.at.error(
                format!(
                    "has stations on different channels, like \"{a}\" and \"{b}\", but `{}` needs a cell",
                    rule.entry.name
                ),
                "use another access rule like \"dcf\"",
            )),
            Some((a, b)) => Err(self.at.error(
                format!("has stations out of range, like \"{a}\" and \"{b}\", but `{}` needs a cell", rule.entry.name),
                "use another access rule like \"dcf\", or write a larger field.range",
            )),
        }
    }

    /// Checks that the station at `place` is in range of its access point.
    fn has_access_point(&self, at: &Val, place: Place) -> Result<(), FileError> {
        let Place::Station(i) = place else { return Ok(()) };
        let (station, ap) = (self.cell.aps.len() + i, self.cell.ap_of(i));
        if self.decodes(station, ap) && self.decodes(ap, station) {
            return Ok(());
        }
        if self.field.links.is_some() {
            return Err(at.error(
                format!("starts a flow of \"{}\", which has no link to its access point", self.name(station)),
                format!("add [\"{}\", \"{}\"] to field.links", self.name(station), self.name(ap)),
            ));
        }
        let distance = self.point(station).distance(self.point(ap));
        Err(at.error(
            format!(
                "starts a flow of \"{}\", which is {distance:.1}m from its access point \"{}\"; a frame is decoded up \
                    to {}",
                self.name(station),
                self.name(ap),
                self.range()
            ),
            "move it nearer, write a larger field.range, or add field.routing = \"static\" for several hops",
        ))
    }

    fn has_route(&self, at: &Val, parts: &[Number], from: Number, to: Number) -> Result<(), FileError> {
        let part = |station: Number| parts.get(station).copied();
        if part(from) == part(to) {
            return Ok(());
        }
        if self.field.links.is_some() {
            return Err(at.error(
                format!("has no route from \"{}\" to \"{}\" over field.links", self.name(from), self.name(to)),
                "add a link that decodes in both directions",
            ));
        }
        let gap = self.gap(parts, part(from));
        let nearest = gap.map_or(String::new(), |(a, b, distance)| {
            format!(": the nearest gap is {distance:.1}m, from \"{}\" to \"{}\"", self.name(a), self.name(b))
        });
        Err(at.error(
            format!("has no route to the other end of the flow{nearest}; a frame is decoded up to {}", self.range()),
            "add a station in the gap, or write a larger field.range",
        ))
    }

    /// For each station, the number of the station that represents its connected component.
    fn parts(&self) -> Vec<Number> {
        let points: Vec<Point> = (0..self.field.sites.len()).map(|i| self.point(i)).collect();
        let squares = Squares::new(&points, self.field.range);
        let linked = self.field.links.as_ref().map(|links| {
            let mut of: BTreeMap<Number, Vec<Number>> = BTreeMap::new();
            for link in links {
                of.entry(link.from as Number).or_default().push(link.to as Number);
            }
            of
        });
        let mut parts = vec![usize::MAX; points.len()];
        for first in 0..points.len() {
            let mut reached = vec![first];
            while let Some(station) = reached.pop() {
                let Some(part) = parts.get_mut(station).filter(|part| **part == usize::MAX) else { continue };
                *part = first;
                let both = |i: &Number| self.decodes(station, *i) && self.decodes(*i, station);
                match &linked {
                    Some(linked) => reached.extend(linked.get(&station).into_iter().flatten().copied().filter(both)),
                    None => {
                        reached.extend(squares.near(self.point(station)).flatten().map(|i| *i as Number).filter(both))
                    }
                }
            }
        }
        parts
    }

    /// True if `to` decodes frames of `from`, as far as the file tells.
    fn decodes(&self, from: Number, to: Number) -> bool {
        self.field.channel(from) == self.field.channel(to)
            && match &self.field.links {
                Some(links) => FieldLink::between(links, from, to).is_some_and(|l| l.decodes),
                None => {
                    let (here, there) = (self.point(from), self.point(to));
                    let lost = walls::loss(&self.field.walls, here, there);
                    arrives(&*self.model, here.distance(there), lost, self.field.range)
                }
            }
    }

    /// How far a frame is decoded, in words.
    fn range(&self) -> String {
        format!(
            "{}m{}",
            self.field.range,
            if self.field.walls.is_empty() { "" } else { " where no wall is in the way" }
        )
    }

    /// The nearest pair of stations with one in this component and one outside, and their distance.
    fn gap(&self, parts: &[Number], part: Option<Number>) -> Option<(Number, Number, f64)> {
        let (mut inside, mut outside): (Vec<Number>, Vec<Number>) =
            (0..parts.len()).partition(|&i| parts.get(i).copied() == part);
        for side in [&mut inside, &mut outside] {
            side.sort_by(|a, b| self.point(*a).x.total_cmp(&self.point(*b).x));
        }
        let mut best: Option<(Number, Number, f64)> = None;
        for &a in &inside {
            let p = self.point(a);
            let middle = outside.partition_point(|&b| self.point(b).x < p.x);
            let (left, right) = outside.split_at(middle);
            for side in [&mut left.iter().rev() as &mut dyn Iterator<Item = &Number>, &mut right.iter()] {
                for &b in side {
                    let least = best.map_or(f64::INFINITY, |b| b.2);
                    if (self.point(b).x - p.x).abs() >= least {
                        break; // Those behind are even farther.
                    }
                    let distance = self.point(b).distance(p);
                    if distance < least {
                        best = Some((a, b, distance));
                    }
                }
            }
        }
        best
    }

    /// The station at which packets between `place` and `other` enter or leave the air: for a wired node, the access
    /// point of the other end.
    fn on_air(&self, place: Place, other: Place) -> Option<Number> {
        match (place, other) {
            (Place::Ap(i), _) => Some(i),
            (Place::Station(i), _) => Some(self.cell.aps.len() + i),
            (Place::Node(_), Place::Station(i)) => Some(self.cell.ap_of(i)),
            (Place::Node(_), _) => None,
        }
    }

    fn point(&self, station: Number) -> Point {
        self.field.sites.get(station).and_then(|s| s.position).unwrap_or_default()
    }

    fn name(&self, station: Number) -> &str {
        self.cell.members().nth(station).map_or("", |s| &s.name)
    }
}
