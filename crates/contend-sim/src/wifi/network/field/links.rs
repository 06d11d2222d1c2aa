//! Who hears whom.

use super::super::map::{Map, MapLink};
use super::ground::Ground;
use crate::mobility::Point;
use crate::rng;
use crate::wifi::ids::StationId;
use crate::wifi::medium::propagation::{LIGHT, Propagation, arrives, left};
use crate::wifi::medium::walls::{self, Wall};
use crate::wifi::spec::{FieldLink, FieldSpec, Shadowing, Site};
use contend_core::Refusal;
use contend_core::registry::{Choice, Fact};
use contend_core::{Rng, Span, Time};
use rand::{Rng as _, SeedableRng as _};

/// A station that hears another.
#[derive(Clone, Copy, Debug)]
pub(in crate::wifi) struct Hearer {
    /// The station.
    pub(in crate::wifi) station: StationId,
    /// True if the power suffices to decode a frame.
    pub(in crate::wifi) decodes: bool,
    /// Received power as a share of the transmitted power.
    pub(in crate::wifi) gain: f64,
    /// The time that a frame needs to arrive.
    pub(in crate::wifi) delay: Span,
    /// True if the station is on another channel, so that the frame is nothing but energy there.
    pub(in crate::wifi) foreign: bool,
}

/// The number of a list of hearers.
pub(in crate::wifi) type ListId = u32;

/// For each frame, the stations that hear it.
///
/// As long as nothing changes each station has one list. Otherwise the list of a frame is computed when the frame
/// starts, and stays for the whole frame.
#[derive(Debug)]
pub(in crate::wifi) struct Links {
    /// By station, or by flight if links change. Each has the nearest hearer first.
    lists: Vec<Vec<Hearer>>,
    changes: bool,
    paths: Paths,
    /// A buffer, kept between calls.
    around: Vec<Hearer>,
}

/// The ways from each station to those that hear it.
#[derive(Debug)]
struct Paths {
    source: Source,
    /// When each station is off; nothing if none ever is.
    off: Vec<Vec<(Time, Time)>>,
    /// The channel of each station.
    channels: Vec<Option<u32>>,
    /// See [`Adjacent::overlaps`].
    overlaps: Vec<([u32; 2], f64)>,
    /// Buffers, kept between calls.
    near: Vec<StationId>,
    places: Vec<(StationId, Point)>,
    found: Found,
}

/// The hearers of one frame, to be sorted.
#[derive(Debug)]
struct Found {
    /// Delay and station of each hearer, in one number, so that the numbers are sorted and not the hearers.
    order: Vec<u64>,
    /// By station. Only those in `order` hear this frame.
    hearers: Vec<Hearer>,
}

/// Where links come from.
#[derive(Debug)]
enum Source {
    /// The file gives them.
    Table(Vec<Vec<Hearer>>),
    /// Distances decide.
    Distance(Ground, Box<Law>),
}

impl Links {
    /// The links of the stations with these names.
    ///
    /// # Errors
    /// If a model refuses its parameters. The text names the key.
    pub(in crate::wifi) fn new(seed: u64, spec: &FieldSpec, names: &[&str]) -> Result<Links, Refusal> {
        let mut source = match &spec.links {
            Some(links) => Source::Table(table(links, spec.sites.len())),
            None => {
                let law = Box::new(Law::new(seed, spec, names)?);
                Source::Distance(Ground::new(seed, spec, names, law.reach)?, law)
            }
        };
        let fades = spec.shadowing.is_some_and(|s| s.each_frame);
        let moves = if let Source::Distance(ground, _) = &source { ground.moves() } else { false };
        let changes = fades || moves || spec.sites.iter().any(|s| !s.off.is_empty() || s.roam.is_some());
        if let (true, Source::Distance(ground, law)) = (changes, &mut source) {
            law.losses.keep(spec, ground);
        }
        let mut off: Vec<_> = spec.sites.iter().map(|s| s.off.clone()).collect();
        if off.iter().all(Vec::is_empty) {
            off.clear();
        }
        let stations = spec.sites.len();
        let mut links = Links {
            lists: vec![],
            changes,
            paths: Paths {
                source,
                off,
                channels: (0..stations).map(|station| spec.channel(station)).collect(),
                overlaps: spec.adjacent.iter().flat_map(|a| a.overlaps.clone()).collect(),
                near: vec![],
                places: vec![],
                found: Found::new(stations),
            },
            around: vec![],
        };
        if !links.changes {
            links.lists.resize_with(stations, Vec::new);
            for (from, list) in (0..).zip(&mut links.lists) {
                links.paths.find(Time::ZERO, from, true, list);
            }
        }
        Ok(links)
    }

