//! The arithmetic of XCP-Winf and RCP-Winf: the values that a queue uses as capacity, load and throughput of a sender.
//!
//! Several printed equations contradict the claims of the thesis. Each has its printed form and a repaired one. Rates
//! are in bytes per second.

use crate::packet::Packet;
use crate::time::{Span, Time};
use alloc::vec::Vec;

/// A node's estimate of its own air: the shared database of Barreto 2012 §5.3.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Air {
    /// Capacity (C_winf).
    pub capacity: f64,
    /// Available bandwidth (AB_winf).
    pub available: f64,
}

/// The value that XCP uses as the load of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// What arrived at the queue, as in XCP.
    Used,
    /// Eq. 5.5 as printed: the available bandwidth is used as the load. Feedback grows with the load.
    Literal,
    /// Eq. 5.5 with the available bandwidth as the spare capacity.
    Available,
}

impl Load {
    /// The words of the parameter `load`.
    pub const WORDS: &[&str] = &["literal", "available", "used"];

    /// Reads a word of [`Load::WORDS`].
    pub fn new(word: &str) -> Load {
        match word {
            "literal" => Load::Literal,
            "available" => Load::Available,
            _ => Load::Used,
        }
    }

    /// The spare capacity, and the traffic of which a share is shuffled between flows. `input` is the rate of arrivals.
    pub fn spare_and_traffic(self, air: &Air, input: f64) -> (f64, f64) {
        let (c, ab) = (air.capacity, air.available);
        match self {
            Load::Used => (c - input, input),
            Load::Literal => (c - ab, ab),
            Load::Available => (ab, (c - ab).max(0.0)),
        }
    }
}

/// The value that RCP uses as the input of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// What arrived at the queue, as in RCP.
    Measured,
    /// Eq. 5.15 as printed: the input is the capacity, so the rate decays to its floor.
    Literal,
    /// The air that is in use: capacity minus available bandwidth.
    Airtime,
}

impl Input {
    /// The words of the parameter `input`.
    pub const WORDS: &[&str] = &["literal", "measured", "airtime"];

    /// Reads a word of [`Input::WORDS`].
    pub fn new(word: &str) -> Input {
        match word {
            "literal" => Input::Literal,
            "airtime" => Input::Airtime,
            _ => Input::Measured,
        }
    }

    /// The input that RCP uses. `measured` is the rate of arrivals.
    pub fn of(self, air: &Air, measured: f64) -> f64 {
        match self {
            Input::Measured => measured,
            Input::Literal => air.capacity,
            Input::Airtime => (air.capacity - air.available).max(0.0),
        }
    }
}

/// How RCP writes its rate into a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The smaller of the header's rate and the queue's, as in RCP.
    Rate,
    /// Eq. 5.18 and then as in RCP: a request above the capacity becomes the capacity.
    Both,
    /// Eq. 5.18 alone: the queue's rate is not used.
    Capacity,
}

impl Stamp {
    /// The words of the parameter `stamp`.
    pub const WORDS: &[&str] = &["rate", "both", "capacity"];

    /// Reads a word of [`Stamp::WORDS`].
    pub fn new(word: &str) -> Stamp {
        match word {
            "both" => Stamp::Both,
            "capacity" => Stamp::Capacity,
            _ => Stamp::Rate,
        }
    }

    /// The rate for a header that asks for `asked`.
    pub fn of(self, asked: f64, rate: f64, capacity: f64) -> f64 {
        match self {
            Stamp::Rate => asked.min(rate),
            Stamp::Both => asked.min(capacity).min(rate),
            Stamp::Capacity => asked.min(capacity),
        }
    }
}

/// The flows that cross a node, to compute the share of the capacity for flows with explicit headers.
#[derive(Debug, Default)]
pub struct Flows {
    /// For each flow when its last data packet was seen, and whether this packet had an explicit header.
    seen: Vec<Option<(Time, bool)>>,
}

/// Time after which a silent flow does not count (Barreto 2012 leaves it open).
const SILENT: Span = Span::from_secs(2);

impl Flows {
    /// A packet arrived at `now`. Acknowledgments and messages of stations do not count.
    pub fn saw(&mut self, p: &Packet, now: Time) {
        if p.is_reverse() || p.is_message() {
            return;
        }
        let i = p.flow.0 as usize;
        if i >= self.seen.len() {
            self.seen.resize(i + 1, None);
        }
        if let Some(slot) = self.seen.get_mut(i) {
            *slot = Some((now, p.explicit_kind() != 0));
        }
    }

    /// Eq. 5.22: the share of the capacity for flows with explicit headers; 1 if there are none.
    pub fn share(&self, now: Time) -> f64 {
        let (mut explicit, mut all) = (0u32, 0u32);
        for &(_, has) in self.seen.iter().flatten().filter(|(at, _)| now.since(*at) <= SILENT) {
            (explicit, all) = (explicit + u32::from(has), all + 1);
        }
        if explicit == 0 { 1.0 } else { f64::from(explicit) / f64::from(all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::XCP;
    use crate::packet::{Body, Explicit, FlowId};

    /// Capacity 100, of which 30 are used.
    const IDLE: Air = Air { capacity: 100.0, available: 70.0 };
    const BUSY: Air = Air { capacity: 100.0, available: 10.0 };

    #[test]
    fn as_printed_the_spare_capacity_grows_with_the_load() {
        let spare = |load: Load, air: &Air| load.spare_and_traffic(air, air.capacity - air.available).0;
        assert!(spare(Load::Literal, &BUSY) > spare(Load::Literal, &IDLE));
        for load in [Load::Available, Load::Used] {
            assert_eq!((spare(load, &IDLE), spare(load, &BUSY)), (70.0, 10.0), "{load:?}");
        }
    }

    #[test]
    fn as_printed_the_input_is_the_capacity() {
        assert_eq!(Input::Literal.of(&IDLE, 30.0), 100.0);
        assert_eq!((Input::Measured.of(&IDLE, 25.0), Input::Airtime.of(&IDLE, 25.0)), (25.0, 30.0));
    }

    #[test]
    fn an_unlimited_request_gets_the_rate_or_the_capacity() {
        let inf = f64::INFINITY;
        assert_eq!((Stamp::Rate.of(inf, 20.0, 100.0), Stamp::Capacity.of(inf, 20.0, 100.0)), (20.0, 100.0));
        assert_eq!((Stamp::Both.of(inf, 20.0, 100.0), Stamp::Both.of(10.0, 20.0, 100.0)), (20.0, 10.0));
    }

    /// Eq. 5.22.
    #[test]
    fn explicit_flows_get_their_share_of_the_flows_that_are_not_silent() {
        let at = |s| Time::ZERO + Span::from_secs(s);
        let of = |flow| Packet::new(flow, 1000, Time::ZERO, Body::Udp { seq: 0 });
        let mut explicit = of(FlowId(3));
        explicit.set_explicit(XCP, Explicit::default());
        let mut flows = Flows::default();
        assert_eq!(flows.share(at(0)), 1.0);
        flows.saw(&explicit, at(1));
        flows.saw(&of(FlowId(0)), at(1));
        flows.saw(&of(FlowId(1)), at(2));
        assert_eq!(flows.share(at(3)), 1.0 / 3.0);
        assert_eq!(flows.share(at(4)), 1.0);
        flows.saw(&explicit, at(4));
        assert_eq!(flows.share(at(4)), 0.5);
        for none in [of(FlowId::MESSAGES), of(FlowId::RESOLUTION), of(FlowId(7)).reversed()] {
            flows.saw(&none, at(4));
        }
        assert_eq!(flows.share(at(4)), 0.5);
    }
}
