//! The medium of a cell in which all stations hear each other.
//!
//! Contention is computed ([`Contention`]). An exchange therefore costs three wake-ups, whatever the number of
//! stations: its start, the delivery at the end of the data frame, and its end. The outcome is decided at the start:
//! which stations collide, which part the channel corrupts, which answers follow. Each station is told at the time at
//! which it would learn the outcome.
//!
//! Propagation takes no time. Two transmissions that start in the same nanosecond collide; a later one senses the
//! earlier one and waits, unless a preamble takes time to be detected ([`Late`]). An error corrupts a frame only at its
//! receiver; other stations decode the frame and obey its Duration field.

mod contention;
mod late;

use self::contention::{Arrival, Contention};
use self::late::Late;
use super::frame_log::{FrameLog, OnAir};
use super::ledger::Ledger;
use super::reception::Reception;
use super::stations::{Moment, Stations};
use super::successes::Success;
use crate::wifi::access::Draw;
use crate::wifi::frame::FrameOutcome;
use crate::wifi::ids::{AP, BROADCAST, Contender, StationId};
use crate::wifi::medium::nav::Navs;
use crate::wifi::sender::counters::{Rivals, Waits};
use crate::wifi::sender::mac::{Failure, Heard, Next};
use crate::wifi::sender::plan::{Answer, Burst, Part, PartKind, Plan, Silence};
use crate::wifi::spec::{CellSpec, IdleAccess};
use contend_core::{Span, Time};

/// A medium that all stations hear.
#[derive(Debug)]
pub(super) struct Cell {
    contention: Contention,
    ledger: Ledger,
    reception: Reception,
    idle_access: IdleAccess,
    activity: Activity,
    exchange: Exchange,
    /// What outlasts an exchange that the channel has cut short.
    navs: Navs,
    /// When the sender on the air won the medium.
    won: Time,
    /// The contenders that start in this instant, or before the first of them is sensed.
    starting: Vec<Contender>,
    /// How frames are sensed late.
    late: Late,
    /// The contenders that draw again because another one was first, and the slots that each counted.
    again: Vec<(Contender, u32)>,
    collisions: u64,
    rivals: Rivals,
    waits: Waits,
    /// The successes, if they are kept.
    successes: Option<Vec<Success>>,
    /// The frames on the air, if they are kept.
    frames: Option<FrameLog>,
}

/// What is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// Nothing, as far as the other stations know.
    Idle,
    /// A frame that is sensed at this time; others may start before.
    Unsensed(Time),
    /// An exchange whose data frame ends, and is delivered, at this time.
    Data(Time),
    /// The rest of an exchange, until this time.
    Rest(Time),
}

/// The exchange on the air.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    start: Time,
    /// When the last frame ends.
    end: Time,
    fate: Fate,
}

/// The outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// There is one sender, and every part is received.
    Success(Contender),
    /// There is one sender. One part is not received, or not answered, and is the last.
    Lost(Contender, Answer, Silence, Failure),
    /// There is one sender: a CF-End, and no exchange.
    Ended,
    /// Several senders start in the same instant. Nothing is received.
    Collision,
}

impl Cell {
    /// An idle medium around `stations`.
    pub(super) fn new(CellSpec { phy, mac, .. }: &CellSpec, stations: &Stations, reception: Reception) -> Cell {
        Cell {
            contention: Contention::new(&stations.backoff_rules(phy), phy.slot, mac.busy_slot),
            ledger: Ledger::new(reception.stations()),
            starting: Vec::with_capacity(reception.stations()),
            late: Late::new(mac.preamble_detection),
            reception,
            idle_access: mac.idle_access,
            activity: Activity::Idle,
            exchange: Exchange { start: Time::ZERO, end: Time::ZERO, fate: Fate::Collision },
            navs: Navs::default(),
            won: Time::ZERO,
            again: Vec::new(),
            collisions: 0,
            rivals: Rivals::default(),
            waits: Waits::default(),
            successes: None,
            frames: None,
        }
    }

    /// Number of collisions.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// The contenders that the access point met.
    pub(super) fn rivals(&self) -> Rivals {
        self.rivals
    }

