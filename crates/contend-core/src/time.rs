//! Instants and durations in integer nanoseconds, as two distinct types.
//!
//! [`Time`] is an instant since the start of the run, [`Span`] a duration. `Time - Time = Span`, `Time + Span = Time`;
//! the sum of two instants does not compile. Both types are unsigned. A negative duration is an error, and the overflow
//! checks, which are on in every profile, detect it.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A duration in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens: "no deadline".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Time {
        Time(ns)
    }
    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds since the start (rounded down).
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The time from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, limited to [`Time::NEVER`] instead of an overflow.
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// A duration of zero.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// A duration of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Span {
        Span(ns)
    }
    /// A duration of `us` microseconds.
    pub const fn from_micros(us: u64) -> Span {
        Span(us * 1_000)
    }
    /// A duration of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }
    /// A duration of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * 1_000_000_000)
    }
    /// A duration of `s` seconds, rounded to the nearest nanosecond. Negative values and NaN give zero; values above
    /// the range give [`Span::MAX`].
    pub fn from_secs_f64(s: f64) -> Span {
        Span(libm::round(s * 1e9) as u64)
    }
    /// The time to send `bits` at `bps` bits per second, rounded to the nearest nanosecond. At a rate of 0 the sending
    /// never ends.
    pub const fn of_bits(bits: u64, bps: u64) -> Span {
        const SECOND: u64 = 1_000_000_000;
        if bps == 0 {
            return Span::MAX;
        }
        // Up to a gigabyte, 64 bits are enough; a division of 128 bits takes several times as long.
        if bits <= 9 * SECOND {
            return Span((bits * SECOND + bps / 2) / bps);
        }
        Span(((bits as u128 * SECOND as u128 + bps as u128 / 2) / bps as u128) as u64)
    }
    /// The duration in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// The duration in whole microseconds (rounded down).
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// The duration in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// The duration in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self - other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// The number of whole `step`s in this duration; 0 if `step` is zero.
    pub const fn div_floor(self, step: Span) -> u64 {
        match self.0.checked_div(step.0) {
            Some(n) => n,
            None => 0,
        }
    }
    /// True if the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, s: Span) -> Time {
        Time(self.0 + s.0)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, s: Span) {
        self.0 += s.0;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, s: Span) -> Time {
        Time(self.0 - s.0)
    }
}
impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, t: Time) -> Span {
        Span(self.0 - t.0)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, s: Span) -> Span {
        Span(self.0 + s.0)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, s: Span) {
        self.0 += s.0;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, s: Span) -> Span {
        Span(self.0 - s.0)
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, s: Span) {
        self.0 -= s.0;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0 * n)
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, u) = match self.0 {
            0 => (1, "s"),
            n if n % 1_000_000_000 == 0 => (1_000_000_000, "s"),
            n if n % 1_000_000 == 0 => (1_000_000, "ms"),
            n if n % 1_000 == 0 => (1_000, "us"),
            _ => (1, "ns"),
        };
        write!(f, "{}{u}", self.0 / n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn sending_time_is_rounded_to_the_nearest_nanosecond() {
        assert_eq!(Span::of_bits(12_000, 54_000_000), Span::from_nanos(222_222));
        assert_eq!(Span::of_bits(8, 3_000_000_000), Span::from_nanos(3));
        assert_eq!(Span::of_bits(1, 0), Span::MAX);
        // On both sides of what 64 bits are enough for.
        for bits in [0, 1, 9_000_000_000, 9_000_000_001] {
            for bps in [1, 7, 54_000_000, u64::MAX] {
                let exact = (u128::from(bits) * 1_000_000_000 + u128::from(bps / 2)) / u128::from(bps);
                assert_eq!(u128::from(Span::of_bits(bits, bps).as_nanos()), exact, "{bits} bits at {bps}");
            }
        }
    }

    #[test]
    fn spans_print_with_the_largest_whole_unit() {
        assert_eq!(Span::from_micros(20).to_string(), "20us");
        assert_eq!(Span::from_secs(70).to_string(), "70s");
        assert_eq!(Span::from_nanos(1_500).to_string(), "1500ns");
    }

    #[test]
    fn a_span_of_seconds_survives_bad_numbers() {
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::INFINITY), Span::MAX);
    }
}
