//! AdHoc Probe: the capacity of a path from the dispersion of packet pairs.
//!
//! - A pair is two datagrams of a flow with the numbers 2k and 2k + 1 that left the application in the same instant,
//!   or, for a real application, within `within`.
//! - Of each `pairs` pairs, the one with the smallest sum of both one-way delays counts: neither of its packets waited.
//!   Its dispersion T gives the capacity S / T (eq. 2.5). A constant offset of the clocks cancels in the choice.
//! - The thesis sends 1500 B and 4 pairs a second. It does not say how many pairs form a round.
//! - It measures capacity only. The result stays at the receiver; in the original it travels back with the next probes.

use super::local::Local;
use super::{HeardFrame, Observer, OwnExchange, Radio};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::packet::{Body, FlowId};
use crate::registry::{Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Chen, Sun, Yang, Sanadidi, Gerla 2005, as Barreto 2012 §2.2.1 has it";
/// What it does.
pub const SUMMARY: &str = "Capacity of a path from the packet pair with the smallest delay: AdHoc Probe. Needs a UDP \
    flow whose datagrams leave in pairs.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::integer("pairs", "pairs from which the best one is taken").default("20").range(1.0, 1e6),
    Param::time("within", "time within which both datagrams of a pair leave; a real application needs some")
        .default("0s")
        .range(0.0, 1.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("S", "bytes of the IP packet of the second datagram"),
    symbol("s_1", "when the first datagram of a pair left the application"),
    symbol("s_2", "when the second one left it"),
    symbol("a_1", "when the first arrived"),
    symbol("a_2", "when the second arrived"),
    symbol("OWD", "sum of both one-way delays"),
    symbol("T", "dispersion of the pair"),
    symbol("C", "capacity of the path, in byte/s"),
    on("the second datagram of a pair (2k + 1 after 2k), which left at most `within` after the first"),
    eq("OWD = (a_1 − s_1) + (a_2 − s_2)", "Barreto 2012 §2.2.1"),
    eq("T = a_2 − a_1", ""),
    on("the last of `pairs` pairs"),
    eq("C = S / T", "Barreto 2012 eq. 2.5").when("the pair is that with the smallest `OWD`, of equal ones the first"),
];

/// Builds the observer.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Radio) -> Result<Box<dyn Observer>, Refusal> {
    Ok(Box::new(AdhocProbe {
        pairs: u32::try_from(args.integer("pairs")).unwrap_or(u32::MAX).max(1),
        within: args.time("within"),
        ..AdhocProbe::default()
    }))
}

/// The first packet of a pair.
#[derive(Clone, Copy, Debug)]
struct First {
    flow: FlowId,
    seq: u64,
    sent: Time,
    arrived: Time,
}

#[derive(Debug, Default)]
struct AdhocProbe {
    /// Pairs of a round.
    pairs: u32,
    /// Longest time between both datagrams of a pair.
    within: Span,
    /// Complete pairs of this round.
    complete: u32,
    first: Option<First>,
    /// Smallest sum of delays in this round, and the capacity by that pair in bytes per second.
    best: Option<(Span, u64)>,
    capacity: Option<u64>,
    updated: Time,
}

impl Observer for AdhocProbe {
    fn heard(&mut self, f: &HeardFrame<'_>) {
        let Some(p) = f.packet.filter(|_| f.decoded && f.to == f.me) else { return };
        let Body::Udp { seq } = p.body else { return };
        if seq % 2 == 0 {
            self.first = Some(First { flow: p.flow, seq, sent: p.sent, arrived: f.end });
            return;
        }
        let is_second = |a: &First| (a.flow, a.seq + 1) == (p.flow, seq) && p.sent.since(a.sent) <= self.within;
        let Some(a) = self.first.filter(is_second) else { return };
        self.first = None;
        self.pair(p.size, [a.sent, p.sent], [a.arrived, f.end]);
    }

    fn sent(&mut self, _: &OwnExchange) {}

    fn local(&self, _: Time) -> Local {
        Local { capacity: self.capacity, updated: self.updated, ..Local::default() }
    }
}

impl AdhocProbe {
    fn pair(&mut self, bytes: u32, sent: [Time; 2], [first, second]: [Time; 2]) {
        let delays = first.since(sent[0]) + second.since(sent[1]);
        let dispersion = second.since(first);
        if let Some(capacity) = (u64::from(bytes) * 1_000_000_000).checked_div(dispersion.as_nanos())
            && self.best.is_none_or(|(least, _)| delays < least)
        {
            self.best = Some((delays, capacity));
        }
        self.complete += 1;
        if self.complete >= self.pairs {
            self.capacity = self.best.take().map(|b| b.1).or(self.capacity);
            self.updated = second;
            self.complete = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::packet::Packet;

    /// A probe's packet: number, sent and arrived in microseconds.
    fn hear(o: &mut AdhocProbe, seq: u64, sent: u64, arrived: u64) {
        let at = |us| Time::from_nanos(us * 1000);
        let p = Packet::new(FlowId(3), 1500, at(sent), Body::Udp { seq });
        let f = HeardFrame {
            kind: Kind::Data,
            from: 1,
            to: 2,
            me: 2,
            start: at(arrived - 1310),
            end: at(arrived),
            duration: Span::from_micros(314),
            bytes: 1500,
            decoded: true,
            note: None,
            packet: Some(&p),
        };
        o.heard(&f);
    }

    #[test]
    fn the_pair_with_the_smallest_delay_gives_the_capacity() {
        let mut o = AdhocProbe { pairs: 3, ..AdhocProbe::default() };
        // The first packet of the second pair waited, so its dispersion is too small; the third pair met cross traffic
        // between its packets.
        for (k, a, b) in [(0, 2_000, 4_659), (1, 5_000, 6_500), (2, 2_000, 9_000)] {
            let sent = 250_000 * k;
            hear(&mut o, 2 * k, sent, sent + a);
            hear(&mut o, 2 * k + 1, sent, sent + b);
            assert_eq!(o.local(Time::ZERO).capacity.is_some(), k == 2);
        }
        // 1500 B in 2659 us.
        assert_eq!(o.local(Time::ZERO).capacity, Some(564_121));
        assert_eq!(o.local(Time::ZERO).available, None);
    }

    #[test]
    fn the_datagrams_of_a_real_pair_leave_one_after_the_other() {
        let mut late = AdhocProbe { pairs: 1, ..AdhocProbe::default() };
        let mut real = AdhocProbe { pairs: 1, within: Span::from_millis(1), ..AdhocProbe::default() };
        for o in [&mut late, &mut real] {
            hear(o, 0, 0, 10_000);
            hear(o, 1, 100, 12_000);
        }
        assert_eq!((late.capacity, real.capacity), (None, Some(750_000)));
    }

    #[test]
    fn a_pair_that_lost_a_packet_does_not_count() {
        let mut o = AdhocProbe { pairs: 1, ..AdhocProbe::default() };
        hear(&mut o, 0, 0, 2_000);
        hear(&mut o, 3, 250_000, 252_000);
        hear(&mut o, 4, 500_000, 502_000);
        hear(&mut o, 5, 501_000, 503_000);
        assert_eq!(o.local(Time::ZERO).capacity, None);
    }
}
