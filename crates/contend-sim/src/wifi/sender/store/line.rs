//! The packets of a store to one receiver.
//!
//! A line has packets, and the MPDUs that carry the first of them, in the order of their sequence numbers. It begins
//! with the oldest MPDU that one of the two ends still needs: the sender keeps an MPDU until it is acknowledged or
//! given up, the receiver until all MPDUs before it are there. So one line has both the window of the sender and the
//! reordering of the receiver, and no packet is copied. An MPDU keeps its packets when it is retransmitted.

use super::super::rates::AttemptOutcome;
use super::{Batch, End, Fate, Headers, SUBFRAME};
use crate::wifi::frame::Addba;
use crate::wifi::ids::StationId;
use crate::wifi::sender::timing::Room;
use crate::wifi::spec::Aggregation;
use contend_core::qdisc::Backlog;
use contend_core::{Packet, Span, Time};
use std::collections::VecDeque;

/// The packets to one receiver. Places count from the first.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) to: StationId,
    /// What both ends can do.
    spec: Aggregation,
    /// First those of the MPDUs, then those that were never sent.
    pub(super) packets: VecDeque<Held>,
    /// How many packets the line has forgotten.
    pub(super) forgotten: u64,
    /// Place of the first packet that was never sent.
    pub(super) new: usize,
    /// In the order of their sequence numbers.
    pub(super) mpdus: VecDeque<Mpdu>,
    /// The batches that are not over, besides requests.
    batches: Vec<Batch>,
    /// MPDUs that have arrived without an acknowledgment so far.
    pub(super) unreported: u32,
    /// The sequence number of the first MPDU, counted without end.
    pub(super) first: u64,
    /// Place of the oldest MPDU that the sender still needs.
    pub(super) window: usize,
    /// Place of the first MPDU that the receiver has not passed on.
    pub(super) next: usize,
    /// Packets of this MPDU that the receiver has passed on.
    pub(super) passed: u32,
    /// The receiver waits for no MPDU with a lower sequence number.
    pub(super) told: u64,
    /// Packets that the sender still needs and that are in no batch, and the bytes of their IP packets.
    load: Backlog,
    /// The same of those that were never sent.
    new_load: Backlog,
    /// The expected airtime of all packets that the sender still needs.
    pub(super) pending: Span,
    /// True if a request is sent before further data.
    pub(super) asks: bool,
    /// True if this request is made.
    pub(super) is_asking: bool,
    /// Requests without an answer in a row, and after how many of them none follows before an answer to data.
    unheard: u32,
    most_unheard: u32,
    /// True if so many were not answered. Linux asks again when it has heard the receiver (`bar_pending` of mac80211).
    is_mute: bool,
    /// True if the receiver is gone: the sender gives up all packets when it can.
    pub(super) is_parted: bool,
    pub(super) agreement: Agreement,
}

/// The agreement without which no A-MPDU is sent (IEEE 802.11-2020 §10.25.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// There is one, or the line needs none.
    Made,
    /// There is none. An ADDBA request may be sent from this time on.
    Missing(Time),
}

/// A packet of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) packet: Packet,
    /// Its number in the order in which the store took packets from the queue, from 1.
    pub(super) number: u64,
    /// Its expected airtime in ns; 0 without a limit of airtime.
    pub(super) airtime: u32,
}

/// One MPDU, which has a sequence number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mpdu {
    /// Its first packet, counted without end.
    pub(super) start: u64,
    /// Its packets; an A-MSDU has several.
    pub(super) packets: u32,
    /// Bytes of its IP packets.
    pub(super) payload: u32,
    /// The sum of their [`Held::airtime`].
    airtime: u32,
    /// Its bytes, with header and FCS.
    pub(super) bytes: u32,
    /// When its first packet was queued, or came into the line if lifetimes count from there.
    queued: Time,
    /// How often it was sent.
    pub(super) attempts: u32,
    /// The number of its last batch, which may be over.
    pub(super) batch: u32,
    /// True if the receiver has it from this or an earlier attempt.
    pub(super) received: bool,
    /// True if the receiver has it from the latest attempt.
    pub(super) arrived: bool,
    /// True if the sender needs it no longer: it is acknowledged or given up.
    settled: bool,
    /// With a reordering timeout: since when the receiver has it without passing it on; else [`Time::NEVER`].
    pub(super) held: Time,
    /// True if the receiver has passed on later ones, and drops it if it comes.
    pub(super) passed_over: bool,
}

