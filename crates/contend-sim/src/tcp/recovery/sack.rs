//! Recovery from selective acknowledgments (RFC 6675): several losses in one round trip, held by an estimate of what is
//! in the network.
//!
//! - The scoreboard keeps that estimate (`pipe`), finds what is lost, and names what to send next; here is decided when
//!   an episode begins and ends.
//! - A hole is lost when `dupthresh` segments above it have arrived; the RFC counts bytes, which is the same for full
//!   segments.
//! - Selective acknowledgments outlive a timeout; the receiver never takes one back.

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
    /// Cumulative acknowledgment that another rescue must wait for (RFC 6675 §4 RescueRxt).
    rescued: Option<u64>,
}

/// Makes one.
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
            // RFC 6675 §5 step 4: halve, and send the first hole whatever the window says.
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
        // RFC 6675 §5.1: no new episode before all that was sent is acknowledged.
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
