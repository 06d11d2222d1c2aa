//! The HyStart of Linux's cubic (Ha and Rhee 2011), as net/ipv4/tcp_cubic.c has it since 5.5.
//!
//! From a window of 16 segments on, slow start ends when one of two signs appears in a round:
//! - the shortest round trip of the round is longer than the shortest ever by an eighth of that (4 to 16 ms), from the
//!   ninth sample on;
//! - ACKs have arrived without a gap above 2 ms for half of the sum of the shortest round trip ever and up to 1 ms (the
//!   ACK train).

use super::super::{Ack, Window};
use crate::time::{Span, Time};

/// Smallest window at which slow start may end, in segments.
const LOW_WINDOW: u32 = 16;
/// Round-trip samples that a round needs.
const MIN_SAMPLES: u8 = 8;
/// Bounds of the rise of the round-trip time that ends slow start, in microseconds.
const DELAY_MIN: u32 = 4_000;
const DELAY_MAX: u32 = 16_000;
/// Longest gap in a train of ACKs.
const ACK_DELTA: Span = Span::from_millis(2);
/// Four packets of the largest size that the sender's host hands to its device, in bytes.
const BURST: u64 = 4 * 65_536;

/// The state of one slow start.
#[derive(Debug)]
pub(super) struct Linux {
    /// True once slow start has been ended.
    found: bool,
    /// The round ends when a byte beyond this one is acknowledged.
    end_seq: u64,
    round_start: Time,
    last_ack: Time,
    /// Shortest round trip of this round, in microseconds.
    curr_rtt: u32,
    sample_cnt: u8,
    /// Shortest round trip ever, in microseconds; `u32::MAX` before the first.
    delay_min: u32,
}

impl Default for Linux {
    fn default() -> Linux {
        Linux {
            found: false,
            end_seq: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            curr_rtt: u32::MAX,
            sample_cnt: 0,
            delay_min: u32::MAX,
        }
    }
}

impl Linux {
    /// Ends slow start if this acknowledgment shows that the path is full.
    pub(super) fn sample(&mut self, now: Time, w: &mut Window, ack: &Ack) {
        let Some(rtt) = ack.rtt_us.map(|rtt| rtt.max(1)).filter(|_| !self.found) else { return };
        self.delay_min = self.delay_min.min(rtt);
        if w.snd_una > self.end_seq {
            (self.round_start, self.last_ack, self.end_seq) = (now, now, w.snd_nxt);
            (self.curr_rtt, self.sample_cnt) = (u32::MAX, 0);
        }
        if w.cwnd < LOW_WINDOW {
            return;
        }
        if now.since(self.last_ack) <= ACK_DELTA {
            self.last_ack = now;
            let train = Span::from_micros(u64::from(self.delay_min)) + burst(w, ack);
            // Linux takes half of it unless it paces, because paced segments may leave half a round trip late.
            let train = if w.pacing_rate == 0 { train / 2 } else { train };
            self.found |= now.since(self.round_start) > train;
        }
        self.curr_rtt = self.curr_rtt.min(rtt);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
        } else {
            let rise = (self.delay_min / 8).clamp(DELAY_MIN, DELAY_MAX);
            self.found |= self.curr_rtt > self.delay_min.saturating_add(rise);
        }
        if self.found {
            w.ssthresh = w.cwnd;
        }
    }
}

/// The time that a burst of the sender's host may take, at most 1 ms, at Linux's pacing rate in slow start: two windows
/// per round trip.
fn burst(w: &Window, ack: &Ack) -> Span {
    let per_round = 2 * u64::from(w.cwnd.max(1)) * u64::from(w.mss.max(1));
    Span::from_micros((BURST * u64::from(ack.srtt_us) / per_round).min(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ACKs of one segment each at these microseconds, all with this round trip. Returns at which ACK slow start ends.
    fn ends(window: u32, acks: impl Iterator<Item = (u64, u32)>) -> Option<usize> {
        let (mut h, mut w) = (Linux::default(), Window { cwnd: window, ..Window::default() });
        w.snd_nxt = 1_000_000;
        acks.enumerate().find_map(|(n, (us, rtt))| {
            w.snd_una += 1000;
            let ack = Ack { acked: 1, rtt_us: Some(rtt), srtt_us: rtt, ..Ack::default() };
            h.sample(Time::ZERO + Span::from_micros(us), &mut w, &ack);
            h.found.then_some(n)
        })
    }

    /// By hand: the first ACK begins the round; half of 40 ms + 1 ms is 20.5 ms, which ACK number 21 exceeds.
    #[test]
    fn a_train_of_acks_for_half_a_round_trip_ends_slow_start() {
        let acks = |gap: u64| (0..200).map(move |n| (100_000 + n * gap, 40_000));
        assert_eq!(ends(16, acks(1000)), Some(21));
        assert_eq!(ends(16, acks(2001)), None);
        assert_eq!(ends(15, acks(1000)), None);
    }

    /// The round trips of the first round are 40 ms, those of the second 45 ms and more: an eighth more is 5 ms.
    #[test]
    fn longer_round_trips_end_slow_start_at_the_ninth_sample() {
        let second = |ms: u32| {
            let (mut h, mut w) = (Linux::default(), Window { cwnd: 20, ..Window::default() });
            (w.snd_una, w.snd_nxt) = (1000, 20_000);
            let mut n = 0;
            let mut sample = |w: &mut Window, rtt: u32| {
                n += 1;
                let ack = Ack { acked: 1, rtt_us: Some(rtt * 1000), srtt_us: rtt * 1000, ..Ack::default() };
                h.sample(Time::ZERO + Span::from_millis(10 * n), w, &ack);
                h.found
            };
            (0..10).for_each(|_| assert!(!sample(&mut w, 40)));
            (w.snd_una, w.snd_nxt) = (20_001, 60_000);
            (0..20).position(|_| sample(&mut w, ms))
        };
        assert_eq!((second(45), second(46)), (None, Some(8)));
    }
}
