//! Where RCP settles, and what Barreto's form of its law does instead.
//!
//! Barreto 2012 eqs. 2.21, 2.22 and 5.15; RCP after Dukkipati 2008.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive};

/// One step of RCP's law: the factor by which a router multiplies its rate (eq. 5.15, with the load y in place of
/// C_Winf). The literal form of RCP-Winf has `load` = `capacity`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// C in any unit of rate.
    pub capacity: f64,
    /// y, the load in the unit of the capacity.
    pub load: f64,
    /// q, the queue in the unit of the capacity times seconds.
    pub queue: f64,
    /// d, mean round-trip time in seconds.
    pub rtt_s: f64,
    /// T, time since the last step in seconds.
    pub interval_s: f64,
    /// Gain of the spare capacity.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// eta or C_w, target utilisation.
    pub utilisation: f64,
}

impl Step {
    /// The factor.
    ///
    /// # Errors
    /// If capacity, target, round-trip time or interval is not above 0, or another value is negative.
    pub fn factor(&self) -> Result<f64, Invalid> {
        positive("capacity", self.capacity)?;
        positive("utilisation", self.utilisation)?;
        positive("rtt", self.rtt_s)?;
        positive("interval", self.interval_s)?;
        for (what, x) in [("load", self.load), ("queue", self.queue), ("alpha", self.alpha), ("beta", self.beta)] {
            not_negative(what, x)?;
        }
        let target = self.utilisation * self.capacity;
        let change = self.alpha * (target - self.load) - self.beta * self.queue / self.rtt_s;
        Ok(1.0 + self.interval_s / self.rtt_s * change / target)
    }
}

/// The rate of each of `flows` long flows at rest, in the unit of `capacity`: eta C / N, with an empty queue.
///
/// # Errors
/// If there is no flow, or a value is not above 0.
pub fn rest_rate(capacity: f64, utilisation: f64, flows: u32) -> Result<f64, Invalid> {
    if flows == 0 {
        return Err(invalid("n", flows, "at least 1"));
    }
    Ok(positive("capacity", capacity)? * positive("utilisation", utilisation)? / f64::from(flows))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn step(load: f64) -> Step {
        let (alpha, beta, utilisation) = (0.4, 0.4, 0.95);
        Step { capacity: 11e6, load, queue: 0.0, rtt_s: 0.2, interval_s: 0.2, alpha, beta, utilisation }
    }

    #[test]
    fn the_rest_point_needs_no_change() {
        let rate = rest_rate(11e6, 0.95, 7).unwrap();
        assert_eq!(step(7.0 * rate).factor().unwrap(), 1.0);
        assert!((rate - 11e6 * 0.95 / 7.0).abs() < 1e-6);
    }

    #[test]
    fn a_small_error_shrinks_by_alpha_in_each_step() {
        // To first order e' = e (1 - alpha T / d).
        let e = 1e-6;
        let next = (1.0 + e) * step(0.95 * 11e6 * (1.0 + e)).factor().unwrap() - 1.0;
        assert!((next / e - 0.6).abs() < 1e-5);
    }

    #[test]
    fn with_the_capacity_as_load_the_rate_only_falls() {
        // Spec U4: by 2.1 % in each round trip at C_w = 0.95, 1.2 % at 0.97, 0.4 % at 0.99.
        for (utilisation, fall) in [(0.95, 0.021), (0.97, 0.012), (0.99, 0.004)] {
            let factor = Step { utilisation, ..step(11e6) }.factor().unwrap();
            assert!((1.0 - factor - fall).abs() < 5e-4);
        }
    }

    #[test]
    fn impossible_steps_are_errors() {
        assert_eq!(Step { rtt_s: 0.0, ..step(1.0) }.factor().unwrap_err().what, "rtt");
        assert_eq!(step(-1.0).factor().unwrap_err().what, "load");
        assert_eq!(rest_rate(1.0, 1.0, 0).unwrap_err().what, "n");
    }
}
