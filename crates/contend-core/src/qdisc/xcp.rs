//! XCP: a FIFO that tells every sender by how much to change its throughput.
//!
//! Once in each control interval, a mean round-trip time, the efficiency controller decides by how much the aggregate
//! changes: F = alpha (C - y) - beta q / d. The fairness controller gives an increase to all flows alike and takes a
//! decrease in proportion to their rates; a share gamma of the traffic moves even if F is zero.
//!
//! - Timers are evaluated when a packet arrives or leaves. The state that they read does not change in between, so the
//!   result is that of real timers, except that the estimate of an observer (XCP-Winf) is read at the evaluation. The
//!   first timers are drawn within 20 % of their interval, so that queues are not synchronised (ns-2: from a normal
//!   distribution).
//! - All packets count as input; headers are read and written only on data. With `apart`, as in ns-2, packets without a
//!   header wait in two queues of their own, those of TCP and all others, and count as flows only (eq. 5.22). The three
//!   queues take turns, packet by packet. In a field routing messages and ARP are among the others, so they pass data.
//! - The queue q is the smallest backlog in max(2 ms, (d - backlog / C) / 2), as in ns-2. In a departure, the packet
//!   that leaves still counts.

use super::capacity::{CAPACITY, Capacity};
use super::fifo::Fifo;
use super::{Args, Backlog, Link, Qdisc, Sink, Site};
use crate::Cx;
use crate::Refusal;
use crate::explicit::winf::{Air, Flows, Load};
use crate::explicit::{self, xcp::Shares, xcp_b::Blind};
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use rand::RngExt as _;

/// Source of the algorithm.
pub const CITE: &str = "Katabi, Handley, Rohrs 2002; Barreto 2012 §2.3.3.1; ns-2 Queue/XCP";
/// What it does.
pub const SUMMARY: &str = "A FIFO that writes into XCP headers by how much each sender changes its rate, from spare \
    capacity and persistent queue.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    CAPACITY,
    ALPHA,
    BETA,
    GAMMA,
    FIRST_INTERVAL,
    MAX_INTERVAL.default("1s"),
    MIN_INTERVAL,
    MIN_QUEUE_INTERVAL,
    APART,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("s", "size of the packet, in bytes"),
    symbol("X", "throughput of its sender, from its header, in byte/s"),
    symbol("RTT", "round-trip time from its header"),
    symbol("f_h", "change of throughput in its header, in byte/s: what the sender asks for"),
    symbol("φ", "bytes that arrived in this interval"),
    symbol("Y", "sum of `s / X`, TH_inverse"),
    symbol("Γ", "sum of round-trip times, weighted by `s / X`"),
    symbol("T", "control interval; `first_interval` at first, up to 20 % more or less for the first timer"),
    symbol("C", "capacity of the link, in byte/s"),
    symbol("y", "input, in byte/s"),
    symbol("d", "mean round-trip time"),
    symbol("b", "bytes that wait, with the packet that leaves"),
    symbol("q", "persistent queue: smallest backlog of the last queue interval, in bytes"),
    symbol("q_min", "smallest backlog of this queue interval so far, in bytes"),
    symbol("F", "change of the aggregate, in byte/s"),
    symbol("h", "C_phi: traffic that is shuffled between flows, in byte/s"),
    symbol("P", "positive feedback that is not yet given out, in byte/s"),
    symbol("N", "negative feedback that is not yet given out, in byte/s"),
    symbol("p_f", "positive feedback for each unit of `s / X`"),
    symbol("n_f", "negative feedback for each byte"),
    symbol("f_p", "positive feedback of the packet"),
    symbol("f_n", "negative feedback of the packet"),
    on("the end of a control interval"),
    eq("y = φ / T", "Barreto 2012 §2.3.3.1"),
    eq("d ← Γ / Y", "").when("headers came"),
    eq("d ← first_interval", "ns-2 Queue/XCP").when("otherwise"),
    eq("F = α · (C − y) − β · q / d", "eq. 2.20"),
    eq("h = max(0, γ · y − |F|)", "Katabi et al. 2002"),
    eq("P ← h + max(0, F)", "").when("`φ > 0`; otherwise 0"),
    eq("N ← h + max(0, −F)", "").when("`φ > 0`; otherwise 0"),
    eq("p_f ← P / Y", "eq. 5.6").when("`Y > 0`; otherwise `P`"),
    eq("n_f ← N / φ", "eq. 5.7").when("`φ > 0`; otherwise 0"),
    step("`φ`, `Y` and `Γ` begin again at 0", ""),
    eq("T ← max(d, min_interval)", ""),
    on("the end of a queue interval, which lasts `max(min_queue_interval, (d − b / C) / 2)`"),
    step("`q ← q_min`, `q_min ← b`", "eq. 5.11"),
    on("an arrival"),
    step("it joins the queue of other TCP or that of all others, and nothing else happens", "ns-2 Queue/XCP")
        .when("`apart` and it has no header"),
    eq("φ ← φ + s", "Table 5.1"),
    eq("Y ← Y + s / X", "eq. 5.2").when("it is data with a header that has a round-trip time"),
    eq("Γ ← Γ + min(RTT, max_interval) · s / X", "eq. 5.3, 5.4").when("it is such a packet"),
    on("a departure"),
    step("the three queues take turns, packet by packet, and an empty one is passed over", "ns-2 Queue/XCP")
        .when("`apart`"),
    eq("q_min ← min(q_min, b)", "eq. 5.11"),
    eq("f_h ← 0", "").when("the header has no round-trip time; this is then all"),
    eq("f_p = min(p_f · s / X, P)", "eq. 5.8"),
    eq("f_n = min(n_f · s, N)", "eq. 5.9"),
    step("the sender asks for less: `f_n ← min(f_p − f_h, N)`, `f_p ← f_h + f_n`", "ns-2 Queue/XCP")
        .when("`f_h < f_p − f_n`"),
    eq("f_h ← f_p − f_n", "eq. 5.10").when("otherwise"),
    step("`P ← max(0, P − f_p)`, and `p_f ← 0` if nothing is left", ""),
    step("`N ← max(0, N − f_n)`, and `n_f ← 0` if nothing is left", ""),
];

