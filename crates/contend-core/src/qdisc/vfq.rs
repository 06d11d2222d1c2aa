//! Virtual Flow Queueing (Starzetz 2006 §9.2.2, §9.3): stations share the air by WF2Q+. Each station is also charged
//! for the packets that it will send.
//!
//! The cost of a data packet is its own exchange plus the exchange of the station's acknowledgment. The cost of an
//! acknowledgment is its own exchange plus the exchanges of the data that it acknowledges. Uploading and downloading
//! stations therefore get equal airtime, although only packets to stations are queued.
//!
//! Differences from the document:
//! - Time of an exchange: the link gives the airtime of a packet at the station's own rate (planned in §9.5), overhead
//!   included. `mac_overhead` is added. Table 9.1 has 0 as the "base" of the costs: only the bits of a packet count
//!   (`exchange = "bits"` and `contention = "none"`). Figure 9.4 has a large base.
//! - Contention: the default is the cell's own model; `contention = "fit"` is the document's fit. N is the number of
//!   live nodes; `count_ap` adds one.
//! - Segments are counted in payload: `tcp_segsize` minus 40 bytes of header. ns-2 counts segments; the text counts
//!   bytes of MTU.
//! - An acknowledgment is split when it leaves, not when it arrives, so that it counts once against the limits. An
//!   acknowledgment with SACK blocks, SYN or FIN is not split. With `simple_wfq` no acknowledgment is split.
//! - Cost (c), for a packet that is data and acknowledgment, does not occur: the data of a flow go one way, so a
//!   connection sends either data or acknowledgments to a station. Its descriptor is one queue. Nothing is merged.
//! - There is no check of sequence numbers against forgery, and no limit of 65536 bytes of window. The highest
//!   acknowledgment of a silent flow is forgotten ([`recent`](crate::recent)). An acknowledgment above 65536 of an
//!   unknown flow is not split.
//! - A node is forgotten after a silence of one to two times `idle_after`.
//! - Virtual time: see [`virtual_time`](super::virtual_time).

mod eta;

pub use eta::contention_fit;

use super::lane::{Lane, Weights, limit};
use super::turns::Turns;
use super::virtual_time::{Head, VirtualTime};
use super::wf2q::{UPDATE, WEIGHTS, update};
use super::{Args, Backlog, Below, ByReceiver, DropReason, Link, Qdisc, Sink, Site, can_serve};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::{Packet, Segment};
use crate::recent::Recent;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use eta::{Contention, Eta, HEADER};

/// Source of the algorithm.
pub const CITE: &str = "Starzetz 2006, §9.2.2 (VFQ, VF2Q), §9.3 and Table 9.1";
/// What it does.
pub const SUMMARY: &str = "WF2Q+ over stations that also charges what a station will send; data are charged with their \
    acknowledgments, and acknowledgments with their data.";
