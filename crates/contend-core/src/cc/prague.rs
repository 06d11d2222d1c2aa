//! TCP Prague, the sender of L4S (RFC 9330, RFC 9331): DCTCP for the public internet.
//!
//! A queue for L4S marks early and often. Prague answers each round trip with marks by alpha / 2 of the window, where
//! alpha is the smoothed share of marked segments. At a share p of marks in even distances, a round trip gains 1 - p
//! segments and a reduction takes p W / 2, so that the window settles at W = 2 (1 - p) / p.
//!
//! What differs from DCTCP (RFC 8257):
//!
//! - Each unmarked segment opens the window, also in a round trip with a reduction; a marked one does not.
//! - Below the reference round-trip time `target`, flows behave as if their round-trip time were `target`: the increase
//!   shrinks by (R / `target`)^2, and reductions and updates of alpha wait until `target` has passed. Flows with short
//!   and long paths then get equal rates. Slow start and the first `transition` round trips after it are excepted.
//! - The window has a fraction, `frac_q20`. The window that limits sending is the next whole number
//!   and follows by one segment for each acknowledgment.
//! - The first mark of the connection halves the window, and alpha begins at 0. DCTCP has an alpha of 1 instead.
//! - The sender paces at one window for each round trip.
//!
//! The source is the module of Linux, version 0.7 of 2025; other versions are parameters. Where this file differs:
//!
//! - Only the form with a window. Version 0.7 computes with a rate when the window is at most 4 segments, and shrinks
//!   the segments below 1 Mb/s.
//! - A window below one segment grows as one of one segment does, because the increase of Linux has no bound there.
//! - An acknowledgment that reports a first mark beside unmarked segments ends slow start. In Linux the window that
//!   slow start sets then replaces the halved one.
//! - A timeout sets the threshold to half of the window. Linux keeps the threshold, which may be infinite.
//! - The pacer sends single segments, not bursts of 2^-12 s.
//!
//! The flow needs marks that are counted (accurate ECN, RFC 9768) and packets that carry ECT(1). The state takes the
//! 104 bytes of a kernel controller.

mod classic;

