//! A Mac that sends in aggregates: batches of packets from the stores of its queues.

use super::super::around::{Around, give_up};
use super::super::plan::{Answer, Burst, Content};
use super::super::queues::Making;
use super::super::rates::{AttemptOutcome, Chosen};
use super::super::store::{Batch, End, Fate, Store};
use super::super::timing::RateNumber;
use super::{Failure, Heard, InService, Mac, Next, Queues, Service};
use crate::wifi::access::Draw;
use crate::wifi::frame::Addba;
use crate::wifi::ids::{Category, StationId};
use crate::wifi::medium::phy::Protection;
use crate::wifi::medium::phy::ppdu::DELIMITER;
use contend_core::packet::Body;
use contend_core::{FlowId, Packet, Span, Time};
use std::collections::VecDeque;

/// The batches of a Mac besides the one in service.
#[derive(Debug)]
pub(super) struct Batches {
    /// The most that are fixed, with the one in service; 0: not even that one, until it is sent.
    fixed: usize,
    /// Those that are fixed behind the one in service, in the order in which they go on the air.
    ahead: VecDeque<InService>,
    /// Failures in a row.
    failures: u32,
    /// The action frames that go before all batches.
    actions: VecDeque<Action>,
    /// True if the present transmission opportunity began with a request at 20 MHz: its data are no wider.
    narrow: bool,
}

/// An action frame that waits.
#[derive(Debug)]
struct Action {
    to: StationId,
    category: Category,
    addba: Addba,
}

impl Batches {
    /// An attempt failed. True after as many failures in a row as `most`; they are then counted from 0.
    fn failed(&mut self, failure: Failure, most: u32) -> bool {
        self.failures += u32::from(failure != Failure::Internal);
        let are_most = self.failures >= most;
        if are_most {
            self.failures = 0;
        }
        are_most
    }
}

impl Mac {
    /// From now on it sends in aggregates, from stores that `store` makes. At most `fixed` batches, with the one in
    /// service, are made before they are sent.
    pub(crate) fn aggregate(&mut self, store: impl Fn() -> Store, fixed: usize) {
        self.queues.aggregate(store);
        let (ahead, actions) = (VecDeque::new(), VecDeque::new());
        self.service = Service::Batched(Batches { fixed, ahead, failures: 0, actions, narrow: false });
    }

    fn batches(&mut self) -> Option<&mut Batches> {
        match &mut self.service {
            Service::Single | Service::Beacon => None,
            Service::Batched(batches) => Some(batches),
        }
    }

