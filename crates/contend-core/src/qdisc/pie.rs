//! PIE (proportional integral controller, enhanced): drops arrivals at random. A controller updates the drop
//! probability every `t_update`, according to the queueing delay and its change.
//!
//! Differences from RFC 8033:
//! - There is no timer. The input of the controller changes only when a packet arrives or leaves. The missed updates
//!   are made at that time, before the packet is handled, also if an update is due in the same nanosecond. The result
//!   is that of a timer at the multiples of `t_update`.
//! - The queueing delay is that of the last packet that left, or 0 if no packet waits (as in Linux and ns-3). With
//!   `estimate = "rate"` it is the estimate of §5.2 at the last update. A measurement begins with the packet that
//!   leaves (§5.2; in Appendix B, behind it) and ends with its sample (Appendix B).
//! - §4.2 and §5.3 differ from Appendix B in three points. The probability decays when the delay is 0 (§4.2; Appendix
//!   B: below half the target). PIE becomes inactive when the delays are 0 (Appendix B; §5.3: below half the target).
//!   It becomes inactive at an update (both texts: at an arrival, so that it could end with the arrival that activates
//!   it).
//! - During the burst allowance, `derandomize` sums nothing (in Appendix B it does).
//! - `byte_mode` scales by size / `mean_packet` without the bounds of RFC 8034 §4.6.

use super::codel::LIMIT;
use super::fifo::Fifo;
use super::marking::ECN;
use super::{Args, Backlog, DropReason, Link, Qdisc, Sink, Site, bytes, happens};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::packet::Packet;
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use crate::{Cx, Rng};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str =
    "Pan, Natarajan, Baker, White: Proportional Integral Controller Enhanced (PIE), RFC 8033, §4, §5";
