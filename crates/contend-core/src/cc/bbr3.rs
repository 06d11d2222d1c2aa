//! BBR, version 3: version 1's model of the path, with bounds learned from losses.
//!
//! - The source is draft-ietf-ccwg-bbr-06. Where the draft is silent, the source is Linux's `v3` branch (what counts as
//!   a discontiguous loss in Startup).
//! - `inflight_hi`, `inflight_lo` and `bw_lo` are the draft's `inflight_longterm`, `inflight_shortterm` and
//!   `bw_shortterm`, under the names of earlier drafts.
//! - Segments are sent one by one. The send quantum is still part of the window.
//! - Marks have no effect unless `ecn` is set. The draft does not define the answer to marks; `bbr3/ecn.rs` has the
//!   answer of the branch.
//! - If ProbeRTT expires while nothing is sent, it ends at the next acknowledgment, not before the next segment.
//! - The state takes 208 bytes, more than the 104 bytes of an ordinary kernel (the branch provides more).

mod bounds;
mod ecn;
mod probe_bw;
mod probe_rtt;

use super::path::{self, MaxFilter, UNIT};
use super::{Ack, CWND, CaState, Controller, Needs, RateSample, Response, Signal, Window};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Fact, Need, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "draft-ietf-ccwg-bbr-06";
/// What it does.
pub const SUMMARY: &str = "BBR version 3, which backs off when more than 2 % are lost; bounds on rate and volume leave \
    headroom for other flows.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::flag(
        "ecn",
        "true if the flow reacts to marks, for a path that marks early and often (Linux's v3 branch); the flow needs \
            echo = \"per_packet\"",
    )
    .default("false")
    .makes(Fact::Needs(Need::Marks)),
    Param::time("ecn_max_rtt", "largest minimum round-trip time at which the flow reacts to marks; 0s: any")
        .default("5ms")
        .range(0.0, 60.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    CWND,
    symbol("W_prior", "window before a recovery or ProbeRTT, to which it returns"),
    symbol("M", "payload of a segment, in bytes"),
    symbol("n", "segments that the ACK shows to have arrived"),
    symbol("I", "segments in flight"),
    symbol("b", "delivery-rate sample: segments that were delivered, over the length of the sample"),
    symbol("I_tx", "segments in flight when the newest segment of the sample was sent"),
    symbol("L", "segments lost since then"),
    symbol("b_l", "largest `b` of the loss round"),
    symbol("I_l", "most segments of a sample of the loss round"),
    symbol("max_bw", "largest `b` of this cycle of ProbeBW and the one before, in segments/s"),
    symbol("B_lo", "bw_shortterm, in segments/s; ∞ if it is not set"),
    symbol("I_lo", "inflight_shortterm, in segments; ∞ if it is not set"),
    symbol("I_hi", "inflight_longterm, in segments; ∞ if it is not set"),
    symbol("I_0", "`I_lo` before the losses of the round; `W` if it is not set"),
    symbol("bw", "the bandwidth of the model, in segments/s"),
    symbol("min_rtt", "minimum round-trip time of the last 10 s"),
    symbol("SRTT", "smoothed round-trip time"),
    symbol("α", "smoothed share of marked segments, at first 1: of each round counts 1/16"),
    symbol("g_p", "pacing gain"),
    symbol("g_w", "cwnd gain"),
    symbol("r", "pacing rate, in byte/s of payload"),
    symbol("q", "send quantum, in segments"),
    symbol("g", "a gain"),
    symbol("k", "rounds of Up so far"),
    symbol("V", "segments that fill the path, times a gain"),
    symbol("G", "the window for a volume; 2 segments more in Up"),
    symbol(
        "X",
        "extra_acked: most segments of a burst of ACKs beyond `bw`, in ten rounds; in one before the pipe is full",
    ),
    on("a segment is taken as lost, in a probe whose losses have not been answered"),
    eq("I_hi ← max(I_tx − 1, ⌊0.7 · min(V(1), W)⌋)", "§5.5.10.2")
        .when("`L > 0.02 · I_tx`, and the application does not limit sending; Up becomes Down in any case"),
    on("the first ACK of a loss round, unless in Startup, Refill or Up"),
    eq("B_lo ← max(b_l, 0.7 · B_lo)", "§5.5.10.3").when("a segment was lost; `max_bw` counts for an unset `B_lo`"),
    eq("I_lo ← max(I_l, ⌊0.7 · I_0⌋)", "").when("a segment was lost"),
    eq("I_lo ← min(I_lo, (1 − α / 3) · I_0)", "Linux bbr v3").when("`ecn`, and an ACK carried ECE"),
    on("every ACK, then in this order"),
    step("`max_bw` takes `b`; a sample limited by the application counts only if it is not smaller", "§5.5.5"),
    step(
        "Startup becomes Drain when the pipe is full: `b` has not grown by a quarter in three rounds, or six ACKs of a \
            round of a recovery had losses and `L > 0.02 · I_tx`; then `I_hi ← max(V(1), I_l)`",
        "§5.3.1",
    ),
    step("Drain becomes Down when `I ≤ G(V(1))`, or after three rounds", "§5.3.2"),
    eq("I_hi ← max(I_tx, ⌊0.7 · min(V(1), W)⌋)", "Linux bbr v3")
        .when("`ecn`, in a probe, and more than half of the sample is marked; Up becomes Down"),
    eq("I_hi ← max(I_hi, I_tx)", "§5.5.10").when("otherwise, `I_hi` is set, and `L ≤ 0.02 · I_tx`"),
    eq("I_hi ← I_hi + 1", "")
        .when("the same and in Up, for each `W / 2^k` arrived segments while `W ≥ I_hi` limits sending"),
    step(
        "Down becomes Cruise when `I ≤ 0.85 · I_hi` and `I ≤ G(V(1))`, here with `max_bw` for `bw`; Down and Cruise \
            become Refill after a random time of 2 to 3 s or `min(V(1), W, 63)` rounds; `B_lo` and `I_lo` are unset",
        "§5.3.3",
    ),
    step(
        "Refill becomes Up after a round; Up becomes Down when `b` has not grown by a quarter in three rounds, but not \
            while `W ≥ I_hi` limits sending",
        "§5.3.3",
    ),
    step(
        "every 5 s without a smaller round-trip time ProbeRTT begins, for 200 ms and a round from `I ≤ max(4, V(1 / \
            2))` on",
        "§5.3.4",
    ),
    eq("bw = min(max_bw, B_lo)", "§5.5.5"),
    step(
        "`g_p` and `g_w`: Startup 709/256 and 2, Drain 1/2 and 2, Down 0.9 and 2, Cruise and Refill 1 and 2, Up 5/4 \
            and 9/4, ProbeRTT 1 and 1/2",
        "§5.6.1",
    ),
    eq("r = 0.99 · g_p · bw · M", "§5.6.2")
        .when("the pipe is full, or it is larger; at the first round-trip sample `W / SRTT` is the bandwidth"),
    eq("q = max(2, ⌊min(\"64 KiB\", r · \"1 ms\") / M⌋)", "§5.6.3"),
    eq("V(g) = ⌈g · bw · min_rtt⌉", "§5.6.4.2").when("there is a round-trip sample; 10 before"),
    eq("G(V) = max(V, 3 · q, 4)", ""),
    eq("W ← max(W, W_prior)", "§5.6.4.4").when("a recovery or ProbeRTT ends"),
    eq("W ← min(W + n, G(V(g_w) + X))", "§5.6.4").when("the pipe is full"),
    eq("W ← W + n", "").when("the pipe is not full, and `W` is below that or fewer than ten segments have arrived"),
    eq("W ← max(4, W)", ""),
    eq("W ← min(W, max(4, V(1 / 2)))", "").when("in ProbeRTT"),
    eq("W ← min(W, max(4, min(I_hi, I_lo)))", "").when(
        "in Down, Refill and Up; in Cruise and ProbeRTT with `0.85 · I_hi`, in Startup and Drain with `I_lo` \
                  only",
    ),
    on("a timeout"),
    eq("W ← 1", "§5.6.4.4"),
];

