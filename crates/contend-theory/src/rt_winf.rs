//! What rt-Winf measures on one idle link and on one saturated link.
//!
//! Barreto 2012 §4.3 eqs. 4.3 to 4.10 and 4.14 (capacity and available bandwidth), eqs. 4.16 and 4.17 (TH_80211b), eqs.
//! 5.19 and 5.20 (the share that IFS and backoff take).
//!
//! The printed capacity leaves out DIFS, backoff, RTS and CTS, so it is above TH_80211b although the thesis says that
//! it is below. [`Capacity::Cycle`] takes the whole cycle and is below. See spec U1.

use crate::Invalid;
use crate::dsss::Exchange;
use crate::invalid::not_negative;

/// Which time the capacity divides the packet by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// Eq. 4.3 and 4.8: from the CTS to the ACK, less two SIFS.
    Sender,
    /// Eq. 4.6: from the RTS to the end of the data, less three SIFS. Only two SIFS separate them.
    Receiver,
    /// Eq. 4.14: from the start of the data to the end of the ACK.
    Probe,
    /// The repaired form: DIFS, backoff and the whole exchange.
    Cycle,
}

/// Capacity in bit/s of an exchange with a mean backoff of `backoff_us`.
///
/// # Errors
/// If the backoff is negative.
pub fn capacity(e: &Exchange, of: Capacity, backoff_us: f64) -> Result<f64, Invalid> {
    not_negative("backoff", backoff_us)?;
    let us = match of {
        Capacity::Sender => e.nav_cts_us() - 2.0 * e.sifs_us,
        Capacity::Receiver => e.sifs_us + e.cts_us + e.sifs_us + e.data_us - 3.0 * e.sifs_us,
        Capacity::Probe => e.data_us + e.sifs_us + e.ack_us,
        Capacity::Cycle => e.cycle_us(backoff_us),
    };
    Ok(1e6 * e.bits / us)
}

/// The share of time that the Duration fields leave free on one saturated link (eq. 4.5, and 4.7 with `rts`): it is not
/// 0, because no Duration field covers DIFS, backoff and RTS.
///
/// # Errors
/// If the backoff is negative.
pub fn unreserved(e: &Exchange, rts: bool, backoff_us: f64) -> Result<f64, Invalid> {
    not_negative("backoff", backoff_us)?;
    let nav = if rts { e.nav_rts_us() } else { e.nav_cts_us() };
    Ok(1.0 - nav / e.cycle_us(backoff_us))
}

/// TH_80211b in bit/s (eqs. 4.16, 4.17). The exchange has three SIFS; the thesis prints one.
///
/// # Errors
/// If the backoff or the number of SIFS is negative.
pub fn limit(e: &Exchange, sifs: f64, backoff_us: f64) -> Result<f64, Invalid> {
    not_negative("backoff", backoff_us)?;
    not_negative("sifs", sifs)?;
    let us = e.difs_us + sifs * e.sifs_us + backoff_us + e.cts_us + e.ack_us + e.rts_us + e.data_us;
    Ok(1e6 * e.bits / us)
}

