//! Tail loss probes (RFC 8985 §7): when the end of a flight may be lost, a segment goes out after two round trips
//! instead of waiting for the timer.
//!
//! A probe is a new segment, or the last one again. When that one has repaired a loss, nothing is missing and no
//! episode begins, but the loss is answered all the same; a D-SACK, or from a receiver that sends none a bare
//! duplicate, tells that it was not needed.

use super::{Args, Forced, Phase, Scoreboard, SenderView};
use contend_core::{Span, Time};

/// RFC 8985 §7.2: the probe's time before the first round-trip sample.
const FIRST_PTO: Span = Span::from_secs(1);

/// What an acknowledgment tells of the probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing, or that it was a new segment that has arrived.
    Nothing,
    /// It repaired a loss.
    Repaired,
    /// What it carried had arrived before.
    NotNeeded,
}

/// The probes of a connection.
#[derive(Debug)]
pub struct Tlp {
    on: bool,
    max_ack_delay: Span,
    /// When a probe is due.
    at: Time,
    /// Oldest unacknowledged and next new byte when `at` was set.
    set_for: Option<(u64, u64)>,
    /// A probe goes out now.
    probing: bool,
    /// Next new byte when the probe was sent, until it is known what became of it (`TLP.end_seq`).
    end: Option<u64>,
    /// True if the probe was a segment sent before (`TLP.is_retrans`).
    is_retrans: bool,
}

impl Tlp {
    /// No probe sent; `tlp` and `max_ack_delay` from the parameters.
    pub fn new(args: &Args) -> Tlp {
        let (on, max_ack_delay) = (args.flag("tlp"), args.time("max_ack_delay"));
        Tlp { on, max_ack_delay, at: Time::NEVER, set_for: None, probing: false, end: None, is_retrans: false }
    }

    /// RFC 8985 §7.4.2: what the acknowledgment tells of the probe.
    pub fn on_ack(&mut self, v: &SenderView) -> Told {
        let Some(end) = self.end.filter(|&end| v.una >= end) else { return Told::Nothing };
        let duplicate = v.dsack.is_some_and(|d| d.1 == end) || (v.una == end && !v.advanced && v.sacked == 0);
        let told = match self.is_retrans {
            false => Told::Nothing,
            true if duplicate => Told::NotNeeded,
            true if v.una > end => Told::Repaired,
            // All is acknowledged, by the probe or by what it repeats: the next acknowledgment tells.
            true => return Told::Nothing,
        };
        self.end = None;
        told
    }

    /// RFC 8985 §7.4.1: a recovery begins, which looks after everything itself.
    pub fn forget(&mut self) {
        self.at = Time::NEVER;
        self.end = None;
    }

    /// RFC 8985 §7.2: something may have left; sets the timer in `phase`.
    pub fn on_sent(&mut self, v: &SenderView, phase: Phase, board: &Scoreboard) {
        if std::mem::take(&mut self.probing) {
            self.end = Some(v.nxt);
        }
        // No probe in recovery, while anything is selectively acknowledged, or while one is under way.
        let open = self.on && phase == Phase::Open && board.sacked() == 0 && self.end.is_none();
        if !open || board.outstanding() == 0 {
            (self.at, self.set_for) = (Time::NEVER, None);
        } else if self.set_for != Some((v.una, v.nxt)) {
            self.set_for = Some((v.una, v.nxt));
            let delayed = if board.outstanding() == 1 { self.max_ack_delay } else { Span::ZERO };
            let pto = v.rtt.map_or(FIRST_PTO, |(srtt, _)| srtt * 2 + delayed);
            // Not after the retransmission timer, which then waits for the probe.
            self.at = v.now.saturating_add(pto).min(v.timeout_at);
        }
    }

    /// RFC 8985 §7.3: the probe to send, when one is due: a new segment, or the last one again.
    pub fn probe(&mut self, v: &SenderView) -> Option<Forced> {
        if v.now < self.at {
            return None;
        }
        self.at = Time::NEVER;
        self.probing = true;
        self.is_retrans = !v.fresh;
        Some(if v.fresh { Forced::Fresh } else { Forced::Last })
    }

    /// When a probe is due.
    pub fn deadline(&self) -> Time {
        self.at
    }
}
