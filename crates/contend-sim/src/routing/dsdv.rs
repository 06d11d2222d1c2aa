//! DSDV: destination-sequenced distance vectors.
//!
//! Each station sends its table to its neighbours, all of it once in a period and changes in between. A route is
//! better if its destination numbered it later, or with equal numbers if it has fewer hops. A new route is advertised
//! only after it has settled: after twice the time by which the best route used to come later than the first.
//!
//! Rules and timers are those of ns-2, as far as the paper leaves them open. Differences from ns-2:
//! - a packet that waits is sent when its own route is usable; ns-2 also tries while the route is broken, and may spin;
//! - a packet that is routed again after a failure does not get `ip_header` a second time;
//! - an update that exceeds `largest` is sent in several packets; ns-2 counts entries modulo 256.

use super::outbox::Outbox;
use super::waiting::Waiting;
use super::{Actions, Entrance, Malformed, Routed, Routing, RoutingDrop, Setting, Station, ip_header};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Amount, Args, Param};
use contend_core::{Cx, Rng, Span, Time};
use rand::RngExt as _;

mod table;
mod update;

use table::{Route, Table};
use update::{Advertised, UNREACHABLE};

/// Source.
pub const CITE: &str = "Perkins, Bhagwat: Highly Dynamic Destination-Sequenced Distance-Vector Routing (DSDV) for \
    Mobile Computers, SIGCOMM 1994; timers of ns-2.35";
/// What it does.
pub const SUMMARY: &str = "Each station tells its neighbours its table of distances, at intervals and on changes; each \
    destination numbers its routes, and a later number wins.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("period", "longest time between two full updates").default("15s").range(0.1, 1e4),
    Param::fraction("earliest", "shortest time between two full updates, as a share of `period`; each is uniform")
        .default("75%")
        .range(0.01, 1.0),
    Param::time("first", "the first update comes at a uniform time up to this one").default("2s").range(0.0, 1e4),
    Param::time("settling", "settling time of a new destination; its double passes before it is advertised")
        .default("6s")
        .range(0.0, 1e4),
    Param::fraction("weight", "weight of the old settling time in the new one").default("87.5%").range(0.0, 1.0),
    Param::time("triggered", "shortest time between two updates of which the second is triggered")
        .default("1s")
        .range(0.001, 1e4),
    Param::integer("missed", "periods without an update after which a neighbour is lost")
        .default("3")
        .range(1.0, 100.0),
    Param::time("jitter", "a broadcast leaves after a uniform time up to this one").default("10ms").range(0.0, 10.0),
    Param::flag("feedback", "true: a frame that the MAC gives up breaks the link at once").default("false"),
    Param::amount("buffer", "packets that wait for a route to one destination").default("5p").range(0.0, 1e6),
    Param::amount("largest", "largest IP packet of an update; a longer update is split")
        .default("1500B")
        .range(32.0, 2296.0),
    Param::integer("ttl", "most hops of a data packet").default("32").range(1.0, 255.0),
    super::IP_HEADER,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the agent.
///
/// # Errors
/// When an amount has the wrong unit.
pub fn build(args: &Args, setting: &Setting) -> Result<Box<dyn Routing>, Refusal> {
    let Amount::Bytes(largest) = args.amount("largest") else {
        return Err(Refusal::new("largest counts bytes", "write largest = \"1500B\""));
    };
    let Some(buffer) = args.amount("buffer").packets() else {
        return Err(Refusal::new("buffer counts packets", "write buffer = \"5p\""));
    };
    let period = args.time("period");
    Ok(Box::new(Dsdv {
        me: setting.me,
        stations: setting.stations,
        entrance: Entrance {
            me: setting.me,
            ip_header: ip_header(args)?,
            ttl: args.integer("ttl").clamp(1, 255) as u8,
        },
        period,
        earliest: args.number("earliest"),
        first: args.time("first"),
        triggered: args.time("triggered"),
        patience: period * args.integer("missed").max(1) as u64,
        jitter: args.time("jitter"),
        feedback: args.flag("feedback"),
        largest: largest as usize,
        table: Table { settling: args.time("settling"), weight: args.number("weight"), routes: vec![] },
        number: 0,
        periodic: None,
        last_update: None,
        outbox: Outbox::new(),
        waiting: Waiting::new(buffer as usize, true, Span::MAX),
        deadline: Time::ZERO,
    }))
}

/// The agent of one station.
#[derive(Debug)]
struct Dsdv {
    me: Station,
    stations: u32,
    entrance: Entrance,
    period: Span,
    earliest: f64,
    first: Span,
    triggered: Span,
    /// How long a neighbour may be silent.
    patience: Span,
    jitter: Span,
    feedback: bool,
    /// Bytes.
    largest: usize,
    table: Table,
    /// The number of this station's last full update; even, because an odd number means a broken route.
    number: u32,
    /// When the next full update is due; `None` before the start.
    periodic: Option<Time>,
    last_update: Option<Time>,
    /// Updates that wait for their jitter.
    outbox: Outbox<Vec<u8>>,
    waiting: Waiting,
    deadline: Time,
}

impl Dsdv {
    /// Sends `p`, or keeps it until there is a route.
    fn pass(&mut self, now: Time, p: &Routed, acts: &mut Actions) {
        match self.table.route(p.destination) {
            Some(r) if r.is_usable() => return acts.send(p.packet, r.next),
            Some(_) => {}
            None => self.table.put(self.table.unheard(p.destination, p.destination, UNREACHABLE, now)),
        }
        self.waiting.push(now, p, acts);
    }

