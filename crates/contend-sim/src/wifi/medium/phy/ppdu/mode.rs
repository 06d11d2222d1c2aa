//! The formats with MCS: HT (802.11n), VHT (802.11ac), HE (802.11ax) and EHT (802.11be), and what each of them permits.
//!
//! Clauses of IEEE 802.11-2020 (19 HT, 21 VHT), 802.11ax-2021 (27 HE) and 802.11be-2024 (36 EHT).

use super::coding::{CodeRate, Coding};
use contend_core::{Refusal, Span};

/// A family of formats with MCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// HT, mixed format.
    Ht,
    /// VHT, single user.
    Vht,
    /// HE, single user.
    He,
    /// HE, extended range, single user, all 242 tones.
    HeExtended,
    /// EHT, a single user in an EHT MU PPDU without OFDMA.
    Eht,
}

/// The error-correcting code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fec {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity-check code.
    Ldpc,
}

/// A format with MCS, in all that decides its durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The family.
    pub family: Family,
    /// Channel width in MHz.
    pub width: u16,
    /// Spatial streams.
    pub streams: u8,
    /// MCS of one stream: 0 to 7 in HT, where the index in the standard is this plus 8 for each further stream.
    pub mcs: u8,
    /// Guard interval of data symbols.
    pub guard: Span,
    /// The code. The standard requires LDPC in HE and EHT above 20 MHz, above MCS 9 and above 4 streams; BCC is still
    /// possible here, to compare with simulators that have no LDPC.
    pub fec: Fec,
    /// Nominal packet padding of the receiver in microseconds (HE, EHT): its time to process the last symbol.
    pub padding: u8,
}

/// Why a mode does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMode {
    /// The parameter that is wrong: `width`, `streams`, `mcs`, `guard` or `padding`.
    pub key: &'static str,
    /// What is wrong, without the name of the parameter, and the nearest that works.
    pub why: Refusal,
}

impl Family {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Ht => "HT",
            Family::Vht => "VHT",
            Family::He => "HE",
            Family::HeExtended => "HE ER",
            Family::Eht => "EHT",
        }
    }

    /// The name in files of the standard that brought it.
    pub fn standard(self) -> &'static str {
        match self {
            Family::Ht => "802.11n",
            Family::Vht => "802.11ac",
            Family::He => "802.11ax",
            Family::HeExtended => "802.11ax with extended range",
            Family::Eht => "802.11be",
        }
    }

    /// True if symbols last 12.8 us and a guard interval (HE and later).
    pub fn has_long_symbols(self) -> bool {
        matches!(self, Family::He | Family::HeExtended | Family::Eht)
    }

    /// Channel widths in MHz, each with its data subcarriers and, with long symbols, those of a segment of the last
    /// symbol (N_SD and N_SD,short).
    pub fn widths(self) -> &'static [(u16, u32, u32)] {
        match self {
            // Table 19-6.
            Family::Ht => &[(20, 52, 0), (40, 108, 0)],
            // Table 21-5.
            Family::Vht => &[(20, 52, 0), (40, 108, 0), (80, 234, 0), (160, 468, 0)],
            // Tables 27-14 and 27-34 (RUs of 242, 484, 996 and 2 x 996 tones).
            Family::He => &[(20, 234, 60), (40, 468, 120), (80, 980, 240), (160, 1960, 492)],
            Family::HeExtended => &[(20, 234, 60)],
            // Tables 36-19 and 36-46 (also 4 x 996 tones).
            Family::Eht => &[(20, 234, 60), (40, 468, 120), (80, 980, 240), (160, 1960, 492), (320, 3920, 984)],
        }
    }

    /// Largest number of spatial streams.
    pub fn most_streams(self) -> u8 {
        match self {
            Family::Ht => 4,
            Family::HeExtended => 1,
            Family::Vht | Family::He | Family::Eht => 8,
        }
    }

    /// Highest MCS of one stream.
    pub fn highest_mcs(self) -> u8 {
        match self {
            Family::Ht => 7,
            Family::Vht => 9,
            Family::He => 11,
            Family::HeExtended => 2,
            Family::Eht => 13,
        }
    }

    /// Guard intervals in nanoseconds, the shortest first.
    pub fn guards(self) -> &'static [u64] {
        if self.has_long_symbols() { &[800, 1600, 3200] } else { &[400, 800] }
    }

    /// Nominal packet paddings of a receiver in microseconds.
    pub fn paddings(self) -> &'static [u8] {
        match self {
            Family::Ht | Family::Vht => &[0],
            Family::He | Family::HeExtended => &[0, 8, 16],
            Family::Eht => &[0, 8, 16, 20],
        }
    }
}

