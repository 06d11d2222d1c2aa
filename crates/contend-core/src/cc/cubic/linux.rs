//! CUBIC in the integers of Linux (net/ipv4/tcp_cubic.c), for comparison with the kernel. The names are Linux's.
//!
//! - The window grows by one segment for each `cnt` acknowledged segments. `cnt` is rounded down, so the window grows
//!   faster than RFC 9438's where the lost fraction is large.
//! - The curve is computed at most once a jiffy, and at most once in 1/32 s while the window is unchanged.
//! - Reno's window keeps its slope of 3 (1 - beta) / (1 + beta) above the window before the reduction, where RFC 9438
//!   §4.3 goes on with 1.
//! - The cube root is exact; Linux's table and its one step of Newton's method are within a few tenths of a percent.
//! - A loss begins a new epoch with the next acknowledgment; a timeout resets all state.
//! - After an idle time the start of the epoch moves by this time only if it is longer than the retransmission timeout;
//!   Linux moves it after every idle time.

use super::super::slow_start::{HyStart, limit};
use super::super::{Ack, Controller, Response, Signal, Window};
use super::cbrt;
use crate::Cx;
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Jiffies in a second.
pub(super) const HZ: Param = Param::integer("hz", "with form linux: ticks of the kernel's clock in a second")
    .default("1000")
    .range(10.0, 10_000.0);

/// Shift of the time unit of the curve: 1024 in a second.
const BICTCP_HZ: u32 = 10;
/// Fraction of 1 in `beta`.
const SCALE: u32 = 1024;
/// Largest distance from the origin of the curve, so that its cube fits.
const FARTHEST: u64 = (1 << 17) - 1;

/// Parameters and state.
#[derive(Debug)]
struct Bictcp {
    hystart: HyStart,
    abc: u32,
    hz: u32,
    beta: u32,
    /// C in 1024ths of a segment for each s^3: Linux's `bic_scale * 10`.
    cube_rtt_scale: u32,
    fast_convergence: bool,
    tcp_friendliness: bool,
    /// Acknowledged segments for one segment of growth.
    cnt: u32,
    last_max_cwnd: u32,
    /// The window and the jiffy of the last computation.
    last_cwnd: u32,
    last_time: u64,
    /// The window at the origin of the curve.
    bic_origin_point: u32,
    /// Time from the start of the epoch to the origin, in 1024ths of a second.
    bic_k: u32,
    /// Shortest round trip, in microseconds; 0 before the first.
    delay_min: u32,
    /// The jiffy at which the epoch began; 0 before its first acknowledgment.
    epoch_start: u64,
    /// Acknowledged segments that have not yet made Reno's window grow.
    ack_cnt: u32,
    /// The window that Reno would have.
    tcp_cwnd: u32,
}

/// Builds the controller.
pub(super) fn build(args: &Args) -> Box<dyn Controller> {
    let whole = |name| u32::try_from(args.integer(name)).unwrap_or(u32::MAX);
    Box::new(Bictcp {
        hystart: HyStart::new(args),
        abc: limit(args.integer("abc")),
        hz: whole("hz").max(1),
        beta: whole("beta_1024").clamp(1, SCALE - 1),
        cube_rtt_scale: whole("c_1024").max(1),
        fast_convergence: args.flag("fast_convergence"),
        tcp_friendliness: args.flag("reno_friendly"),
        cnt: 0,
        last_max_cwnd: 0,
        last_cwnd: 0,
        last_time: 0,
        bic_origin_point: 0,
        bic_k: 0,
        delay_min: 0,
        epoch_start: 0,
        ack_cnt: 0,
        tcp_cwnd: 0,
    })
}

impl Bictcp {
    /// The clock in jiffies. It begins at 1, because 0 means that no epoch has begun.
    fn jiffies(&self, now: Time) -> u64 {
        now.as_micros() * u64::from(self.hz) / 1_000_000 + 1
    }

    /// A time in 1024ths of a second.
    fn curve_time(&self, jiffies: u64) -> u64 {
        (jiffies << BICTCP_HZ) / u64::from(self.hz)
    }

