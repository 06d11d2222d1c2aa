//! A basic service set: the access points and stations of one channel, one node of the world.
//!
//! The node contains the Macs of the stations (`Stations`), the medium (`Cell`) and the bridges of the access points
//! (`Bridge`). It forwards packets and wake-ups to them.

use super::air::Air;
use super::bridge::{Bridge, Exit, Home, Routes};
use super::cell::Cell;
use super::counters::{Rivals, StationCounters, Waits};
use super::ledger::Ledger;
use super::mac::Queue;
use super::spec::CellSpec;
use super::stations::{Senders, Stations};
use super::{AP, Contender, FrameLog, StationId, Success};
use crate::peer::WireId;
use crate::rng;
use crate::stats::{QueueMeter, TransmitterCounters};
use crate::trace::Event;
use crate::world::{Input, Node, Out};
use contend_core::ap::{FlowFacts, Side};
use contend_core::qdisc::Sink;
use contend_core::{FlowId, Packet, Time};

/// The access points and stations of a channel.
#[derive(Debug)]
pub struct Bss {
    air: Air,
    stations: Stations,
    medium: Cell,
    bridge: Bridge,
    /// The sink of all disciplines, kept so that a drop needs no allocation.
    sink: Sink,
}

impl Bss {
    /// The access points and the stations of `spec`. `facts` has the facts about each flow for control blocks; `flow`
    /// maps the name of a flow to its number.
    ///
    /// # Errors
    /// If an algorithm refuses its parameters, or the PHY does not have a rate. The text names the station.
    pub fn new(
        seed: u64,
        spec: &CellSpec,
        routes: Routes,
        facts: &[FlowFacts],
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Bss, String> {
        let air = Air::new(spec)?;
        let bridge = Bridge::new(seed, spec, &air, routes, facts)?;
        let stations = Stations::new(seed, spec, &air, bridge.hears_air())?;
        let losses = spec.members().map(|s| match &s.loss {
            Some(c) => match (c.entry.build)(&c.args, flow) {
                Ok(loss) => Ok(Some((loss, rng::stream(seed, &s.name, "loss")))),
                Err(e) => Err(format!("{}: {e}", s.name)),
            },
            None => Ok(None),
        });
        let options = (spec.mac.busy_slot, spec.mac.idle_access);
        let medium =
            Cell::new(&stations.backoff_rules(&spec.phy), spec.phy.slot, losses.collect::<Result<_, _>>()?, options);
        Ok(Bss { air, stations, medium, bridge, sink: Sink::default() })
    }

    /// Puts a cable with a bridge between station `who` and its host. The wire `nic` carries the packets of the host.
    /// It is paused when `pause.0` packets wait, and continues when `pause.1` packets wait.
    pub fn convert(&mut self, who: StationId, nic: WireId, pause: Option<(u64, u64)>) {
        self.stations.convert(who, nic, pause);
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
        self.stations.queue(i).map(Queue::reading)
    }

    /// The counters of `who`.
    pub fn counters(&self, who: StationId) -> Option<StationCounters> {
        self.stations.counters(who)
    }

    /// What became by `now` of the packets that `who` took from its queues. It carries the packet in service until the
    /// packet reaches its receiver: 0 or 1 packets, with categories 0 to 4.
    pub fn transmitter(&self, who: StationId, now: Time) -> Option<TransmitterCounters> {
        self.stations.transmitter(who, now)
    }

    /// Number of stations, access points included.
    pub fn size(&self) -> usize {
        self.stations.len()
    }

    /// Number of collisions.
    pub fn collisions(&self) -> u64 {
        self.medium.collisions()
    }

    /// The contenders that the access point met.
    pub fn rivals(&self) -> Rivals {
        self.medium.rivals()
    }

    /// The idle slots before transmissions.
    pub fn waits(&self) -> Waits {
        self.medium.waits()
    }

    /// From now on keeps every success, in four bytes each.
    pub fn keep_successes(&mut self) {
        self.medium.keep_successes();
    }

    /// The exchanges that ended with an ACK, in the order of their ends; empty if they are not kept.
    pub fn successes(&self) -> &[Success] {
        self.medium.successes()
    }

    /// From now on keeps up to `limit` frames that start in `from..to`.
    pub fn keep_frames(&mut self, from: Time, to: Time, limit: usize) {
        self.medium.keep_frames(FrameLog::new(from, to, limit));
    }

    /// The kept frames; `None` if frames are not kept.
    pub fn frames(&self) -> Option<&FrameLog> {
        self.medium.frames()
    }

    /// The ledger at `now`. The exchange on the air is booked up to its last completed part.
    pub fn ledger(&self, now: Time) -> Ledger {
        self.medium.ledger(now)
    }

    /// The medium, and the stations in this instant.
    #[inline]
    fn split<'a, 'b>(&'a mut self, now: Time, out: &'a mut Out<'b>) -> (&'a mut Cell, Senders<'a, 'b>) {
        let Bss { air, stations, medium, bridge, sink } = self;
        (medium, Senders { now, air, stations, bridge, sink, out })
    }

    /// Gives `p` to `station`, which has to send it to `to`.
    fn accept(&mut self, now: Time, station: StationId, p: &Packet, to: StationId, out: &mut Out<'_>) {
        let (medium, mut senders) = self.split(now, out);
        if let Some(who) = senders.accept(station, p, to) {
            medium.contend(&mut senders, who);
        }
    }

    /// A packet enters the access point `ap` from `side`.
    fn enter(&mut self, now: Time, ap: StationId, side: Side, p: &Packet, out: &mut Out<'_>) {
        if self.bridge.control(ap).is_empty() {
            self.forward(now, ap, p, out);
            return;
        }
        self.bridge.control(ap).enter(now, side, *p, out);
        self.release(now, ap, out);
    }

    /// Forwards the packets that have passed the control blocks of `ap`.
    fn release(&mut self, now: Time, ap: StationId, out: &mut Out<'_>) {
        let mut passed = self.bridge.control(ap).take();
        for (_, p) in passed.drain(..) {
            self.forward(now, ap, &p, out);
        }
        self.bridge.control(ap).reuse(passed);
    }

    /// Forwards a packet that has entered the access point `ap`.
    fn forward(&mut self, now: Time, ap: StationId, p: &Packet, out: &mut Out<'_>) {
        match self.bridge.exit(ap, p) {
            Some(Exit::Wire(peer)) => out.send(peer, p),
            Some(Exit::Air(station)) => self.accept(now, ap, p, station, out),
            None => out.trace.packet(now, Event::Dropped, p),
        }
    }

    /// The receiver has got the burst of `who` and forwards its packet.
    fn deliver(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        match self.stations.received(who) {
            Some((ap, packet)) if self.air.is_ap(ap) => {
                let packet = *packet;
                self.enter(now, ap, Side::Air, &packet, out);
            }
            Some((_, packet)) => {
                if let Some(Home { host, .. }) = self.bridge.home(packet) {
                    out.send(host, packet);
                }
            }
            None => {}
        }
    }

    /// Does what is due at `now`.
    fn wake(&mut self, now: Time, out: &mut Out<'_>) {
        let (medium, mut senders) = self.split(now, out);
        if let Some(who) = medium.wake(&mut senders) {
            self.deliver(now, who, out);
        }
        if self.bridge.deadline() <= now {
            for ap in 0..self.bridge.chains().len() as StationId {
                if self.bridge.control(ap).deadline() <= now {
                    self.bridge.control(ap).wake(now, out);
                    self.release(now, ap, out);
                }
            }
        }
        if self.stations.next_deadline() <= now {
            let (medium, mut senders) = self.split(now, out);
            for who in senders.stations.take_held_back() {
                if senders.ask_again(who) {
                    medium.contend(&mut senders, who);
                }
            }
        }
    }
}

impl Node for Bss {
    fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Out<'_>) -> Time {
        match input {
            Input::Packet(ap, p) if self.air.is_ap(ap) => self.enter(now, ap, Side::Wire, p, out),
            Input::Packet(station, p) => self.accept(now, station, p, AP, out),
            Input::Wake => self.wake(now, out),
            Input::Rejected => {}
        }
        let others = self.bridge.deadline().min(self.stations.next_deadline());
        self.medium.next_deadline().min(others)
    }
}
