//! The result of what a tool does.

use contend_core::Refusal;
use std::fmt;

/// The result of what a tool does, or why it ended.
pub type Result<T> = std::result::Result<T, Refusal>;

/// An error of the operating system that no known remedy fits.
pub fn of_system(what: &str, cause: impl fmt::Display) -> Refusal {
    Refusal::new(format!("{what}: {cause}"), "`contend doctor` shows what this machine can do")
}