impl Mpdu {
    /// Its packets, and the bytes of their IP packets.
    fn load(&self) -> Backlog {
        Backlog { packets: self.packets.into(), bytes: self.payload.into() }
    }
}

/// True if `m` is in one of `batches`, which are not over.
fn is_in(batches: &[Batch], m: &Mpdu) -> bool {
    batches.iter().any(|b| b.id.number == m.batch)
}

/// True if the sender gives `m` up at `now`.
fn is_given_up(spec: &Aggregation, m: &Mpdu, now: Time) -> bool {
    spec.attempts.is_some_and(|most| m.attempts >= most) || is_stale(spec, m.queued, now)
}

/// True if a packet that was queued at `queued` is too old.
fn is_stale(spec: &Aggregation, queued: Time, now: Time) -> bool {
    !spec.lifetime.is_zero() && now.since(queued) > spec.lifetime
}

impl Agreement {
    /// That of a line to which nothing was sent yet.
    fn first(spec: &Aggregation) -> Agreement {
        if spec.addba.is_zero() || spec.mpdus == 1 { Agreement::Made } else { Agreement::Missing(Time::ZERO) }
    }
}

impl Line {
    /// A line to `to`, which gives up its request after `most_unheard` of them without an answer.
    pub(super) fn new(to: StationId, spec: Aggregation, most_unheard: u32) -> Line {
        Line {
            to,
            spec,
            packets: VecDeque::new(),
            forgotten: 0,
            new: 0,
            mpdus: VecDeque::new(),
            batches: Vec::new(),
            unreported: 0,
            first: 0,
            window: 0,
            next: 0,
            passed: 0,
            told: 0,
            load: Backlog::default(),
            new_load: Backlog::default(),
            pending: Span::ZERO,
            asks: false,
            is_asking: false,
            unheard: 0,
            most_unheard,
            is_mute: false,
            is_parted: false,
            agreement: Agreement::first(&spec),
        }
    }

    /// True if the sender needs none of its packets any more.
    pub(super) fn is_settled(&self) -> bool {
        self.window == self.mpdus.len() && self.new == self.packets.len() && !self.asks
    }

    /// The receiver is gone. It passes on what it has.
    pub(super) fn part(&mut self) {
        self.is_parted = true;
        // A request that waits or is on the air is not repeated.
        if self.agreement == Agreement::Made {
            self.agreement = Agreement::first(&self.spec);
        }
        self.asks = false;
        self.told = self.first + self.mpdus.len() as u64;
    }

    /// Takes `p`, which was queued at `queued`, at `now`; for the other values see [`Held`].
    #[inline(always)]
    pub(super) fn put(&mut self, p: &Packet, number: u64, airtime: u32, queued: Time, now: Time) {
        self.load.add(p);
        self.new_load.add(p);
        self.pending += Span::from_nanos(airtime.into());
        // Changed where it stands: a packet is copied once.
        let held = self.packets.push_back_mut(Held { packet: *p, number, airtime });
        held.packet.next_hop = self.to;
        held.packet.queued = if self.spec.lifetime_below { now } else { queued };
    }

    /// True if the window has room for another MPDU.
    fn is_open(&self) -> bool {
        self.mpdus.len() - self.window < self.spec.window as usize
    }

