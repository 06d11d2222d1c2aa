//! The rates of a station's data: one rate control for each receiver.
//!
//! A packet has one chain of rates for all its attempts. A batch of MPDUs that is not answered is followed by another
//! one to the same receiver at the next rate of the chain; a new chain begins after an answer, or after as many
//! failures in a row as the short retry limit. A control is not told of attempts without data: those of which only the
//! RTS was sent.

use super::air::Air;
use super::timing::{RateNumber, Room};
use crate::wifi::ids::StationId;
use crate::wifi::medium::phy::Format;
use contend_core::rate_control::{Chain, RateControl, Report};
use contend_core::{Cx, Rng, Span, Time};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The rates of one station.
#[derive(Debug)]
pub(crate) struct Rates {
    /// By receiver.
    links: BTreeMap<StationId, Link>,
    rng: Rng,
}

/// The rates towards one receiver.
#[derive(Debug)]
struct Link {
    control: Box<dyn RateControl>,
    chain: Chain,
    /// Attempts without an answer since the chain began.
    failures: u32,
    /// True if the attempt for which the chain was asked last is made anew.
    keeps: bool,
    /// Requests for a block acknowledgment without an answer since the latest data.
    unheard: u32,
}

/// The rate of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) rate: RateNumber,
    /// True if the attempt has one MPDU only: a trial, or its repetition.
    pub(crate) alone: bool,
}

/// The result of an attempt with data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AttemptOutcome {
    /// MPDUs sent, how many of them were acknowledged, and how many the sender has now given up.
    pub(crate) mpdus: u32,
    pub(crate) acked: u32,
    pub(crate) dropped: u32,
    /// True if an answer came, and its SNR in dB if that is known.
    pub(crate) answered: bool,
    pub(crate) snr: Option<f64>,
}

impl Chosen {
    /// The same, but with `narrow` no wider than 20 MHz.
    #[inline]
    pub(crate) fn at_most(self, air: &Air, narrow: bool) -> Chosen {
        if narrow { Chosen { rate: air.narrow(self.rate), ..self } } else { self }
    }

    /// The room of a PSDU of the attempt; `ends` and `limit` as in [`Air::room`].
    pub(crate) fn room(self, air: &Air, ends: (StationId, StationId), limit: Span) -> Room {
        // No second MPDU fits into 0 bytes.
        if self.alone { Room { most: 0, spacing: 0 } } else { air.room(ends, self.rate, limit) }
    }
}

impl Rates {
    /// The rates of a station whose controls draw from `rng`.
    pub(crate) fn new(rng: Rng) -> Rates {
        Rates { links: BTreeMap::new(), rng }
    }

    /// The rate of the next attempt from this station, `from`, to `to`. A new chain begins if an answer came, or after
    /// `most` failures.
    pub(crate) fn next(&mut self, now: Time, air: &Air, (from, to): (StationId, StationId), most: u32) -> Chosen {
        let fixed = Chosen { rate: air.rate(from, to), alone: false };
        let Some(choices) = air.choices(from, to) else { return fixed };
        let Rates { links, rng } = self;
        let link = match links.entry(to) {
            Entry::Occupied(link) => link.into_mut(),
            Entry::Vacant(place) => {
                // The air has built one like it, so that this one can be built too.
                let Ok(control) = air.build(choices, (from, to)) else { return fixed };
                place.insert(Link { control, chain: Chain::all(0), failures: 0, keeps: false, unheard: 0 })
            }
        };
        let keeps = std::mem::take(&mut link.keeps);
        if !keeps && (link.failures == 0 || link.failures >= most) {
            link.failures = 0;
            link.chain = link.control.choose(&mut Cx { now, rng });
        }
        let rate = choices.number(link.chain.rate(link.failures));
        if !link.chain.trial || link.failures > 0 {
            air.use_rate(from, to, rate);
        }
        Chosen { rate, alone: link.chain.trial }
    }

    /// What was learnt of the way to `to` holds no longer.
    pub(crate) fn forget(&mut self, to: StationId) {
        self.links.remove(&to);
    }

    /// The attempt to `to` for which a rate was asked last is made anew, at the same rate.
    pub(crate) fn keep(&mut self, to: StationId) {
        if let Some(link) = self.links.get_mut(&to) {
            link.keeps = true;
        }
    }

    /// A request for a block acknowledgment from this station, `from`, to `to` has ended. After as many failures as
    /// `most` the next ones are sent as if the latest data had had the slowest rate: no data that would tell the
    /// control of the losses are sent before one is answered.
    pub(crate) fn asked(&mut self, air: &Air, (from, to): (StationId, StationId), answered: bool, most: u32) {
        let Some(link) = self.links.get_mut(&to) else { return };
        link.unheard = if answered { 0 } else { link.unheard + 1 };
        if link.unheard >= most
            && let Some(choices) = air.choices(from, to)
        {
            air.use_rate(from, to, choices.slowest());
        }
    }

    /// An attempt with data at `rate` from this station, `from`, to `to` has ended.
    pub(crate) fn sent(
        &mut self,
        now: Time,
        air: &Air,
        (from, to): (StationId, StationId),
        rate: RateNumber,
        outcome: &AttemptOutcome,
    ) {
        let Some(choices) = air.choices(from, to) else { return };
        let (Some(link), Some(rate)) = (self.links.get_mut(&to), choices.id(rate)) else { return };
        link.failures = if outcome.answered { 0 } else { link.failures + 1 };
        link.unheard = 0;
        let number = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let (mpdus, acked, dropped) = (number(outcome.mpdus), number(outcome.acked), number(outcome.dropped));
        let sent = Report { rate, mpdus, acked, dropped, snr: outcome.snr };
        link.control.sent(&mut Cx { now, rng: &mut self.rng }, &sent);
    }
}

/// MPDUs that one station has sent, or that were sent to it. Retransmitted ones count again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mpdus {
    /// All.
    pub sent: u64,
    /// Those that were acknowledged.
    pub acked: u64,
    /// The sum of their rates in kb/s.
    pub kbps: u64,
    /// Those with an MCS.
    pub with_mcs: u64,
    /// The sum of these MCS.
    pub mcs: u64,
}

impl Mpdus {
    /// Counts those of an attempt in this format.
    pub(crate) fn count(&mut self, format: &Format, outcome: &AttemptOutcome) {
        let mpdus = u64::from(outcome.mpdus);
        self.sent += mpdus;
        self.acked += u64::from(outcome.acked);
        self.kbps += format.bps / 1000 * mpdus;
        if let Some(mode) = format.mode() {
            self.with_mcs += mpdus;
            self.mcs += u64::from(mode.mcs) * mpdus;
        }
    }
}
