//! A control block that fills a buffer with windows, beside a queue that is larger than any window.

use contend_core::registry::Amount;
use contend_sim::scenario::Scenario;

/// The largest window of Linux's TCP in packets of 1500 bytes: the last number of `tcp_rmem` is 6 MiB.
const WINDOW: u64 = 6 * 1024 * 1024 / 1500;

/// A sentence if a block of an access point fills its queue by the default of its `buffer`, and the limit of the queue
/// is larger than the largest window, as that of FQ-CoDel is.
pub(super) fn buffer(s: &Scenario) -> Option<String> {
    let aps = s.cell.iter().flat_map(|c| &c.aps);
    let found = |ap: &contend_sim::wifi::spec::ApSpec| {
        let limit = ap.station.queue.limit().and_then(Amount::packets).filter(|limit| *limit > WINDOW)?;
        let fills = |name: &str| ["fcwa", "pilosof"].contains(&name);
        let block = ap.control.iter().find(|b| fills(b.entry.name) && b.args.amount("buffer") == Amount::Packets(0))?;
        let (name, queue) = (block.entry.name, ap.station.queue.entry.name);
        Some(format!(
            "`{name}` may fill the {limit} packets that `{queue}` of `{}` takes, so that it limits hardly any window; \
                give it a buffer: {{ kind = \"{name}\", buffer = \"100p\" }}",
            ap.station.name
        ))
    };
    aps.filter_map(found).next()
}