/// C_extra: the share of the time between two packets that DIFS and backoff take (eq. 5.19). T_m is eq. 5.20: it has no
/// ACK and a second DIFS, as printed.
///
/// # Errors
/// If the backoff is negative.
pub fn overhead(e: &Exchange, backoff_us: f64) -> Result<f64, Invalid> {
    not_negative("backoff", backoff_us)?;
    let between = 2.0 * e.difs_us + 3.0 * e.sifs_us + backoff_us + e.cts_us + e.rts_us + e.data_us;
    Ok((e.difs_us + backoff_us) / between)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dsss::Dsss;

    /// Half of CWmin = 31 slots of 20 us.
    const BACKOFF: f64 = 310.0;

    fn exchange(mbps: f64, bytes: f64) -> Exchange {
        Dsss::long_preamble(mbps * 1e6).exchange(bytes).unwrap()
    }

    #[test]
    fn the_table_of_the_spec() {
        // Spec S1: rate, S, then C_S, C_R, probe C, TH in Mb/s (two decimals), NAV_RTS, NAV_CTS, cycle in us, then AB
        // by CTS and by RTS in Mb/s.
        for (mbps, bytes, want, times, free) in [
            (11.0, 1500.0, [7.44, 7.49, 7.39, 4.55], [1947.0, 1633.0, 2659.0], [2.87, 2.00]),
            (11.0, 1440.0, [7.34, 7.39, 7.29, 4.44], [1904.0, 1590.0, 2616.0], [2.88, 2.01]),
            (11.0, 1000.0, [6.40, 6.45, 6.35, 3.52], [1584.0, 1270.0, 2296.0], [2.86, 2.00]),
            (11.0, 300.0, [3.24, 3.29, 3.20, 1.36], [1074.0, 760.0, 1786.0], [1.86, 1.31]),
            (10.0, 1500.0, [6.96, 7.00, 6.92, 4.36], [2059.0, 1745.0, 2771.0], [2.58, 1.80]),
            (5.5, 1500.0, [4.40, 4.41, 4.38, 3.20], [3064.0, 2750.0, 3776.0], [1.19, 0.83]),
        ] {
            let e = exchange(mbps, bytes);
            let of = |c| capacity(&e, c, BACKOFF).unwrap() / 1e6;
            let got = [of(Capacity::Sender), of(Capacity::Receiver), of(Capacity::Probe)];
            for (g, w) in got.into_iter().chain([limit(&e, 1.0, BACKOFF).unwrap() / 1e6]).zip(want) {
                assert!((g - w).abs() < 0.006, "{mbps} Mb/s {bytes} B: {g} {w}");
            }
            // The spec's times come from a data frame in whole microseconds.
            for (g, w) in [e.nav_rts_us(), e.nav_cts_us(), e.cycle_us(BACKOFF)].iter().zip(times) {
                assert!((g - w).abs() < 0.6, "{mbps} Mb/s {bytes} B: {g} {w}");
            }
            let by_cts = got[0] * unreserved(&e, false, BACKOFF).unwrap();
            let by_rts = got[1] * unreserved(&e, true, BACKOFF).unwrap();
            for (g, w) in [by_cts, by_rts].iter().zip(free) {
                assert!((g - w).abs() < 0.011, "{mbps} Mb/s {bytes} B: {g} {w}");
            }
        }
    }

    #[test]
    fn the_whole_cycle_satisfies_the_claim_that_the_printed_form_contradicts() {
        // Spec U1: the literal capacity is above TH, the cycle's is 4.51 Mb/s and below. TH with the three SIFS of the
        // real exchange is the cycle.
        let e = exchange(11.0, 1500.0);
        let th = limit(&e, 1.0, BACKOFF).unwrap();
        let cycle = capacity(&e, Capacity::Cycle, BACKOFF).unwrap();
        assert!(capacity(&e, Capacity::Sender, BACKOFF).unwrap() > th && cycle < th);
        assert!((cycle / 1e6 - 4.51).abs() < 0.005);
        assert!((limit(&e, 3.0, BACKOFF).unwrap() - cycle).abs() < 1e-6);
    }

    #[test]
    fn a_small_packet_drags_the_printed_capacity_down() {
        // Spec U1b: a TCP ACK of 40 B gives 0.58 Mb/s, 512 B give 4.58 Mb/s.
        for (bytes, want) in [(40.0, 0.58), (512.0, 4.58)] {
            let c = capacity(&exchange(11.0, bytes), Capacity::Sender, BACKOFF).unwrap() / 1e6;
            assert!((c - want).abs() < 0.006, "{bytes} B: {c} {want}");
        }
    }

    #[test]
    fn ifs_and_backoff_take_the_share_of_the_spec() {
        // Spec S7: C_extra = 0.150.
        assert!((overhead(&exchange(11.0, 1500.0), BACKOFF).unwrap() - 0.150).abs() < 5e-4);
        assert_eq!(overhead(&exchange(11.0, 1500.0), -1.0).unwrap_err().what, "backoff");
    }
}
