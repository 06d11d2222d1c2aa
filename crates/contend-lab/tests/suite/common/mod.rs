//! A made-up outcome for the tests of the writers: every field filled, no simulator needed.

#[path = "../../../../../ci/needs.rs"]
pub mod needs;

use contend_core::{Body, Flags, FlowId, Packet, Sack, Segment, Span, Time};
use contend_lab::experiment::results::{
    Air, Backlog, Channel, ClaimResult, Detail, Drops, Flow, FlowSample, Held, Labels, Measured, Outcome, Percentiles,
    PointKey, Queue, QueueSample, Radio, Roaming, Run, SearchResult, Series, Summary, Transmitter, Wait, Ways,
};
use contend_lab::reading::file::{Along, Log};
use contend_lab::stats::Estimate;
use contend_lab::writing::output::{FigureSpec, ReportContext};
use contend_sim::stats::Durations;
use contend_sim::wifi::access::Category;
use contend_sim::wifi::{AP, Frame, FrameKind, FrameOutcome as Fate, StationId};
use std::collections::BTreeMap;

/// Pseudorandom numbers that are the same in every test run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

/// The properties of the synthetic experiment.
#[derive(Clone, Copy)]
pub struct Shape {
    pub uploads: &'static [u32],
    pub downloads: u32,
    pub seeds: u64,
    pub frames: usize,
    pub seconds: u32,
}

pub const SMALL: Shape = Shape { uploads: &[0, 1, 2, 4, 6], downloads: 6, seeds: 5, frames: 4_000, seconds: 60 };

pub fn context(shape: Shape) -> ReportContext {
    ReportContext {
        command: format!("contend run papers/keceli-2008/fig4.toml --seeds 1..{}", shape.seeds),
        cite: "Keceli, Inan, Ayanoglu 2008, Fig. 4".into(),
        notes: "All stations are near the access point; window 42 packets, one ACK for each data packet. <b>This is \
            not bold.</b>"
            .into(),
        seeds: if shape.seeds == 1 { "1".into() } else { format!("1..{}", shape.seeds) },
        warmup_s: 10.0,
        duration_s: f64::from(shape.seconds),
        figures: vec![FigureSpec {
            title: "Fairness".into(),
            along: Along::Key("flow.1.count".into()),
            log: Log::default(),
            by: None,
            panels: None,
            metrics: vec!["jain".into(), "jain.up".into()],
            points: shape.uploads.iter().map(|up| point(shape, *up)).collect(),
        }],
    }
}

/// The sweep point with this many uploads; without keys when it is the only one.
pub fn point(shape: Shape, up: u32) -> PointKey {
    if shape.uploads.len() > 1 { PointKey::from([("flow.1.count".to_owned(), up.into())]) } else { PointKey::new() }
}

pub fn outcome(shape: Shape) -> Outcome {
    let mut runs = Vec::new();
    for (i, &up) in shape.uploads.iter().enumerate() {
        for seed in 1..=shape.seeds {
            runs.push(run(
                shape,
                point(shape, up),
                up,
                seed,
                if i + 1 == shape.uploads.len() && seed == 1 { shape.frames } else { 0 },
            ));
        }
    }
    let summary = summary(&runs, shape.seeds as usize);
    Outcome {
        version: "0.1.0",
        title: "Two uploads starve ten downloads".into(),
        file: "papers/keceli-2008/fig4.toml".into(),
        interrupted: None,
        warnings: vec![],
        show: vec![],
        checks: vec![],
        keys: vec![],
        labels: Labels::default(),
        seeds: vec![],
        claims: vec![
            claim(
                "H3",
                "2 uploads 9.62 Mb/s in total, 10 downloads 6.09 Mb/s",
                "1.2..2.2",
                Some(1.584),
                "reproduced",
                true,
            ),
            claim(
                "H4",
                "the AP's queue is full from two uploads on",
                "at least 0.9",
                Some(0.712),
                "not reproduced",
                false,
            ),
            claim(
                "H5",
                "fairness falls with each upload",
                "decreasing along flow.1.count",
                Some(0.93),
                "undecided",
                false,
            ),
            claim("H6", "Table 2 and Fig. 5 disagree", "1.35..1.5", None, "contradiction", true),
        ],
        runs,
        summary,
        search: vec![SearchResult {
            point: PointKey::new(),
            key: "ap.queue.limit".into(),
            until: "loss[ap] < 0.01".into(),
            first_with: Some(84.0),
            last_without: Some(83.0),
        }],
    }
}

