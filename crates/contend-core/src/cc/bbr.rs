//! BBR, version 1: window and pacing rate follow a model of the path (the maximum delivery rate and the minimum
//! round-trip time), not losses.
//!
//! - The source is the draft, with Linux's additions: the quanta in the window and the room for aggregated
//!   acknowledgments (`ack_aggregation`).
//! - Segments are sent one by one. The window still has room for three of Linux's send quanta, because they determine
//!   the behaviour on small paths.
//! - Linux's detection of token-bucket policers (its long-term bandwidth) is not implemented: no policer is modelled.
//! - The pacing rate is set at the first acknowledgment, not before. The first ten segments are not paced in any case.
//! - If ProbeRTT expires while nothing is sent, it ends at the next acknowledgment, not before the next segment.
//! - ECN marks and drops by the sender's own queue have no effect.

use super::path::{self, MaxFilter, UNIT};
use super::{Ack, CWND, CaState, Controller, Needs, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use rand::RngExt as _;

/// Source of the algorithm.
pub const CITE: &str = "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson 2016; \
    draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c";
/// What it does.
pub const SUMMARY: &str = "BBR version 1, which paces at the largest delivery rate that it measures; twice the path's \
    volume may be in flight, and losses do not slow the flow down.";
/// Parameters.
pub const PARAMS: &[Param] = &[Param::flag(
    "ack_aggregation",
    "true if the window has room for acknowledgments that arrive in bursts, as in Linux since 4.20; the draft has no \
        such room",
)
.default("true")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    symbol("W_prior", "window before a recovery or ProbeRTT, to which it returns"),
    symbol("S", "ssthresh, in segments"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("n", "segments that the ACK shows to have arrived"),
    symbol("I", "segments in flight"),
    symbol("δ", "segments of the delivery-rate sample"),
    symbol("T", "length of the sample"),
    symbol("BtlBw", "maximum of `δ / T` of the last ten rounds, in segments/s"),
    symbol("RTprop", "minimum round-trip time of the last 10 s"),
    symbol("SRTT", "smoothed round-trip time"),
    symbol("g_p", "pacing gain"),
    symbol("g_w", "cwnd gain"),
    symbol("r", "pacing rate, in byte/s of payload"),
    symbol("q", "segments that Linux would send at once"),
    symbol("g", "a gain"),
    symbol("V", "segments that fill the path, times a gain"),
    symbol("G", "target for a volume; 2 segments more in the first phase of ProbeBW's cycle"),
    symbol("x", "segments by which a burst of ACKs exceeds the bandwidth"),
    symbol(
        "X",
        "maximum of `x` in the last five to ten rounds; 0 before the pipe is full, or without `ack_aggregation`",
    ),
    on("every ACK, in this order"),
    step(
        "`BtlBw` takes `δ / T`; a sample limited by the application counts only if it is not smaller",
        "draft-cardwell-00 §4.1.1",
    ),
    eq("x = min(W, \"segments of the burst\" − BtlBw · \"its time\")", "Linux bbr_update_ack_aggregation"),
    step(
        "ProbeBW, each phase for `RTprop`: `g_p = 5 / 4` (until a loss or `I ≥ G(V(g_p)) − q`), `3 / 4` (at most until \
            `I ≤ G(V(1))`), then six of 1",
        "draft-cardwell-00 §4.3.4.3",
    ),
    step(
        "Startup ends when `BtlBw` has not grown by a quarter in three rounds: the pipe is full; `S ← G(V(1))`",
        "draft-cardwell-00 §4.3.2.2",
    ),
    eq("g_p = g_w = 739 / 256", "draft-cardwell-00 §4.3.2").when("in Startup: 2 / ln 2, rounded up"),
    eq("g_p = 88 / 256", "draft-cardwell-00 §4.3.3").when(
        "in Drain, which begins ProbeBW in a random phase but the second when `I ≤ G(V(1))`; `g_w` as in Startup",
    ),
    eq("g_w = 2", "draft-cardwell-00 §4.2.3").when("in ProbeBW; in ProbeRTT `g_p = g_w = 1`"),
    step(
        "`RTprop` takes the round-trip sample if it is not larger, or if `RTprop` is older than 10 s; then also \
            ProbeRTT begins, for 200 ms and a round from `I ≤ 4` on",
        "draft-cardwell-00 §4.1.2, §4.3.5",
    ),
    eq("r = 0.99 · g_p · BtlBw · M", "draft-cardwell-00 §4.2.1")
        .when("the pipe is full, or it is larger; at the first round-trip sample `0.99 · 739 / 256 · W / SRTT · M`"),
    eq("q = min(127, max(2, ⌊r / (1024 · M)⌋))", "Linux bbr_tso_segs_goal")
        .when("`r` is at least 1.2 Mb/s; otherwise at least 1"),
    eq("V(g) = ⌈g · BtlBw · RTprop⌉", "draft-cardwell-00 §4.2.3").when("there is a round-trip sample; 10 before"),
    eq("G(V) = 2 · ⌊(V + 3 · q + 1) / 2⌋", "Linux bbr_quantization_budget"),
    eq("W ← max(1, W − \"new losses\")", "draft-cardwell-00 §4.2.3.4"),
    eq("W ← I + n", "")
        .when("a recovery begins; for a round then `W ← max(W, I + n)`, and the next lines do not count"),
    eq("W ← max(W, W_prior)", "").when("a recovery or ProbeRTT ends"),
    eq("W ← min(W + n, G(V(g_w) + min(X, BtlBw · \"100 ms\")))", "draft-cardwell-00 §4.2.3").when("the pipe is full"),
    eq("W ← W + n", "")
        .when("the pipe is not full, and `W` is below this target or fewer than ten segments have arrived"),
    eq("W ← max(4, W)", ""),
    eq("W ← min(4, W)", "").when("in ProbeRTT"),
    on("a loss without a timeout, a mark, or a drop by the sender's own queue"),
    step("`W` stays; at a loss it is kept as `W_prior`", "draft-cardwell-00 §4.2.3.4"),
    on("a timeout"),
    eq("W ← 1", "draft-cardwell-00 §4.2.3.4"),
];

/// 2 / ln 2: the smallest gain that doubles the rate every round trip, in 256ths.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
/// The inverse of [`HIGH_GAIN`]. It drains in one round trip the queue that Startup built.
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// Pacing gains of ProbeBW, each for one minimum round-trip time: one phase above the bandwidth, one below it by the
/// same amount, then six at the bandwidth.
const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Number of rounds for which a bandwidth is kept: a cycle and two more.
const BW_ROUNDS: u32 = 10;
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
/// The smallest window that keeps the pipe busy if the receiver acknowledges every second segment; also the window of
/// ProbeRTT.
const MIN_CWND: u32 = 4;
/// The number of segments that must be delivered before the model limits the window (Linux: `TCP_INIT_CWND`); also the
/// window before the first round-trip sample.
const INIT_CWND: u32 = 10;
/// Number of rounds for which each of two slots keeps the aggregation.
const EXTRA_ROUNDS: u8 = 5;
/// The longest time by which aggregation may enlarge the window, in microseconds.
const EXTRA_MAX_US: u32 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR's state. Fits the 104 bytes of a kernel controller.
#[derive(Debug)]
struct Bbr {
    /// Maximum delivery rate of the last ten rounds, segments per microsecond (BtlBw).
    bw_q24: MaxFilter,
    /// Time of the minimum round-trip sample; [`Time::NEVER`] before the first sample.
    min_rtt_at: Time,
    /// Earliest end of ProbeRTT; [`Time::NEVER`] until the pipe is drained.
    probe_rtt_done: Time,
    cycle_at: Time,
    /// Start of the current burst of acknowledgments.
    epoch_at: Time,
    /// Segments delivered in the burst.
    epoch_acked: u32,
    /// Minimum round-trip time in microseconds (RTprop).
    min_rtt_us: u32,
    rounds: u32,
    /// A round ends when a segment arrives that was sent after this number of segments was delivered.
    round_end: u32,
    /// The bandwidth at the last growth in Startup.
    full_bw_q24: u32,
    /// The window to restore after a recovery or ProbeRTT.
    prior_cwnd: u32,
    /// Maximum number of segments delivered beyond the bandwidth, in the current slot of rounds and the one before.
    extra: [u16; 2],
    extra_rounds: u8,
    extra_slot: u8,
    full_rounds: u8,
    phase: u8,
    mode: Mode,
    /// Congestion state at the last acknowledgment.
    was: CaState,
    ack_aggregation: bool,
    round_start: bool,
    full: bool,
    conserve: bool,
    idle_restart: bool,
    probe_rtt_round: bool,
    seen_rtt: bool,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Bbr {
        bw_q24: MaxFilter::default(),
        min_rtt_at: Time::NEVER,
        probe_rtt_done: Time::NEVER,
        cycle_at: Time::ZERO,
        epoch_at: Time::ZERO,
        epoch_acked: 0,
        min_rtt_us: u32::MAX,
        rounds: 0,
        round_end: 0,
        full_bw_q24: 0,
        prior_cwnd: 0,
        extra: [0; 2],
        extra_rounds: 0,
        extra_slot: 0,
        full_rounds: 0,
        phase: 0,
        mode: Mode::Startup,
        was: CaState::Open,
        ack_aggregation: args.flag("ack_aggregation"),
        round_start: false,
        full: false,
        conserve: false,
        idle_restart: false,
        probe_rtt_round: false,
        seen_rtt: false,
    }))
}

