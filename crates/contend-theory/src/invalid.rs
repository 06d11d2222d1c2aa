//! The error that every model returns for input outside its valid range.

use std::error::Error;
use std::fmt;

/// An input outside the valid range of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The name of the invalid argument or field.
    pub what: &'static str,
    /// The given value and the required range.
    pub why: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what, self.why)
    }
}

impl Error for Invalid {}

/// Builds the error message: `what` has the value `got`, but must satisfy `must`.
pub(crate) fn invalid(what: &'static str, got: impl fmt::Display, must: &str) -> Invalid {
    Invalid { what, why: format!("is {got}, but must be {must}") }
}

/// Returns `x` if `x` is finite and above 0, otherwise an error.
pub(crate) fn positive(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err(invalid(what, x, "finite and above 0")) }
}

/// Returns `x` if `x` is finite and not below 0, otherwise an error.
pub(crate) fn not_negative(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if x.is_finite() && x >= 0.0 { Ok(x) } else { Err(invalid(what, x, "finite and not below 0")) }
}

/// Returns `x` if `x` is in 0..=1, otherwise an error.
pub(crate) fn probability(what: &'static str, x: f64) -> Result<f64, Invalid> {
    if (0.0..=1.0).contains(&x) { Ok(x) } else { Err(invalid(what, x, "between 0 and 1")) }
}