    /// True if another packet may fit into the next batch, which has this room and of which `made` is there already.
    pub(super) fn has_room(&self, room: Room, made: &Batch) -> bool {
        if self.load.packets == 0 && made.mpdus == 0 {
            return self.is_open();
        }
        let (spec, most) = (&self.spec, room.most.min(self.spec.bytes));
        // The fewest MPDUs that carry so much.
        let mpdus = |load: &Backlog| if spec.msdu == 0 { load.packets } else { load.bytes / u64::from(spec.msdu) };
        let in_window = (self.mpdus.len() - self.window) as u64 + mpdus(&self.new_load) < u64::from(spec.window);
        let in_batch = u64::from(made.mpdus) + mpdus(&self.load) < u64::from(spec.mpdus);
        let bytes = self.load.bytes.max(mpdus(&self.load) * u64::from(room.spacing));
        in_window && in_batch && u64::from(made.psdu) + bytes < u64::from(most)
    }

    /// The first packet of `m`.
    fn first_of(&self, m: &Mpdu) -> Option<&Held> {
        self.packets.get((m.start - self.forgotten) as usize)
    }

    /// The number of the oldest packet of which a batch can be made; 0 for a request; `None` if none can be made.
    pub(super) fn oldest(&self) -> Option<u64> {
        if self.is_asking {
            return None;
        }
        let waits = |m: &&Mpdu| !m.settled && !is_in(&self.batches, m);
        let again = (self.load.packets > self.new_load.packets)
            .then(|| self.mpdus.range(self.window..).find(waits).and_then(|m| self.first_of(m)))
            .flatten();
        let new = || self.packets.get(self.new).filter(|_| self.is_open());
        again.or_else(new).map(|p| p.number).or(self.asks.then_some(0))
    }

    /// The first packet of batch `number` with its sequence number; for a request, number 0, a packet of the line and
    /// the number at which the window begins.
    pub(super) fn first(&self, number: u32) -> Option<(&Packet, u16)> {
        let sequence = |place: usize| ((self.first + place as u64) & 0xfff) as u16;
        if number == 0 {
            return self.packets.front().map(|p| (&p.packet, sequence(self.window)));
        }
        let mut sent = (self.window..).zip(self.mpdus.range(self.window..));
        let (place, m) = sent.find(|(_, m)| m.batch == number)?;
        self.first_of(m).map(|p| (&p.packet, sequence(place)))
    }

    /// Drops the packets that were never sent and have waited for too long. Returns their number.
    pub(super) fn drop_stale(&mut self, now: Time, gone: &mut impl FnMut(&Packet)) -> u32 {
        let (spec, mut dropped) = (self.spec, 0);
        while let Some(&Held { packet: p, airtime, .. }) =
            self.packets.get(self.new).filter(|p| self.is_parted || is_stale(&spec, p.packet.queued, now))
        {
            gone(&p);
            self.load.remove(&p);
            self.new_load.remove(&p);
            self.pending -= Span::from_nanos(airtime.into());
            self.packets.remove(self.new);
            dropped += 1;
        }
        dropped
    }

    /// `batch` with the next MPDUs in the window, those that were sent before first, as long as the PSDU has room.
    /// At least one, if any waits; `with_new`: also packets that were never sent.
    pub(super) fn fill(&mut self, room: Room, headers: &Headers, mut batch: Batch, with_new: bool) -> Option<Batch> {
        let spec = self.spec;
        let mpdus = if self.agreement == Agreement::Made { spec.mpdus } else { 1 };
        let limits = (room.most.min(spec.bytes), mpdus, room.spacing.next_multiple_of(4));
        let before = batch.load();
        let batches = &self.batches;
        let waits = |m: &&mut Mpdu| !m.settled && !is_in(batches, m);
        let mut waiting = self.mpdus.range_mut(self.window..).filter(waits);
        let goes_on = waiting.all(|m| batch.add(m, limits)) && with_new;
        let again = batch.load();
        while goes_on
            && self.is_open()
            && let Some(mut m) = self.gather(spec.msdu, limits.0.saturating_sub(batch.next), headers)
            && batch.add(&mut m, limits)
        {
            self.new += m.packets as usize;
            self.mpdus.push_back(m);
        }
        self.load = self.load - (batch.load() - before);
        self.new_load = self.new_load - (batch.load() - again);
        if batch.mpdus == 0 {
            return None;
        }
        match self.batches.iter_mut().find(|b| b.id == batch.id) {
            Some(shorter) => *shorter = batch,
            None => self.batches.push(batch),
        }
        Some(batch)
    }

