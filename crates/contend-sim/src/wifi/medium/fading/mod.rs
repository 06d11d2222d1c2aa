//! Fading: how the SNR of a link changes with time.
//!
//! A process is asked when a frame ends; it causes no events. Its state at an instant does not depend on how often it
//! was asked before, so that all rate controls meet the same channel.

use contend_core::Cx;
use contend_core::Refusal;
use contend_core::registry::{Args, Fact, Need};
use std::fmt::Debug;

/// Builds a process from its parameters. The error names the wrong parameter and a valid value.
pub type Build = fn(&Args) -> Result<Box<dyn Fading>, Refusal>;

contend_core::registry!(
    Build; none [Fact::Constant], gilbert_elliott [Fact::Needs(Need::Snr)], rayleigh [Fact::Needs(Need::Snr)],
);

/// The fading of one link.
pub trait Fading: Debug + Send {
    /// What to add to the SNR of a frame that ends now, in dB: negative in a fade, and perhaps negative infinity. It
    /// is asked in order of time, always with the same random stream.
    fn gain(&mut self, cx: &mut Cx) -> f64;
}

/// Helpers for the tests of several processes.
#[cfg(test)]
mod testing {
    use super::*;
    use contend_core::{Span, Time};

    pub(crate) use crate::testing::args;

    /// The gains at `n` instants, `gap` apart.
    pub(crate) fn gains(f: &mut dyn Fading, seed: u64, n: u64, gap: Span) -> Vec<f64> {
        let mut rng = crate::rng::stream(seed, "sta0", "fading");
        (0..n).map(|i| f.gain(&mut Cx { now: Time::ZERO + gap * i, rng: &mut rng })).collect()
    }
}