use self::classic::{Detector, Fallback};
use super::{Ack, CWND, CaState, Controller, Needs, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "RFC 9331; draft-briscoe-iccrg-prague-congestion-control-04; Linux tcp_prague.c 0.7";
/// What it does.
pub const SUMMARY: &str = "DCTCP for the public internet (L4S), with equal rates for short and long paths; a round \
    trip with marks takes half of their smoothed share, and each unmarked segment opens the window.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("g_shift", "the last period counts 2^-g_shift in alpha (Linux and RFC 8257 §4.2: 1/16)")
        .default("4")
        .range(0.0, 7.0),
    Param::time("target", "T: flows with shorter round trips behave as if theirs took so long (Linux, UDP Prague)")
        .symbol("T")
        .default("25ms")
        .range(1e-6, 1.0),
    Param::integer(
        "transition",
        "round trips after slow start until the flow follows target (Linux: 4 in version 0.7, 500 in 0.6)",
    )
    .default("4")
    .range(0.0, 65_535.0),
    Param::word(
        "start",
        &["halve", "one"],
        "answer to the first mark. halve: half of the window, and alpha begins at 0 (Linux 0.7); one: alpha begins at \
            1 (Linux 0.6, RFC 8257 §3.3)",
    )
    .default("halve"),
    Param::integer("min_cwnd", "smallest window, in segments; after a timeout it is 1 nevertheless (Linux: 2)")
        .default("2")
        .range(2.0, 1000.0),
    Param::word(
        "grow",
        &["one", "queue"],
        "increase in a window of unmarked segments. one: one segment (Linux); queue: what 1 ms holds, after 7 periods \
            without a mark and one more for each 1.92 MB/s of rate (UDP Prague)",
    )
    .default("one"),
    Param::word(
        "independence",
        &["rate", "none"],
        "whether flows with round trips below target behave as if theirs took that long. rate: yes; none: no",
    )
    .default("rate"),
    Param::word(
        "gate",
        &["round", "mark"],
        "when a mark reduces the window. round: it is the first of a round trip, and target has passed since the last \
            reduction (Linux); mark: a window of data and target have passed (UDP Prague)",
    )
    .default("round"),
    Param::flag("step", "true if the window moves by one segment for each ACK (Linux); false: at once (UDP Prague)")
        .default("true"),
    Param::word(
        "fallback",
        &["off", "detect", "act"],
        "answer to a queue that marks late, as one of RFC 3168. off: none (Linux 0.7); detect: the score is kept, \
            without effect; act: a high score raises alpha (Linux 0.6)",
    )
    .default("off"),
    Param::time("max_scaled_rtt", "round-trip time above which the increase is one segment in any case (Linux)")
        .default("100ms")
        .range(0.0, 60.0),
    Param::integer(
        "wobble",
        "128ths by which the pacing rate is higher in the first half of a virtual round trip, and lower in the second \
            (Linux: 4, but only in its form with a rate)",
    )
    .default("0")
    .range(0.0, 64.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("w", "the window with its fraction, in segments"),
    symbol("n", "segments that the ACK shows to have arrived, without those that it newly reports as marked"),
    symbol("R", "smoothed round-trip time"),
    symbol("α", "smoothed share of marked segments; at first 0, or 1 with `start = \"one\"`"),
    symbol("g", "weight of the last period: `1 / 2^g_shift`"),
    symbol("M", "share of marked segments in the period"),
    symbol("a", "increase in a window of unmarked segments, in segments"),
    symbol("c", "score of the detector of classic queues, 0 to 17"),
    symbol("D", "mean deviation of the round-trip time, slowly smoothed"),
    symbol("Q", "round-trip time, slowly smoothed, above the smallest"),
    symbol("I", "segments in flight"),
    symbol("P", "payload of a segment, in bytes"),
    symbol("r", "pacing rate, in byte/s of payload"),
    on("a mark, once in a round trip; a drop by the sender's own queue"),
    eq("w ← w · (1 − α / 2)", "Linux prague_enter_cwr")
        .when("slow start or the `transition` round trips are not over, or T has passed since the last reduction"),
    step(
        "with `fallback = \"act\"` at least `0.625 · min(1, c − 8)` counts for `α`",
        "Linux 0.6 prague_classic_ecn_fallback",
    ),
    on("every ACK, then in this order"),
    eq("w ← w / 2", "Linux prague_update_cwnd")
        .when("it has the first mark of the connection, and `start = \"halve\"`"),
    eq("W ← min(W + n, S)", "").when(
        "`W < S` and `W ≤ ⌈w⌉`, no loss is under repair, the application does not limit sending, and half of W was in \
            flight; then `w ← W`, and `n` is what is left",
    ),
    eq("w ← w + n · a / max(1, w)", "").when(
        "no loss is under repair, the application does not limit sending, and half of W was in flight (Linux \
            tcp_is_cwnd_limited)",
    ),
    eq("W ← W − 1", "").when("`W > max(min_cwnd, ⌈w⌉)`; then `S ← W`"),
    eq("W ← W + 1", "").when("`W < max(min_cwnd, ⌈w⌉)`"),
    on("the ACK that ends a period: a round trip, and T after the `transition` round trips"),
    eq("α ← α · (1 − g) + g · M", "Linux prague_update_alpha").when("there was a mark before"),
    eq("c ← c + log_2(D / \"750 us\") / 2 + max(0, log_2(Q / \"2 ms\")) / 2", "Linux 0.6 prague_classic_ecn_detection")
        .when("`fallback` is not off"),
    on("each period and each change of W"),
    eq("a ← R^2 / T^2", "Linux prague_rate_scaled_ai_ack_increase")
        .when("`R < T`, `R ≤ max_scaled_rtt`, and `transition` round trips are over"),
    eq("a ← 1", "").when("otherwise"),
    on("every ACK, at last"),
    eq("r ← max(⌊w⌋, I, min(W, min_cwnd)) · P / R", "Linux prague_update_pacing_rate")
        .when("twice that while `W < S / 2`"),
    on("a loss without a timeout"),
    eq("w ← w / 2", "Linux prague_enter_loss; RFC 9331 §4.3"),
    on("a timeout"),
    eq("w ← w / 2", "").when("it is the first of this segment"),
    eq("S ← max(2, ⌊w⌋)", "").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// A segment in 2^-20.
const ONE_Q20: u64 = 1 << 20;
/// A share of 1 in 2^-24.
const ONE_Q24: u64 = 1 << 24;
/// The largest window.
const MOST_Q20: u64 = (super::SSTHRESH_INFINITE as u64) << 20;
/// The number of segments of one acknowledgment that are counted at most, so that the arithmetic fits 64 bits.
const MOST_ACKED: u32 = 1 << 23;
/// Periods without a mark after which `grow = "queue"` may grow faster, and the rate in payload bytes per second that
/// adds one (UDP Prague: `MIN_STEP`, `RATE_STEP`).
const CLEAN_PERIODS: u64 = 7;
const RATE_STEP: u64 = 1_920_000;
/// What the increase of `grow = "queue"` may add to the queue, in microseconds (UDP Prague: `QUEUE_GROWTH`).
const QUEUE_GROWTH_US: u64 = 1000;

/// Prague's parameters and state.
#[derive(Debug)]
struct Prague {
    /// The window; [`Window::cwnd`] follows it.
    frac_q20: u64,
    /// The window before the last loss; 0 if there is nothing to undo.
    loss_frac_q20: u64,
    /// [`Window::snd_nxt`] at the start of the period.
    round_end: u64,
    /// [`Window::snd_nxt`] at the last reduction for marks.
    cwr_end: u64,
    /// The smoothed share of marked segments times 2^`g_shift`, in 2^-24, so that no remainder is lost.
    alpha_scaled_q24: u32,
    /// Additive increase for each window of unmarked segments.
    ai_q20: u32,
    /// Marks reported so far, modulo 2^32.
    ce: u32,
    /// [`ce`](Prague::ce) and [`Window::delivered`] at the start of the period.
    old_ce: u32,
    old_delivered: u32,
    /// Times of the last update of alpha and of the last reduction for marks, in microseconds modulo 2^32.
    alpha_at_us: u32,
    cwr_at_us: u32,
    /// The threshold before the last loss.
    loss_ssthresh: u32,
    /// Round trips since slow start.
    rounds: u32,
    target_us: u32,
    max_scaled_us: u32,
    detector: Detector,
    transition: u16,
    min_cwnd: u16,
    /// Periods without a mark until `grow = "queue"` grows faster.
    wait: u16,
    g_shift: u8,
    wobble_128: u8,
    fallback: Fallback,
    halve: bool,
    grow_queue: bool,
    independence: bool,
    gate_mark: bool,
    step: bool,
    saw_ce: bool,
    /// True from a loss until the sender is in the state Open.
    in_loss: bool,
}

// The private area of a kernel controller (ICSK_CA_PRIV_SIZE).
const _: () = assert!(size_of::<Prague>() <= 104);

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Prague::new(args)))
}

