//! Accurate ECN (RFC 9768): both ends count marks, so that a sender learns how many of its packets were marked.
//!
//! The receiver counts packets with CE from 5 on, and puts the lowest three bits of the count, the field ACE, into
//! every acknowledgment. The sender unwraps them, which is certain while an acknowledgment delivers at most seven
//! segments. With the option the acknowledgment also says how many bytes of each ECN field have arrived, from which the
//! sender tells how often the field has wrapped.

use contend_core::explicit::ACCECN;
use contend_core::packet::Explicit;
use contend_core::{Ecn, Flags, Packet};

/// Bytes of the option with its three counters, padded to a multiple of four (§3.2.3).
const OPTION: u32 = 12;
/// Bytes of the option with two counters, which fits beside two SACK blocks and timestamps.
const SHORT_OPTION: u32 = 8;
/// The counters of the option have 24 bits.
const COUNTER: u32 = 0x00ff_ffff;
/// Where the count of packets starts.
pub(super) const FIRST: u8 = 5;
/// An acknowledgment that delivers more segments may hide that the field has wrapped.
const CERTAIN: u32 = 7;

/// How two ends use accurate ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccurateEcn {
    /// True if acknowledgments carry the option with the counts of bytes (§3.2.3).
    pub option: bool,
    /// When marks are acknowledged at once.
    pub acks: MarkAcks,
    /// How a sender without the option reads an acknowledgment of more than seven segments.
    pub wrap: Wrap,
}

/// When a receiver acknowledges marks at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAcks {
    /// When the first marked packet after an unmarked one arrives, and when two marks wait (RFC 9768 §3.2.2.5.1).
    Rfc,
    /// When a packet has another ECN field than the one before, and when six marks wait (Linux).
    Linux,
}

/// How many marks a sender reads out of a field that may have wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The most that agree with the field: the safest of the likely cases (RFC 9768 §3.2.2.5.2).
    Safe,
    /// The fewest, if acknowledgments deliver more than four segments in the mean: then the path thins them out, and
    /// none is lost (later Linux).
    Thinned,
}

impl AccurateEcn {
    /// As Linux negotiates it: with the option.
    pub const USUAL: AccurateEcn = AccurateEcn { option: true, acks: MarkAcks::Rfc, wrap: Wrap::Safe };

    /// What the flags of a SYN-ACK, or of the last ACK of a handshake, say about the ECN field of the packet that they
    /// answer (§3.1.1, table 2).
    pub(crate) fn answer(ecn: Ecn) -> u8 {
        match ecn {
            Ecn::NotEct => 0b010,
            Ecn::Ect1 => 0b011,
            Ecn::Ect => 0b100,
            Ecn::Ce => 0b110,
        }
    }

    /// The bytes of the option in an acknowledgment with so many SACK blocks.
    pub(crate) fn bytes(&self, timestamps: bool, blocks: usize) -> u32 {
        match (self.option, blocks) {
            (false, _) => 0,
            (true, 0 | 1) => OPTION,
            (true, 2) if !timestamps => OPTION,
            (true, _) => SHORT_OPTION,
        }
    }

    /// The most SACK blocks beside the option: the options have 40 bytes (§3.2.3.3: two blocks go before the option).
    pub(crate) fn most_blocks(&self, timestamps: bool) -> usize {
        match (self.option, timestamps) {
            (false, true) => 3,
            (false, false) => 4,
            (true, true) => 2,
            (true, false) => 3,
        }
    }
}

/// The counters of a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    how: AccurateEcn,
    /// `r.cep`: packets with CE.
    packets: u8,
    /// `r.ceb`, `r.e0b`, `r.e1b`: payload bytes with CE, ECT(0) and ECT(1).
    ce: u32,
    ect0: u32,
    ect1: u32,
    /// Marks since the last acknowledgment.
    waiting: u32,
    /// The ECN field of the latest packet with data.
    last: Ecn,
    /// True if marks are to be acknowledged at once.
    due: bool,
}

impl Counters {
    pub(super) fn new(how: AccurateEcn) -> Counters {
        // §3.2.1: the counts of ECT start at 1, so that a field that the network has cleared is told from them.
        Counters { how, packets: FIRST, ce: 0, ect0: 1, ect1: 1, waiting: 0, last: Ecn::NotEct, due: false }
    }