/// What it does.
pub const SUMMARY: &str = "Drops arrivals at random so that the queueing delay stays near a target; the probability \
    follows the queueing delay and its change.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    Param::time("target", "target queueing delay, QDELAY_REF").default("15ms").range(0.0, 1e6),
    Param::time("t_update", "time between two updates of the probability, T_UPDATE").default("15ms").range(1e-3, 1e3),
    Param::number("alpha", "change of the probability in an update, per second of delay above the target")
        .default("0.125")
        .range(0.0, 1e6)
        .symbol("α"),
    Param::number(
        "beta",
        "change of the probability in an update, per second by which the delay has grown since the last update",
    )
    .default("1.25")
    .range(0.0, 1e6)
    .symbol("β"),
    Param::time("max_burst", "maximum duration of a burst that is let through after a calm period, MAX_BURST")
        .default("150ms")
        .range(0.0, 1e6),
    Param::amount("mean_packet", "nothing is dropped while at most two packets of this size wait, MEAN_PKTSIZE")
        .default("1000B")
        .range(1.0, 65535.0),
    Param::flag("auto_tune", "true if steps are smaller while the probability is small").default("true"),
    Param::flag("cap", "true if no step exceeds 2 % once the probability is 10 %").default("true"),
    Param::flag(
        "derandomize",
        "true if no packet is dropped before the probabilities since the last drop sum to 0.85, and one surely is at \
            8.5",
    )
    .default("false"),
    Param::flag("byte_mode", "true if the probability is multiplied by packet size / mean_packet").default("false"),
    Param::fraction(
        "activate",
        "share of the limit at which PIE becomes active; PIE ends when delay and probability are zero. 0: always \
            active",
    )
    .default("0")
    .range(0.0, 1.0),
    ECN,
    Param::fraction("mark_ecnth", "probability from which packets that support ECN are dropped as well, MARK_ECNTH")
        .default("10%")
        .range(0.0, 1.0),
    Param::word(
        "estimate",
        &["timestamp", "rate"],
        "how the queueing delay is measured. timestamp: from the time stamps of packets; rate: from the backlog in \
            bytes and the departure rate",
    )
    .default("timestamp"),
    Param::amount("dq_threshold", "bytes in one measurement of the departure rate, DQ_THRESHOLD")
        .default("16384B")
        .range(1.0, 65536.0),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("p", "drop_prob_: drop probability; 0 at first"),
    symbol("d", "current_qdelay: queueing delay"),
    symbol("d_old", "qdelay_old_: `d` at the last update"),
    symbol("Δ", "change of `p`"),
    symbol(
        "k",
        "divisor of the change: 2048 for `p < 10^−6`, 512 below `10^−5`, 128 below `10^−4`, 32 below `10^−3`, 8 below \
            `10^−2`, 2 below `10^−1`, else 1",
    ),
    symbol("r", "burst_allowance_: rest of the burst allowance; `max_burst` at first"),
    symbol("B", "bytes that wait"),
    symbol("T", "avg_dq_time_: mean time in which `dq_threshold` bytes leave; the first sample is the mean"),
    symbol("T_s", "a sample of it, from a departure that leaves at least `dq_threshold` bytes waiting"),
    symbol("s", "size of the packet, in bytes"),
    symbol("A", "accu_prob_: sum of the probabilities since the last drop"),
    symbol("p′", "probability for this packet"),
    on("an update, every `t_update` while PIE is active"),
    eq("d ← B · T / dq_threshold", "RFC 8033 §5.2").when("`estimate = rate`"),
    eq("Δ = α · (d − target) + β · (d − d_old)", "§4.2"),
    eq("Δ ← Δ / k", "").when("`auto_tune`"),
    eq("Δ ← min(Δ, 0.02)", "§5.5").when("`cap` and `p ≥ 0.1`"),
    eq("p ← p + Δ", "§4.2"),
    eq("p ← 0.98 · p", "").when("`d = 0` and `d_old = 0`"),
    eq("p ← min(1, max(0, p))", ""),
    eq("r ← max(0, r − t_update)", "§4.4"),
    step("PIE becomes inactive", "§5.3").when("`activate > 0`, `p = 0`, `d = 0` and `d_old = 0`"),
    eq("d_old ← d", "§4.2"),
    on("an arrival"),
    eq("r ← max_burst", "§4.4").when("`p = 0`, `d < target / 2` and `d_old < target / 2`"),
    step("it becomes active: `p ← 0`, `A ← 0`, `d_old ← 0`, `r ← max_burst`", "§5.3")
        .when("it is inactive, and `activate · limit` or more waits"),
    step("the packet is dropped, and `A ← 0`", "").when("`limit` has no room for it"),
    step("it waits", "§4.1, §4.4")
        .when("PIE is inactive, or `r > 0`, or `d_old < target / 2` and `p < 0.2`, or `B ≤ 2 · mean_packet`"),
    eq("p′ = p · s / mean_packet", "").when("`byte_mode`"),
    eq("p′ = p", "").when("otherwise"),
    eq("A ← A + p′", "§5.4").when("`derandomize`; `A ← 0` if `p = 0`"),
    eq("p′ ← 0", "").when("`derandomize` and `A < 0.85`"),
    eq("p′ ← 1", "").when("`derandomize` and `A ≥ 8.5`"),
    step(
        "with probability `p′` it is dropped and `A ← 0`; it is marked instead with `ecn`, if its transport supports \
        marks and `p < mark_ecnth`",
        "§5.1",
    ),
    on("a departure"),
    step("`d` is the time that the packet has waited, or 0 if no packet waits behind it", "§4.2")
        .when("`estimate = timestamp`"),
    eq("T ← dq_threshold / 65536 · T_s + (1 − dq_threshold / 65536) · T", "§5.2")
        .when("`estimate = rate`, and a sample is complete"),
];

/// Builds the discipline.
///
/// # Errors
/// If `mean_packet` or `dq_threshold` is not in bytes.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    Ok(Box::new(Pie::new(args)?))
}

/// A queue under PIE.
#[derive(Debug)]
struct Pie {
    queue: Fifo,
    limit: Amount,
    target: Span,
    t_update: Span,
    alpha: f64,
    beta: f64,
    max_burst: Span,
    /// Mean packet size in bytes.
    mean_packet: u64,
    auto_tune: bool,
    cap: bool,
    derandomize: bool,
    byte_mode: bool,
    /// The share of the limit at which PIE becomes active.
    activate: f64,
    ecn: bool,
    mark_ecnth: f64,
    rate: Option<Rate>,
    active: bool,
    /// drop_prob_: drop probability.
    p: f64,
    /// accu_prob_: sum of probabilities since the last drop.
    accu: f64,
    /// burst_allowance_: the rest of the burst allowance.
    burst: Span,
    /// current_qdelay: queueing delay of the last packet that left, or the estimate of the last update.
    delay: Span,
    /// qdelay_old_: the delay at the last update.
    delay_old: Span,
    next_update: Time,
}