/// Parameters: those of Table 9.1, then additional ones.
pub const PARAMS: &[Param] = &[
    Param::number("download_weight", "weight of a station that is first seen receiving data")
        .default("1")
        .range(1e-6, 1e6),
    Param::number("upload_weight", "weight of a station that is first seen receiving acknowledgments")
        .default("1")
        .range(1e-6, 1e6),
    Param::amount("box_max_len", "maximum backlog of one station").default("10p").range(1.0, 1e9),
    Param::amount("queue_length", "maximum backlog of all stations").default("500p").range(1.0, 1e9).limits_queue(),
    Param::integer("boxes_max", "maximum number of stations served at a time; -1: any number")
        .default("-1")
        .range(-1.0, 1e6),
    Param::flag("simple_wfq", "true if only bytes are charged, as in plain WF2Q+").default("false"),
    Param::time("mac_overhead", "time added to each exchange").default("0us").range(0.0, 1.0),
    Param::integer("tcp_segsize", "assumed size of a station's data packets, in IP bytes")
        .default("1500")
        .range(41.0, 2296.0),
    Param::integer(
        "tcp_ack_burst",
        "maximum number of segments per acknowledgment; an acknowledgment of more is split into several",
    )
    .default("8")
    .range(1.0, 1e6),
    Param::amount("bcast_queue_length", "maximum backlog of packets that are not TCP; these are served first")
        .default("100p")
        .range(1.0, 1e9)
        .limits_queue(),
    WEIGHTS,
    Param::word(
        "contention",
        &["model", "fit", "none"],
        "contention time per exchange. model: from the model of the cell; fit: from the fit of eq. 9.3; none: zero",
    )
    .default("model"),
    Param::word(
        "exchange",
        &["whole", "bits"],
        "duration of an exchange without contention and mac_overhead. whole: as the link reports it; bits: only the \
            bits of the IP packet",
    )
    .default("whole"),
    Param::flag("count_ap", "true if the access point is one of the N that contend").default("false"),
    Param::time("idle_after", "silence after which a station is forgotten").default("10s").range(1e-3, 1e6),
    UPDATE,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("n", "size of the packet, in bytes"),
    symbol("N", "stations that are live, and with `count_ap` one more"),
    symbol("slot", "a backoff slot"),
    symbol("K", "contention time of an exchange"),
    symbol("T(n)", "time of an exchange of a packet of `n` bytes"),
    symbol("X(n)", "the same as the link reports it, without contention"),
    symbol("m", "bytes that the acknowledgment newly acknowledges"),
    symbol("M", "payload of a segment: `tcp_segsize − 40`"),
    symbol("r", "bytes beyond whole segments: `m − ⌊m / M⌋ · M`"),
    symbol("η", "virtual cost of the packet"),
    on("a packet becomes the first of its station"),
    step("`K` is the mean of the cell's own model for `N` contenders", "Starzetz 2006 §9.2.2")
        .when("`contention = model`"),
    eq(
        "K = slot · (31.43747 · exp(−N / 0.85404) + 5.03185 · exp(−N / 5.48378) + 1.24346 · exp(−N / 61.45172) + \
            0.32783)",
        "eq. 9.3",
    )
    .when("`contention = fit`"),
    eq("K = 0", "").when("`contention = none`"),
    eq("T(n) = K + X(n) + mac_overhead", "eq. 9.2").when("`exchange = whole`"),
    eq("T(n) = K + X(n) − X(0) + mac_overhead", "Table 9.1").when("`exchange = bits`"),
    eq("η = n", "Table 9.1").when("`simple_wfq`"),
    eq("η = T(n) + T(40)", "eq. 9.1").when("it is data"),
    eq("η = T(n) + T(tcp_segsize)", "§9.2.2 (d)").when("it is an acknowledgment and `m = 0`"),
    eq("η = T(n) + ⌊m / M⌋ · T(tcp_segsize)", "eq. 9.4").when("it is an acknowledgment and `r = 0`"),
    eq("η = T(n) + ⌊m / M⌋ · T(tcp_segsize) + T(r + 40)", "").when("otherwise"),
    step("the stations share by WF2Q+ as in wf2q, with the cost `η`", "§9.2.1"),
    step(
        "the weight is that of `weights`, otherwise `download_weight` or `upload_weight`, by the first packet to the \
        station",
        "Table 9.1",
    ),
    on("a packet of the station leaves"),
    step(
        "an acknowledgment with `m > tcp_ack_burst · M` leaves in parts, each of which acknowledges that much more",
        "§9.2.2",
    )
    .when("it is pure, and not `simple_wfq`"),
    step("the flows of a station take turns, one packet or part each", ""),
    on("an arrival"),
    step("a packet that is not TCP waits in a queue of `bcast_queue_length`, which is served first", "Table 9.1"),
    step("a packet is dropped", "").when(
        "`queue_length`, or `box_max_len` for its station, has no room, or its station is new and `boxes_max` are live",
    ),
    step("a station is forgotten after a silence of one to two times `idle_after`", "§9.3.2"),
];

/// Builds the discipline.
///
/// # Errors
/// If a limit has no room for one packet, or a weight belongs to no neighbour or is not above 0.
pub fn build(args: &Args, site: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Vfq::new(args, site)?))
}

