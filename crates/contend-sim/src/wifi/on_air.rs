//! One exchange of the cell: who sends, what comes of it, and what each station learns when.

use super::access::Draw;
use super::bridge::Exit;
use super::cell::{Cell, Phase};
use super::exchange::{Answer, Burst, PartKind, Silence};
use super::mac::Job;
use super::{AP, Contender, Frame, Outcome, Success};
use crate::loss::Loss;
use crate::trace::Event;
use crate::world::Out;
use contend_core::ap::Side;
use contend_core::qdisc::AirReport;
use contend_core::{Cx, Packet, Rng, Span, Time};

/// The exchange on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) start: Time,
    /// The one sender; several are in `Cell::senders`.
    pub(super) from: Contender,
    pub(super) fate: Fate,
    /// When the medium is physically idle again.
    pub(super) end: Time,
}

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Every part is received.
    Success,
    /// One part is not received, and is the last.
    Lost {
        /// What its sender waits for in vain.
        missing: Answer,
        /// What follows.
        silence: Silence,
    },
    /// Several start at once, and nobody receives anything.
    Collision,
}

impl Cell {
    /// What `who` has to send.
    fn burst(&self, who: Contender) -> Option<Burst> {
        let s = &self.stations[who as usize];
        let job = s.job.as_ref()?;
        let bytes = job.packet.size;
        Some(Burst { from: s.owner, to: job.to, bytes, protection: self.air.timing.protection_of(bytes) })
    }

    /// The one sender `who` starts its exchange at `now`.
    pub(super) fn exchange(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        let Some(burst) = self.burst(who) else { return };
        let s = &mut self.stations[who as usize];
        s.counters.attempts += 1;
        let Some(job) = s.job else { return };
        let plan = self.air.plan(&burst);
        let station = if burst.from == AP { burst.to } else { burst.from };
        let loss = &mut self.stations[station as usize].loss;
        let mut fate = Fate::Success;
        let mut end = now;
        for part in plan.parts() {
            let (from, to) = plan.ends(part);
            let start = now + part.start;
            self.ledger.ifs(start - end);
            end = start + part.airtime;
            let packet = (part.kind == PartKind::Data).then_some(job.packet);
            let lost = part.kind != PartKind::CtsToSelf && loses(loss, end, part.bytes, packet.as_ref());
            out.trace.frame(&Frame {
                start,
                end,
                from,
                to,
                kind: part.kind.frame(),
                outcome: if lost { Outcome::Errored } else { Outcome::Received },
                rate: part.rate,
                retry: job.attempt,
                sequence: job.sequence,
                duration: plan.nav(part),
                bytes: part.bytes,
                packet,
            });
            self.ledger.frame(from, plan.account(part), part.airtime, lost);
            if lost {
                let silence = plan.silence(part, &self.air.timing, self.air.table_of(&burst));
                fate = Fate::Lost { missing: part.kind.missing(), silence };
                break;
            }
            if part.kind == PartKind::Data {
                self.phase = Phase::Data(end);
            }
        }
        if !matches!(self.phase, Phase::Data(_)) {
            self.phase = Phase::Rest(end);
        }
        self.exchange = Exchange { start: now, from: who, fate, end };
    }

    /// All of `senders` start at `now`; nobody receives anything.
    pub(super) fn collide(&mut self, now: Time, out: &mut Out<'_>) {
        self.collisions += 1;
        let mut end = now;
        for i in 0..self.senders.len() {
            let who = self.senders[i];
            let Some(burst) = self.burst(who) else { continue };
            let plan = self.air.plan(&burst);
            let part = plan.first_asking();
            let s = &mut self.stations[who as usize];
            let Some(job) = s.job else { continue };
            s.counters.attempts += 1;
            s.counters.collided += 1;
            end = end.max(now + part.end());
            self.ledger.stations[burst.from as usize].collided += part.end();
            out.trace.frame(&Frame {
                start: now,
                end: now + part.end(),
                from: burst.from,
                to: burst.to,
                kind: part.kind.frame(),
                outcome: Outcome::Collided,
                rate: part.rate,
                retry: job.attempt,
                sequence: job.sequence,
                duration: plan.nav(part),
                bytes: part.bytes,
                packet: (part.kind == PartKind::Data).then_some(job.packet),
            });
        }
        self.ledger.collision(end - now);
        self.phase = Phase::Rest(end);
        self.exchange = Exchange { start: now, from: AP, fate: Fate::Collision, end };
    }

    /// The data frame on the air has been received at `now`.
    pub(super) fn deliver(&mut self, now: Time, out: &mut Out<'_>) {
        let from = self.exchange.from;
        self.phase = Phase::Rest(self.exchange.end);
        let s = &mut self.stations[from as usize];
        let Some(job) = &mut s.job else { return };
        // A repeated frame whose ACK was lost is answered again and recognised by its sequence number (§10.3.2.11).
        if std::mem::replace(&mut job.delivered, true) {
            return;
        }
        s.counters.delivered += 1;
        let (packet, to) = (job.packet, job.to);
        if to != AP {
            if let Some(Exit::Air { host, .. }) = self.air.exit(&packet) {
                out.send(host, &packet);
            }
        } else {
            self.enter(now, Side::Air, packet, out);
        }
    }

