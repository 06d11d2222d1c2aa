//! Fluid models of TCP Reno and TCP-Jersey: their equilibrium under a constant share of congestion indications, and the
//! way to this equilibrium.
//!
//! Xu, "TCP Performance Enhancement in Wireless Networks via Adaptive Congestion Control and Active Queue Management",
//! 2005 (Jersey 2005), §8.3 and §8.4.1, eqs. 8.18-8.24. Windows are in packets, rates in packets/s.
//!
//! Differences from the source:
//! - q, the share of packets that carry a congestion indication, is a constant. It does not depend on the network.
//! - The round-trip time of a course is constant. It does not depend on a queue.

use crate::Invalid;
use crate::delayed::{Grid, integrate};
use crate::invalid::{invalid, positive, probability};

/// Round-trip time and propagation delay of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// τ, round-trip time, s.
    pub rtt_s: f64,
    /// d, round-trip propagation delay, s; at most τ.
    pub delay_s: f64,
}

impl Path {
    /// d/τ, in 0..=1. Returns an error if a time is not above 0 or d exceeds τ.
    pub fn eta(&self) -> Result<f64, Invalid> {
        let (d, rtt) = (positive("delay_s", self.delay_s)?, positive("rtt_s", self.rtt_s)?);
        if d > rtt { Err(invalid("delay_s", d, "at most rtt_s")) } else { Ok(d / rtt) }
    }
}

/// The equilibrium of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// x*, sending rate, packets/s.
    pub rate_pps: f64,
    /// w*, window, packets.
    pub window: f64,
    /// r*, the source's estimate of the achievable rate, packets/s.
    pub estimate_pps: f64,
}

/// Equilibrium of Reno (additive increase, multiplicative decrease) when a share 0 < `q` <= 1 of its packets carries a
/// congestion indication.
pub fn reno(q: f64, path: &Path) -> Result<Rest, Invalid> {
    path.eta()?;
    // Jersey 2005 eq. 8.21.
    let window = (2.0 * (1.0 - indicated(q)?) / q).sqrt();
    let rate_pps = window / path.rtt_s;
    Ok(Rest { rate_pps, window, estimate_pps: rate_pps * (1.0 - q) })
}

/// Equilibrium of TCP-Jersey (additive increase, adaptive decrease) when a share 0 < `q` <= 1 of its packets carries a
/// congestion indication.
pub fn jersey(q: f64, path: &Path) -> Result<Rest, Invalid> {
    let eta = path.eta()?;
    // Jersey 2005 eq. 8.22: x*^2 = (1-q) / (τ d q^2 + (τ^2 - τ d) q).
    let window = ((1.0 - indicated(q)?) / (eta * q * q + (1.0 - eta) * q)).sqrt();
    let rate_pps = window / path.rtt_s;
    Ok(Rest { rate_pps, window, estimate_pps: rate_pps * (1.0 - q) })
}

/// Δ, the ratio of Reno's rate to Jersey's rate, for the same path with d/τ = `eta` and the same 0 < `q` < 1. Jersey is
/// faster if Δ is below 1.
pub fn ratio(q: f64, eta: f64) -> Result<f64, Invalid> {
    indicated(q)?;
    // Jersey 2005 eq. 8.23. Eq. 8.24 is its limit for d/τ = 1. Δ is below 1 exactly if (1-q) d/τ > 1/2.
    Ok((2.0 * (1.0 - (1.0 - q) * probability("eta", eta)?)).sqrt())
}

/// Reno's window in packets at the instants of `grid`. Before time 0 the window was constant at `window`.
pub fn reno_course(q: f64, path: &Path, window: f64, grid: &Grid) -> Result<Vec<f64>, Invalid> {
    path.eta()?;
    indicated(q)?;
    let states = integrate(&[positive("window", window)?], &[path.rtt_s], grid, |at, rate| {
        let (w, x) = (at.now(0), at.ago(0, 0) / path.rtt_s);
        // Jersey 2005 eq. 8.18.
        rate[0] = x * (1.0 - q) / w - x * q * w / 2.0;
    })?;
    Ok(states.iter().map(|s| s[0]).collect())
}

/// Jersey's window in packets and its estimate in packets/s at the instants of `grid`. Before time 0 the window was
/// constant at `window`, and the estimate was window/τ, the estimate without loss. `zeta_s` is ζ, the time constant of
/// the estimator.
pub fn jersey_course(q: f64, path: &Path, zeta_s: f64, window: f64, grid: &Grid) -> Result<Vec<(f64, f64)>, Invalid> {
    path.eta()?;
    indicated(q)?;
    let zeta = positive("zeta_s", zeta_s)?;
    let start = [positive("window", window)?, window / path.rtt_s];
    let states = integrate(&start, &[path.rtt_s], grid, |at, rate| {
        let (w, r, x) = (at.now(0), at.now(1), at.ago(0, 0) / path.rtt_s);
        // Jersey 2005 eq. 8.19.
        rate[0] = x * (1.0 - q) / w - x * q * (w - r * path.delay_s);
        // Jersey 2005 eq. 8.20.
        rate[1] = (x * (1.0 - q) - r) / zeta;
    })?;
    Ok(states.iter().map(|s| (s[0], s[1])).collect())
}

