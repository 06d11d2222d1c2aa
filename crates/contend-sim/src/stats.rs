//! Counters and histograms. Counters only grow: a measurement is the difference of two readings. Histograms can be
//! cleared.

use crate::trace::{Event, Trace};
use contend_core::packet::PacketKind;
use contend_core::qdisc::{DropReason, Sink};
use contend_core::{Ecn, Packet, Span, Time};

/// A histogram of durations: whole microseconds up to 127, then 64 buckets for each power of two (no wider than 1.6 %
/// of their value), up to a quarter of an hour.
///
/// Every flow and queue has a histogram, and every packet changes one. The buckets are therefore one block of memory,
/// which is allocated for the first duration above zero: the delay in many queues is always zero.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    zeros: u64,
    /// Durations other than zero: their number and sum.
    len: u64,
    sum: Span,
    buckets: Option<Box<[u32; BUCKETS]>>,
}

/// Buckets of a histogram: the last one ends at 2^30 us, a little less than 18 minutes.
const BUCKETS: usize = 128 + 23 * 64;

/// Adds one to a count of events. There is no check of overflow: no run can count 2^64 events.
#[inline(always)]
pub fn count(events: &mut u64) {
    *events = events.wrapping_add(1);
}

/// The bucket of a duration of `us` microseconds.
#[inline]
fn bucket(us: u64) -> usize {
    // The width of the buckets is 2^wide.
    let wide = (us | 64).ilog2() - 6;
    (64 * wide as usize + (us >> wide) as usize).min(BUCKETS - 1)
}

/// The first number of microseconds in bucket `i`, and the first after it.
fn ends(i: usize) -> (u64, u64) {
    match i.checked_sub(128) {
        None => (i as u64, i as u64 + 1),
        Some(j) => {
            let (place, wide) = (64 + (j % 64) as u64, j / 64 + 1);
            (place << wide, (place + 1) << wide)
        }
    }
}