pub(super) const ALPHA: Param =
    Param::number("alpha", "gain of the spare capacity").default("0.4").range(0.0, 2.0).symbol("α");
pub(super) const BETA: Param =
    Param::number("beta", "gain of the persistent queue").default("0.226").range(0.0, 2.0).symbol("β");
pub(super) const GAMMA: Param =
    Param::number("gamma", "share of the traffic that moves between flows in each interval")
        .default("0.1")
        .range(0.0, 1.0)
        .symbol("γ");
pub(super) const FIRST_INTERVAL: Param =
    Param::time("first_interval", "control interval before the first round-trip time, and without headers")
        .default("50ms")
        .range(0.001, 10.0);
pub(super) const MAX_INTERVAL: Param =
    Param::time("max_interval", "longest control interval, and largest round-trip time that counts").range(0.001, 10.0);
pub(super) const MIN_INTERVAL: Param =
    Param::time("min_interval", "shortest control interval").default("1ms").range(1e-5, 1.0);
pub(super) const MIN_QUEUE_INTERVAL: Param =
    Param::time("min_queue_interval", "shortest interval in which the smallest queue is taken")
        .default("2ms")
        .range(1e-5, 1.0);

pub(super) const APART: Param = Param::flag(
    "apart",
    "true if packets without a header wait in queues of their own, those of TCP and all others, which take turns with \
        the packets that have one (ns-2); each queue has the limit",
)
.default("false");

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let rules = Rules { aggregate: Aggregate::Load(Load::Used), own_throughput: true, flows: None };
    Ok(Box::new(Xcp::new(args, Capacity::new(args, false), rules)))
}

/// What differs between XCP, XCP-Winf and XCP-b.
#[derive(Debug)]
pub(super) struct Rules {
    /// How the change of the aggregate is found.
    pub aggregate: Aggregate,
    /// True if feedback depends on the throughput of the packet's sender; false if it depends on the capacity.
    pub own_throughput: bool,
    /// The flows that cross the queue, if flows without explicit headers get their share of the capacity.
    pub flows: Option<Flows>,
}

/// How the change of the aggregate is found.
#[derive(Debug)]
pub(super) enum Aggregate {
    /// From capacity and load.
    Load(Load),
    /// From the change of the queue's length.
    Queue {
        /// The law.
        law: Blind,
        /// True if the smallest backlog of an interval counts; false if the backlog at its end counts.
        persistent: bool,
    },
}