    /// The list of those that hear the frame `flight` that `from` starts at `now`.
    #[inline]
    pub(in crate::wifi) fn at_start(&mut self, now: Time, from: StationId, flight: u32) -> ListId {
        if !self.changes {
            return from;
        }
        let place = flight as usize;
        if self.lists.len() <= place {
            self.lists.resize_with(place + 1, Vec::new);
        }
        self.paths.find(now, from, true, &mut self.lists[place]);
        flight
    }

    /// The stations of a list, the nearest first.
    #[inline]
    pub(in crate::wifi) fn list(&self, list: ListId) -> &[Hearer] {
        &self.lists[list as usize]
    }

    /// The stations that would hear a frame that `from` starts at `now`.
    pub(in crate::wifi) fn hearers(&mut self, now: Time, from: StationId) -> &[Hearer] {
        if !self.changes {
            return self.list(from);
        }
        self.paths.find(now, from, true, &mut self.around);
        &self.around
    }

    /// Where `station` is at `now`; `None` if the file gives links instead of positions.
    pub(in crate::wifi) fn position(&mut self, now: Time, station: StationId) -> Option<Point> {
        if let Source::Distance(ground, _) = &mut self.paths.source {
            Some(ground.position(now, station))
        } else {
            None
        }
    }

    /// Where all stations are at `now`, and who hears whom; the fading of single frames is left out. Without positions
    /// if the file gives links.
    pub(in crate::wifi) fn map(&mut self, now: Time) -> Map {
        let all = 0..self.stations() as StationId;
        let positions = all.clone().map_while(|station| self.position(now, station)).collect();
        let mut links = Vec::new();
        for from in all {
            self.paths.find(now, from, false, &mut self.around);
            let own = self.around.iter().filter(|h| !h.foreign);
            links.extend(own.map(|h| MapLink { from, to: h.station, decodes: h.decodes }));
        }
        let (mut walls, mut losses) = (Vec::new(), Vec::new());
        match &self.paths.source {
            Source::Distance(_, law) => walls.clone_from(&law.losses.walls),
            Source::Table(table) => {
                for (from, hearers) in (0..).zip(table) {
                    let weak = hearers.iter().filter(|h| h.gain != 1.0);
                    losses.extend(weak.map(|h| (from, h.station, -10.0 * libm::log10(h.gain))));
                }
            }
        }
        Map { stations: self.stations(), positions, walls, losses, links, routes: vec![] }
    }

    /// The mean power in dBm with which frames of one station arrive at another at `now`, whatever their channels, and
    /// whether it suffices to decode them. `None` if the file gives links, or if no power falls.
    pub(in crate::wifi) fn signal(&mut self, now: Time, ends: [StationId; 2]) -> Option<(f64, bool)> {
        let Source::Distance(ground, law) = &mut self.paths.source else { return None };
        let [here, there] = ends.map(|station| ground.position(now, station));
        law.signal(ends, here, there)
    }

