//! A rate limiter for uploads at the access point: it estimates the capacity of the cell and limits all uploads
//! together to their share of it.
//!
//! The idea comes from Detti and others, as reported by Starzetz 2006 §9.4 and Keceli, Inan, Ayanoglu 2008 §I: a token
//! bucket whose rate follows an estimate of the cell's current capacity. Data and acknowledgments have separate
//! buckets. The limit is per direction, not per station. The parameters and the following points are our reading:
//!
//! - Capacity is IP bytes of both directions per second, averaged exponentially. Only time in which packets wait at the
//!   access point counts, because in this time the air is never unused for lack of packets. Before the first estimate
//!   nothing is limited.
//! - `on` selects what is shaped. Data of uploads are shaped after they have crossed the air; their TCP sees a longer
//!   path, or a loss if the FIFO is full. Acknowledgments of uploads are shaped before they cross the air; each is
//!   charged with the bytes that it newly acknowledges.
//! - A packet passes if its bucket is not in debt, and may put the bucket into debt. Otherwise it waits in the FIFO of
//!   its bucket.
//! - If no download was active in the last T_active, nothing is limited.

use super::{Control, Facts, Pass, Side};
use crate::Cx;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::qdisc::{AirReport, DropReason};
use crate::recent::Recent;
use crate::registry::{Amount, Args, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;

/// Source of the algorithm.
pub const CITE: &str = "Detti and others, as reported by Starzetz 2006 §9.4 and Keceli, Inan, Ayanoglu 2008 §I";
/// What it does.
pub const SUMMARY: &str = "Token buckets that limit uploads to a share of the cell's capacity; their data or \
    acknowledgments pass the access point at this share of the estimated capacity.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::fraction("share", "share of the capacity for the uploads").default("50%").range(1e-3, 1.0),
    Param::word(
        "on",
        &["data", "acks", "both"],
        "what is limited. data: data of the uploads; acks: their acknowledgments; both: the two together",
    )
    .default("data"),
    Param::amount("burst", "size of a bucket, in bytes of data").default("15kB").range(0.0, 1e9),
    Param::amount("limit", "packets that may wait in each FIFO").default("100p").range(1.0, 1e9),
    Param::time("period", "time with packets waiting at the access point that gives one sample of the capacity")
        .default("500ms")
        .range(1e-3, 1e3),
    Param::number("weight", "weight of a new sample in the mean").default("0.25").range(0.0, 1.0),
    super::window::ACTIVE,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("T", "time of this sample, in which packets waited at the access point"),
    symbol("B", "bytes of IP packets that were acknowledged in it, both ways"),
    symbol("t", "time since the last attempt in the cell"),
    symbol("s", "bytes of IP packets in the attempt; 0 if it was not acknowledged"),
    symbol("C", "capacity of the cell, in byte/s; unknown at first"),
    symbol("x", "bytes that may pass a bucket; below 0 it is in debt"),
    symbol("u", "time since the bucket was last filled"),
    symbol("e", "charge of a packet: its payload, or the bytes that the acknowledgment newly acknowledges"),
    on("an attempt ends, and packets waited at the access point when the last one ended"),
    eq("T ← T + t", "Starzetz 2006 §9.4"),
    eq("B ← B + s", ""),
    on("an attempt ends, and `T ≥ period`"),
    eq("C ← C + weight · (B / T − C)", "").when("`B > 0`; the first sample is `C`"),
    step("`T ← 0`, `B ← 0`", ""),
    on("data of an upload, or an acknowledgment of one, arrives at its bucket (`on`)"),
    step("it is dropped", "").when("`limit` packets wait there"),
    step("it goes to the end of the bucket's FIFO", "").when("otherwise"),
    on("an arrival at a bucket, or the end of its wait"),
    eq("x ← min(burst, x + share · C · u)", "").when("`C` is known and a download was active in the last `T_active`"),
    eq("x ← burst", "").when("`C` is unknown or no download was active; all that waits passes"),
    step("the first packet passes, and `x ← x − e`", "").when("`x ≥ 0`, as long as this is so"),
    step("the next one waits for `−x / (share · C)`", "").when("`x < 0`"),
];

