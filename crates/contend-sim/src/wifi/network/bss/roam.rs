//! Stations change their access points: the steps of [`Roaming`](super::super::roaming).

use super::super::roaming::{Roams, Stage};
use super::{Bss, Medium};
use crate::trace::Event;
use crate::wifi::ids::StationId;
use crate::world::Out;
use contend_core::ap::Side;
use contend_core::{Packet, Span, Time};

impl Bss {
    /// How `station` has roamed by `now`; `None` if it keeps its access point.
    pub fn roams(&self, station: StationId, now: Time) -> Option<Roams> {
        self.roaming.as_ref()?.of(now, station)
    }

    /// Where a packet that goes from `station` to `to` enters the air now, and who is to receive it: one of them may
    /// have another access point than before.
    #[inline]
    pub(super) fn present(&self, station: StationId, to: StationId) -> (StationId, StationId) {
        let Some(roaming) = &self.roaming else { return (station, to) };
        let ap = |who: StationId| self.forwarding.ap_of(who).filter(|_| roaming.moves(who));
        (ap(to).unwrap_or(station), ap(station).unwrap_or(to))
    }

    /// The access point that gets `p`, which has come over a wire to the access point `port`.
    #[inline]
    pub(super) fn entrance(&self, port: StationId, p: &Packet) -> StationId {
        let Some(roaming) = &self.roaming else { return port };
        let to = self.bridge.home(p).map(|h| h.station).filter(|s| roaming.moves(*s));
        let now = to.filter(|s| roaming.door(*s) == Some(port)).and_then(|s| self.forwarding.ap_of(s));
        now.unwrap_or(port)
    }

    /// The access point whose wires and stations count for `p`, which has come to the access point `ap` from `side`.
    #[inline]
    pub(super) fn door(&self, ap: StationId, side: Side, p: &Packet) -> StationId {
        let Some(roaming) = &self.roaming else { return ap };
        let end = match side {
            Side::Air => self.bridge.station_of(p.src),
            Side::Wire => self.bridge.home(p).map(|h| h.station),
        };
        let roamer = end.filter(|s| roaming.moves(*s) && self.forwarding.ap_of(*s) == Some(ap));
        roamer.and_then(|s| roaming.door(s)).unwrap_or(ap)
    }

    /// The power in dBm with which `station` hears the access point `ap`, and whether it decodes it.
    fn signal(&mut self, now: Time, ap: StationId, station: StationId) -> (f64, bool) {
        let Medium::Field(field) = &mut self.medium else { return (f64::NEG_INFINITY, false) };
        field.signal(now, [ap, station]).unwrap_or((f64::NEG_INFINITY, false))
    }

    /// Stages of roaming stations end at `now`.
    #[cold]
    pub(super) fn roam(&mut self, now: Time, out: &mut Out<'_>) {
        while let Some(r) = self.roaming.as_mut().and_then(|roaming| roaming.due(now)) {
            let (station, spec) = (r.station, r.spec);
            let stage = r.stage;
            let Some(own) = self.forwarding.ap_of(station) else { return };
            match stage {
                Stage::Looks => {
                    let weak = self.signal(now, own, station).0 < spec.threshold;
                    self.turn(now, if weak { Stage::Flushes } else { Stage::Looks }, spec.interval);
                    if weak {
                        self.take_back(now, station, own, out);
                        self.take_back(now, own, station, out);
                        self.leave_flushed(now);
                    }
                }
                Stage::Flushes => self.leave(now, station),
                Stage::Scans => match self.better(now, station, own, spec.hysteresis) {
                    Some(ap) => self.turn(now, Stage::Joins(ap), spec.gap),
                    None => self.come_back_to(now, (station, own), spec.retry, None, out),
                },
                Stage::Joins(ap) => self.come_back_to(now, (station, own), spec.interval, Some(ap), out),
            }
        }
    }

    /// The station whose stage ends at `now` begins this one, of this length.
    fn turn(&mut self, now: Time, stage: Stage, length: Span) {
        if let Some(r) = self.roaming.as_mut().and_then(|roaming| roaming.due(now)) {
            let most = if stage == Stage::Flushes { super::super::roaming::MOST_FLUSH } else { length };
            (r.stage, r.at) = (stage, now + most);
        }
    }

    /// The strongest access point that `station` decodes, if it is stronger than its own by `more` dB.
    fn better(&mut self, now: Time, station: StationId, own: StationId, more: f64) -> Option<StationId> {
        let least = self.signal(now, own, station).0 + more;
        let mut best = None;
        for ap in self.roaming.as_ref()?.aps().filter(|ap| *ap != own) {
            let (power, decodes) = self.signal(now, ap, station);
            if decodes && power >= least && best.is_none_or(|(strongest, _)| power > strongest) {
                best = Some((power, ap));
            }
        }
        best.map(|(_, ap)| ap)
    }

    /// The packets for `to` that wait in queues of `from` are held above them.
    fn take_back(&mut self, now: Time, from: StationId, to: StationId, out: &mut Out<'_>) {
        let mut waiting = Vec::new();
        let (_, mut moment) = self.split(now, out);
        moment.purge_all(from, to, &mut waiting);
        for p in &waiting {
            if let Some(roaming) = &mut self.roaming {
                roaming.hold(from, to, p);
            }
        }
    }

    /// Ends an instant for stations that roam. Returns when the next stage of one ends.
    #[cold]
    pub(super) fn next_stage(&mut self, now: Time) -> Time {
        self.leave_flushed(now);
        self.roaming.as_ref().map_or(Time::NEVER, |roaming| roaming.deadline())
    }

    /// Those that flush and have nothing left below the queues leave the channel.
    fn leave_flushed(&mut self, now: Time) {
        while let Some(station) = self.flushed() {
            self.leave(now, station);
        }
    }

    /// A station that flushes and has nothing left below the queues.
    fn flushed(&self) -> Option<StationId> {
        let empty = |station: &StationId| {
            let ap = self.forwarding.ap_of(*station).unwrap_or(*station);
            !self.stations.needs(*station, ap) && !self.stations.needs(ap, *station)
        };
        self.roaming.as_ref()?.flushing().find(empty)
    }

    fn leave(&mut self, now: Time, station: StationId) {
        if let Medium::Field(field) = &mut self.medium {
            field.leave(station);
        }
        if let Some(roaming) = &mut self.roaming {
            roaming.leave(now, station);
        }
    }

    /// `station` comes back to `own`, its access point so far, or has the new one `ap`.
    fn come_back_to(
        &mut self,
        now: Time,
        (station, own): (StationId, StationId),
        wait: Span,
        ap: Option<StationId>,
        out: &mut Out<'_>,
    ) {
        let Some(roaming) = &mut self.roaming else { return };
        let [up, down] = roaming.back(now, station, wait, ap);
        let (channel, present) = (roaming.channel(ap.unwrap_or(own)), ap.unwrap_or(own));
        let forwards = ap.is_none() || roaming.forwards(station);
        if let Medium::Field(field) = &mut self.medium {
            field.tune(station, channel);
        }
        if ap.is_some() {
            self.forwarding.associate(station, present);
            for (a, b) in [(station, own), (own, station)] {
                self.stations.part(a, b);
                while let Some((who, packet)) = self.stations.pass_parted(a, b) {
                    self.up(now, who, b, packet, out);
                }
            }
        }
        for p in &up {
            self.enqueue(now, station, p, present, out);
        }
        for p in &down {
            match forwards {
                true => self.enqueue(now, present, p, station, out),
                false => out.trace.packet(now, Event::Lost, p),
            }
        }
    }
}
