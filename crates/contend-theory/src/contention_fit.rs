//! Mean empty slots before a frame in a saturated 802.11b cell, as a sum of exponentials.
//!
//! Starzetz 2006 eq. 9.3: a fit to a simulation, CW 32 to 1024, with no claim that the curve is exponential.
//!
//! Differences from the source: none.

use crate::Invalid;
use crate::invalid::invalid;

/// contention(N), slots; an error for no station.
pub fn contention_fit(stations: u32) -> Result<f64, Invalid> {
    if stations == 0 {
        return Err(invalid("stations", 0, "at least one"));
    }
    let n = f64::from(stations);
    // Starzetz 2006 eq. 9.3.
    let terms = [(31.43747, 0.85404), (5.03185, 5.48378), (1.24346, 61.45172)];
    Ok(terms.iter().map(|(a, n0)| a * libm::exp(-n / n0)).sum::<f64>() + 0.32783)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_fit_has_the_values_of_the_spec() {
        // Spec S16; for one station the mean of 0..=31.
        let of = [
            (2, 8.05),
            (3, 5.36),
            (4, 4.21),
            (5, 3.59),
            (6, 3.17),
            (8, 2.59),
            (10, 2.20),
            (15, 1.63),
            (20, 1.36),
            (30, 1.11),
            (40, 0.98),
            (60, 0.80),
            (100, 0.57),
        ];
        for (n, slots) in of {
            assert!((contention_fit(n).unwrap() - slots).abs() < 0.0051, "{n}");
        }
        assert!((contention_fit(1).unwrap() - 15.5).abs() < 0.02);
        assert_eq!(contention_fit(0).unwrap_err().what, "stations");
    }
}
