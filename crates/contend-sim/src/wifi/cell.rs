//! A cell in which all hear all: one access point, any number of stations, one node of the world.
//!
//! Contention is computed ([`Contention`]), so a frame exchange costs three wake-ups whatever the number of stations:
//! its start, the delivery at the end of the data frame, the end of the exchange. What a transmission leads to is known
//! when it starts (who collides, what the channel spoils, which answers follow), and told to each station at the
//! instant at which it would learn of it.
//!
//! Propagation takes no time. Two transmissions that start in the same nanosecond collide; a later start senses the
//! earlier one. A spoilt frame is spoilt at its addressee only; bystanders decode it and honour its Duration field.

use super::access::{Category, Draw, Seen, Setting};
use super::air::{Air, View};
use super::bridge::{Bridge, Chain, Exit, Host};
use super::client::Client;
use super::contention::{Arrival, Contention, Manner};
pub use super::counters::{Rivals, StationCounters};
use super::ledger::Ledger;
use super::mac::{Job, Station};
use super::on_air::{Exchange, Fate};
use super::phy::{Phy, Protection};
use super::timing::{RateTable, Timing};
use super::{AP, Contender, StationId, Success};
use crate::rng;
use crate::scenario::{AfterCollision, CellSpec, IdleAccess, StationSpec};
use crate::stats::QueueMeter;
use crate::trace::Event;
use crate::world::{Input, Node, Out, WireId};
use contend_core::ap::{FlowFacts, Side};
use contend_core::qdisc::{Sink, Site};
use contend_core::{Cx, FlowId, Packet, Span, Time};
use std::cell::OnceCell;

/// Largest IP packet a data frame carries, in bytes (aMSDUMaxLength 2304 less LLC/SNAP).
pub const MAX_PACKET: u32 = 2296;

/// How many slots were idle before transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Starts with one sender, and with several.
    pub starts: [u64; 2],
    /// Idle slots before them.
    pub slots: [u64; 2],
}

/// The cell.
#[derive(Debug)]
pub struct Cell {
    pub(super) contention: Contention,
    pub(super) ledger: Ledger,
    /// The stations by [`StationId`], and behind them what is further of those that have categories, by [`Contender`].
    pub(super) stations: Vec<Station>,
    /// Names of what is behind the stations.
    pub(super) further: Vec<String>,
    pub(super) air: Air,
    pub(super) control: Chain,
    /// Queues whose discipline lets nothing go yet, though packets wait.
    pub(super) shaped: Vec<Contender>,
    /// Whether there is a network card that may be told to pause.
    pauses: bool,
    /// What is on the air.
    pub(super) phase: Phase,
    pub(super) exchange: Exchange,
    /// When the one sender of the exchange on the air won the medium.
    pub(super) won: Time,
    pub(super) senders: Vec<Contender>,
    /// Contenders with a frame in service.
    backlogged: u32,
    /// Those who draw again because somebody else was first, and the slots they counted.
    again: Vec<(Contender, u32)>,
    pub(super) sink: Sink,
    pub(super) collisions: u64,
    rivals: Rivals,
    waits: Waits,
    /// Who succeeded, when somebody wants to know.
    pub(super) successes: Option<Vec<Success>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Idle,
    /// A data frame whose last symbol is heard, and delivered, at this instant.
    Data(Time),
    /// Whatever goes on until this instant.
    Rest(Time),
}

