//! PHY timing, from the tables of each standard.
//!
//! Clause numbers are those of IEEE 802.11-2016: 15 DSSS (1 and 2 Mb/s), 16 HR/DSSS (802.11b), 17 OFDM (802.11a), 18
//! ERP (802.11g), 19 HT (802.11n), 21 VHT (802.11ac); 27 HE is that of 802.11ax-2021, 36 EHT that of 802.11be-2024.
//! Every value can be overridden. A derived value (DIFS, EIFS, timeouts) follows from the overridden
//! values, unless the file gives the derived value itself.

pub mod ppdu;

pub use self::ppdu::{
    Airtime, Family, Fec, Format, LONGEST_PPDU, McsTiming, Mode, Modulation, NoMode, Preamble, Rounding,
};
use contend_core::Span;

/// The standard whose tables apply, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standard {
    /// 802.11 (1997): DSSS, 1 and 2 Mb/s.
    Dsss,
    /// 802.11b: HR/DSSS, 1 to 11 Mb/s.
    B,
    /// 802.11a: OFDM in the 5 GHz band, 20 MHz.
    A,
    /// 802.11g: ERP, OFDM in the 2.4 GHz band, in addition to 802.11b's rates.
    G,
    /// 802.11n: HT, up to 40 MHz and 4 streams.
    N,
    /// 802.11ac: VHT, up to 160 MHz and 8 streams, in the 5 GHz band.
    Ac,
    /// 802.11ax: HE, up to 160 MHz and 8 streams.
    Ax,
    /// 802.11be: EHT on one link, up to 320 MHz and 8 streams.
    Be,
}

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
    /// 6 GHz.
    Ghz6,
}

impl Band {
    /// Every band with its name in files.
    pub const ALL: [(&'static str, Band); 3] = [("2.4GHz", Band::Ghz2), ("5GHz", Band::Ghz5), ("6GHz", Band::Ghz6)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Band::ALL.iter().find(|b| b.1 == self).map_or("", |b| b.0)
    }
}

impl Standard {
    /// Every standard with its name in files.
    pub const ALL: [(&'static str, Standard); 8] = [
        ("802.11", Standard::Dsss),
        ("802.11b", Standard::B),
        ("802.11a", Standard::A),
        ("802.11g", Standard::G),
        ("802.11n", Standard::N),
        ("802.11ac", Standard::Ac),
        ("802.11ax", Standard::Ax),
        ("802.11be", Standard::Be),
    ];

    /// The standards without MCS, with their names in files.
    pub fn legacy() -> impl Iterator<Item = (&'static str, Standard)> {
        Standard::ALL.into_iter().filter(|(_, s)| s.family().is_none())
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Standard::ALL.iter().find(|s| s.1 == self).map_or("", |s| s.0)
    }

    /// The family of its newest format; `None` if it has no MCS.
    pub fn family(self) -> Option<Family> {
        match self {
            Standard::Dsss | Standard::B | Standard::A | Standard::G => None,
            Standard::N => Some(Family::Ht),
            Standard::Ac => Some(Family::Vht),
            Standard::Ax => Some(Family::He),
            Standard::Be => Some(Family::Eht),
        }
    }

    /// The bands in which it works; the first one is the default.
    pub fn bands(self) -> &'static [Band] {
        match self {
            Standard::Dsss | Standard::B | Standard::G => &[Band::Ghz2],
            Standard::A | Standard::Ac => &[Band::Ghz5],
            Standard::N => &[Band::Ghz5, Band::Ghz2],
            Standard::Ax | Standard::Be => &[Band::Ghz5, Band::Ghz2, Band::Ghz6],
        }
    }

    /// Its widest channel in `band`, in MHz.
    pub fn widest(self, band: Band) -> u16 {
        match (self, band) {
            (Standard::Dsss | Standard::B | Standard::A | Standard::G, _) => 20,
            (Standard::N, _) | (_, Band::Ghz2) => 40,
            (Standard::Be, Band::Ghz6) => 320,
            (Standard::Ac | Standard::Ax | Standard::Be, _) => 160,
        }
    }

    /// The rates without MCS in bits per second, ascending.
    pub fn rates(self, band: Band) -> &'static [u64] {
        match (self, band) {
            (Standard::Dsss, _) => &[1_000_000, 2_000_000],
            (Standard::B, _) => &[1_000_000, 2_000_000, 5_500_000, 11_000_000],
            (_, Band::Ghz2) => &[
                1_000_000, 2_000_000, 5_500_000, 6_000_000, 9_000_000, 11_000_000, 12_000_000, 18_000_000, 24_000_000,
                36_000_000, 48_000_000, 54_000_000,
            ],
            (_, Band::Ghz5 | Band::Ghz6) => {
                &[6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000]
            }
        }
    }
}

