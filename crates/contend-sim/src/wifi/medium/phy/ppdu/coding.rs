//! Modulation and code of each MCS.

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

impl CodeRate {
    /// Data bits and coded bits, as a fraction.
    pub fn fraction(self) -> (u32, u32) {
        match self {
            CodeRate::Half => (1, 2),
            CodeRate::TwoThirds => (2, 3),
            CodeRate::ThreeQuarters => (3, 4),
            CodeRate::FiveSixths => (5, 6),
        }
    }
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

    /// The rates of OFDM without MCS in bits per second, with their codings (Table 17-4).
    pub const OFDM: [(u64, Coding); 8] = {
        use CodeRate::{Half, ThreeQuarters, TwoThirds};
        const fn of(mbps: u64, bits: u8, code: CodeRate) -> (u64, Coding) {
            (mbps * 1_000_000, Coding { bits, code })
        }
        [
            of(6, 1, Half),
            of(9, 1, ThreeQuarters),
            of(12, 2, Half),
            of(18, 2, ThreeQuarters),
            of(24, 4, Half),
            of(36, 4, ThreeQuarters),
            of(48, 6, TwoThirds),
            of(54, 6, ThreeQuarters),
        ]
    };

    /// The MCS with this coding. `None` for BPSK at rate 3/4 (9 Mb/s of OFDM), which no MCS has.
    pub fn mcs(self) -> Option<usize> {
        Coding::MCS.iter().position(|c| *c == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §17.3.2.3: 48 subcarriers and symbols of 4 us.
    #[test]
    fn each_rate_of_ofdm_follows_from_its_coding() {
        for (bps, Coding { bits, code }) in Coding::OFDM {
            let (data, coded) = code.fraction();
            assert_eq!(bps, u64::from(48 * u32::from(bits) * data / coded) * 250_000);
        }
    }

    #[test]
    fn each_mcs_is_faster_than_the_one_before() {
        let rate = |c: &Coding| {
            let (data, coded) = c.code.fraction();
            u32::from(c.bits) * data * 60 / coded
        };
        assert!(Coding::MCS.windows(2).all(|w| rate(&w[0]) < rate(&w[1])));
        assert_eq!(Coding::MCS[7].mcs(), Some(7));
        assert_eq!(Coding { bits: 1, code: CodeRate::ThreeQuarters }.mcs(), None);
    }
}