impl Controller for Prague {
    fn alpha_q24(&self) -> Option<u32> {
        Some(self.share_q24() as u32)
    }

    fn score_q20(&self) -> Option<u32> {
        (self.fallback != Fallback::Off).then(|| self.detector.score_q20())
    }

    fn needs(&self) -> Needs {
        Needs { full_control: true, rate: true, fine_rtt: true, ..Needs::default() }
    }

    fn on_start(&mut self, w: &mut Window) {
        self.frac_q20 = u64::from(w.cwnd) << 20;
        self.start_period(w);
    }

    fn on_every_ack(&mut self, _: &mut Cx, _: &mut Window, ack: &Ack) {
        self.ce = self.ce.wrapping_add(ack.ce);
        if self.fallback != Fallback::Off {
            self.detector.sample(ack.rtt_us);
        }
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let (now_us, before) = (micros(cx.now), w.cwnd);
        if w.state == CaState::Open {
            self.in_loss = false;
        }
        if ack.ce > 0 {
            if self.gate_mark && w.snd_una >= self.cwr_end {
                self.reduce(now_us, w);
            }
            if !self.saw_ce && self.halve {
                self.frac_q20 = (self.frac_q20 + 1) >> 1;
            }
            self.saw_ce = true;
        }
        let unmarked = ack.delivered.saturating_sub(ack.ce).min(MOST_ACKED);
        if unmarked > 0 && !self.in_loss && !ack.rate.app_limited && is_used(w, ack) {
            self.increase(w, ack.srtt_us, unmarked);
        }
        self.follow(w);
        let ends = w.snd_una >= self.round_end && self.target_has_passed(now_us, self.alpha_at_us, w);
        if ends {
            self.end_period(now_us, w, ack);
        }
        if ends || w.cwnd != before {
            self.ai_q20 = self.additive_increase(ack.srtt_us);
        }
        self.set_pacing(now_us, w, ack.srtt_us);
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        match why {
            // With the other gate, `on_ack` decides.
            Signal::Ecn if self.gate_mark => {}
            Signal::Ecn => self.reduce(micros(cx.now), w),
            // The answer leaves the window as it is, so that the sender may ask again in the same window of data.
            Signal::Local if w.snd_una >= self.cwr_end => self.reduce(micros(cx.now), w),
            Signal::Local => {}
            Signal::Loss { .. } => self.lose(w, ack),
            Signal::Timeout { nth: 0 | 1, .. } => {
                self.lose(w, ack);
                return Response::restart((self.frac_q20 >> 20) as u32);
            }
            // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
            Signal::Timeout { .. } => return Response { cwnd: 1, ..Response::keep(w) },
        }
        // The window follows with the acknowledgments.
        Response::keep(w)
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.in_loss = false;
        if self.loss_frac_q20 > 0 {
            self.frac_q20 = self.frac_q20.max(self.loss_frac_q20);
            self.loss_frac_q20 = 0;
            w.cwnd = w.cwnd.max(self.wanted());
            w.ssthresh = w.ssthresh.max(self.loss_ssthresh);
        }
    }
}