fn claim(
    id: &str,
    paper: &str,
    expected: &str,
    measured: Option<f64>,
    verdict: &str,
    as_recorded: bool,
) -> ClaimResult {
    ClaimResult {
        id: id.into(),
        paper: paper.into(),
        source: if id == "H5" { "specification" } else { "paper" },
        verdict: verdict.into(),
        recorded: "reproduced".into(),
        as_recorded,
        reason: if verdict == "not reproduced" {
            "the buffer here also holds the frame in service".into()
        } else {
            String::new()
        },
        reading: (id == "H6").then(|| "printed".into()),
        measured: Measured {
            stated: None,
            expected: expected.into(),
            value: measured,
            ci95: measured.map(|m| m * 0.02),
            interval: measured.map(|m| (m * 0.98, m * 1.02)),
            unit: "",
            look: None,
            points: Vec::new(),
        },
    }
}

fn summary(runs: &[Run], seeds: usize) -> Vec<Summary> {
    let mut all = Vec::new();
    for of_point in runs.chunks(seeds) {
        for metric in of_point[0].metrics.keys() {
            let v: Vec<f64> = of_point.iter().map(|r| r.metrics[metric]).collect();
            all.push(Summary::new(of_point[0].point.clone(), metric.clone(), Estimate::of(&v).unwrap()));
        }
    }
    all
}

fn run(shape: Shape, point: PointKey, up: u32, seed: u64, frames: usize) -> Run {
    let mut dice = Dice::new(seed * 100 + u64::from(up));
    let total = 16.2e6 + 4e5 * (dice.unit() - 0.5);
    let share_up = f64::from(up) / f64::from(up + 1) * (0.9 + 0.1 * dice.unit());
    let mut flows = Vec::new();
    for i in 0..shape.downloads + up {
        let down = i < shape.downloads;
        let n = f64::from(if down { shape.downloads } else { up });
        let goodput = total * if down { 1.0 - share_up } else { share_up } / n * (0.8 + 0.4 * dice.unit());
        flows.push(flow(
            &mut dice,
            if down { format!("down.{i}") } else { format!("up.{}", i - shape.downloads) },
            down,
            goodput,
        ));
    }
    let of = |direction: &str| flows.iter().filter(|f| f.direction == direction).map(|f| f.goodput_bps).sum::<f64>();
    let squares: f64 = flows.iter().map(|f| f.goodput_bps.powi(2)).sum();
    let (sum_up, sum_down) = (of("up"), of("down"));
    let jain = (sum_up + sum_down).powi(2) / (squares * flows.len() as f64);
    let metrics = [
        ("goodput.up", sum_up),
        ("goodput.down", sum_down),
        ("goodput.total", sum_up + sum_down),
        ("jain", jain),
        ("jain.up", 0.9 + 0.02 * dice.unit()),
        ("rtt.p95", 0.09),
        ("loss[ap]", 0.01),
    ];
    let stations: Vec<String> =
        ["ap".to_owned()].into_iter().chain(flows.iter().map(|f| format!("sta.{}", f.name))).collect();
    let ends = |(station, f): (StationId, &Flow)| Some(if f.direction == "up" { [station, AP] } else { [AP, station] });
    let ends = (1..).zip(&flows).map(ends).collect();
    let mut delay = Durations::new();
    (0..500).for_each(|_| delay.record(Span::from_micros(1_000 + dice.below(60_000))));
    Run {
        digest: format!("{:016x}", dice.below(u64::MAX)),
        point,
        seed,
        events: 812_000 + dice.below(1_000),
        wall_s: 0.21,
        sim_s: f64::from(shape.seconds),
        warmup_s: 0.0,
        queues: vec![Queue {
            name: "ap".into(),
            offered: 90_000,
            taken: 89_178,
            waiting: Held { start: 10, end: 20 },
            drops: Drops::from_kinds([212, 600, 0, 0]),
            marked: 0,
            marked_l4s: 0,
            marked_classic: 0,
            filtered: 0,
            made: 0,
            lost: 0,
            excess_losses: 0.0,
            queue: Backlog { length: 71.2, delay_s: Percentiles::from(&delay) },
            delay,
        }],
        transmitters: vec![Transmitter {
            name: "ap".into(),
            taken: 89_178,
            delivered: 89_172,
            lost: 6,
            carrying: Held { start: 1, end: 1 },
            busy: None,
        }],
        air: Some(air(&mut dice, &stations)),
        frames_missed: 0,
        metrics: metrics.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
        detail: Detail {
            series: series(&mut dice, &flows, shape.seconds),
            frames: exchange(&mut dice, &flows, frames),
            successes: None,
            channel: Channel { ends, ..Channel::default() },
        },
        bss: vec![0; stations.len()],
        stations,
        contending: None,
        arguments: BTreeMap::new(),
        emulation: None,
        flows,
    }
}

