//! The access points of a network: `[ap]` and `[[ap]]`, their stations, and the wires between them.

use super::super::aggregation::{Aggregating, read_aql};
use super::super::choice::{choice, default_choice, objection};
use super::super::error::FileError;
use super::super::field::Field;
use super::super::reader::{Fields, ReadContext, Val};
use super::super::tree::NodeKind;
use super::super::wifi::{Wifi, read_access, read_ap_queue};
use super::{Builder, tables};
use crate::reading::roster::{CONTROLS, QDISCS};
use contend_core::ap::Facts;
use contend_core::registry::{Amount, Choice};
use contend_core::{Span, ap};
use contend_sim::scenario::{
    ApSpec, BeaconSpec, ChannelSpec, FieldLink, LinkSpec, Place, Point, Site, StationSpec, Wall,
};
use contend_sim::wifi::propagation::{Propagation, left};
use contend_sim::wifi::walls;
use std::collections::BTreeSet;

/// The tables of the access points: `[ap]`, or each `[[ap]]`.
pub(super) fn ap_tables(ap: Option<Val>, field: bool) -> Result<Vec<Val>, FileError> {
    match ap {
        Some(v) if !matches!(v.node.kind, NodeKind::List(_)) => Ok(vec![v]),
        Some(v) if !field => Err(v.error(
            "is a list of access points, but a cell has one: all its stations hear each other",
            "write [ap], or add [field] range = \"250m\" and a position for each access point and station",
        )),
        v => tables(v, "[[ap]]"),
    }
}

/// An access point whose file says nothing about it.
pub(super) fn usual_ap(cx: ReadContext, wifi: &Wifi) -> Result<ApSpec, FileError> {
    let station = StationSpec {
        name: "ap".into(),
        rate: wifi.phy.data,
        queue: default_choice(cx, QDISCS.all(), "fifo", &[])?,
        aggregation: wifi.aggregation.of(wifi.mac.retry_short),
        aql: None,
        loss: None,
        access: wifi.access.clone(),
        channel: ChannelSpec::default(),
        client: None,
        observe: vec![],
    };
    Ok(ApSpec { station, beacon: None, control: vec![] })
}

/// Reads a control block, or a list of them in the order in which packets pass them; `"none"` means no block.
fn read_control(v: &Val, ap: &StationSpec) -> Result<Vec<Choice<ap::Build>>, FileError> {
    let blocks: Vec<Val> = match &v.node.kind {
        NodeKind::Text(t) if t == "none" => return Ok(vec![]),
        NodeKind::List(_) => v.list("[{ kind = \"fcwa\" }]")?.collect(),
        _ => vec![v.clone()],
    };
    let buffer = ap.queue.limit().and_then(Amount::packets);
    let facts = Facts { buffer, flows: &[], cycle_time: &|_, _, _| Span::from_millis(1) };
    let read = |v: Val| {
        let block = choice(&v, CONTROLS.all(), "control block")?;
        objection(&v, block.entry.name, (block.entry.build)(&block.args, &facts))?;
        Ok(block)
    };
    blocks.into_iter().map(read).collect()
}

/// Reads `beacon`: "none", or a table.
fn read_beacon(v: &Val) -> Result<Option<BeaconSpec>, FileError> {
    if matches!(&v.node.kind, NodeKind::Text(t) if t == "none") {
        return Ok(None);
    }
    let mut f = v.table()?;
    let interval = f.read_or("interval", Span::from_micros(102_400), |v| {
        let interval = v.positive_span()?;
        if interval < Span::from_millis(1) {
            return Err(v.error("is shorter than a millisecond", "write for example \"102.4ms\""));
        }
        Ok(interval)
    })?;
    let bytes = f.read_or("size", 200, |v| Ok(v.bytes(40..=2332)? as u32))?;
    let offset = f.read("offset", |v| v.span())?;
    f.finish()?;
    Ok(Some(BeaconSpec { interval, bytes, offset }))
}

impl<'a> Builder<'a> {
    /// Reads `[ap]` or an `[[ap]]`.
    pub(super) fn access_point(&mut self, v: &Val<'a>, wifi: &Wifi) -> Result<(), FileError> {
        let mut f = v.table()?;
        let ApSpec { mut station, .. } = usual_ap(v.cx, wifi)?;
        match f.get("name") {
            Some(name) if v.path == "ap" => {
                return Err(name.error("is for several access points: that of [ap] is called \"ap\"", "write [[ap]]"));
            }
            None if v.path == "ap" => self.places.add_ap(),
            _ => station.name = self.places.add_named_ap(&f.need("name", "\"left\"")?, self.aps.len())?,
        }
        station.queue = read_ap_queue(&mut f)?.unwrap_or(station.queue);
        let aggregation = Aggregating::read(&mut f, &wifi.phy, wifi.phy.standard, Some(&wifi.aggregation))?;
        station.aggregation = aggregation.of(wifi.mac.retry_short);
        station.aql = read_aql(&mut f, station.aggregation.is_some())?;
        station.access = f.read_or("access", station.access, |v| read_access(&v, &wifi.phy))?;
        let control = f.read_or("control", vec![], |v| read_control(&v, &station))?;
        let beacon = f.read_or("beacon", None, |v| read_beacon(&v))?;
        self.sites.read(self.field.as_ref(), v, &mut f, None, self.traces)?;
        // Read with those of all access points.
        let _ = f.get("channel");
        station.observe = self.observers(&mut f)?;
        f.finish()?;
        self.aps.push(ApSpec { station, beacon, control });
        Ok(())
    }