/// The control block.
#[derive(Debug)]
pub struct RateLimiter {
    share: f64,
    burst: f64,
    limit: usize,
    active: Span,
    /// The buckets for the data of uploads and for their acknowledgments; `None`: not limited.
    data: Option<Bucket>,
    acks: Option<Bucket>,
    capacity: Capacity,
    /// The highest acknowledgment of each upload.
    acked: Recent<u64>,
    /// Time of the last data packet of a download.
    download: Option<Time>,
    deadline: Time,
}

/// A token bucket with its FIFO.
#[derive(Debug, Default)]
struct Bucket {
    /// Bytes that may pass; negative if the bucket is in debt.
    tokens: f64,
    /// Time of the last refill.
    at: Time,
    /// Waiting packets, each with its side and charge.
    queue: VecDeque<(Side, Packet, f64)>,
}

/// The estimate of the cell's capacity.
#[derive(Debug)]
struct Capacity {
    period: f64,
    weight: f64,
    /// End of the last attempt, if packets waited then.
    last: Option<Time>,
    /// Duration in seconds and bytes of the current sample.
    time: f64,
    bytes: f64,
    /// The estimate, bytes per second.
    mean: Option<f64>,
}

/// Builds the control block.
///
/// # Errors
/// If a parameter is invalid.
pub fn build(args: &Args, _: &Facts) -> Result<Box<dyn Control>, Refusal> {
    let weight = args.number("weight");
    if !(weight > 0.0 && weight <= 1.0) {
        return Err(Refusal::new(format!("weight = {weight} is out of range"), "write a number above 0 and at most 1"));
    }
    let Amount::Bytes(burst) = args.amount("burst") else {
        return Err(Refusal::new("burst counts bytes", "write burst = \"15kB\""));
    };
    let Amount::Packets(limit) = args.amount("limit") else {
        return Err(Refusal::new("limit counts packets", "write limit = \"100p\""));
    };
    let bucket = |not: &str| (args.word("on") != not).then(Bucket::default);
    Ok(Box::new(RateLimiter {
        share: args.number("share"),
        burst: burst as f64,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        active: args.time("active"),
        data: bucket("acks"),
        acks: bucket("data"),
        capacity: Capacity {
            period: args.time("period").as_secs_f64(),
            weight,
            last: None,
            time: 0.0,
            bytes: 0.0,
            mean: None,
        },
        acked: Recent::default(),
        download: None,
        deadline: Time::NEVER,
    }))
}

impl Control for RateLimiter {
    fn on_packet(&mut self, cx: &mut Cx, from: Side, p: Packet, out: &mut Pass) {
        let limit = self.limit;
        let (bucket, charge) = match (p.tcp(), from, p.is_reverse()) {
            (Some(s), Side::Air, false) if s.len > 0 => (&mut self.data, f64::from(s.len)),
            (Some(s), Side::Wire, true) => {
                while self.acked.forget(cx.now, |_| false).is_some() {}
                let before = *self.acked.see(cx.now, p.flow, || s.ack);
                (&mut self.acks, s.ack.saturating_sub(before) as f64)
            }
            (Some(s), Side::Wire, false) if s.len > 0 => {
                self.download = Some(cx.now);
                (&mut None, 0.0)
            }
            _ => (&mut None, 0.0),
        };
        match bucket {
            None => out.packets.push((from, p)),
            Some(b) if b.queue.len() >= limit => out.sink.drop(p, DropReason::Full),
            Some(b) => {
                if let (true, Some(s)) = (p.is_reverse(), p.tcp()) {
                    // The bytes of a dropped acknowledgment are charged to the next one.
                    if let Some(acked) = self.acked.get_mut(p.flow) {
                        *acked = (*acked).max(s.ack);
                    }
                }
                b.queue.push_back((from, p, charge));
                self.release(cx.now, out);
            }
        }
    }

    fn on_wake(&mut self, cx: &mut Cx, out: &mut Pass) {
        self.release(cx.now, out);
    }

    fn next_deadline(&self) -> Time {
        self.deadline
    }

    fn on_air(&mut self, report: &AirReport) {
        self.capacity.attempt(report);
    }

    fn hears_air(&self) -> bool {
        true
    }

