//! RCP: a FIFO that tells every sender the same rate.
//!
//! The rate follows the spare capacity and the queue: R = R (1 + T/d (alpha (eta C - y) - beta q/d) / (eta C)). At rest
//! N flows get eta C / N each, and nothing waits.
//!
//! - The timer is evaluated when a packet arrives or leaves, see `xcp.rs`.
//! - q is the backlog when the timer is evaluated, y the arrivals since its last evaluation. All packets count; headers
//!   are read and written only on data.

use super::capacity::{CAPACITY, Capacity};
use super::fifo::Fifo;
use super::{Args, Backlog, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::explicit::rcp::{Law, Measured};
use crate::explicit::winf::{Flows, Input, Stamp};
use crate::explicit::{RCP, RCP_PROBE};
use crate::formulas::{Line, eq, on, symbol};
use crate::packet::Packet;
use crate::registry::Param;
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Dukkipati 2007; Barreto 2012 §2.3.3.2, eq. 2.22";
/// What it does.
pub const SUMMARY: &str = "A FIFO that writes one rate for all flows into RCP headers, from spare capacity and queue.";
/// Parameters. Defaults as in RCP's code for ns-2.
pub const PARAMS: &[Param] =
    &[super::fifo::LIMIT, CAPACITY, ALPHA, BETA, ETA, INTERVAL, FIRST_RTT, RTT_GAIN, FIRST_RATE, LEAST, MTU];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("C", "capacity of the link, in byte/s"),
    symbol("R", "rate of every flow, in byte/s"),
    symbol("R_p", "rate in the header of the packet; unlimited at the sender"),
    symbol("y", "what has arrived since the last update, in byte/s"),
    symbol("q", "bytes that wait"),
    symbol("d", "moving average of the round-trip times; `first_rtt` at first"),
    symbol("d_s", "mean of the round-trip times in the headers since the last update"),
    symbol("T", "time since the last update: `min(interval, d)`, at least 1 µs"),
    on("the first packet"),
    eq("R ← first_rate · C", "RCP's code for ns-2"),
    on("an update, after each `T`"),
    eq("d ← d + rtt_gain · (d_s − d)", "").when("a header with a round-trip time came"),
    eq("R ← R · (1 + T / d · (α · (η · C − y) − β · q / d) / (η · C))", "Barreto 2012 eq. 2.22"),
    eq("R ← max(least · mtu / d, min(R, η · C))", "eq. 5.16, 5.17"),
    on("a data packet with a header leaves"),
    eq("R_p ← min(R_p, R)", "§2.3.3.2"),
];

pub(super) const ALPHA: Param =
    Param::number("alpha", "gain of the spare capacity").default("0.4").range(0.0, 2.0).symbol("α");
pub(super) const BETA: Param = Param::number("beta", "gain of the queue").default("0.4").range(0.0, 2.0).symbol("β");
pub(super) const ETA: Param = Param::fraction("eta", "share of the capacity that is to be used, C_w in the thesis")
    .default("95%")
    .range(0.01, 1.0)
    .symbol("η");
pub(super) const INTERVAL: Param =
    Param::time("interval", "longest time between two updates of the rate; at most the mean round-trip time")
        .default("10ms")
        .range(0.0001, 1.0);
pub(super) const FIRST_RTT: Param =
    Param::time("first_rtt", "mean round-trip time before the first packet that knows one")
        .default("200ms")
        .range(0.0001, 10.0);
pub(super) const RTT_GAIN: Param =
    Param::fraction("rtt_gain", "weight of the round-trip times of an interval in the moving average")
        .default("2%")
        .range(0.0001, 1.0);
pub(super) const FIRST_RATE: Param =
    Param::fraction("first_rate", "rate before the first update, as a share of the capacity")
        .default("5%")
        .range(1e-6, 1.0);
pub(super) const LEAST: Param =
    Param::number("least", "least rate in packets per round trip").default("0.01").range(1e-6, 10.0);
pub(super) const MTU: Param =
    Param::amount("mtu", "packet size for the least rate").default("1500B").range(1.0, 65_535.0);

/// Builds the discipline.
///
/// # Errors
/// If `mtu` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Rcp::new(args, Rules { input: Input::Measured, stamp: Stamp::Rate, flows: None, observed: false })?))
}

/// What differs between RCP and RCP-Winf.
#[derive(Debug)]
pub(super) struct Rules {
    /// What counts as input.
    pub input: Input,
    /// How the rate is written into headers.
    pub stamp: Stamp,
    /// The flows that cross the queue, if flows without explicit headers get their share of the capacity.
    pub flows: Option<Flows>,
    /// True if an observer of the node gives capacity and available bandwidth.
    pub observed: bool,
}

/// A queue under RCP.
#[derive(Debug)]
pub(super) struct Rcp {
    queue: Fifo,
    capacity: Capacity,
    rules: Rules,
    law: Law,
    eta: f64,
    longest: Span,
    gain: f64,
    first_rate: f64,
    /// R in bytes per second; `None` before the first packet.
    rate: Option<f64>,
    /// d_0: moving average of the round-trip times in seconds.
    rtt: f64,
    /// Sum and number of the round-trip times of this interval.
    rtts: (f64, f64),
    /// Bytes that arrived in this interval.
    input: f64,
    /// When this interval began and when it ends; it never ends before the first packet.
    began: Time,
    ends: Time,
}