impl Durations {
    /// An empty histogram.
    pub fn new() -> Durations {
        Durations::default()
    }
    /// Adds one duration.
    #[inline]
    pub fn record(&mut self, d: Span) {
        if d.is_zero() {
            count(&mut self.zeros);
            return;
        }
        count(&mut self.len);
        self.sum += d;
        let n = &mut self.buckets.get_or_insert_with(|| Box::new([0; BUCKETS]))[bucket(d.as_micros())];
        *n = n.saturating_add(1);
    }
    /// Adds all durations of `other`.
    pub fn merge(&mut self, other: &Durations) {
        self.zeros += other.zeros;
        self.len += other.len;
        self.sum += other.sum;
        match (&mut self.buckets, &other.buckets) {
            (Some(mine), Some(theirs)) => {
                for (a, b) in mine.iter_mut().zip(theirs.iter()) {
                    *a = a.saturating_add(*b);
                }
            }
            (None, theirs) => self.buckets.clone_from(theirs),
            (Some(_), None) => {}
        }
    }
    /// Number of durations.
    pub fn len(&self) -> u64 {
        self.zeros + self.len
    }
    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The buckets that are not empty, ascending: begin and end in microseconds, and count. The bucket of zeros begins
    /// and ends at 0.
    pub fn buckets(&self) -> impl Iterator<Item = ((u64, u64), u64)> + '_ {
        let zeros = (self.zeros > 0).then_some(((0, 0), self.zeros));
        let counts = self.buckets.iter().flat_map(|b| b.iter().enumerate());
        zeros.into_iter().chain(counts.filter(|(_, n)| **n > 0).map(|(i, n)| (ends(i), u64::from(*n))))
    }
    /// The content as plain numbers, for [`Durations::from_parts`]: the number of zeros, the number and the sum of the
    /// other durations, and the first microsecond and the count of each bucket that is not empty.
    pub fn to_parts(&self) -> (u64, u64, Span, Vec<(u64, u32)>) {
        let counts = self.buckets.iter().flat_map(|b| b.iter().enumerate());
        (self.zeros, self.len, self.sum, counts.filter(|(_, n)| **n > 0).map(|(i, n)| (ends(i).0, *n)).collect())
    }
    /// The histogram with this content, see [`Durations::to_parts`].
    pub fn from_parts(zeros: u64, len: u64, sum: Span, buckets: &[(u64, u32)]) -> Durations {
        let mut counts = (!buckets.is_empty()).then(|| Box::new([0; BUCKETS]));
        if let Some(counts) = &mut counts {
            buckets.iter().for_each(|(us, n)| counts[bucket(*us)] = *n);
        }
        Durations { zeros, len, sum, buckets: counts }
    }
    /// Drops the buckets, which take most of the memory. Number, sum and mean stay; quantiles are lost.
    pub fn drop_buckets(&mut self) {
        self.buckets = None;
    }
    /// False after [`Durations::drop_buckets`], if there is a duration above zero.
    pub fn has_buckets(&self) -> bool {
        self.len == 0 || self.buckets.is_some()
    }
    /// Removes all durations.
    pub fn clear(&mut self) {
        *self = Durations::default();
    }
    /// The sum, exact.
    pub fn sum(&self) -> Span {
        self.sum
    }
    /// Mean in milliseconds, exact; 0 when empty.
    pub fn mean_ms(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.sum.as_millis_f64() / self.len() as f64 }
    }
    /// Quantile `q` (0..1) in milliseconds, as if the durations of a bucket were spread evenly in it; 0 when empty or
    /// without [buckets](Durations::has_buckets). The exact quantile is in the same bucket: see
    /// [`Durations::resolution_ms`].
    pub fn quantile_ms(&self, q: f64) -> f64 {
        let rank = q.clamp(0.0, 1.0) * self.len() as f64;
        let mut below = 0.0;
        for ((from, to), n) in self.buckets() {
            let share = (rank - below) / n as f64;
            if share <= 1.0 {
                return (from as f64 + share * (to - from) as f64) / 1e3;
            }
            below += n as f64;
        }
        0.0
    }
    /// Mean of the lowest share `q` (above 0, up to 1) of the durations in milliseconds, as if those of a bucket were
    /// spread evenly in it, and the most by which it may differ from the exact one; 0 when empty or without
    /// [buckets](Durations::has_buckets). If the share ends within a duration, only that part of it counts.
    pub fn trimmed_mean_ms(&self, q: f64) -> (f64, f64) {
        let rank = q.clamp(0.0, 1.0) * self.len() as f64;
        let (mut below, mut sum, mut error) = (0.0, 0.0, 0.0);
        for ((from, to), n) in self.buckets() {
            let counted = (rank - below).min(n as f64);
            if counted <= 0.0 {
                break;
            }
            // The lowest durations of a bucket lie between its begin and this share of its width if they are spread
            // evenly. In truth each is anywhere in it: all at its begin, or all at its end.
            let (width, share) = ((to - from) as f64, counted / n as f64);
            sum += counted * (from as f64 + width * share / 2.0);
            error += counted * width * (1.0 - share / 2.0);
            below += n as f64;
        }
        if sum > 0.0 { (sum / rank / 1e3, error / rank / 1e3) } else { (0.0, 0.0) }
    }
    /// The most by which a [trimmed mean](Durations::trimmed_mean_ms) of `ms` milliseconds may differ from the exact
    /// one, whatever the histogram: no duration is further from its place than the width of its bucket, and no bucket
    /// is wider than a microsecond and a 64th of its begin.
    pub fn trimmed_resolution_ms(ms: f64) -> f64 {
        if ms > 0.0 { 1e-3 + ms / 64.0 } else { 0.0 }
    }
    /// How far a quantile of `ms` milliseconds may be from the exact one: the width of its bucket in milliseconds.
    pub fn resolution_ms(ms: f64) -> f64 {
        let (from, to) = ends(bucket((ms * 1e3) as u64));
        if ms > 0.0 { (to - from) as f64 / 1e3 } else { 0.0 }
    }
}

/// Counters of the sending end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data packets handed to the network, retransmissions included.
    pub packets: u64,
    /// IP bytes of them.
    pub bytes: u64,
    /// Retransmitted data packets.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recovery episodes entered without a timeout.
    pub fast_retransmits: u64,
    /// Payload bytes acknowledged in order.
    pub acked_bytes: u64,
    /// Acknowledgments received.
    pub acks: u64,
    /// Probes of a closed window sent; they are not data packets.
    pub probes: u64,
    /// Reductions of the window because of ECN.
    pub ecn_reductions: u64,
    /// Segments that acknowledgments reported as marked: `tcpi_delivered_ce` of Linux.
    pub delivered_ce: u64,
    /// Losses detected without a timeout. First index: the actual cause ([`ActualCause`]); second index: the cause that
    /// the controller assumed (0 congestion, 1 error).
    pub judged: [[u64; 2]; 3],
}

/// The actual cause of a loss that a sender detected: the first index of [`SenderCounters::judged`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActualCause {
    /// A queue dropped the segment.
    Congestion = 0,
    /// The medium corrupted it.
    Error = 1,
    /// No loss: the segment had arrived, or was on its way.
    Nothing = 2,
}

