//! Contention alone: stations that are always saturated, counted in slots.
//!
//! There is no time, no frame and no retry limit. This is a cell in which every exchange takes no time and all stations
//! resume together, except for whole slots by which one inter-frame space is longer than another (AIFSN). The access
//! rules and the random streams are those of a [cell](super::network::cell), and the results agree with a cell draw for
//! draw. A million successes take less than a second (Starzetz 2006 §8.2).
//!
//! Residual backoffs are kept in a timing wheel of slots, with one bit for each slot that is in use. The cost of a
//! cycle therefore does not depend on the number of waiting stations. Backoffs that are drawn again in every cycle are
//! kept in a list.

use super::access::{Access, Build, Busy, BusySlot, Category, Channel, Draw, Residue, Seen, Setting};
use super::ids::{AP, StationId};
use super::network::successes::Success;
use crate::rng::{self, fold, mix};
use contend_core::Refusal;
use contend_core::registry::Choice;
use contend_core::{Cx, Rng, Time};
use rand::RngExt as _;

/// The specification of the contending stations and the medium.
#[derive(Clone, Debug)]
pub struct SaturatedSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// All contenders.
    pub contenders: Vec<ContenderSpec>,
    /// The facts about the cell that the rules get.
    pub setting: Setting,
    /// Whether a busy slot counts as backoff.
    pub busy_slot: BusySlot,
    /// Size of the IP packet in bytes, for rules that depend on it.
    pub bytes: u32,
    /// Probability that noise corrupts a success (sigma of Starzetz 2006 §11.1). The sender takes it for a collision.
    pub noise: f64,
}

/// A station, or one category of a station.
#[derive(Clone, Debug)]
pub struct ContenderSpec {
    /// The name. It also names the random stream.
    pub name: String,
    /// The access rule.
    pub rule: Choice<Build>,
    /// The number of the station, from 0. If several contenders of one station are due together, only the highest
    /// category sends.
    pub station: u32,
    /// Its category.
    pub category: Category,
}

/// The counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles with one sender whose frame was received.
    pub successes: u64,
    /// Cycles with several senders.
    pub collisions: u64,
    /// Cycles with one sender whose frame noise corrupted.
    pub corrupted: u64,
    /// Idle slots before successes.
    pub success_slots: u64,
    /// Idle slots before collisions.
    pub collision_slots: u64,
    /// Frames sent.
    pub attempts: u64,
    /// Frames that collided.
    pub collided: u64,
    /// Internal collisions: backoffs that ended together with that of a higher category of the same station.
    pub internal: u64,
}

impl Tally {
    /// Number of cycles so far.
    pub fn cycles(&self) -> u64 {
        self.successes + self.collisions + self.corrupted
    }
}

/// Stations that contend.
#[derive(Debug)]
pub struct Saturated {
    stations: Vec<Station>,
    channel: Channel,
    contenders: u32,
    bytes: u32,
    noise: Option<(f64, Rng)>,
    /// The groups, with the residual backoffs of their members.
    groups: Vec<Group>,
    /// True if a station has several contenders.
    categories: bool,
    /// Slots between the end of the shortest inter-frame space and the end of DIFS.
    difs: u32,
    /// Backoffs that are drawn again in every cycle: contender and slots.
    fresh: Vec<(StationId, u32)>,
    senders: Vec<StationId>,
    tally: Tally,
    keep: bool,
    sequence: Vec<Success>,
    digest: u64,
}

#[derive(Debug)]
struct Station {
    access: Box<dyn Access>,
    residue: Residue,
    /// The index of its group.
    group: u32,
    /// True if a busy slot counts for this contender.
    busy_counts: bool,
    station: u32,
    category: Category,
    backoff: Rng,
}

/// Contenders that begin to count at the same slot and treat busy slots alike.
#[derive(Debug)]
struct Group {
    /// First counted slot, in slots after the shortest inter-frame space.
    offset: u32,
    busy: Busy,
    busy_counts: bool,
    /// When the first of these contenders is due in this cycle, in slots after the shortest inter-frame space;
    /// [`u32::MAX`] if none waits.
    due: u32,
    wheel: Wheel,
}

impl Group {
    /// Slots that these contenders have counted when a station sends `idle` slots after the shortest inter-frame space.
    fn counts(&self, idle: u32) -> u32 {
        let busy = self.busy_counts && (self.busy != Busy::Boundary || idle >= self.offset);
        idle.saturating_sub(self.offset) + u32::from(busy)
    }
}

/// No station.
const NONE: u32 = u32::MAX;

