//! All counters of a network at one instant, and the results that two such readings make.

use contend_core::packet::PacketKind;
use contend_core::registry::Fact;
use contend_core::{Span, Time};
use contend_experiment::point::Resolved;
use contend_experiment::results::{
    Air, Backlog, Drops, Flow, Held, Losses, Percentiles, Queue, Radio, Roaming, Transmitter, Wait, Ways, Word,
};
use contend_sim::net::Net;
use contend_sim::routing::RoutingDrop;
use contend_sim::scenario::Transport;
use contend_sim::stats::{Durations, QueueCounters, ReceiverCounters, SenderCounters, TransmitterCounters};
use contend_sim::wifi::counters::{Rivals, StationCounters, Waits};
use contend_sim::wifi::ledger::{Ledger, RadioAccounts, StationAccounts};
use contend_sim::wifi::{Mpdus, Roams, StationId};
use std::collections::BTreeMap;

/// All counters at one instant.
#[derive(Debug, Default)]
pub(super) struct Reading {
    flows: Vec<FlowReading>,
    queues: Vec<QueueReading>,
    transmitters: Vec<TransmitterCounters>,
    stations: Vec<StationCounters>,
    /// For each station what it sent and what was sent to it; empty if it is not counted.
    mpdus: Vec<[Mpdus; 2]>,
    collisions: u64,
    rivals: Rivals,
    waits: Waits,
    ledger: Option<Ledger>,
    /// By [`RoutingDrop`].
    routing_drops: [u64; RoutingDrop::ALL.len()],
    /// By station; `None` for those that keep their access points.
    roams: Vec<Option<Roams>>,
}

/// All counters of one flow.
#[derive(Debug)]
struct FlowReading {
    sent: SenderCounters,
    received: ReceiverCounters,
    timeouts: Option<u64>,
    delivered_ce: Option<u64>,
    entered: u64,
    arrived: u64,
}

/// All counters of one queue, the packets that wait in it, and what was lost behind it: packets by kind, the excess.
#[derive(Debug)]
struct QueueReading {
    counters: QueueCounters,
    waiting: u64,
    lost: [u64; 4],
    excess_losses: f64,
}

impl Reading {
    pub(super) fn of(net: &mut Net) -> Reading {
        let now = net.world.now();
        let queues = (0..net.queues().count())
            .map(|i| QueueReading {
                counters: net.meter(i).map(|m| m.read(now)).unwrap_or_default(),
                waiting: net.waiting(i),
                lost: net.lost(i),
                excess_losses: net.excess_losses(i),
            })
            .collect();
        let flow = |i| FlowReading {
            sent: net.sent(i),
            received: net.received(i),
            timeouts: net.timeouts(i),
            delivered_ce: net.delivered_ce(i),
            entered: net.entered(i),
            arrived: net.arrived(i),
        };
        Reading {
            flows: (0..net.flows()).map(flow).collect(),
            queues,
            transmitters: (0..net.transmitters().count()).map(|i| net.transmitter(i)).collect(),
            stations: (0..net.stations().len()).map(|i| net.station(i as StationId)).collect(),
            mpdus: (0..net.stations().len()).map_while(|i| net.bss()?.mpdus(i as StationId)).collect(),
            collisions: net.bss().map_or(0, |c| c.collisions()),
            rivals: net.bss().map_or_else(Rivals::default, |c| c.rivals()),
            waits: net.bss().map_or_else(Waits::default, |c| c.waits()),
            ledger: net.ledger(),
            routing_drops: net.bss().map(|c| c.routing_drops()).unwrap_or_default(),
            roams: (0..net.stations().len()).map(|i| net.roams(i as StationId)).collect(),
        }
    }
}