    /// The gain at which a frame arrives with so many dBm; never if no power falls.
    pub(in crate::wifi) fn gain_of(&self, power: f64) -> f64 {
        match &self.paths.source {
            Source::Distance(_, law) => law.full.map_or(f64::INFINITY, |full| left(full - power)),
            Source::Table(_) => f64::INFINITY,
        }
    }

    /// From now on `station` is on this channel.
    pub(in crate::wifi) fn tune(&mut self, station: StationId, channel: Option<u32>) {
        self.paths.channels[station as usize] = channel;
    }

    /// From now on `station` is on a channel of its own.
    pub(in crate::wifi) fn leave(&mut self, station: StationId) {
        self.tune(station, Some(u32::MAX - station));
    }

    /// Number of stations.
    pub(in crate::wifi) fn stations(&self) -> usize {
        self.paths.channels.len()
    }

    /// True if every station decodes every other, always.
    pub(in crate::wifi) fn all_hear_all(&self) -> bool {
        let others = self.stations().saturating_sub(1);
        !self.changes && self.lists.iter().all(|hearers| hearers.iter().filter(|h| h.decodes).count() == others)
    }
}

impl Paths {
    /// Puts the stations that hear a frame into `list`, the nearest first. `fades`: a single frame may fade.
    fn find(&mut self, now: Time, from: StationId, fades: bool, list: &mut Vec<Hearer>) {
        let Paths { source, off, channels, overlaps, near, places, found } = self;
        let is_on = |station: StationId| {
            let times = off.get(station as usize).map_or(&[][..], Vec::as_slice);
            !times.iter().any(|(begin, end)| *begin <= now && now < *end)
        };
        list.clear();
        if !is_on(from) {
            return;
        }
        let hears = |station: StationId| is_on(station) && channels[station as usize] == channels[from as usize];
        // What a frame loses on the way into another channel; `None` if nothing of it arrives there.
        let leaks = |station: StationId| {
            let pair = [channels[from as usize]?, channels[station as usize]?];
            let same = |(ends, _): &&([u32; 2], f64)| *ends == pair || *ends == [pair[1], pair[0]];
            overlaps.iter().find(same).filter(|_| is_on(station)).map(|(_, loss)| *loss)
        };
        match source {
            Source::Table(table) => list.extend(table[from as usize].iter().filter(|h| hears(h.station))),
            Source::Distance(ground, law) => {
                ground.near(now, from, near);
                let here = ground.position(now, from);
                // Two short loops: a processor then works on several stations at once, whose divisions take long.
                let there = near.iter().filter(|s| **s != from && hears(**s)).map(|s| (*s, ground.position(now, *s)));
                places.clear();
                places.extend(there.filter(|(_, there)| law.reaches(here, *there)));
                for &(station, there) in &*places {
                    if let Some(hearer) = law.hearer([from, station], here, there, (fades, None)) {
                        found.put(hearer);
                    }
                }
                let others: &[StationId] = if overlaps.is_empty() { &[] } else { near };
                for &station in others.iter().filter(|s| **s != from && !hears(**s)) {
                    let Some(loss) = leaks(station) else { continue };
                    let there = ground.position(now, station);
                    if let Some(hearer) = law.hearer([from, station], here, there, (fades, Some(loss))) {
                        found.put(hearer);
                    }
                }
                found.take(list);
            }
        }
    }
}

impl Found {
    /// No hearer among so many stations.
    fn new(stations: usize) -> Found {
        let nobody = Hearer { station: 0, decodes: false, gain: 0.0, delay: Span::ZERO, foreign: false };
        Found { order: vec![], hearers: vec![nobody; stations] }
    }

    /// Adds a hearer.
    #[inline]
    fn put(&mut self, hearer: Hearer) {
        // Light takes 33 ms for the farthest distance, so that the delay has 32 bits at most.
        self.order.push(hearer.delay.as_nanos() << 32 | u64::from(hearer.station));
        self.hearers[hearer.station as usize] = hearer;
    }

