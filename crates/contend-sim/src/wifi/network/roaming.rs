//! Stations that change their access points.
//!
//! A station looks at the mean power of its access point at regular times. Below a threshold it scans: for some time it
//! neither sends nor receives. If another access point is then stronger by the hysteresis, it changes, which takes a
//! gap; otherwise it comes back to its own, and looks again later.
//!
//! | step | what happens |
//! | --- | --- |
//! | it wants to scan | it says so (power save): from now on packets from it and to it are held in the network layers of the station and of its access point; those that wait in queues are taken back there |
//! | what both had below their queues is sent, or 100 ms are over | it leaves the channel: the scan begins |
//! | the scan is over | the strongest access point that it decodes is chosen |
//! | it comes back | all packets that were held go into the queues again |
//! | it has a new access point | its own packets go there; those that the old one held are forwarded, or lost |
//!
//! As in mac80211 of Linux: `ieee80211_offchannel_stop_vifs` announces power save and flushes the queues before a scan;
//! the rate control and the block acknowledgments of an association begin anew with the next one, and what is left of
//! the old one is given up (`sta_info_destroy`). The access points are on one switch, which learns of a change when the
//! station has its new access point (`ieee80211_send_layer2_update`). The wires of flows stay where the file has them.

use crate::stats::TransmitterCounters;
use crate::wifi::ids::StationId;
use crate::wifi::spec::{CellSpec, RoamSpec};
use contend_core::{Packet, Span, Time};

/// A station waits no longer for what is below its queue, or that of its access point, before it leaves the channel.
pub(super) const MOST_FLUSH: Span = Span::from_millis(100);

/// The stations that change their access points.
#[derive(Debug)]
pub(super) struct Roaming {
    roamers: Vec<Roamer>,
    /// By station: its place among the roamers.
    places: Vec<Option<u32>>,
    /// By station: its access point in the file; an access point has itself.
    doors: Vec<StationId>,
    /// By access point.
    channels: Vec<Option<u32>>,
    /// Packets that were held, those of them that came out again, and those that are lost.
    taken: u64,
    passed: u64,
    lost: u64,
}

/// A station that changes its access point.
#[derive(Debug)]
pub(super) struct Roamer {
    pub(super) station: StationId,
    pub(super) spec: RoamSpec,
    pub(super) stage: Stage,
    /// When the stage ends at the latest.
    pub(super) at: Time,
    /// Packets that the station holds, and those for it that its access point holds.
    up: Vec<Packet>,
    down: Vec<Packet>,
    changes: u64,
    /// The time off the channel by `left`.
    away: Span,
    left: Option<Time>,
    /// Its access points, each with the time since when.
    course: Vec<(Time, StationId)>,
}

/// What a roaming station does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has an access point, and looks at its power when the stage ends.
    Looks,
    /// It waits until what is below the queues is sent.
    Flushes,
    /// It is off the channel and scans.
    Scans,
    /// It is off the channel until it has this access point.
    Joins(StationId),
}

/// How a station has roamed by some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roams {
    /// Changes of the access point.
    pub changes: u64,
    /// Time in which it neither sent nor received, because it scanned or changed.
    pub away: Span,
    /// Its access points, each with the time since when.
    pub course: Vec<(Time, StationId)>,
}

impl Roaming {
    /// The roaming stations of `spec`; `None` if there are none.
    pub(super) fn new(spec: &CellSpec) -> Option<Roaming> {
        let field = spec.field.as_ref().filter(|f| f.routing.is_none())?;
        let aps = spec.aps.len();
        let door = |i: usize| i.checked_sub(aps).map_or(i, |i| spec.ap_of(i)) as StationId;
        let doors: Vec<StationId> = (0..field.sites.len()).map(door).collect();
        let mut places = vec![None; field.sites.len()];
        let mut roamers = Vec::new();
        for (station, site) in (0..).zip(&field.sites).skip(aps) {
            let Some(spec) = site.roam else { continue };
            places[station as usize] = Some(roamers.len() as u32);
            roamers.push(Roamer {
                station,
                spec,
                stage: Stage::Looks,
                at: Time::ZERO + spec.interval,
                up: vec![],
                down: vec![],
                changes: 0,
                away: Span::ZERO,
                left: None,
                course: vec![(Time::ZERO, doors[station as usize])],
            });
        }
        let channels = (0..aps).map(|ap| field.channel(ap)).collect();
        (!roamers.is_empty()).then_some(Roaming { roamers, places, doors, channels, taken: 0, passed: 0, lost: 0 })
    }

