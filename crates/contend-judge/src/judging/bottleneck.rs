//! Wires that are full beside a channel: then the air does not decide, which a reader of the results would believe.

use contend_experiment::results::Run;
use std::collections::BTreeMap;

/// A wire that sends for a larger share of the time is full.
const FULL: f64 = 0.95;

/// A warning if a wire of `runs` was full in a network with Wi-Fi.
pub(crate) fn warning(runs: &[Run]) -> Option<String> {
    let on_air = |run: &&Run| run.air.is_some() && run.contending.is_none();
    let mut full: BTreeMap<&str, f64> = BTreeMap::new();
    for t in runs.iter().filter(on_air).flat_map(|run| &run.transmitters) {
        if let Some(busy) = t.busy.filter(|busy| *busy > FULL) {
            let most = full.entry(&t.name).or_default();
            *most = most.max(busy);
        }
    }
    let (name, most) = full.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let link = name.strip_suffix(".reverse").unwrap_or(name);
    let key = match link.strip_suffix(".wire") {
        Some(_) => "wire.rate".to_owned(),
        None => format!("the rate of [[link]] {link}"),
    };
    let others = match full.len() {
        1 => String::new(),
        n => format!(" (and {} other wires)", n - 1),
    };
    Some(format!(
        "The wire {name}{others} was busy {:.0} % of the time, so that it and not the air may limit the flows. If that \
            is not meant, set {key}, for example to \"10Gbps\" or \"infinite\"",
        100.0 * most
    ))
}
