//! The plan of an exchange: its parts in order, their durations, and what each station learns if a part is not
//! received.
//!
//! A plan depends only on the burst, its protection and the durations at its rate. Any medium can use it. Each part
//! begins a SIFS after the end of the part before. The plan names its two stations by their roles: the *sender* has the
//! burst, the *receiver* answers.

use super::timing::{RateNumber, RateTable, Timing};
use crate::wifi::frame::{Account, Addba, FrameKind};
use crate::wifi::ids::{BROADCAST, StationId};
use crate::wifi::medium::phy::{
    Airtime, BLOCK_ACK_BYTES, CF_END_BYTES, CTS_BYTES, Format, Protection, REQUEST_BYTES, RTS_BYTES,
};
use crate::wifi::spec::Bitmap;
use contend_core::Span;

/// The next data of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    /// Its sender.
    pub(crate) from: StationId,
    /// Its receiver.
    pub(crate) to: StationId,
    /// IP packets in bytes.
    pub(crate) bytes: u32,
    /// What carries them.
    pub(crate) content: Content,
    /// The protection that precedes the data.
    pub(crate) protection: Protection,
    /// The rate of its data. The rates of the other parts follow from it.
    pub(crate) rate: RateNumber,
    /// With multiple protection, what is left of the transmission opportunity when its exchange begins; else zero.
    pub(crate) reserves: Span,
}

/// What a burst is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// One MPDU with one packet; an ACK answers.
    Packet,
    /// One MPDU of so many bytes with several packets (A-MSDU); an ACK answers.
    Together(u32),
    /// An A-MPDU of so many bytes; a block acknowledgment with this bitmap answers.
    Aggregate(u32, Bitmap),
    /// A request for a block acknowledgment with this bitmap.
    Request(Bitmap),
    /// A beacon of so many bytes, for all; nothing answers.
    Beacon(u32),
    /// An action frame at the lowest basic rate; an ACK answers.
    Action(Addba),
}

impl Content {
    /// What answers it.
    pub(crate) fn answer(self) -> PartKind {
        match self {
            Content::Packet | Content::Together(_) | Content::Beacon(_) | Content::Action(_) => PartKind::Ack,
            Content::Aggregate(..) | Content::Request(_) => PartKind::BlockAck,
        }
    }
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer to its RTS.
    Cts,
    /// The answer to its data, or to its request for a block acknowledgment.
    Ack,
}

/// Kinds of part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// Request to send.
    Rts,
    /// Clear to send, as the answer to an RTS.
    Cts,
    /// Clear to send, addressed to the sender itself (CTS-to-self). All stations hear it; there is no answer.
    CtsToSelf,
    /// Data.
    #[default]
    Data,
    /// Request for a block acknowledgment.
    Request,
    /// Acknowledgment.
    Ack,
    /// Block acknowledgment.
    BlockAck,
    /// The end of a transmission opportunity, after its last exchange. All stations hear it; there is no answer.
    CfEnd,
    /// A beacon. All stations hear it; there is no answer.
    Beacon,
    /// An action frame.
    Action,
}

/// One frame of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it is.
    pub(crate) kind: PartKind,
    /// The time from the start of the exchange to the start of this part.
    pub(crate) start: Span,
    /// How long it is on the air.
    pub(crate) airtime: Span,
}

/// For each station: the time from the end of a part that was not received to the start of the station's next
/// inter-frame space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    /// The sender of the exchange.
    pub(crate) sender: Span,
    /// The receiver of the exchange; `None` if it behaves like the other stations.
    pub(crate) receiver: Option<Span>,
    /// All other stations; they have decoded every earlier part.
    pub(crate) others: Span,
}

/// The parts of an exchange in which every part is received: the kinds are a list that follows from the protection, and
/// each part follows from its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    burst: Burst,
    kinds: &'static Kinds,
    timing: &'a Timing,
    rates: &'a RateTable,
    /// The data, or the request.
    data: Airtime,
    answer: Span,
}

