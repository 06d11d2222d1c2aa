//! When to stop adding seeds. Seeds are added in batches whose sizes do not depend on the results, so the seeds of a
//! point depend on the results of its runs alone.
//!
//! **A precision** (`seeds = { until = ... }`). A point starts with 5 seeds and gets half as many more ([`next`]) until
//! the half width of the 95 % interval is at most the wanted share of the mean: the sequential procedure of Law and
//! Kelton, Simulation Modeling and Analysis, in batches. It stops more often where the deviation happens to be small,
//! so the last interval covers the true mean less often than 95 %; a test below measures how often.
//!
//! **Undecided claims and checks** (`--decide`). Each look has twice the seeds of the look before it, and the number of
//! looks is known before the first. The first look is that of a call without `--decide`: its intervals have 95 %. The
//! looks after it share an error of 5 % equally ([`Looks::look`]). So the probability that one of their intervals
//! misses the true value is at most 5 % (Bonferroni's inequality, for any dependence between the looks), as for a
//! single look. Equal shares need no table and give up little: with 6 looks an interval is a third wider.

use contend_experiment::results::Look;
use contend_experiment::stats::{Estimate, Range, Reading};

/// The number of seeds of the batch after `n`, at most `most`.
pub fn next(n: usize, most: usize) -> usize {
    (n + n.div_ceil(2)).min(most)
}

/// Half width of the 95 % interval of a number in `range`, as a share of the mean; infinite if only the mean is 0.
/// `None` with fewer than two samples.
pub fn relative_half_width(samples: &[Reading], range: Range) -> Option<f64> {
    let e = Estimate::of_readings(samples, range)?;
    let half = e.ci95?;
    Some(if half == 0.0 { 0.0 } else { half / e.mean.abs() })
}

/// The looks at the claims and checks of a call: `first` seeds, then twice as many, up to `most`.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// Seeds of the first look.
    pub first: u64,
    /// Maximum number of seeds of a point.
    pub most: u64,
    /// Confidence of the first look, and of all later ones together.
    pub confidence: f64,
}

impl Looks {
    /// Number of looks.
    pub fn count(self) -> u32 {
        let mut n = self.first.max(1);
        let mut count = 1;
        while n < self.most {
            n = n.saturating_mul(2);
            count += 1;
        }
        count
    }

