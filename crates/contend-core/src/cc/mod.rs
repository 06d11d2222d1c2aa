//! Congestion controllers: one congestion control for one flow, in integers.
//!
//! The window counts segments, times are microseconds, rates bytes per second; a fixed-point number names its scale
//! (`beta_1024`). The trait mirrors Linux's `tcp_congestion_ops`: `on_ack` is `cong_avoid` (or `cong_control`),
//! `on_congestion` gives what `ssthresh` and the window on entry give, `on_every_ack` is `in_ack_event`, `on_undo` is
//! `undo_cwnd`. What to send again and when is not decided here: that is the recovery family's affair. A controller
//! with [`Needs::full_control`] is Linux's `cong_control`: it alone sets the window.
#![deny(clippy::float_arithmetic)]

use crate::Cx;
use crate::registry::Args;
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Debug;

/// Makes a controller from its parameters; the error says which parameter is wrong and what to write instead.
pub type Build = fn(&Args) -> Result<Box<dyn Controller>, String>;

mod path;

crate::registry!(Build; reno, cubic, vegas, veno, dctcp, bbr, bbr3, westwood, aiad, jersey, perfect, tcp_d);

/// A slow-start threshold that has not been set: larger than any window.
pub const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;

/// One congestion control for one flow.
pub trait Controller: Debug + Send {
    /// An acknowledgment covered new data (or, in full control, any acknowledgment): the window may change.
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack);
    /// Every acknowledgment, duplicates too, before anything else looks at it.
    fn on_every_ack(&mut self, _cx: &mut Cx, _w: &mut Window, _ack: &Ack) {}
    /// A segment is newly taken as lost, asked for each when [`Needs::rate`] is set: `lost` tells of the time since it
    /// was last sent (`tx_in_flight`, `lost` with itself counted, `app_limited`, `prior_delivered`).
    fn on_lost(&mut self, _cx: &mut Cx, _w: &mut Window, _lost: &RateSample) {}
    /// A congestion signal: the threshold and the base window from here on. Asked once per signal; recovery applies the
    /// answer.
    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response;
    /// The last reduction for a loss proved not to be needed. Window and threshold are restored, but in full control;
    /// the controller's own state is its affair.
    fn on_undo(&mut self, _w: &mut Window) {}
    /// Sending starts again at `now` after `idle` without anything in flight: longer than the retransmission timeout,
    /// or in full control any.
    fn on_restart(&mut self, _w: &mut Window, _now: Time, _idle: Span) {}
    /// What this controller asks of the stack.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// What a controller asks of the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether the window may grow while the application or the receiver, not the window, limits sending.
    pub grow_when_unlimited: bool,
    /// Whether every acknowledgment that carries ECE is a [`Signal::Ecn`], not only one for each window of data (RFC
    /// 3168 §6.1.2).
    pub every_mark: bool,
    /// Whether `on_ack` is called for every acknowledgment, duplicates and those of a recovery too, and recovery leaves
    /// the window alone.
    pub full_control: bool,
    /// Whether delivery-rate samples ([`Ack::rate`], [`Window::app_limited`]) are wanted.
    pub rate: bool,
    /// Whether an acknowledgment that reduced the window for its mark also opens it (Xu 2005 Fig. 5.8), and the
    /// fraction of growth survives a mark that changes nothing.
    pub grow_when_marked: bool,
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A queue dropped it.
    #[default]
    Congestion,
    /// The medium spoilt it.
    Error,
}

/// The sender's state of congestion, with the names and numbers of Linux's `tcp_info` (`tcpi_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// Nothing suspicious.
    #[default]
    Open = 0,
    /// Duplicate ACKs or selective acknowledgments, too few to act.
    Disorder = 1,
    /// The window was reduced for ECN or a local drop in this window of data.
    Cwr = 2,
    /// Recovery without a timeout.
    Recovery = 3,
    /// Recovery after a timeout.
    Loss = 4,
}