fn flow(dice: &mut Dice, name: String, down: bool, goodput: f64) -> Flow {
    let (mut rtt, mut delay) = (Durations::new(), Durations::new());
    for _ in 0..800 {
        let queueing = if down { 20_000 + dice.below(60_000) } else { 8_000 + dice.below(20_000) };
        rtt.record(Span::from_micros(30_000 + queueing + dice.below(20_000)));
        delay.record(Span::from_micros(15_000 + queueing));
    }
    Flow {
        group: (if down { "down" } else { "up" }).into(),
        name,
        direction: if down { "down" } else { "up" },
        tcp: "newreno".into(),
        greedy: true,
        goodput_bps: goodput,
        throughput_bps: goodput * 1.04,
        sent: (goodput / 240.0) as u64,
        retransmitted: dice.below(60),
        losses: Some(contend_lab::experiment::results::Losses::default()),
        timeouts: Some(dice.below(4)),
        entered: 30_000,
        arrived: 29_000,
        arrived_ce: 12,
        delivered_ce: Some(11),
        rtt_s: Percentiles::from(&rtt),
        delay_s: Percentiles::from(&delay),
        completion_s: None,
        completions_s: Vec::new(),
        unfinished: 0,
        rtt,
        delay,
    }
}

/// Each station does nothing half of the time.
/// A station that changed from the first station to the last.
fn roaming(stations: &[String]) -> Roaming {
    let access_points = (0..2).zip([stations.first(), stations.last()]);
    let access_points = access_points.filter_map(|(t, name)| Some((f64::from(t), name?.clone()))).collect();
    Roaming { roams: 1, away_s: 0.11, access_points }
}

fn radio(stations: &[String]) -> Radio {
    let all = |share: f64| stations.iter().map(|s| (s.clone(), share)).collect();
    Radio { sends: all(0.125), receives: all(0.125), hears: all(0.125), blocked: all(0.125), idle: all(0.5) }
}