impl Cell {
    /// The cell of `spec`. `facts` are what control blocks may be told of each flow; `flow` turns a flow's name into
    /// its number.
    ///
    /// # Errors
    /// When an algorithm refuses its parameters, or the PHY does not have a rate: the text names the station.
    pub fn new(
        seed: u64,
        spec: &CellSpec,
        bridge: Bridge,
        facts: &[FlowFacts],
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Cell, String> {
        let phy = &spec.phy;
        let protection_rate = match phy.protection {
            Protection::None => phy.lowest_basic(),
            _ => phy
                .rate(phy.protection_rate)
                .ok_or_else(|| format!("protection_rate: the standard has no rate of {} bit/s", phy.protection_rate))?,
        };
        let timing = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
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
            setting: Setting::of(phy).member(0, spec.stations.len() as u32 + 1),
        };
        let mut cell = Cell {
            contention: Contention::new(&[], phy.slot, spec.mac.busy_slot),
            ledger: Ledger::new(spec.stations.len() + 1),
            stations: Vec::with_capacity(spec.stations.len() + 1),
            further: Vec::new(),
            air: Air {
                timing,
                difs: phy.difs(),
                rates: Vec::new(),
                rate_of: Vec::new(),
                bridge,
                contention: OnceCell::new(),
            },
            control: Chain::default(),
            shaped: Vec::new(),
            pauses: false,
            phase: Phase::Idle,
            exchange: Exchange { start: Time::ZERO, from: AP, fate: Fate::Success, end: Time::ZERO },
            senders: Vec::with_capacity(spec.stations.len() + 1),
            backlogged: 0,
            again: Vec::new(),
            sink: Sink::default(),
            won: Time::ZERO,
            collisions: 0,
            rivals: Rivals::default(),
            waits: Waits::default(),
            successes: None,
        };
        let neighbour = |name: &str| spec.stations.iter().position(|s| s.name == name).map(|i| i as u32 + 1);
        for s in std::iter::once(&spec.ap).chain(&spec.stations) {
            let station = cell
                .station(seed, phy, s, &Site { neighbour: &neighbour }, flow)
                .map_err(|e| format!("{}: {e}", s.name))?;
            cell.stations.push(station);
        }
        for (owner, s) in (AP..).zip(std::iter::once(&spec.ap).chain(&spec.stations)) {
            cell.add_categories(seed, phy, owner, s, &Site { neighbour: &neighbour })
                .map_err(|e| format!("{}: {e}", s.name))?;
        }
        let ifs = |s: &Station| s.access.aifsn().map_or(phy.difs(), |n| phy.sifs + phy.slot * u64::from(n));
        let manner = |s: &Station| Manner { ifs: ifs(s), residue: s.access.residue(), busy: s.access.busy() };
        let members: Vec<Manner> = cell.stations.iter().map(manner).collect();
        cell.contention = Contention::new(&members, phy.slot, spec.mac.busy_slot);
        let buffer = cell.stations.first().and_then(|ap| ap.queue.limit()?.packets());
        cell.control = Chain::new(seed, spec, &cell.air, facts, buffer)?;
        Ok(cell)
    }

