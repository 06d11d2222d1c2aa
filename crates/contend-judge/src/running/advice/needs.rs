//! Algorithms that lack what they need of the network around them.

use contend_core::registry::{Choice, Condition, Fact, Need, Param};
use contend_experiment::reading::file::keys::Family;
use contend_sim::scenario::{Scenario, Transport};
use std::collections::BTreeMap;

/// Algorithms, by name and noun of the need, that need something which their network does not have at some point.
#[derive(Debug, Default)]
pub(super) struct Unmet(Needs);

type Needs = BTreeMap<(&'static str, &'static str), Need>;

impl Unmet {
    pub(super) fn look_at(&mut self, s: &Scenario) {
        self.0.extend(needed(s).into_iter().filter(|(_, need)| !has(s, *need)));
    }

    /// For each of them a sentence with a remedy.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let sentence = |((name, noun), need): (&(&str, &str), &Need)| {
            format!("`{name}` needs {noun}, and there is none; {}", remedy(*need))
        };
        self.0.iter().map(sentence)
    }
}

/// Senders and rate controls with what they need, each once: there may be a hundred thousand flows.
fn needed(s: &Scenario) -> Needs {
    fn of<B>(choice: &Choice<B>) -> impl Iterator<Item = ((&'static str, &'static str), Need)> {
        let needs = |need: &Need| choice.has(Fact::Needs(*need));
        Need::ALL.into_iter().filter(needs).map(|need| ((choice.entry.name, need.noun()), need))
    }
    let mut all = Needs::new();
    for f in &s.flows {
        match &f.ends.transport {
            Transport::Tcp(tcp) => all.extend(of(&tcp.cc)),
            Transport::Udp(udp) => all.extend(udp.control.iter().flat_map(|control| of(&control.cc))),
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
                Some(Condition { param: p, .. }) if p.default != Some("true") => {
                    format!("{{ kind = \"{}\", {} = true }}", a.name, p.name)
                }
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
