//! Duration of an exchange by the standard's tables: from the start of a frame to the start of the next frame, without
//! backoff.

use contend_sim::wifi::phy::{ACK_BYTES, Format, Phy};

/// A cell's timing, and the format of its data frames.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Timing tables.
    pub phy: Phy,
    /// Format of data frames; if `None`, the rate in the capture.
    pub rate: Option<Format>,
    /// MPDU of data frames in bytes; if `None`, the length in the capture.
    pub bytes: Option<u32>,
}

impl Exchange {
    /// Nanoseconds from the start of a data frame to the earliest start of the same station's next frame: frame, SIFS,
    /// ACK, DIFS. If the rate is unknown, the standard's lowest rate gives an upper bound.
    pub fn nanoseconds(&self, bytes: u32, rate_bps: Option<u64>) -> u64 {
        let rate = self.rate.or_else(|| self.phy.rate(rate_bps?)).unwrap_or_else(|| self.slowest());
        let data = rate.airtime(self.bytes.unwrap_or(bytes)).total;
        (data + self.phy.sifs + self.phy.response_rate(rate).airtime(ACK_BYTES).total + self.phy.difs()).as_nanos()
    }

    /// True if the rate of a frame is known.
    pub fn knows(&self, rate_bps: Option<u64>) -> bool {
        self.rate.is_some() || rate_bps.is_some_and(|r| self.phy.rate(r).is_some())
    }

    fn slowest(&self) -> Format {
        self.phy.rates().first().and_then(|r| self.phy.rate(*r)).unwrap_or_else(|| self.phy.lowest_basic())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_sim::wifi::phy::{Preamble, Standard};

    #[test]
    fn an_exchange_is_the_sum_of_the_standards_times() {
        let phy = Phy::new(Standard::B, Preamble::Long);
        let of = |rate| Exchange { phy: phy.clone(), rate: phy.rate(rate), bytes: None };
        // 1024 B of UDP payload: 1052 B of IP, an MPDU of 1088 B: 192 + 792; SIFS 10; ACK at 2 Mb/s 192 + 56; DIFS 50.
        assert_eq!(of(11_000_000).nanoseconds(1088, None), 1_292_000);
        // At 1 Mb/s: 192 + 8704, 10, 192 + 112, 50: 9260. An unknown rate gives the same.
        assert_eq!(of(1_000_000).nanoseconds(1088, Some(11_000_000)), 9_260_000);
        assert_eq!(of(0).nanoseconds(1088, None), 9_260_000);
        assert_eq!(of(0).nanoseconds(1088, Some(11_000_000)), 1_292_000);
    }
}
