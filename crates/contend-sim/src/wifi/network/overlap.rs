//! The frames that overlap another one at its receiver, and lower its SNR.

use crate::wifi::medium::phy::ppdu::DELIMITER;
use contend_core::{Span, Time};

/// The power of the other frames while a frame arrived, and how far into the frame its MPDUs have been looked at.
#[derive(Debug)]
pub(super) struct Overlap<'a> {
    /// Their power, as a share of the transmitted power, from each instant on.
    powers: &'a [(Time, f64)],
    /// The power of the frame itself.
    gain: f64,
    /// The first and the last bit of its PSDU, and the bytes of that.
    psdu: (Time, Time),
    bytes: u32,
    /// True if each MPDU has a delimiter and padding.
    in_aggregate: bool,
    /// The bytes before the next MPDU.
    before: u32,
}

impl<'a> Overlap<'a> {
    /// A frame of power `gain` whose PSDU of so many bytes, an aggregate or not, arrives between two instants.
    pub(super) fn new(
        powers: &'a [(Time, f64)],
        gain: f64,
        psdu: (Time, Time),
        (bytes, in_aggregate): (u32, bool),
    ) -> Overlap<'a> {
        Overlap { powers, gain, psdu, bytes, in_aggregate, before: 0 }
    }

    /// When the next MPDU, which has `bytes`, begins and ends.
    pub(super) fn next(&mut self, bytes: u32) -> (Time, Time) {
        let (first, last) = self.psdu;
        let span = last.since(first).as_nanos();
        let at =
            |byte: u32| first + Span::from_nanos(span * u64::from(byte.min(self.bytes)) / u64::from(self.bytes.max(1)));
        let start = self.before + if self.in_aggregate { DELIMITER } else { 0 };
        let end = start + bytes;
        let times = (at(start), at(end));
        self.before = if self.in_aggregate { end.next_multiple_of(4) } else { end };
        times
    }

    /// The probability that an MPDU between two instants arrives: the product over the parts of it with equal power of
    /// others. `arrives` is the probability at a ratio of signal to noise that is so many times lower.
    ///
    /// `snr`: the ratio of signal to noise without the others, not in decibels.
    pub(super) fn arrives(&self, (from, to): (Time, Time), snr: f64, mut arrives: impl FnMut(f64) -> f64) -> f64 {
        let whole = to.since(from).as_nanos().max(1) as f64;
        let ends = self.powers.iter().skip(1).map(|(at, _)| *at).chain([Time::NEVER]);
        let mut all = 1.0;
        for (&(begin, power), end) in self.powers.iter().zip(ends) {
            let (begin, end) = (begin.max(from), end.min(to));
            if begin < end {
                let share = end.since(begin).as_nanos() as f64 / whole;
                all *= libm::pow(arrives(1.0 + snr * power / self.gain), share);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_micros(n)
    }

    /// An aggregate of 3 MPDUs of 1538 B, each with 4 B before and 2 B after it: the PSDU has 4630 B without the last
    /// padding. At 4630 us from 1000 us on, a byte takes 1 us.
    #[test]
    fn the_mpdus_of_an_aggregate_follow_each_other() {
        let mut aggregate = Overlap::new(&[], 1.0, (us(1000), us(5630)), (4630, true));
        let times: Vec<_> = (0..3).map(|_| aggregate.next(1538)).collect();
        assert_eq!(times, [(us(1004), us(2542)), (us(2548), us(4086)), (us(4092), us(5630))]);
        let mut alone = Overlap::new(&[], 1.0, (us(1000), us(2538)), (1538, false));
        assert_eq!(alone.next(1538), (us(1000), us(2538)));
    }

    /// A frame at 20 dB, so that the noise has 1 % of its power. Another frame of 3 % of its power overlaps the last
    /// quarter of an MPDU: there the ratio is 4 times lower. With arrivals of 0.9 without and 0.5 with it, the MPDU
    /// arrives with 0.9^(3/4) 0.5^(1/4) = 0.92402 x 0.84090 = 0.77701. The MPDU before is not overlapped.
    #[test]
    fn the_parts_of_an_mpdu_have_their_own_ratio() {
        let powers = [(us(0), 0.0), (us(175), 0.006), (us(300), 0.0)];
        let overlap = Overlap::new(&powers, 0.2, (us(0), us(200)), (200, false));
        let arrives = |lower: f64| {
            assert!([1.0, 4.0].iter().any(|want| (lower - want).abs() < 1e-12), "{lower}");
            if lower < 2.0 { 0.9 } else { 0.5 }
        };
        assert!((overlap.arrives((us(100), us(200)), 100.0, arrives) - 0.77701).abs() < 1e-5);
        assert!((overlap.arrives((us(0), us(100)), 100.0, arrives) - 0.9).abs() < 1e-12);
    }
}
