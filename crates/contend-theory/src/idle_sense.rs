//! The attempt rate at which saturated stations carry the most, and how many slots are then idle between transmissions.
//!
//! Heusse, Rousseau, Guillier, Duda, "Idle Sense: An Optimal Access Method for High Throughput and Fairness in Rate
//! Diverse Wireless LANs", SIGCOMM 2005, as Starzetz 2006 §8.2 and the specification's S26 report it; the paper itself
//! is not among ours.
//!
//! With many stations the attempts in a slot are Poisson with mean zeta. A collision costs T_c, an idle slot T_slot;
//! the throughput is largest where 1 - zeta = eta exp(-zeta), eta = 1 - T_slot / T_c. The idle slots between two
//! transmissions are then exp(-zeta) / (1 - exp(-zeta)) in the mean.

use crate::Invalid;
use crate::invalid::invalid;

/// Where saturated stations carry the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// zeta, mean number of attempts in a slot.
    pub zeta: f64,
    /// Mean number of idle slots between two transmissions.
    pub idle_slots: f64,
}

/// The optimum when a collision takes `collision` slots, more than one.
///
/// # Errors
/// When a collision is no longer than a slot, or so long that zeta is lost in rounding.
pub fn optimum(collision: f64) -> Result<Optimum, Invalid> {
    if !(collision > 1.0 && collision <= 1e9) {
        return Err(invalid("collision", collision, "above 1 slot and at most 1e9"));
    }
    let eta = 1.0 - 1.0 / collision;
    // 1 - z falls from 1 to 0, eta e^-z from eta < 1 to eta / e > 0: they meet once in (0, 1).
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..80 {
        let z = (low + high) / 2.0;
        if 1.0 - z > eta * libm::exp(-z) { low = z } else { high = z }
    }
    let zeta = (low + high) / 2.0;
    Ok(Optimum { zeta, idle_slots: 1.0 / libm::expm1(zeta) })
}

impl Optimum {
    /// The fixed window with which each of `n` stations attempts in zeta / n of the slots, where a draw is one of
    /// 0..window and busy slots count.
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
        // Slots are idle with e^-z, carry one packet with z e^-z, and collide otherwise; packets per unit of time.
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
