//! Effective contention window: the size of the hash table H that has the same collision rate as the method under
//! study, with the same number of stations.
//!
//! Starzetz 2006 §8.1.1: H is the reference for every access method, whatever windows the method itself uses. §8.2:
//! HASH1's window is a linear function of the number of stations.
//!
//! Differences from the source: between two whole windows the collision rate is interpolated linearly. The source says
//! only that the rate is bracketed and interpolated.

use crate::Invalid;
use crate::hash_table::{Contention, contention};
use crate::invalid::{invalid, not_negative, probability};
use crate::slots::{Family, MOST_SLOTS};

/// The window in slots in which `stations` with backoffs of this family have the collision share `collision`. The
/// result is interpolated between whole numbers.
///
/// # Errors
/// If there are fewer than two stations, because one station never collides. If `collision` is not a probability, is 0,
/// or needs more than [`MOST_SLOTS`] slots.
pub fn window_of(family: Family, stations: u32, collision: f64) -> Result<f64, Invalid> {
    if stations < 2 {
        return Err(invalid("stations", stations, "at least two, or none collide"));
    }
    let want = probability("collision", collision)?;
    let at = |cw: u32| Ok::<f64, Invalid>(contention(&family.slots(cw)?, stations)?.collision);
    // With one slot, every cycle is a collision.
    let (mut low, mut at_low) = (1, 1.0);
    if want >= at_low {
        return Ok(1.0);
    }
    let (mut high, mut at_high) = (2, at(2)?);
    while at_high > want {
        if high >= MOST_SLOTS {
            return Err(invalid("collision", want, &format!("at least {at_high:.3e}, that of {MOST_SLOTS} slots")));
        }
        (low, at_low, high) = (high, at_high, high * 2);
        at_high = at(high)?;
    }
    // The collision rate falls as the window grows: bisect to two neighbouring windows.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let rate = at(middle)?;
        if rate > want {
            (low, at_low) = (middle, rate);
        } else {
            (high, at_high) = (middle, rate);
        }
    }
    Ok(f64::from(low) + (at_low - want) / (at_low - at_high))
}

/// Contention among `stations` in H of `window` slots, interpolated between whole windows. Returns an error unless
/// `window` is between 1 and [`MOST_SLOTS`].
pub fn reference(stations: u32, window: f64) -> Result<Contention, Invalid> {
    if !(1.0..=f64::from(MOST_SLOTS)).contains(&window) {
        return Err(invalid("window", window, "between 1 and 1048576 slots"));
    }
    let at = |cw: u32| contention(&Family::Uniform.slots(cw)?, stations);
    let (low, part) = (window.floor() as u32, window.fract());
    let a = at(low)?;
    if part == 0.0 {
        return Ok(a);
    }
    let b = at(low + 1)?;
    let mix = |x: f64, y: f64| x + (y - x) * part;
    let either = |x: Option<f64>, y: Option<f64>| match (x, y) {
        (Some(x), Some(y)) => Some(mix(x, y)),
        (x, y) => x.or(y),
    };
    Ok(Contention {
        success: mix(a.success, b.success),
        collision: mix(a.collision, b.collision),
        success_wait: either(a.success_wait, b.success_wait),
        collision_wait: either(a.collision_wait, b.collision_wait),
    })
}

/// Measured results of an access method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// p_c, share of contention cycles that end in a collision.
    pub collision: f64,
    /// W_T, mean empty slots before a success.
    pub success_wait: f64,
    /// W_C, mean empty slots before a collision.
    pub collision_wait: f64,
}

/// Comparison of a method with H at the same collision rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Both waits are shorter: "channel cooperative".
    Better,
    /// Both waits are longer.
    Worse,
    /// Any other combination, for example one wait shorter and the other longer.
    Mixed,
    /// Both waits are equal to those of H.
    Same,
}

/// The result of a comparison with H.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// C*, the effective contention window, slots.
    pub window: f64,
    /// Contention in H with this window.
    pub reference: Contention,
    /// The result of the comparison of the waits.
    pub standing: Standing,
}

/// Compares `measured` of `stations` with H at the same collision rate. Waits that differ by at most `within` slots
/// count as equal. Errors: see [`window_of`]; also an error for negative waits.
pub fn beside(stations: u32, measured: &Measured, within: f64) -> Result<Beside, Invalid> {
    not_negative("within", within)?;
    not_negative("success_wait", measured.success_wait)?;
    not_negative("collision_wait", measured.collision_wait)?;
    let window = window_of(Family::Uniform, stations, measured.collision)?;
    let reference = reference(stations, window)?;
    // -1: shorter, 1: longer. If H has no such wait, the wait of H counts as 0.
    let side = |x: f64, of: Option<f64>| {
        let difference = x - of.unwrap_or(0.0);
        if difference.abs() <= within { 0 } else { difference.signum() as i32 }
    };
    let standing = match (
        side(measured.success_wait, reference.success_wait),
        side(measured.collision_wait, reference.collision_wait),
    ) {
        (-1, -1) => Standing::Better,
        (1, 1) => Standing::Worse,
        (0, 0) => Standing::Same,
        _ => Standing::Mixed,
    };
    Ok(Beside { window, reference, standing })
}

/// CW = A + B N.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// A, slots.
    pub at_zero: f64,
    /// B, slots per station.
    pub slope: f64,
}

/// The least-squares line through `points` (N, CW). Returns an error unless at least two points have different N.
pub fn least_squares(points: &[(f64, f64)]) -> Result<Line, Invalid> {
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    if spread.is_nan() || spread <= 0.0 {
        return Err(invalid("points", points.len(), "at least two with different numbers of stations"));
    }
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
    Ok(Line { at_zero: y - slope * x, slope })
}

