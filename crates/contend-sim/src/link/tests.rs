//! Wires by hand: when packets arrive, what a full queue drops, and that all ways through the code agree.

use super::*;
use crate::peer::{NodeId, WireId};
use crate::world::{Input, Node, Out, World};
use contend_core::qdisc::{Backlog, DropReason, Link, Qdisc, Sink};
use contend_core::registry::{Args, Choice, DropRule, Value, find};
use contend_core::{Address, Body, Cx};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// Sends packets of these sizes at these instants, numbered, to the first wire.
#[derive(Debug)]
struct Feeder(VecDeque<(Time, Packet)>);
impl Node for Feeder {
    fn handle(&mut self, now: Time, _: Input<'_>, out: &mut Out<'_>) -> Time {
        while let Some(&(at, p)) = self.0.front().filter(|(at, _)| *at <= now) {
            assert_eq!(at, now);
            out.send(Peer::Wire(WireId(0)), &p);
            self.0.pop_front();
        }
        self.0.front().map_or(Time::NEVER, |(at, _)| *at)
    }
}

/// Notes when which packet came.
#[derive(Debug, Default)]
struct Catcher(Vec<(u64, u64)>);
impl Node for Catcher {
    fn handle(&mut self, now: Time, input: Input<'_>, _: &mut Out<'_>) -> Time {
        if let Input::Packet(_, Packet { body: Body::Udp { seq }, .. }) = input {
            self.0.push((now.as_nanos(), *seq));
        }
        Time::NEVER
    }
}

fn packet(seq: u64, size: u32) -> Packet {
    Packet::new(FlowId(0), size, Time::ZERO, Body::Udp { seq })
}

fn spec(rate: u64, delay: Span, limit: Amount) -> WireSpec {
    let mut args = Args::default();
    args.set("limit", Value::Amount(limit));
    WireSpec {
        rate: WireRate::Constant(rate),
        delay,
        queue: Choice { entry: find(qdisc::REGISTRY, "fifo").unwrap(), args },
        loss: None,
    }
}

fn general(qdisc: Box<dyn Qdisc>) -> WireQueue {
    WireQueue::Disciplined(Box::new(Disciplined::new(qdisc, stream(1, "link.a", "queue"))))
}

