//! The state of a sender and one acknowledgment: the plain data that congestion controllers and estimators work on.
//!
//! The unit of the window is the segment, of time the microsecond, of rates bytes per second.
#![deny(clippy::float_arithmetic)]

use crate::observe::Local;
use crate::packet::Explicit;

/// The initial slow-start threshold, larger than any window.
pub const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;

/// The sender's congestion state, with the names and numbers of Linux's `tcp_info` (`tcpi_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// No sign of loss.
    #[default]
    Open = 0,
    /// Duplicate ACKs or selective acknowledgments, but too few to act.
    Disorder = 1,
    /// The window was reduced for ECN or a local drop in the current window of data.
    Cwr = 2,
    /// Recovery without a timeout.
    Recovery = 3,
    /// Recovery after a timeout.
    Loss = 4,
}

/// The sender's window and the state around it. A controller writes the first group of fields and reads the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window in segments, at least 1. Inflation by duplicate ACKs is not included; it is in `extra`.
    pub cwnd: u32,
    /// Acknowledged segments that have not yet increased `cwnd` by a whole segment.
    pub cwnd_cnt: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Pacing rate in payload bytes per second; 0: no pacing.
    pub pacing_rate: u64,
    /// Rate samples count as limited by the application until `delivered` exceeds this value; 0: samples are not
    /// limited. The sender also writes this field.
    pub app_limited: u32,

    /// Window inflation by duplicate ACKs, in segments. Only recovery writes it.
    pub extra: u32,
    /// Segments sent and neither acknowledged nor known to have left the network.
    pub inflight: u32,
    /// Segments known to have reached the receiver since the start of the connection, modulo 2^32.
    pub delivered: u32,
    /// Data segments sent since the start of the connection, retransmissions included, modulo 2^32.
    pub sent: u32,
    /// The base of a reduction in segments, chosen by `halve_from`: flight size, window, or the smaller of window and
    /// receiver window.
    pub reduce_from: u32,
    /// Receiver's window in segments.
    pub rwnd: u32,
    /// Sender's maximum segment size in payload bytes.
    pub mss: u32,
    /// Headers of a full data packet in bytes: its IP size minus `mss`.
    pub headers: u32,
    /// First unacknowledged byte.
    pub snd_una: u64,
    /// Next new byte to send.
    pub snd_nxt: u64,
    /// True if the window limited sending when the segments that are now acknowledged were sent.
    pub limited: bool,
    /// Congestion state.
    pub state: CaState,
    /// Tick of the peer's timestamp clock in nanoseconds; 0 if timestamps are off.
    pub tick_ns: u32,
    /// The estimate of the air at the sender's node; `None` without an observer.
    pub local: Option<Local>,
}

impl Default for Window {
    /// A window of one segment, no threshold, nothing sent.
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
            headers: 40,
            snd_una: 0,
            snd_nxt: 0,
            limited: true,
            state: CaState::Open,
            tick_ns: 0,
            local: None,
        }
    }
}

impl Window {
    /// True if the flow is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: the window grows by one segment per acknowledged segment, up to the threshold. Returns the
    /// acknowledged segments left for congestion avoidance (RFC 5681 §3.1 eq. 2, with N in segments).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let used = grown - self.cwnd;
        self.cwnd = grown;
        acked - used
    }

    /// Additive increase: the window grows by one segment per `per` acknowledged segments (RFC 5681 §3.1 eq. 3 if `per`
    /// is the window).
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        self.cwnd_cnt = self.cwnd_cnt.saturating_add(acked);
        if self.cwnd_cnt < per {
            // The usual case. It avoids the division, the most expensive step.
            return;
        }
        let steps = self.cwnd_cnt / per;
        self.cwnd_cnt -= steps * per;
        self.cwnd = self.cwnd.saturating_add(steps);
    }
}

/// One acknowledgment, with the values that a controller needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Segments newly covered by the cumulative acknowledgment.
    pub acked: u32,
    /// Segments known to have reached the receiver by this acknowledgment. A duplicate counts 1. A cumulative
    /// acknowledgment counts the segments that its duplicates did not count.
    pub delivered: u32,
    /// True if the acknowledgment is a duplicate.
    pub dup: bool,
    /// Segments newly selectively acknowledged.
    pub sacked: u32,
    /// Segments newly taken as lost: by this acknowledgment, or by a timer of the recovery since the last
    /// acknowledgment.
    pub lost: u32,
    /// Round-trip sample in microseconds, if this acknowledgment gave one.
    pub rtt_us: Option<u32>,
    /// Smoothed round-trip time in microseconds; 0 before the first sample (RFC 6298 §2).
    pub srtt_us: u32,
    /// Mean deviation of the round-trip time in microseconds (RFC 6298 §2).
    pub rttvar_us: u32,
    /// Smallest round-trip sample so far in microseconds; 0 before the first.
    pub min_rtt_us: u32,
    /// True if the acknowledgment reports marks: with accurate ECN if [`ce`](Ack::ce) is above 0, otherwise if it
    /// carried ECE.
    pub ece: bool,
    /// Segments newly reported as marked. With accurate ECN this is the receiver's count; otherwise all that an
    /// acknowledgment with ECE delivers.
    pub ce: u32,
    /// The peer's timestamp value, if the option is in use.
    pub tsval: Option<u32>,
    /// True if a round trip has passed since the last acknowledgment with this flag.
    pub round_start: bool,
    /// Number of nodes that forwarded the data packet that caused this acknowledgment: the path has one link more.
    pub hops: u8,
    /// Delivery-rate sample for a controller that sets [`Needs::rate`](crate::cc::Needs::rate); otherwise empty.
    pub rate: RateSample,
    /// The explicit header that the acknowledgment returned, for a controller that sets
    /// [`Needs::explicit`](crate::cc::Needs::explicit).
    pub explicit: Option<Explicit>,
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr §4.1; Linux's `rate_sample`).
///
/// The interval ends with this acknowledgment. The interval begins when the *newest* segment was sent: of the segments
/// that this acknowledgment shows to have arrived, the one that was sent last. Counts are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered in the interval.
    pub delivered: u32,
    /// [`Window::delivered`] when the newest segment was sent, modulo 2^32.
    pub prior_delivered: u32,
    /// Length of the interval in microseconds: the longer of the time in which the segments were sent and the time in
    /// which they were acknowledged. 0: no sample.
    pub interval_us: u32,
    /// Segments newly taken as lost by this acknowledgment.
    pub losses: u32,
    /// Segments taken as lost since the newest segment was sent.
    pub lost: u32,
    /// Segments in flight right after the newest segment was sent, including this segment.
    pub tx_in_flight: u32,
    /// Segments in flight before this acknowledgment.
    pub prior_in_flight: u32,
    /// Segments newly reported as marked in the interval ([`Ack::ce`]).
    pub ce: u32,
    /// True if the application, not the window, limited sending when the newest segment was sent.
    pub app_limited: bool,
    /// True if the newest segment was a retransmission.
    pub retrans: bool,
}

impl RateSample {
    /// True if the sample has a rate.
    pub fn is_valid(&self) -> bool {
        self.interval_us > 0
    }
}
