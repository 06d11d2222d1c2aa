//! Short-term fairness on the air: which stations succeeded, and Jain's index over windows of successes.
//!
//! Starzetz 2006 §8.2: a window slides over the sequence of successful transmissions. x_i is the number of successes of
//! station i in the window. The index is averaged over all positions of the window. (The source only cites the method;
//! this is the specification's reading, S24 and U15.) The source's figures call a window of w N successes, with N
//! stations, a normalised window of w.

use crate::measuring::metric::entry::{MetricEntry, Period, Subject};
use crate::measuring::metric::eval;
use crate::measuring::metric::reading::{no_cell, window};
use crate::measuring::metric::{Expr, Metric, Scope, Unmeasured, Values};
use contend_core::Refusal;
use contend_experiment::reading::expression::Dimension;
use contend_experiment::results::Run;
use contend_sim::wifi::{AP, Success};

/// Stations, selected by their role in a success: sender (`up`, `all`), or receiver of the access point's frame
/// (`down`).
static SENDERS: Subject = Subject {
    noun: "station",
    uses: &[
        ("NAME", "all successes"),
        ("NAME[all]", "a list with one number for each sender"),
        ("NAME[up]", "one for each station that sends"),
        ("NAME[down]", "one for each station that receives from the access point"),
        ("NAME[STATION]", "a station"),
        ("jain(NAME[up], 100)", "the mean of Jain's index over all windows of 100 successes"),
    ],
    member: "sta1",
    groups: &["all", "up", "down"],
    names: |run| run.stations.iter().map(String::as_str).collect(),
    group: |name, run| match name {
        // A run of [contention] has no access point.
        "all" => (usize::from(run.contending.is_some())..run.stations.len()).collect(),
        _ => (AP as usize + 1..run.stations.len()).collect(),
    },
    needs_cell: true,
};

pub(super) const METRICS: &[MetricEntry] = &[MetricEntry::own(
    "successes",
    Dimension::Number,
    &SENDERS,
    "data frames acknowledged, by station: `[up]` frames of the stations, `[all]` also those of the access point, \
        `[down]` frames of the access point by receiver; `jain(successes[up], 100)`: mean of Jain's index over all \
        windows of 100 successes",
    counted,
)
.over(Period::RunOrWindow)
.needs(|m, s| s.successes |= m.scope != Scope::All || m.window.is_some())
.in_contention()
.reported_in_contention(&["successes"])];

/// True if `m` counts successes; their order is known, too.
pub(in crate::measuring::metric) fn has_sequence(m: &Metric) -> bool {
    METRICS.contains(m.entry)
}

/// A selection of stations, and how successes are assigned to them.
struct Members {
    /// Number of stations.
    count: usize,
    /// Index among the selected stations, by station number.
    places: Vec<Option<usize>>,
    /// True if the successes are the access point's frames to the stations.
    down: bool,
}

impl Members {
    /// The stations that `name` selects: all senders (`all`), the stations as senders (`up`) or as receivers (`down`),
    /// or stations by name.
    fn of(m: &Metric, name: &str, run: &Run) -> Result<Members, Unmeasured> {
        let ids = SENDERS.select(m, name, run)?;
        let mut places = vec![None; run.stations.len()];
        for (place, id) in ids.iter().enumerate() {
            places.get_mut(*id).into_iter().for_each(|p| *p = Some(place));
        }
        Ok(Members { count: ids.len(), places, down: name == "down" })
    }

    /// The index of the station of this success; `None` if that station is not selected.
    fn place(&self, s: Success) -> Option<usize> {
        let who = if self.down { s.station() } else { s.sender() };
        if self.down && !s.is_down() { None } else { self.places.get(who as usize).copied().flatten() }
    }
}

