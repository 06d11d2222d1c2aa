//! CUBIC (RFC 9438), in integers.
//!
//! - Windows are kept in 2^-20 segments (`_q20`), times in 2^-10 seconds (`_q10`); a distance from the origin of the
//!   cubic stops at 128 seconds, where the curve is 840,000 segments away.
//! - Slow start is Reno's; HyStart++ is not here.
//! - The multiplicative decrease starts from what the recovery family says (the flight size unless set otherwise),
//!   `W_max` is the window.
//! - Undoing a spurious reduction (RFC 9438 §4.9) is not here: no recovery detects one yet.

use super::{Ack, Controller, Response, Signal, Window, reno};
use crate::Cx;
use crate::registry::{Args, Param, Unit};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;

/// Where it comes from.
pub const CITE: &str = "RFC 9438";
/// What it does.
pub const SUMMARY: &str = "The window follows a cubic of the time since the last reduction, flat around the window of \
    that time; at least as fast as Reno.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    Param {
        name: "beta_1024",
        doc: "What a reduction leaves of the window, in 1024ths (RFC 9438 §4.6: 0.7)",
        unit: Unit::Integer,
        default: Some("717"),
        range: (1.0, 1023.0),
    },
    Param {
        name: "c_1024",
        doc: "Steepness C of the cubic in segments/s^3, in 1024ths (RFC 9438 §5: 0.4)",
        unit: Unit::Integer,
        default: Some("410"),
        range: (1.0, 10240.0),
    },
    Param {
        name: "fast_convergence",
        doc: "Whether a flow that is reduced below its last maximum gives up more (RFC 9438 §4.7)",
        unit: Unit::Bool,
        default: Some("true"),
        range: (0.0, 0.0),
    },
    Param {
        name: "reno_friendly",
        doc: "Whether the window is at least what Reno's growth would give (RFC 9438 §4.3)",
        unit: Unit::Bool,
        default: Some("true"),
        range: (0.0, 0.0),
    },
    reno::ABC,
];

/// One segment in 2^-20 segments.
const ONE: u64 = 1 << 20;
/// Farthest distance from the origin of the cubic, in 2^-10 s.
const FARTHEST: u64 = (1 << 17) - 1;

/// CUBIC's state. Fits the 104 bytes a kernel controller has.
#[derive(Debug)]
struct Cubic {
    abc: u32,
    beta_1024: u32,
    c_1024: u32,
    /// Reno-friendly growth per window of acknowledged segments: alpha of RFC 9438 §4.3.
    alpha_q20: u32,
    /// The window when the threshold was last set: `cwnd_prior`.
    prior: u32,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The stage that begins next knows no maximum: it starts at the cubic's origin (RFC 9438 §4.8, §4.10).
    from_origin: bool,
    /// When the present stage of congestion avoidance began, idle time taken out; `None` outside one.
    epoch: Option<Time>,
    /// `W_max`.
    w_max_q20: u64,
    /// `K`, from the beginning of the stage to the cubic's origin.
    k_q10: u64,
    /// `W_est`, the window Reno would have.
    w_est_q20: u64,
    /// What the window has beyond `cwnd` whole segments.
    fraction_q20: u64,
}

/// Makes one.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, String> {
    let beta_1024 = args.integer("beta_1024").clamp(1, 1023) as u32;
    Ok(Box::new(Cubic {
        abc: reno::limit(args.integer("abc")),
        beta_1024,
        c_1024: args.integer("c_1024").clamp(1, 10_240) as u32,
        // RFC 9438 §4.3: 3 (1 - beta) / (1 + beta).
        alpha_q20: (3 * u64::from(1024 - beta_1024) * ONE / u64::from(1024 + beta_1024)) as u32,
        prior: 0,
        fast_convergence: args.flag("fast_convergence"),
        reno_friendly: args.flag("reno_friendly"),
        from_origin: true,
        epoch: None,
        w_max_q20: 0,
        k_q10: 0,
        w_est_q20: 0,
        fraction_q20: 0,
    }))
}

impl Controller for Cubic {
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = reno::slow_start(w, ack.acked, self.abc);
        if acked == 0 {
            return;
        }
        let epoch = match self.epoch {
            Some(e) => e,
            None => self.begin(cx.now, w.cwnd),
        };
        let cwnd_q20 = u64::from(w.cwnd) * ONE + self.fraction_q20;
        let segments = u64::from(w.cwnd);
        let t = q10(cx.now.since(epoch));

