//! The packets of one sender between a queue and the receivers that acknowledge in blocks.
//!
//! IEEE 802.11-2016 §10.24 (block acknowledgment), §10.13 (A-MPDU) and §10.12 (A-MSDU). A store holds the packets of
//! one category; it has a [`Line`] for each receiver. A batch is what one exchange carries: MPDUs of one line, or a
//! request for a block acknowledgment. Several batches may be made before the first is sent; what is in one is in no
//! other, and does not change.

mod line;
#[cfg(test)]
mod tests;

use self::line::{Agreement, Line, Mpdu};
use super::rates::AttemptOutcome;
use super::timing::Room;
use crate::deadlines::Deadlines;
use crate::stats::count;
use crate::wifi::frame::{Addba, InFrame};
use crate::wifi::ids::StationId;
use crate::wifi::medium::phy::ppdu::DELIMITER;
use crate::wifi::spec::{Aggregation, Bitmap};
use contend_core::qdisc::{Backlog, BurstMarks};
use contend_core::{Packet, Span, Time};
use std::collections::BTreeMap;

/// Bytes of the header of a subframe of an A-MSDU: two addresses and a length (§9.3.2.2.2).
const SUBFRAME: u32 = 14;

/// Bytes that a sender adds to an IP packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    /// An MPDU besides its only IP packet.
    pub(crate) mpdu: u32,
    /// LLC/SNAP, which is part of that.
    pub(crate) llc: u32,
}

/// What a sender sends next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Its number.
    pub(crate) id: BatchId,
    /// The receiver.
    pub(crate) to: StationId,
    /// MPDUs; 0 for a request for a block acknowledgment.
    pub(crate) mpdus: u32,
    /// Packets.
    pub(crate) packets: u32,
    /// Bytes of the IP packets.
    pub(crate) bytes: u32,
    /// Bytes of the A-MPDU.
    pub(crate) psdu: u32,
    /// The bitmap of the block acknowledgment that answers it.
    pub(crate) bitmap: Bitmap,
    /// Where in the PSDU another MPDU would begin.
    next: u32,
}

/// The number of a batch in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchId {
    line: u32,
    /// From 1, in the order in which batches are made; 0 for a request.
    number: u32,
}

/// How a batch ended, as its sender knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A block acknowledgment answered.
    Answered,
    /// Nothing answered.
    NotAnswered,
    /// It was not sent: its RTS was not answered, or another category of the station went first.
    NotSent,
}

/// Why a sender needs a packet no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its receiver has acknowledged it.
    Acknowledged,
    /// The sender gives it up. `received`: its receiver has it all the same.
    GivenUp { received: bool },
}

/// The packets of one sender below one queue.
#[derive(Debug)]
pub(crate) struct Store {
    /// Most packets.
    limit: u32,
    headers: Headers,
    /// Requests for a block acknowledgment without an answer, after which none follows before the receiver is heard.
    most_unheard: u32,
    lines: Vec<Line>,
    /// The number of the line to each receiver.
    line_of: BTreeMap<StationId, usize>,
    /// The line that got the last packet, and most often gets the next.
    recent: usize,
    /// The lines of which another batch can be made. In place of a time each has the number of its oldest packet in the
    /// order in which packets were taken from the queue; the lowest comes first. (Not the one whose packet entered the
    /// queue first: if the queue serves flows in turn, a flow with many packets would be served again for each single
    /// packet.)
    ready: Deadlines,
    /// Packets taken from the queue so far.
    taken: u64,
    /// Batches made so far, besides requests.
    made: u32,
    /// Packets that the sender still needs.
    unsettled: u32,
    /// Packets that no receiver has passed on and that are not lost.
    carrying: u32,
    /// The expected airtime of the packets that the sender still needs.
    pending: Span,
    /// The batch in service.
    current: Option<BatchId>,
    /// What is marked when a batch is made.
    marks: Option<BurstMarks>,
}

impl Store {
    /// An empty store for up to `limit` packets.
    pub(crate) fn new(limit: u32, headers: Headers, most_unheard: u32) -> Store {
        Store {
            limit,
            headers,
            most_unheard,
            lines: Vec::new(),
            line_of: BTreeMap::new(),
            recent: 0,
            ready: Deadlines::default(),
            taken: 0,
            made: 0,
            unsettled: 0,
            carrying: 0,
            pending: Span::ZERO,
            current: None,
            marks: None,
        }
    }