/// Counters of the receiving end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data packets that arrived, duplicates included.
    pub packets: u64,
    /// IP bytes of them.
    pub bytes: u64,
    /// Payload bytes delivered in order, each once: the goodput.
    pub delivered_bytes: u64,
    /// Payload bytes that wait for earlier ones now: they have arrived and are not delivered.
    pub held_bytes: u64,
    /// Acknowledgments sent.
    pub acks: u64,
    /// Data packets that brought nothing new.
    pub duplicates: u64,
    /// Data packets that arrived with a mark.
    pub arrived_ce: u64,
}

impl ReceiverCounters {
    /// `p` arrived with data, whether or not they are new.
    pub fn arrived(&mut self, p: &Packet) {
        count(&mut self.packets);
        self.bytes += u64::from(p.size);
        self.arrived_ce += u64::from(p.ecn() == Ecn::Ce);
    }
}

/// One queue's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets that left towards the transmitter.
    pub taken: u64,
    /// Packets dropped, by [`PacketKind`]; filtered acknowledgments are not among them.
    pub dropped: [u64; 4],
    /// ACKs removed because a later ACK made them redundant.
    pub filtered: u64,
    /// Packets created by the discipline.
    pub made: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets marked that had ECT(1).
    pub marked_l4s: u64,
    /// Integral of the number of waiting packets over time, in packet-nanoseconds.
    pub packet_ns: u128,
}

impl QueueCounters {
    /// All drops.
    pub fn drops(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// What became of the packets that a transmitter took: a station, with all its queues, or a wire. At any time
/// taken = delivered + lost + carrying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransmitterCounters {
    /// Packets taken from its queues.
    pub taken: u64,
    /// Packets that reached the receiver, each counted once.
    pub delivered: u64,
    /// Packets that did not reach the receiver: corrupted, or given up after the last retry.
    pub lost: u64,
    /// Packets now in service, being sent, or propagating.
    pub carrying: u64,
    /// Bytes of the packets that a wire has delivered or lost; 0 for stations.
    pub bytes: u64,
}

/// Counts what goes through a queue and how long it waits. What a packet needs that leaves at once stands first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct QueueMeter {
    waiting: u64,
    /// Packets that left at once. `counters` does not contain them.
    passed: u64,
    /// Time from entering the queue to leaving it.
    pub delay: Durations,
    /// The sum of the times at which packets left, less that of the times at which they entered, modulo 2^128. If those
    /// that wait left now, it would be [`QueueCounters::packet_ns`].
    waits_ns: u128,
    /// Without [`QueueCounters::packet_ns`].
    counters: QueueCounters,
}

impl QueueMeter {
    /// A packet is offered at `now`; it counts as waiting until it is taken or dropped.
    #[inline]
    pub fn offered(&mut self, now: Time) {
        count(&mut self.counters.offered);
        self.enter(now, 1);
    }
    /// `p` left towards the transmitter.
    #[inline(always)]
    pub fn taken(&mut self, now: Time, p: &Packet) {
        count(&mut self.counters.taken);
        self.leave(now);
        self.delay.record(now.since(p.queued));
    }
    /// A packet is offered to the empty queue and leaves at once.
    #[inline]
    pub fn passed(&mut self) {
        debug_assert_eq!(self.waiting, 0, "no packet overtakes another");
        count(&mut self.passed);
        count(&mut self.delay.zeros);
    }
    /// `p` was dropped.
    pub fn dropped(&mut self, now: Time, p: &Packet, why: DropReason) {
        match why {
            DropReason::Filtered => self.counters.filtered += 1,
            DropReason::Full | DropReason::Early => self.counters.dropped[p.kind() as usize] += 1,
        }
        self.leave(now);
    }
    /// Counts the drops, marks and created packets in `sink`, and empties `sink`. Drops are also recorded in `trace`.
    #[inline]
    pub fn settle(&mut self, now: Time, sink: &mut Sink, trace: &mut Trace) {
        if !sink.is_empty() {
            self.take_in(now, sink, trace);
        }
    }
    #[inline(never)]
    fn take_in(&mut self, now: Time, sink: &mut Sink, trace: &mut Trace) {
        self.counters.marked += std::mem::take(&mut sink.marked);
        self.counters.marked_l4s += std::mem::take(&mut sink.marked_l4s);
        self.counters.made += sink.made;
        self.enter(now, std::mem::take(&mut sink.made));
        for (p, why) in sink.dropped.drain(..) {
            self.dropped(now, &p, why);
            trace.packet(now, Event::Dropped, &p);
        }
    }
    /// The counters at `now`.
    pub fn read(&self, now: Time) -> QueueCounters {
        let mut c = self.counters;
        c.offered += self.passed;
        c.taken += self.passed;
        c.packet_ns = self.waits_ns.wrapping_add(u128::from(self.waiting) * u128::from(now.as_nanos()));
        c
    }
    /// Packets waiting.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }
    /// So many packets enter at `now`.
    #[inline(always)]
    fn enter(&mut self, now: Time, packets: u64) {
        self.waiting += packets;
        self.waits_ns = self.waits_ns.wrapping_sub(u128::from(packets) * u128::from(now.as_nanos()));
    }
    /// A packet leaves at `now`.
    #[inline(always)]
    fn leave(&mut self, now: Time) {
        self.waiting -= 1;
        self.waits_ns = self.waits_ns.wrapping_add(u128::from(now.as_nanos()));
    }
}

