//! A medium with positions: who hears whom is a matter of distance.
//!
//! Each frame is an event at every station that hears it: its first bit arrives, and its last. No station hears of an
//! event elsewhere. What a station does next follows from what its own radio has heard ([`Radio`]) and from its
//! backoffs ([`Countdown`]), which are computed and not counted slot by slot. A frame costs the stations that hear it,
//! each O(log n).
//!
//! What happens in one instant has an order. The ends of frames come first. Then the stations around which the medium
//! has become idle act. Then all transmissions of this instant start together, and last the beginnings of frames
//! arrive. Two backoffs that end in the same instant therefore collide; a packet that arrives after them finds the
//! medium busy.
//!
//! An exchange is a plan ([`Plan`]), of which each part is sent when the part before has been received. Of a part that
//! is not received, the simulator knows at its end; the sender acts on it when the medium around it is idle, and counts
//! its backoff only after its timeout.

mod agenda;
mod book;
mod countdown;
mod ground;
mod links;
mod radio;

pub(super) use self::links::Links;

use self::agenda::{Agenda, Event, What};
use self::book::Doing;
use self::countdown::{Arrival, Countdown};
use self::links::{Hearer, ListId};
use self::radio::{Failed, Own, Radio, Received, Unclear};
use super::frame_log::{FrameLog, OnAir};
use super::ledger::Ledger;
use super::map::MapLink;
use super::reception::Reception;
use super::stations::Senders;
use crate::deadlines::Deadlines;
use crate::mobility::Point;
use crate::wifi::access::{BackoffRules, Channel, Draw, Reads, Residue};
use crate::wifi::frame::FrameOutcome;
use crate::wifi::ids::{BROADCAST, Contender, StationId};
use crate::wifi::sender::exchange::{Answer, PartKind, Plan};
use crate::wifi::sender::mac::{Failure, Heard, Next};
use crate::wifi::spec::{Capture, CtsRule, FieldSpec, IdleAccess, MacSpec};
use contend_core::observe::{HeardFrame, Kind, Outcome, OwnExchange};
use contend_core::{Span, Time};

/// The number of a frame on the air.
type FlightId = u32;

/// A medium in which each station hears the stations near it.
#[derive(Debug)]
pub(super) struct Field {
    slot: Span,
    sifs: Span,
    /// The shortest inter-frame space of a contender.
    first_ifs: Span,
    options: Options,
    links: Links,
    /// By station.
    radios: Vec<Radio>,
    /// By contender.
    countdowns: Vec<Countdown>,
    /// When the backoff of each contender ends, or an earlier instant.
    timers: Deadlines,
    flights: Vec<Flight>,
    /// The numbers of flights that are over.
    free: Vec<FlightId>,
    agenda: Agenda,
    /// Stations whose medium may have become idle in this instant.
    touched: Vec<StationId>,
    /// Contenders and answers that start in this instant.
    starting: Vec<Contender>,
    answering: Vec<StationId>,
    launched: Vec<FlightId>,
    /// True while [`Field::wake`] works on an instant.
    waking: bool,
    reception: Reception,
    ledger: Ledger,
    collisions: u64,
    history: History,
    /// The frames on the air, if they are kept.
    frames: Option<FrameLog>,
}

/// What access rules may know of the past.
#[derive(Debug)]
enum History {
    /// All stations hear each other. They have one history, and count idle slots from `from` on.
    Common { channel: Channel, from: Time },
    /// Each station has its own, if a rule reads it.
    Own(Vec<Option<Channel>>, Channel),
}

