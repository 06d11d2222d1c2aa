//! Tests whether two stations get the air equally often while both want it.
//!
//! Starzetz 2006 §6.4.2: two saturated stations should send equally many packets, whatever the packets' lengths.
//! Attempts count only while both stations are backlogged. A capture shows this: after a frame, a backlogged station
//! sends its next frame within the others' exchanges, its own exchange and the longest backoff. Under the null
//! hypothesis each attempt belongs to either station with the same probability, so the number of attempts of one
//! station is binomial. Residual backoff makes the two stations alternate more regularly than that. So the test refuses
//! conforming stations less often than its significance level says.

use super::exchange::Exchange;
use super::{Address, CapturedFrames};
use contend_core::Refusal;
use statrs::distribution::{Binomial, DiscreteCDF};

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Length of an interval in nanoseconds.
    pub interval_ns: u64,
    /// Number of slots of the smallest window: CWmin + 1.
    pub slots: u32,
    /// Duration of an exchange.
    pub exchange: Exchange,
}

/// The results of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Address of the station.
    pub station: Address,
    /// Packets in the whole capture: data frames without retries.
    pub packets: u64,
    /// Attempts while both stations are backlogged.
    pub attempts: u64,
    /// Packets in each interval.
    pub per_interval: Vec<u64>,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The two stations.
    pub parts: [Part; 2],
    /// Seconds from the first to the last frame of the capture.
    pub span_s: f64,
    /// Seconds during which both stations are backlogged.
    pub both_s: f64,
    /// p-value of the two-sided binomial test of equal shares; `None` without an attempt.
    pub p: Option<f64>,
}

/// Maximum number of intervals.
const MOST: u64 = 1_000_000;

/// Compares `a` with `b`.
///
/// # Errors
/// When there are more than 1,000,000 intervals.
pub fn access(capture: &CapturedFrames, pair: [Address; 2], s: &Settings) -> Result<Access, Refusal> {
    let (from, to) = (capture.frames.first().map_or(0, |f| f.at_ns), capture.frames.last().map_or(0, |f| f.at_ns));
    let interval = s.interval_ns.max(1);
    let intervals = (to - from) / interval + 1;
    if intervals > MOST {
        return Err(Refusal::new(format!("the file has {intervals} intervals"), "make them longer: --interval 10s"));
    }
    let spans = pair.map(|a| backlogged(capture, a, s));
    let both = intersection(&spans[0], &spans[1]);
    let mut inside = both.iter().copied().peekable();
    let mut parts =
        pair.map(|station| Part { station, packets: 0, attempts: 0, per_interval: vec![0; intervals as usize] });
    for f in capture.frames.iter().filter(|f| f.data) {
        while inside.peek().is_some_and(|(_, end)| *end < f.at_ns) {
            inside.next();
        }
        let Some(part) = parts.iter_mut().find(|p| f.from == Some(p.station)) else { continue };
        // The first frame of a span was won before the span began: do not count it.
        part.attempts += u64::from(inside.peek().is_some_and(|(start, _)| *start < f.at_ns));
        if !f.retry {
            part.packets += 1;
            part.per_interval.get_mut(((f.at_ns - from) / interval) as usize).into_iter().for_each(|n| *n += 1);
        }
    }
    let [a, b] = parts.each_ref().map(|p| p.attempts);
    Ok(Access {
        parts,
        span_s: (to - from) as f64 / 1e9,
        both_s: both.iter().map(|(a, b)| (b - a) as f64 / 1e9).sum(),
        p: binomial(a, b),
    })
}

/// p-value of the two-sided test that `a` and `b` have equal probability.
fn binomial(a: u64, b: u64) -> Option<f64> {
    let n = a.checked_add(b).filter(|n| *n > 0)?;
    let law = Binomial::new(0.5, n).ok()?;
    Some((2.0 * law.cdf(a.min(b))).min(1.0))
}

/// Spans in which `station` had a frame waiting: from one of its frames to the next, if the next came in time.
fn backlogged(capture: &CapturedFrames, station: Address, s: &Settings) -> Vec<(u64, u64)> {
    let slot = s.exchange.phy.slot.as_nanos();
    let mut all: Vec<(u64, u64)> = Vec::new();
    let (mut last, mut others, mut own) = (None, 0_u64, 0);
    for f in &capture.frames {
        let takes = s.exchange.nanoseconds(f.bytes, f.rate_bps);
        if f.from != Some(station) || !f.data {
            others = others.saturating_add(takes);
            continue;
        }
        // Each failure doubles the window. One additional exchange covers the extra cost of a collision (an EIFS).
        let window = slot * u64::from(s.slots) * if f.retry { 2 } else { 1 };
        let latest = others.saturating_add(own).saturating_add(window);
        if let Some(before) = last.filter(|b| f.at_ns - b <= latest) {
            match all.last_mut() {
                Some(span) if span.1 == before => span.1 = f.at_ns,
                _ => all.push((before, f.at_ns)),
            }
        }
        (last, others, own) = (Some(f.at_ns), 0, takes);
    }
    all
}

/// The times that are in a span of both lists; both lists are sorted.
fn intersection(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, end) = (x.0.max(y.0), x.1.min(y.1));
        if start < end {
            all.push((start, end));
        }
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binomial_test_has_the_values_of_hand_calculation() {
        // 0 of 4: 2 / 16. 1 of 4: 2 (1 + 4) / 16. An even split: more than 1, so 1.
        for (a, b, p) in [(0, 4, 0.125), (3, 1, 0.625), (2, 2, 1.0)] {
            assert!((binomial(a, b).unwrap() - p).abs() < 1e-12);
        }
        assert_eq!(binomial(0, 0), None);
    }

    #[test]
    fn spans_meet_where_both_are() {
        assert_eq!(intersection(&[(0, 10), (20, 30)], &[(5, 25), (26, 40)]), [(5, 10), (20, 25), (26, 30)]);
        assert_eq!(intersection(&[(0, 10)], &[(10, 20)]), []);
    }
}
