//! A clock, a random stream and a table of rates for tests.

use super::{Chain, Rate, RateControl, RateId, Report};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::vec::Vec;
use rand::SeedableRng as _;

/// `streams` groups of `each` rates: 10, 20, ... Mb/s for each stream.
pub(super) fn rates(each: u64, streams: u8) -> Vec<Rate> {
    let group = |s: u8| (1..=each).map(move |k| Rate { bps: k * 10_000_000 * u64::from(s), streams: s, group: s - 1 });
    (1..=streams).flat_map(group).collect()
}

pub(super) struct Bench {
    pub now: Time,
    rng: Rng,
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench { now: Time::ZERO, rng: Rng::seed_from_u64(1) }
    }
    pub(super) fn choose(&mut self, control: &mut dyn RateControl) -> Chain {
        control.choose(&mut Cx { now: self.now, rng: &mut self.rng })
    }
    pub(super) fn sent(&mut self, control: &mut dyn RateControl, sent: Report) {
        control.sent(&mut Cx { now: self.now, rng: &mut self.rng }, &sent);
    }
    /// Sends a burst of `mpdus` in one attempt that takes `lasts`; `acked` says how many arrive at a rate.
    /// Returns the rate.
    pub(super) fn exchange(
        &mut self,
        control: &mut dyn RateControl,
        mpdus: u16,
        lasts: Span,
        acked: impl Fn(RateId) -> u16,
    ) -> RateId {
        let chain = self.choose(control);
        let (rate, mpdus) = (chain.rate(0), if chain.trial { 1 } else { mpdus });
        self.now += lasts;
        let acked = acked(rate).min(mpdus);
        self.sent(control, Report { rate, mpdus, acked, dropped: 0, snr: None });
        rate
    }
}
