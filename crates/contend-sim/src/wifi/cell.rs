//! The medium of a cell in which all hear all.
//!
//! Contention is computed ([`Contention`]), so a frame exchange costs three wake-ups whatever the number of stations:
//! its start, the delivery at the end of the data frame, the end of the exchange. What a transmission leads to is known
//! when it starts (who collides, what the channel spoils, which answers follow), and told to each station at the
//! instant at which it would learn of it.
//!
//! Propagation takes no time. Two transmissions that start in the same nanosecond collide; a later start senses the
//! earlier one. A spoilt frame is spoilt at its addressee only; bystanders decode it and honour its Duration field.

use super::access::{BusySlot, Draw};
use super::contention::{Arrival, BackoffRules, Contention};
use super::counters::{Rivals, Waits};
use super::exchange::{Answer, Burst, PartKind, Silence};
use super::frame_log::{FrameLog, OnAir};
use super::ledger::Ledger;
use super::mac::{Failure, Next};
use super::spec::IdleAccess;
use super::stations::Senders;
use super::{AP, Contender, FrameOutcome, StationId, Success};
use crate::loss::Loss;
use contend_core::{Cx, Rng, Span, Time};

/// What the channel of a station loses, and its random stream.
pub(super) type StationLoss = Option<(Box<dyn Loss>, Rng)>;

/// A medium that all hear.
#[derive(Debug)]
pub(super) struct Cell {
    contention: Contention,
    ledger: Ledger,
    /// What the channel between each station and the access point loses.
    losses: Vec<StationLoss>,
    idle_access: IdleAccess,
    activity: Activity,
    exchange: Exchange,
    /// When the one sender of the exchange on the air won the medium.
    won: Time,
    /// Those that sent at once.
    senders: Vec<Contender>,
    /// Those who draw again because somebody else was first, and the slots they counted.
    again: Vec<(Contender, u32)>,
    collisions: u64,
    rivals: Rivals,
    waits: Waits,
    /// Who succeeded, when somebody wants to know.
    successes: Option<Vec<Success>>,
    /// The frames on the air, when somebody wants to know.
    frames: Option<FrameLog>,
}

/// What is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// Nothing.
    Idle,
    /// A data frame whose last symbol is heard, and delivered, at this instant.
    Data(Time),
    /// Whatever goes on until this instant.
    Rest(Time),
}

/// The exchange on the air.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    start: Time,
    /// When the medium is physically idle again.
    end: Time,
    fate: Fate,
}

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Every part of the exchange of this one sender is received.
    Success(Contender),
    /// One part of the exchange of this one sender is not received, and is the last.
    Lost(Contender, Answer, Silence),
    /// Several start at once, and nobody receives anything.
    Collision,
}

impl Cell {
    /// An idle medium for contenders with these rules and stations with these losses.
    pub(super) fn new(
        rules: &[BackoffRules],
        slot: Span,
        losses: Vec<StationLoss>,
        options: (BusySlot, IdleAccess),
    ) -> Cell {
        Cell {
            contention: Contention::new(rules, slot, options.0),
            ledger: Ledger::new(losses.len()),
            senders: Vec::with_capacity(losses.len()),
            losses,
            idle_access: options.1,
            activity: Activity::Idle,
            exchange: Exchange { start: Time::ZERO, end: Time::ZERO, fate: Fate::Collision },
            won: Time::ZERO,
            again: Vec::new(),
            collisions: 0,
            rivals: Rivals::default(),
            waits: Waits::default(),
            successes: None,
            frames: None,
        }
    }

    /// Times at which two or more stations sent at once.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// With whom the access point contends.
    pub(super) fn rivals(&self) -> Rivals {
        self.rivals
    }

    /// How many slots were idle before transmissions.
    pub(super) fn waits(&self) -> Waits {
        self.waits
    }

    /// From now on keeps who succeeds: four bytes an exchange.
    pub(super) fn keep_successes(&mut self) {
        self.successes.get_or_insert_default();
    }

