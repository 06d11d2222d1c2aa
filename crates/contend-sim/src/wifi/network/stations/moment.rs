//! The stations as the medium sees them: it asks what they would send, and reports what became of it.

use super::super::agents::is_urgent;
use super::super::air_link::AirLink;
use super::super::bridge::Bridge;
use super::super::observers::Observers;
use super::Stations;
use crate::wifi::access::Draw;
use crate::wifi::frame::Addba;
use crate::wifi::ids::{BROADCAST, Category, Contender, StationId};
use crate::wifi::sender::air::Air;
use crate::wifi::sender::around::Around;
use crate::wifi::sender::mac::{Accepted, Failure, Heard, Mac, Next};
use crate::wifi::sender::plan::{Answer, Burst, Content};
use crate::wifi::sender::queues::Queue;
use crate::world::Out;
use contend_core::qdisc::{AirReport, Sink};
use contend_core::{Packet, Span, Time};

/// The stations at one moment, with everything that an event may change except the medium. The medium asks and reports
/// through it.
pub(crate) struct Moment<'a, 'b> {
    pub(crate) now: Time,
    pub(crate) air: &'a Air,
    pub(crate) stations: &'a mut Stations,
    pub(crate) bridge: &'a mut Bridge,
    pub(crate) observers: &'a mut Observers,
    pub(crate) sink: &'a mut Sink,
    pub(crate) out: &'a mut Out<'b>,
}

impl Moment<'_, '_> {
    /// Before this instant the medium, which is woken, may go on: stations and the rest of the world do nothing before.
    #[inline]
    pub(crate) fn alone_until(&self) -> Time {
        self.stations.acts_at().min(self.out.alone_until())
    }

    /// The medium goes on to `at`, which comes before [`Moment::alone_until`].
    #[inline]
    pub(crate) fn go_on(&mut self, at: Time) {
        self.out.go_on(at);
        self.now = at;
    }

    // ---- packets come in ----

    /// Takes `p`, which `station` has to send to `to`. Returns the contender that now has a burst and had none before.
    pub(crate) fn accept(&mut self, station: StationId, p: &Packet, to: StationId) -> Option<Contender> {
        let category = self.bridge.category(p);
        let who = self.stations.contender(station, category);
        let free = self.stations.in_service(who).is_none();
        if self.stations.prefers_messages && is_urgent(p) && !free {
            self.with(who, |mac, around| mac.accept_urgent(around, p, to));
            return None;
        }
        match self.with(who, |mac, around| mac.accept(around, category, p, to)) {
            Accepted::Served => {
                self.stations.backlogged += 1;
                return Some(who);
            }
            Accepted::Queued => self.queued(who, station, category, free),
            Accepted::Stored => {}
        }
        if free {
            return self.take_next(who).then_some(who);
        }
        self.look_ahead(who);
        None
    }

    /// `who` has put a packet into its queue. `free`: nothing is in service.
    fn queued(&mut self, who: Contender, station: StationId, category: Category, free: bool) {
        if !self.sink.is_empty() {
            self.tell_of_drops(station);
            self.with(who, |mac, around| mac.settle(around, category));
        }
        let mac = &mut self.stations.macs[who as usize];
        if !free && mac.is_batched() && mac.queue(category).waiting() > 0 {
            self.with(who, |mac, around| mac.fill(around, category));
        }
        if self.stations.pauses {
            self.watch(station);
        }
    }

    /// Batches of `who`, which has one in service, are made as far as they may be.
    #[inline(always)]
    fn look_ahead(&mut self, who: Contender) {
        if self.stations.macs[who as usize].may_look_ahead() {
            self.make_ahead(who);
        }
    }

    fn make_ahead(&mut self, who: Contender) {
        self.with(who, |mac, around| mac.look_ahead(around));
        self.took(who);
    }

    /// Takes all packets for `next` out of the queue of `station`.
    pub(crate) fn purge(&mut self, station: StationId, next: StationId, out: &mut Vec<Packet>) {
        self.with(station, |mac, around| mac.purge(around, Category::Be, next, out));
    }

