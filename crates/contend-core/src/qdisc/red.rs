//! RED (random early detection): drops or marks arrivals at random, with a probability that grows with the average
//! queue.
//!
//! Differences from Floyd & Jacobson 1993, Fig. 2:
//! - Thresholds in bytes select the byte mode of §4: the average is in bytes, and the probability is proportional to
//!   the packet's size.
//! - In an idle period the average falls as if packets of `mean_packet` had arrived back to back. The link gives the
//!   time per packet. The queue is idle from the moment its last packet goes into service, because the packet in
//!   service is outside the queue here.
//! - The paper marks. Here a packet is dropped unless `ecn` is on and its transport supports ECN. `ecn_above` decides
//!   about such packets above the upper threshold: RFC 3168 §7 and ns-2 drop them, the paper marks them too.
//! - `gentle` (Floyd 2000) and `adaptive` (Floyd, Gummadi, Shenker 2001) are off, as in 1993.
//! - The queue has a limit. A packet that does not fit is dropped and does not restart the count.

use super::fifo::{Fifo, LIMIT};
use super::marking::ECN;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site, bytes, happens};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str =
    "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM ToN 1(4), 1993, Fig. 2";
/// What it does.
pub const SUMMARY: &str = "Drops or marks at random while the average queue is between two thresholds; above the \
    second threshold all arrivals are dropped or marked.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    Param::amount("min_th", "average queue from which arrivals are dropped at random; in bytes for the byte mode")
        .default("5p")
        .range(1.0, 1e12),
    Param::amount("max_th", "average queue from which all arrivals are dropped, in the same unit as min_th")
        .default("15p")
        .range(1.0, 1e12),
    Param::fraction("max_p", "drop probability just below max_th").default("2%").range(0.0, 1.0),
    Param::number("w_q", "weight of a new sample in the average queue").default("0.002").range(1e-9, 1.0),
    Param::amount(
        "mean_packet",
        "size of a typical small packet; in idle time the average falls as if such packets were sent",
    )
    .default("500B")
    .range(1.0, 65535.0),
    Param::amount("max_packet", "in byte mode: packet size for which the probability holds, MaximumPacketSize")
        .default("1500B")
        .range(1.0, 65535.0),
    Param::flag("gentle", "true if the probability grows from max_p to 1 between max_th and twice max_th")
        .default("false"),
    ECN,
    Param::word(
        "ecn_above",
        &["drop", "mark"],
        "what happens to packets that support ECN when the average queue is above the upper threshold. drop: they are \
            dropped as others; mark: they are marked",
    )
    .default("drop"),
    Param::flag(
        "adaptive",
        "true if max_p moves every 500 ms so that the average stays in the middle fifth between the thresholds",
    )
    .default("false"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("q", "backlog that the packet finds, in the unit of the thresholds"),
    symbol("avg", "average queue; 0 at first"),
    symbol("m", "small packets that could have been sent in the idle time"),
    symbol("t", "time for which the queue has been empty, or since the last arrival in that time"),
    symbol("s", "time that the link needs for a packet of `mean_packet`"),
    symbol("p_b", "probability before spacing"),
    symbol("p_a", "probability for this packet"),
    symbol("count", "packets since the last signal; −1 at first"),
    symbol("B", "size of the packet, in bytes"),
    on("every 500 ms, with `adaptive`"),
    eq("max_p ← max_p + min(0.01, max_p / 4)", "Floyd, Gummadi, Shenker 2001")
        .when("`avg > min_th + 0.6 · (max_th − min_th)` and `max_p ≤ 0.5`"),
    eq("max_p ← 0.9 · max_p", "").when("`avg < min_th + 0.4 · (max_th − min_th)` and `max_p ≥ 0.01`"),
    on("an arrival"),
    eq("avg ← (1 − w_q) · avg + w_q · q", "Floyd, Jacobson 1993, Fig. 2").when("`q > 0`"),
    eq("m = t / s", "").when("`q = 0`"),
    eq("avg ← (1 − w_q)^m · avg", "").when("`q = 0`"),
    step("the packet passes, and `count ← −1`", "").when("`avg < min_th`"),
    eq("p_b = max_p · (avg − min_th) / (max_th − min_th)", "").when("`min_th ≤ avg < max_th`"),
    eq("p_b = max_p + (1 − max_p) · (avg − max_th) / max_th", "Floyd 2000")
        .when("`gentle` and `max_th ≤ avg < 2 · max_th`"),
    step("the packet gets a signal, and `count ← 0`", "Fig. 2")
        .when("`avg ≥ max_th`, with `gentle` `avg ≥ 2 · max_th`"),
    eq("p_b ← p_b · B / max_packet", "§4").when("the thresholds are in bytes"),
    eq("count ← count + 1", "Fig. 2"),
    eq("p_a = p_b / (1 − count · p_b)", "").when("`count · p_b < 1`"),
    eq("p_a = 1", "").when("otherwise"),
    step("with probability `p_a` the packet gets a signal, and `count ← 0`", ""),
    step(
        "a signal drops the packet; with `ecn` it marks it if its transport supports marks, and above the upper \
        threshold only with `ecn_above = mark`",
        "RFC 3168 §7",
    ),
    step("a packet for which `limit` has no room is dropped", ""),
];

