//! Slow start, and HyStart, which ends it before the queue overflows.

mod linux;
mod rfc9406;

use super::{Ack, Window};
use crate::registry::{Args, Param};
use crate::time::Time;
use alloc::boxed::Box;
use linux::Linux;
use rfc9406::Rfc9406;

/// The `abc` parameter, for every controller with Reno's slow start.
pub(super) const ABC: Param = Param::integer(
    "abc",
    "maximum number of segments by which one ACK opens the window in slow start: 1 in RFC 5681 and ns-2, 2 in RFC \
        3465; 0: no limit, as in Linux",
)
.default("1")
.range(0.0, 1e6);

/// The `hystart` parameter.
pub(super) const HYSTART: Param = Param::word(
    "hystart",
    &["off", "rfc9406", "linux"],
    "what ends slow start before a loss. off: nothing; rfc9406: HyStart++, five careful rounds after round trips have \
        become longer, in the first slow start only; linux: the HyStart of Linux's cubic, at once after longer round \
        trips or a long train of ACKs",
)
.default("off");

/// The slow-start limit from its parameter; 0 means no limit.
pub(super) fn limit(abc: i64) -> u32 {
    if abc <= 0 { u32::MAX } else { u32::try_from(abc).unwrap_or(u32::MAX) }
}

/// Slow start for `acked` segments; at most `abc` of them count (RFC 5681 §3.1 eq. 2). Returns the segments left for
/// congestion avoidance.
pub(super) fn slow_start(w: &mut Window, acked: u32, abc: u32) -> u32 {
    if !w.in_slow_start() {
        return acked;
    }
    let left = w.slow_start(acked.min(abc));
    // Segments above the limit do not count later either.
    if acked > abc { 0 } else { left }
}

/// A HyStart and its state; `None` for plain slow start.
#[derive(Debug)]
pub(super) struct HyStart(Option<Box<Kind>>);

#[derive(Debug)]
enum Kind {
    Rfc9406(Rfc9406),
    Linux(Linux),
}

impl HyStart {
    /// None.
    pub(super) const OFF: HyStart = HyStart(None);

    /// The HyStart that the parameter `hystart` selects.
    pub(super) fn new(args: &Args) -> HyStart {
        HyStart(match args.word("hystart") {
            "rfc9406" => Some(Box::new(Kind::Rfc9406(Rfc9406::default()))),
            "linux" => Some(Box::new(Kind::Linux(Linux::default()))),
            _ => None,
        })
    }

    /// Slow start for an acknowledgment; at most `abc` of its segments count. Returns the segments left for congestion
    /// avoidance.
    pub(super) fn slow_start(&mut self, now: Time, w: &mut Window, ack: &Ack, abc: u32) -> u32 {
        if !w.in_slow_start() {
            return ack.acked;
        }
        match self.0.as_deref_mut() {
            Some(Kind::Rfc9406(h)) => h.slow_start(w, ack, abc),
            Some(Kind::Linux(h)) => {
                h.sample(now, w, ack);
                slow_start(w, ack.acked, abc)
            }
            None => slow_start(w, ack.acked, abc),
        }
    }

    /// The retransmission timer has expired.
    pub(super) fn on_timeout(&mut self) {
        match self.0.as_deref_mut() {
            Some(Kind::Linux(h)) => *h = Linux::default(),
            // RFC 9406 §4.3: HyStart++ is for the first slow start.
            Some(Kind::Rfc9406(_)) | None => self.0 = None,
        }
    }
}
