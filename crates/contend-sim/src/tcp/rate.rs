//! The delivery rate of the network, as the sender sees it (draft-ietf-ccwg-bbr §4.1,
//! draft-cheng-iccrg-delivery-rate-estimation; Linux's `tcp_rate.c`).
//!
//! When a segment is sent, the sender stores how much had been delivered by then. When the segment is acknowledged, the
//! difference divided by the elapsed time is a sample. The elapsed time is the longer of the sending time and the
//! acknowledging time. So neither a burst nor compressed acknowledgments make the network look faster than it is. The
//! data are kept only for a controller that needs samples.
//!
//! - The unit is the segment, not the byte, as in Linux.
//! - Without selective acknowledgments a duplicate ACK counts as delivered but ends no interval, because the segment
//!   that arrived is unknown.

use super::scoreboard::Changes;
use contend_core::Time;
use contend_core::cc::{Ack, RateSample, Window};
use std::collections::VecDeque;

/// The state of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct Mark {
    sent: Time,
    /// When `delivered` last grew before that transmission.
    delivered_at: Time,
    /// When the newest segment that had arrived by then was sent.
    first_sent: Time,
    delivered: u32,
    lost: u32,
    ce: u32,
    tx_in_flight: u32,
    app_limited: bool,
    retrans: bool,
}

/// One sending of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// The first one of the segment; nothing was outstanding.
    AfterIdle,
    /// The first one of the segment.
    New,
    /// A later one.
    Retransmission,
}

/// The sampler of one connection.
#[derive(Debug, Default)]
pub struct DeliveryRate {
    marks: VecDeque<Mark>,
    /// Number of the segment that the first mark describes.
    base: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Segments taken as lost so far, modulo 2^32.
    lost: u32,
    /// Segments delivered so far whose acknowledgment carried ECE, modulo 2^32.
    ce: u32,
    prior_in_flight: u32,
}

impl DeliveryRate {
    /// An acknowledgment has arrived and is not yet processed; `in_flight` segments are in flight.
    pub fn begin(&mut self, in_flight: u32) {
        self.prior_in_flight = in_flight;
    }

    /// Segment `i` is sent; `in_flight` includes it.
    pub fn sent(&mut self, i: u64, now: Time, sent: Transmission, in_flight: u32, w: &Window) {
        if sent == Transmission::AfterIdle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let mark = Mark {
            sent: now,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            delivered: w.delivered,
            lost: self.lost,
            ce: self.ce,
            tx_in_flight: in_flight,
            app_limited: w.app_limited != 0,
            retrans: sent == Transmission::Retransmission,
        };
        if self.marks.is_empty() {
            self.base = i;
        }
        match self.marks.get_mut((i - self.base) as usize) {
            Some(m) => *m = mark,
            None => self.marks.push_back(mark),
        }
    }

    /// Segment `i` is newly taken as lost. Returns what its mark says.
    pub fn lose(&mut self, i: u64) -> RateSample {
        self.lost = self.lost.wrapping_add(1);
        let Some(m) = self.mark(i) else { return RateSample::default() };
        RateSample {
            prior_delivered: m.delivered,
            losses: 1,
            lost: self.lost.wrapping_sub(m.lost),
            tx_in_flight: m.tx_in_flight,
            prior_in_flight: self.prior_in_flight,
            app_limited: m.app_limited,
            retrans: m.retrans,
            ..RateSample::default()
        }
    }

    /// The sample of an acknowledgment that showed that `changes.delivered` arrived; `w.delivered` includes them.
    /// `first` is the first segment that is still outstanding, `min_rtt_us` the minimum round-trip time so far.
    pub fn sample(
        &mut self,
        ack: &Ack,
        changes: &Changes,
        first: u64,
        now: Time,
        min_rtt_us: u32,
        w: &mut Window,
    ) -> RateSample {
        if ack.delivered > 0 {
            self.delivered_at = now;
        }
        self.ce = self.ce.wrapping_add(ack.ce);
        // §4.1.2.3 UpdateRateSample: the newest segment is the one that was sent last. Of segments sent in the same
        // instant it is the last in order.
        let newest =
            changes.delivered.iter().filter_map(|&(i, _)| Some((self.mark(i)?, i))).max_by_key(|(m, i)| (m.sent, *i));
        let mut rs = RateSample {
            losses: changes.lost.len() as u32,
            prior_in_flight: self.prior_in_flight,
            ..RateSample::default()
        };
        if let Some((m, _)) = newest {
            let send_us = m.sent.since(m.first_sent).as_micros();
            let ack_us = now.since(m.delivered_at).as_micros();
            let interval = u32::try_from(send_us.max(ack_us)).unwrap_or(u32::MAX);
            self.first_sent = m.sent;
            rs = RateSample {
                delivered: w.delivered.wrapping_sub(m.delivered),
                prior_delivered: m.delivered,
                // GenerateRateSample: an interval below the minimum round-trip time belongs to a spurious
                // retransmission.
                interval_us: if interval < min_rtt_us { 0 } else { interval },
                lost: self.lost.wrapping_sub(m.lost),
                tx_in_flight: m.tx_in_flight,
                ce: self.ce.wrapping_sub(m.ce),
                app_limited: m.app_limited,
                retrans: m.retrans,
                ..rs
            };
        }
        // The application-limited bubble has left the network.
        if w.app_limited != 0 && (w.delivered.wrapping_sub(w.app_limited) as i32) > 0 {
            w.app_limited = 0;
        }
        while self.base < first && self.marks.pop_front().is_some() {
            self.base += 1;
        }
        rs
    }

