//! The cell, calculated by hand: exact times of single exchanges, retries and protection, and laws that always hold.

use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access;
use contend_sim::wifi::phy::Protection;
use contend_sim::wifi::{Frame, FrameKind, FrameOutcome};

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_micros(n)
}

/// One datagram of 1500 B that arrives at station 0 at `start`.
fn one_datagram(start: Time, change: impl FnOnce(&mut Scenario)) -> (Net, Vec<Frame>) {
    let (nodes, links) = hosts(1, Span::ZERO);
    let mut flow = cbr("up.0".into(), Place::Station(0), Place::Node(0), 1_000_000);
    flow.ends.start = Start::At(start);
    flow.ends.size = Some(1472);
    let mut s = Scenario { seed: 1, cell: Some(cell(phy_g(), MAC, 2, 54_000_000)), nodes, links, flows: vec![flow] };
    change(&mut s);
    let mut net = Net::new(&s).unwrap();
    net.keep_frames(Time::ZERO, at(9.0), 10_000);
    net.run_until(at(9.0));
    let frames = net.frames().unwrap().frames().to_vec();
    (net, frames)
}

fn at_us(frames: &[Frame]) -> Vec<(FrameKind, u64, u64)> {
    frames.iter().map(|f| (f.kind, f.start.as_micros(), f.end.as_micros())).collect()
}

#[test]
fn a_packet_on_an_idle_channel_is_delayed_by_its_own_frame_and_nothing_else() {
    let (net, frames) = one_datagram(us(1000), |_| {});
    assert_eq!(at_us(&frames), [(FrameKind::Data, 1000, 1254), (FrameKind::Ack, 1264, 1314)]);
    // 254 us on the air, then 1500 B at 100 Mb/s on the wire take 120 us, exact to the nanosecond.
    assert_eq!(net.delay(0).unwrap().len(), 1);
    let got = net.received(0);
    assert_eq!((got.packets, got.delivered_bytes), (1, 1472));
    assert_eq!(frames[0].start, us(1000));
    assert_eq!(frames[0].end - frames[0].start, Span::from_nanos(254_000));
}

#[test]
fn frames_of_the_interval_are_kept_up_to_the_limit_and_the_others_of_it_are_counted() {
    // Data 1000..1254 us, ACK 1264..1314 us.
    let starts = |from, to, limit| {
        let (nodes, links) = hosts(1, Span::ZERO);
        let mut flow = cbr("up.0".into(), Place::Station(0), Place::Node(0), 1_000_000);
        (flow.ends.start, flow.ends.size) = (Start::At(us(1000)), Some(1472));
        let cell = Some(cell(phy_g(), MAC, 1, 54_000_000));
        let mut net = Net::new(&Scenario { seed: 1, cell, nodes, links, flows: vec![flow] }).unwrap();
        assert!(net.frames().is_none());
        net.keep_frames(us(from), us(to), limit);
        net.run_until(at(1.0));
        let log = net.frames().unwrap();
        (log.frames().iter().map(|f| f.start.as_micros()).collect::<Vec<_>>(), log.missed())
    };
    assert_eq!(starts(1000, 1265, 10), (vec![1000, 1264], 0));
    assert_eq!(starts(1001, 1265, 10), (vec![1264], 0));
    assert_eq!(starts(1000, 1264, 10), (vec![1000], 0));
    assert_eq!(starts(1000, 1265, 1), (vec![1000], 1));
}

#[test]
fn a_packet_within_difs_of_the_start_waits_for_the_rest_of_difs() {
    let (_, frames) = one_datagram(us(5), |_| {});
    assert_eq!(at_us(&frames), [(FrameKind::Data, 28, 282), (FrameKind::Ack, 292, 342)]);
}

