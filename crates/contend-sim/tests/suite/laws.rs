//! Laws of every network: packets are conserved, the ledger of the air sums to the elapsed time, data keep their order,
//! and the same seed gives the same bits. `every_entry.rs` checks these laws for one algorithm at a time.

use crate::common::*;
use contend_core::registry::{Amount, Choice, Value};
use contend_core::{Span, Time, ap, qdisc};
use contend_sim::loss;
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::client::Client;
use contend_sim::wifi::phy::{Family, Protection};
use proptest::prelude::*;

/// One of `all`.
fn any_of<T: Clone + std::fmt::Debug + 'static>(all: Vec<T>) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

/// A drop-tail queue of up to 20 packets, or sometimes any discipline.
fn queue() -> impl Strategy<Value = Choice<qdisc::Build>> {
    prop_oneof![3 => (1u64..20).prop_map(fifo), 1 => any_of(every::disciplines())]
}

/// Any discipline, sometimes with a limit of several packets if the discipline has a limit.
fn limited() -> impl Strategy<Value = Choice<qdisc::Build>> {
    (any_of(every::disciplines()), prop::option::of(1u64..30)).prop_map(|(mut queue, limit)| {
        if let Some(n) = limit.filter(|_| queue.entry.params.iter().any(|p| p.name == "limit")) {
            queue.args.set("limit", Value::Amount(Amount::Packets(n)));
        }
        queue
    })
}

/// DCF in half of the draws, otherwise any rule.
fn access_rule() -> impl Strategy<Value = Choice<access::Build>> {
    prop_oneof![1 => Just(choose(access::REGISTRY, "dcf", &[])), 1 => any_of(every::access_rules())]
}

/// Any TCP without a handshake: the ends do not count the packets of a handshake.
fn connection() -> impl Strategy<Value = TcpSpec> {
    let options = (any::<bool>(), 1u32..4, prop::option::of(0u32..60), 1u64..50);
    prop_oneof![1 => Just(newreno()), 2 => any_of(every::connections())].prop_flat_map(move |tcp| {
        options.clone().prop_map(move |(pacing, ack, encrypted, window)| {
            let window = Amount::Packets(window);
            TcpSpec { pacing, ack, encrypted, window, ..tcp.clone() }
        })
    })
}

/// Any format of 802.11n and later with any limits of aggregates, or a cell of 802.11g.
fn format() -> impl Strategy<Value = Option<Format>> {
    let mode = any_of(vec![
        (Family::Ht, 20, 1, 0),
        (Family::Ht, 40, 2, 7),
        (Family::Vht, 80, 1, 9),
        (Family::He, 20, 1, 5),
        (Family::He, 160, 2, 11),
        (Family::Eht, 80, 1, 13),
    ]);
    let limits =
        (1u32..70, 1u32..300, 1u32..400, prop::option::of(1u32..8), any_of(vec![0, 1, 20, 300]), any::<bool>());
    let spec = limits.prop_map(|(mpdus, window, limit, attempts, lifetime, asks)| Aggregation {
        lifetime: Span::from_millis(lifetime),
        msdu: [0, 3839][(limit % 2) as usize],
        hw_queue: window % 4,
        ..Aggregation { mpdus, window, limit, attempts, asks, ..AGGREGATION }
    });
    prop::option::of((mode, prop::option::weighted(0.8, spec)))
}

/// Family, width, streams and MCS; and the limits of aggregates, if there are any.
type Format = ((Family, u16, u8, u8), Option<Aggregation>);

/// A small random cell with random flows.
fn scenario() -> impl Strategy<Value = Scenario> {
    let station = (
        any_of(vec![6_000_000u64, 24_000_000, 54_000_000]),
        prop::option::of(any_of(every::losses())),
        queue(),
        access_rule(),
        prop::option::weighted(0.2, any_of(every::clients())),
    );
    let flow = (
        any::<bool>(),
        prop::option::of(connection()),
        0usize..6,
        any_of(vec![300u32, 576, 1500]),
        0u64..1_500,
        any_of(Category::ALL.to_vec()),
        prop::option::weighted(0.3, (0u64..2000, 0u64..3000)),
    );
    let options = (any::<bool>(), any::<bool>(), any::<bool>(), any_of(vec![u32::MAX, 500, 0]), 0u8..3, 1u32..8);
    let at_ap = (limited(), prop::collection::vec(any_of(every::controls()), 0..3), access_rule(), queue());
    (0u64..1000, prop::collection::vec(station, 1..6), prop::collection::vec(flow, 1..6), options, at_ap, format())
        .prop_map(|(seed, stations, flows, options, at_ap, format)| {
            in_format(scenario_of(seed, &stations, flows, options, at_ap), format)
        })
}