    /// Takes all packets for `next` out of all queues of `station`.
    pub(crate) fn purge_all(&mut self, station: StationId, next: StationId, out: &mut Vec<Packet>) {
        for who in self.stations.contenders(station) {
            self.with(who, |mac, around| mac.purge_all(around, next, out));
        }
    }

    /// The broadcast of `who` has been sent.
    pub(crate) fn broadcast_sent(&mut self, who: Contender) {
        self.stations.macs[who as usize].broadcast_sent();
    }

    /// The next access point whose beacon is due now: the contender that has it, and had none before.
    #[cold]
    pub(crate) fn next_beacon(&mut self) -> Option<Contender> {
        while let Some((who, bytes)) = self.stations.take_beacon(self.now) {
            if self.stations.macs[who as usize].beacon(self.now, bytes) {
                self.stations.backlogged += 1;
                return Some(who);
            }
        }
        None
    }

    /// The burst of `who` was received. If it is an action frame, its receiver answers a request; the sender of the
    /// request learns from the answer that it may send A-MPDUs. Returns the contender that now has a burst and had none
    /// before.
    #[cold]
    pub(crate) fn action_received(&mut self, who: Contender) -> Option<Contender> {
        let (from, to, category, addba) = self.stations.macs[who as usize].action_received()?;
        let answers = self.stations.contender(to, category);
        let free = self.stations.in_service(answers).is_none();
        let mac = &mut self.stations.macs[answers as usize];
        if addba.is_response {
            mac.agree(from, category);
            return None;
        }
        mac.owe_action(from, category, Addba { is_response: true, ..addba });
        (free && self.take_next(answers)).then_some(answers)
    }

    /// Tells sources whose host hears of drops which of their packets the queue of `station` has just dropped.
    fn tell_of_drops(&mut self, station: StationId) {
        if self.stations.hosts[station as usize].hears_drops() {
            for (p, _) in &self.sink.dropped {
                if let Some(source) = self.bridge.source(p) {
                    self.out.reject(source, p);
                }
            }
        }
    }

    /// Asks the queues of `who` again, which held packets back. True if `who` now has a burst and had none before.
    pub(crate) fn ask_again(&mut self, who: Contender) -> bool {
        let mac = &self.stations.macs[who as usize];
        // If a burst is in service and none may be fixed behind it, the queues are asked after it.
        let is_free = mac.in_service().is_none();
        if !is_free && !mac.may_look_ahead() {
            return false;
        }
        if mac.next_deadline() > self.now {
            self.stations.held_back.push(who);
            return false;
        }
        if !is_free {
            self.look_ahead(who);
            return false;
        }
        self.take_next(who)
    }

    fn take_next(&mut self, who: Contender) -> bool {
        let taken = self.with(who, |mac, around| mac.take_next(around));
        self.stations.backlogged += u32::from(taken);
        self.took(who);
        taken
    }

    // ---- the medium asks and reports ----

    /// A backoff for `who`, in slots.
    pub(crate) fn backoff(&mut self, who: Contender, why: Draw, heard: Heard<'_>) -> u64 {
        self.stations.macs[who as usize].backoff(self.now, why, heard)
    }

    /// The attempt of `who` starts. `alone` is true if no other attempt starts in the same instant.
    #[inline]
    pub(crate) fn started(&mut self, who: Contender, alone: bool) {
        self.stations.macs[who as usize].started(alone);
    }

    /// `who` has won the medium, perhaps with others, and begins a transmission opportunity.
    #[inline]
    pub(crate) fn wins(&mut self, who: Contender) {
        if self.stations.macs[who as usize].is_open() {
            self.with(who, |mac, around| mac.extend(around));
            self.took(who);
        }
        self.stations.macs[who as usize].wins();
    }

    /// The burst of `who` was acknowledged, see [`Mac::answered`].
    pub(crate) fn answered(&mut self, who: Contender, heard: Heard<'_>, snr: Option<f64>, held: Span) -> Next {
        let next = self.with(who, |mac, around| mac.answered(around, heard, snr, held));
        self.done(who, next)
    }

