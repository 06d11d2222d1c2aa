//! Expectations about a sequence of points: increasing, decreasing, order.

use super::{Position, Samples, TIE, estimate, mean_of, same_value};
use contend_experiment::reading::expression::literal;
use contend_experiment::reading::file::{Each, Expect, Requirement};
use contend_experiment::results::{PointKey, SweptValue};
use contend_experiment::stats::{Estimate, Range, Reading};
use serde_json::Value;
use std::collections::BTreeSet;

/// A step is flat when its whole interval is within this share of the range that the sequence's means cover.
pub const FLAT: f64 = 0.01;

/// Points that differ in one key only: the value of the key, and the index of the point.
pub(super) type Group<'p> = Vec<(&'p Value, usize)>;

/// Groups the points that have the key `along` by their other keys, but for those that `along` decides because the
/// sweep zips them with it. Each group is in ascending order of the key's value. Values that are not numbers keep the
/// order of the sweep.
pub(super) fn groups<'p>(along: &str, points: &[&'p PointKey]) -> Vec<Group<'p>> {
    let decided = |key: &str| {
        let mut known: Vec<(&SweptValue, Option<&SweptValue>)> = vec![];
        points.iter().all(|p| {
            let Some(value) = p.get(along) else { return true };
            let other = p.get(key);
            match known.iter().find(|(v, _)| *v == value) {
                Some((_, o)) => *o == other,
                None => {
                    known.push((value, other));
                    true
                }
            }
        })
    };
    let keys: BTreeSet<&String> = points.iter().flat_map(|p| p.keys()).collect();
    let apart: Vec<&String> = keys.into_iter().filter(|k| *k != along && !decided(k)).collect();
    let others =
        |p: &PointKey| -> PointKey { apart.iter().filter_map(|k| Some(((*k).clone(), p.get(*k)?.clone()))).collect() };
    let mut all: Vec<(PointKey, Group<'p>)> = vec![];
    for (i, p) in points.iter().enumerate() {
        let Some(value) = p.get(along) else { continue };
        let rest = others(p);
        match all.iter_mut().find(|(r, _)| *r == rest) {
            Some((_, group)) => group.push((value, i)),
            None => all.push((rest, vec![(value, i)])),
        }
    }
    let mut all: Vec<_> = all.into_iter().map(|(_, g)| g).collect();
    for group in &mut all {
        if group.iter().all(|(v, _)| number(v).is_some()) {
            group.sort_by(|a, b| number(a.0).unwrap_or(0.0).total_cmp(&number(b.0).unwrap_or(0.0)));
        }
    }
    all
}

fn number(v: &Value) -> Option<f64> {
    v.as_f64().or_else(|| literal(v.as_str()?).map(|n| n.value))
}

/// Judges the sequences of a requirement by intervals of this confidence; `evidence` holds the samples at each point.
/// With `may_tie` a step that is small beside its two values may be a tie.
pub(super) fn judge(
    requirement: &Requirement,
    confidence: f64,
    may_tie: bool,
    evidence: &[(&PointKey, Samples)],
) -> (Position, Option<Estimate>) {
    let points: Vec<&PointKey> = evidence.iter().map(|(p, _)| *p).collect();
    let of = |i: usize| evidence.get(i).map(|(_, s)| s);
    let along = match &requirement.expect {
        Expect::Increasing { along } | Expect::Decreasing { along } | Expect::Order { along, .. } => along,
        _ => return (Position::Unclear, None),
    };
    // The samples of each group, in the expected order.
    let mut sequences: Vec<Vec<Samples>> = vec![];
    for group in groups(along, &points) {
        let places: Vec<usize> = match &requirement.expect {
            Expect::Order { values, .. } => {
                values.iter().filter_map(|v| group.iter().find(|(w, _)| same_value(v, w)).map(|g| g.1)).collect()
            }
            _ => group.iter().map(|g| g.1).collect(),
        };
        sequences.push(places.into_iter().filter_map(of).cloned().collect());
    }
    if requirement.each == Each::Mean {
        let length = sequences.iter().map(Vec::len).min().unwrap_or(0);
        sequences = vec![
            (0..length).map(|k| mean_of(&sequences.iter().filter_map(|s| s.get(k)).collect::<Vec<_>>())).collect(),
        ];
    }
    let findings: Vec<(Position, Option<Estimate>)> =
        sequences.iter().map(|s| one(&requirement.expect, confidence, may_tie, s)).collect();
    let position = Position::combined(requirement.each, &findings.iter().map(|f| f.0).collect::<Vec<_>>());
    // Report the first sequence with the combined verdict.
    let measured = findings.iter().find(|f| f.0 == position).or(findings.first()).and_then(|f| f.1);
    (position, measured)
}

/// Judges one sequence.
fn one(expect: &Expect, confidence: f64, may_tie: bool, sequence: &[Samples]) -> (Position, Option<Estimate>) {
    // A difference in the expected direction is positive.
    let increasing = matches!(expect, Expect::Increasing { .. });
    let of = |samples: &Samples| estimate(samples, confidence, Range::ALL);
    // The step between two points, and how far it may be from 0 and still not matter.
    let step = |a: &Samples, b: &Samples| {
        let right = |(seed, y): (&u64, &Reading)| {
            let x = a.get(seed)?;
            Some((*seed, if increasing { y.minus(*x) } else { x.minus(*y) }))
        };
        let step = of(&b.iter().filter_map(right).collect())?;
        let level = (of(a)?.mean.abs() + of(b)?.mean.abs()) / 2.0;
        Some((step, if may_tie { TIE * level } else { 0.0 }))
    };
    let steps: Option<Vec<(Estimate, f64)>> = sequence.windows(2).map(|w| step(w.first()?, w.get(1)?)).collect();
    let (Some(steps), Some(first), Some(last)) = (steps, sequence.first(), sequence.last()) else {
        return (Position::Unclear, None);
    };
    if let Expect::Order { .. } = expect {
        let positions: Vec<Position> = steps.iter().map(|(s, small)| step_position(s, 0.0, *small)).collect();
        let smallest = steps.into_iter().map(|(s, _)| s).min_by(|a, b| a.mean.total_cmp(&b.mean));
        return (Position::combined(Each::Every, &positions), smallest);
    }
    let means = || sequence.iter().filter_map(of).map(|m| m.mean);
    let range = means().fold(f64::NEG_INFINITY, f64::max) - means().fold(f64::INFINITY, f64::min);
    let Some((whole, small)) = step(first, last) else { return (Position::Unclear, None) };
    let mut positions = vec![step_position(&whole, 0.0, small)];
    positions.extend(steps.iter().map(|(s, small)| step_position(s, FLAT * range, *small)));
    // Always the last value minus the first.
    let turned = || Estimate { mean: -whole.mean, interval: whole.interval.map(|(a, b)| (-b, -a)), ..whole };
    let measured = if increasing { whole } else { turned() };
    (Position::combined(Each::Every, &positions), Some(measured))
}

/// Inside if the difference is certainly positive or within `tolerance`, outside if it is certainly neither. Otherwise
/// a difference within `small` is a tie.
fn step_position(difference: &Estimate, tolerance: f64, small: f64) -> Position {
    let (low, high) = difference.ends();
    if low > 0.0 || (low >= -tolerance && high <= tolerance && tolerance > 0.0) {
        Position::Inside
    } else if high < -tolerance || (high <= 0.0 && tolerance == 0.0) {
        Position::Outside
    } else if low >= -small && high <= small {
        Position::Tie
    } else {
        Position::Unclear
    }
}
