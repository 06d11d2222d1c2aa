//! Contention and nothing else: stations that always have a frame, slots, and who wins.
//!
//! No time, no frames, no retry limit: what is left of a cell when every exchange is over in an instant and all resume together. It runs the same access
//! rules with the same random streams as a [cell](super::cell), and agrees with one draw for draw; and it is fast enough for a million successes in the
//! blink of an eye (Starzetz 2006 §8.2).
//!
//! Backoffs that are kept stand in a wheel of slots with a bit for each slot that is taken, so that a cycle costs the same however many stations wait.
//! Those that are drawn anew in every cycle stand in a list.

use super::access::{Access, Build, Channel, Draw, Residue, Scheduling, Seen, Setting};
use super::{AP, StationId, Success};
use crate::rng::{self, mix};
use crate::scenario::BusySlot;
use contend_core::registry::Choice;
use contend_core::{Cx, Rng, Time};
use rand::RngExt as _;

/// Stations that contend.
#[derive(Clone, Debug)]
pub struct SaturatedSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Name and rule of each station.
    pub stations: Vec<(String, Choice<Build>)>,
    /// What the rules are told.
    pub setting: Setting,
    /// Whether a busy slot counts as backoff.
    pub busy_slot: BusySlot,
    /// The IP packet that rules which go by its length are told of, in bytes.
    pub bytes: u32,
    /// How often noise spoils what would have been a success (sigma of Starzetz 2006 §11.1): its sender takes it for a collision.
    pub noise: f64,
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
    busy_counts: u32,
    contenders: u32,
    bytes: u32,
    noise: Option<(f64, Rng)>,
    /// Backoffs that are kept.
    wheel: Wheel,
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
    backoff: Rng,
}

/// No station.
const NONE: u32 = u32::MAX;

impl Saturated {
    /// The stations of `spec`, each with a first backoff.
    ///
    /// # Errors
    /// What a rule says about its parameters, with the station's name.
    pub fn new(spec: &SaturatedSpec) -> Result<Saturated, String> {
        let n = spec.stations.len() as u32;
        let mut stations = Vec::with_capacity(n as usize);
        for (rank, (name, rule)) in (0..).zip(&spec.stations) {
            let access = (rule.entry.build)(&rule.args, spec.setting.member(rank, n)).map_err(|e| format!("{name}: {e}"))?;
            Saturated::suits(&*access).map_err(|e| format!("{name}: {e}"))?;
            stations.push(Station { residue: access.residue(), access, backoff: rng::stream(spec.seed, name, "backoff") });
        }
        let mut all = Saturated {
            channel: Channel::new(),
            busy_counts: u32::from(spec.busy_slot == BusySlot::Counted),
            contenders: 0,
            bytes: spec.bytes,
            noise: (spec.noise > 0.0).then(|| (spec.noise, rng::stream(spec.seed, "contention", "noise"))),
            wheel: Wheel::new(stations.len()),
            fresh: Vec::with_capacity(stations.len()),
            senders: Vec::with_capacity(stations.len()),
            stations,
            tally: Tally::default(),
            keep: false,
            sequence: Vec::new(),
            digest: 0,
        };
        // They come one after the other.
        for who in 0..n {
            all.contenders += 1;
            all.draw(who, Draw::Arrival);
        }
        Ok(all)
    }

    /// Whether a rule is one that contention alone can do.
    ///
    /// # Errors
    /// When it has categories, which differ in inter-frame space.
    pub fn suits(rule: &dyn Access) -> Result<(), String> {
        match rule.scheduling() {
            Scheduling::One => Ok(()),
            _ => Err("categories differ in inter-frame space, and without time there is none; write a [wifi] file with saturated flows".into()),
        }
    }

    /// Runs until there have been `successes` in all, or a million cycles in a row had none. With `keep` it is kept who succeeds.
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

    /// Who succeeded while it was kept, in order. Station i of the specification has number i + 1, as in a cell.
    pub fn successes(&self) -> &[Success] {
        &self.sequence
    }

    /// A digest of all cycles so far.
    pub fn digest(&self) -> u64 {
        mix(self.digest)
    }

    /// One contention: everybody waits, somebody sends. Whether one did alone and was heard.
    fn cycle(&mut self) -> bool {
        let kept = self.wheel.idle_slots();
        let idle = self.fresh.iter().map(|f| f.1).min().map_or(kept, |fresh| fresh.min(kept));
        let mut senders = std::mem::take(&mut self.senders);
        senders.clear();
        if idle == kept {
            self.wheel.take_first(&mut senders);
        }
        self.channel.turns_busy(idle);
        self.wheel.advance(idle + self.busy_counts);
        // Forwards over a list that loses its senders: the order of the others does not matter, their streams are their own.
        let mut i = 0;
        while let Some(&(who, slots)) = self.fresh.get(i) {
            if slots == idle {
                senders.push(who);
                self.fresh.swap_remove(i);
            } else {
                let slots = self.ask(who, Draw::Cycle(idle + self.busy_counts));
                if let Some(f) = self.fresh.get_mut(i) {
                    f.1 = slots;
                }
                i += 1;
            }
        }
        self.tally.attempts += senders.len() as u64;
        let one = match senders[..] {
            [who] => Some(who),
            _ => None,
        };
        let heard = one.filter(|_| self.noise.as_mut().is_none_or(|(p, rng)| rng.random::<f64>() >= *p));
        self.note(idle, heard.unwrap_or(NONE), senders.len());
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

    fn note(&mut self, idle: u32, who: u32, senders: usize) {
        let what = u64::from(idle) << 32 | u64::from(who);
        self.digest = ((self.digest ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ senders as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }

    /// A new backoff for `who`.
    fn draw(&mut self, who: StationId, why: Draw) {
        let slots = self.ask(who, why);
        match self.stations.get(who as usize).map(|s| s.residue) {
            Some(Residue::Keep) => self.wheel.insert(who, slots),
            Some(Residue::Redraw) => self.fresh.push((who, slots)),
            None => {}
        }
    }

    fn ask(&mut self, who: StationId, why: Draw) -> u32 {
        let seen = Seen { contenders: self.contenders, bytes: self.bytes, busy_counts: self.busy_counts > 0, channel: &self.channel };
        let Some(s) = self.stations.get_mut(who as usize) else { return 0 };
        s.access.draw(&mut Cx { now: Time::ZERO, rng: &mut s.backoff }, why, &seen).min(LONGEST)
    }
}

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

    /// Moves everybody of the first slot that is taken into `senders`.
    fn take_first(&mut self, senders: &mut Vec<StationId>) {
        let idle = self.idle_slots();
        if idle == u32::MAX {
            return;
        }
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
        self.taken = first.chunks(64).map(|c| c.iter().enumerate().filter(|(_, w)| **w != NONE).fold(0, |bits, (i, _)| bits | 1 << i)).collect();
        (self.first, self.clock) = (first, 0);
    }
}