    /// A packet with `len` bytes of payload and this ECN field has arrived.
    pub(super) fn arrived(&mut self, ecn: Ecn, len: u32) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect => self.ect0 += len,
            Ecn::Ect1 => self.ect1 += len,
            Ecn::Ce => {
                self.packets = self.packets.wrapping_add(1);
                self.ce += len;
                self.waiting += 1;
            }
        }
        for count in [&mut self.ce, &mut self.ect0, &mut self.ect1] {
            *count &= COUNTER;
        }
        if len > 0 {
            let (is, was) = (ecn == Ecn::Ce, self.last == Ecn::Ce);
            self.due |= match self.how.acks {
                MarkAcks::Rfc => (is && !was) || self.waiting >= 2,
                MarkAcks::Linux => is != was || self.waiting >= 6,
            };
            self.last = ecn;
        }
    }

    /// True if marks are to be acknowledged at once.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// An acknowledgment leaves with `flags`: returns its flags.
    pub(super) fn leaves(&mut self, flags: Flags) -> Flags {
        (self.waiting, self.due) = (0, false);
        flags.with_ace(self.packets)
    }

    /// Writes the option into `p`, if it is in use.
    pub(super) fn write(&self, p: &mut Packet) {
        if self.how.option {
            let header = Explicit { rtt_us: self.ect1, throughput: self.ce, change: self.ect0 as i32 };
            p.set_explicit(ACCECN, header);
        }
    }
}

/// What a sender knows of the receiver's counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    how: AccurateEcn,
    /// `s.cep` - 5: the marks that acknowledgments have reported.
    marks: u32,
    /// The latest count of bytes with CE.
    ce_bytes: u32,
    /// Mean number of segments that an acknowledgment delivers, in 1/64, with a gain of 1/64.
    mean: u32,
}

/// What an acknowledgment reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// Its field ACE.
    pub(super) ace: u8,
    /// The count of bytes with CE of its option.
    pub(super) ce_bytes: Option<u32>,
    /// Segments that it newly delivers.
    pub(super) delivered: u32,
    /// Payload of a full segment.
    pub(super) mss: u32,
    /// True if the connection uses SACK.
    pub(super) sack: bool,
}

impl Decoder {
    pub(super) fn new(how: AccurateEcn) -> Decoder {
        Decoder { how, marks: 0, ce_bytes: 0, mean: 64 }
    }

    /// Segments that `r` newly reports as marked (§3.2.2.5.2, appendix A.2; Linux).
    pub(super) fn marks(&mut self, r: &Report) -> u32 {
        let new = self.read(r);
        self.marks = self.marks.wrapping_add(new);
        if r.delivered > 0 {
            self.mean = self.mean - self.mean / 64 + r.delivered.min(1 << 20);
        }
        new
    }

