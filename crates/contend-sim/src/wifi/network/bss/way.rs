//! The way of a packet through the stations of a channel.
//!
//! | step | where the packet is | what follows |
//! | --- | --- | --- |
//! | `Node::handle` of [`Bss`] | at the port of a station, which is its number | [`Bss::enter_ap`] or [`Bss::route`] |
//! | [`Bss::enter_ap`] | in an access point, before its control blocks | [`Bss::leave_ap`], when they let it pass |
//! | [`Bss::leave_ap`] | in an access point, after them | a wire, [`Bss::down`], or [`Bss::route`] |
//! | [`Bss::route`] | in the network layer of a station | [`Bss::down`], by way of the routing agent if there is one |
//! | [`Bss::down`] | in the link layer, downwards | [`Bss::enqueue`], after its delay |
//! | [`Bss::enqueue`] | before a queue; while a station scans or changes its access point, the packet is held there | the queue |
//! | [`Bss::enqueue`] | in the queue of a station | the medium; a Mac may give it up: [`Bss::come_back`] |
//! | [`Bss::receive_in_field`] | at the receiver of its frame | [`Bss::up`] |
//! | [`Bss::up`] | in the link layer, upwards | [`Bss::arrive`], after its delay |
//! | [`Bss::arrive`] | in the network layer of a station | its host or agent, [`Bss::enter_ap`], or [`Bss::route`] |
//! | [`Bss::come_back`] | in the network layer of its transmitter | the routing agent |
//!
//! In a cell link layers take no time and stations forward nothing: from [`Bss::receive_in_cell`] a packet goes to its
//! host, onto a wire, or to [`Bss::enter_ap`].

use super::super::agents::is_copy;
use super::super::bridge::Exit;
use super::super::forwarding::{Forwarding, Step};
use super::{Bss, Medium};
use crate::trace::Event;
use crate::wifi::ids::{BROADCAST, Contender, StationId};
use crate::wifi::sender::around::Returned;
use crate::world::Out;
use contend_core::ap::Side;
use contend_core::{Packet, Time};

impl Bss {
    /// A packet enters the access point `ap` from `side`.
    pub(super) fn enter_ap(&mut self, now: Time, ap: StationId, side: Side, p: &Packet, out: &mut Out<'_>) {
        if self.bridge.control(ap).is_empty() {
            self.leave_ap(now, ap, side, p, out);
            return;
        }
        self.bridge.control(ap).enter(now, side, *p, out);
        self.take_passed(now, ap, out);
    }

    /// Takes the packets that the control blocks of `ap` let pass.
    pub(super) fn take_passed(&mut self, now: Time, ap: StationId, out: &mut Out<'_>) {
        let mut passed = self.bridge.control(ap).take();
        for (side, p) in passed.drain(..) {
            self.leave_ap(now, ap, side, &p, out);
        }
        self.bridge.control(ap).reuse(passed);
    }

    /// Forwards a packet from `side` that has passed the control blocks of the access point `ap`.
    fn leave_ap(&mut self, now: Time, ap: StationId, side: Side, p: &Packet, out: &mut Out<'_>) {
        match self.bridge.exit(self.door(ap, side, p), p) {
            Some(Exit::Wire(peer)) => out.send(peer, p),
            Some(Exit::Air(station)) if self.forwarding.is_infrastructure() => self.down(now, ap, p, station, out),
            Some(Exit::Air(_)) => self.route(now, ap, p, out),
            None => self.drop(now, p, out),
        }
    }

    /// `station` sends `p` on towards the station where it leaves the air.
    #[inline(always)]
    pub(super) fn route(&mut self, now: Time, station: StationId, p: &Packet, out: &mut Out<'_>) {
        if let Forwarding::Agents(_) = self.forwarding {
            return self.ask_agent(now, station, p, out);
        }
        let home = || self.bridge.home(p).map(|h| h.station);
        match self.forwarding.next_hop(station, self.air.is_ap(station), home) {
            Some(next) => self.down(now, station, p, next, out),
            None => {
                self.drop(now, p, out);
                if let Some(source) = self.bridge.source(p).filter(|_| self.bridge.station_of(p.src) == Some(station)) {
                    out.left(source, p.size, p);
                }
            }
        }
    }

