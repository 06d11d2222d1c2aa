//! VCRR: rate regulation by a virtual capacity. The marking probability integrates the arrivals beyond a share of the
//! link's capacity. It equals the delay of a virtual queue in seconds, times a gain.
//!
//! Differences between the printed equations and this code:
//! - In eq. 8.34 the probability can only grow ((x)^+ as the positive part). In eq. 8.35, its integral, the probability
//!   falls as the virtual queue drains. Here the probability falls; `increments = "positive"` is the printed form.
//! - Fig. 8.15 divides by the interval; eq. 8.36 and the text divide by the virtual capacity, and so does this code.
//!   `divisor = "interval"` is the printed form, in bytes and seconds; with it the probability jumps between 0 and 1.
//! - Eq. 8.37 is printed without the window in the numerator. `rate = "tsw"` includes it, as eq. 5.8 does.
//!
//! Arrivals count even if there is no room for them. The load of a packet is the time that the link needs for it.

use super::marking::{CAPACITY, Clock, DROP, INTERVAL, Law, Marked, walk};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::Param;
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str =
    "Xu: TCP Performance Enhancement in Wireless Networks, NJIT 2005, §8.6, eqs. 8.32-8.38, Fig. 8.15";
/// What it does.
pub const SUMMARY: &str = "Marks with the integral of the arrivals' excess over a share of the capacity; one queue.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    GAMMA,
    Param { doc: "control interval: about a round-trip time", symbol: "δ", ..INTERVAL },
    Param::number("gain", "probability per second of virtual delay").default("1").range(1e-9, 1e9),
    Param::word(
        "rate",
        &["count", "trapezoid", "tsw", "csfq"],
        "how the arrival rate is measured. count: over an interval, then held; trapezoid: over an interval, with the \
            trapezoid rule; tsw, csfq: at each packet, by TSW or CSFQ's average",
    )
    .default("count"),
    Param::time("window", "window of TSW, or time constant of CSFQ's average").default("100ms").range(1e-6, 100.0),
    Param::word(
        "divisor",
        &["virtual_capacity", "interval"],
        "divisor of the excess. virtual_capacity: the virtual capacity (eq. 8.36); interval: the interval, as Fig. \
            8.15 prints",
    )
    .default("virtual_capacity"),
    Param::word(
        "increments",
        &["both", "positive"],
        "how the probability changes. both: it also falls while less than the virtual capacity arrives; positive: it \
            only grows, as eq. 8.34 prints",
    )
    .default("both"),
    CAPACITY,
    DROP.default("false"),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("s", "time that the link needs for the packet"),
    symbol("t", "time since the last arrival"),
    symbol("A", "link time of the arrivals of this interval; with csfq, of those since `y` last changed"),
    symbol("A_old", "`A` of the interval before"),
    symbol("y", "arrival rate as a share of the capacity"),
    symbol("C", "capacity of the link, in byte/s: bytes of the last packet by `s`"),
    symbol("X", "link time that arrives in an interval"),
    symbol("Δ", "change of the probability"),
    symbol("p", "probability of a mark; 0 at first"),
    on("an update, every `δ`"),
    eq("X = A", "Xu 2005 Fig. 8.15").when("`rate = count`"),
    eq("X = (A + A_old) / 2", "§8.6").when("`rate = trapezoid`"),
    eq("X = y · δ", "").when("`rate = tsw` or `rate = csfq`"),
    eq("Δ = gain · (X / γ − δ)", "eq. 8.36").when("`divisor = virtual_capacity`"),
    eq("Δ = (X − γ · δ) · C / δ", "Fig. 8.15").when("`divisor = interval`"),
    eq("Δ ← max(0, Δ)", "eq. 8.34").when("`increments = positive`"),
    eq("p ← min(1, max(0, p + Δ))", "eq. 8.36"),
    step("`A_old ← A`, `A ← 0`", "Fig. 8.15").when("`rate = count` or `rate = trapezoid`"),
    on("an arrival"),
    eq("A ← A + s", "").when("`rate` is not tsw"),
    eq("y ← (window · y + s) / (window + t)", "eq. 8.37, 5.8").when("`rate = tsw`"),
    eq("y ← (1 − exp(−t / window)) · A / t + exp(−t / window) · y", "eq. 8.38").when("`rate = csfq` and `t > 0`"),
    eq("A ← 0", "").when("`rate = csfq` and `t > 0`"),
    super::marking::SIGNAL,
];

