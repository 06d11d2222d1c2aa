//! A token bucket that is checked only when a timer ticks, like a program that sleeps until it may send.

use super::{AppWrite, Source, gap, packet};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use contend_core::{Cx, Span, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "Starzetz 2006 §6.3.1 (cbr: sleeps until there are tokens, adds those of the time really \
    slept, surplus tokens stay), Fig. 6.3";
/// What it does.
pub const SUMMARY: &str = "Packets of one size at a constant mean rate, sent by a timer; each packet leaves at the \
    first tick at which the bucket holds its tokens, so gaps alternate between two neighbouring multiples of the \
    timer. The first tick is at a random time.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "payload bits per second at which tokens arrive").range(1.0, 1e12),
    super::PACKET,
    Param::time("timer", "time between two ticks; 10ms: Linux 2.4 on a PC").default("10ms").range(1e-9, 100.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When `packet` is not in bytes.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(TokenBucket {
        bps: args.rate("rate").max(1),
        bytes: packet(args)?,
        timer: args.time("timer").max(Span::from_nanos(1)),
        running: None,
    }))
}

/// A token bucket and a timer.
#[derive(Debug)]
struct TokenBucket {
    bps: u64,
    bytes: u64,
    timer: Span,
    /// The last tick at which a packet was sent (initially the first tick), and the time at which the tokens of the
    /// next packet are complete.
    running: Option<(Time, Time)>,
}

impl Source for TokenBucket {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        let gap = gap(self.bytes, full, self.bps);
        let (tick, due) = match self.running {
            Some(r) => r,
            // The bucket is empty at the start.
            None => (
                cx.now.saturating_add(Span::from_nanos(cx.rng.random_range(0..self.timer.as_nanos()))),
                cx.now.saturating_add(gap),
            ),
        };
        // Surplus tokens are kept: a late packet does not delay the tokens of the next packet.
        let ticks = due.as_nanos().saturating_sub(tick.as_nanos()).div_ceil(self.timer.as_nanos());
        let at = Time::from_nanos(tick.as_nanos().saturating_add(ticks.saturating_mul(self.timer.as_nanos())));
        self.running = Some((at, due.saturating_add(gap)));
        (at < Time::NEVER).then_some(AppWrite::new(at, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, writes};
    use super::*;
    use contend_core::registry::{Amount, Value};

    fn distances(timer_ms: u64, bytes: u64, bps: u64) -> Vec<u64> {
        let values = [
            ("rate", Value::Rate(bps)),
            ("packet", Value::Amount(Amount::Bytes(bytes))),
            ("timer", Value::Time(Span::from_millis(timer_ms))),
        ];
        let w = writes(&mut *build(&args(PARAMS, &values)).unwrap(), 3, Time::ZERO, Time::ZERO + Span::from_secs(100));
        w.windows(2).map(|p| (p[1].at - p[0].at).as_nanos()).collect()
    }

    #[test]
    fn distances_are_the_two_multiples_around_the_mean() {
        // 1500 B at 32 kB/s take 46.875 ms: gaps of 40 and 50 ms, of which 11 in 16 are the longer.
        let d = distances(10, 1500, 256_000);
        assert!(d.iter().all(|d| [40_000_000, 50_000_000].contains(d)), "{d:?}");
        let mean = d.iter().sum::<u64>() as f64 / d.len() as f64;
        assert!((mean / 46_875_000.0 - 1.0).abs() < 1e-3, "{mean}");
        assert_eq!(d[..16 * (d.len() / 16)].iter().filter(|d| **d == 50_000_000).count(), d.len() / 16 * 11);
    }

    #[test]
    fn a_packet_that_takes_whole_ticks_comes_at_equal_distances() {
        assert!(distances(10, 1250, 100_000).iter().all(|d| *d == 100_000_000));
    }

    #[test]
    fn several_packets_may_leave_at_one_tick() {
        // A packet every 1 ms, a tick every 10 ms.
        let d = distances(10, 100, 800_000);
        assert!(
            d.iter().all(|d| [0, 10_000_000].contains(d))
                && d.iter().filter(|d| **d == 0).count() * 10 >= d.len() * 9 - 10
        );
    }
}
