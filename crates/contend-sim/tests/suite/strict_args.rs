//! No algorithm reads a parameter that its `PARAMS` do not declare, or reads a parameter as a wrong type. Every
//! registered entry is built with arguments that panic in this case, for many values of each parameter.

use crate::common::{default, phy_g};
use contend_core::ap::{Facts, FlowFacts};
use contend_core::observe::Radio;
use contend_core::rate_control::{self, Rate};
use contend_core::registry::{Amount, Args, DropRule, Entry, Param, Unit, Value};
use contend_core::{FlowId, Span, Time, ap, cc, estimate, observe, qdisc};
use contend_sim::tcp::recovery;
use contend_sim::wifi::access::{self, Category, Scheduling, Setting};
use contend_sim::wifi::error_model::{self, Coding, PerTable};
use contend_sim::wifi::{client, fading};
use contend_sim::{loss, mobility, rng, routing, traffic};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Values that a parameter may have: all its words, or its default and some numbers of its range.
fn values(p: &Param) -> Vec<Value> {
    let (low, high) = p.range;
    let numbers = [low, (low + high) / 2.0, low + 1.0, high].map(|x| x.clamp(low, high.min(1e4)));
    let time = |x: f64| Value::Time(Span::from_secs_f64(x));
    let group = |of: &[Param], value: fn(&Param) -> Value| {
        let mut args = Args::default();
        of.iter().for_each(|p| args.set(p.name, value(p)));
        Value::Group(args.strict())
    };
    let mut all = match p.unit {
        Unit::Number | Unit::Fraction => numbers.map(Value::Number).to_vec(),
        Unit::Integer => numbers.map(|x| Value::Integer(x as i64)).to_vec(),
        Unit::Time => numbers.map(time).to_vec(),
        Unit::Rate => numbers.map(|x| Value::Rate(x as u64)).to_vec(),
        Unit::Amount => numbers
            .iter()
            .flat_map(|x| [Amount::Packets(*x as u64), Amount::Bytes(*x as u64)])
            .map(Value::Amount)
            .collect(),
        Unit::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Unit::Word(words) => words.iter().map(|w| Value::Word((*w).into())).collect(),
        Unit::Schedule => vec![Value::Schedule(vec![(Time::ZERO, Time::from_nanos(1_000_000), 1_000_000)])],
        Unit::Intervals => vec![Value::Intervals(vec![(Time::ZERO, Time::from_nanos(1_000_000))])],
        Unit::Drops => vec![Value::Drops(vec![DropRule { flow: "f".into(), segment: 3, copy: 0 }])],
        Unit::Weights => vec![Value::Weights(vec![("sta0".into(), low.max(1.0))])],
        Unit::Numbers => vec![Value::Numbers(vec![low, low.max(1.0)])],
        Unit::Group(of) => {
            vec![group(of, |p| values(p).swap_remove(0)), group(of, |p| values(p).pop().unwrap())]
        }
    };
    // A group without its members would make the entry read names that do not exist, which is permitted.
    all.extend(default(p).filter(|_| !matches!(p.unit, Unit::Group(_))));
    all
}

/// Every set of arguments that is tried: each value of each parameter with the defaults of the others and with numbers
/// inside their ranges, and every pair of words.
fn settings(params: &[Param]) -> Vec<Args> {
    let base = |pick: fn(Vec<Value>) -> Value| {
        let mut args = Args::default();
        params.iter().for_each(|p| args.set(p.name, pick(values(p))));
        args
    };
    let defaults = base(|mut values| values.pop().unwrap());
    let inside = base(|mut values| values.swap_remove(values.len() / 3));
    let with = |args: &Args, p: &Param, v: &Value| {
        let mut args = args.clone();
        args.set(p.name, v.clone());
        args
    };
    let is_word = |p: &&Param| matches!(p.unit, Unit::Word(_) | Unit::Bool);
    let mut all = vec![defaults.clone(), inside.clone()];
    for p in params {
        for v in values(p) {
            all.extend([&defaults, &inside].map(|args| with(args, p, &v)));
            for q in params.iter().filter(|q| is_word(&p) && is_word(q)) {
                all.extend(values(q).iter().map(|w| with(&with(&defaults, p, &v), q, w)));
            }
        }
    }
    all.into_iter().map(Args::strict).collect()
}

/// Builds each entry of a family with all its settings; at least one setting must be valid.
fn strictly<B>(family: &[Entry<B>], build: impl Fn(&B, &Args) -> bool) {
    for entry in family {
        let mut built = 0;
        for args in settings(entry.params) {
            let done = catch_unwind(AssertUnwindSafe(|| build(&entry.build, &args)));
            built += usize::from(done.unwrap_or_else(|_| panic!("{} with {args:?}: see above", entry.name)));
        }
        assert!(built > 0, "{} refuses every setting", entry.name);
    }
}

#[test]
fn every_controller_estimator_and_recovery_reads_what_it_declares() {
    strictly(cc::REGISTRY, |build, args| build(args).is_ok());
    strictly(estimate::REGISTRY, |build, args| build(args).is_ok());
    strictly(recovery::REGISTRY, |build, args| build(args).is_ok());
}

