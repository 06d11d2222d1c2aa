//! How stations of a channel forward packets to each other.

use super::StationId;
use super::bridge::Routes;
use super::field::Links;
use super::spec::{CellSpec, Routing};
use crate::stats::TransmitterCounters;
use contend_core::{Packet, Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// How stations find the next hop.
#[derive(Debug)]
pub(super) enum Forwarding {
    /// Each station, except access points, has an access point and sends everything to it. Access points know their
    /// stations.
    Infrastructure(Vec<StationId>),
    /// For each station where packets leave the air: the next hop from each station.
    Static(BTreeMap<StationId, Vec<Option<StationId>>>),
}

impl Forwarding {
    /// The next hops of `spec`. `links`: who hears whom in a field.
    pub(super) fn new(spec: &CellSpec, routes: &Routes, links: Option<&Links>) -> Forwarding {
        match (&spec.field, links) {
            (Some(field), Some(links)) if field.routing == Routing::Static => {
                let homes = routes.homes.iter().flatten().map(|h| h.station);
                Forwarding::Static(homes.map(|to| (to, fewest_hops(links, to))).collect())
            }
            _ => Forwarding::Infrastructure(vec![super::AP; spec.members().count()]),
        }
    }

    /// True if stations send through access points only.
    #[inline]
    pub(super) fn is_infrastructure(&self) -> bool {
        matches!(self, Forwarding::Infrastructure(_))
    }

    /// Where `station` sends a packet that leaves the air at `to`; `None` if it knows no way.
    #[inline]
    pub(super) fn next_hop(&self, station: StationId, to: StationId, is_ap: bool) -> Option<StationId> {
        match self {
            Forwarding::Infrastructure(_) if is_ap => Some(to),
            Forwarding::Infrastructure(aps) => aps.get(station as usize).copied(),
            Forwarding::Static(next) => *next.get(&to)?.get(station as usize)?,
        }
    }
}

/// The next hop from each station on a way to `to` with the fewest hops; of several, the station with the smallest
/// number.
fn fewest_hops(links: &Links, to: StationId) -> Vec<Option<StationId>> {
    let mut hops: Vec<Option<u32>> = vec![None; links.stations()];
    let mut next = vec![None; links.stations()];
    let mut todo = VecDeque::from([to]);
    hops[to as usize] = Some(0);
    while let Some(at) = todo.pop_front() {
        let far = hops[at as usize].map(|h| h + 1);
        let mut near: Vec<StationId> = links.of(at).iter().filter(|h| h.decodes).map(|h| h.station).collect();
        near.sort_unstable();
        for from in near {
            if hops[from as usize].is_none() {
                hops[from as usize] = far;
                todo.push_back(from);
            }
            if hops[from as usize] == far && next[from as usize].is_none_or(|n| at < n) {
                next[from as usize] = Some(at);
            }
        }
    }
    next[to as usize] = None;
    next
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
        self.taken += 1;
        self.packets.push_back((now + self.delay, step, p));
    }

    /// The next packet that is through at `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<(Step, Packet)> {
        self.packets.front().filter(|(at, ..)| *at <= now)?;
        self.passed += 1;
        self.packets.pop_front().map(|(_, step, p)| (step, p))
    }

    /// When the next packet is through.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(at, ..)| *at)
    }

    /// What became of the packets that came in.
    pub(super) fn counters(&self) -> TransmitterCounters {
        let carrying = self.packets.len() as u64;
        TransmitterCounters { taken: self.taken, delivered: self.passed, lost: 0, carrying }
    }
}
