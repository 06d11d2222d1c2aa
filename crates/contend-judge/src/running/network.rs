//! One run: a resolved scenario and a seed become a [`Run`].
//!
//! The run stops at each instant at which something is read: the end of the warm-up, samples, and the ends of claims'
//! windows. A result is the difference between two readings of counters that only grow. So measuring does not change
//! the run.

mod reading;

use contend_core::{Packet, Refusal, Span, Time};
use contend_experiment::map::MOST_INSTANTS;
use contend_experiment::point::{Member, Resolved};
use contend_experiment::results::{
    Channel, DataSample, DataSeries, Detail, Emulation, EstimateSeries, FlowSample, FlowSeries, Kept, KeptSeries,
    ObservedStation, ObserverSeries, PointKey, QueueSample, QueueSeries, Run, Series, Successes,
};
use contend_experiment::size::{CaptureWindow, Measure, Sampled, estimators};
use contend_sim::net::Net;
use contend_sim::scenario::{CellSpec, Scenario, StationSpec};
use contend_sim::wifi::bss::Bss;
use contend_sim::wifi::{Frame, FrameLog, Mpdus, StationId};
use reading::{Reading, air, flows, queues, transmitters};
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

    /// How often a run is made at most, until it is faithful.
    fn attempts(&self) -> u32 {
        1
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

/// Runs `resolved` with `seed` on `engine`; again, if it was not faithful, as often as the engine allows. The last
/// attempt counts. `stop` is checked regularly: when it is set, the run ends early and returns `Ok(None)`.
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
    for attempt in 1.. {
        let mut ran = attempted(resolved, point, seed, measure, engine, stop)?;
        if let Some(e) = ran.as_mut().and_then(|run| run.emulation.as_mut()) {
            e.attempts = attempt;
            if !e.late.is_empty() && attempt < engine.attempts() && !stop.load(Ordering::Relaxed) {
                continue;
            }
        }
        return Ok(ran);
    }
    Ok(None)
}

fn attempted(
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
    let sampled = Sampled::of(&scenario);
    let instants = instants(measure, &sampled);
    let many = instants.iter().filter(|(_, sampled)| *sampled).count();
    let mut series = Series {
        time_s: Vec::with_capacity(many),
        flows: scenario.flows.iter().map(|_| FlowSeries::with_capacity(many)).collect(),
        queues: net.queues().map(|_| QueueSeries::with_capacity(many)).collect(),
        successes: vec![],
        estimates: estimates(&scenario, many),
        observed: observed(&scenario),
        data: data(&sampled, many),
        kept: kept(&mut net, many),
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
            // Ctrl-C within the warm-up: nothing was measured.
            Advanced::Ended if stop.load(Ordering::Relaxed) => return Ok(None),
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
        transmitters: transmitters(&net, &base, &last, span),
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

/// A run of `resolved` in which no time passes: it has the names of all flows, queues and stations.
///
/// # Errors
/// As [`run`].
pub(crate) fn names(resolved: &Resolved, point: &PointKey) -> Result<Run, Refusal> {
    let never = AtomicBool::new(false);
    let ran = run(resolved, point, 1, &Measure::default(), &Simulated, &never)?;
    ran.ok_or_else(|| Refusal::from("a run in which no time passes was stopped".to_owned()))
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
        messages: packets.filter(|p| p.is_message()).filter_map(message).collect(),
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

/// Empty series of the data of each station, if they are kept.
fn data(sampled: &Sampled, many: usize) -> Vec<[DataSeries; 2]> {
    (0..sampled.data / 2).map(|_| [0; 2].map(|_| DataSeries::with_capacity(many))).collect()
}

/// Empty series of what controllers and the laws of queues keep.
fn kept(net: &mut Net, many: usize) -> Vec<KeptSeries> {
    let (flows, queues) = (net.flows(), net.queues().count());
    let mut all = Vec::new();
    for what in Kept::ALL {
        let members = if what == Kept::Probability { queues } else { flows };
        let keeps = (0..members).filter(|of| keeps(net, what, *of).is_some());
        all.extend(keeps.map(|of| KeptSeries { what, of, values: Vec::with_capacity(many) }));
    }
    all
}

/// What flow or queue number `of` keeps now.
fn keeps(net: &mut Net, what: Kept, of: usize) -> Option<f64> {
    match what {
        Kept::Alpha => net.marks(of)[0],
        Kept::Score => net.marks(of)[1],
        Kept::Probability => net.probability(of),
    }
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
            sent: net.sent(i).packets,
            retrans: s.retrans,
            snd_una_bytes: s.bytes_acked,
        });
    }
    for one in &mut series.kept {
        one.values.push(keeps(net, one.what, one.of).unwrap_or(0.0));
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
    for (station, ways) in (0..).zip(&mut series.data) {
        let now = net.bss().and_then(|bss| bss.mpdus(station)).unwrap_or_default();
        for (samples, Mpdus { sent, acked, kbps, with_mcs, mcs }) in ways.iter_mut().zip(now) {
            samples.push(DataSample { sent, acked, kbps, with_mcs, mcs });
        }
    }
    for (i, samples) in series.queues.iter_mut().enumerate() {
        samples.push(net.meter(i).map_or_else(QueueSample::default, |m| {
            let c = m.read(now);
            QueueSample { packets: m.waiting(), offered: c.offered, marked: c.marked, dropped: c.dropped.iter().sum() }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contend_experiment::size::MAX_SAMPLES;

    #[test]
    fn the_step_grows_until_flows_and_estimates_together_stay_within_the_bound() {
        let duration = Span::from_secs(1000);
        let m = Measure { duration, sample: Some(Span::from_millis(1)), ..Measure::default() };
        let of = |flows, estimates, queues| Sampled { flows, estimates, queues, observed: 0, data: 0 };
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