        // RFC 9438 §4.3: Reno's growth, with its full slope once the window before the reduction is reached.
        let alpha = if self.w_est_q20 >= u64::from(self.prior) * ONE { ONE } else { u64::from(self.alpha_q20) };
        self.w_est_q20 += alpha * u64::from(acked) / segments;
        let next = if self.reno_friendly && self.cubic_q20(t) < self.w_est_q20 {
            cwnd_q20.max(self.w_est_q20)
        } else {
            // RFC 9438 §4.2, §4.4, §4.5: towards the cubic one round trip ahead, at most half the window a round trip.
            let ahead = self.cubic_q20(t + q10(Span::from_micros(u64::from(ack.srtt_us))));
            let target = ahead.clamp(cwnd_q20, cwnd_q20 + cwnd_q20 / 2);
            let step = (target - cwnd_q20).saturating_mul(u64::from(acked)) / segments;
            (cwnd_q20 + step).min(target)
        };
        w.cwnd = u32::try_from(next / ONE).unwrap_or(u32::MAX);
        self.fraction_q20 = next % ONE;
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        // RFC 9438 §4.6.
        let reduced = (u64::from(w.reduce_from) * u64::from(self.beta_1024) / 1024) as u32;
        match why {
            Signal::Loss { .. } => {
                self.remember(w.cwnd);
                Response::clamp(reduced, w)
            }
            // RFC 9438 §4.6: a mark may take the window to one segment.
            // Linux (tcp_enter_cwr): a full queue of one's own is answered as a mark is.
            Signal::Ecn | Signal::Local => {
                self.remember(w.cwnd);
                Response { cwnd: reduced.clamp(1, w.cwnd.max(1)), ..Response::to(reduced) }
            }
            // RFC 9438 §4.8.
            Signal::Timeout { nth: 0 | 1, .. } => {
                self.remember(w.cwnd);
                self.from_origin = true;
                Response::restart(reduced)
            }
            // RFC 5681 §3.1: the threshold is held when the same segment times out again.
            Signal::Timeout { .. } => {
                self.epoch = None;
                Response { cwnd: 1, ..Response::keep(w) }
            }
        }
    }

    fn on_restart(&mut self, _: &mut Window, now: Time, idle: Span) {
        // RFC 9438 §5.8: the cubic stands still while nothing is sent.
        self.epoch = self.epoch.map(|e| e.saturating_add(idle).min(now));
    }
}

impl Cubic {
    /// Notes the window at a reduction.
    fn remember(&mut self, cwnd: u32) {
        let cwnd_q20 = u64::from(cwnd) * ONE;
        // RFC 9438 §4.7.
        let give_up = self.fast_convergence && cwnd_q20 < self.w_max_q20;
        self.w_max_q20 = if give_up { cwnd_q20 / 2048 * u64::from(1024 + self.beta_1024) } else { cwnd_q20 };
        self.prior = cwnd;
        self.from_origin = false;
        self.epoch = None;
    }

    /// Begins a stage of congestion avoidance with a window of `cwnd`.
    fn begin(&mut self, now: Time, cwnd: u32) -> Time {
        let cwnd_q20 = u64::from(cwnd) * ONE;
        if self.from_origin || self.w_max_q20 < cwnd_q20 {
            self.w_max_q20 = cwnd_q20;
        }
        // RFC 9438 §4.2: K = cbrt((W_max - cwnd_epoch) / C), here in 2^-10 s.
        let room_q20 = (self.w_max_q20 - cwnd_q20).min(1 << 43);
        self.k_q10 = cbrt((room_q20 << 20) / u64::from(self.c_1024));
        self.w_est_q20 = cwnd_q20;
        self.fraction_q20 = 0;
        self.epoch = Some(now);
        now
    }

    /// `W_cubic` at `t` after the beginning of the stage (RFC 9438 §4.2): C (t - K)^3 + W_max.
    fn cubic_q20(&self, t_q10: u64) -> u64 {
        let d = t_q10.abs_diff(self.k_q10).min(FARTHEST);
        let rise = u64::from(self.c_1024).saturating_mul(d * d * d) >> 20;
        if t_q10 < self.k_q10 { self.w_max_q20.saturating_sub(rise) } else { self.w_max_q20 + rise }
    }
}

/// A duration in 2^-10 s.
fn q10(d: Span) -> u64 {
    d.as_micros().saturating_mul(128) / 125_000
}

/// The largest integer whose cube is not above `n`, digit by binary digit.
fn cbrt(n: u64) -> u64 {
    (0..22).rev().fold(0u64, |root, bit| {
        let next = root | 1 << bit;
        // (2^22 - 1)^3 is above 2^64: the product is compared, not stored.
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