/// The results of each flow between two readings that are `span` seconds apart; transfers count from `warm` on.
pub(super) fn flows(
    resolved: &Resolved,
    net: &Net,
    base: &Reading,
    last: &Reading,
    warm: Time,
    span: f64,
) -> Vec<Flow> {
    let rate = |bytes: u64| bytes as f64 * 8.0 / span;
    // A sender outside may not have existed at the first reading.
    let since = |now: Option<u64>, before: Option<u64>| now.map(|n| n.saturating_sub(before.unwrap_or(0)));
    let mut all = Vec::with_capacity(last.flows.len());
    for (i, (now, before)) in last.flows.iter().zip(&base.flows).enumerate() {
        let (s, s0, r, r0) = (&now.sent, &before.sent, &now.received, &before.received);
        let spec = &resolved.scenario.flows[i];
        let rtt = net.rtt(i).cloned().unwrap_or_else(Durations::new);
        let delay = net.delay(i).cloned().unwrap_or_else(Durations::new);
        let simulated = net.is_sender_simulated(i);
        all.push(Flow {
            name: spec.name.clone(),
            group: resolved.groups[resolved.members[i].group].clone(),
            direction: resolved.members[i].direction.name(),
            tcp: match &spec.ends.transport {
                Transport::Udp(udp) => {
                    udp.control.as_ref().map_or("udp".to_owned(), |control| format!("udp+{}", control.cc.entry.name))
                }
                Transport::Tcp(t) => t.name.clone(),
            },
            greedy: spec.ends.traffic.entry.has(Fact::Greedy),
            goodput_bps: rate(r.delivered_bytes - r0.delivered_bytes),
            // What waited out of order at the first reading is delivered after it. If it did not count here, goodput
            // could be above throughput.
            throughput_bps: rate(r.bytes - r0.bytes + r0.held_bytes),
            sent: s.packets - s0.packets,
            retransmitted: s.retransmitted - s0.retransmitted,
            timeouts: since(now.timeouts, before.timeouts),
            entered: now.entered - before.entered,
            arrived: now.arrived - before.arrived,
            arrived_ce: r.arrived_ce - r0.arrived_ce,
            delivered_ce: since(now.delivered_ce, before.delivered_ce),
            losses: simulated.then(|| Losses::between(s.judged, s0.judged)),
            rtt_s: Percentiles::from(&rtt),
            delay_s: Percentiles::from(&delay),
            completion_s: net.completed(i).map(Span::as_secs_f64),
            completions_s: net
                .transfers(i)
                .iter()
                .filter(|(at, _)| *at >= warm)
                .map(|(_, took)| took.as_secs_f64())
                .collect(),
            unfinished: net.unfinished(i),
            rtt,
            delay,
        });
    }
    all
}

/// The results of each queue between two readings that are `span` seconds apart.
pub(super) fn queues(net: &mut Net, base: &Reading, last: &Reading, span: f64) -> Vec<Queue> {
    let names: Vec<String> = net.queues().map(str::to_owned).collect();
    let mut all = Vec::with_capacity(names.len());
    for (i, name) in names.into_iter().enumerate() {
        let (now, before) = (&last.queues[i], &base.queues[i]);
        let (c, c0) = (&now.counters, &before.counters);
        let by_kind = PacketKind::ALL.map(|k| c.dropped[k as usize] - c0.dropped[k as usize]);
        let delay = net.meter(i).map(|m| m.delay.clone()).unwrap_or_default();
        all.push(Queue {
            name,
            offered: c.offered - c0.offered,
            taken: c.taken - c0.taken,
            waiting: Held { start: before.waiting, end: now.waiting },
            drops: Drops::from_kinds(by_kind),
            marked: c.marked - c0.marked,
            marked_l4s: c.marked_l4s - c0.marked_l4s,
            marked_classic: (c.marked - c.marked_l4s) - (c0.marked - c0.marked_l4s),
            filtered: c.filtered - c0.filtered,
            made: c.made - c0.made,
            lost: now.lost.iter().sum::<u64>() - before.lost.iter().sum::<u64>(),
            excess_losses: now.excess_losses - before.excess_losses,
            queue: Backlog {
                length: (c.packet_ns - c0.packet_ns) as f64 / (span * 1e9),
                delay_s: Percentiles::from(&delay),
            },
            delay,
        });
    }
    all
}