    /// Every exchange that ended with an ACK, in the order of their ends; empty unless they are kept.
    pub(super) fn successes(&self) -> &[Success] {
        self.successes.as_deref().unwrap_or_default()
    }

    /// From now on keeps frames in `log`.
    pub(super) fn keep_frames(&mut self, log: FrameLog) {
        self.frames = Some(log);
    }

    /// The frames kept; `None` unless they are kept.
    pub(super) fn frames(&self) -> Option<&FrameLog> {
        self.frames.as_ref()
    }

    /// The books as of `now`. An exchange that is on the air is booked up to its last completed part.
    pub(super) fn ledger(&self, now: Time) -> Ledger {
        let mut books = self.ledger.clone();
        if self.activity == Activity::Idle {
            books.quiet(now, self.contention.resume(), self.contention.waiting() > 0);
        }
        books
    }

    /// When something happens on the medium next.
    #[inline]
    pub(super) fn next_deadline(&mut self) -> Time {
        match self.activity {
            Activity::Idle => self.contention.next_start(),
            Activity::Data(at) | Activity::Rest(at) => at,
        }
    }

    /// Does what is due on the medium. Returns the contender whose burst has just been received, if any.
    #[inline]
    pub(super) fn wake(&mut self, senders: &mut Senders<'_, '_>) -> Option<Contender> {
        match self.activity {
            Activity::Data(at) if at <= senders.now => return self.deliver(),
            Activity::Rest(at) if at <= senders.now => self.finish(senders),
            Activity::Idle if self.contention.next_start() <= senders.now => {
                self.senders.clear();
                self.transmit(senders);
            }
            _ => {}
        }
        None
    }

    /// `who`, which had nothing to send, now has a burst.
    pub(super) fn contend(&mut self, senders: &mut Senders<'_, '_>, who: Contender) {
        let now = senders.now;
        let busy = self.activity != Activity::Idle;
        if !busy && self.contention.waiting() == 0 {
            self.ledger.quiet(now, self.contention.resume(), false);
        }
        // IEEE 802.11-2016 §10.3.4.2: a medium idle for DIFS is used at once; otherwise a backoff is drawn, unless one
        // is pending. ns-2 waits DIFS and a backoff from the arrival on whenever no backoff is running.
        if self.idle_access == IdleAccess::Draw && !busy && !self.contention.counts_down(who, now) {
            let slots = senders.backoff(who, Draw::Arrival, &self.contention);
            self.contention.back_off_alone(who, now + self.contention.ifs(who), slots, true);
            return;
        }
        match self.contention.arrive(who, now, busy) {
            Arrival::Waits => {}
            Arrival::Busy => {
                let slots = senders.backoff(who, Draw::Arrival, &self.contention);
                self.contention.back_off(who, slots, true);
            }
            Arrival::Free => {
                self.senders.clear();
                self.contention.send_at_once(who, &mut self.senders);
                self.transmit(senders);
            }
        }
    }

    // ---- an exchange ----

    /// Somebody starts now: works out who, and what comes of it. `self.senders` holds those that send without backoff.
    fn transmit(&mut self, senders: &mut Senders<'_, '_>) {
        let now = senders.now;
        self.ledger.quiet(now, self.contention.resume(), self.contention.waiting() > 0);
        // Those that send at once no longer wait.
        let contenders = u64::from(self.contention.waiting()) + self.senders.len() as u64;
        let mut again = std::mem::take(&mut self.again);
        self.contention.turn_busy(now, &mut self.senders, &mut again);
        for (who, slots) in again.drain(..) {
            let slots = senders.backoff(who, Draw::Cycle(slots), &self.contention);
            self.contention.back_off(who, slots, true);
        }
        self.again = again;
        let own = senders.stations.in_service_at(AP);
        if own > 0 && !self.senders.is_empty() {
            self.rivals.starts += 1;
            self.rivals.stations += contenders - own;
        }
        if self.senders.len() > 1 && senders.stations.have_categories() {
            self.collide_inside(senders);
        }
        let several = usize::from(self.senders.len() > 1);
        let channel = self.contention.channel();
        self.waits.starts[several] += 1;
        self.waits.slots[several] += u64::from(channel.idle(channel.busy() - 1));
        match self.senders[..] {
            // Nobody after all: the deadline was a lower bound.
            [] => {}
            [from] => {
                self.won = now;
                self.exchange(senders, from, now);
            }
            _ => self.collide(senders),
        }
    }

