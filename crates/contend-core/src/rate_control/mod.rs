//! Rate control: the rates at which a station sends its next burst.
//!
//! A burst is one MPDU or an aggregate of several. Before its first attempt, [`RateControl::choose`] gives a [`Chain`]
//! of rates for its attempts. After each attempt, [`RateControl::sent`] reports how many of its MPDUs were
//! acknowledged. MPDUs that an answer does not acknowledge belong to a new burst.

use crate::Cx;
use crate::Refusal;
use crate::registry::{Args, Fact, Need};
use crate::time::Span;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Builds a rate control from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args, &Setting<'_>) -> Result<Box<dyn RateControl>, Refusal>;

crate::registry!(
    Build; fixed [Fact::Constant], ideal [Fact::Needs(Need::Snr)], minstrel_ht [Fact::Needs(Need::Errors)],
    aarf [Fact::Needs(Need::Errors)], onoe [Fact::Needs(Need::Errors)], thompson [Fact::Needs(Need::Errors)], schedule,
);

/// Chooses the rates of a station towards one receiver.
pub trait RateControl: Debug + Send {
    /// The rates of the next burst. It is asked once, before the first attempt.
    fn choose(&mut self, cx: &mut Cx) -> Chain;
    /// An attempt has ended.
    fn sent(&mut self, cx: &mut Cx, sent: &Report);
}

/// The number of a rate in [`Setting::rates`].
pub type RateId = u16;

/// One rate that the station may use towards the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bits per second.
    pub bps: u64,
    /// Number of spatial streams.
    pub streams: u8,
    /// The rates of one group differ in modulation and code only: they have equal streams, width and guard interval.
    pub group: u8,
}

/// Bytes of the MPDU by which rates are compared (AVG_PKT_SIZE of mac80211's minstrel_ht).
const REFERENCE_BYTES: u64 = 1200;

impl Rate {
    /// The time that an MPDU of 1200 B adds to a burst.
    pub fn airtime(&self) -> Span {
        Span::of_bits(REFERENCE_BYTES * 8, self.bps)
    }
}

/// The inputs, besides the parameters, from which a rate control is built.
pub struct Setting<'a> {
    /// The rates of the station towards the receiver, at least one, in any order.
    pub rates: &'a [Rate],
    /// The rate that the file gives the station.
    pub given: RateId,
    /// The probability that an MPDU of 1500 B is lost at this rate and this SNR in dB.
    pub per: &'a dyn Fn(RateId, f64) -> f64,
    /// The packets of 1500 B in a second that arrive at this rate and this SNR in dB, if the station sends its largest
    /// bursts one after the other and no other station sends.
    pub goodput: &'a dyn Fn(RateId, f64) -> f64,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The rate of the attempt.
    pub rate: RateId,
    /// Number of MPDUs sent.
    pub mpdus: u16,
    /// How many of them were acknowledged.
    pub acked: u16,
    /// How many of the others the MAC has now given up.
    pub dropped: u16,
    /// SNR of the answer in dB; `None` if no answer came.
    pub snr: Option<f64>,
}

/// The rates of the attempts of one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Rate and number of attempts; a step with no attempts is not used.
    steps: [(RateId, u8); Chain::STEPS],
    /// True if the first step is a trial. The MAC then sends one MPDU only, so that a failure costs little.
    pub trial: bool,
}

impl Chain {
    /// Largest number of rates.
    pub const STEPS: usize = 4;

    /// The rates of these steps in their order, each for its number of attempts. Steps beyond the fourth are ignored.
    pub fn new(steps: impl IntoIterator<Item = (RateId, u8)>) -> Chain {
        let mut chain = Chain { steps: [(0, 0); Chain::STEPS], trial: false };
        for (slot, step) in chain.steps.iter_mut().zip(steps) {
            *slot = step;
        }
        chain
    }

    /// The same rate for all attempts.
    pub fn all(rate: RateId) -> Chain {
        Chain::new([(rate, 1)])
    }

    /// The same chain after one attempt at `rate`, which replaces the first step.
    #[must_use]
    pub fn after_trial_of(mut self, rate: RateId) -> Chain {
        self.steps[0] = (rate, 1);
        self.trial = true;
        self
    }

    /// The rate of attempt number `attempt`, from 0. After the last step its rate goes on.
    pub fn rate(&self, attempt: u32) -> RateId {
        let mut end = 0;
        let mut last = self.steps[0].0;
        for (rate, tries) in self.steps.iter().filter(|s| s.1 > 0) {
            last = *rate;
            end += u32::from(*tries);
            if attempt < end {
                break;
            }
        }
        last
    }
}

/// The numbers of the rates from slow to fast. Of equal rates only the one with the fewest streams is in it: the most
/// robust one.
fn ladder(rates: &[Rate]) -> Vec<RateId> {
    let mut ids: Vec<RateId> = (0..).take(rates.len()).collect();
    ids.sort_by_key(|id| (rates[usize::from(*id)].bps, rates[usize::from(*id)].streams));
    ids.dedup_by_key(|id| rates[usize::from(*id)].bps);
    ids
}

#[cfg(test)]
mod testbench;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_gives_each_step_its_attempts_and_then_stays() {
        let chain = Chain::new([(7, 2), (5, 1), (0, 3)]);
        let rates: Vec<RateId> = (0..8).map(|k| chain.rate(k)).collect();
        assert_eq!(rates, [7, 7, 5, 0, 0, 0, 0, 0]);
        let trial = chain.after_trial_of(9);
        assert_eq!([0, 1, 2, 9].map(|k| trial.rate(k)), [9, 5, 0, 0]);
        assert_eq!(Chain::all(3).rate(6), 3);
    }

    #[test]
    fn the_ladder_keeps_the_fewest_streams_of_equal_rates() {
        let rate = |bps, streams| Rate { bps, streams, group: streams };
        assert_eq!(ladder(&[rate(13, 2), rate(26, 1), rate(13, 1), rate(6, 1)]), [3, 2, 1]);
    }
}
