//! Which runs an experiment, its claims and its checks need.

use super::{Check, Claim, Experiment, Overlay, Requirement};
use crate::results::PointKey;
use serde_json::Value;
use std::collections::BTreeSet;

/// A point of the sweep with an overlay of settings; it is run once with every seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The point: one of [`Experiment::points`].
    pub point: PointKey,
    /// Settings applied to the point; often empty.
    pub overlay: Overlay,
}

impl Need {
    /// The need for `point` with `overlay`. If the overlay leads to another point of the sweep, the need is that point.
    pub fn of(points: &[PointKey], point: &PointKey, overlay: &Overlay) -> Need {
        if overlay.settings().is_empty() {
            return Need { point: point.clone(), overlay: overlay.clone() };
        }
        let mut moved = point.clone();
        moved
            .iter_mut()
            .for_each(|(key, place)| overlay.settings().get(key).into_iter().for_each(|value| place.clone_from(value)));
        let rest = overlay.without(point);
        match points.iter().find(|p| same_point(p, &moved)) {
            Some(p) => Need { point: p.clone(), overlay: rest },
            None => Need { point: point.clone(), overlay: overlay.clone() },
        }
    }

    /// A text that identifies the need: equal for equal needs, different for different needs.
    pub fn key(&self) -> String {
        let map = |m: &PointKey| m.iter().map(|(k, v)| format!("{k:?}={v}")).collect::<Vec<_>>().join(",");
        format!("{} | {}", map(&self.point), map(self.overlay.settings()))
    }
}

/// All needs of `e`, its claims and its checks, without duplicates: first all points in the file's order.
///
/// All needs are run with the same first seeds, because claims and checks compare them seed by seed.
pub fn needs(e: &Experiment) -> Vec<Need> {
    needed(&e.points, &e.claims, &e.checks)
}

/// What `claims` and `checks` need at these points, each once.
pub fn needed(points: &[PointKey], claims: &[Claim], checks: &[Check]) -> Vec<Need> {
    let mut seen = BTreeSet::new();
    let mut all = vec![];
    let mut add = |n: Need| {
        if seen.insert(n.key()) {
            all.push(n);
        }
    };
    points.iter().for_each(|p| add(Need { point: p.clone(), overlay: Overlay::default() }));
    claims.iter().flat_map(|c| of_claim(points, c)).for_each(&mut add);
    checks.iter().flat_map(|c| of_check(points, c)).for_each(&mut add);
    all
}

/// The needs of a claim; some may occur twice.
pub fn of_claim(points: &[PointKey], claim: &Claim) -> Vec<Need> {
    of_readings(points, claim, |_| true)
}

/// The needs of those readings of a claim whose name is `wanted`; some may occur twice.
pub fn of_readings(points: &[PointKey], claim: &Claim, wanted: impl Fn(Option<&str>) -> bool) -> Vec<Need> {
    let all = readings(claim);
    let wanted = all.iter().filter(|(name, _)| wanted(name.as_deref()));
    wanted.flat_map(|(_, reading)| required(points, &claim.requirement, reading)).collect()
}

/// The needs of a check; some may occur twice.
pub fn of_check(points: &[PointKey], check: &Check) -> Vec<Need> {
    required(points, &check.requirement, &Overlay::default())
}

/// The needs of a requirement with the settings of `reading`; some may occur twice.
fn required(points: &[PointKey], requirement: &Requirement, reading: &Overlay) -> Vec<Need> {
    let mut all = vec![];
    for point in meant(requirement, points) {
        all.push(Need::of(points, point, reading));
        if let Some(other) = requirement.other() {
            all.push(Need::of(points, point, &reading.then(other)));
        }
    }
    all
}

/// The readings of a claim. A claim without readings has one with an empty overlay.
pub fn readings(claim: &Claim) -> Vec<(Option<String>, Overlay)> {
    if claim.readings.is_empty() {
        return vec![(None, Overlay::default())];
    }
    claim.readings.iter().map(|r| (Some(r.name.clone()), r.settings.clone())).collect()
}

/// The points that a requirement selects.
pub fn meant<'p>(requirement: &Requirement, points: &'p [PointKey]) -> Vec<&'p PointKey> {
    let named = |p: &PointKey| {
        requirement.when.iter().all(|(key, values)| p.get(key).is_some_and(|v| values.iter().any(|w| same_value(v, w))))
    };
    points.iter().filter(|p| named(p)).collect()
}

/// True if two values of a sweep are equal; 2 and 2.0 are equal.
pub fn same_value(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(x), Some(y)) if x == y)
}

fn same_point(a: &PointKey, b: &PointKey) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((k, v), (l, w))| k == l && same_value(v, w))
}
