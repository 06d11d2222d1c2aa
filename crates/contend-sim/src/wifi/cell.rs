//! A cell in which all hear all: one access point, any number of stations, one node of the world.
//!
//! Contention is computed ([`Contention`]), so a frame exchange costs three wake-ups whatever the number of stations: its start, the
//! delivery at the end of the data frame, the end of the exchange. What a transmission leads to is known when it starts (who collides, what
//! the channel spoils, which answers follow), and told to each station at the instant at which it would learn of it.
//!
//! Propagation takes no time. Two transmissions that start in the same nanosecond collide; a later start senses the earlier one.
//! A spoilt frame is spoilt at its addressee only; bystanders decode it and honour its Duration field.

use super::access::{Access, Bounds, Draw};
use super::contention::{Arrival, Contention};
use super::ledger::Ledger;
use super::phy::{ACK_BYTES, Airtime, CTS_BYTES, Phy, Protection, RTS_BYTES, Rate};
use super::{AP, Frame, FrameKind, Outcome, StationId};
use crate::loss::Loss;
use crate::rng;
use crate::scenario::{AfterCollision, CellSpec, IdleAccess, StationSpec};
use crate::stats::QueueMeter;
use crate::trace::Event;
use crate::world::{Input, Node, Out, Peer};
use contend_core::qdisc::{Qdisc, Sink};
use contend_core::{Cx, FlowId, Packet, Rng, Span, Time};

/// Largest IP packet a data frame carries, in bytes (aMSDUMaxLength 2304 less LLC/SNAP).
pub const MAX_PACKET: u32 = 2296;

/// Where a packet goes that the access point has to pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Over the air to a station.
    Air(StationId),
    /// Onto a wire.
    Wire(Peer),
}

/// What the access point does with each flow's packets, by direction (data, acknowledgments); `None` for flows that do not pass here.
pub type Bridge = Vec<[Option<Exit>; 2]>;

/// What a transmitter did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Exchanges tried.
    pub attempts: u64,
    /// Of them, ended by an ACK.
    pub acked: u64,
    /// Of them, begun together with another station's.
    pub collided: u64,
    /// Of them, spoilt by the channel (data, RTS, or the answer).
    pub errored: u64,
    /// Packets given up after the last retry.
    pub retry_drops: u64,
    /// Of them, packets that had reached their receiver all the same: only the ACK was lost.
    pub dropped_after_delivery: u64,
    /// Packets handed on by their receiver.
    pub delivered: u64,
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    contention: Contention,
    ledger: Ledger,
    stations: Vec<Station>,
    bridge: Bridge,
    timing: Timing,
    rates: Vec<RateTable>,
    /// What is on the air.
    phase: Phase,
    exchange: Exchange,
    senders: Vec<StationId>,
    sink: Sink,
    collisions: u64,
}

#[derive(Debug)]
struct Station {
    queue: Box<dyn Qdisc>,
    meter: QueueMeter,
    access: Box<dyn Access>,
    backoff: Rng,
    queue_rng: Rng,
    loss: Option<(Box<dyn Loss>, Rng)>,
    /// Index into `rates` of frames it sends, and of frames the access point sends to it.
    rate: usize,
    /// Where packets that it receives go; the access point's go by the bridge.
    host: Peer,
    /// The frame in service.
    job: Option<Job>,
    sequence: u16,
    counters: StationCounters,
}

/// A packet that the MAC is serving.
#[derive(Clone, Copy, Debug)]
struct Job {
    packet: Packet,
    to: StationId,
    sequence: u16,
    attempt: u8,
    /// Failures counted against the short limit, and against the long one.
    short: u32,
    long: u32,
    /// Whether its receiver has it, though the sender may not know.
    delivered: bool,
}

/// Durations of the cell's own, worked out once.
#[derive(Clone, Copy, Debug)]
struct Timing {
    slot: Span,
    sifs: Span,
    difs: Span,
    /// How much longer than DIFS a station waits after a frame it could not decode.
    eifs_more: Span,
    idle_access: IdleAccess,
    retry_short: u32,
    retry_long: u32,
    rts_threshold: u32,
    overhead: u32,
    protection: Protection,
    protection_rate: Rate,
    cw: Bounds,
}

