//! A-MPDU and block acknowledgment: exact times, throughput against closed forms, and laws that always hold.

use crate::common::*;
use contend_core::registry::{Amount, Value};
use contend_core::{Packet, Span, Time, qdisc};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::FrameKind::{self, BlockAck, Data, Request, Rts};
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::phy::*;
use contend_sim::wifi::{Frame, FrameOutcome, More};
use contend_sim::{loss, traffic};
use proptest::prelude::*;
use rand::SeedableRng as _;

/// One station of this format that always has packets for a wire that is never full.
fn alone(format: (Phy, DataRate), spec: Aggregation) -> Scenario {
    let mut s = with_rate(aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec), format);
    s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 900_000_000);
    s.links[0].reverse.rate = WireRate::Constant(10_000_000_000);
    s
}

/// Each MPDU with data is lost with probability `p`.
fn lossy(s: &mut Scenario, p: f64) {
    for station in &mut s.cell.as_mut().unwrap().stations {
        station.loss = Some(choose(loss::REGISTRY, "bernoulli", &[("p", Value::Number(p))]));
    }
}

fn frames_of(s: &Scenario, seconds: f64) -> (Net, Vec<Frame>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    let frames = net.frames().unwrap().frames().to_vec();
    (net, frames)
}

/// 54 Mb/s: 216 bits in a symbol of 4 us after 20 us, and 6 us of signal extension.
fn ppdu(bytes: u64, bits_per_symbol: u64) -> u64 {
    20 + 4 * (16 + 8 * bytes + 6).div_ceil(bits_per_symbol) + 6
}

#[test]
fn packets_that_wait_go_out_together() {
    // The first packet goes alone; the other four wait for it.
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), AGGREGATION);
    s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 800_000_000);
    s.flows[0].ends.start = Start::At(at(0.001));
    s.flows[0].ends.size = Some(5 * 1472);
    let (net, frames) = frames_of(&s, 1.0);
    let kinds: Vec<FrameKind> = frames.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [Data, FrameKind::Ack, Data, BlockAck]);
    // Here an MPDU has 28 B of header and FCS and 8 B of LLC/SNAP: 1,536 B and a delimiter of 4 B.
    let duration = |f: &Frame| (f.end - f.start).as_micros();
    assert_eq!(frames[2].bytes, 4 * 1540);
    assert_eq!(duration(&frames[2]), ppdu(4 * 1540, 216));
    assert_eq!(frames[3].start - frames[2].end, Span::from_micros(10));
    assert_eq!(duration(&frames[3]), ppdu(32, 24));
    assert_eq!(net.received(0).packets, 5);
}

#[test]
fn one_saturated_station_has_the_throughput_of_its_cycle() {
    // IFS, 7.5 slots, PPDU, SIFS, block acknowledgment.
    for (bytes, mpdus, window, packets) in [(65_535, 64, 64, 23), (20_000, 64, 64, 12), (1 << 20, 7, 64, 7)] {
        let spec = Aggregation { bytes, mpdus, window, ..AGGREGATION };
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
        s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 200_000_000);
        let (net, frames) = frames_of(&s, 20.0);
        let biggest = frames.iter().filter(|f| f.kind == Data).map(|f| f.bytes).max().unwrap();
        assert_eq!(u64::from(biggest), packets * 1540, "{bytes} B, {mpdus} MPDUs");
        let cycle = 28.0 + 7.5 * 9.0 + (ppdu(packets * 1540, 216) + 10 + ppdu(32, 24)) as f64;
        let expected = packets as f64 / cycle * 20e6;
        let got = net.received(0).packets as f64;
        assert!((got / expected - 1.0).abs() < 0.005, "{bytes} B, {mpdus} MPDUs: {got} of {expected} packets");
    }
}

/// By hand, at 6 Mb/s: an action frame of 37 B takes 14 symbols, an ACK of 14 B takes 6; 20 us and 6 us are added.
#[test]
fn an_agreement_precedes_the_first_aggregate() {
    let spec = Aggregation { addba: Span::from_secs(1), ..AGGREGATION };
    for hw_queue in [0, 1, 2] {
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), Aggregation { hw_queue, ..spec });
        s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 800_000_000);
        s.flows[0].ends.start = Start::At(at(0.001));
        s.flows[0].ends.size = Some(60 * 1472);
        let (net, frames) = frames_of(&s, 1.0);
        assert_eq!(net.received(0).packets, 60);
        let actions: Vec<usize> = (0..frames.len()).filter(|i| frames[*i].kind == FrameKind::Action).collect();
        let [request, response] = actions[..] else { panic!("{} action frames", actions.len()) };
        for (place, ends, is_response) in [(request, (1, 0), false), (response, (0, 1), true)] {
            let [before, f, ack] = [place - 1, place, place + 1].map(|i| frames[i]);
            assert_eq!(((f.from, f.to), f.bytes, f.rate), (ends, 37, 6_000_000));
            assert_eq!((f.end - f.start, ack.kind), (Span::from_micros(82), FrameKind::Ack));
            assert_eq!((ack.start - f.end, ack.end - ack.start), (Span::from_micros(10), Span::from_micros(50)));
            assert_eq!(f.duration, Span::from_micros(60));
            let slots = (f.start - before.end - Span::from_micros(28)).as_micros();
            assert!(slots.is_multiple_of(9) && slots <= 15 * 9, "{slots} us");
            let More::Addba(addba) = f.more else { panic!("no agreement") };
            assert_eq!((addba.is_response, addba.window, addba.amsdu), (is_response, 64, false));
        }
        // The batches that were made before the response are sent alone, and no others.
        let data =
            |range: &[Frame]| range.iter().filter(|f| f.kind == Data).map(|f| f.bytes / 1536).collect::<Vec<_>>();
        assert!(data(&frames[..response]).iter().all(|mpdus| *mpdus == 1));
        let after = data(&frames[response..]);
        let alone = after.iter().take_while(|mpdus| **mpdus == 1).count();
        assert!(alone <= hw_queue as usize && after[alone] > 20, "{hw_queue}: {after:?}");
    }
}

