//! A token bucket that is filled by looking at the clock.

use std::time::Duration;

/// Tokens are bytes.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    /// Bytes per second.
    rate: f64,
    /// Bytes that the bucket holds when the source had nothing to wait for but the socket.
    depth: f64,
    tokens: f64,
    /// When the bucket was filled last.
    filled: Duration,
}

impl Bucket {
    /// A full bucket for `rate_bps`.
    pub fn new(rate_bps: u64, depth: usize, now: Duration) -> Bucket {
        Bucket { rate: rate_bps as f64 / 8.0, depth: depth as f64, tokens: depth as f64, filled: now }
    }

    /// From now on another rate, in bits per second.
    pub fn set_rate(&mut self, rate_bps: u64, now: Duration) {
        self.fill(now);
        self.rate = rate_bps as f64 / 8.0;
    }

    /// Adds the tokens of the time that has really passed. A surplus stays: whoever slept too long sends more then, and
    /// keeps its rate (§6.3.1).
    pub fn fill(&mut self, now: Duration) {
        self.tokens += self.rate * now.saturating_sub(self.filled).as_secs_f64();
        self.filled = now;
    }

    /// The socket held the source back: tokens beyond the depth are lost.
    pub fn clip(&mut self) {
        self.tokens = self.tokens.min(self.depth);
    }

    /// How long until there are tokens for `bytes`.
    pub fn ready_in(&self, bytes: usize) -> Duration {
        // A step below a nanosecond would never pass.
        let missing = bytes as f64 - self.tokens;
        if missing <= 0.0 { Duration::ZERO } else { Duration::from_secs_f64((missing / self.rate).max(1e-9)) }
    }

    /// Takes the tokens of a packet.
    pub fn take(&mut self, bytes: usize) {
        self.tokens -= bytes as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends whenever there are tokens; sleeps in steps of `tick`. Returns the times of the packets.
    fn times(rate_bps: u64, packet: usize, tick: Duration, until: Duration) -> Vec<Duration> {
        let mut bucket = Bucket::new(rate_bps, packet, Duration::ZERO);
        let (mut now, mut out) = (Duration::ZERO, vec![]);
        while now < until {
            bucket.fill(now);
            while bucket.ready_in(packet).is_zero() {
                bucket.take(packet);
                out.push(now);
            }
            let ticks = bucket.ready_in(packet).as_nanos().div_ceil(tick.as_nanos()) as u32;
            now += tick * ticks.max(1);
        }
        out
    }

    #[test]
    fn a_coarse_timer_keeps_the_rate_and_makes_several_spacings() {
        // §6.4.1: 32 kB/s in packets of 1500 B, 46.9 ms apart, with a timer of 10 ms: gaps of 40 and 50 ms.
        let t = times(256_000, 1500, Duration::from_millis(10), Duration::from_secs(60));
        let gaps: std::collections::BTreeSet<u128> = t.windows(2).map(|w| (w[1] - w[0]).as_millis()).collect();
        assert_eq!(gaps, [40, 50].into());
        assert!((1279..=1282).contains(&t.len()), "{} packets, 1280 by the rate", t.len());
    }

    #[test]
    fn what_the_socket_held_back_is_lost() {
        let mut bucket = Bucket::new(8000, 500, Duration::ZERO);
        bucket.fill(Duration::from_secs(10));
        assert_eq!(bucket.ready_in(10_500), Duration::ZERO);
        bucket.clip();
        assert_eq!(bucket.ready_in(1500), Duration::from_secs(1));
    }
}
