//! The rate of stations whose frames are aggregated, and their shares of the airtime.
//!
//! Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime Fairness
//! in WiFi", USENIX ATC 2017, §2.2. The model is for 802.11n with one station at a time, without collisions and errors.
//!
//! The mean backoff is 7.5 slots, 67.5 us: the base rates of the paper's Table 1 follow from it, and not from 68 us.

use crate::Invalid;
use crate::invalid::positive;

/// Delimiter, MAC header and FCS of an MPDU in bytes (L_delim, L_mac, L_FCS). Each MPDU is padded to a multiple of 4 B.
const HEADERS: f64 = 4.0 + 34.0 + 4.0;
/// Physical header of a frame in seconds (T_phy).
const T_PHY: f64 = 32e-6;
/// DIFS and SIFS in seconds.
const T_DIFS: f64 = 34e-6;
const T_SIFS: f64 = 16e-6;
/// Block acknowledgment in bytes.
const BLOCK_ACK: f64 = 58.0;

/// The aggregates of one station.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aggregate {
    /// n, mean number of packets.
    pub packets: f64,
    /// l, size of a packet in bytes.
    pub bytes: f64,
    /// r, physical rate in bits per second.
    pub rate_bps: f64,
    /// T_BO, mean backoff in seconds.
    pub backoff_s: f64,
}

impl Aggregate {
    fn checked(&self) -> Result<&Aggregate, Invalid> {
        positive("packets", self.packets)?;
        positive("bytes", self.bytes)?;
        positive("rate_bps", self.rate_bps)?;
        Ok(self)
    }

    /// L(n, l): bytes of an aggregate (eq. 1).
    pub fn size(&self) -> Result<f64, Invalid> {
        let a = self.checked()?;
        Ok(a.packets * ((a.bytes + HEADERS) / 4.0).ceil() * 4.0)
    }

    /// T_data(n, l, r): seconds on the air of an aggregate (eq. 2).
    pub fn data_time(&self) -> Result<f64, Invalid> {
        Ok(T_PHY + 8.0 * self.size()? / self.rate_bps)
    }

    /// T_oh(r): seconds of everything else: DIFS, SIFS, block acknowledgment with its SIFS, and backoff.
    pub fn overhead(&self) -> Result<f64, Invalid> {
        let ack = T_SIFS + 8.0 * BLOCK_ACK / self.checked()?.rate_bps;
        Ok(T_DIFS + T_SIFS + ack + self.backoff_s)
    }

    /// R(n, l, r): rate in bits per second of a station that has the air to itself (eq. 3).
    pub fn rate(&self) -> Result<f64, Invalid> {
        Ok(8.0 * self.packets * self.bytes / (self.data_time()? + self.overhead()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(packets: f64, rate_bps: f64) -> Aggregate {
        Aggregate { packets, bytes: 1500.0, rate_bps, backoff_s: 67.5e-6 }
    }

    /// Table 1: base rates in Mb/s to the printed digit. Two stations at 144.4 Mb/s and one at 7.2 Mb/s.
    #[test]
    fn base_rates_are_those_of_the_paper() {
        let printed = [
            (4.47, 144.4e6, 97.3),
            (5.08, 144.4e6, 101.1),
            (1.89, 7.2e6, 6.5),
            (18.44, 144.4e6, 126.7),
            (18.52, 144.4e6, 126.8),
        ];
        for (packets, bps, expected) in printed {
            let mbps = rate(packets, bps).rate().unwrap() / 1e6;
            assert_eq!((mbps * 10.0).round() / 10.0, expected, "{packets} at {bps}");
        }
    }

    /// 1500 B with 42 B of headers are 1542 B, padded to 1544 B.
    #[test]
    fn an_mpdu_is_padded_to_four_bytes() {
        assert_eq!(rate(2.0, 1e6).size().unwrap(), 3088.0);
        let even = Aggregate { bytes: 1498.0, ..rate(1.0, 1e6) };
        assert_eq!(even.size().unwrap(), 1540.0);
        assert_eq!(rate(0.0, 1e6).size().unwrap_err().what, "packets");
    }
}
