//! One exchange of the cell: who sends, what comes of it, and what each station learns when.

use super::access::Draw;
use super::cell::{Cell, Phase};
use super::mac::Job;
use super::phy::{ACK_BYTES, CTS_BYTES, Protection, RTS_BYTES};
use super::timing::RateTable;
use super::{AP, Contender, Frame, FrameKind, Outcome, Success};
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
    Collision,
    /// The addressee did not get the RTS.
    RtsLost,
    /// The sender did not get the CTS.
    CtsLost,
    /// The addressee did not get the data.
    DataLost,
    /// The sender did not get the ACK.
    AckLost,
    Success,
}

impl Cell {
    /// The one sender `who` starts its exchange at `now`.
    pub(super) fn exchange(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        let t = self.air.timing;
        let s = &mut self.stations[who as usize];
        s.counters.attempts += 1;
        let from = s.owner;
        let Some(job) = s.job else { return };
        let station = if from == AP { job.to } else { from };
        let table = self.air.table(station);
        let size = job.packet.size as usize;
        let (data, payload) = (table.data[size], table.payload[size]);
        let (rts, cts, ack, sifs) = (table.rts, table.cts, table.ack, t.sifs);
        let handshake = t.uses_rts(job.packet.size);
        let mut at = now;
        let mut fate = Fate::Success;
        let answer = sifs + ack;
        let mut frame = Frame {
            start: now,
            end: now,
            from,
            to: job.to,
            kind: FrameKind::Data,
            outcome: Outcome::Received,
            rate: table.rate.bps,
            retry: job.attempt,
            sequence: job.sequence,
            duration: Span::ZERO,
            bytes: job.packet.size + t.overhead,
            packet: None,
        };
        let control = Frame { rate: table.control.bps, ..frame };
        let mut spoilt = Spoiler { loss: self.stations[station as usize].loss.as_mut() };
        let ledger = &mut self.ledger;
        let outcome = |lost| if lost { Outcome::Errored } else { Outcome::Received };
        if handshake {
            let lost = spoilt.asks(at + rts, RTS_BYTES, None);
            let rest = sifs + cts + sifs + data.total + answer;
            out.trace.frame(&Frame {
                kind: FrameKind::Rts,
                start: at,
                end: at + rts,
                bytes: RTS_BYTES,
                duration: rest,
                outcome: outcome(lost),
                ..control
            });
            ledger.rts_cts(from, rts);
            at += rts;
            if lost {
                fate = Fate::RtsLost;
            } else {
                let lost = spoilt.asks(at + sifs + cts, CTS_BYTES, None);
                let start = at + sifs;
                out.trace.frame(&Frame {
                    kind: FrameKind::Cts,
                    start,
                    end: start + cts,
                    from: job.to,
                    to: from,
                    bytes: CTS_BYTES,
                    duration: rest - sifs - cts,
                    outcome: outcome(lost),
                    ..control
                });
                ledger.ifs(sifs);
                ledger.rts_cts(job.to, cts);
                at = start + cts;
                if lost {
                    fate = Fate::CtsLost;
                } else {
                    ledger.ifs(sifs);
                    at += sifs;
                }
            }
        } else if t.protection == Protection::CtsToSelf {
            out.trace.frame(&Frame {
                kind: FrameKind::Cts,
                start: at,
                end: at + cts,
                to: from,
                bytes: CTS_BYTES,
                duration: sifs + data.total + answer,
                ..control
            });
            ledger.rts_cts(from, cts);
            ledger.ifs(sifs);
            at += cts + sifs;
        }
        if fate == Fate::Success {
            let lost = spoilt.asks(at + data.total, frame.bytes, Some(&job.packet));
            (frame.start, frame.end, frame.duration, frame.outcome, frame.packet) =
                (at, at + data.total, answer, outcome(lost), Some(job.packet));
            out.trace.frame(&frame);
            at += data.total;
            if lost {
                ledger.errored(from, data.total);
                fate = Fate::DataLost;
            } else {
                self.phase = Phase::Data(at);
                ledger.data(from, data.preamble, data.total - data.preamble - payload, payload);
                let start = at + sifs;
                let lost = spoilt.asks(start + ack, ACK_BYTES, None);
                out.trace.frame(&Frame {
                    kind: FrameKind::Ack,
                    start,
                    end: start + ack,
                    from: job.to,
                    to: from,
                    rate: table.answer.bps,
                    bytes: ACK_BYTES,
                    outcome: outcome(lost),
                    duration: Span::ZERO,
                    packet: None,
                    ..frame
                });
                ledger.ifs(sifs);
                ledger.ack(job.to, ack);
                at = start + ack;
                if lost {
                    fate = Fate::AckLost;
                }
            }
        }
        if !matches!(fate, Fate::Success | Fate::AckLost) {
            self.phase = Phase::Rest(at);
        }
        self.exchange = Exchange { start: now, from: who, fate, end: at };
    }