/// The kinds of the parts of an exchange.
#[derive(Debug)]
struct Kinds {
    /// In the order of the parts.
    list: &'static [PartKind],
    /// The same as a set, one bit for each, so that a look at one kind is no search.
    set: u16,
}

impl Kinds {
    const fn new(list: &'static [PartKind]) -> Kinds {
        let (mut set, mut i) = (0, 0);
        while i < list.len() {
            set |= 1 << list[i] as u16;
            i += 1;
        }
        Kinds { list, set }
    }

    #[inline]
    fn contain(&self, kind: PartKind) -> bool {
        self.set >> kind as u16 & 1 == 1
    }
}

impl PartKind {
    /// The kind of its frame.
    #[inline]
    pub(crate) fn frame(self) -> FrameKind {
        match self {
            PartKind::Rts => FrameKind::Rts,
            PartKind::Cts | PartKind::CtsToSelf => FrameKind::Cts,
            PartKind::Data => FrameKind::Data,
            PartKind::Request => FrameKind::Request,
            PartKind::Ack => FrameKind::Ack,
            PartKind::BlockAck => FrameKind::BlockAck,
            PartKind::CfEnd => FrameKind::CfEnd,
            PartKind::Beacon => FrameKind::Beacon,
            PartKind::Action => FrameKind::Action,
        }
    }

    /// The answer that does not come when a part of this kind is not received.
    pub(crate) fn missing(self) -> Answer {
        match self {
            PartKind::Rts | PartKind::Cts | PartKind::CtsToSelf => Answer::Cts,
            PartKind::Data
            | PartKind::Request
            | PartKind::Ack
            | PartKind::BlockAck
            | PartKind::CfEnd
            | PartKind::Beacon
            | PartKind::Action => Answer::Ack,
        }
    }

    /// True if packets reach the receiver with it. A request shows the receiver that it need not wait for what is
    /// missing; an action frame demands an answer, or permits aggregates.
    #[inline]
    pub(crate) fn delivers(self) -> bool {
        matches!(self, PartKind::Data | PartKind::Request | PartKind::Action)
    }
}

impl Part {
    /// From the start of the exchange to the end of this part.
    #[inline]
    pub(crate) fn end(&self) -> Span {
        self.start + self.airtime
    }
}