#[test]
fn an_access_point_with_a_transmission_opportunity_sends_frames_a_sifs_apart_within_it() {
    let run = |txop: u64| {
        let (nodes, links) = hosts(1, Span::ZERO);
        let mut flow = cbr("down.0".into(), Place::Node(0), Place::Station(0), 1_000_000_000);
        (flow.ends.start, flow.ends.size) = (Start::At(us(1000)), Some(3 * 1472));
        let mut cell = cell(phy_g(), MAC, 1, 54_000_000);
        cell.aps[0].station.access = choose(
            access::REGISTRY,
            "dcf",
            &[("txop", Value::Time(Span::from_micros(txop))), ("aifsn", Value::Integer(1))],
        );
        let scenario = Scenario { seed: 1, cell: Some(cell), nodes, links, flows: vec![flow] };
        let mut net = Net::new(&scenario).unwrap();
        net.keep_frames(Time::ZERO, at(9.0), 100);
        net.run_until(at(9.0));
        let books = net.ledger().unwrap();
        assert_eq!(books.sum(), books.booked() - Time::ZERO);
        let data: Vec<Frame> =
            net.frames().unwrap().frames().iter().filter(|f| f.kind == FrameKind::Data).copied().collect();
        data.windows(2).map(|f| (f[1].start - f[0].end).as_micros()).collect::<Vec<_>>()
    };
    // A frame and its ACK take 254 + 10 + 50 = 314 us. The second exchange ends after 638 us, the third after 962 us.
    // Between two data frames: SIFS, ACK, SIFS.
    assert_eq!(run(962), [70, 70]);
    let (two, one) = (run(961), run(637));
    // Then PIFS and a backoff of whole slots: 10 + 50 + 19 + 9 k.
    assert!(two[0] == 70 && two[1] >= 79 && (two[1] - 79).is_multiple_of(9), "{two:?}");
    assert!(one.iter().all(|w| *w >= 79 && (w - 79).is_multiple_of(9)), "{one:?}");
}

#[test]
fn ns2_draws_a_backoff_even_on_an_idle_channel() {
    let (_, frames) = one_datagram(us(1000), |s| s.cell.as_mut().unwrap().mac.idle_access = IdleAccess::Draw);
    let wait = frames[0].start - us(1000);
    assert!(wait >= Span::from_micros(28) && (wait - Span::from_micros(28)).as_nanos().is_multiple_of(9000), "{wait}");
}

#[test]
fn a_short_frame_that_collided_waits_difs_after_the_longer_one_and_eifs_in_ns2() {
    // Datagrams of 1500 and 100 B collide. The timeout of the short one expires while the long one is on the air. If
    // the short one is tried first, whole slots follow DIFS (28 us) or EIFS (88 us) after the end of the long one.
    let waits = |rule: AfterCollision| -> Vec<u64> {
        let (nodes, links) = hosts(2, Span::ZERO);
        let flow = |i: usize, packet: u32| {
            let flow = cbr(format!("up.{i}"), Place::Station(i), Place::Node(i), 40_000_000);
            FlowSpec { ends: EndsSpec { packet, ..flow.ends }, ..flow }
        };
        let cell = cell(phy_g(), MacSpec { after_collision: rule, ..MAC }, 2, 54_000_000);
        let s = Scenario { seed: 1, cell: Some(cell), nodes, links, flows: vec![flow(0, 1500), flow(1, 100)] };
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(1.0), 20_000);
        net.run_until(at(1.0));
        let frames = net.frames().unwrap().frames();
        let wait = |w: &[Frame]| {
            let (short, long) = if w[0].end < w[1].end { (w[0], w[1]) } else { (w[1], w[0]) };
            let collided = short.outcome == FrameOutcome::Collided && short.start == long.start;
            (collided && w[2].from == short.from).then(|| (w[2].start - long.end).as_nanos())
        };
        frames.windows(3).filter_map(wait).collect()
    };
    let whole_slots_after = |ifs: u64, waits: &[u64]| {
        waits.len() > 10 && waits.iter().all(|w| *w >= ifs * 1000 && (w - ifs * 1000).is_multiple_of(9000))
    };
    assert!(whole_slots_after(28, &waits(AfterCollision::Eifs)));
    assert!(whole_slots_after(88, &waits(AfterCollision::EifsAll)));
}

#[test]
fn rts_and_cts_go_before_a_frame_above_the_threshold() {
    let (_, frames) = one_datagram(us(1000), |s| s.cell.as_mut().unwrap().mac.rts_threshold = 1000);
    // RTS 20 B at 6 Mb/s: 20 + 4 x ceil((16 + 160 + 6)/24) + 6 = 58 us; CTS 14 B: 50 us.
    let want = [
        (FrameKind::Rts, 1000, 1058),
        (FrameKind::Cts, 1068, 1118),
        (FrameKind::Data, 1128, 1382),
        (FrameKind::Ack, 1392, 1442),
    ];
    assert_eq!(at_us(&frames), want);
    // The Duration field covers the rest of the exchange.
    assert!(frames.iter().all(|f| f.end + f.duration == us(1442)), "{frames:?}");
}

