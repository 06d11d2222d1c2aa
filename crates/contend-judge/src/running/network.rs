//! One run: a resolved scenario and a seed become a [`Run`].
//!
//! The run stops at each instant at which something is read: the end of the warm-up, samples, and the ends of claims'
//! windows. A result is the difference between two readings of counters that only grow. So measuring does not change
//! the run.

use contend_core::Refusal;
use contend_core::packet::PacketKind;
use contend_core::registry::Fact;
use contend_core::{Packet, Span, Time};
use contend_experiment::map::MOST_INSTANTS;
use contend_experiment::point::{Member, Resolved};
use contend_experiment::results::{
    Air, Backlog, Channel, Detail, Drops, Emulation, EstimateSeries, Flow, FlowSample, FlowSeries, Held, Losses,
    ObservedStation, ObserverSeries, Percentiles, PointKey, Queue, QueueSample, QueueSeries, Radio, Run, Series,
    Successes, Transmitter, Wait, Ways, Word,
};
use contend_experiment::size::{CaptureWindow, Measure, Sampled, estimators};
use contend_sim::net::Net;
use contend_sim::routing::RoutingDrop;
use contend_sim::scenario::{CellSpec, Scenario, StationSpec, Transport};
use contend_sim::stats::{Durations, QueueCounters, ReceiverCounters, SenderCounters, TransmitterCounters};
use contend_sim::wifi::Mpdus;
use contend_sim::wifi::bss::Bss;
use contend_sim::wifi::counters::{Rivals, StationCounters, Waits};
use contend_sim::wifi::ledger::{Ledger, RadioAccounts, StationAccounts};
use contend_sim::wifi::{Frame, FrameLog, StationId, is_message};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest measurement of [`cost`], in seconds.
const PILOT: f64 = 0.2;

/// What makes the network of a run and lets its time pass: the simulator, or an emulator in real time.
pub trait Engine: Sync {
    /// The network of a run, and what lets its time pass. The scenario has its seed.
    ///
    /// # Errors
    /// When the scenario cannot become a network; the text says which parts do not fit.
    fn begin(&self, run: &Beginning<'_>) -> Result<(Net, Box<dyn Driver>), Refusal>;

    /// The results of the runs will be in `folder`: the engine may keep its own records there.
    fn keep_in(&self, folder: &Path) {
        let _ = folder;
    }
}

/// What an engine knows of a run that begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The network.
    pub scenario: &'a Scenario,
    /// Its flows as members of their groups.
    pub members: &'a [Member],
    /// The sweep point.
    pub point: &'a PointKey,
    /// What is measured.
    pub measure: &'a Measure,
}

/// Lets time pass in the network of one run.
pub trait Driver {
    /// Lets the time of `net` pass until `to`, when all can be read. `stop` is checked regularly.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn advance(&mut self, net: &mut Net, to: Time, stop: &AtomicBool) -> Result<Advanced, Refusal>;

    /// The run has ended: what is to be said of it.
    ///
    /// # Errors
    /// When its records cannot be written.
    fn finish(&mut self, net: &mut Net) -> Result<Option<Emulation>, Refusal>;
}

/// How [`Driver::advance`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// The time has come.
    There,
    /// The run has ended before.
    Ended,
    /// `stop` was set.
    Stopped,
}

/// The simulator: time passes as fast as it can.
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

impl Engine for Simulated {
    fn begin(&self, run: &Beginning<'_>) -> Result<(Net, Box<dyn Driver>), Refusal> {
        Ok((Net::new(run.scenario)?, Box::new(Simulated)))
    }
}

impl Driver for Simulated {
    fn advance(&mut self, net: &mut Net, to: Time, stop: &AtomicBool) -> Result<Advanced, Refusal> {
        Ok(if run_until(net, to, stop)? { Advanced::There } else { Advanced::Stopped })
    }

    fn finish(&mut self, _: &mut Net) -> Result<Option<Emulation>, Refusal> {
        Ok(None)
    }
}