/// One rate in use, with every duration that depends on it.
#[derive(Debug)]
struct RateTable {
    rate: Rate,
    /// Data frame by size of the IP packet in bytes.
    data: Vec<Airtime>,
    /// Its payload alone, by size of the IP packet in bytes.
    payload: Vec<Span>,
    answer: Rate,
    ack: Span,
    ack_timeout: Span,
    /// Protection that goes before OFDM frames: RTS and CTS airtime at the rate they are sent at.
    control: Rate,
    rts: Span,
    cts: Span,
    cts_timeout: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
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
    /// The one sender; several are in `Cell::senders`.
    from: StationId,
    fate: Fate,
    /// When the medium is physically idle again.
    end: Time,
}

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
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
    /// The cell of `spec`. `hosts` says where packets for each station go (in the order of `spec.stations`); `flow` turns a flow's name into its number.
    ///
    /// # Errors
    /// When an algorithm refuses its parameters, or the PHY does not have a rate: the text names the station.
    pub fn new(seed: u64, spec: &CellSpec, hosts: &[Peer], bridge: Bridge, flow: &dyn Fn(&str) -> Option<FlowId>) -> Result<Cell, String> {
        let phy = &spec.phy;
        let cw = Bounds { cw_min: phy.cw_min, cw_max: phy.cw_max };
        let protection_rate = match phy.protection {
            Protection::None => phy.lowest_basic(),
            _ => phy.rate(phy.protection_rate).ok_or_else(|| format!("protection_rate: the standard has no rate of {} bit/s", phy.protection_rate))?,
        };
        let timing = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            difs: phy.difs(),
            eifs_more: match spec.mac.after_collision {
                AfterCollision::Eifs => phy.eifs().saturating_sub(phy.difs()),
                AfterCollision::Difs => Span::ZERO,
            },
            idle_access: spec.mac.idle_access,
            retry_short: spec.mac.retry_short.max(1),
            retry_long: spec.mac.retry_long.max(1),
            rts_threshold: spec.mac.rts_threshold,
            overhead: phy.mpdu(0),
            protection: phy.protection,
            protection_rate,
            cw,
        };
        let mut cell = Cell {
            contention: Contention::new(spec.stations.len() + 1, phy.slot, phy.difs(), spec.mac.busy_slot),
            ledger: Ledger::new(spec.stations.len() + 1),
            stations: Vec::with_capacity(spec.stations.len() + 1),
            bridge,
            timing,
            rates: Vec::new(),
            phase: Phase::Idle,
            exchange: Exchange { start: Time::ZERO, from: AP, fate: Fate::Success, end: Time::ZERO },
            senders: Vec::with_capacity(spec.stations.len() + 1),
            sink: Sink::default(),
            collisions: 0,
        };
        let nowhere = Peer { node: crate::world::NodeId(0), port: 0 };
        for (i, s) in std::iter::once(&spec.ap).chain(&spec.stations).enumerate() {
            let host = if i == 0 { nowhere } else { *hosts.get(i - 1).ok_or_else(|| format!("station {}: no host is attached", s.name))? };
            let station = cell.station(seed, phy, s, host, flow).map_err(|e| format!("{}: {e}", s.name))?;
            cell.stations.push(station);
        }
        Ok(cell)
    }

    fn station(&mut self, seed: u64, phy: &Phy, s: &StationSpec, host: Peer, flow: &dyn Fn(&str) -> Option<FlowId>) -> Result<Station, String> {
        let rate = phy.rate(s.rate).ok_or_else(|| format!("the standard has no rate of {} bit/s", s.rate))?;
        let rate = match self.rates.iter().position(|t| t.rate == rate) {
            Some(i) => i,
            None => {
                self.rates.push(RateTable::new(phy, rate, &self.timing));
                self.rates.len() - 1
            }
        };
        let loss = match &s.loss {
            Some(c) => Some(((c.entry.build)(&c.args, flow)?, rng::stream(seed, &s.name, "loss"))),
            None => None,
        };
        Ok(Station {
            queue: (s.queue.entry.build)(&s.queue.args)?,
            meter: QueueMeter::default(),
            access: (s.access.entry.build)(&s.access.args, self.timing.cw)?,
            backoff: rng::stream(seed, &s.name, "backoff"),
            queue_rng: rng::stream(seed, &s.name, "queue"),
            loss,
            rate,
            host,
            job: None,
            sequence: 0,
            counters: StationCounters::default(),
        })
    }

    /// The port at which packets from station `who`'s own host come in; [`AP`]'s is where wires end.
    pub fn port(who: StationId) -> u32 {
        who
    }

    /// Meter of the queue of `who`.
    pub fn meter(&mut self, who: StationId) -> Option<&mut QueueMeter> {
        self.stations.get_mut(who as usize).map(|s| &mut s.meter)
    }

    /// What `who` did so far.
    pub fn counters(&self, who: StationId) -> Option<StationCounters> {
        self.stations.get(who as usize).map(|s| s.counters)
    }

    /// Packets in service at `who`: 1 or 0.
    pub fn in_service(&self, who: StationId) -> u64 {
        // A packet that its receiver has already got is no longer counted as under way.
        self.stations.get(who as usize).map_or(0, |s| u64::from(s.job.is_some_and(|j| !j.delivered)))
    }

    /// Number of stations, the access point included.
    pub fn size(&self) -> usize {
        self.stations.len()
    }

    /// Times at which two or more stations sent at once.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// The books as of `now`. An exchange that is on the air is booked up to its last completed part.
    pub fn ledger(&self, now: Time) -> Ledger {
        let mut books = self.ledger.clone();
        if self.phase == Phase::Idle {
            books.quiet(now, self.contention.resume(), self.contention.waiting() > 0);
        }
        books
    }

    // ---- packets come in ----

    fn accept(&mut self, now: Time, who: StationId, mut p: Packet, out: &mut Out<'_>) {
        p.queued = now;
        let s = &mut self.stations[who as usize];
        s.meter.offered(now);
        s.queue.enqueue(&mut Cx { now, rng: &mut s.queue_rng }, p, &mut self.sink);
        self.empty_sink(now, who, out);
        if self.stations[who as usize].job.is_none() && self.take_next(now, who, out) {
            self.contend(now, who, out);
        }
    }

    /// Moves the next packet of `who`'s queue into service; false when there is none.
    fn take_next(&mut self, now: Time, who: StationId, out: &mut Out<'_>) -> bool {
        let s = &mut self.stations[who as usize];
        let packet = s.queue.dequeue(&mut Cx { now, rng: &mut s.queue_rng }, &mut self.sink);
        if !self.sink.dropped.is_empty() {
            self.empty_sink(now, who, out);
        }
        let s = &mut self.stations[who as usize];
        s.job = None;
        let Some(packet) = packet else { return false };
        s.meter.taken(now, &packet);
        let to = if who == AP {
            match self.bridge.get(packet.flow.0 as usize).and_then(|b| b[usize::from(packet.reverse)]) {
                Some(Exit::Air(to)) => to,
                // Only packets bound for the air are queued.
                Some(Exit::Wire(_)) | None => return false,
            }
        } else {
            AP
        };
        let s = &mut self.stations[who as usize];
        s.sequence = (s.sequence + 1) & 0xfff;
        s.job = Some(Job { packet, to, sequence: s.sequence, attempt: 0, short: 0, long: 0, delivered: false });
        true
    }

    fn empty_sink(&mut self, now: Time, who: StationId, out: &mut Out<'_>) {
        for (p, _why) in self.sink.dropped.drain(..) {
            self.stations[who as usize].meter.dropped(now, &p);
            out.trace.packet(now, Event::Dropped, &p);
        }
    }

    /// `who`, which had nothing to send, now has a frame.
    fn contend(&mut self, now: Time, who: StationId, out: &mut Out<'_>) {
        let busy = self.phase != Phase::Idle;
        if !busy && self.contention.waiting() == 0 {
            self.ledger.quiet(now, self.contention.resume(), false);
        }
        // IEEE 802.11-2016 §10.3.4.2: a medium idle for DIFS is used at once; otherwise a backoff is drawn, unless one is pending.
        // ns-2 waits DIFS and a backoff from the arrival on whenever no backoff is running.
        let ns2 = self.timing.idle_access == IdleAccess::Draw && !busy && !self.contention.counts_down(who, now);
        if ns2 {
            let slots = self.draw(now, who, Draw::Arrival);
            self.contention.back_off_alone(who, now + self.timing.difs, slots, true);
            return;
        }
        match self.contention.arrive(who, now, busy) {
            Arrival::Waits => {}
            Arrival::Busy => {
                let slots = self.draw(now, who, Draw::Arrival);
                self.contention.back_off(who, slots, true);
            }
            Arrival::Free => {
                self.senders.clear();
                self.contention.send_at_once(who, &mut self.senders);
                self.transmit(now, out);
            }
        }
    }

    fn draw(&mut self, now: Time, who: StationId, why: Draw) -> u64 {
        let s = &mut self.stations[who as usize];
        u64::from(s.access.draw(&mut Cx { now, rng: &mut s.backoff }, why))
    }

    // ---- an exchange ----

    /// Somebody starts at `now`: works out who, and what comes of it. `senders` holds those that send without backoff.
    fn transmit(&mut self, now: Time, out: &mut Out<'_>) {
        self.ledger.quiet(now, self.contention.resume(), self.contention.waiting() > 0);
        let mut senders = std::mem::take(&mut self.senders);
        self.contention.turn_busy(now, &mut senders);
        self.senders = senders;
        match self.senders[..] {
            // Nobody after all: the deadline was a lower bound.
            [] => {}
            [from] => self.exchange(now, from, out),
            _ => self.collide(now, out),
        }
    }

    /// The one sender `from` starts its exchange at `now`.
    fn exchange(&mut self, now: Time, from: StationId, out: &mut Out<'_>) {
        let t = self.timing;
        let s = &mut self.stations[from as usize];
        s.counters.attempts += 1;
        let Some(job) = s.job else { return };
        let station = if from == AP { job.to } else { from };
        let table = &self.rates[self.stations[station as usize].rate];
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
            out.trace.frame(&Frame { kind: FrameKind::Rts, start: at, end: at + rts, bytes: RTS_BYTES, duration: rest, outcome: outcome(lost), ..control });
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
            (frame.start, frame.end, frame.duration, frame.outcome, frame.packet) = (at, at + data.total, answer, outcome(lost), Some(job.packet));
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
        self.exchange = Exchange { start: now, from, fate, end: at };
    }

    /// All of `senders` start at `now`; nobody receives anything.
    fn collide(&mut self, now: Time, out: &mut Out<'_>) {
        self.collisions += 1;
        let mut end = now;
        for i in 0..self.senders.len() {
            let who = self.senders[i];
            let span = self.collided_airtime(who);
            let s = &mut self.stations[who as usize];
            s.counters.attempts += 1;
            s.counters.collided += 1;
            end = end.max(now + span);
            self.ledger.stations[who as usize].collided += span;
            let Some(job) = self.stations[who as usize].job else { continue };
            let rts = self.timing.uses_rts(job.packet.size);
            let table = self.table(who, &job);
            out.trace.frame(&Frame {
                start: now,
                end: now + span,
                from: who,
                to: job.to,
                kind: if rts { FrameKind::Rts } else { FrameKind::Data },
                outcome: Outcome::Collided,
                rate: if rts { table.control.bps } else { table.rate.bps },
                retry: job.attempt,
                sequence: job.sequence,
                duration: self.timing.sifs + table.ack,
                bytes: if rts { RTS_BYTES } else { job.packet.size + self.timing.overhead },
                packet: if rts { None } else { Some(job.packet) },
            });
        }
        self.ledger.collision(end - now);
        self.phase = Phase::Rest(end);
        self.exchange = Exchange { start: now, from: AP, fate: Fate::Collision, end };
    }

    fn table(&self, from: StationId, job: &Job) -> &RateTable {
        let station = if from == AP { job.to } else { from };
        &self.rates[self.stations[station as usize].rate]
    }

    /// How long `who` is on the air when it collides: it learns of the collision only by the missing answer.
    fn collided_airtime(&self, who: StationId) -> Span {
        let Some(job) = &self.stations[who as usize].job else { return Span::ZERO };
        let table = self.table(who, job);
        let data = table.data[job.packet.size as usize].total;
        if self.timing.uses_rts(job.packet.size) {
            table.rts
        } else if self.timing.protection == Protection::CtsToSelf {
            table.cts + self.timing.sifs + data
        } else {
            data
        }
    }

    /// The data frame on the air has been received at `now`.
    fn deliver(&mut self, now: Time, out: &mut Out<'_>) {
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
            out.send(self.stations[to as usize].host, packet);
            return;
        }
        match self.bridge.get(packet.flow.0 as usize).and_then(|b| b[usize::from(packet.reverse)]) {
            Some(Exit::Wire(peer)) => out.send(peer, packet),
            Some(Exit::Air(_)) => self.accept(now, AP, packet, out),
            None => out.trace.packet(now, Event::Dropped, &packet),
        }
    }

    /// The exchange is over at `now`: everybody learns what follows for him.
    fn finish(&mut self, now: Time, out: &mut Out<'_>) {
        self.phase = Phase::Idle;
        let t = self.timing;
        let Exchange { start, from, fate, .. } = self.exchange;
        if fate == Fate::Collision {
            // Bystanders have heard a frame they could not decode.
            self.contention.turn_idle(now + t.eifs_more);
            let mut senders = std::mem::take(&mut self.senders);
            for &who in &senders {
                let Some(job) = self.stations[who as usize].job else { continue };
                let table = self.table(who, &job);
                let timeout = if t.uses_rts(job.packet.size) { table.cts_timeout } else { table.ack_timeout };
                // A collider has decoded nothing: it waits for its answer, or for the end of the longest frame, then DIFS.
                let quiet = (start + self.collided_airtime(who) + timeout).max(now);
                self.failed(now, who, false, quiet + t.difs, out);
            }
            senders.clear();
            self.senders = senders;
            return;
        }
        let Some(job) = self.stations[from as usize].job else { return };
        let table = self.table(from, &job);
        let (ack, cts, ack_timeout, cts_timeout) = (table.ack, table.cts, table.ack_timeout, table.cts_timeout);
        let data = table.data[job.packet.size as usize].total;
        if fate == Fate::Success {
            self.contention.turn_idle(now);
            self.stations[from as usize].counters.acked += 1;
            let slots = self.draw(now, from, Draw::Success);
            let more = self.take_next(now, from, out);
            self.contention.back_off(from, slots, more);
            return;
        }
        self.stations[from as usize].counters.errored += 1;
        let could_not_decode = now + t.eifs_more + t.difs;
        match fate {
            Fate::DataLost => {
                // Bystanders honour the Duration field of the data frame.
                self.contention.turn_idle(now + t.sifs + ack);
                self.contention.resume_alone(job.to, could_not_decode);
                self.failed(now, from, true, now + ack_timeout + t.difs, out);
            }
            Fate::RtsLost => {
                // §10.3.2.4: a bystander whose NAV comes from an RTS resets it when nothing follows for 2 SIFS + CTS + aRxPHYStartDelay + 2 slots;
                // the CTS timeout is SIFS + slot + aRxPHYStartDelay.
                self.contention.turn_idle(now + cts_timeout + t.sifs + cts + t.slot);
                self.contention.resume_alone(job.to, could_not_decode);
                self.failed(now, from, false, now + cts_timeout + t.difs, out);
            }
            Fate::CtsLost => {
                // Bystanders honour the Duration field of the CTS; the addressee waits for data in vain.
                self.contention.turn_idle(now + t.sifs + data + t.sifs + ack);
                self.failed(now, from, false, could_not_decode, out);
            }
            Fate::AckLost => {
                self.contention.turn_idle(now);
                self.failed(now, from, true, could_not_decode, out);
            }
            Fate::Collision | Fate::Success => {}
        }
    }

    /// The attempt of `who` has failed; it may count slots from `resume` on. `data`: it was the data frame that went without answer, after
    /// its RTS (if any) had been answered.
    fn failed(&mut self, now: Time, who: StationId, data: bool, resume: Time, out: &mut Out<'_>) {
        let t = self.timing;
        let Some(job) = &mut self.stations[who as usize].job else { return };
        // §10.3.4.4: the long count is that of frames longer than the threshold, once their RTS was answered.
        if data && job.packet.size + t.overhead > t.rts_threshold {
            job.long += 1;
        } else {
            job.short += 1;
        }
        job.attempt = job.attempt.saturating_add(1);
        let gives_up = job.short >= t.retry_short || job.long >= t.retry_long;
        if !gives_up {
            let slots = self.draw(now, who, Draw::Failure);
            self.contention.back_off_alone(who, resume, slots, true);
            return;
        }
        let (packet, delivered) = (job.packet, job.delivered);
        let counters = &mut self.stations[who as usize].counters;
        counters.retry_drops += 1;
        if delivered {
            counters.dropped_after_delivery += 1;
        } else {
            out.trace.packet(now, Event::Dropped, &packet);
        }
        let slots = self.draw(now, who, Draw::Dropped);
        let more = self.take_next(now, who, out);
        self.contention.back_off_alone(who, resume, slots, more);
    }
}

