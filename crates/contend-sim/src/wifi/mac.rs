//! One sender: its queues, the burst in service, retries, sequence numbers, and the access rule.
//!
//! A Mac never looks at the medium. The medium asks what the Mac would send ([`Mac::in_service`]) and reports the
//! outcome of the attempt ([`Mac::answered`], [`Mac::not_answered`]). The Mac returns what it does next and after which
//! backoff ([`Next`]).

use super::access::{Access, Category, Channel, Draw, Seen};
use super::air::Air;
use super::counters::StationCounters;
use super::exchange::{Answer, Burst, Content, PartKind};
use super::phy::Protection;
use super::rates::{Chosen, Mpdus, Outcome, Rates};
use super::store::{DELIMITER, End, Store};
use super::timing::Limits;
use super::{BROADCAST, StationId};
use crate::stats::{QueueMeter, count};
use crate::trace::{Event, Trace};
use contend_core::qdisc::{AirReport, Below, Link, Qdisc, Sink};
use contend_core::{Cx, Packet, Rng, Span, Time};

/// One sender: a station, or one category of a station whose categories contend separately.
#[derive(Debug)]
pub(super) struct Mac {
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
    /// The packets below the queues, if they are sent in aggregates.
    store: Option<Box<Store>>,
    /// Failures in a row, with a store.
    failures: u32,
}

/// The burst that a Mac tries to send: one packet, or the current batch of its store.
#[derive(Debug)]
pub(super) struct InService {
    /// The input for the plan.
    pub(super) burst: Burst,
    /// The packet; of a batch the first.
    pub(super) packet: Packet,
    /// Its sequence number (12 bits), the same for all attempts.
    pub(super) sequence: u16,
    /// Attempts so far.
    pub(super) attempt: u8,
    /// Failures counted against the short limit, and against the long one.
    short: u32,
    long: u32,
    /// True if the receiver has the packet. The sender may not know it.
    delivered: bool,
}

/// The queues of a Mac.
#[derive(Debug)]
pub(super) enum Queues {
    /// One for all packets.
    One(Queue),
    /// One for each category. The highest category with a packet is served.
    ByCategory(Box<[Queue; 4]>),
}

/// A queue of a Mac.
#[derive(Debug)]
pub(super) struct Queue {
    discipline: Box<dyn Qdisc>,
    /// [`Qdisc::can_bypass`].
    can_bypass: bool,
    /// True if the discipline gives turns to receivers ([`Qdisc::by_receiver`]).
    gives_turns: bool,
    rng: Rng,
    meter: QueueMeter,
}

/// A packet that a Mac gave up and hands back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    pub(super) station: StationId,
    /// The receiver that did not answer.
    pub(super) next: StationId,
    pub(super) packet: Packet,
    /// True if the receiver has the packet all the same.
    pub(super) delivered: bool,
}

/// What a Mac and its queues need from outside.
pub(super) struct Around<'a> {
    pub(super) now: Time,
    pub(super) air: &'a Air,
    /// The transmitter as the discipline sees it. The numbers of its neighbours are station numbers.
    pub(super) link: &'a dyn Link,
    /// The sink for dropped packets, empty.
    pub(super) sink: &'a mut Sink,
    pub(super) trace: &'a mut Trace,
    /// Where packets go that a Mac gives up; `None`: they are lost.
    pub(super) returned: Option<&'a mut Vec<Returned>>,
    /// The rate controls of the station; `None` if all rates are fixed.
    pub(super) rates: Option<&'a mut Rates>,
    /// The MPDUs that each station has sent and that were sent to it; empty if they are not counted.
    pub(super) mpdus: &'a mut [[Mpdus; 2]],
}

/// What a Mac has heard on its medium when it draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    /// Other contenders that have a frame to send. [`Seen::contenders`] also counts this Mac if it has a frame.
    pub(super) others: u32,
    /// [`Seen::busy_counts`].
    pub(super) busy_counts: bool,
    pub(super) channel: &'a Channel,
}

