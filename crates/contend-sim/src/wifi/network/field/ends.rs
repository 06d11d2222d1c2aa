//! Transmissions end: the last bits at those that hear them, and what the exchange does next.

use super::super::frame_log::OnAir;
use super::super::overlap::Overlap;
use super::super::stations::Moment;
use super::agenda::What;
use super::links::Hearer;
use super::radio::{Received, Unclear};
use super::{Field, Flight, FlightId};
use crate::wifi::frame::FrameOutcome;
use crate::wifi::ids::{BROADCAST, Contender, StationId};
use crate::wifi::medium::nav::Nav;
use crate::wifi::sender::mac::{Failure, InService};
use crate::wifi::sender::plan::{Content, PartKind, Plan};
use crate::wifi::spec::CtsRule;
use contend_core::Time;

impl Field {
    /// A transmitter has sent the last bit of a flight. Returns what [`Field::ends`] returns.
    pub(super) fn sent(&mut self, moment: &mut Moment<'_, '_>, id: FlightId) -> Option<(Contender, StationId)> {
        let now = moment.now;
        let f = self.flights[id as usize];
        let radio = &mut self.radios[f.from as usize];
        (radio.sends, radio.stopped) = (false, now);
        self.touched.push(f.from);
        match f.kind {
            // It keeps the medium for the data that it expects.
            PartKind::Cts => {
                let expects = |s: &InService| {
                    let plan = moment.air.plan(&s.burst);
                    Some(plan.duration() - plan.part_of(PartKind::Cts)?.end())
                };
                let rest = moment.stations.in_service(f.owner).and_then(expects).unwrap_or_default();
                let rest = self.rounded(rest);
                self.radios[f.from as usize].nav.reserve(now + rest, None, f.to);
            }
            // The transmission opportunity is over.
            PartKind::CfEnd => radio.own = None,
            PartKind::CtsToSelf => {
                self.record(moment, &f, FrameOutcome::Received);
                self.owe(moment, f.from, f.owner, PartKind::Data);
            }
            _ => {}
        }
        if f.gain.is_none() {
            self.record(moment, &f, FrameOutcome::Errored);
            self.fail(moment, f.owner, f.kind, FrameOutcome::Errored, Failure::Unheard);
        }
        match self.links.list(f.hearers).first() {
            // In this instant other transmitters may still send their last bit.
            Some(h) if h.delay.is_zero() => {
                self.agenda.put(now, What::Ends, id, 0);
                None
            }
            _ => self.ends(moment, id, 0),
        }
    }

    /// The last bit of a flight arrives at those that hear it, from number `next` on. Returns the contender whose burst
    /// is received, and by whom, if it is data; the rest of the flight then follows.
    pub(super) fn ends(
        &mut self,
        moment: &mut Moment<'_, '_>,
        id: FlightId,
        next: u32,
    ) -> Option<(Contender, StationId)> {
        let f = self.flights[id as usize];
        let mut i = next as usize;
        while let Some(&Hearer { station, delay, foreign, .. }) = self.links.list(f.hearers).get(i) {
            let at = f.end + delay;
            if at > moment.now && !self.goes_on(moment, at) {
                self.agenda.put(at, What::Ends, id, i as u32);
                return None;
            }
            i += 1;
            let now = moment.now;
            if foreign {
                if self.radios[station as usize].leaks_out(now, id, self.options.energy) {
                    self.touched.push(station);
                }
                continue;
            }
            let received = self.arrived(moment, &f, id, station);
            if station != f.to {
                self.observe(moment, &f, station, received && !matches!(f.kind, PartKind::CfEnd | PartKind::Beacon));
            }
            let has_data = match f.to {
                BROADCAST => received && f.kind == PartKind::Data,
                to => station == to && self.resolve(moment, &f, received),
            };
            if has_data {
                self.agenda.put(now, What::Ends, id, i as u32);
                return Some((f.owner, station));
            }
        }
        self.over(moment, id);
        None
    }

    /// The last bits of a flight arrive next at `at`. If nothing else happens before or then, finishes this instant and
    /// goes on to that time; returns true.
    #[inline]
    fn goes_on(&mut self, moment: &mut Moment<'_, '_>, at: Time) -> bool {
        if at >= self.agenda.next() {
            return false;
        }
        self.settle(moment);
        let alone = self.starting.is_empty() && at < self.next_deadline().min(self.alone_until(moment));
        if alone {
            moment.go_on(at);
        }
        alone
    }

    /// All that hear a flight have heard its end.
    fn over(&mut self, moment: &mut Moment<'_, '_>, id: FlightId) {
        self.free.push(id);
        let f = self.flights[id as usize];
        if f.to == BROADCAST && f.kind == PartKind::Data {
            self.record(moment, &f, FrameOutcome::Received);
            moment.broadcast_sent(f.owner);
            self.succeed(moment, f.owner);
            self.touched.push(f.from);
        }
        if f.kind == PartKind::Beacon {
            self.record(moment, &f, FrameOutcome::Received);
            self.succeed(moment, f.owner);
            self.touched.push(f.from);
        }
    }

