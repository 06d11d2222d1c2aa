//! A basic service set: the access point and its stations on one channel, one node of the world.
//!
//! The node is made of the stations' Macs (`Stations`), the medium (`Cell`) and the access point's bridge
//! (`Bridge`); it passes packets and wake-ups on to them.

use super::air::Air;
use super::bridge::{Bridge, Exit, Routes};
use super::cell::Cell;
use super::counters::{Rivals, StationCounters, Waits};
use super::ledger::Ledger;
use super::spec::CellSpec;
use super::stations::{Senders, Stations};
use super::{AP, Contender, FrameLog, StationId, Success};
use crate::peer::WireId;
use crate::rng;
use crate::stats::QueueMeter;
use crate::trace::Event;
use crate::world::{Input, Node, Out};
use contend_core::ap::{FlowFacts, Side};
use contend_core::qdisc::Sink;
use contend_core::registry::Amount;
use contend_core::{FlowId, Packet, Time};

/// An access point and its stations.
#[derive(Debug)]
pub struct Bss {
    air: Air,
    stations: Stations,
    medium: Cell,
    bridge: Bridge,
    /// What disciplines drop, used again and again.
    sink: Sink,
}

impl Bss {
    /// The access point and the stations of `spec`. `facts` are what control blocks may be told of each flow; `flow`
    /// turns a flow's name into its number.
    ///
    /// # Errors
    /// When an algorithm refuses its parameters, or the PHY does not have a rate: the text names the station.
    pub fn new(
        seed: u64,
        spec: &CellSpec,
        routes: Routes,
        facts: &[FlowFacts],
        flow: &dyn Fn(&str) -> Option<FlowId>,
    ) -> Result<Bss, String> {
        let air = Air::new(spec)?;
        let stations = Stations::new(seed, spec, &air)?;
        let losses = std::iter::once(&spec.ap).chain(&spec.stations).map(|s| match &s.loss {
            Some(c) => match (c.entry.build)(&c.args, flow) {
                Ok(loss) => Ok(Some((loss, rng::stream(seed, &s.name, "loss")))),
                Err(e) => Err(format!("{}: {e}", s.name)),
            },
            None => Ok(None),
        });
        let options = (spec.mac.busy_slot, spec.mac.idle_access);
        let medium =
            Cell::new(&stations.backoff_rules(&spec.phy), spec.phy.slot, losses.collect::<Result<_, _>>()?, options);
        let buffer = spec.ap.queue.limit().and_then(Amount::packets);
        let bridge = Bridge::new(seed, spec, &air, routes, facts, buffer)?;
        Ok(Bss { air, stations, medium, bridge, sink: Sink::default() })
    }

    /// Puts a cable with a bridge between station `who` and its host: `nic`, the wire that brings what the host sends,
    /// is paused when `pause.0` packets wait and goes on when `pause.1` do.
    pub fn convert(&mut self, who: StationId, nic: WireId, pause: Option<(u64, u64)>) {
        self.stations.convert(who, nic, pause);
    }

    /// The port at which packets from station `who`'s own host come in; [`AP`]'s is where wires end.
    pub fn port(who: StationId) -> u32 {
        who
    }

    /// Meter of the control blocks, when there are any: what they hold counts as waiting.
    pub fn control_meter(&mut self) -> Option<&mut QueueMeter> {
        self.bridge.control().meter()
    }

    /// Names of the queues behind those of the stations: of the categories other than best effort, where stations have
    /// categories.
    pub fn category_queue_names(&self) -> &[String] {
        self.stations.category_queue_names()
    }

    /// Meter of queue number `i`: those of the stations by [`StationId`], then those of
    /// [`Bss::category_queue_names`].
    pub fn meter(&mut self, i: usize) -> Option<&mut QueueMeter> {
        self.stations.meter(i)
    }

    /// What `who` did so far.
    pub fn counters(&self, who: StationId) -> Option<StationCounters> {
        self.stations.counters(who)
    }

