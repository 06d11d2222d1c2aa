//! RACK-TLP (RFC 8985): a segment is lost if a segment sent sufficiently later has arrived. A probe checks the tail of
//! a flight before the retransmission timer expires.
//!
//! - RACK uses selective acknowledgments and D-SACKs. Timestamps, if on, show which copy of a segment an ACK
//!   acknowledges.
//! - A D-SACK for a tail loss probe does not widen the reordering window: a probe is not sent because of reordering
//!   (Linux).
//! - The order of two segments sent in the same instant is known. The RFC infers it from their sequence numbers.
//! - The minimum round-trip time is that of the whole connection.
//! - There is one reduction per episode, even if a retransmission is lost, as in Linux. During the episode,
//!   proportional rate reduction limits what is sent; without it, the estimate of the data in the network does (RFC
//!   6675). The first lost segment is sent at once.
//! - The retransmission timer, the probe timer and the reordering timer run at the same time; the earliest acts.

use super::reo_wnd::{ReoWnd, Reports};
use super::tlp::{Tlp, Told};
use super::undo::Undo;
use super::{DUPTHRESH, Enter, Forced, HALVE_FROM, Options, Phase, Recovery, SenderView, Verdict};
use crate::tcp::scoreboard::{Look, Scoreboard};
use contend_core::Refusal;
use contend_core::formulas::{Line, eq, on, step, symbol};
use contend_core::registry::{Args, Param};
use contend_core::{Span, Time};

/// Where it comes from.
pub const CITE: &str = "RFC 8985";
/// What it does.
pub const SUMMARY: &str = "Finds losses, also of retransmissions, by the time of transmission; probes the end of a \
    flight instead of waiting for the timer.";
