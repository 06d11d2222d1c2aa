//! Vegas: holds the window where a few segments of it wait in the queue of the path, by what round trips take.
//!
//! - With a window of W segments, a least round trip of B and a present one of R, W (R - B) / R segments wait. Once
//!   each round trip that backlog is held against `alpha` and `beta`, exactly: ns-2 rounds it to a whole segment first.
//! - W is the window or the receiver's, whichever is smaller, for what is expected and for what is measured, as in
//!   Linux; the source and ns-2 count what was sent in the round trip.
//! - A round trip in which the window is to grow grows it by a segment at its beginning, as in Linux; with `growth =
//!   "spread"` by 1 / cwnd with each acknowledgment, as in the source ("linearly during the next RTT") and in ns-2.
//! - Slow start doubles every other round trip, first stays, and ends as in ns-2 with an eighth less. A loss ends it
//!   too.
//! - What a loss leaves is the source's and ns-2's: three quarters, half when the same segment is lost again. A timeout
//!   is answered as by Reno.
//! - Which losses are asked for is the affair of the recovery `vegas`: none of what was sent before the last reduction.

use super::{Ack, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::registry::{Args, Param, Unit};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;

/// Where it comes from.
pub const CITE: &str = "Brakmo and Peterson 1995; Starzetz 2006 §4.5.1; defaults of ns-2";
/// What it does.
pub const SUMMARY: &str = "Keeps between alpha and beta segments waiting on the path, judged once a round trip by how \
    much longer it takes than the shortest.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    Param {
        name: "alpha",
        doc: "Waiting segments below which the window grows (2 in the thesis of Starzetz)",
        unit: Unit::Integer,
        default: Some("1"),
        range: (1.0, 10_000.0),
    },
    Param {
        name: "beta",
        doc: "Waiting segments above which it shrinks (4 in the thesis of Starzetz)",
        unit: Unit::Integer,
        default: Some("3"),
        range: (1.0, 10_000.0),
    },
    Param {
        name: "gamma",
        doc: "Waiting segments above which slow start ends",
        unit: Unit::Integer,
        default: Some("1"),
        range: (1.0, 10_000.0),
    },
    Param {
        name: "sample",
        doc: "Which round trip stands for all those of a round: their mean (ns-2), or the least (Linux), which \
            delayed acknowledgments do not lengthen",
        unit: Unit::Word(&["mean", "min"]),
        default: Some("mean"),
        range: (0.0, 0.0),
    },
    Param {
        name: "growth",
        doc: "How a round trip that is to grow the window adds its segment: at its beginning (at_once: Linux), or 1 / \
            cwnd of it with each acknowledgment (spread: the source and ns-2)",
        unit: Unit::Word(&["at_once", "spread"]),
        default: Some("at_once"),
        range: (0.0, 0.0),
    },
];

/// Vegas' state. Fits the 104 bytes a kernel controller has.
#[derive(Debug)]
struct Vegas {
    alpha: u32,
    beta: u32,
    gamma: u32,
    /// Whether the least sample of a round stands for it, not the mean.
    least: bool,
    /// Whether growth is spread over a round trip.
    spread: bool,
    /// Whether the present round trip grows the window, when growth is spread.
    growing: bool,
    /// Whether the present round trip of slow start doubles the window.
    doubling: bool,
    /// Samples of the present round trip.
    samples: u32,
    /// The least of them in microseconds.
    min_us: u32,
    /// `BaseRTT`: the least round trip ever, in microseconds; 0 before the first.
    base_us: u32,
    /// Their sum in microseconds.
    sum_us: u64,
    /// First byte of the segment last lost.
    lost: Option<u64>,
}

/// Makes one.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, String> {
    let get = |name| u32::try_from(args.integer(name)).unwrap_or(1).max(1);
    let (alpha, beta) = (get("alpha"), get("beta"));
    if alpha > beta {
        return Err(alloc::format!(
            "alpha {alpha} is above beta {beta}: the window would grow and shrink for the same backlog; give alpha <= \
                beta"
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
        if ack.round_start
            && let Some(rtt) = self.round()
        {
            let wait = backlog(w.cwnd.min(w.rwnd), rtt, self.base_us);
            self.growing = self.spread && wait.below(self.alpha);
            if w.in_slow_start() {
                // A round trip that does not grow, so that what is expected and what is measured belong together, then
                // one that does.
                self.doubling = !self.doubling;
                if self.doubling && wait.above(self.gamma) {
                    // ns-2: an eighth less, and no slow start before the next timeout.
                    w.ssthresh = 2;
                    w.cwnd = (w.cwnd - w.cwnd / 8).max(2);
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
                // Brakmo and Peterson 1995: a quarter less, because an early retransmission tells of the loss sooner.
                // ns-2: half for a segment lost again, and two of three or fewer.
                let again = self.lost.replace(seq) == Some(seq);
                let left = if w.reduce_from <= 3 || again { half } else { w.reduce_from - w.reduce_from / 4 };
                Response::clamp(left, w)
            }
            // RFC 3168 §6.1.2, as for Reno.
            Signal::Ecn | Signal::Local => Response::clamp(half, w),
            Signal::Timeout { nth, .. } => {
                self.lost = Some(w.snd_una);
                self.doubling = true;
                // RFC 5681 §3.1: the threshold is held when the same segment times out again.
                if nth <= 1 { Response::restart(half) } else { Response { cwnd: 1, ..Response::keep(w) } }
            }
        }
    }

    fn on_restart(&mut self, _: &mut Window, _: Time, _: Span) {
        // What was measured before the silence tells nothing of the first round trip after it.
        self.forget();
    }

    fn needs(&self) -> Needs {
        // The window shrinks also while the receiver's is the limit; growing is held back above.
        Needs { grow_when_unlimited: true, ..Needs::default() }
    }
}

impl Vegas {
    /// What the round trip that is over took, in microseconds, and a new one begins; `None` when nothing was measured
    /// in it.
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

/// How many segments wait on the path, as a fraction.
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
    /// Whether it is more than `n` segments.
    pub(super) fn above(&self, n: u32) -> bool {
        self.waiting > u64::from(n) * self.per
    }
    /// Whether it is less than `n` segments.
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
        // 20 segments in 125 ms over an empty path of 100 ms: 16 of them fill it, 4 wait.
        let b = backlog(20, 125_000, 100_000);
        assert!(b.above(3) && !b.above(4) && !b.below(4) && b.below(5));
        assert!(backlog(u32::MAX, u32::MAX, 1).above(u32::MAX - 2));
    }
}
