//! The rates that a sender can measure through a symmetric bottleneck with traffic in the other direction: Xu 2005
//! §6.1, eq. 6.8 and 6.9.

use crate::common::*;
use contend_core::cc::{self, Ack, Controller, Response, Signal, Window};
use contend_core::estimate::{self, Estimator};
use contend_core::registry::{Amount, Args, Choice, Entry, Value};
use contend_core::{Cx, Span, Time};
use contend_sim::net::Net;
use contend_sim::scenario::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Capacity of the bottleneck in each direction, bits per second.
const C: u64 = 3_000_000;
/// IP size of a data packet and of an ACK, both with timestamps.
const DATA: u64 = 1052;
const ACK: u64 = 52;
/// Bounds in payload bytes per second: eq. 6.8, and eq. 6.9 with gamma = 1.
const PHI: u64 = C / 8 * 1000 / DATA;
const KAPPA: u64 = C / 8 * 1000 / ACK;

/// AIAD with the estimator phi. It also records the largest values of four estimators.
#[derive(Debug)]
struct Watching {
    inner: Box<dyn Controller>,
    estimators: [Box<dyn Estimator>; 4],
}

static PEAKS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

fn estimator(name: &str, set: &[(&'static str, Value)]) -> Box<dyn Estimator> {
    let c = choose(estimate::REGISTRY, name, set);
    (c.entry.build)(&c.args).unwrap()
}

fn build(_: &Args) -> Result<Box<dyn Controller>, contend_core::Refusal> {
    let literal = [("count", Value::Word("literal".into()))];
    let inner = choose(cc::REGISTRY, "aiad", &literal);
    let estimators = ["ts_are", "are", "westwood", "westwood_nr"].map(|name| estimator(name, &literal));
    Ok(Box::new(Watching { inner: (inner.entry.build)(&inner.args)?, estimators }))
}

impl Controller for Watching {
    fn on_every_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.inner.on_every_ack(cx, w, ack);
        for (e, peak) in self.estimators.iter_mut().zip(&PEAKS) {
            e.on_ack(cx.now, w, ack);
            peak.fetch_max(e.rate(cx.now), Relaxed);
        }
    }
    fn on_ack(&mut self, cx: &mut Cx, w: &mut Window, ack: &Ack) {
        self.inner.on_ack(cx, w, ack);
    }
    fn on_congestion(&mut self, cx: &mut Cx, w: &Window, ack: Option<&Ack>, why: Signal) -> Response {
        self.inner.on_congestion(cx, w, ack, why)
    }
}

static WATCHING: Entry<cc::Build> =
    Entry { name: "watching", cite: "", summary: "", params: &[], formulas: &[], facts: &[], build };

/// Hosts 0 and 3 on both sides of routers 1 and 2; hosts 4 and 5 for the traffic in the other direction.
fn dumbbell() -> Scenario {
    let node = |name: &str, router| NodeSpec { name: name.into(), router };
    let nodes = vec![
        node("s", false),
        node("r1", true),
        node("r2", true),
        node("d", false),
        node("c1", false),
        node("c2", false),
    ];
    let link = |name: &str, from, to, rate, delay, limit| {
        let wire = || WireSpec {
            rate: WireRate::Constant(rate),
            delay: Span::from_millis(delay),
            queue: fifo(limit),
            loss: None,
        };
        LinkSpec { name: name.into(), from: Place::Node(from), to: Place::Node(to), forward: wire(), reverse: wire() }
    };
    let access = |name, from, to| link(name, from, to, 100_000_000, 2, 1000);
    let links = vec![
        link("bottleneck", 1, 2, C, 10, 20),
        access("s", 0, 1),
        access("d", 2, 3),
        access("c1", 1, 4),
        access("c2", 2, 5),
    ];
    let mut tcp = newreno();
    tcp.cc = Choice { entry: &WATCHING, args: Args::default() };
    tcp.recovery = choose(contend_sim::tcp::recovery::REGISTRY, "reno", &[]);
    tcp.window = Amount::Packets(1000);
    tcp.timestamps = Some(Span::from_micros(1));
    let mut forward = bulk("f".into(), Place::Node(0), Place::Node(3), tcp, Start::At(Time::ZERO));
    forward.ends.packet = DATA as u32;
    let mut back = cbr("back".into(), Place::Node(5), Place::Node(4), 1);
    back.ends.packet = 1000;
    let on = |from: u64, to: u64| (at(from as f64), at(to as f64), 2_000_000);
    back.ends.traffic.args.set("schedule", Value::Schedule(vec![on(5, 15), on(25, 35)]));
    back.ends.start = Start::At(Time::ZERO);
    Scenario { seed: 1, cell: None, nodes, links, flows: vec![forward, back] }
}

#[test]
fn the_forward_path_bounds_the_arrival_rate_and_only_the_reverse_path_bounds_the_ack_rate() {
    let s = dumbbell();
    let mut net = Net::new(&s).unwrap();
    net.run_until(at(40.0));
    let [phi, kappa, westwood, nr] = [0, 1, 2, 3].map(|i: usize| PEAKS[i].load(Relaxed));
    // The tick may shorten the 2.8 ms between two packets by one microsecond, the 139 us between two ACKs too.
    assert!(phi <= PHI * 2806 / 2805, "{phi} B/s over {PHI}");
    for k in [kappa, westwood, nr] {
        assert!(k <= KAPPA * 139 / 138, "{k} B/s over {KAPPA}");
    }
    // Compression behind the other traffic raises each rate of ACKs above the capacity of the data's path.
    assert!(
        [kappa, westwood, nr].iter().all(|&k| k > PHI) && phi > PHI * 9 / 10,
        "{phi}, {kappa}, {westwood}, {nr} B/s; capacity {PHI}"
    );
    // The flow itself keeps the bottleneck busy.
    assert!(net.received(0).delivered_bytes > PHI * 40 * 7 / 10, "{}", net.received(0).delivered_bytes);
}
