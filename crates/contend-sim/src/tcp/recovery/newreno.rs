//! NewReno: fast recovery that lasts until everything outstanding at its beginning is acknowledged (RFC 6582).
//!
//! - Each partial ACK reveals the next hole, which is retransmitted at once.
//! - Deflation by a partial ACK stops at the base window; the RFC's formula may go below it.
//! - At the end of recovery the window is the base window (RFC 6582 §3.2 step 3, second option, as in ns-2).

use super::reno::Reno;
use super::{DUPTHRESH, Forced, GUARD, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};

/// Where it comes from.
pub const CITE: &str = "RFC 6582";
/// What it does.
pub const SUMMARY: &str =
    "Fast recovery that lasts until the whole window is acknowledged; it repairs one loss per round trip.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    DUPTHRESH,
    HALVE_FROM,
    GUARD.default("always"),
    Param::word(
        "variant",
        &["impatient", "slow-but-steady"],
        "when the retransmission timer restarts. impatient: at the first partial ACK only; slow-but-steady: at each \
            partial ACK",
    )
    .default("impatient"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "duplicate ACKs since the last ACK of new data, outside fast recovery"),
    symbol("una", "oldest byte that is not acknowledged"),
    symbol("recover", "one past the highest byte sent when the last episode or timeout began"),
    symbol("a", "segments that the ACK newly covers"),
    symbol("extra", "segments by which duplicates inflate the window"),
    on("a duplicate ACK outside fast recovery"),
    eq("n ← n + 1", "RFC 6582 §3.2 step 2"),
    step("fast recovery begins: the controller reduces the window, and the first segment is sent again", "")
        .when("`n = dupthresh`, and `guard` permits it: `una > recover`, where it asks for that"),
    eq("extra ← dupthresh", "RFC 5681 §3.2 step 3").when("it begins"),
    eq("extra ← min(n, dupthresh − 1)", "RFC 3042")
        .when("it does not, limited transmit is on and no timeout is being repaired"),
    on("a duplicate ACK in fast recovery"),
    eq("extra ← extra + 1", "RFC 5681 §3.2 step 4"),
    on("an ACK of new data in fast recovery, with `una < recover`"),
    eq("extra ← max(0, extra − a) + 1", "RFC 6582 §3.2 step 3"),
    step("the first segment is sent again", ""),
    step("the retransmission timer restarts", "").when("it is the first such ACK, or `variant` is slow-but-steady"),
    on("another ACK of new data"),
    step("`extra ← 0`, `n ← 0`, and fast recovery ends", ""),
    step("the controller may open the window", "").when("there was no fast recovery"),
    on("a timeout"),
    step("all that is outstanding is sent again, and `extra ← 0`", "step 4"),
];

#[derive(Debug)]
struct NewReno {
    reno: Reno,
    impatient: bool,
    /// True if this episode has seen a partial ACK.
    partial: bool,
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(NewReno {
        reno: Reno::new(args),
        impatient: args.word("variant") != "slow-but-steady",
        partial: false,
    }))
}

impl NewReno {
    fn partial_ack(&mut self, v: &SenderView) -> Verdict {
        // RFC 6582 §3.2 step 3: deflate by the acknowledged segments, then add one segment.
        self.reno.extra = self.reno.extra.saturating_sub(v.acked).saturating_add(1);
        let first = !std::mem::replace(&mut self.partial, true);
        Verdict {
            send: Some(Forced::Head),
            extra: self.reno.extra,
            keep_timer: self.impatient && !first,
            ..Verdict::default()
        }
    }
}

impl Recovery for NewReno {
    fn on_ack(&mut self, v: &SenderView, board: &mut Scoreboard) -> Verdict {
        if v.advanced && self.phase() == Phase::Fast && v.una < self.reno.dups.recover {
            return self.partial_ack(v);
        }
        let verdict = self.reno.on_ack(v, board);
        self.partial &= verdict.enter.is_none();
        verdict
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        self.reno.on_timeout(v, board);
    }

    fn options(&self) -> Options {
        self.reno.options()
    }

    fn phase(&self) -> Phase {
        self.reno.phase()
    }
}
