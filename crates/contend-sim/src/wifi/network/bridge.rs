//! The bridges of the access points: routes, control blocks, and the hosts behind stations.

use crate::peer::{NodeId, Peer, WireId};
use crate::rng;
use crate::routing::Routed;
use crate::stats::QueueMeter;
use crate::wifi::client::Client;
use crate::wifi::ids::{Category, StationId};
use crate::wifi::sender::air::Air;
use crate::wifi::spec::{ApSpec, CellSpec};
use crate::world::Out;
use contend_core::Refusal;
use contend_core::ap::{Control, CycleModel, Facts, FlowFacts, Pass, Side};
use contend_core::qdisc::AirReport;
use contend_core::registry::Amount;
use contend_core::{Address, Cx, Packet, Rng, Span, Time};
use contend_theory::cycle_time::Cycle;
use contend_theory::dcf::Backoff;
use std::collections::VecDeque;

/// Where an access point forwards a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Over the air to a station.
    Air(StationId),
    /// Onto a wire.
    Wire(Peer),
}

/// Where packets to an address leave the air; `net/build.rs` makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The station that receives them last.
    pub station: StationId,
    /// Where this station hands them over: to the end of the flow, or to a wire or cable towards that end.
    pub to: Peer,
}

/// The routes of packets, by destination address.
#[derive(Debug, Default)]
pub struct Routes {
    /// For each access point, the exit for each address; `None` if packets to this address never pass it.
    pub exits: Vec<Vec<Option<Exit>>>,
    /// Where packets to each address leave the air; `None` if they are never on the air.
    pub homes: Vec<Option<Home>>,
    /// The category of packets to each address, in a station with categories.
    pub categories: Vec<Category>,
}

/// The access points as bridges.
#[derive(Debug)]
pub(super) struct Bridge {
    routes: Routes,
    /// The control blocks of each access point.
    control: Vec<Chain>,
}

/// The host behind a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    /// True if the host is told of packets that the queue drops.
    hears_drops: bool,
    /// The network card, the number of waiting packets at which it is paused, and the number at which it continues.
    pause: Option<(WireId, u64, u64)>,
    paused: bool,
}

impl Bridge {
    /// The bridges of access points with these control blocks.
    pub(super) fn new(routes: Routes, control: Vec<Chain>) -> Bridge {
        Bridge { routes, control }
    }

    /// Where the access point `ap` forwards `p`.
    #[inline]
    pub(super) fn exit(&self, ap: StationId, p: &Packet) -> Option<Exit> {
        *self.routes.exits.get(ap as usize)?.get(p.dst.0 as usize)?
    }

    /// The wire onto which the access point `ap` forwards `p` at once, if there is one.
    #[inline]
    pub(super) fn straight(&self, ap: StationId, p: &Packet) -> Option<Peer> {
        match self.exit(ap, p) {
            Some(Exit::Wire(peer)) if self.control.get(ap as usize).is_some_and(Chain::is_empty) => Some(peer),
            _ => None,
        }
    }

    /// Where `p` leaves the air.
    #[inline]
    pub(super) fn home(&self, p: &Packet) -> Option<Home> {
        *self.routes.homes.get(p.dst.0 as usize)?
    }

    /// The station where packets to `address` leave the air.
    pub(super) fn station_of(&self, address: Address) -> Option<StationId> {
        Some((*self.routes.homes.get(address.0 as usize)?)?.station)
    }

    /// `p` with the stations where it entered the air and where it leaves it.
    pub(super) fn routed(&self, p: &Packet) -> Option<Routed> {
        Some(Routed { packet: *p, source: self.station_of(p.src)?, destination: self.station_of(p.dst)? })
    }

    /// The node that sent `p`, if it is the host of a station.
    pub(super) fn source(&self, p: &Packet) -> Option<NodeId> {
        match (*self.routes.homes.get(p.src.0 as usize)?)?.to {
            Peer::Node(end, _) => Some(end),
            Peer::Wire(_) => None,
        }
    }

    /// The category of `p`, the same in both directions of a flow.
    #[inline]
    pub(super) fn category(&self, p: &Packet) -> Category {
        self.routes.categories.get(p.dst.0 as usize).copied().unwrap_or_default()
    }

    /// The control blocks of the access point `ap`.
    #[inline]
    pub(super) fn control(&mut self, ap: StationId) -> &mut Chain {
        &mut self.control[ap as usize]
    }

