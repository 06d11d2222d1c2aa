//! How stations of a channel forward packets to each other.

use super::agents::{Agents, is_copy};
use super::bridge::Routes;
use super::field::Links;
use crate::rng;
use crate::routing::{Setting, Shortest};
use crate::stats::TransmitterCounters;
use crate::wifi::ids::StationId;
use crate::wifi::spec::{CellSpec, StationSpec};
use contend_core::Refusal;
use contend_core::registry::Choice;
use contend_core::{Packet, Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// How stations find the next hop.
#[derive(Debug)]
pub(super) enum Forwarding {
    /// Each station has an access point and sends everything to it. Access points know their stations.
    Infrastructure(Vec<StationId>),
    /// Routes that never change.
    Static(Shortest),
    /// A routing agent in each station.
    Agents(Box<Agents>),
}

impl Forwarding {
    /// The forwarding of `spec`. `links`: who hears whom in a field; static routes are those at the start.
    ///
    /// # Errors
    /// If the routing protocol refuses its parameters.
    pub(super) fn new(
        seed: u64,
        spec: &CellSpec,
        routes: &Routes,
        links: Option<&mut Links>,
    ) -> Result<Forwarding, Refusal> {
        let choice = spec.field.as_ref().and_then(|f| f.routing.as_ref().map(|choice| (choice, f.arp)));
        let Some(((Choice { entry, args }, arp), links)) = choice.zip(links) else {
            let of_stations = (0..spec.stations.len()).map(|i| spec.ap_of(i) as StationId);
            return Ok(Forwarding::Infrastructure((0..spec.aps.len() as StationId).chain(of_stations).collect()));
        };
        let homes = routes.homes.iter().flatten().map(|h| h.station);
        let neighbours: Vec<Vec<StationId>> = (0..links.stations() as StationId)
            .map(|s| links.hearers(Time::ZERO, s).iter().filter(|h| h.decodes).map(|h| h.station).collect())
            .collect();
        let shortest = Shortest::new(&neighbours, homes);
        if !spec.has_agents() {
            return Ok(Forwarding::Static(shortest));
        }
        let shortest = Some(Arc::new(shortest));
        let agent = |(me, s): (StationId, &StationSpec)| {
            let setting = Setting { me, stations: links.stations() as u32, shortest: shortest.clone() };
            let routing =
                (entry.build)(args, &setting).map_err(|e| e.of(format_args!("field.routing: {}", entry.name)))?;
            Ok((routing, rng::stream(seed, &s.name, "routing")))
        };
        let agents = (0..).zip(spec.members()).map(agent).collect::<Result<Vec<_>, Refusal>>()?;
        Ok(Forwarding::Agents(Box::new(Agents::new(agents, arp))))
    }

    /// True if stations send through access points only.
    #[inline]
    pub(super) fn is_infrastructure(&self) -> bool {
        matches!(self, Forwarding::Infrastructure(_))
    }

    /// The access point of `station`; `None` if stations forward packets.
    #[inline]
    pub(super) fn ap_of(&self, station: StationId) -> Option<StationId> {
        if let Forwarding::Infrastructure(aps) = self { aps.get(station as usize).copied() } else { None }
    }

    /// From now on `station` has the access point `ap`.
    pub(super) fn associate(&mut self, station: StationId, ap: StationId) {
        if let Forwarding::Infrastructure(aps) = self
            && let Some(place) = aps.get_mut(station as usize)
        {
            *place = ap;
        }
    }

    /// True if stations have routing agents.
    pub(super) fn has_agents(&self) -> bool {
        matches!(self, Forwarding::Agents(_))
    }

    /// Where `station` sends a packet that leaves the air at the station of `home`; `None` if it knows no way.
    #[inline]
    pub(super) fn next_hop(
        &self,
        station: StationId,
        is_ap: bool,
        home: impl FnOnce() -> Option<StationId>,
    ) -> Option<StationId> {
        match self {
            Forwarding::Infrastructure(_) if is_ap => home(),
            Forwarding::Infrastructure(aps) => aps.get(station as usize).copied(),
            Forwarding::Static(routes) => routes.next(station, home()?),
            Forwarding::Agents(agents) => agents.next_hop(station, home()?),
        }
    }

    /// The routing agents, if there are any.
    #[inline]
    pub(super) fn agents(&mut self) -> Option<&mut Agents> {
        if let Forwarding::Agents(agents) = self { Some(agents) } else { None }
    }

    /// When an agent must be woken.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        if let Forwarding::Agents(agents) = self { agents.deadline() } else { Time::NEVER }
    }
}

/// Packets between the network layer of a station and its queue or receiver, for a time that is always the same.
#[derive(Debug, Default)]
pub(super) struct LinkLayer {
    delay: Span,
    packets: VecDeque<(Time, Step, Packet)>,
    /// Packets that came in, and those that went out.
    taken: u64,
    passed: u64,
}

/// Where a packet goes after the link layer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Into the queue of a station.
    Down(StationId),
    /// To the network layer of a station.
    Up(StationId),
}

impl LinkLayer {
    /// A link layer that takes `delay` in each direction.
    pub(super) fn new(delay: Span) -> LinkLayer {
        LinkLayer { delay, ..LinkLayer::default() }
    }

    /// True if it takes no time.
    #[inline]
    pub(super) fn is_instant(&self) -> bool {
        self.delay.is_zero()
    }

    /// Takes a packet at `now`.
    pub(super) fn put(&mut self, now: Time, step: Step, p: Packet) {
        self.taken += u64::from(counts(&p));
        self.packets.push_back((now + self.delay, step, p));
    }

    /// The next packet that is through at `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> Option<(Step, Packet)> {
        if self.deadline() > now { None } else { self.take_due() }
    }

    /// The next packet, which is through.
    #[inline(never)]
    fn take_due(&mut self) -> Option<(Step, Packet)> {
        let (_, step, p) = self.packets.pop_front()?;
        self.passed += u64::from(counts(&p));
        Some((step, p))
    }

    /// When the next packet is through.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(at, ..)| *at)
    }

    /// What became of the packets that came in.
    pub(super) fn counters(&self) -> TransmitterCounters {
        let carrying = self.packets.iter().filter(|(.., p)| counts(p)).count() as u64;
        TransmitterCounters { taken: self.taken, delivered: self.passed, lost: 0, carrying, bytes: 0 }
    }
}

/// False for a copy of a broadcast: the broadcast has come to its end at its transmitter.
#[inline]
fn counts(p: &Packet) -> bool {
    !is_copy(p)
}
