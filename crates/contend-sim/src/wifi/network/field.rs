//! A medium with positions: who hears whom is a matter of distance.
//!
//! Each frame is an event at every station that hears it: its first bit arrives, and its last. No station hears of an
//! event elsewhere. What a station does next follows from what its own radio has heard ([`Radio`]) and from its
//! backoffs ([`Countdown`]), which are computed and not counted slot by slot. A frame costs the stations that hear it,
//! each O(log n).
//!
//! What happens in one instant has an order. The ends of frames come first. Then the stations around which the medium
//! has become idle act. Then all transmissions of this instant start together, and last the beginnings of frames
//! arrive. Two backoffs that end in the same instant therefore collide; a packet that arrives after them finds the
//! medium busy.
//!
//! An exchange is a [plan](crate::wifi::sender::exchange), of which each part is sent when the part before has been
//! received. Of a part that is not received, the simulator knows at its end; the sender acts on it when the medium
//! around it is idle, and counts its backoff only after its timeout.

mod agenda;
mod book;
mod countdown;
mod ends;
mod ground;
mod links;
mod observed;
mod outcomes;
mod radio;
mod starts;

pub(super) use self::links::Links;

use self::agenda::{Agenda, What};
use self::countdown::{Arrival, Countdown, Sensed};
use self::links::{Hearer, ListId};
use self::radio::Radio;
use super::frame_log::FrameLog;
use super::ledger::Ledger;
use super::map::Map;
use super::reception::Reception;
use super::stations::{Moment, Stations};
use crate::deadlines::Deadlines;
use crate::mobility::Point;
use crate::wifi::access::{BackoffRules, Channel, Draw, Reads};
use crate::wifi::ids::{Contender, StationId};
use crate::wifi::sender::mac::Heard;
use crate::wifi::sender::plan::PartKind;
use crate::wifi::spec::{Capture, CellSpec, CtsRule, FieldSpec, IdleAccess};
use contend_core::{Span, Time};

/// The number of a frame on the air.
type FlightId = u32;

/// A medium in which each station hears the stations near it.
#[derive(Debug)]
pub(super) struct Field {
    slot: Span,
    sifs: Span,
    /// The shortest inter-frame space of a contender.
    first_ifs: Span,
    options: Options,
    links: Links,
    /// By station.
    radios: Vec<Radio>,
    /// By contender.
    countdowns: Vec<Countdown>,
    /// When the backoff of each contender ends, or an earlier instant.
    timers: Deadlines,
    flights: Vec<Flight>,
    /// The numbers of flights that are over.
    free: Vec<FlightId>,
    agenda: Agenda,
    /// Stations whose medium may have become idle in this instant.
    touched: Vec<StationId>,
    /// At least the number of failed exchanges of which the queues have not been told.
    unreported: usize,
    /// Contenders and answers that start in this instant.
    starting: Vec<Contender>,
    answering: Vec<StationId>,
    launched: Vec<FlightId>,
    /// True while [`Field::wake`] works on an instant.
    waking: bool,
    /// When something above the queues of the stations happens next, as was known at the last wake-up.
    above: Time,
    reception: Reception,
    ledger: Ledger,
    collisions: u64,
    history: History,
    /// The frames on the air, if they are kept.
    frames: Option<FrameLog>,
}

/// What access rules may know of the past.
#[derive(Debug)]
enum History {
    /// All stations hear each other. They have one history, and count idle slots from `from` on.
    Common { channel: Channel, from: Time },
    /// Each station has its own, if a rule reads it.
    Own(Vec<Option<Channel>>, Channel),
}

/// How a field differs from others.
#[derive(Clone, Copy, Debug)]
struct Options {
    capture: Capture,
    nav_reset: bool,
    nav_rounding: bool,
    slot_rounding: bool,
    cts: CtsRule,
    idle_access: IdleAccess,
    /// The share of the transmitted power at which frames of other channels make the medium busy.
    energy: f64,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    kind: PartKind,
    /// The contender whose exchange it belongs to.
    owner: Contender,
    from: StationId,
    to: StationId,
    start: Time,
    end: Time,
    /// Its Duration field.
    nav: Span,
    /// The stations that hear it.
    hearers: ListId,
    /// Bytes of the IP packet of the exchange.
    bytes: u32,
    /// Where its transmitter was when it began, if frames are kept.
    origin: Option<Point>,
    /// The power with which it arrives at the station to which it is addressed, as a share of the transmitted power;
    /// `None` if this station does not hear it.
    gain: Option<f64>,
}