/// Why an attempt failed. A real sender cannot distinguish a collision from an error; the cause is used only for
/// counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Another attempt started in the same instant.
    Collision,
    /// The channel spoiled a part of the exchange.
    Error,
    /// A higher category of the same station was due in the same instant. The attempt used no airtime.
    Internal,
    /// The medium was busy or reserved when it would have sent its data after a CTS (ns-2). It counts against no limit.
    Blocked,
    /// Frames of stations that do not hear each other met at a receiver, or the receiver did not answer.
    Unheard,
}

/// What a Mac does after an attempt. The numbers are slots of backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
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
    /// An attempt of `burst` with data has ended.
    #[inline]
    fn sent(&mut self, burst: &Burst, outcome: &Outcome) {
        if !self.mpdus.is_empty() {
            self.count(burst, outcome);
        }
    }

    /// See [`Around::sent`].
    #[inline(never)]
    fn count(&mut self, burst: &Burst, outcome: &Outcome) {
        let &Burst { from, to, rate, content, .. } = burst;
        if to == BROADCAST || content == Content::Request {
            return;
        }
        let format = self.air.plan(burst).format(PartKind::Data);
        for (station, way) in [(from, 0), (to, 1)] {
            if let Some(mpdus) = self.mpdus.get_mut(station as usize) {
                mpdus[way].count(format, outcome);
            }
        }
        if let Some(rates) = &mut self.rates {
            rates.sent(self.now, self.air, (from, to), rate, outcome);
        }
    }

    /// True if the data of `burst` were on the air although the answer `missing` did not come.
    fn has_sent(&self, burst: &Burst, missing: Answer, failure: Failure) -> bool {
        let after_rts = || self.air.plan(burst).first_asking().kind == PartKind::Rts;
        !matches!(failure, Failure::Internal | Failure::Blocked) && (missing == Answer::Ack || !after_rts())
    }
}

impl Queue {
    /// The queue of `discipline`, which draws from `rng`.
    pub(super) fn new(mut discipline: Box<dyn Qdisc>, rng: Rng) -> Queue {
        Queue {
            can_bypass: discipline.can_bypass(),
            gives_turns: discipline.by_receiver().is_some(),
            discipline,
            rng,
            meter: QueueMeter::default(),
        }
    }

    /// The discipline.
    pub(super) fn discipline(&mut self) -> &mut dyn Qdisc {
        &mut *self.discipline
    }

    /// Packets waiting.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.meter.waiting()
    }

    /// Offers `p`, whose next hop is `to`, to the queue. Dropped packets stay in the sink.
    #[inline]
    fn enqueue(&mut self, around: &mut Around<'_>, p: &Packet, to: StationId) {
        self.meter.offered(around.now);
        let cx = &mut Cx { now: around.now, rng: &mut self.rng };
        self.discipline.enqueue(cx, around.link, p.toward(to).queued_at(around.now), around.sink);
    }

    /// The next packet, if one may leave.
    #[inline]
    fn dequeue(&mut self, around: &mut Around<'_>) -> Option<Packet> {
        if self.meter.waiting() == 0 {
            return None;
        }
        let cx = &mut Cx { now: around.now, rng: &mut self.rng };
        let packet = self.discipline.dequeue(cx, around.link, around.sink);
        self.meter.settle(around.now, around.sink, around.trace);
        if let Some(p) = &packet {
            self.meter.taken(around.now, p);
        }
        packet
    }

    /// Lets the discipline give a turn to a receiver: its packets go into `store` as long as they may fit into a PSDU
    /// of `fits` bytes. Returns the receiver.
    fn give_turn(
        &mut self,
        around: &mut Around<'_>,
        store: &mut Store,
        fits: &dyn Fn(StationId) -> u32,
    ) -> Option<StationId> {
        let Around { now, link, ref mut sink, ref mut trace, .. } = *around;
        let cx = &mut Cx { now, rng: &mut self.rng };
        let mut below = BelowQueue { now, store, fits, meter: &mut self.meter, trace };
        let to = self.discipline.by_receiver()?.serve(cx, link, &mut below, sink);
        self.meter.settle(now, sink, trace);
        to
    }

    /// Takes all packets for `next` out. The others are queued again, in their order.
    fn purge(&mut self, around: &mut Around<'_>, next: StationId, out: &mut Vec<Packet>) {
        let mut kept = Vec::new();
        let mut cx = Cx { now: around.now, rng: &mut self.rng };
        while let Some(p) = self.discipline.dequeue(&mut cx, around.link, around.sink) {
            if p.next_hop == next {
                self.meter.taken(around.now, &p);
                out.push(p);
            } else {
                kept.push(p);
            }
        }
        for p in kept {
            self.discipline.enqueue(&mut cx, around.link, p, around.sink);
        }
        self.meter.settle(around.now, around.sink, around.trace);
    }

    /// When to ask again; [`Time::NEVER`] if no packet waits.
    fn next_deadline(&self) -> Time {
        if self.meter.waiting() == 0 { Time::NEVER } else { self.discipline.next_deadline() }
    }
}