/// Runs `resolved` with `seed` on `engine`. `stop` is checked regularly: when it is set, the run ends early and returns
/// `Ok(None)`.
///
/// # Errors
/// When the scenario cannot become a network; the text says which parts do not fit.
pub fn run(
    resolved: &Resolved,
    point: &PointKey,
    seed: u64,
    measure: &Measure,
    engine: &dyn Engine,
    stop: &AtomicBool,
) -> Result<Option<Run>, Refusal> {
    let scenario = resolved.scenario.with_seed(seed);
    let beginning = Beginning { scenario: &scenario, members: &resolved.members, point, measure };
    let (mut net, mut driver) = engine.begin(&beginning)?;
    if let Some(c) = measure.capture {
        net.keep_frames(c.from, c.to, c.limit);
    }
    if measure.successes {
        net.keep_successes();
    }
    let warm = Time::ZERO + measure.warmup;
    let instants = instants(measure, &Sampled::of(&scenario));
    let many = instants.iter().filter(|(_, sampled)| *sampled).count();
    let mut series = Series {
        time_s: Vec::with_capacity(many),
        flows: scenario.flows.iter().map(|_| FlowSeries::with_capacity(many)).collect(),
        queues: net.queues().map(|_| QueueSeries::with_capacity(many)).collect(),
        successes: vec![],
        estimates: estimates(&scenario, many),
        observed: observed(&scenario),
        map: None,
    };
    let between_maps = many.div_ceil(MOST_INSTANTS).max(1);
    let succeeded = |net: &Net| net.bss().map_or(0, |c| c.successes().len());
    let mut before = 0;
    let mut base = Reading::default();
    for (at, sampled) in instants {
        match driver.advance(&mut net, at, stop)? {
            Advanced::There => {}
            Advanced::Ended if net.world.now() > warm => break,
            Advanced::Ended => return Err(Refusal::new("the run ended within its warm-up", "give --set warmup=0s")),
            Advanced::Stopped => return Ok(None),
        }
        if at == warm {
            net.clear_histograms();
            base = Reading::of(&mut net);
            before = succeeded(&net);
        }
        if sampled {
            sample(&mut net, &mut series);
            if measure.map
                && (series.time_s.len() - 1).is_multiple_of(between_maps)
                && let Some(map) = net.map()
            {
                series.map.get_or_insert_default().add(at.as_secs_f64(), map);
            }
            series.successes.extend(measure.successes.then(|| succeeded(&net)));
        }
    }
    let emulation = driver.finish(&mut net)?;
    let last = Reading::of(&mut net);
    let end = net.world.now();
    let span = (end - warm).as_secs_f64();
    Ok(Some(Run {
        point: point.clone(),
        seed,
        digest: format!("{:016x}", net.world.trace.digest()),
        events: net.world.events(),
        wall_s: 0.0,
        sim_s: end.as_secs_f64(),
        warmup_s: measure.warmup.as_secs_f64(),
        flows: flows(resolved, &net, &base, &last, warm, span),
        queues: queues(&mut net, &base, &last, span),
        transmitters: transmitters(&net, &base, &last),
        air: air(&net, &base, &last),
        frames_missed: net.frames().map_or(0, FrameLog::missed),
        metrics: BTreeMap::new(),
        detail: Detail {
            series,
            frames: captured(&net),
            channel: channel(&net),
            successes: measure.successes.then(|| Successes {
                sequence: net.bss().map_or_else(Vec::new, |c| c.successes().to_vec()),
                warmup: before,
            }),
        },
        stations: net.stations().to_vec(),
        bss: scenario.cell.as_ref().map_or_else(Vec::new, bss),
        contending: None,
        arguments: BTreeMap::new(),
        emulation,
    }))
}

/// The access point of each access point, which is itself, and of each station.
fn bss(cell: &CellSpec) -> Vec<StationId> {
    if cell.aps.is_empty() || cell.field.as_ref().is_some_and(|f| f.routing.is_some()) {
        return vec![];
    }
    let of_stations = (0..cell.stations.len()).map(|i| cell.ap_of(i) as StationId);
    (0..cell.aps.len() as StationId).chain(of_stations).collect()
}