/// With three of four frames lost, a request or a response is often given up after its seven attempts. The next request
/// comes no earlier than after the timeout. Every run comes to its agreement.
#[test]
fn an_agreement_is_asked_for_until_it_is_made() {
    let mut repeated = 0;
    for seed in 0..20 {
        let spec = Aggregation { addba: Span::from_millis(100), attempts: Some(7), ..AGGREGATION };
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, seed), spec);
        lossy(&mut s, 0.75);
        let (_, frames) = frames_of(&s, 10.0);
        let actions: Vec<&Frame> = frames.iter().filter(|f| f.kind == FrameKind::Action).collect();
        let requests: Vec<&&Frame> = actions.iter().filter(|f| f.from == 1).collect();
        for pair in requests.windows(2).filter(|pair| pair[0].sequence != pair[1].sequence) {
            repeated += 1;
            assert!(pair[1].start - pair[0].end >= Span::from_millis(100));
        }
        let made = actions.iter().find(|f| f.from == 0 && f.outcome == FrameOutcome::Received).unwrap().end;
        assert!(frames.iter().all(|f| f.kind != Data || f.bytes == 1536 || f.start > made));
        assert!(frames.iter().any(|f| f.kind == Data && f.bytes > 1536));
    }
    assert!(repeated > 0);
}

/// 5 packets of 1500 B in one MPDU: 28 B of header and FCS, subframes of 1522 B, padded to 1524 B except the last. An
/// ACK answers.
#[test]
fn packets_share_an_mpdu() {
    let spec = Aggregation { msdu: 7935, mpdus: 1, window: 1, ..AGGREGATION };
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
    s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 200_000_000);
    let (net, frames) = frames_of(&s, 20.0);
    let bytes = 28 + 4 * 1524 + 1522;
    let data = frames.iter().rfind(|f| f.kind == Data).unwrap();
    assert_eq!((u64::from(data.bytes), (data.end - data.start).as_micros()), (bytes, ppdu(bytes, 216)));
    assert!(frames.iter().all(|f| matches!(f.kind, Data | FrameKind::Ack)));
    let cycle = 28.0 + 7.5 * 9.0 + (ppdu(bytes, 216) + 10 + ppdu(14, 24)) as f64;
    let expected = 5.0 / cycle * 20e6;
    let got = net.received(0).packets as f64;
    assert!((got / expected - 1.0).abs() < 0.005, "{got} of {expected} packets");
}

/// The PSDUs of ns-3.44 (`experiments/validation/modern-n1.toml`): 5 or 7 packets of 1500 B share an MPDU; the last
/// one of an A-MPDU is smaller, to fill 5.484 ms. A PSDU of one MPDU is here without its delimiter of VHT and HE.
#[test]
fn mpdus_of_several_packets_have_the_bytes_of_ns_3() {
    let alone = Aggregation { mpdus: 1, window: 1, ..AGGREGATION };
    let together = Aggregation { bytes: 6_500_631, mpdus: 256, window: 256, ..AGGREGATION };
    for (standard, mode, spec, msdu, bytes) in [
        (Standard::N, Mode::new(Family::Ht, 20, 1, 7), alone, 7_935, 7_648),
        (Standard::Ac, Mode::new(Family::Vht, 80, 1, 9), alone, 7_935, 7_652 - 4),
        (Standard::Ac, Mode::new(Family::Vht, 80, 1, 9), alone, 11_398, 10_700 - 4),
        (Standard::Ax, Mode::new(Family::He, 80, 1, 11), alone, 11_398, 10_700 - 4),
        (Standard::Ax, Mode::new(Family::He, 80, 1, 11), together, 11_398, 408_142),
    ] {
        let phy = Phy { durations: Durations::Ns3, ..Phy::new(standard, Preamble::Long) };
        let mut s = aggregating(saturated(phy, MAC, 1, 54_000_000, 1), Aggregation { msdu, ..spec });
        s.cell.as_mut().unwrap().stations[0].rate = DataRate::Mcs(mode.unwrap());
        s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 2_000_000_000);
        let (_, frames) = frames_of(&s, 0.2);
        let last = frames.iter().rfind(|f| f.kind == Data).unwrap();
        assert_eq!(last.bytes, bytes, "{standard:?}, {msdu} B");
    }
}

/// 802.11n at 65 Mb/s: 44,262 B fit into a PPDU of 5.484 ms, or 36 us and 1362 symbols of 260 bits. Two packets of 1500
/// B share an MPDU of at most 4095 B (4065 B of A-MSDU): 30 B of header and FCS, a subframe of 1524 B and one of 1522
/// B. Of 7935 B, as in ns-3, five packets share it: 4 times 1524 B and one of 1522 B. With delimiters of 4 B that is 14
/// MPDUs, or 5 MPDUs of 7648 B, each padded to 7652 B with its delimiter, and one of three packets, 4600 B.
#[test]
fn an_mpdu_of_an_aggregate_holds_what_the_limit_says() {
    for (msdu, mpdu, psdu) in [(4_065, 30 + 1524 + 1522, 14 * 3080), (7_935, 30 + 4 * 1524 + 1522, 5 * 7652 + 4604)] {
        let (phy, rate) = modern(Family::Ht, 20, 1, 7);
        let (net, _) = frames_of(&alone((phy, rate), Aggregation { msdu, ..AGGREGATION }), 0.5);
        let log = net.frames().unwrap();
        let largest = log.packets().iter().map(|p| p.bytes).max().unwrap();
        assert_eq!(largest, mpdu, "{msdu} B");
        let data = log.frames().iter().filter(|f| f.kind == Data).max_by_key(|f| f.bytes).unwrap();
        assert_eq!(data.bytes, psdu, "{msdu} B");
    }
}

