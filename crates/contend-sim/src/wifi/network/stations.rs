//! The stations of a channel. Each has one or several [`Mac`]s; the medium asks them and reports to them.
//!
//! The Mac of a station has the number of the station as contender. With [`Scheduling::AfterBackoff`] this is the Mac
//! of best effort, and the Macs of the other categories have the numbers after the last station. With
//! [`Scheduling::BeforeBackoff`] a station has one Mac with four queues. The beacons of an access
//! point have a Mac of their own, after all others.

mod moment;

pub(super) use self::moment::Moment;

use super::bridge::Host;
use crate::peer::WireId;
use crate::rng;
use crate::stats::{QueueMeter, TransmitterCounters};
use crate::wifi::access::{BackoffRules, Reads, Scheduling, Setting};
use crate::wifi::ids::{Category, Contender, StationId};
use crate::wifi::medium::phy::Phy;
use crate::wifi::sender::air::{Air, negotiates};
use crate::wifi::sender::aql::Aql;
use crate::wifi::sender::around::{Extras, Returned};
use crate::wifi::sender::counters::StationCounters;
use crate::wifi::sender::mac::{InService, Mac};
use crate::wifi::sender::plan::PartKind;
use crate::wifi::sender::queues::{Queue, Queues};
use crate::wifi::sender::rates::{Mpdus, Rates};
use crate::wifi::sender::store::{Headers, Passed, Store};
use crate::wifi::spec::{Aggregation, ApSpec, BeaconSpec, CellSpec, StationSpec};
use contend_core::Refusal;
use contend_core::observe::HeardFrame;
use contend_core::packet::Explicit;
use contend_core::qdisc::fifo::Fifo;
use contend_core::qdisc::{self, Hearing, Qdisc, Site};
use contend_core::registry::Amount;
use contend_core::{Packet, Span, Time};
use rand::RngExt as _;

/// The Macs of a station with several.
#[derive(Clone, Copy, Debug)]
struct Several {
    /// The highest first: that of beacons, if there is one, then those of the categories, or the one of all categories.
    macs: [Contender; 5],
    /// How many there are.
    len: u8,
    /// The place of the first category, if categories contend separately.
    categories: Option<u8>,
}

/// The beacons of an access point.
#[derive(Clone, Copy, Debug)]
struct Beacon {
    /// Their Mac.
    who: Contender,
    /// When the next is due.
    at: Time,
    spec: BeaconSpec,
}

/// The stations of a channel.
#[derive(Debug)]
pub(super) struct Stations {
    /// By [`Contender`].
    macs: Vec<Mac>,
    /// Number of stations, the access point included.
    len: usize,
    /// The Macs of each station with several; empty if no station has several.
    several: Vec<Option<Several>>,
    /// The queues of categories other than best effort.
    category_queues: Vec<(Contender, Category)>,
    category_queue_names: Vec<String>,
    /// The host behind each station.
    hosts: Vec<Host>,
    /// True if a network card may be paused.
    pauses: bool,
    /// True if a discipline or a control block of an access point needs reports of attempts.
    reports: bool,
    /// What the queues of each station learn of the stations around it; empty if no queue learns anything.
    hearing: Vec<Hearing>,
    /// Stations of which others know at once.
    at_once: Vec<StationId>,
    /// The beacons of access points.
    beacons: Vec<Beacon>,
    /// When the next of them is due.
    beacon_at: Time,
    /// Macs with waiting packets of which none may leave yet.
    held_back: Vec<Contender>,
    /// With a reordering timeout: the first time at which a receiver may wait no longer for what is missing; else
    /// [`Time::NEVER`].
    reorder_at: Time,
    /// True if receivers have a reordering timeout.
    reorders: bool,
    /// True if a station sends aggregates.
    aggregates: bool,
    /// True if stations make agreements before they send A-MPDUs.
    negotiates: bool,
    /// Macs with a burst in service.
    backlogged: u32,
    /// True if routing messages go before all other packets.
    prefers_messages: bool,
    extras: Extras,
}

