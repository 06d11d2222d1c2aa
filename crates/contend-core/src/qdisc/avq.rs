//! AVQ (adaptive virtual queue): marks packets that would overflow a virtual queue. The virtual capacity adapts until
//! the target utilisation of the link is reached.
//!
//! - AVQ works per packet, as in the paper's Fig. 1. At an arrival, the virtual queue drains and the virtual capacity
//!   grows for the time since the last arrival. Then the packet is added to the virtual queue or gets a congestion
//!   signal, and the virtual capacity is reduced.
//! - The virtual queue has the limit of the real queue. Amounts are link time: a packet counts as the time that the
//!   link needs for it, and a capacity as a share of the link's capacity.

use super::fifo::LIMIT;
use super::marking::{CAPACITY, DROP, Law, Marked, count};
use super::{Args, Backlog, Qdisc, Site};
use crate::Refusal;
use crate::formulas::{Line, eq, on, symbol};
use crate::registry::{Amount, Param};
use crate::time::{Span, Time};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Kunniyur, Srikant: Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm, SIGCOMM \
    2001, Fig. 1; Xu 2005 eqs. 8.7-8.8";
/// What it does.
pub const SUMMARY: &str = "Marks the arrivals that a virtual queue has no room for; the capacity of the virtual queue \
    adapts to a target utilisation.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    LIMIT,
    super::vcrr::GAMMA.default("98%"),
    Param::number("alpha", "speed at which the virtual capacity adapts, per second")
        .default("0.15")
        .range(1e-9, 1e6)
        .symbol("α"),
    CAPACITY,
    DROP,
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("VQ", "the virtual queue, in the unit of `limit`"),
    symbol("C_v", "virtual capacity as a share of the capacity of the link, C̃/C"),
    symbol("s", "time that the link needs for the packet; a packet that needs none changes nothing"),
    symbol("t", "time since the last arrival"),
    symbol("u", "what the packet takes of `limit`: 1 packet, or its bytes"),
    symbol("p", "probability of a signal"),
    on("the start"),
    eq("C_v ← γ", "Kunniyur, Srikant 2001"),
    on("an arrival"),
    eq("VQ ← max(0, VQ − C_v · t / s · u)", "Fig. 1"),
    eq("p = 1", "").when("`VQ + u > limit`"),
    eq("p = 0", "").when("otherwise"),
    eq("VQ ← VQ + u", "").when("`p = 0`"),
    eq("C_v ← max(0, min(C_v + α · γ · t, 1) − α · s)", "Fig. 1; Xu 2005 eq. 8.7"),
    super::marking::SIGNAL,
];

/// Builds the discipline.
///
/// # Errors
/// Never: every value in range is valid.
pub fn build(args: &Args, _: &Site) -> Result<Box<dyn Qdisc>, Refusal> {
    let gamma = args.number("gamma");
    let law = Avq {
        limit: args.amount("limit"),
        gamma,
        alpha: args.number("alpha"),
        capacity: gamma,
        queue: 0.0,
        last: Time::ZERO,
    };
    Ok(Box::new(Marked::with_capacity(law, args)))
}

#[derive(Debug)]
struct Avq {
    limit: Amount,
    /// Target utilisation.
    gamma: f64,
    /// Adaptation rate, per second.
    alpha: f64,
    /// Virtual capacity as a share of the link's, C~ / C.
    capacity: f64,
    /// Virtual queue in the limit's unit, VQ.
    queue: f64,
    /// Time of the last arrival.
    last: Time,
}

impl Law for Avq {
    fn arrives(&mut self, now: Time, bytes: u32, service: Span, _: Backlog) -> f64 {
        if service.is_zero() {
            return 0.0;
        }
        let s = service.as_secs_f64();
        let gap = now.since(self.last).as_secs_f64();
        self.last = now;
        let unit = match self.limit {
            Amount::Packets(_) => 1.0,
            Amount::Bytes(_) => f64::from(bytes),
        };
        self.queue = (self.queue - self.capacity * gap / s * unit).max(0.0);
        let told = self.queue + unit > count(self.limit);
        if !told {
            self.queue += unit;
        }
        self.capacity = ((self.capacity + self.alpha * self.gamma * gap).min(1.0) - self.alpha * s).max(0.0);
        f64::from(u8::from(told))
    }
}
