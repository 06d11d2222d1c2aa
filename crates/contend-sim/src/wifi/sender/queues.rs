//! The queues of a sender, each with a discipline and, if packets are sent in aggregates, the packets below it.

use super::air::Air;
use super::aql::{Aql, expected};
use super::around::{Around, Extras, give_up, rate};
use super::counters::StationCounters;
use super::rates::Chosen;
use super::store::{Batch, Store};
use super::timing::Room;
use crate::stats::QueueMeter;
use crate::trace::Trace;
use crate::wifi::ids::{Category, StationId};
use contend_core::observe::Local;
use contend_core::qdisc::{Below, Link, Qdisc, Sink};
use contend_core::{Cx, Packet, Rng, Span, Time};

/// The queues of a Mac.
#[derive(Debug)]
pub(crate) enum Queues {
    /// One for all packets.
    One(Queue),
    /// One for each category. The highest category with a packet is served.
    ByCategory(Box<[Queue; 4]>),
}

/// A queue of a Mac.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The category of all its frames.
    category: Category,
    discipline: Box<dyn Qdisc>,
    /// [`Qdisc::can_bypass`].
    can_bypass: bool,
    /// True if the discipline gives turns to receivers ([`Qdisc::by_receiver`]).
    gives_turns: bool,
    /// True if the discipline had packets when it was asked last, and gave none.
    refused: bool,
    rng: Rng,
    meter: QueueMeter,
    /// The packets below it, if they are sent in aggregates.
    store: Option<Box<Store>>,
}

/// A batch that is being made.
pub(crate) struct Making<'a> {
    /// The sender.
    pub(crate) station: StationId,
    /// The exchange takes no longer, if one MPDU does not; zero: there is no limit.
    pub(crate) limit: Span,
    /// True if its data are no wider than 20 MHz.
    pub(crate) narrow: bool,
    /// Failures after which a new chain of rates begins.
    pub(crate) failures: u32,
    /// The rate of the batch.
    pub(crate) chosen: Chosen,
    pub(crate) counters: &'a mut StationCounters,
}

impl Queue {
    /// The queue of `discipline`, which draws from `rng`, for frames of `category`.
    pub(crate) fn new(category: Category, mut discipline: Box<dyn Qdisc>, rng: Rng) -> Queue {
        Queue {
            category,
            can_bypass: discipline.can_bypass(),
            gives_turns: discipline.by_receiver().is_some(),
            discipline,
            refused: false,
            rng,
            meter: QueueMeter::default(),
            store: None,
        }
    }

    /// True if its discipline gives turns to receivers.
    pub(crate) fn gives_turns(&self) -> bool {
        self.gives_turns
    }

    /// The category of its frames.
    #[inline]
    pub(crate) fn category(&self) -> Category {
        self.category
    }

    /// The discipline.
    pub(crate) fn discipline(&mut self) -> &mut dyn Qdisc {
        &mut *self.discipline
    }