/// The successes in the time window of `m`.
fn sequence<'a>(m: &Metric, run: &'a Run) -> Result<&'a [Success], Unmeasured> {
    if run.air.is_none() {
        return Err(no_cell(m));
    }
    let kept = || Unmeasured::wrong(format!("`{m}`: this run did not keep its successes"));
    let all = run.detail.successes.as_ref().ok_or_else(kept)?;
    let part = match window(m, run)? {
        Some(w) => {
            let at = |i: usize| run.detail.series.successes.get(i).copied().ok_or_else(kept);
            all.sequence.get(at(w.first)?..at(w.last)?)
        }
        None => all.sequence.get(all.warmup..),
    };
    part.ok_or_else(kept)
}

/// The number of successes that `m` counts.
fn counted(m: &Metric, run: &Run) -> Result<Values, Unmeasured> {
    if m.scope == Scope::All && m.window.is_none() {
        return run.air.as_ref().map(|air| Values::One(air.successes as f64)).ok_or_else(|| no_cell(m));
    }
    let successes = sequence(m, run)?;
    let counts = |name: &str| -> Result<Vec<f64>, Unmeasured> {
        let members = Members::of(m, name, run)?;
        let mut counts = vec![0u64; members.count];
        for place in successes.iter().filter_map(|s| members.place(*s)) {
            counts.get_mut(place).into_iter().for_each(|n| *n += 1);
        }
        Ok(counts.into_iter().map(|n| n as f64).collect())
    };
    Ok(match &m.scope {
        Scope::All => Values::One(successes.len() as f64),
        Scope::Together(name) => Values::One(counts(name)?.iter().sum()),
        Scope::Each(name) => Values::Many(counts(name)?),
    })
}

/// Applies `shown` to the sequence of stations in the successes that `of` selects. `shown` gets the stations' indices,
/// the number of stations and the window length `length`.
pub(in crate::measuring::metric) fn sliding(
    of: &Expr,
    length: &Expr,
    run: &Run,
    shown: fn(&[u32], usize, usize) -> Option<f64>,
) -> Result<Values, Unmeasured> {
    let Expr::Metric(m) = of else {
        return Err(Unmeasured::wrong(format!("`{of}` has no windows of successes")));
    };
    let length = eval::number(length, run)?;
    if !(1.0..=1e9).contains(&length) || length.fract() != 0.0 {
        return Err(Unmeasured::wrong(format!(
            "`{m}`: a window has a whole number of successes, from 1 to 1e9, not {length}"
        )));
    }
    let Scope::Each(name) = &m.scope else {
        return Err(Unmeasured::wrong(Refusal::new(format!("`{m}` is one number"), "select stations in brackets")));
    };
    let successes = sequence(m, run)?;
    let members = Members::of(m, name, run)?;
    let places: Vec<u32> = successes.iter().filter_map(|s| members.place(*s)).map(|p| p as u32).collect();
    let too_few =
        || Unmeasured::Undefined(format!("`{m}`: {} successes do not fill a window of {length}", places.len()));
    shown(&places, members.count, length as usize).map(Values::One).ok_or_else(too_few)
}

/// Share of the entries of `places` that occur again among the next `length` entries. Entries with fewer successors are
/// not counted. `None` when no entry counts.
pub(in crate::measuring::metric) fn returns_within(places: &[u32], members: usize, length: usize) -> Option<f64> {
    let judged = places.len().checked_sub(length).filter(|n| *n > 0)?;
    let mut last: Vec<Option<usize>> = vec![None; members];
    let mut returned = 0u64;
    for (i, place) in places.iter().enumerate() {
        let before = last.get_mut(*place as usize)?.replace(i);
        returned += u64::from(before.is_some_and(|k| k < judged && i - k <= length));
    }
    Some(returned as f64 / judged as f64)
}

