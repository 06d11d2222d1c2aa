//! Rates by a schedule: a station that walks away and comes back, at instants that the file gives.

use super::{Chain, RateControl, RateId, Report, Setting, ladder};
use crate::formulas::{Line, on, step};
use crate::registry::{Args, Param, Unit, in_order};
use crate::{Cx, Refusal, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "no source: the definition";
/// What it does.
pub const SUMMARY: &str = "Rates that change at instants of the file, as those of a station that walks away and comes \
    back; outside the intervals the rate that the file gives the station.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::new(
    "rates",
    Unit::Schedule,
    "intervals in order of time: from, to (instants of the run), and the rate; the station sends at its fastest rate \
        that is not above it",
)
.default("[]")
.range(0.0, 1e12)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    on("a burst"),
    step("every attempt has the fastest rate of the station that is not above that of the interval", "the definition")
        .when("now is in an interval"),
    step("every attempt has the rate that the file gives the station", "the definition").when("now is in none"),
];

/// Builds the rate control.
///
/// # Errors
/// When the intervals are not in order of time, or the station has no rate that is slow enough.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let schedule = args.schedule("rates");
    let remedy = "write [[\"10s\", \"20s\", \"26Mbps\"], ...] in order of time";
    in_order(schedule.iter().map(|&(from, to, _)| (from, to)), "rates", remedy)?;
    let ladder = ladder(setting.rates);
    let bps_of = |id: RateId| setting.rates[usize::from(id)].bps;
    let interval = |&(from, to, bps): &(Time, Time, u64)| {
        let rate = ladder.iter().rfind(|id| bps_of(**id) <= bps).ok_or_else(|| {
            Refusal::new(
                format!("rates: the station has no rate of {bps} bit/s or less"),
                format!("write at least {}bps, its slowest", bps_of(ladder[0])),
            )
        })?;
        Ok(Interval { from, to, rate: *rate })
    };
    let intervals = schedule.iter().map(interval).collect::<Result<Vec<Interval>, Refusal>>()?;
    Ok(Box::new(Schedule { intervals, next: 0, given: setting.given }))
}

#[derive(Debug)]
struct Interval {
    from: Time,
    to: Time,
    rate: RateId,
}

#[derive(Debug)]
struct Schedule {
    intervals: Vec<Interval>,
    /// The first interval that has not ended.
    next: usize,
    given: RateId,
}

impl RateControl for Schedule {
    fn choose(&mut self, cx: &mut Cx) -> Chain {
        while self.intervals.get(self.next).is_some_and(|i| i.to <= cx.now) {
            self.next += 1;
        }
        let interval = self.intervals.get(self.next).filter(|i| i.from <= cx.now);
        Chain::all(interval.map_or(self.given, |i| i.rate))
    }
    fn sent(&mut self, _: &mut Cx, _: &Report) {}
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, rates};
    use super::*;
    use crate::registry::Value;

    fn built(intervals: &[(u64, u64, u64)]) -> Result<Box<dyn RateControl>, Refusal> {
        let at = Time::from_nanos;
        let mut args = Args::default();
        args.set("rates", Value::Schedule(intervals.iter().map(|(a, b, bps)| (at(*a), at(*b), *bps)).collect()));
        build(&args, &Setting { rates: &rates(4, 1), given: 3, per: &|_, _| 0.0, goodput: &|_, _| 0.0 })
    }

    /// Rates 0 to 3 have 10 to 40 Mb/s.
    #[test]
    fn each_interval_has_the_fastest_rate_that_is_not_above_its_own() {
        let mut control = built(&[(10, 20, 29_000_000), (20, 30, 10_000_000), (40, 50, 90_000_000)]).unwrap();
        let mut bench = Bench::new();
        for (now, want) in [(0, 3), (9, 3), (10, 1), (19, 1), (20, 0), (30, 3), (39, 3), (40, 3), (60, 3)] {
            bench.now = Time::from_nanos(now);
            assert_eq!(bench.choose(&mut *control), Chain::all(want), "{now}");
        }
    }

    #[test]
    fn a_wrong_schedule_says_what_to_write() {
        let text = |intervals: &[(u64, u64, u64)]| format!("{:?}", built(intervals).unwrap_err());
        assert!(text(&[(10, 10, 10_000_000)]).contains("empty"));
        assert!(text(&[(10, 20, 10_000_000), (15, 30, 10_000_000)]).contains("begins before the previous one ends"));
        assert!(text(&[(10, 20, 9_000_000)]).contains("10000000bps"));
    }
}
