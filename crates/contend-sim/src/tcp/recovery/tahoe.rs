//! Tahoe: the third duplicate ACK has the same effect as a timeout, but earlier.
//!
//! The first unacknowledged segment is retransmitted, and the window restarts at one segment in slow start. All
//! outstanding data are retransmitted in order, unless an acknowledgment covers them first (go-back-N).

use super::{DUPTHRESH, Duplicates, Enter, GUARD, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};

/// Where it comes from.
pub const CITE: &str = "Jacobson 1988; Fall and Floyd 1996 §2";
/// What it does.
pub const SUMMARY: &str = "Fast retransmit without fast recovery; the third duplicate ACK sets the window to one \
    segment, and all outstanding data are retransmitted.";
/// Its parameters.
pub const PARAMS: &[Param] = &[DUPTHRESH, HALVE_FROM, GUARD];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "duplicate ACKs since the last ACK of new data"),
    symbol("una", "oldest byte that is not acknowledged"),
    symbol("recover", "one past the highest byte sent when the last episode or timeout began"),
    symbol("W", "cwnd: the congestion window, in segments"),
    symbol("extra", "segments that may be sent beyond the window"),
    on("a duplicate ACK"),
    eq("n ← n + 1", "Fall and Floyd 1996 §2"),
    step("the threshold is the controller's answer to a loss, `W ← 1`, and all that is outstanding is sent again", "")
        .when("`n = dupthresh`, and `guard` permits it: `una > recover`, where it asks for that"),
    eq("extra ← min(n, dupthresh − 1)", "RFC 3042")
        .when("fewer came, limited transmit is on and no timeout or restart is being repaired"),
    on("an ACK of new data"),
    step("`n ← 0`, `extra ← 0`; the controller may open the window", "Fall and Floyd 1996 §2"),
    on("a timeout"),
    step("all that is outstanding is sent again", ""),
];

#[derive(Debug)]
struct Tahoe(Duplicates);

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(Tahoe(Duplicates::new(args))))
}

impl Recovery for Tahoe {
    fn on_ack(&mut self, v: &SenderView, _: &mut Scoreboard) -> Verdict {
        if v.advanced {
            self.0.advance(v);
            return Verdict { grow: true, ..Verdict::default() };
        }
        if !v.dup {
            return Verdict::default();
        }
        match self.0.outside(v) {
            Ok(()) => {
                // The restart leaves the same duplicates behind as a timeout does.
                self.0.enter(v, Phase::Loss);
                Verdict { enter: Some(Enter::Restart), ..Verdict::default() }
            }
            Err(extra) => Verdict { extra, ..Verdict::default() },
        }
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        board.lose_all();
        self.0.enter(v, Phase::Loss);
    }

    fn options(&self) -> Options {
        self.0.options
    }

    fn phase(&self) -> Phase {
        self.0.phase
    }
}