    fn station(
        &mut self,
        seed: u64,
        phy: &Phy,
        s: &StationSpec,
        site: &Site,
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Station, String> {
        let rate = phy.rate(s.rate).ok_or_else(|| format!("the standard has no rate of {} bit/s", s.rate))?;
        let air = &mut self.air;
        let rate = air.rates.iter().position(|t| t.rate == rate).unwrap_or_else(|| {
            air.rates.push(RateTable::new(phy, rate, &air.timing));
            air.rates.len() - 1
        });
        air.rate_of.push(rate as u32);
        let loss = match &s.loss {
            Some(c) => Some(((c.entry.build)(&c.args, flow)?, rng::stream(seed, &s.name, "loss"))),
            None => None,
        };
        let owner = self.stations.len() as StationId;
        Ok(Station { loss, ..self.entry(seed, phy, s, site, owner, Category::Be, &s.name)? })
    }

    /// What serves `category` of station `owner`, under `name`.
    #[allow(clippy::too_many_arguments, reason = "what a station is made of, once")]
    pub(super) fn entry(
        &self,
        seed: u64,
        phy: &Phy,
        s: &StationSpec,
        site: &Site,
        owner: StationId,
        category: Category,
        name: &str,
    ) -> Result<Station, String> {
        let queue = (s.queue.entry.build)(&s.queue.args, site)?;
        let setting = self.air.timing.setting;
        let access = (s.access.entry.build)(
            &s.access.args,
            setting.at(phy, s.rate).member(owner, setting.stations).of_category(category),
        )?;
        Ok(Station {
            owner,
            mac: owner,
            categories: None,
            bypass: queue.can_bypass(),
            hears_air: queue.hears_air(),
            queue,
            meter: QueueMeter::default(),
            txop: access.txop(),
            access,
            backoff: rng::stream(seed, name, "backoff"),
            queue_rng: rng::stream(seed, name, "queue"),
            loss: None,
            host: Host { hears_drops: s.client == Some(Client::Usb), pause: None, paused: false },
            job: None,
            sequence: 0,
            counters: StationCounters::default(),
        })
    }

    /// Puts a cable with a bridge between station `who` and its host: `nic`, the wire that brings what the host sends,
    /// is paused when `pause.0` packets wait and goes on when `pause.1` do.
    pub fn convert(&mut self, who: StationId, nic: WireId, pause: Option<(u64, u64)>) {
        if let Some(s) = self.stations.get_mut(who as usize) {
            s.host = Host { pause: pause.map(|(high, low)| (nic, high, low)), ..s.host };
            self.pauses |= pause.is_some();
        }
    }

    /// The port at which packets from station `who`'s own host come in; [`AP`]'s is where wires end.
    pub fn port(who: StationId) -> u32 {
        who
    }

    /// Meter of the control blocks, when there are any: what they hold counts as waiting.
    pub fn control_meter(&mut self) -> Option<&mut QueueMeter> {
        self.control.meter()
    }

    /// Names of the queues behind those of the stations: the further categories of stations that have some.
    pub fn further(&self) -> &[String] {
        &self.further
    }

    /// Meter of the queue of `who`.
    pub fn meter(&mut self, who: Contender) -> Option<&mut QueueMeter> {
        self.stations.get_mut(who as usize).map(|s| &mut s.meter)
    }

    /// What `who` did so far.
    pub fn counters(&self, who: StationId) -> Option<StationCounters> {
        self.entries(who).map(|s| s.counters).reduce(StationCounters::plus)
    }

    /// Packets in service at `who`: 1 or 0, with categories up to 4.
    pub fn in_service(&self, who: StationId) -> u64 {
        // A packet that its receiver has already got is no longer counted as under way.
        self.entries(who).filter(|s| s.job.is_some_and(|j| !j.delivered)).count() as u64
    }

    /// Number of stations, the access point included.
    pub fn size(&self) -> usize {
        self.stations.len() - self.further.len()
    }

    /// Times at which two or more stations sent at once.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// With whom the access point contends.
    pub fn rivals(&self) -> Rivals {
        self.rivals
    }

    /// How many slots were idle before transmissions.
    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// From now on keeps who succeeds: four bytes an exchange.
    pub fn keep_successes(&mut self) {
        self.successes.get_or_insert_default();
    }

    /// Every exchange that ended with an ACK, in the order of their ends; empty unless they are kept.
    pub fn successes(&self) -> &[Success] {
        self.successes.as_deref().unwrap_or_default()
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

    pub(super) fn accept(&mut self, now: Time, who: StationId, mut p: Packet, out: &mut Out<'_>) {
        p.queued = now;
        let s = &self.stations[who as usize];
        let (lane, mac, free) = match s.categories {
            None => (who, who, s.job.is_none()),
            Some(lanes) => self.lane(&lanes, &p),
        };
        let s = &mut self.stations[lane as usize];
        s.meter.offered(now);
        if s.bypass && free && s.meter.waiting() == 1 {
            if self.serve(now, lane, p) {
                self.contend(now, mac, out);
            }
            return;
        }
        s.queue.enqueue(&mut Cx { now, rng: &mut s.queue_rng }, &View { air: &self.air, who }, p, &mut self.sink);
        if s.host.hears_drops {
            for (p, _) in &self.sink.dropped {
                if let Some(sender) = self.air.sender(p) {
                    out.reject(sender, p);
                }
            }
        }
        s.meter.settle(now, &mut self.sink, out.trace);
        let waiting = s.meter.waiting();
        if self.pauses {
            self.watch(lane, waiting, out);
        }
        if free && self.take_next(now, mac, out) {
            self.contend(now, mac, out);
        }
    }

    /// Moves the next packet that `mac` has to send into service; false when there is none.
    pub(super) fn take_next(&mut self, now: Time, mac: Contender, out: &mut Out<'_>) -> bool {
        let s = &mut self.stations[mac as usize];
        self.backlogged -= u32::from(s.job.take().is_some());
        let categories = s.categories;
        match categories {
            Some(lanes) if self.one_backoff(&lanes) => lanes.into_iter().any(|lane| self.pull(now, lane, out)),
            _ => self.pull(now, mac, out),
        }
    }

    /// Moves the next packet of queue `lane` into service; false when there is none.
    fn pull(&mut self, now: Time, lane: Contender, out: &mut Out<'_>) -> bool {
        let s = &mut self.stations[lane as usize];
        if s.meter.waiting() == 0 {
            return false;
        }
        let packet = s.queue.dequeue(
            &mut Cx { now, rng: &mut s.queue_rng },
            &View { air: &self.air, who: s.owner },
            &mut self.sink,
        );
        s.meter.settle(now, &mut self.sink, out.trace);
        let left = s.meter.waiting() - u64::from(packet.is_some());
        if self.pauses {
            self.watch(lane, left, out);
        }
        if packet.is_none() && left > 0 && !self.shaped.contains(&lane) {
            self.shaped.push(lane);
        }
        packet.is_some_and(|p| self.serve(now, lane, p))
    }

    /// Takes `packet`, which comes from queue `lane`, into service.
    fn serve(&mut self, now: Time, lane: Contender, packet: Packet) -> bool {
        let s = &mut self.stations[lane as usize];
        s.meter.taken(now, &packet);
        let to = match (s.owner, self.air.exit(&packet)) {
            (AP, Some(Exit::Air { station, .. })) => station,
            // Only packets bound for the air are queued.
            (AP, _) => return false,
            _ => AP,
        };
        let mac = s.mac;
        let s = &mut self.stations[mac as usize];
        self.backlogged += 1;
        s.sequence = (s.sequence + 1) & 0xfff;
        s.job = Some(Job { packet, to, sequence: s.sequence, attempt: 0, short: 0, long: 0, delivered: false });
        true
    }

    /// A packet enters the access point from `side`.
    pub(super) fn enter(&mut self, now: Time, side: Side, p: Packet, out: &mut Out<'_>) {
        if self.control.is_empty() {
            self.forward(now, p, out);
            return;
        }
        self.control.enter(now, side, p, out);
        self.release(now, out);
    }

    /// Forwards what the control blocks have let go.
    fn release(&mut self, now: Time, out: &mut Out<'_>) {
        let mut passed = self.control.take();
        for (_, p) in passed.drain(..) {
            self.forward(now, p, out);
        }
        self.control.reuse(passed);
    }

    /// Sends a packet that has entered the access point on its way.
    fn forward(&mut self, now: Time, p: Packet, out: &mut Out<'_>) {
        match self.air.exit(&p) {
            Some(Exit::Wire(peer)) => out.send(peer, &p),
            Some(Exit::Air { .. }) => self.accept(now, AP, p, out),
            None => out.trace.packet(now, Event::Dropped, &p),
        }
    }

    /// Asks the disciplines again whose time has come.
    fn wake_shaped(&mut self, now: Time, out: &mut Out<'_>) {
        let mut i = 0;
        while let Some(&lane) = self.shaped.get(i) {
            let s = &self.stations[lane as usize];
            let mac = s.mac;
            let free = self.stations[mac as usize].job.is_none();
            if free && s.queue.next_deadline() > now {
                i += 1;
                continue;
            }
            // With a frame in service it is asked when that is done.
            self.shaped.swap_remove(i);
            if free && self.take_next(now, mac, out) {
                self.contend(now, mac, out);
            }
        }
    }

    /// `who`, which had nothing to send, now has a frame.
    fn contend(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        let busy = self.phase != Phase::Idle;
        if !busy && self.contention.waiting() == 0 {
            self.ledger.quiet(now, self.contention.resume(), false);
        }
        // IEEE 802.11-2016 §10.3.4.2: a medium idle for DIFS is used at once; otherwise a backoff is drawn, unless one
        // is pending. ns-2 waits DIFS and a backoff from the arrival on whenever no backoff is running.
        let ns2 = self.air.timing.idle_access == IdleAccess::Draw && !busy && !self.contention.counts_down(who, now);
        if ns2 {
            let slots = self.draw(now, who, Draw::Arrival);
            self.contention.back_off_alone(who, now + self.contention.ifs(who), slots, true);
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

    pub(super) fn draw(&mut self, now: Time, who: Contender, why: Draw) -> u64 {
        let s = &mut self.stations[who as usize];
        let bytes = s.job.map_or(0, |j| j.packet.size);
        let seen = Seen {
            contenders: self.backlogged,
            bytes,
            busy_counts: self.contention.busy_counts(who),
            channel: self.contention.channel(),
        };
        u64::from(s.access.draw(&mut Cx { now, rng: &mut s.backoff }, why, &seen))
    }

    // ---- an exchange ----

    /// Somebody starts at `now`: works out who, and what comes of it. `senders` holds those that send without backoff.
    fn transmit(&mut self, now: Time, out: &mut Out<'_>) {
        self.ledger.quiet(now, self.contention.resume(), self.contention.waiting() > 0);
        let mut senders = std::mem::take(&mut self.senders);
        // Those that send at once no longer wait.
        let contenders = u64::from(self.contention.waiting()) + senders.len() as u64;
        let mut again = std::mem::take(&mut self.again);
        self.contention.turn_busy(now, &mut senders, &mut again);
        for (who, slots) in again.drain(..) {
            let slots = self.draw(now, who, Draw::Cycle(slots));
            self.contention.back_off(who, slots, true);
        }
        self.again = again;
        let own = if self.further.is_empty() {
            u64::from(self.stations[AP as usize].job.is_some())
        } else {
            self.in_service_at(AP)
        };
        if own > 0 && !senders.is_empty() {
            self.rivals.starts += 1;
            self.rivals.stations += contenders - own;
        }
        if senders.len() > 1 && !self.further.is_empty() {
            self.collide_inside(now, &mut senders, out);
        }
        self.senders = senders;
        let several = usize::from(self.senders.len() > 1);
        let channel = self.contention.channel();
        self.waits.starts[several] += 1;
        self.waits.slots[several] += u64::from(channel.idle(channel.busy() - 1));
        match self.senders[..] {
            // Nobody after all: the deadline was a lower bound.
            [] => {}
            [from] => {
                self.won = now;
                self.exchange(now, from, out);
            }
            _ => self.collide(now, out),
        }
    }
}

impl Node for Cell {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        match input {
            Input::Packet(AP, p) => self.enter(now, Side::Wire, *p, out),
            Input::Packet(port, p) => self.accept(now, port, *p, out),
            Input::Wake => {
                match self.phase {
                    Phase::Data(at) if at <= now => self.deliver(now, out),
                    Phase::Rest(at) if at <= now => self.finish(now, out),
                    Phase::Idle if self.contention.next_start() <= now => {
                        self.senders.clear();
                        self.transmit(now, out);
                    }
                    _ => {}
                }
                if self.control.deadline() <= now {
                    self.control.wake(now, out);
                    self.release(now, out);
                }
                if !self.shaped.is_empty() {
                    self.wake_shaped(now, out);
                }
            }
            Input::Rejected => {}
        }
        let medium = match self.phase {
            Phase::Idle => self.contention.next_start(),
            Phase::Data(at) | Phase::Rest(at) => at,
        };
        let shaped = self.shaped.iter().map(|&who| self.stations[who as usize].queue.next_deadline()).min();
        medium.min(self.control.deadline()).min(shaped.unwrap_or(Time::NEVER))
    }
}