/// The departure rate (RFC 8033 §5.2).
#[derive(Debug)]
struct Rate {
    /// DQ_THRESHOLD, in bytes.
    threshold: u64,
    /// measurement_start_ and dq_count_: start of the measurement, and the bytes that have left since.
    measuring: Option<(Time, u64)>,
    /// avg_dq_time_: mean time in nanoseconds in which `threshold` bytes leave; 0 before the first measurement.
    avg_ns: f64,
}

impl Rate {
    fn departed(&mut self, now: Time, size: u32, waiting: u64) {
        if self.measuring.is_none() && waiting >= self.threshold {
            self.measuring = Some((now, 0));
        }
        let Some((start, count)) = &mut self.measuring else { return };
        *count += u64::from(size);
        if *count >= self.threshold {
            // RFC 8033 §5.2: weight DQ_THRESHOLD / 2^16.
            let (took, weight) = ((now - *start).as_nanos() as f64, self.threshold as f64 / 65_536.0);
            self.avg_ns = if self.avg_ns == 0.0 { took } else { took * weight + self.avg_ns * (1.0 - weight) };
            self.measuring = None;
        }
    }
    fn delay(&self, waiting: u64) -> Span {
        Span::from_nanos((waiting as f64 * self.avg_ns / self.threshold as f64) as u64)
    }
}

impl Pie {
    fn new(args: &Args) -> Result<Pie, Refusal> {
        let threshold = bytes(args, "dq_threshold")?;
        Ok(Pie {
            queue: Fifo::new(args.amount("limit")),
            limit: args.amount("limit"),
            target: args.time("target"),
            t_update: args.time("t_update"),
            alpha: args.number("alpha"),
            beta: args.number("beta"),
            max_burst: args.time("max_burst"),
            mean_packet: bytes(args, "mean_packet")?,
            auto_tune: args.flag("auto_tune"),
            cap: args.flag("cap"),
            derandomize: args.flag("derandomize"),
            byte_mode: args.flag("byte_mode"),
            activate: args.number("activate"),
            ecn: args.flag("ecn"),
            mark_ecnth: args.number("mark_ecnth"),
            rate: (args.word("estimate") == "rate").then_some(Rate { threshold, measuring: None, avg_ns: 0.0 }),
            active: args.number("activate") == 0.0,
            p: 0.0,
            accu: 0.0,
            burst: args.time("max_burst"),
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            next_update: Time::ZERO + args.time("t_update"),
        })
    }