    /// The control blocks of all access points.
    pub(super) fn chains(&mut self) -> &mut [Chain] {
        &mut self.control
    }

    /// True if an access point has control blocks.
    pub(super) fn has_control(&self) -> bool {
        !self.control.iter().all(Chain::is_empty)
    }

    /// The earliest deadline of a control block.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.control.iter().fold(Time::NEVER, |earliest, chain| earliest.min(chain.deadline))
    }
}

impl Host {
    /// The host of a station with this client.
    pub(super) fn new(client: Option<&Client>) -> Host {
        Host { hears_drops: client == Some(&Client::Usb), pause: None, paused: false }
    }

    /// Puts a cable with a bridge between the station and the host. `nic` is paused when `pause.0` packets wait, and
    /// continues when `pause.1` packets wait.
    pub(super) fn convert(&mut self, nic: WireId, pause: Option<(u64, u64)>) {
        self.pause = pause.map(|(high, low)| (nic, high, low));
    }

    /// True if the host is told of packets that the queue drops.
    pub(super) fn hears_drops(&self) -> bool {
        self.hears_drops
    }

    /// Pauses or continues the network card if the number of `waiting` packets demands it.
    pub(super) fn watch(&mut self, waiting: u64, out: &mut Out<'_>) {
        let Some((nic, high, low)) = self.pause else { return };
        if (!self.paused && waiting >= high) || (self.paused && waiting <= low) {
            self.paused = !self.paused;
            out.pause(nic, self.paused);
        }
    }
}

/// The control blocks of an access point, in the order in which packets pass them.
#[derive(Debug, Default)]
pub(super) struct Chain {
    blocks: Vec<(Box<dyn Control>, Rng)>,
    meter: QueueMeter,
    /// Packets between two blocks, with the number of the next block.
    between: VecDeque<(usize, Side, Packet)>,
    /// Packets that have passed all blocks.
    done: Vec<(Side, Packet)>,
    out: Pass,
    deadline: Time,
    hears_air: bool,
}

impl Chain {
    /// The blocks of each access point of `spec`. `flows` has, for each access point, the facts about each flow.
    ///
    /// # Errors
    /// If a block refuses its parameters. The text names the block.
    pub(super) fn all(seed: u64, spec: &CellSpec, air: &Air, flows: &[Vec<FlowFacts>]) -> Result<Vec<Chain>, Refusal> {
        (0..).zip(spec.aps.iter().zip(flows)).map(|(id, (ap, flows))| Chain::new(seed, id, ap, air, flows)).collect()
    }

    /// True if a block needs reports of attempts on the air.
    pub(super) fn hears_air(&self) -> bool {
        self.hears_air
    }

