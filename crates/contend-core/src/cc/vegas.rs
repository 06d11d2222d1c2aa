//! Vegas: keeps a few segments of its window in the queue of the path. It measures the queue by the round-trip times.
//!
//! - For a window of W segments, a minimum round-trip time B and a current one R, W (R - B) / R segments wait. Once per
//!   round trip this backlog is compared with `alpha` and `beta`; with `rounded`, as in ns-2, after rounding to whole
//!   segments.
//! - W is the smaller of the window and the receiver's window, for the expected and for the actual rate, as in Linux.
//!   Brakmo and Peterson, and ns-2, count the segments sent in the round trip.
//! - If the window is to grow in a round trip, it grows by one segment at the start, as in Linux. With `growth =
//!   "spread"` it grows by 1 / cwnd per acknowledgment, as in Brakmo and Peterson ("linearly during the next RTT") and
//!   in ns-2.
//! - Slow start doubles the window in every second round trip and keeps it in the other. As in ns-2, it ends with a
//!   window smaller by an eighth, of which whole segments count; spread growth goes on from the fraction. A loss also
//!   ends it.
//! - With `second_ack`, the second acknowledgment sets the window before the window grows by it, as ns-2 does with its
//!   `delay_growth_`. In ns-2 the first segment is alone until then, so that its round-trip time is that of an empty
//!   path: `initial_window = 1` of the sender.
//! - ns-2 takes the round-trip time of a round trip in which at most one segment was sent as the new minimum. A timeout
//!   sets its next segment back to the first unacknowledged one, so that the round trip of each timeout counts as such.
//!   `new_base` measures the minimum anew after a timeout.
//! - After a loss, three quarters of the window remain (Brakmo and Peterson, ns-2). If the same segment is lost again,
//!   half of the window remains (ns-2). A timeout is answered as in Reno.
//! - The recovery `vegas` decides which losses reach the controller: no loss of a segment sent before the last
//!   reduction.

