//! Pacing: a segment leaves when the preceding segment's duration at the pacing rate has passed (Linux's internal
//! pacing).
//!
//! - The rate is that of the payload, as the controller sets it. Headers are not counted.
//! - The first ten segments of a connection leave without gaps, as in Linux and its queue `fq`.
//! - After a pause, the next gap is shorter by the length of the pause, but by at most half (Linux:
//!   `tcp_update_skb_after_send`).
//! - The maximum gap is one second, as in `fq`.
//! - Segments leave one by one; there is no segmentation offload.
//!
//! A controller may ask for full gaps ([`contend_core::cc::Needs::full_gaps`]). The first segments are then paced too,
//! and a pause shortens no gap.

use contend_core::cc::Window;
use contend_core::{Span, Time};

/// Maximum gap in nanoseconds. The rate may change long before a longer gap would end (Linux, `fq`: NSEC_PER_SEC).
const LONGEST: u64 = 1_000_000_000;
/// Number of segments at the start of a connection that are not paced.
const INITIAL: u32 = 10;

/// The pacer of one connection.
#[derive(Debug)]
pub struct Pacer {
    /// When the next segment may leave.
    next: Time,
    /// The same time while a segment waits for it, otherwise never.
    deadline: Time,
    /// Number of segments sent, counted up to [`INITIAL`].
    sent: u32,
    /// True if every gap has its full length.
    full: bool,
}

impl Default for Pacer {
    /// A pacer of a connection that has sent nothing.
    fn default() -> Pacer {
        Pacer { next: Time::ZERO, deadline: Time::NEVER, sent: 0, full: false }
    }
}

impl Pacer {
    /// A pacer of a connection that has sent nothing. Every gap has its full length.
    pub fn with_full_gaps() -> Pacer {
        Pacer { sent: INITIAL, full: true, ..Pacer::default() }
    }

    /// When the waiting segment may leave.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// True if the next segment must wait, at `rate` bytes per second. If it need not wait, or if there is none, the
    /// caller calls [`Pacer::idle`].
    pub fn holds(&mut self, now: Time, rate: u64) -> bool {
        let holds = rate > 0 && self.next > now;
        self.deadline = if holds { self.next } else { Time::NEVER };
        holds
    }

    /// Wakes the sender at `t`, before the waiting segment may leave.
    pub fn wake_at(&mut self, t: Time) {
        self.deadline = self.deadline.min(t);
    }

    /// No segment waits for the pacer.
    pub fn idle(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// A segment of `len` payload bytes leaves at `rate` bytes per second; a rate of 0 means no pacing.
    pub fn sent(&mut self, now: Time, len: u32, rate: u64) {
        if rate == 0 {
            return;
        }
        self.sent = (self.sent + 1).min(INITIAL);
        if self.sent < INITIAL {
            return;
        }
        let gap = (u64::from(len) * 1_000_000_000 / rate).min(LONGEST);
        let pause = if self.full { 0 } else { now.since(self.next.min(now)).as_nanos() };
        self.next = self.next.max(now).saturating_add(Span::from_nanos(gap - pause.min(gap / 2)));
    }
}

/// Linux's rule for controllers that do not set a rate (`tcp_update_pacing_rate`): two windows per round trip while the
/// window is below half the threshold, 1.2 windows above. In bytes per second; 0 before the first round-trip sample.
pub fn rate(w: &Window, outstanding: u32, srtt_us: u32) -> u64 {
    if srtt_us == 0 {
        return 0;
    }
    let percent = if w.cwnd < w.ssthresh / 2 { 200 } else { 120 };
    let bytes = u64::from(w.cwnd.max(outstanding)) * u64::from(w.mss);
    (bytes * 10_000 * percent / u64::from(srtt_us)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_nanos(n * 1000)
    }

    #[test]
    fn the_first_ten_leave_at_once_and_the_others_at_the_rate() {
        // 1000 B at 1 MB/s: one segment per millisecond.
        let mut p = Pacer::default();
        let mut now = us(50_000);
        let mut left = Vec::new();
        for _ in 0..13 {
            if p.holds(now, 1_000_000) {
                now = p.deadline();
            }
            p.sent(now, 1000, 1_000_000);
            left.push(now.as_micros());
        }
        // The connection begins after a pause: the first gap is half a gap.
        assert_eq!(left[..10], [50_000; 10]);
        assert_eq!(left[10..], [50_500, 51_500, 52_500]);
    }

    #[test]
    fn a_pause_takes_at_most_half_a_gap() {
        let mut p = Pacer { next: us(1000), deadline: Time::NEVER, sent: INITIAL, full: false };
        p.sent(us(1200), 1000, 1_000_000);
        assert_eq!(p.next, us(2000));
        p.sent(us(9000), 1000, 1_000_000);
        assert_eq!(p.next, us(9500));
    }

    #[test]
    fn full_gaps_hold_from_the_first_segment_and_after_a_pause() {
        let mut p = Pacer::with_full_gaps();
        p.sent(us(5000), 1000, 1_000_000);
        assert_eq!(p.next, us(6000));
        p.sent(us(9000), 1000, 1_000_000);
        assert_eq!(p.next, us(10_000));
    }

    #[test]
    fn the_rule_doubles_in_slow_start_and_gives_a_fifth_more_afterwards() {
        // 10 segments of 1000 B in 100 ms are 100 kB/s.
        let w = Window { cwnd: 10, ..Window::default() };
        assert_eq!(rate(&w, 0, 100_000), 200_000);
        assert_eq!(rate(&Window { ssthresh: 20, ..w }, 0, 100_000), 120_000);
        assert_eq!(rate(&Window { ssthresh: 21, ..w }, 0, 100_000), 120_000);
        assert_eq!(rate(&Window { ssthresh: 22, ..w }, 0, 100_000), 200_000);
        assert_eq!(rate(&w, 20, 100_000), 400_000);
        assert_eq!(rate(&w, 0, 0), 0);
    }
}
