//! Statistics of each rate: the share of MPDUs that arrives.

use super::super::{Rate, RateId};
use alloc::vec::Vec;
use core::ops::Range;

/// Binary places of probabilities and of the mean aggregate.
pub(super) const PLACES: u32 = 12;
pub(super) const ONE: u32 = 1 << PLACES;

/// A share with [`PLACES`] binary places.
#[allow(clippy::float_arithmetic)]
pub(super) fn share(x: f64) -> u32 {
    (x * f64::from(ONE)) as u32
}

/// A place in [`MinstrelHt::rates`].
pub(super) type Place = usize;

/// The statistics of one rate.
#[derive(Debug, Default)]
pub(super) struct Stat {
    pub(super) id: RateId,
    pub(super) streams: u8,
    /// Nanoseconds that an MPDU adds to a burst.
    pub(super) airtime: u64,
    /// The filtered share of MPDUs that arrived, now and one step before.
    pub(super) prob: u32,
    prob_before: u32,
    /// MPDUs sent and acknowledged in this window and in the one before.
    pub(super) sent: u32,
    pub(super) acked: u32,
    sent_before: u32,
    acked_before: u32,
    /// True if the rate was ever used.
    pub(super) used: bool,
}

impl Stat {
    /// The window has ended.
    pub(super) fn close(&mut self, filter: &Filter) {
        if self.sent > 0 {
            let (acked, sent) = (self.acked + self.acked_before, self.sent + self.sent_before);
            let share = (u64::from(acked) << PLACES) / u64::from(sent);
            (self.prob, self.prob_before) = filter.next(self.prob, self.prob_before, share as u32);
            self.used = true;
        }
        (self.sent_before, self.acked_before) = (self.sent, self.acked);
        (self.sent, self.acked) = (0, 0);
    }
}

/// A low-pass filter of the second order: weights of the input, of the latest and of the last but one output.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) weights: [i64; 3],
}

impl Filter {
    /// minstrel_ht.h: a = exp(-pi sqrt(2) / period); the weights are 2 a cos(2 pi sqrt(2) / period), -a^2 and the rest
    /// of 1, rounded towards zero.
    #[allow(clippy::float_arithmetic)]
    pub(super) fn of_period(period: f64) -> Filter {
        let angle = core::f64::consts::PI * core::f64::consts::SQRT_2 / period;
        let a = libm::exp(-angle);
        let scaled = |x: f64| (x * f64::from(ONE)) as i64;
        let (latest, before) = (scaled(2.0 * a * libm::cos(2.0 * angle)), scaled(-a * a));
        Filter { weights: [i64::from(ONE) - latest - before, latest, before] }
    }

    /// The two latest outputs after `input`. Without an output so far, the output is the input; it is never 0.
    pub(super) fn next(&self, latest: u32, before: u32, input: u32) -> (u32, u32) {
        let input = input.max(1);
        if latest == 0 {
            return (input, input);
        }
        let terms = [input, latest, before].map(i64::from);
        let sum: i64 = terms.iter().zip(self.weights).map(|(x, w)| x * w).sum();
        ((sum >> PLACES).clamp(1, i64::from(ONE)) as u32, latest)
    }
}

/// The rates group by group, in each from slow to fast, and the places of each group.
pub(super) fn grouped(rates: &[Rate]) -> (Vec<Stat>, Vec<Range<usize>>) {
    let mut all: Vec<(RateId, &Rate)> = (0..).zip(rates).collect();
    all.sort_by_key(|(_, r)| (r.group, r.bps));
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (i, (_, rate)) in all.iter().enumerate() {
        match groups.last_mut().filter(|g| all[g.start].1.group == rate.group) {
            Some(group) => group.end = i + 1,
            None => groups.push(i..i + 1),
        }
    }
    let stat = |(id, rate): (RateId, &Rate)| Stat {
        id,
        streams: rate.streams,
        airtime: rate.airtime().as_nanos(),
        ..Stat::default()
    };
    (all.into_iter().map(stat).collect(), groups)
}
