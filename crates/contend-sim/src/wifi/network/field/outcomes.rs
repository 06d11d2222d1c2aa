//! Exchanges end: their stations act on it.

use super::super::frame_log::OnAir;
use super::super::stations::Moment;
use super::Field;
use super::book::Doing;
use super::radio::{Failed, Own, Unclear};
use crate::wifi::frame::FrameOutcome;
use crate::wifi::ids::{BROADCAST, Contender, StationId};
use crate::wifi::sender::mac::{Failure, Next};
use crate::wifi::sender::plan::{Answer, Burst, PartKind};
use contend_core::observe::ExchangeOutcome;
use contend_core::{Span, Time};

impl Field {
    /// The burst of `who` has been acknowledged.
    pub(super) fn succeed(&mut self, moment: &mut Moment<'_, '_>, who: Contender) {
        let station = moment.stations.station_of(who);
        let Some(own) = self.radios[station as usize].own.take() else { return };
        let now = moment.now;
        self.observe_own(moment, &own, ExchangeOutcome::Acked, now);
        moment.report(who, now - own.start, true);
        let follows = now + self.sifs;
        let burst = moment.stations.in_service(who).map(|s| s.burst);
        let snr = burst.and_then(|burst| self.reception.snr(moment.air.channel_of(&burst)));
        let heard = self.heard(moment, who);
        let next = moment.answered(who, heard, snr, follows - own.won);
        if next == Next::GoOn {
            self.keep_gap(now, station);
            self.radios[station as usize].own = Some(Own { start: follows, data: None, over: follows, ..own });
            self.owe(moment, station, who, PartKind::Data);
            return;
        }
        let ends = burst.filter(|b| !b.reserves.is_zero()).and_then(|b| self.end_early(moment, &own, &b));
        self.idle_for_all(ends.unwrap_or(now));
        self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
        moment.observers.contends(who, ends.unwrap_or(now), Some(next.slots()));
    }

    /// Another frame of the transmission opportunity of `station` follows an answer that has arrived at `now`.
    fn keep_gap(&mut self, now: Time, station: StationId) {
        // IEEE 802.11-2016 §9.2.5.2: Duration fields reach over the gap before the next frame of the opportunity.
        for h in self.links.hearers(now, station).iter().filter(|h| h.decodes) {
            self.radios[h.station as usize].nav.reserve(now + self.sifs, None, station);
        }
    }

    /// The exchange `own` of `burst` was the last of its transmission opportunity, which reserves more. If there is
    /// time for a CF-End, its sender sends one (IEEE 802.11-2020 §10.23.2.10). Returns when the CF-End ends.
    fn end_early(&mut self, moment: &mut Moment<'_, '_>, own: &Own, burst: &Burst) -> Option<Time> {
        let (now, station, plan) = (moment.now, burst.from, moment.air.plan(burst));
        let part = plan.cf_end();
        let start = now + self.sifs;
        let end = start + part.airtime;
        if end > own.start + burst.reserves {
            return None;
        }
        let origin = self.frames.as_ref().and_then(|_| self.links.position(now, station));
        OnAir { plan: &plan, part: &part, mac: None, start, end, outcome: FrameOutcome::Received, origin }
            .record(moment.out.trace, &mut self.frames);
        let hears = if burst.to == BROADCAST { station } else { burst.to };
        self.ledger.frame(station, hears, plan.account(&part), part.airtime, false);
        self.keep_gap(now, station);
        self.radios[station as usize].own = Some(Own { start, data: None, over: end, ..*own });
        self.owe(moment, station, own.who, PartKind::CfEnd);
        Some(end)
    }