/// The frames that [`run`] captures with `seed`, and their channel. The run is simulated again, up to `end` only.
///
/// # Errors
/// As [`run`].
pub(crate) fn frames(
    resolved: &Resolved,
    seed: u64,
    capture: CaptureWindow,
    end: Time,
    stop: &AtomicBool,
) -> Result<Option<(Vec<Frame>, Channel)>, Refusal> {
    let scenario = resolved.scenario.with_seed(seed);
    let mut net = Net::new(&scenario)?;
    net.keep_frames(capture.from, capture.to, capture.limit);
    Ok(run_until(&mut net, end, stop)?.then(|| (captured(&net), channel(&net))))
}

/// Runs the world until `at`; returns false if `stop` was set before.
///
/// # Errors
/// When a routing message could not be read.
fn run_until(net: &mut Net, at: Time, stop: &AtomicBool) -> Result<bool, Refusal> {
    // Check `stop` also when nothing happens for a long time, so that Ctrl-C is fast.
    let mut here = net.world.now();
    while here < at {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        here = at.min(here + Span::from_secs(1));
        net.run_until(here);
        if let Some(fault) = net.bss().and_then(Bss::fault) {
            return Err(fault.refusal());
        }
    }
    Ok(true)
}

/// What a simulated second of `resolved` costs: seconds of `clock`, measured over the first `part` of the simulated
/// time, or less after [`PILOT`].
///
/// # Errors
/// As [`run`].
pub(crate) fn cost(
    resolved: &Resolved,
    seed: u64,
    part: Span,
    clock: &dyn Fn() -> f64,
    stop: &AtomicBool,
) -> Result<f64, Refusal> {
    let mut net = Net::new(&resolved.scenario.with_seed(seed))?;
    let started = clock();
    let mut done = Span::ZERO;
    while done < part && clock() - started < PILOT {
        done = part.min(done + Span::from_millis(100));
        if !run_until(&mut net, Time::ZERO + done, stop)? {
            break;
        }
    }
    Ok((clock() - started) / done.as_secs_f64())
}

fn captured(net: &Net) -> Vec<Frame> {
    net.frames().map_or_else(Vec::new, |log| log.frames().to_vec())
}

/// What a capture shows of the channel; nothing if frames are not kept.
fn channel(net: &Net) -> Channel {
    let Some(log) = net.frames() else { return Channel::default() };
    let packets = log.frames().iter().filter_map(|f| f.packet.as_ref());
    let message = |p: &Packet| Some((p.payload, net.bss()?.message(p.payload)?.clone()));
    Channel {
        ends: (0..net.flows()).map(|flow| net.on_air(flow)).collect(),
        messages: packets.filter(|p| is_message(p)).filter_map(message).collect(),
        packets: log.packets().to_vec(),
        bitmaps: log.bitmaps().to_vec(),
    }
}

/// Every instant at which the run stops, ascending; true if the run is sampled there.
fn instants(m: &Measure, sampled: &Sampled) -> Vec<(Time, bool)> {
    let mut at: BTreeMap<Time, bool> = BTreeMap::new();
    at.insert(Time::ZERO + m.warmup, false);
    if let Some(step) = m.sample.filter(|s| !s.is_zero()) {
        let step = step * sampled.lengthened(m.duration, step);
        for i in 0..=m.duration.div_floor(step) {
            at.insert(Time::ZERO + step * i, true);
        }
        at.insert(Time::ZERO + m.warmup, true);
    }
    for &i in &m.instants {
        at.insert(i, true);
    }
    let end = Time::ZERO + m.duration;
    at.entry(end).or_insert(m.sample.is_some());
    at.into_iter().filter(|(t, _)| *t <= end).collect()
}

/// Empty series, one for each estimator of each flow, in the order of the file.
fn estimates(scenario: &Scenario, many: usize) -> Vec<EstimateSeries> {
    let each = |(flow, f)| {
        estimators(f).map(move |name| EstimateSeries { flow, name: name.clone(), rate_bps: Vec::with_capacity(many) })
    };
    scenario.flows.iter().enumerate().flat_map(each).collect()
}