/// The clock in microseconds, modulo 2^32.
fn micros(now: Time) -> u32 {
    (now.as_nanos() / 1000) as u32
}

/// True if half of the window was in flight before the acknowledgment. Something else than the window may hold the
/// sender, like the queue of its own station ([`Signal::Local`]); an unused window does not grow without end (Linux
/// `tcp_is_cwnd_limited`).
fn is_used(w: &Window, ack: &Ack) -> bool {
    2 * (u64::from(w.inflight) + u64::from(ack.delivered)) >= w.cwnd.into()
}

/// `a / b`, rounded; `b` must not be 0.
fn rounded(a: u64, b: u64) -> u64 {
    (a + b / 2) / b
}

impl Prague {
    fn new(args: &Args) -> Prague {
        let g_shift = args.integer("g_shift").clamp(0, 7) as u8;
        let us = |name| u32::try_from(args.time(name).as_micros()).unwrap_or(u32::MAX);
        let halve = args.word("start") != "one";
        Prague {
            frac_q20: ONE_Q20,
            loss_frac_q20: 0,
            round_end: 0,
            cwr_end: 0,
            alpha_scaled_q24: if halve { 0 } else { (ONE_Q24 << g_shift) as u32 },
            ai_q20: ONE_Q20 as u32,
            ce: 0,
            old_ce: 0,
            old_delivered: 0,
            alpha_at_us: 0,
            cwr_at_us: 0,
            loss_ssthresh: 0,
            rounds: 0,
            target_us: us("target").clamp(1, 1_000_000),
            max_scaled_us: us("max_scaled_rtt"),
            detector: Detector::default(),
            transition: args.integer("transition").clamp(0, 65_535) as u16,
            min_cwnd: args.integer("min_cwnd").clamp(2, 1000) as u16,
            wait: CLEAN_PERIODS as u16,
            g_shift,
            wobble_128: args.integer("wobble").clamp(0, 64) as u8,
            fallback: match args.word("fallback") {
                "act" => Fallback::Act,
                "detect" => Fallback::Detect,
                _ => Fallback::Off,
            },
            halve,
            grow_queue: args.word("grow") == "queue",
            independence: args.word("independence") != "none",
            gate_mark: args.word("gate") == "mark",
            step: args.flag("step"),
            saw_ce: false,
            in_loss: false,
        }
    }

