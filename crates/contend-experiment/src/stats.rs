//! Statistics over independent replications, and over one long run.
//!
//! Intervals are two-sided 95 % Student intervals. Two systems that ran with the same seeds are compared seed by seed:
//! the interval of a difference or ratio is the interval of the per-seed differences or ratios. It is never a
//! combination of the two systems' own intervals. Sums run in index order, so that the same samples give the same bits.
//!
//! MSER-5: White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997;
//! the form in batches of five: White, Cobb, Spratt, "A Comparison of Five Steady-State Truncation Heuristics for
//! Simulation", WSC 2000.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A measured value and its maximum error. The error is 0, except for values read from a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: f64,
    /// Maximum distance of the exact value from `value`.
    pub resolution: f64,
}

impl Reading {
    /// The difference; the maximum errors add up.
    pub fn minus(self, other: Reading) -> Reading {
        Reading { value: self.value - other.value, resolution: self.resolution + other.resolution }
    }

    /// The ratio; `None` if the divisor is 0. The maximum errors of both are combined.
    pub fn over(self, other: Reading) -> Option<Reading> {
        let value = (other.value != 0.0).then(|| self.value / other.value)?;
        let resolution = (self.resolution + value.abs() * other.resolution) / other.value.abs();
        Some(Reading { value, resolution })
    }

    /// The arithmetic mean; `None` without samples.
    pub fn mean(samples: &[Reading]) -> Option<Reading> {
        let of = |f: fn(&Reading) -> f64| mean(&samples.iter().map(f).collect::<Vec<_>>());
        Some(Reading { value: of(|r| r.value)?, resolution: of(|r| r.resolution)? })
    }
}

/// The range of possible values of a number: from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Counts, rates and durations.
    pub const FROM_ZERO: Range = Range { low: 0.0, high: f64::INFINITY };
    /// Shares and indices.
    pub const SHARE: Range = Range { low: 0.0, high: 1.0 };

    /// The range of a sum of any number of values in this range.
    pub fn of_sums(self) -> Range {
        let grown = |end: f64| if end == 0.0 { 0.0 } else { end * f64::INFINITY };
        Range { low: grown(self.low.min(0.0)), high: grown(self.high.max(0.0)) }
    }

    /// The range of the sum of a value in this range and a value in `other`.
    pub fn plus(self, other: Range) -> Range {
        Range { low: self.low + other.low, high: self.high + other.high }
    }

    /// The range of the difference.
    pub fn minus(self, other: Range) -> Range {
        Range { low: self.low - other.high, high: self.high - other.low }
    }

    /// The range of the product.
    pub fn times(self, other: Range) -> Range {
        match (self.only(), other.only()) {
            (_, Some(factor)) => self.scaled(factor),
            (Some(factor), _) => other.scaled(factor),
            _ if self == Range::SHARE && other == Range::SHARE => Range::SHARE,
            _ if self.low >= 0.0 && other.low >= 0.0 => Range::FROM_ZERO,
            _ => Range::ALL,
        }
    }

    /// The range of the ratio.
    pub fn over(self, other: Range) -> Range {
        match other.only() {
            Some(divisor) if divisor != 0.0 => self.scaled(1.0 / divisor),
            _ if self.low >= 0.0 && other.low >= 0.0 => Range::FROM_ZERO,
            _ => Range::ALL,
        }
    }

    /// The single value of the range, if it has only one.
    fn only(self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    fn scaled(self, factor: f64) -> Range {
        let (a, b) = (self.low * factor, self.high * factor);
        if a.is_nan() || b.is_nan() { Range::ALL } else { Range { low: a.min(b), high: a.max(b) } }
    }
}

/// Mean of some samples, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of samples.
    pub n: usize,
    /// Mean of the samples.
    pub mean: f64,
    /// Half width of the 95 % Student interval of the mean. It is at least the mean resolution of the samples. `None`
    /// with fewer than two samples.
    pub ci95: Option<f64>,
    /// Ends of the interval, limited to the range of the number; `None` when there is no interval.
    pub interval: Option<(f64, f64)>,
    /// True if the half width is the mean resolution of the samples, because Student's is smaller.
    pub by_resolution: bool,
}

