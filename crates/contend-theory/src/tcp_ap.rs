//! The delay by which TCP-AP and its forms with rt-Winf pace, and the contention factor of WE TCP-AP.
//!
//! Barreto 2012 eqs. 2.23 to 2.27 (TCP-AP, after ElRakabawy), 6.1 and 6.2 (with rt-Winf), 6.3 to 6.5 (WE TCP-AP).

use crate::Invalid;
use crate::invalid::{invalid, positive};

/// A path and the packets on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Round-trip time in microseconds.
    pub rtt_us: f64,
    /// h, links of the path.
    pub hops: u32,
    /// S_data, bits of a data packet on the air.
    pub data_bits: f64,
    /// S_ACK, bits of an acknowledgment on the air.
    pub ack_bits: f64,
    /// b or C_Winf in bit/s, from which the queueing delay follows.
    pub capacity_bps: f64,
    /// b or AB_Winf in bit/s, with which the packet is sent.
    pub available_bps: f64,
}

/// t_q, the queueing delay of a hop in microseconds; below 0 if the capacity is too small for the round-trip time. The
/// thesis prints a minus between data and ACK (eqs. 2.26, 6.1); eqs. 2.23 to 2.25 give a plus (spec U5).
///
/// # Errors
/// If there is no hop, or a value is not above 0.
pub fn queueing_us(path: &Path, printed: bool) -> Result<f64, Invalid> {
    if path.hops == 0 {
        return Err(invalid("hops", path.hops, "at least 1"));
    }
    positive("rtt", path.rtt_us)?;
    positive("data", path.data_bits)?;
    positive("ack", path.ack_bits)?;
    positive("capacity", path.capacity_bps)?;
    let both = if printed { path.data_bits - path.ack_bits } else { path.data_bits + path.ack_bits };
    Ok(0.5 * (path.rtt_us / f64::from(path.hops) - 1e6 * both / path.capacity_bps))
}

/// FHD in microseconds: the time of a packet over four hops (eqs. 2.27, 6.2).
///
/// # Errors
/// See [`queueing_us`].
pub fn four_hop_us(path: &Path, printed: bool) -> Result<f64, Invalid> {
    positive("available", path.available_bps)?;
    Ok(4.0 * (queueing_us(path, printed)? + 1e6 * path.data_bits / path.available_bps))
}

/// R, by which WE TCP-AP stretches FHD on a path with `nodes` nodes (NP): 1 + 1/NP above five nodes (eqs. 6.3 to 6.5).
///
/// # Errors
/// If there is no node.
pub fn contention(nodes: u32) -> Result<f64, Invalid> {
    match nodes {
        0 => Err(invalid("nodes", nodes, "at least 1")),
        1..=5 => Ok(1.0),
        _ => Ok(1.0 + 1.0 / f64::from(nodes)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// 1500 B and 112 B of headers, in both directions.
    fn path(bps: f64) -> Path {
        let (data_bits, ack_bits) = (1612.0 * 8.0, 112.0 * 8.0);
        Path { rtt_us: 34_400.0, hops: 8, data_bits, ack_bits, capacity_bps: bps, available_bps: bps }
    }

    #[test]
    fn the_derived_sign_has_the_closed_form_of_equation_2_27() {
        let p = path(2e6);
        let closed = 2.0 * (p.rtt_us / 8.0 + 1e6 * (p.data_bits - p.ack_bits) / p.capacity_bps);
        assert!((four_hop_us(&p, false).unwrap() - closed).abs() < 1e-9);
    }

    #[test]
    fn the_printed_sign_adds_four_times_the_acknowledgment() {
        // Spec U5: t_q is too long by S_ACK / b: by 0.12 ms at 7.4 Mb/s, by 0.45 ms at 2 Mb/s.
        for (bps, late) in [(7.4e6, 121.1), (2e6, 448.0)] {
            let by = |printed| (queueing_us(&path(bps), printed).unwrap(), four_hop_us(&path(bps), printed).unwrap());
            assert!((by(true).0 - by(false).0 - late).abs() < 0.1);
            assert!((by(true).1 - by(false).1 - 4.0 * late).abs() < 0.4);
        }
    }

    #[test]
    fn a_bandwidth_of_2_mbps_on_a_channel_of_11_mbps_halves_the_rate() {
        // Spec C5: FHD is 9.8 ms too long; on an unloaded path with RTT/h = 4.3 ms, t_q is negative.
        let by = |bps| four_hop_us(&path(bps), false).unwrap() / 1000.0;
        assert!((by(2e6) - by(11e6) - 9.82).abs() < 0.005);
        assert!((by(2e6) - 20.6).abs() < 0.1 && (by(11e6) - 10.8).abs() < 0.1);
        assert!(queueing_us(&path(2e6), false).unwrap() < 0.0);
    }

    #[test]
    fn the_contention_factor_falls_as_the_path_grows() {
        // Spec S10.
        for (nodes, want) in
            [(1, 1.0), (5, 1.0), (6, 1.167), (7, 1.143), (8, 1.125), (10, 1.1), (15, 1.067), (16, 1.0625)]
        {
            assert!((contention(nodes).unwrap() - want).abs() < 5e-4);
        }
        assert_eq!(contention(0).unwrap_err().what, "nodes");
    }
}
