//! Phase effects: a full drop-tail queue decides all shares, because nothing random separates the flows' packets.
//!
//! Floyd, Jacobson 1992, "On traffic phase effects in packet-switched gateways"; see `docs/model/phase-effects.md`.

use contend_core::Span;
use contend_core::registry::Fact;
use contend_experiment::point::Resolved;
use contend_experiment::reading::file::{Experiment, Overlay};
use contend_experiment::results::{PointKey, Run, by_point};
use contend_sim::scenario::Scenario;

/// A warning if `runs` show phase effects at some point of `e`. That is: a wire's drop-tail queue dropped packets of
/// several flows, at least one of them TCP, and every flow has exactly the same goodput with all seeds.
pub(crate) fn warning(e: &Experiment, runs: &[Run]) -> Option<String> {
    let decided = |(point, here): &(&PointKey, Vec<&Run>)| {
        if !agree(here) {
            return None;
        }
        let Resolved { scenario, .. } = e.scenario(point, &Overlay::default()).ok()?;
        longest_transmission(&scenario, here.first()?)
    };
    let times: Vec<Span> = by_point(runs, |r| &r.point).iter().filter_map(decided).collect();
    let longest = times.iter().max()?;
    let place = match (times.len(), e.points.len()) {
        (_, 1) => String::new(),
        (some, all) => format!(" at {some} of {all} points"),
    };
    Some(format!(
        "All seeds gave the same result{place}, and a full drop-tail queue decided it: nothing random separates the \
            packets of the flows, so a small change of a delay may change all shares (phase effects). Set overhead = \
            \"uniform(0s, {longest})\" in each [[flow]]: up to one transmission time of the bottleneck"
    ))
}

/// True if `runs` has several runs of several flows, at least one flow is TCP, and each flow has the same goodput in
/// all runs.
fn agree(runs: &[&Run]) -> bool {
    let Some((first, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else { return false };
    let goodputs = |r: &Run| r.flows.iter().map(|f| f.goodput_bps.to_bits()).collect::<Vec<u64>>();
    first.flows.len() > 1
        && first.flows.iter().any(|f| f.tcp != "udp")
        && others.iter().all(|r| goodputs(r) == goodputs(first))
}

/// The longest transmission time of a full packet, over all wires with a constant rate and a drop-tail queue that
/// dropped packets. `None` if there is no such wire. Also `None` if there is a cell: its backoffs are random.
fn longest_transmission(s: &Scenario, run: &Run) -> Option<Span> {
    let packet = s.flows.iter().map(|f| u64::from(f.ends.packet)).max()?;
    let dropped = |name: &str| run.queues.iter().any(|q| q.name == name && q.drops.total > 0);
    let wires =
        s.links.iter().flat_map(|l| [(l.name.clone(), &l.forward), (format!("{}.reverse", l.name), &l.reverse)]);
    let full = wires.filter(|(name, wire)| wire.queue.entry.has(Fact::DropTail) && dropped(name));
    full.filter_map(|(_, wire)| Some(Span::of_bits(8 * packet, wire.rate.constant()?)))
        .max()
        .filter(|_| s.cell.is_none())
}