use super::{Ack, CWND, Controller, HALVED, Needs, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Brakmo and Peterson 1995; Starzetz 2006 §4.5.1; defaults of ns-2";
/// What it does.
pub const SUMMARY: &str = "Keeps between alpha and beta segments queued on the path; once per round trip, their number \
    is estimated from the round-trip time and the minimum round-trip time.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("alpha", "queued segments below which the window grows (2 in the thesis of Starzetz)")
        .symbol("α")
        .default("1")
        .range(1.0, 10_000.0),
    Param::integer("beta", "queued segments above which the window shrinks (4 in the thesis of Starzetz)")
        .symbol("β")
        .default("3")
        .range(1.0, 10_000.0),
    Param::integer("gamma", "queued segments above which slow start ends")
        .symbol("γ")
        .default("1")
        .range(1.0, 10_000.0),
    Param::word(
        "sample",
        &["mean", "min"],
        "which round-trip time represents a round trip. mean: the mean of its samples (ns-2); min: the smallest sample \
            (Linux), which delayed acknowledgments do not lengthen",
    )
    .default("mean"),
    Param::word(
        "growth",
        &["at_once", "spread"],
        "how the window grows by one segment in a round trip. at_once: at its start (Linux); spread: by 1 / cwnd with \
            each acknowledgment (Brakmo and Peterson, ns-2)",
    )
    .default("at_once"),
    Param::flag("rounded", "true if the backlog is rounded to whole segments before it is compared (ns-2)")
        .default("false"),
    Param::flag(
        "new_base",
        "true if the minimum round-trip time is measured anew after a timeout, in effect as in ns-2; false: it is that \
            of the connection",
    )
    .default("false"),
    Param::integer(
        "second_ack",
        "window in segments to which the second acknowledgment of a connection sets it before slow start goes on (2 in \
            ns-2, with initial_window = 1); 0: slow start alone decides",
    )
    .default("0")
    .range(0.0, 10_000.0),
    Param::word(
        "keeps",
        &["three_quarters", "half"],
        "what stays of the window after a loss. three_quarters: so much (Brakmo and Peterson, ns-2), half if \
            the same segment is lost again; half: always (Linux)",
    )
    .default("three_quarters"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("W_r", "the receiver's window, in segments"),
    symbol("n", "segments that the ACK covers"),
    HALVED,
    symbol("RTT", "round-trip time of a round trip: the mean or the smallest of its samples (`sample`)"),
    symbol("BaseRTT", "the smallest round-trip sample of the connection"),
    symbol("Δ", "backlog: (Expected − Actual) BaseRTT, the segments that wait on the path"),
    on("every ACK with a round-trip sample"),
    step("`BaseRTT` becomes the sample if that is smaller", "Brakmo and Peterson 1995"),
    on("the second ACK of new data of the connection"),
    eq("W ← second_ack", "ns-2").when("`second_ack > 0`"),
    on("an ACK that begins a new round trip"),
    eq("Δ = min(W, W_r) · (RTT − BaseRTT) / RTT", "Brakmo and Peterson 1995"),
    eq("Δ ← ⌊Δ + 1 / 2⌋", "ns-2").when("`rounded`"),
    step(
        "in slow start, round trips in which the window doubles and round trips without growth alternate; the first \
            doubles, also after a timeout",
        "Brakmo and Peterson 1995",
    )
    .when("`W < S`"),
    eq("W ← max(2, ⌊7 · W / 8⌋)", "ns-2").when("slow start ends: `W < S`, the window would double now, and `Δ > γ`"),
    eq("S ← 2", "").when("slow start ends"),
    eq("W ← max(2, W − 1)", "Brakmo and Peterson 1995").when("`W ≥ S` before this ACK, and `Δ > β`"),
    eq("W ← W + 1", "Linux")
        .when("`W ≥ S` before this ACK, `Δ < α`, `growth = at_once`, and the window limits sending"),
    on("an ACK of new data, while the window limits sending"),
    eq("W ← W + 1 / W", "Brakmo and Peterson 1995")
        .when("`W ≥ S`, `growth = spread`, and `Δ < α` at the start of this round trip"),
    eq("W ← min(S, W + n)", "").when("`W < S`, in a round trip in which the window doubles"),
    on("a loss without a timeout"),
    eq("S ← max(2, F / 2)", "ns-2; Linux").when("`F ≤ 3`, the same segment is lost again, or `keeps = half`"),
    eq("S ← F − ⌊F / 4⌋", "Brakmo and Peterson 1995").when("otherwise"),
    eq("W ← min(W, S)", ""),
    on("a mark, or a drop by the sender's own queue"),
    eq("S ← max(2, F / 2)", "RFC 3168 §6.1.2"),
    eq("W ← min(W, S)", ""),
    on("a timeout"),
    eq("S ← max(2, F / 2)", "RFC 5681 eq. 4").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
    step("`BaseRTT` is measured anew", "ns-2").when("`new_base`"),
];

/// Vegas' parameters and state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct Vegas {
    alpha: u32,
    beta: u32,
    gamma: u32,
    /// True if the minimum of a round trip's samples is used instead of the mean.
    least: bool,
    /// True if growth is spread over a round trip.
    spread: bool,
    /// True if the backlog counts in whole segments.
    rounded: bool,
    /// True if each loss halves the window.
    halves: bool,
    /// True if a timeout forgets `base_us`.
    new_base: bool,
    /// Window that the second acknowledgment sets; 0: none.
    second_ack: u32,
    /// Number of acknowledgments of new data, up to 2.
    acks: u8,
    /// True if the window grows in the current round trip (only for spread growth).
    growing: bool,
    /// True if the current round trip of slow start doubles the window.
    doubling: bool,
    /// Number of samples in the current round trip.
    samples: u32,
    /// Minimum of these samples in microseconds.
    min_us: u32,
    /// `BaseRTT`: the minimum round-trip time of the connection in microseconds; 0 before the first sample,
    /// and with `new_base` after a timeout.
    base_us: u32,
    /// Sum of the samples in microseconds.
    sum_us: u64,
    /// First byte of the last lost segment.
    lost: Option<u64>,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let get = |name| u32::try_from(args.integer(name)).unwrap_or(1).max(1);
    let (alpha, beta) = (get("alpha"), get("beta"));
    if alpha > beta {
        return Err(Refusal::new(
            alloc::format!(
                "alpha {alpha} is above beta {beta}, so the window would grow and shrink for the same backlog"
            ),
            "write alpha \
                <= beta",
        ));
    }
    let gamma = get("gamma");
    let least = args.word("sample") == "min";
    Ok(Box::new(Vegas {
        alpha,
        beta,
        gamma,
        least,
        spread: args.word("growth") == "spread",
        rounded: args.flag("rounded"),
        halves: args.word("keeps") == "half",
        new_base: args.flag("new_base"),
        second_ack: u32::try_from(args.integer("second_ack")).unwrap_or(0),
        acks: 0,
        growing: false,
        doubling: true,
        samples: 0,
        min_us: u32::MAX,
        base_us: 0,
        sum_us: 0,
        lost: None,
    }))
}