/// The results of each transmitter between two readings.
pub(super) fn transmitters(net: &Net, base: &Reading, last: &Reading, span: f64) -> Vec<Transmitter> {
    let rates = (0..).map(|i| net.wire_rate(i));
    let counters = last.transmitters.iter().zip(&base.transmitters).zip(rates);
    let between =
        |(name, ((now, before), rate)): (&str, ((&TransmitterCounters, &TransmitterCounters), Option<u64>))| {
            Transmitter {
                name: name.to_owned(),
                // A packet taken before the warm-up ended may have gone back to routing since.
                taken: now.taken.cast_signed() - before.taken.cast_signed(),
                delivered: now.delivered - before.delivered,
                lost: now.lost - before.lost,
                carrying: Held { start: before.carrying, end: now.carrying },
                busy: rate.map(|bps| 8.0 * (now.bytes - before.bytes) as f64 / bps as f64 / span),
            }
        };
    net.transmitters().zip(counters).map(between).collect()
}

/// The results of the air between two readings; `None` without Wi-Fi.
pub(super) fn air(net: &Net, base: &Reading, last: &Reading) -> Option<Air> {
    let (books, books0) = (last.ledger.as_ref()?, base.ledger.as_ref()?);
    let span = books.booked().since(books0.booked()).as_nanos() as f64;
    let share = |a: Span, b: Span| if span > 0.0 { (a.as_nanos() - b.as_nanos()) as f64 / span } else { 0.0 };
    let sum = |f: fn(&StationCounters) -> u64| {
        last.stations.iter().zip(&base.stations).map(|(a, b)| f(a) - f(b)).sum::<u64>()
    };
    let (attempts, collided) = (sum(|c| c.attempts), sum(|c| c.collided));
    let own = |f: fn(&StationAccounts) -> Span| {
        books.stations.iter().zip(&books0.stations).map(|(a, b)| share(f(a), f(b))).sum::<f64>()
    };
    let of_each = |f: fn(&StationAccounts) -> Span| -> BTreeMap<String, f64> {
        let pairs = books.stations.iter().zip(&books0.stations);
        net.stations().iter().zip(pairs).map(|(name, (a, b))| (name.clone(), share(f(a), f(b)))).collect()
    };
    let airtime = Ways { from: of_each(StationAccounts::total), to: of_each(|s| s.sent_to) };
    let wait = |several: usize| {
        let grown = |of: fn(&Waits) -> &[u64; 2]| of(&last.waits)[several] - of(&base.waits)[several];
        grown(|w| &w.slots) as f64 / grown(|w| &w.starts).max(1) as f64
    };
    let (c, c0) = (&books.cell, &books0.cell);
    let radio = net.is_field().then(|| radios(net, &books.radios, &books0.radios, span));
    let mut ledger: BTreeMap<Word, f64> = match &radio {
        Some(r) => r.accounts().map(|(account, of)| (account, of.values().sum::<f64>() / of.len() as f64)).into(),
        None => BTreeMap::from([
            ("idle", share(c.idle, c0.idle)),
            ("ifs", share(c.ifs, c0.ifs)),
            ("backoff", share(c.backoff, c0.backoff)),
            ("collision", share(c.collision, c0.collision)),
            ("preamble", own(|o| o.preamble)),
            ("header", own(|o| o.header)),
            ("payload", own(|o| o.payload)),
            ("ack", own(|o| o.ack)),
            ("rts_cts", own(|o| o.rts_cts)),
            ("errored", own(|o| o.errored)),
        ]),
    };
    let beacon = own(|o| o.beacon);
    if radio.is_none() && beacon > 0.0 {
        ledger.insert("beacon", beacon);
    }
    let busy = match &radio {
        Some(_) => ledger["sends"] + ledger["receives"] + ledger["hears"],
        None => airtime.from.values().sum::<f64>() + ledger["collision"],
    };
    // The growth of a number for the data of each station; a mean if it is divided by the growth of another.
    let mpdus = |number: fn(&Mpdus) -> f64, per: Option<fn(&Mpdus) -> u64>| {
        let of = |way: usize| {
            let pairs = net.stations().iter().zip(last.mpdus.iter().zip(&base.mpdus));
            let grown = |(name, (a, b)): (&String, (&[Mpdus; 2], &[Mpdus; 2]))| {
                let all = per.map_or(1, |per| per(&a[way]) - per(&b[way]));
                (all > 0).then(|| (name.clone(), (number(&a[way]) - number(&b[way])) / all as f64))
            };
            pairs.filter_map(grown).collect()
        };
        (!last.mpdus.is_empty()).then(|| Ways { from: of(0), to: of(1) })
    };
    let drops = RoutingDrop::ALL.map(|reason| {
        let i = reason as usize;
        (reason.name(), last.routing_drops[i] - base.routing_drops[i])
    });
    Some(Air {
        frames: attempts,
        successes: sum(|c| c.acked),
        collisions: last.collisions - base.collisions,
        rivals: (last.rivals.stations - base.rivals.stations) as f64
            / (last.rivals.starts - base.rivals.starts).max(1) as f64,
        wait: Wait { success: wait(0), collision: wait(1) },
        collision_probability: if attempts > 0 { collided as f64 / attempts as f64 } else { 0.0 },
        retry_drops: sum(|c| c.retry_drops),
        busy,
        airtime,
        mpdus: mpdus(|m| m.sent as f64, None),
        mpdu_loss: mpdus(|m| (m.sent - m.acked) as f64, Some(|m| m.sent)),
        mean_rate: mpdus(|m| m.kbps as f64 * 1e3, Some(|m| m.sent)),
        mean_mcs: mpdus(|m| m.mcs as f64, Some(|m| m.with_mcs)),
        ledger,
        radio,
        routing_drops: net.is_field().then(|| drops.into()),
        roaming: last.roams.iter().any(Option::is_some).then(|| roaming(net, &base.roams, &last.roams)),
    })
}