    /// Moves all hearers to the end of `list`, the nearest first.
    fn take(&mut self, list: &mut Vec<Hearer>) {
        self.order.sort_unstable();
        list.extend(self.order.drain(..).map(|key| self.hearers[key as StationId as usize]));
    }
}

/// The links of the file by transmitter, the nearest hearer first.
fn table(links: &[FieldLink], stations: usize) -> Vec<Vec<Hearer>> {
    let mut all = vec![vec![]; stations];
    for &FieldLink { from, to, decodes, gain, delay } in links {
        if let Some(hearers) = all.get_mut(from as usize) {
            hearers.push(Hearer { station: to, decodes, gain, delay, foreign: false });
        }
    }
    all.iter_mut().for_each(|hearers| hearers.sort_unstable_by_key(|h| (h.delay, h.station)));
    all
}

/// How distances decide.
#[derive(Debug)]
struct Law {
    model: Box<dyn Propagation>,
    losses: Losses,
    range: f64,
    sense: f64,
    /// The farthest that a frame can be sensed, in metres.
    reach: f64,
    delay: bool,
    /// The power in dBm at a gain of 1; `None` if no power falls.
    full: Option<f64>,
    shadows: Option<Shadows>,
}

/// The nearest whole number to one that is not negative; of two the larger. A call of `round` takes as long as the rest
/// of a distance.
#[inline]
fn rounded(x: f64) -> u64 {
    let whole = x as u64;
    whole + u64::from(x - whole as f64 >= 0.5)
}

/// The random part of the path loss.
#[derive(Debug)]
struct Shadows {
    spec: Shadowing,
    /// The gains at `range` and `sense`, which are the thresholds.
    decoded: f64,
    sensed: f64,
    /// The random numbers of frames.
    frames: Rng,
    /// A number for each station. That of a pair follows from both.
    pairs: Vec<u64>,
}

/// No frame is sensed beyond this distance, in metres.
const FARTHEST: f64 = 1e7;
/// Draws of shadowing are cut at this many standard deviations.
const CUT: f64 = 3.0;

impl Law {
    fn new(seed: u64, spec: &FieldSpec, names: &[&str]) -> Result<Law, Refusal> {
        let Choice { entry, args } = &spec.propagation;
        let model = (entry.build)(args).map_err(|e| e.of(format_args!("field.propagation")))?;
        let mut reach = spec.sense;
        let shadows = spec.shadowing.map(|s| {
            let (decoded, sensed) = (model.gain(spec.range), model.gain(spec.sense));
            let strongest = libm::pow(10.0, CUT * s.deviation / 10.0);
            while model.gain(reach) * strongest >= sensed && reach < FARTHEST {
                reach *= 1.1;
            }
            let frames = rng::stream(seed, "field", "shadowing");
            let pairs = names.iter().map(|name| rng::stream(seed, name, "shadowing").next_u64()).collect();
            Shadows { spec: s, decoded, sensed, frames, pairs }
        });
        let losses = Losses { walls: spec.walls.clone(), kept: vec![] };
        let (range, sense, delay) = (spec.range, spec.sense, spec.propagation_delay);
        let full = model.reference().map(|loss| spec.tx_power - loss);
        Ok(Law { model, losses, range, sense, reach, delay, full, shadows })
    }

    /// False if no frame from `here` is heard at `there`. Where frames may fade each of them has to be drawn.
    #[inline]
    fn reaches(&self, here: Point, there: Point) -> bool {
        self.shadows.is_some() || !here.is_beyond(there, self.reach)
    }