    /// The same store; `marks` says what is marked when a batch is made.
    pub(crate) fn marking(self, marks: Option<BurstMarks>) -> Store {
        Store { marks, ..self }
    }

    /// What is marked when a batch is made.
    pub(crate) fn marks(&self) -> Option<BurstMarks> {
        self.marks
    }

    /// True if another packet fits.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.unsettled < self.limit
    }

    /// Packets that no receiver has passed on and that are not lost.
    pub(crate) fn carrying(&self) -> u64 {
        u64::from(self.carrying)
    }

    /// The expected airtime of the packets for all receivers that the sender still needs.
    pub(crate) fn pending(&self) -> Span {
        self.pending
    }

    /// The same for one receiver.
    pub(crate) fn pending_for(&self, to: StationId) -> Span {
        self.line(to).map_or(Span::ZERO, |line| line.pending)
    }

    /// Bytes of the IP packets to this receiver that the sender still needs.
    pub(crate) fn bytes_to(&self, to: StationId) -> u64 {
        self.line(to).map_or(0, Line::bytes)
    }

    /// Takes a packet to `to` at `now`, which was queued at `queued` and whose expected airtime is `airtime`. `agreed`
    /// says how packets are sent to a receiver.
    pub(crate) fn put(
        &mut self,
        p: &Packet,
        (to, queued): (StationId, Time),
        now: Time,
        airtime: Span,
        agreed: impl FnOnce(StationId) -> Aggregation,
    ) {
        let i = match self.lines.get(self.recent) {
            Some(line) if line.to == to => self.recent,
            _ => self.find_or_add(to, agreed),
        };
        let line = &mut self.lines[i];
        line.is_parted = line.is_parted && !line.is_settled();
        count(&mut self.taken);
        let airtime = u32::try_from(airtime.as_nanos()).unwrap_or(u32::MAX);
        self.pending += Span::from_nanos(airtime.into());
        line.put(p, self.taken, airtime, queued, now);
        self.unsettled += 1;
        self.carrying += 1;
        // A packet behind others that were never sent changes nothing, nor does one that comes to a line that is ready.
        if line.new + 1 == line.packets.len() && self.ready.at(i as u32) == Time::NEVER {
            self.queue_up(i);
        }
    }

    /// The number of the line to `to`, which is new if there was none.
    #[inline(never)]
    fn find_or_add(&mut self, to: StationId, agreed: impl FnOnce(StationId) -> Aggregation) -> usize {
        let fresh = self.lines.len();
        self.recent = *self.line_of.entry(to).or_insert(fresh);
        if self.recent == fresh {
            self.lines.push(Line::new(to, agreed(to), self.most_unheard));
            self.ready.push(fresh as u32, Time::NEVER);
        }
        self.recent
    }

    fn line(&self, to: StationId) -> Option<&Line> {
        self.lines.get(*self.line_of.get(&to)?)
    }

    /// True if a batch to `to` can be made now.
    pub(crate) fn holds(&self, to: StationId) -> bool {
        self.line(to).is_some_and(|line| line.oldest().is_some())
    }

    /// True if another packet to `to` fits, and may fit into its next batch, which has this room and of which `made` is
    /// there already. Headers are not counted, so that the batch is filled; the last packet may have to wait for
    /// the batch after it.
    pub(crate) fn has_room_for(&self, to: StationId, room: Room, made: &Batch) -> bool {
        self.has_room() && self.line(to).is_none_or(|line| line.has_room(room, made))
    }

    /// True if the sender still needs a packet to `to`.
    pub(crate) fn needs(&self, to: StationId) -> bool {
        self.line(to).is_some_and(|line| !line.is_settled())
    }

    /// The receiver `to` is gone: all packets to it are given up when their batches are over, the others when the next
    /// batch would be made.
    pub(crate) fn part(&mut self, to: StationId) {
        if let Some(&i) = self.line_of.get(&to) {
            self.lines[i].part();
            self.queue_up(i);
        }
    }

    /// The next packet that `to`, which is gone, still had and passes on.
    pub(crate) fn pass_parted(&mut self, to: StationId) -> Option<&Packet> {
        let line = self.lines.get_mut(*self.line_of.get(&to)?)?;
        let (_, passed) = line.pass_on(false)?;
        self.carrying -= 1;
        Some(passed)
    }

    /// A packet of the line to `to`, if a batch to `to` can be made now.
    pub(crate) fn held(&self, to: StationId) -> Option<&Packet> {
        self.line(to).filter(|line| line.oldest().is_some())?.packets.front().map(|p| &p.packet)
    }

    /// Puts line `i` among the ready ones if a batch of it can be made.
    fn queue_up(&mut self, i: usize) {
        let key = self.lines[i].oldest().map_or(Time::NEVER, Time::from_nanos);
        if self.ready.at(i as u32) != key {
            self.ready.set(i as u32, key);
        }
    }

    // ---- batches are made ----

    /// Makes a batch to the receiver whose packet waits longest. `fits` says what room a PSDU to a receiver has
    /// at its rate; `gone` gets each packet that is given up. `None` if there is nothing to send.
    pub(crate) fn take(
        &mut self,
        now: Time,
        mut fits: impl FnMut(StationId) -> Room,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        while self.ready.next() < Time::NEVER {
            let (_, i) = self.ready.first();
            let batch = self.take_from(i as usize, now, true, &mut fits, &mut gone);
            if batch.is_some() {
                return batch;
            }
        }
        None
    }

    /// As [`Store::take`], to this receiver; without `with_new` no packets that were never sent.
    pub(crate) fn take_to(
        &mut self,
        to: StationId,
        with_new: bool,
        now: Time,
        mut fits: impl FnMut(StationId) -> Room,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        let i = *self.line_of.get(&to)?;
        self.take_from(i, now, with_new, &mut fits, &mut gone)
    }

    fn take_from(
        &mut self,
        i: usize,
        now: Time,
        with_new: bool,
        fits: &mut impl FnMut(StationId) -> Room,
        gone: &mut impl FnMut(&Packet),
    ) -> Option<Batch> {
        let line = &mut self.lines[i];
        let before = line.pending;
        let stale = line.drop_stale(now, gone);
        self.pending -= before - line.pending;
        self.unsettled -= stale;
        self.carrying -= stale;
        let id = BatchId { line: i as u32, number: self.made + 1 };
        let batch = if line.is_asking {
            None
        } else if line.asks {
            line.is_asking = true;
            Some(Batch::of(BatchId { number: 0, ..id }, line))
        } else {
            let empty = Batch::of(id, line);
            let batch = line.fill(fits(line.to), &self.headers, empty, with_new);
            self.made += u32::from(batch.is_some());
            batch
        };
        self.queue_up(i);
        batch
    }

    /// Adds to `batch`, which has this room, what waits for its receiver. `None` if nothing fits.
    pub(crate) fn extend(&mut self, batch: &Batch, room: Room) -> Option<Batch> {
        let i = batch.id.line as usize;
        let line = self.lines.get_mut(i)?;
        let longer = line.fill(room, &self.headers, *batch, true);
        self.queue_up(i);
        longer.filter(|b| b.mpdus > batch.mpdus)
    }

    /// The packets of batch `id` that were in no batch on the air before.
    pub(crate) fn unsent(&mut self, id: BatchId) -> impl Iterator<Item = &mut Packet> {
        self.lines.get_mut(id.line as usize).into_iter().flat_map(move |line| line.unsent(id.number))
    }

    /// The first packet of a batch with its sequence number; for a request, a packet of its line and the number at
    /// which the window begins.
    pub(crate) fn first(&self, id: BatchId) -> Option<(&Packet, u16)> {
        self.lines.get(id.line as usize)?.first(id.number)
    }

    // ---- agreements ----

    /// What to ask the receiver of batch `id` for at `now`: more MPDUs wait for it, and there is no agreement. It is
    /// then not asked for again before [`Store::asked`].
    #[inline]
    pub(crate) fn lacks_agreement(&mut self, id: BatchId, now: Time) -> Option<Addba> {
        self.lines.get_mut(id.line as usize)?.lacks_agreement(now)
    }

    /// The request to `to` was sent, or given up, at `now`.
    pub(crate) fn asked(&mut self, to: StationId, now: Time) {
        if let Some(line) = self.line_of.get(&to).and_then(|i| self.lines.get_mut(*i)) {
            line.asked(now);
        }
    }

    /// The receiver `to` has agreed.
    pub(crate) fn agree(&mut self, to: StationId) {
        if let Some(line) = self.line_of.get(&to).and_then(|i| self.lines.get_mut(*i)) {
            line.agreement = Agreement::Made;
        }
    }

    // ---- a batch is sent ----

    /// This batch is now in service.
    pub(crate) fn begin(&mut self, id: BatchId) {
        self.current = Some(id);
    }

    /// The batch in service, and its line.
    fn current(&self) -> Option<(u32, &Line)> {
        let id = self.current?;
        Some((id.number, self.lines.get(id.line as usize)?))
    }

    /// The MPDUs of the batch in service reach their receiver, except those for which `lost` is true; it gets the bytes
    /// of an MPDU and its first packet. A request reaches it always. Returns how many MPDUs have arrived.
    pub(crate) fn arrive(&mut self, mut lost: impl FnMut(u32, &Packet) -> bool) -> u32 {
        let Some(BatchId { line, number: batch }) = self.current else { return 0 };
        let Some(line) = self.lines.get_mut(line as usize) else { return 0 };
        if batch == 0 {
            line.told = line.first + line.window as u64;
            return 0;
        }
        let (mut arrived, mut beyond, window) = (0, 0, u64::from(line.size()));
        let (packets, forgotten) = (&line.packets, line.forgotten);
        for (number, m) in (line.first + line.window as u64..).zip(line.mpdus.range_mut(line.window..)) {
            let Some(first) = packets.get((m.start - forgotten) as usize).filter(|_| m.batch == batch) else {
                continue;
            };
            if !lost(m.bytes, &first.packet) {
                arrived += 1;
                line.unreported += u32::from(!m.received);
                (m.received, m.arrived) = (true, true);
                beyond = number + 1;
            }
        }
        // §10.24.7.6.2: an MPDU beyond the receiver's window moves it.
        line.told = line.told.max(beyond.saturating_sub(window));
        arrived
    }

    /// The packets that the receiver of the batch in service passes on, in order. They are added to `delivered`.
    #[inline(always)]
    pub(crate) fn pass_on<'a>(&'a mut self, delivered: &'a mut u64) -> Passed<'a> {
        let Store { lines, carrying, current, .. } = self;
        let line = current.and_then(|id| lines.get_mut(id.line as usize));
        line.map_or(Passed::NOTHING, |line| Passed::InOrder(PassedInOrder { line, carrying, delivered }))
    }

    /// The receiver of the batch in service has passed on at `now` what it could. Returns when it waits no longer for
    /// what is missing.
    pub(crate) fn hold(&mut self, now: Time) -> Time {
        let line = self.current.and_then(|id| self.lines.get_mut(id.line as usize));
        line.map_or(Time::NEVER, |line| line.hold(now))
    }

    /// The first time at which a receiver waits no longer for what is missing.
    pub(crate) fn waits_until(&self) -> Time {
        self.lines.iter().map(Line::waits_until).min().unwrap_or(Time::NEVER)
    }

    /// The next packet that a receiver passes on at `now` because it waits no longer for what is missing before it.
    pub(crate) fn pass_late(&mut self, now: Time) -> Option<(StationId, &Packet)> {
        for line in &mut self.lines {
            let mut can = line.passing(true).is_some();
            if !can && line.waits_until() <= now {
                line.wait_no_longer(now);
                can = line.passing(true).is_some();
            }
            if can {
                self.carrying -= 1;
                return line.pass_on(true);
            }
        }
        None
    }

    /// The packets of the batch in service, with what has arrived of them so far.
    pub(crate) fn on_air(&self) -> impl Iterator<Item = InFrame> {
        self.current().into_iter().flat_map(|(batch, line)| {
            let mpdus = (line.first + line.window as u64..).zip(line.mpdus.range(line.window..));
            mpdus.filter(move |(_, m)| batch != 0 && m.batch == batch).flat_map(|(number, m)| {
                let place = (m.start - line.forgotten) as usize;
                line.packets.range(place..place + m.packets as usize).map(move |p| InFrame {
                    sequence: (number & 0xfff) as u16,
                    retry: u8::try_from(m.attempts - 1).unwrap_or(u8::MAX),
                    bytes: m.bytes,
                    received: m.arrived,
                    packet: p.packet,
                })
            })
        })
    }

    /// Writes the bitmap of a block acknowledgment for the batch in service: a bit for each MPDU from the beginning of
    /// the window on, the lowest bit of the first byte first (§9.3.1.9.3).
    pub(crate) fn bitmap(&self, to: &mut [u8]) {
        let Some((_, line)) = self.current() else { return };
        for (place, _) in line.mpdus.range(line.window..).enumerate().filter(|(_, m)| m.received) {
            if let Some(byte) = to.get_mut(place / 8) {
                *byte |= 1 << (place % 8);
            }
        }
    }

    /// The batch in service is over. `gone` gets each packet that the sender gives up, and with `all` each one that is
    /// acknowledged too. Returns the receiver and what became of its MPDUs.
    pub(crate) fn end(
        &mut self,
        now: Time,
        end: End,
        all: bool,
        gone: impl FnMut(&Packet, Fate),
    ) -> Option<(StationId, AttemptOutcome)> {
        let BatchId { line: i, number } = self.current.take()?;
        let line = self.lines.get_mut(i as usize)?;
        let before = line.pending;
        let (outcome, settled, lost) = line.end(now, number, end, all, gone);
        self.pending -= before - line.pending;
        self.unsettled -= settled;
        self.carrying -= lost;
        let to = line.to;
        self.queue_up(i as usize);
        Some((to, outcome))
    }
}

