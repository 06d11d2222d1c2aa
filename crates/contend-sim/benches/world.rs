//! What simulated seconds cost: one cell at 2, 20, 200 and 2,000 stations, one lossy dumbbell.
//!
//! Instruction counts of the same: `benches/instructions.sh`. Timing never decides a test.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../tests/suite/common/mod.rs"]
mod common;

use common::*;
use contend_core::Span;
use contend_core::registry::Value;
use contend_sim::net::Net;
use contend_sim::scenario::*;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

/// A network that has run for 20 s, so that the start is not measured.
fn warm(s: &Scenario) -> Net {
    let mut net = Net::new(s).unwrap();
    net.run_until(at(20.0));
    net
}

/// One flow over 10 Mb/s and 45 ms, then 2 Mb/s with 1 % loss.
fn dumbbell() -> Scenario {
    let node = |name: &str, router| NodeSpec { name: name.into(), router };
    let wire = |rate, ms, loss| WireSpec {
        rate: WireRate::Constant(rate),
        delay: Span::from_millis(ms),
        queue: fifo(20),
        loss,
    };
    let link = |name: &str, a, b, rate, ms, loss| LinkSpec {
        name: name.into(),
        from: Place::Node(a),
        to: Place::Node(b),
        forward: wire(rate, ms, loss),
        reverse: wire(rate, ms, None),
    };
    Scenario {
        seed: 1,
        cell: None,
        nodes: vec![node("a", false), node("r", true), node("b", false)],
        links: vec![
            link("backbone", 0, 1, 10_000_000, 45, None),
            link("lasthop", 1, 2, 2_000_000, 1, loss("bernoulli", &[("p", Value::Number(0.01))])),
        ],
        flows: vec![bulk("f".into(), Place::Node(0), Place::Node(2), newreno(), Start::At(at(0.0)))],
    }
}

fn worlds(c: &mut Criterion) {
    let mut g = c.benchmark_group("cell");
    g.sample_size(10);
    for stations in [2, 20, 200, 2000] {
        let s = down_up(stations / 2, stations / 2, newreno(), phy_g(), MAC, 1);
        // One simulated second carries about 2,000 packets of data.
        g.throughput(Throughput::Elements(2000));
        g.bench_function(format!("{stations} stations, 1 s"), |b| {
            b.iter_batched(|| warm(&s), |mut net| net.run_until(at(21.0)), BatchSize::LargeInput);
        });
    }
    g.finish();
    let s = dumbbell();
    c.bench_function("lossy dumbbell, 10 s", |b| {
        b.iter_batched(|| warm(&s), |mut net| net.run_until(at(30.0)), BatchSize::LargeInput)
    });
}

criterion_group!(benches, worlds);
criterion_main!(benches);