/// By hand, in microseconds: DIFS, 7.5 slots, PPDU, SIFS, block acknowledgment. A PPDU is its preamble and whole
/// symbols; k packets of 1,500 B are 1,544 (k - 1) + 1,542 B.
#[test]
fn one_station_of_each_format_has_the_throughput_of_its_cycle() {
    // Format; packets and what ends the aggregate; preamble, symbol, data bits of a symbol, tail bits; answer.
    let cases = [
        // 65 Mb/s: a 29th packet would make the PPDU longer than 5.484 ms.
        (modern(Family::Ht, 20, 1, 7), 64, 28, (36.0, 4.0, 260, 6), 32.0),
        // 270 Mb/s: 65,535 B.
        (modern(Family::Ht, 40, 2, 7), 64, 42, (40.0, 4.0, 1080, 6), 32.0),
        // 292.5 Mb/s: the window.
        (modern(Family::Vht, 80, 1, 7), 64, 64, (40.0, 4.0, 1170, 6), 32.0),
        // 600.5 Mb/s: a window of 64 and one of 256, whose block acknowledgment has 56 B.
        (modern(Family::He, 80, 1, 11), 64, 64, (43.2, 13.6, 8166, 6), 32.0),
        (modern(Family::He, 80, 1, 11), 256, 256, (43.2, 13.6, 8166, 6), 40.0),
    ];
    for ((phy, rate), window, packets, (preamble, symbol, bits, tail), answer) in cases {
        let bytes = if phy.standard == Standard::N { 65_535 } else { 1 << 20 };
        let spec = Aggregation { bytes, mpdus: window, window, ..AGGREGATION };
        let (net, frames) = frames_of(&alone((phy, rate), spec), 10.0);
        let psdu = 1544 * (packets - 1) + 1542;
        let biggest = frames.iter().filter(|f| f.kind == Data).map(|f| f.bytes).max().unwrap();
        assert_eq!(biggest, psdu, "{rate:?}");
        let ppdu = preamble + symbol * f64::from((16 + 8 * psdu + tail).div_ceil(bits));
        let expected = f64::from(packets) / (34.0 + 7.5 * 9.0 + ppdu + 16.0 + answer) * 10e6;
        let got = net.received(0).packets as f64;
        assert!((got / expected - 1.0).abs() < 0.005, "{rate:?}: {got} of {expected} packets");
    }
}

/// A receiver that takes an MPDU every 16 us at 780 Mb/s: 1,560 B from the beginning of one to that of the next, where
/// 1,544 B would do. By hand: 64 MPDUs are 63 times 1,560 B, and 1,542 B; the PPDU is 44 us and symbols of 3,120 bits
/// that hold 16 bits of service, 8 for each byte, and 12 of tail. With 8 us nothing changes.
#[test]
fn mpdus_begin_as_far_apart_as_the_receiver_demands() {
    let run = |density: Span| {
        let spec = Aggregation { bytes: 1 << 20, ..AGGREGATION };
        let mut s = alone(modern(Family::Vht, 80, 2, 9), spec);
        // Only the receiver's counts.
        let cell = s.cell.as_mut().unwrap();
        cell.aps[0].station.aggregation = Some(Aggregation { density, ..spec });
        let (net, frames) = frames_of(&s, 10.0);
        let biggest = frames.iter().filter(|f| f.kind == Data).map(|f| f.bytes).max().unwrap();
        (net.received(0).packets as f64, biggest, net.world.trace.digest())
    };
    let (dense, bytes, digest) = run(Span::ZERO);
    assert_eq!((bytes, run(Span::from_micros(8)).2), (63 * 1544 + 1542, digest));
    let (got, psdu, _) = run(Span::from_micros(16));
    assert_eq!(psdu, 63 * 1560 + 1542);
    let expected = |psdu: u64| {
        let ppdu = 44.0 + 4.0 * (16 + 8 * psdu + 12).div_ceil(3120) as f64;
        64.0 / (34.0 + 7.5 * 9.0 + ppdu + 16.0 + 32.0) * 10e6
    };
    for (got, psdu) in [(dense, bytes), (got, psdu)] {
        let expected = expected(psdu.into());
        assert!((got / expected - 1.0).abs() < 0.005, "{psdu} B: {got} of {expected} packets");
    }
}

/// Packets and bursts until `packets` have left a window of `window`, if each packet is lost with probability `p`: all
/// that is missing in the window goes out together, and the oldest missing packet holds the window.
fn stalled(window: usize, p: f64, bursts: usize) -> (f64, f64) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let (mut sent, mut left, mut missing) = (0.0, 0.0, vec![true; window]);
    for _ in 0..bursts {
        sent += missing.iter().filter(|m| **m).count() as f64;
        missing.iter_mut().filter(|m| **m).for_each(|m| *m = rng.random::<f64>() < p);
        let gone = missing.iter().position(|m| *m).unwrap_or(window);
        left += gone as f64;
        missing.drain(..gone);
        missing.resize(window, true);
    }
    (sent / bursts as f64, left / bursts as f64)
}

/// At 600 Mb/s a window of 64 is a PPDU of 1.4 ms. A lost packet holds the window, and the next bursts are small.
#[test]
fn a_large_window_carries_more_at_high_rates() {
    for p in [0.0, 0.1, 0.3] {
        let throughput = |window: u32| {
            let spec = Aggregation { bytes: 1 << 20, mpdus: window, window, ..AGGREGATION };
            let mut s = alone(modern(Family::He, 80, 1, 11), spec);
            lossy(&mut s, p);
            frames_of(&s, 10.0).0.received(0).packets as f64 / 10e6
        };
        let expected = |window: usize, answer: f64| {
            let (sent, left) = stalled(window, p, 20_000);
            left / (34.0 + 7.5 * 9.0 + 43.2 + 13.6 * (0.5 + 8.0 * 1544.0 * sent / 8166.0) + 16.0 + answer)
        };
        let ((small, large), want) = ((throughput(64), throughput(256)), (expected(64, 32.0), expected(256, 40.0)));
        println!("p = {p}: {small} and {large} packets in a us, expected {want:?}");
        assert!((small / want.0 - 1.0).abs() < 0.01, "p = {p}: {small}, expected {}", want.0);
        assert!((large / want.1 - 1.0).abs() < 0.01, "p = {p}: {large}, expected {}", want.1);
        assert!(large > 1.09 * small, "p = {p}: {large} against {small}");
    }
}