impl Stations {
    /// The access points and the stations of `spec`. `control_hears_air`: a control block needs reports of attempts.
    ///
    /// # Errors
    /// If an algorithm refuses its parameters. The text names the station.
    pub(super) fn new(
        seed: u64,
        site: &Site<'_>,
        spec: &CellSpec,
        air: &Air,
        control_hears_air: bool,
    ) -> Result<Stations, Refusal> {
        let specs = || (0..).zip(spec.members());
        let neighbour = |name: &str| spec.members().position(|s| s.name == name).map(|i| i as StationId);
        let make = Make { seed, phy: &spec.phy, air, site: Site { neighbour: &neighbour, ..*site } };
        let mut all = Stations {
            macs: Vec::with_capacity(specs().count()),
            len: specs().count(),
            several: Vec::new(),
            category_queues: Vec::new(),
            category_queue_names: Vec::new(),
            hosts: specs().map(|(_, s)| Host::new(s.client.as_ref())).collect(),
            pauses: false,
            reports: false,
            hearing: Vec::new(),
            at_once: Vec::new(),
            beacons: Vec::new(),
            beacon_at: Time::NEVER,
            held_back: Vec::new(),
            reorder_at: Time::NEVER,
            reorders: specs().any(|(_, s)| s.aggregation.is_some_and(|a| !a.reorder.is_zero())),
            aggregates: specs().any(|(_, s)| s.aggregation.is_some()),
            negotiates: negotiates(spec),
            backlogged: 0,
            prefers_messages: false,
            extras: Extras::default(),
        };
        let aql = |s: &StationSpec| s.aql.filter(|_| s.aggregation.is_some()).map(Aql::new);
        if spec.members().any(|s| aql(s).is_some()) {
            all.extras.aql = spec.members().map(aql).collect();
        }
        if spec.members().any(|s| s.channel.rate_control.is_some()) {
            all.extras.rates = spec.members().map(|s| Rates::new(rng::stream(seed, &s.name, "rates"))).collect();
        }
        if !all.extras.rates.is_empty() || spec.members().any(|s| s.aggregation.is_some()) || spec.error_model.is_some()
        {
            all.extras.mpdus = vec![Default::default(); all.len];
        }
        for (station, s) in specs() {
            let mac = make.own(station, s).map_err(|e| e.of(&s.name))?;
            all.macs.push(mac);
        }
        for (station, s) in specs() {
            all.add_categories(&make, station, s).map_err(|e| e.of(&s.name))?;
        }
        for (station, ap) in (0..).zip(&spec.aps) {
            all.add_beacons(&make, station, ap).map_err(|e| e.of(&ap.station.name))?;
        }
        let mut aps = all.macs.iter_mut().take(spec.aps.len());
        all.reports = control_hears_air || aps.any(|mac| mac.queue(Category::Be).discipline().hears_air());
        all.find_hearing();
        Ok(all)
    }

    /// Makes the extra Macs of `station`, if its categories contend separately, and names its extra queues.
    fn add_categories(&mut self, make: &Make<'_>, station: StationId, spec: &StationSpec) -> Result<(), Refusal> {
        let scheduling = self.macs[station as usize].access().scheduling();
        if scheduling == Scheduling::One {
            return Ok(());
        }
        let mut contenders = [station; 4];
        for category in Category::ALL.into_iter().filter(|c| *c != Category::Be) {
            let name = format!("{}.{}", spec.name, category.name());
            if scheduling == Scheduling::AfterBackoff {
                contenders[category as usize] = self.macs.len() as Contender;
                let queue = make.queue(spec, category, &name)?;
                self.macs.push(make.mac(station, spec, category, &name, Queues::One(queue))?);
            }
            self.category_queues.push((contenders[category as usize], category));
            self.category_queue_names.push(name);
        }
        if scheduling == Scheduling::AfterBackoff {
            self.several.resize(self.len, None);
            let [vo, vi, be, bk] = contenders;
            let several = Several { macs: [vo, vi, be, bk, bk], len: 4, categories: Some(0) };
            self.several[station as usize] = Some(several);
        }
        Ok(())
    }