    /// The attempt of `who` failed, see [`Mac::not_answered`].
    pub(crate) fn not_answered(&mut self, who: Contender, heard: Heard<'_>, missing: Answer, failure: Failure) -> Next {
        let next = self.with(who, |mac, around| mac.not_answered(around, heard, missing, failure));
        self.done(who, next)
    }

    /// Reports that an attempt of `who`, which took `airtime`, has ended: to the discipline and the control blocks of
    /// the access point at one end of it, if there is one.
    #[inline]
    pub(crate) fn report(&mut self, who: Contender, airtime: Span, success: bool) {
        if !self.stations.reports {
            return;
        }
        let Some(s) = self.stations.in_service(who) else { return };
        let Burst { from, to, bytes, content, .. } = s.burst;
        let up = !self.air.is_ap(from);
        let (ap, station) = if up { (to, from) } else { (from, to) };
        if !self.air.is_ap(ap) || to == BROADCAST || matches!(content, Content::Action(_)) {
            return;
        }
        // With categories, only the queue of the frame's category gets the report.
        let category = self.bridge.category(&s.packet);
        let queue_owner = self.stations.contender(ap, category);
        let mac = &mut self.stations.macs[queue_owner as usize];
        let waiting = mac.queue(category).waiting();
        let report = AirReport { now: self.now, station, up, airtime, success, bytes, waiting };
        mac.hear(category, &report);
        self.bridge.control(ap).on_air(&report);
    }

    /// Contenders with a burst, besides `who`.
    #[inline]
    pub(crate) fn others(&self, who: Contender) -> u32 {
        self.stations.backlogged - u32::from(self.stations.in_service(who).is_some())
    }

    /// After an attempt of `who`, which had a burst.
    #[inline]
    fn done(&mut self, who: Contender, next: Next) -> Next {
        self.stations.backlogged -= u32::from(!next.has_burst());
        if !matches!(next, Next::Again(_)) {
            self.took(who);
        }
        next
    }

    /// `who` has just asked its queues for the next packet.
    #[inline]
    fn took(&mut self, who: Contender) {
        let mac = &self.stations.macs[who as usize];
        let station = mac.station();
        if mac.is_held_back() && !self.stations.held_back.contains(&who) {
            self.stations.held_back.push(who);
        }
        if self.stations.pauses {
            self.watch(station);
        }
    }

    /// Pauses or continues the network card in front of `station`, as its fullest queue demands.
    fn watch(&mut self, station: StationId) {
        let queues = self.stations.macs_of(station).flat_map(|mac| mac.queues().all());
        let waiting = queues.map(Queue::waiting).max().unwrap_or(0);
        self.stations.hosts[station as usize].watch(waiting, self.out);
    }

    /// Calls `f` with the Mac of `who` and what it needs of its surroundings.
    #[inline]
    fn with<R>(&mut self, who: Contender, f: impl FnOnce(&mut Mac, &mut Around<'_>) -> R) -> R {
        let Stations { macs, extras, .. } = &mut *self.stations;
        let mac = &mut macs[who as usize];
        let (now, air, observers) = (self.now, self.air, &*self.observers);
        let link = AirLink { now, air, observers, station: mac.station() };
        let (station, sink, trace) = (mac.station(), &mut *self.sink, &mut *self.out.trace);
        let result = f(mac, &mut Around { now, air, link: &link, sink, trace, extras });
        if self.stations.extras.left.as_ref().is_some_and(|left| !left.is_empty()) {
            self.tell_of_left(station);
        }
        result
    }

    /// Tells sources whose packets have left `station`, which is theirs.
    #[cold]
    fn tell_of_left(&mut self, station: StationId) {
        let Some(left) = &mut self.stations.extras.left else { return };
        for together in left.chunk_by(|a, b| a.src == b.src) {
            let Some(p) = together.first().filter(|p| self.bridge.station_of(p.src) == Some(station)) else { continue };
            if let Some(source) = self.bridge.source(p) {
                self.out.left(source, together.iter().map(|p| p.size).sum(), p);
            }
        }
        left.clear();
    }
}
