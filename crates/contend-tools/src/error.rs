//! What went wrong, and what to do about it.

use std::fmt;

/// A problem of a tool that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, as one sentence that names the place.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// The result of what a tool does.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with its remedy.
    pub fn new(what: impl fmt::Display, remedy: impl fmt::Display) -> Error {
        Error { what: what.to_string(), remedy: remedy.to_string() }
    }

    /// An error of the operating system that no known remedy fits.
    pub fn of_system(what: &str, cause: impl fmt::Display) -> Error {
        Error::new(format!("{what}: {cause}"), "`contend doctor` shows what this machine can do")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
