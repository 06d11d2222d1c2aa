//! `[search]`: the value of a key at which a condition begins to hold.
//!
//! Bisection finds the threshold in a few runs. It assumes that the condition is monotone: once it holds on the way
//! from `from` to `to`, it continues to hold. Stepping finds the first value at which the condition holds, even if it
//! does not hold at later values.
//!
//! With several seeds, each side of the condition is averaged over the seeds before the comparison.

use crate::measuring::metric::{Condition, Unmeasured};
use contend_experiment::reading::expression::{Dimension, ParseError};
use contend_experiment::reading::file::{Overlay, Search};
use contend_experiment::results::Run;
use contend_experiment::stats;
use std::fmt;

/// How a search chooses the next value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Halve the range; the number of runs grows with its logarithm.
    Bisect,
    /// From one end to the other in steps of this size, in the base unit.
    Linear(f64),
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The last value tried, on the way from `from` to `to`, at which the condition does not hold; `None` when it holds
    /// at every value tried.
    pub last_without: Option<f64>,
    /// The first value tried at which the condition holds; `None` when it holds at none.
    pub first_with: Option<f64>,
    /// Every value tried, in the order of the trials; true if the condition held there.
    pub tried: Vec<(f64, bool)>,
}

/// Why a search has no result.
#[derive(Debug)]
pub enum SearchError<E> {
    /// `until` is not a condition.
    Condition(ParseError),
    /// The range or the step is invalid; the text contains the remedy.
    Range(String),
    /// The condition has no value at this value of the key.
    Unmeasured(f64, Unmeasured),
    /// A run failed.
    Run(E),
}

