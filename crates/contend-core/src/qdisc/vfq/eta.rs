//! The virtual cost of a packet: the airtime of its exchange and of what the station will send (§9.2.2).

use crate::packet::{Flags, Packet, Segment};
use crate::qdisc::Link;
use crate::time::Span;

/// Size of TCP and IP header without options in bytes, which is also the size of a pure acknowledgment.
pub(super) const HEADER: u32 = 40;

/// Largest window without scaling, in bytes. A new flow has not advanced further than this (§9.3.2 permits no larger
/// window).
const FIRST_WINDOW: u64 = 65_536;

/// The source of the contention time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contention {
    /// The cell's own model.
    Model,
    /// Eq. 9.3.
    Fit,
    None,
}

/// The virtual cost, eta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eta {
    pub(super) simple: bool,
    pub(super) contention: Contention,
    /// True if only the bits of an IP packet cost, without the overhead of the exchange.
    pub(super) bits: bool,
    pub(super) overhead: Span,
    /// MTU: size of a station's data packets in bytes.
    pub(super) segment: u32,
    /// ACKBURST: largest number of segments that one acknowledgment may acknowledge.
    pub(super) burst: u64,
    pub(super) ap: u32,
}

impl Eta {
    /// The cost of packet `p` to `station`. `p` acknowledges `news` bytes, and `nodes` nodes are live. In ns, or in
    /// bytes for the simple form.
    #[inline]
    pub(super) fn of(&self, link: &dyn Link, station: u32, nodes: u32, p: &Packet, news: u64) -> f64 {
        if self.simple {
            return f64::from(p.size.max(1));
        }
        let contention = self.contention(link, nodes.saturating_add(self.ap));
        // Starzetz eq. 9.2: T80211(n) = contention(N) + phy_time(n) + overhead.
        let around = if self.bits { link.exchange(station, 0) } else { Span::ZERO };
        let t = |bytes: u32| {
            contention + (link.exchange(station, bytes).saturating_sub(around) + self.overhead).as_nanos() as f64
        };
        let eta = if !p.is_reverse() {
            // Eq. 9.1: the packet plus the acknowledgment that it will cause.
            t(p.size) + t(HEADER)
        } else if news == 0 {
            // §9.2.2 (d): a duplicate, which causes the station to send the missing segment again.
            t(p.size) + t(self.segment)
        } else {
            // Eq. 9.4: the acknowledgment plus the segments that it acknowledges.
            let payload = u64::from(self.segment - HEADER);
            let rest = (news % payload) as u32;
            t(p.size) + (news / payload) as f64 * t(self.segment) + if rest > 0 { t(rest + HEADER) } else { 0.0 }
        };
        eta.max(1.0)
    }

    /// Contention time per success, in ns.
    #[inline]
    fn contention(&self, link: &dyn Link, contenders: u32) -> f64 {
        match self.contention {
            Contention::Model => link.contention(contenders).as_nanos() as f64,
            Contention::Fit => contention_fit(contenders) * link.slot().as_nanos() as f64,
            Contention::None => 0.0,
        }
    }

    /// The assumed previous acknowledgment of an unknown flow with acknowledgment `s`. 0 if `s` is within the first
    /// window of a new flow; otherwise a value for which `s` is not split.
    #[inline]
    pub(super) fn first(&self, s: &Segment) -> u64 {
        if s.ack <= FIRST_WINDOW { 0 } else { s.ack.saturating_sub(self.most(s)) }
    }

    /// The largest number of bytes that an acknowledgment like `s` may acknowledge at once.
    #[inline]
    pub(super) fn most(&self, s: &Segment) -> u64 {
        let whole =
            self.simple || !s.sack.is_empty() || s.flags.has(Flags::SYN) || s.flags.has(Flags::FIN) || s.len > 0;
        if whole { u64::MAX } else { self.burst * u64::from(self.segment - HEADER) }
    }
}

