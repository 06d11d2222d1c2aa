//! A basic service set: the access points and stations of one channel, one node of the world.
//!
//! The node contains the Macs of the stations (`Stations`), the medium (`Cell` or `Field`) and the bridges of the
//! access points (`Bridge`). It forwards packets and wake-ups to them.

mod roam;
mod way;

use super::agents::{Agents, MessageFault, StationMessage};
use super::bridge::{Bridge, Chain, Routes};
use super::cell::Cell;
use super::field::{Field, Links};
use super::forwarding::{Forwarding, LinkLayer, Step};
use super::frame_log::FrameLog;
use super::ledger::Ledger;
use super::map::Map;
use super::observers::{Observers, Truth};
use super::reception::Reception;
use super::roaming::Roaming;
use super::stations::{Moment, Stations};
use super::successes::Success;
use crate::peer::WireId;
use crate::routing::RoutingDrop;
use crate::stats::{QueueMeter, TransmitterCounters};
use crate::wifi::ids::{Contender, StationId};
use crate::wifi::sender::air::Air;
use crate::wifi::sender::counters::{Rivals, StationCounters, Waits};
use crate::wifi::sender::rates::Mpdus;
use crate::wifi::spec::CellSpec;
use crate::world::{Input, Node, Out};
use contend_core::Refusal;
use contend_core::ap::{FlowFacts, Side};
use contend_core::observe::Local;
use contend_core::qdisc::{Sink, Site};
use contend_core::{Address, FlowId, Span, Time};

/// The access points and stations of a channel.
#[derive(Debug)]
pub struct Bss {
    air: Air,
    stations: Stations,
    medium: Medium,
    /// When something is due on the medium, as of the last call.
    due: Time,
    bridge: Bridge,
    observers: Observers,
    forwarding: Forwarding,
    link_layer: LinkLayer,
    /// Stations that change their access points; `None`: all keep them.
    roaming: Option<Box<Roaming>>,
    /// Packets dropped for want of a route.
    unroutable: u64,
    /// True if something besides the stations and the medium may act at a time of its own: control blocks, routing
    /// agents, a link layer that takes time, queues of which others know at once, beacons, or stations that roam.
    has_layers: bool,
    /// The sink of all disciplines, kept so that a drop needs no allocation.
    sink: Sink,
}

/// What the stations share.
#[derive(Debug)]
enum Medium {
    /// All stations hear each other.
    Cell(Box<Cell>),
    /// Each station hears the stations near it.
    Field(Box<Field>),
}

impl Medium {
    #[inline]
    fn next_deadline(&mut self) -> Time {
        match self {
            Medium::Cell(cell) => cell.next_deadline(),
            Medium::Field(field) => field.next_deadline(),
        }
    }

    #[inline]
    fn contend(&mut self, moment: &mut Moment<'_, '_>, who: Contender) {
        match self {
            Medium::Cell(cell) => cell.contend(moment, who),
            Medium::Field(field) => field.contend(moment, who),
        }
    }
}