    /// How the station `to` at `there` hears a frame that `from` sends at `here`; `None` if not at all. `fades`: the
    /// frame may fade. `leak`: what it loses on the way into another channel, if `to` is on one.
    // A result in memory would be written in parts and read as a whole, for which a processor waits.
    #[inline(always)]
    fn hearer(
        &mut self,
        [from, to]: [StationId; 2],
        here: Point,
        there: Point,
        (fades, leak): (bool, Option<f64>),
    ) -> Option<Hearer> {
        let distance = here.distance(there);
        let (foreign, leak) = (leak.is_some(), leak.unwrap_or(0.0));
        let lost = self.losses.between([from, to], here, there) + leak;
        let gain = self.model.gain(distance) * left(lost);
        let delay = match self.delay {
            true => Span::from_nanos(rounded(distance * (1e9 / LIGHT))),
            false => Span::ZERO,
        };
        match &mut self.shadows {
            None => {
                let within = |limit| arrives(&*self.model, distance, lost, limit);
                let decodes = !foreign && within(self.range);
                within(self.sense).then_some(Hearer { station: to, decodes, gain, delay, foreign })
            }
            Some(shadows) => {
                let gain = gain * shadows.draw(from, to, fades);
                let decodes = !foreign && gain >= shadows.decoded;
                let hearer = Hearer { station: to, decodes, gain, delay, foreign };
                (gain >= shadows.sensed).then_some(hearer)
            }
        }
    }

    /// The mean power in dBm at `there` of frames from `here`, and whether it suffices to decode them.
    fn signal(&mut self, [from, to]: [StationId; 2], here: Point, there: Point) -> Option<(f64, bool)> {
        let (distance, lost) = (here.distance(there), self.losses.between([from, to], here, there));
        let mut gain = self.model.gain(distance) * left(lost);
        let decodes = match &mut self.shadows {
            None => arrives(&*self.model, distance, lost, self.range),
            Some(shadows) => {
                gain *= shadows.draw(from, to, false);
                gain >= shadows.decoded
            }
        };
        Some((self.full? + 10.0 * libm::log10(gain), decodes))
    }
}

/// What frames lose in walls, in decibels.
#[derive(Debug)]
struct Losses {
    walls: Vec<Wall>,
    /// For each station that never moves, the loss to each such station; empty for the others.
    kept: Vec<Vec<Option<f64>>>,
}

/// The losses between more stations are not kept.
const KEPT: usize = 1000;

impl Losses {
    /// Computes the losses between stations that never move, once for the whole run.
    fn keep(&mut self, spec: &FieldSpec, ground: &mut Ground) {
        if self.walls.is_empty() || spec.sites.len() > KEPT {
            return;
        }
        let stays = |site: &Site| site.mobility.entry.has(Fact::Constant);
        let mut place = |(i, site): (StationId, &Site)| stays(site).then(|| ground.position(Time::ZERO, i));
        let places: Vec<Option<Point>> = (0..).zip(&spec.sites).map(&mut place).collect();
        let row = |here: &Option<Point>| {
            let here = (*here)?;
            Some(places.iter().map(|there| there.map(|there| walls::loss(&self.walls, here, there))).collect())
        };
        self.kept = places.iter().map(|here| row(here).unwrap_or_default()).collect();
    }

    /// The loss between two stations at these places.
    #[inline]
    fn between(&self, [from, to]: [StationId; 2], here: Point, there: Point) -> f64 {
        if self.walls.is_empty() {
            return 0.0;
        }
        let kept = self.kept.get(from as usize).and_then(|row| *row.get(to as usize)?);
        kept.unwrap_or_else(|| walls::loss(&self.walls, here, there))
    }
}