    /// Makes all updates that are due at `now`.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let before = (self.active, self.p, self.burst, self.delay_old);
            if self.active {
                self.update();
            }
            // After an update without effect, further updates have no effect either.
            let still = before == (self.active, self.p, self.burst, self.delay_old);
            let steps = if still { (now - self.next_update).div_floor(self.t_update) + 1 } else { 1 };
            self.next_update = self.next_update.saturating_add(self.t_update * steps);
        }
    }

    // RFC 8033 §4.2: one update, every T_UPDATE.
    fn update(&mut self) {
        if let Some(r) = &self.rate {
            self.delay = r.delay(self.queue.backlog().bytes);
        }
        let delay = self.delay;
        let mut step = self.alpha * (delay.as_secs_f64() - self.target.as_secs_f64())
            + self.beta * (delay.as_secs_f64() - self.delay_old.as_secs_f64());
        if self.auto_tune {
            step /= match self.p {
                p if p < 0.000_001 => 2048.0,
                p if p < 0.000_01 => 512.0,
                p if p < 0.000_1 => 128.0,
                p if p < 0.001 => 32.0,
                p if p < 0.01 => 8.0,
                p if p < 0.1 => 2.0,
                _ => 1.0,
            };
        }
        // §5.5: cap drop adjustment.
        if self.cap && self.p >= 0.1 {
            step = step.min(0.02);
        }
        self.p += step;
        // §4.2: without congestion the probability decays by 2 % per update.
        if delay.is_zero() && self.delay_old.is_zero() {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);

        // §4.4: the burst allowance decreases.
        self.burst = self.burst.saturating_sub(self.t_update);
        // §5.3: PIE becomes inactive when there is no congestion.
        if self.activate > 0.0 && self.p == 0.0 && delay.is_zero() && self.delay_old.is_zero() {
            self.active = false;
        }
        self.delay_old = delay;
    }

    // The checks before an arrival is handled.
    fn wake(&mut self) {
        // §4.4, Appendix A: after a time without congestion the burst allowance is restored.
        let half = self.target / 2;
        if self.p == 0.0 && self.delay < half && self.delay_old < half {
            self.burst = self.max_burst;
        }
        // §5.3: PIE becomes active when a share of the buffer is used.
        let waiting = self.queue.backlog();
        let (used, limit) = match self.limit {
            Amount::Packets(n) => (waiting.packets, n),
            Amount::Bytes(n) => (waiting.bytes, n),
        };
        if !self.active && used as f64 >= self.activate * limit as f64 {
            (self.active, self.p, self.accu, self.burst) = (true, 0.0, 0.0, self.max_burst);
            self.delay_old = Span::ZERO;
        }
    }

    // §4.1 and §5.4: true if an arrival of `size` bytes is dropped or marked.
    fn drops(&mut self, size: u32, rng: &mut Rng) -> bool {
        let calm = self.delay_old < self.target / 2 && self.p < 0.2;
        if !self.active || !self.burst.is_zero() || calm || self.queue.backlog().bytes <= 2 * self.mean_packet {
            return false;
        }
        let p = if self.byte_mode { self.p * f64::from(size) / self.mean_packet as f64 } else { self.p };
        if self.derandomize {
            self.accu = if self.p == 0.0 { 0.0 } else { self.accu + p };
            if self.accu < 0.85 {
                return false;
            }
            if self.accu >= 8.5 {
                return true;
            }
        }
        happens(p, rng)
    }
}

impl Qdisc for Pie {
    fn probability(&self) -> Option<f64> {
        Some(self.p)
    }

    fn enqueue(&mut self, cx: &mut Cx, _: &dyn Link, mut p: Packet, sink: &mut Sink) {
        self.catch_up(cx.now);
        self.wake();
        if !self.queue.fits(&p) {
            self.accu = 0.0;
            sink.drop(p, DropReason::Full);
        } else if !self.drops(p.size, cx.rng) {
            self.queue.push(p);
        } else {
            self.accu = 0.0;
            // §5.1: mark while the probability is below MARK_ECNTH.
            if self.ecn && self.p < self.mark_ecnth && sink.mark(&mut p) {
                self.queue.push(p);
            } else {
                sink.drop(p, DropReason::Early);
            }
        }
    }