    /// Makes the Mac for the beacons of the access point `station`, if it sends any. The Mac has the access rule of the
    /// access point; with categories, that of voice (IEEE 802.11-2016 §10.2.3.2: management frames).
    fn add_beacons(&mut self, make: &Make<'_>, station: StationId, ap: &ApSpec) -> Result<(), Refusal> {
        let (Some(spec), own) = (ap.beacon, &ap.station) else { return Ok(()) };
        let (name, who) = (format!("{}.beacon", own.name), self.macs.len() as Contender);
        let queue =
            Queue::new(Category::Vo, Box::new(Fifo::new(Amount::Packets(1))), rng::stream(make.seed, &name, "queue"));
        let mut mac = make.mac(station, own, Category::Vo, &name, Queues::One(queue))?;
        mac.send_beacons();
        self.macs.push(mac);
        self.several.resize(self.len, None);
        let place = &mut self.several[station as usize];
        *place = Some(match *place {
            Some(Several { macs: [vo, vi, be, bk, _], .. }) => {
                Several { macs: [who, vo, vi, be, bk], len: 5, categories: Some(1) }
            }
            None => Several { macs: [who, station, station, station, station], len: 2, categories: None },
        });
        let drawn = || rng::stream(make.seed, &name, "offset").random_range(0..spec.interval.as_nanos());
        let at = Time::ZERO + spec.offset.unwrap_or_else(|| Span::from_nanos(drawn()));
        self.beacons.push(Beacon { who, at, spec });
        self.beacon_at = self.beacon_at.min(at);
        Ok(())
    }

    /// When the next beacon is due.
    #[inline]
    pub(super) fn beacon_at(&self) -> Time {
        self.beacon_at
    }

    /// The Mac of a beacon that is due at `now`, and the bytes of the beacon. `None` if no more are due.
    fn take_beacon(&mut self, now: Time) -> Option<(Contender, u32)> {
        let due = self.beacons.iter_mut().find(|b| b.at <= now);
        let taken = due.map(|b| {
            b.at += b.spec.interval;
            (b.who, b.spec.bytes)
        });
        if taken.is_none() {
            self.beacon_at = self.beacons.iter().map(|b| b.at).min().unwrap_or(Time::NEVER);
        }
        taken
    }

    /// Asks all queues what they learn of the stations around them.
    fn find_hearing(&mut self) {
        let mut hearing = vec![Hearing::Nothing; self.len];
        for mac in &mut self.macs {
            let station = mac.station() as usize;
            let learns = mac.disciplines().map(|d| d.hearing()).find(|h| *h != Hearing::Nothing);
            hearing[station] = learns.unwrap_or(hearing[station]);
        }
        self.at_once =
            (0..).zip(&hearing).filter(|(_, h)| **h == Hearing::AtOnce).map(|(station, _)| station).collect();
        if hearing.iter().any(|h| *h != Hearing::Nothing) {
            self.hearing = hearing;
        }
    }

    /// True if a queue of `station` learns from frames.
    #[inline]
    pub(super) fn listens(&self, station: StationId) -> bool {
        self.hearing.get(station as usize).is_some_and(|h| *h != Hearing::Nothing)
    }

    /// The station `f.me` received or sensed `f`.
    pub(super) fn heard(&mut self, f: &HeardFrame<'_>) {
        self.disciplines(f.me, |d| d.heard(f));
    }

    /// Stations of which others know at once.
    #[inline]
    pub(super) fn known_at_once(&self) -> &[StationId] {
        &self.at_once
    }

    /// What others are to know of `station` at once, if it has changed.
    pub(super) fn notice(&mut self, station: StationId, now: Time) -> Option<Explicit> {
        let mut new = None;
        self.disciplines(station, |d| new = new.or(d.notice(now)));
        new
    }

    /// The station `from` has a new notice, of which `station` knows at once.
    pub(super) fn told(&mut self, station: StationId, from: StationId, notice: &Explicit) {
        self.disciplines(station, |d| d.told(from, notice));
    }

    /// Calls `f` with each discipline of `station` that learns of the stations around it.
    fn disciplines(&mut self, station: StationId, mut f: impl FnMut(&mut dyn Qdisc)) {
        for who in self.contenders(station) {
            self.macs[who as usize].disciplines().filter(|d| d.hearing() != Hearing::Nothing).for_each(&mut f);
        }
    }

    /// Number of stations, access points included.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of contenders.
    pub(super) fn contenders_in_all(&self) -> usize {
        self.macs.len()
    }