impl<E: fmt::Display> fmt::Display for SearchError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Condition(e) => write!(f, "`until`: {e}"),
            SearchError::Range(s) => f.write_str(s),
            SearchError::Unmeasured(x, e) => write!(f, "at {x}: {e}"),
            SearchError::Run(e) => write!(f, "{e}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for SearchError<E> {}

/// The most values that a search may try.
pub const MAX_TRIALS: usize = 100_000;

/// Bisection stops at this share of the range, unless the key takes whole numbers only.
pub const RESOLUTION: f64 = 1.0 / 1024.0;

/// Searches as `search` says. `run` makes the runs of all seeds with an overlay.
///
/// If both bounds are whole numbers of packets, bytes or a plain number, only whole numbers are tried.
///
/// # Errors
/// When the condition cannot be read or evaluated, when the range or the step is invalid, or when `run` fails.
pub fn find<E>(
    search: &Search,
    step: Step,
    mut run: impl FnMut(&Overlay) -> Result<Vec<Run>, E>,
) -> Result<Found, SearchError<E>> {
    let condition = Condition::parse(&search.until).map_err(SearchError::Condition)?;
    let (from, to) = (search.from.value, search.to.value);
    if !from.is_finite() || !to.is_finite() || search.from.unit != search.to.unit {
        return Err(SearchError::Range(format!(
            "the range {}..{} is invalid; write two quantities of the same unit",
            search.from, search.to
        )));
    }
    let mut tried = vec![];
    let mut holds = |x: f64| {
        let runs = run(&search.overlay(x)).map_err(SearchError::Run)?;
        let held = met(&condition, &runs).map_err(|e| SearchError::Unmeasured(x, e))?;
        tried.push((x, held));
        Ok(held)
    };
    let (last_without, first_with) = match step {
        Step::Bisect => bisect(search, from, to, &mut holds)?,
        Step::Linear(size) => linear(from, to, size, &mut holds)?,
    };
    Ok(Found { last_without, first_with, tried })
}

type Threshold = (Option<f64>, Option<f64>);

fn bisect<E>(
    search: &Search,
    from: f64,
    to: f64,
    holds: &mut impl FnMut(f64) -> Result<bool, SearchError<E>>,
) -> Result<Threshold, SearchError<E>> {
    let counted = matches!(search.from.unit, Dimension::Number | Dimension::Packets | Dimension::Bytes)
        && from.fract() == 0.0
        && to.fract() == 0.0;
    if holds(from)? {
        return Ok((None, Some(from)));
    }
    if from == to || !holds(to)? {
        return Ok((Some(to), None));
    }
    let resolution = if counted { 1.0 } else { (to - from).abs() * RESOLUTION };
    let (mut without, mut with) = (from, to);
    while (with - without).abs() > resolution {
        let middle = without + (with - without) / 2.0;
        let middle = if counted { libm::trunc(middle) } else { middle };
        // Truncation towards 0 may give one of the two ends. Then take the number next to that end.
        let middle = if middle == without {
            without + (with - without).signum()
        } else if middle == with {
            with - (with - without).signum()
        } else {
            middle
        };
        if holds(middle)? {
            with = middle;
        } else {
            without = middle;
        }
    }
    Ok((Some(without), Some(with)))
}

fn linear<E>(
    from: f64,
    to: f64,
    size: f64,
    holds: &mut impl FnMut(f64) -> Result<bool, SearchError<E>>,
) -> Result<Threshold, SearchError<E>> {
    if !size.is_finite() || size <= 0.0 {
        return Err(SearchError::Range(format!("the step is {size}; write a step above 0")));
    }
    let steps = libm::floor((to - from).abs() / size * (1.0 + 1e-12));
    if steps > MAX_TRIALS as f64 {
        return Err(SearchError::Range(format!("{steps} steps are more than {MAX_TRIALS}; write a larger step")));
    }
    let mut last_without = None;
    for k in 0..=steps as u64 {
        let x = from + (to - from).signum() * size * k as f64;
        if holds(x)? {
            return Ok((last_without, Some(x)));
        }
        last_without = Some(x);
    }
    Ok((last_without, None))
}

/// True if the condition holds for the means of its two sides over `runs`.
fn met(condition: &Condition, runs: &[Run]) -> Result<bool, Unmeasured> {
    let side = |e: &crate::measuring::metric::Expr| {
        let values = runs.iter().map(|r| e.eval(r)).collect::<Result<Vec<_>, _>>()?;
        stats::mean(&values).ok_or_else(|| Unmeasured::Undefined("there is no run".into()))
    };
    Ok(condition.relation.holds(side(&condition.left)?, side(&condition.right)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::metric::synthetic::{empty, queue};
    use contend_experiment::reading::expression::Quantity;
    use contend_experiment::reading::file::Spot;

    /// Searches for the window at which an access point drops more than one packet. It drops the packets above
    /// `limit(seed)`.
    fn search(from: f64, to: f64, unit: Dimension) -> Search {
        let q = |value| Quantity { value, unit };
        Search {
            key: "flow.0.window".into(),
            from: q(from),
            to: q(to),
            until: "drops[ap] > 1".into(),
            until_site: Spot::None,
        }
    }

    fn runs(overlay: &Overlay, limits: &[f64]) -> Result<Vec<Run>, String> {
        let value = overlay.settings()["flow.0.window"].clone();
        let x = value
            .as_f64()
            .or_else(|| contend_experiment::reading::expression::literal(value.as_str()?).map(|n| n.value))
            .ok_or("no number")?;
        let one = |(i, limit): (usize, &f64)| Run {
            queues: vec![queue("ap", [(x - limit).max(0.0) as u64, 0, 0, 0], &[])],
            ..empty(i as u64)
        };
        Ok(limits.iter().enumerate().map(one).collect())
    }

    fn found(s: &Search, step: Step, limit: f64) -> Found {
        find(s, step, |o| runs(o, &[limit])).unwrap()
    }

    #[test]
    fn bisection_and_steps_find_the_same_threshold() {
        // More than one drop from limit + 2 on.
        for limit in [1.0, 23.0, 57.0, 97.0] {
            for step in [Step::Bisect, Step::Linear(1.0)] {
                let f = found(&search(1.0, 100.0, Dimension::Packets), step, limit);
                assert_eq!((f.last_without, f.first_with), (Some(limit + 1.0), Some(limit + 2.0)), "{step:?}");
            }
        }
        let f = found(&search(1.0, 100.0, Dimension::Packets), Step::Bisect, 57.0);
        assert!(f.tried.len() <= 9, "{:?}", f.tried);
        assert!(f.tried.iter().all(|(x, _)| x.fract() == 0.0));
    }

    #[test]
    fn a_search_may_go_down() {
        let mut s = search(100.0, 1.0, Dimension::Packets);
        s.until = "drops[ap] == 0".into();
        let f = found(&s, Step::Bisect, 40.0);
        assert_eq!((f.last_without, f.first_with), (Some(41.0), Some(40.0)));
        assert_eq!(found(&s, Step::Linear(7.0), 40.0).first_with, Some(37.0));
    }

    #[test]
    fn a_threshold_outside_the_range_is_said_to_be_there() {
        let s = search(10.0, 50.0, Dimension::Packets);
        for step in [Step::Bisect, Step::Linear(1.0)] {
            let never = found(&s, step, 200.0);
            assert_eq!((never.last_without, never.first_with), (Some(50.0), None));
            let always = found(&s, step, 0.0);
            assert_eq!((always.last_without, always.first_with), (None, Some(10.0)));
        }
    }

    #[test]
    fn quantities_between_whole_numbers_are_tried_to_a_thousandth_of_the_range() {
        let s = search(0.5, 100.5, Dimension::Time);
        let f = found(&s, Step::Bisect, 30.25);
        let (below, above) = (f.last_without.unwrap(), f.first_with.unwrap());
        assert!(below < 32.25 && 32.25 <= above && above - below <= 0.1, "{below} {above}");
    }

    #[test]
    fn seeds_decide_by_their_mean() {
        // Drops above 20 and above 40: their mean exceeds 1 from 23 on, at (3 + 0) / 2.
        let s = search(1.0, 100.0, Dimension::Packets);
        let f = find(&s, Step::Linear(1.0), |o| runs(o, &[20.0, 40.0])).unwrap();
        assert_eq!(f.first_with, Some(23.0));
    }

    #[test]
    fn what_cannot_be_searched_is_an_error() {
        let s = search(1.0, 100.0, Dimension::Packets);
        assert!(matches!(find(&s, Step::Linear(0.0), |o| runs(o, &[1.0])), Err(SearchError::Range(_))));
        assert!(matches!(find(&s, Step::Linear(1e-9), |o| runs(o, &[1.0])), Err(SearchError::Range(_))));
        assert!(matches!(find(&s, Step::Bisect, |o| runs(o, &[])), Err(SearchError::Unmeasured(x, _)) if x == 1.0));
        assert!(matches!(find(&s, Step::Bisect, |_| Err("no such network")), Err(SearchError::Run("no such network"))));
        let bad = Search { until: "drops[ap]".into(), ..s };
        assert!(matches!(find(&bad, Step::Bisect, |o| runs(o, &[1.0])), Err(SearchError::Condition(_))));
    }
}