    /// The smoothed share of marked segments.
    fn share_q24(&self) -> u64 {
        u64::from(self.alpha_scaled_q24) >> self.g_shift
    }

    /// True if the flow behaves as if its round-trip time were at least the target.
    fn is_independent(&self, w: &Window) -> bool {
        self.independence && !w.in_slow_start() && self.rounds >= u32::from(self.transition)
    }

    /// True if the target has passed since `then_us`, or the flow does not follow it.
    fn target_has_passed(&self, now_us: u32, then_us: u32, w: &Window) -> bool {
        !self.is_independent(w) || now_us.wrapping_sub(then_us) >= self.target_us
    }

    /// The whole window that belongs to `frac_q20`.
    fn wanted(&self) -> u32 {
        (self.frac_q20.div_ceil(ONE_Q20) as u32).max(self.min_cwnd.into())
    }

    /// Takes alpha / 2 of the window for marks, unless the last reduction is too recent.
    fn reduce(&mut self, now_us: u32, w: &Window) {
        if !self.target_has_passed(now_us, self.cwr_at_us, w) {
            return;
        }
        (self.cwr_at_us, self.cwr_end) = (now_us, w.snd_nxt);
        let mut alpha_q24 = self.share_q24();
        if self.fallback == Fallback::Act {
            alpha_q24 = alpha_q24.max(self.detector.least_alpha_q24());
        }
        let less = (u128::from(alpha_q24) * u128::from(self.frac_q20) + u128::from(ONE_Q24)) >> 25;
        self.frac_q20 -= self.frac_q20.min(less as u64);
    }

    /// Opens the window for `n` unmarked segments.
    fn increase(&mut self, w: &mut Window, srtt_us: u32, mut n: u32) {
        if w.in_slow_start() && w.cwnd <= self.wanted() {
            n = w.slow_start(n);
            self.frac_q20 = (u64::from(w.cwnd) << 20).min(MOST_Q20);
        }
        let n = u64::from(n);
        let scaled = n * u64::from(self.ai_q20);
        let mut more = rounded(scaled << 20, self.frac_q20.max(ONE_Q20));
        if self.grow_queue && self.wait == 0 && srtt_us > 0 {
            // The window holds frac / R segments for each microsecond.
            more = more.max(rounded(scaled * QUEUE_GROWTH_US, srtt_us.into()));
        }
        self.frac_q20 = (self.frac_q20 + more.max(n)).min(MOST_Q20);
    }

    /// Moves the window towards the one that is wanted.
    fn follow(&mut self, w: &mut Window) {
        let wanted = self.wanted();
        // After a timeout the window grows step by step in any case.
        let one = self.step || w.state == CaState::Loss;
        if w.cwnd > wanted {
            w.cwnd = if one { w.cwnd - 1 } else { wanted };
            w.ssthresh = w.cwnd;
        } else if w.cwnd < wanted {
            w.cwnd = if one { w.cwnd + 1 } else { wanted };
        }
    }

