//! The tins: which packets each takes, its share of the rate, and its own clock.
//!
//! Linux, `net/sched/sch_cake.c`: `cake_set_rate`, `cake_config_diffserv3` and its neighbours.

use super::cobalt::Law;
use super::flows::{Flows, Isolation};
use crate::time::{Span, Time};
use alloc::vec::Vec;

/// Bytes of the largest packet with its Ethernet header (`psched_mtu`).
pub(super) const MTU: u64 = 1514;

/// The time of `bytes` at `bps`, rounded down; zero without a rate. The least rate is 64 B/s.
pub(super) fn duration(bytes: u64, bps: u64) -> Span {
    if bps == 0 { Span::ZERO } else { Span::from_nanos(bytes * 8_000_000_000 / bps.max(512)) }
}

/// How packets are divided among tins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Diffserv {
    BestEffort,
    Precedence,
    Three,
    Four,
    Eight,
}

impl Diffserv {
    /// The words of the parameter `diffserv`.
    pub(super) const WORDS: &'static [&'static str] =
        &["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"];

    pub(super) fn new(word: &str) -> Diffserv {
        match word {
            "besteffort" => Diffserv::BestEffort,
            "precedence" => Diffserv::Precedence,
            "diffserv4" => Diffserv::Four,
            "diffserv8" => Diffserv::Eight,
            _ => Diffserv::Three,
        }
    }

    /// The tin for packets with this DSCP. With three and four tins, 0 is best effort and 1 is bulk.
    pub(super) fn tin(self, dscp: u8) -> usize {
        let af = |class: u8| (class * 8 + 2..=class * 8 + 6).contains(&dscp) && dscp.is_multiple_of(2);
        match (self, dscp) {
            (Diffserv::BestEffort, _) => 0,
            (Diffserv::Precedence, _) => usize::from(dscp >> 3 & 7),
            // LE, CS1; VA, EF, CS6, CS7, TOS4.
            (Diffserv::Three | Diffserv::Four, 1 | 8) => 1,
            (Diffserv::Three, 4 | 44 | 46 | 48 | 56) => 2,
            (Diffserv::Three, _) => 0,
            // CS4, CS5, VA, EF, CS6, CS7; then TOS4, CS2, CS3 and AF2x to AF4x.
            (Diffserv::Four, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            (Diffserv::Four, 4 | 16 | 24) => 2,
            (Diffserv::Four, _) => usize::from(af(2) || af(3) || af(4)) * 2,
            (Diffserv::Eight, 1) => 0,
            (Diffserv::Eight, 2 | 8) => 1,
            (Diffserv::Eight, 24) => 3,
            (Diffserv::Eight, 4) => 4,
            (Diffserv::Eight, 16) => 5,
            (Diffserv::Eight, 32 | 40 | 44 | 46) => 6,
            (Diffserv::Eight, 48 | 56) => 7,
            (Diffserv::Eight, _) if af(1) => 1,
            (Diffserv::Eight, _) if af(2) => 4,
            (Diffserv::Eight, _) if af(3) || af(4) => 3,
            (Diffserv::Eight, _) => 2,
        }
    }

    /// Rate and weight of each tin, in the order of their priority.
    fn shares(self, bps: u64) -> Vec<(u64, i64)> {
        let halved = |times: &[u32]| times.iter().map(|n| (bps >> n, 1024 >> n)).collect();
        match self {
            Diffserv::BestEffort => alloc::vec![(bps, 65_535)],
            Diffserv::Three => halved(&[0, 4, 2]),
            Diffserv::Four => halved(&[0, 4, 1, 2]),
            Diffserv::Precedence | Diffserv::Eight => {
                let next = |(rate, weight): &(u64, i64)| Some((rate * 7 / 8, weight * 7 / 8));
                core::iter::successors(Some((bps, 256)), next).take(8).collect()
            }
        }
    }

    /// The tins of a queue.
    pub(super) fn tins(self, isolation: Isolation) -> Vec<Tin> {
        self.shares(0).iter().map(|_| Tin::new(isolation)).collect()
    }

    /// Tells `tins` the rate of the shaper; 0: there is none.
    pub(super) fn set_rate(self, tins: &mut [Tin], bps: u64, rtt: Span) {
        tins.iter_mut().zip(self.shares(bps)).for_each(|(tin, (rate, weight))| tin.set_rate(rate, weight, rtt));
    }
}

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) flows: Flows,
    pub(super) law: Law,
    /// `tin_rate_bps`, in bits per second: above it, the tin has no priority.
    rate: u64,
    /// `time_next_packet`: until then the tin is above its rate.
    pub(super) next: Time,
    /// `tin_quantum`: bytes of a turn, without a shaper.
    pub(super) weight: i64,
    /// `tin_deficit`: bytes that it may still send in this round.
    pub(super) deficit: i64,
}