    /// Linux's `bictcp_update`.
    fn update(&mut self, now: u64, cwnd: u32, acked: u32) {
        self.ack_cnt = self.ack_cnt.saturating_add(acked);
        if self.last_cwnd == cwnd && now - self.last_time <= u64::from(self.hz / 32) {
            return;
        }
        if self.epoch_start == 0 || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            if self.epoch_start == 0 {
                self.begin(now, cwnd, acked);
            }
            let rtt = (u64::from(self.delay_min) * u64::from(self.hz)).div_ceil(1_000_000);
            let target = self.target(self.curve_time(now - self.epoch_start + rtt));
            self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
            // Nothing is known of the path before the first loss.
            if self.last_max_cwnd == 0 {
                self.cnt = self.cnt.min(20);
            }
        }
        if self.tcp_friendliness {
            let scale = 8 * (SCALE + self.beta) / 3 / (SCALE - self.beta);
            let delta = (cwnd.saturating_mul(scale) >> 3).max(1);
            let grown = self.ack_cnt.saturating_sub(1) / delta;
            self.tcp_cwnd = self.tcp_cwnd.saturating_add(grown);
            self.ack_cnt -= grown * delta;
            if self.tcp_cwnd > cwnd {
                self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
            }
        }
        // At most one segment for two acknowledged ones.
        self.cnt = self.cnt.max(2);
    }

    /// An epoch begins.
    fn begin(&mut self, now: u64, cwnd: u32, acked: u32) {
        (self.epoch_start, self.ack_cnt, self.tcp_cwnd) = (now, acked, cwnd);
        let room = u64::from(self.last_max_cwnd.saturating_sub(cwnd));
        self.bic_origin_point = self.last_max_cwnd.max(cwnd);
        // The room in segments is below 2^24, so that the cube fits.
        self.bic_k = cbrt((room.min(1 << 23) << (10 + 3 * BICTCP_HZ)) / u64::from(self.cube_rtt_scale)) as u32;
    }

    /// The curve at `t`: C (t - K)^3 from its origin.
    fn target(&self, t: u64) -> u32 {
        let k = u64::from(self.bic_k);
        let offs = t.abs_diff(k).min(FARTHEST);
        let delta = (u64::from(self.cube_rtt_scale) * offs * offs * offs) >> (10 + 3 * BICTCP_HZ);
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        if t < k { self.bic_origin_point.saturating_sub(delta) } else { self.bic_origin_point.saturating_add(delta) }
    }

    /// Linux's `tcp_cong_avoid_ai`.
    fn additive_increase(&self, w: &mut Window, acked: u32) {
        if w.cwnd_cnt >= self.cnt {
            // The credit was earned at a larger `cnt`.
            w.cwnd_cnt = 0;
            w.cwnd = w.cwnd.saturating_add(1);
        }
        w.additive_increase(self.cnt, acked);
    }
}

impl Controller for Bictcp {
    fn on_every_ack(&mut self, cx: &mut Cx, _: &mut Window, ack: &Ack) {
        let Some(rtt) = ack.rtt_us else { return };
        // Round trips right after a recovery are left out.
        let now = self.jiffies(cx.now);
        if self.epoch_start == 0 || now - self.epoch_start >= u64::from(self.hz) {
            let rtt = rtt.max(1);
            self.delay_min = if self.delay_min == 0 { rtt } else { self.delay_min.min(rtt) };
        }
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = self.hystart.slow_start(cx.now, w, ack, self.abc);
        if acked > 0 {
            self.update(self.jiffies(cx.now), w.cwnd, acked);
            self.additive_increase(w, acked);
        }
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        if let Signal::Timeout { nth: 2.., .. } = why {
            self.forget();
            return Response { cwnd: 1, ..Response::keep(w) };
        }
        self.epoch_start = 0;
        let gives_up = self.fast_convergence && w.cwnd < self.last_max_cwnd;
        self.last_max_cwnd = if gives_up { share(w.cwnd, SCALE + self.beta) / 2 } else { w.cwnd };
        let reduced = share(w.cwnd, self.beta);
        if let Signal::Timeout { .. } = why {
            self.forget();
            return Response::restart(reduced);
        }
        Response::clamp(reduced, w)
    }

    fn on_restart(&mut self, _: &mut Window, now: Time, idle: Span) {
        if self.epoch_start > 0 {
            let moved = self.epoch_start + idle.as_micros() * u64::from(self.hz) / 1_000_000;
            self.epoch_start = moved.min(self.jiffies(now));
        }
    }
}

/// `part` 1024ths of `n`.
fn share(n: u32, part: u32) -> u32 {
    (u64::from(n) * u64::from(part) / u64::from(SCALE)) as u32
}

