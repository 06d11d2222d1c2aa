//! Durations of DSSS frames (802.11b, long preamble) and of one RTS/CTS exchange.
//!
//! IEEE 802.11-2016 §15.3.3 and §16.3.4: a frame takes the preamble and PLCP header, then its bytes at its rate. The
//! standard rounds the bytes up to whole microseconds; ns-2 and Barreto 2012 do not round.

use crate::Invalid;
use crate::invalid::{not_negative, positive};

/// Bytes of an RTS (IEEE 802.11-2016 §9.3.1.2).
const RTS_BYTES: f64 = 20.0;
/// Bytes of a CTS and of an ACK (IEEE 802.11-2016 §9.3.1.3, §9.3.1.4).
const ANSWER_BYTES: f64 = 14.0;

/// A DSSS PHY and MAC. Times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dsss {
    /// Rate of data frames in bit/s.
    pub rate_bps: f64,
    /// Rate of RTS, CTS and ACK in bit/s.
    pub basic_bps: f64,
    /// Preamble and PLCP header of every frame.
    pub preamble_us: f64,
    /// SIFS.
    pub sifs_us: f64,
    /// Slot time.
    pub slot_us: f64,
    /// Bytes that the MAC adds to an IP packet: 36 with LLC/SNAP and FCS, 34 in ns-2.
    pub overhead_bytes: f64,
    /// True if the bytes of a frame take whole microseconds, rounded up.
    pub whole_us: bool,
}

impl Dsss {
    /// 802.11b with long preambles, basic rate 1 Mb/s and `rate_bps` for data, without rounding.
    pub fn long_preamble(rate_bps: f64) -> Dsss {
        Dsss {
            rate_bps,
            basic_bps: 1e6,
            preamble_us: 192.0,
            sifs_us: 10.0,
            slot_us: 20.0,
            overhead_bytes: 36.0,
            whole_us: false,
        }
    }

    /// DIFS in microseconds.
    pub fn difs_us(&self) -> f64 {
        self.sifs_us + 2.0 * self.slot_us
    }

    /// The frames of an exchange that carries an IP packet of `ip_bytes`.
    ///
    /// # Errors
    /// If a rate is not above 0, or a time or size is negative.
    pub fn exchange(&self, ip_bytes: f64) -> Result<Exchange, Invalid> {
        positive("rate", self.rate_bps)?;
        positive("basic", self.basic_bps)?;
        positive("packet", ip_bytes)?;
        not_negative("preamble", self.preamble_us)?;
        not_negative("sifs", self.sifs_us)?;
        not_negative("slot", self.slot_us)?;
        not_negative("overhead", self.overhead_bytes)?;
        let frame = |bytes: f64, bps: f64| {
            let body = 8e6 * bytes / bps;
            self.preamble_us + if self.whole_us { body.ceil() } else { body }
        };
        Ok(Exchange {
            bits: 8.0 * ip_bytes,
            sifs_us: self.sifs_us,
            difs_us: self.difs_us(),
            rts_us: frame(RTS_BYTES, self.basic_bps),
            cts_us: frame(ANSWER_BYTES, self.basic_bps),
            data_us: frame(ip_bytes + self.overhead_bytes, self.rate_bps),
            ack_us: frame(ANSWER_BYTES, self.basic_bps),
        })
    }
}

/// One RTS/CTS exchange. Times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// S: bits of the IP packet.
    pub bits: f64,
    /// SIFS.
    pub sifs_us: f64,
    /// DIFS.
    pub difs_us: f64,
    /// Duration of the RTS.
    pub rts_us: f64,
    /// Duration of the CTS.
    pub cts_us: f64,
    /// Duration of the data frame.
    pub data_us: f64,
    /// Duration of the ACK.
    pub ack_us: f64,
}

impl Exchange {
    /// Duration field of the CTS: what follows it.
    pub fn nav_cts_us(&self) -> f64 {
        2.0 * self.sifs_us + self.data_us + self.ack_us
    }
    /// Duration field of the RTS: what follows it.
    pub fn nav_rts_us(&self) -> f64 {
        self.sifs_us + self.cts_us + self.nav_cts_us()
    }
    /// The exchange with the DIFS before it and a backoff of `backoff_us`.
    pub fn cycle_us(&self, backoff_us: f64) -> f64 {
        self.difs_us + backoff_us + self.rts_us + self.nav_rts_us()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_have_the_durations_of_the_standard() {
        // Long preamble: RTS 192 + 160 us, CTS and ACK 192 + 112 us.
        let e = Dsss::long_preamble(2e6).exchange(1500.0).unwrap();
        assert_eq!((e.rts_us, e.cts_us, e.ack_us, e.data_us), (352.0, 304.0, 304.0, 6336.0));
        // 12,288 bits at 11 Mb/s take 1117.09 us; the standard's frame takes 1118 us.
        let eleven = Dsss { whole_us: true, ..Dsss::long_preamble(11e6) };
        assert_eq!(eleven.exchange(1500.0).unwrap().data_us, 1310.0);
    }

    #[test]
    fn impossible_frames_are_errors() {
        assert_eq!(Dsss::long_preamble(0.0).exchange(1500.0).unwrap_err().what, "rate");
        assert_eq!(Dsss::long_preamble(1e6).exchange(-1.0).unwrap_err().what, "packet");
        let late = Dsss { sifs_us: f64::NAN, ..Dsss::long_preamble(1e6) };
        assert_eq!(late.exchange(40.0).unwrap_err().what, "sifs");
    }
}