fn losing(mut spec: WireSpec, name: &str, values: &[(&'static str, Value)]) -> WireSpec {
    let mut args = Args::default();
    for (n, v) in values {
        args.set(n, v.clone());
    }
    spec.loss = Some(Choice { entry: find(loss::REGISTRY, name).unwrap(), args });
    spec
}

/// Which of the two paths through the code is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    Ring,
    General,
}
const BOTH: [Path; 2] = [Path::Ring, Path::General];

/// A feeder of (nanoseconds, size), a wire, a catcher.
fn world(spec: &WireSpec, path: Path, feed: &[(u64, u32)]) -> World {
    let mut w = World::new();
    let feed: VecDeque<_> =
        feed.iter().enumerate().map(|(i, &(at, size))| (Time::from_nanos(at), packet(i as u64, size))).collect();
    let first = feed.front().map_or(Time::NEVER, |f| f.0);
    w.add(Box::new(Feeder(feed)), first);
    w.add(Box::new(Catcher::default()), Time::NEVER);
    let to = FarEnd::Peer(Peer::Node(NodeId(1), 0));
    let mut wire = Wire::new(1, "link.a", spec, to, &Site::ALONE, &|n| (n == "f").then_some(FlowId(0))).unwrap();
    if path == Path::General {
        wire.queue = general(Box::new(Fifo::new(spec.queue.args.amount("limit"))));
    }
    w.wire(wire);
    w
}

fn wire(w: &mut World) -> &mut Wire {
    w.wire_mut(WireId(0)).unwrap()
}

fn caught(w: &World) -> &[(u64, u64)] {
    &w.node::<Catcher>(NodeId(1)).unwrap().0
}

const SECOND: Time = Time::from_nanos(1_000_000_000);

/// 1000 B at 8 Mb/s are 1 ms, 40 B are 40 us.
#[test]
fn packets_arrive_when_a_hand_says() {
    for path in BOTH {
        let feed = [(0, 1000), (100_000, 40), (200_000, 1000), (5_000_000, 40)];
        let mut w = world(&spec(8_000_000, Span::from_millis(10), Amount::Packets(100)), path, &feed);
        w.run_until(SECOND);
        assert_eq!(caught(&w), [(11_000_000, 0), (11_040_000, 1), (12_040_000, 2), (15_040_000, 3)], "{path:?}");
    }
}

#[test]
fn the_queue_is_full_at_exactly_its_limit_and_the_packet_being_sent_is_outside() {
    for path in BOTH {
        // One is being sent, three wait, the fifth is dropped; at 1 ms, as the first is through, there is room for
        // one.
        let feed = [
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (999_999, 1000),
            (1_000_000, 1000),
            (1_000_000, 1000),
        ];
        for limit in [Amount::Packets(3), Amount::Bytes(3000), Amount::Bytes(3999)] {
            let mut w = world(&spec(8_000_000, Span::ZERO, limit), path, &feed);
            w.run_until(SECOND);
            let got: Vec<u64> = caught(&w).iter().map(|c| c.1).collect();
            assert_eq!(got, [0, 1, 2, 3, 6], "{path:?} {limit:?}");
            assert_eq!(wire(&mut w).meter(SECOND).read(SECOND).dropped, [0, 0, 0, 3]);
        }
        // A byte limit accepts a packet that fits, even after a larger packet did not fit.
        let mut w = world(
            &spec(8_000_000, Span::ZERO, Amount::Bytes(2000)),
            path,
            &[(0, 1000), (0, 1500), (0, 501), (0, 500), (0, 1)],
        );
        w.run_until(SECOND);
        assert_eq!(caught(&w).iter().map(|c| c.1).collect::<Vec<_>>(), [0, 1, 3], "{path:?}");
    }
}

#[test]
fn a_wire_without_a_rate_hands_over_after_the_delay_in_order_and_never_fills() {
    for path in BOTH {
        let feed: Vec<_> = (0..50).map(|i| (i / 10, 1500)).collect();
        let mut w = world(&spec(0, Span::from_nanos(5), Amount::Packets(1)), path, &feed);
        w.run_until(SECOND);
        let want: Vec<_> = (0..50).map(|i| (i / 10 + 5, i)).collect();
        assert_eq!(caught(&w), want, "{path:?}");
    }
}

/// Three packets at 0, 1 ms each: they wait 0, 1 and 2 ms; the mean number over 4 ms is 3/4.
#[test]
fn the_meter_shows_waiting_up_to_the_first_bit_even_between_events() {
    for path in BOTH {
        let mut w = world(
            &spec(8_000_000, Span::from_millis(50), Amount::Packets(9)),
            path,
            &[(0, 1000), (0, 1000), (0, 1000)],
        );
        let t = Time::from_nanos(1_500_000);
        w.run_until(t);
        let m = wire(&mut w).meter(t);
        assert_eq!((m.waiting(), m.read(t).packet_ns), (1, 2_500_000), "{path:?}");
        let t = Time::from_nanos(4_000_000);
        w.run_until(t);
        let m = wire(&mut w).meter(t);
        let c = m.read(t);
        assert_eq!((c.offered, c.taken, c.packet_ns), (3, 3, 3_000_000), "{path:?}");
        assert!((m.delay.mean_ms() - 1.0).abs() < 0.01);
    }
}

fn following(rate: WireRate, delay: Span, limit: Amount) -> WireSpec {
    WireSpec { rate, ..spec(0, delay, limit) }
}

fn steps(of: &[(u64, u64)]) -> WireRate {
    let steps = of.iter().map(|&(ms, bps)| (Time::ZERO + Span::from_millis(ms), bps)).collect();
    WireRate::Steps(Arc::new(RateSteps::new(steps).unwrap()))
}

fn deliveries(at_ms: &[u32]) -> WireRate {
    WireRate::Deliveries(Arc::new(Deliveries::new(at_ms.to_vec()).unwrap()))
}

/// 1000 B take 1 ms at 8 Mb/s and 8 ms at 1 Mb/s. The third packet has sent 1/2 at 2.5 ms; its rest takes 4 ms.
#[test]
fn a_wire_that_follows_a_table_sends_as_a_hand_says() {
    for path in BOTH {
        let feed = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (20_000_000, 1000), (20_000_000, 125)];
        let rate = steps(&[(0, 8_000_000), (2, 4_000_000), (3, 1_000_000), (15, 0), (22, 8_000_000)]);
        let mut w = world(&following(rate, Span::from_millis(10), Amount::Packets(2)), path, &feed);
        w.run_until(SECOND);
        // 1 and 2 ms; 1 ms at 4 Mb/s and 4 ms at 1 Mb/s: 7 ms; of four at once, the last is dropped. Then a rate of
        // zero.
        let ns = [11_000_000, 12_000_000, 17_000_000, 33_000_000, 33_125_000];
        let want: Vec<_> = ns.into_iter().zip([0, 1, 2, 4, 5]).collect();
        assert_eq!(caught(&w), want, "{path:?}");
    }
}