impl Controller for Bbr {
    fn needs(&self) -> Needs {
        Needs { full_control: true, rate: true, ..Needs::default() }
    }

    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.update_bandwidth(w, ack);
        self.update_aggregation(cx.now, w, ack);
        self.update_cycle(cx.now, w, ack);
        self.check_full(ack);
        self.check_drain(cx, w);
        self.update_min_rtt(cx, w, ack);
        self.set_pacing(w, ack.srtt_us, self.gains().0);
        self.set_cwnd(w, ack);
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        match why {
            Signal::Loss { .. } => self.save(w),
            Signal::Timeout { .. } => {
                self.save(w);
                self.was = CaState::Loss;
                self.full_bw_q24 = 0;
                return Response { cwnd: 1, ..Response::keep(w) };
            }
            Signal::Ecn | Signal::Local => {}
        }
        Response::keep(w)
    }

    fn on_undo(&mut self, _: &mut Window) {
        self.full_bw_q24 = 0;
        self.full_rounds = 0;
    }

    fn on_restart(&mut self, w: &mut Window, now: Time, _: Span) {
        if w.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.epoch_at = now;
        self.epoch_acked = 0;
        match self.mode {
            // Draft §4.3.4.4: pace at the bandwidth, not faster, because there is no more data to send than before.
            Mode::ProbeBw => self.set_pacing(w, 0, UNIT),
            Mode::ProbeRtt => self.probe_rtt_round = true,
            Mode::Startup | Mode::Drain => {}
        }
    }
}