    fn held(&self) -> u64 {
        [&self.data, &self.acks].into_iter().flatten().map(|b| b.queue.len() as u64).sum()
    }
}

impl RateLimiter {
    /// Passes the packets that may pass now, and sets the deadline for the rest.
    fn release(&mut self, now: Time, out: &mut Pass) {
        let limited = self.download.is_some_and(|d| now.since(d) <= self.active);
        let rate = self.capacity.mean.filter(|_| limited).map(|c| c * self.share);
        let waits = [&mut self.data, &mut self.acks]
            .into_iter()
            .flatten()
            .filter_map(|b| b.release(now, rate, self.burst, out));
        self.deadline = waits.min().map_or(Time::NEVER, |w| now.saturating_add(w));
    }
}

impl Bucket {
    /// Passes the packets that may pass at `rate` bytes per second; without a rate, all packets. Returns the waiting
    /// time of the next packet.
    fn release(&mut self, now: Time, rate: Option<f64>, burst: f64, out: &mut Pass) -> Option<Span> {
        // Without a rate the bucket is full.
        let elapsed = now.since(self.at).as_secs_f64();
        self.tokens = rate.map_or(burst, |r| (self.tokens + r * elapsed).min(burst));
        self.at = now;
        while rate.is_none() || self.tokens >= 0.0 {
            let (from, p, charge) = self.queue.pop_front()?;
            self.tokens -= if rate.is_some() { charge } else { 0.0 };
            out.packets.push((from, p));
        }
        self.queue.front()?;
        // One nanosecond more: otherwise rounding could wake the block too early again and again.
        rate.map(|r| Span::from_secs_f64(-self.tokens / r) + Span::from_nanos(1))
    }
}