/// Why a controller is asked for a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment is taken as lost, without a timeout.
    Loss {
        /// First byte of the lost segment.
        seq: u64,
        /// Whether the acknowledgment that told carried ECE.
        marked: bool,
        /// What an oracle knows of it; `None` when nothing was lost. For a controller that is a yardstick, never for
        /// one to deploy.
        truth: Option<Cause>,
    },
    /// The retransmission timer expired, for the `nth` time in a row (from 1).
    Timeout {
        /// Successive expiries, this one included.
        nth: u32,
        /// Whether the last acknowledgment carried ECE.
        marked: bool,
        /// What an oracle knows of the first unacknowledged segment.
        truth: Option<Cause>,
    },
    /// An acknowledgment carried ECE, at most once per round trip (RFC 3168 §6.1.2) unless the controller [asks for
    /// each](Needs::every_mark).
    Ecn,
    /// The sender's own queue refused a packet.
    Local,
}

/// The controller's answer to a [`Signal`], in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Slow-start threshold from now on.
    pub ssthresh: u32,
    /// Base window during the episode and at its exit, whatever the recovery family inflates meanwhile.
    pub cwnd: u32,
    /// What the controller takes the loss for, to be scored against the truth. One that does not tell losses apart
    /// takes each for congestion.
    pub cause: Cause,
}

impl Response {
    /// Threshold and window both `n`, at least 2 segments (RFC 5681 §3.1 eq. 4).
    pub fn to(n: u32) -> Response {
        let n = n.max(2);
        Response { ssthresh: n, cwnd: n, cause: Cause::Congestion }
    }
    /// Threshold `n`, at least 2; the window restarts at one segment (RFC 5681 §3.1, after a timeout).
    pub fn restart(n: u32) -> Response {
        Response { ssthresh: n.max(2), cwnd: 1, cause: Cause::Congestion }
    }
    /// Threshold at least 2 segments, window `n` or what it is already, whichever is smaller: a signal never opens it.
    pub fn clamp(n: u32, w: &Window) -> Response {
        let n = n.max(2);
        Response { ssthresh: n, cwnd: n.min(w.cwnd.max(2)), cause: Cause::Congestion }
    }
    /// Nothing changes.
    pub fn keep(w: &Window) -> Response {
        Response { ssthresh: w.ssthresh, cwnd: w.cwnd, cause: Cause::Congestion }
    }
}

/// The sender's window and what surrounds it. A controller writes the first group and reads the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window in segments, at least 1. Duplicate-ACK inflation is never in here but in `extra`.
    pub cwnd: u32,
    /// Acknowledged segments that have not yet made a whole step of `cwnd`.
    pub cwnd_cnt: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Pacing rate in payload bytes per second; 0 means no pacing.
    pub pacing_rate: u64,
    /// Rate samples count as limited by the application until `delivered` has passed this; 0: they do not. The sender
    /// writes it too.
    pub app_limited: u32,

    /// Window inflation by duplicate ACKs, in segments; written by recovery only.
    pub extra: u32,
    /// Segments sent and not yet acknowledged or known to have left the network.
    pub inflight: u32,
    /// Segments known to have reached the receiver since the connection began, modulo 2^32.
    pub delivered: u32,
    /// Data segments sent since the connection began, repeated ones too, modulo 2^32.
    pub sent: u32,
    /// The base that a reduction halves: what `halve_from` says (flight size, window, or the smaller of window and
    /// receiver window), in segments.
    pub reduce_from: u32,
    /// Receiver's window in segments.
    pub rwnd: u32,
    /// Sender's maximum segment size in payload bytes.
    pub mss: u32,
    /// Oldest unacknowledged byte.
    pub snd_una: u64,
    /// Next new byte to send.
    pub snd_nxt: u64,
    /// Whether the window was what limited sending when the segments now acknowledged were sent.
    pub limited: bool,
    /// State of congestion.
    pub state: CaState,
    /// Tick of the other side's timestamp clock in nanoseconds, 0 when timestamps are off.
    pub tick_ns: u32,
}