impl Bbr {
    /// Gains of the pacing rate and of the window in the current mode, in 256ths.
    fn gains(&self) -> (u32, u32) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[usize::from(self.phase & 7)], 2 * UNIT),
            Mode::ProbeRtt => (UNIT, UNIT),
        }
    }

    /// Draft §4.1.1: updates the round count and the maximum delivery rate.
    fn update_bandwidth(&mut self, w: &Window, ack: &Ack) {
        self.round_start = false;
        let rs = &ack.rate;
        if !rs.is_valid() {
            return;
        }
        if rs.prior_delivered.wrapping_sub(self.round_end) as i32 >= 0 {
            self.round_end = w.delivered;
            self.rounds = self.rounds.wrapping_add(1);
            self.round_start = true;
            self.conserve = false;
        }
        let bw = path::bandwidth_q24(rs.delivered, rs.interval_us);
        // An application-limited sample counts only if it is larger than the current maximum.
        if !rs.app_limited || bw >= self.bw_q24.get() {
            self.bw_q24.update(BW_ROUNDS, self.rounds, bw);
        }
    }

    /// Linux (bbr_update_ack_aggregation): measures by how much a burst of acknowledgments exceeds the bandwidth.
    fn update_aggregation(&mut self, now: Time, w: &Window, ack: &Ack) {
        if !self.ack_aggregation || ack.delivered == 0 || !ack.rate.is_valid() {
            return;
        }
        if self.round_start {
            self.extra_rounds += 1;
            if self.extra_rounds >= EXTRA_ROUNDS {
                self.extra_rounds = 0;
                self.extra_slot ^= 1;
                self.extra[usize::from(self.extra_slot & 1)] = 0;
            }
        }
        let excess = path::excess(self.bw_q24.get(), now, ack.delivered, &mut self.epoch_at, &mut self.epoch_acked);
        let extra = excess.min(u128::from(w.cwnd)).min(u128::from(u16::MAX)) as u16;
        let slot = &mut self.extra[usize::from(self.extra_slot & 1)];
        *slot = extra.max(*slot);
    }

    /// Draft §4.3.4.3: moves to the next phase of ProbeBW's cycle if the current one is over.
    fn update_cycle(&mut self, now: Time, w: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = now.since(self.cycle_at).as_micros() > u64::from(self.min_rtt_us);
        let gain = self.gains().0;
        let inflight = ack.rate.prior_in_flight;
        let next = if gain > UNIT {
            // The phase was long enough to have more in flight, or to fill a small buffer.
            full_length && (ack.rate.losses > 0 || inflight.saturating_add(quantum(w)) >= self.target(w, gain))
        } else if gain < UNIT {
            full_length || inflight <= self.target(w, UNIT)
        } else {
            full_length
        };
        if next {
            self.advance(now);
        }
    }

    fn advance(&mut self, now: Time) {
        self.phase = (self.phase + 1) & 7;
        self.cycle_at = now;
    }

    /// Draft §4.3.2.2: the pipe is full if the bandwidth has not grown by a quarter in three rounds.
    fn check_full(&mut self, ack: &Ack) {
        if self.full || !self.round_start || ack.rate.app_limited {
            return;
        }
        if u64::from(self.bw_q24.get()) * 4 >= u64::from(self.full_bw_q24) * 5 {
            self.full_bw_q24 = self.bw_q24.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= 3;
    }

    fn check_drain(&mut self, cx: &mut Cx, w: &mut Window) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            w.ssthresh = self.target(w, UNIT);
        }
        if self.mode == Mode::Drain && w.inflight <= self.target(w, UNIT) {
            self.enter_probe_bw(cx);
        }
    }

    /// Enters ProbeBW in a random phase, but not in the draining phase.
    fn enter_probe_bw(&mut self, cx: &mut Cx) {
        self.mode = Mode::ProbeBw;
        self.phase = 7 - cx.rng.random_range(0..7u8);
        self.advance(cx.now);
    }

    /// Draft §4.1.2, §4.3.5: updates the minimum round-trip time. Enters ProbeRTT, to empty the queue, if the minimum
    /// has not been seen for ten seconds.
    fn update_min_rtt(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let expired = cx.now > self.min_rtt_at.saturating_add(MIN_RTT_WINDOW);
        if let Some(rtt) = ack.rtt_us
            && (rtt <= self.min_rtt_us || expired)
        {
            self.min_rtt_us = rtt;
            self.min_rtt_at = cx.now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save(w);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = Time::NEVER;
        }
        if self.mode == Mode::ProbeRtt {
            // With four segments in flight, rate samples are not a measure of the bandwidth.
            w.app_limited = w.delivered.wrapping_add(w.inflight).max(1);
            if self.probe_rtt_done == Time::NEVER {
                if w.inflight <= MIN_CWND {
                    self.probe_rtt_done = cx.now.saturating_add(PROBE_RTT_TIME);
                    self.probe_rtt_round = false;
                    self.round_end = w.delivered;
                }
            } else {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round && cx.now > self.probe_rtt_done {
                    self.min_rtt_at = cx.now;
                    w.cwnd = w.cwnd.max(self.prior_cwnd);
                    self.mode = Mode::Startup;
                    if self.full {
                        self.enter_probe_bw(cx);
                    }
                }
            }
        }
        self.idle_restart &= ack.rate.delivered == 0;
    }

    /// Saves the window for restoration.
    fn save(&mut self, w: &Window) {
        let good = (self.was as u8) < CaState::Recovery as u8 && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { w.cwnd } else { self.prior_cwnd.max(w.cwnd) };
    }

    /// Draft §4.2.1: sets the pacing rate. Before the pipe is full the rate never falls.
    fn set_pacing(&mut self, w: &mut Window, srtt_us: u32, gain: u32) {
        if !self.seen_rtt && srtt_us > 0 {
            self.seen_rtt = true;
            w.pacing_rate = path::pacing_rate(path::bandwidth_q24(w.cwnd, srtt_us), w.mss, HIGH_GAIN);
        }
        let rate = path::pacing_rate(self.bw_q24.get(), w.mss, gain);
        if self.full || rate > w.pacing_rate {
            w.pacing_rate = rate;
        }
    }

    /// Draft §4.2.3: sets the window.
    fn set_cwnd(&mut self, w: &mut Window, ack: &Ack) {
        if ack.delivered > 0 {
            w.cwnd = self.next_cwnd(w, ack);
        }
        if self.mode == Mode::ProbeRtt {
            w.cwnd = w.cwnd.min(MIN_CWND);
        }
    }

    fn next_cwnd(&mut self, w: &Window, ack: &Ack) -> u32 {
        let acked = ack.delivered;
        let recovering = |s: CaState| s as u8 >= CaState::Recovery as u8;
        let mut cwnd = w.cwnd.saturating_sub(ack.rate.losses).max(1);
        if w.state == CaState::Recovery && self.was != CaState::Recovery {
            // Draft §4.2.3.4: for one round, send one segment for each segment that has arrived.
            self.conserve = true;
            self.round_end = w.delivered;
            cwnd = w.inflight.saturating_add(acked);
        } else if recovering(self.was) && !recovering(w.state) {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserve = false;
        }
        self.was = w.state;
        if self.conserve {
            return cwnd.max(w.inflight.saturating_add(acked));
        }
        let target = self.with_quanta(w, self.volume(self.gains().1).saturating_add(self.aggregation()));
        if self.full {
            cwnd = cwnd.saturating_add(acked).min(target);
        } else if cwnd < target || w.delivered < INIT_CWND {
            cwnd = cwnd.saturating_add(acked);
        }
        cwnd.max(MIN_CWND)
    }

    /// The number of segments that fill the path, times `gain`.
    fn volume(&self, gain: u32) -> u32 {
        if self.min_rtt_us == u32::MAX { INIT_CWND } else { path::volume(self.bw_q24.get(), self.min_rtt_us, gain) }
    }

    /// The volume plus room for segments that wait in the hosts.
    fn target(&self, w: &Window, gain: u32) -> u32 {
        self.with_quanta(w, self.volume(gain))
    }

    fn with_quanta(&self, w: &Window, volume: u32) -> u32 {
        // Linux (bbr_quantization_budget): three quanta, rounded to an even number. Two more segments while probing, so
        // that the probe has an effect on a small path.
        let even = volume.saturating_add(3 * quantum(w)).saturating_add(1) & !1;
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        even.saturating_add(if probing { 2 } else { 0 })
    }

    fn aggregation(&self) -> u32 {
        if !self.full {
            return 0;
        }
        let most = (u64::from(self.bw_q24.get()) * u64::from(EXTRA_MAX_US)) >> 24;
        u64::from(self.extra[0].max(self.extra[1])).min(most) as u32
    }
}

/// The number of segments that Linux would send at once at the current rate: those of one millisecond, at least 2, or
/// at least 1 below 1.2 Mb/s (bbr_tso_segs_goal).
fn quantum(w: &Window) -> u32 {
    let least = if w.pacing_rate < 150_000 { 1 } else { 2 };
    let segments = (w.pacing_rate >> 10).min(65_535) / u64::from(w.mss.max(1));
    (segments as u32).clamp(least, 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_fits_a_kernel_controller() {
        assert!(size_of::<Bbr>() <= 104, "{}", size_of::<Bbr>());
    }

    #[test]
    fn gains_double_and_drain_in_a_round_trip_and_a_cycle_is_neutral() {
        // 2 / ln 2 = 2.885, and its inverse is 0.347. The mean gain of a cycle is one.
        assert_eq!((HIGH_GAIN, DRAIN_GAIN, CYCLE.iter().sum::<u32>()), (739, 88, 8 * UNIT));
    }
}
