//! Constant bit rate: packets of one size at a constant rate, or by a schedule of rates.

use super::{AppWrite, Source, gap, packet};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param, Unit, in_order};
use contend_core::{Cx, Span, Time};
use rand::RngExt as _;

/// Source.
pub const CITE: &str = "ns-2's Application/Traffic/CBR; schedule of rates as in Jersey thesis 2005 Figs 6.2, 7.1";
/// What it does.
pub const SUMMARY: &str = "Packets of one size at a constant rate; with a schedule, each interval has its own rate, \
    and nothing is sent between intervals.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "payload bits per second; not needed with a schedule").default("0bps").range(0.0, 1e12),
    super::PACKET,
    Param::new(
        "schedule",
        Unit::Schedule,
        "intervals in order of time: from, to (instants of the run) and rate; replaces rate",
    )
    .default("[]")
    .range(0.0, 1e12),
    Param::fraction(
        "random",
        "delay of the first packet of each interval: drawn uniformly from 0 to this share of the gap",
    )
    .default("0")
    .range(0.0, 1.0),
    Param::fraction(
        "jitter",
        "each gap is drawn uniformly from 1 - jitter to 1 + jitter of the usual gap; 50% is random_ of ns-2",
    )
    .default("0")
    .range(0.0, 1.0),
    Param::integer("burst", "packets written in one instant; the gap between bursts is as many times longer")
        .default("1")
        .range(1.0, 1e6),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// When there is neither rate nor schedule, or the schedule is not in order of time.
pub fn build(args: &Args) -> Result<Box<dyn Source>, Refusal> {
    let mut schedule = args.schedule("schedule").to_vec();
    let remedy = "write [[\"1s\", \"5s\", \"1Mbps\"], ...] in order of time";
    in_order(schedule.iter().map(|&(from, to, _)| (from, to)), "schedule", remedy)?;
    if schedule.is_empty() {
        match args.rate("rate") {
            0 => return Err(Refusal::new("cbr needs a rate or a schedule", "write rate = \"1Mbps\"")),
            bps => schedule.push((Time::ZERO, Time::NEVER, bps)),
        }
    }
    let (random, jitter) = (args.number("random"), args.number("jitter"));
    let burst = args.integer("burst").max(1) as u64;
    Ok(Box::new(Cbr {
        schedule,
        bytes: packet(args)?,
        random,
        jitter,
        burst,
        left: 0,
        interval: 0,
        to: Time::ZERO,
        gap: Span::ZERO,
        at: None,
    }))
}

/// A source of constant bit rate.
#[derive(Debug)]
struct Cbr {
    /// From, to, payload bits per second.
    schedule: Vec<(Time, Time, u64)>,
    bytes: u64,
    random: f64,
    jitter: f64,
    /// Packets of a burst, and those of the last one that are still to be written.
    burst: u64,
    left: u64,
    /// The present interval, and its end.
    interval: usize,
    to: Time,
    /// Between two bursts of the present interval, without jitter.
    gap: Span,
    /// The last packet of the present interval.
    at: Option<Time>,
}

impl Cbr {
    /// The first packet of the next interval that has one.
    #[inline(never)]
    fn begin(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        while let Some(&(from, to, bps)) = self.schedule.get(self.interval) {
            if bps > 0 {
                self.gap = gap(self.bytes, full, bps) * self.burst;
                let late = if self.random > 0.0 { self.random * cx.rng.random::<f64>() } else { 0.0 };
                let at = from.max(cx.now).saturating_add(Span::from_secs_f64(late * self.gap.as_secs_f64()));
                if at < to {
                    self.to = to;
                    return Some(self.first_of_burst(at));
                }
            }
            self.interval += 1;
        }
        None
    }

    /// The time to the next burst.
    #[inline(never)]
    fn drawn_gap(&self, cx: &mut Cx) -> Span {
        let share = 1.0 + self.jitter * cx.rng.random_range(-1.0..1.0);
        Span::from_secs_f64(share * self.gap.as_secs_f64())
    }

    fn first_of_burst(&mut self, at: Time) -> AppWrite {
        (self.at, self.left) = (Some(at), self.burst - 1);
        AppWrite::new(at, self.bytes)
    }
}