impl Controller for Vegas {
    fn on_every_ack(&mut self, _: &mut Cx, _: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt_us {
            let rtt = rtt.max(1);
            self.base_us = if self.base_us == 0 { rtt } else { self.base_us.min(rtt) };
            self.min_us = self.min_us.min(rtt);
            self.sum_us += u64::from(rtt);
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn on_ack(&mut self, _: &mut Cx, w: &mut Window, ack: &Ack) {
        if self.acks < 2 {
            self.acks += 1;
            if self.acks == 2 && self.second_ack > 0 {
                (w.cwnd, w.cwnd_cnt) = (self.second_ack, 0);
            }
        }
        if ack.round_start
            && let Some(rtt) = self.round()
        {
            let exact = backlog(w.cwnd.min(w.rwnd), rtt, self.base_us);
            let wait = if self.rounded { exact.rounded() } else { exact };
            self.growing = self.spread && wait.below(self.alpha);
            if w.in_slow_start() {
                // A round trip without growth and a round trip with growth alternate. Without growth, the expected and
                // the actual rate belong to the same window.
                self.doubling = !self.doubling;
                if self.doubling && wait.above(self.gamma) {
                    // ns-2: the window is reduced by an eighth, and there is no slow start before the next timeout.
                    w.ssthresh = 2;
                    let eighths = u64::from(w.cwnd) * 7;
                    w.cwnd = ((eighths / 8) as u32).max(2);
                    // Spread growth counts to `cwnd` for the next segment.
                    w.cwnd_cnt = if self.spread { (eighths % 8 * u64::from(w.cwnd) / 8) as u32 } else { 0 };
                }
            } else if wait.above(self.beta) {
                w.cwnd = w.cwnd.saturating_sub(1).max(2);
            } else if wait.below(self.alpha) && w.limited && !self.spread {
                w.cwnd = w.cwnd.saturating_add(1);
            }
        }
        if self.growing && w.limited && !w.in_slow_start() {
            w.cwnd_cnt = w.cwnd_cnt.saturating_add(1);
            if w.cwnd_cnt >= w.cwnd {
                (w.cwnd, w.cwnd_cnt) = (w.cwnd.saturating_add(1), 0);
            }
        }
        if w.in_slow_start() && self.doubling && w.limited {
            w.slow_start(ack.acked);
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        self.forget();
        let half = w.reduce_from / 2;
        match why {
            Signal::Loss { seq, .. } => {
                // Brakmo and Peterson 1995: reduce by a quarter, because an early retransmission detects the loss
                // sooner. ns-2: reduce by half if a segment is lost again, and to two segments from three or fewer.
                // Linux always halves (tcp_reno_ssthresh).
                let again = self.lost.replace(seq) == Some(seq) || self.halves;
                let left = if w.reduce_from <= 3 || again { half } else { w.reduce_from - w.reduce_from / 4 };
                Response::clamp(left, w)
            }
            // RFC 3168 §6.1.2, as in Reno.
            Signal::Ecn | Signal::Local => Response::clamp(half, w),
            Signal::Timeout { nth, .. } => {
                self.lost = Some(w.snd_una);
                self.doubling = true;
                if self.new_base {
                    self.base_us = 0;
                }
                // RFC 5681 §3.1: the threshold is kept if the same segment times out again.
                if nth <= 1 { Response::restart(half) } else { Response { cwnd: 1, ..Response::keep(w) } }
            }
        }
    }

    fn on_restart(&mut self, _: &mut Window, _: Time, _: Span) {
        // Samples from before the silence say nothing about the first round trip after it.
        self.forget();
    }

    fn needs(&self) -> Needs {
        // The window may also shrink while the receiver's window limits sending. `on_ack` restricts growth.
        Needs { grow_when_unlimited: true, ..Needs::default() }
    }
}

impl Vegas {
    /// Ends the round trip. Returns its round-trip time in microseconds, or `None` if it has no sample.
    fn round(&mut self) -> Option<u32> {
        let mean = self.sum_us.checked_div(u64::from(self.samples))?;
        let rtt = if self.least { self.min_us } else { u32::try_from(mean).unwrap_or(u32::MAX) };
        self.forget();
        Some(rtt)
    }

    fn forget(&mut self) {
        (self.samples, self.sum_us, self.min_us) = (0, 0, u32::MAX);
    }
}

/// Number of segments that wait on the path, as a fraction.
pub(super) struct Backlog {
    waiting: u64,
    per: u64,
}

/// Brakmo and Peterson 1995: (expected - actual) BaseRTT = (W / B - W / R) B = W (R - B) / R, for a window of `cwnd`
/// segments.
pub(super) fn backlog(cwnd: u32, rtt_us: u32, base_us: u32) -> Backlog {
    Backlog { waiting: u64::from(cwnd) * u64::from(rtt_us.saturating_sub(base_us)), per: u64::from(rtt_us.max(1)) }
}

impl Backlog {
    /// The backlog in whole segments; a half is rounded up.
    fn rounded(&self) -> Backlog {
        Backlog { waiting: (self.waiting + self.per / 2) / self.per, per: 1 }
    }
    /// True if the backlog is more than `n` segments.
    pub(super) fn above(&self, n: u32) -> bool {
        self.waiting > u64::from(n) * self.per
    }
    /// True if the backlog is less than `n` segments.
    pub(super) fn below(&self, n: u32) -> bool {
        self.waiting < u64::from(n) * self.per
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Vegas>() <= 104, "{}", size_of::<Vegas>());
    }

    #[test]
    fn the_backlog_is_what_waits_beyond_the_empty_path() {
        // 20 segments in 125 ms over an empty path of 100 ms: 16 segments fill the path, 4 wait.
        let b = backlog(20, 125_000, 100_000);
        assert!(b.above(3) && !b.above(4) && !b.below(4) && b.below(5));
        assert!(backlog(u32::MAX, u32::MAX, 1).above(u32::MAX - 2));
        // 20 segments in 115 ms: 2.6 wait, which is more than 2 and less than 3; rounded it is 3.
        let b = backlog(20, 115_000, 100_000);
        assert!(b.above(2) && b.below(3) && !b.rounded().above(3) && !b.rounded().below(3));
        // 20 segments in 112 ms: 2.1.
        assert!(!backlog(20, 112_000, 100_000).rounded().above(2));
    }
}
