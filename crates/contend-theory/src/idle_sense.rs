//! The attempt rate that maximises the throughput of saturated stations, and the mean number of idle slots between
//! their transmissions.
//!
//! Heusse, Rousseau, Guillier, Duda, "Idle Sense: An Optimal Access Method for High Throughput and Fairness in Rate
//! Diverse Wireless LANs", SIGCOMM 2005, as Starzetz 2006 §8.2 and the specification's S26 report it. The paper itself
//! was not available.
//!
//! With many stations the number of attempts in a slot is Poisson with mean zeta. A collision costs T_c, an idle slot
//! T_slot. The throughput is largest if 1 - zeta = eta exp(-zeta) with eta = 1 - T_slot / T_c. The mean number of idle
//! slots between two transmissions is then exp(-zeta) / (1 - exp(-zeta)).

use crate::Invalid;
use crate::invalid::invalid;

/// The operating point with the largest throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// zeta, mean number of attempts in a slot.
    pub zeta: f64,
    /// Mean number of idle slots between two transmissions.
    pub idle_slots: f64,
}

/// The optimum for a collision that lasts `collision` slots. `collision` must be above 1.
///
/// # Errors
/// If `collision` is 1 or less, or so large that rounding makes zeta useless.
pub fn optimum(collision: f64) -> Result<Optimum, Invalid> {
    if !(collision > 1.0 && collision <= 1e9) {
        return Err(invalid("collision", collision, "above 1 slot and at most 1e9"));
    }
    let eta = 1.0 - 1.0 / collision;
    // 1 - z falls from 1 to 0, and eta e^-z falls from eta < 1 to eta / e > 0. The two cross once in (0, 1).
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..80 {
        let z = (low + high) / 2.0;
        if 1.0 - z > eta * libm::exp(-z) { low = z } else { high = z }
    }
    let zeta = (low + high) / 2.0;
    Ok(Optimum { zeta, idle_slots: 1.0 / libm::expm1(zeta) })
}

impl Optimum {
    /// The fixed window with which each of `n` stations attempts in zeta / n of the slots. A draw is from 0..window,
    /// and busy slots count.
    pub fn window(&self, n: u32) -> f64 {
        // Starzetz 2006, specification S26: CW = 2 N / zeta - 1, from the attempt rate 2 / (CW + 1) of a uniform draw.
        2.0 * f64::from(n) / self.zeta - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_of_802_11b_is_the_papers() {
        // Heusse et al. 2005: 5.68 idle slots for 802.11b; S26: T_c / T_slot about 68, zeta 0.1622.
        let o = optimum(68.0).unwrap();
        assert!((o.idle_slots - 5.68).abs() < 0.01 && (o.zeta - 0.1622).abs() < 0.0005, "{o:?}");
    }

    #[test]
    fn the_optimum_has_the_largest_throughput() {
        // A slot is idle with probability e^-z, carries one packet with probability z e^-z, and is a collision
        // otherwise. `rate` is packets per unit of time.
        let rate = |z: f64, tc: f64| {
            let (idle, one) = (libm::exp(-z), z * libm::exp(-z));
            one / (idle + (1.0 - idle) * tc)
        };
        for tc in [3.0, 20.0, 68.0, 500.0] {
            let z = optimum(tc).unwrap().zeta;
            assert!(rate(z, tc) > rate(z * 1.01, tc) && rate(z, tc) > rate(z * 0.99, tc), "{tc}");
        }
    }

    #[test]
    fn a_window_gives_each_its_share_of_the_attempts() {
        let o = optimum(68.0).unwrap();
        for n in [2, 10, 40] {
            let per_station = 2.0 / (o.window(n) + 1.0);
            assert!((per_station * f64::from(n) - o.zeta).abs() < 1e-12);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for x in [1.0, 0.0, -5.0, f64::NAN, f64::INFINITY] {
            assert!(optimum(x).is_err(), "{x}");
        }
    }
}