/// Pacing gain of Startup (2.77) in 256ths.
const STARTUP_GAIN: u32 = 709;
/// Number of rounds for which aggregation is kept once the pipe is full.
const EXTRA_ROUNDS: u32 = 10;
/// The smallest window (MinPipeCwnd).
const MIN_CWND: u32 = 4;
/// The number of segments that must be delivered before the model limits the window; also the window before the first
/// round-trip sample (InitialCwnd).
const INIT_CWND: u32 = 10;
/// The number of acknowledgments with losses in one round that ends Startup (BBRStartupFullLossCnt).
const FULL_LOSSES: u8 = 6;
/// A bound that is not set.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The phase of a bandwidth probe to which the arriving acknowledgments belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Nothing,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR's state.
#[derive(Debug)]
struct Bbr3 {
    ecn: ecn::Ecn,
    /// Mode and bounds on rate and volume at the start of the last recovery (BBR.undo_*).
    undo: bounds::Undo,
    min_rtt_at: Time,
    /// Time of the minimum round-trip sample that ProbeRTT uses; [`Time::NEVER`] before the first sample.
    probe_rtt_at: Time,
    /// Earliest end of ProbeRTT; [`Time::NEVER`] until the pipe is drained.
    probe_rtt_done: Time,
    cycle_at: Time,
    /// Start of the current burst of acknowledgments.
    epoch_at: Time,
    /// Maximum number of segments delivered beyond the bandwidth, over a window of rounds.
    extra: MaxFilter,
    epoch_acked: u32,
    min_rtt_us: u32,
    probe_rtt_us: u32,
    /// Maximum delivery rates of the current ProbeBW cycle and the one before, segments per microsecond (max_bw).
    max_bw_q24: [u32; 2],
    /// Short-term bounds on the rate and on the segments in flight.
    bw_lo_q24: u32,
    inflight_lo: u32,
    /// Long-term bound: the number of segments in flight at which too many were lost.
    inflight_hi: u32,
    /// Maximum delivery rate and delivered volume in the current round.
    bw_latest_q24: u32,
    inflight_latest: u32,
    rounds: u32,
    round_end: u32,
    loss_round_end: u32,
    drain_round: u32,
    rounds_since_probe: u32,
    probe_wait_us: u32,
    /// Segments acknowledged since `inflight_hi` last grew, and (`up_per`) the number that makes it grow.
    up_acked: u32,
    up_per: u32,
    up_rounds: u32,
    full_bw_q24: u32,
    prior_cwnd: u32,
    full_rounds: u8,
    loss_events: u8,
    mode: Mode,
    acks: Acks,
    /// Congestion state at the last acknowledgment.
    was: CaState,
    round_start: bool,
    loss_round_start: bool,
    loss_in_round: bool,
    full: bool,
    full_now: bool,
    /// True if acknowledgments may belong to segments sent in a probe whose losses have not been answered yet.
    probe_sample: bool,
    probe_too_high: bool,
    precautionary: bool,
    idle_restart: bool,
    probe_rtt_expired: bool,
    probe_rtt_round: bool,
    seen_rtt: bool,
}

