//! The clocks of a measurement on a real network.
//!
//! Algorithms and the simulated world have no clock. Tools measure real time, so they have these two.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Time since the machine started. It never runs back; differences are durations.
pub fn monotonic() -> Duration {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Time since 1970 (UTC), by which files and machines are compared.
pub fn date() -> Duration {
    read(ClockId::CLOCK_REALTIME)
}

/// `d` in nanoseconds, as it travels in packets: good until the year 2554.
pub fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

/// Linux has both clocks, so reading them does not fail.
fn read(clock: ClockId) -> Duration {
    clock_gettime(clock).map_or(Duration::ZERO, Duration::from)
}

/// True if this process has a real-time policy (SCHED_FIFO or SCHED_RR): field 41 of `/proc/self/stat`.
pub fn is_real_time() -> bool {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold spaces. The state, field 3, follows it.
    let policy = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(41 - 3));
    matches!(policy, Some("1" | "2"))
}
