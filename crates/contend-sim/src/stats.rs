//! What is counted: plain counters that only grow (a measured interval is the difference of two readings) and histograms that can be emptied.

use contend_core::packet::Kind;
use contend_core::{Packet, Span, Time};
use hdrhistogram::Histogram;

/// A histogram of durations in microseconds, two significant digits, up to a quarter of an hour. Empty, it takes no memory.
#[derive(Clone, Debug, Default)]
pub struct Durations(Option<Box<Histogram<u32>>>);

impl Durations {
    /// An empty histogram.
    pub fn new() -> Durations {
        Durations::default()
    }
    /// Adds one duration; longer ones count as a quarter of an hour.
    pub fn record(&mut self, d: Span) {
        if self.0.is_none() {
            // The bounds and digits are among those the library allows; should it disagree, nothing is measured.
            self.0 = Histogram::new_with_bounds(1, 900_000_000, 2).ok().map(Box::new);
        }
        if let Some(h) = &mut self.0 {
            h.saturating_record(d.as_micros());
        }
    }
    /// Adds everything `other` has.
    pub fn merge(&mut self, other: &Durations) {
        match (&mut self.0, &other.0) {
            // Both have the same bounds, so nothing can be out of range.
            (Some(mine), Some(theirs)) => _ = mine.add(theirs.as_ref()),
            (None, theirs) => self.0.clone_from(theirs),
            (Some(_), None) => {}
        }
    }
    /// Number of durations.
    pub fn len(&self) -> u64 {
        self.0.as_ref().map_or(0, |h| h.len())
    }
    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Recorded values in microseconds (the upper end of each bucket) with their counts, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.0.iter().flat_map(|h| h.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())))
    }
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0 = None;
    }
    /// Mean in milliseconds; 0 when empty.
    pub fn mean_ms(&self) -> f64 {
        self.0.as_ref().filter(|h| !h.is_empty()).map_or(0.0, |h| h.mean() / 1e3)
    }
    /// Quantile `q` (0..1) in milliseconds; 0 when empty.
    pub fn quantile_ms(&self, q: f64) -> f64 {
        self.0.as_ref().filter(|h| !h.is_empty()).map_or(0.0, |h| h.value_at_quantile(q) as f64 / 1e3)
    }
}

/// What one flow did, at its sending end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
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
    /// Reductions of the window because of ECN.
    pub ecn_reductions: u64,
}

/// What one flow did, at its receiving end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Data packets that arrived, duplicates included.
    pub packets: u64,
    /// IP bytes of them.
    pub bytes: u64,
    /// Payload bytes delivered in order, each once: the goodput.
    pub delivered_bytes: u64,
    /// Acknowledgments sent.
    pub acks: u64,
    /// Data packets that brought nothing new.
    pub duplicates: u64,
}

/// One queue's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets that left towards the transmitter.
    pub taken: u64,
    /// Packets dropped, by [`Kind`].
    pub dropped: [u64; 4],
    /// Packets marked.
    pub marked: u64,
    /// Integral of the number of waiting packets over time, in packet-nanoseconds.
    pub packet_ns: u128,
}

impl QueueCounters {
    /// All drops.
    pub fn drops(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// Counts what goes through a queue and how long it waits.
#[derive(Clone, Debug, Default)]
pub struct QueueMeter {
    counters: QueueCounters,
    /// Time from entering the queue to leaving it.
    pub delay: Durations,
    waiting: u64,
    since: Time,
}

impl QueueMeter {
    /// A packet is offered at `now`; it counts as waiting until it is taken or dropped.
    pub fn offered(&mut self, now: Time) {
        self.advance(now);
        self.counters.offered += 1;
        self.waiting += 1;
    }
    /// `p` left towards the transmitter.
    pub fn taken(&mut self, now: Time, p: &Packet) {
        self.advance(now);
        self.counters.taken += 1;
        self.waiting -= 1;
        self.delay.record(now.since(p.queued));
    }
    /// `p` was dropped.
    pub fn dropped(&mut self, now: Time, p: &Packet) {
        self.advance(now);
        self.counters.dropped[p.kind() as usize] += 1;
        self.waiting -= 1;
    }
    /// The counters as of `now`.
    pub fn read(&self, now: Time) -> QueueCounters {
        let mut c = self.counters;
        c.packet_ns += u128::from(self.waiting) * u128::from(now.since(self.since).as_nanos());
        c
    }
    /// Packets waiting.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }
    fn advance(&mut self, now: Time) {
        self.counters.packet_ns += u128::from(self.waiting) * u128::from((now - self.since).as_nanos());
        self.since = now;
    }
}

const _: () = assert!(Kind::ALL.len() == 4, "QueueCounters::dropped has one place for each kind");