impl Shadows {
    /// The factor of the gain between two stations. `fades`: a single frame may fade.
    fn draw(&mut self, from: StationId, to: StationId, fades: bool) -> f64 {
        let normal = match self.spec.each_frame {
            true if !fades => 0.0,
            true => rng::normal(&mut self.frames),
            false => rng::normal(&mut Rng::seed_from_u64(self.pairs[from as usize] ^ self.pairs[to as usize])),
        };
        libm::pow(10.0, normal.clamp(-CUT, CUT) * self.spec.deviation / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{self, Area};
    use crate::testing;
    use crate::wifi::medium::propagation;
    use crate::wifi::spec::{Capture, CtsRule};
    use contend_core::registry::{Entry, Value, find};

    fn choose<B>(family: &'static [Entry<B>], name: &str, set: &[(&str, Value)]) -> Choice<B> {
        let entry = find(family, name).unwrap();
        Choice { entry, args: testing::args(entry.params, set) }
    }

    /// Who hears whom does not depend on how stations are sorted into squares, nor on what is kept of walls: at random
    /// times the links are those of a look at all pairs.
    #[test]
    fn moving_stations_hear_what_distances_and_walls_say() {
        let wall = |(x, y), (u, v), loss| Wall { from: Point { x, y }, to: Point { x: u, y: v }, loss };
        hear_what_is_said(vec![]);
        hear_what_is_said(vec![wall((1000.0, 0.0), (1000.0, 2000.0), 7.0), wall((0.0, 700.0), (1500.0, 900.0), 30.0)]);
    }

    /// The first ten stations stay where they are if there are walls.
    fn hear_what_is_said(walls: Vec<Wall>) {
        let speed = |v| Value::Number(v);
        let waypoint = [
            ("slowest", speed(10.0)),
            ("fastest", speed(30.0)),
            ("pause", Value::Time(Span::from_secs(2))),
            ("start", Value::Word("uniform".into())),
        ];
        let site = |i: u32| {
            let stays = i < 10 && !walls.is_empty();
            Site {
                position: stays.then(|| Point { x: 190.0 * f64::from(i), y: 600.0 + 40.0 * f64::from(i) }),
                mobility: match stays {
                    true => choose(mobility::REGISTRY, "fixed", &[]),
                    false => choose(mobility::REGISTRY, "random_waypoint", &waypoint),
                },
                movement: None,
                off: vec![],
                roam: None,
            }
        };
        let spec = FieldSpec {
            sites: (0..60).map(site).collect(),
            association: vec![],
            channels: vec![],
            adjacent: None,
            area: Area { width: 2000.0, height: 2000.0 },
            links: None,
            walls: walls.clone(),
            shadowing: None,
            range: 250.0,
            sense: 550.0,
            propagation: choose(propagation::REGISTRY, "log_distance", &[("exponent", Value::Number(3.0))]),
            capture: Capture::NONE,
            tx_power: 16.0,
            noise_figure: 7.0,
            propagation_delay: true,
            nav_reset: true,
            nav_rounding: false,
            slot_rounding: false,
            cts: CtsRule::Nav,
            routing: None,
            arp: false,
            routing_priority: false,
            link_delay: Span::ZERO,
            notes_on_air: false,
            sinr: false,
        };
        let names: Vec<String> = (0..60).map(|i| format!("sta{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut links = Links::new(1, &spec, &names).unwrap();
        let mut other = Ground::new(1, &spec, &names, 550.0).unwrap();
        let model = (spec.propagation.entry.build)(&spec.propagation.args).unwrap();
        let mut heard = 0;
        for step in 0..2000u64 {
            let (now, from) = (Time::from_nanos(step * 37_000_000), (step % 60) as StationId);
            let here = other.position(now, from);
            let mut want: Vec<(StationId, bool)> = vec![];
            for to in (0..60).filter(|to| *to != from) {
                let there = other.position(now, to);
                let (distance, lost) = (here.distance(there), walls::loss(&walls, here, there));
                let (far, near) = (arrives(&*model, distance, lost, 550.0), arrives(&*model, distance, lost, 250.0));
                want.extend(far.then_some((to, near)));
            }
            let list = links.at_start(now, from, (step % 3) as u32);
            let mut got: Vec<_> = links.list(list).iter().map(|h| (h.station, h.decodes)).collect();
            assert!(links.list(list).is_sorted_by_key(|h| h.delay));
            got.sort_unstable();
            assert_eq!(got, want, "at {now:?}");
            heard += got.len();
        }
        assert!(heard > 10_000);
    }
}
