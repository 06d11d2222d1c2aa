//! CUBIC (RFC 9438), in integers. `form = "linux"` is in `cubic/linux.rs`.
//!
//! - Windows are kept in 2^-20 segments (`_q20`), times in 2^-10 seconds (`_q10`). The distance in time from the origin
//!   of the cubic is limited to 128 seconds; there the cubic is 840,000 segments from its origin.
//! - Slow start is Reno's, or a HyStart.
//! - The base of the multiplicative decrease comes from the recovery family (the flight size by default). `W_max` is
//!   the window.
//! - A reduction that proves spurious is undone (RFC 9438 §4.9): the recovery restores window and threshold, and
//!   `on_undo` restores the state of the cubic.

mod linux;

use super::slow_start::{ABC, HYSTART, HyStart, limit};
use super::{Ack, CWND, Controller, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "RFC 9438; Linux net/ipv4/tcp_cubic.c for `form`";
/// What it does.
pub const SUMMARY: &str = "The window is a cubic function of the time since the last reduction; it is flat around the \
    window before that reduction, and never below Reno's.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::word(
        "form",
        &["rfc9438", "linux"],
        "arithmetic. rfc9438: fractions of a segment; linux: the integers of Linux's module, whose window grows in \
            whole segments",
    )
    .default("rfc9438"),
    Param::integer("beta_1024", "factor of a reduction of the window, in 1024ths (RFC 9438 §4.6: 0.7)")
        .default("717")
        .range(1.0, 1023.0),
    Param::integer("c_1024", "steepness C of the cubic in segments/s^3, in 1024ths (RFC 9438 §5: 0.4)")
        .default("410")
        .range(1.0, 10240.0),
    Param::flag(
        "fast_convergence",
        "true if a flow that is reduced below its last maximum gives up more (RFC 9438 §4.7)",
    )
    .default("true"),
    Param::flag("reno_friendly", "true if the window is at least what Reno's growth would give (RFC 9438 §4.3)")
        .default("true"),
    ABC,
    HYSTART,
    linux::HZ,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("n", "segments that the ACK covers"),
    symbol("F", "what a loss reduces: what is in flight or the window, as the recovery has it, in segments"),
    symbol("C", "`c_1024 / 1024`, in segments/s³"),
    symbol("β_cubic", "`beta_1024 / 1024`"),
    symbol("α_cubic", "growth of Reno's window, in segments per window"),
    symbol("t", "time since the stage of congestion avoidance began, without idle times"),
    symbol("K", "time from the start of the stage to the origin of the cubic"),
    symbol("W_max", "window at the origin of the cubic, in segments"),
    symbol("W_est", "window that Reno would have, in segments"),
    symbol("cwnd_prior", "window before the last reduction, in segments"),
    symbol("target", "the cubic one round trip ahead, within its bounds"),
    symbol("RTT", "smoothed round-trip time; with `form = linux` the smallest one"),
    symbol("cnt", "with `form = linux`: acknowledged segments for one segment of growth"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 9438 §4.10")
        .when("`W < S`, unless HyStart (`hystart`) slows it or ends it by `S ← W`"),
    on("the first ACK of a stage of congestion avoidance: after slow start or a reduction"),
    eq("W_max ← max(W_max, W)", "RFC 9438 §4.2").when("there was a reduction, and the last one was no timeout"),
    eq("W_max ← W", "RFC 9438 §4.8, §4.10").when("otherwise"),
    eq("K = ((W_max − W) / C)^(1 / 3)", "RFC 9438 §4.2"),
    eq("W_est ← W", "RFC 9438 §4.3"),
    on("every ACK of congestion avoidance"),
    eq("α_cubic = 3 · (1 − β_cubic) / (1 + β_cubic)", "RFC 9438 §4.3").when("`W_est < cwnd_prior`, or `form = linux`"),
    eq("α_cubic = 1", "").when("otherwise"),
    eq("W_est ← W_est + α_cubic · n / W", ""),
    eq("W_cubic(t) = C · (t − K)^3 + W_max", "RFC 9438 §4.2"),
    eq("W ← max(W, W_est)", "RFC 9438 §4.3").when("`form = rfc9438`, `reno_friendly`, and `W_cubic(t) < W_est`"),
    eq("target = min(max(W_cubic(t + RTT), W), 3 · W / 2)", "RFC 9438 §4.2")
        .when("`form = rfc9438`, and the rule before does not apply"),
    eq("W ← min(target, W + n · (target − W) / W)", "RFC 9438 §4.4, §4.5")
        .when("`form = rfc9438`, and there is a new `target`"),
    on("every ACK of congestion avoidance, `form = linux`; `cnt` is computed at most once a tick (`hz`)"),
    eq("cnt = ⌊W / (⌊W_cubic(t + RTT)⌋ − W)⌋", "Linux bictcp_update").when("the cubic is above `W`"),
    eq("cnt = 100 · W", "").when("otherwise"),
    eq("cnt ← min(cnt, 20)", "").when("there was no reduction since the start or the last timeout"),
    eq("cnt ← min(cnt, ⌊W / (W_est − W)⌋)", "").when("`reno_friendly`, and `W_est > W`, which grows in whole segments"),
    eq("cnt ← max(2, cnt)", ""),
    eq("W ← W + n / cnt", "Linux tcp_cong_avoid_ai"),
    on("a loss, a mark, a drop by the sender's own queue, or the first timeout of a segment"),
    eq("W_max ← W · (1 + β_cubic) / 2", "RFC 9438 §4.7").when("`fast_convergence` and `W < W_max`"),
    eq("W_max ← W", "RFC 9438 §4.6").when("otherwise"),
    eq("cwnd_prior ← W", ""),
    eq("S ← max(2, F · β_cubic)", "").when("`form = rfc9438`"),
    eq("S ← max(2, W · β_cubic)", "Linux cubictcp_recalc_ssthresh").when("`form = linux`"),
    eq("W ← min(W, S)", "RFC 9438 §4.6").when("it is a loss without a timeout, or no timeout and `form = linux`"),
    eq("W ← max(1, min(W, F · β_cubic))", "")
        .when("it is a mark or a drop by the sender's own queue, with `form = rfc9438`"),
    eq("W ← 1", "RFC 9438 §4.8").when("it is a timeout"),
    on("proof that the last reduction was spurious"),
    step(
        "`W` and `S` are as before it, with `form = rfc9438` also `W_max`, `W_est`, `K` and `cwnd_prior`",
        "RFC 9438 §4.9",
    ),
];

