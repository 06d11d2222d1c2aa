//! TCP-AV: keeps a designated rate R, and stops growing once it has reached R. This is our reading: Arai et al. print
//! no equation, and Shimonishi et al. 2006 is known by its description only.
//!
//! - The target window W* is what R needs over the present round trip. Below W* the window approaches W* within about
//!   four round trips; a loss does not reduce it below W*.
//! - A model of the receiver's playout buffer is filled by acknowledged data and drained at R. While the buffer is
//!   below its cushion, the target is higher, and the window still grows at Reno's pace above the target.
//! - A guard against congestion collapse: if several losses come within a short time and the flow gets less than half
//!   of R, it behaves like Reno for a while. With a rate of 0 the flow is always Reno.
//! - The recovery decides what is retransmitted, and when: the variant `tcp_av` sends lost retransmissions again, and
//!   the first two timeouts do not double the timer.
//! - Numbers of segments have 10 binary places (`_q10`).

use super::slow_start::{ABC, limit, slow_start};
use super::{Ack, CWND, Controller, Response, SSTHRESH, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "our reading of Arai et al. 2008 §II.D and Shimonishi et al. 2006 (IEICE E89-B)";
/// What it does.
pub const SUMMARY: &str = "Keeps a designated rate: a loss never takes the window below what this rate needs, and the \
    window grows no further when the rate is reached.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::rate("rate", "designated rate of payload; 0: plain Reno").symbol("R").default("10Mbps").range(0.0, 1e12),
    Param::integer("headroom_1024", "h: the flow aims at this multiple of R, in 1024ths")
        .default("1126")
        .range(1.0, 10_240.0),
    Param::integer("kappa", "the target window counts at most this many smallest round trips")
        .symbol("κ")
        .default("16")
        .range(1.0, 1e6),
    Param::time("cushion", "how long the receiver could play from a full cushion")
        .symbol("T_ref")
        .default("500ms")
        .range(0.0, 1e3),
    Param::time("most", "bound of the modelled buffer, and of what it lacks")
        .symbol("T_max")
        .default("2s")
        .range(0.0, 1e3),
    Param::time("catch_up", "time in which a missing cushion is to be filled")
        .symbol("T_c")
        .default("2s")
        .range(1e-3, 1e3),
    Param::integer("faster_1024", "c_max: most by which the rate exceeds h R to fill the cushion, in 1024ths")
        .default("1280")
        .range(1024.0, 10_240.0),
    Param::integer("losses", "losses after which the guard looks; 0: no guard")
        .symbol("K")
        .default("3")
        .range(0.0, 8.0),
    Param::integer("within", "smoothed round trips within which these losses count")
        .symbol("T_k")
        .default("3")
        .range(1.0, 1e3),
    Param::time("hold", "how long the guard makes the flow Reno").symbol("T_hold").default("2s").range(0.0, 1e3),
    Param::word(
        "probe",
        &["hold", "reno"],
        "above the target with a full cushion. hold: the window stays, about R; \
        reno: it grows like Reno's, at least R",
    )
    .default("hold"),
    Param::flag("pace", "true if the flow is paced at c_max h R").default("false"),
    ABC,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    SSTHRESH,
    symbol("W_r", "the receiver's window, in segments"),
    symbol("n", "segments that the ACK covers"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("h", "`headroom_1024 / 1024`"),
    symbol("c_max", "`faster_1024 / 1024`"),
    symbol("RTT", "smoothed round-trip time"),
    symbol("RTT_min", "minimum round-trip time of the connection"),
    symbol("T", "the round trip that the target counts"),
    symbol("Δ", "time since the last ACK"),
    symbol("B", "data in the model of the receiver's buffer, in segments; negative while the receiver would wait"),
    symbol("B_ref", "its cushion, in segments"),
    symbol("B_max", "its bound, in segments"),
    symbol("W_t", "W*, the target window, in segments"),
    symbol("W_R", "window that h R needs, in segments"),
    symbol("I", "segments in flight"),
    symbol("Δ_K", "time since the first of the last `K` losses"),
    symbol("N", "segments that have arrived since then"),
    symbol("r", "pacing rate, in byte/s of payload"),
    on("every ACK"),
    eq("T = min(RTT, κ · RTT_min)", "our reading"),
    eq("B_max = R · T_max / M", ""),
    eq("B ← max(−B_max, min(B_max, B + n − R · Δ / M))", ""),
    eq("r = c_max · h · R", "").when("`pace`"),
    on("an ACK of new data"),
    eq("W ← W + min(n, abc)", "RFC 5681 eq. 2").when("`W < S`"),
    eq("B_ref = R · T_ref / M", "our reading"),
    eq("W_t = ⌊min(h · R + max(0, B_ref − B) · M / T_c, c_max · h · R) · T / M⌋", ""),
    eq("W ← W + n / max(1, ⌊W / max(1, ⌊(W_t − W) / 4⌋)⌋)", "")
        .when("`W ≥ S`, `W < W_t`, and the flow is not held to Reno"),
    eq("W ← W + n / W", "RFC 5681 eq. 3")
        .when("`W ≥ S`, and the flow is held to Reno; or `W ≥ W_t`, and `probe = reno` or `B < B_ref`"),
    on("a loss or a timeout, first"),
    step("the flow is held to Reno for `T_hold` from now on (with `R = 0` always)", "our reading")
        .when("`Δ_K ≤ T_k · RTT` and `2 · N · M < R · Δ_K`"),
    on("a loss without a timeout, or a mark"),
    eq("W_R = ⌊h · R · T / M⌋", "our reading"),
    eq("W_R = 0", "").when("the flow is held to Reno"),
    eq("S ← max(2, W / 2, min(W, W_R))", ""),
    eq("W ← min(W, S)", "RFC 5681 §3.2 step 2"),
    on("a drop by the sender's own queue"),
    eq("W ← min(W, max(2, I))", "our reading").when("`W_R > 0`"),
    eq("S ← max(2, W / 2)", "RFC 5681 eq. 4").when("otherwise"),
    eq("W ← min(W, S)", "RFC 5681 §3.2 step 2").when("`W_R = 0`"),
    on("a timeout"),
    eq("S ← max(2, W / 2, min(W_r, W_R))", "our reading").when("it is the first of this segment"),
    eq("W ← 1", "RFC 5681 §3.1"),
];

/// One in 1024ths.
const ONE: u64 = 1024;
/// The largest number of losses that the guard remembers.
const LOSSES: usize = 8;

/// TCP-AV's parameters and state.
#[derive(Debug)]
struct TcpAv {
    abc: u32,
    /// R in bytes of payload per second.
    rate: u64,
    headroom_1024: u64,
    kappa: u64,
    cushion: Span,
    most: Span,
    catch_up: Span,
    faster_1024: u64,
    losses: usize,
    within: u64,
    hold: Span,
    probes: bool,
    paces: bool,
    /// The receiver's buffer in this model, in 2^-10 segments. It is negative while the receiver would have to wait.
    buffer_q10: i64,
    /// The last acknowledgment; [`Time::NEVER`] before the first.
    last: Time,
    /// The last losses, the newest first, each with the segments delivered until then.
    recent: [(Time, u32); LOSSES],
    /// Until this time the guard makes the flow behave like Reno.
    reno_until: Time,
    /// The last round-trip times, in microseconds.
    srtt_us: u64,
    min_rtt_us: u64,
}

/// Builds the controller.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    let whole = |name| u64::try_from(args.integer(name)).unwrap_or(0);
    Ok(Box::new(TcpAv {
        abc: limit(args.integer("abc")),
        rate: args.rate("rate") / 8,
        headroom_1024: whole("headroom_1024"),
        kappa: whole("kappa"),
        cushion: args.time("cushion"),
        most: args.time("most"),
        catch_up: args.time("catch_up"),
        faster_1024: whole("faster_1024"),
        losses: (whole("losses") as usize).min(LOSSES),
        within: whole("within"),
        hold: args.time("hold"),
        probes: args.word("probe") == "reno",
        paces: args.flag("pace"),
        buffer_q10: 0,
        last: Time::NEVER,
        recent: [(Time::NEVER, 0); LOSSES],
        reno_until: Time::ZERO,
        srtt_us: 0,
        min_rtt_us: 0,
    }))
}

