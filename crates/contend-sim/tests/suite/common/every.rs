//! Every registered algorithm with values that suit a small network. The functions iterate over the registries, so a
//! new entry is covered without a change.

use super::*;
use contend_core::{ap, estimate};
use contend_sim::wifi::client::{self, Client};

/// A member of a family with its defaults, and a value for each parameter that has none.
pub fn filled<B>(entry: &'static Entry<B>) -> Choice<B> {
    let needed: Vec<(&'static str, Value)> =
        entry.params.iter().filter(|p| p.default.is_none()).map(|p| (p.name, example(p))).collect();
    let mut choice = Choice { entry, args: Args::default() };
    for p in entry.params {
        let given = needed.iter().find(|(name, _)| *name == p.name).map(|(_, v)| v.clone());
        if let Some(v) = default(p).or(given) {
            choice.args.set(p.name, v);
        }
    }
    choice
}

/// A value for a parameter that has no default.
fn example(p: &Param) -> Value {
    let within = |x: f64| x.clamp(p.range.0, p.range.1);
    match p.unit {
        Unit::Fraction => Value::Number(within(0.05)),
        Unit::Number => Value::Number(within(1e-5)),
        Unit::Integer => Value::Integer(within(2.0) as i64),
        Unit::Time => Value::Time(Span::from_secs_f64(within(0.05))),
        Unit::Rate => Value::Rate(within(2e6) as u64),
        Unit::Amount => Value::Amount(Amount::Packets(20)),
        _ => panic!("{} needs an example here", p.name),
    }
}

/// Every access rule; EDCA with both kinds of scheduling and both tables.
pub fn access_rules() -> Vec<Choice<access::Build>> {
    let edca = |scheduling: &str, table: &str| {
        let with = [("scheduling", Value::Word(scheduling.into())), ("table", Value::Word(table.into()))];
        choose(access::REGISTRY, "edca", &with)
    };
    let others = [edca("sbb", "802.11e"), edca("sab", "802.11-2016")];
    access::REGISTRY.iter().map(filled).chain(others).collect()
}

/// Every discipline.
pub fn disciplines() -> Vec<Choice<qdisc::Build>> {
    qdisc::REGISTRY.iter().map(filled).collect()
}

/// Every control block. Blocks that need a buffer size get the number of packets that may wait.
pub fn controls() -> Vec<Choice<ap::Build>> {
    let told = |entry: &'static Entry<ap::Build>| {
        let mut choice = filled(entry);
        if entry.params.iter().any(|p| p.name == "buffer") {
            choice.args.set("buffer", Value::Amount(Amount::Packets(20)));
        }
        choice
    };
    ap::REGISTRY.iter().map(told).collect()
}

/// Every kind of client; the converter also with a card that can be paused.
pub fn clients() -> Vec<Client> {
    let build = |c: &Choice<client::Build>| (c.entry.build)(&c.args).unwrap();
    let pause = choose(client::REGISTRY, "converter", &[("mode", Value::Word("pause".into()))]);
    client::REGISTRY.iter().map(|e| build(&filled(e))).chain([build(&pause)]).collect()
}

/// Every loss process that can lose something.
pub fn losses() -> Vec<Choice<loss::Build>> {
    let mut all: Vec<Choice<loss::Build>> = loss::REGISTRY.iter().map(filled).collect();
    for c in &mut all {
        match c.entry.name {
            "gilbert_elliott" => {
                c.args.set("good", Value::Time(Span::from_millis(50)));
                c.args.set("bad", Value::Time(Span::from_millis(5)));
            }
            "script" => c.args.set("outage", Value::Intervals(vec![(at(0.1), at(0.12))])),
            _ => {}
        }
    }
    all
}

/// Every traffic source; true if datagrams can carry it.
pub fn sources() -> Vec<(Choice<traffic::Build>, bool)> {
    let datagrams = |e: &Entry<traffic::Build>| !["bulk", "sessions", "files", "web"].contains(&e.name);
    let mut all: Vec<_> = traffic::REGISTRY.iter().map(|e| (filled(e), datagrams(e))).collect();
    for (c, _) in &mut all {
        if c.entry.name == "cbr" {
            c.args.set("rate", Value::Rate(3_000_000));
        }
    }
    all
}

/// Every controller with every recovery, with the options that they use.
pub fn connections() -> Vec<TcpSpec> {
    let mut all = vec![];
    for cc in cc::REGISTRY {
        for recovery in recovery::REGISTRY {
            let recovery = filled(recovery);
            let sack = (recovery.entry.build)(&recovery.args).unwrap().options().sack;
            let name = format!("{}+{}", cc.name, recovery.entry.name);
            // Every second connection uses ECN, so that each controller is tested with and without marks.
            let ecn = if all.len() % 2 == 0 { EcnEcho::Off } else { EcnEcho::Latch };
            let timestamps = Some(Span::from_micros(1));
            all.push(TcpSpec { name, cc: filled(cc), recovery, sack, timestamps, ecn, ..newreno() });
        }
    }
    all
}

/// Every estimator, as a flow names them.
pub fn estimators() -> Vec<(String, Choice<estimate::Build>)> {
    estimate::REGISTRY.iter().map(|e| (e.name.to_owned(), filled(e))).collect()
}
