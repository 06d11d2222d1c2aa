//! The bandwidth estimate of Westwood+: one sample per round trip, so that ACK compression does not look like
//! bandwidth.
//!
//! - As in Linux, a sample ends with the first acknowledgment after the last measured round-trip time or 50 ms,
//!   whichever is longer. Two low-passes of 7/8 follow each other. The first sample sets both.
//! - A sample is in bytes per microsecond; Linux uses jiffies.

use super::Estimator;
use super::clock::{COUNT, Clock, Count};
use super::filter::sample;
use crate::Refusal;
use crate::formulas::{Line, eq, on, step, symbol};
use crate::registry::{Args, Param};
use crate::time::Time;
use crate::window::{Ack, Window};
use alloc::boxed::Box;

/// Source of the algorithm.
pub const CITE: &str = "Grieco and Mascolo 2004; Linux tcp_westwood.c";
/// What it does.
pub const SUMMARY: &str = "Westwood+'s bandwidth estimate, with one sample per round trip; acknowledged data over the \
    time of the sample, through two low-pass filters of 7/8.";
/// Parameters.
pub const PARAMS: &[Param] = &[SHORTEST, COUNT];
/// Its formulas.
pub const FORMULAS: &[Line] = &[
    symbol("BWE", "the estimate, in byte/s"),
    symbol(
        "L",
        "data that the ACK counts, in bytes: with `count = westwood` what it shows to have arrived, with `count = \
            literal` one segment",
    ),
    symbol("D", "data of the sample so far, in bytes"),
    symbol("Δ", "time since the last ACK"),
    symbol("T", "length of the sample so far"),
    symbol("RTT", "the last round-trip sample"),
    symbol("b", "sample, in byte/s"),
    symbol("F_1", "output of the first filter, in byte/s"),
    on("the first ACK that answers data"),
    step("the clock starts; its data do not count", "Linux tcp_westwood.c"),
    on("every other ACK that answers data, duplicates too"),
    eq("D ← D + L", "Grieco and Mascolo 2004"),
    eq("T ← T + Δ", ""),
    step("the sample ends, and the next one begins with `D = 0` and `T = 0`", "Linux westwood_update_window")
        .when("`T > max(RTT, shortest)`"),
    eq("b = D / T", "Linux westwood_filter").when("a sample ends"),
    eq("F_1 ← (7 · F_1 + b) / 8", "").when("a sample ends; the first one is `F_1` and `BWE` itself"),
    eq("BWE ← (7 · BWE + F_1) / 8", "").when("a sample ends, and it is not the first"),
];

/// The `shortest` parameter.
pub const SHORTEST: Param =
    Param::time("shortest", "minimum time that a sample covers").default("50ms").range(0.0, 8.0);

/// The estimator. The clock decides between arrival times and timestamps.
#[derive(Clone, Debug)]
pub struct WestwoodPlus {
    clock: Clock,
    count: Count,
    shortest_us: u32,
    /// Last round-trip sample.
    rtt_us: u32,
    /// Length of the current sample so far.
    passed_us: u64,
    /// Bytes in the current sample.
    bytes: u64,
    /// Output of the first low-pass.
    first_q8: u64,
    /// Output of the second low-pass.
    rate_q8: u64,
}

/// Builds the estimator with arrival times.
pub fn build(args: &Args) -> Result<Box<dyn Estimator>, Refusal> {
    Ok(Box::new(WestwoodPlus::new(args, Clock::ARRIVALS)))
}

impl WestwoodPlus {
    /// Builds the estimator from the parameters `shortest` and `count`.
    pub fn new(args: &Args, clock: Clock) -> WestwoodPlus {
        let shortest_us = u32::try_from(args.time("shortest").as_micros()).unwrap_or(u32::MAX);
        WestwoodPlus {
            clock,
            count: Count::from_args(args),
            shortest_us,
            rtt_us: 0,
            passed_us: 0,
            bytes: 0,
            first_q8: 0,
            rate_q8: 0,
        }
    }
}

impl Estimator for WestwoodPlus {
    fn on_ack(&mut self, now: Time, w: &Window, ack: &Ack) {
        let Some(bytes) = self.count.bytes(w, ack) else { return };
        self.rtt_us = ack.rtt_us.unwrap_or(self.rtt_us);
        // The first acknowledgment only starts the clock. Its data were sent before the clock started.
        let Some(delta) = self.clock.interval_us(now, w, ack) else { return };
        self.passed_us = self.passed_us.saturating_add(delta);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.rtt_us == 0 || self.passed_us <= u64::from(self.rtt_us.max(self.shortest_us)) {
            return;
        }
        let new = sample(self.bytes, self.passed_us);
        if (self.first_q8, self.rate_q8) == (0, 0) {
            (self.first_q8, self.rate_q8) = (new, new);
        } else {
            self.first_q8 = (7 * self.first_q8 + new) / 8;
            self.rate_q8 = (7 * self.rate_q8 + self.first_q8) / 8;
        }
        (self.bytes, self.passed_us) = (0, 0);
    }

    fn rate(&self, _: Time) -> u64 {
        self.rate_q8 >> 8
    }

    fn reads_timestamps(&self) -> bool {
        self.clock.reads_stamps()
    }
}