/// Empty series, one for each station with observers.
fn observed(scenario: &Scenario) -> Vec<ObservedStation> {
    let of = |(station, s): (usize, &StationSpec)| {
        let named = |(name, _): &(String, _)| ObserverSeries { name: name.clone(), ..ObserverSeries::default() };
        let observers: Vec<ObserverSeries> = s.observe.iter().map(named).collect();
        (!observers.is_empty()).then(|| ObservedStation { station, observers, ..ObservedStation::default() })
    };
    scenario.cell.iter().flat_map(|c| c.members().enumerate()).filter_map(of).collect()
}

fn sample(net: &mut Net, series: &mut Series) {
    let now = net.world.now();
    series.time_s.push(now.as_secs_f64());
    for (i, samples) in series.flows.iter_mut().enumerate() {
        let (r, s) = (net.received(i), net.sender(i).unwrap_or_default());
        samples.push(FlowSample {
            delivered_bytes: r.delivered_bytes,
            received_bytes: r.bytes,
            snd_cwnd: s.snd_cwnd,
            snd_ssthresh: s.snd_ssthresh,
            srtt_us: s.srtt_us,
            rttvar_us: s.rttvar_us,
            retrans: s.retrans,
            snd_una_bytes: s.bytes_acked,
        });
    }
    for same in series.estimates.chunk_by_mut(|a, b| a.flow == b.flow) {
        let rates = same.first().map_or_else(Vec::new, |e| net.estimates(e.flow));
        same.iter_mut().zip(rates).for_each(|(e, rate)| e.rate_bps.push(8 * rate));
    }
    if let Some(bss) = net.bss() {
        for at in &mut series.observed {
            let (station, bits) = (at.station as StationId, |rate: Option<u64>| rate.map(|bytes| 8 * bytes));
            for (o, local) in at.observers.iter_mut().zip(bss.estimates(station, now)) {
                o.capacity_bps.push(bits(local.capacity));
                o.available_bps.push(bits(local.available));
            }
            let truth = bss.truth(station, now);
            at.acked_bytes.push(truth.bytes);
            at.contended_ns.push(truth.contended.as_nanos());
            at.idle_ns.push(truth.idle.as_nanos());
        }
    }
    for (i, samples) in series.queues.iter_mut().enumerate() {
        samples.push(net.meter(i).map_or_else(QueueSample::default, |m| {
            let c = m.read(now);
            QueueSample { packets: m.waiting(), offered: c.offered, marked: c.marked, dropped: c.dropped.iter().sum() }
        }));
    }
}

/// All counters at one instant.
#[derive(Debug, Default)]
struct Reading {
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
}

/// All counters of one flow.
#[derive(Debug)]
struct FlowReading {
    sent: SenderCounters,
    received: ReceiverCounters,
    entered: u64,
    arrived: u64,
}

/// All counters of one queue, the packets that wait in it, and the packets lost on the wire behind it, by kind.
#[derive(Debug)]
struct QueueReading {
    counters: QueueCounters,
    waiting: u64,
    lost: [u64; 4],
}

impl Reading {
    fn of(net: &mut Net) -> Reading {
        let now = net.world.now();
        let queues = (0..net.queues().count())
            .map(|i| QueueReading {
                counters: net.meter(i).map(|m| m.read(now)).unwrap_or_default(),
                waiting: net.waiting(i),
                lost: net.lost(i),
            })
            .collect();
        let flow = |i| FlowReading {
            sent: net.sent(i),
            received: net.received(i),
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
        }
    }
}

