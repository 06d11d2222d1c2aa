//! Loss recovery: when a segment counts as lost, what is retransmitted, and how much the window is inflated.
//!
//! The congestion controller decides how much the window shrinks; a TCP variant is a controller and a recovery. The
//! sender keeps the [`Scoreboard`], asks the recovery after each acknowledgment and when a timer of the recovery is
//! due, and carries out the [`Verdict`].

use super::scoreboard::Scoreboard;
use contend_core::Refusal;
use contend_core::registry::{Args, Param};
use contend_core::{Span, Time};
use std::fmt::Debug;

/// Builds a recovery from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Recovery>, Refusal>;

pub mod prr;
mod reo_wnd;
mod tlp;
mod undo;

contend_core::registry!(Build; tahoe, reno, newreno, sack, vegas, rack, tcp_av);

/// Loss recovery of one connection.
pub trait Recovery: Debug + Send {
    /// Decides what follows from an acknowledgment, which the scoreboard already contains.
    fn on_ack(&mut self, v: &SenderView, board: &mut Scoreboard) -> Verdict;
    /// The retransmission timer expired: marks the segments to be retransmitted as lost. Most recoveries mark all
    /// segments that are not acknowledged.
    fn on_timeout(&mut self, v: &SenderView, board: &mut Scoreboard);
    /// Segments that an acknowledgment, a timer or the application permitted were sent.
    fn on_sent(&mut self, _v: &SenderView, _board: &Scoreboard) {}
    /// Its own timer is due. `fresh` is true if a new segment waits that the receiver's window has room for.
    fn on_timer(&mut self, _v: &SenderView, _fresh: bool, _board: &mut Scoreboard) -> Verdict {
        Verdict::default()
    }
    /// When its own timer is due.
    fn next_deadline(&self) -> Time {
        Time::NEVER
    }
    /// The options of the connection, which never change.
    fn options(&self) -> Options;
    /// The phase of the recovery.
    fn phase(&self) -> Phase;
    /// In [`Phase::Fast`] the window has room, nothing known as lost waits, and no new data may be sent: whether
    /// something else should be retransmitted. `hole` says whether there is a hole below the highest selectively
    /// acknowledged segment that was not retransmitted.
    fn spare(&mut self, _v: &SenderView, _hole: bool) -> Spare {
        Spare::Nothing
    }
}

/// The options of a recovery, which never change during a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Duplicate acknowledgments (or segments selectively acknowledged above a hole) that make a loss (RFC 5681 §3.2:
    /// 3).
    pub dupthresh: u32,
    /// The base of a reduction.
    pub halve_from: HalveFrom,
    /// True if selective acknowledgments are read.
    pub sack: bool,
    /// True if the receiver must send D-SACK (RFC 2883).
    pub dsack: bool,
    /// True if a fast recovery sends in proportion to what arrives (RFC 9937), unless the controller has full control.
    pub prr: bool,
    /// True if the answer to a mark sends so, too, and the window does not grow until it is over.
    pub prr_cwr: bool,
    /// True if the recovery uses times: the scoreboard lists the segments that each acknowledgment shows to have
    /// arrived, and [`Recovery::on_sent`] is called.
    pub times: bool,
    /// True if `dupthresh` segments selectively acknowledged above a hole make it lost (RFC 6675 §4), before the
    /// recovery looks.
    pub by_count: bool,
}

/// The base of a reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalveFrom {
    /// Segments sent and not acknowledged, those of limited transmit not counted (RFC 5681 §3.1 eq. 4).
    Flight,
    /// The congestion window (Linux).
    Cwnd,
    /// The smaller of congestion window and receiver's window (BSD, ns-2).
    MinCwndRwnd,
}