/// Builds the discipline.
///
/// # Errors
/// If the thresholds have different units or the wrong order, or if a packet size is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Red::new(args)?))
}

/// A queue under RED.
#[derive(Debug)]
struct Red {
    queue: Fifo,
    /// True if thresholds and average are in bytes.
    byte_mode: bool,
    /// min_th, in packets or bytes.
    min: f64,
    /// max_th, in packets or bytes.
    max: f64,
    /// max_p.
    max_p: f64,
    /// w_q.
    weight: f64,
    /// Mean packet size in bytes.
    mean_packet: u32,
    /// Maximum packet size in bytes.
    max_packet: f64,
    gentle: bool,
    ecn: bool,
    mark_above: bool,
    adaptive: bool,
    /// avg: average queue in packets or bytes.
    avg: f64,
    /// count: packets since the last mark; -1 below min_th.
    count: i64,
    /// q_time: the time since which the queue is empty, or the last update of the average after that time.
    idle_since: Time,
    /// Time of the next change of max_p.
    next_move: Time,
}

/// The decision about an arriving packet.
#[derive(Debug, PartialEq)]
enum Verdict {
    Pass,
    /// Marked or dropped at random.
    Signal,
    /// Above the upper threshold.
    Above,
}

// Floyd, Gummadi, Shenker 2001: interval 0.5 s, alpha = min(0.01, max_p / 4), beta = 0.9, max_p in [0.01, 0.5].
const MOVE_EVERY: Span = Span::from_millis(500);

impl Red {
    fn new(args: &Args) -> Result<Red, Refusal> {
        let (min, max, byte_mode) = match (args.amount("min_th"), args.amount("max_th")) {
            (Amount::Packets(a), Amount::Packets(b)) => (a, b, false),
            (Amount::Bytes(a), Amount::Bytes(b)) => (a, b, true),
            _ => {
                return Err(Refusal::new(
                    "min_th and max_th have different units",
                    "write both in packets or both in bytes",
                ));
            }
        };
        if min > max {
            return Err(Refusal::new(
                "min_th is above max_th",
                "write a smaller min_th (max_th at least twice as large is usual)",
            ));
        }
        Ok(Red {
            queue: Fifo::new(args.amount("limit")),
            byte_mode,
            min: min as f64,
            max: max as f64,
            max_p: args.number("max_p"),
            weight: args.number("w_q"),
            mean_packet: bytes(args, "mean_packet")? as u32,
            max_packet: bytes(args, "max_packet")? as f64,
            gentle: args.flag("gentle"),
            ecn: args.flag("ecn"),
            mark_above: args.word("ecn_above") == "mark",
            adaptive: args.flag("adaptive"),
            avg: 0.0,
            count: -1,
            idle_since: Time::ZERO,
            next_move: Time::ZERO + MOVE_EVERY,
        })
    }