/// Twenty packets come at once, every 10 ms. They go out one by one, or in aggregates.
#[test]
fn a_burst_costs_at_most_three_events() {
    let run = |mpdus| {
        let mut s = alone(modern(Family::Vht, 80, 1, 9), Aggregation { mpdus, ..AGGREGATION });
        let with = [("rate", Value::Rate(20 * 1472 * 8 * 100)), ("burst", Value::Integer(20))];
        s.flows[0].ends.traffic = choose(traffic::REGISTRY, "cbr", &with);
        let (net, frames) = frames_of(&s, 2.0);
        let bursts = frames.iter().filter(|f| f.kind == Data).count() as f64;
        (net.world.events() as f64, bursts, net.received(0).packets)
    };
    let long = run(19);
    for short in [run(1), run(5)] {
        assert_eq!(short.2, long.2, "packets");
        let events = (short.0 - long.0) / (short.1 - long.1);
        assert!(short.1 > 2.0 * long.1 && events <= 3.0, "{events} events for each burst: {short:?}, {long:?}");
    }
}

#[test]
fn a_missed_block_acknowledgment_is_asked_for() {
    // Half of the MPDUs are lost, and 1.4 % of the block acknowledgments: 32 B against 1,528 B.
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), AGGREGATION);
    s.cell.as_mut().unwrap().stations[0].loss = Some(choose(loss::REGISTRY, "per", &[("p", Value::Number(0.5))]));
    let (_, frames) = frames_of(&s, 40.0);
    let mut after_loss = 0;
    for pair in frames.windows(2) {
        let [a, b] = pair else { unreachable!() };
        if a.kind == BlockAck && a.outcome == FrameOutcome::Errored {
            assert_eq!(b.kind, Request);
            after_loss += 1;
        }
        if a.kind == Request && a.outcome == FrameOutcome::Received {
            assert_eq!((b.kind, b.start - a.end), (BlockAck, Span::from_micros(10)));
        }
    }
    let answers = frames.iter().filter(|f| f.kind == BlockAck).count() as f64;
    let expected = answers * (1.0 - libm::pow(0.5, 32.0 / 1528.0));
    assert!((f64::from(after_loss) - expected).abs() < 4.0 * expected.sqrt(), "{after_loss} of {expected}");
    assert!(expected > 50.0);
}

/// Two saturated stations of 802.11ac, 80 MHz, MCS 7, with TXOPs of 2080 us; their collisions are followed by requests.
/// By hand: n packets of 1538 B with delimiters and padding are 1544 (n - 1) + 1542 B, a PPDU lasts 40 us and symbols
/// of 1170 bits, at 20 MHz of 260 bits; request and answer last 32 us, SIFS 16 us. So a TXOP has time for 47 packets
/// in 2028 us; after request and answer 96 us are over, and there is time for 44 packets in 1900 us, or for 9 packets
/// at 20 MHz in 1752 us and no more. A batch that was made ahead has no time at 20 MHz, and is
/// sent later at its own width.
#[test]
fn data_after_a_request_at_20_mhz_are_as_narrow() {
    for (asks_at_20_mhz, hw_queue, after) in
        [(false, 1, [(67_934, 1900)]), (true, 1, [(13_894, 1752)]), (true, 2, [(13_894, 1752)])]
    {
        let spec = Aggregation { bytes: 1_048_575, asks_at_20_mhz, hw_queue, ..AGGREGATION };
        let s = aggregating(saturated(phy_g(), MAC, 2, 54_000_000, 1), spec);
        let mut s = with_rate(s, modern(Family::Vht, 80, 1, 7));
        for i in 0..2 {
            s.flows[i] = cbr(format!("up.{i}"), Place::Station(i), Place::Node(i), 400_000_000);
            s.links[i].reverse.rate = WireRate::Constant(10_000_000_000);
            let rule = choose(access::REGISTRY, "dcf", &[("txop", Value::Time(Span::from_micros(2080)))]);
            s.cell.as_mut().unwrap().stations[i].access = rule;
        }
        let (_, frames) = frames_of(&s, 3.0);
        let frames: Vec<&Frame> = frames.iter().filter(|f| f.start > at(0.5)).collect();
        let (mut requests, mut others) = (0, 0);
        let sizes = |burst: &[&Frame]| -> Vec<(u32, u64)> {
            let data = burst.iter().filter(|f| f.kind == Data);
            data.map(|f| (f.bytes, (f.end - f.start).as_micros())).collect()
        };
        for burst in frames.chunk_by(|a, b| b.start <= a.end + Span::from_micros(16)) {
            if burst.iter().any(|f| f.outcome == FrameOutcome::Collided) || burst.last().unwrap().end > at(2.99) {
                continue;
            }
            if burst[0].kind == Request {
                requests += 1;
                let sizes = sizes(burst);
                let waits = hw_queue == 2 && sizes.is_empty();
                assert!(waits || sizes == after, "{asks_at_20_mhz} {hw_queue}: {sizes:?}");
            } else if burst[0].kind == Data {
                others += 1;
                let sizes = sizes(burst);
                let wide = |&(bytes, us): &(u32, u64)| us == 40 + 4 * (8 * u64::from(bytes) + 22).div_ceil(1170);
                assert!(sizes.iter().all(wide), "{hw_queue}: {sizes:?}");
                assert!(hw_queue == 2 || sizes[0] == (72_566, 2028), "{sizes:?}");
            }
        }
        assert!(requests > 50 && others > 500, "{requests} requests, {others} others");
    }
}

#[test]
fn lost_mpdus_cost_their_share() {
    // The duration limit ends each PPDU after 23 MPDUs, and a window of 64 never does. So a tenth of the places goes to
    // retries.
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), AGGREGATION);
    let clean = frames_of(&s, 20.0).0.received(0).packets as f64;
    lossy(&mut s, 0.1);
    let ratio = frames_of(&s, 20.0).0.received(0).packets as f64 / clean;
    assert!((ratio - 0.9).abs() < 0.005, "{ratio}");
}

