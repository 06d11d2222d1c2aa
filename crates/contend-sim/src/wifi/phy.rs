//! PHY timing, from the tables of each standard.
//!
//! Clause numbers are those of IEEE 802.11-2016: 15 DSSS (1 and 2 Mb/s), 16 HR/DSSS (802.11b), 17 OFDM (802.11a), 18
//! ERP (802.11g). Every value can be overridden. A derived value (DIFS, EIFS, timeouts) follows from the overridden
//! values, unless the file gives the derived value itself.

pub use super::ppdu::{Airtime, Format, Modulation, Preamble, Rounding};
use contend_core::Span;

/// The standard whose tables apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11 (1997): DSSS, 1 and 2 Mb/s.
    Dsss,
    /// 802.11b: HR/DSSS, 1 to 11 Mb/s.
    B,
    /// 802.11a: OFDM in the 5 GHz band, 20 MHz.
    A,
    /// 802.11g: ERP, OFDM in the 2.4 GHz band, in addition to 802.11b's rates.
    G,
}

impl Standard {
    /// Every standard with its name in files.
    pub const ALL: [(&'static str, Standard); 4] =
        [("802.11", Standard::Dsss), ("802.11b", Standard::B), ("802.11a", Standard::A), ("802.11g", Standard::G)];
}

/// How OFDM frames are protected from 802.11b stations, which cannot decode them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No protection: a cell without 802.11b stations.
    None,
    /// A CTS to the sender itself precedes each data frame.
    CtsToSelf,
    /// RTS and CTS precede each data frame.
    RtsCts,
}

/// MAC header and FCS of a data frame in bytes (§9.3.2.1, three addresses, no QoS field).
pub const MAC_OVERHEAD: u32 = 28;
/// Logical link control and SNAP header in bytes (IEEE 802.2, RFC 1042).
pub const LLC_SNAP: u32 = 8;
/// An ACK in bytes (§9.3.1.4).
pub const ACK_BYTES: u32 = 14;
/// A request for a block acknowledgment in bytes (§9.3.1.8, compressed).
pub const REQUEST_BYTES: u32 = 24;
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
    /// Preamble of DSSS frames.
    pub preamble: Preamble,
    /// True if DSSS and CCK frames end with their last bit and not with a whole microsecond (ns-2).
    pub exact_durations: bool,
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
    /// Protection of OFDM frames from 802.11b stations.
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
    /// The standard's values. For 802.11g: short slots, no 802.11b stations.
    pub fn new(standard: Standard, preamble: Preamble) -> Phy {
        // Table 15-5 (DSSS), Table 16-4 (HR/DSSS), Table 17-21 (OFDM, 20 MHz), Table 18-5 (ERP): slot, SIFS, CWmin.
        let (slot, sifs, cw_min) = match standard {
            Standard::Dsss | Standard::B => (20, 10, 31),
            Standard::A => (9, 16, 15),
            Standard::G => (9, 10, 15),
        };
        // Mandatory rates: §15.4.4.1, §16.3.2, §17.4.1, §18.4.1 (OFDM only, as in a cell without 802.11b stations).
        let basic = match standard {
            Standard::Dsss | Standard::B => vec![1_000_000, 2_000_000],
            Standard::A | Standard::G => vec![6_000_000, 12_000_000, 24_000_000],
        };
        Phy {
            standard,
            preamble,
            exact_durations: false,
            slot: Span::from_micros(slot),
            sifs: Span::from_micros(sifs),
            cw_min,
            cw_max: 1023,
            signal_extension: Span::from_micros(if standard == Standard::G { 6 } else { 0 }),
            basic,
            llc: LLC_SNAP,
            protection: Protection::None,
            protection_rate: 11_000_000,
            difs: None,
            eifs: None,
            ack_timeout: None,
        }
    }

    /// All rates of the standard in bits per second, ascending.
    pub fn rates(standard: Standard) -> &'static [u64] {
        match standard {
            Standard::Dsss => &[1_000_000, 2_000_000],
            Standard::B => &[1_000_000, 2_000_000, 5_500_000, 11_000_000],
            Standard::A => {
                &[6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000]
            }
            Standard::G => &[
                1_000_000, 2_000_000, 5_500_000, 6_000_000, 9_000_000, 11_000_000, 12_000_000, 18_000_000, 24_000_000,
                36_000_000, 48_000_000, 54_000_000,
            ],
        }
    }

    /// The format of frames at `bps` bits per second; `None` if the standard does not have this rate.
    pub fn rate(&self, bps: u64) -> Option<Format> {
        if !Phy::rates(self.standard).contains(&bps) {
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
        if self.exact_durations { Rounding::None } else { Rounding::Up }
    }

    /// Size in bytes of the MPDU of a data frame that carries an IP packet of `ip` bytes.
    pub fn mpdu(&self, ip: u32) -> u32 {
        ip + self.llc + MAC_OVERHEAD
    }

    /// The format of the answer to a frame that was received in the format `rate`.
    pub fn response_rate(&self, rate: Format) -> Format {
        // §10.7.6.5.2: the highest basic rate of the same modulation class that is not above the received rate. If
        // there is none: the highest such mandatory rate.
        let same_class = |&bps: &u64| self.rate(bps).filter(|r| r.bps <= rate.bps && r.is_ofdm() == rate.is_ofdm());
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
            .or_else(|| Phy::rates(self.standard).iter().find_map(|&b| self.rate(b)))
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
        let got: Vec<u32> = Phy::rates(Standard::A).iter().map(|&r| n(a.rate(r))).collect();
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
