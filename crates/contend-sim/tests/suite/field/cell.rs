//! A field in which all stations hear each other against the cell.

use super::in_a_field;
use crate::common::every;
use crate::common::*;
use contend_core::registry::Value;
use contend_core::{Span, Time};
use contend_sim::loss;
use contend_sim::net::Net;
use contend_sim::scenario::*;
use contend_sim::wifi::Frame;
use contend_sim::wifi::access::{self, Category};
use contend_sim::wifi::phy::{Family, Phy, Preamble, Standard};

/// The frames of a run by start, sender and kind, and what each flow received.
fn outcome(s: &Scenario, seconds: f64) -> (Vec<String>, Vec<String>) {
    let mut net = Net::new(s).unwrap();
    net.keep_frames(Time::ZERO, at(seconds), 1_000_000);
    net.run_until(at(seconds));
    println!("digest {:016x}", net.world.trace.digest());
    let mut frames: Vec<Frame> = net.frames().unwrap().frames().to_vec();
    frames.retain(|f| f.end < at(seconds - 0.01));
    frames.sort_by_key(|f| (f.start, f.from, f.kind as u8));
    let text = |f: &Frame| {
        let (start, end) = (f.start.as_nanos(), f.end.as_nanos());
        let (kind, outcome, nav) = (f.kind, f.outcome, f.duration.as_nanos());
        format!("{start}..{end} {}->{} {kind:?} {outcome:?} {nav} seq {} try {}", f.from, f.to, f.sequence, f.retry)
    };
    let flows = (0..net.flows()).map(|i| format!("{:?} {:?}", net.sent(i), net.received(i))).collect();
    (frames.iter().map(text).collect(), flows)
}

fn same(what: &str, s: &Scenario, seconds: f64) {
    let (cell, field) = (outcome(s, seconds), outcome(&in_a_field(s), seconds));
    let first = cell.0.iter().zip(&field.0).position(|(a, b)| a != b);
    if let Some(i) = first {
        let from = i.saturating_sub(8);
        panic!("{what}: frame {i}:\ncell  {:#?}\nfield {:#?}", &cell.0[from..i + 3], &field.0[from..i + 3]);
    }
    assert_eq!(cell.0.len(), field.0.len(), "{what}: number of frames");
    assert_eq!(cell.1, field.1, "{what}");
}

#[test]
fn a_field_in_which_all_hear_all_is_a_cell() {
    same("one station", &saturated(phy_g(), MAC, 1, 54_000_000, 1), 0.2);
    same("two stations", &saturated(phy_g(), MAC, 2, 54_000_000, 1), 0.5);
    same("twenty stations", &saturated(phy_g(), MAC, 20, 54_000_000, 1), 0.5);
    let rts = MacSpec { rts_threshold: 500, ..MAC };
    same("RTS", &saturated(phy_g(), rts, 20, 54_000_000, 1), 0.5);
    same("down and up", &down_up(3, 3, newreno(), phy_g(), MAC, 1), 3.0);
    same("down and up with RTS", &down_up(3, 3, newreno(), phy_g(), rts, 1), 3.0);
}

/// Two downloads and two uploads with a change.
fn with(name: &str, change: &dyn Fn(&mut Scenario)) {
    let mut s = down_up(2, 2, newreno(), phy_g(), MAC, 1);
    change(&mut s);
    same(name, &s, 3.0);
}

#[test]
fn every_access_rule_sends_the_same_frames_in_a_field() {
    for rule in every::access_rules() {
        with(rule.entry.name, &|s| {
            for (i, f) in s.flows.iter_mut().enumerate() {
                f.category = Category::ALL[i];
            }
            let cell = s.cell.as_mut().unwrap();
            cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        });
    }
}

#[test]
fn every_queue_sends_the_same_frames_in_a_field() {
    for queue in every::disciplines() {
        with(queue.entry.name, &|s| s.cell.as_mut().unwrap().aps[0].station.queue = queue.clone());
    }
}

#[test]
fn every_control_block_sends_the_same_frames_in_a_field() {
    for block in every::controls() {
        with(block.entry.name, &|s| s.cell.as_mut().unwrap().aps[0].control = vec![block.clone()]);
    }
}

