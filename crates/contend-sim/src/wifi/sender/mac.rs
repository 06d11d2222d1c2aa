//! One Mac, a sender of the channel (in contention: a contender): its queues, the burst in service, retries, sequence
//! numbers, and the access rule.
//!
//! A Mac never looks at the medium. The medium asks what the Mac would send ([`Mac::in_service`]) and reports the
//! outcome of the attempt ([`Mac::answered`], [`Mac::not_answered`]). The Mac returns what it does next and after which
//! backoff ([`Next`]).

mod batched;

use self::batched::Batches;
use super::around::{Around, Returned, rate};
use super::counters::StationCounters;
use super::plan::{Answer, Burst, Content, PartKind};
use super::queues::{Queue, Queues};
use super::rates::{AttemptOutcome, Chosen};
use super::store::{Batch, Passed, Store};
use super::timing::Limits;
use crate::stats::{QueueMeter, count};
use crate::trace::Event;
use crate::wifi::access::{Access, Channel, Draw, Seen};
use crate::wifi::frame::Addba;
use crate::wifi::ids::{BROADCAST, Category, StationId};
use crate::wifi::medium::phy::Protection;
use crate::wifi::spec::TxopProtection;
use contend_core::packet::Body;
use contend_core::qdisc::{AirReport, Qdisc};
use contend_core::{Cx, FlowId, Packet, Rng, Span, Time};

/// One sender: a station, or one category of a station whose categories contend separately.
#[derive(Debug)]
pub(crate) struct Mac {
    station: StationId,
    in_service: Option<InService>,
    sequence: u16,
    limits: Limits,
    access: Box<dyn Access>,
    /// [`Access::txop`].
    txop: Span,
    rng: Rng,
    counters: StationCounters,
    /// Routing messages, which are served before the queue of best effort; the last comes first, as in ns-2.
    urgent: Vec<Packet>,
    queues: Queues,
    service: Service,
}

/// What a Mac takes into service at a time.
#[derive(Debug)]
enum Service {
    /// A packet. It stays until it is acknowledged or given up.
    Single,
    /// A batch of packets from one of its stores.
    Batched(Batches),
    /// A beacon. Its queue stays empty.
    Beacon,
}

/// The burst that a Mac tries to send: one packet, or a batch of one of its stores.
#[derive(Debug)]
pub(crate) struct InService {
    /// The input for the plan.
    pub(crate) burst: Burst,
    /// The category of its frames.
    pub(crate) category: Category,
    /// Of a batch: what it is in its store.
    batch: Batch,
    /// True if the batch is of one MPDU on purpose, because its rate is on trial.
    alone: bool,
    /// The packet; of a batch the first.
    pub(crate) packet: Packet,
    /// Its sequence number (12 bits), the same for all attempts.
    pub(crate) sequence: u16,
    /// Attempts so far.
    pub(crate) attempt: u8,
    /// Failures counted against the short limit, and against the long one.
    short: u32,
    long: u32,
    /// True if the receiver has the packet. The sender may not know it.
    delivered: bool,
}

/// What a Mac has heard on its medium when it draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    /// Other contenders that have a frame to send. [`Seen::contenders`] also counts this Mac if it has a frame.
    pub(crate) others: u32,
    /// [`Seen::busy_counts`].
    pub(crate) busy_counts: bool,
    pub(crate) channel: &'a Channel,
}

/// Why an attempt failed. A real sender cannot distinguish a collision from an error; the cause is used only for
/// counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Another attempt started in the same instant.
    Collision,
    /// The channel corrupted a part of the exchange.
    Error,
    /// A higher category of the same station was due in the same instant. The attempt used no airtime.
    Internal,
    /// The medium was busy or reserved when it would have sent its data after a CTS (ns-2). It counts against no limit.
    Blocked,
    /// Frames of stations that do not hear each other met at a receiver, or the receiver did not answer.
    Unheard,
}

/// Where a packet is after a Mac has accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// In the queue, which may have dropped packets.
    Queued,
    /// Below the queue, which is empty.
    Stored,
    /// In service.
    Served,
}

/// What a Mac does after an attempt. The numbers are slots of backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next burst follows after a SIFS, in the same transmission opportunity.
    GoOn,
    /// The same burst is tried again after this backoff.
    Again(u64),
    /// Another burst is tried after this backoff.
    Other(u64),
    /// There is nothing to send. The backoff still runs (post-backoff).
    Idle(u64),
}