    /// The packets of batch `number` in MPDUs that were not sent before. Each MPDU of the batch has its present attempt
    /// counted.
    pub(super) fn unsent(&mut self, number: u32) -> impl Iterator<Item = &mut Packet> {
        let sent = self.mpdus.range(self.window..).filter(|m| m.batch == number && m.attempts == 1);
        // What lies between the MPDUs of a batch that were never sent was not sent either.
        let (mut from, mut to) = (self.packets.len(), 0);
        for m in sent.filter(|_| number > 0) {
            let place = (m.start - self.forgotten) as usize;
            (from, to) = (from.min(place), to.max(place + m.packets as usize));
        }
        self.packets.range_mut(from.min(to)..to).map(|held| &mut held.packet)
    }

    /// Bytes of the IP packets that the sender still needs.
    pub(super) fn bytes(&self) -> u64 {
        let sent = self.mpdus.range(self.window..).filter(|m| !m.settled).map(|m| u64::from(m.payload));
        sent.sum::<u64>() + self.new_load.bytes
    }

    /// See [`super::Store::lacks_agreement`].
    #[inline]
    pub(super) fn lacks_agreement(&mut self, now: Time) -> Option<Addba> {
        match self.agreement {
            Agreement::Missing(from) if from <= now && self.load.packets > 0 => {}
            Agreement::Missing(_) | Agreement::Made => return None,
        }
        self.agreement = Agreement::Missing(Time::NEVER);
        let first = ((self.first + self.window as u64) & 0xfff) as u16;
        let window = u16::try_from(self.spec.window).unwrap_or(u16::MAX);
        Some(Addba { is_response: false, amsdu: self.spec.msdu > 0, window, first })
    }

    /// See [`super::Store::asked`].
    pub(super) fn asked(&mut self, now: Time) {
        if let Agreement::Missing(from) = &mut self.agreement {
            *from = now + self.spec.addba;
        }
    }

    /// An MPDU of the next packets that were never sent: one, or as many as fit into an A-MSDU of `msdu` bytes and an
    /// MPDU of `most` bytes.
    fn gather(&self, msdu: u32, most: u32, headers: &Headers) -> Option<Mpdu> {
        let &Held { packet: ref first, airtime, .. } = self.packets.get(self.new)?;
        let mut m = Mpdu {
            start: self.forgotten + self.new as u64,
            packets: 1,
            payload: first.size,
            airtime,
            bytes: headers.mpdu + first.size,
            queued: first.queued,
            attempts: 0,
            batch: 0,
            received: false,
            arrived: false,
            settled: false,
            held: Time::NEVER,
            passed_over: false,
        };
        if msdu == 0 {
            return Some(m);
        }
        let mut together = SUBFRAME + headers.llc + first.size;
        for Held { packet: p, airtime, .. } in self.packets.range(self.new + 1..) {
            together = together.next_multiple_of(4) + SUBFRAME + headers.llc + p.size;
            let bytes = headers.mpdu - headers.llc + together;
            if together > msdu || bytes > most {
                break;
            }
            let (payload, airtime) = (m.payload + p.size, m.airtime + airtime);
            m = Mpdu { packets: m.packets + 1, payload, airtime, bytes, ..m };
        }
        Some(m)
    }