    /// Associates each station that names no access point with the access point whose signal is strongest at the start.
    pub(super) fn associate(&mut self, links: Option<&[FieldLink]>) -> Result<(), FileError> {
        let Some(field) = self.field.as_ref().filter(|_| self.aps.len() > 1) else { return Ok(()) };
        let Some((aps, stations)) = self.sites.all.split_at_checked(self.aps.len()) else { return Ok(()) };
        let Some(signals) = Signals::new(field, aps.iter().map(|ap| &ap.1), links) else { return Ok(()) };
        for (i, ((at, site), ap)) in stations.iter().zip(&mut self.association).enumerate() {
            *ap = ap.or_else(|| signals.strongest(i, site.position));
            if ap.is_none() {
                return Err(at.error(
                    "gives no position before the run, and there are several access points",
                    "write the name of the station's access point, like ap = \"left\"",
                ));
            }
        }
        Ok(())
    }

    /// Joins the access points at the two ends of a flow by a wire, one for each pair. Access points that have a link
    /// in the file get no such wire, and none is needed where stations forward packets.
    pub(super) fn join(&mut self, ends: [&[Place]; 2], wire: Fields<'a>) -> Result<(), FileError> {
        if self.aps.len() < 2 || self.field.as_ref().is_some_and(Field::forwards) {
            return Ok(());
        }
        let unlinked = |ap: &usize| !self.linked.contains(ap);
        let [from, to]: [BTreeSet<usize>; 2] =
            ends.map(|places| places.iter().filter_map(|p| self.ap_of(*p)).filter(unlinked).collect());
        let pairs = from.iter().flat_map(|a| to.iter().filter(move |b| a != *b).map(|b| (*a.min(b), *a.max(b))));
        let new: BTreeSet<(usize, usize)> = pairs.filter(|pair| !self.joined.contains(pair)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let (forward, reverse) = self.wires(wire, None, false)?;
        for (a, b) in new {
            let name = |ap: usize| self.aps.get(ap).map_or("", |ap| ap.station.name.as_str());
            let name = self.places.add_link(None, name(a), name(b))?;
            let (forward, reverse) = (forward.clone(), reverse.clone());
            self.links.push(LinkSpec { name, from: Place::Ap(a), to: Place::Ap(b), forward, reverse });
            self.joined.insert((a, b));
        }
        Ok(())
    }

    /// The access point of the station at `place`.
    pub(super) fn ap_of(&self, place: Place) -> Option<usize> {
        if let Place::Station(i) = place { self.association.get(i).map(|ap| ap.unwrap_or(0)) } else { None }
    }
}

/// The signals of the access points of a field before the run, without shadowing.
struct Signals<'r> {
    model: Box<dyn Propagation>,
    walls: &'r [Wall],
    /// The positions of the access points; `None` if a run draws them.
    aps: Vec<Option<Point>>,
    /// The links that the file gives, in the order of their ends.
    links: Option<&'r [FieldLink]>,
}

impl<'r> Signals<'r> {
    /// The signals of the access points at these sites; `None` if the propagation model refuses its parameters.
    fn new<'s>(
        field: &'r Field,
        aps: impl Iterator<Item = &'s Site>,
        links: Option<&'r [FieldLink]>,
    ) -> Option<Signals<'r>> {
        let propagation = field.propagation();
        let model = (propagation.entry.build)(&propagation.args).ok()?;
        Some(Signals { model, walls: field.walls(), aps: aps.map(|site| site.position).collect(), links })
    }

    /// The access point whose signal is strongest at the station number `i` of all stations; of equal signals the
    /// nearest, then the first. `None` if a position is not known.
    fn strongest(&self, i: usize, position: Option<Point>) -> Option<usize> {
        let mut best = None;
        for (ap, at) in self.aps.iter().enumerate() {
            // Whether it is decoded, its power, and the distance below zero.
            let signal = match self.links {
                Some(links) => {
                    let link = FieldLink::between(links, ap, self.aps.len() + i);
                    link.map_or((false, 0.0, 0.0), |l| (l.decodes, l.gain, 0.0))
                }
                None => {
                    let (here, there) = (position?, (*at)?);
                    let distance = here.distance(there);
                    let lost = walls::loss(self.walls, here, there);
                    (true, self.model.gain(distance) * left(lost), -distance)
                }
            };
            if best.is_none_or(|(strongest, _)| signal > strongest) {
                best = Some((signal, ap));
            }
        }
        best.map(|(_, ap)| ap)
    }
}