    /// Packets in service at `who` that have not reached their receiver: 1 or 0, with categories up to 4.
    pub fn in_service(&self, who: StationId) -> u64 {
        self.stations.carried(who)
    }

    /// Number of stations, the access point included.
    pub fn size(&self) -> usize {
        self.stations.len()
    }

    /// Times at which two or more stations sent at once.
    pub fn collisions(&self) -> u64 {
        self.medium.collisions()
    }

    /// With whom the access point contends.
    pub fn rivals(&self) -> Rivals {
        self.medium.rivals()
    }

    /// How many slots were idle before transmissions.
    pub fn waits(&self) -> Waits {
        self.medium.waits()
    }

    /// From now on keeps who succeeds: four bytes an exchange.
    pub fn keep_successes(&mut self) {
        self.medium.keep_successes();
    }

    /// Every exchange that ended with an ACK, in the order of their ends; empty unless they are kept.
    pub fn successes(&self) -> &[Success] {
        self.medium.successes()
    }

    /// From now on keeps up to `limit` frames that start in `from..to`.
    pub fn keep_frames(&mut self, from: Time, to: Time, limit: usize) {
        self.medium.keep_frames(FrameLog::new(from, to, limit));
    }

    /// The frames kept; `None` unless they are kept.
    pub fn frames(&self) -> Option<&FrameLog> {
        self.medium.frames()
    }

    /// The books as of `now`. An exchange that is on the air is booked up to its last completed part.
    pub fn ledger(&self, now: Time) -> Ledger {
        self.medium.ledger(now)
    }

    /// The medium, and the stations in this instant.
    #[inline]
    fn split<'a, 'b>(&'a mut self, now: Time, out: &'a mut Out<'b>) -> (&'a mut Cell, Senders<'a, 'b>) {
        let Bss { air, stations, medium, bridge, sink } = self;
        (medium, Senders { now, air, stations, bridge, sink, out })
    }

    /// `station` gets `p` to send.
    fn accept(&mut self, now: Time, station: StationId, p: &Packet, out: &mut Out<'_>) {
        let (medium, mut senders) = self.split(now, out);
        if let Some(who) = senders.accept(station, p) {
            medium.contend(&mut senders, who);
        }
    }

    /// A packet enters the access point from `side`.
    fn enter(&mut self, now: Time, side: Side, p: &Packet, out: &mut Out<'_>) {
        if self.bridge.control().is_empty() {
            self.forward(now, p, out);
            return;
        }
        self.bridge.control().enter(now, side, *p, out);
        self.release(now, out);
    }

    /// Forwards what the control blocks have let go.
    fn release(&mut self, now: Time, out: &mut Out<'_>) {
        let mut passed = self.bridge.control().take();
        for (_, p) in passed.drain(..) {
            self.forward(now, &p, out);
        }
        self.bridge.control().reuse(passed);
    }

    /// Sends a packet that has entered the access point on its way.
    fn forward(&mut self, now: Time, p: &Packet, out: &mut Out<'_>) {
        match self.bridge.exit(p) {
            Some(Exit::Wire(peer)) => out.send(peer, p),
            Some(Exit::Air { .. }) => self.accept(now, AP, p, out),
            None => out.trace.packet(now, Event::Dropped, p),
        }
    }

    /// The burst of `who` has been received: its receiver hands on what it carries.
    fn deliver(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        match self.stations.received(who) {
            Some((AP, packet)) => {
                let packet = *packet;
                self.enter(now, Side::Air, &packet, out);
            }
            Some((_, packet)) => {
                if let Some(Exit::Air { host, .. }) = self.bridge.exit(packet) {
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
        if self.bridge.control().deadline() <= now {
            self.bridge.control().wake(now, out);
            self.release(now, out);
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
            Input::Packet(AP, p) => self.enter(now, Side::Wire, p, out),
            Input::Packet(port, p) => self.accept(now, port, p, out),
            Input::Wake => self.wake(now, out),
            Input::Rejected => {}
        }
        let others = self.bridge.control().deadline().min(self.stations.next_deadline());
        self.medium.next_deadline().min(others)
    }
}