fn flows(resolved: &Resolved, net: &Net, base: &Reading, last: &Reading, warm: Time, span: f64) -> Vec<Flow> {
    let rate = |bytes: u64| bytes as f64 * 8.0 / span;
    let mut all = Vec::with_capacity(last.flows.len());
    for (i, (now, before)) in last.flows.iter().zip(&base.flows).enumerate() {
        let (s, s0, r, r0) = (&now.sent, &before.sent, &now.received, &before.received);
        let spec = &resolved.scenario.flows[i];
        let rtt = net.rtt(i).cloned().unwrap_or_else(Durations::new);
        let delay = net.delay(i).cloned().unwrap_or_else(Durations::new);
        all.push(Flow {
            name: spec.name.clone(),
            group: resolved.groups[resolved.members[i].group].clone(),
            direction: resolved.members[i].direction.name(),
            tcp: match &spec.ends.transport {
                Transport::Udp(None) => "udp".to_owned(),
                Transport::Udp(Some(control)) => format!("udp+{}", control.cc.entry.name),
                Transport::Tcp(t) => t.name.clone(),
            },
            greedy: spec.ends.traffic.entry.has(Fact::Greedy),
            goodput_bps: rate(r.delivered_bytes - r0.delivered_bytes),
            throughput_bps: rate(r.bytes - r0.bytes),
            sent: s.packets - s0.packets,
            retransmitted: s.retransmitted - s0.retransmitted,
            timeouts: s.timeouts - s0.timeouts,
            entered: now.entered - before.entered,
            arrived: now.arrived - before.arrived,
            losses: Losses::between(s.judged, s0.judged),
            rtt_s: Percentiles::from(&rtt),
            delay_s: Percentiles::from(&delay),
            completion_s: net.completed(i).map(Span::as_secs_f64),
            completions_s: net
                .transfers(i)
                .iter()
                .filter(|(at, _)| *at >= warm)
                .map(|(_, took)| took.as_secs_f64())
                .collect(),
            rtt,
            delay,
        });
    }
    all
}

fn queues(net: &mut Net, base: &Reading, last: &Reading, span: f64) -> Vec<Queue> {
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
            filtered: c.filtered - c0.filtered,
            made: c.made - c0.made,
            lost: now.lost.iter().sum::<u64>() - before.lost.iter().sum::<u64>(),
            queue: Backlog {
                length: (c.packet_ns - c0.packet_ns) as f64 / (span * 1e9),
                delay_s: Percentiles::from(&delay),
            },
            delay,
        });
    }
    all
}

fn transmitters(net: &Net, base: &Reading, last: &Reading) -> Vec<Transmitter> {
    let between = |(name, (now, before)): (&str, (&TransmitterCounters, &TransmitterCounters))| Transmitter {
        name: name.to_owned(),
        // A packet taken before the warm-up ended may have gone back to routing since.
        taken: now.taken.saturating_sub(before.taken),
        delivered: now.delivered - before.delivered,
        lost: now.lost - before.lost,
        carrying: Held { start: before.carrying, end: now.carrying },
    };
    net.transmitters().zip(last.transmitters.iter().zip(&base.transmitters)).map(between).collect()
}

fn air(net: &Net, base: &Reading, last: &Reading) -> Option<Air> {
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
    let ledger: BTreeMap<Word, f64> = match &radio {
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
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::size::MAX_SAMPLES;

    #[test]
    fn the_step_grows_until_flows_and_estimates_together_stay_within_the_bound() {
        let duration = Span::from_secs(1000);
        let m = Measure {
            duration,
            warmup: Span::ZERO,
            sample: Some(Span::from_millis(1)),
            map: false,
            instants: vec![],
            capture: None,
            successes: false,
        };
        let of = |flows, estimates, queues| Sampled { flows, estimates, queues, observed: 0 };
        // A million steps. The flow and its estimators share the bound on samples, so the step grows with their number.
        for (watched, steps) in [(1, 1_000_000), (2, 1_000_000), (4, 500_000), (5, 333_333)] {
            let sampled = of(1, watched - 1, 1);
            assert_eq!(sampled.instants(&m), steps + 3, "{watched}");
            assert!(instants(&m, &sampled).len() as u64 <= steps + 3 && watched * steps <= MAX_SAMPLES);
        }
        for (queues, steps) in [(4, 1_000_000), (5, 500_000), (2001, 1996)] {
            assert_eq!(of(1, 0, queues).instants(&m), steps + 3, "{queues}");
        }
    }
}