impl Capacity {
    fn attempt(&mut self, r: &AirReport) {
        if let Some(last) = self.last {
            self.time += r.now.since(last).as_secs_f64();
            self.bytes += if r.success { f64::from(r.bytes) } else { 0.0 };
        }
        self.last = (r.waiting > 0).then_some(r.now);
        if self.time >= self.period {
            let sample = self.bytes / self.time;
            // A period without a success means that the cell is broken, not that uploads must stop.
            if sample > 0.0 {
                self.mean = Some(self.mean.map_or(sample, |m| m + self.weight * (sample - m)));
            }
            (self.time, self.bytes) = (0.0, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::packet::{Body, Flags, FlowId, Segment};
    use crate::registry::Value;
    use alloc::vec::Vec;
    use rand::SeedableRng as _;

    fn block(on: &str, burst: u64, limit: u64) -> Box<dyn Control> {
        let mut args = Args::default();
        args.set("share", Value::Number(0.5));
        args.set("on", Value::Word(on.into()));
        args.set("burst", Value::Amount(Amount::Bytes(burst)));
        args.set("limit", Value::Amount(Amount::Packets(limit)));
        args.set("period", Value::Time(Span::from_millis(100)));
        args.set("weight", Value::Number(0.25));
        args.set("active", Value::Time(Span::from_secs(2)));
        build(&args, &Facts { buffer: None, flows: &[], cycle_time: &|_, _, _| Span::ZERO }).unwrap()
    }

    /// 100 ms in which packets wait and 200 kB are carried: 2 MB/s.
    fn measure(block: &mut dyn Control) {
        for i in 0..=200 {
            let now = Time::ZERO + Span::from_micros(500 * i);
            let waiting = u64::from(i < 200);
            block.on_air(&AirReport {
                now,
                station: 1,
                up: false,
                airtime: Span::ZERO,
                success: i % 2 == 0,
                bytes: 2_000,
                waiting,
            });
        }
    }

    fn tcp(flow: u32, reverse: bool, number: u64) -> Packet {
        let (seq, len, ack) = if reverse { (0, 0, number) } else { (number, 1000, 0) };
        let s = Segment { seq, len, ack, flags: Flags::ACK, ..Segment::default() };
        let p = Packet::new(FlowId(flow), 40 + len, Time::ZERO, Body::Tcp(s));
        if reverse { p.reversed() } else { p }
    }

    /// Offers all packets of `given` at 200 ms. Returns for each passed packet the microseconds after 200 ms, and the
    /// number of drops.
    fn passes(block: &mut dyn Control, from: Side, given: &[Packet]) -> (Vec<u64>, usize) {
        let (mut rng, mut out) = (Rng::seed_from_u64(1), Pass::default());
        let start = Time::ZERO + Span::from_millis(200);
        // The block has seen a download.
        block.on_packet(&mut Cx { now: start, rng: &mut rng }, Side::Wire, tcp(9, false, 0), &mut out);
        out.packets.clear();
        let mut at = Vec::new();
        given.iter().for_each(|p| block.on_packet(&mut Cx { now: start, rng: &mut rng }, from, *p, &mut out));
        at.extend(out.packets.drain(..).map(|_| 0));
        while block.held() > 0 {
            let now = block.next_deadline();
            block.on_wake(&mut Cx { now, rng: &mut rng }, &mut out);
            at.extend(out.packets.drain(..).map(|_| now.since(start).as_micros()));
        }
        (at, out.sink.dropped.len())
    }

    #[test]
    fn data_of_uploads_pass_at_their_share_of_the_capacity() {
        // Half of 2 MB/s: 1000 bytes per millisecond. The bucket of 2000 bytes lets 3 packets pass; the last one causes
        // a debt of 1000.
        let mut b = block("data", 2_000, 100);
        measure(b.as_mut());
        let given: Vec<Packet> = (0..6).map(|i| tcp(0, false, 1000 * i)).collect();
        assert_eq!(passes(b.as_mut(), Side::Air, &given), (alloc::vec![0, 0, 0, 1_000, 2_000, 3_000], 0));
    }

    #[test]
    fn acknowledgments_are_charged_with_what_they_acknowledge() {
        // The first acknowledgment of a flow is free. The next charges are 2000, 0 (a duplicate) and 3000 bytes. One
        // acknowledgment does not fit into the FIFO; the next one pays for both.
        let mut b = block("acks", 0, 2);
        measure(b.as_mut());
        let given = [1_000, 3_000, 3_000, 6_000, 7_000].map(|a| tcp(0, true, a));
        assert_eq!(passes(b.as_mut(), Side::Wire, &given), (alloc::vec![0, 0, 2_000, 2_000], 1));
        let more = [9_000, 9_000].map(|a| tcp(0, true, a));
        // Acknowledgment 6000 passed at 202 ms and caused a debt of 3000. Acknowledgment 9000 is charged with 3000.
        let (mut rng, mut out) = (Rng::seed_from_u64(1), Pass::default());
        let now = Time::ZERO + Span::from_millis(203);
        more.iter().for_each(|p| b.on_packet(&mut Cx { now, rng: &mut rng }, Side::Wire, *p, &mut out));
        assert_eq!(b.next_deadline().since(now).as_micros(), 2_000);
        let now = b.next_deadline();
        b.on_wake(&mut Cx { now, rng: &mut rng }, &mut out);
        assert_eq!((b.held(), b.next_deadline().since(now).as_micros()), (1, 3_000));
    }

    #[test]
    fn without_a_download_or_an_estimate_nothing_is_limited() {
        let (mut rng, mut out) = (Rng::seed_from_u64(1), Pass::default());
        let mut b = block("both", 0, 1);
        measure(b.as_mut());
        let now = Time::ZERO + Span::from_secs(1);
        (0..10).for_each(|i| b.on_packet(&mut Cx { now, rng: &mut rng }, Side::Air, tcp(0, false, 1000 * i), &mut out));
        assert_eq!((out.packets.len(), b.held()), (10, 0));
        // A download starts and is then silent for more than 2 s. The waiting packets pass at the next event.
        b.on_packet(&mut Cx { now, rng: &mut rng }, Side::Wire, tcp(9, false, 0), &mut out);
        (10..13)
            .for_each(|i| b.on_packet(&mut Cx { now, rng: &mut rng }, Side::Air, tcp(0, false, 1000 * i), &mut out));
        assert_eq!((out.packets.len(), out.sink.dropped.len(), b.held()), (12, 1, 1));
        let now = now + Span::from_secs(3);
        b.on_packet(&mut Cx { now, rng: &mut rng }, Side::Wire, tcp(0, true, 1000), &mut out);
        assert_eq!(out.packets.len(), 14);
        assert_eq!(b.held(), 0);
    }
}