impl Around<'_> {
    /// True if the data of `burst` were on the air although the answer `missing` did not come.
    fn has_sent(&self, burst: &Burst, missing: Answer, failure: Failure) -> bool {
        let after_rts = || self.air.plan(burst).first_asking().kind == PartKind::Rts;
        !matches!(failure, Failure::Internal | Failure::Blocked) && (missing == Answer::Ack || !after_rts())
    }
}

impl InService {
    fn new(burst: Burst, category: Category, batch: Batch, packet: &Packet, sequence: u16) -> InService {
        let packet = *packet;
        let (attempt, short, long, delivered) = (0, 0, 0, false);
        InService { burst, category, batch, alone: false, packet, sequence, attempt, short, long, delivered }
    }
}

impl Next {
    /// True if the Mac has a burst to send.
    #[inline]
    pub(crate) fn has_burst(self) -> bool {
        !matches!(self, Next::Idle(_))
    }

    /// Slots of backoff.
    #[inline]
    pub(crate) fn slots(self) -> u64 {
        match self {
            Next::GoOn => 0,
            Next::Again(slots) | Next::Other(slots) | Next::Idle(slots) => slots,
        }
    }
}

impl Mac {
    /// A Mac of `station` with nothing to send, whose backoffs are drawn from `rng`.
    pub(crate) fn new(station: StationId, limits: Limits, access: Box<dyn Access>, rng: Rng, queues: Queues) -> Mac {
        Mac {
            station,
            in_service: None,
            sequence: 0,
            limits,
            txop: access.txop(),
            access,
            rng,
            counters: StationCounters::default(),
            urgent: vec![],
            queues,
            service: Service::Single,
        }
    }

    /// The station it belongs to.
    #[inline]
    pub(crate) fn station(&self) -> StationId {
        self.station
    }

    /// Its access rule.
    pub(crate) fn access(&self) -> &dyn Access {
        &*self.access
    }

    /// Its counters.
    pub(crate) fn counters(&self) -> StationCounters {
        match self.service {
            Service::Beacon => StationCounters { beacons: self.counters.attempts, ..StationCounters::default() },
            Service::Single | Service::Batched(_) => self.counters,
        }
    }

    /// The burst that it sends or would send.
    #[inline]
    pub(crate) fn in_service(&self) -> Option<&InService> {
        self.in_service.as_ref()
    }

    /// Where the burst comes from, if it sends in batches.
    #[inline]
    pub(crate) fn store(&self) -> Option<&Store> {
        match self.service {
            Service::Single | Service::Beacon => None,
            Service::Batched(_) => self.queues.get(self.in_service.as_ref()?.category).stored(),
        }
    }

    /// Packets below its queues that have not been passed on by their receivers.
    pub(crate) fn carrying(&self) -> u64 {
        match self.service {
            Service::Single => u64::from(self.in_service.as_ref().is_some_and(|s| !s.delivered)),
            Service::Batched(_) => self.queues.all().iter().filter_map(Queue::stored).map(Store::carrying).sum(),
            Service::Beacon => 0,
        }
    }

    /// Its queues.
    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Packets taken from its queues by `now`.
    pub(crate) fn taken(&self, now: Time) -> u64 {
        self.queues.all().iter().map(|queue| queue.taken(now)).sum()
    }

    /// The meter of the queue of `category`, and the packets that wait in it.
    pub(crate) fn reading(&mut self, category: Category) -> (&mut QueueMeter, u64) {
        let urgent = if category == Category::Be { self.urgent.len() as u64 } else { 0 };
        let queue = self.queues.of(category);
        let waiting = queue.discipline().backlog().packets + urgent;
        (queue.meter(), waiting)
    }

    /// The queue of packets of `category`.
    pub(crate) fn queue(&mut self, category: Category) -> &mut Queue {
        self.queues.of(category)
    }

    /// The disciplines of its queues.
    pub(crate) fn disciplines(&mut self) -> impl Iterator<Item = &mut dyn Qdisc> {
        self.queues.all_mut().iter_mut().map(Queue::discipline)
    }

    // ---- packets come in ----