    /// The routing agent of `station` gets `p`.
    fn ask_agent(&mut self, now: Time, station: StationId, p: &Packet, out: &mut Out<'_>) {
        match (self.bridge.routed(p), self.forwarding.agents()) {
            (Some(routed), Some(agents)) => {
                agents.forward(now, station, &routed, out.trace);
                self.carry_out(now, out);
            }
            _ => self.drop(now, p, out),
        }
    }

    /// Does what routing agents want until nothing is left: packets go into queues, purged packets back to the agents.
    pub(super) fn carry_out(&mut self, now: Time, out: &mut Out<'_>) {
        loop {
            let Some(agents) = self.forwarding.agents().filter(|a| a.has_work()) else {
                return;
            };
            let mut ready = agents.take_ready();
            let (purge, unanswered) = (agents.take_purge(), agents.take_unanswered());
            for (station, p) in ready.drain(..) {
                self.down(now, station, &p, p.next_hop, out);
            }
            if let Some((station, next, packet)) = unanswered {
                self.unreachable(now, Returned { station, next, packet, delivered: false }, out);
            }
            if let Some((station, next)) = purge {
                let mut purged = Vec::new();
                let (_, mut moment) = self.split(now, out);
                moment.purge(station, next, &mut purged);
                for p in &purged {
                    self.come_back(now, Returned { station, next, packet: *p, delivered: false }, out);
                }
            }
            if let Some(agents) = self.forwarding.agents() {
                agents.reuse(ready);
            }
        }
    }

    /// Gives `p` to the link layer of `station`, which has to send it to `to`.
    #[inline]
    fn down(&mut self, now: Time, station: StationId, p: &Packet, to: StationId, out: &mut Out<'_>) {
        if self.link_layer.is_instant() {
            self.enqueue(now, station, p, to, out);
        } else {
            self.link_layer.put(now, Step::Down(station), p.toward(to));
        }
    }