    /// Of those senders that belong to one station only the highest stays; for the others it is a failed attempt that
    /// used no air.
    fn collide_inside(&mut self, senders: &mut Senders<'_, '_>) {
        // IEEE 802.11-2016 §10.22.2.4: the category that is not the highest of those granted behaves as after an
        // external collision.
        let contention = &self.contention;
        let goes_first = |&who: &Contender| !senders.stations.above(who).any(|higher| contention.sends(higher));
        let (sent, lost): (Vec<Contender>, Vec<Contender>) = self.senders.iter().partition(|who| goes_first(who));
        self.senders.clear();
        self.senders.extend(sent);
        for who in lost {
            let next = senders.not_answered(who, &self.contention, Answer::Cts, Failure::Internal);
            self.contention.back_off(who, next.slots(), next.has_burst());
        }
    }

    /// The one sender `who` starts its exchange at `now`.
    fn exchange(&mut self, senders: &mut Senders<'_, '_>, who: Contender, now: Time) {
        senders.started(who, true);
        let Some(s) = senders.stations.in_service(who) else { return };
        let plan = senders.air.plan(&s.burst);
        let Burst { from, to, .. } = s.burst;
        let loss = &mut self.losses[if from == AP { to } else { from } as usize];
        let (mut fate, mut end, mut delivery) = (Fate::Success(who), now, None);
        for part in plan.parts() {
            let start = now + part.start;
            self.ledger.ifs(start - end);
            end = start + part.airtime;
            let is_data = part.kind == PartKind::Data;
            let lost = match loss {
                Some((loss, rng)) if part.kind != PartKind::CtsToSelf => {
                    let packet = is_data.then_some(&s.packet);
                    loss.lost(&mut Cx { now: end, rng }, plan.bytes(part.kind), packet)
                }
                _ => false,
            };
            let outcome = if lost { FrameOutcome::Errored } else { FrameOutcome::Received };
            let on_air = OnAir { plan: &plan, part: &part, service: s, start, end, outcome };
            on_air.record(senders.out.trace, &mut self.frames);
            self.ledger.frame(plan.ends(&part).0, plan.account(&part), part.airtime, lost);
            if lost {
                fate = Fate::Lost(who, part.kind.missing(), plan.silence(&part));
                break;
            }
            if is_data {
                delivery = Some(end);
            }
        }
        self.activity = delivery.map_or(Activity::Rest(end), Activity::Data);
        self.exchange = Exchange { start: now, end, fate };
    }

    /// All of `self.senders` start now; nobody receives anything.
    fn collide(&mut self, senders: &mut Senders<'_, '_>) {
        self.collisions += 1;
        let now = senders.now;
        let mut end = now;
        for &who in &self.senders {
            senders.started(who, false);
            let Some(s) = senders.stations.in_service(who) else { continue };
            let plan = senders.air.plan(&s.burst);
            let part = plan.first_asking();
            let over = now + part.end();
            end = end.max(over);
            self.ledger.collided(s.burst.from, part.end());
            // A CTS to oneself before the data counts as its beginning.
            let outcome = FrameOutcome::Collided;
            let on_air = OnAir { plan: &plan, part: &part, service: s, start: now, end: over, outcome };
            on_air.record(senders.out.trace, &mut self.frames);
        }
        self.ledger.collision(end - now);
        self.activity = Activity::Rest(end);
        self.exchange = Exchange { start: now, end, fate: Fate::Collision };
    }