/// Packets that waited too long make room for those behind them, also when no packet comes any more.
#[test]
fn a_queue_empties_although_packets_get_too_old() {
    let spec = Aggregation { mpdus: 2, limit: 4, lifetime: Span::from_millis(2), ..AGGREGATION };
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
    s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 800_000_000);
    s.flows[0].ends.size = Some(90 * 1472);
    let (mut net, _) = frames_of(&s, 1.0);
    law::packets_are_conserved(&mut net);
    let waiting: u64 = (0..net.queues().count()).map(|i| net.waiting(i)).sum();
    let lost: u64 = (0..net.transmitters().count()).map(|i| net.transmitter(i).lost).sum();
    assert_eq!((waiting, net.received(0).packets + lost), (0, 90));
    assert!(lost > 50, "{lost}");
}

/// Three of ten MPDUs are lost, and each is sent until it is acknowledged: nothing is lost, unless the receiver waits
/// no longer for what is missing. An aggregate of 23 MPDUs takes 5.6 ms, so that with 100 ms only MPDUs that are lost
/// 17 times in a row come too late: one in 10^9. With 8 ms at most those come too late that are lost twice in a row:
/// 0.09. (The first MPDU that the receiver holds counts, and some of these came with the second attempt.)
#[test]
fn what_comes_after_the_timeout_of_its_receiver_is_lost() {
    for (reorder, least, most) in [(0, 0.0, 0.0), (100, 0.0, 0.0), (8, 0.01, 0.09)] {
        let spec = Aggregation { reorder: Span::from_millis(reorder), ..AGGREGATION };
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
        lossy(&mut s, 0.3);
        let (mut net, _) = frames_of(&s, 20.0);
        law::packets_are_conserved(&mut net);
        let lost: u64 = (0..net.transmitters().count()).map(|i| net.transmitter(i).lost).sum();
        let share = lost as f64 / (lost + net.received(0).packets) as f64;
        assert!((least..=most).contains(&share), "{reorder} ms: {share}");
    }
}

/// One MPDU at a time, given up after seven attempts, is the distributed coordination function.
#[test]
fn aggregates_of_one_packet_give_the_same_digest() {
    let one = Aggregation { mpdus: 1, window: 1, limit: 1, attempts: Some(7), ..AGGREGATION };
    for (n, p) in [(1, 0.0), (5, 0.0), (3, 0.3)] {
        let digest = |spec: Option<Aggregation>| {
            let mut s = aggregating(saturated(phy_g(), MAC, n, 54_000_000, 3), spec);
            lossy(&mut s, p);
            let (net, frames) = frames_of(&s, 2.0);
            (net.world.trace.digest(), frames.len())
        };
        assert_eq!(digest(Some(one)), digest(None), "{n} stations, losses of {p}");
    }
}

/// The access point takes packets from a queue that gives no turns as long as it holds fewer than 1000, not only when
/// it makes an aggregate. 60 Mb/s arrive: 500 packets in 100 ms.
#[test]
fn packets_go_below_a_queue_as_soon_as_there_is_room() {
    for queue in ["fifo", "codel", "fq_codel", "pie", "dualpi2"] {
        let mut net = Net::new(&downloads(&[54_000_000], queue, &[], AGGREGATION)).unwrap();
        let ap = net.queues().position(|name| name == "ap").unwrap();
        let early = (1..200).map(|k| {
            net.run_until(at(f64::from(k) * 0.0005));
            net.waiting(ap)
        });
        assert!(early.max() == Some(0), "{queue}");
        net.run_until(at(2.0));
        assert!(net.waiting(ap) > 0, "{queue}");
    }
}

