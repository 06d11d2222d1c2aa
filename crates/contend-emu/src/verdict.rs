//! How late an emulation was, and whether its results can be believed.

use crate::border::Tally;
use crate::bytes::Refused;
use crate::losses::Losses;
use contend_core::Span;
use contend_lab::experiment::results::{Emulation, Lateness};
use contend_sim::stats::Durations;

/// Lateness of events: a histogram and the largest.
#[derive(Clone, Debug, Default)]
pub struct Late {
    all: Durations,
    largest: Span,
}

impl Late {
    /// One event was so late.
    pub fn record(&mut self, by: Span) {
        self.all.record(by);
        self.largest = self.largest.max(by);
    }

    /// The distribution.
    pub fn read(&self) -> Lateness {
        let quantile = |q| self.all.quantile_ms(q) / 1e3;
        Lateness { p50: quantile(0.5), p99: quantile(0.99), max: self.largest.as_secs_f64() }
    }
}

/// 99 % of the packets may be late by this, or by this share of the least round-trip time if that is more.
const P99: Span = Span::from_millis(1);
const SHARE: f64 = 0.01;
/// The largest lateness of a packet.
const MAX: Span = Span::from_millis(10);

/// What the verdict says of a run that carried nothing.
const NOTHING: &str = "no packet passed, so nothing was measured";

/// The verdict on an emulation: its `late` is empty if it is faithful.
#[must_use]
pub fn judged(e: Emulation, tally: &Tally, losses: &Losses, min_rtt: Span) -> Emulation {
    let ms = |s: f64| format!("{:.3} ms", s * 1e3);
    let p99 = P99.as_secs_f64().max(SHARE * min_rtt.as_secs_f64());
    let mut why = Vec::new();
    if tally.entered + tally.left == 0 {
        why.push(NOTHING.to_owned());
    }
    // A late wake harms nobody while no packet waits, so it does not count by itself.
    for (what, late) in [("left", &e.lateness_s), ("entered", &e.entry_s)] {
        if late.p99 > p99 {
            why.push(format!("1 % of the packets {what} more than {} late (at most {})", ms(late.p99), ms(p99)));
        }
        if late.max > MAX.as_secs_f64() {
            why.push(format!("packets {what} up to {} late (at most {})", ms(late.max), ms(MAX.as_secs_f64())));
        }
    }
    why.extend(losses.why());
    if tally.overwritten > 0 {
        why.push(format!(
            "{} packets lost their bytes, as too many passed while they waited (write smaller windows, or fewer flows)",
            tally.overwritten
        ));
    }
    let refused = |why: Refused| tally.refused[why as usize];
    if refused(Refused::Flows) > 0 {
        why.push(format!("{} packets were refused: too many flows were open", refused(Refused::Flows)));
    }
    let of = |why: &Refused| (refused(*why) > 0).then(|| (why.name().to_owned(), refused(*why)));
    Emulation {
        late: why.join("; "),
        refused: Refused::ALL.iter().filter_map(of).collect(),
        overwritten: tally.overwritten,
        lost: losses.by_place(),
        entered: tally.entered,
        left: tally.left,
        ..e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(p99_us: u64, max_us: u64, rtt_ms: u64, tally: &Tally) -> String {
        let s = |us| Span::from_micros(us).as_secs_f64();
        let lateness_s = Lateness { p50: 0.0, p99: s(p99_us), max: s(max_us) };
        let e = Emulation { lateness_s, ..Emulation::default() };
        judged(e, tally, &Losses::default(), Span::from_millis(rtt_ms)).late
    }

    /// A run that carried something.
    fn some() -> Tally {
        Tally { entered: 1, left: 1, ..Tally::default() }
    }

    #[test]
    fn the_bounds_are_a_millisecond_or_a_hundredth_of_the_round_trip_and_ten_milliseconds() {
        let none = some();
        assert_eq!(verdict(1_000, 10_000, 20, &none), "");
        assert_eq!(verdict(2_000, 10_000, 200, &none), "");
        assert!(verdict(1_001, 9_000, 20, &none).contains("1.001 ms late (at most 1.000 ms)"));
        assert!(verdict(2_001, 9_000, 200, &none).contains("(at most 2.000 ms)"));
        assert!(verdict(1, 10_001, 200, &none).contains("up to 10.001 ms late (at most 10.000 ms)"));
        assert!(verdict(1, 1, 20, &Tally { overwritten: 3, ..some() }).contains("3 packets lost"));
    }

    #[test]
    fn foreign_packets_are_counted_and_do_not_corrupt_the_verdict_but_refused_flows_do() {
        let mut tally = some();
        tally.refused[Refused::NotIpv4 as usize] = 5;
        let of = |tally: &Tally| judged(Emulation::default(), tally, &Losses::default(), Span::ZERO);
        let e = of(&tally);
        assert_eq!((e.late.as_str(), e.refused.get("not IPv4")), ("", Some(&5)));
        tally.refused[Refused::Flows as usize] = 1;
        assert!(of(&tally).late.contains("too many flows"));
    }

    #[test]
    fn packets_count_and_not_the_wakes_beside_them() {
        let late = Lateness { p50: 0.0, p99: 0.002, max: 0.05 };
        let of = |e: Emulation, tally: &Tally| judged(e, tally, &Losses::default(), Span::ZERO).late;
        assert_eq!(of(Emulation { wake_s: late, gap_s: late, ..Emulation::default() }, &some()), "");
        let entered = of(Emulation { entry_s: late, ..Emulation::default() }, &some());
        assert!(entered.contains("1 % of the packets entered more than 2.000 ms late"), "{entered}");
        assert!(entered.contains("packets entered up to 50.000 ms late"), "{entered}");
        assert_eq!(of(Emulation::default(), &Tally::default()), NOTHING);
    }

    #[test]
    fn one_lost_packet_makes_a_run_untrue() {
        let losses = Losses { sent: 1, ..Losses::default() };
        let e = judged(Emulation::default(), &some(), &losses, Span::ZERO);
        assert!(e.late.starts_with("1 packets were lost between a host and the emulator"), "{}", e.late);
        assert_eq!(e.lost.into_iter().collect::<Vec<_>>(), [("sent".to_owned(), 1)]);
    }

    #[test]
    fn the_largest_is_exact_and_the_median_is_not_moved_by_it() {
        let mut late = Late::default();
        (0..99).for_each(|_| late.record(Span::from_micros(50)));
        late.record(Span::from_micros(7_123));
        let read = late.read();
        assert!((read.p50 - 50e-6).abs() < 2e-6 && (read.max - 7.123e-3).abs() < 1e-9, "{read:?}");
    }
}