    /// How each Mac counts its backoff.
    pub(super) fn backoff_rules(&self, phy: &Phy) -> Vec<BackoffRules> {
        let rules = |mac: &Mac| {
            let access = mac.access();
            let ifs = access.aifsn().map_or(phy.difs(), |n| phy.sifs + phy.slot * u64::from(n));
            BackoffRules { ifs, residue: access.residue(), busy: access.busy() }
        };
        self.macs.iter().map(rules).collect()
    }

    /// Names of the queues of categories other than best effort, in the order of their numbers.
    pub(super) fn category_queue_names(&self) -> &[String] {
        &self.category_queue_names
    }

    /// The meter of queue number `i`, and the packets that wait in it: first one queue for each station (best effort,
    /// if it has categories), then the queues of other categories.
    pub(super) fn queue(&mut self, i: usize) -> Option<(&mut QueueMeter, u64)> {
        let (who, category) = match i.checked_sub(self.len) {
            None => (i as Contender, Category::Be),
            Some(i) => *self.category_queues.get(i)?,
        };
        Some(self.macs.get_mut(who as usize)?.reading(category))
    }

    /// The probability of the law of queue number `i` of [`Stations::queue`], which is a station's own.
    pub(super) fn probability(&mut self, i: usize) -> Option<f64> {
        self.macs.get_mut(i)?.queue(Category::Be).discipline().probability()
    }

    /// The counters of `station`.
    pub(super) fn counters(&self, station: StationId) -> Option<StationCounters> {
        self.macs_of(station).map(Mac::counters).reduce(StationCounters::plus)
    }

    /// The MPDUs that `station` has sent, and those that were sent to it; `None` if they are not counted.
    pub(super) fn mpdus(&self, station: StationId) -> Option<[Mpdus; 2]> {
        self.extras.mpdus.get(station as usize).copied()
    }

    /// What became by `now` of the packets that `station` took from its queues.
    pub(super) fn transmitter(&self, station: StationId, now: Time) -> Option<TransmitterCounters> {
        let c = self.counters(station)?;
        Some(TransmitterCounters {
            bytes: 0,
            taken: self.macs_of(station).map(|mac| mac.taken(now)).sum::<u64>() - c.returned,
            delivered: c.delivered,
            lost: c.retry_drops - c.dropped_after_delivery - c.given_back + c.broadcasts,
            carrying: self.macs_of(station).map(Mac::carrying).sum(),
        })
    }

    /// Macs of `station` with a burst in service.
    #[inline]
    pub(super) fn in_service_at(&self, station: StationId) -> u64 {
        if self.several.is_empty() {
            return u64::from(self.in_service(station).is_some());
        }
        self.macs_of(station).filter(|mac| mac.in_service().is_some()).count() as u64
    }

    /// True if `station` has something for `next` below its queues.
    pub(super) fn needs(&self, station: StationId, next: StationId) -> bool {
        self.macs_of(station).any(|mac| mac.needs(next))
    }

    /// `station` has nothing to do with `next` any more: what it still has for it is given up, and what it has learnt
    /// of the way there is forgotten.
    pub(super) fn part(&mut self, station: StationId, next: StationId) {
        for who in self.contenders(station) {
            self.macs[who as usize].part(next);
        }
        if let Some(rates) = self.extras.rates.get_mut(station as usize) {
            rates.forget(next);
        }
    }

    /// The next packet that `next` got from `station` and has not passed on, with the contender that sent it.
    pub(super) fn pass_parted(&mut self, station: StationId, next: StationId) -> Option<(Contender, Packet)> {
        let mut contenders = self.contenders(station);
        contenders.find_map(|who| self.macs[who as usize].pass_parted(next).map(|p| (who, *p)))
    }

    /// The packet of the burst of `who`.
    pub(super) fn packet(&self, who: Contender) -> Option<&Packet> {
        self.in_service(who).map(|s| &s.packet)
    }

    /// The Mac of `who`.
    #[inline]
    pub(super) fn mac(&self, who: Contender) -> &Mac {
        &self.macs[who as usize]
    }

    /// True if a station sends aggregates.
    #[inline]
    pub(super) fn aggregate(&self) -> bool {
        self.aggregates
    }