    /// All of `senders` start at `now`; nobody receives anything.
    pub(super) fn collide(&mut self, now: Time, out: &mut Out<'_>) {
        self.collisions += 1;
        let mut end = now;
        for i in 0..self.senders.len() {
            let who = self.senders[i];
            let span = self.collided_airtime(who);
            let s = &mut self.stations[who as usize];
            let from = s.owner;
            s.counters.attempts += 1;
            s.counters.collided += 1;
            end = end.max(now + span);
            self.ledger.stations[from as usize].collided += span;
            let Some(job) = self.stations[who as usize].job else { continue };
            let rts = self.air.timing.uses_rts(job.packet.size);
            let table = self.table(who, &job);
            out.trace.frame(&Frame {
                start: now,
                end: now + span,
                from,
                to: job.to,
                kind: if rts { FrameKind::Rts } else { FrameKind::Data },
                outcome: Outcome::Collided,
                rate: if rts { table.control.bps } else { table.rate.bps },
                retry: job.attempt,
                sequence: job.sequence,
                duration: self.air.timing.sifs + table.ack,
                bytes: if rts { RTS_BYTES } else { job.packet.size + self.air.timing.overhead },
                packet: if rts { None } else { Some(job.packet) },
            });
        }
        self.ledger.collision(end - now);
        self.phase = Phase::Rest(end);
        self.exchange = Exchange { start: now, from: AP, fate: Fate::Collision, end };
    }

    fn table(&self, who: Contender, job: &Job) -> &RateTable {
        let from = self.stations[who as usize].owner;
        let station = if from == AP { job.to } else { from };
        self.air.table(station)
    }

    /// How long `who` is on the air when it collides: it learns of the collision only by the missing answer.
    fn collided_airtime(&self, who: Contender) -> Span {
        let Some(job) = &self.stations[who as usize].job else { return Span::ZERO };
        let table = self.table(who, job);
        let data = table.data[job.packet.size as usize].total;
        if self.air.timing.uses_rts(job.packet.size) {
            table.rts
        } else if self.air.timing.protection == Protection::CtsToSelf {
            table.cts + self.air.timing.sifs + data
        } else {
            data
        }
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
            out.send(self.stations[to as usize].host.down, &packet);
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
                let Some(job) = self.stations[who as usize].job else { continue };
                let table = self.table(who, &job);
                let timeout = if t.uses_rts(job.packet.size) { table.cts_timeout } else { table.ack_timeout };
                // A collider has decoded nothing: it waits for its answer, or for the end of the longest frame, then
                // DIFS.
                let airtime = self.collided_airtime(who) + timeout;
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
        let table = self.table(from, &job);
        let (ack, cts, ack_timeout, cts_timeout) = (table.ack, table.cts, table.ack_timeout, table.cts_timeout);
        let data = table.data[job.packet.size as usize].total;
        self.report(now, from, &job, now - start, fate == Fate::Success);
        if fate == Fate::Success {
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
        }
        self.stations[from as usize].counters.errored += 1;
        let could_not_decode = now + t.eifs_more;
        match fate {
            Fate::DataLost => {
                // Bystanders honour the Duration field of the data frame.
                self.contention.turn_idle(now + t.sifs + ack, Span::ZERO);
                self.resume_station(job.to, None, could_not_decode);
                self.failed(now, from, true, Some(now + ack_timeout), out);
                self.resume_others(from, now + ack_timeout);
            }
            Fate::RtsLost => {
                // §10.3.2.4: a bystander whose NAV comes from an RTS resets it when nothing follows for 2 SIFS + CTS +
                // aRxPHYStartDelay + 2 slots; the CTS timeout is SIFS + slot + aRxPHYStartDelay.
                self.contention.turn_idle(now + cts_timeout + t.sifs + cts + t.slot, Span::ZERO);
                self.resume_station(job.to, None, could_not_decode);
                self.failed(now, from, false, Some(now + cts_timeout), out);
                self.resume_others(from, now + cts_timeout);
            }
            Fate::CtsLost => {
                // Bystanders honour the Duration field of the CTS; the addressee waits for data in vain.
                self.contention.turn_idle(now + t.sifs + data + t.sifs + ack, Span::ZERO);
                self.failed(now, from, false, Some(could_not_decode), out);
                self.resume_others(from, could_not_decode);
            }
            Fate::AckLost => {
                self.contention.turn_idle(now, Span::ZERO);
                self.failed(now, from, true, Some(could_not_decode), out);
                self.resume_others(from, could_not_decode);
            }
            Fate::Collision | Fate::Success => {}
        }
    }

    /// Whether `who`, whose frame was acknowledged at `now`, may send its next one a SIFS later.
    fn goes_on(&self, now: Time, who: Contender) -> bool {
        let s = &self.stations[who as usize];
        let Some(job) = s.job.filter(|_| !s.txop.is_zero()) else { return false };
        // IEEE 802.11-2016 §10.22.2.8: the exchange, acknowledgment included, must end within the limit.
        let station = if s.owner == AP { job.to } else { s.owner };
        let next = self.air.exchange(station, job.packet.size) - self.air.difs;
        now + self.air.timing.sifs + next <= self.won + s.txop
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

/// Asks the loss process of the station at the other end of the access point, if it has one.
struct Spoiler<'a> {
    loss: Option<&'a mut (Box<dyn Loss>, Rng)>,
}

impl Spoiler<'_> {
    fn asks(&mut self, now: Time, bytes: u32, packet: Option<&Packet>) -> bool {
        match &mut self.loss {
            Some((loss, rng)) => loss.lost(&mut Cx { now, rng }, bytes, packet),
            None => false,
        }
    }
}