    /// Takes `p`, whose next hop is `to` and which enters the queue of `category` now. Dropped packets stay in the sink
    /// of `around` until [`Mac::settle`].
    #[inline]
    pub(crate) fn accept(
        &mut self,
        around: &mut Around<'_>,
        category: Category,
        p: &Packet,
        to: StationId,
    ) -> Accepted {
        let may_pass = self.is_batched() || self.in_service.is_none();
        let queue = self.queues.of(category);
        if !(may_pass && queue.bypass(around, self.station)) {
            queue.enqueue(around, p, to);
            return Accepted::Queued;
        }
        if queue.store(around, self.station, p, (to, around.now)) {
            return Accepted::Stored;
        }
        let category = queue.category();
        self.serve(around, &p.toward(to).queued_at(around.now), category);
        Accepted::Served
    }

    /// Takes a routing message that goes before all other packets.
    pub(crate) fn accept_urgent(&mut self, around: &mut Around<'_>, p: &Packet, to: StationId) {
        self.queues.of(Category::Be).meter().offered(around.now);
        self.urgent.push(p.toward(to).queued_at(around.now));
    }

    /// Takes all packets for `next` out of the queue of `category`.
    pub(crate) fn purge(
        &mut self,
        around: &mut Around<'_>,
        category: Category,
        next: StationId,
        out: &mut Vec<Packet>,
    ) {
        let before = out.len();
        self.queues.of(category).purge(around, next, out);
        self.counters.returned += (out.len() - before) as u64;
    }

    /// Takes all packets for `next` out of all its queues.
    pub(crate) fn purge_all(&mut self, around: &mut Around<'_>, next: StationId, out: &mut Vec<Packet>) {
        let before = out.len();
        self.queues.all_mut().iter_mut().for_each(|queue| queue.purge(around, next, out));
        self.counters.returned += (out.len() - before) as u64;
    }

    /// True if it has something for `next` below its queues.
    pub(crate) fn needs(&self, next: StationId) -> bool {
        let below = || self.queues.all().iter().filter_map(Queue::stored).any(|store| store.needs(next));
        self.in_service.as_ref().is_some_and(|s| s.burst.to == next) || below()
    }

    /// The station `next` is gone, see [`Store::part`].
    pub(crate) fn part(&mut self, next: StationId) {
        self.queues.all_mut().iter_mut().filter_map(Queue::stored_mut).for_each(|store| store.part(next));
    }

    /// See [`Store::pass_parted`].
    pub(crate) fn pass_parted(&mut self, next: StationId) -> Option<&Packet> {
        let passed =
            self.queues.all_mut().iter_mut().filter_map(Queue::stored_mut).find_map(|s| s.pass_parted(next))?;
        self.counters.delivered += 1;
        Some(passed)
    }

    /// Counts the packets that the queue of `category` has dropped, marked and created.
    #[inline]
    pub(crate) fn settle(&mut self, around: &mut Around<'_>, category: Category) {
        self.queues.of(category).settle(around);
    }

    /// True if it sends aggregates.
    #[inline]
    pub(crate) fn is_batched(&self) -> bool {
        matches!(self.service, Service::Batched(_))
    }

    /// What waits in the queue of `category` goes below it, as far as there is room and the discipline does not give
    /// turns.
    pub(crate) fn fill(&mut self, around: &mut Around<'_>, category: Category) {
        let queue = self.queues.of(category);
        if !queue.gives_turns() {
            queue.fill(around, self.station);
        }
    }

    /// An action frame of its burst has been received. Returns its sender, its receiver, its category and what it says;
    /// `None` if the burst is none, or the receiver had it already.
    pub(crate) fn action_received(&mut self) -> Option<(StationId, StationId, Category, Addba)> {
        let s = self.in_service.as_mut()?;
        let Content::Action(addba) = s.burst.content else { return None };
        let is_new = !std::mem::replace(&mut s.delivered, true);
        is_new.then_some((s.burst.from, s.burst.to, s.category, addba))
    }

