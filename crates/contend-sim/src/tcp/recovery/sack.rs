//! Recovery by selective acknowledgments (RFC 6675). It repairs several losses in one round trip, limited by an
//! estimate of the data in the network.
//!
//! - The scoreboard computes this estimate (`pipe`), finds lost segments, and selects the next segment to send. This
//!   file decides when an episode begins and ends.
//! - A hole is lost when `dupthresh` segments above it have arrived. The RFC counts bytes; for full segments the result
//!   is the same.
//! - Selective acknowledgments are kept after a timeout; the receiver never withdraws one.

use super::{DUPTHRESH, Enter, Forced, HALVE_FROM, Options, Phase, Recovery, SenderView, Spare, Verdict};
use crate::tcp::scoreboard::Scoreboard;
use contend_core::registry::{Args, Param};

/// Where it comes from.
pub const CITE: &str = "RFC 6675; RFC 2018";
/// What it does.
pub const SUMMARY: &str =
    "Repairs every loss that selective acknowledgments show; as fast as the reduced window allows.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    DUPTHRESH,
    HALVE_FROM,
    Param::flag(
        "rescue",
        "true if the last outstanding segment is sent again when there is nothing else to send, once per episode (RFC \
            6675 §4 rule 4)",
    )
    .default("true"),
];

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
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, String> {
    Ok(Box::new(Sack {
        options: Options::from_args(args, true),
        rescue: args.flag("rescue"),
        phase: Phase::Open,
        count: 0,
        recover: 0,
        rescued: None,
    }))
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
            return Verdict { enter: Some(Enter::Base), send: Some(Forced::Head), ..Verdict::default() };
        }
        if v.dup && self.phase == Phase::Open {
            self.phase = Phase::Disorder;
        }
        Verdict { grow: v.advanced && was != Phase::Fast, ..Verdict::default() }
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        board.lose_all();
        // RFC 6675 §5.1: no new episode before all data sent so far are acknowledged.
        self.phase = Phase::Loss;
        self.recover = v.nxt;
        self.count = 0;
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
