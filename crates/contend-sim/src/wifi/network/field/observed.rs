//! What observers, and queues that listen, are told.

use super::super::stations::Moment;
use super::radio::Own;
use super::{Field, Flight};
use crate::wifi::ids::{BROADCAST, StationId};
use crate::wifi::sender::plan::{Content, PartKind};
use contend_core::observe::{ExchangeOutcome, HeardFrame, Kind, OwnExchange};
use contend_core::{Span, Time};

impl Field {
    /// Tells the observers of `station` of a flight whose last bit has arrived there.
    #[inline(always)]
    pub(super) fn observe(&self, moment: &mut Moment<'_, '_>, f: &Flight, station: StationId, decoded: bool) {
        if moment.observers.listens(station) || moment.stations.listens(station) {
            self.tell(moment, f, station, decoded);
        }
    }

    /// See [`Field::observe`]; `station` has an observer, or a queue that learns from frames.
    #[inline(never)]
    fn tell(&self, moment: &mut Moment<'_, '_>, f: &Flight, station: StationId, decoded: bool) {
        let radio = &self.radios[station as usize];
        if radio.sends {
            return;
        }
        let is_data = f.kind == PartKind::Data;
        let packet = moment.stations.packet(f.owner).filter(|_| is_data && decoded).copied();
        let began = Time::from_nanos(moment.now.as_nanos() - (f.end - f.start).as_nanos());
        let mut heard = HeardFrame {
            kind: match f.kind {
                PartKind::Rts => Kind::Rts,
                PartKind::Cts | PartKind::CtsToSelf => Kind::Cts,
                PartKind::Data => Kind::Data,
                PartKind::Ack
                | PartKind::BlockAck
                | PartKind::Request
                | PartKind::CfEnd
                | PartKind::Beacon
                | PartKind::Action => Kind::Ack,
            },
            from: f.from,
            to: f.to,
            me: station,
            start: began.max(radio.stopped),
            end: moment.now,
            duration: f.nav,
            bytes: if is_data { f.bytes } else { 0 },
            decoded,
            note: None,
            packet: packet.as_ref(),
        };
        if moment.observers.listens(station) {
            moment.observers.heard(&mut heard);
        }
        if moment.stations.listens(station) {
            moment.stations.heard(&heard);
        }
    }

    /// Tells the observers of the station of `who` of its exchange `own`, which has ended at `end`.
    #[inline]
    pub(super) fn observe_own(&self, moment: &mut Moment<'_, '_>, own: &Own, outcome: ExchangeOutcome, end: Time) {
        let (who, station) = (own.who, moment.stations.station_of(own.who));
        if !moment.observers.listens(station) {
            return;
        }
        let Some(s) = moment.stations.in_service(who) else { return };
        if matches!(s.burst.content, Content::Beacon(_) | Content::Action(_)) {
            return;
        }
        let plan = moment.air.plan(&s.burst);
        let (since, slots) = moment.observers.contention(who);
        let first = own.start == own.won;
        let ifs = if first { self.countdowns[who as usize].rules.ifs } else { self.sifs };
        let data = own.data.unwrap_or(end);
        let x = OwnExchange {
            bytes: s.burst.bytes,
            attempt: u32::from(s.attempt) + 1,
            protected: plan.part_of(PartKind::Rts).is_some(),
            outcome: if s.burst.to == BROADCAST { ExchangeOutcome::Broadcast } else { outcome },
            // The inter-frame space counts even if it was over before the packet came.
            began: since.min(Time::from_nanos(own.start.as_nanos().saturating_sub(ifs.as_nanos()))),
            backoff: if first { self.slot * slots } else { Span::ZERO },
            data,
            data_time: plan.part_of(PartKind::Data).map_or(Span::ZERO, |part| part.airtime),
            end,
        };
        moment.observers.sent(station, &x);
    }
}