#[test]
fn every_observer_reads_what_it_declares() {
    let us = Span::from_micros;
    let (rate, sifs, difs, mean_backoff) = (1_375_000, us(10), us(50), us(310));
    let radio = Radio { rate, sifs, difs, mean_backoff, rts: us(352), cts: us(304), ack: us(304) };
    strictly(observe::REGISTRY, |build, args| build(args, &radio).is_ok());
}

#[test]
fn every_discipline_reads_what_it_declares() {
    strictly(qdisc::REGISTRY, |build, args| build(args, &qdisc::Site::ANYBODY).is_ok());
}

#[test]
fn every_control_block_reads_what_it_declares() {
    let flow = FlowFacts { flow: FlowId(0), up: Some(true), delay: Span::from_millis(10), ack: 1, mss: 1460 };
    let facts = Facts { buffer: Some(20), flows: &[flow], cycle_time: &|_, _, _| Span::from_micros(800) };
    strictly(ap::REGISTRY, |build, args| build(args, &facts).is_ok());
}

#[test]
fn every_access_rule_reads_what_it_declares_in_every_category() {
    let setting = Setting::of(&phy_g()).member(1, 5);
    for category in Category::ALL {
        strictly(access::REGISTRY, |build, args| build(args, setting.of_category(category)).is_ok());
    }
}

#[test]
fn an_access_rule_has_categories_where_its_entry_says_so() {
    let setting = Setting::of(&phy_g()).member(1, 5);
    let mut with_categories = 0;
    for entry in access::REGISTRY {
        for args in settings(entry.params) {
            let Ok(rule) = (entry.build)(&args, setting) else { continue };
            assert_eq!(rule.scheduling() != Scheduling::One, entry.has_categories(&args), "{}: {args:?}", entry.name);
            with_categories += usize::from(entry.has_categories(&args));
        }
    }
    assert!(with_categories > 0);
}

#[test]
fn every_client_source_and_loss_process_reads_what_it_declares() {
    strictly(client::REGISTRY, |build, args| build(args).is_ok());
    strictly(traffic::REGISTRY, |build, args| build(args).is_ok());
    strictly(loss::REGISTRY, |build, args| build(args, &|_| Some(FlowId(0))).is_ok());
}

#[test]
fn every_error_model_and_fading_reads_what_it_declares() {
    let table = Some(Arc::new(PerTable::parse("10, 0, 0.5").unwrap()));
    let setting = error_model::Setting { table, codings: &Coding::MCS[..1] };
    strictly(error_model::REGISTRY, |build, args| build(args, &setting).is_ok());
    strictly(fading::REGISTRY, |build, args| build(args).is_ok());
}

#[test]
fn every_rate_control_reads_what_it_declares() {
    let rates = [Rate { bps: 1_000_000, streams: 1, group: 0 }];
    let setting = rate_control::Setting { rates: &rates, given: 0, per: &|_, _| 0.0, goodput: &|_, _| 0.0 };
    strictly(rate_control::REGISTRY, |build, args| build(args, &setting).is_ok());
}

#[test]
fn every_mobility_reads_what_it_declares() {
    let movement = mobility::Movement::parse("$node_(0) set X_ 5\n$node_(0) set Y_ 5").unwrap();
    let setting = mobility::Setting {
        area: mobility::Area { width: 100.0, height: 100.0 },
        start: movement.start(0),
        movement: Some((Arc::new(movement), 0)),
        rng: rng::stream(1, "sta0", "movement"),
    };
    strictly(mobility::REGISTRY, |build, args| build(args, setting.clone()).is_ok());
}

#[test]
fn every_routing_protocol_reads_what_it_declares() {
    let shortest = Some(Arc::new(routing::Shortest::new(&[vec![1], vec![0]], 0..2)));
    let setting = routing::Setting { me: 0, stations: 2, shortest };
    strictly(routing::REGISTRY, |build, args| build(args, &setting).is_ok());
}

#[test]
fn a_build_that_reads_what_it_does_not_declare_is_found() {
    let entry =
        |build: fn(&Args)| Entry { name: "e", cite: "", summary: "", params: PARAMS, formulas: &[], facts: &[], build };
    const PARAMS: &[Param] = &[Param::integer("n", "").default("1").range(0.0, 9.0)];
    let fails = |read: fn(&Args)| {
        let family = [entry(read)];
        catch_unwind(AssertUnwindSafe(|| {
            strictly(&family, |build, args| {
                build(args);
                true
            })
        }))
        .is_err()
    };
    assert!(!fails(|args| assert!(args.integer("n") >= 0)));
    assert!(fails(|args| assert!(args.integer("m") >= 0)), "an undeclared name");
    assert!(fails(|args| assert!(args.time("n") >= Span::ZERO)), "another type");
    assert!(fails(|args| assert!(!args.flag("n"))), "another type, read as a flag");
}