/// How the durations of frames are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durations {
    /// As in the standard.
    Standard,
    /// DSSS and CCK frames end with their last bit and not with a whole microsecond (ns-2).
    Exact,
    /// Frames with MCS as in ns-3.44: [`McsTiming::of_ns3`].
    Ns3,
}

/// The rate of data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataRate {
    /// DSSS, CCK or OFDM, in bits per second.
    Legacy(u64),
    /// A format with MCS.
    Mcs(Mode),
}

impl From<u64> for DataRate {
    fn from(bps: u64) -> DataRate {
        DataRate::Legacy(bps)
    }
}

/// How frames are protected from older stations, which cannot decode them: OFDM from 802.11b stations, and formats with
/// MCS from all stations without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No protection: a cell without older stations.
    None,
    /// A CTS to the sender itself precedes each such data frame.
    CtsToSelf,
    /// RTS and CTS precede each such data frame.
    RtsCts,
}

/// MAC header and FCS of a data frame in bytes (§9.3.2.1, three addresses, no QoS field).
pub const MAC_OVERHEAD: u32 = 28;
/// QoS Control field of a data frame in bytes (§9.2.4.5). Every station of 802.11n and later is a QoS station.
pub const QOS_CONTROL: u32 = 2;
/// Logical link control and SNAP header in bytes (IEEE 802.2, RFC 1042).
pub const LLC_SNAP: u32 = 8;
/// An ACK in bytes (§9.3.1.4).
pub const ACK_BYTES: u32 = 14;
/// A request for a block acknowledgment in bytes (§9.3.1.8, compressed).
pub const REQUEST_BYTES: u32 = 24;
/// Length of a CF-End in bytes, FCS included (IEEE 802.11-2020 §9.3.1.6).
pub const CF_END_BYTES: u32 = 20;
/// An ADDBA request or response in bytes (IEEE 802.11-2020 §9.3.3.13): the header and FCS of a management frame, and
/// the nine bytes of §9.6.4.2 or §9.6.4.3.
pub const ADDBA_BYTES: u32 = 24 + 9 + 4;
/// An ADDBA Extension element in bytes (§9.4.2.138), which windows of more than 1023 MPDUs need.
pub const ADDBA_EXTENSION_BYTES: u32 = 3;
/// A compressed block acknowledgment in bytes besides its bitmap (§9.3.1.9).
pub const BLOCK_ACK_BYTES: u32 = 24;
/// A CTS in bytes (§9.3.1.3).
pub const CTS_BYTES: u32 = 14;
/// An RTS in bytes (§9.3.1.2).
pub const RTS_BYTES: u32 = 20;

/// The timing parameters of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phy {
    /// The standard.
    pub standard: Standard,
    /// The band.
    pub band: Band,
    /// Rate of stations that give no other.
    pub data: DataRate,
    /// Preamble of DSSS frames.
    pub preamble: Preamble,
    /// How durations are computed.
    pub durations: Durations,
    /// aSlotTime.
    pub slot: Span,
    /// aSIFSTime.
    pub sifs: Span,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// Silence after an ERP-OFDM frame that counts as part of it (aSignalExtension, §18.5.4).
    pub signal_extension: Span,
    /// Basic rate set in bits per second, ascending. Responses and protection frames are sent at these rates.
    pub basic: Vec<u64>,
    /// Bytes of LLC/SNAP in each data frame.
    pub llc: u32,
    /// Protection from older stations.
    pub protection: Protection,
    /// Rate of protection frames in bits per second.
    pub protection_rate: u64,
    /// DIFS, if it is not SIFS + 2 slots.
    pub difs: Option<Span>,
    /// EIFS, if it is not the standard's.
    pub eifs: Option<Span>,
    /// ACK timeout and CTS timeout, if they are not the standard's.
    pub ack_timeout: Option<Span>,
}

impl Phy {
    /// The standard's values in its default band. For 802.11g: short slots, no 802.11b stations.
    pub fn new(standard: Standard, preamble: Preamble) -> Phy {
        Phy::in_band(standard, standard.bands().first().copied().unwrap_or(Band::Ghz5), preamble)
    }

