//! The duration of a frame, as a function of the PPDU's format and length.
//!
//! Clause numbers are those of IEEE 802.11-2016 unless another edition is named. A [`Format`] computes each duration;
//! the tables of a cell only cache the results.

mod coding;
mod mcs;
mod mode;

pub use coding::{CodeRate, Coding};
pub use mcs::{LONGEST_PPDU, McsTiming};
pub use mode::{Family, Fec, Mode, NoMode};

use contend_core::Span;

/// Delimiter of an MPDU in an A-MPDU, in bytes (802.11-2020 §9.7.1).
pub const DELIMITER: u32 = 4;

/// PLCP preamble of DSSS and HR/DSSS frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// Preamble of 144 us, and header of 48 us at 1 Mb/s.
    Long,
    /// Preamble of 72 us, and header of 24 us at 2 Mb/s; not for 1 Mb/s frames.
    Short,
}

/// How the duration of a DSSS or CCK frame is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Up to a microsecond (the standard).
    Up,
    /// Not at all: the frame ends with its last bit (ns-2).
    None,
}

/// The modulation of a frame, as far as timing depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS or CCK, with the preamble used at this rate.
    Dsss(Preamble, Rounding),
    /// OFDM.
    Ofdm {
        /// Data bits per 4 us symbol (N_DBPS).
        bits_per_symbol: u32,
        /// Silence after the frame that counts as part of it (aSignalExtension, §18.5.4).
        extension: Span,
    },
    /// HT, VHT, HE or EHT.
    Mcs(McsTiming),
}

/// The format of a PPDU. Format and length determine the duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Rate of the payload in bits per second.
    pub bps: u64,
    /// Modulation of the frame.
    pub modulation: Modulation,
}

/// Duration of a frame: the part before the first bit of the MPDU, and the whole frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// PLCP preamble and header (for OFDM: preamble and SIGNAL).
    pub preamble: Span,
    /// The whole frame, including the signal extension.
    pub total: Span,
}

impl Format {
    /// The format of a mode with MCS.
    pub fn of_mcs(timing: McsTiming) -> Format {
        Format { bps: timing.bps(), modulation: Modulation::Mcs(timing) }
    }

    /// Duration of a frame whose PSDU has `bytes` bytes: an MPDU with its FCS, or an A-MPDU.
    pub fn airtime(&self, bytes: u32) -> Airtime {
        let bits = u64::from(bytes) * 8;
        match &self.modulation {
            // §15.2.3 and §16.3.4: preamble + PLCP header + the MPDU, rounded up to a microsecond.
            Modulation::Dsss(p, rounding) => {
                let preamble = Span::from_micros(if *p == Preamble::Long { 192 } else { 96 });
                let mpdu = match rounding {
                    Rounding::Up => Span::from_micros((bits * 1_000_000).div_ceil(self.bps)),
                    Rounding::None => Span::of_bits(bits, self.bps),
                };
                Airtime { preamble, total: preamble + mpdu }
            }
            // §17.4.3 eq. 17-29: 16 us preamble, 4 us SIGNAL, then symbols of 4 us for SERVICE (16 bits), MPDU and tail
            // (6 bits); §18.5.3.2 adds the signal extension.
            Modulation::Ofdm { bits_per_symbol, extension } => {
                let symbols = (16 + bits + 6).div_ceil(u64::from(*bits_per_symbol));
                let preamble = Span::from_micros(20);
                Airtime { preamble, total: preamble + Span::from_micros(4 * symbols) + *extension }
            }
            Modulation::Mcs(timing) => timing.airtime(bytes),
        }
    }

    /// The largest PSDU in bytes whose frame lasts at most `limit`; `None` if no frame does.
    pub fn largest_psdu(&self, limit: Span) -> Option<u32> {
        let fits = |bytes: u32| self.airtime(bytes).total <= limit;
        let bits = u128::from(limit.as_nanos()) * u128::from(self.bps) / 1_000_000_000;
        let (mut most, mut too_long) = (0, (bits / 8) as u32 + 1);
        while most + 1 < too_long {
            let middle = most + (too_long - most) / 2;
            if fits(middle) { most = middle } else { too_long = middle }
        }
        fits(most).then_some(most)
    }

    /// The mode, if the format has MCS.
    pub fn mode(self) -> Option<Mode> {
        match self.modulation {
            Modulation::Mcs(timing) => Some(timing.mode),
            Modulation::Dsss(..) | Modulation::Ofdm { .. } => None,
        }
    }

    /// Modulation and code; `None` for DSSS and CCK.
    pub fn coding(self) -> Option<Coding> {
        match self.modulation {
            Modulation::Mcs(timing) => Some(timing.mode.coding()),
            Modulation::Ofdm { .. } => Coding::OFDM.iter().find(|(bps, _)| *bps == self.bps).map(|(_, coding)| *coding),
            Modulation::Dsss(..) => None,
        }
    }

    /// Size in bytes of the PSDU that carries one MPDU of `mpdu` bytes alone.
    pub fn psdu(self, mpdu: u32) -> u32 {
        match self.mode() {
            // §10.12.6 of 802.11-2020: from VHT on, a single MPDU has the delimiter of an A-MPDU (S-MPDU).
            Some(mode) if mode.family != Family::Ht => mpdu + DELIMITER,
            _ => mpdu,
        }
    }

    /// The rate that bounds the rate of an answer: for formats with MCS, the non-HT reference rate.
    pub fn reference_bps(self) -> u64 {
        self.mode().map_or(self.bps, |mode| mode.non_ht_reference())
    }

    /// Duration of `bytes` bytes of the payload alone.
    pub fn payload(self, bytes: u32) -> Span {
        Span::of_bits(u64::from(bytes) * 8, self.bps)
    }

    /// Time from the first symbol of a frame until the receiver reports the start of the frame (aRxPHYStartDelay:
    /// Tables 15-5, 16-4, 17-21, 18-5).
    pub fn start_delay(self) -> Span {
        Span::from_micros(match self.modulation {
            Modulation::Dsss(Preamble::Long, _) => 192,
            Modulation::Dsss(Preamble::Short, _) => 96,
            // Formats with MCS begin with the preamble of OFDM, whose header names the duration (L-SIG).
            Modulation::Ofdm { .. } | Modulation::Mcs(_) => 20,
        })
    }

    /// True if the modulation is OFDM, with or without MCS.
    pub fn is_ofdm(self) -> bool {
        !matches!(self.modulation, Modulation::Dsss(..))
    }
}
