//! Packets that wait below the queue of an access point, in its MAC, where its discipline cannot reach them.

use contend_core::qdisc::{self, Site};
use contend_core::registry::Fact;
use contend_sim::scenario::{Scenario, StationSpec};

/// Fewer packets below the queue are no queue of their own: an aggregate and the next one.
const FEW: u32 = 64;

/// A sentence if an access point with a discipline has a deep queue below it.
pub(super) fn reaches_below(s: &Scenario) -> Option<String> {
    let aps = s.cell.iter().flat_map(|c| &c.aps);
    let (ap, limit) = aps.filter_map(|ap| Some((&ap.station, below(&ap.station)?))).next()?;
    Some(format!(
        "up to {limit} packets of `{}` wait below `{}`, in the MAC, which its discipline does not delay, drop or mark; \
            write ap.aql = {{}} to limit them by airtime as Linux does, or queue = \"airtime\", which fills each \
            aggregate itself",
        ap.name, ap.queue.entry.name
    ))
}

/// The packets that may wait below the queue, if a discipline stands above many of them without a limit of airtime.
fn below(s: &StationSpec) -> Option<u32> {
    let limit = s.aggregation.filter(|_| s.aql.is_none())?.limit;
    let fills = || qdisc::queue(&s.queue, &Site::ANYBODY).is_ok_and(|mut q| q.by_receiver().is_some());
    (limit > FEW && !s.queue.entry.has(Fact::DropTail) && !fills()).then_some(limit)
}