impl Mode {
    /// The mode with this width in MHz, number of streams and MCS, the guard interval of 800 ns, no padding, and LDPC
    /// where the standard requires it.
    ///
    /// # Errors
    /// If the standard does not have it.
    pub fn new(family: Family, width: u16, streams: u8, mcs: u8) -> Result<Mode, NoMode> {
        let mode = Mode { family, width, streams, mcs, guard: Span::from_nanos(800), fec: Fec::Bcc, padding: 0 };
        Mode { fec: mode.usual_fec(), ..mode }.checked()
    }

    /// LDPC where the standard requires it, else BCC.
    pub fn usual_fec(&self) -> Fec {
        // §27.1.1 and §36.1.1: BCC is for RUs of up to 242 tones, up to four streams and MCS 0 to 9.
        let beyond_bcc = self.width > 20 || self.mcs > 9 || self.streams > 4;
        if self.family.has_long_symbols() && beyond_bcc { Fec::Ldpc } else { Fec::Bcc }
    }

    /// The same mode if the standard has it.
    ///
    /// # Errors
    /// With the nearest mode that exists.
    pub fn checked(self) -> Result<Mode, NoMode> {
        let (family, name) = (self.family, self.family.standard());
        let no = |key, what: String, remedy: String| Err(NoMode { key, why: Refusal::new(what, remedy) });
        let widths = family.widths();
        if !widths.iter().any(|w| w.0 == self.width) {
            let nearest = widths.iter().map(|w| w.0).min_by_key(|w| w.abs_diff(self.width)).unwrap_or(20);
            let all: Vec<String> = widths.iter().map(|w| w.0.to_string()).collect();
            let help = format!("write width = \"{nearest}MHz\"; {name} has {} MHz", all.join(", "));
            return no("width", format!("is {} MHz, which {name} does not have", self.width), help);
        }
        let most = family.most_streams();
        if self.streams == 0 || self.streams > most {
            let help = format!("write streams = {}", self.streams.clamp(1, most));
            return no("streams", format!("is {}, but {name} has at most {most}", self.streams), help);
        }
        let highest = family.highest_mcs();
        if self.mcs > highest {
            let help = format!("write mcs = {}", Mode { mcs: highest, ..self }.lower_mcs());
            return no("mcs", format!("is {}, but {name} has 0 to {highest} for each stream", self.mcs), help);
        }
        if self.is_excluded() {
            let Mode { width, streams, mcs, .. } = self;
            let of = if streams == 1 { "1 stream".into() } else { format!("{streams} streams") };
            let help = format!("write mcs = {}, or another width or number of streams", self.lower_mcs());
            return no("mcs", format!("is {mcs}, which {name} does not have at {width} MHz with {of}"), help);
        }
        let guards = family.guards();
        if !guards.contains(&self.guard.as_nanos()) {
            let ns = self.guard.as_nanos();
            let nearest = guards.iter().min_by_key(|g| g.abs_diff(ns)).copied().unwrap_or(800);
            let all: Vec<String> = guards.iter().map(u64::to_string).collect();
            let help = format!("write guard = \"{nearest}ns\"; {name} has {} ns", all.join(", "));
            return no("guard", format!("is {ns} ns, which {name} does not have"), help);
        }
        if !family.paddings().contains(&self.padding) {
            let all: Vec<String> = family.paddings().iter().map(u8::to_string).collect();
            let help = format!("write packet_padding = \"{}us\"; {name} has {} us", all[0], all.join(", "));
            return no("packet_padding", format!("is {} us, which {name} does not have", self.padding), help);
        }
        Ok(self)
    }

