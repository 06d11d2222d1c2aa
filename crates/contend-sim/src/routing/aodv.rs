//! AODV: ad hoc on-demand distance vectors.
//!
//! A source without a route floods a request. Each station that hears it learns the way back to the source. The
//! destination, or a station that knows a fresh route, answers along that way, and each station that passes the answer
//! on learns the way forward. When a link breaks, the station before it repairs the route or reports an error.
//!
//! The defaults are those of ns-2.35, which differ from RFC 3561 §10; `ring`, `back_off`, `refresh`, `errors` and
//! `sizes` choose between the rules of both. Differences from ns-2:
//! - sequence numbers, hop counts and formats are those of the RFC; numbers never heard are marked as unknown;
//! - a repair asks for a later number, and is reported if it fails;
//! - an error does not empty the interface queue towards its sender;
//! - lifetimes in replies are milliseconds; ns-2 cuts them to whole seconds.
//!
//! Differences from the RFC: a destination increments its number before each reply, a failed message does not break the
//! link, and a request teaches nothing about the neighbour that passes it on (all as in ns-2). Not modelled: gratuitous
//! replies, RREP-ACK and blacklists, multicast, prefixes, actions after a reboot.

use super::outbox::Outbox;
use super::waiting::Waiting;
use super::{Actions, Entrance, Malformed, Routed, Routing, RoutingDrop, Setting, Station, ip_header};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Packet, Rng, Span, Time};
use rand::RngExt as _;
use std::collections::BTreeMap;

mod errors;
mod message;
mod rules;
mod search;
mod table;

use message::{Message, Reply};
use rules::Rules;
use table::{State, Table};

/// Source.
pub const CITE: &str = "RFC 3561 (Perkins, Belding-Royer, Das 2003); constants and variants of ns-2.35";
/// What it does.
pub const SUMMARY: &str = "Searches a route when there is a packet for it, by flooding a request; unused routes \
    expire, and broken ones are repaired or reported to the stations that use them.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "ring",
        &["known", "always", "never"],
        "when the first requests go a few hops only (expanding ring). known: if the distance was known before (ns-2); \
            always: also to a new destination (RFC 3561 §6.4); never: each floods the field",
    )
    .default("known"),
    Param::integer("ttl_start", "TTL of the first request to a new destination, with `ring = \"always\"`")
        .default("5")
        .range(1.0, 255.0),
    Param::integer("ttl_increment", "increase of the TTL in an expanding ring").default("2").range(1.0, 255.0),
    Param::integer("ttl_threshold", "from this TTL on, requests go through the whole network")
        .default("7")
        .range(1.0, 255.0),
    Param::integer("diameter", "TTL of requests through the whole network, and of data packets")
        .default("30")
        .range(1.0, 255.0),
    Param::integer("retries", "requests through the whole network after the first one").default("3").range(0.0, 100.0),
    Param::time("traversal", "time for one hop; the answer is awaited for twice this time, times the TTL")
        .default("30ms")
        .range(0.0001, 10.0),
    Param::flag("measured", "true: the mean of the last three discoveries replaces `traversal`").default("true"),
    Param::word(
        "back_off",
        &["linear", "binary"],
        "the wait for an answer grows with each request. linear: in proportion to their number (ns-2); binary: by a \
            factor of 2 (RFC 3561 §6.3)",
    )
    .default("linear"),
    Param::time("give_up", "longest wait for an answer, and time without requests after the last retry")
        .default("10s")
        .range(0.1, 1e4),
    Param::time("lifetime", "time for which a route stays valid after its last use, or after its destination's reply")
        .default("10s")
        .range(0.1, 1e5),
    Param::time("reverse_lifetime", "time for which the way back of a request is valid").default("6s").range(0.1, 1e5),
    Param::word(
        "refresh",
        &["forward", "both"],
        "what a data packet refreshes. forward: the route to its destination (ns-2); both: also the route to its \
            source (RFC 3561 §6.2)",
    )
    .default("forward"),
    Param::flag("intermediate", "true: a station that knows a fresh route answers a request").default("true"),
    Param::time("jitter", "a request or error that is passed on leaves after a uniform time up to this one")
        .default("10ms")
        .range(0.0, 10.0),
    Param::time("pace", "time between two packets that waited for the same route").default("10ms").range(0.0, 10.0),
    Param::integer("buffer", "packets that wait for routes, in all").default("64").range(0.0, 1e6),
    Param::time("patience", "longest time that a packet waits for a route").default("30s").range(0.1, 1e6),
    Param::flag("feedback", "true: a frame that the MAC gives up breaks the link").default("true"),
    Param::flag(
        "repair",
        "true: a station that is nearer to the destination than to the source repairs a broken route",
    )
    .default("true"),
    Param::word(
        "errors",
        &["always", "precursors"],
        "when a broken link is reported. always: if a route used it (ns-2); precursors: if neighbours use such a route \
            (RFC 3561 §6.11)",
    )
    .default("always"),
    Param::time("hello", "mean time between two HELLOs; a neighbour is lost after 4.5 of them; 0s: none")
        .default("0s")
        .range(0.0, 1e4),
    Param::time("tick", "time between two looks at the table for what has expired")
        .default("500ms")
        .range(0.001, 100.0),
    Param::word(
        "sizes",
        &["ns2", "rfc"],
        "sizes of messages. ns2: 48 B, 44 B, 24 B and 8 B a destination; rfc: 52 B, \
        48 B, 32 B and 8 B a destination",
    )
    .default("ns2"),
    super::IP_HEADER,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the agent.