/// A queue under XCP.
#[derive(Debug)]
pub(super) struct Xcp {
    queue: Fifo,
    /// The queues of packets without a header, if they have their own.
    apart: Option<Apart>,
    capacity: Capacity,
    rules: Rules,
    alpha: f64,
    beta: f64,
    gamma: f64,
    first: Span,
    /// Seconds.
    max_rtt: f64,
    min: Span,
    min_queue: Span,
    shares: Shares,
    /// d: mean round-trip time of the last interval in seconds.
    rtt: f64,
    /// T_e: the present control interval.
    interval: Span,
    /// When it ends; never before the first packet.
    control_at: Time,
    /// When the present interval for the smallest queue ends.
    queue_at: Time,
    /// q: the smallest backlog of the last interval in bytes.
    persistent: f64,
    /// The smallest backlog of this interval so far in bytes.
    least: f64,
    /// The estimate of the link from the last interval.
    air: Air,
}

/// Packets without a header, in queues of their own.
#[derive(Debug)]
struct Apart {
    /// Those of TCP, and all others.
    queues: [Fifo; 2],
    /// Whose turn is next: 0 for the packets with a header, then these queues.
    turn: usize,
}

impl Apart {
    fn new(limit: Amount) -> Apart {
        Apart { queues: [Fifo::new(limit), Fifo::new(limit)], turn: 0 }
    }

    fn queue_of(&mut self, p: &Packet) -> &mut Fifo {
        &mut self.queues[usize::from(p.tcp().is_none())]
    }

