//! The packets of one sender between its queue and the receivers that acknowledge in blocks.
//!
//! IEEE 802.11-2016 §10.24 (block acknowledgment), §10.13 (A-MPDU) and §10.12 (A-MSDU). Each receiver has a line of
//! packets, and of the MPDUs that carry the first of them, in the order of their sequence numbers. The line begins with
//! the oldest MPDU that one of the two ends still needs: the sender keeps an MPDU until it is acknowledged or given up,
//! the receiver until all MPDUs before it are there. So one line has both the window of the sender and the reordering
//! of the receiver, and no packet is copied. An MPDU keeps its packets when it is sent again.

use super::rates::Outcome;
use super::spec::Aggregation;
use super::{InFrame, StationId};
use contend_core::qdisc::Backlog;
use contend_core::{Packet, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Bytes of the delimiter before an MPDU in an A-MPDU (§9.7.1).
pub(super) const DELIMITER: u32 = 4;
/// Bytes of the header of a subframe of an A-MSDU: two addresses and a length (§9.3.2.2.2).
const SUBFRAME: u32 = 14;

/// Bytes that a sender adds to an IP packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    /// An MPDU besides its only IP packet.
    pub(super) mpdu: u32,
    /// LLC/SNAP, which is part of that.
    pub(super) llc: u32,
}

/// What a sender sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The receiver.
    pub(super) to: StationId,
    /// MPDUs; 0 for a request for a block acknowledgment.
    pub(super) mpdus: u32,
    /// Packets.
    pub(super) packets: u32,
    /// Bytes of the IP packets.
    pub(super) bytes: u32,
    /// Bytes of the A-MPDU.
    pub(super) psdu: u32,
}

/// How a batch ended, as its sender knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A block acknowledgment answered.
    Answered,
    /// Nothing answered.
    NotAnswered,
    /// It was not sent: its RTS was not answered, or another category of the station went first.
    NotSent,
}

/// The packets of one sender below its queue.
#[derive(Debug)]
pub(super) struct Store {
    spec: Aggregation,
    headers: Headers,
    lines: Vec<Line>,
    /// The number of the line to each receiver.
    line_of: BTreeMap<StationId, usize>,
    /// Lines with something to send, besides that of the batch in service. The one whose oldest packet was taken from
    /// the queue first comes first. (Not the one whose packet entered the queue first: if the queue serves flows in
    /// turn, a flow with many packets would be served again for each single packet.)
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// Packets taken from the queue so far.
    taken: u64,
    /// Packets that the sender still needs.
    unsettled: u32,
    /// Packets that no receiver has passed on and that are not lost.
    carrying: u32,
    /// The line of the batch in service.
    current: Option<usize>,
}

/// The packets to one receiver. Places count from the first.
#[derive(Debug)]
struct Line {
    to: StationId,
    /// First those of the MPDUs, then those that were never sent.
    packets: VecDeque<Held>,
    /// How many packets the line has forgotten.
    forgotten: u64,
    /// Place of the first packet that was never sent.
    new: usize,
    /// In the order of their sequence numbers.
    mpdus: VecDeque<Mpdu>,
    /// The sequence number of the first MPDU, counted without end.
    first: u64,
    /// Place of the oldest MPDU that the sender still needs.
    window: usize,
    /// Place of the first MPDU that the receiver has not passed on.
    next: usize,
    /// Packets of this MPDU that the receiver has passed on.
    passed: u32,
    /// The receiver waits for no MPDU with a lower sequence number.
    told: u64,
    /// Packets that the sender still needs, and the bytes of their IP packets.
    load: Backlog,
    /// The same of those that were never sent.
    new_load: Backlog,
    /// True if a request is sent before further data.
    asks: bool,
    /// True if the line is among the ready ones.
    is_ready: bool,
}

/// A packet of a line.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    /// Its number in the order in which the store took packets from the queue, from 1.
    number: u64,
}

