//! Effort-limited fairness (Eckhardt and Steenkiste 2000, as described in Starzetz 2006 §2). A station with errors gets
//! more effort, so that its outcome equals that of the other stations, but at most P times its share of effort.
//!
//! w_eff = min(w / (1 - E), P w). The scheduler is WF2Q+.
//!
//! Differences from the source:
//! - The cost is effort: the cost of one attempt / (1 - E), because the MAC retries by itself. With the cost of one
//!   attempt, each retry would be free, and the higher weight would favour the station with errors. A station is
//!   therefore served as in WF2Q+ until 1 / (1 - E) exceeds P, and by effort above that.
//! - E is an exponential average over the access point's attempts to the station. Collisions count as errors, because a
//!   sender cannot distinguish them.

use super::lane::{Cost, Weights};
use super::virtual_time::{Head, Update};
use super::weighted::Weighted;
use super::wf2q::{LIMIT, WEIGHTS};
use super::{AirReport, Args, Backlog, Below, ByReceiver, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::Param;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Source of the algorithm.
pub const CITE: &str = "Eckhardt and Steenkiste 2000 (effort-limited fair scheduling), after Starzetz 2006";
/// What it does.
pub const SUMMARY: &str =
    "WF2Q+ over stations that gives stations with errors more effort; a factor limits the effort.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::number("power", "maximum effort for a station, in multiples of its share")
        .default("2")
        .range(1.0, 1e3)
        .symbol("P"),
    Param::fraction("gain", "weight of an attempt in the average error rate E").default("2%").range(1e-4, 1.0),
    Param::word(
        "cost",
        Cost::WORDS,
        "cost of an attempt. bytes: its bytes; packets: one for each packet; airtime: the airtime of the exchange",
    )
    .default("bytes"),
    WEIGHTS,
    Param::amount("class_limit", "maximum backlog of one station").default("10p").range(1.0, 1e9),
    LIMIT,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("E", "average error rate of the station; 0 at first"),
    symbol("e", "1 for an attempt that failed, 0 for one that was acknowledged"),
    symbol("w", "weight of the station (`weights`)"),
    symbol("l", "cost of one attempt: bytes, 1, or the airtime of the exchange (`cost`)"),
    symbol("a", "attempts that the packet is expected to take"),
    symbol("w_eff", "weight for WF2Q+"),
    symbol("L", "cost for WF2Q+"),
    on("an attempt of the access point to the station ends"),
    eq("E ← E + gain · (e − E)", "Starzetz 2006 §7.2.2"),
    on("a packet becomes the first of its station"),
    eq("a = 1 / (1 − min(E, 0.9))", ""),
    eq("w_eff = w · min(a, P)", ""),
    eq("L = l · a", ""),
    step("the stations share by WF2Q+ as in wf2q, each with the weight `w_eff` and the cost `L`", "§9.2.1"),
    on("an arrival"),
    step("the packet is dropped", "").when("`limit`, or `class_limit` for its station, has no room"),
];

/// The largest error rate that counts. The MAC gives up after a few attempts, so the effort per packet is bounded.
const WORST: f64 = 0.9;

/// Builds the discipline.
///
/// # Errors
/// If a limit has no room for one packet, or a weight belongs to no neighbour or is not above 0.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let effort = Effort {
        power: args.number("power").max(1.0),
        gain: args.number("gain"),
        cost: Cost::new(args),
        weights: Weights::new(args, site)?,
        errors: Vec::new(),
    };
    Ok(Box::new(Elf { effort, stations: Weighted::new(args, Update::Standard)? }))
}

/// WF2Q+ over stations with effort as the cost.
#[derive(Debug)]
pub struct Elf {
    effort: Effort,
    stations: Weighted,
}

#[derive(Debug)]
struct Effort {
    /// P, the power factor.
    power: f64,
    gain: f64,
    cost: Cost,
    weights: Weights,
    /// E of each station.
    errors: Vec<f64>,
}