/// One node per station, under WF2Q+.
#[derive(Debug)]
pub struct Vfq {
    eta: Eta,
    weights: Weights,
    /// Weight of a station whose first packet is data, and of a station whose first packet is an acknowledgment.
    by_direction: [f64; 2],
    idle_after: Span,
    boxes_max: usize,
    box_limit: Amount,
    limit: Amount,
    other_limit: Amount,
    time: VirtualTime,
    nodes: Vec<Node>,
    /// Live nodes, each with the time of its next check for silence, in order of time.
    live: VecDeque<(Time, usize)>,
    /// Highest acknowledgment that has left, for each flow.
    acked: Recent<u64>,
    waiting: Backlog,
    /// Packets that are not TCP.
    other: Lane,
    /// Stations that are not live and need a turn.
    held_other: Vec<u32>,
}

/// The state of a station and its waiting packets.
#[derive(Debug, Default)]
struct Node {
    flows: Turns,
    weight: f64,
    seen: Time,
    live: bool,
}

impl Vfq {
    fn new(args: &Args, site: &Site) -> Result<Vfq, Refusal> {
        Ok(Vfq {
            eta: Eta {
                simple: args.flag("simple_wfq"),
                contention: match args.word("contention") {
                    "fit" => Contention::Fit,
                    "none" => Contention::None,
                    _ => Contention::Model,
                },
                bits: args.word("exchange") == "bits",
                overhead: args.time("mac_overhead"),
                segment: args.integer("tcp_segsize").clamp(i64::from(HEADER) + 1, 65_535) as u32,
                burst: args.integer("tcp_ack_burst").clamp(1, 1_000_000) as u64,
                ap: u32::from(args.flag("count_ap")),
            },
            weights: Weights::new(args, site)?,
            by_direction: [args.number("download_weight"), args.number("upload_weight")],
            idle_after: args.time("idle_after"),
            boxes_max: usize::try_from(args.integer("boxes_max")).unwrap_or(usize::MAX),
            box_limit: limit(args, "box_max_len")?,
            limit: limit(args, "queue_length")?,
            other_limit: limit(args, "bcast_queue_length")?,
            time: VirtualTime::new(update(args)),
            nodes: Vec::new(),
            live: VecDeque::new(),
            acked: Recent::default(),
            waiting: Backlog::default(),
            other: Lane::default(),
            held_other: Vec::new(),
        })
    }

    /// The node of `station`, made live if necessary; `None` if there are too many nodes.
    fn meet(&mut self, station: usize, now: Time, p: &Packet) -> Option<&mut Node> {
        if station >= self.nodes.len() {
            self.nodes.resize_with(station + 1, Node::default);
        }
        let node = self.nodes.get_mut(station)?;
        if !node.live {
            if self.live.len() >= self.boxes_max {
                return None;
            }
            node.live = true;
            // Table 9.1: the first packet determines the weight.
            node.weight = self.weights.get(station as u32).unwrap_or(self.by_direction[usize::from(p.is_reverse())]);
            self.live.push_back((now + self.idle_after, station));
        }
        node.seen = now;
        Some(node)
    }

    /// Forgets silent nodes (§9.3.2: after a configurable inactivity).
    fn forget(&mut self, now: Time) {
        while let Some(&(_, station)) = self.live.front().filter(|(at, _)| *at <= now) {
            self.live.pop_front();
            let Some(node) = self.nodes.get_mut(station) else { continue };
            let waits = node.flows.front().is_some() || self.time.is_held(station);
            if waits || node.seen + self.idle_after > now {
                self.live.push_back((now + self.idle_after, station));
            } else {
                node.live = false;
                self.time.forget(station);
            }
        }
    }

    /// The cost of the next packet of `station`, for WF2Q+.
    fn head(&self, link: &dyn Link, station: usize) -> Option<Head> {
        let node = self.nodes.get(station)?;
        let p = node.flows.front()?;
        let news = p.tcp().map_or(0, |s| s.ack.saturating_sub(self.acked(p, s)).min(self.eta.most(s)));
        let nodes = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
        Some(Head { weight: node.weight, cost: self.eta.of(link, station as u32, nodes, p, news) })
    }