/// Builds the controller.
pub fn build(args: &Args) -> Result<Box<dyn Controller>, Refusal> {
    Ok(Box::new(Bbr3 {
        ecn: ecn::Ecn::new(args),
        undo: bounds::Undo::default(),
        min_rtt_at: Time::NEVER,
        probe_rtt_at: Time::NEVER,
        probe_rtt_done: Time::NEVER,
        cycle_at: Time::ZERO,
        epoch_at: Time::ZERO,
        extra: MaxFilter::default(),
        epoch_acked: 0,
        min_rtt_us: NONE,
        probe_rtt_us: NONE,
        max_bw_q24: [0; 2],
        bw_lo_q24: NONE,
        inflight_lo: NONE,
        inflight_hi: NONE,
        bw_latest_q24: 0,
        inflight_latest: 0,
        rounds: 0,
        round_end: 0,
        loss_round_end: 0,
        drain_round: 0,
        rounds_since_probe: 0,
        probe_wait_us: 0,
        up_acked: 0,
        up_per: NONE,
        up_rounds: 0,
        full_bw_q24: 0,
        prior_cwnd: 0,
        full_rounds: 0,
        loss_events: 0,
        mode: Mode::Startup,
        acks: Acks::Nothing,
        was: CaState::Open,
        round_start: false,
        loss_round_start: false,
        loss_in_round: false,
        full: false,
        full_now: false,
        probe_sample: false,
        probe_too_high: false,
        precautionary: false,
        idle_restart: false,
        probe_rtt_expired: false,
        probe_rtt_round: false,
        seen_rtt: false,
    }))
}