impl Bictcp {
    /// A timeout: the state of a new connection.
    fn forget(&mut self) {
        self.hystart.on_timeout();
        (self.cnt, self.last_max_cwnd, self.last_cwnd, self.last_time) = (0, 0, 0, 0);
        (self.bic_origin_point, self.bic_k, self.delay_min) = (0, 0, 0);
        (self.epoch_start, self.ack_cnt, self.tcp_cwnd) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::registry::Value;

    /// A sender without HyStart whose segments are all acknowledged, one by one, spread over round trips of `rtt_ms`.
    struct Bench {
        cubic: Box<dyn Controller>,
        w: Window,
        now: Time,
        rng: Rng,
        rtt_ms: u64,
    }

    impl Bench {
        fn new(cwnd: u32, rtt_ms: u64) -> Bench {
            let mut args = Args::default();
            for (name, value) in [("abc", 0), ("hz", 1000), ("beta_1024", 717), ("c_1024", 410)] {
                args.set(name, Value::Integer(value));
            }
            for (name, value) in [("fast_convergence", true), ("reno_friendly", true)] {
                args.set(name, Value::Bool(value));
            }
            args.set("hystart", Value::Word("off".into()));
            let w = Window { cwnd, ssthresh: cwnd, ..Window::default() };
            Bench { cubic: build(&args), w, now: Time::from_nanos(1_000_000_000), rng: Rng::new(1), rtt_ms }
        }

        /// The window after this many milliseconds.
        fn after(&mut self, ms: u64) -> u32 {
            let end = self.now + Span::from_millis(ms);
            let rtt_us = (self.rtt_ms * 1000) as u32;
            let ack = Ack { acked: 1, rtt_us: Some(rtt_us), srtt_us: rtt_us, ..Ack::default() };
            while self.now < end {
                let cx = &mut Cx { now: self.now, rng: &mut self.rng };
                self.cubic.on_every_ack(cx, &mut self.w, &ack);
                self.cubic.on_ack(cx, &mut self.w, &ack);
                self.now += Span::from_micros(u64::from(rtt_us) / u64::from(self.w.cwnd));
            }
            self.w.cwnd
        }

        fn lose(&mut self) -> u32 {
            let cx = &mut Cx { now: self.now, rng: &mut self.rng };
            let why = Signal::Loss { seq: 0, marked: false, truth: None };
            let Response { ssthresh, cwnd, .. } = self.cubic.on_congestion(cx, &self.w, None, why);
            (self.w.ssthresh, self.w.cwnd) = (ssthresh, cwnd);
            cwnd
        }
    }

    /// By hand: 717/1024 of 200 is 140. K = cbrt(60 / 0.4) = 5.31 s; the curve is 200 there, flat around it, and at
    /// 2 K as far above 200 as it began below. It is followed one round trip ahead.
    #[test]
    fn the_window_follows_the_curve() {
        let mut b = Bench::new(200, 100);
        assert_eq!(b.lose(), 140);
        let (before, at, flat) = (b.after(4200), b.after(1000), b.after(300));
        assert!((197..=200).contains(&before), "{before}");
        assert!((199..=200).contains(&at) && (199..=201).contains(&flat), "{at} {flat}");
        let far = b.after(5000);
        assert!((250..=262).contains(&far), "{far}");
    }

    /// Before the first loss one segment for 20 acknowledged ones: 5 % a round trip.
    #[test]
    fn without_a_maximum_it_grows_by_a_twentieth_a_round_trip() {
        let mut b = Bench::new(100, 10);
        assert_eq!(b.after(10), 105);
    }

    /// By hand: at 10 ms the curve stands still for seconds, while Reno's window grows by 3 (1 - b) / (1 + b) = 0.53 of
    /// a segment a round trip; Linux's integers make it 8 / 15.
    #[test]
    fn a_short_round_trip_grows_like_reno() {
        let mut b = Bench::new(100, 10);
        assert_eq!(b.lose(), 70);
        let grown = b.after(500) - 70;
        assert!((24..=28).contains(&grown), "{grown}");
    }

    /// RFC 9438 §4.7: a flow that is reduced below its last maximum aims at 85 % of its window.
    #[test]
    fn it_gives_up_bandwidth_if_the_maximum_falls() {
        let mut b = Bench::new(100, 300);
        b.lose();
        assert_eq!(b.lose(), 49);
        let plateau = b.after(3000);
        assert!((58..=60).contains(&plateau), "{plateau}");
    }
}