    /// The exchange of `who` has failed: the part `lost` was not received, or not answered.
    pub(super) fn fail(
        &mut self,
        moment: &Moment<'_, '_>,
        who: Contender,
        lost: PartKind,
        outcome: FrameOutcome,
        why: Failure,
    ) {
        let station = moment.stations.station_of(who);
        let others = || {
            let plan = moment.air.plan(&moment.stations.in_service(who)?.burst);
            Some(plan.silence(&plan.part_of(lost)?).others)
        };
        let heard = if outcome == FrameOutcome::Collided { None } else { others() };
        let bystanders = moment.now + heard.unwrap_or(moment.air.timing().eifs_more);
        if let Some(own) = &mut self.radios[station as usize].own
            && own.who == who
        {
            let airtime = if why == Failure::Error { moment.now } else { own.over }.since(own.start);
            self.unreported += 1;
            own.failed = Some(Failed { missing: lost.missing(), why, airtime, reported: false });
            self.touched.push(station);
            self.idle_for_all(bystanders);
        }
    }

    /// The last bits of this instant have arrived: the stations at which they did act on it.
    #[inline(always)]
    pub(super) fn settle(&mut self, moment: &mut Moment<'_, '_>) {
        if !self.touched.is_empty() {
            self.settle_touched(moment);
        }
    }

    /// The stations at which last bits of this instant have arrived act on it; there is at least one.
    #[inline(never)]
    fn settle_touched(&mut self, moment: &mut Moment<'_, '_>) {
        if self.unreported > 0 {
            self.report_failed(moment);
        }
        while let Some(station) = self.touched.pop() {
            self.quiet(moment, station);
        }
    }

    /// Reports the failed exchanges on which stations act now. All of an instant are reported before a queue is asked
    /// for its next packet, which may depend on them.
    fn report_failed(&mut self, moment: &mut Moment<'_, '_>) {
        for &station in &self.touched {
            let radio = &mut self.radios[station as usize];
            let acts = radio.is_quiet();
            if let Some(Own { who, failed: Some(failed), .. }) = &mut radio.own
                && acts
                && !failed.reported
            {
                failed.reported = true;
                self.unreported -= 1;
                moment.report(*who, failed.airtime, false);
            }
        }
    }

    /// If the medium around `station` is idle: it acts on a failed exchange, and its backoffs count.
    fn quiet(&mut self, moment: &mut Moment<'_, '_>, station: StationId) {
        let now = moment.now;
        let radio = &mut self.radios[station as usize];
        if !radio.is_quiet() {
            radio.note(now);
            return;
        }
        if std::mem::replace(&mut radio.busy, false) {
            radio.quiet = now;
        }
        let timing = moment.air.timing();
        let mut more = match radio.unclear {
            Unclear::Frame => timing.eifs_more,
            Unclear::Nothing | Unclear::Energy => Span::ZERO,
        };
        let mut from = radio.nav.reserved_until();
        let failed = radio.own.take_if(|own| own.failed.is_some());
        if let Some(own @ Own { who, over, failed: Some(Failed { missing, why, .. }), .. }) = failed {
            if radio.unclear == Unclear::Energy && over < now {
                more = timing.short_collider_more;
            }
            from = from.max(over);
            let outcome = if missing == Answer::Cts { ExchangeOutcome::NoCts } else { ExchangeOutcome::NoAck };
            self.observe_own(moment, &own, outcome, over.max(now));
            let next = moment.not_answered(who, self.heard(moment, who), missing, why);
            self.countdowns[who as usize].back_off(next.slots(), next.has_burst());
            moment.observers.contends(who, over.max(now), Some(next.slots()));
        }
        let radio = &mut self.radios[station as usize];
        if radio.is_engaged() {
            radio.note(now);
            return;
        }
        let from = from.max(radio.quiet + more);
        let mut free = Time::NEVER;
        for who in moment.stations.contenders(station) {
            let count = &mut self.countdowns[who as usize];
            count.resume(from);
            free = free.min(count.resume_at());
            if count.waits() {
                self.set_timer(who);
            }
        }
        self.radios[station as usize].book.turn(now, Doing::Quiet, free);
    }
}
