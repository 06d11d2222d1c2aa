//! How a route is found: requests, replies, and what waits for them.

use super::super::{Actions, Routing as _, Station};
use super::message::{Message, Reply, Request};
use super::table::{Search, is_newer};
use super::{Aodv, Later};
use contend_core::{Cx, Span, Time};

impl Aodv {
    /// Sends a request for `to`, if it is time for one.
    pub(super) fn request(&mut self, now: Time, to: Station, acts: &mut Actions) {
        let rules = self.rules;
        let route = self.table.entry(to);
        if route.is_up() || route.search.again > now {
            return;
        }
        if route.search.floods > rules.retries {
            route.search = Search { floods: 0, again: now.saturating_add(rules.give_up), ..route.search };
            return self.waiting.give_up(to, acts);
        }
        // RFC 3561 §6.4: an expanding ring begins at ttl_start, or a little farther than the destination was last.
        let ttl = match route.search.ttl {
            0 => rules.ttl_start,
            last if rules.ring && last < rules.ttl_threshold => last.saturating_add(rules.ttl_increment),
            _ => rules.diameter,
        };
        let ttl = ttl.min(rules.diameter);
        route.search.floods += u32::from(ttl == rules.diameter);
        route.search.ttl = ttl;
        let hop = if rules.measured { mean(&route.search.took).unwrap_or(rules.traversal) } else { rules.traversal };
        let times = match route.search.floods {
            0 => 1,
            n if rules.binary => 1_u64 << (n - 1).min(32),
            n => u64::from(n),
        };
        let wait = (hop * (2 * u64::from(ttl))).as_nanos().saturating_mul(times);
        route.search.again = now.saturating_add(Span::from_nanos(wait).min(rules.give_up));
        route.search.asked = Some(now);
        self.number = self.number.wrapping_add(1);
        self.requests = self.requests.wrapping_add(1);
        let m = Request {
            ttl,
            hops: 0,
            id: self.requests,
            destination: to,
            number: route.number,
            originator: self.me,
            originator_number: self.number,
        };
        self.tell(None, &Message::Request(m), acts);
    }

    /// Sends the packets that waited for the route to `to`, `pace` apart: address resolution holds one packet only.
    pub(super) fn release(&mut self, now: Time, to: Station, pace: Span, acts: &mut Actions) {
        let Some(route) = self.table.up(to) else { return };
        let mut at = now;
        while let Some(p) = self.waiting.pop(to) {
            route.expires = now.saturating_add(self.rules.lifetime);
            if at == now {
                acts.send(p.packet, route.next);
            } else {
                self.outbox.put(at, Later::Send(p.packet, route.next));
            }
            at = at.saturating_add(pace);
        }
    }

    /// RFC 3561 §6.5, §6.6.
    pub(super) fn hear_request(&mut self, cx: &mut Cx, from: Station, m: Request, acts: &mut Actions) {
        let now = cx.now;
        if m.originator == self.me || self.seen.contains_key(&(m.originator, m.id)) {
            return;
        }
        let back_until = now.saturating_add(self.rules.reverse_lifetime);
        self.seen.insert((m.originator, m.id), back_until);
        let hops = m.hops.saturating_add(1);
        let back = self.table.entry(m.originator);
        let until = if back.is_up() { back.expires.max(back_until) } else { back_until };
        if back.learn(from, hops, m.originator_number, until) {
            self.release(now, m.originator, Span::ZERO, acts);
        } else {
            back.expires = until;
        }
        let reply = |hops, number, lifetime: Span| {
            let lifetime_ms = (lifetime.as_nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
            let (ttl, destination, originator) = (self.rules.diameter, m.destination, m.originator);
            Message::Reply(Reply { ttl, hops, destination, number, originator, lifetime_ms })
        };
        if m.destination == self.me {
            // The number must be later than all that others know, or stations with an older route ignore the reply.
            let known = m.number.filter(|n| is_newer(*n, self.number)).unwrap_or(self.number);
            self.number = known.wrapping_add(1);
            let reply = reply(0, self.number, self.rules.lifetime);
            return self.answer(m.originator, &reply, acts);
        }
        let fresh = |number: u32| m.number.is_none_or(|n| !is_newer(n, number));
        let known = self.table.get(m.destination).and_then(|r| r.number);
        if let Some(route) = self.table.up(m.destination).filter(|_| self.rules.intermediate)
            && let Some(number) = route.number.filter(|n| fresh(*n))
        {
            let (next, reply) = (route.next, reply(route.hops, number, route.expires.since(now)));
            route.add_precursor(from);
            self.table.entry(m.originator).add_precursor(next);
            self.answer(m.originator, &reply, acts);
        } else if m.ttl > 1 {
            let number = known.filter(|n| fresh(*n)).or(m.number);
            self.tell_later(now, cx.rng, Message::Request(Request { ttl: m.ttl - 1, hops, number, ..m }));
        }
    }

    /// Sends a reply on its way to `originator`, if the way is known.
    fn answer(&self, originator: Station, reply: &Message, acts: &mut Actions) {
        if let Some(next) = self.next_hop(originator) {
            self.tell(Some(next), reply, acts);
        }
    }

    /// RFC 3561 §6.7.
    pub(super) fn hear_reply(&mut self, now: Time, from: Station, m: Reply, acts: &mut Actions) {
        if m.destination == m.originator {
            if !self.rules.hello.is_zero() {
                let silence = Span::from_secs_f64(4.5 * self.rules.hello.as_secs_f64());
                self.neighbours.insert(from, now.saturating_add(silence));
            }
            return;
        }
        if m.destination == self.me {
            return;
        }
        let hops = m.hops.saturating_add(1);
        let until = now.saturating_add(Span::from_millis(u64::from(m.lifetime_ms)));
        let route = self.table.entry(m.destination);
        let asked = route.search.asked;
        if !route.learn(from, hops, m.number, until) {
            return;
        }
        if let Some(asked) = asked.filter(|_| m.originator == self.me) {
            route.search.took.rotate_right(1);
            route.search.took[0] = now.since(asked) / u64::from(hops);
        }
        self.release(now, m.destination, self.rules.pace, acts);
        if m.originator == self.me || m.ttl <= 1 {
            return;
        }
        let lifetime = now.saturating_add(self.rules.lifetime);
        if let Some(back) = self.table.up(m.originator) {
            back.expires = back.expires.max(lifetime);
            let next = back.next;
            self.table.entry(m.destination).add_precursor(next);
            self.tell(Some(next), &Message::Reply(Reply { ttl: m.ttl - 1, hops, ..m }), acts);
        }
    }
}

/// The mean of the times that are not zero.
fn mean(times: &[Span]) -> Option<Span> {
    let n = times.iter().filter(|t| !t.is_zero()).count() as u64;
    (n > 0).then(|| Span::from_nanos(times.iter().map(|t| t.as_nanos()).sum::<u64>() / n))
}