impl Default for Window {
    /// One segment, no threshold, nothing sent.
    fn default() -> Window {
        Window {
            cwnd: 1,
            cwnd_cnt: 0,
            ssthresh: SSTHRESH_INFINITE,
            pacing_rate: 0,
            app_limited: 0,
            extra: 0,
            inflight: 0,
            delivered: 0,
            sent: 0,
            reduce_from: 0,
            rwnd: u32::MAX,
            mss: 1000,
            snd_una: 0,
            snd_nxt: 0,
            limited: true,
            state: CaState::Open,
            tick_ns: 0,
        }
    }
}

impl Window {
    /// Whether the flow is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: one segment of window for each segment acknowledged, up to the threshold.
    /// Returns the acknowledged segments left over for congestion avoidance (RFC 5681 §3.1 eq. 2, with N in segments).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let used = grown - self.cwnd;
        self.cwnd = grown;
        acked - used
    }

    /// Additive increase: one segment of window for every `per` segments acknowledged (RFC 5681 §3.1 eq. 3 when `per`
    /// is the window).
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        self.cwnd_cnt = self.cwnd_cnt.saturating_add(acked);
        if self.cwnd_cnt < per {
            // Mostly so: the division is the dearest step.
            return;
        }
        let steps = self.cwnd_cnt / per;
        self.cwnd_cnt -= steps * per;
        self.cwnd = self.cwnd.saturating_add(steps);
    }
}

/// One acknowledgment as a controller sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Segments newly covered by the cumulative acknowledgment.
    pub acked: u32,
    /// Segments known to have reached the receiver by this acknowledgment: a duplicate counts 1, a cumulative one what
    /// its duplicates did not count.
    pub delivered: u32,
    /// Whether it is a duplicate.
    pub dup: bool,
    /// Segments newly selectively acknowledged.
    pub sacked: u32,
    /// Segments newly taken as lost: by this acknowledgment, or by a timer of the recovery since the last one.
    pub lost: u32,
    /// Round-trip sample in microseconds, when this acknowledgment gave one.
    pub rtt_us: Option<u32>,
    /// Smoothed round-trip time in microseconds, 0 before the first sample (RFC 6298 §2).
    pub srtt_us: u32,
    /// Mean deviation of the round-trip time in microseconds (RFC 6298 §2).
    pub rttvar_us: u32,
    /// Smallest round-trip sample so far in microseconds, 0 before the first.
    pub min_rtt_us: u32,
    /// Whether it carried ECE.
    pub ece: bool,
    /// The other side's timestamp value, when the option is in use.
    pub tsval: Option<u32>,
    /// Whether a round trip has passed since the last acknowledgment for which this was set.
    pub round_start: bool,
    /// How fast the network delivers, for a controller that [asks for it](Needs::rate); otherwise empty.
    pub rate: RateSample,
}

/// What an acknowledgment tells of the rate of delivery (draft-ietf-ccwg-bbr §4.1; Linux's `rate_sample`).
///
/// The interval ends with this acknowledgment and began when the *newest* segment that it shows to have arrived was
/// sent, the one that left last. Counts are segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Delivered over the interval.
    pub delivered: u32,
    /// [`Window::delivered`] when the newest was sent, modulo 2^32.
    pub prior_delivered: u32,
    /// Length of the interval in microseconds: the longer of the time in which they were sent and the time in which
    /// they were acknowledged. 0: no sample.
    pub interval_us: u32,
    /// Newly taken as lost by this acknowledgment.
    pub losses: u32,
    /// Taken as lost since the newest was sent.
    pub lost: u32,
    /// In flight right after the newest was sent, itself included.
    pub tx_in_flight: u32,
    /// In flight before this acknowledgment.
    pub prior_in_flight: u32,
    /// Of `delivered`, those whose acknowledgment carried ECE.
    pub ce: u32,
    /// Whether the application, not the window, limited sending when the newest was sent.
    pub app_limited: bool,
    /// Whether the newest was a retransmission.
    pub retrans: bool,
}

impl RateSample {
    /// Whether it tells a rate.
    pub fn is_valid(&self) -> bool {
        self.interval_us > 0
    }
}