#[test]
fn cts_to_self_protects_ofdm_frames_at_an_802_11b_rate() {
    let (_, frames) = one_datagram(us(1000), |s| s.cell.as_mut().unwrap().phy.protection = Protection::CtsToSelf);
    // CTS at 11 Mb/s, long preamble: 192 + ceil(112/11) = 203 us.
    assert_eq!(
        at_us(&frames),
        [(FrameKind::Cts, 1000, 1203), (FrameKind::Data, 1213, 1467), (FrameKind::Ack, 1477, 1527)]
    );
}

#[test]
fn a_frame_that_is_never_received_is_tried_seven_times_with_a_doubling_window() {
    let (net, frames) = one_datagram(us(1000), |s| {
        s.cell.as_mut().unwrap().stations[0].loss = loss("per", &[("p", Value::Number(1.0))]);
    });
    assert_eq!(frames.len(), 7);
    assert!(frames.iter().all(|f| f.outcome == FrameOutcome::Errored && f.kind == FrameKind::Data));
    assert!(frames.iter().enumerate().all(|(i, f)| usize::from(f.retry) == i && f.sequence == frames[0].sequence));
    assert_eq!((net.station(1).retry_drops, net.received(0).packets), (1, 0));
    for (i, pair) in frames.windows(2).enumerate() {
        // ACK timeout: SIFS + slot + 20 us = 39 us, then DIFS, then whole slots, fewer than 16 << (i + 1).
        let wait = pair[1].start - pair[0].end - Span::from_micros(39 + 28);
        assert_eq!(wait.as_nanos() % 9000, 0);
        assert!(wait.as_nanos() / 9000 < 32 << i, "{wait} before retry {}", i + 1);
    }
}

#[test]
fn a_lost_rts_counts_against_the_short_limit_and_lost_data_against_the_long_one() {
    let tries = |p: Value, frames: &str| {
        let (net, frames) = one_datagram(us(1000), |s| {
            let cell = s.cell.as_mut().unwrap();
            cell.mac.rts_threshold = 1000;
            cell.stations[0].loss = loss("per", &[("p", p), ("frames", Value::Word(frames.into()))]);
        });
        assert_eq!(net.station(1).retry_drops, 1);
        (
            frames.iter().filter(|f| f.kind == FrameKind::Rts).count(),
            frames.iter().filter(|f| f.kind == FrameKind::Data).count(),
        )
    };
    assert_eq!(tries(Value::Number(1.0), "all"), (7, 0));
    assert_eq!(tries(Value::Number(1.0), "data"), (4, 4));
}

#[test]
fn an_empty_cell_and_a_cell_without_traffic_stay_idle() {
    for n in [0, 3] {
        let s = Scenario {
            seed: 1,
            cell: Some(cell(phy_g(), MAC, n, 54_000_000)),
            nodes: vec![],
            links: vec![],
            flows: vec![],
        };
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(5.0));
        let books = net.ledger().unwrap();
        assert_eq!(
            (books.cell.ifs, books.cell.idle),
            (Span::from_micros(28), Span::from_secs(5) - Span::from_micros(28))
        );
        assert_eq!(net.world.events(), 0);
    }
}

#[test]
fn five_thousand_stations_work() {
    let s = down_up(2500, 2500, newreno(), phy_g(), MAC, 1);
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(3.0));
    assert!((0..5000).map(|i| net.received(i).delivered_bytes).sum::<u64>() > 1_000_000);
}