impl TcpAv {
    /// The data sent in `time` at `rate` bytes per second, in 2^-10 segments.
    fn segments_q10(rate: u64, us: u64, w: &Window) -> u64 {
        let bytes_q10 = u128::from(rate) * u128::from(us) * u128::from(ONE) / 1_000_000;
        u64::try_from(bytes_q10 / u128::from(w.mss.max(1))).unwrap_or(u64::MAX).min(1 << 40)
    }

    /// The round trip that the target window counts, in microseconds.
    fn round_trip(&self) -> u64 {
        self.srtt_us.min(self.kappa * self.min_rtt_us)
    }

    /// h R in bytes per second.
    fn aim(&self) -> u64 {
        self.rate * self.headroom_1024 / ONE
    }

    fn is_reno(&self, now: Time) -> bool {
        self.rate == 0 || now < self.reno_until
    }

    /// The cushion, in 2^-10 segments.
    fn cushion_q10(&self, w: &Window) -> i64 {
        Self::segments_q10(self.rate, self.cushion.as_micros(), w) as i64
    }

    /// The window that the rate needs; with `catch_up` more while the cushion is not full. In segments.
    fn target(&self, w: &Window, catch_up: bool) -> u32 {
        let (aim, rtt) = (self.aim(), self.round_trip());
        let missing = (self.cushion_q10(w) - self.buffer_q10).max(0) as u64;
        let most = aim * self.faster_1024 / ONE;
        let rate = if catch_up {
            let more = u128::from(missing) * u128::from(w.mss) * 1_000_000
                / u128::from(ONE)
                / u128::from(self.catch_up.as_micros().max(1));
            aim.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)).min(most)
        } else {
            aim
        };
        u32::try_from(Self::segments_q10(rate, rtt, w) / ONE).unwrap_or(u32::MAX)
    }

    /// Records a loss. Returns true if it is the last of `losses` losses within `within` round trips in which less than
    /// half of R arrived.
    fn collapses(&mut self, now: Time, w: &Window) -> bool {
        if self.losses == 0 {
            return false;
        }
        self.recent.rotate_right(1);
        self.recent[0] = (now, w.delivered);
        let (first, delivered) = self.recent[self.losses - 1];
        let passed = now.since(first).as_micros();
        if first == Time::NEVER || passed > self.within * self.srtt_us {
            return false;
        }
        let came = u64::from(w.delivered.wrapping_sub(delivered)) * ONE;
        2 * came < Self::segments_q10(self.rate, passed, w)
    }
}