    // Fig. 2: avg <- (1 - w_q) avg + w_q q; after an idle period avg <- (1 - w_q)^m avg with m = (time - q_time) / s.
    fn average(&mut self, now: Time, packet_time: impl FnOnce() -> Span) {
        let q = self.queue.backlog();
        if q.packets > 0 {
            let q = if self.byte_mode { q.bytes } else { q.packets } as f64;
            self.avg = (1.0 - self.weight) * self.avg + self.weight * q;
        } else if now > self.idle_since && self.avg > 0.0 {
            let m = (now - self.idle_since).as_nanos() as f64 / packet_time().as_nanos() as f64;
            self.avg *= libm::pow(1.0 - self.weight, m);
            self.idle_since = now;
        }
    }

    /// The probability p_b for a packet of `size` bytes; 0 below min_th, `None` above the upper threshold.
    fn base(&self, size: u32) -> Option<f64> {
        let p = if self.avg < self.min {
            0.0
        } else if self.avg < self.max {
            // Fig. 2: p_b <- max_p (avg - min_th) / (max_th - min_th).
            self.max_p * (self.avg - self.min) / (self.max - self.min)
        } else if self.gentle && self.avg < 2.0 * self.max {
            // Floyd 2000: from max_p to 1 between max_th and 2 max_th.
            self.max_p + (1.0 - self.max_p) * (self.avg - self.max) / self.max
        } else {
            return None;
        };
        // §4: in byte mode p_b <- p_b PacketSize / MaximumPacketSize.
        Some(if self.byte_mode { p * f64::from(size) / self.max_packet } else { p })
    }

    fn decide(&mut self, cx: &mut Cx, size: u32) -> Verdict {
        let Some(base) = self.base(size) else {
            self.count = 0;
            return Verdict::Above;
        };
        if self.avg < self.min {
            self.count = -1;
            return Verdict::Pass;
        }
        // Fig. 2: count rises, p_a <- p_b / (1 - count p_b), so that the distances between marks are uniform.
        self.count += 1;
        let spent = self.count as f64 * base;
        let p = if spent < 1.0 { base / (1.0 - spent) } else { 1.0 };
        if happens(p, cx.rng) {
            self.count = 0;
            return Verdict::Signal;
        }
        Verdict::Pass
    }

    /// Changes max_p for each half second that has passed. The average was constant in this time.
    fn adapt(&mut self, now: Time) {
        let (low, high) = (self.min + 0.4 * (self.max - self.min), self.min + 0.6 * (self.max - self.min));
        while self.next_move <= now {
            let before = self.max_p;
            if self.avg > high && self.max_p <= 0.5 {
                self.max_p += f64::min(0.01, self.max_p / 4.0);
            } else if self.avg < low && self.max_p >= 0.01 {
                self.max_p *= 0.9;
            }
            // max_p no longer changes: continue with the first half second after `now`.
            let steps = if self.max_p == before { (now - self.next_move).div_floor(MOVE_EVERY) + 1 } else { 1 };
            self.next_move = self.next_move.saturating_add(MOVE_EVERY * steps);
        }
    }
}

