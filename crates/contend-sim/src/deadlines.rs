//! The next deadline of each member of a world, as a tournament tree.
//!
//! A cache line holds the deadlines of four members, in order of number. The level above holds the earliest deadline
//! of each line, again four to a line, and so on up to one line. A changed entry is compared with its three neighbours
//! on each level; no entry moves and no search is needed. Of equal deadlines the member with the smaller number is
//! first. The lines of all levels lie behind each other, from the top on: below line `i` are lines `4 i + 1` to
//! `4 i + 4`.
//!
//! One member may be kept apart from the tree. Setting its deadline then costs nothing, so it should be the one that is
//! set most often: in a cell about two of three wake-ups are of the node of the channel. Of the wires it is the one
//! that was woken twice in a row ([`Deadlines::set_woken`]): the packets of an aggregate leave a wire behind each
//! other.

use contend_core::Time;

/// One deadline per member, and the earliest of all. Members are numbered from 0.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// From the single line at the top to the members.
    lines: Vec<Line>,
    /// The number of the first line of members.
    bottom: usize,
    /// The earliest deadline in the tree.
    top: Entry,
    /// The member apart from the tree, where its place is empty.
    apart: Entry,
    /// The member that was woken last, as [`Deadlines::set_woken`] says.
    woken: u32,
}

/// Entries in a line.
const SIBLINGS: usize = 4;

/// A cache line of entries.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([Entry; SIBLINGS]);

/// A deadline and its member.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    id: u32,
}

/// The entry of a place without a member.
const EMPTY: Entry = Entry { at: Time::NEVER, id: u32::MAX };

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines { lines: vec![], bottom: 0, top: EMPTY, apart: EMPTY, woken: EMPTY.id }
    }
}

impl Line {
    /// The earliest entry; of equal entries the first. No branch predictor can guess the result, so there is no branch.
    #[inline]
    fn first(&self) -> Entry {
        let Line([first, others @ ..]) = self;
        let Entry { mut at, mut id } = *first;
        for e in others {
            if e.at < at {
                (at, id) = (e.at, e.id);
            }
        }
        Entry { at, id }
    }
}

impl Deadlines {
    /// Adds the member `id`, one more than the last one added, with deadline `at`.
    pub fn push(&mut self, id: u32, at: Time) {
        // All lines on the level of the members are full.
        if id as usize / SIBLINGS == self.bottom * (SIBLINGS - 1) + 1 {
            self.deepen();
        }
        self.lines.resize(self.bottom + id as usize / SIBLINGS + 1, Line([EMPTY; SIBLINGS]));
        self.set(id, at);
    }

    /// Adds a level at the bottom, where the members now are.
    fn deepen(&mut self) {
        let members = self.lines.split_off(self.bottom);
        self.bottom = self.bottom * SIBLINGS + 1;
        self.lines.resize(self.bottom, Line([EMPTY; SIBLINGS]));
        self.lines.extend(members);
        for line in (1..self.lines.len()).rev() {
            self.lines[(line - 1) / SIBLINGS].0[(line - 1) % SIBLINGS] = self.lines[line].first();
        }
    }

    /// The earliest deadline and its member. If no member wants to be woken, the time is [`Time::NEVER`], and the
    /// member may not exist.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        let Deadlines { top, apart, .. } = self;
        let first = if apart.at < top.at || (apart.at == top.at && apart.id < top.id) { apart } else { top };
        (first.at, first.id)
    }

    /// The earliest deadline; [`Time::NEVER`] if no member wants to be woken.
    #[inline]
    pub fn next(&self) -> Time {
        self.top.at.min(self.apart.at)
    }

    /// The earliest deadline of the members that are not apart.
    #[inline]
    pub fn first_in_tree(&self) -> Time {
        self.top.at
    }

    /// True if `id` is the member apart from the tree.
    #[inline]
    pub fn is_apart(&self, id: u32) -> bool {
        id == self.apart.id
    }

    /// The deadline of `id`.
    #[inline]
    pub fn at(&self, id: u32) -> Time {
        if id == self.apart.id {
            return self.apart.at;
        }
        let place = id as usize;
        self.lines[self.bottom + place / SIBLINGS].0[place % SIBLINGS].at
    }

    /// From now on the member `id` is kept apart from the tree.
    pub fn keep_apart(&mut self, id: u32) {
        if self.is_apart(id) {
            return;
        }
        let (before, at) = (self.apart, self.at(id));
        self.climb(id, Time::NEVER);
        self.apart = Entry { at, id };
        // Its place in the tree is empty, which is right if it is never to be woken.
        if before.at < Time::NEVER {
            self.climb(before.id, before.at);
        }
    }

    /// Sets the deadline of `id`, which has just been woken. A member that is woken twice in a row is then apart from
    /// the tree.
    #[inline]
    pub fn set_woken(&mut self, id: u32, at: Time) {
        if id == self.woken && !self.is_apart(id) {
            self.keep_apart(id);
        }
        self.woken = id;
        self.set(id, at);
    }

    /// Sets the deadline of `id`.
    #[inline]
    pub fn set(&mut self, id: u32, at: Time) {
        if id == self.apart.id {
            self.apart.at = at;
        } else {
            self.climb(id, at);
        }
    }

    /// Sets the deadline of `id` in the tree.
    fn climb(&mut self, id: u32, at: Time) {
        let (mut line, mut place) = (self.bottom + id as usize / SIBLINGS, id as usize % SIBLINGS);
        let mut entry = Entry { at, id };
        loop {
            let entries = &mut self.lines[line];
            entries.0[place] = entry;
            entry = entries.first();
            if line == 0 {
                break;
            }
            (line, place) = ((line - 1) / SIBLINGS, (line - 1) % SIBLINGS);
        }
        self.top = entry;
    }

    /// Sets the deadline of `id` to `at` if `at` is earlier.
    #[inline(always)]
    pub fn lower(&mut self, id: u32, at: Time) {
        if at < self.at(id) {
            self.set(id, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_deadline_is_the_smallest(
            start in prop::collection::vec(0u64..50, 1..80),
            sets in prop::collection::vec((0usize..80, 0u64..50, 0..4u8, 0..20u8), 0..200),
        ) {
            let mut d = Deadlines::default();
            let mut flat = start.clone();
            for (i, &t) in (0..).zip(&start) {
                d.push(i, Time::from_nanos(t));
            }
            for (i, t, how, apart) in sets {
                let i = i % flat.len();
                if apart == 0 {
                    d.keep_apart(i as u32);
                }
                // Sometimes the member apart itself is set.
                let i = if apart < 10 && d.apart.id != EMPTY.id { d.apart.id as usize } else { i };
                // Half of the times the first is woken.
                let i = if how > 1 { d.first().1 as usize } else { i };
                match how {
                    0 => d.lower(i as u32, Time::from_nanos(t)),
                    1 => d.set(i as u32, Time::from_nanos(t)),
                    _ => d.set_woken(i as u32, Time::from_nanos(t)),
                }
                flat[i] = if how == 0 { flat[i].min(t) } else { t };
                let want = flat.iter().enumerate().map(|(i, &t)| (t, i as u32)).min();
                let (at, id) = d.first();
                prop_assert_eq!(Some((at.as_nanos(), id)), want);
                prop_assert_eq!(d.at(i as u32).as_nanos(), flat[i]);
            }
        }
    }
}
