//! Durations of PPDUs with MCS: HT, VHT, HE and EHT.
//!
//! A PPDU is a preamble, whole symbols for SERVICE, PSDU and tail bits, and perhaps a packet extension and a signal
//! extension. Clauses as in [`Mode`].

use super::Airtime;
use super::mode::{Family, Fec, Mode};
use contend_core::Span;

/// Longest PPDU with MCS (aPPDUMaxTime: Tables 19-25, 21-28, 27-61, 36-72).
pub const LONGEST_PPDU: Span = Span::from_micros(5_484);
/// Bits of the SERVICE field.
const SERVICE: u64 = 16;

/// The durations of a [`Mode`], reduced to what a PPDU needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McsTiming {
    /// The mode.
    pub mode: Mode,
    preamble: Span,
    symbol: Span,
    /// Data bits of a symbol, multiplied by `parts`.
    data_bits: u64,
    parts: u64,
    /// Tail bits of all encoders.
    tail: u64,
    /// The symbols end with a multiple of this.
    step: Span,
    /// The numbers of the low-density parity-check code, if it can lengthen the PPDU.
    ldpc: Option<Ldpc>,
    /// Data bits in one of the four segments of the last symbol (N_DBPS,short); 0 if it has no segments.
    segment: u64,
    /// Nominal packet padding in units of 4 us.
    padding: u64,
    extension: Span,
}

/// What decides whether a PPDU with LDPC has an extra symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ldpc {
    /// Coded bits of a symbol, and of a segment of the last symbol.
    coded: u64,
    segment: u64,
    /// The code rate as a fraction.
    rate: (u64, u64),
    /// True if all data bits of the symbols are encoded, padding included (VHT and later).
    whole_symbols: bool,
}

impl McsTiming {
    /// The durations of the standard.
    pub fn new(mode: Mode, extension: Span) -> McsTiming {
        let us = Span::from_micros;
        let (coded, segment) = mode.coded_bits();
        let (n, d) = mode.code_rate();
        // §27.3.12.5, §36.3.13.3: N_DBPS is rounded down.
        let data = |coded: u32| u64::from(coded * n / d);
        // L-STF, L-LTF and L-SIG last 20 us in every format.
        let (fields, ltf) = match mode.family {
            // §19.4.3: HT-SIG 8 us, HT-STF and each HT-LTF 4 us.
            Family::Ht => (us(20 + 8 + 4), us(4)),
            // §21.4.3: VHT-SIG-A 8 us, VHT-STF, each VHT-LTF and VHT-SIG-B 4 us.
            Family::Vht => (us(20 + 8 + 4 + 4), us(4)),
            // §27.4.3: RL-SIG 4 us, HE-SIG-A 8 us (repeated in ER), HE-STF 4 us, HE-LTF.
            Family::He => (us(20 + 4 + 8 + 4), long_ltf(mode.guard)),
            Family::HeExtended => (us(20 + 4 + 16 + 4), long_ltf(mode.guard)),
            // §36.4.3: RL-SIG 4 us, U-SIG 8 us, EHT-SIG 8 us (52 bits for one user at MCS 0), EHT-STF 4 us, EHT-LTF.
            Family::Eht => (us(20 + 4 + 8 + 8 + 4), long_ltf(mode.guard)),
        };
        let is_long = mode.family.has_long_symbols();
        let ldpc = Ldpc {
            coded: coded.into(),
            segment: segment.into(),
            rate: (n.into(), d.into()),
            whole_symbols: mode.family != Family::Ht,
        };
        McsTiming {
            mode,
            preamble: fields + ltf * mode.ltfs(),
            symbol: mode.symbol(),
            data_bits: data(coded),
            parts: 1,
            tail: if mode.fec == Fec::Bcc { 6 * u64::from(mode.encoders()) } else { 0 },
            // §19.4.3, §21.4.3: with the short guard interval the symbols fill whole symbols of 4 us.
            step: if is_long { Span::from_nanos(1) } else { us(4) },
            ldpc: (mode.fec == Fec::Ldpc).then_some(ldpc),
            segment: data(segment),
            padding: u64::from(mode.padding / 4),
            extension,
        }
    }