impl Field {
    /// An idle medium around `stations` with these links.
    pub(super) fn new(
        CellSpec { phy, mac, .. }: &CellSpec,
        spec: &FieldSpec,
        stations: &Stations,
        links: Links,
        reception: Reception,
    ) -> Field {
        let reads = |station| stations.contenders(station).any(|who| stations.reads(who) == Reads::Channel);
        let history = if links.all_hear_all() {
            History::Common { channel: Channel::new(), from: Time::ZERO }
        } else {
            let own = (0..stations.len() as StationId).map(|station| reads(station).then(Channel::new));
            History::Own(own.collect(), Channel::new())
        };
        let rules = stations.backoff_rules(phy);
        let counts = |r: &BackoffRules| r.busy.counts(mac.busy_slot);
        let mut timers = Deadlines::default();
        (0..rules.len() as u32).for_each(|who| timers.push(who, Time::NEVER));
        Field {
            slot: phy.slot,
            sifs: phy.sifs,
            first_ifs: rules.iter().map(|r| r.ifs).min().unwrap_or_default(),
            options: Options {
                capture: spec.capture,
                nav_reset: spec.nav_reset,
                nav_rounding: spec.nav_rounding,
                slot_rounding: spec.slot_rounding,
                cts: spec.cts,
                idle_access: mac.idle_access,
                energy: spec.adjacent.as_ref().map_or(f64::INFINITY, |a| links.gain_of(a.energy)),
            },
            links,
            radios: (0..reception.stations()).map(|_| Radio::new(spec.sinr)).collect(),
            countdowns: rules.iter().map(|r| Countdown::new(*r, counts(r))).collect(),
            timers,
            flights: Vec::new(),
            free: Vec::new(),
            agenda: Agenda::default(),
            touched: Vec::new(),
            unreported: 0,
            starting: Vec::new(),
            answering: Vec::new(),
            launched: Vec::new(),
            waking: false,
            above: Time::ZERO,
            ledger: Ledger::new(reception.stations()),
            reception,
            collisions: 0,
            history,
            frames: None,
        }
    }

    /// Where stations are at `now`, and who hears whom, without the ways of packets.
    pub(super) fn map(&mut self, now: Time) -> Map {
        self.links.map(now)
    }

    /// The stations that would hear a frame that `from` starts at `now`, the nearest first.
    pub(super) fn hearers(&mut self, now: Time, from: StationId) -> &[Hearer] {
        self.links.hearers(now, from)
    }

    /// See [`Links::signal`].
    pub(super) fn signal(&mut self, now: Time, ends: [StationId; 2]) -> Option<(f64, bool)> {
        self.links.signal(now, ends)
    }

    /// From now on `station` is on this channel. Frames that began before stay where they are.
    pub(super) fn tune(&mut self, station: StationId, channel: Option<u32>) {
        self.links.tune(station, channel);
    }

    /// From now on `station` hears nobody, and nobody hears it, until it is tuned to a channel.
    pub(super) fn leave(&mut self, station: StationId) {
        self.links.leave(station);
    }

    /// Number of frames that other frames corrupted at the station to which they were addressed.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// From now on keeps frames in `log`.
    pub(super) fn keep_frames(&mut self, log: FrameLog) {
        self.frames = Some(log);
    }

    /// The kept frames; `None` if frames are not kept.
    pub(super) fn frames(&self) -> Option<&FrameLog> {
        self.frames.as_ref()
    }

    /// The time in which `station` neither sent nor sensed a frame by `now`.
    pub(super) fn quiet_for(&self, station: StationId, now: Time) -> Span {
        self.radios.get(station as usize).map_or(Span::ZERO, |radio| {
            let books = radio.book.at(now);
            books.blocked + books.idle
        })
    }

    /// The ledger at `now`. Frames on the air are not yet booked.
    pub(super) fn ledger(&self, now: Time) -> Ledger {
        self.ledger.of_field(now, self.radios.iter().map(|r| r.book.at(now)).collect())
    }

    /// See [`Reception::excess_losses`].
    pub(super) fn excess_losses(&self, station: StationId) -> f64 {
        self.reception.excess_losses(station)
    }

    /// The next deadline of the medium.
    #[inline]
    pub(super) fn next_deadline(&self) -> Time {
        self.agenda.next().min(self.timers.next())
    }