/// Its parameters.
pub const PARAMS: &[Param] = &[
    DUPTHRESH,
    HALVE_FROM,
    Param::integer(
        "reo_wnd_mult",
        "initial reordering window, in quarters of the minimum round-trip time; until reordering is seen, it is zero \
            in recovery and once dupthresh segments are selectively acknowledged",
    )
    .default("1")
    .range(0.0, 1000.0),
    Param::flag(
        "adaptive",
        "true if each round trip with a D-SACK widens the reordering window by a quarter of the minimum round-trip \
            time; 16 episodes without a D-SACK reset it",
    )
    .default("true"),
    Param::flag(
        "prr",
        "true if an episode sends in proportion to the data that arrive until the window is reached (RFC 9937); false: \
            it is silent for half a round trip, then sends a burst",
    )
    .default("true"),
    Param::flag(
        "prr_cwr",
        "with `prr`: true if the answer to a mark is such an episode, too, and the window does not grow in it, as in \
            Linux and ns-3; false: the window is smaller at once",
    )
    .default("false"),
    Param::flag(
        "undo",
        "true if window and threshold are restored when D-SACKs report all retransmissions of an episode as duplicates",
    )
    .default("true"),
    Param::flag("tlp", "true if the tail of a flight is probed").default("true"),
    Param::time(
        "max_ack_delay",
        "maximum time for which the receiver delays an acknowledgment; added to the probe's time when one segment is \
            in flight",
    )
    .default("200ms")
    .range(0.0, 60.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("t", "now"),
    symbol("t_s", "when a segment was last sent"),
    symbol("t_r", "RACK.xmit_ts: when the segment that was sent last of all that have arrived was sent"),
    symbol("RTT", "RACK.rtt: `t − t_r` when it arrived"),
    symbol("RTT_min", "minimum round-trip time of the connection"),
    symbol("SRTT", "smoothed round-trip time"),
    symbol("m", "RACK.reo_wnd_mult; `reo_wnd_mult` at first"),
    symbol("c", "RACK.reo_wnd_persist; 16 at first"),
    symbol("R", "reordering window"),
    symbol("una", "oldest byte that is not acknowledged"),
    symbol("recover", "one past the highest byte sent when the episode began"),
    symbol("PTO", "time until a probe"),
    symbol("D", "prr_delivered: segments that have arrived in the episode"),
    symbol("d", "segments that this ACK shows to have arrived"),
    symbol("O", "prr_out: segments sent in the episode"),
    symbol("P", "RecoverFS: segments in flight when it began, at least 1"),
    symbol("I", "segments that are taken to be in the network"),
    symbol("W", "cwnd of the controller, in segments"),
    symbol("s", "1 if the ACK covers new data and shows no loss, otherwise 0"),
    symbol("u", "segments that may be sent now, at least 1 at the start of the episode"),
    on("an ACK"),
    step("an episode ends", "RFC 6675 §5").when("`una ≥ recover`"),
    step(
        "`t_r` and `RTT` follow the segments that arrived; reordering is seen if one that was sent once is below the \
        highest that arrived before",
        "RFC 8985 §6.2 steps 1 to 3",
    ),
    step("window and threshold are restored and the episode ends", "RFC 3708 §3")
        .when("`undo`, and D-SACKs report all that was sent again in it as duplicates"),
    step("`m ← m + 1`, `c ← 16`", "RFC 8985 §6.2 step 4")
        .when("`adaptive`, and it has a D-SACK, the first of a round trip and not for a probe"),
    eq("c ← max(0, c − 1)", "").when("it has none that counts, and an episode ended; `m` is reset at `c = 0`"),
    eq("R = 0", "").when("no reordering was seen, in an episode or with `dupthresh` segments selectively acknowledged"),
    eq("R = min(SRTT, m · RTT_min / 4)", "").when("reordering was seen, or neither of the two"),
    step("a segment is lost", "§6.2 step 5").when("it was sent before the one of `t_r`, and `t_s + RTT + R ≤ t`"),
    step("a timer looks again at the last `t_s + RTT + R` of those that may still arrive", ""),
    step(
        "an episode begins: the controller reduces the window, and the first lost segment is sent again",
        "§6.2 step 5",
    )
    .when("there is none, and a segment is lost"),
    step("the controller reduces the window, without an episode", "§7.4.2").when("a probe has repaired a loss"),
    on("an ACK in an episode that shows arrivals, with `prr`; `W` is the target; an answer to a mark is one with \
        `prr_cwr`"),
    eq("D ← D + d", "RFC 9937 §6.2"),
    eq("u = max(0, ⌈D · W / P⌉ − O)", "").when("`I > W`"),
    eq("u = min(W − I, max(D − O, d) + s)", "").when("`I ≤ W`"),
    on("segments were sent, with `tlp`: nothing is lost or selectively acknowledged, and no probe is out"),
    eq("PTO = 2 · SRTT", "RFC 8985 §7.2").when("several segments are outstanding; 1 s before the first sample"),
    eq("PTO = 2 · SRTT + max_ack_delay", "").when("one is"),
    step(
        "after `PTO`, or when the retransmission timer is due, a new segment is sent; the last one again if there is \
        none",
        "§7.3",
    ),
    on("a timeout"),
    step("the first segment is lost, and those with `t_s + RTT + R ≤ t`; all if none has arrived yet", "§6.3"),
];

#[derive(Debug)]
struct Rack {
    options: Options,
    reo_wnd: ReoWnd,
    tlp: Tlp,
    /// Detects an episode that was not needed; `None` if this is off.
    undo: Option<Undo>,

    phase: Phase,
    /// One past the highest byte sent when the episode began.
    recover: u64,
    /// The segment sent latest of those that have arrived: when it was sent, and the number of the transmission
    /// (`RACK.xmit_ts`, for `RACK.end_seq`).
    latest: Option<(Time, u32)>,
    /// The round-trip time of this segment (`RACK.rtt`).
    rtt: Span,
    /// One past the highest byte that has arrived (`RACK.fack`).
    fack: u64,
    /// `RACK.reordering_seen`.
    reordering_seen: bool,
    /// When the last segment within the reordering window becomes lost.
    reo_at: Time,
}

/// Builds the recovery.
pub fn build(args: &Args) -> Result<Box<dyn Recovery>, Refusal> {
    Ok(Box::new(Rack {
        options: Options {
            dsack: true,
            prr: args.flag("prr"),
            prr_cwr: args.flag("prr") && args.flag("prr_cwr"),
            times: true,
            by_count: false,
            ..Options::from_args(args, true)
        },
        reo_wnd: ReoWnd::new(args),
        tlp: Tlp::new(args),
        undo: args.flag("undo").then(Undo::default),
        phase: Phase::Open,
        recover: 0,
        latest: None,
        rtt: Span::ZERO,
        fack: 0,
        reordering_seen: false,
        reo_at: Time::NEVER,
    }))
}

impl Rack {
    fn recovering(&self) -> bool {
        matches!(self.phase, Phase::Fast | Phase::Loss)
    }

    /// RFC 8985 §6.2 steps 2 and 3: updates round-trip time and reordering from the segments that arrived.
    fn arrived(&mut self, v: &SenderView, board: &Scoreboard) {
        let fack = self.fack;
        let mut newest = None;
        for (_, s) in board.changes().map_or(&[][..], |c| &c.delivered) {
            self.reordering_seen |= s.end() < fack && s.copies == 0;
            self.fack = self.fack.max(s.end());
            // An ACK that comes too soon for the last copy acknowledges an earlier copy.
            let earlier = s.copies > 0 && (v.now.since(s.sent) < v.min_rtt || v.echoed.is_some_and(|e| s.sent > e));
            if !earlier {
                newest = newest.max(Some((s.sent, s.order)));
            }
        }
        if let Some((sent, _)) = newest {
            self.rtt = v.now.since(sent);
        }
        self.latest = self.latest.max(newest);
    }

    /// The reordering window (RFC 8985 §6.2 step 4).
    fn reo_wnd(&self, v: &SenderView, board: &Scoreboard) -> Span {
        if !self.reordering_seen && (self.recovering() || board.sacked() >= self.options.dupthresh) {
            return Span::ZERO;
        }
        let wnd = Span::from_nanos(v.min_rtt.as_nanos().saturating_mul(self.reo_wnd.quarters()) / 4);
        v.rtt.map_or(wnd, |(srtt, _)| wnd.min(srtt))
    }

    /// RFC 8985 §6.2 step 5: takes as lost every segment that was sent long enough before the latest arrived one. Sets
    /// the timer for segments that may only be late.
    fn detect(&mut self, v: &SenderView, board: &mut Scoreboard) -> u32 {
        self.reo_at = Time::NEVER;
        let Some(latest) = self.latest else { return 0 };
        let wait = self.rtt + self.reo_wnd(v, board);
        let mut late = None;
        let lost = board.lose_where(|s| {
            if (s.sent, s.order) >= latest {
                // If this segment was sent once, all segments behind it were sent later.
                return if s.copies == 0 { Look::Stop } else { Look::Keep };
            }
            let due = s.sent.saturating_add(wait);
            if due <= v.now {
                return Look::Lost;
            }
            late = late.max(Some(due));
            Look::Keep
        });
        self.reo_at = late.unwrap_or(Time::NEVER);
        lost
    }

    /// The verdict after `lost` segments were newly taken as lost.
    fn verdict(&mut self, v: &SenderView, board: &Scoreboard, lost: u32, grow: bool) -> Verdict {
        if lost > 0 && !self.recovering() {
            self.phase = Phase::Fast;
            self.recover = v.nxt;
            self.tlp.forget();
            if let Some(undo) = &mut self.undo {
                undo.begin(v.una, board.resent());
            }
            return Verdict { enter: Some(Enter::Base), send: Some(Forced::Lost), lost, ..Verdict::default() };
        }
        Verdict { grow, lost, ..Verdict::default() }
    }
}

impl Recovery for Rack {
    fn on_ack(&mut self, v: &SenderView, board: &mut Scoreboard) -> Verdict {
        let was = self.phase;
        if v.advanced && (!self.recovering() || v.una >= self.recover) {
            self.phase = Phase::Open;
        }
        self.arrived(v, board);
        let undo = self.undo.as_mut().is_some_and(|u| u.on_ack(v.dsack, board.resent()));
        if undo && self.phase == Phase::Fast {
            self.phase = Phase::Open;
        }
        let told = self.tlp.on_ack(v);
        let reports = Reports {
            dsack: v.dsack.is_some() && told != Told::NotNeeded,
            ended: matches!(was, Phase::Fast | Phase::Loss) && !self.recovering(),
        };
        self.reo_wnd.adapt(v.una, v.nxt, reports);
        let lost = self.detect(v, board);
        if told == Told::Repaired && lost == 0 && !self.recovering() {
            // RFC 8985 §7.4.2: the response to a loss that the probe repaired. There is no episode, because nothing is
            // missing.
            return Verdict { enter: Some(Enter::Base), ..Verdict::default() };
        }
        let mut verdict = self.verdict(v, board, lost, v.advanced && was != Phase::Fast);
        verdict.undo = undo;
        if self.phase == Phase::Open && board.sacked() > 0 {
            self.phase = Phase::Disorder;
        }
        verdict
    }

    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard) {
        // RFC 8985 §6.3: takes as lost the first segment and all older than a round trip. Later segments may still
        // arrive.
        let wait = self.rtt + self.reo_wnd(v, board);
        let measured = self.latest.is_some();
        board.lose_where(|s| {
            if s.seq == v.una || !measured || s.sent.saturating_add(wait) <= v.now { Look::Lost } else { Look::Keep }
        });
        self.phase = Phase::Loss;
        self.recover = v.nxt;
        self.reo_at = Time::NEVER;
        self.tlp.forget();
        if let Some(undo) = &mut self.undo {
            undo.forget();
        }
    }

    fn on_sent(&mut self, v: &SenderView, board: &Scoreboard) {
        self.tlp.on_sent(v, self.phase, board);
    }

    fn on_timer(&mut self, v: &SenderView, fresh: bool, board: &mut Scoreboard) -> Verdict {
        if v.now >= self.reo_at {
            let lost = self.detect(v, board);
            if lost > 0 {
                return self.verdict(v, board, lost, false);
            }
        }
        Verdict { send: self.tlp.probe(v, fresh), ..Verdict::default() }
    }

    fn next_deadline(&self) -> Time {
        self.reo_at.min(self.tlp.deadline())
    }

    fn options(&self) -> Options {
        self.options
    }

    fn phase(&self) -> Phase {
        self.phase
    }
}