/// Mean number of contention slots before a success while `n` stations contend in a saturated 802.11b cell. The formula
/// is a fit to a simulation; the document does not claim that the curve is exponential.
pub fn contention_fit(n: u32) -> f64 {
    let n = f64::from(n);
    // Starzetz eq. 9.3.
    31.43747 * libm::exp(-n / 0.85404)
        + 5.03185 * libm::exp(-n / 5.48378)
        + 1.24346 * libm::exp(-n / 61.45172)
        + 0.32783
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::testbench::*;

    /// 802.11b at 11 Mb/s with long preambles and acknowledgments at 2 Mb/s: DIFS 50, preamble 192, SIFS 10, ACK 248
    /// us; 36 bytes of MAC and LLC headers.
    struct LongPreamble;

    impl Link for LongPreamble {
        fn neighbour(&self, p: &Packet) -> u32 {
            p.flow.0
        }
        fn exchange(&self, _: u32, bytes: u32) -> Span {
            Span::from_micros(50 + 192 + (u64::from(bytes + 36) * 8).div_ceil(11) + 10 + 248)
        }
        fn contention(&self, _: u32) -> Span {
            Span::from_micros(1)
        }
        fn slot(&self) -> Span {
            Span::from_micros(20)
        }
    }

    fn eta(contention: Contention, simple: bool) -> Eta {
        Eta { simple, contention, bits: false, overhead: Span::ZERO, segment: 1500, burst: 8, ap: 0 }
    }

    /// Spec S16: the values of eq. 9.3 in slots.
    #[test]
    fn the_fit_of_contention_has_its_listed_values() {
        let listed = [
            (1, 15.49),
            (2, 8.05),
            (3, 5.36),
            (4, 4.21),
            (5, 3.59),
            (6, 3.17),
            (8, 2.59),
            (10, 2.20),
            (15, 1.63),
            (20, 1.36),
            (30, 1.11),
            (40, 0.98),
            (60, 0.80),
            (100, 0.57),
        ];
        for (n, slots) in listed {
            assert!((contention_fit(n) - slots).abs() < 0.0051, "N = {n}: {}", contention_fit(n));
        }
    }

    /// Spec E25, N = 4: T(1500) about 1705 us, T(40) about 645 us, eta of a packet of 1500 bytes about 2350 us or 117
    /// slots, ratio 0.38.
    #[test]
    fn the_cost_of_a_packet_of_802_11b_is_that_of_fig_9_4() {
        let e = eta(Contention::Fit, false);
        let us = |p: &Packet, news| e.of(&LongPreamble, 1, 4, p, news) / 1e3;
        let contention = e.contention(&LongPreamble, 4) / 1e3;
        let t = |n| contention + LongPreamble.exchange(1, n).as_nanos() as f64 / 1e3;
        assert!((t(1500) / 1705.0 - 1.0).abs() < 0.01 && (t(40) / 645.0 - 1.0).abs() < 0.01, "{} {}", t(1500), t(40));
        assert!((t(40) / t(1500) - 0.38).abs() < 0.005);
        let data = us(&packet(1, 1500), 0);
        assert!((data / 2350.0 - 1.0).abs() < 0.01 && libm::round(data / 20.0) == 117.0, "{data}");
        // An acknowledgment of one full segment costs the same as a full segment with its acknowledgment.
        assert!((us(&ack(1, 1460), 1460) - data).abs() < 1e-6);
        // Two segments and 100 bytes: eq. 9.4. A duplicate: one segment.
        assert!((us(&ack(1, 0), 3020) - (t(40) + 2.0 * t(1500) + t(140))).abs() < 1e-6);
        assert!((us(&ack(1, 0), 0) - data).abs() < 1e-6);
        assert!((eta(Contention::Model, true).of(&LongPreamble, 1, 4, &packet(1, 777), 0) - 777.0).abs() < 1e-9);
    }

    /// Table 9.1: with a base of 0 a packet costs its bits at 11 Mb/s: 1091 us for 1500 bytes, 29 us for 40.
    #[test]
    fn without_a_base_an_acknowledgment_of_many_segments_saves_next_to_nothing() {
        let e = Eta { bits: true, ..eta(Contention::None, false) };
        let us = |p: &Packet, news| e.of(&LongPreamble, 1, 6, p, news) / 1e3;
        assert!((us(&packet(1, 1500), 0) - 1120.0).abs() < 1e-6);
        assert!((us(&ack(1, 2920), 2920) - 2211.0).abs() < 1e-6);
        // The basis of claim C16: a segment of an upload costs 1.3 % less than a segment of a download here, and 14 to
        // 16 % less with the whole exchange.
        let whole = eta(Contention::Fit, false);
        let ratio = |e: &Eta| {
            2.0 * e.of(&LongPreamble, 1, 6, &packet(1, 1500), 0) / e.of(&LongPreamble, 1, 6, &ack(1, 2920), 2920)
        };
        assert!(
            (ratio(&e) - 1.0131).abs() < 5e-4 && (1.14..1.16).contains(&ratio(&whole)),
            "{} {}",
            ratio(&e),
            ratio(&whole)
        );
    }
}