    /// The durations of ns-3.44, which differ: no VHT-SIG-B; no rounding with a short guard interval; HE-LTFs of 8 us;
    /// N_DBPS is not rounded down; the tail bits of BCC, also with LDPC, and no extra symbol; no packet extension.
    pub fn of_ns3(mode: Mode, extension: Span) -> McsTiming {
        let standard = McsTiming::new(Mode { fec: Fec::Bcc, padding: 0, ..mode }, extension);
        let (n, d) = mode.code_rate();
        let preamble = match mode.family {
            Family::Ht => standard.preamble,
            Family::Vht => standard.preamble.saturating_sub(Span::from_micros(4)),
            Family::He | Family::HeExtended | Family::Eht => {
                let ltfs = long_ltf(mode.guard) * mode.ltfs();
                standard.preamble.saturating_sub(ltfs) + Span::from_micros(8 * mode.ltfs())
            }
        };
        let data_bits = u64::from(mode.coded_bits().0 * n);
        McsTiming { mode, preamble, data_bits, parts: d.into(), step: Span::from_nanos(1), segment: 0, ..standard }
    }

    /// The duration of a PPDU with a PSDU of `psdu` bytes.
    pub fn airtime(&self, psdu: u32) -> Airtime {
        let (symbols, segments) = self.symbols(psdu);
        let data = (self.symbol * symbols).as_nanos().next_multiple_of(self.step.as_nanos());
        // Tables 27-46 and 36-61: T_PE for the nominal packet paddings 0, 8, 16 and 20 us and a = 1 to 4.
        let extension = Span::from_micros(4 * (segments + self.padding).saturating_sub(4));
        Airtime { preamble: self.preamble, total: self.preamble + Span::from_nanos(data) + extension + self.extension }
    }

    /// The number of data symbols, and the segments of the last one that hold data: 4 if it has no segments.
    pub fn symbols(&self, psdu: u32) -> (u64, u64) {
        let bits = SERVICE + 8 * u64::from(psdu) + self.tail;
        let symbols = (bits * self.parts).div_ceil(self.data_bits);
        // §27.3.12.1: a_init.
        let segments = match self.segment {
            0 => 4,
            segment => (bits - (symbols - 1) * self.data_bits).div_ceil(segment).min(4),
        };
        match &self.ldpc {
            Some(ldpc) if ldpc.is_extended(self, bits, symbols, segments) => match segments {
                4 if self.segment == 0 => (symbols + 1, 4),
                4 => (symbols + 1, 1),
                _ => (symbols, segments + 1),
            },
            _ => (symbols, segments),
        }
    }

    /// The data rate in bits per second.
    pub fn bps(&self) -> u64 {
        self.data_bits * 1_000_000_000 / (self.symbol.as_nanos() * self.parts)
    }
}

/// One HE-LTF or EHT-LTF (T_HE-LTF-SYM, §27.3.11.10, §36.3.12.10): 4x with the guard interval of 3.2 us, else 2x. These
/// are the mandatory combinations.
fn long_ltf(guard: Span) -> Span {
    let four = Span::from_nanos(3_200);
    guard + Span::from_nanos(if guard == four { 12_800 } else { 6_400 })
}

impl Ldpc {
    /// True if the code needs an extra symbol, or an extra segment of the last symbol: too many bits would be punctured
    /// (§19.3.11.7.5, §21.3.10.5.4, §27.3.12.5.2).
    fn is_extended(&self, of: &McsTiming, bits: u64, symbols: u64, segments: u64) -> bool {
        let (n, d) = self.rate;
        let of_last = |whole, segment| if segments < 4 { segments * segment } else { whole };
        let available = (symbols - 1) * self.coded + of_last(self.coded, self.segment);
        let payload =
            if self.whole_symbols { (symbols - 1) * of.data_bits + of_last(of.data_bits, of.segment) } else { bits };
        let parity = d - n;
        // Table 19-16: number and length of the code words.
        let exceeds = |spare: u64| available.saturating_sub(payload) * d >= spare * parity;
        let (words, length) = match available {
            ..=648 => (1, if exceeds(912) { 1296 } else { 648 }),
            649..=1296 => (1, if exceeds(1464) { 1944 } else { 1296 }),
            1297..=1944 => (1, 1944),
            1945..=2592 => (2, if exceeds(2916) { 1944 } else { 1296 }),
            _ => ((payload * d).div_ceil(1944 * n), 1944),
        };
        let coded = words * length;
        let shortened = (coded * n / d).saturating_sub(payload);
        let punctured = coded.saturating_sub(available + shortened);
        // More than 10 % of the parity bits, and few shortened bits; or more than 30 %.
        let tenths = 10 * d * punctured;
        (tenths > coded * parity && 10 * shortened * parity < 12 * punctured * n) || tenths > 3 * coded * parity
    }
}