    /// True if a discipline or a control block of an access point needs reports of attempts.
    #[inline]
    pub(super) fn report(&self) -> bool {
        self.reports
    }

    /// True if nothing of a part of `bytes` bytes of the burst of `who` reaches its receiver. `lost` tells whether an
    /// MPDU of so many bytes with this packet is lost.
    #[inline]
    pub(super) fn is_lost(
        &mut self,
        who: Contender,
        kind: PartKind,
        bytes: u32,
        mut lost: impl FnMut(u32, Option<&Packet>) -> bool,
    ) -> bool {
        match kind.delivers() {
            true => self.macs[who as usize].is_lost(bytes, lost),
            false => lost(bytes, None),
        }
    }

    /// True if stations make agreements before they send A-MPDUs.
    #[inline]
    pub(super) fn negotiate(&self) -> bool {
        self.negotiates
    }

    /// The burst of `who` was received. Returns the packets that the receiver forwards.
    #[inline(always)]
    pub(super) fn received(&mut self, who: Contender) -> Passed<'_> {
        self.macs[who as usize].received()
    }

    /// The receiver of the burst of `who` has forwarded at `now` what it could.
    #[inline]
    pub(super) fn hold(&mut self, now: Time, who: Contender) {
        if self.reorders {
            // What was missing before an older MPDU may have come just now, and an MPDU behind it is still missing.
            let until = self.macs[who as usize].hold(now).max(now);
            self.reorder_at = self.reorder_at.min(until);
        }
    }

    /// The first time at which a receiver may wait no longer for what is missing.
    #[inline]
    pub(super) fn reorder_at(&self) -> Time {
        self.reorder_at
    }

    /// The next packet that a receiver forwards at `now` because it waits no longer for what is missing before it, with
    /// its sender and this receiver.
    #[cold]
    pub(super) fn pass_late(&mut self, now: Time) -> Option<(Contender, StationId, Packet)> {
        for (who, mac) in (0..).zip(&mut self.macs) {
            if let Some((to, p)) = mac.pass_late(now) {
                return Some((who, to, *p));
            }
        }
        self.reorder_at = self.macs.iter().map(Mac::waits_until).min().unwrap_or(Time::NEVER);
        None
    }

    /// What the access rule of `who` reads of its surroundings.
    pub(super) fn reads(&self, who: Contender) -> Reads {
        self.macs[who as usize].access().reads()
    }

    /// True if several Macs belong to one station.
    #[inline]
    pub(super) fn have_several(&self) -> bool {
        !self.several.is_empty()
    }

    /// The burst in service at `who`.
    #[inline]
    pub(super) fn in_service(&self, who: Contender) -> Option<&InService> {
        self.macs[who as usize].in_service()
    }

    /// The station of `who`.
    #[inline]
    pub(super) fn station_of(&self, who: Contender) -> StationId {
        self.macs[who as usize].station()
    }

    /// The contenders of `station`, the highest category first.
    #[inline]
    pub(super) fn contenders(&self, station: StationId) -> impl Iterator<Item = Contender> + use<> {
        let several = self.several.get(station as usize).copied().flatten();
        (0..).map_while(move |i| match &several {
            Some(s) => s.macs[..usize::from(s.len)].get(i).copied(),
            // The only one of a station has its number.
            None => (i == 0).then_some(station),
        })
    }

    /// The contenders of the station of `who` that are of higher categories.
    pub(super) fn above(&self, who: Contender) -> impl Iterator<Item = Contender> + use<> {
        self.contenders(self.station_of(who)).take_while(move |&higher| higher != who)
    }

    /// The contender for packets of `category` at `station`.
    #[inline]
    pub(super) fn contender(&self, station: StationId, category: Category) -> Contender {
        match self.several.get(station as usize) {
            Some(Some(Several { macs, categories: Some(first), .. })) => macs[*first as usize + category as usize],
            _ => station,
        }
    }

    /// Puts a cable with a bridge between `station` and its host, see [`super::bss::Bss::convert`].
    pub(super) fn convert(&mut self, station: StationId, nic: WireId, pause: Option<(u64, u64)>) {
        if let Some(host) = self.hosts.get_mut(station as usize) {
            host.convert(nic, pause);
            self.pauses |= pause.is_some();
        }
    }

    /// From now on packets that a Mac gives up come back. `prefers_messages`: routing messages go before all others.
    pub(super) fn hand_back(&mut self, prefers_messages: bool) {
        (self.extras.returned, self.prefers_messages) = (Some(vec![]), prefers_messages);
    }

    /// From now on the sources of packets are told when these leave the station of the source.
    pub(super) fn tell_sources(&mut self) {
        self.extras.left = Some(vec![]);
    }

    /// A packet that a Mac gave up.
    pub(super) fn take_returned(&mut self) -> Option<Returned> {
        self.extras.returned.as_mut()?.pop()
    }

    /// The Macs whose queues hold packets back. The list is then empty.
    pub(super) fn take_held_back(&mut self) -> Vec<Contender> {
        std::mem::take(&mut self.held_back)
    }

    /// When something happens in the stations that the medium does not know: see [`Stations::next_deadline`] and
    /// [`Stations::reorder_at`]. At once if a packet has come back from a Mac.
    #[inline]
    pub(super) fn acts_at(&self) -> Time {
        if self.extras.returned.as_ref().is_some_and(|r| !r.is_empty()) {
            return Time::ZERO;
        }
        self.next_deadline().min(self.reorder_at)
    }

    /// The earliest time at which a queue that holds packets back must be asked again.
    #[inline(always)]
    pub(super) fn next_deadline(&self) -> Time {
        if self.held_back.is_empty() { Time::NEVER } else { self.next_held_back() }
    }

    #[cold]
    fn next_held_back(&self) -> Time {
        let deadline = |&who: &Contender| self.macs[who as usize].next_deadline();
        self.held_back.iter().map(deadline).min().unwrap_or(Time::NEVER)
    }

    fn macs_of(&self, station: StationId) -> impl Iterator<Item = &Mac> {
        self.contenders(station).filter_map(|who| self.macs.get(who as usize))
    }
}

