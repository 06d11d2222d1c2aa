//! NewReno: fast recovery that lasts until everything outstanding at its beginning is acknowledged (RFC 6582).
//!
//! - Each partial ACK reveals the next hole, which is retransmitted at once.
//! - Deflation by a partial ACK stops at the base window; the RFC's formula may go below it.
//! - At the end of recovery the window is the base window (RFC 6582 §3.2 step 3, second option, as in ns-2).

use super::reno::Reno;
use super::{DUPTHRESH, Forced, GUARD, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::formulas::Line;
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
pub const FORMULAS: &[Line] = &[];

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