impl Controller for Bbr3 {
    fn needs(&self) -> Needs {
        Needs { full_control: true, rate: true, ..Needs::default() }
    }

    // §5.2.3.
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        let bw = if ack.rate.is_valid() { path::bandwidth_q24(ack.rate.delivered, ack.rate.interval_us) } else { 0 };
        self.update_latest(w, ack, bw);
        self.update_congestion(w, ack, bw);
        self.update_aggregation(cx.now, w, ack);
        self.check_full(ack, bw);
        self.check_startup(w, ack);
        if self.mode == Mode::Drain
            && (w.inflight <= self.inflight(w, UNIT) || self.rounds > self.drain_round.saturating_add(3))
        {
            self.start_down(cx, w);
        }
        self.update_cycle(cx, w, ack, bw);
        self.update_min_rtt(cx, w, ack);
        if self.loss_round_start {
            self.bw_latest_q24 = bw;
            self.inflight_latest = ack.rate.delivered;
        }
        self.set_pacing(w, ack.srtt_us, self.pacing_gain());
        self.set_cwnd(w, ack);
    }

    fn on_lost(&mut self, cx: &mut Cx, w: &mut Window, lost: &RateSample) {
        self.note_loss(cx, w, lost);
    }

    fn on_congestion(&mut self, _: &mut Cx, w: &Window, _: Option<&Ack>, why: Signal) -> Response {
        match why {
            Signal::Loss { .. } => {
                self.save(w);
                self.save_bounds();
            }
            // §5.6.4.4: the segments in flight, which are none, plus one.
            Signal::Timeout { .. } => {
                self.save(w);
                self.was = CaState::Loss;
                return Response { cwnd: 1, ..Response::keep(w) };
            }
            Signal::Ecn | Signal::Local => {}
        }
        Response::keep(w)
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.restore_bounds(w);
    }

    // §5.4.1.
    fn on_restart(&mut self, w: &mut Window, now: Time, _: Span) {
        if w.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.epoch_at = now;
        self.epoch_acked = 0;
        if self.in_probe_bw() {
            self.set_pacing(w, 0, UNIT);
        } else if self.mode == Mode::ProbeRtt {
            self.probe_rtt_round = true;
        }
    }
}

/// The send quantum in segments: the data of one millisecond, from 2 segments to 64 kB (§5.6.3).
fn quantum(w: &Window) -> u32 {
    ((w.pacing_rate / 1000).min(65_536) / u64::from(w.mss.max(1))).max(2) as u32
}

impl Bbr3 {
    fn in_probe_bw(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    // §5.6.1.
    fn pacing_gain(&self) -> u32 {
        match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => UNIT / 2,
            Mode::Down => UNIT * 9 / 10,
            Mode::Up => UNIT * 5 / 4,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => UNIT,
        }
    }

    fn cwnd_gain(&self) -> u32 {
        match self.mode {
            Mode::Up => UNIT * 9 / 4,
            Mode::ProbeRtt => UNIT / 2,
            _ => 2 * UNIT,
        }
    }

    fn max_bw_q24(&self) -> u32 {
        self.max_bw_q24[0].max(self.max_bw_q24[1])
    }

    /// The bandwidth within the bounds of the model (BoundBWForModel).
    fn bw_q24(&self) -> u32 {
        self.max_bw_q24().min(self.bw_lo_q24)
    }

    /// The number of segments that fill the path, times `gain` (BDPMultiple).
    fn volume(&self, gain: u32) -> u32 {
        if self.min_rtt_us == NONE { INIT_CWND } else { path::volume(self.bw_q24(), self.min_rtt_us, gain) }
    }

    /// The volume, but at least three quanta and at least four segments (QuantizationBudget).
    fn budget(&self, w: &Window, volume: u32) -> u32 {
        let least = volume.max(3 * quantum(w)).max(MIN_CWND);
        least.saturating_add(if self.mode == Mode::Up { 2 } else { 0 })
    }

    fn inflight(&self, w: &Window, gain: u32) -> u32 {
        self.budget(w, self.volume(gain))
    }