impl Tin {
    fn new(isolation: Isolation) -> Tin {
        let (flows, law) = (Flows::new(isolation), Law::default());
        Tin { flows, law, rate: 0, next: Time::ZERO, weight: 1, deficit: 0 }
    }

    // cake_set_rate: at a low rate there is time for a packet and a half.
    fn set_rate(&mut self, bps: u64, weight: i64, rtt: Span) {
        (self.rate, self.weight) = (bps, weight);
        self.flows.quantum = if bps == 0 { MTU } else { (bps / 8 / 4096).clamp(300, MTU) };
        let (target, mtu_time) = (Span::from_nanos(rtt.as_nanos() / 20), duration(MTU, bps));
        let raised = target.max(Span::from_nanos(mtu_time.as_nanos() * 3 / 2));
        let interval = (rtt + raised).saturating_sub(target).max(raised * 2);
        self.law = Law { target: raised, interval, mtu_time };
    }

    /// Charges a packet to the clock (`cake_advance_shaper`). A tin that is above its rate has at most one packet of
    /// debt.
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        let takes = duration(bytes, self.rate);
        if self.next < now {
            self.next = self.next.saturating_add(takes);
        } else {
            self.next = self.next.max(now.saturating_add(takes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The classes of RFC 4594 and 8622 by tin, as the tables of `sch_cake.c` and tc-cake(8) have them.
    #[test]
    fn code_points_have_their_tins() {
        let points = [0, 1, 2, 4, 8, 10, 16, 18, 24, 26, 32, 34, 40, 44, 46, 48, 56, 3, 9, 17, 63];
        let tins = |mode: Diffserv| points.map(|dscp| mode.tin(dscp));
        assert_eq!(tins(Diffserv::Three), [0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0]);
        assert_eq!(tins(Diffserv::Four), [0, 1, 0, 2, 1, 0, 2, 2, 2, 2, 3, 2, 3, 3, 3, 3, 3, 0, 0, 0, 0]);
        assert_eq!(tins(Diffserv::Eight), [2, 0, 1, 4, 1, 1, 5, 4, 3, 3, 6, 3, 6, 6, 6, 7, 7, 2, 2, 2, 2]);
        assert_eq!(tins(Diffserv::Precedence), [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 7, 0, 1, 2, 7]);
        assert_eq!(tins(Diffserv::BestEffort), [0; 21]);
    }

    /// By hand, rtt 100 ms. 100 Mb/s: a packet of 1514 B takes 121120 ns, so target and interval are 5 and 100 ms; the
    /// quantum is 12.5 MB/s / 4096 = 3051, at most 1514. The bulk tin has 6.25 Mb/s: 1937920 ns, quantum 190, at least
    /// 300. The voice tin has 25 Mb/s, quantum 762. tc-cake(8) shows the same in an example. 1 Mb/s: 12112 us, target
    /// 18168 us, interval 113168 us. Its bulk tin with 62500 b/s: 193792 us, target 290688 us, interval max(385688,
    /// 581376) us.
    #[test]
    fn a_low_rate_raises_target_and_interval() {
        let law = |bps, tin: usize| {
            let mut tins = Diffserv::Three.tins(Isolation::new("triple"));
            Diffserv::Three.set_rate(&mut tins, bps, Span::from_millis(100));
            let l = tins[tin].law;
            (l.target.as_micros(), l.interval.as_micros(), l.mtu_time.as_nanos(), tins[tin].flows.quantum)
        };
        assert_eq!(law(0, 0), (5000, 100_000, 0, 1514));
        assert_eq!(law(100_000_000, 0), (5000, 100_000, 121_120, 1514));
        assert_eq!(law(100_000_000, 1), (5000, 100_000, 1_937_920, 300));
        assert_eq!(law(100_000_000, 2), (5000, 100_000, 484_480, 762));
        assert_eq!(law(1_000_000, 0), (18_168, 113_168, 12_112_000, 300));
        assert_eq!(law(1_000_000, 1), (290_688, 581_376, 193_792_000, 300));
    }

    /// Seven eighths each, rounded down: 256, 224, 196, 171, ...
    #[test]
    fn eight_tins_have_seven_eighths_of_the_one_before() {
        let shares = Diffserv::Eight.shares(80);
        assert_eq!(shares, [(80, 256), (70, 224), (61, 196), (53, 171), (46, 149), (40, 130), (35, 113), (30, 98)]);
    }
}