/// The target share of the capacity.
pub(super) const GAMMA: Param =
    Param::fraction("gamma", "target utilisation: the virtual capacity as a share of the link's capacity")
        .default("95%")
        .range(0.01, 1.0)
        .symbol("γ");

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let rate = match args.word("rate") {
        "trapezoid" => Rate::Trapezoid { before: 0.0 },
        "tsw" => Rate::Tsw,
        "csfq" => Rate::Csfq,
        _ => Rate::Count,
    };
    let law = Vcrr {
        clock: Clock::new(args.time("interval")),
        gamma: args.number("gamma"),
        gain: args.number("gain"),
        rate,
        window: args.time("window").as_secs_f64(),
        per_interval: args.word("divisor") == "interval",
        falls: args.word("increments") != "positive",
        counted: 0.0,
        load: 0.0,
        last: Time::ZERO,
        bytes_per_second: 0.0,
        p: 0.0,
    };
    Ok(Box::new(Marked::with_capacity(law, args)))
}

#[derive(Clone, Copy, Debug)]
enum Rate {
    Count,
    /// Link time of the arrivals in the previous interval.
    Trapezoid {
        before: f64,
    },
    Tsw,
    Csfq,
}

#[derive(Debug)]
struct Vcrr {
    clock: Clock,
    /// Target utilisation.
    gamma: f64,
    /// Gain, per second.
    gain: f64,
    rate: Rate,
    /// Window of the rate estimate, seconds.
    window: f64,
    per_interval: bool,
    falls: bool,
    /// counter / C: link time of the arrivals in this interval, seconds.
    counted: f64,
    /// y / C: estimated arrival rate as a share of the capacity.
    load: f64,
    /// Time of the last arrival.
    last: Time,
    /// Capacity according to the last packet. Only the printed divisor uses it.
    bytes_per_second: f64,
    /// Marking probability.
    p: f64,
}

impl Vcrr {
    /// Updates the probability for `n` intervals with `arrived` seconds of link time in each.
    fn control(&mut self, arrived: f64, n: u64) {
        let interval = self.clock.seconds();
        // Eq. 8.36 divided by the virtual capacity, so in seconds of virtual delay.
        let excess = arrived / self.gamma - interval;
        let step =
            if self.per_interval { excess * self.gamma * self.bytes_per_second / interval } else { self.gain * excess };
        self.p = walk(self.p, if self.falls { step } else { step.max(0.0) }, n);
    }
}

impl Law for Vcrr {
    fn pass(&mut self, now: Time, _: Backlog) {
        let n = self.clock.strikes(now);
        if n == 0 {
            return;
        }
        let counted = self.counted;
        match &mut self.rate {
            Rate::Count => {
                self.counted = 0.0;
                self.control(counted, 1);
                self.control(0.0, n - 1);
            }
            Rate::Trapezoid { before } => {
                self.counted = 0.0;
                let first = (counted + core::mem::replace(before, if n == 1 { counted } else { 0.0 })) / 2.0;
                self.control(first, 1);
                self.control(counted / 2.0, (n - 1).min(1));
                self.control(0.0, n.saturating_sub(2));
            }
            Rate::Tsw | Rate::Csfq => self.control(self.load * self.clock.seconds(), n),
        }
    }

    fn arrives(&mut self, now: Time, bytes: u32, service: Span, _: Backlog) -> f64 {
        let s = service.as_secs_f64();
        let gap = now.since(self.last).as_secs_f64();
        match self.rate {
            Rate::Count | Rate::Trapezoid { .. } => self.counted += s,
            // Eq. 5.8.
            Rate::Tsw => self.load = (self.window * self.load + s) / (self.window + gap),
            // Eq. 8.38. Several packets at one instant count as one.
            Rate::Csfq => {
                self.counted += s;
                if gap > 0.0 {
                    let keep = libm::exp(-gap / self.window);
                    self.load = (1.0 - keep) * self.counted / gap + keep * self.load;
                    self.counted = 0.0;
                }
            }
        }
        if s > 0.0 {
            self.bytes_per_second = f64::from(bytes) / s;
        }
        self.last = now;
        self.p
    }
}