///
/// # Errors
/// When an amount has the wrong unit.
pub fn build(args: &Args, setting: &Setting) -> Result<Box<dyn Routing>, Refusal> {
    let rules = Rules::new(args);
    let entrance = Entrance { me: setting.me, ip_header: ip_header(args)?, ttl: rules.diameter };
    Ok(Box::new(Aodv {
        me: setting.me,
        stations: setting.stations,
        entrance,
        rules,
        table: Table::default(),
        number: 0,
        requests: 0,
        seen: BTreeMap::new(),
        neighbours: BTreeMap::new(),
        waiting: Waiting::new(args.integer("buffer").max(0) as usize, false, args.time("patience")),
        outbox: Outbox::new(),
        next_hello: if rules.hello.is_zero() { Time::NEVER } else { Time::ZERO },
        next_tick: Time::NEVER,
    }))
}

/// The agent of one station.
#[derive(Debug)]
struct Aodv {
    me: Station,
    stations: u32,
    entrance: Entrance,
    rules: Rules,
    table: Table,
    /// This station's own number.
    number: u32,
    /// Requests sent so far.
    requests: u32,
    /// Requests heard, by originator and id, until when they are remembered.
    seen: BTreeMap<(Station, u32), Time>,
    /// Neighbours that send HELLOs, and when each is lost.
    neighbours: BTreeMap<Station, Time>,
    waiting: Waiting,
    outbox: Outbox<Later>,
    next_hello: Time,
    /// The next look at the table; [`Time::NEVER`] if nothing can expire.
    next_tick: Time,
}

/// What is done later.
#[derive(Debug)]
enum Later {
    /// A broadcast.
    Tell(Message),
    /// A packet that waited for a route.
    Send(Packet, Station),
    /// The end of the repair of the route to this station.
    Repaired(Station),
}

impl Aodv {
    /// Sends `p`, searches a route for it, or drops it.
    fn pass(&mut self, cx: &mut Cx, p: &Routed, acts: &mut Actions) {
        let until = cx.now.saturating_add(self.rules.lifetime);
        let route = self.table.entry(p.destination);
        match route.state {
            State::Up => {
                route.expires = until;
                acts.send(p.packet, route.next);
                if self.rules.refresh_both
                    && let Some(back) = self.table.up(p.source)
                {
                    back.expires = back.expires.max(until);
                }
            }
            State::InRepair => self.waiting.push(cx.now, p, acts),
            State::Down if p.source == self.me => {
                self.waiting.push(cx.now, p, acts);
                self.request(cx.now, p.destination, acts);
            }
            State::Down => {
                let lost = vec![(p.destination, route.number.unwrap_or(0))];
                self.tell(None, &Message::Error(lost), acts);
                acts.drop(p.packet, RoutingDrop::NoRoute);
            }
        }
    }

    fn tell(&self, next: Option<Station>, m: &Message, acts: &mut Actions) {
        acts.message(next, m.size(self.rules.sizes_of_ns2), m.kind(), &m.write());
    }

    fn tell_later(&mut self, now: Time, rng: &mut Rng, m: Message) {
        let jitter = Span::from_secs_f64(rng.random::<f64>() * self.rules.jitter.as_secs_f64());
        self.outbox.put(now.saturating_add(jitter), Later::Tell(m));
    }

