//! Two saturated stations that do not hear each other, against an independent Monte Carlo.
//!
//! Both send to the station between them. They hear only its answers. The Monte Carlo knows the two backoffs, the
//! frames on the air at the receiver, and its answers; the durations are those of the standard by hand.

use crate::common::*;
use contend_sim::net::Net;
use contend_sim::routing;
use contend_sim::scenario::*;
use contend_sim::wifi::counters::StationCounters;
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use rand::{RngExt as _, SeedableRng};

/// Seeds, and simulated seconds of each.
const SEEDS: u64 = 10;
const SECONDS: u64 = 60;

/// Packets of `ip` bytes at `rate` bits per second, and how long their data frames last.
#[derive(Clone, Copy, Debug)]
struct Case {
    rate: u64,
    ip: u32,
    data_us: u64,
    rts: bool,
}

/// Acknowledged packets per second of both stations, and the share of exchanges that fail.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    throughput: f64,
    failures: f64,
}

/// The two stations in a field: 400 m apart, with a range of 250 m.
fn simulated(case: Case, seed: u64) -> Outcome {
    let mac = MacSpec { rts_threshold: if case.rts { 0 } else { u32::MAX }, ..MAC };
    let mut cell = cell(Phy::new(Standard::B, Preamble::Long), mac, 3, case.rate);
    cell.aps.clear();
    cell.phy.basic = vec![1_000_000];
    cell.field = Some(FieldSpec {
        sense: 250.0,
        routing: Some(choose(routing::REGISTRY, "static", &[])),
        ..field([0.0, 200.0, 400.0].map(|x| Point { x, y: 0.0 }).to_vec())
    });
    let flow = |name: &str, from| {
        let mut flow = cbr(name.into(), Place::Station(from), Place::Station(1), case.rate);
        flow.ends.packet = case.ip;
        flow
    };
    let flows = vec![flow("left", 0), flow("right", 2)];
    let mut net = Net::new(&Scenario { seed, cell: Some(cell), nodes: vec![], links: vec![], flows }).unwrap();
    net.run_until(at(SECONDS as f64));
    let sum = |of: fn(&StationCounters) -> u64| (of(&net.station(0)) + of(&net.station(2))) as f64;
    Outcome { throughput: sum(|c| c.acked) / SECONDS as f64, failures: 1.0 - sum(|c| c.acked) / sum(|c| c.attempts) }
}

// ---- the Monte Carlo ----

/// Microseconds of 802.11b with the long preamble at a basic rate of 1 Mb/s. RTS, CTS, ACK: 192 + 8 x bytes. The
/// sender waits for SIFS + slot + 192 us for an answer.
const SLOT: u64 = 20;
const SIFS: u64 = 10;
const DIFS: u64 = 50;
const RTS: u64 = 192 + 160;
const ANSWER: u64 = 192 + 112;
const TIMEOUT: u64 = SIFS + SLOT + 192;
/// Attempts of a packet: of frames up to the threshold and of RTS, and of data after a CTS.
const SHORT: u32 = 7;
const LONG: u32 = 4;

/// A time interval on the air.
#[derive(Clone, Copy, Default)]
struct OnAir {
    start: u64,
    end: u64,
}

impl OnAir {
    fn meets(self, other: OnAir) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A sender.
#[derive(Clone, Copy)]
struct Sender {
    /// Backoff slots left, which count from `resume` on; `None` while it is in an exchange or hears an answer.
    resume: Option<u64>,
    left: u64,
    window: u64,
    short: u32,
    long: u32,
    /// Its last frame.
    frame: OnAir,
    is_rts: bool,
}

/// What happens next. At equal times the ends of frames come first, then backoffs end, then the receiver answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    AnswerEnds(usize),
    FrameEnds(usize),
    Starts(usize),
    DataStarts(usize),
    AnswerStarts(usize),
}

