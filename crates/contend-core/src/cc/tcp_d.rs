//! TCP-D, differential congestion control: the window grows slowly all the time, and shrinks when the delivered rate
//! falls in response.
//!
//! About once per window the sender measures B, the rate since the last measurement, and xi = dB / dCW. The first
//! negative xi ends cold start. Each negative xi reduces the window by the share q = CW |xi| / B, at most Q. A loss
//! reduces the window by the share Q. TCP-D has no threshold and does not change the flow's threshold.
//!
//! - Windows are kept in 2^-20 segments (`_q20`), rates in 2^-20 segments per second. Divisions are rounded down.
//!   `tests/suite/tcp_d.rs` compares the results with the equations in real numbers.
//! - A point that the thesis leaves open or prints in two ways is a parameter. `sign = "printed"` is eq. 10.5 to the
//!   letter, which opens the window. The thesis gives neither epsilon nor k. Epsilon 0 is its "direct sample". The
//!   default k is the one with the best fairness among six flows, of those values with which TCP-D gets at least as
//!   much as Vegas (`papers/starzetz-2006/verdict.md`).
//! - A reduction leaves at least two segments, as in ns-2's Reno. The thesis gives no minimum window. A mark or a local
//!   drop is answered like a loss; the thesis does not define this case.
//! - The first interval begins when the first segment was sent, one round trip before its ACK. After a silence a new
//!   interval begins with the first segment sent.
//! - The window grows no matter what limits sending, as in the thesis and ns-2. A falling rate is then also detected at
//!   the receiver's limit. `validated` selects RFC 7661's rule. Recovery decides how long the window stays constant
//!   after a loss.
//! - Duplicates count twice in eq. 10.3, as printed: when a duplicate arrives, and when an ACK covers the same
//!   segments.