/// Returns `q` if it is a probability above 0. Without congestion indications a window grows for ever.
fn indicated(q: f64) -> Result<f64, Invalid> {
    match probability("q", q)? {
        0.0 => Err(invalid("q", q, "above 0")),
        q => Ok(q),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SHORT: Path = Path { rtt_s: 0.05, delay_s: 0.002 };
    const LONG: Path = Path { rtt_s: 0.5, delay_s: 0.1 };
    const FAST: Path = Path { rtt_s: 0.1, delay_s: 0.095 };

    #[test]
    fn rates_at_rest_have_the_table_of_the_spec() {
        // Spec section 8: q, then the rates of Reno and Jersey in packets/s for the three paths.
        let table = [
            (1e-4, [2828.29, 2041.14, 282.83, 223.59, 1414.14, 4467.67]),
            (1e-3, [893.98, 645.16, 89.40, 70.67, 446.99, 1400.27]),
            (1e-2, [281.42, 203.06, 28.14, 22.22, 140.71, 407.91]),
            (1e-1, [84.85, 61.11, 8.49, 6.63, 42.43, 78.78]),
        ];
        for (q, row) in table {
            for (path, want) in [SHORT, LONG, FAST].iter().zip(row.chunks(2)) {
                let got = [reno(q, path).unwrap(), jersey(q, path).unwrap()];
                for (got, want) in got.iter().zip(want) {
                    assert!((got.rate_pps - want).abs() < 0.005_01, "{path:?}, q = {q}: {got:?} {want}");
                    assert!((got.window / (got.rate_pps * path.rtt_s) - 1.0).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn jersey_over_reno_has_the_table_of_the_spec() {
        // Spec section 8: d/τ, then 1/Δ - 1 for q = 1e-4, 1e-3, 1e-2, 0.1, 0.5.
        let table = [
            (0.04, [-0.278, -0.278, -0.278, -0.280, -0.286]),
            (0.2, [-0.209, -0.210, -0.210, -0.219, -0.255]),
            (0.5, [-0.000, -0.000, -0.005, -0.047, -0.184]),
            (0.8, [0.581, 0.578, 0.550, 0.336, -0.087]),
            (0.9, [1.235, 1.226, 1.142, 0.622, -0.047]),
            (0.95, [2.159, 2.133, 1.899, 0.857, -0.024]),
            (0.99, [6.036, 5.745, 4.013, 1.142, -0.005]),
            (1.0, [69.711, 21.361, 6.071, 1.236, 0.0]),
        ];
        for (eta, row) in table {
            for (q, want) in [1e-4, 1e-3, 1e-2, 0.1, 0.5].into_iter().zip(row) {
                let got = 1.0 / ratio(q, eta).unwrap() - 1.0;
                assert!((got - want).abs() < 0.000_51, "d/τ = {eta}, q = {q}: {got} {want}");
            }
        }
    }

    #[test]
    fn jersey_is_faster_exactly_where_more_than_half_of_the_window_comes_back_without_a_queue() {
        for (q, eta) in [(0.1, 0.5), (0.1, 0.55), (0.1, 0.56), (0.1, 0.9), (0.49, 1.0), (0.51, 1.0), (0.9, 1.0)] {
            let path = Path { rtt_s: 0.1, delay_s: 0.1 * eta };
            let (a, b) = (reno(q, &path).unwrap().rate_pps, jersey(q, &path).unwrap().rate_pps);
            assert_eq!(b > a, (1.0 - q) * eta > 0.5, "q = {q}, d/τ = {eta}");
            assert!((a / b - ratio(q, eta).unwrap()).abs() < 1e-12);
        }
        // Jersey 2005 eq. 8.24.
        for q in [1e-4, 0.1, 0.4] {
            assert!((ratio(q, 1.0).unwrap() - (2.0 * q).sqrt()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_courses_settle_where_the_equilibria_are() {
        for path in [SHORT, LONG, FAST] {
            for q in [1e-3, 1e-2, 0.1] {
                let (a, b) = (reno(q, &path).unwrap(), jersey(q, &path).unwrap());
                let grid = Grid { step_s: path.rtt_s / 50.0, steps: 50 * 4000 };
                for share in [0.3, 3.0] {
                    let w = reno_course(q, &path, a.window * share, &grid).unwrap();
                    assert!((w[w.len() - 1] / a.window - 1.0).abs() < 1e-6, "Reno, {path:?}, q = {q}");
                    let at = jersey_course(q, &path, path.rtt_s, b.window * share, &grid).unwrap();
                    let (w, r) = at[at.len() - 1];
                    assert!((w / b.window - 1.0).abs() < 1e-6, "Jersey, {path:?}, q = {q}: {w} {b:?}");
                    assert!((r / b.estimate_pps - 1.0).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn impossible_questions_are_errors() {
        assert_eq!(reno(0.0, &SHORT).unwrap_err().what, "q");
        assert_eq!(jersey(1.1, &SHORT).unwrap_err().what, "q");
        assert_eq!(jersey(0.1, &Path { rtt_s: 0.1, delay_s: 0.2 }).unwrap_err().what, "delay_s");
        assert_eq!(reno(0.1, &Path { rtt_s: f64::NAN, delay_s: 0.2 }).unwrap_err().what, "rtt_s");
        assert_eq!(ratio(0.1, 1.5).unwrap_err().what, "eta");
        assert_eq!(reno_course(0.1, &SHORT, 0.0, &Grid { step_s: 0.001, steps: 10 }).unwrap_err().what, "window");
    }
}
