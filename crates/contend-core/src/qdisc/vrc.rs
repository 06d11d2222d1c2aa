//! VRC (virtual rate control): combines the rate, the queue and the integral of the queue. It is a PID controller of
//! the queue.
//!
//! - The thesis gives the law without constants. Here amounts are relative to the capacity: the excess rate is a share,
//!   the distance of the queue is a delay in seconds. The defaults are our choice. They are stable for flows with
//!   round-trip times of 20 to 200 ms.
//! - The integral is limited to values that alone would give a probability from 0 to 1. A long idle time therefore
//!   causes no wind-up.

use super::fifo::LIMIT;
use super::marking::{CAPACITY, Clock, DROP, INTERVAL, Law, Marked};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::Param;
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Park, Lim, Basar, Choi: virtual rate control, as Xu 2005 §8.1, eqs. 8.10-8.11, gives it";
/// What it does.
pub const SUMMARY: &str = "Marks by arrival rate, queue and the sum of past queue errors; the probability follows the \
    excess of arrivals over the capacity, the queue's distance from a reference, and the sum of past distances.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    Param::time("reference", "target queueing delay, b_ref / c").default("20ms").range(0.0, 100.0),
    Param::number("alpha", "probability for a relative excess of one").default("0.1").range(0.0, 1e6).symbol("α"),
    Param::number("beta", "first constant of queue and sum, per second").default("5").range(0.0, 1e6).symbol("β"),
    Param::number("gamma", "second constant of queue and sum, per second").default("0.2").range(0.0, 1e6).symbol("γ"),
    INTERVAL,
    CAPACITY,
    DROP,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("A", "link time of the arrivals of this interval"),
    symbol("s", "time that the link needs for the packet"),
    symbol("τ", "link time per byte of the last packet"),
    symbol("B", "size of the packet, in bytes"),
    symbol("b", "bytes that wait"),
    symbol("x", "excess of the arrivals over the capacity, as a share of it"),
    symbol("e", "distance of the queueing delay from its target"),
    symbol("I", "part of the probability that the sum of past distances gives; 0 at first"),
    symbol("p", "probability of a signal; 0 at first"),
    on("an update, every `interval`"),
    eq("x = A / interval − 1", "Xu 2005 eq. 8.10, 8.11"),
    eq("e = b · τ − reference", ""),
    eq("I ← min(1, max(0, I + α · β · γ · e · interval))", ""),
    eq("p ← min(1, max(0, α · (x + (β + γ) · e) + I))", ""),
    eq("A ← 0", ""),
    on("an arrival"),
    eq("A ← A + s", ""),
    eq("τ ← s / B", ""),
    super::marking::SIGNAL,
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let law = Vrc {
        clock: Clock::new(args.time("interval")),
        reference: args.time("reference").as_secs_f64(),
        alpha: args.number("alpha"),
        beta: args.number("beta"),
        gamma: args.number("gamma"),
        counted: 0.0,
        byte_time: 0.0,
        integral: 0.0,
        p: 0.0,
    };
    Ok(Box::new(Marked::with_capacity(law, args)))
}

#[derive(Debug)]
struct Vrc {
    clock: Clock,
    /// Target delay in seconds.
    reference: f64,
    alpha: f64,
    /// beta and gamma are per second.
    beta: f64,
    gamma: f64,
    /// Link time of the arrivals in this interval, seconds.
    counted: f64,
    /// Link time per byte in seconds, from the last packet.
    byte_time: f64,
    /// The part of the probability that comes from the integral.
    integral: f64,
    p: f64,
}

impl Law for Vrc {
    fn pass(&mut self, now: Time, waiting: Backlog) {
        let n = self.clock.strikes(now);
        if n == 0 {
            return;
        }
        let interval = self.clock.seconds();
        let counted = core::mem::take(&mut self.counted);
        let excess = if n == 1 { counted / interval - 1.0 } else { -1.0 };
        let distance = waiting.bytes as f64 * self.byte_time - self.reference;
        // Eqs. 8.10-8.11: alpha (x - c) + alpha (beta + gamma) (b - b_ref) + alpha beta gamma times the integral of b -
        // b_ref.
        let step = self.alpha * self.beta * self.gamma * distance * interval;
        self.integral = (self.integral + step * n as f64).clamp(0.0, 1.0);
        self.p = (self.alpha * (excess + (self.beta + self.gamma) * distance) + self.integral).clamp(0.0, 1.0);
    }

    fn arrives(&mut self, _: Time, bytes: u32, service: Span, _: Backlog) -> f64 {
        let s = service.as_secs_f64();
        self.counted += s;
        self.byte_time = s / f64::from(bytes.max(1));
        self.p
    }
}
