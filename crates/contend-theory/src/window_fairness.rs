//! Mean of Jain's index over a sliding window of successes, for memoryless stations.
//!
//! Starzetz 2006 §8.2, Fig. 8.6: each success belongs to each of the N stations with the same probability,
//! independently of all others. The counts in a window of w successes are therefore multinomial for any distribution of
//! slots. J = w^2 / (N sum x_i^2).
//!
//! Differences from the source: the source says that no simulation is needed, but gives no formula. The formula here is
//! one integral over a product of N equal factors. Let y = 1/J - 1 = (N/w^2) sum (x_i - w/N)^2. The mean of J is the
//! integral over u >= 0 of e^-u times the mean of e^(-u y). A multinomial is N Poisson counts with a given sum.

use crate::Invalid;
use crate::invalid::invalid;

/// The largest number of successes in a window. For longer windows, use a simulation.
pub const MOST_SUCCESSES: u32 = 10_000;
/// The largest number of stations.
pub const MOST_STATIONS: u32 = 1024;

/// Mean of Jain's index of the successes of `stations` in a window of `successes`. Returns an error if either number is
/// 0 or too large.
pub fn jain(stations: u32, successes: u32) -> Result<f64, Invalid> {
    if !(1..=MOST_STATIONS).contains(&stations) {
        return Err(invalid("stations", stations, "between 1 and 1024"));
    }
    if !(1..=MOST_SUCCESSES).contains(&successes) {
        return Err(invalid("successes", successes, "between 1 and 10000"));
    }
    let (n, w) = (f64::from(stations), f64::from(successes));
    let lambda = w / n;
    let poisson = |k: u32, mean: f64| {
        let k = f64::from(k);
        libm::exp(k * libm::log(mean) - mean - libm::lgamma(k + 1.0))
    };
    let counts: Vec<f64> = (0..=successes).map(|k| poisson(k, lambda)).collect();
    let sum_is_w = poisson(successes, w);
    let moment = |u: f64| {
        let by = u * n / (w * w);
        let factor = counts
            .iter()
            .enumerate()
            .map(|(k, p)| p * libm::exp(-by * (k as f64 - lambda) * (k as f64 - lambda)))
            .collect();
        coefficient(Terms::of(0, factor), stations, successes as usize) / sum_is_w
    };
    // Double exponential quadrature for integrals with a factor e^-u (Takahasi and Mori 1974): u = exp(v - e^-v).
    const STEP: f64 = 0.1;
    let node = |i: i32| {
        let v = f64::from(i) * STEP;
        let u = libm::exp(v - libm::exp(-v));
        let weight = u * (1.0 + libm::exp(-v)) * libm::exp(-u);
        if weight < 1e-18 { 0.0 } else { weight * moment(u) }
    };
    Ok(((-38..=38).map(node).sum::<f64>() * STEP).min(1.0))
}

/// Coefficients of a power series, starting at the power `low`. Negligible coefficients at both ends are removed.
#[derive(Clone)]
struct Terms {
    low: usize,
    a: Vec<f64>,
}

impl Terms {
    fn of(low: usize, mut a: Vec<f64>) -> Terms {
        const LEAST: f64 = 1e-26;
        let skip = a.iter().position(|x| *x > LEAST).unwrap_or(a.len());
        a.drain(..skip);
        a.truncate(a.iter().rposition(|x| *x > LEAST).map_or(0, |i| i + 1));
        Terms { low: low + skip, a }
    }

    /// The product, up to the power `most`.
    fn times(&self, other: &Terms, most: usize) -> Terms {
        let low = self.low + other.low;
        let size = (self.a.len() + other.a.len()).min((most + 1).saturating_sub(low));
        let mut product = vec![0.0; size];
        for (i, x) in self.a.iter().enumerate() {
            for (y, sum) in other.a.iter().zip(product.iter_mut().skip(i)) {
                *sum += x * y;
            }
        }
        Terms::of(low, product)
    }
}

/// Coefficient of z^`at` in `factor`^n.
fn coefficient(factor: Terms, mut n: u32, at: usize) -> f64 {
    let (mut result, mut base) = (Terms::of(0, vec![1.0]), factor);
    loop {
        if n & 1 == 1 {
            result = result.times(&base, at);
        }
        n >>= 1;
        if n == 0 {
            return at.checked_sub(result.low).and_then(|i| result.a.get(i)).copied().unwrap_or(0.0);
        }
        base = base.times(&base.clone(), at);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_sequences_of_successes_one_by_one_give_the_mean() {
        for (n, w) in [(1_u32, 5_u32), (2, 1), (2, 2), (2, 10), (3, 7), (5, 5), (7, 3)] {
            let mut sum = 0.0;
            for code in 0..n.pow(w) {
                let mut counts = vec![0.0; n as usize];
                (0..w).fold(code, |k, _| {
                    counts[(k % n) as usize] += 1.0;
                    k / n
                });
                sum += f64::from(w * w) / (f64::from(n) * counts.iter().map(|x| x * x).sum::<f64>());
            }
            let want = sum / f64::from(n.pow(w));
            let got = jain(n, w).unwrap();
            assert!((got - want).abs() < 1e-10, "{n} {w}: {got} {want}");
        }
    }

    #[test]
    fn windows_of_10_and_100_successes_a_station_have_the_values_of_the_spec() {
        // Spec E15: HASH1 simulated, J(10 N) and J(100 N) for 15 and 5 stations.
        for (n, tens, hundreds) in [(15, 0.915, 0.991), (5, 0.928, 0.992)] {
            let (a, b) = (jain(n, 10 * n).unwrap(), jain(n, 100 * n).unwrap());
            assert!((a - tens).abs() < 0.001 && (b - hundreds).abs() < 0.001, "{n}: {a} {b}");
        }
    }

    #[test]
    fn long_windows_come_near_1_as_the_variance_of_counts_says() {
        // J = 1/(1 + y) with E[y] = (N-1)/w exactly. For large w, y is small: E[J] = 1 - (N-1)/w to first order, and
        // the y^2 term adds (N^2-1)/w^2.
        for (n, w) in [(2_u32, 5000_u32), (20, 10_000), (100, 10_000)] {
            let (nf, wf) = (f64::from(n), f64::from(w));
            let want = 1.0 - (nf - 1.0) / wf + (nf * nf - 1.0) / (wf * wf);
            let got = jain(n, w).unwrap();
            assert!((got - want).abs() < 2.0 * (nf / wf) * (nf / wf) * (nf / wf) + 1e-9, "{n} {w}: {got} {want}");
        }
    }

    #[test]
    fn none_and_too_many_are_errors() {
        assert_eq!(jain(0, 10).unwrap_err().what, "stations");
        assert_eq!(jain(2, 0).unwrap_err().what, "successes");
        assert_eq!(jain(2, 20_000).unwrap_err().what, "successes");
        assert_eq!(jain(2000, 20).unwrap_err().what, "stations");
    }
}