impl Queues {
    /// The queue of packets of `category`.
    #[inline]
    pub(super) fn of(&mut self, category: Category) -> &mut Queue {
        match self {
            Queues::One(queue) => queue,
            Queues::ByCategory(queues) => &mut queues[category as usize],
        }
    }

    /// The next packet, if one may leave.
    #[inline(always)]
    fn dequeue(&mut self, around: &mut Around<'_>) -> Option<Packet> {
        match self {
            Queues::One(queue) => queue.dequeue(around),
            Queues::ByCategory(queues) => queues.iter_mut().find_map(|queue| queue.dequeue(around)),
        }
    }

    /// The queue of highest category that has a receiver to serve gives it a turn, see [`Queue::give_turn`].
    fn give_turn(
        &mut self,
        around: &mut Around<'_>,
        store: &mut Store,
        fits: &dyn Fn(StationId) -> u32,
    ) -> Option<StationId> {
        self.all_mut().iter_mut().find_map(|queue| queue.give_turn(around, store, fits))
    }

    /// `p` waits in the store. Its receiver needs a turn; with several queues from the highest category.
    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        if let Some(by_receiver) = self.all_mut().first_mut().and_then(|queue| queue.discipline.by_receiver()) {
            by_receiver.hold(link, p);
        }
    }

    /// True if the disciplines give turns to receivers.
    fn give_turns(&self) -> bool {
        self.all().iter().all(|queue| queue.gives_turns)
    }

    fn all_mut(&mut self) -> &mut [Queue] {
        match self {
            Queues::One(queue) => std::slice::from_mut(queue),
            Queues::ByCategory(queues) => &mut queues[..],
        }
    }

    /// All, the highest category first.
    #[inline]
    pub(super) fn all(&self) -> &[Queue] {
        match self {
            Queues::One(queue) => std::slice::from_ref(queue),
            Queues::ByCategory(queues) => &queues[..],
        }
    }
}

impl Next {
    /// True if the Mac has a burst to send.
    #[inline]
    pub(super) fn has_burst(self) -> bool {
        !matches!(self, Next::Idle(_))
    }

    /// Slots of backoff.
    #[inline]
    pub(super) fn slots(self) -> u64 {
        match self {
            Next::GoOn => 0,
            Next::Again(slots) | Next::Other(slots) | Next::Idle(slots) => slots,
        }
    }
}

