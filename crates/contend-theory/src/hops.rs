//! One packet over a chain of idle hops.
//!
//! Derived from IEEE 802.11-2016 §10.3: each hop waits for DIFS, may exchange RTS and CTS, and sends the data. The ACK
//! of a hop precedes the next hop. No hop draws a random backoff; a mean backoff is an argument.

use crate::Invalid;
use crate::dsss::Exchange;
use crate::invalid::{invalid, not_negative};

/// What a hop adds to the frames of an exchange. Times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hop {
    /// True if RTS and CTS precede the data.
    pub rts: bool,
    /// Propagation delay of a hop.
    pub propagation_us: f64,
    /// Mean backoff of a hop.
    pub backoff_us: f64,
    /// Delay of the link layer above the MAC at the source and at the destination (ns-2: 25 us each). At a relay, the
    /// SIFS and the ACK hide it.
    pub link_layer_us: f64,
}

/// Time in microseconds from the source's application to the destination's, over `hops` idle hops.
///
/// # Errors
/// If there is no hop, or a time is negative, or the link layer of a relay takes longer than SIFS and ACK.
pub fn one_packet(e: &Exchange, hop: &Hop, hops: u32) -> Result<f64, Invalid> {
    if hops == 0 {
        return Err(invalid("hops", hops, "at least 1"));
    }
    not_negative("propagation", hop.propagation_us)?;
    not_negative("backoff", hop.backoff_us)?;
    not_negative("link_layer", hop.link_layer_us)?;
    let tail = e.sifs_us + e.ack_us;
    if 2.0 * hop.link_layer_us > tail {
        return Err(invalid("link_layer", hop.link_layer_us, "at most half of SIFS and ACK together"));
    }
    let p = hop.propagation_us;
    let protection = if hop.rts { e.rts_us + e.cts_us + 2.0 * (e.sifs_us + p) } else { 0.0 };
    let each = e.difs_us + hop.backoff_us + protection + e.data_us + p;
    Ok(2.0 * hop.link_layer_us + f64::from(hops) * each + f64::from(hops - 1) * tail)
}

#[cfg(test)]
mod ns2;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dsss::Dsss;

    /// The hop of the reference: 200 m, 25 us of link layer.
    fn ns2(rts: bool) -> Hop {
        Hop { rts, propagation_us: 200.0 / 300.0, backoff_us: 0.0, link_layer_us: 25.0 }
    }

    #[test]
    fn all_144_packets_of_ns_2_have_the_delay_of_the_formula() {
        let mut cases = 0;
        for (mbps, rts, ip, measured) in ns2::ONE_PACKET {
            let phy = Dsss { overhead_bytes: 34.0, ..Dsss::long_preamble(mbps * 1e6) };
            let e = phy.exchange(*ip).unwrap();
            for (hops, want) in (1..).zip(measured) {
                let got = one_packet(&e, &ns2(*rts), hops).unwrap();
                assert!((got - want).abs() < 0.0011, "{mbps} Mb/s, RTS {rts}, {ip} B, {hops} hops: {got} {want}");
                cases += 1;
            }
        }
        assert_eq!(cases, 144);
    }

    #[test]
    fn a_further_hop_adds_its_frames_and_the_ack_before_it() {
        // 2 Mb/s, 1500 B in ns-2: 6692.667 us, with RTS 7370 us.
        let e = Dsss { overhead_bytes: 34.0, ..Dsss::long_preamble(2e6) }.exchange(1500.0).unwrap();
        for (rts, want) in [(false, 6692.667), (true, 7370.0)] {
            let at = |hops| one_packet(&e, &ns2(rts), hops).unwrap();
            assert!((at(5) - at(4) - want).abs() < 0.001);
        }
    }

    #[test]
    fn the_standard_s_timing_is_whole_microseconds() {
        // 802.11b, 11 Mb/s, 1500 B, no propagation: DIFS 50 + data 1310; each further hop also SIFS 10 + ACK 304.
        let e = Dsss { whole_us: true, ..Dsss::long_preamble(11e6) }.exchange(1500.0).unwrap();
        let bare = Hop::default();
        assert_eq!(one_packet(&e, &bare, 1).unwrap(), 1360.0);
        assert_eq!(one_packet(&e, &bare, 8).unwrap(), 8.0 * 1360.0 + 7.0 * 314.0);
        let protected = Hop { rts: true, ..bare };
        assert_eq!(one_packet(&e, &protected, 3).unwrap(), 3.0 * (1360.0 + 676.0) + 2.0 * 314.0);
    }

    #[test]
    fn impossible_chains_are_errors() {
        let e = Dsss::long_preamble(2e6).exchange(1500.0).unwrap();
        assert_eq!(one_packet(&e, &Hop::default(), 0).unwrap_err().what, "hops");
        let slow = Hop { link_layer_us: 158.0, ..Hop::default() };
        assert_eq!(one_packet(&e, &slow, 2).unwrap_err().what, "link_layer");
    }
}