use super::{Ack, CaState, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Starzetz 2006 §10.2, eq. 10.1-10.5";
/// What it does.
pub const SUMMARY: &str = "Grows slowly until a larger window lowers the delivered rate; then the window shrinks by at \
    most a quarter. There is no threshold.";

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer(
        "growth_1000",
        "segments by which cold start opens the window for each acknowledged segment, in 1000ths",
    )
    .default("500")
    .range(1.0, 10_000.0),
    Param::integer(
        "q_1000",
        "Q: maximum share of the window that a falling rate takes, and the share that a loss takes, in 1000ths",
    )
    .default("250")
    .range(1.0, 999.0),
    Param::integer(
        "epsilon_1000",
        "epsilon: weight of the past in the smoothed rate, in 1000ths; 0: only the last interval counts. The thesis: 0 \
            to 950",
    )
    .default("0")
    .range(0.0, 999.0),
    Param::integer(
        "k",
        "k: limit of the interval in acknowledged segments; 0: no limit, the interval is the window. The thesis gives \
            no value",
    )
    .default("7")
    .range(0.0, 1e6),
    Param::word(
        "interval",
        &["min", "max"],
        "length of the interval. min: the smaller of k and the window; max: the larger (the thesis says both)",
    )
    .default("min"),
    Param::integer("sent_1000", "windows of sent segments after which an interval also ends, in 1000ths")
        .default("1500")
        .range(1000.0, 100_000.0),
    Param::word("check", &["new", "every"], "which ACKs may end an interval. new: ACKs of new data; every: all ACKs")
        .default("new"),
    Param::word(
        "sign",
        &["repaired", "printed"],
        "what a falling rate does. repaired: it closes the window; printed: it opens the window, as eq. 10.5 is \
            printed",
    )
    .default("repaired"),
    Param::word(
        "shrunk",
        &["skip", "signed"],
        "an interval in which the window shrank. skip: the interval is ignored; signed: its dCW is negative",
    )
    .default("skip"),
    Param::flag("inflation", "true if dCW includes the inflation of the window by duplicates in fast recovery")
        .default("true"),
    Param::word(
        "increase",
        &["constant", "running"],
        "growth per segment in congestion avoidance. constant: 1 / CW of the last cut; running: 1 / CW of the present \
            window",
    )
    .default("constant"),
    Param::flag(
        "xi_waits",
        "true if a falling rate, like a further loss, cuts nothing until target_reduce is acknowledged",
    )
    .default("true"),
    Param::word(
        "cold_ends",
        &["xi", "loss"],
        "what ends cold start. xi: a falling rate; loss: a falling rate or a loss",
    )
    .default("xi"),
    Param::flag("validated", "true if the window grows only while the window limits sending").default("false"),
    Param::flag("forgets", "true if a timeout sets the smoothed rate to 0, its initial value").default("false"),
    Param::integer("timeout_window", "window after a timeout, in segments").default("2").range(1.0, 1000.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("CW", "the congestion window, in segments"),
    symbol("n", "segments that the ACK covers"),
    symbol("A", "segments acknowledged in the interval"),
    symbol("D", "duplicate ACKs in the interval"),
    symbol("Δ", "time since the interval began"),
    symbol("B", "smoothed rate at which data arrive, in segments/s"),
    symbol("E", "inflation of the window by duplicates in fast recovery, in segments; 0 unless `inflation`"),
    symbol("CW_0", "`CW` at the start of the interval, with `E` if a duplicate ended the last one"),
    symbol("B_0", "`B` at the start of the interval"),
    symbol("end_bw", "rate of the interval, in segments/s"),
    symbol("ξ", "dB/dCW"),
    symbol("Q", "`q_1000 / 1000`"),
    symbol("q", "share of the window that a falling rate takes"),
    symbol("ε", "`epsilon_1000 / 1000`"),
    symbol("inc", "growth per acknowledged segment, in segments"),
    symbol("a_1", "target_ack: segments after which an interval ends"),
    symbol("s_1", "target_pkt: sent segments after which it ends"),
    on("every ACK"),
    eq("A ← A + n", "Starzetz 2006 §10.2"),
    eq("D ← D + 1", "").when("it is a duplicate"),
    on("an ACK of new data outside a recovery; with `validated` only while the window limits sending"),
    eq("CW ← CW + n · growth_1000 / 1000", "Starzetz 2006 §10.2").when("in cold start"),
    eq("CW ← CW + n · inc", "").when("after cold start, `increase = constant`"),
    eq("CW ← CW + n / CW", "").when("after cold start, `increase = running`"),
    on("an ACK of new data, or with `check = every` any ACK, that ends an interval: `A > a_1`, or more than `s_1` \
            segments were sent in it"),
    eq("end_bw = (A + D) / Δ", "Starzetz 2006 eq. 10.3"),
    eq("B ← ε · B + (1 − ε) · end_bw", "Starzetz 2006 eq. 10.4"),
    eq("ξ = (B − B_0) / (CW + E − CW_0)", "Starzetz 2006 eq. 10.1"),
    step(
        "the rate falls if `ξ < 0` and `CW + E > CW_0` (or `shrunk = signed`), and target_reduce is acknowledged (or \
            not `xi_waits`)",
        "Starzetz 2006 §10.2",
    ),
    step("cold start ends", "").when("the rate falls"),
    eq("q = CW · |ξ| / B", "Starzetz 2006 eq. 10.5").when("the rate falls"),
    eq("CW ← max(min(2, CW), CW · (1 − min(Q, q)))", "").when("the rate falls and `sign = repaired`"),
    eq("CW ← CW · (1 + q)", "").when("the rate falls and `sign = printed`"),
    eq("inc ← 1 / CW", "Starzetz 2006 §10.2").when("the rate falls"),
    on("an interval begins: the first ACK, the end of an interval, a timeout, the end of a silence"),
    eq("a_1 = min(k, CW)", "Starzetz 2006 §10.2").when("`interval = min` and `k > 0`"),
    eq("a_1 = max(k, CW)", "").when("`interval = max`, or `k = 0`"),
    eq("s_1 = CW · sent_1000 / 1000", ""),
    step("`A` and `D` become 0, `CW_0` and `B_0` the present values", ""),
    on("a loss without a timeout, a mark, or a drop by the sender's own queue, if target_reduce is acknowledged"),
    eq("CW ← max(min(2, CW), CW · (1 − Q))", "Starzetz 2006 §10.2"),
    eq("inc ← 1 / CW", ""),
    step("cold start ends", "").when("`cold_ends = loss`"),
    step("target_reduce: the next `⌈CW⌉` segments are to be acknowledged before another such cut", ""),
    on("a timeout"),
    eq("CW ← min(timeout_window, max(2, CW))", "Starzetz 2006 §10.2"),
    step("cold start begins, target_reduce counts as acknowledged", ""),
    eq("B ← 0", "").when("`forgets`"),
];

/// Number of fractional bits.
const SCALE: u32 = 20;
/// One in 2^-20.
const ONE_Q20: u64 = 1 << SCALE;
/// The largest window in 2^-20 segments, and the largest rate in 2^-20 segments a second.
const MOST_Q20: u64 = 1 << 50;
/// The largest number of segments counted for one ACK or one interval.
const MANY: u32 = 1 << 20;

/// TCP-D's parameters and state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct TcpD {
    growth_1000: u32,
    q_q20: u32,
    epsilon_1000: u32,
    k: u32,
    sent_1000: u32,
    timeout_window: u32,
    longer: bool,
    every: bool,
    printed: bool,
    signed: bool,
    inflation: bool,
    running: bool,
    xi_waits: bool,
    loss_ends: bool,
    validated: bool,
    forgets: bool,

    /// True if an interval has begun.
    begun: bool,
    /// True if cold start is over.
    avoiding: bool,
    /// The fraction of the window beyond whole segments, in 2^-20 segments.
    fraction_q20: u32,
    /// `inc`: growth of the window per acknowledged segment, in 2^-20 segments; set by the last reduction.
    inc_q20: u32,
    /// Segments still to be acknowledged until `target_reduce`.
    reduce_left: u32,
    /// Segments acknowledged in the interval, and (`dups`) duplicates in the interval.
    acked: u32,
    dups: u32,
    /// The interval ends when more than `ack_limit` segments are acknowledged (`target_ack`), or more than `sent_limit`
    /// segments are sent after `start_sent` (`target_pkt`).
    ack_limit: u32,
    sent_limit: u32,
    start_sent: u32,
    /// Start of the interval, and window and rate at the start.
    start: Time,
    start_cwnd_q20: u64,
    start_bw_q20: u64,
    /// B, the smoothed rate, in 2^-20 segments per second.
    bw_q20: u64,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let get = |name| u32::try_from(args.integer(name)).unwrap_or(0);
    Ok(Box::new(TcpD {
        growth_1000: get("growth_1000"),
        q_q20: ((get("q_1000") << SCALE) / 1000),
        epsilon_1000: get("epsilon_1000").min(999),
        k: get("k"),
        sent_1000: get("sent_1000"),
        timeout_window: get("timeout_window").max(1),
        longer: args.word("interval") == "max",
        every: args.word("check") == "every",
        printed: args.word("sign") == "printed",
        signed: args.word("shrunk") == "signed",
        inflation: args.flag("inflation"),
        running: args.word("increase") == "running",
        xi_waits: args.flag("xi_waits"),
        loss_ends: args.word("cold_ends") == "loss",
        validated: args.flag("validated"),
        forgets: args.flag("forgets"),
        begun: false,
        avoiding: false,
        fraction_q20: 0,
        inc_q20: ONE_Q20 as u32,
        reduce_left: 0,
        acked: 0,
        dups: 0,
        ack_limit: 0,
        sent_limit: 0,
        start_sent: 0,
        start: Time::ZERO,
        start_cwnd_q20: 0,
        start_bw_q20: 0,
        bw_q20: 0,
    }))
}

