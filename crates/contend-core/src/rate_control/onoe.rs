//! Onoe: credits for each second with few retries.
//!
//! At the end of each interval:
//!
//! - The rate falls if packets were lost and none arrived, or if they needed more than one retry on average.
//! - The interval gives a credit if none was lost and less than a tenth needed a retry. Ten credits raise the rate.
//! - Otherwise a credit is lost.
//!
//! Retries and losses count MPDUs. A chain goes down the ladder: four attempts at the rate, two each at the next two,
//! then the slowest rate.

use super::{Chain, RateControl, RateId, Report, Setting, ladder};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Leffler 2002, ath_rate_onoe of FreeBSD and MadWifi";
/// What it does.
pub const SUMMARY: &str = "Judges each second by its retries and losses: ten good seconds raise the rate, one bad \
    second lowers it.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("interval", "time between two judgements").default("1s").range(1e-3, 1e3),
    Param::fraction("raise", "share of packets that may need a retry in a good interval")
        .default("10%")
        .range(0.0, 1.0),
    Param::integer("credits", "good intervals that raise the rate").default("10").range(1.0, 1e6),
    Param::integer("enough", "packets without which an interval is not judged").default("10").range(1.0, 1e6),
    Param::rate("start", "rate at the start: the fastest that is not above it").default("36Mbps").range(0.0, 1e12),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol(
        "k",
        "place of the rate among the rates from slow to fast; at the start the fastest that is not above `start`",
    ),
    symbol("K", "place of the fastest rate"),
    symbol("N_a", "MPDUs that arrived in the interval"),
    symbol("N_l", "MPDUs that the MAC gave up"),
    symbol("N_r", "attempts of MPDUs that failed and were repeated"),
    symbol("c", "credits"),
    on("the first result after `interval`"),
    eq("k ← max(0, k − 1)", "ath_rate_onoe, ath_rate_ctl")
        .when("`N_l > 0` and `N_a = 0`, or `N_a + N_l ≥ enough` and `N_a < N_r`; then `c ← 0`"),
    eq("c ← c + 1", "").when("otherwise, `N_a + N_l ≥ enough`, `N_l = 0` and `N_r < raise · N_a`"),
    eq("k ← min(K, k + 1)", "").when("`c ≥ credits`; then `c ← 0`"),
    eq("c ← max(0, c − 1)", "").when("none of these, and `N_a + N_l ≥ enough`"),
    step("`N_a`, `N_l` and `N_r` become 0", "").when("`N_a + N_l ≥ enough`, or `k` has changed"),
    on("a burst"),
    step(
        "four attempts have rate `k`, two each `k − 1` and `k − 2`, and all others rate 0",
        "ath_rate_onoe, ath_rate_setupxtxdesc",
    ),
];

/// Builds the rate control.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let (start, ladder) = (args.rate("start"), ladder(setting.rates));
    let slow = ladder.iter().take_while(|id| setting.rates[usize::from(**id)].bps <= start).count();
    Ok(Box::new(Onoe {
        interval: args.time("interval"),
        raise: args.number("raise"),
        needed: args.integer("credits"),
        enough: args.integer("enough"),
        at: slow.saturating_sub(1),
        ladder,
        until: Time::ZERO,
        arrived: 0,
        lost: 0,
        retries: 0,
        credits: 0,
    }))
}

#[derive(Debug)]
struct Onoe {
    interval: Span,
    raise: f64,
    needed: i64,
    enough: i64,
    /// The rates from slow to fast, and the place of the present one.
    ladder: Vec<RateId>,
    at: usize,
    /// End of the present interval; zero before the first packet.
    until: Time,
    /// Packets of this interval, and their retries.
    arrived: i64,
    lost: i64,
    retries: i64,
    /// Good intervals.
    credits: i64,
}

impl RateControl for Onoe {
    fn choose(&mut self, _: &mut Cx) -> Chain {
        let below = |n: usize| self.at.checked_sub(n).map_or((0, 0), |at| (self.ladder[at], 2));
        let slowest = if self.at > 2 { (self.ladder[0], 2) } else { (0, 0) };
        Chain::new([(self.ladder[self.at], 4), below(1), below(2), slowest])
    }

