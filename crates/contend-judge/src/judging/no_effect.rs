//! Swept keys that change nothing: a column of equal numbers looks like a result.

use contend_experiment::results::{PointKey, Run};
use std::collections::{BTreeMap, BTreeSet};

/// A warning that names the swept keys which had no effect in any of `runs`.
pub(crate) fn warning(runs: &[Run]) -> Option<String> {
    // A closed form has no events, and equal points of a point table are not runs.
    let simulated: Vec<&Run> = runs.iter().filter(|r| r.events > 0).collect();
    let keys: BTreeSet<&str> = simulated.iter().flat_map(|r| r.point.keys()).map(String::as_str).collect();
    // Keys that are swept together never differ alone.
    let idle: Vec<&str> = match are_idle(&simulated, &keys) {
        true => keys.into_iter().collect(),
        false => keys.into_iter().filter(|key| are_idle(&simulated, &BTreeSet::from([*key]))).collect(),
    };
    let (is, it) = if idle.len() == 1 { ("key", "it") } else { ("keys", "they") };
    (!idle.is_empty()).then(|| {
        format!(
            "The swept {is} {} had no effect in any run: {it} changed nothing, and the points are the same runs",
            idle.join(", ")
        )
    })
}

/// True if runs whose points differ in `keys` alone always have the same digest, and there are such runs.
fn are_idle(runs: &[&Run], keys: &BTreeSet<&str>) -> bool {
    let mut groups: BTreeMap<String, (BTreeSet<String>, BTreeSet<&str>)> = BTreeMap::new();
    for r in runs {
        let (own, others): (PointKey, PointKey) = r.point.clone().into_iter().partition(|(k, _)| keys.contains(&**k));
        // Cannot fail: all map keys are strings.
        let group = groups.entry(serde_json::to_string(&(others, r.seed)).unwrap_or_default()).or_default();
        group.0.insert(serde_json::to_string(&own).unwrap_or_default());
        group.1.insert(&r.digest);
    }
    let several = |(values, _): &&(BTreeSet<String>, BTreeSet<&str>)| values.len() > 1;
    groups.values().any(|g| several(&g)) && groups.values().all(|(_, digests)| digests.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::results::SweptValue;
    use serde_json::json;

    fn run(point: &[(&str, u32)], digest: &str) -> Run {
        let value = |v: u32| serde_json::from_value::<SweptValue>(json!(v)).unwrap();
        let point = point.iter().map(|(k, v)| ((*k).to_owned(), value(*v))).collect();
        Run { seed: 1, events: 1, digest: digest.into(), ..Run::of_model(&point, BTreeMap::new(), BTreeMap::new()) }
    }

    #[test]
    fn a_key_is_named_if_its_value_never_changes_a_run() {
        let both = [run(&[("a", 1), ("b", 1)], "x"), run(&[("a", 2), ("b", 1)], "x"), run(&[("a", 1), ("b", 2)], "y")];
        let told = warning(&both).unwrap();
        assert!(told.starts_with("The swept key a had no effect in any run"), "{told}");
        let some = [run(&[("a", 1)], "x"), run(&[("a", 2)], "x"), run(&[("a", 3)], "y")];
        assert_eq!(warning(&some), None);
        let together = [run(&[("a", 1), ("b", 1)], "x"), run(&[("a", 2), ("b", 2)], "x")];
        assert!(warning(&together).unwrap().starts_with("The swept keys a, b had no effect"));
        let zipped = [run(&[("a", 1), ("b", 1)], "x"), run(&[("a", 2), ("b", 2)], "y")];
        assert_eq!(warning(&zipped), None);
        assert_eq!(warning(&[run(&[], "x"), run(&[], "x")]), None);
    }
}
