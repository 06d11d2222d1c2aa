//! What a filter of acknowledgments does with those of accurate ECN (RFC 9768), whose flags are a counter.
//!
//! A sender unwraps the counter's three bits, which is certain while an acknowledgment delivers at most seven segments
//! (§3.2.2.5.2). A filter that removes more makes unmarked segments look marked.

use crate::packet::{Flags, Packet, Segment};
use crate::registry::{Args, Param};

/// The parameter of the filters.
pub const ACCECN: Param = Param::word(
    "accecn",
    &["pass", "count", "blind"],
    "acknowledgments with the flags of accurate ECN. pass: they are passed on as all others with flags; count: they \
        are filtered as long as the counter advances by at most six and seven segments are covered (RFC 9768 §3.3.3); \
        blind: they are filtered as if they had no flags",
)
.default("pass");

/// The most that the counter may advance between two acknowledgments that leave, and the most segments, so that the
/// sender reads it right.
const MOST_MARKS: u8 = 6;
const MOST_SEGMENTS: u64 = 7;
/// Payload of a full segment with timestamps on Ethernet.
const SEGMENT: u64 = 1448;

/// See [`ACCECN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Acknowledgments with flags are passed on.
    Pass,
    /// Their counter is kept readable.
    Count,
    /// Their flags are ignored.
    Blind,
}

/// An acknowledgment that has left, or will leave whatever follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    ack: u64,
    ace: u8,
    /// True if it, or one before it, had a counter that was not 0. Without one the flags say that no mark has come.
    counts: bool,
}

impl Left {
    /// The same for `s`, which leaves after it.
    pub fn then(self, s: &Segment) -> Left {
        let ace = s.flags.ace();
        // The flags of a SYN negotiate.
        let counts = ace != 0 && !s.flags.has(Flags::SYN);
        Left { ack: s.ack, ace, counts: self.counts || counts }
    }
}

impl Filtered {
    /// The value of the parameter.
    pub fn new(args: &Args) -> Filtered {
        match args.word("accecn") {
            "count" => Filtered::Count,
            "blind" => Filtered::Blind,
            _ => Filtered::Pass,
        }
    }

    /// The segment of `p` if its only content is a cumulative acknowledgment, and with it a counter that the filter may
    /// remove ([`Packet::pure_ack`]).
    #[inline]
    pub fn pure_ack(self, p: &Packet) -> Option<&Segment> {
        if self == Filtered::Pass { p.pure_ack() } else { p.pure_ack_beside(Flags::ACE) }
    }

    /// True if `newer` may take the place of an acknowledgment that waits, `left` being the one before it.
    #[inline]
    pub fn may_replace(self, left: Left, newer: &Segment) -> bool {
        self != Filtered::Count
            || (newer.flags == Flags::ACK && !left.counts)
            || (newer.flags.ace().wrapping_sub(left.ace) & 7 <= MOST_MARKS
                && newer.ack.saturating_sub(left.ack) <= MOST_SEGMENTS * SEGMENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, FlowId};
    use crate::time::Time;

    fn ack(number: u64, flags: Flags) -> Packet {
        let s = Segment { ack: number, flags, ..Segment::default() };
        Packet::new(FlowId(0), 52, Time::ZERO, Body::Tcp(s)).reversed()
    }

    #[test]
    fn flags_of_accurate_ecn_are_flags_for_a_filter_that_passes_them() {
        let counts = ack(1, Flags::ACK.with_ace(5));
        let pure = |how: Filtered, p: &Packet| how.pure_ack(p).is_some();
        assert_eq!(
            [Filtered::Pass, Filtered::Count, Filtered::Blind].map(|how| pure(how, &counts)),
            [false, true, true]
        );
        // The counter is 0 once in eight marks.
        assert!(pure(Filtered::Pass, &ack(1, Flags::ACK.with_ace(8))));
        assert!(!pure(Filtered::Blind, &ack(1, Flags::ACK.with(Flags::FIN))));
    }

    #[test]
    fn a_counter_stays_readable() {
        let left = Left::default().then(ack(0, Flags::ACK.with_ace(5)).segment().unwrap());
        let may = |how: Filtered, segments: u64, marks: u8| {
            let p = ack(segments * SEGMENT, Flags::ACK.with_ace(5 + marks));
            how.may_replace(left, p.segment().unwrap())
        };
        let count = |segments: u64, marks: u8| may(Filtered::Count, segments, marks);
        assert_eq!([count(7, 0), count(7, 6), count(7, 7), count(8, 0)], [true, true, false, false]);
        assert!(may(Filtered::Blind, 44, 44));
        // After eleven marks the counter is 0 again; it is no flag of a connection without accurate ECN.
        assert!(count(3, 3) && !count(11, 11));
        let without = Left::default().then(ack(0, Flags::ACK).segment().unwrap());
        assert!(Filtered::Count.may_replace(without, ack(100 * SEGMENT, Flags::ACK).segment().unwrap()));
    }
}