fn monte_carlo(case: Case, seed: u64) -> Outcome {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let fresh = Sender {
        resume: Some(DIFS),
        left: rng.random_range(0..32),
        window: 32,
        short: 0,
        long: 0,
        frame: OnAir::default(),
        is_rts: false,
    };
    let mut senders = [fresh, Sender { left: rng.random_range(0..32), ..fresh }];
    let (mut answer, mut events) = (OnAir::default(), Vec::<(u64, Event)>::new());
    let (mut attempts, mut successes) = (0u64, 0u64);
    loop {
        let due = |i: usize| Some((senders[i].resume? + senders[i].left * SLOT, Event::Starts(i)));
        let Some((now, event)) = events.iter().copied().chain(due(0)).chain(due(1)).min() else { unreachable!() };
        events.retain(|e| *e != (now, event));
        if now >= SECONDS * 1_000_000 {
            let (done, all) = (successes as f64, attempts as f64);
            return Outcome { throughput: done / SECONDS as f64, failures: 1.0 - done / all };
        }
        match event {
            Event::Starts(i) | Event::DataStarts(i) => {
                let is_new = matches!(event, Event::Starts(_));
                attempts += u64::from(is_new);
                let s = &mut senders[i];
                (s.resume, s.is_rts) = (None, is_new && case.rts);
                s.frame = OnAir { start: now, end: now + if s.is_rts { RTS } else { case.data_us } };
                events.push((s.frame.end, Event::FrameEnds(i)));
            }
            Event::FrameEnds(i) => {
                let s = senders[i];
                if !s.frame.meets(senders[1 - i].frame) && !s.frame.meets(answer) {
                    events.push((now + SIFS, Event::AnswerStarts(i)));
                    continue;
                }
                let s = &mut senders[i];
                if case.rts && !s.is_rts {
                    s.long += 1
                } else {
                    s.short += 1
                }
                s.window = (2 * s.window).min(1024);
                if s.short == SHORT || s.long == LONG {
                    (s.short, s.long, s.window) = (0, 0, 32);
                }
                s.left = rng.random_range(0..s.window);
                s.resume = Some(now + TIMEOUT + DIFS);
            }
            Event::AnswerStarts(i) => {
                answer = OnAir { start: now, end: now + ANSWER };
                events.push((answer.end, Event::AnswerEnds(i)));
                // The other sender hears it, unless it transmits.
                let other = &mut senders[1 - i];
                if let Some(resume) = other.resume.take() {
                    other.left -= now.saturating_sub(resume) / SLOT;
                }
            }
            Event::AnswerEnds(i) => {
                let is_cts = senders[i].is_rts;
                let s = &mut senders[i];
                if is_cts {
                    events.push((now + SIFS, Event::DataStarts(i)));
                } else {
                    successes += 1;
                    (s.short, s.long, s.window) = (0, 0, 32);
                    (s.left, s.resume) = (rng.random_range(0..32), Some(now + DIFS));
                }
                let other = &mut senders[1 - i];
                if other.frame.end <= answer.start && other.resume.is_none() {
                    // A CTS reserves the medium for the data and their ACK.
                    let reserved = if is_cts { SIFS + case.data_us + SIFS + ANSWER } else { 0 };
                    other.resume = Some(now + reserved + DIFS);
                }
            }
        }
    }
}

// ---- the comparison ----

/// Mean of `of`, and its standard error.
fn mean(all: &[Outcome], of: fn(&Outcome) -> f64) -> (f64, f64) {
    let n = all.len() as f64;
    let mean = all.iter().map(of).sum::<f64>() / n;
    let variance = all.iter().map(|o| (of(o) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Data frames by hand: 192 us, and 36 bytes around the IP packet, rounded up to a microsecond.
#[test]
fn hidden_saturated_stations_agree_with_the_monte_carlo() {
    let sizes = [(2_000_000, 1500, 192 + 6144), (11_000_000, 1500, 192 + 1118), (11_000_000, 500, 192 + 390)];
    for ((rate, ip, data_us), rts) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let case = Case { rate, ip, data_us, rts };
        let ours: Vec<Outcome> = (1..=SEEDS).map(|seed| simulated(case, seed)).collect();
        let theirs: Vec<Outcome> = (1..=SEEDS).map(|seed| monte_carlo(case, seed)).collect();
        for (what, of) in [
            ("throughput", (|o: &Outcome| o.throughput) as fn(&Outcome) -> f64),
            ("failures", |o: &Outcome| o.failures),
        ] {
            let ((a, sa), (b, sb)) = (mean(&ours, of), mean(&theirs, of));
            let error = sa.hypot(sb);
            println!("{case:?} {what}: {a:.4} ± {sa:.4} against {b:.4} ± {sb:.4}: {:+.1}", (a - b) / error);
            assert!((a - b).abs() < 3.5 * error, "{case:?} {what}: {a} ± {sa} against {b} ± {sb}");
            assert!(error < 0.02 * b, "{case:?} {what}: the interval of the difference is too wide: {error} of {b}");
        }
    }
}
