//! What the entries of the registries say of themselves, compared with what they do.

use crate::common::{PlainLink, What, defaults, make, packet};
use contend_core::cc::{self, Window};
use contend_core::explicit::{RCP, WCP, XCP};
use contend_core::packet::Explicit;
use contend_core::qdisc::{self, Build, Sink};
use contend_core::registry::{Choice, Entry, Fact, Need, Unit, Value};
use contend_core::{Cx, Ecn, Rng, Span, Time};
use rand::SeedableRng as _;

/// The queue with its defaults, except that each parameter that makes a fact is `on`.
fn queue(entry: &'static Entry<Build>, on: bool) -> Choice<Build> {
    let mut args = defaults(entry);
    for when in Fact::all(entry.facts, entry.params).filter_map(|(_, when)| when) {
        let value = match when.param.unit {
            Unit::Time => Value::Time(if on { Span::from_millis(1) } else { Span::from_secs(1_000_000) }),
            _ => Value::Bool(on),
        };
        args.set(when.param.name, value);
    }
    Choice { entry, args }
}

/// Offers twice what the link carries for 20 s, while 80 packets wait if the queue holds as many. Packets support ECN
/// and have this header. Returns how many were marked, and how many left with another header.
fn overload(queue: &Choice<Build>, kind: u8, header: Explicit) -> (u64, usize) {
    let mut qdisc = make(queue.entry, &queue.args).unwrap();
    let (mut rng, mut sink, mut now, mut changed) = (Rng::seed_from_u64(3), Sink::default(), Time::ZERO, 0);
    for n in 0..40_000 {
        let mut cx = Cx { now, rng: &mut rng };
        while qdisc.backlog().packets > 80 {
            let Some(p) = qdisc.dequeue(&mut cx, &PlainLink, &mut sink) else { break };
            changed += usize::from(p.explicit != header);
        }
        let mut p = packet(0, n, What::Data, 1000, Ecn::Ect, now);
        p.set_explicit(kind, header);
        qdisc.enqueue(&mut cx, &PlainLink, p, &mut sink);
        now += Span::from_micros(500);
    }
    (sink.marked, changed)
}

#[test]
fn queues_that_say_so_mark_and_no_others() {
    for entry in qdisc::REGISTRY {
        for on in [false, true] {
            let queue = queue(entry, on);
            let (marked, _) = overload(&queue, 0, Explicit::default());
            assert_eq!(marked > 0, queue.has(Fact::Gives(Need::Marks)), "{} {on}: {marked} marked", entry.name);
        }
    }
}

#[test]
fn a_threshold_marks_without_ecn_and_a_fifo_inside_stations_never() {
    let with = |name: &str, set: &[(&'static str, Value)]| {
        let entry = qdisc::REGISTRY.iter().find(|e| e.name == name).unwrap();
        let mut queue = queue(entry, false);
        set.iter().for_each(|(key, value)| queue.args.set(key, value.clone()));
        let (marked, _) = overload(&queue, 0, Explicit::default());
        assert_eq!(marked > 0, queue.has(Fact::Gives(Need::Marks)), "{name} {set:?}: {marked} marked");
        marked > 0
    };
    assert!(with("fq_codel", &[("ce_threshold", Value::Time(Span::from_millis(1)))]));
    assert!(!with("fq_codel", &[]));
    assert!(with("codel", &[("ce_threshold", Value::Time(Span::from_millis(1)))]));
    let inner = |word: &str| ("inner", Value::Word(word.into()));
    assert!(with("airtime", &[("ecn", Value::Bool(true)), inner("fq_codel")]));
    assert!(!with("airtime", &[("ecn", Value::Bool(true)), inner("fifo")]));
    let threshold = ("ce_threshold", Value::Time(Span::from_millis(1)));
    assert!(with("airtime", &[threshold.clone(), inner("fq_codel")]));
    assert!(!with("airtime", &[threshold, inner("fifo")]));
}

#[test]
fn explicit_senders_need_the_queues_that_change_their_headers() {
    let kinds = [(XCP, Need::Xcp), (RCP, Need::Rcp), (WCP, Need::Wcp)];
    for entry in cc::REGISTRY {
        let sender = (entry.build)(&defaults(entry)).unwrap();
        let kind = sender.needs().explicit.map(|header| header.kind);
        for (number, need) in kinds {
            assert_eq!(entry.has(Fact::Needs(need)), kind == Some(number), "{}", entry.name);
        }
        let Some((number, need)) = kinds.into_iter().find(|(number, _)| kind == Some(*number)) else { continue };
        let window = Window { cwnd: 10, mss: 960, ..Window::default() };
        let header = sender.header(&window, 100_000);
        for entry in qdisc::REGISTRY {
            let queue = queue(entry, true);
            let (_, changed) = overload(&queue, number, header);
            assert_eq!(changed > 0, queue.has(Fact::Gives(need)), "{}: {changed} changed", entry.name);
        }
    }
}