impl Saturated {
    /// Builds the stations of `spec`; each draws a first backoff.
    ///
    /// # Errors
    /// When a rule rejects its parameters. The text names the station.
    pub fn new(spec: &SaturatedSpec) -> Result<Saturated, Refusal> {
        let n = spec.contenders.iter().map(|c| c.station + 1).max().unwrap_or(0);
        let mut stations = Vec::with_capacity(spec.contenders.len());
        for ContenderSpec { name, rule, station, category } in &spec.contenders {
            let setting = spec.setting.member(*station, n).of_category(*category);
            let access = (rule.entry.build)(&rule.args, setting).map_err(|e| e.of(format_args!("{name}")))?;
            let backoff = rng::stream(spec.seed, name, "backoff");
            stations.push(Station {
                residue: access.residue(),
                busy_counts: access.busy().counts(spec.busy_slot),
                access,
                group: 0,
                station: *station,
                category: *category,
                backoff,
            });
        }
        let aifsn = |s: &Station| s.access.aifsn().unwrap_or(DIFS);
        let least = stations.iter().map(aifsn).min().unwrap_or(DIFS);
        let mut groups: Vec<Group> = Vec::new();
        for s in &mut stations {
            let (offset, busy) = (aifsn(s) - least, s.access.busy());
            let known = groups.iter().position(|g| (g.offset, g.busy) == (offset, busy));
            s.group = known.unwrap_or(groups.len()) as u32;
            if known.is_none() {
                let busy_counts = s.busy_counts;
                groups.push(Group { offset, busy, busy_counts, due: 0, wheel: Wheel::new(spec.contenders.len()) });
            }
        }
        let mut all = Saturated {
            channel: Channel::new(),
            contenders: 0,
            bytes: spec.bytes,
            noise: (spec.noise > 0.0).then(|| (spec.noise, rng::stream(spec.seed, "contention", "noise"))),
            groups,
            categories: spec.contenders.len() > n as usize,
            difs: DIFS.saturating_sub(least),
            fresh: Vec::with_capacity(stations.len()),
            senders: Vec::with_capacity(stations.len()),
            stations,
            tally: Tally::default(),
            keep: false,
            sequence: Vec::new(),
            digest: 0,
        };
        // Successive cycles.
        for who in 0..all.stations.len() as u32 {
            all.contenders += 1;
            all.draw(who, Draw::Arrival);
        }
        Ok(all)
    }

    /// Runs until there are `successes` in total, or until a million successive cycles had no success. With `keep`, the
    /// sender of each success is recorded.
    pub fn run_until(&mut self, successes: u64, keep: bool) {
        self.keep = keep;
        if keep {
            self.sequence.reserve(successes.saturating_sub(self.tally.successes) as usize);
        }
        let mut failed = 0;
        while self.tally.successes < successes && failed < 1_000_000 {
            failed = if self.cycle() { 0 } else { failed + 1 };
        }
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The senders of the recorded successes, in order. Contender i of the specification has number i + 1, as stations
    /// in a cell have.
    pub fn successes(&self) -> &[Success] {
        &self.sequence
    }

    /// A digest of all cycles so far.
    pub fn digest(&self) -> u64 {
        mix(self.digest)
    }

    /// One cycle: all wait, and one or more send. True if exactly one sent and its frame was received.
    fn cycle(&mut self) -> bool {
        let mut kept = u32::MAX;
        for g in &mut self.groups {
            g.due = g.wheel.idle_slots().saturating_add(g.offset);
            kept = kept.min(g.due);
        }
        let idle = self.fresh.iter().map(|f| f.1 + self.difs).min().map_or(kept, |fresh| fresh.min(kept));
        let mut senders = std::mem::take(&mut self.senders);
        senders.clear();
        self.channel.turns_busy(idle);
        for g in &mut self.groups {
            if g.due == idle {
                g.wheel.take(idle - g.offset, &mut senders);
            }
            let counts = g.counts(idle);
            g.wheel.advance(counts);
        }
        // Iterates forwards over a list from which senders are removed. The order of the others does not matter,
        // because each has its own random stream.
        let waited = idle.saturating_sub(self.difs);
        let mut i = 0;
        while let Some(&(who, slots)) = self.fresh.get(i) {
            if slots + self.difs == idle {
                senders.push(who);
                self.fresh.swap_remove(i);
            } else {
                let busy = self.stations.get(who as usize).is_some_and(|s| s.busy_counts);
                let slots = self.ask(who, Draw::Cycle(waited + u32::from(busy)));
                if let Some(f) = self.fresh.get_mut(i) {
                    f.1 = slots;
                }
                i += 1;
            }
        }
        if senders.len() > 1 && self.categories {
            self.collide_inside(&mut senders);
        }
        self.tally.attempts += senders.len() as u64;
        let one = match senders[..] {
            [who] => Some(who),
            _ => None,
        };
        let heard = one.filter(|_| self.noise.as_mut().is_none_or(|(p, rng)| rng.random::<f64>() >= *p));
        self.digest = fold(self.digest, u64::from(idle) << 32 | u64::from(heard.unwrap_or(NONE)), senders.len() as u64);
        match heard {
            Some(who) => {
                self.tally.successes += 1;
                self.tally.success_slots += u64::from(idle);
                if self.keep {
                    self.sequence.push(Success::new(who + 1, AP));
                }
                self.draw(who, Draw::Success);
            }
            None => {
                if one.is_some() {
                    self.tally.corrupted += 1;
                } else {
                    self.tally.collisions += 1;
                    self.tally.collision_slots += u64::from(idle);
                    self.tally.collided += senders.len() as u64;
                }
                senders.iter().for_each(|&who| self.draw(who, Draw::Failure));
            }
        }
        self.senders = senders;
        heard.is_some()
    }

    /// Keeps only the highest category of each station in `senders`. The others count a failed attempt that used no
    /// airtime.
    fn collide_inside(&mut self, senders: &mut Vec<StationId>) {
        let of = |s: &[Station], who: StationId| s.get(who as usize).map(|s| (s.station, s.category as u32));
        // Sorted by station, the highest category first.
        senders.sort_unstable_by_key(|&who| of(&self.stations, who));
        let mut last = None;
        let mut lost = Vec::new();
        senders.retain(|&who| {
            let station = of(&self.stations, who).map(|s| s.0);
            let stays = station != last;
            last = station;
            if !stays {
                lost.push(who);
            }
            stays
        });
        for who in lost {
            self.tally.internal += 1;
            self.draw(who, Draw::Failure);
        }
    }

    /// Draws a new backoff for `who`.
    fn draw(&mut self, who: StationId, why: Draw) {
        let slots = self.ask(who, why);
        let Some(s) = self.stations.get(who as usize) else { return };
        match s.residue {
            Residue::Keep => self.groups[s.group as usize].wheel.insert(who, slots),
            Residue::Redraw => self.fresh.push((who, slots)),
        }
    }

    fn ask(&mut self, who: StationId, why: Draw) -> u32 {
        let Some(s) = self.stations.get_mut(who as usize) else { return 0 };
        let seen =
            Seen { contenders: self.contenders, bytes: self.bytes, busy_counts: s.busy_counts, channel: &self.channel };
        s.access.draw(&mut Cx { now: Time::ZERO, rng: &mut s.backoff }, why, &seen).min(LONGEST)
    }
}

/// Slots of DIFS after SIFS.
const DIFS: u32 = 2;
/// Maximum backoff in slots.
const LONGEST: u32 = 1 << 24;

/// Stations by the slot in which their backoff ends. The wheel has as many slots as the longest backoff.
#[derive(Debug)]
struct Wheel {
    /// The first station in the list of each slot; the length is a power of two.
    first: Vec<u32>,
    /// The next station in the same list, for each station.
    next: Vec<u32>,
    /// One bit per slot; set if the list of the slot is not empty.
    taken: Vec<u64>,
    /// The present slot, modulo the length of `first`.
    clock: u32,
    waiting: u32,
}

impl Wheel {
    fn new(stations: usize) -> Wheel {
        Wheel { first: vec![NONE; 1024], next: vec![NONE; stations], taken: vec![0; 1024 / 64], clock: 0, waiting: 0 }
    }