/// One segment in 2^-20 segments.
const ONE: u64 = 1 << 20;
/// Largest distance from the origin of the cubic, in 2^-10 s.
const FARTHEST: u64 = (1 << 17) - 1;

/// CUBIC's parameters and state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct Cubic {
    hystart: HyStart,
    abc: u32,
    /// Reno-friendly growth per window of acknowledged segments: alpha of RFC 9438 §4.3.
    alpha_q20: u32,
    beta_1024: u16,
    c_1024: u16,
    fast_convergence: bool,
    reno_friendly: bool,
    stage: Stage,
    /// The stage before the last reduction, restored if the reduction proves spurious.
    before: Stage,
}

/// The state of a stage of congestion avoidance: the variables that RFC 9438 §4.9 restores in addition to window and
/// threshold.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// `t_epoch`, the start of the stage, moved forward by idle times; [`Time::NEVER`] before the first acknowledgment.
    epoch: Time,
    /// `W_max`.
    w_max_q20: u64,
    /// `W_est`, the window that Reno would have.
    w_est_q20: u64,
    /// `K`, the time from the start of the stage to the origin of the cubic; below 2^21.
    k_q10: u32,
    /// The fraction of the window beyond `cwnd` whole segments; less than one segment.
    fraction_q20: u32,
    /// The window when the threshold was last set: `cwnd_prior`.
    prior: u32,
    /// True if no maximum is known: the stage starts at the cubic's origin (RFC 9438 §4.8, §4.10).
    from_origin: bool,
}