/// The inputs for making Macs.
struct Make<'a> {
    seed: u64,
    phy: &'a Phy,
    air: &'a Air,
    site: Site<'a>,
}

impl Make<'_> {
    /// The Mac of `station` with the number of the station.
    fn own(&self, station: StationId, spec: &StationSpec) -> Result<Mac, Refusal> {
        let queue = self.queue(spec, Category::Be, &spec.name)?;
        let mac = self.mac(station, spec, Category::Be, &spec.name, Queues::One(queue))?;
        if mac.access().scheduling() != Scheduling::BeforeBackoff {
            return Ok(mac);
        }
        let queue = |category: Category| match category {
            Category::Be => self.queue(spec, category, &spec.name),
            _ => self.queue(spec, category, &format!("{}.{}", spec.name, category.name())),
        };
        let [vo, vi, be, bk] = Category::ALL.map(queue);
        self.mac(station, spec, Category::Be, &spec.name, Queues::ByCategory(Box::new([vo?, vi?, be?, bk?])))
    }

    /// A Mac of `station` for `category`. `name` is the name of its random stream.
    fn mac(
        &self,
        station: StationId,
        spec: &StationSpec,
        category: Category,
        name: &str,
        queues: Queues,
    ) -> Result<Mac, Refusal> {
        let setting = self.air.timing().setting;
        let setting = Setting { category, ..setting.at(self.phy, spec.rate).member(station, setting.stations) };
        let access = (spec.access.entry.build)(&spec.access.args, setting)?;
        let (timing, rng) = (self.air.timing(), rng::stream(self.seed, name, "backoff"));
        let mut mac = Mac::new(station, timing.limits, access, rng, queues);
        if let Some(Aggregation { limit, hw_queue, .. }) = spec.aggregation {
            let headers = Headers { mpdu: self.phy.mpdu(0), llc: self.phy.llc };
            mac.aggregate(|| Store::new(limit, headers, timing.limits.short), hw_queue as usize);
        }
        Ok(mac)
    }

    /// A queue of packets of `category`. `name` is the name of its random stream.
    fn queue(&self, spec: &StationSpec, category: Category, name: &str) -> Result<Queue, Refusal> {
        let discipline = qdisc::queue(&spec.queue, &self.site)?;
        Ok(Queue::new(category, discipline, rng::stream(self.seed, name, "queue")))
    }
}