    fn place(&self, station: StationId) -> Option<usize> {
        Some((*self.places.get(station as usize)?)? as usize)
    }

    /// True if `station` changes its access point.
    #[inline]
    pub(super) fn moves(&self, station: StationId) -> bool {
        self.place(station).is_some()
    }

    /// The access point of `station` in the file: the wires of its flows end there.
    #[inline]
    pub(super) fn door(&self, station: StationId) -> Option<StationId> {
        self.doors.get(station as usize).copied()
    }

    /// True if packets that wait in the old access point of `station` go to the new one.
    pub(super) fn forwards(&self, station: StationId) -> bool {
        self.place(station).is_some_and(|place| self.roamers[place].spec.forwards)
    }

    /// The channel of the access point `ap`.
    pub(super) fn channel(&self, ap: StationId) -> Option<u32> {
        self.channels.get(ap as usize).copied().flatten()
    }

    /// The access points.
    pub(super) fn aps(&self) -> impl Iterator<Item = StationId> + use<> {
        0..self.channels.len() as StationId
    }

    /// Holds `p`, which goes from `station` to `to`, if one of the two wants to leave the channel or has left it. False
    /// if not.
    #[inline]
    pub(super) fn hold(&mut self, station: StationId, to: StationId, p: &Packet) -> bool {
        let (place, is_up) = match (self.place(station), self.place(to)) {
            (Some(place), _) => (place, true),
            (None, Some(place)) => (place, false),
            (None, None) => return false,
        };
        let r = &mut self.roamers[place];
        if r.stage == Stage::Looks {
            return false;
        }
        if is_up {
            r.up.push(*p)
        } else {
            r.down.push(*p)
        }
        self.taken += 1;
        true
    }

    /// When the next stage ends.
    pub(super) fn deadline(&self) -> Time {
        self.roamers.iter().map(|r| r.at).min().unwrap_or(Time::NEVER)
    }

    /// The next station whose stage ends at `now`.
    pub(super) fn due(&mut self, now: Time) -> Option<&mut Roamer> {
        self.roamers.iter_mut().find(|r| r.at <= now)
    }

    /// The stations that wait until what is below the queues is sent.
    pub(super) fn flushing(&self) -> impl Iterator<Item = StationId> {
        self.roamers.iter().filter(|r| r.stage == Stage::Flushes).map(|r| r.station)
    }

    /// `station`, which flushes, leaves the channel at `now`.
    pub(super) fn leave(&mut self, now: Time, station: StationId) {
        if let Some(place) = self.place(station) {
            let r = &mut self.roamers[place];
            (r.stage, r.at, r.left) = (Stage::Scans, now + r.spec.scan, Some(now));
        }
    }

    /// `station` is on the channel of its access point again at `now`, or has the new one `ap`. It looks again after
    /// `wait`. Returns what it held, and what its access point held.
    pub(super) fn back(
        &mut self,
        now: Time,
        station: StationId,
        wait: Span,
        ap: Option<StationId>,
    ) -> [Vec<Packet>; 2] {
        let Some(place) = self.place(station) else { return Default::default() };
        let r = &mut self.roamers[place];
        r.away += now.since(r.left.take().unwrap_or(now));
        (r.stage, r.at) = (Stage::Looks, now + wait);
        if let Some(ap) = ap {
            r.changes += 1;
            r.course.push((now, ap));
        }
        let held = [std::mem::take(&mut r.up), std::mem::take(&mut r.down)];
        let lost = ap.is_some() && !r.spec.forwards;
        let [up, down] = held.each_ref().map(|packets| packets.len() as u64);
        self.passed += up + if lost { 0 } else { down };
        self.lost += if lost { down } else { 0 };
        held
    }

    /// What became of the packets that were held.
    pub(super) fn counters(&self) -> TransmitterCounters {
        let carrying = self.roamers.iter().map(|r| (r.up.len() + r.down.len()) as u64).sum();
        TransmitterCounters { bytes: 0, taken: self.taken, delivered: self.passed, lost: self.lost, carrying }
    }

    /// How `station` has roamed by `now`; `None` if it does not.
    pub(super) fn of(&self, now: Time, station: StationId) -> Option<Roams> {
        let r = &self.roamers[self.place(station)?];
        let away = r.away + now.since(r.left.unwrap_or(now));
        Some(Roams { changes: r.changes, away, course: r.course.clone() })
    }
}