    /// Does what is due on the medium, and what it does later, as long as nothing else happens; above the queues of the
    /// stations that is from `above` on. Returns a contender whose burst has now been received, and by whom, if there
    /// is one; it is then to be called again.
    pub(super) fn wake(&mut self, moment: &mut Moment<'_, '_>, above: Time) -> Option<(Contender, StationId)> {
        self.waking = true;
        self.above = above;
        loop {
            while let Some(event) = self.agenda.take(moment.now, What::Ends) {
                let received = match event.is(What::Sent) {
                    true => self.sent(moment, event.flight),
                    false => self.ends(moment, event.flight, event.next),
                };
                if received.is_some() {
                    return received;
                }
            }
            self.settle(moment);
            while let Some(event) = self.agenda.take(moment.now, What::Answers) {
                self.answering.push(event.flight);
            }
            self.start_all(moment);
            while let Some(event) = self.agenda.take(moment.now, What::Begins) {
                self.begins(moment, event.flight, event.next, true);
            }
            let next = self.next_deadline();
            if next > moment.now && self.touched.is_empty() {
                if next >= self.alone_until(moment) {
                    break;
                }
                moment.go_on(next);
            }
        }
        self.waking = false;
        None
    }

    /// Before this instant nothing happens outside of the medium.
    #[inline]
    fn alone_until(&self, moment: &Moment<'_, '_>) -> Time {
        self.above.min(moment.alone_until())
    }

    /// `who`, which had nothing to send, now has a burst.
    pub(super) fn contend(&mut self, moment: &mut Moment<'_, '_>, who: Contender) {
        let (now, slot) = (moment.now, self.slot);
        let radio = &self.radios[moment.stations.station_of(who) as usize];
        let sensed = if radio.busy || radio.is_engaged() {
            Sensed::Busy
        } else if now < radio.nav.reserved_until() {
            Sensed::Reserved
        } else {
            Sensed::Free
        };
        let count = &mut self.countdowns[who as usize];
        if self.options.idle_access == IdleAccess::Draw && sensed == Sensed::Free && !count.is_pending(now, slot) {
            let (ifs, slots) = (count.rules.ifs, self.backoff(moment, who, Draw::Arrival));
            self.countdowns[who as usize].back_off_from(now + ifs, slots);
            moment.observers.contends(who, now, Some(slots));
            self.set_timer(who);
            return;
        }
        match count.arrive(now, slot, sensed) {
            Arrival::Waits => {
                moment.observers.contends(who, now, None);
                self.set_timer(who);
            }
            Arrival::Busy => {
                let slots = self.backoff(moment, who, Draw::Arrival);
                self.countdowns[who as usize].back_off(slots, true);
                moment.observers.contends(who, now, Some(slots));
                self.set_timer(who);
            }
            Arrival::Free => {
                count.start();
                moment.observers.contends(who, now, Some(0));
                self.starting.push(who);
                if !self.waking {
                    self.start_all(moment);
                }
            }
        }
    }

    #[inline]
    fn set_timer(&mut self, who: Contender) {
        let due = self.countdowns[who as usize].due(self.slot);
        if self.timers.at(who) != due {
            self.timers.set(who, due);
        }
    }

    #[inline]
    fn backoff(&mut self, moment: &mut Moment<'_, '_>, who: Contender, why: Draw) -> u64 {
        let heard = self.heard(moment, who);
        moment.backoff(who, why, heard)
    }

    /// What `who` has heard.
    fn heard(&mut self, moment: &Moment<'_, '_>, who: Contender) -> Heard<'_> {
        let busy_counts = self.countdowns[who as usize].busy_counts();
        let (others, channel) = match &self.history {
            History::Common { channel, .. } => (moment.others(who), channel),
            History::Own(own, nothing) => {
                let station = moment.stations.station_of(who);
                let mut others = 0;
                if moment.stations.reads(who) == Reads::Contenders {
                    let around = self.links.hearers(moment.now, station);
                    others =
                        around.iter().filter(|h| !h.foreign).map(|h| moment.stations.in_service_at(h.station)).sum();
                }
                (others as u32, own[station as usize].as_ref().unwrap_or(nothing))
            }
        };
        Heard { others, busy_counts, channel }
    }

    /// All stations have heard that the medium is idle from `from` on.
    #[inline]
    fn idle_for_all(&mut self, since: Time) {
        if let History::Common { from, .. } = &mut self.history {
            *from = since;
        }
    }
}