/// What a recovery is told about an acknowledgment, or about the connection when a timer is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderView {
    /// The current time.
    pub now: Time,
    /// Oldest byte not acknowledged, this acknowledgment included.
    pub una: u64,
    /// One past the highest byte ever sent.
    pub nxt: u64,
    /// Segments newly covered by the cumulative acknowledgment.
    pub acked: u32,
    /// True if the cumulative acknowledgment moved.
    pub advanced: bool,
    /// True if it is a duplicate (RFC 5681 §2; with SACK: it selectively acknowledges something new, RFC 6675 §2).
    pub dup: bool,
    /// Segments newly selectively acknowledged.
    pub sacked: u32,
    /// The bytes that arrived twice, as the acknowledgment reports (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// When the last segment that the cumulative acknowledgment newly covers was sent; `None` if it was sent more than
    /// once, or had been selectively acknowledged.
    pub last_sent: Option<Time>,
    /// True if limited transmit is on.
    pub limited_transmit: bool,
    /// Smoothed round-trip time and its mean deviation, without the coarseness of the timer's clock; `None` before the
    /// first sample.
    pub rtt: Option<(Span, Span)>,
    /// Minimum round-trip time so far; zero before the first sample.
    pub min_rtt: Span,
    /// When the retransmission timer is due.
    pub timeout_at: Time,
    /// The latest instant at which the segment whose timestamp came back can have been sent; `None` without timestamps.
    pub echoed: Option<Time>,
}

/// What a recovery decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// A loss was detected: the controller is asked for a reduction.
    pub enter: Option<Enter>,
    /// A segment to send now, independent of the window.
    pub send: Option<Forced>,
    /// Inflation of the window in segments, from now on.
    pub extra: u32,
    /// True if the inflation so far becomes part of the window.
    pub keep_extra: bool,
    /// True if the controller may open the window for this acknowledgment.
    pub grow: bool,
    /// True if an acknowledgment of new data does not restart the retransmission timer.
    pub keep_timer: bool,
    /// True if the retransmission timeout doubles and its timer restarts, as if it had expired.
    pub back_off: bool,
    /// Segments the recovery itself has newly taken as lost.
    pub lost: u32,
    /// True if the last episode was spurious: its reduction is undone.
    pub undo: bool,
}

/// A segment that is sent independent of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    /// The first unacknowledged one again; it is taken as lost.
    Head,
    /// The first that is taken as lost and was not retransmitted.
    Lost,
    /// A new one.
    Fresh,
    /// The last sent, again.
    Last,
}

/// How an episode begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enter {
    /// Threshold and base window are the controller's answer.
    Base,
    /// The threshold is the controller's answer; the window restarts at one segment and all that is outstanding is sent
    /// again.
    Restart,
}

/// The phase of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No recovery.
    #[default]
    Open,
    /// Duplicate ACKs, but too few to act.
    Disorder,
    /// Recovery without a timeout.
    Fast,
    /// Sending again after a timeout (or Tahoe's restart).
    Loss,
}

/// What to do with room that neither lost nor new segments fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spare {
    /// Leave it.
    Nothing,
    /// Send the next hole below the highest selectively acknowledged segment.
    Hole,
    /// Send the last segment that is not selectively acknowledged.
    Last,
}

/// The `dupthresh` parameter of every family.
pub(crate) const DUPTHRESH: Param = Param::integer(
    "dupthresh",
    "duplicate ACKs, or selectively acknowledged segments above a hole, that count as a loss",
)
.default("3")
.range(1.0, 1000.0);

/// The `halve_from` parameter of every family.
pub(crate) const HALVE_FROM: Param = Param::word(
    "halve_from",
    &["flight", "cwnd", "min(cwnd, rwnd)"],
    "what a reduction of the window starts from. flight: the flight size (RFC 5681); cwnd: the window (Linux); \
        min(cwnd, rwnd): the smaller of window and receiver's window (BSD, ns-2)",
)
.default("flight");

/// The `guard` parameter of the families that count duplicates.
pub(crate) const GUARD: Param = Param::word(
    "guard",
    &["off", "timeout", "always"],
    "when duplicate ACKs start no recovery if all that they acknowledge was sent before the last recovery (RFC 6582 \
        §4.1, the ns-2 bug fix). off: never; timeout: after a timeout; always: after every recovery",
)
.default("timeout");

