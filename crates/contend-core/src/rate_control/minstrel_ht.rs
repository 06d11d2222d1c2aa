//! Minstrel HT of Linux: statistics of each rate in windows of 50 ms, and samples of other rates in between.
//!
//! - At the end of a window, the share of MPDUs that arrived at a rate passes a low-pass filter. A rate that was never
//!   used gets the share of the faster ones of its group.
//! - The expected throughput of a rate is its share, of which only 90 % count, divided by the time of an MPDU: its
//!   airtime, and its part of the overhead of an average aggregate.
//! - A chain has the rates with the highest throughput, and then the robust rate: of the rates that are clearly slower
//!   and have a share of arrivals above 75 %, the one with the highest throughput. Each has as many attempts as fit
//!   into 6 ms.
//! - Every 20 ms one burst is a trial of another rate (`samples`).
//!
//! Left out: legacy rates beside HT rates, protection of the later rates of a chain by RTS. Whole numbers have 12
//! binary places, as in the kernel.
#![cfg_attr(not(test), deny(clippy::float_arithmetic))]

mod retry;
mod samples;
mod stat;

use super::{Chain, RateControl, Report, Setting};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use retry::Retry;
use samples::Samples;
use stat::{Filter, ONE, PLACES, Place, Stat, grouped, share};

/// Source of the algorithm.
pub const CITE: &str = "Linux 6.15 net/mac80211/rc80211_minstrel_ht.c (sampling since 5.12, 2021)";
/// What it does.
pub const SUMMARY: &str = "Linux's default: the rates with the highest throughput by statistics of 50 ms windows, and \
    a trial of another rate every 20 ms.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::time("window", "length of a window of statistics").default("50ms").range(1e-3, 1e3),
    Param::integer("period", "period of the low-pass filter, in windows with attempts").default("16").range(4.0, 1e4),
    Param::time("sampling", "time between two trials").default("20ms").range(0.0, 1e3),
    Param::integer("chain", "number of rates in a chain").default("3").range(1.0, 4.0),
    Param::time("overhead", "time of a burst beside its data").default("108us").range(0.0, 1.0),
    Param::time("segment", "time for the attempts at one rate").default("6ms").range(0.0, 1.0),
    Param::integer("attempts", "bound of the attempts at one rate").default("7").range(2.0, 255.0),
    Param::time("slot", "slot by which backoffs are estimated").default("9us").range(0.0, 1e-3),
    Param::integer("cwmin", "smallest contention window in this estimate").default("15").range(0.0, 32_767.0),
    Param::integer("cwmax", "largest contention window in this estimate").default("1023").range(0.0, 32_767.0),
    Param::fraction("least", "share of arrivals below which a rate has no throughput").default("10%").range(0.0, 1.0),
    Param::fraction("most", "share of arrivals of which more does not count").default("90%").range(0.0, 1.0),
    Param::fraction("sure", "share of arrivals from which the last rate of a chain is chosen by throughput")
        .default("75%")
        .range(0.0, 1.0),
    Param::fraction("known", "share of arrivals above which a slower rate is not tried").default("95%").range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("i", "number of a rate"),
    symbol("p_i", "filtered share of MPDUs that arrive at rate `i`"),
    symbol("p′_i", "its value one step before"),
    symbol(
        "s_i",
        "share of the MPDUs of this window and the one before that arrived at rate `i`: acknowledged in both over sent \
            in both",
    ),
    symbol("a", "parameter of the filter"),
    symbol("w_1", "weight of the latest output"),
    symbol("w_2", "weight of the output before"),
    symbol("π", "the number"),
    symbol("t_i", "time that an MPDU of 1200 B adds to a burst at rate `i`"),
    symbol("m", "mean MPDUs of an attempt"),
    symbol("m_w", "mean MPDUs of an attempt in the window"),
    symbol("x_i", "expected throughput of rate `i`, in MPDUs/s"),
    symbol("n", "attempts at a rate in a chain"),
    symbol("T_n", "time of `n + 1` attempts at this rate"),
    symbol("CW_j", "contention window of attempt `j` from 0: `cwmin`, then twice that plus 1, at most `cwmax`"),
    symbol("j", "number of an attempt"),
    on("the first result after `window`, and the first burst"),
    eq("m ← (3 · m + m_w) / 4", "Linux minstrel_ht_update_stats"),
    eq("a = exp(−π · √(2) / period)", "Linux minstrel_filter_avg_add"),
    eq("w_1 = 2 · a · cos(2 · π · √(2) / period)", ""),
    eq("w_2 = −(a^2)", ""),
    eq("p_i ← (1 − w_1 − w_2) · s_i + w_1 · p_i + w_2 · p′_i", "")
        .when("rate `i` was used in the window; the first time it is `s_i`"),
    step(
        "a rate that was never used has the largest `p_i` of the faster rates of its group",
        "Linux minstrel_ht_update_stats",
    ),
    eq("x_i = min(most, p_i) / (overhead / ⌊m⌋ + t_i)", "Linux minstrel_ht_get_tp_avg")
        .when("`p_i ≥ least`; otherwise 0"),
    step(
        "the chain has the `chain − 1` rates with the largest `x_i`, then the robust rate",
        "Linux minstrel_ht_sort_best_tp_rates",
    ),
    step(
        "the robust rate is that with the largest `x_i` of those with `p_i > sure`, without such a rate that with the \
            largest `p_i`; of the rates with `t_i` above 19/16 of those of the two best",
        "Linux minstrel_ht_set_best_prob_rate",
    ),
    eq("T_n = Σ_j (overhead + t_i · ⌊m⌋ + slot · CW_j / 2)", "Linux minstrel_calc_retransmit"),
    step(
        "each rate of the chain has the smallest `n ≥ 2` with `T_n ≥ segment` as attempts, at most `attempts`; 2 with \
            `p_i < 1 / 5`",
        "",
    ),
    step(
        "the rates to try are chosen for the next window: INC, in each group the slowest that is faster than the best \
            rate; JUMP, random ones that are faster than the chain; SLOW, random ones within the chain with `p_i ≤ \
            known`",
        "Linux minstrel_ht_refill_sample_rates",
    ),
    on("a result before that, if more than 30 MPDUs were sent at the robust rate in this window and fewer than a \
            quarter arrived"),
    step(
        "the robust rate is chosen anew from the first group with as many streams or fewer",
        "Linux minstrel_downgrade_prob_rate",
    ),
    on("a burst"),
    step(
        "the first attempt is the trial of one MPDU at another rate, in the order INC, JUMP, INC, JUMP, INC, SLOW",
        "Linux minstrel_ht_get_rate",
    )
    .when("the last trial is `sampling` ago, or a window has begun"),
];

