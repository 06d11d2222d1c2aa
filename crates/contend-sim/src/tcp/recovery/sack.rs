//! Recovery by selective acknowledgments (RFC 6675). It repairs several losses in one round trip, limited by an
//! estimate of the data in the network.
//!
//! - The scoreboard computes this estimate (`pipe`), finds lost segments, and selects the next segment to send. This
//!   file decides when an episode begins and ends.
//! - A hole is lost when `dupthresh` segments above it have arrived. The RFC counts bytes; for full segments the result
//!   is the same.
//! - `repeat`: the first hole is retransmitted, and not only after a timeout, when its retransmission seems lost.
//! - Selective acknowledgments are kept after a timeout; the receiver never withdraws one.

use super::{DUPTHRESH, Enter, Forced, HALVE_FROM, Options, Phase, Recovery, SenderView, Spare, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::{Line, on, step, symbol};
use contend_core::registry::{Args, Param};
use contend_core::{Span, Time};

/// Where it comes from.
pub const CITE: &str = "RFC 6675; RFC 2018";
/// What it does.
pub const SUMMARY: &str =
    "Repairs every loss that selective acknowledgments show; as fast as the reduced window allows.";
/// Its parameters.
pub const PARAMS: &[Param] = &[DUPTHRESH, HALVE_FROM, RESCUE, repeat("0")];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "duplicate ACKs since the last ACK of new data"),
    symbol("una", "oldest byte that is not acknowledged"),
    symbol("recover", "RecoveryPoint: one past the highest byte sent when the episode began"),
    symbol("pipe", "segments that are taken to be in the network: sent, not arrived and not lost"),
    symbol("W", "cwnd: the congestion window, in segments"),
    symbol("SRTT", "smoothed round-trip time"),
    on("an ACK"),
    step("a segment is lost", "RFC 6675 §4, IsLost").when("`dupthresh` segments above it have arrived"),
    step("an episode ends, also that of a timeout", "§5").when("`una ≥ recover`"),
    step("an episode begins: the controller reduces the window, the first segment is sent again", "§5 step 4")
        .when("there is none, and a segment is lost or `n ≥ dupthresh`"),
    step("the controller may open the window", "").when("the ACK is of new data and there was no fast recovery"),
    on("room in an episode: `pipe < W`"),
    step("the first lost segment that was not sent again is sent", "§4, NextSeg rule 1"),
    step("a new segment is sent", "rule 2").when("no such one is left"),
    step("the next hole below the highest segment that has arrived is sent", "rule 3")
        .when("there is no new one either"),
    step("the last segment that has not arrived is sent, once per episode", "rule 4")
        .when("nothing else is left, with `rescue`"),
    on("no new acknowledgment in an episode for `repeat · SRTT`, with `repeat > 0`"),
    step("the first segment is sent once more", "not in RFC 6675"),
    on("a timeout"),
    step("all that has not arrived is lost; `recover` is set, and no episode begins before `una ≥ recover`", "§5.1"),
];

/// The `rescue` parameter.
pub(super) const RESCUE: Param = Param::flag(
    "rescue",
    "true if the last outstanding segment is retransmitted when there is nothing else to send, once per episode (RFC \
        6675 §4 rule 4)",
)
.default("true");

/// The `repeat` parameter.
pub(super) const fn repeat(default: &'static str) -> Param {
    Param::number(
        "repeat",
        "smoothed round trips without a new acknowledgment of any kind after which the first hole is sent once more; \
            0: never, as in RFC 6675, which waits for the timeout",
    )
    .default(default)
    .range(0.0, 100.0)
}

#[derive(Debug)]
struct Sack {
    options: Options,
    rescue: bool,
    phase: Phase,
    count: u32,
    /// One past the highest byte sent when the episode began (RFC 6675 §5 RecoveryPoint).
    recover: u64,
    /// The cumulative acknowledgment after which another rescue is allowed (RFC 6675 §4 RescueRxt).
    rescued: Option<u64>,
    /// `repeat` in 1024ths.
    repeat_1024: u64,
    /// When the first hole is sent once more.
    repeat_at: Time,
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(Sack {
        options: Options::from_args(args, true),
        rescue: args.flag("rescue"),
        phase: Phase::Open,
        count: 0,
        recover: 0,
        rescued: None,
        repeat_1024: (args.number("repeat") * 1024.0) as u64,
        repeat_at: Time::NEVER,
    }))
}

impl Sack {
    /// Waits from now on for the next acknowledgment, if an episode lasts.
    fn wait(&mut self, v: &SenderView) {
        let waits = self.repeat_1024 > 0 && self.phase == Phase::Fast;
        let wait = v.rtt.filter(|_| waits).map(|(srtt, _)| Span::from_nanos(srtt.as_nanos() * self.repeat_1024 / 1024));
        self.repeat_at = wait.map_or(Time::NEVER, |wait| v.now.saturating_add(wait));
    }
}

impl Recovery for Sack {
    fn on_ack(&mut self, v: &SenderView, board: &mut Scoreboard) -> Verdict {
        let was = self.phase;
        if v.advanced {
            self.count = 0;
            if matches!(was, Phase::Open | Phase::Disorder) || v.una >= self.recover {
                self.phase = Phase::Open;
            }
        } else if v.dup {
            self.count = self.count.saturating_add(1);
        }
        if matches!(self.phase, Phase::Open | Phase::Disorder)
            && (board.lost() > 0 || self.count >= self.options.dupthresh)
        {
            // RFC 6675 §5 step 4: reduce the window, and send the first hole independent of the window.
            self.phase = Phase::Fast;
            self.recover = v.nxt;
            self.rescued = None;
            self.count = 0;
            self.wait(v);
            return Verdict { enter: Some(Enter::Base), send: Some(Forced::Head), ..Verdict::default() };
        }
        if v.dup && self.phase == Phase::Open {
            self.phase = Phase::Disorder;
        }
        if v.advanced || v.sacked > 0 {
            self.wait(v);
        }
        Verdict { grow: v.advanced && was != Phase::Fast, ..Verdict::default() }
    }

    fn on_timer(&mut self, v: &SenderView, _: bool, _: &mut Scoreboard) -> Verdict {
        if v.now < self.repeat_at {
            return Verdict::default();
        }
        self.wait(v);
        Verdict { send: Some(Forced::Head), ..Verdict::default() }
    }

    fn next_deadline(&self) -> Time {
        self.repeat_at
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        board.lose_all();
        // RFC 6675 §5.1: no new episode before all data sent so far are acknowledged.
        self.phase = Phase::Loss;
        self.recover = v.nxt;
        self.count = 0;
        self.repeat_at = Time::NEVER;
    }

    fn spare(&mut self, v: &SenderView, hole: bool) -> Spare {
        // RFC 6675 §4 NextSeg rules 3 and 4.
        if hole {
            return Spare::Hole;
        }
        if self.rescue && self.rescued.is_none_or(|r| v.una > r) {
            self.rescued = Some(self.recover);
            return Spare::Last;
        }
        Spare::Nothing
    }

    fn options(&self) -> Options {
        self.options
    }

    fn phase(&self) -> Phase {
        self.phase
    }
}