    /// The exchange is over at `now`: everybody learns what follows for him.
    pub(super) fn finish(&mut self, now: Time, out: &mut Out<'_>) {
        self.phase = Phase::Idle;
        let t = self.air.timing;
        let Exchange { start, from, fate, .. } = self.exchange;
        if fate == Fate::Collision {
            // Bystanders have heard a frame they could not decode.
            self.contention.turn_idle(now, t.eifs_more);
            let mut senders = std::mem::take(&mut self.senders);
            for &who in &senders {
                let (Some(burst), Some(job)) = (self.burst(who), self.stations[who as usize].job) else { continue };
                // A collider has decoded nothing: it waits for its answer, or for the end of the longest frame, then
                // DIFS.
                let plan = self.air.plan(&burst);
                let part = plan.first_asking();
                let airtime = part.end() + plan.silence(part, &t, self.air.table_of(&burst)).sender;
                let quiet = (start + airtime).max(now);
                self.report(now, who, &job, airtime, false);
                self.failed(now, who, false, Some(quiet), out);
                self.resume_others(who, quiet);
            }
            senders.clear();
            self.senders = senders;
            return;
        }
        let Some(job) = self.stations[from as usize].job else { return };
        self.report(now, from, &job, now - start, fate == Fate::Success);
        let Fate::Lost { missing, silence } = fate else {
            let s = &mut self.stations[from as usize];
            s.counters.acked += 1;
            let owner = s.owner;
            if let Some(all) = &mut self.successes {
                all.push(Success::new(owner, job.to));
            }
            let more = self.take_next(now, from, out);
            if more && self.goes_on(now, from) {
                self.ledger.ifs(t.sifs);
                self.exchange(now + t.sifs, from, out);
                return;
            }
            self.contention.turn_idle(now, Span::ZERO);
            let slots = self.draw(now, from, Draw::Success);
            self.contention.back_off(from, slots, more);
            return;
        };
        self.stations[from as usize].counters.errored += 1;
        self.contention.turn_idle(now + silence.others, Span::ZERO);
        if let Some(receiver) = silence.receiver {
            self.resume_station(job.to, None, now + receiver);
        }
        self.failed(now, from, missing == Answer::Ack, Some(now + silence.sender), out);
        self.resume_others(from, now + silence.sender);
    }

    /// Whether `who`, whose frame was acknowledged at `now`, may send its next one a SIFS later.
    fn goes_on(&self, now: Time, who: Contender) -> bool {
        let s = &self.stations[who as usize];
        if s.txop.is_zero() {
            return false;
        }
        let Some(burst) = self.burst(who) else { return false };
        // IEEE 802.11-2016 §10.22.2.8: the exchange, acknowledgment included, must end within the limit.
        now + self.air.timing.sifs + self.air.plan(&burst).duration() <= self.won + s.txop
    }

    /// Tells those at the access point who want to hear of it that an attempt of `who` has ended.
    fn report(&mut self, now: Time, who: Contender, job: &Job, airtime: Span, success: bool) {
        if !self.stations[AP as usize].hears_air && !self.control.hears_air() {
            return;
        }
        let from = self.stations[who as usize].owner;
        // With categories it is the affair of the queue that serves the frame's.
        let lane =
            self.stations[AP as usize].categories.map_or(AP, |lanes| lanes[self.air.category(&job.packet) as usize]);
        let ap = &mut self.stations[lane as usize];
        let (station, up) = if from == AP { (job.to, false) } else { (from, true) };
        let report =
            AirReport { now, station, up, airtime, success, bytes: job.packet.size, waiting: ap.meter.waiting() };
        if ap.hears_air {
            ap.queue.on_air(&report);
        }
        self.control.on_air(&report);
    }

    /// The attempt of `who` has failed; it counts slots once its inter-frame space has passed after `quiet`, and
    /// without one with all others: then the attempt was none on the air. `data`: it was the data frame that went
    /// without answer, after its RTS (if any) had been answered.
    pub(super) fn failed(&mut self, now: Time, who: Contender, data: bool, quiet: Option<Time>, out: &mut Out<'_>) {
        let t = self.air.timing;
        let Some(job) = &mut self.stations[who as usize].job else { return };
        // §10.3.4.4: the long count is that of frames longer than the threshold, once their RTS was answered.
        if data && job.packet.size + t.overhead > t.rts_threshold {
            job.long += 1;
        } else {
            job.short += 1;
        }
        job.attempt = job.attempt.saturating_add(u8::from(quiet.is_some()));
        let gives_up = job.short >= t.retry_short || job.long >= t.retry_long;
        if !gives_up {
            let slots = self.draw(now, who, Draw::Failure);
            self.back_off(who, quiet, slots, true);
            return;
        }
        let (packet, delivered) = (job.packet, job.delivered);
        let counters = &mut self.stations[who as usize].counters;
        counters.retry_drops += 1;
        if delivered {
            counters.dropped_after_delivery += 1;
        } else {
            out.trace.packet(now, Event::Lost, &packet);
        }
        let slots = self.draw(now, who, Draw::Dropped);
        let more = self.take_next(now, who, out);
        self.back_off(who, quiet, slots, more);
    }

    /// `who` gets a new backoff, which it counts once its inter-frame space has passed after `quiet`, or with all
    /// others.
    fn back_off(&mut self, who: Contender, quiet: Option<Time>, slots: u64, waits: bool) {
        match quiet {
            Some(quiet) => self.contention.back_off_alone(who, quiet + self.contention.ifs(who), slots, waits),
            None => self.contention.back_off(who, slots, waits),
        }
    }

    /// What else the station of `who` has to send waits for the same answer in vain.
    fn resume_others(&mut self, who: Contender, quiet: Time) {
        let owner = self.stations[who as usize].owner;
        if self.stations[owner as usize].categories.is_some() {
            self.resume_station(owner, Some(who), quiet);
        }
    }
}

/// Whether the channel of a station with the loss process `loss`, if any, loses a frame of `bytes` that ends at `now`.
fn loses(loss: &mut Option<(Box<dyn Loss>, Rng)>, now: Time, bytes: u32, packet: Option<&Packet>) -> bool {
    match loss {
        Some((loss, rng)) => loss.lost(&mut Cx { now, rng }, bytes, packet),
        None => false,
    }
}