/// Builds the rate control.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal> {
    let count = |name| u32::try_from(args.integer(name)).unwrap_or(u32::MAX);
    let (rates, groups) = grouped(setting.rates);
    Ok(Box::new(MinstrelHt {
        window: args.time("window"),
        filter: Filter::of_period(f64::from(count("period"))),
        sampling: args.time("sampling"),
        length: count("chain") as usize,
        overhead: args.time("overhead"),
        retry: Retry {
            segment: args.time("segment"),
            attempts: count("attempts"),
            slot: args.time("slot"),
            windows: (count("cwmin"), count("cwmax")),
        },
        least: share(args.number("least")),
        most: share(args.number("most")),
        sure: share(args.number("sure")),
        samples: Samples::new(share(args.number("known"))),
        rates,
        groups,
        best: [0; BEST],
        robust: 0,
        chain: Chain::all(setting.given),
        mean_mpdus: ONE,
        mpdus: 0,
        attempts: 0,
        updated: None,
        next_trial: Time::ZERO,
    }))
}

/// Number of rates that are kept in order of throughput (MAX_THR_RATES).
const BEST: usize = 4;

#[derive(Debug)]
struct MinstrelHt {
    window: Span,
    filter: Filter,
    sampling: Span,
    /// Rates in a chain.
    length: usize,
    overhead: Span,
    retry: Retry,
    least: u32,
    most: u32,
    sure: u32,
    samples: Samples,
    rates: Vec<Stat>,
    groups: Vec<Range<Place>>,
    /// The rates with the highest throughput.
    best: [Place; BEST],
    /// The last rate of a chain, the robust rate: the most likely to succeed.
    robust: Place,
    chain: Chain,
    /// Mean number of MPDUs in an attempt.
    mean_mpdus: u32,
    /// MPDUs and attempts of this window.
    mpdus: u64,
    attempts: u64,
    /// When the present window began; `None` before the first burst.
    updated: Option<Time>,
    next_trial: Time,
}

impl RateControl for MinstrelHt {
    fn choose(&mut self, cx: &mut Cx) -> Chain {
        if self.updated.is_none() {
            self.update(cx.now, cx.rng);
        }
        if cx.now < self.next_trial {
            return self.chain;
        }
        self.next_trial = cx.now + self.sampling;
        match self.samples.next() {
            Some(place) => self.chain.after_trial_of(self.rates[place].id),
            None => self.chain,
        }
    }

    fn sent(&mut self, cx: &mut Cx, sent: &Report) {
        self.attempts += 1;
        self.mpdus += u64::from(sent.mpdus);
        if let Some(rate) = self.rates.iter_mut().find(|r| r.id == sent.rate) {
            rate.sent += u32::from(sent.mpdus);
            rate.acked += u32::from(sent.acked);
        }
        if self.updated.is_none_or(|at| cx.now >= at + self.window) {
            self.update(cx.now, cx.rng);
        } else if self.robust_rate_died() {
            self.chain = self.new_chain();
        }
    }
}