    /// Puts `p`, whose next hop is `to`, into the queue of `station`.
    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, station: StationId, p: &Packet, to: StationId, out: &mut Out<'_>) {
        let (station, to) = self.present(station, to);
        if let Some(roaming) = &mut self.roaming
            && roaming.hold(station, to, p)
        {
            return;
        }
        let (medium, mut moment) = self.split(now, out);
        if let Some(who) = moment.accept(station, p, to) {
            medium.contend(&mut moment, who);
        }
    }

    /// In a cell, the receiver has got the burst of `who` and forwards its packets.
    #[inline]
    pub(super) fn receive_in_cell(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        if self.stations.negotiate() {
            self.receive_action(now, who, out);
        }
        while let Some((ap, packet)) = self.pass_straight(who, out) {
            self.enter_ap(now, ap, Side::Air, &packet, out);
        }
        self.stations.hold(now, who);
    }

    /// The receiver of the burst of `who` forwards packets, as long as they go on at once: most do, and need not be
    /// copied. Returns the first one that does not, and the access point that has it.
    #[inline(always)]
    fn pass_straight(&mut self, who: Contender, out: &mut Out<'_>) -> Option<(StationId, Packet)> {
        let Bss { stations, air, bridge, roaming, .. } = self;
        let mut passed = stations.received(who);
        while let Some((to, packet)) = passed.next() {
            if !air.is_ap(to) {
                if let Some(home) = bridge.home(packet) {
                    out.send(home.to, packet);
                }
            } else if roaming.is_none()
                && let Some(wire) = bridge.straight(to, packet)
            {
                out.send(wire, packet);
            } else {
                return Some((to, *packet));
            }
        }
        None
    }

    /// If the burst of `who` is an action frame, its receiver acts on it.
    #[cold]
    fn receive_action(&mut self, now: Time, who: Contender, out: &mut Out<'_>) {
        let (medium, mut moment) = self.split(now, out);
        if let Some(answers) = moment.action_received(who) {
            medium.contend(&mut moment, answers);
        }
    }

    /// Receivers forward what they have held for too long.
    #[cold]
    pub(super) fn pass_late(&mut self, now: Time, out: &mut Out<'_>) {
        while let Some((who, to, packet)) = self.stations.pass_late(now) {
            if matches!(self.medium, Medium::Field(_)) {
                self.up(now, who, to, packet, out);
            } else if self.air.is_ap(to) {
                self.enter_ap(now, to, Side::Air, &packet, out);
            } else if let Some(home) = self.bridge.home(&packet) {
                out.send(home.to, &packet);
            }
        }
    }

    /// In a field, the station `by` has got the burst of `who`.
    pub(super) fn receive_in_field(&mut self, now: Time, who: Contender, by: StationId, out: &mut Out<'_>) {
        if let Some(p) = self.stations.packet(who).filter(|p| p.next_hop == BROADCAST) {
            let packet = *p;
            return self.up(now, who, by, packet, out);
        }
        if self.stations.negotiate() {
            self.receive_action(now, who, out);
        }
        while let Some((station, packet)) = self.stations.received(who).next() {
            let packet = *packet;
            self.up(now, who, station, packet, out);
        }
        self.stations.hold(now, who);
    }

    /// Gives `packet`, which `station` has got from `who`, to the link layer of `station`.
    pub(super) fn up(&mut self, now: Time, who: Contender, station: StationId, mut packet: Packet, out: &mut Out<'_>) {
        if packet.is_message() {
            packet.hops = u8::from(packet.next_hop == BROADCAST);
            packet.next_hop = self.stations.station_of(who);
        }
        if self.link_layer.is_instant() {
            self.arrive(now, station, &packet, out);
        } else {
            self.link_layer.put(now, Step::Up(station), packet);
        }
    }

    /// A packet has arrived at `station` over the air.
    pub(super) fn arrive(&mut self, now: Time, station: StationId, p: &Packet, out: &mut Out<'_>) {
        if p.is_message() {
            // On its way up, `next_hop` is the neighbour that sent the frame, and `hops` is 1 if it was for all.
            if let Some(agents) = self.forwarding.agents() {
                agents.message(now, station, p.next_hop, p, !is_copy(p), out.trace);
                self.carry_out(now, out);
            }
            return;
        }
        let is_ap = self.air.is_ap(station);
        if is_ap && self.forwarding.is_infrastructure() {
            return self.enter_ap(now, station, Side::Air, p, out);
        }
        let home = self.bridge.home(p);
        if is_ap && home.is_none_or(|h| h.station == station) {
            self.enter_ap(now, station, Side::Air, p, out);
        } else if let Some(h) = home.filter(|h| h.station == station) {
            if let Some(local) = self.observers.local(station, now) {
                out.tell(p.dst, local);
            }
            out.send(h.to, p);
        } else {
            let mut p = *p;
            p.hops = p.hops.saturating_add(1);
            self.route(now, station, &p, out);
        }
    }

    /// A packet comes back from the MAC or the queue of a station: its next hop could not be reached.
    pub(super) fn come_back(&mut self, now: Time, r: Returned, out: &mut Out<'_>) {
        if !r.delivered
            && let Some(agents) = self.forwarding.agents()
        {
            agents.comes_back(now);
        }
        self.unreachable(now, r, out);
    }

    /// Tells the routing agent of a station that a next hop could not be reached.
    fn unreachable(&mut self, now: Time, r: Returned, out: &mut Out<'_>) {
        let routed = if r.packet.is_message() || r.delivered { None } else { self.bridge.routed(&r.packet) };
        let Some(agents) = self.forwarding.agents() else {
            return;
        };
        if r.packet.is_message() && !r.delivered {
            agents.message_lost(now, &r.packet);
        }
        agents.failed(now, r.station, r.next, routed.as_ref(), out.trace);
    }

    /// Drops `p`, for which there is no route.
    #[cold]
    fn drop(&mut self, now: Time, p: &Packet, out: &mut Out<'_>) {
        self.unroutable += 1;
        out.trace.packet(now, Event::Dropped, p);
    }
}
