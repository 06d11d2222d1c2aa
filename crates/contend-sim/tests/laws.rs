//! What holds in every network: packets are conserved, the air's ledger sums to the time that has passed, the same seed
//! gives the same bits.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use contend_core::registry::{Amount, Choice, Entry, Value};
use contend_core::{Span, Time, ap, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::trace::Trace;
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::phy::Protection;
use proptest::prelude::*;

/// DCF, or EDCA of either kind; a little more often without categories than with.
fn access_rule() -> impl Strategy<Value = Choice<access::Build>> {
    let edca = |scheduling: &str, table: &str| {
        choose(
            access::REGISTRY,
            "edca",
            &[("scheduling", Value::Word(scheduling.into())), ("table", Value::Word(table.into()))],
        )
    };
    let dcf = choose(access::REGISTRY, "dcf", &[]);
    prop::sample::select(vec![
        dcf.clone(),
        dcf.clone(),
        dcf.clone(),
        dcf,
        edca("sab", "802.11e"),
        edca("sab", "802.11-2016"),
        edca("sbb", "802.11e"),
    ])
}

/// A small random cell with random flows.
fn scenario() -> impl Strategy<Value = Scenario> {
    let station = (
        prop::sample::select(vec![6_000_000u64, 24_000_000, 54_000_000]),
        prop::option::of(0.0f64..0.5),
        1u64..20,
        access_rule(),
    );
    let flow = (
        any::<bool>(),
        any::<bool>(),
        0usize..6,
        prop::sample::select(vec![100u32, 576, 1500]),
        0u64..1_500,
        prop::sample::select(Category::ALL.to_vec()),
    );
    let options = (any::<bool>(), any::<bool>(), any::<bool>(), prop::sample::select(vec![u32::MAX, 500, 0]), 0u8..3);
    // Every discipline and every control block takes its turn, with its defaults.
    let at_ap = (
        0..qdisc::REGISTRY.len(),
        prop::collection::vec(0..ap::REGISTRY.len().max(1), 0..3),
        prop::option::of(1u64..30),
        access_rule(),
    );
    (0u64..1000, prop::collection::vec(station, 1..6), prop::collection::vec(flow, 1..6), options, at_ap).prop_map(
        |(seed, stations, flows, options, (queue, control, limit, rule))| {
            let (counted, draw, difs, rts_threshold, protection) = options;
            let mac = MacSpec {
                busy_slot: if counted { BusySlot::Counted } else { BusySlot::Frozen },
                idle_access: if draw { IdleAccess::Draw } else { IdleAccess::Immediate },
                after_collision: if difs { AfterCollision::Difs } else { AfterCollision::Eifs },
                rts_threshold,
                ..MAC
            };
            let mut phy = phy_g();
            phy.protection = [Protection::None, Protection::CtsToSelf, Protection::RtsCts][usize::from(protection)];
            let mut cell = cell(phy, mac, stations.len(), 54_000_000);
            let entry = &qdisc::REGISTRY[queue];
            let short = limit
                .filter(|_| entry.params.iter().any(|p| p.name == "limit"))
                .map(|n| ("limit", Value::Amount(Amount::Packets(n))));
            cell.ap.queue = choose(qdisc::REGISTRY, entry.name, short.as_slice());
            // Not every discipline tells a block how many packets may wait.
            let buffer = [("buffer", Value::Amount(Amount::Packets(20)))];
            let block = |e: &'static Entry<ap::Build>| {
                let asks = e.params.iter().any(|p| p.name == "buffer");
                choose(ap::REGISTRY, e.name, if asks { buffer.as_slice() } else { &[] })
            };
            cell.ap.access = rule;
            cell.control = control.iter().filter_map(|&i| ap::REGISTRY.get(i)).map(block).collect();
            for (s, (rate, p, queue, rule)) in cell.stations.iter_mut().zip(&stations) {
                s.access = rule.clone();
                s.rate = *rate;
                s.queue = fifo(*queue);
                s.loss = p.and_then(|p| loss("per", &[("p", Value::Number(p))]));
            }
            let (nodes, links) = hosts(flows.len(), Span::from_millis(2));
            let flows = flows
                .into_iter()
                .enumerate()
                .map(|(i, (up, udp, who, packet, start, category))| {
                    let sta = Place::Station(who % stations.len());
                    let (from, to) = if up { (sta, Place::Node(i)) } else { (Place::Node(i), sta) };
                    let start = Start::At(Time::ZERO + Span::from_millis(start));
                    let name = format!("f.{i}");
                    let mut f =
                        if udp { cbr(name, from, to, 5_000_000) } else { bulk(name, from, to, newreno(), start) };
                    f.packet = packet;
                    f.category = category;
                    f
                })
                .collect();
            Scenario { seed, cell: Some(cell), nodes, links, flows }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_delivered_dropped_or_somewhere(s in scenario(), stop in 0u64..3_000_000) {
        let mut net = Net::new(&s, Trace::new()).unwrap();
        net.run_until(Time::ZERO + Span::from_micros(stop));
        let now = net.world.now();
        let flows = s.flows.len();
        let sent: u64 = (0..flows).map(|i| net.sent(i).packets + net.received(i).acks).sum();
        let arrived: u64 = (0..flows).map(|i| net.received(i).packets + net.sent(i).acks).sum();
        let stations = net.stations().len();
        let (mut elsewhere, mut made) = (0, 0);
        let names: Vec<String> = net.queues().map(str::to_owned).collect();
        for (i, name) in names.iter().enumerate() {
            let c = net.meter(i).unwrap().read(now);
            elsewhere += c.drops() + c.filtered + net.lost(i).iter().sum::<u64>();
            made += c.made;
            // Queues of further categories stand behind all others.
            let on_air = i < stations || Category::ALL.iter().any(|c| name.ends_with(&format!(".{}", c.name())));
            if on_air || name == "ap.control" {
                elsewhere += net.meter(i).unwrap().waiting();
            }
            if i < stations {
                let station = net.station(i as u32);
                elsewhere += station.retry_drops - station.dropped_after_delivery + net.cell().unwrap().in_service(i as u32);
            }
        }
        elsewhere += net.wires().map(|w| w.in_flight()).sum::<u64>();
        prop_assert_eq!(sent + made, arrived + elsewhere);
    }

    #[test]
    fn every_nanosecond_of_air_is_in_exactly_one_account(s in scenario(), stop in 0u64..2_000_000) {
        let mut net = Net::new(&s, Trace::new()).unwrap();
        net.run_until(Time::ZERO + Span::from_micros(stop));
        let books = net.ledger().unwrap();
        prop_assert_eq!(books.sum(), books.booked() - Time::ZERO);
        // An exchange is booked when it starts, so the books are never behind, and at most one exchange ahead.
        prop_assert!(books.booked() >= net.world.now());
        prop_assert!(books.booked() <= net.world.now() + Span::from_millis(5));
    }

    #[test]
    fn stopping_in_between_changes_nothing(s in scenario(), stops in prop::collection::vec(0u64..1_000_000, 0..5)) {
        let run = |stops: &[u64]| {
            let mut net = Net::new(&s, Trace::new()).unwrap();
            for t in stops {
                net.run_until(net.world.now().max(Time::ZERO + Span::from_micros(*t)));
            }
            net.run_until(at(1.0));
            (net.world.trace.digest(), net.world.events())
        };
        prop_assert_eq!(run(&[]), run(&stops));
    }
}