impl Rcp {
    pub(super) fn new(args: &Args, rules: Rules) -> Result<Rcp, Refusal> {
        Ok(Rcp {
            queue: Fifo::new(args.amount("limit")),
            capacity: Capacity::new(args, rules.observed),
            rules,
            law: Law {
                alpha: args.number("alpha"),
                beta: args.number("beta"),
                least: args.number("least"),
                mtu: super::bytes(args, "mtu")? as f64,
            },
            eta: args.number("eta"),
            longest: args.time("interval"),
            gain: args.number("rtt_gain"),
            first_rate: args.number("first_rate"),
            rate: None,
            rtt: args.time("first_rtt").as_secs_f64(),
            rtts: (0.0, 0.0),
            input: 0.0,
            began: Time::ZERO,
            ends: Time::NEVER,
        })
    }

    /// The capacity that RCP may use in bytes per second.
    fn capacity(&self, now: Time, link: &dyn Link) -> f64 {
        self.capacity.of(link) * self.rules.flows.as_ref().map_or(1.0, |f| f.share(now))
    }

    /// Updates the rate as often as is due. On a link that takes no time there is no rate.
    fn catch_up(&mut self, now: Time, link: &dyn Link) {
        let capacity = self.capacity(now, link);
        if capacity.is_infinite() {
            return;
        }
        let target = self.eta * capacity;
        let mut rate = self.rate.unwrap_or(self.first_rate * capacity);
        if self.ends == Time::NEVER {
            self.start(now);
        }
        while self.ends <= now {
            if self.rtts.1 > 0.0 {
                self.rtt += self.gain * (self.rtts.0 / self.rtts.1 - self.rtt);
            }
            let (interval, queue) = ((self.ends - self.began).as_secs_f64(), self.queue.backlog().bytes as f64);
            let measured = self.input / interval;
            let air = self.capacity.air(link, capacity, measured);
            let m = Measured { interval, rtt: self.rtt, input: self.rules.input.of(&air, measured), queue };
            let before = rate;
            rate = self.law.next(rate, target, &m);
            let idle = self.input == 0.0 && rate == before;
            (self.rtts, self.input) = ((0.0, 0.0), 0.0);
            self.start(self.ends);
            if idle && self.ends <= now {
                // No packet came or went: further updates change nothing.
                let step = self.ends - self.began;
                self.start(self.began + step * ((now - self.began).div_floor(step)));
            }
        }
        self.rate = Some(rate);
    }

    /// Begins an interval.
    fn start(&mut self, now: Time) {
        self.began = now;
        self.ends = now + self.longest.min(Span::from_secs_f64(self.rtt)).max(Span::from_micros(1));
    }

    fn has_header(p: &Packet) -> bool {
        matches!(p.explicit_kind(), RCP | RCP_PROBE) && !p.is_reverse()
    }
}

impl Qdisc for Rcp {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        let has = Rcp::has_header(&p);
        if has {
            self.capacity.arrived(link, &p);
        }
        if let Some(flows) = &mut self.rules.flows {
            flows.saw(&p, cx.now);
        }
        self.catch_up(cx.now, link);
        self.input += f64::from(p.size);
        if has && p.explicit.rtt_us > 0 {
            self.rtts = (self.rtts.0 + f64::from(p.explicit.rtt_us) * 1e-6, self.rtts.1 + 1.0);
        }
        self.queue.enqueue(cx, link, p, sink);
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.catch_up(cx.now, link);
        let mut p = self.queue.pop()?;
        if let (true, Some(rate)) = (Rcp::has_header(&p), self.rate) {
            let rate = self.rules.stamp.of(p.explicit.throughput.into(), rate, self.capacity(cx.now, link));
            p.explicit.throughput = libm::round(rate).clamp(1.0, f64::from(u32::MAX)) as u32;
        }
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, conserves, made, packet, steps};
    use super::*;
    use crate::explicit::UNLIMITED;
    use crate::packet::Explicit;
    use crate::registry::Value;
    use proptest::prelude::*;

    fn data(to: u32) -> Packet {
        let mut p = packet(to, 1000);
        p.set_explicit(RCP, Explicit { rtt_us: 100_000, throughput: UNLIMITED, change: 0 });
        p
    }

    proptest! {
        #[test]
        fn packets_are_conserved(steps in steps()) {
            conserves(&mut *made(build, PARAMS, &[]), &steps)?;
        }
    }

    /// Packets at `times` (in ms) through a queue for 1 MB/s. Returns the rates they get.
    fn rates(times: impl Iterator<Item = u64>, polls: &dyn Fn(u64) -> bool) -> alloc::vec::Vec<u32> {
        let mut q = made(build, PARAMS, &[("capacity", Value::Rate(8_000_000))]);
        let mut bench = Bench::default();
        let mut got = alloc::vec::Vec::new();
        for ms in times {
            bench.now = Time::ZERO + Span::from_millis(ms);
            if !polls(ms) {
                bench.push(&mut *q, data(1));
            }
            got.extend(bench.pop(&mut *q).map(|p| p.explicit.throughput));
        }
        got
    }

    #[test]
    fn the_first_packet_gets_the_first_rate_and_a_light_load_the_target() {
        // One packet in 10 ms is a tenth of the capacity.
        let got = rates((0..1000).map(|i| 10 * i), &|_| false);
        assert_eq!((got[0], got[999]), (50_000, 950_000));
    }

    #[test]
    fn updates_that_run_late_give_the_same_rates() {
        let (early, late) = (0..500, 60_000..60_500);
        let paused = rates(early.clone().chain(late.clone()), &|_| false);
        let polled = rates(0..60_500, &|ms| (500..60_000).contains(&ms));
        assert_eq!(paused, polled);
    }

    #[test]
    fn a_link_that_takes_no_time_allows_every_rate() {
        let mut q = made(build, PARAMS, &[]);
        let mut bench = Bench::default();
        for ms in 0..100 {
            bench.now = Time::ZERO + Span::from_millis(ms);
            bench.push(&mut *q, data(0));
            assert_eq!(bench.pop(&mut *q).unwrap().explicit.throughput, UNLIMITED);
        }
    }
}