impl Source for Cbr {
    fn next(&mut self, cx: &mut Cx, full: u32) -> Option<AppWrite> {
        if let Some(last) = self.at {
            if self.left > 0 {
                self.left -= 1;
                return Some(AppWrite::new(last, self.bytes));
            }
            let at = last.saturating_add(if self.jitter > 0.0 { self.drawn_gap(cx) } else { self.gap });
            if at < self.to {
                return Some(self.first_of_burst(at));
            }
            (self.at, self.interval) = (None, self.interval + 1);
        }
        self.begin(cx, full)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, writes};
    use super::*;
    use contend_core::registry::{Amount, Value};

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn times(values: &[(&str, Value)], seed: u64, start: Time, end: Time) -> Vec<Time> {
        let values = [&[("packet", Value::Amount(Amount::Bytes(0)))], values].concat();
        writes(&mut *build(&args(PARAMS, &values)).unwrap(), seed, start, end).iter().map(|w| w.at).collect()
    }

    /// 1000 B at 800 kb/s are 10 ms.
    #[test]
    fn packets_stand_at_equal_distances_from_the_start() {
        assert_eq!(times(&[("rate", Value::Rate(800_000))], 1, ms(5), ms(36)), [ms(5), ms(15), ms(25), ms(35)]);
    }

    #[test]
    fn a_schedule_gives_each_interval_its_rate_and_ends_before_its_end() {
        let s = vec![
            (ms(0), ms(40), 800_000),
            (ms(100), ms(105), 8_000_000),
            (ms(105), ms(200), 0),
            (ms(300), ms(311), 1_600_000),
        ];
        let got = times(&[("schedule", Value::Schedule(s))], 1, ms(20), Time::NEVER);
        assert_eq!(got, [20, 30, 100, 101, 102, 103, 104, 300, 305, 310].map(ms));
    }

    #[test]
    fn a_random_start_is_late_by_less_than_a_gap_and_keeps_the_distances() {
        let v = [("rate", Value::Rate(800_000)), ("random", Value::Number(1.0))];
        let mean = (0..1000u64).map(|seed| {
            let t = times(&v, seed, ms(0), ms(60));
            assert!(t[0] < ms(10) && t.windows(2).all(|w| w[1] - w[0] == Span::from_millis(10)));
            t[0].as_secs_f64() / 1000.0
        });
        assert!((mean.sum::<f64>() - 0.005).abs() < 3e-4);
    }

    #[test]
    fn gaps_vary_by_the_jitter_and_keep_their_mean() {
        let v = [("rate", Value::Rate(800_000)), ("jitter", Value::Number(0.5))];
        let t = times(&v, 1, ms(0), ms(100_000));
        let gaps: Vec<Span> = t.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.iter().all(|g| *g >= Span::from_millis(5) && *g <= Span::from_millis(15)));
        // 10,000 gaps with a deviation of 2.9 ms: the mean is within 0.1 ms (3.5 standard errors).
        assert!((t.last().unwrap().as_secs_f64() / gaps.len() as f64 - 0.010).abs() < 1e-4);
    }

    #[test]
    fn a_burst_leaves_at_once_and_keeps_the_rate() {
        let v = [("rate", Value::Rate(800_000)), ("burst", Value::Integer(2))];
        assert_eq!(times(&v, 1, ms(5), ms(46)), [5, 5, 25, 25, 45, 45].map(ms));
        let s = vec![(ms(0), ms(1), 800_000), (ms(7), ms(9), 800_000)];
        let got = times(&[("schedule", Value::Schedule(s)), ("burst", Value::Integer(3))], 1, ms(0), Time::NEVER);
        assert_eq!(got, [0, 0, 0, 7, 7, 7].map(ms));
    }

    #[test]
    fn a_missing_rate_and_a_disordered_schedule_are_refused() {
        let none = [("packet", Value::Amount(Amount::Bytes(0)))];
        assert!(build(&args(PARAMS, &none)).unwrap_err().to_string().contains("rate"));
        let s = vec![(ms(5), ms(9), 1), (ms(8), ms(10), 1)];
        assert!(
            build(&args(PARAMS, &[("schedule", Value::Schedule(s))])).unwrap_err().to_string().contains("schedule")
        );
    }
}