    /// Takes the next waiting packet, or batch, into service; nothing may be in service. True if one may leave.
    pub(crate) fn take_next(&mut self, around: &mut Around<'_>) -> bool {
        if let Some(p) = self.urgent.pop() {
            self.queues.of(Category::Be).meter().taken(around.now, &p);
            self.serve(around, &p, Category::Be);
            return true;
        }
        match self.service {
            Service::Single => {
                let Some((category, packet)) = self.queues.dequeue(around) else { return false };
                self.serve(around, &packet, category);
                true
            }
            Service::Batched(_) => {
                self.take_batch(around, (self.txop, false));
                self.look_ahead(around);
                self.in_service.is_some()
            }
            Service::Beacon => false,
        }
    }

    /// True if packets wait and none may leave yet.
    #[inline]
    pub(crate) fn is_held_back(&self) -> bool {
        let may_take = self.in_service.is_none() || (self.may_look_ahead() && self.next_deadline() < Time::NEVER);
        may_take && self.queues.all().iter().any(|q| q.waiting() > 0)
    }

    /// When to call [`Mac::take_next`] again while packets are held back.
    pub(crate) fn next_deadline(&self) -> Time {
        self.queues.all().iter().map(Queue::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// Takes `packet` into service.
    #[inline]
    fn serve(&mut self, around: &mut Around<'_>, packet: &Packet, category: Category) {
        let (from, to, bytes) = (self.station, packet.next_hop, packet.size);
        let protection = self.limits.protection.of(bytes);
        let Chosen { rate, .. } = rate(&mut around.extras.rates, around.now, around.air, (from, to), 0);
        let (content, reserves) = (Content::Packet, Span::ZERO);
        let burst = Burst { from, to, bytes, content, protection, rate, reserves };
        self.sequence = (self.sequence + 1) & 0xfff;
        self.in_service = Some(InService::new(burst, category, Batch::default(), packet, self.sequence));
    }

    // ---- beacons ----

    /// From now on it sends beacons and nothing else.
    pub(crate) fn send_beacons(&mut self) {
        (self.service, self.txop) = (Service::Beacon, Span::ZERO);
    }

    /// A beacon of `bytes` is due at `now`. False if the one before still waits: it goes out instead.
    pub(crate) fn beacon(&mut self, now: Time, bytes: u32) -> bool {
        if self.in_service.is_some() {
            return false;
        }
        let (from, to, content, protection) = (self.station, BROADCAST, Content::Beacon(bytes), Protection::None);
        let burst = Burst { from, to, bytes, content, protection, rate: 0, reserves: Span::ZERO };
        self.sequence = (self.sequence + 1) & 0xfff;
        let nothing = Packet::new(FlowId(u32::MAX), bytes, now, Body::Udp { seq: 0 });
        self.in_service = Some(InService::new(burst, Category::Vo, Batch::default(), &nothing, self.sequence));
        true
    }

    /// The beacon has been sent. Nobody answers, and the sender never knows of a collision: the next backoff is that
    /// after a success.
    fn beacon_sent(&mut self, now: Time, heard: Heard<'_>) -> Next {
        self.in_service = None;
        Next::Idle(self.backoff(now, Draw::Success, heard))
    }

    // ---- the medium reports ----

    /// Its attempt starts. `alone` is true if no other attempt starts in the same instant.
    #[inline]
    pub(crate) fn started(&mut self, alone: bool) {
        count(&mut self.counters.attempts);
        self.counters.collided += u64::from(!alone);
    }

    /// A broadcast has been sent. It has no receiver that would have it.
    pub(crate) fn broadcast_sent(&mut self) {
        if let Some(s) = &mut self.in_service {
            s.delivered = true;
            count(&mut self.counters.broadcasts);
        }
    }

    /// A part of its exchange with packets, or a request, is over. `lost` tells whether an MPDU of so many bytes with
    /// this packet is lost; `bytes`: those of the part. True if nothing of it reaches the receiver.
    #[inline]
    pub(crate) fn is_lost(&mut self, bytes: u32, mut lost: impl FnMut(u32, Option<&Packet>) -> bool) -> bool {
        let Some(s) = &self.in_service else { return lost(bytes, None) };
        let store = match self.service {
            Service::Single | Service::Beacon => None,
            Service::Batched(_) => self.queues.of(s.category).stored_mut(),
        };
        match store {
            None => lost(bytes, Some(&s.packet)),
            Some(_) if matches!(s.burst.content, Content::Action(_)) => lost(bytes, Some(&s.packet)),
            Some(store) if matches!(s.burst.content, Content::Request(_)) => {
                let is_lost = lost(bytes, None);
                if !is_lost {
                    store.arrive(|_, _| false);
                }
                is_lost
            }
            Some(store) => store.arrive(|bytes, p| lost(bytes, Some(p))) == 0,
        }
    }

    /// The receiver has got the data. Returns the packets that it forwards, of which a batch may have several; none if
    /// it had all of them already.
    #[inline(always)]
    pub(crate) fn received(&mut self) -> Passed<'_> {
        let Mac { in_service, service, queues, counters, .. } = self;
        let Some(s) = in_service else { return Passed::NOTHING };
        if let Service::Batched(_) = service {
            let is_action = matches!(s.burst.content, Content::Action(_));
            let store = queues.of(s.category).stored_mut().filter(|_| !is_action);
            return store.map_or(Passed::NOTHING, |store| store.pass_on(&mut counters.delivered));
        }
        // After a lost ACK the frame is repeated. The receiver answers again and drops the duplicate, which it
        // recognises by the sequence number (§10.3.2.11).
        if std::mem::replace(&mut s.delivered, true) {
            return Passed::NOTHING;
        }
        count(&mut counters.delivered);
        Passed::One(Some((s.burst.to, &s.packet)))
    }

    /// The receiver has passed on at `now` what it could of the burst. Returns when it waits no longer for what is
    /// missing.
    pub(crate) fn hold(&mut self, now: Time) -> Time {
        let Some(s) = &self.in_service else { return Time::NEVER };
        self.queues.of(s.category).stored_mut().map_or(Time::NEVER, |store| store.hold(now))
    }

    /// The first time at which a receiver of its batches waits no longer for what is missing.
    pub(crate) fn waits_until(&self) -> Time {
        let stores = self.queues.all().iter().filter_map(Queue::stored);
        stores.map(Store::waits_until).min().unwrap_or(Time::NEVER)
    }

    /// The next packet that a receiver forwards at `now` because it waits no longer for what is missing before it.
    pub(crate) fn pass_late(&mut self, now: Time) -> Option<(StationId, &Packet)> {
        let passed = self.queues.all_mut().iter_mut().find_map(|q| q.stored_mut()?.pass_late(now))?;
        count(&mut self.counters.delivered);
        Some(passed)
    }

    /// The burst was acknowledged; `snr` is the SNR of the answer in dB, if that is known. If the next burst followed
    /// at once, this Mac would have held the medium for `held` before it.
    #[inline]
    pub(crate) fn answered(&mut self, around: &mut Around<'_>, heard: Heard<'_>, snr: Option<f64>, held: Span) -> Next {
        match self.service {
            Service::Single => {
                count(&mut self.counters.acked);
                if let Some(s) = &self.in_service {
                    around.leaves(&s.packet);
                    around.sent(&s.burst, &AttemptOutcome { mpdus: 1, acked: 1, dropped: 0, answered: true, snr });
                }
                self.in_service = None;
            }
            Service::Batched(_) => {
                count(&mut self.counters.acked);
                self.batch_answered(around, snr);
            }
            Service::Beacon => return self.beacon_sent(around.now, heard),
        }
        if self.txop.is_zero() {
            self.end_opportunity();
            self.take_next(around);
        } else {
            let left = self.txop.saturating_sub(held);
            if self.goes_on(around, left) {
                self.reserve(left);
                return Next::GoOn;
            }
        }
        let slots = self.backoff(around.now, Draw::Success, heard);
        self.other(slots)
    }

    /// Its transmission opportunity begins.
    #[inline]
    pub(crate) fn wins(&mut self) {
        self.reserve(self.txop);
    }

    /// The exchange of the burst in service begins when so much is left of the transmission opportunity.
    #[inline]
    fn reserve(&mut self, left: Span) {
        if self.limits.txop_protection == TxopProtection::Multiple
            && let Some(s) = &mut self.in_service
        {
            s.burst.reserves = left;
        }
    }

    /// Takes the next burst into service. True if its exchange takes no longer than `left`, what is left of the
    /// transmission opportunity (IEEE 802.11-2016 §10.22.2.8: the acknowledgment included).
    fn goes_on(&mut self, around: &mut Around<'_>, left: Span) -> bool {
        match self.service {
            Service::Single | Service::Beacon => {
                self.take_next(around);
                self.fits(around, left)
            }
            Service::Batched(_) => self.goes_on_with_batch(around, left),
        }
    }

    /// True if there is a burst whose exchange takes no longer than `left`.
    fn fits(&self, around: &Around<'_>, left: Span) -> bool {
        self.in_service.as_ref().is_some_and(|s| around.air.plan(&s.burst).duration() <= left)
    }

    /// The attempt failed: the answer `missing` did not come.
    pub(crate) fn not_answered(
        &mut self,
        around: &mut Around<'_>,
        heard: Heard<'_>,
        missing: Answer,
        failure: Failure,
    ) -> Next {
        if self.in_service.is_none() {
            return Next::Idle(0);
        }
        match failure {
            Failure::Collision => {}
            Failure::Unheard | Failure::Blocked => self.counters.collided += 1,
            Failure::Error => self.counters.errored += 1,
            Failure::Internal => self.counters.internal += 1,
        }
        match self.service {
            Service::Single => self.fail_packet(around, heard, missing, failure),
            Service::Batched(_) => self.fail_batch(around, heard, missing, failure),
            Service::Beacon => self.beacon_sent(around.now, heard),
        }
    }

    /// The packet in service has failed. It is given up after as many failures as a retry limit.
    fn fail_packet(&mut self, around: &mut Around<'_>, heard: Heard<'_>, missing: Answer, failure: Failure) -> Next {
        let now = around.now;
        let Some(s) = &mut self.in_service else { return Next::Idle(0) };
        // §10.3.4.4: the long counter is for frames longer than the threshold whose RTS was answered.
        if failure == Failure::Blocked {
            s.short = 0;
        } else if missing == Answer::Ack && self.limits.protection.is_long(s.burst.bytes) {
            s.long += 1;
        } else {
            s.short += 1;
        }
        s.attempt = s.attempt.saturating_add(u8::from(failure != Failure::Internal));
        let is_over = s.short >= self.limits.short || s.long >= self.limits.long;
        if !around.extras.mpdus.is_empty() && around.has_sent(&s.burst, missing, failure) {
            around
                .sent(&s.burst, &AttemptOutcome { mpdus: 1, dropped: u32::from(is_over), ..AttemptOutcome::default() });
            let ends = (s.burst.from, s.burst.to);
            s.burst.rate = rate(&mut around.extras.rates, now, around.air, ends, u32::MAX).rate;
        }
        if !is_over {
            return Next::Again(self.backoff(now, Draw::Failure, heard));
        }
        self.counters.retry_drops += 1;
        around.leaves(&s.packet);
        match &mut around.extras.returned {
            Some(list) => {
                let delivered = s.delivered;
                list.push(Returned { station: self.station, next: s.burst.to, packet: s.packet, delivered });
                self.counters.dropped_after_delivery += u64::from(delivered);
                self.counters.returned += u64::from(!delivered);
                self.counters.given_back += u64::from(!delivered);
            }
            None if s.delivered => self.counters.dropped_after_delivery += 1,
            None => around.trace.packet(now, Event::Lost, &s.packet),
        }
        let slots = self.backoff(now, Draw::Dropped, heard);
        self.in_service = None;
        self.take_next(around);
        self.other(slots)
    }

    /// Draws a backoff, in slots.
    pub(crate) fn backoff(&mut self, now: Time, why: Draw, heard: Heard<'_>) -> u64 {
        let Heard { others, busy_counts, channel } = heard;
        let contenders = others + u32::from(self.in_service.is_some());
        let bytes = self.in_service.as_ref().map_or(0, |s| s.burst.bytes);
        let seen = Seen { contenders, bytes, busy_counts, channel };
        u64::from(self.access.draw(&mut Cx { now, rng: &mut self.rng }, why, &seen))
    }

    /// An attempt of a packet of `category`, of this Mac or another, has ended.
    pub(crate) fn hear(&mut self, category: Category, report: &AirReport) {
        let discipline = self.queues.of(category).discipline();
        if discipline.hears_air() {
            discipline.on_air(report);
        }
    }

    /// What follows after a finished burst, with this backoff.
    fn other(&self, slots: u64) -> Next {
        if self.in_service.is_some() { Next::Other(slots) } else { Next::Idle(slots) }
    }
}
