//! The network allocation vector: until when other stations have reserved the medium (IEEE 802.11-2016 §10.3.2.4).

use crate::wifi::ids::StationId;
use contend_core::Time;

/// The network allocation vector of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nav {
    /// The end of the reservation.
    until: Time,
    /// When the reservation lapses if nothing is heard before: it comes from an RTS. [`Time::NEVER`]: it does not.
    check: Time,
    /// The station whose exchange reserved the medium.
    from: StationId,
}

impl Default for Nav {
    fn default() -> Nav {
        Nav { until: Time::ZERO, check: Time::NEVER, from: 0 }
    }
}

impl Nav {
    /// The end of the reservation, as known at the end of the last frame.
    #[inline]
    pub(crate) fn reserved_until(&self) -> Time {
        self.until.min(self.check)
    }

    /// An exchange of `from` reserves the medium until `until`; if `check` is given, only until then unless something
    /// is heard before.
    #[inline]
    pub(crate) fn reserve(&mut self, until: Time, check: Option<Time>, from: StationId) {
        if until > self.until {
            *self = Nav { until, check: check.filter(|c| *c < until).unwrap_or(Time::NEVER), from };
        }
    }

    /// The reservation of `from` ends at `now`.
    pub(crate) fn release(&mut self, now: Time, from: StationId) {
        if self.until > now && self.from == from {
            (self.until, self.check) = (now, Time::NEVER);
        }
    }

    /// The medium turns busy at `now`: the reservation of an RTS stands, or has lapsed.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time) {
        if now >= self.check {
            self.until = self.check;
        }
        self.check = Time::NEVER;
    }

    /// True if its station may answer an RTS of `from` at `now`.
    pub(crate) fn may_answer(&self, now: Time, from: StationId) -> bool {
        // IEEE 802.11-2016 §10.3.2.7: unless the NAV was set by the station that sent the RTS.
        self.reserved_until() <= now || self.from == from
    }
}

/// The reservations that outlast the exchange that made them, in a cell.
///
/// A frame sets the NAV of all stations except its sender and its receiver. So nearly all stations have the same NAV,
/// and there is one only after an exchange that ends before the time that it reserves.
#[derive(Debug, Default)]
pub(crate) struct Navs {
    /// True if there may be a reservation.
    pub(crate) stand: bool,
    /// The NAV of all other stations.
    all: Nav,
    /// The stations whose NAV is a different one.
    apart: Vec<(StationId, Nav)>,
}

impl Navs {
    /// The NAV of `station`.
    pub(crate) fn of(&self, station: StationId) -> Nav {
        self.apart.iter().find(|(who, _)| *who == station).map_or(self.all, |(_, nav)| *nav)
    }

    /// The NAV of all stations that are not in [`Navs::apart`].
    pub(crate) fn all(&self) -> Nav {
        self.all
    }

    /// True if the NAV of `station` is not that of all others.
    pub(crate) fn is_apart(&self, station: StationId) -> bool {
        self.apart.iter().any(|(who, _)| *who == station)
    }

    /// Of the stations whose NAV is not that of all others, number `i`.
    pub(crate) fn apart(&self, i: usize) -> Option<StationId> {
        self.apart.get(i).map(|(station, _)| *station)
    }

    /// The medium turns busy at `now`. Reservations that have lapsed or ended are forgotten.
    pub(crate) fn settle(&mut self, now: Time) {
        self.each(|nav| nav.settle(now));
        self.forget(now);
    }

    /// Forgets all reservations if the last one has ended by `now`.
    pub(crate) fn forget(&mut self, now: Time) {
        let Navs { all, apart, .. } = self;
        self.stand = all.reserved_until() > now || apart.iter().any(|(_, nav)| nav.reserved_until() > now);
        if !self.stand {
            self.reset();
        }
    }

    /// An exchange between two stations ends before the time that its frames reserve: the channel has cut it short, or
    /// its transmission opportunity lasts longer. Those that heard its first frame keep the medium free `until`, or
    /// until `check`, see [`Nav::reserve`]. `receiver` gives the NAV of the receiver, which has the one that it is
    /// called with.
    pub(crate) fn reserve(
        &mut self,
        [from, to]: [StationId; 2],
        (until, check): (Time, Option<Time>),
        receiver: impl FnOnce(&mut Nav),
    ) {
        let mut navs = [from, to].map(|station| (station, self.of(station)));
        receiver(&mut navs[1].1);
        self.apart.retain(|(station, _)| *station != from && *station != to);
        self.each(|nav| nav.reserve(until, check, from));
        self.apart.extend(navs);
        let all = self.all;
        self.apart.retain(|(_, nav)| *nav != all);
        self.stand = true;
    }

    /// All stations have heard a CF-End: no reservation stands.
    pub(crate) fn reset(&mut self) {
        self.stand = false;
        self.all = Nav::default();
        self.apart.clear();
    }

    fn each(&mut self, f: impl Fn(&mut Nav)) {
        f(&mut self.all);
        self.apart.iter_mut().for_each(|(_, nav)| f(nav));
    }
}