impl Bss {
    /// The access points and the stations of `spec`; `site` is what all have in common. `facts` has, for each access
    /// point, the facts about each flow for control blocks; `flow` maps the name of a flow to its number.
    ///
    /// # Errors
    /// If an algorithm refuses its parameters, or the PHY does not have a rate. The text names the station.
    pub fn new(
        seed: u64,
        site: &Site<'_>,
        spec: &CellSpec,
        routes: Routes,
        facts: &[Vec<FlowFacts>],
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Bss, Refusal> {
        if spec.field.is_some() && !spec.mac.preamble_detection.is_zero() {
            return Err("preamble_detection: is for a cell, in which all stations hear each other".into());
        }
        let air = Air::new(spec)?;
        let control = Chain::all(seed, spec, &air, facts)?;
        let mut stations = Stations::new(seed, site, spec, &air, control.iter().any(Chain::hears_air))?;
        let reception = Reception::new(seed, spec, &air, flow)?;
        let names: Vec<&str> = spec.members().map(|s| s.name.as_str()).collect();
        let mut links = spec.field.as_ref().map(|field| Links::new(seed, field, &names)).transpose()?;
        let forwarding = Forwarding::new(seed, spec, &routes, links.as_mut())?;
        if forwarding.has_agents() {
            stations.hand_back(spec.field.as_ref().is_some_and(|f| f.routing_priority));
        }
        let mut medium = match spec.field.as_ref().zip(links) {
            None => Medium::Cell(Box::new(Cell::new(spec, &stations, reception))),
            Some((field, links)) => Medium::Field(Box::new(Field::new(spec, field, &stations, links, reception))),
        };
        let observers = Observers::new(spec, &air, stations.contenders_in_all())?;
        let link_layer = LinkLayer::new(spec.field.as_ref().map_or(Span::ZERO, |f| f.link_delay));
        let roaming = Roaming::new(spec).map(Box::new);
        let has_layers = !control.iter().all(Chain::is_empty)
            || forwarding.has_agents()
            || !link_layer.is_instant()
            || !stations.known_at_once().is_empty()
            || stations.beacon_at() < Time::NEVER
            || roaming.is_some();
        let bridge = Bridge::new(routes, control);
        Ok(Bss {
            air,
            stations,
            due: medium.next_deadline(),
            medium,
            bridge,
            observers,
            forwarding,
            link_layer,
            roaming,
            unroutable: 0,
            has_layers,
            sink: Sink::default(),
        })
    }

    /// Checks that the error model of `spec` knows all rates of the stations with an SNR.
    ///
    /// # Errors
    /// What is wrong, and a valid value.
    pub fn check_errors(spec: &CellSpec) -> Result<(), Refusal> {
        Reception::check(spec, &Air::new(spec)?)
    }

    /// Puts a cable with a bridge between station `who` and its host. The wire `nic` carries the packets of the host.
    /// It is paused when `pause.0` packets wait, and continues when `pause.1` packets wait.
    pub fn convert(&mut self, who: StationId, nic: WireId, pause: Option<(u64, u64)>) {
        self.stations.convert(who, nic, pause);
    }

    /// From now on the sources of packets are told when these leave the station of the source ([`Input::Left`]).
    pub fn tell_sources(&mut self) {
        self.stations.tell_sources();
    }

    /// The port for packets from the host of station `who`. The port of an access point is for packets from wires.
    pub fn port(who: StationId) -> u32 {
        who
    }

    /// The meter of the control blocks of the access point `ap`, if it has any, and the packets that they hold, which
    /// count as waiting.
    pub fn control_queue(&mut self, ap: StationId) -> Option<(&mut QueueMeter, u64)> {
        self.bridge.chains().get_mut(ap as usize)?.reading()
    }

    /// Names of the extra queues: one entry for each category that is not best effort, at stations with categories.
    pub fn category_queue_names(&self) -> &[String] {
        self.stations.category_queue_names()
    }

    /// The meter of queue number `i`, and the packets that wait in this queue. First come the queues of the stations by
    /// [`StationId`], then the queues of [`Bss::category_queue_names`].
    pub fn queue(&mut self, i: usize) -> Option<(&mut QueueMeter, u64)> {
        self.stations.queue(i)
    }

    /// The probability of the law of the queue of station number `i`, for best effort if it has categories.
    pub fn probability(&mut self, i: usize) -> Option<f64> {
        self.stations.probability(i)
    }

    /// The counters of `who`.
    pub fn counters(&self, who: StationId) -> Option<StationCounters> {
        self.stations.counters(who)
    }

    /// The MPDUs that `who` has sent, and those that were sent to it; `None` if they are not counted.
    pub fn mpdus(&self, who: StationId) -> Option<[Mpdus; 2]> {
        self.stations.mpdus(who)
    }

    /// What became by `now` of the packets that `who` took from its queues. It carries the packet in service until the
    /// packet reaches its receiver: at most one for each category, more with aggregation.
    pub fn transmitter(&self, who: StationId, now: Time) -> Option<TransmitterCounters> {
        self.stations.transmitter(who, now)
    }

    /// What became of the packets between the network layers of stations and their queues or receivers. A packet
    /// without a route is lost, and so may be one that waits in the old access point of a station that roams.
    pub fn routing(&self) -> TransmitterCounters {
        let layer = self.link_layer.counters();
        let held = self.roaming.as_ref().map(|r| r.counters()).unwrap_or_default();
        TransmitterCounters {
            bytes: 0,
            taken: layer.taken + self.unroutable + held.taken,
            delivered: layer.delivered + held.delivered,
            lost: self.unroutable + held.lost,
            carrying: layer.carrying + held.carrying,
        }
    }

    /// Number of stations, access points included.
    pub fn size(&self) -> usize {
        self.stations.len()
    }

    /// Number of collisions.
    pub fn collisions(&self) -> u64 {
        match &self.medium {
            Medium::Cell(cell) => cell.collisions(),
            Medium::Field(field) => field.collisions(),
        }
    }

    /// The contenders that the access point met.
    pub fn rivals(&self) -> Rivals {
        self.cell().map_or_else(Rivals::default, Cell::rivals)
    }

    /// The idle slots before transmissions.
    pub fn waits(&self) -> Waits {
        self.cell().map_or_else(Waits::default, Cell::waits)
    }

    /// From now on keeps every success, in four bytes each.
    pub fn keep_successes(&mut self) {
        if let Medium::Cell(cell) = &mut self.medium {
            cell.keep_successes();
        }
    }

    /// The exchanges that ended with an ACK, in the order of their ends; empty if they are not kept.
    pub fn successes(&self) -> &[Success] {
        self.cell().map_or(&[], Cell::successes)
    }

    /// From now on keeps up to `limit` frames that start in `from..to`.
    pub fn keep_frames(&mut self, from: Time, to: Time, limit: usize) {
        let log = FrameLog::new(from, to, limit);
        match &mut self.medium {
            Medium::Cell(cell) => cell.keep_frames(log),
            Medium::Field(field) => field.keep_frames(log),
        }
        if let Some(agents) = self.forwarding.agents() {
            agents.keep_messages(to);
        }
    }

    /// The message whose number is a packet's payload, if frames are kept.
    pub fn message(&self, number: u32) -> Option<&StationMessage> {
        self.agents()?.message_kept(number)
    }

    /// The map of a field at `now`, for flows with these ends on the air; `None` without a field.
    pub fn map(&mut self, now: Time, ends: &[Option<[StationId; 2]>]) -> Option<Map> {
        let Medium::Field(field) = &mut self.medium else {
            return None;
        };
        let map = field.map(now);
        let route = |ends: &Option<[StationId; 2]>| {
            let passed = |[from, to]: [StationId; 2]| {
                let (from, to) = self.present(from, to);
                self.stations_passed(from, to)
            };
            ends.map_or_else(Vec::new, passed)
        };
        Some(Map { routes: ends.iter().map(route).collect(), ..map })
    }

    /// The stations that a packet passes now on its way from one station to another; it ends early where no way is
    /// known.
    fn stations_passed(&self, from: StationId, to: StationId) -> Vec<StationId> {
        let mut passed = vec![from];
        let mut here = from;
        while here != to && passed.len() <= self.size() {
            let Some(next) = self.forwarding.next_hop(here, self.air.is_ap(here), || Some(to)) else {
                break;
            };
            passed.push(next);
            here = next;
        }
        passed
    }

    /// The station where packets to `address` leave the air, and where packets from it enter the air; `None` if they
    /// are never on the air.
    pub fn station_of(&self, address: Address) -> Option<StationId> {
        self.bridge.station_of(address)
    }

    /// The kept frames; `None` if frames are not kept.
    pub fn frames(&self) -> Option<&FrameLog> {
        match &self.medium {
            Medium::Cell(cell) => cell.frames(),
            Medium::Field(field) => field.frames(),
        }
    }

    /// The ledger at `now`. In a cell an exchange is booked up to its end when it is sensed; in a field a frame is
    /// booked when it has ended.
    pub fn ledger(&self, now: Time) -> Ledger {
        match &self.medium {
            Medium::Cell(cell) => cell.ledger(now),
            Medium::Field(field) => field.ledger(now),
        }
    }

    /// How many more MPDUs the channel of `station` corrupted so far than their probabilities say, in both directions.
    pub fn excess_losses(&self, station: StationId) -> f64 {
        match &self.medium {
            Medium::Cell(cell) => cell.excess_losses(station),
            Medium::Field(field) => field.excess_losses(station),
        }
    }

    /// When it must be woken first: when the first routing agent must, for the first beacon, or when the first
    /// station that roams looks at the power of its access point.
    pub fn first_deadline(&self) -> Time {
        let roaming = self.roaming.as_ref().map_or(Time::NEVER, |r| r.deadline());
        self.forwarding.deadline().min(self.stations.beacon_at()).min(roaming)
    }

    /// Packets that stations could not forward, by [`RoutingDrop`].
    pub fn routing_drops(&self) -> [u64; RoutingDrop::ALL.len()] {
        let mut drops = self.agents().map(Agents::drops).unwrap_or_default();
        drops[RoutingDrop::NoRoute as usize] += self.unroutable;
        drops
    }

    /// The meter of the packets that routing agents hold, if there are agents, and their number.
    pub fn routing_queue(&mut self) -> Option<(&mut QueueMeter, u64)> {
        self.forwarding.agents().map(Agents::reading)
    }

    /// Why a routing message could not be read, if that has happened. The run must end then.
    pub fn fault(&self) -> Option<MessageFault> {
        self.agents().and_then(Agents::fault)
    }

    /// The estimate of each observer of `station` at `now`, in the order of the specification.
    pub fn estimates(&self, station: StationId, now: Time) -> impl Iterator<Item = Local> {
        self.observers.estimates(station, now)
    }

    /// What really happened at `station` by `now`; nothing without an observer.
    pub fn truth(&self, station: StationId, now: Time) -> Truth {
        let idle = if let Medium::Field(field) = &self.medium { field.quiet_for(station, now) } else { Span::ZERO };
        self.observers.truth(station, idle)
    }

    /// True if the stations are in a field, so that not all hear each other.
    pub fn is_field(&self) -> bool {
        matches!(self.medium, Medium::Field(_))
    }

    fn agents(&self) -> Option<&Agents> {
        if let Forwarding::Agents(agents) = &self.forwarding { Some(agents) } else { None }
    }

    fn cell(&self) -> Option<&Cell> {
        if let Medium::Cell(cell) = &self.medium { Some(cell) } else { None }
    }

    /// The medium, and the stations in this instant.
    #[inline]
    fn split<'a, 'b>(&'a mut self, now: Time, out: &'a mut Out<'b>) -> (&'a mut Medium, Moment<'a, 'b>) {
        let Bss { air, stations, medium, bridge, observers, sink, .. } = self;
        (medium, Moment { now, air, stations, bridge, observers, sink, out })
    }

    /// When something above the queues of the stations happens next. At once if that is not known.
    fn above(&self) -> Time {
        if !self.has_layers {
            return Time::NEVER;
        }
        if self.roaming.is_some() || !self.stations.known_at_once().is_empty() || self.bridge.has_control() {
            return Time::ZERO;
        }
        self.forwarding.deadline().min(self.link_layer.deadline()).min(self.stations.beacon_at())
    }

    /// Does what is due in the field at `now`, and what it does later, as long as nothing else happens. Returns the
    /// time of the last that was done.
    fn wake_field(&mut self, mut now: Time, out: &mut Out<'_>) -> Time {
        loop {
            let above = self.above();
            let (Medium::Field(field), mut moment) = self.split(now, out) else { return now };
            let received = field.wake(&mut moment, above);
            now = moment.now;
            let Some((who, by)) = received else { return now };
            self.receive_in_field(now, who, by, out);
        }
    }

    /// Does what is due at `now`; `is_due`: on the medium, too. Returns the time of the last that was done, which may
    /// be later in a field.
    #[inline(always)]
    fn wake(&mut self, mut now: Time, is_due: bool, out: &mut Out<'_>) -> Time {
        if is_due {
            if let (Medium::Cell(cell), mut moment) = self.split(now, out) {
                if let Some(who) = cell.wake(&mut moment) {
                    self.receive_in_cell(now, who, out);
                }
            } else {
                now = self.wake_field(now, out);
            }
        }
        if self.has_layers {
            self.wake_layers(now, out);
        }
        if self.stations.reorder_at() <= now {
            self.pass_late(now, out);
        }
        if self.stations.next_deadline() <= now {
            let (medium, mut moment) = self.split(now, out);
            for who in moment.stations.take_held_back() {
                if moment.ask_again(who) {
                    medium.contend(&mut moment, who);
                }
            }
        }
        now
    }

    /// Ends an instant above the queues of the stations. Returns the next deadline there.
    #[inline]
    fn finish_layers(&mut self, now: Time, out: &mut Out<'_>) -> Time {
        while let Some(r) = self.stations.take_returned() {
            self.come_back(now, r, out);
            self.carry_out(now, out);
        }
        if !self.stations.known_at_once().is_empty() {
            self.share(now);
        }
        let beacon = self.stations.beacon_at();
        let due = self.forwarding.deadline().min(self.link_layer.deadline()).min(self.bridge.deadline()).min(beacon);
        if self.roaming.is_some() { due.min(self.next_stage(now)) } else { due }
    }

    /// Does what is due above the queues of the stations.
    fn wake_layers(&mut self, now: Time, out: &mut Out<'_>) {
        if self.stations.beacon_at() <= now {
            let (medium, mut moment) = self.split(now, out);
            while let Some(who) = moment.next_beacon() {
                medium.contend(&mut moment, who);
            }
        }
        if self.roaming.as_ref().is_some_and(|r| r.deadline() <= now) {
            self.roam(now, out);
        }
        while let Some((step, p)) = self.link_layer.take(now) {
            match step {
                Step::Down(station) => self.enqueue(now, station, &p, p.next_hop, out),
                Step::Up(station) => self.arrive(now, station, &p, out),
            }
        }
        if self.forwarding.deadline() <= now
            && let Some(agents) = self.forwarding.agents()
        {
            agents.wake(now, out.trace);
            self.carry_out(now, out);
        }
        if self.bridge.deadline() <= now {
            for ap in 0..self.bridge.chains().len() as StationId {
                if self.bridge.control(ap).deadline() <= now {
                    self.bridge.control(ap).wake(now, out);
                    self.take_passed(now, ap, out);
                }
            }
        }
    }
}

impl Bss {
    /// Tells the queues of stations what those of others want known at once, until nothing changes.
    #[cold]
    fn share(&mut self, now: Time) {
        let Medium::Field(field) = &mut self.medium else {
            return;
        };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for i in 0..self.stations.known_at_once().len() {
                let from = self.stations.known_at_once()[i];
                let Some(notice) = self.stations.notice(from, now) else {
                    continue;
                };
                changed = true;
                for h in field.hearers(now, from).iter().filter(|h| h.decodes) {
                    self.stations.told(h.station, from, &notice);
                }
            }
        }
    }
}

impl Bss {
    /// Ends an instant. Returns the next deadline.
    #[inline(always)]
    fn finish(&mut self, now: Time, out: &mut Out<'_>) -> Time {
        let layers = if self.has_layers { self.finish_layers(now, out) } else { Time::NEVER };
        let stations = self.stations.next_deadline().min(self.stations.reorder_at());
        self.due = self.medium.next_deadline();
        self.due.min(stations).min(layers)
    }

    /// Does what is due from `now` on, as long as nothing else happens. Returns the next deadline.
    #[inline(never)]
    fn run(&mut self, mut now: Time, out: &mut Out<'_>) -> Time {
        loop {
            now = self.wake(now, self.due <= now, out);
            let next = self.finish(now, out);
            if next <= now || next >= out.alone_until() {
                return next;
            }
            out.go_on(next);
            now = next;
        }
    }
}

impl Node for Bss {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        match input {
            Input::Wake => return self.run(now, out),
            Input::Packet(ap, p) if self.air.is_ap(ap) => {
                self.enter_ap(now, self.entrance(ap, p), Side::Wire, p, out);
            }
            Input::Packet(station, p) => self.route(now, station, p, out),
            Input::Rejected | Input::Left(_) => {}
        }
        self.finish(now, out)
    }
}