/// Downloads of datagrams to stations at these rates; the access point has this queue.
fn downloads(rates: &[u64], queue: &str, with: &[(&'static str, Value)], aggregation: Aggregation) -> Scenario {
    let n = rates.len();
    let mut s = aggregating(down_up(n, 0, newreno(), phy_g(), MAC, 1), aggregation);
    for (k, f) in s.flows.iter_mut().enumerate() {
        *f = cbr(format!("down.{k}"), f.from, f.to, 60_000_000);
    }
    let cell = s.cell.as_mut().unwrap();
    cell.stations.iter_mut().zip(rates).for_each(|(one, rate)| one.rate = (*rate).into());
    cell.aps[0].station.queue = choose(qdisc::REGISTRY, queue, with);
    s
}

/// Airtime of the exchanges with each station in us, and the number of its A-MPDUs.
fn airtime_by_station(frames: &[Frame], n: usize) -> Vec<(f64, u64)> {
    let mut all = vec![(0.0, 0); n];
    for f in frames {
        let station = f.from.max(f.to) as usize - 1;
        all[station].0 += (f.end - f.start).as_micros() as f64;
        all[station].1 += u64::from(f.kind == Data);
    }
    all
}

/// A slow station, two fast ones, one of which loses a third of its MPDUs. With airtime fairness each has a third of
/// the airtime, retries included; with turns each sends the same number of aggregates; with one queue for all the slow
/// station takes most.
#[test]
fn a_discipline_that_gives_turns_fills_aggregates() {
    let word = |w: &str| Value::Word(w.into());
    let shares = |queue: &str, with: &[(&'static str, Value)]| {
        let mut s = downloads(&[54_000_000, 6_000_000, 54_000_000], queue, with, AGGREGATION);
        let lossy = Some(choose(loss::REGISTRY, "bernoulli", &[("p", Value::Number(1.0 / 3.0))]));
        s.cell.as_mut().unwrap().stations[2].loss = lossy;
        let (net, frames) = frames_of(&s, 20.0);
        let all = airtime_by_station(&frames, 3);
        let sum: f64 = all.iter().map(|one| one.0).sum();
        let sizes = frames.iter().filter(|f| f.kind == Data && f.to == 1).map(|f| u64::from(f.bytes));
        let shares: Vec<f64> = all.iter().map(|one| one.0 / sum).collect();
        (shares, all, sizes.max().unwrap() / 1540, net.received(0).packets)
    };
    let (airtime, _, largest, fast) = shares("airtime", &[]);
    assert!(airtime.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.005), "{airtime:?}");
    assert_eq!(largest, 23, "the PPDU of 5.484 ms is full");
    let (_, all, ..) = shares("airtime", &[("share", word("turns"))]);
    assert!(all[0].1.abs_diff(all[1].1) <= 2 && all[0].1.abs_diff(all[2].1) <= 2, "{all:?}");
    let (one_queue, _, _, fast_in_one) = shares("fifo", &[]);
    assert!(one_queue[1] > 0.7 && fast > 2 * fast_in_one, "{one_queue:?}");
}

#[test]
fn weighted_fair_queueing_shares_bytes_with_aggregates() {
    let limit = ("class_limit", Value::Amount(Amount::Packets(100)));
    for (queue, with) in [("wf2q", vec![limit.clone()]), ("elf", vec![limit])] {
        let (net, frames) = frames_of(&downloads(&[54_000_000, 6_000_000], queue, &with, AGGREGATION), 20.0);
        let [fast, slow] = [0, 1].map(|k| net.received(k).packets as f64);
        assert!((fast / slow - 1.0).abs() < 0.02, "{queue}: {fast} and {slow}");
        let per_frame = fast / airtime_by_station(&frames, 2)[0].1 as f64;
        assert!(per_frame > 22.0, "{queue}: {per_frame}");
    }
}

/// One backoff for all categories (`sbb`): best effort is saturated, and voice has a packet now and then. Each A-MPDU
/// has packets of one category. Voice goes before best effort, but behind what is fixed.
#[test]
fn categories_share_no_aggregate_and_voice_waits_only_for_what_is_fixed() {
    let sbb = choose(access::REGISTRY, "edca", &[("scheduling", Value::Word("sbb".into()))]);
    for hw_queue in 1..4 {
        let mut s =
            downloads(&[54_000_000, 54_000_000], "fifo", &[], Aggregation { hw_queue, window: 256, ..AGGREGATION });
        s.flows[1].to = s.flows[0].to;
        s.flows[1].category = Category::Vo;
        s.flows[1].ends.packet = 200;
        s.flows[1].ends.traffic = choose(traffic::REGISTRY, "cbr", &[("rate", Value::Rate(43_210))]);
        s.cell.as_mut().unwrap().aps[0].station.access = sbb.clone();
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(Time::ZERO, at(30.0), 1_000_000);
        net.run_until(at(30.0));
        let log = net.frames().unwrap();
        let mut waits = vec![];
        for f in log.frames().iter().filter(|f| f.kind == Data && f.start > at(0.1)) {
            let packets = match f.more {
                More::Packets(from, to) => log.packets()[from as usize..to as usize].iter().map(|p| p.packet).collect(),
                _ => vec![f.packet.unwrap()],
            };
            let flow = u32::from(f.category == Category::Vo);
            assert!(packets.iter().all(|p| p.flow.0 == flow), "{:?}", f.category);
            if flow == 1 {
                waits.extend(packets.iter().map(|p| (f.start - p.queued).as_micros() as f64));
            }
        }
        // A burst of 23 packets: DIFS, 7.5 slots, PPDU, SIFS, block acknowledgment.
        let burst = 28.0 + 7.5 * 9.0 + (ppdu(23 * 1540, 216) + 10 + ppdu(32, 24)) as f64;
        let (most, expected) = (waits.iter().copied().fold(0.0, f64::max), burst * f64::from(hw_queue));
        assert!(waits.len() > 700, "{}", waits.len());
        // Each burst may have 7.5 slots more; then the packet itself contends.
        let longest = expected + f64::from(hw_queue) * 67.5 + 28.0 + 135.0;
        assert!((expected - 300.0..longest).contains(&most), "{hw_queue}: {most} us, expected {expected}");
    }
}

/// Batches that are made ahead have nothing of what comes later: of five packets that come together the first three go
/// out alone.
#[test]
fn what_is_fixed_ahead_gets_no_more_packets() {
    let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), Aggregation { hw_queue: 3, ..AGGREGATION });
    s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 800_000_000);
    s.flows[0].ends.start = Start::At(at(0.001));
    s.flows[0].ends.size = Some(5 * 1472);
    let (net, frames) = frames_of(&s, 1.0);
    let sizes: Vec<u32> = frames.iter().filter(|f| f.kind == Data).map(|f| f.bytes).collect();
    assert_eq!((sizes, net.received(0).packets), (vec![1536, 1536, 1536, 2 * 1540], 5));
}

/// Stations and access point have this limit.
fn limit_airtime(s: &mut Scenario, low: u64, high: u64, total: u64) {
    let ms = Span::from_millis;
    let cell = s.cell.as_mut().unwrap();
    for one in cell.stations.iter_mut().chain([&mut cell.aps[0].station]) {
        one.aql = Some(AirtimeLimit { low: ms(low), high: ms(high), total: ms(total) });
    }
}