impl Estimate {
    /// The estimate from exact `samples` of a number without bounds; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Estimate> {
        let exact = |value: &f64| Reading { value: *value, resolution: 0.0 };
        Estimate::of_readings(&samples.iter().map(exact).collect::<Vec<_>>(), Range::ALL)
    }

    /// The estimate from `samples` of a number in `range`; `None` without samples.
    pub fn of_readings(samples: &[Reading], range: Range) -> Option<Estimate> {
        Estimate::with_confidence(CONFIDENCE, samples, range)
    }

    /// Like [`Estimate::of_readings`], with an interval of another confidence in place of the 95 % interval.
    pub fn with_confidence(confidence: f64, samples: &[Reading], range: Range) -> Option<Estimate> {
        let Reading { value: mean, resolution } = Reading::mean(samples)?;
        let spread = half_width(confidence, &samples.iter().map(|r| r.value).collect::<Vec<_>>());
        let ci95 = spread.map(|h| h.max(resolution));
        // By rounding, the mean itself may be slightly outside the range.
        let cut = |h: f64| ((mean - h).max(range.low).min(mean), (mean + h).min(range.high).max(mean));
        let by_resolution = spread.is_some_and(|h| h < resolution);
        Some(Estimate { n: samples.len(), mean, ci95, interval: ci95.map(cut), by_resolution })
    }

    /// Ends of the interval; without an interval both are the mean.
    pub fn ends(&self) -> (f64, f64) {
        self.interval.unwrap_or((self.mean, self.mean))
    }
}

/// The mean of `samples` with the help of control variates: numbers of the same runs whose mean is exactly 0, one list
/// for each. The part of the deviations that they explain (least squares) is removed. The interval is therefore shorter
/// if they correlate with the samples. `None` if no control varies, or with too few samples to estimate the effect of
/// each.
///
/// Lavenberg, Welch, "A Perspective on the Use of Control Variables to Increase the Efficiency of Monte Carlo
/// Simulations", Management Science 27(3), 1981. The mean is the constant of the regression. Its variance is that of
/// the residuals times the constant's entry in the inverse of the normal matrix, with n - q - 1 degrees of freedom.
pub fn controlled(samples: &[Reading], controls: &[Vec<f64>]) -> Option<Controlled> {
    let n = samples.len();
    // Orthogonal directions that span the controls. What is left of one after the others is rounding, or new.
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for control in controls {
        let left = without(control, &directions);
        if dot(&left, &left) > 1e-18 * dot(control, control) {
            directions.push(left);
        }
    }
    let freedom = n.checked_sub(directions.len() + 1).filter(|f| *f > 0 && !directions.is_empty())?;
    // The constant, less what the controls explain of it. Without that direction nothing can be said about the mean.
    let constant = without(&vec![1.0; n], &directions);
    let size = dot(&constant, &constant);
    if size < 1e-9 {
        return None;
    }
    let values: Vec<f64> = samples.iter().map(|r| r.value).collect();
    let mean = dot(&values, &constant) / size;
    directions.push(constant);
    let residuals = without(&values, &directions);
    let variance = dot(&residuals, &residuals) / freedom as f64 / size;
    let resolution = Reading::mean(samples)?.resolution;
    let spread = student(CONFIDENCE, freedom + 1)? * variance.sqrt();
    let ci95 = spread.max(resolution);
    let plain = half_width(CONFIDENCE, &values)?;
    let worth = if ci95 > 0.0 { (plain / ci95).powi(2) } else { 1.0 };
    Some(Controlled {
        estimate: Estimate {
            n,
            mean,
            ci95: Some(ci95),
            interval: Some((mean - ci95, mean + ci95)),
            by_resolution: spread < resolution,
        },
        worth,
    })
}

/// An estimate with control variates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controlled {
    /// The mean and its interval.
    pub estimate: Estimate,
    /// How many times as many samples a plain mean needs for an interval of this width.
    pub worth: f64,
}

