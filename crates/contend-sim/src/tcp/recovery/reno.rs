//! Reno: fast retransmit and fast recovery (RFC 5681 §3.2). Recovery ends at the first ACK that covers new data.
//!
//! - The inflation by duplicates is in `extra`, not in the window.
//! - `guard = "always"` is ns-2's default. A second loss in the same window then always waits for the timer.

use super::{DUPTHRESH, Duplicates, GUARD, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};

/// Where it comes from.
pub const CITE: &str = "RFC 5681 §3.2";
/// What it does.
pub const SUMMARY: &str = "Fast retransmit, and fast recovery that ends at the first new ACK; repairs one loss per \
    window, and a second one often waits for the timer.";
/// Its parameters.
pub const PARAMS: &[Param] = &[DUPTHRESH, HALVE_FROM, GUARD];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "duplicate ACKs since the last ACK of new data, outside fast recovery"),
    symbol("una", "oldest byte that is not acknowledged"),
    symbol("recover", "one past the highest byte sent when the last episode or timeout began"),
    symbol("extra", "segments by which duplicates inflate the window"),
    on("a duplicate ACK outside fast recovery"),
    eq("n ← n + 1", "RFC 5681 §3.2 step 1"),
    step(
        "fast recovery begins: the controller reduces the window, and the first segment is sent again",
        "steps 2 and 3",
    )
    .when("`n = dupthresh`, and `guard` permits it: `una > recover`, where it asks for that"),
    eq("extra ← dupthresh", "step 3").when("it begins"),
    eq("extra ← min(n, dupthresh − 1)", "RFC 3042")
        .when("it does not, limited transmit is on and no timeout is being repaired"),
    on("a duplicate ACK in fast recovery"),
    eq("extra ← extra + 1", "RFC 5681 §3.2 step 4"),
    on("an ACK of new data"),
    step("`extra ← 0`, `n ← 0`, and fast recovery ends", "step 6"),
    step("the controller may open the window", "").when("there was no fast recovery"),
    on("a timeout"),
    step("all that is outstanding is sent again, and `extra ← 0`", "§3.1"),
];

/// Reno, which NewReno changes in one step.
#[derive(Debug)]
pub(super) struct Reno {
    pub dups: Duplicates,
    /// Segments by which duplicates inflate the window.
    pub extra: u32,
}

impl Reno {
    pub fn new(args: &Args) -> Reno {
        Reno { dups: Duplicates::new(args), extra: 0 }
    }
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(Reno::new(args)))
}

impl Recovery for Reno {
    fn on_ack(&mut self, v: &SenderView, _: &mut Scoreboard) -> Verdict {
        let fast = self.dups.phase == Phase::Fast;
        if v.advanced {
            // RFC 5681 §3.2 step 6: the window deflates, and does not grow on this ACK.
            self.extra = 0;
            self.dups.advance(v);
            return Verdict { grow: !fast, ..Verdict::default() };
        }
        self.dups.duplicate(v, &mut self.extra)
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        board.lose_all();
        self.extra = 0;
        self.dups.enter(v, Phase::Loss);
    }

    fn options(&self) -> Options {
        self.dups.options
    }

    fn phase(&self) -> Phase {
        self.dups.phase
    }
}
