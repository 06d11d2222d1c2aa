//! The plan of an exchange: its parts in order, how long each is on the air, and what each station learns when one of
//! them is not received.
//!
//! A plan follows from a burst, the protection that goes before it and the durations of its rate, and from nothing
//! else: any medium can follow it. A part begins a SIFS after the end of the one before. The plan names its two stations
//! by their roles: the *sender* has the burst, the *receiver* answers.

use super::ledger::Account;
use super::phy::{ACK_BYTES, CTS_BYTES, Protection, RTS_BYTES, Rate};
use super::timing::{RateTable, Timing};
use super::{FrameKind, StationId};
use contend_core::Span;

/// What a sender would send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    /// Its sender.
    pub(super) from: StationId,
    /// Its receiver.
    pub(super) to: StationId,
    /// IP packet in bytes.
    pub(super) bytes: u32,
    /// What goes before the data.
    pub(super) protection: Protection,
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The answer to its RTS.
    Cts,
    /// The answer to its data.
    Ack,
}

/// Kinds of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// Request to send.
    Rts,
    /// Clear to send, as the answer to an RTS.
    Cts,
    /// Clear to send, addressed to the sender itself: everybody hears it, nobody answers it.
    CtsToSelf,
    /// Data.
    Data,
    /// Acknowledgment.
    Ack,
}

/// One frame of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What it is.
    pub(super) kind: PartKind,
    /// MPDU in bytes, FCS included.
    pub(super) bytes: u32,
    /// Rate of its payload in bits per second.
    pub(super) rate: u64,
    /// From the start of the exchange to the start of this part.
    pub(super) start: Span,
    /// How long it is on the air.
    pub(super) airtime: Span,
}

/// When the stations begin to count an inter-frame space again after a part that was not received, from the end of that
/// part on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    /// The sender of the exchange.
    pub(super) sender: Span,
    /// Its receiver; `None` when it does as all others.
    pub(super) receiver: Option<Span>,
    /// All others, who have decoded every part.
    pub(super) others: Span,
}

/// The parts of an exchange in which every part is received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    burst: Burst,
    /// PLCP preamble and header of the data, and the bits of the IP packet alone.
    data: (Span, Span),
    parts: [Part; Plan::CAPACITY],
    len: usize,
}

impl PartKind {
    /// The kind of its frame.
    #[inline]
    pub(super) fn frame(self) -> FrameKind {
        match self {
            PartKind::Rts => FrameKind::Rts,
            PartKind::Cts | PartKind::CtsToSelf => FrameKind::Cts,
            PartKind::Data => FrameKind::Data,
            PartKind::Ack => FrameKind::Ack,
        }
    }

    /// The answer that does not come when a part of this kind is not received.
    pub(super) fn missing(self) -> Answer {
        match self {
            PartKind::Rts | PartKind::Cts | PartKind::CtsToSelf => Answer::Cts,
            PartKind::Data | PartKind::Ack => Answer::Ack,
        }
    }
}

impl Part {
    const NONE: Part = Part { kind: PartKind::Ack, bytes: 0, rate: 0, start: Span::ZERO, airtime: Span::ZERO };

    /// From the start of the exchange to the end of this part.
    #[inline]
    pub(super) fn end(&self) -> Span {
        self.start + self.airtime
    }
}

impl Plan {
    /// Most parts of an exchange: RTS, CTS, data, ACK.
    const CAPACITY: usize = 4;