/// FQ-CoDel serves a flow with few packets at once, but behind what is below it: 1,000 packets or, with Linux's limit
/// of 12 ms and 247.9 us for each packet, 49. 26 of these remain when the burst on the air is over, and 23 are a burst.
#[test]
fn packets_below_a_queue_need_no_more_airtime_than_the_limit() {
    let longest = |limited: bool| {
        let mut s = downloads(&[54_000_000, 54_000_000], "fq_codel", &[], AGGREGATION);
        s.flows[1].to = s.flows[0].to;
        s.flows[1].ends.packet = 200;
        s.flows[1].ends.traffic = choose(traffic::REGISTRY, "cbr", &[("rate", Value::Rate(40_000))]);
        if limited {
            limit_airtime(&mut s, 5, 12, 24);
        }
        let mut net = Net::new(&s).unwrap();
        net.keep_frames(at(1.0), at(10.0), 1_000_000);
        net.run_until(at(10.0));
        let log = net.frames().unwrap();
        let sparse = log.packets().iter().map(|p| p.packet).filter(|p| p.flow.0 == 1);
        let starts =
            log.frames().iter().filter_map(|f| if let More::Packets(a, b) = f.more { Some((f, a..b)) } else { None });
        let first = |p: Packet| {
            let carries = |(_, r): &(&Frame, std::ops::Range<u32>)| {
                log.packets()[r.start as usize..r.end as usize].iter().any(|q| q.packet == p)
            };
            starts.clone().find(carries).map(|(f, _)| (f.start - p.queued).as_micros())
        };
        sparse.filter_map(first).max().unwrap()
    };
    let burst = 28 + 68 + ppdu(23 * 1540, 216) + 10 + ppdu(32, 24);
    let (limited, free) = (longest(true), longest(false));
    assert!((2 * burst - 400..2 * burst + 400).contains(&limited), "{limited} us, expected {}", 2 * burst);
    assert!(free > 40 * burst, "{free} us");
}

/// A packet needs 247.9 us: eight are less than 2 ms, so nine may wait for each receiver. A small limit for all lets
/// each have only its low limit.
#[test]
fn each_receiver_has_its_own_limit() {
    for (total, packets) in [(24, 9), (1, 5)] {
        let mut s = downloads(&[54_000_000, 54_000_000], "airtime", &[], AGGREGATION);
        limit_airtime(&mut s, 1, 2, total);
        let (_, frames) = frames_of(&s, 5.0);
        let sizes =
            |to| frames.iter().filter(move |f| f.kind == Data && f.to == to && f.start > at(0.1)).map(|f| f.bytes);
        for to in [1, 2] {
            assert!(sizes(to).count() > 300 && sizes(to).all(|bytes| bytes == packets * 1540), "{total} ms");
        }
    }
}

/// Another station is on the air when five packets come: with `hw_queue = 0` all go out together, otherwise the first
/// goes alone.
#[test]
fn an_open_aggregate_takes_what_comes_while_it_contends() {
    for (hw_queue, bytes) in [(0, 5 * 1540), (1, 1536)] {
        let mut s = aggregating(saturated(phy_g(), MAC, 2, 54_000_000, 1), Aggregation { hw_queue, ..AGGREGATION });
        s.flows[0].ends.start = Start::At(at(0.001));
        s.flows[1] = cbr("up.1".into(), Place::Station(1), Place::Node(1), 800_000_000);
        s.flows[1].ends.start = Start::At(at(0.2));
        s.flows[1].ends.size = Some(5 * 1472);
        let (_, frames) = frames_of(&s, 0.4);
        let first = frames.iter().find(|f| f.kind == Data && f.from == 2).unwrap();
        assert_eq!(first.bytes, bytes, "{hw_queue}");
    }
}

/// The same for an access point whose queue gives turns: its first packet has the turn, and the other four join it.
#[test]
fn an_open_aggregate_takes_what_comes_from_a_queue_that_gives_turns() {
    for queue in ["fifo", "airtime", "vfq", "wf2q", "elf"] {
        for (hw_queue, bytes) in [(0, 5 * 1540), (1, 1536)] {
            let spec = Aggregation { hw_queue, ..AGGREGATION };
            let mut s = downloads(&[54_000_000, 54_000_000], queue, &[], spec);
            s.flows[0] = cbr("up.0".into(), Place::Station(0), Place::Node(0), 60_000_000);
            s.flows[0].ends.start = Start::At(at(0.001));
            s.flows[1].ends.start = Start::At(at(0.2));
            s.flows[1].ends.size = Some(5 * 1472);
            let (net, frames) = frames_of(&s, 0.4);
            let first = frames.iter().find(|f| f.kind == Data && f.to == 2).unwrap();
            assert_eq!(first.bytes, bytes, "{queue}, {hw_queue}");
            assert_eq!(net.received(1).packets, 5);
        }
    }
}

/// Three stations whose aggregates are open until they are sent share as with fixed ones: packets that join a turn are
/// charged to it. (`vfq` does not divide UDP.)
#[test]
fn packets_that_join_an_aggregate_cost_as_much_as_others() {
    for queue in ["airtime", "wf2q", "elf"] {
        let mut s = downloads(&[54_000_000; 3], queue, &[], Aggregation { hw_queue: 0, ..AGGREGATION });
        // The first station has half of what it could use with all others, in many small arrivals.
        s.flows[0] = cbr("down.0".into(), s.flows[0].from, s.flows[0].to, 5_000_000);
        let (net, _) = frames_of(&s, 20.0);
        let got = [0, 1, 2].map(|f| net.received(f).packets as f64);
        assert!((got[1] / got[2] - 1.0).abs() < 0.01, "{queue}: {got:?}");
        let offered = 20.0 * 5e6 / 8.0 / 1472.0;
        assert!((got[0] / offered - 1.0).abs() < 0.02, "{queue}: {got:?}, {offered} offered");
    }
}