    fn read(&mut self, r: &Report) -> u32 {
        let expected = FIRST.wrapping_add(self.marks as u8);
        let least = u32::from(r.ace.wrapping_sub(expected) & 7);
        let bytes = r.ce_bytes.map(|now| {
            let new = now.wrapping_sub(self.ce_bytes) & COUNTER;
            self.ce_bytes = now;
            new
        });
        if r.delivered <= CERTAIN {
            return least;
        }
        let most = r.delivered - ((r.delivered - least) & 7);
        match bytes {
            None if self.how.wrap == Wrap::Thinned && self.mean > 4 * 64 => least,
            None => most,
            Some(0) => least,
            // Of the counts that agree with the field, the largest one up to the marked bytes.
            Some(bytes) if r.sack && r.delivered >= 16 => most.min(least + (bytes.div_ceil(r.mss.max(1)) & !7)),
            Some(bytes) if bytes > least * r.mss => most,
            Some(bytes) if bytes < most * r.mss / 2 => least,
            Some(_) => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn marks(ace: u8, marks: u32, delivered: u32, ce_bytes: Option<u32>) -> u32 {
        let how = AccurateEcn { option: ce_bytes.is_some(), ..AccurateEcn::USUAL };
        let mut d = Decoder { marks, ..Decoder::new(how) };
        d.marks(&Report { ace, ce_bytes, delivered, mss: MSS, sack: true })
    }

    /// By hand from appendix A.2 and Linux's use of the option.
    #[test]
    fn the_field_is_unwrapped() {
        let without = |ace, before, delivered| marks(ace, before, delivered, None);
        assert_eq!([without(5, 0, 2), without(6, 0, 2), without(0, 2, 2), without(7, 7, 3)], [0, 1, 1, 3]);
        assert_eq!(without(6, 0, 7), 1);
        // From eight segments on, a field that moved by one may have moved by nine, or wrapped without moving.
        assert_eq!([without(6, 0, 10), without(5, 0, 16), without(5, 0, 64)], [9, 16, 64]);
    }

    #[test]
    fn the_option_tells_how_often_the_field_has_wrapped() {
        let with = |ace, delivered, bytes| marks(ace, 0, delivered, Some(bytes));
        assert_eq!([with(6, 10, MSS), with(5, 16, 0), with(5, 64, 0)], [1, 0, 0]);
        assert_eq!([with(7, 20, 2 * MSS), with(7, 20, 10 * MSS), with(6, 10, 9 * MSS)], [2, 10, 9]);
    }

    #[test]
    fn thinned_acknowledgments_are_told_from_lost_ones() {
        let how = AccurateEcn { option: false, wrap: Wrap::Thinned, ..AccurateEcn::USUAL };
        let mut d = Decoder::new(how);
        let report = Report { ace: 5, ce_bytes: None, delivered: 10, mss: MSS, sack: true };
        let read: Vec<u32> = (0..64).map(|_| Decoder { marks: 0, ..d }.marks(&report).min(d.marks(&report))).collect();
        assert_eq!((read[0], read[63]), (8, 0), "after some thirty acknowledgments the mean is above four");
    }

    /// A trace of Linux 6.18: segments of 3000 bytes, every fourth one marked.
    #[test]
    fn the_counters_are_those_of_a_kernel() {
        let mut c = Counters::new(AccurateEcn::USUAL);
        let mut p =
            Packet::new(contend_core::FlowId(0), 40, contend_core::Time::ZERO, contend_core::Body::Udp { seq: 0 });
        let mut read = vec![];
        for i in 0..12 {
            let ecn = if i % 4 == 3 { Ecn::Ce } else { Ecn::Ect1 };
            c.arrived(ecn, 3000);
            c.write(&mut p);
            read.push((c.leaves(Flags::ACK).ace(), p.explicit.throughput, p.explicit.rtt_us));
        }
        let ace: Vec<u8> = read.iter().map(|r| r.0).collect();
        assert_eq!(ace, [5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 0]);
        assert_eq!([read[2].1, read[3].1, read[7].1, read[11].1], [0, 3000, 6000, 9000]);
        assert_eq!([read[0].2, read[1].2, read[2].2, read[3].2, read[4].2], [3001, 6001, 9001, 9001, 12001]);
    }

    /// Over any marks, and any grouping into acknowledgments of at most seven segments, the sender's count is exact;
    /// with more segments and without the option it is never below the true one and equal to it modulo 8.
    #[test]
    fn the_sender_counts_what_the_receiver_counts() {
        use rand::{RngExt as _, SeedableRng as _};
        let mut rng = contend_core::Rng::seed_from_u64(1);
        for most in [2, 7, 44] {
            for option in [false, true] {
                let how = AccurateEcn { option, ..AccurateEcn::USUAL };
                let (mut c, mut d, mut truth) = (Counters::new(how), Decoder::new(how), 0);
                let p = Packet::new(
                    contend_core::FlowId(0),
                    40,
                    contend_core::Time::ZERO,
                    contend_core::Body::Udp { seq: 0 },
                );
                for _ in 0..10_000 {
                    let delivered = rng.random_range(1..=most);
                    for _ in 0..delivered {
                        let marked = rng.random_range(0..10) == 0;
                        truth += u32::from(marked);
                        c.arrived(if marked { Ecn::Ce } else { Ecn::Ect1 }, MSS);
                    }
                    let (mut p, ace) = (p, c.leaves(Flags::ACK).ace());
                    c.write(&mut p);
                    let ce_bytes = option.then_some(p.explicit.throughput);
                    d.marks(&Report { ace, ce_bytes, delivered, mss: MSS, sack: true });
                    assert_eq!(d.marks & 7, truth & 7);
                    assert!(d.marks >= truth);
                }
                assert!(d.marks == truth || (most > CERTAIN && !option), "{most}, {option}: {} of {truth}", d.marks);
            }
        }
    }
}