    /// The plan of `burst`, sent at the rate of `r`.
    #[inline]
    pub(super) fn new(burst: &Burst, t: &Timing, r: &RateTable) -> Plan {
        let data = r.data(burst.bytes);
        let after = |start, part: &Part| start + part.airtime + t.sifs;
        let part = |kind, bytes, rate: Rate, airtime, start| Part { kind, bytes, rate: rate.bps, start, airtime };
        // The data and its acknowledgment.
        let last_two = |start| {
            let data = part(PartKind::Data, burst.bytes + t.limits.protection.overhead, r.rate, data.total, start);
            (data, part(PartKind::Ack, ACK_BYTES, r.answer, r.ack, after(start, &data)))
        };
        let (parts, len) = match burst.protection {
            Protection::None => {
                let (data, ack) = last_two(Span::ZERO);
                ([data, ack, Part::NONE, Part::NONE], 2)
            }
            Protection::CtsToSelf => {
                let cts = part(PartKind::CtsToSelf, CTS_BYTES, r.control, r.cts, Span::ZERO);
                let (data, ack) = last_two(after(Span::ZERO, &cts));
                ([cts, data, ack, Part::NONE], 3)
            }
            Protection::RtsCts => {
                let rts = part(PartKind::Rts, RTS_BYTES, r.control, r.rts, Span::ZERO);
                let cts = part(PartKind::Cts, CTS_BYTES, r.control, r.cts, after(Span::ZERO, &rts));
                let (data, ack) = last_two(after(cts.start, &cts));
                ([rts, cts, data, ack], 4)
            }
        };
        Plan { burst: *burst, data: (data.preamble, r.payload(burst.bytes)), parts, len }
    }

    /// What it is the plan of.
    pub(super) fn burst(&self) -> &Burst {
        &self.burst
    }

