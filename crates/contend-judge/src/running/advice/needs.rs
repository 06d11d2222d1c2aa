//! Algorithms that lack what they need of the network around them.

use contend_core::registry::{Choice, Fact, Need, Param};
use contend_experiment::reading::file::keys::Family;
use contend_sim::scenario::{Scenario, Transport};
use std::collections::BTreeMap;

/// For each algorithm that needs something that its network does not have at some point: a sentence with a remedy.
pub(super) fn unmet(points: &[Scenario]) -> Vec<String> {
    let mut all: BTreeMap<(&'static str, &'static str), Need> = BTreeMap::new();
    for s in points {
        for (name, need) in needed(s) {
            if !has(s, need) {
                all.insert((name, need.noun()), need);
            }
        }
    }
    all.iter()
        .map(|((name, noun), need)| format!("`{name}` needs {noun}, and there is none; {}", remedy(*need)))
        .collect()
}

/// Senders and rate controls with what they need.
fn needed(s: &Scenario) -> Vec<(&'static str, Need)> {
    fn of<B>(choice: &Choice<B>) -> impl Iterator<Item = (&'static str, Need)> {
        let needs = |need: &Need| choice.has(Fact::Needs(*need));
        Need::ALL.into_iter().filter(needs).map(|need| (choice.entry.name, need))
    }
    let mut all = vec![];
    for f in &s.flows {
        match &f.ends.transport {
            Transport::Tcp(tcp) => all.extend(of(&tcp.cc)),
            Transport::Udp(Some(control)) => all.extend(of(&control.cc)),
            Transport::Udp(None) => {}
        }
    }
    let stations = s.cell.iter().flat_map(|c| c.members());
    all.extend(stations.filter_map(|m| m.channel.rate_control.as_ref()).flat_map(of));
    all
}

/// True if some part of the network is what is needed.
fn has(s: &Scenario, need: Need) -> bool {
    let fact = Fact::Gives(need);
    let queues = s.cell.iter().flat_map(|c| c.members()).any(|m| m.queue.has(fact));
    let wires = s.links.iter().flat_map(|l| [&l.forward, &l.reverse]).any(|w| w.queue.has(fact));
    match need {
        Need::Marks | Need::Xcp | Need::Rcp | Need::Wcp => queues || wires,
        Need::Errors => s.cell.as_ref().is_some_and(|c| c.error_model.is_some()),
        // The file is refused without an SNR where an algorithm needs one.
        Need::Snr => true,
    }
}

/// What to write.
fn remedy(need: Need) -> String {
    let gives = |params: &'static [Param], facts: &'static [Fact]| {
        Fact::all(facts, params).find(|(fact, _)| *fact == Fact::Gives(need)).map(|(_, when)| when)
    };
    let named = |family: Family| {
        let texts = family.algorithms().into_iter().filter_map(|a| {
            Some(match gives(a.params, a.facts)? {
                // The flag is on by default.
                Some(p) if p.default != Some("true") => format!("{{ kind = \"{}\", {} = true }}", a.name, p.name),
                _ => format!("\"{}\"", a.name),
            })
        });
        texts.collect::<Vec<_>>().join(", ")
    };
    match need {
        Need::Errors => format!("write wifi.error_model = {}", named(Family::ErrorModels)),
        _ => format!("write one of these as ap.queue, or as the queue of the bottleneck: {}", named(Family::Qdiscs)),
    }
}