    /// The highest MCS below or at this one that the standard has.
    fn lower_mcs(&self) -> u8 {
        (0..=self.mcs).rev().find(|&mcs| !Mode { mcs, ..*self }.is_excluded()).unwrap_or(0)
    }

    /// The same with the highest MCS at this width and number of streams, and its usual code.
    pub fn fastest(&self) -> Mode {
        let mut highest = Mode { mcs: self.family.highest_mcs(), ..*self };
        highest.mcs = highest.lower_mcs();
        Mode { fec: highest.usual_fec(), ..highest }
    }

    /// True if VHT excludes the combination, because the encoders could not share a symbol's bits equally.
    fn is_excluded(&self) -> bool {
        // §21.5, Tables 21-30 to 21-61: "not valid".
        let streams = self.streams;
        self.family == Family::Vht
            && match (self.width, self.mcs) {
                (20, 9) => !streams.is_multiple_of(3),
                (80, 6) => streams == 3 || streams == 7,
                (80, 9) => streams == 6,
                (160, 9) => streams == 3,
                _ => false,
            }
    }

    /// Modulation and code.
    pub(super) fn coding(&self) -> Coding {
        Coding::MCS[usize::from(self.mcs).min(Coding::MCS.len() - 1)]
    }

    /// The code rate as a fraction.
    pub(super) fn code_rate(&self) -> (u32, u32) {
        self.coding().code.fraction()
    }

    /// Coded bits per symbol (N_CBPS), and per segment of the last symbol.
    pub(super) fn coded_bits(&self) -> (u32, u32) {
        let row = self.family.widths().iter().find(|w| w.0 == self.width);
        let (_, data, segment) = row.copied().unwrap_or((20, 52, 0));
        let each = u32::from(self.streams) * u32::from(self.coding().bits);
        (data * each, segment * each)
    }

    /// Duration of a data symbol with its guard interval (T_SYM).
    pub(super) fn symbol(&self) -> Span {
        self.guard + Span::from_nanos(if self.family.has_long_symbols() { 12_800 } else { 3_200 })
    }

    /// Convolutional encoders (N_ES), each of which adds six tail bits.
    pub(super) fn encoders(&self) -> u32 {
        let (coded, (n, d)) = (self.coded_bits().0, self.code_rate());
        let data = coded * n / d;
        match self.family {
            // Tables 19-27 to 19-41: a second encoder above 300 Mb/s.
            Family::Ht => 1 + u32::from(data > 1080),
            // Tables 21-30 to 21-61: one for each 600 Mb/s with the short guard interval (2160 bits per symbol), and
            // more until each encoder has a whole number of puncturing blocks.
            Family::Vht => (data.div_ceil(2160)..=data).find(|each| coded.is_multiple_of(each * d)).unwrap_or(1),
            // §27.3.12.5.1, §36.3.13.3.2: one.
            Family::He | Family::HeExtended | Family::Eht => 1,
        }
    }

    /// Number of LTF symbols (Tables 19-13, 21-13, 27-32, 36-43).
    pub(super) fn ltfs(&self) -> u64 {
        match self.streams {
            1 => 1,
            2 => 2,
            3 | 4 => 4,
            5 | 6 => 6,
            _ => 8,
        }
    }

    /// The rate in bits per second of the non-HT OFDM frame with the same modulation (Table 10-7 of 802.11-2020): it
    /// bounds the rate of an answer.
    pub fn non_ht_reference(&self) -> u64 {
        let Coding { bits, code } = self.coding();
        match (bits, code) {
            (1, _) => 6_000_000,
            (2, CodeRate::Half) => 12_000_000,
            (2, _) => 18_000_000,
            (4, CodeRate::Half) => 24_000_000,
            (4, _) => 36_000_000,
            (6, CodeRate::TwoThirds) => 48_000_000,
            _ => 54_000_000,
        }
    }
}