    /// The parts in order, at least one.
    #[inline]
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.len]
    }

    /// How long the whole exchange takes.
    #[inline]
    pub(super) fn duration(&self) -> Span {
        self.parts().last().map_or(Span::ZERO, Part::end)
    }

    /// The first part that asks for an answer: a sender whose exchange collides learns of it when that does not come.
    #[inline]
    pub(super) fn first_asking(&self) -> &Part {
        let first = &self.parts[0];
        if first.kind == PartKind::CtsToSelf { &self.parts[1] } else { first }
    }

    /// Transmitter and receiver of `part`.
    #[inline]
    pub(super) fn ends(&self, part: &Part) -> (StationId, StationId) {
        let Burst { from, to, .. } = self.burst;
        match part.kind {
            PartKind::Rts | PartKind::Data => (from, to),
            PartKind::CtsToSelf => (from, from),
            PartKind::Cts | PartKind::Ack => (to, from),
        }
    }

    /// What the Duration field of `part` says: how long the exchange goes on after it.
    #[inline]
    pub(super) fn nav(&self, part: &Part) -> Span {
        self.duration() - part.end()
    }

    /// Where the airtime of `part` is booked.
    #[inline]
    pub(super) fn account(&self, part: &Part) -> Account {
        match part.kind {
            PartKind::Rts | PartKind::Cts | PartKind::CtsToSelf => Account::RtsCts,
            PartKind::Data => Account::Data { preamble: self.data.0, payload: self.data.1 },
            PartKind::Ack => Account::Ack,
        }
    }

    /// What follows when `part` is not received.
    pub(super) fn silence(&self, part: &Part, t: &Timing, r: &RateTable) -> Silence {
        let could_not_decode = t.eifs_more;
        let others = self.nav(part);
        match part.kind {
            // §10.3.2.4: a bystander whose NAV comes from an RTS resets it when nothing follows for 2 SIFS + CTS +
            // aRxPHYStartDelay + 2 slots; the CTS timeout is SIFS + slot + aRxPHYStartDelay.
            PartKind::Rts => Silence {
                sender: r.cts_timeout,
                receiver: Some(could_not_decode),
                others: r.cts_timeout + t.sifs + r.cts + t.slot,
            },
            PartKind::Data => Silence { sender: r.ack_timeout, receiver: Some(could_not_decode), others },
            // The receiver of the exchange has sent this part, and waits for what it announces.
            PartKind::Cts | PartKind::CtsToSelf | PartKind::Ack => {
                Silence { sender: could_not_decode, receiver: None, others }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::AP;
    use crate::wifi::access::Setting;
    use crate::wifi::phy::{Phy, Preamble, Standard};
    use crate::wifi::timing::{Limits, ProtectionRule};

    /// 802.11g at 54 Mb/s, answers at 6 Mb/s: by hand, data of 1500 B 254 us, RTS 58 us, CTS and ACK 50 us, and a CTS at
    /// 11 Mb/s, which protects, 203 us.
    fn plan(protection: Protection) -> (Plan, Timing, RateTable) {
        let mut phy = Phy::new(Standard::G, Preamble::Long);
        (phy.basic, phy.protection) = (vec![6_000_000], protection);
        let protects = phy.rate(if protection == Protection::CtsToSelf { 11_000_000 } else { 6_000_000 }).unwrap();
        let t = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            eifs_more: phy.eifs() - phy.difs(),
            limits: Limits {
                short: 7,
                long: 4,
                protection: ProtectionRule { rts_threshold: u32::MAX, overhead: phy.mpdu(0), otherwise: protection },
            },
            protection_rate: protects,
            setting: Setting::of(&phy),
        };
        let r = RateTable::new(&phy, phy.rate(54_000_000).unwrap(), &t);
        let burst = Burst { from: 3, to: AP, bytes: 1500, protection: t.limits.protection.of(1500) };
        (Plan::new(&burst, &t, &r), t, r)
    }

    fn starts_and_ends(plan: &Plan) -> Vec<(PartKind, u64, u64)> {
        plan.parts().iter().map(|p| (p.kind, p.start.as_micros(), p.end().as_micros())).collect()
    }

    #[test]
    fn parts_follow_each_other_a_sifs_apart() {
        use PartKind::{Ack, Cts, CtsToSelf, Data, Rts};
        let parts = |protection| starts_and_ends(&plan(protection).0);
        assert_eq!(parts(Protection::None), [(Data, 0, 254), (Ack, 264, 314)]);
        assert_eq!(parts(Protection::CtsToSelf), [(CtsToSelf, 0, 203), (Data, 213, 467), (Ack, 477, 527)]);
        assert_eq!(parts(Protection::RtsCts), [(Rts, 0, 58), (Cts, 68, 118), (Data, 128, 382), (Ack, 392, 442)]);
    }

    #[test]
    fn each_part_has_its_stations_its_bytes_and_the_rest_of_the_exchange_as_duration() {
        let (p, ..) = plan(Protection::RtsCts);
        let told: Vec<_> = p.parts().iter().map(|part| (p.ends(part), part.bytes, p.nav(part).as_micros())).collect();
        assert_eq!(told, [((3, 0), 20, 384), ((0, 3), 14, 324), ((3, 0), 1536, 60), ((0, 3), 14, 0)]);
        let (p, ..) = plan(Protection::CtsToSelf);
        assert_eq!((p.ends(&p.parts()[0]), p.nav(&p.parts()[0]).as_micros()), ((3, 3), 324));
    }

    #[test]
    fn a_collider_learns_of_it_after_the_first_part_that_asks_for_an_answer() {
        let asks = |protection| {
            let (p, ..) = plan(protection);
            (p.first_asking().kind, p.first_asking().end().as_micros())
        };
        assert_eq!(asks(Protection::None), (PartKind::Data, 254));
        assert_eq!(asks(Protection::CtsToSelf), (PartKind::Data, 467));
        assert_eq!(asks(Protection::RtsCts), (PartKind::Rts, 58));
    }

    #[test]
    fn after_a_lost_part_each_station_waits_for_what_it_has_heard() {
        let (p, t, r) = plan(Protection::RtsCts);
        let us = |s: Silence| (s.sender.as_micros(), s.receiver.map(Span::as_micros), s.others.as_micros());
        let silences: Vec<_> = p.parts().iter().map(|part| us(p.silence(part, &t, &r))).collect();
        // Timeout SIFS + slot + 20 us = 39 us; EIFS - DIFS = SIFS + 50 us = 60 us; NAV of an RTS: 39 + 10 + 50 + 9 us.
        assert_eq!(silences, [(39, Some(60), 108), (60, None, 324), (39, Some(60), 60), (60, None, 0)]);
        let missing: Vec<_> = p.parts().iter().map(|part| part.kind.missing()).collect();
        assert_eq!(missing, [Answer::Cts, Answer::Cts, Answer::Ack, Answer::Ack]);
    }
}