impl Options {
    /// The options of a family from its parameters.
    fn from_args(args: &Args, sack: bool) -> Options {
        let halve_from = match args.word("halve_from") {
            "cwnd" => HalveFrom::Cwnd,
            "min(cwnd, rwnd)" => HalveFrom::MinCwndRwnd,
            _ => HalveFrom::Flight,
        };
        Options {
            dupthresh: u32::try_from(args.integer("dupthresh")).unwrap_or(3).max(1),
            halve_from,
            sack,
            dsack: false,
            prr: false,
            prr_cwr: false,
            times: false,
            by_count: sack,
        }
    }
}

/// Counts duplicate ACKs, for the recoveries without SACK.
#[derive(Debug)]
struct Duplicates {
    options: Options,
    guard: Guard,
    phase: Phase,
    /// Duplicates since the cumulative acknowledgment last moved.
    count: u32,
    /// One past the highest byte sent when the last episode began (RFC 6582 §3.2 `recover`).
    recover: u64,
    /// True if the cumulative acknowledgment must pass `recover` before duplicates may begin an episode.
    guarded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    Off,
    Timeout,
    Always,
}

impl Duplicates {
    fn new(args: &Args) -> Duplicates {
        let guard = match args.word("guard") {
            "off" => Guard::Off,
            "always" => Guard::Always,
            _ => Guard::Timeout,
        };
        Duplicates {
            options: Options::from_args(args, false),
            guard,
            phase: Phase::Open,
            count: 0,
            recover: 0,
            guarded: false,
        }
    }

    /// A duplicate outside recovery: whether it begins an episode, and if not, the inflation for limited transmit.
    fn outside(&mut self, v: &SenderView) -> Result<(), u32> {
        self.count = self.count.saturating_add(1);
        // RFC 6582 §3.2 step 2: the acknowledgment must cover more than `recover`.
        if self.count == self.options.dupthresh && !(self.guarded && v.una <= self.recover) {
            return Ok(());
        }
        if self.phase == Phase::Loss {
            return Err(0);
        }
        self.phase = Phase::Disorder;
        // RFC 3042: one new segment for each of the duplicates before the threshold.
        Err(if v.limited_transmit { self.count.min(self.options.dupthresh - 1) } else { 0 })
    }

    /// An acknowledgment that does not advance, as Reno and NewReno take it: inflates the window, or begins an episode.
    fn duplicate(&mut self, v: &SenderView, extra: &mut u32) -> Verdict {
        let mut verdict = Verdict::default();
        if v.dup && self.phase == Phase::Fast {
            // RFC 5681 §3.2 step 4: each further duplicate is a segment that has left the network.
            *extra = extra.saturating_add(1);
        } else if v.dup {
            match self.outside(v) {
                Ok(()) => {
                    // Steps 2 and 3: halve, retransmit, and count the duplicates that have arrived.
                    self.enter(v, Phase::Fast);
                    *extra = self.options.dupthresh;
                    verdict.enter = Some(Enter::Base);
                    verdict.send = Some(Forced::Head);
                }
                Err(limited) => *extra = limited,
            }
        }
        Verdict { extra: *extra, ..verdict }
    }

    /// An episode of `phase` begins.
    fn enter(&mut self, v: &SenderView, phase: Phase) {
        self.guarded = match self.guard {
            Guard::Off => false,
            Guard::Timeout => phase == Phase::Loss,
            Guard::Always => true,
        };
        self.phase = phase;
        self.recover = v.nxt;
        self.count = 0;
    }

    /// The cumulative acknowledgment moved outside fast recovery.
    fn advance(&mut self, v: &SenderView) {
        self.count = 0;
        if self.phase != Phase::Loss || v.una >= self.recover {
            self.phase = Phase::Open;
        }
    }
}
