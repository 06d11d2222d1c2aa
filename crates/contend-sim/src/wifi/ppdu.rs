//! How long anything is on the air: a function of a PPDU's format and length.
//!
//! Clause numbers are those of IEEE 802.11-2016. Whoever needs a duration asks a [`Format`]; the tables of a cell only keep
//! its answers.

use contend_core::Span;

/// PLCP preamble of DSSS and HR/DSSS frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 us and a header of 48 us at 1 Mb/s.
    Long,
    /// 72 us and a header of 24 us at 2 Mb/s; not for 1 Mb/s frames.
    Short,
}

/// How a frame is modulated, as far as timing needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS or CCK, with the preamble used at this rate.
    Dsss(Preamble),
    /// OFDM.
    Ofdm {
        /// Data bits per 4 us symbol (N_DBPS).
        bits_per_symbol: u32,
        /// Silence after the frame that counts as part of it (aSignalExtension, §18.5.4).
        extension: Span,
    },
}

/// The format of a PPDU: all that, with its length, decides how long it is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Rate of the payload in bits per second.
    pub bps: u64,
    /// Its modulation.
    pub modulation: Modulation,
}

/// How long a frame takes: the part before the first bit of the MPDU, and all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// PLCP preamble and header (for OFDM: preamble and SIGNAL).
    pub preamble: Span,
    /// The whole frame, signal extension included.
    pub total: Span,
}

impl Format {
    /// How long an MPDU of `bytes` bytes (FCS included) is on the air.
    pub fn airtime(self, bytes: u32) -> Airtime {
        let bits = u64::from(bytes) * 8;
        match self.modulation {
            // §15.2.3 and §16.3.4: preamble + PLCP header + the MPDU, rounded up to a microsecond.
            Modulation::Dsss(p) => {
                let preamble = Span::from_micros(if p == Preamble::Long { 192 } else { 96 });
                Airtime { preamble, total: preamble + Span::from_micros((bits * 1_000_000).div_ceil(self.bps)) }
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

    /// How long `bytes` bytes of the payload take, without anything around them.
    pub fn payload(self, bytes: u32) -> Span {
        Span::of_bits(u64::from(bytes) * 8, self.bps)
    }

    /// From the first symbol of a frame until its receiver knows of it (aRxPHYStartDelay: Tables 15-5, 16-4, 17-21,
    /// 18-5).
    pub fn start_delay(self) -> Span {
        Span::from_micros(match self.modulation {
            Modulation::Dsss(Preamble::Long) => 192,
            Modulation::Dsss(Preamble::Short) => 96,
            Modulation::Ofdm { .. } => 20,
        })
    }

    /// True if it is OFDM.
    pub fn is_ofdm(self) -> bool {
        matches!(self.modulation, Modulation::Ofdm { .. })
    }
}
