//! The laws hold with every registered algorithm. Each algorithm is used in a small network that exercises it. A new
//! entry of a registry is covered without a change to this file.

use crate::common::every;
use crate::common::law::all_hold;
use crate::common::*;
use contend_core::registry::{Amount, Value};
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::traffic;
use contend_sim::wifi::access::Category;

/// Two TCP downloads and two TCP uploads, a datagram flow in each direction, short queues, and errors on the air.
fn busy(tcp: &TcpSpec) -> Scenario {
    let mut s = down_up(2, 2, tcp.clone(), phy_g(), MAC, 7);
    for (i, f) in s.flows.iter_mut().enumerate() {
        f.ends.start = Start::At(Time::ZERO + Span::from_millis(i as u64));
        f.category = Category::ALL[i];
    }
    for (i, (from, to)) in [(Place::Node(0), Place::Station(0)), (Place::Station(1), Place::Node(1))].iter().enumerate()
    {
        let datagrams = cbr(format!("udp.{i}"), *from, *to, 2_000_000);
        s.flows.push(FlowSpec { category: Category::Vo, ..datagrams });
    }
    let cell = s.cell.as_mut().unwrap();
    cell.aps[0].station.queue = fifo(15);
    for (i, station) in cell.stations.iter_mut().enumerate() {
        station.queue = fifo(8);
        station.rate = [54_000_000, 6_000_000][i % 2].into();
        station.loss = loss("per", &[("p", Value::Number(0.1))]);
    }
    s
}

/// The laws, at arbitrary times of an exchange. At least one packet must have arrived.
fn check(what: &str, s: &Scenario) {
    let stops: Vec<Time> = [1, 123_457, 400_000, 777_777].map(|us| Time::ZERO + Span::from_micros(us)).into();
    let arrived = std::panic::catch_unwind(|| all_hold(s, &stops));
    let arrived = arrived.unwrap_or_else(|_| panic!("with {what}: see above"));
    assert!(arrived > 50, "with {what} only {arrived} packets arrived");
}

#[test]
fn the_laws_hold_with_every_access_rule() {
    for rule in every::access_rules() {
        let mut s = busy(&newreno());
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|station| station.access = rule.clone());
        check(rule.entry.name, &s);
        // Together with stations of DCF.
        let mut s = busy(&newreno());
        s.cell.as_mut().unwrap().stations[1].access = rule.clone();
        check(&format!("{} beside dcf", rule.entry.name), &s);
    }
}

#[test]
fn the_laws_hold_with_every_kind_of_client() {
    for client in every::clients() {
        let mut s = busy(&newreno());
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.client = Some(client));
        check(&format!("{client:?}"), &s);
    }
}

#[test]
fn the_laws_hold_with_every_control_block_and_every_pair_of_them() {
    let blocks = every::controls();
    for first in &blocks {
        for second in std::iter::once(None).chain(blocks.iter().map(Some)) {
            let mut s = busy(&newreno());
            s.cell.as_mut().unwrap().aps[0].control = [first].into_iter().chain(second).cloned().collect();
            check(&format!("{} and {:?}", first.entry.name, second.map(|b| b.entry.name)), &s);
        }
    }
}

#[test]
fn the_laws_hold_with_every_discipline_at_the_access_point_at_stations_and_on_wires() {
    for discipline in every::disciplines() {
        let mut s = busy(&TcpSpec { ecn: EcnEcho::Latch, ..newreno() });
        s.cell.as_mut().unwrap().aps[0].station.queue = discipline.clone();
        check(discipline.entry.name, &s);
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.queue = discipline.clone());
        for link in &mut s.links {
            link.forward.rate = WireRate::Constant(2_000_000);
            link.forward.queue = discipline.clone();
            link.reverse.queue = discipline.clone();
        }
        check(&format!("{} everywhere", discipline.entry.name), &s);
    }
}

#[test]
fn the_laws_hold_with_every_controller_and_every_recovery() {
    for tcp in every::connections() {
        check(&tcp.name, &busy(&tcp));
        let more = TcpSpec { pacing: true, ack: 2, estimates: every::estimators(), ..tcp.clone() };
        check(&format!("{}, paced, delayed ACKs", tcp.name), &busy(&more));
        check(&format!("{}, handshake", tcp.name), &busy(&TcpSpec { handshake: Handshake::Tcp, ..tcp.clone() }));
        check(&format!("{}, encrypted", tcp.name), &busy(&TcpSpec { encrypted: Some(60), ..tcp }));
    }
}

#[test]
fn the_laws_hold_with_overhead_in_every_sending_host() {
    for tcp in every::connections() {
        let mut s = busy(&tcp);
        for (i, f) in s.flows.iter_mut().enumerate() {
            f.ends.overhead = Some([between(0, 1000), between(300, 300), between(2000, 5000)][i % 3]);
        }
        check(&format!("{} and overhead", tcp.name), &s);
    }
}

#[test]
fn the_laws_hold_with_every_source_of_traffic() {
    for (source, datagrams) in every::sources() {
        let mut s = busy(&newreno());
        s.flows
            .iter_mut()
            .filter(|f| datagrams || !matches!(f.ends.transport, Transport::Udp(_)))
            .for_each(|f| f.ends.traffic = source.clone());
        check(source.entry.name, &s);
    }
}

#[test]
fn no_page_begins_before_the_think_time_of_the_last_is_over() {
    let think = Span::from_millis(20);
    let with = [
        ("size", Value::Amount(Amount::Packets(8))),
        ("think", Value::Time(think)),
        ("law", Value::Word("fixed".into())),
    ];
    let mut s = busy(&newreno());
    for f in s.flows.iter_mut().filter(|f| matches!(f.ends.transport, Transport::Tcp(_))) {
        f.ends.traffic = choose(traffic::REGISTRY, "web", &with);
    }
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(20.0));
    let users = (0..net.flows()).filter(|i| matches!(s.flows[*i].ends.transport, Transport::Tcp(_)));
    for i in users {
        let pages = net.transfers(i);
        assert!(pages.len() > 10 && net.unfinished(i) <= 1, "flow {i}: {} pages", pages.len());
        for pair in pages.windows(2) {
            assert_eq!(pair[1].0, pair[0].0 + pair[0].1 + think, "flow {i}");
        }
    }
}

#[test]
fn the_laws_hold_with_every_loss_process_on_the_air_and_on_wires() {
    for process in every::losses() {
        let mut s = busy(&newreno());
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.loss = Some(process.clone()));
        s.links.iter_mut().for_each(|link| link.reverse.loss = Some(process.clone()));
        check(process.entry.name, &s);
    }
}
