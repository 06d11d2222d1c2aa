//! The shaper: what a packet takes on the link, a clock, and the estimate of the rate of arrivals.
//!
//! Linux, `net/sched/sch_cake.c`: `cake_calc_overhead`, `cake_advance_shaper`, `cake_enqueue`.

use super::super::Args;
use super::tin::duration;
use crate::time::{Span, Time};

/// What a link adds to a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    overhead: i64,
    mpu: i64,
    cells: Cells,
}

#[derive(Clone, Copy, Debug)]
enum Cells {
    None,
    Atm,
    Ptm,
}

impl Framing {
    /// The words of the parameter `atm`.
    pub(super) const WORDS: &'static [&'static str] = &["none", "atm", "ptm"];

    pub(super) fn new(args: &Args) -> Framing {
        let cells = match args.word("atm") {
            "atm" => Cells::Atm,
            "ptm" => Cells::Ptm,
            _ => Cells::None,
        };
        Framing { overhead: args.integer("overhead"), mpu: args.integer("mpu"), cells }
    }

    /// The bytes that an IP packet of `size` bytes takes on the link.
    pub(super) fn length(self, size: u32) -> u64 {
        let bytes = (i64::from(size) + self.overhead).max(self.mpu).max(0) as u64;
        match self.cells {
            Cells::None => bytes,
            // 48 of the 53 bytes of a cell are payload.
            Cells::Atm => bytes.div_ceil(48) * 53,
            // One byte for each 64, which is a little more than 65/64.
            Cells::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// The clock of all packets.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// In bits per second; 0: no shaper.
    pub(super) rate: u64,
    /// `time_next_packet`: when the next packet may leave.
    next: Time,
    /// `failsafe_next_packet`: the same at two thirds of the rate, without what was dropped. So drops that count cannot
    /// stop the queue.
    failsafe: Time,
}

impl Clock {
    /// The queue was empty: the time until `now` is not made up for.
    pub(super) fn start(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }
    /// When the next packet may leave, if not at `now`.
    pub(super) fn holds_until(&self, now: Time) -> Option<Time> {
        Some(self.next.min(self.failsafe)).filter(|t| *t > now)
    }
    /// Charges a packet that leaves or is dropped.
    pub(super) fn charge(&mut self, bytes: u64, dropped: bool) {
        let takes = duration(bytes, self.rate);
        self.next = self.next.saturating_add(takes);
        if !dropped {
            self.failsafe = self.failsafe.saturating_add(Span::from_nanos(takes.as_nanos() * 3 / 2));
        }
    }
}

/// The estimate of the rate of arrivals for `autorate_ingress`.
#[derive(Debug, Default)]
pub(super) struct Autorate {
    /// `last_packet_time`.
    last: Time,
    /// `avg_packet_interval`, in nanoseconds.
    interval: u64,
    /// `avg_window_begin`.
    begin: Time,
    /// `avg_window_bytes`.
    bytes: u64,
    /// `avg_peak_bandwidth`, in bytes per second.
    peak: u64,
    /// `last_reconfig_time`.
    told: Time,
}

/// An average that follows faster if the sample is larger.
fn average(average: u64, sample: u64) -> u64 {
    let shift = if sample > average { 2 } else { 8 };
    average - (average >> shift) + (sample >> shift)
}

impl Autorate {
    /// With the rate of the file as the first estimate.
    pub(super) fn new(bps: u64) -> Autorate {
        Autorate { peak: bps / 8, ..Autorate::default() }
    }

    /// `bytes` arrive at `now`. Returns a new rate in bits per second at most every 250 ms: 15/16 of the estimate.
    pub(super) fn arrive(&mut self, now: Time, bytes: u64) -> Option<u64> {
        self.bytes += bytes;
        let after = now.since(self.last).as_nanos().min(1_000_000_000);
        // A burst, for example of an aggregate, ends with a pause that is longer than the average.
        self.interval = average(self.interval, after);
        self.last = now;
        if after <= self.interval {
            return None;
        }
        let window = u128::from(now.since(self.begin).as_nanos().max(1));
        let rate = u128::from(self.bytes) * 1_000_000_000 / window;
        self.peak = average(self.peak, rate as u64);
        (self.bytes, self.begin) = (0, now);
        let due = now.since(self.told) > Span::from_millis(250);
        due.then(|| {
            self.told = now;
            self.peak * 15 / 16 * 8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand. 1500 B with 44 B: 1544 B, 33 cells (1584 B of payload) of 53 B. 40 B with 44 B: 84 B, 2 cells. PTM:
    /// 1544 B and 25 for the 24.1 blocks of 64 B. 40 B with -20 B and mpu 64: 64 B.
    #[test]
    fn a_packet_takes_cells_and_overhead() {
        let of = |overhead, mpu, cells| {
            let f = Framing { overhead, mpu, cells };
            [40, 1500].map(|size| f.length(size))
        };
        assert_eq!(of(0, 0, Cells::None), [40, 1500]);
        assert_eq!(of(44, 0, Cells::Atm), [106, 1749]);
        assert_eq!(of(44, 0, Cells::Ptm), [86, 1569]);
        assert_eq!(of(-20, 64, Cells::None), [64, 1480]);
    }

    /// 1000 B every ms, 1 MB/s. From the estimate 0 with the step 1/256 down and 1/4 up the peak rises to the rate.
    #[test]
    fn the_estimate_finds_the_rate_of_arrivals() {
        let mut a = Autorate::new(0);
        let mut rate = 0;
        for burst in 1..3000 {
            let now = Time::ZERO + Span::from_millis(10 * burst);
            for _ in 0..10 {
                rate = a.arrive(now, 1000).unwrap_or(rate);
            }
        }
        // The window ends with the first packet of a burst: 10 packets in 10 ms.
        assert!((rate as f64 / (8e6 * 15.0 / 16.0) - 1.0).abs() < 0.01, "{rate}");
    }
}
