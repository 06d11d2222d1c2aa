//! The families of algorithms as files use them.

use crate::reading::roster::{ACCESS, CONTROLLERS, CONTROLS, QDISCS};
use contend_core::formulas::Line;
use contend_core::registry::{Condition, Entry, Fact, Need, Param, find};
use contend_core::{cc, estimate, observe, rate_control};
use contend_sim::tcp::recovery;
use contend_sim::wifi::{client, error_model, fading, propagation};
use contend_sim::{loss, mobility, routing, traffic};

/// A family of algorithms: one registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Congestion controllers.
    Controllers,
    /// Bandwidth estimators.
    Estimators,
    /// Observers of the air.
    Observers,
    /// Loss recoveries.
    Recoveries,
    /// Queue disciplines.
    Qdiscs,
    /// Control blocks of the access point.
    Controls,
    /// Rules of medium access.
    Access,
    /// Kinds of client.
    Clients,
    /// Traffic sources.
    Traffic,
    /// Loss processes.
    Loss,
    /// Propagation models.
    Propagation,
    /// Movements of stations.
    Mobility,
    /// Routing protocols.
    Routing,
    /// Rate controls.
    RateControls,
    /// Error models.
    ErrorModels,
    /// Fading processes.
    Fading,
}

/// One algorithm of a family.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Its family.
    pub family: Family,
    /// Its name.
    pub name: &'static str,
    /// The source: paper or RFC, and section.
    pub cite: &'static str,
    /// What it does, in one or two sentences.
    pub summary: &'static str,
    /// The parameters.
    pub params: &'static [Param],
    /// What it does, as formulas.
    pub formulas: &'static [Line],
    /// The properties that other code may use.
    pub facts: &'static [Fact],
}

/// The value, as in a file, of a parameter of a controller or recovery that Linux has otherwise: slow start opens the
/// window by all that an ACK acknowledges, CUBIC has its integers and its HyStart, a loss halves the window and not
/// what is in flight, and the answer to a mark takes a round trip.
pub(crate) fn in_linux(algorithm: &str, parameter: &str) -> Option<&'static str> {
    match (algorithm, parameter) {
        // An algorithm from outside has the defaults that it says.
        (own, "abc") if find(cc::REGISTRY, own).is_none() => None,
        (_, "abc") => Some("0"),
        ("cubic" | "westwood", "form") | ("cubic", "hystart") => Some("linux"),
        // A mark is answered by proportional rate reduction (tcp_enter_cwr, tcp_cwnd_reduction).
        ("rack", "prr_cwr") => Some("true"),
        (_, "halve_from") => Some("cwnd"),
        _ => None,
    }
}

impl Family {
    /// Every family, in the order of lists.
    pub const ALL: [Family; 16] = [
        Family::Controllers,
        Family::Estimators,
        Family::Observers,
        Family::Recoveries,
        Family::Qdiscs,
        Family::Controls,
        Family::Access,
        Family::Clients,
        Family::Traffic,
        Family::Loss,
        Family::Propagation,
        Family::Mobility,
        Family::Routing,
        Family::RateControls,
        Family::ErrorModels,
        Family::Fading,
    ];

