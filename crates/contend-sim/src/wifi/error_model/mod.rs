//! Error models: the probability that an MPDU is lost at an SNR.
//!
//! Each MPDU of an aggregate fails for itself. The caller draws one number for each MPDU, and keeps the probability of
//! an (SNR, coding, size) that comes again.

use contend_core::registry::Args;
use std::fmt::Debug;
use std::sync::Arc;

mod per_table;

pub use per_table::PerTable;

/// Builds a model from its parameters. The error names what is wrong and a valid value.
pub type Build = fn(&Args, &Setting<'_>) -> Result<Box<dyn ErrorModel>, String>;

contend_core::registry!(Build; nist, table);

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

/// Modulation and code of an OFDM transmission. They alone determine the errors at an SNR: HT, VHT, HE and EHT agree at
/// an MCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coding {
    /// Coded bits of a symbol on one subcarrier: 1 (BPSK), 2 (QPSK), or 4 to 12 (16-QAM to 4096-QAM).
    pub bits: u8,
    /// Rate of the convolutional code.
    pub code: CodeRate,
}

/// Rate of the convolutional code: data bits in each coded bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeRate {
    /// 1/2, without puncturing.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

impl Coding {
    /// The coding of each MCS of one stream (IEEE 802.11-2020 Tables 19-27 and 21-29, 802.11ax Table 27-54, 802.11be
    /// Table 36-71).
    pub const MCS: [Coding; 14] = {
        use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
        const fn of(bits: u8, code: CodeRate) -> Coding {
            Coding { bits, code }
        }
        [
            of(1, Half),
            of(2, Half),
            of(2, ThreeQuarters),
            of(4, Half),
            of(4, ThreeQuarters),
            of(6, TwoThirds),
            of(6, ThreeQuarters),
            of(6, FiveSixths),
            of(8, ThreeQuarters),
            of(8, FiveSixths),
            of(10, ThreeQuarters),
            of(10, FiveSixths),
            of(12, ThreeQuarters),
            of(12, FiveSixths),
        ]
    };

    /// The MCS with this coding. `None` for BPSK at rate 3/4 (9 Mb/s of OFDM), which no MCS has.
    pub fn mcs(self) -> Option<usize> {
        Coding::MCS.iter().position(|c| *c == self)
    }
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

    #[test]
    fn each_mcs_is_faster_than_the_one_before() {
        let rate = |c: &Coding| {
            let (data, coded) = match c.code {
                CodeRate::Half => (1, 2),
                CodeRate::TwoThirds => (2, 3),
                CodeRate::ThreeQuarters => (3, 4),
                CodeRate::FiveSixths => (5, 6),
            };
            u32::from(c.bits) * data * 60 / coded
        };
        assert!(Coding::MCS.windows(2).all(|w| rate(&w[0]) < rate(&w[1])));
        assert_eq!(Coding::MCS[7].mcs(), Some(7));
        assert_eq!(Coding { bits: 1, code: CodeRate::ThreeQuarters }.mcs(), None);
    }
}
