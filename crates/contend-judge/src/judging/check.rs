//! Checks: is a target of the user's met?
//!
//! A check is judged as a claim is, from the 95 % interval over the seeds. It is `met` when the whole interval is in
//! the expected range, `not met` when the whole interval is outside, and `not decided` when the interval crosses a
//! bound or nothing was measured. A single seed has no interval; then the value alone decides. Whoever waits for the
//! answer wants to be told `met` only when it is certain, so a check that is not decided fails as one that is not met.

use super::claim::{Evidence, Finding, Need, Position};
use contend_experiment::reading::file::{Bound, Check, FileError, Overlay, Source};
use contend_experiment::results::{CheckResult, Look, PointKey, Run};

pub use contend_experiment::results::{MET, NOT_DECIDED, NOT_MET};

/// A judged check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The answer.
    pub result: CheckResult,
    /// What could not be measured, with place and reason.
    pub notes: Vec<super::note::Note>,
}

impl Checked {
    /// True if the check is not decided although every run has a value: more seeds may decide it.
    pub fn needs_seeds(&self) -> bool {
        self.notes.is_empty() && self.result.answer == NOT_DECIDED
    }
}

/// For each check of a file, whether further seeds may change what the checks say together: not if it does not count,
/// nor if an alternative is met.
pub fn open(all: &[Checked]) -> Vec<bool> {
    all.iter().map(|c| c.needs_seeds() && c.result.is_unmet(all.iter().map(|other| &other.result))).collect()
}

/// Judges a check of the file `source` with the points `points`. `runs` returns the runs of a need with all seeds.
/// `look` is `None` for the first seeds.
///
/// # Errors
/// When the metric does not fit the runs; for example, it names a flow that does not exist.
pub fn judge<'a>(
    source: &Source,
    points: &[PointKey],
    check: &Check,
    runs: &dyn Fn(&Need) -> Vec<&'a Run>,
    look: Option<Look>,
) -> Result<Checked, FileError> {
    let evidence = Evidence { source, points, runs, owner: format!("check {}", check.what) };
    let Finding { position, measured, notes } = evidence.judge(&check.requirement, &Overlay::default(), look)?;
    let answer = match position {
        Some(Position::Inside) => MET,
        Some(Position::Outside) => NOT_MET,
        Some(Position::Tie | Position::Unclear) | None => NOT_DECIDED,
    };
    let Check { what, id, bound, why, informative, .. } = check.clone();
    let result = CheckResult { what, id, bound: bound.map(Bound::name), why, informative, answer, measured };
    Ok(Checked { result, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::metric::synthetic::{empty, flow};
    use contend_experiment::reading::expression::{Dimension, Quantity, WrittenUnit};
    use contend_experiment::reading::file::{Each, Expect, Requirement, Spot};

    /// The check that uploads get at least 2 Mb/s, and runs in which they get so many bit/s.
    fn answer(sets: &[&str], when: &[u64], rates: &[f64]) -> Checked {
        at(None, sets, when, rates)
    }

    fn at(look: Option<Look>, sets: &[&str], when: &[u64], rates: &[f64]) -> Checked {
        let bound = Quantity { value: 2e6, unit: Dimension::Rate };
        let requirement = Requirement {
            metric: "goodput.up".into(),
            metric_site: Spot::None,
            over: None,
            less: None,
            when: when.iter().map(|k| ("k".to_owned(), vec![(*k).into()])).collect(),
            each: Each::Every,
            pool: false,
            expect: Expect::AtLeast(bound),
            unit: WrittenUnit::of("2000kbps"),
        };
        let source =
            Source { path: "t.toml".into(), text: String::new(), sets: sets.iter().map(|s| (*s).into()).collect() };
        let point: PointKey = [("k".to_owned(), 1.into())].into();
        let run = |(i, x): (usize, &f64)| Run { flows: vec![flow("up.1", "up", *x)], ..empty(i as u64) };
        let runs: Vec<Run> = rates.iter().enumerate().map(run).collect();
        let check = Check {
            what: "uploads".into(),
            id: None,
            bound: None,
            why: String::new(),
            informative: false,
            requirement,
        };
        judge(&source, &[point], &check, &|_| runs.iter().collect(), look).unwrap()
    }

    #[test]
    fn a_check_is_met_or_not_met_only_when_the_whole_interval_says_so() {
        let of = |rates: &[f64]| answer(&[], &[1], rates).result.answer;
        assert_eq!(of(&[2.5e6, 2.6e6, 2.7e6]), MET);
        assert_eq!(of(&[1.5e6, 1.6e6, 1.7e6]), NOT_MET);
        // The mean is above the bound, the interval is on both sides.
        assert_eq!(of(&[1.9e6, 2.3e6]), NOT_DECIDED);
        // One seed has no interval.
        assert_eq!([of(&[2e6]), of(&[1.99e6])], [MET, NOT_MET]);
    }

    #[test]
    fn a_check_without_a_measurement_is_not_met_silently() {
        let Checked { result, notes } = answer(&[], &[1], &[]);
        assert_eq!((result.answer, result.measured.value), (NOT_DECIDED, None));
        assert!(notes[0].to_string().starts_with("check uploads: there is no run"), "{notes:?}");
        let Checked { result, notes } = answer(&["k=1"], &[9], &[2.5e6]);
        assert_eq!(result.answer, NOT_DECIDED);
        assert!(notes[0].to_string().contains("is not judged"), "{notes:?}");
    }

    #[test]
    fn a_later_look_decides_by_its_own_interval_and_reports_that_of_95_percent() {
        let rates = [2.05e6, 2.3e6, 2.4e6];
        let look = |confidence| Look { number: 2, of: 3, seeds: 3, confidence };
        let judged = |look| at(look, &[], &[1], &rates);
        // Mean 2.25 Mb/s, deviation 0.180 Mb/s. Student's t with 2 degrees of freedom: half widths of 448 kb/s at 95 %,
        // and of 196 kb/s at 80 %.
        assert!(judged(None).needs_seeds() && judged(Some(look(0.95))).needs_seeds());
        let later = judged(Some(look(0.8)));
        assert_eq!((later.result.answer, later.result.measured.look), (MET, Some(look(0.8))));
        assert_eq!(later.result.measured.ci95, judged(None).result.measured.ci95);
    }

    #[test]
    fn the_measured_value_has_the_unit_of_the_bound() {
        let result = answer(&[], &[1], &[1.83e6]).result;
        assert_eq!(result.measured.unit, "kbps");
        assert_eq!(result.measured.expected, ">= 2000kbps");
    }
}