/// Every access rule and every queue over a channel that loses frames, with and without aggregates and RTS.
#[test]
fn lossy_cells_send_the_same_frames_in_a_field() {
    let spec = Aggregation { bytes: 20_000, attempts: Some(5), ..AGGREGATION };
    let (rules, queues) = (every::access_rules(), every::disciplines());
    let most = rules.len().max(queues.len());
    for (i, rts) in (0..most).flat_map(|i| [(i, false), (i, true)]) {
        let (rule, queue) = (&rules[i % rules.len()], &queues[i % queues.len()]);
        let hw_queue = i as u32 / 2 % 4;
        let aggregation = Aggregation { asks: i % 3 == 0, limit: [200, 20][i % 2], hw_queue, ..spec };
        let mac = MacSpec {
            rts_threshold: if rts { 500 } else { u32::MAX },
            idle_access: if i % 7 == 3 { IdleAccess::Draw } else { IdleAccess::Immediate },
            ..MAC
        };
        let s = down_up(2, 2, newreno(), phy_g(), mac, i as u64);
        let mut s = aggregating(s, (i % 5 != 1).then_some(aggregation));
        for (k, f) in s.flows.iter_mut().enumerate() {
            f.category = Category::ALL[k];
        }
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        cell.aps[0].station.queue = queue.clone();
        let p = Value::Number([0.05, 0.2, 0.4, 0.6][i % 4]);
        cell.stations.iter_mut().for_each(|one| one.loss = Some(choose(loss::REGISTRY, "per", &[("p", p.clone())])));
        same(&format!("{} and {}, {i}, RTS {rts}", rule.entry.name, queue.entry.name), &s, 2.0);
    }
}

/// Transmission opportunities of several frames, each with its RTS. Packets also arrive in the gap between two frames.
#[test]
fn opportunities_of_several_frames_are_the_same_in_a_field() {
    let txop = Value::Time(Span::from_millis(3));
    let rules = [choose(access::REGISTRY, "edca", &[]), choose(access::REGISTRY, "dcf", &[("txop", txop)])];
    let protections = [TxopProtection::Single, TxopProtection::Multiple];
    let networks = [((1, 0), 510), ((2, 2), 1)].map(|network| protections.map(|p| (network, p))).concat();
    for (rule, ((down, up), seed), txop_protection) in
        rules.iter().flat_map(|rule| networks.iter().map(move |&(network, p)| (rule, network, p)))
    {
        let mac = MacSpec { rts_threshold: 500, txop_protection, ..MAC };
        let mut s = down_up(down, up, newreno(), phy_g(), mac, seed);
        s.flows.iter_mut().for_each(|f| f.category = Category::Vo);
        let cell = s.cell.as_mut().unwrap();
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        same(&format!("{} {down}+{up} {txop_protection:?}", rule.entry.name), &s, 3.0);
    }
}

/// Cells of 802.11n and later with aggregates: categories, transmission opportunities, losses, windows and limits.
#[test]
fn aggregates_of_every_format_are_the_same_in_a_field() {
    let modes = [(Family::Ht, 20, 1, 7), (Family::Vht, 80, 1, 9), (Family::He, 20, 1, 5), (Family::Eht, 80, 2, 13)];
    let txop = ("txop", Value::Time(Span::from_millis(2)));
    let rules = [
        choose(access::REGISTRY, "edca", &[]),
        choose(access::REGISTRY, "dcf", &[txop]),
        choose(access::REGISTRY, "edca", &[("table", Value::Word("802.11-2016".into()))]),
    ];
    let specs = [
        AGGREGATION,
        Aggregation { window: 8, limit: 20, attempts: Some(3), asks: false, ..AGGREGATION },
        Aggregation { mpdus: 1, lifetime: Span::from_millis(20), ..AGGREGATION },
        Aggregation { reorder: Span::from_millis(2), ..AGGREGATION },
    ];
    let protections = [TxopProtection::Single, TxopProtection::Multiple];
    for (i, txop_protection) in (0..24).flat_map(|i| protections.map(|p| (i, p))) {
        let mode = modes[i % modes.len()];
        let (rts, p) = [(false, 0.0), (false, 0.2), (true, 0.2)][i / 2 % 3];
        let spec = Aggregation { hw_queue: [1, 2, 3, 0][i / 6], ..specs[i % specs.len()] };
        let mac = MacSpec { rts_threshold: if rts { 500 } else { u32::MAX }, txop_protection, ..MAC };
        let (family, width, streams, mcs) = mode;
        let s = with_rate(down_up(2, 2, newreno(), phy_g(), mac, i as u64), modern(family, width, streams, mcs));
        let mut s = aggregating(s, spec);
        s.flows.iter_mut().enumerate().for_each(|(k, f)| f.category = Category::ALL[(k + i) % 4]);
        let cell = s.cell.as_mut().unwrap();
        let rule = &rules[i % rules.len()];
        cell.stations.iter_mut().chain([&mut cell.aps[0].station]).for_each(|one| one.access = rule.clone());
        let per = choose(loss::REGISTRY, "per", &[("p", Value::Number(p))]);
        cell.stations.iter_mut().for_each(|one| one.loss = Some(per.clone()));
        same(&format!("{mode:?}, {i}, {txop_protection:?}"), &s, 2.2);
    }
}