const _: () = assert!(PacketKind::ALL.len() == 4, "QueueCounters::dropped has one place for each kind");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_a_bucket_no_wider_than_a_sixtieth_of_it() {
        for us in (0..5000).chain((0..29).map(|e| 3 << e)) {
            let i = bucket(us);
            let (from, to) = ends(i);
            assert!(from <= us && us < to && to - from <= 1 + us / 60, "{us} in {i}, {from} to {to}");
            assert_eq!((bucket(from), bucket(to - 1), bucket(to)), (i, i, i + 1));
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn an_arrival_counts_a_packet_its_ip_bytes_and_its_mark_and_delivers_nothing() {
        let now = Time::ZERO;
        let body = contend_core::Body::Udp { seq: 0 };
        let packet = |size| Packet::new(contend_core::FlowId(0), size, now, body);
        let mut r = ReceiverCounters::default();
        [1500, 40].map(packet).iter().for_each(|p| r.arrived(p));
        r.arrived(&packet(100).with_ecn(Ecn::Ce));
        assert_eq!(r, ReceiverCounters { packets: 3, bytes: 1640, arrived_ce: 1, ..ReceiverCounters::default() });
    }

    #[test]
    fn without_buckets_number_and_sum_stay() {
        let mut d = Durations::new();
        [0, 3, 70_000].iter().for_each(|us| d.record(Span::from_micros(*us)));
        let (zeros, others, sum, buckets) = d.to_parts();
        let same = Durations::from_parts(zeros, others, sum, &buckets);
        assert_eq!((same.quantile_ms(0.9), same.len()), (d.quantile_ms(0.9), 3));
        assert!(d.has_buckets());
        d.drop_buckets();
        assert_eq!((d.len(), d.sum(), d.has_buckets()), (3, Span::from_micros(70_003), false));
    }
    #[test]
    fn a_quantile_is_interpolated_in_its_bucket_and_no_further_from_the_exact_one_than_the_bucket_is_wide() {
        // Durations from 60 to 160 ms that fill their buckets evenly: the quantiles of a uniform distribution.
        let mut even = Durations::new();
        (0..100_000).for_each(|i| even.record(Span::from_micros(60_000 + i)));
        for q in [0.01, 0.5, 0.95, 0.99] {
            assert!((even.quantile_ms(q) - (60.0 + 100.0 * q)).abs() < 0.02, "{q}: {}", even.quantile_ms(q));
        }
        // Whatever the distribution, the exact quantile (the least duration that this share does not exceed) is near.
        for scale in [7_u64, 900, 31_000, 2_000_000] {
            let mut all: Vec<u64> = (0..997_u64).map(|i| scale + (i * i * i) % (3 * scale)).collect();
            let mut d = Durations::new();
            all.iter().for_each(|us| d.record(Span::from_micros(*us)));
            all.sort_unstable();
            for q in [0.001, 0.5, 0.9, 0.95, 0.99, 1.0] {
                let exact = all[libm::ceil(q * 997.0) as usize - 1] as f64 / 1e3;
                let got = d.quantile_ms(q);
                let tolerance = Durations::resolution_ms(got);
                assert!((got - exact).abs() <= tolerance + 1e-9, "{scale} {q}: {got}, not {exact} within {tolerance}");
                assert!(tolerance <= 0.001_f64.max(got / 64.0) + 1e-9, "{tolerance} of {got}");
            }
        }
    }

    #[test]
    fn a_trimmed_mean_is_that_of_the_lowest_durations_to_half_a_bucket() {
        // By hand: buckets of 1 us up to 127 us, of 16 us at 1.5 ms (1024 us / 64). Four durations of 10 us, four of
        // 100 us, two of 1500 us in the bucket from 1488 us (93 x 16) to 1504 us.
        let mut d = Durations::new();
        for (n, us) in [(4, 10), (4, 100), (2, 1500)] {
            (0..n).for_each(|_| d.record(Span::from_micros(us)));
        }
        let is = |q: f64, us: f64, error_us: f64| {
            let (mean, error) = d.trimmed_mean_ms(q);
            assert!((mean * 1e3 - us).abs() < 1e-9 && (error * 1e3 - error_us).abs() < 1e-9, "{q}: {mean} {error}");
        };
        // The lowest four fill their bucket: its middle, to half its width.
        is(0.4, 10.5, 0.5);
        is(0.8, (4.0 * 10.5 + 4.0 * 100.5) / 8.0, 0.5);
        // Five: the fifth is the lowest quarter of its bucket, so at 1/8 of it, and 7/8 at most from the truth.
        is(0.5, (4.0 * 10.5 + 100.125) / 5.0, (4.0 * 0.5 + 0.875) / 5.0);
        // Half of the tenth: three quarters of the bucket of the two largest.
        let (upper, error) = (1488.0 + 16.0 * 0.75 / 2.0, 16.0 * (1.0 - 0.75 / 2.0));
        is(0.95, (4.0 * 10.5 + 4.0 * 100.5 + 1.5 * upper) / 9.5, (8.0 * 0.5 + 1.5 * error) / 9.5);
        is(1.0, (4.0 * 10.5 + 4.0 * 100.5 + 2.0 * 1496.0) / 10.0, (8.0 * 0.5 + 2.0 * 8.0) / 10.0);
        // Zeros are exact.
        let mut zeros = Durations::new();
        [0, 0, 0, 100].iter().for_each(|us| zeros.record(Span::from_micros(*us)));
        assert_eq!(zeros.trimmed_mean_ms(0.75), (0.0, 0.0));
        assert_eq!((Durations::new().trimmed_mean_ms(0.9), Durations::trimmed_resolution_ms(0.0)), ((0.0, 0.0), 0.0));
    }

    #[test]
    fn an_exact_trimmed_mean_is_within_the_error_whatever_the_distribution() {
        for scale in [7_u64, 900, 31_000, 2_000_000] {
            let mut all: Vec<u64> = (0..997_u64).map(|i| scale + (i * i * i) % (3 * scale)).collect();
            let mut d = Durations::new();
            all.iter().for_each(|us| d.record(Span::from_micros(*us)));
            all.sort_unstable();
            for q in [0.5, 0.77, 0.95, 0.99, 1.0] {
                let rank = q * 997.0;
                let part = |i: usize| (rank - i as f64).clamp(0.0, 1.0);
                let exact = all.iter().enumerate().map(|(i, us)| part(i) * *us as f64).sum::<f64>() / rank / 1e3;
                let (got, error) = d.trimmed_mean_ms(q);
                assert!((got - exact).abs() <= error + 1e-9, "{scale} {q}: {got}, not {exact} within {error}");
                let most = Durations::trimmed_resolution_ms(got);
                assert!(error <= most, "{scale} {q}: {error} of {got}, not {most} at most");
            }
        }
        // The worst case of one bucket: all at its begin.
        let mut d = Durations::new();
        (0..100).for_each(|_| d.record(Span::from_micros(1 << 20)));
        let (got, error) = d.trimmed_mean_ms(0.5);
        assert!((got - error) * 1e3 <= f64::from(1 << 20) && error <= Durations::trimmed_resolution_ms(got));
    }

    #[test]
    fn zeros_count_in_mean_and_quantiles() {
        let mut d = Durations::new();
        for us in [0, 0, 0, 100, 100, 400] {
            d.record(Span::from_micros(us));
        }
        assert_eq!((d.len(), d.buckets().map(|b| b.1).sum::<u64>()), (6, 6));
        assert!((d.mean_ms() - 0.1).abs() < 1e-12);
        assert_eq!(d.quantile_ms(0.5), 0.0);
        assert!((d.quantile_ms(0.8) - 0.1).abs() < 0.0011);
        assert!((d.quantile_ms(1.0) - 0.4).abs() < 0.0041);
        let mut both = d.clone();
        both.merge(&d);
        assert_eq!((both.len(), both.mean_ms()), (12, d.mean_ms()));
    }
}