impl Node for Cell {
    fn handle(&mut self, now: Time, input: Input, out: &mut Out<'_>) -> Time {
        match input {
            Input::Packet(AP, p) => match self.bridge.get(p.flow.0 as usize).and_then(|b| b[usize::from(p.reverse)]) {
                Some(Exit::Air(_)) => self.accept(now, AP, p, out),
                Some(Exit::Wire(peer)) => out.send(peer, p),
                None => out.trace.packet(now, Event::Dropped, &p),
            },
            Input::Packet(port, p) => self.accept(now, port, p, out),
            Input::Wake => match self.phase {
                Phase::Data(at) if at <= now => self.deliver(now, out),
                Phase::Rest(at) if at <= now => self.finish(now, out),
                Phase::Idle if self.contention.next_start() <= now => {
                    self.senders.clear();
                    self.transmit(now, out);
                }
                _ => {}
            },
            Input::Rejected(_) => {}
        }
        match self.phase {
            Phase::Idle => self.contention.next_start(),
            Phase::Data(at) | Phase::Rest(at) => at,
        }
    }
}

impl Timing {
    /// Whether an IP packet of `size` bytes is preceded by RTS and CTS.
    fn uses_rts(&self, size: u32) -> bool {
        size + self.overhead > self.rts_threshold || self.protection == Protection::RtsCts
    }
}

impl RateTable {
    fn new(phy: &Phy, rate: Rate, t: &Timing) -> RateTable {
        let answer = phy.response_rate(rate);
        // RTS and CTS go at the rate of answers, unless they protect.
        let control = if t.protection == Protection::None { answer } else { t.protection_rate };
        RateTable {
            rate,
            data: (0..=MAX_PACKET).map(|ip| phy.airtime(rate, phy.mpdu(ip))).collect(),
            payload: (0..=MAX_PACKET).map(|ip| Span::of_bits(u64::from(ip) * 8, rate.bps)).collect(),
            answer,
            ack: phy.airtime(answer, ACK_BYTES).total,
            ack_timeout: phy.ack_timeout(answer),
            control,
            rts: phy.airtime(control, RTS_BYTES).total,
            cts: phy.airtime(control, CTS_BYTES).total,
            cts_timeout: phy.ack_timeout(control),
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
