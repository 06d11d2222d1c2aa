//! Congestion controllers. A controller serves one flow and uses integer arithmetic.
//!
//! The unit of the window is the segment, of time the microsecond, of rates bytes per second. The name of a fixed-point
//! number contains its scale (`beta_1024`). The trait mirrors Linux's `tcp_congestion_ops`: `on_ack` is `cong_avoid`
//! (or `cong_control`), `on_congestion` gives `ssthresh` and the window at the start of a recovery, `on_every_ack` is
//! `in_ack_event`, `on_recovered` is `CA_EVENT_COMPLETE_CWR`, `on_undo` is `undo_cwnd`. A controller does not decide
//! what to retransmit and when; the recovery does. A controller with [`Needs::full_control`] is Linux's `cong_control`:
//! only the controller sets the window.
#![deny(clippy::float_arithmetic)]

use crate::Cx;
use crate::Refusal;
use crate::explicit::HeaderFormat;
use crate::formulas::{Line, symbol};
use crate::packet::Explicit;
use crate::registry::{Amount, Args, Fact, Need, Param};
use crate::time::{Span, Time};
pub use crate::window::{Ack, CaState, RateSample, SSTHRESH_INFINITE, Window};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt::Debug;

/// Builds a controller from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Controller>, Refusal>;

mod path;
mod slow_start;

/// Symbols that the formulas of many controllers have.
const CWND: Line = symbol("W", "cwnd: the congestion window, in segments");
const SSTHRESH: Line = symbol("S", "ssthresh: the threshold of slow start, in segments");
const HALVED: Line =
    symbol("F", "what a loss halves: what is in flight or the window, as the recovery has it, in segments");

crate::registry!(
    Build; reno, cubic, vegas, veno, dctcp [Fact::Needs(Need::Marks)],
    prague [Fact::Needs(Need::Marks)], bbr, bbr3, westwood, aiad,
    jersey [Fact::Needs(Need::Marks)], perfect, tcp_d, tcp_av, xcp [Fact::Needs(Need::Xcp)],
    xcp_winf [Fact::Needs(Need::Xcp)], rcp [Fact::Needs(Need::Rcp)], rcp_winf [Fact::Needs(Need::Rcp)],
    wcp [Fact::Needs(Need::Wcp)], tcp_ap, hop_limit,
);

/// The name of a controller that contend has put into the kernel: `contend_NAME`, of which the kernel takes 15 letters
/// (TCP_CA_NAME_MAX).
pub fn deployed_name(name: &str) -> String {
    let mut whole = format!("contend_{name}");
    whole.truncate(15);
    whole
}

/// The size of the explicit header on the air or wire.
const HEADER: Param =
    Param::amount("header", "size of the explicit header in every packet of both directions").range(0.0, 1000.0);

/// The parameter `header` in bytes.
fn header_bytes(args: &Args) -> Result<u32, Refusal> {
    match args.amount("header") {
        Amount::Bytes(n) => Ok(n.min(1000) as u32),
        Amount::Packets(_) => Err(Refusal::new("header counts bytes", "write header = \"20B\"")),
    }
}

