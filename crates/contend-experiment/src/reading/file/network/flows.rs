//! The members of the flows of a network, with their own stations, hosts and wires.

use super::super::channel::check_snr;
use super::super::error::FileError;
use super::super::field::Field;
use super::super::flow::Draft;
use super::super::places::End;
use super::super::reader::{Fields, Val};
use super::super::wifi::Wifi;
use super::groups::{Group, direction, member};
use super::{Builder, LARGEST_ON_AIR, MOST};
use crate::point::{Direction, Member};
use contend_core::Span;
use contend_sim::scenario::{EndsSpec, FlowSpec, LinkSpec, NodeSpec, Place, StationSpec, WireSpec};
use contend_sim::tcp::UDP_HEADERS;

impl<'a> Builder<'a> {
    /// Creates every member of a flow, with its own stations, hosts and wires.
    pub(super) fn flows(
        &mut self,
        group: &Group<'a>,
        wifi: Option<&Wifi>,
        wire: Option<&Val<'a>>,
        duration: Span,
    ) -> Result<(), FileError> {
        let n = group.count.unwrap_or(1);
        for k in 1..=n {
            if self.flows.len() as u64 >= MOST {
                return Err(group.val.error(format!("makes more than {MOST} flows"), "write a smaller count"));
            }
            let fields = member(&group.val, k, n)?;
            let cx = fields.cx;
            let draft = Draft::read(fields, duration)?;
            let name = if group.count.is_some() { format!("{}.{k}", group.name) } else { group.name.clone() };
            let ends = (self.places.end(&draft.from, wifi.is_some())?, self.places.end(&draft.to, wifi.is_some())?);
            let random = [self.places.random(&draft.from)?, self.places.random(&draft.to)?];
            if ends.0 == ends.1 && !matches!(ends.0, End::Station | End::Random) {
                return Err(draft.to.error("is also the start of the flow", "name two different places"));
            }
            let direction = direction(ends.0, ends.1);
            let largest = LARGEST_ON_AIR.saturating_sub(self.field.as_ref().map_or(0, Field::header));
            if let (Some(at), true) = (&draft.packet_at, direction != Direction::Wired && draft.packet > largest) {
                return Err(at.error(
                    format!("is too large for an 802.11 frame: {}B", draft.packet),
                    format!("write at most {largest}B"),
                ));
            }
            if let Some((at, bytes)) = &draft.datagram
                && direction != Direction::Wired
                && *bytes > u64::from(largest)
            {
                return Err(at.error(
                    format!("writes datagrams of {bytes}B with their headers: too large for an 802.11 frame"),
                    format!("write at most {}B of payload, or tcp instead of udp", largest - UDP_HEADERS),
                ));
            }
            if let (Some(delay), false) = (&draft.delay, ends.0 == End::Server || ends.1 == End::Server) {
                return Err(delay.error(
                    "is the delay of the wire to \"server\", but neither end is \"server\"",
                    "set the delay of a [[link]] instead",
                ));
            }
            let wire = match wire {
                Some(v) => Val { cx, ..v.clone() }.table()?,
                None => Fields::empty(&Val { path: "wire".into(), ..group.val.clone() }),
            };
            let wires = if ends.0 == End::Server || ends.1 == End::Server {
                Some(self.wires(wire, draft.delay.as_ref(), false)?)
            } else {
                let places = |end, random: &Option<Vec<Place>>| match end {
                    End::At(place) => vec![place],
                    _ => random.clone().unwrap_or_default(),
                };
                self.join([&places(ends.0, &random[0]), &places(ends.1, &random[1])], wire)?;
                None
            };
            let from = self.place(ends, &draft.from, &format!("{name}.sta"), &name, wifi, wires.as_ref())?;
            let to_name = if direction == Direction::Local { "peer" } else { "sta" };
            let back = (ends.1, ends.0);
            let to = self.place(back, &draft.to, &format!("{name}.{to_name}"), &name, wifi, wires.as_ref())?;
            let kernel = draft.kernel;
            self.members.push(Member { group: group.index, k: k as usize, n: n as usize, direction, kernel });
            self.from.push(draft.from);
            self.asks_small_queue.push(draft.asks_small_queue);
            let Draft { packet, transport, category, traffic, start, stop, size, overhead, .. } = draft;
            let ends = EndsSpec { packet, transport, traffic, start, stop, size, overhead };
            self.flows.push(FlowSpec { name, from, to, random: random.map(|r| r.map(Into::into)), category, ends });
        }
        Ok(())
    }

    /// The place of the end `end` of the flow `flow`, whose other end is `other`.
    fn place(
        &mut self,
        (end, other): (End, End),
        at: &Val,
        station: &str,
        flow: &str,
        wifi: Option<&Wifi>,
        wires: Option<&(WireSpec, WireSpec)>,
    ) -> Result<Place, FileError> {
        match (end, wifi, wires) {
            (End::At(Place::Ap(_)), ..) => Err(at.error(
                "is an access point: a flow cannot end there",
                "write \"server\" for a host behind it, or \"station\"",
            )),
            (End::At(Place::Node(i)), ..) if self.nodes.get(i).is_some_and(|n| n.router) => Err(at.error(
                "is a router: a flow cannot end there",
                "name a host, or write kind = \"host\" in its [[node]]",
            )),
            (End::At(place), ..) => Ok(place),
            // A run draws another one.
            (End::Random, ..) => Ok(Place::Station(0)),
            (End::Station, Some(_), _) if self.field.is_some() => Err(at.error(
                "is \"station\", but in a [field] each station needs a position",
                "add [[station]] name = \"a\", position = [\"100m\", \"500m\"], and write its name",
            )),
            (End::Server, ..) if self.field.is_some() && self.aps.is_empty() => Err(at.error(
                "is \"server\", a host behind the access point, but the file has no [ap]",
                "add [ap] position = [\"100m\", \"500m\"], or name a station",
            )),
            (End::Server, ..) if self.aps.len() > 1 && !matches!(other, End::At(Place::Station(_))) => Err(at.error(
                "is \"server\", a host behind the station's access point, but the other end names no single station",
                "name a [[node]] that a [[link]] joins to an access point",
            )),
            (End::Station, Some(w), _) => {
                check_snr(&w.channel, self.has_snr, &mut |key, message, help| {
                    at.error(format!("makes a station with a channel whose {key} {message}"), help)
                })?;
                let spec = StationSpec {
                    name: station.into(),
                    rate: w.phy.data,
                    queue: w.queue.clone(),
                    aggregation: w.aggregation.of(w.mac.retry_short),
                    aql: None,
                    loss: w.loss.clone(),
                    access: w.access.clone(),
                    channel: w.channel.clone(),
                    client: None,
                    observe: vec![],
                };
                self.add_station(at, spec, None)
            }
            (End::Server, _, Some((forward, reverse))) => {
                let host = Place::Node(self.nodes.len());
                self.nodes.push(NodeSpec { name: format!("{flow}.server"), router: false });
                self.links.push(LinkSpec {
                    name: format!("{flow}.wire"),
                    from: host,
                    to: Place::Ap(if let End::At(place) = other { self.ap_of(place).unwrap_or(0) } else { 0 }),
                    forward: forward.clone(),
                    reverse: reverse.clone(),
                });
                Ok(host)
            }
            (End::Station | End::Server, ..) => Err(at.error("needs a cell", "add [wifi] standard = \"802.11g\"")),
        }
    }
}