    /// Batch `number` is over, see [`super::Store::end`]. Returns what became of its MPDUs, the packets that the sender
    /// no longer needs, and those of them that are lost.
    pub(super) fn end(
        &mut self,
        now: Time,
        number: u32,
        end: End,
        all: bool,
        mut gone: impl FnMut(&Packet, Fate),
    ) -> (AttemptOutcome, u32, u32) {
        let spec = self.spec;
        let is_request = number == 0;
        let ended = self.batches.iter().position(|b| b.id.number == number).map(|i| self.batches.swap_remove(i));
        let (mpdus, load) = ended.map_or((0, Backlog::default()), |b| (b.mpdus, b.load()));
        let mut outcome = AttemptOutcome { mpdus, ..AttemptOutcome::default() };
        self.is_asking &= !is_request;
        self.unheard = match end {
            End::Answered => 0,
            End::NotAnswered => self.unheard + u32::from(is_request),
            End::NotSent => self.unheard,
        };
        self.is_mute = end != End::Answered && (self.is_mute || self.unheard >= self.most_unheard);
        self.asks = match end {
            _ if self.is_parted || self.is_mute => false,
            End::Answered => false,
            // An MPDU alone is answered by an ACK, and is retransmitted.
            End::NotAnswered => self.asks || (spec.asks && mpdus > 1),
            End::NotSent => self.asks,
        };
        let answered = end == End::Answered;
        // While the sender asks, it does not know what has arrived.
        let gives_up = !self.asks && (self.is_parted || spec.attempts.is_some() || !spec.lifetime.is_zero());
        if end == End::NotSent {
            let unsent = self.mpdus.range_mut(self.window..).filter(|m| m.batch == number);
            unsent.for_each(|m| m.attempts -= 1);
        }
        let (parted, packets, batches, forgotten) = (self.is_parted, &self.packets, &self.batches, self.forgotten);
        // Often no MPDU changes: nothing of the batch was received, and nothing is given up.
        let changes = gives_up || (answered && self.unreported > 0);
        let from = if changes { self.window } else { self.mpdus.len() };
        let (mut settled, mut airtime, mut reported, mut lost) = (Backlog::default(), 0, 0, 0);
        for m in self.mpdus.range_mut(from..).filter(|m| !m.settled && !is_in(batches, m)) {
            let acked = answered && m.received;
            m.settled = acked || gives_up && (parted || is_given_up(&spec, m, now));
            if !m.settled {
                continue;
            }
            settled = settled + m.load();
            airtime += u64::from(m.airtime);
            reported += u32::from(m.received);
            if m.batch == number {
                let count = if acked { &mut outcome.acked } else { &mut outcome.dropped };
                *count += 1;
            }
            // What the receiver has dropped because it came too late is acknowledged all the same.
            let has_it = m.received && !m.passed_over;
            if acked && has_it && !all {
                continue;
            }
            let fate = if acked && has_it { Fate::Acknowledged } else { Fate::GivenUp { received: has_it } };
            let place = (m.start - forgotten) as usize;
            packets.range(place..place + m.packets as usize).for_each(|p| gone(&p.packet, fate));
            lost += if has_it { 0 } else { m.packets };
        }
        self.unreported -= reported;
        // The packets of the batch wait again, but for those that the sender no longer needs.
        self.load = self.load + load - settled;
        self.pending -= Span::from_nanos(airtime);
        self.advance();
        // With nothing left to send, a request is the only way to make the receiver pass on what it holds.
        let is_last = self.window == self.mpdus.len() && self.new == self.packets.len();
        self.asks |= self.is_mute && is_last && self.next < self.window && self.unheard < 2 * self.most_unheard;
        // If neither end needs a packet, there is nothing to ask for: the request arrived, and its answer was lost.
        self.asks &= !self.packets.is_empty();
        (outcome, settled.packets as u32, lost)
    }