/// Rules and queues together, in 48 networks of which some lose frames. (A station of EDCA that draws a backoff for
/// each arrival, `idle_access = "draw"`, may draw one more or less after a collision than in a cell.)
#[test]
fn mixed_cells_send_the_same_frames_in_a_field() {
    let (rules, queues) = (every::access_rules(), every::disciplines());
    let after = [AfterCollision::Eifs, AfterCollision::EifsAll, AfterCollision::Difs];
    for i in 0..48 {
        let mac = MacSpec {
            rts_threshold: if i % 2 == 0 { 500 } else { u32::MAX },
            busy_slot: if i % 5 == 0 { BusySlot::Counted } else { BusySlot::Frozen },
            after_collision: after[i % 3],
            txop_protection: if i % 4 < 2 { TxopProtection::Single } else { TxopProtection::Multiple },
            idle_access: if i % 7 < 3 { IdleAccess::Draw } else { IdleAccess::Immediate },
            ..MAC
        };
        let (down, up) = (1 + i % 3, i % 4);
        let mut s = down_up(down, up, newreno(), phy_g(), mac, i as u64);
        for (k, f) in s.flows.iter_mut().enumerate() {
            f.category = Category::ALL[k % 4];
        }
        let cell = s.cell.as_mut().unwrap();
        let lossy = loss("per", &[("p", Value::Number([0.0, 0.1, 0.3][i / 2 % 3]))]);
        cell.stations.iter_mut().for_each(|station| station.loss = lossy.clone());
        let mut names = vec![];
        for (k, station) in [&mut cell.aps[0].station].into_iter().chain(&mut cell.stations).enumerate() {
            let (rule, queue) = (&rules[(i + 7 * k) % rules.len()], &queues[(3 * i + k) % queues.len()]);
            (station.access, station.queue) = (rule.clone(), queue.clone());
            names.push((rule.entry.name, queue.entry.name));
        }
        same(&format!("network {i}: {names:?} {down}+{up} {mac:?}"), &s, 2.0);
    }
}

#[test]
fn options_and_rates_act_in_a_field_as_in_a_cell() {
    let mac = |name: &str, change: &dyn Fn(&mut MacSpec)| with(name, &|s| change(&mut s.cell.as_mut().unwrap().mac));
    mac("idle_access", &|m| m.idle_access = IdleAccess::Draw);
    mac("busy_slot", &|m| m.busy_slot = BusySlot::Counted);
    mac("eifs_all", &|m| m.after_collision = AfterCollision::EifsAll);
    mac("difs", &|m| m.after_collision = AfterCollision::Difs);
    with("rates", &|s| s.cell.as_mut().unwrap().stations[0].rate = 6_000_000.into());
    let b = || Phy::new(Standard::B, Preamble::Long);
    same("802.11b", &saturated(b(), MAC, 5, 11_000_000, 1), 1.0);
    let short = MacSpec { retry_short: 2, retry_long: 1, rts_threshold: 500, ..MAC };
    same("few attempts", &saturated(b(), short, 10, 2_000_000, 1), 1.0);
}

#[test]
fn losses_act_in_a_field_as_in_a_cell() {
    for rts_threshold in [u32::MAX, 500] {
        let mut s = saturated(phy_g(), MacSpec { rts_threshold, ..MAC }, 5, 54_000_000, 1);
        let lossy = loss("per", &[("p", Value::Number(0.1))]);
        s.cell.as_mut().unwrap().stations.iter_mut().for_each(|station| station.loss = lossy.clone());
        same(&format!("losses, RTS above {rts_threshold}"), &s, 1.0);
    }
}
