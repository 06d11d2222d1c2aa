//! The packets of one sender between its queue and the receivers that acknowledge in blocks.
//!
//! IEEE 802.11-2016 §10.24 (block acknowledgment) and §10.13 (A-MPDU). Each receiver has a line of MPDUs in the order
//! of their sequence numbers. The line begins with the oldest MPDU that one of the two ends still needs: the sender
//! keeps an MPDU until it is acknowledged or given up, the receiver until all MPDUs before it are there. So one line
//! has both the window of the sender and the reordering of the receiver, and no packet is copied.

use super::StationId;
use super::spec::Aggregation;
use contend_core::qdisc::Backlog;
use contend_core::{Packet, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Bytes of the delimiter before an MPDU in an A-MPDU (§9.7.1).
const DELIMITER: u32 = 4;

/// What a sender sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The receiver.
    pub(super) to: StationId,
    /// MPDUs; 0 for a request for a block acknowledgment.
    pub(super) mpdus: u32,
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
    /// Bytes of an MPDU besides its IP packet.
    overhead: u32,
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

/// The MPDUs to one receiver, in the order of their sequence numbers. Places count from the first.
#[derive(Debug)]
struct Line {
    to: StationId,
    mpdus: VecDeque<Mpdu>,
    /// The sequence number of the first MPDU, counted without end.
    first: u64,
    /// Place of the oldest MPDU that the sender still needs.
    window: usize,
    /// Place of the first MPDU that was never sent.
    new: usize,
    /// Place of the first MPDU that the receiver has not passed on.
    next: usize,
    /// The receiver waits for no MPDU with a lower sequence number.
    told: u64,
    /// Packets that the sender still needs, and the bytes of their IP packets.
    load: Backlog,
    /// True if a request is sent before further data.
    asks: bool,
    /// True if the line is among the ready ones.
    is_ready: bool,
}

/// One MPDU.
#[derive(Clone, Copy, Debug)]
struct Mpdu {
    packet: Packet,
    /// Number of the packet in the order in which the store took them from the queue, from 1.
    number: u64,
    /// How often it was sent.
    attempts: u32,
    /// True while it is in the batch in service.
    on_air: bool,
    /// True if the receiver has it.
    received: bool,
    /// True if the sender needs it no longer: it is acknowledged or given up.
    settled: bool,
}

impl Store {
    /// An empty store. `overhead`: bytes of an MPDU besides its IP packet.
    pub(super) fn new(spec: Aggregation, overhead: u32) -> Store {
        Store {
            spec,
            overhead,
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
        let mpdu = Mpdu { packet: *p, number: self.taken, attempts: 0, on_air: false, received: false, settled: false };
        self.lines[i].mpdus.push_back(mpdu);
        self.lines[i].load.add(p);
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
        self.line(to).filter(|line| line.oldest().is_some())?.mpdus.front().map(|m| &m.packet)
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
        fits: impl Fn(StationId) -> u32,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        while let Some(Reverse((_, i))) = self.ready.pop() {
            self.lines[i].is_ready = false;
            let batch = self.take_from(i, now, &fits, &mut gone);
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
        fits: impl Fn(StationId) -> u32,
        mut gone: impl FnMut(&Packet),
    ) -> Option<Batch> {
        let i = *self.line_of.get(&to)?;
        self.take_from(i, now, &fits, &mut gone)
    }

    fn take_from(
        &mut self,
        i: usize,
        now: Time,
        fits: &impl Fn(StationId) -> u32,
        gone: &mut impl FnMut(&Packet),
    ) -> Option<Batch> {
        let (spec, overhead) = (&self.spec, self.overhead);
        let line = &mut self.lines[i];
        let stale = line.drop_stale(spec, now, gone);
        self.unsettled -= stale;
        self.carrying -= stale;
        let most = spec.bytes.min(fits(line.to));
        let batch = if line.asks { Some(Batch::request(line.to)) } else { line.fill(spec, most, overhead) };
        self.current = batch.map(|_| i);
        batch
    }

    /// The first packet of the batch in service with its sequence number; for a request, a packet of its line and the
    /// number at which the window begins.
    pub(super) fn first(&self) -> Option<(&Packet, u16)> {
        let line = self.lines.get(self.current?)?;
        let number = |place: usize| ((line.first + place as u64) & 0xfff) as u16;
        if line.asks {
            return line.mpdus.front().map(|m| (&m.packet, number(line.window)));
        }
        let sent = (line.window..).zip(line.mpdus.range(line.window..));
        sent.filter(|(_, m)| m.on_air).map(|(place, m)| (&m.packet, number(place))).next()
    }

    /// The MPDUs of the batch in service reach their receiver, except those for which `lost` is true; it gets the bytes
    /// of an MPDU and its packet. A request reaches it always. Returns how many MPDUs have arrived.
    pub(super) fn arrive(&mut self, mut lost: impl FnMut(u32, &Packet) -> bool) -> u32 {
        let (overhead, window) = (self.overhead, u64::from(self.spec.window));
        let Some(line) = self.current.and_then(|i| self.lines.get_mut(i)) else { return 0 };
        if line.asks {
            line.told = line.first + line.window as u64;
            return 0;
        }
        let mut arrived = 0;
        for (number, m) in (line.first + line.window as u64..).zip(line.mpdus.range_mut(line.window..line.new)) {
            if m.on_air && !lost(m.packet.size + overhead, &m.packet) {
                arrived += 1;
                m.received = true;
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
            let place = line.next;
            let received = line.mpdus.get(place)?.received;
            if !received && line.first + place as u64 >= line.told {
                return None;
            }
            line.next += 1;
            if received {
                self.carrying -= 1;
                return line.mpdus.get(place).map(|m| (line.to, &m.packet));
            }
        }
    }

    /// The batch in service is over. `gone` gets each packet that the sender gives up, and whether the receiver has it.
    /// Returns the receiver.
    pub(super) fn end(&mut self, now: Time, end: End, mut gone: impl FnMut(&Packet, bool)) -> Option<StationId> {
        let i = self.current.take()?;
        let spec = &self.spec;
        let line = &mut self.lines[i];
        let asked = std::mem::take(&mut line.asks);
        // An MPDU alone is answered by an ACK, and is sent again.
        let is_aggregate = line.mpdus.range(line.window..line.new).filter(|m| m.on_air).nth(1).is_some();
        line.asks = match end {
            End::Answered => false,
            End::NotAnswered => asked || (spec.asks && is_aggregate),
            End::NotSent => asked,
        };
        let answered = end == End::Answered;
        for m in line.mpdus.range_mut(line.window..line.new).filter(|m| !m.settled) {
            m.attempts -= u32::from(m.on_air && end == End::NotSent);
            m.on_air = false;
            // While the sender asks, it does not know what has arrived.
            let given_up = !line.asks && is_given_up(spec, m, now);
            if answered && m.received {
                m.settled = true;
            } else if given_up {
                m.settled = true;
                self.carrying -= u32::from(!m.received);
                gone(&m.packet, m.received);
            }
            if m.settled {
                self.unsettled -= 1;
                line.load.remove(&m.packet);
            }
        }
        line.advance(spec.window);
        let to = line.to;
        self.queue_up(i);
        Some(to)
    }
}

/// True if the sender gives `m` up at `now`.
fn is_given_up(spec: &Aggregation, m: &Mpdu, now: Time) -> bool {
    spec.attempts.is_some_and(|most| m.attempts >= most) || is_stale(spec, m, now)
}

fn is_stale(spec: &Aggregation, m: &Mpdu, now: Time) -> bool {
    !spec.lifetime.is_zero() && now.since(m.packet.queued) > spec.lifetime
}

impl Batch {
    /// A request for a block acknowledgment.
    fn request(to: StationId) -> Batch {
        Batch { to, mpdus: 0, bytes: 0, psdu: 0 }
    }
}

impl Line {
    fn new(to: StationId) -> Line {
        Line {
            to,
            mpdus: VecDeque::new(),
            first: 0,
            window: 0,
            new: 0,
            next: 0,
            told: 0,
            load: Backlog::default(),
            asks: false,
            is_ready: false,
        }
    }

    /// True if another packet may fit into the next batch, of at most `most` bytes.
    fn has_room(&self, spec: &Aggregation, most: u32) -> bool {
        let in_window = (self.mpdus.len() - self.window) < spec.window as usize;
        in_window && self.load.packets < u64::from(spec.mpdus) && self.load.bytes < u64::from(most)
    }

    /// The number of the oldest packet that waits; 0 for a request; `None` if nothing is to be sent.
    fn oldest(&self) -> Option<u64> {
        let waits = self.mpdus.range(self.window.min(self.mpdus.len())..).find(|m| !m.settled);
        waits.map(|m| m.number).or(self.asks.then_some(0))
    }

    /// Drops the packets that were never sent and have waited for too long. Returns their number.
    fn drop_stale(&mut self, spec: &Aggregation, now: Time, gone: &mut impl FnMut(&Packet)) -> u32 {
        let mut dropped = 0;
        while let Some(m) = self.mpdus.get(self.new).filter(|m| is_stale(spec, m, now)) {
            gone(&m.packet);
            self.load.remove(&m.packet);
            self.mpdus.remove(self.new);
            dropped += 1;
        }
        dropped
    }

    /// The next MPDUs in the window, those that were sent before first, as long as the PSDU has at most `most` bytes.
    /// At least one, if any waits.
    fn fill(&mut self, spec: &Aggregation, most: u32, overhead: u32) -> Option<Batch> {
        let end = self.mpdus.len().min(self.window + spec.window as usize);
        let mut batch = Batch::request(self.to);
        for (place, m) in (self.window..).zip(self.mpdus.range_mut(self.window..end)).filter(|(_, m)| !m.settled) {
            let psdu = batch.psdu.next_multiple_of(4) + DELIMITER + m.packet.size + overhead;
            if batch.mpdus > 0 && (psdu > most || batch.mpdus == spec.mpdus) {
                break;
            }
            (m.on_air, m.attempts) = (true, m.attempts + 1);
            self.new = self.new.max(place + 1);
            batch = Batch { mpdus: batch.mpdus + 1, bytes: batch.bytes + m.packet.size, psdu, ..batch };
        }
        (batch.mpdus > 0).then_some(batch)
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
        self.mpdus.drain(..over);
        self.first += over as u64;
        (self.window, self.next, self.new) = (self.window - over, self.next - over, self.new - over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_core::{Body, FlowId, Span};
    use proptest::prelude::*;

    const SPEC: Aggregation = Aggregation {
        bytes: 65_535,
        mpdus: 64,
        window: 64,
        duration: Span::from_micros(5484),
        limit: 1000,
        lifetime: Span::ZERO,
        attempts: None,
        asks: true,
    };

    fn packet(to: StationId, number: u64) -> Packet {
        Packet::new(FlowId(to), 1500, Time::from_nanos(number), Body::Udp { seq: number })
            .toward(to)
            .queued_at(Time::from_nanos(number))
    }

    fn filled(spec: Aggregation, to: StationId, packets: u64) -> Store {
        let mut store = Store::new(spec, 38);
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
        assert_eq!(batch, Batch { to: 1, mpdus: 10, bytes: 15_000, psdu: 1544 * 9 + 1542 });
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
        let mut store = Store::new(SPEC, 38);
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

    proptest! {
        /// Whatever is lost, each packet is passed on once and in order, or given up; nothing stays behind.
        #[test]
        fn nothing_is_lost_or_doubled(
            packets in 1u64..300,
            window in 1u32..80,
            attempts in prop::option::of(1u32..5),
            asks: bool,
            losses in prop::collection::vec(0u8..4, 1..40),
            answers in prop::collection::vec(any::<bool>(), 1..40),
        ) {
            let mut store = filled(Aggregation { window, attempts, asks, ..SPEC }, 1, packets);
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
            prop_assert_eq!((store.carrying(), store.unsettled, store.lines[0].mpdus.len()), (0, 0, 0));
        }
    }
}