/// One MPDU, which has a sequence number.
#[derive(Clone, Copy, Debug)]
struct Mpdu {
    /// Its first packet, counted without end.
    start: u64,
    /// Its packets; an A-MSDU has several.
    packets: u32,
    /// Bytes of its IP packets.
    payload: u32,
    /// Its bytes, with header and FCS.
    bytes: u32,
    /// When its first packet was queued.
    queued: Time,
    /// How often it was sent.
    attempts: u32,
    /// True while it is in the batch in service.
    on_air: bool,
    /// True if the receiver has it from this or an earlier attempt.
    received: bool,
    /// True if the receiver has it from the latest attempt.
    arrived: bool,
    /// True if the sender needs it no longer: it is acknowledged or given up.
    settled: bool,
}

impl Store {
    /// An empty store.
    pub(super) fn new(spec: Aggregation, headers: Headers) -> Store {
        Store {
            spec,
            headers,
            lines: Vec::new(),
            line_of: BTreeMap::new(),
            ready: BinaryHeap::new(),
            taken: 0,
            unsettled: 0,
            carrying: 0,
            current: None,
        }
    }

    /// True if another packet fits.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.unsettled < self.spec.limit
    }

    /// Packets that no receiver has passed on and that are not lost.
    pub(super) fn carrying(&self) -> u64 {
        u64::from(self.carrying)
    }

    /// Takes a packet from the queue.
    pub(super) fn put(&mut self, p: &Packet) {
        let fresh = self.lines.len();
        let i = *self.line_of.entry(p.next_hop).or_insert(fresh);
        if i == fresh {
            self.lines.push(Line::new(p.next_hop));
        }
        self.taken += 1;
        self.lines[i].packets.push_back(Held { packet: *p, number: self.taken });
        self.lines[i].load.add(p);
        self.lines[i].new_load.add(p);
        self.unsettled += 1;
        self.carrying += 1;
        self.queue_up(i);
    }

    fn line(&self, to: StationId) -> Option<&Line> {
        self.lines.get(*self.line_of.get(&to)?)
    }

    /// True if something for `to` may be sent now.
    pub(super) fn holds(&self, to: StationId) -> bool {
        self.line(to).is_some_and(|line| line.oldest().is_some())
    }

    /// True if another packet to `to` fits, and may fit into its next batch, of at most `most` bytes. Headers are not
    /// counted, so that the batch is filled; the last packet may have to wait for the batch after it.
    pub(super) fn has_room_for(&self, to: StationId, most: u32) -> bool {
        let spec = &self.spec;
        let line = self.line(to);
        self.has_room() && line.is_none_or(|line| line.load.packets == 0 || line.has_room(spec, most.min(spec.bytes)))
    }

    /// A packet of the line to `to`, if something for `to` may be sent now.
    pub(super) fn held(&self, to: StationId) -> Option<&Packet> {
        self.line(to).filter(|line| line.oldest().is_some())?.packets.front().map(|p| &p.packet)
    }

    /// Puts line `i` among the ready ones if it has something to send.
    fn queue_up(&mut self, i: usize) {
        let line = &mut self.lines[i];
        if line.is_ready || self.current == Some(i) {
            return;
        }
        if let Some(oldest) = line.oldest() {
            line.is_ready = true;
            self.ready.push(Reverse((oldest, i)));
        }
    }

    /// Makes the next batch, to the receiver whose packet waits longest, and takes it into service. `fits` says how
    /// many bytes a PSDU to a receiver may have at its rate; `gone` gets each packet that is given up. `None` if there
    /// is nothing to send.
    pub(super) fn take(
        &mut self,
        now: Time,
        mut fits: impl FnMut(StationId) -> u32,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        while let Some(Reverse((_, i))) = self.ready.pop() {
            self.lines[i].is_ready = false;
            let batch = self.take_from(i, now, &mut fits, &mut gone);
            if batch.is_some() {
                return batch;
            }
        }
        None
    }

    /// As [`Store::take`], to this receiver.
    pub(super) fn take_to(
        &mut self,
        to: StationId,
        now: Time,
        mut fits: impl FnMut(StationId) -> u32,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        let i = *self.line_of.get(&to)?;
        self.take_from(i, now, &mut fits, &mut gone)
    }

    fn take_from(
        &mut self,
        i: usize,
        now: Time,
        fits: &mut impl FnMut(StationId) -> u32,
        gone: &mut impl FnMut(&Packet),
    ) -> Option<Batch> {
        let (spec, headers) = (&self.spec, &self.headers);
        let line = &mut self.lines[i];
        let stale = line.drop_stale(spec, now, gone);
        self.unsettled -= stale;
        self.carrying -= stale;
        let batch = match line.asks {
            true => Some(Batch::request(line.to)),
            false => line.fill(spec, spec.bytes.min(fits(line.to)), headers),
        };
        self.current = batch.map(|_| i);
        batch
    }

    /// The first packet of the batch in service with its sequence number; for a request, a packet of its line and the
    /// number at which the window begins.
    pub(super) fn first(&self) -> Option<(&Packet, u16)> {
        let line = self.lines.get(self.current?)?;
        let number = |place: usize| ((line.first + place as u64) & 0xfff) as u16;
        if line.asks {
            return line.packets.front().map(|p| (&p.packet, number(line.window)));
        }
        let mut sent = (line.window..).zip(line.mpdus.range(line.window..));
        let (place, m) = sent.find(|(_, m)| m.on_air)?;
        line.first_of(m).map(|p| (&p.packet, number(place)))
    }

    /// The MPDUs of the batch in service reach their receiver, except those for which `lost` is true; it gets the bytes
    /// of an MPDU and its first packet. A request reaches it always. Returns how many MPDUs have arrived.
    pub(super) fn arrive(&mut self, mut lost: impl FnMut(u32, &Packet) -> bool) -> u32 {
        let window = u64::from(self.spec.window);
        let Some(line) = self.current.and_then(|i| self.lines.get_mut(i)) else { return 0 };
        if line.asks {
            line.told = line.first + line.window as u64;
            return 0;
        }
        let mut arrived = 0;
        let (packets, forgotten) = (&line.packets, line.forgotten);
        for (number, m) in (line.first + line.window as u64..).zip(line.mpdus.range_mut(line.window..)) {
            let Some(first) = packets.get((m.start - forgotten) as usize).filter(|_| m.on_air) else { continue };
            if !lost(m.bytes, &first.packet) {
                arrived += 1;
                (m.received, m.arrived) = (true, true);
                // §10.24.7.6.2: an MPDU beyond the receiver's window moves it.
                line.told = line.told.max((number + 1).saturating_sub(window));
            }
        }
        arrived
    }

    /// The next packet that the receiver of the batch in service passes on, in order; `None` if it waits for an MPDU.
    pub(super) fn pass_on(&mut self) -> Option<(StationId, &Packet)> {
        let line = self.lines.get_mut(self.current?)?;
        loop {
            let m = line.mpdus.get(line.next)?;
            if m.received && line.passed < m.packets {
                let place = (m.start - line.forgotten) as usize + line.passed as usize;
                line.passed += 1;
                self.carrying -= 1;
                return line.packets.get(place).map(|p| (line.to, &p.packet));
            }
            if !m.received && line.first + line.next as u64 >= line.told {
                return None;
            }
            (line.next, line.passed) = (line.next + 1, 0);
        }
    }

    /// The packets of the batch in service, with what has arrived of them so far.
    pub(super) fn on_air(&self) -> impl Iterator<Item = InFrame> {
        let line = self.current.and_then(|i| self.lines.get(i));
        line.into_iter().flat_map(|line| {
            let mpdus = (line.first + line.window as u64..).zip(line.mpdus.range(line.window..));
            mpdus.filter(|(_, m)| m.on_air).flat_map(|(number, m)| {
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
    pub(super) fn bitmap(&self, to: &mut [u8]) {
        let Some(line) = self.current.and_then(|i| self.lines.get(i)) else { return };
        for (place, _) in line.mpdus.range(line.window..).enumerate().filter(|(_, m)| m.received) {
            if let Some(byte) = to.get_mut(place / 8) {
                *byte |= 1 << (place % 8);
            }
        }
    }

    /// The batch in service is over. `gone` gets each packet that the sender gives up, and whether the receiver has it.
    /// Returns the receiver and what became of its MPDUs.
    pub(super) fn end(
        &mut self,
        now: Time,
        end: End,
        mut gone: impl FnMut(&Packet, bool),
    ) -> Option<(StationId, Outcome)> {
        let i = self.current.take()?;
        let mut outcome = Outcome::default();
        let spec = &self.spec;
        let line = &mut self.lines[i];
        let asked = std::mem::take(&mut line.asks);
        // An MPDU alone is answered by an ACK, and is sent again.
        let is_aggregate = line.mpdus.range(line.window..).filter(|m| m.on_air).nth(1).is_some();
        line.asks = match end {
            End::Answered => false,
            End::NotAnswered => asked || (spec.asks && is_aggregate),
            End::NotSent => asked,
        };
        let answered = end == End::Answered;
        let (packets, forgotten) = (&line.packets, line.forgotten);
        for m in line.mpdus.range_mut(line.window..).filter(|m| !m.settled) {
            m.attempts -= u32::from(m.on_air && end == End::NotSent);
            let was_sent = std::mem::take(&mut m.on_air);
            outcome.mpdus += u32::from(was_sent);
            // While the sender asks, it does not know what has arrived.
            let given_up = !line.asks && is_given_up(spec, m, now);
            m.settled = answered && m.received || given_up;
            if !m.settled {
                continue;
            }
            self.unsettled -= m.packets;
            line.load.packets -= u64::from(m.packets);
            line.load.bytes -= u64::from(m.payload);
            if answered && m.received {
                outcome.acked += u32::from(was_sent);
            } else {
                outcome.dropped += u32::from(was_sent);
                let place = (m.start - forgotten) as usize;
                packets.range(place..place + m.packets as usize).for_each(|p| gone(&p.packet, m.received));
                self.carrying -= if m.received { 0 } else { m.packets };
            }
        }
        line.advance(spec.window);
        let to = line.to;
        self.queue_up(i);
        Some((to, outcome))
    }
}

/// True if the sender gives `m` up at `now`.
fn is_given_up(spec: &Aggregation, m: &Mpdu, now: Time) -> bool {
    spec.attempts.is_some_and(|most| m.attempts >= most) || is_stale(spec, m.queued, now)
}

/// True if a packet that was queued at `queued` is too old.
fn is_stale(spec: &Aggregation, queued: Time, now: Time) -> bool {
    !spec.lifetime.is_zero() && now.since(queued) > spec.lifetime
}

impl Batch {
    /// A request for a block acknowledgment.
    fn request(to: StationId) -> Batch {
        Batch { to, mpdus: 0, packets: 0, bytes: 0, psdu: 0 }
    }
}

impl Line {
    fn new(to: StationId) -> Line {
        Line {
            to,
            packets: VecDeque::new(),
            forgotten: 0,
            new: 0,
            mpdus: VecDeque::new(),
            first: 0,
            window: 0,
            next: 0,
            passed: 0,
            told: 0,
            load: Backlog::default(),
            new_load: Backlog::default(),
            asks: false,
            is_ready: false,
        }
    }

    /// True if another packet may fit into the next batch, of at most `most` bytes.
    fn has_room(&self, spec: &Aggregation, most: u32) -> bool {
        // The fewest MPDUs that carry so much.
        let mpdus = |load: &Backlog| if spec.msdu == 0 { load.packets } else { load.bytes / u64::from(spec.msdu) };
        let in_window = (self.mpdus.len() - self.window) as u64 + mpdus(&self.new_load) < u64::from(spec.window);
        in_window && mpdus(&self.load) < u64::from(spec.mpdus) && self.load.bytes < u64::from(most)
    }

    /// The first packet of `m`.
    fn first_of(&self, m: &Mpdu) -> Option<&Held> {
        self.packets.get((m.start - self.forgotten) as usize)
    }

    /// The number of the oldest packet that waits; 0 for a request; `None` if nothing is to be sent.
    fn oldest(&self) -> Option<u64> {
        let again = self.mpdus.range(self.window..).find(|m| !m.settled).and_then(|m| self.first_of(m));
        let waits = again.or_else(|| self.packets.get(self.new));
        waits.map(|p| p.number).or(self.asks.then_some(0))
    }

    /// Drops the packets that were never sent and have waited for too long. Returns their number.
    fn drop_stale(&mut self, spec: &Aggregation, now: Time, gone: &mut impl FnMut(&Packet)) -> u32 {
        let mut dropped = 0;
        while let Some(p) = self.packets.get(self.new).map(|p| p.packet).filter(|p| is_stale(spec, p.queued, now)) {
            gone(&p);
            self.load.remove(&p);
            self.new_load.remove(&p);
            self.packets.remove(self.new);
            dropped += 1;
        }
        dropped
    }

    /// The next MPDUs in the window, those that were sent before first, as long as the PSDU has at most `most` bytes.
    /// At least one, if any waits.
    fn fill(&mut self, spec: &Aggregation, most: u32, headers: &Headers) -> Option<Batch> {
        let mut batch = Batch::request(self.to);
        for place in self.window..self.window + spec.window as usize {
            let before = batch.psdu.next_multiple_of(4) + DELIMITER;
            let left = most.saturating_sub(before);
            let fits = |m: &Mpdu| batch.mpdus == 0 || (m.bytes <= left && batch.mpdus < spec.mpdus);
            if place == self.mpdus.len() {
                let Some(m) = self.gather(spec.msdu, left, headers).filter(fits) else { break };
                self.new += m.packets as usize;
                self.new_load.packets -= u64::from(m.packets);
                self.new_load.bytes -= u64::from(m.payload);
                self.mpdus.push_back(m);
            }
            let Some(m) = self.mpdus.get_mut(place).filter(|m| !m.settled) else { continue };
            if !fits(m) {
                break;
            }
            (m.on_air, m.arrived, m.attempts) = (true, false, m.attempts + 1);
            batch = Batch {
                mpdus: batch.mpdus + 1,
                packets: batch.packets + m.packets,
                bytes: batch.bytes + m.payload,
                psdu: before + m.bytes,
                ..batch
            };
        }
        (batch.mpdus > 0).then_some(batch)
    }

    /// An MPDU of the next packets that were never sent: one, or as many as fit into an A-MSDU of `msdu` bytes and an
    /// MPDU of `most` bytes.
    fn gather(&self, msdu: u32, most: u32, headers: &Headers) -> Option<Mpdu> {
        let mut packets = self.packets.range(self.new..);
        let first = &packets.next()?.packet;
        let mut m = Mpdu {
            start: self.forgotten + self.new as u64,
            packets: 1,
            payload: first.size,
            bytes: headers.mpdu + first.size,
            queued: first.queued,
            attempts: 0,
            on_air: false,
            received: false,
            arrived: false,
            settled: false,
        };
        let mut together = SUBFRAME + headers.llc + first.size;
        for Held { packet: p, .. } in packets {
            together = together.next_multiple_of(4) + SUBFRAME + headers.llc + p.size;
            let bytes = headers.mpdu - headers.llc + together;
            if together > msdu || bytes > most {
                break;
            }
            m = Mpdu { packets: m.packets + 1, payload: m.payload + p.size, bytes, ..m };
        }
        Some(m)
    }

    /// Moves the window over the MPDUs that the sender no longer needs, and forgets those that neither end needs. If
    /// the receiver waits for one that was given up, it has to be told; with a window of one it never waits.
    fn advance(&mut self, window: u32) {
        while self.mpdus.get(self.window).is_some_and(|m| m.settled) {
            self.window += 1;
        }
        if window == 1 {
            self.next = self.next.max(self.window);
        }
        let waits_for = |m: &Mpdu| !m.received;
        let behind = self.next < self.window && self.told < self.first + self.window as u64;
        if behind && self.mpdus.range(self.next..self.window).any(waits_for) {
            self.asks = true;
        }
        let over = self.window.min(self.next);
        let packets: u32 = self.mpdus.drain(..over).map(|m| m.packets).sum();
        self.packets.drain(..packets as usize);
        self.forgotten += u64::from(packets);
        self.first += over as u64;
        (self.window, self.next, self.new) = (self.window - over, self.next - over, self.new - packets as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{Body, FlowId, Span};
    use proptest::prelude::*;

    const SPEC: Aggregation = Aggregation {
        bytes: 65_535,
        msdu: 0,
        mpdus: 64,
        window: 64,
        duration: Span::from_micros(5484),
        limit: 1000,
        lifetime: Span::ZERO,
        attempts: None,
        asks: true,
    };

    const HEADERS: Headers = Headers { mpdu: 38, llc: 8 };

    fn packet(to: StationId, number: u64) -> Packet {
        Packet::new(FlowId(to), 1500, Time::from_nanos(number), Body::Udp { seq: number })
            .toward(to)
            .queued_at(Time::from_nanos(number))
    }

    fn filled(spec: Aggregation, to: StationId, packets: u64) -> Store {
        let mut store = Store::new(spec, HEADERS);
        (0..packets).for_each(|n| store.put(&packet(to, n)));
        store
    }

    fn take(store: &mut Store) -> Option<Batch> {
        store.take(Time::from_nanos(1_000_000), |_| u32::MAX, |_| {})
    }

    /// All packets that the receiver passes on now.
    fn passed(store: &mut Store) -> Vec<u64> {
        let mut all = vec![];
        while let Some((_, p)) = store.pass_on() {
            let Body::Udp { seq } = p.body else { panic!() };
            all.push(seq);
        }
        all
    }

    #[test]
    fn a_batch_has_the_bytes_of_its_mpdus_with_delimiters_and_padding() {
        // 1,500 B of IP, 8 B of LLC/SNAP, 30 B of MAC header and FCS: subframes of 1,544 B, the last without padding.
        let batch = take(&mut filled(SPEC, 1, 10)).unwrap();
        assert_eq!(batch, Batch { to: 1, mpdus: 10, packets: 10, bytes: 15_000, psdu: 1544 * 9 + 1542 });
    }

    #[test]
    fn bytes_mpdus_window_and_duration_end_a_batch() {
        let mpdus = |spec| take(&mut filled(spec, 1, 200)).unwrap().mpdus;
        assert_eq!(mpdus(SPEC), 42, "65,535 B");
        assert_eq!(mpdus(Aggregation { bytes: 1_000_000, ..SPEC }), 64, "window");
        assert_eq!(mpdus(Aggregation { mpdus: 16, ..SPEC }), 16);
        let mut store = filled(SPEC, 1, 200);
        assert_eq!(store.take(Time::ZERO, |_| 1544 * 5, |_| {}).unwrap().mpdus, 5);
    }

    #[test]
    fn what_is_missing_goes_first_and_holds_the_window() {
        let mut store = filled(Aggregation { bytes: 1 << 20, ..SPEC }, 1, 100);
        assert_eq!(take(&mut store).unwrap().mpdus, 64);
        let mut n = 0;
        assert_eq!(
            store.arrive(|_, _| {
                n += 1;
                n == 11
            }),
            63
        );
        assert_eq!(passed(&mut store), (0..10).collect::<Vec<_>>());
        store.end(Time::ZERO, End::Answered, |_, _| panic!());
        // The window begins at number 10, which is missing: of 64 MPDUs 53 are there, and 10 new ones fit.
        assert_eq!(take(&mut store).unwrap().mpdus, 11);
        assert_eq!(store.arrive(|_, _| false), 11);
        assert_eq!(passed(&mut store), (10..74).collect::<Vec<_>>());
        store.end(Time::ZERO, End::Answered, |_, _| panic!());
        assert_eq!(take(&mut store).unwrap().mpdus, 26);
    }

    #[test]
    fn a_missed_answer_is_asked_for_and_nothing_is_sent_twice() {
        let mut store = filled(SPEC, 1, 5);
        take(&mut store);
        assert_eq!(store.arrive(|_, _| false), 5);
        assert_eq!(passed(&mut store).len(), 5);
        store.end(Time::ZERO, End::NotAnswered, |_, _| panic!());
        assert_eq!(take(&mut store), Some(Batch::request(1)));
        store.arrive(|_, _| panic!());
        store.end(Time::ZERO, End::Answered, |_, _| panic!());
        assert_eq!((take(&mut store), store.carrying(), store.unsettled), (None, 0, 0));
    }

    #[test]
    fn without_requests_the_data_are_sent_again_and_passed_on_once() {
        let mut store = filled(Aggregation { asks: false, ..SPEC }, 1, 5);
        take(&mut store);
        store.arrive(|_, _| false);
        assert_eq!(passed(&mut store).len(), 5);
        store.end(Time::ZERO, End::NotAnswered, |_, _| panic!());
        assert_eq!(take(&mut store).unwrap().mpdus, 5);
        store.arrive(|_, _| false);
        assert_eq!(passed(&mut store), []);
    }

    #[test]
    fn a_receiver_that_waits_for_what_was_given_up_is_told() {
        let mut store = filled(Aggregation { attempts: Some(1), ..SPEC }, 1, 3);
        take(&mut store);
        let mut n = 0;
        store.arrive(|_, _| {
            n += 1;
            n == 1
        });
        assert_eq!(passed(&mut store), []);
        let mut gone = vec![];
        store.end(Time::ZERO, End::Answered, |p, has_it| gone.push((p.sent, has_it)));
        assert_eq!(gone, [(Time::ZERO, false)]);
        assert_eq!(take(&mut store), Some(Batch::request(1)));
        store.arrive(|_, _| panic!());
        assert_eq!(passed(&mut store), [1, 2]);
        store.end(Time::ZERO, End::Answered, |_, _| panic!());
        assert_eq!((take(&mut store), store.carrying()), (None, 0));
    }

    #[test]
    fn the_receiver_whose_packet_was_taken_first_is_served() {
        let mut store = Store::new(SPEC, HEADERS);
        [(2, 5), (1, 6), (2, 7), (3, 1)].into_iter().for_each(|(to, n)| store.put(&packet(to, n)));
        let mut order = vec![];
        while let Some(batch) = take(&mut store) {
            order.push((batch.to, batch.mpdus));
            store.arrive(|_, _| false);
            passed(&mut store);
            store.end(Time::ZERO, End::Answered, |_, _| {});
        }
        assert_eq!(order, [(2, 2), (1, 1), (3, 1)]);
    }

    #[test]
    fn packets_that_waited_too_long_are_given_up() {
        let mut store = filled(Aggregation { lifetime: Span::from_micros(500), ..SPEC }, 1, 3);
        let mut gone = 0;
        assert_eq!(store.take(Time::from_nanos(600_000), |_| u32::MAX, |_| gone += 1), None);
        assert_eq!((gone, store.carrying(), store.unsettled), (3, 0, 0));
    }

    /// 5 packets of 1,500 B: subframes of 1,522 B, padded to 1,524 B except the last, and 30 B of header and FCS.
    #[test]
    fn packets_share_an_mpdu_up_to_the_bytes_of_an_amsdu() {
        let spec = Aggregation { msdu: 7935, bytes: 20_000, ..SPEC };
        let mut store = filled(spec, 1, 100);
        let mpdu = 30 + 4 * 1524 + 1522;
        let whole = 4 + mpdu;
        // Two such MPDUs and one of three packets fill the A-MPDU.
        let batch = Batch { to: 1, mpdus: 3, packets: 13, bytes: 19_500, psdu: 2 * whole + 4 + 30 + 2 * 1524 + 1522 };
        assert_eq!(take(&mut store), Some(batch));
        let mut sizes = vec![];
        store.arrive(|bytes, p| {
            sizes.push((bytes, p.sent.as_nanos()));
            sizes.len() == 2
        });
        assert_eq!(sizes, [(mpdu, 0), (mpdu, 5), (30 + 2 * 1524 + 1522, 10)]);
        // A lost MPDU loses its packets, and goes out again as it was.
        assert_eq!(passed(&mut store), (0..5).collect::<Vec<_>>());
        store.end(Time::ZERO, End::Answered, |_, _| panic!());
        assert_eq!(take(&mut store).map(|b| (b.mpdus, b.packets)), Some((3, 13)));
        assert_eq!(store.first().map(|(p, n)| (p.sent.as_nanos(), n)), Some((5, 1)));
        store.arrive(|_, _| false);
        assert_eq!(passed(&mut store), (5..21).collect::<Vec<_>>());
    }

    #[test]
    fn the_window_counts_mpdus() {
        let spec = Aggregation { msdu: 3839, window: 3, bytes: 1 << 20, ..SPEC };
        assert_eq!(take(&mut filled(spec, 1, 100)).map(|b| (b.mpdus, b.packets)), Some((3, 6)));
        // A receiver whose PSDUs have no room for more gets one packet.
        let mut store = filled(spec, 1, 100);
        assert_eq!(store.take(Time::ZERO, |_| 0, |_| {}).map(|b| (b.mpdus, b.packets)), Some((1, 1)));
    }

    proptest! {
        /// Whatever is lost, each packet is passed on once and in order, or given up; nothing stays behind.
        #[test]
        fn nothing_is_lost_or_doubled(
            packets in 1u64..300,
            window in 1u32..80,
            attempts in prop::option::of(1u32..5),
            asks: bool,
            msdu in prop_oneof![Just(0), 1000u32..12_000],
            losses in prop::collection::vec(0u8..4, 1..40),
            answers in prop::collection::vec(any::<bool>(), 1..40),
        ) {
            let mut store = filled(Aggregation { window, attempts, asks, msdu, ..SPEC }, 1, packets);
            let (mut got, mut lost, mut draws) = (vec![], vec![], (losses.iter().cycle(), answers.iter().cycle()));
            for step in 0..20_000 {
                if take(&mut store).is_none() {
                    break;
                }
                // After a while the air is good, so that the store empties.
                let fails = |d: &mut dyn Iterator<Item = &u8>| step < 200 && d.next() == Some(&0);
                let request = store.lines[0].asks;
                let reached = store.arrive(|_, _| fails(&mut draws.0)) > 0 || request;
                got.extend(passed(&mut store));
                let answered = reached && (step >= 200 || *draws.1.next().unwrap());
                let end = if answered { End::Answered } else { End::NotAnswered };
                store.end(Time::ZERO, end, |p, has_it| if !has_it { lost.push(p.sent.as_nanos()) });
            }
            prop_assert!(got.is_sorted());
            let mut all: Vec<u64> = got.iter().chain(&lost).copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..packets).collect::<Vec<_>>());
            let line = &store.lines[0];
            prop_assert_eq!((store.carrying(), store.unsettled), (0, 0));
            prop_assert_eq!((line.mpdus.len(), line.packets.len(), line.new), (0, 0, 0));
        }
    }
}
