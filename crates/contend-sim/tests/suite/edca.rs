//! EDCA: categories inside a station. The results are compared with DCF where both must agree, and with a Monte Carlo
//! that moves from slot boundary to slot boundary.

use crate::common::*;
use contend_core::registry::{Args, Choice, Value};
use contend_core::{Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::ledger::Ledger;
use contend_sim::wifi::phy::{ACK_BYTES, Phy, Preamble, Standard};
use contend_sim::wifi::{BROADCAST, Frame, FrameKind, FrameOutcome};
use rand::{RngExt as _, SeedableRng};

/// AIFSN, CWmin, CWmax, TXOP limit in microseconds.
type Set = (i64, i64, i64, u64);

/// A name, the categories of the frames of each station, and the parameters of the categories.
type Case<'a> = (&'a str, &'a [&'a [Category]], Vec<(Category, Set)>);

/// DCF's values of 802.11g.
const DCF: Set = (2, 15, 1023, 0);

/// The rule with these parameters of several categories.
fn edca(with: &[(&'static str, Value)], sets: &[(Category, Set)]) -> Choice<access::Build> {
    let mut rule = choose(access::REGISTRY, "edca", with);
    for (category, (aifsn, cwmin, cwmax, txop)) in sets {
        let mut args = Args::default();
        args.set("aifsn", Value::Integer(*aifsn));
        args.set("cwmin", Value::Integer(*cwmin));
        args.set("cwmax", Value::Integer(*cwmax));
        args.set("txop", Value::Time(Span::from_micros(*txop)));
        rule.args.set(category.name(), Value::Group(args));
    }
    rule
}

fn word(name: &'static str, value: &str) -> (&'static str, Value) {
    (name, Value::Word(value.into()))
}

/// The same scenario with this rule at all stations and at the access point.
fn everywhere(mut s: Scenario, rule: &Choice<access::Build>) -> Scenario {
    let cell = s.cell.as_mut().unwrap();
    for station in cell.stations.iter_mut().chain([&mut cell.aps[0].station]) {
        station.access = rule.clone();
    }
    s
}

/// Stations that are saturated with frames of these categories, one list per station.
fn saturated_categories(stations: &[&[Category]], rule: &Choice<access::Build>, seed: u64) -> Scenario {
    let n: usize = stations.iter().map(|s| s.len()).sum();
    let (nodes, links) = hosts(n, Span::ZERO);
    let pairs = stations.iter().enumerate().flat_map(|(i, all)| all.iter().map(move |c| (i, *c)));
    let flow = |(node, (station, category)): (usize, (usize, Category))| FlowSpec {
        category,
        ..cbr(format!("up.{node}"), Place::Station(station), Place::Node(node), 80_000_000 / stations.len() as u64)
    };
    let flows = pairs.enumerate().map(flow).collect();
    everywhere(Scenario { seed, cell: Some(cell(phy_g(), MAC, stations.len(), 54_000_000)), nodes, links, flows }, rule)
}

fn frames(s: &Scenario, seconds: f64) -> (Net, Vec<Frame>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    let frames = net.frames().unwrap().frames().to_vec();
    (net, frames)
}

#[test]
fn categories_of_one_station_collide_inside_it_and_never_on_the_air() {
    let all: &[Category] = &Category::ALL;
    let (net, frames) = frames(&saturated_categories(&[all], &edca(&[], &[]), 1), 5.0);
    let c = net.station(1);
    assert_eq!((net.bss().unwrap().collisions(), c.collided), (0, 0));
    // AC_VO and AC_VI draw from 4 and from 8 slots, so they are often due together.
    assert!(c.internal > 200, "{c:?}");
    // A frame that lost an internal collision was not on the air: there is no Retry bit, and every attempt is answered.
    assert!(frames.iter().all(|f| f.retry == 0));
    assert!(c.attempts - c.acked <= 1, "{c:?}");
}

/// Without background: beside saturated voice its response does not get through in time.
#[test]
fn each_category_has_an_agreement_of_its_own() {
    let all = [Category::Vo, Category::Vi, Category::Be];
    let spec = Aggregation { addba: Span::from_secs(1), ..AGGREGATION };
    let s = aggregating(saturated_categories(&[&all], &edca(&[], &[]), 1), spec);
    let (_, frames) = frames(&s, 5.0);
    for category in all {
        let own = || frames.iter().filter(|f| f.category == category && f.outcome == FrameOutcome::Received);
        let actions: Vec<_> = own().filter(|f| f.kind == FrameKind::Action).map(|f| (f.from, f.to)).collect();
        assert_eq!(actions, [(1, 0), (0, 1)], "{category:?}");
        let made = own().rfind(|f| f.kind == FrameKind::Action).unwrap().end;
        let first = own().find(|f| f.kind == FrameKind::BlockAck).unwrap();
        assert!(first.start > made, "{category:?}");
    }
}

#[test]
fn with_dcf_s_parameters_and_best_effort_only_it_is_dcf_bit_by_bit() {
    let same = [(Category::Be, DCF)];
    let run = |s: &Scenario| {
        let mut net = Net::new(s).unwrap();
        net.run_until(at(5.0));
        (net.world.trace.digest(), (0..net.flows()).map(|i| net.received(i).delivered_bytes).collect::<Vec<_>>())
    };
    for seed in 1..4 {
        let frozen = edca(&[word("busy_slot", "frozen")], &same);
        let tcp = down_up(3, 3, newreno(), phy_g(), MAC, seed);
        assert_eq!(run(&everywhere(tcp.clone(), &frozen)), run(&tcp));
        let udp = saturated(phy_g(), MAC, 8, 54_000_000, seed);
        assert_eq!(run(&everywhere(udp.clone(), &frozen)), run(&udp));
        // A busy slot that begins in a station's inter-frame space counts for a DCF station that counts busy slots, but
        // not for EDCA. If all stations resume together, there is no such slot.
        let mut phy = phy_g();
        phy.ack_timeout = Some(phy.eifs() - phy.difs());
        let counted = saturated(phy, MacSpec { busy_slot: BusySlot::Counted, ..MAC }, 8, 54_000_000, seed);
        assert_eq!(run(&everywhere(counted.clone(), &edca(&[], &same))), run(&counted));
    }
}

/// One contender of the Monte Carlo.
struct One {
    station: usize,
    rank: usize,
    set: Set,
    cw: u64,
    /// Backoff counter.
    counter: u64,
    failures: u32,
    /// The contender's next slot boundary.
    boundary: u64,
    done: u64,
}

/// Packets per second of all contenders of each category, by an independent Monte Carlo. At each of its slot boundaries
/// a contender sends if its counter is 0, and otherwise decrements the counter (§10.22.2.4).
fn monte_carlo(stations: &[&[Category]], sets: &[(Category, Set)], seconds: f64, seed: u64) -> [f64; 4] {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let phy = phy_g();
    let (slot, sifs) = (phy.slot.as_nanos(), phy.sifs.as_nanos());
    let rate = phy.rate(54_000_000).unwrap();
    let data = rate.airtime(phy.mpdu(1500)).total.as_nanos();
    let ack = phy.response_rate(rate).airtime(ACK_BYTES).total.as_nanos();
    let timeout = phy.ack_timeout(phy.response_rate(rate)).as_nanos();
    let eifs_more = (phy.eifs() - phy.difs()).as_nanos();
    let aifs = |o: &One| sifs + slot * o.set.0 as u64;
    let mut all: Vec<One> = Vec::new();
    for (station, categories) in stations.iter().enumerate() {
        for c in *categories {
            let set = sets.iter().find(|s| s.0 == *c).unwrap().1;
            let cw = set.1 as u64;
            let mut one = One {
                station,
                rank: *c as usize,
                set,
                cw,
                counter: rng.random_range(0..=cw),
                failures: 0,
                boundary: 0,
                done: 0,
            };
            one.boundary = aifs(&one);
            all.push(one);
        }
    }
    let end = (seconds * 1e9) as u64;
    loop {
        let now = all.iter().map(|o| o.boundary).min().unwrap();
        if now > end {
            break;
        }
        let due: Vec<usize> = (0..all.len()).filter(|&i| all[i].boundary == now && all[i].counter == 0).collect();
        for o in all.iter_mut().filter(|o| o.boundary == now) {
            o.boundary += slot;
            o.counter = o.counter.saturating_sub(1);
        }
        if due.is_empty() {
            continue;
        }
        let best = |i: usize| !due.iter().any(|&j| all[j].station == all[i].station && all[j].rank < all[i].rank);
        let (winners, losers): (Vec<usize>, Vec<usize>) = due.iter().partition(|&&i| best(i));
        let success = winners.len() == 1;
        let idle = now + data + if success { sifs + ack } else { 0 };
        let colliders: Vec<usize> = winners.iter().map(|&i| all[i].station).collect();
        for o in &mut all {
            let more = match (success, colliders.contains(&o.station)) {
                (true, _) => 0,
                (false, true) => timeout,
                (false, false) => eifs_more,
            };
            o.boundary = idle + more + aifs(o);
        }
        for &i in winners.iter().chain(&losers) {
            let failed = !success || losers.contains(&i);
            let o = &mut all[i];
            if failed && o.failures < 6 {
                o.failures += 1;
                o.cw = (2 * o.cw + 1).min(o.set.2 as u64);
            } else {
                o.done += u64::from(!failed);
                o.failures = 0;
                o.cw = o.set.1 as u64;
            }
            o.counter = rng.random_range(0..=o.cw);
        }
    }
    let mut pps = [0.0; 4];
    all.iter().for_each(|o| pps[o.rank] += o.done as f64 / seconds);
    pps
}

/// The same from the simulated cell.
fn simulated(stations: &[&[Category]], sets: &[(Category, Set)], seconds: f64, seed: u64) -> [f64; 4] {
    let s = saturated_categories(stations, &edca(&[], sets), seed);
    let mut net = Net::new(&s).unwrap();
    let read = |net: &Net| {
        let mut packets = [0.0; 4];
        s.flows.iter().enumerate().for_each(|(i, f)| packets[f.category as usize] += net.received(i).packets as f64);
        packets
    };
    net.run_until(at(1.0));
    let before = read(&net);
    net.run_until(at(1.0 + seconds));
    let after = read(&net);
    std::array::from_fn(|i| (after[i] - before[i]) / seconds)
}

#[test]
fn categories_share_the_air_as_in_the_monte_carlo() {
    use Category::{Be, Bk, Vi, Vo};
    let apart: Vec<&[Category]> = vec![&[Vo], &[Vo], &[Vo], &[Be], &[Be], &[Be]];
    let together: Vec<&[Category]> = vec![&[Vo, Be]; 4];
    let all: Vec<&[Category]> = vec![&[Vo, Vi, Be, Bk]; 3];
    let cases: [Case; 4] = [
        ("AIFSN 2 and 4", &apart, vec![(Vo, DCF), (Be, (4, 15, 1023, 0))]),
        ("CWmin 7 and 31", &apart, vec![(Vo, (2, 7, 63, 0)), (Be, (2, 31, 127, 0))]),
        ("both, in the same stations", &together, vec![(Vo, (2, 15, 63, 0)), (Be, (3, 31, 127, 0))]),
        (
            "four categories in each",
            &all,
            vec![(Vo, (2, 15, 63, 0)), (Vi, (2, 31, 127, 0)), (Be, (3, 31, 127, 0)), (Bk, (4, 31, 255, 0))],
        ),
    ];
    for (name, stations, sets) in cases {
        let mean = |f: &dyn Fn(u64) -> [f64; 4]| {
            let runs: Vec<[f64; 4]> = (1..=3).map(f).collect();
            std::array::from_fn::<f64, 4, _>(|i| runs.iter().map(|r| r[i]).sum::<f64>() / 3.0)
        };
        let ours = mean(&|seed| simulated(stations, &sets, 150.0, seed));
        let theirs = mean(&|seed| monte_carlo(stations, &sets, 300.0, seed));
        println!("{name}: {ours:.1?} against {theirs:.1?}");
        let first = |x: &[f64; 4]| x[Vo as usize];
        for (category, _) in &sets {
            let i = *category as usize;
            assert!(
                (ours[i] / theirs[i] - 1.0).abs() < 0.01,
                "{name}, {category:?}: {} against {} packets a second",
                ours[i],
                theirs[i]
            );
            let (ratio, want) = (first(&ours) / ours[i], first(&theirs) / theirs[i]);
            assert!((ratio / want - 1.0).abs() < 0.01, "{name}, {category:?}: {ratio} against {want}");
        }
    }
}

#[test]
fn a_higher_category_gets_more_of_the_air() {
    for standard in [Standard::B, Standard::G] {
        let each: Vec<&[Category]> = Category::ALL.chunks(1).collect();
        let mut s = saturated_categories(&each, &edca(&[], &[]), 1);
        let cell = s.cell.as_mut().unwrap();
        cell.phy = Phy::new(standard, Preamble::Long);
        for station in cell.stations.iter_mut().chain([&mut cell.aps[0].station]) {
            station.rate = 11_000_000.into();
        }
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(20.0));
        let got: Vec<u64> = (0..4).map(|i| net.received(i).packets).collect();
        assert!(got.is_sorted_by(|a, b| a > b), "{standard:?}: {got:?}");
    }
}

#[test]
fn bursts_fill_the_transmission_opportunity_and_never_exceed_it() {
    let stations: Vec<&[Category]> = vec![&[Category::Vo, Category::Be], &[Category::Vi]];
    for (table, limits) in [("802.11e", [1504, 3008, 0]), ("802.11-2016", [2080, 4096, 2528])] {
        let (_, frames) = frames(&saturated_categories(&stations, &edca(&[word("table", table)], &[]), 1), 3.0);
        let phy = phy_g();
        let mut bursts: Vec<(u64, Vec<&Frame>)> = Vec::new();
        for f in &frames {
            match bursts.last_mut() {
                // An ACK follows its frame after SIFS, and the next frame of a burst follows the ACK after SIFS.
                Some((_, burst)) if burst.last().is_some_and(|l| f.start == l.end + phy.sifs) => burst.push(f),
                _ => bursts.push((u64::from(f.packet.unwrap().flow.0), vec![f])),
            }
        }
        let mut longest = [0; 3];
        for (flow, burst) in &bursts {
            let first = burst[0];
            // Each burst has frames of one category.
            assert!(burst.iter().filter_map(|f| f.packet).all(|p| u64::from(p.flow.0) == *flow));
            let category = [0, 2, 1][*flow as usize];
            let took = (burst.last().unwrap().end - first.start).as_micros();
            let data = burst.iter().filter(|f| f.kind == FrameKind::Data).count();
            assert!(data == 1 || took <= limits[category], "{table}: {took} us");
            longest[category] = longest[category].max(data);
        }
        // By hand: 254 us of data, 10 us, 50 us of ACK, 10 us. n frames take 324 n - 10 us.
        let most = limits.map(|l: u64| ((l + 10) / 324).max(1) as usize);
        assert_eq!(longest, most, "{table}");
    }
}

/// Two saturated stations of DCF with this limit in microseconds. By hand, as above: three frames take 962 us, and the
/// CF-End at 6 Mb/s 58 us.
fn opportunities(limit: u64, txop_protection: TxopProtection) -> (Ledger, Vec<Vec<Frame>>) {
    let rule = choose(access::REGISTRY, "dcf", &[("txop", Value::Time(Span::from_micros(limit)))]);
    let s = everywhere(saturated(phy_g(), MacSpec { txop_protection, ..MAC }, 2, 54_000_000, 1), &rule);
    let (net, frames) = frames(&s, 2.0);
    let mut all: Vec<Vec<Frame>> = Vec::new();
    for f in frames {
        match all.last_mut() {
            Some(burst) if burst.last().is_some_and(|last| f.start <= last.end + phy_g().sifs) => burst.push(f),
            _ => all.push(vec![f]),
        }
    }
    all.pop();
    (net.ledger().unwrap(), all)
}

#[test]
fn with_multiple_protection_others_wait_for_the_end_of_the_opportunity_or_for_a_cf_end() {
    use FrameKind::{Ack, CfEnd, Data};
    // 972 us after the start a CF-End ends within 1250 us, but not within 1000 us.
    for (limit, truncated) in [(1250, true), (1000, false)] {
        let (ledger, all) = opportunities(limit, TxopProtection::Multiple);
        let mut gaps = [0; 2];
        for pair in all.windows(2) {
            let (burst, next) = (&pair[0], &pair[1][0]);
            let start = burst[0].start;
            if burst.iter().any(|f| f.outcome != FrameOutcome::Received) {
                continue;
            }
            let kinds: Vec<FrameKind> = burst.iter().map(|f| f.kind).collect();
            let end = if truncated { &[CfEnd][..] } else { &[] };
            assert_eq!(kinds, [&[Data, Ack, Data, Ack, Data, Ack], end].concat());
            for f in burst.iter().filter(|f| f.kind != CfEnd) {
                assert_eq!(f.duration, (start + Span::from_micros(limit)).since(f.end), "{f:?}");
            }
            // The holder counts from the end of its last frame, the other station from the end of its NAV.
            let quiet = match (truncated, next.from == burst[0].from) {
                (true, _) => {
                    let f = burst.last().unwrap();
                    let times = [f.start, f.end].map(|at| at.since(start).as_micros());
                    assert_eq!((times, f.to, f.bytes, f.duration), ([972, 1030], BROADCAST, 20, Span::ZERO));
                    1030
                }
                (false, true) => 962,
                (false, false) => 1000,
            };
            let waits = next.start.since(start).as_micros() - quiet;
            assert!(waits >= 28 && (waits - 28) % 9 == 0, "{waits} us after {quiet}");
            gaps[usize::from(next.from == burst[0].from)] += 1;
        }
        assert!(gaps.iter().all(|n| *n > 100), "{gaps:?}");
        assert_eq!(ledger.sum(), ledger.booked().since(Time::ZERO));
        let ends: u64 = all.iter().flatten().filter(|f| f.kind == CfEnd).map(|f| f.end.since(f.start).as_nanos()).sum();
        let booked: u64 = ledger.stations.iter().map(|s| s.rts_cts.as_nanos()).sum();
        assert!(booked >= ends && booked <= ends + 58_000, "{booked} {ends}");
    }
    // Single protection: Duration fields end with the exchange, and there is no CF-End.
    let (_, all) = opportunities(1250, TxopProtection::Single);
    let most = all.iter().flatten().map(|f| (f.kind == CfEnd, f.duration)).max();
    assert_eq!(most, Some((false, Span::from_micros(60))));
}

/// The order in which the datagrams of two flows of one station are sent: three of best effort from 1 ms on, and one of
/// voice 40 us later.
fn order(rule: &Choice<access::Build>) -> Vec<u32> {
    let (nodes, links) = hosts(2, Span::ZERO);
    let flow = |i: usize, category, start: u64, packets: u64| {
        let start = Start::At(Time::ZERO + Span::from_micros(start));
        let flow = cbr(format!("up.{i}"), Place::Station(0), Place::Node(i), 1_000_000_000);
        FlowSpec { category, ends: EndsSpec { start, size: Some(1472 * packets), ..flow.ends }, ..flow }
    };
    let flows = vec![flow(0, Category::Be, 1000, 3), flow(1, Category::Vo, 1040, 1)];
    let s = everywhere(Scenario { seed: 1, cell: Some(cell(phy_g(), MAC, 1, 54_000_000)), nodes, links, flows }, rule);
    frames(&s, 1.0).1.iter().filter_map(|f| f.packet).map(|p| p.flow.0).collect()
}

#[test]
fn voice_overtakes_a_packet_in_the_mac_only_if_scheduling_follows_backoff() {
    // Before: the first frame is sent at once. Voice arrives while it is on the air, and is chosen when the MAC becomes
    // free.
    assert_eq!(order(&edca(&[word("scheduling", "sbb")], &[])), [0, 1, 0, 0]);
    // After: the second frame of best effort has a backoff of up to 1023 slots when voice takes the next slot.
    assert_eq!(order(&edca(&[], &[(Category::Be, (15, 1023, 1023, 0)), (Category::Vo, (2, 0, 0, 0))])), [0, 1, 0, 0]);
    let late = |rule: &Choice<access::Build>| {
        let mut s = saturated_categories(&[&[Category::Be]], rule, 1);
        let voice = cbr("voice".into(), Place::Station(0), Place::Node(0), 64_000);
        let ends = EndsSpec { packet: 200, ..voice.ends };
        s.flows.push(FlowSpec { category: Category::Vo, ends, ..voice });
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(20.0));
        net.delay(1).unwrap().mean_ms()
    };
    // Before: voice waits for the frame in the MAC with its backoff, and then for a window of 15. After: voice waits
    // for the frame on the air, and for a window of 3.
    let (before, after) = (late(&edca(&[word("scheduling", "sbb")], &[])), late(&edca(&[], &[])));
    assert!(after < before, "{after} and {before} ms");
}

#[test]
fn acknowledgments_take_the_category_of_their_flow() {
    for scheduling in ["sab", "sbb"] {
        let mut s =
            everywhere(down_up(0, 1, newreno(), phy_g(), MAC, 1), &edca(&[word("scheduling", scheduling)], &[]));
        s.flows[0].category = Category::Vi;
        let mut net = Net::new(&s).unwrap();
        net.run_until(at(3.0));
        let names: Vec<String> = net.queues().map(str::to_owned).collect();
        let offered: Vec<(String, u64)> =
            (0..names.len()).map(|i| (names[i].clone(), net.meter(i).unwrap().read(at(3.0)).offered)).collect();
        let busy: Vec<&str> = offered
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, _)| name.as_str())
            .filter(|name| !name.starts_with("wire"))
            .collect();
        assert_eq!(busy, ["ap.vi", "sta0.vi"], "{offered:?}");
        assert!(net.received(0).packets > 1000);
    }
}