    /// Highest acknowledgment that has left of the flow of `p`. `s` is the segment in `p`.
    fn acked(&self, p: &Packet, s: &Segment) -> u64 {
        self.acked.get(p.flow).copied().unwrap_or_else(|| self.eta.first(s))
    }

    /// Removes the next packet of `station`, or the first part of it.
    fn take(&mut self, now: Time, station: usize, sink: &mut Sink) -> Option<Packet> {
        let flows = &mut self.nodes.get_mut(station)?.flows;
        let mut p = *flows.front()?;
        let flow = p.flow;
        if p.is_reverse()
            && let Some(s) = p.tcp_mut()
        {
            let most = self.eta.most(s);
            while self.acked.forget(now, |_| false).is_some() {}
            let acked = self.acked.see(now, flow, || self.eta.first(s));
            // §9.2.2: an acknowledgment of more than ACKBURST segments is replaced by several acknowledgments of at
            // most ACKBURST segments.
            if s.ack.saturating_sub(*acked) > most {
                *acked += most;
                s.ack = *acked;
                flows.pass();
                sink.made += 1;
                return Some(p);
            }
            *acked = s.ack.max(*acked);
        }
        let p = flows.pop()?;
        self.waiting.remove(&p);
        Some(p)
    }
}

impl Qdisc for Vfq {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, p: Packet, sink: &mut Sink) {
        if p.tcp().is_none() {
            if self.other.backlog().has_room(self.other_limit, &p) {
                self.other.push(p);
            } else {
                sink.drop(p, DropReason::Full);
            }
            return;
        }
        self.forget(cx.now);
        let station = link.neighbour(&p) as usize;
        let (all, each) = (self.waiting.has_room(self.limit, &p), self.box_limit);
        let Some(node) = self.meet(station, cx.now, &p).filter(|n| all && n.flows.backlog().has_room(each, &p)) else {
            sink.drop(p, DropReason::Full);
            return;
        };
        let first = node.flows.front().is_none();
        node.flows.push(p);
        let first = first && !self.time.is_held(station);
        self.waiting.add(&p);
        if let Some(head) = self.head(link, station).filter(|_| first) {
            self.time.arrive(station, head);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, link: &dyn Link, sink: &mut Sink) -> Option<Packet> {
        if let Some(p) = self.other.pop() {
            return Some(p);
        }
        let station = self.time.select()?;
        let p = self.take(cx.now, station, sink);
        self.time.served(station, None, self.head(link, station));
        p
    }

    fn backlog(&self) -> Backlog {
        self.waiting + self.other.backlog()
    }

    fn by_receiver(&mut self) -> Option<&mut dyn ByReceiver> {
        Some(self)
    }
}

impl ByReceiver for Vfq {
    fn serve(&mut self, cx: &mut Cx, link: &dyn Link, below: &mut dyn Below, sink: &mut Sink) -> Option<u32> {
        // Packets that are not TCP go first, as long as they can.
        self.held_other.retain(|r| below.holds(*r));
        let waiting = || self.other.iter().map(|p| link.neighbour(p)).find(|r| can_serve(below, *r, true));
        let receiver = self.held_other.first().copied().or_else(waiting);
        if let Some(receiver) = receiver {
            self.held_other.retain(|r| *r != receiver);
            while below.has_room(receiver)
                && let Some(p) = self.other.pop_first(|p| link.neighbour(p) == receiver)
            {
                below.put(p, sink);
            }
            return Some(receiver);
        }
        let Vfq { time, nodes, .. } = self;
        let station = time.turn(&*below, |i| nodes.get(i).is_some_and(|n| n.flows.front().is_some()))?;
        let mut cost = None;
        while below.has_room(station as u32)
            && let Some(head) = self.head(link, station)
            && let Some(p) = self.take(cx.now, station, sink)
        {
            cost = Some(cost.unwrap_or(0.0) + head.cost);
            below.put(p, sink);
        }
        self.time.served(station, cost, self.head(link, station));
        Some(station as u32)
    }