    fn sent(&mut self, cx: &mut Cx, sent: &Report) {
        if self.until == Time::ZERO {
            self.until = cx.now + self.interval;
        }
        self.arrived += i64::from(sent.acked);
        self.lost += i64::from(sent.dropped);
        self.retries += i64::from(sent.mpdus.saturating_sub(sent.acked + sent.dropped));
        if cx.now >= self.until {
            self.until = cx.now + self.interval;
            self.judge();
        }
    }
}

impl Onoe {
    fn judge(&mut self) {
        let enough = self.arrived + self.lost >= self.enough;
        let none_arrived = self.lost > 0 && self.arrived == 0;
        let before = self.at;
        if none_arrived || (enough && self.arrived < self.retries) {
            self.at = self.at.saturating_sub(1);
            self.credits = 0;
        } else if enough && self.lost == 0 && (self.retries as f64) < self.raise * self.arrived as f64 {
            self.credits += 1;
            if self.credits >= self.needed {
                self.credits = 0;
                self.at = (self.at + 1).min(self.ladder.len() - 1);
            }
        } else if enough {
            self.credits = (self.credits - 1).max(0);
        }
        if enough || self.at != before {
            (self.arrived, self.lost, self.retries) = (0, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, rates};
    use super::*;
    use crate::registry::Value;

    fn onoe() -> Box<dyn RateControl> {
        let mut args = Args::default();
        args.set("interval", Value::Time(Span::from_secs(1)));
        args.set("raise", Value::Number(0.1));
        args.set("credits", Value::Integer(10));
        args.set("enough", Value::Integer(10));
        args.set("start", Value::Rate(36_000_000));
        build(&args, &Setting { rates: &rates(8, 1), given: 0, per: &|_, _| 0.0, goodput: &|_, _| 0.0 }).unwrap()
    }

    /// For each second (packets that arrive, lost, retries): the rate in the second after it. The interval ends with
    /// the first report at its end or later.
    fn trace(seconds: &[(u16, u16, u16)]) -> Vec<RateId> {
        let (mut control, mut bench) = (onoe(), Bench::new());
        bench.sent(&mut *control, Report { rate: 0, mpdus: 0, acked: 0, dropped: 0, snr: None });
        let second = |&(acked, dropped, retries): &(u16, u16, u16)| {
            bench.now += Span::from_secs(1);
            let mpdus = acked + dropped + retries;
            bench.sent(&mut *control, Report { rate: 0, mpdus, acked, dropped, snr: None });
            bench.choose(&mut *control).rate(0)
        };
        seconds.iter().map(second).collect()
    }

    /// By hand: it starts at 30 Mb/s (rate 2). Nine good seconds and a middling one leave eight credits, two more good
    /// seconds are the tenth. A second with more retries than arrivals lowers the rate; a second with few packets is
    /// judged together with the next.
    #[test]
    fn ten_good_seconds_raise_and_one_bad_second_lowers() {
        let good = (1000, 0, 99);
        let middling = (1000, 0, 100);
        let mut seconds = [good; 9].to_vec();
        seconds.extend([middling, good, good, (1000, 0, 1001), (9, 0, 20), (0, 3, 12)]);
        // The quiet second's packets count with those of the next: 9 arrived, 3 lost, 32 retries.
        assert_eq!(trace(&seconds), [&[2; 11][..], &[3, 2, 2, 1]].concat());
    }

    /// Credits are lost when the rate falls.
    #[test]
    fn a_rate_that_falls_needs_all_credits_again() {
        let mut seconds = [(100, 0, 0); 9].to_vec();
        seconds.push((0, 1, 6));
        seconds.extend([(100, 0, 0); 10]);
        assert_eq!(trace(&seconds), [&[2; 9][..], &[1; 10], &[2]].concat());
    }

    #[test]
    fn the_chain_goes_down_to_the_slowest_rate() {
        let (mut control, mut bench) = (onoe(), Bench::new());
        let rates = |chain: Chain| [0, 3, 4, 5, 6, 7, 8, 20].map(|k| chain.rate(k));
        assert_eq!(rates(bench.choose(&mut *control)), [2, 2, 1, 1, 0, 0, 0, 0]);
    }
}