/// Packets that a receiver passes on.
pub(crate) enum Passed<'a> {
    /// One, with its receiver, or none.
    One(Option<(StationId, &'a Packet)>),
    /// Those of a line, until the receiver waits for an MPDU.
    InOrder(PassedInOrder<'a>),
}

/// See [`Passed::InOrder`].
pub(crate) struct PassedInOrder<'a> {
    line: &'a mut Line,
    carrying: &'a mut u32,
    delivered: &'a mut u64,
}

impl Passed<'_> {
    /// No packets.
    pub(crate) const NOTHING: Passed<'static> = Passed::One(None);

    /// The next one, with its receiver.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(StationId, &Packet)> {
        match self {
            Passed::One(packet) => packet.take(),
            Passed::InOrder(PassedInOrder { line, carrying, delivered }) => {
                let passed = line.pass_on(false)?;
                **carrying -= 1;
                count(delivered);
                Some(passed)
            }
        }
    }
}

impl Batch {
    /// A batch to `to` of which nothing is made.
    pub(crate) fn empty(to: StationId) -> Batch {
        Batch { to, next: DELIMITER, ..Batch::default() }
    }

    /// Its packets, and the bytes of their IP packets.
    fn load(&self) -> Backlog {
        Backlog { packets: self.packets.into(), bytes: self.bytes.into() }
    }

    /// Adds `m`, which is then tried once more, if a PSDU of at most `most` bytes and `mpdus` MPDUs has room. The first
    /// always fits, and the next one begins `spacing` bytes later at the earliest. True if `m` was added.
    #[inline(always)]
    fn add(&mut self, m: &mut Mpdu, (most, mpdus, spacing): (u32, u32, u32)) -> bool {
        let end = self.next + m.bytes;
        if self.mpdus > 0 && (end > most || self.mpdus >= mpdus) {
            return false;
        }
        (m.batch, m.arrived, m.attempts) = (self.id.number, false, m.attempts + 1);
        self.mpdus += 1;
        self.packets += m.packets;
        self.bytes += m.payload;
        // Behind padding to four bytes and the delimiter.
        let behind = ((end + 3) & !3) + DELIMITER;
        (self.psdu, self.next) = (end, if spacing > 0 { behind.max(self.next + spacing) } else { behind });
        true
    }

    /// A batch of `line` without MPDUs: a request for a block acknowledgment.
    fn of(id: BatchId, line: &Line) -> Batch {
        Batch { id, bitmap: Bitmap::of(line.size()), ..Batch::empty(line.to) }
    }
}
