//! Transmissions start: contenders whose backoff ends, answers that are due, the first bits at those that hear them.

use super::super::stations::Moment;
use super::agenda::What;
use super::links::Hearer;
use super::radio::{Own, Unclear};
use super::{Field, Flight, FlightId, History, Options};
use crate::wifi::access::{Draw, Residue};
use crate::wifi::frame::FrameOutcome;
use crate::wifi::ids::{BROADCAST, Contender, StationId};
use crate::wifi::sender::mac::Failure;
use crate::wifi::sender::plan::{Answer, PartKind};
use crate::wifi::spec::CtsRule;
use contend_core::{Span, Time};

impl Field {
    /// All transmissions of this instant start.
    #[inline(always)]
    pub(super) fn start_all(&mut self, moment: &mut Moment<'_, '_>) {
        if self.timers.next() <= moment.now || !self.starting.is_empty() || !self.answering.is_empty() {
            self.start_some(moment);
        }
    }

    /// The transmissions of this instant start; there is at least one.
    #[inline(never)]
    fn start_some(&mut self, moment: &mut Moment<'_, '_>) {
        let now = moment.now;
        loop {
            let (at, who) = self.timers.first();
            if at > now {
                break;
            }
            let due = self.countdowns[who as usize].due(self.slot);
            if due > now {
                self.timers.set(who, due);
                continue;
            }
            self.timers.set(who, Time::NEVER);
            self.countdowns[who as usize].start();
            self.starting.push(who);
        }
        if self.starting.is_empty() && self.answering.is_empty() {
            return;
        }
        if self.starting.len() > 1 && moment.stations.have_several() {
            self.collide_inside(moment);
        }
        if let (false, History::Common { channel, from }) = (self.starting.is_empty(), &mut self.history) {
            let idle = now.since(*from + self.first_ifs).div_floor(self.slot);
            channel.turns_busy(u32::try_from(idle).unwrap_or(u32::MAX));
        }
        for i in 0..self.starting.len() {
            let who = self.starting[i];
            let station = moment.stations.station_of(who);
            self.turn_busy(moment, station);
            moment.wins(who);
            moment.started(who, true);
            self.begin_exchange(moment, station, who, now);
        }
        self.starting.clear();
        for i in 0..self.answering.len() {
            self.answer(moment, self.answering[i]);
        }
        self.answering.clear();
        let is_last = self.waking && self.launched.len() == 1;
        for i in 0..self.launched.len() {
            self.begins(moment, self.launched[i], 0, is_last);
        }
        self.launched.clear();
    }

    /// Resolves internal collisions: of several senders of one station only the highest category sends. For the others
    /// this is a failed attempt without airtime.
    fn collide_inside(&mut self, moment: &mut Moment<'_, '_>) {
        // IEEE 802.11-2016 §10.22.2.4: the category that is not the highest of those granted behaves as after an
        // external collision.
        let goes_first = |&who: &Contender| !moment.stations.above(who).any(|higher| self.starting.contains(&higher));
        let (sent, lost): (Vec<Contender>, Vec<Contender>) = self.starting.iter().partition(|who| goes_first(who));
        self.starting = sent;
        for who in lost {
            let next = moment.not_answered(who, self.heard(moment, who), Answer::Cts, Failure::Internal);
            self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
        }
    }

    /// `who` begins an exchange; it won the medium at `won`.
    fn begin_exchange(&mut self, moment: &mut Moment<'_, '_>, station: StationId, who: Contender, won: Time) {
        let Some(s) = moment.stations.in_service(who) else { return };
        let Some(part) = moment.air.plan(&s.burst).parts().next() else { return };
        let now = moment.now;
        self.radios[station as usize].own = Some(Own { who, start: now, won, data: None, over: now, failed: None });
        self.launch(moment, who, part.kind);
    }

    /// `station` sends the frame that it owes.
    fn answer(&mut self, moment: &mut Moment<'_, '_>, station: StationId) {
        let now = moment.now;
        let radio = &mut self.radios[station as usize];
        let Some((who, kind)) = radio.answer.take() else { return };
        if let (PartKind::CfEnd, Some(own)) = (kind, radio.own) {
            let (to, end, nav) = (BROADCAST, own.over, Span::ZERO);
            self.fly(moment, Flight { kind, owner: who, from: station, to, start: now, end, nav, ..Flight::default() });
            return;
        }
        let blocked = radio.busy || radio.nav.reserved_until() > now;
        if self.options.cts == CtsRule::Idle && blocked && !matches!(kind, PartKind::Ack | PartKind::BlockAck) {
            let why = if kind == PartKind::Cts { Failure::Unheard } else { Failure::Blocked };
            if let (PartKind::Data, Some(own)) = (kind, &mut radio.own) {
                own.over = now;
            }
            self.fail(moment, who, PartKind::Rts, FrameOutcome::Received, why);
            self.touched.push(station);
            return;
        }
        match radio.own {
            // The next burst of a transmission opportunity.
            Some(own) if own.who == who && own.start == now => self.begin_exchange(moment, station, who, own.won),
            _ => self.launch(moment, who, kind),
        }
    }

