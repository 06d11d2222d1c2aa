//! What few seeds mean: wide intervals, and claims that stay undecided.

use contend_experiment::reading::file::{Experiment, Verdict};
use contend_experiment::results::{ClaimResult, Run, by_point};
use contend_experiment::stats::{CONFIDENCE, student};

/// From this number of seeds on, there is no warning.
const ENOUGH: usize = 5;
/// The number of seeds that the warning recommends.
const BETTER: usize = 10;

/// A warning if there are intervals, but from fewer than [`ENOUGH`] seeds. Runs that do not depend on the seed need no
/// more seeds.
pub(crate) fn warning(runs: &[Run]) -> Option<String> {
    let points = by_point(runs, |r| &r.point);
    let n = points.iter().map(|(_, here)| here.len()).max()?;
    let differs = |here: &[&Run]| here.windows(2).any(|pair| pair[0].metrics != pair[1].metrics);
    let (here, better) = (student(CONFIDENCE, n)?, student(CONFIDENCE, BETTER)?);
    (n < ENOUGH && points.iter().any(|(_, here)| differs(here))).then(|| {
        format!(
            "with {n} seeds the 95 % intervals are wide: ± {here:.1} standard errors, with {BETTER} seeds \
                ± {better:.1}; run more, for example --seeds 1..{BETTER}"
        )
    })
}

/// Accepts undecided verdicts, measured or recorded, of claims that got fewer seeds than the file asks for: fewer seeds
/// cannot contradict the record by being undecided. The note names the claims that are undecided.
pub(crate) fn accept_undecided(e: &Experiment, claims: &mut [ClaimResult]) -> Option<String> {
    let asked = e.seeds_of_file?;
    let undecided = |verdict: &str| [Verdict::Undecided, Verdict::Tie].iter().any(|v| v.name() == verdict);
    let mut accepted = vec![];
    for c in claims.iter_mut().filter(|c| !c.as_recorded) {
        let ran = c.measured.look.map_or(e.seeds.len() as u64, |look| look.seeds);
        if ran < asked as u64 && (undecided(&c.verdict) || undecided(&c.recorded)) {
            c.as_recorded = true;
            if undecided(&c.verdict) {
                accepted.push(c.id.as_str());
            }
        }
    }
    (!accepted.is_empty()).then(|| {
        format!(
            "undecided with fewer seeds than the {asked} of the file, so no difference from the record: {}",
            accepted.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::results::PointKey;
    use std::collections::BTreeMap;

    fn run(at: u32, jain: f64) -> Run {
        let point = PointKey::from([("k".to_owned(), at.into())]);
        Run::of_model(&point, [("jain".to_owned(), jain)].into(), BTreeMap::new())
    }

    #[test]
    fn two_to_four_seeds_with_different_results_give_a_warning() {
        let of = |values: &[f64]| warning(&values.iter().map(|x| run(1, *x)).collect::<Vec<_>>());
        assert_eq!(
            of(&[0.1, 0.2]).unwrap(),
            "with 2 seeds the 95 % intervals are wide: ± 12.7 standard errors, with 10 seeds ± 2.3; run more, for \
                example --seeds 1..10"
        );
        assert!(of(&[0.1, 0.1, 0.1, 0.2]).unwrap().contains("± 3.2"));
        // One seed has no interval; five are enough; equal results do not depend on the seed.
        assert_eq!([of(&[]), of(&[0.1]), of(&[0.1, 0.2, 0.3, 0.4, 0.5]), of(&[0.1; 3])], [const { None }; 4]);
    }

    #[test]
    fn results_are_compared_within_a_point() {
        assert_eq!(warning(&[run(1, 0.1), run(1, 0.1), run(2, 0.2), run(2, 0.2)]), None);
        assert!(warning(&[run(1, 0.1), run(1, 0.1), run(2, 0.2), run(2, 0.3)]).is_some());
    }
}