impl Mac {
    /// A Mac of `station` with nothing to send, whose backoffs are drawn from `rng`.
    pub(super) fn new(station: StationId, limits: Limits, access: Box<dyn Access>, rng: Rng, queues: Queues) -> Mac {
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
            store: None,
            failures: 0,
        }
    }

    /// From now on it sends in aggregates, from this store.
    pub(super) fn aggregate(&mut self, store: Store) {
        self.store = Some(Box::new(store));
    }

    /// The station it belongs to.
    #[inline]
    pub(super) fn station(&self) -> StationId {
        self.station
    }

    /// Its access rule.
    pub(super) fn access(&self) -> &dyn Access {
        &*self.access
    }

    /// Its counters.
    pub(super) fn counters(&self) -> StationCounters {
        self.counters
    }

    /// The burst that it sends or would send.
    #[inline]
    pub(super) fn in_service(&self) -> Option<&InService> {
        self.in_service.as_ref()
    }

    /// Where the burst comes from, if it sends in aggregates.
    #[inline]
    pub(super) fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    /// Packets below its queues that have not been passed on by their receivers.
    pub(super) fn carrying(&self) -> u64 {
        match &self.store {
            Some(store) => store.carrying(),
            None => u64::from(self.in_service.as_ref().is_some_and(|s| !s.delivered)),
        }
    }

    /// Its queues.
    pub(super) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Packets taken from its queues by `now`.
    pub(super) fn taken(&self, now: Time) -> u64 {
        self.queues.all().iter().map(|queue| queue.meter.read(now).taken).sum()
    }

    /// The meter of the queue of `category`, and the packets that wait in it.
    pub(super) fn reading(&mut self, category: Category) -> (&mut QueueMeter, u64) {
        let urgent = if category == Category::Be { self.urgent.len() as u64 } else { 0 };
        let queue = self.queues.of(category);
        (&mut queue.meter, queue.discipline.backlog().packets + urgent)
    }

    /// The queue of packets of `category`.
    pub(super) fn queue(&mut self, category: Category) -> &mut Queue {
        self.queues.of(category)
    }

    /// The disciplines of its queues.
    pub(super) fn disciplines(&mut self) -> impl Iterator<Item = &mut dyn Qdisc> {
        self.queues.all_mut().iter_mut().map(Queue::discipline)
    }

    // ---- packets come in ----

    /// Takes `p`, whose next hop is `to` and which enters the queue of `category` now. Dropped packets stay in the sink
    /// of `around` until [`Mac::settle`]. True if `p` went into service without waiting.
    #[inline]
    pub(super) fn accept(&mut self, around: &mut Around<'_>, category: Category, p: &Packet, to: StationId) -> bool {
        let queue = self.queues.of(category);
        if let Some(store) = &mut self.store {
            if queue.can_bypass && queue.waiting() == 0 && store.has_room() {
                queue.meter.passed();
                store.put(&p.toward(to).queued_at(around.now));
            } else {
                queue.enqueue(around, p, to);
            }
            return false;
        }
        if queue.can_bypass && self.in_service.is_none() && queue.waiting() == 0 {
            queue.meter.passed();
            self.serve(around, &p.toward(to).queued_at(around.now));
            return true;
        }
        queue.enqueue(around, p, to);
        false
    }

    /// Takes a routing message that goes before all other packets.
    pub(super) fn accept_urgent(&mut self, around: &mut Around<'_>, p: &Packet, to: StationId) {
        self.queues.of(Category::Be).meter.offered(around.now);
        self.urgent.push(p.toward(to).queued_at(around.now));
    }

    /// Takes all packets for `next` out of the queue of `category`.
    pub(super) fn purge(
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

    /// Counts the packets that the queue of `category` has dropped, marked and created.
    #[inline]
    pub(super) fn settle(&mut self, around: &mut Around<'_>, category: Category) {
        self.queues.of(category).meter.settle(around.now, around.sink, around.trace);
    }

    /// Takes the next waiting packet into service; nothing may be in service. True if a packet may leave.
    pub(super) fn take_next(&mut self, around: &mut Around<'_>) -> bool {
        if let Some(p) = self.urgent.pop() {
            self.queues.of(Category::Be).meter.taken(around.now, &p);
            self.serve(around, &p);
            return true;
        }
        if self.store.is_some() {
            return self.take_batch(around, self.txop);
        }
        let Some(packet) = self.queues.dequeue(around) else { return false };
        self.serve(around, &packet);
        true
    }

    /// Takes the next batch into service. A discipline that gives turns to receivers names the receiver and fills its
    /// batch; others fill the store, and the receiver whose packet waits longest comes next. The exchange takes no
    /// longer than `limit`, if one MPDU does not; without limits on opportunities `limit` is zero.
    #[inline(never)]
    fn take_batch(&mut self, around: &mut Around<'_>, limit: Span) -> bool {
        let Some(store) = &mut self.store else { return false };
        let (now, station, air) = (around.now, self.station, around.air);
        let (queues, counters, most) = (&mut self.queues, &mut self.counters, self.limits.short);
        let mut chosen = Chosen::default();
        let mut gone = |trace: &mut Trace, p: &Packet| give_up(trace, counters, now, p, false);
        // If all that a receiver or the store had was too old, what waits behind may be younger.
        let batch = if queues.give_turns() {
            let fits = |to| air.most_bytes(air.rate(station, to), limit);
            loop {
                let Some(to) = queues.give_turn(around, store, &fits) else { return false };
                let fits = |to| choose(&mut around.rates, now, air, (station, to), (most, limit), &mut chosen);
                if let Some(batch) = store.take_to(to, now, fits, |p| gone(around.trace, p)) {
                    break batch;
                }
            }
        } else {
            fill(store, queues, around);
            loop {
                let fits = |to| choose(&mut around.rates, now, air, (station, to), (most, limit), &mut chosen);
                match store.take(now, fits, |p| gone(around.trace, p)) {
                    Some(batch) => break batch,
                    None if fill(store, queues, around) => {}
                    None => return false,
                }
            }
        };
        let Some((packet, sequence)) = store.first() else { return false };
        let (content, protection) = match batch.mpdus {
            0 => (Content::Request, Protection::None),
            1 if batch.packets == 1 => (Content::Packet, self.limits.protection.of(batch.bytes)),
            1 => {
                let mpdu = batch.psdu - DELIMITER;
                (Content::Together(mpdu), self.limits.protection.of_psdu(mpdu))
            }
            _ => (Content::Aggregate(batch.psdu), self.limits.protection.of_psdu(batch.psdu)),
        };
        let rate = if content == Content::Request { air.rate(station, batch.to) } else { chosen.rate };
        let burst = Burst { from: station, to: batch.to, bytes: batch.bytes, content, protection, rate };
        let packet = *packet;
        self.in_service = Some(InService { burst, packet, sequence, attempt: 0, short: 0, long: 0, delivered: false });
        true
    }

    /// True if packets wait and none may leave yet.
    #[inline]
    pub(super) fn is_held_back(&self) -> bool {
        self.in_service.is_none() && self.queues.all().iter().any(|q| q.waiting() > 0)
    }

    /// When to call [`Mac::take_next`] again while packets are held back.
    pub(super) fn next_deadline(&self) -> Time {
        self.queues.all().iter().map(Queue::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// Takes `packet` into service.
    #[inline]
    fn serve(&mut self, around: &mut Around<'_>, packet: &Packet) {
        let (from, to, bytes) = (self.station, packet.next_hop, packet.size);
        let protection = self.limits.protection.of(bytes);
        let Chosen { rate, .. } = rate(&mut around.rates, around.now, around.air, (from, to), 0);
        let burst = Burst { from, to, bytes, content: Content::Packet, protection, rate };
        self.sequence = (self.sequence + 1) & 0xfff;
        let sequence = self.sequence;
        self.in_service =
            Some(InService { burst, packet: *packet, sequence, attempt: 0, short: 0, long: 0, delivered: false });
    }

    // ---- the medium reports ----

    /// Its attempt starts. `alone` is true if no other attempt starts in the same instant.
    #[inline]
    pub(super) fn started(&mut self, alone: bool) {
        count(&mut self.counters.attempts);
        self.counters.collided += u64::from(!alone);
    }

    /// A broadcast has been sent. It has no receiver that would have it.
    pub(super) fn broadcast_sent(&mut self) {
        if let Some(s) = &mut self.in_service {
            s.delivered = true;
            count(&mut self.counters.broadcasts);
        }
    }

    /// A part of its exchange with packets, or a request, is over. `lost` tells whether an MPDU of so many bytes with
    /// this packet is lost; `bytes`: those of the part. True if nothing of it reaches the receiver.
    #[inline]
    pub(super) fn is_lost(&mut self, bytes: u32, mut lost: impl FnMut(u32, Option<&Packet>) -> bool) -> bool {
        match (&mut self.store, &self.in_service) {
            (None, s) => lost(bytes, s.as_ref().map(|s| &s.packet)),
            (Some(store), Some(s)) if s.burst.content == Content::Request => {
                let is_lost = lost(bytes, None);
                if !is_lost {
                    store.arrive(|_, _| false);
                }
                is_lost
            }
            (Some(store), _) => store.arrive(|bytes, p| lost(bytes, Some(p))) == 0,
        }
    }

    /// The receiver has got the data. Returns the next packet to forward, of which a batch may have several; `None` if
    /// the receiver had it already.
    #[inline]
    pub(super) fn received(&mut self) -> Option<&Packet> {
        if let Some(store) = &mut self.store {
            let (_, packet) = store.pass_on()?;
            count(&mut self.counters.delivered);
            return Some(packet);
        }
        let s = self.in_service.as_mut()?;
        // After a lost ACK the frame is repeated. The receiver answers again and drops the duplicate, which it
        // recognises by the sequence number (§10.3.2.11).
        if std::mem::replace(&mut s.delivered, true) {
            return None;
        }
        count(&mut self.counters.delivered);
        Some(&s.packet)
    }

    /// The burst was acknowledged; `snr` is the SNR of the answer in dB, if that is known. If the next burst followed
    /// at once, this Mac would have held the medium for `held` before it.
    #[inline]
    pub(super) fn answered(&mut self, around: &mut Around<'_>, heard: Heard<'_>, snr: Option<f64>, held: Span) -> Next {
        count(&mut self.counters.acked);
        let burst = self.in_service.take().map(|s| s.burst);
        let mut outcome = Outcome { mpdus: 1, acked: 1, dropped: 0, answered: true, snr };
        if self.store.is_some() {
            outcome = Outcome { answered: true, snr, ..self.end_batch(around, End::Answered) };
        }
        if let Some(burst) = burst {
            around.sent(&burst, &outcome);
        }
        if self.txop.is_zero() {
            self.take_next(around);
        } else if self.goes_on(around, self.txop.saturating_sub(held)) {
            return Next::GoOn;
        }
        let slots = self.backoff(around.now, Draw::Success, heard);
        self.other(slots)
    }

    /// Takes the next burst into service. True if its exchange takes no longer than `left`, what is left of the
    /// transmission opportunity (IEEE 802.11-2016 §10.22.2.8: the acknowledgment included).
    fn goes_on(&mut self, around: &mut Around<'_>, left: Span) -> bool {
        if self.store.is_some() && !left.is_zero() {
            self.take_batch(around, left);
        } else {
            self.take_next(around);
        }
        let fits = self.in_service.as_ref().is_some_and(|s| around.air.plan(&s.burst).duration() <= left);
        if !fits && self.store.is_some() && self.in_service.take().is_some() {
            // The batch was made for the rest of this opportunity; the next one has more time.
            self.end_batch(around, End::NotSent);
            self.take_next(around);
        }
        fits
    }

    /// The attempt failed: the answer `missing` did not come.
    pub(super) fn not_answered(
        &mut self,
        around: &mut Around<'_>,
        heard: Heard<'_>,
        missing: Answer,
        failure: Failure,
    ) -> Next {
        let now = around.now;
        let Some(s) = &mut self.in_service else { return Next::Idle(0) };
        match failure {
            Failure::Collision => {}
            Failure::Unheard | Failure::Blocked => self.counters.collided += 1,
            Failure::Error => self.counters.errored += 1,
            Failure::Internal => self.counters.internal += 1,
        }
        if self.store.is_some() {
            return self.fail_batch(around, heard, missing, failure);
        }
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
        if !around.mpdus.is_empty() && around.has_sent(&s.burst, missing, failure) {
            around.sent(&s.burst, &Outcome { mpdus: 1, dropped: u32::from(is_over), ..Outcome::default() });
            s.burst.rate = rate(&mut around.rates, now, around.air, (s.burst.from, s.burst.to), u32::MAX).rate;
        }
        if !is_over {
            return Next::Again(self.backoff(now, Draw::Failure, heard));
        }
        self.counters.retry_drops += 1;
        match &mut around.returned {
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

    /// The batch in service has failed. The contention window grows until as many failures in a row as the short limit;
    /// then it starts again.
    fn fail_batch(&mut self, around: &mut Around<'_>, heard: Heard<'_>, missing: Answer, failure: Failure) -> Next {
        let Some(burst) = self.in_service.as_ref().map(|s| s.burst) else { return Next::Idle(0) };
        let sent = around.has_sent(&burst, missing, failure);
        self.failures += u32::from(failure != Failure::Internal);
        let start_again = self.failures >= self.limits.short;
        let slots = self.backoff(around.now, if start_again { Draw::Dropped } else { Draw::Failure }, heard);
        self.failures = if start_again { 0 } else { self.failures };
        self.in_service = None;
        let outcome = self.end_batch(around, if sent { End::NotAnswered } else { End::NotSent });
        if sent {
            around.sent(&burst, &outcome);
        }
        self.take_next(around);
        self.other(slots)
    }

    /// The batch in service is over.
    fn end_batch(&mut self, around: &mut Around<'_>, end: End) -> Outcome {
        let Some(store) = &mut self.store else { return Outcome::default() };
        self.failures = if end == End::Answered { 0 } else { self.failures };
        let (now, counters) = (around.now, &mut self.counters);
        let gone = |p: &Packet, receiver_has_it| give_up(around.trace, counters, now, p, receiver_has_it);
        let Some((to, outcome)) = store.end(now, end, gone) else { return Outcome::default() };
        if self.queues.give_turns()
            && let Some(p) = store.held(to)
        {
            self.queues.hold(around.link, p);
        }
        outcome
    }

    /// Draws a backoff, in slots.
    pub(super) fn backoff(&mut self, now: Time, why: Draw, heard: Heard<'_>) -> u64 {
        let Heard { others, busy_counts, channel } = heard;
        let contenders = others + u32::from(self.in_service.is_some());
        let bytes = self.in_service.as_ref().map_or(0, |s| s.burst.bytes);
        let seen = Seen { contenders, bytes, busy_counts, channel };
        u64::from(self.access.draw(&mut Cx { now, rng: &mut self.rng }, why, &seen))
    }

    /// An attempt of a packet of `category`, of this Mac or another, has ended.
    pub(super) fn hear(&mut self, category: Category, report: &AirReport) {
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

/// What a discipline that gives turns sees below it.
struct BelowQueue<'a, 'b> {
    now: Time,
    store: &'a mut Store,
    /// Most bytes of a PSDU to a receiver.
    fits: &'a dyn Fn(StationId) -> u32,
    meter: &'a mut QueueMeter,
    trace: &'a mut &'b mut Trace,
}

impl Below for BelowQueue<'_, '_> {
    fn holds(&self, receiver: u32) -> bool {
        self.store.holds(receiver)
    }
    fn has_room(&self, receiver: u32) -> bool {
        self.store.has_room_for(receiver, (self.fits)(receiver))
    }
    fn put(&mut self, p: Packet, sink: &mut Sink) {
        self.meter.settle(self.now, sink, self.trace);
        self.meter.taken(self.now, &p);
        self.store.put(&p);
    }
}

/// The rate of the next attempt from one station to another. A new chain begins after `most` failures.
#[inline]
fn rate(rates: &mut Option<&mut Rates>, now: Time, air: &Air, (from, to): (StationId, StationId), most: u32) -> Chosen {
    match rates {
        Some(rates) if to != BROADCAST => rates.next(now, air, (from, to), most),
        _ => Chosen { rate: air.rate(from, to), alone: false },
    }
}

/// The bytes that a PSDU may have at the rate of the next attempt from one station to another, which becomes `chosen`.
/// `limit`: as in [`Air::most_bytes`].
fn choose(
    rates: &mut Option<&mut Rates>,
    now: Time,
    air: &Air,
    ends: (StationId, StationId),
    (most, limit): (u32, Span),
    chosen: &mut Chosen,
) -> u32 {
    *chosen = rate(rates, now, air, ends, most);
    // No second MPDU fits into 0 bytes.
    if chosen.alone { 0 } else { air.most_bytes(chosen.rate, limit) }
}

/// Fills `store` from the queues. True if a packet came.
fn fill(store: &mut Store, queues: &mut Queues, around: &mut Around<'_>) -> bool {
    let mut came = false;
    while store.has_room()
        && let Some(p) = queues.dequeue(around)
    {
        store.put(&p);
        came = true;
    }
    came
}

/// Counts `p`, which its sender gives up.
fn give_up(trace: &mut Trace, counters: &mut StationCounters, now: Time, p: &Packet, receiver_has_it: bool) {
    counters.retry_drops += 1;
    counters.dropped_after_delivery += u64::from(receiver_has_it);
    if !receiver_has_it {
        trace.packet(now, Event::Lost, p);
    }
}
