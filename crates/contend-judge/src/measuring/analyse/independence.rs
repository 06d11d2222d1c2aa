//! Tests whether each backoff of a sequence is independent of the backoffs before it.
//!
//! A histogram ignores order: a card that repeats 0, 1, ..., 31 has a uniform histogram. Starzetz 2006 §6.4.1 names
//! this limit of the method, and §6.5 leaves a further test to others. Two tests complement each other. Serial
//! correlation at many lags finds cycles up to the longest lag. The test of neighbouring pairs finds any dependence on
//! the previous backoff, linear or not.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A chi-square test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// The statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: u32,
    /// Probability of at least this statistic by chance.
    pub p: f64,
}

impl ChiSquare {
    /// Adds the p-value; `None` without degrees of freedom.
    pub(super) fn new(statistic: f64, freedom: u32) -> Option<ChiSquare> {
        let p = ChiSquared::new(f64::from(freedom)).ok().filter(|_| freedom > 0)?.sf(statistic);
        Some(ChiSquare { statistic, freedom, p })
    }

    /// Tests whether `counts` are uniform.
    pub(super) fn even(counts: &[u64]) -> Option<ChiSquare> {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let statistic = counts.iter().map(|c| (*c as f64 - expected).powi(2) / expected).sum();
        if expected > 0.0 { ChiSquare::new(statistic, (counts.len() as u32).saturating_sub(1)) } else { None }
    }
}

/// Serial correlation of a sequence with gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Lags {
    /// Correlation at lag 1.
    pub first: f64,
    /// The correlation with the largest absolute value, and its lag.
    pub largest: (f64, u32),
    /// Box and Pierce 1970: the sum over lags of n r^2 is chi-square distributed, with one degree of freedom for each
    /// lag.
    pub test: ChiSquare,
}

/// Correlation of `x` with itself at lags 1 to `most`; `None` when `x` is too short or constant.
pub(super) fn lags(x: &[Option<u32>], most: u32) -> Option<Lags> {
    let known = || x.iter().flatten().map(|v| f64::from(*v));
    let n = known().count();
    let mean = known().sum::<f64>() / n.max(1) as f64;
    let variance = known().map(|v| (v - mean).powi(2)).sum::<f64>() / n.max(1) as f64;
    let most = most.min((n / 10) as u32);
    if most == 0 || variance == 0.0 {
        return None;
    }
    let deviation: Vec<Option<f64>> = x.iter().map(|v| v.map(|v| f64::from(v) - mean)).collect();
    let mut statistic = 0.0;
    let (mut first, mut largest) = (0.0, (0.0_f64, 0));
    for lag in 1..=most {
        let (mut sum, mut pairs) = (0.0, 0_u64);
        for (a, b) in deviation.iter().zip(deviation.get(lag as usize..).unwrap_or_default()) {
            if let (Some(a), Some(b)) = (a, b) {
                (sum, pairs) = (sum + a * b, pairs + 1);
            }
        }
        let r = sum / (pairs.max(1) as f64 * variance);
        statistic += pairs as f64 * r * r;
        if lag == 1 {
            first = r;
        }
        // A cycle correlates at every multiple of its length: report the shortest.
        if r.abs() > 1.001 * largest.0.abs() {
            largest = (r, lag);
        }
    }
    Some(Lags { first, largest, test: ChiSquare::new(statistic, most)? })
}