    /// The data frame on the air has been received.
    fn deliver(&mut self) -> Option<Contender> {
        self.activity = Activity::Rest(self.exchange.end);
        match self.exchange.fate {
            Fate::Success(who) | Fate::Lost(who, ..) => Some(who),
            Fate::Collision => None,
        }
    }

    /// The exchange is over: everybody learns what follows for him.
    fn finish(&mut self, senders: &mut Senders<'_, '_>) {
        self.activity = Activity::Idle;
        let now = senders.now;
        let start = self.exchange.start;
        match self.exchange.fate {
            Fate::Success(who) => {
                senders.report(who, now - start, true);
                self.succeed(senders, who);
            }
            Fate::Lost(who, missing, silence) => {
                senders.report(who, now - start, false);
                let to = senders.stations.in_service(who).map(|s| s.burst.to);
                self.contention.turn_idle(now + silence.others, Span::ZERO);
                if let (Some(to), Some(quiet)) = (to, silence.receiver) {
                    self.resume(senders, to, None, now + quiet);
                }
                self.fail(senders, who, missing, Failure::Error, now + silence.sender);
            }
            Fate::Collision => {
                // Bystanders have heard a frame they could not decode.
                self.contention.turn_idle(now, senders.air.timing().eifs_more);
                let mut collided = std::mem::take(&mut self.senders);
                for who in collided.drain(..) {
                    let Some(s) = senders.stations.in_service(who) else { continue };
                    // A collider has decoded nothing: it waits for its answer, or for the end of the longest frame,
                    // then DIFS; in ns-2 EIFS after the end of the longest frame.
                    let plan = senders.air.plan(&s.burst);
                    let part = plan.first_asking();
                    let airtime = part.end() + plan.silence(&part).sender;
                    senders.report(who, airtime, false);
                    let over = start + airtime;
                    let quiet = if over < now { now + senders.air.timing().short_collider_more } else { over };
                    self.fail(senders, who, Answer::Cts, Failure::Collision, quiet);
                }
                self.senders = collided;
            }
        }
    }

    /// The burst of `who` has been acknowledged.
    fn succeed(&mut self, senders: &mut Senders<'_, '_>, who: Contender) {
        if let (Some(all), Some(s)) = (&mut self.successes, senders.stations.in_service(who)) {
            all.push(Success::new(s.burst.from, s.burst.to));
        }
        let (now, won, air) = (senders.now, self.won, senders.air);
        let follows = now + air.timing().sifs;
        let next = senders.answered(who, &self.contention, |burst| follows + air.plan(burst).duration() - won);
        if next == Next::GoOn {
            self.ledger.ifs(follows - now);
            self.exchange(senders, who, follows);
            return;
        }
        self.contention.turn_idle(now, Span::ZERO);
        self.contention.back_off(who, next.slots(), next.has_burst());
    }

    /// `missing` did not come; the station of `who` counts slots once an inter-frame space has passed after `quiet`.
    fn fail(&mut self, senders: &mut Senders<'_, '_>, who: Contender, missing: Answer, failure: Failure, quiet: Time) {
        let next = senders.not_answered(who, &self.contention, missing, failure);
        let resume = quiet + self.contention.ifs(who);
        self.contention.back_off_alone(who, resume, next.slots(), next.has_burst());
        // What else the station has to send waits for the same answer in vain.
        if senders.stations.have_categories() {
            self.resume(senders, senders.stations.station_of(who), Some(who), quiet);
        }
    }

    /// All contenders of `station` but `except` resume when their inter-frame space has passed after `quiet`, whatever
    /// others do. The medium has just turned idle.
    fn resume(&mut self, senders: &Senders<'_, '_>, station: StationId, except: Option<Contender>, quiet: Time) {
        for who in senders.stations.contenders(station).filter(|&who| Some(who) != except) {
            self.contention.resume_alone(who, quiet + self.contention.ifs(who));
        }
    }
}