/// How stations changed their access points between two readings.
fn roaming(net: &Net, before: &[Option<Roams>], now: &[Option<Roams>]) -> BTreeMap<String, Roaming> {
    let name = |ap: StationId| net.stations().get(ap as usize).cloned().unwrap_or_default();
    let of = |now: &Roams, before: &Roams| Roaming {
        roams: now.changes - before.changes,
        away_s: (now.away - before.away).as_secs_f64(),
        access_points: now.course.iter().map(|(at, ap)| (at.as_secs_f64(), name(*ap))).collect(),
    };
    let pairs = net.stations().iter().zip(now.iter().zip(before));
    pairs.filter_map(|(name, (now, before))| Some((name.clone(), of(now.as_ref()?, before.as_ref()?)))).collect()
}

/// What the radios of a field did between two readings that are `span` nanoseconds apart.
fn radios(net: &Net, now: &[RadioAccounts], before: &[RadioAccounts], span: f64) -> Radio {
    let of_each = |f: fn(&RadioAccounts) -> Span| -> BTreeMap<String, f64> {
        let pairs = net.stations().iter().zip(now.iter().zip(before));
        pairs.map(|(name, (a, b))| (name.clone(), (f(a) - f(b)).as_nanos() as f64 / span)).collect()
    };
    Radio {
        sends: of_each(|r| r.sends),
        receives: of_each(|r| r.receives),
        hears: of_each(|r| r.hears),
        blocked: of_each(|r| r.blocked),
        idle: of_each(|r| r.idle),
    }
}