    /// Advertises the changes, or all of the table if `full` or if much has changed.
    fn update(&mut self, cx: &mut Cx, full: bool) {
        let now = cx.now;
        let changes = self.table.changes(now).count();
        let full = full || (changes > 3 && changes * 3 > self.table.routes.len());
        let mut told = vec![];
        let mut tell = |r: &mut Route| {
            told.push(Advertised { to: r.to, hops: r.hops, number: r.number });
            r.told = r.hops;
            r.tell_number = false;
            r.tell_hops &= !full;
        };
        if full {
            self.number += 2;
            let own = self.table.unheard(self.me, self.me, 0, now);
            self.table.put(Route { number: self.number, settled: Time::ZERO, ..own });
            self.periodic = Some(now.saturating_add(self.interval(cx.rng)));
            self.table.routes.iter_mut().filter(|r| r.settled <= now).for_each(&mut tell);
        } else {
            self.table.changes(now).for_each(&mut tell);
        }
        for part in told.chunks(update::most(self.largest)) {
            let at = now.saturating_add(uniform(cx.rng, self.jitter));
            self.outbox.put(at, update::write(part));
        }
        if !told.is_empty() {
            self.last_update = Some(now);
        }
    }

    fn interval(&self, rng: &mut Rng) -> Span {
        let share = self.earliest + (1.0 - self.earliest) * rng.random::<f64>();
        Span::from_secs_f64(self.period.as_secs_f64() * share)
    }

    /// A triggered update is due for some route.
    fn trigger(&mut self, cx: &mut Cx) {
        let possible = self.last_update.map_or(Time::ZERO, |t| t.saturating_add(self.triggered));
        let routes = &mut self.table.routes;
        let Some(first) = (0..routes.len()).min_by_key(|&i| routes[i].trigger) else { return };
        if cx.now < possible {
            // One trigger at the next possible time stands for all that are earlier.
            routes.iter_mut().filter(|r| r.trigger < possible).for_each(|r| r.trigger = Time::NEVER);
            routes[first].trigger = possible;
        } else {
            routes[first].trigger = Time::NEVER;
            self.update(cx, false);
        }
    }

    fn reckon_deadline(&mut self) {
        let timers = self.table.routes.iter().map(|r| r.trigger.min(r.silent)).min().unwrap_or(Time::NEVER);
        self.deadline = timers.min(self.periodic.unwrap_or(Time::ZERO)).min(self.outbox.first());
    }
}

/// A uniform time up to `most`.
fn uniform(rng: &mut Rng, most: Span) -> Span {
    Span::from_secs_f64(rng.random::<f64>() * most.as_secs_f64())
}

impl Routing for Dsdv {
    fn forward(&mut self, cx: &mut Cx, p: &Routed, acts: &mut Actions) {
        if let Some(p) = self.entrance.admit(p, acts) {
            self.pass(cx.now, &p, acts);
        }
    }

    fn message(&mut self, cx: &mut Cx, neighbour: Station, bytes: &[u8], acts: &mut Actions) -> Result<(), Malformed> {
        let now = cx.now;
        for a in update::read(bytes, self.stations)? {
            if a.to != self.me {
                self.table.hear(now, neighbour, a);
            } else if a.hops == UNREACHABLE && self.periodic.is_some() {
                // A station has the last word on itself: it tells at once that it is there.
                self.periodic = Some(now);
            }
            if let Some(next) = self.next_hop(a.to) {
                while let Some(p) = self.waiting.pop(a.to) {
                    acts.send(p.packet, next);
                }
            }
        }
        if self.table.route(neighbour).is_none() {
            self.table.put(self.table.unheard(neighbour, neighbour, 1, now));
        }
        if let Ok(i) = self.table.find(neighbour) {
            self.table.routes[i].silent = now.saturating_add(self.patience);
        }
        self.reckon_deadline();
        Ok(())
    }

    fn failed(&mut self, cx: &mut Cx, next: Station, p: Option<&Routed>, acts: &mut Actions) {
        if self.feedback {
            self.table.lose(cx.now, next);
            self.reckon_deadline();
        }
        match p {
            Some(p) if self.feedback => self.pass(cx.now, p, acts),
            Some(p) => acts.drop(p.packet, RoutingDrop::LinkFailed),
            None => {}
        }
    }

    fn wake(&mut self, cx: &mut Cx, acts: &mut Actions) {
        let now = cx.now;
        if self.periodic.is_none() {
            self.periodic = Some(now.saturating_add(uniform(cx.rng, self.first)));
        }
        if self.periodic.is_some_and(|at| at <= now) {
            self.update(cx, true);
        }
        while let Some(lost) = self.table.routes.iter().find(|r| r.silent <= now).map(|r| r.to) {
            self.table.lose(now, lost);
        }
        while self.table.routes.iter().any(|r| r.trigger <= now) {
            self.trigger(cx);
        }
        while let Some(bytes) = self.outbox.due(now) {
            acts.message(None, update::size(&bytes), "update", &bytes);
        }
        self.reckon_deadline();
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn next_hop(&self, destination: Station) -> Option<Station> {
        self.table.route(destination).filter(|r| r.is_usable()).map(|r| r.next)
    }
}
