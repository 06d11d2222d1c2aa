//! A refusal: an error that says what is wrong and what to do instead.

use alloc::string::String;
use core::fmt;

/// What is wrong, and the remedy. A caller that knows the place in the file adds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What to do instead; empty if there is no better advice than what is wrong.
    pub remedy: String,
}

impl Refusal {
    /// A refusal with its remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal { what: what.into(), remedy: remedy.into() }
    }

    /// The refusal of something that is called `name`.
    #[must_use]
    pub fn of(self, name: impl fmt::Display) -> Refusal {
        Refusal { what: alloc::format!("{name}: {}", self.what), remedy: self.remedy }
    }
}

/// Both on one line.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

impl core::error::Error for Refusal {}

/// A refusal whose text already contains the remedy.
impl From<String> for Refusal {
    fn from(what: String) -> Refusal {
        Refusal { what, remedy: String::new() }
    }
}

impl From<&str> for Refusal {
    fn from(what: &str) -> Refusal {
        Refusal::from(String::from(what))
    }
}