    /// A part of the exchange of `owner` goes on the air now.
    fn launch(&mut self, moment: &mut Moment<'_, '_>, owner: Contender, kind: PartKind) {
        let now = moment.now;
        let Some(s) = moment.stations.in_service(owner) else { return };
        let (plan, bytes) = (moment.air.plan(&s.burst), s.burst.bytes);
        let Some(part) = plan.part_of(kind) else { return };
        let (from, to) = plan.ends(&part);
        let (end, nav) = (now + part.airtime, self.rounded(plan.nav(&part)));
        if let Some(own) = &mut self.radios[from as usize].own
            && own.who == owner
        {
            own.over = end + plan.silence(&part).sender;
            own.data = if kind == PartKind::Data { Some(now) } else { own.data };
        }
        if matches!(kind, PartKind::Ack | PartKind::BlockAck) {
            moment.observers.acknowledges(from, now);
        }
        self.fly(moment, Flight { kind, owner, from, to, start: now, end, nav, bytes, ..Flight::default() });
    }

    /// A duration as a Duration field says it.
    #[inline]
    pub(super) fn rounded(&self, exact: Span) -> Span {
        let half = Span::from_nanos(500);
        if self.options.nav_rounding { Span::from_micros((exact + half).as_micros()) } else { exact }
    }

    /// `flight` goes on the air now. Who hears it is not yet filled in.
    #[inline]
    fn fly(&mut self, moment: &mut Moment<'_, '_>, flight: Flight) {
        let (now, Flight { from, to, end, .. }) = (moment.now, flight);
        self.turn_busy(moment, from);
        let origin = self.frames.as_ref().and_then(|_| self.links.position(now, from));
        let id = self.free.pop().unwrap_or(self.flights.len() as FlightId);
        let list = self.links.at_start(now, from, id);
        let hearers = self.links.list(list);
        let to_itself = (to == from || to == BROADCAST).then_some(1.0);
        let gain = to_itself.or_else(|| Some(hearers.iter().find(|h| h.station == to && !h.foreign)?.gain));
        let flight = Flight { hearers: list, origin, gain, ..flight };
        let radio = &mut self.radios[from as usize];
        radio.transmit();
        radio.note(now);
        match self.flights.get_mut(id as usize) {
            Some(place) => *place = flight,
            None => self.flights.push(flight),
        }
        self.agenda.put(end, What::Sent, id, 0);
        self.launched.push(id);
    }

    /// The first bit of a flight arrives at those that hear it, from number `next` on. `is_last`: nothing else is left
    /// to do in this instant but what the agenda has.
    pub(super) fn begins(&mut self, moment: &mut Moment<'_, '_>, id: FlightId, next: u32, is_last: bool) {
        let mut now = moment.now;
        let Flight { from, to, start, end, hearers, .. } = self.flights[id as usize];
        // Before this instant nothing else happens; a beginning makes nothing happen earlier.
        let alone = is_last && self.touched.is_empty() && self.starting.is_empty();
        let until = if alone { self.next_deadline().min(self.alone_until(moment)) } else { now };
        let mut i = next as usize;
        while let Some(&hearer) = self.links.list(hearers).get(i) {
            let Hearer { station, delay, foreign, gain, .. } = hearer;
            let at = start + delay;
            if at > now {
                if at >= until {
                    self.agenda.put(at, What::Begins, id, i as u32);
                    return;
                }
                moment.go_on(at);
                now = at;
            }
            if foreign {
                self.leaks_in(moment, station, (id, gain));
                i += 1;
                continue;
            }
            self.turn_busy(moment, station);
            let radio = &mut self.radios[station as usize];
            let is_own = to == station || to == BROADCAST;
            let harmless = radio.begins(id, (now, end), &hearer, is_own, self.options.capture);
            let timing = moment.air.timing();
            if harmless && timing.eifs_is_nav {
                radio.nav.reserve(now + (end - start) + timing.eifs_more, None, from);
            }
            i += 1;
        }
    }