/// Builds the controller.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    if args.word("form") == "linux" {
        return Ok(linux::build(args));
    }
    let beta_1024 = args.integer("beta_1024").clamp(1, 1023) as u16;
    let stage = Stage {
        epoch: Time::NEVER,
        w_max_q20: 0,
        w_est_q20: 0,
        k_q10: 0,
        fraction_q20: 0,
        prior: 0,
        from_origin: true,
    };
    Ok(Box::new(Cubic {
        hystart: HyStart::new(args),
        abc: limit(args.integer("abc")),
        beta_1024,
        c_1024: args.integer("c_1024").clamp(1, 10_240) as u16,
        // RFC 9438 §4.3: 3 (1 - beta) / (1 + beta).
        alpha_q20: (3 * u64::from(1024 - beta_1024) * ONE / u64::from(1024 + beta_1024)) as u32,
        fast_convergence: args.flag("fast_convergence"),
        reno_friendly: args.flag("reno_friendly"),
        stage,
        before: stage,
    }))
}

impl Controller for Cubic {
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = self.hystart.slow_start(cx.now, w, ack, self.abc);
        if acked == 0 {
            return;
        }
        if self.stage.epoch == Time::NEVER {
            self.begin(cx.now, w.cwnd);
        }
        let cwnd_q20 = u64::from(w.cwnd) * ONE + u64::from(self.stage.fraction_q20);
        let segments = u64::from(w.cwnd);
        let t = q10(cx.now.since(self.stage.epoch));

        // RFC 9438 §4.3: Reno's growth. Above the window before the reduction, the slope is Reno's own.
        let full = self.stage.w_est_q20 >= u64::from(self.stage.prior) * ONE;
        let alpha = if full { ONE } else { u64::from(self.alpha_q20) };
        self.stage.w_est_q20 += alpha * u64::from(acked) / segments;
        let w_est_q20 = self.stage.w_est_q20;
        let next = if self.reno_friendly && self.cubic_q20(t) < w_est_q20 {
            cwnd_q20.max(w_est_q20)
        } else {
            // RFC 9438 §4.2, §4.4, §4.5: the target is the cubic one round trip ahead, at most half the window more per
            // round trip.
            let ahead = self.cubic_q20(t + q10(Span::from_micros(u64::from(ack.srtt_us))));
            let target = ahead.clamp(cwnd_q20, cwnd_q20 + cwnd_q20 / 2);
            let step = (target - cwnd_q20).saturating_mul(u64::from(acked)) / segments;
            (cwnd_q20 + step).min(target)
        };
        w.cwnd = u32::try_from(next / ONE).unwrap_or(u32::MAX);
        self.stage.fraction_q20 = (next % ONE) as u32;
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        if let Signal::Timeout { .. } = why {
            self.hystart.on_timeout();
        }
        // RFC 9438 §4.6.
        let reduced = (u64::from(w.reduce_from) * u64::from(self.beta_1024) / 1024) as u32;
        match why {
            Signal::Loss { .. } => {
                self.remember(w.cwnd);
                Response::clamp(reduced, w)
            }
            // RFC 9438 §4.6: a mark may reduce the window to one segment. Linux (tcp_enter_cwr) answers a drop by the
            // sender's own queue like a mark.
            Signal::Ecn | Signal::Local => {
                self.remember(w.cwnd);
                Response { cwnd: reduced.clamp(1, w.cwnd.max(1)), ..Response::to(reduced) }
            }
            // RFC 9438 §4.8.
            Signal::Timeout { nth: 0 | 1, .. } => {
                self.remember(w.cwnd);
                self.stage.from_origin = true;
                Response::restart(reduced)
            }
            // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
            Signal::Timeout { .. } => {
                self.stage.epoch = Time::NEVER;
                Response { cwnd: 1, ..Response::keep(w) }
            }
        }
    }

    fn on_restart(&mut self, _: &mut Window, now: Time, idle: Span) {
        // RFC 9438 §5.8: the time of the cubic stops while nothing is sent.
        if self.stage.epoch != Time::NEVER {
            self.stage.epoch = self.stage.epoch.saturating_add(idle).min(now);
        }
    }

    fn on_undo(&mut self, w: &mut Window) {
        // RFC 9438 §4.9: restore the state together with the window. If the window is above the old window, the
        // detection came late; the current stage then continues.
        if w.cwnd <= self.stage.prior {
            self.stage = self.before;
        }
    }
}