    /// The standard's values in `band`, which must be one of its bands.
    pub fn in_band(standard: Standard, band: Band, preamble: Preamble) -> Phy {
        // Table 15-5 (DSSS), Table 16-4 (HR/DSSS), Table 17-21 (OFDM, 20 MHz), Table 18-5 (ERP): slot, SIFS, CWmin.
        // Tables 19-25, 21-28, 27-61 and 36-72 (HT to EHT) have those of ERP at 2.4 GHz, otherwise those of OFDM.
        let (slot, sifs, cw_min) = match (standard, band) {
            (Standard::Dsss | Standard::B, _) => (20, 10, 31),
            (_, Band::Ghz2) => (9, 10, 15),
            (_, Band::Ghz5 | Band::Ghz6) => (9, 16, 15),
        };
        // Mandatory rates: §15.4.4.1, §16.3.2, §17.4.1, §18.4.1 (OFDM only, as in a cell without 802.11b stations).
        let is_dsss = matches!(standard, Standard::Dsss | Standard::B);
        let basic = if is_dsss { vec![1_000_000, 2_000_000] } else { vec![6_000_000, 12_000_000, 24_000_000] };
        let top = standard.rates(band).last().copied().unwrap_or(1_000_000);
        let mode = standard.family().and_then(|family| Mode::new(family, 20, 1, 0).ok());
        Phy {
            standard,
            band,
            data: mode.map_or(DataRate::Legacy(top), |mode| DataRate::Mcs(mode.fastest())),
            preamble,
            durations: Durations::Standard,
            slot: Span::from_micros(slot),
            sifs: Span::from_micros(sifs),
            cw_min,
            cw_max: 1023,
            signal_extension: Span::from_micros(if band == Band::Ghz2 && !is_dsss { 6 } else { 0 }),
            basic,
            llc: LLC_SNAP,
            protection: Protection::None,
            protection_rate: if standard == Standard::G { 11_000_000 } else { 24_000_000 },
            difs: None,
            eifs: None,
            ack_timeout: None,
        }
    }

