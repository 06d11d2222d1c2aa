//! The duration of a frame, as a function of the PPDU's format and length.
//!
//! Clause numbers are those of IEEE 802.11-2016. A [`Format`] computes each duration; the tables of a cell only cache
//! the results.

use contend_core::Span;

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
    /// Duration of a frame whose MPDU has `bytes` bytes, including the FCS.
    pub fn airtime(self, bytes: u32) -> Airtime {
        let bits = u64::from(bytes) * 8;
        match self.modulation {
            // §15.2.3 and §16.3.4: preamble + PLCP header + the MPDU, rounded up to a microsecond.
            Modulation::Dsss(p, rounding) => {
                let preamble = Span::from_micros(if p == Preamble::Long { 192 } else { 96 });
                let mpdu = match rounding {
                    Rounding::Up => Span::from_micros((bits * 1_000_000).div_ceil(self.bps)),
                    Rounding::None => Span::of_bits(bits, self.bps),
                };
                Airtime { preamble, total: preamble + mpdu }
            }
            // §17.4.3 eq. 17-29: 16 us preamble, 4 us SIGNAL, then symbols of 4 us for SERVICE (16 bits), MPDU and tail
            // (6 bits); §18.5.3.2 adds the signal extension.
            Modulation::Ofdm { bits_per_symbol, extension } => {
                let symbols = (16 + bits + 6).div_ceil(u64::from(bits_per_symbol));
                let preamble = Span::from_micros(20);
                Airtime { preamble, total: preamble + Span::from_micros(4 * symbols) + extension }
            }
        }
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
            Modulation::Ofdm { .. } => 20,
        })
    }

    /// True if the modulation is OFDM.
    pub fn is_ofdm(self) -> bool {
        matches!(self.modulation, Modulation::Ofdm { .. })
    }
}