impl MinstrelHt {
    /// minstrel_ht_update_stats: the end of a window.
    fn update(&mut self, now: Time, rng: &mut Rng) {
        if let Some(mean) = (self.mpdus << PLACES).checked_div(self.attempts) {
            // EWMA_LEVEL: three quarters of the old mean.
            self.mean_mpdus = (self.mean_mpdus * 3 + mean as u32) / 4;
        }
        (self.mpdus, self.attempts) = (0, 0);
        self.rates.iter_mut().for_each(|r| r.close(&self.filter));
        for group in &self.groups {
            let mut faster = 0;
            for rate in self.rates[group.clone()].iter_mut().rev() {
                let known = rate.prob.max(faster);
                if rate.used {
                    faster = known;
                } else {
                    rate.prob = known;
                }
            }
        }
        self.best = self.find_best();
        self.robust = self.find_robust(0..self.rates.len());
        self.chain = self.new_chain();
        self.samples.refill(&self.rates, &self.groups, [self.best[0], self.best[1], self.robust], rng);
        self.updated = Some(now);
        self.next_trial = now;
    }

    /// Whole MPDUs in an average attempt.
    fn mpdus(&self) -> u64 {
        u64::from(self.mean_mpdus >> PLACES).max(1)
    }

    /// minstrel_ht_get_tp_avg: the throughput of a rate in MPDUs a second, times a constant.
    fn throughput(&self, place: Place) -> u64 {
        let Stat { prob, airtime, .. } = self.rates[place];
        if prob < self.least {
            return 0;
        }
        let time = self.overhead.as_nanos() / self.mpdus() + airtime;
        (100 * (u64::from(prob.min(self.most)) * 1_000_000 / time.max(1))) >> PLACES
    }

    /// The rates with the highest throughput. Of rates with equal throughput, the one with the higher share of arrivals
    /// comes first. Unused places have the slowest rate.
    fn find_best(&self) -> [Place; BEST] {
        let key = |place: Place| (self.throughput(place), self.rates[place].prob);
        let mut best = [0; BEST];
        for group in &self.groups {
            for place in group.clone().rev().filter(|p| self.throughput(*p) > 0) {
                let at = best.iter().rposition(|b| key(*b) >= key(place)).map_or(0, |i| i + 1);
                if at < BEST {
                    best.copy_within(at..BEST - 1, at + 1);
                    best[at] = place;
                }
            }
        }
        best
    }

    /// minstrel_ht_set_best_prob_rate: of `places`, the rate with the highest share of arrivals. If several exceed
    /// `sure`, the one of them with the highest throughput. It is at least 18 % slower than the two best rates.
    fn find_robust(&self, places: Range<Place>) -> Place {
        let fastest = self.rates[self.best[0]].airtime.max(self.rates[self.best[1]].airtime);
        let mut robust = places.start;
        for place in places.filter(|p| self.rates[*p].airtime > fastest * 19 / 16) {
            let prob = self.rates[place].prob;
            let better = if prob > self.sure {
                self.throughput(place) > self.throughput(robust)
            } else {
                prob > self.rates[robust].prob
            };
            if better {
                robust = place;
            }
        }
        robust
    }

    /// True if less than a quarter of more than 30 MPDUs arrived at the robust rate: several streams no longer work.
    /// The robust rate is then one of the first group without more streams.
    fn robust_rate_died(&mut self) -> bool {
        let Stat { sent, acked, streams, .. } = self.rates[self.robust];
        if sent <= 30 || acked >= sent / 4 {
            return false;
        }
        let own = self.robust;
        let group = self.groups.iter().find(|g| self.rates[g.start].streams <= streams && !g.contains(&own));
        let Some(group) = group.filter(|g| g.start < own).cloned() else { return false };
        self.robust = self.find_robust(group);
        true
    }

    fn new_chain(&self) -> Chain {
        let step = |place: Place| {
            let Stat { id, prob, airtime, .. } = self.rates[place];
            // minstrel_ht_set_rate, minstrel_calc_retransmit: a rate that hardly arrives has two attempts.
            let exchange = self.overhead + Span::from_nanos(airtime * self.mpdus());
            (id, if prob < ONE / 5 { 2 } else { self.retry.attempts(exchange) })
        };
        let best = self.best.iter().take(self.length - 1).copied();
        let last = if self.length > 1 { self.robust } else { self.best[0] };
        Chain::new(best.chain([last]).map(step))
    }
}

#[cfg(test)]
mod tests;