fn air(dice: &mut Dice, stations: &[String]) -> Air {
    let weights = [
        ("idle", 2.0),
        ("ifs", 9.0),
        ("backoff", 14.0),
        ("collision", 6.0),
        ("preamble", 12.0),
        ("header", 5.0),
        ("payload", 40.0),
        ("ack", 9.0),
        ("errored", 3.0),
    ];
    let drawn: Vec<(&'static str, f64)> =
        weights.into_iter().map(|(k, w)| (k, w * (0.95 + 0.1 * dice.unit()))).collect();
    let sum: f64 = drawn.iter().map(|d| d.1).sum();
    let ways = |x: f64| {
        let of = || stations.iter().map(|s| (s.clone(), x)).collect();
        Ways { from: of(), to: of() }
    };
    Air {
        frames: 160_000,
        collisions: 5_100,
        rivals: 1.5,
        successes: 900,
        wait: Wait { success: 4.0, collision: 3.0 },
        collision_probability: 0.064,
        retry_drops: 2,
        busy: 0.75,
        airtime: ways(0.75 / stations.len() as f64),
        mpdus: Some(ways(1e5)),
        mpdu_loss: Some(ways(0.125)),
        mean_rate: Some(ways(4e8)),
        mean_mcs: Some(ways(7.5)),
        ledger: drawn.into_iter().map(|(k, w)| (k, w / sum)).collect(),
        radio: Some(radio(stations)),
        routing_drops: Some([("no_route", 3), ("ttl", 0)].into()),
        roaming: stations.last().map(|name| [(name.clone(), roaming(stations))].into()),
    }
}

fn series(dice: &mut Dice, flows: &[Flow], seconds: u32) -> Series {
    let mut s = Series { time_s: (0..=seconds * 10).map(|i| f64::from(i) * 0.1).collect(), ..Series::default() };
    for f in flows {
        let (mut bytes, mut cwnd) = (0.0, 2.0_f64);
        let samples = s.time_s.iter().map(|_| {
            let sample = FlowSample {
                delivered_bytes: bytes as u64,
                received_bytes: (bytes * 1.04) as u64,
                snd_cwnd: cwnd as u32,
                snd_ssthresh: 21,
                srtt_us: (40_000.0 + cwnd * 1_400.0) as u32,
                rttvar_us: 4_000,
                sent: (bytes / 1448.0) as u64,
                retrans: 0,
                snd_una_bytes: bytes as u64,
            };
            bytes += f.goodput_bps / 80.0 * (0.4 + 1.2 * dice.unit());
            cwnd = if dice.below(90) == 0 { (cwnd / 2.0).max(2.0) } else { (cwnd + 0.4).min(42.0) };
            sample
        });
        s.flows.push(samples.collect());
    }
    let packets = s.time_s.iter().map(|t| (70.0 + 25.0 * (t / 3.0).sin() + 6.0 * dice.unit()) as u64);
    s.queues = vec![packets.map(|packets| QueueSample { packets, ..QueueSample::default() }).collect()];
    s
}

/// Data, MAC ACKs and TCP acknowledgments with collisions, a handshake, and now and then a lost segment; 802.11g at 54
/// Mb/s.
fn exchange(dice: &mut Dice, flows: &[Flow], n: usize) -> Vec<Frame> {
    let mut air = Exchange { frames: Vec::with_capacity(n + 8), now: Time::from_nanos(28_000), sequence: 0 };
    let mut state = vec![(0u64, 0u64, false); flows.len()]; // next byte, first missing byte, opened
    while !flows.is_empty() && air.frames.len() < n {
        let i = dice.below(flows.len() as u64) as usize;
        let (sender, receiver) =
            if flows[i].direction == "down" { (AP, i as StationId + 1) } else { (i as StationId + 1, AP) };
        let (next, missing, open) = state[i];
        let ts = (air.now.as_nanos() / 1_000_000) as u32;
        let plain = Segment {
            window: 60_000,
            window_scale: 2,
            tsval: ts,
            tsecr: ts.saturating_sub(30),
            timestamps: true,
            ..Segment::default()
        };
        if !open {
            let syn = Segment { flags: Flags::SYN, tsecr: 0, ..plain };
            air.send(dice, sender, receiver, packet(i, false, 60, syn), false);
            air.send(
                dice,
                receiver,
                sender,
                packet(i, true, 60, Segment { flags: Flags::SYN.with(Flags::ACK), ack: 1, ..plain }),
                false,
            );
            air.send(
                dice,
                sender,
                receiver,
                packet(i, false, 52, Segment { flags: Flags::ACK, seq: 1, ack: 1, ..plain }),
                false,
            );
            state[i] = (1, 1, true);
            continue;
        }
        let lost = missing == next && dice.below(40) == 0;
        let data = Segment { flags: Flags::ACK, seq: next, ack: 1, len: 1_448, ..plain };
        air.send(dice, sender, receiver, packet(i, false, 1_500, data), lost);
        let next = next + 1_448;
        let missing = if lost || missing + 1_448 < next { missing } else { next };
        let mut ack = Segment { flags: Flags::ACK, seq: 1, ack: missing, ..plain };
        if missing < next {
            let from = if lost { 0 } else { missing + 1_448 };
            if from > 0 {
                ack.sack = Sack::NONE;
                ack.sack.push((from - missing) as u32, (next - missing) as u32);
                air.send(dice, receiver, sender, packet(i, true, 64, ack), false);
            }
            if from > 0 && dice.below(3) == 0 {
                let again = Segment { flags: Flags::ACK, seq: missing, ack: 1, len: 1_448, copy: 1, ..plain };
                air.send(dice, sender, receiver, packet(i, false, 1_500, again), false);
                state[i] = (next, next, true);
                continue;
            }
        } else {
            air.send(dice, receiver, sender, packet(i, true, 52, ack), false);
        }
        state[i] = (next, missing, true);
    }
    air.frames.truncate(n);
    air.frames
}

struct Exchange {
    frames: Vec<Frame>,
    now: Time,
    sequence: u16,
}

impl Exchange {
    /// One packet: perhaps a collision first, then the frame and its ACK; a lost one is corrupted and given up.
    fn send(&mut self, dice: &mut Dice, from: StationId, to: StationId, p: Packet, lost: bool) {
        self.sequence = (self.sequence + 1) % 4096;
        let bytes = p.size + 36;
        let air = Span::from_nanos(26_000 + 4_000 * u64::from(22 + 8 * bytes).div_ceil(216));
        let mut frame = Frame {
            start: self.now,
            end: self.now + air,
            from,
            to,
            kind: FrameKind::Data,
            category: Category::Be,
            outcome: Fate::Received,
            rate: 54_000_000,
            mode: None,
            retry: 0,
            sequence: self.sequence,
            duration: Span::from_micros(44),
            bytes,
            packet: Some(p),
            more: contend_sim::wifi::More::Nothing,
            origin: None,
        };
        if dice.below(15) == 0 {
            let other =
                Frame { from: if from == 2 { 1 } else { 2 }, to: AP, sequence: 7, packet: None, bytes: 90, ..frame };
            self.frames.extend([
                Frame { outcome: Fate::Collided, ..frame },
                Frame { outcome: Fate::Collided, end: self.now + Span::from_micros(42), ..other },
            ]);
            self.now += air + Span::from_micros(50 + 9 * dice.below(31));
            frame = Frame { start: self.now, end: self.now + air, retry: 1, ..frame };
        }
        if lost {
            self.frames.push(Frame { outcome: Fate::Errored, ..frame });
            self.now += air + Span::from_micros(50 + 9 * dice.below(31));
            return;
        }
        self.frames.push(frame);
        let start = frame.end + Span::from_micros(10);
        let end = start + Span::from_micros(34);
        self.frames.push(Frame {
            start,
            end,
            from: to,
            to: from,
            kind: FrameKind::Ack,
            category: Category::Be,
            rate: 24_000_000,
            retry: 0,
            bytes: 14,
            packet: None,
            duration: Span::ZERO,
            ..frame
        });
        self.now = end + Span::from_nanos(28_000 + 9_000 * dice.below(16) + dice.below(2));
    }
}

fn packet(flow: usize, reverse: bool, size: u32, s: Segment) -> Packet {
    let p = Packet::new(FlowId(flow as u32), size, Time::ZERO, Body::Tcp(s));
    if reverse { p.reversed() } else { p }
}

/// The path of a program, if this machine has it.
pub fn program(name: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join(name)).find(|p| p.is_file())
}