/// Entries at 4, 8, 8 and 10 ms, then at 14, 18, 18 and 20 ms, and so on; the wire propagates for 1 ms.
#[test]
fn a_wire_that_follows_a_trace_of_deliveries_sends_as_a_hand_says() {
    for path in BOTH {
        let feed = [
            (0, 1000),          // at 4 ms
            (1_000_000, 500),   // with it
            (2_000_000, 1400),  // the first entry at 8 ms
            (8_000_000, 1500),  // too late for the second entry at 8 ms: 10 ms
            (12_000_000, 2000), // 14 ms and 500 B of 18 ms
            (12_000_000, 1000), // the rest of that entry
            (12_000_000, 1000), // the second entry at 18 ms
        ];
        let rate = deliveries(&[4, 8, 8, 10]);
        let mut w = world(&following(rate, Span::from_millis(1), Amount::Packets(9)), path, &feed);
        w.run_until(SECOND);
        let want: Vec<_> = [5, 5, 9, 11, 19, 19, 19].map(|ms| ms * 1_000_000).into_iter().zip(0..).collect();
        assert_eq!(caught(&w), want, "{path:?}");
    }
}

/// mahimahi's traces for 12 Mb/s have an entry in each millisecond; 1500 B take 1 ms at that rate.
#[test]
fn an_entry_in_each_millisecond_is_the_constant_rate_of_full_packets() {
    let feed: Vec<_> = (0..30).map(|i| (i / 10 * 20_000_000, 1500)).collect();
    let arrivals = |rate| {
        let mut w = world(&following(rate, Span::from_millis(3), Amount::Packets(7)), Path::Ring, &feed);
        w.run_until(SECOND);
        (caught(&w).to_vec(), w.trace.digest())
    };
    let constant = arrivals(WireRate::Constant(12_000_000));
    assert_eq!(constant.0.len(), 24);
    assert_eq!(arrivals(deliveries(&[1])), constant);
    assert_eq!(arrivals(deliveries(&[1, 2, 3])), constant);
    assert_eq!(arrivals(steps(&[(0, 12_000_000), (7, 12_000_000)])), constant);
}

#[test]
fn a_lost_packet_has_used_its_sending_time() {
    for path in BOTH {
        let rule = DropRule { flow: "f".into(), segment: 1, copy: 0 };
        let s = losing(
            spec(8_000_000, Span::from_millis(10), Amount::Packets(9)),
            "script",
            &[("drop", Value::Drops(vec![rule]))],
        );
        let mut w = world(&s, path, &[(0, 1000), (0, 1000), (0, 1000)]);
        w.run_until(SECOND);
        assert_eq!(caught(&w), [(11_000_000, 0), (13_000_000, 2)], "{path:?}");
        assert_eq!(wire(&mut w).lost(), &[0, 0, 0, 1]);
    }
}

/// Down from 2 ms to 4 ms: lost is what sends its last bit in that time, however long it propagates.
#[test]
fn an_outage_takes_what_is_sent_while_it_lasts() {
    let ms = |n| Time::ZERO + Span::from_millis(n);
    for path in BOTH {
        let s = losing(
            spec(8_000_000, Span::from_millis(100), Amount::Packets(9)),
            "script",
            &[("outage", Value::Intervals(vec![(ms(2), ms(4))]))],
        );
        let mut w = world(&s, path, &[(0, 1000); 6]);
        w.run_until(SECOND);
        assert_eq!(caught(&w).iter().map(|c| c.1).collect::<Vec<_>>(), [0, 3, 4, 5], "{path:?}");
    }
}

#[test]
fn the_slowest_wire_with_the_deepest_queue_neither_stops_nor_overflows() {
    let s = losing(
        spec(1, Span::MAX, Amount::Packets(1_000_000_000)),
        "gilbert_elliott",
        &[("good", Value::Time(Span::from_millis(1))), ("bad", Value::Time(Span::from_millis(1)))],
    );
    for path in BOTH {
        let mut w = world(&s, path, &[(0, u32::MAX); 3000]);
        w.run_until(SECOND);
        assert_eq!(wire(&mut w).in_flight(), 3000);
    }
}

fn feeds() -> impl Strategy<Value = Vec<(u64, u32)>> {
    // Gaps and sizes have few values, so that arrivals coincide exactly with ends of transmissions.
    prop::collection::vec(
        (
            prop::sample::select(vec![0u64, 0, 1, 40_000, 500_000, 1_000_000, 3_000_000]),
            prop::sample::select(vec![40u32, 500, 1000, 1500]),
        ),
        1..200,
    )
    .prop_map(|v| {
        let mut at = 0;
        v.into_iter()
            .map(|(gap, size)| {
                at += gap;
                (at, size)
            })
            .collect()
    })
}