    /// The last bit of flight `id` has arrived at `station`. True if the station decoded it.
    fn arrived(&mut self, moment: &Moment<'_, '_>, f: &Flight, id: FlightId, station: StationId) -> bool {
        let (now, timing) = (moment.now, moment.air.timing());
        let radio = &mut self.radios[station as usize];
        let received = radio.ends(now, id);
        self.touched.push(station);
        if received == Received::Decoded {
            radio.unclear = Unclear::Nothing;
            if f.kind == PartKind::CfEnd {
                radio.nav = Nav::default();
            } else if station != f.to && !f.nav.is_zero() {
                // IEEE 802.11-2016 §10.3.2.4: a station that set its NAV from an RTS may reset it when nothing follows
                // within 2 SIFS + CTS + aRxPHYStartDelay + 2 slots.
                let silence = |own: &Plan<'_>| own.part_of(PartKind::Rts).map(|rts| own.silence(&rts).others);
                let lapse = (f.kind == PartKind::Rts && self.options.nav_reset)
                    .then(|| moment.stations.in_service(f.owner).and_then(|s| silence(&moment.air.plan(&s.burst))))
                    .flatten();
                radio.nav.reserve(now + f.nav, lapse.map(|after| now + after), f.from);
            }
            return true;
        }
        if timing.eifs_is_nav {
            if !radio.sends && received != Received::Harmless {
                radio.nav.reserve(now + timing.eifs_more, None, f.from);
            }
        } else {
            let heard = if received == Received::Garbled { Unclear::Frame } else { Unclear::Energy };
            if radio.unclear != Unclear::Frame {
                radio.unclear = heard;
            }
        }
        false
    }

    /// A flight has arrived at the station to which it is addressed, `decoded` or not. True if it is data that the
    /// station has received.
    fn resolve(&mut self, moment: &mut Moment<'_, '_>, f: &Flight, decoded: bool) -> bool {
        let now = moment.now;
        let errored = decoded && self.is_lost(moment, f);
        let outcome = match (decoded, errored) {
            (true, false) => FrameOutcome::Received,
            (true, true) => FrameOutcome::Errored,
            (false, _) => FrameOutcome::Collided,
        };
        self.record(moment, f, outcome);
        self.observe(moment, f, f.to, outcome == FrameOutcome::Received);
        if outcome != FrameOutcome::Received {
            self.collisions += u64::from(!errored);
            if errored {
                let radio = &mut self.radios[f.to as usize];
                radio.unclear = Unclear::Frame;
                if f.kind.delivers() {
                    // The data for which it kept the medium with its CTS has come.
                    radio.nav.release(now, f.from);
                }
            }
            let why = if errored { Failure::Error } else { Failure::Unheard };
            self.fail(moment, f.owner, f.kind, outcome, why);
            return false;
        }
        match f.kind {
            PartKind::Rts => {
                let radio = &self.radios[f.to as usize];
                if radio.is_engaged() || (self.options.cts == CtsRule::Nav && !radio.nav.may_answer(now, f.from)) {
                    self.fail(moment, f.owner, PartKind::Rts, outcome, Failure::Unheard);
                } else {
                    self.owe(moment, f.to, f.owner, PartKind::Cts);
                }
            }
            PartKind::Cts => self.owe(moment, f.to, f.owner, PartKind::Data),
            PartKind::CtsToSelf | PartKind::CfEnd | PartKind::Beacon => {}
            PartKind::Data | PartKind::Request | PartKind::Action => {
                let answer = moment.stations.in_service(f.owner).map_or(PartKind::Ack, |s| s.burst.content.answer());
                self.owe(moment, f.to, f.owner, answer);
                return true;
            }
            PartKind::Ack | PartKind::BlockAck => self.succeed(moment, f.owner),
        }
        false
    }

    /// True if the channel corrupts `f` at its receiver.
    fn is_lost(&mut self, moment: &mut Moment<'_, '_>, f: &Flight) -> bool {
        let (Some(s), now, air) = (moment.stations.in_service(f.owner), moment.now, moment.air) else {
            return false;
        };
        let channel = air.channel_of(&s.burst);
        if !f.kind.delivers() && self.reception.is_clean(channel) {
            return false;
        }
        let plan = air.plan(&s.burst);
        let (bytes, format) = (plan.bytes(f.kind), plan.format(f.kind));
        let mut frame = self.reception.ends(channel, now, format, f.gain.unwrap_or(1.0));
        if let Some(powers) = self.radios[f.to as usize].overlap()
            && powers.iter().any(|(_, power)| *power > 0.0)
        {
            let begin = now - (f.end - f.start).saturating_sub(format.airtime(0).preamble);
            let in_aggregate = f.kind == PartKind::Data && matches!(s.burst.content, Content::Aggregate(..));
            frame.overlap(Overlap::new(powers, f.gain.unwrap_or(1.0), (begin, now), (bytes, in_aggregate)));
        }
        moment.stations.is_lost(f.owner, f.kind, bytes, |bytes, packet| frame.corrupts(bytes, packet))
    }

    /// `station` sends a frame of the exchange of `owner` after a SIFS.
    #[inline]
    pub(super) fn owe(&mut self, moment: &Moment<'_, '_>, station: StationId, owner: Contender, kind: PartKind) {
        self.radios[station as usize].answer = Some((owner, kind));
        self.agenda.put(moment.now + self.sifs, What::Answers, station, 0);
    }

    /// Records a flight in the trace, the ledger and the log.
    pub(super) fn record(&mut self, moment: &mut Moment<'_, '_>, f: &Flight, outcome: FrameOutcome) {
        let Some(s) = moment.stations.in_service(f.owner) else { return };
        let plan = moment.air.plan(&s.burst);
        let Some(part) = plan.part_of(f.kind) else { return };
        let (mac, Flight { start, end, origin, .. }) = (Some(moment.stations.mac(f.owner)), *f);
        OnAir { plan: &plan, part: &part, mac, start, end, outcome, origin }.record(moment.out.trace, &mut self.frames);
        let hears = match f.to {
            BROADCAST => f.from,
            to if to == f.from => s.burst.to,
            to => to,
        };
        if outcome == FrameOutcome::Collided {
            self.ledger.collided(f.from, part.airtime);
        } else {
            let corrupted = outcome == FrameOutcome::Errored;
            self.ledger.frame(f.from, hears, plan.account(&part), part.airtime, corrupted);
        }
    }
}