/// How a field differs from others.
#[derive(Clone, Copy, Debug)]
struct Options {
    capture: Capture,
    nav_reset: bool,
    nav_rounding: bool,
    cts: CtsRule,
    idle_access: IdleAccess,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct Flight {
    kind: PartKind,
    /// The contender whose exchange it belongs to.
    owner: Contender,
    from: StationId,
    to: StationId,
    start: Time,
    end: Time,
    /// Its Duration field.
    nav: Span,
    /// The stations that hear it.
    hearers: ListId,
    /// Bytes of the IP packet of the exchange.
    bytes: u32,
    /// Where its transmitter was when it began, if frames are kept.
    origin: Option<Point>,
    /// The power with which it arrives at the station to which it is addressed, as a share of the transmitted power;
    /// `None` if this station does not hear it.
    gain: Option<f64>,
}

impl Field {
    /// An idle medium for contenders with these rules and stations with these links. `reads` tells for each
    /// station whether one of its rules reads the history of the channel.
    pub(super) fn new(
        links: Links,
        spec: &FieldSpec,
        mac: &MacSpec,
        rules: &[BackoffRules],
        (slot, sifs): (Span, Span),
        reception: Reception,
        reads: &[bool],
    ) -> Field {
        let history = if links.all_hear_all() {
            History::Common { channel: Channel::new(), from: Time::ZERO }
        } else {
            History::Own(reads.iter().map(|r| r.then(Channel::new)).collect(), Channel::new())
        };
        let counts = |r: &BackoffRules| r.busy.counts(mac.busy_slot);
        let mut timers = Deadlines::default();
        (0..rules.len() as u32).for_each(|who| timers.push(who, Time::NEVER));
        Field {
            slot,
            sifs,
            first_ifs: rules.iter().map(|r| r.ifs).min().unwrap_or_default(),
            options: Options {
                capture: spec.capture,
                nav_reset: spec.nav_reset,
                nav_rounding: spec.nav_rounding,
                cts: spec.cts,
                idle_access: mac.idle_access,
            },
            links,
            radios: (0..reception.stations()).map(|_| Radio::default()).collect(),
            countdowns: rules.iter().map(|r| Countdown::new(*r, counts(r))).collect(),
            timers,
            flights: Vec::new(),
            free: Vec::new(),
            agenda: Agenda::default(),
            touched: Vec::new(),
            starting: Vec::new(),
            answering: Vec::new(),
            launched: Vec::new(),
            waking: false,
            ledger: Ledger::new(reception.stations()),
            reception,
            collisions: 0,
            history,
            frames: None,
        }
    }

    /// Where stations are at `now`, and who hears whom.
    pub(super) fn map(&mut self, now: Time) -> Option<(Vec<Point>, Vec<MapLink>)> {
        self.links.map(now)
    }

    /// The stations that would hear a frame that `from` starts at `now`, the nearest first.
    pub(super) fn hearers(&mut self, now: Time, from: StationId) -> &[Hearer] {
        self.links.hearers(now, from)
    }

    /// Number of frames that other frames spoiled at the station to which they were addressed.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// From now on keeps frames in `log`.
    pub(super) fn keep_frames(&mut self, log: FrameLog) {
        self.frames = Some(log);
    }

    /// The kept frames; `None` if frames are not kept.
    pub(super) fn frames(&self) -> Option<&FrameLog> {
        self.frames.as_ref()
    }

    /// The time in which `station` neither sent nor sensed a frame by `now`.
    pub(super) fn quiet_for(&self, station: StationId, now: Time) -> Span {
        self.radios.get(station as usize).map_or(Span::ZERO, |radio| {
            let books = radio.book.at(now);
            books.blocked + books.idle
        })
    }

    /// The ledger at `now`. Frames on the air are not yet booked.
    pub(super) fn ledger(&self, now: Time) -> Ledger {
        self.ledger.of_field(now, self.radios.iter().map(|r| r.book.at(now)).collect())
    }

    /// The next deadline of the medium.
    #[inline]
    pub(super) fn next_deadline(&self) -> Time {
        let event = self.agenda.next();
        self.timers.first().map_or(event, |(at, _)| at.min(event))
    }

    /// Does what is due on the medium. Returns a contender whose burst has now been received, and by whom, if there is
    /// one; it is then to be called again.
    pub(super) fn wake(&mut self, senders: &mut Senders<'_, '_>) -> Option<(Contender, StationId)> {
        let now = senders.now;
        self.waking = true;
        loop {
            while let Some(event) = self.agenda.take(now, What::Ends) {
                if event.is(What::Sent) {
                    self.sent(senders, event.flight);
                } else if let Some(received) = self.ends(senders, event) {
                    return Some(received);
                }
            }
            self.report_failed(senders);
            while let Some(station) = self.touched.pop() {
                self.quiet(senders, station);
            }
            while let Some(event) = self.agenda.take(now, What::Answers) {
                self.answering.push(event.flight);
            }
            self.start_all(senders);
            while let Some(event) = self.agenda.take(now, What::Begins) {
                self.begins(senders, event.flight, event.next);
            }
            if self.next_deadline() > now && self.touched.is_empty() {
                break;
            }
        }
        self.waking = false;
        None
    }