    /// The idle slots before transmissions.
    pub(super) fn waits(&self) -> Waits {
        self.waits
    }

    /// From now on keeps every success, in four bytes each.
    pub(super) fn keep_successes(&mut self) {
        self.successes.get_or_insert_default();
    }

    /// The exchanges that ended with an ACK, in the order of their ends; empty if they are not kept.
    pub(super) fn successes(&self) -> &[Success] {
        self.successes.as_deref().unwrap_or_default()
    }

    /// From now on keeps frames in `log`.
    pub(super) fn keep_frames(&mut self, log: FrameLog) {
        self.frames = Some(log);
    }

    /// The kept frames; `None` if frames are not kept.
    pub(super) fn frames(&self) -> Option<&FrameLog> {
        self.frames.as_ref()
    }

    /// The ledger at `now`. An exchange is booked up to its end when it is sensed; before, the medium until it began.
    pub(super) fn ledger(&self, now: Time) -> Ledger {
        let mut books = self.ledger.clone();
        let quiet_until = match self.activity {
            Activity::Idle => now,
            Activity::Unsensed(sensed) => self.late.started(sensed),
            Activity::Data(_) | Activity::Rest(_) => return books,
        };
        books.quiet(quiet_until, self.contention.resume(), self.contention.waiting() > 0);
        books
    }

    /// See [`Reception::excess_losses`].
    pub(super) fn excess_losses(&self, station: StationId) -> f64 {
        self.reception.excess_losses(station)
    }

    /// The next deadline of the medium.
    #[inline]
    pub(super) fn next_deadline(&mut self) -> Time {
        match self.activity {
            Activity::Idle => self.late.sensed(self.contention.next_start()),
            Activity::Unsensed(at) | Activity::Data(at) | Activity::Rest(at) => at,
        }
    }

    /// Does what is due on the medium: its deadline has come. Returns the contender whose burst has now been received,
    /// if any.
    #[inline]
    pub(super) fn wake(&mut self, moment: &mut Moment<'_, '_>) -> Option<Contender> {
        match self.activity {
            Activity::Data(_) => return self.deliver(),
            Activity::Rest(_) => self.finish(moment),
            Activity::Idle | Activity::Unsensed(_) => {
                self.starting.clear();
                self.transmit(moment);
            }
        }
        None
    }

    /// `who`, which had nothing to send, now has a burst.
    pub(super) fn contend(&mut self, moment: &mut Moment<'_, '_>, who: Contender) {
        let now = moment.now;
        let busy = !matches!(self.activity, Activity::Idle | Activity::Unsensed(_));
        if self.activity == Activity::Idle && self.contention.waiting() == 0 {
            self.ledger.quiet(now, self.contention.resume(), false);
        }
        // IEEE 802.11-2016 §10.3.4.2: a medium idle for DIFS is used at once; otherwise a backoff is drawn, unless one
        // is pending. ns-2 waits DIFS and a backoff from the arrival on whenever no backoff is running.
        if self.idle_access == IdleAccess::Draw && !busy && !self.contention.must_wait(who, now) {
            let slots = moment.backoff(who, Draw::Arrival, self.heard(moment, who));
            self.contention.back_off_alone(who, now + self.contention.ifs(who), slots, true);
            return;
        }
        match self.contention.arrive(who, now, busy) {
            Arrival::Waits => {}
            Arrival::Busy => {
                let slots = moment.backoff(who, Draw::Arrival, self.heard(moment, who));
                self.contention.back_off_later(who, slots);
            }
            Arrival::Free if self.late.is_on() => self.start_unsensed(who, now),
            Arrival::Free => {
                self.starting.clear();
                self.contention.send_at_once(who, &mut self.starting);
                self.transmit(moment);
            }
        }
    }

