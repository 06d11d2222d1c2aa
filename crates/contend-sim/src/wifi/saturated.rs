//! Contention and nothing else: stations that always have a frame, slots, and who wins.
//!
//! No time, no frames, no retry limit: what is left of a cell when every exchange is over in an instant and all resume
//! together, but for whole slots by which one inter-frame space is longer than another (AIFSN). It runs the same access
//! rules with the same random streams as a [cell](super::cell), and agrees with one draw for draw; and it is fast
//! enough for a million successes in the blink of an eye (Starzetz 2006 §8.2).
//!
//! Backoffs that are kept stand in a wheel of slots with a bit for each slot that is taken, so that a cycle costs the
//! same however many stations wait. Those that are drawn anew in every cycle stand in a list.

use super::access::{Access, Build, Busy, BusySlot, Category, Channel, Draw, Residue, Seen, Setting};
use super::{AP, StationId, Success};
use crate::rng::{self, fold, mix};
use contend_core::registry::Choice;
use contend_core::{Cx, Rng, Time};
use rand::RngExt as _;

/// Stations that contend.
#[derive(Clone, Debug)]
pub struct SaturatedSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// All that contend.
    pub contenders: Vec<ContenderSpec>,
    /// What the rules are told.
    pub setting: Setting,
    /// Whether a busy slot counts as backoff.
    pub busy_slot: BusySlot,
    /// The IP packet that rules which go by its length are told of, in bytes.
    pub bytes: u32,
    /// How often noise spoils what would have been a success (sigma of Starzetz 2006 §11.1): its sender takes it for a
    /// collision.
    pub noise: f64,
}

/// A station, or one category of it.
#[derive(Clone, Debug)]
pub struct ContenderSpec {
    /// Its name: its random stream is called after it.
    pub name: String,
    /// When it may try.
    pub rule: Choice<Build>,
    /// The station it belongs to, from 0: of several of one station that are due together only the highest category
    /// sends.
    pub station: u32,
    /// Its category.
    pub category: Category,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles that ended with one sender that was heard.
    pub successes: u64,
    /// Cycles that ended with several senders.
    pub collisions: u64,
    /// Cycles that ended with one sender that noise spoilt.
    pub spoilt: u64,
    /// Idle slots before successes.
    pub success_slots: u64,
    /// Idle slots before collisions.
    pub collision_slots: u64,
    /// Frames sent, and of them those that collided.
    pub attempts: u64,
    /// Frames that collided.
    pub collided: u64,
    /// Backoffs that ended together with a higher category's of the same station.
    pub internal: u64,
}

impl Tally {
    /// Contentions so far.
    pub fn cycles(&self) -> u64 {
        self.successes + self.collisions + self.spoilt
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
    /// Backoffs that are kept.
    groups: Vec<Group>,
    /// True if a station has several contenders.
    categories: bool,
    /// Slots after the shortest inter-frame space at which those without one of their own begin to count.
    difs: u32,
    /// Backoffs that are drawn anew: station and slots.
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
    /// Where its backoff is kept.
    group: u32,
    /// True if a busy slot counts for it.
    busy_counts: bool,
    station: u32,
    category: Category,
    backoff: Rng,
}

/// Contenders that begin to count at the same slot, and count busy slots alike.
#[derive(Debug)]
struct Group {
    /// Slots after the shortest inter-frame space.
    offset: u32,
    busy: Busy,
    busy_counts: bool,
    /// When the first of them is due in this contention, in slots after the shortest inter-frame space; [`u32::MAX`]
    /// when none waits.
    due: u32,
    wheel: Wheel,
}

impl Group {
    /// Slots of its own that are over when somebody sends `idle` slots after the shortest inter-frame space.
    fn counts(&self, idle: u32) -> u32 {
        let busy = self.busy_counts && (self.busy != Busy::Boundary || idle >= self.offset);
        idle.saturating_sub(self.offset) + u32::from(busy)
    }
}

/// No station.
const NONE: u32 = u32::MAX;

impl Saturated {
    /// The stations of `spec`, each with a first backoff.
    ///
    /// # Errors
    /// What a rule says about its parameters, with the station's name.
    pub fn new(spec: &SaturatedSpec) -> Result<Saturated, String> {
        let n = spec.contenders.iter().map(|c| c.station + 1).max().unwrap_or(0);
        let mut stations = Vec::with_capacity(spec.contenders.len());
        for ContenderSpec { name, rule, station, category } in &spec.contenders {
            let setting = spec.setting.member(*station, n).of_category(*category);
            let access = (rule.entry.build)(&rule.args, setting).map_err(|e| format!("{name}: {e}"))?;
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
        // They come one after the other.
        for who in 0..all.stations.len() as u32 {
            all.contenders += 1;
            all.draw(who, Draw::Arrival);
        }
        Ok(all)
    }

    /// Runs until there have been `successes` in all, or a million cycles in a row had none. With `keep` it is kept who
    /// succeeds.
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

    /// What happened so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Who succeeded while it was kept, in order. Contender i of the specification has number i + 1, as stations in a
    /// cell.
    pub fn successes(&self) -> &[Success] {
        &self.sequence
    }

    /// A digest of all cycles so far.
    pub fn digest(&self) -> u64 {
        mix(self.digest)
    }

    /// One contention: everybody waits, somebody sends. Whether one did alone and was heard.
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
        // Forwards over a list that loses its senders: the order of the others does not matter, their streams are their
        // own.
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
                    self.tally.spoilt += 1;
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

    /// Of those of `senders` that belong to one station only the highest category stays; for the others it is a failed
    /// attempt that used no air.
    fn collide_inside(&mut self, senders: &mut Vec<StationId>) {
        let of = |s: &[Station], who: StationId| s.get(who as usize).map(|s| (s.station, s.category as u32));
        // By station, the highest category first.
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

    /// A new backoff for `who`.
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
/// The longest backoff in slots.
const LONGEST: u32 = 1 << 24;

/// Stations by the slot in which their backoff ends, for as many slots ahead as any of them waits.
#[derive(Debug)]
struct Wheel {
    /// The first station of each slot's list, a power of two of them.
    first: Vec<u32>,
    /// The station that follows each station in its list.
    next: Vec<u32>,
    /// A bit for each slot that has a list.
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

    /// Slots until the first backoff ends; [`u32::MAX`] when none runs.
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
        // The word of the clock once more at the end, for what lies before it.
        for _ in 0..words {
            at = if at + 1 == words { 0 } else { at + 1 };
            if self.taken[at] != 0 {
                return passed + self.taken[at].trailing_zeros();
            }
            passed += 64;
        }
        u32::MAX
    }

    /// Moves everybody whose backoff ends after `idle` slots into `senders`.
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

    /// So many slots pass, in which no backoff ends.
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

    /// Twice as many slots.
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
