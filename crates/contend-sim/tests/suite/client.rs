//! Kinds of client: how a full queue, a cable, and a bridge that pauses the card affect the host.

use crate::common::*;
use contend_core::cc::CaState;
use contend_core::registry::{Amount, Value};
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::client::{self, Client};

/// One upload from a station with this client and this queue.
fn net(client: Option<Client>, queue: u64, flow: FlowSpec) -> Net {
    let (nodes, links) = hosts(1, Span::ZERO);
    let mut cell = cell(phy_g(), MAC, 1, 54_000_000);
    (cell.stations[0].client, cell.stations[0].queue) = (client, fifo(queue));
    Net::new(&Scenario { seed: 1, cell: Some(cell), nodes, links, flows: vec![flow] }).unwrap()
}

fn converter(with: &[(&'static str, Value)]) -> Option<Client> {
    let c = choose(client::REGISTRY, "converter", with);
    Some((c.entry.build)(&c.args).unwrap())
}

/// Drops at the bridge, drops at the network card, and the maximum backlog at the bridge.
fn flooded(with: &[(&'static str, Value)]) -> (u64, u64, u64) {
    let mut net = net(converter(with), 50, cbr("up.0".into(), Place::Station(0), Place::Node(0), 80_000_000));
    let place = |net: &Net, name: &str| net.queues().position(|q| q == name).unwrap();
    let (bridge, card) = (place(&net, "sta0"), place(&net, "sta0.cable"));
    let mut most = 0;
    for us in (0..2_000_000).step_by(97) {
        net.run_until(Time::ZERO + Span::from_micros(us));
        most = most.max(net.meter(bridge).unwrap().waiting());
    }
    let now = net.world.now();
    let mut drops = |i| net.meter(i).unwrap().read(now).drops();
    (drops(bridge), drops(card), most)
}

#[test]
fn a_bridge_that_drops_lets_the_card_send_and_one_that_pauses_loses_nothing() {
    let (bridge, card, most) = flooded(&[]);
    assert!(bridge > 1000 && card == 0 && most == 50, "{bridge} {card} {most}");
    // Paused at 45 of 50 packets; the packet on the cable still arrives.
    let (bridge, card, most) = flooded(&[("mode", Value::Word("pause".into()))]);
    assert!(bridge == 0 && card > 1000 && (45..=46).contains(&most), "{bridge} {card} {most}");
    // Paused when one packet waits, continued when none waits: every packet waits at the card.
    let all = [("mode", Value::Word("pause".into())), ("high", Value::Number(0.02)), ("low", Value::Number(0.0))];
    let (bridge, _, most) = flooded(&all);
    assert!(bridge == 0 && most <= 2, "{bridge} {most}");
}

#[test]
fn a_packet_takes_the_cable_both_ways() {
    let flow = |from, to| {
        let mut f = cbr("f".into(), from, to, 1_000_000);
        (f.ends.start, f.ends.size) = (Start::At(Time::ZERO + Span::from_millis(1)), Some(1472));
        f
    };
    let (sta, server) = (Place::Station(0), Place::Node(0));
    for (from, to) in [(sta, server), (server, sta)] {
        let delay = |client| {
            let mut net = net(client, 50, flow(from, to));
            net.run_until(at(1.0));
            net.delay(0).unwrap().mean_ms()
        };
        // 1500 B at 10 Mb/s take 1.2 ms; the bridge adds 0.3 ms.
        let with = [("rate", Value::Rate(10_000_000)), ("latency", Value::Time(Span::from_micros(300)))];
        let more = delay(converter(&with)) - delay(None);
        assert!((more - 1.5).abs() < 1e-9, "{more}");
    }
}

#[test]
fn only_the_host_of_an_adapter_hears_of_a_full_queue() {
    let first_state_after_a_drop = |client| {
        let mut net =
            net(client, 5, bulk("up.0".into(), Place::Station(0), Place::Node(0), newreno(), Start::At(Time::ZERO)));
        for us in (0..5_000_000).step_by(20) {
            net.run_until(Time::ZERO + Span::from_micros(us));
            let now = net.world.now();
            if net.meter(1).unwrap().read(now).drops() > 0 {
                return net.sender(0).unwrap().ca_state;
            }
        }
        panic!("the queue never overflowed")
    };
    assert_eq!(first_state_after_a_drop(Some(Client::Usb)), CaState::Cwr);
    assert_ne!(first_state_after_a_drop(None), CaState::Cwr);
}

#[test]
fn a_bridge_without_a_limit_in_packets_cannot_pause() {
    let (nodes, links) = hosts(1, Span::ZERO);
    let mut cell = cell(phy_g(), MAC, 1, 54_000_000);
    cell.stations[0].client = converter(&[("mode", Value::Word("pause".into()))]);
    cell.stations[0].queue =
        choose(contend_core::qdisc::REGISTRY, "fifo", &[("limit", Value::Amount(Amount::Bytes(9000)))]);
    let flow = cbr("up.0".into(), Place::Station(0), Place::Node(0), 1_000_000);
    let e = Net::new(&Scenario { seed: 1, cell: Some(cell), nodes, links, flows: vec![flow] }).unwrap_err();
    assert!(e.to_string().contains("limit is in packets"), "{e}");
}
