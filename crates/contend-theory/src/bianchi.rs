//! Saturation throughput of n stations under DCF, by the decoupling approximation.
//!
//! Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000. The
//! limit on attempts follows the renewal argument of Bianchi and Tinnirello, "Remarks on IEEE 802.11 DCF Performance
//! Analysis", IEEE Communications Letters 9(8), 2005. A station in stage j has a mean backoff of (W_j-1)/2 slots and
//! then uses one slot for its attempt. An attempt is in stage j with a probability proportional to p^j.
//!
//! Differences from the paper:
//! - One formula serves both cases. Without a limit it is the paper's eq. 7. It also holds if CWmax+1 is not a power of
//!   two times CWmin+1.
//! - In the paper a busy slot also decrements the backoff of the listeners (`busy_slot = "counted"`). Real DCF freezes
//!   the backoff. For n = 2 see `two_station`.

use crate::Invalid;
use crate::dcf::{Backoff, SlotTimes};
use crate::invalid::invalid;

/// The largest number of stations accepted.
pub const STATIONS_LIMIT: u32 = 1_000_000;

/// Results for saturated stations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// τ, probability that a station transmits in a slot.
    pub tau: f64,
    /// p, probability that an attempt collides.
    pub p: f64,
    /// P_tr, probability that a slot holds at least one transmission.
    pub p_tr: f64,
    /// P_s, probability that a slot with a transmission holds a success.
    pub p_s: f64,
    /// Mean number of idle slots before a transmission (successful or not).
    pub idle_slots: f64,
    /// E\[slot\], mean duration of a slot of any kind, µs.
    pub mean_slot_us: f64,
    /// S, throughput of all stations together, bit/s.
    pub throughput_bps: f64,
    /// Probability that a packet is dropped after its last attempt.
    pub drop: f64,
    /// Mean time a packet spends at the head of its station, until success or drop, µs. Infinite if no packet ever
    /// leaves.
    pub service_us: f64,
}

/// Transmission probability of a station per slot, when its attempts collide with probability `p`. Returns an error
/// unless `p` is in 0..=1.
pub fn tau(backoff: &Backoff, p: f64) -> Result<f64, Invalid> {
    // Bianchi 2000 eq. 7. With a limit, Bianchi and Tinnirello 2005: sum p^j / sum p^j (1 + (W_j-1)/2).
    Ok(1.0 / (1.0 + backoff.slots_per_attempt(p)?))
}

/// Solves τ = τ(p), p = 1-(1-τ)^(n-1) for n stations. Returns (τ, p) with p to 1e-14. Returns an error for 0 or more
/// than [`STATIONS_LIMIT`] stations.
pub fn fixed_point(backoff: &Backoff, n: u32) -> Result<(f64, f64), Invalid> {
    if !(1..=STATIONS_LIMIT).contains(&n) {
        return Err(invalid("n", n, "between 1 and 1000000 stations"));
    }
    // τ(p) falls with p, because later stages have longer windows. There is one root, and bisection finds it.
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-15 {
        let p = (low + high) / 2.0;
        if collision(tau(backoff, p)?, n) > p {
            low = p;
        } else {
            high = p;
        }
    }
    let tau = tau(backoff, (low + high) / 2.0)?;
    Ok((tau, collision(tau, n)))
}

/// Saturation throughput and delay of `n` stations that always have a packet of the same length. Errors: see
/// [`fixed_point`] and [`SlotTimes::check`].
pub fn saturation(backoff: &Backoff, times: &SlotTimes, n: u32) -> Result<Saturation, Invalid> {
    times.check()?;
    let (tau, p) = fixed_point(backoff, n)?;
    // Bianchi 2000 eq. 10: P_tr = 1-(1-τ)^n.
    let p_tr = 1.0 - (1.0 - p) * (1.0 - tau);
    // Bianchi 2000 eq. 11: P_s = nτ(1-τ)^(n-1)/P_tr.
    let p_s = f64::from(n) * tau * (1.0 - p) / p_tr;
    // Bianchi 2000 eq. 13. The denominator is the mean slot.
    let mean_slot_us = (1.0 - p_tr) * times.slot_us + p_tr * (p_s * times.ts_us + (1.0 - p_s) * times.tc_us);
    Ok(Saturation {
        tau,
        p,
        p_tr,
        p_s,
        idle_slots: (1.0 - p_tr) / p_tr,
        mean_slot_us,
        throughput_bps: p_s * p_tr * times.payload_bits / mean_slot_us * 1e6,
        drop: backoff.drop_probability(p)?,
        // A station attempts every 1/τ slots.
        service_us: backoff.attempts_per_packet(p)? * mean_slot_us / tau,
    })
}