    fn mask(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// Slots until the first backoff ends; [`u32::MAX`] if no backoff runs.
    fn idle_slots(&self) -> u32 {
        if self.waiting == 0 {
            return u32::MAX;
        }
        let words = self.taken.len();
        let (word, bit) = ((self.clock / 64) as usize, self.clock % 64);
        let here = self.taken[word] >> bit;
        if here != 0 {
            return here.trailing_zeros();
        }
        let mut passed = 64 - bit;
        let mut at = word;
        // The word that contains the present slot is checked again at the end, for the slots before the present slot.
        for _ in 0..words {
            at = if at + 1 == words { 0 } else { at + 1 };
            if self.taken[at] != 0 {
                return passed + self.taken[at].trailing_zeros();
            }
            passed += 64;
        }
        u32::MAX
    }

    /// Moves all stations whose backoff ends after `idle` slots into `senders`.
    fn take(&mut self, idle: u32, senders: &mut Vec<StationId>) {
        let slot = (self.clock + idle) & self.mask();
        let mut who = std::mem::replace(&mut self.first[slot as usize], NONE);
        self.taken[(slot / 64) as usize] &= !(1 << (slot % 64));
        while who != NONE {
            senders.push(who);
            self.waiting -= 1;
            who = self.next[who as usize];
        }
    }

    /// Advances by this number of slots, in which no backoff ends.
    fn advance(&mut self, slots: u32) {
        self.clock = (self.clock + slots) & self.mask();
    }

    fn insert(&mut self, who: StationId, slots: u32) {
        while slots >= self.mask() {
            self.grow();
        }
        let slot = (self.clock + slots) & self.mask();
        self.next[who as usize] = std::mem::replace(&mut self.first[slot as usize], who);
        self.taken[(slot / 64) as usize] |= 1 << (slot % 64);
        self.waiting += 1;
    }

    /// Doubles the number of slots.
    fn grow(&mut self) {
        let old = self.first.len() as u32;
        let mut first = vec![NONE; 2 * old as usize];
        for ahead in 0..old {
            first[ahead as usize] = self.first[((self.clock + ahead) & (old - 1)) as usize];
        }
        self.taken = first
            .chunks(64)
            .map(|c| c.iter().enumerate().filter(|(_, w)| **w != NONE).fold(0, |bits, (i, _)| bits | 1 << i))
            .collect();
        (self.first, self.clock) = (first, 0);
    }
}
