//! What a station knows of all destinations, and how it learns.

use super::super::Station;
use super::update::{Advertised, UNREACHABLE};
use contend_core::{Span, Time};

/// What is known of one destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) to: Station,
    pub(super) next: Station,
    /// Hops; [`UNREACHABLE`] if the route is broken.
    pub(super) hops: u8,
    pub(super) number: u32,
    /// `hops` of the last update sent.
    pub(super) told: u8,
    /// The number must be told. One update does it.
    pub(super) tell_number: bool,
    /// The hops must be told. Only a full update ends that.
    pub(super) tell_hops: bool,
    /// When the route was changed.
    pub(super) changed: Time,
    /// When `number` was heard for the first time.
    pub(super) numbered: Time,
    pub(super) settling: Span,
    /// It is not advertised before.
    pub(super) settled: Time,
    /// When an update for this route is triggered.
    pub(super) trigger: Time,
    /// When the neighbour `to` is lost; [`Time::NEVER`] if it is no neighbour.
    pub(super) silent: Time,
}

impl Route {
    pub(super) fn is_usable(&self) -> bool {
        self.hops != UNREACHABLE
    }
    pub(super) fn breaks(&mut self, now: Time) {
        self.hops = UNREACHABLE;
        self.number = self.number.saturating_add(1);
        (self.tell_number, self.tell_hops) = (true, true);
        (self.settled, self.trigger) = (now, now);
    }
}

/// The routes of one station.
#[derive(Debug)]
pub(super) struct Table {
    /// Settling time of a new destination.
    pub(super) settling: Span,
    /// Weight of the old settling time in the new one.
    pub(super) weight: f64,
    /// In order of destination. This station is one of them once it has sent an update.
    pub(super) routes: Vec<Route>,
}

impl Table {
    pub(super) fn find(&self, to: Station) -> Result<usize, usize> {
        self.routes.binary_search_by_key(&to, |r| r.to)
    }

    pub(super) fn route(&self, to: Station) -> Option<&Route> {
        self.find(to).ok().map(|i| &self.routes[i])
    }

    pub(super) fn put(&mut self, route: Route) {
        match self.find(route.to) {
            Ok(i) => self.routes[i] = route,
            Err(i) => self.routes.insert(i, route),
        }
    }

    /// A route to `to` over `next`, not to be advertised before it is heard of.
    pub(super) fn unheard(&self, to: Station, next: Station, hops: u8, now: Time) -> Route {
        Route {
            to,
            next,
            hops,
            number: 0,
            told: 0,
            tell_number: false,
            tell_hops: false,
            changed: now,
            numbered: now,
            settling: self.settling,
            settled: Time::NEVER,
            trigger: Time::NEVER,
            silent: Time::NEVER,
        }
    }

    /// The routes that can be advertised at `now` and have something to tell.
    pub(super) fn changes(&mut self, now: Time) -> impl Iterator<Item = &mut Route> {
        self.routes.iter_mut().filter(move |r| (r.tell_number || r.tell_hops) && r.settled <= now)
    }

    /// All routes over `neighbour` are broken.
    pub(super) fn lose(&mut self, now: Time, neighbour: Station) {
        let over = |r: &&mut Route| r.next == neighbour && r.is_usable();
        self.routes.iter_mut().filter(over).for_each(|r| r.breaks(now));
        if let Ok(i) = self.find(neighbour) {
            self.routes[i].silent = Time::NEVER;
        }
    }

    /// One destination of an update from `neighbour`.
    pub(super) fn hear(&mut self, now: Time, neighbour: Station, a: Advertised) {
        let hops = if a.hops == UNREACHABLE { UNREACHABLE } else { a.hops + 1 };
        let old = self.route(a.to).copied();
        let mut new = Route { hops, number: a.number, ..self.unheard(a.to, neighbour, hops, now) };
        if let Some(old) = old {
            (new.told, new.tell_number, new.tell_hops) = (old.told, old.tell_number, old.tell_hops);
            (new.trigger, new.silent) = (old.trigger, old.silent);
            (new.settling, new.numbered) = if old.number == a.number {
                (old.settling, old.numbered)
            } else {
                let took = old.changed.since(old.numbered).as_secs_f64();
                let settling = self.weight * old.settling.as_secs_f64() + (1.0 - self.weight) * took;
                (Span::from_secs_f64(settling), now)
            };
        }
        let settles = new.is_usable() && old.is_none_or(|r| r.is_usable());
        new.settled = if settles { now.saturating_add(new.settling * 2) } else { now };
        match old {
            None => {
                if new.is_usable() {
                    (new.tell_hops, new.trigger) = (true, new.settled);
                }
                self.put(new);
            }
            Some(old) if a.number > old.number => {
                new.tell_number = true;
                new.tell_hops = hops != old.told;
                self.put(new);
            }
            Some(old) if a.number == old.number && hops < old.hops => {
                new.tell_hops = hops != old.told;
                if new.tell_hops {
                    new.trigger = new.settled;
                }
                self.put(new);
            }
            Some(old) if a.number < old.number && hops == UNREACHABLE && old.is_usable() => {
                // The neighbour believes an old break: it is told better.
                self.put(Route { settled: now, tell_hops: true, trigger: now, ..old });
            }
            Some(_) => {}
        }
    }
}
