//! Which rates are tried.
//!
//! Of six trials, three are the next rate above the best one in a group (INC), two are any rate that is faster (JUMP),
//! and one is a rate between the fastest and the slowest of the chain (SLOW). Up to five rates of each kind are kept.
//! They are replaced at the end of a window, except those that still belong to their kind.

use super::stat::{Place, Stat};
use crate::Rng;
use alloc::vec::Vec;
use core::ops::Range;
use rand::RngExt as _;

/// Number of rates of a kind (MINSTREL_SAMPLE_RATES).
const KEPT: usize = 5;

/// Kinds of trial, also as places in [`Samples::rates`].
const INC: usize = 0;
const JUMP: usize = 1;
const SLOW: usize = 2;

/// The order of the trials (minstrel_sample_seq).
const ORDER: [usize; 6] = [INC, JUMP, INC, JUMP, INC, SLOW];

#[derive(Debug)]
pub(super) struct Samples {
    /// Share of arrivals above which a slower rate is not tried.
    known: u32,
    /// The rates of each kind that wait for their trial.
    rates: [Vec<Place>; 3],
    /// The group in which the latest INC or JUMP rate was found.
    groups: [usize; 2],
    /// The next element of [`ORDER`].
    turn: usize,
}

impl Samples {
    pub(super) fn new(known: u32) -> Samples {
        Samples { known, rates: [INC, JUMP, SLOW].map(|_| Vec::with_capacity(KEPT)), groups: [0; 2], turn: 0 }
    }

    /// The rate of the next trial; `None` if its kind has none.
    pub(super) fn next(&mut self) -> Option<Place> {
        let kind = ORDER[self.turn];
        self.turn = (self.turn + 1) % ORDER.len();
        (!self.rates[kind].is_empty()).then(|| self.rates[kind].remove(0))
    }

    /// minstrel_ht_refill_sample_rates: a window has ended. `chain` has the best, the second best and the robust rate.
    pub(super) fn refill(&mut self, rates: &[Stat], groups: &[Range<Place>], chain: [Place; 3], rng: &mut Rng) {
        let times = chain.map(|place| rates[place].airtime);
        let (fast, slow) = times.iter().fold((u64::MAX, 0), |(a, b), t| (a.min(*t), b.max(*t)));
        self.rates[INC].retain(|p| rates[*p].airtime < fast);
        self.rates[JUMP].retain(|p| rates[*p].airtime < fast);
        self.rates[SLOW].retain(|p| rates[*p].airtime > fast && rates[*p].airtime < slow);
        while self.rates[INC].len() < KEPT {
            let Some(place) = self.increase(rates, groups, times[0]) else { break };
            self.rates[INC].push(place);
        }
        while self.rates[JUMP].len() < KEPT {
            let Some(place) = self.jump(rates, groups, (fast, slow), rng) else { break };
            self.rates[JUMP].push(place);
        }
    }

    /// The slowest rate of the next group that takes less than `airtime`.
    fn increase(&mut self, rates: &[Stat], groups: &[Range<Place>], airtime: u64) -> Option<Place> {
        for _ in groups {
            self.groups[INC] = (self.groups[INC] + 1) % groups.len();
            let faster = groups[self.groups[INC]].clone().find(|p| rates[*p].airtime < airtime);
            if faster.is_some_and(|p| !self.rates[INC].contains(&p)) {
                return faster;
            }
        }
        None
    }

    /// A random rate of the next group, if it takes less than the fastest of the chain. A slower rate, within the range
    /// of the chain, is added to the SLOW ones if its share of arrivals is at most `known`.
    fn jump(
        &mut self,
        rates: &[Stat],
        groups: &[Range<Place>],
        (fast, slow): (u64, u64),
        rng: &mut Rng,
    ) -> Option<Place> {
        for _ in groups {
            self.groups[JUMP] = (self.groups[JUMP] + 1) % groups.len();
            let group = groups[self.groups[JUMP]].clone();
            let room = self.rates[SLOW].len() < KEPT;
            let below = if room { slow } else { fast };
            let Some(first) = group.clone().find(|p| rates[*p].airtime < below) else { continue };
            let place = rng.random_range(first..group.end);
            let Stat { airtime, prob, .. } = rates[place];
            if airtime < fast {
                if !self.rates[JUMP].contains(&place) {
                    return Some(place);
                }
            } else if room && airtime > fast && prob <= self.known && !self.rates[SLOW].contains(&place) {
                self.rates[SLOW].push(place);
            }
        }
        None
    }
}