/// Mean of Jain's index over all windows of `length` entries of `places`; each entry is one of `members` stations.
/// `None` when there is no such window.
pub(in crate::measuring::metric) fn jain_over_windows(places: &[u32], members: usize, length: usize) -> Option<f64> {
    let windows = places.len().checked_sub(length)? + 1;
    let mut counts = vec![0u64; members];
    // The sum of the squared counts; adding one to a count changes the sum by 2 x + 1, subtracting one by 2 x - 1.
    let mut squares = 0u64;
    let mut sum = 0.0;
    for (i, place) in places.iter().enumerate() {
        if let Some(left) = i.checked_sub(length).and_then(|k| places.get(k)) {
            let x = counts.get_mut(*left as usize)?;
            squares -= 2 * *x - 1;
            *x -= 1;
        }
        let x = counts.get_mut(*place as usize)?;
        squares += 2 * *x + 1;
        *x += 1;
        if i + 1 >= length {
            sum += 1.0 / squares as f64;
        }
    }
    let total = length as f64;
    Some(sum / windows as f64 * total * total / members as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::metric::Expr;
    use crate::measuring::metric::synthetic::example;
    use contend_experiment::results::Successes;

    fn run(sequence: &[(u32, u32)], warmup: usize, at: Vec<usize>) -> Run {
        let mut run = example();
        run.stations = ["ap", "sta1", "sta2"].map(str::to_owned).to_vec();
        run.detail.successes =
            Some(Successes { sequence: sequence.iter().map(|(from, to)| Success::new(*from, *to)).collect(), warmup });
        run.detail.series.successes = at;
        run.air.as_mut().unwrap().successes = (sequence.len() - warmup) as u64;
        run
    }

    fn value(text: &str, run: &Run) -> Result<f64, Unmeasured> {
        Expr::parse(text).unwrap().eval(run)
    }

    /// One success in the warm-up, then: sta1, sta1, ap to sta2, sta2, sta1, ap to sta1.
    fn small() -> Run {
        run(&[(2, 0), (1, 0), (1, 0), (0, 2), (2, 0), (1, 0), (0, 1)], 1, (0..=40).map(|k| (k / 4).min(7)).collect())
    }

    #[test]
    fn successes_are_counted_by_sender_and_of_the_access_point_by_receiver() {
        let run = small();
        let list = |text: &str| Expr::parse_any(text).unwrap().values(&run).unwrap();
        assert_eq!(list("successes"), [6.0]);
        assert_eq!(list("successes[all]"), [2.0, 3.0, 1.0]);
        assert_eq!((list("successes[up]"), list("successes[sta]")), (vec![3.0, 1.0], vec![3.0, 1.0]));
        assert_eq!(list("successes[down]"), [1.0, 1.0]);
        assert_eq!(
            (list("successes.up"), list("successes.down"), list("successes[ap]")),
            (vec![4.0], vec![2.0], vec![2.0])
        );
        assert_eq!(Expr::parse_any("successes[down]").unwrap().members(&run).unwrap().unwrap(), ["sta1", "sta2"]);
        // There is a sample every half second, and a success every two seconds from the second on: numbers 3 and 4 are
        // between 6 s and 10 s.
        assert_eq!(list("successes[all][6s..10s]"), [1.0, 0.0, 1.0]);
        assert!(matches!(value("successes[sta3]", &run), Err(Unmeasured::Wrong(s)) if s.to_string().contains("sta1")));
    }

    #[test]
    fn the_index_over_windows_of_a_sequence_is_that_computed_by_hand() {
        let run = small();
        let is = |text: &str, want: f64| {
            assert!((value(text, &run).unwrap() - want).abs() < 1e-12, "{text}: {:?}, not {want}", value(text, &run))
        };
        // Up: 1 1 2 1. Windows of two have 2+0, 1+1, 1+1 successes: 4/(2*4), 4/(2*2), 4/(2*2).
        is("jain(successes[up], 2)", (0.5 + 1.0 + 1.0) / 3.0);
        // 2+1 and 2+1: 9/(2*5).
        is("jain(successes[up], 3)", 0.9);
        is("jain(successes[up], 4)", 16.0 / 20.0);
        is("jain(successes[up])", 16.0 / 20.0);
        is("jain(successes[up], 1)", 0.5);
        is("jain(successes[down], 2)", 1.0);
        // All senders: 1 1 0 2 1 0. Of the four windows of three, the first has two different stations, the others
        // three: 1 1 0, 1 0 2, 0 2 1, 2 1 0.
        is("jain(successes[all], 3)", (9.0 / (3.0 * 5.0) + 3.0) / 4.0);
        // The length may be a swept value: flow.1.count is 2.
        is("jain(successes[up], point(\"flow.1.count\"))", 2.5 / 3.0);
        assert!(
            matches!(value("jain(successes[up], 5)", &run), Err(Unmeasured::Undefined(s)) if s.contains("4 successes"))
        );
        assert!(matches!(
            value("jain(successes[up], point(\"flow.1.count\") / 4)", &run),
            Err(Unmeasured::Wrong(s)) if s.to_string().contains("whole"),
        ));
        assert!(matches!(
            value("jain(successes[up], 2)", &example()), Err(Unmeasured::Wrong(s)) if s.what.contains("did not keep"),
        ));
    }

    #[test]
    fn the_share_that_returns_is_that_counted_by_hand() {
        let run = small();
        let is = |text: &str, want: f64| {
            assert!((value(text, &run).unwrap() - want).abs() < 1e-12, "{text}: {:?}, not {want}", value(text, &run))
        };
        // Up: 1 1 2 1. Within one: of 1 1 2 the first; within two: of 1 1 both; within three: of 1.
        is("self_correlation(successes[up], 1)", 1.0 / 3.0);
        is("self_correlation(successes[up], 2)", 1.0);
        is("self_correlation(successes[up], 3)", 1.0);
        assert!(matches!(
            value("self_correlation(successes[up], 4)", &run),
            Err(Unmeasured::Undefined(s)) if s.contains("4 successes"),
        ));
        // Stations that take turns come back after exactly one round (Starzetz 2006, specification S8).
        let turns: Vec<u32> = (0..1000).map(|i| i % 5).collect();
        assert_eq!((returns_within(&turns, 5, 4), returns_within(&turns, 5, 5)), (Some(0.0), Some(1.0)));
        // Independent draws of two stations, with the next one, two and three draws: each sequence occurs once, which
        // gives 1 - (1/2)^j.
        let two = [0, 0, 0, 1, 0, 1, 1, 1, 0, 0];
        assert_eq!((returns_within(&two, 2, 1), returns_within(&two[..9], 2, 1)), (Some(5.0 / 9.0), Some(0.5)));
    }

    #[test]
    fn over_all_sequences_of_independent_draws_it_is_the_expected_index() {
        // A de Bruijn sequence has every window exactly once. Two stations, three draws: 3+0 in 1 of 4 (9/18), 2+1 in 3
        // of 4 (9/10): 0.8.
        let two = [0, 0, 0, 1, 0, 1, 1, 1, 0, 0];
        assert!((jain_over_windows(&two, 2, 3).unwrap() - 0.8).abs() < 1e-15);
        // Three stations, two draws: equal in 1 of 3 (4/12), different in 2 of 3 (4/6): 5/9.
        let three = [0, 0, 1, 0, 2, 1, 1, 2, 2, 0];
        assert!((jain_over_windows(&three, 3, 2).unwrap() - 5.0 / 9.0).abs() < 1e-15);
        assert_eq!((jain_over_windows(&two, 2, 11), jain_over_windows(&[], 2, 1)), (None, None));
    }

    #[test]
    fn stations_in_turn_are_fair_over_every_round() {
        // Time division (Starzetz S27): each of five stations has its place in a round.
        let turns: Vec<u32> = (0..1000).map(|i| i % 5).collect();
        for rounds in 1..5 {
            assert!((jain_over_windows(&turns, 5, 5 * rounds).unwrap() - 1.0).abs() < 1e-12);
        }
        assert!((jain_over_windows(&turns, 5, 2).unwrap() - 0.4).abs() < 1e-12);
    }
}