    /// What `who` has heard.
    #[inline]
    fn heard(&self, moment: &Moment<'_, '_>, who: Contender) -> Heard<'_> {
        let (busy_counts, channel) = (self.contention.busy_counts(who), self.contention.channel());
        Heard { others: moment.others(who), busy_counts, channel }
    }

    /// Those whose backoff was cut off draw again.
    #[inline(never)]
    fn draw_again(&mut self, moment: &mut Moment<'_, '_>) {
        let mut again = std::mem::take(&mut self.again);
        for (who, slots) in again.drain(..) {
            let slots = moment.backoff(who, Draw::Cycle(slots), self.heard(moment, who));
            self.contention.back_off(who, slots, true);
        }
        self.again = again;
    }

    // ---- an exchange ----

    /// A transmission starts now: finds its senders and decides the outcome. On entry `self.starting` holds
    /// the contenders that send without backoff.
    fn transmit(&mut self, moment: &mut Moment<'_, '_>) {
        let waiting = self.contention.waiting();
        // A contender that sends without backoff is not among those that wait.
        let contenders = u64::from(waiting) + (self.starting.len() + self.late.unsensed(self.activity)) as u64;
        let start = if self.late.is_on() {
            self.sense_late(moment)
        } else {
            self.contention.turn_busy(moment.now, &mut self.starting, &mut self.again);
            moment.now
        };
        self.ledger.quiet(start, self.contention.resume(), waiting > 0);
        if !self.again.is_empty() {
            self.draw_again(moment);
        }
        let own = moment.stations.in_service_at(AP);
        if own > 0 && !self.starting.is_empty() {
            self.rivals.starts += 1;
            self.rivals.stations += contenders - own;
        }
        if self.starting.len() > 1 && moment.stations.have_several() {
            self.collide_inside(moment);
        }
        self.starting.iter().for_each(|&who| moment.wins(who));
        let several = usize::from(self.starting.len() > 1);
        let channel = self.contention.channel();
        self.waits.starts[several] += 1;
        self.waits.slots[several] += u64::from(channel.idle(channel.busy() - 1));
        match self.starting[..] {
            // No sender: the deadline was only a lower bound.
            [] => {}
            [from] => {
                self.won = start;
                self.exchange(moment, from, start);
            }
            _ => self.collide(moment, start),
        }
    }

    /// Resolves internal collisions: of several senders of one station only the highest category sends. For the others
    /// this is a failed attempt without airtime.
    fn collide_inside(&mut self, moment: &mut Moment<'_, '_>) {
        // IEEE 802.11-2016 §10.22.2.4: the category that is not the highest of those granted behaves as after an
        // external collision.
        let mut i = 0;
        while let Some(&who) = self.starting.get(i) {
            if !moment.stations.above(who).any(|higher| self.contention.sends(higher)) {
                i += 1;
                continue;
            }
            self.starting.remove(i);
            let next = moment.not_answered(who, self.heard(moment, who), Answer::Cts, Failure::Internal);
            self.contention.back_off(who, next.slots(), next.has_burst());
        }
    }

    /// `who`, the only sender, starts its exchange at `now`.
    fn exchange(&mut self, moment: &mut Moment<'_, '_>, who: Contender, now: Time) {
        moment.started(who, true);
        let (Some(s), air) = (moment.stations.in_service(who), moment.air) else { return };
        let plan = air.plan(&s.burst);
        let Burst { from, to, .. } = s.burst;
        // Without losses only the MPDUs of a batch need to be told of their fate: all arrive.
        let is_plain =
            (to == BROADCAST || self.reception.is_clean(air.channel(from, to))) && !moment.stations.aggregate();
        // A station whose NAV another exchange has set does not answer an RTS.
        let refused = self.navs.stand && self.refuses(&plan, now);
        if let (true, Some([data, ack])) = (is_plain && !refused, plan.data_and_ack()) {
            // As most often. Both kinds are constants here, so that the compiler leaves out what other kinds need.
            let received = self.send_part(moment, who, &plan, &data, (now, now), false);
            let end = self.send_part(moment, who, &plan, &ack, (now, received), false);
            self.activity = Activity::Data(received);
            self.exchange = Exchange { start: now, end, fate: Fate::Success(who) };
            return;
        }
        let (mut fate, mut end, mut delivery) = (Fate::Success(who), now, None);
        for part in plan.parts() {
            let lost = !is_plain && self.loses(moment, who, &plan, part.kind, now + part.end());
            end = self.send_part(moment, who, &plan, &part, (now, end), lost);
            if lost || (refused && part.kind == PartKind::Rts) {
                let (silence, failure) = self.cut_short(&plan, &part, now, lost);
                fate = Fate::Lost(who, part.kind.missing(), silence, failure);
                break;
            }
            if part.kind.delivers() {
                delivery = Some(end);
            }
        }
        self.activity = delivery.map_or(Activity::Rest(end), Activity::Data);
        self.exchange = Exchange { start: now, end, fate };
    }

    /// Records and books `part` of the exchange of `who` that began at `began`; the part before it ended at `before`.
    /// Returns when it ends.
    #[inline(always)]
    fn send_part(
        &mut self,
        moment: &mut Moment<'_, '_>,
        who: Contender,
        plan: &Plan<'_>,
        part: &Part,
        (began, before): (Time, Time),
        lost: bool,
    ) -> Time {
        let start = began + part.start;
        self.ledger.ifs(start - before);
        let end = start + part.airtime;
        let outcome = if lost { FrameOutcome::Errored } else { FrameOutcome::Received };
        let mac = Some(moment.stations.mac(who));
        OnAir { plan, part, mac, start, end, outcome, origin: None }.record(moment.out.trace, &mut self.frames);
        // A CTS-to-self counts as sent to the receiver of the data.
        let (from, to) = plan.stations();
        let (sends, hears) = if plan.ends(part).0 == from { (from, to) } else { (to, from) };
        self.ledger.frame(sends, hears, plan.account(part), part.airtime, lost);
        end
    }

    /// True if nothing of the part of this kind, which `who` or its receiver sends and which ends at `end`, arrives.
    #[inline(never)]
    fn loses(
        &mut self,
        moment: &mut Moment<'_, '_>,
        who: Contender,
        plan: &Plan<'_>,
        kind: PartKind,
        end: Time,
    ) -> bool {
        let (from, to) = plan.stations();
        let (channel, bytes) = (moment.air.channel(from, to), plan.bytes(kind));
        if to == BROADCAST || self.reception.is_clean(channel) {
            // Nothing is drawn; the packets of an aggregate must arrive all the same.
            return moment.stations.is_lost(who, kind, bytes, |_, _| false);
        }
        kind != PartKind::CtsToSelf && {
            let mut frame = self.reception.ends(channel, end, plan.format(kind), 1.0);
            moment.stations.is_lost(who, kind, bytes, |bytes, packet| frame.corrupts(bytes, packet))
        }
    }

    /// The exchange of `plan` begins at `now`, and reservations may stand. True if the receiver does not answer an RTS.
    #[cold]
    fn refuses(&mut self, plan: &Plan<'_>, now: Time) -> bool {
        self.navs.settle(now);
        let (from, to) = plan.stations();
        plan.part_of(PartKind::Rts).is_some_and(|rts| !self.navs.of(to).may_answer(now + rts.end(), from))
    }

    /// The exchange that began at `start` ends with `part`, which is `lost` or not answered. Returns how long stations
    /// keep silent, and why it failed.
    #[cold]
    fn cut_short(&mut self, plan: &Plan<'_>, part: &Part, start: Time, lost: bool) -> (Silence, Failure) {
        let silence = plan.silence(part);
        let (end, until) = (start + part.end(), start + plan.reserved());
        let check = (part.kind == PartKind::Rts).then_some(end + silence.others);
        let (from, to) = plan.stations();
        self.navs.reserve([from, to], (until, check), |nav| {
            // With its CTS the receiver keeps the medium for the data; they have come, or not.
            if plan.part_of(PartKind::Cts).is_some() && part.kind != PartKind::Rts {
                nav.reserve(start + plan.duration(), None, from);
            }
            if part.kind.delivers() {
                nav.release(end, from);
            }
        });
        match lost {
            true => (silence, Failure::Error),
            false => (Silence { receiver: None, ..silence }, Failure::Unheard),
        }
    }

    /// All of `self.starting` collide; the first starts at `first`. Nothing is received.
    fn collide(&mut self, moment: &mut Moment<'_, '_>, first: Time) {
        self.collisions += 1;
        if self.navs.stand {
            self.navs.settle(first);
        }
        let mut end = first;
        for &who in &self.starting {
            moment.started(who, false);
            let Some(s) = moment.stations.in_service(who) else { continue };
            let plan = moment.air.plan(&s.burst);
            let part = plan.first_asking();
            let start = self.late.start(who, first);
            let over = start + part.end();
            end = end.max(over);
            self.ledger.collided(s.burst.from, part.end());
            // A CTS-to-self before the data is the beginning of the transmission.
            let (mac, outcome) = (Some(moment.stations.mac(who)), FrameOutcome::Collided);
            OnAir { plan: &plan, part: &part, mac, start, end: over, outcome, origin: None }
                .record(moment.out.trace, &mut self.frames);
        }
        self.ledger.collision(end - first);
        self.activity = Activity::Rest(end);
        self.exchange = Exchange { start: first, end, fate: Fate::Collision };
    }

    /// The data frame on the air has been received.
    fn deliver(&mut self) -> Option<Contender> {
        self.activity = Activity::Rest(self.exchange.end);
        match self.exchange.fate {
            Fate::Success(who) | Fate::Lost(who, ..) => Some(who),
            Fate::Collision | Fate::Ended => None,
        }
    }

    /// The exchange is over: each station is told the outcome.
    fn finish(&mut self, moment: &mut Moment<'_, '_>) {
        self.activity = Activity::Idle;
        let now = moment.now;
        let start = self.exchange.start;
        match self.exchange.fate {
            Fate::Success(who) => {
                moment.report(who, now - start, true);
                self.succeed(moment, who);
            }
            Fate::Lost(who, missing, silence, failure) => {
                let wait = if failure == Failure::Error { Span::ZERO } else { silence.sender };
                moment.report(who, now - start + wait, false);
                let Some(Burst { from, to, .. }) = moment.stations.in_service(who).map(|s| s.burst) else { return };
                self.contention.turn_idle(now, silence.others, Span::ZERO);
                self.hold(moment, now, |station| station == from || station == to);
                if silence.receiver.is_some() || self.navs.is_apart(to) {
                    self.resume(moment, to, None, now + silence.receiver.unwrap_or_default());
                }
                self.fail(moment, who, missing, failure, now + silence.sender);
            }
            Fate::Ended => {
                self.navs.reset();
                self.contention.turn_idle(now, Span::ZERO, Span::ZERO);
            }
            Fate::Collision => {
                // The other stations have heard a frame that they could not decode.
                let eifs = moment.air.timing().eifs_more;
                self.contention.turn_idle(now, Span::ZERO, eifs);
                let mut collided = std::mem::take(&mut self.starting);
                if self.navs.stand {
                    let has_sent = |station| collided.iter().any(|&who| moment.stations.station_of(who) == station);
                    self.hold(moment, now + eifs, has_sent);
                }
                let attempt = |moment: &Moment<'_, '_>, who: Contender| {
                    let Some(s) = moment.stations.in_service(who) else { return Span::ZERO };
                    let plan = moment.air.plan(&s.burst);
                    let part = plan.first_asking();
                    part.end() + plan.silence(&part).sender
                };
                // All attempts are reported before a queue is asked for its next packet, which may depend on them.
                if moment.stations.report() {
                    for &who in &collided {
                        moment.report(who, attempt(moment, who), false);
                    }
                }
                for who in collided.drain(..) {
                    // A sender in a collision has decoded nothing. It waits for its answer or for the end of the
                    // longest frame, and then for DIFS; in ns-2 for EIFS after the end of the longest frame.
                    let over = self.late.start(who, start) + attempt(moment, who);
                    let quiet = if over < now { now + moment.air.timing().short_collider_more } else { over };
                    self.fail(moment, who, Answer::Cts, Failure::Collision, quiet);
                }
                self.starting = collided;
            }
        }
    }

    /// The burst of `who` has been acknowledged.
    fn succeed(&mut self, moment: &mut Moment<'_, '_>, who: Contender) {
        if let (Some(all), Some(s)) = (&mut self.successes, moment.stations.in_service(who))
            && s.burst.to != BROADCAST
        {
            all.push(Success::new(s.burst.from, s.burst.to));
        }
        let (now, won, air) = (moment.now, self.won, moment.air);
        let burst = moment.stations.in_service(who).map(|s| &s.burst);
        let snr = burst.and_then(|burst| self.reception.snr(air.channel_of(burst)));
        let reserving = burst.filter(|burst| !burst.reserves.is_zero()).copied();
        let follows = now + air.timing().sifs;
        let next = moment.answered(who, self.heard(moment, who), snr, follows - won);
        if let Some(burst) = &reserving {
            // Of a transmission opportunity, only stations to which all its frames were addressed have no NAV.
            let until = self.exchange.start + burst.reserves;
            self.navs.reserve([burst.from, burst.to], (until, None), |_| {});
        }
        if next == Next::GoOn {
            self.ledger.ifs(follows - now);
            self.exchange(moment, who, follows);
            return;
        }
        if reserving.is_some_and(|burst| self.end_early(moment, &burst)) {
            self.contention.back_off(who, next.slots(), next.has_burst());
            return;
        }
        self.contention.turn_idle(now, Span::ZERO, Span::ZERO);
        if self.navs.stand {
            self.hold(moment, now, |_| false);
            let resume = now + self.contention.ifs(who);
            self.contention.back_off_alone(who, resume, next.slots(), next.has_burst());
        } else {
            self.contention.back_off(who, next.slots(), next.has_burst());
        }
    }

    /// The exchange of `burst` was the last of its transmission opportunity, which reserves more. True if its sender
    /// sends a CF-End, for which there must be time (IEEE 802.11-2020 §10.23.2.10).
    fn end_early(&mut self, moment: &mut Moment<'_, '_>, burst: &Burst) -> bool {
        let (start, plan) = (self.exchange.start, moment.air.plan(burst));
        let part = plan.cf_end();
        if part.end() > burst.reserves {
            return false;
        }
        let (outcome, start, end) = (FrameOutcome::Received, start + part.start, start + part.end());
        self.ledger.ifs(start - moment.now);
        OnAir { plan: &plan, part: &part, mac: None, start, end, outcome, origin: None }
            .record(moment.out.trace, &mut self.frames);
        // It counts as sent to the receiver of the exchange, as a CTS-to-self does.
        self.ledger.frame(burst.from, burst.to, plan.account(&part), part.airtime, false);
        self.activity = Activity::Rest(end);
        self.exchange = Exchange { start, end, fate: Fate::Ended };
        true
    }

    /// The medium has just become idle, and reservations may stand: stations count slots after their NAV, and at the
    /// earliest after `quiet`. `others` are the stations that resume at a time of their own.
    #[cold]
    fn hold(&mut self, moment: &Moment<'_, '_>, quiet: Time, others: impl Fn(StationId) -> bool) {
        self.navs.forget(moment.now);
        self.contention.hold(self.navs.all().reserved_until());
        let mut i = 0;
        while let Some(station) = self.navs.apart(i) {
            if !others(station) {
                self.resume(moment, station, None, quiet);
            }
            i += 1;
        }
    }

    /// `who` did not get the answer `missing`. Its station counts slots again when an inter-frame space has passed
    /// after `quiet`.
    fn fail(&mut self, moment: &mut Moment<'_, '_>, who: Contender, missing: Answer, failure: Failure, quiet: Time) {
        let next = moment.not_answered(who, self.heard(moment, who), missing, failure);
        let resume = quiet + self.contention.ifs(who);
        self.contention.back_off_alone(who, resume, next.slots(), next.has_burst());
        // The other categories of the station have waited for the same answer.
        if moment.stations.have_several() {
            self.resume(moment, moment.stations.station_of(who), Some(who), quiet);
        }
    }

    /// All contenders of `station`, except `except`, count slots again when their inter-frame space has passed after
    /// `quiet` and after the NAV of the station. The medium has just become idle.
    fn resume(&mut self, moment: &Moment<'_, '_>, station: StationId, except: Option<Contender>, quiet: Time) {
        let reserved = self.navs.of(station).reserved_until();
        for who in moment.stations.contenders(station).filter(|&who| Some(who) != except) {
            self.contention.resume_alone(who, quiet.max(reserved) + self.contention.ifs(who), reserved);
        }
    }
}