    /// True if the batch in service takes more packets until it is sent.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.service, Service::Batched(Batches { fixed: 0, .. }))
    }

    /// True if another batch may be made while one is in service.
    #[inline]
    pub(crate) fn may_look_ahead(&self) -> bool {
        let Service::Batched(b) = &self.service else { return false };
        b.ahead.len() + 1 < b.fixed && self.in_service.is_some()
    }

    /// Makes as many batches as may be fixed.
    pub(crate) fn look_ahead(&mut self, around: &mut Around<'_>) {
        while self.may_look_ahead()
            && let Some(next) = self.make(around, (self.txop, false), |queues, around, m| queues.next_batch(around, m))
        {
            if let Some(b) = self.batches() {
                b.ahead.push_back(next);
            }
        }
    }

    /// Takes the batch that was fixed first into service; if none is fixed, a new one. The exchange of a new one takes
    /// no longer than `limit`, if one MPDU does not; without limits on opportunities `limit` is zero. With `narrow` its
    /// data are no wider than 20 MHz.
    pub(super) fn take_batch(&mut self, around: &mut Around<'_>, (limit, narrow): (Span, bool)) {
        if self.take_action(around) {
            return;
        }
        let mut next = self.batches().and_then(|b| b.ahead.pop_front());
        if let Some(s) = next.as_mut().filter(|_| narrow) {
            s.burst.rate = around.air.narrow(s.burst.rate);
        }
        self.in_service =
            next.or_else(|| self.make(around, (limit, narrow), |queues, around, m| queues.next_batch(around, m)));
        self.begin_batch(around.now);
    }

    /// Makes a batch with `make`.
    #[inline(never)]
    fn make(
        &mut self,
        around: &mut Around<'_>,
        (limit, narrow): (Span, bool),
        make: impl FnOnce(&mut Queues, &mut Around<'_>, &mut Making<'_>) -> Option<(Category, Batch)>,
    ) -> Option<InService> {
        let (station, failures) = (self.station, self.limits.short);
        let (chosen, counters) = (Chosen::default(), &mut self.counters);
        let mut making = Making { station, limit, narrow, failures, chosen, counters };
        let (category, batch) = make(&mut self.queues, around, &mut making)?;
        let (packet, sequence) = self.queues.get(category).stored()?.first(batch.id)?;
        let rate = if batch.mpdus == 0 { around.air.rate(station, batch.to) } else { making.chosen.rate };
        let alone = making.chosen.alone;
        Some(InService { alone, ..InService::new(self.burst(&batch, rate), category, batch, packet, sequence) })
    }

    /// What `batch` is on the air.
    fn burst(&self, batch: &Batch, rate: RateNumber) -> Burst {
        let rule = &self.limits.protection;
        let (content, protection) = match batch.mpdus {
            0 => (Content::Request(batch.bitmap), Protection::None),
            1 if batch.packets == 1 => (Content::Packet, rule.of(batch.bytes)),
            1 => {
                let mpdu = batch.psdu - DELIMITER;
                (Content::Together(mpdu), rule.of_psdu(mpdu))
            }
            _ => (Content::Aggregate(batch.psdu, batch.bitmap), rule.of_psdu(batch.psdu)),
        };
        let (from, to, bytes) = (self.station, batch.to, batch.bytes);
        Burst { from, to, bytes, content, protection, rate, reserves: Span::ZERO }
    }

    /// The batch in service goes on the air and takes what has come for its receiver since it was made.
    pub(crate) fn extend(&mut self, around: &mut Around<'_>) {
        let Some(InService { burst, category, batch, alone, .. }) = self.in_service else { return };
        if batch.mpdus == 0 || alone {
            return;
        }
        let room = around.air.room((burst.from, burst.to), burst.rate, self.txop);
        let queue = self.queues.of(category);
        let longer = queue.extend(around, self.station, &batch, room);
        self.negotiate(around.now);
        let Some(batch) = longer else { return };
        let (burst, first) = (self.burst(&batch, burst.rate), self.queues.get(category).stored());
        if let (Some(s), Some((packet, sequence))) = (&mut self.in_service, first.and_then(|s| s.first(batch.id))) {
            (s.burst, s.batch, s.packet, s.sequence) = (burst, batch, *packet, sequence);
        }
    }

    /// The batch in service is the current one of its store.
    fn begin_batch(&mut self, now: Time) {
        if let Some(s) = &mut self.in_service
            && let Some(store) = self.queues.of(s.category).stored_mut()
        {
            store.begin(s.batch.id);
            // The window of a request may have moved since the request was made.
            s.sequence = store.first(s.batch.id).map_or(s.sequence, |(_, sequence)| sequence);
        }
        self.negotiate(now);
    }

    // ---- agreements ----

    /// If more waits for the receiver of the batch in service than an MPDU, and there is no agreement, an ADDBA request
    /// goes next.
    #[inline]
    fn negotiate(&mut self, now: Time) {
        if let Some(s) = &self.in_service
            && let Some(store) = self.queues.of(s.category).stored_mut()
            && let Some(addba) = store.lacks_agreement(s.batch.id, now)
        {
            let (to, category) = (s.burst.to, s.category);
            self.owe_action(to, category, addba);
        }
    }

    /// An action frame waits, which goes before all batches.
    pub(crate) fn owe_action(&mut self, to: StationId, category: Category, addba: Addba) {
        if let Some(b) = self.batches() {
            b.actions.push_back(Action { to, category, addba });
        }
    }

    /// The station `to` has agreed to take A-MPDUs of `category`.
    pub(crate) fn agree(&mut self, to: StationId, category: Category) {
        if let Some(store) = self.queues.of(category).stored_mut() {
            store.agree(to);
        }
    }

    /// Takes the next action frame into service. False if none waits.
    #[inline]
    fn take_action(&mut self, around: &Around<'_>) -> bool {
        let Service::Batched(Batches { actions, .. }) = &mut self.service else { return false };
        let Some(Action { to, category, addba }) = actions.pop_front() else { return false };
        let (from, bytes, content, protection) =
            (self.station, addba.bytes(), Content::Action(addba), Protection::None);
        let rate = around.air.lowest();
        let burst = Burst { from, to, bytes, content, protection, rate, reserves: Span::ZERO };
        self.sequence = (self.sequence + 1) & 0xfff;
        let nothing = Packet::new(FlowId(u32::MAX), bytes, around.now, Body::Udp { seq: 0 }).toward(to);
        self.in_service = Some(InService::new(burst, category, Batch::default(), &nothing, self.sequence));
        true
    }

    /// The action frame in service was acknowledged, or is given up.
    fn end_action(&mut self, now: Time) {
        if let Some(s) = self.in_service.take()
            && let Content::Action(Addba { is_response: false, .. }) = s.burst.content
            && let Some(store) = self.queues.of(s.category).stored_mut()
        {
            store.asked(s.burst.to, now);
        }
    }

    /// The action frame in service has failed. It is given up after as many failures as the short limit.
    fn fail_action(&mut self, around: &mut Around<'_>, heard: Heard<'_>, failure: Failure) -> Next {
        let most = self.limits.short;
        let Some(s) = &mut self.in_service else { return Next::Idle(0) };
        s.short += u32::from(failure != Failure::Internal);
        s.attempt = s.attempt.saturating_add(u8::from(failure != Failure::Internal));
        let is_over = s.short >= most;
        self.end_opportunity();
        let slots = self.backoff(around.now, if is_over { Draw::Dropped } else { Draw::Failure }, heard);
        if !is_over {
            return Next::Again(slots);
        }
        self.end_action(around.now);
        self.take_next(around);
        self.other(slots)
    }

    fn has_action(&self) -> bool {
        self.in_service.as_ref().is_some_and(|s| matches!(s.burst.content, Content::Action(_)))
    }

    /// After a failure: the batch that goes before those of other categories, or before batches that are fixed. With
    /// `keeps_turn` it is made again for the turn that it has.
    fn make_again(
        &mut self,
        around: &mut Around<'_>,
        category: Category,
        to: StationId,
        keeps_turn: bool,
    ) -> Option<InService> {
        if self.batches().is_some_and(|b| b.fixed > 1) {
            // The hardware tries what it has.
            return self.make(around, (self.txop, false), |queues, around, making| {
                Some((category, queues.of(category).batch_again(around, making, to)?))
            });
        }
        if keeps_turn {
            return self.make_for_same_turn(around, category, to);
        }
        if self.queues.all().len() == 1 {
            return None;
        }
        self.make(around, (self.txop, false), |queues, around, making| {
            Some((category, queues.of(category).next_batch(around, making)?))
        })
    }

    /// Makes the batch again that had the last turn and was not sent.
    fn make_for_same_turn(&mut self, around: &mut Around<'_>, category: Category, to: StationId) -> Option<InService> {
        self.make(around, (self.txop, false), |queues, around, making| {
            Some((category, queues.of(category).same_turn(around, making, to)?))
        })
    }

    /// The batch in service was answered, see [`Mac::answered`].
    pub(super) fn batch_answered(&mut self, around: &mut Around<'_>, snr: Option<f64>) {
        if self.has_action() {
            return self.end_action(around.now);
        }
        let Some(InService { burst, category, .. }) = self.in_service.take() else { return };
        let asked = matches!(burst.content, Content::Request(_)) && around.air.asks_at_20_mhz(burst.from);
        if let Some(b) = self.batches() {
            b.failures = 0;
            b.narrow |= asked;
        }
        let outcome = AttemptOutcome { answered: true, snr, ..self.end_batch(around, category, End::Answered) };
        around.sent(&burst, &outcome);
    }

    /// See [`Mac::goes_on`].
    pub(super) fn goes_on_with_batch(&mut self, around: &mut Around<'_>, left: Span) -> bool {
        let (fixed, narrow) =
            self.batches().map_or((None, false), |b| (b.ahead.front().map(|s| s.burst.rate), b.narrow));
        self.take_batch(around, (if left.is_zero() { self.txop } else { left }, narrow));
        let fits = self.fits(around, left);
        if !fits {
            self.end_opportunity();
        }
        if self.has_action() {
            return fits;
        }
        // A batch that was made for the rest of this opportunity is made again for the next one, which has more time.
        match (fits, fixed, &mut self.in_service) {
            (false, Some(rate), Some(s)) => s.burst.rate = rate,
            (false, None, Some(s)) => {
                let (category, batch) = (s.category, s.batch);
                if batch.mpdus > 0
                    && let Some(rates) = around.extras.rates.get_mut(self.station as usize)
                {
                    rates.keep(batch.to);
                }
                self.in_service = None;
                self.release_batch(around, category, End::NotSent);
                if self.queues.get(category).gives_turns() {
                    self.in_service = self.make_for_same_turn(around, category, batch.to);
                    self.begin_batch(around.now);
                }
                if self.in_service.is_none() {
                    self.take_batch(around, (self.txop, false));
                }
            }
            _ => {}
        }
        self.look_ahead(around);
        fits
    }

    /// The batch in service has failed. The contention window grows until as many failures in a row as the short limit;
    /// then it starts again.
    pub(super) fn fail_batch(
        &mut self,
        around: &mut Around<'_>,
        heard: Heard<'_>,
        missing: Answer,
        failure: Failure,
    ) -> Next {
        if self.has_action() {
            return self.fail_action(around, heard, failure);
        }
        let Some(&InService { burst, category, .. }) = self.in_service.as_ref() else { return Next::Idle(0) };
        let sent = around.has_sent(&burst, missing, failure);
        let most = self.limits.short;
        let start_again = self.batches().is_some_and(|b| b.failed(failure, most));
        self.end_opportunity();
        let slots = self.backoff(around.now, if start_again { Draw::Dropped } else { Draw::Failure }, heard);
        self.in_service = None;
        // A turn is used when data are on the air. Until then the receiver keeps it, and it is not charged again.
        let is_fixed = self.batches().is_some_and(|b| b.fixed > 1);
        let keeps_turn = !sent && !start_again && !is_fixed && self.queues.get(category).gives_turns();
        if keeps_turn {
            self.release_batch(around, category, End::NotSent);
        } else {
            let outcome = self.end_batch(around, category, if sent { End::NotAnswered } else { End::NotSent });
            if sent {
                around.sent(&burst, &outcome);
            }
        }
        if !start_again {
            self.in_service = self.make_again(around, category, burst.to, keeps_turn);
            self.begin_batch(around.now);
        }
        if self.in_service.is_some() {
            self.look_ahead(around);
        } else {
            self.take_next(around);
        }
        self.other(slots)
    }

    /// The transmission opportunity is over: the data of the next one have their own width.
    pub(super) fn end_opportunity(&mut self) {
        if let Some(b) = self.batches() {
            b.narrow = false;
        }
    }

    /// The batch of `category` that was in service is over. What is left of it needs another turn.
    fn end_batch(&mut self, around: &mut Around<'_>, category: Category, end: End) -> AttemptOutcome {
        let Some((to, outcome)) = self.release_batch(around, category, end) else { return AttemptOutcome::default() };
        self.queues.of(category).hold(around.link, to);
        outcome
    }

    /// The batch of `category` that was in service is over. Returns its receiver and what became of it.
    fn release_batch(
        &mut self,
        around: &mut Around<'_>,
        category: Category,
        end: End,
    ) -> Option<(StationId, AttemptOutcome)> {
        let (now, counters, queue) = (around.now, &mut self.counters, self.queues.of(category));
        let ended = queue.change(around, self.station, |store, around| {
            store.end(now, end, around.extras.left.is_some(), |p, fate| match fate {
                Fate::Acknowledged => around.leaves(p),
                Fate::GivenUp { received } => {
                    give_up(around.trace, &mut around.extras.left, counters, now, p, received);
                }
            })
        });
        self.fill(around, category);
        ended
    }
}