    /// Packets waiting.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.meter.waiting()
    }

    /// Its meter.
    #[inline]
    pub(crate) fn meter(&mut self) -> &mut QueueMeter {
        &mut self.meter
    }

    /// Packets taken from it by `now`.
    pub(crate) fn taken(&self, now: Time) -> u64 {
        self.meter.read(now).taken
    }

    /// The packets below it, if they are sent in aggregates.
    #[inline]
    pub(crate) fn stored(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    /// See [`Queue::stored`].
    #[inline]
    pub(crate) fn stored_mut(&mut self) -> Option<&mut Store> {
        self.store.as_deref_mut()
    }

    /// True if a packet may go into service, or into the store, without waiting in the queue; it is counted then.
    #[inline]
    pub(crate) fn bypass(&mut self, around: &Around<'_>, station: StationId) -> bool {
        let passes =
            self.can_bypass && self.meter.waiting() == 0 && (self.store.is_none() || self.has_room(around, station));
        if passes {
            self.meter.passed();
        }
        passes
    }

    /// True if the store takes another packet of a discipline that does not give turns. Its packets count as those of
    /// one receiver, because nobody knows the receiver of the next packet.
    fn has_room(&self, around: &Around<'_>, station: StationId) -> bool {
        let Some(store) = &self.store else { return false };
        store.has_room() && around.extras.aql(station).is_none_or(|aql| aql.allows(store.pending()))
    }

    /// Puts `p`, which goes to `to` and was queued at `queued`, into the store, if there is one. True if there is.
    #[inline]
    pub(crate) fn store(
        &mut self,
        around: &mut Around<'_>,
        station: StationId,
        p: &Packet,
        (to, queued): (StationId, Time),
    ) -> bool {
        let Some(store) = &mut self.store else { return false };
        let airtime = take_airtime(around.extras.aql_mut(station), around.air, (station, to), self.category, p.size);
        store.put(p, (to, queued), around.now, airtime, |to| around.air.agreed(station, to));
        true
    }

    /// Calls `f` with the store. The airtime of the packets that the store no longer needs is pending no longer.
    pub(crate) fn change<R>(
        &mut self,
        around: &mut Around<'_>,
        station: StationId,
        f: impl FnOnce(&mut Store, &mut Around<'_>) -> Option<R>,
    ) -> Option<R> {
        let store = self.store.as_deref_mut()?;
        let before = store.pending();
        let result = f(store, around);
        if let Some(aql) = around.extras.aql_mut(station) {
            aql.release(before - store.pending());
        }
        result
    }

    /// Offers `p`, whose next hop is `to`, to the queue. Dropped packets stay in the sink.
    #[inline]
    pub(crate) fn enqueue(&mut self, around: &mut Around<'_>, p: &Packet, to: StationId) {
        self.meter.offered(around.now);
        let cx = &mut Cx { now: around.now, rng: &mut self.rng };
        let p = p.toward(to).queued_at(around.now);
        match self.store.as_deref() {
            None => self.discipline.enqueue(cx, around.link, p, around.sink),
            Some(store) => self.discipline.enqueue(cx, &OverStore { link: around.link, store }, p, around.sink),
        }
    }

    /// Counts what the sink has collected.
    #[inline]
    pub(crate) fn settle(&mut self, around: &mut Around<'_>) {
        around.dropped();
        self.meter.settle(around.now, around.sink, around.trace);
    }

    /// The next packet, if one may leave.
    #[inline]
    fn dequeue(&mut self, around: &mut Around<'_>) -> Option<Packet> {
        if self.meter.waiting() == 0 {
            return None;
        }
        let cx = &mut Cx { now: around.now, rng: &mut self.rng };
        let packet = self.discipline.dequeue(cx, around.link, around.sink);
        around.dropped();
        self.meter.settle(around.now, around.sink, around.trace);
        self.refused = packet.is_none();
        if let Some(p) = &packet {
            self.meter.taken(around.now, p);
        }
        packet
    }

    /// Takes all packets for `next` out. The others are queued again, in their order.
    pub(crate) fn purge(&mut self, around: &mut Around<'_>, next: StationId, out: &mut Vec<Packet>) {
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
        around.dropped();
        self.meter.settle(around.now, around.sink, around.trace);
    }

    /// When to ask again, if the discipline holds its packets back; [`Time::NEVER`] if nobody asked it because there is
    /// no room below.
    pub(crate) fn next_deadline(&self) -> Time {
        let holds_back = self.refused && self.meter.waiting() > 0;
        if holds_back { self.discipline.next_deadline() } else { Time::NEVER }
    }

    // ---- aggregates ----

    /// Makes the next batch, if there is something to send. A discipline that gives turns to receivers names the
    /// receiver and fills its batch; others fill the store, and the receiver whose packet waits longest comes next.
    pub(crate) fn next_batch(&mut self, around: &mut Around<'_>, making: &mut Making<'_>) -> Option<Batch> {
        let (now, air) = (around.now, around.air);
        let &mut Making { station, limit, narrow, failures, ref mut chosen, ref mut counters } = making;
        if !self.gives_turns {
            self.fill(around, station);
        }
        loop {
            let present = |to| Chosen { rate: air.rate(station, to), alone: false }.at_most(air, narrow);
            let fits = |to| present(to).room(air, (station, to), limit);
            let to = if self.gives_turns { Some(self.give_turn(around, station, &fits)?) } else { None };
            let batch = self.change(around, station, |store, around| {
                let fits = |to| {
                    *chosen = rate(&mut around.extras.rates, now, air, (station, to), failures).at_most(air, narrow);
                    chosen.room(air, (station, to), limit)
                };
                match to {
                    Some(to) => store.take_to(to, true, now, fits, |p| {
                        give_up(around.trace, &mut around.extras.left, counters, now, p, false);
                    }),
                    None => store.take(now, fits, |p| {
                        give_up(around.trace, &mut around.extras.left, counters, now, p, false);
                    }),
                }
            });
            self.mark_burst(around, batch.as_ref());
            // If all that a receiver or the store had was too old, what waits behind may be younger.
            if batch.is_some() || (to.is_none() && !self.fill(around, station)) {
                return batch;
            }
        }
    }

    /// Makes the batch to `to` again whose answer did not come: from MPDUs that were sent before.
    pub(crate) fn batch_again(
        &mut self,
        around: &mut Around<'_>,
        making: &mut Making<'_>,
        to: StationId,
    ) -> Option<Batch> {
        self.batch_to(around, making, to, false)
    }

    /// Makes the batch to `to` again that had the last turn and was not sent, with another limit. It keeps its turn,
    /// for which packets that join it are charged.
    pub(crate) fn same_turn(
        &mut self,
        around: &mut Around<'_>,
        making: &mut Making<'_>,
        to: StationId,
    ) -> Option<Batch> {
        let &mut Making { station, limit, narrow, .. } = making;
        let present = Chosen { rate: around.air.rate(station, to), alone: false }.at_most(around.air, narrow);
        let room = present.room(around.air, (station, to), limit);
        self.join(around, station, &Batch::empty(to), room);
        self.batch_to(around, making, to, true)
    }

    /// Makes a batch to `to`; without `with_new` from MPDUs that were sent before.
    fn batch_to(
        &mut self,
        around: &mut Around<'_>,
        making: &mut Making<'_>,
        to: StationId,
        with_new: bool,
    ) -> Option<Batch> {
        let (now, air) = (around.now, around.air);
        let &mut Making { station, limit, narrow, failures, ref mut chosen, ref mut counters } = making;
        let batch = self.change(around, station, |store, around| {
            let fits = |to| {
                *chosen = rate(&mut around.extras.rates, now, air, (station, to), failures).at_most(air, narrow);
                chosen.room(air, (station, to), limit)
            };
            store.take_to(to, with_new, now, fits, |p: &Packet| {
                give_up(around.trace, &mut around.extras.left, counters, now, p, false);
            })
        });
        self.mark_burst(around, batch.as_ref());
        batch
    }

    /// Marks packets of `batch`, just made or made longer, that were in no batch on the air before: an MPDU does not
    /// change once it is sent.
    #[inline]
    fn mark_burst(&mut self, around: &mut Around<'_>, batch: Option<&Batch>) {
        if let (Some(store), Some(batch)) = (self.store.as_deref_mut(), batch)
            && let Some(marks) = store.marks()
        {
            let (now, sink) = (around.now, &mut *around.sink);
            for p in store.unsent(batch.id).filter(|p| marks.marks(now, p)) {
                sink.mark(p);
            }
            self.meter.settle(now, around.sink, around.trace);
        }
    }

    /// `batch`, which has this room, takes what waits for its receiver. A discipline that gives turns is asked for
    /// packets to this receiver only. `None` if nothing waits.
    pub(crate) fn extend(
        &mut self,
        around: &mut Around<'_>,
        station: StationId,
        batch: &Batch,
        room: Room,
    ) -> Option<Batch> {
        if self.gives_turns {
            self.join(around, station, batch, room);
        } else {
            self.fill(around, station);
        }
        let longer = self.store.as_deref_mut()?.extend(batch, room);
        self.mark_burst(around, longer.as_ref());
        longer
    }

    /// Fills the store. True if a packet came.
    #[inline]
    pub(crate) fn fill(&mut self, around: &mut Around<'_>, station: StationId) -> bool {
        self.refused = false;
        self.meter.waiting() > 0 && self.fill_with_waiting(around, station)
    }

    fn fill_with_waiting(&mut self, around: &mut Around<'_>, station: StationId) -> bool {
        let mut came = false;
        while self.has_room(around, station)
            && let Some(p) = self.dequeue(around)
        {
            came |= self.store(around, station, &p, (p.next_hop, p.queued));
        }
        came
    }

    /// Lets the discipline give a turn to a receiver: its packets go into the store as long as they may fit into a
    /// PSDU with the room `fits`. Returns the receiver.
    fn give_turn(
        &mut self,
        around: &mut Around<'_>,
        station: StationId,
        fits: &dyn Fn(StationId) -> Room,
    ) -> Option<StationId> {
        let Around { now, air, link, ref mut sink, ref mut trace, ref mut extras, .. } = *around;
        let cx = &mut Cx { now, rng: &mut self.rng };
        let (store, meter, category) = (self.store.as_deref_mut()?, &mut self.meter, self.category);
        let made = Batch::default();
        let mut below = BelowQueue { now, station, category, store, fits, made, meter, trace, extras, air };
        let to = self.discipline.by_receiver()?.serve(cx, link, &mut below, sink);
        around.dropped();
        self.meter.settle(now, around.sink, around.trace);
        to
    }

    /// Lets the discipline, which gives turns, add packets to `made`, which had the last turn and has this
    /// room.
    fn join(&mut self, around: &mut Around<'_>, station: StationId, made: &Batch, room: Room) {
        if self.meter.waiting() == 0 {
            return;
        }
        let Around { now, air, link, ref mut sink, ref mut trace, ref mut extras, .. } = *around;
        let cx = &mut Cx { now, rng: &mut self.rng };
        let (meter, category, fits) = (&mut self.meter, self.category, &|_| room);
        let Some(store) = self.store.as_deref_mut() else { return };
        let mut below = BelowQueue { now, station, category, store, fits, made: *made, meter, trace, extras, air };
        if let Some(discipline) = self.discipline.by_receiver() {
            discipline.join(cx, link, made.to, &mut below, sink);
        }
        around.dropped();
        self.meter.settle(now, around.sink, around.trace);
    }

    /// Something for `to` may wait in the store: then this receiver needs a turn.
    pub(crate) fn hold(&mut self, link: &dyn Link, to: StationId) {
        if self.gives_turns
            && let Some(p) = self.store.as_ref().and_then(|store| store.held(to))
            && let Some(by_receiver) = self.discipline.by_receiver()
        {
            by_receiver.hold(link, p);
        }
    }
}

impl Queues {
    /// From now on packets are sent in aggregates, from stores that `store` makes.
    pub(crate) fn aggregate(&mut self, store: impl Fn() -> Store) {
        for queue in self.all_mut() {
            queue.store = Some(Box::new(store().marking(queue.discipline.marks_below())));
        }
    }

    /// The queue of packets of `category`.
    #[inline]
    pub(crate) fn of(&mut self, category: Category) -> &mut Queue {
        match self {
            Queues::One(queue) => queue,
            Queues::ByCategory(queues) => &mut queues[category as usize],
        }
    }

    /// See [`Queues::of`].
    #[inline]
    pub(crate) fn get(&self, category: Category) -> &Queue {
        match self {
            Queues::One(queue) => queue,
            Queues::ByCategory(queues) => &queues[category as usize],
        }
    }

    /// The next packet and its category, if one may leave.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, around: &mut Around<'_>) -> Option<(Category, Packet)> {
        match self {
            Queues::One(queue) => Some((queue.category, queue.dequeue(around)?)),
            Queues::ByCategory(queues) => queues.iter_mut().find_map(|q| Some((q.category, q.dequeue(around)?))),
        }
    }

    /// The next batch of the highest category that has one, with the category.
    pub(crate) fn next_batch(&mut self, around: &mut Around<'_>, making: &mut Making<'_>) -> Option<(Category, Batch)> {
        self.all_mut().iter_mut().find_map(|queue| Some((queue.category, queue.next_batch(around, making)?)))
    }

    /// All, the highest category first.
    pub(crate) fn all_mut(&mut self) -> &mut [Queue] {
        match self {
            Queues::One(queue) => std::slice::from_mut(queue),
            Queues::ByCategory(queues) => &mut queues[..],
        }
    }

    /// See [`Queues::all_mut`].
    #[inline]
    pub(crate) fn all(&self) -> &[Queue] {
        match self {
            Queues::One(queue) => std::slice::from_ref(queue),
            Queues::ByCategory(queues) => &queues[..],
        }
    }
}