/// A batch that does not fit into the rest of an opportunity is made again for the next one, and its turn is charged
/// once: two stations of which one is slow share bytes, or turns, as without a limit.
#[test]
fn a_batch_that_is_made_again_is_charged_once() {
    let of = |queue: &str, with: &[(&'static str, Value)], txop: u64| {
        let mut s = downloads(&[54_000_000, 6_000_000], queue, with, Aggregation { mpdus: 2, ..AGGREGATION });
        let limit = Value::Time(Span::from_micros(txop));
        s.cell.as_mut().unwrap().aps[0].station.access = choose(access::REGISTRY, "dcf", &[("txop", limit)]);
        let (net, frames) = frames_of(&s, 20.0);
        let all = airtime_by_station(&frames, 2);
        let ratio = |a: u64, b: u64| a as f64 / b as f64;
        (ratio(net.received(0).packets, net.received(1).packets), ratio(all[0].1, all[1].1))
    };
    for txop in [700, 1500, 2600, 3000, 4500, 5000] {
        let limit = ("class_limit", Value::Amount(Amount::Packets(100)));
        for queue in ["wf2q", "elf"] {
            let (packets, _) = of(queue, std::slice::from_ref(&limit), txop);
            assert!((packets - 1.0).abs() < 0.02, "{queue}, {txop} us: {packets}");
        }
        let (_, turns) = of("airtime", &[("share", Value::Word("turns".into()))], txop);
        assert!((turns - 1.0).abs() < 0.02, "{txop} us: {turns}");
    }
}

/// An RTS that collides uses no turn: the next RTS of the access point is for the same station, and both stations have
/// as many aggregates on the air.
#[test]
fn an_rts_without_an_answer_keeps_the_turn() {
    for hw_queue in [0, 1] {
        let turns = [("share", Value::Word("turns".into()))];
        let mut s = downloads(&[54_000_000; 3], "airtime", &turns, Aggregation { hw_queue, ..AGGREGATION });
        s.cell.as_mut().unwrap().mac.rts_threshold = 0;
        s.flows[2] = cbr("up.2".into(), Place::Station(2), Place::Node(2), 60_000_000);
        let (_, frames) = frames_of(&s, 10.0);
        let rts: Vec<_> = frames.iter().filter(|f| f.kind == Rts && f.from == 0).collect();
        let after_collisions = || rts.windows(2).filter(|pair| pair[0].outcome == FrameOutcome::Collided);
        assert!(after_collisions().count() > 50, "{hw_queue}: {}", after_collisions().count());
        assert!(after_collisions().all(|pair| pair[0].to == pair[1].to), "{hw_queue}");
        let data = |to| frames.iter().filter(|f| f.kind == Data && f.to == to).count() as f64;
        assert!((data(2) / data(1) - 1.0).abs() < 0.01, "{hw_queue}: {} and {}", data(1), data(2));
    }
}

/// A saturated station has the same throughput with batches fixed ahead, also if MPDUs are lost.
#[test]
fn fixing_ahead_costs_a_saturated_station_nothing() {
    let throughput = |hw_queue, p| {
        // A window that nothing holds for long.
        let spec = Aggregation { hw_queue, window: 256, ..AGGREGATION };
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
        lossy(&mut s, p);
        frames_of(&s, 10.0).0.received(0).packets as f64
    };
    for p in [0.0, 0.1] {
        let ratio = throughput(2, p) / throughput(1, p);
        assert!((ratio - 1.0).abs() < 0.005, "losses of {p}: {ratio}");
    }
}

/// Two packets of 1,500 B at 54 Mb/s take 538 us with their answer, and a limit of 700 us ends each opportunity after
/// one such exchange. A batch that is fixed ahead does not change for the rest of an opportunity: it waits for the
/// next.
#[test]
fn a_batch_that_is_fixed_ahead_waits_for_an_opportunity_in_which_it_fits() {
    let txop = Value::Time(Span::from_micros(700));
    for hw_queue in [1, 2] {
        let spec = Aggregation { hw_queue, ..AGGREGATION };
        let mut s = aggregating(saturated(phy_g(), MAC, 1, 54_000_000, 1), spec);
        s.cell.as_mut().unwrap().stations[0].access = choose(access::REGISTRY, "dcf", &[("txop", txop.clone())]);
        let (_, frames) = frames_of(&s, 2.0);
        let data: Vec<&Frame> = frames.iter().filter(|f| f.kind == Data && f.start > at(0.1)).collect();
        assert!(data.len() > 1000 && data.iter().all(|f| f.bytes == 2 * 1540), "{hw_queue}: {:?}", data[0]);
        let exchange = ppdu(2 * 1540, 216) + 10 + ppdu(32, 24);
        assert!(data.windows(2).all(|w| (w[1].start - w[0].start).as_micros() >= exchange + 28), "{hw_queue}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn laws_hold_with_aggregates(
        seed: u64,
        n in 1usize..6,
        mpdus in 1u32..70,
        window in 1u32..300,
        limit in 1u32..600,
        attempts in prop::option::of(1u32..8),
        lifetime in prop_oneof![Just(0u64), 1u64..50],
        lifetime_below: bool,
        density in prop_oneof![Just(0u64), Just(2), Just(16)],
        reorder in prop_oneof![Just(0u64), Just(1), Just(20)],
        asks in 0..3,
        msdu in prop_oneof![Just(0), 1000u32..12_000],
        hw_queue in 0u32..5,
        loss in prop_oneof![Just(0.0), 0.0..0.7],
        aql in prop::option::of((1u64..6, 0u64..10, 1u64..40)),
        addba in prop_oneof![Just(0u64), Just(2), Just(1000)],
        rts: bool,
        tcp: bool,
        queue in 0..every::disciplines().len(),
    ) {
        let lifetime = Span::from_millis(lifetime);
        let (asks, asks_at_20_mhz) = (asks > 0, asks > 1);
        let spec = Aggregation { mpdus, window, limit, attempts, lifetime, msdu, hw_queue, ..AGGREGATION };
        let (density, reorder) = (Span::from_micros(density), Span::from_millis(reorder));
        let addba = Span::from_millis(addba);
        let spec = Aggregation { asks, asks_at_20_mhz, lifetime_below, density, reorder, addba, ..spec };
        let mac = MacSpec { rts_threshold: if rts { 0 } else { u32::MAX }, ..MAC };
        let s = if tcp {
            down_up(n, n, newreno(), phy_g(), mac, seed)
        } else {
            saturated(phy_g(), mac, n, 54_000_000, seed)
        };
        let mut s = aggregating(s, spec);
        lossy(&mut s, loss);
        s.cell.as_mut().unwrap().aps[0].station.queue = every::disciplines()[queue].clone();
        if let Some((low, more, total)) = aql {
            limit_airtime(&mut s, low, low + more, total);
        }
        law::all_hold(&s, &[at(0.1), at(0.3), at(0.7)]);
    }
}