/// `x` without its parts along `directions`, which are orthogonal.
fn without(x: &[f64], directions: &[Vec<f64>]) -> Vec<f64> {
    directions.iter().fold(x.to_vec(), |x, d| {
        let along = dot(&x, d) / dot(d, d);
        x.iter().zip(d).map(|(x, d)| x - along * d).collect()
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Arithmetic mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Sample standard deviation (n - 1 in the denominator), in two passes; `None` with fewer than two samples.
pub fn deviation(samples: &[f64]) -> Option<f64> {
    if samples.len() < 2 {
        return None;
    }
    let m = mean(samples)?;
    let squares: f64 = samples.iter().map(|x| (x - m) * (x - m)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt())
}

/// Confidence of all intervals that are reported.
pub const CONFIDENCE: f64 = 0.95;

/// Student's t for `n` samples: the half width of the interval with this confidence is t times the standard error of
/// the mean. `None` below two samples.
pub fn student(confidence: f64, n: usize) -> Option<f64> {
    let freedom = n.checked_sub(1).filter(|&f| f > 0)? as f64;
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(f64::midpoint(1.0, confidence)))
}

/// Half width of the Student interval of the mean with this confidence; `None` with fewer than two samples.
pub fn half_width(confidence: f64, samples: &[f64]) -> Option<f64> {
    let d = deviation(samples)?;
    // Equal samples: the half width is exactly 0 for any t.
    Some(if d == 0.0 { 0.0 } else { student(confidence, samples.len())? * d / (samples.len() as f64).sqrt() })
}

/// Jain's fairness index (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all have the same).
///
/// `None` without shares. If all shares are 0, the index is 1, because all are equal. Jain, Chiu, Hawe, DEC-TR-301,
/// 1984.
pub fn jain(shares: &[f64]) -> Option<f64> {
    if shares.is_empty() {
        return None;
    }
    // Divide by the largest share, so that no square overflows or underflows.
    let largest = shares.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return Some(1.0);
    }
    let sum: f64 = shares.iter().map(|x| x / largest).sum();
    let squares: f64 = shares.iter().map(|x| (x / largest) * (x / largest)).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}

/// Quantile `q` in 0..=1, linear between order statistics (Hyndman and Fan's type 7). `None` without samples, or if `q`
/// is outside 0..=1.
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    if samples.is_empty() || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    let (a, b) = (*sorted.get(low)?, *sorted.get(high)?);
    // Equal neighbours are returned unchanged: interpolation between two infinities gives NaN.
    Some(if a == b { a } else { a + (place - low as f64) * (b - a) })
}

/// Mean of the lowest share `q` of the samples, above 0 and up to 1. If the share ends within a sample, only that part
/// of it counts: the lowest half of 1, 2, 4 is 1 and half of 2. `None` without samples, or for another `q`.
pub fn trimmed_mean(samples: &[f64], q: f64) -> Option<f64> {
    if samples.is_empty() || !(q > 0.0 && q <= 1.0) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = q * sorted.len() as f64;
    let counted = sorted.iter().enumerate().map(|(i, x)| ((rank - i as f64).min(1.0), x)).take_while(|(n, _)| *n > 0.0);
    Some(counted.map(|(n, x)| n * x).sum::<f64>() / rank)
}

/// Samples in one batch of [`mser5`].
pub const MSER_BATCH: usize = 5;

/// MSER-5: the number of samples to cut off at the beginning of an equally spaced series, a multiple of [`MSER_BATCH`].
///
/// The cut minimises the squared standard error of the remaining samples. Only cuts in the first half are considered:
/// later cuts leave few samples, and their error is small by chance. `None` when the latest allowed cut is the best:
/// the series is too short or does not settle. `None` also with fewer than four batches.
pub fn mser5(series: &[f64]) -> Option<usize> {
    let batches = batch_means(series, MSER_BATCH);
    let n = batches.len();
    if n < 4 {
        return None;
    }
    let latest = n / 2;
    let (mut best, mut least) = (latest, f64::INFINITY);
    // From the end: the spread of the samples after each cut, in Welford's form, which avoids cancellation.
    let (mut m, mut squares) = (0.0, 0.0);
    for (cut, x) in batches.iter().enumerate().rev() {
        let left = (n - cut) as f64;
        let d = x - m;
        m += d / left;
        squares += d * (x - m);
        // Of equal cuts, take the earliest.
        if cut <= latest && squares / (left * left) <= least {
            (best, least) = (cut, squares / (left * left));
        }
    }
    (best < latest).then_some(best * MSER_BATCH)
}