    /// What has expired, and what still waits.
    fn look(&mut self, cx: &mut Cx, acts: &mut Actions) {
        let now = cx.now;
        self.seen.retain(|_, until| *until > now);
        self.waiting.expire(now, acts);
        while let Some((&lost, _)) = self.neighbours.iter().find(|(_, until)| **until <= now) {
            self.neighbours.remove(&lost);
            self.break_link(lost, acts);
        }
        let mut alive = !self.neighbours.is_empty();
        for to in self.table.routes.keys().copied().collect::<Vec<_>>() {
            let route = self.table.entry(to);
            if route.is_up() && route.expires < now {
                route.breaks();
                self.waiting.give_up(to, acts);
            } else if route.is_up() {
                self.release(now, to, self.rules.pace, acts);
                alive = true;
            } else if self.waiting.has(to) {
                self.request(now, to, acts);
            }
        }
        self.next_tick = if alive || self.waiting.len() > 0 { self.tick_after(now) } else { Time::NEVER };
    }

    /// The first multiple of a tick after `now`.
    fn tick_after(&self, now: Time) -> Time {
        let tick = self.rules.tick.as_nanos();
        Time::from_nanos((now.as_nanos() / tick + 1).saturating_mul(tick))
    }

    /// After any call: what is new may expire.
    fn arm(&mut self, now: Time) {
        if self.next_tick == Time::NEVER {
            self.next_tick = self.tick_after(now);
        }
    }
}

impl Routing for Aodv {
    fn forward(&mut self, cx: &mut Cx, p: &Routed, acts: &mut Actions) {
        if let Some(p) = self.entrance.admit(p, acts) {
            self.pass(cx, &p, acts);
            self.arm(cx.now);
        }
    }

    fn message(&mut self, cx: &mut Cx, neighbour: Station, bytes: &[u8], acts: &mut Actions) -> Result<(), Malformed> {
        match Message::read(bytes, self.stations)? {
            Message::Request(m) => self.hear_request(cx, neighbour, m, acts),
            Message::Reply(m) => self.hear_reply(cx.now, neighbour, m, acts),
            Message::Error(lost) => self.hear_error(cx, neighbour, lost),
        }
        self.arm(cx.now);
        Ok(())
    }

    fn failed(&mut self, cx: &mut Cx, next: Station, p: Option<&Routed>, acts: &mut Actions) {
        // As in ns-2, a message that fails does not break the link.
        let Some(p) = p else { return };
        let route = self.table.entry(p.destination);
        let nearer = route.state != State::Down && p.packet.hops > route.hops;
        if self.rules.feedback && self.rules.repair && nearer {
            // RFC 3561 §6.12: the search asks for a later number, or the stations before this one would answer.
            let begins = route.is_up();
            if begins {
                route.breaks();
                route.state = State::InRepair;
            }
            self.waiting.push(cx.now, p, acts);
            self.request(cx.now, p.destination, acts);
            if begins {
                let end = self.table.entry(p.destination).search.again;
                self.outbox.put(end, Later::Repaired(p.destination));
            }
        } else {
            acts.drop(p.packet, RoutingDrop::LinkFailed);
            if self.rules.feedback {
                acts.purge(next);
                self.break_link(next, acts);
            }
        }
        self.arm(cx.now);
    }

    fn wake(&mut self, cx: &mut Cx, acts: &mut Actions) {
        let now = cx.now;
        while let Some(later) = self.outbox.due(now) {
            match later {
                Later::Tell(m) => self.tell(None, &m, acts),
                Later::Send(packet, next) => acts.send(packet, next),
                Later::Repaired(to) => self.end_repair(to, acts),
            }
        }
        if self.next_hello <= now {
            // ns-2: intervals are uniform within a quarter of their mean. All stations begin at time 0.
            if now > Time::ZERO {
                let lifetime_ms = (4 * self.rules.hello.as_nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
                let (destination, originator, number) = (self.me, self.me, self.number);
                let m = Reply { ttl: 1, hops: 0, destination, number, originator, lifetime_ms };
                self.tell(None, &Message::Reply(m), acts);
            }
            let share = 0.75 + 0.5 * cx.rng.random::<f64>();
            let gap = Span::from_secs_f64(self.rules.hello.as_secs_f64() * share).max(Span::from_nanos(1));
            self.next_hello = now.saturating_add(gap);
        }
        if self.next_tick <= now {
            self.look(cx, acts);
        }
    }

    fn deadline(&self) -> Time {
        self.outbox.first().min(self.next_hello).min(self.next_tick)
    }

    fn held(&self) -> usize {
        self.waiting.len() + self.outbox.iter().filter(|l| matches!(l, Later::Send(..))).count()
    }

    fn next_hop(&self, destination: Station) -> Option<Station> {
        self.table.get(destination).filter(|r| r.is_up()).map(|r| r.next)
    }
}