impl<'a> Plan<'a> {
    /// The plan of `burst`, whose frames have the durations of `rates`.
    #[inline(always)]
    pub(crate) fn new(burst: &Burst, timing: &'a Timing, rates: &'a RateTable) -> Plan<'a> {
        // §10.3.6: a broadcast has neither protection nor ACK.
        let may_be_protected = rates.is_protected || timing.limits.protection.is_long(burst.bytes);
        let protection = if may_be_protected && burst.to != BROADCAST { burst.protection } else { Protection::None };
        let (kinds, data, answer): (&Kinds, _, _) = if burst.content == Content::Packet {
            let kinds = if burst.to == BROADCAST {
                const { &Kinds::new(&[PartKind::Data]) }
            } else {
                Plan::with_ack(protection)
            };
            (kinds, rates.data(burst.bytes), rates.ack)
        } else {
            Plan::of_others(burst.content, protection, timing, rates)
        };
        Plan { burst: Burst { protection, ..*burst }, kinds, timing, rates, data, answer }
    }

    /// The kinds of a burst that an ACK answers.
    #[inline]
    fn with_ack(protection: Protection) -> &'static Kinds {
        match protection {
            Protection::None => const { &Kinds::new(&[PartKind::Data, PartKind::Ack]) },
            Protection::CtsToSelf => const { &Kinds::new(&[PartKind::CtsToSelf, PartKind::Data, PartKind::Ack]) },
            Protection::RtsCts => const { &Kinds::new(&[PartKind::Rts, PartKind::Cts, PartKind::Data, PartKind::Ack]) },
        }
    }

    /// The kinds, the duration of the data and that of the answer for a burst that is not a single packet.
    fn of_others(
        content: Content,
        protection: Protection,
        timing: &Timing,
        rates: &RateTable,
    ) -> (&'static Kinds, Airtime, Span) {
        let (psdu, bitmap) = match content {
            Content::Packet => return (Plan::with_ack(protection), rates.data(0), rates.ack),
            Content::Request(bitmap) => {
                return (
                    const { &Kinds::new(&[PartKind::Request, PartKind::BlockAck]) },
                    rates.request,
                    rates.block_ack[bitmap as usize],
                );
            }
            Content::Together(mpdu) => {
                return (Plan::with_ack(protection), rates.of_psdu(rates.rate.psdu(mpdu)), rates.ack);
            }
            Content::Beacon(bytes) => {
                return (const { &Kinds::new(&[PartKind::Beacon]) }, timing.lowest.airtime(bytes), Span::ZERO);
            }
            Content::Action(addba) => {
                return (
                    const { &Kinds::new(&[PartKind::Action, PartKind::Ack]) },
                    rates.rate.airtime(addba.bytes()),
                    rates.ack,
                );
            }
            Content::Aggregate(psdu, bitmap) => (psdu, bitmap),
        };
        let kinds: &Kinds = match protection {
            Protection::None => const { &Kinds::new(&[PartKind::Data, PartKind::BlockAck]) },
            Protection::CtsToSelf => const { &Kinds::new(&[PartKind::CtsToSelf, PartKind::Data, PartKind::BlockAck]) },
            Protection::RtsCts => {
                const { &Kinds::new(&[PartKind::Rts, PartKind::Cts, PartKind::Data, PartKind::BlockAck]) }
            }
        };
        (kinds, rates.of_psdu(psdu), rates.block_ack[bitmap as usize])
    }

    /// The part of this kind, if the plan has one.
    #[inline]
    pub(crate) fn part_of(&self, kind: PartKind) -> Option<Part> {
        self.kinds.contain(kind).then(|| self.part(kind))
    }

    /// The parts in order, at least one.
    #[inline]
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        self.kinds.list.iter().map(|&kind| self.part(kind))
    }

    /// The parts, if they are data and an ACK and nothing else.
    #[inline(always)]
    pub(crate) fn data_and_ack(&self) -> Option<[Part; 2]> {
        let is_so = self.kinds.set == const { Kinds::new(&[PartKind::Data, PartKind::Ack]).set };
        is_so.then(|| [self.part(PartKind::Data), self.part(PartKind::Ack)])
    }

    /// How long the whole exchange takes.
    #[inline]
    pub(crate) fn duration(&self) -> Span {
        self.duration_without_data() + self.data.total
    }

    /// How long its Duration fields reserve the medium, from the start of the exchange on.
    #[inline]
    pub(crate) fn reserved(&self) -> Span {
        self.duration().max(self.burst.reserves)
    }

    /// The CF-End that ends a transmission opportunity after this exchange.
    pub(crate) fn cf_end(&self) -> Part {
        self.part(PartKind::CfEnd)
    }

    /// How long the exchange takes besides its data.
    #[inline]
    pub(crate) fn duration_without_data(&self) -> Span {
        if self.burst.to == BROADCAST {
            return Span::ZERO;
        }
        self.before_data() + self.timing.sifs + self.answer
    }

    /// The time from the start of the exchange to the start of the data.
    #[inline]
    fn before_data(&self) -> Span {
        let (t, r) = (self.timing, self.rates);
        match self.burst.protection {
            Protection::None => Span::ZERO,
            Protection::CtsToSelf => r.cts + t.sifs,
            Protection::RtsCts => r.rts + t.sifs + r.cts + t.sifs,
        }
    }

    /// The first part that requires an answer; a CTS-to-self does not. A sender detects a collision when this answer is
    /// missing.
    #[inline]
    pub(crate) fn first_asking(&self) -> Part {
        match self.burst.protection {
            Protection::None => match self.burst.content {
                Content::Request(_) => self.part(PartKind::Request),
                Content::Beacon(_) => self.part(PartKind::Beacon),
                Content::Action(_) => self.part(PartKind::Action),
                Content::Packet | Content::Together(_) | Content::Aggregate(..) => self.part(PartKind::Data),
            },
            Protection::CtsToSelf => self.part(PartKind::Data),
            Protection::RtsCts => self.part(PartKind::Rts),
        }
    }

    /// The part of this kind.
    // A call costs half a per cent of a cell's instructions.
    #[inline(always)]
    fn part(&self, kind: PartKind) -> Part {
        let (sifs, r) = (self.timing.sifs, self.rates);
        let (start, airtime) = match kind {
            PartKind::Rts => (Span::ZERO, r.rts),
            PartKind::Cts => (r.rts + sifs, r.cts),
            PartKind::CtsToSelf => (Span::ZERO, r.cts),
            PartKind::Data | PartKind::Request | PartKind::Action => (self.before_data(), self.data.total),
            PartKind::Ack | PartKind::BlockAck => (self.before_data() + self.data.total + sifs, self.answer),
            PartKind::CfEnd => (self.duration() + sifs, self.timing.lowest.airtime(CF_END_BYTES).total),
            PartKind::Beacon => (Span::ZERO, self.data.total),
        };
        Part { kind, start, airtime }
    }

    /// Size of the PSDU of a part of this kind in bytes: an MPDU with its FCS, or an A-MPDU.
    #[inline]
    pub(crate) fn bytes(&self, kind: PartKind) -> u32 {
        match kind {
            PartKind::Rts => RTS_BYTES,
            PartKind::Cts | PartKind::CtsToSelf => CTS_BYTES,
            PartKind::Data => match self.burst.content {
                Content::Aggregate(bytes, _) | Content::Together(bytes) => bytes,
                Content::Packet | Content::Request(_) | Content::Beacon(_) | Content::Action(_) => {
                    self.burst.bytes + self.timing.limits.protection.overhead
                }
            },
            PartKind::Beacon | PartKind::Action => self.burst.bytes,
            PartKind::Request => REQUEST_BYTES,
            PartKind::CfEnd => CF_END_BYTES,
            PartKind::Ack => self.timing.ack_bytes,
            PartKind::BlockAck => match self.burst.content {
                Content::Aggregate(_, bitmap) | Content::Request(bitmap) => BLOCK_ACK_BYTES + bitmap.bytes(),
                Content::Packet | Content::Together(_) | Content::Beacon(_) | Content::Action(_) => BLOCK_ACK_BYTES,
            },
        }
    }

    /// The format of a part of this kind.
    pub(crate) fn format(&self, kind: PartKind) -> &'a Format {
        match kind {
            PartKind::Rts | PartKind::Cts | PartKind::CtsToSelf | PartKind::Request => &self.rates.control,
            PartKind::CfEnd | PartKind::Beacon => &self.timing.lowest,
            PartKind::Data | PartKind::Action => &self.rates.rate,
            PartKind::Ack | PartKind::BlockAck => &self.rates.answer,
        }
    }

    /// The sender and the receiver of the exchange.
    pub(crate) fn stations(&self) -> (StationId, StationId) {
        (self.burst.from, self.burst.to)
    }

    /// Transmitter and receiver of `part`.
    #[inline]
    pub(crate) fn ends(&self, part: &Part) -> (StationId, StationId) {
        let Burst { from, to, .. } = self.burst;
        match part.kind {
            PartKind::Rts | PartKind::Data | PartKind::Request | PartKind::Action => (from, to),
            PartKind::CtsToSelf => (from, from),
            PartKind::CfEnd | PartKind::Beacon => (from, BROADCAST),
            PartKind::Cts | PartKind::Ack | PartKind::BlockAck => (to, from),
        }
    }

    /// The Duration field of `part`: how long the exchange lasts after it, or with multiple protection the opportunity.
    #[inline]
    pub(crate) fn nav(&self, part: &Part) -> Span {
        if part.kind == PartKind::CfEnd { Span::ZERO } else { self.reserved() - part.end() }
    }

    /// The account for the airtime of `part`.
    #[inline]
    pub(crate) fn account(&self, part: &Part) -> Account {
        match part.kind {
            PartKind::Rts | PartKind::Cts | PartKind::CtsToSelf | PartKind::CfEnd => Account::RtsCts,
            PartKind::Data => {
                let payload = match self.burst.content {
                    Content::Packet => self.rates.payload(self.burst.bytes),
                    _ => self.rates.rate.payload(self.burst.bytes),
                };
                Account::Data { preamble: self.data.preamble, payload }
            }
            PartKind::Request | PartKind::Ack | PartKind::BlockAck | PartKind::Action => Account::Ack,
            PartKind::Beacon => Account::Beacon,
        }
    }

    /// What follows if `part` is not received.
    #[inline]
    pub(crate) fn silence(&self, part: &Part) -> Silence {
        let (t, r) = (self.timing, self.rates);
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
            PartKind::Data | PartKind::Request | PartKind::Action => {
                Silence { sender: r.ack_timeout, receiver: Some(could_not_decode), others }
            }
            // Nobody waits for an answer.
            PartKind::Beacon => Silence { sender: Span::ZERO, receiver: None, others },
            // The receiver of the exchange has sent this part. It waits for the time that the part reserves.
            PartKind::Cts | PartKind::CtsToSelf | PartKind::Ack | PartKind::BlockAck | PartKind::CfEnd => {
                Silence { sender: could_not_decode, receiver: None, others }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::access::Setting;
    use crate::wifi::ids::AP;
    use crate::wifi::medium::phy::{Phy, Preamble, Standard};
    use crate::wifi::sender::timing::{Limits, ProtectionRule};
    use crate::wifi::spec::TxopProtection;

    /// 802.11g at 54 Mb/s, answers at 6 Mb/s. By hand: data of 1500 B 254 us, RTS 58 us, CTS and ACK 50 us, and a
    /// protection CTS at 11 Mb/s 203 us.
    fn with<T>(protection: Protection, f: impl FnOnce(Plan<'_>) -> T) -> T {
        reserving(protection, 0, f)
    }

    /// As [`with`]; its frames reserve so many microseconds.
    fn reserving<T>(protection: Protection, reserves: u64, f: impl FnOnce(Plan<'_>) -> T) -> T {
        let mut phy = Phy::new(Standard::G, Preamble::Long);
        (phy.basic, phy.protection) = (vec![6_000_000], protection);
        let protects = phy.rate(if protection == Protection::CtsToSelf { 11_000_000 } else { 6_000_000 }).unwrap();
        let t = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            eifs_more: phy.eifs() - phy.difs(),
            short_collider_more: Span::ZERO,
            eifs_is_nav: false,
            limits: Limits {
                short: 7,
                long: 4,
                protection: ProtectionRule { rts_threshold: u32::MAX, overhead: phy.mpdu(0), otherwise: protection },
                txop_protection: TxopProtection::Single,
            },
            protection_rate: protects,
            lowest: phy.lowest_basic(),
            ack_bytes: 14,
            setting: Setting::of(&phy),
        };
        let r = RateTable::new(&phy, phy.rate(54_000_000).unwrap(), &t);
        let protection = t.limits.protection.of(1500);
        let (content, reserves) = (Content::Packet, Span::from_micros(reserves));
        let burst = Burst { from: 3, to: AP, bytes: 1500, content, protection, rate: 0, reserves };
        f(Plan::new(&burst, &t, &r))
    }

    fn starts_and_ends(plan: Plan<'_>) -> Vec<(PartKind, u64, u64)> {
        plan.parts().map(|p| (p.kind, p.start.as_micros(), p.end().as_micros())).collect()
    }

    #[test]
    fn parts_follow_each_other_a_sifs_apart() {
        use PartKind::{Ack, Cts, CtsToSelf, Data, Rts};
        let parts = |protection| with(protection, starts_and_ends);
        assert_eq!(parts(Protection::None), [(Data, 0, 254), (Ack, 264, 314)]);
        assert_eq!(parts(Protection::CtsToSelf), [(CtsToSelf, 0, 203), (Data, 213, 467), (Ack, 477, 527)]);
        assert_eq!(parts(Protection::RtsCts), [(Rts, 0, 58), (Cts, 68, 118), (Data, 128, 382), (Ack, 392, 442)]);
    }

    #[test]
    fn each_part_has_its_stations_its_bytes_and_the_rest_of_the_exchange_as_duration() {
        let told = |protection| {
            let one = |p: &Plan<'_>, part: &Part| (p.ends(part), p.bytes(part.kind), p.nav(part).as_micros());
            with(protection, |p| p.parts().map(|part| one(&p, &part)).collect::<Vec<_>>())
        };
        let rts_cts = [((3, 0), 20, 384), ((0, 3), 14, 324), ((3, 0), 1536, 60), ((0, 3), 14, 0)];
        assert_eq!(told(Protection::RtsCts), rts_cts);
        assert_eq!(told(Protection::CtsToSelf)[0], ((3, 3), 14, 324));
    }

    #[test]
    fn with_multiple_protection_duration_fields_last_until_the_end_of_the_opportunity() {
        let navs = |reserves| {
            let one = |p: &Plan<'_>, part: &Part| p.nav(part).as_micros();
            reserving(Protection::RtsCts, reserves, |p| p.parts().map(|part| one(&p, &part)).collect::<Vec<_>>())
        };
        // RTS ends at 58, CTS at 118, data at 382 and ACK at 442 us. The first exchange may last longer than the limit.
        assert_eq!(navs(1000), [942, 882, 618, 558]);
        assert_eq!(navs(400), [384, 324, 60, 0]);
        // By hand: 20 bytes at 6 Mb/s are 8 symbols after 20 us of preamble, and the signal extension.
        let end = reserving(Protection::None, 1000, |p| {
            let part = p.cf_end();
            let (from, to) = p.ends(&part);
            (part.start.as_micros(), part.airtime.as_micros(), from, to, p.bytes(part.kind), p.nav(&part).as_micros())
        });
        assert_eq!(end, (324, 58, 3, BROADCAST, 20, 0));
    }

    #[test]
    fn the_duration_is_the_end_of_the_last_part() {
        for protection in [Protection::None, Protection::CtsToSelf, Protection::RtsCts] {
            with(protection, |p| assert_eq!(p.parts().last().map(|part| part.end()), Some(p.duration())));
        }
    }

    #[test]
    fn a_collider_learns_of_it_after_the_first_part_that_asks_for_an_answer() {
        let asks = |protection| with(protection, |p| (p.first_asking().kind, p.first_asking().end().as_micros()));
        assert_eq!(asks(Protection::None), (PartKind::Data, 254));
        assert_eq!(asks(Protection::CtsToSelf), (PartKind::Data, 467));
        assert_eq!(asks(Protection::RtsCts), (PartKind::Rts, 58));
    }

    #[test]
    fn after_a_lost_part_each_station_waits_for_what_it_has_heard() {
        let us = |s: Silence| (s.sender.as_micros(), s.receiver.map(Span::as_micros), s.others.as_micros());
        let learn = |p: Plan<'_>| p.parts().map(|part| (us(p.silence(&part)), part.kind.missing())).collect::<Vec<_>>();
        let (silences, missing): (Vec<_>, Vec<_>) = with(Protection::RtsCts, learn).into_iter().unzip();
        // Timeout SIFS + slot + 20 us = 39 us; EIFS - DIFS = SIFS + 50 us = 60 us; NAV of an RTS: 39 + 10 + 50 + 9 us.
        assert_eq!(silences, [(39, Some(60), 108), (60, None, 324), (39, Some(60), 60), (60, None, 0)]);
        assert_eq!(missing, [Answer::Cts, Answer::Cts, Answer::Ack, Answer::Ack]);
    }
}