impl Effort {
    fn head(&self, link: &dyn Link, p: &Packet) -> Head {
        let station = link.neighbour(p);
        let w = self.weights.get(station).unwrap_or(1.0);
        let attempts = 1.0 / (1.0 - self.errors.get(station as usize).copied().unwrap_or(0.0).min(WORST));
        // Starzetz S35: w_eff = min(w / (1 - E), P w).
        Head { weight: w * attempts.min(self.power), cost: self.cost.of(link, p) * attempts }
    }
}

impl Qdisc for Elf {
    fn enqueue(&mut self, _: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        self.stations.enqueue(link.neighbour(&p) as usize, p, |p| self.effort.head(link, p), sink);
    }

    fn dequeue(&mut self, _: &mut Cx, link: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.stations.dequeue(|p| self.effort.head(link, p))
    }

    fn backlog(&self) -> Backlog {
        self.stations.backlog()
    }

    fn hears_air(&self) -> bool {
        true
    }

    fn on_air(&mut self, report: &AirReport) {
        if report.up {
            return;
        }
        let station = report.station as usize;
        let errors = &mut self.effort.errors;
        if station >= errors.len() {
            errors.resize(station + 1, 0.0);
        }
        if let Some(e) = errors.get_mut(station) {
            *e += self.effort.gain * (if report.success { 0.0 } else { 1.0 } - *e);
        }
    }

    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        Some(self)
    }
}

impl ByReceiver for Elf {
    fn serve(&mut self, _: &mut Cx, link: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        self.stations.serve(|p| self.effort.head(link, p), below, sink)
    }

    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        self.stations.hold(link.neighbour(p) as usize, self.effort.head(link, p));
    }

    fn join(&mut self, _: &mut Cx, link: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink) {
        self.stations.join(receiver as usize, |p| self.effort.head(link, p), below, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::*;
    use super::*;
    use crate::registry::Value;
    use crate::time::{Span, Time};
    use proptest::prelude::*;

    /// Of every four attempts to station 1, `bad` fail. Each packet is repeated until it arrives. Returns the packets
    /// of both stations among 3000 arrivals.
    fn outcome(power: f64, bad: u32) -> [u32; 3] {
        // The gain is so small that E stays constant once it is learnt.
        let mut q = made(build, PARAMS, &[("power", Value::Number(power)), ("gain", Value::Number(0.002))]);
        let mut bench = Bench::default();
        let (mut got, mut attempt) = ([0; 3], 0);
        let mut report = |q: &mut dyn Qdisc, station| {
            attempt += u32::from(station == 1);
            let success = station != 1 || attempt % 4 >= bad;
            q.on_air(&AirReport {
                now: Time::ZERO,
                station,
                up: false,
                airtime: Span::ZERO,
                success,
                bytes: 1500,
                waiting: 0,
            });
            success
        };
        (0..8000).for_each(|_| _ = report(&mut *q, 1));
        for _ in 0..3000 {
            (1..3).for_each(|to| (0..2).for_each(|_| bench.push(&mut *q, packet(to, 1500))));
            let to = bench.pop(&mut *q).unwrap().flow.0;
            while !report(&mut *q, to) {}
            got[to as usize] += 1;
        }
        got
    }

    /// S35. Without errors: as in WFQ. With E = 1/2 and P = 2: equal outcome. With E = 3/4 a packet takes four
    /// attempts, but P = 2 pays for two: half the outcome.
    #[test]
    fn effort_is_limited_by_the_power_factor() {
        let close = |got: [u32; 3], first: u32| assert!(got[1].abs_diff(first) <= 15, "{got:?}");
        assert_eq!(outcome(2.0, 0), [0, 1500, 1500]);
        close(outcome(2.0, 2), 1500);
        close(outcome(2.0, 3), 1000);
        // Equal effort: a quarter of the outcome.
        close(outcome(1.0, 3), 600);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_flows_keep_their_order(steps in steps()) {
            conserves(&mut *made(build, PARAMS, &[]), &steps)?;
        }
    }
}