/// The network with stations of another format. The first of several keeps its rate: it is a station of 802.11a.
fn in_format(s: Scenario, format: Option<Format>) -> Scenario {
    let Some(((family, width, streams, mcs), aggregation)) = format else { return s };
    let (mut phy, rate) = modern(family, width, streams, mcs);
    let older = s.cell.as_ref().unwrap();
    (phy.protection, phy.protection_rate) = (older.phy.protection, 6_000_000);
    let first = older.stations.first().filter(|_| older.stations.len() > 1).map(|first| first.rate);
    let mut s = aggregating(with_rate(s, (phy, rate)), aggregation);
    if let Some(first) = first {
        let one = &mut s.cell.as_mut().unwrap().stations[0];
        (one.rate, one.aggregation) = (first, None);
    }
    s
}

type Station = (u64, Option<Choice<loss::Build>>, Choice<qdisc::Build>, Choice<access::Build>, Option<Client>);
/// Up or down, TCP or datagrams, station, packet size, start in milliseconds, category, minimum overhead in
/// microseconds, and the difference to the maximum overhead.
type Flow = (bool, Option<TcpSpec>, usize, u32, u64, Category, Option<(u64, u64)>);
type AtAp = (Choice<qdisc::Build>, Vec<Choice<ap::Build>>, Choice<access::Build>, Choice<qdisc::Build>);

fn scenario_of(
    seed: u64,
    stations: &[Station],
    flows: Vec<Flow>,
    (counted, draw, difs, rts_threshold, protection, retry): (bool, bool, bool, u32, u8, u32),
    (queue, control, rule, wire): AtAp,
) -> Scenario {
    let mac = MacSpec {
        busy_slot: if counted { BusySlot::Counted } else { BusySlot::Frozen },
        idle_access: if draw { IdleAccess::Draw } else { IdleAccess::Immediate },
        after_collision: if difs { AfterCollision::Difs } else { AfterCollision::Eifs },
        rts_threshold,
        txop_protection: [TxopProtection::Single, TxopProtection::Multiple][(seed % 2) as usize],
        preamble_detection: Span::from_micros([0, 4][(seed / 2 % 2) as usize]),
        retry_short: retry,
        retry_long: retry.div_ceil(2),
    };
    let mut phy = phy_g();
    phy.protection = [Protection::None, Protection::CtsToSelf, Protection::RtsCts][usize::from(protection)];
    let mut cell = cell(phy, mac, stations.len(), 54_000_000);
    let ap = &mut cell.aps[0];
    (ap.station.queue, ap.station.access, ap.control) = (queue, rule, control);
    for (s, (rate, loss, queue, rule, client)) in cell.stations.iter_mut().zip(stations) {
        (s.rate, s.loss, s.access, s.client) = ((*rate).into(), loss.clone(), rule.clone(), *client);
        // A bridge that pauses the card needs a queue with a limit in packets.
        let pauses = matches!(client, Some(Client::Converter(c)) if c.pause.is_some());
        s.queue = if pauses { fifo(9) } else { queue.clone() };
    }
    let (nodes, mut links) = hosts(flows.len(), Span::from_millis(2));
    links.iter_mut().for_each(|link| link.forward.queue = wire.clone());
    let flows = flows
        .into_iter()
        .enumerate()
        .map(|(i, (up, tcp, who, packet, start, category, overhead))| {
            let sta = Place::Station(who % stations.len());
            let (from, to) = if up { (sta, Place::Node(i)) } else { (Place::Node(i), sta) };
            let start = Start::At(Time::ZERO + Span::from_millis(start));
            let name = format!("f.{i}");
            let flow = match tcp {
                None => cbr(name, from, to, 5_000_000),
                Some(tcp) => bulk(name, from, to, tcp, start),
            };
            let overhead = overhead.map(|(low, more)| between(low, low + more));
            FlowSpec { category, ends: EndsSpec { packet, overhead, ..flow.ends }, ..flow }
        })
        .collect();
    Scenario { seed, cell: Some(cell), nodes, links, flows }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_delivered_dropped_or_somewhere(s in scenario(), stop in 0u64..3_000_000) {
        let mut net = Net::new(&s).unwrap();
        net.run_until(Time::ZERO + Span::from_micros(stop));
        law::packets_are_conserved(&mut net);
    }

    #[test]
    fn every_nanosecond_of_air_is_in_exactly_one_account(s in scenario(), stop in 0u64..2_000_000) {
        let mut net = Net::new(&s).unwrap();
        net.run_until(Time::ZERO + Span::from_micros(stop));
        law::air_is_booked_once(&net);
    }

    #[test]
    fn data_of_a_flow_keep_their_order_at_every_transmitter(s in scenario()) {
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(2.0), 1_000_000);
        net.run_until(at(2.0));
        law::data_keep_their_order(&s, net.frames().unwrap().frames());
    }

    #[test]
    fn stopping_in_between_changes_nothing(s in scenario(), stops in prop::collection::vec(0u64..1_000_000, 0..5)) {
        let run = |stops: &[u64]| {
            let mut net = Net::new(&s).unwrap();
            for t in stops {
                net.run_until(net.world.now().max(Time::ZERO + Span::from_micros(*t)));
            }
            net.run_until(at(1.0));
            (net.world.trace.digest(), net.world.events())
        };
        prop_assert_eq!(run(&[]), run(&stops));
    }
}