impl Qdisc for Red {
    fn enqueue(&mut self, cx: &mut Cx, link: &dyn Link, mut p: Packet, sink: &mut Sink) {
        if self.adaptive {
            self.adapt(cx.now);
        }
        let small = self.mean_packet;
        self.average(cx.now, || link.exchange(link.neighbour(&p), small));
        let verdict = self.decide(cx, p.size);
        let may_mark = self.ecn && (verdict == Verdict::Signal || self.mark_above);
        if !self.queue.fits(&p) {
            sink.drop(p, DropReason::Full);
        } else if verdict == Verdict::Pass || (may_mark && sink.mark(&mut p)) {
            self.queue.push(p);
        } else {
            sink.drop(p, DropReason::Early);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        let p = self.queue.pop()?;
        if self.queue.backlog().packets == 0 {
            self.idle_since = cx.now;
        }
        Some(p)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::registry::Value;
    use alloc::vec::Vec;
    use rand::SeedableRng as _;

    fn red(set: &[(&'static str, Value)]) -> Red {
        let mut args = Args::default();
        let number = |n: f64| Value::Number(n);
        args.set("limit", Value::Amount(Amount::Packets(1000)));
        args.set("min_th", Value::Amount(Amount::Packets(5)));
        args.set("max_th", Value::Amount(Amount::Packets(15)));
        args.set("max_p", number(0.02));
        args.set("w_q", number(0.002));
        args.set("mean_packet", Value::Amount(Amount::Bytes(500)));
        args.set("max_packet", Value::Amount(Amount::Bytes(1500)));
        set.iter().for_each(|(n, v)| args.set(n, v.clone()));
        Red::new(&args).unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    /// Fig. 2 by hand: p_b rises from 0 to max_p over the ten packets between the thresholds. With `gentle` it rises
    /// further to 1 at twice max_th.
    #[test]
    fn the_probability_follows_the_average() {
        let mut r = red(&[("gentle", Value::Bool(true))]);
        for (avg, p) in [(4.9, 0.0), (5.0, 0.0), (10.0, 0.01), (15.0, 0.02), (22.5, 0.51)] {
            r.avg = avg;
            near(r.base(40).unwrap(), p);
        }
        r.avg = 30.0;
        assert_eq!(r.base(40), None);
    }

    /// §4: in byte mode a packet of 500 B has a third of the probability of a packet of 1500 B.
    #[test]
    fn in_byte_mode_the_probability_follows_the_size() {
        let mut r =
            red(&[("min_th", Value::Amount(Amount::Bytes(5000))), ("max_th", Value::Amount(Amount::Bytes(15000)))]);
        r.avg = 10_000.0;
        near(r.base(1500).unwrap(), 0.01);
        near(r.base(500).unwrap(), 0.01 / 3.0);
    }

    /// w_q = 0.002: after 50 arrivals in a row that each find one packet waiting, the average is 1 - 0.998^50. After
    /// 100 idle packet times the factor 0.998^100 of it remains.
    #[test]
    fn the_average_is_a_low_pass_and_falls_when_idle() {
        let mut r = red(&[]);
        r.queue.push(Packet::new(crate::FlowId(0), 1000, Time::ZERO, crate::Body::Udp { seq: 0 }));
        (0..50).for_each(|_| r.average(Time::ZERO, || Span::ZERO));
        near(r.avg, 0.095_253_181_995_964);
        r.queue.pop();
        r.average(Time::ZERO + Span::from_millis(50), || Span::from_micros(500));
        near(r.avg, 0.095_253_181_995_964 * 0.818_566_804_688_428);
    }

    /// Jacobson's uniform spacing: with p_b = 1/50 the distance between drops is uniform in 2..=50 after the first
    /// count, so the mean is about 26.
    #[test]
    fn drops_are_spaced_evenly() {
        let mut r = red(&[]);
        let mut rng = Rng::seed_from_u64(3);
        r.avg = 14.999_999;
        let mut distances = Vec::new();
        let mut since = 0u64;
        for _ in 0..100_000 {
            since += 1;
            if r.decide(&mut Cx { now: Time::ZERO, rng: &mut rng }, 1000) == Verdict::Signal {
                distances.push(since);
                since = 0;
            }
        }
        assert!(distances[1..].iter().all(|d| (1..=50).contains(d)), "{:?}", distances.iter().max());
        let mean = distances.iter().sum::<u64>() as f64 / distances.len() as f64;
        assert!((24.0..27.0).contains(&mean), "{mean}");
    }

    /// Floyd, Gummadi, Shenker 2001: max_p rises by min(0.01, max_p / 4), falls by a tenth, and stays between 1 % and
    /// 50 % (within one step).
    #[test]
    fn adaptive_red_moves_max_p() {
        let mut r = red(&[("adaptive", Value::Bool(true))]);
        r.avg = 12.0;
        r.adapt(Time::ZERO + Span::from_millis(499));
        near(r.max_p, 0.02);
        r.adapt(Time::ZERO + Span::from_millis(1000));
        near(r.max_p, 0.02 + 0.005 + 0.00625);
        r.adapt(Time::ZERO + Span::from_secs(86_400));
        assert!((0.5..=0.51).contains(&r.max_p), "{}", r.max_p);
        r.avg = 10.0;
        r.adapt(Time::ZERO + Span::from_secs(100_000));
        assert!(r.max_p >= 0.5);
        r.avg = 7.0;
        r.adapt(Time::ZERO + Span::from_secs(200_000));
        assert!((0.009..0.01).contains(&r.max_p), "{}", r.max_p);
    }
}