    /// The first bit of a flight of another channel arrives at `station` with this power.
    #[cold]
    fn leaks_in(&mut self, moment: &mut Moment<'_, '_>, station: StationId, leak: (FlightId, f64)) {
        let Options { capture, energy, .. } = self.options;
        let radio = &mut self.radios[station as usize];
        if radio.leaks_in(moment.now, leak, capture, energy) {
            self.turn_busy(moment, station);
        }
        let radio = &mut self.radios[station as usize];
        if !radio.is_quiet() {
            radio.note(moment.now);
        }
    }

    /// The medium around `station` turns busy, if it is not.
    #[inline(always)]
    fn turn_busy(&mut self, moment: &mut Moment<'_, '_>, station: StationId) {
        if !self.radios[station as usize].busy {
            self.freeze(moment, station);
        }
    }

    /// The medium around `station`, which was idle, turns busy.
    #[inline(never)]
    fn freeze(&mut self, moment: &mut Moment<'_, '_>, station: StationId) {
        let now = moment.now;
        let radio = &mut self.radios[station as usize];
        // A frame a SIFS after another continues an exchange.
        let is_new = now >= radio.quiet + self.sifs + self.slot;
        radio.busy = true;
        radio.unclear = Unclear::Nothing;
        radio.nav.settle(now);
        if let (true, History::Own(own, _)) = (is_new, &mut self.history)
            && let Some(channel) = &mut own[station as usize]
        {
            let counts = moment.stations.contenders(station).map(|who| self.countdowns[who as usize].resume_at()).min();
            let idle = now.since(counts.unwrap_or(now)).div_floor(self.slot);
            channel.turns_busy(u32::try_from(idle).unwrap_or(u32::MAX));
        }
        for who in moment.stations.contenders(station) {
            let count = &mut self.countdowns[who as usize];
            let counts = count.resume_at() <= now;
            let (slot, rounding) = (self.slot, self.options.slot_rounding);
            let whole =
                |from, until| if rounding { slots_in_seconds(from, until, slot) } else { whole(from, until, slot) };
            let Some(counted) = count.freeze(now, whole, is_new) else { continue };
            if !count.waits() {
                continue;
            }
            // Otherwise its timer stands: most often the backoff resumes at the same instant, the end of the NAV.
            if counts {
                self.timers.set(who, Time::NEVER);
            }
            if is_new && count.rules.residue == Residue::Redraw {
                let slots = self.backoff(moment, who, Draw::Cycle(u32::try_from(counted).unwrap_or(u32::MAX)));
                self.countdowns[who as usize].back_off(slots, true);
            }
        }
    }
}

/// The whole slots from `from` until `until`; none if `from` comes later.
#[inline]
fn whole(from: Time, until: Time, slot: Span) -> u64 {
    // Most often `from` comes later, and a division takes long.
    if until <= from { 0 } else { until.since(from).div_floor(slot) }
}

/// The same in seconds in floating point, as ns-2 has it (`BackoffTimer::pause`). A slot that ends exactly at `until`
/// is lost in about half of the cases.
#[cold]
fn slots_in_seconds(from: Time, until: Time, slot: Span) -> u64 {
    let exact = whole(from, until, slot);
    if exact == 0 || until.since(from) != slot * exact {
        return exact;
    }
    exact - u64::from((until.as_secs_f64() - from.as_secs_f64()) / slot.as_secs_f64() < exact as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_floating_point_half_of_the_slots_that_end_exactly_are_lost() {
        let slot = Span::from_micros(20);
        let from = |i: u64| Time::ZERO + Span::from_millis(10_000) + Span::from_nanos(1_307_636 * i);
        // The share depends on their number.
        let lost: u64 = (0..10_000)
            .map(|i| {
                let slots = i % 25 + 1;
                slots - slots_in_seconds(from(i), from(i) + slot * slots, slot)
            })
            .sum();
        assert!((3_500..6_500).contains(&lost), "{lost}");
        // One nanosecond beside the boundary nothing is lost, and no slot can be lost that has not passed.
        let beside = |i: u64, ns: u64| slots_in_seconds(from(i), from(i) + Span::from_nanos(ns), slot);
        assert!((0..10_000).all(|i| (beside(i, 99_999), beside(i, 100_001), beside(i, 0)) == (4, 5, 0)));
    }
}