    /// Look `number`, from 1 on: its seeds, and the confidence of the interval that decides.
    pub fn look(self, number: u32) -> Look {
        let of = self.count();
        let seeds = (1..number).fold(self.first.max(1), |n, _| n.saturating_mul(2)).min(self.most);
        let share = if number > 1 { f64::from((of - 1).max(1)) } else { 1.0 };
        let confidence = 1.0 - (1.0 - self.confidence) / share;
        Look { number, of, seeds, confidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::stats::CONFIDENCE;

    /// Normal samples with mean 1 and deviation `sigma`: Box and Muller, 1958.
    fn normal(seed: u64, sigma: f64) -> impl FnMut() -> Reading {
        let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        // In (0, 1). Xorshift64*: Vigna 2016.
        let mut uniform = move || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            ((state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        move || {
            let z = (-2.0 * libm::log(uniform())).sqrt() * libm::cos(std::f64::consts::TAU * uniform());
            Reading { value: 1.0 + sigma * z, resolution: 0.0 }
        }
    }

    #[test]
    fn batches_grow_by_half() {
        let sizes: Vec<usize> = std::iter::successors(Some(5), |n| (*n < 200).then(|| next(*n, 200))).collect();
        assert_eq!(sizes, [5, 8, 12, 18, 27, 41, 62, 93, 140, 200]);
        assert_eq!(next(200, 200), 200);
    }

    #[test]
    fn a_half_width_is_relative_to_the_mean() {
        let of = |values: &[f64]| {
            let readings: Vec<Reading> = values.iter().map(|v| Reading { value: *v, resolution: 0.0 }).collect();
            relative_half_width(&readings, Range::ALL)
        };
        // Half width 1.9633 at mean 3.
        assert!((of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.6544).abs() < 1e-3);
        assert_eq!(of(&[-1.0, -2.0, -3.0, -4.0, -5.0]), of(&[1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!((of(&[0.0; 5]), of(&[-1.0, 1.0]), of(&[1.0])), (Some(0.0), Some(f64::INFINITY), None));
    }

    #[test]
    fn intervals_that_stop_a_sequence_cover_the_mean_in_92_of_100_cases() {
        const SHARE: f64 = 0.05;
        const TRIALS: u64 = 2_000;
        let mut all = 0;
        // With 3, 6, 12, 25 and 50 samples the half width is 5 % on average. In between, most sequences stop too early.
        let targets = [3.0_f64, 6.0, 12.0, 25.0, 50.0];
        for target in targets {
            let sigma = SHARE * target.sqrt() / 1.96;
            let covered = (0..TRIALS).filter(|seed| {
                let mut draw = normal(*seed, sigma);
                let mut samples: Vec<Reading> = (0..5).map(|_| draw()).collect();
                while relative_half_width(&samples, Range::ALL).unwrap() > SHARE && samples.len() < 200 {
                    let more = next(samples.len(), 200) - samples.len();
                    samples.extend((0..more).map(|_| draw()));
                }
                let (low, high) = Estimate::of_readings(&samples, Range::ALL).unwrap().ends();
                low <= 1.0 && 1.0 <= high
            });
            let covered = covered.count();
            // 0.92 less three deviations, and not more than a fixed number of samples covers.
            assert!((1_803..=1_930).contains(&covered), "{covered} of {TRIALS} at {target} samples");
            all += covered;
        }
        assert!(all as f64 >= 0.92 * (TRIALS * targets.len() as u64) as f64, "{all}");
    }

    #[test]
    fn looks_double_and_share_five_percent() {
        let looks = Looks { first: 5, most: 200, confidence: CONFIDENCE };
        let seeds: Vec<u64> = (2..=looks.count()).map(|k| looks.look(k).seeds).collect();
        assert_eq!(seeds, [10, 20, 40, 80, 160, 200]);
        assert!((looks.look(2).confidence - (1.0 - 0.05 / 6.0)).abs() < 1e-12);
        assert_eq!((looks.look(1).seeds, looks.look(1).confidence), (5, 0.95));
        let strict = Looks { confidence: 0.99, ..looks };
        assert!((strict.look(1).confidence - 0.99).abs() < 1e-12);
        assert!((strict.look(2).confidence - (1.0 - 0.01 / 6.0)).abs() < 1e-12);
        assert_eq!(Looks { first: 200, most: 200, confidence: CONFIDENCE }.count(), 1);
        assert_eq!(Looks { first: 150, most: 200, confidence: CONFIDENCE }.count(), 2);
        assert!((Looks { first: 150, most: 200, confidence: CONFIDENCE }.look(2).confidence - 0.95).abs() < 1e-12);
    }

    #[test]
    fn all_later_looks_together_miss_the_mean_in_at_most_five_of_a_hundred_cases() {
        let looks = Looks { first: 3, most: 100, confidence: CONFIDENCE };
        const TRIALS: u64 = 2_000;
        let missed = |confidence: &dyn Fn(Look) -> f64| {
            let misses = |seed: &u64| {
                let mut draw = normal(*seed, 1.0);
                let mut samples: Vec<Reading> = vec![];
                (2..=looks.count()).any(|k| {
                    let look = looks.look(k);
                    samples.extend((samples.len() as u64..look.seeds).map(|_| draw()));
                    let e = Estimate::with_confidence(confidence(look), &samples, Range::ALL).unwrap();
                    e.ends().0 > 1.0 || e.ends().1 < 1.0
                })
            };
            (0..TRIALS).filter(misses).count()
        };
        let (shared, naive) = (missed(&|look| look.confidence), missed(&|_| CONFIDENCE));
        // 5 % are 100. Five intervals of 95 % each miss about three times as often.
        assert!((30..=100).contains(&shared), "{shared}");
        assert!(naive > 200, "{naive}");
    }
}