/// The link of a discipline that has a store below it.
struct OverStore<'a> {
    link: &'a dyn Link,
    store: &'a Store,
}

impl Link for OverStore<'_> {
    fn neighbour(&self, p: &Packet) -> u32 {
        self.link.neighbour(p)
    }
    fn exchange(&self, neighbour: u32, bytes: u32) -> Span {
        self.link.exchange(neighbour, bytes)
    }
    fn contention(&self, contenders: u32) -> Span {
        self.link.contention(contenders)
    }
    fn slot(&self) -> Span {
        self.link.slot()
    }
    fn local(&self) -> Option<Local> {
        self.link.local()
    }
    fn below(&self, neighbour: u32) -> u64 {
        self.store.bytes_to(neighbour)
    }
}

/// What a discipline that gives turns sees below it.
struct BelowQueue<'a, 'b> {
    now: Time,
    station: StationId,
    category: Category,
    store: &'a mut Store,
    /// The room of a PSDU to a receiver.
    fits: &'a dyn Fn(StationId) -> Room,
    /// What is in the PSDU already.
    made: Batch,
    meter: &'a mut QueueMeter,
    trace: &'a mut &'b mut Trace,
    extras: &'a mut Extras,
    air: &'a Air,
}

/// The expected airtime of a packet from `from` to `to`, which is pending now; zero without a limit.
#[inline(always)]
fn take_airtime(
    aql: Option<&mut Aql>,
    air: &Air,
    (from, to): (StationId, StationId),
    category: Category,
    bytes: u32,
) -> Span {
    let Some(aql) = aql else { return Span::ZERO };
    let airtime = expected(air.format_to(from, to), category, bytes);
    aql.take(airtime);
    airtime
}

impl Below for BelowQueue<'_, '_> {
    fn holds(&self, receiver: u32) -> bool {
        self.store.holds(receiver)
    }
    fn has_room(&self, receiver: u32) -> bool {
        let allowed = self.extras.aql(self.station).is_none_or(|aql| aql.allows(self.store.pending_for(receiver)));
        allowed && self.store.has_room_for(receiver, (self.fits)(receiver), &self.made)
    }
    fn put(&mut self, p: Packet, sink: &mut Sink) {
        if let Some(left) = &mut self.extras.left {
            left.extend(sink.dropped.iter().map(|(p, _)| *p));
        }
        self.meter.settle(self.now, sink, self.trace);
        self.meter.taken(self.now, &p);
        let ends = (self.station, p.next_hop);
        let airtime = take_airtime(self.extras.aql_mut(self.station), self.air, ends, self.category, p.size);
        self.store.put(&p, (p.next_hop, p.queued), self.now, airtime, |to| self.air.agreed(self.station, to));
    }
}