/// Bianchi 2000 eq. 9: p = 1-(1-τ)^(n-1), without cancellation for small τ.
fn collision(tau: f64, n: u32) -> f64 {
    if n == 1 {
        return 0.0;
    }
    -(f64::from(n - 1) * (-tau).ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ENDLESS: Backoff = Backoff { cw_min: 15, cw_max: 1023, attempts: None };
    const SEVEN: Backoff = Backoff { attempts: Some(7), ..ENDLESS };
    /// 802.11g, 54/6 Mb/s, short slot, 1500 B (Keceli set A).
    const TIMES: SlotTimes = SlotTimes { slot_us: 9.0, ts_us: 342.0, tc_us: 342.0, payload_bits: 12_000.0 };

    fn near(got: f64, want: f64, relative: f64) {
        assert!((got / want - 1.0).abs() <= relative, "{got} is not within {relative} of {want}");
    }

    #[test]
    fn two_stations_have_the_fixed_points_of_keceli() {
        // Spec S2.2 prints 0.104622 and 0.057037; its own program gives 0.1046206 and 0.0570443.
        for (cw_min, want) in [(15, 0.104_622), (31, 0.057_037)] {
            let (tau, p) = fixed_point(&Backoff { cw_min, ..ENDLESS }, 2).unwrap();
            assert!((tau - want).abs() < 1e-5 && (p - want).abs() < 1e-5);
            assert!((tau - p).abs() < 1e-14);
        }
    }

    #[test]
    fn without_a_limit_tau_is_the_printed_equation_7() {
        let (w, m) = (32.0, 5);
        let law = Backoff { cw_min: 31, ..ENDLESS };
        for p in [0.0, 0.01, 0.3, 0.49, 0.7, 0.99] {
            let q = 1.0 - 2.0 * p;
            let printed = 2.0 * q / (q * (w + 1.0) + p * w * (1.0 - (2.0f64 * p).powi(m)));
            near(tau(&law, p).unwrap(), printed, 1e-13);
        }
    }

    #[test]
    fn a_single_window_has_the_closed_form_of_equation_8() {
        let law = Backoff { cw_max: 15, ..ENDLESS };
        for n in [1, 2, 10] {
            near(fixed_point(&law, n).unwrap().0, 2.0 / 17.0, 1e-14);
        }
    }

    #[test]
    fn one_station_never_collides_and_waits_half_a_window() {
        let s = saturation(&SEVEN, &TIMES, 1).unwrap();
        assert_eq!((s.p, s.drop), (0.0, 0.0));
        near(s.p_s, 1.0, 1e-14);
        near(s.idle_slots, 7.5, 1e-14);
        near(s.service_us, 7.5 * 9.0 + 342.0, 1e-14);
        near(s.throughput_bps, 12_000.0 / s.service_us * 1e6, 1e-14);
    }

    #[test]
    fn ns3_computes_the_same_throughput() {
        // ns-3 3.4x src/wifi/examples/reference/bianchi_11g_eifs.txt, 54 Mb/s (MAC ACK at 24 Mb/s). That program solves
        // the equations on a grid of 1e-4 in τ. There the winner keeps the channel with probability 1/W, so that a
        // success is longer and carries more payload.
        let again = 1.0 / (1.0 - 1.0 / 16.0);
        let exchange = 254.0 + 10.0 + 34.0 + 28.0 + 0.1;
        let times =
            SlotTimes { slot_us: 9.0, ts_us: exchange * again + 9.0, tc_us: exchange, payload_bits: 12_000.0 * again };
        for (n, mbps) in [(5, 29.2861), (10, 27.3763), (20, 25.3325), (35, 23.5719), (50, 22.4162)] {
            let s = saturation(&ENDLESS, &times, n).unwrap();
            near(s.throughput_bps / 1e6, mbps, 1e-3);
        }
    }

    #[test]
    fn slot_monte_carlo_agrees_within_the_error_of_decoupling() {
        // reference/results.csv case C, 342 µs per exchange, at most seven attempts, frozen counters. Frozen counters
        // collide less, because only the winner can use the slot after its success. With counted busy slots p would be
        // 0.492 at n = 20.
        for (n, mbps, p) in [(1, 29.30, 0.0), (5, 27.86, 0.265), (20, 23.81, 0.476)] {
            let s = saturation(&SEVEN, &TIMES, n).unwrap();
            near(s.throughput_bps / 1e6, mbps, 0.02);
            assert!((s.p - p).abs() < 0.02, "n = {n}: p = {}", s.p);
        }
    }

    #[test]
    fn packets_are_conserved() {
        for n in [1, 2, 5, 50, 500] {
            let s = saturation(&SEVEN, &TIMES, n).unwrap();
            // n stations finish a packet in every service time. The delivered share of these packets is the throughput.
            let finished = f64::from(n) / s.service_us * 1e6;
            near(finished * (1.0 - s.drop) * TIMES.payload_bits, s.throughput_bps, 1e-11);
            assert!((s.drop - s.p.powi(7)).abs() < 1e-14);
        }
    }

    #[test]
    fn no_number_of_stations_breaks_it() {
        let narrow = Backoff { cw_min: 0, cw_max: 0, attempts: None };
        for law in [ENDLESS, SEVEN, narrow] {
            let mut before = -1.0;
            for n in [1, 2, 3, 10, 100, 1000, 5000, STATIONS_LIMIT] {
                let s = saturation(&law, &TIMES, n).unwrap();
                let all = [s.tau, s.p, s.p_tr, s.p_s, s.idle_slots, s.throughput_bps, s.drop];
                assert!(all.iter().all(|x| x.is_finite() && *x >= 0.0), "n = {n}: {s:?}");
                assert!(s.p >= before && s.p <= 1.0 && s.p_s <= 1.0 + 1e-14 && s.service_us > 0.0);
                let (tau, p) = (s.tau, s.p);
                assert!((super::tau(&law, p).unwrap() - tau).abs() < 1e-13);
                before = s.p;
            }
        }
    }

    #[test]
    fn no_stations_is_an_error() {
        assert_eq!(saturation(&SEVEN, &TIMES, 0).unwrap_err().what, "n");
        assert_eq!(saturation(&SEVEN, &TIMES, STATIONS_LIMIT + 1).unwrap_err().what, "n");
    }
}
