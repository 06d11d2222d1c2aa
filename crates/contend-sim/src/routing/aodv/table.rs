//! What a station knows of destinations that it routes to or looks for.

use super::super::Station;
use contend_core::{Span, Time};
use std::collections::BTreeMap;

/// State of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Up,
    Down,
    /// Broken; this station looks for another one and keeps packets until then.
    InRepair,
}

/// What is known of one destination.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) state: State,
    pub(super) next: Station,
    pub(super) hops: u8,
    /// The destination's number of this route; `None` if never heard.
    pub(super) number: Option<u32>,
    /// A route that is up is not used after this time.
    pub(super) expires: Time,
    /// Neighbours that use this route through this station.
    pub(super) precursors: Vec<Station>,
    pub(super) search: Search,
}

/// The search for a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// Requests so far that went through the whole network.
    pub(super) floods: u32,
    /// TTL of the last request, or hops of the last route; 0: never known.
    pub(super) ttl: u8,
    /// No request is sent before.
    pub(super) again: Time,
    /// When the last request was sent.
    pub(super) asked: Option<Time>,
    /// How long the last discoveries took for each hop; zero: fewer discoveries.
    pub(super) took: [Span; 3],
}

/// True if number `a` is newer than `b` (RFC 3561 §6.1: by signed difference).
pub(super) fn is_newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Route {
    pub(super) fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// The route becomes invalid and gets a later number, so that older news of it are not believed.
    pub(super) fn breaks(&mut self) {
        self.state = State::Down;
        self.search.ttl = self.search.ttl.max(self.hops);
        self.number = self.number.map(|n| n.wrapping_add(1));
    }

    /// Takes a route over `next`, if it is better than the present one (RFC 3561 §6.2). True if it was taken.
    pub(super) fn learn(&mut self, next: Station, hops: u8, number: u32, expires: Time) -> bool {
        let better = match self.number {
            None => true,
            Some(own) if own == number => !self.is_up() || hops < self.hops,
            Some(own) => is_newer(number, own),
        };
        if better {
            (self.state, self.next, self.hops, self.number) = (State::Up, next, hops, Some(number));
            self.expires = expires;
            self.search = Search { floods: 0, ttl: hops, again: Time::ZERO, ..self.search };
        }
        better
    }

    pub(super) fn add_precursor(&mut self, neighbour: Station) {
        if let Err(place) = self.precursors.binary_search(&neighbour) {
            self.precursors.insert(place, neighbour);
        }
    }
}

/// All routes of a station.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) routes: BTreeMap<Station, Route>,
}

impl Table {
    /// What is known of `to`; nothing at first.
    pub(super) fn entry(&mut self, to: Station) -> &mut Route {
        self.routes.entry(to).or_insert_with(|| Route {
            state: State::Down,
            next: to,
            hops: 0,
            number: None,
            expires: Time::ZERO,
            precursors: vec![],
            search: Search { floods: 0, ttl: 0, again: Time::ZERO, asked: None, took: [Span::ZERO; 3] },
        })
    }

    pub(super) fn get(&self, to: Station) -> Option<&Route> {
        self.routes.get(&to)
    }

    /// The route to `to`, if it is up.
    pub(super) fn up(&mut self, to: Station) -> Option<&mut Route> {
        self.routes.get_mut(&to).filter(|r| r.is_up())
    }
}
