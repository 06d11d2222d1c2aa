//! Why a text is no expression.

use std::fmt;
use std::ops::Range;

/// Why a text is no expression: where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.span.start)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl std::error::Error for ParseError {}

/// The error about the bytes `span`.
pub(crate) fn error(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> ParseError {
    ParseError { message: message.into(), help: help.into(), span }
}
