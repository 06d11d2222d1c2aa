//! What a model answers to a question it has no answer for.

use std::error::Error;
use std::fmt;

/// An input outside the range in which a model means anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The name of the argument or field at fault.
    pub what: &'static str,
    /// What it was and what it should have been.
    pub why: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl Error for Invalid {}

/// The error that says `what` is `got` although it must be `must`.
pub(crate) fn invalid(what: &'static str, got: impl fmt::Display, must: &str) -> Invalid {
    Invalid { what, why: format!("is {got}, must be {must}") }
}

/// Passes a finite number above zero.
pub(crate) fn positive(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err(invalid(what, x, "finite and above 0")) }
}

/// Passes a finite number not below zero.
pub(crate) fn not_negative(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if x.is_finite() && x >= 0.0 { Ok(x) } else { Err(invalid(what, x, "finite and not below 0")) }
}

/// Passes a number in 0..=1.
pub(crate) fn probability(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if (0.0..=1.0).contains(&x) { Ok(x) } else { Err(invalid(what, x, "between 0 and 1")) }
}