#[test]
fn the_same_seed_gives_the_same_digest_and_another_seed_another() {
    let digest = |seed| {
        let mut net = Net::new(&down_up(3, 3, newreno(), phy_g(), MAC, seed)).unwrap();
        net.run_until(at(3.0));
        net.world.trace.digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn draws_of_one_station_do_not_depend_on_how_many_there_are() {
    // Only station 0 has anything to send; additional silent stations change nothing.
    let digest = |n| {
        let (nodes, links) = hosts(1, Span::ZERO);
        let flow = cbr("up.0".into(), Place::Station(0), Place::Node(0), 80_000_000);
        let mut net = Net::new(&Scenario {
            seed: 1,
            cell: Some(cell(phy_g(), MAC, n, 54_000_000)),
            nodes,
            links,
            flows: vec![flow],
        })
        .unwrap();
        net.run_until(at(1.0));
        net.world.trace.digest()
    };
    assert_eq!(digest(1), digest(500));
}

/// Two saturated stations with windows of 0 slots count inter-frame spaces of 28 us and `ifs`; a frame is sensed after
/// 4 us. Each exchange, as the stations whose data are in it and the time from the first start to the second.
fn exchanges_with_late_sensing(ifs: u64) -> Vec<(Vec<u32>, u64)> {
    let mac = MacSpec { preamble_detection: Span::from_micros(4), after_collision: AfterCollision::Difs, ..MAC };
    let mut s = saturated(phy_g(), mac, 2, 54_000_000, 1);
    let cell = s.cell.as_mut().unwrap();
    (cell.phy.cw_min, cell.phy.cw_max, cell.phy.difs) = (0, 0, Some(Span::from_micros(ifs)));
    cell.stations[0].access = choose(access::REGISTRY, "dcf", &[("aifsn", Value::Integer(2))]);
    s.flows.iter_mut().for_each(|f| f.ends.start = Start::At(at(0.001)));
    let mut net = Net::new(&s).unwrap();
    net.keep_frames(at(0.01), at(0.1), 10_000);
    net.run_until(at(0.2));
    let data: Vec<Frame> =
        net.frames().unwrap().frames().iter().filter(|f| f.kind == FrameKind::Data).copied().collect();
    let together = data.chunk_by(|a, b| b.start < a.end);
    together.map(|e| (e.iter().map(|f| f.from).collect(), (e[e.len() - 1].start - e[0].start).as_micros())).collect()
}

#[test]
fn stations_whose_backoffs_end_before_a_preamble_is_detected_collide() {
    // 3 us: after each success they start 3 us apart, and after the collision, whose frames end 3 us apart, 6 us.
    let all = exchanges_with_late_sensing(31);
    let turn = all.iter().position(|(from, _)| from.len() == 2).unwrap();
    assert!(all.len() > 100);
    for (i, exchange) in all[turn..].iter().enumerate() {
        let expected = if i % 2 == 0 { (vec![1, 2], 3) } else { (vec![1], 0) };
        assert_eq!(*exchange, expected, "{i}");
    }
    // 5 us: the second station always hears the first.
    let all = exchanges_with_late_sensing(33);
    assert!(all.len() > 100 && all.iter().all(|e| *e == (vec![1], 0)), "{:?}", all[0]);
}

/// One station counts down its backoff when another gets a packet, finds the medium idle for DIFS and sends at once. If
/// a run stops before that frame is sensed, the ledger has the backoff until the frame began, and lacks at most 4 us.
#[test]
fn the_ledger_has_the_time_before_a_frame_that_is_not_yet_sensed() {
    let mac = MacSpec { preamble_detection: Span::from_micros(4), ..MAC };
    let mut s = saturated(phy_g(), mac, 3, 54_000_000, 1);
    // These intervals have no common multiple within the run, so that arrivals meet at many distances.
    s.flows =
        s.flows.into_iter().zip([5_000, 6_130, 7_290]).map(|(f, k)| cbr(f.name, f.from, f.to, k * 1000)).collect();
    let mut net = Net::new(&s).unwrap();
    for us in 0..100_000 {
        net.run_until(Time::ZERO + Span::from_micros(us));
        law::air_is_booked_once(&net);
    }
}

/// A packet that arrives on an idle medium goes at once, and collides with one that arrived less than 4 us before.
#[test]
fn packets_that_arrive_before_a_preamble_is_detected_collide() {
    for (after, collide) in [(0, true), (3_999, true), (4_000, false)] {
        let mac = MacSpec { preamble_detection: Span::from_micros(4), ..MAC };
        let mut s = saturated(phy_g(), mac, 2, 54_000_000, 1);
        for (f, ns) in s.flows.iter_mut().zip([0, after]) {
            f.ends.start = Start::At(Time::from_nanos(1_000_000 + ns));
            f.ends.size = Some(1472);
        }
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(0.1), 100);
        net.run_until(at(0.1));
        let first: Vec<Frame> = net.frames().unwrap().frames().iter().take(2).copied().collect();
        let starts: Vec<u64> = first.iter().map(|f| f.start.as_nanos()).collect();
        let outcome = if collide { FrameOutcome::Collided } else { FrameOutcome::Received };
        assert_eq!((starts[0], first[0].outcome), (1_000_000, outcome), "{after}");
        assert_eq!(starts[1] == 1_000_000 + after, collide, "{after}: {starts:?}");
        assert_eq!([0, 1].map(|i| net.received(i).packets), [1, 1]);
    }
}