    fn start_period(&mut self, w: &Window) {
        self.round_end = w.snd_nxt;
        (self.old_ce, self.old_delivered) = (self.ce, w.delivered);
    }

    /// Ends a period: updates alpha, and counts the round trip.
    fn end_period(&mut self, now_us: u32, w: &Window, ack: &Ack) {
        let marked = u64::from(self.ce.wrapping_sub(self.old_ce));
        if self.saw_ce {
            let delivered = u64::from(w.delivered.wrapping_sub(self.old_delivered)).max(1);
            let alpha = u64::from(self.alpha_scaled_q24);
            let alpha = alpha - (alpha >> self.g_shift) + (marked << 24) / delivered;
            self.alpha_scaled_q24 = alpha.min(ONE_Q24 << self.g_shift) as u32;
            self.alpha_at_us = now_us;
            if self.fallback != Fallback::Off {
                self.detector.end_period(ack.min_rtt_us);
            }
        }
        self.wait = match marked {
            0 => self.wait.saturating_sub(1),
            _ => u16::try_from(w.pacing_rate / RATE_STEP + CLEAN_PERIODS).unwrap_or(u16::MAX),
        };
        self.start_period(w);
        if !w.in_slow_start() {
            self.rounds = self.rounds.checked_add(1).unwrap_or(self.transition.into());
        }
    }

    /// The increase for a window of unmarked segments: (R / T)^2 of a segment, because a window lasts R instead of T,
    /// and is R / T of what the flow has in T.
    fn additive_increase(&self, srtt_us: u32) -> u32 {
        let (r, t) = (u64::from(srtt_us), u64::from(self.target_us));
        let scaled = self.independence && self.rounds >= self.transition.into() && r > 0 && r < t;
        if scaled && srtt_us <= self.max_scaled_us { rounded(r * r * ONE_Q20, t * t) as u32 } else { ONE_Q20 as u32 }
    }

    /// Halves the window for a loss.
    fn lose(&mut self, w: &Window, ack: Option<&Ack>) {
        (self.loss_frac_q20, self.loss_ssthresh) = (self.frac_q20, w.ssthresh);
        self.frac_q20 -= self.frac_q20 >> 1;
        self.in_loss = true;
        // UDP Prague: the lost half is regained by one segment for each period before the increase grows.
        let (t, r) = (u64::from(self.target_us), ack.map_or(0, |a| u64::from(a.srtt_us)));
        let segments = w.pacing_rate / 2 / u64::from(w.mss.max(1));
        let wait = segments.saturating_mul(t * t / r.max(t)) / 1_000_000;
        self.wait = self.wait.max(u16::try_from(wait).unwrap_or(u16::MAX));
    }

    /// Paces at one window for each round trip; twice as fast in the first half of slow start.
    fn set_pacing(&self, now_us: u32, w: &mut Window, srtt_us: u32) {
        if srtt_us == 0 {
            return;
        }
        // Many marks leave less than a segment of the window, of which min_cwnd may be sent all the same.
        let least = w.cwnd.min(self.min_cwnd.into());
        let segments = (self.frac_q20 >> 20).max(w.inflight.max(least).into());
        let mut rate = (segments * u64::from(w.mss)).saturating_mul(1_000_000) / u64::from(srtt_us);
        if w.cwnd < w.ssthresh / 2 {
            rate = rate.saturating_mul(2);
        }
        if self.wobble_128 > 0 && self.is_independent(w) {
            let offset = (rate >> 7) * u64::from(self.wobble_128);
            let first_half = now_us.wrapping_sub(self.alpha_at_us) < srtt_us.max(self.target_us) / 2;
            rate = if first_half { rate.saturating_add(offset) } else { rate - offset };
        }
        // 0 would mean no pacing.
        w.pacing_rate = rate.max(1);
    }
}

#[cfg(test)]
#[allow(clippy::float_arithmetic)]
mod tests;