    /// Moves the window over the MPDUs that the sender no longer needs, and forgets those that neither end needs. If
    /// the receiver waits for one that was given up, it has to be told; with a window of one it never waits.
    fn advance(&mut self) {
        while self.mpdus.get(self.window).is_some_and(|m| m.settled) {
            self.window += 1;
        }
        if self.spec.window == 1 {
            self.next = self.next.max(self.window);
        }
        let waits_for = |m: &Mpdu| !m.received;
        let behind = self.next < self.window && self.told < self.first + self.window as u64;
        if behind && self.mpdus.range(self.next..self.window).any(waits_for) {
            // A receiver that is heard no more has waited for long enough by itself.
            match self.is_parted || self.is_mute {
                true => self.told = self.first + self.window as u64,
                false => self.asks = true,
            }
        }
        while self.is_mute
            && let Some(m) = self.mpdus.get_mut(self.next)
            && self.next < self.window
            && self.first + (self.next as u64) < self.told
            && !m.received
        {
            (m.passed_over, self.next) = (true, self.next + 1);
        }
        let over = self.window.min(self.next);
        let packets = self.mpdus.get(over).map_or(self.new, |m| (m.start - self.forgotten) as usize);
        self.mpdus.drain(..over);
        self.packets.drain(..packets);
        self.forgotten += packets as u64;
        self.first += over as u64;
        (self.window, self.next, self.new) = (self.window - over, self.next - over, self.new - packets);
    }

    /// With a reordering timeout: the receiver has, since `now`, what it has got and not passed on. Returns when it
    /// waits no longer for what is missing.
    pub(super) fn hold(&mut self, now: Time) -> Time {
        if !self.spec.reorder.is_zero() {
            let next = self.next.min(self.mpdus.len());
            for m in self.mpdus.range_mut(next..).filter(|m| m.received && m.held == Time::NEVER) {
                m.held = now;
            }
        }
        self.waits_until()
    }

    /// When the receiver waits no longer for what is missing before the first MPDU that it holds.
    pub(super) fn waits_until(&self) -> Time {
        if self.spec.reorder.is_zero() {
            return Time::NEVER;
        }
        let next = self.next.min(self.mpdus.len());
        let first = self.mpdus.range(next..).find(|m| m.held < Time::NEVER);
        first.map_or(Time::NEVER, |m| m.held.saturating_add(self.spec.reorder))
    }

    /// As in mac80211 of Linux (`ieee80211_sta_reorder_release`): the receiver waits no longer for what is missing
    /// before the MPDUs that it has held for too long by `now`, up to the first that it has not.
    pub(super) fn wait_no_longer(&mut self, now: Time) {
        let (first, reorder, next) = (self.first, self.spec.reorder, self.next.min(self.mpdus.len()));
        for (place, m) in (next..).zip(self.mpdus.range(next..)).filter(|(_, m)| m.held < Time::NEVER) {
            if m.held.saturating_add(reorder) > now {
                break;
            }
            self.told = self.told.max(first + place as u64);
        }
    }

    /// The next packet that the receiver passes on, in order; `None` if it waits for an MPDU. `late`: of those that it
    /// holds; otherwise a batch has just arrived.
    #[inline]
    pub(super) fn pass_on(&mut self, late: bool) -> Option<(StationId, &Packet)> {
        let (start, packets) = self.passing(late)?;
        let place = (start - self.forgotten) as usize + self.passed as usize;
        self.passed += 1;
        if self.passed == packets {
            (self.next, self.passed) = (self.next + 1, 0);
        }
        self.packets.get(place).map(|p| (self.to, &p.packet))
    }

    /// The [start](Mpdu::start) and the packets of the MPDU of which [`Line::pass_on`] has a packet; `None` if it has
    /// none.
    #[inline]
    pub(super) fn passing(&mut self, late: bool) -> Option<(u64, u32)> {
        while let Some(m) = self.mpdus.get_mut(self.next) {
            let has_it = if late { m.held < Time::NEVER } else { m.received };
            if has_it {
                return Some((m.start, m.packets));
            }
            if self.first + self.next as u64 >= self.told {
                return None;
            }
            m.passed_over = true;
            self.next += 1;
        }
        None
    }

    /// MPDUs of the window.
    pub(super) fn size(&self) -> u32 {
        self.spec.window
    }

    /// True if neither end needs anything of it.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.mpdus.is_empty() && self.packets.is_empty() && self.new == 0
    }
}