/// Chi-square test of independent neighbours, on the table of pairs with its marginals as measured (Anderson and
/// Goodman, "Statistical Inference about Markov Chains", Ann. Math. Stat. 28, 1957: order 0 against order 1).
///
/// The numbers in `x` are below `values`. If there are too few pairs, neighbouring values share a class, so that five
/// pairs are expected in each cell. `None` below twenty pairs, or if all values are equal.
pub(super) fn pairs(x: &[Option<u32>], values: u32) -> Option<ChiSquare> {
    let both: Vec<(u32, u32)> = x.windows(2).filter_map(|w| Some(((*w.first()?)?, (*w.get(1)?)?))).collect();
    let mut classes = values.max(2);
    while classes > 2 && u64::from(classes).pow(2) * 5 > both.len() as u64 {
        classes = classes.div_ceil(2);
    }
    if both.len() < 20 {
        return None;
    }
    let k = classes as usize;
    let class =
        |v: u32| (u64::from(v) * u64::from(classes) / u64::from(values.max(1))).min(u64::from(classes) - 1) as usize;
    let (mut table, mut rows, mut columns) = (vec![0_u64; k * k], vec![0_u64; k], vec![0_u64; k]);
    for (a, b) in &both {
        let (a, b) = (class(*a), class(*b));
        for (counts, at) in [(&mut table, a * k + b), (&mut rows, a), (&mut columns, b)] {
            counts.get_mut(at).into_iter().for_each(|c| *c += 1);
        }
    }
    let mut statistic = 0.0;
    for (row, cells) in rows.iter().zip(table.chunks_exact(k)) {
        for (column, cell) in columns.iter().zip(cells).filter(|(c, _)| **c > 0 && *row > 0) {
            let expected = *row as f64 * *column as f64 / both.len() as f64;
            statistic += (*cell as f64 - expected).powi(2) / expected;
        }
    }
    let used = |marginal: &[u64]| marginal.iter().filter(|c| **c > 0).count().saturating_sub(1) as u32;
    ChiSquare::new(statistic, used(&rows) * used(&columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_square_has_the_values_of_the_tables() {
        // 5 % and 0.1 % points for 1, 10 and 31 degrees of freedom.
        for (statistic, freedom, p) in
            [(3.841, 1, 0.05), (18.307, 10, 0.05), (29.588, 10, 0.001), (44.985, 31, 0.05), (61.098, 31, 0.001)]
        {
            let got = ChiSquare::new(statistic, freedom).unwrap().p;
            assert!((got / p - 1.0).abs() < 1e-3, "{got}, not {p}");
        }
        // By hand: 10, 20, 30 around 20: 5 + 0 + 5.
        assert_eq!(ChiSquare::even(&[10, 20, 30]).map(|c| (c.statistic, c.freedom)), Some((10.0, 2)));
        assert_eq!((ChiSquare::even(&[]), ChiSquare::even(&[7]), ChiSquare::even(&[0, 0])), (None, None, None));
    }

    #[test]
    fn a_cycle_correlates_at_its_length_whatever_its_order() {
        // 5 and 32 have no common divisor: 0, 5, 10, ... visits all values.
        let x: Vec<Option<u32>> = (0..3200_u32).map(|i| Some(i * 5 % 32)).collect();
        let l = lags(&x, 64).unwrap();
        assert!(l.largest.0 > 0.99 && l.largest.1.is_multiple_of(32) && l.test.p < 1e-12, "{l:?}");
        assert!(pairs(&x, 32).unwrap().p < 1e-12);
    }

    #[test]
    fn a_law_without_correlation_is_seen_in_the_pairs() {
        // Each value is followed by itself or by its mirror image: no correlation and a uniform histogram, but no
        // independence.
        let mut dice = 12_345_u64;
        let mut last = 0_u32;
        let x: Vec<Option<u32>> = (0..20_000)
            .map(|_| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let step = (dice >> 60) as u32;
                last = match step {
                    0..=5 => last,
                    6..=11 => 7 - last,
                    _ => (dice >> 40) as u32 % 8,
                };
                Some(last)
            })
            .collect();
        assert!(lags(&x, 1).unwrap().first.abs() < 0.02);
        assert!(pairs(&x, 8).unwrap().p < 1e-12);
    }

    #[test]
    fn holes_part_neighbours() {
        let x = [Some(1), None, Some(1), Some(2)].repeat(30);
        // Of four backoffs in a row, two pairs of neighbours are known: (1, 2) and (2, 1).
        assert_eq!(pairs(&x, 4).map(|c| c.freedom), Some(1));
        assert_eq!((lags(&[None; 50], 4), lags(&[Some(3); 50], 4), pairs(&[Some(1); 10], 4)), (None, None, None));
    }
}