    /// `who`, which had nothing to send, now has a burst.
    pub(super) fn contend(&mut self, senders: &mut Senders<'_, '_>, who: Contender) {
        let (now, slot) = (senders.now, self.slot);
        let radio = &self.radios[senders.stations.station_of(who) as usize];
        let busy = radio.busy || radio.is_engaged();
        let reserved = now < radio.nav.reserved_until();
        let count = &mut self.countdowns[who as usize];
        if self.options.idle_access == IdleAccess::Draw && !busy && !reserved && !count.is_pending(now, slot) {
            let (ifs, slots) = (count.rules.ifs, self.backoff(senders, who, Draw::Arrival));
            self.countdowns[who as usize].back_off_from(now + ifs, slots);
            senders.observers.contends(who, now, Some(slots));
            self.set_timer(who);
            return;
        }
        match count.arrive(now, slot, busy, reserved) {
            Arrival::Waits => {
                senders.observers.contends(who, now, None);
                self.set_timer(who);
            }
            Arrival::Busy => {
                let slots = self.backoff(senders, who, Draw::Arrival);
                self.countdowns[who as usize].back_off(slots, true);
                senders.observers.contends(who, now, Some(slots));
                self.set_timer(who);
            }
            Arrival::Free => {
                count.start();
                senders.observers.contends(who, now, Some(0));
                self.starting.push(who);
                if !self.waking {
                    self.start_all(senders);
                }
            }
        }
    }

    fn set_timer(&mut self, who: Contender) {
        let due = self.countdowns[who as usize].due(self.slot);
        if self.timers.at(who) != due {
            self.timers.set(who, due);
        }
    }

    fn backoff(&mut self, senders: &mut Senders<'_, '_>, who: Contender, why: Draw) -> u64 {
        let heard = self.heard(senders, who);
        senders.backoff(who, why, heard)
    }

    /// What `who` has heard.
    fn heard(&mut self, senders: &Senders<'_, '_>, who: Contender) -> Heard<'_> {
        let busy_counts = self.countdowns[who as usize].busy_counts();
        let (others, channel) = match &self.history {
            History::Common { channel, .. } => (senders.others(who), channel),
            History::Own(own, nothing) => {
                let station = senders.stations.station_of(who);
                let mut others = 0;
                if senders.stations.reads(who) == Reads::Contenders {
                    let around = self.links.hearers(senders.now, station);
                    others = around.iter().map(|h| senders.stations.in_service_at(h.station)).sum();
                }
                (others as u32, own[station as usize].as_ref().unwrap_or(nothing))
            }
        };
        Heard { others, busy_counts, channel }
    }

    /// All stations have heard that the medium is idle from `from` on.
    fn idle_for_all(&mut self, since: Time) {
        if let History::Common { from, .. } = &mut self.history {
            *from = since;
        }
    }

    // ---- transmissions start ----

    /// All transmissions of this instant start.
    #[inline(always)]
    fn start_all(&mut self, senders: &mut Senders<'_, '_>) {
        let due = self.timers.first().is_some_and(|(at, _)| at <= senders.now);
        if due || !self.starting.is_empty() || !self.answering.is_empty() {
            self.start_some(senders);
        }
    }