    /// The name in `contend list`.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Controllers => "controllers",
            Family::Estimators => "estimators",
            Family::Observers => "observers",
            Family::Recoveries => "recoveries",
            Family::Qdiscs => "qdiscs",
            Family::Controls => "controls",
            Family::Access => "access",
            Family::Clients => "clients",
            Family::Traffic => "traffic",
            Family::Loss => "loss",
            Family::Propagation => "propagation",
            Family::Mobility => "mobility",
            Family::Routing => "routing",
            Family::RateControls => "rate_controls",
            Family::ErrorModels => "error_models",
            Family::Fading => "fading",
        }
    }

    /// One member, with its article.
    pub const fn noun(self) -> &'static str {
        match self {
            Family::Controllers => "a congestion controller",
            Family::Estimators => "a bandwidth estimator",
            Family::Observers => "an observer of the air",
            Family::Recoveries => "a loss recovery",
            Family::Qdiscs => "a queue discipline",
            Family::Controls => "a control block",
            Family::Access => "an access rule",
            Family::Clients => "a kind of client",
            Family::Traffic => "a traffic source",
            Family::Loss => "a loss process",
            Family::Propagation => "a propagation model",
            Family::Mobility => "a mobility",
            Family::Routing => "a routing protocol",
            Family::RateControls => "a rate control",
            Family::ErrorModels => "an error model",
            Family::Fading => "a fading process",
        }
    }

    /// How a file selects the algorithm `NAME`.
    pub const fn usage(self) -> &'static str {
        match self {
            Family::Controllers => "tcp = { cc = { kind = \"NAME\" } } in a [[flow]]",
            Family::Estimators => "estimate = [\"NAME\"] in a [[flow]]",
            Family::Observers => "observe = [\"NAME\"] in [field], [ap] or [[station]]",
            Family::Recoveries => "tcp = { recovery = { kind = \"NAME\" } } in a [[flow]]",
            Family::Qdiscs => "queue = { kind = \"NAME\" } in [ap], [[station]], [wire] or [[link]]",
            Family::Controls => "control = { kind = \"NAME\" }, or a list of them, in [ap]",
            Family::Access => "access = { kind = \"NAME\" } in [wifi], [ap] or [[station]]",
            Family::Clients => "client = { kind = \"NAME\" } in a [[station]]",
            Family::Traffic => "traffic = { kind = \"NAME\" } in a [[flow]]",
            Family::Propagation => "propagation = { kind = \"NAME\" } in [field]",
            Family::Loss => "loss = { kind = \"NAME\" } in [wifi], [[station]], [wire] or [[link]]",
            Family::Mobility => "mobility = { kind = \"NAME\" } in a [[station]] of a [field]",
            Family::Routing => "routing = { kind = \"NAME\" } in [field]",
            Family::RateControls => "rate_control = { kind = \"NAME\" } in [wifi] or [[station]]",
            Family::ErrorModels => "error_model = { kind = \"NAME\" } in [wifi]",
            Family::Fading => "fading = { kind = \"NAME\" } in [wifi] or [[station]]",
        }
    }

    /// The algorithms, in the order of the registry.
    pub fn algorithms(self) -> Vec<Algorithm> {
        match self {
            Family::Controllers => self.of(CONTROLLERS.all()),
            Family::Estimators => self.of(estimate::REGISTRY),
            Family::Observers => self.of(observe::REGISTRY),
            Family::Recoveries => self.of(recovery::REGISTRY),
            Family::Qdiscs => self.of(QDISCS.all()),
            Family::Controls => self.of(CONTROLS.all()),
            Family::Access => self.of(ACCESS.all()),
            Family::Clients => self.of(client::REGISTRY),
            Family::Traffic => self.of(traffic::REGISTRY),
            Family::Loss => self.of(loss::REGISTRY),
            Family::Propagation => self.of(propagation::REGISTRY),
            Family::Mobility => self.of(mobility::REGISTRY),
            Family::Routing => self.of(routing::REGISTRY),
            Family::RateControls => self.of(rate_control::REGISTRY),
            Family::ErrorModels => self.of(error_model::REGISTRY),
            Family::Fading => self.of(fading::REGISTRY),
        }
    }

    fn of<B>(self, entries: &'static [Entry<B>]) -> Vec<Algorithm> {
        let algorithm = |e: &'static Entry<B>| Algorithm {
            family: self,
            name: e.name,
            cite: e.cite,
            summary: e.summary,
            params: e.params,
            formulas: e.formulas,
            facts: e.facts,
        };
        entries.iter().map(algorithm).collect()
    }
}

impl Algorithm {
    /// How a file selects this algorithm.
    pub fn usage(&self) -> String {
        self.family.usage().replace("NAME", self.name)
    }
    /// The default of its parameter `p` in a file: that of the stack of Linux, and that of `stack = "rfc"` if it
    /// differs. `None` if the parameter must be given.
    pub fn default_of(&self, p: &Param) -> Option<(&'static str, Option<&'static str>)> {
        let plain = p.default?;
        let has_stack = matches!(self.family, Family::Controllers | Family::Recoveries);
        let linux = in_linux(self.name, p.name).filter(|text| has_stack && *text != plain);
        Some(linux.map_or((plain, None), |text| (text, Some(plain))))
    }
    /// What it needs of the network around it, in words; empty for nothing.
    pub fn needs(&self) -> String {
        self.nouns(|fact| if let Fact::Needs(need) = fact { Some(need) } else { None })
    }
    /// What it provides for other algorithms, in words; empty for nothing.
    pub fn gives(&self) -> String {
        self.nouns(|fact| if let Fact::Gives(need) = fact { Some(need) } else { None })
    }

    fn nouns(&self, of: fn(Fact) -> Option<Need>) -> String {
        let noun = |(fact, when): (Fact, Option<Condition>)| {
            let when = when.map_or(String::new(), |when| format!(", if {when}"));
            Some(of(fact)?.noun().to_owned() + &when)
        };
        Fact::all(self.facts, self.params).filter_map(noun).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The channel has an SNR, or has none; no algorithm gives it.
    #[test]
    fn each_need_is_one_of_an_algorithm_and_another_gives_it() {
        let all: Vec<Algorithm> = Family::ALL.into_iter().flat_map(Family::algorithms).collect();
        let has = |fact: Fact| all.iter().any(|a| Fact::all(a.facts, a.params).any(|(f, _)| f == fact));
        for need in Need::ALL {
            assert!(has(Fact::Needs(need)), "nobody needs {}", need.noun());
            assert_eq!(has(Fact::Gives(need)), need != Need::Snr, "{}", need.noun());
        }
    }

    #[test]
    fn facts_are_told_in_words() {
        let of = |family: Family, name: &str| family.algorithms().into_iter().find(|a| a.name == name).unwrap();
        let red = of(Family::Qdiscs, "red");
        assert_eq!(
            (red.needs(), red.gives()),
            (String::new(), "a queue that marks packets (ECN), if ecn = true".into())
        );
        let nist = of(Family::ErrorModels, "nist");
        assert_eq!(nist.needs(), "a channel with an SNR");
    }
}
