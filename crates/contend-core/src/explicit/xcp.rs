//! XCP's arithmetic: what a queue sums up over a control interval, and how it divides its feedback among packets.
//!
//! Rates are in bytes per second, times in seconds. `inverse` is the size of a packet divided by the throughput of its
//! sender: the mean time between two packets of this sender.

use crate::packet::Explicit;

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Bytes that arrived in this interval (phi).
    input: f64,
    /// Sum of `inverse` over the packets of the interval.
    inverse: f64,
    /// Sum of round-trip time x `inverse`.
    weighted: f64,
    /// Positive and negative feedback of the interval that is not yet given out.
    positive: f64,
    negative: f64,
    /// Positive feedback for each unit of `inverse` (p_f), and negative feedback for each byte (n_f).
    per_inverse: f64,
    per_byte: f64,
}

impl Shares {
    /// A packet of `bytes` arrived.
    pub fn arrived(&mut self, bytes: f64) {
        self.input += bytes;
    }

    /// The arrived packet has a header with the round-trip time `rtt`.
    pub fn counted(&mut self, inverse: f64, rtt: f64) {
        self.inverse += inverse;
        self.weighted += rtt * inverse;
    }

    /// Bytes that arrived in this interval.
    pub fn input(&self) -> f64 {
        self.input
    }

    /// The mean round-trip time of the interval, weighted by `inverse`; `None` if no header arrived.
    pub fn mean_rtt(&self) -> Option<f64> {
        (self.inverse > 0.0).then(|| self.weighted / self.inverse)
    }

    /// True if nothing arrived, and nothing is left to give out.
    pub fn is_empty(&self) -> bool {
        *self == Shares::default()
    }

    /// Ends the interval. `change` (F) is the change of the aggregate; `shuffled` is taken from the flows in proportion
    /// to their rates, and given to all flows equally. Both are given out in the next interval.
    pub fn allot(&mut self, change: f64, shuffled: f64) {
        let was = core::mem::take(self);
        if was.input > 0.0 {
            self.positive = change.max(0.0) + shuffled;
            self.negative = (-change).max(0.0) + shuffled;
            // Barreto 2012 eq. 5.6, 5.7.
            self.per_inverse = self.positive / if was.inverse > 0.0 { was.inverse } else { 1.0 };
            self.per_byte = self.negative / was.input;
        }
    }

    /// Writes the feedback into the header of a packet of `bytes` that leaves. Returns the header.
    pub fn stamp(&mut self, bytes: f64, inverse: f64, mut h: Explicit) -> Explicit {
        if h.rtt_us == 0 {
            return Explicit { change: 0, ..h };
        }
        // Barreto 2012 eq. 5.8 to 5.10.
        let mut positive = (self.per_inverse * inverse).min(self.positive);
        let mut negative = (self.per_byte * bytes).min(self.negative);
        let feedback = positive - negative;
        let asked = f64::from(h.change);
        if asked >= feedback {
            h.change = libm::round(feedback).clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
        } else {
            // The sender asks for less. The rest stays for the others.
            negative = (negative + (feedback - asked)).min(self.negative);
            positive = asked + negative;
        }
        self.positive = (self.positive - positive).max(0.0);
        self.negative = (self.negative - negative).max(0.0);
        if self.positive == 0.0 {
            self.per_inverse = 0.0;
        }
        if self.negative == 0.0 {
            self.per_byte = 0.0;
        }
        h
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Explicit = Explicit { rtt_us: 100_000, throughput: 0, change: i32::MAX };

    /// One interval of 0.1 s with these flows (bytes per second), in packets of 1000 B. Returns the feedback that each
    /// flow gets in the next interval.
    fn interval(flows: &[f64], change: f64, shuffled: f64) -> alloc::vec::Vec<f64> {
        let mut s = Shares::default();
        let packets: alloc::vec::Vec<usize> = flows.iter().map(|f| (f * 0.1 / 1000.0) as usize).collect();
        for (f, n) in flows.iter().zip(&packets) {
            for _ in 0..*n {
                s.arrived(1000.0);
                s.counted(1000.0 / f, 0.1);
            }
        }
        assert!((s.mean_rtt().unwrap() - 0.1).abs() < 1e-12);
        s.allot(change, shuffled);
        let mut got = alloc::vec::Vec::new();
        for (f, n) in flows.iter().zip(&packets) {
            got.push((0..*n).map(|_| f64::from(s.stamp(1000.0, 1000.0 / f, HEADER).change)).sum());
        }
        got
    }

    #[test]
    fn spare_capacity_is_shared_equally_and_a_cut_in_proportion() {
        let up = interval(&[1_000_000.0, 250_000.0], 100_000.0, 0.0);
        assert!((up[0] - 50_000.0).abs() < 100.0 && (up[1] - 50_000.0).abs() < 100.0, "{up:?}");
        let down = interval(&[1_000_000.0, 250_000.0], -100_000.0, 0.0);
        assert!((down[0] + 80_000.0).abs() < 100.0 && (down[1] + 20_000.0).abs() < 100.0, "{down:?}");
    }

    #[test]
    fn shuffling_moves_rate_from_the_fast_flow_to_the_slow_one() {
        let got = interval(&[1_000_000.0, 250_000.0], 0.0, 125_000.0);
        // Each gets half of 125 kB/s; the fast one gives 100, the slow one 25.
        assert!((got[0] + 37_500.0).abs() < 100.0 && (got[1] - 37_500.0).abs() < 100.0, "{got:?}");
    }

    #[test]
    fn a_sender_that_asks_for_less_gets_what_it_asks_for() {
        let mut s = Shares { positive: 1000.0, per_inverse: 1000.0, ..Shares::default() };
        assert_eq!(s.stamp(1000.0, 0.5, Explicit { change: 100, ..HEADER }).change, 100);
        assert!((s.positive - 900.0).abs() < 1e-9);
        assert_eq!(s.stamp(1000.0, 0.5, Explicit { rtt_us: 0, ..HEADER }).change, 0);
    }
}