    /// The blocks of the access point `ap`, whose number is `id`. The error names the block that refuses its
    /// parameters.
    fn new(seed: u64, id: StationId, ap: &ApSpec, air: &Air, flows: &[FlowFacts]) -> Result<Chain, Refusal> {
        let (name, buffer) = (&ap.station.name, ap.station.queue.limit().and_then(Amount::packets));
        let cycle_time = |model, down, up| cycle_time(air, id, model, down, up);
        let facts = Facts { buffer, flows, cycle_time: &cycle_time };
        let kinds: Vec<&str> = ap.control.iter().map(|c| c.entry.name).collect();
        let mut blocks = Vec::with_capacity(kinds.len());
        for (i, c) in ap.control.iter().enumerate() {
            let block =
                (c.entry.build)(&c.args, &facts).map_err(|e| e.of(format_args!("{name}.control: {}", kinds[i])))?;
            blocks.push((block, rng::stream(seed, name, &stream_purpose(&kinds, i))));
        }
        let hears_air = blocks.iter().any(|(b, _)| b.hears_air());
        let deadline = blocks.iter().map(|(b, _)| b.next_deadline()).min().unwrap_or(Time::NEVER);
        Ok(Chain { blocks, hears_air, deadline, ..Chain::default() })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The meter, and the packets that the blocks hold; `None` without a block.
    pub(super) fn reading(&mut self) -> Option<(&mut QueueMeter, u64)> {
        let held = self.blocks.iter().map(|(block, _)| block.held()).sum();
        (!self.blocks.is_empty()).then_some((&mut self.meter, held))
    }

    /// The earliest deadline of a block.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// A packet enters from `side`. The caller then [takes](Chain::take) the packets that have passed.
    pub(super) fn enter(&mut self, now: Time, side: Side, mut p: Packet, out: &mut Out<'_>) {
        p.queued = now;
        self.meter.offered(now);
        self.show(now, 0, side, p, out);
        self.run(now, out);
    }

    /// Wakes the blocks that are due.
    pub(super) fn wake(&mut self, now: Time, out: &mut Out<'_>) {
        for i in 0..self.blocks.len() {
            let (block, rng) = &mut self.blocks[i];
            if block.next_deadline() <= now {
                block.on_wake(&mut Cx { now, rng }, &mut self.out);
                self.collect(now, i, out);
            }
        }
        self.run(now, out);
    }

    /// Reports an attempt on the air to the blocks.
    pub(super) fn on_air(&mut self, report: &AirReport) {
        for (block, _) in &mut self.blocks {
            if block.hears_air() {
                block.on_air(report);
            }
        }
    }

    /// The packets that have passed all blocks, in order. The caller [gives the vector back](Chain::reuse), so that the
    /// next call needs no allocation.
    pub(super) fn take(&mut self) -> Vec<(Side, Packet)> {
        std::mem::take(&mut self.done)
    }

    /// Takes back the emptied vector.
    pub(super) fn reuse(&mut self, row: Vec<(Side, Packet)>) {
        if self.done.is_empty() {
            self.done = row;
        }
    }

    /// Passes packets from block to block until no packet is between two blocks.
    fn run(&mut self, now: Time, out: &mut Out<'_>) {
        while let Some((i, side, p)) = self.between.pop_front() {
            self.show(now, i, side, p, out);
        }
        self.deadline = self.blocks.iter().map(|(b, _)| b.next_deadline()).min().unwrap_or(Time::NEVER);
    }

    /// Shows `p` to block `i`.
    fn show(&mut self, now: Time, i: usize, side: Side, p: Packet, out: &mut Out<'_>) {
        let (block, rng) = &mut self.blocks[i];
        block.on_packet(&mut Cx { now, rng }, side, p, &mut self.out);
        self.collect(now, i, out);
    }

    /// Collects the output of block `i`.
    fn collect(&mut self, now: Time, i: usize, out: &mut Out<'_>) {
        self.meter.settle(now, &mut self.out.sink, out.trace);
        let next = i + 1;
        if next < self.blocks.len() {
            self.between.extend(self.out.packets.drain(..).map(|(side, p)| (next, side, p)));
            return;
        }
        self.out.packets.iter().for_each(|(_, p)| self.meter.taken(now, p));
        // Usually `done` is empty. Then the whole vector is swapped, and no packet is copied.
        if self.done.is_empty() {
            std::mem::swap(&mut self.done, &mut self.out.packets);
        } else {
            self.done.append(&mut self.out.packets);
        }
    }
}

/// CT of the access point `ap` and one station (Keceli 2008, spec S2.3), at the access point's own rate.
fn cycle_time(air: &Air, ap: StationId, model: CycleModel, down: u32, up: u32) -> Span {
    let cw = air.timing().setting;
    let backoff = Backoff { cw_min: cw.cw_min, cw_max: cw.cw_max, attempts: Some(air.timing().limits.short) };
    let cycle = match model {
        CycleModel::M1 => Cycle::m1(&backoff),
        CycleModel::M2 => Cycle::m2(&backoff),
    };
    let exchange = |bytes| air.exchange(ap, bytes).as_nanos() as f64;
    let ns = cycle.and_then(|c| c.time(air.timing().slot.as_nanos() as f64, exchange(down), exchange(up)));
    // If both stations always collide, there is no cycle.
    ns.map_or(Span::MAX, |ns| Span::from_nanos(libm::round(ns) as u64))
}

/// The purpose of the random stream of block `i` of a chain of `kinds`: its kind; from the second block of a kind on,
/// with a number.
fn stream_purpose(kinds: &[&str], i: usize) -> String {
    match kinds[..i].iter().filter(|kind| **kind == kinds[i]).count() {
        0 => kinds[i].to_owned(),
        earlier => format!("{}.{}", kinds[i], earlier + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_control_block_of_a_chain_has_its_own_random_stream() {
        let kinds = ["accf", "fcwa", "accf", "accf"];
        let purposes: Vec<String> = (0..kinds.len()).map(|i| stream_purpose(&kinds, i)).collect();
        assert_eq!(purposes, ["accf", "fcwa", "accf.2", "accf.3"]);
    }
}