/// HASH1's matching rule: the line of windows in which backoffs of `family` have the collision rates of the targets (N,
/// p_c). Errors: see [`window_of`] and [`least_squares`].
pub fn matching(family: Family, targets: &[(u32, f64)]) -> Result<Line, Invalid> {
    let points = targets
        .iter()
        .map(|(n, p)| Ok((f64::from(*n), window_of(family, *n, *p)?)))
        .collect::<Result<Vec<_>, Invalid>>()?;
    least_squares(&points)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn uniform(n: u32, collision: f64) -> f64 {
        window_of(Family::Uniform, n, collision).unwrap()
    }

    #[test]
    fn two_stations_that_collide_once_in_c_cycles_have_a_window_of_c() {
        // p_c of two stations is 1/C; between windows 33 and 34 p_c is interpolated linearly.
        assert!((uniform(2, 1.0 / 32.0) - 32.0).abs() < 1e-9);
        assert!((uniform(2, 0.5 * (1.0 / 33.0 + 1.0 / 34.0)) - 33.5).abs() < 1e-9);
        assert_eq!(uniform(2, 1.0), 1.0);
    }

    #[test]
    fn windows_of_802_11_are_those_of_the_spec() {
        // Spec E11 and E12: p_c of 802.11 from the specification's own simulation, and the windows that this simulation
        // gave. p_c has three digits.
        for (n, collision, window) in
            [(2, 0.030, 33.1), (5, 0.097, 25.06), (10, 0.163, 29.2), (20, 0.232, 39.6), (40, 0.307, 58.0)]
        {
            let off = uniform(n, collision) / window - 1.0;
            assert!(off.abs() < 0.5 * 0.001 / collision + 0.005, "{n}: {off}");
        }
    }

    #[test]
    fn hash1_matches_idle_sense_with_the_windows_of_the_spec() {
        // Spec U16b and E17: effective windows of Idle Sense. Spec S5: windows of HASH1 with the same collision rates.
        for (n, idle_sense, hash1) in [(2, 23.9, 32.0), (15, 98.7, 191.0), (40, 252.7, 500.0)] {
            let collision = reference(n, idle_sense).unwrap().collision;
            let window = window_of(Family::Hash1, n, collision).unwrap();
            assert!((window - hash1).abs() <= 0.005 * hash1 + 0.5, "{n}: {window}");
        }
    }

    #[test]
    fn hash1_needs_about_twelve_slots_for_each_station() {
        // Spec E11: the effective window of Idle Sense is 98.7 at N = 15 and grows by 6 slots per station (6.13 from 5
        // to 40). Thesis §8.2: B about 12. Spec: B 12.3 to 12.5, A 6 to 7.
        let targets: Vec<(u32, f64)> = [5, 10, 15, 20, 30, 40]
            .map(|n| (n, reference(n, 98.7 + 6.13 * (f64::from(n) - 15.0)).unwrap().collision))
            .to_vec();
        let line = matching(Family::Hash1, &targets).unwrap();
        assert!((12.2..12.6).contains(&line.slope) && (4.0..9.0).contains(&line.at_zero), "{line:?}");
    }

    #[test]
    fn a_method_is_better_when_both_waits_are_shorter() {
        // Spec E12 to E14, 802.11 against H: at N = 2 both waits are shorter; at N = 10 one is equal and one shorter.
        let of = |n, collision, success_wait, collision_wait| {
            beside(n, &Measured { collision, success_wait, collision_wait }, 0.05).unwrap().standing
        };
        assert_eq!(of(2, 0.0302, 7.96, 10.5), Standing::Better);
        assert_eq!(of(10, 0.163, 2.16, 2.23), Standing::Mixed);
        assert_eq!(of(2, 0.0302, 12.0, 20.0), Standing::Worse);
        let h = reference(7, 50.0).unwrap();
        assert_eq!(of(7, h.collision, h.success_wait.unwrap(), h.collision_wait.unwrap()), Standing::Same);
    }

    #[test]
    fn a_line_comes_back_from_its_points() {
        // By hand: (1, 1), (2, 3), (3, 2): slope 1/2 through the mean (2, 2).
        let line = least_squares(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]).unwrap();
        assert!((line.slope - 0.5).abs() < 1e-15 && (line.at_zero - 1.0).abs() < 1e-15);
        assert_eq!(least_squares(&[(2.0, 1.0), (2.0, 3.0)]).unwrap_err().what, "points");
        assert_eq!(least_squares(&[]).unwrap_err().what, "points");
    }

    #[test]
    fn what_no_window_gives_is_an_error() {
        let error = |n, p| window_of(Family::Uniform, n, p).unwrap_err();
        assert_eq!(error(1, 0.1).what, "stations");
        assert_eq!(error(2, 1.1).what, "collision");
        assert!(error(2, 0.0).why.contains("at least 9.5"), "{}", error(2, 0.0));
        assert_eq!(reference(2, 0.5).unwrap_err().what, "window");
        assert_eq!(reference(2, f64::NAN).unwrap_err().what, "window");
    }

    proptest! {
        #[test]
        fn the_window_of_a_rate_has_that_rate(
            n in 2..=256u32, cw in 1..2000u32, part in 0.0..1.0f64, hash1 in any::<bool>(),
        ) {
            let family = if hash1 { Family::Hash1 } else { Family::Uniform };
            let at = |cw| contention(&family.slots(cw).unwrap(), n).unwrap().collision;
            let (a, b) = (at(cw), at(cw + 1));
            // With far more stations than slots every cycle is a collision, and windows cannot be distinguished.
            prop_assume!(a - b > 1e-9);
            let window = window_of(family, n, a + (b - a) * part).unwrap();
            prop_assert!((window - f64::from(cw) - part).abs() < 1e-5, "{}", window);
        }
    }
}
