//! REM (random exponential marking): a price that sums queue and excess rate, and a marking probability that is
//! exponential in the price. The marks of a path therefore show the sum of its prices.

use super::fifo::LIMIT;
use super::marking::{CAPACITY, Clock, DROP, INTERVAL, Law, Marked};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str =
    "Athuraliya, Li, Low, Yin: REM: Active Queue Management, IEEE Network 15(3), 2001; Xu 2005 eqs. 8.5-8.6";
/// What it does.
pub const SUMMARY: &str = "Marks with probability 1 - phi^-price; the price grows with the queue above a reference and \
    with arrivals above the capacity.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    super::pi::REFERENCE.default("20p").symbol("b_ref"),
    Param::number("alpha", "weight of the queue relative to the rate").default("0.1").range(0.0, 1e6).symbol("α"),
    Param::number("gamma", "step size of the price").default("0.001").range(0.0, 1e6).symbol("γ"),
    Param::number("phi", "base of the probability, the same in the whole network")
        .default("1.001")
        .range(1.000001, 1e6)
        .symbol("Φ"),
    INTERVAL.default("10ms"),
    CAPACITY,
    DROP,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("b", "backlog at the last update, in packets"),
    symbol("x", "packets that arrived since the last update"),
    symbol("c", "packets that the link carries in an `interval`"),
    symbol("s", "time that the link needs for the last packet"),
    symbol("μ", "price; 0 at first"),
    symbol("p", "probability of a signal"),
    on("an update, every `interval`"),
    eq("μ ← max(0, μ + γ · (α · (b − b_ref) + x − c))", "Xu 2005 eq. 8.5"),
    step("`b` becomes the present backlog, and `x ← 0`", ""),
    on("an arrival"),
    eq("x ← x + 1", ""),
    eq("c = interval / s", ""),
    eq("p = 1 − Φ^−μ", "eq. 8.6"),
    super::marking::SIGNAL,
];

/// Builds the discipline.
///
/// # Errors
/// If the limit or the reference is not in packets: prices are defined in packets.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let (Amount::Packets(_), Amount::Packets(reference)) = (args.amount("limit"), args.amount("reference")) else {
        return Err(Refusal::new(
            "REM counts packets, but limit or reference has another unit",
            "write both like \"20p\"",
        ));
    };
    let law = Rem {
        reference: reference as f64,
        alpha: args.number("alpha"),
        gamma: args.number("gamma"),
        ln_phi: libm::log(args.number("phi")),
        clock: Clock::new(args.time("interval")),
        before: 0.0,
        arrived: 0.0,
        capacity: 0.0,
        price: 0.0,
    };
    Ok(Box::new(Marked::with_capacity(law, args)))
}

#[derive(Debug)]
struct Rem {
    /// b_ref, the target queue, in packets.
    reference: f64,
    alpha: f64,
    gamma: f64,
    ln_phi: f64,
    clock: Clock,
    /// b[n-1], the queue at the last computation, in packets.
    before: f64,
    /// x[n], the number of packets that arrived in this interval.
    arrived: f64,
    /// c, the number of packets that the link carries per interval, for the size of the last packet.
    capacity: f64,
    /// mu, the price.
    price: f64,
}

impl Rem {
    /// Eq. 8.5, applied `n` times with the same previous queue and `arrived` packets per interval.
    fn charge(&mut self, before: f64, arrived: f64, n: u64) {
        let step = self.gamma * (self.alpha * (before - self.reference) + arrived - self.capacity);
        self.price = (self.price + step * n as f64).max(0.0);
    }
}

impl Law for Rem {
    fn pass(&mut self, now: Time, waiting: Backlog) {
        let n = self.clock.strikes(now);
        if n > 0 {
            let arrived = core::mem::take(&mut self.arrived);
            self.charge(self.before, arrived, 1);
            self.before = waiting.packets as f64;
            self.charge(self.before, 0.0, n - 1);
        }
    }

    fn arrives(&mut self, _: Time, _: u32, service: Span, _: Backlog) -> f64 {
        self.arrived += 1.0;
        if !service.is_zero() {
            self.capacity = self.clock.seconds() / service.as_secs_f64();
        }
        // Eq. 8.6: p = 1 - phi^-mu.
        1.0 - libm::exp(-self.ln_phi * self.price)
    }
}