    fn dequeue(&mut self, cx: &mut Cx, _: &dyn Link, _: &mut Sink) -> Option<Packet> {
        self.catch_up(cx.now);
        let p = self.queue.pop()?;
        let waiting = self.queue.backlog().bytes;
        match &mut self.rate {
            Some(r) => r.departed(cx.now, p.size, waiting),
            None => self.delay = if waiting == 0 { Span::ZERO } else { cx.now.since(p.queued) },
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
    use crate::registry::Value;
    use rand::SeedableRng as _;

    fn pie(set: &[(&'static str, Value)]) -> Pie {
        let mut args = Args::default();
        let ms = |n| Value::Time(Span::from_millis(n));
        args.set("limit", Value::Amount(Amount::Packets(1000)));
        args.set("target", ms(15));
        args.set("t_update", ms(15));
        args.set("max_burst", ms(150));
        args.set("alpha", Value::Number(0.125));
        args.set("beta", Value::Number(1.25));
        args.set("mean_packet", Value::Amount(Amount::Bytes(1000)));
        args.set("dq_threshold", Value::Amount(Amount::Bytes(16_384)));
        args.set("auto_tune", Value::Bool(true));
        args.set("cap", Value::Bool(true));
        set.iter().for_each(|(n, v)| args.set(n, v.clone()));
        Pie::new(&args).unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    /// §4.2 by hand: 35 ms after 15 ms gives 0.125 x 0.020 + 1.25 x 0.020 = 0.0275; a constant 35 ms gives 0.0025. Each
    /// is divided by the factor of the table.
    #[test]
    fn the_probability_follows_the_delay_and_its_change() {
        for (p, by) in [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0)] {
            let mut c = pie(&[]);
            (c.p, c.delay_old, c.delay) = (p, Span::from_millis(15), Span::from_millis(35));
            c.update();
            near(c.p, p + 0.0275 / by);
            let q = c.p;
            c.p = p;
            c.update();
            near(c.p, p + 0.0025 / by);
            assert!(q > c.p);
        }
    }

    /// §5.5: above 10 % no step exceeds 2 %, unless this cap is off. A step down is not capped.
    #[test]
    fn large_steps_are_cut_above_ten_percent() {
        for (cap, want) in [(true, 0.12), (false, 0.1275)] {
            let mut c = pie(&[("cap", Value::Bool(cap))]);
            (c.p, c.delay_old, c.delay) = (0.1, Span::from_millis(15), Span::from_millis(35));
            c.update();
            near(c.p, want);
            // 0.125 x (0 - 0.015) + 1.25 x (0 - 0.035) = -0.045625.
            c.delay = Span::ZERO;
            c.update();
            near(c.p, want - 0.045_625);
        }
    }

    /// §4.2: two updates without delay: -0.125 x 0.015 = -0.001875, then 2 % less.
    #[test]
    fn without_delay_the_probability_decays() {
        let mut c = pie(&[]);
        c.p = 0.5;
        c.update();
        near(c.p, (0.5 - 0.001_875) * 0.98);
    }

    /// Updates after a pause give the same result as a timer. They stop early when nothing changes any more.
    #[test]
    fn missed_updates_are_made_up_for() {
        let set = |c: &mut Pie| (c.p, c.delay, c.delay_old) = (0.3, Span::from_millis(20), Span::from_millis(40));
        let (mut lazy, mut timer) = (pie(&[]), pie(&[]));
        set(&mut lazy);
        set(&mut timer);
        (0..1000).for_each(|_| timer.update());
        lazy.catch_up(Time::ZERO + Span::from_millis(15 * 1000 + 14));
        assert_eq!((lazy.p, lazy.burst, lazy.delay_old), (timer.p, timer.burst, timer.delay_old));
        lazy.catch_up(Time::ZERO + Span::from_secs(86_400 * 365));
        assert_eq!((lazy.p, lazy.next_update.as_nanos() % 15_000_000), (1.0, 0));
    }

    /// §5.2: 16384 B leave in 16 ms, about 1 us per byte; 32768 B then wait for 32 ms. A second measurement of 32 ms
    /// has a weight of a quarter.
    #[test]
    fn the_departure_rate_gives_the_delay() {
        let mut r = Rate { threshold: 16_384, measuring: None, avg_ns: 0.0 };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        r.departed(at(0), 1024, 16_383);
        assert!(r.measuring.is_none(), "too little waits");
        (0..16).for_each(|i| r.departed(at(100 + 16 * (i / 15)), 1024, 20_000));
        assert_eq!(r.delay(32_768), Span::from_millis(32));
        (0..16).for_each(|i| r.departed(at(200 + 32 * (i / 15)), 1024, 20_000));
        assert_eq!(r.delay(16_384), Span::from_millis(20));
    }

    /// At 5 % about one packet in twenty is dropped. With de-randomisation there are never two drops within 17 packets,
    /// and the next drop is at the latest the 170th packet.
    #[test]
    fn drops_come_with_the_probability() {
        for derandomize in [false, true] {
            let mut c = pie(&[("derandomize", Value::Bool(derandomize)), ("max_burst", Value::Time(Span::ZERO))]);
            let mut rng = Rng::seed_from_u64(5);
            (c.p, c.delay_old) = (0.05, Span::from_millis(15));
            let waiting = Packet::new(crate::FlowId(0), 1500, Time::ZERO, crate::Body::Udp { seq: 0 });
            c.queue.push(waiting);
            c.queue.push(waiting);
            let (mut drops, mut since) = (0u32, 0u32);
            for _ in 0..100_000 {
                since += 1;
                if c.drops(1500, &mut rng) {
                    assert!(!derandomize || (17..=170).contains(&since), "{since}");
                    (drops, since, c.accu) = (drops + 1, 0, 0.0);
                }
            }
            // Mean distances between drops: 20, and 16 + 20.
            let want = if derandomize { 100_000 / 36 } else { 5_000 };
            assert!(drops.abs_diff(want) < want / 10, "{drops}");
        }
    }
}