/// Rates that the wires of the properties have.
fn rates() -> impl Strategy<Value = WireRate> {
    prop::sample::select(vec![
        WireRate::Constant(0),
        WireRate::Constant(8_000_000),
        steps(&[(0, 8_000_000), (3, 1_000_000), (20, 0), (40, 80_000_000)]),
        deliveries(&[0, 1, 1, 4, 9]),
    ])
}

fn limits() -> impl Strategy<Value = Amount> {
    prop_oneof![(1u64..12).prop_map(Amount::Packets), (40u64..9000).prop_map(Amount::Bytes)]
}

proptest! {
    #[test]
    fn ring_and_general_path_are_the_same_to_the_bit(
        feed in feeds(), limit in limits(), rate in rates(), delay in 0u64..3_000_000, p in 0.0f64..0.5,
        cut in 0u64..100_000_000,
    ) {
        let s = following(rate, Span::from_nanos(delay), limit);
        let s = losing(s, "bernoulli", &[("p", Value::Number(p)), ("on", Value::Word("all".into()))]);
        let (mut a, mut b) = (world(&s, Path::Ring, &feed), world(&s, Path::General, &feed));
        for end in [Time::from_nanos(cut), SECOND] {
            a.run_until(end);
            b.run_until(end);
            prop_assert_eq!(caught(&a), caught(&b));
            prop_assert_eq!(a.trace.digest(), b.trace.digest());
            let (x, y) = (wire(&mut a).meter(end).clone(), wire(&mut b).meter(end).clone());
            prop_assert_eq!(x.read(end), y.read(end));
            prop_assert_eq!(x.delay.buckets().collect::<Vec<_>>(), y.delay.buckets().collect::<Vec<_>>());
            prop_assert_eq!(
                (wire(&mut a).lost, wire(&mut a).in_flight()), (wire(&mut b).lost, wire(&mut b).in_flight()),
            );
        }
        prop_assert!(a.events() <= b.events());
    }

    #[test]
    fn two_wires_in_a_row_are_the_same_joined_and_apart_to_the_bit(
        feed in feeds(), limits in (limits(), 0u64..12), rates in (rates(), rates()),
        delays in (0u64..3_000_000, 0u64..3_000_000), p in 0.0f64..0.5,
        cut in 0u64..100_000_000,
    ) {
        // Twice as fast as the second, if both are constant.
        let first = if rates.0 == WireRate::Constant(8_000_000) { WireRate::Constant(16_000_000) } else { rates.0 };
        let first = following(first, Span::from_nanos(delays.0), limits.0);
        let second = following(rates.1, Span::from_nanos(delays.1), Amount::Packets(limits.1));
        let second = losing(second, "bernoulli", &[("p", Value::Number(p)), ("on", Value::Word("all".into()))]);
        let [mut a, mut b] = [true, false].map(|joined| {
            let mut w = world(&second, Path::Ring, &feed);
            // The feeder sends into the first wire that there is.
            let to = FarEnd::Peer(Peer::Wire(WireId(1)));
            let before = Wire::new(1, "link.b", &first, to, &Site::ALONE, &|_| None).unwrap();
            let after = std::mem::replace(wire(&mut w), before);
            w.wire(after);
            if joined {
                w.join(WireId(0), WireId(1));
            }
            w
        });
        for end in [Time::from_nanos(cut), SECOND] {
            a.run_until(end);
            b.run_until(end);
            prop_assert_eq!(caught(&a), caught(&b));
            prop_assert_eq!(a.trace.digest(), b.trace.digest());
            for i in [0, 1].map(WireId) {
                let (x, y) = (a.wire_mut(i).unwrap(), b.wire_mut(i).unwrap());
                prop_assert_eq!(x.meter(end).read(end), y.meter(end).read(end));
                prop_assert_eq!(
                    x.meter(end).delay.buckets().collect::<Vec<_>>(), y.meter(end).delay.buckets().collect::<Vec<_>>(),
                );
                prop_assert_eq!((x.lost, x.delivered, x.in_flight()), (y.lost, y.delivered, y.in_flight()));
            }
        }
        prop_assert!(a.events() <= b.events());
        prop_assert!(a.wires()[1].fed_by().is_some());
    }

    #[test]
    fn every_packet_offered_is_somewhere(
        feed in feeds(), limit in limits(), rate in rates(), cut in 0u64..100_000_000, p in 0.0f64..0.5,
    ) {
        for path in BOTH {
            let s = losing(
                following(rate.clone(), Span::from_millis(5), limit), "bernoulli",
                &[("p", Value::Number(p)), ("on", Value::Word("all".into()))],
            );
            let mut w = world(&s, path, &feed);
            let end = Time::from_nanos(cut);
            w.run_until(end);
            let delivered = caught(&w).len() as u64;
            let x = wire(&mut w);
            let c = x.meter(end).read(end);
            prop_assert_eq!(x.delivered(), delivered);
            prop_assert_eq!(c.offered, feed.iter().filter(|f| f.0 <= cut).count() as u64);
            prop_assert_eq!(c.offered, delivered + c.drops() + x.lost().iter().sum::<u64>() + x.in_flight());
            prop_assert!(caught(&w).windows(2).all(|c| c[0].1 < c[1].1), "in order");
        }
    }
}