/// Means of consecutive batches of `size` samples; an incomplete last batch is left out. Empty if `size` is 0.
pub fn batch_means(series: &[f64], size: usize) -> Vec<f64> {
    if size == 0 {
        return vec![];
    }
    series.chunks_exact(size).filter_map(mean).collect()
}

/// Mean of one long, equally spaced series. The interval is computed from `batches` batch means, to account for
/// correlation.
///
/// `None` when a batch would be empty. The interval is valid when a batch is much longer than the correlation time.
pub fn long_run(series: &[f64], batches: usize) -> Option<Estimate> {
    let size = series.len().checked_div(batches)?;
    // Samples that do not fill a batch are cut off at the beginning, where a rest of the warm-up may be.
    Estimate::of(&batch_means(series.get(series.len() - size * batches..)?, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};

    fn near(got: Option<f64>, want: f64, tolerance: f64) {
        let got = got.unwrap();
        assert!((got - want).abs() <= tolerance, "{got}, not {want}");
    }

    fn exact(values: &[f64]) -> Vec<Reading> {
        values.iter().map(|&value| Reading { value, resolution: 0.0 }).collect()
    }

    /// The reference is numpy's: `lstsq` of a constant and the control, and the inverse of the normal matrix.
    #[test]
    fn a_control_variate_gives_the_constant_of_the_regression_and_its_error() {
        let control = vec![-1.0, 0.5, 1.5, -0.5, 2.0];
        let samples = exact(&[1.0, 4.1, 6.2, 1.8, 7.1]);
        let c = controlled(&samples, &[control.clone(), control.clone(), vec![0.0; 5]]).unwrap();
        near(Some(c.estimate.mean), 2.997_692_307_692_307_6, 1e-12);
        near(c.estimate.ci95, 0.191_307_366_174_768_7, 1e-9);
        near(Some(c.worth), (3.302_219_351_195_696f64 / 0.191_307_366_174_768_7).powi(2), 1e-6);
        // Nothing varies; as many unknowns as samples; a control that is the constant itself.
        for (samples, control) in
            [(&samples[..], vec![0.0; 5]), (&samples[..2], control[..2].to_vec()), (&samples[..], vec![1.0; 5])]
        {
            assert_eq!(controlled(samples, &[control]), None);
        }
    }

    /// The interval must contain the mean as often as it says: 200 experiments of 8 samples, binomial.
    #[test]
    fn controlled_intervals_contain_the_mean_in_95_of_100_cases() {
        let mut rng = contend_core::Rng::seed_from_u64(1);
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let (mut inside, mut worth) = (0, 0.0);
        for _ in 0..200 {
            let control: Vec<f64> = (0..8).map(|_| normal()).collect();
            let samples: Vec<f64> = control.iter().map(|x| 5.0 + 3.0 * x + normal()).collect();
            let c = controlled(&exact(&samples), &[control]).unwrap();
            let (low, high) = c.estimate.interval.unwrap();
            inside += u32::from(low <= 5.0 && 5.0 <= high);
            worth += c.worth / 200.0;
        }
        // 190 ± 3 standard deviations of 3.1. A correlation of 0.95 leaves a tenth of the variance.
        assert!((180..=199).contains(&inside) && worth > 5.0, "{inside} of 200, {worth}");
    }

    #[test]
    fn student_has_the_values_of_the_tables() {
        for (n, t) in [(2, 12.706), (3, 4.303), (5, 2.776), (10, 2.262), (30, 2.045), (1001, 1.962)] {
            near(student(CONFIDENCE, n), t, 6e-4);
        }
        near(student(0.99, 10), 3.250, 6e-4);
        assert_eq!((student(CONFIDENCE, 0), student(CONFIDENCE, 1)), (None, None));
    }

    #[test]
    fn an_interval_by_hand() {
        // Mean 3, deviation sqrt(2.5), half width 2.776 * sqrt(2.5 / 5).
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((e.n, e.mean), (5, 3.0));
        near(e.ci95, 1.9633, 1e-3);
        assert_eq!(
            Estimate::of(&[7.0]),
            Some(Estimate { n: 1, mean: 7.0, ci95: None, interval: None, by_resolution: false })
        );
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(half_width(CONFIDENCE, &[2.0; 4]), Some(0.0));
    }

    #[test]
    fn an_interval_is_no_narrower_than_what_the_samples_resolve() {
        let readings = |values: &[f64], resolution| values.iter().map(|v| Reading { value: *v, resolution }).collect();
        let half = |samples: Vec<Reading>| Estimate::of_readings(&samples, Range::ALL).unwrap().ci95;
        assert_eq!(half(readings(&[2.0; 4], 0.5)), Some(0.5));
        assert_eq!(half(readings(&[1.0, 3.0], 0.5)), half(readings(&[1.0, 3.0], 0.0)));
        assert_eq!(half(readings(&[2.0], 0.5)), None);
        let [a, b] = [(6.0, 0.3), (2.0, 0.1)].map(|(value, resolution)| Reading { value, resolution });
        let near_by = |r: Reading, value: f64, resolution: f64| {
            assert!((r.value - value).abs() < 1e-12 && (r.resolution - resolution).abs() < 1e-12, "{r:?}");
        };
        near_by(a.minus(b), 4.0, 0.4);
        // 6.3 / 1.9 is 3.32, 5.7 / 2.1 is 2.71.
        near_by(a.over(b).unwrap(), 3.0, 0.3);
        assert_eq!(a.over(Reading { value: 0.0, resolution: 0.1 }), None);
    }

    #[test]
    fn an_interval_ends_where_the_number_does() {
        let ends = |values: &[f64], range| {
            let readings: Vec<_> = values.iter().map(|v| Reading { value: *v, resolution: 0.0 }).collect();
            Estimate::of_readings(&readings, range).unwrap().ends()
        };
        let (low, high) = ends(&[0.9, 1.0], Range::SHARE);
        // 0.95 - 12.706 * 0.05
        assert!((low - 0.3147).abs() < 1e-4 && high == 1.0, "{low} {high}");
        assert_eq!(ends(&[0.0, 0.5], Range::SHARE), (0.0, 1.0));
        assert_eq!(ends(&[0.0, 2.0], Range::FROM_ZERO).0, 0.0);
        assert!(ends(&[0.0, 2.0], Range::ALL).0 < 0.0);
    }

    #[test]
    fn jain_runs_from_one_share_to_equal_shares() {
        near(jain(&[5.0, 5.0, 5.0]), 1.0, 1e-15);
        near(jain(&[9.0, 0.0, 0.0]), 1.0 / 3.0, 1e-15);
        near(jain(&[4.0, 1.0]), 25.0 / 34.0, 1e-15);
        near(jain(&[4e300, 1e300]), 25.0 / 34.0, 1e-15);
        near(jain(&[4e-300, 1e-300]), 25.0 / 34.0, 1e-15);
        assert_eq!((jain(&[]), jain(&[0.0, 0.0])), (None, Some(1.0)));
    }

    #[test]
    fn quantiles_lie_between_order_statistics() {
        let x = [40.0, 10.0, 30.0, 20.0];
        near(quantile(&x, 0.0), 10.0, 0.0);
        near(quantile(&x, 0.5), 25.0, 1e-12);
        near(quantile(&x, 0.9), 37.0, 1e-12);
        near(quantile(&x, 1.0), 40.0, 0.0);
        assert_eq!((quantile(&[], 0.5), quantile(&x, 1.1), quantile(&x, f64::NAN)), (None, None, None));
    }

    #[test]
    fn a_trimmed_mean_leaves_out_the_highest_samples() {
        let x = [4.0, 1.0, 2.0];
        near(trimmed_mean(&x, 0.5), (1.0 + 0.5 * 2.0) / 1.5, 1e-12);
        near(trimmed_mean(&x, 0.95), (1.0 + 2.0 + 0.85 * 4.0) / 2.85, 1e-12);
        near(trimmed_mean(&x, 1.0), 7.0 / 3.0, 1e-12);
        near(trimmed_mean(&[3.0], 0.5), 3.0, 1e-12);
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        near(trimmed_mean(&twenty, 0.95), 10.0, 1e-12);
        assert_eq!((trimmed_mean(&[], 0.5), trimmed_mean(&x, 0.0), trimmed_mean(&x, 1.1)), (None, None, None));
    }

    #[test]
    fn mser5_cuts_where_a_step_ends() {
        let step = |rest: usize| {
            (0..50 + rest).map(|i| if i < 50 { 10.0 } else { f64::from(u8::from(i % 3 == 0)) }).collect::<Vec<_>>()
        };
        assert_eq!(mser5(&step(450)), Some(50));
        // More than half of it is warm-up: the series is too short to tell.
        assert_eq!(mser5(&step(40)), None);
        assert_eq!(mser5(&[1.0; 100]), Some(0));
        assert_eq!(mser5(&[1.0; 10]), None);
        let ramp: Vec<f64> = (0..400).map(f64::from).collect();
        assert_eq!(mser5(&ramp), None);
    }

    #[test]
    fn batches_leave_out_what_does_not_fill_one() {
        assert_eq!(batch_means(&[1.0, 3.0, 5.0, 7.0, 100.0], 2), [2.0, 6.0]);
        assert_eq!(batch_means(&[1.0], 0), [0.0; 0]);
        assert_eq!(long_run(&[100.0, 1.0, 3.0, 5.0, 7.0], 2).unwrap().mean, 4.0);
        assert_eq!((long_run(&[1.0], 2), long_run(&[1.0], 0)), (None, None));
    }

    /// x_t = 100 + 0.9 (x_(t-1) - 100) + noise of variance 1, from `start`.
    fn autoregression(seed: u64, n: usize, start: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut uniform = || {
            // Xorshift64*: Vigna 2016.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut x = start - 100.0;
        let mut next = || {
            // A sum of twelve uniform numbers has variance 1.
            x = 0.9 * x + (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            100.0 + x
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn batch_means_know_the_error_of_a_correlated_mean_and_single_samples_do_not() {
        let (n, batches) = (20_000, 20);
        // The variance of the mean of an AR(1) process is close to 1 / (n (1 - 0.9)^2); t(19) = 2.093.
        let right = 2.093 * 10.0 / (n as f64).sqrt();
        let (mut covered, mut naively, mut width) = (0, 0, 0.0);
        for seed in 1..=200 {
            let x = autoregression(seed, n, 100.0);
            let e = long_run(&x, batches).unwrap();
            let (low, high) = e.ends();
            covered += i32::from(low <= 100.0 && 100.0 <= high);
            let (low, high) = Estimate::of(&x).unwrap().ends();
            naively += i32::from(low <= 100.0 && 100.0 <= high);
            width += e.ci95.unwrap() / 200.0;
        }
        assert!((width / right - 1.0).abs() < 0.05, "{width} {right}");
        // 190 of 200 expected, deviation 3.
        assert!((180..=199).contains(&covered), "{covered}");
        assert!(naively < 100, "{naively}");
    }

    #[test]
    fn mser5_removes_the_bias_of_a_bad_start() {
        let (mut raw, mut cut, mut most) = (0.0, 0.0, 0);
        for seed in 1..=100 {
            // From 1000 the excess falls to 1 after 65 steps, and adds about 9000 in all.
            let x = autoregression(seed, 2_000, 1_000.0);
            let k = mser5(&x).unwrap();
            raw += mean(&x).unwrap() / 100.0;
            cut += mean(&x[k..]).unwrap() / 100.0;
            most = most.max(k);
            assert!(k >= 30, "{k}");
        }
        // The excess is 900 (0.9 + 0.81 + ...) / 2000 = 4.05.
        assert!((raw - 104.05).abs() < 0.2, "{raw}");
        assert!((cut - 100.0).abs() < 0.2, "{cut}");
        assert!(most <= 1_000);
    }
}