    fn target_inflight(&self, w: &Window) -> u32 {
        self.volume(UNIT).min(w.cwnd)
    }

    fn start_round(&mut self, w: &Window) {
        self.round_end = w.delivered;
    }

    // §5.5.9.
    fn update_aggregation(&mut self, now: Time, w: &Window, ack: &Ack) {
        if ack.delivered == 0 {
            return;
        }
        let excess = path::excess(self.bw_q24(), now, ack.delivered, &mut self.epoch_at, &mut self.epoch_acked);
        let extra = excess.min(u128::from(w.cwnd)) as u32;
        self.extra.update(if self.full { EXTRA_ROUNDS } else { 1 }, self.rounds, extra);
    }

    fn reset_full(&mut self, bw: u32) {
        self.full_bw_q24 = bw;
        self.full_rounds = 0;
        self.full_now = false;
    }

    // §5.3.1.2.
    fn check_full(&mut self, ack: &Ack, bw: u32) {
        if self.full_now || !self.round_start || ack.rate.app_limited {
            return;
        }
        if u64::from(bw) * 4 >= u64::from(self.full_bw_q24) * 5 {
            self.reset_full(bw);
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= 3;
        self.full |= self.full_now;
    }

    // §5.3.1.1, §5.3.1.3.
    fn check_startup(&mut self, w: &mut Window, ack: &Ack) {
        if !self.full {
            self.loss_events = self.loss_events.saturating_add(u8::from(ack.rate.losses > 0));
            let many = self.loss_events >= FULL_LOSSES && bounds::too_high(ack.rate.lost, ack.rate.tx_in_flight);
            if self.loss_round_start && w.state == CaState::Recovery && many {
                self.end_startup();
            }
            if self.loss_round_start {
                self.loss_events = 0;
            }
        }
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            self.drain_round = self.rounds;
            w.ssthresh = self.inflight(w, UNIT);
        }
    }

    /// Ends Startup: pipe and queue are full. The volume delivered in the round becomes the long-term bound.
    fn end_startup(&mut self) {
        self.full = true;
        self.inflight_hi = self.volume(UNIT).max(self.inflight_latest);
    }

    /// Saves the window for restoration (SaveCwnd).
    fn save(&mut self, w: &Window) {
        let good = (self.was as u8) < CaState::Recovery as u8 && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { w.cwnd } else { self.prior_cwnd.max(w.cwnd) };
    }

    // §5.6.2.
    fn set_pacing(&mut self, w: &mut Window, srtt_us: u32, gain: u32) {
        if !self.seen_rtt && srtt_us > 0 {
            self.seen_rtt = true;
            w.pacing_rate = path::pacing_rate(path::bandwidth_q24(w.cwnd, srtt_us), w.mss, STARTUP_GAIN);
        }
        let rate = path::pacing_rate(self.bw_q24(), w.mss, gain);
        if self.full || rate > w.pacing_rate {
            w.pacing_rate = rate;
        }
    }

    // §5.6.4.
    fn set_cwnd(&mut self, w: &mut Window, ack: &Ack) {
        let recovering = |s: CaState| s as u8 >= CaState::Recovery as u8;
        if recovering(self.was) && !recovering(w.state) {
            w.cwnd = w.cwnd.max(self.prior_cwnd);
        }
        self.was = w.state;
        let most = self.budget(w, self.volume(self.cwnd_gain()).saturating_add(self.extra.get()));
        if self.full {
            w.cwnd = w.cwnd.saturating_add(ack.delivered).min(most);
        } else if w.cwnd < most || w.delivered < INIT_CWND {
            w.cwnd = w.cwnd.saturating_add(ack.delivered);
        }
        w.cwnd = w.cwnd.max(MIN_CWND);
        if self.mode == Mode::ProbeRtt {
            w.cwnd = w.cwnd.min(self.probe_rtt_cwnd());
        }
        // BoundCwndForModel.
        let hi = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_hi,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
            Mode::Startup | Mode::Drain => NONE,
        };
        w.cwnd = w.cwnd.min(hi.min(self.inflight_lo).max(MIN_CWND));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_has_the_size_that_is_stated() {
        // More than 104 bytes: this controller needs a kernel with Linux's `v3` branch.
        assert_eq!(size_of::<Bbr3>(), 208);
    }
}