impl Controller for TcpD {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        if !self.begun {
            let rtt = Span::from_micros(u64::from(ack.rtt_us.unwrap_or(0)));
            self.begin(Time::ZERO + cx.now.since(Time::ZERO + rtt), self.cwnd_q20(w), self.start_sent);
        }
        self.acked = self.acked.saturating_add(ack.acked);
        self.dups = self.dups.saturating_add(u32::from(ack.dup));
        self.reduce_left = self.reduce_left.saturating_sub(ack.acked);
        // `on_ack` is called neither for duplicates nor for acknowledgments in a recovery.
        let recovering = w.state == CaState::Recovery;
        if if ack.dup { self.every } else { recovering && ack.acked > 0 } {
            let extra = if recovering && self.inflation { w.extra } else { 0 };
            self.sample(cx.now, w, extra, ack.dup);
        }
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        if w.limited || !self.validated {
            let (acked, cwnd_q20) = (u64::from(ack.acked.min(MANY)), self.cwnd_q20(w));
            let inc_q20 = match (self.avoiding, self.running) {
                (false, _) => ((acked * u64::from(self.growth_1000)) << SCALE) / 1000,
                (true, false) => acked * u64::from(self.inc_q20),
                (true, true) => (acked << (2 * SCALE)) / cwnd_q20,
            };
            self.set(w, cwnd_q20 + inc_q20);
        }
        self.sample(cx.now, w, 0, false);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        let mut reduced = *w;
        if let Signal::Timeout { .. } = why {
            // §10.2: "as Reno", with a new cold start. The thesis does not say that the measured rate is discarded.
            self.set(&mut reduced, u64::from(self.timeout_window.min(w.cwnd.max(2))) << SCALE);
            (self.avoiding, self.reduce_left) = (false, 0);
            self.bw_q20 = if self.forgets { 0 } else { self.bw_q20 };
            self.begin(cx.now, self.cwnd_q20(&reduced), w.sent);
        } else if self.reduce_left == 0 {
            self.cut(&mut reduced, u64::from(self.q_q20));
            self.avoiding |= self.loss_ends;
            // target_reduce: the highest acknowledged segment plus the reduced window.
            self.reduce_left = self.cwnd_q20(&reduced).div_ceil(ONE_Q20) as u32;
        }
        Response { cwnd: reduced.cwnd, ..Response::keep(w) }
    }

    fn on_restart(&mut self, w: &mut Window, now: Time, _: Span) {
        // A silence is not a fall of the rate.
        self.begin(now, self.cwnd_q20(w), w.sent);
    }

    fn needs(&self) -> Needs {
        // Intervals end no matter what limits sending.
        Needs { grow_when_unlimited: true, ..Needs::default() }
    }
}