impl Cubic {
    /// Records the window at a reduction.
    fn remember(&mut self, cwnd: u32) {
        self.before = self.stage;
        let cwnd_q20 = u64::from(cwnd) * ONE;
        // RFC 9438 §4.7.
        let give_up = self.fast_convergence && cwnd_q20 < self.stage.w_max_q20;
        self.stage.w_max_q20 = if give_up { cwnd_q20 / 2048 * u64::from(1024 + self.beta_1024) } else { cwnd_q20 };
        self.stage.prior = cwnd;
        self.stage.from_origin = false;
        self.stage.epoch = Time::NEVER;
    }

    /// Starts a stage of congestion avoidance with a window of `cwnd`.
    fn begin(&mut self, now: Time, cwnd: u32) {
        let cwnd_q20 = u64::from(cwnd) * ONE;
        let stage = &mut self.stage;
        if stage.from_origin || stage.w_max_q20 < cwnd_q20 {
            stage.w_max_q20 = cwnd_q20;
        }
        // RFC 9438 §4.2: K = cbrt((W_max - cwnd_epoch) / C), here in 2^-10 s.
        let room_q20 = (stage.w_max_q20 - cwnd_q20).min(1 << 43);
        stage.k_q10 = cbrt((room_q20 << 20) / u64::from(self.c_1024)) as u32;
        stage.w_est_q20 = cwnd_q20;
        stage.fraction_q20 = 0;
        stage.epoch = now;
    }

    /// `W_cubic` at time `t` after the start of the stage (RFC 9438 §4.2): C (t - K)^3 + W_max.
    fn cubic_q20(&self, t_q10: u64) -> u64 {
        let (k_q10, w_max_q20) = (u64::from(self.stage.k_q10), self.stage.w_max_q20);
        let d = t_q10.abs_diff(k_q10).min(FARTHEST);
        let rise = u64::from(self.c_1024).saturating_mul(d * d * d) >> 20;
        if t_q10 < k_q10 { w_max_q20.saturating_sub(rise) } else { w_max_q20 + rise }
    }
}

/// A duration in 2^-10 s.
fn q10(d: Span) -> u64 {
    d.as_micros().saturating_mul(128) / 125_000
}

/// The largest integer whose cube is at most `n`, computed bit by bit.
fn cbrt(n: u64) -> u64 {
    (0..22).rev().fold(0u64, |root, bit| {
        let next = root | 1 << bit;
        // (2^22 - 1)^3 exceeds 64 bits, so the multiplication is checked.
        if next.checked_mul(next * next).is_some_and(|cube| cube <= n) { next } else { root }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Cubic>() <= 104, "{}", size_of::<Cubic>());
    }

    #[test]
    fn the_cube_root_is_the_floor() {
        for r in [0u64, 1, 2, 3, 100, 4_316, 1 << 20, 2_642_245] {
            let cube = r * r * r;
            assert_eq!(cbrt(cube), r);
            assert_eq!(cbrt(cube.saturating_sub(1)), r.saturating_sub(1));
        }
        assert_eq!(cbrt(u64::MAX), 2_642_245);
    }
}