    fn mark(&self, i: u64) -> Option<Mark> {
        self.marks.get(i.checked_sub(self.base)? as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::scoreboard::SentSegment;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    fn first(idle: bool) -> Transmission {
        if idle { Transmission::AfterIdle } else { Transmission::New }
    }

    /// Sends segments `from..to` at `t`, and returns the number in flight.
    fn send(r: &mut DeliveryRate, w: &Window, t: u64, from: u64, to: u64, outstanding: u32) {
        for (n, i) in (from..to).enumerate() {
            r.sent(i, ms(t), first(outstanding == 0 && n == 0), outstanding + n as u32 + 1, w);
        }
    }

    fn acknowledge(r: &mut DeliveryRate, w: &mut Window, t: u64, delivered: &[u64], first: u64) -> RateSample {
        let changes =
            Changes { delivered: delivered.iter().map(|&i| (i, SentSegment::default())).collect(), lost: Vec::new() };
        let n = delivered.len() as u32;
        w.delivered += n;
        r.sample(&Ack { delivered: n, ..Ack::default() }, &changes, first, ms(t), 100_000, w)
    }

    #[test]
    fn a_burst_is_measured_by_its_acknowledgments() {
        // Ten segments are sent at once. The link carries 100 segments per second, and the round-trip time is 100 ms:
        // from 100 ms on, one is acknowledged every 10 ms.
        let (mut r, mut w) = (DeliveryRate::default(), Window::default());
        send(&mut r, &w, 0, 0, 10, 0);
        let seen: Vec<(u32, u32)> = (0..10)
            .map(|i| acknowledge(&mut r, &mut w, 100 + 10 * i, &[i], i + 1))
            .map(|s| (s.delivered, s.interval_us / 1000))
            .collect();
        // One segment in 100 ms, two in 110 ms, and so on: the round-trip time is part of the interval.
        assert_eq!(
            seen,
            [(1, 100), (2, 110), (3, 120), (4, 130), (5, 140), (6, 150), (7, 160), (8, 170), (9, 180), (10, 190)]
        );
    }

    #[test]
    fn a_full_pipe_shows_the_rate_of_the_link() {
        // One segment every 10 ms, each acknowledged after 100 ms: ten segments are delivered in each round trip of 100
        // ms.
        let (mut r, mut w) = (DeliveryRate::default(), Window::default());
        let mut last = RateSample::default();
        for i in 0..40 {
            if i >= 10 {
                last = acknowledge(&mut r, &mut w, 10 * i, &[i - 10], i - 9);
            }
            r.sent(i, ms(10 * i), first(i == 0), (i as u32 + 1).min(10), &w);
        }
        assert_eq!((last.delivered, last.interval_us, last.tx_in_flight), (10, 100_000, 10));
    }

    #[test]
    fn compressed_acknowledgments_do_not_raise_the_rate() {
        // Twenty segments are paced at 10 ms and all acknowledged at 300 ms. The last segment was sent 190 ms after the
        // first, and the acknowledgments took 300 ms.
        let (mut r, mut w) = (DeliveryRate::default(), Window::default());
        for i in 0..20 {
            r.sent(i, ms(10 * i), first(i == 0), i as u32 + 1, &w);
        }
        let all: Vec<u64> = (0..20).collect();
        let s = acknowledge(&mut r, &mut w, 300, &all, 20);
        assert_eq!((s.delivered, s.interval_us), (20, 300_000));
    }

    #[test]
    fn an_interval_below_the_smallest_round_trip_is_no_sample() {
        // The segment is retransmitted at 90 ms. The acknowledgment of its first transmission comes at 100 ms.
        let (mut r, mut w) = (DeliveryRate::default(), Window::default());
        send(&mut r, &w, 0, 0, 2, 0);
        acknowledge(&mut r, &mut w, 90, &[1], 0);
        r.sent(0, ms(90), Transmission::Retransmission, 1, &w);
        let s = acknowledge(&mut r, &mut w, 100, &[0], 2);
        assert_eq!((s.is_valid(), s.retrans, s.prior_delivered), (false, true, 1));
    }

    #[test]
    fn a_bubble_marks_samples_until_it_has_left_the_network() {
        let (mut r, mut w) = (DeliveryRate::default(), Window::default());
        w.app_limited = 2;
        send(&mut r, &w, 0, 0, 3, 0);
        assert!(acknowledge(&mut r, &mut w, 100, &[0], 1).app_limited);
        assert!(acknowledge(&mut r, &mut w, 100, &[1], 2).app_limited);
        assert_eq!(w.app_limited, 2);
        send(&mut r, &w, 100, 3, 4, 1);
        assert!(acknowledge(&mut r, &mut w, 100, &[2], 3).app_limited);
        assert_eq!(w.app_limited, 0);
        send(&mut r, &w, 100, 4, 5, 1);
        assert!(acknowledge(&mut r, &mut w, 200, &[3], 4).app_limited);
        assert!(!acknowledge(&mut r, &mut w, 200, &[4], 5).app_limited);
    }

    #[test]
    fn a_lost_segment_tells_what_was_in_flight_and_lost_since() {
        let (mut r, w) = (DeliveryRate::default(), Window::default());
        send(&mut r, &w, 0, 0, 5, 0);
        let (a, b) = (r.lose(1), r.lose(3));
        assert_eq!((a.tx_in_flight, a.lost, b.tx_in_flight, b.lost), (2, 1, 4, 2));
    }
}
