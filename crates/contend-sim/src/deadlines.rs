//! When each member of a world next wants to be called: a tournament of deadlines.
//!
//! Four members stand in a cache line, in order of number, and the earliest of a line stands in the line above, at the
//! place that the line has among its siblings. An entry that changes is compared with its three neighbours, level by
//! level; nothing moves and nobody is searched. Of equal deadlines the one with the smaller number wins, because it
//! stands before the other.

use contend_core::Time;

/// One deadline per member, and the earliest of all. Members are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// From the members up to the single line at the top.
    levels: Vec<Vec<Line>>,
    first: Entry,
}

/// Entries in a line.
const SIBLINGS: usize = 4;

/// A cache line of entries.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([Entry; SIBLINGS]);

/// A deadline and whose it is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    id: u32,
}

/// Of a place that nobody has.
const EMPTY: Entry = Entry { at: Time::NEVER, id: u32::MAX };

impl Default for Entry {
    fn default() -> Entry {
        EMPTY
    }
}

impl Line {
    /// The earliest entry, of equal ones the first. Which it is follows no pattern, so it is found without a branch.
    fn first(&self) -> Entry {
        let Line([a, b, c, d]) = *self;
        let left = if b.at < a.at { b } else { a };
        let right = if d.at < c.at { d } else { c };
        if right.at < left.at { right } else { left }
    }
}

impl Deadlines {
    /// Adds the member `id`, one more than the last one added, with deadline `at`.
    pub fn push(&mut self, id: u32, at: Time) {
        let mut lines = id as usize / SIBLINGS + 1;
        for level in 0.. {
            if level == self.levels.len() {
                // A new top starts from what the line below it has.
                let below = level.checked_sub(1).and_then(|l| self.levels[l].first()).map_or(EMPTY, Line::first);
                self.levels.push(vec![Line([below, EMPTY, EMPTY, EMPTY])]);
            }
            self.levels[level].resize(lines, Line([EMPTY; SIBLINGS]));
            if lines == 1 {
                break;
            }
            lines = lines.div_ceil(SIBLINGS);
        }
        self.set(id, at);
    }

    /// The earliest deadline and its member; `None` when nobody wants to be woken.
    pub fn first(&self) -> Option<(Time, u32)> {
        (self.first.at < Time::NEVER).then_some((self.first.at, self.first.id))
    }

    /// Sets the deadline of `id`.
    pub fn set(&mut self, id: u32, at: Time) {
        let (mut place, mut entry) = (id as usize, Entry { at, id });
        for level in &mut self.levels {
            let line = &mut level[place / SIBLINGS];
            line.0[place % SIBLINGS] = entry;
            entry = line.first();
            place /= SIBLINGS;
        }
        self.first = entry;
    }

    /// Sets the deadline of `id` when `at` is earlier than what stands there.
    pub fn lower(&mut self, id: u32, at: Time) {
        let place = id as usize;
        if at < self.levels[0][place / SIBLINGS].0[place % SIBLINGS].at {
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
        fn the_first_deadline_is_the_smallest(start in prop::collection::vec(0u64..50, 1..80), sets in prop::collection::vec((0usize..80, 0u64..50, any::<bool>()), 0..200)) {
            let mut d = Deadlines::default();
            let mut flat = start.clone();
            for (i, &t) in (0..).zip(&start) {
                d.push(i, Time::from_nanos(t));
            }
            for (i, t, lower) in sets {
                let i = i % flat.len();
                if lower {
                    d.lower(i as u32, Time::from_nanos(t));
                    flat[i] = flat[i].min(t);
                } else {
                    d.set(i as u32, Time::from_nanos(t));
                    flat[i] = t;
                }
                let want = flat.iter().enumerate().map(|(i, &t)| (t, i as u32)).min();
                prop_assert_eq!(d.first().map(|(t, n)| (t.as_nanos(), n)), want);
            }
        }
    }
}
