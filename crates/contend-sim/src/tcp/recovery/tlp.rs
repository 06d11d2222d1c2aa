//! Tail loss probes (RFC 8985 §7): if the end of a flight may be lost, a segment is sent after two round trips, before
//! the retransmission timer expires.
//!
//! A probe is a new segment, or the last segment again. If the retransmitted segment repairs a loss, nothing is missing
//! and no episode begins, but the controller still reduces the window. A D-SACK shows that the probe was not needed; so
//! does a plain duplicate ACK from a receiver without D-SACK.

use super::{Args, Forced, Phase, Scoreboard, SenderView};
use contend_core::{Span, Time};

/// RFC 8985 §7.2: the probe's time before the first round-trip sample.
const FIRST_PTO: Span = Span::from_secs(1);

/// What an acknowledgment says about the probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing, or the probe was a new segment that has arrived.
    Nothing,
    /// The probe repaired a loss.
    Repaired,
    /// The probe's data had arrived before.
    NotNeeded,
}

/// The probe state of a connection.
#[derive(Debug)]
pub struct Tlp {
    on: bool,
    max_ack_delay: Span,
    /// When a probe is due.
    at: Time,
    /// Oldest unacknowledged byte and next new byte when `at` was set.
    set_for: Option<(u64, u64)>,
    /// True if a probe is sent now.
    probing: bool,
    /// Next new byte when the probe was sent, until the result of the probe is known (`TLP.end_seq`).
    end: Option<u64>,
    /// True if the probe was a retransmission (`TLP.is_retrans`).
    is_retrans: bool,
}

impl Tlp {
    /// No probe sent. `tlp` and `max_ack_delay` are from the parameters.
    pub fn new(args: &Args) -> Tlp {
        let (on, max_ack_delay) = (args.flag("tlp"), args.time("max_ack_delay"));
        Tlp { on, max_ack_delay, at: Time::NEVER, set_for: None, probing: false, end: None, is_retrans: false }
    }

    /// RFC 8985 §7.4.2: what the acknowledgment says about the probe.
    pub fn on_ack(&mut self, v: &SenderView) -> Told {
        let Some(end) = self.end.filter(|&end| v.una >= end) else { return Told::Nothing };
        let duplicate = v.dsack.is_some_and(|d| d.1 == end) || (v.una == end && !v.advanced && v.sacked == 0);
        let told = match self.is_retrans {
            false => Told::Nothing,
            true if duplicate => Told::NotNeeded,
            true if v.una > end => Told::Repaired,
            // All data are acknowledged, by the probe or by the segment that it repeats. The next acknowledgment
            // decides.
            true => return Told::Nothing,
        };
        self.end = None;
        told
    }

    /// RFC 8985 §7.4.1: a recovery begins, which replaces the probe.
    pub fn forget(&mut self) {
        self.at = Time::NEVER;
        self.end = None;
    }

    /// RFC 8985 §7.2: a segment may have been sent; sets the timer in `phase`.
    pub fn on_sent(&mut self, v: &SenderView, phase: Phase, board: &Scoreboard) {
        if std::mem::take(&mut self.probing) {
            self.end = Some(v.nxt);
        }
        // No probe in recovery, while any segment is selectively acknowledged, or while a probe is under way.
        let open = self.on && phase == Phase::Open && board.sacked() == 0 && self.end.is_none();
        if !open || board.outstanding() == 0 {
            (self.at, self.set_for) = (Time::NEVER, None);
        } else if self.set_for != Some((v.una, v.nxt)) {
            self.set_for = Some((v.una, v.nxt));
            let delayed = if board.outstanding() == 1 { self.max_ack_delay } else { Span::ZERO };
            let pto = v.rtt.map_or(FIRST_PTO, |(srtt, _)| srtt * 2 + delayed);
            // The probe is not later than the retransmission timer, which is then postponed.
            self.at = v.now.saturating_add(pto).min(v.timeout_at);
        }
    }

    /// RFC 8985 §7.3: the probe that is due: a new segment if there is one (`fresh`), otherwise the last segment again.
    pub fn probe(&mut self, v: &SenderView, fresh: bool) -> Option<Forced> {
        if v.now < self.at {
            return None;
        }
        self.at = Time::NEVER;
        self.probing = true;
        self.is_retrans = !fresh;
        Some(if fresh { Forced::Fresh } else { Forced::Last })
    }

    /// When a probe is due.
    pub fn deadline(&self) -> Time {
        self.at
    }
}