    /// The rates without MCS in bits per second, ascending.
    pub fn rates(&self) -> &'static [u64] {
        self.standard.rates(self.band)
    }

    /// The highest rate: of the standard, or of the MCS with the width, streams and guard interval of [`Phy::data`].
    pub fn fastest(&self) -> Option<Format> {
        match self.data {
            DataRate::Legacy(_) => self.rates().last().and_then(|&bps| self.rate(bps)),
            DataRate::Mcs(mode) => self.format(DataRate::Mcs(mode.fastest())),
        }
    }

    /// The format of data frames at `rate`; `None` if the standard does not have it.
    pub fn format(&self, rate: DataRate) -> Option<Format> {
        match rate {
            DataRate::Legacy(bps) => self.rate(bps),
            DataRate::Mcs(mode) => {
                let mode = mode.checked().ok().filter(|_| self.standard.family().is_some())?;
                let timing = if self.durations == Durations::Ns3 { McsTiming::of_ns3 } else { McsTiming::new };
                Some(Format::of_mcs(timing(mode, self.signal_extension)))
            }
        }
    }

    /// The format of frames without MCS at `bps` bits per second; `None` if the standard does not have this rate.
    pub fn rate(&self, bps: u64) -> Option<Format> {
        if !self.rates().contains(&bps) {
            return None;
        }
        let modulation = match bps {
            // §16.2.2.3: the short PLCP header is sent at 2 Mb/s, so a 1 Mb/s frame has the long header.
            1_000_000 => Modulation::Dsss(Preamble::Long, self.rounding()),
            2_000_000 | 5_500_000 | 11_000_000 => Modulation::Dsss(self.preamble, self.rounding()),
            // Table 17-4: N_DBPS, data bits per 4 us symbol.
            ofdm => Modulation::Ofdm { bits_per_symbol: (ofdm / 250_000) as u32, extension: self.signal_extension },
        };
        Some(Format { bps, modulation })
    }

    fn rounding(&self) -> Rounding {
        if self.durations == Durations::Exact { Rounding::None } else { Rounding::Up }
    }

    /// Size in bytes of the MPDU of a data frame that carries an IP packet of `ip` bytes.
    pub fn mpdu(&self, ip: u32) -> u32 {
        ip + self.llc + MAC_OVERHEAD + if self.has_qos() { QOS_CONTROL } else { 0 }
    }

    /// True if data frames have a QoS Control field (§4.3.13: all HT stations are QoS stations).
    pub fn has_qos(&self) -> bool {
        self.standard.family().is_some()
    }

    /// The format of the answer to a frame that was received in the format `rate`.
    pub fn response_rate(&self, rate: Format) -> Format {
        // §10.7.6.5.2: the highest basic rate of the same modulation class that is not above the received rate. If
        // there is none: the highest such mandatory rate. §10.7.6.5.2, §10.7.10: after a frame with MCS, not above its
        // non-HT reference rate.
        let most = rate.reference_bps();
        let same_class = |&bps: &u64| self.rate(bps).filter(|r| r.bps <= most && r.is_ofdm() == rate.is_ofdm());
        let mandatory: &[u64] =
            if rate.is_ofdm() { &[6_000_000, 12_000_000, 24_000_000] } else { &[1_000_000, 2_000_000] };
        self.basic
            .iter()
            .filter_map(same_class)
            .next_back()
            .or_else(|| mandatory.iter().filter_map(same_class).next_back())
            .unwrap_or(rate)
    }

    /// The lowest basic rate.
    pub fn lowest_basic(&self) -> Format {
        let lowest = self.basic.iter().find_map(|&b| self.rate(b));
        lowest
            .or_else(|| self.rates().iter().find_map(|&b| self.rate(b)))
            .unwrap_or(Format { bps: 1_000_000, modulation: Modulation::Dsss(Preamble::Long, Rounding::Up) })
    }

    /// DIFS = SIFS + 2 slots (§10.3.7).
    pub fn difs(&self) -> Span {
        self.difs.unwrap_or(self.sifs + self.slot * 2)
    }

    /// EIFS = SIFS + DIFS + an ACK at the lowest basic rate (§10.3.2.3.7).
    pub fn eifs(&self) -> Span {
        self.eifs.unwrap_or_else(|| self.sifs + self.difs() + self.lowest_basic().airtime(ACK_BYTES).total)
    }

    /// Time that a sender waits for the start of the answer (ACK or CTS) at the rate of `answer`, after the end of
    /// its frame.
    pub fn ack_timeout(&self, answer: Format) -> Span {
        // §10.3.2.9: aSIFSTime + aSlotTime + aRxPHYStartDelay.
        self.ack_timeout.unwrap_or(self.sifs + self.slot + answer.start_delay())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(phy: &Phy, mbps: f64, bytes: u32) -> u64 {
        phy.rate((mbps * 1e6) as u64).unwrap().airtime(bytes).total.as_micros()
    }

    /// Values calculated by hand in the specification of Keceli 2008, S2.1.
    #[test]
    fn frames_of_802_11g_take_their_hand_values() {
        let g = Phy::new(Standard::G, Preamble::Long);
        assert_eq!([us(&g, 54.0, 1528), us(&g, 54.0, 68), us(&g, 6.0, ACK_BYTES)], [254, 38, 50]);
        assert_eq!(us(&g, 54.0, 1536), 254, "LLC/SNAP fits into the padding");
        assert_eq!((g.difs(), g.eifs()), (Span::from_micros(28), Span::from_micros(88)));
    }

    /// §16.3.4: 192 us + 8 x 1536 / 11 us, rounded up.
    #[test]
    fn frames_of_802_11b_take_their_hand_values() {
        let long = Phy::new(Standard::B, Preamble::Long);
        let short = Phy::new(Standard::B, Preamble::Short);
        assert_eq!(
            [
                us(&long, 11.0, 1536),
                us(&short, 11.0, 1536),
                us(&long, 1.0, 14),
                us(&short, 1.0, 14),
                us(&short, 2.0, 14)
            ],
            [1310, 1214, 304, 304, 152]
        );
        assert_eq!(us(&long, 5.5, 100), 192 + 146);
        assert_eq!(long.eifs(), Span::from_micros(10 + 50 + 304));
    }

    #[test]
    fn every_ofdm_rate_has_its_bits_per_symbol() {
        let a = Phy::new(Standard::A, Preamble::Long);
        let n = |r| match r {
            Some(Format { modulation: Modulation::Ofdm { bits_per_symbol, .. }, .. }) => bits_per_symbol,
            _ => 0,
        };
        let got: Vec<u32> = a.rates().iter().map(|&r| n(a.rate(r))).collect();
        assert_eq!(got, [24, 36, 48, 72, 96, 144, 192, 216]);
    }

    #[test]
    fn an_answer_uses_the_highest_basic_rate_not_above_the_frame() {
        let mut g = Phy::new(Standard::G, Preamble::Long);
        let answer = |g: &Phy, r| g.response_rate(g.rate(r).unwrap()).bps;
        assert_eq!(
            [answer(&g, 54_000_000), answer(&g, 18_000_000), answer(&g, 9_000_000)],
            [24_000_000, 12_000_000, 6_000_000]
        );
        g.basic = vec![6_000_000];
        assert_eq!(
            [answer(&g, 54_000_000), answer(&g, 11_000_000), answer(&g, 1_000_000)],
            [6_000_000, 2_000_000, 1_000_000]
        );
    }
}
