//! The inputs of an estimator: the time between two acknowledgments, and the data that an acknowledgment counts.

use crate::registry::{Args, Param};
use crate::time::Time;
use crate::window::{Ack, Window};

/// The `count` parameter.
pub const COUNT: Param = Param::word(
    "count",
    &["westwood", "literal"],
    "what an ACK counts. westwood: the data that it shows to have arrived: one segment for a duplicate ACK, and only \
        what the duplicates have not counted for a cumulative ACK; literal: one segment, whatever the ACK covers",
)
.default("westwood");

/// How much data an acknowledgment counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The data that the acknowledgment shows to have arrived (Westwood's AckedCount).
    Westwood,
    /// One segment ("the size of the data packet that the ACK acknowledges", Xu 2005 §5.2).
    Literal,
}

impl Count {
    /// The value of the [`COUNT`] parameter.
    pub fn from_args(args: &Args) -> Count {
        if args.word("count") == "literal" { Count::Literal } else { Count::Westwood }
    }

    /// Bytes that `ack` counts; `None` if `ack` does not answer data.
    pub fn bytes(self, w: &Window, ack: &Ack) -> Option<u64> {
        if !ack.dup && ack.acked == 0 && ack.sacked == 0 {
            return None;
        }
        let segments = if self == Count::Literal { 1 } else { ack.delivered };
        Some(u64::from(segments) * u64::from(w.mss))
    }
}

/// Measures the times between acknowledgments.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// True if intervals come from the receiver's timestamps. A connection without timestamps uses arrival times (Xu
    /// 2005 §7.3).
    stamps: bool,
    started: bool,
    /// The last arrival in microseconds, or the last timestamp in ticks.
    last: u64,
}

impl Clock {
    /// A clock that uses the arrival times of acknowledgments at the sender.
    pub const ARRIVALS: Clock = Clock { stamps: false, started: false, last: 0 };
    /// A clock that uses the receiver's timestamps. A timestamp is the arrival time of the data if the receiver
    /// acknowledges each segment at once.
    pub const STAMPS: Clock = Clock { stamps: true, started: false, last: 0 };

    /// True if the clock reads timestamps.
    pub fn reads_stamps(&self) -> bool {
        self.stamps
    }

    /// Microseconds since the last acknowledgment. 0 if the acknowledgment was overtaken by a later one; `None` for the
    /// first acknowledgment.
    pub fn interval_us(&mut self, now: Time, w: &Window, ack: &Ack) -> Option<u64> {
        let stamp = ack.tsval.filter(|_| self.stamps && w.tick_ns > 0);
        let here = stamp.map_or(now.as_micros(), u64::from);
        if !core::mem::replace(&mut self.started, true) {
            self.last = here;
            return None;
        }
        let Some(stamp) = stamp else {
            return Some(here.saturating_sub(core::mem::replace(&mut self.last, here)));
        };
        // RFC 7323 §5.2: timestamps are compared modulo 2^32. An older timestamp does not set the clock back.
        let ticks = stamp.wrapping_sub(self.last as u32);
        if ticks >= 1 << 31 {
            return Some(0);
        }
        self.last = here;
        // If the tick is not a whole number of microseconds, each interval is rounded down.
        Some(u64::from(ticks) * u64::from(w.tick_ns) / 1000)
    }

    /// Microseconds without an acknowledgment until `now`. Always 0 for timestamps, because no timestamp arrives in a
    /// silence.
    pub fn silence_us(&self, now: Time) -> u64 {
        if self.stamps || !self.started { 0 } else { now.as_micros().saturating_sub(self.last) }
    }
}