    /// The transmissions of this instant start; there is at least one.
    #[inline(never)]
    fn start_some(&mut self, senders: &mut Senders<'_, '_>) {
        let now = senders.now;
        while let Some((at, who)) = self.timers.first()
            && at <= now
        {
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
        if self.starting.len() > 1 && senders.stations.have_categories() {
            self.collide_inside(senders);
        }
        if let (false, History::Common { channel, from }) = (self.starting.is_empty(), &mut self.history) {
            let idle = now.since(*from + self.first_ifs).div_floor(self.slot);
            channel.turns_busy(u32::try_from(idle).unwrap_or(u32::MAX));
        }
        let mut starting = std::mem::take(&mut self.starting);
        for &who in &starting {
            let station = senders.stations.station_of(who);
            self.turn_busy(senders, station);
            senders.wins(who);
            senders.started(who, true);
            self.begin_exchange(senders, station, who, now);
        }
        starting.clear();
        self.starting = starting;
        let mut answering = std::mem::take(&mut self.answering);
        for &station in &answering {
            self.answer(senders, station);
        }
        answering.clear();
        self.answering = answering;
        let mut launched = std::mem::take(&mut self.launched);
        for &flight in &launched {
            self.begins(senders, flight, 0);
        }
        launched.clear();
        self.launched = launched;
    }

    /// Resolves internal collisions: of several senders of one station only the highest category sends. For the others
    /// this is a failed attempt without airtime.
    fn collide_inside(&mut self, senders: &mut Senders<'_, '_>) {
        // IEEE 802.11-2016 §10.22.2.4: the category that is not the highest of those granted behaves as after an
        // external collision.
        let goes_first = |&who: &Contender| !senders.stations.above(who).any(|higher| self.starting.contains(&higher));
        let (sent, lost): (Vec<Contender>, Vec<Contender>) = self.starting.iter().partition(|who| goes_first(who));
        self.starting = sent;
        for who in lost {
            let next = senders.not_answered(who, self.heard(senders, who), Answer::Cts, Failure::Internal);
            self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
        }
    }

    /// `who` begins an exchange; it won the medium at `won`.
    fn begin_exchange(&mut self, senders: &mut Senders<'_, '_>, station: StationId, who: Contender, won: Time) {
        let Some(s) = senders.stations.in_service(who) else { return };
        let Some(part) = senders.air.plan(&s.burst).parts().next() else { return };
        let now = senders.now;
        self.radios[station as usize].own = Some(Own { who, start: now, won, data: None, over: now, failed: None });
        self.launch(senders, who, part.kind);
    }

    /// `station` sends the frame that it owes.
    fn answer(&mut self, senders: &mut Senders<'_, '_>, station: StationId) {
        let now = senders.now;
        let radio = &mut self.radios[station as usize];
        let Some((who, kind)) = radio.answer.take() else { return };
        let blocked = radio.busy || radio.nav.reserved_until() > now;
        if self.options.cts == CtsRule::Idle && blocked && !matches!(kind, PartKind::Ack | PartKind::BlockAck) {
            let why = if kind == PartKind::Cts { Failure::Unheard } else { Failure::Blocked };
            if let (PartKind::Data, Some(own)) = (kind, &mut radio.own) {
                own.over = now;
            }
            self.fail(senders, who, PartKind::Rts, FrameOutcome::Received, why);
            self.touched.push(station);
            return;
        }
        match radio.own {
            // The next burst of a transmission opportunity.
            Some(own) if own.who == who && own.start == now => self.begin_exchange(senders, station, who, own.won),
            _ => self.launch(senders, who, kind),
        }
    }

    /// A part of the exchange of `owner` goes on the air now.
    fn launch(&mut self, senders: &mut Senders<'_, '_>, owner: Contender, kind: PartKind) {
        let now = senders.now;
        let Some(s) = senders.stations.in_service(owner) else { return };
        let (plan, bytes) = (senders.air.plan(&s.burst), s.burst.bytes);
        let Some(part) = plan.part_of(kind) else { return };
        let (from, to) = plan.ends(&part);
        self.turn_busy(senders, from);
        let origin = self.frames.as_ref().and_then(|_| self.links.position(now, from));
        let id = self.free.pop().unwrap_or(self.flights.len() as FlightId);
        let list = self.links.at_start(now, from, id);
        let hearers = self.links.list(list);
        let to_itself = (to == from || to == BROADCAST).then_some(1.0);
        let gain = to_itself.or_else(|| Some(hearers.iter().find(|h| h.station == to)?.gain));
        let end = now + part.airtime;
        let exact = plan.nav(&part);
        let half = Span::from_nanos(500);
        let nav = if self.options.nav_rounding { Span::from_micros((exact + half).as_micros()) } else { exact };
        let flight = Flight { kind, owner, from, to, start: now, end, nav, hearers: list, bytes, origin, gain };
        let radio = &mut self.radios[from as usize];
        radio.transmit();
        radio.note(now);
        if let Some(own) = &mut radio.own
            && own.who == owner
        {
            own.over = end + plan.silence(&part).sender;
            own.data = if kind == PartKind::Data { Some(now) } else { own.data };
        }
        if matches!(kind, PartKind::Ack | PartKind::BlockAck) {
            senders.observers.acknowledges(from);
        }
        let first = hearers.first().map(|h| h.delay);
        match self.flights.get_mut(id as usize) {
            Some(place) => *place = flight,
            None => self.flights.push(flight),
        }
        self.agenda.put(end, What::Sent, id, 0);
        match first {
            None => {}
            Some(delay) if delay.is_zero() => self.launched.push(id),
            Some(delay) => self.agenda.put(now + delay, What::Begins, id, 0),
        }
    }

    /// The first bit of a flight arrives at those that hear it, from number `next` on.
    fn begins(&mut self, senders: &mut Senders<'_, '_>, id: FlightId, next: u32) {
        let now = senders.now;
        let Flight { from, to, start, end, hearers, .. } = self.flights[id as usize];
        let mut i = next as usize;
        while let Some(&Hearer { station, decodes, gain, delay }) = self.links.list(hearers).get(i) {
            if start + delay > now {
                self.agenda.put(start + delay, What::Begins, id, i as u32);
                return;
            }
            self.turn_busy(senders, station);
            let radio = &mut self.radios[station as usize];
            let is_own = to == station || to == BROADCAST;
            let harmless = radio.begins(id, gain, decodes, is_own, end + delay, self.options.capture);
            radio.note(now);
            let timing = senders.air.timing();
            if harmless && timing.eifs_is_nav {
                radio.nav.reserve(now + (end - start) + timing.eifs_more, None, from);
            }
            i += 1;
        }
    }

    /// The medium around `station` turns busy, if it is not.
    #[inline(always)]
    fn turn_busy(&mut self, senders: &mut Senders<'_, '_>, station: StationId) {
        if !self.radios[station as usize].busy {
            self.freeze(senders, station);
        }
    }

    /// The medium around `station`, which was idle, turns busy.
    #[inline(never)]
    fn freeze(&mut self, senders: &mut Senders<'_, '_>, station: StationId) {
        let now = senders.now;
        let radio = &mut self.radios[station as usize];
        // A frame a SIFS after another continues an exchange.
        let is_new = now >= radio.quiet + self.sifs + self.slot;
        radio.busy = true;
        radio.unclear = Unclear::Nothing;
        radio.nav.settle(now);
        if let (true, History::Own(own, _)) = (is_new, &mut self.history)
            && let Some(channel) = &mut own[station as usize]
        {
            let counts =
                senders.stations.contenders(station).map(|who| self.countdowns[who as usize].resume_at()).min();
            let idle = now.since(counts.unwrap_or(now)).div_floor(self.slot);
            channel.turns_busy(u32::try_from(idle).unwrap_or(u32::MAX));
        }
        for who in senders.stations.contenders(station) {
            let count = &mut self.countdowns[who as usize];
            let counts = count.resume_at() <= now;
            let Some(counted) = count.freeze(now, self.slot, is_new) else { continue };
            if !count.waits() {
                continue;
            }
            // Otherwise its timer stands: most often the backoff resumes at the same instant, the end of the NAV.
            if counts {
                self.timers.set(who, Time::NEVER);
            }
            if is_new && count.rules.residue == Residue::Redraw {
                let slots = self.backoff(senders, who, Draw::Cycle(u32::try_from(counted).unwrap_or(u32::MAX)));
                self.countdowns[who as usize].back_off(slots, true);
            }
        }
    }

    // ---- transmissions end ----

    /// A transmitter has sent the last bit of a flight.
    fn sent(&mut self, senders: &mut Senders<'_, '_>, id: FlightId) {
        let now = senders.now;
        let f = self.flights[id as usize];
        let radio = &mut self.radios[f.from as usize];
        (radio.sends, radio.stopped) = (false, now);
        self.touched.push(f.from);
        match f.kind {
            // It keeps the medium for the data that it expects.
            PartKind::Cts => radio.nav.reserve(now + f.nav, None, f.to),
            PartKind::CtsToSelf => {
                self.record(senders, &f, FrameOutcome::Received);
                self.owe(senders, f.from, f.owner, PartKind::Data);
            }
            _ => {}
        }
        if f.gain.is_none() {
            self.record(senders, &f, FrameOutcome::Errored);
            self.fail(senders, f.owner, f.kind, FrameOutcome::Errored, Failure::Unheard);
        }
        match self.links.list(f.hearers).first() {
            Some(h) => self.agenda.put(now + h.delay, What::Ends, id, 0),
            None => self.over(senders, id),
        }
    }

    /// The last bit of a flight arrives at those that hear it. Returns the contender whose burst is received, and by
    /// whom, if it is data; the rest of the flight then follows.
    fn ends(
        &mut self,
        senders: &mut Senders<'_, '_>,
        Event { flight: id, next, .. }: Event,
    ) -> Option<(Contender, StationId)> {
        let now = senders.now;
        let f = self.flights[id as usize];
        let mut i = next as usize;
        while let Some(&Hearer { station, delay, .. }) = self.links.list(f.hearers).get(i) {
            if f.end + delay > now {
                self.agenda.put(f.end + delay, What::Ends, id, i as u32);
                return None;
            }
            i += 1;
            let received = self.arrived(senders, &f, id, station);
            if station != f.to {
                self.observe(senders, &f, station, received);
            }
            let has_data = match f.to {
                BROADCAST => received,
                to => station == to && self.resolve(senders, &f, received),
            };
            if has_data {
                self.agenda.put(now, What::Ends, id, i as u32);
                return Some((f.owner, station));
            }
        }
        self.over(senders, id);
        None
    }

    /// All that hear a flight have heard its end.
    fn over(&mut self, senders: &mut Senders<'_, '_>, id: FlightId) {
        self.free.push(id);
        let f = self.flights[id as usize];
        if f.to == BROADCAST {
            self.record(senders, &f, FrameOutcome::Received);
            senders.broadcast_sent(f.owner);
            self.succeed(senders, f.owner);
            self.touched.push(f.from);
        }
    }

    /// The last bit of flight `id` has arrived at `station`. True if the station decoded it.
    fn arrived(&mut self, senders: &Senders<'_, '_>, f: &Flight, id: FlightId, station: StationId) -> bool {
        let (now, timing) = (senders.now, senders.air.timing());
        let radio = &mut self.radios[station as usize];
        let received = radio.ends(id);
        self.touched.push(station);
        if received == Received::Decoded {
            radio.unclear = Unclear::Nothing;
            if station != f.to && f.to != BROADCAST {
                // IEEE 802.11-2016 §10.3.2.4: a station that set its NAV from an RTS may reset it when nothing follows
                // within 2 SIFS + CTS + aRxPHYStartDelay + 2 slots.
                let silence = |own: &Plan<'_>| own.part_of(PartKind::Rts).map(|rts| own.silence(&rts).others);
                let lapse = (f.kind == PartKind::Rts && self.options.nav_reset)
                    .then(|| senders.stations.in_service(f.owner).and_then(|s| silence(&senders.air.plan(&s.burst))))
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
    fn resolve(&mut self, senders: &mut Senders<'_, '_>, f: &Flight, decoded: bool) -> bool {
        let now = senders.now;
        let errored = decoded && self.is_lost(senders, f);
        let outcome = match (decoded, errored) {
            (true, false) => FrameOutcome::Received,
            (true, true) => FrameOutcome::Errored,
            (false, _) => FrameOutcome::Collided,
        };
        self.record(senders, f, outcome);
        self.observe(senders, f, f.to, outcome == FrameOutcome::Received);
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
            self.fail(senders, f.owner, f.kind, outcome, why);
            return false;
        }
        match f.kind {
            PartKind::Rts => {
                let radio = &self.radios[f.to as usize];
                if radio.is_engaged() || (self.options.cts == CtsRule::Nav && !radio.nav.may_answer(now, f.from)) {
                    self.fail(senders, f.owner, PartKind::Rts, outcome, Failure::Unheard);
                } else {
                    self.owe(senders, f.to, f.owner, PartKind::Cts);
                }
            }
            PartKind::Cts => self.owe(senders, f.to, f.owner, PartKind::Data),
            PartKind::CtsToSelf => {}
            PartKind::Data | PartKind::Request => {
                let answer = senders.stations.in_service(f.owner).map_or(PartKind::Ack, |s| s.burst.content.answer());
                self.owe(senders, f.to, f.owner, answer);
                return true;
            }
            PartKind::Ack | PartKind::BlockAck => self.succeed(senders, f.owner),
        }
        false
    }

    /// Tells the observers of `station` of a flight whose last bit has arrived there.
    #[inline(always)]
    fn observe(&self, senders: &mut Senders<'_, '_>, f: &Flight, station: StationId, decoded: bool) {
        if senders.observers.listens(station) || senders.stations.listens(station) {
            self.tell(senders, f, station, decoded);
        }
    }

    /// See [`Field::observe`]; `station` has an observer, or a queue that learns from frames.
    #[inline(never)]
    fn tell(&self, senders: &mut Senders<'_, '_>, f: &Flight, station: StationId, decoded: bool) {
        let radio = &self.radios[station as usize];
        if radio.sends {
            return;
        }
        let is_data = f.kind == PartKind::Data;
        let packet = senders.stations.packet(f.owner).filter(|_| is_data && decoded).copied();
        let began = Time::from_nanos(senders.now.as_nanos() - (f.end - f.start).as_nanos());
        let heard = HeardFrame {
            kind: match f.kind {
                PartKind::Rts => Kind::Rts,
                PartKind::Cts | PartKind::CtsToSelf => Kind::Cts,
                PartKind::Data => Kind::Data,
                PartKind::Ack | PartKind::BlockAck | PartKind::Request => Kind::Ack,
            },
            from: f.from,
            to: f.to,
            me: station,
            start: began.max(radio.stopped),
            end: senders.now,
            duration: f.nav,
            bytes: if is_data { f.bytes } else { 0 },
            decoded,
            note: None,
            packet: packet.as_ref(),
        };
        if senders.observers.listens(station) {
            senders.observers.heard(&heard);
        }
        if senders.stations.listens(station) {
            senders.stations.heard(&heard);
        }
    }

    /// Tells the observers of the station of `who` of its exchange `own`, which has ended at `end`.
    #[inline]
    fn observe_own(&self, senders: &mut Senders<'_, '_>, own: &Own, outcome: Outcome, end: Time) {
        let (who, station) = (own.who, senders.stations.station_of(own.who));
        if !senders.observers.listens(station) {
            return;
        }
        let Some(s) = senders.stations.in_service(who) else { return };
        let plan = senders.air.plan(&s.burst);
        let (since, slots) = senders.observers.contention(who);
        let first = own.start == own.won;
        let ifs = if first { self.countdowns[who as usize].rules.ifs } else { self.sifs };
        let data = own.data.unwrap_or(end);
        let x = OwnExchange {
            bytes: s.burst.bytes,
            attempt: u32::from(s.attempt) + 1,
            protected: plan.part_of(PartKind::Rts).is_some(),
            outcome: if s.burst.to == BROADCAST { Outcome::Broadcast } else { outcome },
            // The inter-frame space counts even if it was over before the packet came.
            began: since.min(Time::from_nanos(own.start.as_nanos().saturating_sub(ifs.as_nanos()))),
            backoff: if first { self.slot * slots } else { Span::ZERO },
            data,
            data_time: plan.part_of(PartKind::Data).map_or(Span::ZERO, |part| part.airtime),
            end,
        };
        senders.observers.sent(station, &x);
    }

    /// True if the channel spoils `f` at its receiver.
    fn is_lost(&mut self, senders: &mut Senders<'_, '_>, f: &Flight) -> bool {
        let (Some(s), now, air) = (senders.stations.in_service(f.owner), senders.now, senders.air) else {
            return false;
        };
        let (plan, channel) = (air.plan(&s.burst), air.channel_of(&s.burst));
        let bytes = plan.bytes(f.kind);
        let mut frame = self.reception.ends(channel, now, plan.format(f.kind), f.gain.unwrap_or(1.0));
        senders.stations.is_lost(f.owner, f.kind, bytes, |bytes, packet| frame.spoils(bytes, packet))
    }

    /// `station` sends a frame of the exchange of `owner` after a SIFS.
    fn owe(&mut self, senders: &Senders<'_, '_>, station: StationId, owner: Contender, kind: PartKind) {
        self.radios[station as usize].answer = Some((owner, kind));
        self.agenda.put(senders.now + self.sifs, What::Answers, station, 0);
    }

    /// Records a flight in the trace, the ledger and the log.
    fn record(&mut self, senders: &mut Senders<'_, '_>, f: &Flight, outcome: FrameOutcome) {
        let Some(s) = senders.stations.in_service(f.owner) else { return };
        let plan = senders.air.plan(&s.burst);
        let Some(part) = plan.part_of(f.kind) else { return };
        let (store, Flight { start, end, origin, .. }) = (senders.stations.store(f.owner), *f);
        OnAir { plan: &plan, part: &part, service: s, store, start, end, outcome, origin }
            .record(senders.out.trace, &mut self.frames);
        let hears = match f.to {
            BROADCAST => f.from,
            to if to == f.from => s.burst.to,
            to => to,
        };
        if outcome == FrameOutcome::Collided {
            self.ledger.collided(f.from, part.airtime);
        } else {
            let spoiled = outcome == FrameOutcome::Errored;
            self.ledger.frame(f.from, hears, plan.account(&part), part.airtime, spoiled);
        }
    }

    /// The burst of `who` has been acknowledged.
    fn succeed(&mut self, senders: &mut Senders<'_, '_>, who: Contender) {
        let station = senders.stations.station_of(who);
        let Some(own) = self.radios[station as usize].own.take() else { return };
        let now = senders.now;
        self.observe_own(senders, &own, Outcome::Acked, now);
        senders.report(who, now - own.start, true);
        let follows = now + self.sifs;
        let snr = senders.stations.in_service(who).and_then(|s| self.reception.snr(senders.air.channel_of(&s.burst)));
        let heard = self.heard(senders, who);
        let next = senders.answered(who, heard, snr, follows - own.won);
        if next == Next::GoOn {
            // IEEE 802.11-2016 §9.2.5.2: Duration fields reach over the gap before the next frame of the opportunity.
            for h in self.links.hearers(now, station).iter().filter(|h| h.decodes) {
                self.radios[h.station as usize].nav.reserve(follows, None, station);
            }
            self.radios[station as usize].own = Some(Own { start: follows, data: None, over: follows, ..own });
            self.owe(senders, station, who, PartKind::Data);
            return;
        }
        self.idle_for_all(now);
        self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
        senders.observers.contends(who, now, Some(next.slots()));
    }

    /// The exchange of `who` has failed: the part `lost` was not received, or not answered.
    fn fail(&mut self, senders: &Senders<'_, '_>, who: Contender, lost: PartKind, outcome: FrameOutcome, why: Failure) {
        let station = senders.stations.station_of(who);
        let others = || {
            let plan = senders.air.plan(&senders.stations.in_service(who)?.burst);
            Some(plan.silence(&plan.part_of(lost)?).others)
        };
        let heard = if outcome == FrameOutcome::Collided { None } else { others() };
        let bystanders = senders.now + heard.unwrap_or(senders.air.timing().eifs_more);
        if let Some(own) = &mut self.radios[station as usize].own
            && own.who == who
        {
            let airtime = if why == Failure::Error { senders.now } else { own.over }.since(own.start);
            own.failed = Some(Failed { missing: lost.missing(), why, airtime, reported: false });
            self.touched.push(station);
            self.idle_for_all(bystanders);
        }
    }

    /// Reports the failed exchanges on which stations act now. All of an instant are reported before a queue is asked
    /// for its next packet, which may depend on them.
    fn report_failed(&mut self, senders: &mut Senders<'_, '_>) {
        for &station in &self.touched {
            let radio = &mut self.radios[station as usize];
            let acts = radio.is_quiet();
            if let Some(Own { who, failed: Some(failed), .. }) = &mut radio.own
                && acts
                && !failed.reported
            {
                failed.reported = true;
                senders.report(*who, failed.airtime, false);
            }
        }
    }

    /// If the medium around `station` is idle: it acts on a failed exchange, and its backoffs count.
    fn quiet(&mut self, senders: &mut Senders<'_, '_>, station: StationId) {
        let now = senders.now;
        let radio = &mut self.radios[station as usize];
        if !radio.is_quiet() {
            radio.note(now);
            return;
        }
        if std::mem::replace(&mut radio.busy, false) {
            radio.quiet = now;
        }
        let timing = senders.air.timing();
        let mut more = match radio.unclear {
            Unclear::Frame => timing.eifs_more,
            Unclear::Nothing | Unclear::Energy => Span::ZERO,
        };
        let mut from = radio.nav.reserved_until();
        if let Some(own @ Own { who, over, failed: Some(Failed { missing, why, .. }), .. }) = radio.own {
            radio.own = None;
            if radio.unclear == Unclear::Energy && over < now {
                more = timing.short_collider_more;
            }
            from = from.max(over);
            let outcome = if missing == Answer::Cts { Outcome::NoCts } else { Outcome::NoAck };
            self.observe_own(senders, &own, outcome, over.max(now));
            let next = senders.not_answered(who, self.heard(senders, who), missing, why);
            self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
            senders.observers.contends(who, over.max(now), Some(next.slots()));
        }
        let radio = &mut self.radios[station as usize];
        if radio.is_engaged() {
            radio.note(now);
            return;
        }
        let from = from.max(radio.quiet + more);
        let mut free = Time::NEVER;
        for who in senders.stations.contenders(station) {
            let count = &mut self.countdowns[who as usize];
            count.resume(from);
            free = free.min(count.resume_at());
            if count.waits() {
                self.set_timer(who);
            }
        }
        self.radios[station as usize].book.turn(now, Doing::Quiet(free));
    }
}
