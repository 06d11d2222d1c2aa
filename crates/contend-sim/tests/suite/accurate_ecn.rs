//! Accurate ECN from end to end, over a path that loses acknowledgments (RFC 9768 §3.2.2.5): what a sender has counted
//! when its transfer is over, against the marks that arrived at the receiver. The next acknowledgment that arrives
//! stands for all that were lost before it.

use crate::common::*;
use contend_core::registry::{Amount, Value};
use contend_core::{Ecn, Span, cc, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::tcp::accecn::AccurateEcn;
use contend_sim::tcp::recovery;

/// Marks that a transfer of 6,000 segments brought to its receiver, and marks that its sender read. The receiver
/// acknowledges every `every`-th segment; this share of the acknowledgments is lost.
fn counted(option: bool, every: u32, lost: f64) -> (u64, u64) {
    let wire =
        |queue, loss| WireSpec { rate: WireRate::Constant(20_000_000), delay: Span::from_millis(10), queue, loss };
    // RED marks up to 5 % of the packets while up to 20 wait, and more the more there are.
    let packets = |n| Value::Amount(Amount::Packets(n));
    let red = [
        ("limit", packets(1_000)),
        ("min_th", packets(0)),
        ("max_th", packets(20)),
        ("max_p", Value::Number(0.05)),
        ("w_q", Value::Number(1.0)),
        ("gentle", Value::Bool(true)),
        ("ecn", Value::Bool(true)),
    ];
    let marking = choose(qdisc::REGISTRY, "red", &red);
    let link = LinkSpec {
        name: "wire".into(),
        from: Place::Node(0),
        to: Place::Node(1),
        forward: wire(marking, None),
        reverse: wire(fifo(10_000), loss("bernoulli", &[("p", Value::Number(lost))])),
    };
    let mut tcp = newreno();
    (tcp.window, tcp.initial_window, tcp.ack, tcp.sack) = (Amount::Packets(100), 100, every, true);
    (tcp.cc, tcp.recovery) = (choose(cc::REGISTRY, "dctcp", &[]), choose(recovery::REGISTRY, "sack", &[]));
    (tcp.ecn, tcp.ect) = (EcnEcho::Accurate(AccurateEcn { option, ..AccurateEcn::USUAL }), Ecn::Ect1);
    let mut flow = bulk("f".into(), Place::Node(0), Place::Node(1), tcp, Start::At(at(0.0)));
    flow.ends.size = Some(6_000 * 1_460);
    let node = |name: &str| NodeSpec { name: name.into(), router: false };
    let s = Scenario { seed: 1, cell: None, nodes: vec![node("a"), node("b")], links: vec![link], flows: vec![flow] };
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(300.0));
    assert!(net.completed(0).is_some(), "the transfer is over");
    (net.received(0).arrived_ce, net.sent(0).delivered_ce)
}

#[test]
fn a_sender_with_the_option_counts_all_marks_though_acknowledgments_are_lost() {
    for every in [1, 2, 8, 64] {
        for lost in [0.0, 0.01, 0.05, 0.2] {
            let (arrived, read) = counted(true, every, lost);
            assert!(arrived >= 10, "{every}, {lost}: {arrived}");
            assert_eq!(read, arrived, "an acknowledgment for {every} segments, {lost} lost");
        }
    }
}

#[test]
fn a_sender_without_the_option_never_counts_too_few_and_is_right_modulo_eight() {
    for every in [1, 2, 8, 64] {
        for lost in [0.0, 0.01, 0.05, 0.2] {
            let (arrived, read) = counted(false, every, lost);
            assert!(read >= arrived, "{every}, {lost}: {read} of {arrived}");
            assert_eq!(read % 8, arrived % 8, "{every}, {lost}: {read} of {arrived}");
        }
    }
    // The field is unwrapped with certainty up to seven segments.
    let (arrived, read) = counted(false, 2, 0.0);
    assert_eq!(read, arrived);
}
