//! VQR: marks according to the delay of a virtual queue and to the excess of the arrival rate over the virtual
//! capacity.
//!
//! - The thesis gives the law without constants. Here amounts are relative to the virtual capacity: the virtual queue
//!   is a delay in seconds, the rate is a share. With the defaults, `g a` is one per second, which is VCRR's gain, and
//!   a tenth of the relative excess is added.
//! - The rate is measured over an interval. The virtual queue changes with each packet and never falls below zero.

use super::marking::{CAPACITY, Clock, DROP, INTERVAL, Law, Marked};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::Param;
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Zhu, Ansari: a virtual queue and rate based AQM, as Xu 2005 §8.1, eq. 8.9, gives it";
/// What it does.
pub const SUMMARY: &str = "Marks by the delay of a virtual queue and by the excess of arrivals; the probability \
    follows the distance of this delay from a reference, and the excess over a virtual capacity.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    super::fifo::LIMIT,
    super::vcrr::GAMMA,
    Param::time("reference", "target delay of the virtual queue, b_ref / c").default("0ms").range(0.0, 100.0),
    Param::number("a", "weight of the virtual delay relative to the excess, per second").default("10").range(0.0, 1e6),
    Param::number("g", "probability for a relative excess of one").default("0.1").range(0.0, 1e6),
    INTERVAL,
    CAPACITY,
    DROP,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("s", "time that the link needs for the packet"),
    symbol("t", "time since the last arrival"),
    symbol("A", "time that the virtual link needs for the arrivals of this interval"),
    symbol("x", "excess of the arrivals of the last interval over the virtual capacity, as a share of it"),
    symbol("d", "delay of the virtual queue"),
    symbol("p", "probability of a signal"),
    on("an update, every `interval`"),
    eq("x ← A / interval − 1", "Xu 2005 eq. 8.9"),
    eq("A ← 0", ""),
    on("an arrival"),
    eq("d ← max(0, d − t)", ""),
    eq("p = g · (a · (d − reference) + x)", ""),
    eq("d ← d + s / γ", ""),
    eq("A ← A + s / γ", ""),
    super::marking::SIGNAL,
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let law = Vqr {
        clock: Clock::new(args.time("interval")),
        gamma: args.number("gamma"),
        reference: args.time("reference").as_secs_f64(),
        a: args.number("a"),
        g: args.number("g"),
        counted: 0.0,
        excess: 0.0,
        delay: 0.0,
        last: Time::ZERO,
    };
    Ok(Box::new(Marked::with_capacity(law, args)))
}

#[derive(Debug)]
struct Vqr {
    clock: Clock,
    gamma: f64,
    /// Target delay in seconds.
    reference: f64,
    /// Gain of the delay, per second.
    a: f64,
    g: f64,
    /// Virtual link time of the arrivals in this interval, seconds.
    counted: f64,
    /// (x - c) / c over the last whole interval.
    excess: f64,
    /// Delay of the virtual queue in seconds.
    delay: f64,
    /// Time of the last arrival.
    last: Time,
}

impl Law for Vqr {
    fn pass(&mut self, now: Time, _: Backlog) {
        match self.clock.strikes(now) {
            0 => {}
            n => {
                let counted = core::mem::take(&mut self.counted);
                self.excess = if n == 1 { counted / self.clock.seconds() - 1.0 } else { -1.0 };
            }
        }
    }

    fn arrives(&mut self, now: Time, _: u32, service: Span, _: Backlog) -> f64 {
        let s = service.as_secs_f64() / self.gamma;
        self.delay = (self.delay - now.since(self.last).as_secs_f64()).max(0.0);
        self.last = now;
        // Eq. 8.9.
        let p = self.g * (self.a * (self.delay - self.reference) + self.excess);
        self.delay += s;
        self.counted += s;
        p
    }
}