    /// A turn in which no packet leaves the queue costs as much as `p`.
    fn hold(&mut self, link: &dyn Link, p: &Packet) {
        let station = link.neighbour(p) as usize;
        let Some(node) = self.nodes.get(station).filter(|node| node.live) else {
            self.held_other.push(station as u32);
            return;
        };
        if node.flows.front().is_none() {
            let nodes = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
            let cost = self.eta.of(link, station as u32, nodes, p, 0);
            self.time.hold(station, Head { weight: node.weight, cost });
        }
    }

    fn join(&mut self, cx: &mut Cx, link: &dyn Link, receiver: u32, below: &mut dyn Below, sink: &mut Sink) {
        while below.has_room(receiver)
            && let Some(p) = self.other.pop_first(|p| link.neighbour(p) == receiver)
        {
            below.put(p, sink);
        }
        let (station, mut cost) = (receiver as usize, None);
        while below.has_room(receiver)
            && let Some(head) = self.head(link, station)
            && let Some(p) = self.take(cx.now, station, sink)
        {
            cost = Some(cost.unwrap_or(0.0) + head.cost);
            below.put(p, sink);
        }
        if let Some(cost) = cost {
            self.time.joined(station, cost, self.head(link, station));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbench::*;
    use super::*;
    use crate::packet::Body;
    use crate::registry::Value;
    use proptest::prelude::*;

    /// T(n) = 260 + n us, so T(40) = 300 and T(1500) = 1760.
    struct Toy;

    impl Link for Toy {
        fn neighbour(&self, p: &Packet) -> u32 {
            p.flow.0
        }
        fn exchange(&self, _: u32, bytes: u32) -> Span {
            Span::from_micros(260 + u64::from(bytes))
        }
        fn contention(&self, _: u32) -> Span {
            Span::ZERO
        }
        fn slot(&self) -> Span {
            Span::ZERO
        }
    }

    /// Station 1 gets two data packets (eta 1760 + 300 = 2060). Station 2 gets two acknowledgments of two segments (eta
    /// 2 x 1760 + 300 = 3820). Station 3 gets an empty packet (300 + 300 = 600). All start at 0 and finish at 2060,
    /// 3820 and 600. By hand, V grows by eta / 3:
    ///
    /// - Step 1: station 3 (600). V = 200.
    /// - Step 2: station 1 (2060). Its next packet is 2060..4120. V = 200 + 2060/3 = 886.7.
    /// - Step 3: station 2 (3820), because the next packet of station 1 has not started. The next packet of station 2
    ///   is 3820..7640. V = 886.7 + 3820/3 = 2160.
    /// - Step 4: station 1 (4120). V = 2160 + 2060/3 = 2846.7, raised to 3820, the start of the only packet left.
    /// - Step 5: station 2 (7640). V = 3820 + 3820/3 = 5093.3.
    #[test]
    fn five_packets_leave_in_the_order_worked_out_by_hand() {
        let mut q = Vfq::new(&args(PARAMS, &[]), &Site::ALONE).unwrap();
        let (mut rng, mut sink) = (rand::SeedableRng::seed_from_u64(1), Sink::default());
        let mut cx = Cx { now: Time::ZERO, rng: &mut rng };
        for p in [packet(1, 1500), ack(2, 2920), packet(1, 1500), ack(2, 5840), packet(3, 40)] {
            q.enqueue(&mut cx, &Toy, p, &mut sink);
        }
        let us = |x: f64| libm::round(x / 100.0) / 10.0;
        let spans = |q: &Vfq| [1, 2, 3].map(|i| (us(q.time.span(i).0), us(q.time.span(i).1)));
        assert_eq!(spans(&q), [(0.0, 2060.0), (0.0, 3820.0), (0.0, 600.0)]);
        let steps: Vec<(u32, f64)> =
            core::iter::from_fn(|| Some((q.dequeue(&mut cx, &Toy, &mut sink)?.flow.0, us(q.time.now())))).collect();
        assert_eq!(steps, [(3, 200.0), (1, 886.7), (2, 2160.0), (1, 3820.0), (2, 5093.3)]);
        assert_eq!(spans(&q), [(2060.0, 4120.0), (3820.0, 7640.0), (0.0, 600.0)]);
    }

    /// Ten segments with a burst of four are split into 4 + 4 + 2, with a packet of another flow of the station in
    /// between.
    #[test]
    fn an_acknowledgment_of_many_segments_is_broken() {
        let mut q = made(build, PARAMS, &[("tcp_ack_burst", Value::Integer(4))]);
        let mut bench = Bench::default();
        bench.push(&mut *q, ack(1, 14_600));
        bench.push(&mut *q, packet(1, 1500));
        let got: Vec<(bool, u64)> =
            core::iter::from_fn(|| bench.pop(&mut *q)).map(|p| (p.is_reverse(), p.tcp().unwrap().ack)).collect();
        assert_eq!(got, [(true, 5840), (false, 0), (true, 11_680), (true, 14_600)]);
        assert_eq!((bench.sink.made, q.backlog()), (2, Backlog::default()));
        // Plain WF2Q+ splits no acknowledgment.
        let mut q = made(build, PARAMS, &[("simple_wfq", Value::Bool(true))]);
        bench.push(&mut *q, ack(1, 146_000));
        assert_eq!((bench.pop(&mut *q).map(|p| p.is_reverse()), bench.pop(&mut *q)), (Some(true), None));
    }

    /// Claim C17: one segment costs the same in either direction (eq. 9.1 and 9.4), so weights 2 and 1 give 2 to 1 in
    /// segments.
    #[test]
    fn weights_two_to_one_by_direction_give_twice_the_segments() {
        let mut q = Vfq::new(&args(PARAMS, &[("download_weight", Value::Number(2.0))]), &Site::ALONE).unwrap();
        let (mut rng, mut sink) = (rand::SeedableRng::seed_from_u64(1), Sink::default());
        let mut cx = Cx { now: Time::ZERO, rng: &mut rng };
        q.enqueue(&mut cx, &Toy, packet(1, 1500), &mut sink);
        q.enqueue(&mut cx, &Toy, ack(2, 1460), &mut sink);
        let mut got = [0, 0, 0];
        for _ in 0..90 {
            // Each station always has another packet waiting.
            q.enqueue(&mut cx, &Toy, packet(1, 1500), &mut sink);
            q.enqueue(&mut cx, &Toy, ack(2, 1460 * (got[2] + 2)), &mut sink);
            let p = q.dequeue(&mut cx, &Toy, &mut sink).unwrap();
            got[p.flow.0 as usize] += 1;
            sink.dropped.clear();
        }
        assert_eq!(got, [0, 60, 30]);
    }

    #[test]
    fn what_is_not_tcp_goes_first_and_a_full_house_admits_nobody() {
        let mut q =
            made(build, PARAMS, &[("boxes_max", Value::Integer(1)), ("idle_after", Value::Time(Span::from_secs(1)))]);
        let mut bench = Bench::default();
        bench.push(&mut *q, packet(1, 1500));
        bench.push(&mut *q, packet(3, 100).with_body(Body::Udp { seq: 0 }));
        bench.push(&mut *q, packet(2, 1500));
        assert_eq!(bench.sink.dropped.len(), 1);
        let order: Vec<u32> = core::iter::from_fn(|| bench.pop(&mut *q)).map(|p| p.flow.0).collect();
        assert_eq!(order, [3, 1]);
        // Station 1 has been silent long enough to be forgotten.
        bench.now = Time::ZERO + Span::from_secs(2);
        bench.push(&mut *q, packet(2, 1500));
        assert_eq!(bench.pop(&mut *q).unwrap().flow.0, 2);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_flows_keep_their_order(
            steps in steps(), fit in any::<bool>(), simple in any::<bool>(),
        ) {
            let with = [("contention", word(if fit { "fit" } else { "model" })), ("simple_wfq", Value::Bool(simple))];
            conserves(&mut *made(build, PARAMS, &with), &steps)?;
        }
    }
}