    /// The next packet, if it is the turn of one without a header. `with_header`: one with a header waits.
    fn serve(&mut self, with_header: bool) -> Option<Packet> {
        for turn in (0..3).map(|i| (self.turn + i) % 3) {
            let p = if turn > 0 { self.queues[turn - 1].pop() } else { None };
            if p.is_some() || (turn == 0 && with_header) {
                self.turn = (turn + 1) % 3;
                return p;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        let [tcp, others] = self.queues.each_ref().map(Fifo::backlog);
        tcp + others
    }
}

impl Xcp {
    pub(super) fn new(args: &Args, capacity: Capacity, rules: Rules) -> Xcp {
        let first = args.time("first_interval");
        Xcp {
            queue: Fifo::new(args.amount("limit")),
            apart: args.flag("apart").then(|| Apart::new(args.amount("limit"))),
            capacity,
            rules,
            alpha: args.number("alpha"),
            beta: args.number("beta"),
            gamma: args.number("gamma"),
            first,
            max_rtt: args.time("max_interval").as_secs_f64(),
            min: args.time("min_interval"),
            min_queue: args.time("min_queue_interval"),
            shares: Shares::default(),
            rtt: first.as_secs_f64(),
            interval: first,
            control_at: Time::NEVER,
            queue_at: Time::NEVER,
            persistent: 0.0,
            least: 0.0,
            air: Air { capacity: f64::INFINITY, available: f64::INFINITY },
        }
    }

    /// Runs the timers that are due.
    fn catch_up(&mut self, cx: &mut Cx, link: &dyn Link) {
        if self.control_at == Time::NEVER {
            let mut soon = || cx.now + Span::from_secs_f64(self.first.as_secs_f64() * cx.rng.random_range(0.8..1.2));
            (self.queue_at, self.control_at) = (soon(), soon());
        }
        while self.queue_at.min(self.control_at) <= cx.now {
            if self.queue_at <= self.control_at {
                self.queue_timer(link)
            } else {
                self.control_timer(link)
            }
            let waiting = self.queue.backlog().bytes as f64;
            let still = self.persistent == waiting && self.least == waiting && self.interval == self.first;
            let still = still
                && match &self.rules.aggregate {
                    Aggregate::Load(_) => true,
                    Aggregate::Queue { law, .. } => law.rests(waiting),
                };
            if self.shares.is_empty() && still {
                // No packet came or went, so further timers change nothing.
                let queue_interval = self.queue_interval(link);
                for (at, step) in [(&mut self.control_at, self.first), (&mut self.queue_at, queue_interval)] {
                    if *at <= cx.now {
                        *at += step * ((cx.now - *at).div_floor(step) + 1);
                    }
                }
            }
        }
    }

    fn control_timer(&mut self, link: &dyn Link) {
        let input = self.shares.input() / self.interval.as_secs_f64();
        self.rtt = self.shares.mean_rtt().unwrap_or(self.first.as_secs_f64());
        let share = self.rules.flows.as_ref().map_or(1.0, |f| f.share(self.control_at));
        let capacity = self.capacity.of(link) * share;
        self.air = self.capacity.air(link, capacity, input);
        let (change, traffic) = match &mut self.rules.aggregate {
            Aggregate::Load(load) => {
                // Barreto 2012 eq. 2.20, 5.5.
                let (spare, traffic) = load.spare_and_traffic(&self.air, input);
                (self.alpha * spare - self.beta * self.persistent / self.rtt, traffic)
            }
            Aggregate::Queue { law, persistent } => {
                let queue = if *persistent { self.persistent } else { self.queue.backlog().bytes as f64 };
                (law.change(self.alpha, self.beta, queue, self.rtt), input)
            }
        };
        self.shares.allot(change, (self.gamma * traffic - change.abs()).max(0.0));
        self.interval = Span::from_secs_f64(self.rtt).max(self.min);
        self.control_at += self.interval;
    }

    fn queue_timer(&mut self, link: &dyn Link) {
        (self.persistent, self.least) = (self.least, self.queue.backlog().bytes as f64);
        self.queue_at += self.queue_interval(link);
    }

    /// The interval in which the smallest backlog is taken.
    fn queue_interval(&self, link: &dyn Link) -> Span {
        // Eq. 5.11 as ns-2 has it.
        let next = (self.rtt - self.queue.backlog().bytes as f64 / self.capacity.of(link)) / 2.0;
        Span::from_secs_f64(next.max(0.0)).max(self.min_queue)
    }

    /// Size of `p` divided by the throughput of its sender, in seconds; `None` without a header to read.
    fn inverse(&self, p: &Packet) -> Option<f64> {
        let has = p.explicit_kind() == explicit::XCP && !p.is_reverse();
        let throughput = if self.rules.own_throughput || self.air.capacity.is_infinite() {
            f64::from(p.explicit.throughput.max(1))
        } else {
            // Eq. 5.2, 5.3, 5.8 as printed.
            self.air.capacity
        };
        has.then(|| f64::from(p.size) / throughput)
    }
}

impl Qdisc for Xcp {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        self.catch_up(cx, link);
        if let Some(flows) = &mut self.rules.flows {
            flows.saw(&p, cx.now);
        }
        if let Some(apart) = self.apart.as_mut().filter(|_| p.explicit_kind() == 0) {
            return apart.queue_of(&p).enqueue(cx, link, p, sink);
        }
        self.shares.arrived(p.size.into());
        if let Some(inverse) = self.inverse(&p) {
            self.capacity.arrived(link, &p);
            if p.explicit.rtt_us > 0 {
                self.shares.counted(inverse, (f64::from(p.explicit.rtt_us) * 1e-6).min(self.max_rtt));
            }
        }
        self.queue.enqueue(cx, link, p, sink);
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.catch_up(cx, link);
        let with_header = self.queue.backlog().packets > 0;
        if let Some(p) = self.apart.as_mut().and_then(|apart| apart.serve(with_header)) {
            return Some(p);
        }
        self.least = self.least.min(self.queue.backlog().bytes as f64);
        let mut p = self.queue.pop()?;
        if let Some(inverse) = self.inverse(&p) {
            let mut header = self.shares.stamp(p.size.into(), inverse, p.explicit);
            if let Aggregate::Load(Load::Literal | Load::Available) = self.rules.aggregate {
                // §5.3.1: no packet gets more than the available bandwidth.
                header.change = header.change.min(self.air.available.min(f64::from(i32::MAX)) as i32);
            }
            p.set_explicit(explicit::XCP, header);
        }
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog() + self.apart.as_ref().map_or(Backlog::default(), Apart::backlog)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::{Bench, args, conserves, made, packet, steps};
    use super::*;
    use crate::packet::Explicit;
    use crate::registry::Value;
    use proptest::prelude::*;

    fn data(to: u32, throughput: u32) -> Packet {
        let mut p = packet(to, 1000);
        p.set_explicit(explicit::XCP, Explicit { rtt_us: 100_000, throughput, change: i32::MAX });
        p
    }

    proptest! {
        #[test]
        fn packets_are_conserved(steps in steps()) {
            for apart in [false, true] {
                conserves(&mut *made(build, PARAMS, &[("apart", Value::Bool(apart))]), &steps)?;
            }
        }
    }

    #[test]
    fn apart_packets_without_a_header_take_turns_and_count_for_nothing() {
        let mut q = made(build, PARAMS, &[("apart", Value::Bool(true)), ("limit", Value::Amount(Amount::Packets(3)))]);
        let mut bench = Bench::default();
        let message =
            |size| Packet::new(crate::packet::FlowId(9), size, Time::ZERO, crate::packet::Body::Udp { seq: 0 });
        (0..4).for_each(|_| bench.push(&mut *q, data(1, 500_000)));
        (0..2).for_each(|i| bench.push(&mut *q, message(10 + i)));
        (0..2).for_each(|i| bench.push(&mut *q, packet(2, 100 + i)));
        assert_eq!(q.backlog().packets, 7, "each queue has a limit of its own");
        let sizes: alloc::vec::Vec<u32> = core::iter::from_fn(|| bench.pop(&mut *q)).map(|p| p.size).collect();
        assert_eq!(sizes, [1000, 100, 10, 1000, 101, 11, 1000]);
    }

    /// Eq. 5.22 counts the flows of all queues.
    #[test]
    fn a_flow_without_a_header_has_its_share_of_the_capacity_apart_too() {
        for apart in [false, true] {
            let args = args(PARAMS, &[("apart", Value::Bool(apart))]);
            let flows = Some(Flows::default());
            let rules = Rules { aggregate: Aggregate::Load(Load::Used), own_throughput: true, flows };
            let (mut q, mut bench) = (Xcp::new(&args, Capacity::new(&args, false), rules), Bench::default());
            bench.push(&mut q, data(1, 500_000));
            bench.push(&mut q, packet(2, 1000));
            assert_eq!(q.rules.flows.unwrap().share(bench.now), 0.5, "apart: {apart}");
        }
    }

    /// A source of `load` of the capacity for 2 s. Returns the mean feedback in the last interval of 0.1 s, divided by
    /// the capacity.
    fn feedback(load: f64) -> f64 {
        let mut q = made(build, PARAMS, &[("capacity", Value::Rate(8_000_000))]);
        let (mut bench, mut sum) = (Bench::default(), 0.0);
        let n = (2000.0 * load) as u64;
        for i in 0..n {
            bench.now = Time::ZERO + Span::from_nanos(2_000_000_000 * i / n);
            bench.push(&mut *q, data(1, (1e6 * load) as u32));
            let p = bench.pop(&mut *q).unwrap();
            if i >= n - n / 20 {
                sum += f64::from(p.explicit.change);
            }
        }
        sum / 1e6
    }

    #[test]
    fn without_a_queue_the_aggregate_changes_by_alpha_times_the_spare_capacity() {
        for load in [0.5, 0.8, 1.25] {
            let got = feedback(load);
            assert!((got - 0.4 * (1.0 - load)).abs() < 0.02, "{load}: {got}");
        }
    }

    /// Timers that run late give the same result as timers on time.
    #[test]
    fn a_pause_leaves_the_state_of_rest() {
        let state = |polls: &[u64]| {
            let mut q = made(build, PARAMS, &[("capacity", Value::Rate(8_000_000))]);
            let mut bench = Bench::default();
            let mut got = alloc::vec::Vec::new();
            for ms in (0..500).chain(polls.iter().copied()).chain(20_000..20_500) {
                bench.now = Time::ZERO + Span::from_millis(ms);
                if !(500..20_000).contains(&ms) {
                    bench.push(&mut *q, data(1, 500_000));
                }
                got.extend(bench.pop(&mut *q).map(|p| p.explicit.change));
            }
            got
        };
        let every: alloc::vec::Vec<u64> = (500..20_000).collect();
        assert_eq!(state(&[]), state(&every));
    }

    /// Packets to neighbour 0 take no time.
    #[test]
    fn an_infinitely_fast_link_grants_what_is_asked() {
        let mut q = made(build, PARAMS, &[]);
        let mut bench = Bench::default();
        for ms in 0..1000 {
            bench.now = Time::ZERO + Span::from_millis(ms);
            bench.push(&mut *q, data(0, 500_000));
            let p = bench.pop(&mut *q).unwrap();
            assert!(ms < 200 || p.explicit.change == i32::MAX, "{ms} ms: {:?}", p.explicit);
        }
    }
}