impl TcpD {
    fn cwnd_q20(&self, w: &Window) -> u64 {
        ((u64::from(w.cwnd) << SCALE) + u64::from(self.fraction_q20)).min(MOST_Q20)
    }

    fn set(&mut self, w: &mut Window, cwnd_q20: u64) {
        let cwnd_q20 = cwnd_q20.clamp(ONE_Q20, MOST_Q20);
        w.cwnd = (cwnd_q20 >> SCALE) as u32;
        self.fraction_q20 = (cwnd_q20 % ONE_Q20) as u32;
    }

    /// Reduces the window by the share `q_q20`, in 2^-20: CW (1 - q), and inc = 1 / CW.
    fn cut(&mut self, w: &mut Window, q_q20: u64) {
        let cwnd_q20 = self.cwnd_q20(w);
        let taken_q20 = (u128::from(cwnd_q20) * u128::from(q_q20)) >> SCALE;
        self.set(w, (cwnd_q20 - taken_q20 as u64).max(cwnd_q20.min(2 * ONE_Q20)));
        self.inc_q20 = (ONE_Q20 * ONE_Q20 / self.cwnd_q20(w)) as u32;
    }

    /// `init_targets`: starts an interval with the window at `cwnd_q20` after `sent` segments.
    fn begin(&mut self, now: Time, cwnd_q20: u64, sent: u32) {
        let limit = (cwnd_q20 >> SCALE) as u32;
        self.ack_limit = match (self.k, self.longer) {
            (0, _) => limit,
            (k, false) => limit.min(k),
            (k, true) => limit.max(k),
        };
        self.sent_limit =
            u32::try_from((u128::from(cwnd_q20) * u128::from(self.sent_1000) / 1000) >> SCALE).unwrap_or(u32::MAX);
        (self.begun, self.start, self.start_sent, self.acked, self.dups) = (true, now, sent, 0, 0);
        (self.start_cwnd_q20, self.start_bw_q20) = (cwnd_q20, self.bw_q20);
    }

    /// Ends the interval if it is over, and reduces the window if the rate fell. `extra` is the inflation in segments.
    /// `stays` is true if the window stays inflated.
    fn sample(&mut self, now: Time, w: &mut Window, extra: u32, stays: bool) {
        let us = now.since(self.start).as_micros();
        let over = self.acked > self.ack_limit || w.sent.wrapping_sub(self.start_sent) > self.sent_limit;
        // An interval of length zero has no rate.
        if !over || us == 0 {
            return;
        }
        // Eq. 10.3 and 10.4.
        let arrived = u64::from(self.acked.saturating_add(self.dups).min(MANY));
        let end_q20 = (((arrived * 1_000_000) << SCALE) / us).min(MOST_Q20);
        let epsilon = u64::from(self.epsilon_1000);
        self.bw_q20 = (epsilon * self.bw_q20 + (1000 - epsilon) * end_q20) / 1000;

        let inflated_q20 = self.cwnd_q20(w) + (u64::from(extra) << SCALE);
        let (grown, risen) = (inflated_q20 > self.start_cwnd_q20, self.bw_q20 > self.start_bw_q20);
        let dcw_q20 = inflated_q20.abs_diff(self.start_cwnd_q20);
        let db_q20 = self.bw_q20.abs_diff(self.start_bw_q20);
        let told = dcw_q20 > 0 && db_q20 > 0 && (grown || self.signed) && !(self.xi_waits && self.reduce_left > 0);
        if told && grown != risen {
            self.avoiding = true;
            // Eq. 10.5: q = CW |xi| / B.
            let (cwnd, dcw, db, b) =
                (u128::from(self.cwnd_q20(w)), u128::from(dcw_q20), u128::from(db_q20), u128::from(self.bw_q20.max(1)));
            let q_q20 = u64::try_from(((cwnd * db) << SCALE) / (dcw * b)).unwrap_or(u64::MAX);
            if self.printed {
                // The printed form: CW (1 - q) with a negative q, which min(Q, q) does not limit.
                let more = u64::try_from((cwnd * u128::from(q_q20)) >> SCALE).unwrap_or(MOST_Q20).min(MOST_Q20);
                self.set(w, self.cwnd_q20(w) + more);
                self.cut(w, 0);
            } else {
                self.cut(w, q_q20.min(u64::from(self.q_q20)));
            }
        }
        self.begin(now, self.cwnd_q20(w), w.sent);
        if stays {
            self.start_cwnd_q20 += u64::from(extra) << SCALE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<TcpD>() <= 104, "{}", size_of::<TcpD>());
    }
}