impl Controller for TcpAv {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        (self.srtt_us, self.min_rtt_us) = (u64::from(ack.srtt_us), u64::from(ack.min_rtt_us));
        if self.paces {
            w.pacing_rate = self.aim() * self.faster_1024 / ONE;
        }
        let passed = if self.last == Time::NEVER { Span::ZERO } else { cx.now.since(self.last) };
        self.last = cx.now;
        let bound = Self::segments_q10(self.rate, self.most.as_micros(), w) as i64;
        let played = Self::segments_q10(self.rate, passed.as_micros(), w) as i64;
        self.buffer_q10 = (self.buffer_q10 + i64::from(ack.acked) * ONE as i64 - played).clamp(-bound, bound);
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let acked = slow_start(w, ack.acked, self.abc);
        if acked == 0 {
            return;
        }
        let target = self.target(w, true);
        let is_reno = self.is_reno(cx.now);
        if !is_reno && w.cwnd < target {
            // A quarter of what is missing in each round trip, at least Reno's pace and at most slow start's.
            w.additive_increase((w.cwnd / ((target - w.cwnd) / 4).max(1)).max(1), acked);
        } else if is_reno || self.probes || self.buffer_q10 < self.cushion_q10(w) {
            w.additive_increase(w.cwnd, acked);
        }
    }

    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        if matches!(why, Signal::Loss { .. } | Signal::Timeout { .. }) && self.collapses(cx.now, w) {
            self.reno_until = cx.now.saturating_add(self.hold);
        }
        let least = if self.is_reno(cx.now) { 0 } else { self.target(w, false) };
        match why {
            Signal::Loss { .. } | Signal::Ecn => Response::clamp((w.cwnd / 2).max(least.min(w.cwnd)), w),
            // A drop of the own queue says nothing about the path.
            Signal::Local if least > 0 => Response { cwnd: w.inflight.clamp(2, w.cwnd.max(2)), ..Response::keep(w) },
            Signal::Local => Response::clamp(w.cwnd / 2, w),
            Signal::Timeout { nth: 0 | 1, .. } => Response::restart((w.cwnd / 2).max(least.min(w.rwnd))),
            Signal::Timeout { .. } => Response { cwnd: 1, ..Response::keep(w) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::registry::Value;
    use rand::SeedableRng as _;

    /// A flow with R = 10 Mb/s, 1,250 segments a second, round trips of 100 ms and a threshold at its window.
    struct Flow {
        av: Box<dyn Controller>,
        w: Window,
        now: Time,
        rng: Rng,
    }

    impl Flow {
        fn new(cwnd: u32, changed: &[(&'static str, Value)]) -> Flow {
            let mut args = Args::default();
            for (name, value) in [
                ("headroom_1024", 1126),
                ("kappa", 16),
                ("faster_1024", 1280),
                ("losses", 3),
                ("within", 3),
                ("abc", 1),
            ] {
                args.set(name, Value::Integer(value));
            }
            for (name, ms) in [("cushion", 500), ("most", 2000), ("catch_up", 2000), ("hold", 2000)] {
                args.set(name, Value::Time(Span::from_millis(ms)));
            }
            args.set("rate", Value::Rate(10_000_000));
            args.set("probe", Value::Word("hold".into()));
            args.set("pace", Value::Bool(false));
            changed.iter().for_each(|(name, value)| args.set(name, value.clone()));
            let w = Window { cwnd, ssthresh: cwnd, mss: 1000, ..Window::default() };
            let mut flow = Flow { av: build(&args).unwrap(), w, now: Time::ZERO, rng: Rng::seed_from_u64(1) };
            flow.ack(0, 0);
            flow
        }

        /// `n` segments are acknowledged one by one within `ms`.
        fn ack(&mut self, n: u32, ms: u64) -> u32 {
            let ack = Ack { acked: n.min(1), srtt_us: 100_000, min_rtt_us: 20_000, ..Ack::default() };
            for _ in 0..n.max(1) {
                self.now += Span::from_nanos(ms * 1_000_000 / u64::from(n.max(1)));
                self.w.delivered += ack.acked;
                let cx = &mut Cx { now: self.now, rng: &mut self.rng };
                self.av.on_every_ack(cx, &mut self.w, &ack);
                if n > 0 {
                    self.av.on_ack(cx, &mut self.w, &ack);
                }
            }
            self.w.cwnd
        }

        fn lose(&mut self, why: Signal) -> (u32, u32) {
            let cx = &mut Cx { now: self.now, rng: &mut self.rng };
            let r = self.av.on_congestion(cx, &self.w, None, why);
            (self.w.cwnd, self.w.ssthresh) = (r.cwnd, r.ssthresh);
            (r.cwnd, r.ssthresh)
        }
    }

    const LOSS: Signal = Signal::Loss { seq: 0, marked: false, truth: None };
    const TIMEOUT: Signal = Signal::Timeout { nth: 1, marked: false, truth: None };

    /// By hand: W* without catching up is 1.1 x 1,250 / s x 100 ms = 137 segments.
    #[test]
    fn a_loss_does_not_take_the_window_below_what_the_rate_needs() {
        let after = |cwnd, why| Flow::new(cwnd, &[]).lose(why);
        assert_eq!([400, 200, 120].map(|cwnd| after(cwnd, LOSS)), [(200, 200), (137, 137), (120, 120)]);
        assert_eq!(after(120, TIMEOUT), (1, 137));
        let reno = [("rate", Value::Rate(0))];
        assert_eq!(Flow::new(120, &reno).lose(LOSS), (60, 60));
    }

    /// By hand: an empty cushion of 625 segments lets it aim at 312 segments a second more: 168 segments. A round trip
    /// closes 1 - exp(-1/4) of the difference: 15.
    #[test]
    fn the_window_is_steered_to_the_target_and_stays_when_the_cushion_is_full() {
        let mut flow = Flow::new(100, &[]);
        let first = flow.ack(100, 100);
        assert!((113..=117).contains(&first), "{first}");
        // More than R arrives until the cushion is full; then the window stays.
        let full = flow.ack(9000, 6000);
        assert_eq!(flow.ack(1000, 800), full);
        let mut probes = Flow::new(200, &[("probe", Value::Word("reno".into()))]);
        assert_eq!(probes.ack(1000, 100), 204);
    }

    /// The third loss within three round trips while nothing arrives makes it Reno for two seconds.
    #[test]
    fn losses_in_a_row_without_the_rate_make_it_reno() {
        let mut flow = Flow::new(120, &[]);
        assert_eq!([20, 50, 50].map(|ms| flow.ack(0, ms).min(flow.lose(LOSS).0)), [120, 120, 60]);
        flow.ack(1, 1900);
        assert_eq!(flow.lose(LOSS).0, 30);
        let before = flow.ack(1, 200);
        assert_eq!(flow.lose(LOSS).0, before);
        // Enough arrives: no guard.
        let mut flow = Flow::new(120, &[]);
        let cuts = [(); 3].map(|()| {
            flow.ack(100, 100);
            flow.lose(LOSS).0
        });
        assert!(cuts.iter().all(|cwnd| *cwnd >= 120), "{cuts:?}");
    }

    #[test]
    fn a_drop_of_the_own_queue_leaves_what_is_in_flight() {
        let mut flow = Flow::new(120, &[]);
        flow.w.inflight = 90;
        assert_eq!(flow.lose(Signal::Local), (90, 120));
    }
}
