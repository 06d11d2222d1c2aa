//! Error models: the probability that an MPDU is lost at an SNR.
//!
//! Each MPDU of an aggregate fails for itself. The caller draws one number for each MPDU, and keeps the probability of
//! an (SNR, coding, size) that comes again.

use contend_core::Refusal;
use contend_core::registry::{Args, Fact, Need};
use std::fmt::Debug;
use std::sync::Arc;

mod per_table;

pub use super::phy::ppdu::{CodeRate, Coding};
pub use per_table::PerTable;

/// Builds a model from its parameters. The error names what is wrong and a valid value.
pub type Build = fn(&Args, &Setting<'_>) -> Result<Box<dyn ErrorModel>, Refusal>;

contend_core::registry!(
    Build; nist [Fact::Needs(Need::Snr), Fact::Gives(Need::Errors)],
    table [Fact::Needs(Need::Snr), Fact::Gives(Need::Errors), Fact::File(table::FILE)],
);

/// How well MPDUs arrive over a channel with white noise.
pub trait ErrorModel: Debug + Send {
    /// The probability, from 0 to 1, that an MPDU of `bytes` is lost at an SNR of `snr` dB.
    fn per(&self, snr: f64, coding: Coding, bytes: u32) -> f64;
}

/// What a model is built from, beside its parameters.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// The table that the file names, if it names one.
    pub table: Option<Arc<PerTable>>,
    /// The codings that stations may use. A model that lacks one is refused.
    pub codings: &'a [Coding],
}

/// Power of the thermal noise at 290 K in dBm/Hz.
const NOISE_DENSITY: f64 = -174.0;

/// Power of the noise in dBm over `width` MHz at a receiver with a noise figure of `figure` dB.
pub fn noise_floor(width: f64, figure: f64) -> f64 {
    NOISE_DENSITY + 10.0 * libm::log10(width * 1e6) + figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_minus_101_dbm_in_20_mhz() {
        assert!((noise_floor(20.0, 0.0) + 100.99).abs() < 0.001);
        assert!((noise_floor(160.0, 7.0) - noise_floor(20.0, 0.0) - 7.0 - 9.031).abs() < 0.001);
    }
}