/// First in, first out, but a packet is dropped whenever a second one is asked for.
#[derive(Debug)]
struct Halving(Fifo, bool);
impl Qdisc for Halving {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        self.0.enqueue(cx, link, p, sink);
    }
    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        self.1 = !self.1;
        if !self.1 {
            let p = self.0.dequeue(cx, link, sink).unwrap();
            sink.drop(p, DropReason::Full);
        }
        self.0.dequeue(cx, link, sink)
    }
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
}

#[test]
fn what_a_discipline_drops_when_it_is_asked_for_the_next_packet_is_counted() {
    let mut w = world(&spec(8_000_000, Span::ZERO, Amount::Packets(9)), Path::General, &[(0, 1000); 6]);
    wire(&mut w).queue = general(Box::new(Halving(Fifo::new(Amount::Packets(9)), false)));
    w.run_until(SECOND);
    assert_eq!(caught(&w), [(1_000_000, 0), (2_000_000, 2), (3_000_000, 3), (4_000_000, 5)]);
    assert_eq!((wire(&mut w).meter(SECOND).read(SECOND).drops(), wire(&mut w).in_flight()), (2, 0));
}

#[test]
fn a_router_follows_its_table_and_what_has_no_route_is_lost() {
    let mut w = World::new();
    let data = |seq, dst| (Time::from_nanos(seq), packet(seq, 100).between(Address(9), Address(dst)));
    let feed = [data(0, 0), data(1, 1), data(2, 2), data(3, 3), data(4, 4)];
    w.add(Box::new(Feeder(feed.into())), Time::ZERO);
    w.add(Box::new(Catcher::default()), Time::NEVER);
    w.add(Box::new(Catcher::default()), Time::NEVER);
    let to = |n| Some(Peer::Node(NodeId(n), 0));
    let routes = FarEnd::Lookup([to(1), to(2), to(2), None].into_iter().collect());
    w.wire(Wire::new(1, "link.a", &spec(0, Span::ZERO, Amount::Packets(9)), routes, &Site::ALONE, &|_| None).unwrap());
    w.run_until(SECOND);
    assert_eq!(caught(&w), [(0, 0)]);
    assert_eq!(w.node::<Catcher>(NodeId(2)).unwrap().0, [(1, 1), (2, 2)]);
    assert_eq!((wire(&mut w).delivered(), wire(&mut w).lost().iter().sum::<u64>()), (3, 2));
}

/// A wire that is the second of one pair and the first of another would hand its packets over twice.
#[test]
fn of_three_wires_in_a_row_two_are_joined_in_whatever_order_pairs_are_found() {
    let arrivals = |pairs: &[(u32, u32)]| {
        let s = spec(8_000_000, Span::from_millis(1), Amount::Packets(9));
        let mut w = world(&s, Path::Ring, &[(0, 1000); 5]);
        let last = std::mem::replace(
            wire(&mut w),
            Wire::new(1, "link.b", &s, FarEnd::Peer(Peer::Wire(WireId(1))), &Site::ALONE, &|_| None).unwrap(),
        );
        w.wire(Wire::new(1, "link.c", &s, FarEnd::Peer(Peer::Wire(WireId(2))), &Site::ALONE, &|_| None).unwrap());
        w.wire(last);
        pairs.iter().for_each(|&(a, b)| w.join(WireId(a), WireId(b)));
        w.run_until(SECOND);
        (caught(&w).to_vec(), w.trace.digest())
    };
    let apart = arrivals(&[]);
    assert_eq!(apart.0.len(), 5);
    assert_eq!(arrivals(&[(0, 1), (1, 2)]), apart);
    assert_eq!(arrivals(&[(1, 2), (0, 1)]), apart);
}