/// The congestion control of one flow.
pub trait Controller: Debug + Send {
    /// Called once, before the first segment.
    fn on_start(&mut self, _w: &mut Window) {}
    /// Called when an acknowledgment covers new data (in full control: for every acknowledgment). The window may
    /// change.
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack);
    /// Called for every acknowledgment, duplicates included, before all other processing.
    fn on_every_ack(&mut self, _cx: &mut Cx, _w: &mut Window, _ack: &Ack) {}
    /// Called for each segment newly taken as lost, if [`Needs::rate`] is set. `lost` describes the time since the
    /// segment was last sent (`tx_in_flight`, `lost` including this segment, `app_limited`, `prior_delivered`).
    fn on_lost(&mut self, _cx: &mut Cx, _w: &mut Window, _lost: &RateSample) {}
    /// Answers a congestion signal with the new threshold and the new base window. Called once per signal; recovery
    /// applies the answer.
    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response;
    /// Called when everything that was sent before a reduction without a timeout has been acknowledged: at the end of a
    /// recovery, or one window of data after a mark or a local drop. A timeout in between cancels the call. The
    /// acknowledgment that causes the call may be passed to `on_ack` afterwards.
    fn on_recovered(&mut self, _cx: &mut Cx, _w: &mut Window) {}
    /// Called when the last reduction for a loss was proved spurious. Recovery has restored window and threshold
    /// (except in full control). The controller restores its own state.
    fn on_undo(&mut self, _w: &mut Window) {}
    /// Called when sending starts again at `now`, after `idle` with nothing in flight. `idle` is longer than the
    /// retransmission timeout; in full control it may have any length.
    fn on_restart(&mut self, _w: &mut Window, _now: Time, _idle: Span) {}
    /// The explicit header of a data packet that is about to leave. `srtt_us` is the smoothed round-trip time in
    /// microseconds; 0 before the first sample. Called only if [`Needs::explicit`] is set. The answer of the network
    /// comes as [`Ack::explicit`].
    fn header(&self, _w: &Window, _srtt_us: u32) -> Explicit {
        Explicit::default()
    }
    /// The smoothed share of marked segments by which it reduces its window, in 2^-24 (RFC 8257 §3.3: alpha); `None` if
    /// it keeps none. For time series.
    fn alpha_q24(&self) -> Option<u32> {
        None
    }
    /// Its score of the queue in 2^-20, from 0 (L4S) to that of a classic one; `None` if it keeps none. For time
    /// series.
    fn score_q20(&self) -> Option<u32> {
        None
    }
    /// What this controller requires from the stack.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// What a controller requires from the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// True if the window may grow while the application or the receiver limits sending, and not the window.
    pub grow_when_unlimited: bool,
    /// True if every acknowledgment with ECE gives a [`Signal::Ecn`]. Otherwise there is one signal per window of data
    /// (RFC 3168 §6.1.2).
    pub every_mark: bool,
    /// True if `on_ack` is called for every acknowledgment, including duplicates and those in a recovery, and recovery
    /// does not change the window.
    pub full_control: bool,
    /// True if the controller needs delivery-rate samples ([`Ack::rate`], [`Window::app_limited`]).
    pub rate: bool,
    /// True if an acknowledgment also opens the window when its mark reduced the window (Xu 2005 Fig. 5.8). The
    /// fraction of growth then also survives a mark that changes nothing.
    pub grow_when_marked: bool,
    /// True if the pacer leaves a full gap between any two segments, including the first segments of the connection and
    /// the segments after a pause. Otherwise it follows Linux.
    pub full_gaps: bool,
    /// The explicit header of every packet; `None` for no header.
    pub explicit: Option<HeaderFormat>,
    /// True if [`Ack::srtt_us`] and [`Ack::rttvar_us`] come from exact samples, as in Linux. Otherwise they are those
    /// of the retransmission timer, whose samples may be in ticks of the timestamps.
    pub fine_rtt: bool,
    /// True if the controller needs an observer of the air at the sender's node ([`Window::local`]).
    pub air: bool,
}

/// The cause of a packet loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A queue dropped the packet.
    #[default]
    Congestion,
    /// The medium corrupted the packet.
    Error,
}

/// The reason for which a controller is asked for a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment is taken as lost, without a timeout.
    Loss {
        /// First byte of the lost segment.
        seq: u64,
        /// True if the acknowledgment that showed the loss carried ECE.
        marked: bool,
        /// The true cause, known to an oracle; `None` if nothing was lost. Only for reference controllers, never for
        /// deployment.
        truth: Option<Cause>,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Number of successive expiries, including this one (from 1).
        nth: u32,
        /// True if the last acknowledgment carried ECE.
        marked: bool,
        /// The true cause of the loss of the first unacknowledged segment, known to an oracle.
        truth: Option<Cause>,
    },
    /// An acknowledgment carried ECE. Given at most once per round trip (RFC 3168 §6.1.2), unless the controller sets
    /// [`Needs::every_mark`].
    Ecn,
    /// The sender's own queue dropped a packet.
    Local,
}

/// The controller's answer to a [`Signal`], in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The new slow-start threshold.
    pub ssthresh: u32,
    /// Base window during the episode and at its end. Recovery may inflate the window in between.
    pub cwnd: u32,
    /// The cause that the controller assumes; it is compared with the true cause. A controller that does not
    /// distinguish losses assumes congestion.
    pub cause: Cause,
}

impl Response {
    /// Sets threshold and window to `n`, at least 2 segments (RFC 5681 §3.1 eq. 4).
    pub fn to(n: u32) -> Response {
        let n = n.max(2);
        Response { ssthresh: n, cwnd: n, cause: Cause::Congestion }
    }
    /// Sets the threshold to `n`, at least 2, and the window to one segment (RFC 5681 §3.1, after a timeout).
    pub fn restart(n: u32) -> Response {
        Response { ssthresh: n.max(2), cwnd: 1, cause: Cause::Congestion }
    }
    /// Sets the threshold to `n`, at least 2 segments, and the window to the smaller of the threshold and the current
    /// window. A signal never opens the window.
    pub fn clamp(n: u32, w: &Window) -> Response {
        let n = n.max(2);
        Response { ssthresh: n, cwnd: n.min(w.cwnd.max(2)), cause: Cause::Congestion }
    }
    /// Keeps threshold and window.
    pub fn keep(w: &Window) -> Response {
        Response { ssthresh: w.ssthresh, cwnd: w.cwnd, cause: Cause::Congestion }
    }
}
